//! The solid halves of two published examples of fluids with structures, by themselves: what they do without any fluid is known exactly.
//!
//! * **Beam** of 5 x 20 particles of 0.1 kg with edge springs (166 N) and altitude springs (400 N), its lowest row held: the frequency of its first mode is that of the generalised eigenproblem of
//!   its stiffness, which is solved apart; with every spring damped by twice its critical value the oscillation dies with the rate `-phi^T D phi / (2 phi^T M phi)` of its mode `phi`.
//! * **Disk** of 2400 neo-Hookean triangles, `mu = 1 Pa`, `nu = 0.475`: under a pressure `p` on its rim it shrinks by `p R / (2 (lambda + mu))`, and it breathes with `omega = k c`, where
//!   `(lambda + 2 mu) k R J_0(k R) = 2 mu J_1(k R)` (plane strain; A. E. H. Love, *Mathematical Theory of Elasticity*).
//!
//! Source: spec/deformable-solids.md E17, E18.

use super::set_up::{failed, flat, material, run_steps, solid_of};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_deformable::Load;
use splashdown_deformable::integrate::{Integrator, LinearSolver, Motion, Scheme};
use splashdown_deformable::material::Model;
use splashdown_deformable::{AltitudeSprings, Altitudes, EdgeSpring, EdgeSprings, Elements, Solid};
use splashdown_geometry::generate::{Diagonals, disc_triangles, sheet};
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "deformable/structures",
    spec: "E17, E18, DS-26, DS-27",
    summary: "a beam of edge and altitude springs and a neo-Hookean disk: static load, free and damped oscillation",
    source: "exact: eigenproblem of the stiffness; breathing mode of an elastic disk",
    speed: Speed::Slow,
    seconds: 15.0,
    run,
};

fn beam(overdamping: f64) -> Result<(Solid<2>, Vec<Vector<2>>), CaseError> {
    beam_of_springs(overdamping, 0.1, [4, 19]).map(|(solid, points, _)| (solid, points))
}

/// The beam with particles of `mass` (kg), its rest positions and the corners of its triangles.
pub(in super::super) fn beam_of_springs(
    overdamping: f64,
    mass: f64,
    cells: [usize; 2],
) -> Result<(Solid<2>, Vec<Vector<2>>, Vec<u32>), CaseError> {
    let mesh = sheet(
        Vector::<2>::new(0.95, 0.0),
        Vector::<2>::new(0.1, 0.0),
        Vector::<2>::new(0.0, 0.5),
        cells,
        Diagonals::Alternating,
    )
    .map_err(failed("meshing"))?;
    let count = mesh.points.len();
    let held: Vec<bool> = mesh.points.iter().map(|x| x[1] < 1e-9).collect();
    let mut solid = Solid::new(vec![mass; count], held, Vector::zeros());
    let inverses = solid.inverse_masses();
    let (edges, _) = mesh.edge_elements();
    let springs: Vec<EdgeSpring> = edges
        .iter()
        .map(|&ends| {
            let rest = (mesh.points[ends[0] as usize] - mesh.points[ends[1] as usize]).norm();
            EdgeSpring::with_modulus(ends, 166.0, overdamping, rest, &inverses)
        })
        .collect();
    solid.add(EdgeSprings::<2>::new("edges", &springs));
    let nodes: Vec<u32> = mesh.elements.iter().flatten().copied().collect();
    let rest = flat(&mesh.points);
    solid.add(AltitudeSprings::<2>::new(nodes.clone(), &rest, &inverses, 400.0, overdamping, Altitudes::All));
    Ok((solid, mesh.points, nodes))
}

