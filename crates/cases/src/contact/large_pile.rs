//! 1600 bodies fall into a bin with 5 x 5 pegs: balls, tori, closed loops of six joined links, balls and rings. They come to rest, no joint opens and nothing is pressed into its neighbours.
//!
//! Source: the rigid replica of the large pile, 000 figure 4.6 (spec/rigid-bodies.md, row E11c). The bin is ours: without walls the balls would roll away for ever.

use super::set_up::{add, at, ground, shared, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_rigid::{ContactMethod, Geometry, Joint, JointKind, Kind, Material};
use std::f64::consts::FRAC_PI_2;
use std::f64::consts::TAU;

pub(super) const CASE: Case = Case {
    name: "rigid/large-pile",
    spec: "E11c (rigid-bodies)",
    summary: "1600 balls, tori, loops of six joined links and rings fall on 25 pegs and come to rest",
    source: "spec/rigid-bodies.md, E11c",
    speed: Speed::Slow,
    seconds: 600.0,
    // The source takes 14 steps a frame; from the height that so many bodies take, they land with 9 cm a step of 1/60 s.
    run: |out| run(out, 160, 8.0, 120.0),
};

/// The same with a tenth of the bodies.
pub(super) const SMALL: Case = Case {
    name: "rigid/large-pile-small",
    spec: "E11c (rigid-bodies)",
    summary: "160 balls, tori, loops of six joined links and rings fall on 25 pegs and come to rest",
    source: "spec/rigid-bodies.md, E11c",
    speed: Speed::Fast,
    seconds: 8.0,
    run: |out| run(out, 16, 4.0, 60.0),
};

const BALL: f64 = 0.1;
const RING: f64 = 0.12;
const LINK: f64 = 0.12;
const PITCH: f64 = 0.36;
const DENSITY: f64 = 500.0;
/// Cells of the tori on their diameter.
const CELLS: usize = 24;

fn lying(position: Vector<3>) -> Frame<3> {
    Frame { position, rotation: Dim::<3>::exp(&Spin::<3>::from([FRAC_PI_2, 0.0, 0.0])) }
}

/// So many bodies of each kind, for so long, in so many steps a second.
fn run(out: &mut Measurements, each: usize, seconds: f64, rate: f64) -> Result<(), CaseError> {
    let mut world = world::<3>(ContactMethod::Simultaneous, 9.81)?;
    // Rolling friction: without it balls roll about in the bin for minutes.
    let material = Material { rolling: 2e-3, spinning: 1e-3, ..Material::new(0.0, 0.5) };
    ground(&mut world, material, 0.0)?;
    let side = (each as f64 / 2.5).sqrt().ceil() as usize;
    let half = 0.5 * PITCH * side as f64 + 0.1;
    for (normal, place) in [
        ([1.0, 0.0, 0.0], [-half, 0.0, 0.0]),
        ([-1.0, 0.0, 0.0], [half, 0.0, 0.0]),
        ([0.0, 0.0, 1.0], [0.0, 0.0, -half]),
        ([0.0, 0.0, -1.0], [0.0, 0.0, half]),
    ] {
        let wall = shared(Geometry::half_space(Vector::from(normal)))?;
        add(&mut world, Kind::Static, &wall, 1.0, material, at(place), Twist::zero())?;
    }
    let peg = shared(Geometry::capsule(0.03, 0.5))?;
    for k in 0..25 {
        let place = |n: usize| 0.4 * half * (n as f64 - 2.0);
        let frame = lying(Vector::from([place(k % 5), 0.5, place(k / 5)]));
        add(&mut world, Kind::Static, &peg, 1.0, material, frame, Twist::zero())?;
    }
    let first = world.model().bodies.len();
    let ball = shared(Geometry::sphere(BALL))?;
    let torus = |tube: f64| {
        let shape = Shape::torus(RING, tube).map_err(|error| CaseError::new("making a torus", error))?;
        shared(Geometry::shape(shape, CELLS))
    };
    let (thick, thin) = (torus(0.045)?, torus(0.025)?);
    let link = shared(Geometry::capsule(0.025, 0.4 * LINK))?;
    let mass = |solid: &Geometry<3>| DENSITY * solid.properties().map_or(1.0, |p| p.volume);
    for index in 0..5 * each {
        let (column, layer) = (index % (side * side), index / (side * side));
        let place = |n: usize| PITCH * (n as f64 - 0.5 * (side as f64 - 1.0));
        // Columns of a layer are shifted so that nothing falls straight onto the same thing.
        let shift = 0.04 * [0.0, 1.0, -1.0][layer % 3];
        let position = Vector::from([
            place(column % side) + shift,
            1.25 + 0.3 * layer as f64,
            place(column / side) - shift,
        ]);
        let solid = match index / each {
            0 | 3 => &ball,
            1 => &thick,
            4 => &thin,
            _ => {
                add_loop(&mut world, &link, mass(&link), material, position)?;
                continue;
            }
        };
        let frame = lying(position);
        add(&mut world, Kind::Dynamic, solid, mass(solid), material, frame, Twist::zero())?;
    }
    let bodies = world.model().bodies.len() - first;
    let resolution = format!("{bodies} bodies, {seconds:.0} s, dt = 1/{rate:.0} s");
    let dt = 1.0 / rate;
    let start = world.diagnostics().total_energy;
    let (mut joints, mut overlap, mut energy) = (0.0f64, 0.0f64, 0.0f64);
    let steps = (seconds / dt) as usize;
    for number in 0..steps {
        let report = step(&mut world, dt)?;
        let now = world.diagnostics();
        joints = joints.max(now.joints.map_or(0.0, |errors| errors.linear_error));
        energy = energy.max(now.total_energy / start);
        if number > steps / 2 {
            overlap = overlap.max(report.contact.overlap_after);
        }
    }
    let moving: f64 = world.state().bodies[first..].iter().map(|body| body.velocity.norm_squared()).sum();
    let lost = world.state().bodies[first..].iter().filter(|body| {
        let p = body.frame.position;
        p.y < 0.0 || p.x.abs() > half || p.z.abs() > half
    });
    let cell = 2.0 * (RING + 0.045) / CELLS as f64;
    out.at_most("joint error over the length of a link", &resolution, joints / LINK, 1e-2, "E11c");
    out.at_most("deepest overlap in the second half, in cells", &resolution, overlap / cell, 1.0, "E11c");
    out.at_most("bodies outside the bin", &resolution, lost.count() as f64, 0.0, "E11c");
    out.at_most("largest energy over that at the start", &resolution, energy, 1.0 + 1e-9, "never more");
    // Tori meet by particles on their surfaces, which change from step to step: they rattle by centimetres a second.
    let now = world.diagnostics();
    let left = now.kinetic_energy / (start - now.total_energy);
    out.at_most("kinetic energy at the end over what was lost", &resolution, left, 1e-3, "settles");
    let root_mean_square = (moving / bodies as f64).sqrt();
    out.at_most("root mean square speed at the end (m/s)", &resolution, root_mean_square, 0.2, "settles");
    Ok(())
}

/// Six links in a flat ring.
fn add_loop(
    world: &mut World<3>,
    link: &std::sync::Arc<Geometry<3>>,
    mass: f64,
    material: Material,
    middle: Vector<3>,
) -> Result<(), CaseError> {
    let first = world.model().bodies.len();
    let corner = |k: usize| {
        let angle = TAU * k as f64 / 6.0;
        middle + Vector::from([angle.cos(), 0.0, angle.sin()]) * LINK
    };
    for k in 0..6 {
        let rotation = Dim::<3>::rotation_between(&Vector::z(), &(corner(k + 1) - corner(k)));
        let frame = Frame { position: (corner(k) + corner(k + 1)) * 0.5, rotation };
        add(world, Kind::Dynamic, link, mass, material, frame, Twist::zero())?;
    }
    let frames: Vec<Frame<3>> = world.state().bodies.iter().map(|body| body.frame).collect();
    for k in 0..6 {
        let ends = [Some(first + k), Some(first + (k + 1) % 6)];
        let frame = Joint::frame_at(corner(k + 1), None);
        let name = format!("joint {}", world.model().joints.len());
        Joint::between(name, JointKind::Point, ends[0], ends[1], &frame, &frames)
            .map_err(|error| CaseError::new("making a joint", error))
            .and_then(|joint| {
                world.add_joint(joint).map_err(|error| CaseError::new("adding a joint", error))
            })?;
    }
    Ok(())
}
