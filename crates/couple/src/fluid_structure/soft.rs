//! Soft bodies in the fluid: their form where they are, and the particles that move a coupling face.

use super::Weights;
use super::facets::Facets;
use super::interface::row_of;
use super::resistance::Resistance;
use crate::solids::{SolidBody, SolidElement, Solids};
use splashdown_fluid::pressure::PressureProblem;
use splashdown_fluid::shell::Sheet;
use splashdown_fluid::{FluidModel, Form, Guest, Placement};
use splashdown_geometry::grid::{Grid, Index, Location};
use splashdown_geometry::simplex::closest_point;
use splashdown_geometry::{Aabb, Bvh};
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_solve::SolveError;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The inside of a soft body of triangles in the plane or tetrahedra in space, with its middle as the origin, so that domains with periodic sides find the image that is near.
pub(super) struct SoftForm<const D: usize> {
    /// The first `D + 1` of each are the corners of an element.
    elements: Vec<[u32; 4]>,
    inside: Bvh<D>,
    surface: Facets<D>,
}

impl<const D: usize> SoftForm<D>
where
    Dim<D>: Space<D>,
{
    fn new(points: Vec<Vector<D>>, elements: Vec<[u32; 4]>, facets: Vec<[u32; 3]>) -> Self {
        let around = |corners: &[u32]| Aabb::of_points(corners.iter().map(|&i| &points[i as usize]));
        let inside = Bvh::from_fn(elements.len(), |e| around(&elements[e as usize][..=D]));
        Self { elements, inside, surface: Facets::new(points, facets) }
    }

    fn contains(&self, x: &Vector<D>) -> bool {
        // On an edge between elements rounding must not lose the point.
        const TOUCHING: f64 = 1e-20;
        let here = Aabb { min: *x, max: *x };
        self.inside.any_overlapping(&here, |element| {
            let [a, b, c, d] = self.elements[element as usize].map(|corner| self.surface.at(corner));
            let found = if D == 2 {
                closest_point(x, &[a, b, c]).distance_squared
            } else {
                closest_point(x, &[a, b, c, d]).distance_squared
            };
            found <= TOUCHING
        })
    }
}

impl<const D: usize> Form<D> for SoftForm<D>
where
    Dim<D>: Space<D>,
{
    fn signed_distance(&self, point: &Vector<D>) -> f64 {
        let distance = self.surface.nearest(point).0.sqrt();
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

/// Most rings of incompressible bodies in a fluid: each has a response of all that the bodies can do.
pub const MOST_RINGS: usize = 4000;

/// Part of a ring's largest weight that is rounding.
const ROUNDING: f64 = 1e-12;

/// Rates of the ring volumes of incompressible bodies where they are (spec/incompressible-solids.md), as rows over the stacked velocities of particles and of the bodies that carry some of them (`carried`).
pub(super) fn volume_rows<const D: usize>(
    soft: &SoftParticles<D>,
    carried: &[Option<(usize, Vector<D>)>],
) -> Result<Vec<Vec<(usize, f64)>>, SolveError>
where
    Dim<D>: Space<D>,
{
    let Some(body) = &soft.solids.integrator.incompressible else { return Ok(Vec::new()) };
    let mut rings = body.rings().clone();
    if rings.len() > MOST_RINGS {
        let what = format!("volumes of {} rings in a fluid, more than {MOST_RINGS}", rings.len());
        return Err(SolveError::OutOfMemory { what });
    }
    rings.update(soft.position);
    let scalars = soft.velocity.len();
    let matrix = rings.matrix(scalars / D)?;
    let row = |row: usize| {
        let (columns, values) = matrix.row(row);
        let entries = columns.iter().zip(values).map(|(&column, &value)| (column as usize, value));
        let mut row = through_carriers(scalars, carried, entries);
        // The volume of what one body carries does not change: what is left of such a ring is rounding, of which no system may be made.
        let gross = values.iter().fold(0.0f64, |m, value| m.max(value.abs()));
        row.retain(|(_, weight)| weight.abs() > ROUNDING * gross);
        row
    };
    Ok((0..matrix.rows()).map(row).filter(|row| !row.is_empty()).collect())
}

/// `J B` of a row `J` over particles' velocities: those that bodies carry have the velocities of these there.
pub(super) fn through_carriers<const D: usize>(
    scalars: usize,
    carried: &[Option<(usize, Vector<D>)>],
    row: impl Iterator<Item = (usize, f64)>,
) -> Vec<(usize, f64)>
where
    Dim<D>: Space<D>,
{
    if carried.is_empty() {
        return row.collect();
    }
    let n = Twist::<D>::LEN;
    let mut columns: BTreeMap<usize, f64> = BTreeMap::new();
    for (scalar, weight) in row {
        match &carried[scalar / D] {
            None => *columns.entry(scalar).or_default() += weight,
            Some((solid, arm)) => {
                let mut entries = [0.0; 6];
                row_of(scalar % D, arm).write(&mut entries);
                for (k, entry) in entries[..n].iter().enumerate().filter(|(_, entry)| **entry != 0.0) {
                    *columns.entry(scalars + n * solid + k).or_default() += weight * entry;
                }
            }
        }
    }
    columns.into_iter().collect()
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

/// All sheets in the fluid as one surface, and the grid whose faces they close.
pub(super) struct SheetSurface<const D: usize> {
    facets: Facets<D>,
    grid: Grid<D>,
}

impl<const D: usize> SheetSurface<D>
where
    Dim<D>: Space<D>,
{
    /// Of the sheets where they end.
    pub fn new(sheets: &[Sheet<D>], grid: Grid<D>) -> Self {
        let (mut points, mut corners) = (Vec::new(), Vec::new());
        for sheet in sheets {
            let first = points.len() as u32;
            corners
                .extend(sheet.elements.iter().map(|own| std::array::from_fn(|k| first + own[k.min(D - 1)])));
            points.extend_from_slice(&sheet.after);
        }
        Self { facets: Facets::new(points, corners), grid }
    }

    /// Points of the sheets in the dual cell of a face, with their weights by area; nothing where there are none.
    pub fn weights(&self, axis: usize, face: Index<D>) -> Vec<(u32, f64)> {
        let at = self.grid.lattice(Location::Face(axis), 0).position(face);
        self.facets.by_area(&at, &self.grid.spacing())
    }
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
    pub fn row(
        &self,
        problem: &PressureProblem<D>,
        axis: usize,
        face: Index<D>,
        weights: Weights,
    ) -> Vec<(usize, f64)> {
        let lattice = *problem.walls.open_faces().component(axis).lattice();
        let at = problem.domain.arm(&self.middle, &lattice.position(face));
        let weights = self.form.surface.weights(&at, axis, &problem.domain.grid().spacing(), weights);
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
