use super::*;
use crate::{LinearOperator, Preconditioner};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

fn pressure(n: usize) -> PoissonProblem<3> {
    scenes::pressure(n).unwrap()
}

fn random_field(len: usize, seed: u64) -> Vec<f64> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    (0..len).map(|_| random.random_range(-1.0..1.0)).collect()
}

/// Random solids, random face weights over three decades with closed faces, and Dirichlet boundaries at a few cells if `grounded`.
fn random_problem<const D: usize>(dims: [usize; D], grounded: bool, seed: u64) -> PoissonProblem<D> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let cells: usize = dims.iter().product();
    let active: Vec<bool> = (0..cells).map(|_| random.random_bool(0.85)).collect();
    let mut weight =
        || if random.random_bool(0.1) { 0.0 } else { 10f64.powf(random.random_range(-3.0..0.0)) };
    let faces = std::array::from_fn(|_| (0..cells).map(|_| weight()).collect());
    let dirichlet =
        (0..cells).map(|cell| if grounded && cell % 37 == 0 { weight() / 0.01 } else { 0.0 }).collect();
    PoissonProblem::new(dims, active, Coupling::Faces(faces), dirichlet).unwrap()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `<M^-1 a, b> = <a, M^-1 b>` and `<M^-1 a, a> > 0`, to the rounding of single precision.
fn assert_symmetric_positive<const D: usize>(problem: &PoissonProblem<D>, options: &MultigridOptions) {
    let mut multigrid = Multigrid::new(problem, options);
    let len = problem.cells();
    let (mut za, mut zb) = (vec![0.0; len], vec![0.0; len]);
    for seed in 0..3 {
        let (mut a, mut b) = (random_field(len, 2 * seed), random_field(len, 2 * seed + 1));
        // The preconditioner of a singular problem acts on its range.
        let regions = problem.regions();
        for field in [&mut a, &mut b] {
            for (value, &active) in field.iter_mut().zip(problem.active()) {
                *value = if active { *value } else { 0.0 };
            }
            regions.remove_floating_means(field);
        }
        multigrid.apply(&a, &mut za);
        multigrid.apply(&b, &mut zb);
        let (left, right) = (dot(&za, &b), dot(&a, &zb));
        let size = (dot(&za, &a) * dot(&zb, &b)).sqrt();
        assert!(dot(&za, &a) > 0.0 && dot(&zb, &b) > 0.0);
        assert!(
            (left - right).abs() < 2e-5 * size,
            "<M^-1 a, b> = {left}, <a, M^-1 b> = {right}, size {size}"
        );
    }
}

#[test]
fn cycle_is_symmetric_and_positive() {
    let options = MultigridOptions::default();
    let many_sweeps = MultigridOptions { fine_sweeps: 3, coarse_sweeps: 1, coarsest_cells: 30 };
    assert_symmetric_positive(&pressure(32), &options);
    assert_symmetric_positive(&pressure(19), &many_sweeps);
    assert_symmetric_positive(&random_problem([37, 50], true, 1), &options);
    assert_symmetric_positive(&random_problem([16, 13, 21], true, 2), &many_sweeps);
    assert_symmetric_positive(&random_problem([61, 3, 9], false, 3), &many_sweeps);
    // Stretched cells are coarsened along their short axes only, so axis 0 may stay.
    let stretched = PoissonProblem::voxels([20, 24, 18], [1.0, 0.2, 0.1], |_| CellKind::Fluid).unwrap();
    assert_symmetric_positive(&stretched, &many_sweeps);
}

/// The solution satisfies the equations of the problem as written down cell by cell, whatever the layout did.
fn assert_solves<const D: usize>(problem: &PoissonProblem<D>, max_iterations: usize, what: &str) {
    let regions = problem.regions();
    let mut b = random_field(problem.cells(), 5);
    for (value, &active) in b.iter_mut().zip(problem.active()) {
        *value = if active { *value } else { f64::NAN };
    }
    let mut solver = PoissonSolver::new(problem, &MultigridOptions::default());
    let mut x = vec![0.0; b.len()];
    let report = solver.solve(&b, &mut x, &PoissonOptions::default());
    assert!(report.converged, "{what}: {report:?}");
    assert!(report.iterations <= max_iterations, "{what}: {report:?}");
    let mut ax = vec![0.0; b.len()];
    problem.apply(&x, &mut ax);
    for (value, &active) in b.iter_mut().zip(problem.active()) {
        *value = if active { *value } else { 0.0 };
    }
    regions.remove_floating_means(&mut b);
    let residual: Vec<f64> = b.iter().zip(&ax).map(|(b, ax)| b - ax).collect();
    let relative = (dot(&residual, &residual) / dot(&b, &b)).sqrt();
    assert!(relative <= 1.001e-8, "{what}: residual {relative}, reported {}", report.relative_residual);
    assert!((relative - report.relative_residual).abs() <= 0.01 * relative, "{what}");
}

