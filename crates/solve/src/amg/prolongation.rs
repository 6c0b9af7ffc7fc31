//! From aggregates to the smoothed prolongation.

use super::aggregate::{Aggregates, Graph};
use crate::CsrMatrix;
use crate::SolveError;
use crate::error::{check_finite, check_size};
use splashdown_parallel::prelude::*;

/// Near-null-space vectors, stored row by row: `count` numbers for each unknown.
#[derive(Debug, Clone)]
pub(super) struct Candidates {
    count: usize,
    rows: Vec<f64>,
}

/// An unknown's share in the orthonormal candidates of its aggregate.
pub(super) struct Tentative {
    pub count: usize,
    pub rows: Vec<f64>,
}

impl Candidates {
    /// `vectors` one by one, or one constant for each component of a node.
    pub fn new(size: usize, block: usize, vectors: &[Vec<f64>]) -> Result<Self, SolveError> {
        if vectors.is_empty() {
            let rows =
                (0..size * block).map(|at| f64::from(u8::from(at / block % block == at % block))).collect();
            return Ok(Self { count: block, rows });
        }
        let count = vectors.len();
        let mut rows = vec![0.0; size * count];
        for (column, vector) in vectors.iter().enumerate() {
            check_size("near-null-space vector", vector.len(), size)?;
            check_finite("near-null-space vector", vector)?;
            for (row, value) in vector.iter().enumerate() {
                rows[row * count + column] = *value;
            }
        }
        Ok(Self { count, rows })
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// Orthonormalises the candidates on each aggregate (`B = Q R`): `Q` is the tentative prolongation, `R` the coarse candidates.
    pub fn restrict(&self, aggregates: &Aggregates, block: usize) -> (Tentative, Candidates) {
        let k = self.count;
        let mut coarse = vec![0.0; aggregates.count * k * k];
        if k == 1 && block == 1 {
            // One candidate: only norms are needed.
            for (&aggregate, value) in aggregates.of.iter().zip(&self.rows) {
                if aggregate != Aggregates::NONE {
                    coarse[aggregate as usize] += value * value;
                }
            }
            coarse.iter_mut().for_each(|square| *square = square.sqrt());
            let rows =
                aggregates.of.par_iter().zip(&self.rows).with_min_len(1 << 14).map(|(&aggregate, value)| {
                    match coarse.get(aggregate as usize) {
                        Some(&norm) if norm > 0.0 => value / norm,
                        _ => 0.0,
                    }
                });
            let rows = rows.collect();
            return (Tentative { count: 1, rows }, Candidates { count: 1, rows: coarse });
        }
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); aggregates.count];
        for (node, &aggregate) in aggregates.of.iter().enumerate() {
            if aggregate != Aggregates::NONE {
                members[aggregate as usize].push(node as u32);
            }
        }
        let mut rows = vec![0.0; self.rows.len()];
        let mut local = Vec::new();
        for (aggregate, members) in members.iter().enumerate() {
            let unknowns =
                || members.iter().flat_map(|&node| node as usize * block..(node as usize + 1) * block);
            local.clear();
            local.extend(
                unknowns().flat_map(|unknown| self.rows[unknown * k..(unknown + 1) * k].iter().copied()),
            );
            let r = &mut coarse[aggregate * k * k..(aggregate + 1) * k * k];
            orthonormalize(&mut local, k, r);
            for (unknown, q) in unknowns().zip(local.chunks_exact(k)) {
                rows[unknown * k..(unknown + 1) * k].copy_from_slice(q);
            }
        }
        (Tentative { count: k, rows }, Candidates { count: k, rows: coarse })
    }
}

