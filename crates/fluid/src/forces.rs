//! Forces on the fluid: gravity, body forces, buoyancy of smoke, vorticity confinement (spec/fluid-base.md 3.6).

use crate::walls::cell_range;
use splashdown_geometry::grid::{FaceFields, Field, Index, Location, box_indices};
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Coordinates, Dim, Matrix, Space, Vector};
use splashdown_parallel::prelude::*;
use std::sync::Arc;

/// Adds the same acceleration (m/s^2) to all faces for `dt` seconds.
pub fn add_gravity<const D: usize>(velocity: &mut FaceFields<D>, gravity: &Vector<D>, dt: f64) {
    for axis in 0..D {
        let change = dt * gravity[axis];
        if change != 0.0 {
            velocity.component_mut(axis).update(|_, u| u + change);
        }
    }
}

/// Where and how a body force accelerates (m/s^2).
#[derive(Clone)]
pub enum Acceleration<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// The same everywhere in a region.
    Within {
        /// Where, in world coordinates.
        region: Shape<D>,
        /// Acceleration (m/s^2).
        value: Vector<D>,
    },
    /// Any function of position (m) and time (s).
    Field(AccelerationField<D>),
}

/// Acceleration (m/s^2) as a function of position (m) and time (s).
pub type AccelerationField<const D: usize> = Arc<dyn Fn(&Vector<D>, f64) -> Vector<D> + Send + Sync>;

/// An acceleration of the fluid besides gravity.
#[derive(Debug, Clone)]
pub struct BodyForce<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// What it does.
    pub acceleration: Acceleration<D>,
    /// Active from this time on (s).
    pub start: f64,
    /// Active until this time (s).
    pub end: f64,
}

impl<const D: usize> std::fmt::Debug for Acceleration<D>
where
    Dim<D>: Space<D>,
{
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Within { region, value } => {
                f.debug_struct("Within").field("region", region).field("value", value).finish()
            }
            Self::Field(_) => f.write_str("Field"),
        }
    }
}

impl<const D: usize> BodyForce<D>
where
    Dim<D>: Space<D>,
{
    /// The same acceleration (m/s^2) everywhere in `region`, always.
    pub fn within(region: Shape<D>, value: Vector<D>) -> Self {
        Self { acceleration: Acceleration::Within { region, value }, start: 0.0, end: f64::INFINITY }
    }

    /// Any acceleration (m/s^2) of position (m) and time (s). What it returns must be a function of these alone: a resumed run asks again.
    pub fn field(field: impl Fn(&Vector<D>, f64) -> Vector<D> + Send + Sync + 'static) -> Self {
        Self { acceleration: Acceleration::Field(Arc::new(field)), start: 0.0, end: f64::INFINITY }
    }

    /// Adds what it does in `dt` seconds that end at `time` (s).
    pub fn add(&self, velocity: &mut FaceFields<D>, time: f64, dt: f64) {
        if !(self.start <= time && time < self.end) {
            return;
        }
        let grid = *velocity.grid();
        for axis in 0..D {
            let component = velocity.component_mut(axis);
            let lattice = *component.lattice();
            match &self.acceleration {
                Acceleration::Field(field) => {
                    component.update(|face, u| u + dt * field(&lattice.position(face), time)[axis]);
                }
                Acceleration::Within { region, value } => {
                    let change = dt * value[axis];
                    let Some([low, mut high]) = cell_range(&grid, &region.bounds()) else { return };
                    high[axis] = (high[axis] + 1).min(lattice.counts()[axis] as isize);
                    for face in box_indices(low, high).filter(|_| change != 0.0) {
                        if region.contains(&lattice.position(face)) {
                            component.set(face, component.at(face) + change);
                        }
                    }
                }
            }
        }
    }
}

/// Adds an acceleration (m/s^2) given at cells (one ghost layer filled), averaged to the faces.
pub fn add_cell_acceleration<const D: usize>(
    velocity: &mut FaceFields<D>,
    acceleration: &Field<D>,
    direction: &Vector<D>,
    dt: f64,
) {
    for axis in 0..D {
        let factor = 0.5 * dt * direction[axis];
        if factor == 0.0 {
            continue;
        }
        velocity.component_mut(axis).update(|face, u| {
            let mut below = face;
            below[axis] -= 1;
            u + factor * (acceleration.at(below) + acceleration.at(face))
        });
    }
}

/// `d u_a / d x_b` (1/s) at a cell's centre, by central differences of the velocity averaged to centres; one ghost layer is read.
#[inline]
pub fn velocity_gradient<const D: usize>(velocity: &FaceFields<D>, cell: Index<D>) -> Matrix<D> {
    let h = velocity.grid().spacing();
    Matrix::from_fn(|a, b| {
        let u = velocity.component(a);
        if a == b {
            let mut upper = cell;
            upper[a] += 1;
            return (u.at(upper) - u.at(cell)) / h[a];
        }
        let centre = |step: isize| {
            let mut low = cell;
            low[b] += step;
            let mut high = low;
            high[a] += 1;
            0.5 * (u.at(low) + u.at(high))
        };
        (centre(1) - centre(-1)) / (2.0 * h[b])
    })
}

