//! The constitutive models as published: energy density, principal stress, Hessian and divided differences (table of spec 3.4).

use super::{Differential, Lame};
use serde::{Deserialize, Serialize};
use splashdown_math::{Matrix, Vector};

/// Smallest `|s_i + s_j|` by which an antisymmetric stiffness is divided.
const FLOOR: f64 = 1e-6;

/// One side of the biphasic spline model: `s = e + (h - 1) e^3 / (3 a^2)` up to the strain `a`, slope `h` beyond.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SplineBranch {
    /// Strain `a > 0` at which the response has hardened.
    pub threshold: f64,
    /// Slope `h` beyond it, relative to that at rest.
    pub hardening: f64,
}

impl Default for SplineBranch {
    fn default() -> Self {
        Self { threshold: 0.5, hardening: 7.0 }
    }
}

impl SplineBranch {
    /// Response and its slope at the strain `e`.
    fn evaluate(&self, e: f64) -> (f64, f64) {
        let (a, h) = (self.threshold, self.hardening);
        if e.abs() < a {
            (e + (h - 1.0) * e * e * e / (3.0 * a * a), 1.0 + (h - 1.0) * e * e / (a * a))
        } else {
            (e.signum() * (h * e.abs() - 2.0 / 3.0 * a * (h - 1.0)), h)
        }
    }

    /// Integral of the response from rest.
    fn integral(&self, e: f64) -> f64 {
        let (a, h) = (self.threshold, self.hardening);
        let inside = |e: f64| 0.5 * e * e + (h - 1.0) * e.powi(4) / (12.0 * a * a);
        if e.abs() < a {
            inside(e)
        } else {
            let beyond = e.abs() - a;
            inside(a) + h * (0.5 * beyond * beyond + a * beyond) - 2.0 / 3.0 * a * (h - 1.0) * beyond
        }
    }
}

/// An isotropic elastic model.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub enum Model {
    /// Linear elasticity in the small strain `(F + F^T)/2 - I`. Rotations strain it: for small displacements only.
    Linear,
    /// Linear elasticity in the frame that the polar rotation turns along. Finite and restoring in every state.
    #[default]
    RotatedLinear,
    /// St. Venant-Kirchhoff: linear in the Green strain. Weakens below the stretch `1/sqrt 3`.
    StVenantKirchhoff,
    /// Compressible neo-Hookean with `ln J`.
    NeoHookean,
    /// Fixed (corrected) corotated: `mu sum (s - 1)^2 + lambda/2 (J - 1)^2`.
    FixedCorotated,
    /// Pressure only, `lambda/2 (J - 1)^2`: a compressible fluid.
    CompressibleFlow,
    /// Cubic-spline biphasic model with linear pressure; hardens in compression and in extension.
    Spline {
        /// Below rest length.
        compression: SplineBranch,
        /// Above rest length.
        extension: SplineBranch,
    },
    /// Quasi-incompressible Mooney-Rivlin, for the matrix of muscles: `mu_10 + mu_01 = mu / 2`, and the bulk modulus `lambda + 2/3 mu` for the logarithm of the volume.
    MooneyRivlin {
        /// Part of the second coefficient, `mu_01 / (mu_10 + mu_01)`, 0 to 1.
        second: f64,
    },
}

impl Model {
    /// Does the model take the logarithm of the volume ratio, so that it has no value at or past the flat state?
    pub fn needs_positive_volume(&self) -> bool {
        matches!(self, Self::NeoHookean | Self::MooneyRivlin { .. })
    }

    /// Is the deformation gradient used as it is, without decomposition?
    pub fn is_linear(&self) -> bool {
        matches!(self, Self::Linear)
    }

