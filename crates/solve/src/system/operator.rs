//! The coupled operator, applied block by block.

use super::CoupledSystem;
use crate::{LinearOperator, vector};
use std::sync::{Mutex, PoisonError};

/// `z -> B M^-1 B^T z + E z`: scatter impulses, divide by mass, gather (spec/fluid-structure.md 3.8).
pub struct CoupledOperator<'s, 'a> {
    system: &'s CoupledSystem<'a>,
    /// The stacked velocity between scatter and gather; a lock because operators are shared, never contended in a solve.
    velocity: Mutex<Vec<f64>>,
}

impl<'s, 'a> CoupledOperator<'s, 'a> {
    pub(super) fn new(system: &'s CoupledSystem<'a>) -> Self {
        Self { system, velocity: Mutex::new(vec![0.0; system.velocity_len()]) }
    }
}

impl LinearOperator for CoupledOperator<'_, '_> {
    fn rows(&self) -> usize {
        self.system.rows()
    }
    fn cols(&self) -> usize {
        self.system.rows()
    }
    fn apply(&self, x: &[f64], y: &mut [f64]) {
        let mut velocity = self.velocity.lock().unwrap_or_else(PoisonError::into_inner);
        self.system.apply_transpose(x, &mut velocity);
        self.system.inverse_mass().apply(&mut velocity);
        self.system.apply_rows(&velocity, y);
        let compliance = self.system.compliance();
        vector::for_each_chunk(y, |first, y| {
            for ((y, x), e) in y.iter_mut().zip(&x[first..]).zip(&compliance[first..]) {
                *y += e * x;
            }
        });
    }
}
