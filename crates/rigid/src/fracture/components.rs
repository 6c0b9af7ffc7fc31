//! The connected parts of a cut body: voxels of one region that hang together face to face.

use super::regions::{NO_REGION, rows};
use super::voxels::VoxelSums;
use splashdown_geometry::grid::{Index, Lattice};

/// Number of a voxel that is in no component.
pub(super) const OUTSIDE: u32 = u32::MAX;

/// The components of a labelled set of voxels.
#[derive(Debug)]
pub(super) struct Components<const D: usize> {
    /// Component of every sample, [`OUTSIDE`] where there is none.
    pub of: Vec<u32>,
    /// By component, in the order of their first voxels.
    pub parts: Vec<Component<D>>,
}

/// One connected part.
#[derive(Debug, Clone)]
pub(super) struct Component<const D: usize> {
    pub sums: VoxelSums<D>,
    /// Lowest and highest index on each axis.
    pub low: Index<D>,
    pub high: Index<D>,
}

impl<const D: usize> Component<D> {
    fn empty() -> Self {
        Self { sums: VoxelSums::default(), low: [isize::MAX; D], high: [isize::MIN; D] }
    }

    fn add(&mut self, index: Index<D>) {
        self.sums.add(index);
        for a in 0..D {
            self.low[a] = self.low[a].min(index[a]);
            self.high[a] = self.high[a].max(index[a]);
        }
    }
}

/// Finds the components of the voxels with `inside` in their regions, and joins those of fewer than `least` voxels to a neighbour.
pub(super) fn components<const D: usize>(
    lattice: &Lattice<D>,
    inside: impl Fn(usize) -> bool,
    region: &[u32],
    least: u64,
) -> Components<D> {
    let counts = lattice.counts().map(|n| n as isize);
    let strides = lattice.strides();
    // Union-find in the array of labels itself: an entry is the offset of another voxel of the same component, roots point to themselves.
    let mut of = vec![OUTSIDE; lattice.len()];
    for row in rows([0; D], counts) {
        let start = lattice.offset(row);
        for (i, offset) in (start..start + counts[0] as usize).enumerate() {
            if !inside(offset) || region[offset] == NO_REGION {
                continue;
            }
            of[offset] = offset as u32;
            for a in 0..D {
                if row[a] > 0 || (a == 0 && i > 0) {
                    let neighbour = offset - strides[a];
                    if of[neighbour] != OUTSIDE && region[neighbour] == region[offset] {
                        join(&mut of, neighbour as u32, offset as u32);
                    }
                }
            }
        }
    }
    // Roots are the first voxels of their components, so numbers are handed out in the order of the array.
    let mut parts: Vec<Component<D>> = Vec::new();
    for row in rows([0; D], counts) {
        let start = lattice.offset(row);
        for (i, offset) in (start..start + counts[0] as usize).enumerate() {
            if of[offset] == OUTSIDE {
                continue;
            }
            let number = if of[offset] as usize == offset {
                parts.push(Component::empty());
                parts.len() as u32 - 1
            } else {
                // Every entry points to an earlier voxel, which has its number already.
                of[of[offset] as usize]
            };
            of[offset] = number;
            let mut index = row;
            index[0] += i as isize;
            parts[number as usize].add(index);
        }
    }
    let mut found = Components { of, parts };
    found.join_small(lattice, least);
    found
}

/// Joins the components of two voxels; the root is the earlier voxel.
#[inline]
fn join(of: &mut [u32], a: u32, b: u32) {
    let (a, b) = (root(of, a), root(of, b));
    match a.cmp(&b) {
        std::cmp::Ordering::Less => of[b as usize] = a,
        std::cmp::Ordering::Greater => of[a as usize] = b,
        std::cmp::Ordering::Equal => {}
    }
}

#[inline]
fn root(of: &mut [u32], mut at: u32) -> u32 {
    while of[at as usize] != at {
        of[at as usize] = of[of[at as usize] as usize];
        at = of[at as usize];
    }
    at
}

