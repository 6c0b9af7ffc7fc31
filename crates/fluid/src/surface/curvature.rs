//! Curvature of a level set and the pressure of surface tension (spec/fluid-base.md 3.16).

use super::liquids::liquid_at;
use crate::cells::{CellKind, Cells};
use crate::domain::Domain;
use splashdown_geometry::grid::{FaceFields, Field, Index};
use splashdown_math::{Matrix, Vector};

/// Sum of the principal curvatures (1/m) at a cell, from central differences: `1/r` for a disc, `2/r` for a ball. At most one over the spacing; one ghost layer is read.
pub fn curvature<const D: usize>(phi: &impl Fn(Index<D>) -> f64, h: &Vector<D>, cell: Index<D>) -> f64 {
    let at = |shifts: &[(usize, isize)]| {
        let mut to = cell;
        for &(a, step) in shifts {
            to[a] += step;
        }
        phi(to)
    };
    let centre = phi(cell);
    let gradient: Vector<D> = Vector::from_fn(|a, _| (at(&[(a, 1)]) - at(&[(a, -1)])) / (2.0 * h[a]));
    let squared = gradient.norm_squared();
    if squared < 1e-12 {
        return 0.0;
    }
    let hessian: Matrix<D> = Matrix::from_fn(|a, b| {
        if a == b {
            return (at(&[(a, 1)]) - 2.0 * centre + at(&[(a, -1)])) / (h[a] * h[a]);
        }
        let mixed =
            at(&[(a, 1), (b, 1)]) - at(&[(a, 1), (b, -1)]) - at(&[(a, -1), (b, 1)]) + at(&[(a, -1), (b, -1)]);
        mixed / (4.0 * h[a] * h[b])
    });
    let kappa =
        (squared * hessian.trace() - gradient.dot(&(hessian * gradient))) / (squared * squared.sqrt());
    let limit = 1.0 / h.min();
    kappa.clamp(-limit, limit)
}

/// Pressures of surface tensions (N/m; `tension(liquid, other)`, where no other is the air) on the faces that surfaces cross, in the form of
/// [`PressureProblem::known`](crate::pressure::PressureProblem::known): `tension * curvature` at the crossing. `phis` holds one level set a liquid,
/// ghosts filled; `surface` the smallest of them.
pub fn tension_pressures<const D: usize>(
    domain: &Domain<D>,
    cells: &Cells<D>,
    phis: &[&Field<D>],
    surface: &Field<D>,
    tension: impl Fn(usize, Option<usize>) -> f64 + Send + Sync,
    out: &mut FaceFields<D>,
) {
    let h = domain.grid().spacing();
    for axis in 0..D {
        out.component_mut(axis).update(|face, _| {
            let mut below = face;
            below[axis] -= 1;
            let kinds = [cells.at(below), cells.at(face)];
            match kinds {
                [CellKind::Fluid, CellKind::Air] | [CellKind::Air, CellKind::Fluid] => {
                    let (low, high) = (surface.at(below), surface.at(face));
                    let theta = if low == high { 0.5 } else { (low / (low - high)).clamp(0.0, 1.0) };
                    let at = |cell| curvature(&|index| surface.at(index), &h, cell);
                    let wet = if kinds[0] == CellKind::Fluid { below } else { face };
                    tension(liquid_at(phis, wet), None) * ((1.0 - theta) * at(below) + theta * at(face))
                }
                [CellKind::Fluid, CellKind::Fluid] if phis.len() > 1 => {
                    let (i, j) = (liquid_at(phis, below), liquid_at(phis, face));
                    if i == j {
                        return 0.0;
                    }
                    // Negative in liquid i, positive in liquid j.
                    let between = |index: Index<D>| 0.5 * (phis[i].at(index) - phis[j].at(index));
                    let (low, high) = (between(below), between(face));
                    let theta = if low < high { (low / (low - high)).clamp(0.0, 1.0) } else { 0.5 };
                    let at = |cell| curvature(&between, &h, cell);
                    // The pressure is higher inside: it falls from the lower to the upper cell.
                    -tension(i, Some(j)) * ((1.0 - theta) * at(below) + theta * at(face))
                }
                _ => 0.0,
            }
        });
    }
}
