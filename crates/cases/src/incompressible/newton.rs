//! The correction of positions is a step of Newton's method for the volumes of all rings: what is left is of the order of the square of what was there.
//!
//! Source: spec/incompressible-solids.md 3.3: on a sphere of 22 000 tetrahedra, stretched to (1.1, 0.95, 1) with noise, largest relative errors of 0.167, 5.8e-3, 7.1e-6, 1.6e-11.

use super::bodies::{FREE, body, failed, keeper, tight};
use super::statics::unit_material;
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_deformable::incompressible::IncompressibleReport;
use splashdown_geometry::generate::ball_tetrahedra;
use splashdown_math::Vector;
use splashdown_solve::testing::TestNumbers;

pub(super) const CASE: Case = Case {
    name: "incompressible/newton",
    spec: "E (incompressible-solids), INC-3, INC-27",
    summary: "a stretched and jiggled ball: the volume error of the worst ring is squared by every correction, on any mesh",
    source: "spec/incompressible-solids.md 3.3",
    speed: Speed::Fast,
    seconds: 6.0,
    run,
};

/// Largest relative errors of a ring before and after 1, 2, 3 corrections, and the tetrahedra.
fn errors(rings: usize, noise: f64) -> Result<(usize, Vec<f64>), CaseError> {
    let mesh = ball_tetrahedra(Vector::zeros(), 1.0, rings).map_err(failed)?;
    let (solid, motion, volumes) = body(&mesh, unit_material(0.0)?, 0.0)?;
    let mut random = TestNumbers::new(11);
    let edge = noise / rings as f64;
    let mut x: Vec<f64> = motion
        .position
        .chunks_exact(3)
        .flat_map(|x| [1.1 * x[0], 0.95 * x[1], x[2]])
        .map(|x| x + random.uniform(-edge, edge))
        .collect();
    let mut body = keeper(&volumes, tight());
    let mut out = vec![body.errors(&x).0];
    for _ in 0..3 {
        let mut moving = vec![0.0; x.len()];
        body.correct_motion(&solid, &x, &mut moving, 1.0, &FREE, &mut IncompressibleReport::default())
            .map_err(failed)?;
        x.iter_mut().zip(&moving).for_each(|(x, v)| *x += v);
        out.push(body.errors(&x).0);
    }
    Ok((mesh.elements.len(), out))
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    // Noise (in lengths of an edge) that gives about the published error to begin with.
    for (rings, noise) in [(5, 0.055), (10, 0.06)] {
        let (count, errors) = errors(rings, noise)?;
        let size = format!("{count} tetrahedra");
        out.near("largest relative error of a ring", &size, errors[0], 0.167, 0.03, CASE.source);
        for (step, pair) in errors.windows(2).enumerate() {
            // The constants of the published numbers are 0.21, 0.21 and 0.32, the last one with rounding in it.
            let bound = (0.4 * pair[0] * pair[0]).max(2e-11);
            out.at_most(
                "largest relative error of a ring",
                &format!("{size}, {} corrections", step + 1),
                pair[1],
                bound,
                "0.4 times the square of the last",
            );
        }
    }
    Ok(())
}
