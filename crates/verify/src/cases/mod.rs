//! All verification cases, by part.

mod foundation;

use crate::Case;

/// Every case, in the order of `verify --list`.
pub fn all() -> Vec<Case> {
    foundation::CASES.to_vec()
}
