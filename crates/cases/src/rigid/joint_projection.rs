//! Post-stabilisation is a projection. `P = I - M^-1 C (C^T M^-1 C)^-1 C^T` takes the velocities of jointed bodies to the nearest ones, in the metric of mass, that
//! the joints allow: `P^2 = P`, `M P` is symmetric, the kinetic energy falls with every iteration of the solver wherever it is stopped, and the relative motion that
//! is left along locked directions is nil. On random trees and rings of all kinds of joints.
//!
//! Source: spec/rigid-bodies.md 3.14, 3.15 and row A16.

use super::support::failed;
use crate::{Case, CaseError, Measurements, Speed};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_rigid::joint::{PostOptions, post_stabilize, project};
use splashdown_rigid::{Body, BodyState, Freedom, Joint, JointKind, Kind};

pub(super) const CASE: Case = Case {
    name: "rigid/joint-projection",
    spec: "A16 (rigid-bodies), RB-29, RB-32, RB-33, RB-35, RB-38",
    summary: "velocity projection of random jointed trees and rings: idempotent, symmetric, energy monotone",
    source: "exact: P^2 = P, (M P)^T = M P",
    speed: Speed::Fast,
    seconds: 0.5,
    run,
};

const KINDS: [JointKind; 8] = [
    JointKind::Rigid,
    JointKind::Point,
    JointKind::Hinge,
    JointKind::Twist,
    JointKind::Universal,
    JointKind::Prismatic,
    JointKind::PrismaticTwist,
    JointKind::Normal,
];

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    measure::<2>(out)?;
    measure::<3>(out)
}

struct Jointed<const D: usize>
where
    Dim<D>: Space<D>,
{
    bodies: Vec<Body<D>>,
    joints: Vec<Joint<D>>,
    states: Vec<BodyState<D>>,
}

fn random_system<const D: usize>(random: &mut Pcg64Mcg, ring: bool) -> Result<Jointed<D>, CaseError>
where
    Dim<D>: Space<D>,
{
    let mut system = Jointed::<D> { bodies: vec![], joints: vec![], states: vec![] };
    let count = 12;
    let mut pairs = Vec::new();
    for n in 0..count {
        let mut unit = || random.random_range(-1.0..1.0f64);
        let mass = 10f64.powf(unit());
        let moments: Vec<f64> = (0..3).map(|_| mass * (0.1 + 0.05 * unit())).collect();
        let kind = if n == 0 { Kind::Static } else { Kind::Dynamic };
        let body = Body::new(format!("body {n}"), kind, mass, &moments[..<Dim<D> as Space<D>>::SPIN])
            .map_err(failed("building a body"))?;
        let mut frame = Frame::<D> {
            position: Vector::from_fn(|_, _| 0.2 * unit()),
            rotation: Dim::exp(&(Spin::<D>::from_slice(&[unit(), unit(), unit()]) * 3.0)),
        };
        let angle = std::f64::consts::TAU * n as f64 / count as f64;
        frame.position[0] += 2.0 * angle.cos();
        frame.position[1] += 2.0 * angle.sin();
        let twist = Twist::<D>::read(&[unit(), unit(), unit(), unit(), unit(), unit()]);
        let twist = if n == 0 { Twist::zero() } else { twist };
        system.states.push(BodyState::new(&body, frame, &twist));
        system.bodies.push(body);
        if n > 0 {
            pairs.push((if ring { n - 1 } else { random.random_range(0..n) }, n));
        }
    }
    if ring {
        pairs.push((count - 1, 0));
    }
    let frames: Vec<Frame<D>> = system.states.iter().map(|state| state.frame).collect();
    for (n, (a, b)) in pairs.into_iter().enumerate() {
        let kind = KINDS[(n + random.random_range(0..KINDS.len())) % KINDS.len()];
        let kind = if kind.freedoms::<D>().is_some() { kind } else { JointKind::Point };
        let frame = Frame {
            position: (frames[a].position + frames[b].position) * 0.5,
            rotation: Dim::exp(&Spin::<D>::from_slice(&[0.3, n as f64, -1.0])),
        };
        let mut joint = Joint::between(format!("joint {n}"), kind, Some(a), Some(b), &frame, &frames)
            .map_err(failed("making a joint"))?;
        // Every fourth is generic: any of its coordinates is locked or free.
        if n % 4 == 3 {
            for slot in 0..D {
                joint.linear[slot] = [Freedom::Locked, Freedom::Free][random.random_range(0..2)];
            }
            for slot in 0..Spin::<D>::LEN {
                joint.angular[slot] = [Freedom::Locked, Freedom::Free][random.random_range(0..2)];
            }
        }
        system.joints.push(joint.checked(&system.bodies).map_err(failed("making a joint"))?);
    }
    Ok(system)
}

