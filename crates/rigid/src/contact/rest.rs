//! Bodies that have come to rest: who is asleep, and for how long the others have been quiet.
//!
//! Bodies that touch each other fall asleep together, when all of them have been slower than [`Sleeping::speed`] for [`Sleeping::after`] seconds and
//! something that stands still holds them. A body that sleeps stays where it is at no cost but that of looking for what comes near; it wakes, with
//! all that sleeps in touch with it, when something that is awake touches it or what it lies on moves.

use super::{ContactMemory, ContactSolver, islands};
use crate::{Body, BodyState, Geometry, Kind, Motion};
use serde::{Deserialize, Serialize};
use splashdown_math::{Coordinates, Dim, Space};

/// When bodies fall asleep.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sleeping {
    /// Off: every body is stepped always.
    pub enabled: bool,
    /// No point of a quiet body is faster (m/s).
    pub speed: f64,
    /// How long bodies are quiet before they fall asleep (s).
    pub after: f64,
}

impl Default for Sleeping {
    /// Off; 2 cm/s for half a second once it is on.
    fn default() -> Self {
        Self { enabled: false, speed: 0.02, after: 0.5 }
    }
}

/// Who rests. Part of the state, so that a resumed run gives the same bits.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Rest {
    /// How long each body has been quiet (s); bodies beyond the end have not.
    quiet: Vec<f64>,
    /// Does the body sleep? Bodies beyond the end do not.
    asleep: Vec<bool>,
}

impl Rest {
    /// Does a body sleep?
    pub fn is_asleep(&self, body: usize) -> bool {
        self.asleep.get(body).is_some_and(|asleep| *asleep)
    }

    /// Number of bodies that sleep.
    pub fn count(&self) -> usize {
        self.asleep.iter().filter(|asleep| **asleep).count()
    }

    /// For each of `bodies` bodies, does it sleep? Empty if none does.
    pub fn sleepers(&self, bodies: usize) -> Vec<bool> {
        if !self.asleep.contains(&true) {
            return Vec::new();
        }
        (0..bodies).map(|i| self.is_asleep(i)).collect()
    }

    /// The rest after a step of `dt` seconds that ended with `states`; `asleep` slept through it, and `jointed` says which bodies joints hold on.
    ///
    /// Bodies with joints stay awake, and with them what they touch: drives and joints act without touching.
    #[expect(clippy::too_many_arguments)]
    pub fn after<const D: usize>(
        &self,
        options: &Sleeping,
        bodies: &[Body<D>],
        states: &[BodyState<D>],
        asleep: &[bool],
        jointed: impl Fn(usize) -> bool,
        memory: &ContactMemory<D>,
        dt: f64,
    ) -> Self
    where
        Dim<D>: Space<D>,
    {
        if !options.enabled {
            return Self::default();
        }
        let sleeps = |i: usize| asleep.get(i).is_some_and(|asleep| *asleep);
        let fast = |i: usize| {
            let twist = states[i].twist(&bodies[i]);
            let radius = bodies[i].geometry.as_deref().map_or(0.0, Geometry::radius);
            let turning = if radius.is_finite() { radius * twist.angular.norm() } else { 0.0 };
            !(twist.linear.norm() + turning <= options.speed)
        };
        let quiet: Vec<f64> = (0..bodies.len())
            .map(|i| {
                let before = self.quiet.get(i).copied().unwrap_or(0.0);
                // No longer than it takes, so that a state of sleepers does not change.
                if sleeps(i) {
                    before
                } else if fast(i) {
                    0.0
                } else {
                    (before + dt).min(options.after)
                }
            })
            .collect();
        if !(0..bodies.len()).any(|i| !sleeps(i) && bodies[i].is_dynamic() && quiet[i] >= options.after) {
            return Self { quiet, asleep: if asleep.contains(&true) { asleep.to_vec() } else { Vec::new() } };
        }
        let infinite = |i: usize| !bodies[i].is_dynamic();
        let (island, count) = islands(bodies.len(), infinite, memory.pairs.iter().map(|&[a, b, _]| [a, b]));
        let (mut tired, mut held) = (vec![true; count], vec![false; count]);
        for i in (0..bodies.len()).filter(|&i| !infinite(i)) {
            if !(quiet[i] >= options.after) || jointed(i) {
                tired[island[i] as usize] = false;
            }
        }
        for &[a, b, _] in &memory.pairs {
            for (i, j) in [(a as usize, b as usize), (b as usize, a as usize)] {
                if infinite(i) && !infinite(j) {
                    held[island[j] as usize] = true;
                    if stirs(&bodies[i], &Motion::of(&states[i])) {
                        tired[island[j] as usize] = false;
                    }
                }
            }
        }
        let asleep = (0..bodies.len())
            .map(|i| !infinite(i) && tired[island[i] as usize] && held[island[i] as usize])
            .collect();
        Self { quiet, asleep }
    }

