use super::*;
use crate::{LinearOperator, Preconditioner};

/// Scene PRESSURE: a box of water with a free surface at y = 0.75 around a solid sphere.
fn pressure(n: usize) -> PoissonProblem<3> {
    let h = 1.0 / n as f64;
    PoissonProblem::voxels([n; 3], [h; 3], |at| {
        let [x, y, z] = at.map(|i| (i as f64 + 0.5) * h);
        if (x - 0.5).powi(2) + (y - 0.4).powi(2) + (z - 0.5).powi(2) < 0.15 * 0.15 {
            CellKind::Solid
        } else if y < 0.75 {
            CellKind::Fluid
        } else {
            CellKind::Air
        }
    })
    .unwrap()
}

fn pressure_rhs(n: usize) -> Vec<f64> {
    use std::f64::consts::PI;
    (0..n * n * n)
        .map(|cell| {
            let (i, j, k) = (cell % n, cell / n % n, cell / (n * n));
            let [x, y, z] = [i, j, k].map(|i| (i as f64 + 0.5) / n as f64);
            let noise = ((7919 * i + 104_729 * j + 1_299_709 * k) % 1000) as f64 / 1000.0 - 0.5;
            (2.0 * PI * x).sin() * (4.0 * PI * y).sin() * (6.0 * PI * z).cos() + 0.3 * noise
        })
        .collect()
}

#[test]
fn probe() {
    for n in [32, 64, 128] {
        let problem = pressure(n);
        let b = pressure_rhs(n);
        let mut x = vec![0.0; b.len()];
        let start = std::time::Instant::now();
        let mut solver = PoissonSolver::new(&problem, &MultigridOptions::default());
        let setup = start.elapsed();
        let start = std::time::Instant::now();
        let report = solver.solve(&b, &mut x, &PoissonOptions::default());
        println!("{n} unknowns {} {setup:?} {:?} {report:?}", problem.unknowns(), start.elapsed());
    }
}
