//! Steps that follow how fast bodies move (spec/rigid-bodies.md 3.5, RB-13).

use crate::World;
use splashdown_math::{Coordinates, Dim, Space};
use splashdown_rigid::Geometry;
use std::f64::consts::PI;

/// How far a body may move in a step, as a share of its size, and how far it may turn (rad).
const MOST_MOVE: f64 = 0.1;
const MOST_TURN: f64 = 0.1 * PI;

impl<const D: usize> World<D>
where
    Dim<D>: Space<D>,
{
    /// The step (s) in which no point of a rigid body moves by more than a tenth of the body's size and no body turns by more than 18 degrees: what adaptive
    /// steps follow. Contact is stable at any step; shorter ones resolve more of what happens between bodies.
    #[inline(never)]
    pub fn rigid_pace(&self) -> f64 {
        let (model, state) = (self.model(), self.state());
        let mut pace = f64::INFINITY;
        for (body, now) in model.bodies.iter().zip(&state.bodies) {
            let twist = now.twist(body);
            let turning = twist.angular.norm();
            if turning > 0.0 {
                pace = pace.min(MOST_TURN / turning);
            }
            let radius = body.geometry.as_deref().map(Geometry::radius).filter(|r| r.is_finite() && *r > 0.0);
            if let Some(radius) = radius {
                let speed = twist.linear.norm() + radius * turning;
                if speed > 0.0 {
                    pace = pace.min(MOST_MOVE * 2.0 * radius / speed);
                }
            }
        }
        pace
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use splashdown_math::{Frame, Twist, Vector};
    use splashdown_rigid::{Body, Kind};
    use std::sync::Arc;

    #[test]
    fn the_fastest_point_moves_by_a_tenth_of_the_size() {
        let mut world = World::<3>::new(Vector::zeros()).unwrap();
        assert_eq!(world.rigid_pace(), f64::INFINITY);
        let ball = Arc::new(Geometry::sphere(0.5).unwrap());
        let body = Body::with_geometry("ball", Kind::Dynamic, 1.0, ball).unwrap();
        let twist = Twist { linear: Vector::from([3.0, 0.0, 0.0]), angular: Vector::from([0.0, 2.0, 0.0]) };
        world.add_body(body, Frame::identity(), twist);
        assert!((world.rigid_pace() - 0.1 / 4.0).abs() < 1e-15);
        // A body without shape is limited by its turn alone.
        let body = Body::new("point", Kind::Dynamic, 1.0, &[1.0; 3]).unwrap();
        let twist =
            Twist { linear: Vector::from([100.0, 0.0, 0.0]), angular: Vector::from([40.0, 0.0, 0.0]) };
        world.add_body(body, Frame::identity(), twist);
        assert!((world.rigid_pace() - 0.1 * PI / 40.0).abs() < 1e-15);
    }
}
