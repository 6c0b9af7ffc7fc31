//! Whole steps with what is chosen less often: periodic sides with surfaces and shells, unequal cells, regions, gas that is made, tensions of pairs, kept rows.

use super::*;
use crate::domain::{Domain, Side};
use crate::model::{Liquid, PairTension, SmokeModel, Source, SourceKind};
use crate::obstacle::{Motion, Obstacle};
use splashdown_geometry::grid::Grid;
use splashdown_geometry::mesh::Mesh;
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Frame, Twist, Vector};

fn square(n: usize, sides: [[Side<2>; 2]; 2]) -> Domain<2> {
    Domain::new(Grid::new(Vector::zeros(), Vector::repeat(1.0 / n as f64), [n, n]).unwrap(), sides).unwrap()
}

fn start<const D: usize>(model: &FluidModel<D>, state: &mut FluidState<D>) -> FluidStepper<D>
where
    Dim<D>: Space<D>,
{
    let mut stepper = FluidStepper::new(model).unwrap();
    stepper.initialise(model, state).unwrap();
    stepper
}

/// A drop of a liquid that rotates and drifts through a periodic side is the same as one that stays away from it: the surface and its distance, the velocity that is
/// continued into the air, and the pressure know nothing of where the box begins.
#[test]
fn a_drop_goes_through_a_periodic_side_unharmed() {
    let n = 32;
    let mut model = FluidModel::new(square(n, [[Side::Periodic; 2]; 2]), Liquid::new("water", 1000.0));
    model.free_surface = true;
    model.options.surface.particles = None;
    model.options.pressure.divergence = 1e-12;
    model.options.pressure.relative = 1e-10;
    let run = |x0: f64| {
        let mut state = FluidState::at_rest(&model);
        let centre = Vector::from([x0, 0.5]);
        state.set_liquid(&model, 0, |x| model.domain.arm(&centre, x).norm() - 0.2).unwrap();
        state.set_velocity(&model, |x| {
            let arm = model.domain.arm(&centre, x);
            Vector::from([1.0 - arm[1], arm[0]])
        });
        let mut stepper = start(&model, &mut state);
        for _ in 0..16 {
            stepper.step(&model, &mut state, 0.015, None).unwrap();
        }
        state
    };
    // Shifted by 12 cells: one is in the middle at the end, the other across the side.
    let (inner, outer) = (run(0.3), run(0.3 + 12.0 / n as f64 + 0.25));
    let shift = 12 + n as isize / 4;
    let wrapped = |i: isize| (i + shift).rem_euclid(n as isize);
    let h = 1.0 / n as f64;
    for cell in inner.pressure.lattice().indices() {
        let image = [wrapped(cell[0]), cell[1]];
        let (a, b) = (inner.liquids[0].phi.at(cell), outer.liquids[0].phi.at(image));
        // The order in which equal distances are reached is not that of the other.
        assert!((a - b).abs() < 1e-6 * h || a.abs() > 3.0 * h, "{cell:?}: {a} {b}");
        let (u, v) = (inner.velocity.component(1).at(cell), outer.velocity.component(1).at(image));
        assert!((u - v).abs() < 1e-5 || a > 2.0 * h, "{cell:?}: {u} {v}");
    }
}

