use super::*;
use crate::testing::{
    TestNumbers, assert_adjoint, dense_kkt, dense_operator, random_mass, random_rows, random_system,
    symmetric_eigenvalues,
};
use crate::{
    ComposedBlock, FnBlock, NullSpace, Outcome, SparseBlock, SparseVector, Stopping, VelocityLayout,
};
use proptest::prelude::*;

fn solver(
    formulation: Formulation,
    application: Application,
    preconditioner: WholePreconditioner,
) -> CoupledSolver {
    CoupledSolver::new(CoupledOptions {
        stopping: Stopping { max_iterations: 20_000, ..Stopping::relative(1e-13) },
        formulation,
        application,
        preconditioner,
        ..CoupledOptions::default()
    })
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn every_way_of_solving_gives_the_velocities_of_the_dense_kkt_system() {
    let whole = [
        WholePreconditioner::PerBlock,
        WholePreconditioner::IncompleteCholesky { modified: false },
        WholePreconditioner::IncompleteCholesky { modified: true },
        WholePreconditioner::Cholesky,
    ];
    for seed in 0..20 {
        let random = &mut TestNumbers::new(seed);
        let inverse = random_mass(random);
        let system = random_system(&inverse, random);
        let start = random.vector(system.velocity_len());
        let exact = dense_kkt(&system, &start).unwrap();
        assert!(exact.negative_eigenvalues > 0);
        for formulation in [Formulation::PositiveDefinite, Formulation::Kkt] {
            for application in [Application::MatrixFree, Application::Assembled, Application::Auto] {
                for preconditioner in whole {
                    let mut velocity = start.clone();
                    let mut solver = solver(formulation, application, preconditioner);
                    let report = solver.solve(&system, &mut velocity, SolverAids::default()).unwrap();
                    let error = difference(&velocity, &exact.velocity);
                    assert!(
                        report.converged() && error < 1e-10,
                        "{formulation:?} {application:?} {preconditioner:?} {error:e} {report}"
                    );
                    assert!(report.blocks.iter().all(|block| block.converged));
                    let balance = system.energy_balance(&start, &velocity, solver.impulses()).unwrap();
                    assert!(balance.relative_error() < 1e-10, "{balance:?}");
                    // Static parts keep their velocity to the bit.
                    for i in 0..start.len() {
                        assert!(inverse.is_movable(i) || velocity[i] == start[i]);
                    }
                }
            }
        }
    }
}

#[test]
fn the_operator_is_symmetric_positive_and_equal_to_its_assembly() {
    let random = &mut TestNumbers::new(7);
    let inverse = random_mass(random);
    let system = random_system(&inverse, random);
    let n = system.rows();
    let free = dense_operator(&system.operator());
    let assembled = system.assemble().unwrap();
    assert!(assembled.is_symmetric(0.0));
    assert!(difference(&free, &assembled.to_dense()) < 1e-13);
    let eigenvalues = symmetric_eigenvalues(&free, n).unwrap();
    assert!(eigenvalues[0] > -1e-13, "{}", eigenvalues[0]);
    let mut diagonal = vec![0.0; n];
    system.diagonal(&mut diagonal).unwrap();
    for i in 0..n {
        assert!((diagonal[i] - free[i * n + i]).abs() < 1e-13);
        for j in 0..n {
            assert!((free[i * n + j] - free[j * n + i]).abs() < 1e-13);
        }
    }
    for (index, block) in system.blocks().enumerate() {
        assert_adjoint(block, &inverse);
        let own = system.assemble_block(index).unwrap();
        assert!(
            difference(&own.to_dense(), &assembled.diagonal_block(system.block_rows(index)).to_dense())
                < 1e-13
        );
    }
}

#[test]
fn warm_starts_need_no_iterations_and_survive_other_blocks() {
    let random = &mut TestNumbers::new(3);
    let inverse = random_mass(random);
    let system = random_system(&inverse, random);
    let start = random.vector(system.velocity_len());
    let mut solver = CoupledSolver::default();
    let mut velocity = start.clone();
    let cold = solver.solve(&system, &mut velocity, SolverAids::default()).unwrap();
    let mut velocity = start.clone();
    let warm = solver.solve(&system, &mut velocity, SolverAids::default()).unwrap();
    assert!(cold.iterations > 5 && warm.iterations == 0, "{} {}", cold.iterations, warm.iterations);

    // Another set of blocks: "pressure" keeps its guess, the new one starts at zero, a block of other size is not used.
    let mut other = CoupledSystem::new(&inverse);
    other.push(SparseBlock::factored_force("viscosity", random_rows(random, 3, start.len(), 4))).unwrap();
    let pressure = system.blocks().next().unwrap().assemble().unwrap();
    other.push(SparseBlock::new("pressure", pressure)).unwrap();
    other.push(SparseBlock::new("joints", random_rows(random, 2, start.len(), 4))).unwrap();
    let mut velocity = start.clone();
    let report = solver.solve(&other, &mut velocity, SolverAids::default()).unwrap();
    assert!(report.converged());
    let expected = dense_kkt(&other, &start).unwrap().velocity;
    assert!(difference(&velocity, &expected) < 1e-6);
    assert_eq!(solver.block_impulses("pressure").unwrap().len(), 8);
    assert!(solver.block_impulses("damping").is_none());
    assert!(solver.set_guess("pressure", &[f64::NAN]).is_err());
    solver.set_guess("pressure", &[1.0; 3]).unwrap();
    let mut velocity = start.clone();
    assert!(solver.solve(&other, &mut velocity, SolverAids::default()).unwrap().converged());
}

#[test]
fn bad_input_is_refused_and_velocity_left_alone() {
    let random = &mut TestNumbers::new(5);
    let inverse = random_mass(random);
    let system = random_system(&inverse, random);
    let mut solver = CoupledSolver::default();
    let mut poisoned = vec![0.0; system.velocity_len()];
    poisoned[4] = f64::NAN;
    assert!(matches!(
        solver.solve(&system, &mut poisoned, SolverAids::default()),
        Err(SolveError::NotFinite { index: 4, .. })
    ));
    assert!(matches!(
        solver.solve(&system, &mut [0.0; 3], SolverAids::default()),
        Err(SolveError::Size { found: 3, .. })
    ));
    let mut velocity = vec![0.0; system.velocity_len()];
    let aids = SolverAids {
        preconditioners: vec![("presure", BlockPreconditioner::Jacobi)],
        ..SolverAids::default()
    };
    let error = solver.solve(&system, &mut velocity, aids).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no block is named `presure`; the system has: pressure, coupling, damping, joints"
    );
    let rows = random_rows(random, 2, system.velocity_len(), 2);
    assert!(SparseBlock::new("x", rows.clone()).with_target(vec![f64::INFINITY, 0.0]).is_err());
    assert!(SparseBlock::new("x", rows.clone()).with_compliance(vec![-1.0, 0.0]).is_err());
    assert!(SparseBlock::new("x", rows).with_compliance(vec![0.0]).is_err());
    let mut wrong = CoupledSystem::new(&inverse);
    let nan = FnBlock::new(
        "nan",
        1,
        f64::NAN,
        |_: &[f64], _: &mut [f64]| {},
        |_: &[f64], _: &mut [f64]| {},
        |_: &InverseMass, _: &mut [f64]| {},
    );
    assert!(wrong.push(nan).is_err());
    assert_eq!(wrong.rows(), 0);
    let mut empty = vec![1.0; system.velocity_len()];
    let report = solver.solve(&wrong, &mut empty, SolverAids::default()).unwrap();
    assert!(report.converged() && empty.iter().all(|&value| value == 1.0));
}

