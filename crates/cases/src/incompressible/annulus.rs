//! A ring of incompressible material in the plane, set in motion radially: `r dr/dt` is the same everywhere, so that the inner radius `a` obeys an ordinary
//! differential equation,
//!
//! ```text
//! rho [(a a'' + a'^2) ln(b/a) + 1/2 a'^2 (a^2/b^2 - 1)] = -mu [ln(l_a/l_b) + 1/2 (l_b^-2 - l_a^-2)],   b^2 = a^2 + 3,
//! ```
//!
//! with the stretches `l_a = a`, `l_b = b/2`, `mu = rho = 1`, `a(0) = 1`, `a'(0) = 0.5`.
//!
//! Source: spec/incompressible-solids.md 5.2 A: peak 1.35356 at 1.2205, period 4.2270.

use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::step_alone;
use splashdown_deformable::element::{Damping, DampingKind, Material};
use splashdown_deformable::incompressible::{Incompressible, IncompressibleOptions, Rings};
use splashdown_deformable::integrate::{Integrator, Motion, Scheme};
use splashdown_deformable::material::{Lame, Law, Model};
use splashdown_deformable::{Elements, Solid};
use splashdown_geometry::mesh::TriangleMesh;
use splashdown_math::Vector;
use std::f64::consts::PI;

pub(super) const CASE: Case = Case {
    name: "incompressible/annulus",
    spec: "A (incompressible-solids), INC-3, INC-4, INC-5, INC-7, INC-21",
    summary: "an incompressible ring that oscillates radially: peak, time of the peak, order, volume of every one-ring",
    source: "exact: the ordinary differential equation; spec/incompressible-solids.md 5.2 A",
    speed: Speed::Fast,
    seconds: 8.0,
    run,
};

pub(super) const FINE: Case = Case {
    name: "incompressible/annulus-fine",
    spec: "A (incompressible-solids), INC-3, INC-4, INC-5, INC-7, INC-21",
    summary: "the incompressible ring that oscillates, on the finest mesh of the specification: peak, period, error, volumes",
    source: "exact: the ordinary differential equation; spec/incompressible-solids.md 5.2 A",
    speed: Speed::Slow,
    seconds: 120.0,
    run: run_fine,
};