/// A closed box without thickness goes around a periodic axis, through its side, and keeps what it holds.
#[test]
fn a_shell_goes_through_a_periodic_side_and_does_not_leak() {
    let n = 24;
    let mut model =
        FluidModel::new(square(n, [[Side::Periodic; 2], [Side::slip(); 2]]), Liquid::new("air", 1.0));
    model.smoke = Some(SmokeModel { weight: 0.0, lift: 0.0, ..Default::default() });
    let corner = |x: f64, y: f64| Vector::from([0.21 * x, 0.21 * y]);
    let mesh = Mesh {
        points: vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)],
        elements: vec![[0, 1], [1, 2], [2, 3], [3, 0]],
    };
    let twist = Twist { linear: Vector::from([0.5, 0.0]), angular: Vector::from([0.4]) };
    let frame = Frame { position: Vector::from([0.6, 0.49]), ..Frame::identity() };
    model.shells.push(Shell { name: "box".into(), mesh, start: frame, motion: Motion::Steady(twist) });
    let is_inside = |time: f64, x: &Vector<2>| {
        let frame = frame.moved(&twist, time);
        let nearest = frame.position + model.domain.arm(&frame.position, x);
        frame.to_object(&nearest).amax() < 0.21
    };
    let mut state = FluidState::at_rest(&model);
    let lattice = *state.pressure.lattice();
    let smoke = |state: &mut FluidState<2>| {
        let density = &mut state.smoke.as_mut().unwrap().density;
        density.update(|cell, _| f64::from(u8::from(is_inside(0.0, &lattice.position(cell)))));
    };
    smoke(&mut state);
    let mut stepper = start(&model, &mut state);
    let before = stepper.diagnostics(&model, &state).smoke;
    for step in 0..60 {
        stepper.step(&model, &mut state, 0.04, None).unwrap();
        let density = &state.smoke.as_ref().unwrap().density;
        for cell in lattice.indices() {
            if !is_inside(state.time, &lattice.position(cell)) {
                assert!(density.at(cell) == 0.0, "step {step}, {cell:?}: {}", density.at(cell));
            }
        }
    }
    // Once around and more.
    assert!(state.time * 0.5 > 1.1);
    let after = stepper.diagnostics(&model, &state);
    assert!(after.smoke > 0.5 * before, "{before} {}", after.smoke);
    assert_eq!(after.region_count, 2);
}

/// Cells that are not cubes: water at rest stays so, and a drop falls as it must.
#[test]
fn cells_may_have_unequal_edges() {
    let grid = Grid::<2>::new(Vector::zeros(), Vector::from([0.1, 0.04]), [10, 25]).unwrap();
    let mut model =
        FluidModel::new(Domain::new(grid, [[Side::slip(); 2]; 2]).unwrap(), Liquid::new("water", 1000.0));
    model.free_surface = true;
    model.gravity[1] = -9.81;
    model.options.pressure.divergence = 1e-15;
    model.options.pressure.relative = 1e-14;
    let mut state = FluidState::at_rest(&model);
    state.set_liquid(&model, 0, |x| x[1] - 0.6137).unwrap();
    let mut stepper = start(&model, &mut state);
    for _ in 0..20 {
        stepper.step(&model, &mut state, 0.01, None).unwrap();
    }
    assert!(stepper.diagnostics(&model, &state).max_speed < 1e-11);
    let exact = 1000.0 * 9.81 * (0.6137 - 4.5 * 0.04);
    assert!((state.pressure.at([3, 4]) / exact - 1.0).abs() < 1e-9);

    let grid = Grid::<3>::new(Vector::zeros(), Vector::from([0.05, 0.04, 0.0625]), [20, 25, 16]).unwrap();
    let mut model =
        FluidModel::new(Domain::new(grid, [[Side::slip(); 2]; 3]).unwrap(), Liquid::new("water", 1000.0));
    model.free_surface = true;
    model.gravity[1] = -9.81;
    let mut state = FluidState::at_rest(&model);
    state.set_liquid(&model, 0, |x| (x - Vector::from([0.5, 0.65, 0.5])).norm() - 0.25).unwrap();
    let mut stepper = start(&model, &mut state);
    let before = stepper.diagnostics(&model, &state).volumes[0];
    for _ in 0..15 {
        stepper.step(&model, &mut state, 0.01, None).unwrap();
    }
    let after = stepper.diagnostics(&model, &state).volumes[0];
    assert!((after / before - 1.0).abs() < 0.02, "{before} {after}");
    assert!((state.velocity.component(1).at([10, 14, 8]) + 9.81 * 0.15).abs() < 0.02);
}