/// Gram-Schmidt, twice for orthogonality, on the columns of an `m` by `k` matrix in row order; `r` gets the upper triangular factor.
/// A column that depends on those before it becomes zero.
fn orthonormalize(columns: &mut [f64], k: usize, r: &mut [f64]) {
    let m = columns.len() / k;
    for c in 0..k {
        let length =
            |columns: &[f64]| (0..m).map(|i| columns[i * k + c] * columns[i * k + c]).sum::<f64>().sqrt();
        let before = length(columns);
        for _ in 0..2 {
            for e in 0..c {
                let projection: f64 = (0..m).map(|i| columns[i * k + c] * columns[i * k + e]).sum();
                r[e * k + c] += projection;
                for i in 0..m {
                    columns[i * k + c] -= projection * columns[i * k + e];
                }
            }
        }
        let after = length(columns);
        if after > 1e-10 * before {
            r[c * k + c] = after;
            (0..m).for_each(|i| columns[i * k + c] /= after);
        } else {
            (0..m).for_each(|i| columns[i * k + c] = 0.0);
        }
    }
}

/// `P = (I - omega D^-1 A_F) Q`, where `A_F` has the weak couplings added to its diagonal and `omega = 4 / (3 lambda_max(D^-1 A_F))`.
pub(super) fn smooth(
    matrix: &CsrMatrix,
    tentative: &Tentative,
    aggregates: &Aggregates,
    block: usize,
    kinds: &[u8],
    graph: &Graph,
) -> CsrMatrix {
    let k = tentative.count;
    let filtered = FilteredDiagonal::new(matrix, block, kinds, graph);
    let omega = 4.0 / (3.0 * filtered.spectral_radius(matrix, block, graph));
    const ROWS: usize = 4096;
    let parts: Vec<(Vec<usize>, Vec<u32>, Vec<f64>)> = (0..matrix.rows().div_ceil(ROWS))
        .into_par_iter()
        .map(|part| {
            let range = part * ROWS..matrix.rows().min((part + 1) * ROWS);
            let (mut lengths, mut columns, mut values) = (Vec::with_capacity(ROWS), vec![], vec![]);
            let mut sums: Vec<(u32, usize)> = Vec::new();
            let mut store: Vec<f64> = Vec::new();
            for i in range {
                sums.clear();
                store.clear();
                let scale = omega * filtered.inverse[i];
                filtered.for_each_entry(matrix, block, graph, i, |j, value| {
                    let aggregate = aggregates.of[j / block];
                    if aggregate == Aggregates::NONE {
                        return;
                    }
                    let factor = if i == j { 1.0 - scale * value } else { -scale * value };
                    let slot = match sums.iter().find(|entry| entry.0 == aggregate) {
                        Some(entry) => entry.1,
                        None => {
                            sums.push((aggregate, store.len()));
                            store.resize(store.len() + k, 0.0);
                            store.len() - k
                        }
                    };
                    let q = &tentative.rows[j * k..(j + 1) * k];
                    for (sum, q) in store[slot..slot + k].iter_mut().zip(q) {
                        *sum += factor * q;
                    }
                });
                sums.sort_unstable();
                for &(aggregate, slot) in &sums {
                    for c in 0..k {
                        columns.push(aggregate * k as u32 + c as u32);
                        values.push(store[slot + c]);
                    }
                }
                lengths.push(sums.len() * k);
            }
            (lengths, columns, values)
        })
        .collect();
    let mut offsets = Vec::with_capacity(matrix.rows() + 1);
    offsets.push(0);
    let total = parts.iter().map(|part| part.1.len()).sum();
    let (mut columns, mut values) = (Vec::with_capacity(total), Vec::with_capacity(total));
    for (lengths, part_columns, part_values) in parts {
        for length in lengths {
            offsets.push(offsets[offsets.len() - 1] + length);
        }
        columns.extend(part_columns);
        values.extend(part_values);
    }
    let cols = aggregates.count * k;
    // The parts are consistent by construction, so the check cannot fail; an empty matrix ends the coarsening.
    CsrMatrix::from_parts(cols, offsets, columns, values)
        .unwrap_or_else(|_| CsrMatrix::zeros(matrix.rows(), 0))
}

/// The matrix without weak couplings, which are added to the diagonal so that row sums stay.
struct FilteredDiagonal {
    diagonal: Vec<f64>,
    inverse: Vec<f64>,
}

