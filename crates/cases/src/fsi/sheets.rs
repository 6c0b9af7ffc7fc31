//! Sheets in a fluid: what they carry with them, what they let through (nothing), and that what they gain the fluid loses (FS-T4, FS-T8, FS-T10).

use super::super::fluid::setup::{domain, failed};
use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use splashdown_couple::{SolidBody, SolidElement, Solids, World};
use splashdown_deformable::integrate::{Motion, Scheme};
use splashdown_deformable::{EdgeSpring, EdgeSprings};
use splashdown_fluid::{FluidModel, FluidState, Liquid, Side, SmokeModel};
use splashdown_math::Vector;
use std::f64::consts::{PI, TAU};

pub(super) const CASE: Case = Case {
    name: "fsi/sheets",
    spec: "FS-T4, FS-T8, FS-T10",
    summary: "sheets in fluid: added mass, a bag of smoke that does not leak, momentum",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 6.0,
    run,
};

pub(super) const DRAG: Case = Case {
    name: "fsi/sheet-drag",
    spec: "FS-T11, FS-26",
    summary: "a sheet that is pulled between two walls in oil: its terminal velocity",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 12.0,
    run: run_drag,
};

const SOURCE: &str = "potential flow: a sheet of mass s a length that moves as cos(k y) between walls at distance L keeps the share s / (s + 2 rho coth(k L) / k) of its velocity; Couette flow: one pulled by f an area between walls at distance w goes at f w / (2 mu); the rest is exact";

type V = Vector<2>;

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let exact = 1.0 / (1.0 + 2.0 / (PI * PI.tanh()));
    let mut errors = Vec::new();
    for n in [16, 32, 64] {
        let kept = kept_velocity(n)?;
        errors.push((kept / exact - 1.0).abs());
        if n == 64 {
            measurements.near(
                "share of its velocity that a sheet keeps",
                "128x64",
                kept,
                exact,
                0.01,
                SOURCE,
            );
        }
    }
    let order = (errors[0] / errors[2]).log2() / 2.0;
    measurements.at_least("order of its error", "16 to 64", order, 0.9, SOURCE);
    let [outside, inside, cells] = bag_of_smoke()?;
    measurements.at_most("smoke outside a bag that moved through the grid", "64x64", outside, 0.0, SOURCE);
    measurements.at_most("smoke missing inside", "64x64", inside, 0.0, SOURCE);
    measurements.at_least("cells that the bag moved", "64x64", cells, 20.0, SOURCE);
    let [momentum, energy] = kicked_loop()?;
    measurements.at_most(
        "change of momentum, kicked loop in a periodic box",
        "24x24",
        momentum,
        1e-10,
        SOURCE,
    );
    measurements.at_most("rise of kinetic energy, relative", "24x24", energy, 1e-9, SOURCE);
    Ok(())
}

fn run_drag(measurements: &mut Measurements) -> Result<(), CaseError> {
    let exact = PULL * 0.5 / 2.0;
    let errors = [8, 16, 32].map(|n| dragged_sheet(n).map(|v| (v / exact - 1.0).abs()));
    let [coarse, _, fine] = errors;
    let (coarse, fine) = (coarse?, fine?);
    measurements.at_most(
        "error of the terminal velocity of a sheet between walls",
        "32x32",
        fine,
        0.05,
        SOURCE,
    );
    measurements.at_least("order of its error", "8 to 32", (coarse / fine).log2() / 2.0, 0.9, SOURCE);
    Ok(())
}

/// A world with a chain of points, closed or not, each of mass `mass` (kg), held together by springs of modulus `modulus` (N).
fn world_with_chain(
    points: &[V],
    velocity: &[V],
    mass: &[f64],
    closed: bool,
    modulus: f64,
    gravity: V,
) -> Result<World<2>, CaseError> {
    let mut world = World::new(gravity).map_err(failed)?;
    let mut solids = Solids::<2>::new(gravity, Scheme::B);
    let count = points.len();
    let links = if closed { count } else { count - 1 };
    let elements: Vec<u32> = (0..links).flat_map(|i| [i as u32, ((i + 1) % count) as u32]).collect();
    solids.solid.add_particles(mass, &vec![false; count]);
    if modulus > 0.0 {
        let inverses: Vec<f64> = mass.iter().map(|m| 1.0 / m).collect();
        let springs: Vec<EdgeSpring> = elements
            .chunks_exact(2)
            .map(|ends| {
                let rest = (points[ends[0] as usize] - points[ends[1] as usize]).norm();
                EdgeSpring::with_modulus([ends[0], ends[1]], modulus, 1.0, rest, &inverses)
            })
            .collect();
        solids.solid.add(EdgeSprings::<2>::new("edges", &springs));
    }
    let flat = |of: &[V]| of.iter().flat_map(|x| [x[0], x[1]]).collect::<Vec<f64>>();
    solids.bodies.push(SolidBody {
        name: "sheet".into(),
        particles: 0..count,
        element: SolidElement::Segment,
        elements,
        rest: flat(points),
        forces: 0..usize::from(modulus > 0.0),
        strength: vec![],
        activation: vec![],
        families: vec![],
    });
    world.set_solids(solids, Motion { position: flat(points), velocity: flat(velocity), time: 0.0 });
    Ok(world)
}

