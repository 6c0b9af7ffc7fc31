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
}
