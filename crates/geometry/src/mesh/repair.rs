//! Repairs: consistent orientation and merging of duplicate points.

use super::topology::non_manifold;
use super::{Corners, Element, Mesh, MeshError, SurfaceMesh};
use splashdown_math::Vector;
use splashdown_parallel::prelude::*;
use std::cmp::Ordering;

/// A mesh whose duplicate points were merged.
#[derive(Debug, Clone, PartialEq)]
pub struct Welded<const D: usize, const N: usize> {
    /// The mesh, without the elements that collapsed.
    pub mesh: Mesh<D, N>,
    /// New index of each original point.
    pub point_map: Vec<u32>,
    /// Original indices of elements that were dropped because two of their corners merged, ascending.
    pub collapsed: Vec<u32>,
}

impl<const D: usize, const N: usize> Mesh<D, N> {
    /// Merges points that are at most `tolerance` (m) apart, 0 for equal coordinates, into the one with the smallest index, which keeps
    /// its place. Files without shared points (STL) become meshes with topology by it. O(n log n).
    pub fn weld(&self, tolerance: f64) -> Result<Welded<D, N>, MeshError> {
        self.check_indices()?;
        self.check_finite()?;
        let exact = merge_equal(&self.points);
        let target = if tolerance > 0.0 {
            let near = merge_near(&self.points, &exact, tolerance);
            exact.iter().map(|&first| near[first as usize]).collect()
        } else {
            exact
        };
        let mut point_map = vec![0u32; self.points.len()];
        let mut points = Vec::new();
        for (old, &first) in target.iter().enumerate() {
            point_map[old] = if first as usize == old {
                points.push(self.points[old]);
                points.len() as u32 - 1
            } else {
                // Representatives come first, so theirs is known.
                point_map[first as usize]
            };
        }
        let mut collapsed = Vec::new();
        let mut elements = Vec::with_capacity(self.elements.len());
        for (index, element) in self.elements.iter().enumerate() {
            let new = element.map(|i| point_map[i as usize]);
            if (1..N).any(|i| new[..i].contains(&new[i])) {
                collapsed.push(index as u32);
            } else {
                elements.push(new);
            }
        }
        Ok(Welded { mesh: Mesh { points, elements }, point_map, collapsed })
    }
}

fn compare<const D: usize>(a: &Vector<D>, b: &Vector<D>) -> Ordering {
    // Adding zero makes -0 and 0 equal.
    (0..D).map(|k| (a[k] + 0.0).total_cmp(&(b[k] + 0.0))).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
}

/// Smallest index among the points with equal coordinates.
fn merge_equal<const D: usize>(points: &[Vector<D>]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    order.par_sort_unstable_by(|&i, &j| compare(&points[i as usize], &points[j as usize]).then(i.cmp(&j)));
    let mut target = vec![0; points.len()];
    for group in order.chunk_by(|&i, &j| compare(&points[i as usize], &points[j as usize]).is_eq()) {
        for &member in group {
            target[member as usize] = group[0];
        }
    }
    target
}

/// For each point that represents itself in `exact`: the smallest index it is joined to by steps of at most `tolerance`.
fn merge_near<const D: usize>(points: &[Vector<D>], exact: &[u32], tolerance: f64) -> Vec<u32> {
    // Cells much wider than the tolerance: most points have to look into their own only.
    let width = 8.0 * tolerance;
    let cell_of = |x: &Vector<D>| x.map(|c| (c / width).floor());
    let mut cells: Vec<(Vector<D>, u32)> = (0..points.len() as u32)
        .into_par_iter()
        .filter(|&i| exact[i as usize] == i)
        .map(|i| (cell_of(&points[i as usize]), i))
        .collect();
    cells.par_sort_unstable_by(|a, b| compare(&a.0, &b.0).then(a.1.cmp(&b.1)));
    let mut target: Vec<u32> = (0..points.len() as u32)
        .into_par_iter()
        .map(|i| {
            let x = &points[i as usize];
            let (low, high) = (cell_of(&x.add_scalar(-tolerance)), cell_of(&x.add_scalar(tolerance)));
            let mut best = i;
            // The ball of radius `tolerance` meets at most two cells along each axis.
            for corner in 0..1usize << D {
                let cell = Vector::<D>::from_fn(|k, _| if corner >> k & 1 == 1 { high[k] } else { low[k] });
                if (0..D).any(|k| corner >> k & 1 == 1 && high[k] == low[k]) {
                    continue;
                }
                let start = cells.partition_point(|entry| compare(&entry.0, &cell).is_lt());
                let same = cells[start..].iter().take_while(|entry| compare(&entry.0, &cell).is_eq());
                // Indices ascend within a cell: the first near one is the smallest.
                for &(_, j) in same.take_while(|entry| entry.1 < best) {
                    if (points[j as usize] - x).norm() <= tolerance {
                        best = j;
                        break;
                    }
                }
            }
            best
        })
        .collect();
    for i in 0..target.len() {
        target[i] = target[target[i] as usize];
    }
    target
}

