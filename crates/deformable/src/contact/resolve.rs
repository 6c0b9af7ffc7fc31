//! Collisions along the paths of a step: stopping impulses, then rigid impact zones, until nothing hits (spec 3.16).

use super::impulse::{Response, relative_velocity};
use super::pairs::{ContactSurface, Gap, first_time, gap};
use super::paths::Paths;
use super::{PairKind, SelfContactReport};
use crate::force::read;
use crate::integrate::IntegrateError;
use splashdown_geometry::bounds::Aabb;
use splashdown_geometry::ccd::CcdOptions;
use splashdown_math::{Coordinates, Dim, Matrix, Space, Spin, Vector, polar};
use splashdown_parallel::prelude::*;

/// Rounds of impulses before particles are put into zones.
const IMPULSE_ROUNDS: usize = 4;
/// Rounds after which the step is given up.
const MOST_ROUNDS: usize = 60;
/// A stop leaves the parts with this part of the thickness per step between them, so that rounding cannot close it.
const MARGIN: f64 = 1e-3;
/// Parts have met when this part of their distance at the start is left, or of the margin where that is less. A distance of zero would do for one step, but the next could not begin from
/// it: parts that touch have no side, and no rigid motion of both parts them.
const KEPT: f64 = 0.5;
/// Parts touch where their distance is below this part of the margin: rounding of their coordinates.
const TOUCHING: f64 = 1e-6;

/// Moves `end` so that no pair passes through another on the way from `start`, which must be free of intersections; `velocity` takes the change of the average velocity. Rigid bodies that carry
/// particles answer to impulses; in rigid impact zones they go where they go.
#[allow(clippy::too_many_arguments)]
pub(super) fn resolve<const D: usize>(
    surface: &ContactSurface<D>,
    thickness: &[f64],
    response: &mut Response<'_, D>,
    start: &[f64],
    end: &mut [f64],
    velocity: &mut [f64],
    dt: f64,
    report: &mut SelfContactReport,
) -> Result<(), IntegrateError>
where
    Dim<D>: Space<D>,
{
    let before: Vec<f64> = end.iter().zip(start).map(|(end, start)| (end - start) / dt).collect();
    let mut average = before.clone();
    // What the impulses left: zones keep its momentum, so that what they gave to particles outside of zones is not lost.
    let mut pushed = Vec::new();
    let mut zones = Zones::new(start.len() / D);
    let mut touched = false;
    for round in 0..MOST_ROUNDS {
        let hits = collisions(surface, thickness, start, end);
        if hits.is_empty() {
            report.rounds = round;
            if touched {
                velocity.iter_mut().zip(&average).zip(&before).for_each(|((v, new), old)| *v += new - old);
            }
            return Ok(());
        }
        touched = true;
        report.collisions += hits.len();
        if round < IMPULSE_ROUNDS {
            for (kind, nodes) in &hits {
                // Earlier impulses of this round may have settled it.
                let Some(gap) = meeting::<D>(*kind, nodes, thickness, start, end) else { continue };
                let approach = relative_velocity::<D>(nodes, &gap.weights, &average).dot(&gap.normal);
                let change = margin(nodes, thickness) / dt - approach;
                if change > 0.0 {
                    response.push(nodes, &gap.weights, &gap.normal, change, &mut average);
                    response.for_moved(nodes, |node| {
                        for at in D * node as usize..D * (node as usize + 1) {
                            end[at] = start[at] + dt * average[at];
                        }
                    });
                }
            }
        } else {
            if round == IMPULSE_ROUNDS {
                pushed.clone_from(&average);
            }
            for (kind, nodes) in &hits {
                let used = if *kind == PairKind::PointFace { D + 1 } else { 4 };
                zones.join(&nodes[..used]);
            }
            report.zone_particles =
                zones.move_rigidly::<D>(response.inverse_mass(), start, &pushed, end, &mut average, dt);
        }
    }
    let touching = |(kind, nodes): &&(PairKind, [u32; 4])| {
        gap::<D>(*kind, nodes, start).distance < TOUCHING * margin(nodes, thickness)
    };
    if let Some((_, nodes)) = collisions(surface, thickness, start, end).iter().find(touching) {
        return Err(IntegrateError::Contact(format!(
            "surfaces touch at the start of the step, where neither is on a side of the other (particles {} and {}): leave a distance between them, however small",
            nodes[0], nodes[2]
        )));
    }
    Err(IntegrateError::Contact(format!(
        "self-collisions were not settled after {MOST_ROUNDS} rounds ({} particles in rigid zones); a shorter step helps",
        report.zone_particles
    )))
}

