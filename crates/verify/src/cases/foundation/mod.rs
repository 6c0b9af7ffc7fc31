//! The foundation: mathematics, geometry, the coupled solver, free flight, resume and thread independence.

use crate::Case;

pub(super) const CASES: &[Case] = &[];
