//! Which bodies may touch: boxes that overlap, found by a tree and remembered while bodies stay within boxes a little larger.
//!
//! What is remembered never shows in the result: pairs are filtered by the exact boxes, so a resumed run finds the same ones.

use splashdown_geometry::{Aabb, Bvh};

/// Persistent broad phase.
#[derive(Debug, Clone, Default)]
pub struct BroadPhase<const D: usize> {
    /// Enlarged boxes with which `candidates` were found.
    fat: Vec<Aabb<D>>,
    candidates: Vec<[u32; 2]>,
    /// How often the tree was built, a measure of how much the memory saves.
    pub rebuilds: u64,
}

/// How much larger the remembered boxes are, as a share of their size.
const FAT: f64 = 0.1;

impl<const D: usize> BroadPhase<D> {
    /// Pairs `[i, j]`, `i < j`, of overlapping boxes in ascending order. Boxes may be unbounded (half spaces) or empty (no geometry);
    /// `wanted` says which pairs can matter at all.
    pub fn pairs(&mut self, boxes: &[Aabb<D>], wanted: impl Fn(u32, u32) -> bool + Sync) -> Vec<[u32; 2]> {
        let inside = |fat: &Aabb<D>, tight: &Aabb<D>| {
            tight.is_empty() || (0..D).all(|a| fat.min[a] <= tight.min[a] && tight.max[a] <= fat.max[a])
        };
        let valid = self.fat.len() == boxes.len()
            && self.fat.iter().zip(boxes).all(|(fat, tight)| inside(fat, tight));
        if !valid {
            self.rebuild(boxes);
        }
        let overlap = |pair: &&[u32; 2]| {
            let [i, j] = **pair;
            boxes[i as usize].overlaps(&boxes[j as usize]) && wanted(i, j)
        };
        self.candidates.iter().filter(overlap).copied().collect()
    }

    fn rebuild(&mut self, boxes: &[Aabb<D>]) {
        self.rebuilds += 1;
        self.fat.clear();
        self.fat.extend(
            boxes.iter().map(|tight| {
                if tight.is_bounded() { tight.grown(FAT * tight.extent().min()) } else { *tight }
            }),
        );
        let fat = &self.fat;
        let bounded: Vec<u32> = (0..boxes.len() as u32).filter(|&i| fat[i as usize].is_bounded()).collect();
        let near = match Cells::of(fat, &bounded) {
            Some(cells) => cells.pairs(fat, &bounded),
            None => {
                let tree = Bvh::from_fn(bounded.len(), |i| fat[bounded[i as usize] as usize]);
                let mut pairs = tree.self_pairs(|_, _| true);
                for pair in &mut pairs {
                    *pair = pair.map(|i| bounded[i as usize]);
                    pair.sort_unstable();
                }
                pairs.sort_unstable_by_key(key);
                pairs
            }
        };
        let mut endless: Vec<[u32; 2]> = Vec::new();
        for i in (0..boxes.len() as u32)
            .filter(|&i| !fat[i as usize].is_bounded() && !boxes[i as usize].is_empty())
        {
            let touching = bounded.iter().filter(|&&j| fat[i as usize].overlaps(&fat[j as usize]));
            endless.extend(touching.map(|&j| [i.min(j), i.max(j)]));
        }
        endless.sort_unstable_by_key(key);
        // Both ascend.
        self.candidates.clear();
        self.candidates.reserve(near.len() + endless.len());
        let mut rest = endless.as_slice();
        for pair in near {
            while let Some((first, others)) = rest.split_first().filter(|(first, _)| **first < pair) {
                self.candidates.push(*first);
                rest = others;
            }
            self.candidates.push(pair);
        }
        self.candidates.extend_from_slice(rest);
    }
}

fn key(&[i, j]: &[u32; 2]) -> u64 {
    u64::from(i) << 32 | u64::from(j)
}

/// Boxes of about the same size by the cell that their lower corner lies in. Cells are as large as the largest box, so what overlaps lies in neighbouring cells.
struct Cells<const D: usize> {
    /// Number of cells along each axis, one more than needed on either side.
    count: [usize; D],
    /// Cell of each box.
    cell: Vec<u32>,
    /// Where the boxes of each cell start in `order`.
    first: Vec<u32>,
    /// Places among the boxes, by cell.
    order: Vec<u32>,
}

/// Cells for each box from which on a tree is used.
const MOST_CELLS: usize = 16;
/// Fewer boxes go to a tree.
const FEWEST_BOXES: usize = 32;
/// Ratio of the largest to the mean box from which on a tree is used.
const UNEVEN: f64 = 2.0;

