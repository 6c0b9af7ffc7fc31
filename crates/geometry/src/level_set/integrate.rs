//! Volume of the negative part.

use crate::grid::{Field, Index};
use splashdown_parallel::prelude::*;

/// Volume where the interpolant is negative, over the grid's box. Each dual cell is split into the `D!` simplices around its diagonal
/// (Kuhn), in each of which `phi` is taken as linear and the negative part is exact. Samples at cell centres are continued constantly over
/// the half cell up to the boundary.
pub(super) fn volume<const D: usize>(phi: &Field<D>) -> f64 {
    let lattice = phi.lattice();
    let counts = lattice.counts().map(|n| n as isize);
    let location = lattice.location();
    // Dual cells from `low` to `high` exclusive; those that reach beyond the samples are half as wide on that axis.
    let low: Index<D> = std::array::from_fn(|a| if location.on_planes(a) { 0 } else { -1 });
    let high: Index<D> =
        std::array::from_fn(|a| if location.on_planes(a) { counts[a] - 1 } else { counts[a] });
    let simplices = kuhn_paths::<D>();
    let strides = lattice.strides();
    let slab_fraction = |slab: isize| {
        let mut sum = 0.0;
        let mut first = low;
        first[D - 1] = slab;
        let mut end = high;
        end[D - 1] = slab + 1;
        for cell in crate::grid::box_indices(first, end) {
            let mut share = 1.0;
            for a in 0..D {
                if cell[a] < 0 || cell[a] + 1 >= counts[a] {
                    share *= 0.5;
                }
            }
            let mut values = [0.0; 8];
            let (mut inside, mut outside) = (false, false);
            let interior = share == 1.0;
            let base = if interior { lattice.offset(cell) } else { 0 };
            for (corner, value) in values[..1 << D].iter_mut().enumerate() {
                *value = if interior {
                    phi.values()[base + (0..D).map(|a| (corner >> a & 1) * strides[a]).sum::<usize>()]
                } else {
                    phi.at(std::array::from_fn(|a| {
                        (cell[a] + (corner >> a & 1) as isize).clamp(0, counts[a] - 1)
                    }))
                };
                if *value < 0.0 {
                    inside = true;
                } else {
                    outside = true;
                }
            }
            sum += share
                * match (inside, outside) {
                    (true, false) => 1.0,
                    (true, true) => fraction_by(&simplices, &values, D),
                    _ => 0.0,
                };
        }
        sum
    };
    let slabs: Vec<f64> = (low[D - 1]..high[D - 1]).into_par_iter().map(slab_fraction).collect();
    slabs.into_iter().sum::<f64>() * phi.grid().cell_volume()
}

/// Part of a cell where the function with these values at its corners is negative (corner `k` is upper on axis `a` where bit `a` of `k` is set; the
/// first `2^D` entries count), by the same division into simplices as the volume of a level set.
pub fn negative_part<const D: usize>(corners: &[f64; 8]) -> f64 {
    let used = &corners[..1 << D];
    if used.iter().all(|value| *value < 0.0) {
        return 1.0;
    }
    if used.iter().all(|value| *value >= 0.0) {
        return 0.0;
    }
    match D {
        2 => fraction_by(&PATHS_2, corners, 2),
        _ => fraction_by(&PATHS_3, corners, 3),
    }
}

const PATHS_2: [[usize; 4]; 2] = [[0, 1, 3, 3], [0, 2, 3, 3]];
const PATHS_3: [[usize; 4]; 6] =
    [[0, 1, 3, 7], [0, 1, 5, 7], [0, 2, 3, 7], [0, 2, 6, 7], [0, 4, 5, 7], [0, 4, 6, 7]];

fn fraction_by(simplices: &[[usize; 4]], values: &[f64; 8], dimension: usize) -> f64 {
    let parts = simplices.iter().map(|path| {
        let corners: [f64; 4] = std::array::from_fn(|k| values[path[k.min(dimension)]]);
        negative_fraction(&corners[..=dimension])
    });
    parts.sum::<f64>() / simplices.len() as f64
}

/// Corner numbers of the simplices of the unit cube: from corner 0 to the opposite one, one axis after the other in every order.
pub(crate) fn kuhn_paths<const D: usize>() -> Vec<[usize; 4]> {
    fn extend(path: &mut Vec<usize>, dimension: usize, paths: &mut Vec<[usize; 4]>) {
        if path.len() == dimension + 1 {
            paths.push(std::array::from_fn(|k| path[k.min(dimension)]));
            return;
        }
        let last = path[path.len() - 1];
        for a in (0..dimension).filter(|a| last >> a & 1 == 0) {
            path.push(last | 1 << a);
            extend(path, dimension, paths);
            path.pop();
        }
    }
    let mut paths = Vec::new();
    extend(&mut vec![0], D, &mut paths);
    paths
}

/// Part of a triangle or tetrahedron where the linear function with these corner values is negative. Products of fractions only, so it is
/// in [0, 1] and exact to rounding also for values close to each other or to zero.
fn negative_fraction(values: &[f64]) -> f64 {
    let mut sorted = [0.0; 4];
    let n = values.len();
    sorted[..n].copy_from_slice(values);
    let sorted = &mut sorted[..n];
    sorted.sort_by(f64::total_cmp);
    let negative = sorted.iter().filter(|&&v| v < 0.0).count();
    // Fraction of the edge from a (negative) to b where the function is negative.
    let cut = |a: f64, b: f64| a / (a - b);
    if negative == 0 {
        0.0
    } else if negative == n {
        1.0
    } else if negative == 1 {
        sorted[1..].iter().map(|&v| cut(sorted[0], v)).product()
    } else if negative == n - 1 {
        1.0 - sorted[..n - 1].iter().map(|&v| cut(sorted[n - 1], v)).product::<f64>()
    } else {
        // Two and two: a wedge of three tetrahedra.
        let [a, b, c, d] = [sorted[0], sorted[1], sorted[2], sorted[3]];
        let (ac, ad, bc, bd) = (cut(a, c), cut(a, d), cut(b, c), cut(b, d));
        ac * ad + ac * bd * (1.0 - ad) + (1.0 - ac) * bc * bd
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn cut_simplices_have_the_volume_of_random_sampling() {
        let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(1);
        for n in [3, 4] {
            for _ in 0..30 {
                let values: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
                let trials = 40_000;
                let hits = (0..trials)
                    .filter(|_| {
                        let e: Vec<f64> = (0..n).map(|_| -rng.random_range(1e-12..1.0f64).ln()).collect();
                        let sum: f64 = e.iter().sum();
                        e.iter().zip(&values).map(|(e, v)| e / sum * v).sum::<f64>() < 0.0
                    })
                    .count();
                // Four standard deviations of the count.
                let expected = negative_fraction(&values);
                let tolerance = 4.0 * (0.25 / trials as f64).sqrt();
                assert!((hits as f64 / trials as f64 - expected).abs() < tolerance, "{values:?}");
            }
        }
    }

    #[test]
    fn there_are_factorial_many_paths() {
        assert_eq!(kuhn_paths::<2>(), PATHS_2);
        assert_eq!(kuhn_paths::<3>(), PATHS_3);
    }
}
