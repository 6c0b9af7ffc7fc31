//! From a hit on a body to its fragments: bodies with mass, frame and motion of their own.

use super::convex::{Outline, outline};
use super::{CutOptions, Pattern, PatternError, PatternSpec, Piece, Placement, VoxelSums, cut};
use crate::{Body, BodyState, Geometry, GeometryError, Hull, Kind, Load, MassProperties, Solid};
use serde::{Deserialize, Serialize};
use splashdown_geometry::Aabb;
use splashdown_geometry::grid::{Field, Grid, GridError, Location};
use splashdown_geometry::level_set::{LevelSet, LevelSetError};
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_parallel::prelude::*;
use std::sync::Arc;

/// Where a pattern comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", rename_all = "snake_case")]
pub enum PatternSource<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Made for the body and the hit.
    Made(PatternSpec),
    /// One pattern for all hits, placed at each.
    Fixed(Arc<Pattern<D>>),
}

/// How a fixed pattern is placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PatternMode {
    /// Not turned, one sample of the pattern to one of the body, moved to the nearest sample: no interpolation. For patterns on a grid;
    /// others are placed as by [`Self::General`].
    #[default]
    Aligned,
    /// Turned to the normal of the hit and scaled to the body.
    General,
}

/// How bodies of a kind break; shared by all of them and their fragments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct BreakRule<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Pattern.
    pub pattern: PatternSource<D>,
    /// How a fixed pattern is placed.
    pub mode: PatternMode,
    /// Samples on the longest side of a whole body.
    pub cells: u32,
    /// Threshold of a fragment in units of its parent's; above 1, so that dust does not go on breaking.
    pub child_factor: f64,
    /// How it is cut.
    pub cut: CutOptions,
}

impl<const D: usize> BreakRule<D>
where
    Dim<D>: Space<D>,
{
    /// About `pieces` fragments of the given kind and seed, with the usual resolution.
    pub fn made(spec: PatternSpec) -> Self {
        Self {
            pattern: PatternSource::Made(spec),
            mode: PatternMode::default(),
            cells: 64,
            child_factor: 2.0,
            cut: CutOptions::default(),
        }
    }

    /// One pattern for all hits, aligned with the samples of the body.
    pub fn fixed(pattern: Arc<Pattern<D>>) -> Self {
        Self { pattern: PatternSource::Fixed(pattern), ..Self::made(PatternSpec::default()) }
    }
}

/// That a body can break, and from which impulse on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Breakable<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Collision impulse (N s) from which it breaks.
    pub threshold: f64,
    /// How it breaks. Not stored with a state: the scene has it.
    #[serde(skip, default = "no_rule")]
    pub rule: Arc<BreakRule<D>>,
    /// Volume in units of the whole body that it comes from; small fragments break into fewer pieces.
    pub share: f64,
    /// Tells the patterns of the fragments of one body apart.
    pub lineage: u64,
}

/// Stands in for the rule of a body that was just read, until the world that it belongs to gives it the right one.
fn no_rule<const D: usize>() -> Arc<BreakRule<D>>
where
    Dim<D>: Space<D>,
{
    Arc::new(BreakRule::made(PatternSpec::default()))
}

impl<const D: usize> Breakable<D>
where
    Dim<D>: Space<D>,
{
    /// A whole body that breaks from an impulse of `threshold` (N s) on.
    pub fn new(threshold: f64, rule: Arc<BreakRule<D>>) -> Self {
        Self { threshold, rule, share: 1.0, lineage: 0 }
    }
}

/// Where and how hard a body was hit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit<const D: usize> {
    /// Point in world coordinates (m).
    pub point: Vector<D>,
    /// Unit vector out of the body at that point, in world coordinates.
    pub normal: Vector<D>,
    /// Size of the impulse (N s).
    pub impulse: f64,
}

/// A fragment: a body, where it is and how it moves.
#[derive(Debug, Clone)]
pub struct Fragment<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// The body.
    pub body: Body<D>,
    /// Where it is and how it moves.
    pub state: BodyState<D>,
    /// From its own coordinates to those of the body that it comes from.
    pub in_parent: Frame<D>,
    /// Number of voxels.
    pub voxels: u64,
}

/// Why a body could not be broken.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FractureError {
    /// No solid of finite mass.
    #[error("body `{name}` cannot break: it needs a bounded shape and must be dynamic")]
    NotASolid {
        /// Name of the body.
        name: String,
    },
    /// It is too thin for its samples.
    #[error(
        "body `{name}` cannot break: none of the {cells} samples on its longest side lies inside; use more"
    )]
    TooCoarse {
        /// Name of the body.
        name: String,
        /// Samples on the longest side.
        cells: u32,
    },
    /// The pattern.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// A grid.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// A level set.
    #[error(transparent)]
    LevelSet(#[from] LevelSetError),
    /// A fragment's geometry.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
}

