//! A coupled solve gives the same bits on one, two and four threads: every reduction has a fixed tree, every scatter is a gather.
//!
//! The system is large enough for every kernel to run in parallel: pressure and viscosity of a closed 28^3 box of faces with random masses,
//! a rigid body coupled to 400 faces, 2000 damped particles.

use crate::{Case, CaseError, Measurements, Speed};
use splashdown_math::Matrix;
use splashdown_solve::testing::TestNumbers;
use splashdown_solve::{
    Application, CoupledSolver, CoupledSystem, CsrMatrix, InverseMass, SolveError, SolveReport, SolverAids,
    SparseBlock, Stopping, VelocityLayout,
};

pub(super) const CASE: Case = Case {
    name: "foundation/coupled-threads",
    spec: "FS-44",
    summary: "a large coupled solve gives the same bits on 1, 2 and 4 threads",
    source: "exact: equality of bits",
    speed: Speed::Fast,
    seconds: 3.0,
    run,
};

const N: usize = 28;

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    for (name, application) in [("matrix-free", Application::MatrixFree), ("automatic", Application::Auto)] {
        let mut first: Option<Vec<u64>> = None;
        for threads in [1, 2, 4] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .map_err(|error| CaseError::new("starting threads", error))?;
            let (bits, report) =
                pool.install(|| solve(application)).map_err(|error| CaseError::new("solving", error))?;
            let resolution = format!("{} unknowns", report.unknowns);
            match &first {
                None => {
                    let converged = f64::from(u8::from(report.converged()));
                    let quantity = format!("{name}: converged");
                    measurements.near(&quantity, &resolution, converged, 1.0, 0.0, "exact");
                    first = Some(bits);
                }
                Some(first) => {
                    let differing = first.iter().zip(&bits).filter(|(a, b)| a != b).count() as f64;
                    let quantity = format!("{name}: velocities that differ between 1 and {threads} threads");
                    measurements.near(&quantity, &resolution, differing, 0.0, 0.0, "exact: equality of bits");
                }
            }
        }
    }
    Ok(())
}

fn solve(application: Application) -> Result<(Vec<u64>, SolveReport), SolveError> {
    let random = &mut TestNumbers::new(40);
    let cells = N * N * N;
    // Face (axis, cell) is the lower face of the cell; those on the boundary are walls.
    let face = |axis: usize, cell: usize| axis * cells + cell;
    let stride = [1, N, N * N];
    let position = |cell: usize, axis: usize| cell / stride[axis] % N;
    let layout = VelocityLayout::new::<3>(3 * cells, 2000, 1);
    let mut inverse = InverseMass::zero(layout);
    for axis in 0..3 {
        for cell in 0..cells {
            if position(cell, axis) > 0 {
                inverse.set_face(face(axis, cell), random.uniform(0.5, 2.0))?;
            }
        }
    }
    for particle in 0..2000 {
        inverse.set_particle(particle, random.uniform(0.5, 2.0))?;
    }
    inverse.set_body::<3>(0, 0.01, &(Matrix::<3>::identity() * 0.02))?;

    let pressure = (0..cells).map(|cell| {
        let mut row = Vec::with_capacity(6);
        for axis in 0..3 {
            row.push((face(axis, cell), 1.0));
            if position(cell, axis) + 1 < N {
                row.push((face(axis, cell + stride[axis]), -1.0));
            }
        }
        row
    });
    let viscosity = (0..cells)
        .filter(|&cell| position(cell, 0) + 1 < N)
        .map(|cell| vec![(face(1, cell), -0.3), (face(1, cell + 1), 0.3)]);
    let coupling = (0..400).map(|i| {
        let cell = (i % 20 + 4) + N * (i / 20 + 4) + N * N * 20;
        let arm = [i as f64 / 400.0, (i % 20) as f64 / 20.0];
        let body = layout.body(0).start;
        vec![(face(2, cell), -1.0), (body + 2, 1.0), (body + 3, arm[0]), (body + 4, -arm[1])]
    });
    let damping = (0..1999).map(|link| {
        let axis = link % 3;
        vec![(layout.particle(link).start + axis, 0.8), (layout.particle(link + 1).start + axis, -0.8)]
    });
    let len = layout.len();
    let mut system = CoupledSystem::new(&inverse);
    system.push(SparseBlock::new("pressure", CsrMatrix::from_rows(len, pressure)?))?;
    system.push(SparseBlock::factored_force("viscosity", CsrMatrix::from_rows(len, viscosity)?))?;
    system.push(SparseBlock::new("coupling", CsrMatrix::from_rows(len, coupling)?))?;
    system.push(SparseBlock::factored_force("damping", CsrMatrix::from_rows(len, damping)?))?;
    let mut velocity = random.vector(len);
    for (index, value) in velocity.iter_mut().enumerate() {
        if !inverse.is_movable(index) {
            *value = 0.0;
        }
    }
    let mut solver = CoupledSolver::default();
    solver.options.application = application;
    solver.options.stopping = Stopping::relative(1e-5);
    let report = solver.solve(&system, &mut velocity, SolverAids::default())?;
    Ok((velocity.iter().map(|value| value.to_bits()).collect(), report))
}
