//! Bodies that are driven through machines: a block of hexahedra and a torus of tetrahedra between turning rollers, a ball of plastic material under a press.
//!
//! * **Rollers**: two cylinders draw the body into a gap of a third of its height. It must come out on the other side, and after a second of rest agree with its rest shape.
//! * **Gears**: the same rollers with eight teeth each, and a ball of plastic material whose goal is a disk. It may only come nearer to its goal, and keeps the marks of the teeth.
//!   Once through, two thirds of the way are done: flow that a goal controls ends where what is left is at right angles to all strains that the gears make, and one pass makes few. So the
//!   ball goes through again and again, as in a rolling mill: flat, which presses it down and lets it spread, and on edge, which presses back what spread too far and lifts what was
//!   pressed too low, turned about its axis from pass to pass. Two more things follow from the yield criterion, which scales the whole elastic strain. It flows in volume, too: along
//!   `(nu, -1, nu)` for a column, at an angle to a goal that keeps the volume whose sine is 0.21 for Poisson's ratio 0.3 and 0.049 for 0.45, so the material has 0.45. And a goal that columns
//!   of it can flow to has columns that spread by their height to the power of twice that ratio: a disk with flat faces and the rim of the ball, not an ellipsoid, whose rim no roller makes.
//! * **Press**: the goal of the plastic flow is a disk; every stroke may only bring the body nearer to it. A billet under smooth plates is in uniaxial stress: its elastic strain, which
//!   the yield criterion scales as a whole, is along `(nu, -1, nu)`, and so is the flow. It ends where that line is nearest to the goal along `(1/2, -1, 1/2)`: the
//!   distance that remains is the sine of the angle between the two, 0.0486 of the first for Poisson's ratio 0.45 (0.21 for 0.3), give or take the elastic strain itself.
//!   A ball under rough plates is strained in other directions near its poles and rim, and a quarter remains.
//!
//! Source: spec/deformable-solids.md E5, E7, E8 at reduced size.

use super::set_up::{cubes, difference, failed, flat, material, solid_of, tetrahedra};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::step_alone;
use splashdown_deformable::collide::Obstacle;
use splashdown_deformable::integrate::{Integrator, Motion, Scheme};
use splashdown_deformable::material::{Model, Plasticity, SplineBranch, Yield};
use splashdown_deformable::{Elements, Force, Solid};
use splashdown_geometry::generate::{ball_tetrahedra, box_hexahedra, torus_tetrahedra};
use splashdown_geometry::mesh::TetrahedronMesh;
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Coordinates, Dim, Frame, Matrix, Space, Spin, Twist, Vector, polar};
use std::f64::consts::PI;

pub(super) const ROLLERS: Case = Case {
    name: "deformable/rollers",
    spec: "E7, E8, DS-13, DS-28, DS-54",
    summary: "rollers draw a block of hexahedra and a torus through a gap of a third of their height; they come out and recover",
    source: "spec/deformable-solids.md E7, E8",
    speed: Speed::Slow,
    seconds: 300.0,
    run: run_rollers,
};

pub(super) const GEARS: Case = Case {
    name: "deformable/gears",
    spec: "E4, E5, DS-21..DS-23, DS-54",
    summary: "gears draw a plastic ball through, once and again and again: it flows towards the disk that is its goal, never away from it, keeps the marks of the teeth, and gets there",
    source: "spec/deformable-solids.md E4, E5",
    speed: Speed::Slow,
    seconds: 400.0,
    run: run_gears,
};

pub(super) const PRESS: Case = Case {
    name: "deformable/press",
    spec: "E5, DS-22, DS-23",
    summary: "a plastic ball and a billet under a press flow towards the disk that is their goal, never away from it; the billet gets there",
    source: "spec/deformable-solids.md E4, E5",
    speed: Speed::Slow,
    seconds: 30.0,
    run: run_press,
};

/// What became of a body between rollers.
struct Through {
    solid: Solid<3>,
    position: Vec<f64>,
    /// Mean of x (m) when the rollers have had their time; the gap is at 0.
    place: f64,
    /// Most elements inside out at once.
    most_inverted: usize,
    /// Elements inside out at the end.
    inverted: usize,
    /// Largest distance to the rest shape (m) after rigid alignment.
    apart: f64,
}

