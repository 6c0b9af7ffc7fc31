//! What acts on a body besides gravity. A constant force moves it by `F t^2 / 2m`, a torque turns a ball with `tau t / I`; drag of `c` a second ends a fall at the speed `g / c`,
//! which is reached as `g/c (1 - e^{-c t})`, and stops it in a step where `c dt` is large.
//!
//! Source: exact; spec/rigid-bodies.md 3.20.

use super::support::failed;
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_rigid::{Body, Kind, Load};

pub(super) const CASE: Case = Case {
    name: "rigid/loads",
    spec: "section 3.20 (rigid-bodies)",
    summary: "constant forces and torques move a body as they should, drag ends its fall at the terminal speed",
    source: "exact",
    speed: Speed::Fast,
    seconds: 0.05,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    measure::<2>(out)?;
    measure::<3>(out)
}

/// A ball of 2 kg and 0.5 kg m^2 with a load, after `seconds` in steps of `dt`: displacement and motion.
fn after<const D: usize>(
    gravity: f64,
    load: Load<D>,
    dt: f64,
    seconds: f64,
) -> Result<(Vector<D>, Twist<D>), CaseError>
where
    Dim<D>: Space<D>,
{
    let down = Vector::from_fn(|a, _| if a == 1 { -gravity } else { 0.0 });
    let mut world = World::<D>::new(down).map_err(failed("building the world"))?;
    let body = Body::new("ball", Kind::Dynamic, 2.0, &[0.5; 3][..<Dim<D> as Space<D>>::SPIN])
        .map_err(failed("building a body"))?;
    world.add_body(body.load(load), Frame::identity(), Twist::zero());
    for _ in 0..(seconds / dt).round() as usize {
        world.step(dt).map_err(failed("stepping"))?;
    }
    let (model, state) = (world.model(), &world.state().bodies[0]);
    Ok((state.frame.position, state.twist(&model.bodies[0])))
}

fn measure<const D: usize>(out: &mut Measurements) -> Result<(), CaseError>
where
    Dim<D>: Space<D>,
{
    let resolution = format!("{D}D, dt = 0.1 s");
    let along = Vector::from_fn(|a, _| if a == 0 { 3.0 } else { 0.0 });
    let torque = Spin::<D>::from_slice(&[0.2; 3][..Spin::<D>::LEN]);
    let load = Load { force: along, torque, ..Load::default() };
    let (way, twist) = after::<D>(0.0, load, 0.1, 2.0)?;
    out.near("force of 3 N on 2 kg: way in 2 s (m)", &resolution, way[0], 3.0, 1e-12, CASE.source);
    let spin = (twist.angular - torque * (2.0 / 0.5)).norm();
    out.at_most("torque on a ball: error of its spin (rad/s)", &resolution, spin, 1e-12, CASE.source);
    let drag = Load::<D> { drag: 2.0, spin_drag: 1.5, torque, ..Load::default() };
    // Speed and spin on their way to g / c and tau / (c I), at 0.5 s.
    let exact = 9.81 / 2.0 * (1.0 - f64::exp(-1.0));
    let turning = 0.2 / (0.5 * 1.5) * (1.0 - f64::exp(-0.75));
    let fallen = 9.81 / 2.0 * (0.5 - 0.5 * (1.0 - f64::exp(-1.0)));
    let mut way_error = |dt: f64| -> Result<f64, CaseError> {
        let (way, twist) = after::<D>(9.81, drag, dt, 0.5)?;
        let first = Spin::<D>::from_slice(&[1.0, 0.0, 0.0][..Spin::<D>::LEN]);
        let worst = (-twist.linear[1] - exact).abs().max((twist.angular.dot(&first) - turning).abs());
        out.at_most(
            "speed and spin under drag: error",
            &format!("{D}D, dt = {dt} s"),
            worst,
            1e-12,
            CASE.source,
        );
        Ok((-way[1] - fallen).abs())
    };
    let order = (way_error(0.05)? / way_error(0.025)?).log2();
    out.near("way under drag: order", &format!("{D}D, dt = 1/20 and 1/40 s"), order, 2.0, 0.1, CASE.source);
    let heavy = Load::<D> { drag: 1e6, ..Load::default() };
    let (way, twist) = after::<D>(9.81, heavy, 0.1, 1.0)?;
    out.at_most("way through syrup in 1 s (m)", &resolution, way.norm(), 1e-4, CASE.source);
    let quantity = "speed in syrup (m/s)";
    out.near(quantity, &resolution, twist.linear.norm(), 9.81e-6, 1e-12, CASE.source);
    Ok(())
}
