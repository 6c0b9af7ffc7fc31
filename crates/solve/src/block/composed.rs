//! Blocks made of other things: two functions, or a matrix after another block.

use super::{Block, sparse_diagonal};
use crate::error::check_size;
use crate::{CsrMatrix, InverseMass, SolveError};
use std::sync::Mutex;

/// A block from two closures that are each other's adjoint.
///
/// For effects whose rows are cheaper to apply than to store. The diagonal is a closure too, because a good one is all that keeps a
/// matrix-free block converging.
pub struct FnBlock<A, T, G> {
    name: String,
    rows: usize,
    compliance: f64,
    apply: A,
    add_transpose: T,
    diagonal: G,
}

impl<A, T, G> FnBlock<A, T, G>
where
    A: Fn(&[f64], &mut [f64]) + Send + Sync,
    T: Fn(&[f64], &mut [f64]) + Send + Sync,
    G: Fn(&InverseMass, &mut [f64]) + Send + Sync,
{
    /// `apply(V, out)` writes `B V`, `add_transpose(z, impulse)` adds `B^T z`, `diagonal(M^-1, out)` writes the diagonal of `B M^-1 B^T`;
    /// `compliance` is the value of `E` on every row: 0 for constraints, 1 for factored forces.
    pub fn new(
        name: impl Into<String>,
        rows: usize,
        compliance: f64,
        apply: A,
        add_transpose: T,
        diagonal: G,
    ) -> Self {
        Self { name: name.into(), rows, compliance, apply, add_transpose, diagonal }
    }
}

impl<A, T, G> Block for FnBlock<A, T, G>
where
    A: Fn(&[f64], &mut [f64]) + Send + Sync,
    T: Fn(&[f64], &mut [f64]) + Send + Sync,
    G: Fn(&InverseMass, &mut [f64]) + Send + Sync,
{
    fn name(&self) -> &str {
        &self.name
    }
    fn rows(&self) -> usize {
        self.rows
    }
    fn apply(&self, velocity: &[f64], out: &mut [f64]) {
        (self.apply)(velocity, out);
    }
    fn add_transpose(&self, z: &[f64], impulse: &mut [f64]) {
        (self.add_transpose)(z, impulse);
    }
    fn compliance(&self, out: &mut [f64]) {
        out.fill(self.compliance);
    }
    fn diagonal(&self, inverse_mass: &InverseMass, out: &mut [f64]) {
        (self.diagonal)(inverse_mass, out);
    }
}

/// `B = C H`: a sparse matrix `C` after another block `H`, as in damping of embedded nodes or surface tension through an interpolation.
///
/// Compliance one (a factored force) or zero (a constraint) on every row. `H` must be able to [`assemble`](Block::assemble), since the
/// diagonal of the product needs its entries.
pub struct ComposedBlock<H> {
    name: String,
    outer: CsrMatrix,
    inner: H,
    compliance: f64,
    scratch: Mutex<Vec<f64>>,
}

impl<H: Block> ComposedBlock<H> {
    /// `C H` with the given compliance on every row.
    ///
    /// # Errors
    /// If `C` has not one column a row of `H`, or `H` cannot be assembled.
    pub fn new(
        name: impl Into<String>,
        outer: CsrMatrix,
        inner: H,
        compliance: f64,
    ) -> Result<Self, SolveError> {
        check_size("columns of the outer factor", outer.cols(), inner.rows())?;
        if inner.assemble().is_none() {
            let needed_by = "the diagonal of a composed block";
            return Err(SolveError::NotAssembled { block: inner.name().into(), needed_by });
        }
        let scratch = Mutex::new(vec![0.0; inner.rows()]);
        Ok(Self { name: name.into(), outer, inner, compliance, scratch })
    }
}

impl<H: Block> Block for ComposedBlock<H> {
    fn name(&self) -> &str {
        &self.name
    }
    fn rows(&self) -> usize {
        self.outer.rows()
    }
    fn apply(&self, velocity: &[f64], out: &mut [f64]) {
        let mut inner = self.scratch.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        self.inner.apply(velocity, &mut inner);
        self.outer.multiply(&inner, out);
    }
    fn add_transpose(&self, z: &[f64], impulse: &mut [f64]) {
        let mut inner = self.scratch.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        inner.fill(0.0);
        self.outer.add_transpose_multiply(z, &mut inner);
        self.inner.add_transpose(&inner, impulse);
    }
    fn compliance(&self, out: &mut [f64]) {
        out.fill(self.compliance);
    }
    fn diagonal(&self, inverse_mass: &InverseMass, out: &mut [f64]) {
        if let Some(product) = self.assemble() {
            sparse_diagonal(&product, inverse_mass, out);
        }
    }
    fn assemble(&self) -> Option<CsrMatrix> {
        self.outer.product(&self.inner.assemble()?).ok()
    }
}