/// A roller above (1) or below (-1) the gap, with teeth around it.
struct Roller {
    axis: Vector<3>,
    /// Rate of turning (rad/s) about z.
    rate: f64,
    teeth: usize,
    /// Angle (rad) of its first tooth at the start.
    first: f64,
}

const RADIUS: f64 = 0.3;
/// Length of the sides of teeth (m); half of it sticks out.
const TOOTH: f64 = 0.06;

impl Roller {
    /// Two with a gap (m) between them at the origin, which draw to the right at 1.2 m/s. Teeth of one are between those of the other.
    fn pair(gap: f64, teeth: usize) -> [Self; 2] {
        [1.0, -1.0].map(|side| Self {
            axis: Vector::<3>::new(0.0, side * (RADIUS + 0.5 * gap), 0.0),
            rate: side * 4.0,
            teeth,
            first: if side > 0.0 || teeth == 0 { 0.0 } else { PI / teeth as f64 },
        })
    }

    /// The cylinder, then its teeth: axes of both along z.
    fn obstacles(&self) -> Result<Vec<Obstacle<3>>, CaseError> {
        let cylinder = Shape::cylinder(RADIUS, 0.5).map_err(failed("the roller"))?;
        let tooth =
            Shape::cuboid(Vector::<3>::new(0.5 * TOOTH, 0.5 * TOOTH, 0.5)).map_err(failed("a tooth"))?;
        let mut all = vec![Obstacle::fixed("roller", cylinder, self.frame(0, 0.0), 1.0)];
        for part in 1..=self.teeth {
            all.push(Obstacle::fixed("tooth", tooth.clone(), self.frame(part, 0.0), 1.0));
        }
        Ok(all)
    }

    /// Where a part is at a time.
    fn frame(&self, part: usize, time: f64) -> Frame<3> {
        let angle = self.rate * time
            + if part == 0 { 0.0 } else { self.first + 2.0 * PI * part as f64 / self.teeth as f64 };
        let rotation = Dim::<3>::exp(&Spin::<3>::from_slice(&[0.0, 0.0, angle]));
        let out = if part == 0 { 0.0 } else { RADIUS };
        let position = self.axis + Vector::<3>::new(angle.cos(), angle.sin(), 0.0) * out;
        Frame { position, rotation }
    }

    /// Moves its obstacles along through a step.
    fn advance(&self, obstacles: &mut [Obstacle<3>], time: f64, dt: f64) {
        for (part, obstacle) in obstacles.iter_mut().enumerate() {
            (obstacle.start, obstacle.end) = (self.frame(part, time), self.frame(part, time + dt));
            let linear = (obstacle.end.position - obstacle.start.position) / dt;
            obstacle.twist = Twist { linear, angular: Vector::<3>::new(0.0, 0.0, self.rate) };
        }
    }
}

/// The body, about y = 0 and left of x = -0.15, goes between rollers of radius 0.3 m for `time` seconds and rests for `rest`.
fn through(
    mut solid: Solid<3>,
    points: &[Vector<3>],
    gap: f64,
    time: f64,
    teeth: usize,
    rest: f64,
    mut see: impl FnMut(&Solid<3>),
) -> Result<Through, CaseError> {
    let rollers = Roller::pair(gap, teeth);
    let mut integrator = Integrator::new(Scheme::B);
    integrator.tolerance = 1e-3;
    for roller in &rollers {
        integrator.obstacles.extend(roller.obstacles()?);
    }
    let mut motion = Motion::at_rest(points);
    motion.velocity.iter_mut().step_by(3).for_each(|speed| *speed = 1.2);
    let mut most_inverted = 0;
    let mut rolled = None;
    // Stiffer states ask for shorter steps: the world's stepper asks anew in every step, and so does this one.
    while motion.time < time + rest {
        let dt = 0.4 * solid.stable_step();
        if motion.time >= time && rolled.is_none() {
            rolled = Some(motion.position.iter().step_by(3).sum::<f64>() / points.len() as f64);
            integrator.obstacles.clear();
        }
        for (obstacles, roller) in integrator.obstacles.chunks_mut(teeth + 1).zip(&rollers) {
            roller.advance(obstacles, motion.time, dt);
        }
        step_alone(&mut solid, &mut integrator, &mut motion, dt).map_err(failed("rolling"))?;
        most_inverted = most_inverted.max(solid.inverted());
        see(&solid);
    }
    solid.update(&motion.position).map_err(failed("counting"))?;
    Ok(Through {
        place: rolled.unwrap_or(f64::NAN),
        most_inverted,
        inverted: solid.inverted(),
        apart: difference(&motion.position, &flat(points)),
        position: motion.position,
        solid,
    })
}

