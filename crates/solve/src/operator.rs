//! The two small traits that every solver in this crate is written against.

/// A linear map given only by its action.
pub trait LinearOperator: Sync {
    /// Number of entries of the result.
    fn rows(&self) -> usize;
    /// Number of entries of the argument.
    fn cols(&self) -> usize;
    /// `y = A x`; overwrites `y`.
    fn apply(&self, x: &[f64], y: &mut [f64]);
}

/// An approximate inverse of a symmetric positive (semi)definite operator; itself symmetric and positive definite unless a solver says otherwise.
///
/// Takes `&mut self` so that an implementation can keep its scratch memory and allocate nothing per application.
pub trait Preconditioner {
    /// `z ~ A^-1 r`; overwrites `z`.
    fn apply(&mut self, r: &[f64], z: &mut [f64]);
}
