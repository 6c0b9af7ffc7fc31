//! A cube pressed between plates without friction deforms evenly on any mesh: the lateral stretch is `l^-1/2`, and the plates push with `A_0 mu (l - l^-2)`, -3.5 for `l = 1/2`.
//!
//! Source: spec/incompressible-solids.md 5.2 F.

use super::bodies::{body, failed};
use super::statics::{Keeps, Vessel, unit_material};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_geometry::generate::{CubeSplit, box_tetrahedra};
use splashdown_math::Vector;
use splashdown_solve::testing::TestNumbers;

pub(super) const CASE: Case = Case {
    name: "incompressible/patch",
    spec: "F (incompressible-solids), INC-1",
    summary: "a cube pressed to half its height without friction: even deformation and the exact force on any mesh",
    source: "exact: uniaxial compression of an incompressible neo-Hookean solid",
    speed: Speed::Fast,
    seconds: 5.0,
    run,
};

fn press(out: &mut Measurements, name: &str, split: CubeSplit, noise: f64) -> Result<(), CaseError> {
    const CELLS: usize = 3;
    let mut mesh = box_tetrahedra(Vector::zeros(), Vector::repeat(1.0), [CELLS; 3], split).map_err(failed)?;
    let mut random = TestNumbers::new(4);
    for point in &mut mesh.points {
        for axis in 0..3 {
            // Points move within the cube and its sides.
            let shift = random.uniform(-noise, noise) / CELLS as f64;
            if point[axis] > 0.0 && point[axis] < 1.0 {
                point[axis] += shift;
            }
        }
    }
    let (solid, motion, _) = body(&mesh, unit_material(0.0)?, 0.0)?;
    let ends: Vec<bool> = mesh.points.iter().map(|x| x[2] == 0.0 || x[2] == 1.0).collect();
    let mut vessel = Vessel {
        solid,
        simplices: mesh.elements.iter().flatten().copied().collect(),
        position: motion.position,
        cavity: Vec::new(),
        held: ends.iter().flat_map(|&end| [false, false, end]).collect(),
        unbalanced: Vec::new(),
    };
    let parts = 10;
    vessel.load(parts, Keeps::Rings, |part, position| {
        let height = |part: usize| 1.0 - 0.5 * part as f64 / parts as f64;
        position.chunks_exact_mut(3).for_each(|x| x[2] *= height(part) / height(part - 1));
        0.0
    })?;
    // Lateral stretches by differences to the first corner, as nothing holds the cube sideways.
    let lateral = 0.5f64.powf(-0.5);
    let stretched = |x: &[f64], i: usize| Vector::<3>::new(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
    let first = stretched(&vessel.position, 0);
    let mut uneven = 0.0f64;
    for (i, rest) in mesh.points.iter().enumerate() {
        let now = (stretched(&vessel.position, i) - first).norm();
        let from = rest - mesh.points[0];
        let wanted = Vector::<3>::new(lateral * from[0], lateral * from[1], 0.5 * from[2]).norm();
        uneven = uneven.max((now - wanted).abs());
    }
    out.at_most("deviation from the even deformation (m)", name, uneven, 1e-8, CASE.source);
    let top = mesh.points.iter().enumerate().filter(|(_, x)| x[2] == 1.0);
    let force: f64 = top.map(|(i, _)| -vessel.unbalanced[3 * i + 2]).sum();
    out.near("force of the plate (mu A_0)", name, force, -3.5, 1e-7, CASE.source);
    Ok(())
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    press(out, "five tetrahedra a cube", CubeSplit::Five, 0.0)?;
    press(out, "six tetrahedra a cube", CubeSplit::Six, 0.0)?;
    press(out, "five tetrahedra a cube, points shifted", CubeSplit::Five, 0.2)?;
    press(out, "six tetrahedra a cube, points shifted", CubeSplit::Six, 0.2)
}
