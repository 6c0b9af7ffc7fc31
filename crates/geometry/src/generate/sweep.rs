//! Solids swept from a triangulated cross-section: extruded and bent round.

use crate::mesh::{Mesh, TetrahedronMesh, TriangleMesh};
use splashdown_math::Vector;

use super::boxes::orient;
use super::{GenerateError, at_least, countable, disc_triangles, finite, positive};

/// Sweeps `section` through `layers` layers of prisms, three tetrahedra each. `place(x, layer)` puts the section's point `x` into space; with
/// `closed` the last layer joins the first.
///
/// The diagonal of every side face starts at the column with the smaller index, so neighbours agree and no prism is left without a division.
fn sweep(
    section: &TriangleMesh<2>,
    layers: usize,
    closed: bool,
    place: impl Fn(&Vector<2>, usize) -> Vector<3>,
) -> Result<TetrahedronMesh, GenerateError> {
    let columns = section.points.len();
    let levels = if closed { layers } else { layers + 1 };
    countable(columns as f64 * levels as f64)?;
    let points = (0..levels).flat_map(|layer| section.points.iter().map(move |x| (x, layer)));
    let points = points.map(|(x, layer)| place(x, layer)).collect();
    let mut elements = Vec::with_capacity(3 * section.elements.len() * layers);
    for layer in 0..layers {
        let low = (layer * columns) as u32;
        let high = ((layer + 1) % levels * columns) as u32;
        for triangle in &section.elements {
            let mut t = *triangle;
            t.sort_unstable();
            elements.push([low + t[0], low + t[1], low + t[2], high + t[2]]);
            elements.push([low + t[0], low + t[1], high + t[1], high + t[2]]);
            elements.push([low + t[0], high + t[0], high + t[1], high + t[2]]);
        }
    }
    let mut mesh = Mesh { points, elements };
    orient(&mut mesh);
    Ok(mesh)
}

/// Solid between `section` in the plane z = `z[0]` and its copy in the plane z = `z[1]`, in `layers` layers of prisms of three tetrahedra each.
pub fn extrude(
    section: &TriangleMesh<2>,
    z: [f64; 2],
    layers: usize,
) -> Result<TetrahedronMesh, GenerateError> {
    positive("height", z[1] - z[0])?;
    at_least("layers", layers, 1)?;
    sweep(section, layers, false, |x, layer| {
        let t = layer as f64 / layers as f64;
        Vector::<3>::new(x.x, x.y, z[0] * (1.0 - t) + z[1] * t)
    })
}

/// Solid cylinder about the z direction through `centre`, which is half way up; `18 rings^2 layers` tetrahedra.
pub fn cylinder_tetrahedra(
    centre: Vector<3>,
    radius: f64,
    height: f64,
    rings: usize,
    layers: usize,
) -> Result<TetrahedronMesh, GenerateError> {
    positive("height", height)?;
    finite("centre", &centre)?;
    let disc = disc_triangles(Vector::<2>::new(centre.x, centre.y), radius, rings)?;
    extrude(&disc, [centre.z - 0.5 * height, centre.z + 0.5 * height], layers)
}

/// Solid torus about the z direction through `centre`: a disc of `minor` radius swept along the circle of `major` radius in `segments` pieces;
/// `18 rings^2 segments` tetrahedra.
pub fn torus_tetrahedra(
    centre: Vector<3>,
    major: f64,
    minor: f64,
    rings: usize,
    segments: usize,
) -> Result<TetrahedronMesh, GenerateError> {
    positive("major radius", major)?;
    finite("centre", &centre)?;
    at_least("segments", segments, 3)?;
    if minor >= major {
        return Err(GenerateError::Inconsistent {
            what: "minor and major radius",
            problem: "the tube must be thinner than the circle it follows",
        });
    }
    let disc = disc_triangles(Vector::<2>::zeros(), minor, rings)?;
    sweep(&disc, segments, true, |x, layer| {
        let angle = std::f64::consts::TAU * layer as f64 / segments as f64;
        let r = major + x.x;
        centre + Vector::<3>::new(r * angle.cos(), r * angle.sin(), x.y)
    })
}
