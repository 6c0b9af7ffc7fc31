//! Orders and bounds of the schemes (FB-T4).

use super::*;
use crate::domain::Side;
use splashdown_geometry::grid::{Grid, Location};

/// L1 errors of a Gaussian carried once around a periodic line, at CFL 0.7.
fn errors(n: usize, advection: Advection) -> [f64; 2] {
    let grid = Grid::<2>::new(Vector::zeros(), Vector::repeat(1.0 / n as f64), [n, 1]).unwrap();
    let domain = Domain::new(grid, [[Side::Periodic; 2]; 2]).unwrap();
    let mut by = FaceFields::new(&grid, 0.0);
    by.component_mut(0).update(|_, _| 1.0);
    domain.fill_velocity_ghosts(&mut by);
    let exact = |x: &Vector<2>| (-60.0 * (x[0] - 0.5) * (x[0] - 0.5)).exp();
    let mut field = Field::from_fn(&grid, Location::Cell, exact);
    domain.fill_scalar_ghosts(&mut field, 0.0);
    let mut work = [field.clone(), field.clone()];
    let steps = (n as f64 / 0.7).ceil();
    for _ in 0..steps as usize {
        advection.scalar(&domain, &by, &mut field, &mut work, 0.0, 1.0 / steps, |_| false);
    }
    let lattice = *field.lattice();
    let error = |index: [isize; 2], value: f64| (value - exact(&lattice.position(index))).abs();
    let mean = field.reduce(0.0, error, |a, b| a + b) / n as f64;
    [mean, field.reduce(0.0, error, f64::max)]
}

#[test]
fn orders_of_the_schemes() {
    let order =
        |advection: Advection, n: usize| (errors(n, advection)[0] / errors(2 * n, advection)[0]).log2();
    let scheme = |scheme, limiter| Advection { scheme, limiter, path: PathOrder::Second };
    let first = order(scheme(Scheme::SemiLagrangian, Limiter::None), 256);
    assert!((first - 0.96).abs() < 0.05, "{first}");
    for second in [Scheme::MacCormack, Scheme::Bfecc] {
        let observed = order(scheme(second, Limiter::None), 128);
        assert!((observed - 2.0).abs() < 0.05, "{second:?} {observed}");
        let limited = order(scheme(second, Limiter::Revert), 128);
        assert!(limited > 1.85, "{second:?} {limited}");
    }
}

#[test]
fn limited_schemes_stay_in_range() {
    let n = 40;
    let grid = Grid::<2>::new(Vector::zeros(), Vector::repeat(1.0 / n as f64), [n, n]).unwrap();
    let domain = Domain::new(grid, [[Side::wall(); 2]; 2]).unwrap();
    let mut by = FaceFields::new(&grid, 0.0);
    for (axis, sign) in [(0, -1.0), (1, 1.0)] {
        let lattice = *by.component(axis).lattice();
        by.component_mut(axis).update(|i, _| sign * (lattice.position(i)[1 - axis] - 0.5));
    }
    domain.fill_velocity_ghosts(&mut by);
    for scheme in [Scheme::MacCormack, Scheme::Bfecc] {
        for limiter in [Limiter::Revert, Limiter::Clamp] {
            let mut field = Field::from_fn(&grid, Location::Cell, |x| if x[0] > 0.6 { 1.0 } else { 0.0 });
            domain.fill_scalar_ghosts(&mut field, 0.0);
            let mut work = [field.clone(), field.clone()];
            for _ in 0..50 {
                Advection { scheme, limiter, path: PathOrder::Second }.scalar(
                    &domain,
                    &by,
                    &mut field,
                    &mut work,
                    0.0,
                    0.05,
                    |_| false,
                );
            }
            assert!(field.values().iter().all(|&v| (0.0..=1.0).contains(&v)), "{scheme:?} {limiter:?}");
            assert!(field.max_abs() > 0.8);
        }
    }
}

#[test]
fn conservative_upwinding_keeps_the_sum_even_in_long_steps() {
    let n = 16;
    let grid = Grid::<2>::new(Vector::zeros(), Vector::repeat(1.0 / n as f64), [n, n]).unwrap();
    let domain = Domain::new(grid, [[Side::Periodic; 2]; 2]).unwrap();
    let mut by = FaceFields::new(&grid, 0.0);
    for axis in 0..2 {
        let lattice = *by.component(axis).lattice();
        by.component_mut(axis).update(|i, _| (6.0 * lattice.position(i)[1 - axis]).sin() + 0.3);
    }
    domain.fill_velocity_ghosts(&mut by);
    let mut field = Field::from_fn(&grid, Location::Cell, |x| x[0] * x[1]);
    domain.fill_scalar_ghosts(&mut field, 0.0);
    let before = field.sum();
    for dt in [0.02, 0.5] {
        let mut out = field.clone();
        advect_conservative(&domain, &by, &field, &mut out, dt);
        assert!((out.sum() - before).abs() < 1e-12 * before);
        assert!(out.reduce(f64::INFINITY, |_, v| v, f64::min) >= 0.0);
    }
}

/// A smooth ring of a level set turned rigidly: fifth-order differences leave the third order of time, third-order ones their own.
#[test]
fn upwind_differences_have_their_orders() {
    let error = |n: usize, scheme: UpwindScheme| {
        let grid = Grid::<2>::new(Vector::zeros(), Vector::repeat(1.0 / n as f64), [n, n]).unwrap();
        let domain = Domain::new(grid, [[Side::Periodic; 2]; 2]).unwrap();
        let mut by = FaceFields::new(&grid, 0.0);
        by.component_mut(0).update(|_, _| 1.0);
        by.component_mut(1).update(|_, _| 0.5);
        domain.fill_velocity_ghosts(&mut by);
        let tau = std::f64::consts::TAU;
        let wave = |x: &Vector<2>, t: f64| (tau * (x[0] - t)).sin() * (tau * (x[1] - 0.5 * t)).cos();
        let mut phi = Field::from_fn(&grid, Location::Cell, |x| wave(x, 0.0));
        domain.fill_level_set_ghosts(&mut phi);
        let mut work = [phi.clone(), phi.clone()];
        let steps = 2 * n;
        for _ in 0..steps {
            advect_level_set(&domain, &by, &mut phi, &mut work, 0.5 / steps as f64, scheme, f64::INFINITY);
        }
        let lattice = *phi.lattice();
        phi.reduce(0.0, |i, v| (v - wave(&lattice.position(i), 0.5)).abs(), |a, b| a + b) / (n * n) as f64
    };
    for (scheme, expected) in [(UpwindScheme::Eno3, 2.6), (UpwindScheme::Weno5, 3.4)] {
        let observed = (error(20, scheme) / error(40, scheme)).log2();
        assert!(observed > expected, "{scheme:?} {observed}");
    }
}
