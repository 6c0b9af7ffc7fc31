//! Fibres: tension along a material direction, active in muscles (spec 3.8).

use serde::{Deserialize, Serialize};
use splashdown_math::{Matrix, Vector};

/// Tension of a muscle fibre against its stretch: a bell of active tension and an exponential passive branch, both once differentiable.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MuscleCurve {
    /// Largest active tension (Pa).
    pub maximum: f64,
    /// Scale `p_1` of the passive tension, relative to `maximum`.
    pub passive_scale: f64,
    /// Exponent `p_2` of the passive tension.
    pub passive_exponent: f64,
    /// Stretch from which the passive tension goes on linearly.
    pub passive_limit: f64,
}

impl Default for MuscleCurve {
    fn default() -> Self {
        Self { maximum: 3e5, passive_scale: 0.05, passive_exponent: 6.6, passive_limit: 1.4 }
    }
}

impl MuscleCurve {
    /// Tension (Pa) and its slope at the stretch `l` with `activation` from 0 to 1.
    pub fn tension(&self, l: f64, activation: f64) -> (f64, f64) {
        let e = l - 1.0;
        let (active, active_slope) = match e.abs() {
            distance if distance <= 0.4 => (1.0 - 25.0 / 6.0 * e * e, -25.0 / 3.0 * e),
            distance if distance < 0.6 => {
                (25.0 / 3.0 * (distance - 0.6).powi(2), e.signum() * 50.0 / 3.0 * (distance - 0.6))
            }
            _ => (0.0, 0.0),
        };
        let (p1, p2) = (self.passive_scale, self.passive_exponent);
        let exponential = |l: f64| {
            let x = p2 * (l - 1.0);
            (p1 * (x.exp() - x - 1.0), p1 * p2 * (x.exp() - 1.0))
        };
        let (passive, passive_slope) = if l <= 1.0 {
            (0.0, 0.0)
        } else if l <= self.passive_limit {
            exponential(l)
        } else {
            let (value, slope) = exponential(self.passive_limit);
            (value + slope * (l - self.passive_limit), slope)
        };
        (
            self.maximum * (activation * active + passive),
            self.maximum * (activation * active_slope + passive_slope),
        )
    }

    /// Integral of the tension from rest: energy per rest volume (J/m^3).
    pub fn energy(&self, l: f64, activation: f64) -> f64 {
        let e = l - 1.0;
        let active = e.signum()
            * match e.abs() {
                distance if distance <= 0.4 => distance - 25.0 / 18.0 * distance.powi(3),
                distance if distance < 0.6 => 1.0 / 3.0 + 25.0 / 9.0 * (distance - 0.6).powi(3),
                _ => 1.0 / 3.0,
            };
        let (p1, p2) = (self.passive_scale, self.passive_exponent);
        let exponential = |x: f64| p1 / p2 * (x.exp() - 1.0 - x - 0.5 * x * x);
        let passive = if l <= 1.0 {
            0.0
        } else if l <= self.passive_limit {
            exponential(p2 * e)
        } else {
            let (x, beyond) = (p2 * (self.passive_limit - 1.0), l - self.passive_limit);
            exponential(x)
                + p1 * (x.exp() - x - 1.0) * beyond
                + 0.5 * p1 * p2 * (x.exp() - 1.0) * beyond * beyond
        };
        self.maximum * (activation * active + passive)
    }
}

/// A family of fibres of a body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fibre {
    /// Tension against stretch.
    pub curve: MuscleCurve,
    /// Part of the material that is fibre, 0 to 1.
    pub density: f64,
    /// Activation, 0 to 1; may change in time.
    pub activation: f64,
    /// Smallest stretch at which the direction of the fibre is evaluated.
    pub smallest_stretch: f64,
}

impl Fibre {
    /// A fibre family with the standard muscle curve, fully dense and at rest.
    pub fn muscle() -> Self {
        Self { curve: MuscleCurve::default(), density: 1.0, activation: 0.0, smallest_stretch: 0.25 }
    }

    /// `q = F^_c a^` and its length `l`: the deformed fibre in the frame of the stretches.
    fn deformed<const C: usize>(&self, s: &Vector<C>, direction: &Vector<C>) -> (Vector<C>, f64) {
        let q = Vector::<C>::from_fn(|i, _| s[i].max(self.smallest_stretch) * direction[i]);
        (q, q.norm().max(1e-12))
    }

    /// Energy per rest volume (J/m^3).
    pub fn energy<const C: usize>(&self, s: &Vector<C>, direction: &Vector<C>) -> f64 {
        let (_, l) = self.deformed(s, direction);
        self.density * self.curve.energy(l, self.activation)
    }

    /// Adds `(T/l) F^_c a^ a^T` to the stress in the frame of the stretches; `direction` is `a^ = V^T a`.
    pub fn add_stress<const C: usize>(&self, s: &Vector<C>, direction: &Vector<C>, stress: &mut Matrix<C>) {
        let (q, l) = self.deformed(s, direction);
        let (tension, _) = self.curve.tension(l, self.activation);
        *stress += q * direction.transpose() * (self.density * tension / l);
    }

    /// The coefficients of `c_1 dF a a^T + c_2 (q . dF a) q a^T` and `q`; made positive semidefinite if asked.
    pub fn differential<const C: usize>(
        &self,
        s: &Vector<C>,
        direction: &Vector<C>,
        positive: bool,
    ) -> (f64, f64, Vector<C>) {
        let (q, l) = self.deformed(s, direction);
        let (tension, slope) = self.curve.tension(l, self.activation);
        let (mut first, mut slope) = (tension / l, slope);
        if positive {
            first = first.max(0.0);
            slope = slope.max(0.0);
        }
        (self.density * first, self.density * (slope - first) / (l * l), q)
    }
}
