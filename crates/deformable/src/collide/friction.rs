//! The map of velocities by contact and friction, and the two ways to move a particle that ran into an object.

use super::{Obstacle, Probe};
use splashdown_math::{Dim, Space, Vector};

/// A particle in contact with an obstacle during a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Touch<const D: usize> {
    /// The particle.
    pub node: u32,
    /// Index of the obstacle.
    pub obstacle: u32,
    /// Outward unit normal of the obstacle.
    pub normal: Vector<D>,
    /// Velocity of the obstacle at the contact (m/s).
    pub body_velocity: Vector<D>,
    /// Coefficient of friction.
    pub friction: f64,
}

/// Velocity after contact with friction (`Gamma` of spec 3.15): the normal part is not less than the body's, and the tangential slip loses `mu` times what the
/// normal part gained.
pub fn friction_map<const D: usize>(
    v: &Vector<D>,
    normal: &Vector<D>,
    body: &Vector<D>,
    friction: f64,
) -> Vector<D> {
    let (own, theirs) = (v.dot(normal), body.dot(normal));
    let after = own.max(theirs);
    let slip = (v - normal * own) - (body - normal * theirs);
    let speed = slip.norm();
    let kept = if speed > 0.0 { (1.0 - friction * (after - own) / speed).max(0.0) } else { 0.0 };
    normal * after + (body - normal * theirs) + slip * kept
}

/// Part of the step before contact, from the distances at its start (moved with the body) and at its end.
pub fn theta(start: f64, end: f64) -> f64 {
    if start <= 0.0 { 0.0 } else { (start / (start - end)).clamp(0.0, 1.0) }
}

/// Moves to the contact, then on with the velocity that contact and friction leave; residual depth (of curved objects, or of what was inside before) is pushed out, no faster than `push_out` (m/s).
pub(super) fn swept<const D: usize>(
    obstacle: &Obstacle<D>,
    probe: &Probe<D>,
    start: &Vector<D>,
    moving: &Vector<D>,
    velocity: &Vector<D>,
    dt: f64,
    push_out: f64,
) -> (Vector<D>, Vector<D>)
where
    Dim<D>: Space<D>,
{
    let (normal, body) = (&probe.normal, &probe.velocity);
    let before = obstacle.probe(start).distance + dt * body.dot(normal);
    let theta = theta(before, probe.distance);
    let slid = friction_map(moving, normal, body, obstacle.friction);
    let mut end = start + (moving * theta + slid * (1.0 - theta)) * dt;
    let left = obstacle.probe(&end);
    if left.distance < 0.0 {
        end += left.normal * (-left.distance).min(push_out * dt);
    }
    (end, friction_map(velocity, normal, body, obstacle.friction))
}

/// Moves out along the normal; friction sees the change of normal velocity only, or the push as well.
pub(super) fn projected<const D: usize>(
    obstacle: &Obstacle<D>,
    probe: &Probe<D>,
    end: &Vector<D>,
    velocity: &Vector<D>,
    dt: f64,
    count_push: bool,
) -> (Vector<D>, Vector<D>)
where
    Dim<D>: Space<D>,
{
    let (normal, body) = (&probe.normal, &probe.velocity);
    let (own, theirs) = (velocity.dot(normal), body.dot(normal));
    let after = own.max(theirs);
    let push = if count_push { -probe.distance / dt } else { 0.0 };
    let slip = (velocity - normal * own) - (body - normal * theirs);
    let speed = slip.norm();
    let kept =
        if speed > 0.0 { (1.0 - obstacle.friction * (after - own + push) / speed).max(0.0) } else { 0.0 };
    (end - normal * probe.distance, normal * after + (body - normal * theirs) + slip * kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::ObstacleShape;
    use splashdown_geometry::shapes::Shape;
    use splashdown_math::{Frame, Twist};

    /// Spec T24: a plane that comes up at 1 m/s, a particle 0.1 m above it that falls at 5 m/s, a step of 0.05 s: contact after a third of it, then on the plane.
    #[test]
    fn moving_plane_meets_the_particle_on_time() {
        let up = Vector::<3>::new(0.0, 1.0, 0.0);
        let mut plane = Obstacle::fixed("plane", Shape::half_space(up, 0.0).unwrap(), Frame::identity(), 0.0);
        assert!(matches!(plane.shape, ObstacleShape::Shape(_)));
        plane.twist = Twist { linear: up, angular: Vector::zeros() };
        plane.end = plane.start.moved(&plane.twist, 0.05);
        // 0.1 m above the plane at the start of the step.
        let start = up * 0.1;
        let moving = up * -5.0;
        let probe = plane.probe(&(start + moving * 0.05));
        let before = plane.probe(&start).distance + 0.05 * probe.velocity.dot(&up);
        assert!((theta(before, probe.distance) - 1.0 / 3.0).abs() < 1e-12);
        let (end, velocity) = swept(&plane, &probe, &start, &moving, &moving, 0.05, f64::INFINITY);
        assert!(plane.probe(&end).distance.abs() < 1e-12);
        assert!((velocity - up).norm() < 1e-12);
    }

    /// What is 0.3 m inside comes out at the speed that is allowed, and all at once without a limit.
    #[test]
    fn what_is_inside_is_pushed_out_no_faster_than_allowed() {
        let up = Vector::<2>::new(0.0, 1.0);
        let plane = Obstacle::fixed("plane", Shape::half_space(up, 0.0).unwrap(), Frame::identity(), 0.0);
        let (start, still) = (up * -0.3, Vector::zeros());
        let probe = plane.probe(&start);
        for (speed, height) in [(2.0, -0.2), (f64::INFINITY, 0.0)] {
            let (end, velocity) = swept(&plane, &probe, &start, &still, &still, 0.05, speed);
            assert!((end - up * height).norm() < 1e-12 && velocity == still, "{end}");
        }
    }

    #[test]
    fn friction_stops_slow_slip_and_slows_fast_slip() {
        let n = Vector::<2>::new(0.0, 1.0);
        let still = Vector::<2>::zeros();
        assert!(friction_map(&Vector::<2>::new(0.2, -1.0), &n, &still, 0.3).norm() < 1e-15);
        let fast = friction_map(&Vector::<2>::new(2.0, -1.0), &n, &still, 0.3);
        assert!((fast - Vector::<2>::new(1.7, 0.0)).norm() < 1e-15);
        // Separating: untouched.
        let away = Vector::<2>::new(2.0, 1.0);
        assert_eq!(friction_map(&away, &n, &still, 0.3), away);
        // On a belt that moves, friction carries along.
        let belt = Vector::<2>::new(1.0, 0.0);
        assert_eq!(friction_map(&Vector::<2>::new(0.9, -1.0), &n, &belt, 0.3), belt);
    }
}
