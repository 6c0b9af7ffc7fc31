//! Damping of elements and its factor `C`, `C^T C = -dt D` (spec 3.10). Rows are written in the frame of the stretches, as symmetric matrices without their
//! repeated half.

use super::{Decompose, Elements, PointState, Shape, edges};
use crate::material::{Lame, MaterialError};
use nalgebra::SMatrix;
use serde::{Deserialize, Serialize};
use splashdown_math::{Matrix, Real, Vector, symmetric_eigen};
use splashdown_parallel::prelude::*;
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

/// Kind of damping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DampingKind {
    /// On the rate of strain in the rotated frame. Acts in every state, but takes angular momentum from strained bodies.
    Linear,
    /// On the rate of Green strain: keeps angular momentum, fades as an element flattens.
    Conserving,
    /// Conserving for healthy elements, linear for flat and inverted ones, with a smooth change between the stretches 0.5 and 0.1.
    #[default]
    Blend,
    /// Proportional to the positive part of the stiffness.
    Stiffness,
}

/// Damping of a set of elements: viscosities `alpha = time lambda`, `beta = time mu`, or `time` times the stiffness.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Damping {
    /// Kind.
    pub kind: DampingKind,
    /// Viscosity per stiffness (s); 0 for none.
    pub time: f64,
}

impl Damping {
    /// No damping.
    pub const NONE: Self = Self { kind: DampingKind::Blend, time: 0.0 };

    /// Refuses a time that makes no sense.
    pub fn check(&self) -> Result<(), MaterialError> {
        if self.time.is_finite() && self.time >= 0.0 {
            Ok(())
        } else {
            Err(MaterialError::Negative { name: "the damping time (s)", value: self.time })
        }
    }
}

/// Stretches between which [`DampingKind::Blend`] changes from linear to conserving.
const BLEND: [f64; 2] = [0.1, 0.5];

/// Square root of the positive stiffness of a point: `H^{1/2}` and the roots of half the pair stiffnesses.
#[derive(Debug, Clone, Copy)]
pub(super) struct StiffnessFactor<const C: usize> {
    hessian: Matrix<C>,
    symmetric: Matrix<C>,
    antisymmetric: Matrix<C>,
    out_of_plane: Vector<C>,
}

/// Which strain rate is damped.
#[derive(Clone, Copy)]
enum Rate {
    Linear,
    Conserving,
}

impl Rate {
    /// The symmetric strain rate for the velocity gradient `l` in the frame of the stretches.
    #[inline]
    fn strain<const C: usize>(self, s: &Vector<C>, l: &Matrix<C>) -> Matrix<C> {
        match self {
            Self::Linear => 0.5 * (l + l.transpose()),
            Self::Conserving => Matrix::from_fn(|i, j| 0.5 * (s[i] * l[(i, j)] + s[j] * l[(j, i)])),
        }
    }

    /// Adjoint of [`Self::strain`] on a symmetric matrix.
    #[inline]
    fn adjoint<const C: usize>(self, s: &Vector<C>, z: &Matrix<C>) -> Matrix<C> {
        match self {
            Self::Linear => *z,
            Self::Conserving => Matrix::from_fn(|i, j| s[i] * z[(i, j)]),
        }
    }
}

/// `W = sqrt(2 beta) E + ((sqrt(C alpha + 2 beta) - sqrt(2 beta)) / C) tr(E) I`: the symmetric root of `2 beta E + alpha tr(E) I`.
#[inline]
fn root<const C: usize>(alpha: f64, beta: f64, strain: &Matrix<C>) -> Matrix<C> {
    let shear = (2.0 * beta).sqrt();
    let volume = ((C as f64 * alpha + 2.0 * beta).max(0.0).sqrt() - shear) / C as f64;
    strain * shear + Matrix::identity() * (volume * strain.trace())
}

