//! Small islands that sweeps and Newton steps leave unsolved: light bodies wedged between heavy ones, for which sweeps need as many turns as the masses differ.
//!
//! With the limits of friction fixed (Tresca's friction) the objective of the sweeps is a quadratic function over a box, whose minimum changes of whole sets of bounded rows find
//! whatever the masses are. It tells which rows press, stick and slide; with limits that go with the loads these rows are one linear system more. If its solution
//! has the same rows, that is Coulomb's friction exactly; if not, limits follow from the loads of the minimum, directions from the sliding, and all is
//! done once more. A minimum keeps all points apart and is below zero, so kinetic energy does not rise wherever this ends.

use super::gauss_seidel::Island;
use super::manifold::{Impulses, MOST_POINTS, Manifold};
use super::newton::bounds;
use splashdown_math::{Dim, Space, Twist};
use splashdown_solve::dense::{cholesky, cholesky_solve};
use std::ops::Range;

/// Most rows of an island that is solved so: the matrix is dense.
const MOST_ROWS: usize = 120;
/// Times that limits and directions follow.
const TURNS: usize = 32;
/// Share of the change before above which they do not settle: from then on limits go half of the way only, so that they cannot swing to and fro.
const SETTLING: f64 = 0.95;
/// Relative shift of the diagonal, which makes redundant rows definite, and corrections for it.
const SHIFT: f64 = 1e-11;
const CORRECTIONS: usize = 2;
/// Changes of sets in search of one minimum, how many of them may leave as many rows in disagreement as before, and steps downhill for each row where that is not enough.
const MOST_CHANGES: usize = 20;
const CHANCES: usize = 3;
const STEPS: usize = 4;
/// Share of the terms of a row that its sum is known to.
const ROUNDING: f64 = 1e-11;

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

/// Where an impulse is within its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Free,
    Low,
    High,
}

