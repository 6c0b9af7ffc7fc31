//! The stiffness of contacts as an operator: `sum_c W_c^T B_c W_c` with a symmetric block `B_c` and the weights `W_c` of up to four particles, which sum to zero.
//!
//! Many contacts act between the same particles, so their blocks are summed by pairs of particles. Each block acts on the difference of two displacements: what moves together feels
//! nothing, whatever the rounding. In double precision: in single precision the rounding of what almost touches is larger than all inertia. Rows are gathered particle by particle, so
//! that threads never write to the same place and the bits do not depend on them.

use crate::force::read;
use splashdown_math::{Matrix, Vector};
use splashdown_parallel::prelude::*;

/// Particles and weights of one contact. One particle (other weights zero) against what does not move, or several whose weights sum to zero.
pub(super) type Arms = ([u32; 4], [f64; 4]);

/// Particles of one thread's piece.
const PIECE: usize = 256;

/// Lower triangle of a symmetric block by columns, `D (D + 1) / 2` entries.
pub(super) type Packed = [f64; 6];

/// What couples two particles.
#[derive(Debug, Clone, Copy)]
struct Coupling {
    other: u32,
    block: Packed,
}

#[derive(Debug, Clone)]
pub(crate) struct ContactStiffness<const D: usize> {
    /// For each particle the first of its entries in `couplings`, and the end.
    offsets: Vec<usize>,
    couplings: Vec<Coupling>,
    /// Blocks that act on one particle only.
    own: Vec<Matrix<D>>,
}

pub(super) fn pack<const D: usize>(block: &Matrix<D>) -> Packed {
    let mut out = [0.0; 6];
    let mut at = 0;
    for j in 0..D {
        for i in j..D {
            out[at] = block[(i, j)];
            at += 1;
        }
    }
    out
}

fn unpack<const D: usize>(packed: &Packed) -> Matrix<D> {
    let mut block = Matrix::<D>::zeros();
    let mut at = 0;
    for j in 0..D {
        for i in j..D {
            block[(i, j)] = packed[at];
            block[(j, i)] = block[(i, j)];
            at += 1;
        }
    }
    block
}

impl<const D: usize> ContactStiffness<D> {
    /// From all contacts and their blocks, for particles that are not `pinned`; pinned ones have no displacement.
    pub fn new(contacts: &[Arms], blocks: &[Packed], pinned: &[bool]) -> Self {
        let count = pinned.len();
        let mut own = vec![Matrix::<D>::zeros(); count];
        let mut starts = vec![0u32; count + 1];
        let several = |weights: &[f64; 4]| weights.iter().filter(|weight| **weight != 0.0).count() > 1;
        let acting = |arms: &Arms| {
            let (nodes, weights) = *arms;
            (0..4).filter(move |&k| weights[k] != 0.0 && !pinned[nodes[k] as usize])
        };
        for (arms, block) in contacts.iter().zip(blocks) {
            let (nodes, weights) = arms;
            if several(weights) {
                acting(arms).for_each(|k| starts[nodes[k] as usize + 1] += 1);
            } else {
                let block = unpack::<D>(block);
                acting(arms).for_each(|k| own[nodes[k] as usize] += block * (weights[k] * weights[k]));
            }
        }
        for node in 0..count {
            starts[node + 1] += starts[node];
        }
        // Contacts by particle, each with the place of the particle in it.
        let mut places = starts.clone();
        let mut incident = vec![(0u32, 0u8); starts[count] as usize];
        for (index, arms) in contacts.iter().enumerate().filter(|(_, arms)| several(&arms.1)) {
            for k in acting(arms) {
                let place = &mut places[arms.0[k] as usize];
                incident[*place as usize] = (index as u32, k as u8);
                *place += 1;
            }
        }
        let pieces: Vec<(Vec<usize>, Vec<Coupling>)> = (0..count.div_ceil(PIECE))
            .into_par_iter()
            .map(|piece| {
                let mut slots = vec![u32::MAX; count];
                let mut sums: Vec<(u32, Packed)> = Vec::new();
                let (mut ends, mut couplings) = (Vec::with_capacity(PIECE), Vec::new());
                for node in piece * PIECE..((piece + 1) * PIECE).min(count) {
                    sums.clear();
                    for &(index, k) in &incident[starts[node] as usize..starts[node + 1] as usize] {
                        let ((nodes, weights), block) = (&contacts[index as usize], &blocks[index as usize]);
                        let scaled = block.map(|entry| entry * weights[k as usize]);
                        for other in (0..4).filter(|&other| other != k as usize && weights[other] != 0.0) {
                            let slot = &mut slots[nodes[other] as usize];
                            if *slot == u32::MAX {
                                *slot = sums.len() as u32;
                                sums.push((nodes[other], [0.0; 6]));
                            }
                            let sum = &mut sums[*slot as usize].1;
                            (0..6).for_each(|entry| sum[entry] += scaled[entry] * weights[other]);
                        }
                    }
                    for &(other, block) in &sums {
                        slots[other as usize] = u32::MAX;
                        couplings.push(Coupling { other, block });
                    }
                    ends.push(couplings.len());
                }
                (ends, couplings)
            })
            .collect();
        let mut offsets = vec![0];
        let mut couplings = Vec::with_capacity(pieces.iter().map(|(_, couplings)| couplings.len()).sum());
        for (ends, part) in pieces {
            let first = couplings.len();
            offsets.extend(ends.into_iter().map(|end| first + end));
            couplings.extend(part);
        }
        Self { offsets, couplings, own }
    }