/// The goal of a body is the body 0.7 times as high, with its volume.
fn disk(rest: &[f64]) -> Vec<f64> {
    let (low, wide) = (0.7f64, 0.7f64.powf(-0.5));
    rest.chunks_exact(3).flat_map(|x| [wide * x[0], low * x[1], wide * x[2]]).collect()
}

fn run_gears(out: &mut Measurements) -> Result<(), CaseError> {
    let centre = Vector::<3>::new(-0.55, 0.0, 0.0);
    let ball = ball_tetrahedra(centre, 0.2, 4).map_err(failed("meshing"))?;
    let rest = flat(&ball.points);
    let mut ends = Vec::new();
    for teeth in [8, 0] {
        let own = material(Model::RotatedLinear, 1e5, 0.3, 300.0, 0.01)?;
        let mut elements = Elements::tetrahedra(&ball, 0, own).map_err(failed("elements"))?;
        let law = Plasticity { criterion: Yield::Full { limit: 0.01 }, limit: 10.0 };
        elements.set_plasticity(law).map_err(failed("plasticity"))?;
        elements.set_goal(&disk(&rest)).map_err(failed("the goal"))?;
        let first = elements.distance_to_goal();
        let mut gauge = elements.clone();
        let masses = elements.clone();
        let solid = solid_of(elements, |mass| masses.add_masses(mass), ball.points.len(), Vector::zeros());
        let (mut last, mut rise) = (first, 0.0f64);
        let mut steps = 0;
        let see = |solid: &Solid<3>| {
            steps += 1;
            // Measuring costs as much as a step.
            if steps % 10 != 0 {
                return;
            }
            gauge.restore(&solid.forces()[0].history());
            let now = gauge.distance_to_goal();
            rise = rise.max(now - last);
            last = now;
        };
        let result = through(solid, &ball.points, 0.16, 1.0, teeth, 0.4, see)?;
        let resolution = format!("{} tetrahedra, {teeth} teeth", ball.elements.len());
        out.at_least(
            "place behind the gap after 1 s (m)",
            &resolution,
            result.place,
            0.2,
            "it is drawn through",
        );
        out.at_most(
            "largest rise of the distance to the goal",
            &resolution,
            rise,
            1e-12,
            "exact: never away from it",
        );
        out.at_most(
            "distance to the goal over that at the start",
            &resolution,
            last / first,
            0.6,
            "it flows",
        );
        out.at_most("inverted elements at the end", &resolution, result.inverted as f64, 0.0, GEARS.source);
        out.at_least(
            "distance to the rest shape (m)",
            &resolution,
            result.apart,
            0.02,
            "it keeps its new shape",
        );
        let law = result.solid.forces()[0].history();
        if law.iter().any(|value| !value.is_finite()) {
            return Err(CaseError::new("reading plastic deformations", "not finite"));
        }
        ends.push(result.position);
    }
    let marks = difference(&ends[0], &ends[1]);
    out.at_least(
        "difference to what smooth rollers make (m)",
        "8 teeth",
        marks,
        0.01,
        "the teeth leave marks",
    );
    run_mill(out)
}

#[rustfmt::skip]
const PASSES: [Pass; 18] = [
    Pass { gap: 0.32, turn: 0.0, on_edge: false },
    Pass { gap: 0.28, turn: 90.0, on_edge: false },
    Pass { gap: 0.37, turn: 0.0, on_edge: true },
    Pass { gap: 0.37, turn: 90.0, on_edge: true },
    Pass { gap: 0.26, turn: 45.0, on_edge: false },
    Pass { gap: 0.26, turn: 135.0, on_edge: false },
    Pass { gap: 0.37, turn: 45.0, on_edge: true },
    Pass { gap: 0.37, turn: 135.0, on_edge: true },
    Pass { gap: 0.26, turn: 20.0, on_edge: false },
    Pass { gap: 0.26, turn: 110.0, on_edge: false },
    Pass { gap: 0.37, turn: 20.0, on_edge: true },
    Pass { gap: 0.37, turn: 110.0, on_edge: true },
    Pass { gap: 0.26, turn: 65.0, on_edge: false },
    Pass { gap: 0.26, turn: 155.0, on_edge: false },
    Pass { gap: 0.37, turn: 65.0, on_edge: true },
    Pass { gap: 0.37, turn: 155.0, on_edge: true },
    Pass { gap: 0.37, turn: 0.0, on_edge: true },
    Pass { gap: 0.37, turn: 90.0, on_edge: true },
];

