//! What a law does past its threshold: flat, inside out, or overstretched (spec 3.7).

use super::MaterialError;
use serde::{Deserialize, Serialize};
use splashdown_math::Vector;

/// How a model goes on beyond the threshold at which it is no longer trusted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum ExtensionKind {
    /// Not at all: the model as published. A logarithmic model refuses inverted elements.
    None,
    /// The stress of the threshold state. For comparison only: bounded stress lets tangled elements grow without bound.
    Constant {
        /// Smallest stretch that is trusted.
        stretch: f64,
    },
    /// Linear beyond the smallest trusted stretch, each stretch by itself.
    LinearStretch {
        /// Smallest stretch that is trusted.
        stretch: f64,
    },
    /// Linear beyond the surface `J = volume`.
    LinearDet {
        /// Smallest trusted volume ratio, below 1.
        volume: f64,
    },
    /// Energy-consistent: quadratic energy beyond the smallest trusted stretch, which models of `(J - 1)^2`, finite and restoring by themselves there, have on top of their own. The one for
    /// Newton's method with line search.
    Energy {
        /// Smallest stretch that is trusted.
        stretch: f64,
        /// Stiffness beyond it (Pa). If not given, `(lambda + 2 mu) / stretch^2`, the scale of a logarithmic model's own slope there: with less, an element that is inside out and
        /// wide has less energy than one at rest (`P^2 / 2 k` against `lambda ln^2 J / 2`), and bodies fly apart.
        stiffness: Option<f64>,
    },
}

/// The extension of a law.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Extension {
    /// How the law goes on in compression.
    pub kind: ExtensionKind,
    /// Clamp the slope of a linear extension to positive semidefinite (with a floor of 1e-3 of `lambda + 2 mu`).
    pub positive_slope: bool,
    /// Largest stretch that is trusted; the same extension goes on beyond it.
    pub largest_stretch: Option<f64>,
}

impl Extension {
    /// The model as published.
    pub const NONE: Self = Self { kind: ExtensionKind::None, positive_slope: false, largest_stretch: None };

    /// Of the given kind, with the slope as it is and no upper threshold.
    pub fn new(kind: ExtensionKind) -> Self {
        Self { kind, ..Self::NONE }
    }

    /// Refuses thresholds that make no sense.
    pub fn check(&self) -> Result<(), MaterialError> {
        let stretch = |value: f64| {
            (value > 0.0 && value < 1.0).then_some(()).ok_or(MaterialError::Threshold {
                name: "smallest stretch",
                value,
                expected: "a number above 0 and below 1",
            })
        };
        match self.kind {
            ExtensionKind::None => {
                if self.largest_stretch.is_some() {
                    return Err(MaterialError::Combination(
                        "a largest trusted stretch needs an inversion extension other than `none`",
                    ));
                }
            }
            ExtensionKind::Constant { stretch: value } | ExtensionKind::LinearStretch { stretch: value } => {
                stretch(value)?;
            }
            ExtensionKind::LinearDet { volume } => {
                if !(volume > 0.0 && volume < 1.0) {
                    return Err(MaterialError::Threshold {
                        name: "smallest volume ratio",
                        value: volume,
                        expected: "a number above 0 and below 1",
                    });
                }
            }
            ExtensionKind::Energy { stretch: value, stiffness } => {
                stretch(value)?;
                if let Some(k) = stiffness.filter(|k| !(k.is_finite() && *k > 0.0)) {
                    return Err(MaterialError::Threshold {
                        name: "stiffness",
                        value: k,
                        expected: "a positive, finite number (Pa)",
                    });
                }
            }
        }
        match self.largest_stretch {
            Some(largest) if !(largest > 1.0 && largest.is_finite()) => Err(MaterialError::Threshold {
                name: "largest stretch",
                value: largest,
                expected: "a finite number above 1",
            }),
            _ => Ok(()),
        }
    }

    /// Does the extension keep a potential? (Linear extensions do not, spec 3.7.)
    pub fn has_energy(&self) -> bool {
        matches!(self.kind, ExtensionKind::None | ExtensionKind::Energy { .. })
    }

    /// The nearest trusted stretches: where the law is evaluated. Equal to `s` inside the threshold.
    #[inline]
    pub fn clamp<const C: usize>(&self, s: &Vector<C>) -> Vector<C> {
        let most = self.largest_stretch.unwrap_or(f64::INFINITY);
        match self.kind {
            ExtensionKind::None => *s,
            ExtensionKind::Constant { stretch }
            | ExtensionKind::LinearStretch { stretch }
            | ExtensionKind::Energy { stretch, .. } => s.map(|s| s.max(stretch).min(most)),
            ExtensionKind::LinearDet { volume } => on_volume_surface(s, volume).map(|s| s.min(most)),
        }
    }

    /// How the clamped stretches follow `change`, at `s` outside the threshold.
    pub(super) fn clamp_differential<const C: usize>(&self, s: &Vector<C>, change: &Vector<C>) -> Vector<C> {
        // Piecewise smooth, so a difference on the scale of the stretches is exact to its square.
        let step = 1e-6;
        (self.clamp(&(s + change * step)) - self.clamp(&(s - change * step))) / (2.0 * step)
    }
}

/// The point of the surface `J = volume` that belongs to `s`: the smallest stretch grows first, then the two smallest together, then all.
fn on_volume_surface<const C: usize>(s: &Vector<C>, volume: f64) -> Vector<C> {
    if s.product() >= volume && s.iter().all(|&s| s > 0.0) {
        return *s;
    }
    let mut order: [usize; C] = std::array::from_fn(|i| i);
    order.sort_by(|&i, &j| s[j].total_cmp(&s[i]));
    let mut out = *s;
    // With the largest `kept` stretches as they are, the others share the rest of the volume.
    for kept in (1..C).rev() {
        let product: f64 = order[..kept].iter().map(|&i| s[i]).product();
        let share = (volume / product).powf(1.0 / (C - kept) as f64);
        if s[order[kept - 1]] > 0.0 && s[order[kept - 1]] > share {
            for &i in &order[kept..] {
                out[i] = share;
            }
            return out;
        }
    }
    Vector::repeat(volume.powf(1.0 / C as f64))
}
