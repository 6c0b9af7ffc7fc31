//! The contact barrier of implicit steps: `b(d) = -kappa (d - r)^2 ln(d / r)` below the reach `r`, and a line search that the detection along paths limits, so that every
//! accepted state is free of intersections (M. Li and others, "Incremental potential contact", ACM Trans. Graph. 39, 2020). Friction is the lagged, smoothed potential of the same work.
//!
//! Obstacles use the same barrier on their signed distance, continued quadratically below a hundredth of the reach: an obstacle that moves into a body must push it out rather
//! than make the step impossible.

use super::pairs::{ContactSurface, Gap, Nearest, PairKind, SurfaceTrees};
use super::paths::{Paths, boxes_apart};
use super::stiffness::{Arms, ContactStiffness, Packed, pack};
use crate::collide::{Colliders, Obstacle, with_moved};
use crate::force::read;
use crate::solid::Solid;
use serde::{Deserialize, Serialize};
use splashdown_math::{Dim, Matrix, Space, Vector};
use splashdown_parallel::prelude::*;

/// Options of the barrier.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BarrierOptions {
    /// Distance (m) at which the barrier begins.
    pub reach: f64,
    /// Coefficient of friction between surfaces of bodies.
    pub friction: f64,
    /// Stiffness relative to `m / dt^2` of the mean particle.
    pub stiffness: f64,
    /// Sliding speed (m/s) at which friction is fully developed.
    pub slip_speed: f64,
}

impl Default for BarrierOptions {
    fn default() -> Self {
        Self { reach: 1e-3, friction: 0.0, stiffness: 10.0, slip_speed: 1e-3 }
    }
}

/// Part of the reach from an obstacle to which a particle that it does not feel yet may come in one Newton step.
const APPROACH: f64 = 0.3;
/// Part of the reach below which the barrier of an obstacle is continued quadratically.
const OBSTACLE_FLOOR: f64 = 0.01;

/// One contact at the last evaluation: up to four particles pushed along one direction.
#[derive(Debug, Clone, Copy)]
struct Active<const D: usize> {
    nodes: [u32; 4],
    weights: [f64; 4],
    normal: Vector<D>,
    /// Force along the normal (N), at least zero.
    force: f64,
    /// `b''` (N/m).
    stiffness: f64,
}

/// Friction of one contact, with normal force and tangent plane from the start of the step.
#[derive(Debug, Clone, Copy)]
struct Rub<const D: usize> {
    nodes: [u32; 4],
    weights: [f64; 4],
    normal: Vector<D>,
    /// `mu` times the normal force (N).
    limit: f64,
    /// Sliding that is not the particles' own: motion of the obstacle during the step (m).
    carried: Vector<D>,
}

/// The barrier between surfaces and against obstacles during one implicit step.
#[derive(Debug, Clone)]
pub struct Barrier<const D: usize>
where
    Dim<D>: Space<D>,
{
    pub(super) surface: ContactSurface<D>,
    /// Options.
    pub options: BarrierOptions,
    pub(super) kappa: f64,
    pub(super) candidates: Vec<(PairKind, [u32; 4])>,
    /// The motion for which the candidates hold.
    pub(super) paths: Paths<D>,
    /// Built anew in every step.
    pub(super) trees: Option<SurfaceTrees<D>>,
    active: Vec<Active<D>>,
    /// Of each candidate, at the last evaluation.
    pub(super) nearest: Vec<Nearest>,
    /// Where the last evaluation was.
    pub(super) evaluated: Vec<f64>,
    rubs: Vec<Rub<D>>,
    start: Vec<f64>,
    slip: f64,
    /// Sliding of each of `rubs` at the last update (m).
    slides: Vec<Vector<D>>,
    obstacles: Vec<Obstacle<D>>,
    colliders: Colliders,
}

/// `b`, `-b'` and `b''` for distance `d` and reach `r`, per `kappa`.
fn barrier(d: f64, r: f64) -> (f64, f64, f64) {
    let (away, log) = (d - r, (d / r).ln());
    let value = -away * away * log;
    let slope = -2.0 * away * log - away * away / d;
    let bend = -2.0 * log - 4.0 * away / d + away * away / (d * d);
    (value, -slope, bend)
}

/// The same, continued quadratically below a small part of the reach.
fn soft_barrier(d: f64, r: f64) -> (f64, f64, f64) {
    let floor = OBSTACLE_FLOOR * r;
    if d >= floor {
        return barrier(d, r);
    }
    let (value, force, bend) = barrier(floor, r);
    let below = floor - d;
    (value + force * below + 0.5 * bend * below * below, force + bend * below, bend)
}

