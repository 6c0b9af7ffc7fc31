//! The rows of an island, and what they come to: contacts written as manifolds, as contacts of spheres, or in vector lanes.

use super::configuration::Configuration;
use super::gauss_seidel::{FEWEST_ACCELERATED, Form, Island};
use super::manifold::{Impulses, Limits, MOST_POINTS, Manifold};
use super::round::{RoundContact, is_round};
use super::wide::{self, Source};
use super::{ContactOptions, ContactStage, Contacts, both, size};
use crate::collide::Touch;
use crate::{Body, Motion};
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_parallel::prelude::*;

/// What rows are written from.
pub(super) struct Rows<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    pub stage: &'a ContactStage<'a, D>,
    pub frames: &'a [Frame<D>],
    /// Motions without contact.
    pub motions: &'a [Motion<D>],
    pub contacts: &'a Contacts<D>,
    pub at: &'a Configuration<D>,
    /// Place in its island of each body that responds.
    pub local: &'a [u32],
    /// Impulses from which contacts start, two parts (kg m/s).
    pub recalled: &'a [Vector<D>],
    pub spent: &'a [Vector<D>],
}

impl<const D: usize> Rows<'_, D>
where
    Dim<D>: Space<D>,
{
    /// Rows of the pairs of `island`, with the impulses that they start from.
    pub fn write(&self, island: &mut Island<D>) {
        let Self { stage, frames, motions, contacts, at, local, recalled, spent } = *self;
        let bodies = stage.bodies;
        for &body in &island.bodies {
            let i = body as usize;
            island.inverse.push(at.inverse[i]);
            island.twists.push(at.twist(i, bodies, frames, &motions[i]));
        }
        if let Some(articulated) = stage.articulated.filter(|articulated| !articulated.is_empty()) {
            island.joined.set(articulated, &island.bodies, &island.inverse, &island.twists);
        }
        let form = island.form.unwrap_or_else(|| {
            if !island.joined.is_empty() {
                Form::Manifolds
            } else if is_round_island(stage, island, contacts, motions) {
                Form::Round
            } else if wide::is_wide(stage, island, contacts) {
                Form::Wide
            } else {
                Form::Manifolds
            }
        });
        island.form = Some(form);
        let round = form == Form::Round;
        if form == Form::Wide {
            let touches = at.touches.as_slice();
            let source = Source { stage, frames, contacts, touches, starts: [recalled, spent], local };
            let Island { wide, bodies, levels, pairs, inverse, twists, .. } = island;
            wide.set(&source, (bodies, levels, pairs), (inverse, twists));
            return;
        }
        for &index in &island.pairs {
            let pair = &contacts.pairs[index as usize];
            let ids = [pair.a as usize, pair.b as usize];
            let places = both([pair.a, pair.b], |i| {
                if bodies[i as usize].is_dynamic() {
                    local[i as usize]
                } else {
                    island.bodies.binary_search(&i).unwrap_or(0) as u32
                }
            });
            let material = stage.material(ids[0], ids[1]);
            let limits = Limits {
                friction: material.friction,
                rolling: material.rolling,
                spinning: material.spinning,
            };
            if round {
                let (contact, centres) = (pair.first as usize, both(ids, |i| frames[i].position));
                let start = recalled[contact] + spent[contact];
                island.round.push(RoundContact::new(
                    places,
                    pair.first,
                    &at.touches[contact],
                    centres,
                    limits,
                    stage.dt,
                    &start,
                ));
                continue;
            }
            // Contacts whose normals agree make one patch; they stand next to each other.
            let mut first = pair.first as usize;
            while first < pair.end as usize {
                let touches = &at.touches[first..pair.end as usize];
                let normal = touches[0].normal;
                let same = |touch: &&Touch<D>| touch.normal.dot(&normal) > SAME_PATCH;
                let count = touches.iter().take(MOST_POINTS).take_while(same).count().max(1);
                island.manifolds.push(Manifold::new(places, first as u32, count, &normal, limits));
                first += count;
            }
        }
        island.impulses.resize(island.manifolds.len(), [0.0; _]);
        let (inverse, joined) = (&island.inverse, &island.joined);
        let ids = &island.bodies;
        island.manifolds.par_iter_mut().zip(&mut island.impulses).with_min_len(256).for_each(
            |(manifold, impulses)| {
                let range = manifold.contact as usize..(manifold.contact + manifold.points) as usize;
                let touches = &at.touches[range.clone()];
                let centres = both(manifold.bodies, |b| frames[ids[b as usize] as usize].position);
                let closed = closed_gap(both(manifold.bodies, |b| &bodies[ids[b as usize] as usize]));
                place_points(manifold, touches, centres, closed, stage.dt);
                joined.set_matrix(manifold, inverse);
                let start = range.map(|contact| recalled[contact] + spent[contact]);
                *impulses = start_impulses(manifold, start);
            },
        );
    }

    /// What came of the rows: the motions of the bodies of `island`, after `shock` and all impulses, and what each contact has spent.
    pub fn read(
        &self,
        island: &Island<D>,
        shock: &[Twist<D>],
        moved: &mut Vec<(u32, Motion<D>)>,
        spent: &mut Vec<(u32, Vector<D>)>,
    ) {
        let Self { stage, frames, motions, .. } = *self;
        let first = moved.len();
        moved.extend(island.bodies.iter().map(|&body| (body, motions[body as usize])));
        let moved = &mut moved[first..];
        for ((i, motion), change) in moved.iter_mut().zip(shock) {
            let body = &stage.bodies[*i as usize];
            if body.is_dynamic() {
                motion.velocity += change.linear;
                motion.angular_momentum += body.angular_momentum_of(&frames[*i as usize], &change.angular);
            }
        }
        let mut push = |place: u32, push: &Twist<D>| {
            let (body, motion) = &mut moved[place as usize];
            motion.add_impulse(&stage.bodies[*body as usize], push);
        };
        for (manifold, impulses) in island.manifolds.iter().zip(&island.impulses) {
            let (linear, angular) = manifold.push(&manifold.gather(impulses));
            for (k, sign) in [(0, 1.0), (1, -1.0)] {
                push(manifold.bodies[k], &(Twist { linear, angular: angular[k] } * sign));
            }
            spread(manifold, impulses, spent);
        }
        island.wide.results(
            |place, twist| push(place, &twist),
            |contact, impulse| spent.push((contact as u32, impulse)),
        );
        for contact in &island.round {
            for (place, twist) in contact.bodies.iter().zip(contact.pushes()) {
                push(*place, &twist);
            }
            spent.push((contact.contact, contact.push().0));
        }
    }
}