/// A sheet across a closed box of height 1 and length 2, `n` cells high: the share of its velocity `cos(pi y)` that is left after one step from rest of the fluid.
fn kept_velocity(n: usize) -> Result<f64, CaseError> {
    let h = 1.0 / n as f64;
    // Off the faces and centres of the grid.
    let points: Vec<V> = (0..=n).map(|i| V::new(1.0 + 0.3 * h, i as f64 * h)).collect();
    let velocity: Vec<V> = points.iter().map(|x| V::new((PI * x[1]).cos(), 0.0)).collect();
    let mass: Vec<f64> = (0..=n).map(|i| if i == 0 || i == n { 0.5 * h } else { h }).collect();
    let mut world = world_with_chain(&points, &velocity, &mass, false, 0.0, V::zeros())?;
    let domain = domain([2 * n, n], h, [[Side::slip(); 2]; 2])?;
    let mut model = FluidModel::new(domain, Liquid::new("fluid", 1.0));
    model.options.pressure.relative = 1e-10;
    let state = FluidState::at_rest(&model);
    world.set_fluid(model, state).map_err(failed)?;
    world.step(1e-6).map_err(failed)?;
    let after = &world.state().solids.motion.velocity;
    let (mut sum, mut weights) = (0.0, 0.0);
    for i in 0..=n {
        sum += mass[i] * after[2 * i] * velocity[i][0];
        weights += mass[i] * velocity[i][0] * velocity[i][0];
    }
    Ok(sum / weights)
}

/// Acceleration (m/s^2) that pulls the sheet between walls.
const PULL: f64 = 1e-3;

/// A sheet of unit mass a length in the middle of a channel of width 1 and unit viscosity is pulled along: its velocity (m/s) after a long time. Nothing moves far.
fn dragged_sheet(n: usize) -> Result<f64, CaseError> {
    let h = 1.0 / n as f64;
    let points: Vec<V> = (0..=n).map(|i| V::new(0.5 + 1e-7, i as f64 * h)).collect();
    let mass: Vec<f64> = (0..=n).map(|i| if i == 0 || i == n { 0.5 * h } else { h }).collect();
    let mut world =
        world_with_chain(&points, &vec![V::zeros(); n + 1], &mass, false, 1.0, V::new(0.0, -PULL))?;
    let domain = domain([n, n], h, [[Side::wall(); 2], [Side::open(); 2]])?;
    let model = FluidModel::new(domain, Liquid { viscosity: 1.0, ..Liquid::new("oil", 1.0) });
    let state = FluidState::at_rest(&model);
    world.set_fluid(model, state).map_err(failed)?;
    for _ in 0..200 {
        world.step(0.02).map_err(failed)?;
    }
    let after = &world.state().solids.motion.velocity;
    Ok(-(0..=n).map(|i| mass[i] * after[2 * i + 1]).sum::<f64>())
}

/// A closed loop.
fn circle(centre: V, radius: f64, count: usize) -> Vec<V> {
    let angle = |i: usize| TAU * (i as f64 + 0.37) / count as f64;
    (0..count).map(|i| centre + V::new(angle(i).cos(), angle(i).sin()) * radius).collect()
}

/// Is `x` inside the polygon?
fn encloses(polygon: &[f64], x: &V) -> bool {
    let corner = |i: usize| V::new(polygon[2 * i], polygon[2 * i + 1]);
    let count = polygon.len() / 2;
    let crossings = (0..count).filter(|&i| {
        let (a, b) = (corner(i), corner((i + 1) % count));
        (a[1] > x[1]) != (b[1] > x[1]) && x[0] < a[0] + (x[1] - a[1]) / (b[1] - a[1]) * (b[0] - a[0])
    });
    crossings.count() % 2 == 1
}