/// Vorticity (1/s) at a cell's centre: one number in the plane, three in space.
#[inline]
pub fn vorticity<const D: usize>(velocity: &FaceFields<D>, cell: Index<D>) -> <Dim<D> as Space<D>>::Spin
where
    Dim<D>: Space<D>,
{
    Dim::<D>::skew_spin(&velocity_gradient(velocity, cell)) * 2.0
}

/// Do the two cells at a face (axis, face) see each other? `None` if all do.
pub type Open<'a, const D: usize> = Option<&'a (dyn Fn(usize, Index<D>) -> bool + Sync)>;

/// Central difference of `value` at a cell along `axis`, over spacing `h`; one-sided where the neighbour is hidden behind a thin shell, zero where both are.
#[inline(always)]
fn difference<const D: usize>(
    open: Open<D>,
    cell: Index<D>,
    axis: usize,
    h: f64,
    value: impl Fn(isize) -> f64,
) -> f64 {
    let Some(open) = open else { return (value(1) - value(-1)) / (2.0 * h) };
    let mut upper = cell;
    upper[axis] += 1;
    let (below, above) = (open(axis, cell), open(axis, upper));
    let reach = f64::from(u8::from(below)) + f64::from(u8::from(above));
    if reach == 0.0 {
        return 0.0;
    }
    (value(isize::from(above)) - value(-isize::from(below))) / (reach * h)
}

/// One component of [`vorticity`], `d u_c / d x_b - d u_b / d x_c`, for loops over all cells.
#[inline(always)]
fn vorticity_component<const D: usize>(
    velocity: &FaceFields<D>,
    number: usize,
    cell: Index<D>,
    open: Open<D>,
) -> f64 {
    let (b, c) = if D == 2 { (0, 1) } else { ((number + 1) % D, (number + 2) % D) };
    let h = velocity.grid().spacing();
    // d u_of / d x_along by the mean of the two faces of the cell, one cell further and one less.
    let slope = |of: usize, along: usize| {
        let component = velocity.component(of);
        let (values, strides) = (component.values(), component.lattice().strides());
        let place = component.lattice().offset(cell);
        let centre = |place: usize| 0.5 * (values[place] + values[place + strides[of]]);
        let step = strides[along] as isize;
        difference(open, cell, along, h[along], |k| centre((place as isize + k * step) as usize))
    };
    slope(c, b) - slope(b, c)
}

/// Vorticity confinement (R. Fedkiw, J. Stam, H. W. Jensen, "Visual simulation of smoke", 2001): `strength h (N x w)` with `N` towards more vorticity.
/// Ghosts of `velocity` must have been filled. Nothing is compared across faces that are not `open`. `work` and `spins` are working memory on the same grid.
pub fn add_vorticity_confinement<const D: usize>(
    velocity: &mut FaceFields<D>,
    strength: f64,
    dt: f64,
    work: &mut Field<D>,
    spins: &mut FaceFields<D>,
    open: Open<D>,
) where
    Dim<D>: Space<D>,
{
    let (grid, h) = (*velocity.grid(), velocity.grid().spacing());
    let step = grid.min_spacing();
    work.relocate(Location::Cell);
    let magnitude = work;
    // One component of the vorticity of each cell at its lower face.
    for number in 0..<Dim<D> as Space<D>>::SPIN {
        spins.component_mut(number).update(|cell, old| {
            if grid.has_cell(cell) { vorticity_component(velocity, number, cell, open) } else { old }
        });
    }
    magnitude.update(|cell, _| spin_of(&spins.components().each_ref(), cell).norm());
    magnitude.extrapolate_ghosts();
    let slope = |cell: Index<D>| {
        let (values, strides) = (magnitude.values(), magnitude.lattice().strides());
        let place = magnitude.lattice().offset(cell);
        let mut slope = Vector::<D>::zeros();
        for a in 0..D {
            let step = strides[a] as isize;
            slope[a] = difference(open, cell, a, h[a], |k| values[(place as isize + k * step) as usize]);
        }
        slope
    };
    // The force of each cell takes the place of its vorticity.
    let strides: [[usize; D]; D] = std::array::from_fn(|a| spins.component(a).lattice().strides());
    let ghost = spins.component(0).lattice().ghost();
    let places = grid.lattice(Location::Cell, 0);
    // Slabs of cells; each component has a size of its own.
    let mut slabs: Vec<[&mut [f64]; D]> = Vec::new();
    let mut rest: Vec<std::slice::ChunksMut<f64>> = spins
        .components_mut()
        .iter_mut()
        .enumerate()
        .map(|(a, component)| {
            let slab = strides[a][D - 1];
            component.values_mut()[ghost * slab..].chunks_mut(slab)
        })
        .collect();
    for _ in 0..places.slabs() {
        slabs.push(std::array::from_fn(|a| rest[a].next().unwrap_or_default()));
    }
    slabs.par_iter_mut().enumerate().for_each(|(slab, values)| {
        places.rows_of_slab(slab as isize, |first| {
            // Place of the row within the slab of each component.
            let row: [usize; D] = std::array::from_fn(|a| {
                (0..D - 1).map(|b| (first[b] as usize + ghost) * strides[a][b]).sum()
            });
            let mut cell = first;
            for i in 0..places.counts()[0] {
                let mut parts = [0.0; 3];
                for (number, part) in parts.iter_mut().enumerate().take(<Dim<D> as Space<D>>::SPIN) {
                    *part = values[number][row[number] + i];
                }
                let spin = <Dim<D> as Space<D>>::Spin::from_slice(&parts);
                let slope = slope(cell);
                let length = slope.norm();
                // Where the vorticity is uniform up to rounding there is no direction to confine to.
                let uniform = length <= 1e-10 * (magnitude.at(cell) / step);
                let force = if uniform {
                    Vector::zeros()
                } else {
                    Dim::<D>::spin_cross(&spin, &slope) * (-strength * step / length)
                };
                for a in 0..D {
                    values[a][row[a] + i] = force[a];
                }
                cell[0] += 1;
            }
        });
    });
    for axis in 0..D {
        let last = grid.cells()[axis] as isize - 1;
        let force = spins.component(axis);
        velocity.component_mut(axis).update(|face, u| {
            // The sides have the force of the cells next to them.
            let (mut below, mut above) = (face, face);
            below[axis] = (face[axis] - 1).max(0);
            above[axis] = face[axis].min(last);
            u + 0.5 * dt * (force.at(below) + force.at(above))
        });
    }
}

