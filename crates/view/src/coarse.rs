//! Coarse copies of large surfaces, for while they move or play.

use std::collections::{HashMap, HashSet};

/// Surfaces with more triangles than this have a coarse copy.
pub(crate) const FROM: usize = 120_000;
/// Points that a coarse copy has, about.
const POINTS: f64 = 25_000.0;

/// A surface over some of the points of another.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Coarse {
    /// Points of the original.
    pub points: Vec<u32>,
    /// Over `points`.
    pub triangles: Vec<[u32; 3]>,
}

/// Joins the points of every cube of a grid (Rossignac and Borrel, 1993). Each cube is stood for by the point nearest to their mean, so
/// that values at points can be taken as they are.
pub(crate) fn coarsen(points: &[[f64; 3]], triangles: &[[u32; 3]]) -> Coarse {
    let corner = |t: &[u32; 3], k: usize| points[t[k] as usize];
    let area: f64 = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = [0, 1, 2].map(|k| corner(t, k));
            let (u, v) = (sub(b, a), sub(c, a));
            let n = [0, 1, 2].map(|k| {
                let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                u[i] * v[j] - u[j] * v[i]
            });
            0.5 * dot(n, n).sqrt()
        })
        .filter(|area| area.is_finite())
        .sum();
    // A cube that the surface crosses holds about its square of it.
    let edge = (area / POINTS).sqrt();
    if !(edge > 0.0 && edge.is_finite()) {
        return Coarse::default();
    }
    let cube = |p: [f64; 3]| p.map(|x| (x / edge).floor() as i64);
    // In the order of the first point of each, so that the result is always the same.
    let mut number: HashMap<[i64; 3], u32> = HashMap::new();
    let mut sums: Vec<([f64; 3], f64)> = Vec::new();
    let mut of_point = vec![u32::MAX; points.len()];
    for &index in triangles.iter().flatten() {
        let (place, p) = (&mut of_point[index as usize], points[index as usize]);
        if *place != u32::MAX || !p.iter().all(|x| x.is_finite()) {
            continue;
        }
        *place = *number.entry(cube(p)).or_insert_with(|| {
            sums.push(([0.0; 3], 0.0));
            sums.len() as u32 - 1
        });
        let (sum, count) = &mut sums[*place as usize];
        (0..3).for_each(|k| sum[k] += p[k]);
        *count += 1.0;
    }
    let mut nearest = vec![(f64::INFINITY, 0); sums.len()];
    for (index, &place) in of_point.iter().enumerate().filter(|(_, place)| **place != u32::MAX) {
        let (sum, count) = sums[place as usize];
        let away = sub(points[index], sum.map(|x| x / count));
        let distance = dot(away, away);
        if distance < nearest[place as usize].0 {
            nearest[place as usize] = (distance, index as u32);
        }
    }
    let mut known = HashSet::new();
    let joined = triangles.iter().map(|t| t.map(|index| of_point[index as usize])).filter(|t| {
        let mut sorted = *t;
        sorted.sort_unstable();
        let flat = t.contains(&u32::MAX) || sorted[0] == sorted[1] || sorted[1] == sorted[2];
        !flat && known.insert(sorted)
    });
    Coarse { triangles: joined.collect(), points: nearest.into_iter().map(|(_, index)| index).collect() }
}

fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|k| a[k] - b[k])
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|k| a[k] * b[k]).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A closed surface of a ball by longitude and latitude.
    fn ball(rows: usize) -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
        let columns = 2 * rows;
        let at = |i: usize, j: usize| {
            let (u, v) = (
                std::f64::consts::PI * i as f64 / rows as f64,
                std::f64::consts::TAU * j as f64 / columns as f64,
            );
            [u.sin() * v.cos(), u.cos(), u.sin() * v.sin()]
        };
        let points = (0..=rows).flat_map(|i| (0..columns).map(move |j| at(i, j))).collect();
        let index = |i: usize, j: usize| (i * columns + j % columns) as u32;
        let triangles = (0..rows)
            .flat_map(|i| (0..columns).map(move |j| (i, j)))
            .flat_map(|(i, j)| {
                let [a, b, c, d] = [index(i, j), index(i, j + 1), index(i + 1, j + 1), index(i + 1, j)];
                [[a, b, c], [a, c, d]]
            })
            .collect();
        (points, triangles)
    }

    #[test]
    fn a_coarse_copy_is_small_and_near_the_original() {
        let (points, triangles) = ball(400);
        let coarse = coarsen(&points, &triangles);
        let share = coarse.triangles.len() as f64 / triangles.len() as f64;
        assert!(share > 0.03 && share < 0.2, "{share}");
        let volume = |points: &dyn Fn(u32) -> [f64; 3], triangles: &[[u32; 3]]| {
            let one = |t: &[u32; 3]| {
                let [a, b, c] = t.map(points);
                a[0] * (b[1] * c[2] - b[2] * c[1])
                    + a[1] * (b[2] * c[0] - b[0] * c[2])
                    + a[2] * (b[0] * c[1] - b[1] * c[0])
            };
            triangles.iter().map(one).sum::<f64>() / 6.0
        };
        let fine = volume(&|i| points[i as usize], &triangles);
        let rough = volume(&|i| points[coarse.points[i as usize] as usize], &coarse.triangles);
        assert!((rough / fine - 1.0).abs() < 0.01, "{rough} of {fine}");
        assert_eq!(coarsen(&points, &triangles), coarse);
    }

    #[test]
    fn points_that_are_nowhere_are_left_out() {
        let points = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [f64::NAN; 3]];
        let coarse = coarsen(&points, &[[0, 1, 2], [0, 1, 3]]);
        assert_eq!(coarse.triangles.len(), 1);
        assert_eq!(coarsen(&[], &[]), Coarse::default());
    }
}
