//! What ties particles of solids to rigid bodies during a step: bindings, contacts that damping keeps, and what obstacles demand of stiff solids.

use crate::articulation::JointRow;
use crate::fluid_structure::{End, HeldRow};
use crate::soft_contact::STICKING;
use crate::solids::{SolidStep, Solids, read};
use crate::{Model, State};
use splashdown_deformable::integrate::{Bound, Carrier, Carriers, ConstraintRow, Link, Motion};
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::{ContactSolver, Motion as RigidMotion};
use std::collections::BTreeSet;

/// A particle that a rigid body carries: it has no freedom of its own, what pulls on it pulls on the body, and its mass counts nowhere (the body's is the whole).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Binding<const D: usize> {
    /// The particle.
    pub particle: u32,
    /// The body.
    pub body: u32,
    /// Its place in the body's coordinates (m).
    pub place: Vector<D>,
}

/// What of rigid bodies damping keeps besides contacts with particles (spec/rigid-deformable-coupling.md 3.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DampingKeeps {
    /// Joints of bodies that carry or touch particles.
    pub joints: bool,
    /// Contacts of such bodies with other rigid bodies.
    pub contacts: bool,
    /// Contacts of particles with moving rigid bodies.
    pub particles: bool,
}

impl Default for DampingKeeps {
    fn default() -> Self {
        Self { joints: true, contacts: true, particles: true }
    }
}