#[test]
fn solves_regular_and_irregular_domains() {
    assert_solves(&pressure(32), 14, "pressure 32");
    assert_solves(&pressure(47), 16, "pressure 47, odd size");
    for (n, thickness) in [(64, 1), (50, 2), (33, 5)] {
        let narrow = PoissonProblem::voxels([n, thickness, thickness], [0.1; 3], |at| {
            if at[0] + 1 == n { CellKind::Air } else { CellKind::Fluid }
        });
        assert_solves(&narrow.unwrap(), 20, "narrow channel");
    }
    let disc = |closed: bool| {
        PoissonProblem::voxels([96, 80], [0.01, 0.013], |at| {
            let inside = (at[0] as f64 - 40.0).hypot(1.3 * (at[1] as f64 - 40.0)) < 35.0;
            match (inside, closed) {
                (true, _) => CellKind::Fluid,
                (false, true) => CellKind::Solid,
                (false, false) => CellKind::Air,
            }
        })
        .unwrap()
    };
    assert_solves(&disc(false), 16, "2D disc, Dirichlet");
    assert_solves(&disc(true), 20, "2D disc, Neumann");
    // Weights that vary by three decades from face to face are no smooth medium on any coarse grid: convergence is all that is claimed.
    assert_solves(&random_problem([30, 40], true, 3), 200, "2D random weights");
    assert_solves(&random_problem([20, 22, 24], false, 4), 200, "3D random weights, floating");
}

#[test]
fn several_closed_regions_and_isolated_cells() {
    // Three rooms without opening, one with a free surface, and single cells in the walls.
    let problem = PoissonProblem::voxels([40, 24, 20], [0.1; 3], |at| {
        if at[0] % 10 == 9 {
            if at == [19, 5, 5] || at == [29, 6, 7] { CellKind::Fluid } else { CellKind::Solid }
        } else if at[0] >= 30 && at[1] >= 18 {
            CellKind::Air
        } else {
            CellKind::Fluid
        }
    });
    let problem = problem.unwrap();
    let regions = problem.regions();
    // The cells in the wall touch the rooms on both sides, which they join.
    assert_eq!(regions.grounded.len(), 2, "{:?}", regions.grounded);
    assert_eq!(regions.grounded, [false, true]);
    assert_solves(&problem, 20, "rooms");

    let isolated = PoissonProblem::voxels([9, 9, 9], [1.0; 3], |at| {
        if at.iter().all(|i| i % 2 == 1) { CellKind::Fluid } else { CellKind::Solid }
    });
    let isolated = isolated.unwrap();
    let mut x = vec![1.0; 729];
    let report = PoissonSolver::new(&isolated, &MultigridOptions::default()).solve(
        &vec![1.0; 729],
        &mut x,
        &PoissonOptions::default(),
    );
    assert!(report.converged);
    assert_eq!(report.incompatibility, 1.0);
    assert!(x.iter().all(|&x| x == 0.0));
}

/// Density 1:1000 with the face mass of spec/fluid-base.md 3.8 needs about as few iterations as constant density.
#[test]
fn density_jump_of_a_thousand() {
    let n = 40;
    let h = 1.0 / n as f64;
    let level = |p: [f64; 3]| p[1] - 0.5 - 0.1 * (6.0 * p[0]).sin() * (5.0 * p[2]).cos();
    let faces = std::array::from_fn(|axis| {
        (0..n * n * n)
            .map(|cell| {
                let below = [cell % n, cell / n % n, cell / (n * n)].map(|i| (i as f64 + 0.5) * h);
                let mut above = below;
                above[axis] += h;
                let (a, b) = (level(below), level(above));
                let heavy = (a.min(0.0) + b.min(0.0)) / (a.min(0.0) + b.min(0.0) - a.max(0.0) - b.max(0.0));
                1.0 / (heavy * 1000.0 + (1.0 - heavy))
            })
            .collect()
    });
    let cells = n * n * n;
    let problem = PoissonProblem::new([n; 3], vec![true; cells], Coupling::Faces(faces), vec![0.0; cells]);
    assert_solves(&problem.unwrap(), 18, "density 1:1000");
}

/// Uniform coupling and the same weights face by face are the same system.
#[test]
fn uniform_and_face_coupling_agree() {
    let uniform = pressure(24);
    let Coupling::Uniform(weights) = uniform.coupling() else { panic!("voxels couple uniformly") };
    let faces = weights.map(|weight| vec![weight; uniform.cells()]);
    let by_face = PoissonProblem::new(
        uniform.dims(),
        uniform.active().to_vec(),
        Coupling::Faces(faces),
        uniform.dirichlet().to_vec(),
    )
    .unwrap();
    let b = random_field(uniform.cells(), 9);
    let solve = |problem: &PoissonProblem<3>| {
        let mut x = vec![0.0; b.len()];
        let options = PoissonOptions { relative_tolerance: 1e-12, ..PoissonOptions::default() };
        let report = PoissonSolver::new(problem, &MultigridOptions::default()).solve(&b, &mut x, &options);
        assert!(report.converged, "single precision inside does not limit the outer accuracy: {report:?}");
        x
    };
    let (x, y) = (solve(&uniform), solve(&by_face));
    let largest = x.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    assert!(x.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-10 * largest));
    assert_eq!(uniform.regions(), by_face.regions());
}

