//! Random worlds of rigid and soft bodies and cloth: shapes, stiffness, masses over four decades, joints, bindings, volume that is kept, steps. Nothing may fail, and no energy may
//! appear beyond what was there.
//!
//! Source: issue "Rigid and deformable bodies in one step", Must show 4.

use super::set_up::{Soft, add, at, failed, ground, matter, tet_box, world};
use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use splashdown_couple::World;
use splashdown_deformable::incompressible::{Incompressible, IncompressibleOptions, Rings};
use splashdown_geometry::generate::{Diagonals, ball_tetrahedra, sheet};
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::{Geometry, Joint, JointKind, Kind, Material};

pub(super) const SHORT: Case = Case {
    name: "coupled/soak-short",
    spec: "Must show 4 (issue of the coupled solids), shortened",
    summary: "twelve random worlds of rigid and soft bodies for 1 s each",
    source: "no failure, no energy from nothing",
    speed: Speed::Fast,
    seconds: 15.0,
    run: |out| run(out, (0..12).map(|seed| (seed, 1.0)).chain([(196, 5.0)]), "12 worlds of 1 s, one of 5 s"),
};

pub(super) const LONG: Case = Case {
    name: "coupled/soak",
    spec: "Must show 4 (issue of the coupled solids)",
    summary: "two hundred random worlds of rigid and soft bodies for 5 s each",
    source: "no failure, no energy from nothing",
    speed: Speed::Slow,
    seconds: 1500.0,
    run: |out| run(out, (0..200).map(|seed| (seed, 5.0)), "200 worlds of 5 s"),
};

fn build(seed: u64) -> Result<World<3>, CaseError> {
    let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
    let mut number = |least: f64, most: f64| random.random_range(least..most);
    let mut world = world([0.0, -9.8, 0.0])?;
    let material = Material::new(number(0.0, 0.6), number(0.0, 1.0));
    ground(&mut world, material, 0.0)?;
    let place = |height: f64, number: &mut dyn FnMut(f64, f64) -> f64| {
        Vector::<3>::new(number(-0.8, 0.8), height, number(-0.8, 0.8))
    };
    let mut height = 0.7;
    let mut bodies = Vec::new();
    for _ in 0..number(1.0, 4.99) as usize {
        let geometry = match number(0.0, 3.0) as usize {
            0 => Geometry::sphere(number(0.2, 0.5)),
            1 => Geometry::cuboid(Vector::from([number(0.2, 0.5), number(0.2, 0.5), number(0.2, 0.5)])),
            _ => Geometry::capsule(number(0.15, 0.3), number(0.1, 0.4)),
        };
        let position = place(height, &mut number);
        let turn = Vector::<3>::new(number(-3.0, 3.0), number(-3.0, 3.0), number(-3.0, 3.0));
        let spin = Vector::<3>::new(number(-3.0, 3.0), number(-3.0, 3.0), number(-3.0, 3.0));
        let twist =
            Twist { linear: Vector::from([number(-2.0, 2.0), 0.0, number(-2.0, 2.0)]), angular: spin };
        let mass = 10f64.powf(number(0.0, 4.0));
        let frame = Frame { position, rotation: Dim::<3>::exp(&turn) };
        bodies.push(add(&mut world, Kind::Dynamic, geometry, mass, material, frame, twist)?);
        height += 1.4;
    }
    if bodies.len() > 2 && number(0.0, 1.0) < 0.5 {
        let frames: Vec<Frame<3>> = world.state().bodies.iter().map(|body| body.frame).collect();
        let middle = (frames[bodies[0]].position + frames[bodies[1]].position) * 0.5;
        let (a, b) = (Some(bodies[0]), Some(bodies[1]));
        let joint = Joint::between("joint", JointKind::Point, a, b, &at(middle.into()), &frames)
            .map_err(failed("making a joint"))?;
        world.add_joint(joint).map_err(failed("adding a joint"))?;
    }
    let mut soft = Soft::new(&world);
    soft.solids.integrator.tolerance = 1e-4;
    let keeps_volume = number(0.0, 1.0) < 0.3;
    let mut elements = Vec::new();
    for _ in 0..number(1.0, 2.99) as usize {
        let x = place(height, &mut number);
        let size = number(0.3, 0.6);
        let mesh = if number(0.0, 1.0) < 0.5 {
            ball_tetrahedra(x, size, 2).map_err(failed("meshing"))?
        } else {
            tet_box((x.add_scalar(-size)).into(), (x.add_scalar(size)).into(), [2, 2, 2])?
        };
        let poisson = if keeps_volume { 0.0 } else { number(0.0, 0.45) };
        let matter = matter(10f64.powf(number(4.0, 5.7)), poisson, number(0.0, 0.03))?;
        let velocity = [number(-2.0, 2.0), number(-2.0, 0.0), number(-2.0, 2.0)];
        let first = soft.add(&mesh, matter, velocity)?;
        elements.extend(mesh.elements.iter().flatten().map(|node| node + first));
        height += 1.6;
    }
    if number(0.0, 1.0) < 0.4 {
        // A bone within the first soft body.
        let centre = soft.centre(0);
        let bone = Geometry::cuboid(Vector::repeat(0.15));
        let mass = 10f64.powf(number(0.5, 3.0));
        let bone = add(&mut world, Kind::Dynamic, bone, mass, material, at(centre.into()), soft.twist_of(0))?;
        soft.bind(&world, bone, |x| (x - centre).amax() < 0.16);
    }
    if keeps_volume {
        let rings = Rings::<3>::new(4, &elements, soft.positions()).ok_or_else(|| failed("rings")("none"))?;
        let options = IncompressibleOptions::default();
        soft.solids.integrator.incompressible = Some(Incompressible::new(rings, options));
    }
    if seed % 4 == 3 {
        let corner = Vector::<3>::new(-0.7, height, -0.7);
        let (u, v) = (Vector::<3>::new(1.4, 0.0, 0.0), Vector::<3>::new(0.0, 0.0, -1.4));
        let mesh = sheet(corner + Vector::<3>::new(0.0, 0.0, 1.4), u, v, [6, 6], Diagonals::Alternating)
            .map_err(failed("meshing"))?;
        soft.add_sheet(&mesh, 0.01, matter(10f64.powf(number(4.0, 5.0)), 0.2, number(0.0, 0.02))?, [0.0; 3])?;
    }
    soft.touch_each_other(0.02, material.friction);
    soft.finish(&mut world);
    Ok(world)
}

