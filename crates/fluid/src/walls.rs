//! Which cells are solid, how much of every face is open to flow, and how what closes it moves (spec/fluid-base.md 3.2).

use crate::domain::{Domain, Side};
use crate::guest::Guest;
use crate::obstacle::{Obstacle, Placement};
use crate::shell::SheetFace;
use serde::{Deserialize, Serialize};
use splashdown_geometry::Aabb;
use splashdown_geometry::grid::{FaceFields, Field, Grid, Index, Location, box_indices};
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Dim, Frame, Space, Vector};

/// How a solid's surface meets the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SolidBoundary {
    /// A cell whose centre is inside is solid, with all its faces: first order, robust.
    #[default]
    Voxels,
    /// Faces are open by the fraction of their area outside (Y. T. Ng, C. Min, F. Gibou, "An efficient fluid-solid coupling algorithm for
    /// single-phase flows", 2009): second order in the pressure.
    CutCells,
}

/// Number in [`Walls::solid`] of what lies beyond a closed side of the domain.
const OUTSIDE: u16 = u16::MAX;
/// Owner of a face that a shell closes.
const SHELL: u16 = u16::MAX;
/// Open fractions below this count as closed, so that no row of the pressure system is nearly empty.
const LEAST_OPEN: f64 = 1e-3;

/// The solid part of the domain at one instant.
#[derive(Debug, Clone, PartialEq)]
pub struct Walls<const D: usize> {
    /// 0 for fluid, else the number of the obstacle plus 1; ghosts beyond closed sides count as solid.
    solid: Field<D, u16>,
    /// Fraction of each face that is open to flow, 0 to 1.
    open: FaceFields<D, f32>,
    /// Velocity (m/s) of what closes the face, along its normal; 0 where nothing does.
    velocity: FaceFields<D>,
    /// Who closes the face, wholly or in part: the number of the obstacle plus 1 (guests come after the obstacles), 0 for nobody or the domain's sides, `SHELL`.
    owner: FaceFields<D, u16>,
    /// Obstacles along which the fluid slides.
    slippery: Vec<bool>,
    /// Obstacles and guests into which the velocity around is continued: slippery ones, and those that are not rigid.
    continued: Vec<bool>,
    any_partly_open: bool,
    /// Do solids cut cells?
    cut: bool,
    /// Faces closed between two cells that are not solid.
    any_shell: bool,
    /// Faces that sheets close which others move.
    sheet_faces: Vec<SheetFace<D>>,
}

