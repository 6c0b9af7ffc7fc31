//! Cloth against itself: a curtain that falls in folds and a stack of four sheets, with impulses in small explicit steps and with the barrier in steps of 1/60 s. After every
//! step all edges are tested against all triangles by signed volumes, a routine that shares nothing with the detection along paths.
//!
//! Source: spec/deformable-solids.md 3.16, T22: no intersections.

use super::set_up::failed;
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::step_alone;
use splashdown_deformable::collide::Obstacle;
use splashdown_deformable::contact::{
    BarrierOptions, ContactSurface, SelfContact, SelfContactOptions, intersections,
};
use splashdown_deformable::element::{Damping, DampingKind, Material};
use splashdown_deformable::integrate::{ImplicitScheme, Integrator, Motion, Scheme};
use splashdown_deformable::material::{Lame, Law, Model};
use splashdown_deformable::{Bending, BendingModel, Elements, Solid};
use splashdown_geometry::generate::{Diagonals, sheet};
use splashdown_geometry::mesh::{Mesh, TriangleMesh};
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Frame, Vector};

pub(super) const CASE: Case = Case {
    name: "deformable/self-contact",
    spec: "T22, DS-41..DS-44",
    summary: "a curtain in folds and a stack of four sheets: no edge passes through a triangle at any step",
    source: "spec/deformable-solids.md T22",
    speed: Speed::Slow,
    seconds: 20.0,
    run,
};

pub(super) const LONG: Case = Case {
    name: "deformable/folds-10-seconds",
    spec: "issue 4, must show 2",
    summary: "a curtain falls in folds and rests for 10 s: no intersection at any frame",
    source: "issue 4",
    speed: Speed::Slow,
    seconds: 120.0,
    run: run_long,
};

pub(super) const LONG_IMPULSES: Case = Case {
    name: "deformable/folds-10-seconds-impulses",
    spec: "issue 4, must show 2; DS-41, DS-42",
    summary: "the same by repulsions, impulses and impact zones in explicit steps: no intersection at any step",
    source: "issue 4",
    speed: Speed::Slow,
    seconds: 300.0,
    run: run_long_impulses,
};

pub(super) const TWISTED: Case = Case {
    name: "deformable/twisted-cloth",
    spec: "issue 4, must show 2",
    summary: "a cloth is wrung by turning its two ends against each other for two whole turns: no intersection at any frame",
    source: "issue 4",
    speed: Speed::Slow,
    seconds: 60.0,
    run: run_twisted,
};

pub(super) const PILE: Case = Case {
    name: "deformable/cloth-pile",
    spec: "T22, DS-41, DS-42",
    summary: "four sheets of 5000 triangles in all fall on each other: no edge passes through a triangle at any of 200 steps",
    source: "spec/deformable-solids.md T22",
    speed: Speed::Slow,
    seconds: 60.0,
    run: run_pile,
};

/// T22 at its size, by impulses and impact zones.
fn run_pile(out: &mut Measurements) -> Result<(), CaseError> {
    let mesh = stack(25)?;
    let mut pile = fall(&mesh, false, 0.01)?;
    let dt = 1e-3;
    let (crossing, contacts) = drop_it(&mut pile, dt, 200.0 * dt)?;
    let resolution = format!("{} triangles, impulses, dt = {dt:.0e} s", mesh.elements.len());
    out.at_most("intersections, summed over 200 steps", &resolution, crossing as f64, 0.0, PILE.source);
    out.at_least("contacts met", &resolution, contacts as f64, 1000.0, "all sheets meet the one below");
    Ok(())
}

