//! Chains of particles and springs.

use super::{BuildError, vector};
use crate::description::{Deformable, Geometry};
use splashdown_couple::World;
use splashdown_deformable::{Particles, Spring};
use splashdown_math::{Dim, Space, Vector};

/// Adds a chain.
pub(super) fn add_chain<const D: usize>(world: &mut World<D>, body: &Deformable) -> Result<(), BuildError>
where
    Dim<D>: Space<D>,
{
    let name = body.name.as_str();
    let Geometry::Chain(chain) = &body.geometry else {
        return Err(BuildError::Elastic {
            name: name.into(),
            reason: "a body of this geometry needs a `material`".into(),
        });
    };
    let from = vector::<D>(name, "geometry.chain.from", Some(&chain.from))?;
    let to = vector::<D>(name, "geometry.chain.to", Some(&chain.to))?;
    let count = chain.particles as usize;
    let links = count.saturating_sub(1).max(1);
    let length = (to - from).norm();
    let mass = match (body.mass, body.density) {
        (Some(mass), _) => mass,
        (None, Some(density)) => density * length,
        (None, None) => return Err(BuildError::NoMass { name: name.into() }),
    };
    // Each link gives half of its mass to either end.
    let link_mass = mass / links as f64;
    let particles = Particles {
        mass: (0..count)
            .map(|i| if i == 0 || i + 1 == count { 0.5 * link_mass } else { link_mass })
            .collect(),
        pinned: {
            let mut pinned = vec![false; count];
            for &index in &body.pinned {
                if let Some(pin) = pinned.get_mut(index as usize) {
                    *pin = true;
                }
            }
            pinned
        },
    };
    let position: Vec<Vector<D>> =
        (0..count).map(|i| from + (to - from) * (i as f64 / links as f64)).collect();
    let moving = vector::<D>(name, "velocity", body.velocity.as_deref())?;
    let velocity: Vec<Vector<D>> =
        particles.pinned.iter().map(|&pinned| if pinned { Vector::zeros() } else { moving }).collect();
    let springs: Vec<Spring> = body.springs.as_ref().map_or_else(Vec::new, |springs| {
        let rest_length = springs.rest_length.unwrap_or(length / links as f64);
        (1..count as u32)
            .map(|end| {
                let ends = [end - 1, end];
                Spring::with_damping_ratio(
                    ends,
                    springs.stiffness,
                    springs.damping_ratio,
                    rest_length,
                    &particles,
                )
            })
            .collect()
    });
    world.add_deformable(name, particles, &springs, &position, &velocity)?;
    Ok(())
}