/// Distance (m) that a stop leaves between two parts.
fn margin(nodes: &[u32], thickness: &[f64]) -> f64 {
    MARGIN * nodes.iter().map(|&node| thickness[node as usize]).fold(0.0, f64::max)
}

/// Where a pair meets on the way, if it does.
fn meeting<const D: usize>(
    kind: PairKind,
    nodes: &[u32; 4],
    thickness: &[f64],
    start: &[f64],
    end: &[f64],
) -> Option<Gap<D>> {
    let distance = gap::<D>(kind, nodes, start).distance;
    let separation = KEPT * distance.min(margin(nodes, thickness));
    let mut bounds = Aabb::empty();
    for &node in nodes {
        bounds = bounds.including(&read::<D>(start, node)).including(&read::<D>(end, node));
    }
    // The detection must not take the distance at the start for a meeting.
    let tolerance = (0.1 * (distance - separation) / bounds.extent().amax()).min(1e-9);
    let options = CcdOptions { separation, tolerance };
    first_time::<D>(kind, nodes, start, end, &options).map(|(_, gap)| gap)
}

/// All pairs that come together on the way, points against faces first.
fn collisions<const D: usize>(
    surface: &ContactSurface<D>,
    thickness: &[f64],
    start: &[f64],
    end: &[f64],
) -> Vec<(PairKind, [u32; 4])> {
    let step: Vec<f64> = end.iter().zip(start).map(|(end, start)| end - start).collect();
    let paths = Paths::new(start, &step, MARGIN * KEPT * thickness.iter().fold(0.0, |a: f64, b| a.max(*b)));
    surface
        .candidates(&mut None, |nodes| paths.ends(nodes))
        .into_par_iter()
        .with_min_len(256)
        .filter(|(kind, nodes)| meeting::<D>(*kind, nodes, thickness, start, end).is_some())
        .collect()
}

/// Groups of particles that move as rigid bodies through the step.
struct Zones {
    parent: Vec<u32>,
}

impl Zones {
    fn new(count: usize) -> Self {
        Self { parent: (0..count as u32).collect() }
    }

    fn root(&self, mut node: u32) -> u32 {
        while self.parent[node as usize] != node {
            node = self.parent[node as usize];
        }
        node
    }

    fn join(&mut self, nodes: &[u32]) {
        // The smallest index is the root, so that the result does not depend on the order.
        let roots: Vec<u32> = nodes.iter().map(|&node| self.root(node)).collect();
        let first = roots.iter().copied().min().unwrap_or(0);
        for root in roots {
            self.parent[root as usize] = first;
        }
        for &node in nodes {
            self.parent[node as usize] = first;
        }
    }