    /// Wakes a body, as if it had just moved.
    pub fn wake(&mut self, body: usize) {
        if let Some(asleep) = self.asleep.get_mut(body) {
            *asleep = false;
        }
        if let Some(quiet) = self.quiet.get_mut(body) {
            *quiet = 0.0;
        }
    }

    /// Quiet times start anew for bodies that sleep no more.
    pub fn woken(&self, asleep: &[bool]) -> Self {
        let mut rest = self.clone();
        for i in 0..rest.asleep.len() {
            if rest.asleep[i] && !asleep.get(i).is_some_and(|asleep| *asleep) {
                rest.wake(i);
            }
        }
        rest
    }
}

/// Does a kinematic body move?
fn stirs<const D: usize>(body: &Body<D>, motion: &Motion<D>) -> bool
where
    Dim<D>: Space<D>,
{
    body.kind == Kind::Kinematic && *motion != Motion::zero()
}

/// Wakes the sleepers that lie on a kinematic body that moves, and all in touch with them. Returns whether there were any.
pub fn wake_moved<const D: usize>(
    bodies: &[Body<D>],
    motions: &[Motion<D>],
    memory: &ContactMemory<D>,
    asleep: &mut [bool],
) -> bool
where
    Dim<D>: Space<D>,
{
    let mut touched = Vec::new();
    for &[a, b, _] in &memory.pairs {
        for (i, j) in [(a as usize, b as usize), (b as usize, a as usize)] {
            if asleep.get(j) == Some(&true) && stirs(&bodies[i], &motions[i]) {
                touched.push(j);
            }
        }
    }
    wake(&touched, memory, asleep)
}

impl<const D: usize> ContactSolver<D>
where
    Dim<D>: Space<D>,
{
    /// Wakes the sleepers that something touches in this step, and all in touch with them. Returns whether there were any: then the step has to
    /// begin anew.
    pub fn wake_touched(&self, memory: &ContactMemory<D>, asleep: &mut [bool]) -> bool {
        if !asleep.contains(&true) {
            return false;
        }
        let touched: Vec<usize> = self
            .touching()
            .flat_map(|pair| [pair.a as usize, pair.b as usize])
            .filter(|&i| asleep[i])
            .collect();
        wake(&touched, memory, asleep)
    }
}

/// Wakes bodies and what sleeps in touch with them.
fn wake<const D: usize>(touched: &[usize], memory: &ContactMemory<D>, asleep: &mut [bool]) -> bool {
    if touched.is_empty() {
        return false;
    }
    let pairs = memory.pairs.iter().map(|&[a, b, _]| [a, b]);
    let (island, count) = islands(asleep.len(), |i| !asleep[i], pairs);
    let mut wakes = vec![false; count];
    touched.iter().for_each(|&i| wakes[island[i] as usize] = true);
    for (asleep, island) in asleep.iter_mut().zip(&island).filter(|(asleep, _)| **asleep) {
        *asleep = !wakes[*island as usize];
    }
    true
}