impl<const D: usize> SurfaceMesh<D>
where
    Corners<D>: Element<D>,
{
    /// Turns elements around until neighbours agree, part by part: a closed part encloses a positive volume afterwards, an open part follows
    /// its first element. Returns how many elements were turned. Refuses non-manifold and one-sided surfaces and leaves them as they are.
    pub fn orient(&mut self) -> Result<usize, MeshError> {
        self.check_indices()?;
        self.check_finite()?;
        // (neighbour, do the two disagree, facet) for each facet of each element.
        let facets = <Corners<D> as Element<D>>::FACETS;
        let mut across = vec![(u32::MAX, false); facets * self.elements.len()];
        for group in self.facet_uses().chunk_by(|a, b| a.key == b.key) {
            match group {
                [_] => {}
                [a, b] => {
                    let disagree = a.turned == b.turned;
                    across[a.element as usize * facets + usize::from(a.local)] = (b.element, disagree);
                    across[b.element as usize * facets + usize::from(b.local)] = (a.element, disagree);
                }
                _ => return Err(non_manifold(group)),
            }
        }
        let origin = self.bounds().center();
        let mut turn: Vec<Option<bool>> = vec![None; self.elements.len()];
        let mut part = Vec::new();
        for seed in 0..self.elements.len() {
            if turn[seed].is_some() {
                continue;
            }
            part.clear();
            part.push(seed);
            turn[seed] = Some(false);
            let (mut next, mut closed, mut volume) = (0, true, 0.0);
            while let Some(&element) = part.get(next) {
                next += 1;
                let own = turn[element] == Some(true);
                let cone = signed_cone(&self.corners(element), &origin);
                volume += if own { -cone } else { cone };
                for local in 0..facets {
                    let (neighbor, disagree) = across[element * facets + local];
                    if neighbor == u32::MAX {
                        closed = false;
                        continue;
                    }
                    let wanted = own ^ disagree;
                    match turn[neighbor as usize] {
                        None => {
                            turn[neighbor as usize] = Some(wanted);
                            part.push(neighbor as usize);
                        }
                        Some(given) if given != wanted => {
                            let facet = <Corners<D> as Element<D>>::facet(&self.elements[element], local);
                            return Err(MeshError::NotOrientable { facet: facet.as_ref().to_vec(), element });
                        }
                        Some(_) => {}
                    }
                }
            }
            if closed && volume < 0.0 {
                part.iter().for_each(|&element| turn[element] = turn[element].map(|turned| !turned));
            }
        }
        let mut turned = 0;
        for (element, _) in self.elements.iter_mut().zip(&turn).filter(|(_, turn)| **turn == Some(true)) {
            element.swap(0, 1);
            turned += 1;
        }
        Ok(turned)
    }
}

/// Signed volume (up to a positive factor) of the simplex between an element and a point.
fn signed_cone<const D: usize>(corners: &[Vector<D>; D], origin: &Vector<D>) -> f64 {
    let rows = corners.map(|x| x - origin);
    if D == 2 {
        rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0]
    } else {
        let row = |i: usize| Vector::<3>::from_fn(|k, _| rows[i][k]);
        row(0).dot(&row(1).cross(&row(2)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::test_shapes::{circle, sphere};
    use rand::seq::SliceRandom;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    #[test]
    fn a_shuffled_triangle_soup_becomes_the_sphere_again() {
        let mut rng = Pcg64::seed_from_u64(5);
        let sphere = sphere(12, 1.0);
        let tolerance = 1e-6;
        let mut soup = SurfaceMesh::<3> { points: vec![], elements: vec![] };
        for element in &sphere.elements {
            let first = soup.points.len() as u32;
            for &corner in element {
                let noise = Vector::from_fn(|_, _| rng.random_range(-0.2 * tolerance..0.2 * tolerance));
                soup.points.push(sphere.points[corner as usize] + noise);
            }
            soup.elements.push([first, first + 1, first + 2]);
        }
        soup.elements.shuffle(&mut rng);
        let mut turned = 0;
        for element in &mut soup.elements {
            if rng.random_bool(0.4) {
                element.swap(1, 2);
                turned += 1;
            }
        }
        assert!(matches!(soup.check_closed(), Err(MeshError::Leaky { .. })));
        let mut welded = soup.weld(tolerance).unwrap();
        assert!(welded.collapsed.is_empty());
        assert_eq!(welded.mesh.points.len(), sphere.points.len());
        for (old, &new) in welded.point_map.iter().enumerate() {
            assert!((soup.points[old] - welded.mesh.points[new as usize]).norm() <= tolerance);
        }
        let count = welded.mesh.orient().unwrap();
        assert_eq!(count, turned, "exactly the elements that were turned");
        welded.mesh.check_closed().unwrap();
        let mut curve = circle(9, 1.0);
        curve.elements[4].reverse();
        assert_eq!(curve.orient(), Ok(1));
        curve.check_closed().unwrap();
    }

    #[test]
    fn exact_duplicates_and_collapsed_elements() {
        let p = |x: f64| Vector::from([x, 0.0]);
        let mesh = Mesh::<2, 2> {
            points: vec![p(0.0), p(1.0), p(-0.0), p(1.0 + 1e-9)],
            elements: vec![[0, 1], [2, 3], [0, 2]],
        };
        let exact = mesh.weld(0.0).unwrap();
        assert_eq!((exact.point_map, exact.collapsed), (vec![0, 1, 0, 2], vec![2]));
        let near = mesh.weld(1e-8).unwrap();
        assert_eq!(near.point_map, [0, 1, 0, 1]);
        assert_eq!(near.mesh.elements, [[0, 1], [0, 1]]);
    }

    #[test]
    fn a_moebius_strip_is_refused() {
        let count = 5u32;
        let points = (0..2 * count).map(|i| Vector::from([f64::from(i), f64::from(i * i), 1.0])).collect();
        let mut elements = Vec::new();
        for i in 0..count {
            let (a, b) = (2 * i, 2 * i + 1);
            // The last quad is glued with a half turn.
            let (c, d) = if i + 1 == count { (1, 0) } else { (2 * i + 2, 2 * i + 3) };
            elements.extend([[a, b, c], [b, d, c]]);
        }
        let mut strip = SurfaceMesh::<3> { points, elements };
        let before = strip.clone();
        assert!(matches!(strip.orient(), Err(MeshError::NotOrientable { .. })));
        assert_eq!(strip, before);
    }
}
