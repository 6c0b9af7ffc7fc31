//! Two large ones: an arch of plastic sheet that a plate dents, and a column that is twisted by a whole turn.
//!
//! * **Arch**: half a torus of 3520 triangles whose sheet yields within its plane and at its folds. It is pressed down to 0.6 of its height and let go; the dents stay, where those
//!   of an elastic arch do not.
//! * **Column**: one of 1 x 0.2 x 0.2 m is turned at its ends against each other, step by step through states of equilibrium. The twist rate is constant along it, so that its shape is known:
//!   every section turns by its share. Its length stays; sections are drawn in where the fibres that lean pull. For a small angle the torque is that of Saint-Venant's
//!   torsion, `0.1406 G a^4 / L` per radian for a square (Timoshenko and Goodier, Theory of Elasticity, 3rd edition, section 109).
//!
//! Source: spec/deformable-solids.md E6; issue 4, must show 3.

use super::set_up::{difference, failed, flat, material, run_steps, solid_of};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_deformable::collide::Obstacle;
use splashdown_deformable::element::{Damping, DampingKind, Material};
use splashdown_deformable::integrate::{Integrator, LinearSolver, Motion, Scheme};
use splashdown_deformable::material::{Lame, Law, Model, Plasticity, Yield};
use splashdown_deformable::{Bending, BendingModel, BendingPlasticity, Elements, Solid};
use splashdown_geometry::generate::box_hexahedra;
use splashdown_geometry::mesh::{Mesh, TriangleMesh};
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Frame, Twist, Vector};
use std::f64::consts::PI;

pub(super) const CASE: Case = Case {
    name: "deformable/dented-shell",
    spec: "E6, DS-24, DS-25",
    summary: "half a torus of plastic sheet is pressed down by a plate and keeps its dents; an elastic one springs back",
    source: "spec/deformable-solids.md E6",
    speed: Speed::Slow,
    seconds: 90.0,
    run,
};

pub(super) const COLUMN: Case = Case {
    name: "deformable/twisting-column",
    spec: "issue 4, must show 3; DS-28, DS-48",
    summary: "a column twisted by a whole turn: torque of Saint-Venant for small angles, constant twist rate, nothing inside out",
    source: "Saint-Venant torsion of a square: 0.1406 G a^4 / L",
    speed: Speed::Slow,
    seconds: 100.0,
    run: run_column,
};

/// An arch that stands on y = 0: half a ring of radius 0.3 m, tube of 0.1 m.
fn arch() -> TriangleMesh<3> {
    let (along, around) = (44, 40);
    let mut points = Vec::new();
    for i in 0..=along {
        let turn = PI * f64::from(i) / f64::from(along);
        for j in 0..around {
            let angle = 2.0 * PI * f64::from(j) / f64::from(around);
            let out = 0.3 + 0.1 * angle.cos();
            points.push(Vector::<3>::new(out * turn.cos(), out * turn.sin(), 0.1 * angle.sin()));
        }
    }
    let node = |i: i32, j: i32| (i * around + j % around) as u32;
    let mut elements = Vec::new();
    for i in 0..along {
        for j in 0..around {
            let [a, b, c, d] = [node(i, j), node(i + 1, j), node(i + 1, j + 1), node(i, j + 1)];
            if (i + j) % 2 == 0 {
                elements.extend([[a, b, c], [a, c, d]]);
            } else {
                elements.extend([[a, b, d], [b, c, d]]);
            }
        }
    }
    Mesh { points, elements }
}