/// Iterations that an island of so many rows may use to reach the tolerance.
pub(super) fn enough_iterations(options: &ContactOptions, rows: usize) -> usize {
    (options.updates / rows.max(1)).min(1000)
}

/// Is it so large that it is solved by sweeps alone, with spheres only?
fn is_round_island<const D: usize>(
    stage: &ContactStage<'_, D>,
    island: &Island<D>,
    contacts: &Contacts<D>,
    motions: &[Motion<D>],
) -> bool
where
    Dim<D>: Space<D>,
{
    let options = stage.options;
    let rows = island.pairs.len() * RoundContact::<D>::ROWS;
    let smooth = |&index: &u32| {
        let pair = &contacts.pairs[index as usize];
        let material = stage.material(pair.a as usize, pair.b as usize);
        pair.end - pair.first == 1 && material.rolling == 0.0 && material.spinning == 0.0
    };
    enough_iterations(options, rows).max(options.iterations) < FEWEST_ACCELERATED
        && island.bodies.iter().all(|&i| is_round(&stage.bodies[i as usize], &motions[i as usize]))
        && island.pairs.iter().all(smooth)
}

/// Contacts whose normals agree to this cosine share their friction.
pub(super) const SAME_PATCH: f64 = 0.98;

/// Gaps up to this share of the smaller body's radius are none. What rests on more points than it needs, or is wedged between others, cannot close all
/// of them at once, and sweeps would move its loads from one to the other for ever.
const CLOSED: f64 = 1e-6;