/// A heavy bag full of smoke flies through clean air: most smoke of any cell outside, most that is missing in one inside, and cells that it moved.
fn bag_of_smoke() -> Result<[f64; 3], CaseError> {
    let n = 64;
    let h = 1.0 / n as f64;
    let points = circle(V::new(0.3, 0.47), 0.15, 72);
    let velocity = vec![V::new(1.0, 0.31); points.len()];
    let mut world = world_with_chain(&points, &velocity, &vec![2.0; points.len()], true, 2e3, V::zeros())?;
    let domain = domain([n, n], h, [[Side::open(); 2]; 2])?;
    let mut model = FluidModel::new(domain, Liquid::new("air", 1.0));
    model.smoke = Some(SmokeModel::default());
    let mut state = FluidState::at_rest(&model);
    let start: Vec<f64> = points.iter().flat_map(|x| [x[0], x[1]]).collect();
    let grid = *model.domain.grid();
    if let Some(smoke) = &mut state.smoke {
        smoke.density.update(|cell, _| f64::from(u8::from(encloses(&start, &grid.cell_centre(cell)))));
    }
    world.set_fluid(model, state).map_err(failed)?;
    let (mut outside, mut inside): (f64, f64) = (0.0, 0.0);
    while world.state().time < 0.33 {
        let dt = world.fluid_stable_step().min(0.01);
        world.step(dt).map_err(failed)?;
        let polygon = &world.state().solids.motion.position;
        let Some(smoke) = world.state().fluid.as_ref().and_then(|fluid| fluid.smoke.as_ref()) else { break };
        for j in 0..n as isize {
            for i in 0..n as isize {
                let density = smoke.density.at([i, j]);
                if encloses(polygon, &grid.cell_centre([i, j])) {
                    inside = inside.max(1.0 - density);
                } else {
                    outside = outside.max(density);
                }
            }
        }
    }
    let end = &world.state().solids.motion.position;
    let mean = |flat: &[f64]| flat.iter().step_by(2).sum::<f64>() / (flat.len() / 2) as f64;
    Ok([outside, inside, (mean(end) - mean(&start)) / h])
}

/// A loop with random velocities in fluid at rest, in a box that wraps around: relative change of momentum and of kinetic energy over a step.
fn kicked_loop() -> Result<[f64; 2], CaseError> {
    let n = 24;
    let h = 1.0 / n as f64;
    let mut random = Pcg64Mcg::seed_from_u64(11);
    let points = circle(V::new(0.51, 0.49), 0.27, 40);
    let mut kick = || random.random_range(-1.0..1.0);
    let velocity: Vec<V> = points.iter().map(|_| V::new(kick(), kick())).collect();
    let mass: Vec<f64> = points.iter().map(|_| 0.01 * (1.5 + kick())).collect();
    let mut world = world_with_chain(&points, &velocity, &mass, true, 0.0, V::zeros())?;
    let mut model = FluidModel::new(domain([n, n], h, [[Side::Periodic; 2]; 2])?, Liquid::new("fluid", 1.0));
    model.options.pressure.relative = 1e-11;
    model.options.pressure.divergence = 1e-12;
    let state = FluidState::at_rest(&model);
    world.set_fluid(model, state).map_err(failed)?;
    let of_loop = |velocity: &[f64]| {
        let mut sums = [0.0; 3];
        for (v, m) in velocity.chunks_exact(2).zip(&mass) {
            let parts = [m * v[0], m * v[1], 0.5 * m * (v[0] * v[0] + v[1] * v[1])];
            sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
        }
        sums
    };
    let before = of_loop(&world.state().solids.motion.velocity);
    // So short that nothing is carried: transport conserves no momentum, the solve does.
    world.step(1e-12).map_err(failed)?;
    let mut after = of_loop(&world.state().solids.motion.velocity);
    let Some(fluid) = &world.state().fluid else { return Ok([f64::INFINITY; 2]) };
    for axis in 0..2 {
        for j in 0..n as isize {
            for i in 0..n as isize {
                let u = fluid.velocity.component(axis).at([i, j]);
                after[axis] += h * h * u;
                after[2] += 0.5 * h * h * u * u;
            }
        }
    }
    let size: f64 = velocity.iter().zip(&mass).map(|(v, m)| m * v.norm()).sum();
    let drift = (after[0] - before[0]).hypot(after[1] - before[1]) / size;
    Ok([drift, after[2] / before[2] - 1.0])
}