    /// Elastic energy per rest volume at the stretches `s` (J/m^3).
    pub fn energy<const C: usize>(&self, lame: &Lame, s: &Vector<C>) -> f64 {
        let Lame { lambda, mu } = *lame;
        let volume = s.product();
        match self {
            Self::Linear | Self::RotatedLinear => {
                let strain = s.map(|s| s - 1.0);
                mu * strain.norm_squared() + 0.5 * lambda * strain.sum().powi(2)
            }
            Self::StVenantKirchhoff => {
                let strain = s.map(|s| 0.5 * (s * s - 1.0));
                mu * strain.norm_squared() + 0.5 * lambda * strain.sum().powi(2)
            }
            Self::NeoHookean => {
                let log = volume.ln();
                0.5 * mu * (s.norm_squared() - C as f64) - mu * log + 0.5 * lambda * log * log
            }
            Self::FixedCorotated => {
                mu * s.map(|s| s - 1.0).norm_squared() + 0.5 * lambda * (volume - 1.0).powi(2)
            }
            Self::CompressibleFlow => 0.5 * lambda * (volume - 1.0).powi(2),
            Self::Spline { compression, extension } => {
                let strain = s.map(|s| s - 1.0);
                let sum: f64 = strain.iter().map(|&e| branch(compression, extension, e).integral(e)).sum();
                2.0 * mu * sum + 0.5 * lambda * strain.sum().powi(2)
            }
            Self::MooneyRivlin { second } => {
                let [mu_10, mu_01, bulk] = mooney_rivlin(lame, *second);
                let (i1, i4) = invariants(s);
                let (j, log) = (volume.powf(-2.0 / 3.0), volume.ln());
                mu_10 * (j * i1 - 3.0) + mu_01 * (0.5 * j * j * (i1 * i1 - i4) - 3.0) + 0.5 * bulk * log * log
            }
        }
    }

    /// Principal stresses `P^_i = dPsi/ds_i` (Pa).
    #[inline]
    pub fn stress<const C: usize>(&self, lame: &Lame, s: &Vector<C>) -> Vector<C> {
        let Lame { lambda, mu } = *lame;
        match self {
            Self::Linear | Self::RotatedLinear => {
                let trace = lambda * (s.sum() - C as f64);
                s.map(|s| 2.0 * mu * (s - 1.0) + trace)
            }
            Self::StVenantKirchhoff => {
                let trace = 0.5 * lambda * (s.norm_squared() - C as f64);
                s.map(|s| s * (mu * (s * s - 1.0) + trace))
            }
            Self::NeoHookean => {
                let c = lambda * s.product().ln() - mu;
                s.map(|s| mu * s + c / s)
            }
            Self::FixedCorotated => {
                let pressure = lambda * (s.product() - 1.0);
                Vector::from_fn(|i, _| 2.0 * mu * (s[i] - 1.0) + pressure * others(s, i))
            }
            Self::CompressibleFlow => {
                let pressure = lambda * (s.product() - 1.0);
                Vector::from_fn(|i, _| pressure * others(s, i))
            }
            Self::Spline { compression, extension } => {
                let trace = lambda * (s.sum() - C as f64);
                s.map(|s| 2.0 * mu * branch(compression, extension, s - 1.0).evaluate(s - 1.0).0 + trace)
            }
            Self::MooneyRivlin { second } => {
                let r = MooneyRivlinTerms::new(s, mooney_rivlin(lame, *second));
                s.map(|s| r.linear * s - r.cubic * s * s * s + r.inverse / s)
            }
        }
    }

    /// `H_ij = dP^_i / ds_j` (Pa).
    pub fn hessian<const C: usize>(&self, lame: &Lame, s: &Vector<C>) -> Matrix<C> {
        let Lame { lambda, mu } = *lame;
        let diagonal = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
        match self {
            Self::Linear | Self::RotatedLinear => Matrix::from_fn(|i, j| 2.0 * mu * diagonal(i, j) + lambda),
            Self::StVenantKirchhoff => {
                let trace = 0.5 * lambda * (s.norm_squared() - C as f64);
                Matrix::from_fn(|i, j| {
                    diagonal(i, j) * (mu * (3.0 * s[i] * s[i] - 1.0) + trace) + lambda * s[i] * s[j]
                })
            }
            Self::NeoHookean => {
                let c = mu - lambda * s.product().ln();
                Matrix::from_fn(|i, j| diagonal(i, j) * (mu + c / (s[i] * s[i])) + lambda / (s[i] * s[j]))
            }
            Self::FixedCorotated | Self::CompressibleFlow => {
                let shear = if matches!(self, Self::FixedCorotated) { 2.0 * mu } else { 0.0 };
                let pressure = lambda * (s.product() - 1.0);
                Matrix::from_fn(|i, j| {
                    let volume = lambda * others(s, i) * others(s, j);
                    if i == j { shear + volume } else { volume + pressure * third(s, i, j) }
                })
            }
            Self::Spline { compression, extension } => Matrix::from_fn(|i, j| {
                let slope = branch(compression, extension, s[i] - 1.0).evaluate(s[i] - 1.0).1;
                2.0 * mu * slope * diagonal(i, j) + lambda
            }),
            Self::MooneyRivlin { second } => {
                let r = MooneyRivlinTerms::new(s, mooney_rivlin(lame, *second));
                Matrix::from_fn(|i, k| {
                    let (linear, cubic, inverse) = r.derivatives(s[k]);
                    diagonal(i, k) * (r.linear - 3.0 * r.cubic * s[i] * s[i] - r.inverse / (s[i] * s[i]))
                        + s[i] * linear
                        - s[i].powi(3) * cubic
                        + inverse / s[i]
                })
            }
        }
    }