/// Runs worlds by their seeds, each for some seconds. World 196 once gained twice its energy in contact.
fn run(
    out: &mut Measurements,
    worlds: impl Iterator<Item = (u64, f64)>,
    resolution: &str,
) -> Result<(), CaseError> {
    let (mut failures, mut most, mut worst_seed, mut deepest) = (Vec::new(), f64::NEG_INFINITY, 0, 0.0f64);
    let (mut rise, mut rising_seed) = (0.0f64, 0);
    for (seed, seconds) in worlds {
        let mut world = build(seed)?;
        let dt = [1.0 / 24.0, 1.0 / 60.0, 1.0 / 120.0][seed as usize % 3];
        let before = world.diagnostics();
        // Energy above that of everything at rest on the ground.
        let scale = before.kinetic_energy + before.gravity_energy;
        let mut least = before.total_energy;
        for step in 0..(seconds / dt).round() as usize {
            if let Err(error) = world.step(dt) {
                failures.push(format!("world {seed}, step {step}: {error}"));
                break;
            }
            // After every step: nothing but gravity, which is part of it, does work here.
            let now = world.diagnostics().total_energy;
            let gained = (now - before.total_energy) / scale;
            if gained > most || gained.is_nan() {
                (most, worst_seed) = (gained, seed);
            }
            least = least.min(now);
            if (now - least) / scale > rise {
                (rise, rising_seed) = ((now - least) / scale, seed);
            }
        }
        for body in world.state().bodies.iter().skip(1) {
            deepest = deepest.max(-body.frame.position[1]);
        }
    }
    for failure in &failures {
        eprintln!("{failure}");
    }
    out.at_most("worlds that failed", resolution, failures.len() as f64, 0.0, CASE_SOURCE);
    let quantity = format!("most energy above that at first, at any time, relative (world {worst_seed})");
    out.at_most(&quantity, resolution, most, 0.01, CASE_SOURCE);
    let quantity = format!("most energy above the least so far, relative (world {rising_seed})");
    out.at_most(&quantity, resolution, rise, 0.01, CASE_SOURCE);
    out.at_most(
        "lowest centre of a rigid body below the ground (m)",
        resolution,
        deepest,
        0.0,
        "nothing falls through",
    );
    Ok(())
}

const CASE_SOURCE: &str = "no failure, no energy from nothing";
