//! Soft bodies in the fluid: their form where they are, and the particles that move a coupling face.

use super::resistance::Resistance;
use crate::solids::{SolidBody, SolidElement, Solids};
use splashdown_fluid::pressure::PressureProblem;
use splashdown_fluid::shell::Sheet;
use splashdown_fluid::{FluidModel, Form, Guest, Placement};
use splashdown_geometry::grid::Index;
use splashdown_geometry::simplex::closest_point;
use splashdown_geometry::{Aabb, Bvh};
use splashdown_math::{Dim, Frame, Space, Vector};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The inside of a soft body of triangles in the plane or tetrahedra in space, with its middle as the origin, so that domains with periodic sides find the image that is near.
pub(super) struct SoftForm<const D: usize> {
    points: Vec<Vector<D>>,
    /// The first `D + 1` of each are the corners of an element.
    elements: Vec<[u32; 4]>,
    /// The first `D` of each are the corners of a facet of the surface.
    facets: Vec<[u32; 3]>,
    inside: Bvh<D>,
    surface: Bvh<D>,
}

impl<const D: usize> SoftForm<D>
where
    Dim<D>: Space<D>,
{
    fn new(points: Vec<Vector<D>>, elements: Vec<[u32; 4]>, facets: Vec<[u32; 3]>) -> Self {
        let around = |corners: &[u32]| Aabb::of_points(corners.iter().map(|&i| &points[i as usize]));
        let inside = Bvh::from_fn(elements.len(), |e| around(&elements[e as usize][..=D]));
        let surface = Bvh::from_fn(facets.len(), |f| around(&facets[f as usize][..D]));
        Self { points, elements, facets, inside, surface }
    }

    fn at(&self, corner: u32) -> Vector<D> {
        self.points[corner as usize]
    }

    fn contains(&self, x: &Vector<D>) -> bool {
        // On an edge between elements rounding must not lose the point.
        const TOUCHING: f64 = 1e-20;
        let here = Aabb { min: *x, max: *x };
        self.inside.any_overlapping(&here, |element| {
            let [a, b, c, d] = self.elements[element as usize];
            if D == 2 {
                closest_point(x, &[self.at(a), self.at(b), self.at(c)]).distance_squared <= TOUCHING
            } else {
                closest_point(x, &[self.at(a), self.at(b), self.at(c), self.at(d)]).distance_squared
                    <= TOUCHING
            }
        })
    }

    /// Squared distance (m^2) of a facet and weights of its corners.
    fn closest(&self, x: &Vector<D>, facet: u32) -> (f64, [f64; 3]) {
        let [a, b, c] = self.facets[facet as usize];
        if D == 2 {
            let found = closest_point(x, &[self.at(a), self.at(b)]);
            return (found.distance_squared, [found.weights[0], found.weights[1], 0.0]);
        }
        let found = closest_point(x, &[self.at(a), self.at(b), self.at(c)]);
        (found.distance_squared, found.weights)
    }

    /// Squared distance (m^2), facet and weights of its corners.
    fn nearest(&self, x: &Vector<D>) -> (f64, usize, [f64; 3]) {
        let mut best = (f64::INFINITY, 0, [0.0; 3]);
        self.surface.nearest(x, f64::INFINITY, |facet, limit| {
            let (distance, weights) = self.closest(x, facet);
            if distance < best.0 {
                best = (distance, facet as usize, weights);
            }
            limit.min(best.0)
        });
        best
    }

    /// Where the line through `x` along `axis` meets the surface within `reach` (m) of it: the facet nearest to `x`, and weights of its corners. The impulse of a face acts along
    /// this line, so that what the fluid loses of angular momentum the body gains (spec/fluid-structure.md 3.4.4).
    fn hit(&self, x: &Vector<D>, axis: usize, reach: f64) -> Option<(usize, [f64; 3])> {
        let mut span = Aabb { min: *x, max: *x };
        span.min[axis] -= reach;
        span.max[axis] += reach;
        let mut best: Option<(f64, usize, [f64; 3])> = None;
        self.surface.overlapping(&span, |facet| {
            let [a, b, c] = self.facets[facet as usize];
            let Some(weights) =
                across(x, axis, [self.at(a), self.at(b), if D == 2 { self.at(b) } else { self.at(c) }])
            else {
                return;
            };
            let mut there = self.at(a)[axis] * weights[0] + self.at(b)[axis] * weights[1];
            if D == 3 {
                there += self.at(c)[axis] * weights[2];
            }
            let distance = (there - x[axis]).abs();
            if distance <= reach && best.is_none_or(|(old, ..)| distance < old) {
                best = Some((distance, facet as usize, weights));
            }
        });
        best.map(|(_, facet, weights)| (facet, weights))
    }

    /// The facets that are as near to `x` as the nearest, with the weights of their corners: more than one where `x` is on an axis of symmetry, and then none of them is to be preferred.
    fn all_nearest(&self, x: &Vector<D>) -> Vec<(usize, [f64; 3])> {
        let (squared, ..) = self.nearest(x);
        let reach = squared.sqrt() * (1.0 + 1e-9);
        let mut found = Vec::new();
        self.surface.overlapping(&Aabb { min: *x, max: *x }.grown(reach), |facet| {
            let (distance, weights) = self.closest(x, facet);
            if distance <= reach * reach {
                found.push((facet as usize, weights));
            }
        });
        found.sort_unstable_by_key(|(facet, _)| *facet);
        found
    }

    /// Particles that move a face at `x`, with their weights, which sum to one.
    pub fn weights(&self, x: &Vector<D>, axis: usize, reach: f64) -> Vec<(u32, f64)> {
        let facets = self.hit(x, axis, reach).map_or_else(|| self.all_nearest(x), |hit| vec![hit]);
        let share = 1.0 / facets.len() as f64;
        let of_facet = |(facet, weights): &(usize, [f64; 3])| {
            let (corners, weights) = (self.facets[*facet], *weights);
            (0..D).map(move |k| (corners[k], share * weights[k]))
        };
        let mut all: Vec<(u32, f64)> = facets.iter().flat_map(of_facet).collect();
        all.sort_by_key(|(corner, _)| *corner);
        all.dedup_by(|next, first| {
            let same = next.0 == first.0;
            if same {
                first.1 += next.1;
            }
            same
        });
        all
    }
}

