//! Conserved quantities, logged by every run.

use crate::{Model, State};
use serde::{Deserialize, Serialize};
use splashdown_fluid::FluidDiagnostics;
use splashdown_math::{Coordinates, Dim, Space, Spin, Vector};
use splashdown_rigid::joint::joint_errors;

/// Totals over everything that moves freely (static, kinematic and pinned parts excluded).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diagnostics {
    /// Simulated time (s).
    pub time: f64,
    /// Number of steps taken.
    pub step: u64,
    /// Mass (kg).
    pub mass: f64,
    /// Linear momentum (kg m/s).
    pub momentum: Vec<f64>,
    /// Angular momentum about the origin (kg m^2/s).
    pub angular_momentum: Vec<f64>,
    /// Kinetic energy (J).
    pub kinetic_energy: f64,
    /// Elastic energy (J).
    pub elastic_energy: f64,
    /// Potential energy of gravity, zero at the origin (J).
    pub gravity_energy: f64,
    /// Sum of the three energies (J).
    pub total_energy: f64,
    /// Largest speed of a particle or a body's centre (m/s).
    pub max_speed: f64,
    /// The elements of deformable bodies, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elements: Option<ElementDiagnostics>,
    /// How well the joints hold, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joints: Option<JointDiagnostics>,
    /// The fluid, which is not part of the totals above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fluid: Option<FluidDiagnostics>,
}

/// In what state the elements are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElementDiagnostics {
    /// Elements that are inside out.
    pub inverted: usize,
    /// Parts of forces left out because they have no size, such as hinges beside a triangle without area.
    pub skipped: usize,
}

/// Largest errors of all joints.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct JointDiagnostics {
    /// Of locked translations (m).
    pub linear_error: f64,
    /// Of locked angles (rad).
    pub angular_error: f64,
    /// Beyond the limits of translations (m).
    pub linear_limit_error: f64,
    /// Beyond the limits of angles (rad).
    pub angular_limit_error: f64,
}

impl Diagnostics {
    /// Measures `state`.
    pub fn measure<const D: usize>(model: &Model<D>, state: &State<D>) -> Self
    where
        Dim<D>: Space<D>,
    {
        let mut mass = 0.0;
        let mut momentum = Vector::<D>::zeros();
        let mut angular = Spin::<D>::zero();
        let mut kinetic_energy = 0.0;
        let mut moment = Vector::<D>::zeros();
        let mut max_speed = 0.0f64;
        for (body, now) in model.bodies.iter().zip(&state.bodies).filter(|(body, _)| body.is_dynamic()) {
            mass += body.mass;
            momentum += now.velocity * body.mass;
            angular += Dim::cross(&now.frame.position, &(now.velocity * body.mass)) + now.angular_momentum;
            kinetic_energy += now.kinetic_energy(body);
            moment += now.frame.position * body.mass;
            max_speed = max_speed.max(now.velocity.norm());
        }
        for particle in (0..model.particles.len()).filter(|&particle| !model.particles.pinned[particle]) {
            let m = model.particles.mass[particle];
            let (x, v) = (&state.particles.position[particle], &state.particles.velocity[particle]);
            mass += m;
            momentum += v * m;
            angular += Dim::cross(x, &(v * m));
            kinetic_energy += 0.5 * m * v.norm_squared();
            moment += x * m;
            max_speed = max_speed.max(v.norm());
        }
        let elastic_energy = model.springs.energy(&state.particles.position);
        let gravity_energy = -model.gravity.dot(&moment);
        Self {
            time: state.time,
            step: state.step,
            mass,
            momentum: momentum.as_slice().to_vec(),
            angular_momentum: Coordinates::as_slice(&angular).to_vec(),
            kinetic_energy,
            elastic_energy,
            gravity_energy,
            total_energy: kinetic_energy + elastic_energy + gravity_energy,
            max_speed,
            joints: (!model.joints.is_empty()).then(|| {
                let errors = joint_errors(&model.joints, |i| state.bodies[i].frame);
                JointDiagnostics {
                    linear_error: errors.linear,
                    angular_error: errors.angular,
                    linear_limit_error: errors.linear_limit,
                    angular_limit_error: errors.angular_limit,
                }
            }),
            elements: None,
            fluid: None,
        }
    }
}
