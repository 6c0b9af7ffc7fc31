//! What the pieces look like, at the sizes of the source's examples: one pattern breaks a wall of 150x10x100 samples in three places, a cylinder of 55x105x55 breaks into 25 pieces
//! and a body like a bunny of 70x60x45 into 35; a wall that is hit at a corner has small pieces there and large ones far away.
//!
//! Source: 000 figures 2.4 to 2.9 (spec/rigid-bodies.md E4, E5, E6, E7, E9); counts and sizes as given there.

use super::{somewhere, voxel_body};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_geometry::Aabb;
use splashdown_geometry::shapes::{Shape, ShapeError};
use splashdown_math::{Twist, Vector};
use splashdown_rigid::fracture::{BreakRule, Fragment, Hit, Pattern, PatternKind, PatternSpec, shatter};
use splashdown_rigid::{Body, BodyState};
use std::sync::Arc;

pub(super) const CASE: Case = Case {
    name: "rigid/fracture-pieces",
    spec: "E4-E7, E9",
    summary: "number, place and size of the pieces of walls, a cylinder and a body like a bunny",
    source: "000 figures 2.4 to 2.9",
    speed: Speed::Fast,
    seconds: 4.0,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let shape =
        |made: Result<Shape<3>, ShapeError>| made.map_err(|error| CaseError::new("making a shape", error));
    let pattern =
        |made: Result<Pattern<3>, _>| made.map_err(|error| CaseError::new("making a pattern", error));
    let wall = shape(Shape::cuboid(Vector::from([0.75, 0.05, 0.5])))?;

    // E4: one pattern of rings and sectors, not jittered, so that its inner ring is centred at the impact. One sample of the pattern to one of the wall, 1 cm;
    // it spans twice the wall, so that every hit is covered.
    let thin = Aabb { min: Vector::from([-1.0, -0.1, -1.0]), max: Vector::from([1.0, 0.1, 1.0]) };
    let glass = Pattern::glass(8, 6, 0.0, 1).and_then(|pattern| pattern.within(thin)?.sampled(300));
    let glass = Arc::new(pattern(glass)?);
    let body = voxel_body(wall.clone(), 150, BreakRule::fixed(glass))?;
    let mut largest: f64 = 0.0;
    for place in [[0.0, 0.05, 0.0], [-0.4, 0.05, 0.2], [0.3, 0.05, -0.15]] {
        let at = Vector::from(place);
        let pieces = broken(&body, at)?;
        // The piece in the middle and the eight of the inner ring: all that lie within its radius of 0.06 of the wall's length.
        let inner: Vec<Vector<3>> =
            pieces.iter().map(|piece| piece.in_parent.position).filter(|x| (x - at).norm() < 0.12).collect();
        let centre = inner.iter().sum::<Vector<3>>() / inner.len().max(1) as f64;
        let off = ((centre[0] - at[0]).powi(2) + (centre[2] - at[2]).powi(2)).sqrt();
        largest = largest.max(off / 0.01);
        out.at_least(
            "wall, radial: pieces around the impact",
            &format!("at {place:?}"),
            inner.len() as f64,
            9.0,
            "E4: one in the middle, eight around",
        );
    }
    out.at_most(
        "wall, radial: offset of the pieces' centre from the impact (cells)",
        "3 places",
        largest,
        1.0,
        "E4",
    );

    // E5 and E6: the number of pieces asked for.
    let cylinder = shape(Shape::cylinder(0.275, 0.525))?;
    let made = |kind, pieces| BreakRule::made(PatternSpec { kind, pieces, seed: 7 });
    let body = voxel_body(cylinder, 105, made(PatternKind::Radial, 25))?;
    let pieces = broken(&body, Vector::from([0.275, 0.0, 0.1]))?;
    out.near(
        "cylinder: pieces",
        "55x105x55",
        pieces.len() as f64,
        25.0,
        2.0,
        "E5: 25, merges and components apart",
    );
    let body = voxel_body(shape(bunny())?, 70, made(PatternKind::Radial, 35))?;
    let pieces = broken(&body, Vector::from([0.2, 0.3, 0.0]))?;
    out.near(
        "body like a bunny: pieces",
        "70 on the longest side",
        pieces.len() as f64,
        35.0,
        5.0,
        "E6: 35, components may add",
    );

    // E7 and E9: a hit at the lower right corner.
    for (kind, row) in [(PatternKind::Radial, "E7"), (PatternKind::Realistic, "E9")] {
        let body = voxel_body(wall.clone(), 150, made(kind, 40))?;
        let at = Vector::from([0.7, 0.05, -0.45]);
        let pieces = broken(&body, at)?;
        let mut by_distance: Vec<(f64, f64)> = pieces
            .iter()
            .map(|piece| ((piece.in_parent.position - at).norm(), piece.voxels as f64))
            .collect();
        by_distance.sort_by(|a, b| a.0.total_cmp(&b.0));
        let third = by_distance.len() / 3;
        let mean = |part: &[(f64, f64)]| {
            part.iter().map(|(_, voxels)| voxels).sum::<f64>() / part.len().max(1) as f64
        };
        let (near, middle, far) = (
            mean(&by_distance[..third]),
            mean(&by_distance[third..2 * third]),
            mean(&by_distance[2 * third..]),
        );
        out.at_least(
            "corner hit: mean volume, middle third over nearest third",
            row,
            middle / near,
            1.5,
            "larger with the distance from the impact",
        );
        out.at_least(
            "corner hit: mean volume, farthest third over middle third",
            row,
            far / middle,
            1.2,
            "larger with the distance from the impact",
        );
        // A second ball hits a large fragment.
        let large = &pieces[0];
        let state = large.state;
        let again = broken_at(&large.body, &state, Vector::zeros())?;
        out.at_least(
            "large fragment: pieces when hit again",
            row,
            again.len() as f64,
            2.0,
            "E7: it breaks again",
        );
    }
    Ok(())
}