    /// Hessian and divided differences in closed form: no division by `s_i - s_j`.
    pub fn differential<const C: usize>(&self, lame: &Lame, s: &Vector<C>) -> Differential<C> {
        let Lame { lambda, mu } = *lame;
        let hessian = self.hessian(lame, s);
        let stress = self.stress(lame, s);
        let out_of_plane = Vector::from_fn(|j, _| stress[j] / floored(s[j]));
        let by_definition = |i: usize, j: usize| (stress[i] + stress[j]) / floored(s[i] + s[j]);
        let pair: &dyn Fn(usize, usize) -> (f64, f64) = match self {
            Self::Linear => &|_, _| (2.0 * mu, 0.0),
            Self::RotatedLinear => &|i, j| (2.0 * mu, by_definition(i, j)),
            Self::StVenantKirchhoff => {
                let trace = 0.5 * lambda * (s.norm_squared() - C as f64);
                &move |i: usize, j: usize| {
                    let (square, cross) = (s[i] * s[i] + s[j] * s[j], s[i] * s[j]);
                    (mu * (square + cross - 1.0) + trace, mu * (square - cross - 1.0) + trace)
                }
            }
            Self::NeoHookean => {
                let c = mu - lambda * s.product().ln();
                &move |i: usize, j: usize| (mu + c / (s[i] * s[j]), mu - c / (s[i] * s[j]))
            }
            Self::FixedCorotated | Self::CompressibleFlow => {
                let shear = if matches!(self, Self::FixedCorotated) { 2.0 * mu } else { 0.0 };
                let pressure = lambda * (s.product() - 1.0);
                &move |i: usize, j: usize| {
                    let p = pressure * third(s, i, j);
                    (shear - p, shear * (1.0 - 2.0 / floored(s[i] + s[j])) + p)
                }
            }
            Self::Spline { .. } => {
                &|i, j| (divided_difference(s, i, j, |s| self.stress(lame, s)), by_definition(i, j))
            }
            Self::MooneyRivlin { second } => {
                let r = MooneyRivlinTerms::new(s, mooney_rivlin(lame, *second));
                &move |i: usize, j: usize| {
                    let (square, cross) = (s[i] * s[i] + s[j] * s[j], s[i] * s[j]);
                    (
                        r.linear - r.cubic * (square + cross) - r.inverse / cross,
                        r.linear - r.cubic * (square - cross) + r.inverse / cross,
                    )
                }
            }
        };
        let mut result = Differential {
            hessian,
            symmetric: Matrix::zeros(),
            antisymmetric: Matrix::zeros(),
            out_of_plane,
        };
        for i in 0..C {
            for j in 0..i {
                let (a, b) = pair(i, j);
                result.symmetric[(i, j)] = a;
                result.symmetric[(j, i)] = a;
                result.antisymmetric[(i, j)] = b;
                result.antisymmetric[(j, i)] = b;
            }
        }
        result
    }

    /// Largest slope of the principal stress, for the elastic time step (Pa): `lambda + 2 mu` times the hardening.
    pub fn wave_modulus(&self, lame: &Lame) -> f64 {
        match self {
            Self::Spline { compression, extension } => {
                lame.lambda + 2.0 * lame.mu * compression.hardening.max(extension.hardening).max(1.0)
            }
            Self::MooneyRivlin { second } => {
                let [mu_10, mu_01, bulk] = mooney_rivlin(lame, *second);
                bulk + 8.0 / 3.0 * 2.0 * (mu_10 + mu_01)
            }
            Self::CompressibleFlow => lame.lambda,
            _ => lame.wave_modulus(),
        }
    }
}

