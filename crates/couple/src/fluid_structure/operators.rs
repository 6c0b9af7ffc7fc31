//! Divergence, viscosity and interpolation as sparse matrices over the free faces and those bound to solids (spec/fluid-structure.md 3.4, 3.8).

use super::driver::{SoftSolve, sheet_mass};
use super::interface::{coupling_faces, lumped_part, row_of};
use super::{CouplingOptions, Tangential};
use splashdown_fluid::pressure::PressureProblem;
use splashdown_fluid::shell::SheetFace;
use splashdown_fluid::{CellKind, FaceMasses, Guest, Side};
use splashdown_geometry::grid::{
    FaceFields, FaceIndexMap, Field, GHOST_LAYERS, Grid, Index, IndexMap, Lattice, box_indices,
};
use splashdown_math::{Dim, Space, Twist, Vector};
use splashdown_solve::{CsrMatrix, SolveError};

/// Viscosity over a solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Viscous {
    /// Dynamic viscosity (Pa s), the same everywhere.
    pub viscosity: f64,
    /// Seconds that it acts.
    pub dt: f64,
}

/// A face whose velocity is that of a solid that can move.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundFace<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Which solid; sheets together have the number after the last guest.
    pub guest: usize,
    /// `J` of a rigid one; zero for the others.
    pub row: Twist<D>,
    /// `J`: scalars of the stacked velocities of particles and solids, with weights.
    pub columns: Vec<(usize, f64)>,
    /// Mass (kg) of its fluid.
    pub mass: f64,
}

/// A free face that a solid which can move closes in part.
#[derive(Debug, Clone, PartialEq)]
pub struct PartialFace<const D: usize> {
    /// Axis that it is normal to.
    pub axis: usize,
    /// Its index.
    pub face: Index<D>,
    /// Which solid.
    pub guest: usize,
    /// Part of it that is closed, 0 to 1.
    pub closed: f64,
    /// `J`: scalars of the stacked velocities of particles and solids, with weights.
    pub columns: Vec<(usize, f64)>,
}

/// What the velocity of a face is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Tie {
    /// An unknown.
    Free(usize),
    /// That of a solid that can move: number among the bound faces.
    Bound(usize),
    /// Given (m/s).
    Known(f64),
    /// There is no fluid.
    Missing,
}

/// The operators of one solve. Columns of [`divergence`](Self::divergence) and [`strain`](Self::strain) are the free faces, then the bound ones.
pub struct Operators<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Numbers of the free faces.
    pub free: FaceIndexMap<D>,
    /// Numbers of the bound faces.
    pub bound_numbers: FaceIndexMap<D>,
    /// The bound faces.
    pub bound: Vec<BoundFace<D>>,
    /// Free faces that are closed in part, see [`Self::direct`].
    pub partial: Vec<PartialFace<D>>,
    /// Fluid cells with a pressure: one row of the divergence each.
    pub cells: IndexMap<D>,
    /// Outward flux (m^3/s) of each cell: minus the transpose of the volume-weighted gradient `G`.
    pub divergence: CsrMatrix,
    /// Flux (m^3/s) out of each cell through faces of given velocity, or what closes them in part.
    pub known_flux: Vec<f64>,
    /// Closed faces of given velocity: row of the cell, axis, face, area (m^2) with the sign of the outward direction.
    pub known_faces: Vec<(usize, usize, Index<D>, f64)>,
    /// Does the cell have a free face towards a known pressure?
    pub grounded: Vec<bool>,
    /// `G_mu`; no rows without viscosity.
    pub strain: CsrMatrix,
    /// What faces and walls of given velocity add to the rows of `G_mu`.
    pub known_strain: Vec<f64>,
    /// Masses (kg) of the free faces.
    pub masses: Vec<f64>,
    /// Cells without a pressure because all their faces move with solids.
    pub shut_cells: usize,
    /// Open faces next to walls and solids that cannot move, to which the fluid sticks: axis, face, velocity (m/s).
    pub held: Vec<(usize, Index<D>, f64)>,
    /// First guest that particles move.
    first_soft: usize,
}

/// Mark of faces that a no-slip wall of the domain holds.
const WALL: u16 = u16::MAX;

