//! The pressure system as a matrix, preconditioned by algebraic multigrid or incomplete factors: the seam of periodic sides is just more neighbours to it.

use super::{PressureSolver, for_each_seam, sparse};
use crate::error::FluidError;
use splashdown_solve::amg::{Amg, AmgOptions};
use splashdown_solve::multigrid::{PoissonProblem, Regions};
use splashdown_solve::{
    Components, CsrMatrix, IncompleteCholesky, Iteration, NullSpace, Preconditioner, Projected, SparseVector,
    Stopping, Workspace, pcg,
};

/// What makes a guess of the solution from a residual.
enum Factors {
    Amg(Box<Amg>),
    Incomplete(IncompleteCholesky),
}

impl Preconditioner for Factors {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        match self {
            Self::Amg(amg) => amg.apply(r, z),
            Self::Incomplete(factors) => factors.apply(r, z),
        }
    }
}

/// An assembled system with its preconditioner.
pub(super) struct AlgebraicSolver {
    matrix: CsrMatrix,
    factors: Factors,
    /// Cell of each unknown.
    cells: Vec<u32>,
    regions: Regions,
    null_space: NullSpace,
    b: Vec<f64>,
    x: Vec<f64>,
    workspace: Workspace,
}

impl AlgebraicSolver {
    /// Assembles `problem` with the further neighbours across `seams`.
    pub fn new<const D: usize>(
        problem: &PoissonProblem<D>,
        seams: &[Vec<f64>],
        kind: PressureSolver,
    ) -> Result<Self, FluidError> {
        let failed = FluidError::solve("pressure");
        let counts = problem.dims();
        let cells: Vec<u32> = (0..problem.cells() as u32).filter(|&c| problem.active()[c as usize]).collect();
        let mut unknown = vec![u32::MAX; problem.cells()];
        for (number, &cell) in cells.iter().enumerate() {
            unknown[cell as usize] = number as u32;
        }
        let rows = cells.iter().enumerate().map(|(number, &cell)| {
            let mut diagonal = problem.dirichlet()[cell as usize];
            let mut entries: Vec<(usize, f64)> = Vec::with_capacity(2 * D + 1);
            let mut add = |other: usize, weight: f64| {
                diagonal += weight;
                entries.push((unknown[other] as usize, -weight));
            };
            problem.for_each_neighbor(cell as usize, &mut add);
            for_each_seam(seams, counts, sparse(counts, cell as usize), &mut add);
            // A cell that is shut in has no equation; its pressure is zero.
            if diagonal == 0.0 && kind == PressureSolver::IncompleteCholesky {
                diagonal = 1.0;
            }
            entries.push((number, diagonal));
            entries
        });
        let matrix = CsrMatrix::from_rows(cells.len(), rows).map_err(&failed)?;
        let components = Components::from_matrix(&matrix).map_err(&failed)?;
        let mut grounded = vec![false; components.count()];
        let mut labels = vec![Regions::NONE; problem.cells()];
        for (&cell, &label) in cells.iter().zip(components.labels()) {
            labels[cell as usize] = label;
            grounded[label as usize] |= problem.dirichlet()[cell as usize] > 0.0;
        }
        let vectors: Vec<SparseVector> = components.indicators(|region| !grounded[region]);
        let null_space = NullSpace::new(cells.len(), &vectors).map_err(&failed)?;
        let factors = match kind {
            PressureSolver::IncompleteCholesky => {
                Factors::Incomplete(IncompleteCholesky::new(&matrix, true).map_err(&failed)?)
            }
            _ => Factors::Amg(Box::new(Amg::new(&matrix, &AmgOptions::default()).map_err(&failed)?)),
        };
        let (b, x) = (vec![0.0; cells.len()], vec![0.0; cells.len()]);
        let regions = Regions { labels, grounded };
        Ok(Self { matrix, factors, cells, regions, null_space, b, x, workspace: Workspace::default() })
    }

    pub fn regions(&self) -> &Regions {
        &self.regions
    }

    pub fn bytes(&self) -> usize {
        let factors = match &self.factors {
            Factors::Amg(amg) => amg.bytes(),
            // The upper triangle and its offsets.
            Factors::Incomplete(_) => 6 * (self.matrix.entries() + self.cells.len()) + 8 * self.cells.len(),
        };
        factors + 12 * self.matrix.entries() + 8 * 7 * self.cells.len() + 4 * self.regions.labels.len()
    }

    /// One cycle on the whole grid: cells that are no unknowns get zero.
    pub fn precondition(&mut self, r: &[f64], z: &mut [f64]) {
        for (number, &cell) in self.cells.iter().enumerate() {
            self.b[number] = r[cell as usize];
        }
        self.factors.apply(&self.b, &mut self.x);
        z.fill(0.0);
        for (number, &cell) in self.cells.iter().enumerate() {
            z[cell as usize] = self.x[number];
        }
    }

    /// Solves from `impulse`; both arrays are dense over the grid. Returns iterations and relative residual.
    pub fn solve(
        &mut self,
        rhs: &[f64],
        impulse: &mut [f64],
        tolerance: f64,
        max_iterations: usize,
    ) -> Result<(usize, f64), FluidError> {
        for (number, &cell) in self.cells.iter().enumerate() {
            self.b[number] = rhs[cell as usize];
            self.x[number] = impulse[cell as usize];
        }
        self.null_space.project(&mut self.b);
        let stopping = Stopping { max_iterations, ..Stopping::relative(tolerance) };
        let mut preconditioner = Projected::new(&mut self.factors, &self.null_space);
        let report = pcg(
            &self.matrix,
            &mut preconditioner,
            &self.b,
            &mut self.x,
            &mut Iteration::new(stopping),
            &mut self.workspace,
        )
        .map_err(FluidError::solve("pressure"))?;
        self.null_space.project(&mut self.x);
        for (number, &cell) in self.cells.iter().enumerate() {
            impulse[cell as usize] = self.x[number];
        }
        let residual = if report.rhs_norm > 0.0 { report.residual / report.rhs_norm } else { 0.0 };
        Ok((report.iterations, residual))
    }
}