#[test]
fn matrix_free_blocks_work_and_say_when_a_matrix_is_needed() {
    let random = &mut TestNumbers::new(11);
    let inverse = random_mass(random);
    let len = inverse.layout().len();
    // A relative velocity of faces 0 and 1, given by closures.
    let block = FnBlock::new(
        "difference",
        1,
        0.0,
        |v: &[f64], out: &mut [f64]| out[0] = v[0] - v[1],
        |z: &[f64], impulse: &mut [f64]| {
            impulse[0] += z[0];
            impulse[1] -= z[0];
        },
        |inverse: &InverseMass, out: &mut [f64]| out[0] = inverse.faces()[0] + inverse.faces()[1],
    );
    assert_adjoint(&block, &inverse);
    let outer = random_rows(random, 6, 4, 3);
    let composed = ComposedBlock::new(
        "composed",
        outer.clone(),
        SparseBlock::new("inner", random_rows(random, 4, len, 5)),
        1.0,
    )
    .unwrap();
    assert_adjoint(&composed, &inverse);
    assert!(ComposedBlock::new("composed", outer.clone(), &block, 1.0).is_err());
    assert!(matches!(
        ComposedBlock::new("composed", random_rows(random, 2, 1, 1), &block, 1.0),
        Err(SolveError::NotAssembled { .. })
    ));
    let mut system = CoupledSystem::new(&inverse);
    system.push(&block).unwrap();
    system.push(&composed).unwrap();
    let mut velocity = random.vector(len);
    let mut solver = CoupledSolver::default();
    let report = solver.solve(&system, &mut velocity, SolverAids::default()).unwrap();
    assert!(report.converged() && !report.assembled);
    assert!((velocity[0] - velocity[1]).abs() < 1e-7);
    solver.options.preconditioner = WholePreconditioner::Cholesky;
    assert!(matches!(
        solver.solve(&system, &mut velocity, SolverAids::default()),
        Err(SolveError::NotAssembled { .. })
    ));
}

