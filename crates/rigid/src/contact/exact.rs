//! Small islands that sweeps and Newton steps leave unsolved: light bodies wedged between heavy ones, for which sweeps need as many turns as the masses differ.
//!
//! With the limits of friction fixed (Tresca's friction) the objective of the sweeps is a quadratic function over a box, whose minimum changes of whole sets of bounded rows find
//! whatever the masses are. It tells which rows press, stick and slide; with limits that go with the loads these rows are one linear system more. If its solution
//! has the same rows, that is Coulomb's friction exactly; if not, limits follow from the loads of the minimum, directions from the sliding, and all is
//! done once more. A minimum keeps all points apart and is below zero, so kinetic energy does not rise wherever this ends.

use super::box_minimum::{Place, Quadratic, SHIFT};
use super::gauss_seidel::Island;
use super::manifold::{Impulses, MOST_POINTS, Manifold};
use super::newton::bounds;
use splashdown_math::{Dim, Space, Twist};
use std::ops::Range;

/// Most rows of an island that is solved so: the matrix is dense.
const MOST_ROWS: usize = 120;
/// Times that limits and directions follow.
const TURNS: usize = 32;
/// Share of the change before above which they do not settle: from then on limits go half of the way only, so that they cannot swing to and fro.
const SETTLING: f64 = 0.95;
/// One or two rows of a manifold whose impulse has a common limit.
struct Friction {
    manifold: usize,
    rows: Range<usize>,
    /// First of them among all rows.
    first: usize,
    /// First of the points whose loads make the limit, among all rows, and the limit for a unit of load on each.
    points: usize,
    shares: [f64; MOST_POINTS],
    limit: f64,
    /// Slides along this direction of the patch's own two axes; where there is but one, that is enough to know.
    sliding: Option<[f64; 2]>,
}