/// Water that leaves a ceiling: what opens the walls is in the state, so that a new stepper goes on to the bit, with a surface between a wall and the next centre too.
#[test]
fn water_that_leaves_a_ceiling_goes_on_to_the_bit() {
    let mut model = FluidModel::new(square(16, [[Side::slip(); 2]; 2]), Liquid::new("water", 1000.0));
    model.free_surface = true;
    model.gravity[1] = -10.0;
    model.options.surface.wetting.separation = true;
    let mut state = FluidState::at_rest(&model);
    state.set_liquid(&model, 0, |x| 0.71 - x[1] + 0.1 * (6.0 * x[0]).sin()).unwrap();
    let mut stepper = start(&model, &mut state);
    let mut copy = None;
    for step in 0..30 {
        if step == 9 {
            copy = Some(state.clone());
        }
        stepper.step(&model, &mut state, 0.005, None).unwrap();
    }
    let mut copy = copy.unwrap();
    let mut fresh = FluidStepper::new(&model).unwrap();
    for _ in 9..30 {
        fresh.step(&model, &mut copy, 0.005, None).unwrap();
    }
    assert_eq!(state, copy);
    // Without the option it hangs there.
    assert!(state.velocity.component(1).at([8, 10]) < -1.2);
    assert!(state.liquids[0].phi.at([8, 15]) > 0.0);
}

/// However rough the walls of a channel are, they stop the water along them, also where two of them meet; they never turn it back.
#[test]
fn friction_stops_and_does_not_reverse() {
    let grid = Grid::<3>::new(Vector::zeros(), Vector::repeat(0.1), [6, 6, 6]).unwrap();
    let sides = [[Side::Periodic; 2], [Side::slip(); 2], [Side::slip(); 2]];
    let mut model = FluidModel::new(Domain::new(grid, sides).unwrap(), Liquid::new("water", 1000.0));
    model.free_surface = true;
    model.gravity[1] = -10.0;
    model.options.surface.wetting.friction = 1000.0;
    model.options.surface.particles = None;
    let mut state = FluidState::at_rest(&model);
    state.set_velocity(&model, |_| Vector::from([1.0, 0.0, 0.0]));
    state.set_liquid(&model, 0, |x| x[1] - 0.42).unwrap();
    let mut stepper = start(&model, &mut state);
    let mut last = f64::INFINITY;
    for _ in 0..6 {
        stepper.step(&model, &mut state, 0.01, None).unwrap();
        let momentum = stepper.diagnostics(&model, &state).momentum[0];
        assert!(momentum <= last * (1.0 + 1e-9), "{momentum} {last}");
        last = momentum;
        let along = state.velocity.component(0);
        // Up to what transport overshoots.
        assert!(along.lattice().indices().all(|face| along.at(face) > -0.02));
    }
    assert!(state.velocity.component(0).at([2, 0, 0]).abs() < 0.02);
    assert!(state.velocity.component(0).at([2, 2, 2]) > 0.9);
}

/// Still water stays still over a solid, however little of it is above.
#[test]
fn water_over_a_solid_is_still() {
    for height in [0.44, 0.46, 0.48, 0.52, 0.555] {
        let mut model = FluidModel::new(square(20, [[Side::slip(); 2]; 2]), Liquid::new("water", 1000.0));
        model.free_surface = true;
        model.gravity[1] = -9.81;
        let ball = Shape::ball(0.15).unwrap().translated(Vector::from([0.5, height])).unwrap();
        model.obstacles.push(Obstacle::fixed("ball", ball));
        let mut state = FluidState::at_rest(&model);
        state.set_liquid(&model, 0, |x| x[1] - 0.7185).unwrap();
        let mut stepper = start(&model, &mut state);
        for _ in 0..30 {
            stepper.step(&model, &mut state, 0.01, None).unwrap();
        }
        let speed = stepper.diagnostics(&model, &state).max_speed;
        assert!(speed < 1e-10, "{height}: {speed}");
    }
}

