//! Joints made to hold one after the other instead of all together, before positions move, after it, or both. A hanging chain and a closed linkage of four bars swing as with the global
//! processes: the joints hold, energy is not gained, and with sweeps enough the motion is the same.
//!
//! Source: both processes have the same fixed point, the one set of impulses with which all joints hold (spec/rigid-bodies.md 3.13, 3.14).

use super::support::{add_box, advance, failed, gravity, joint, joint_error};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::{JointOptions, World};
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::joint::Stabilization::{Global, Pairwise};
use splashdown_rigid::{JointKind, Kind};

pub(super) const CASE: Case = Case {
    name: "rigid/pairwise-joints",
    spec: "RB-30, RB-31, RB-35 (rigid-bodies)",
    summary: "a chain and a closed linkage with joints stabilised one after the other move as with all together",
    source: "exact: the same fixed point",
    speed: Speed::Fast,
    seconds: 3.0,
    run,
};

/// `corners` of a polyline as boxes between hinges about z; the first corner is held, and so is the last if `closed`.
fn linkage(corners: &[[f64; 2]], closed: bool, options: JointOptions) -> Result<World<3>, CaseError> {
    let mut world = World::<3>::new(gravity(9.81)).map_err(failed("building the world"))?;
    world.options_mut().joints = options;
    let point = |n: usize| Vector::from([corners[n][0], corners[n][1], 0.0]);
    let hinge = |world: &mut World<3>, ends: [Option<usize>; 2], at: Vector<3>| {
        let made = joint(world, JointKind::Hinge, ends, at, Some(Vector::z()))?;
        world.add_joint(made).map_err(failed("adding a joint"))
    };
    for n in 0..corners.len() - 1 {
        let along = point(n + 1) - point(n);
        let frame = Frame {
            position: (point(n) + point(n + 1)) * 0.5,
            rotation: Dim::<3>::rotation_between(&Vector::x(), &along),
        };
        let edges = Vector::from([along.norm(), 0.05, 0.08]);
        let body =
            add_box(&mut world, &format!("bar {n}"), Kind::Dynamic, 1.0, edges, (frame, Twist::zero()))?;
        let before = (n > 0).then(|| body - 1);
        hinge(&mut world, [before, Some(body)], point(n))?;
    }
    if closed {
        let last = world.model().bodies.len() - 1;
        hinge(&mut world, [Some(last), None], point(corners.len() - 1))?;
    }
    Ok(world)
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let chain = [[0.0, 0.0], [0.3, 0.0], [0.6, 0.1], [0.9, 0.1]];
    let bars = [[0.0, 0.0], [0.1, 0.4], [0.9, 0.5], [0.8, 0.0]];
    let seconds = 1.0;
    let dt = 1.0 / 60.0;
    for (what, corners, closed) in [("chain of 3", &chain[..], false), ("four bars", &bars[..], true)] {
        let mut reference = linkage(corners, closed, JointOptions::default())?;
        advance(&mut reference, (seconds / dt) as usize, dt)?;
        for (pre, post, name) in
            [(Pairwise, Global, "before"), (Global, Pairwise, "after"), (Pairwise, Pairwise, "both")]
        {
            let resolution = format!("{what}, pairwise {name}, dt = 1/60 s");
            let mut world = linkage(corners, closed, JointOptions { pre, post, sweeps: 400 })?;
            let start = world.diagnostics().total_energy;
            let (mut error, mut gain) = (0.0f64, 0.0f64);
            for _ in 0..(seconds / dt) as usize {
                advance(&mut world, 1, dt)?;
                error = error.max(joint_error(&world));
                gain = gain.max(world.diagnostics().total_energy - start);
            }
            let far = world.state().bodies.iter().zip(&reference.state().bodies);
            let far = far.map(|(a, b)| (a.frame.position - b.frame.position).norm()).fold(0.0, f64::max);
            out.at_most("joint error", &resolution, error, 1e-9, "holds");
            out.at_most(
                "difference to all together after 1 s (m)",
                &resolution,
                far,
                1e-5,
                "same fixed point",
            );
            out.at_most("energy gained over m g (m)", &resolution, gain / 9.81, 2e-3, "as all together");
        }
        // Few sweeps leave errors that positions are freed from together; energy goes, it does not come.
        let few = JointOptions { pre: Pairwise, post: Pairwise, sweeps: 5 };
        let mut world = linkage(corners, closed, few)?;
        let start = world.diagnostics().total_energy;
        let (mut error, mut gain) = (0.0f64, 0.0f64);
        for _ in 0..(10.0 / dt) as usize {
            advance(&mut world, 1, dt)?;
            error = error.max(joint_error(&world));
            gain = gain.max(world.diagnostics().total_energy - start);
        }
        let resolution = format!("{what}, 5 sweeps, 10 s, dt = 1/60 s");
        out.at_most("joint error", &resolution, error, 1e-9, "holds");
        out.at_most("energy gained over m g (m)", &resolution, gain / 9.81, 2e-3, "none");
    }
    Ok(())
}
