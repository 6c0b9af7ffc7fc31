//! One-sided Jacobi on `L` matrices at once, stored as a structure of arrays.
//!
//! `V` is a product of plane rotations that make the columns of `B = F V` orthogonal (Hestenes). Each rotation also puts the longer of its two columns
//! first, so the values come out sorted and `V` stays a proper rotation. Two columns count as orthogonal relative to their own lengths (Demmel and
//! Veselic 1992), which keeps small singular values accurate and makes the closing Gram-Schmidt safe.
//!
//! Every loop over lanes is free of branches and of calls, which is what the compiler needs to turn it into vector instructions. A lane that is done gets the exact
//! identity rotation, so its result does not depend on its neighbours.

use super::{Real, Svd};
use crate::{Dim, Space, Vector};
use nalgebra::{SMatrix, SVector};

/// Sweeps after which we stop in any case. Random matrices need 5 to 7; nothing finite has been seen to need more than 10.
const MAX_SWEEPS: usize = 40;

/// `L` matrices of `R` rows and `C` columns.
#[repr(align(64))]
pub(super) struct Block<S, const R: usize, const C: usize, const L: usize> {
    /// `columns[j][i][lane]`: first `F`, then `B = F V`, at last `U` (without a column that only the caller can complete).
    columns: [[[S; L]; R]; C],
    /// `v[j][i][lane]`: entry (i, j) of `V`.
    v: [[[S; L]; C]; C],
    sigma: [[S; L]; C],
    /// Power of two that undoes the scaling.
    unscale: [S; L],
    /// How many matrices are in the block; the other lanes are zero.
    len: usize,
}

impl<S: Real, const R: usize, const C: usize, const L: usize> Block<S, R, C, L> {
    pub(super) fn new() -> Self {
        Self {
            columns: [[[S::ZERO; L]; R]; C],
            v: [[[S::ZERO; L]; C]; C],
            sigma: [[S::ZERO; L]; C],
            unscale: [S::ONE; L],
            len: 0,
        }
    }

    /// Reads up to `L` matrices given by their columns.
    pub(super) fn load(&mut self, columns: impl ExactSizeIterator<Item = [[S; R]; C]>) {
        self.len = columns.len();
        for (lane, matrix) in columns.enumerate() {
            for j in 0..C {
                for i in 0..R {
                    self.columns[j][i][lane] = matrix[j][i];
                }
            }
        }
        for lane in self.len..L {
            for j in 0..C {
                for i in 0..R {
                    self.columns[j][i][lane] = S::ZERO;
                }
            }
        }
    }

    /// Makes the columns orthogonal and sorted by length; afterwards `columns = B`.
    #[inline(always)]
    pub(super) fn orthogonalize(&mut self) {
        self.scale();
        for j in 0..C {
            for i in 0..C {
                self.v[j][i] = [if i == j { S::ONE } else { S::ZERO }; L];
            }
        }
        for _ in 0..MAX_SWEEPS {
            let mut moved = self.rotate::<0, 1>();
            if C > 2 {
                moved |= self.rotate::<0, 2>();
                moved |= self.rotate::<1, 2>();
            }
            if !moved {
                break;
            }
        }
    }

    /// Scales each matrix by a power of two so that its largest entry lies in [1, 2); what is not finite becomes zero, with `unscale = NaN`.
    #[inline(always)]
    fn scale(&mut self) {
        for lane in 0..L {
            let mut largest = S::ZERO;
            // Stays zero unless an entry is infinite or NaN.
            let mut poison = S::ZERO;
            for j in 0..C {
                for i in 0..R {
                    let magnitude = self.columns[j][i][lane].abs();
                    poison += magnitude * S::ZERO;
                    largest = if magnitude > largest { magnitude } else { largest };
                }
            }
            let (factor, inverse) = S::scaling(largest);
            let finite = poison == S::ZERO;
            self.unscale[lane] = if finite { inverse } else { S::NAN };
            for j in 0..C {
                for i in 0..R {
                    let entry = self.columns[j][i][lane];
                    self.columns[j][i][lane] = if finite { entry * factor } else { S::ZERO };
                }
            }
        }
    }

