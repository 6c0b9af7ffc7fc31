//! Contact of stiff soft bodies in linearly implicit steps.
//!
//! Contact acts on single particles, whose masses are a small part of what resists: `M + S` (`fluid_structure::Resistance`). What it finds, which pairs push and which stick, is right; what the rest of the
//! body does then is not. So the velocities are solved for once more with what contact and joints demand: `(M + S) v = M v_f + S w + H^T l`, where `v_f` are the velocities without the impulses of
//! contact. Joints and obstacles keep their rows, `H v = H v_c` with the velocities `v_c` that contact found; of each contact of particles and rigid bodies `l` is in its cone: it pushes or lets go,
//! and sticks or slides with friction against the motion.

use crate::Model;
use crate::fluid_structure::{HeldMass, HeldRow, Links, Resistance, SolidMass, SolidMobility};
use crate::soft_contact::Cone;
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

/// Contacts with friction, and all velocities before these acted.
pub(crate) struct Cones<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    pub contacts: Vec<Cone<D>>,
    /// Of rigid bodies.
    pub motions: &'a [Motion<D>],
    /// Of particles (m/s).
    pub soft: &'a [f64],
}

/// Most sweeps over the contacts with friction.
const MOST_SWEEPS: usize = 400;

/// Relative change of impulses at which the sweeps end.
const SETTLED: f64 = 1e-7;

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
    cones: Option<&Cones<'_, D>>,
    body: &Held<'_>,
) -> Result<(), SolveError>
where
    Dim<D>: Space<D>,
{
    let mut links = Links::new(&[], 0, soft.len());
    let mut all = held.to_vec();
    // Which cone, and which of its rows.
    let mut owners: Vec<Option<(usize, usize)>> = vec![None; held.len()];
    for (number, cone) in cones.map_or(&[][..], |cones| &cones.contacts).iter().enumerate() {
        owners.extend((0..cone.rows.len()).map(|row| Some((number, row))));
        all.extend(cone.rows.iter().cloned());
    }
    links.add(model, frames, motions, soft, body.inverse_masses, &all);
    let demands = links.demands(soft.len());
    if let Some(cones) = cones {
        // What moves without the impulses of contact; all that is not in the rows keeps what contact made of it.
        let tied: Vec<usize> = links.tied_particles.iter().copied().collect();
        for particle in tied {
            soft[D * particle..D * (particle + 1)]
                .copy_from_slice(&cones.soft[D * particle..D * (particle + 1)]);
        }
        for &index in &links.dry {
            motions[index] = cones.motions[index];
        }
    }
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
        match cones {
            None => held.meet(&demands.values, &mut velocity),
            Some(cones) => {
                let (excess, response) = held.delassus(&demands.values, &velocity)?;
                let owners: Vec<_> = links.sources.iter().map(|&source| owners[source]).collect();
                let frictions: Vec<f64> = cones.contacts.iter().map(|cone| cone.friction).collect();
                let guess = held.impulses(&excess).unwrap_or_else(|| vec![0.0; excess.len()]);
                let impulses = settle(&owners, &frictions, &response, &excess, guess);
                held.push(&impulses, &mut velocity);
            }
        }
    }
    soft.copy_from_slice(&velocity[..soft.len()]);
    for (&index, twist) in links.dry.iter().zip(velocity[soft.len()..].chunks_exact(n)) {
        motions[index] = Motion::from_twist(&model.bodies[index], &frames[index], &Twist::read(twist));
    }
    Ok(())
}

/// Impulses along rows from `guess` on, such that `excess + response * impulses` is zero in rows without a cone, and in the cones of the others (`owners`: cone and row in it, the
/// first being the normal) contact either pushes without approach or parts, and sticks or slides against its motion. By sweeps over the contacts, each solved exactly with the others held.
fn settle(
    owners: &[Option<(usize, usize)>],
    frictions: &[f64],
    response: &[f64],
    excess: &[f64],
    guess: Vec<f64>,
) -> Vec<f64> {
    let count = excess.len();
    let at = |row: usize, column: usize| response[row * count + column];
    // Rows of each group: one that stays, or a contact.
    let mut groups: Vec<(Option<usize>, Vec<usize>)> = Vec::new();
    for (row, owner) in owners.iter().enumerate() {
        match (owner, groups.last_mut()) {
            (Some((cone, place)), Some((Some(last), rows))) if *place > 0 && last == cone => rows.push(row),
            _ => groups.push((owner.map(|(cone, _)| cone), vec![row])),
        }
    }
    let mut impulses = guess;
    for (cone, rows) in &groups {
        if let Some(cone) = cone {
            clip(frictions[*cone], rows, &mut impulses);
        }
    }
    let mut speed = excess.to_vec();
    for (column, &impulse) in impulses.iter().enumerate().filter(|(_, impulse)| **impulse != 0.0) {
        speed.iter_mut().enumerate().for_each(|(row, speed)| *speed += at(row, column) * impulse);
    }
    let scale = |row: usize| at(row, row).max(f64::MIN_POSITIVE);
    for _ in 0..MOST_SWEEPS {
        let (mut changed, mut largest) = (0.0f64, 0.0f64);
        for (cone, rows) in &groups {
            let before: Vec<f64> = rows.iter().map(|&row| impulses[row]).collect();
            // The same for all directions across, so that friction stays against the motion.
            let across = rows[1..].iter().map(|&row| scale(row)).sum::<f64>();
            for (place, &row) in rows.iter().enumerate() {
                let stiffness = if place == 0 { scale(row) } else { across };
                impulses[row] -= speed[row] / stiffness;
            }
            if let Some(cone) = cone {
                clip(frictions[*cone], rows, &mut impulses);
            }
            for (&row, before) in rows.iter().zip(&before) {
                let change = impulses[row] - before;
                largest = largest.max(impulses[row].abs());
                if change != 0.0 {
                    changed = changed.max(change.abs());
                    speed.iter_mut().enumerate().for_each(|(other, speed)| *speed += at(other, row) * change);
                }
            }
        }
        if changed <= SETTLED * largest {
            break;
        }
    }
    impulses
}

/// Nearest impulses that push (the first) and do not rub more than friction allows.
fn clip(friction: f64, rows: &[usize], impulses: &mut [f64]) {
    let load = impulses[rows[0]].max(0.0);
    impulses[rows[0]] = load;
    let rub = rows[1..].iter().map(|&row| impulses[row] * impulses[row]).sum::<f64>().sqrt();
    if rub > friction * load {
        let factor = friction * load / rub;
        rows[1..].iter().for_each(|&row| impulses[row] *= factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One block that slides on a plane: rows along the normal and two across, mass 2 kg.
    #[test]
    fn friction_is_in_its_cone_and_against_the_motion() {
        let owners = [Some((0, 0)), Some((0, 1)), Some((0, 2))];
        let response = [0.5, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5];
        let slide = settle(&owners, &[0.25], &response, &[-1.0, 3.0, 4.0], vec![0.0; 3]);
        let expected = [2.0, -0.5 * 0.6, -0.5 * 0.8];
        assert!(slide.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{slide:?}");
        let stick = settle(&owners, &[0.25], &response, &[-1.0, 0.1, 0.0], vec![0.0; 3]);
        assert!((stick[1] + 0.2).abs() < 1e-6, "{stick:?}");
        let part = settle(&owners, &[0.25], &response, &[1.0, 0.1, 0.0], vec![0.0; 3]);
        assert_eq!(part, [0.0; 3]);
    }
}
