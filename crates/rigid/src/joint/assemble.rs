//! Assembly: moves bodies, without touching their velocities, until their joints hold.
//!
//! For what rounding or push-out left over, and for scenes whose joints do not hold at the start. Newton's method on the positions with the rows
//! at the present ones; each displacement is the smallest in the metric of mass, so the common centre of mass stays.
//!
//! A heavy body on a chain of light links that is nearly straight is where this goes wrong: the rows promise that the links need only turn a little more, which is
//! true until they are straight. Where a step does not keep its promise, the bodies that it turned count as heavier in the next one, so that others move instead; bodies that nothing
//! holds are then moved together so that their common centre of mass stays all the same.

use super::Joint;
use super::coordinates::near;
use super::rows::{Include, InverseInertia, Purpose, Row, matrix, pose_of, push_rows};
use super::solver::{Accuracy, BoundedSystem, LEAST_SHIFT};
use crate::Body;
use splashdown_math::{Coordinates, Dim, Frame, Space, Twist, Vector};

/// When assembly ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AssemblyOptions {
    /// Error at which it ends, relative to the length of the joint (rad for angles).
    pub tolerance: f64,
    /// Most Newton steps.
    pub max_iterations: usize,
    /// All bodies count as equally heavy. Where a weight hangs on light links that is the way that always ends, but the weight moves further than need be.
    pub even: bool,
}

impl Default for AssemblyOptions {
    fn default() -> Self {
        Self { tolerance: 1e-11, max_iterations: 60, even: false }
    }
}

/// What assembly did.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AssemblyReport {
    /// Newton steps taken.
    pub iterations: usize,
    /// Largest error before, relative.
    pub initial_error: f64,
    /// Largest error at the end, relative; stays above the tolerance where joints contradict each other.
    pub error: f64,
}

/// Largest turn of a body in one Newton step (rad).
const MAX_TURN: f64 = 1.0;

/// A step that leaves more than this share of the merit has not kept its promise.
const POOR: f64 = 0.5;

/// Turn of a body (rad) in such a step that makes it count twice as heavy.
const SUSPECT_TURN: f64 = 0.05;

/// Most that a body counts as heavier than it is.
const MOST_HEAVIER: f64 = 1e9;

/// Relative error that is as good as none.
const ENOUGH: f64 = 1e-8;

/// Rows with their errors at given frames.
struct Errors<const D: usize>
where
    Dim<D>: Space<D>,
{
    rows: Vec<Row<D>>,
    error: Vec<f64>,
    bounds: Vec<[f64; 2]>,
    largest: f64,
}

impl<const D: usize> Errors<D>
where
    Dim<D>: Space<D>,
{
    fn measure(joints: &[Joint<D>], frames: &[Frame<D>]) -> Self {
        let mut found = Self { rows: vec![], error: vec![], bounds: vec![], largest: 0.0 };
        let mut all = Vec::new();
        for (index, joint) in joints.iter().enumerate() {
            let pose = pose_of(joint, frames);
            all.clear();
            push_rows(joint, index, &pose, frames, Include::LocksAndLimits, &mut all);
            for row in &all {
                let value = pose.value[row.slot];
                let any = [f64::NEG_INFINITY, f64::INFINITY];
                let (error, bounds) = match row.purpose {
                    Purpose::Limit { min, max } => {
                        let value = near(value, min, max, row.slot >= D);
                        // The nearer limit; within it, it still bounds how far the bodies go.
                        match value - min < max - value {
                            _ if min == max => (value - min, any),
                            true => (value - min, [0.0, f64::INFINITY]),
                            false => (value - max, [f64::NEG_INFINITY, 0.0]),
                        }
                    }
                    _ => (value, any),
                };
                let relative = violation(error, bounds) / if row.slot < D { joint.length() } else { 1.0 };
                found.largest = if relative.is_nan() { f64::INFINITY } else { found.largest.max(relative) };
                found.rows.push(*row);
                found.error.push(error);
                found.bounds.push(bounds);
            }
        }
        found
    }
}

