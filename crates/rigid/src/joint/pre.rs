//! Pre-stabilisation: impulses at the present positions that make the joints hold after the position update (spec/rigid-bodies.md 3.13, 3.14).
//!
//! The bodies are evolved for the whole step exactly as the position update will do it, the errors of the joints there are measured, and
//! impulses `(B M^-1 B^T) j = -error / dt` along the rows at the present positions are added, until the errors are gone. Because the impulses
//! act at the present positions on both bodies at one point, momentum and angular momentum do not change.

use super::Joint;
use super::coordinates::Pose;
use super::drive::Plan;
use super::post::{is_fixed, twists_of};
use super::rows::{Include, InverseInertia, Purpose, Row, matrix, pose_of, position_error, push_rows};
use super::solver::{Accuracy, BoundedSystem, LEAST_SHIFT};
use crate::{Body, BodyState, OrientationOrder, rotation_vector};
use splashdown_math::{Dim, Frame, Inertia, Space, Spin, Twist};

/// What the errors after the step shall be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Goal {
    /// What they are now: velocities are not used to repair positions, so no energy comes from drift. [`super::assemble`] repairs positions.
    #[default]
    Hold,
    /// Zero.
    Vanish,
}

/// How pre-stabilisation is done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PreOptions {
    /// Error at which it ends, relative to the length of the joint (rad for angles).
    pub tolerance: f64,
    /// Most evaluations of the position update.
    pub max_iterations: usize,
    /// What to reach.
    pub goal: Goal,
    /// Order of the orientation update.
    pub orientation_order: OrientationOrder,
    /// Whether the position update conserves rotational energy.
    pub fix_energy: bool,
}

impl Default for PreOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-11,
            max_iterations: 30,
            goal: Goal::Hold,
            orientation_order: OrientationOrder::default(),
            fix_energy: true,
        }
    }
}

/// What pre-stabilisation did.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PreReport {
    /// Number of rows.
    pub rows: usize,
    /// Evaluations of the position update.
    pub iterations: usize,
    /// Largest error before, relative.
    pub initial_error: f64,
    /// Largest error at the end, relative.
    pub error: f64,
}

/// Impulses by joint and purpose.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Impulses {
    values: Vec<f64>,
}

const PER_JOINT: usize = 18;

impl Impulses {
    /// None yet, for `joints` joints.
    pub fn none(joints: usize) -> Self {
        Self { values: vec![0.0; PER_JOINT * joints] }
    }

    fn place<const D: usize>(row: &Row<D>) -> usize
    where
        Dim<D>: Space<D>,
    {
        let class = match row.purpose {
            Purpose::Lock | Purpose::Limit { .. } => 0,
            Purpose::Drive(_) | Purpose::Pose(_) => 1,
            Purpose::Damping(_) => 2,
        };
        row.joint * PER_JOINT + 6 * class + row.slot
    }

    pub(super) fn of<const D: usize>(&self, row: &Row<D>) -> f64
    where
        Dim<D>: Space<D>,
    {
        self.values[Self::place(row)]
    }
}

/// Changes the velocities of `states` by impulses of the joints numbered `which` so that these hold after `plan.dt`; positions stay. Impulses
/// that drives and limits have already given in this step are in `spent`, and what is given here is added.
pub fn pre_stabilize<const D: usize>(
    bodies: &[Body<D>],
    joints: &[Joint<D>],
    which: &[usize],
    states: &mut [BodyState<D>],
    plan: &Plan<D>,
    spent: &mut Impulses,
    options: &PreOptions,
) -> PreReport
where
    Dim<D>: Space<D>,
{
    let Some(mut problem) = Problem::new(bodies, joints, which, states, plan, spent, options) else {
        return PreReport::default();
    };
    let report = problem.solve(states);
    for (row, total) in problem.rows.iter().zip(&problem.total) {
        spent.values[Impulses::place(row)] = *total;
    }
    report
}

