//! Solids that keep their volume.

mod annulus;
mod drop;

use crate::Case;

pub(super) const CASES: &[Case] = &[annulus::CASE, drop::CASE];
