//! Random breaks: shapes made of random parts, any pattern, any point and direction of the hit, any speed, resolutions from coarse to fine. Whatever comes,
//! there is no panic, mass and momenta are kept, and every fragment is a body that can be simulated and broken again.
//!
//! Source: conservation laws; issue 3 ("random soak").

use super::{Totals, least_moment, somewhere};
use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use splashdown_geometry::shapes::{Shape, ShapeError};
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_parallel::prelude::*;
use splashdown_rigid::fracture::{
    BreakRule, Breakable, Hit, Pattern, PatternKind, PatternMode, PatternSpec, shatter,
};
use splashdown_rigid::{Body, BodyState, Geometry, Kind};
use std::sync::Arc;

pub(super) const CASE: Case = Case {
    name: "rigid/fracture-soak",
    spec: "RB-40..49",
    summary: "random bodies broken by random patterns at random places keep mass and momenta, and every fragment is a sound body",
    source: "exact: conservation",
    speed: Speed::Slow,
    seconds: 30.0,
    run,
};

const SCENES: u64 = 200;

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let found: Vec<Found> = (0..SCENES)
        .into_par_iter()
        .map(|seed| if seed % 2 == 0 { soak::<3>(seed) } else { soak::<2>(seed) })
        .collect::<Result<_, _>>()?;
    let sum = |value: fn(&Found) -> usize| found.iter().map(value).sum::<usize>();
    let worst = |value: fn(&Found) -> f64| found.iter().map(value).fold(0.0, f64::max);
    let resolution =
        format!("{SCENES} bodies, {} breaks, {} fragments", sum(|f| f.breaks), sum(|f| f.fragments));
    out.at_most("relative change of mass", &resolution, worst(|f| f.errors[0]), 1e-10, "exact: conserved");
    out.at_most(
        "relative change of momentum",
        &resolution,
        worst(|f| f.errors[1]),
        1e-10,
        "exact: conserved",
    );
    out.at_most(
        "relative change of angular momentum",
        &resolution,
        worst(|f| f.errors[2]),
        1e-10,
        "exact: conserved",
    );
    out.at_most("fragments that are no sound body", &resolution, sum(|f| f.unsound) as f64, 0.0, "issue 3");
    // A pattern with one region in the body does not cut it; that is rare.
    out.at_least("breaks", &resolution, sum(|f| f.breaks) as f64, 1.5 * SCENES as f64, "issue 3");
    Ok(())
}

#[derive(Default)]
struct Found {
    breaks: usize,
    fragments: usize,
    unsound: usize,
    errors: [f64; 4],
}