/// Largest distance (m) to the rest shape after the plate has come and gone, and the least height (m) on the way.
fn press(plastic: bool) -> Result<(f64, f64), CaseError> {
    let mesh = arch();
    let own = Material {
        law: Law::safe(Model::RotatedLinear),
        lame: Lame::plane_stress(5e5, 0.3).map_err(failed("material"))?,
        density: 300.0,
        damping: Damping { kind: DampingKind::Blend, time: 0.004 },
    };
    let mut elements = Elements::membrane(&mesh, 0, 5e-3, own).map_err(failed("elements"))?;
    let mut bending = Bending::new(&mesh, 0, BendingModel::DiscreteShells, 6e-3, 2e-5);
    if plastic {
        let law = Plasticity { criterion: Yield::Full { limit: 0.02 }, limit: 2.0 };
        elements.set_plasticity(law).map_err(failed("plasticity"))?;
        bending = bending.with_plasticity(BendingPlasticity { yield_angle: 0.05, hardening: 0.1 });
    }
    let masses = elements.clone();
    let mut solid = solid_of(elements, |mass| masses.add_masses(mass), mesh.points.len(), Vector::zeros());
    solid.add(bending);
    let plane = |down: f64, height: f64| -> Result<Obstacle<3>, CaseError> {
        let shape = Shape::half_space(Vector::<3>::new(0.0, down, 0.0), 0.0).map_err(failed("a plate"))?;
        let frame = Frame { position: Vector::<3>::new(0.0, height, 0.0), ..Frame::identity() };
        Ok(Obstacle::fixed("plate", shape, frame, 0.5))
    };
    let mut integrator = Integrator::new(Scheme::B);
    integrator.tolerance = 1e-3;
    integrator.obstacles = vec![plane(1.0, 0.0)?, plane(-1.0, 0.41)?];
    let mut motion = Motion::at_rest(&mesh.points);
    let dt = 0.4 * solid.stable_step();
    let steps = |seconds: f64| (seconds / dt).ceil() as usize;
    let mut least = f64::INFINITY;
    for (speed, time) in [(-0.8, 0.2), (0.8, 0.2), (0.0, 0.5)] {
        integrator.obstacles[1].twist = Twist { linear: Vector::<3>::new(0.0, speed, 0.0), ..Twist::zero() };
        let obstacle = &mut integrator.obstacles[1];
        obstacle.end = obstacle.start.moved(&obstacle.twist, dt);
        run_steps(&mut integrator, &mut solid, &mut motion, dt, steps(time))?;
        let heights = || motion.position.iter().skip(1).step_by(3);
        least = least.min(heights().fold(f64::MIN, |m, &y| m.max(y)));
    }
    if motion.position.iter().any(|x| !x.is_finite()) {
        return Err(CaseError::new("pressing", "a position is not finite"));
    }
    Ok((difference(&motion.position, &flat(&mesh.points)), least))
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let ((set, low), (back, elastic_low)) = (press(true)?, press(false)?);
    let resolution = "3520 triangles";
    for (name, low) in [("plastic", low), ("elastic", elastic_low)] {
        let resolution = format!("{resolution}, {name}");
        out.at_most("height under the plate (m)", &resolution, low, 0.26, "it is pressed to 0.25");
    }
    out.at_least("permanent set (m)", resolution, set, 0.02, "spec E6: above 0");
    out.at_least(
        "permanent set over what is left of an elastic arch",
        resolution,
        set / back,
        3.0,
        "it keeps its dents",
    );
    Ok(())
}

