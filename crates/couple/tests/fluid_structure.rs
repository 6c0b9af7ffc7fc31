//! The coupled solve against its reference forms and against exact solutions (spec/fluid-structure.md FS-2, FS-19, FS-20, FS-23, FS-T1, FS-T2, FS-T5).

use splashdown_couple::fluid_structure::{
    CouplingForm, CouplingOptions, FaceMass, Immersed, Operators, SolidMass, Tangential, Viscous,
    solve_coupled,
};
use splashdown_fluid::{
    Domain, FluidError, FluidModel, FluidState, FluidStepper, Guest, Liquid, Placement, Side, SolidBoundary,
    Walls,
};
use splashdown_geometry::grid::Grid;
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_solve::{
    CoupledOptions, CoupledSolver, CoupledSystem, CsrMatrix, Formulation, InverseMass, SolverAids,
    SparseBlock, Stopping, VelocityLayout, WholePreconditioner,
};
use std::sync::Arc;

/// Numbers that look random and are always the same.
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    }
}

struct Scene<const D: usize>
where
    Dim<D>: Space<D>,
{
    model: FluidModel<D>,
    state: FluidState<D>,
    stepper: FluidStepper<D>,
    solids: Vec<Immersed<D>>,
}

/// Two bodies in a box with an open top, everything in motion.
fn scene<const D: usize>(cells: [usize; D], viscosity: f64, seed: u64) -> Scene<D>
where
    Dim<D>: Space<D>,
{
    let h = 1.0 / cells[0] as f64;
    let mut sides = [[Side::wall(); 2]; D];
    sides[1][1] = Side::open();
    let grid = Grid::new(Vector::zeros(), Vector::repeat(h), cells).unwrap();
    let domain = Domain::new(grid, sides).unwrap();
    let mut model = FluidModel::new(domain, Liquid { viscosity, ..Liquid::new("fluid", 2.0) });
    model.options.pressure.divergence = 1e-13;
    model.options.pressure.relative = 1e-13;
    model.options.pressure.max_iterations = 2000;
    let mut random = noise(seed);
    let mut state = FluidState::at_rest(&model);
    for axis in 0..D {
        state.velocity.component_mut(axis).values_mut().iter_mut().for_each(|u| *u = random());
    }
    let mut stepper = FluidStepper::new(&model).unwrap();
    let (mut guests, mut solids) = (Vec::new(), Vec::new());
    for (centre, radius, mass) in [(0.3, 0.17, 0.7), (0.72, 0.14, 1e-3)] {
        let frame = Frame { position: Vector::repeat(centre), ..Frame::identity() };
        let form = Arc::new(Shape::ball(radius).unwrap());
        guests.push(Guest { form, placement: Placement::at_rest(frame), slip: false });
        let spin = <Dim<D> as Space<D>>::SPIN;
        let inertia = Dim::<D>::inertia_from_principal(&vec![0.4 * mass * radius * radius; spin]);
        let twist = Twist { linear: Vector::from_fn(|_, _| random()), ..Twist::zero() };
        solids.push(Immersed::new(Some(SolidMass::new(mass, &inertia)), twist));
    }
    stepper.set_guests(guests);
    stepper.push(&model, &mut state, 1.0).unwrap();
    Scene { model, state, stepper, solids }
}