impl FilteredDiagonal {
    fn new(matrix: &CsrMatrix, block: usize, kinds: &[u8], graph: &Graph) -> Self {
        let diagonal: Vec<f64> = (0..matrix.rows())
            .into_par_iter()
            .with_min_len(1 << 12)
            .map(|i| {
                let strong = graph.of(i / block);
                let (columns, values) = matrix.row(i);
                let mut sum = 0.0;
                let mut next = 0;
                for (&column, &value) in columns.iter().zip(values) {
                    let node = column / block as u32;
                    while next < strong.len() && strong[next] < node {
                        next += 1;
                    }
                    let is_strong = next < strong.len() && strong[next] == node;
                    // Weak couplings between different components are dropped, not lumped: they carry no constant.
                    let same = column as usize % block == i % block
                        && (kinds.is_empty() || kinds[node as usize] == kinds[i / block]);
                    if column as usize == i || (!is_strong && node as usize != i / block && same) {
                        sum += value;
                    }
                }
                sum
            })
            .collect();
        let original = matrix.diagonal();
        let diagonal: Vec<f64> =
            diagonal.iter().zip(&original).map(|(&d, &a)| if d > 0.1 * a { d } else { a }).collect();
        let inverse = diagonal.iter().map(|&d| if d > 0.0 { 1.0 / d } else { 0.0 }).collect();
        Self { diagonal, inverse }
    }

    /// Entries of row `i` of the filtered matrix.
    #[inline]
    fn for_each_entry(
        &self,
        matrix: &CsrMatrix,
        block: usize,
        graph: &Graph,
        i: usize,
        mut visit: impl FnMut(usize, f64),
    ) {
        let strong = graph.of(i / block);
        let (columns, values) = matrix.row(i);
        let mut next = 0;
        for (&column, &value) in columns.iter().zip(values) {
            if column as usize == i {
                visit(i, self.diagonal[i]);
                continue;
            }
            let node = column / block as u32;
            while next < strong.len() && strong[next] < node {
                next += 1;
            }
            if node as usize == i / block || (next < strong.len() && strong[next] == node) {
                visit(column as usize, value);
            }
        }
    }

    /// Largest eigenvalue of `D^-1 A_F`, from above: Gershgorin's bound where it is sharp, else some power iterations with a margin.
    fn spectral_radius(&self, matrix: &CsrMatrix, block: usize, graph: &Graph) -> f64 {
        let rows = matrix.rows();
        let bound = (0..rows)
            .into_par_iter()
            .with_min_len(1 << 12)
            .map(|i| {
                let mut sum = 0.0;
                self.for_each_entry(matrix, block, graph, i, |_, value| sum += value.abs());
                sum * self.inverse[i]
            })
            .reduce(|| 0.0, f64::max);
        if bound <= 2.2 {
            return bound.max(1.0);
        }
        // A fixed start without symmetry; D^-1 A is similar to a symmetric matrix, so the estimate comes from below.
        let mut x: Vec<f64> = (0..rows).map(|i| ((i * 7919 + 13) % 1009) as f64 / 1009.0 - 0.5).collect();
        let mut y = vec![0.0; rows];
        let mut estimate = 0.0;
        for _ in 0..12 {
            y.par_iter_mut().enumerate().with_min_len(1 << 12).for_each(|(i, y)| {
                let mut sum = 0.0;
                self.for_each_entry(matrix, block, graph, i, |j, value| sum += value * x[j]);
                *y = sum * self.inverse[i];
            });
            let (before, after) = (crate::vector::norm(&x), crate::vector::norm(&y));
            if !(before > 0.0 && after > 0.0) {
                return bound.max(1.0);
            }
            estimate = after / before;
            crate::vector::scale(1.0 / after, &mut y);
            std::mem::swap(&mut x, &mut y);
        }
        (1.1 * estimate).min(bound).max(1.0)
    }
}