/// Lowest frequency (rad/s) of small oscillations and its mode, by inverse iteration on the stiffness applied to unit vectors.
fn lowest_mode(solid: &mut Solid<2>, rest: &[f64]) -> Result<(f64, Vec<f64>), CaseError> {
    solid.update(rest).map_err(failed("the stiffness"))?;
    let free: Vec<usize> = (0..rest.len()).filter(|at| !solid.pinned()[at / 2]).collect();
    let n = free.len();
    let mut rows = vec![vec![0.0; 2 * n]; n];
    let mut unit = vec![0.0; rest.len()];
    for (column, &at) in free.iter().enumerate() {
        unit[at] = 1.0;
        let mut force = vec![0.0; rest.len()];
        solid.add_stiffness(&unit, &mut force, false);
        unit[at] = 0.0;
        for (row, &to) in free.iter().enumerate() {
            rows[row][column] = force[to];
        }
        rows[column][n + column] = 1.0;
    }
    // Gauss-Jordan: the stiffness of a held beam is definite.
    for pivot in 0..n {
        let best = (pivot..n).max_by(|&a, &b| rows[a][pivot].abs().total_cmp(&rows[b][pivot].abs()));
        rows.swap(pivot, best.unwrap_or(pivot));
        let scale = 1.0 / rows[pivot][pivot];
        rows[pivot].iter_mut().for_each(|value| *value *= scale);
        let own = rows[pivot].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(row, _)| *row != pivot) {
            let factor = row[pivot];
            row.iter_mut().zip(&own).for_each(|(value, own)| *value -= factor * own);
        }
    }
    let mut mode: Vec<f64> = free.iter().map(|&at| if at % 2 == 0 { rest[at + 1] } else { 0.0 }).collect();
    let mut squared = 0.0;
    for _ in 0..200 {
        let next: Vec<f64> = rows
            .iter()
            .map(|row| {
                row[n..].iter().zip(&mode).zip(&free).map(|((a, x), at)| a * x * solid.masses()[at / 2]).sum()
            })
            .collect();
        let length = next.iter().map(|x| x * x).sum::<f64>().sqrt();
        let before = mode.iter().map(|x| x * x).sum::<f64>().sqrt();
        squared = before / length;
        mode = next.iter().map(|x| x / length).collect();
    }
    let mut out = vec![0.0; rest.len()];
    free.iter().zip(&mode).for_each(|(&at, value)| out[at] = *value);
    Ok((squared.sqrt(), out))
}

/// Frequency (rad/s) from the times at which `signal` of the motion changes its sign.
fn measured_frequency(
    solid: &mut Solid<2>,
    mut motion: Motion,
    dt: f64,
    periods: usize,
    signal: impl Fn(&Motion) -> f64,
) -> Result<f64, CaseError> {
    let mut integrator = Integrator::new(Scheme::A);
    let mut crossings = Vec::new();
    let mut before = signal(&motion);
    for _ in 0..2_000_000 {
        run_steps(&mut integrator, solid, &mut motion, dt, 1)?;
        let now = signal(&motion);
        if before * now < 0.0 {
            crossings.push(motion.time - dt * now / (now - before));
        }
        before = now;
        if crossings.len() > 2 * periods {
            break;
        }
    }
    let (Some(first), Some(last)) = (crossings.first(), crossings.last()) else {
        return Err(CaseError::new("measuring the frequency", "it does not oscillate"));
    };
    Ok(std::f64::consts::PI * (crossings.len() - 1) as f64 / (last - first))
}