/// Writes the independent entries of a symmetric matrix, off-diagonal ones times `sqrt 2`.
#[inline]
fn compress<const C: usize>(m: &Matrix<C>, rows: &mut [f64]) {
    let mut next = C;
    for i in 0..C {
        rows[i] = m[(i, i)];
        for j in i + 1..C {
            rows[next] = SQRT_2 * m[(i, j)];
            next += 1;
        }
    }
}

/// Adjoint of [`compress`]: the symmetric matrix with the same inner products.
#[inline]
fn expand<const C: usize>(rows: &[f64]) -> Matrix<C> {
    let mut m = Matrix::zeros();
    let mut next = C;
    for i in 0..C {
        m[(i, i)] = rows[i];
        for j in i + 1..C {
            m[(i, j)] = FRAC_1_SQRT_2 * rows[next];
            m[(j, i)] = m[(i, j)];
            next += 1;
        }
    }
    m
}

impl<S: Real, const D: usize, const C: usize, const M: usize> Elements<D, C, M, S>
where
    Shape<D, C>: Decompose<D, C>,
{
    /// Rows of `C` for one quadrature point.
    pub(super) fn rows_per_point(&self) -> usize {
        let symmetric = C * (C + 1) / 2;
        match self.material.damping {
            Damping { time: 0.0, .. } => 0,
            Damping { kind: DampingKind::Linear | DampingKind::Conserving, .. } => symmetric,
            Damping { kind: DampingKind::Blend, .. } => 2 * symmetric,
            Damping { kind: DampingKind::Stiffness, .. } => C * C + if D > C { C } else { 0 },
        }
    }

    fn viscosities(&self, lame: &Lame) -> (f64, f64) {
        let time = self.material.damping.time;
        // A slightly negative bulk part would have no root; 2 beta + C alpha >= 0 holds for every stable material.
        (time * lame.lambda, time * lame.mu)
    }

    /// The rates that are damped at a point, with their weights.
    #[inline]
    fn rates(&self, state: &PointState<S, D, C, M>) -> [(Rate, f64); 2] {
        match self.material.damping.kind {
            DampingKind::Linear | DampingKind::Stiffness => [(Rate::Linear, 1.0), (Rate::Conserving, 0.0)],
            DampingKind::Conserving => [(Rate::Conserving, 1.0), (Rate::Linear, 0.0)],
            DampingKind::Blend => {
                let t = ((state.stretch[C - 1].into() - BLEND[0]) / (BLEND[1] - BLEND[0])).clamp(0.0, 1.0);
                let weight = t * t * (3.0 - 2.0 * t);
                [(Rate::Conserving, weight), (Rate::Linear, 1.0 - weight)]
            }
        }
    }

    fn is_damped(&self) -> bool {
        self.material.damping.time > 0.0 && self.strength > 0.0
    }

    /// Is it damped in proportion to its stiffness?
    pub(super) fn is_damped_by_stiffness(&self) -> bool {
        self.material.damping.kind == DampingKind::Stiffness && self.is_damped()
    }

    #[inline(never)]
    pub(super) fn update_stiffness_factors(&mut self) {
        if self.material.damping.kind != DampingKind::Stiffness || !self.is_damped() {
            self.stiffness_factor.clear();
            return;
        }
        let mut factors = std::mem::take(&mut self.stiffness_factor);
        let points = self.state.len();
        let blank = StiffnessFactor {
            hessian: Matrix::zeros(),
            symmetric: Matrix::zeros(),
            antisymmetric: Matrix::zeros(),
            out_of_plane: Vector::zeros(),
        };
        factors.resize(points, blank);
        factors.par_iter_mut().enumerate().for_each(|(point, factor)| {
            let positive = self.tangent_differential(point).positive();
            *factor = StiffnessFactor {
                hessian: symmetric_eigen(&positive.hessian).map(|value| value.max(0.0).sqrt()),
                symmetric: positive.symmetric.map(|a| (0.5 * a).sqrt()),
                antisymmetric: positive.antisymmetric.map(|b| (0.5 * b).sqrt()),
                out_of_plane: positive.out_of_plane.map(f64::sqrt),
            };
        });
        self.stiffness_factor = factors;
    }

    /// Unit normal of a membrane point.
    #[inline]
    pub(super) fn normal(state: &PointState<S, D, C, M>) -> [f64; D] {
        let mut n = [0.0; D];
        if D == 3 && C == 2 {
            for k in 0..D {
                let (a, b) = ((k + 1) % 3, (k + 2) % 3);
                let u = |i: usize, j: usize| -> f64 { state.u[(i, j)].into() };
                n[k] = u(a, 0) * u(b, 1) - u(b, 0) * u(a, 1);
            }
        }
        n
    }

    /// `n^T dF V`: the part of a membrane's rate out of its plane.
    #[inline]
    pub(super) fn normal_rate(
        state: &PointState<S, D, C, M>,
        normal: &[f64; D],
        edges: &[[f64; D]; M],
    ) -> Vector<C> {
        let mut out = Vector::<C>::zeros();
        for (edge, local) in edges.iter().zip(&state.gradients()) {
            let along: f64 = (0..D).map(|k| normal[k] * edge[k]).sum();
            for j in 0..C {
                out[j] += along * local[j];
            }
        }
        out
    }

    /// Adds `factor n (t . V^T g_i)` to the nodes.
    #[inline]
    pub(super) fn scatter_normal(
        state: &PointState<S, D, C, M>,
        normal: &[f64; D],
        traction: &Vector<C>,
        factor: f64,
        corners: &[u16],
        out: &mut [[f64; D]],
    ) {
        for (local, &corner) in state.gradients().iter().zip(&corners[1..]) {
            let size: f64 = factor * (0..C).map(|j| traction[j] * local[j]).sum::<f64>();
            for k in 0..D {
                out[corner as usize][k] += size * normal[k];
                out[corners[0] as usize][k] -= size * normal[k];
            }
        }
    }

    pub(super) fn add_damping_force(&self, velocity: &[f64], force: &mut [f64]) {
        if !self.is_damped() {
            return;
        }
        self.partition.assemble::<D>(force, |chunk, out| {
            let mut v = Vec::new();
            chunk.load::<D>(velocity, &mut v);
            for element in chunk.first..chunk.last {
                let corners = chunk.corners(element);
                let edges = edges::<D, M>(&v, corners);
                let (alpha, beta) = self.viscosities(&self.lame(element));
                for point in element * self.points..(element + 1) * self.points {
                    let state = &self.state[point];
                    let frame = self.frame(state);
                    let l = state.rate(&frame, &edges);
                    let volume = self.elastic_volume(point);
                    let mut stress = Matrix::<C>::zeros();
                    if self.material.damping.kind == DampingKind::Stiffness {
                        let time = self.material.damping.time;
                        let factor = &self.stiffness_factor[point];
                        let mut rows = [0.0; 16];
                        factor.rows(&l, &mut rows);
                        stress = factor.transpose(&rows) * time;
                        if D > C {
                            let normal = Self::normal(state);
                            let rate = Self::normal_rate(state, &normal, &edges);
                            let traction =
                                Vector::from_fn(|j, _| time * factor.out_of_plane[j].powi(2) * rate[j]);
                            Self::scatter_normal(state, &normal, &traction, -volume, corners, out);
                        }
                    } else {
                        for (rate, weight) in self.rates(state) {
                            if weight == 0.0 {
                                continue;
                            }
                            let strain = rate.strain(&state.stretches(), &l);
                            let viscous =
                                strain * (2.0 * beta) + Matrix::identity() * (alpha * strain.trace());
                            stress += rate.adjoint(&state.stretches(), &viscous) * weight;
                        }
                    }
                    state.scatter(&frame, &stress, -volume, corners, out);
                }
            }
        });
    }

    pub(super) fn apply_damping_factor(&self, velocity: &[f64], dt: f64, out: &mut [f64]) {
        let per_point = self.rows_per_point();
        if per_point == 0 || !self.is_damped() {
            out.fill(0.0);
            return;
        }
        let symmetric = C * (C + 1) / 2;
        self.partition.for_each(out, self.points * per_point, |chunk, rows| {
            let mut v = Vec::new();
            chunk.load::<D>(velocity, &mut v);
            for element in chunk.first..chunk.last {
                let edges = edges::<D, M>(&v, chunk.corners(element));
                let (alpha, beta) = self.viscosities(&self.lame(element));
                for point in element * self.points..(element + 1) * self.points {
                    let state = &self.state[point];
                    let l = state.rate(&self.frame(state), &edges);
                    let at = (point - chunk.first * self.points) * per_point;
                    let rows = &mut rows[at..at + per_point];
                    let scale = dt * self.elastic_volume(point);
                    if self.material.damping.kind == DampingKind::Stiffness {
                        let factor = &self.stiffness_factor[point];
                        factor.rows(&l, rows);
                        if D > C {
                            let rate = Self::normal_rate(state, &Self::normal(state), &edges);
                            for j in 0..C {
                                rows[C * C + j] = factor.out_of_plane[j] * rate[j];
                            }
                        }
                        let scale = (scale * self.material.damping.time).sqrt();
                        rows.iter_mut().for_each(|row| *row *= scale);
                    } else {
                        for (k, (rate, weight)) in
                            self.rates(state).into_iter().take(per_point / symmetric).enumerate()
                        {
                            let strain = rate.strain(&state.stretches(), &l);
                            let w = root(alpha, beta, &strain) * (scale * weight).sqrt();
                            compress(&w, &mut rows[k * symmetric..(k + 1) * symmetric]);
                        }
                    }
                }
            }
        });
    }

    pub(super) fn add_damping_factor_transpose(&self, w: &[f64], dt: f64, force: &mut [f64]) {
        let per_point = self.rows_per_point();
        if per_point == 0 || !self.is_damped() {
            return;
        }
        let symmetric = C * (C + 1) / 2;
        self.partition.assemble::<D>(force, |chunk, out| {
            for element in chunk.first..chunk.last {
                let corners = chunk.corners(element);
                let (alpha, beta) = self.viscosities(&self.lame(element));
                for point in element * self.points..(element + 1) * self.points {
                    let state = &self.state[point];
                    let rows = &w[point * per_point..(point + 1) * per_point];
                    let scale = dt * self.elastic_volume(point);
                    let mut stress = Matrix::<C>::zeros();
                    let frame = self.frame(state);
                    if self.material.damping.kind == DampingKind::Stiffness {
                        let factor = &self.stiffness_factor[point];
                        let scale = (scale * self.material.damping.time).sqrt();
                        stress = factor.transpose(rows) * scale;
                        if D > C {
                            let normal = Self::normal(state);
                            let traction = Vector::from_fn(|j, _| factor.out_of_plane[j] * rows[C * C + j]);
                            Self::scatter_normal(state, &normal, &traction, scale, corners, out);
                        }
                    } else {
                        for (k, (rate, weight)) in
                            self.rates(state).into_iter().take(per_point / symmetric).enumerate()
                        {
                            let y = expand::<C>(&rows[k * symmetric..(k + 1) * symmetric]);
                            let z = root(alpha, beta, &y) * (scale * weight).sqrt();
                            stress += rate.adjoint(&state.stretches(), &z);
                        }
                    }
                    state.scatter(&frame, &stress, 1.0, corners, out);
                }
            }
        });
    }

    /// Adds `damping (-D)` of one element with a viscous kind of damping to the row-major matrix `out` over its nodes. With the gradients `l_a` in the frame of the stretches,
    /// `h_a = U S l_a` and `B = U S^2 U^T` (`S` the stretches for the conserving rate, 1 for the linear one) the block of nodes `a`, `b` is `alpha h_a h_b^T + beta h_b h_a^T + beta (l_a . l_b) B`.
    /// The viscosities are the same at all points of an element, so what they multiply is summed over the points first.
    pub(super) fn add_viscous_matrix(&self, element: usize, damping: f64, out: &mut [f64]) {
        if !self.is_damped() {
            return;
        }
        let size = (M + 1) * D;
        let (alpha, beta) = self.viscosities(&self.lame(element));
        let mut ways = [Way::<D, C, M>::NOTHING; WAYS];
        let mut count = 0;
        let mut add = |ways: &[Way<D, C, M>]| {
            let plain = ways.iter().all(|way| way.plain);
            for a in 0..=M {
                for b in a..=M {
                    let (mut outer, mut square) = ([[0.0; D]; D], [[0.0; D]; D]);
                    for way in ways {
                        let ((l_a, h_a), (l_b, h_b)) = (way.node(a), way.node(b));
                        for i in 0..D {
                            let scaled = way.weight * h_a[i];
                            for k in 0..D {
                                outer[i][k] += scaled * h_b[k];
                            }
                        }
                        if !plain {
                            let along: f64 = (0..C).map(|j| l_a[j] * l_b[j]).sum();
                            let along = way.weight * along;
                            for i in 0..D {
                                for k in 0..D {
                                    square[i][k] += along * way.square[i][k];
                                }
                            }
                        }
                    }
                    if plain {
                        let trace: f64 = (0..D).map(|i| outer[i][i]).sum();
                        (0..D).for_each(|i| square[i][i] = trace);
                    }
                    let entry =
                        |i: usize, k: usize| alpha * outer[i][k] + beta * (outer[k][i] + square[i][k]);
                    add_block::<D>(out, size, [a, b], entry);
                    if a != b {
                        add_block::<D>(out, size, [b, a], |i, k| entry(k, i));
                    }
                }
            }
        };
        for point in element * self.points..(element + 1) * self.points {
            let state = &self.state[point];
            let (frame, gradients) = (self.frame(state), state.gradients());
            let factor = damping * self.elastic_volume(point);
            for (rate, weight) in self.rates(state) {
                if weight == 0.0 {
                    continue;
                }
                if count == WAYS {
                    add(&ways);
                    count = 0;
                }
                ways[count] = Way::new(&frame, &gradients, rate, &state.stretches(), factor * weight);
                count += 1;
            }
        }
        add(&ways[..count]);
    }

    /// Damping of a point in proportion to its stiffness as pair coefficients: `(H, same, cross, out of plane)` with `P_ij = same_ij L_ij + cross_ij L_ji`.
    #[inline(never)]
    pub(super) fn damping_tangent(&self, point: usize) -> (Matrix<C>, Matrix<C>, Matrix<C>, Vector<C>) {
        let (time, factor) = (self.material.damping.time, &self.stiffness_factor[point]);
        let hessian = factor.hessian * factor.hessian * time;
        let (a, b) = (factor.symmetric.map(|a| a * a * time), factor.antisymmetric.map(|b| b * b * time));
        (hessian, a + b, a - b, factor.out_of_plane.map(|k| k * k * time))
    }
}

