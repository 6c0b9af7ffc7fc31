//! The `fracture` table of a scene as the rule that a body breaks by.

use crate::description::{Fracture, FracturePattern};
use splashdown_math::{Dim, Space};
use splashdown_rigid::fracture::{BreakRule, Breakable, PatternKind, PatternSpec};
use std::sync::Arc;

/// The rule of a body; copies of one body share it.
pub(crate) fn breakable<const D: usize>(fracture: &Fracture) -> Breakable<D>
where
    Dim<D>: Space<D>,
{
    let kind = match fracture.pattern {
        FracturePattern::Voronoi => PatternKind::Voronoi,
        FracturePattern::Radial => PatternKind::Radial,
        FracturePattern::Realistic => PatternKind::Realistic,
        FracturePattern::Glass => PatternKind::Glass,
    };
    let spec = PatternSpec { kind, pieces: fracture.pieces, seed: fracture.seed };
    let rule = BreakRule {
        cells: fracture.resolution,
        child_factor: fracture.child_factor,
        ..BreakRule::made(spec)
    };
    Breakable::new(fracture.threshold, Arc::new(rule))
}