/// The goal that columns of a ball about the origin can flow to: those along y that are higher than `half` to both sides are squeezed to it, and their area widens by the ratio of the
/// heights to the power `widening`.
fn flattened(points: &[Vector<3>], radius: f64, half: f64, widening: f64) -> Vec<f64> {
    let ratio = |r: f64| ((radius * radius - r * r).max(half * half).sqrt() / half).powf(widening);
    // Radius to which columns at `r` move: all within it have the area that they need.
    let outward = |r: f64| -> f64 {
        const RINGS: usize = 400;
        let width = r / RINGS as f64;
        let areas = (0..RINGS).map(|ring| (ring as f64 + 0.5) * width).map(|q| 2.0 * q * ratio(q) * width);
        areas.sum::<f64>().sqrt()
    };
    let moved = |x: &Vector<3>| {
        let r = x[0].hypot(x[2]);
        let height = (radius * radius - r * r).max(half * half).sqrt();
        let wide = if r > 1e-9 * radius { outward(r) / r } else { ratio(0.0).sqrt() };
        [wide * x[0], x[1] * half / height, wide * x[2]]
    };
    points.iter().flat_map(moved).collect()
}

/// How a body goes through gears once.
struct Pass {
    /// Gap between the rollers (m), teeth apart.
    gap: f64,
    /// By how much it is turned about its own axis (degrees).
    turn: f64,
    /// On edge: its axis along those of the rollers, not upright.
    on_edge: bool,
}

/// Lays a body about the origin so that its rest shape, turned by `rotation`, fits it best; gives it a velocity.
fn feed(
    motion: &mut Motion,
    rest: &[Vector<3>],
    rotation: &Matrix<3>,
    centre: Vector<3>,
    velocity: Vector<3>,
) {
    let points = || motion.position.chunks_exact(3).map(Vector::<3>::from_column_slice);
    let middle = points().sum::<Vector<3>>() / rest.len() as f64;
    let mut moment = Matrix::<3>::zeros();
    for (x, rest) in points().zip(rest) {
        moment += (x - middle) * rest.transpose();
    }
    let turn = rotation * polar(&moment).0.transpose();
    for (x, v) in motion.position.chunks_exact_mut(3).zip(motion.velocity.chunks_exact_mut(3)) {
        let placed = centre + turn * (Vector::<3>::from_column_slice(x) - middle);
        x.copy_from_slice(placed.as_slice());
        v.copy_from_slice(velocity.as_slice());
    }
}

