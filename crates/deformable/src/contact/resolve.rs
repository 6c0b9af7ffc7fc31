//! Collisions along the paths of a step: stopping impulses, then rigid impact zones, until nothing hits (spec 3.16).

use super::impulse::{apply_impulse, relative_velocity};
use super::pairs::{ContactSurface, first_time};
use super::{PairKind, SelfContactReport};
use crate::force::read;
use crate::integrate::IntegrateError;
use splashdown_geometry::bounds::Aabb;
use splashdown_geometry::ccd::CcdOptions;
use splashdown_math::{Coordinates, Dim, Space, Spin, Vector};
use splashdown_parallel::prelude::*;

/// Rounds of impulses before particles are put into zones.
const IMPULSE_ROUNDS: usize = 4;
/// Rounds after which the step is given up.
const MOST_ROUNDS: usize = 60;
/// A stop leaves the parts with this part of the thickness per step between them, so that rounding cannot close it.
const MARGIN: f64 = 1e-3;

/// Moves `end` so that no pair passes through another on the way from `start`, which must be free of intersections; `velocity` takes the change of the average velocity.
#[allow(clippy::too_many_arguments)]
pub(super) fn resolve<const D: usize>(
    surface: &ContactSurface<D>,
    thickness: &[f64],
    inverse_mass: &[f64],
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
    let mut zones = Zones::new(start.len() / D);
    let mut touched = false;
    for round in 0..MOST_ROUNDS {
        let hits = collisions(surface, start, end);
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
                let Some((_, gap)) = first_time::<D>(*kind, nodes, start, end, &CcdOptions::default()) else {
                    continue;
                };
                let approach = relative_velocity::<D>(nodes, &gap.weights, &average).dot(&gap.normal);
                let reach = nodes.iter().map(|&node| thickness[node as usize]).fold(0.0, f64::max);
                let change = MARGIN * reach / dt - approach;
                if change > 0.0 {
                    apply_impulse(nodes, &gap.weights, &gap.normal, change, inverse_mass, &mut average);
                    for &node in nodes {
                        for at in D * node as usize..D * (node as usize + 1) {
                            end[at] = start[at] + dt * average[at];
                        }
                    }
                }
            }
        } else {
            for (kind, nodes) in &hits {
                let used = if *kind == PairKind::PointFace { D + 1 } else { 4 };
                zones.join(&nodes[..used]);
            }
            report.zone_particles =
                zones.move_rigidly::<D>(inverse_mass, start, &before, end, &mut average, dt);
        }
    }
    Err(IntegrateError::Contact(format!(
        "self-collisions were not settled after {MOST_ROUNDS} rounds ({} particles in rigid zones); a shorter step helps",
        report.zone_particles
    )))
}

/// All pairs that come together on the way, points against faces first.
fn collisions<const D: usize>(
    surface: &ContactSurface<D>,
    start: &[f64],
    end: &[f64],
) -> Vec<(PairKind, [u32; 4])> {
    let candidates = surface.candidates(&mut None, |nodes| {
        let mut bounds = Aabb::empty();
        for &node in nodes {
            bounds = bounds.including(&read::<D>(start, node)).including(&read::<D>(end, node));
        }
        // Rounding of the detection: contacts within its tolerance must be candidates.
        bounds.grown(1e-9 * bounds.extent().amax())
    });
    candidates
        .into_par_iter()
        .with_min_len(256)
        .filter(|(kind, nodes)| first_time::<D>(*kind, nodes, start, end, &CcdOptions::default()).is_some())
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
                // With pinned particles the zone goes with them.
                let mut mean = Vector::<D>::zeros();
                for &node in &fixed {
                    mean += read::<D>(before, node) / fixed.len() as f64;
                }
                Box::new(move |x: &Vector<D>| x + mean * dt)
            };
            for &(_, node) in zone {
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
