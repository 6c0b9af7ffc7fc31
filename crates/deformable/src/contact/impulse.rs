//! Impulses between the parts of a pair (spec 3.16): equal and opposite along one direction, for any masses.

use crate::force::read;
use splashdown_math::Vector;

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
