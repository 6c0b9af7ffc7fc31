//! A block of rows: the one shape that every implicit effect takes.

mod composed;
mod sparse;

pub use composed::{ComposedBlock, FnBlock};
pub use sparse::SparseBlock;

use crate::{CsrMatrix, InverseMass};

/// Rows `B` over the stacked velocity `V`, with compliance `E >= 0` and target `c`, of the system
/// `(B M^-1 B^T + E) z = B V* - c`, `V = V* - M^-1 B^T z`.
///
/// A pressure, a joint, a damper and a contact are all implementors; see the table in ARCHITECTURE.md.
/// [`apply`](Block::apply) and [`add_transpose`](Block::add_transpose) must be exact adjoints, and
/// [`diagonal`](Block::diagonal) and [`assemble`](Block::assemble) must agree with them ([`crate::testing::assert_adjoint`]).
pub trait Block: Send + Sync {
    /// What the rows stand for, for reports and warm starts: `"pressure"`, `"spring damping"`.
    fn name(&self) -> &str;
    /// Number of rows.
    fn rows(&self) -> usize;
    /// `out = B V`; overwrites `out` (length [`rows`](Block::rows)). `velocity` is the whole stacked vector.
    fn apply(&self, velocity: &[f64], out: &mut [f64]);
    /// `impulse += B^T z`, on the whole stacked vector.
    fn add_transpose(&self, z: &[f64], impulse: &mut [f64]);
    /// Writes the diagonal of `E`; constraints keep the default, zero. A factored force (`-dt D = C^T C`) writes ones.
    fn compliance(&self, out: &mut [f64]) {
        out.fill(0.0);
    }
    /// Writes `c`, the wanted value of `B V` (after compliance); default zero.
    fn target(&self, out: &mut [f64]) {
        out.fill(0.0);
    }
    /// Writes the diagonal of `B M^-1 B^T` (without the compliance).
    fn diagonal(&self, inverse_mass: &InverseMass, out: &mut [f64]);
    /// `B` as a sparse matrix over the stacked velocity, if the block can give one cheaply.
    fn assemble(&self) -> Option<CsrMatrix> {
        None
    }
}

impl<B: Block + ?Sized> Block for &B {
    fn name(&self) -> &str {
        (**self).name()
    }
    fn rows(&self) -> usize {
        (**self).rows()
    }
    fn apply(&self, velocity: &[f64], out: &mut [f64]) {
        (**self).apply(velocity, out);
    }
    fn add_transpose(&self, z: &[f64], impulse: &mut [f64]) {
        (**self).add_transpose(z, impulse);
    }
    fn compliance(&self, out: &mut [f64]) {
        (**self).compliance(out);
    }
    fn target(&self, out: &mut [f64]) {
        (**self).target(out);
    }
    fn diagonal(&self, inverse_mass: &InverseMass, out: &mut [f64]) {
        (**self).diagonal(inverse_mass, out);
    }
    fn assemble(&self) -> Option<CsrMatrix> {
        (**self).assemble()
    }
}

/// Writes the diagonal of `B M^-1 B^T` for a sparse `B`: what most implementors of [`Block::diagonal`] call.
pub fn sparse_diagonal(rows: &CsrMatrix, inverse_mass: &InverseMass, out: &mut [f64]) {
    crate::vector::for_each_chunk(out, |first, out| {
        for (i, out) in out.iter_mut().enumerate() {
            let (columns, values) = rows.row(first + i);
            *out = inverse_mass.row_diagonal(columns, values);
        }
    });
}
