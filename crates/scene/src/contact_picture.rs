//! What a frame shows of contacts: the force on every body, and where bodies press on each other.
//!
//! All from the state alone, so that a resumed run has the same frames: impulses are part of it, places are found again from where the bodies are.

use crate::frame::{Association, Attribute, Data, Geometry, Part};
use splashdown_couple::{Model, State};
use splashdown_math::{Dim, Space, Vector};
use splashdown_parallel::prelude::*;
use splashdown_rigid::collide::{Contact, Placed, Pose, collide};

/// Name of the part that shows where bodies press on each other; no body can have it, since it has a space.
pub const CONTACTS: &str = "contact points";

/// Distance (m) within which the places of contacts are looked for, as a share of the smaller body's radius.
const REACH: f64 = 0.05;

/// Two bodies that press on each other.
struct Press<const D: usize> {
    bodies: [usize; 2],
    /// Feature and impulse on the first body (kg m/s) of each point.
    points: Vec<(u32, Vector<D>)>,
}

/// Pairs of rigid bodies; particles of soft bodies have numbers beyond theirs and are not among them.
fn presses<const D: usize>(state: &State<D>) -> impl Iterator<Item = Press<D>>
where
    Dim<D>: Space<D>,
{
    let memory = &state.contact;
    let mut first = 0;
    memory.pairs.iter().filter_map(move |&[a, b, count]| {
        let points = memory.points.get(first..first + count as usize)?;
        first += count as usize;
        let bodies = [a as usize, b as usize];
        let known = bodies.iter().all(|body| *body < state.bodies.len());
        known.then(|| Press { bodies, points: points.to_vec() })
    })
}

/// What contacts pushed on every body in the last step (N), soft bodies included.
pub(crate) fn forces_on_bodies<const D: usize>(state: &State<D>) -> Vec<f32>
where
    Dim<D>: Space<D>,
{
    let mut impulse = vec![0.0; D * state.bodies.len()];
    let memory = &state.contact;
    let mut points = memory.points.iter();
    for &[a, b, count] in &memory.pairs {
        for (_, on_first) in points.by_ref().take(count as usize) {
            for (body, sign) in [(a as usize, 1.0), (b as usize, -1.0)] {
                if body < state.bodies.len() {
                    (0..D).for_each(|k| impulse[D * body + k] += sign * on_first[k]);
                }
            }
        }
    }
    impulse.iter().map(|x| if memory.dt > 0.0 { (x / memory.dt) as f32 } else { 0.0 }).collect()
}

