//! Bodies without strength melt to a puddle under gravity; when the strength comes back they must stand up again and agree with a control that never melted.
//! And a spindle of muscle that contracts while one of the two bones it is grown to is driven through the other: the flesh between them is turned inside out, and must
//! come back to the length that it had.
//!
//! Source: spec/deformable-solids.md E1, E2, E3 at reduced size.

use super::set_up::{cubes, difference, failed, flat, material, run_steps, solid_of, tetrahedra};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_deformable::collide::Obstacle;
use splashdown_deformable::integrate::{Integrator, Motion, Scheme};
use splashdown_deformable::material::{Fibre, Model, MuscleCurve};
use splashdown_deformable::{Elements, Solid};
use splashdown_geometry::generate::{box_hexahedra, torus_tetrahedra};
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Frame, Vector};

pub(super) const CASE: Case = Case {
    name: "deformable/puddles",
    spec: "E1, E2, E3, DS-15, DS-51",
    summary: "a torus and a block of hexahedra melt to puddles and stand up again; a muscle contracts and survives overlapping bones",
    source: "spec/deformable-solids.md E1, E2, E3",
    speed: Speed::Slow,
    seconds: 30.0,
    run,
};

fn floor() -> Result<Obstacle<3>, CaseError> {
    let plane = Shape::half_space(Vector::<3>::new(0.0, 1.0, 0.0), 0.0).map_err(failed("the floor"))?;
    Ok(Obstacle::fixed("floor", plane, Frame::identity(), 0.3))
}

/// What became of a body.
struct Stood {
    position: Vec<f64>,
    inverted: usize,
    /// Height (m) at the moment when the strength comes back.
    puddle: f64,
}

