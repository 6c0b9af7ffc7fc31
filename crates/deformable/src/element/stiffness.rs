//! Stiffness of elements: applied without a matrix, and as small dense matrices for assembly (spec 3.5, 3.6).

use super::{Decompose, Elements, Shape, edges};
use crate::material::Differential;
use nalgebra::SMatrix;
use splashdown_math::{Matrix, Real, Vector, symmetric_eigen};

/// `dP^_ij / dF^_kl` at row `C i + j` and column `C k + l`; what is left over in two dimensions is zero.
type Whole = SMatrix<f64, 9, 9>;

/// The operator nearest to the symmetric `whole` without negative eigenvalues.
fn positive_part(whole: Whole) -> Whole {
    // Rows that are left over would not be definite.
    let filled = Whole::from_fn(|i, j| {
        let left_over = i == j && whole.row(i).amax() == 0.0;
        if left_over { 1.0 } else { whole[(i, j)] }
    });
    if filled.cholesky().is_some() {
        return whole;
    }
    let eigen = whole.symmetric_eigen();
    let kept = SMatrix::from_diagonal(&eigen.eigenvalues.map(|value| value.max(0.0)));
    eigen.eigenvectors * kept * eigen.eigenvectors.transpose()
}

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

    /// Stiffness of law and fibres together made positive semidefinite, in the plane and out of it.
    ///
    /// Where fibres pull, the law is compressed and resists turning by less than nothing, the fibres by as much more. Made positive each by itself, their sum would be stiffer than it is and
    /// Newton's method would creep; made positive together it is the exact stiffness wherever that is definite.
    fn positive_with_fibres(&self, point: usize) -> (Whole, Matrix<C>) {
        let state = &self.state[point];
        let law = self.tangent_differential(point);
        let mut whole = Whole::zeros();
        let mut across = Matrix::<C>::from_diagonal(&law.out_of_plane);
        for i in 0..C {
            for j in 0..C {
                whole[(C * i + i, C * j + j)] += 0.5 * (law.hessian[(i, j)] + law.hessian[(j, i)]);
                if i != j {
                    let (same, other) = law.pair(i, j);
                    whole[(C * i + j, C * i + j)] += same;
                    whole[(C * i + j, C * j + i)] += other;
                }
            }
        }
        for family in &self.fibres {
            let a = &family.local[point];
            let (c1, c2, q) = family.fibre.differential(&state.stretches(), a, false);
            let outer = Matrix::<C>::identity() * c1 + q * q.transpose() * c2;
            for (row, column) in (0..C * C).flat_map(|row| (0..C * C).map(move |column| (row, column))) {
                let (i, j, k, l) = (row / C, row % C, column / C, column % C);
                whole[(row, column)] += outer[(i, k)] * a[j] * a[l];
            }
            across += a * a.transpose() * c1;
        }
        (positive_part(whole), symmetric_eigen(&across).map(|value| value.max(0.0)))
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
                    let frame = self.frame(state);
                    let rate = state.rate(&frame, &edges);
                    let volume = self.elastic_volume(point);
                    if positive && !self.fibres.is_empty() {
                        let (whole, across) = self.positive_with_fibres(point);
                        let stress = Matrix::<C>::from_fn(|i, j| {
                            (0..C * C).map(|at| whole[(C * i + j, at)] * rate[(at / C, at % C)]).sum()
                        });
                        state.scatter(&frame, &stress, volume, corners, out);
                        if D > C {
                            let normal = Self::normal(state);
                            let rate = Self::normal_rate(state, &normal, &edges);
                            let traction = across * Vector::<C>::from_fn(|j, _| rate[j]);
                            Self::scatter_normal(state, &normal, &traction, volume, corners, out);
                        }
                        continue;
                    }
                    let mut differential = self.tangent_differential(point);
                    if positive {
                        differential = differential.positive();
                    }
                    let mut stress = differential.apply(&rate);
                    for family in &self.fibres {
                        let a = &family.local[point];
                        let (c1, c2, q) = family.fibre.differential(&state.stretches(), a, positive);
                        let along = rate * a;
                        stress += (along * c1 + q * (c2 * q.dot(&along))) * a.transpose();
                    }
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
            let mut together = None;
            if stiffness != 0.0 && positive && !self.fibres.is_empty() {
                let (whole, across) = self.positive_with_fibres(point);
                together = Some((whole * stiffness, across * stiffness));
            } else if stiffness != 0.0 {
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
                if let Some((whole, _)) = &together {
                    for (column, row) in
                        (0..C * C).flat_map(|column| (0..C * C).map(move |row| (column, row)))
                    {
                        let (i, j, k, l) = (row / C, row % C, column / C, column % C);
                        local[(i, k)] += whole[(row, column)] * ga[j] * gb[l];
                    }
                }
                let turned: SMatrix<f64, D, C> = frame * local;
                let mut block = turned * frame.transpose();
                if D > C {
                    let mut across: f64 = (0..C).map(|j| out_of_plane[j] * ga[j] * gb[j]).sum();
                    for (c1, _, _, a) in &fibres {
                        across += c1 * a.dot(&Vector::from(*ga)) * a.dot(&Vector::from(*gb));
                    }
                    if let Some((_, turning)) = &together {
                        across += Vector::from(*ga).dot(&(turning * Vector::from(*gb)));
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
