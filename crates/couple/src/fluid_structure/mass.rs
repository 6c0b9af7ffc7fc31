//! Masses of solids with the fluid that is lumped on them.

use super::CouplingFace;
use splashdown_math::{Dim, Inertia, Space, Twist};

/// Mass matrix of a rigid body about its centre of mass, in world axes: `diag(m, I) + sum of beta j j^T` over the coupling faces.
///
/// The lumped fluid is not the same along all axes and does not sit at the centre, so this is one dense block (spec/fluid-structure.md 3.3).
#[derive(Debug, Clone, PartialEq)]
pub struct SolidMass<const D: usize> {
    /// Row-major, one row a component of the twist.
    entries: Vec<f64>,
}

impl<const D: usize> SolidMass<D>
where
    Dim<D>: Space<D>,
{
    /// Number of rows.
    pub const LEN: usize = Twist::<D>::LEN;

    /// A body of this mass (kg) and inertia in world axes (kg m^2).
    pub fn new(mass: f64, inertia: &Inertia<D>) -> Self {
        let (n, spin) = (Self::LEN, <Dim<D> as Space<D>>::SPIN);
        let mut entries = vec![0.0; n * n];
        for axis in 0..D {
            entries[axis * n + axis] = mass;
        }
        for (at, value) in Dim::<D>::inertia_entries(inertia).into_iter().enumerate() {
            entries[(D + at / spin) * n + D + at % spin] = value;
        }
        Self { entries }
    }

    /// From row-major entries of a symmetric matrix.
    pub(super) fn from_entries(entries: Vec<f64>) -> Self {
        Self { entries }
    }

    /// Lumps the fluid of a coupling face.
    pub fn lump(&mut self, face: &CouplingFace<D>) {
        self.add(face.mass, &face.row);
    }

    /// Adds `mass row row^T`.
    pub(super) fn add(&mut self, mass: f64, row: &Twist<D>) {
        let n = Self::LEN;
        let mut j = [0.0; 6];
        row.write(&mut j);
        for a in 0..n {
            for b in 0..n {
                self.entries[a * n + b] += mass * j[a] * j[b];
            }
        }
    }

    /// Row-major entries.
    pub fn entries(&self) -> &[f64] {
        &self.entries
    }

    /// Momentum of this twist.
    pub fn times(&self, twist: &Twist<D>) -> Twist<D> {
        multiply(&self.entries, twist)
    }

    /// Row-major inverse; `None` if the mass is not positive definite.
    #[inline(never)]
    pub fn inverse(&self) -> Option<Vec<f64>> {
        let n = Self::LEN;
        // Scaled to a unit diagonal, because masses and moments of inertia may differ by many orders.
        let scale: Vec<f64> = (0..n).map(|i| 1.0 / self.entries[i * n + i].sqrt()).collect();
        let mut factor = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let mut sum = self.entries[i * n + j] * scale[i] * scale[j];
                for k in 0..j {
                    sum -= factor[i * n + k] * factor[j * n + k];
                }
                if i > j {
                    factor[i * n + j] = sum / factor[j * n + j];
                } else if sum > 0.0 && sum.is_finite() {
                    factor[i * n + i] = sum.sqrt();
                } else {
                    return None;
                }
            }
        }
        let mut inverse = vec![0.0; n * n];
        for column in 0..n {
            let mut x = [0.0; 6];
            for i in 0..n {
                let unit = f64::from(u8::from(i == column));
                x[i] = (unit - (0..i).map(|k| factor[i * n + k] * x[k]).sum::<f64>()) / factor[i * n + i];
            }
            for i in (0..n).rev() {
                x[i] = (x[i] - (i + 1..n).map(|k| factor[k * n + i] * x[k]).sum::<f64>()) / factor[i * n + i];
            }
            for i in 0..n {
                inverse[i * n + column] = x[i] * scale[i] * scale[column];
            }
        }
        // Symmetric to the bit.
        for i in 0..n {
            for j in 0..i {
                let mean = 0.5 * (inverse[i * n + j] + inverse[j * n + i]);
                (inverse[i * n + j], inverse[j * n + i]) = (mean, mean);
            }
        }
        Some(inverse)
    }
}

/// A dense row-major block times a twist.
pub(super) fn multiply<const D: usize>(block: &[f64], twist: &Twist<D>) -> Twist<D>
where
    Dim<D>: Space<D>,
{
    let n = Twist::<D>::LEN;
    let (mut x, mut y) = ([0.0; 6], [0.0; 6]);
    twist.write(&mut x);
    for (row, y) in y.iter_mut().enumerate().take(n) {
        *y = (0..n).map(|column| block[row * n + column] * x[column]).sum();
    }
    Twist::read(&y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use splashdown_math::Vector;

    /// RB-53 (spec/rigid-bodies.md 3.18; eq. 22 to 24 of the source): fluid lumped on a body along all axes moves its centre of mass to the mean and
    /// adds to its inertia about the new centre; the velocity at the old centre follows by `V = V' + omega x (X - X')`. The dense block says the
    /// same without moving the centre, and stays exact where the lumped mass differs between axes, where the centre of the source is an approximation.
    #[test]
    fn lumped_fluid_moves_the_centre_of_mass_and_adds_inertia_about_it() {
        let (mass, inertia) = (2.0, Dim::<3>::inertia_from_principal(&[0.3, 0.5, 0.7]));
        let lumps = [
            (0.4, Vector::from([0.5, -0.2, 0.1])),
            (0.9, Vector::from([-0.1, 0.6, 0.3])),
            (0.2, Vector::from([0.2, 0.3, -0.8])),
        ];
        let mut solid = SolidMass::<3>::new(mass, &inertia);
        for (lump, arm) in &lumps {
            for axis in 0..3 {
                let unit = Vector::<3>::from_fn(|a, _| f64::from(u8::from(a == axis)));
                solid.add(*lump, &Twist::of_force(&unit, arm));
            }
        }
        let whole = mass + lumps.iter().map(|(lump, _)| lump).sum::<f64>();
        let centre: Vector<3> = lumps.iter().map(|(lump, arm)| arm * (lump / whole)).sum();
        let about_centre =
            lumps.iter().fold(inertia + Dim::<3>::point_inertia(&centre) * mass, |sum, (lump, arm)| {
                sum + Dim::<3>::point_inertia(&(arm - centre)) * *lump
            });
        for k in 0..6 {
            let mut flat = [0.3, -0.7, 0.2, 0.5, 0.1, -0.4];
            flat[k] += 2.0;
            let at_centre = Twist::<3>::read(&flat);
            // The old centre is at -centre from the new one.
            let twist = Twist { linear: at_centre.at(&-centre), angular: at_centre.angular };
            let momentum = solid.times(&twist);
            let linear = at_centre.linear * whole;
            // About the old centre: that about the new one and that of the momentum there.
            let angular = Dim::<3>::apply_inertia(&about_centre, &at_centre.angular) + centre.cross(&linear);
            assert!((momentum.linear - linear).norm() < 1e-13 * linear.norm(), "{momentum:?} {linear:?}");
            assert!((momentum.angular - angular).norm() < 1e-13 * angular.norm(), "{momentum:?} {angular:?}");
        }
    }
}
