//! Contact of stiff soft bodies in linearly implicit steps.
//!
//! Contact acts on single particles, whose masses are a small part of what resists: `M + S` (`fluid_structure::Resistance`). What it finds, which pairs push and which stick, is right; what the rest of the
//! body does then is not. So the velocities are solved for once more with what contact and joints demand: `(M + S) v = M v_c + S w + H^T l`, `H v = H v_c`, where `v_c` are the velocities with
//! the impulses of contact.

use crate::Model;
use crate::fluid_structure::{HeldMass, HeldRow, Links, Resistance, SolidMass, SolidMobility};
use splashdown_math::{Dim, Frame, Space, Twist};
use splashdown_rigid::Motion;
use splashdown_solve::{InverseMass, SolveError, VelocityLayout};

/// Soft bodies after contact.
pub(crate) struct Held<'a> {
    /// Their stiffness in this stage.
    pub resistance: Resistance<'a>,
    /// What particles push on with besides the velocities that contact saw (m/s); empty if there is nothing.
    pub missing: &'a [f64],
    /// `1/m` (1/kg) of the particles, 0 for those that move as told.
    pub inverse_masses: &'a [f64],
    /// Velocities (m/s) before contact, if these obey the equation above without contact; else those of the present stage are released ones.
    pub before: Option<&'a [f64]>,
}

/// Lets soft bodies and what touches them follow what contact found. `motions` and `soft` (m/s, flat) have the velocities with the impulses of contact.
///
/// # Errors
/// A stiffness that is not finite.
pub(crate) fn hold<const D: usize>(
    model: &Model<D>,
    frames: &[Frame<D>],
    motions: &mut [Motion<D>],
    soft: &mut [f64],
    held: &[HeldRow<D>],
    body: &Held<'_>,
) -> Result<(), SolveError>
where
    Dim<D>: Space<D>,
{
    let mut links = Links::new(&[], 0, soft.len());
    links.add(model, frames, motions, soft, body.inverse_masses, held);
    let demands = links.demands(soft.len());
    let missing = body.missing.iter().any(|push| *push != 0.0) && body.before.is_none();
    if demands.rows.is_empty() && !missing {
        return Ok(());
    }
    let masses: Vec<Option<f64>> = (0..soft.len())
        .map(|scalar| Some(body.inverse_masses[scalar / D]).filter(|inverse| *inverse > 0.0).map(f64::recip))
        .collect();
    let (resisting, more) = body.resistance.mass(&masses, soft)?;
    let mut velocity: Vec<f64> = match body.before {
        None => {
            soft.iter().zip(&more).zip(&masses).map(|((v, more), m)| m.unwrap_or(0.0) * v + more).collect()
        }
        Some(before) => {
            soft.iter().zip(before).zip(&masses).map(|((v, old), m)| m.unwrap_or(0.0) * (v - old)).collect()
        }
    };
    if missing {
        for ((momentum, mass), push) in velocity.iter_mut().zip(&masses).zip(body.missing) {
            *momentum += mass.unwrap_or(0.0) * push;
        }
    }
    resisting.divide(&mut velocity);
    for (scalar, velocity) in velocity.iter_mut().enumerate() {
        match (masses[scalar], body.before) {
            (None, _) => *velocity = soft[scalar],
            (Some(_), Some(before)) => *velocity += before[scalar],
            _ => {}
        }
    }
    let n = Twist::<D>::LEN;
    let mut inverses = Vec::with_capacity(n * n * links.dry.len());
    for &index in &links.dry {
        let own = &model.bodies[index];
        let inertia = Dim::rotate_inertia(&frames[index].rotation, &own.inertia);
        inverses
            .extend(SolidMass::<D>::new(own.mass, &inertia).inverse().unwrap_or_else(|| vec![0.0; n * n]));
        let mut twist = vec![0.0; n];
        motions[index].twist(own, &frames[index]).write(&mut twist);
        velocity.extend(twist);
    }
    let layout = VelocityLayout::new::<D>(soft.len(), 0, links.dry.len());
    let particles = masses.iter().map(|mass| mass.map_or(0.0, f64::recip)).collect();
    let inverse_mass = InverseMass::new(layout, particles, vec![], inverses)?;
    let mobility = SolidMobility { inverse_mass: &inverse_mass, resisting: Some(resisting) };
    if let Some(held) = HeldMass::new(&mobility, &demands)? {
        held.meet(&demands.values, &mut velocity);
    }
    soft.copy_from_slice(&velocity[..soft.len()]);
    for (&index, twist) in links.dry.iter().zip(velocity[soft.len()..].chunks_exact(n)) {
        motions[index] = Motion::from_twist(&model.bodies[index], &frames[index], &Twist::read(twist));
    }
    Ok(())
}