    fn of_node(&self, node: usize) -> &[Coupling] {
        &self.couplings[self.offsets[node]..self.offsets[node + 1]]
    }

    /// `y += H x`; `x` is zero at pinned particles.
    pub fn add_product(&self, x: &[f64], y: &mut [f64]) {
        y.par_chunks_mut(D * PIECE).enumerate().for_each(|(chunk, y)| {
            for (k, y) in y.chunks_exact_mut(D).enumerate() {
                let node = chunk * PIECE + k;
                let here = read::<D>(x, node as u32);
                let mut sum = self.own[node] * here;
                for Coupling { other, block } in self.of_node(node) {
                    add_symmetric(block, &(read::<D>(x, *other) - here), &mut sum);
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
            for coupling in self.of_node(node) {
                sum -= unpack::<D>(&coupling.block);
            }
            sum
        };
        (0..self.own.len()).into_par_iter().with_min_len(PIECE).map(block).collect()
    }
}

/// `sum += B d`.
#[inline]
fn add_symmetric<const D: usize>(block: &Packed, d: &Vector<D>, sum: &mut Vector<D>) {
    let mut at = 0;
    for j in 0..D {
        sum[j] += block[at] * d[j];
        at += 1;
        for i in j + 1..D {
            let entry = block[at];
            sum[i] += entry * d[j];
            sum[j] += entry * d[i];
            at += 1;
        }
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
            weights[3] = -weights[..3].iter().sum::<f64>();
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
        let contacts: Vec<Arms> = rows.iter().map(|&(nodes, weights, _)| (nodes, weights)).collect();
        let blocks: Vec<Packed> = rows.iter().map(|(_, _, block)| pack::<3>(block)).collect();
        let stiffness = ContactStiffness::<3>::new(&contacts, &blocks, &pinned);
        let mut x: Vec<f64> = (0..3 * NODES).map(|_| random.uniform(-1.0, 1.0)).collect();
        x[9..12].fill(0.0);
        let mut y = vec![0.0; 3 * NODES];
        stiffness.add_product(&x, &mut y);
        for (row, y) in dense.iter().zip(&y) {
            let exact: f64 = row.iter().zip(&x).map(|(a, x)| a * x).sum();
            assert!((y - exact).abs() < 1e-12, "{y} {exact}");
        }
        for (node, block) in stiffness.diagonal_blocks().iter().enumerate() {
            for i in 0..3 {
                for j in 0..3 {
                    assert!((block[(i, j)] - dense[3 * node + i][3 * node + j]).abs() < 1e-12);
                }
            }
        }
    }
}