/// Distance samples of a solid, and the motion from its object coordinates to theirs. A solid known by samples keeps them; others get `cells`
/// samples on their longest side, at the centres of voxels that fill a box exactly if its edges are multiples of their size.
pub fn voxelize<const D: usize>(
    geometry: &Geometry<D>,
    cells: u32,
) -> Result<(Field<D>, Frame<D>), FractureError>
where
    Dim<D>: Space<D>,
{
    let (field, frame) = samples(geometry, cells)?;
    Ok((Arc::unwrap_or_clone(field), frame))
}

/// As [`voxelize`]; the samples stay with the geometry, for all bodies that share it.
fn samples<const D: usize>(
    geometry: &Geometry<D>,
    cells: u32,
) -> Result<(Arc<Field<D>>, Frame<D>), FractureError>
where
    Dim<D>: Space<D>,
{
    if let (Solid::Sampled, Some((level_set, frame))) = (geometry.solid(), geometry.level_set()) {
        return Ok((Arc::new(level_set.field().clone()), *frame));
    }
    let field = geometry.voxels(cells, || -> Result<_, FractureError> {
        let bounds: &Aabb<D> = geometry.bounds();
        let spacing = bounds.extent().max() / f64::from(cells.max(4));
        let grid = Grid::covering(bounds, spacing, 2)?;
        let mut field = Field::with_ghost(&grid, Location::Cell, 0, 0.0);
        let lattice = *field.lattice();
        field.update(|index, _| geometry.signed_distance(&lattice.position(index)));
        Ok(field)
    })?;
    Ok((field, Frame::identity()))
}

/// Makes ahead of time what breaking `body` needs whatever the hit, so that the step in which it breaks does not have to. Bodies that share their geometry
/// share it; what cannot break needs nothing.
pub fn prepare<const D: usize>(body: &Body<D>)
where
    Dim<D>: Space<D>,
{
    let (Some(geometry), Some(breakable)) = (&body.geometry, &body.breakable) else { return };
    if body.kind != Kind::Dynamic || geometry.properties().is_none() || !geometry.bounds().is_bounded() {
        return;
    }
    // What is wrong with them is told when the body breaks.
    if let Ok((phi, _)) = samples(geometry, breakable.rule.cells) {
        geometry.particles();
        outline(geometry, phi.lattice().spacing().max());
    }
}

/// Breaks `body` where it was hit. `None` if the pattern does not cut it.
///
/// The fragments, the largest first, have the body's mass and its linear and angular momentum, to round-off; its kinetic energy too where its
/// inertia is that of its voxels. Whether the hit was hard enough is not asked.
#[inline(never)]
pub fn shatter<const D: usize>(
    body: &Body<D>,
    state: &BodyState<D>,
    hit: &Hit<D>,
) -> Result<Option<Vec<Fragment<D>>>, FractureError>
where
    Dim<D>: Space<D>,
{
    let not_a_solid = || FractureError::NotASolid { name: body.name.clone() };
    let (Some(geometry), Some(breakable), Kind::Dynamic) = (&body.geometry, &body.breakable, body.kind)
    else {
        return Err(not_a_solid());
    };
    if geometry.properties().is_none() || !geometry.bounds().is_bounded() {
        return Err(not_a_solid());
    }
    let rule = &breakable.rule;
    let (phi, to_samples) = samples(geometry, rule.cells)?;
    let point = to_samples.to_world(&state.frame.to_object(&hit.point));
    let normal = to_samples.vector_to_world(&state.frame.vector_to_object(&hit.normal));
    if !phi.values().iter().any(|value| *value <= 0.0) {
        return Err(FractureError::TooCoarse { name: body.name.clone(), cells: rule.cells });
    }
    let made;
    let (pattern, placement) = match &rule.pattern {
        PatternSource::Made(spec) => {
            let share = breakable.share.clamp(0.0, 1.0).sqrt();
            let pieces =
                ((f64::from(spec.pieces) * share).round() as u32).clamp(2.min(spec.pieces), spec.pieces);
            let spec = PatternSpec { pieces, seed: spec.seed ^ breakable.lineage, ..*spec };
            made = spec.pattern(&phi, &point, &normal)?;
            (&made, Placement::identity())
        }
        PatternSource::Fixed(pattern) => {
            let aligned = (rule.mode == PatternMode::Aligned)
                .then(|| Placement::aligned(pattern, point, phi.lattice()))
                .flatten();
            let placement = aligned.unwrap_or_else(|| {
                let bounds = phi.lattice().hull();
                Placement::general(pattern, point, &normal, spin_of(breakable.lineage), &bounds)
            });
            (pattern.as_ref(), placement)
        }
    };
    let particles: Vec<Vector<D>> = geometry.particles().iter().map(|x| to_samples.to_world(x)).collect();
    let mut pieces = cut(&phi, &particles, pattern, &placement, &rule.cut)?;
    if pieces.len() < 2 {
        return Ok(None);
    }
    pieces.sort_by_key(|piece| std::cmp::Reverse(piece.voxels));
    let total: u64 = pieces.iter().map(|piece| piece.voxels).sum();
    let from_samples = to_samples.inverse();
    let outline = Outline::new(geometry, &to_samples, phi.lattice().spacing().max(), pattern, &placement);
    let mut fragments = pieces
        .into_par_iter()
        .enumerate()
        .map(|(number, piece)| {
            let hull = outline.of_piece(&piece);
            fragment(body, breakable, state, &from_samples, number, piece, hull, total)
        })
        .collect::<Result<Vec<_>, _>>()?;
    share_motion(body, state, &mut fragments);
    Ok(Some(fragments))
}

