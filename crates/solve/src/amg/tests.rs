use super::*;
use crate::multigrid::{CellKind, Coupling, PoissonProblem};
use crate::{Iteration, KrylovReport, Stopping, Workspace, pcg};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

fn random_field(len: usize, seed: u64) -> Vec<f64> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    (0..len).map(|_| random.random_range(-1.0..1.0)).collect()
}

fn solve(matrix: &CsrMatrix, amg: &mut Amg, b: &[f64]) -> (Vec<f64>, KrylovReport) {
    let mut x = vec![0.0; b.len()];
    let mut iteration = Iteration::new(Stopping::relative(1e-8));
    let report = pcg(matrix, amg, b, &mut x, &mut iteration, &mut Workspace::default()).unwrap();
    (x, report)
}

/// A box of water around a solid ball, open above.
fn tank(n: usize) -> PoissonProblem<3> {
    PoissonProblem::voxels([n; 3], [1.0; 3], |at| {
        let away = at.map(|i| i as f64 + 0.5 - 0.4 * n as f64);
        if away.iter().map(|x| x * x).sum::<f64>() < (0.2 * n as f64).powi(2) {
            CellKind::Solid
        } else if 4 * at[1] < 3 * n {
            CellKind::Fluid
        } else {
            CellKind::Air
        }
    })
    .unwrap()
}

/// Plane strain (Lame constants 1 and 1) on a grid of bilinear squares clamped at the left, as 2x2 Gauss points give it.
fn cantilever(nx: usize, ny: usize) -> (CsrMatrix, Vec<Vec<f64>>) {
    let node = |i: usize, j: usize| (i >= 1).then(|| (i - 1) * (ny + 1) + j);
    let mut triplets = Vec::new();
    let g = 0.5 / 3f64.sqrt();
    for i in 0..nx {
        for j in 0..ny {
            let corners = [(0, 0), (1, 0), (0, 1), (1, 1)];
            for (gx, gy) in [(-g, -g), (g, -g), (-g, g), (g, g)] {
                let (x, y) = (0.5 + gx, 0.5 + gy);
                let gradient = corners.map(|(a, b)| {
                    let (sx, sy) = (if a == 1 { 1.0 } else { -1.0 }, if b == 1 { 1.0 } else { -1.0 });
                    [sx * if b == 1 { y } else { 1.0 - y }, sy * if a == 1 { x } else { 1.0 - x }]
                });
                for (p, &(pa, pb)) in corners.iter().enumerate() {
                    for (q, &(qa, qb)) in corners.iter().enumerate() {
                        let (Some(row), Some(column)) = (node(i + pa, j + pb), node(i + qa, j + qb)) else {
                            continue;
                        };
                        let (gp, gq) = (gradient[p], gradient[q]);
                        let dot = gp[0] * gq[0] + gp[1] * gq[1];
                        for a in 0..2 {
                            for b in 0..2 {
                                let delta = if a == b { dot } else { 0.0 };
                                let value = 0.25 * (gp[a] * gq[b] + gp[b] * gq[a] + delta);
                                triplets.push((2 * row + a, 2 * column + b, value));
                            }
                        }
                    }
                }
            }
        }
    }
    let size = 2 * nx * (ny + 1);
    let matrix = CsrMatrix::from_triplets(size, size, &triplets).unwrap();
    let mut modes = vec![vec![0.0; size]; 3];
    for i in 1..=nx {
        for j in 0..=ny {
            let at = 2 * ((i - 1) * (ny + 1) + j);
            modes[0][at] = 1.0;
            modes[1][at + 1] = 1.0;
            (modes[2][at], modes[2][at + 1]) = (-(j as f64), i as f64);
        }
    }
    (matrix, modes)
}

fn assert_symmetric_positive(amg: &mut Amg, size: usize) {
    let (a, b) = (random_field(size, 1), random_field(size, 2));
    let (mut za, mut zb) = (vec![0.0; size], vec![0.0; size]);
    amg.apply(&a, &mut za);
    amg.apply(&b, &mut zb);
    let energy = (vector::dot(&za, &a) * vector::dot(&zb, &b)).sqrt();
    assert!(energy > 0.0);
    assert!((vector::dot(&za, &b) - vector::dot(&a, &zb)).abs() < 2e-5 * energy);
}

#[test]
fn cycle_is_symmetric_and_iterations_stay_flat() {
    let mut counts = Vec::new();
    for n in [16, 32, 48] {
        let (matrix, _) = tank(n).assemble().unwrap();
        assert!(matrix.is_symmetric(0.0));
        let mut amg = Amg::new(&matrix, &AmgOptions::default()).unwrap();
        assert_symmetric_positive(&mut amg, matrix.rows());
        let (_, report) = solve(&matrix, &mut amg, &random_field(matrix.rows(), 3));
        assert!(report.outcome.converged(), "{report:?}");
        assert!(amg.operator_complexity() < 1.8, "{}", amg.operator_complexity());
        counts.push(report.iterations);
    }
    assert!(counts.iter().all(|&count| count <= 20), "{counts:?}");
}

