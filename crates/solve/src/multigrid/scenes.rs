//! Standard problems on which solvers are compared, shared by tests, verification and benchmarks.

use super::problem::{CellKind, PoissonProblem, ProblemError};
use std::f64::consts::PI;

/// Scene PRESSURE: the unit cube of `n^3` cells filled with water up to y = 0.75 around a voxelised solid sphere (centre (0.5, 0.4, 0.5), radius 0.15);
/// walls and sphere are Neumann, the air above is Dirichlet with p = 0 at cell centres. 1 543 156 unknowns for `n = 128`.
///
/// # Errors
/// For a size that no grid can have.
pub fn pressure(n: usize) -> Result<PoissonProblem<3>, ProblemError> {
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
}

/// Right-hand side of both scenes: smooth waves and noise of all wavelengths, dense over the grid.
pub fn pressure_rhs(n: usize) -> Vec<f64> {
    let h = 1.0 / n as f64;
    let mut b = Vec::with_capacity(n * n * n);
    for k in 0..n {
        for j in 0..n {
            for i in 0..n {
                let [x, y, z] = [i, j, k].map(|i| (i as f64 + 0.5) * h);
                let noise = ((7919 * i + 104_729 * j + 1_299_709 * k) % 1000) as f64 / 1000.0 - 0.5;
                b.push((2.0 * PI * x).sin() * (4.0 * PI * y).sin() * (6.0 * PI * z).cos() + 0.3 * noise);
            }
        }
    }
    b
}

/// The closed variant of [`pressure`]: no Dirichlet boundary anywhere, 200 solid balls of random place and size (radius 0.02 to 0.08) that overlap,
/// and one cell in fifty solid at random. Gaps of one cell, pockets and isolated cells occur; each closed region has its own null vector.
///
/// # Errors
/// For a size that no grid can have.
pub fn irregular_neumann(n: usize) -> Result<PoissonProblem<3>, ProblemError> {
    let h = 1.0 / n as f64;
    let balls: Vec<[f64; 4]> = (0..200)
        .map(|ball| {
            let [x, y, z, r] = [0, 1, 2, 3].map(|part| random(4 * ball + part));
            [x, y, z, 0.02 + 0.06 * r]
        })
        .collect();
    PoissonProblem::voxels([n; 3], [h; 3], |at| {
        let p = at.map(|i| (i as f64 + 0.5) * h);
        let in_ball = balls
            .iter()
            .any(|ball| (0..3).map(|axis| (p[axis] - ball[axis]).powi(2)).sum::<f64>() < ball[3] * ball[3]);
        let cell = (at[0] + n * (at[1] + n * at[2])) as u64;
        if in_ball || random(1_000_000 + cell) < 0.02 { CellKind::Solid } else { CellKind::Fluid }
    })
}

/// A reproducible number in 0..1 for each index (the finaliser of SplitMix64).
fn random(index: u64) -> f64 {
    let mut x = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}
