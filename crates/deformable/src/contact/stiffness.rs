//! The stiffness of contacts as an operator: `sum_c W_c^T B_c W_c` with a symmetric block `B_c` and the weights `W_c` of up to four particles.
//!
//! Applied in two passes over flat lists, contacts and then particles, so that threads never write to the same place and the bits do not depend on them. What is stored is in single
//! precision: the product is limited by memory, and it only serves to find a direction, whose length the line search judges in double precision.

use crate::force::read;
use splashdown_math::{Matrix, Vector};
use splashdown_parallel::prelude::*;

/// Particles, weights and block of one contact.
pub(super) type Row<const D: usize> = ([u32; 4], [f64; 4], Matrix<D>);

/// Contacts of one thread's piece.
const PIECE: usize = 512;

/// A contact as it is stored: the block by its columns, `D (D + 1) / 2` entries of the lower triangle.
#[derive(Debug, Clone, Copy)]
struct Stored {
    nodes: [u32; 4],
    weights: [f32; 4],
    block: [f32; 6],
}

#[derive(Debug, Clone)]
pub(crate) struct ContactStiffness<const D: usize> {
    /// Contacts of several particles; weights of pinned ones are zero.
    rows: Vec<Stored>,
    /// For each particle the first of its entries in `incident`, and the end.
    offsets: Vec<u32>,
    /// Contact and weight, by particle.
    incident: Vec<(u32, f32)>,
    /// Blocks that act on one particle only.
    own: Vec<Matrix<D>>,
}

fn pack<const D: usize>(block: &Matrix<D>) -> [f32; 6] {
    let mut out = [0.0; 6];
    let mut at = 0;
    for j in 0..D {
        for i in j..D {
            out[at] = block[(i, j)] as f32;
            at += 1;
        }
    }
    out
}

fn unpack<const D: usize>(packed: &[f32; 6]) -> Matrix<D> {
    let mut block = Matrix::<D>::zeros();
    let mut at = 0;
    for j in 0..D {
        for i in j..D {
            block[(i, j)] = f64::from(packed[at]);
            block[(j, i)] = block[(i, j)];
            at += 1;
        }
    }
    block
}

impl<const D: usize> ContactStiffness<D> {
    /// From all contacts, for particles that are not `pinned`.
    pub fn new(all: Vec<Row<D>>, pinned: &[bool]) -> Self {
        let mut own = vec![Matrix::<D>::zeros(); pinned.len()];
        let mut rows = Vec::with_capacity(all.len());
        let mut counts = vec![0u32; pinned.len() + 1];
        for (nodes, mut weights, block) in all {
            for (&node, weight) in nodes.iter().zip(&mut weights) {
                if pinned[node as usize] {
                    *weight = 0.0;
                }
            }
            let acting = weights.iter().filter(|weight| **weight != 0.0).count();
            if acting > 1 {
                for (&node, _) in nodes.iter().zip(&weights).filter(|(_, weight)| **weight != 0.0) {
                    counts[node as usize + 1] += 1;
                }
                let weights = weights.map(|weight| weight as f32);
                rows.push(Stored { nodes, weights, block: pack(&block) });
            } else if let Some(at) = weights.iter().position(|&weight| weight != 0.0) {
                own[nodes[at] as usize] += block * (weights[at] * weights[at]);
            }
        }
        for node in 0..pinned.len() {
            counts[node + 1] += counts[node];
        }
        let offsets = counts.clone();
        let mut incident = vec![(0, 0.0); offsets[pinned.len()] as usize];
        for (index, row) in rows.iter().enumerate() {
            for (&node, &weight) in row.nodes.iter().zip(&row.weights).filter(|(_, weight)| **weight != 0.0) {
                let place = &mut counts[node as usize];
                incident[*place as usize] = (index as u32, weight);
                *place += 1;
            }
        }
        Self { rows, offsets, incident, own }
    }

    fn of_node(&self, node: usize) -> &[(u32, f32)] {
        &self.incident[self.offsets[node] as usize..self.offsets[node + 1] as usize]
    }

    /// `y += H x`.
    pub fn add_product(&self, x: &[f64], y: &mut [f64]) {
        let push = |row: &Stored| {
            let mut sum = Vector::<D>::zeros();
            for (&node, &weight) in row.nodes.iter().zip(&row.weights) {
                sum += read::<D>(x, node) * f64::from(weight);
            }
            unpack::<D>(&row.block) * sum
        };
        let pushes: Vec<Vector<D>> = self.rows.par_iter().with_min_len(PIECE).map(push).collect();
        y.par_chunks_mut(D * PIECE).enumerate().for_each(|(chunk, y)| {
            for (k, y) in y.chunks_exact_mut(D).enumerate() {
                let node = chunk * PIECE + k;
                let mut sum = self.own[node] * read::<D>(x, node as u32);
                for &(row, weight) in self.of_node(node) {
                    sum += pushes[row as usize] * f64::from(weight);
                }
                for axis in 0..D {
                    y[axis] += sum[axis];
                }
            }
        });
    }

    /// Diagonal block of each particle.
    pub fn diagonal_blocks(&self) -> Vec<Matrix<D>> {
        let block = |node: usize| {
            let mut sum = self.own[node];
            for &(row, weight) in self.of_node(node) {
                let weight = f64::from(weight);
                sum += unpack::<D>(&self.rows[row as usize].block) * (weight * weight);
            }
            sum
        };
        (0..self.own.len()).into_par_iter().with_min_len(PIECE).map(block).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use splashdown_solve::testing::TestNumbers;

    #[test]
    fn product_and_diagonal_are_those_of_the_dense_sum() {
        const NODES: usize = 9;
        let mut random = TestNumbers::new(5);
        let mut pinned = vec![false; NODES];
        pinned[3] = true;
        let mut rows = Vec::new();
        for at in 0..40u32 {
            let nodes: [u32; 4] = std::array::from_fn(|i| (at * 5 + 2 * i as u32) % NODES as u32);
            let mut weights: [f64; 4] = std::array::from_fn(|_| random.uniform(-1.0, 1.0));
            if at % 5 == 0 {
                weights = [1.0, 0.0, 0.0, 0.0];
            }
            let normal = Vector::<3>::from_fn(|_, _| random.uniform(-1.0, 1.0));
            rows.push((nodes, weights, normal * normal.transpose()));
        }
        let mut dense = [[0.0; 3 * NODES]; 3 * NODES];
        for (nodes, weights, block) in &rows {
            for (&a, &wa) in nodes.iter().zip(weights) {
                for (&b, &wb) in nodes.iter().zip(weights) {
                    for i in 0..3 {
                        for j in 0..3 {
                            if !pinned[a as usize] && !pinned[b as usize] {
                                dense[3 * a as usize + i][3 * b as usize + j] += wa * wb * block[(i, j)];
                            }
                        }
                    }
                }
            }
        }
        let stiffness = ContactStiffness::<3>::new(rows, &pinned);
        let x: Vec<f64> = (0..3 * NODES).map(|_| random.uniform(-1.0, 1.0)).collect();
        let mut y = vec![0.0; 3 * NODES];
        stiffness.add_product(&x, &mut y);
        for (row, y) in dense.iter().zip(&y) {
            let exact: f64 = row.iter().zip(&x).map(|(a, x)| a * x).sum();
            assert!((y - exact).abs() < 1e-5, "{y} {exact}");
        }
        for (node, block) in stiffness.diagonal_blocks().iter().enumerate() {
            for i in 0..3 {
                for j in 0..3 {
                    assert!((block[(i, j)] - dense[3 * node + i][3 * node + j]).abs() < 1e-5);
                }
            }
        }
    }
}