impl<const D: usize> Island<D>
where
    Dim<D>: Space<D>,
{
    /// Finds all impulses; `free` are the twists without any. Returns the largest change of a speed that friction still asks for (m/s), or nothing if the island is too
    /// large or what sweeps have found is nearer: then everything is as it was.
    pub(super) fn solve_exactly(&mut self, free: &[Twist<D>], residual: f64, tolerance: f64) -> Option<f64> {
        let finite = |twist: &Twist<D>| twist.dot(twist).is_finite();
        if !self.joined.is_empty() || self.rows() > MOST_ROWS || !free.iter().all(finite) {
            return None;
        }
        let error = residual.max(self.approach());
        let (twists, impulses) = (self.twists.clone(), self.impulses.clone());
        let found = self.follow_limits(free, tolerance);
        let better = found.filter(|found| found.max(self.approach()) < error);
        if better.is_none() {
            self.twists = twists;
            self.impulses = impulses;
        }
        better
    }

    /// Largest speed at which points approach each other beyond what closes their gaps (m/s).
    fn approach(&self) -> f64 {
        let of = |manifold: &Manifold<D>| {
            let [a, b] = manifold.bodies.map(|b| b as usize);
            let local = manifold.relative(&self.twists[a], &self.twists[b]);
            let points = 0..manifold.points as usize;
            points.map(|k| -manifold.speed(k, &local) - manifold.bias_of(k)).fold(0.0, f64::max)
        };
        self.manifolds.iter().map(of).fold(0.0, f64::max)
    }

    /// Returns the largest change of a speed that the limits and directions of friction still ask for (m/s).
    fn follow_limits(&mut self, free: &[Twist<D>], tolerance: f64) -> Option<f64> {
        let mut frictions = self.frictions();
        let (matrix, speeds) = self.response(free);
        let n = speeds.len();
        let mut places = vec![Place::Low; n];
        let (mut last, mut careful) = (f64::INFINITY, false);
        for turn in 0..TURNS {
            let quadratic = Quadratic::turned(&matrix, &speeds, &frictions);
            let mut bounds = vec![[0.0, f64::INFINITY]; n];
            for friction in &frictions {
                let own = &mut bounds[friction.first..friction.first + friction.rows.len()];
                own.fill([-friction.limit, friction.limit]);
                if let ([_, across], Some(_)) = (own, friction.sliding) {
                    *across = [0.0, 0.0];
                }
            }
            let mut found = self.turned_impulses(&frictions);
            if turn == 0 {
                for (place, (x, [low, high])) in places.iter_mut().zip(found.iter().zip(&bounds)) {
                    *place = match (x <= low, x >= high) {
                        (true, _) => Place::Low,
                        (_, true) => Place::High,
                        _ => Place::Free,
                    };
                }
            }
            quadratic.minimise(&bounds, &mut places, &mut found)?;
            if let Some(exact) = quadratic.with_limits(&frictions, &places, tolerance) {
                self.take(&frictions, &exact, free);
                let change = self.follow(&mut frictions, &quadratic.scale, false);
                if change <= tolerance {
                    return Some(change);
                }
            }
            self.take(&frictions, &found, free);
            let change = self.follow(&mut frictions, &quadratic.scale, careful);
            if change <= tolerance {
                return Some(change);
            }
            careful |= change > SETTLING * last;
            last = change;
        }
        Some(last)
    }

    /// All rows with limits, as they are at the present loads.
    fn frictions(&self) -> Vec<Friction> {
        let mut all = Vec::new();
        let mut first = 0;
        for (m, (manifold, impulses)) in self.manifolds.iter().zip(&self.impulses).enumerate() {
            for (number, (rows, limit)) in bounds(manifold, impulses).enumerate() {
                let share = |point: usize| {
                    let mut unit: Impulses = [0.0; _];
                    unit[point] = f64::from(u8::from(point < manifold.points as usize));
                    bounds(manifold, &unit).nth(number).map_or(0.0, |(_, limit)| limit)
                };
                let mut friction = Friction {
                    manifold: m,
                    first: first + rows.start,
                    rows,
                    points: first,
                    shares: std::array::from_fn(share),
                    limit,
                    sliding: None,
                };
                self.direct(&mut friction);
                all.push(friction);
            }
            first += manifold.rows as usize;
        }
        all
    }

    /// Changes of the speeds of all rows for a unit of impulse on each, and their speeds without impulses (with the bias).
    fn response(&self, free: &[Twist<D>]) -> (Vec<f64>, Vec<f64>) {
        let mut rows: Vec<([usize; 2], [Twist<D>; 2])> = Vec::with_capacity(self.rows());
        let mut speeds = Vec::with_capacity(self.rows());
        for manifold in &self.manifolds {
            let ends = manifold.bodies.map(|b| b as usize);
            let local = manifold.relative(&free[ends[0]], &free[ends[1]]);
            for k in 0..manifold.rows as usize {
                rows.push((ends, manifold.gradient(k)));
                speeds.push(manifold.speed(k, &local) + manifold.bias_of(k));
            }
        }
        let n = rows.len();
        let mut matrix = vec![0.0; n * n];
        for (i, (ends, gradient)) in rows.iter().enumerate() {
            let answers: [Twist<D>; 2] = [0, 1].map(|k| {
                let inverse = &self.inverse[ends[k]];
                Twist {
                    linear: gradient[k].linear * inverse.mass,
                    angular: Dim::apply_inertia(&inverse.inertia, &gradient[k].angular),
                }
            });
            for (j, (to, other)) in rows.iter().enumerate().take(i + 1) {
                let mut sum = 0.0;
                for (end, answer) in ends.iter().zip(&answers) {
                    let same = to.iter().zip(other).filter(|(to, _)| *to == end);
                    sum += same.map(|(_, gradient)| gradient.dot(answer)).sum::<f64>();
                }
                matrix[i * n + j] = sum;
                matrix[j * n + i] = sum;
            }
        }
        (matrix, speeds)
    }

    /// The present impulses of all rows, along the directions of sliding.
    fn turned_impulses(&self, frictions: &[Friction]) -> Vec<f64> {
        let of =
            |(manifold, impulses): (&Manifold<D>, &Impulses)| impulses[..manifold.rows as usize].to_vec();
        let mut all: Vec<f64> = self.manifolds.iter().zip(&self.impulses).flat_map(of).collect();
        for (at, [c, s]) in frictions.iter().filter_map(Friction::turn) {
            (all[at], all[at + 1]) = (c * all[at] + s * all[at + 1], c * all[at + 1] - s * all[at]);
        }
        all
    }

    /// Gives the manifolds their impulses and the bodies what these do to them.
    fn take(&mut self, frictions: &[Friction], found: &[f64], free: &[Twist<D>]) {
        let mut found = found.to_vec();
        for (at, [c, s]) in frictions.iter().filter_map(Friction::turn) {
            (found[at], found[at + 1]) =
                (c * found[at] - s * found[at + 1], s * found[at] + c * found[at + 1]);
        }
        let mut first = 0;
        for (manifold, impulses) in self.manifolds.iter().zip(&mut self.impulses) {
            let count = manifold.rows as usize;
            *impulses = [0.0; _];
            impulses[..count].copy_from_slice(&found[first..first + count]);
            first += count;
        }
        self.twists.copy_from_slice(free);
        self.apply_impulses();
    }

    /// Limits of the present loads, directions of the present sliding. Returns the largest change that this asks for, as that of a speed (m/s).
    fn follow(&self, frictions: &mut [Friction], scale: &[f64], careful: bool) -> f64 {
        let mut change = 0.0f64;
        for friction in frictions {
            let impulses = &self.impulses[friction.manifold];
            let limit = friction.shares.iter().zip(impulses).map(|(share, load)| share * load).sum::<f64>();
            let factor = scale[friction.first] * scale[friction.first];
            change = change.max((limit - friction.limit).abs() * factor);
            friction.limit = if careful { 0.5 * (limit + friction.limit) } else { limit };
            change = change.max(self.direct(friction));
        }
        change
    }

    /// Directs friction against the sliding. Returns the speed that was not against it (m/s).
    fn direct(&self, friction: &mut Friction) -> f64 {
        let manifold = &self.manifolds[friction.manifold];
        if friction.rows.len() < 2 || friction.limit == 0.0 {
            return 0.0;
        }
        let impulses = &self.impulses[friction.manifold][friction.rows.clone()];
        let length = impulses[0].hypot(impulses[1]);
        let [a, b] = manifold.bodies.map(|b| b as usize);
        let local = manifold.relative(&self.twists[a], &self.twists[b]);
        let slip = [0, 1].map(|k| manifold.speed(friction.rows.start + k, &local));
        let speed = slip[0].hypot(slip[1]);
        let before = friction.sliding;
        // What does not reach its limit sticks.
        if length < friction.limit * (1.0 - 1e-9) || !(speed > 0.0) {
            friction.sliding = None;
            return if before.is_some() { speed } else { 0.0 };
        }
        let against = slip.map(|slip| -slip / speed);
        friction.sliding = Some(against);
        match before {
            Some(axis) => (axis[0] * slip[1] - axis[1] * slip[0]).abs(),
            None => speed,
        }
    }
}