/// A ball goes through gears many times, flat and on edge.
fn run_mill(out: &mut Measurements) -> Result<(), CaseError> {
    let (radius, half, poisson, teeth) = (0.2, 0.15, 0.45, 8);
    let ball = ball_tetrahedra(Vector::zeros(), radius, 3).map_err(failed("meshing"))?;
    let own = material(Model::RotatedLinear, 1e5, poisson, 300.0, 0.01)?;
    let mut elements = Elements::tetrahedra(&ball, 0, own).map_err(failed("elements"))?;
    let law = Plasticity { criterion: Yield::Full { limit: 0.01 }, limit: 10.0 };
    elements.set_plasticity(law).map_err(failed("plasticity"))?;
    elements.set_goal(&flattened(&ball.points, radius, half, 2.0 * poisson)).map_err(failed("the goal"))?;
    let first = elements.distance_to_goal();
    let mut gauge = elements.clone();
    let masses = elements.clone();
    let mut solid = solid_of(elements, |mass| masses.add_masses(mass), ball.points.len(), Vector::zeros());
    let mut motion = Motion::at_rest(&ball.points);
    let (mut last, mut rise, mut most) = (first, 0.0f64, 0);
    for (number, pass) in PASSES.iter().enumerate() {
        let turn = Dim::<3>::exp(&Spin::<3>::from_slice(&[0.0, pass.turn.to_radians(), 0.0]));
        let tilt =
            Dim::<3>::exp(&Spin::<3>::from_slice(&[if pass.on_edge { 0.5 * PI } else { 0.0 }, 0.0, 0.0]));
        let columns = [Vector::x(), Vector::y(), Vector::z()]
            .map(|axis: Vector<3>| Dim::<3>::rotate(&tilt, &Dim::<3>::rotate(&turn, &axis)));
        let start = Vector::<3>::new(-0.45, 0.0, 0.0);
        let speed = Vector::<3>::new(1.2, 0.0, 0.0);
        feed(&mut motion, &ball.points, &Matrix::<3>::from_columns(&columns), start, speed);
        motion.time = 0.0;
        let rollers = Roller::pair(pass.gap, teeth);
        let mut integrator = Integrator::new(Scheme::B);
        integrator.tolerance = 1e-3;
        for roller in &rollers {
            integrator.obstacles.extend(roller.obstacles()?);
        }
        let behind = |motion: &Motion| motion.position.iter().step_by(3).all(|&x| x > 0.05);
        while !behind(&motion) && motion.time < 0.8 {
            let dt = 0.4 * solid.stable_step();
            for (obstacles, roller) in integrator.obstacles.chunks_mut(teeth + 1).zip(&rollers) {
                roller.advance(obstacles, motion.time, dt);
            }
            step_alone(&mut solid, &mut integrator, &mut motion, dt).map_err(failed("rolling"))?;
        }
        if !behind(&motion) {
            return Err(CaseError::new("rolling", format!("pass {number} did not draw it through")));
        }
        gauge.restore(&solid.forces()[0].history());
        let now = gauge.distance_to_goal();
        rise = rise.max(now - last);
        last = now;
        solid.update(&motion.position).map_err(failed("counting"))?;
        most = most.max(solid.inverted());
    }
    let resolution = format!("{} tetrahedra, {teeth} teeth, {} passes", ball.elements.len(), PASSES.len());
    out.at_most(
        "largest rise of the distance to the goal from pass to pass",
        &resolution,
        rise,
        0.0,
        "exact: never away from it",
    );
    let quantity = "distance to the goal over that at the start";
    out.at_most(quantity, &resolution, last / first, 0.1, "spec E4: below 10 %");
    out.at_most("inverted elements after a pass", &resolution, most as f64, 0.0, GEARS.source);
    Ok(())
}

fn run_rollers(out: &mut Measurements) -> Result<(), CaseError> {
    let spline = Model::Spline { compression: SplineBranch::default(), extension: SplineBranch::default() };
    let own = material(spline, 3e4, 0.3, 300.0, 0.02)?;
    let block =
        box_hexahedra(Vector::<3>::new(-0.9, -0.15, -0.15), Vector::<3>::new(-0.3, 0.15, 0.15), [26, 12, 13])
            .map_err(failed("meshing"))?;
    let elements = Elements::hexahedra(&block, 0, own).map_err(failed("elements"))?;
    let masses = elements.clone();
    let hexes = solid_of(elements, |mass| masses.add_masses(mass), block.points.len(), Vector::zeros());
    // Its axis is z; turned so that it stands between the rollers like a wheel lying flat.
    let mut torus = torus_tetrahedra(Vector::zeros(), 0.3, 0.15, 3, 30).map_err(failed("meshing"))?;
    for point in &mut torus.points {
        *point = Vector::<3>::new(point[0] - 0.75, point[2], point[1]);
    }
    // The permutation above mirrors: two corners of every element change places.
    for element in &mut torus.elements {
        element.swap(0, 1);
    }
    let tets = tetrahedra(&torus, own, [0.0; 3])?;
    for (name, count, solid, points) in [
        ("hexahedra", block.elements.len(), hexes, &block.points),
        ("tetrahedra", torus.elements.len(), tets, &torus.points),
    ] {
        let resolution = format!("{count} {name}");
        let result = through(solid, points, 0.1, 1.5, 0, 1.0, |_| {})?;
        out.at_least(
            "place behind the gap after 1.5 s (m)",
            &resolution,
            result.place,
            0.3,
            "it is drawn through",
        );
        out.at_most(
            "inverted elements after a second",
            &resolution,
            result.inverted as f64,
            0.0,
            CASE_SOURCE,
        );
        out.at_most("distance to the rest shape (m)", &resolution, result.apart, 0.01, CASE_SOURCE);
        // Only told: whether any was inside out depends on how hard it is squeezed.
        out.at_least("most inverted at once", &resolution, result.most_inverted as f64, 0.0, "count");
    }
    Ok(())
}

const CASE_SOURCE: &str = ROLLERS.source;