impl<const D: usize> Operators<D>
where
    Dim<D>: Space<D>,
{
    /// Assembles all. `movable` says which guests can move, `first_guest` is the number of obstacles.
    pub fn new(
        problem: &PressureProblem<D>,
        guests: &[Guest<D>],
        first_guest: usize,
        movable: &[bool],
        viscous: Option<Viscous>,
        options: &CouplingOptions,
    ) -> Result<Self, SolveError> {
        Self::with_soft(problem, guests, first_guest, movable, None, viscous, options)
    }

    /// The same with soft bodies, the last guests, and sheets.
    #[inline(never)]
    pub(super) fn with_soft(
        problem: &PressureProblem<D>,
        guests: &[Guest<D>],
        first_guest: usize,
        movable: &[bool],
        soft: Option<&SoftSolve<D>>,
        viscous: Option<Viscous>,
        options: &CouplingOptions,
    ) -> Result<Self, SolveError> {
        let first_soft = guests.len() - soft.map_or(0, |soft| soft.guests.len());
        let scalars = soft.map_or(0, |soft| soft.velocity.len());
        let sheets = SheetRows::new(problem, soft);
        let grid = problem.domain.grid();
        let periodic = problem.domain.periodic();
        let marks = match (viscous, options.tangential) {
            (Some(_), Tangential::FluidSide) => Some(hold_tangential_faces(problem)),
            _ => None,
        };
        let mark = |axis: usize, face: Index<D>| marks.as_ref().map_or(0, |m| m.component(axis).at(face));
        let guest_of = |owner: usize| owner.checked_sub(first_guest).filter(|&guest| movable[guest]);
        // The solid that holds a face: one that closes it, or one that it is next to in a viscous fluid.
        let holder = |axis: usize, face: Index<D>| match mark(axis, face) {
            0 if problem.walls.is_closed(axis, face) => problem.walls.owner(axis, face).and_then(guest_of),
            0 | WALL => None,
            owner => guest_of(usize::from(owner) - 1),
        };
        let free = FaceIndexMap::new(grid, GHOST_LAYERS, periodic, |axis, face| {
            problem.is_unknown(axis, face) && mark(axis, face) == 0
        });
        let solid_side = viscous.is_some() && options.tangential == Tangential::SolidSide;
        let bound_numbers = FaceIndexMap::new(grid, GHOST_LAYERS, periodic, |axis, face| {
            if holder(axis, face).is_none() {
                return sheets.at(axis, face).is_some();
            }
            problem.kinds(axis, face).contains(&CellKind::Fluid)
                || solid_side && has_free_neighbour(problem, &free, axis, face)
        });
        // `J` of a face of the grid and a guest; the twist is zero for those that particles move.
        let row_at = |guest: usize, axis: usize, face: Index<D>, at: &Vector<D>| {
            if let Some((number, soft)) = guest.checked_sub(first_soft).zip(soft) {
                return (Twist::zero(), soft.guest_row(problem, number, axis, face, options.weights));
            }
            let row = row_of(axis, &problem.domain.arm(&guests[guest].placement.frame.position, at));
            let (n, mut entries) = (Twist::<D>::LEN, [0.0; 6]);
            row.write(&mut entries);
            (row, (0..n).map(|k| (scalars + guest * n + k, entries[k])).collect())
        };
        let mut partial = Vec::new();
        if problem.walls.any_partly_open() {
            for coupled in coupling_faces(problem, guests, first_guest, options.mass) {
                let (axis, face, guest, closed) = (coupled.axis, coupled.face, coupled.guest, coupled.closed);
                if movable[guest] && closed < 1.0 && free.unknown(axis, face).is_some() {
                    let at = problem.walls.open_faces().component(axis).lattice().position(face);
                    let (_, columns) = row_at(guest, axis, face, &at);
                    partial.push(PartialFace { axis, face, guest, closed, columns });
                }
            }
        }
        let mut bound = Vec::with_capacity(bound_numbers.len());
        for axis in 0..D {
            let lattice = grid.lattice(splashdown_geometry::grid::Location::Face(axis), GHOST_LAYERS);
            for face in bound_numbers.axis(axis).indices() {
                let Some(guest) = holder(axis, face) else {
                    if let (Some(soft), Some(sheet)) = (soft, sheets.at(axis, face)) {
                        bound.push(BoundFace {
                            guest: guests.len(),
                            row: Twist::zero(),
                            columns: soft.sheet_row(sheet, axis).unwrap_or_default(),
                            mass: sheet_mass(problem, sheet, options.mass).unwrap_or_default(),
                        });
                    }
                    continue;
                };
                let at = lattice.position(face);
                let wet = problem.kinds(axis, face).contains(&CellKind::Fluid);
                let part = match (wet, problem.walls.is_closed(axis, face)) {
                    // Faces inside the solid are there for their velocity only.
                    (false, _) => 0.0,
                    (true, true) => lumped_part(problem, &guests[guest], &at, options.mass),
                    // Next to the solid.
                    (true, false) => 1.0,
                };
                let (row, columns) = row_at(guest, axis, face, &at);
                bound.push(BoundFace {
                    guest,
                    row,
                    columns,
                    mass: part * problem.density(axis, face) * grid.cell_volume(),
                });
            }
        }
        let tie = |axis: usize, face: Index<D>| -> Tie {
            if let Some(number) = free.unknown(axis, face) {
                return Tie::Free(number);
            }
            if let Some(number) = bound_numbers.unknown(axis, face) {
                return Tie::Bound(number);
            }
            let walls = problem.walls;
            if holder(axis, face).is_some() {
                // Deep in a solid that can move.
                return Tie::Missing;
            }
            if walls.is_closed(axis, face) {
                return Tie::Known(walls.velocity().component(axis).at(face));
            }
            match mark(axis, face) {
                0 => Tie::Missing,
                WALL => Tie::Known(wall_velocity(problem, axis, face)),
                owner => {
                    // Next to a solid that cannot move.
                    let velocity = match usize::from(owner).checked_sub(1 + first_guest) {
                        Some(guest) => {
                            let placement = &guests[guest].placement;
                            let lattice: Lattice<D> =
                                grid.lattice(splashdown_geometry::grid::Location::Face(axis), GHOST_LAYERS);
                            let arm = problem.domain.arm(&placement.frame.position, &lattice.position(face));
                            placement.twist.at(&arm)[axis]
                        }
                        None => 0.0,
                    };
                    Tie::Known(velocity)
                }
            }
        };
        let mut held = Vec::new();
        if let Some(marks) = &marks {
            for axis in 0..D {
                for face in marks.component(axis).lattice().indices() {
                    if let Tie::Known(velocity) = tie(axis, face)
                        && !problem.walls.is_closed(axis, face)
                    {
                        held.push((axis, face, velocity));
                    }
                }
            }
        }
        let fluid_side = options.tangential == Tangential::FluidSide;
        let can_move =
            |axis: usize, face: Index<D>| problem.walls.owner(axis, face).and_then(guest_of).is_some();
        let Strain { rows, constants: known_strain, on_sheets } = Assembly {
            problem,
            tie: &tie,
            can_move: &can_move,
            bound: &bound,
            sheets: &sheets,
            soft,
            free: free.len(),
            fluid_side,
        }
        .strain(viscous);
        bound.extend(on_sheets);
        let strain = CsrMatrix::from_rows(free.len() + bound.len(), rows.iter())?;
        let (cells, divergence, known, grounded, shut_cells) = Assembly {
            problem,
            tie: &tie,
            can_move: &can_move,
            bound: &bound,
            sheets: &sheets,
            soft,
            free: free.len(),
            fluid_side,
        }
        .divergence()?;
        let (known_flux, known_faces) = known;
        let mut masses = vec![0.0; free.len()];
        for axis in 0..D {
            for (number, face) in free.axis(axis).indices().enumerate() {
                masses[free.first(axis) + number] = problem.face_mass(axis, face);
            }
        }
        Ok(Self {
            free,
            bound_numbers,
            bound,
            partial,
            cells,
            divergence,
            known_flux,
            known_faces,
            grounded,
            strain,
            known_strain,
            masses,
            shut_cells,
            held,
            first_soft,
        })
    }

    /// `[1 0; 0 J]`: velocities of all faces from those of the free ones and the `scalars` stacked ones of particles and solids.
    pub fn interpolation(&self, scalars: usize) -> Result<CsrMatrix, SolveError> {
        let free = self.free.len();
        let faces = (0..free).map(|face| vec![(face, 1.0)]);
        let bound = self.bound.iter().map(|face| {
            face.columns.iter().map(|&(column, weight)| (free + column, weight)).collect::<Vec<_>>()
        });
        CsrMatrix::from_rows(free + scalars, faces.chain(bound))
    }

    /// `H`: outward flux (m^3/s) of each cell through what solids close of faces that are free otherwise, for one unit of each of their `scalars` stacked velocities; columns
    /// begin at `first`.
    pub fn direct(
        &self,
        grid: &Grid<D>,
        periodic: [bool; D],
        first: usize,
        scalars: usize,
    ) -> Result<CsrMatrix, SolveError> {
        let mut entries = Vec::new();
        for face in &self.partial {
            let mut below = face.face;
            below[face.axis] -= 1;
            for (mut cell, sign) in [(below, 1.0), (face.face, -1.0)] {
                if periodic[face.axis] {
                    cell[face.axis] = cell[face.axis].rem_euclid(grid.cells()[face.axis] as isize);
                }
                if let Some(row) = self.cells.unknown(cell) {
                    let area = sign * face.closed * grid.face_area(face.axis);
                    entries.extend(face.columns.iter().map(|&(scalar, w)| (row, first + scalar, area * w)));
                }
            }
        }
        CsrMatrix::from_triplets(self.cells.len(), first + scalars, &entries)
    }

    /// Velocities (m/s) of the faces that particles move, or close in part: axis, face, velocity.
    pub(super) fn particle_velocities(&self, stacked: &[f64]) -> Vec<(usize, Index<D>, f64)> {
        let of =
            |columns: &[(usize, f64)]| columns.iter().map(|&(column, weight)| weight * stacked[column]).sum();
        let mut found = Vec::new();
        for axis in 0..D {
            let numbers = self.bound_numbers.first(axis)..;
            for (number, face) in numbers.zip(self.bound_numbers.axis(axis).indices()) {
                let bound = &self.bound[number];
                if bound.guest >= self.first_soft {
                    found.push((axis, face, of(&bound.columns)));
                }
            }
        }
        let partial = self.partial.iter().filter(|face| face.guest >= self.first_soft);
        found.extend(partial.map(|face| (face.axis, face.face, of(&face.columns))));
        found
    }

    /// Masses (kg) of the faces that carry fluid.
    pub fn face_masses(&self) -> FaceMasses<D> {
        let mut masses = FaceMasses::default();
        for axis in 0..D {
            for (number, face) in (self.free.first(axis)..).zip(self.free.axis(axis).indices()) {
                masses.add(axis, face, self.masses[number]);
            }
            let bound = (self.bound_numbers.first(axis)..).zip(self.bound_numbers.axis(axis).indices());
            for (number, face) in bound.filter(|(number, _)| self.bound[*number].mass > 0.0) {
                masses.add(axis, face, self.bound[number].mass);
            }
        }
        masses
    }

    /// Velocities of all faces, free then bound.
    pub fn gather(&self, velocity: &FaceFields<D>) -> Vec<f64> {
        let mut flat = vec![0.0; self.free.len() + self.bound.len()];
        let (free, bound) = flat.split_at_mut(self.free.len());
        for axis in 0..D {
            self.free.axis(axis).gather(velocity.component(axis), free);
            self.bound_numbers.axis(axis).gather(velocity.component(axis), bound);
        }
        flat
    }

    /// Inverse of [`Self::gather`]; faces to which the fluid sticks get the velocity of what holds them.
    pub fn scatter(&self, flat: &[f64], velocity: &mut FaceFields<D>) {
        let (free, bound) = flat.split_at(self.free.len());
        for axis in 0..D {
            self.free.axis(axis).scatter(free, velocity.component_mut(axis));
            self.bound_numbers.axis(axis).scatter(bound, velocity.component_mut(axis));
        }
        for &(axis, face, held) in &self.held {
            velocity.component_mut(axis).set(face, held);
        }
    }
}