struct Problem<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    bodies: &'a [Body<D>],
    joints: &'a [Joint<D>],
    which: &'a [usize],
    plan: &'a Plan<D>,
    options: &'a PreOptions,
    rows: Vec<Row<D>>,
    /// Error that each row may keep.
    kept: Vec<f64>,
    /// Impulse of each row so far.
    total: Vec<f64>,
    system: BoundedSystem,
    /// Compliance of the rows.
    compliance: Vec<f64>,
    /// Bodies that the joints touch, ascending.
    touched: Vec<usize>,
    /// Frames of all bodies; those of `touched` are evolved.
    frames: Vec<Frame<D>>,
}

/// Errors at the end of the step.
struct Residual {
    /// Wanted change of the speed along each row.
    change: Vec<f64>,
    bounds: Vec<[f64; 2]>,
    /// `sum change^2 / A_ii` of the rows that can still be improved (J).
    merit: f64,
    /// Largest relative error of these.
    error: f64,
}

impl<'a, const D: usize> Problem<'a, D>
where
    Dim<D>: Space<D>,
{
    fn new(
        bodies: &'a [Body<D>],
        joints: &'a [Joint<D>],
        which: &'a [usize],
        states: &[BodyState<D>],
        plan: &'a Plan<D>,
        spent: &Impulses,
        options: &'a PreOptions,
    ) -> Option<Self> {
        let frames: Vec<Frame<D>> = states.iter().map(|state| state.frame).collect();
        let (mut rows, mut kept) = (Vec::new(), Vec::new());
        for &index in which {
            let pose = pose_of(&joints[index], &frames);
            push_rows(&joints[index], index, &pose, &frames, Include::All, &mut rows);
            for row in &rows[kept.len()..] {
                kept.push(match (options.goal, row.purpose) {
                    (Goal::Hold, Purpose::Lock) => pose.value[row.slot],
                    (Goal::Hold, Purpose::Limit { min, max }) => {
                        // Only what is beyond the limit, on the side where it is.
                        let error = position_error(row, &pose, plan, 0.0).unwrap_or(0.0);
                        let value = super::coordinates::near(pose.value[row.slot], min, max, row.slot >= D);
                        if value < min || value > max || min == max { error } else { 0.0 }
                    }
                    _ => 0.0,
                });
            }
        }
        if rows.is_empty() {
            return None;
        }
        let compliance: Vec<f64> = rows
            .iter()
            .map(|row| match row.purpose {
                Purpose::Damping(coefficient) => 1.0 / (0.5 * plan.dt * coefficient),
                _ => 0.0,
            })
            .collect();
        let inverse = InverseInertia::new(bodies, &frames, &rows);
        let soft = compliance.iter().copied().enumerate().filter(|(_, value)| *value > 0.0);
        let system = BoundedSystem::new(matrix(&rows, &inverse), soft);
        let mut touched: Vec<usize> = rows.iter().flat_map(Row::ends).map(|(i, _)| i).collect();
        touched.sort_unstable();
        touched.dedup();
        let total = rows.iter().map(|row| spent.of(row)).collect();
        Some(Self {
            bodies,
            joints,
            which,
            plan,
            options,
            rows,
            kept,
            total,
            system,
            compliance,
            touched,
            frames,
        })
    }

    fn solve(&mut self, states: &mut [BodyState<D>]) -> PreReport {
        let mut now = self.residual(states, &self.total.clone());
        let mut report =
            PreReport { rows: self.rows.len(), iterations: 1, initial_error: now.error, error: now.error };
        let mut shift = LEAST_SHIFT;
        let mut step = vec![0.0; self.rows.len()];
        while report.iterations < self.options.max_iterations && now.error > self.options.tolerance {
            self.system.solve(&now.change, &now.bounds, Accuracy::Damped { shift }, &mut step);
            if shift == LEAST_SHIFT {
                self.refine(states, &now, &mut step);
            }
            // Residual line search: halve until the errors fall.
            let saved: Vec<BodyState<D>> = self.touched.iter().map(|&i| states[i]).collect();
            let mut part = 1.0;
            let accepted = loop {
                let total: Vec<f64> = self.total.iter().zip(&step).map(|(t, s)| t + part * s).collect();
                for (row, size) in self.rows.iter().zip(&step) {
                    row.push(self.bodies, states, part * size);
                }
                let next = self.residual(states, &total);
                report.iterations += 1;
                if next.merit < now.merit || next.error <= self.options.tolerance {
                    self.total = total;
                    break Some(next);
                }
                for (&i, state) in self.touched.iter().zip(&saved) {
                    states[i] = *state;
                }
                part *= 0.5;
                if part < 0.1 || report.iterations >= self.options.max_iterations {
                    break None;
                }
            };
            match accepted {
                Some(next) => {
                    // Rounding ends the descent.
                    let stalled = next.merit > 0.81 * now.merit && shift == LEAST_SHIFT && next.error < 1e-9;
                    now = next;
                    if stalled {
                        break;
                    }
                    shift = (shift * 0.1).max(LEAST_SHIFT);
                }
                // Levenberg: shorter steps along directions in which rows contradict each other.
                None if shift < 0.1 => shift = (shift * 1e3).max(1e-6),
                None => break,
            }
        }
        report.error = now.error;
        report
    }

    /// Newton's method proper: impulses act along the rows at the start, errors are felt along the rows at the end of the step.
    fn refine(&mut self, states: &[BodyState<D>], now: &Residual, step: &mut [f64]) {
        // The same rows at the end of the step; a coordinate that has lost its meaning there still has its row.
        let mut felt: Vec<Row<D>> = Vec::with_capacity(self.rows.len());
        let mut all = Vec::new();
        for &index in self.which {
            let joint = &self.joints[index];
            let mut pose = pose_of(joint, &self.frames);
            pose.lost = None;
            all.clear();
            push_rows(joint, index, &pose, &self.frames, Include::All, &mut all);
            for row in &all {
                let wanted = self.rows.get(felt.len());
                if wanted.is_some_and(|w| w.joint == index && w.slot == row.slot && w.purpose == row.purpose)
                {
                    felt.push(*row);
                }
            }
        }
        for (felt, row) in felt.iter_mut().zip(&self.rows) {
            if matches!(row.purpose, Purpose::Damping(_)) {
                *felt = *row;
            }
        }
        let turning: Vec<Option<Turning<D>>> = {
            let mut turning = vec![None; self.bodies.len()];
            for &i in self.touched.iter().filter(|&&i| self.bodies[i].is_dynamic()) {
                turning[i] = Some(Turning::new(&self.bodies[i], &states[i], self.plan.dt, self.options));
            }
            turning
        };
        let (rows, compliance, count) = (&self.rows, &self.compliance, self.bodies.len());
        let nearby = |impulse: &[f64], speed: &mut [f64]| {
            let mut wrenches = vec![Twist::<D>::zero(); count];
            for (row, &size) in rows.iter().zip(impulse) {
                for (i, wrench) in row.ends() {
                    wrenches[i] += *wrench * size;
                }
            }
            let mut known = vec![None; count];
            for (n, row) in felt.iter().enumerate() {
                speed[n] = compliance[n] * impulse[n];
                for (i, wrench) in row.ends() {
                    let twist = *known[i].get_or_insert_with(|| {
                        turning[i].as_ref().map_or_else(Twist::zero, |turning| turning.of(&wrenches[i]))
                    });
                    speed[n] += wrench.dot(&twist);
                }
            }
        };
        self.system.refine(&nearby, &now.change, 1e-3, step);
        for (size, [low, high]) in step.iter_mut().zip(&now.bounds) {
            *size = size.clamp(*low, *high);
        }
    }

    /// Evolves the bodies and measures their joints.
    fn residual(&mut self, states: &[BodyState<D>], total: &[f64]) -> Residual {
        let dt = self.plan.dt;
        for &i in &self.touched {
            let (body, state) = (&self.bodies[i], &states[i]);
            self.frames[i] = body.evolve(
                &state.frame,
                &state.velocity,
                &state.angular_momentum,
                dt,
                self.options.orientation_order,
                self.options.fix_energy,
            );
        }
        let damped = self.compliance.iter().any(|value| *value > 0.0);
        let twists = if damped { twists_of(self.bodies, states, &self.rows) } else { Vec::new() };
        let count = self.rows.len();
        let mut found = Residual {
            change: Vec::with_capacity(count),
            bounds: Vec::with_capacity(count),
            merit: 0.0,
            error: 0.0,
        };
        let mut next = 0;
        for &index in self.which {
            let joint = &self.joints[index];
            let pose: Pose<D> = pose_of(joint, &self.frames);
            while next < count && self.rows[next].joint == index {
                let (row, held) = (&self.rows[next], total[next]);
                let scale = if row.slot < D { joint.length() } else { 1.0 };
                let (change, error) = match position_error(row, &pose, self.plan, held) {
                    Some(error) => {
                        let error = error - self.kept[next];
                        (-error / dt, error.abs() / scale)
                    }
                    None => {
                        let change = -(row.speed(|i| twists[i]) + self.compliance[next] * held);
                        (change, change.abs() * dt / scale)
                    }
                };
                let any = [f64::NEG_INFINITY, f64::INFINITY];
                let [low, high] = match row.purpose {
                    Purpose::Lock | Purpose::Damping(_) => any,
                    Purpose::Limit { .. } if is_fixed(joint.freedom(row.slot)) => any,
                    Purpose::Limit { min, max } => {
                        let value = super::coordinates::near(pose.value[row.slot], min, max, row.slot >= D);
                        let lower = held > 0.0 || (held == 0.0 && value < 0.5 * (min + max));
                        if lower { [0.0, f64::INFINITY] } else { [f64::NEG_INFINITY, 0.0] }
                    }
                    Purpose::Drive(number) => {
                        let cap = self.plan.drives[index][number].half_cap;
                        [-cap, cap]
                    }
                    Purpose::Pose(_) => {
                        let cap = self.plan.poses[index].as_ref().map_or(0.0, |want| want.half_cap);
                        [-cap, cap]
                    }
                };
                let resting = (held <= low && change <= 0.0) || (held >= high && change >= 0.0);
                if !resting {
                    let diagonal = self.system.diagonal()[next];
                    if diagonal > 0.0 {
                        found.merit += change * change / diagonal;
                    }
                    found.error = if error.is_nan() { f64::INFINITY } else { found.error.max(error) };
                }
                found.change.push(if change.is_finite() { change } else { 0.0 });
                found.bounds.push([(low - held).min(0.0), (high - held).max(0.0)]);
                next += 1;
            }
        }
        if !found.merit.is_finite() {
            found.merit = f64::INFINITY;
        }
        found
    }
}

