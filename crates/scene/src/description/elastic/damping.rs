//! The velocity solve for damping.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the velocity solve for damping keeps of contacts and joints, and how. All forms have the same solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DampingSolve {
    /// The linear system.
    pub form: DampingForm,
    /// Sweeps of the form `sweeps`.
    #[schemars(range(min = 1, max = 1000))]
    pub sweeps: u32,
    /// Joints of rigid bodies that carry or touch soft ones.
    pub joints: bool,
    /// Contacts of such bodies with other rigid ones.
    pub rigid_contacts: bool,
    /// Contacts of soft bodies with moving rigid ones.
    pub soft_contacts: bool,
    /// Contacts of soft bodies with rigid ones in the prediction of positions, too, before contact itself acts. Those that part are let go.
    pub coming_contacts: bool,
    /// Pairs of `self_contact` that approach each other.
    pub pairs: bool,
}

/// The linear system of the velocity solve for damping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DampingForm {
    /// Conjugate gradients on velocities that are projected exactly: the fastest.
    #[default]
    Projection,
    /// Conjugate gradients on velocities that are projected by symmetric sweeps over the constraints, which leave something; no tolerance is taken below what they leave, and the log says
    /// so.
    Sweeps,
    /// Symmetric positive definite system in the impulses of damping and constraints.
    Spd,
    /// Symmetric indefinite system in velocities and impulses, for comparison.
    Kkt,
}

impl Default for DampingSolve {
    fn default() -> Self {
        Self {
            form: DampingForm::default(),
            sweeps: 5,
            joints: true,
            rigid_contacts: true,
            soft_contacts: true,
            coming_contacts: true,
            pairs: false,
        }
    }
}
