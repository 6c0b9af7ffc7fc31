//! The indefinite form: velocities and impulses together.

use super::CoupledSystem;
use crate::mass::InverseMassRoot;
use crate::{LinearOperator, Preconditioner, vector};
use std::sync::{Mutex, PoisonError};

/// `[I, L^T B^T; B L, -E]` on `(y, z)` with `V = V* + L y`, `L L^T = M^-1`.
///
/// This is the KKT system `[M, B^T; B, -E]` in unit-mass velocities, so that static parts (zero `L`) need no special case.
/// Symmetric and indefinite: solve with MINRES or SYMQMR.
pub(super) struct KktOperator<'s, 'a> {
    system: &'s CoupledSystem<'a>,
    root: InverseMassRoot,
    scratch: Mutex<Vec<f64>>,
}

impl<'s, 'a> KktOperator<'s, 'a> {
    pub(super) fn new(system: &'s CoupledSystem<'a>) -> Self {
        let root = system.inverse_mass().square_root();
        Self { system, root, scratch: Mutex::new(vec![0.0; system.velocity_len()]) }
    }

    /// `V = V* + L y`; `velocity` holds `V*`, `y` is used up.
    pub(super) fn velocity(&self, y: &mut [f64], velocity: &mut [f64]) {
        self.root.apply(y);
        vector::axpy(1.0, y, velocity);
    }
}

impl LinearOperator for KktOperator<'_, '_> {
    fn rows(&self) -> usize {
        self.system.velocity_len() + self.system.rows()
    }
    fn cols(&self) -> usize {
        self.rows()
    }
    fn apply(&self, x: &[f64], result: &mut [f64]) {
        let len = self.system.velocity_len();
        let (y, z) = x.split_at(len);
        let (top, bottom) = result.split_at_mut(len);
        let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        scratch.copy_from_slice(y);
        self.root.apply(&mut scratch);
        self.system.apply_rows(&scratch, bottom);
        for ((bottom, z), e) in bottom.iter_mut().zip(z).zip(self.system.compliance()) {
            *bottom -= e * z;
        }
        self.system.apply_transpose(z, top);
        self.root.apply_transpose(top);
        vector::axpy(1.0, y, top);
    }
}

/// Identity on the velocities, an approximation of `(B M^-1 B^T + E)^-1` (the exact Schur complement) on the impulses.
pub(super) struct KktPreconditioner<'p> {
    pub(super) velocities: usize,
    pub(super) schur: &'p mut dyn Preconditioner,
}

impl Preconditioner for KktPreconditioner<'_> {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        let (top, bottom) = z.split_at_mut(self.velocities);
        top.copy_from_slice(&r[..self.velocities]);
        self.schur.apply(&r[self.velocities..], bottom);
    }
}