/// Most points and rates whose blocks are summed together: a hexahedron has eight points.
const WAYS: usize = 8;

/// What a rate at a point contributes to the damping matrix of its element.
#[derive(Clone, Copy)]
struct Way<const D: usize, const C: usize, const M: usize> {
    weight: f64,
    /// Gradients `l_a` of all nodes but the first, and that of the first.
    local: [[f64; C]; M],
    local_first: [f64; C],
    /// `h_a = U S l_a` of the same.
    turned: [[f64; D]; M],
    turned_first: [f64; D],
    /// `U S^2 U^T`.
    square: [[f64; D]; D],
    /// `U S` is a rotation: `square` is the unit matrix, and `l_a . l_b = h_a . h_b`.
    plain: bool,
}

impl<const D: usize, const C: usize, const M: usize> Way<D, C, M> {
    const NOTHING: Self = Self {
        weight: 0.0,
        local: [[0.0; C]; M],
        local_first: [0.0; C],
        turned: [[0.0; D]; M],
        turned_first: [0.0; D],
        square: [[0.0; D]; D],
        plain: false,
    };

    fn new(
        frame: &SMatrix<f64, D, C>,
        gradients: &[[f64; C]; M],
        rate: Rate,
        stretches: &Vector<C>,
        weight: f64,
    ) -> Self {
        let s = match rate {
            Rate::Linear => Vector::repeat(1.0),
            Rate::Conserving => *stretches,
        };
        let mut stretched = [[0.0; C]; D];
        for i in 0..D {
            for j in 0..C {
                stretched[i][j] = frame[(i, j)] * s[j];
            }
        }
        let turn = |local: &[f64; C]| -> [f64; D] {
            std::array::from_fn(|i| (0..C).map(|j| stretched[i][j] * local[j]).sum())
        };
        let (mut first, mut turned) = ([0.0; C], [[0.0; D]; M]);
        // Not `map`: nested arrays of it are calls.
        for (turned, gradient) in turned.iter_mut().zip(gradients) {
            *turned = turn(gradient);
            for j in 0..C {
                first[j] -= gradient[j];
            }
        }
        let product = |i: usize, k: usize| (0..C).map(|j| stretched[i][j] * stretched[k][j]).sum();
        Self {
            weight,
            local: *gradients,
            local_first: first,
            turned,
            turned_first: turn(&first),
            square: std::array::from_fn(|i| std::array::from_fn(|k| product(i, k))),
            plain: D == C && matches!(rate, Rate::Linear),
        }
    }