impl Friction {
    /// First of two rows that are turned to the direction of sliding, with cosine and sine.
    fn turn(&self) -> Option<(usize, [f64; 2])> {
        self.sliding.filter(|_| self.rows.len() == 2).map(|axis| (self.first, axis))
    }
}

impl Quadratic {
    /// With the rows of friction along the directions of sliding.
    fn turned(matrix: &[f64], speeds: &[f64], frictions: &[Friction]) -> Self {
        let n = speeds.len();
        let (mut matrix, mut linear) = (matrix.to_vec(), speeds.to_vec());
        for (at, [c, s]) in frictions.iter().filter_map(Friction::turn) {
            for k in 0..n {
                let (u, v) = (matrix[at * n + k], matrix[(at + 1) * n + k]);
                (matrix[at * n + k], matrix[(at + 1) * n + k]) = (c * u + s * v, c * v - s * u);
            }
            for k in 0..n {
                let (u, v) = (matrix[k * n + at], matrix[k * n + at + 1]);
                (matrix[k * n + at], matrix[k * n + at + 1]) = (c * u + s * v, c * v - s * u);
            }
            let (u, v) = (linear[at], linear[at + 1]);
            (linear[at], linear[at + 1]) = (c * u + s * v, c * v - s * u);
        }
        Self::new(matrix, linear)
    }