impl<const D: usize> Walls<D>
where
    Dim<D>: Space<D>,
{
    /// Rasterises the sides of the domain and the obstacles at `placements` (one an obstacle).
    #[inline(never)]
    pub fn new(
        domain: &Domain<D>,
        obstacles: &[Obstacle<D>],
        placements: &[Placement<D>],
        boundary: SolidBoundary,
    ) -> Self {
        Self::with_guests(domain, obstacles, placements, &[], boundary)
    }

    /// The same, with solids that others simulate. These close also faces between two cells that are not solid, if they lie between the centres: a plate
    /// thinner than a cell does not leak.
    #[inline(never)]
    pub fn with_guests(
        domain: &Domain<D>,
        obstacles: &[Obstacle<D>],
        placements: &[Placement<D>],
        guests: &[Guest<D>],
        boundary: SolidBoundary,
    ) -> Self {
        let grid = domain.grid();
        let slippery = obstacles.iter().map(|obstacle| obstacle.slip);
        let mut walls = Self {
            solid: Field::with_ghost(grid, Location::Cell, 1, 0),
            open: FaceFields::new(grid, 1.0),
            velocity: FaceFields::new(grid, 0.0),
            owner: FaceFields::new(grid, 0),
            continued: slippery
                .clone()
                .chain(guests.iter().map(|guest| guest.slip || !guest.form.is_rigid()))
                .collect(),
            slippery: slippery.chain(guests.iter().map(|guest| guest.slip)).collect(),
            any_partly_open: false,
            cut: boundary == SolidBoundary::CutCells,
            any_shell: false,
            sheet_faces: Vec::new(),
        };
        let shifts = periodic_shifts(domain);
        let mut add = |number: usize,
                       distance: &dyn Fn(&Frame<D>, &Vector<D>) -> f64,
                       bounds: &dyn Fn(&Frame<D>) -> Aabb<D>,
                       placement: &Placement<D>,
                       thin: bool| {
            for shift in &shifts {
                let mut placement = *placement;
                placement.frame.position += shift;
                let distance = |x: &Vector<D>| distance(&placement.frame, x);
                let Some(range) = cell_range(grid, &bounds(&placement.frame)) else { continue };
                let placed = Placed { number, distance: &distance, range, placement };
                match boundary {
                    SolidBoundary::Voxels => walls.add_voxels(grid, &placed, thin),
                    SolidBoundary::CutCells => walls.add_cut_cells(grid, &placed),
                }
            }
        };
        for (number, (obstacle, placement)) in obstacles.iter().zip(placements).enumerate() {
            let distance = |frame: &Frame<D>, x: &Vector<D>| obstacle.signed_distance(frame, x);
            add(number, &distance, &|frame| obstacle.bounds(frame), placement, false);
        }
        for (number, guest) in guests.iter().enumerate() {
            let distance = |frame: &Frame<D>, x: &Vector<D>| guest.form.signed_distance(&frame.to_object(x));
            let bounds = |frame: &Frame<D>| guest.form.world_bounds(frame);
            add(obstacles.len() + number, &distance, &bounds, &guest.placement, true);
        }
        walls.close_sides(domain);
        walls
    }

    /// The obstacle or guest that closes the face, wholly or in part; guests are numbered after the obstacles. `None` for the domain's sides, sources and shells.
    #[inline]
    pub fn owner(&self, axis: usize, face: Index<D>) -> Option<usize> {
        match self.owner.component(axis).at(face) {
            0 | SHELL => None,
            number => Some(usize::from(number) - 1),
        }
    }

    /// Does something thin close the face between two cells that are not solid, so that they do not see each other?
    #[inline]
    pub fn is_occluded(&self, axis: usize, face: Index<D>) -> bool {
        let owner = self.owner.component(axis).at(face);
        if owner == 0 || !self.is_closed(axis, face) {
            return false;
        }
        let mut below = face;
        below[axis] -= 1;
        owner == SHELL || !self.is_solid(below) && !self.is_solid(face)
    }

    /// Might [`Self::is_occluded`] be true of any face?
    pub fn any_thin(&self) -> bool {
        self.any_shell
    }

    /// Gives faces that solids close new velocities (m/s) along their normals: `velocity(owner, axis, face centre)`, `None` to keep the old one.
    pub fn set_velocities(
        &mut self,
        velocity: &(impl Fn(usize, usize, &Vector<D>) -> Option<f64> + Send + Sync),
    ) {
        for axis in 0..D {
            let owners = self.owner.component(axis);
            let lattice = *owners.lattice();
            self.velocity.component_mut(axis).update(|face, old| match owners.at(face) {
                0 | SHELL => old,
                owner => velocity(usize::from(owner) - 1, axis, &lattice.position(face)).unwrap_or(old),
            });
        }
    }

    /// Adds to `velocity`, on closed faces, what [`Self::set_velocities`] with the same `new` would change.
    pub fn add_changes(
        &self,
        new: &(impl Fn(usize, usize, &Vector<D>) -> Option<f64> + Send + Sync),
        velocity: &mut FaceFields<D>,
    ) {
        for axis in 0..D {
            let (owners, old) = (self.owner.component(axis), self.velocity.component(axis));
            let lattice = *owners.lattice();
            velocity.component_mut(axis).update(|face, u| match owners.at(face) {
                0 | SHELL => u,
                _ if !self.is_closed(axis, face) => u,
                owner => match new(usize::from(owner) - 1, axis, &lattice.position(face)) {
                    Some(new) => u + (new - old.at(face)),
                    None => u,
                },
            });
        }
    }

    /// Gives one face that a solid closes a new velocity (m/s) along its normal.
    pub fn set_velocity(&mut self, axis: usize, face: Index<D>, velocity: f64) {
        self.velocity.component_mut(axis).set(face, velocity);
    }

    /// Does a solid other than the domain's sides fill this cell? Indices may be one cell outside.
    #[inline]
    pub fn is_solid(&self, cell: Index<D>) -> bool {
        self.solid.at(cell) != 0
    }

    /// Is the cell part of an obstacle along which fluid slides?
    #[inline]
    pub fn is_slippery(&self, cell: Index<D>) -> bool {
        match self.solid.at(cell) {
            0 | OUTSIDE => false,
            number => self.slippery[usize::from(number) - 1],
        }
    }

    /// Does fluid slide along what closes the face, as far as it is an obstacle or a guest?
    #[inline]
    pub fn slips(&self, axis: usize, face: Index<D>) -> bool {
        self.owner(axis, face).is_some_and(|owner| self.slippery[owner])
    }

    /// Fraction of the face that is open to flow.
    #[inline]
    pub fn open(&self, axis: usize, face: Index<D>) -> f64 {
        f64::from(self.open.component(axis).at(face))
    }

    /// Is the velocity on this face prescribed by what closes it?
    #[inline]
    pub fn is_closed(&self, axis: usize, face: Index<D>) -> bool {
        self.open.component(axis).at(face) == 0.0
    }

    /// Open fractions of all faces.
    pub fn open_faces(&self) -> &FaceFields<D, f32> {
        &self.open
    }

    /// Normal velocity (m/s) of what closes each face.
    pub fn velocity(&self) -> &FaceFields<D> {
        &self.velocity
    }

    /// Numbers of the obstacles in the cells, plus 1; 0 is fluid.
    pub fn solid(&self) -> &Field<D, u16> {
        &self.solid
    }

    /// Are there faces that are partly open, partly closed?
    pub fn any_partly_open(&self) -> bool {
        self.any_partly_open
    }

    /// Do solids cut cells ([`SolidBoundary::CutCells`]), so that the open part of each face carries the fluid of its dual cell?
    pub fn cuts_cells(&self) -> bool {
        self.cut
    }

    /// Closes the faces whose centre lies in `region` by fluid that moves with `velocity` (m/s): a source.
    #[inline(never)]
    pub fn close_region(&mut self, domain: &Domain<D>, region: &Shape<D>, velocity: &Vector<D>) {
        let grid = domain.grid();
        let bounds = region.bounds().intersection(&grid.bounds());
        if bounds.is_empty() {
            return;
        }
        let (low, high) = (grid.cell_of(&bounds.min), grid.cell_of(&bounds.max));
        for axis in 0..D {
            let lattice = *self.open.component(axis).lattice();
            let first = std::array::from_fn(|a| low[a].clamp(0, lattice.counts()[a] as isize));
            let last = std::array::from_fn(|a| (high[a] + 2).clamp(0, lattice.counts()[a] as isize));
            for face in box_indices(first, last) {
                let open = self.open.component(axis).at(face) > 0.0;
                if open && region.contains(&lattice.position(face)) {
                    self.any_shell = true;
                    self.close(axis, face, velocity[axis], 0);
                }
            }
        }
    }

    /// Is there a solid into which the velocity around is continued?
    pub fn any_continued(&self) -> bool {
        self.continued.contains(&true)
    }

    /// Is the cell part of a solid into which the velocity around is continued, because it says nothing of it?
    #[inline]
    pub fn is_continued(&self, cell: Index<D>) -> bool {
        match self.solid.at(cell) {
            0 | OUTSIDE => false,
            number => self.continued[usize::from(number) - 1],
        }
    }

    /// Faces inside such solids.
    pub fn continued_faces(&self, axis: usize) -> Vec<Index<D>> {
        let lattice = *self.open.component(axis).lattice();
        let inside = |face: &Index<D>| {
            let mut below = *face;
            below[axis] -= 1;
            self.is_solid(*face)
                && self.is_solid(below)
                && (self.is_continued(*face) || self.is_continued(below))
        };
        lattice.indices().filter(inside).collect()
    }

    /// Are there obstacles at all?
    pub fn any_obstacle(&self) -> bool {
        !self.slippery.is_empty()
    }

    /// Are there faces whose open fraction the kinds of the cells around do not tell?
    pub fn has_special_faces(&self) -> bool {
        self.any_partly_open || self.any_shell
    }

    /// Opens a face that a wall closes: what is beyond it is air for now. Its owner and velocity stay known.
    pub(crate) fn release(&mut self, axis: usize, face: Index<D>) {
        self.any_shell = true;
        self.open.component_mut(axis).set(face, 1.0);
    }

    /// Closes a face by a thin shell that moves with `velocity` (m/s) along its normal.
    pub fn close_by_shell(&mut self, axis: usize, face: Index<D>, velocity: f64) {
        self.any_shell = true;
        self.close(axis, face, velocity, SHELL);
    }

    /// Notes how sheets that others move close a face.
    pub(crate) fn add_sheet_face(&mut self, face: SheetFace<D>) {
        self.sheet_faces.push(face);
    }

    /// The faces that sheets close which others move, axis by axis in the order of the grid.
    pub fn sheet_faces(&self) -> &[SheetFace<D>] {
        &self.sheet_faces
    }

    /// Closes a face by something that moves with `velocity` (m/s) along its normal.
    fn close(&mut self, axis: usize, face: Index<D>, velocity: f64, owner: u16) {
        self.open.component_mut(axis).set(face, 0.0);
        self.velocity.component_mut(axis).set(face, velocity);
        self.owner.component_mut(axis).set(face, owner);
    }

    /// Writes the velocity of what closes them to the closed faces.
    pub fn impose(&self, velocity: &mut FaceFields<D>) {
        for axis in 0..D {
            let (open, wall) = (self.open.component(axis), self.velocity.component(axis));
            velocity.component_mut(axis).update(
                |face, value| {
                    if open.at(face) == 0.0 { wall.at(face) } else { value }
                },
            );
        }
    }

    fn add_voxels(&mut self, grid: &Grid<D>, placed: &Placed<D>, thin: bool) {
        let ([low, high], label) = (placed.range, placed.number as u16 + 1);
        let centres = placed.distances(grid);
        for (cell, &distance) in box_indices(low, high).zip(&centres) {
            if distance <= 0.0 {
                self.solid.set(cell, label);
            }
        }
        for (cell, &distance) in box_indices(low, high).zip(&centres) {
            if distance > 0.0 {
                continue;
            }
            for axis in 0..D {
                for upper in [0, 1] {
                    let mut face = cell;
                    face[axis] += upper;
                    let at = self.open.component(axis).lattice().position(face);
                    self.close(axis, face, placed.placement.velocity_at(&at)[axis], label);
                }
            }
        }
        if !thin {
            return;
        }
        // What lies between two centres outside: a distance changes at most as fast as the point moves, so it is rarely worth a look.
        let counts: Index<D> = std::array::from_fn(|a| high[a] - low[a]);
        for (place, (cell, &distance)) in box_indices(low, high).zip(&centres).enumerate() {
            let mut stride = 1;
            for axis in 0..D {
                let next = place + stride;
                stride *= counts[axis] as usize;
                let h = grid.spacing()[axis];
                if cell[axis] + 1 >= high[axis] || distance <= 0.0 || centres[next] <= 0.0 {
                    continue;
                }
                if distance + centres[next] >= h {
                    continue;
                }
                let mut face = cell;
                face[axis] += 1;
                let (from, to) = (grid.cell_centre(cell), grid.cell_centre(face));
                if meets(placed.distance, [&from, &to], [distance, centres[next]], THIN_BISECTIONS) {
                    let at = self.open.component(axis).lattice().position(face);
                    self.any_shell = true;
                    self.close(axis, face, placed.placement.velocity_at(&at)[axis], label);
                }
            }
        }
    }

    fn add_cut_cells(&mut self, grid: &Grid<D>, placed: &Placed<D>) {
        let ([low, high], label) = (placed.range, placed.number as u16 + 1);
        let (origin, h) = (grid.origin(), grid.spacing());
        let distance = |node: Index<D>| {
            let x = Vector::from_fn(|a, _| origin[a] + node[a] as f64 * h[a]);
            (placed.distance)(&x)
        };
        for axis in 0..D {
            let mut last = high;
            last[axis] += 1;
            for face in box_indices(low, last) {
                let fraction = open_fraction(axis, face, &distance);
                if fraction >= 1.0 {
                    continue;
                }
                let at = self.open.component(axis).lattice().position(face);
                let velocity = placed.placement.velocity_at(&at)[axis];
                // Two solids in one face: what is open of it is at most what both leave.
                let before = f64::from(self.open.component(axis).at(face));
                let fraction = (before + fraction - 1.0).max(0.0);
                let fraction = if fraction < LEAST_OPEN { 0.0 } else { fraction };
                self.open.component_mut(axis).set(face, fraction as f32);
                self.velocity.component_mut(axis).set(face, velocity);
                self.owner.component_mut(axis).set(face, label);
                self.any_partly_open |= fraction > 0.0;
            }
        }
        for cell in box_indices(low, high) {
            let shut = (0..D).all(|axis| {
                let mut upper = cell;
                upper[axis] += 1;
                self.is_closed(axis, cell) && self.is_closed(axis, upper)
            });
            if shut && (placed.distance)(&grid.cell_centre(cell)) <= 0.0 {
                self.solid.set(cell, label);
            }
        }
    }

    fn close_sides(&mut self, domain: &Domain<D>) {
        let cells = domain.grid().cells();
        for axis in 0..D {
            for side in 0..2 {
                let mut low = [0; D];
                let mut high = cells.map(|n| n as isize);
                (low[axis], high[axis]) = if side == 0 { (0, 1) } else { (high[axis] - 1, high[axis]) };
                for cell in box_indices(low, high) {
                    let (mut face, mut beyond) = (cell, cell);
                    face[axis] += side as isize;
                    beyond[axis] += if side == 0 { -1 } else { 1 };
                    match domain.condition(axis, side, cell) {
                        Side::Periodic => {
                            let mut image = beyond;
                            image[axis] = image[axis].rem_euclid(cells[axis] as isize);
                            self.solid.set(beyond, self.solid.at(image));
                        }
                        Side::Outlet { .. } => {}
                        wall => {
                            self.solid.set(beyond, OUTSIDE);
                            let velocity = wall.prescribed().map_or(0.0, |v| v[axis]);
                            // A solid that reaches the side keeps its own velocity there.
                            if self.solid.at(cell) == 0 {
                                self.close(axis, face, velocity, 0);
                            } else {
                                self.open.component_mut(axis).set(face, 0.0);
                            }
                        }
                    }
                }
            }
            if domain.periodic()[axis] {
                self.join_periodic(axis, cells[axis] as isize);
            }
        }
    }

    /// The last plane of faces on a periodic axis is the first.
    fn join_periodic(&mut self, axis: usize, last: isize) {
        let lattice = *self.open.component(axis).lattice();
        for face in lattice.indices().filter(|face| face[axis] == 0) {
            let mut image = face;
            image[axis] = last;
            let (a, b) = (self.open.component(axis).at(face), self.open.component(axis).at(image));
            let from = if a <= b { face } else { image };
            let velocity = self.velocity.component(axis).at(from);
            let owner = self.owner.component(axis).at(from);
            for target in [face, image] {
                self.owner.component_mut(axis).set(target, owner);
                self.open.component_mut(axis).set(target, a.min(b));
                self.velocity.component_mut(axis).set(target, velocity);
            }
        }
    }
}

