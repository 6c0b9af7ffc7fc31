//! The foundation: mathematics, geometry, the coupled solver, free flight, resume and thread independence.

mod eigen_accuracy;
mod svd_accuracy;
mod tetrahedra_quality;

use crate::Case;

pub(super) const CASES: &[Case] = &[svd_accuracy::CASE, eigen_accuracy::CASE, tetrahedra_quality::CASE];