/// Two tanks on the two sides of a sheet: each is a region of its own with its own volume, and both together are the liquid.
#[test]
fn regions_are_told_apart_with_their_volumes() {
    let mut model = FluidModel::new(square(20, [[Side::slip(); 2]; 2]), Liquid::new("water", 1000.0));
    model.free_surface = true;
    model.gravity[1] = -9.81;
    let sheet =
        Mesh { points: vec![Vector::from([0.31, -0.5]), Vector::from([0.31, 1.5])], elements: vec![[0, 1]] };
    model.shells.push(Shell::fixed("sheet", sheet));
    let mut state = FluidState::at_rest(&model);
    // Full to the brim on the left, less than half on the right.
    state.set_liquid(&model, 0, |x| if x[0] < 0.31 { -0.3 } else { x[1] - 0.42 }).unwrap();
    let mut stepper = start(&model, &mut state);
    let found = stepper.diagnostics(&model, &state);
    assert_eq!(found.region_count, 2);
    let [large, small] = [found.regions[0], found.regions[1]];
    // The sheet is where the faces are that it closes, at 0.3.
    assert!((large.volume - 0.3).abs() < 0.02 && (small.volume - 0.7 * 0.42).abs() < 0.02, "{found:?}");
    assert!(large.closed && !small.closed);
    assert!((large.volume + small.volume - found.volumes[0]).abs() < 1e-12);
    assert!(large.wall_flux.abs() < 1e-12);
    assert_eq!(large.cells, 6 * 20);
}

/// A source that makes gas: what it makes leaves through the outlet, and there is no divergence elsewhere.
#[test]
fn a_source_may_make_volume() {
    let n = 24;
    let sides = [[Side::slip(); 2], [Side::slip(), Side::open()]];
    let mut model = FluidModel::new(square(n, sides), Liquid::new("air", 1.2));
    let region = Shape::cuboid(Vector::repeat(0.125)).unwrap().translated(Vector::from([0.5, 0.25])).unwrap();
    let source = Source::new(region, SourceKind::Stir).with_expansion(3.0);
    model.sources.push(Source { end: 0.15, ..source });
    model.options.pressure.divergence = 1e-11;
    let mut state = FluidState::at_rest(&model);
    let mut stepper = start(&model, &mut state);
    let outflow = |state: &FluidState<2>| {
        (0..n as isize).map(|i| state.velocity.component(1).at([i, n as isize])).sum::<f64>() / n as f64
    };
    stepper.step(&model, &mut state, 0.1, None).unwrap();
    assert!((outflow(&state) - 3.0 * 0.0625).abs() < 1e-9, "{}", outflow(&state));
    assert!(stepper.diagnostics(&model, &state).max_divergence * 0.1 < 1e-10);
    // And none when it has ended.
    stepper.step(&model, &mut state, 0.1, None).unwrap();
    assert!(outflow(&state).abs() < 1e-9);

    model.free_surface = true;
    assert!(model.check().is_err());
}

