//! A uniform grid over the boxes of many obstacles (spec 3.15, DS-40): every particle looks up its cell once, and each obstacle gets the particles that are in its box.

use splashdown_geometry::bounds::Aabb;
use splashdown_math::Vector;

/// Boxes up to which every particle is compared with every one.
const FEW: usize = 4;
/// Most cells along an axis.
const MOST_CELLS: f64 = 64.0;

/// Finds the boxes that hold a point.
pub(super) struct Partition<'a, const D: usize> {
    boxes: &'a [Aabb<D>],
    origin: Vector<D>,
    cell: Vector<D>,
    counts: [usize; D],
    /// Boxes that overlap each cell, ascending.
    cells: Vec<Vec<u32>>,
}

impl<'a, const D: usize> Partition<'a, D> {
    /// Of the boxes that are bounded; none if these are few.
    pub fn new(boxes: &'a [Aabb<D>]) -> Option<Self> {
        let placed: Vec<u32> = (0..boxes.len() as u32).filter(|&i| boxes[i as usize].is_bounded()).collect();
        if placed.len() <= FEW {
            return None;
        }
        let whole = placed.iter().fold(Aabb::empty(), |sum, &index| sum.union(&boxes[index as usize]));
        // Cells of the size of the mean box.
        let count = placed.len() as f64;
        let mean = placed.iter().map(|&i| boxes[i as usize].extent()).sum::<Vector<D>>() / count;
        let (mut counts, mut cell) = ([0; D], Vector::repeat(1.0));
        for axis in 0..D {
            let extent = whole.extent()[axis];
            let cells = (extent / mean[axis].max(f64::MIN_POSITIVE)).ceil().clamp(1.0, MOST_CELLS);
            counts[axis] = cells as usize;
            cell[axis] = (extent / cells).max(f64::MIN_POSITIVE);
        }
        let cells = vec![Vec::new(); counts.iter().product()];
        let mut grid = Self { boxes, origin: whole.min, cell, counts, cells };
        for index in placed {
            let own = boxes[index as usize];
            let (low, high) = (grid.place(&own.min), grid.place(&own.max));
            let mut at = low;
            'cells: loop {
                let cell = grid.number(&at);
                grid.cells[cell].push(index);
                for axis in 0..D {
                    if at[axis] < high[axis] {
                        at[axis] += 1;
                        continue 'cells;
                    }
                    at[axis] = low[axis];
                }
                break;
            }
        }
        Some(grid)
    }

    /// The cell of a point, or the nearest one.
    fn place(&self, x: &Vector<D>) -> [usize; D] {
        std::array::from_fn(|axis| {
            let cells = ((x[axis] - self.origin[axis]) / self.cell[axis]).floor();
            (cells.max(0.0) as usize).min(self.counts[axis] - 1)
        })
    }

    fn number(&self, cell: &[usize; D]) -> usize {
        cell.iter().zip(&self.counts).fold(0, |number, (at, count)| number * count + at)
    }

    /// The bounded boxes that hold `x`, ascending.
    pub fn holding(&self, x: &Vector<D>) -> Vec<u32> {
        let near = &self.cells[self.number(&self.place(x))];
        near.iter().copied().filter(|&index| self.boxes[index as usize].contains(x)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use splashdown_solve::testing::TestNumbers;

    fn finds_what_holds<const D: usize>() {
        let mut random = TestNumbers::new(40);
        for count in [5, 200] {
            let mut boxes: Vec<Aabb<D>> = (0..count)
                .map(|_| {
                    let min = Vector::<D>::from_fn(|_, _| random.uniform(-3.0, 3.0));
                    let size = Vector::<D>::from_fn(|_, _| random.uniform(0.0, 0.8));
                    Aabb { min, max: min + size }
                })
                .collect();
            boxes.insert(2, Aabb::everything());
            let grid = Partition::new(&boxes).unwrap();
            for _ in 0..2000 {
                let x = Vector::<D>::from_fn(|_, _| random.uniform(-5.0, 5.0));
                let bounded = (0..boxes.len() as u32).filter(|&index| index != 2);
                let expected: Vec<u32> = bounded.filter(|&i| boxes[i as usize].contains(&x)).collect();
                assert_eq!(grid.holding(&x), expected);
            }
        }
        assert!(Partition::<D>::new(&[Aabb::everything(), Aabb::empty()]).is_none());
    }

    #[test]
    fn every_box_that_holds_a_point_is_found() {
        finds_what_holds::<2>();
        finds_what_holds::<3>();
    }
}
