//! Bodies that keep their volume.

use super::{Assembly, Built, ElasticSpace, wrong};
use crate::build::BuildError;
use crate::description::{FluidCoupling, Scene, VolumeSolver, VolumeStep};
use splashdown_couple::SolidElement;
use splashdown_couple::fluid_structure::MOST_RINGS;
use splashdown_deformable::incompressible::{
    Incompressible, IncompressibleOptions, PairTreatment, PressureSolver, Rings,
};
use splashdown_deformable::integrate::Scheme;
use splashdown_math::Dim;

impl<const D: usize> Assembly<D>
where
    Dim<D>: ElasticSpace<D>,
{
    /// Counts the elements of a copy, whose first particle is `first`, among those that keep their volume.
    pub(super) fn add_constant(
        &mut self,
        name: &str,
        placed: &Built<D>,
        first: u32,
    ) -> Result<(), BuildError> {
        if !matches!(placed.element, SolidElement::Tetrahedron | SolidElement::Triangle) {
            return Err(wrong(name, "`elastic.incompressible` needs tetrahedra or triangles"));
        }
        let corners = placed.element.corners();
        if *self.corners_of_rings.get_or_insert(corners) != corners {
            let reason =
                "`elastic.incompressible` cannot be for sheets and for bodies of tetrahedra in one scene";
            return Err(wrong(name, reason));
        }
        self.constant.extend(placed.elements.iter().map(|node| node + first));
        Ok(())
    }

    /// Makes the elements that are counted keep their volume.
    pub(super) fn keep_volume(&mut self, scene: &Scene) -> Result<(), BuildError> {
        let rings = Rings::new(self.corners_of_rings.unwrap_or(D + 1), &self.constant, &self.rest);
        let Some(rings) = rings.filter(|rings| !rings.is_empty()) else { return Ok(()) };
        check(scene, self.solids.integrator.scheme, rings.len())?;
        self.solids.integrator.incompressible =
            Some(Incompressible::new(rings, options(&scene.elastic.volume)));
        Ok(())
    }
}

/// Does what keeps the volume around `count` points go with the rest of the scene?
fn check(scene: &Scene, scheme: Scheme, count: usize) -> Result<(), BuildError> {
    let VolumeStep { sweeps, monolithic, .. } = scene.elastic.volume;
    if monolithic && !matches!(scheme, Scheme::B | Scheme::C) {
        let reason = "`monolithic` needs the integrator \"scheme_b\" or \"scheme_c\" in `[elastic]`";
        return Err(wrong("[elastic.volume]", reason));
    }
    if monolithic && sweeps > 0 {
        let reason = "`sweeps` do not go with `monolithic`, where contacts are rows of the solve";
        return Err(wrong("[elastic.volume]", reason));
    }
    let body = || {
        let keeps = scene.deformable.iter().find(|body| body.elastic.incompressible);
        keeps.map_or("elastic", |body| &body.name)
    };
    if scene.elastic.self_contact.is_some() && matches!(scheme, Scheme::Implicit(_)) {
        let reason = "`self_contact` and `incompressible` bodies do not go together with a fully implicit integrator, which knows nothing of the volume until its step is done; \"two_pass\", \"scheme_b\" and \"scheme_c\" have both";
        return Err(wrong(body(), reason));
    }
    too_many_rings(scene, count).map_or(Ok(()), |(name, reason)| Err(wrong(name, &reason)))
}

/// The name of the first of the bodies that keep the volume around `count` points together, and a word, where that is more than the solves with a fluid can hold.
pub(crate) fn too_many_rings(scene: &Scene, count: usize) -> Option<(&str, String)> {
    let coupled = scene.fluid.as_ref().is_some_and(|fluid| fluid.coupling != FluidCoupling::Word(false));
    let body = scene.deformable.iter().find(|body| body.elastic.incompressible)?;
    (coupled && count > MOST_RINGS).then(|| {
        let reason = format!(
            "incompressible bodies in a fluid may have {MOST_RINGS} points, these have {count}; use fewer, Poisson's ratio 0.49, or `coupling = false` in `[fluid]`"
        );
        (body.name.as_str(), reason)
    })
}

fn options(own: &VolumeStep) -> IncompressibleOptions {
    IncompressibleOptions {
        recovery_time: own.recovery_time,
        tolerance: own.tolerance,
        max_iterations: own.max_iterations as usize,
        newton_steps: own.newton_steps as usize,
        contact_in_prediction: own.contact_in_prediction,
        solver: match own.solver {
            VolumeSolver::MinimalResiduals => PressureSolver::MinimalResiduals,
            VolumeSolver::ConjugateGradients => PressureSolver::ConjugateGradients,
        },
        pairs: match own.sweeps {
            0 => PairTreatment::Rows,
            sweeps => PairTreatment::Sweeps(sweeps as usize),
        },
        monolithic: own.monolithic,
    }
}
