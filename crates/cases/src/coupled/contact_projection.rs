//! The contacts of a rigid body with particles, kept by one 6 x 6 system: the same map as the dense `1 - M^-1 C (C^T M^-1 C)^-1 C^T`, idempotent and symmetric in `M`.
//!
//! Source: spec/rigid-deformable-coupling.md 3.8, 5.2-C.

use super::set_up::failed;
use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use splashdown_deformable::Solid;
use splashdown_deformable::integrate::{Carrier, Carriers, IntegrationReport, Integrator, Link, Scheme};
use splashdown_math::{Coordinates, Dim, Space, Vector};

pub(super) const CASE: Case = Case {
    name: "coupled/contact-projection",
    spec: "5.2-C (rigid-deformable-coupling), RDC-24, RDC-25",
    summary: "the 6 x 6 projection of a body's contacts against the dense one",
    source: "exact: linear algebra; spec/rigid-deformable-coupling.md 3.8",
    speed: Speed::Fast,
    seconds: 0.2,
    run,
};

/// Particles, and numbers in a velocity with the body's twist at the end.
const COUNT: usize = 5;
const SIZE: usize = 3 * COUNT + 6;

struct Problem {
    integrator: Integrator<3>,
    solid: Solid<3>,
    mass: Vec<Vec<f64>>,
    rows: Vec<Vec<f64>>,
}

fn problem(seed: u64) -> Problem {
    let mut random = rand_pcg::Pcg64::seed_from_u64(seed);
    let mut number = |least: f64, most: f64| random.random_range(least..most);
    let masses: Vec<f64> = (0..COUNT).map(|_| number(0.3, 3.0)).collect();
    let turn = Vector::<3>::new(number(-1.0, 1.0), number(-1.0, 1.0), number(-1.0, 1.0));
    let moments = [number(0.5, 2.0), number(0.5, 2.0), number(0.5, 2.0)];
    let inertia =
        Dim::<3>::rotate_inertia(&Dim::<3>::exp(&turn), &Dim::<3>::inertia_from_principal(&moments));
    let body = Carrier::<3> { mass: number(1.0, 20.0), inertia, dynamic: true };
    let mut mass = vec![vec![0.0; SIZE]; SIZE];
    for k in 0..3 * COUNT {
        mass[k][k] = masses[k / 3];
    }
    for k in 0..3 {
        mass[3 * COUNT + k][3 * COUNT + k] = body.mass;
        let mut spin = Vector::<3>::zeros();
        spin[k] = 1.0;
        let column = Dim::<3>::apply_inertia(&inertia, &spin);
        for (row, value) in Coordinates::as_slice(&column).iter().enumerate() {
            mass[3 * COUNT + 3 + row][3 * COUNT + 3 + k] = *value;
        }
    }
    let (mut links, mut rows) = (Vec::new(), Vec::new());
    for particle in 0..COUNT {
        let normal = Vector::<3>::new(number(-1.0, 1.0), number(-1.0, 1.0), number(-1.0, 1.0)).normalize();
        let arm = Vector::<3>::new(number(-1.0, 1.0), number(-1.0, 1.0), number(-1.0, 1.0));
        links.push(Link { particle: particle as u32, carrier: Some(0), normal, arm, change: 0.0 });
        let mut row = vec![0.0; SIZE];
        row[3 * particle..3 * particle + 3].copy_from_slice(normal.as_slice());
        for (k, value) in normal.iter().chain(arm.cross(&normal).iter()).enumerate() {
            row[3 * COUNT + k] = -value;
        }
        rows.push(row);
    }
    let mut integrator = Integrator::<3>::new(Scheme::B);
    integrator.tolerance = 1e-14;
    integrator.carriers = Some(Carriers::new(vec![body], Vec::new()));
    integrator.links = links;
    Problem { integrator, solid: Solid::new(masses, vec![false; COUNT], Vector::zeros()), mass, rows }
}

/// Solves a dense system by elimination with pivots.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).fold(k, |best, i| if a[i][k].abs() > a[best][k].abs() { i } else { best });
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        b[k] = (b[k] - (k + 1..n).map(|j| a[k][j] * b[j]).sum::<f64>()) / a[k][k];
    }
    b
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Problem {
    /// The dense projection.
    fn dense(&self, v: &[f64]) -> Vec<f64> {
        let lifted: Vec<Vec<f64>> =
            self.rows.iter().map(|row| solve(self.mass.clone(), row.clone())).collect();
        let schur = self.rows.iter().map(|a| lifted.iter().map(|b| dot(a, b)).collect()).collect();
        let impulses = solve(schur, self.rows.iter().map(|row| dot(row, v)).collect());
        let mut out = v.to_vec();
        for (impulse, lifted) in impulses.iter().zip(&lifted) {
            out.iter_mut().zip(lifted).for_each(|(v, l)| *v -= impulse * l);
        }
        out
    }

    /// The one of the velocity solve, with no force in it: the relative normal velocities of all contacts are taken away.
    fn ours(&mut self, v: &[f64]) -> Result<Vec<f64>, CaseError> {
        for (link, row) in self.integrator.links.iter_mut().zip(&self.rows) {
            link.change = -dot(row, v);
        }
        let mut report = IntegrationReport::default();
        let end = (self.integrator)
            .constrained_velocity(&self.solid, &v[..3 * COUNT], 0.01, &mut report)
            .map_err(failed("solving"))?;
        let mut out = end;
        let change = self.integrator.carriers.as_ref().and_then(|carriers| carriers.change.first());
        let change = change.ok_or_else(|| failed("solving")("the body has not been changed"))?;
        let twist = change.linear.iter().chain(Coordinates::as_slice(&change.angular));
        out.extend(v[3 * COUNT..].iter().zip(twist).map(|(v, change)| v + change));
        Ok(out)
    }

    fn times_mass(&self, v: &[f64]) -> Vec<f64> {
        self.mass.iter().map(|row| dot(row, v)).collect()
    }
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let (mut apart, mut again, mut skew, mut kept, mut gained) = (0.0f64, 0.0f64, 0.0f64, 0.0f64, 0.0f64);
    for seed in 0..20 {
        let mut problem = problem(seed);
        let vector = |shift: f64| -> Vec<f64> { (0..SIZE).map(|k| (shift + 1.7 * k as f64).sin()).collect() };
        let (x, y) = (vector(seed as f64), vector(0.4 + 3.0 * seed as f64));
        let (px, py) = (problem.ours(&x)?, problem.ours(&y)?);
        let twice = problem.ours(&px)?;
        let far = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        apart = apart.max(far(&px, &problem.dense(&x)));
        again = again.max(far(&twice, &px));
        let size = dot(&x, &problem.times_mass(&x));
        skew = skew.max((dot(&px, &problem.times_mass(&y)) - dot(&py, &problem.times_mass(&x))).abs() / size);
        gained = gained.max(dot(&px, &problem.times_mass(&px)) / size);
        kept = kept.max(problem.rows.iter().map(|row| dot(row, &px).abs()).fold(0.0, f64::max));
    }
    let resolution = "5 contacts, 20 problems";
    out.at_most("difference to the dense projection", resolution, apart, 1e-12, CASE.source);
    out.at_most("difference when projected twice", resolution, again, 1e-12, CASE.source);
    out.at_most("asymmetry in M, relative", resolution, skew, 1e-12, CASE.source);
    out.at_most("speed of contacts that is left", resolution, kept, 1e-12, CASE.source);
    out.at_most("energy over that before", resolution, gained, 1.0, CASE.source);
    Ok(())
}
