//! Rigid bodies.

mod fracture;

use crate::Case;

/// All cases of the part.
pub(super) const CASES: &[Case] = fracture::CASES;
