//! Rigid bodies that carry particles of a deformable body (bindings, spec/rigid-deformable-coupling.md 3.9).
//!
//! With `v = B w` the velocities of all particles in terms of the free ones and of the carriers' twists `w`, forces on carried particles act on their carriers,
//! `B^T F`, and damping is `B^T D B`: one symmetric system for both. Carried particles are pinned in their solid; their own mass counts nowhere.

use crate::force::read;
use crate::solid::Solid;
use splashdown_math::{Dim, Inertia, Space, Twist, Vector};

/// A rigid body that carries particles, as it is at one stage of a step.
#[derive(Debug, Clone)]
pub struct Carrier<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Mass (kg).
    pub mass: f64,
    /// Inertia in world axes (kg m^2).
    pub inertia: Inertia<D>,
    /// Does it respond to forces?
    pub dynamic: bool,
}

/// A carried particle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound<const D: usize> {
    /// The particle.
    pub particle: u32,
    /// Index of its carrier.
    pub carrier: u32,
    /// From the carrier's centre of mass to the particle, in world axes (m).
    pub arm: Vector<D>,
}

/// All carriers of a solid, at one stage of a step.
#[derive(Debug, Clone)]
pub struct Carriers<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// The bodies.
    pub carriers: Vec<Carrier<D>>,
    /// The particles they carry, each once.
    pub bound: Vec<Bound<D>>,
    /// By how much the last velocity solve changed the carriers' twists: forces of the particles, and gravity.
    pub change: Vec<Twist<D>>,
    /// By how much pressures of incompressible bodies changed them, in the last correction; empty without any.
    pub pressed: Vec<Twist<D>>,
    /// By how much contact of the surfaces of soft bodies changed them, in its last stage; empty without any.
    pub touched: Vec<Twist<D>>,
}