/// A body with a round trunk, a head and two ears.
fn bunny() -> Result<Shape<3>, ShapeError> {
    let trunk = Shape::ellipsoid(Vector::from([0.3, 0.22, 0.2]))?;
    let head = Shape::ball(0.13)?.translated(Vector::from([0.28, 0.18, 0.0]))?;
    let ear = |side: f64| {
        Shape::capsule(0.045, 0.1)?.placed(splashdown_math::Frame {
            position: Vector::from([0.24, 0.36, 0.06 * side]),
            rotation: <splashdown_math::Dim<3> as splashdown_math::Space<3>>::exp(&Vector::from([
                1.4,
                0.2 * side,
                0.0,
            ])),
        })
    };
    trunk.smooth_union(head, 0.1)?.smooth_union(ear(1.0)?.union(ear(-1.0)?), 0.04)
}

fn broken(body: &Body<3>, at: Vector<3>) -> Result<Vec<Fragment<3>>, CaseError> {
    // Described about the centre of its box; the body's own origin is its centre of mass.
    let state = BodyState::new(body, somewhere(), &Twist::zero());
    let geometry = body.geometry.as_ref().ok_or_else(|| CaseError::new("breaking", "no geometry"))?;
    let own = geometry.placement().to_world(&at);
    let mut pieces = broken_at(body, &state, own)?;
    for piece in &mut pieces {
        piece.in_parent = geometry.placement().inverse().compose(&piece.in_parent);
    }
    Ok(pieces)
}

fn broken_at(body: &Body<3>, state: &BodyState<3>, at: Vector<3>) -> Result<Vec<Fragment<3>>, CaseError> {
    let hit = Hit {
        point: state.frame.to_world(&at),
        normal: state.frame.vector_to_world(&Vector::from([0.0, 1.0, 0.0])),
        impulse: 1.0,
    };
    let pieces = shatter(body, state, &hit).map_err(|error| CaseError::new("breaking", error))?;
    pieces.ok_or_else(|| CaseError::new("breaking", "the pattern does not cut the body"))
}
