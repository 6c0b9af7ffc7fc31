//! The forms of the coupled system against each other and against what is exact (FS-T2, FS-T5, FS-T14, FS-T15).
//!
//! * **Interface pressure**: half a dual cell of each of two materials; with pressures `p` and `q` at its ends, both accelerate by `(p - q) / (dx (rho1 + rho2) / 2)`, and push on each other with
//!   `(rho2 p + rho1 q) / (rho1 + rho2)`.
//! * **Pressures, impulses, all unknowns, lumped masses**: the same velocities of bodies in a random flow.
//! * **Piston**: told to make a closed box smaller, it cannot; the flux is taken off evenly over the walls of the region, told, and what is left has no divergence.

use super::super::fluid::setup::{domain, failed};
use super::setup::{Held, IMPROVED};
use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use splashdown_couple::fluid_structure::{CoupledParts, CouplingForm, CouplingOptions};
use splashdown_fluid::{FluidModel, Liquid, Side};
use splashdown_geometry::shapes::Shape;
use splashdown_math::Vector;
use splashdown_solve::{CsrMatrix, NullSpace, Stopping};

pub(super) const CASE: Case = Case {
    name: "fsi/forms",
    spec: "FS-2, FS-24, FS-T2, FS-T5, FS-T14, FS-T15",
    summary: "the forms of the coupled system agree; interface pressure of two materials; a piston in a closed box",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 3.0,
    run,
};

const SOURCE: &str = "exact (spec/fluid-structure.md 3.1, 3.6, 3.10)";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let forms = [
        ("impulses", CouplingForm::Impulses),
        ("all unknowns", CouplingForm::Kkt),
        ("lumped", CouplingForm::Lumped),
    ];
    // The forms with impulses subtract what each half had before, which is up to a million times as much.
    let error = interface(CouplingForm::Lumped)?;
    measurements.at_most(
        "error of velocity and pressure at an interface, relative",
        "1e-6 to 1e6",
        error,
        1e-12,
        SOURCE,
    );
    for n in [16, 32] {
        let ours = velocities(n, CouplingForm::Pressure)?;
        let lumped = velocities(n, CouplingForm::Lumped)?;
        for (name, form) in forms {
            let other = velocities(n, form)?;
            let row = format!("difference of the bodies' velocities to those by pressures, {name}");
            measurements.at_most(&row, &n.to_string(), difference(&other, &ours), 1e-9, SOURCE);
        }
        let impulses = velocities(n, CouplingForm::Impulses)?;
        let row = "difference between impulses and consistent lumping";
        measurements.at_most(row, &n.to_string(), difference(&impulses, &lumped), 1e-11, SOURCE);
    }
    for viscosity in [0.0, 1.0] {
        let [correction, divergence] = piston(viscosity)?;
        let what = format!("viscosity {viscosity}");
        // Half a metre a second through one metre, over the 3.5 m around the fluid.
        let exact = 0.5 / 3.5;
        measurements.near("speed of walls that give way (m/s)", &what, correction, exact, 1e-9, SOURCE);
        measurements.at_most("|div u| dt left", &what, divergence, 1e-8, SOURCE);
    }
    Ok(())
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    let size = b.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs())) / size
}

