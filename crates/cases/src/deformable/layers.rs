//! Cloth over a body that deforms: the body is stepped first and does not feel the cloth; its surface, with the velocities of its nodes, is an obstacle of the cloth (layered simulation).
//! A ball hits both from the side.
//!
//! Source: spec/deformable-solids.md E9 at reduced size, DS-39, DS-52: no node of the cloth is deeper in the body than 1e-4 of its size.

use super::set_up::{failed, material, run_steps, tetrahedra};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::step_alone;
use splashdown_deformable::collide::{Obstacle, ObstacleShape, SurfaceObstacle};
use splashdown_deformable::element::{Damping, DampingKind, Material};
use splashdown_deformable::integrate::{Integrator, Motion, Scheme};
use splashdown_deformable::material::{Lame, Law, Model};
use splashdown_deformable::{Bending, BendingModel, Elements, Solid};
use splashdown_geometry::generate::{Diagonals, ball_tetrahedra, sheet};
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Frame, Twist, Vector};

pub(super) const CASE: Case = Case {
    name: "deformable/layers",
    spec: "E9, DS-39, DS-52, DS-54",
    summary: "cloth over a soft ball that rests on the floor and is hit by a hard one: the cloth stays outside both",
    source: "spec/deformable-solids.md E9",
    speed: Speed::Slow,
    seconds: 20.0,
    run,
};

const RADIUS: f64 = 0.5;

fn cloth() -> Result<(Solid<3>, Motion, usize), CaseError> {
    let mesh = sheet(
        Vector::<3>::new(-0.9, 1.05, -0.9),
        Vector::<3>::new(0.0, 0.0, 1.8),
        Vector::<3>::new(1.8, 0.0, 0.0),
        [32, 32],
        Diagonals::Alternating,
    )
    .map_err(failed("meshing"))?;
    let own = Material {
        law: Law::safe(Model::RotatedLinear),
        lame: Lame::plane_stress(2e4, 0.3).map_err(failed("material"))?,
        density: 300.0,
        damping: Damping { kind: DampingKind::Blend, time: 0.005 },
    };
    let elements = Elements::membrane(&mesh, 0, 1e-3, own).map_err(failed("elements"))?;
    let mut mass = vec![0.0; mesh.points.len()];
    elements.add_masses(&mut mass);
    let mut solid = Solid::new(mass, vec![false; mesh.points.len()], Vector::<3>::new(0.0, -9.81, 0.0));
    solid.add(elements);
    solid.add(Bending::new(&mesh, 0, BendingModel::DiscreteShells, 1e-5, 1e-7));
    Ok((solid, Motion::at_rest(&mesh.points), mesh.elements.len()))
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let mesh = ball_tetrahedra(Vector::<3>::new(0.0, RADIUS, 0.0), RADIUS, 6).map_err(failed("meshing"))?;
    let own = material(Model::FixedCorotated, 2e4, 0.35, 300.0, 0.01)?;
    let mut body = tetrahedra(&mesh, own, [0.0, -9.81, 0.0])?;
    let mut body_motion = Motion::at_rest(&mesh.points);
    let plane = Shape::half_space(Vector::<3>::new(0.0, 1.0, 0.0), 0.0).map_err(failed("the floor"))?;
    let floor = Obstacle::fixed("floor", plane, Frame::identity(), 0.6);
    let mut ball = Obstacle::fixed(
        "ball",
        Shape::ball(0.2).map_err(failed("the ball"))?,
        Frame { position: Vector::<3>::new(-1.6, 0.7, 0.0), ..Frame::identity() },
        0.2,
    );
    let mut for_body = Integrator::new(Scheme::B);
    for_body.tolerance = 1e-4;
    let (mut cloth, mut motion, triangles) = cloth()?;
    let mut for_cloth = Integrator::new(Scheme::B);
    for_cloth.tolerance = 1e-4;
    let surface = mesh.boundary().map_err(failed("the surface"))?;
    let dt = 0.4 * body.stable_step().min(cloth.stable_step());
    let (mut deepest, mut deepest_ball, mut body_in_ball) = (0.0f64, 0.0f64, 0.0f64);
    let (mut touched, mut bent) = (0usize, 0.0f64);
    for step in 0..(1.6 / dt) as usize {
        // From 0.6 s on the ball comes, passes to 0.25 m from the middle, and goes back.
        let t = step as f64 * dt;
        let speed = match t {
            t if t < 0.6 => 0.0,
            t if t < 1.05 => 2.6,
            _ => -2.6,
        };
        ball.twist = Twist { linear: Vector::<3>::new(speed, 0.0, 0.0), ..Twist::zero() };
        ball.start = ball.end;
        ball.end = ball.start.moved(&ball.twist, dt);
        for_body.obstacles = vec![floor.clone(), ball.clone()];
        let before = body_motion.position.clone();
        run_steps(&mut for_body, &mut body, &mut body_motion, dt, 1)?;
        // The cloth sees where the body went during the step, and with which velocity.
        let points: Vec<Vector<3>> =
            surface.points.iter().map(|&node| body_motion.point::<3>(node as usize)).collect();
        let velocity: Vec<Vector<3>> = surface
            .points
            .iter()
            .zip(&points)
            .map(|(&node, now)| {
                (now - Vector::<3>::from_column_slice(&before[3 * node as usize..][..3])) / dt
            })
            .collect();
        let skin = splashdown_geometry::mesh::Mesh { points, elements: surface.mesh.elements.clone() };
        let skin = SurfaceObstacle::new(skin, velocity).map_err(failed("the surface"))?;
        let mut layer = floor.clone();
        layer.name = "body".into();
        layer.shape = ObstacleShape::Surface(skin);
        layer.friction = 0.4;
        for_cloth.obstacles = vec![floor.clone(), ball.clone(), layer.clone()];
        let report =
            step_alone(&mut cloth, &mut for_cloth, &mut motion, dt).map_err(failed("stepping the cloth"))?;
        touched = touched.max(report.contacts);
        for node in 0..cloth.len() {
            let x = motion.point::<3>(node);
            deepest = deepest.max(-layer.probe(&x).distance);
            deepest_ball = deepest_ball.max(-ball.probe(&x).distance);
        }
        // The body is flat between its nodes, which is where the ball dents it; the cloth between the two cannot be further out.
        for face in &surface.mesh.elements {
            let corners = face.map(|at| body_motion.point::<3>(surface.points[at as usize] as usize));
            let middle = corners.iter().sum::<Vector<3>>() / 3.0;
            body_in_ball = body_in_ball.max(-ball.probe(&middle).distance);
        }
        let widest = body_motion.position.iter().step_by(3).fold(f64::MAX, |least, &x| least.min(x));
        bent = bent.max(RADIUS + widest);
    }
    let resolution = format!("{} tetrahedra, {triangles} triangles", mesh.elements.len());
    out.at_least(
        "contacts of the cloth at once",
        &resolution,
        touched as f64,
        100.0,
        "the cloth lies on the body",
    );
    out.at_least("deepest dent of the body (m)", &resolution, bent, 0.1, "the ball hits it");
    out.at_most(
        "deepest node of the cloth in the body, over its diameter",
        &resolution,
        deepest / (2.0 * RADIUS),
        1e-4,
        CASE.source,
    );
    out.at_most(
        "deepest node of the cloth in the ball, over the body's own surface there",
        &resolution,
        deepest_ball / body_in_ball,
        1.0,
        "the body is in the way",
    );
    Ok(())
}