/// `value`, kept at least [`FLOOR`] away from zero on its own side.
pub(super) fn floored(value: f64) -> f64 {
    if value >= 0.0 { value.max(FLOOR) } else { value.min(-FLOOR) }
}

/// `(P_i - P_j)/(s_i - s_j)` of a stress that is symmetric in its stretches. Where the two nearly coincide they are drawn apart about their mean: the
/// quotient is even in the distance, so this costs only its square.
pub(super) fn divided_difference<const C: usize>(
    s: &Vector<C>,
    i: usize,
    j: usize,
    stress: impl Fn(&Vector<C>) -> Vector<C>,
) -> f64 {
    let (middle, half) = (0.5 * (s[i] + s[j]), 0.5 * (s[i] - s[j]));
    let least = 1e-4 * (0.1 + middle.abs());
    let half = if half >= 0.0 { half.max(least) } else { half.min(-least) };
    let mut apart = *s;
    apart[i] = middle + half;
    apart[j] = middle - half;
    let stress = stress(&apart);
    (stress[i] - stress[j]) / (2.0 * half)
}

/// Product of all stretches but `i`.
#[inline]
fn others<const C: usize>(s: &Vector<C>, i: usize) -> f64 {
    (0..C).filter(|&j| j != i).map(|j| s[j]).product()
}

/// The stretch that is neither `i` nor `j`; 1 in the plane.
#[inline]
fn third<const C: usize>(s: &Vector<C>, i: usize, j: usize) -> f64 {
    (0..C).filter(|&k| k != i && k != j).map(|k| s[k]).product()
}

fn branch<'a>(compression: &'a SplineBranch, extension: &'a SplineBranch, strain: f64) -> &'a SplineBranch {
    if strain < 0.0 { compression } else { extension }
}

/// `sum s^2` and `sum s^4` over three stretches; in the plane the third is 1.
fn invariants<const C: usize>(s: &Vector<C>) -> (f64, f64) {
    let rest = 3.0 - C as f64;
    (s.norm_squared() + rest, s.iter().map(|s| s.powi(4)).sum::<f64>() + rest)
}

/// `mu_10`, `mu_01` and the bulk modulus (Pa).
fn mooney_rivlin(lame: &Lame, second: f64) -> [f64; 3] {
    let sum = 0.5 * lame.mu;
    [(1.0 - second) * sum, second * sum, lame.lambda + 2.0 / 3.0 * lame.mu]
}

/// `P^_i = linear s_i - cubic s_i^3 + inverse / s_i`.
struct MooneyRivlinTerms {
    j: f64,
    i1: f64,
    i4: f64,
    mu_10: f64,
    mu_01: f64,
    bulk: f64,
    linear: f64,
    cubic: f64,
    inverse: f64,
}

impl MooneyRivlinTerms {
    fn new<const C: usize>(s: &Vector<C>, [mu_10, mu_01, bulk]: [f64; 3]) -> Self {
        let (i1, i4) = invariants(s);
        let volume = s.product();
        let j = volume.powf(-2.0 / 3.0);
        Self {
            j,
            i1,
            i4,
            mu_10,
            mu_01,
            bulk,
            linear: 2.0 * j * (mu_10 + j * mu_01 * i1),
            cubic: 2.0 * j * j * mu_01,
            inverse: bulk * volume.ln() - 2.0 / 3.0 * j * (mu_10 * i1 + j * mu_01 * (i1 * i1 - i4)),
        }
    }

    /// Derivatives of the three coefficients by the stretch `s`.
    fn derivatives(&self, s: f64) -> (f64, f64, f64) {
        let Self { j, i1, i4, mu_10, mu_01, bulk, .. } = *self;
        let dj = -2.0 / 3.0 * j / s;
        let (di1, di4) = (2.0 * s, 4.0 * s.powi(3));
        let linear = 2.0 * dj * mu_10 + 4.0 * j * dj * mu_01 * i1 + 2.0 * j * j * mu_01 * di1;
        let cubic = 4.0 * j * dj * mu_01;
        let second = i1 * i1 - i4;
        let inverse = bulk / s
            - 2.0 / 3.0
                * (dj * mu_10 * i1
                    + j * mu_10 * di1
                    + 2.0 * j * dj * mu_01 * second
                    + j * j * mu_01 * (2.0 * i1 * di1 - di4));
        (linear, cubic, inverse)
    }
}