/// Drops of two liquids in a third, each with the tension of its own pair: `[p] = sigma / r`.
#[test]
fn pairs_of_liquids_have_their_own_tensions() {
    let n = 64;
    let mut model = FluidModel::new(square(n, [[Side::slip(); 2]; 2]), Liquid::new("a", 1.0));
    model.liquids.extend([Liquid::new("b", 1.0), Liquid::new("c", 1.0)]);
    model.options.surface.particles = None;
    model.options.surface.tension = 9.0;
    model.tensions = vec![
        PairTension { liquid: 0, other: Some(2), tension: 0.1 },
        PairTension { liquid: 2, other: Some(1), tension: 0.3 },
    ];
    assert_eq!([model.tension_between(2, Some(0)), model.tension_between(1, Some(2))], [0.1, 0.3]);
    assert_eq!([model.tension_between(0, Some(1)), model.tension_between(0, None)], [9.0, 9.0]);
    let mut state = FluidState::at_rest(&model);
    let (one, other, r) = (Vector::from([0.27, 0.5]), Vector::from([0.73, 0.5]), 0.18);
    state.set_liquid(&model, 0, |x| (x - one).norm() - r).unwrap();
    state.set_liquid(&model, 1, |x| (x - other).norm() - r).unwrap();
    state.set_liquid(&model, 2, |x| r - (x - one).norm().min((x - other).norm())).unwrap();
    let mut stepper = start(&model, &mut state);
    stepper.step(&model, &mut state, 1e-3, None).unwrap();
    let at = |x: f64, y: f64| state.pressure.at(model.domain.grid().cell_of(&Vector::from([x, y])));
    let outside = at(0.5, 0.9);
    for (x, tension) in [(0.27, 0.1), (0.73, 0.3)] {
        let jump = at(x, 0.5) - outside;
        assert!((jump * r / tension - 1.0).abs() < 0.05, "{tension}: {jump}");
    }
    model.tensions[0].other = Some(0);
    assert!(model.check().is_err());
}

/// What a stepper keeps from step to step (viscous rows, their system, the pressure's hierarchy) never shows: a fresh one for each step gives the same bits, while a
/// viscous fluid is stirred by an obstacle that rests, moves and rests again, with steps of two lengths.
#[test]
fn what_a_stepper_keeps_does_not_show() {
    for second_order in [false, true] {
        let mut model = FluidModel::new(
            square(16, [[Side::wall(); 2]; 2]),
            Liquid { viscosity: 0.05, ..Liquid::new("oil", 1.0) },
        );
        if second_order {
            model.options.viscous_step = ViscousStep::CrankNicolson;
            model.options.scheme = TimeScheme::Reflection;
        }
        model.sources.push(Source {
            start: 0.04,
            end: 0.1,
            ..Source::new(
                Shape::ball(0.1).unwrap().translated(Vector::from([0.3, 0.3])).unwrap(),
                SourceKind::Stir,
            )
            .with_velocity(Vector::from([0.7, 0.1]))
        });
        let ball = Shape::ball(0.12).unwrap();
        let frame = Frame { position: Vector::from([0.6, 0.6]), ..Frame::identity() };
        let mut obstacle = Obstacle { start: frame, ..Obstacle::fixed("ball", ball) };
        obstacle.motion = Motion::External;
        model.obstacles.push(obstacle);
        let start_state = {
            let mut state = FluidState::at_rest(&model);
            state.set_velocity(&model, |x| Vector::from([x[1].sin(), x[0].cos()]));
            start(&model, &mut state);
            state
        };
        let (mut kept, mut fresh) = (start_state.clone(), start_state);
        let mut stepper = FluidStepper::new(&model).unwrap();
        for step in 0..10u8 {
            let mut placement = Placement::at_rest(frame);
            if (3..6).contains(&step) {
                placement.twist.linear = Vector::from([0.4, 0.0]);
            }
            let dt = if step < 7 { 0.02 } else { 0.03 };
            stepper.step(&model, &mut kept, dt, Some(&[placement])).unwrap();
            FluidStepper::new(&model).unwrap().step(&model, &mut fresh, dt, Some(&[placement])).unwrap();
            assert_eq!(kept, fresh, "{step}");
        }
        // Another viscosity is not that of the rows that were kept.
        model.liquids[0].viscosity = 0.5;
        let placement = Placement::at_rest(frame);
        stepper.step(&model, &mut kept, 0.03, Some(&[placement])).unwrap();
        FluidStepper::new(&model).unwrap().step(&model, &mut fresh, 0.03, Some(&[placement])).unwrap();
        assert_eq!(kept, fresh);
    }
}
