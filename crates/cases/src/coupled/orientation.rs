//! A free body that turns, in the step: the orders 1, 2 and 3 of the update of its orientation, with the very errors of the specification.
//!
//! Source: spec/rigid-deformable-coupling.md 3.5, 5.2-D: moments (1, 2, 3.5), angular momentum (0.7, 1.1, -0.4), first orientation exp(0.3, -0.2, 0.5), 2 s in 80 steps.

use super::set_up::{failed, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_math::{Dim, Frame, Matrix, Space, Twist, Vector};
use splashdown_rigid::{Body, Kind, OrientationOrder};

pub(super) const CASE: Case = Case {
    name: "coupled/orientation",
    spec: "5.2-D (rigid-deformable-coupling), RDC-13",
    summary: "orders of the orientation update in the step, and their errors after 80 steps",
    source: "spec/rigid-deformable-coupling.md 3.5",
    speed: Speed::Fast,
    seconds: 0.5,
    run,
};

/// The rotation after 2 s in `steps` steps.
fn turn(order: OrientationOrder, steps: u32) -> Result<Matrix<3>, CaseError> {
    let mut world = world([0.0; 3])?;
    world.options_mut().orientation_order = order;
    world.options_mut().energy_fix = splashdown_rigid::EnergyFix::Off;
    let body = Body::new("top", Kind::Dynamic, 1.0, &[1.0, 2.0, 3.5]).map_err(failed("making a body"))?;
    let rotation = Dim::<3>::exp(&Vector::<3>::new(0.3, -0.2, 0.5));
    let frame = Frame { position: Vector::zeros(), rotation };
    let angular = body.spin_of(&frame, &Vector::<3>::new(0.7, 1.1, -0.4));
    world.add_body(body, frame, Twist { linear: Vector::zeros(), angular });
    for _ in 0..steps {
        step(&mut world, 2.0 / f64::from(steps))?;
    }
    Ok(Dim::<3>::to_matrix(&world.state().bodies[0].frame.rotation))
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let exact = turn(OrientationOrder::Third, 10240)?;
    let orders = [OrientationOrder::First, OrientationOrder::Second, OrientationOrder::Third];
    for (k, (order, error)) in orders.into_iter().zip([1.35e-2, 4.37e-5, 1.82e-7]).enumerate() {
        let [coarse, fine] = [(turn(order, 80)? - exact).norm(), (turn(order, 160)? - exact).norm()];
        let name = format!("order {}", k + 1);
        out.near(
            "error of the rotation (Frobenius), 80 steps",
            &name,
            coarse,
            error,
            0.01 * error,
            CASE.source,
        );
        let rate = (coarse / fine).log2();
        out.near("rate from 80 to 160 steps", &name, rate, (k + 1) as f64, 0.1, CASE.source);
    }
    Ok(())
}
