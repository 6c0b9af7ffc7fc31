//! Multigrid means that the number of iterations does not grow with the grid.
//!
//! Conjugate gradients with geometric multigrid to a true relative residual of 1e-8 on scene PRESSURE (water around a sphere, free surface) and on its closed
//! variant with random solids (many regions, gaps of one cell, no Dirichlet boundary) at 32^3, 64^3 and 128^3, where incomplete Cholesky doubles its iterations
//! with each refinement. Smoothed-aggregation AMG, which sees only the matrix, at 32^3 and 64^3. The solution has the same bits on 1, 2 and 4 threads.

use crate::{Case, CaseError, Measurements, Plot, Scale, Series, Speed};
use splashdown_solve::amg::{Amg, AmgOptions};
use splashdown_solve::multigrid::{
    MultigridOptions, PoissonOptions, PoissonProblem, PoissonSolver, ProblemError, scenes,
};
use splashdown_solve::{Iteration, Stopping, Workspace, pcg};

pub(super) const CASE: Case = Case {
    name: "foundation/multigrid-flat",
    spec: "FB-11",
    summary: "Multigrid iteration counts flat from 32^3 to 128^3, open and closed irregular domains; same bits on 1, 2, 4 threads",
    source: "the foundation's own mark: <= 20 iterations to 1e-8, flat within 3",
    speed: Speed::Fast,
    seconds: 8.0,
    run,
};

const MARK: &str = "foundation's mark: <= 20 iterations to 1e-8, flat from 32^3 to 128^3";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let mut series = Vec::new();
    type Build = fn(usize) -> Result<PoissonProblem<3>, ProblemError>;
    for (scene, build) in [
        ("PRESSURE", scenes::pressure as Build),
        ("closed, random solids", scenes::irregular_neumann as Build),
    ] {
        let mut counts: Vec<[f64; 2]> = Vec::new();
        for n in [32usize, 64, 128] {
            let problem = build(n).map_err(|error| CaseError::new(scene, error))?;
            let (_, iterations) = solve(&problem, n)?;
            let quantity = format!("{scene}: iterations");
            measurements.at_most(&quantity, &format!("{n}^3"), iterations as f64, 20.0, MARK);
            counts.push([n as f64, iterations as f64]);
        }
        let change = counts.iter().map(|count| (count[1] - counts[1][1]).abs()).fold(0.0, f64::max);
        measurements.at_most(
            &format!("{scene}: change of iterations about 64^3"),
            "32^3 - 128^3",
            change,
            3.0,
            MARK,
        );
        series.push(Series { label: format!("geometric, {scene}"), points: counts, reference: false });
    }
    let mut counts = Vec::new();
    for n in [32, 64] {
        let problem = scenes::pressure(n).map_err(|error| CaseError::new("PRESSURE", error))?;
        let iterations = algebraic(&problem, n)? as f64;
        // Smoothed aggregation grows with the logarithm of the size; pyamg needs 13 at 128^3 with smaller aggregates.
        measurements.at_most("PRESSURE: iterations with AMG", &format!("{n}^3"), iterations, 20.0, MARK);
        counts.push([n as f64, iterations]);
    }
    series.push(Series { label: "AMG, PRESSURE".into(), points: counts, reference: false });

    let problem = scenes::irregular_neumann(48).map_err(|error| CaseError::new("closed scene", error))?;
    let on = |threads: usize| -> Result<Vec<f64>, CaseError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| CaseError::new("threads", error))?;
        pool.install(|| solve(&problem, 48)).map(|(x, _)| x)
    };
    let one = on(1)?;
    for threads in [2, 4] {
        let different = one.iter().zip(&on(threads)?).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
        let quantity = format!("values that differ between 1 and {threads} threads");
        measurements.near(&quantity, "48^3", different as f64, 0.0, 0.0, "exact: the same bits");
    }
    measurements.plot(Plot {
        title: "Iterations to 1e-8".into(),
        x: "cells along an edge".into(),
        y: "iterations".into(),
        scale: Scale::Linear,
        series,
    });
    Ok(())
}

/// Solution and iterations of geometric multigrid.
fn solve(problem: &PoissonProblem<3>, n: usize) -> Result<(Vec<f64>, usize), CaseError> {
    let b = scenes::pressure_rhs(n);
    let mut x = vec![0.0; b.len()];
    let options = PoissonOptions { relative_tolerance: 1e-8, ..PoissonOptions::default() };
    let report = PoissonSolver::new(problem, &MultigridOptions::default()).solve(&b, &mut x, &options);
    if !report.converged {
        return Err(CaseError(format!("the solver stopped at {:e}", report.relative_residual)));
    }
    Ok((x, report.iterations))
}

fn algebraic(problem: &PoissonProblem<3>, n: usize) -> Result<usize, CaseError> {
    let (matrix, cells) = problem.assemble().map_err(|error| CaseError::new("assembly", error))?;
    let full = scenes::pressure_rhs(n);
    let b: Vec<f64> = cells.iter().map(|&cell| full[cell as usize]).collect();
    let mut amg = Amg::new(&matrix, &AmgOptions::default()).map_err(|error| CaseError::new("AMG", error))?;
    let mut x = vec![0.0; b.len()];
    let mut iteration = Iteration::new(Stopping::relative(1e-8));
    let report = pcg(&matrix, &mut amg, &b, &mut x, &mut iteration, &mut Workspace::default())
        .map_err(|error| CaseError::new("conjugate gradients", error))?;
    if !report.outcome.converged() {
        return Err(CaseError(format!("AMG: {}", report.outcome)));
    }
    Ok(report.iterations)
}
