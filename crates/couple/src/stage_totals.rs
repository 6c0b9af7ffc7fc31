//! Totals of the rigid bodies after each stage of a step, with the times of their positions and velocities.
//!
//! Within a step the two are often of different times (spec/rigid-bodies.md 3.5, 3.11): the energy of such a split state means nothing, so only the parts
//! of the others have a total.

use crate::Model;
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

/// Totals of the rigid bodies that respond, after a stage.
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
    /// Sum of the two (J); none of a split state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_energy: Option<f64>,
}

impl StageTotals {
    /// Measures the bodies of `model` at `frames` (time `positions`) with `motions` (time `velocities`).
    pub(crate) fn measure<const D: usize>(
        stage: &str,
        model: &Model<D>,
        (frames, positions): (&[Frame<D>], Tag),
        (motions, velocities): (&[Motion<D>], Tag),
    ) -> Self
    where
        Dim<D>: Space<D>,
    {
        let mut momentum = Vector::<D>::zeros();
        let mut angular = Spin::<D>::zero();
        let (mut kinetic_energy, mut gravity_energy) = (0.0, 0.0);
        let moving = model.bodies.iter().zip(frames).zip(motions).filter(|((body, _), _)| body.is_dynamic());
        for ((body, frame), motion) in moving {
            let p = motion.velocity * body.mass;
            momentum += p;
            angular += Dim::cross(&frame.position, &p) + motion.angular_momentum;
            let spin = body.spin_of(frame, &motion.angular_momentum);
            kinetic_energy += 0.5 * (p.dot(&motion.velocity) + motion.angular_momentum.dot(&spin));
            gravity_energy -= body.mass * model.gravity.dot(&frame.position);
        }
        let split = positions != velocities;
        Self {
            stage: stage.into(),
            positions,
            velocities,
            split,
            momentum: momentum.as_slice().to_vec(),
            angular_momentum: Coordinates::as_slice(&angular).to_vec(),
            kinetic_energy,
            gravity_energy,
            total_energy: (!split).then_some(kinetic_energy + gravity_energy),
        }
    }
}
