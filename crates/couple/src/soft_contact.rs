//! Contact of rigid bodies with the particles of solids: for the contact solver, particles that a moving rigid body can reach are bodies that never turn
//! (spec/rigid-deformable-coupling.md RDC-9), listed after the rigid ones. So collisions, contact, friction, push-out and warm starts are those of rigid bodies, and both sides
//! feel every impulse. Particles that only bodies of infinite mass can reach stay with their integrator.

use crate::Model;
use crate::fluid_structure::{End, HeldRow};
use splashdown_geometry::{Aabb, Bvh};
use splashdown_math::{Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_parallel::prelude::*;
use splashdown_rigid::{Body, ContactMemory, ContactSolver, ContactStage, Geometry, Kind, Material, Motion};
use std::sync::Arc;

/// Particles are numbered from here on in the memory of contacts, whatever the number of bodies.
const FIRST_PARTICLE: u32 = 1 << 31;

/// Relative speed, as a share of the speeds, below which a contact with friction sticks.
pub(crate) const STICKING: f64 = 1e-7;

/// Rigid bodies and the particles they can reach in one step.
pub(crate) struct Reached<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Rigid bodies, then particles; empty if no particle is reached.
    bodies: Vec<Body<D>>,
    /// Ascending.
    pub particles: Vec<u32>,
}

/// A contact with friction: the rows along the normal and, with friction, across it.
pub(crate) struct Cone<const D: usize>
where
    Dim<D>: Space<D>,
{
    pub rows: Vec<HeldRow<D>>,
    pub friction: f64,
}

/// Unit vectors across `normal`, perpendicular to each other.
fn tangents<const D: usize>(normal: &Vector<D>) -> Vec<Vector<D>> {
    let mut found: Vec<Vector<D>> = Vec::new();
    let steepest = normal.iamax();
    for axis in (0..D).filter(|&axis| axis != steepest) {
        let unit = Vector::<D>::from_fn(|k, _| f64::from(u8::from(k == axis)));
        let mut tangent = unit - normal * normal[axis];
        for other in &found {
            tangent -= other * other.dot(&tangent);
        }
        found.push(tangent.normalize());
    }
    found
}

/// Does the particle move as told?
fn stage_is_pinned<const D: usize>(
    stage: &ContactStage<'_, D>,
    bodies: usize,
    particles: &[u32],
    particle: usize,
) -> bool
where
    Dim<D>: Space<D>,
{
    let number = particles.binary_search(&(particle as u32));
    number.is_ok_and(|number| !stage.bodies[bodies + number].is_dynamic())
}

/// What is known of the particles of solids when contacts are looked for.
pub(crate) struct Candidates<'a, const D: usize> {
    /// Those that may touch, ascending.
    pub particles: &'a [u32],
    pub masses: &'a [f64],
    /// Particles that do not respond; those that bodies carry are left out.
    pub pinned: &'a [bool],
    pub carried: &'a [bool],
    pub position: &'a [f64],
    /// The velocity that moves them (m/s).
    pub moving: &'a [f64],
    /// Distance that is kept (m).
    pub thickness: f64,
}

/// Pairs of a body and a particle that pushed on each other in the step that `memory` remembers.
pub(crate) fn pushing_pairs<const D: usize>(memory: &ContactMemory<D>) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    let mut points = memory.points.iter();
    for &[a, b, count] in &memory.pairs {
        let pushes = points.by_ref().take(count as usize).filter(|(_, impulse)| impulse.norm_squared() > 0.0);
        if pushes.count() > 0 && b >= FIRST_PARTICLE {
            pairs.push([a, b - FIRST_PARTICLE]);
        }
    }
    pairs
}

fn read<const D: usize>(values: &[f64], particle: u32) -> Vector<D> {
    Vector::from_column_slice(&values[D * particle as usize..][..D])
}

