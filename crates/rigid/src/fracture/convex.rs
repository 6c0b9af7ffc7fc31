//! Pieces that are convex: a Voronoi cell cuts a convex body into convex polytopes, which meet others exactly and in microseconds where samples of a distance
//! would need hundreds of interpolations. Neighbouring pieces share the plane between their seeds, so none overlaps another at birth.

use super::Piece;
use super::pattern::{Pattern, Regions};
use super::placement::Placement;
use crate::geometry::Clip;
use crate::{Geometry, Hull};
use splashdown_math::{Dim, Frame, Space, Vector};
use std::borrow::Cow;

/// A round body becomes a polytope that is inside it by at most this part of a sample's spacing.
const ROUND: f64 = 0.5;
/// A polytope stands for a piece if the piece's surface particles are off its own by at most this part of a sample's spacing (the samples do not know the
/// surface better), but for the odd one at an edge of the body, where gradients are not those of a face.
const LIKE: f64 = 1.0;
const ODD: f64 = 3.0;
/// Share of particles that may be odd.
const ODD_SHARE: f64 = 0.03;

/// The polytope that a body is as its samples, `spacing` (m) apart, see it; none if it is not convex.
pub(super) fn outline<const D: usize>(geometry: &Geometry<D>, spacing: f64) -> Option<Cow<'_, Hull<D>>>
where
    Dim<D>: Space<D>,
{
    geometry.outline(ROUND * spacing)
}

/// A body about to be cut, as far as its pieces may be convex; in the coordinates of its samples.
pub(super) struct Outline<const D: usize> {
    /// The whole body, if it is convex.
    whole: Option<Hull<D>>,
    /// The seeds of all regions, if the pattern has seeds.
    seeds: Vec<Vector<D>>,
    /// Distance of the samples (m).
    spacing: f64,
}

impl<const D: usize> Outline<D>
where
    Dim<D>: Space<D>,
{
    /// `to_samples` leads from the object coordinates of the body to those of its samples, `spacing` (m) apart.
    pub fn new(
        geometry: &Geometry<D>,
        to_samples: &Frame<D>,
        spacing: f64,
        pattern: &Pattern<D>,
        placement: &Placement<D>,
    ) -> Self {
        let whole = outline(geometry, spacing).map(|hull| hull.moved(to_samples));
        let seeds = match pattern.regions() {
            Regions::Seeds(seeds) => seeds.points.iter().map(|seed| placement.to_body(seed)).collect(),
            Regions::Sampled(_) => Vec::new(),
        };
        Self { whole, seeds, spacing }
    }

    /// The polytope that a piece is, to the accuracy of its samples.
    pub fn of_piece(&self, piece: &Piece<D>) -> Option<Hull<D>> {
        let alike = |hull: &Hull<D>| self.is_like(hull, piece);
        if let Some(hull) = self.whole.as_ref().and_then(|whole| self.cell(whole, piece)).filter(alike) {
            return Some(hull);
        }
        // A convex piece of a body that is not.
        let own =
            Hull::within(&piece.particles, 0.5 * ROUND * self.spacing)?.simplified(ROUND * self.spacing)?;
        self.cell(&own, piece).filter(alike)
    }

    /// The part of `hull` in the Voronoi cell of the piece; all of it without seeds.
    fn cell(&self, hull: &Hull<D>, piece: &Piece<D>) -> Option<Hull<D>> {
        let Some(own) = self.seeds.get(piece.region as usize) else { return Some(hull.clone()) };
        let mut order: Vec<(f64, &Vector<D>)> = self
            .seeds
            .iter()
            .map(|seed| ((seed - own).norm(), seed))
            .filter(|(away, _)| *away > 0.0)
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut clip = Clip::new(hull);
        let mut reach = clip.reach(own);
        for (away, seed) in order {
            // No bisector from here on comes near what is left.
            if 0.5 * away > reach {
                break;
            }
            let normal = (seed - own) / away;
            if clip.cut(&normal, normal.dot(&((seed + own) * 0.5))) {
                reach = clip.reach(own);
            }
        }
        clip.hull()
    }

    /// Is the surface of the piece that of the polytope?
    fn is_like(&self, hull: &Hull<D>, piece: &Piece<D>) -> bool {
        let volume = || hull.surface().enclosed_integrals().map_or(0.0, |integrals| integrals.measure);
        if !(hull.height(&piece.moments.centre) < 0.0) {
            return false;
        }
        let most = (ODD_SHARE * piece.particles.len() as f64) as usize;
        let mut odd = 0;
        for particle in &piece.particles {
            let off = hull.height(particle).abs() / self.spacing;
            odd += usize::from(off > LIKE);
            if odd > most || !(off <= ODD) {
                return false;
            }
        }
        (0.7..1.4).contains(&(volume() / piece.moments.volume))
    }
}
