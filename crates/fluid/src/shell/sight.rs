//! What can be seen from where, with the shells as they are at one instant.

use super::{SheetFace, ShellStep, THICKNESS};
use crate::domain::Domain;
use crate::error::FluidError;
use crate::walls::Walls;
use splashdown_geometry::Aabb;
use splashdown_geometry::ccd::{CcdOptions, Motion, first_contact};
use splashdown_geometry::grid::{FaceFields, Field, Grid, Index, Location, box_indices};
use splashdown_geometry::mesh::SurfaceMesh;
use splashdown_geometry::query::{MeshTree, Ray, RayHit};
use splashdown_math::{Dim, Space, Vector};
use splashdown_parallel::prelude::*;

/// `phi` (m) where no sample of it can be seen: air.
const UNSEEN_PHI: f64 = 1e-5;

/// Casts segments against the shells; knows which cells are near enough to have to ask.
pub struct Sight<'m, const D: usize> {
    tree: MeshTree<'m, D, D>,
    velocity: &'m [Vector<D>],
    /// Points from this one on belong to sheets that others move.
    first_sheet_point: u32,
    thickness: f64,
    /// Steps, also diagonal ones, to the next cell that the box of an element reaches into; at most `FAR`.
    steps: Field<D, u8>,
    /// Most steps at which a cell counts as near.
    reach: u8,
    grid: Grid<D>,
    periodic: [bool; D],
    /// Where paths may lead: the box, and beyond its periodic sides as far as ghosts tell values.
    room: Aabb<D>,
}

/// Steps that are not counted any more.
const FAR: u8 = u8::MAX;

/// A sample that a linear interpolation looks at.
#[derive(Clone, Copy)]
struct Corner<const D: usize> {
    position: Vector<D>,
    value: f64,
    weight: f64,
}

/// Most elements that are listed instead of searched for.
const MOST_AROUND: usize = 24;

/// Elements of the shells near a point, found once for all ways from it.
struct Around {
    elements: [u32; MOST_AROUND],
    count: usize,
    /// Are there more than these?
    more: bool,
}

impl Around {
    fn elements(&self) -> Option<&[u32]> {
        (!self.more).then(|| &self.elements[..self.count])
    }
}

