//! A row of rigid and soft balls, hit by a rigid one without friction: the momentum goes through the row to the last ball and stays the same.
//!
//! Source: spec/rigid-deformable-coupling.md 5.1, row of spheres (figure 4.3 of the source): momentum to 1e-10 without friction, no ball overtakes another.

use super::set_up::{Soft, add, at, centre, failed, matter, rigid as body_of, shipped, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_geometry::generate::ball_tetrahedra;
use splashdown_math::{Twist, Vector};
use splashdown_rigid::{Geometry, Kind, Material};

pub(super) const CASE: Case = Case {
    name: "coupled/row-of-spheres",
    spec: "5.1 row of spheres (rigid-deformable-coupling), RDC-8, RDC-39",
    summary: "a rigid ball at 5 m/s hits a row of soft and rigid balls: momentum, order, and the last ball leaves",
    source: "spec/rigid-deformable-coupling.md 5.1",
    speed: Speed::Slow,
    seconds: 10.0,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let mut world = world([0.0; 3])?;
    let smooth = Material::new(0.0, 0.0);
    let ball = || Geometry::sphere(1.0);
    let fast = Twist { linear: Vector::from([5.0, 0.0, 0.0]), angular: Vector::zeros() };
    let hitter = add(&mut world, Kind::Dynamic, ball(), 1000.0, smooth, at([-3.0, 0.0, 0.0]), fast)?;
    let mut soft = Soft::new(&world);
    soft.solids.integrator.tolerance = 1e-10;
    let mut rigid = Vec::new();
    for k in 0..4 {
        let x = 2.02 * f64::from(k);
        if k % 2 == 1 {
            rigid.push(add(
                &mut world,
                Kind::Dynamic,
                ball(),
                1000.0,
                smooth,
                at([x, 0.0, 0.0]),
                Twist::zero(),
            )?);
        } else {
            let mesh = ball_tetrahedra(Vector::from([x, 0.0, 0.0]), 1.0, 4).map_err(failed("meshing"))?;
            soft.add(&mesh, matter(5e5, 0.3, 0.01)?, [0.0; 3])?;
        }
    }
    soft.finish(&mut world);
    let before = world.diagnostics().momentum[0];
    let mut worst = 0.0f64;
    for _ in 0..60 {
        step(&mut world, 1.0 / 60.0)?;
        worst = worst.max((world.diagnostics().momentum[0] / before - 1.0).abs());
    }
    let resolution = "4 shells of tetrahedra, dt = 1/60 s";
    out.at_most("change of momentum, relative", resolution, worst, 1e-10, CASE.source);
    let x = |body: usize| world.state().bodies[body].frame.position[0];
    let order = [x(hitter), centre(&world, 0)[0], x(rigid[0]), centre(&world, 1)[0], x(rigid[1])];
    let closest = order.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    out.at_least(
        "least distance of neighbours' centres (m), radius 1",
        resolution,
        closest,
        1.5,
        "no ball overtakes",
    );
    let last = world.state().bodies[rigid[1]].velocity[0];
    out.at_least("speed of the last ball (m/s)", resolution, last, 1.0, "momentum reaches it");
    Ok(())
}

pub(super) const SOURCE: Case = Case {
    name: "coupled/row-of-spheres-source",
    spec: "5.1 row of spheres (rigid-deformable-coupling), RDC-8, RDC-34, RDC-39",
    summary: "the scene row-of-spheres at the source's 50 m/s: rigid and incompressible soft balls, with and without friction of the ground",
    source: "spec/rigid-deformable-coupling.md 5.1",
    speed: Speed::Slow,
    seconds: 120.0,
    run: at_source,
};

/// Momentum along the row over that at first, worst; change of the volume of a soft ball, relative, worst; least distance of neighbours' centres (m); velocities at the end, along the row.
struct Through {
    momentum: f64,
    volume: f64,
    closest: f64,
    speeds: Vec<f64>,
}

fn through(friction: f64, seconds: f64) -> Result<Through, CaseError> {
    let mut overrides = vec!["variables.speed=50".to_owned(), "variables.cells=3".to_owned()];
    overrides.push(format!("elastic.friction={friction}"));
    for body in ["ground", "hitter", "rigid-2", "rigid-4"] {
        overrides.push(format!("rigid.{body}.friction={friction}"));
    }
    // The source's material: at 50 m/s a ball of 2e5 Pa is hit faster than its waves go.
    for ball in ["soft-1", "soft-3", "soft-5"] {
        overrides.push(format!("deformable.{ball}.material.young=2000000"));
    }
    let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
    let mut world = shipped("row-of-spheres", &overrides)?;
    let bodies = ["hitter", "rigid-2", "rigid-4"].map(|name| body_of(&world, name));
    let [hitter, second, fourth] = bodies;
    let (hitter, second, fourth) = (hitter?, second?, fourth?);
    let rest: Vec<f64> = (0..3).map(|ball| volume(&world, ball)).collect();
    let before = world.diagnostics().momentum[0];
    let mut out = Through { momentum: 0.0, volume: 0.0, closest: f64::INFINITY, speeds: Vec::new() };
    for _ in 0..(seconds * 96.0) as usize {
        step(&mut world, 1.0 / 96.0)?;
        let momentum = world.diagnostics().momentum[0];
        out.momentum = out.momentum.max((momentum / before - 1.0).abs());
        for (ball, rest) in rest.iter().enumerate() {
            out.volume = out.volume.max((volume(&world, ball) / rest - 1.0).abs());
        }
        let x = |body: usize| world.state().bodies[body].frame.position[0];
        let c = |ball: usize| centre(&world, ball)[0];
        let row = [x(hitter), c(0), x(second), c(1), x(fourth), c(2)];
        let closest = row.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
        out.closest = out.closest.min(closest);
    }
    let v = |body: usize| world.state().bodies[body].velocity[0];
    let soft = |ball: usize| mean_velocity(&world, ball);
    out.speeds = vec![v(hitter), soft(0), v(second), soft(1), v(fourth), soft(2)];
    Ok(out)
}

/// Volume (m^3) of a soft ball.
fn volume(world: &World<3>, ball: usize) -> f64 {
    let Some(body) = world.solids().and_then(|solids| solids.bodies.get(ball)) else { return f64::NAN };
    let motion = &world.state().solids.motion;
    let corners = body.elements.chunks_exact(4).map(|element| {
        let x = [0, 1, 2, 3].map(|k| motion.point::<3>(body.particles.start + element[k] as usize));
        (x[1] - x[0]).cross(&(x[2] - x[0])).dot(&(x[3] - x[0])) / 6.0
    });
    corners.sum()
}

/// Velocity (m/s) of the centre of mass of a soft ball along the row.
fn mean_velocity(world: &World<3>, ball: usize) -> f64 {
    let Some(solids) = world.solids() else { return f64::NAN };
    let masses = solids.solid.masses();
    let (mut sum, mut mass) = (0.0, 0.0);
    for particle in solids.bodies[ball].particles.clone() {
        sum += masses[particle] * world.state().solids.motion.speed::<3>(particle)[0];
        mass += masses[particle];
    }
    sum / mass
}

fn at_source(out: &mut Measurements) -> Result<(), CaseError> {
    let resolution = "3 shells of tetrahedra, 1/96 s";
    let smooth = through(0.0, 0.75)?;
    out.at_most("change of momentum without friction", resolution, smooth.momentum, 1e-10, SOURCE.source);
    out.at_most("change of a soft ball's volume", resolution, smooth.volume, 0.01, SOURCE.source);
    out.at_least(
        "least distance of neighbours' centres (m)",
        resolution,
        smooth.closest,
        1.0,
        "no ball passes",
    );
    let last = smooth.speeds[5];
    out.at_least("speed of the last ball (m/s)", resolution, last, 10.0, "momentum reaches it");
    let falling = smooth.speeds.windows(2).map(|pair| pair[0] - pair[1]).fold(f64::MIN, f64::max);
    // A soft ball that swings has a mean velocity all the same.
    out.at_most(
        "most by which a ball is faster than the next (m/s)",
        resolution,
        falling,
        0.5,
        "no ball overtakes",
    );
    // Through the impact: the ground takes mu g t from what touches it.
    let rough = through(0.2, 0.25)?;
    let ground = 0.2 * 9.81 * 0.25 / 50.0 * 6.0;
    out.at_most(
        "change of momentum through the impact, friction 0.2",
        resolution,
        rough.momentum,
        0.01 + ground,
        "1 %, and what the weight rubs",
    );
    out.at_most(
        "change of a soft ball's volume, friction 0.2",
        resolution,
        rough.volume,
        0.01,
        SOURCE.source,
    );
    Ok(())
}
