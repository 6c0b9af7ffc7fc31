//! Whole steps: exact flows, rest, resumption.

use super::*;
use crate::domain::{Domain, Side};
use crate::forces::BodyForce;
use crate::model::{Liquid, SmokeModel, Source, SourceKind};
use crate::obstacle::Obstacle;
use splashdown_geometry::grid::Grid;
use splashdown_geometry::shapes::Shape;
use splashdown_math::Vector;
use std::f64::consts::TAU;

fn square(n: usize, size: f64, sides: [[Side<2>; 2]; 2]) -> Domain<2> {
    Domain::new(Grid::new(Vector::zeros(), Vector::repeat(size / n as f64), [n, n]).unwrap(), sides).unwrap()
}

/// Kinetic energy error of the Taylor-Green vortex at t = 1 (FB-T5).
fn taylor_green(n: usize, second_order: bool) -> f64 {
    let nu = 0.02;
    let mut model = FluidModel::new(
        square(n, TAU, [[Side::Periodic; 2]; 2]),
        Liquid { viscosity: nu, ..Liquid::new("fluid", 1.0) },
    );
    if second_order {
        model.options.scheme = TimeScheme::Reflection;
        model.options.viscous_step = ViscousStep::CrankNicolson;
        model.options.advection = Some(Default::default());
    } else {
        model.options = crate::FluidOptions::chorin();
    }
    let mut state = FluidState::at_rest(&model);
    state.set_velocity(&model, |x| Vector::from([x[0].sin() * x[1].cos(), -x[0].cos() * x[1].sin()]));
    let mut stepper = FluidStepper::new(&model).unwrap();
    stepper.initialise(&model, &mut state).unwrap();
    let steps = n / 2;
    let start = stepper.diagnostics(&model, &state).kinetic_energy;
    for _ in 0..steps {
        stepper.step(&model, &mut state, 1.0 / steps as f64, None).unwrap();
    }
    let end = stepper.diagnostics(&model, &state).kinetic_energy;
    (end / start - (-4.0 * nu).exp()).abs()
}

#[test]
fn taylor_green_decays_with_the_order_of_the_scheme() {
    for (second_order, expected) in [(false, 0.8), (true, 1.8)] {
        let (coarse, fine) = (taylor_green(32, second_order), taylor_green(64, second_order));
        let order = (coarse / fine).log2();
        assert!(order > expected, "{second_order}: {coarse} {fine} order {order}");
    }
}

/// FB-T2: still water stays still, wherever the surface is.
fn still_water<const D: usize>(height: f64)
where
    Dim<D>: Space<D>,
{
    let n = 8;
    let grid = Grid::<D>::new(Vector::zeros(), Vector::repeat(0.125), [n; D]).unwrap();
    let mut model =
        FluidModel::new(Domain::new(grid, [[Side::slip(); 2]; D]).unwrap(), Liquid::new("water", 1000.0));
    model.free_surface = true;
    model.gravity[1] = -9.81;
    model.options.pressure.divergence = 1e-15;
    model.options.pressure.relative = 1e-14;
    let mut state = FluidState::at_rest(&model);
    state.set_liquid(&model, 0, |x| x[1] - height).unwrap();
    let mut stepper = FluidStepper::new(&model).unwrap();
    stepper.initialise(&model, &mut state).unwrap();
    for _ in 0..20 {
        stepper.step(&model, &mut state, 0.02, None).unwrap();
    }
    let speed = stepper.diagnostics(&model, &state).max_speed;
    assert!(speed < 1e-11, "{height}: {speed}");
    let p = state.pressure.at([2; D]);
    let exact = 1000.0 * 9.81 * (height - 2.5 * 0.125);
    assert!((p / exact - 1.0).abs() < 1e-9, "{p} {exact}");
}

#[test]
fn still_water_stays_still() {
    for height in [0.5001, 0.56249, 0.5625, 0.563, 0.61, 0.687] {
        still_water::<2>(height);
    }
    still_water::<3>(0.6);
}