/// How an impulse at the start of the step changes the place of a body at its end, by the length of the step: the derivative of the second order
/// orientation update, `exp(u)` with `u = dt w + dt^2/2 I^-1 (L x w)`.
#[derive(Debug, Clone, Copy)]
struct Turning<const D: usize>
where
    Dim<D>: Space<D>,
{
    inverse_mass: f64,
    inverse_inertia: Inertia<D>,
    angular_momentum: Spin<D>,
    spin: Spin<D>,
    turn: Spin<D>,
    dt: f64,
}

impl<const D: usize> Turning<D>
where
    Dim<D>: Space<D>,
{
    fn new(body: &Body<D>, state: &BodyState<D>, dt: f64, options: &PreOptions) -> Self {
        let order = options.orientation_order;
        Self {
            inverse_mass: body.inverse_mass(),
            inverse_inertia: body.world_inverse_inertia(&state.frame),
            angular_momentum: state.angular_momentum,
            spin: body.spin_of(&state.frame, &state.angular_momentum),
            turn: rotation_vector(body, &state.frame, &state.angular_momentum, dt, order),
            dt,
        }
    }

    fn of(&self, impulse: &Twist<D>) -> Twist<D> {
        let change = Dim::apply_inertia(&self.inverse_inertia, &impulse.angular);
        let moment = Dim::spin_commutator(&impulse.angular, &self.spin)
            + Dim::spin_commutator(&self.angular_momentum, &change);
        let inner = change + Dim::apply_inertia(&self.inverse_inertia, &moment) * (0.5 * self.dt);
        // The left Jacobian of the exponential, to second order.
        let once = Dim::spin_commutator(&self.turn, &inner);
        let twice = Dim::spin_commutator(&self.turn, &once);
        Twist {
            linear: impulse.linear * self.inverse_mass,
            angular: inner + once * 0.5 + twice * (1.0 / 6.0),
        }
    }
}
