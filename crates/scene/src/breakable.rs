//! The `fracture` table of a scene as the rule that a body breaks by.

use crate::build::BuildError;
use crate::description::{Fracture, FracturePattern, FractureRegions, PatternPlacement, Scene};
use crate::from_files::FromFiles;
use crate::pattern_file;
use splashdown_math::Dim;
use splashdown_rigid::fracture::{
    BreakRule, Breakable, Pattern, PatternError, PatternKind, PatternMode, PatternSpec,
};
use std::path::Path;
use std::sync::Arc;

/// Level at which patterns are packed.
const LEVEL: i32 = 9;

/// The pattern that a body of a scene breaks by, as the bytes of a pattern file (see [`pattern_file`]), with the number of its regions. Surfaces from files are read and sampled, and a pattern that is
/// otherwise made to measure for each break is made for the unit box, hit in the middle, and sampled at the body's `resolution`.
///
/// # Errors
/// A body that is not in the scene or does not break; files that make no pattern; numbers of pieces that none can have.
pub fn pattern_of(scene: &Scene, body: &str) -> Result<(Vec<u8>, usize), BuildError> {
    let fracture = scene
        .rigid
        .iter()
        .find(|rigid| rigid.name == body)
        .ok_or_else(|| BuildError::File { name: body.into(), reason: "there is no such rigid body".into() })?
        .fracture
        .as_ref()
        .ok_or_else(|| BuildError::File {
            name: body.into(),
            reason: "it does not break: it has no `fracture`".into(),
        })?;
    match scene.dimension {
        2 => encoded::<2>(body, fracture),
        _ => encoded::<3>(body, fracture),
    }
}

fn encoded<const D: usize>(name: &str, fracture: &Fracture) -> Result<(Vec<u8>, usize), BuildError>
where
    Dim<D>: FromFiles<D>,
{
    let wrong = |reason: String| BuildError::File { name: name.into(), reason };
    let pattern = match &fracture.regions {
        Some(regions) => stored(name, regions)?,
        None => sampled(fracture).map_err(|error| wrong(error.to_string()))?,
    };
    let bytes = pattern_file::encode(&pattern, LEVEL).map_err(|error| wrong(error.to_string()))?;
    Ok((bytes, pattern.region_count()))
}

/// A pattern made for the unit box.
fn sampled<const D: usize>(fracture: &Fracture) -> Result<Pattern<D>, PatternError>
where
    Dim<D>: FromFiles<D>,
{
    let (pieces, seed) = (fracture.pieces as usize, fracture.seed);
    let made = match fracture.pattern {
        FracturePattern::Voronoi => Pattern::voronoi(pieces, seed),
        FracturePattern::Radial => Pattern::radial(pieces, seed),
        FracturePattern::Realistic => Pattern::realistic(pieces, seed),
        FracturePattern::Glass => {
            // As many rings as sectors are wide, about.
            let rings = ((pieces as f64 / 2.5).sqrt().round() as usize).max(1);
            Pattern::glass((pieces.saturating_sub(1) / rings).max(2), rings, 0.6, seed)
        }
    };
    made?.sampled(fracture.resolution as usize)
}

/// A pattern from files.
fn stored<const D: usize>(name: &str, regions: &FractureRegions) -> Result<Pattern<D>, BuildError>
where
    Dim<D>: FromFiles<D>,
{
    match &regions.pattern {
        Some(path) => pattern_file::read::<D>(Path::new(path))
            .map_err(|error| BuildError::File { name: name.into(), reason: format!("`{path}`: {error}") }),
        None => Dim::pattern(name, regions),
    }
}

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
        let pattern = stored(name, regions)?;
        let given = BreakRule::fixed(Arc::new(pattern));
        rule.pattern = given.pattern;
        rule.mode = match regions.placement {
            PatternPlacement::Aligned => PatternMode::Aligned,
            PatternPlacement::General => PatternMode::General,
        };
    }
    Ok(Breakable::new(fracture.threshold, Arc::new(rule)))
}
