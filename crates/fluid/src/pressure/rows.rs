//! The pressure problem as a block of rows, so that solids can join the same solve.

use super::PressureProblem;
use crate::cells::CellKind;
use crate::error::FluidError;
use splashdown_geometry::grid::{FaceFields, FaceIndexMap, GHOST_LAYERS, Index, IndexMap};
use splashdown_math::{Dim, Space};
use splashdown_solve::{CsrMatrix, InverseMass, SparseBlock, VelocityLayout};

/// Rows `B u = -(volume-weighted divergence)` over the unknown faces, their inverse masses and the fluxes through closed faces as target: the row
/// "incompressibility of fluid" of ARCHITECTURE.md. The multiplier of a row is `dt p` of its cell.
pub struct PressureRows<const D: usize> {
    faces: FaceIndexMap<D>,
    cells: IndexMap<D>,
    matrix: CsrMatrix,
    target: Vec<f64>,
    inverse_masses: Vec<f64>,
}

impl<const D: usize> PressureRows<D>
where
    Dim<D>: Space<D>,
{
    /// Name of the block in reports.
    pub const NAME: &'static str = "pressure";

    /// Numbers the unknown faces and fluid cells and assembles the rows. `velocity` holds the prescribed velocities of closed faces.
    #[inline(never)]
    pub fn new(problem: &PressureProblem<D>, velocity: &FaceFields<D>) -> Result<Self, FluidError> {
        let grid = problem.domain.grid();
        let faces = FaceIndexMap::new(grid, GHOST_LAYERS, problem.domain.periodic(), |axis, face| {
            problem.is_unknown(axis, face)
        });
        let cells = IndexMap::new(problem.cells.lattice(), |cell| problem.cells.at(cell) == CellKind::Fluid);
        let mut inverse_masses = vec![0.0; faces.len()];
        for axis in 0..D {
            for (number, face) in faces.axis(axis).indices().enumerate() {
                inverse_masses[faces.first(axis) + number] = 1.0 / problem.face_mass(axis, face);
            }
        }
        let mut target = vec![0.0; cells.len()];
        let mut rows: Vec<Vec<(usize, f64)>> = Vec::with_capacity(cells.len());
        for (row, cell) in cells.indices().enumerate() {
            let mut entries: Vec<(usize, f64)> = Vec::with_capacity(2 * D);
            for axis in 0..D {
                for upper in [0, 1] {
                    let mut face: Index<D> = cell;
                    face[axis] += upper;
                    let outward = if upper == 1 { grid.face_area(axis) } else { -grid.face_area(axis) };
                    let open = problem.walls.open(axis, face);
                    match faces.unknown(axis, face) {
                        Some(unknown) => {
                            entries.push((unknown, -outward * open));
                            if open < 1.0 {
                                let wall = problem.walls.velocity().component(axis).at(face);
                                target[row] += outward * (1.0 - open) * wall;
                            }
                        }
                        None => target[row] += outward * velocity.component(axis).at(face),
                    }
                }
            }
            if let Some(expansion) = problem.expansion {
                target[row] -= grid.cell_volume() * expansion.at(cell);
            }
            rows.push(entries);
        }
        let matrix = CsrMatrix::from_rows(faces.len(), rows).map_err(FluidError::solve("pressure"))?;
        Ok(Self { faces, cells, matrix, target, inverse_masses })
    }

    /// Numbering of the unknown faces.
    pub fn faces(&self) -> &FaceIndexMap<D> {
        &self.faces
    }

    /// Numbering of the fluid cells: one row each.
    pub fn cells(&self) -> &IndexMap<D> {
        &self.cells
    }

    /// Inverse masses (1/kg) of the unknown faces.
    pub fn inverse_masses(&self) -> &[f64] {
        &self.inverse_masses
    }

    /// `B` over the unknown faces alone.
    pub fn matrix(&self) -> &CsrMatrix {
        &self.matrix
    }

    /// The block, for a stacked velocity whose first entries are the unknown faces and that has `columns` entries in all.
    pub fn block(&self, columns: usize) -> Result<SparseBlock, FluidError> {
        let failed = FluidError::solve("pressure");
        let matrix = CsrMatrix::from_parts(
            columns,
            self.matrix.offsets().to_vec(),
            self.matrix.columns().to_vec(),
            self.matrix.values().to_vec(),
        )
        .map_err(&failed)?;
        SparseBlock::new(Self::NAME, matrix).with_target(self.target.clone()).map_err(failed)
    }

    /// `M^-1` of a system of these faces alone.
    pub fn inverse_mass(&self) -> Result<InverseMass, FluidError> {
        let layout = VelocityLayout::new::<D>(self.faces.len(), 0, 0);
        InverseMass::new(layout, self.inverse_masses.clone(), vec![], vec![])
            .map_err(FluidError::solve("pressure"))
    }

    /// Velocities of the unknown faces, in their order.
    pub fn gather(&self, velocity: &FaceFields<D>) -> Vec<f64> {
        let mut flat = vec![0.0; self.faces.len()];
        for axis in 0..D {
            self.faces.axis(axis).gather(velocity.component(axis), &mut flat);
        }
        flat
    }

    /// Inverse of [`Self::gather`].
    pub fn scatter(&self, flat: &[f64], velocity: &mut FaceFields<D>) {
        for axis in 0..D {
            self.faces.axis(axis).scatter(flat, velocity.component_mut(axis));
        }
    }
}