impl<const D: usize> Reached<D>
where
    Dim<D>: Space<D>,
{
    /// No particles.
    pub fn nothing() -> Self {
        Self { bodies: Vec::new(), particles: Vec::new() }
    }

    /// What the contacts that push demand of the velocities `motions` of `count` bodies at `frames` and of the particles' velocities `soft` (m/s): that pairs come no nearer, and
    /// that those that stick do not slide.
    pub fn held_rows(
        &self,
        contact: &ContactSolver<D>,
        model: &Model<D>,
        frames: &[Frame<D>],
        motions: &[Motion<D>],
        soft: &[f64],
    ) -> Vec<HeldRow<D>> {
        let count = model.bodies.len();
        let mut held = Vec::new();
        for (pair, point, normal, impulse) in contact.pushes() {
            let sides = pair.map(|body| match (body as usize).checked_sub(count) {
                None => End::Body(body as usize),
                Some(number) => End::Particle(self.particles[number] as usize),
            });
            let velocity = |side: End| match side {
                End::Body(body) => {
                    let frame = &frames[body];
                    motions[body].twist(&model.bodies[body], frame).at(&(point - frame.position))
                }
                End::Particle(particle) => read(soft, particle as u32),
            };
            let mut add = |direction: Vector<D>| {
                let end = |side: End, direction: Vector<D>| {
                    let arm = match side {
                        End::Body(body) => point - frames[body].position,
                        End::Particle(_) => Vector::zeros(),
                    };
                    (side, Twist::of_force(&direction, &arm))
                };
                let ends = vec![end(sides[0], direction), end(sides[1], -direction)];
                held.push(HeldRow { ends, value: None });
            };
            add(normal);
            let [a, b] = sides.map(velocity);
            let sliding = (a - b) - normal * normal.dot(&(a - b));
            let rubs = (impulse - normal * normal.dot(&impulse)).norm() > 0.0;
            if rubs && sliding.norm() <= STICKING * (a.norm() + b.norm()) {
                let steepest = normal.iamax();
                for axis in (0..D).filter(|&axis| axis != steepest) {
                    let unit = Vector::from_fn(|k, _| f64::from(u8::from(k == axis)));
                    add(unit - normal * normal[axis]);
                }
            }
        }
        held
    }

    /// All contacts of this step at `frames`: the rows along their normals, by which they come no nearer than they are apart, and across them, with friction. Of `motions` and `soft` (m/s) only
    /// what moves as told matters.
    pub fn cones(
        &self,
        contact: &ContactSolver<D>,
        stage: &ContactStage<'_, D>,
        model: &Model<D>,
        frames: &[Frame<D>],
        motions: &[Motion<D>],
        soft: &[f64],
    ) -> Vec<Cone<D>> {
        let count = model.bodies.len();
        let mut cones = Vec::new();
        for (pair, touch) in contact.touches() {
            let (point, normal) = (touch.point, touch.normal);
            let friction = stage.material(pair[0] as usize, pair[1] as usize).friction;
            let ends = |direction: Vector<D>| -> Vec<(End, Twist<D>)> {
                let end = |body: u32, direction: Vector<D>| match (body as usize).checked_sub(count) {
                    None => {
                        let arm = point - frames[body as usize].position;
                        (End::Body(body as usize), Twist::of_force(&direction, &arm))
                    }
                    Some(number) => {
                        let particle = self.particles[number] as usize;
                        (End::Particle(particle), Twist { linear: direction, ..Twist::zero() })
                    }
                };
                vec![end(pair[0], direction), end(pair[1], -direction)]
            };
            // Of ends that nothing moves the solve does not know: what they do is part of the value.
            let told = |ends: &[(End, Twist<D>)]| -> f64 {
                let part = |(end, wrench): &(End, Twist<D>)| match *end {
                    End::Body(body) if !model.bodies[body].is_dynamic() => {
                        wrench.dot(&motions[body].twist(&model.bodies[body], &frames[body]))
                    }
                    End::Particle(particle) if stage_is_pinned(stage, count, &self.particles, particle) => {
                        wrench.linear.dot(&read(soft, particle as u32))
                    }
                    _ => 0.0,
                };
                ends.iter().map(part).sum()
            };
            let along = ends(normal);
            let value = Some(-touch.gap.max(0.0) / stage.dt - told(&along));
            let mut rows = vec![HeldRow { ends: along, value }];
            if friction > 0.0 {
                for tangent in tangents(&normal) {
                    let ends = ends(tangent);
                    let value = Some(-told(&ends));
                    rows.push(HeldRow { ends, value });
                }
            }
            cones.push(Cone { rows, friction });
        }
        cones
    }

    /// The particles within reach of dynamic bodies that move with `motions` from `frames` for `dt` seconds.
    pub fn find(
        model: &Model<D>,
        frames: &[Frame<D>],
        motions: &[Motion<D>],
        candidates: &Candidates<'_, D>,
        dt: f64,
    ) -> Self {
        let fastest = candidates
            .particles
            .iter()
            .map(|&particle| read::<D>(candidates.moving, particle).norm_squared())
            .fold(0.0, f64::max)
            .sqrt();
        let boxes: Vec<Aabb<D>> = (model.bodies.iter().zip(frames).zip(motions))
            .filter(|((body, _), _)| body.is_dynamic())
            .filter_map(|((body, frame), motion)| {
                let geometry = body.geometry.as_ref()?;
                let turning = body.spin_of(frame, &motion.angular_momentum);
                let spin = splashdown_math::Coordinates::norm(&turning);
                let turned = if spin > 0.0 { (dt * spin).min(2.0) * geometry.radius() } else { 0.0 };
                let moved = dt * motion.velocity.norm();
                // Twice the motion: what is hit in this step moves on with it.
                let reach = 2.0 * (moved + dt * fastest) + turned + candidates.thickness;
                Some(geometry.world_bounds(frame).grown(reach + 0.01 * geometry.radius()))
            })
            .collect();
        if boxes.is_empty() {
            return Self::nothing();
        }
        let tree = Bvh::new(&boxes);
        let particles: Vec<u32> = candidates
            .particles
            .par_iter()
            .with_min_len(2048)
            .filter_map(|&particle| {
                let x = read::<D>(candidates.position, particle);
                let point = Aabb { min: x, max: x };
                let near = !candidates.carried[particle as usize] && tree.any_overlapping(&point, |_| true);
                near.then_some(particle)
            })
            .collect();
        if particles.is_empty() {
            return Self::nothing();
        }
        let point = Arc::new(Geometry::point(candidates.thickness));
        let material = Material { restitution: 0.0, friction: f64::INFINITY, rolling: 0.0, spinning: 0.0 };
        let mut bodies = Vec::with_capacity(model.bodies.len() + particles.len());
        bodies.extend_from_slice(&model.bodies);
        bodies.extend(particles.iter().map(|&particle| {
            let particle = particle as usize;
            let kind = if candidates.pinned[particle] { Kind::Kinematic } else { Kind::Dynamic };
            Body::particle(kind, candidates.masses[particle], point.clone(), material)
        }));
        Self { bodies, particles }
    }

    /// All that contact sees.
    pub fn bodies<'a>(&'a self, model: &'a Model<D>) -> &'a [Body<D>] {
        if self.particles.is_empty() { &model.bodies } else { &self.bodies }
    }

    /// Is the particle among them?
    pub fn contains(&self, particle: u32) -> bool {
        self.particles.binary_search(&particle).is_ok()
    }

    /// Appends the particles' places to those of the bodies.
    pub fn join_frames(&self, frames: &mut Vec<Frame<D>>, position: &[f64]) {
        frames.extend(
            self.particles
                .iter()
                .map(|&particle| Frame { position: read(position, particle), ..Frame::identity() }),
        );
    }

    /// Takes them off again, into `position`.
    pub fn part_frames(&self, frames: &mut Vec<Frame<D>>, position: &mut [f64]) {
        let first = frames.len() - self.particles.len();
        for (&particle, frame) in self.particles.iter().zip(&frames[first..]) {
            position[D * particle as usize..][..D].copy_from_slice(frame.position.as_slice());
        }
        frames.truncate(first);
    }

    /// Appends the particles' velocities to those of the bodies.
    pub fn join_motions(&self, motions: &mut Vec<Motion<D>>, velocity: &[f64]) {
        use splashdown_math::Coordinates;
        motions.extend(
            self.particles
                .iter()
                .map(|&p| Motion { velocity: read(velocity, p), angular_momentum: Spin::<D>::zero() }),
        );
    }

    /// Takes them off again, into `velocity`.
    pub fn part_motions(&self, motions: &mut Vec<Motion<D>>, velocity: &mut [f64]) {
        let first = motions.len() - self.particles.len();
        for (&particle, motion) in self.particles.iter().zip(&motions[first..]) {
            velocity[D * particle as usize..][..D].copy_from_slice(motion.velocity.as_slice());
        }
        motions.truncate(first);
    }

    /// Pairs of a body and a particle that pushed on each other in the last contact stage.
    pub fn pushing(&self, contact: &ContactSolver<D>, bodies: usize) -> Vec<[u32; 2]> {
        if self.particles.is_empty() {
            return Vec::new();
        }
        let pushed = contact.impulses().filter(|(_, impulse)| impulse.norm_squared() > 0.0);
        pushed
            .filter_map(|([a, b], _)| Some([a, *self.particles.get((b as usize).checked_sub(bodies)?)?]))
            .collect()
    }

    /// Contact moves positions from the start of the step on and velocities at its end, which turns the pair by `dt J x u`, with `J` the impulse of the
    /// position stage and `u` how fast one passes the other. Takes it off the spin of the rigid body, so that angular momentum is kept. `start` are the velocities at the
    /// start of the step, with those of the particles.
    pub fn keep_angular_momentum(&self, contact: &ContactSolver<D>, dt: f64, start: &mut [Motion<D>]) {
        if self.particles.is_empty() {
            return;
        }
        for ([a, b], impulse) in contact.impulses() {
            let (a, b) = (a as usize, b as usize);
            let [first, second] = [&self.bodies[a], &self.bodies[b]];
            if !second.is_particle() || !first.is_dynamic() || !second.is_dynamic() {
                continue;
            }
            let passing = start[a].velocity - start[b].velocity;
            start[a].angular_momentum -= Dim::cross(&(impulse * dt), &passing);
        }
    }

    /// The impulses of the last step for the bodies and particles of this one.
    pub fn recall(&self, memory: &ContactMemory<D>, bodies: usize) -> ContactMemory<D> {
        self.renumbered(memory, |id| {
            if id < FIRST_PARTICLE {
                return Some(id);
            }
            let place = self.particles.binary_search(&(id - FIRST_PARTICLE)).ok()?;
            Some((bodies + place) as u32)
        })
    }

    /// The impulses of this step by particle.
    pub fn remember(&self, memory: &ContactMemory<D>, bodies: usize) -> ContactMemory<D> {
        self.renumbered(memory, |id| {
            let particle = (id as usize).checked_sub(bodies).map(|place| self.particles[place]);
            Some(particle.map_or(id, |particle| FIRST_PARTICLE + particle))
        })
    }

    fn renumbered(&self, memory: &ContactMemory<D>, number: impl Fn(u32) -> Option<u32>) -> ContactMemory<D> {
        let mut renumbered = ContactMemory { dt: memory.dt, ..ContactMemory::default() };
        let mut first = 0;
        for &[a, b, count] in &memory.pairs {
            let points = &memory.points[first..first + count as usize];
            first += count as usize;
            if let (Some(a), Some(b)) = (number(a), number(b)) {
                renumbered.pairs.push([a, b, count]);
                renumbered.points.extend_from_slice(points);
            }
        }
        renumbered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_particles_survives_a_change_of_who_is_near() {
        let reached = |particles: &[u32]| Reached::<3> { bodies: Vec::new(), particles: particles.to_vec() };
        let impulse = |x: f64| (0, Vector::<3>::new(x, 0.0, 0.0));
        let here = ContactMemory {
            dt: 0.1,
            pairs: vec![[0, 1, 1], [0, 3, 1], [1, 4, 1]],
            points: vec![impulse(1.0), impulse(2.0), impulse(3.0)],
        };
        // Three bodies; particles 7 and 9 have places 3 and 4.
        let stored = reached(&[7, 9]).remember(&here, 3);
        let next = reached(&[2, 9]).recall(&stored, 3);
        assert_eq!(next.pairs, vec![[0, 1, 1], [1, 4, 1]]);
        assert_eq!(next.points, vec![impulse(1.0), impulse(3.0)]);
    }
}
