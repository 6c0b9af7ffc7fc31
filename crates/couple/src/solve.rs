//! The coupled implicit velocity solve of one stage.

use crate::Model;
use crate::generalized::Velocities;
use serde::{Deserialize, Serialize};
use splashdown_math::{Dim, Frame, Space, Vector};
use splashdown_solve::{Iteration, Jacobi, LinearOperator, Stopping, Workspace, pcg};

/// Residual of one block of rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockReport {
    /// Name of the block.
    pub name: String,
    /// Number of rows.
    pub rows: usize,
    /// Norm of the residual of these rows.
    pub residual: f64,
}

/// What one implicit solve did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SolveReport {
    /// Iterations of the Krylov solver.
    pub iterations: usize,
    /// Relative residual at the end.
    pub relative_residual: f64,
    /// By block.
    pub blocks: Vec<BlockReport>,
}

/// Velocities after an implicit solve.
pub(crate) struct CoupledStep<const D: usize>
where
    Dim<D>: Space<D>,
{
    pub velocities: Velocities<D>,
    pub multipliers: Vec<f64>,
    pub report: SolveReport,
}

struct Op<'a, const D: usize> {
    rows: splashdown_deformable::SpringDamping<'a, D>,
    inverse: Vec<f64>,
}
impl<const D: usize> LinearOperator for Op<'_, D> {
    fn rows(&self) -> usize {
        self.rows.rows()
    }
    fn cols(&self) -> usize {
        self.rows.rows()
    }
    fn apply(&self, x: &[f64], y: &mut [f64]) {
        let mut v = vec![0.0; self.inverse.len()];
        self.rows.add_transpose(x, &mut v);
        v.iter_mut().zip(&self.inverse).for_each(|(v, m)| *v *= m);
        self.rows.apply(&v, y);
        y.iter_mut().zip(x).for_each(|(y, x)| *y += x);
    }
}

/// Interim: spring damping alone, until the coupled system of `splashdown-solve` lands.
pub(crate) fn coupled_solve<const D: usize>(
    model: &Model<D>,
    _frames: &[Frame<D>],
    positions: &[Vector<D>],
    mut explicit: Velocities<D>,
    dt: f64,
    warm: &[f64],
) -> Result<CoupledStep<D>, String>
where
    Dim<D>: Space<D>,
{
    let n = positions.len();
    let rows = model.springs.damping_rows(positions, dt, 0);
    let op = Op { inverse: (0..n * D).map(|i| model.particles.inverse_mass(i / D)).collect(), rows };
    let v: Vec<f64> = explicit.particles.iter().flat_map(|v| v.as_slice().to_vec()).collect();
    let mut b = vec![0.0; op.rows.rows()];
    op.rows.apply(&v, &mut b);
    let mut z = if warm.len() == b.len() { warm.to_vec() } else { vec![0.0; b.len()] };
    let mut jacobi = Jacobi::new(&vec![1.0; b.len()]).map_err(|e| e.to_string())?;
    let mut report = SolveReport { iterations: 0, relative_residual: 0.0, blocks: Vec::new() };
    if !b.is_empty() {
        let stopping = Stopping {
            max_iterations: model.options.max_iterations,
            ..Stopping::relative(model.options.tolerance)
        };
        let r = pcg(&op, &mut jacobi, &b, &mut z, &mut Iteration::new(stopping), &mut Workspace::default())
            .map_err(|e| e.to_string())?;
        report.iterations = r.iterations;
        report.relative_residual = r.relative_residual();
        if !r.outcome.converged() {
            return Err(format!("{:?}", r.outcome));
        }
    }
    let mut p = vec![0.0; v.len()];
    op.rows.add_transpose(&z, &mut p);
    for (i, v) in explicit.particles.iter_mut().enumerate() {
        for k in 0..D {
            v[k] -= p[i * D + k] * model.particles.inverse_mass(i);
        }
    }
    Ok(CoupledStep { velocities: explicit, multipliers: z, report })
}