/// Gap (m) up to which two bodies touch.
fn closed_gap<const D: usize>(pair: [&Body<D>; 2]) -> f64
where
    Dim<D>: Space<D>,
{
    let smaller = size(pair[0]).min(size(pair[1]));
    if smaller.is_finite() && !pair[0].is_particle() && !pair[1].is_particle() {
        CLOSED * smaller
    } else {
        0.0
    }
}

/// Puts the points of a manifold between bodies with these centres of mass.
fn place_points<const D: usize>(
    manifold: &mut Manifold<D>,
    touches: &[Touch<D>],
    centres: [Vector<D>; 2],
    closed: f64,
    dt: f64,
) where
    Dim<D>: Space<D>,
{
    let share = 1.0 / touches.len() as f64;
    let centre = touches.iter().map(|touch| touch.point).sum::<Vector<D>>() * share;
    manifold.arms = centres.map(|at| centre - at);
    let mut square = 0.0;
    for (k, touch) in touches.iter().enumerate() {
        let gap = if touch.gap > closed { touch.gap } else { 0.0 };
        manifold.set_point(k, &(touch.point - centre), gap / dt);
        square += manifold.levers[k] * manifold.levers[k];
    }
    manifold.lever = (square * share).sqrt();
}

/// Impulses of the rows from those of the contacts (world axes), within their limits.
fn start_impulses<const D: usize>(
    manifold: &Manifold<D>,
    contacts: impl Iterator<Item = Vector<D>>,
) -> Impulses
where
    Dim<D>: Space<D>,
{
    let mut impulses: Impulses = [0.0; _];
    let normal = manifold.normal();
    let points = manifold.points as usize;
    let about_normal = if D == 3 { Spin::<D>::from_slice(normal.as_slice()) } else { Spin::<D>::zero() };
    let (mut load, mut limit, mut moment) = (0.0, 0.0, 0.0);
    let mut friction = Vector::<D>::zeros();
    for (k, start) in contacts.enumerate() {
        let along = start.dot(&normal);
        impulses[k] = along.max(0.0);
        load += impulses[k];
        limit += impulses[k] * manifold.levers[k];
        let across = start - normal * along;
        friction += across;
        moment += about_normal.dot(&Dim::cross(&manifold.place(k), &across));
    }
    let most = manifold.limits.friction * load;
    let size = friction.norm();
    if size > most {
        friction *= most / size;
    }
    for k in 1..D {
        impulses[points + k - 1] = friction.dot(&manifold.axes.column(k));
    }
    if let Some(row) = manifold.spin_row() {
        let most = manifold.limits.friction * limit;
        impulses[row] = moment.clamp(-most, most);
    }
    impulses
}

/// World impulse of each contact of a manifold: the normal impulse, an equal share of the patch's friction, and what makes its moment about the
/// normal.
fn spread<const D: usize>(manifold: &Manifold<D>, impulses: &Impulses, contacts: &mut Vec<(u32, Vector<D>)>)
where
    Dim<D>: Space<D>,
{
    let points = manifold.points as usize;
    let normal = manifold.normal();
    let friction = (1..D)
        .map(|k| manifold.axes.column(k) * impulses[points + k - 1])
        .fold(Vector::<D>::zeros(), |sum, part| sum + part)
        / points as f64;
    let levers: f64 = manifold.levers[..points].iter().map(|lever| lever * lever).sum();
    let turn = match manifold.spin_row() {
        Some(row) if levers > 0.0 => Spin::<D>::from_slice(normal.as_slice()) * (impulses[row] / levers),
        _ => Spin::<D>::zero(),
    };
    for k in 0..points {
        let impulse = normal * impulses[k] + friction + Dim::spin_cross(&turn, &manifold.place(k));
        contacts.push((manifold.contact + k as u32, impulse));
    }
}