impl<const D: usize> Solids<D>
where
    Dim<D>: Space<D>,
{
    /// What obstacles demand of particles to the half step, that these go no further than the velocity solve found; and how they push on (m/s), for the obstacles to stop.
    pub(crate) fn coming_rows(&self, step: &SolidStep) -> Vec<(HeldRow<D>, Vector<D>)> {
        let SolidStep { stages, .. } = step;
        let row = |(particle, normal): (u32, Vector<D>)| {
            let resisted = read::<D>(&stages.resisted, particle);
            let push = normal * normal.dot(&(read::<D>(&stages.moving, particle) - resisted)).min(0.0);
            (particle_row(particle, normal, Some(normal.dot(&resisted))), push)
        };
        self.integrator.coming_contacts().map(row).collect()
    }

    /// What obstacles demand of particles that have these velocities (m/s) by the solids' own solve to the end of the step: that those that do not leave move with them, and that those
    /// that stick do not slide.
    pub(crate) fn touching_rows(&self, velocity: &[f64]) -> Vec<HeldRow<D>> {
        let mut rows = Vec::new();
        for touch in self.integrator.touches() {
            let now = read::<D>(velocity, touch.node);
            let (relative, scale) = (now - touch.body_velocity, now.norm() + touch.body_velocity.norm());
            let leaving = touch.normal.dot(&relative);
            if leaving > STICKING * scale {
                continue;
            }
            let mut add = |direction: Vector<D>| {
                rows.push(particle_row(touch.node, direction, Some(direction.dot(&touch.body_velocity))));
            };
            add(touch.normal);
            let sliding = relative - touch.normal * leaving;
            if touch.friction > 0.0 && sliding.norm() <= STICKING * scale {
                let steepest = touch.normal.iamax();
                for axis in (0..D).filter(|&axis| axis != steepest) {
                    let unit = Vector::from_fn(|k, _| f64::from(u8::from(k == axis)));
                    add(unit - touch.normal * touch.normal[axis]);
                }
            }
        }
        rows
    }

    /// Carriers, bodies that push on particles, and those that `tied` rows tie to them, with inertias at `frames`, and arms from the centres of mass at `middle` to the particles at
    /// `position`; the rows, with the changes of their sums (m/s).
    pub(crate) fn set_carriers(
        &mut self,
        model: &Model<D>,
        frames: &[Frame<D>],
        middle: &[Frame<D>],
        position: &[f64],
        pushing: &[[u32; 2]],
        tied: &[(HeldRow<D>, f64)],
    ) {
        let dynamic = |body: u32| model.bodies[body as usize].is_dynamic();
        let mut acting: BTreeSet<u32> = self.bindings.iter().map(|binding| binding.body).collect();
        acting.extend(pushing.iter().map(|pair| pair[0]).filter(|&body| dynamic(body)));
        let ends = |row: &HeldRow<D>| -> Vec<(u32, Twist<D>)> {
            let body = |(end, wrench): &(End, Twist<D>)| match *end {
                End::Body(body) => Some((body as u32, *wrench)).filter(|(body, _)| dynamic(*body)),
                End::Particle(_) => None,
            };
            row.ends.iter().filter_map(body).collect()
        };
        let tied: Vec<(Vec<(u32, Twist<D>)>, f64)> = match acting.is_empty() {
            true => Vec::new(),
            false => tied.iter().map(|(row, change)| (ends(row), *change)).collect(),
        };
        // What is tied to something that is tied.
        loop {
            let before = acting.len();
            for (ends, _) in &tied {
                if ends.iter().any(|(body, _)| acting.contains(body)) {
                    acting.extend(ends.iter().map(|(body, _)| *body));
                }
            }
            if acting.len() == before {
                break;
            }
        }
        self.carriers = acting.into_iter().collect();
        self.integrator.rows.clear();
        if self.carriers.is_empty() {
            self.integrator.carriers = None;
            return;
        }
        let place = |body: &u32| self.carriers.binary_search(body).ok().map(|place| place as u32);
        for (ends, change) in &tied {
            let carriers: Vec<(u32, Twist<D>)> =
                ends.iter().filter_map(|(body, wrench)| Some((place(body)?, *wrench))).collect();
            if !carriers.is_empty() {
                self.integrator.rows.push(ConstraintRow { particles: Vec::new(), carriers, change: *change });
            }
        }
        let carriers = self.carriers.iter().map(|&index| {
            let (body, frame) = (&model.bodies[index as usize], &frames[index as usize]);
            let inertia = Dim::rotate_inertia(&frame.rotation, &body.inertia);
            Carrier { mass: body.mass, inertia, dynamic: body.is_dynamic() }
        });
        let bound = self.bindings.iter().map(|binding| {
            let x = Vector::from_column_slice(&position[D * binding.particle as usize..][..D]);
            Bound {
                particle: binding.particle,
                // Every bound body is listed.
                carrier: self.carriers.binary_search(&binding.body).unwrap_or(0) as u32,
                arm: x - middle[binding.body as usize].position,
            }
        });
        let (carriers, bound) = (carriers.collect(), bound.collect());
        self.integrator.carriers = Some(Carriers::new(carriers, bound));
    }

    /// The contacts of `pushing` pairs (body, particle) that damping has to keep. `wanted` gives the change of the relative normal velocity from its value and the gap.
    #[expect(clippy::too_many_arguments)]
    pub(crate) fn set_links(
        &mut self,
        model: &Model<D>,
        frames: &[Frame<D>],
        middle: &[Frame<D>],
        motions: &[RigidMotion<D>],
        particles: &Motion,
        pushing: &[[u32; 2]],
        wanted: impl Fn(f64, f64) -> f64,
    ) {
        self.integrator.links.clear();
        for &[body, particle] in pushing {
            let (owner, index) = (&model.bodies[body as usize], particle as usize);
            let Some(geometry) = owner.geometry.as_ref().filter(|_| index < self.solid.len()) else {
                continue;
            };
            if self.solid.pinned()[index] {
                continue;
            }
            let (frame, x) = (&middle[body as usize], particles.point::<D>(index));
            let (distance, normal) = geometry.distance_and_normal(&frame.to_object(&x));
            let (normal, arm) = (frame.vector_to_world(&normal), x - frame.position);
            let theirs = motions[body as usize].twist(owner, &frames[body as usize]).at(&arm);
            let relative = normal.dot(&(particles.speed::<D>(index) - theirs));
            self.integrator.links.push(Link {
                particle,
                carrier: self.carriers.binary_search(&body).ok().map(|place| place as u32),
                normal,
                arm,
                change: wanted(relative, distance - self.thickness),
            });
        }
    }

    /// What damping keeps of `joints` and of the contacts of rigid bodies that pushed in the last contact stage: both have left `part` of what they move at `motions`.
    pub(crate) fn tied_rows(
        &self,
        model: &Model<D>,
        frames: &[Frame<D>],
        motions: &[RigidMotion<D>],
        joints: Vec<JointRow<D>>,
        contact: Option<&ContactSolver<D>>,
        part: f64,
    ) -> Vec<(HeldRow<D>, f64)> {
        let moving = |body: usize| motions[body].twist(&model.bodies[body], &frames[body]);
        let mut rows = Vec::new();
        if self.keeps.joints {
            // Locked coordinates do not move but for what the step's own impulses have already given them, drives go on as they go.
            rows.extend(joints.into_iter().map(|JointRow { row, locked, kept }| {
                let speed = |(end, wrench): &(End, Twist<D>)| match end {
                    End::Body(body) => wrench.dot(&moving(*body)),
                    End::Particle(_) => 0.0,
                };
                let relative: f64 = row.ends.iter().map(speed).sum();
                let change = if locked { -part * (relative - kept) - kept } else { 0.0 };
                (row, change)
            }));
        }
        let Some(contact) = contact.filter(|_| self.keeps.contacts) else { return rows };
        let count = model.bodies.len();
        for (pair, point, normal, _) in contact.pushes() {
            let bodies = pair.map(|body| body as usize);
            if bodies.iter().any(|&body| body >= count) {
                continue;
            }
            let wrench = |body: usize, normal: Vector<D>| {
                (End::Body(body), Twist::of_force(&normal, &(point - frames[body].position)))
            };
            let ends = vec![wrench(bodies[0], normal), wrench(bodies[1], -normal)];
            let relative: f64 =
                ends.iter().zip(bodies).map(|((_, wrench), body)| wrench.dot(&moving(body))).sum();
            rows.push((HeldRow { ends, value: None }, -part * relative));
        }
        rows
    }

    /// Carried particles move with their bodies.
    pub(crate) fn move_carried(
        &self,
        model: &Model<D>,
        frames: &[Frame<D>],
        motions: &[RigidMotion<D>],
        velocity: &mut [f64],
    ) {
        let Some(carriers) = &self.integrator.carriers else { return };
        for (binding, bound) in self.bindings.iter().zip(&carriers.bound) {
            let body = binding.body as usize;
            let moving = motions[body].twist(&model.bodies[body], &frames[body]).at(&bound.arm);
            velocity[D * binding.particle as usize..][..D].copy_from_slice(moving.as_slice());
        }
    }

    /// Carried particles are where their bodies have them.
    pub(crate) fn place_carried(&self, frames: &[Frame<D>], position: &mut [f64]) {
        place(&self.bindings, frames, position);
    }

    /// Adds particles at `points` (m, in the coordinates of the static or kinematic `body`) that move with it, and returns the first: faces over them in the surface of self-contact
    /// stop soft bodies along their paths, however thin or fast the body is (spec/deformable-solids.md DS-44). Soft bodies no longer meet it by distance: call this after the last of
    /// them is there.
    pub fn add_skin(&mut self, body: u32, points: &[Vector<D>]) -> u32 {
        // They move as told; their mass only counts in the mean of all, by which barriers are scaled.
        let masses = self.solid.masses();
        let mean = masses.iter().sum::<f64>() / masses.len().max(1) as f64;
        let first = self.solid.add_particles(&vec![mean; points.len()], &vec![true; points.len()]);
        let bound =
            points.iter().zip(first..).map(|(place, particle)| Binding { particle, body, place: *place });
        self.skins.extend(bound);
        self.apart.extend(self.bodies.iter().map(|soft| (soft.name.clone(), body)));
        first
    }

    /// Particles of skins move with their bodies.
    pub(crate) fn move_skins(
        &self,
        model: &Model<D>,
        frames: &[Frame<D>],
        motions: &[RigidMotion<D>],
        velocity: &mut [f64],
    ) {
        for skin in &self.skins {
            let (body, frame) = (skin.body as usize, &frames[skin.body as usize]);
            let arm = frame.vector_to_world(&skin.place);
            let moving = motions[body].twist(&model.bodies[body], frame).at(&arm);
            velocity[D * skin.particle as usize..][..D].copy_from_slice(moving.as_slice());
        }
    }

    /// Where the particles of skins are at the part `part` of the way of the bodies from `before` to `next`.
    pub(crate) fn skin_targets(&self, next: &State<D>) -> Vec<Vector<D>> {
        let target = |skin: &Binding<D>| next.bodies[skin.body as usize].frame.to_world(&skin.place);
        self.skins.iter().map(target).collect()
    }

    /// Particles of skins are where their bodies have them.
    pub(crate) fn place_skins(&self, frames: &[Frame<D>], position: &mut [f64]) {
        place(&self.skins, frames, position);
    }

    /// `end` of the carriers is `start` with what the last velocity solve made of it.
    pub(crate) fn push_carriers(
        &self,
        model: &Model<D>,
        frames: &[Frame<D>],
        start: &[RigidMotion<D>],
        end: &mut [RigidMotion<D>],
    ) {
        let Some(carriers) = &self.integrator.carriers else { return };
        for (place, &index) in self.carriers.iter().enumerate() {
            let index = index as usize;
            let body = &model.bodies[index];
            if !body.is_dynamic() {
                continue;
            }
            // Those that only push get no more than their weight, which they have already.
            let carries = self.bindings.iter().any(|binding| binding.body as usize == index);
            if let Some(change) = carriers.change.get(place).filter(|_| carries) {
                end[index].velocity = start[index].velocity + change.linear;
                end[index].angular_momentum =
                    start[index].angular_momentum + body.angular_momentum_of(&frames[index], &change.angular);
            }
            // Pressures push on both kinds.
            if let Some(pressed) = carriers.pressed.get(place) {
                end[index].velocity += pressed.linear;
                end[index].angular_momentum += body.angular_momentum_of(&frames[index], &pressed.angular);
            }
        }
        self.push_touched(model, frames, end);
    }

    /// Adds to `motions` what contact of soft surfaces, in its last stage, did to the bodies that carry particles.
    pub(crate) fn push_touched(&self, model: &Model<D>, frames: &[Frame<D>], motions: &mut [RigidMotion<D>]) {
        let touched = self.integrator.carriers.as_ref().map_or(&[][..], |carriers| &carriers.touched);
        for (&index, change) in self.carriers.iter().zip(touched) {
            let (body, motion) = (&model.bodies[index as usize], &mut motions[index as usize]);
            if body.is_dynamic() && *change != Twist::zero() {
                motion.velocity += change.linear;
                motion.angular_momentum += body.angular_momentum_of(&frames[index as usize], &change.angular);
            }
        }
    }

    /// Moves the bodies that carry particles on by what contact of soft surfaces, in its last stage, did to them for `dt` seconds.
    pub(crate) fn move_touched(&self, dt: f64, frames: &mut [Frame<D>]) {
        let touched = self.integrator.carriers.as_ref().map_or(&[][..], |carriers| &carriers.touched);
        for (&index, change) in self.carriers.iter().zip(touched) {
            if *change != Twist::zero() {
                let frame = &mut frames[index as usize];
                frame.position += change.linear * dt;
                frame.rotation = Dim::compose(&Dim::exp(&(change.angular * dt)), &frame.rotation);
            }
        }
    }
}

/// Puts particles where their bodies have them.
fn place<const D: usize>(bound: &[Binding<D>], frames: &[Frame<D>], position: &mut [f64])
where
    Dim<D>: Space<D>,
{
    for one in bound {
        let x = frames[one.body as usize].to_world(&one.place);
        position[D * one.particle as usize..][..D].copy_from_slice(x.as_slice());
    }
}

/// A demand on one particle.
fn particle_row<const D: usize>(particle: u32, direction: Vector<D>, value: Option<f64>) -> HeldRow<D>
where
    Dim<D>: Space<D>,
{
    let wrench = Twist { linear: direction, ..Twist::zero() };
    HeldRow { ends: vec![(End::Particle(particle as usize), wrench)], value }
}