/// How far a row is from what it demands; what is not a number stays so.
fn violation(error: f64, [low, high]: [f64; 2]) -> f64 {
    match (low == 0.0, high == 0.0) {
        (true, _) if error >= 0.0 => 0.0,
        (_, true) if error <= 0.0 => 0.0,
        _ => error.abs(),
    }
}

/// `sum error^2 / A_ii` of what rows demand, with the weights of another set of rows.
fn merit<const D: usize>(errors: &Errors<D>, weight: &dyn Fn(&Row<D>) -> f64) -> f64
where
    Dim<D>: Space<D>,
{
    let rows = errors.rows.iter().zip(errors.error.iter().zip(&errors.bounds));
    rows.map(|(row, (&error, &bounds))| violation(error, bounds).powi(2) * weight(row)).sum()
}

/// Groups of dynamic bodies that joints connect to each other and to nothing else.
fn free_groups<const D: usize>(bodies: &[Body<D>], joints: &[Joint<D>]) -> Vec<Vec<usize>>
where
    Dim<D>: Space<D>,
{
    let mut label: Vec<usize> = (0..bodies.len()).collect();
    let dynamic = |end: Option<usize>| end.filter(|&i| bodies[i].is_dynamic());
    let mut held = vec![false; bodies.len()];
    // Labels spread along the joints until nothing changes.
    loop {
        let mut changed = false;
        for joint in joints {
            match (dynamic(joint.parent), dynamic(joint.child)) {
                (Some(a), Some(b)) => {
                    let (least, any) = (label[a].min(label[b]), held[a] || held[b]);
                    for i in [a, b] {
                        changed |= label[i] != least || held[i] != any;
                        (label[i], held[i]) = (least, any);
                    }
                }
                (Some(i), None) | (None, Some(i)) => {
                    changed |= !held[i];
                    held[i] = true;
                }
                (None, None) => {}
            }
        }
        if !changed {
            break;
        }
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); bodies.len()];
    for i in (0..bodies.len()).filter(|&i| bodies[i].is_dynamic() && !held[i]) {
        groups[label[i]].push(i);
    }
    groups.retain(|group| group.len() > 1);
    groups
}

/// How much heavier each jointed body has to be to be as heavy as the heaviest of them.
fn factors_to_even<const D: usize>(bodies: &[Body<D>], joints: &[Joint<D>]) -> Vec<f64>
where
    Dim<D>: Space<D>,
{
    let jointed = || joints.iter().flat_map(|joint| [joint.parent, joint.child]).flatten();
    let most = jointed().filter(|&i| bodies[i].is_dynamic()).map(|i| bodies[i].mass).fold(0.0, f64::max);
    bodies.iter().map(|body| (most / body.mass).max(1.0)).collect()
}

/// As [`assemble`] with the default options; where that does not end, as if all bodies were equally heavy.
#[inline(never)]
pub fn assemble_anyhow<const D: usize>(
    bodies: &[Body<D>],
    joints: &[Joint<D>],
    frames: &mut [Frame<D>],
) -> AssemblyReport
where
    Dim<D>: Space<D>,
{
    let options = AssemblyOptions::default();
    let mut done = assemble(bodies, joints, frames, &options);
    if done.error > ENOUGH {
        let before = frames.to_vec();
        let even = assemble(bodies, joints, frames, &AssemblyOptions { even: true, ..options });
        done.iterations += even.iterations;
        if even.error < done.error {
            done.error = even.error;
        } else {
            frames.copy_from_slice(&before);
        }
    }
    done
}