/// A cloth between two bars that turn about its middle line, one turn each, while they come nearer.
fn run_twisted(out: &mut Measurements) -> Result<(), CaseError> {
    use splashdown_deformable::integrate::{Driver, Path};
    let cells = [36, 18];
    let (u, v) = (Vector::<3>::new(1.0, 0.0, 0.0), Vector::<3>::new(0.0, 0.0, 0.5));
    let mesh = sheet(Vector::<3>::new(-0.5, 0.0, -0.25), u, v, cells, Diagonals::Alternating)
        .map_err(failed("meshing"))?;
    let mut fall = fall(&mesh, true, 0.004)?;
    fall.solid.gravity = Vector::zeros();
    fall.integrator.obstacles.clear();
    let turning = 3.0;
    for side in [-1.0, 1.0] {
        let held = (0..mesh.points.len()).filter(|&node| side * mesh.points[node][0] > 0.5 - 1e-9);
        let nodes: Vec<(u32, Vector<3>)> = held.map(|node| (node as u32, mesh.points[node])).collect();
        nodes.iter().for_each(|(node, _)| fall.solid.set_pinned(*node as usize, true));
        let path = Path {
            velocity: Vector::<3>::new(-side * 0.06, 0.0, 0.0),
            centre: Vector::zeros(),
            spin: [side * 2.0 * std::f64::consts::PI / turning, 0.0, 0.0],
            start: 0.0,
            end: turning,
        };
        fall.integrator.drivers.push(Driver::new(nodes, path));
    }
    let (crossing, contacts) = drop_it(&mut fall, 1.0 / 60.0, turning + 0.5)?;
    let resolution = format!("{} triangles, two turns, barrier", mesh.elements.len());
    out.at_most("intersections, summed over all frames", &resolution, crossing as f64, 0.0, TWISTED.source);
    out.at_least("contacts met", &resolution, contacts as f64, 1.0, "the scene has contact");
    // The bars have arrived where they were sent.
    let late = fall
        .integrator
        .drivers
        .iter()
        .flat_map(|driver| driver.nodes.iter().map(move |(node, first)| (driver, *node, first)))
        .map(|(driver, node, first)| {
            let target = driver.at(fall.motion.time, first);
            (target - fall.motion.point::<3>(node as usize)).norm()
        })
        .fold(0.0, f64::max);
    out.at_most(
        "distance of the bars to where they were sent (m)",
        &resolution,
        late,
        1e-9,
        "two whole turns",
    );
    Ok(())
}

fn curtain(cells: usize) -> Result<TriangleMesh<3>, CaseError> {
    let (u, v) = (Vector::<3>::new(1.0, 0.0, 0.02), Vector::<3>::new(0.02, 1.0, 0.05));
    sheet(Vector::<3>::new(-0.5, 0.05, 0.0), u, v, [cells; 2], Diagonals::Alternating)
        .map_err(failed("meshing"))
}

fn stack(cells: usize) -> Result<TriangleMesh<3>, CaseError> {
    let mut all = Mesh { points: Vec::new(), elements: Vec::new() };
    for layer in 0..4 {
        // Each turned a little against the one below.
        let angle = 0.3 * f64::from(layer);
        let (u, v) = (
            Vector::<3>::new(angle.cos(), 0.0, angle.sin()) * 0.8,
            Vector::<3>::new(-angle.sin(), 0.02, angle.cos()) * 0.8,
        );
        let corner = Vector::<3>::new(0.0, 0.03 + 0.06 * f64::from(layer), 0.0) - (u + v) * 0.5;
        let one = sheet(corner, v, u, [cells; 2], Diagonals::Alternating).map_err(failed("meshing"))?;
        let first = all.points.len() as u32;
        all.points.extend(one.points);
        all.elements.extend(one.elements.iter().map(|face| face.map(|node| node + first)));
    }
    Ok(all)
}

struct Fall {
    solid: Solid<3>,
    motion: Motion,
    surface: ContactSurface<3>,
    integrator: Integrator<3>,
}

