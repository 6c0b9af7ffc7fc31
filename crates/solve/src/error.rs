//! What can be wrong with the input of a solver.

/// A request that cannot be carried out; the fields say what was found and what would be right.
///
/// A solve that was carried out but did not converge is not an error: see [`crate::Outcome`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SolveError {
    /// Two lengths that must agree do not.
    #[error("{what}: length {found}, expected {expected}")]
    Size {
        /// Which vector or matrix.
        what: String,
        /// Its length.
        found: usize,
        /// The length it should have.
        expected: usize,
    },
    /// A row or column number past the end of a matrix.
    #[error("{what}: index {index} is outside 0..{bound}")]
    Index {
        /// Which index.
        what: String,
        /// The offending value.
        index: usize,
        /// Exclusive upper bound.
        bound: usize,
    },
    /// NaN or infinity in the input.
    #[error("{what}: entry {index} is {value}, every entry must be finite")]
    NotFinite {
        /// Which vector or matrix.
        what: String,
        /// First offending entry.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A mass, compliance, weight or tolerance below zero.
    #[error("{what}: entry {index} is {value}, must not be negative")]
    Negative {
        /// Which vector.
        what: String,
        /// First offending entry.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A matrix that must be symmetric is not.
    #[error("{what}: entries ({row}, {column}) and ({column}, {row}) differ by {difference:e}")]
    NotSymmetric {
        /// Which matrix.
        what: String,
        /// Row of the worst pair.
        row: usize,
        /// Column of the worst pair.
        column: usize,
        /// How far the two entries are apart.
        difference: f64,
    },
    /// A factorisation met a pivot that is not positive.
    #[error(
        "{what}: not positive definite (pivot {row} of the elimination); a singular or indefinite matrix needs MINRES or a null space"
    )]
    NotPositiveDefinite {
        /// Which matrix.
        what: String,
        /// Pivot at which the factorisation stopped, in the order of elimination.
        row: usize,
    },
    /// More unknowns than the 32-bit column indices of [`crate::CsrMatrix`] can name.
    #[error("{what}: {count} columns, at most {} are possible", u32::MAX)]
    TooLarge {
        /// Which matrix.
        what: String,
        /// Number of columns asked for.
        count: usize,
    },
    /// The memory for a factorisation could not be had.
    #[error("{what}: not enough memory")]
    OutOfMemory {
        /// Which factorisation.
        what: String,
    },
    /// A block has no sparse matrix, but the chosen solver or preconditioner needs one.
    #[error("block `{block}` cannot be assembled, which {needed_by} needs; choose a matrix-free one")]
    NotAssembled {
        /// Name of the block.
        block: String,
        /// Which option asked for it.
        needed_by: &'static str,
    },
    /// An option names a block that the system does not have.
    #[error("no block is named `{name}`; the system has: {known}")]
    UnknownBlock {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The right-hand side has a part that no velocity can meet, larger than the caller allows.
    #[error(
        "inconsistent system: {removed:e} of the right-hand side (relative {relative:e}) lies in the null space; \
         prescribed velocities around a closed region must have no net flux"
    )]
    Inconsistent {
        /// Norm of the part in the null space.
        removed: f64,
        /// The same divided by the norm of the right-hand side.
        relative: f64,
    },
}

/// `Ok` if `found == expected`.
pub(crate) fn check_size(what: &str, found: usize, expected: usize) -> Result<(), SolveError> {
    if found == expected {
        return Ok(());
    }
    Err(SolveError::Size { what: what.into(), found, expected })
}

/// `Ok` if every value is finite; names the first that is not.
pub(crate) fn check_finite(what: &str, values: &[f64]) -> Result<(), SolveError> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(index) => Err(SolveError::NotFinite { what: what.into(), index, value: values[index] }),
    }
}

/// `Ok` if every value is finite and at least zero.
pub(crate) fn check_not_negative(what: &str, values: &[f64]) -> Result<(), SolveError> {
    check_finite(what, values)?;
    match values.iter().position(|&value| value < 0.0) {
        None => Ok(()),
        Some(index) => Err(SolveError::Negative { what: what.into(), index, value: values[index] }),
    }
}
