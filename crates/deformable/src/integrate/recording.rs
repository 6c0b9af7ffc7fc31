//! Motions that are known beforehand: a finished simulation or animation whose particles drive others (DS-52).

use super::Motion;
use splashdown_math::Vector;
use std::sync::Arc;

/// Consecutive particles whose places are known at given times. In between they are on cubics, so that their velocities within steps of any length are continuous; before the first and after
/// the last time they rest.
#[derive(Debug, Clone)]
pub struct Recording<const D: usize> {
    first: usize,
    data: Arc<Data<D>>,
}

#[derive(Debug)]
struct Data<const D: usize> {
    times: Vec<f64>,
    points: Vec<Vec<Vector<D>>>,
}

impl<const D: usize> Recording<D> {
    /// Particles from `first` on, at `points[n]` (m) at the time `times[n]` (s).
    ///
    /// # Errors
    /// Says why if the times do not ascend, or do not each have the same number of points.
    pub fn new(first: u32, times: Vec<f64>, points: Vec<Vec<Vector<D>>>) -> Result<Self, String> {
        if times.is_empty() || times.len() != points.len() {
            return Err(format!("{} times for {} sets of points", times.len(), points.len()));
        }
        if let Some(pair) = times.windows(2).find(|pair| !(pair[0] < pair[1])) {
            return Err(format!("the times do not ascend: {} s is followed by {} s", pair[0], pair[1]));
        }
        if let Some(at) = points.iter().position(|one| one.len() != points[0].len()) {
            let (found, expected) = (points[at].len(), points[0].len());
            return Err(format!("{found} points at {} s, {expected} at {} s", times[at], times[0]));
        }
        if !points.iter().flatten().all(|point| point.iter().all(|c| c.is_finite())) {
            return Err("a point is at no finite place".into());
        }
        Ok(Self { first: first as usize, data: Arc::new(Data { times, points }) })
    }

    /// Gives the particles the velocities that lead them to where they are at the end of the step.
    pub(super) fn drive(&self, motion: &mut Motion, dt: f64) {
        let at_end = self.at(motion.time + dt);
        for (point, target) in at_end.iter().enumerate() {
            for axis in 0..D {
                let at = D * (self.first + point) + axis;
                motion.velocity[at] = (target[axis] - motion.position[at]) / dt;
            }
        }
    }

    /// Where the particles are at the time `t` (s): on cubics with the velocities of central differences at the given times, one-sided at the ends.
    pub fn at(&self, t: f64) -> Vec<Vector<D>> {
        let Data { times, points } = &*self.data;
        let after = times.partition_point(|&time| time <= t);
        if after == 0 {
            return points[0].clone();
        }
        if after == times.len() {
            return points[after - 1].clone();
        }
        let (from, to) = (after - 1, after);
        let h = times[to] - times[from];
        let s = (t - times[from]) / h;
        let slope = |at: usize, point: usize| {
            let (low, high) = (at.saturating_sub(1), (at + 1).min(times.len() - 1));
            (points[high][point] - points[low][point]) / (times[high] - times[low])
        };
        let (s2, s3) = (s * s, s * s * s);
        (0..points[from].len())
            .map(|point| {
                points[from][point] * (2.0 * s3 - 3.0 * s2 + 1.0)
                    + points[to][point] * (3.0 * s2 - 2.0 * s3)
                    + slope(from, point) * (h * (s3 - 2.0 * s2 + s))
                    + slope(to, point) * (h * (s3 - s2))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A parabola is met exactly between inner times, with a velocity that does not jump.
    #[test]
    fn recordings_are_smooth_and_rest_outside() {
        let times = vec![0.0, 0.5, 1.0, 1.5];
        let points = times.iter().map(|&t: &f64| vec![Vector::<2>::new(t * t, 1.0)]).collect();
        let recording = Recording::new(0, times, points).unwrap();
        for t in [0.5, 0.6, 0.77, 1.0] {
            assert!((recording.at(t)[0][0] - t * t).abs() < 1e-14, "{t}");
        }
        let slope = |t: f64| (recording.at(t + 1e-6)[0][0] - recording.at(t - 1e-6)[0][0]) / 2e-6;
        assert!((slope(0.5 - 1e-5) - slope(0.5 + 1e-5)).abs() < 1e-3);
        assert_eq!(recording.at(-1.0), recording.at(0.0));
        assert_eq!(recording.at(9.0)[0][0], 2.25);
        let wrong = |times, counts: [usize; 2]| {
            Recording::<2>::new(0, times, counts.map(|n| vec![Vector::zeros(); n]).to_vec()).unwrap_err()
        };
        assert!(wrong(vec![0.0, 0.0], [1, 1]).contains("do not ascend"));
        assert!(wrong(vec![0.0, 1.0], [1, 2]).contains("2 points at 1 s"));
        assert!(wrong(vec![0.0], [1, 1]).contains("1 times"));
    }
}
