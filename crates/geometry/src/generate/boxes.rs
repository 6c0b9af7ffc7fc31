//! Boxes and beams of tetrahedra or hexahedra, and the surface of a box.

use crate::mesh::{HexahedronMesh, Mesh, TetrahedronMesh, TriangleMesh};
use splashdown_math::Vector;
use std::collections::HashMap;

use super::kuhn::kuhn_walks;
use super::{GenerateError, at_least, countable, finite, positive};

/// How a cube is divided into tetrahedra.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CubeSplit {
    /// One regular tetrahedron in the middle and four at the corners, mirrored from cube to cube. Fewest elements, no preferred direction on the
    /// whole, but two shapes of element.
    #[default]
    Five,
    /// Kuhn's six congruent tetrahedra around one diagonal, the same in every cube. Nested under halving of the cells.
    Six,
}

/// Points of the grid of `cells` that spans the box, k fastest, and the index of the point (i, j, k).
#[allow(clippy::type_complexity)] // a type cannot be named for the closure
fn grid_points(
    lower: Vector<3>,
    upper: Vector<3>,
    cells: [usize; 3],
) -> Result<(Vec<Vector<3>>, impl Fn(usize, usize, usize) -> u32), GenerateError> {
    check_box(lower, upper, cells)?;
    let [_, ny, nz] = cells.map(|c| c + 1);
    let mut points = Vec::with_capacity(cells.map(|c| c + 1).iter().product());
    for i in 0..=cells[0] {
        for j in 0..=cells[1] {
            for k in 0..=cells[2] {
                points.push(grid_point(lower, upper, cells, [i, j, k]));
            }
        }
    }
    Ok((points, move |i, j, k| ((i * ny + j) * nz + k) as u32))
}

fn check_box(lower: Vector<3>, upper: Vector<3>, cells: [usize; 3]) -> Result<(), GenerateError> {
    finite("lower corner", &lower)?;
    finite("upper corner", &upper)?;
    for (axis, name) in ["extent along x", "extent along y", "extent along z"].into_iter().enumerate() {
        positive(name, upper[axis] - lower[axis])?;
    }
    for (axis, name) in ["cells along x", "cells along y", "cells along z"].into_iter().enumerate() {
        at_least(name, cells[axis], 1)?;
    }
    countable(cells.iter().map(|&c| c as f64 + 1.0).product())
}

/// Exact at both ends, whatever the rounding in between.
fn grid_point(lower: Vector<3>, upper: Vector<3>, cells: [usize; 3], at: [usize; 3]) -> Vector<3> {
    Vector::<3>::from_fn(|axis, _| {
        let t = at[axis] as f64 / cells[axis] as f64;
        lower[axis] * (1.0 - t) + upper[axis] * t
    })
}

/// Solid box from `lower` to `upper` in `cells` cubes along each axis, every cube divided into tetrahedra.
pub fn box_tetrahedra(
    lower: Vector<3>,
    upper: Vector<3>,
    cells: [usize; 3],
    split: CubeSplit,
) -> Result<TetrahedronMesh, GenerateError> {
    let (points, at) = grid_points(lower, upper, cells)?;
    let per_cube = match split {
        CubeSplit::Five => 5,
        CubeSplit::Six => 6,
    };
    let mut elements = Vec::with_capacity(cells.iter().product::<usize>() * per_cube);
    let walks = kuhn_walks::<3>();
    for i in 0..cells[0] {
        for j in 0..cells[1] {
            for k in 0..cells[2] {
                // Corner by its bits: 4 i + 2 j + k.
                let corner = |bits: usize| at(i + (bits >> 2), j + (bits >> 1 & 1), k + (bits & 1));
                match split {
                    CubeSplit::Six => {
                        for (axes, even) in &walks {
                            let mut bits = 0;
                            let mut tet = [corner(0); 4];
                            for (step, axis) in axes.iter().enumerate() {
                                bits |= 4 >> axis;
                                tet[step + 1] = corner(bits);
                            }
                            if !even {
                                tet.swap(2, 3);
                            }
                            elements.push(tet);
                        }
                    }
                    CubeSplit::Five => {
                        // Mirroring along x makes the diagonals of shared faces meet.
                        let odd = (i + j + k) % 2 == 1;
                        let mirror = if odd { 4 } else { 0 };
                        for tet in [[0, 6, 5, 3], [4, 6, 5, 0], [2, 6, 0, 3], [1, 5, 3, 0], [7, 6, 3, 5]] {
                            let mut tet = tet.map(|bits: usize| corner(bits ^ mirror));
                            if odd {
                                tet.swap(2, 3);
                            }
                            elements.push(tet);
                        }
                    }
                }
            }
        }
    }
    let mut mesh = Mesh { points, elements };
    orient(&mut mesh);
    Ok(mesh)
}

