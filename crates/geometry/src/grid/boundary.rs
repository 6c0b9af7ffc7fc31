//! Values for the ghost layers.

use super::{Field, Index, Value, lattice::box_indices};
use std::ops::Sub;

/// What the ghosts on one side of one axis get.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Boundary<T = f64> {
    /// The nearest sample: constant extrapolation along the axis.
    Extrapolate,
    /// The sample one domain length away. Nodes and faces on the two end planes are the same sample.
    Periodic,
    /// The mirror image in the domain's end plane: zero gradient there.
    Reflect,
    /// Twice this value minus the mirror image: the value holds on the end plane (half-cell Dirichlet, no-slip walls).
    ReflectAbout(T),
    /// This value.
    Value(T),
}

impl<const D: usize, T: Value + Sub<Output = T>> Field<D, T> {
    /// Fills the ghosts, axis after axis (`sides[axis]` = lower, upper side), so edges and corners combine the rules of their axes.
    pub fn fill_ghosts(&mut self, sides: &[[Boundary<T>; 2]; D]) {
        self.fill_ghosts_by(|axis, side, _| sides[axis][side]);
    }

    /// [`Self::fill_ghosts`] where one side may have several rules: `rule(axis, side, line)` is asked for each line of samples along `axis`
    /// (`side` 0 lower, 1 upper), named by its sample 0; on the other axes `line` may itself be a ghost.
    pub fn fill_ghosts_by(&mut self, rule: impl Fn(usize, usize, Index<D>) -> Boundary<T>) {
        let lattice = *self.lattice();
        let ghost = lattice.ghost() as isize;
        for axis in 0..D {
            // Ghosts of earlier axes are filled, of later ones not yet.
            let mut low: Index<D> = std::array::from_fn(|a| if a < axis { -ghost } else { 0 });
            let mut high: Index<D> =
                std::array::from_fn(|a| lattice.counts()[a] as isize + if a < axis { ghost } else { 0 });
            (low[axis], high[axis]) = (0, 1);
            let stride = lattice.strides()[axis] as isize;
            let count = lattice.counts()[axis] as isize;
            let on_planes = lattice.location().on_planes(axis);
            let period = if on_planes { (count - 1).max(1) } else { count };
            for line in box_indices(low, high) {
                let start = lattice.offset(line) as isize;
                let place = |i: isize| (start + i * stride) as usize;
                let rules = [rule(axis, 0, line), rule(axis, 1, line)];
                for layer in 1..=ghost {
                    for (side, rule) in rules.iter().enumerate() {
                        let (target, nearest, wrapped) = match side {
                            0 => (-layer, 0, -layer + period),
                            _ => (count - 1 + layer, count - 1, count - 1 + layer - period),
                        };
                        let inward = if side == 0 { 1 } else { -1 };
                        let mirror = nearest + inward * if on_planes { layer } else { layer - 1 };
                        // A grid narrower than its ghosts wraps or clamps within itself.
                        let mirror = place(mirror.clamp(0, count - 1));
                        let wrapped = place(if (0..count).contains(&wrapped) {
                            wrapped
                        } else {
                            wrapped.rem_euclid(period)
                        });
                        let values = self.values_mut();
                        values[place(target)] = match *rule {
                            Boundary::Extrapolate => values[place(nearest)],
                            Boundary::Periodic => values[wrapped],
                            Boundary::Reflect => values[mirror],
                            Boundary::ReflectAbout(value) => value * 2.0 - values[mirror],
                            Boundary::Value(value) => value,
                        };
                    }
                }
            }
        }
    }

    /// [`Boundary::Extrapolate`] on all sides.
    pub fn extrapolate_ghosts(&mut self) {
        self.fill_ghosts(&[[Boundary::Extrapolate; 2]; D]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Grid, Location};
    use super::*;
    use splashdown_math::Vector;
    use std::f64::consts::TAU;

    fn filled(location: Location, rule: Boundary, function: fn(&Vector<3>) -> f64) -> Field<3> {
        let grid = Grid::<3>::new(Vector::zeros(), Vector::repeat(0.125), [8, 8, 8]).unwrap();
        let mut field = Field::with_ghost(&grid, location, 3, f64::NAN);
        let lattice = *field.lattice();
        field.update(|index, _| function(&lattice.position(index)));
        field.fill_ghosts(&[[rule; 2]; 3]);
        field
    }

    fn check(
        location: Location,
        rule: Boundary,
        function: fn(&Vector<3>) -> f64,
        ghost: fn(&Vector<3>) -> f64,
    ) {
        let field = filled(location, rule, function);
        for index in field.lattice().stored_indices() {
            let x = field.lattice().position(index);
            let expected = ghost(&x);
            assert!((field.at(index) - expected).abs() < 1e-12, "{location:?} {rule:?} {index:?}");
        }
    }

    #[test]
    fn ghosts_continue_functions_of_the_same_symmetry_also_in_corners() {
        let wave: fn(&Vector<3>) -> f64 = |x| (0..3).map(|a| (TAU * x[a] + 0.3).sin()).product();
        let even: fn(&Vector<3>) -> f64 = |x| (0..3).map(|a| (TAU * x[a]).cos()).product();
        let odd: fn(&Vector<3>) -> f64 = |x| (0..3).map(|a| (TAU * x[a]).sin()).product();
        let clamped: fn(&Vector<3>) -> f64 = |x| x.map(|c| c.clamp(0.0, 1.0)).sum();
        for location in [Location::Cell, Location::Node, Location::Face(1)] {
            check(location, Boundary::Periodic, wave, wave);
            check(location, Boundary::Reflect, even, even);
            check(location, Boundary::ReflectAbout(0.0), odd, odd);
        }
        check(Location::Node, Boundary::Extrapolate, |x| x.sum(), clamped);
        let field = filled(Location::Cell, Boundary::Value(7.0), |x| x.sum());
        assert_eq!(field.at([-3, 4, 9]), 7.0);
    }

    #[test]
    fn a_grid_narrower_than_its_ghosts_is_filled_from_itself() {
        let grid = Grid::<2>::new(Vector::zeros(), Vector::repeat(1.0), [2, 1]).unwrap();
        let mut field = Field::with_ghost(&grid, Location::Cell, 3, f64::NAN);
        field.update(|index, _| index[0] as f64);
        for rule in [Boundary::Periodic, Boundary::Reflect, Boundary::Extrapolate] {
            field.fill_ghosts(&[[rule; 2]; 2]);
            assert!(field.values().iter().all(|v| v.is_finite()));
        }
        field.fill_ghosts(&[[Boundary::Periodic; 2]; 2]);
        assert_eq!([field.at([-3, 0]), field.at([-2, 0]), field.at([4, 2])], [1.0, 0.0, 0.0]);
    }
}
