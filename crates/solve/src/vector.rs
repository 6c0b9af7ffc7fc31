//! Kernels on flat vectors, parallel and bit-for-bit the same for any number of threads.
//!
//! A reduction sums leaves of [`LEAF`] entries and adds the leaves in a binary tree whose shape depends only on the length.
//! (Such pairwise summation also keeps the rounding error at `O(log n)`.) Lengths that differ between arguments are cut to the shortest
//! by the leaf loops and are a caller's mistake; solvers check sizes before they come here.

use splashdown_parallel::prelude::*;

/// Entries that one task handles in one go.
pub const LEAF: usize = 4096;
/// Below this length a kernel stays on the calling thread: waking another costs more than it saves.
pub const SEQUENTIAL: usize = 32 * 1024;

fn parallel(len: usize) -> bool {
    len >= SEQUENTIAL && rayon::current_num_threads() > 1
}

/// Where the reduction tree splits `len` entries: after a power-of-two number of leaves.
fn split(len: usize) -> usize {
    let leaves = len.div_ceil(LEAF);
    LEAF * (leaves.next_power_of_two() / 2)
}

/// Sums `leaf(first, last)` over all leaves of `0..len` in the fixed tree order.
///
/// `leaf` gets disjoint ranges of at most [`LEAF`] entries. Use it for any reduction that the named kernels do not cover.
pub fn reduce(len: usize, leaf: impl Fn(usize, usize) -> f64 + Sync) -> f64 {
    fn tree<F: Fn(usize, usize) -> f64 + Sync>(first: usize, len: usize, parallel: bool, leaf: &F) -> f64 {
        if len <= LEAF {
            return leaf(first, first + len);
        }
        let half = split(len);
        let left = || tree(first, half, parallel, leaf);
        let right = || tree(first + half, len - half, parallel, leaf);
        let (left, right) = if parallel { rayon::join(left, right) } else { (left(), right()) };
        left + right
    }
    tree(0, len, parallel(len), &leaf)
}

/// Inner product of one leaf; four partial sums let the compiler use vector registers.
fn leaf_dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (x_lanes, x_rest) = x.as_chunks::<4>();
    let (y_lanes, y_rest) = y.as_chunks::<4>();
    for (a, b) in x_lanes.iter().zip(y_lanes) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// `x . y`.
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    reduce(x.len(), |first, last| leaf_dot(&x[first..last], &y[first..last]))
}

/// `sum_i w_i x_i y_i`.
pub fn weighted_dot(weights: &[f64], x: &[f64], y: &[f64]) -> f64 {
    reduce(x.len(), |first, last| {
        let (w, x, y) = (&weights[first..last], &x[first..last], &y[first..last]);
        let mut sum = 0.0;
        for i in 0..w.len() {
            sum += w[i] * x[i] * y[i];
        }
        sum
    })
}

/// Euclidean norm.
pub fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

/// `sum_i x_i`.
pub fn sum(x: &[f64]) -> f64 {
    reduce(x.len(), |first, last| x[first..last].iter().sum())
}

/// Largest absolute value; NaN if any entry is NaN, zero for an empty vector.
pub fn max_norm(x: &[f64]) -> f64 {
    x.iter().fold(
        0.0,
        |largest: f64, value| {
            if value.is_nan() || largest.is_nan() { f64::NAN } else { largest.max(value.abs()) }
        },
    )
}

/// Are all entries finite?
pub fn all_finite(x: &[f64]) -> bool {
    // A sum of 0 x is zero unless some entry is NaN or infinite; it vectorises, `all(is_finite)` does not.
    reduce(x.len(), |first, last| x[first..last].iter().map(|value| 0.0 * value).sum()) == 0.0
}

/// Calls `each(first, chunk of y)` on chunks of [`LEAF`] entries, in parallel when `y` is long.
pub fn for_each_chunk(y: &mut [f64], each: impl Fn(usize, &mut [f64]) + Sync) {
    if parallel(y.len()) {
        y.par_chunks_mut(LEAF).enumerate().for_each(|(chunk, y)| each(chunk * LEAF, y));
    } else {
        y.chunks_mut(LEAF).enumerate().for_each(|(chunk, y)| each(chunk * LEAF, y));
    }
}

/// `y += a x`.
pub fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    for_each_chunk(y, |first, y| {
        for (y, x) in y.iter_mut().zip(&x[first..]) {
            *y += a * x;
        }
    });
}

/// `y = x + b y`.
pub fn xpby(x: &[f64], b: f64, y: &mut [f64]) {
    for_each_chunk(y, |first, y| {
        for (y, x) in y.iter_mut().zip(&x[first..]) {
            *y = x + b * *y;
        }
    });
}

/// `x *= a`.
pub fn scale(a: f64, x: &mut [f64]) {
    for_each_chunk(x, |_, x| x.iter_mut().for_each(|x| *x *= a));
}

/// `y = x - y`; with `y = A x` this makes the residual in place.
pub fn subtract_from(x: &[f64], y: &mut [f64]) {
    for_each_chunk(y, |first, y| {
        for (y, x) in y.iter_mut().zip(&x[first..]) {
            *y = x - *y;
        }
    });
}

/// `z_i = x_i y_i`.
pub fn multiply(x: &[f64], y: &[f64], z: &mut [f64]) {
    for_each_chunk(z, |first, z| {
        for ((z, x), y) in z.iter_mut().zip(&x[first..]).zip(&y[first..]) {
            *z = x * y;
        }
    });
}