impl<const D: usize> Barrier<D>
where
    Dim<D>: Space<D>,
{
    /// For a surface.
    pub fn new(surface: ContactSurface<D>, options: BarrierOptions) -> Self {
        Self {
            surface,
            options,
            kappa: 0.0,
            candidates: Vec::new(),
            paths: Paths::default(),
            trees: None,
            active: Vec::new(),
            nearest: Vec::new(),
            evaluated: Vec::new(),
            rubs: Vec::new(),
            start: Vec::new(),
            slip: 0.0,
            slides: Vec::new(),
            obstacles: Vec::new(),
            colliders: Colliders::All,
        }
    }

    /// For obstacles only.
    pub(crate) fn obstacles_only() -> Self {
        Self::new(ContactSurface::default(), BarrierOptions::default())
    }

    /// Begins a step: stiffness, and the friction of the contacts at its start.
    pub(crate) fn begin(
        &mut self,
        obstacles: &[Obstacle<D>],
        colliders: &Colliders,
        solid: &Solid<D>,
        start: &[f64],
        dt: f64,
    ) {
        let count = solid.len().max(1) as f64;
        self.kappa = self.options.stiffness * solid.masses().iter().sum::<f64>() / count / (dt * dt);
        self.obstacles = obstacles.to_vec();
        self.colliders = colliders.clone();
        self.start = start.to_vec();
        self.slip = self.options.slip_speed * dt;
        self.rubs.clear();
        self.trees = None;
        self.paths = Paths::default();
        self.find_candidates(start, &vec![0.0; start.len()]);
        self.evaluate(start);
        let friction = self.options.friction;
        if friction > 0.0 {
            for contact in self.active.iter().filter(|contact| contact.weights[1] != 0.0) {
                self.rubs.push(Rub {
                    nodes: contact.nodes,
                    weights: contact.weights,
                    normal: contact.normal,
                    limit: friction * contact.force,
                    carried: Vector::zeros(),
                });
            }
        }
        // Obstacles rub too; each with its own coefficient and motion.
        // The force of a contact at the start is that of the obstacle's place there: from where it will be, it seems to be deep inside or to have gone.
        let at_start: Vec<Obstacle<D>> = (obstacles.iter())
            .filter(|obstacle| obstacle.friction > 0.0)
            .map(|obstacle| obstacle.at_start(dt))
            .collect();
        let boxes: Vec<_> =
            at_start.iter().map(|obstacle| obstacle.reach_bounds(self.options.reach)).collect();
        let near = self.colliders.inside(start, &boxes);
        for (obstacle, near) in at_start.iter().zip(&near) {
            let touching = self.touching(obstacle, near.as_deref(), start);
            self.rubs.extend(touching.into_iter().map(|(contact, velocity)| Rub {
                nodes: contact.nodes,
                weights: contact.weights,
                normal: contact.normal,
                limit: obstacle.friction * contact.force,
                carried: velocity * dt,
            }));
        }
        self.slides = vec![Vector::zeros(); self.rubs.len()];
    }

    /// Do surfaces of bodies feel each other at the last evaluation?
    pub(crate) fn touches_itself(&self) -> bool {
        self.active.iter().any(|contact| contact.weights[1..].iter().any(|&weight| weight != 0.0))
    }

    /// Contacts at the last evaluation.
    pub(crate) fn active(&self) -> usize {
        self.active.len() + self.rubs.len()
    }

    /// Particles within the boxes around everything within `reach` (m) of each obstacle, where that is worth knowing.
    fn near_obstacles(&self, x: &[f64], reach: f64) -> Vec<Option<Vec<u32>>> {
        let boxes: Vec<_> = self.obstacles.iter().map(|obstacle| obstacle.reach_bounds(reach)).collect();
        self.colliders.inside(x, &boxes)
    }

    /// Particles within the reach of an obstacle, with its velocity there.
    fn touching(
        &self,
        obstacle: &Obstacle<D>,
        near: Option<&[u32]>,
        x: &[f64],
    ) -> Vec<(Active<D>, Vector<D>)> {
        let reach = self.options.reach;
        self.colliders.find::<D, _>(x, &obstacle.reach_bounds(reach), near, |node, at| {
            if !obstacle.stops(node) {
                return None;
            }
            let probe = obstacle.probe(&at);
            if !(probe.distance < reach) {
                return None;
            }
            let (_, force, bend) = soft_barrier(probe.distance, reach);
            let contact = Active {
                nodes: [node; 4],
                weights: [1.0, 0.0, 0.0, 0.0],
                normal: probe.normal,
                force: self.kappa * force,
                stiffness: self.kappa * bend,
            };
            Some((contact, probe.velocity))
        })
    }

    /// Evaluates the contacts among the candidates at `x` and returns the energy (J); infinite at an intersection.
    fn evaluate(&mut self, x: &[f64]) -> f64 {
        let (reach, kappa) = (self.options.reach, self.kappa);
        let Self { nearest, candidates, active, evaluated, .. } = self;
        nearest.resize(candidates.len(), Nearest::FAR);
        nearest.par_iter_mut().zip(&*candidates).with_min_len(512).for_each(|(nearest, (kind, nodes))| {
            let far = boxes_apart::<D>(*kind, nodes, x, reach);
            *nearest = if far { Nearest::FAR } else { Nearest::of::<D>(*kind, nodes, x) };
        });
        evaluated.clear();
        evaluated.extend_from_slice(x);
        let touches = |&index: &u32| nearest[index as usize].distance < reach;
        let touching: Vec<u32> =
            (0..nearest.len() as u32).into_par_iter().with_min_len(1024).filter(touches).collect();
        let distance = |index: u32| nearest[index as usize].distance.max(f64::MIN_POSITIVE);
        let energies = touching.par_iter().with_min_len(512).map(|&index| barrier(distance(index), reach).0);
        let mut energy = kappa * energies.reduce(|| 0.0, |a, b| a + b);
        let contact = |&index: &u32| {
            let (kind, nodes) = candidates[index as usize];
            let Gap { normal, weights, .. } = nearest[index as usize].gap::<D>(kind, &nodes, x);
            let (_, force, bend) = barrier(distance(index), reach);
            Active { nodes, weights, normal, force: kappa * force, stiffness: kappa * bend }
        };
        *active = touching.par_iter().with_min_len(512).map(contact).collect();
        let near = self.near_obstacles(x, reach);
        for (index, near) in near.iter().enumerate() {
            let touching = self.touching(&self.obstacles[index], near.as_deref(), x);
            for (contact, _) in touching {
                let d = self.obstacles[index].probe(&read::<D>(x, contact.nodes[0])).distance;
                energy += kappa * soft_barrier(d, reach).0;
                self.active.push(contact);
            }
        }
        energy
    }

    /// Takes new positions on the path of the last [`Self::largest_step`]; returns the energy with friction (J).
    pub(crate) fn update(&mut self, x: &[f64]) -> f64 {
        let mut energy = self.evaluate(x);
        let rubs = self.rubs.par_iter().with_min_len(1024);
        self.slides = rubs.map(|rub| self.slide(rub, x)).collect();
        for (rub, slide) in self.rubs.iter().zip(&self.slides) {
            let y = slide.norm();
            let e = self.slip;
            let smooth = if y < e { y * y / e - y * y * y / (3.0 * e * e) + e / 3.0 } else { y };
            energy += rub.limit * smooth;
        }
        energy
    }

    /// Tangential sliding of a contact since the start of the step (m).
    fn slide(&self, rub: &Rub<D>, x: &[f64]) -> Vector<D> {
        let mut sum = -rub.carried;
        for (&node, &weight) in rub.nodes.iter().zip(&rub.weights) {
            if weight != 0.0 {
                sum += (read::<D>(x, node) - read::<D>(&self.start, node)) * weight;
            }
        }
        sum - rub.normal * rub.normal.dot(&sum)
    }

    /// Friction force per sliding, and its slope along the sliding.
    fn friction(&self, rub: &Rub<D>, y: f64) -> (f64, f64) {
        let e = self.slip;
        if y < e {
            (rub.limit * (2.0 / e - y / (e * e)), rub.limit * 2.0 * (1.0 - y / e) / e)
        } else {
            (rub.limit / y, 0.0)
        }
    }

    /// Adds contact and friction forces; returns the largest on a particle that is not pinned (N).
    pub(crate) fn add_force(&self, pinned: &[bool], force: &mut [f64]) -> f64 {
        let mut largest = 0.0f64;
        for contact in &self.active {
            let mut nodes = contact.nodes.iter().zip(&contact.weights);
            if nodes.any(|(&node, &weight)| weight != 0.0 && !pinned[node as usize]) {
                largest = largest.max(contact.force);
            }
            for (&node, &weight) in contact.nodes.iter().zip(&contact.weights) {
                if weight != 0.0 {
                    for axis in 0..D {
                        force[D * node as usize + axis] += contact.force * weight * contact.normal[axis];
                    }
                }
            }
        }
        for (rub, slide) in self.rubs.iter().zip(&self.slides) {
            let (per_slide, _) = self.friction(rub, slide.norm());
            for (&node, &weight) in rub.nodes.iter().zip(&rub.weights) {
                if weight != 0.0 {
                    for axis in 0..D {
                        force[D * node as usize + axis] -= per_slide * weight * slide[axis];
                    }
                }
            }
        }
        largest
    }

    /// The positive semidefinite stiffness of a contact as a matrix between its points: `b'' n n^T`, and for friction the tangential part.
    fn rub_block(&self, rub: &Rub<D>, slide: &Vector<D>) -> Matrix<D> {
        let y = slide.norm();
        let (across, along) = self.friction(rub, y);
        let tangent = Matrix::<D>::identity() - rub.normal * rub.normal.transpose();
        if y > 0.0 {
            let direction = slide / y;
            tangent * across + direction * direction.transpose() * (along.max(0.0) - across)
        } else {
            tangent * across
        }
    }

    /// The stiffness of contacts and friction at the last positions, as it acts on the particles that are free.
    pub(crate) fn stiffness(&self, pinned: &[bool]) -> ContactStiffness<D> {
        // Contacts first, then what rubs.
        let (active, rubs) = (&self.active, &self.rubs);
        let all = || (0..active.len() + rubs.len()).into_par_iter().with_min_len(1024);
        let arms = |index: usize| match index.checked_sub(active.len()) {
            None => (active[index].nodes, active[index].weights),
            Some(rub) => (rubs[rub].nodes, rubs[rub].weights),
        };
        let block = |index: usize| match index.checked_sub(active.len()) {
            None => {
                let Active { normal, stiffness, .. } = &active[index];
                pack(&(normal * normal.transpose() * *stiffness))
            }
            Some(rub) => pack(&self.rub_block(&rubs[rub], &self.slides[rub])),
        };
        let contacts: Vec<Arms> = all().map(arms).collect();
        let blocks: Vec<Packed> = all().map(block).collect();
        ContactStiffness::new(&contacts, &blocks, pinned)
    }

    /// Shortens the steps of single particles that would run into an obstacle that they do not feel yet, so that they arrive within its reach; true if any.
    pub(crate) fn shorten_for_obstacles(&self, x: &[f64], step: &mut [f64]) -> bool {
        let target = APPROACH * self.options.reach;
        let mut shortened: Vec<u32> = Vec::new();
        let ends = |step: &[f64]| -> Vec<f64> { x.iter().zip(step).map(|(x, step)| x + step).collect() };
        let lists = self.near_obstacles(&ends(step), 0.0);
        for (obstacle, near) in self.obstacles.iter().zip(lists) {
            let end = ends(step);
            let near = near.map(|near| with_moved(near, shortened.iter().copied()));
            let bounds = obstacle.reach_bounds(0.0);
            let found = self.colliders.find::<D, _>(&end, &bounds, near.as_deref(), |node, to| {
                if !obstacle.stops(node) {
                    return None;
                }
                let after = obstacle.probe(&to).distance;
                if after >= target {
                    return None;
                }
                let before = obstacle.probe(&read::<D>(x, node)).distance;
                (before > self.options.reach).then(|| (node, (before - target) / (before - after)))
            });
            for (node, part) in found {
                shortened.push(node);
                step[D * node as usize..D * (node as usize + 1)].iter_mut().for_each(|step| *step *= part);
            }
        }
        !shortened.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn barrier_is_smooth_and_its_derivatives_are_right() {
        let r = 0.3;
        for d in [1e-3, 0.002, 0.01, 0.1, 0.2, 0.299, 0.0, -0.1] {
            let f = if d >= OBSTACLE_FLOOR * r { barrier } else { soft_barrier };
            let h = 1e-7 * (1.0 + d.abs()).min(r);
            let (_, force, bend) = f(d, r);
            let slope = (f(d + h, r).0 - f(d - h, r).0) / (2.0 * h);
            let second = (f(d + h, r).1 - f(d - h, r).1) / (2.0 * h);
            assert!((slope + force).abs() < 1e-5 * (1.0 + force.abs()), "{d}: {slope} {force}");
            assert!((second + bend).abs() < 1e-4 * (1.0 + bend.abs()), "{d}: {second} {bend}");
            assert!(force >= 0.0 && bend >= 0.0);
        }
        let (value, force, _) = barrier(r, r);
        assert!(value == 0.0 && force == 0.0);
    }
}