impl<const D: usize> Carriers<D>
where
    Dim<D>: Space<D>,
{
    /// Carriers at rest with what they carry.
    pub fn new(carriers: Vec<Carrier<D>>, bound: Vec<Bound<D>>) -> Self {
        Self { carriers, bound, change: Vec::new(), pressed: Vec::new(), touched: Vec::new() }
    }

    /// Numbers of a twist.
    pub(crate) const SIZE: usize = Twist::<D>::LEN;

    /// Writes the velocities of carried particles for the twists in `tail` (one after another) into `particles`.
    pub(crate) fn spread(&self, tail: &[f64], particles: &mut [f64]) {
        for bound in &self.bound {
            let at = bound.carrier as usize * Self::SIZE;
            let twist = Twist::<D>::read(&tail[at..at + Self::SIZE]);
            let first = D * bound.particle as usize;
            particles[first..first + D].copy_from_slice(twist.at(&bound.arm).as_slice());
        }
    }

    /// Gives carried particles the velocities `start` (m/s) with what the last velocity solve and pressures changed of the twists.
    pub(super) fn add_changes(&self, start: &[f64], velocity: &mut [f64]) {
        for bound in &self.bound {
            let place = bound.carrier as usize;
            let own = D * bound.particle as usize..D * (bound.particle as usize + 1);
            velocity[own.clone()].copy_from_slice(&start[own]);
            for twist in [self.change.get(place), self.pressed.get(place)].into_iter().flatten() {
                let more = twist.at(&bound.arm);
                for axis in 0..D {
                    velocity[D * bound.particle as usize + axis] += more[axis];
                }
            }
        }
    }

    /// Adds the forces on carried particles, times `factor`, to the carriers' in `tail`, and takes them off the particles.
    pub(crate) fn gather(&self, factor: f64, particles: &mut [f64], tail: &mut [f64]) {
        for bound in &self.bound {
            let force = read::<D>(particles, bound.particle) * factor;
            let at = bound.carrier as usize * Self::SIZE;
            let mut sum = Twist::<D>::read(&tail[at..at + Self::SIZE]);
            sum.linear += force;
            sum.angular += Dim::cross(&bound.arm, &force);
            sum.write(&mut tail[at..at + Self::SIZE]);
            let first = D * bound.particle as usize;
            particles[first..first + D].fill(0.0);
        }
    }

    /// Takes the weights of carried particles, times `factor`, off `force`: their mass counts nowhere.
    pub(super) fn take_weights(&self, solid: &Solid<D>, factor: f64, force: &mut [f64]) {
        for bound in &self.bound {
            let particle = bound.particle as usize;
            for axis in 0..D {
                force[D * particle + axis] -= factor * solid.masses()[particle] * solid.gravity[axis];
            }
        }
    }

    /// `M x` of the carriers.
    pub(super) fn add_mass(&self, x: &[f64], y: &mut [f64]) {
        for (carrier, (x, y)) in
            self.carriers.iter().zip(x.chunks_exact(Self::SIZE).zip(y.chunks_exact_mut(Self::SIZE)))
        {
            let twist = Twist::<D>::read(x);
            let mut sum = Twist::<D>::read(y);
            sum.linear += twist.linear * carrier.mass;
            sum.angular += Dim::apply_inertia(&carrier.inertia, &twist.angular);
            sum.write(y);
        }
    }

    /// `M^-1 x` of the carriers.
    pub(crate) fn divide_by_mass(&self, x: &mut [f64]) {
        for (carrier, x) in self.carriers.iter().zip(x.chunks_exact_mut(Self::SIZE)) {
            let push = Twist::<D>::read(x);
            let inverse = Dim::invert_inertia(&carrier.inertia);
            Twist::<D> {
                linear: push.linear / carrier.mass,
                angular: Dim::apply_inertia(&inverse, &push.angular),
            }
            .write(x);
        }
    }

    /// Removes what carriers that do not respond cannot do.
    pub(crate) fn filter(&self, tail: &mut [f64]) {
        for (carrier, tail) in self.carriers.iter().zip(tail.chunks_exact_mut(Self::SIZE)) {
            if !carrier.dynamic {
                tail.fill(0.0);
            }
        }
    }

    /// Diagonal of the mass matrix.
    pub(super) fn diagonal(&self) -> Vec<f64> {
        let n = <Dim<D> as Space<D>>::SPIN;
        let mut all = Vec::with_capacity(self.carriers.len() * Self::SIZE);
        for carrier in &self.carriers {
            all.extend([carrier.mass; D]);
            let entries = Dim::inertia_entries(&carrier.inertia);
            all.extend((0..n).map(|i| entries[i * n + i]));
        }
        all
    }

    /// The change of twists by `force` on all particles over `dt`, and by gravity.
    pub(super) fn take_forces(&mut self, force: &[f64], dt: f64, gravity: &Vector<D>) {
        let mut particles = force.to_vec();
        let mut tail = vec![0.0; self.carriers.len() * Self::SIZE];
        self.gather(dt, &mut particles, &mut tail);
        self.respond(&tail, dt, gravity);
    }

    /// The change of twists by the impulses in `tail` and by gravity over `dt`.
    pub(super) fn respond(&mut self, tail: &[f64], dt: f64, gravity: &Vector<D>) {
        let impulses = tail.chunks_exact(Self::SIZE);
        self.change = (self.carriers.iter().zip(impulses))
            .map(|(carrier, push)| {
                if !carrier.dynamic {
                    return Twist::zero();
                }
                let push = Twist::<D>::read(push);
                let inverse = Dim::invert_inertia(&carrier.inertia);
                Twist {
                    linear: push.linear / carrier.mass + gravity * dt,
                    angular: Dim::apply_inertia(&inverse, &push.angular),
                }
            })
            .collect();
    }

    /// Takes the solution of a velocity solve.
    pub(super) fn take_change(&mut self, tail: &[f64]) {
        self.change = tail.chunks_exact(Self::SIZE).map(Twist::read).collect();
    }

    /// Weights of the carriers over `dt` (kg m/s), added to `tail`.
    pub(super) fn add_gravity(&self, dt: f64, gravity: &Vector<D>, tail: &mut [f64]) {
        for (carrier, tail) in self.carriers.iter().zip(tail.chunks_exact_mut(Self::SIZE)) {
            for axis in 0..D {
                tail[axis] += dt * carrier.mass * gravity[axis];
            }
        }
    }
}
