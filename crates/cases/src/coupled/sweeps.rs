//! The forms of the constrained velocity solve on one problem: thirty particles with damped springs, fourteen constraints of four particles each on twelve of them, so that they overlap.
//!
//! The projected form is exact. Sweeps leave something of the constraints, and a solve that is driven below that only finds the forbidden directions: the tolerance is raised to what they
//! leave, and that is said. The positive definite and the indefinite system get nearer with every tolerance.

use super::set_up::failed;
use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use splashdown_deformable::integrate::{
    ConstraintForm, ConstraintRow, IntegrationReport, Integrator, Scheme,
};
use splashdown_deformable::{EdgeSpring, EdgeSprings, Solid};
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "coupled/constraint-forms",
    spec: "5.2-F (rigid-deformable-coupling), RDC-24, RDC-25, RDC-29",
    summary: "one constrained velocity solve by exact projection, by sweeps, by the positive definite and by the indefinite system",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 1.0,
    run,
};

const SOURCE: &str = "spec/rigid-deformable-coupling.md 3.8";

const TAU: f64 = 0.01;

/// The solid, the velocity to start from, and the constraints.
fn problem(seed: u64) -> Result<(Solid<3>, Vec<f64>, Vec<ConstraintRow<3>>), CaseError> {
    let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
    let mut number = |least: f64, most: f64| random.random_range(least..most);
    let masses: Vec<f64> = (0..30).map(|_| number(0.5, 2.0)).collect();
    let position: Vec<f64> = (0..90).map(|_| number(0.0, 1.0)).collect();
    let velocity: Vec<f64> = (0..90).map(|_| number(-1.0, 1.0)).collect();
    let mut solid = Solid::new(masses, vec![false; 30], Vector::zeros());
    let springs: Vec<EdgeSpring> = (0..30u32)
        .flat_map(|i| [1, 3, 7].map(|step| [i, (i + step) % 30]))
        .map(|ends| EdgeSpring { ends, rest: 0.5, stiffness: 0.0, damping: number(20.0, 200.0) })
        .collect();
    solid.add(EdgeSprings::<3>::new("springs", &springs));
    solid.update(&position).map_err(failed("placing the particles"))?;
    let rows = (0..14)
        .map(|_| {
            let mut nodes = Vec::new();
            while nodes.len() < 4 {
                let node = number(0.0, 12.0) as u32;
                if !nodes.contains(&node) {
                    nodes.push(node);
                }
            }
            let normal =
                Vector::<3>::new(number(-1.0, 1.0), number(-1.0, 1.0), number(-1.0, 1.0)).normalize();
            let weights = [1.0, -number(0.1, 0.5), -number(0.1, 0.5), -number(0.1, 0.5)];
            let particles: Vec<(u32, Vector<3>)> =
                nodes.into_iter().zip(weights.map(|weight| normal * weight)).collect();
            let now: f64 = particles
                .iter()
                .map(|(node, factor)| {
                    factor.dot(&Vector::<3>::from_column_slice(&velocity[3 * *node as usize..][..3]))
                })
                .sum();
            ConstraintRow { particles, carriers: Vec::new(), change: -now }
        })
        .collect();
    Ok((solid, velocity, rows))
}

fn solve(
    seed: u64,
    form: ConstraintForm,
    tolerance: f64,
) -> Result<(Vec<f64>, IntegrationReport), CaseError> {
    let (solid, velocity, rows) = problem(seed)?;
    let mut integrator = Integrator::<3>::new(Scheme::B);
    (integrator.form, integrator.tolerance, integrator.rows) = (form, tolerance, rows);
    let mut report = IntegrationReport::default();
    let end =
        integrator.constrained_velocity(&solid, &velocity, TAU, &mut report).map_err(failed("solving"))?;
    Ok((end, report))
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let size: f64 = b.iter().map(|b| b * b).sum();
    (a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / size).sqrt()
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    const TOLERANCES: [f64; 4] = [1e-1, 1e-2, 1e-4, 1e-8];
    const SWEEPS: [usize; 4] = [1, 4, 16, 64];
    let seeds = 0..8;
    let resolution = "14 constraints on 12 of 30 particles, 8 problems";
    let (mut apart, mut rises, mut swept, mut unflagged, mut kept) = (0.0f64, 0, [0.0f64; 4], 0, 0.0f64);
    for seed in seeds {
        let (exact, _) = solve(seed, ConstraintForm::Projection, 1e-13)?;
        let (_, _, rows) = problem(seed)?;
        for row in &rows {
            let speed: f64 = row
                .particles
                .iter()
                .map(|(node, factor)| {
                    factor.dot(&Vector::<3>::from_column_slice(&exact[3 * *node as usize..][..3]))
                })
                .sum();
            kept = kept.max(speed.abs());
        }
        for form in [ConstraintForm::PositiveDefinite, ConstraintForm::Indefinite] {
            let mut last = f64::INFINITY;
            for tolerance in TOLERANCES {
                let error = distance(&solve(seed, form, tolerance)?.0, &exact);
                rises += usize::from(error > last);
                last = error;
            }
            apart = apart.max(last);
        }
        for (sweeps, worst) in SWEEPS.into_iter().zip(&mut swept) {
            for tolerance in TOLERANCES {
                let (end, report) = solve(seed, ConstraintForm::Sweeps(sweeps), tolerance)?;
                unflagged += usize::from(tolerance < report.leak && report.loosened == 0);
                if tolerance == 1e-8 {
                    *worst = worst.max(distance(&end, &exact));
                }
            }
        }
    }
    let worse = swept.windows(2).filter(|pair| pair[1] > pair[0]).count();
    out.at_most("speed of constraints, exact projection (m/s)", resolution, kept, 1e-10, SOURCE);
    out.at_most("error of the systems in impulses at 1e-8", resolution, apart, 1e-6, SOURCE);
    out.at_most("their errors that rise with a smaller tolerance", resolution, rises as f64, 0.0, SOURCE);
    out.at_most(
        "unsafe tolerances of sweeps that are not flagged",
        resolution,
        unflagged as f64,
        0.0,
        SOURCE,
    );
    out.at_most("errors asked for 1e-8 that rise with more sweeps", resolution, worse as f64, 0.0, SOURCE);
    out.at_most(
        "error of 64 sweeps asked for 1e-8",
        resolution,
        swept[3],
        0.034,
        "16 sweeps without care: 0.034",
    );
    Ok(())
}