    /// Gives every zone of more than one particle the rigid motion with its momenta; returns the number of particles in zones.
    fn move_rigidly<const D: usize>(
        &self,
        inverse_mass: &[f64],
        start: &[f64],
        before: &[f64],
        end: &mut [f64],
        average: &mut [f64],
        dt: f64,
    ) -> usize
    where
        Dim<D>: Space<D>,
    {
        let mut members: Vec<(u32, u32)> =
            (0..self.parent.len() as u32).map(|node| (self.root(node), node)).collect();
        members.sort_unstable();
        let mut count = 0;
        for zone in members.chunk_by(|a, b| a.0 == b.0).filter(|zone| zone.len() > 1) {
            count += zone.len();
            let fixed: Vec<u32> = zone
                .iter()
                .map(|(_, node)| *node)
                .filter(|&node| inverse_mass[node as usize] == 0.0)
                .collect();
            let motion: Box<dyn Fn(&Vector<D>) -> Vector<D>> = if fixed.is_empty() {
                let (mut mass, mut centre, mut mean) = (0.0, Vector::<D>::zeros(), Vector::<D>::zeros());
                for &(_, node) in zone {
                    let m = 1.0 / inverse_mass[node as usize];
                    mass += m;
                    centre += read::<D>(start, node) * m;
                    mean += read::<D>(before, node) * m;
                }
                centre /= mass;
                mean /= mass;
                let mut momentum = Spin::<D>::zero();
                let mut size = 0.0f64;
                let mut inertia: Option<splashdown_math::Inertia<D>> = None;
                for &(_, node) in zone {
                    let m = 1.0 / inverse_mass[node as usize];
                    let arm = read::<D>(start, node) - centre;
                    momentum += Dim::<D>::cross(&arm, &((read::<D>(before, node) - mean) * m));
                    let own = Dim::<D>::point_inertia(&arm) * m;
                    inertia = Some(match inertia {
                        None => own,
                        Some(sum) => sum + own,
                    });
                    size = size.max(arm.norm());
                }
                // A line has no inertia about itself: a thin ball of the zone's mass makes the tensor invertible.
                let unit =
                    <Dim<D> as Space<D>>::inertia_from_principal(&vec![1.0; <Dim<D> as Space<D>>::SPIN]);
                let inertia = inertia.map_or(unit, |sum| sum + unit * (1e-9 * mass * size * size));
                let spin = Dim::<D>::apply_inertia(&Dim::<D>::invert_inertia(&inertia), &momentum);
                let turn = Dim::<D>::exp(&(spin * dt));
                Box::new(move |x: &Vector<D>| centre + mean * dt + Dim::<D>::rotate(&turn, &(x - centre)))
            } else {
                let moved = |node: u32| read::<D>(start, node) + read::<D>(before, node) * dt;
                nearest_rigid_motion(
                    fixed.iter().map(|&node| (read::<D>(start, node), moved(node))).collect(),
                )
            };
            // Prescribed particles go where they are told: what they have in their way goes with them.
            for &(_, node) in zone.iter().filter(|(_, node)| inverse_mass[*node as usize] > 0.0) {
                let from = read::<D>(start, node);
                let to = motion(&from);
                for axis in 0..D {
                    let at = D * node as usize + axis;
                    end[at] = to[axis];
                    average[at] = (to[axis] - from[axis]) / dt;
                }
            }
        }
        count
    }
}