/// `a` and `a'` of the exact motion after `time`, by the classical Runge-Kutta method.
fn exact(time: f64) -> (f64, f64) {
    let slope = |[a, rate]: [f64; 2]| {
        let b = (a * a + 3.0).sqrt();
        let (inner, outer) = (a, 0.5 * b);
        let stress = (inner / outer).ln() + 0.5 * (outer.powi(-2) - inner.powi(-2));
        let log = (b / a).ln();
        let inertia = rate * rate * log + 0.5 * rate * rate * (a * a / (b * b) - 1.0);
        [rate, (-stress - inertia) / (a * log)]
    };
    let count = (time / 1e-4).ceil().max(1.0) as usize;
    let step = time / count as f64;
    let mut y = [1.0, 0.5];
    let add = |y: [f64; 2], k: [f64; 2], f: f64| [y[0] + f * k[0], y[1] + f * k[1]];
    for _ in 0..count {
        let k1 = slope(y);
        let k2 = slope(add(y, k1, 0.5 * step));
        let k3 = slope(add(y, k2, 0.5 * step));
        let k4 = slope(add(y, k3, step));
        for i in 0..2 {
            y[i] += step / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    (y[0], y[1])
}

/// Triangles of a ring from radius 1 to 2, the squares split along one diagonal, as in the prototype.
pub(super) fn ring(radial: usize, around: usize) -> TriangleMesh<2> {
    let mut points = Vec::new();
    for i in 0..=radial {
        for j in 0..around {
            let (r, angle) = (1.0 + i as f64 / radial as f64, 2.0 * PI * j as f64 / around as f64);
            points.push(Vector::<2>::new(r * angle.cos(), r * angle.sin()));
        }
    }
    let at = |i: usize, j: usize| (i * around + j % around) as u32;
    let mut elements = Vec::new();
    for i in 0..radial {
        for j in 0..around {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            elements.extend([[a, b, c], [a, c, d]]);
        }
    }
    TriangleMesh { points, elements }
}

struct Outcome {
    peak: f64,
    peak_time: f64,
    /// When the inner radius is back where it was, on the way out; zero if not within the time.
    period: f64,
    /// Largest difference of the inner radius to the exact one.
    error: f64,
    ring_error: f64,
}

fn simulate(radial: usize, around: usize, dt: f64, end: f64, tolerance: f64) -> Result<Outcome, CaseError> {
    let failed = |error: &dyn std::fmt::Display| CaseError::new("simulating the ring", error.to_string());
    let mesh = ring(radial, around);
    let material = Material {
        law: Law::safe(Model::NeoHookean),
        lame: Lame::new(2.0, 0.0).map_err(|error| failed(&error))?,
        density: 1.0,
        damping: Damping { kind: DampingKind::Linear, time: 0.0 },
    };
    let elements = Elements::triangles(&mesh, 0, material).map_err(|error| failed(&error))?;
    let mut mass = vec![0.0; mesh.points.len()];
    elements.add_masses(&mut mass);
    let mut solid = Solid::<2>::new(mass, vec![false; mesh.points.len()], Vector::zeros());
    solid.add(elements);
    let position: Vec<f64> = mesh.points.iter().flat_map(|x| [x[0], x[1]]).collect();
    let velocity = mesh.points.iter().flat_map(|x| {
        let v = x * (0.5 / x.norm_squared());
        [v[0], v[1]]
    });
    let mut motion = Motion { velocity: velocity.collect(), position, time: 0.0 };
    let simplices: Vec<u32> = mesh.elements.iter().flatten().copied().collect();
    let rings = Rings::<2>::new(3, &simplices, &motion.position).ok_or_else(|| failed(&"no rings"))?;
    let options = IncompressibleOptions { tolerance, max_iterations: 5000, ..Default::default() };
    let mut integrator = Integrator::<2>::new(Scheme::B);
    integrator.incompressible = Some(Incompressible::new(rings, options));
    let mut out = Outcome { peak: 0.0, peak_time: 0.0, period: 0.0, error: 0.0, ring_error: 0.0 };
    let radius =
        |motion: &Motion| (0..around).map(|node| motion.point::<2>(node).norm()).sum::<f64>() / around as f64;
    let mut history = vec![radius(&motion)];
    for step in 1..=(end / dt).round() as usize {
        step_alone(&mut solid, &mut integrator, &mut motion, dt).map_err(|error| failed(&error))?;
        let now = radius(&motion);
        history.push(now);
        out.error = out.error.max((now - exact(step as f64 * dt).0).abs());
        if let Some(body) = &mut integrator.incompressible {
            out.ring_error = out.ring_error.max(body.errors(&motion.position).0);
        }
    }
    // The parabola through the highest point and its neighbours.
    for (at, three) in history.windows(3).enumerate() {
        let [a, b, c] = [three[0], three[1], three[2]];
        if b >= a && b >= c && b > out.peak {
            let shift = 0.5 * (a - c) / (a - 2.0 * b + c);
            out.peak = b - 0.25 * (a - c) * shift;
            out.peak_time = (at as f64 + 1.0 + shift) * dt;
        }
        if at > 0 && out.period == 0.0 && a < 1.0 && b >= 1.0 {
            out.period = (at as f64 + (1.0 - a) / (b - a)) * dt;
        }
    }
    Ok(out)
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    // The equation itself, against the numbers of the specification.
    out.near("exact peak of the inner radius", "equation", exact(1.2205).0, 1.35356, 1e-5, CASE.source);
    let (mut rising, mut falling) = (1.0, 1.5);
    while falling - rising > 1e-6 {
        let middle = 0.5 * (rising + falling);
        if exact(middle).1 > 0.0 { rising = middle } else { falling = middle }
    }
    out.near("exact time of the peak (s)", "equation", rising, 1.2205, 5e-4, CASE.source);
    out.near("exact inner radius after one period", "equation", exact(4.2270).0, 1.0, 1e-4, CASE.source);

    // Peaks and errors of the specification's own prototype, errors within 20 percent.
    let tables = [(4, 24, 0.02, 1.35028, 0.088, 8.8e-5), (8, 48, 0.01, 1.35289, 0.033, 2.6e-5)];
    let mut peak_errors = Vec::new();
    for (radial, around, dt, peak, error, ring_error) in tables {
        let name = format!("{radial} x {around}, {dt} s");
        let tight = simulate(radial, around, dt, 6.0, 1e-9)?;
        out.at_most(
            "error of the peak",
            &name,
            (tight.peak - 1.35356).abs(),
            1.2 * (peak - 1.35356f64).abs(),
            CASE.source,
        );
        out.near("time of the peak (s)", &name, tight.peak_time, 1.2205, 0.02, CASE.source);
        // It falls behind by no more than what the radius is off by over its speed there.
        out.near("period (s)", &name, tight.period, 4.2270, 1.2 * error / 0.5, CASE.source);
        out.at_most("largest error of the inner radius to 6 s", &name, tight.error, 1.2 * error, CASE.source);
        out.at_most(
            "largest relative error of a ring's area",
            &name,
            tight.ring_error,
            1.2 * ring_error,
            CASE.source,
        );
        peak_errors.push((tight.peak - 1.35356).abs());
    }
    out.at_least(
        "order of the peak",
        "4 to 8 cells",
        (peak_errors[0] / peak_errors[1]).log2(),
        1.8,
        CASE.source,
    );
    for (radial, around, dt, most) in [(4, 24, 0.02, 0.0064), (8, 48, 0.01, 0.0048)] {
        let loose = simulate(radial, around, dt, 6.0, 1e-2)?;
        let name = format!("{radial} x {around}, {dt} s");
        let what = "largest error of a ring's area at 1 % residual";
        out.at_most(what, &name, loose.ring_error, most, CASE.source);
    }
    Ok(())
}

fn run_fine(out: &mut Measurements) -> Result<(), CaseError> {
    let name = "16 x 96, 0.005 s";
    let tight = simulate(16, 96, 0.005, 6.0, 1e-9)?;
    let off = (tight.peak - 1.35356).abs();
    out.at_most("error of the peak", name, off, 1.2 * (1.35347 - 1.35356f64).abs(), FINE.source);
    out.near("time of the peak (s)", name, tight.peak_time, 1.2205, 0.002, FINE.source);
    out.near("period (s)", name, tight.period, 4.2270, 1.2 * 0.0099 / 0.5, FINE.source);
    let what = "largest error of the inner radius to 6 s";
    out.at_most(what, name, tight.error, 1.2 * 0.0099, FINE.source);
    let what = "largest relative error of a ring's area";
    out.at_most(what, name, tight.ring_error, 1.2 * 7e-6, FINE.source);
    let loose = simulate(16, 96, 0.005, 6.0, 1e-2)?;
    let what = "largest error of a ring's area at 1 % residual";
    out.at_most(what, name, loose.ring_error, 0.0014, FINE.source);
    Ok(())
}
