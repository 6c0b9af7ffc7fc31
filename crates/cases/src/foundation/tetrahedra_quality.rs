//! Tetrahedra that fill a shape: dihedral angles within the bounds of isosurface stuffing and volume of second order.
//!
//! The lattice is body-centred cubic, so that an uncut tetrahedron has dihedral angles of 60 and 90 degrees. Labelle and Shewchuk prove that snapping and cutting at
//! fractions 0.24999 (long edges) and 0.41189 (short edges) keeps all dihedral angles between 10.78 and 164.8 degrees, whatever the surface does; the mesh must
//! keep to that without smoothing, on a ball, a torus and a ball with a box cut out of it, whose edges are sharp. Points of the surface
//! lie on it, so the volume of a smooth shape converges with the square of the cell.

use crate::{Case, CaseError, Measurements, Plot, Scale, Series, Speed};
use splashdown_geometry::generate::{FillOptions, Filled, fill};
use splashdown_math::Vector;
use std::f64::consts::PI;

pub(super) const CASE: Case = Case {
    name: "foundation/tetrahedra-quality",
    spec: "DS-47",
    summary: "Tetrahedra that fill a ball, a torus and a sharp shape: dihedral angles and volume",
    source: "F. Labelle, J. Shewchuk, Isosurface stuffing (2007), theorem for uniform meshes; exact volumes",
    speed: Speed::Fast,
    seconds: 6.0,
    run,
};

const BOUNDS: &str = "Labelle and Shewchuk 2007: 10.78 to 164.8 degrees";

/// A point off the lattice's symmetries, so that the cuts fall everywhere on its edges.
fn centre() -> Vector<3> {
    Vector::<3>::new(0.0123, -0.0217, 0.0071)
}

fn ball(x: &Vector<3>) -> f64 {
    (x - centre()).norm() - 0.8
}

fn torus(x: &Vector<3>) -> f64 {
    let x = x - centre();
    (x.x.hypot(x.y) - 0.6).hypot(x.z) - 0.25
}

/// The ball without the octant box at its side: convex and concave sharp edges and corners.
fn cut_ball(x: &Vector<3>) -> f64 {
    let d = x - centre();
    let outside_box = -(d - Vector::<3>::repeat(0.5)).abs().max() + 0.5;
    ball(x).max(outside_box)
}

fn filled(shape: fn(&Vector<3>) -> f64, cell: f64, smoothing: usize) -> Result<Filled<3, 4>, CaseError> {
    let corner = Vector::<3>::repeat(0.95);
    let options = FillOptions { smoothing, ..FillOptions::new(cell, -corner, corner) };
    fill(shape, &options).map_err(|error| CaseError::new("filling the shape", error))
}

type Distance = fn(&Vector<3>) -> f64;

fn run(m: &mut Measurements) -> Result<(), CaseError> {
    let shapes: [(&str, Distance, f64); 3] = [
        ("ball", ball, 4.0 / 3.0 * PI * 0.8f64.powi(3)),
        ("torus", torus, 2.0 * PI * 0.6 * PI * 0.25 * 0.25),
        // An eighth of the ball, which lies within the box since 0.8 < 1, is missing.
        ("cut ball", cut_ball, 7.0 / 8.0 * 4.0 / 3.0 * PI * 0.8f64.powi(3)),
    ];
    let cells = [0.16, 0.08, 0.04];
    let mut series = Vec::new();
    for (name, shape, exact) in shapes {
        let mut errors = Vec::new();
        for cell in cells {
            let resolution = format!("cell {cell} m");
            let rough = filled(shape, cell, 0)?;
            m.at_least(
                &format!("{name}: smallest dihedral angle, no smoothing (degrees)"),
                &resolution,
                rough.quality.min_angle,
                10.78,
                BOUNDS,
            );
            m.at_most(
                &format!("{name}: largest dihedral angle, no smoothing (degrees)"),
                &resolution,
                rough.quality.max_angle,
                164.8,
                BOUNDS,
            );
            m.at_most(
                &format!("{name}: inverted tetrahedra"),
                &resolution,
                rough.quality.inverted as f64,
                0.0,
                "exact: none",
            );
            let error = rough.volume_error(exact);
            errors.push([cell, error]);
            let smooth = filled(shape, cell, 4)?;
            m.at_least(
                &format!("{name}: smallest dihedral angle, smoothed (degrees)"),
                &resolution,
                smooth.quality.min_angle,
                rough.quality.min_angle,
                "smoothing never makes the worst angle worse",
            );
        }
        let order = (errors[0][1] / errors[2][1]).log2() / 2.0;
        // Flat facets between points on the surface: h^2. Edges are cut off within a cell, which takes away an area of order h^2 along them: order 2 as well. The error
        // fluctuates with the position of the lattice, most for the sharp shape.
        m.near(
            &format!("{name}: order of the volume"),
            "cell 0.16 to 0.04 m",
            order,
            2.0,
            0.3,
            "exact: second order",
        );
        m.at_most(
            &format!("{name}: relative volume error"),
            "cell 0.04 m",
            errors[2][1],
            0.01,
            "exact volume",
        );
        series.push(Series { label: name.into(), points: errors, reference: false });
    }
    let second_order = cells.iter().map(|h| [*h, h * h]).collect();
    series.push(Series { label: "second order".into(), points: second_order, reference: true });
    m.plot(Plot {
        title: "Volume of the filled shape".into(),
        x: "cell (m)".into(),
        y: "relative error".into(),
        scale: Scale::LogLog,
        series,
    });
    Ok(())
}