/// `x += a p`, `r -= a q`, in one pass over the memory; returns the new `r . r`, or `sum w r^2` with weights.
///
/// This is the update of conjugate gradients, which is bound by memory traffic.
pub fn step_and_norm(
    a: f64,
    p: &[f64],
    q: &[f64],
    x: &mut [f64],
    r: &mut [f64],
    weights: Option<&[f64]>,
) -> f64 {
    struct Shared<'s> {
        a: f64,
        p: &'s [f64],
        q: &'s [f64],
        weights: Option<&'s [f64]>,
        parallel: bool,
    }
    fn tree(s: &Shared, first: usize, x: &mut [f64], r: &mut [f64]) -> f64 {
        let len = r.len();
        if len <= LEAF {
            let range = first..first + len;
            for (x, p) in x.iter_mut().zip(&s.p[range.clone()]) {
                *x += s.a * p;
            }
            for (r, q) in r.iter_mut().zip(&s.q[range.clone()]) {
                *r -= s.a * q;
            }
            return match s.weights {
                None => leaf_dot(r, r),
                Some(w) => r.iter().zip(&w[range]).map(|(r, w)| w * r * r).sum(),
            };
        }
        let half = split(len);
        let (x_left, x_right) = x.split_at_mut(half);
        let (r_left, r_right) = r.split_at_mut(half);
        let mut left = || tree(s, first, x_left, r_left);
        let mut right = || tree(s, first + half, x_right, r_right);
        let (left, right) = if s.parallel { rayon::join(left, right) } else { (left(), right()) };
        left + right
    }
    tree(&Shared { a, p, q, weights, parallel: parallel(r.len()) }, 0, x, r)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn noise(len: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        (0..len)
            .map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
            })
            .collect()
    }

    fn with_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(run)
    }

    #[test]
    fn reductions_do_not_depend_on_the_number_of_threads() {
        for len in [SEQUENTIAL, SEQUENTIAL + 1, 5 * SEQUENTIAL + 4097] {
            let (x, y, w) = (noise(len, 1), noise(len, 2), noise(len, 3));
            let all = |threads| {
                with_threads(threads, || {
                    let (mut a, mut b) = (x.clone(), y.clone());
                    let step = step_and_norm(0.3, &w, &x, &mut a, &mut b, None);
                    let weighted = step_and_norm(0.3, &w, &x, &mut a, &mut b, Some(&w));
                    ([dot(&x, &y), weighted_dot(&w, &x, &y), sum(&x), step, weighted].map(f64::to_bits), a, b)
                })
            };
            let one = all(1);
            assert_eq!(one, all(2));
            assert_eq!(one, all(4));
        }
    }

    #[test]
    fn pairwise_sums_are_accurate() {
        let len = 1_000_000;
        let x = vec![0.1; len];
        assert!((sum(&x) - 0.1 * len as f64).abs() < 1e-8);
        assert!((dot(&x, &x) - 0.01 * len as f64).abs() < 1e-9);
    }

    #[test]
    fn values_that_are_not_finite_are_found() {
        let mut x = noise(10_000, 4);
        assert!(all_finite(&x));
        x[9_999] = f64::INFINITY;
        assert!(!all_finite(&x));
        assert_eq!(max_norm(&x), f64::INFINITY);
        x[17] = f64::NAN;
        assert!(!all_finite(&x) && max_norm(&x).is_nan());
    }

    proptest! {
        #[test]
        fn kernels_match_their_definition(
            pairs in prop::collection::vec((-1e3..1e3f64, -1e3..1e3f64, 0.0..10.0f64), 0..300),
            a in -2.0..2.0f64,
        ) {
            let x: Vec<f64> = pairs.iter().map(|p| p.0).collect();
            let y: Vec<f64> = pairs.iter().map(|p| p.1).collect();
            let w: Vec<f64> = pairs.iter().map(|p| p.2).collect();
            let close = |found: f64, exact: f64| (found - exact).abs() <= 1e-12 * (1.0 + 1e9 * pairs.len() as f64);
            prop_assert!(close(dot(&x, &y), pairs.iter().map(|p| p.0 * p.1).sum()));
            prop_assert!(close(weighted_dot(&w, &x, &y), pairs.iter().map(|p| p.0 * p.1 * p.2).sum()));
            let mut z = y.clone();
            axpy(a, &x, &mut z);
            for i in 0..x.len() { prop_assert_eq!(z[i], y[i] + a * x[i]); }
            xpby(&x, a, &mut z);
            for i in 0..x.len() { prop_assert_eq!(z[i], x[i] + a * (y[i] + a * x[i])); }
            subtract_from(&y, &mut z);
            multiply(&x, &w, &mut z);
            for i in 0..x.len() { prop_assert_eq!(z[i], x[i] * w[i]); }
            let (mut u, mut r) = (x.clone(), y.clone());
            let norm2 = step_and_norm(a, &w, &x, &mut u, &mut r, None);
            for i in 0..x.len() {
                prop_assert_eq!(u[i], x[i] + a * w[i]);
                prop_assert_eq!(r[i], y[i] - a * x[i]);
            }
            prop_assert!(close(norm2, r.iter().map(|r| r * r).sum()));
        }
    }
}
