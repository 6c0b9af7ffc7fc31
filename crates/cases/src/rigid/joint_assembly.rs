//! Pre-stabilisation and assembly. A chain and a ring of ten links with random velocities (2 m/s, 2 rad/s) that their joints do not allow and with a little drift: impulses
//! found before the step make the joints hold after it. Chains whose links lie about at random are assembled by Newton steps.
//!
//! Source: spec/rigid-bodies.md 3.14 and row A17.

use super::support::failed;
use crate::{Case, CaseError, Measurements, Speed};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::joint::{
    AssemblyOptions, Goal, Impulses, PreOptions, assemble, joint_errors, plan, pre_stabilize,
};
use splashdown_rigid::{Body, BodyState, Joint, JointKind, Kind};

pub(super) const CASE: Case = Case {
    name: "rigid/joint-assembly",
    spec: "A17 (rigid-bodies), RB-34, RB-35",
    summary: "joints of chains and rings hold after the step whatever the velocities; scrambled chains are assembled",
    source: "spec/rigid-bodies.md, row A17",
    speed: Speed::Fast,
    seconds: 0.5,
    run,
};

struct Chain {
    bodies: Vec<Body<3>>,
    joints: Vec<Joint<3>>,
    states: Vec<BodyState<3>>,
}

/// `count` rods of 1 m in a row, or in a ring.
fn chain(count: usize, kind: JointKind, ring: bool, random: &mut Pcg64Mcg) -> Result<Chain, CaseError> {
    let mut chain = Chain { bodies: vec![], joints: vec![], states: vec![] };
    let radius = 0.5 / (std::f64::consts::PI / count as f64).sin();
    let corner = |n: usize| -> Vector<3> {
        let angle = std::f64::consts::TAU * n as f64 / count as f64;
        match ring {
            true => Vector::from([radius * angle.cos(), radius * angle.sin(), 0.0]),
            false => Vector::from([n as f64, 0.0, 0.0]),
        }
    };
    for n in 0..count {
        let body = Body::new(format!("link {n}"), Kind::Dynamic, 1.0, &[0.02, 0.09, 0.09])
            .map_err(failed("building a body"))?;
        let (from, to) = (corner(n), corner(n + 1));
        let rotation = Dim::<3>::rotation_between(&Vector::from([1.0, 0.0, 0.0]), &(to - from));
        let mut unit = || random.random_range(-1.0..1.0f64);
        let twist = Twist::<3>::read(&std::array::from_fn::<f64, 6, _>(|_| 2.0 * unit()));
        chain.states.push(BodyState::new(&body, Frame { position: (from + to) * 0.5, rotation }, &twist));
        chain.bodies.push(body);
    }
    let frames: Vec<Frame<3>> = chain.states.iter().map(|state| state.frame).collect();
    for n in 1..count + usize::from(ring) {
        // Hinges about z.
        let frame = Joint::frame_at(corner(n), Some(&Vector::from([0.0, 0.0, 1.0])));
        let joint = Joint::between(format!("joint {n}"), kind, Some(n - 1), Some(n % count), &frame, &frames)
            .and_then(|joint| joint.checked(&chain.bodies))
            .map_err(failed("making a joint"))?;
        chain.joints.push(joint);
    }
    Ok(chain)
}

/// Moves every link at random by up to about `size` (m, rad).
fn scramble(chain: &mut Chain, size: f64, random: &mut Pcg64Mcg) {
    for (body, state) in chain.bodies.iter().zip(&mut chain.states) {
        let twist =
            Twist::<3>::read(&std::array::from_fn::<f64, 6, _>(|_| size * random.random_range(-1.7..1.7)));
        let moving = state.twist(body);
        *state = BodyState::new(body, state.frame.moved(&twist, 1.0), &moving);
    }
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let mut random = Pcg64Mcg::new(17);
    let dt = 1.0 / 30.0;
    // A ring of parallel hinges demands more than it can move; the source text has no figure for it.
    for (label, kind, ring, steps) in [
        ("ball chain", JointKind::Point, false, 6.0),
        ("rigid chain", JointKind::Rigid, false, 6.0),
        ("hinge chain", JointKind::Hinge, false, 6.0),
        ("ball ring", JointKind::Point, true, 6.0),
        ("hinge ring", JointKind::Hinge, true, 10.0),
    ] {
        let (mut worst, mut first, mut most) = (0.0f64, f64::INFINITY, 0usize);
        for _ in 0..20 {
            let mut chain = chain(10, kind, ring, &mut random)?;
            scramble(&mut chain, 0.002, &mut random);
            let plan = plan(&chain.bodies, &chain.joints, &chain.states, 0.0, dt);
            let mut spent = Impulses::none(chain.joints.len());
            let every: Vec<usize> = (0..chain.joints.len()).collect();
            let options = PreOptions { goal: Goal::Vanish, tolerance: 1e-9, ..PreOptions::default() };
            let report = pre_stabilize(
                &chain.bodies,
                &chain.joints,
                &every,
                &mut chain.states,
                &plan,
                &mut spent,
                &options,
            );
            // Measured anew on the evolved bodies.
            let after = joint_errors(&chain.joints, |i| {
                let (body, state) = (&chain.bodies[i], &chain.states[i]);
                let order = options.orientation_order;
                body.evolve(&state.frame, &state.velocity, &state.angular_momentum, dt, order, true)
            });
            worst = worst.max(after.relative);
            first = first.min(report.initial_error);
            most = most.max(report.iterations - 1);
        }
        let resolution = "10 links, dt = 1/30 s, 20 samples";
        out.at_most(&format!("{label}: error after the step"), resolution, worst, 1e-8, CASE.source);
        out.at_most(&format!("{label}: most iterations"), resolution, most as f64, steps, CASE.source);
        out.at_least(&format!("{label}: least error without"), resolution, first, 1e-2, CASE.source);
    }
    for (label, count, ring, size, tolerance, steps) in [
        ("scrambled ball chain", 10, false, 0.5, 1e-8, 10),
        ("scrambled ball ring", 10, true, 0.5, 1e-8, 10),
        ("scrambled ball chain", 30, false, 1.0, 1e-10, 30),
    ] {
        let (mut worst, mut taken) = (0.0f64, Vec::new());
        for _ in 0..100 {
            let mut chain = chain(count, JointKind::Point, ring, &mut random)?;
            scramble(&mut chain, size, &mut random);
            let mut frames: Vec<Frame<3>> = chain.states.iter().map(|state| state.frame).collect();
            let options = AssemblyOptions { tolerance, ..AssemblyOptions::default() };
            let done = assemble(&chain.bodies, &chain.joints, &mut frames, &options);
            worst = worst.max(done.error);
            taken.push(done.iterations);
        }
        taken.sort_unstable();
        let resolution = format!("{count} links, sigma {size} link, 100 samples");
        out.at_most(&format!("{label}: largest error"), &resolution, worst, tolerance, CASE.source);
        // The figures are of one sample each.
        let median = taken[taken.len() / 2] as f64;
        out.at_most(&format!("{label}: steps, median"), &resolution, median, f64::from(steps), CASE.source);
    }
    Ok(())
}