#[test]
fn smoke_rises_symmetrically_past_a_ball_and_resumes_bit_for_bit() {
    let mut model = FluidModel::new(
        square(32, 1.0, [[Side::slip(); 2], [Side::wall(), Side::open()]]),
        Liquid::new("air", 1.2),
    );
    model.gravity[1] = -9.81;
    model.smoke = Some(SmokeModel { lift: 0.1, ..Default::default() });
    // A limiter without jumps, so that rounding is not amplified.
    let limiter = crate::advect::Limiter::Clamp;
    model.options.advection = Some(crate::advect::Advection { limiter, ..Default::default() });
    model.options.pressure.divergence = 1e-13;
    let ball = |r: f64, y: f64| Shape::ball(r).unwrap().translated(Vector::from([0.5, y])).unwrap();
    model.sources.push(Source::new(ball(0.1, 0.15), SourceKind::Smoke { density: 1.0, temperature: 400.0 }));
    model.obstacles.push(Obstacle { slip: true, ..Obstacle::fixed("ball", ball(0.12, 0.55)) });
    let mut state = FluidState::at_rest(&model);
    let mut stepper = FluidStepper::new(&model).unwrap();
    stepper.initialise(&model, &mut state).unwrap();
    for _ in 0..15 {
        stepper.step(&model, &mut state, 0.02, None).unwrap();
    }
    let bytes = postcard::to_stdvec(&state).unwrap();
    for _ in 0..15 {
        let report = stepper.step(&model, &mut state, 0.02, None).unwrap();
        assert!(report.pressure.divergence <= 1e-8);
    }
    let mut resumed: FluidState<2> = postcard::from_bytes(&bytes).unwrap();
    assert!(resumed.fits(&model));
    let mut fresh = FluidStepper::new(&model).unwrap();
    for _ in 0..15 {
        fresh.step(&model, &mut resumed, 0.02, None).unwrap();
    }
    assert_eq!(resumed, state);
    let smoke = state.smoke.as_ref().unwrap();
    for cell in smoke.density.lattice().indices() {
        let mirror = [31 - cell[0], cell[1]];
        let (here, there) = (smoke.density.at(cell), smoke.density.at(mirror));
        assert!((here - there).abs() < 1e-8, "{cell:?}: {here} {there}");
    }
    assert!(state.velocity.component(1).at([16, 8]) > 0.05);
}

#[test]
fn water_falls_and_keeps_its_volume() {
    let mut model = FluidModel::new(square(32, 1.0, [[Side::slip(); 2]; 2]), Liquid::new("water", 1000.0));
    model.free_surface = true;
    model.gravity[1] = -9.81;
    let mut state = FluidState::at_rest(&model);
    state.set_liquid(&model, 0, |x| (x - Vector::from([0.5, 0.7])).norm() - 0.15).unwrap();
    let mut stepper = FluidStepper::new(&model).unwrap();
    stepper.initialise(&model, &mut state).unwrap();
    let before = stepper.diagnostics(&model, &state).volumes[0];
    for _ in 0..20 {
        stepper.step(&model, &mut state, 0.01, None).unwrap();
    }
    let after = stepper.diagnostics(&model, &state);
    assert!((after.volumes[0] / before - 1.0).abs() < 0.01, "{before} {:?}", after.volumes);
    // 0.2 s of free fall.
    assert!((state.velocity.component(1).at([16, 16]) + 9.81 * 0.2).abs() < 0.02);
    let lattice = *state.liquids[0].phi.lattice();
    let lowest = lattice
        .indices()
        .filter(|&c| state.liquids[0].phi.at(c) < 0.0)
        .map(|c| lattice.position(c)[1])
        .fold(1.0, f64::min);
    assert!((lowest - (0.55 - 0.5 * 9.81 * 0.04)).abs() < 0.04, "{lowest}");
}