/// One point for each pair of bodies that press on each other: the middle of the pressure, and the force on the first of the two,
/// which is one that moves.
pub(crate) fn contact_points<const D: usize>(model: &Model<D>, state: &State<D>) -> Option<Part>
where
    Dim<D>: Space<D>,
{
    let dt = state.contact.dt;
    let presses: Vec<Press<D>> = presses(state)
        .filter(|press| dt > 0.0 && press.points.iter().any(|(_, impulse)| impulse.norm() > 0.0))
        .collect();
    let found: Vec<Option<(Vector<D>, Vector<D>)>> =
        presses.par_iter().map(|press| middle(model, state, press)).collect();
    let (mut positions, mut force, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
    for (press, (place, impulse)) in presses.iter().zip(&found).filter_map(|(p, f)| Some((p, f.as_ref()?))) {
        // The force on what can move says more than that on the ground.
        let moves = |body: usize| model.bodies.get(body).is_some_and(|body| body.is_dynamic());
        let [a, b] = press.bodies;
        let (bodies, sign) = if !moves(a) && moves(b) { ([b, a], -1.0) } else { ([a, b], 1.0) };
        positions.extend(place.iter().copied());
        force.extend(impulse.iter().map(|x| (sign * x / dt) as f32));
        pairs.extend(bodies.map(|body| body as u32));
    }
    if positions.is_empty() {
        return None;
    }
    let on_points = |name: &str, unit: &str, components, data| Attribute {
        name: name.into(),
        unit: unit.into(),
        association: Association::Point,
        components,
        data,
    };
    Some(Part {
        name: CONTACTS.into(),
        geometry: Geometry::Points { positions },
        attributes: vec![
            on_points("contact force", "N", D, Data::F32(force)),
            on_points("bodies", "1", 2, Data::U32(pairs)),
        ],
    })
}

/// Middle of the pressure and its sum; nothing if the bodies have moved apart since.
fn middle<const D: usize>(
    model: &Model<D>,
    state: &State<D>,
    press: &Press<D>,
) -> Option<(Vector<D>, Vector<D>)>
where
    Dim<D>: Space<D>,
{
    let [a, b] = press.bodies;
    let geometry = [a, b].map(|body| model.bodies.get(body)?.geometry.as_deref());
    let [Some(one), Some(other)] = geometry else { return None };
    let poses = [a, b].map(|body| Pose::new(&state.bodies[body].frame));
    let reach = REACH * one.radius().min(other.radius());
    let mut contacts = Vec::new();
    let placed = [Placed { geometry: one, pose: poses[0] }, Placed { geometry: other, pose: poses[1] }];
    collide(&placed[0], &placed[1], reach, &mut contacts);
    if contacts.is_empty() {
        return None;
    }
    let touch = |contact: &Contact<D>| contact.touch(&poses[0], &poses[1], [one, other]).point;
    // Faces that lie on each other can change their roles within a step; then points have other features and only their middle is known.
    let mean = contacts.iter().map(touch).sum::<Vector<D>>() / contacts.len() as f64;
    let (mut place, mut weight, mut sum) = (Vector::zeros(), 0.0, Vector::zeros());
    for (feature, impulse) in &press.points {
        sum += impulse;
        let size = impulse.norm();
        let same = contacts.iter().find(|contact| contact.feature == *feature);
        place += same.map_or(mean, touch) * size;
        weight += size;
    }
    (weight > 0.0).then(|| (place / weight, sum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;

    fn attribute<'a>(part: &'a Part, name: &str) -> &'a Attribute {
        part.attributes.iter().find(|attribute| attribute.name == name).unwrap()
    }

    fn part<'a>(frame: &'a Frame, name: &str) -> &'a Part {
        frame.parts.iter().find(|part| part.name == name).unwrap()
    }

    /// Every contact of a stack carries the weight of what stands above it, in the middle of the boxes.
    #[test]
    fn contacts_of_a_stack_carry_what_is_above_them() {
        let scene = crate::load("box-stack", &[]).unwrap().scene;
        let mut world = crate::prepare(&scene).unwrap();
        // At rest: while it settles, loads wander between the corners.
        for frame in 1..=20 {
            while !world.advance(frame).unwrap().arrived {}
        }
        let frame = world.picture(20);
        let bodies = part(&frame, crate::RIGID_BODIES);
        let mass = attribute(bodies, "mass");
        let Geometry::Bodies(all) = &bodies.geometry else { panic!("no bodies") };
        let contacts = part(&frame, CONTACTS);
        let Geometry::Points { positions } = &contacts.geometry else { panic!("no points") };
        let (force, pairs) = (attribute(contacts, "contact force"), attribute(contacts, "bodies"));
        let is_box = |body: usize| all.names[body].starts_with("box");
        let mut seen = 0;
        for contact in 0..positions.len() / 3 {
            let two = [0, 1].map(|k| pairs.data.get(2 * contact + k) as usize);
            if !two.into_iter().any(is_box) {
                continue;
            }
            seen += 1;
            let place = &positions[3 * contact..3 * contact + 3];
            let above: f64 = (0..all.names.len())
                .filter(|&body| is_box(body) && all.positions[3 * body + 1] > place[1])
                .map(|body| mass.data.get(body))
                .sum();
            let up = force.data.get(3 * contact + 1);
            let up = if all.positions[3 * two[0] + 1] > place[1] { up } else { -up };
            assert!((up / (9.81 * above) - 1.0).abs() < 0.02, "{up} N under {above} kg");
            let lower = two.into_iter().find(|body| is_box(*body)).unwrap();
            assert!((place[0] - all.positions[3 * lower]).abs() < 0.02, "{place:?}");
        }
        assert!(seen >= 10, "{seen} contacts");
    }
}