#[test]
fn block_preconditioners_and_limits() {
    let random = &mut TestNumbers::new(13);
    let inverse = random_mass(random);
    let system = random_system(&inverse, random);
    let start = random.vector(system.velocity_len());
    let exact = dense_kkt(&system, &start).unwrap().velocity;
    let mut solver = CoupledSolver::default();
    solver.options.warm_start = false;
    solver.options.stopping.relative = 1e-2;
    let pressure = system.assemble_block(0).unwrap();
    let mut supplied = crate::SparseCholesky::of_semidefinite(&pressure).unwrap();
    let mut velocity = start.clone();
    solver.options.limits = vec![("joints".into(), 1e-9), ("no such block".into(), 1.0)];
    let aids = SolverAids {
        preconditioners: vec![
            ("pressure", BlockPreconditioner::Supplied(&mut supplied)),
            ("coupling", BlockPreconditioner::Cholesky),
            ("damping", BlockPreconditioner::IncompleteCholesky { modified: false }),
            ("joints", BlockPreconditioner::BlockJacobi(2)),
        ],
        ..SolverAids::default()
    };
    let report = solver.solve(&system, &mut velocity, aids).unwrap();
    assert!(report.converged(), "{report}");
    assert!(report.blocks[3].max_residual <= 1e-9, "{:?}", report.blocks[3]);
    assert!(difference(&velocity, &exact) < 1e-6);
}

#[test]
fn rows_on_static_parts_are_left_out_and_reported() {
    let inverse =
        InverseMass::new(VelocityLayout::new::<2>(3, 0, 0), vec![1.0, 1.0, 0.0], vec![], vec![]).unwrap();
    let rows = CsrMatrix::from_triplets(2, 3, &[(0, 0, 1.0), (0, 1, -1.0), (1, 2, 1.0)]).unwrap();
    let mut system = CoupledSystem::new(&inverse);
    system.push(SparseBlock::new("rows", rows)).unwrap();
    for whole in [WholePreconditioner::PerBlock, WholePreconditioner::Cholesky] {
        let mut velocity = vec![1.0, 3.0, 5.0];
        let mut solver = CoupledSolver::default();
        solver.options.preconditioner = whole;
        let report = solver.solve(&system, &mut velocity, SolverAids::default()).unwrap();
        assert!(report.converged());
        assert!(difference(&velocity, &[2.0, 2.0, 5.0]) < 1e-12);
        assert_eq!((report.blocks[0].unmovable_rows, report.blocks[0].unmovable_residual), (1, 5.0));
    }
}

