//! How far a free body turns in one step: Taylor expansions of the exact motion at constant angular momentum (spec/rigid-bodies.md 3.6).

use crate::Body;
use serde::{Deserialize, Serialize};
use splashdown_math::{Dim, Frame, Space, Spin};

/// Order of accuracy of the orientation update.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OrientationOrder {
    /// The current spin times the step.
    First,
    /// Adds the angular acceleration.
    #[default]
    Second,
    /// Adds its rate of change.
    Third,
}

/// The rotation vector `u` (rad) with `R(t + dt) = exp(u^*) R(t)` for a free body with angular momentum `L`.
///
/// The plane needs no expansion: its higher terms vanish and the first is exact.
pub fn rotation_vector<const D: usize>(
    body: &Body<D>,
    frame: &Frame<D>,
    angular_momentum: &Spin<D>,
    dt: f64,
    order: OrientationOrder,
) -> Spin<D>
where
    Dim<D>: Space<D>,
{
    let apply_inverse = |spin: &Spin<D>| body.spin_of(frame, spin);
    let spin = apply_inverse(angular_momentum);
    let mut turn = spin * dt;
    if order == OrientationOrder::First {
        return turn;
    }
    let moment = Dim::spin_commutator(angular_momentum, &spin); // L x omega
    let acceleration = apply_inverse(&moment);
    turn += acceleration * (0.5 * dt * dt);
    if order == OrientationOrder::Second {
        return turn;
    }
    let third = Dim::spin_commutator(&spin, &acceleration)
        - apply_inverse(&Dim::spin_commutator(&spin, &moment)) * 2.0
        + apply_inverse(&Dim::spin_commutator(angular_momentum, &acceleration)) * 2.0;
    turn + third * (dt * dt * dt / 12.0)
}
