//! Contact of bodies of elements with rigid ones, in layers, with themselves and with each other.

use super::{Assembly, ElasticSpace, is_copy_of, wrong};
use crate::build::BuildError;
use crate::build_layers::{add_layers, add_skins};
use crate::description::{ElasticCollisions, ElasticStep, Scene, SelfContactDescription};
use splashdown_couple::{Solids, World};
use splashdown_deformable::collide::{Colliders, CollisionMethod};
use splashdown_deformable::contact::{BarrierOptions, ContactSurface, SelfContact, SelfContactOptions};
use splashdown_deformable::integrate::Scheme;
use splashdown_math::{Dim, Space, Vector};

impl<const D: usize> Assembly<D>
where
    Dim<D>: ElasticSpace<D>,
{
    /// Soft and rigid bodies that pass through each other.
    pub(super) fn keep_apart(&mut self, world: &World<D>, scene: &Scene) {
        let solids = &mut self.solids;
        for [a, b] in &scene.contact.apart {
            let (bodies, rigid) = (&solids.bodies, &world.model().bodies);
            let soft = |name: &str| -> Vec<String> {
                bodies.iter().map(|body| &body.name).filter(|full| is_copy_of(full, name)).cloned().collect()
            };
            let hard = |name: &str| -> Vec<u32> {
                let named = rigid.iter().enumerate().filter(|(_, body)| is_copy_of(&body.name, name));
                named.map(|(index, _)| index as u32).collect()
            };
            let pairs = [(soft(a), hard(b)), (soft(b), hard(a))];
            for (soft, hard) in pairs {
                solids
                    .apart
                    .extend(soft.iter().flat_map(|soft| hard.iter().map(|&body| (soft.clone(), body))));
            }
        }
    }

    /// Contact with rigid bodies, in layers and, where the scene has it, of surfaces with each other.
    pub(super) fn add_contact(&mut self, world: &World<D>, scene: &Scene) -> Result<(), BuildError> {
        let step = &scene.elastic;
        let Self { solids, rest, position, velocity, surface, .. } = self;
        solids.thickness = step.distance;
        solids.friction =
            scene.rigid_copies().map(|copy| copy.rigid.friction.unwrap_or(step.friction)).collect();
        let mut parted = add_layers(&scene.deformable, surface, rest, step.friction, step.distance, solids)?;
        parted.extend(add_skins(scene, world, solids, &mut [rest, position, velocity], surface)?);
        let contact = ContactSurface::new(std::mem::take(surface)).parted(parted);
        stop_at_rigid_bodies(step, &contact, solids);
        match &step.self_contact {
            Some(own) => self.add_self_contact(own, contact, world),
            None => Ok(()),
        }
    }

    fn add_self_contact(
        &mut self,
        own: &SelfContactDescription,
        contact: ContactSurface<D>,
        world: &World<D>,
    ) -> Result<(), BuildError> {
        let integrator = &self.solids.integrator;
        let implicit = matches!(integrator.scheme, Scheme::Implicit(_));
        if integrator.scheme == Scheme::LinearlyImplicit {
            let reason = "`self_contact` does not go with the integrator \"linearly_implicit\"; \"backward_euler\" and \"scheme_b\" have it";
            return Err(wrong("elastic", reason));
        }
        let options = SelfContactOptions {
            thickness: own.thickness,
            friction: own.friction,
            stiffness: own.repulsion.unwrap_or(SelfContactOptions::default().stiffness),
            continuous: !own.repulsion_only,
            ..SelfContactOptions::default()
        };
        if options.continuous || implicit {
            apart_at_start(&contact, &self.position, &self.solids, world)?;
        }
        let barrier =
            BarrierOptions { reach: own.thickness, friction: own.friction, ..BarrierOptions::default() };
        let integrator = &mut self.solids.integrator;
        integrator.self_contact = Some(SelfContact::new(contact, &self.rest, options).with_barrier(barrier));
        if implicit {
            // The barrier keeps every iterate free of intersections, so a step that has not fully converged is still a good state.
            integrator.implicit.strict = false;
            // Motions of a fiftieth of the distance that contact keeps do not show, and stiff contact forces make a residual say little.
            integrator.implicit.resolution = 0.02 * own.thickness;
            integrator.implicit.linear_tolerance = 0.1;
        }
        Ok(())
    }
}

/// How, and which, points are stopped by rigid bodies.
fn stop_at_rigid_bodies<const D: usize>(
    step: &ElasticStep,
    contact: &ContactSurface<D>,
    solids: &mut Solids<D>,
) where
    Dim<D>: Space<D>,
{
    let integrator = &mut solids.integrator;
    integrator.surface = contact.points().to_vec();
    integrator.method = match step.collisions {
        ElasticCollisions::Swept => CollisionMethod::Swept,
        ElasticCollisions::Projected => CollisionMethod::Projected,
        ElasticCollisions::ProjectedWithPush => CollisionMethod::ProjectedWithPush,
    };
    integrator.release = step.release;
    integrator.push_out = step.push_out_speed.unwrap_or(f64::INFINITY);
    if !step.inner_points && (D == 3 || !contact.points().is_empty()) {
        integrator.colliders = Colliders::These(contact.points().to_vec());
    }
}

/// Contact along paths keeps surfaces apart that are apart; those that pass through each other at the start would do so for good.
fn apart_at_start<const D: usize>(
    contact: &ContactSurface<D>,
    position: &[f64],
    solids: &Solids<D>,
    world: &World<D>,
) -> Result<(), BuildError>
where
    Dim<D>: Space<D>,
{
    let Some((particles, count)) = contact.first_crossing(position) else { return Ok(()) };
    let owner = |particle: u32| -> (String, String) {
        let skin = solids.skins.iter().find(|skin| skin.particle == particle);
        let body = skin.and_then(|skin| world.model().bodies.get(skin.body as usize));
        match body {
            Some(body) => (body.name.clone(), "its skin".into()),
            None => {
                let (name, own) = solids.name_of_particle(particle as usize);
                (name.to_owned(), format!("particle {own}"))
            }
        }
    };
    let [(one, first), (other, second)] = particles.map(owner);
    let who = if one == other { "itself".into() } else { format!("`{other}`") };
    let at = read::<D>(position, particles[0]);
    let reason = format!(
        "its surface passes through {who} at the start ({count} edges through faces, the first with {first} near {:?} and {second} of `{other}`): `self_contact` keeps apart only what starts apart; move \
         the bodies away from each other, or disturb them less",
        at.as_slice()
    );
    Err(wrong(&one, reason))
}

fn read<const D: usize>(flat: &[f64], particle: u32) -> Vector<D> {
    Vector::from_column_slice(&flat[D * particle as usize..][..D])
}
