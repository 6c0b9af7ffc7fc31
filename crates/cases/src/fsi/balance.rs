//! Momentum and energy of coupled solves: a box that wraps around, full of fluid, with bodies in it (FS-T8, FS-T9, FS-T15).
//!
//! What the fluid loses the bodies gain, to rounding, whatever the masses; and no solve adds kinetic energy. A piston that shrinks a closed box cannot keep the volume:
//! the flux that is taken off is reported, and what is left is divergence-free.

use super::super::fluid::setup::{domain, failed};
use super::setup::{Held, IMPROVED, SOURCE_RECIPE};
use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use splashdown_couple::fluid_structure::{CouplingOptions, Operators};
use splashdown_fluid::{FluidModel, Liquid, Side};
use splashdown_geometry::shapes::Shape;
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "fsi/balance",
    spec: "FS-T8, FS-T9",
    summary: "a thousand coupled solves in a periodic box: momentum to rounding, kinetic energy never up",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 10.0,
    run: |measurements| run(measurements, 40),
};

pub(super) const LONG: Case = Case {
    name: "fsi/balance-10000",
    spec: "FS-T8, FS-T9; Must show 2 (issue of fluid and structure)",
    summary: "the same for ten thousand coupled solves",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 100.0,
    run: |measurements| run(measurements, 400),
};

const SOURCE: &str = "exact: both hold for every solve (spec/fluid-structure.md 3.12)";

fn run(measurements: &mut Measurements, scenes: usize) -> Result<(), CaseError> {
    let mut random = Pcg64Mcg::seed_from_u64(7);
    let (mut drift, mut rise): (f64, f64) = (0.0, f64::NEG_INFINITY);
    for scene in 0..scenes {
        let options = if scene % 2 == 0 { IMPROVED } else { SOURCE_RECIPE };
        let viscosity = if scene % 4 < 2 { 0.0 } else { 10f64.powf(random.random_range(-3.0..1.0)) };
        let [moved, gained] = solves(&mut random, options, viscosity, 25)?;
        drift = drift.max(moved);
        rise = rise.max(gained);
    }
    measurements.at_most(
        &format!("change of momentum over its size, {scenes} scenes of 25 solves"),
        "16x16",
        drift,
        1e-10,
        SOURCE,
    );
    measurements.at_most("largest rise of kinetic energy in a solve, relative", "16x16", rise, 1e-9, SOURCE);
    Ok(())
}

/// Largest relative change of momentum over some solves from random velocities, and largest relative rise of kinetic energy in one.
fn solves(
    random: &mut Pcg64Mcg,
    options: CouplingOptions,
    viscosity: f64,
    count: usize,
) -> Result<[f64; 2], CaseError> {
    let n = 16;
    let domain = domain([n, n], 1.0 / n as f64, [[Side::Periodic; 2]; 2])?;
    let mut model = FluidModel::new(domain, Liquid { viscosity, ..Liquid::new("fluid", 1.0) });
    model.options.pressure.divergence = 1e-11;
    model.options.pressure.relative = 1e-11;
    model.options.pressure.max_iterations = 1000;
    let mut bodies = Vec::new();
    for centre in [Vector::from([0.3, 0.3]), Vector::from([0.95, 0.7])] {
        let mass = 10f64.powf(random.random_range(-4.0..4.0));
        let shape = Shape::ball(random.random_range(0.1..0.2)).map_err(failed)?;
        bodies.push((shape, centre, Some((mass, vec![0.02 * mass]))));
    }
    let mut held = Held::new(model, bodies, options)?;
    let (mut drift, mut rise): (f64, f64) = (0.0, f64::NEG_INFINITY);
    for _ in 0..count {
        // Kicks between the solves; each solve alone is looked at.
        for axis in 0..2 {
            let values = held.state.velocity.component_mut(axis).values_mut();
            values.iter_mut().for_each(|u| *u += random.random_range(-1.0..1.0));
        }
        held.model.domain.fill_velocity_ghosts(&mut held.state.velocity);
        for solid in &mut held.solids {
            solid.twist.linear += Vector::from_fn(|_, _| random.random_range(-1.0..1.0));
            solid.twist.angular[0] += random.random_range(-1.0..1.0);
        }
        let before = measure(&held)?;
        let dt = 10f64.powf(random.random_range(-4.0..0.0));
        held.step(dt)?;
        let after = measure(&held)?;
        let size = before.2 + after.2;
        drift = drift.max((after.0 - before.0).norm() / size);
        rise = rise.max((after.1 - before.1) / before.1);
    }
    Ok([drift, rise])
}

/// Momentum, kinetic energy, and the sum of the magnitudes of momentum, of fluid and bodies.
fn measure(held: &Held<2>) -> Result<(Vector<2>, f64, f64), CaseError> {
    let movable = vec![true; held.solids.len()];
    let problem = held.stepper.problem(&held.model);
    let viscosity = held.model.liquids[0].viscosity;
    let viscous =
        (viscosity > 0.0).then_some(splashdown_couple::fluid_structure::Viscous { viscosity, dt: 1.0 });
    let operators = Operators::new(&problem, held.stepper.guests(), 0, &movable, viscous, &held.options)
        .map_err(failed)?;
    let u = operators.gather(&held.state.velocity);
    let free = operators.masses.len();
    let masses = operators.masses.iter().copied().chain(operators.bound.iter().map(|face| face.mass));
    let (mut momentum, mut energy, mut size) = (Vector::zeros(), 0.0, 0.0);
    for (number, (mass, u)) in masses.zip(&u).enumerate() {
        let (map, first) =
            if number < free { (&operators.free, number) } else { (&operators.bound_numbers, number - free) };
        let axis = usize::from(first >= map.first(1));
        momentum[axis] += mass * u;
        energy += 0.5 * mass * u * u;
        size += (mass * u).abs();
    }
    for solid in &held.solids {
        let Some(mass) = &solid.mass else { continue };
        let push = mass.times(&solid.twist);
        momentum += push.linear;
        energy += 0.5 * push.dot(&solid.twist);
        size += push.linear.norm();
    }
    Ok((momentum, energy, size))
}