/// Melts for `melted` seconds (or not), then stands for the rest of `end`.
fn stand(mut solid: Solid<3>, points: &[Vector<3>], melted: f64, end: f64) -> Result<Stood, CaseError> {
    let mut motion = Motion::at_rest(points);
    let mut integrator = Integrator::new(Scheme::B);
    integrator.tolerance = 1e-3;
    integrator.obstacles.push(floor()?);
    let dt = 0.4 * solid.stable_step();
    let soft = (melted / dt).round() as usize;
    let mut puddle = f64::INFINITY;
    for step in 0..(end / dt).round() as usize {
        // Zero strength, then raised over a tenth of a second.
        let strength = if step < soft { 0.0 } else { ((step - soft) as f64 * dt / 0.1).min(1.0) };
        for force in solid.forces_mut() {
            force.set_strength(if melted > 0.0 { strength } else { 1.0 });
        }
        run_steps(&mut integrator, &mut solid, &mut motion, dt, 1)?;
        if step + 1 == soft {
            let heights = || motion.position.iter().skip(1).step_by(3);
            puddle = heights().fold(f64::MIN, |m, &y| m.max(y)) - heights().fold(f64::MAX, |m, &y| m.min(y));
        }
    }
    solid.update(&motion.position).map_err(failed("counting"))?;
    Ok(Stood { position: motion.position, inverted: solid.inverted(), puddle })
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let own = material(Model::RotatedLinear, 2e4, 0.3, 100.0, 0.02)?;
    let gravity = [0.0, -9.81, 0.0];
    let mut torus = torus_tetrahedra(Vector::zeros(), 0.35, 0.15, 2, 20).map_err(failed("meshing"))?;
    for point in &mut torus.points {
        *point = Vector::<3>::new(point[1], point[2] + 0.3, point[0]);
    }
    let block = box_hexahedra(Vector::<3>::new(-0.3, 0.1, -0.3), Vector::<3>::new(0.3, 0.7, 0.3), [8; 3])
        .map_err(failed("meshing"))?;
    let hexes = || -> Result<Solid<3>, CaseError> {
        let elements = Elements::hexahedra(&block, 0, own).map_err(failed("elements"))?;
        let masses = elements.clone();
        Ok(solid_of(elements, |mass| masses.add_masses(mass), block.points.len(), gravity.into()))
    };
    let tets = || tetrahedra(&torus, own, gravity);
    for (name, size, melted, control) in [
        ("torus", 1.0, stand(tets()?, &torus.points, 0.4, 4.0)?, stand(tets()?, &torus.points, 0.0, 4.0)?),
        (
            "block of hexahedra",
            0.6,
            stand(hexes()?, &block.points, 0.4, 4.0)?,
            stand(hexes()?, &block.points, 0.0, 4.0)?,
        ),
    ] {
        // Every node lies on the floor: all elements are flat, none has any volume left to remember its side by.
        out.at_most("height of the puddle (m)", name, melted.puddle, 1e-3, "the puddle is a real one");
        out.at_most("inverted elements after it stood up", name, melted.inverted as f64, 0.0, CASE.source);
        let apart = difference(&melted.position, &control.position) / size;
        out.at_most(
            "difference to a control that never melted, over the diameter",
            name,
            apart,
            0.01,
            CASE.source,
        );
    }

    // A spindle along y, grown to one bone at its upper end and to another 0.2 m below; for 0.2 s the first is driven through the second. Its fibres come together at its ends as its surface does.
    let mut mesh = cubes([-0.1, -0.5, -0.1], [0.1, 0.5, 0.1], [2, 10, 2])?;
    let width = |y: f64| 1.0 - 2.4 * y * y;
    for point in &mut mesh.points {
        *point = Vector::<3>::new(point[0] * width(point[1]), point[1], point[2] * width(point[1]));
    }
    // Damped well (a ratio of 0.4 in the slowest longitudinal mode), so that what is read after a second is the equilibrium.
    let own = material(Model::NeoHookean, 3e4, 0.4, 1000.0, 0.05)?;
    let mut elements = Elements::tetrahedra(&mesh, 0, own).map_err(failed("elements"))?;
    let curve = MuscleCurve { maximum: 2e4, ..MuscleCurve::default() };
    let fibre = Fibre { curve, activation: 1.0, ..Fibre::muscle() };
    let along = (0..mesh.elements.len()).map(|element| {
        let centre = mesh.corners(element).iter().sum::<Vector<3>>() * 0.25;
        let narrowing = -4.8 * centre[1] / width(centre[1]);
        Vector::<3>::new(centre[0] * narrowing, 1.0, centre[2] * narrowing)
    });
    let along = along.collect();
    elements.add_fibres(fibre, along).map_err(failed("fibres"))?;
    let masses = elements.clone();
    let mut solid = solid_of(elements, |mass| masses.add_masses(mass), mesh.points.len(), Vector::zeros());
    let bone: Vec<usize> = (0..mesh.points.len()).filter(|&node| mesh.points[node][1] > 0.49).collect();
    let other = (0..mesh.points.len()).filter(|&node| (mesh.points[node][1] - 0.3).abs() < 0.01);
    bone.iter().copied().chain(other).for_each(|node| solid.set_pinned(node, true));
    let mut motion =
        Motion { velocity: vec![0.0; 3 * mesh.points.len()], position: flat(&mesh.points), time: 0.0 };
    let mut integrator = Integrator::new(Scheme::B);
    integrator.tolerance = 1e-4;
    let dt = 0.3 * solid.stable_step();
    let lower = |motion: &Motion| motion.position.iter().skip(1).step_by(3).fold(f64::MAX, |m, &y| m.min(y));
    let steps = |seconds: f64| (seconds / dt).ceil() as usize;
    run_steps(&mut integrator, &mut solid, &mut motion, dt, steps(1.0))?;
    let contracted = 0.5 - lower(&motion);
    // The bone moves 0.4 m, past the other one and 0.2 m beyond, and back.
    let mut inside_out = 0;
    for speed in [-4.0, 4.0] {
        for &node in &bone {
            motion.velocity[3 * node + 1] = speed;
        }
        // Between the bones they are inside out, or turn over as a whole, which is not inside out.
        for _ in 0..steps(0.1) {
            run_steps(&mut integrator, &mut solid, &mut motion, dt, 1)?;
            solid.update(&motion.position).map_err(failed("counting"))?;
            inside_out = inside_out.max(solid.inverted());
        }
    }
    for &node in &bone {
        motion.velocity[3 * node + 1] = 0.0;
    }
    run_steps(&mut integrator, &mut solid, &mut motion, dt, steps(1.5))?;
    solid.update(&motion.position).map_err(failed("counting"))?;
    out.at_most(
        "length of the contracted muscle over its rest length",
        "activation 1",
        contracted,
        0.95,
        CASE.source,
    );
    out.at_least(
        "most inverted elements while the bones are crossed",
        "muscle",
        inside_out as f64,
        1.0,
        "source: temporary inversions",
    );
    out.near(
        "length after the bone went back (m)",
        "muscle",
        0.5 - lower(&motion),
        contracted,
        0.01,
        "exact: same equilibrium",
    );
    out.at_most(
        "inverted elements after the bone went back",
        "muscle",
        solid.inverted() as f64,
        0.0,
        CASE.source,
    );
    solid.forces_mut().iter_mut().for_each(|force| force.set_activation(0.0));
    run_steps(&mut integrator, &mut solid, &mut motion, dt, steps(1.5))?;
    let relaxed = 0.5 - lower(&motion);
    out.near("length without activation (m)", "muscle", relaxed, 1.0, 0.01, "exact: rest shape");
    Ok(())
}