/// Does a transverse neighbour of the face move freely?
fn has_free_neighbour<const D: usize>(
    problem: &PressureProblem<D>,
    free: &FaceIndexMap<D>,
    axis: usize,
    face: Index<D>,
) -> bool
where
    Dim<D>: Space<D>,
{
    let (counts, periodic) = (problem.domain.grid().cells(), problem.domain.periodic());
    (0..D).filter(|&along| along != axis).any(|along| {
        [-1, 1].into_iter().any(|step| {
            let mut next = face;
            next[along] += step;
            if periodic[along] {
                next[along] = next[along].rem_euclid(counts[along] as isize);
            }
            next[along] >= 0 && next[along] < counts[along] as isize && free.unknown(axis, next).is_some()
        })
    })
}

/// Owner plus 1 of the closed face that makes each open face of a cell next to it stick, [`WALL`] for no-slip walls of the domain, 0 for none: for every fluid cell with a
/// closed face on one axis, all its faces on the other axes.
fn hold_tangential_faces<const D: usize>(problem: &PressureProblem<D>) -> FaceFields<D, u16>
where
    Dim<D>: Space<D>,
{
    let (walls, domain) = (problem.walls, problem.domain);
    let counts = domain.grid().cells();
    let mut marks = FaceFields::new(domain.grid(), 0u16);
    for cell in problem.cells.lattice().indices() {
        if problem.cells.at(cell) != CellKind::Fluid {
            continue;
        }
        for axis in 0..D {
            for upper in [0, 1] {
                let mut face = cell;
                face[axis] += upper;
                if !walls.is_closed(axis, face) || walls.slips(axis, face) {
                    continue;
                }
                let label = match walls.owner(axis, face) {
                    Some(owner) => owner as u16 + 1,
                    None if face[axis] == 0 || face[axis] == counts[axis] as isize => {
                        match domain.condition(axis, usize::from(upper == 1), cell) {
                            Side::NoSlip { .. } => WALL,
                            _ => continue,
                        }
                    }
                    None => continue,
                };
                for other in (0..D).filter(|&other| other != axis) {
                    for side in [0, 1] {
                        let mut held = cell;
                        held[other] += side;
                        // What closes a face, another solid perhaps, has it already.
                        if walls.is_closed(other, held) {
                            continue;
                        }
                        // Solids before walls, so that what both hold moves with the solid.
                        let old = marks.component(other).at(held);
                        if old == 0 || old == WALL {
                            marks.component_mut(other).set(held, label);
                        }
                        if domain.periodic()[other] {
                            let last = counts[other] as isize;
                            if held[other] == 0 || held[other] == last {
                                let mut image = held;
                                image[other] = last - held[other];
                                let label = marks.component(other).at(held);
                                marks.component_mut(other).set(image, label);
                            }
                        }
                    }
                }
            }
        }
    }
    marks
}

