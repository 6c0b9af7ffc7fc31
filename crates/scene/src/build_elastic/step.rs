//! How bodies of elements are advanced: the scheme and its solves.

use crate::description::{DampingForm, DampingSolve, ElasticIntegrator, ElasticStep};
use splashdown_couple::{DampingKeeps, Solids};
use splashdown_deformable::integrate::{ConstraintForm, ImplicitScheme, Scheme};
use splashdown_math::{Dim, Space, Vector};

fn scheme(integrator: ElasticIntegrator) -> Scheme {
    match integrator {
        ElasticIntegrator::SchemeA => Scheme::A,
        ElasticIntegrator::SchemeB => Scheme::B,
        ElasticIntegrator::SchemeC => Scheme::C,
        ElasticIntegrator::Newmark => Scheme::Newmark,
        ElasticIntegrator::LinearlyImplicit => Scheme::LinearlyImplicit,
        ElasticIntegrator::BackwardEuler => Scheme::Implicit(ImplicitScheme::BackwardEuler),
        ElasticIntegrator::AverageAcceleration => Scheme::Implicit(ImplicitScheme::AverageAcceleration),
        ElasticIntegrator::Quasistatic => Scheme::Implicit(ImplicitScheme::Quasistatic),
        ElasticIntegrator::TwoPass => Scheme::TwoPass,
    }
}

/// No bodies yet, advanced as `step` says.
pub(super) fn solids<const D: usize>(gravity: Vector<D>, step: &ElasticStep) -> Solids<D>
where
    Dim<D>: Space<D>,
{
    let mut solids = Solids::<D>::new(gravity, scheme(step.integrator));
    solids.integrator.implicit.max_iterations = step.newton_iterations as usize;
    solids.integrator.implicit.tolerance = step.tolerance;
    solids.safety = step.safety;
    if let Some(tolerance) = step.solve_tolerance {
        solids.integrator.tolerance = tolerance;
    }
    solids
}

/// What the velocity solve for damping keeps of contacts and joints, and how.
pub(super) fn solve_damping<const D: usize>(own: DampingSolve, solids: &mut Solids<D>)
where
    Dim<D>: Space<D>,
{
    let DampingSolve { form, sweeps, joints, rigid_contacts, soft_contacts, coming_contacts, pairs } = own;
    solids.integrator.form = match form {
        DampingForm::Projection => ConstraintForm::Projection,
        DampingForm::Sweeps => ConstraintForm::Sweeps(sweeps as usize),
        DampingForm::Spd => ConstraintForm::PositiveDefinite,
        DampingForm::Kkt => ConstraintForm::Indefinite,
    };
    solids.integrator.keeps_pairs = pairs;
    solids.integrator.keeps_coming = coming_contacts;
    solids.keeps = DampingKeeps { joints, contacts: rigid_contacts, particles: soft_contacts };
}
