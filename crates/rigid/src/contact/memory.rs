//! Impulses of the last step, from which the next one starts. Part of the state, so that a resumed run gives the same bits.

use serde::{Deserialize, Serialize};
use splashdown_math::Vector;

/// Contact impulses by pair and feature, pairs ascending.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct ContactMemory<const D: usize> {
    /// Length of the step they belong to (s).
    pub dt: f64,
    /// First body, second body, number of points.
    pub pairs: Vec<[u32; 3]>,
    /// Feature and impulse on the first body in world axes (kg m/s) of each point.
    pub points: Vec<(u32, Vector<D>)>,
}

impl<const D: usize> ContactMemory<D> {
    /// Forgets what a body felt, because it is another one now.
    pub fn forget(&mut self, body: u32) {
        let mut points = std::mem::take(&mut self.points).into_iter();
        self.pairs.retain(|&[a, b, count]| {
            let own = points.by_ref().take(count as usize);
            if a == body || b == body {
                own.for_each(drop);
                false
            } else {
                self.points.extend(own);
                true
            }
        });
    }

    /// Takes over from `old` what pairs felt of which a body sleeps; they were not looked at in this step.
    pub fn keep_sleeping(&mut self, old: &Self, asleep: &[bool]) {
        if !asleep.contains(&true) {
            return;
        }
        let scale = if old.dt > 0.0 { self.dt / old.dt } else { 0.0 };
        let new = std::mem::replace(self, Self { dt: self.dt, ..Self::default() });
        let (mut i, mut j) = (0, 0);
        let (mut first, mut old_first) = (0, 0);
        loop {
            let own = new.pairs.get(i);
            let other = old.pairs.get(j);
            let take_old = match (own, other) {
                (None, None) => break,
                (Some(own), Some(other)) => other[..2] < own[..2],
                (own, _) => own.is_none(),
            };
            if let Some(&[a, b, count]) = other.filter(|_| take_old) {
                if asleep[a as usize] || asleep[b as usize] {
                    self.pairs.push([a, b, count]);
                    let points = &old.points[old_first..old_first + count as usize];
                    // The bits of a sleeper's memory stay as they are while steps have one length.
                    self.points
                        .extend(points.iter().map(|(f, j)| (*f, if scale == 1.0 { *j } else { j * scale })));
                }
                old_first += count as usize;
                j += 1;
            } else if let Some(&[a, b, count]) = own {
                self.pairs.push([a, b, count]);
                self.points.extend_from_slice(&new.points[first..first + count as usize]);
                first += count as usize;
                i += 1;
            }
        }
    }
}