impl<const D: usize> Cells<D> {
    /// Cells for the `bounded` ones of `boxes`, unless these are few, scattered or of very different sizes.
    fn of(boxes: &[Aabb<D>], bounded: &[u32]) -> Option<Self> {
        if bounded.len() < FEWEST_BOXES {
            return None;
        }
        let at = |i: &u32| &boxes[*i as usize];
        let low = bounded.iter().map(at).fold(at(&bounded[0]).min, |low, b| low.inf(&b.min));
        let high = bounded.iter().map(at).fold(at(&bounded[0]).min, |high, b| high.sup(&b.min));
        let sizes = bounded.iter().map(at).map(|b| b.extent().max());
        let (largest, sum) =
            sizes.fold((0.0f64, 0.0), |(largest, sum), size| (largest.max(size), sum + size));
        if !(largest > 0.0) || largest * bounded.len() as f64 > UNEVEN * sum {
            return None;
        }
        // A little more than the largest, for rounding.
        let inverse = 1.0 / (largest * (1.0 + 1e-9));
        let mut count = [0; D];
        let mut total = 1.0f64;
        for a in 0..D {
            let cells = ((high[a] - low[a]) * inverse).floor() + 3.0;
            total *= cells;
            count[a] = if cells < 1e9 { cells as usize } else { return None };
        }
        if total > (MOST_CELLS * bounded.len()) as f64 {
            return None;
        }
        let place = |b: &Aabb<D>| {
            (0..D).rev().fold(0, |cell, a| cell * count[a] + 1 + ((b.min[a] - low[a]) * inverse) as usize)
                as u32
        };
        let cell: Vec<u32> = bounded.iter().map(|i| place(at(i))).collect();
        let mut first = vec![0u32; total as usize + 1];
        cell.iter().for_each(|&cell| first[cell as usize + 1] += 1);
        for k in 1..first.len() {
            first[k] += first[k - 1];
        }
        let mut next = first.clone();
        let mut order = vec![0u32; bounded.len()];
        for (k, &cell) in cell.iter().enumerate() {
            order[next[cell as usize] as usize] = k as u32;
            next[cell as usize] += 1;
        }
        Some(Self { count, cell, first, order })
    }

    /// Pairs of overlapping boxes, ascending.
    fn pairs(&self, boxes: &[Aabb<D>], bounded: &[u32]) -> Vec<[u32; 2]> {
        // Boxes in the order of their cells lie side by side in memory.
        let sorted: Vec<Aabb<D>> = self.order.iter().map(|&k| boxes[bounded[k as usize] as usize]).collect();
        // Rows of three cells around one.
        let mut rows = vec![0usize];
        let mut stride = 1;
        for a in 1..D {
            stride *= self.count[a - 1];
            rows = rows.iter().flat_map(|&row| [row, row + stride, row + 2 * stride]).collect();
        }
        let middle: usize = rows[rows.len() - 1] / 2;
        let mut pairs = Vec::with_capacity(8 * bounded.len());
        let mut own: Vec<u32> = Vec::new();
        for (k, &i) in bounded.iter().enumerate() {
            let this = &boxes[i as usize];
            own.clear();
            for row in &rows {
                let cell = self.cell[k] as usize + row - middle;
                let range = self.first[cell - 1] as usize..self.first[cell + 2] as usize;
                for (&other, candidate) in self.order[range.clone()].iter().zip(&sorted[range]) {
                    if other > k as u32 && this.overlaps(candidate) {
                        own.push(bounded[other as usize]);
                    }
                }
            }
            own.sort_unstable();
            pairs.extend(own.iter().map(|&j| [i, j]));
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use splashdown_math::Vector;

    #[test]
    fn pairs_are_those_of_the_slow_reference_while_boxes_move() {
        let mut broad = BroadPhase::<3>::default();
        let place = |i: usize, t: f64| {
            let centre = Vector::<3>::from_fn(|a, _| {
                ((i * (3 * a + 7)) as f64 * 0.61 + 0.1 * t * (a + i) as f64).sin() * 4.0
            });
            Aabb { min: centre.add_scalar(-0.4), max: centre.add_scalar(0.4) }
        };
        for step in 0..30 {
            let mut boxes: Vec<Aabb<3>> = (0..60).map(|i| place(i, f64::from(step) * 5e-4)).collect();
            boxes.push(Aabb {
                min: Vector::repeat(f64::NEG_INFINITY),
                max: Vector::from([f64::INFINITY, -3.0, f64::INFINITY]),
            });
            boxes.push(Aabb::empty());
            let mut expected = Vec::new();
            for i in 0..boxes.len() as u32 {
                for j in i + 1..boxes.len() as u32 {
                    if boxes[i as usize].overlaps(&boxes[j as usize]) && (i + j) % 5 != 0 {
                        expected.push([i, j]);
                    }
                }
            }
            assert_eq!(broad.pairs(&boxes, |i, j| (i + j) % 5 != 0), expected);
        }
        assert!(broad.rebuilds < 30 && broad.rebuilds > 0, "{}", broad.rebuilds);
    }

    #[test]
    fn cells_and_tree_find_the_same_pairs() {
        fn compare<const D: usize>() {
            let number = |i: usize, a: usize| ((i * (17 * a + 29) + a) as f64 * 0.618_033_988_749).fract();
            for spread in [1.0, 3.0, 40.0] {
                let boxes: Vec<Aabb<D>> = (0..300)
                    .map(|i| {
                        let min = Vector::<D>::from_fn(|a, _| spread * number(i, a) - 0.3);
                        Aabb { min, max: min.add_scalar(0.2 + 0.1 * number(i, 3)) }
                    })
                    .collect();
                let bounded: Vec<u32> = (0..300).filter(|i| i % 7 != 3).collect();
                let Some(cells) = Cells::of(&boxes, &bounded) else {
                    assert!(spread == 40.0, "cells serve boxes that lie close");
                    continue;
                };
                let mut expected = Vec::new();
                for (k, &i) in bounded.iter().enumerate() {
                    let others = bounded[k + 1..].iter();
                    expected.extend(
                        others.filter(|&&j| boxes[i as usize].overlaps(&boxes[j as usize])).map(|&j| [i, j]),
                    );
                }
                assert_eq!(cells.pairs(&boxes, &bounded), expected, "{spread}");
            }
        }
        compare::<2>();
        compare::<3>();
    }
}