/// The tracker with particles that carry momentum: a drop falls freely and then splashes, resumption and any number of threads give the same bits.
#[test]
fn apic_water_falls_keeps_its_volume_and_resumes() {
    let mut model = FluidModel::new(square(32, 1.0, [[Side::slip(); 2]; 2]), Liquid::new("water", 1000.0));
    model.free_surface = true;
    model.gravity[1] = -9.81;
    model.options.surface.particles = None;
    model.options.surface.apic = Some(crate::ApicOptions { flip: 0.3, ..Default::default() });
    let mut state = FluidState::at_rest(&model);
    state.set_liquid(&model, 0, |x| (x - Vector::from([0.5, 0.7])).norm() - 0.15).unwrap();
    let mut stepper = FluidStepper::new(&model).unwrap();
    stepper.initialise(&model, &mut state).unwrap();
    let before = stepper.diagnostics(&model, &state).volumes[0];
    for _ in 0..20 {
        stepper.step(&model, &mut state, 0.01, None).unwrap();
    }
    // 0.2 s of free fall.
    assert!((state.velocity.component(1).at([16, 16]) + 9.81 * 0.2).abs() < 0.02);
    let run = |mut state: FluidState<2>| {
        let mut stepper = FluidStepper::new(&model).unwrap();
        for _ in 0..20 {
            stepper.step(&model, &mut state, 0.01, None).unwrap();
        }
        state
    };
    let bytes = postcard::to_stdvec(&state).unwrap();
    for _ in 0..20 {
        stepper.step(&model, &mut state, 0.01, None).unwrap();
    }
    assert_eq!(run(postcard::from_bytes(&bytes).unwrap()), state);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(5).build().unwrap();
    assert_eq!(pool.install(|| run(postcard::from_bytes(&bytes).unwrap())), state);
    let after = stepper.diagnostics(&model, &state).volumes[0];
    assert!((after / before - 1.0).abs() < 0.02, "{before} {after}");
    assert!(!state.liquids[0].apic.is_empty());
}

/// Water that touches an open top and falls away from it draws in air, not more water.
#[test]
fn nothing_but_air_comes_in_through_an_open_top() {
    let grid = Grid::<2>::new(Vector::zeros(), Vector::repeat(0.05), [16, 20]).unwrap();
    let domain = Domain::new(grid, [[Side::slip(); 2], [Side::slip(), Side::open()]]).unwrap();
    let mut model = FluidModel::new(domain, Liquid::new("water", 1000.0));
    model.free_surface = true;
    model.gravity[1] = -9.81;
    let mut state = FluidState::at_rest(&model);
    // A column at the left wall up to the very top.
    state.set_liquid(&model, 0, |x| x[0] - 0.22).unwrap();
    let mut stepper = FluidStepper::new(&model).unwrap();
    stepper.initialise(&model, &mut state).unwrap();
    let before = stepper.diagnostics(&model, &state).volumes[0];
    for _ in 0..40 {
        stepper.step(&model, &mut state, 0.01, None).unwrap();
    }
    let after = stepper.diagnostics(&model, &state).volumes[0];
    // The drift that FB-T15 allows for a collapsing column.
    assert!((after / before - 1.0).abs() < 0.03, "{before} {after}");
}

