//! A model with its extension: what elements evaluate.

use super::model::{divided_difference, floored};
use super::{Differential, Extension, ExtensionKind, Lame, MaterialError, Model};
use serde::{Deserialize, Serialize};
use splashdown_math::{Matrix, Vector, symmetric_eigen};

/// An isotropic constitutive law for every state of an element.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Law {
    /// The model inside the threshold.
    pub model: Model,
    /// What comes beyond.
    pub extension: Extension,
}

impl Law {
    /// The model with the extension that makes it safe for inverted elements: none where it already is, energy-consistent for the others.
    pub fn safe(model: Model) -> Self {
        let kind = match model {
            Model::Linear | Model::RotatedLinear | Model::FixedCorotated | Model::Spline { .. } => {
                ExtensionKind::None
            }
            _ => ExtensionKind::Energy { stretch: 0.3, stiffness: None },
        };
        Self { model, extension: Extension::new(kind) }
    }

    /// Refuses coefficients that make no sense.
    pub fn check(&self) -> Result<(), MaterialError> {
        let not_negative = |name: &'static str, value: f64| {
            (value.is_finite() && value >= 0.0).then_some(()).ok_or(MaterialError::Negative { name, value })
        };
        match self.model {
            Model::Spline { compression, extension } => {
                for branch in [compression, extension] {
                    not_negative("the hardening of the spline model", branch.hardening)?;
                    if !(branch.threshold.is_finite() && branch.threshold > 0.0) {
                        let (name, value) = ("the threshold of the spline model", branch.threshold);
                        return Err(MaterialError::Negative { name, value });
                    }
                }
            }
            Model::MooneyRivlin { second } => {
                not_negative("the part of mu_01 of the Mooney-Rivlin model", second)?;
                not_negative("the part of mu_10 of the Mooney-Rivlin model", 1.0 - second)?;
            }
            Model::Linear if self.extension != Extension::NONE => {
                return Err(MaterialError::Combination(
                    "linear elasticity has no stretches to extend: use `none`",
                ));
            }
            _ => {}
        }
        self.extension.check()
    }

    /// Does the law have a value for this state?
    #[inline]
    pub fn accepts<const C: usize>(&self, s: &Vector<C>) -> bool {
        !(matches!(self.extension.kind, ExtensionKind::None) && self.model.needs_positive_volume())
            || s.iter().all(|&s| s > 0.0)
    }

    /// Slope of the linear extension at the clamped state.
    fn slope<const C: usize>(&self, lame: &Lame, clamped: &Vector<C>) -> Matrix<C> {
        let hessian = self.model.hessian(lame, clamped);
        if self.extension.positive_slope {
            let floor = 1e-3 * self.model.wave_modulus(lame);
            symmetric_eigen(&hessian).map(|value| value.max(floor))
        } else {
            hessian
        }
    }

    fn stiffness_beyond(&self, lame: &Lame) -> f64 {
        match self.extension.kind {
            ExtensionKind::Energy { stiffness: Some(k), .. } => k,
            ExtensionKind::Energy { stretch, stiffness: None } => {
                self.model.wave_modulus(lame) / (stretch * stretch)
            }
            _ => self.model.wave_modulus(lame),
        }
    }

    /// Does the extension with a potential go on with the model itself, and add its stiffness to that?
    ///
    /// A model of `(J - 1)^2` pulls at the threshold with a stress that grows with the squares of the other stretches. Continued along that stress, the energy would fall without bound as
    /// they grow (by their fourth powers, and rise by their second only); the model itself is finite and restoring on both sides.
    fn goes_on(&self) -> bool {
        matches!(self.extension.kind, ExtensionKind::Energy { .. })
            && matches!(self.model, Model::FixedCorotated | Model::CompressibleFlow)
    }

    /// Energy per rest volume (J/m^3). Beyond the threshold of an extension without potential it is the quadratic model about the clamped state.
    pub fn energy<const C: usize>(&self, lame: &Lame, s: &Vector<C>) -> f64 {
        let clamped = self.extension.clamp(s);
        let beyond = s - clamped;
        let inside = self.model.energy(lame, &clamped);
        if beyond == Vector::<C>::zeros() {
            return inside;
        }
        if self.goes_on() {
            return self.model.energy(lame, s) + 0.5 * self.stiffness_beyond(lame) * beyond.norm_squared();
        }
        let first = inside + self.model.stress(lame, &clamped).dot(&beyond);
        match self.extension.kind {
            ExtensionKind::Energy { .. } => first + 0.5 * self.stiffness_beyond(lame) * beyond.norm_squared(),
            ExtensionKind::Constant { .. } => first,
            _ => first + 0.5 * beyond.dot(&(self.slope(lame, &clamped) * beyond)),
        }
    }

    /// Principal stresses (Pa).
    #[inline]
    pub fn stress<const C: usize>(&self, lame: &Lame, s: &Vector<C>) -> Vector<C> {
        if matches!(self.extension.kind, ExtensionKind::None) {
            return self.model.stress(lame, s);
        }
        let clamped = self.extension.clamp(s);
        let beyond = s - clamped;
        if beyond == Vector::<C>::zeros() {
            return self.model.stress(lame, s);
        }
        self.stress_beyond(lame, &clamped, &beyond)
    }

    #[inline(never)]
    fn stress_beyond<const C: usize>(
        &self,
        lame: &Lame,
        clamped: &Vector<C>,
        beyond: &Vector<C>,
    ) -> Vector<C> {
        if self.goes_on() {
            return self.model.stress(lame, &(clamped + beyond)) + beyond * self.stiffness_beyond(lame);
        }
        let inside = self.model.stress(lame, clamped);
        match self.extension.kind {
            ExtensionKind::None | ExtensionKind::Constant { .. } => inside,
            ExtensionKind::LinearStretch { .. } | ExtensionKind::LinearDet { .. } => {
                inside + self.slope(lame, clamped) * beyond
            }
            ExtensionKind::Energy { .. } => {
                let coupled = self.model.hessian(lame, clamped) * beyond;
                let k = self.stiffness_beyond(lame);
                Vector::from_fn(|i, _| inside[i] + if beyond[i] == 0.0 { coupled[i] } else { k * beyond[i] })
            }
        }
    }

    /// The exact derivative `dP^_i/ds_j`; not symmetric beyond the threshold of an extension without potential.
    pub fn jacobian<const C: usize>(&self, lame: &Lame, s: &Vector<C>) -> Matrix<C> {
        let clamped = self.extension.clamp(s);
        let beyond = s - clamped;
        if beyond == Vector::<C>::zeros() {
            return self.model.hessian(lame, s);
        }
        let mut out = Matrix::<C>::zeros();
        for k in 0..C {
            let mut unit = Vector::<C>::zeros();
            unit[k] = 1.0;
            let moved = self.extension.clamp_differential(s, &unit);
            let column = match self.extension.kind {
                ExtensionKind::Constant { .. } => self.model.hessian(lame, &clamped) * moved,
                ExtensionKind::Energy { .. } => {
                    self.energy_hessian(lame, &clamped, &beyond).column(k).into_owned()
                }
                // d(P(c) + S(c) d) = H c' + (dS) d + S (e - c')
                _ => {
                    let slope = self.slope(lame, &clamped);
                    let bend = self.slope_change(lame, &clamped, &moved);
                    self.model.hessian(lame, &clamped) * moved + bend * beyond + slope * (unit - moved)
                }
            };
            out.set_column(k, &column);
        }
        out
    }

    /// How the slope of the extension changes along `direction`.
    fn slope_change<const C: usize>(
        &self,
        lame: &Lame,
        clamped: &Vector<C>,
        direction: &Vector<C>,
    ) -> Matrix<C> {
        let size = direction.amax();
        if size == 0.0 {
            return Matrix::zeros();
        }
        let step = 1e-5 * clamped.amin().abs() / size;
        let ahead = self.slope(lame, &(clamped + direction * step));
        (ahead - self.slope(lame, &(clamped - direction * step))) / (2.0 * step)
    }

    /// Hessian of the energy-consistent extension: symmetric.
    fn energy_hessian<const C: usize>(
        &self,
        lame: &Lame,
        clamped: &Vector<C>,
        beyond: &Vector<C>,
    ) -> Matrix<C> {
        if self.goes_on() {
            let stiffness = beyond.map(|d| if d == 0.0 { 0.0 } else { self.stiffness_beyond(lame) });
            return self.model.hessian(lame, &(clamped + beyond)) + Matrix::from_diagonal(&stiffness);
        }
        let inside = self.model.hessian(lame, clamped);
        let size = beyond.amax();
        let step = 1e-5 * clamped.amin().abs() / size;
        let ahead = self.model.hessian(lame, &(clamped + beyond * step));
        let behind = self.model.hessian(lame, &(clamped - beyond * step));
        let bend = (ahead - behind) / (2.0 * step);
        let k = self.stiffness_beyond(lame);
        Matrix::from_fn(|i, j| match (beyond[i] == 0.0, beyond[j] == 0.0) {
            (true, true) => inside[(i, j)] + bend[(i, j)],
            (false, false) => {
                if i == j {
                    k
                } else {
                    0.0
                }
            }
            _ => inside[(i, j)],
        })
    }

    /// The differential of the stress, for implicit solves. Beyond the threshold of an extension without potential it is the symmetric
    /// quasi-Newton operator with the slope at the clamped state (spec 3.7).
    pub fn differential<const C: usize>(&self, lame: &Lame, s: &Vector<C>) -> Differential<C> {
        let clamped = self.extension.clamp(s);
        let beyond = s - clamped;
        if beyond == Vector::<C>::zeros() {
            return self.model.differential(lame, s);
        }
        let hessian = match self.extension.kind {
            ExtensionKind::Energy { .. } => self.energy_hessian(lame, &clamped, &beyond),
            ExtensionKind::Constant { .. } => Matrix::zeros(),
            _ => self.slope(lame, &clamped),
        };
        self.with_divided_differences(lame, s, hessian)
    }

    /// The exact differential of the stress, with [`Self::jacobian`]; for tests and for what must not be symmetrised.
    pub fn exact_differential<const C: usize>(&self, lame: &Lame, s: &Vector<C>) -> Differential<C> {
        if self.extension.clamp(s) == *s {
            return self.model.differential(lame, s);
        }
        self.with_divided_differences(lame, s, self.jacobian(lame, s))
    }

    fn with_divided_differences<const C: usize>(
        &self,
        lame: &Lame,
        s: &Vector<C>,
        hessian: Matrix<C>,
    ) -> Differential<C> {
        let stress = self.stress(lame, s);
        let mut out = Differential {
            hessian,
            symmetric: Matrix::zeros(),
            antisymmetric: Matrix::zeros(),
            out_of_plane: Vector::from_fn(|j, _| stress[j] / floored(s[j])),
        };
        for i in 0..C {
            for j in 0..i {
                let a = divided_difference(s, i, j, |s| self.stress(lame, s));
                let b = (stress[i] + stress[j]) / floored(s[i] + s[j]);
                out.symmetric[(i, j)] = a;
                out.symmetric[(j, i)] = a;
                out.antisymmetric[(i, j)] = b;
                out.antisymmetric[(j, i)] = b;
            }
        }
        out
    }

    /// Can the law be stiffer in some state than [`Self::wave_modulus`] says? Then the explicit time step must look at the state.
    pub fn hardens(&self) -> bool {
        !matches!(self.extension.kind, ExtensionKind::None | ExtensionKind::Constant { .. })
            || matches!(
                self.model,
                Model::StVenantKirchhoff
                    | Model::FixedCorotated
                    | Model::CompressibleFlow
                    | Model::MooneyRivlin { .. }
            )
    }

    /// Bound of the stiffest mode of the law in the state `s` (Pa): row sums of the Hessian, and the pair stiffnesses.
    pub fn tangent_modulus<const C: usize>(&self, lame: &Lame, s: &Vector<C>) -> f64 {
        let tangent = self.differential(lame, s);
        let mut largest: f64 = 0.0;
        for i in 0..C {
            largest = largest.max((0..C).map(|j| tangent.hessian[(i, j)].abs()).sum());
            for j in 0..i {
                largest = largest.max(tangent.symmetric[(i, j)]).max(tangent.antisymmetric[(i, j)]);
            }
        }
        largest
    }

    /// Modulus of the stiffest wave that the law carries (Pa), for the explicit time step: the extension's slope included.
    pub fn wave_modulus<const C: usize>(&self, lame: &Lame) -> f64 {
        let inside = self.model.wave_modulus(lame);
        let at = |s: Vector<C>| symmetric_eigen(&self.model.hessian(lame, &s)).values[0];
        match self.extension.kind {
            ExtensionKind::None | ExtensionKind::Constant { .. } => inside,
            ExtensionKind::LinearStretch { stretch } => {
                let mut one = Vector::repeat(1.0);
                one[C - 1] = stretch;
                inside.max(at(Vector::repeat(stretch))).max(at(one))
            }
            ExtensionKind::LinearDet { volume } => {
                let mut one = Vector::repeat(1.0);
                one[C - 1] = volume;
                inside.max(at(Vector::repeat(volume.powf(1.0 / C as f64)))).max(at(one))
            }
            ExtensionKind::Energy { stretch, .. } => {
                let mut one = Vector::repeat(1.0);
                one[C - 1] = stretch;
                inside.max(self.stiffness_beyond(lame)).max(at(one))
            }
        }
    }
}