/// An angle (rad) that depends on the lineage only.
fn spin_of(lineage: u64) -> f64 {
    (lineage.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11) as f64 / (1u64 << 53) as f64 * std::f64::consts::TAU
}

#[expect(clippy::too_many_arguments)]
fn fragment<const D: usize>(
    parent: &Body<D>,
    breakable: &Breakable<D>,
    state: &BodyState<D>,
    from_samples: &Frame<D>,
    number: usize,
    piece: Piece<D>,
    hull: Option<Hull<D>>,
    total: u64,
) -> Result<Fragment<D>, FractureError>
where
    Dim<D>: Space<D>,
{
    let Piece { voxels, moments, phi, particles, .. } = piece;
    let (properties, placement) =
        MassProperties::principal(moments.volume, &moments.centre, &moments.second)?;
    let share = voxels as f64 / total as f64;
    let mass = parent.mass * share;
    let particles = particles.iter().map(|x| placement.to_world(x)).collect();
    let to_samples = placement.inverse();
    let level_set = LevelSet::from_field(phi)?;
    let mut geometry = Geometry::sampled(level_set, to_samples, particles, properties);
    if let Some(hull) = hull {
        geometry = geometry.convex(hull.moved(&placement));
    }
    let child = Breakable {
        threshold: breakable.threshold * breakable.rule.child_factor,
        rule: breakable.rule.clone(),
        share: breakable.share * share,
        lineage: breakable.lineage.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(number as u64 + 1),
    };
    let in_parent = from_samples.compose(&to_samples);
    let mut frame = state.frame.compose(&in_parent);
    Dim::renormalize(&mut frame.rotation);
    let body = Body {
        name: format!("{}.{}", parent.name, number + 1),
        kind: Kind::Dynamic,
        mass,
        inertia: properties.inertia * (mass / properties.volume),
        geometry: Some(Arc::new(geometry)),
        material: parent.material,
        breakable: Some(child),
        surface_flow: Twist::zero(),
        immersion: parent.immersion,
        // Each fragment has its share of the force; a torque was that of the whole.
        load: Load {
            force: parent.load.force * (mass / parent.mass),
            torque: Spin::<D>::zero(),
            ..parent.load
        },
    };
    let state = BodyState::new(&body, frame, &Twist::zero());
    Ok(Fragment { body, state, in_parent, voxels })
}

/// Lets the fragments move as one rigid body with the momenta of their parent (spec 3.17: the common twist that keeps them to round-off also
/// where the parent's centre and inertia are not those of its voxels).
fn share_motion<const D: usize>(parent: &Body<D>, state: &BodyState<D>, fragments: &mut [Fragment<D>])
where
    Dim<D>: Space<D>,
{
    let origin = state.frame.position;
    let mass: f64 = fragments.iter().map(|f| f.body.mass).sum();
    let moment = fragments
        .iter()
        .fold(Vector::zeros(), |sum, f| sum + (f.state.frame.position - origin) * f.body.mass);
    let centre: Vector<D> = moment / mass;
    let zero = Dim::point_inertia(&Vector::zeros());
    let inertia = fragments.iter().fold(zero, |sum, f| {
        let arm = f.state.frame.position - origin - centre;
        sum + Dim::rotate_inertia(&f.state.frame.rotation, &f.body.inertia)
            + Dim::point_inertia(&arm) * f.body.mass
    });
    let momentum = state.velocity * parent.mass;
    let angular = state.angular_momentum - Dim::cross(&centre, &momentum);
    let spin = Dim::apply_inertia(&Dim::invert_inertia(&inertia), &angular);
    let whole = Twist { linear: momentum / mass, angular: spin };
    for fragment in fragments {
        let arm = fragment.state.frame.position - origin - centre;
        let twist = Twist { linear: whole.at(&arm), angular: spin };
        fragment.state = BodyState::new(&fragment.body, fragment.state.frame, &twist);
    }
}

/// Volume and inertia of what `cells` samples on the longest side see of a geometry, about its centre of mass in principal axes: the mass
/// properties that a body keeps when it breaks. Also the motion from object coordinates to those axes.
pub fn voxel_properties<const D: usize>(
    geometry: &Geometry<D>,
    cells: u32,
) -> Result<(MassProperties<D>, Frame<D>), FractureError>
where
    Dim<D>: Space<D>,
{
    let (phi, to_samples) = voxelize(geometry, cells)?;
    let moments = VoxelSums::of(&phi)
        .moments(phi.lattice())
        .ok_or_else(|| FractureError::TooCoarse { name: "?".into(), cells })?;
    let (properties, placement) =
        MassProperties::principal(moments.volume, &moments.centre, &moments.second)?;
    Ok((properties, placement.compose(&to_samples)))
}
