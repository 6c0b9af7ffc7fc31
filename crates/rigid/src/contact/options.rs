//! Options and reports of contact.

use super::Sleeping;
use serde::{Deserialize, Serialize};

/// How contact is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContactMethod {
    /// All contacts of an island together, by accelerated block Gauss-Seidel with exact Coulomb cones, warm-started from the last step. Conserves
    /// momentum; a heavy body on light ones is held by convergence.
    #[default]
    Simultaneous,
    /// Pair after pair along the contact graph, with positions evolved anew after every impulse, gradual restitution and shock propagation
    /// (spec/rigid-bodies.md 3.8 to 3.10). Shock propagation does not conserve momentum.
    Propagation,
}

/// How overlap that is left after moving is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PushOut {
    /// Not at all.
    Off,
    /// Normal displacements point after point, level after level from the ground up.
    #[default]
    Projection,
    /// One central body against all its neighbours at once (spec/rigid-bodies.md 3.12).
    Central,
    /// As [`Self::Central`], with impulses along the normals only.
    CentralNormal,
}

/// Numbers that say how contact is processed. Defaults are those of spec/rigid-bodies.md 3.19.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ContactOptions {
    /// Off: bodies pass through each other.
    pub enabled: bool,
    /// How contact is solved.
    pub method: ContactMethod,
    /// How overlap is removed.
    pub push_out: PushOut,
    /// Sweeps of the collision phase.
    pub collision_sweeps: usize,
    /// Most impulses for one pair in one visit.
    pub pair_impulses: usize,
    /// Propagation: sweeps of the contact phase.
    pub contact_sweeps: usize,
    /// Propagation: visits of a level within a sweep.
    pub level_iterations: usize,
    /// Freeze each level of the contact graph when it is done, from the ground up. The simultaneous method does so only with what it could not solve
    /// to `coarse_tolerance`. Does not conserve momentum; never used on bodies that rest on nothing of infinite mass by the simultaneous method.
    pub shock_propagation: bool,
    /// Scale collision impulses that would add kinetic energy.
    pub clamp_collisions: bool,
    /// Propagation: scale impulses of the last contact phase that would add kinetic energy.
    pub clamp_contact: bool,
    /// Simultaneous: most iterations of a large island.
    pub iterations: usize,
    /// Simultaneous: an island may use this many row updates to reach `tolerance`; small ones do.
    pub updates: usize,
    /// Simultaneous: stop when no relative velocity changes by more (m/s).
    pub tolerance: f64,
    /// Simultaneous: what an island is content with that has used up its updates (m/s).
    pub coarse_tolerance: f64,
    /// Overlap that push-out leaves (m).
    pub allowed_overlap: f64,
    /// Bodies that have come to rest may sleep.
    pub sleeping: Sleeping,
}

impl Default for ContactOptions {
    fn default() -> Self {
        Self {
            enabled: true,
            method: ContactMethod::default(),
            push_out: PushOut::default(),
            collision_sweeps: 5,
            pair_impulses: 20,
            contact_sweeps: 10,
            level_iterations: 2,
            shock_propagation: true,
            clamp_collisions: true,
            clamp_contact: true,
            iterations: 20,
            updates: 100_000,
            tolerance: 1e-9,
            coarse_tolerance: 1e-3,
            allowed_overlap: 0.0,
            sleeping: Sleeping::default(),
        }
    }
}

/// What the energy clamp did in one phase (spec/rigid-bodies.md 3.11).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Clamped {
    /// Impulses made smaller.
    pub scaled: usize,
    /// Impulses not applied.
    pub discarded: usize,
    /// Kinetic energy kept out (J).
    pub energy: f64,
}

/// What contact did in one step.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ContactReport {
    /// Pairs of bodies near each other.
    pub pairs: usize,
    /// Contact points between them.
    pub contacts: usize,
    /// Pairs that touch in this step.
    pub touching: usize,
    /// Sets of bodies that touch each other.
    pub islands: usize,
    /// Most iterations of an island, over both contact phases.
    pub iterations: usize,
    /// Largest change of a relative velocity in the last iteration (m/s).
    pub residual: f64,
    /// Impulses of the collision phase.
    pub collisions: usize,
    /// The energy clamp in the collision phase.
    pub clamped_collisions: Clamped,
    /// The energy clamp in the last contact phase (propagation).
    pub clamped_contact: Clamped,
    /// Kinetic energy taken out at the end of the step from bodies in contact that had gained some (J).
    pub energy_limited: f64,
    /// Deepest overlap before push-out (m).
    pub overlap_before: f64,
    /// Deepest overlap after push-out (m), at the contacts found at the start of the step.
    pub overlap_after: f64,
    /// Highest level of the contact graph.
    pub levels: u32,
    /// Bodies that sleep after the step.
    #[serde(default)]
    pub asleep: usize,
}
