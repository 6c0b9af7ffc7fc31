//! Free rotation against the numbers of spec/rigid-bodies.md 5.2, rows A1, A3 and A4.

use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::{Body, BodyState, Kind, OrientationOrder};

const ORDERS: [OrientationOrder; 3] =
    [OrientationOrder::First, OrientationOrder::Second, OrientationOrder::Third];

fn body(moments: [f64; 3]) -> Body<3> {
    Body::new("body", Kind::Dynamic, 1.0, &moments).unwrap()
}

fn spinning(body: &Body<3>, rotation_vector: [f64; 3], body_spin: [f64; 3]) -> BodyState<3> {
    let frame = Frame { position: Vector::zeros(), rotation: Dim::<3>::exp(&Vector::from(rotation_vector)) };
    let angular = Dim::<3>::rotate_spin(&frame.rotation, &Vector::from(body_spin));
    BodyState::new(body, frame, &Twist { linear: Vector::zeros(), angular })
}

fn run(
    body: &Body<3>,
    mut state: BodyState<3>,
    steps: usize,
    order: OrientationOrder,
    fix: bool,
) -> BodyState<3> {
    let dt = 1.0 / steps as f64;
    for _ in 0..steps {
        state.frame = body.evolve(&state.frame, &state.velocity, &state.angular_momentum, dt, order, fix);
    }
    state
}

#[test]
fn orientation_converges_at_its_order_with_and_without_the_energy_fix() {
    let body = body([1.0, 2.0, 3.0]);
    let start = spinning(&body, [0.4, -1.2, 0.7], [1.0, 2.0, 0.5]);
    let exact =
        Dim::<3>::to_matrix(&run(&body, start, 20_000, OrientationOrder::Third, false).frame.rotation);
    for (index, order) in ORDERS.into_iter().enumerate() {
        for fix in [false, true] {
            let errors = [80, 160, 320].map(|steps| {
                (Dim::<3>::to_matrix(&run(&body, start, steps, order, fix).frame.rotation) - exact).norm()
            });
            let measured = (errors[0] / errors[2]).log2() / 2.0;
            assert!(
                (measured - (index + 1) as f64).abs() < 0.1,
                "order {order:?}, fix {fix}: {measured} from {errors:?}"
            );
        }
    }
}

#[test]
fn fast_shard_gains_the_energy_the_text_says_without_the_fix_and_none_with_it() {
    let moment = |a: f64, b: f64| (a * a + b * b) / 12.0;
    let body = body([moment(0.05, 0.05), moment(1.0, 0.05), moment(1.0, 0.05)]);
    let start = spinning(&body, [0.0; 3], [60.0, 20.0, 20.0]);
    for (order, ratio) in ORDERS.into_iter().zip([76.862, 19.723, 1.274]) {
        let step = |fix| {
            let mut moved = start;
            moved.frame =
                body.evolve(&start.frame, &start.velocity, &start.angular_momentum, 1.0 / 30.0, order, fix);
            moved.kinetic_energy(&body) / start.kinetic_energy(&body)
        };
        assert!((step(false) - ratio).abs() < 1e-3, "{order:?}: {}", step(false));
        assert!((step(true) - 1.0).abs() < 1e-12, "{order:?} with fix: {}", step(true));
    }
}

#[test]
fn energy_fix_reaches_round_off_for_random_bodies_spins_and_steps() {
    let mut random = Pcg64Mcg::new(7);
    let mut worst = 0.0f64;
    for case in 0..30_000 {
        let mut log_uniform = |low: f64, high: f64| 10f64.powf(random.random_range(low..high));
        let mut moments = [log_uniform(-4.0, 0.0), log_uniform(-4.0, 0.0), log_uniform(-4.0, 0.0)];
        if case % 10 == 0 {
            moments = [moments[0]; 3];
        }
        let dt = log_uniform(-4.0, 0.0);
        let speed = log_uniform(-2.0, 2.3);
        let mut spin = [0, 1, 2].map(|_| speed * random.random_range(-1.0..1.0f64));
        if case % 7 == 0 {
            spin = [spin[0], 0.0, 0.0];
        }
        let turn = [0, 1, 2].map(|_| random.random_range(-3.0..3.0f64));
        let body = body(moments);
        let start = spinning(&body, turn, spin);
        let mut moved = start;
        moved.frame =
            body.evolve(&start.frame, &start.velocity, &start.angular_momentum, dt, ORDERS[case % 3], true);
        let energy = start.kinetic_energy(&body);
        worst = worst.max((moved.kinetic_energy(&body) - energy).abs() / energy);
    }
    assert!(worst <= 1e-11, "worst relative energy error {worst:e}");
}

#[test]
fn plane_rotation_is_exact_in_one_step() {
    let body = Body::<2>::new("disc", Kind::Dynamic, 2.0, &[0.5]).unwrap();
    let start = BodyState::new(
        &body,
        Frame::identity(),
        &Twist { linear: Vector::zeros(), angular: Vector::from([1.5]) },
    );
    let moved = body.evolve(
        &start.frame,
        &start.velocity,
        &start.angular_momentum,
        2.0,
        OrientationOrder::Second,
        true,
    );
    assert!((Dim::<2>::log(&moved.rotation).x - 3.0).abs() < 1e-14);
}

#[test]
fn impossible_mass_properties_are_refused_by_name() {
    for (mass, moments) in [
        (0.0, [1.0; 3]),
        (-1.0, [1.0; 3]),
        (f64::NAN, [1.0; 3]),
        (1.0, [1.0, -2.0, 1.0]),
        (1.0, [f64::INFINITY; 3]),
    ] {
        let error = Body::<3>::new("anvil", Kind::Dynamic, mass, &moments).unwrap_err();
        assert!(error.to_string().contains("anvil"), "{error}");
    }
}

/// A cube has the same energy in any orientation, so what rounding makes of it is nothing to mend: it turned by up to a right angle in a step.
#[test]
fn bodies_of_equal_moments_turn_by_their_spin_alone() {
    let mut random = Pcg64Mcg::new(7);
    let mut farthest = 0.0f64;
    for case in 0..200_000 {
        let mut number = |least: f64, most: f64| random.random_range(least..most);
        let unequal = if case % 2 == 0 { 0.0 } else { 10f64.powf(number(-16.0, -4.0)) };
        let moment = 10f64.powf(number(-3.0, 3.0));
        let moments = [moment, moment * (1.0 + unequal), moment * (1.0 - unequal)];
        let body = body(moments);
        let turn = Vector::from([number(-3.0, 3.0), number(-3.0, 3.0), number(-3.0, 3.0)]);
        let frame = Frame { position: Vector::zeros(), rotation: Dim::<3>::exp(&turn) };
        let spin = Vector::from([number(-9.0, 9.0), number(-9.0, 9.0), number(-9.0, 9.0)]);
        let momentum = spin * moment;
        let dt = 1e-3;
        let moved = body.evolve(&frame, &Vector::zeros(), &momentum, dt, OrientationOrder::Second, true);
        let expected = Dim::<3>::compose(&Dim::<3>::exp(&(spin * dt)), &frame.rotation);
        let expected = Frame { position: Vector::zeros(), rotation: expected };
        let off = expected.twist_to(&moved, 1.0).angular.norm();
        farthest = farthest.max(off - 2.0 * unequal * spin.norm() * dt);
    }
    assert!(farthest < 1e-9, "{farthest} rad");
}