/// Displacements (m) of the images of a solid on periodic axes, the solid itself first.
fn periodic_shifts<const D: usize>(domain: &Domain<D>) -> Vec<Vector<D>> {
    let (periodic, extent) = (domain.periodic(), domain.grid().bounds().extent());
    let mut shifts = vec![Vector::zeros()];
    for axis in (0..D).filter(|&axis| periodic[axis]) {
        for base in shifts.clone() {
            for direction in [-1.0, 1.0] {
                let mut shift: Vector<D> = base;
                shift[axis] += direction * extent[axis];
                shifts.push(shift);
            }
        }
    }
    shifts
}

/// A solid where it is.
struct Placed<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    number: usize,
    /// Signed distance (m) at a point of the world.
    distance: &'a dyn Fn(&Vector<D>) -> f64,
    /// Cells that it may touch.
    range: [Index<D>; 2],
    placement: Placement<D>,
}

impl<const D: usize> Placed<'_, D>
where
    Dim<D>: Space<D>,
{
    /// Distances at the centres of its range of cells, axis 0 fastest.
    fn distances(&self, grid: &Grid<D>) -> Vec<f64> {
        box_indices(self.range[0], self.range[1])
            .map(|cell| (self.distance)(&grid.cell_centre(cell)))
            .collect()
    }
}

