//! What the rates of ring volumes and the pushes of ring pressures are by definition, on tangled meshes with elements turned inside out:
//! (i) the rate is the derivative of the volume; (ii) for `v = A x + b` it is `tr(A) V`; (iii) pressures have neither resultant nor torque; (iv) both are transposes of each other.
//!
//! Source: spec/incompressible-solids.md 3.2.

use super::bodies::{failed, flat};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_deformable::incompressible::Rings;
use splashdown_geometry::generate::{CubeSplit, Diagonals, ball_tetrahedra, box_tetrahedra, sheet};
use splashdown_math::Vector;
use splashdown_solve::testing::TestNumbers;

pub(super) const CASE: Case = Case {
    name: "incompressible/identities",
    spec: "D (incompressible-solids), INC-2, INC-20",
    summary: "rates of ring volumes and pushes of pressures: derivative, trace, momenta, transposes, with elements inside out",
    source: "exact: spec/incompressible-solids.md 3.2 (i) to (iv)",
    speed: Speed::Fast,
    seconds: 1.0,
    run,
};

fn measure<const D: usize>(
    out: &mut Measurements,
    name: &str,
    simplices: &[u32],
    rest: &[f64],
    noise: f64,
    seed: u64,
) -> Result<(), CaseError> {
    let mut random = TestNumbers::new(seed);
    let mut rings = Rings::<D>::new(D + 1, simplices, rest).ok_or_else(|| failed("no rings"))?;
    let x: Vec<f64> = rest.iter().map(|x| x + random.uniform(-noise, noise)).collect();
    let (v, p) = (random.vector(x.len()), random.vector(rings.len()));
    rings.update(&x);
    let (mut rate, mut push) = (vec![0.0; rings.len()], vec![0.0; x.len()]);
    rings.apply(&v, &mut rate);
    rings.add_transpose(&p, &mut push);
    let largest = |values: &[f64]| values.iter().fold(0.0f64, |most, value| most.max(value.abs()));

    // Volumes are polynomials of degree D along a line: the central difference errs by the cubic term alone, which Richardson's rule removes.
    let volumes = |step: f64| {
        let mut moved = rings.clone();
        moved.update(&x.iter().zip(&v).map(|(x, v)| x + step * v).collect::<Vec<_>>());
        moved.ring_volumes()
    };
    let slope = |step: f64| -> Vec<f64> {
        let pairs = volumes(step).into_iter().zip(volumes(-step));
        pairs.map(|(after, before)| (after - before) / (2.0 * step)).collect()
    };
    let (wide, narrow) = (slope(0.5), slope(0.25));
    let derivative = wide.iter().zip(&narrow).map(|(wide, narrow)| (4.0 * narrow - wide) / 3.0);
    let error = derivative.zip(&rate).fold(0.0f64, |most, (slope, rate)| most.max((slope - rate).abs()));
    out.at_most(
        "(i) rate against the derivative of the volume, relative",
        name,
        error / largest(&rate),
        1e-12,
        CASE.source,
    );

    let a: Vec<f64> = random.vector(D * D);
    let trace: f64 = (0..D).map(|i| a[i * D + i]).sum();
    let affine: Vec<f64> = x
        .chunks_exact(D)
        .flat_map(|x| {
            (0..D).map(|i| (0..D).map(|k| a[i * D + k] * x[k]).sum::<f64>() + 0.4).collect::<Vec<_>>()
        })
        .collect();
    let mut affine_rate = vec![0.0; rings.len()];
    rings.apply(&affine, &mut affine_rate);
    let volumes = rings.ring_volumes();
    let error = affine_rate
        .iter()
        .zip(&volumes)
        .fold(0.0f64, |most, (rate, volume)| most.max((rate - trace * volume).abs()));
    out.at_most(
        "(ii) rate of an affine motion against the trace, relative",
        name,
        error / largest(&volumes),
        1e-12,
        CASE.source,
    );

    let (mut sum, mut torque) = (Vector::<D>::zeros(), [0.0f64; 3]);
    for (x, f) in x.chunks_exact(D).zip(push.chunks_exact(D)) {
        sum += Vector::<D>::from_column_slice(f);
        for (axis, torque) in torque.iter_mut().enumerate() {
            let (a, b) = ((axis + 1) % 3, (axis + 2) % 3);
            if a < D && b < D {
                *torque += x[a] * f[b] - x[b] * f[a];
            }
        }
    }
    let scale: f64 = push.iter().map(|f| f.abs()).sum();
    out.at_most("(iii) resultant of the pressures, relative", name, sum.amax() / scale, 1e-12, CASE.source);
    out.at_most(
        "(iii) torque of the pressures, relative",
        name,
        largest(&torque) / scale,
        1e-12,
        CASE.source,
    );

    let work: f64 = p.iter().zip(&rate).map(|(p, rate)| p * rate).sum();
    let other: f64 = push.iter().zip(&v).map(|(f, v)| f * v).sum();
    out.at_most(
        "(iv) transposes of each other, relative",
        name,
        (work - other).abs() / scale,
        1e-12,
        CASE.source,
    );
    Ok(())
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let square = sheet(
        Vector::<2>::zeros(),
        Vector::<2>::new(1.0, 0.0),
        Vector::<2>::new(0.0, 1.0),
        [6; 2],
        Diagonals::Forward,
    )
    .map_err(failed)?;
    let corners: Vec<u32> = square.elements.iter().flatten().copied().collect();
    measure::<2>(out, "square of triangles, tangled", &corners, &flat(&square.points), 0.3, 3)?;
    for (seed, (name, split)) in [("five", CubeSplit::Five), ("six", CubeSplit::Six)].into_iter().enumerate()
    {
        let cube = box_tetrahedra(Vector::zeros(), Vector::repeat(1.0), [4; 3], split).map_err(failed)?;
        let corners: Vec<u32> = cube.elements.iter().flatten().copied().collect();
        let name = format!("cubes of {name} tetrahedra, tangled");
        measure::<3>(out, &name, &corners, &flat(&cube.points), 0.4, 5 + seed as u64)?;
    }
    let ball = ball_tetrahedra(Vector::zeros(), 1.0, 4).map_err(failed)?;
    let corners: Vec<u32> = ball.elements.iter().flatten().copied().collect();
    measure::<3>(out, "ball, tangled", &corners, &flat(&ball.points), 0.4, 9)
}
