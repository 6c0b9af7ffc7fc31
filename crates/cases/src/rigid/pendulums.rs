//! Pendulums. A box that hangs from a point joint swings with the period of a compound pendulum; a double pendulum, which moves chaotically, keeps its energy; a
//! heavy top that spins fast precesses at `m g l / (I3 w3)`, more exactly at the slow root of `I1 cos(t) W^2 - I3 w3 W + m g l = 0`.
//!
//! Source: exact solutions; spec/rigid-bodies.md row A18.

use super::support::{add_box, advance, failed, gravity, joint, joint_error};
use crate::{Case, CaseError, Measurements, Plot, Scale, Series, Speed};
use splashdown_couple::World;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::{Body, JointKind, Kind};
use std::f64::consts::TAU;

pub(super) const CASE: Case = Case {
    name: "rigid/pendulums",
    spec: "A18 (rigid-bodies)",
    summary: "period of a pendulum, energy of a double pendulum, precession of a top",
    source: "exact: compound pendulum, conservation of energy, steady precession",
    speed: Speed::Fast,
    seconds: 1.0,
    run,
};

const G: f64 = 9.81;

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    for dt in [1.0 / 30.0, 1.0 / 240.0] {
        period::<2>(out, dt)?;
        period::<3>(out, dt)?;
    }
    double_pendulum(out)?;
    top(out)
}

/// Small swings of a box of 1 x 0.2 x 0.2 m about the middle of one end.
fn period<const D: usize>(out: &mut Measurements, dt: f64) -> Result<(), CaseError>
where
    Dim<D>: Space<D>,
{
    let mut world = World::<D>::new(gravity(G)).map_err(failed("building the world"))?;
    let (length, amplitude) = (0.5, 0.05f64);
    let edges = Vector::from_fn(|axis, _| if axis == 1 { 1.0 } else { 0.2 });
    let mut position = Vector::<D>::zeros();
    position[0] = length * amplitude.sin();
    position[1] = -length * amplitude.cos();
    let mut down = Vector::<D>::zeros();
    down[1] = -1.0;
    let frame = Frame { position, rotation: Dim::rotation_between(&down, &position) };
    let body = add_box(&mut world, "bob", Kind::Dynamic, 2.0, edges, (frame, Twist::zero()))?;
    let pin = joint(&world, JointKind::Point, [None, Some(body)], Vector::zeros(), None)?;
    world.add_joint(pin).map_err(failed("adding a joint"))?;
    // Moment about the pivot for mass 1; the first correction for the amplitude is amplitude^2 / 16.
    let moment = (1.0 + 0.04) / 12.0 + length * length;
    let exact = TAU * (moment / (G * length)).sqrt() * (1.0 + amplitude * amplitude / 16.0);
    let mut crossings = Vec::new();
    let mut before: f64 = position[0];
    let mut time = 0.0;
    while crossings.len() < 21 {
        advance(&mut world, 1, dt)?;
        let now = world.state().bodies[body].frame.position[0];
        if before * now < 0.0 {
            crossings.push(time + dt * before / (before - now));
        }
        (before, time) = (now, time + dt);
    }
    let measured = (crossings[20] - crossings[0]) / 10.0;
    let resolution = format!("{D}D, dt = 1/{:.0} s", 1.0 / dt);
    // The scheme is of second order: (w dt)^2 / 24 = 8e-4 at 1/30 s.
    let tolerance = (TAU / exact * dt).powi(2) / 24.0 * 1.3 + 1e-5;
    out.near("pendulum: period (s)", &resolution, measured, exact, tolerance * exact, CASE.source);
    out.at_most("pendulum: joint error (m)", &resolution, joint_error(&world), 1e-9, CASE.source);
    Ok(())
}

