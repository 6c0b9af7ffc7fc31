//! Totals after each stage of a step, with the times of their positions and velocities, and what the stage has changed.
//!
//! Within a step the two are often of different times (spec/rigid-bodies.md 3.5, 3.11): the energy of such a split state means nothing, so only the parts
//! of the others have a total. What a stage does to momenta means something in every state, measured at the positions that it acts at.

use crate::Model;
use crate::generalized::Velocities;
use serde::{Deserialize, Serialize};
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin, Vector};
use splashdown_rigid::Motion;

/// A time within a step that starts at `t^n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tag {
    /// `t^n`.
    #[serde(rename = "n")]
    Start,
    /// `t^{n+1/2}`.
    #[serde(rename = "n+1/2")]
    Half,
    /// `t^{n+1}`.
    #[serde(rename = "n+1")]
    End,
}

/// Totals of the rigid bodies and particles that respond, after a stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageTotals {
    /// The stage, as in the table of `step.rs`.
    pub stage: String,
    /// Time of the positions.
    pub positions: Tag,
    /// Time of the velocities.
    pub velocities: Tag,
    /// Are these two different times?
    pub split: bool,
    /// Linear momentum (kg m/s).
    pub momentum: Vec<f64>,
    /// Angular momentum about the origin (kg m^2/s).
    pub angular_momentum: Vec<f64>,
    /// Kinetic energy (J).
    pub kinetic_energy: f64,
    /// Potential energy of gravity, zero at the origin (J).
    pub gravity_energy: f64,
    /// Sum of the two (J), without elastic energy; none of a split state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_energy: Option<f64>,
    /// By how much the stage has changed the linear momentum (kg m/s).
    #[serde(default)]
    pub momentum_change: Vec<f64>,
    /// By how much it has changed the angular momentum about the origin at the positions that it acts at (kg m^2/s).
    #[serde(default)]
    pub angular_momentum_change: Vec<f64>,
    /// By how much it has changed the kinetic energy at those positions (J).
    #[serde(default)]
    pub energy_change: f64,
    /// Sums of the sizes of all linear (kg m/s) and angular (kg m^2/s) momenta, to compare changes with.
    #[serde(default)]
    pub sizes: [f64; 2],
}

/// Positions at a time: frames of rigid bodies, particles on springs.
pub(crate) type Places<'a, const D: usize> = (Tag, &'a [Frame<D>], &'a [Vector<D>]);

/// Velocities of a time. Bodies beyond those of the model are the particles of solids that rigid bodies reach; they go before what is said of these elsewhere.
pub(crate) type Moves<'a, const D: usize> = (Tag, &'a Velocities<D>);

/// Positions (m) and velocities (m/s) of the particles of solids, flat.
pub(crate) type SoftParts<'a> = (&'a [f64], &'a [f64]);

/// Takes the totals of a step, if they are asked for.
pub(crate) struct Audit<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    model: Option<&'a Model<D>>,
    /// Mass (kg) of each particle of solids that responds, 0 for the others.
    masses: Vec<f64>,
    /// The particles of solids that rigid bodies reach.
    reached: Vec<u32>,
    /// Positions at the start of the step.
    first: Option<Positions<D>>,
    /// The last velocities at the start, half way and at the end.
    last: [Option<Motions<D>>; 3],
    pub stages: Vec<StageTotals>,
}

#[derive(Clone)]
struct Positions<const D: usize>
where
    Dim<D>: Space<D>,
{
    frames: Vec<Frame<D>>,
    points: Vec<Vector<D>>,
    soft: Vec<f64>,
}

#[derive(Clone)]
struct Motions<const D: usize>
where
    Dim<D>: Space<D>,
{
    bodies: Vec<Motion<D>>,
    points: Vec<Vector<D>>,
    soft: Vec<f64>,
}

struct Sums<const D: usize>
where
    Dim<D>: Space<D>,
{
    momentum: Vector<D>,
    angular: Spin<D>,
    kinetic: f64,
    gravity: f64,
    sizes: [f64; 2],
}

