//! One joint at a time: cheap sweeps that interleave with contact. The global processes converge where these only creep.

use super::Joint;
use super::drive::Plan;
use super::post::{PostOptions, PostReport, Problem};
use super::pre::{Impulses, PreOptions, PreReport, pre_stabilize};
use super::rows::{Include, InverseInertia, matrix, pose_of, push_rows};
use super::solver::{Accuracy, BoundedSystem, LEAST_SHIFT};
use crate::{Body, BodyState};
use serde::{Deserialize, Serialize};
use splashdown_math::{Dim, Frame, Space, Twist};

/// Which joints a stabilisation solves for at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stabilization {
    /// All joints together.
    #[default]
    Global,
    /// One joint after the other, in sweeps.
    Pairwise,
}

/// Post-stabilisation of the joints numbered `which`, one after the other, `sweeps` times over or until nothing changes. Each lowers the kinetic energy
/// (but for drives); `plan` as for [`super::post_stabilize`].
#[inline(never)]
pub fn post_stabilize_pairwise<const D: usize>(
    bodies: &[Body<D>],
    joints: &[Joint<D>],
    which: &[usize],
    states: &mut [BodyState<D>],
    plan: Option<(&Plan<D>, &Impulses)>,
    sweeps: usize,
) -> PostReport
where
    Dim<D>: Space<D>,
{
    let options = PostOptions::default();
    let frames: Vec<Frame<D>> = states.iter().map(|state| state.frame).collect();
    let one = |index: &usize| Problem::new(bodies, joints, std::slice::from_ref(index), &frames, plan);
    let mut problems: Vec<Problem<D>> = which.iter().map(one).collect();
    let mut report = PostReport::default();
    let mut first = 0.0;
    for sweep in 0..sweeps {
        let mut change = 0.0f64;
        report.rows = 0;
        for problem in &mut problems {
            let done = problem.solve(bodies, states, &options);
            report.rows += done.rows;
            report.iterations += done.iterations;
            change = change.max(problem.change);
        }
        if sweep == 0 {
            first = change;
        }
        if change <= options.tolerance * first {
            break;
        }
    }
    report.speed = problems.iter().map(|problem| problem.speed(bodies, states)).fold(0.0, f64::max);
    report
}

/// Pre-stabilisation of the joints numbered `which`, one after the other, `sweeps` times over.
#[inline(never)]
pub fn pre_stabilize_pairwise<const D: usize>(
    bodies: &[Body<D>],
    joints: &[Joint<D>],
    which: &[usize],
    states: &mut [BodyState<D>],
    plan: &Plan<D>,
    spent: &mut Impulses,
    (options, sweeps): (&PreOptions, usize),
) -> PreReport
where
    Dim<D>: Space<D>,
{
    let mut total = PreReport::default();
    for sweep in 0..sweeps {
        let mut largest = 0.0f64;
        total.error = 0.0;
        for &index in which {
            let report = pre_stabilize(bodies, joints, &[index], states, plan, spent, options);
            largest = largest.max(report.initial_error);
            total.rows += if sweep == 0 { report.rows } else { 0 };
            total.iterations += report.iterations;
            total.error = total.error.max(report.error);
        }
        if sweep == 0 {
            total.initial_error = largest;
        }
        if largest <= options.tolerance {
            break;
        }
    }
    total
}

/// `(P_1 ... P_n ... P_1)^sweeps V` over the locked rows of each joint: an approximation of [`super::project`] that is itself symmetric in the metric
/// of mass, as conjugate gradients need (spec/rigid-bodies.md 3.15).
pub fn project_by_sweeps<const D: usize>(
    bodies: &[Body<D>],
    joints: &[Joint<D>],
    frames: &[Frame<D>],
    twists: &mut [Twist<D>],
    sweeps: usize,
) where
    Dim<D>: Space<D>,
{
    let mut parts = Vec::with_capacity(joints.len());
    for (index, joint) in joints.iter().enumerate() {
        let mut rows = Vec::new();
        push_rows(joint, index, &pose_of(joint, frames), frames, Include::Locks, &mut rows);
        if !rows.is_empty() {
            let inverse = InverseInertia::new(bodies, frames, &rows);
            let system = BoundedSystem::new(matrix(&rows, &inverse), std::iter::empty());
            parts.push((rows, inverse, system));
        }
    }
    let count = parts.len();
    for _ in 0..sweeps {
        for n in (0..count).chain((0..count.saturating_sub(1)).rev()) {
            let (rows, inverse, system) = &mut parts[n];
            let rhs: Vec<f64> = rows.iter().map(|row| -row.speed(|i| twists[i])).collect();
            let any = vec![[f64::NEG_INFINITY, f64::INFINITY]; rows.len()];
            let mut impulse = vec![0.0; rows.len()];
            system.solve(&rhs, &any, Accuracy::Damped { shift: LEAST_SHIFT * 1e-4 }, &mut impulse);
            for (row, &size) in rows.iter().zip(&impulse) {
                for (i, wrench) in row.ends() {
                    if let Some(change) = inverse.apply(i, wrench) {
                        twists[i] += change * size;
                    }
                }
            }
        }
    }
}
