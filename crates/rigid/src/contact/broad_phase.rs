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
        let bounded: Vec<u32> =
            (0..boxes.len() as u32).filter(|&i| self.fat[i as usize].is_bounded()).collect();
        let tree = Bvh::from_fn(bounded.len(), |i| self.fat[bounded[i as usize] as usize]);
        self.candidates = tree.self_pairs(|_, _| true);
        for pair in &mut self.candidates {
            *pair = pair.map(|i| bounded[i as usize]);
            pair.sort_unstable();
        }
        for i in (0..boxes.len() as u32)
            .filter(|&i| !self.fat[i as usize].is_bounded() && !boxes[i as usize].is_empty())
        {
            let fat = &self.fat;
            let touching = bounded.iter().filter(|&&j| fat[i as usize].overlaps(&fat[j as usize]));
            self.candidates.extend(touching.map(|&j| [i.min(j), i.max(j)]));
        }
        self.candidates.sort_unstable_by_key(|&[i, j]| u64::from(i) << 32 | u64::from(j));
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
}