/// Tangential velocity (m/s) along `axis` of the no-slip wall next to a face.
fn wall_velocity<const D: usize>(problem: &PressureProblem<D>, axis: usize, face: Index<D>) -> f64
where
    Dim<D>: Space<D>,
{
    let counts = problem.domain.grid().cells();
    for along in (0..D).filter(|&along| along != axis) {
        for side in 0..2 {
            let edge = if side == 0 { 0 } else { counts[along] as isize - 1 };
            if face[along] == edge
                && let Side::NoSlip { velocity } = problem.domain.condition(along, side, face)
            {
                return velocity[axis];
            }
        }
    }
    0.0
}

/// The faces that sheets with known particles close.
struct SheetRows<'a, const D: usize> {
    faces: &'a [SheetFace<D>],
    /// By axis, ascending: face and place in `faces`.
    numbers: [Vec<(Index<D>, usize)>; 3],
}

impl<'a, const D: usize> SheetRows<'a, D>
where
    Dim<D>: Space<D>,
{
    fn new(problem: &PressureProblem<'a, D>, soft: Option<&SoftSolve<D>>) -> Self {
        let mut numbers = [const { Vec::new() }; 3];
        let faces = problem.walls.sheet_faces();
        for (number, sheet) in faces.iter().enumerate() {
            let known = soft.is_some_and(|soft| soft.sheet_row(sheet, sheet.axis).is_some());
            if known && problem.kinds(sheet.axis, sheet.face).contains(&CellKind::Fluid) {
                numbers[sheet.axis].push((sheet.face, number));
            }
        }
        numbers.iter_mut().for_each(|list| list.sort_unstable());
        Self { faces, numbers }
    }

    fn at(&self, axis: usize, face: Index<D>) -> Option<&'a SheetFace<D>> {
        let list = &self.numbers[axis];
        let place = list.binary_search_by_key(&face, |(face, _)| *face).ok()?;
        Some(&self.faces[list[place].1])
    }
}