/// Weights of the corners of a facet where the line through `x` along `axis` meets it, if it does.
fn across<const D: usize>(x: &Vector<D>, axis: usize, corners: [Vector<D>; 3]) -> Option<[f64; 3]> {
    let others: [usize; 2] = match (D, axis) {
        (2, 0) => [1, 1],
        (2, _) => [0, 0],
        (_, 0) => [1, 2],
        (_, 1) => [0, 2],
        _ => [0, 1],
    };
    let inside = -1e-9..=1.0 + 1e-9;
    if D == 2 {
        let (p, q, y) = (corners[0][others[0]], corners[1][others[0]], x[others[0]]);
        let w = (y - p) / (q - p);
        return (w.is_finite() && inside.contains(&w)).then_some([1.0 - w, w, 0.0]);
    }
    let flat = |v: &Vector<D>| [v[others[0]] - x[others[0]], v[others[1]] - x[others[1]]];
    let [a, b, c] = [flat(&corners[0]), flat(&corners[1]), flat(&corners[2])];
    let area = |p: [f64; 2], q: [f64; 2]| p[0] * q[1] - p[1] * q[0];
    let whole = area([b[0] - a[0], b[1] - a[1]], [c[0] - a[0], c[1] - a[1]]);
    let weights = [area(b, c) / whole, area(c, a) / whole, area(a, b) / whole];
    weights.iter().all(|w| w.is_finite() && inside.contains(w)).then_some(weights)
}

impl<const D: usize> Form<D> for SoftForm<D>
where
    Dim<D>: Space<D>,
{
    fn signed_distance(&self, point: &Vector<D>) -> f64 {
        let distance = self.nearest(point).0.sqrt();
        if self.contains(point) { -distance } else { distance }
    }

    fn world_bounds(&self, frame: &Frame<D>) -> Aabb<D> {
        let Aabb { min, max } = self.surface.bounds();
        Aabb { min: min + frame.position, max: max + frame.position }
    }

    fn is_rigid(&self) -> bool {
        false
    }
}

/// All particles of soft bodies in one coupled solve.
pub(crate) struct SoftParticles<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    /// The bodies.
    pub solids: &'a Solids<D>,
    /// Positions (m), flat.
    pub position: &'a [f64],
    /// Velocities (m/s), flat.
    pub velocity: &'a mut [f64],
    /// Implicit elasticity and damping of the stage.
    pub resistance: Option<Resistance<'a>>,
}

/// A soft body that is a guest: its form, where the middle of that is (m), and its first particle.
pub(super) struct SoftGuest<const D: usize> {
    form: Arc<SoftForm<D>>,
    middle: Vector<D>,
    first: usize,
}

/// Bodies of segments in the plane or triangles in space between two sets of positions (m, flat): the sheets in the fluid, and the particles of their points.
pub(crate) fn sheets_of<const D: usize>(
    fluid: &FluidModel<D>,
    solids: &Solids<D>,
    before: &[f64],
    after: &[f64],
) -> (Vec<Sheet<D>>, Vec<usize>)
where
    Dim<D>: Space<D>,
{
    let (mut sheets, mut particles) = (Vec::new(), Vec::new());
    let points = |flat: &[f64], body: &SolidBody| -> Vec<Vector<D>> {
        let part = &flat[D * body.particles.start..D * body.particles.end];
        part.chunks_exact(D).map(Vector::from_column_slice).collect()
    };
    for body in solids.bodies.iter().filter(|body| is_sheet::<D>(body)) {
        let (before, after) = (points(before, body), points(after, body));
        if !Aabb::of_points(before.iter().chain(&after)).overlaps(&fluid.domain.grid().bounds()) {
            continue;
        }
        let corners = body.elements.chunks_exact(D);
        let elements = corners.map(|corners| std::array::from_fn(|k| corners[k])).collect();
        sheets.push(Sheet { elements, before, after });
        particles.extend(body.particles.clone());
    }
    (sheets, particles)
}