#[test]
fn null_spaces_are_projected_and_inconsistency_is_refused() {
    // A closed chain of four cells: faces 0 and 4 are walls, one of which may move in (a piston).
    let inverse =
        InverseMass::new(VelocityLayout::new::<2>(5, 0, 0), vec![0.0, 1.0, 0.5, 1.0, 0.0], vec![], vec![])
            .unwrap();
    let rows: Vec<Vec<(usize, f64)>> = (0..4).map(|cell| vec![(cell, 1.0), (cell + 1, -1.0)]).collect();
    let mut system = CoupledSystem::new(&inverse);
    system.push(SparseBlock::new("pressure", CsrMatrix::from_rows(5, rows).unwrap())).unwrap();
    let mut diagonal = vec![0.0; 4];
    system.diagonal(&mut diagonal).unwrap();
    let candidates = [SparseVector::indicator(vec![0, 1, 2, 3])];
    let space = NullSpace::probe(&system.operator(), &diagonal, &candidates, 1e-12).unwrap();
    assert_eq!(space.dimension(), 1);
    let mut solver = CoupledSolver::default();
    let mut still = vec![0.0, 3.0, -1.0, 2.0, 0.0];
    let aids = || SolverAids { null_space: Some(&space), ..SolverAids::default() };
    let report = solver.solve(&system, &mut still, aids()).unwrap();
    assert!(report.converged() && report.null_space == 1 && report.removed < 1e-15);
    assert!(still.iter().all(|value| value.abs() < 1e-7), "{still:?}");
    assert!(solver.impulses().iter().sum::<f64>().abs() < 1e-12);

    let piston = vec![1.0, 0.0, 0.0, 0.0, 0.0];
    let error = solver.solve(&system, &mut piston.clone(), aids()).unwrap_err();
    assert!(
        matches!(error, SolveError::Inconsistent { removed, .. } if (removed - 0.5).abs() < 1e-15),
        "{error}"
    );
    // Allowed: the compression is spread evenly over the cells (FS-T15).
    solver.options.max_removed = 1.0;
    let mut velocity = piston.clone();
    let report = solver.solve(&system, &mut velocity, aids()).unwrap();
    assert!(report.converged() && (report.removed - 0.5).abs() < 1e-15);
    assert!(difference(&velocity, &[1.0, 0.75, 0.5, 0.25, 0.0]) < 1e-7, "{velocity:?}");
    // Without the null space, the solver itself notices.
    let mut velocity = piston;
    solver.clear_guess();
    let report = solver.solve(&system, &mut velocity, SolverAids::default()).unwrap();
    assert_eq!(report.outcome, Outcome::Inconsistent);
}

#[test]
fn density_ratios_of_a_billion_are_no_obstacle() {
    // FS-38: two faces in a row of cells, then a body 1e-9 and 1e9 times as heavy as the fluid.
    for ratio in [1e-9, 1e9] {
        let mut inverse = InverseMass::zero(VelocityLayout::new::<2>(30, 0, 1));
        for face in 0..30 {
            inverse.set_face(face, 1.0).unwrap();
        }
        inverse.set_body::<2>(0, 1.0 / ratio, &splashdown_math::Matrix::<1>::new(1.0 / ratio)).unwrap();
        let len = inverse.layout().len();
        let rows: Vec<Vec<(usize, f64)>> = (0..29).map(|cell| vec![(cell, 1.0), (cell + 1, -1.0)]).collect();
        let mut system = CoupledSystem::new(&inverse);
        system.push(SparseBlock::new("pressure", CsrMatrix::from_rows(len, rows).unwrap())).unwrap();
        let coupling = CsrMatrix::from_rows(len, [vec![(29, -1.0), (30, 1.0)]]).unwrap();
        system.push(SparseBlock::new("coupling", coupling)).unwrap();
        let mut velocity = vec![0.0; len];
        velocity[..30].fill(1.0);
        let mut solver =
            solver(Formulation::default(), Application::default(), WholePreconditioner::default());
        let report = solver.solve(&system, &mut velocity, SolverAids::default()).unwrap();
        assert!(report.converged(), "{report}");
        // All move as one: momentum 30 shared by 30 + ratio.
        let exact = 30.0 / (30.0 + ratio);
        assert!(
            velocity[..31].iter().all(|v| (v - exact).abs() < 1e-9 * exact.max(1e-3)),
            "{ratio} {velocity:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// Random linear systems never gain kinetic energy without targets and moving walls (FS-T9).
    #[test]
    fn kinetic_energy_never_grows(seed in 0..10_000u64, softness in 0.0..2.0f64) {
        let random = &mut TestNumbers::new(seed);
        let inverse = random_mass(random);
        let len = inverse.layout().len();
        let mut system = CoupledSystem::new(&inverse);
        let rows = random_rows(random, 10, len, 6);
        system.push(SparseBlock::new("rows", rows).with_compliance(vec![softness; 10]).unwrap()).unwrap();
        let mut start = random.vector(len);
        for i in 0..len { if !inverse.is_movable(i) { start[i] = 0.0; } }
        let mut velocity = start.clone();
        let mut solver = solver(Formulation::default(), Application::default(), WholePreconditioner::default());
        let report = solver.solve(&system, &mut velocity, SolverAids::default()).unwrap();
        prop_assert!(report.converged(), "{}", report);
        let balance = system.energy_balance(&start, &velocity, solver.impulses()).unwrap();
        prop_assert!(balance.kinetic_after <= balance.kinetic_before * (1.0 + 1e-12));
        prop_assert!(balance.relative_error() < 1e-10 && balance.work == 0.0);
    }
}