/// Free faces, bound faces and twists as the positive definite form with coupling impulses, or the indefinite one, has them.
fn reference<const D: usize>(
    scene: &Scene<D>,
    viscous: Option<Viscous>,
    options: &CouplingOptions,
    formulation: Formulation,
) -> (Operators<D>, Vec<f64>)
where
    Dim<D>: Space<D>,
{
    let movable = vec![true; scene.solids.len()];
    let problem = scene.stepper.problem(&scene.model);
    let operators = Operators::new(&problem, scene.stepper.guests(), 0, &movable, viscous, options).unwrap();
    let n = Twist::<D>::LEN;
    let faces = operators.masses.len() + operators.bound.len();
    let layout = VelocityLayout::new::<D>(faces, 0, scene.solids.len());
    let masses = operators.masses.iter().copied().chain(operators.bound.iter().map(|face| face.mass));
    let inverse = masses.map(|mass| 1.0 / mass).collect();
    let bodies = scene.solids.iter().flat_map(|s| s.mass.as_ref().unwrap().inverse().unwrap()).collect();
    let inverse_mass = InverseMass::new(layout, inverse, vec![], bodies).unwrap();
    let widen = |matrix: &CsrMatrix| {
        let (offsets, columns) = (matrix.offsets().to_vec(), matrix.columns().to_vec());
        CsrMatrix::from_parts(layout.len(), offsets, columns, matrix.values().to_vec()).unwrap()
    };
    let negative = |values: &[f64]| values.iter().map(|value| -value).collect::<Vec<_>>();
    let mut system = CoupledSystem::new(&inverse_mass);
    let pressure = SparseBlock::new("pressure", widen(&operators.divergence));
    system.push(pressure.with_target(negative(&operators.known_flux)).unwrap()).unwrap();
    if operators.strain.rows() > 0 {
        let strain = SparseBlock::factored_force("viscosity", widen(&operators.strain));
        system.push(strain.with_target(negative(&operators.known_strain)).unwrap()).unwrap();
    }
    let rows = operators.bound.iter().enumerate().map(|(number, face)| {
        let mut row = [0.0; 6];
        face.row.write(&mut row);
        let body = faces + face.guest * n;
        let mut entries = vec![(operators.masses.len() + number, -1.0)];
        entries.extend((0..n).map(|k| (body + k, row[k])));
        entries
    });
    system.push(SparseBlock::new("coupling", CsrMatrix::from_rows(layout.len(), rows).unwrap())).unwrap();
    let mut velocity = operators.gather(&scene.state.velocity);
    for solid in &scene.solids {
        let mut twist = vec![0.0; n];
        solid.twist.write(&mut twist);
        velocity.extend(twist);
    }
    let mut solver = CoupledSolver::new(CoupledOptions {
        stopping: Stopping { max_iterations: 20_000, patience: 20_000, ..Stopping::relative(1e-14) },
        formulation,
        preconditioner: WholePreconditioner::Cholesky,
        ..CoupledOptions::default()
    });
    let before = velocity.clone();
    solver.solve(&system, &mut velocity, SolverAids::default()).unwrap();
    let balance = system.energy_balance(&before, &velocity, solver.impulses()).unwrap();
    let change = balance.kinetic_after - balance.kinetic_before;
    assert!(change <= 1e-10 * balance.kinetic_before, "kinetic energy must not rise");
    let expected = balance.work - balance.dissipated;
    assert!((change - expected).abs() < 1e-9 * balance.kinetic_before, "{change} {expected}");
    (operators, velocity)
}

fn agrees<const D: usize>(cells: [usize; D], viscosity: f64, options: CouplingOptions)
where
    Dim<D>: Space<D>,
{
    let dt = 0.1;
    let mut scene = scene::<D>(cells, viscosity, 5);
    let viscous = (viscosity > 0.0).then_some(Viscous { viscosity, dt });
    let (operators, definite) = reference(&scene, viscous, &options, Formulation::PositiveDefinite);
    let (_, indefinite) = reference(&scene, viscous, &options, Formulation::Kkt);
    let Scene { model, state, stepper, solids } = &mut scene;
    solve_coupled(stepper, model, state, dt, solids, &options).unwrap();
    let mut ours = operators.gather(&state.velocity);
    for solid in solids.iter() {
        let mut twist = vec![0.0; Twist::<D>::LEN];
        solid.twist.write(&mut twist);
        ours.extend(twist);
    }
    let size = definite.iter().fold(0.0f64, |m, u| m.max(u.abs()));
    for (name, other) in [("definite", &definite), ("indefinite", &indefinite)] {
        let worst = ours.iter().zip(other).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        assert!(worst < 1e-9 * size, "{name}, {D}D, viscosity {viscosity}: {worst:e} of {size:e}");
    }
}

/// Eliminating the coupling impulses, and with viscosity also the velocities, changes nothing (FS-19, FS-20, FS-23, FS-26).
#[test]
fn all_forms_of_the_system_have_the_same_solution() {
    let fraction = CouplingOptions {
        mass: FaceMass::Fraction,
        tangential: Tangential::FluidSide,
        form: CouplingForm::Pressure,
        ..CouplingOptions::default()
    };
    let full = CouplingOptions { mass: FaceMass::Full, ..fraction };
    for options in [fraction, full] {
        agrees([10, 11], 0.0, options);
        agrees([10, 11], 0.3, options);
    }
    agrees([8, 9, 8], 0.0, fraction);
    agrees([8, 8, 8], 0.05, fraction);
}