/// How many cells of the fluid a point of a sheet in it has moved since `before` (m, flat), if that is more than one.
pub(crate) fn moved_too_far<const D: usize>(
    fluid: &FluidModel<D>,
    soft: &SoftParticles<D>,
    before: &[f64],
) -> Option<f64>
where
    Dim<D>: Space<D>,
{
    let (sheets, _) = sheets_of(fluid, soft.solids, before, soft.position);
    let ways = sheets.iter().flat_map(|sheet| sheet.before.iter().zip(&sheet.after));
    let cells = ways.map(|(a, b)| (b - a).norm()).fold(0.0, f64::max) / fluid.domain.grid().min_spacing();
    (cells > 1.0).then_some(cells)
}

/// Is the body without volume, with fluid on both sides?
fn is_sheet<const D: usize>(body: &SolidBody) -> bool {
    match body.element {
        SolidElement::Segment => D == 2,
        SolidElement::Triangle => D == 3,
        _ => false,
    }
}

/// Facets of the surfaces of the soft bodies, kept while these are the same.
#[derive(Default)]
pub(super) struct SoftSurfaces {
    facets: Vec<Vec<[u32; 3]>>,
}

impl SoftSurfaces {
    /// The soft bodies that reach into the fluid, as guests.
    pub fn guests<const D: usize>(
        &mut self,
        fluid: &FluidModel<D>,
        solids: &Solids<D>,
        position: &[f64],
        slip: bool,
    ) -> (Vec<Guest<D>>, Vec<SoftGuest<D>>)
    where
        Dim<D>: Space<D>,
    {
        if self.facets.len() != solids.bodies.len() {
            self.facets = solids.bodies.iter().map(facets_of::<D>).collect();
        }
        let (mut guests, mut soft) = (Vec::new(), Vec::new());
        for (body, facets) in solids.bodies.iter().zip(&self.facets) {
            if facets.is_empty() {
                continue;
            }
            let part = &position[D * body.particles.start..D * body.particles.end];
            let points: Vec<Vector<D>> = part.chunks_exact(D).map(Vector::from_column_slice).collect();
            let bounds = Aabb::of_points(&points);
            let periodic = fluid.domain.periodic().contains(&true);
            if !(periodic || bounds.overlaps(&fluid.domain.grid().bounds())) {
                continue;
            }
            let middle = (bounds.min + bounds.max) * 0.5;
            let points = points.into_iter().map(|x| x - middle).collect();
            // The image whose middle is in the box.
            let middle = fluid.domain.wrap(&middle);
            let elements =
                body.elements.chunks_exact(D + 1).map(|corners| std::array::from_fn(|k| corners[k.min(D)]));
            let form = Arc::new(SoftForm::new(points, elements.collect(), facets.clone()));
            let placement = Placement::at_rest(Frame { position: middle, ..Frame::identity() });
            guests.push(Guest { form: form.clone(), placement, slip });
            soft.push(SoftGuest { form, middle, first: body.particles.start });
        }
        (guests, soft)
    }
}

impl<const D: usize> SoftGuest<D>
where
    Dim<D>: Space<D>,
{
    /// `J` of a coupling face: scalars of the stacked particle velocities, with weights.
    pub fn row(&self, problem: &PressureProblem<D>, axis: usize, face: Index<D>) -> Vec<(usize, f64)> {
        let lattice = *problem.walls.open_faces().component(axis).lattice();
        let at = problem.domain.arm(&self.middle, &lattice.position(face));
        let reach = 0.5001 * problem.domain.grid().spacing()[axis];
        let weights = self.form.weights(&at, axis, reach);
        let scalar = |(particle, weight): (u32, f64)| (D * (self.first + particle as usize) + axis, weight);
        weights.into_iter().map(scalar).collect()
    }
}

/// Facets of elements that only one element has.
fn facets_of<const D: usize>(body: &SolidBody) -> Vec<[u32; 3]> {
    let volumetric = match body.element {
        SolidElement::Triangle => D == 2,
        SolidElement::Tetrahedron => D == 3,
        _ => false,
    };
    if !volumetric {
        return Vec::new();
    }
    let mut count: BTreeMap<[u32; 3], ([u32; 3], usize)> = BTreeMap::new();
    for corners in body.elements.chunks_exact(D + 1) {
        for left_out in 0..=D {
            let mut facet = [u32::MAX; 3];
            let others = (0..=D).filter(|&k| k != left_out);
            for (slot, corner) in facet.iter_mut().zip(others) {
                *slot = corners[corner];
            }
            let mut key = facet;
            key.sort_unstable();
            let entry = count.entry(key).or_insert((facet, 0));
            entry.1 += 1;
        }
    }
    let lone = count.into_values().filter(|(_, times)| *times == 1);
    lone.map(|(facet, _)| facet.map(|corner| if corner == u32::MAX { facet[0] } else { corner })).collect()
}
