//! Impulses between the parts of a pair (spec 3.16): equal and opposite along one direction, for any masses.

use crate::force::read;
use crate::integrate::Carriers;
use splashdown_math::{Dim, Space, Twist, Vector};

/// `sum w_i v_i`: velocity of the first part relative to the second at the closest points.
pub fn relative_velocity<const D: usize>(
    nodes: &[u32; 4],
    weights: &[f64; 4],
    velocity: &[f64],
) -> Vector<D> {
    let mut sum = Vector::zeros();
    for (&node, &weight) in nodes.iter().zip(weights) {
        if weight != 0.0 {
            sum += read::<D>(velocity, node) * weight;
        }
    }
    sum
}

/// Changes the relative velocity by `change` along the unit vector `direction`: `j = change / sum(w^2/m)`, `v_i += w_i j n / m_i`. Linear and angular momentum about the
/// closest points stay.
pub fn apply_impulse<const D: usize>(
    nodes: &[u32; 4],
    weights: &[f64; 4],
    direction: &Vector<D>,
    change: f64,
    inverse_mass: &[f64],
    velocity: &mut [f64],
) {
    let mobility: f64 =
        nodes.iter().zip(weights).map(|(&node, weight)| weight * weight * inverse_mass[node as usize]).sum();
    if !(mobility > 0.0) {
        return;
    }
    let impulse = change / mobility;
    for (&node, weight) in nodes.iter().zip(weights) {
        let size = weight * impulse * inverse_mass[node as usize];
        for axis in 0..D {
            velocity[D * node as usize + axis] += size * direction[axis];
        }
    }
}

/// How particles respond to impulses: by their own masses, or with the rigid body that carries them (spec/rigid-deformable-coupling.md 3.9, `K` of bindings).
#[derive(Debug)]
pub struct Response<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    inverse_mass: &'a [f64],
    carriers: Option<&'a Carriers<D>>,
    /// Places of the carried particles among all that carriers carry, by particle, ascending.
    carried: Vec<(u32, u32)>,
    /// What each carrier carries, as places there.
    members: Vec<Vec<u32>>,
    /// By how much impulses have changed the twists of the carriers so far.
    pub change: Vec<Twist<D>>,
}

impl<'a, const D: usize> Response<'a, D>
where
    Dim<D>: Space<D>,
{
    /// Of particles with these inverse masses (1/kg), 0 for those that move as told or that `carriers` carry.
    pub fn new(inverse_mass: &'a [f64], carriers: Option<&'a Carriers<D>>) -> Self {
        let bound = carriers.map_or(&[][..], |own| &own.bound);
        let mut carried: Vec<(u32, u32)> = bound.iter().map(|one| one.particle).zip(0..).collect();
        carried.sort_unstable();
        let count = carriers.map_or(0, |own| own.carriers.len());
        let mut members = vec![Vec::new(); count];
        for (one, place) in bound.iter().zip(0..) {
            members[one.carrier as usize].push(place);
        }
        Self { inverse_mass, carriers, carried, members, change: vec![Twist::zero(); count] }
    }

    /// Inverse masses (1/kg) of the particles by themselves.
    pub fn inverse_mass(&self) -> &'a [f64] {
        self.inverse_mass
    }

    /// Changes the relative velocity of a pair by `change` along the unit vector `direction`: [`apply_impulse`] with carriers. All particles of a carrier move with it.
    pub fn push(
        &mut self,
        nodes: &[u32; 4],
        weights: &[f64; 4],
        direction: &Vector<D>,
        change: f64,
        velocity: &mut [f64],
    ) {
        let wrenches = self.wrenches(nodes, weights, direction);
        let Some(carriers) = self.carriers.filter(|_| !wrenches.is_empty()) else {
            return apply_impulse(nodes, weights, direction, change, self.inverse_mass, velocity);
        };
        let responses: Vec<(usize, Twist<D>, f64)> = (wrenches.iter())
            .map(|&(carrier, wrench)| {
                let own = &carriers.carriers[carrier];
                let inverse = Dim::invert_inertia(&own.inertia);
                let response = Twist {
                    linear: wrench.linear / own.mass,
                    angular: Dim::apply_inertia(&inverse, &wrench.angular),
                };
                (carrier, response, wrench.dot(&response))
            })
            .collect();
        let free: f64 = (nodes.iter().zip(weights))
            .map(|(&node, weight)| weight * weight * self.inverse_mass[node as usize])
            .sum();
        let mobility = free + responses.iter().map(|(_, _, own)| own).sum::<f64>();
        if !(mobility > 0.0) {
            return;
        }
        let impulse = change / mobility;
        for (&node, weight) in nodes.iter().zip(weights) {
            let size = weight * impulse * self.inverse_mass[node as usize];
            for axis in 0..D {
                velocity[D * node as usize + axis] += size * direction[axis];
            }
        }
        for (carrier, response, _) in responses {
            let turned = response * impulse;
            self.change[carrier] += turned;
            for &member in &self.members[carrier] {
                let bound = &carriers.bound[member as usize];
                let more = turned.at(&bound.arm);
                for axis in 0..D {
                    velocity[D * bound.particle as usize + axis] += more[axis];
                }
            }
        }
    }

    /// Calls `act` for all particles that a push on `nodes` moves.
    pub fn for_moved(&self, nodes: &[u32; 4], mut act: impl FnMut(u32)) {
        nodes.iter().for_each(|&node| act(node));
        let Some(carriers) = self.carriers else { return };
        let mut moved: Vec<u32> =
            nodes.iter().filter_map(|&node| self.carrier_of(node)).map(|(c, _)| c).collect();
        moved.sort_unstable();
        moved.dedup();
        for carrier in moved {
            for &member in &self.members[carrier as usize] {
                act(carriers.bound[member as usize].particle);
            }
        }
    }

    /// Force and torque on each responding carrier of a unit impulse along `direction`.
    fn wrenches(
        &self,
        nodes: &[u32; 4],
        weights: &[f64; 4],
        direction: &Vector<D>,
    ) -> Vec<(usize, Twist<D>)> {
        let mut all: Vec<(usize, Twist<D>)> = Vec::new();
        let Some(carriers) = self.carriers else { return all };
        for (&node, weight) in nodes.iter().zip(weights).filter(|(_, weight)| **weight != 0.0) {
            let Some((carrier, arm)) = self.carrier_of(node) else { continue };
            if !carriers.carriers[carrier as usize].dynamic {
                continue;
            }
            let own = Twist::of_force(&(direction * *weight), &arm);
            match all.iter_mut().find(|(known, _)| *known == carrier as usize) {
                Some((_, sum)) => *sum += own,
                None => all.push((carrier as usize, own)),
            }
        }
        all
    }

    fn carrier_of(&self, node: u32) -> Option<(u32, Vector<D>)> {
        let at = self.carried.binary_search_by_key(&node, |(particle, _)| *particle).ok()?;
        let bound = &self.carriers?.bound[self.carried[at].1 as usize];
        Some((bound.carrier, bound.arm))
    }
}