fn soak<const D: usize>(seed: u64) -> Result<Found, CaseError>
where
    Dim<D>: Space<D>,
{
    let failed = |error: &dyn std::fmt::Display| CaseError::new(&format!("seed {seed}"), error);
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let shape = random_shape::<D>(&mut rng).map_err(|error| failed(&error))?;
    let cells = rng.random_range(8..if D == 2 { 90 } else { 40 });
    let geometry = Geometry::shape(shape, cells as usize).map_err(|error| failed(&error))?;
    let mass = 10f64.powf(rng.random_range(-3.0..3.0));
    let kinds = [PatternKind::Voronoi, PatternKind::Radial, PatternKind::Realistic, PatternKind::Glass];
    let pieces = rng.random_range(2..60);
    let (kind, pattern_seed) = (kinds[rng.random_range(0..4)], rng.random());
    let rule = if rng.random::<f64>() < 0.6 {
        BreakRule::made(PatternSpec { kind, pieces, seed: pattern_seed })
    } else {
        let pattern = match kind {
            PatternKind::Voronoi => Pattern::voronoi(4 * pieces as usize, pattern_seed),
            PatternKind::Radial => Pattern::radial(4 * pieces as usize, pattern_seed),
            PatternKind::Realistic => Pattern::realistic(4 * pieces as usize, pattern_seed),
            PatternKind::Glass => Pattern::glass(7, 1 + pieces as usize / 7, 0.5, pattern_seed),
        };
        let sampled = if rng.random() { pattern.and_then(|pattern| pattern.sampled(40)) } else { pattern };
        let mode = if rng.random() { PatternMode::Aligned } else { PatternMode::General };
        BreakRule { mode, ..BreakRule::fixed(Arc::new(sampled.map_err(|error| failed(&error))?)) }
    };
    let rule = BreakRule { cells, ..rule };
    let body = Body::with_geometry("body", Kind::Dynamic, mass, Arc::new(geometry))
        .map_err(|error| failed(&error))?;
    let body = body.breakable(Breakable::new(1.0, Arc::new(rule)));
    let mut unit = || rng.random_range(-1.0..1.0f64);
    let twist = Twist {
        linear: Vector::from_fn(|_, _| 30.0 * unit()),
        angular: Spin::<D>::from_slice(&[50.0 * unit(), 50.0 * unit(), 50.0 * unit()]),
    };
    let mut todo = vec![(body.clone(), BodyState::new(&body, somewhere(), &twist))];
    let mut found = Found::default();
    for _ in 0..3 {
        let Some((body, state)) = todo.pop() else { break };
        let reach = body.geometry.as_ref().map_or(1.0, |geometry| geometry.radius());
        let hit = Hit {
            point: state.frame.position + Vector::from_fn(|_, _| reach * unit()),
            normal: Vector::from_fn(|_, _| unit() + 1e-3),
            impulse: 1.0,
        };
        let Some(fragments) = shatter(&body, &state, &hit).map_err(|error| failed(&error))? else { continue };
        found.breaks += 1;
        found.fragments += fragments.len();
        let errors = Totals::of_fragments(&fragments).error(&Totals::of(std::iter::once((&body, &state))));
        for (worst, error) in found.errors.iter_mut().zip(errors) {
            *worst = worst.max(error);
        }
        found.unsound +=
            fragments.iter().filter(|fragment| !is_sound(&fragment.body, &fragment.state)).count();
        todo.extend(fragments.into_iter().take(2).map(|fragment| (fragment.body, fragment.state)));
    }
    Ok(found)
}

/// Positive mass and moments, particles on its surface, a centre that is not far outside, and finite motion.
fn is_sound<const D: usize>(body: &Body<D>, state: &BodyState<D>) -> bool
where
    Dim<D>: Space<D>,
{
    let Some(geometry) = &body.geometry else { return false };
    let moment = least_moment(body);
    let size = geometry.radius();
    let on_surface = geometry.particles().iter().all(|x| geometry.signed_distance(x).abs() < 0.5 * size);
    body.mass > 0.0
        && moment > 0.0
        && moment.is_finite()
        && size > 0.0
        && size.is_finite()
        && geometry.particles().len() >= 4
        && on_surface
        && state.kinetic_energy(body).is_finite()
}

fn random_shape<const D: usize>(rng: &mut Pcg64Mcg) -> Result<Shape<D>, ShapeError>
where
    Dim<D>: Space<D>,
{
    let size = 10f64.powf(rng.random_range(-2.0..1.0));
    let part = |rng: &mut Pcg64Mcg| {
        let mut length = || size * rng.random_range(0.2..1.0f64);
        let (a, b, c) = (length(), length(), length());
        let shape = match rng.random_range(0..5) {
            0 => Shape::ball(a),
            1 => Shape::cuboid(Vector::from_fn(|axis, _| [a, b, c][axis])),
            2 => Shape::cylinder(a, b),
            3 => Shape::capsule(0.5 * a, b),
            _ => Shape::torus(a, 0.45 * a),
        }?;
        let frame = Frame {
            position: Vector::from_fn(|_, _| size * rng.random_range(-0.5..0.5)),
            rotation: Dim::exp(&Spin::<D>::from_slice(&[rng.random(), rng.random(), rng.random()])),
        };
        shape.placed(frame)
    };
    let mut shape = part(rng)?;
    for _ in 0..rng.random_range(0..3) {
        let other = part(rng)?;
        shape = shape.union(other);
    }
    Ok(shape)
}
