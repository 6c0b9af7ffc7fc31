//! Flat sheets of triangles: cloth in 3D, rectangles in 2D.

use crate::mesh::{Mesh, TriangleMesh};
use splashdown_math::Vector;

use super::{GenerateError, at_least, countable, finite, positive};

/// How the squares of a sheet are divided into triangles. The choice shows in cloth: a sheet with all diagonals in one direction is stiffer along it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Diagonals {
    /// All from the corner (0, 0) to the corner (1, 1) of their square.
    Forward,
    /// All from the corner (1, 0) to the corner (0, 1).
    Backward,
    /// Alternating like the squares of a chessboard, so that no direction is preferred on the whole.
    #[default]
    Alternating,
    /// Both diagonals, with an extra point in the middle of each square: four triangles.
    Crossed,
}

/// Sheet with corner `origin`, edges `u` and `v` and `cells` squares along them. The triangles turn from `u` towards `v`; in 3D the
/// normal is along `u x v`, in 2D `u` and `v` must be in counter-clockwise order.
#[inline(never)]
pub fn sheet<const D: usize>(
    origin: Vector<D>,
    u: Vector<D>,
    v: Vector<D>,
    cells: [usize; 2],
    diagonals: Diagonals,
) -> Result<TriangleMesh<D>, GenerateError> {
    finite("origin", &origin)?;
    finite("edge u", &u)?;
    finite("edge v", &v)?;
    at_least("cells along u", cells[0], 1)?;
    at_least("cells along v", cells[1], 1)?;
    // Gram determinant: the square of the area.
    let gram = u.norm_squared() * v.norm_squared() - u.dot(&v).powi(2);
    if gram <= 1e-24 * u.norm_squared() * v.norm_squared() {
        return Err(GenerateError::BadVector {
            what: "edges u and v",
            problem: "they are zero or parallel, so the sheet has no area",
        });
    }
    if D == 2 && u[0] * v[1] - u[1] * v[0] < 0.0 {
        return Err(GenerateError::BadVector {
            what: "edges u and v",
            problem: "they are in clockwise order, so the triangles would be inverted: exchange them",
        });
    }
    let [nu, nv] = cells;
    let middles = if diagonals == Diagonals::Crossed { nu as f64 * nv as f64 } else { 0.0 };
    countable((nu as f64 + 1.0) * (nv as f64 + 1.0) + middles)?;
    let place = |a: f64, b: f64| origin + u * (a / nu as f64) + v * (b / nv as f64);
    let mut points = Vec::with_capacity((nu + 1) * (nv + 1));
    for i in 0..=nu {
        for j in 0..=nv {
            points.push(place(i as f64, j as f64));
        }
    }
    let at = |i: usize, j: usize| (i * (nv + 1) + j) as u32;
    let mut elements = Vec::with_capacity(2 * nu * nv);
    for i in 0..nu {
        for j in 0..nv {
            let (p, q, r, s) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
            let forward = match diagonals {
                Diagonals::Forward => true,
                Diagonals::Backward => false,
                Diagonals::Alternating => (i + j) % 2 == 0,
                Diagonals::Crossed => {
                    let m = points.len() as u32;
                    points.push(place(i as f64 + 0.5, j as f64 + 0.5));
                    elements.extend([[p, q, m], [q, r, m], [r, s, m], [s, p, m]]);
                    continue;
                }
            };
            if forward {
                elements.extend([[p, q, r], [p, r, s]]);
            } else {
                elements.extend([[p, q, s], [q, r, s]]);
            }
        }
    }
    Ok(Mesh { points, elements })
}

/// Rectangle from `lower` to `upper` in the plane.
pub fn rectangle_triangles(
    lower: Vector<2>,
    upper: Vector<2>,
    cells: [usize; 2],
    diagonals: Diagonals,
) -> Result<TriangleMesh<2>, GenerateError> {
    let extent = upper - lower;
    positive("extent along x", extent.x)?;
    positive("extent along y", extent.y)?;
    sheet(lower, Vector::<2>::new(extent.x, 0.0), Vector::<2>::new(0.0, extent.y), cells, diagonals)
}
