//! Kuhn's division of the cube into simplices, and the regular subdivision of simplices that follows from it.

use crate::mesh::Mesh;
use splashdown_math::Vector;
use std::collections::HashMap;

use super::{GenerateError, at_least, countable};

/// The `K!` simplices of Kuhn's division of the unit cube: each walks from (0, ..., 0) to (1, ..., 1) by adding one axis after the other.
/// Every entry is the order of the axes and whether the walk `x0, x1, ..., xK` is positively oriented.
pub(super) fn kuhn_walks<const K: usize>() -> Vec<([usize; K], bool)> {
    fn extend<const K: usize>(
        prefix: &mut [usize; K],
        length: usize,
        even: bool,
        out: &mut Vec<([usize; K], bool)>,
    ) {
        if length == K {
            out.push((*prefix, even));
            return;
        }
        // Choosing the candidate at distance `swaps` from its sorted place costs that many transpositions.
        let mut swaps = 0;
        for axis in 0..K {
            if prefix[..length].contains(&axis) {
                continue;
            }
            prefix[length] = axis;
            extend(prefix, length + 1, even ^ (swaps % 2 == 1), out);
            swaps += 1;
        }
    }
    let mut out = Vec::new();
    extend(&mut [0; K], 0, true, &mut out);
    out
}

/// A mesh whose simplices have been cut, and where each new point lies in the old mesh.
pub struct Subdivision<const D: usize, const N: usize> {
    /// The finer mesh.
    pub mesh: Mesh<D, N>,
    /// For every new point the corners it was made from with their integer weights; the weights sum to the number of pieces per edge and
    /// unused entries have weight 0.
    pub origins: Vec<[(u32, u32); N]>,
}

/// Cuts every edge of `mesh` into `pieces` and every simplex of dimension K = N - 1 into `pieces^K` simplices of the same volume.
///
/// This is the edgewise subdivision (H. Edelsbrunner, D. Grayson, "Edgewise subdivision of a simplex", 2000): the small simplices of one
/// simplex fall into at most K!/2 congruence classes however fine the cut, so quality does not decay. Corners are taken in order of their index,
/// which makes neighbours agree on their common face.
pub fn subdivide<const D: usize, const N: usize, const K: usize>(
    mesh: &Mesh<D, N>,
    pieces: usize,
) -> Result<Subdivision<D, N>, GenerateError> {
    const { assert!(K + 1 == N, "a simplex of dimension K has K + 1 corners") };
    at_least("pieces per edge", pieces, 1)?;
    countable(mesh.elements.len() as f64 * (pieces as f64 + 1.0).powi(K as i32))?;
    let n = pieces as u32;
    let walks = kuhn_walks::<K>();
    let mut index: HashMap<[(u32, u32); N], u32> = HashMap::new();
    let mut origins = Vec::new();
    let mut points: Vec<Vector<D>> = Vec::new();
    let mut elements = Vec::with_capacity(mesh.elements.len() * pieces.pow(K as u32));

    for element in &mesh.elements {
        let (corners, even_sort) = sorted_with_parity(element);
        let mut name_point = |y: &[u32; K]| {
            // With y_i = b_i + b_{i+1} + ... + b_K the simplex is the chamber n >= y_1 >= ... >= y_K >= 0 of a lattice of cubes.
            let mut key = [(u32::MAX, 0); N];
            let mut used = 0;
            for corner in 0..N {
                let from = if corner == 0 { n } else { y[corner - 1] };
                let to = if corner == K { 0 } else { y[corner] };
                if from > to {
                    key[used] = (corners[corner], from - to);
                    used += 1;
                }
            }
            *index.entry(key).or_insert_with(|| {
                let mut x = Vector::<D>::zeros();
                for &(corner, weight) in &key[..used] {
                    x += mesh.points[corner as usize] * (f64::from(weight) / f64::from(n));
                }
                points.push(x);
                origins.push(key);
                (points.len() - 1) as u32
            })
        };
        let mut base = [0u32; K];
        'cubes: loop {
            for (axes, even_walk) in &walks {
                let mut y = base;
                let mut path = [y; N];
                for (step, &axis) in axes.iter().enumerate() {
                    y[axis] += 1;
                    path[step + 1] = y;
                }
                let inside = path.iter().all(|y| y[0] <= n && y.windows(2).all(|pair| pair[0] >= pair[1]));
                if inside {
                    let mut child = path.map(|y| name_point(&y));
                    if even_sort != *even_walk {
                        child.swap(N - 2, N - 1);
                    }
                    elements.push(child);
                }
            }
            // Next cube of the chamber: count up with base[i] <= base[i - 1].
            for axis in (0..K).rev() {
                base[axis] += 1;
                let limit = if axis == 0 { n - 1 } else { base[axis - 1] };
                if base[axis] <= limit {
                    continue 'cubes;
                }
                base[axis] = 0;
            }
            break;
        }
    }
    Ok(Subdivision { mesh: Mesh { points, elements }, origins })
}

fn sorted_with_parity<const N: usize>(element: &[u32; N]) -> ([u32; N], bool) {
    let mut sorted = *element;
    let mut even = true;
    for i in 1..N {
        let mut j = i;
        while j > 0 && sorted[j - 1] > sorted[j] {
            sorted.swap(j - 1, j);
            even = !even;
            j -= 1;
        }
    }
    (sorted, even)
}
