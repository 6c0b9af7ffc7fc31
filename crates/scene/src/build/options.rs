//! The choices of a scene for steps, contact and joints of rigid bodies.

use crate::description::{ContactMethod, EnergyFix, Formulation, PushOut, Scene, Stabilization};
use splashdown_couple::Options;
use splashdown_rigid::OrientationOrder;

/// Sets what a scene chooses.
pub(super) fn set_options(scene: &Scene, options: &mut Options) {
    options.tolerance = scene.solver.tolerance;
    options.max_iterations = scene.solver.max_iterations as usize;
    options.formulation = match scene.solver.formulation {
        Formulation::Spd => splashdown_couple::Formulation::Spd,
        Formulation::Kkt => splashdown_couple::Formulation::Kkt,
    };
    options.stage_totals = scene.output.stages;
    options.contact.enabled = scene.contact.enabled;
    options.contact.iterations = scene.contact.iterations as usize;
    options.contact.allowed_overlap = scene.contact.overlap;
    let sweeps = &scene.contact.sweeps;
    options.contact.collision_sweeps = sweeps.collision as usize;
    options.contact.pair_impulses = sweeps.pair as usize;
    options.contact.contact_sweeps = sweeps.contact as usize;
    options.contact.level_iterations = sweeps.level as usize;
    options.contact.sleeping = splashdown_rigid::Sleeping {
        enabled: scene.contact.sleeping,
        speed: scene.contact.sleep_speed,
        after: scene.contact.sleep_after,
    };
    if scene.contact.method == ContactMethod::Propagation {
        options.contact.method = splashdown_rigid::ContactMethod::Propagation;
        options.contact.push_out = splashdown_rigid::PushOut::Central;
    }
    options.contact.shock_propagation = scene.contact.shock_propagation;
    options.contact.clamp_collisions = scene.contact.energy_clamp;
    options.contact.clamp_contact = scene.contact.energy_clamp;
    if let Some(push_out) = scene.contact.push_out {
        options.contact.push_out = match push_out {
            PushOut::Off => splashdown_rigid::PushOut::Off,
            PushOut::Projection => splashdown_rigid::PushOut::Projection,
            PushOut::Central => splashdown_rigid::PushOut::Central,
            PushOut::CentralNormal => splashdown_rigid::PushOut::CentralNormal,
        };
    }
    options.orientation_order = match scene.free_rotation.order {
        1 => OrientationOrder::First,
        2 => OrientationOrder::Second,
        _ => OrientationOrder::Third,
    };
    options.energy_fix = match scene.free_rotation.energy_fix {
        EnergyFix::Off => splashdown_rigid::EnergyFix::Off,
        EnergyFix::Final => splashdown_rigid::EnergyFix::Final,
        EnergyFix::Always => splashdown_rigid::EnergyFix::Always,
    };
    let stabilization = |word| match word {
        Stabilization::Global => splashdown_rigid::joint::Stabilization::Global,
        Stabilization::Pairwise => splashdown_rigid::joint::Stabilization::Pairwise,
    };
    options.joints = splashdown_couple::JointOptions {
        pre: stabilization(scene.articulation.pre_stabilization),
        post: stabilization(scene.articulation.post_stabilization),
        sweeps: scene.articulation.sweeps as usize,
    };
}