/// Two rods that start horizontally.
fn double_pendulum(out: &mut Measurements) -> Result<(), CaseError> {
    let mut series = Vec::new();
    for (dt, seconds) in [(1.0 / 240.0, 10.0), (1.0 / 960.0, 10.0)] {
        let mut world = World::<2>::new(gravity(G)).map_err(failed("building the world"))?;
        for n in 0..2 {
            let frame =
                Frame { position: Vector::from([n as f64 + 0.5, 0.0]), rotation: Dim::<2>::identity() };
            let edges = Vector::from([1.0, 0.1]);
            let body =
                add_box(&mut world, &format!("rod {n}"), Kind::Dynamic, 1.0, edges, (frame, Twist::zero()))?;
            let parent = if n == 0 { None } else { Some(body - 1) };
            let point = Vector::from([n as f64, 0.0]);
            let pin = joint(&world, JointKind::Point, [parent, Some(body)], point, None)?;
            world.add_joint(pin).map_err(failed("adding a joint"))?;
        }
        let start = world.diagnostics().total_energy;
        // All that it can exchange: from horizontal to hanging.
        let scale = G * (0.5 + 1.5);
        let (mut worst, mut points) = (0.0f64, Vec::new());
        for step in 0..(seconds / dt) as usize {
            advance(&mut world, 1, dt)?;
            let drift = (world.diagnostics().total_energy - start) / scale;
            worst = worst.max(drift.abs());
            points.push([dt * (step + 1) as f64, drift]);
        }
        let end = points.iter().rev().take((1.0 / dt) as usize).map(|p| p[1]).sum::<f64>() * dt;
        let resolution = format!("dt = 1/{:.0} s, {seconds} s", 1.0 / dt);
        let quantity = "double pendulum: energy drift a second / energy exchanged";
        out.at_most(quantity, &resolution, end.abs() / seconds, 1e-2, CASE.source);
        out.at_most("double pendulum: largest energy error", &resolution, worst, 1e-2, CASE.source);
        series.push(Series { label: format!("dt = 1/{:.0} s", 1.0 / dt), points, reference: false });
    }
    out.plot(Plot {
        title: "Energy error of a double pendulum".into(),
        x: "time (s)".into(),
        y: "energy error / energy exchanged".into(),
        scale: Scale::Linear,
        series,
    });
    Ok(())
}

/// A disc on a thin axle that stands on a point, tilted by 30 degrees, in steady precession.
fn top(out: &mut Measurements) -> Result<(), CaseError> {
    let (mass, length, i1, i3): (f64, f64, f64, f64) = (1.0, 0.1, 0.003, 0.005);
    let (tilt, spin): (f64, f64) = (30f64.to_radians(), 200.0);
    let seconds: f64 = 2.0;
    let pivot_moment = i1 + mass * length * length;
    // Angular velocity along the axle w3 = spin + W cos(tilt): (A - I3) cos W^2 - I3 spin W + m g l = 0 with A about the pivot.
    let (a, b, c) = ((pivot_moment - i3) * tilt.cos(), -i3 * spin, mass * G * length);
    let precession = 2.0 * c / (-b + (b * b - 4.0 * a * c).sqrt());
    for dt in [1.0 / 240.0, 1.0 / 960.0] {
        let mut world = World::<3>::new(gravity(G)).map_err(failed("building the world"))?;
        let axle: Vector<3> = Vector::from([tilt.sin(), tilt.cos(), 0.0]);
        let rotation = Dim::<3>::rotation_between(&Vector::from([0.0, 0.0, 1.0]), &axle);
        let angular = axle * spin + Vector::from([0.0, precession, 0.0]);
        let twist = Twist { linear: angular.cross(&(axle * length)), angular };
        let disc = Body::new("top", Kind::Dynamic, mass, &[i1, i1, i3]).map_err(failed("building a body"))?;
        let body = world.add_body(disc, Frame { position: axle * length, rotation }, twist);
        let pin = joint(&world, JointKind::Point, [None, Some(body)], Vector::zeros(), None)?;
        world.add_joint(pin).map_err(failed("adding a joint"))?;

        let (mut turned, mut before) = (0.0, 0.0f64);
        let mut nod = 0.0f64;
        for _ in 0..(seconds / dt).round() as usize {
            advance(&mut world, 1, dt)?;
            let p = world.state().bodies[body].frame.position;
            // Precession about +y turns x towards -z.
            let angle = (-p.z).atan2(p.x);
            turned += (angle - before + 3.0 * std::f64::consts::PI).rem_euclid(TAU) - std::f64::consts::PI;
            before = angle;
            nod = nod.max(((p.y / length).clamp(-1.0, 1.0).acos() - tilt).abs());
        }
        let resolution = format!("dt = 1/{:.0} s", 1.0 / dt);
        let exact = "exact: slow root of I1 cos(t) W^2 - I3 w3 W + m g l = 0";
        out.near(
            "top: precession (rad/s)",
            &resolution,
            turned / seconds,
            precession,
            0.02 * precession,
            exact,
        );
        out.at_most("top: largest nod (rad)", &resolution, nod, 0.02, exact);
    }
    Ok(())
}
