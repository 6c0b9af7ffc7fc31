//! Fast marching: the distance to a circle or sphere from a field that vanishes there but is no distance.
//!
//! `phi = (|x|^2 - 1/4) exp(x - y/2)` on [-1, 1]^D with cells of unequal edges; exact `|x| - 1/2`. First-order differences err by O(h) (with a
//! logarithm), second-order ones with the closest point on the cubic interpolant next to the interface by O(h^2), both away from the kink at
//! the centre, where the front converges and the error grows with (h / r)^2; the ball of radius 0.3 around it is left out. No sample may change side, on noise either.

use super::convergence;
use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use splashdown_geometry::grid::{Field, Grid, Location};
use splashdown_geometry::level_set::{FastMarching, InterfaceDistance, MarchingOrder, redistance};
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "foundation/fast-marching-order",
    spec: "FB-T12",
    summary: "fast marching of a sphere: orders 1 and 2, signs kept",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 6.0,
    run,
};

const SOURCE: &str = "exact: |x| - 1/2; spec fluid-base FB-T12 (first order; second-order option >= 1.8)";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    dimension::<2>(measurements, &[40, 80, 160, 320])?;
    dimension::<3>(measurements, &[32, 64, 128])?;
    let flips = flips_on_noise().map_err(|e| CaseError::new("marching noise", e))?;
    measurements.at_most(
        "samples that changed side, 40 random fields",
        "9^3 to 13^3",
        flips as f64,
        0.0,
        SOURCE,
    );
    Ok(())
}

fn dimension<const D: usize>(measurements: &mut Measurements, cells: &[usize]) -> Result<(), CaseError> {
    let finest = format!("{}^{D}", cells[cells.len() - 1]);
    let mut curves = Vec::new();
    for (name, order, interface, expected, bound) in [
        // h log h looks like h^0.85 at these resolutions.
        ("first order", MarchingOrder::First, InterfaceDistance::Linear, 1.0, [0.8, 0.8]),
        ("second order", MarchingOrder::Second, InterfaceDistance::Cubic, 2.0, [1.8, 1.8]),
    ] {
        let options = FastMarching { order, interface, ..Default::default() };
        let mut mean = Vec::new();
        let mut largest = Vec::new();
        for &n in cells {
            let errors = errors::<D>(n, &options).map_err(|e| CaseError::new("marching a sphere", e))?;
            mean.push([2.0 / n as f64, errors[0]]);
            largest.push([2.0 / n as f64, errors[1]]);
            measurements.at_most(
                &format!("{D}D {name}: samples that changed side"),
                &format!("{n}^{D}"),
                errors[2],
                0.0,
                SOURCE,
            );
        }
        let quantity = |norm: &str| format!("{D}D {name}: order of the {norm} error");
        // Between the two finest grids, where the order is closest to its limit.
        let finest_order = |errors: &[[f64; 2]]| convergence::order(&errors[errors.len() - 2..]);
        measurements.at_least(&quantity("mean"), &finest, finest_order(&mean), bound[0], SOURCE);
        measurements.at_least(&quantity("largest"), &finest, finest_order(&largest), bound[1], SOURCE);
        curves.push((format!("{name}, mean"), mean, expected));
        curves.push((format!("{name}, largest"), largest, expected));
    }
    measurements.plot(convergence::plot(&format!("Fast marching, {D}D"), "distance error (m)", &curves));
    Ok(())
}

/// Mean and largest error, and the number of samples that changed side.
fn errors<const D: usize>(n: usize, options: &FastMarching) -> Result<[f64; 3], Box<dyn std::error::Error>> {
    let cells = std::array::from_fn(|a| (n as f64 / 1.2f64.powi(a as i32)).round() as usize);
    let grid = Grid::new(Vector::repeat(-1.0), Vector::from_fn(|a, _| 2.0 / cells[a] as f64), cells)?;
    let start = Field::from_fn(&grid, Location::Cell, |x: &Vector<D>| {
        (x.norm_squared() - 0.25) * (x[0] - 0.5 * x[1]).exp()
    });
    let mut phi = start.clone();
    redistance(&mut phi, options)?;
    let lattice = *phi.lattice();
    let [sum, worst, count, flips] = phi.reduce(
        [0.0; 4],
        |index, value| {
            let r = lattice.position(index).norm();
            let flip = f64::from((start.at(index) <= 0.0) != (value <= 0.0));
            let error = (value - (r - 0.5)).abs();
            if r < 0.3 { [0.0, 0.0, 0.0, flip] } else { [error, error, 1.0, flip] }
        },
        |a, b| [a[0] + b[0], a[1].max(b[1]), a[2] + b[2], a[3] + b[3]],
    );
    Ok([sum / count, worst, flips])
}

fn flips_on_noise() -> Result<usize, Box<dyn std::error::Error>> {
    let mut random = Pcg64Mcg::seed_from_u64(17);
    let mut flips = 0;
    for round in 0..40 {
        let grid = Grid::<3>::new(Vector::zeros(), Vector::from([0.1, 0.2, 0.05]), [9 + round % 5; 3])?;
        let mut start = Field::new(&grid, Location::Node, 0.0);
        for value in start.values_mut() {
            // Half of the rounds have many exact zeros.
            *value = if round % 2 == 0 {
                random.random_range(-1.0..1.0)
            } else {
                random.random_range(-1..=1) as f64
            };
        }
        let mut phi = start.clone();
        redistance(&mut phi, &FastMarching::default())?;
        let wrong =
            |index, value: f64| usize::from((start.at(index) <= 0.0) != (value <= 0.0) || !value.is_finite());
        flips += phi.reduce(0, wrong, |a, b| a + b);
    }
    Ok(flips)
}