impl<'a, const D: usize> Audit<'a, D>
where
    Dim<D>: Space<D>,
{
    /// Of a step of `model`; `masses` (kg) are those of the particles of solids that respond, 0 for the others.
    pub fn new(model: &'a Model<D>, masses: impl FnOnce() -> Vec<f64>) -> Self {
        let wanted = model.options.stage_totals;
        Self {
            model: wanted.then_some(model),
            masses: if wanted { masses() } else { Vec::new() },
            reached: Vec::new(),
            first: None,
            last: [None, None, None],
            stages: Vec::new(),
        }
    }

    /// What the step starts from, and the particles of solids that rigid bodies reach in it.
    pub fn start(
        &mut self,
        places: Places<'_, D>,
        moves: Moves<'_, D>,
        soft: SoftParts<'_>,
        reached: &[u32],
    ) {
        let Some(model) = self.model else { return };
        self.reached = reached.to_vec();
        self.first = Some(Positions::of(places, soft.0, model.bodies.len()));
        self.last[0] = Some(Motions::of(moves, soft.1, model.bodies.len(), reached));
    }

    /// The totals after `stage`. It acts at these positions, or half way between those at the start and there (`midway`).
    pub fn record(
        &mut self,
        stage: &str,
        places: Places<'_, D>,
        moves: Moves<'_, D>,
        soft: SoftParts<'_>,
        midway: bool,
    ) {
        let (Some(model), Some(first)) = (self.model, &self.first) else { return };
        let count = model.bodies.len();
        let here = Positions::of(places, soft.0, count);
        let now = Motions::of(moves, soft.1, count, &self.reached);
        let (positions, velocities) = (places.0, moves.0);
        // What the stage started from: the last velocities of that time, or those at the start of the step.
        let kind = velocities as usize;
        let Some(before) = self.last[kind].clone().or_else(|| self.last[0].clone()) else { return };
        let acts = if midway { first.half_way_to(&here) } else { here.clone() };
        let [old, new] = [&before, &now].map(|motions| self.sums(model, &acts, motions));
        let total = self.sums(model, &here, &now);
        // Collisions change the velocities half way by as much as those at the start.
        if velocities == Tag::Start
            && let Some(half) = &mut self.last[Tag::Half as usize]
        {
            half.add_difference(&before, &now);
        }
        self.last[kind] = Some(now);
        let split = positions != velocities;
        let (kinetic_energy, gravity_energy) = (total.kinetic, total.gravity);
        self.stages.push(StageTotals {
            stage: stage.into(),
            positions,
            velocities,
            split,
            momentum: total.momentum.as_slice().to_vec(),
            angular_momentum: Coordinates::as_slice(&total.angular).to_vec(),
            kinetic_energy,
            gravity_energy,
            total_energy: (!split).then_some(kinetic_energy + gravity_energy),
            momentum_change: (new.momentum - old.momentum).as_slice().to_vec(),
            angular_momentum_change: Coordinates::as_slice(&(new.angular - old.angular)).to_vec(),
            energy_change: new.kinetic - old.kinetic,
            sizes: [0, 1].map(|k| old.sizes[k].max(new.sizes[k])),
        });
    }

    fn sums(&self, model: &Model<D>, places: &Positions<D>, motions: &Motions<D>) -> Sums<D> {
        let mut sums = Sums {
            momentum: Vector::zeros(),
            angular: Spin::<D>::zero(),
            kinetic: 0.0,
            gravity: 0.0,
            sizes: [0.0; 2],
        };
        let moving = model.bodies.iter().zip(&places.frames).zip(&motions.bodies);
        for ((body, frame), motion) in moving.filter(|((body, _), _)| body.is_dynamic()) {
            sums.add(body.mass, &model.gravity, &frame.position, &motion.velocity);
            sums.angular += motion.angular_momentum;
            sums.sizes[1] += Coordinates::norm(&motion.angular_momentum);
            let spin = body.spin_of(frame, &motion.angular_momentum);
            sums.kinetic += 0.5 * motion.angular_momentum.dot(&spin);
        }
        for (particle, (x, v)) in places.points.iter().zip(&motions.points).enumerate() {
            if !model.particles.pinned[particle] {
                sums.add(model.particles.mass[particle], &model.gravity, x, v);
            }
        }
        let flat = places.soft.chunks_exact(D).zip(motions.soft.chunks_exact(D));
        for ((x, v), &mass) in flat.zip(&self.masses).filter(|(_, mass)| **mass > 0.0) {
            let [x, v] = [x, v].map(Vector::from_column_slice);
            sums.add(mass, &model.gravity, &x, &v);
        }
        sums
    }
}

impl<const D: usize> Sums<D>
where
    Dim<D>: Space<D>,
{
    fn add(&mut self, mass: f64, gravity: &Vector<D>, x: &Vector<D>, v: &Vector<D>) {
        let p = v * mass;
        self.momentum += p;
        self.angular += Dim::cross(x, &p);
        self.kinetic += 0.5 * p.dot(v);
        self.gravity -= mass * gravity.dot(x);
        self.sizes[0] += p.norm();
        self.sizes[1] += x.norm() * p.norm();
    }
}

impl<const D: usize> Positions<D>
where
    Dim<D>: Space<D>,
{
    fn of((_, frames, points): Places<'_, D>, soft: &[f64], bodies: usize) -> Self {
        Self { frames: frames[..bodies].to_vec(), points: points.to_vec(), soft: soft.to_vec() }
    }

    fn half_way_to(&self, end: &Self) -> Self {
        let half = |a: f64, b: f64| 0.5 * (a + b);
        Self {
            frames: self.frames.iter().zip(&end.frames).map(|(a, b)| a.interpolate(b, 0.5)).collect(),
            points: self.points.iter().zip(&end.points).map(|(a, b)| (a + b) * 0.5).collect(),
            soft: self.soft.iter().zip(&end.soft).map(|(a, b)| half(*a, *b)).collect(),
        }
    }
}

impl<const D: usize> Motions<D>
where
    Dim<D>: Space<D>,
{
    fn of((_, velocities): Moves<'_, D>, soft: &[f64], count: usize, reached: &[u32]) -> Self {
        let Velocities { bodies, particles } = velocities;
        let mut soft = soft.to_vec();
        for (&particle, motion) in reached.iter().zip(&bodies[count..]) {
            soft[D * particle as usize..][..D].copy_from_slice(motion.velocity.as_slice());
        }
        Self { bodies: bodies[..count].to_vec(), points: particles.clone(), soft }
    }

    fn add_difference(&mut self, before: &Self, after: &Self) {
        for ((own, old), new) in self.bodies.iter_mut().zip(&before.bodies).zip(&after.bodies) {
            own.velocity += new.velocity - old.velocity;
            own.angular_momentum += new.angular_momentum - old.angular_momentum;
        }
        for ((own, old), new) in self.points.iter_mut().zip(&before.points).zip(&after.points) {
            *own += new - old;
        }
        for ((own, old), new) in self.soft.iter_mut().zip(&before.soft).zip(&after.soft) {
            *own += new - old;
        }
    }
}