    /// Impulses (without scale) with rows that slide at the limits of the loads that come with them; none if other rows than these would press, stick or slide.
    fn with_limits(&self, frictions: &[Friction], places: &[Place], tolerance: f64) -> Option<Vec<f64>> {
        let n = self.size;
        let free: Vec<usize> = (0..n).filter(|&i| places[i] == Place::Free).collect();
        let m = free.len();
        // Each row by the free ones.
        let mut by_free = vec![0.0; n * m];
        for (c, &i) in free.iter().enumerate() {
            by_free[i * m + c] = 1.0;
        }
        for friction in frictions {
            let sign = match places[friction.first] {
                Place::Free => continue,
                Place::Low => -1.0,
                Place::High => 1.0,
            };
            if friction.rows.len() == 2 && friction.sliding.is_none() {
                return None;
            }
            let at = friction.first;
            for (k, share) in friction.shares.iter().enumerate().filter(|(_, share)| **share != 0.0) {
                let point = friction.points + k;
                if self.scale[point] > 0.0 && self.scale[at] > 0.0 {
                    let share = sign * share * self.scale[at] / self.scale[point];
                    for c in 0..m {
                        by_free[at * m + c] += share * by_free[point * m + c];
                    }
                }
            }
        }
        let mut system = vec![0.0; m * m];
        let mut solution = vec![0.0; m];
        for (r, &i) in free.iter().enumerate() {
            solution[r] = -self.linear[i];
            for j in 0..n {
                let a = self.matrix[i * n + j];
                if a != 0.0 {
                    for c in 0..m {
                        system[r * m + c] += a * by_free[j * m + c];
                    }
                }
            }
            system[r * m + r] += SHIFT;
        }
        eliminate(&mut system, &mut solution)?;
        let all: Vec<f64> = (0..n)
            .map(|i| by_free[i * m..(i + 1) * m].iter().zip(&solution).map(|(a, x)| a * x).sum())
            .collect();
        // Does every row do what was taken for granted?
        let speed = |i: usize| {
            let row = &self.matrix[i * n..(i + 1) * n];
            (self.linear[i] + row.iter().zip(&all).map(|(a, x)| a * x).sum::<f64>()) * self.scale[i]
        };
        let mut agrees = vec![true; n];
        let mut is_friction = vec![false; n];
        for friction in frictions {
            let limit: f64 = (friction.shares.iter().enumerate())
                .filter(|(k, share)| **share != 0.0 && self.scale[friction.points + k] > 0.0)
                .map(|(k, share)| share * all[friction.points + k] / self.scale[friction.points + k])
                .sum();
            let mut square = 0.0;
            for k in 0..friction.rows.len() {
                let i = friction.first + k;
                is_friction[i] = true;
                if self.scale[i] > 0.0 {
                    square += (all[i] / self.scale[i]).powi(2);
                }
            }
            let (at, scale) = (friction.first, self.scale[friction.first]);
            agrees[at] = match places[at] {
                Place::Free => (square.sqrt() - limit) * scale * scale <= tolerance,
                Place::Low => speed(at) >= -tolerance,
                Place::High => speed(at) <= tolerance,
            };
        }
        for i in (0..n).filter(|&i| !is_friction[i] && self.scale[i] > 0.0) {
            agrees[i] = match places[i] {
                Place::Free => all[i] * self.scale[i] >= -tolerance,
                _ => speed(i) >= -tolerance,
            };
        }
        let unscaled = |i: usize| if self.scale[i] > 0.0 { all[i] / self.scale[i] } else { 0.0 };
        let no_pull = |i: usize| if is_friction[i] { unscaled(i) } else { unscaled(i).max(0.0) };
        agrees.iter().all(|agrees| *agrees).then(|| (0..n).map(no_pull).collect())
    }
}

/// Solves a small system that is not symmetric by elimination with row pivoting.
fn eliminate(matrix: &mut [f64], x: &mut [f64]) -> Option<()> {
    let n = x.len();
    for k in 0..n {
        let size = |i: usize| matrix[i * n + k].abs();
        let pivot = (k..n).fold(k, |best, i| if size(i) > size(best) { i } else { best });
        if !(size(pivot) > 0.0) {
            return None;
        }
        if pivot != k {
            for j in k..n {
                matrix.swap(k * n + j, pivot * n + j);
            }
            x.swap(k, pivot);
        }
        let (above, below) = matrix.split_at_mut((k + 1) * n);
        let row = &above[k * n..];
        for (i, other) in below.chunks_mut(n).enumerate() {
            let factor = other[k] / row[k];
            if factor != 0.0 {
                for j in k + 1..n {
                    other[j] -= factor * row[j];
                }
                x[k + 1 + i] -= factor * x[k];
            }
        }
    }
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| matrix[k * n + j] * x[j]).sum();
        x[k] = (x[k] - sum) / matrix[k * n + k];
    }
    x.iter().all(|x| x.is_finite()).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of 2 kg that slides at 3 m/s and falls at 1 m/s: the ground takes 2 kg m/s, friction a third of it.
    #[test]
    fn sliding_rows_have_the_limits_of_their_loads() {
        let matrix = [0.5, 0.0, 0.0, 0.5];
        let friction = Friction {
            manifold: 0,
            rows: 1..2,
            first: 1,
            points: 0,
            shares: std::array::from_fn(|k| if k == 0 { 1.0 / 3.0 } else { 0.0 }),
            limit: 0.1,
            sliding: None,
        };
        let quadratic = Quadratic::turned(&matrix, &[-1.0, 3.0], std::slice::from_ref(&friction));
        let (mut x, mut places) = (vec![0.0; 2], vec![Place::Low; 2]);
        let bounds = [[0.0, f64::INFINITY], [-0.1, 0.1]];
        assert!(quadratic.minimise(&bounds, &mut places, &mut x).is_some());
        assert_eq!(places, [Place::Free, Place::Low]);
        let exact = quadratic.with_limits(&[friction], &places, 1e-9).unwrap();
        assert!((exact[0] - 2.0).abs() < 1e-9 && (exact[1] + 2.0 / 3.0).abs() < 1e-9, "{exact:?}");
    }
}