impl<const D: usize> Components<D> {
    /// Joins each component with fewer than `least` voxels to the one it shares most faces with; one that touches none goes to the one with
    /// the nearest centre. The smallest come first.
    fn join_small(&mut self, lattice: &Lattice<D>, least: u64) {
        let small: Vec<bool> = self.parts.iter().map(|part| part.sums.count < least).collect();
        if self.parts.len() < 2 || !small.contains(&true) {
            return;
        }
        let counts = lattice.counts().map(|n| n as isize);
        let mut cells: Vec<Vec<u32>> = vec![Vec::new(); self.parts.len()];
        for (offset, &part) in self.of.iter().enumerate() {
            if part != OUTSIDE && small[part as usize] {
                cells[part as usize].push(offset as u32);
            }
        }
        // Where a component has gone; roots point to themselves.
        let mut target: Vec<u32> = (0..self.parts.len() as u32).collect();
        let mut order: Vec<usize> = (0..self.parts.len()).filter(|&part| small[part]).collect();
        order.sort_by_key(|&part| (self.parts[part].sums.count, part));
        for part in order {
            let own = root(&mut target, part as u32);
            if self.parts[own as usize].sums.count >= least {
                continue;
            }
            let mut faces: Vec<(u32, u32)> = Vec::new();
            for &offset in &cells[own as usize] {
                let index = lattice.index(offset as usize);
                for a in 0..D {
                    for step in [-1, 1] {
                        let mut to = index;
                        to[a] += step;
                        if to[a] < 0 || to[a] >= counts[a] || self.of[lattice.offset(to)] == OUTSIDE {
                            continue;
                        }
                        let other = root(&mut target, self.of[lattice.offset(to)]);
                        if other != own {
                            match faces.iter_mut().find(|(found, _)| *found == other) {
                                Some((_, shared)) => *shared += 1,
                                None => faces.push((other, 1)),
                            }
                        }
                    }
                }
            }
            let most = faces.iter().max_by_key(|(other, shared)| (*shared, std::cmp::Reverse(*other)));
            let other = match most {
                Some((other, _)) => *other,
                None => match self.nearest(lattice, own, &mut target) {
                    Some(other) => other,
                    None => continue,
                },
            };
            // The root is the smaller number, so that a root never points to a later one.
            let (keep, gone) = (own.min(other) as usize, own.max(other) as usize);
            target[gone] = keep as u32;
            let moved = self.parts[gone].clone();
            let kept = &mut self.parts[keep];
            kept.sums.merge(&moved.sums);
            for a in 0..D {
                kept.low[a] = kept.low[a].min(moved.low[a]);
                kept.high[a] = kept.high[a].max(moved.high[a]);
            }
            let moved = std::mem::take(&mut cells[gone]);
            cells[keep].extend(moved);
        }
        let mut number = vec![OUTSIDE; self.parts.len()];
        let mut kept = Vec::new();
        for part in 0..self.parts.len() {
            let to = root(&mut target, part as u32) as usize;
            if to == part {
                number[part] = kept.len() as u32;
                kept.push(self.parts[part].clone());
            } else {
                number[part] = number[to];
            }
        }
        self.parts = kept;
        for part in &mut self.of {
            if *part != OUTSIDE {
                *part = number[*part as usize];
            }
        }
    }

    /// The component with the centre nearest to that of `own`.
    fn nearest(&self, lattice: &Lattice<D>, own: u32, target: &mut [u32]) -> Option<u32> {
        let centre = |part: u32| self.parts[part as usize].sums.moments(lattice).map(|m| m.centre);
        let here = centre(own)?;
        let mut best: Option<(f64, u32)> = None;
        for part in 0..self.parts.len() as u32 {
            if root(target, part) == part && part != own {
                let distance = (centre(part)? - here).norm_squared();
                if best.is_none_or(|(least, _)| distance < least) {
                    best = Some((distance, part));
                }
            }
        }
        best.map(|(_, part)| part)
    }
}

#[cfg(test)]
mod tests {
    use super::super::regions::indices;
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;
    use splashdown_geometry::grid::{Grid, Location};
    use splashdown_math::Vector;

    /// Flood fill, voxel by voxel.
    fn flood<const D: usize>(lattice: &Lattice<D>, inside: &[bool], region: &[u32]) -> Vec<u32> {
        let counts = lattice.counts().map(|n| n as isize);
        let mut of = vec![OUTSIDE; lattice.len()];
        let mut next = 0;
        for start in indices([0; D], counts) {
            let offset = lattice.offset(start);
            if !inside[offset] || of[offset] != OUTSIDE {
                continue;
            }
            let mut stack = vec![start];
            of[offset] = next;
            while let Some(index) = stack.pop() {
                for a in 0..D {
                    for step in [-1, 1] {
                        let mut to = index;
                        to[a] += step;
                        if to[a] >= 0 && to[a] < counts[a] {
                            let (from, there) = (lattice.offset(index), lattice.offset(to));
                            if inside[there] && of[there] == OUTSIDE && region[there] == region[from] {
                                of[there] = next;
                                stack.push(to);
                            }
                        }
                    }
                }
            }
            next += 1;
        }
        of
    }

    fn agrees_with_flood_fill<const D: usize>(cells: [usize; D]) {
        let grid = Grid::<D>::new(Vector::zeros(), Vector::repeat(1.0), cells).unwrap();
        let lattice = grid.lattice(Location::Cell, 0);
        for seed in 0..20 {
            let mut rng = Pcg64Mcg::seed_from_u64(seed);
            let share = 0.3 + 0.03 * seed as f64;
            let inside: Vec<bool> = (0..lattice.len()).map(|_| rng.random::<f64>() < share).collect();
            let region: Vec<u32> = (0..lattice.len()).map(|_| rng.random_range(0..3)).collect();
            let found = components(&lattice, |offset| inside[offset], &region, 0);
            assert_eq!(found.of, flood(&lattice, &inside, &region));
            let joined = components(&lattice, |offset| inside[offset], &region, 8);
            let total: u64 = joined.parts.iter().map(|part| part.sums.count).sum();
            assert_eq!(total, inside.iter().filter(|inside| **inside).count() as u64);
            assert!(joined.parts.iter().all(|part| part.sums.count >= 8) || joined.parts.len() == 1);
            for (offset, inside) in inside.iter().enumerate() {
                assert_eq!(*inside, joined.of[offset] != OUTSIDE);
                if *inside {
                    let part = &joined.parts[joined.of[offset] as usize];
                    let index = lattice.index(offset);
                    assert!((0..D).all(|a| part.low[a] <= index[a] && index[a] <= part.high[a]));
                }
            }
        }
    }

    #[test]
    fn components_are_those_of_a_flood_fill_and_small_ones_are_joined() {
        agrees_with_flood_fill::<2>([23, 17]);
        agrees_with_flood_fill::<3>([11, 7, 9]);
    }
}