fn fall(mesh: &TriangleMesh<3>, barrier: bool, thickness: f64) -> Result<Fall, CaseError> {
    let own = Material {
        law: Law::safe(Model::RotatedLinear),
        lame: Lame::plane_stress(2e4, 0.3).map_err(failed("material"))?,
        density: 300.0,
        damping: Damping { kind: DampingKind::Blend, time: 0.002 },
    };
    let elements = Elements::membrane(mesh, 0, 1e-3, own).map_err(failed("elements"))?;
    let mut mass = vec![0.0; mesh.points.len()];
    elements.add_masses(&mut mass);
    let mut solid = Solid::new(mass, vec![false; mesh.points.len()], Vector::<3>::new(0.0, -9.81, 0.0));
    solid.add(elements);
    solid.add(Bending::new(mesh, 0, BendingModel::DiscreteShells, 1e-6, 1e-8));
    let motion = Motion::at_rest(&mesh.points);
    let surface = ContactSurface::new(mesh.elements.clone());
    let scheme = if barrier { Scheme::Implicit(ImplicitScheme::BackwardEuler) } else { Scheme::B };
    let mut integrator = Integrator::new(scheme);
    integrator.tolerance = 1e-4;
    integrator.implicit.strict = false;
    integrator.implicit.tolerance = 1e-2;
    integrator.implicit.max_iterations = 15;
    let options = SelfContactOptions { thickness, friction: 0.2, ..SelfContactOptions::default() };
    let contact = SelfContact::new(surface.clone(), &motion.position, options);
    let barrier = BarrierOptions { reach: thickness, friction: 0.2, ..BarrierOptions::default() };
    integrator.self_contact = Some(contact.with_barrier(barrier));
    let plane = Shape::half_space(Vector::<3>::new(0.0, 1.0, 0.0), 0.0).map_err(failed("the floor"))?;
    integrator.obstacles.push(Obstacle::fixed("floor", plane, Frame::identity(), 0.3));
    Ok(Fall { solid, motion, surface, integrator })
}

/// Steps and counts intersections after every step; returns them with the number of contacts met.
fn drop_it(fall: &mut Fall, dt: f64, end: f64) -> Result<(usize, usize), CaseError> {
    let (mut crossing, mut contacts) = (0, 0);
    for _ in 0..(end / dt).round() as usize {
        let report = step_alone(&mut fall.solid, &mut fall.integrator, &mut fall.motion, dt)
            .map_err(failed("stepping"))?;
        contacts += report.self_contact.collisions + report.self_contact.proximities;
        crossing += intersections(&fall.surface, &fall.motion.position);
    }
    Ok((crossing, contacts))
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    for (name, mesh) in [("curtain", curtain(12)?), ("stack of four", stack(6)?)] {
        let mut explicit = fall(&mesh, false, 0.015)?;
        let dt = (0.4 * explicit.solid.stable_step()).min(1e-3);
        let (crossing, contacts) = drop_it(&mut explicit, dt, 0.6)?;
        let resolution = format!("{name}, impulses, dt = {dt:.1e} s");
        out.at_most("intersections, summed over all steps", &resolution, crossing as f64, 0.0, CASE.source);
        out.at_least("contacts met", &resolution, contacts as f64, 1.0, "the scene has contact");
        let mut implicit = fall(&mesh, true, 0.015)?;
        let (crossing, contacts) = drop_it(&mut implicit, 1.0 / 60.0, 1.0)?;
        let resolution = format!("{name}, barrier, dt = 1/60 s");
        out.at_most("intersections, summed over all steps", &resolution, crossing as f64, 0.0, CASE.source);
        out.at_least("contacts met", &resolution, contacts as f64, 1.0, "the scene has contact");
        let lowest = implicit.motion.position.iter().skip(1).step_by(3).fold(f64::MAX, |m, &y| m.min(y));
        out.at_least("lowest point (m)", &resolution, lowest, -1e-3, "the floor is at 0");
    }
    Ok(())
}

fn run_long(out: &mut Measurements) -> Result<(), CaseError> {
    let mut implicit = fall(&curtain(24)?, true, 0.01)?;
    let (crossing, contacts) = drop_it(&mut implicit, 1.0 / 60.0, 10.0)?;
    out.at_most(
        "intersections, summed over 600 frames",
        "1152 triangles, barrier",
        crossing as f64,
        0.0,
        LONG.source,
    );
    out.at_least("contacts met", "1152 triangles, barrier", contacts as f64, 1.0, "the scene has contact");
    Ok(())
}

fn run_long_impulses(out: &mut Measurements) -> Result<(), CaseError> {
    let mut explicit = fall(&curtain(24)?, false, 0.01)?;
    let dt = (0.4 * explicit.solid.stable_step()).min(1e-3);
    let (crossing, contacts) = drop_it(&mut explicit, dt, 10.0)?;
    let resolution = format!("1152 triangles, impulses, dt = {dt:.1e} s");
    out.at_most("intersections, summed over all steps", &resolution, crossing as f64, 0.0, LONG.source);
    out.at_least("contacts met", &resolution, contacts as f64, 1.0, "the scene has contact");
    Ok(())
}