    /// Rotates columns `P < Q` in the lanes where they are not yet orthogonal and in order; says whether there was one.
    /// The columns are constants because the compiler gives up on vectors when it cannot see that the two do not overlap.
    #[inline(always)]
    fn rotate<const P: usize, const Q: usize>(&mut self) -> bool {
        let mut moved = S::Flag::default();
        let (before, from) = self.columns.split_at_mut(Q);
        let (bp, bq) = (&mut before[P], &mut from[0]);
        let (before, from) = self.v.split_at_mut(Q);
        let (vp, vq) = (&mut before[P], &mut from[0]);
        for lane in 0..L {
            let (mut alpha, mut beta, mut gamma) = (S::ZERO, S::ZERO, S::ZERO);
            for i in 0..R {
                alpha += bp[i][lane] * bp[i][lane];
                beta += bq[i][lane] * bq[i][lane];
                gamma += bp[i][lane] * bq[i][lane];
            }
            // tan(2 angle) = 2 gamma / (alpha - beta), with the half angle in the quadrant that makes column p the longer one.
            let difference = alpha - beta;
            let far = difference.abs() + (difference * difference + S::FOUR * (gamma * gamma)).sqrt();
            let near = S::TWO * gamma.abs();
            let length = (far * far + near * near).sqrt();
            let active = ((gamma * gamma > S::ORTHOGONAL * S::ORTHOGONAL * (alpha * beta))
                | (beta > S::LONGER * alpha))
                & (length > S::ZERO_LENGTH * S::ZERO_LENGTH);
            moved |= S::Flag::from(active);
            // An exact right angle stays exact: far times the rounded 1 / far need not be 1.
            let inverse = S::ONE / if active { length } else { S::ONE };
            let (far, near) = (if near == S::ZERO { S::ONE } else { far * inverse }, near * inverse);
            let ordered = difference >= S::ZERO;
            let (c, s) = (if ordered { far } else { near }, if ordered { near } else { far });
            let s = if gamma >= S::ZERO { s } else { -s };
            let (c, s) = (if active { c } else { S::ONE }, if active { s } else { S::ZERO });
            for i in 0..R {
                let (x, y) = (bp[i][lane], bq[i][lane]);
                bp[i][lane] = c * x + s * y;
                bq[i][lane] = c * y - s * x;
            }
            for i in 0..C {
                let (x, y) = (vp[i][lane], vq[i][lane]);
                vp[i][lane] = c * x + s * y;
                vq[i][lane] = c * y - s * x;
            }
        }
        moved != S::Flag::default()
    }

    /// Replaces the first `count` columns of `B` by unit vectors (Gram-Schmidt) and sets their singular values; true if every lane has full rank in them.
    #[inline(always)]
    fn normalize(&mut self, count: usize) -> bool {
        let mut deficient = S::Flag::default();
        for j in 0..count {
            let (done, rest) = self.columns.split_at_mut(j);
            let column = &mut rest[0];
            for lane in 0..L {
                for u in done.iter() {
                    let mut along = S::ZERO;
                    for i in 0..R {
                        along += u[i][lane] * column[i][lane];
                    }
                    for i in 0..R {
                        column[i][lane] -= along * u[i][lane];
                    }
                }
                let mut square = S::ZERO;
                for i in 0..R {
                    square += column[i][lane] * column[i][lane];
                }
                let length = square.sqrt();
                deficient |= S::Flag::from(length <= S::ZERO_LENGTH);
                self.sigma[j][lane] = length;
                for i in 0..R {
                    column[i][lane] /= length;
                }
            }
        }
        deficient == S::Flag::default()
    }

    /// Gives the lanes that [`Self::normalize`] found deficient unit vectors for their zero columns. Rare, so lane by lane.
    #[cold]
    #[inline(never)]
    fn complete(&mut self, count: usize) {
        for lane in 0..L {
            for j in 0..count {
                // Written so that it also catches NaN, which a zero column leaves in the later ones.
                if self.sigma[j][lane] > S::ZERO_LENGTH {
                    continue;
                }
                let mut u = [Vector::<R>::zeros(); C];
                for k in 0..j {
                    u[k] = Vector::from_fn(|i, _| self.columns[k][i][lane].into());
                }
                let unit = perpendicular(&u[..j]);
                for i in 0..R {
                    self.columns[j][i][lane] = S::narrow(unit[i]);
                }
                self.sigma[j][lane] = S::ZERO;
            }
        }
    }

