//! Multiplicative plasticity `F = F_e F_p` (spec 3.9): yield in logarithmic stretches, return mapping, limits on the flow and control towards a goal shape.

use super::MaterialError;
use splashdown_math::{Dim, Matrix, Space, Vector, signed_svd, symmetric_eigen};

/// Stretches below this count as this when their logarithm is taken.
const SMALLEST: f64 = 1e-4;

/// When an elastic stretch is too much, and what remains of it.
#[derive(Debug, Clone, Copy)]
pub enum Yield {
    /// The norm of the deviatoric logarithm is limited: flow keeps the volume.
    Deviatoric {
        /// Largest norm.
        limit: f64,
    },
    /// The norm of the whole logarithm is limited, volume included; needed when a goal shape controls the flow.
    Full {
        /// Largest norm.
        limit: f64,
    },
    /// Any criterion: replaces the elastic stretches by those that remain, and says whether it changed them.
    Custom(fn(&mut [f64]) -> bool),
}

/// Plastic behaviour of a body.
#[derive(Debug, Clone, Copy)]
pub struct Plasticity {
    /// Yield criterion.
    pub criterion: Yield,
    /// Plastic stretches stay between `1/limit` and `limit`. Not used where a goal shape controls the flow.
    pub limit: f64,
}

impl Plasticity {
    /// Refuses limits that make no sense.
    pub fn check(&self) -> Result<(), MaterialError> {
        let bad = |name: &'static str, value: f64, expected: &'static str| {
            Err(MaterialError::Threshold { name, value, expected })
        };
        match self.criterion {
            Yield::Deviatoric { limit } | Yield::Full { limit } if !(limit.is_finite() && limit >= 0.0) => {
                return bad("yield limit", limit, "a finite number that is not negative");
            }
            _ => {}
        }
        if !(self.limit.is_finite() && self.limit >= 1.0) {
            return bad("limit of the plastic stretch", self.limit, "a finite number of at least 1");
        }
        Ok(())
    }

    /// The elastic stretches that remain, if the body yields at `s`.
    pub fn project<const C: usize>(&self, s: &Vector<C>) -> Option<Vector<C>> {
        let log = s.map(|s| s.max(SMALLEST).ln());
        match self.criterion {
            Yield::Deviatoric { limit } => {
                let mean = log.sum() / C as f64;
                let deviator = log.map(|l| l - mean);
                let norm = deviator.norm();
                (norm > limit).then(|| (deviator * (limit / norm)).map(|l| (l + mean).exp()))
            }
            Yield::Full { limit } => {
                let norm = log.norm();
                (norm > limit).then(|| (log * (limit / norm)).map(f64::exp))
            }
            Yield::Custom(criterion) => {
                let mut stretches = s.map(|s| s.max(SMALLEST));
                criterion(stretches.as_mut_slice()).then_some(stretches)
            }
        }
    }

    /// The plastic deformation after the flow, or `None` if there is none. `v` and `s` belong to the trial `F F_p^-1 = U diag(s) V^T`,
    /// `plastic` is `F_p` (symmetric), `goal` the logarithm of the goal's right stretch.
    pub fn flow<const C: usize>(
        &self,
        s: &Vector<C>,
        v: &Matrix<C>,
        plastic: &Matrix<C>,
        goal: Option<&Matrix<C>>,
    ) -> Option<Matrix<C>>
    where
        Dim<C>: Space<C>,
    {
        let remains = self.project(s)?;
        let ratio = Vector::<C>::from_fn(|i, _| s[i].max(SMALLEST) / remains[i]);
        let trial = Matrix::from_diagonal(&ratio) * v.transpose() * plastic;
        let svd = signed_svd(&trial);
        let next = match goal {
            None => {
                let limited = svd.sigma.map(|s| s.clamp(1.0 / self.limit, self.limit));
                svd.v * Matrix::from_diagonal(&limited) * svd.v.transpose()
            }
            Some(goal) => {
                let log_trial = svd.v
                    * Matrix::from_diagonal(&svd.sigma.map(|s| s.max(SMALLEST).ln()))
                    * svd.v.transpose();
                let log = symmetric_eigen(plastic).map(|value| value.max(SMALLEST).ln());
                let step = log_trial - log;
                let size = step.norm_squared();
                if size == 0.0 {
                    return None;
                }
                let along = ((goal - log).dot(&step) / size).clamp(0.0, 1.0);
                if along == 0.0 {
                    return None;
                }
                symmetric_eigen(&(log + step * along)).map(f64::exp)
            }
        };
        Some(next)
    }
}

/// Distance of the plastic deformation to a goal in logarithmic strains.
pub fn log_distance<const C: usize>(plastic: &Matrix<C>, goal: &Matrix<C>) -> f64 {
    (symmetric_eigen(plastic).map(|value| value.max(SMALLEST).ln()) - goal).norm()
}