/// A column along x that is twisted at its ends; returns the torque at one end (N m), the largest departure (m) of the middle of sections from their share of the turn, and the
/// elements inside out.
fn twist(cells: usize, model: Model, turn: f64, stages: usize) -> Result<(f64, f64, usize), CaseError> {
    let (length, half) = (1.0, 0.1);
    let lower = Vector::<3>::new(0.0, -half, -half);
    let mesh = box_hexahedra(lower, Vector::<3>::new(length, half, half), [5 * cells, cells, cells])
        .map_err(failed("meshing"))?;
    let own = material(model, 1e5, 0.3, 1000.0, 0.0)?;
    let elements = Elements::hexahedra(&mesh, 0, own).map_err(failed("elements"))?;
    let masses = elements.clone();
    let mut solid: Solid<3> =
        solid_of(elements, |mass| masses.add_masses(mass), mesh.points.len(), Vector::zeros());
    let ends: Vec<usize> = (0..mesh.points.len())
        .filter(|&node| mesh.points[node][0] < 1e-9 || mesh.points[node][0] > length - 1e-9)
        .collect();
    ends.iter().for_each(|&node| solid.set_pinned(node, true));
    let mut integrator = Integrator::new(Scheme::B);
    integrator.implicit.tolerance = 1e-6;
    integrator.implicit.linear_tolerance = 1e-8;
    integrator.implicit.solver = LinearSolver::Cholesky;
    let mut motion = Motion::at_rest(&mesh.points);
    let turned = |x: &Vector<3>, angle: f64| {
        let (s, c) = angle.sin_cos();
        Vector::<3>::new(x[0], c * x[1] - s * x[2], s * x[1] + c * x[2])
    };
    let share = |x: &Vector<3>| x[0] / length - 0.5;
    for stage in 0..stages {
        // All go along by their share; equilibrium does the rest.
        for node in 0..mesh.points.len() {
            let by = share(&mesh.points[node]) * turn / stages as f64;
            let x = turned(&motion.point::<3>(node), by);
            motion.position[3 * node..][..3].copy_from_slice(x.as_slice());
        }
        for &node in &ends {
            let by = share(&mesh.points[node]) * turn * (stage + 1) as f64 / stages as f64;
            let x = turned(&mesh.points[node], by);
            motion.position[3 * node..][..3].copy_from_slice(x.as_slice());
        }
        integrator.equilibrium(&mut solid, &mut motion).map_err(failed("solving for equilibrium"))?;
    }
    solid.update(&motion.position).map_err(failed("measuring"))?;
    let mut force = vec![0.0; motion.position.len()];
    solid.add_elastic(&mut force);
    let at_end = ends.iter().filter(|&&node| mesh.points[node][0] > 0.5 * length);
    let torque = at_end
        .map(|&node| {
            let (x, f) = (motion.point::<3>(node), &force[3 * node..][..3]);
            x[2] * f[1] - x[1] * f[2]
        })
        .sum();
    // Points on the surface half way up the sides turn by their share without being moved otherwise, but for being drawn in.
    let away = (0..mesh.points.len())
        .filter(|&node| mesh.points[node][1].abs() < 1e-9 && mesh.points[node][2] > half - 1e-9)
        .map(|node| {
            let direction = turned(&Vector::<3>::new(0.0, 0.0, 1.0), share(&mesh.points[node]) * turn);
            let x = motion.point::<3>(node);
            let across = Vector::<3>::new(0.0, x[1], x[2]);
            (across - direction * across.dot(&direction)).norm()
        })
        .fold(0.0, f64::max);
    Ok((torque, away, solid.inverted()))
}

fn run_column(out: &mut Measurements) -> Result<(), CaseError> {
    let shear = 1e5 / 2.6;
    let exact = 0.1406 * shear * 0.2f64.powi(4);
    let angle = 0.02;
    // Ends that cannot warp stiffen it by some percent.
    let mut errors = Vec::new();
    for cells in [4, 8] {
        let (torque, ..) = twist(cells, Model::RotatedLinear, angle, 1)?;
        errors.push(torque / (exact * angle));
    }
    let resolution = "40 x 8 x 8 hexahedra";
    out.near("torque over Saint-Venant's, 8 cells across", resolution, errors[1], 1.0, 0.08, COLUMN.source);
    out.at_most(
        "the same with 4 cells, over that with 8",
        resolution,
        errors[0] / errors[1],
        1.1,
        "it converges from above",
    );
    for (name, model) in [("neo-Hookean", Model::NeoHookean), ("fixed corotated", Model::FixedCorotated)] {
        let (torque, away, inverted) = twist(8, model, 2.0 * PI, 24)?;
        let resolution = format!("{name}, a whole turn");
        out.at_most("elements inside out", &resolution, inverted as f64, 0.0, COLUMN.source);
        out.at_most(
            "sections away from their share of the turn (m)",
            &resolution,
            away,
            0.005,
            "exact inside: constant rate",
        );
        out.at_least(
            "torque over the linear one",
            &resolution,
            torque / (exact * 2.0 * PI),
            1.0,
            "fibres that lean stiffen it",
        );
    }
    Ok(())
}