    /// Repairs the order of values that rounding has swapped, and undoes the scaling.
    #[inline(always)]
    fn finish(&mut self) {
        for lane in 0..L {
            for j in (1..C).rev() {
                let next = self.sigma[j][lane].abs();
                let value = self.sigma[j - 1][lane];
                self.sigma[j - 1][lane] = if next > value { next } else { value };
            }
            for j in 0..C {
                self.sigma[j][lane] *= self.unscale[lane];
            }
        }
    }
}

impl<S: Real, const D: usize, const L: usize> Block<S, D, D, L>
where
    Dim<D>: Space<D>,
{
    /// Reads up to `L` matrices.
    #[inline(always)]
    pub(super) fn load_square(&mut self, matrices: &[SMatrix<S, D, D>]) {
        self.load(matrices.iter().map(|m| m.data.0));
    }

    /// Signed singular value decomposition of every lane.
    #[inline(always)]
    pub(super) fn decompose(&mut self) {
        self.orthogonalize();
        if !self.normalize(D - 1) {
            self.complete(D - 1);
        }
        // U is closed to a rotation, so the last value carries the sign of the determinant.
        for lane in 0..L {
            let mut u = [[S::ZERO; D]; D];
            for j in 0..D - 1 {
                for i in 0..D {
                    u[j][i] = self.columns[j][i][lane];
                }
            }
            let last = Dim::<D>::right_handed(&u);
            let mut value = S::ZERO;
            for i in 0..D {
                value += last[i] * self.columns[D - 1][i][lane];
            }
            self.sigma[D - 1][lane] = value;
            for i in 0..D {
                self.columns[D - 1][i][lane] = last[i];
            }
        }
        self.finish();
    }

    /// Writes the decompositions of the matrices last read.
    #[inline(always)]
    pub(super) fn store_square(&self, out: &mut [Svd<D, S>]) {
        for (lane, svd) in out[..self.len].iter_mut().enumerate() {
            for j in 0..D {
                // Adding zero turns -0 into 0: the sign of a zero is the one thing that an identity rotation may change.
                svd.sigma[j] = self.sigma[j][lane] + S::ZERO;
                for i in 0..D {
                    svd.u[(i, j)] = self.columns[j][i][lane] + S::ZERO;
                    svd.v[(i, j)] = self.v[j][i][lane] + S::ZERO;
                }
            }
        }
    }
}

impl<S: Real, const R: usize, const C: usize> Block<S, R, C, 1> {
    /// Column `j` of `B` or `U`.
    pub(super) fn column(&self, j: usize) -> SVector<S, R> {
        SVector::from_fn(|i, _| self.columns[j][i][0])
    }

    /// Entry (i, j) of `V`.
    pub(super) fn v(&self, i: usize, j: usize) -> S {
        self.v[j][i][0]
    }

    /// Power of two by which lengths must be multiplied; NaN if the input was not finite.
    pub(super) fn unscale(&self) -> S {
        self.unscale[0]
    }
}

/// A unit vector at right angles to the orthonormal `others`: the axis that they cover least, made orthogonal. With no others, or with axes, it is the next axis.
pub(crate) fn perpendicular<const R: usize>(others: &[Vector<R>]) -> Vector<R> {
    let covered = |axis: usize| others.iter().map(|u| u[axis] * u[axis]).sum::<f64>();
    let mut best = 0;
    for axis in 1..R {
        if covered(axis) < covered(best) {
            best = axis;
        }
    }
    let mut unit = Vector::<R>::zeros();
    unit[best] = 1.0;
    // Twice is enough: the first pass leaves at least 1/R of the axis's squared length.
    for _ in 0..2 {
        for u in others {
            unit -= u * u.dot(&unit);
        }
        unit /= unit.norm();
    }
    unit
}