#[test]
fn same_bits_for_any_number_of_threads() {
    let problem = pressure(48);
    let floating = random_problem([40, 41, 42], false, 11);
    let b = random_field(problem.cells(), 1);
    let c = random_field(floating.cells(), 2);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let solve = |problem: &PoissonProblem<3>, b: &[f64]| {
                let mut x = vec![0.0; b.len()];
                PoissonSolver::new(problem, &MultigridOptions::default()).solve(
                    b,
                    &mut x,
                    &PoissonOptions::default(),
                );
                x.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
            };
            (solve(&problem, &b), solve(&floating, &c))
        })
    };
    let one = run(1);
    assert!(one == run(2));
    assert!(one == run(4));
}

#[test]
fn warm_start_and_trivial_right_hand_sides() {
    let problem = pressure(24);
    let b = random_field(problem.cells(), 3);
    let mut solver = PoissonSolver::new(&problem, &MultigridOptions::default());
    let options = PoissonOptions::default();
    let mut x = vec![0.0; b.len()];
    let cold = solver.solve(&b, &mut x, &options);
    let before = x.clone();
    let warm = solver.solve(&b, &mut x, &options);
    assert!(cold.iterations > 5 && warm.iterations == 0);
    assert_eq!(before, x);
    let zero = solver.solve(&vec![0.0; b.len()], &mut x, &options);
    assert!(zero.converged && x.iter().all(|&x| x == 0.0));
    // Values far outside the range of single precision.
    let tiny: Vec<f64> = b.iter().map(|b| b * 1e-200).collect();
    let report = solver.solve(&tiny, &mut x, &options);
    assert!(report.converged && report.iterations <= cold.iterations + 1, "{report:?}");
}

#[test]
fn bad_problems_are_refused() {
    let faces = |value: f64| Coupling::Faces([vec![1.0; 6], vec![value; 6]]);
    let build = |dims, active: usize, coupling, extra| {
        PoissonProblem::<2>::new(dims, vec![true; active], coupling, vec![extra; 6]).unwrap_err().to_string()
    };
    assert_eq!(build([2, 3], 5, faces(1.0), 0.0), "active has 5 entries where the grid has 6 cells");
    assert!(build([2, 3], 6, faces(f64::NAN), 0.0).contains("face coupling is NaN at cell 0"));
    assert!(build([2, 3], 6, faces(1.0), -1.0).contains("dirichlet is -1 at cell 0"));
    assert!(build([0, 3], 0, faces(1.0), 0.0).contains("between 1 and 2^31 cells"));
    assert!(build([1 << 40, 1 << 40], 6, faces(1.0), 0.0).contains("between 1 and 2^31 cells"));
}

/// The residual of the sum of both operators, where the addition is heavier than the problem.
#[test]
fn an_addition_of_low_rank_is_solved_for() {
    let problem = pressure(20);
    let len = problem.cells();
    let mut random = Pcg64Mcg::seed_from_u64(9);
    let mut entries = Vec::new();
    for row in 0..4 {
        for _ in 0..60 {
            let cell = random.random_range(0..len);
            let mut weight = problem.dirichlet()[cell];
            problem.for_each_neighbor(cell, |_, own| weight += own);
            if problem.active()[cell] && weight > 0.0 {
                entries.push((row, cell, random.random_range(-1.0..1.0)));
            }
        }
    }
    let rows = crate::CsrMatrix::from_triplets(4, len, &entries).unwrap();
    let weigh = |y: &mut [f64]| y.iter_mut().enumerate().for_each(|(k, y)| *y *= 10f64.powi(k as i32));
    let addition = Addition { rows: &rows, weigh: &weigh };
    let mut solver = PoissonSolver::new(&problem, &MultigridOptions::default());
    assert!(solver.takes(&addition));
    let mut b = random_field(len, 3);
    for (value, &active) in b.iter_mut().zip(problem.active()) {
        *value = if active { *value } else { 0.0 };
    }
    let mut x = vec![0.0; len];
    let options = PoissonOptions { relative_tolerance: 1e-10, max_iterations: 400 };
    let report = solver.solve_with(&b, &mut x, &options, &addition);
    assert!(report.converged, "{report:?}");
    let (mut residual, mut push) = (vec![0.0; len], vec![0.0; 4]);
    problem.apply(&x, &mut residual);
    rows.multiply(&x, &mut push);
    weigh(&mut push);
    rows.add_transpose_multiply(&push, &mut residual);
    let error: f64 = residual.iter().zip(&b).map(|(r, b)| (r - b).powi(2)).sum::<f64>().sqrt();
    assert!(error <= 2e-10 * dot(&b, &b).sqrt(), "{error:e}");
}
