//! Free flight. Under gravity alone a body's centre follows `x0 + v0 t + g t^2/2` exactly, which the two half-step velocities reproduce for any step;
//! its angular momentum does not change at all, and the energy fix keeps the rotational energy. A sphere or a cube turns at constant spin, so its
//! orientation is `exp(t omega) R0`; a general box is of second order.
//!
//! Source: exact solution; spec/rigid-bodies.md 3.5-3.7, rows A1 and A3.

use crate::{Case, CaseError, Measurements, Plot, Scale, Series, Speed};
use splashdown_couple::World;
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_rigid::{Body, Kind};

pub(super) const CASE: Case = Case {
    name: "foundation/free-flight",
    spec: "A1, A3 (rigid-bodies)",
    summary: "spheres and boxes in free flight: parabola, angular momentum and energy exact, orientation of second order",
    source: "exact: x0 + v0 t + g t^2/2, L constant, R = exp(t omega) R0",
    speed: Speed::Fast,
    seconds: 0.1,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    flight::<2>(out)?;
    flight::<3>(out)?;
    orientation_order(out)
}

/// Gravity down the second axis (m/s^2).
fn gravity<const D: usize>() -> Vector<D> {
    Vector::from_fn(|axis, _| if axis == 1 { -9.81 } else { 0.0 })
}

/// A sphere and a box fly for 2 s in 60 steps; errors are relative to the distance flown and to the initial energy.
fn flight<const D: usize>(out: &mut Measurements) -> Result<(), CaseError>
where
    Dim<D>: Space<D>,
{
    let mut world =
        World::<D>::new(gravity()).map_err(|error| CaseError::new("building the world", error))?;
    let edges = Vector::<D>::from_fn(|axis, _| [0.3, 0.1, 0.2][axis]);
    let moments = [
        vec![<Dim<D> as Space<D>>::BALL_INERTIA * 0.01; <Dim<D> as Space<D>>::SPIN],
        Dim::box_inertia(&edges),
    ];
    let velocity = Vector::from_fn(|axis, _| [3.0, 8.0, -1.0][axis]);
    let spin = Spin::<D>::from_slice(&[11.0, -7.0, 5.0]);
    for (name, moments) in ["sphere", "box"].into_iter().zip(&moments) {
        let body = Body::new(name, Kind::Dynamic, 2.0, moments)
            .map_err(|error| CaseError::new("building a body", error))?;
        world.add_body(body, Frame::identity(), Twist { linear: velocity, angular: spin });
    }
    let start = world.diagnostics();
    let momenta: Vec<_> = world.state().bodies.iter().map(|body| body.angular_momentum).collect();
    let (steps, end) = (60, 2.0);
    for _ in 0..steps {
        world.step(end / f64::from(steps)).map_err(|error| CaseError::new("stepping", error))?;
    }
    let resolution = format!("{D}D, dt = 1/30 s");
    let exact = velocity * end + gravity::<D>() * (0.5 * end * end);
    for (index, name) in ["sphere", "box"].into_iter().enumerate() {
        let body = &world.state().bodies[index];
        // 60 additions of rounded terms: far below 1e-13 of the path.
        let error = (body.frame.position - exact).norm() / exact.norm();
        out.at_most(&format!("{name}: position error / distance"), &resolution, error, 1e-13, CASE.source);
        let changed = f64::from(u8::from(body.angular_momentum != momenta[index]));
        out.at_most(
            &format!("{name}: angular momentum changed (1 = yes)"),
            &resolution,
            changed,
            0.0,
            CASE.source,
        );
    }
    let turned = Dim::<D>::to_matrix(&Dim::exp(&(spin * end)));
    let sphere = Dim::<D>::to_matrix(&world.state().bodies[0].frame.rotation);
    // Each of 60 compositions and renormalisations rounds the rotation by a few units in the last place.
    out.at_most("sphere: orientation error", &resolution, (sphere - turned).norm(), 1e-12, CASE.source);
    let drift = (world.diagnostics().total_energy - start.total_energy).abs() / start.kinetic_energy;
    out.at_most("energy drift / initial kinetic energy", &resolution, drift, 1e-12, CASE.source);
    Ok(())
}

/// A torque-free body with moments (1, 2, 3): halving the step must divide the orientation error by four.
fn orientation_order(out: &mut Measurements) -> Result<(), CaseError> {
    let fly = |steps: u32| -> Result<_, CaseError> {
        let mut world =
            World::<3>::new(Vector::zeros()).map_err(|error| CaseError::new("building the world", error))?;
        let body = Body::new("racket", Kind::Dynamic, 1.0, &[1.0, 2.0, 3.0])
            .map_err(|error| CaseError::new("building a body", error))?;
        let twist = Twist { linear: Vector::zeros(), angular: Vector::from([1.0, 2.0, 0.5]) };
        world.add_body(body, Frame::identity(), twist);
        for _ in 0..steps {
            world.step(1.0 / f64::from(steps)).map_err(|error| CaseError::new("stepping", error))?;
        }
        Ok(Dim::<3>::to_matrix(&world.state().bodies[0].frame.rotation))
    };
    let exact = fly(20_480)?;
    let mut points = Vec::new();
    for steps in [20, 40, 80, 160, 320] {
        points.push([1.0 / f64::from(steps), (fly(steps)? - exact).norm()]);
    }
    let order = (points[1][1] / points[4][1]).log2() / 3.0;
    out.near(
        "order of the orientation",
        "dt = 1/40 ... 1/320 s",
        order,
        2.0,
        0.1,
        "spec/rigid-bodies.md, row A1",
    );
    let second = points.iter().map(|p| [p[0], points[0][1] * (p[0] / points[0][0]).powi(2)]).collect();
    out.plot(Plot {
        title: "Orientation of a torque-free body".into(),
        x: "step (s)".into(),
        y: "error of the rotation matrix".into(),
        scale: Scale::LogLog,
        series: vec![
            Series { label: "ours".into(), points, reference: false },
            Series { label: "second order".into(), points: second, reference: true },
        ],
    });
    Ok(())
}