/// Halvings of the way between two centres in the search for a thin solid: down to a thousandth of it.
const THIN_BISECTIONS: u32 = 10;

/// Does a solid lie on the way between two points outside it, whose distances to it are known?
fn meets<const D: usize>(
    distance: &dyn Fn(&Vector<D>) -> f64,
    ends: [&Vector<D>; 2],
    distances: [f64; 2],
    left: u32,
) -> bool {
    if distances[0] + distances[1] >= (ends[1] - ends[0]).norm() {
        return false;
    }
    let middle = (ends[0] + ends[1]) * 0.5;
    let there = distance(&middle);
    if there <= 0.0 || left == 0 {
        // Closer than a thousandth of a cell: what is so thin must not leak.
        return true;
    }
    meets(distance, [ends[0], &middle], [distances[0], there], left - 1)
        || meets(distance, [&middle, ends[1]], [there, distances[1]], left - 1)
}

/// Cells that a solid within `bounds` may touch, as a half-open range.
pub(crate) fn cell_range<const D: usize>(grid: &Grid<D>, bounds: &Aabb<D>) -> Option<[Index<D>; 2]>
where
    Dim<D>: Space<D>,
{
    let bounds = bounds.intersection(&grid.bounds());
    if bounds.is_empty() {
        return None;
    }
    let (low, high) = (grid.cell_of(&bounds.min), grid.cell_of(&bounds.max));
    let clamp = |index: isize, a: usize| index.clamp(0, grid.cells()[a] as isize);
    Some([std::array::from_fn(|a| clamp(low[a] - 1, a)), std::array::from_fn(|a| clamp(high[a] + 2, a))])
}

