//! Contacts inside the implicit damping solve (spec/rigid-deformable-coupling.md 3.8, RDC-24 to RDC-26).
//!
//! Damping has to be evaluated at velocities that respect the contacts: a particle that rests on something does not fall, and must not drag its neighbours along as if it
//! did. So the solve keeps the normal velocity of particles relative to what they touch. Its result only says how fast things are for damping; the forces are then applied
//! without constraints, and contact with friction sees the whole push.
//!
//! Constraints are kept exactly by projected conjugate gradients: the preconditioner `M^-1` is followed by the projection that is orthogonal in `M`, which for one body
//! and all its particles is a single small system (eq. 4.3 and 4.4 of the source).

use super::Carriers;
use crate::force::read;
use splashdown_math::{Coordinates, Dim, Space, Spin, Twist, Vector};

/// The normal velocity of a particle is that of what it touches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link<const D: usize> {
    /// The particle.
    pub particle: u32,
    /// The carrier that it touches; `None` for something that moves as told.
    pub carrier: Option<u32>,
    /// Unit normal of the contact.
    pub normal: Vector<D>,
    /// From the carrier's centre of mass to the particle (m).
    pub arm: Vector<D>,
    /// Wanted change of the normal velocity of the particle relative to what it touches (m/s).
    pub change: f64,
}

/// Links in the order in which the projection uses them.
pub(crate) struct Projection<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    links: Vec<Link<D>>,
    masses: &'a [f64],
    carriers: Option<&'a Carriers<D>>,
    /// Of each carrier: the inverse of its mass matrix with the masses of its linked particles along their normals.
    inverse: Vec<Vec<f64>>,
}

impl<'a, const D: usize> Projection<'a, D>
where
    Dim<D>: Space<D>,
{
    const SIZE: usize = Twist::<D>::LEN;

    /// One link a particle: the first of those to a carrier that responds, else the first.
    pub fn new(links: &[Link<D>], masses: &'a [f64], carriers: Option<&'a Carriers<D>>) -> Self {
        let mut links: Vec<Link<D>> = links.to_vec();
        links.sort_by_key(|link| (link.particle, link.carrier.is_none()));
        links.dedup_by_key(|link| link.particle);
        let mut matrices: Vec<Vec<f64>> = Vec::new();
        if let Some(own) = carriers {
            let n = Self::SIZE;
            for carrier in &own.carriers {
                let mut matrix = vec![0.0; n * n];
                for column in 0..n {
                    let mut unit = vec![0.0; n];
                    unit[column] = 1.0;
                    let twist = Twist::<D>::read(&unit);
                    let mut image = vec![0.0; n];
                    Twist::<D> {
                        linear: twist.linear * carrier.mass,
                        angular: Dim::apply_inertia(&carrier.inertia, &twist.angular),
                    }
                    .write(&mut image);
                    for row in 0..n {
                        matrix[row * n + column] = image[row];
                    }
                }
                matrices.push(matrix);
            }
            for link in &links {
                if let Some(carrier) = link.carrier {
                    let row = gradient(link);
                    let mass = masses[link.particle as usize];
                    let matrix = &mut matrices[carrier as usize];
                    for i in 0..n {
                        for j in 0..n {
                            matrix[i * n + j] += mass * row[i] * row[j];
                        }
                    }
                }
            }
            for (matrix, carrier) in matrices.iter_mut().zip(&own.carriers) {
                *matrix = if carrier.dynamic { invert(matrix, n) } else { vec![0.0; n * n] };
            }
        }
        Self { links, masses, carriers, inverse: matrices }
    }

    /// Number of particle entries.
    fn particles(&self) -> usize {
        D * self.masses.len()
    }

    /// Twice the energy (J) of the relative normal velocities of all links, each with the mass of its particle.
    pub fn violation(&self, y: &[f64]) -> f64 {
        let (own, tail) = y.split_at(self.particles());
        let of = |link: &Link<D>| {
            let theirs: f64 = link.carrier.map_or(0.0, |carrier| {
                let twist = &tail[carrier as usize * Self::SIZE..][..Self::SIZE];
                gradient(link).iter().zip(twist).map(|(a, b)| a * b).sum()
            });
            let relative = read::<D>(own, link.particle).dot(&link.normal) - theirs;
            self.masses[link.particle as usize] * relative * relative
        };
        self.links.iter().map(of).sum()
    }

    /// Changes `y` by as little as possible in the metric of `M` so that every link has the relative normal velocity `wanted`.
    pub fn project(&self, y: &mut [f64], wanted: impl Fn(&Link<D>) -> f64) {
        let n = Self::SIZE;
        let (own, tail) = y.split_at_mut(self.particles());
        if self.carriers.is_some() {
            let mut push = vec![0.0; tail.len()];
            for link in &self.links {
                let Some(carrier) = link.carrier else { continue };
                let row = gradient(link);
                let twist = &tail[carrier as usize * n..][..n];
                let theirs: f64 = row.iter().zip(twist).map(|(a, b)| a * b).sum();
                let lack = read::<D>(own, link.particle).dot(&link.normal) - theirs - wanted(link);
                let mass = self.masses[link.particle as usize];
                for (push, row) in push[carrier as usize * n..][..n].iter_mut().zip(row) {
                    *push += mass * lack * row;
                }
            }
            for (carrier, inverse) in self.inverse.iter().enumerate() {
                for i in 0..n {
                    let change: f64 = (0..n).map(|j| inverse[i * n + j] * push[carrier * n + j]).sum();
                    tail[carrier * n + i] += change;
                }
            }
        }
        for link in &self.links {
            let theirs: f64 = link.carrier.map_or(0.0, |carrier| {
                let twist = &tail[carrier as usize * n..][..n];
                gradient(link).iter().zip(twist).map(|(a, b)| a * b).sum()
            });
            let at = D * link.particle as usize;
            let lack = theirs + wanted(link) - read::<D>(own, link.particle).dot(&link.normal);
            for axis in 0..D {
                own[at + axis] += lack * link.normal[axis];
            }
        }
    }
}

