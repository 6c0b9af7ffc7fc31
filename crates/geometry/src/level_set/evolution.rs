//! Signed distance by evolution: `phi_t + S(phi_0) (|grad phi| - 1) = 0` (spec/fluid-base.md 3.9), an alternative to fast marching that is smooth in the data.
//!
//! M. Sussman, P. Smereka, S. Osher, "A level set approach for computing solutions to incompressible two-phase flow", 1994; upwind differences after Godunov; next to the
//! surface the subcell fix of G. Russo, P. Smereka, "A remark on computing distance functions", 2000, which keeps the surface where it is.

use super::LevelSetError;
use crate::grid::{Field, Index};

/// Steps of half a cell each.
const STEP: f64 = 0.5;

/// Next to the surface, what has a slope within this of 1 is a distance already and stays: dividing by the slopes of both sides of a curved surface again and again would move it.
const KEEP: f64 = 0.1;

/// Makes `phi` signed distance (m) within about `iterations / 2` cells of its zero set by as many steps of TVD-RK2. Cells keep their side; ghosts are not read and
/// not filled.
///
/// # Errors
/// A value that is not finite.
#[inline(never)]
pub fn redistance_by_evolution<const D: usize>(
    phi: &mut Field<D>,
    iterations: usize,
) -> Result<(), LevelSetError> {
    if let Some(index) = phi.first_not_finite() {
        return Err(LevelSetError::NotFinite { index: index.to_vec(), value: phi.at(index) });
    }
    let start = phi.clone();
    let lattice = *phi.lattice();
    let (h, counts) = (lattice.spacing(), lattice.counts());
    let least = h.min();
    let dt = STEP * least;
    // Differences towards the lower and the upper neighbour; none beyond the samples.
    let differences = |field: &Field<D>, index: Index<D>, axis: usize| {
        let value = field.at(index);
        let (mut low, mut high) = (index, index);
        low[axis] = (index[axis] - 1).max(0);
        high[axis] = (index[axis] + 1).min(counts[axis] as isize - 1);
        [(value - field.at(low)) / h[axis], (field.at(high) - value) / h[axis]]
    };
    let rate = |field: &Field<D>, index: Index<D>| {
        let first = start.at(index);
        let side = if first > 0.0 { 1.0 } else { -1.0 };
        let (mut crossed, mut central, mut steepest) = (false, 0.0, 0.0f64);
        for axis in 0..D {
            let [below, above] = differences(&start, index, axis);
            let (low, high) = (first - below * h[axis], first + above * h[axis]);
            crossed |= first * low <= 0.0 && below != 0.0 || first * high <= 0.0 && above != 0.0;
            central += (0.5 * (below + above)).powi(2);
            steepest = steepest.max(below.abs()).max(above.abs());
        }
        if crossed {
            // Distance to the surface as the start has it; towards that, not past it. Where the slopes of both sides cancel, one of them counts.
            let slope = central.sqrt().max(0.5 * steepest).max(1e-12);
            let distance = if (slope - 1.0).abs() <= KEEP { first } else { first / slope };
            return (distance - side * field.at(index).abs()) / least;
        }
        let mut squared = 0.0;
        for axis in 0..D {
            let [below, above] = differences(field, index, axis);
            let (towards, from) = ((side * below).max(0.0), (side * above).min(0.0));
            squared += (towards * towards).max(from * from);
        }
        side * (1.0 - squared.sqrt())
    };
    let mut next = start.clone();
    for _ in 0..iterations {
        next.update(|index, _| phi.at(index) + dt * rate(phi, index));
        let half = next.clone();
        phi.update(|index, old| {
            let new = 0.5 * (old + half.at(index) + dt * rate(&half, index));
            // No cell changes side.
            if new * start.at(index) > 0.0 { new } else { old }
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Grid, Location};
    use splashdown_math::Vector;

    /// Largest error within three cells of a circle, in metres, from a field that is far from a distance; and the sides that changed.
    fn error(n: usize) -> (f64, usize) {
        let grid = Grid::<2>::new(Vector::repeat(-1.0), Vector::repeat(2.0 / n as f64), [n, n]).unwrap();
        let exact = |x: &Vector<2>| x.norm() - 0.6;
        let distorted =
            |x: &Vector<2>| exact(x) * (1.0 + 0.5 * (3.0 * x[0]).sin()) * (1.2 + (2.0 * x[1]).cos());
        let mut phi = Field::from_fn(&grid, Location::Cell, distorted);
        let before = phi.clone();
        redistance_by_evolution(&mut phi, 20).unwrap();
        let lattice = *phi.lattice();
        let (mut worst, mut flipped) = (0.0f64, 0);
        for index in lattice.indices() {
            let d = exact(&lattice.position(index));
            if d.abs() < 6.0 / n as f64 {
                worst = worst.max((phi.at(index) - d).abs());
            }
            flipped += usize::from(phi.at(index) * before.at(index) < 0.0);
        }
        (worst, flipped)
    }

    /// First order: an error of the same part of a cell on every grid. It does not fall faster, because slopes within `KEEP` of 1 stay.
    #[test]
    fn a_distorted_circle_becomes_a_distance_within_a_quarter_of_a_cell() {
        for n in [64, 128] {
            let (worst, flipped) = error(n);
            assert_eq!(flipped, 0);
            assert!(worst < 0.25 * 2.0 / n as f64, "{n}: {worst}");
        }
    }

    #[test]
    fn a_distance_stays_one_and_damage_is_refused() {
        let grid = Grid::<3>::new(Vector::zeros(), Vector::repeat(0.1), [10; 3]).unwrap();
        let mut phi = Field::from_fn(&grid, Location::Cell, |x| x[1] - 0.437);
        let before = phi.clone();
        redistance_by_evolution(&mut phi, 10).unwrap();
        for index in phi.lattice().indices() {
            assert!((phi.at(index) - before.at(index)).abs() < 1e-12);
        }
        phi.set([3, 3, 3], f64::NAN);
        assert!(redistance_by_evolution(&mut phi, 1).is_err());
    }
}