/// Part of the face's area where the distance is positive, from its values at the corners.
fn open_fraction<const D: usize>(axis: usize, face: Index<D>, distance: &impl Fn(Index<D>) -> f64) -> f64 {
    let corner = |bits: usize| {
        let mut node = face;
        for (bit, a) in (0..D).filter(|&a| a != axis).enumerate() {
            node[a] += (bits >> bit & 1) as isize;
        }
        distance(node)
    };
    if D == 2 {
        return positive_length(corner(0), corner(1));
    }
    let around = [corner(0), corner(1), corner(3), corner(2)];
    let middle = around.iter().sum::<f64>() / 4.0;
    (0..4).map(|k| positive_area(middle, around[k], around[(k + 1) % 4])).sum::<f64>() / 4.0
}

/// Part of a segment where a function, linear between its end values, is positive.
fn positive_length(a: f64, b: f64) -> f64 {
    match (a > 0.0, b > 0.0) {
        (true, true) => 1.0,
        (false, false) => 0.0,
        (true, false) => a / (a - b),
        (false, true) => b / (b - a),
    }
}

/// Part of a triangle where a function, linear between its corner values, is positive.
fn positive_area(a: f64, b: f64, c: f64) -> f64 {
    let positive = [a, b, c].iter().filter(|&&value| value > 0.0).count();
    // The corner that is alone on its side, and the share of the triangle that its side has.
    let corner = |alone: f64, b: f64, c: f64| (alone / (alone - b)) * (alone / (alone - c));
    let lone = |is_alone: fn(f64) -> bool| {
        if is_alone(a) {
            corner(a, b, c)
        } else if is_alone(b) {
            corner(b, a, c)
        } else {
            corner(c, a, b)
        }
    };
    match positive {
        0 => 0.0,
        1 => lone(|value| value > 0.0),
        2 => 1.0 - lone(|value| value <= 0.0),
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use splashdown_geometry::shapes::Shape;
    use splashdown_math::{Frame, Twist};

    fn domain<const D: usize>(n: usize, sides: [[Side<D>; 2]; D]) -> Domain<D> {
        let grid = Grid::new(Vector::zeros(), Vector::repeat(1.0 / n as f64), [n; D]).unwrap();
        Domain::new(grid, sides).unwrap()
    }

    fn ball<const D: usize>(radius: f64, centre: f64) -> Obstacle<D>
    where
        Dim<D>: Space<D>,
    {
        let shape = Shape::ball(radius).unwrap().translated(Vector::repeat(centre)).unwrap();
        Obstacle::fixed("ball", shape)
    }

    fn flags_and_cells_agree<const D: usize>(boundary: SolidBoundary)
    where
        Dim<D>: Space<D>,
    {
        let domain = domain::<D>(20, [[Side::wall(), Side::open()]; D]);
        let obstacle = ball::<D>(0.31, 0.48);
        let walls =
            Walls::new(&domain, std::slice::from_ref(&obstacle), &[obstacle.placement(0.0)], boundary);
        let mut solids = 0;
        for cell in walls.solid().lattice().indices() {
            if walls.is_solid(cell) {
                solids += 1;
                for axis in 0..D {
                    let mut upper = cell;
                    upper[axis] += 1;
                    assert!(walls.is_closed(axis, cell) && walls.is_closed(axis, upper));
                }
            }
        }
        assert!(solids > 20);
        let mut ghost = [3; D];
        ghost[0] = -1;
        assert!(walls.is_solid(ghost));
        ghost[0] = 20;
        assert!(!walls.is_solid(ghost));
    }

    #[test]
    fn no_face_of_a_solid_cell_is_open() {
        for boundary in [SolidBoundary::Voxels, SolidBoundary::CutCells] {
            flags_and_cells_agree::<2>(boundary);
            flags_and_cells_agree::<3>(boundary);
        }
    }

    /// The open fractions around each cut cell close up: `sum of +-A open = -(area of the solid surface inside)`, which for a constant vector field
    /// integrated over the whole solid vanishes.
    #[test]
    fn open_fractions_of_a_ball_give_its_projected_area() {
        let n = 40;
        let domain = domain::<3>(n, [[Side::open(); 2]; 3]);
        let obstacle = ball::<3>(0.31, 0.5);
        let walls = Walls::new(
            &domain,
            std::slice::from_ref(&obstacle),
            &[obstacle.placement(0.0)],
            SolidBoundary::CutCells,
        );
        // The closed part of the plane of faces through the centre is the great circle.
        let plane = n as isize / 2;
        let closed: f64 = box_indices([plane, 0, 0], [plane + 1, n as isize, n as isize])
            .map(|face| 1.0 - walls.open(0, face))
            .sum();
        let area = closed / (n * n) as f64;
        let exact = std::f64::consts::PI * 0.31 * 0.31;
        assert!((area / exact - 1.0).abs() < 2e-3, "{area} {exact}");
    }

    #[test]
    fn a_moving_solid_prescribes_its_velocity_and_wraps_around() {
        let sides = [[Side::Periodic; 2], [Side::wall(); 2]];
        let domain = domain::<2>(20, sides);
        let mut obstacle = ball::<2>(0.2, 0.0);
        obstacle.start = Frame { position: Vector::from([0.0, 0.5]), ..Frame::identity() };
        obstacle.motion =
            crate::Motion::Steady(Twist { linear: Vector::from([1.0, 0.0]), angular: Vector::from([2.0]) });
        let placement = obstacle.placement(0.01);
        let walls = Walls::new(&domain, &[obstacle], &[placement], SolidBoundary::Voxels);
        // Images at both ends.
        assert!(walls.is_solid([0, 10]) && walls.is_solid([19, 10]) && walls.is_solid([-1, 10]));
        let at = walls.velocity().component(0).lattice().position([2, 11]);
        let expected = 1.0 - 2.0 * (at[1] - 0.5);
        assert!((walls.velocity().component(0).at([2, 11]) - expected).abs() < 1e-12);
        assert_eq!(walls.open(0, [0, 10]), walls.open(0, [20, 10]));
    }
}