struct Assembly<'a, const D: usize, T>
where
    Dim<D>: Space<D>,
{
    problem: &'a PressureProblem<'a, D>,
    tie: &'a T,
    /// Does a solid that can move close the face, wholly or in part?
    can_move: &'a (dyn Fn(usize, Index<D>) -> bool + Sync),
    bound: &'a [BoundFace<D>],
    sheets: &'a SheetRows<'a, D>,
    soft: Option<&'a SoftSolve<'a, D>>,
    free: usize,
    fluid_side: bool,
}

type Known<const D: usize> = (Vec<f64>, Vec<(usize, usize, Index<D>, f64)>);
type Divergence<const D: usize> = (IndexMap<D>, CsrMatrix, Known<D>, Vec<bool>, usize);

impl<const D: usize, T> Assembly<'_, D, T>
where
    Dim<D>: Space<D>,
    T: Fn(usize, Index<D>) -> Tie + Sync + Send,
{
    /// Faces, free and bound.
    fn columns(&self) -> usize {
        self.free + self.bound.len()
    }

    fn divergence(&self) -> Result<Divergence<D>, SolveError> {
        let problem = self.problem;
        let grid = problem.domain.grid();
        let faces_of = |cell: Index<D>| {
            (0..D).flat_map(move |axis| {
                [0, 1].map(|upper| {
                    let mut face = cell;
                    face[axis] += upper;
                    (axis, face, if upper == 1 { 1.0 } else { -1.0 })
                })
            })
        };
        let is_fluid = |cell: Index<D>| problem.cells.at(cell) == CellKind::Fluid;
        // A cell all of whose faces move with solids or walls cannot choose, and would only lock them together (spec 3.10).
        let is_shut = |cell: Index<D>| {
            faces_of(cell).all(|(axis, face, _)| !matches!((self.tie)(axis, face), Tie::Free(_)))
        };
        let cells = IndexMap::new(problem.cells.lattice(), |cell| is_fluid(cell) && !is_shut(cell));
        let fluid =
            problem.cells.reduce(0usize, |_, kind| usize::from(kind == CellKind::Fluid), |a, b| a + b);
        let shut = fluid - cells.len();
        let mut rows = Rows::default();
        let (mut known, mut grounded) = (vec![0.0; cells.len()], vec![false; cells.len()]);
        let mut known_faces = Vec::new();
        let mut entries: Vec<(usize, f64)> = Vec::with_capacity(2 * D);
        for (row, cell) in cells.indices().enumerate() {
            entries.clear();
            if let Some(expansion) = problem.expansion {
                known[row] -= grid.cell_volume() * expansion.at(cell);
            }
            for (axis, face, sign) in faces_of(cell) {
                let area = sign * grid.face_area(axis);
                match (self.tie)(axis, face) {
                    Tie::Free(number) => {
                        entries.push((number, area * problem.walls.open(axis, face)));
                        grounded[row] |= problem.kinds(axis, face).contains(&CellKind::Air);
                        let open = problem.walls.open(axis, face);
                        if open < 1.0 && !(self.can_move)(axis, face) {
                            let wall = problem.walls.velocity().component(axis).at(face);
                            known[row] += area * (1.0 - open) * wall;
                        }
                    }
                    Tie::Bound(number) => entries.push((self.free + number, area)),
                    Tie::Known(velocity) => {
                        known[row] += area * velocity;
                        if problem.walls.is_closed(axis, face) {
                            known_faces.push((row, axis, face, area));
                        }
                    }
                    Tie::Missing => {}
                }
            }
            rows.push(&entries);
        }
        let matrix = CsrMatrix::from_rows(self.columns(), rows.iter())?;
        Ok((cells, matrix, (known, known_faces), grounded, shut))
    }

    /// One row for each pair of neighbouring faces of the same axis, `sqrt(dt mu V) (difference) / h`.
    fn strain(&self, viscous: Option<Viscous>) -> Strain<D> {
        let mut strain = Strain { rows: Rows::default(), constants: Vec::new(), on_sheets: Vec::new() };
        let Some(viscous) = viscous.filter(|v| v.viscosity > 0.0) else {
            return strain;
        };
        let (domain, grid) = (self.problem.domain, self.problem.domain.grid());
        let root = (viscous.dt * viscous.viscosity * grid.cell_volume()).sqrt();
        for axis in 0..D {
            let lattice = *self.problem.walls.velocity().component(axis).lattice();
            for along in 0..D {
                let h = grid.spacing()[along];
                let cells = grid.cells()[along] as isize;
                let mut first = [0isize; D];
                let mut last = lattice.counts().map(|n| n as isize);
                if domain.periodic()[axis] {
                    // The last plane of faces is the first.
                    last[axis] -= 1;
                }
                if axis == along {
                    // The pair of a periodic axis reaches the image of the first plane.
                    last[along] = cells;
                } else if !domain.periodic()[along] {
                    first[along] -= 1;
                }
                for low in box_indices(first, last) {
                    let mut high = low;
                    high[along] += 1;
                    // Along its own axis a difference is that of the cell between.
                    if axis == along && self.problem.cells.at(low) != CellKind::Fluid {
                        continue;
                    }
                    let ends = if axis == along {
                        [(self.tie)(axis, low).into(), (self.tie)(axis, high).into()]
                    } else {
                        [self.across(axis, along, low, high), self.across(axis, along, high, low)]
                    };
                    if axis != along && self.add_sheet_rows(&mut strain, axis, along, high, ends, root / h) {
                        continue;
                    }
                    if let Some((entries, constant)) = self.row(ends, root / h) {
                        strain.rows.push(&entries);
                        strain.constants.push(constant);
                    }
                }
            }
        }
        strain
    }

    /// Where sheets are between two faces of `axis` that are neighbours along `along`, the upper one `high`, the fluid of each sticks to them: a row for each, up to the sheet.
    /// Sheets count as between the faces where they close one of the two faces of `along` that touch both. `false` if there are none.
    fn add_sheet_rows(
        &self,
        strain: &mut Strain<D>,
        axis: usize,
        along: usize,
        high: Index<D>,
        ends: [End; 2],
        factor: f64,
    ) -> bool {
        let Some(soft) = self.soft.filter(|soft| !soft.sheet_particles.is_empty()) else { return false };
        let mut below = high;
        below[axis] -= 1;
        let met: Vec<&SheetFace<D>> =
            [below, high].into_iter().filter_map(|face| self.sheets.at(along, face)).collect();
        if met.is_empty() {
            return false;
        }
        let share = 1.0 / met.len() as f64;
        let mut columns = Vec::new();
        for sheet in &met {
            let row = soft.sheet_row(sheet, axis).unwrap_or_default();
            columns.extend(row.into_iter().map(|(scalar, weight)| (scalar, share * weight)));
        }
        let mean = |end: usize| met.iter().map(|sheet| share * sheet.met[end]).sum::<f64>();
        let column = self.columns() + strain.on_sheets.len();
        strain.on_sheets.push(BoundFace { guest: usize::MAX, row: Twist::zero(), columns, mass: 0.0 });
        for (end, way) in ends.into_iter().zip([mean(0), 1.0 - mean(1)]) {
            // The part of the volume up to the sheet, with the difference over the part of the way.
            let factor = factor / way.clamp(LEAST_WAY, 1.0).sqrt();
            let (number, constant) = match end {
                End::At(Tie::Free(number)) => (Some(number), 0.0),
                End::At(Tie::Known(value)) => (None, value),
                // Sheets and solids next to each other have no fluid to shear between them.
                End::At(Tie::Bound(_) | Tie::Missing) | End::Wall(_) => continue,
            };
            let mut entries = vec![(column, -factor)];
            entries.extend(number.map(|number| (number, factor)));
            strain.rows.push(&entries);
            strain.constants.push(factor * constant);
        }
        true
    }

    /// The face `to` as seen from its neighbour `from` across a plane normal to `along`.
    fn across(&self, axis: usize, along: usize, to: Index<D>, from: Index<D>) -> End {
        let domain = self.problem.domain;
        let cells = domain.grid().cells()[along] as isize;
        let mut image = to;
        if to[along] < 0 || to[along] >= cells {
            let side = usize::from(to[along] >= cells);
            match domain.condition(along, side, from) {
                Side::Periodic => image[along] = to[along].rem_euclid(cells),
                // With the faces next to it held, the wall has no row of its own.
                Side::NoSlip { velocity } if !self.fluid_side => return End::Wall(velocity[axis]),
                _ => return End::At(Tie::Missing),
            }
        }
        let (walls, mut below) = (self.problem.walls, image);
        below[axis] -= 1;
        let slippery = walls.is_slippery(image) || walls.is_slippery(below) || walls.slips(axis, image);
        if slippery && walls.is_closed(axis, image) {
            return End::At(Tie::Missing);
        }
        End::At((self.tie)(axis, image))
    }

    /// The difference of two ends times `factor`, if it says anything.
    fn row(&self, ends: [End; 2], factor: f64) -> Option<(Vec<(usize, f64)>, f64)> {
        use Tie::{Bound, Free, Known};
        let any_free = ends.iter().any(|end| matches!(end, End::At(Free(_))));
        // Between two solids, or a solid and a wall, there must be fluid to be sheared.
        let dry = |end: &End| matches!(end, End::At(Bound(number)) if self.bound[*number].mass == 0.0);
        if !any_free && (self.fluid_side || ends.iter().any(dry)) {
            return None;
        }
        let factor = match ends {
            // On half the way half of the volume counts: sqrt(1/2) times 2.
            [End::Wall(_), End::At(_)] | [End::At(_), End::Wall(_)] => factor * std::f64::consts::SQRT_2,
            [End::At(Bound(a)), End::At(Bound(b))] if self.bound[a].guest == self.bound[b].guest => {
                return None;
            }
            _ => factor,
        };
        let (mut entries, mut constant, mut moves) = (Vec::with_capacity(2), 0.0, false);
        for (end, sign) in ends.into_iter().zip([-factor, factor]) {
            match end {
                End::At(Free(number)) => {
                    entries.push((number, sign));
                    moves = true;
                }
                End::At(Bound(number)) => {
                    entries.push((self.free + number, sign));
                    moves = true;
                }
                End::At(Known(value)) | End::Wall(value) => constant += sign * value,
                End::At(Tie::Missing) => return None,
            }
        }
        moves.then_some((entries, constant))
    }
}

