//! A pressure cannot change the velocity of a particle along the normal of what it rests on: what a collision has set before a solve is still there after it.
//!
//! Source: spec/incompressible-solids.md 3.5, 5.2 J.

use super::bodies::{body, failed, keeper, tight};
use super::statics::unit_material;
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_deformable::collide::Touch;
use splashdown_deformable::incompressible::{IncompressibleReport, Kept};
use splashdown_geometry::generate::{CubeSplit, box_tetrahedra};
use splashdown_math::Vector;
use splashdown_solve::testing::TestNumbers;

pub(super) const CASE: Case = Case {
    name: "incompressible/neumann",
    spec: "J (incompressible-solids), INC-9",
    summary: "particles on a plane, at an edge and in a corner keep their normal velocities through both corrections, and volume is kept nonetheless",
    source: "exact: n . dv = 0; spec/incompressible-solids.md 5.2 J",
    speed: Speed::Fast,
    seconds: 1.0,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let mesh =
        box_tetrahedra(Vector::zeros(), Vector::repeat(1.0), [5; 3], CubeSplit::Five).map_err(failed)?;
    let (solid, motion, rings) = body(&mesh, unit_material(0.0)?, 0.0)?;
    let mut random = TestNumbers::new(6);
    let x: Vec<f64> = motion.position.iter().map(|x| x + random.uniform(-0.02, 0.02)).collect();
    let before = random.vector(x.len());
    // Planes through the lower ends of all axes: a corner, edges, sides.
    let mut touches = Vec::new();
    for (node, point) in mesh.points.iter().enumerate() {
        for axis in (0..3).filter(|&axis| point[axis] == 0.0) {
            let mut normal = Vector::<3>::zeros();
            normal[axis] = 1.0;
            let tilted = (normal + Vector::<3>::new(0.05, 0.1, -0.03)).normalize();
            let (obstacle, body_velocity) = (axis as u32, Vector::zeros());
            touches.push(Touch { node: node as u32, obstacle, normal: tilted, body_velocity, friction: 0.0 });
        }
    }
    let kept = Kept::objects(&touches, &[]);
    let mut body = keeper(&rings, tight());
    let dt = 0.01;
    for name in ["correction of positions", "correction of velocities"] {
        let mut after = before.clone();
        let report = &mut IncompressibleReport::default();
        if name.ends_with("positions") {
            body.correct_motion(&solid, &x, &mut after, dt, &kept, report).map_err(failed)?;
        } else {
            body.correct_velocity(&solid, &x, &mut after, &kept, report).map_err(failed)?;
        }
        let change = |touch: &Touch<3>| {
            let at = 3 * touch.node as usize;
            (0..3).map(|k| touch.normal[k] * (after[at + k] - before[at + k])).sum::<f64>().abs()
        };
        let worst = touches.iter().map(change).fold(0.0, f64::max);
        out.at_most("change of a normal velocity (m/s)", name, worst, 1e-10, CASE.source);
        if name.ends_with("velocities") {
            let [first, last] = report.divergence;
            out.at_least("largest rate of a ring before, as reported (1/s)", name, first, 1.0, "INC-25");
            out.at_most("largest rate of a ring after, as reported (1/s)", name, last, 1e-6, "INC-25");
            out.at_most(
                "part of the pressures that pushes nothing",
                name,
                report.null_part,
                1.0,
                "INC-25: a share",
            );
        } else {
            let mean = report.mean_ring_error / report.ring_error;
            out.at_most("mean error of a ring over the largest", name, mean, 1.0, "INC-25");
            out.at_least("mean error of a ring over the largest", name, mean, 0.01, "INC-25");
        }
        let mut rate = vec![0.0; rings.len()];
        body.rings().apply(&after, &mut rate);
        if name.ends_with("positions") {
            let volumes = body.rings().ring_volumes();
            for ((rate, now), rest) in rate.iter_mut().zip(&volumes).zip(rings.rest()) {
                *rate -= (rest - now) / dt;
            }
        }
        let largest = rings.rest().iter().fold(0.0f64, |most, rest| most.max(*rest));
        let left = rate.iter().fold(0.0f64, |most, rate| most.max(rate.abs())) / largest;
        out.at_most("rate of volume that is left, relative (1/s)", name, left, 1e-6, "residual of the solve");
    }
    Ok(())
}
