//! Deformation, stress and elastic force (spec 3.3).

use super::{Decompose, Decomposed, Elements, PointState, Shape, edges};
use crate::force::ForceError;
use nalgebra::{SMatrix, SVector};
use splashdown_math::{Matrix, Real, Vector};
use splashdown_parallel::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Points that are decomposed in one go: enough for the vector lanes, few enough for the first-level cache.
const BATCH: usize = 64;

impl<S: Real, const D: usize, const C: usize, const M: usize> Elements<D, C, M, S>
where
    Shape<D, C>: Decompose<D, C>,
{
    /// Deformation gradient from nodal positions relative to the first node.
    #[inline(always)]
    fn gradient_of(edges: &[[f64; D]; M], gradients: &[[S; C]; M]) -> SMatrix<S, D, C> {
        let mut f = SMatrix::<S, D, C>::zeros();
        for (edge, g) in edges.iter().zip(gradients) {
            for j in 0..C {
                for i in 0..D {
                    f[(i, j)] += S::narrow(edge[i]) * g[j];
                }
            }
        }
        f
    }

    /// Decomposes the deformation of every point.
    pub(super) fn update_points(&mut self, position: &[f64]) -> Result<(), ForceError> {
        let mut state = std::mem::take(&mut self.state);
        let (refused, broken) = (AtomicUsize::new(usize::MAX), AtomicUsize::new(usize::MAX));
        let this = &*self;
        let law = &this.material.law;
        this.partition.for_each(&mut state, this.points, |chunk, states| {
            let mut x = Vec::new();
            chunk.load::<D>(position, &mut x);
            let mut f = [SMatrix::<S, D, C>::zeros(); BATCH];
            let mut out = [<Shape<D, C> as Decompose<D, C>>::Out::<S>::blank(); BATCH];
            let first_point = chunk.first * this.points;
            for (batch, states) in states.chunks_mut(BATCH).enumerate() {
                let first = first_point + batch * BATCH;
                let count = states.len();
                for (k, f) in f[..count].iter_mut().enumerate() {
                    let point = first + k;
                    let edges = edges::<D, M>(&x, chunk.corners(this.element_of(point)));
                    *f = Self::gradient_of(&edges, &this.gradient[point]);
                    if let Some(plastic) = &this.plastic {
                        *f *= plastic.inverse[point].map(S::narrow);
                    }
                }
                if law.model.is_linear() {
                    for (k, state) in states.iter_mut().enumerate() {
                        let sum: f64 = f[k].iter().map(|&entry| entry.into()).sum();
                        if !sum.is_finite() {
                            broken.fetch_min((first + k) / this.points, Ordering::Relaxed);
                        }
                        *state = PointState {
                            u: f[k],
                            stretch: SVector::repeat(S::ONE),
                            local: this.gradient[first + k],
                        };
                    }
                    continue;
                }
                Shape::<D, C>::decompose(&f[..count], &mut out[..count]);
                for (k, state) in states.iter_mut().enumerate() {
                    let point = first + k;
                    if let Some(facing) = &this.facing {
                        out[k].face(&facing[this.element_of(point)]);
                    }
                    let out = &out[k];
                    if !out.stretch().sum().is_finite() {
                        broken.fetch_min(point / this.points, Ordering::Relaxed);
                    } else if !law.accepts(&out.stretch().map(Into::into)) {
                        refused.fetch_min(point / this.points, Ordering::Relaxed);
                    }
                    state.u = *out.u();
                    state.stretch = *out.stretch();
                    let v = out.v();
                    if this.plastic.is_none() {
                        state.local = rotate_back(v, &this.gradient[point]);
                    } else {
                        state.local =
                            rotate_back(v, &this.rest_gradients(point).map(|g| g.map(S::narrow).into()));
                    }
                }
            }
        });
        self.state = state;
        let force = || self.name.clone();
        match (broken.into_inner(), refused.into_inner()) {
            (usize::MAX, usize::MAX) => Ok(()),
            (usize::MAX, element) => Err(ForceError::Inverted { force: force(), element }),
            (element, _) => Err(ForceError::NotFinite { force: force(), element }),
        }
    }

    /// Turns the fibre directions into the frames of the stretches: `V^T a`. From `V^T g_i` and `g_i`, so that `V` need not be kept.
    pub(super) fn update_fibres(&mut self) {
        if self.fibres.is_empty() {
            return;
        }
        let (state, gradient, points) = (&self.state, &self.gradient, self.points);
        for family in &mut self.fibres {
            let direction = &family.direction;
            family.local.par_iter_mut().enumerate().for_each(|(point, local)| {
                // a = sum_i c_i g_i by least squares, then V^T a = sum_i c_i V^T g_i.
                let a = direction[point / points];
                let mut gram = Matrix::<C>::zeros();
                let mut mixed = Matrix::<C>::zeros();
                for (g, turned) in gradient[point].iter().zip(&state[point].gradients()) {
                    let g: [f64; C] = g.map(Into::into);
                    for i in 0..C {
                        for j in 0..C {
                            gram[(i, j)] += g[i] * g[j];
                            mixed[(i, j)] += turned[i] * g[j];
                        }
                    }
                }
                *local = gram.try_inverse().map_or(a, |inverse| mixed * (inverse * a));
            });
        }
    }

    /// Principal stresses of a point; with fibres also the off-diagonal part.
    #[inline]
    fn stress(&self, point: usize, state: &PointState<S, D, C, M>) -> Matrix<C> {
        let lame = self.lame(self.element_of(point));
        if self.material.law.model.is_linear() {
            let f = Matrix::<C>::from_fn(|i, j| state.u[(i, j)].into());
            let strain = 0.5 * (f + f.transpose()) - Matrix::identity();
            return strain * (2.0 * lame.mu) + Matrix::identity() * (lame.lambda * strain.trace());
        }
        let mut stress = Matrix::from_diagonal(&self.material.law.stress(&lame, &state.stretches()));
        for family in &self.fibres {
            family.fibre.add_stress(&state.stretches(), &family.local[point], &mut stress);
        }
        stress
    }

    /// `sqrt(3/2 s : s)` with the deviator `s` of the Cauchy stress `P F^T / J`, the mean over an element's points. Two-dimensional elements and
    /// membranes have no stress across.
    pub(super) fn von_mises_stresses(&self) -> Vec<f64> {
        /// An element that is flat or inside out has no Cauchy stress; its force is spread over this share of its rest volume.
        const LEAST_VOLUME: f64 = 0.01;
        let at = |point: usize| {
            let state = &self.state[point];
            let mut cauchy = self.stress(point, state);
            if !self.material.law.model.is_linear() {
                let stretch = state.stretches();
                let volume = stretch.iter().product::<f64>().max(LEAST_VOLUME);
                for (j, mut column) in cauchy.column_iter_mut().enumerate() {
                    column *= stretch[j] / volume;
                }
            }
            let sizes = cauchy.norm_squared() - cauchy.trace().powi(2) / 3.0;
            (1.5 * sizes.max(0.0)).sqrt()
        };
        let mean = |element: usize| {
            let points = element * self.points..(element + 1) * self.points;
            points.map(at).sum::<f64>() / self.points as f64
        };
        (0..self.len()).map(mean).collect()
    }

    pub(super) fn add_elastic_force(&self, force: &mut [f64]) {
        let diagonal = self.fibres.is_empty() && !self.material.law.model.is_linear();
        self.partition.assemble::<D>(force, |chunk, out| {
            for element in chunk.first..chunk.last {
                let corners = chunk.corners(element);
                let lame = self.lame(element);
                for point in element * self.points..(element + 1) * self.points {
                    let state = &self.state[point];
                    if diagonal {
                        let stress = self.material.law.stress(&lame, &state.stretches());
                        state.scatter_diagonal(&stress, -self.elastic_volume(point), corners, out);
                    } else {
                        let stress = self.stress(point, state);
                        state.scatter(&self.frame(state), &stress, -self.elastic_volume(point), corners, out);
                    }
                }
            }
        });
    }

    /// The force of the fibres alone.
    pub(super) fn add_fibre_force(&self, force: &mut [f64]) {
        if self.fibres.is_empty() {
            return;
        }
        self.partition.assemble::<D>(force, |chunk, out| {
            for element in chunk.first..chunk.last {
                let corners = chunk.corners(element);
                for point in element * self.points..(element + 1) * self.points {
                    let state = &self.state[point];
                    let mut stress = Matrix::zeros();
                    for family in &self.fibres {
                        family.fibre.add_stress(&state.stretches(), &family.local[point], &mut stress);
                    }
                    state.scatter(&self.frame(state), &stress, -self.elastic_volume(point), corners, out);
                }
            }
        });
    }

    pub(super) fn elastic_energy(&self) -> f64 {
        self.partition.sum(|chunk| {
            let mut sum = 0.0;
            for point in chunk.first * self.points..chunk.last * self.points {
                let state = &self.state[point];
                let lame = self.lame(self.element_of(point));
                let mut density = if self.material.law.model.is_linear() {
                    let f = Matrix::<C>::from_fn(|i, j| state.u[(i, j)].into());
                    let strain = 0.5 * (f + f.transpose()) - Matrix::identity();
                    lame.mu * strain.norm_squared() + 0.5 * lame.lambda * strain.trace().powi(2)
                } else {
                    self.material.law.energy(&lame, &state.stretches())
                };
                for family in &self.fibres {
                    density += family.fibre.energy(&state.stretches(), &family.local[point]);
                }
                sum += density * self.elastic_volume(point);
            }
            sum
        })
    }
}