/// Largest relative error of the velocity of both halves, and of the pressure between them, for ratios of densities from 1e-6 to 1e6.
fn interface(form: CouplingForm) -> Result<f64, CaseError> {
    let (dx, area, dt, p, q) = (0.1, 0.3, 0.01, 7.0, 3.0);
    let mut worst = 0.0f64;
    for power in -6..=6 {
        let [fluid, solid] = [1.0, 10f64.powi(power)].map(|density| 0.5 * density * dx * area);
        // A face far from it gives the pressures something to do.
        let parts = CoupledParts {
            face_mass: vec![1.0, fluid],
            free: 1,
            divergence: CsrMatrix::from_rows(2, [vec![(0, 1.0)]]).map_err(failed)?,
            known_flux: vec![0.0],
            strain: CsrMatrix::zeros(0, 2),
            known_strain: vec![],
            sampling: CsrMatrix::from_rows(1, [vec![(0, 1.0)]]).map_err(failed)?,
            source: vec![0.0],
            direct: CsrMatrix::zeros(1, 1),
            scalar_mass: vec![solid],
            bodies: vec![],
            twist: 3,
            damping: CsrMatrix::zeros(0, 1),
            demands: CsrMatrix::zeros(0, 1),
            demanded: vec![],
            unfactored: None,
            centred: vec![],
        };
        // Each has felt the pressure at its own end.
        let (u, v) = (dt * area * p / fluid, -dt * area * q / solid);
        let none = NullSpace::new(1, &[]).map_err(failed)?;
        let stopping = Stopping { max_iterations: 1000, ..Stopping::relative(1e-15) };
        let solved = parts.solve(form, &[0.0, u], &[v], &none, stopping).map_err(failed)?;
        let exact = dt * area * (p - q) / (fluid + solid);
        let between = p - fluid * solved.faces[1] / (dt * area);
        let ends = (solid * p + fluid * q) / (fluid + solid);
        // The fast half is known to rounding of what it had.
        let scale = exact.abs().max(1e-3 * u.abs().min(v.abs()));
        worst =
            worst.max((solved.faces[1] - exact).abs() / scale).max((solved.solids[0] - exact).abs() / scale);
        worst = worst.max((between - ends).abs() / ends);
    }
    Ok(worst)
}

/// Velocities of two bodies in a closed box of random flow after a solve.
fn velocities(n: usize, form: CouplingForm) -> Result<Vec<f64>, CaseError> {
    let sides = [[Side::wall(); 2], [Side::wall(), Side::open()]];
    let mut model = FluidModel::new(domain([n, n], 1.0 / n as f64, sides)?, Liquid::new("fluid", 1.0));
    (model.options.pressure.divergence, model.options.pressure.relative) = (1e-13, 1e-13);
    model.options.pressure.max_iterations = 1000;
    let ball = |radius: f64, at: [f64; 2], mass: f64| {
        Shape::ball(radius)
            .map_err(failed)
            .map(|shape| (shape, Vector::from(at), Some((mass, vec![0.01 * mass]))))
    };
    let bodies = vec![ball(0.17, [0.3, 0.3], 0.2)?, ball(0.13, [0.7, 0.66], 3.0)?];
    let mut held = Held::new(model, bodies, CouplingOptions { form, ..IMPROVED })?;
    // A flow that is the same on every grid.
    let mut random = Pcg64Mcg::seed_from_u64(5);
    let waves: Vec<[f64; 3]> =
        (0..6).map(|_| std::array::from_fn(|_| random.random_range(-6.0..6.0))).collect();
    for axis in 0..2 {
        let lattice = *held.state.velocity.component(axis).lattice();
        held.state.velocity.component_mut(axis).update(|face, _| {
            let x = lattice.position(face);
            waves[3 * axis..3 * axis + 3].iter().map(|[a, b, c]| (a * x[0] + b * x[1] + c).sin()).sum()
        });
    }
    held.solids[0].twist.linear = Vector::from([0.3, -0.2]);
    held.solids[0].twist.angular[0] = 0.4;
    held.step(0.1)?;
    Ok(held
        .solids
        .iter()
        .flat_map(|solid| [solid.twist.linear[0], solid.twist.linear[1], solid.twist.angular[0]])
        .collect())
}

/// Speed (m/s) at which walls had to give way for a piston in a closed box, and `|div u| dt` left.
fn piston(viscosity: f64) -> Result<[f64; 2], CaseError> {
    let n = 20;
    let mut model = FluidModel::new(
        domain([n, n], 1.0 / n as f64, [[Side::wall(); 2]; 2])?,
        Liquid { viscosity, ..Liquid::new("fluid", 1.0) },
    );
    model.options.pressure.relative = 1e-12;
    let shape = Shape::cuboid(Vector::from([0.25, 2.0])).map_err(failed)?;
    let mut held = Held::new(model, vec![(shape, Vector::from([0.0, 0.5]), None)], IMPROVED)?;
    held.solids[0].twist.linear[0] = 0.5;
    let report = held.step(0.01)?;
    Ok([
        report.wall_correction,
        held.stepper.problem(&held.model).largest_divergence(&held.state.velocity) * 0.01,
    ])
}
