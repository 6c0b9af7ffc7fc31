//! The second-order symmetric pressure boundary on a curved surface.
//!
//! On the flower `r = 0.6 + 0.1 sin 5 t` in [-1, 1]^2 the solution `p = e^x cos 2y + x y` is prescribed where the surface crosses the links between
//! cell centres; the error in the largest norm falls with second order (F. Gibou, R. Fedkiw, L.-T. Cheng, M. Kang 2002).

use super::super::foundation::convergence;
use super::setup::failed;
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_fluid::pressure::{FaceDensity, PressureProblem, PressureTolerance, Projection};
use splashdown_fluid::{CellKind, Domain, Side, SolidBoundary, Walls, classify};
use splashdown_geometry::grid::{FaceFields, Field, Grid, Location};
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "fluid/free-surface-poisson",
    spec: "FB-T3",
    summary: "pressure with a known value on a flower-shaped surface: second order in the largest norm",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 0.3,
    run,
};

const SOURCE: &str = "exact: p = e^x cos 2y + x y; errors of spec/fluid-base.md FB-T3";

fn exact(x: &Vector<2>) -> f64 {
    x[0].exp() * (2.0 * x[1]).cos() + x[0] * x[1]
}

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let mut errors = Vec::new();
    for (n, measured) in [(32, 1.66e-3), (64, 4.2e-4), (128, 1.15e-4)] {
        let error = error(n)?;
        // The two printed digits of the measurement.
        measurements.at_most("largest error", &format!("{n}^2"), error, 1.02 * measured, SOURCE);
        errors.push([2.0 / n as f64, error]);
    }
    measurements.at_least("order of the largest error", "128^2", convergence::order(&errors), 1.8, SOURCE);
    measurements.plot(convergence::plot(
        "Pressure on the flower",
        "error",
        &[("largest".into(), errors, 2.0)],
    ));
    Ok(())
}

fn error(n: usize) -> Result<f64, CaseError> {
    let h = 2.0 / n as f64;
    let grid = Grid::<2>::new(Vector::repeat(-1.0), Vector::repeat(h), [n, n]).map_err(failed)?;
    let domain = Domain::new(grid, [[Side::wall(); 2]; 2]).map_err(failed)?;
    let phi =
        Field::from_fn(&grid, Location::Cell, |x| x.norm() - 0.6 - 0.1 * (5.0 * x[1].atan2(x[0])).sin());
    let walls = Walls::new(&domain, &[], &[], SolidBoundary::Voxels);
    let cells = classify(&domain, &walls, Some(&phi));
    let mut known = FaceFields::new(&grid, 0.0);
    let geometry = PressureProblem {
        domain: &domain,
        walls: &walls,
        cells: &cells,
        density: FaceDensity::Uniform(1.0),
        phi: Some(&phi),
        stair_steps: false,
        known: None,
        expansion: None,
    };
    for axis in 0..2 {
        known.component_mut(axis).update(|face, _| {
            let mut below = face;
            below[axis] -= 1;
            // From the wet centre towards the air.
            let (from, direction) = match geometry.kinds(axis, face) {
                [CellKind::Fluid, CellKind::Air] => (below, 1.0),
                [CellKind::Air, CellKind::Fluid] => (face, -1.0),
                _ => return 0.0,
            };
            let mut crossing = grid.cell_centre(from);
            crossing[axis] += direction * geometry.theta(axis, face) * h;
            exact(&crossing)
        });
    }
    let problem = PressureProblem { known: Some(&known), ..geometry };
    // A velocity along x whose divergence is the Laplacian -3 e^x cos 2y.
    let mut velocity = FaceFields::new(&grid, 0.0);
    for j in 0..n as isize {
        let mut sum = 0.0;
        for i in 0..n as isize {
            let x = grid.cell_centre([i, j]);
            sum -= h * 3.0 * x[0].exp() * (2.0 * x[1]).cos();
            velocity.component_mut(0).set([i + 1, j], sum);
        }
    }
    let mut pressure = Field::new(&grid, Location::Cell, 0.0);
    let tolerance =
        PressureTolerance { divergence: 1e-11, relative: 1e-12, max_iterations: 500, ..Default::default() };
    Projection::default().project(&problem, &mut velocity, &mut pressure, 1.0, &tolerance).map_err(failed)?;
    let at = |cell, kind| match kind {
        CellKind::Fluid => (pressure.at(cell) - exact(&grid.cell_centre(cell))).abs(),
        _ => 0.0,
    };
    Ok(cells.reduce(0.0, at, f64::max))
}
