//! The positive definite system: everything but impulses eliminated.

use super::indefinite::{entries_of, scaled};
use super::{CoupledParts, CoupledSolution};
use splashdown_solve::amg::{Amg, AmgOptions};
use splashdown_solve::{
    BlockPreconditioner, CoupledOptions, CoupledSolver, CoupledSystem, CsrMatrix, SolveError, SolverAids,
    SparseBlock, Stopping,
};

impl CoupledParts {
    /// Hands the positive definite system, all velocities eliminated (eq. 29 of the source of 2011), to `with`; velocities are faces, then solids. Blocks: `pressure`, `viscosity`,
    /// `coupling`, `damping`, `demands`, those that have rows.
    ///
    /// # Errors
    /// Sizes that do not fit, masses that are not positive.
    pub fn with_definite<R>(
        &self,
        with: impl FnOnce(&CoupledSystem) -> Result<R, SolveError>,
    ) -> Result<R, SolveError> {
        let count = self.face_mass.len();
        let inverse_mass = self.inverse_mass(&self.face_mass)?;
        let width = inverse_mass.layout().len();
        // Rows over the faces and over the solids, side by side.
        let beside = |left: &CsrMatrix, right: &CsrMatrix| {
            let rows = (0..left.rows().max(right.rows())).map(|row| {
                let mut entries = entries_of(left, row);
                entries.extend(entries_of(right, row).into_iter().map(|(c, v)| (count + c, v)));
                entries
            });
            CsrMatrix::from_rows(width, rows)
        };
        let negative = |values: &[f64]| values.iter().map(|value| -value).collect::<Vec<_>>();
        let mut system = CoupledSystem::new(&inverse_mass);
        // `-D`, so that the impulse is the pressure.
        let flux = beside(&scaled(&self.divergence, -1.0), &scaled(&self.direct, -1.0))?;
        system.push(SparseBlock::new("pressure", flux).with_target(self.known_flux.clone())?)?;
        if self.strain.rows() > 0 {
            let rows = beside(&self.strain, &CsrMatrix::zeros(0, self.solids()))?;
            let rows = SparseBlock::factored_force("viscosity", rows);
            system.push(rows.with_target(negative(&self.known_strain))?)?;
        }
        if self.sampling.rows() > 0 {
            let rows = beside(&scaled(&self.restriction()?, -1.0), &self.sampling)?;
            system.push(SparseBlock::new("coupling", rows).with_target(negative(&self.source))?)?;
        }
        if self.damping.rows() > 0 {
            let rows = beside(&CsrMatrix::zeros(0, count), &self.damping)?;
            system.push(SparseBlock::factored_force("damping", rows))?;
        }
        if self.demands.rows() > 0 {
            let rows = beside(&CsrMatrix::zeros(0, count), &self.demands)?;
            system.push(SparseBlock::new("demands", rows).with_target(self.demanded.clone())?)?;
        }
        with(&system)
    }

    pub(super) fn solve_impulses(
        &self,
        faces: &[f64],
        solids: &[f64],
        stopping: Stopping,
    ) -> Result<CoupledSolution, SolveError> {
        self.with_definite(|system| {
            let mut multigrid = Amg::new(&system.assemble_block(0)?, &AmgOptions::default())?;
            let aids = SolverAids {
                preconditioners: vec![("pressure", BlockPreconditioner::Supplied(&mut multigrid))],
                ..SolverAids::default()
            };
            let options = CoupledOptions { stopping, max_removed: 1.0, ..CoupledOptions::default() };
            let mut solver = CoupledSolver::new(options);
            let mut velocity = [faces, solids].concat();
            let report = solver.solve(system, &mut velocity, aids)?;
            let pressure = solver.block_impulses("pressure").unwrap_or_default().to_vec();
            Ok(CoupledSolution {
                solids: velocity.split_off(faces.len()),
                faces: velocity,
                pressure,
                iterations: report.iterations,
                relative_residual: if report.rhs_norm > 0.0 {
                    report.residual / report.rhs_norm
                } else {
                    0.0
                },
            })
        })
    }
}