fn measure<const D: usize>(out: &mut Measurements) -> Result<(), CaseError>
where
    Dim<D>: Space<D>,
{
    let mut random = Pcg64Mcg::new(16);
    let (mut twice, mut asymmetry, mut gain, mut speed) = (0.0f64, 0.0f64, f64::NEG_INFINITY, 0.0f64);
    for case in 0..40 {
        let Jointed { bodies, joints, states } = random_system::<D>(&mut random, case % 2 == 0)?;
        let frames: Vec<Frame<D>> = states.iter().map(|state| state.frame).collect();
        let inner = |a: &[Twist<D>], b: &[Twist<D>]| -> f64 {
            (1..a.len())
                .map(|i| {
                    bodies[i].mass * a[i].linear.dot(&b[i].linear)
                        + a[i].angular.dot(&bodies[i].angular_momentum_of(&frames[i], &b[i].angular))
                })
                .sum()
        };
        let exact = PostOptions { tolerance: 1e-15, max_iterations: 200 };
        let apply = |twists: &[Twist<D>]| {
            let mut projected = twists.to_vec();
            project(&bodies, &joints, &frames, &mut projected, &exact);
            projected
        };
        let v: Vec<Twist<D>> = states.iter().zip(&bodies).map(|(state, body)| state.twist(body)).collect();
        let mut w = v.clone();
        w.rotate_left(1);
        w[0] = Twist::zero();
        let (pv, pw) = (apply(&v), apply(&w));
        let difference: Vec<Twist<D>> = apply(&pv).iter().zip(&pv).map(|(a, b)| *a - *b).collect();
        let size = (inner(&v, &v) * inner(&w, &w)).sqrt();
        twice = twice.max((inner(&difference, &difference) / inner(&v, &v)).sqrt());
        asymmetry = asymmetry.max((inner(&w, &pv) - inner(&pw, &v)).abs() / size);
        // Energy after 0, 1, 2, ... iterations.
        let energy = |states: &[BodyState<D>]| -> f64 {
            states.iter().zip(&bodies).skip(1).map(|(state, body)| state.kinetic_energy(body)).sum()
        };
        let mut last = energy(&states);
        for max_iterations in 1..10 {
            let mut stopped = states.clone();
            let options = PostOptions { tolerance: 1e-14, max_iterations };
            let every: Vec<usize> = (0..joints.len()).collect();
            let report = post_stabilize(&bodies, &joints, &every, &mut stopped, None, &options);
            gain = gain.max(energy(&stopped) / last - 1.0);
            last = energy(&stopped);
            if max_iterations == 9 {
                speed = speed.max(report.speed);
            }
        }
    }
    let resolution = format!("{D}D, 40 systems of 12 bodies");
    // Masses over two decades: conditions of 1e3 to 1e4 on top of round-off.
    out.at_most("|P P v - P v| / |v| in the metric of mass", &resolution, twice, 1e-12, CASE.source);
    out.at_most("|w M P v - v M P w| / |v||w|", &resolution, asymmetry, 1e-12, CASE.source);
    out.at_most("largest relative gain of energy in an iteration", &resolution, gain, 1e-13, CASE.source);
    out.at_most(
        "relative speed left along locked directions (m/s, rad/s)",
        &resolution,
        speed,
        1e-10,
        CASE.source,
    );
    Ok(())
}
