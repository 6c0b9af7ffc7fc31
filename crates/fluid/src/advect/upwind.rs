//! Level-set advection by high-order one-sided differences: HJ-ENO3 and HJ-WENO5 with third-order TVD Runge-Kutta.
//!
//! S. Osher, C.-W. Shu, "High-order essentially nonoscillatory schemes for Hamilton-Jacobi equations", 1991; G.-S. Jiang, D. Peng, "Weighted ENO
//! schemes for Hamilton-Jacobi equations", 2000.

use crate::domain::Domain;
use serde::{Deserialize, Serialize};
use splashdown_geometry::grid::{FaceFields, Field, Index, Location};
use splashdown_math::Vector;

/// One-sided differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UpwindScheme {
    /// Third-order essentially non-oscillatory: the smoothest of three stencils.
    Eno3,
    /// Fifth-order weighted: a blend of the three.
    #[default]
    Weno5,
}

/// `d phi / dx` from the five one-sided differences `d` around the sample, ordered from upwind: `d[2]` is the one next to the sample on the upwind side.
#[inline(always)]
fn eno3(d: [f64; 5]) -> f64 {
    // Second differences around the two candidates, then third.
    let (a, b) = (d[2] - d[1], d[3] - d[2]);
    if a.abs() < b.abs() {
        let (p, q) = (a - (d[1] - d[0]), b - a);
        d[2] + a / 2.0 + (if p.abs() < q.abs() { p } else { q }) / 3.0
    } else {
        let (p, q) = (b - a, (d[4] - d[3]) - b);
        d[2] + b / 2.0 - (if p.abs() < q.abs() { p } else { q }) / 6.0
    }
}

#[inline(always)]
fn weno5(d: [f64; 5]) -> f64 {
    let [v1, v2, v3, v4, v5] = d;
    let s1 = 13.0 / 12.0 * (v1 - 2.0 * v2 + v3).powi(2) + 0.25 * (v1 - 4.0 * v2 + 3.0 * v3).powi(2);
    let s2 = 13.0 / 12.0 * (v2 - 2.0 * v3 + v4).powi(2) + 0.25 * (v2 - v4).powi(2);
    let s3 = 13.0 / 12.0 * (v3 - 2.0 * v4 + v5).powi(2) + 0.25 * (3.0 * v3 - 4.0 * v4 + v5).powi(2);
    let largest = d.iter().fold(0.0f64, |m, v| m.max(v * v));
    let tiny = 1e-6 * largest + 1e-99;
    let a = [0.1 / (tiny + s1).powi(2), 0.6 / (tiny + s2).powi(2), 0.3 / (tiny + s3).powi(2)];
    let candidates = [
        v1 / 3.0 - 7.0 * v2 / 6.0 + 11.0 * v3 / 6.0,
        -v2 / 6.0 + 5.0 * v3 / 6.0 + v4 / 3.0,
        v3 / 3.0 + 5.0 * v4 / 6.0 - v5 / 6.0,
    ];
    (a[0] * candidates[0] + a[1] * candidates[1] + a[2] * candidates[2]) / (a[0] + a[1] + a[2])
}

/// `-u . grad phi` at a cell.
#[inline(always)]
fn rate<const D: usize>(
    scheme: UpwindScheme,
    phi: &Field<D>,
    cell: Index<D>,
    u: &Vector<D>,
    inverse: &Vector<D>,
) -> f64 {
    let (values, lattice) = (phi.values(), phi.lattice());
    let place = lattice.offset(cell);
    let mut sum = 0.0;
    for a in 0..D {
        if u[a] == 0.0 {
            continue;
        }
        // Differences from far upwind to two cells downwind.
        let stride = lattice.strides()[a] as isize;
        let step = if u[a] > 0.0 { stride } else { -stride };
        let at = |k: isize| values[(place as isize + k * step) as usize];
        let d = std::array::from_fn(|k| at(k as isize - 2) - at(k as isize - 3));
        let slope = match scheme {
            UpwindScheme::Eno3 => eno3(d),
            UpwindScheme::Weno5 => weno5(d),
        };
        sum += u[a].abs() * slope * inverse[a];
    }
    -sum
}

/// Carries `phi` (cells, three ghost layers filled) by `velocity` for `dt` seconds with TVD-RK3; `work` is memory for one more field. Needs
/// `dt sum |u| / h <= 1`; a longer step is divided. Ghosts of the result are filled.
/// Of a signed distance only what can come `within` (m) of the surface during the step is carried; infinite carries all.
pub fn advect_level_set<const D: usize>(
    domain: &Domain<D>,
    velocity: &FaceFields<D>,
    phi: &mut Field<D>,
    work: &mut [Field<D>; 2],
    dt: f64,
    scheme: UpwindScheme,
    within: f64,
) {
    advect_ending(domain, velocity, phi, work, dt, scheme, within, &|_| ());
}

/// [`advect_level_set`] of a surface that `end` makes end somewhere, ghosts filled, before every stage.
#[allow(clippy::too_many_arguments)]
pub(crate) fn advect_ending<const D: usize>(
    domain: &Domain<D>,
    velocity: &FaceFields<D>,
    phi: &mut Field<D>,
    work: &mut [Field<D>; 2],
    dt: f64,
    scheme: UpwindScheme,
    within: f64,
    end: &dyn Fn(&mut Field<D>),
) {
    let inverse = domain.grid().spacing().map(|h| 1.0 / h);
    let at_cell = |cell: Index<D>| {
        Vector::<D>::from_fn(|a, _| {
            let mut upper = cell;
            upper[a] += 1;
            let u = velocity.component(a);
            0.5 * (u.at(cell) + u.at(upper))
        })
    };
    let fastest = phi.reduce(0.0, |cell, _| at_cell(cell).abs().dot(&inverse), f64::max);
    let parts = (dt * fastest / 0.9).ceil().clamp(1.0, 1e3);
    let reach = within + dt * fastest * domain.grid().spacing().max();
    let dt = dt / parts;
    let [stage, next] = work;
    stage.relocate(Location::Cell);
    next.relocate(Location::Cell);
    for _ in 0..parts as usize {
        let step = |from: &Field<D>, cell: Index<D>| {
            let value = from.at(cell);
            if value.abs() > reach {
                return value;
            }
            value + dt * rate(scheme, from, cell, &at_cell(cell), &inverse)
        };
        domain.end_at_outlets(phi, velocity);
        end(phi);
        stage.update(|cell, _| step(phi, cell));
        domain.fill_level_set_ghosts(stage);
        domain.end_at_outlets(stage, velocity);
        end(stage);
        next.update(|cell, _| 0.75 * phi.at(cell) + 0.25 * step(stage, cell));
        domain.fill_level_set_ghosts(next);
        domain.end_at_outlets(next, velocity);
        end(next);
        phi.update(|cell, old| old / 3.0 + 2.0 / 3.0 * step(next, cell));
        domain.fill_level_set_ghosts(phi);
    }
}
