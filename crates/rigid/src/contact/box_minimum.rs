//! Minima of quadratic functions over boxes, small and dense, exact to rounding however unequal the rows are.

use splashdown_solve::dense::{cholesky, cholesky_solve};

/// Relative shift of the diagonal, which makes redundant rows definite, and corrections for it.
pub(super) const SHIFT: f64 = 1e-11;
const CORRECTIONS: usize = 2;
/// Changes of sets in search of one minimum, how many of them may leave as many rows in disagreement as before, and steps downhill for each row where that is not enough.
const MOST_CHANGES: usize = 20;
const CHANCES: usize = 3;
const STEPS: usize = 4;
/// Share of the terms of a row that its sum is known to.
const ROUNDING: f64 = 1e-11;

/// Where an impulse is within its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Free,
    Low,
    High,
}

/// `x.A x / 2 + x.b`, in the scale in which the diagonal of `A` is one.
pub(super) struct Quadratic {
    pub size: usize,
    pub matrix: Vec<f64>,
    pub linear: Vec<f64>,
    /// Root of the diagonal.
    pub scale: Vec<f64>,
}

impl Quadratic {
    /// In scale.
    pub fn new(mut matrix: Vec<f64>, mut linear: Vec<f64>) -> Self {
        let n = linear.len();
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
    pub fn minimise(&self, bounds: &[[f64; 2]], places: &mut [Place], x: &mut [f64]) -> Option<()> {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use splashdown_solve::testing::TestNumbers;

    fn value(of: &Quadratic, x: &[f64]) -> f64 {
        let rows = of.matrix.chunks(of.size.max(1)).zip(&of.linear).zip(x);
        rows.map(|((row, b), x_i)| x_i * (b + 0.5 * row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>())).sum()
    }

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
            let quadratic = Quadratic::new(matrix, speeds);
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
                assert!(value(&quadratic, x) <= 0.0, "{how}, case {case}");
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
}