/// Least part of the way between two faces at which a sheet counts as being.
const LEAST_WAY: f64 = 0.1;

/// Rows of `G_mu`.
struct Strain<const D: usize>
where
    Dim<D>: Space<D>,
{
    rows: Rows,
    /// What faces and walls of given velocity add.
    constants: Vec<f64>,
    /// Points of sheets to which fluid sticks, as columns after those of the faces.
    on_sheets: Vec<BoundFace<D>>,
}

/// Rows of a few entries each: of viscosity there are nine a cell in space, and a vector for each would be the most memory of all.
#[derive(Default)]
struct Rows {
    columns: Vec<u32>,
    values: Vec<f64>,
    lengths: Vec<u8>,
}

impl Rows {
    fn push(&mut self, row: &[(usize, f64)]) {
        self.columns.extend(row.iter().map(|(column, _)| *column as u32));
        self.values.extend(row.iter().map(|(_, value)| *value));
        self.lengths.push(row.len() as u8);
    }

    fn iter(&self) -> impl Iterator<Item = impl Iterator<Item = (usize, f64)>> {
        let mut first = 0;
        self.lengths.iter().map(move |&length| {
            let range = first..first + usize::from(length);
            first = range.end;
            let columns = self.columns[range.clone()].iter().map(|column| *column as usize);
            columns.zip(self.values[range].iter().copied())
        })
    }
}

/// One end of a pair of faces.
#[derive(Clone, Copy)]
enum End {
    At(Tie),
    /// A wall half way, with this velocity (m/s).
    Wall(f64),
}

impl From<Tie> for End {
    fn from(tie: Tie) -> Self {
        Self::At(tie)
    }
}

/// Pressure impulses (`dt p`) of the cells, from and to a field of pressures.
pub(super) fn gather_impulses<const D: usize>(cells: &IndexMap<D>, pressure: &Field<D>, dt: f64) -> Vec<f64> {
    let mut flat = vec![0.0; cells.len()];
    for (slot, cell) in flat.iter_mut().zip(cells.indices()) {
        *slot = dt * pressure.at(cell);
    }
    flat
}

/// Inverse of [`gather_impulses`], zero elsewhere.
pub(super) fn scatter_impulses<const D: usize>(
    cells: &IndexMap<D>,
    impulses: &[f64],
    pressure: &mut Field<D>,
    dt: f64,
) {
    pressure.update(|_, _| 0.0);
    for (impulse, cell) in impulses.iter().zip(cells.indices()) {
        pressure.set(cell, impulse / dt);
    }
}
