//! Volume, centre of mass and second moments of a solid that is known as a set of voxels (spec/rigid-bodies.md 3.17).

use splashdown_geometry::grid::{Field, Index, Lattice};
use splashdown_geometry::shapes::Moments;
use splashdown_math::{Matrix, Vector};

/// Sums over voxels, in units of the voxel and therefore exact: moments of any set, and of the union of two sets, cost nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VoxelSums<const D: usize> {
    /// Number of voxels.
    pub count: u64,
    /// Sum of the indices.
    first: [i64; D],
    /// Sum of the products of indices.
    second: [[i64; D]; D],
}

impl<const D: usize> Default for VoxelSums<D> {
    fn default() -> Self {
        Self { count: 0, first: [0; D], second: [[0; D]; D] }
    }
}

impl<const D: usize> VoxelSums<D> {
    /// Takes in one voxel.
    #[inline]
    pub fn add(&mut self, index: Index<D>) {
        self.count += 1;
        for a in 0..D {
            self.first[a] += index[a] as i64;
            for b in 0..=a {
                self.second[a][b] += index[a] as i64 * index[b] as i64;
            }
        }
    }

    /// Takes in all voxels of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        for a in 0..D {
            self.first[a] += other.first[a];
            for b in 0..=a {
                self.second[a][b] += other.second[a][b];
            }
        }
    }

    /// All samples with `phi <= 0`.
    pub fn of(phi: &Field<D>) -> Self {
        let mut sums = Self::default();
        for index in phi.lattice().indices() {
            if phi.at(index) <= 0.0 {
                sums.add(index);
            }
        }
        sums
    }

    /// Moments in the coordinates of the lattice, whose samples are the centres of the voxels; `None` for no voxels.
    ///
    /// The second moment is about the centre and holds the `V h^2 / 12` of the voxels themselves, without which a needle of one voxel's
    /// thickness would have no axial inertia.
    pub fn moments(&self, lattice: &Lattice<D>) -> Option<Moments<D>> {
        if self.count == 0 {
            return None;
        }
        let (count, h) = (self.count as f64, lattice.spacing());
        let volume = count * h.iter().product::<f64>();
        let origin = lattice.origin();
        let centre = Vector::from_fn(|a, _| origin[a] + h[a] * (self.first[a] as f64 / count));
        let second = Matrix::from_fn(|i, j| {
            let (a, b) = (i.max(j), i.min(j));
            // Sum of (i - mean i)(j - mean j): the difference of large numbers is taken between integers.
            let n = i128::from(self.count);
            let spread =
                i128::from(self.second[a][b]) * n - i128::from(self.first[a]) * i128::from(self.first[b]);
            let own = if a == b { count / 12.0 } else { 0.0 };
            volume / count * (spread as f64 / count + own) * h[a] * h[b]
        });
        Some(Moments { volume, centre, second })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use splashdown_geometry::grid::{Grid, Location};
    use splashdown_geometry::shapes::Shape;

    fn field<const D: usize>(
        cells: [usize; D],
        h: f64,
        shape: impl Fn(&Vector<D>) -> f64 + Sync + Send,
    ) -> Field<D> {
        let origin = Vector::from_fn(|a, _| -0.5 * h * cells[a] as f64);
        let grid = Grid::new(origin, Vector::repeat(h), cells).unwrap();
        Field::from_fn(&grid, Location::Cell, shape)
    }

    #[test]
    fn a_box_of_voxels_has_the_moments_of_the_box() {
        let half = Vector::from([0.75, 0.05, 0.5]);
        let shape = Shape::<3>::cuboid(half).unwrap();
        let phi = field([154, 14, 104], 0.01, |x| shape.signed_distance(x));
        let sums = VoxelSums::of(&phi);
        assert_eq!(sums.count, 150 * 10 * 100);
        let (found, exact) = (sums.moments(phi.lattice()).unwrap(), shape.moments(1).unwrap());
        assert!((found.volume - exact.volume).abs() < 1e-12 * exact.volume);
        assert!((found.second - exact.second).norm() < 1e-12 * exact.second.norm());
        assert!(found.centre.norm() < 1e-14);
    }

    #[test]
    fn a_needle_of_one_voxel_has_axial_inertia() {
        let h = 0.1;
        let phi = field([30, 3, 3], h, |x| if x[1].abs() < 0.04 && x[2].abs() < 0.04 { -1.0 } else { 1.0 });
        let moments = VoxelSums::of(&phi).moments(phi.lattice()).unwrap();
        // I = rho (S_yy + S_zz) = m h^2 / 6 about the long axis.
        let axial = moments.second[(1, 1)] + moments.second[(2, 2)];
        assert!((axial / moments.volume - h * h / 6.0).abs() < 1e-15);
    }

    #[test]
    fn far_from_the_origin_nothing_cancels_and_unions_add() {
        let shape = Shape::<2>::ball(0.4).unwrap();
        let phi = field([100, 100], 0.01, |x| shape.signed_distance(x));
        let grid = Grid::new(Vector::repeat(1e6), Vector::repeat(0.01), [100, 100]).unwrap();
        let mut moved = Field::<2>::new(&grid, Location::Cell, 1.0);
        let (mut left, mut right) = (VoxelSums::default(), VoxelSums::default());
        for index in phi.lattice().indices() {
            moved.set(index, phi.at(index));
            if phi.at(index) <= 0.0 {
                if index[0] < 37 { left.add(index) } else { right.add(index) }
            }
        }
        let (near, far) = (VoxelSums::of(&phi), VoxelSums::of(&moved));
        let (a, b) = (near.moments(phi.lattice()).unwrap(), far.moments(moved.lattice()).unwrap());
        assert!((a.second - b.second).norm() < 1e-12 * a.second.norm());
        left.merge(&right);
        assert_eq!(left, near);
    }
}
