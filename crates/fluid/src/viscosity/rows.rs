//! Viscous dissipation as rows: `N` such that `dt |N u + k|^2 / 2` is the energy that viscosity takes, with `k` from what is known at walls.

use super::ViscosityForm;
use crate::cells::CellKind;
use crate::domain::Side;
use crate::error::FluidError;
use crate::pressure::PressureProblem;
use splashdown_geometry::grid::{FaceFields, FaceIndexMap, Field, GHOST_LAYERS, Index, box_indices};
use splashdown_math::{Dim, Space};
use splashdown_solve::{CsrMatrix, SparseBlock};
use std::sync::atomic::{AtomicU64, Ordering};

/// Dynamic viscosity (Pa s).
#[derive(Debug, Clone, Copy)]
pub enum ViscosityField<'a, const D: usize> {
    /// The same everywhere.
    Uniform(f64),
    /// One value a cell, one ghost layer filled.
    Cells(&'a Field<D>),
}

/// One end of a velocity difference.
#[derive(Clone, Copy)]
enum End {
    /// A face that moves.
    Unknown(usize),
    /// A given velocity (m/s).
    Known(f64),
    /// Given on the wall half way there.
    Wall(f64),
    /// Nothing there: no stress.
    Free,
}

/// The rows and the numbering of the faces they act on.
pub struct ViscosityRows<const D: usize> {
    faces: FaceIndexMap<D>,
    /// `N` for `dt` = 1 s.
    matrix: CsrMatrix,
    /// `k` for `dt` = 1 s.
    known: Vec<f64>,
    /// Tells these rows from all others of this process.
    id: u64,
}

/// Number of the next rows that are made.
static NEXT: AtomicU64 = AtomicU64::new(0);

impl<const D: usize> ViscosityRows<D>
where
    Dim<D>: Space<D>,
{
    /// Name of the block in reports.
    pub const NAME: &'static str = "viscosity";

    /// Assembles the rows. `velocity` holds the prescribed velocities of closed faces. The unknown faces are those of the pressure problem, in
    /// the same order.
    #[inline(never)]
    pub fn new(
        problem: &PressureProblem<D>,
        velocity: &FaceFields<D>,
        viscosity: ViscosityField<D>,
        form: ViscosityForm,
    ) -> Result<Self, FluidError> {
        let faces = FaceIndexMap::new(
            problem.domain.grid(),
            GHOST_LAYERS,
            problem.domain.periodic(),
            |axis, face| problem.is_unknown(axis, face),
        );
        let mut assembly =
            Assembly { problem, velocity, viscosity, faces: &faces, rows: Vec::new(), known: Vec::new() };
        match form {
            ViscosityForm::Laplacian => assembly.laplacian(),
            ViscosityForm::Stress => assembly.stress(),
        }
        let Assembly { rows, known, .. } = assembly;
        let matrix = CsrMatrix::from_rows(faces.len(), rows).map_err(FluidError::solve("viscosity"))?;
        Ok(Self { faces, matrix, known, id: NEXT.fetch_add(1, Ordering::Relaxed) })
    }

    /// A number that no other rows of this process have: whoever keeps what was made from them knows by it.
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// Numbering of the unknown faces.
    pub fn faces(&self) -> &FaceIndexMap<D> {
        &self.faces
    }

    /// `N` for `dt` = 1 s.
    pub fn matrix(&self) -> &CsrMatrix {
        &self.matrix
    }

    /// `k` for `dt` = 1 s.
    pub fn known(&self) -> &[f64] {
        &self.known
    }

    /// The factored force over `dt` seconds as a block, for a stacked velocity whose first entries are these faces and that has `columns` entries in all.
    pub fn block(&self, columns: usize, dt: f64) -> Result<SparseBlock, FluidError> {
        let failed = FluidError::solve("viscosity");
        let root = dt.sqrt();
        let values = self.matrix.values().iter().map(|value| root * value).collect();
        let (offsets, entries) = (self.matrix.offsets().to_vec(), self.matrix.columns().to_vec());
        let matrix = CsrMatrix::from_parts(columns, offsets, entries, values).map_err(&failed)?;
        let target = self.known.iter().map(|value| -root * value).collect();
        SparseBlock::factored_force(Self::NAME, matrix).with_target(target).map_err(failed)
    }
}

struct Assembly<'a, const D: usize> {
    problem: &'a PressureProblem<'a, D>,
    velocity: &'a FaceFields<D>,
    viscosity: ViscosityField<'a, D>,
    faces: &'a FaceIndexMap<D>,
    rows: Vec<Vec<(usize, f64)>>,
    known: Vec<f64>,
}

