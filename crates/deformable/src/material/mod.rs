//! Constitutive laws in principal stretches (spec/deformable-solids.md 3.4, 3.5, 3.7): energy, principal stress and its differential, and the extensions that
//! keep every law finite and restoring past the flat state.
//!
//! All laws are isotropic: with the signed decomposition `F = U diag(s) V^T` the first Piola stress is `P = U diag(P^(s)) V^T`. Fibres add
//! `F^ S` with a symmetric `S` ([`Fibre`]). Laws take `C` stretches: three for solids, two for plane strain and membranes.

mod extension;
mod fibre;
mod law;
mod model;
mod plasticity;
mod stress;
#[cfg(test)]
mod tests;

pub use extension::{Extension, ExtensionKind};
pub use fibre::{Fibre, MuscleCurve};
pub use law::Law;
pub use model::{Model, SplineBranch};
pub use plasticity::{Plasticity, Yield, log_distance};
pub use stress::{cauchy_of, first_piola_of_cauchy, first_piola_of_second, second_piola_of};

use serde::{Deserialize, Serialize};
use splashdown_math::{Matrix, Vector, symmetric_eigen};

/// Lamé parameters of one element (Pa).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Lame {
    /// First parameter, `lambda` (Pa).
    pub lambda: f64,
    /// Shear modulus, `mu` (Pa).
    pub mu: f64,
}

/// Elastic constants that no material has.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum MaterialError {
    /// Young's modulus not positive and finite.
    #[error("Young's modulus is {0} Pa; expected a positive, finite number")]
    Young(f64),
    /// Poisson's ratio out of range.
    #[error("Poisson's ratio is {0}; expected a number above -1 and below 0.5")]
    Poisson(f64),
    /// Density not positive and finite.
    #[error("the density is {0} kg/m^3; expected a positive, finite number")]
    Density(f64),
    /// Membrane thickness not positive and finite.
    #[error("the thickness is {0} m; expected a positive, finite number")]
    Thickness(f64),
    /// A coefficient that must not be negative.
    #[error("{name} is {value}; expected a finite number that is not negative")]
    Negative {
        /// Which one.
        name: &'static str,
        /// Offending value.
        value: f64,
    },
    /// A threshold of an extension out of range.
    #[error("the {name} of the inversion extension is {value}; expected {expected}")]
    Threshold {
        /// Which one.
        name: &'static str,
        /// Offending value.
        value: f64,
        /// What would be right.
        expected: &'static str,
    },
    /// A combination of features that has no meaning.
    #[error("{0}")]
    Combination(&'static str),
}

impl Lame {
    /// From Young's modulus (Pa) and Poisson's ratio, for solids and plane strain.
    pub fn new(young: f64, poisson: f64) -> Result<Self, MaterialError> {
        Self::check(young, poisson)?;
        let mu = young / (2.0 * (1.0 + poisson));
        Ok(Self { lambda: young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)), mu })
    }

    /// From Young's modulus (Pa) and Poisson's ratio for a membrane: plane stress.
    pub fn plane_stress(young: f64, poisson: f64) -> Result<Self, MaterialError> {
        Self::check(young, poisson)?;
        let mu = young / (2.0 * (1.0 + poisson));
        Ok(Self { lambda: young * poisson / (1.0 - poisson * poisson), mu })
    }

    fn check(young: f64, poisson: f64) -> Result<(), MaterialError> {
        if !(young.is_finite() && young > 0.0) {
            return Err(MaterialError::Young(young));
        }
        if !(poisson > -1.0 && poisson < 0.5) {
            return Err(MaterialError::Poisson(poisson));
        }
        Ok(())
    }

    /// Both multiplied by `factor`.
    pub fn scaled(self, factor: f64) -> Self {
        Self { lambda: factor * self.lambda, mu: factor * self.mu }
    }

    /// `lambda + 2 mu`, the modulus of pressure waves (Pa).
    pub fn wave_modulus(self) -> f64 {
        self.lambda + 2.0 * self.mu
    }
}

/// How the principal stresses change with the deformation, in the frame of the stretches (spec 3.5).
///
/// `delta P^_ii = sum_j H_ij delta F^_jj`; each pair `i != j` has the symmetric mode with stiffness `a_ij` and the antisymmetric one with `b_ij`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Differential<const C: usize> {
    /// `H_ij = dP^_i / ds_j`.
    pub hessian: Matrix<C>,
    /// `a_ij = (P^_i - P^_j) / (s_i - s_j)`, off-diagonal.
    pub symmetric: Matrix<C>,
    /// `b_ij = (P^_i + P^_j) / (s_i + s_j)`, off-diagonal.
    pub antisymmetric: Matrix<C>,
    /// `P^_j / s_j`: the stiffness of a membrane against motion out of its plane.
    pub out_of_plane: Vector<C>,
}

impl<const C: usize> Differential<C> {
    /// `delta P^` for `delta F^`, both in the frame of the stretches.
    pub fn apply(&self, change: &Matrix<C>) -> Matrix<C> {
        let mut out = Matrix::<C>::zeros();
        for i in 0..C {
            for j in 0..C {
                out[(i, i)] += self.hessian[(i, j)] * change[(j, j)];
                if i != j {
                    let (same, other) = self.pair(i, j);
                    out[(i, j)] = same * change[(i, j)] + other * change[(j, i)];
                }
            }
        }
        out
    }

    /// `(a + b)/2` and `(a - b)/2` of the pair.
    #[inline]
    pub fn pair(&self, i: usize, j: usize) -> (f64, f64) {
        let (a, b) = (self.symmetric[(i, j)], self.antisymmetric[(i, j)]);
        (0.5 * (a + b), 0.5 * (a - b))
    }

    /// The nearest positive semidefinite operator: every mode's negative stiffness is replaced by zero.
    pub fn positive(&self) -> Self {
        let symmetric = 0.5 * (self.hessian + self.hessian.transpose());
        let definite = is_positive(&symmetric);
        Self {
            hessian: if definite {
                symmetric
            } else {
                symmetric_eigen(&symmetric).map(|value| value.max(0.0))
            },
            symmetric: self.symmetric.map(|value| value.max(0.0)),
            antisymmetric: self.antisymmetric.map(|value| value.max(0.0)),
            out_of_plane: self.out_of_plane.map(|value| value.max(0.0)),
        }
    }
}

/// Is a symmetric matrix positive definite by its leading minors? Cheap test before an eigenvalue problem.
fn is_positive<const C: usize>(m: &Matrix<C>) -> bool {
    let mut factor = *m;
    for k in 0..C {
        if !(factor[(k, k)] > 0.0) {
            return false;
        }
        for i in k + 1..C {
            let ratio = factor[(i, k)] / factor[(k, k)];
            for j in k + 1..C {
                factor[(i, j)] -= ratio * factor[(k, j)];
            }
        }
    }
    true
}