/// A plug in a pipe between two pressures moves with all the fluid as one mass, whatever its density and wherever it lies on the grid: the momentum of a cell that fluid and
/// solid share is split by their masses (FS-2, FS-T5).
#[test]
fn a_plug_in_a_pipe_moves_as_one_mass_with_the_fluid() {
    let (n, h, push, dt) = (24, 0.05, 3.0, 0.01);
    let grid = Grid::new(Vector::zeros(), Vector::repeat(h), [n, 2]).unwrap();
    let sides = [[Side::Outlet { pressure: push }, Side::open()], [Side::slip(); 2]];
    let mut model = FluidModel::new(Domain::new(grid, sides).unwrap(), Liquid::new("fluid", 1.3));
    model.options.pressure.relative = 1e-13;
    model.options.pressure.divergence = 1e-13;
    for ratio in [1e-6, 1e-3, 1.0, 1e3, 1e6] {
        for shift in [0.0, 0.013, 0.031, 0.044] {
            let half = 0.101;
            let mass = ratio * 2.0 * half * 2.0 * h;
            let form = Arc::new(Shape::cuboid(Vector::from([half, 1.0])).unwrap());
            let frame = Frame { position: Vector::from([0.55 + shift, h]), ..Frame::identity() };
            let mut stepper = FluidStepper::new(&model).unwrap();
            stepper.set_guests(vec![Guest { form, placement: Placement::at_rest(frame), slip: true }]);
            let mut state = FluidState::at_rest(&model);
            stepper.push(&model, &mut state, dt).unwrap();
            let inertia = Dim::<2>::inertia_from_principal(&[mass]);
            let mut solids = vec![Immersed::new(Some(SolidMass::new(mass, &inertia)), Twist::zero())];
            solve_coupled(&mut stepper, &model, &mut state, dt, &mut solids, &CouplingOptions::default())
                .unwrap();
            // The pressures act half a cell outside.
            let fluid = 1.3 * 2.0 * h * ((n + 1) as f64 * h - 2.0 * half);
            let exact = dt * push * 2.0 * h / (fluid + mass);
            let found = solids[0].twist.linear[0];
            assert!((found / exact - 1.0).abs() < 1e-9, "{ratio} {shift}: {found} {exact}");
        }
    }
}

/// A tilted plate much thinner than a cell closes every way from one side to the other.
#[test]
fn a_plate_thinner_than_a_cell_does_not_leak() {
    let n = 20isize;
    let grid = Grid::new(Vector::zeros(), Vector::repeat(0.05), [n as usize; 2]).unwrap();
    let domain = Domain::new(grid, [[Side::wall(); 2]; 2]).unwrap();
    for degrees in [0.0f64, 7.0, 31.0, 45.0] {
        let angle = degrees.to_radians();
        let form = Arc::new(Shape::cuboid(Vector::from([0.002, 2.0])).unwrap());
        let rotation = Dim::<2>::exp(&[angle].into());
        let frame = Frame { position: Vector::from([0.51, 0.49]), rotation };
        let guest = Guest { form, placement: Placement::at_rest(frame), slip: false };
        let walls = Walls::with_guests(&domain, &[], &[], &[guest], SolidBoundary::Voxels);
        let mut reached = vec![[0isize, n / 2]];
        let mut seen = std::collections::BTreeSet::from([reached[0]]);
        while let Some(cell) = reached.pop() {
            for axis in 0..2 {
                for step in [-1, 1] {
                    let (mut next, mut face) = (cell, cell);
                    next[axis] += step;
                    face[axis] += (step + 1) / 2;
                    let inside = next.iter().all(|&i| i >= 0 && i < n);
                    if inside && !walls.is_closed(axis, face) && seen.insert(next) {
                        reached.push(next);
                    }
                }
            }
        }
        assert!(!seen.contains(&[n - 1, n / 2]), "{degrees} degrees");
        assert!(seen.len() > 100);
    }
}

/// A piston that moves as told in a closed box cannot keep the volume: the walls give way evenly, which is reported, and what is left is incompressible (FS-T15).
#[test]
fn a_piston_in_a_closed_box_is_reported() {
    for viscosity in [0.0, 0.2] {
        let n = 12;
        let grid = Grid::new(Vector::zeros(), Vector::repeat(1.0 / n as f64), [n, n]).unwrap();
        let domain = Domain::new(grid, [[Side::wall(); 2]; 2]).unwrap();
        let mut model = FluidModel::new(domain, Liquid { viscosity, ..Liquid::new("fluid", 1.0) });
        let form = Arc::new(Shape::cuboid(Vector::from([0.26, 1.0])).unwrap());
        let frame = Frame { position: Vector::from([0.0, 0.5]), ..Frame::identity() };
        let mut stepper = FluidStepper::new(&model).unwrap();
        stepper.set_guests(vec![Guest { form, placement: Placement::at_rest(frame), slip: false }]);
        let mut state = FluidState::at_rest(&model);
        let dt = 0.01;
        stepper.push(&model, &mut state, dt).unwrap();
        let twist = Twist { linear: Vector::from([1.0, 0.0]), ..Twist::zero() };
        let mut solids = vec![Immersed::new(None, twist)];
        let options = CouplingOptions::default();
        let report = solve_coupled(&mut stepper, &model, &mut state, dt, &mut solids, &options).unwrap();
        assert!(report.wall_correction > 0.1, "viscosity {viscosity}: {report:?}");
        model.options.pressure.squeeze = 0.5 * report.wall_correction;
        let mut squeezed = FluidState::at_rest(&model);
        let refused = solve_coupled(&mut stepper, &model, &mut squeezed, dt, &mut solids, &options);
        assert!(matches!(refused, Err(FluidError::Squeezed { .. })), "viscosity {viscosity}: {refused:?}");
        let divergence = stepper.problem(&model).largest_divergence(&state.velocity) * dt;
        assert!(divergence < 1e-7, "viscosity {viscosity}: {divergence:e}");
    }
}