/// A drop in a large box: the step in a window around it gives what the step in the whole box gives, up to the accuracy of the pressure, whichever way it leaves.
#[test]
fn water_in_a_window_moves_as_in_the_whole_box() {
    let grid = Grid::<2>::new(Vector::zeros(), Vector::repeat(1.0 / 32.0), [96, 128]).unwrap();
    let domain = Domain::new(grid, [[Side::slip(); 2]; 2]).unwrap();
    let mut model = FluidModel::new(domain, Liquid::new("water", 1000.0));
    model.free_surface = true;
    model.gravity[1] = -9.81;
    model.options.pressure.divergence = 1e-12;
    model.options.pressure.relative = 1e-10;
    let run = |window: bool| {
        let mut model = model.clone();
        model.options.surface.window = window;
        let mut state = FluidState::at_rest(&model);
        state.set_liquid(&model, 0, |x| (x - Vector::from([0.6, 3.4])).norm() - 0.2).unwrap();
        state.set_velocity(&model, |_| Vector::from([1.5, 0.0]));
        let mut stepper = FluidStepper::new(&model).unwrap();
        stepper.initialise(&model, &mut state).unwrap();
        // New markers are seeded by the cells of the window, so only up to the first time that happens the two are the same.
        for _ in 0..18 {
            stepper.step(&model, &mut state, 0.02, None).unwrap();
        }
        assert_eq!(stepper.inner.is_some(), window);
        state
    };
    let (part, whole) = (run(true), run(false));
    for axis in 0..2 {
        let other = whole.velocity.component(axis);
        let off = part.velocity.component(axis).reduce(0.0, |i, u| (u - other.at(i)).abs(), f64::max);
        assert!(off < 1e-7, "{axis}: {off}");
    }
    let other = &whole.liquids[0].phi;
    let off = part.liquids[0].phi.reduce(0.0, |i, v| (v - other.at(i)).abs(), f64::max);
    assert!(off < 1e-7, "{off}");
    assert!((part.velocity.component(1).max_abs() - 9.81 * 0.36).abs() < 0.05);
}

/// A body force acts for its time and in its region, and gravity given as a field is gravity.
#[test]
fn body_forces_act_where_and_when_they_should() {
    let mut model = FluidModel::new(square(16, 1.0, [[Side::Periodic; 2]; 2]), Liquid::new("gas", 1.0));
    let field = BodyForce::field(|x: &Vector<2>, time| Vector::from([(TAU * x[1]).sin() * time, 0.0]));
    model.forces.push(field);
    let half = Shape::cuboid(Vector::from([2.0, 0.25])).unwrap();
    let push =
        BodyForce::within(half.translated(Vector::from([0.5, 0.25])).unwrap(), Vector::from([2.0, 0.0]));
    model.forces.push(BodyForce { start: 0.45, end: 0.65, ..push });
    model.options.advection = None;
    let mut state = FluidState::at_rest(&model);
    let mut stepper = FluidStepper::new(&model).unwrap();
    stepper.initialise(&model, &mut state).unwrap();
    let mut expected = [0.0; 16];
    for step in 0..10 {
        stepper.step(&model, &mut state, 0.1, None).unwrap();
        let time = 0.1 * f64::from(step + 1);
        for (row, u) in expected.iter_mut().enumerate() {
            let y = (row as f64 + 0.5) / 16.0;
            *u += 0.1 * (TAU * y).sin() * time;
            *u += if (0.45..0.65).contains(&time) && y < 0.5 { 0.2 } else { 0.0 };
        }
    }
    // The shear flow is incompressible, so the pressure leaves it alone.
    for (row, u) in expected.iter().enumerate() {
        let found = state.velocity.component(0).at([5, row as isize]);
        assert!((found - u).abs() < 1e-9, "{row}: {found} {u}");
    }
}

/// The surface of a falling drop, its distance by evolution instead of fast marching.
#[test]
fn distances_by_evolution_carry_a_drop_as_well() {
    let mut model = FluidModel::new(square(64, 1.0, [[Side::slip(); 2]; 2]), Liquid::new("water", 1000.0));
    model.free_surface = true;
    model.gravity[1] = -9.81;
    model.options.surface.redistancing = crate::Redistancing::Evolution { iterations: 10 };
    let mut state = FluidState::at_rest(&model);
    state.set_liquid(&model, 0, |x| (x - Vector::from([0.5, 0.7])).norm() - 0.15).unwrap();
    let mut stepper = FluidStepper::new(&model).unwrap();
    stepper.initialise(&model, &mut state).unwrap();
    let before = stepper.diagnostics(&model, &state).volumes[0];
    for _ in 0..40 {
        stepper.step(&model, &mut state, 0.005, None).unwrap();
    }
    let after = stepper.diagnostics(&model, &state).volumes[0];
    assert!((after / before - 1.0).abs() < 0.01, "{before} {after}");
    assert!((state.velocity.component(1).at([32, 32]) + 9.81 * 0.2).abs() < 0.02);
}
