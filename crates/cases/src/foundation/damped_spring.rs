//! Two masses joined by a damped spring, in free flight. The centre of mass follows the parabola; the stretch `s` obeys
//! `m_r s'' + k_d s' + k s = 0`, so for the damping ratio `zeta < 1`
//! `s(t) = e^{-zeta w t} (s0 cos(w_d t) + (v0 + zeta w s0)/w_d sin(w_d t))`, `w = sqrt(k/m_r)`, `w_d = w sqrt(1 - zeta^2)`.
//! The scheme treats elasticity explicitly and damping implicitly through the coupled system, and is of second order in both.
//!
//! Source: exact solution; spec/deformable-solids.md 3.12 and 3.14 (scheme B).

use crate::{Case, CaseError, Measurements, Plot, Scale, Series, Speed};
use splashdown_couple::World;
use splashdown_deformable::{Particles, Spring};
use splashdown_math::{Dim, Space, Vector};

pub(super) const CASE: Case = Case {
    name: "foundation/damped-spring",
    spec: "T12 (deformable-solids)",
    summary: "two masses on a damped spring through the coupled solve: exact decay at second order, momentum to round-off, stable when overdamped",
    source: "exact: damped harmonic oscillator",
    speed: Speed::Fast,
    seconds: 0.2,
    run,
};

const MASSES: [f64; 2] = [0.5, 1.5];
const STIFFNESS: f64 = 30.0;
const END: f64 = 1.0;

fn world<const D: usize>(damping_ratio: f64, stretch: f64) -> Result<World<D>, CaseError>
where
    Dim<D>: Space<D>,
{
    let mut world = World::new(Vector::from_fn(|axis, _| if axis == 1 { -9.81 } else { 0.0 }))
        .map_err(|error| CaseError::new("building the world", error))?;
    let particles = Particles { mass: MASSES.to_vec(), pinned: vec![false; 2] };
    let spring = Spring::with_damping_ratio([0, 1], STIFFNESS, damping_ratio, 1.0, &particles);
    let direction = Vector::<D>::from_fn(|axis, _| [0.6, 0.8, 0.0][axis]);
    let positions = [Vector::zeros(), direction * (1.0 + stretch)];
    let velocity = Vector::from_fn(|axis, _| 0.3 + axis as f64);
    world
        .add_deformable("dumbbell", particles, &[spring], &positions, &[velocity; 2])
        .map_err(|error| CaseError::new("adding the spring", error))?;
    Ok(world)
}

fn stretch_after<const D: usize>(damping_ratio: f64, steps: u32) -> Result<(f64, World<D>), CaseError>
where
    Dim<D>: Space<D>,
{
    let mut world = world::<D>(damping_ratio, 0.2)?;
    for _ in 0..steps {
        world.step(END / f64::from(steps)).map_err(|error| CaseError::new("stepping", error))?;
    }
    let x = &world.state().particles.position;
    Ok(((x[1] - x[0]).norm() - 1.0, world))
}

fn exact_stretch(zeta: f64) -> f64 {
    let w = (STIFFNESS * (1.0 / MASSES[0] + 1.0 / MASSES[1])).sqrt();
    let wd = w * (1.0 - zeta * zeta).sqrt();
    0.2 * (-zeta * w * END).exp() * ((wd * END).cos() + zeta * w / wd * (wd * END).sin())
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    dimension::<2>(out)?;
    dimension::<3>(out)
}

fn dimension<const D: usize>(out: &mut Measurements) -> Result<(), CaseError>
where
    Dim<D>: Space<D>,
{
    let mut series = Vec::new();
    for zeta in [0.0, 0.1, 0.5] {
        let exact = exact_stretch(zeta);
        let mut points = Vec::new();
        for steps in [100, 200, 400, 800] {
            points.push([END / f64::from(steps), (stretch_after::<D>(zeta, steps)?.0 - exact).abs()]);
        }
        let order = (points[1][1] / points[3][1]).log2() / 2.0;
        let resolution = format!("{D}D, dt = 1/200 ... 1/800 s");
        out.near(
            &format!("order of the stretch, damping ratio {zeta}"),
            &resolution,
            order,
            2.0,
            0.1,
            CASE.source,
        );
        series.push(Series { label: format!("damping ratio {zeta}"), points, reference: false });
    }
    out.plot(Plot {
        title: format!("Stretch of a damped spring after 1 s, {D}D"),
        x: "step (s)".into(),
        y: "error (m)".into(),
        scale: Scale::LogLog,
        series,
    });

    let (_, world) = stretch_after::<D>(0.5, 100)?;
    let start = self::world::<D>(0.5, 0.2)?.diagnostics();
    let end = world.diagnostics();
    let expected =
        Vector::<D>::from_column_slice(&start.momentum) + world.model().gravity * (start.mass * END);
    let momentum = Vector::<D>::from_column_slice(&end.momentum);
    let resolution = format!("{D}D, dt = 1/100 s");
    out.at_most(
        "momentum error (relative)",
        &resolution,
        (momentum - expected).norm() / expected.norm(),
        1e-13,
        "exact: M g t",
    );
    let centre = |x: &[Vector<D>]| (x[0] * MASSES[0] + x[1] * MASSES[1]) / (MASSES[0] + MASSES[1]);
    let flown = centre(&world.state().particles.position)
        - centre(self::world::<D>(0.5, 0.2)?.state().particles.position.as_slice());
    let velocity = Vector::<D>::from_fn(|axis, _| 0.3 + axis as f64);
    let parabola = velocity * END + world.model().gravity * (0.5 * END * END);
    out.at_most(
        "centre of mass error (relative)",
        &resolution,
        (flown - parabola).norm() / parabola.norm(),
        1e-13,
        "exact: parabola",
    );

    // A thousand times critical damping: explicit damping would need dt < 1e-5 s; implicit damping only lets the stretch creep.
    let (stretch, world) = stretch_after::<D>(1000.0, 30)?;
    out.at_least(
        "stretch left at damping ratio 1000 (m)",
        &format!("{D}D, dt = 1/30 s"),
        stretch,
        0.19,
        "exact: e^{-w t/(2 zeta)}",
    );
    out.at_most(
        "stretch left at damping ratio 1000 (m)",
        &format!("{D}D, dt = 1/30 s"),
        stretch,
        0.2,
        "exact: e^{-w t/(2 zeta)}",
    );
    let spread = (world.state().particles.velocity[1] - world.state().particles.velocity[0]).norm();
    out.at_most(
        "relative speed at damping ratio 1000 (m/s)",
        &format!("{D}D, dt = 1/30 s"),
        spread,
        0.1,
        "exact: near zero",
    );
    Ok(())
}
