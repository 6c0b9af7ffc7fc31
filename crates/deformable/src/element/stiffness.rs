//! Stiffness of elements: applied without a matrix, and as small dense matrices for assembly (spec 3.5, 3.6).

use super::{Decompose, Elements, Shape, edges};
use crate::material::Differential;
use nalgebra::SMatrix;
use splashdown_math::{Matrix, Real, Vector};

impl<S: Real, const D: usize, const C: usize, const M: usize> Elements<D, C, M, S>
where
    Shape<D, C>: Decompose<D, C>,
{
    /// The differential of the law at a point, without fibres.
    pub(super) fn tangent_differential(&self, point: usize) -> Differential<C> {
        let mut differential =
            self.material.law.differential(&self.lame(point / self.points), &self.state[point].stretches());
        if D == C {
            differential.out_of_plane = Vector::zeros();
        }
        differential
    }

    pub(super) fn add_stiffness_force(&self, change: &[f64], force: &mut [f64], positive: bool) {
        self.partition.assemble::<D>(force, |chunk, out| {
            let mut dx = Vec::new();
            chunk.load::<D>(change, &mut dx);
            for element in chunk.first..chunk.last {
                let corners = chunk.corners(element);
                let edges = edges::<D, M>(&dx, corners);
                for point in element * self.points..(element + 1) * self.points {
                    let state = &self.state[point];
                    let mut differential = self.tangent_differential(point);
                    if positive {
                        differential = differential.positive();
                    }
                    let frame = self.frame(state);
                    let rate = state.rate(&frame, &edges);
                    let mut stress = differential.apply(&rate);
                    for family in &self.fibres {
                        let a = &family.local[point];
                        let (c1, c2, q) = family.fibre.differential(&state.stretches(), a, positive);
                        let along = rate * a;
                        stress += (along * c1 + q * (c2 * q.dot(&along))) * a.transpose();
                    }
                    let volume = self.elastic_volume(point);
                    state.scatter(&frame, &stress, volume, corners, out);
                    if D > C {
                        let normal = Self::normal(state);
                        let rate = Self::normal_rate(state, &normal, &edges);
                        let mut traction =
                            Vector::<C>::from_fn(|j, _| differential.out_of_plane[j] * rate[j]);
                        // Tension keeps a fibre from turning out of the plane, too.
                        for family in &self.fibres {
                            let a = &family.local[point];
                            let (c1, ..) = family.fibre.differential(&state.stretches(), a, positive);
                            let along: f64 = (0..C).map(|j| rate[j] * a[j]).sum();
                            traction += a * (c1 * along);
                        }
                        Self::scatter_normal(state, &normal, &traction, volume, corners, out);
                    }
                }
            }
        });
    }

    /// Adds `stiffness K + damping (-D)` of one element to the row-major matrix `out` over its nodes.
    ///
    /// In the frame of the stretches the block of nodes `a`, `b` is `H_ik g_i g'_k` plus the pair terms, so that only `M (M + 1) / 2` small blocks are turned back.
    #[inline(never)]
    pub(super) fn add_matrix(
        &self,
        element: usize,
        stiffness: f64,
        damping: f64,
        positive: bool,
        out: &mut [f64],
    ) {
        let size = (M + 1) * D;
        let proportional = damping != 0.0 && self.is_damped_by_stiffness();
        if damping != 0.0 && !proportional {
            self.add_viscous_matrix(element, damping, out);
        }
        if stiffness == 0.0 && !proportional {
            return;
        }
        for point in element * self.points..(element + 1) * self.points {
            let state = &self.state[point];
            let (mut hessian, mut same, mut cross, mut out_of_plane) = if proportional {
                self.damping_tangent(point)
            } else {
                (Matrix::zeros(), Matrix::zeros(), Matrix::zeros(), Vector::zeros())
            };
            hessian *= damping;
            same *= damping;
            cross *= damping;
            out_of_plane *= damping;
            let mut fibres: Vec<(f64, f64, Vector<C>, Vector<C>)> = Vec::new();
            if stiffness != 0.0 {
                let mut differential = self.tangent_differential(point);
                if positive {
                    differential = differential.positive();
                }
                hessian += differential.hessian * stiffness;
                for i in 0..C {
                    for j in 0..C {
                        let (own, other) = differential.pair(i, j);
                        same[(i, j)] += stiffness * own;
                        cross[(i, j)] += stiffness * other;
                    }
                }
                out_of_plane += differential.out_of_plane * stiffness;
                for family in &self.fibres {
                    let a = family.local[point];
                    let (c1, c2, q) = family.fibre.differential(&state.stretches(), &a, positive);
                    fibres.push((stiffness * c1, stiffness * c2, q, a));
                }
            }
            let frame = self.frame(state);
            let volume = self.elastic_volume(point);
            let normal = Vector::<D>::from(Self::normal(state));
            let block_of = |ga: &[f64; C], gb: &[f64; C]| -> Matrix<D> {
                let mut local = Matrix::<C>::from_fn(|i, k| {
                    if i == k {
                        let mut sum = hessian[(i, i)] * ga[i] * gb[i];
                        for j in 0..C {
                            if j != i {
                                sum += same[(i, j)] * ga[j] * gb[j];
                            }
                        }
                        sum
                    } else {
                        hessian[(i, k)] * ga[i] * gb[k] + cross[(i, k)] * ga[k] * gb[i]
                    }
                });
                for (c1, c2, q, a) in &fibres {
                    let along = a.dot(&Vector::from(*ga)) * a.dot(&Vector::from(*gb));
                    local += (Matrix::<C>::identity() * *c1 + q * q.transpose() * *c2) * along;
                }
                let turned: SMatrix<f64, D, C> = frame * local;
                let mut block = turned * frame.transpose();
                if D > C {
                    let mut across: f64 = (0..C).map(|j| out_of_plane[j] * ga[j] * gb[j]).sum();
                    for (c1, _, _, a) in &fibres {
                        across += c1 * a.dot(&Vector::from(*ga)) * a.dot(&Vector::from(*gb));
                    }
                    block += normal * normal.transpose() * across;
                }
                block * volume
            };
            let mut add = |a: usize, b: usize, block: &Matrix<D>, sign: f64, transposed: bool| {
                for i in 0..D {
                    for k in 0..D {
                        let value = if transposed { block[(k, i)] } else { block[(i, k)] };
                        out[(a * D + i) * size + b * D + k] += sign * value;
                    }
                }
            };
            let gradients = state.gradients();
            for a in 0..M {
                for b in a..M {
                    let block = block_of(&gradients[a], &gradients[b]);
                    // Node 0 carries minus the sum of the others, on both sides.
                    add(a + 1, b + 1, &block, 1.0, false);
                    add(0, b + 1, &block, -1.0, false);
                    add(a + 1, 0, &block, -1.0, false);
                    add(0, 0, &block, 1.0, false);
                    if a != b {
                        add(b + 1, a + 1, &block, 1.0, true);
                        add(0, a + 1, &block, -1.0, true);
                        add(b + 1, 0, &block, -1.0, true);
                        add(0, 0, &block, 1.0, true);
                    }
                }
            }
        }
    }
}