impl<'m, const D: usize> Sight<'m, D>
where
    Dim<D>: Space<D>,
{
    /// With `mesh` as the shells and the velocities (m/s) of its points. Cells within `reach` cells of a shell count as near.
    #[inline(never)]
    pub fn new(
        domain: &Domain<D>,
        mesh: &'m SurfaceMesh<D>,
        velocity: &'m [Vector<D>],
        reach: usize,
    ) -> Result<Self, FluidError> {
        let grid = *domain.grid();
        let tree = MeshTree::new(mesh).map_err(|error| FluidError::Mismatch(format!("a shell: {error}")))?;
        let thickness = THICKNESS * grid.min_spacing();
        let mut steps = Field::with_ghost(&grid, Location::Cell, 0, FAR);
        let mut front: Vec<Index<D>> = Vec::new();
        for element in 0..mesh.elements.len() {
            let [first, last] = cells_of(&grid, &mesh.element_bounds(element).grown(thickness));
            for cell in box_indices(first, last) {
                if steps.at(cell) == FAR {
                    steps.set(cell, 0);
                    front.push(cell);
                }
            }
        }
        let reach = reach.min(usize::from(FAR - 1)) as u8;
        let last: Index<D> = grid.cells().map(|n| n as isize);
        for step in 1..=reach {
            let mut next = Vec::new();
            for cell in front {
                let from = std::array::from_fn(|a| (cell[a] - 1).max(0));
                let to = std::array::from_fn(|a| (cell[a] + 2).min(last[a]));
                for around in box_indices(from, to) {
                    if steps.at(around) == FAR {
                        steps.set(around, step);
                        next.push(around);
                    }
                }
            }
            front = next;
        }
        let (periodic, mut room) = (domain.periodic(), grid.bounds());
        for a in (0..D).filter(|&a| periodic[a]) {
            room.min[a] -= 2.0 * grid.spacing()[a];
            room.max[a] += 2.0 * grid.spacing()[a];
        }
        Ok(Self {
            tree,
            velocity,
            first_sheet_point: u32::MAX,
            thickness,
            steps,
            reach,
            grid,
            periodic,
            room,
        })
    }

    /// The same, with points from `first` on belonging to sheets that others move.
    pub fn with_sheets_from(mut self, first: u32) -> Self {
        self.first_sheet_point = first;
        self
    }

    /// Thickness of the shells (m).
    pub fn thickness(&self) -> f64 {
        self.thickness
    }

    /// Steps from the point's cell to one that a shell may be in; for points outside, those of the nearest cell.
    #[inline]
    fn steps_from(&self, x: &Vector<D>) -> u8 {
        let cell = self.grid.cell_of(x);
        let inside: Index<D> = std::array::from_fn(|a| cell[a].clamp(0, self.grid.cells()[a] as isize - 1));
        self.steps.at(inside)
    }

    /// Might a shell matter to what happens at this point?
    #[inline]
    pub fn is_near(&self, x: &Vector<D>) -> bool {
        self.steps_from(x) <= self.reach
    }

    /// Samples of a field that are near a shell.
    #[inline(never)]
    pub fn near_samples(&self, field: &Field<D>) -> Vec<Index<D>> {
        let lattice = *field.lattice();
        lattice.indices().filter(|&index| self.is_near(&lattice.position(index))).collect()
    }

    fn ray(&self, from: &Vector<D>, to: &Vector<D>) -> Ray<D> {
        Ray::segment(*from, *to).with_thickness(self.thickness)
    }

    /// Can anything be between the two points? Much cheaper than to look for it.
    #[inline]
    fn may_meet(&self, from: &Vector<D>, to: &Vector<D>) -> bool {
        let (a, b) = (self.grid.cell_of(from), self.grid.cell_of(to));
        let apart = (0..D).map(|k| (a[k] - b[k]).unsigned_abs()).max().unwrap_or_default();
        usize::from(self.steps_from(from)) <= apart
    }

    /// Is everything that a linear interpolation at `y` looks at on the same side of all shells?
    #[inline]
    fn sees_all_around(&self, y: &Vector<D>) -> bool {
        self.steps_from(y) > 1
    }

    /// Is nothing between the two points?
    #[inline]
    pub fn sees(&self, from: &Vector<D>, to: &Vector<D>) -> bool {
        !(self.may_meet(from, to) && self.tree.is_hit(&self.ray(from, to)))
    }

    /// As [`Self::sees`] with shells of no thickness: on which side points are that are within it.
    pub fn sees_past_surface(&self, from: &Vector<D>, to: &Vector<D>) -> bool {
        !(self.may_meet(from, to) && self.tree.is_hit(&Ray::segment(*from, *to)))
    }

    /// Velocity (m/s) of the shell where it is first met on the way.
    pub fn met_velocity(&self, from: &Vector<D>, to: &Vector<D>) -> Option<Vector<D>> {
        if !self.may_meet(from, to) {
            return None;
        }
        self.tree.first_hit(&self.ray(from, to)).map(|hit| self.velocity_of(&hit))
    }

    /// Velocity (m/s) of the shell where it is hit.
    fn velocity_of(&self, hit: &RayHit<D>) -> Vector<D> {
        let corners = self.tree.mesh().elements[hit.element];
        let parts = corners.iter().zip(&hit.weights);
        parts.map(|(&corner, weight)| self.velocity[corner as usize] * *weight).sum()
    }

    /// The way from `from` to `to` up to the shell: the point on the near side, and whether the way was cut.
    #[inline(never)]
    pub fn clip(&self, from: &Vector<D>, to: &Vector<D>) -> (Vector<D>, bool) {
        let hit = if self.may_meet(from, to) { self.tree.first_hit(&self.ray(from, to)) } else { None };
        match hit {
            None => (*to, false),
            Some(hit) => {
                let way = to - from;
                let length = way.norm();
                let stop = hit.t - self.thickness / length.max(f64::MIN_POSITIVE);
                // Too close to the shell to go anywhere.
                if !(stop > 0.0) {
                    return (*from, true);
                }
                let at = from + way * stop;
                // A grazing way may still be within the thickness there.
                if self.sees(from, &at) { (at, true) } else { (*from, true) }
            }
        }
    }

    /// The elements that ways within the box of these points can meet.
    fn around(&self, y: &Vector<D>, corners: &[Corner<D>]) -> Around {
        let points = corners.iter().map(|corner| &corner.position).chain([y]);
        let bounds = Aabb::of_points(points).grown(self.thickness);
        let mut found = Around { elements: [0; MOST_AROUND], count: 0, more: false };
        found.more = self.tree.bvh().any_overlapping(&bounds, |element| {
            if found.count == MOST_AROUND {
                return true;
            }
            found.elements[found.count] = element;
            found.count += 1;
            false
        });
        found
    }

    /// [`Self::sees`] within what is around.
    #[inline]
    fn sees_within(&self, around: &Around, from: &Vector<D>, to: &Vector<D>) -> bool {
        match around.elements() {
            Some(elements) => {
                elements.is_empty()
                    || !(self.may_meet(from, to) && self.tree.is_any_hit(&self.ray(from, to), elements))
            }
            None => self.sees(from, to),
        }
    }

    /// [`Self::met_velocity`] within what is around.
    #[inline]
    fn met_velocity_within(&self, around: &Around, from: &Vector<D>, to: &Vector<D>) -> Option<Vector<D>> {
        match around.elements() {
            Some([]) => None,
            Some(elements) => {
                let meets = self.may_meet(from, to);
                let hit = meets.then(|| self.tree.first_hit_among(&self.ray(from, to), elements));
                hit.flatten().map(|hit| self.velocity_of(&hit))
            }
            None => self.met_velocity(from, to),
        }
    }

    /// The corners of the linear interpolation at `y` that have a weight, ghosts included, and how many there are. Ghosts beyond sides that are not periodic hold what
    /// the samples inside them say, so these are what has to be seen: a shell may leave the box between a ghost and its sample.
    fn corners(&self, field: &Field<D>, y: &Vector<D>) -> ([Corner<D>; 8], usize) {
        let mut corners = [Corner { position: Vector::zeros(), value: 0.0, weight: 0.0 }; 8];
        let mut count = 0;
        let lattice = field.lattice();
        let (local, ghost) = (lattice.local(y), lattice.ghost() as isize);
        let mut low = [0isize; D];
        let mut fraction = [0.0; D];
        for a in 0..D {
            let last = lattice.counts()[a] as isize - 1 + ghost;
            let s = local[a].clamp(-ghost as f64, last as f64);
            low[a] = (s.floor() as isize).clamp(-ghost, last - 1);
            fraction[a] = s - low[a] as f64;
        }
        for corner in 0..1usize << D {
            let mut weight = 1.0;
            let index: Index<D> = std::array::from_fn(|a| low[a] + (corner >> a & 1) as isize);
            for a in 0..D {
                weight *= if corner >> a & 1 == 1 { fraction[a] } else { 1.0 - fraction[a] };
            }
            if weight > 0.0 {
                let told_by: Index<D> = std::array::from_fn(|a| {
                    let last = lattice.counts()[a] as isize - 1;
                    if self.periodic[a] { index[a] } else { index[a].clamp(0, last) }
                });
                corners[count] =
                    Corner { position: lattice.position(told_by), value: field.at(index), weight };
                count += 1;
            }
        }
        (corners, count)
    }

    /// Linear interpolation from the samples that `y` sees, weights renormalised; `None` if it sees none.
    #[inline(never)]
    pub fn sample(&self, field: &Field<D>, y: &Vector<D>) -> Option<f64> {
        let (mut sum, mut weights) = (0.0, 0.0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        let (corners, count) = self.corners(field, y);
        let corners = &corners[..count];
        let around = (!self.sees_all_around(y)).then(|| self.around(y, corners));
        for &Corner { position, value, weight } in corners {
            if around.as_ref().is_none_or(|around| self.sees_within(around, y, &position)) {
                sum += weight * value;
                weights += weight;
                (low, high) = (low.min(value), high.max(value));
            }
        }
        // Renormalising rounds; what is constant stays exactly so.
        (weights > 0.0).then(|| (sum / weights).max(low).min(high))
    }

    /// One component of a velocity (m/s): samples behind a shell count as the shell's velocity where the way to them meets it.
    #[inline(never)]
    pub fn sample_component(&self, component: &Field<D>, axis: usize, y: &Vector<D>) -> f64 {
        let mut sum = 0.0;
        let (corners, count) = self.corners(component, y);
        let corners = &corners[..count];
        let around = (!self.sees_all_around(y)).then(|| self.around(y, corners));
        for &Corner { position, value, weight } in corners {
            let met = around.as_ref().and_then(|around| self.met_velocity_within(around, y, &position));
            sum += weight * met.map_or(value, |shell| shell[axis]);
        }
        sum
    }

    /// The velocity (m/s) that `y` sees.
    pub fn sample_velocity(&self, velocity: &FaceFields<D>, y: &Vector<D>) -> Vector<D> {
        Vector::from_fn(|axis, _| self.sample_component(velocity.component(axis), axis, y))
    }

    /// Goes back from `x` for `dt` seconds by the midpoint rule, stopped at shells and at the domain's box; beyond periodic sides it leads two cells at most.
    pub fn trace_back(&self, flow: &FaceFields<D>, x: &Vector<D>, dt: f64) -> Vector<D> {
        let room = &self.room;
        let inside = |y: Vector<D>| Vector::from_fn(|a, _| y[a].clamp(room.min[a], room.max[a]));
        let first = self.sample_velocity(flow, x);
        let (middle, _) = self.clip(x, &inside(x - first * (0.5 * dt)));
        let second = self.sample_velocity(flow, &middle);
        self.clip(x, &inside(x - second * dt)).0
    }

    /// Values that near samples of a scalar have after `dt` seconds; a sample that sees nothing keeps its own.
    pub fn carried_scalar(
        &self,
        flow: &FaceFields<D>,
        field: &Field<D>,
        samples: &[Index<D>],
        dt: f64,
    ) -> Vec<f64> {
        let lattice = *field.lattice();
        self.carried(samples, |index| {
            let y = self.trace_back(flow, &lattice.position(index), dt);
            self.sample(field, &y).unwrap_or_else(|| field.at(index))
        })
    }

    /// As [`Self::carried_scalar`] for a level set: what sees nothing is air.
    pub fn carried_phi(
        &self,
        flow: &FaceFields<D>,
        phi: &Field<D>,
        samples: &[Index<D>],
        dt: f64,
    ) -> Vec<f64> {
        let lattice = *phi.lattice();
        self.carried(samples, |index| {
            let y = self.trace_back(flow, &lattice.position(index), dt);
            self.sample(phi, &y).unwrap_or(UNSEEN_PHI)
        })
    }

    /// As [`Self::carried_scalar`] for one component of the velocity.
    pub fn carried_component(
        &self,
        flow: &FaceFields<D>,
        component: &Field<D>,
        axis: usize,
        samples: &[Index<D>],
        dt: f64,
    ) -> Vec<f64> {
        let lattice = *component.lattice();
        self.carried(samples, |index| {
            let y = self.trace_back(flow, &lattice.position(index), dt);
            self.sample_component(component, axis, &y)
        })
    }

    fn carried(&self, samples: &[Index<D>], value: impl Fn(Index<D>) -> f64 + Sync + Send) -> Vec<f64> {
        samples.par_iter().with_min_len(16).map(|&index| value(index)).collect()
    }

    /// Closes the faces between cell centres that do not see each other (spec 3.2), and tells `walls` which of them sheets close that others move.
    #[inline(never)]
    pub fn close_faces(&self, walls: &mut Walls<D>) {
        for axis in 0..D {
            let lattice = *walls.velocity().component(axis).lattice();
            let closed: Vec<(SheetFace<D>, f64)> = lattice
                .indices()
                .collect::<Vec<_>>()
                .par_iter()
                .with_min_len(1024)
                .filter_map(|&face| {
                    let x = lattice.position(face);
                    if !self.is_near(&x) {
                        return None;
                    }
                    self.closure(axis, face, &x, lattice.spacing()[axis])
                })
                .collect();
            let last = lattice.counts()[axis] as isize - 1;
            for (sheet, velocity) in closed {
                // Both images of a face on a periodic side, whatever rounding says of the other.
                let mut image = sheet.face;
                if self.periodic[axis] && (image[axis] == 0 || image[axis] == last) {
                    image[axis] = last - image[axis];
                }
                if image != sheet.face && !walls.is_closed(axis, image) {
                    walls.close_by_shell(axis, image, velocity);
                }
                if !walls.is_closed(axis, sheet.face) {
                    walls.close_by_shell(axis, sheet.face, velocity);
                    if !sheet.row.is_empty() {
                        walls.add_sheet_face(sheet);
                    }
                }
            }
        }
    }

    /// What closes the face at `x`, and its velocity (m/s) along the axis. The row is empty if a shell with a motion of its own is met.
    fn closure(
        &self,
        axis: usize,
        face: Index<D>,
        x: &Vector<D>,
        spacing: f64,
    ) -> Option<(SheetFace<D>, f64)> {
        let (mut low, mut high) = (*x, *x);
        low[axis] -= 0.5 * spacing;
        high[axis] += 0.5 * spacing;
        if !self.may_meet(&low, &high) {
            return None;
        }
        let hits = self.tree.all_hits(&self.ray(&low, &high));
        let (first, last) = (hits.first()?, hits.last()?);
        let corners = |hit: &RayHit<D>| self.tree.mesh().elements[hit.element];
        let own = hits.iter().find(|hit| corners(hit).iter().any(|&corner| corner < self.first_sheet_point));
        let counted = own.map_or(&hits[..], std::slice::from_ref);
        let share = 1.0 / counted.len() as f64;
        let mut row: Vec<(u32, f64)> = Vec::with_capacity(D * counted.len());
        for hit in counted {
            for (corner, weight) in corners(hit).into_iter().zip(hit.weights) {
                match row.iter_mut().find(|(known, _)| *known == corner) {
                    Some((_, sum)) => *sum += share * weight,
                    None => row.push((corner, share * weight)),
                }
            }
        }
        let velocity =
            row.iter().map(|&(corner, weight)| weight * self.velocity[corner as usize][axis]).sum();
        if own.is_some() {
            row.clear();
        }
        row.iter_mut().for_each(|(corner, _)| *corner -= self.first_sheet_point);
        // Elements that share a corner are one sheet.
        let one = (last.t - first.t) * spacing < 4.0 * self.thickness;
        let middle = 0.5 * (first.t + last.t);
        let met = if one { [middle; 2] } else { [first.t, last.t] };
        Some((SheetFace { axis, face, row, met }, velocity))
    }
}

/// The cells of the grid, first and past the last, that a box reaches into; what is outside counts as in the nearest cell.
fn cells_of<const D: usize>(grid: &Grid<D>, bounds: &Aabb<D>) -> [Index<D>; 2]
where
    Dim<D>: Space<D>,
{
    let (low, high) = (grid.cell_of(&bounds.min), grid.cell_of(&bounds.max));
    let last = grid.cells().map(|n| n as isize - 1);
    let first = std::array::from_fn(|a| low[a].clamp(0, last[a]));
    [first, std::array::from_fn(|a| high[a].clamp(0, last[a]) + 1)]
}

impl<const D: usize> ShellStep<D>
where
    Dim<D>: Space<D>,
{
    /// Of the given samples, those that a shell passes (or touches) during the step: what they held belongs to the other side (spec 3.12).
    #[inline(never)]
    pub fn swept(
        &self,
        sight: &Sight<D>,
        samples: &[Index<D>],
        position: impl Fn(Index<D>) -> Vector<D> + Sync,
    ) -> Vec<Index<D>> {
        samples
            .par_iter()
            .with_min_len(16)
            .filter(|&&index| {
                let x = position(index);
                self.touches(sight, &x, &x)
            })
            .copied()
            .collect()
    }

    /// Does a point that goes straight from `from` to `to` during the step meet a shell?
    pub fn touches(&self, sight: &Sight<D>, from: &Vector<D>, to: &Vector<D>) -> bool {
        let point = Motion { start: [*from], end: [*to] };
        let options = CcdOptions { separation: 0.5 * sight.thickness, ..CcdOptions::default() };
        // Shells move less than a cell in a step, so what comes near at any time is near at its end.
        let way = Aabb::of_points([from, to]).grown(self.largest_motion() + sight.thickness);
        let mut met = false;
        sight.tree.bvh().any_overlapping(&way, |element| {
            let corners = self.before.elements[element as usize];
            let moving = Motion {
                start: corners.map(|corner| self.before.points[corner as usize]),
                end: corners.map(|corner| self.after.points[corner as usize]),
            };
            met = first_contact(&point, &moving, &options).is_some();
            met
        });
        met
    }

    /// Longest way of any point of a shell in the step (m).
    pub fn largest_motion(&self) -> f64 {
        self.longest
    }
}