/// What a press does to a plastic body.
struct Pressed {
    elements: usize,
    /// Mean distance to the goal over that at the start.
    distance: f64,
    /// Largest rise of the distance in a step.
    rise: f64,
}

/// Squeezes a body about the origin, of the given half height (m), between two plates that come from just outside it down to `depth` of the half height and go back, `strokes` times
/// in 0.3 s each. The goal is the body 0.7 times as high, with its volume.
fn press(
    mesh: &TetrahedronMesh,
    half_height: f64,
    poisson: f64,
    friction: f64,
    depth: f64,
    strokes: usize,
) -> Result<Pressed, CaseError> {
    let rest = flat(&mesh.points);
    let mut elements =
        Elements::tetrahedra(mesh, 0, material(Model::RotatedLinear, 1e5, poisson, 300.0, 0.01)?)
            .map_err(failed("elements"))?;
    let law = Plasticity { criterion: Yield::Full { limit: 0.01 }, limit: 10.0 };
    elements.set_plasticity(law).map_err(failed("plasticity"))?;
    elements.set_goal(&disk(&rest)).map_err(failed("the goal"))?;
    let first = elements.distance_to_goal();
    let masses = elements.clone();
    let mut solid = solid_of(elements, |mass| masses.add_masses(mass), mesh.points.len(), Vector::zeros());
    let outside = 1.02;
    let plate = |side: f64| -> Result<Obstacle<3>, CaseError> {
        let shape = Shape::half_space(Vector::<3>::new(0.0, -side, 0.0), 0.0).map_err(failed("the plate"))?;
        let frame =
            Frame { position: Vector::<3>::new(0.0, side * outside * half_height, 0.0), ..Frame::identity() };
        Ok(Obstacle::fixed("plate", shape, frame, friction))
    };
    let mut integrator = Integrator::new(Scheme::B);
    integrator.tolerance = 1e-3;
    integrator.obstacles = vec![plate(1.0)?, plate(-1.0)?];
    let mut motion = Motion::at_rest(&mesh.points);
    let dt = 0.3 * solid.stable_step();
    let mut gauge = masses.clone();
    let mut distance = |solid: &Solid<3>| {
        gauge.restore(&solid.forces()[0].history());
        gauge.distance_to_goal()
    };
    let (mut last, mut rise) = (first, 0.0f64);
    let stroke = 0.3;
    for step in 0..(strokes as f64 * stroke / dt) as usize {
        let part = (step as f64 * dt / stroke).fract();
        let speed = if part < 0.5 { -1.0 } else { 1.0 } * 2.0 * (outside - depth) * half_height / stroke;
        for (obstacle, side) in integrator.obstacles.iter_mut().zip([1.0, -1.0]) {
            obstacle.twist = Twist { linear: Vector::<3>::new(0.0, side * speed, 0.0), ..Twist::zero() };
            obstacle.end = obstacle.start.moved(&obstacle.twist, dt);
        }
        step_alone(&mut solid, &mut integrator, &mut motion, dt).map_err(failed("pressing"))?;
        for obstacle in &mut integrator.obstacles {
            obstacle.start = obstacle.end;
        }
        let now = distance(&solid);
        rise = rise.max(now - last);
        last = now;
    }
    Ok(Pressed { elements: mesh.elements.len(), distance: last / first, rise })
}

fn run_press(out: &mut Measurements) -> Result<(), CaseError> {
    let ball = ball_tetrahedra(Vector::zeros(), 0.3, 5).map_err(failed("meshing"))?;
    let billet = cubes([-0.2; 3], [0.2; 3], [4; 3])?;
    // The ball is pressed further than the goal, which holds the flow back; the billet as far as its flow goes.
    for (name, pressed, asked, source) in [
        ("a ball, three strokes", press(&ball, 0.3, 0.3, 0.1, 0.22, 3)?, 0.5, "it flows"),
        ("a billet, one stroke", press(&billet, 0.2, 0.45, 0.0, 0.68, 1)?, 0.1, "spec E5: below 10 %"),
    ] {
        let resolution = format!("{name}, {} tetrahedra", pressed.elements);
        out.at_most(
            "largest rise of the distance to the goal",
            &resolution,
            pressed.rise,
            1e-12,
            "exact: never away from it",
        );
        let quantity = "distance to the goal over that at the start";
        out.at_most(quantity, &resolution, pressed.distance, asked, source);
    }
    Ok(())
}