/// The rigid motion that comes nearest to taking all points from where they are to where they go; without turning where they do not say.
fn nearest_rigid_motion<'a, const D: usize>(
    points: Vec<(Vector<D>, Vector<D>)>,
) -> Box<dyn Fn(&Vector<D>) -> Vector<D> + 'a>
where
    Dim<D>: Space<D>,
{
    let count = points.len() as f64;
    let (mut from, mut to) = (Vector::<D>::zeros(), Vector::<D>::zeros());
    for (a, b) in &points {
        from += a / count;
        to += b / count;
    }
    let mut moment = Matrix::<D>::zeros();
    for (a, b) in &points {
        moment += (b - to) * (a - from).transpose();
    }
    let slight = 1e-10 * moment.norm();
    let turn = if slight > 0.0 {
        polar(&(moment + Matrix::<D>::identity() * slight)).0
    } else {
        Matrix::<D>::identity()
    };
    Box::new(move |x: &Vector<D>| to + turn * (x - from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{ContactSurface, SelfContact, SelfContactOptions, intersections};
    use splashdown_solve::testing::TestNumbers;

    /// A zone keeps its shape and its momenta; with prescribed particles in it, these go just where they are told and the others go along.
    #[test]
    fn zones_move_rigidly_and_prescribed_particles_as_told() {
        let mut random = TestNumbers::new(5);
        let (count, dt) = (7, 1e-3);
        let start = random.vector(3 * count);
        let before = random.vector(3 * count);
        let mut zones = Zones::new(count);
        zones.join(&[0, 1, 2]);
        zones.join(&[3, 4, 5]);
        zones.join(&[2, 3]);
        let place = |x: &[f64], i: usize| read::<3>(x, i as u32);
        let distances_kept = |end: &[f64]| {
            for i in 0..6 {
                for j in 0..i {
                    let (now, old) = (place(end, i) - place(end, j), place(&start, i) - place(&start, j));
                    assert!((now.norm() - old.norm()).abs() < 1e-12, "{i} {j}");
                }
            }
        };
        let moved = |v: &[f64]| -> Vec<f64> { start.iter().zip(v).map(|(x, v)| x + dt * v).collect() };
        let inverse: Vec<f64> = (0..count).map(|_| random.uniform(0.3, 3.0)).collect();
        let (mut end, mut average) = (moved(&before), before.clone());
        assert_eq!(zones.move_rigidly::<3>(&inverse, &start, &before, &mut end, &mut average, dt), 6);
        distances_kept(&end);
        let momenta = |v: &[f64]| {
            let (mut linear, mut angular) = (Vector::<3>::zeros(), Vector::<3>::zeros());
            for i in 0..6 {
                linear += place(v, i) / inverse[i];
                angular += place(&start, i).cross(&place(v, i)) / inverse[i];
            }
            (linear, angular)
        };
        let (was, is) = (momenta(&before), momenta(&average));
        assert!((was.0 - is.0).norm() < 1e-12, "{was:?} {is:?}");
        // Arms turn by some 1e-3 on the way, and momentum is about those of the start.
        assert!((was.1 - is.1).norm() < dt * was.1.norm(), "{was:?} {is:?}");
        assert_eq!(end[18..], moved(&before)[18..]);

        // Three prescribed particles on a rigid path, the others told otherwise.
        let mut held = inverse.clone();
        held[..3].fill(0.0);
        let spin = Vector::<3>::new(3.0, -5.0, 2.0);
        let turn = Dim::<3>::exp(&Spin::<3>::from_slice((spin * dt).as_slice()));
        let rigid = |x: &Vector<3>| Dim::<3>::rotate(&turn, x) + Vector::<3>::new(0.1, 0.2, -0.3) * dt;
        let mut told = before.clone();
        for i in 0..3 {
            let x = place(&start, i);
            told[3 * i..3 * i + 3].copy_from_slice(((rigid(&x) - x) / dt).as_slice());
        }
        let (mut end, mut average) = (moved(&told), told.clone());
        zones.move_rigidly::<3>(&held, &start, &told, &mut end, &mut average, dt);
        assert_eq!((&end[..9], &average[..9]), (&moved(&told)[..9], &told[..9]));
        for i in 3..6 {
            assert!((place(&end, i) - rigid(&place(&start, i))).norm() < 1e-9, "{i}");
        }
        distances_kept(&end);

        // One prescribed particle says nothing of turning; two say nothing of it about their line.
        held[1..3].fill(1.0);
        let (mut end, mut average) = (moved(&told), told.clone());
        zones.move_rigidly::<3>(&held, &start, &told, &mut end, &mut average, dt);
        assert_eq!(end[..3], moved(&told)[..3]);
        distances_kept(&end);
        for i in 1..6 {
            assert!((place(&average, i) - place(&told, 0)).norm() < 1e-9);
        }
    }

    /// A point that is told to stop exactly on a triangle keeps a distance to begin the next step from: parts that touch have no side, and no rigid motion of both parts them.
    #[test]
    fn a_stop_leaves_a_distance_to_begin_from() {
        let surface = ContactSurface::<3>::new(vec![[0, 1, 2], [3, 4, 5]]);
        let start = [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 0.0, 1.0],
            [0.2, 1e-5, 0.2],
            [0.3, 1.0, 0.2],
            [0.2, 1.0, 0.3],
        ]
        .concat();
        let (thickness, inverse) = ([0.01; 6], [1.0; 6]);
        let mut x = start.clone();
        for _ in 0..50 {
            // An obstacle takes them all to its surface, again and again.
            let mut end = x.clone();
            end.iter_mut().skip(1).step_by(3).take(4).for_each(|y| *y = 0.0);
            let mut velocity = vec![0.0; x.len()];
            let mut report = SelfContactReport::default();
            let settled = resolve::<3>(
                &surface,
                &thickness,
                &mut Response::new(&inverse, None),
                &x,
                &mut end,
                &mut velocity,
                1e-3,
                &mut report,
            );
            settled.expect("settled");
            let left = gap::<3>(PairKind::PointFace, &[3, 0, 1, 2], &end).distance;
            assert!(left > 1e-7, "{left:e}");
            assert_eq!(intersections(&surface, &end), 0);
            x = end;
        }
    }

    /// Surfaces that touch at the start cannot be kept apart; that is said, with the particles.
    #[test]
    fn surfaces_that_touch_at_the_start_are_told() {
        let surface = ContactSurface::<3>::new(vec![[0, 1, 2], [3, 4, 5]]);
        let start = [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 0.0, 1.0],
            [0.2, 0.0, 0.2],
            [0.3, 1.0, 0.2],
            [0.2, 1.0, 0.3],
        ]
        .concat();
        let (thickness, inverse) = ([0.01; 6], [1.0; 6]);
        let (mut end, mut velocity) = (start.clone(), vec![0.0; start.len()]);
        let mut report = SelfContactReport::default();
        let settled = resolve::<3>(
            &surface,
            &thickness,
            &mut Response::new(&inverse, None),
            &start,
            &mut end,
            &mut velocity,
            1e-3,
            &mut report,
        );
        let told = settled.expect_err("they touch").to_string();
        assert!(told.contains("touch at the start") && told.contains("particles 3 and"), "{told}");
    }

    /// A deck of cards that is compressed faster than impulses between neighbours settle it: the rest is done by zones. Nothing passes, momentum stays, and a prescribed card goes on as told.
    #[test]
    fn a_deck_of_cards_needs_zones_and_does_not_pass_through_itself() {
        for prescribed in [false, true] {
            let cards = 40;
            let mut random = TestNumbers::new(9);
            let (mut start, mut faces) = (Vec::new(), Vec::new());
            for card in 0..cards {
                for (x, z) in [(0.0, 0.0), (1.0, 0.1), (0.2, 1.0)] {
                    start.extend([x + random.uniform(0.0, 0.1), 0.01 * f64::from(card), z]);
                }
                faces.push([3 * card as u32, 3 * card as u32 + 1, 3 * card as u32 + 2]);
            }
            let surface = ContactSurface::<3>::new(faces);
            let dt = 1e-2;
            let mut inverse = vec![1.0; 3 * cards as usize];
            if prescribed {
                inverse[..3].fill(0.0);
            }
            // All rush at the middle.
            let mut velocity: Vec<f64> = start.clone();
            for (node, v) in velocity.chunks_exact_mut(3).enumerate() {
                let card = (node / 3) as f64;
                v.copy_from_slice(&[
                    0.0,
                    60.0 * (0.5 - card / f64::from(cards)),
                    0.3 * random.uniform(-1.0, 1.0),
                ]);
            }
            let mut end: Vec<f64> = start.iter().zip(&velocity).map(|(x, v)| x + dt * v).collect();
            let told = end[..9].to_vec();
            let thickness = vec![1e-3; inverse.len()];
            let met = collisions(&surface, &thickness, &start, &end);
            assert!(intersections(&surface, &end) > 0 || !met.is_empty());
            let momentum = |v: &[f64]| {
                (0..3).map(|axis| v.iter().skip(axis).step_by(3).sum::<f64>()).collect::<Vec<_>>()
            };
            let before = momentum(&velocity);
            let options = SelfContactOptions { thickness: 1e-3, ..SelfContactOptions::default() };
            let mut contact = SelfContact::new(surface.clone(), &start, options);
            let mut report = SelfContactReport::default();
            contact
                .resolve(&mut Response::new(&inverse, None), &start, &mut end, &mut velocity, dt, &mut report)
                .unwrap();
            assert!(report.zone_particles > 0, "{report:?}");
            assert!(report.rounds > IMPULSE_ROUNDS, "{report:?}");
            assert_eq!(intersections(&surface, &end), 0);
            assert!(collisions(&surface, &thickness, &start, &end).is_empty());
            if prescribed {
                assert_eq!(end[..9], told[..]);
            } else {
                for (now, was) in momentum(&velocity).iter().zip(&before) {
                    assert!((now - was).abs() < 1e-10, "{now} {was}");
                }
            }
        }
    }
}