/// Moves the dynamic bodies at `frames` until `joints` hold.
#[inline(never)]
pub fn assemble<const D: usize>(
    bodies: &[Body<D>],
    joints: &[Joint<D>],
    frames: &mut [Frame<D>],
    options: &AssemblyOptions,
) -> AssemblyReport
where
    Dim<D>: Space<D>,
{
    let mut now = Errors::measure(joints, frames);
    let mut report = AssemblyReport { iterations: 0, initial_error: now.largest, error: now.largest };
    if !now.largest.is_finite() {
        return report;
    }
    let mut shift = LEAST_SHIFT;
    let mut slow = 0;
    let least_heavy = if options.even { factors_to_even(bodies, joints) } else { vec![1.0; bodies.len()] };
    let mut heavier = least_heavy.clone();
    let mut groups: Option<Vec<Vec<usize>>> = None;
    while now.largest > options.tolerance && report.iterations < options.max_iterations && slow < 5 {
        let inverse = InverseInertia::new(bodies, frames, &now.rows).heavier(&heavier);
        let mut system = BoundedSystem::new(matrix(&now.rows, &inverse), std::iter::empty());
        let rhs: Vec<f64> = now.error.iter().map(|error| -error).collect();
        let mut step = vec![0.0; now.rows.len()];
        system.solve(&rhs, &now.bounds, Accuracy::Damped { shift }, &mut step);

        let mut moves: Vec<Option<Twist<D>>> = vec![None; bodies.len()];
        for (row, &size) in now.rows.iter().zip(&step) {
            for (i, wrench) in row.ends() {
                if let Some(change) = inverse.apply(i, wrench) {
                    *moves[i].get_or_insert_with(Twist::zero) += change * size;
                }
            }
        }
        // All of it shorter rather than some turns: so it stays a direction in which the errors fall.
        let turn = moves.iter().flatten().map(|twist| twist.angular.norm()).fold(0.0, f64::max);
        let longest = (MAX_TURN / turn).min(1.0);
        let mut part = longest;

        // Weights by row, for the comparison before and after.
        let mut weights = vec![0.0; 6 * joints.len()];
        let mean = system.diagonal().iter().sum::<f64>() / system.size() as f64;
        for (row, diagonal) in now.rows.iter().zip(system.diagonal()) {
            weights[6 * row.joint + row.slot] = if *diagonal > 0.0 { 1.0 / diagonal } else { 0.0 };
        }
        let weight = |row: &Row<D>| match weights[6 * row.joint + row.slot] {
            0.0 => 1.0 / mean,
            known => known,
        };
        let before = merit(&now, &weight);
        let saved = frames.to_vec();
        let accepted = loop {
            for (frame, change) in frames.iter_mut().zip(&moves) {
                if let Some(twist) = change {
                    *frame = frame.moved(twist, part);
                }
            }
            let next = Errors::measure(joints, frames);
            let after = merit(&next, &weight);
            if next.largest.is_finite() && (after < before || next.largest <= options.tolerance) {
                break Some((next, after));
            }
            frames.copy_from_slice(&saved);
            part *= 0.5;
            if part < 0.05 * longest {
                break None;
            }
        };
        report.iterations += 1;
        if accepted.is_some() && heavier.iter().any(|factor| *factor != 1.0) {
            for group in groups.get_or_insert_with(|| free_groups(bodies, joints)).iter() {
                let mass: f64 = group.iter().map(|&i| bodies[i].mass).sum();
                let moved = group.iter().map(|&i| (frames[i].position - saved[i].position) * bodies[i].mass);
                let drift = moved.sum::<Vector<D>>() / mass;
                group.iter().for_each(|&i| frames[i].position -= drift);
            }
        }
        let kept_promise = accepted.as_ref().is_some_and(|(_, after)| *after < POOR * before);
        for ((factor, least), twist) in heavier.iter_mut().zip(&least_heavy).zip(&moves) {
            let turn = twist.map_or(0.0, |twist| twist.angular.norm()) / SUSPECT_TURN;
            *factor = match kept_promise {
                true => (*factor * 0.1).max(*least),
                false => (*factor * (1.0 + turn * turn)).min(MOST_HEAVIER.max(*least)),
            };
        }
        match accepted {
            Some((next, after)) => {
                // Joints that contradict each other leave an error that no step lowers.
                slow = if after > 0.98 * before { slow + 1 } else { 0 };
                now = next;
                shift = (shift * 0.1).max(LEAST_SHIFT);
            }
            None if shift < 0.1 => shift = (shift * 1e3).max(1e-6),
            None => break,
        }
    }
    report.error = now.largest;
    report
}