/// Swaps two corners of every tetrahedron with negative volume.
pub(super) fn orient(mesh: &mut TetrahedronMesh) {
    for tet in &mut mesh.elements {
        let [a, b, c, d] = tet.map(|i| mesh.points[i as usize]);
        if (b - a).cross(&(c - a)).dot(&(d - a)) < 0.0 {
            tet.swap(2, 3);
        }
    }
}

/// Solid box from `lower` to `upper` in `cells` hexahedra along each axis.
pub fn box_hexahedra(
    lower: Vector<3>,
    upper: Vector<3>,
    cells: [usize; 3],
) -> Result<HexahedronMesh, GenerateError> {
    let (points, at) = grid_points(lower, upper, cells)?;
    let mut elements = Vec::with_capacity(cells.iter().product());
    for i in 0..cells[0] {
        for j in 0..cells[1] {
            for k in 0..cells[2] {
                elements.push(std::array::from_fn(|c| at(i + (c >> 2), j + (c >> 1 & 1), k + (c & 1))));
            }
        }
    }
    Ok(Mesh { points, elements })
}

/// The box of a beam along x: `across` cells in both cross directions and as many along the length as make the cells nearly cubic.
fn beam_cells(length: f64, width: f64, height: f64, across: usize) -> Result<[usize; 3], GenerateError> {
    positive("length", length)?;
    positive("width", width)?;
    positive("height", height)?;
    at_least("cells across", across, 1)?;
    let size = width.min(height) / across as f64;
    let cells = [length, width, height].map(|extent| (extent / size).round().max(1.0));
    countable(cells.iter().map(|c| c + 1.0).product())?;
    Ok(cells.map(|c| c as usize))
}

/// Beam of tetrahedra from the origin along x, its cross-section `width` (y) by `height` (z) centred on the axis, with `across` cells over the
/// thinner side and nearly cubic cells.
pub fn beam_tetrahedra(
    length: f64,
    width: f64,
    height: f64,
    across: usize,
    split: CubeSplit,
) -> Result<TetrahedronMesh, GenerateError> {
    let cells = beam_cells(length, width, height, across)?;
    let half = Vector::<3>::new(0.0, 0.5 * width, 0.5 * height);
    box_tetrahedra(-half, half + Vector::<3>::new(length, 0.0, 0.0), cells, split)
}

/// Beam of hexahedra, laid out as [`beam_tetrahedra`].
pub fn beam_hexahedra(
    length: f64,
    width: f64,
    height: f64,
    across: usize,
) -> Result<HexahedronMesh, GenerateError> {
    let cells = beam_cells(length, width, height, across)?;
    let half = Vector::<3>::new(0.0, 0.5 * width, 0.5 * height);
    box_hexahedra(-half, half + Vector::<3>::new(length, 0.0, 0.0), cells)
}

/// Closed surface of the box from `lower` to `upper` with `cells` squares along each axis, two triangles each.
pub fn box_surface(
    lower: Vector<3>,
    upper: Vector<3>,
    cells: [usize; 3],
) -> Result<TriangleMesh<3>, GenerateError> {
    check_box(lower, upper, cells)?;
    let mut index = HashMap::new();
    let mut points = Vec::new();
    let mut elements = Vec::new();
    let mut name = |at: [usize; 3]| {
        *index.entry(at).or_insert_with(|| {
            points.push(grid_point(lower, upper, cells, at));
            (points.len() - 1) as u32
        })
    };
    for axis in 0..3 {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for side in [0, cells[axis]] {
            for a in 0..cells[u] {
                for b in 0..cells[v] {
                    let mut corner = |da, db| {
                        let mut at = [0; 3];
                        at[axis] = side;
                        at[u] = a + da;
                        at[v] = b + db;
                        name(at)
                    };
                    let (p, q, r, s) = (corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1));
                    // (axis, u, v) is right-handed, so p q r s turns about +axis.
                    if side == 0 {
                        elements.extend([[p, r, q], [p, s, r]]);
                    } else {
                        elements.extend([[p, q, r], [p, r, s]]);
                    }
                }
            }
        }
    }
    Ok(Mesh { points, elements })
}