/// Bessel functions of the first kind of orders 0 and 1 by their series.
fn bessel(x: f64) -> (f64, f64) {
    let (mut zero, mut one) = (0.0, 0.0);
    let mut term = 1.0;
    for k in 0..40 {
        zero += term;
        one += term * 0.5 * x / f64::from(k + 1);
        term *= -0.25 * x * x / f64::from((k + 1) * (k + 1));
    }
    (zero, one)
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let (mut solid, points) = beam(0.0)?;
    let rest = flat(&points);
    let (omega, mode) = lowest_mode(&mut solid, &rest)?;
    let tip = 2 * (points.len() - 1);
    let amplitude = 1e-6 / mode[tip].abs();
    let moved = |part: f64| -> Motion {
        let position = rest.iter().zip(&mode).map(|(x, m)| x + part * m).collect();
        Motion { position, velocity: vec![0.0; rest.len()], time: 0.0 }
    };
    let dt = 0.2 * solid.stable_step();
    let found =
        measured_frequency(&mut solid, moved(amplitude), dt, 1, |motion| motion.position[tip] - rest[tip])?;
    let resolution = "5 x 20 particles";
    out.near("beam: first frequency (rad/s)", resolution, found, omega, 0.01 * omega, CASE.source);
    // Damped: what is left after a time is known from the mode, for the damping of the slowest mode is weak.
    let (mut solid, _) = beam(2.0)?;
    solid.update(&rest).map_err(failed("the damping"))?;
    let mut force = vec![0.0; rest.len()];
    solid.add_damping(&mode, &mut force);
    let power: f64 = force.iter().zip(&mode).map(|(f, v)| -f * v).sum();
    let inertia: f64 = mode.iter().enumerate().map(|(at, v)| solid.masses()[at / 2] * v * v).sum();
    let rate = 0.5 * power / inertia;
    let mut motion = moved(amplitude);
    let mut integrator = Integrator::new(Scheme::B);
    let periods = 3.0;
    let end = periods * 2.0 * std::f64::consts::PI / (omega * omega - rate * rate).sqrt();
    let steps = (end / (0.3 * solid.stable_step())).ceil();
    run_steps(&mut integrator, &mut solid, &mut motion, end / steps, steps as usize)?;
    let left = (motion.position[tip] - rest[tip]) / (amplitude * mode[tip]);
    let expected = (-rate * end).exp();
    out.near(
        "damped beam: part left after three periods",
        resolution,
        left,
        expected,
        0.02 * expected,
        CASE.source,
    );
    disk(out)
}