/// `x.A x / 2 + x.b`, in the scale in which the diagonal of `A` is one.
struct Quadratic {
    size: usize,
    matrix: Vec<f64>,
    linear: Vec<f64>,
    /// Root of the diagonal.
    scale: Vec<f64>,
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
        let scale: Vec<f64> = (0..n).map(|i| matrix[i * n + i].max(0.0).sqrt()).collect();
        let inverse = |i: usize| if scale[i] > 0.0 { 1.0 / scale[i] } else { 0.0 };
        for i in 0..n {
            linear[i] *= inverse(i);
            for j in 0..n {
                matrix[i * n + j] *= inverse(i) * inverse(j);
            }
        }
        Self { size: n, matrix, linear, scale }
    }

    /// Finds the minimum within `bounds`, starting from the rows that are at theirs (`places`). `x` is without scale.
    fn minimise(&self, bounds: &[[f64; 2]], places: &mut [Place], x: &mut [f64]) -> Option<()> {
        let n = self.size;
        // In scale, and nothing where nothing answers.
        let bounds: Vec<[f64; 2]> = (bounds.iter().zip(&self.scale))
            .map(|(own, &scale)| {
                own.map(|bound| if bound == 0.0 || scale == 0.0 { 0.0 } else { bound * scale })
            })
            .collect();
        for i in 0..n {
            x[i] = (x[i] * self.scale[i]).clamp(bounds[i][0], bounds[i][1]);
            if bounds[i][0] == bounds[i][1] {
                places[i] = Place::Low;
            }
        }
        let start = x.to_vec();
        if self.change_sets(&bounds, places, x).is_none() {
            x.copy_from_slice(&start);
            self.descend(&bounds, places, x)?;
        }
        for i in 0..n {
            x[i] = if self.scale[i] > 0.0 { x[i] / self.scale[i] } else { 0.0 };
        }
        Some(())
    }

    /// Solves with whole sets of rows at their bounds, until all agree. All that disagree change at once, as long as they become fewer; where they do not, one
    /// at a time (J. J. Judice, F. M. Pires 1994).
    fn change_sets(&self, bounds: &[[f64; 2]], places: &mut [Place], x: &mut [f64]) -> Option<()> {
        let n = self.size;
        let (mut fewest, mut chances) = (usize::MAX, CHANCES);
        for _ in 0..MOST_CHANGES {
            for i in 0..n {
                match places[i] {
                    Place::Low => x[i] = bounds[i][0],
                    Place::High => x[i] = bounds[i][1],
                    Place::Free => {}
                }
            }
            self.solve_free(places, x)?;
            let mut changes: Vec<(usize, Place)> = Vec::new();
            for i in (0..n).filter(|&i| bounds[i][0] < bounds[i][1]) {
                let (left, slack) = self.gradient(i, x);
                let to = match places[i] {
                    Place::Free if x[i] < bounds[i][0] - slack => Place::Low,
                    Place::Free if x[i] > bounds[i][1] + slack => Place::High,
                    Place::Low if left < -slack => Place::Free,
                    Place::High if left > slack => Place::Free,
                    place => place,
                };
                if to != places[i] {
                    changes.push((i, to));
                }
            }
            if changes.is_empty() {
                x.iter_mut().zip(bounds).for_each(|(x, [low, high])| *x = x.clamp(*low, *high));
                return Some(());
            }
            if changes.len() < fewest {
                (fewest, chances) = (changes.len(), CHANCES);
            } else if chances > 0 {
                chances -= 1;
            } else {
                changes.drain(..changes.len() - 1);
            }
            for (i, to) in changes {
                places[i] = to;
            }
        }
        None
    }

    /// Goes downhill from `x`, within the bounds: to the minimum over the free rows or the first bound on the way there, then with the row freed that is held
    /// at its bound against the most. Never up, and since no set comes twice it ends at the minimum; that is known to rounding only, so the steps are counted.
    fn descend(&self, bounds: &[[f64; 2]], places: &mut [Place], x: &mut [f64]) -> Option<()> {
        let n = self.size;
        for (i, [low, high]) in bounds.iter().enumerate() {
            let (left, slack) = self.gradient(i, x);
            places[i] = match (x[i] <= *low && left >= -slack, x[i] >= *high && left <= slack) {
                _ if low == high => Place::Low,
                (true, _) => Place::Low,
                (_, true) => Place::High,
                _ => Place::Free,
            };
        }
        // Freed since the last step that led anywhere: rounding must not free them again.
        let mut tried = vec![false; n];
        for _ in 0..STEPS * (n + 1) {
            let mut wanted = x.to_vec();
            self.solve_free(places, &mut wanted)?;
            let (mut share, mut stop) = (1.0, None);
            for i in (0..n).filter(|&i| places[i] == Place::Free) {
                let way = wanted[i] - x[i];
                let (bound, place) =
                    if way < 0.0 { (bounds[i][0], Place::Low) } else { (bounds[i][1], Place::High) };
                let room = (bound - x[i]) / way;
                if room < share {
                    (share, stop) = (room.max(0.0), Some((i, bound, place)));
                }
            }
            for i in (0..n).filter(|&i| places[i] == Place::Free) {
                x[i] = (x[i] + share * (wanted[i] - x[i])).clamp(bounds[i][0], bounds[i][1]);
            }
            if share > 0.0 {
                tried.fill(false);
            }
            if let Some((i, bound, place)) = stop {
                (x[i], places[i], tried[i]) = (bound, place, true);
                continue;
            }
            let against = |i: usize| {
                let (left, slack) = self.gradient(i, x);
                if places[i] == Place::Low { -left - slack } else { left - slack }
            };
            let held =
                (0..n).filter(|&i| places[i] != Place::Free && bounds[i][0] < bounds[i][1] && !tried[i]);
            let most = held
                .map(|i| (i, against(i)))
                .fold((n, 0.0), |best, own| if own.1 > best.1 { own } else { best });
            if most.0 == n {
                break;
            }
            places[most.0] = Place::Free;
        }
        Some(())
    }

    fn value(&self, x: &[f64]) -> f64 {
        let rows = self.matrix.chunks(self.size.max(1)).zip(&self.linear).zip(x);
        rows.map(|((row, b), x_i)| x_i * (b + 0.5 * row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>())).sum()
    }

    /// Of row `i`, with what rounding leaves of it.
    fn gradient(&self, i: usize, x: &[f64]) -> (f64, f64) {
        let row = &self.matrix[i * self.size..(i + 1) * self.size];
        let (mut sum, mut terms) = (self.linear[i], self.linear[i].abs());
        for (a, x) in row.iter().zip(x) {
            sum += a * x;
            terms += (a * x).abs();
        }
        (sum, ROUNDING * terms)
    }

    /// Solves for the free rows with the others as they are.
    fn solve_free(&self, places: &[Place], x: &mut [f64]) -> Option<()> {
        let n = self.size;
        let free: Vec<usize> = (0..n).filter(|&i| places[i] == Place::Free).collect();
        let m = free.len();
        let mut factor = vec![0.0; m * m];
        for (r, &i) in free.iter().enumerate() {
            for (c, &j) in free.iter().enumerate() {
                factor[r * m + c] = self.matrix[i * n + j];
            }
            factor[r * m + r] += SHIFT;
            x[i] = 0.0;
        }
        cholesky(&mut factor, m).ok()?;
        for _ in 0..=CORRECTIONS {
            let mut change: Vec<f64> = free
                .iter()
                .map(|&i| {
                    let row = &self.matrix[i * n..(i + 1) * n];
                    -(self.linear[i] + row.iter().zip(x.iter()).map(|(a, x)| a * x).sum::<f64>())
                })
                .collect();
            cholesky_solve(&factor, m, &mut change);
            for (&i, change) in free.iter().zip(change) {
                x[i] += change;
            }
        }
        Some(())
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
    use splashdown_solve::testing::TestNumbers;

    fn random(n: usize, rank: usize, numbers: &mut TestNumbers) -> (Vec<f64>, Vec<f64>) {
        // Masses that differ by six orders.
        let factor: Vec<f64> = (0..n * rank)
            .map(|k| numbers.uniform(-1.0, 1.0) * 10f64.powf(-1.5 + 3.0 * ((k % rank) as f64 / rank as f64)))
            .collect();
        let entry = |i: usize, j: usize| (0..rank).map(|k| factor[i * rank + k] * factor[j * rank + k]).sum();
        let matrix = (0..n * n).map(|at| entry(at / n, at % n)).collect();
        // Speeds that some impulses make.
        let wanted: Vec<f64> = (0..rank).map(|_| numbers.uniform(-1.0, 1.0)).collect();
        let speeds = (0..n).map(|i| (0..rank).map(|k| factor[i * rank + k] * wanted[k]).sum()).collect();
        (matrix, speeds)
    }

    /// No row of a minimum can be improved: inside no speed is left, at a bound it leads outwards. Redundant rows and unequal masses do no harm, whether whole sets change or one row after the other.
    #[test]
    fn minima_are_complementary() {
        let mut numbers = TestNumbers::new(3);
        for case in 0..200 {
            let n = 1 + case % 24;
            let (matrix, speeds) = random(n, n + 2 - case % 4, &mut numbers);
            let quadratic = Quadratic::turned(&matrix, &speeds, &[]);
            let of = |i: usize| if (i + case).is_multiple_of(3) { [-0.1, 0.1] } else { [0.0, f64::INFINITY] };
            let scaled =
                |i: usize| of(i).map(|bound| if bound == 0.0 { 0.0 } else { bound * quadratic.scale[i] });
            let (bounds, scaled): (Vec<_>, Vec<_>) = (0..n).map(|i| (of(i), scaled(i))).unzip();
            let check = |x: &[f64], how: &str| {
                for i in 0..n {
                    let (left, _) = quadratic.gradient(i, x);
                    let terms = |j: usize| (quadratic.matrix[i * n + j] * x[j]).abs();
                    let size = quadratic.linear[i].abs() + (0..n).map(terms).sum::<f64>();
                    let [low, high] = scaled[i];
                    let fine = left.abs() <= 1e-6 * size
                        || (x[i] == low && left > 0.0)
                        || (x[i] == high && left < 0.0);
                    let at = x[i];
                    assert!(
                        fine,
                        "{how}, case {case}, row {i}: {at} in {low}..{high}, speed {left} of {size}"
                    );
                }
                assert!(quadratic.value(x) <= 0.0, "{how}, case {case}");
            };
            let (mut x, mut places) = (vec![0.0; n], vec![Place::Low; n]);
            if quadratic.change_sets(&scaled, &mut places, &mut x).is_some() {
                check(&x, "whole sets");
            }
            let (mut x, mut places) = (vec![0.0; n], vec![Place::Low; n]);
            assert!(quadratic.descend(&scaled, &mut places, &mut x).is_some(), "case {case}");
            check(&x, "one row after the other");
            let (mut x, mut places) = (vec![0.0; n], vec![Place::Low; n]);
            assert!(quadratic.minimise(&bounds, &mut places, &mut x).is_some(), "case {case}");
            let within = |i: usize| x[i] >= bounds[i][0] - 1e-12 && x[i] <= bounds[i][1] + 1e-12;
            assert!((0..n).all(within), "case {case}: {x:?}");
        }
    }

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