impl<const D: usize> Assembly<'_, D>
where
    Dim<D>: Space<D>,
{
    /// Each component diffuses on its own: `sum over links of mu V (difference / h)^2`.
    fn laplacian(&mut self) {
        let grid = *self.problem.domain.grid();
        let volume = grid.cell_volume();
        for axis in 0..D {
            let counts = self.velocity.component(axis).lattice().counts();
            for along in 0..D {
                let h = grid.spacing()[along];
                // Links `low -- low + 1`; transverse ones also reach across both sides.
                let mut first = [0isize; D];
                let mut last = counts.map(|n| n as isize);
                if axis == along {
                    last[along] -= 1;
                } else {
                    first[along] -= 1;
                }
                for low in box_indices(first, last) {
                    let mut high = low;
                    high[along] += 1;
                    let ends = if axis == along {
                        [self.on_axis(axis, low), self.on_axis(axis, high)]
                    } else {
                        if self.is_repeated(axis, along, low) {
                            continue;
                        }
                        [self.across(axis, along, low, high), self.across(axis, along, high, low)]
                    };
                    let mu = if axis == along {
                        self.cell_viscosity(low)
                    } else {
                        self.edge_viscosity(axis, low, high)
                    };
                    self.push(&[(ends, 1.0 / h)], mu * volume);
                }
            }
        }
    }

    /// The full stress `mu (grad u + grad u^T)`: twice the squared stretch of each cell, and the squared shear of each edge.
    fn stress(&mut self) {
        let grid = *self.problem.domain.grid();
        let (volume, h) = (grid.cell_volume(), grid.spacing());
        for cell in self.problem.cells.lattice().indices() {
            if self.problem.cells.at(cell) != CellKind::Fluid {
                continue;
            }
            for axis in 0..D {
                let mut upper = cell;
                upper[axis] += 1;
                let ends = [self.on_axis(axis, cell), self.on_axis(axis, upper)];
                let mu = self.cell_viscosity(cell);
                self.push(&[(ends, 1.0 / h[axis])], 2.0 * mu * volume);
            }
        }
        // The edge of index `node` in the plane of axes a < b touches cells node and node - 1 on both axes.
        for a in 0..D {
            for b in a + 1..D {
                let mut last = grid.cells().map(|n| n as isize);
                let periodic = self.problem.domain.periodic();
                for axis in [a, b] {
                    last[axis] += isize::from(!periodic[axis]);
                }
                for node in box_indices([0; D], last) {
                    let (mut left, mut below) = (node, node);
                    left[a] -= 1;
                    below[b] -= 1;
                    // u_a on its faces above and below the edge, u_b on those left and right.
                    let of_a = [self.across(a, b, below, node), self.across(a, b, node, below)];
                    let of_b = [self.across(b, a, left, node), self.across(b, a, node, left)];
                    let mu = self.edge_viscosity(a, below, node);
                    self.push(&[(of_a, 1.0 / h[b]), (of_b, 1.0 / h[a])], mu * volume);
                }
            }
        }
    }

    /// One row: the sum of `differences` (upper end minus lower end, times the factor), weighted by the root of `weight`.
    fn push(&mut self, differences: &[([End; 2], f64)], weight: f64) {
        let (mut entries, mut constant) = (Vec::with_capacity(4), 0.0);
        let (mut share, mut moves): (f64, bool) = (1.0, false);
        for (ends, factor) in differences {
            let half = ends.iter().filter(|end| matches!(end, End::Wall(_))).count();
            // Both ends in the wall: no fluid between them, and nothing to stretch.
            let factor = match half {
                0 => *factor,
                1 => {
                    share = 0.5;
                    2.0 * factor
                }
                _ => 0.0,
            };
            for (end, sign) in ends.iter().zip([-1.0, 1.0]) {
                match *end {
                    End::Unknown(face) => {
                        entries.push((face, sign * factor));
                        moves = true;
                    }
                    End::Known(value) | End::Wall(value) => constant += sign * factor * value,
                    End::Free => return,
                }
            }
        }
        let root = (weight * share).sqrt();
        if !moves || root == 0.0 {
            return;
        }
        entries.iter_mut().for_each(|entry| entry.1 *= root);
        self.rows.push(entries);
        self.known.push(constant * root);
    }

    /// A face at the end of a difference along its own normal.
    fn on_axis(&self, axis: usize, face: Index<D>) -> End {
        if let Some(unknown) = self.faces.unknown(axis, face) {
            return End::Unknown(unknown);
        }
        if self.problem.walls.is_closed(axis, face) {
            return End::Known(self.velocity.component(axis).at(face));
        }
        End::Free
    }

    /// The face `to`, seen from its neighbour `from` across a plane normal to `along`.
    fn across(&self, axis: usize, along: usize, to: Index<D>, from: Index<D>) -> End {
        let (domain, walls) = (self.problem.domain, self.problem.walls);
        let cells = domain.grid().cells()[along] as isize;
        let mut image = to;
        if to[along] < 0 || to[along] >= cells {
            let side = usize::from(to[along] >= cells);
            let mut inside = from;
            inside[along] = inside[along].clamp(0, cells - 1);
            match domain.condition(along, side, inside) {
                Side::Periodic => image[along] = to[along].rem_euclid(cells),
                Side::NoSlip { velocity } => return End::Wall(velocity[axis]),
                _ => return End::Free,
            }
        }
        if self.hidden(axis, along, to, from) {
            return End::Wall(self.wall_velocity(axis, to, from));
        }
        if let Some(unknown) = self.faces.unknown(axis, image) {
            return End::Unknown(unknown);
        }
        if !walls.is_closed(axis, image) {
            return End::Free;
        }
        let mut below = image;
        below[axis] -= 1;
        if walls.is_solid(below) && walls.is_solid(image) {
            // The wall is half way.
            if walls.is_slippery(image) || walls.is_slippery(below) {
                return End::Free;
            }
            return End::Wall(self.velocity.component(axis).at(image));
        }
        End::Known(self.velocity.component(axis).at(image))
    }

    /// Does a thin shell lie between the two faces: both faces of the plane between them closed, no cell solid?
    fn hidden(&self, axis: usize, along: usize, to: Index<D>, from: Index<D>) -> bool {
        let walls = self.problem.walls;
        if !walls.has_special_faces() {
            return false;
        }
        let mut upper = if to[along] > from[along] { to } else { from };
        let cells = self.problem.domain.grid().cells();
        if upper[along] < 0 || upper[along] > cells[along] as isize {
            return false;
        }
        let mut open = false;
        for _ in 0..2 {
            let inside =
                (0..D).all(|a| upper[a] >= 0 && upper[a] < cells[a] as isize + isize::from(a == along));
            if inside {
                let mut below = upper;
                below[along] -= 1;
                open |= !walls.is_closed(along, upper) || walls.is_solid(upper) || walls.is_solid(below);
            }
            upper[axis] -= 1;
        }
        !open
    }

    /// Tangential velocity of the shell between two faces: it is known along its own normal only, so the rest is taken as still.
    fn wall_velocity(&self, axis: usize, to: Index<D>, from: Index<D>) -> f64 {
        let walls = self.problem.walls.velocity().component(axis);
        0.5 * (walls.at(to) + walls.at(from))
    }

    /// Is the transverse link below sample 0 of a periodic axis the same as the one above the last sample?
    fn is_repeated(&self, axis: usize, along: usize, low: Index<D>) -> bool {
        let domain = self.problem.domain;
        let twice = domain.periodic()[along] && low[along] == -1;
        // The last plane of a periodic axis is the first.
        let image = domain.periodic()[axis] && low[axis] == domain.grid().cells()[axis] as isize;
        twice || image
    }

    fn cell_viscosity(&self, cell: Index<D>) -> f64 {
        match self.viscosity {
            ViscosityField::Uniform(mu) => mu,
            ViscosityField::Cells(cells) => cells.at(cell),
        }
    }

    /// Harmonic mean of the fluid cells around the edge between two faces normal to `axis` that are neighbours: where liquids meet the shear stress is the same on both sides, not the
    /// rate of shear.
    fn edge_viscosity(&self, axis: usize, low: Index<D>, high: Index<D>) -> f64 {
        let ViscosityField::Cells(cells) = self.viscosity else { return self.cell_viscosity(low) };
        let (mut sum, mut count) = (0.0, 0.0);
        for face in [low, high] {
            let mut below = face;
            below[axis] -= 1;
            for cell in [below, face] {
                if self.problem.cells.lattice().stores(cell) && self.problem.cells.at(cell) == CellKind::Fluid
                {
                    sum += 1.0 / cells.at(cell);
                    count += 1.0;
                }
            }
        }
        // None of them, or one without viscosity, which takes no shear.
        if count > 0.0 && sum < f64::INFINITY { count / sum } else { 0.0 }
    }
}