fn disk(out: &mut Measurements) -> Result<(), CaseError> {
    let radius = 0.2;
    let mesh = disc_triangles(Vector::<2>::new(0.5, 0.5), radius, 20).map_err(failed("meshing"))?;
    let own = material(Model::NeoHookean, 2.95, 0.475, 1.0, 0.0)?;
    let make = |damping: f64| -> Result<Solid<2>, CaseError> {
        let own = material(Model::NeoHookean, 2.95, 0.475, 1.0, damping)?;
        let elements = Elements::triangles(&mesh, 0, own).map_err(failed("elements"))?;
        let masses = elements.clone();
        Ok(solid_of(elements, |mass| masses.add_masses(mass), mesh.points.len(), Vector::zeros()))
    };
    let (lambda, mu) = (own.lame.lambda, own.lame.mu);
    let centre = Vector::<2>::repeat(0.5);
    let resolution = format!("{} triangles", mesh.elements.len());

    // A small pressure on the rim; the disk is free, so its middle is held.
    let mut solid = make(0.0)?;
    let pressure = 1e-5;
    let mut rim: Vec<usize> =
        (0..mesh.points.len()).filter(|&node| (mesh.points[node] - centre).norm() > radius - 1e-9).collect();
    // In the order of the angle, each with half the way to its neighbours: the pressure is uniform.
    let angle = |node: usize| (mesh.points[node][1] - 0.5).atan2(mesh.points[node][0] - 0.5);
    rim.sort_by(|&a, &b| angle(a).total_cmp(&angle(b)));
    let forces = (0..rim.len()).map(|i| {
        let (before, after) = (rim[(i + rim.len() - 1) % rim.len()], rim[(i + 1) % rim.len()]);
        let length = 0.5 * (mesh.points[after] - mesh.points[rim[i]]).norm()
            + 0.5 * (mesh.points[before] - mesh.points[rim[i]]).norm();
        (rim[i] as u32, (centre - mesh.points[rim[i]]).normalize() * (pressure * length))
    });
    solid.add(Load::new(forces.collect()));
    let middle = mesh.points.iter().position(|x| (x - centre).norm() < 1e-9).unwrap_or(0);
    solid.set_pinned(middle, true);
    // A second node on the rim may not turn about it; where it goes is known, so it is put there.
    let mut motion = Motion::at_rest(&mesh.points);
    let exact = pressure * radius / (2.0 * (lambda + mu));
    let first = rim[0];
    let target = mesh.points[first] + (centre - mesh.points[first]).normalize() * exact;
    motion.position[2 * first..2 * first + 2].copy_from_slice(target.as_slice());
    solid.set_pinned(first, true);
    let mut integrator = Integrator::new(Scheme::B);
    integrator.implicit.tolerance = 1e-6;
    integrator.implicit.linear_tolerance = 1e-8;
    integrator.implicit.solver = LinearSolver::Cholesky;
    integrator.equilibrium(&mut solid, &mut motion).map_err(failed("equilibrium of the disk"))?;
    let inwards: f64 =
        rim.iter().map(|&node| radius - (motion.point::<2>(node) - centre).norm()).sum::<f64>()
            / rim.len() as f64;
    out.near("disk: shrinking of the rim (m)", &resolution, inwards, exact, 0.01 * exact, CASE.source);

    // The first root of the equation of the breathing mode lies between 1.5 and 2.405.
    let equation = |z: f64| {
        let (zero, one) = bessel(z);
        (lambda + 2.0 * mu) * z * zero - 2.0 * mu * one
    };
    let (mut low, mut high) = (1.0, 2.405);
    for _ in 0..60 {
        let root = 0.5 * (low + high);
        if equation(root) > 0.0 {
            low = root;
        } else {
            high = root;
        }
    }
    let k = 0.5 * (low + high) / radius;
    let breathing = |k: f64| {
        let mut motion = Motion::at_rest(&mesh.points);
        for (node, x) in mesh.points.iter().enumerate() {
            let arm = x - centre;
            let r = arm.norm();
            if r > 0.0 {
                let speed = arm * (1e-5 * bessel(k * r).1 / r);
                motion.velocity[2 * node..2 * node + 2].copy_from_slice(speed.as_slice());
            }
        }
        motion
    };
    let omega = k * ((lambda + 2.0 * mu) / own.density).sqrt();
    let mut solid = make(0.0)?;
    let motion = breathing(k);
    let dt = 0.5 * solid.stable_step();
    let size = |motion: &Motion| {
        rim.iter().map(|&node| (motion.point::<2>(node) - centre).norm() - radius).sum::<f64>()
    };
    let found = measured_frequency(&mut solid, motion, dt, 2, size)?;
    out.near("disk: frequency of breathing (rad/s)", &resolution, found, omega, 0.01 * omega, CASE.source);

    // With the damping of the source, 0.005 s times the stiffness: the ratio is half of that times the frequency, and extremes fall by exp(-pi z / sqrt(1 - z^2)).
    let mut solid = make(0.005)?;
    let mut motion = breathing(k);
    let mut integrator = Integrator::new(Scheme::B);
    let ratio = 0.5 * 0.005 * omega;
    let expected = (-std::f64::consts::PI * ratio / (1.0 - ratio * ratio).sqrt()).exp();
    let turns = omega * (1.0 - ratio * ratio).sqrt();
    let (mut extremes, mut before) = (Vec::new(), [0.0; 2]);
    for _ in 0..(3.0 * std::f64::consts::PI / turns / dt) as usize {
        run_steps(&mut integrator, &mut solid, &mut motion, dt, 1)?;
        let now = size(&motion);
        if (before[1] - before[0]) * (now - before[1]) < 0.0 {
            extremes.push(before[1].abs());
        }
        before = [before[1], now];
    }
    let falls: Vec<f64> = extremes.windows(2).map(|pair| pair[1] / pair[0]).collect();
    out.at_least(
        "disk: extremes of damped breathing seen",
        &resolution,
        extremes.len() as f64,
        3.0,
        "three half turns",
    );
    let worst = falls.iter().map(|fall| (fall / expected - 1.0).abs()).fold(0.0, f64::max);
    out.at_most(
        "disk: error of the decrement of damped breathing (relative)",
        &resolution,
        worst,
        0.02,
        "exact: exp(-pi z / sqrt(1 - z^2)), z = 0.005 s omega / 2; the frequency is known to 1 %",
    );
    Ok(())
}
