//! A chain of tori and of loops of six jointed links, which only contact holds together, hangs between a fixed torus and one that is turned forth and back. The linking number of each pair of
//! neighbours tells whether a ring has passed through another.
//!
//! Source: the rigid replica of the twisting chain, 000 figure 4.1 (spec/rigid-bodies.md, row E11a).

use super::set_up::{add, shared, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::joint::Signal;
use splashdown_rigid::{ContactMethod, Geometry, Joint, JointKind, Kind, Material, Trajectory};
use std::f64::consts::TAU;

pub(super) const CASE: Case = Case {
    name: "rigid/ring-chain",
    spec: "E11a (rigid-bodies), RB-17",
    summary: "a chain of tori and loops of jointed links is wound up and unwound: none passes through another",
    source: "spec/rigid-bodies.md, row E11a",
    speed: Speed::Slow,
    seconds: 60.0,
    run: |out| run(out, 7, 3.0),
};

/// Three rings for a shorter time.
pub(super) const SMALL: Case = Case {
    name: "rigid/ring-chain-small",
    summary: "a torus, a loop of jointed links and a torus that turns: none passes through another",
    speed: Speed::Fast,
    seconds: 5.0,
    run: |out| run(out, 3, 1.0),
    ..CASE
};

/// Radius of the rings and of their tube (m).
const RING: f64 = 0.12;
const TUBE: f64 = 0.02;
/// Distance of neighbours at the start (m).
const PITCH: f64 = 0.17;
/// Cells of the tori on their diameter.
const CELLS: usize = 28;
/// Turn of the last ring, for each pair of neighbours.
const TURN: f64 = TAU / 12.0;

/// What links of the chain consist of.
enum Ring {
    Torus(usize),
    Loop(usize),
}

/// `count` rings, odd; wound up in `seconds` and unwound in as many.
fn run(out: &mut Measurements, count: usize, seconds: f64) -> Result<(), CaseError> {
    let mut world = world::<3>(ContactMethod::Simultaneous, 9.81)?;
    let material = Material { rolling: 2e-3, spinning: 1e-3, ..Material::new(0.0, 0.3) };
    let shape = Shape::torus(RING, TUBE).map_err(|error| CaseError::new("making a torus", error))?;
    let torus = shared(Geometry::shape(shape, CELLS))?;
    let link = shared(Geometry::capsule(TUBE, 0.42 * RING))?;
    let mut rings = Vec::new();
    for n in 0..count {
        let middle = Vector::from([PITCH * n as f64, 0.0, 0.0]);
        let (first, last) = (n == 0, n + 1 == count);
        if n % 2 == 0 {
            // The axis of a torus is z; the loops lie across it.
            let kind = match (first, last) {
                (true, _) => Kind::Static,
                (_, true) => Kind::Kinematic,
                _ => Kind::Dynamic,
            };
            let frame = Frame { position: middle, ..Frame::identity() };
            rings.push(Ring::Torus(add(&mut world, kind, &torus, 0.4, material, frame, Twist::zero())?));
        } else {
            rings.push(Ring::Loop(add_loop(&mut world, &link, material, middle)?));
        }
    }
    let Some(Ring::Torus(driven)) = rings.last() else {
        return Err(CaseError("the chain ends with a loop".into()));
    };
    let start = world.state().bodies[*driven].frame;
    let turn = TURN * (count - 1) as f64;
    let script = Trajectory::Script {
        start,
        about: start.position,
        axis: Vector::x(),
        turn: Signal::Points(vec![[0.0, 0.0], [seconds, turn], [2.0 * seconds, 0.0]]),
        direction: Vector::y(),
        shift: Signal::Constant(0.0),
    };
    world.set_trajectory(*driven, script).map_err(|error| CaseError::new("prescribing the motion", error))?;
    // The source takes 123 steps a frame; at two a frame rings go a third of their radius in one step and come to lie on the other side of each other.
    let dt = 1.0 / 240.0;
    let linked = |world: &World<3>| -> Vec<i64> {
        let curves: Vec<Vec<Vector<3>>> = rings.iter().map(|ring| curve(world, ring)).collect();
        curves.windows(2).map(|pair| linking_number(&pair[0], &pair[1])).collect()
    };
    let before = linked(&world);
    let (mut overlap, mut open, mut parted, mut speed) = (0.0f64, 0.0f64, 0, 0.0f64);
    for _ in 0..(2.5 * seconds / dt) as usize {
        let report = step(&mut world, dt)?;
        overlap = overlap.max(report.contact.overlap_after);
        let now = world.diagnostics();
        open = open.max(now.joints.map_or(0.0, |errors| errors.linear_error));
        speed = speed.max(now.max_speed);
        parted += usize::from(linked(&world) != before);
    }
    let resolution = format!("{count} rings, {} s, dt = 1/240 s", 2.5 * seconds);
    let source = CASE.source;
    let loose = before.iter().filter(|number| number.abs() != 1).count();
    out.at_most("neighbours that are not linked at the start", &resolution, loose as f64, 0.0, source);
    out.at_most("steps after which a ring has passed another", &resolution, parted as f64, 0.0, source);
    let cell = 2.0 * (RING + TUBE) / CELLS as f64;
    out.at_most("deepest overlap in cells", &resolution, overlap / cell, 1.0, source);
    out.at_most("joint error over the side of a loop", &resolution, open / RING, 1e-3, source);
    out.at_most("largest speed (m/s)", &resolution, speed, 5.0, "no whip");
    Ok(())
}

/// Six links in a flat ring across y.
fn add_loop(
    world: &mut World<3>,
    link: &std::sync::Arc<Geometry<3>>,
    material: Material,
    middle: Vector<3>,
) -> Result<usize, CaseError> {
    let first = world.model().bodies.len();
    let corner = |k: usize| {
        let angle = TAU * k as f64 / 6.0;
        middle + Vector::from([angle.cos(), 0.0, angle.sin()]) * RING
    };
    for k in 0..6 {
        let rotation = Dim::<3>::rotation_between(&Vector::z(), &(corner(k + 1) - corner(k)));
        let frame = Frame { position: (corner(k) + corner(k + 1)) * 0.5, rotation };
        add(world, Kind::Dynamic, link, 0.1, material, frame, Twist::zero())?;
    }
    let frames: Vec<Frame<3>> = world.state().bodies.iter().map(|body| body.frame).collect();
    for k in 0..6 {
        let ends = [Some(first + k), Some(first + (k + 1) % 6)];
        let name = format!("joint {}", world.model().joints.len());
        let frame = Joint::frame_at(corner(k + 1), None);
        let joint = Joint::between(name, JointKind::Point, ends[0], ends[1], &frame, &frames)
            .map_err(|error| CaseError::new("making a joint", error))?;
        world.add_joint(joint).map_err(|error| CaseError::new("adding a joint", error))?;
    }
    Ok(first)
}

/// The middle of a ring's tube, closed.
fn curve(world: &World<3>, ring: &Ring) -> Vec<Vector<3>> {
    const POINTS: usize = 48;
    let frame = |body: usize| world.state().bodies[body].frame;
    match *ring {
        Ring::Torus(body) => (0..POINTS)
            .map(|k| {
                let angle = TAU * k as f64 / POINTS as f64;
                frame(body).to_world(&(Vector::from([angle.cos(), angle.sin(), 0.0]) * RING))
            })
            .collect(),
        Ring::Loop(first) => (0..6)
            .flat_map(|k| [-1.0, 1.0].map(|end| (k, end)))
            .map(|(k, end)| frame(first + k).to_world(&Vector::from([0.0, 0.0, 0.5 * RING * end])))
            .collect(),
    }
}

/// How often one closed polygon goes through another: half the crossings, with their signs, seen from a direction that is parallel to nothing.
fn linking_number(a: &[Vector<3>], b: &[Vector<3>]) -> i64 {
    let sight = Vector::<3>::from([0.3134, 0.8231, 0.4737]).normalize();
    let across = sight.cross(&Vector::x()).normalize();
    let up = sight.cross(&across);
    let flat = |p: &Vector<3>| [p.dot(&across), p.dot(&up), p.dot(&sight)];
    let edges = |c: &[Vector<3>]| -> Vec<[[f64; 3]; 2]> {
        (0..c.len()).map(|k| [flat(&c[k]), flat(&c[(k + 1) % c.len()])]).collect()
    };
    let mut sum = 0;
    for [p, q] in edges(a) {
        for [r, s] in edges(b) {
            let (u, v) = ([q[0] - p[0], q[1] - p[1]], [s[0] - r[0], s[1] - r[1]]);
            let cross = u[0] * v[1] - u[1] * v[0];
            if cross == 0.0 {
                continue;
            }
            let w = [r[0] - p[0], r[1] - p[1]];
            let t = (w[0] * v[1] - w[1] * v[0]) / cross;
            let o = (w[0] * u[1] - w[1] * u[0]) / cross;
            if (0.0..1.0).contains(&t) && (0.0..1.0).contains(&o) {
                let above = p[2] + t * (q[2] - p[2]) > r[2] + o * (s[2] - r[2]);
                sum += if (cross > 0.0) == above { 1 } else { -1 };
            }
        }
    }
    sum / 2
}
