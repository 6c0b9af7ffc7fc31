//! A soft ball falls on the floor with Poisson's ratios of 0.45 and 0.499: linear tetrahedra either lose volume or lock. It is the trend that the one-ring constraint of incompressible bodies
//! (`incompressible/drop`) does away with.
//!
//! Source: spec/deformable-solids.md E15 at reduced size: more than 15 % and about 2 % at 104 000 tetrahedra.

use super::set_up::{failed, material, tetrahedra};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::step_alone;
use splashdown_deformable::collide::Obstacle;
use splashdown_deformable::integrate::{ImplicitScheme, Integrator, Motion, Scheme};
use splashdown_deformable::material::Model;
use splashdown_geometry::generate::ball_tetrahedra;
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Frame, Vector};

pub(super) const CASE: Case = Case {
    name: "deformable/ball-drop",
    spec: "E15, DS-33",
    summary: "a soft ball dropped with Poisson's ratios 0.45 and 0.499: the first loses volume, the second flattens less",
    source: "spec/deformable-solids.md E15",
    speed: Speed::Slow,
    seconds: 40.0,
    run,
};

/// Largest loss of volume (relative) and smallest height over the diameter during the fall.
fn drop_ball(poisson: f64) -> Result<(f64, f64), CaseError> {
    let mesh = ball_tetrahedra(Vector::<3>::new(0.0, 1.05, 0.0), 1.0, 7).map_err(failed("meshing"))?;
    // The shear modulus stays: soft enough that the ball flattens by a third.
    let young = 2.0 * 6e3 * (1.0 + poisson);
    let own = material(Model::NeoHookean, young, poisson, 1000.0, 0.002)?;
    let mut solid = tetrahedra(&mesh, own, [0.0, -9.81, 0.0])?;
    let mut integrator = Integrator::new(Scheme::Implicit(ImplicitScheme::BackwardEuler));
    integrator.implicit.tolerance = 1e-3;
    integrator.implicit.strict = false;
    let plane = Shape::half_space(Vector::<3>::new(0.0, 1.0, 0.0), 0.0).map_err(failed("the floor"))?;
    integrator.obstacles.push(Obstacle::fixed("floor", plane, Frame::identity(), 0.3));
    let mut motion = Motion::at_rest(&mesh.points);
    motion.velocity.iter_mut().skip(1).step_by(3).for_each(|speed| *speed = -2.0);
    let volume = |motion: &Motion| {
        let point = |node: u32| motion.point::<3>(node as usize);
        let of = |corners: &[u32; 4]| {
            let x = corners.map(point);
            (x[1] - x[0]).cross(&(x[2] - x[0])).dot(&(x[3] - x[0])) / 6.0
        };
        mesh.elements.iter().map(of).sum::<f64>()
    };
    let first = volume(&motion);
    let (mut lost, mut flattest) = (0.0f64, 1.0f64);
    for _ in 0..150 {
        step_alone(&mut solid, &mut integrator, &mut motion, 1.0 / 120.0).map_err(failed("falling"))?;
        lost = lost.max(1.0 - volume(&motion) / first);
        let heights = || motion.position.iter().skip(1).step_by(3);
        let height = heights().fold(f64::MIN, |m, &y| m.max(y)) - heights().fold(f64::MAX, |m, &y| m.min(y));
        flattest = flattest.min(0.5 * height);
    }
    Ok((lost, flattest))
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let ((soft, flat), (stiff, tall)) = (drop_ball(0.45)?, drop_ball(0.499)?);
    let resolution = "6860 tetrahedra";
    out.at_least("loss of volume, nu = 0.45", resolution, soft, 0.05, CASE.source);
    out.at_most("loss of volume, nu = 0.499", resolution, stiff, 0.02, CASE.source);
    out.at_least("loss at 0.45 over that at 0.499", resolution, soft / stiff, 5.0, CASE.source);
    out.at_least("height at 0.499 over that at 0.45: it locks", resolution, tall / flat, 1.02, CASE.source);
    Ok(())
}