    /// `l_a` and `h_a`.
    #[inline(always)]
    fn node(&self, a: usize) -> (&[f64; C], &[f64; D]) {
        if a == 0 {
            (&self.local_first, &self.turned_first)
        } else {
            (&self.local[a - 1], &self.turned[a - 1])
        }
    }
}

/// Adds a block of `D x D` entries to a row-major matrix with rows of `size` entries.
#[inline(always)]
fn add_block<const D: usize>(
    out: &mut [f64],
    size: usize,
    [a, b]: [usize; 2],
    entry: impl Fn(usize, usize) -> f64,
) {
    let rows = &mut out[a * D * size..(a + 1) * D * size];
    for (i, row) in rows.chunks_exact_mut(size).enumerate() {
        let row = &mut row[b * D..(b + 1) * D];
        for (k, value) in row.iter_mut().enumerate() {
            *value += entry(i, k);
        }
    }
}

impl<const C: usize> StiffnessFactor<C> {
    /// `C` diagonal rows and two rows for every pair, without scale.
    #[inline]
    fn rows(&self, l: &Matrix<C>, rows: &mut [f64]) {
        let mut next = C;
        for i in 0..C {
            rows[i] = (0..C).map(|j| self.hessian[(i, j)] * l[(j, j)]).sum();
            for j in i + 1..C {
                rows[next] = self.symmetric[(i, j)] * (l[(i, j)] + l[(j, i)]);
                rows[next + 1] = self.antisymmetric[(i, j)] * (l[(i, j)] - l[(j, i)]);
                next += 2;
            }
        }
    }

    /// Adjoint of [`Self::rows`].
    #[inline]
    fn transpose(&self, rows: &[f64]) -> Matrix<C> {
        let mut m = Matrix::zeros();
        let mut next = C;
        for i in 0..C {
            m[(i, i)] = (0..C).map(|j| self.hessian[(j, i)] * rows[j]).sum();
            for j in i + 1..C {
                let (a, b) =
                    (self.symmetric[(i, j)] * rows[next], self.antisymmetric[(i, j)] * rows[next + 1]);
                m[(i, j)] = a + b;
                m[(j, i)] = a - b;
                next += 2;
            }
        }
        m
    }
}
