//! The `fracture` table of a scene as the rule that a body breaks by.

use crate::build::BuildError;
use crate::description::{Fracture, FracturePattern, PatternPlacement};
use crate::from_files::FromFiles;
use splashdown_math::Dim;
use splashdown_rigid::fracture::{BreakRule, Breakable, PatternKind, PatternMode, PatternSpec};
use std::path::Path;
use std::sync::Arc;

/// The rule of the body `name`; copies of one body share it.
pub(crate) fn breakable<const D: usize>(name: &str, fracture: &Fracture) -> Result<Breakable<D>, BuildError>
where
    Dim<D>: FromFiles<D>,
{
    let kind = match fracture.pattern {
        FracturePattern::Voronoi => PatternKind::Voronoi,
        FracturePattern::Radial => PatternKind::Radial,
        FracturePattern::Realistic => PatternKind::Realistic,
        FracturePattern::Glass => PatternKind::Glass,
    };
    let spec = PatternSpec { kind, pieces: fracture.pieces, seed: fracture.seed };
    let mut rule = BreakRule {
        cells: fracture.resolution,
        child_factor: fracture.child_factor,
        ..BreakRule::made(spec)
    };
    if let Some(regions) = &fracture.regions {
        let pattern = match &regions.pattern {
            Some(path) => crate::pattern_file::read::<D>(Path::new(path)).map_err(|error| {
                BuildError::File { name: name.into(), reason: format!("`{path}`: {error}") }
            })?,
            None => Dim::pattern(name, regions)?,
        };
        let given = BreakRule::fixed(Arc::new(pattern));
        rule.pattern = given.pattern;
        rule.mode = match regions.placement {
            PatternPlacement::Aligned => PatternMode::Aligned,
            PatternPlacement::General => PatternMode::General,
        };
    }
    Ok(Breakable::new(fracture.threshold, Arc::new(rule)))
}