impl<S: Real, const D: usize, const C: usize, const M: usize> PointState<S, D, C, M> {
    /// [`Self::scatter`] for a diagonal stress.
    #[inline(always)]
    fn scatter_diagonal(&self, stress: &Vector<C>, factor: f64, corners: &[u16], out: &mut [[f64; D]]) {
        let mut scaled = [[0.0; D]; C];
        for j in 0..C {
            let value = factor * stress[j];
            for k in 0..D {
                scaled[j][k] = self.u[(k, j)].into() * value;
            }
        }
        let mut first = [0.0; D];
        for (local, &corner) in self.gradients().iter().zip(&corners[1..]) {
            let target = &mut out[corner as usize];
            for k in 0..D {
                let mut force = 0.0;
                for j in 0..C {
                    force += scaled[j][k] * local[j];
                }
                target[k] += force;
                first[k] -= force;
            }
        }
        let target = &mut out[corners[0] as usize];
        for k in 0..D {
            target[k] += first[k];
        }
    }
}

/// `V^T g_i`.
#[inline(always)]
fn rotate_back<S: Real, const C: usize, const M: usize>(
    v: &SMatrix<S, C, C>,
    gradients: &[[S; C]; M],
) -> [[S; C]; M] {
    std::array::from_fn(|i| {
        let g = &gradients[i];
        std::array::from_fn(|j| {
            let mut sum = S::ZERO;
            for k in 0..C {
                sum += v[(k, j)] * g[k];
            }
            sum
        })
    })
}