/// The vorticity that is kept at the lower faces of a cell.
#[inline(always)]
fn spin_of<const D: usize>(spins: &[&Field<D>; D], cell: Index<D>) -> <Dim<D> as Space<D>>::Spin
where
    Dim<D>: Space<D>,
{
    let mut parts = [0.0; 3];
    for (number, part) in parts.iter_mut().enumerate().take(<Dim<D> as Space<D>>::SPIN) {
        *part = spins[number].at(cell);
    }
    <Dim<D> as Space<D>>::Spin::from_slice(&parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use splashdown_geometry::grid::Grid;

    fn turning<const D: usize>() -> FaceFields<D> {
        let grid = Grid::<D>::new(Vector::repeat(-1.0), Vector::repeat(0.2), [10; D]).unwrap();
        let mut velocity = FaceFields::new(&grid, 0.0);
        for (axis, sign) in [(0, -1.0), (1, 1.0)] {
            let lattice = *velocity.component(axis).lattice();
            let values: Vec<f64> =
                lattice.stored_indices().map(|i| sign * 3.0 * lattice.position(i)[1 - axis]).collect();
            velocity.component_mut(axis).values_mut().copy_from_slice(&values);
        }
        velocity
    }

    fn rotation_has_no_confinement<const D: usize>()
    where
        Dim<D>: Space<D>,
    {
        let mut velocity = turning::<D>();
        let last = <Dim<D> as Space<D>>::SPIN - 1;
        assert!((vorticity(&velocity, [3; D]).as_slice()[last] - 6.0).abs() < 1e-12);
        for number in 0..=last {
            let (one, all) =
                (vorticity_component(&velocity, number, [4; D], None), vorticity(&velocity, [4; D]));
            assert!((one - all.as_slice()[number]).abs() < 1e-12);
        }
        let before = velocity.clone();
        let mut work = Field::new(velocity.grid(), Location::Cell, 0.0);
        add_vorticity_confinement(&mut velocity, 0.5, 0.1, &mut work, &mut before.clone(), None);
        for axis in 0..D {
            for (a, b) in velocity.component(axis).values().iter().zip(before.component(axis).values()) {
                assert!((a - b).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn solid_body_rotation_feels_no_confinement() {
        rotation_has_no_confinement::<2>();
        rotation_has_no_confinement::<3>();
    }

    /// Two streams in opposite directions on the two sides of a shell: none of them has any vorticity, and the shear between them is not theirs.
    #[test]
    fn confinement_does_not_look_through_shells() {
        let grid = Grid::<2>::new(Vector::zeros(), Vector::repeat(0.1), [12, 12]).unwrap();
        let mut streams = FaceFields::new(&grid, 0.0);
        let lattice = *streams.component(0).lattice();
        let values: Vec<f64> = lattice.stored_indices().map(|i| if i[1] < 6 { 1.0 } else { -2.0 }).collect();
        streams.component_mut(0).values_mut().copy_from_slice(&values);
        let open = |axis: usize, face: Index<2>| !(axis == 1 && face[1] == 6);
        let force = |open: Open<2>| {
            let mut velocity = streams.clone();
            let mut work = Field::new(&grid, Location::Cell, 0.0);
            add_vorticity_confinement(&mut velocity, 1.0, 1.0, &mut work, &mut streams.clone(), open);
            (0..2)
                .map(|a| {
                    let before = streams.component(a);
                    velocity.component(a).reduce(0.0, |i, u| (u - before.at(i)).abs(), f64::max)
                })
                .fold(0.0, f64::max)
        };
        assert!(force(None) > 0.1);
        assert_eq!(force(Some(&open)), 0.0);
    }
}