/// Thin walls with a small opening, on which geometric coarse cells would mix both sides.
#[test]
fn compartments_behind_thin_walls() {
    let n = 32;
    let faces = std::array::from_fn(|axis| {
        (0..n * n * n)
            .map(|cell| {
                let at = [cell % n, cell / n % n, cell / (n * n)];
                let wall = axis == 0 && at[0] % 5 == 2 && !(at[1] < 4 && at[2] < 4);
                if wall { 0.0 } else { 1.0 }
            })
            .collect()
    });
    let grounded =
        (0..n * n * n).map(|cell| if cell / n % n == 0 && cell % n < 3 { 1.0 } else { 0.0 }).collect();
    let problem =
        PoissonProblem::new([n; 3], vec![true; n * n * n], Coupling::Faces(faces), grounded).unwrap();
    let (matrix, _) = problem.assemble().unwrap();
    let mut amg = Amg::new(&matrix, &AmgOptions::default()).unwrap();
    let (_, report) = solve(&matrix, &mut amg, &random_field(matrix.rows(), 3));
    assert!(report.outcome.converged() && report.iterations <= 30, "{report:?}");
}

#[test]
fn closed_region_with_a_compatible_right_hand_side() {
    let problem = PoissonProblem::voxels([40, 30], [1.0; 2], |_| CellKind::Fluid).unwrap();
    let (matrix, _) = problem.assemble().unwrap();
    let mut b = random_field(matrix.rows(), 4);
    let mean = vector::sum(&b) / b.len() as f64;
    b.iter_mut().for_each(|b| *b -= mean);
    let mut amg = Amg::new(&matrix, &AmgOptions::default()).unwrap();
    let (_, report) = solve(&matrix, &mut amg, &b);
    assert!(report.outcome.converged() && report.iterations <= 20, "{report:?}");
}

/// With the rigid motions as near-null space a cantilever needs few iterations; with constants alone it needs more.
#[test]
fn rigid_motions_serve_elasticity() {
    let (matrix, modes) = cantilever(80, 20);
    let b = random_field(matrix.rows(), 6);
    let iterations = |near_null_space: Vec<Vec<f64>>| {
        let options = AmgOptions { block_size: 2, near_null_space, coarsest: 60, ..AmgOptions::default() };
        let mut amg = Amg::new(&matrix, &options).unwrap();
        assert!(amg.levels() >= 3);
        assert_symmetric_positive(&mut amg, matrix.rows());
        let (_, report) = solve(&matrix, &mut amg, &b);
        assert!(report.outcome.converged(), "{report:?}");
        report.iterations
    };
    let (constants, rigid) = (iterations(Vec::new()), iterations(modes));
    assert!(rigid <= 30 && rigid < constants, "rigid motions {rigid}, constants {constants}");
}

/// Displacements stored component after component: with their kinds, and an order that brings what is coupled together, fewer iterations are needed.
#[test]
fn components_stored_apart_are_kept_apart() {
    let (interleaved, _) = cantilever(80, 20);
    let nodes = interleaved.rows() as u32 / 2;
    let apart: Vec<u32> = (0..2 * nodes).map(|i| 2 * (i % nodes) + i / nodes).collect();
    let matrix = interleaved.permuted(&apart).unwrap();
    assert_eq!(matrix.get(3, nodes as usize + 3), interleaved.get(6, 7));
    let b = random_field(matrix.rows(), 6);
    let iterations = |kinds: Vec<u8>, order: Vec<u32>| {
        let options = AmgOptions { kinds, order, coarsest: 60, ..AmgOptions::default() };
        let mut amg = Amg::new(&matrix, &options).unwrap();
        assert_symmetric_positive(&mut amg, matrix.rows());
        let (_, report) = solve(&matrix, &mut amg, &b);
        assert!(report.outcome.converged(), "{report:?}");
        report.iterations
    };
    let kinds: Vec<u8> = (0..2 * nodes).map(|i| (i / nodes) as u8).collect();
    let order: Vec<u32> = (0..2 * nodes).map(|i| i / 2 + i % 2 * nodes).collect();
    let (mixed, known, ordered) =
        (iterations(vec![], vec![]), iterations(kinds.clone(), vec![]), iterations(kinds, order));
    assert!(known < mixed && ordered <= known, "mixed {mixed}, kinds {known}, order {ordered}");
    let twice = AmgOptions { order: vec![0; matrix.rows()], ..AmgOptions::default() };
    assert!(Amg::new(&matrix, &twice).is_err());
}

#[test]
fn same_bits_for_any_number_of_threads() {
    let (matrix, _) = tank(40).assemble().unwrap();
    let b = random_field(matrix.rows(), 7);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut amg = Amg::new(&matrix, &AmgOptions::default()).unwrap();
            let (x, _) = solve(&matrix, &mut amg, &b);
            x.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(4));
}

#[test]
fn degenerate_and_bad_input() {
    // Diagonal matrix: nothing to aggregate, the smoother is exact.
    let diagonal = CsrMatrix::from_diagonal(&vec![2.0; 1000]);
    let mut amg = Amg::new(&diagonal, &AmgOptions::default()).unwrap();
    let mut z = vec![0.0; 1000];
    amg.apply(&vec![1.0; 1000], &mut z);
    assert!(z.iter().all(|&z| (z - 0.5).abs() < 1e-6));
    let empty = CsrMatrix::zeros(0, 0);
    Amg::new(&empty, &AmgOptions::default()).unwrap().apply(&[], &mut []);
    assert!(Amg::new(&CsrMatrix::zeros(3, 2), &AmgOptions::default()).is_err());
    let negative = CsrMatrix::from_diagonal(&[1.0, -1.0]);
    assert!(Amg::new(&negative, &AmgOptions::default()).is_err());
    let odd = AmgOptions { block_size: 2, ..AmgOptions::default() };
    assert!(Amg::new(&CsrMatrix::identity(3), &odd).is_err());
    let short = AmgOptions { near_null_space: vec![vec![1.0; 2]], ..AmgOptions::default() };
    assert!(Amg::new(&CsrMatrix::identity(3), &short).is_err());
}