/// Gradient of the normal velocity of the carrier's point by its twist.
pub(super) fn gradient<const D: usize>(link: &Link<D>) -> [f64; 6]
where
    Dim<D>: Space<D>,
{
    let spin: Spin<D> = Dim::cross(&link.arm, &link.normal);
    let mut row = [0.0; 6];
    Twist::<D> { linear: link.normal, angular: spin }.write(&mut row[..Twist::<D>::LEN]);
    debug_assert_eq!(Coordinates::as_slice(&spin).len(), <Dim<D> as Space<D>>::SPIN);
    row
}

/// Inverse of a small positive definite matrix (row major), by Gauss-Jordan elimination, which needs no pivots for such.
fn invert(matrix: &[f64], n: usize) -> Vec<f64> {
    let mut a = matrix.to_vec();
    let mut inverse = vec![0.0; n * n];
    (0..n).for_each(|i| inverse[i * n + i] = 1.0);
    for k in 0..n {
        let pivot = 1.0 / a[k * n + k];
        for j in 0..n {
            a[k * n + j] *= pivot;
            inverse[k * n + j] *= pivot;
        }
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[i * n + k];
            for j in 0..n {
                a[i * n + j] -= factor * a[k * n + j];
                inverse[i * n + j] -= factor * inverse[k * n + j];
            }
        }
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::super::Carrier;
    use super::*;

    /// Spec 5.2-C: keeps the constraints, is idempotent, and is symmetric in `M`.
    #[test]
    fn the_projection_is_exact_and_symmetric() {
        let masses: Vec<f64> = (0..8).map(|i| 0.5 + 0.3 * f64::from(i)).collect();
        let carrier = |mass: f64| Carrier::<3> {
            mass,
            inertia: Dim::<3>::rotate_inertia(
                &Dim::<3>::exp(&Vector::<3>::new(0.3, -0.5, 0.8)),
                &Dim::<3>::inertia_from_principal(&[0.3 * mass, 0.5 * mass, 0.7 * mass]),
            ),
            dynamic: true,
        };
        let carriers = Carriers::new(vec![carrier(2.0), carrier(30.0)], Vec::new());
        let links: Vec<Link<3>> = (0..7)
            .map(|i| {
                let t = f64::from(i);
                Link {
                    particle: i as u32,
                    carrier: [Some(0), Some(1), None][i as usize % 3],
                    normal: Vector::<3>::new(t.sin(), (2.0 * t).cos(), 0.4).normalize(),
                    arm: Vector::<3>::new(0.2 * t, 0.5 - 0.1 * t, t.cos()),
                    change: 0.0,
                }
            })
            .collect();
        let projection = Projection::new(&links, &masses, Some(&carriers));
        let size = 3 * masses.len() + 12;
        let mass = |x: &[f64]| {
            let mut y: Vec<f64> = x[..24].iter().enumerate().map(|(i, x)| masses[i / 3] * x).collect();
            y.resize(size, 0.0);
            carriers.add_mass(&x[24..], &mut y[24..]);
            y
        };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let vector = |seed: f64| -> Vec<f64> { (0..size).map(|i| (seed * (i as f64 + 1.0)).sin()).collect() };
        let projected = |x: &[f64]| {
            let mut y = x.to_vec();
            projection.project(&mut y, |_| 0.0);
            y
        };
        let (x, y) = (vector(1.7), vector(0.9));
        let (px, py) = (projected(&x), projected(&y));
        let twice = projected(&px);
        assert!(px.iter().zip(&twice).all(|(a, b)| (a - b).abs() < 1e-12));
        assert!((dot(&mass(&px), &y) - dot(&mass(&py), &x)).abs() < 1e-11);
        assert!(dot(&px, &mass(&px)) < dot(&x, &mass(&x)));
        for link in &links {
            let theirs = link.carrier.map_or(0.0, |c| dot(&gradient(link), &px[24 + 6 * c as usize..][..6]));
            assert!((read::<3>(&px, link.particle).dot(&link.normal) - theirs).abs() < 1e-12);
        }
    }
}
