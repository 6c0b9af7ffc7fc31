//! Lengths, areas, volumes, centroids and second moments, exact for straight elements.

use super::{Mesh, MeshError, SurfaceMesh};
use crate::simplex;
use splashdown_math::{Matrix, Vector};
use splashdown_parallel::prelude::*;

/// Integrals of 1, x and x x^T over a body of unit density (or a sheet, or a curve).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Integrals<const D: usize> {
    /// Volume (m^3), area (m^2) or length (m).
    pub measure: f64,
    /// Centre of mass (m).
    pub centroid: Vector<D>,
    /// `int (x - centroid) (x - centroid)^T`.
    pub second_moment: Matrix<D>,
}

impl Integrals<2> {
    /// Moment of inertia about the centroid for unit density.
    pub fn inertia(&self) -> f64 {
        self.second_moment.trace()
    }
}

impl Integrals<3> {
    /// Inertia tensor about the centroid for unit density.
    pub fn inertia(&self) -> Matrix<3> {
        Matrix::<3>::identity() * self.second_moment.trace() - self.second_moment
    }
}

/// Running sums about a fixed origin near the mesh, so that coordinates far from zero lose no digits.
#[derive(Debug, Clone, Copy)]
struct Sums<const D: usize> {
    measure: f64,
    first: Vector<D>,
    second: Matrix<D>,
}

impl<const D: usize> Sums<D> {
    const ZERO: Self = Self { measure: 0.0, first: Vector::<D>::ZERO, second: Matrix::<D>::ZERO };

    /// Adds a simplex given by its corners about the origin and its measure:
    /// `int x x^T = measure / (n (n + 1)) (sum x_i x_i^T + s s^T)` for n corners with sum s.
    fn add_simplex(&mut self, corners: &[Vector<D>], measure: f64) {
        let n = corners.len() as f64;
        let sum: Vector<D> = corners.iter().sum();
        let mut second = sum * sum.transpose();
        for corner in corners {
            second += corner * corner.transpose();
        }
        self.measure += measure;
        self.first += sum * (measure / n);
        self.second += second * (measure / (n * (n + 1.0)));
    }

    fn add(&mut self, other: &Self) {
        self.measure += other.measure;
        self.first += other.first;
        self.second += other.second;
    }

    /// Sum over `count` contributions in chunks of fixed size, in order: the same bits for any number of threads.
    fn total(count: usize, add_one: impl Fn(&mut Self, usize) + Sync) -> Self {
        const CHUNK: usize = 4096;
        let partial: Vec<Self> = (0..count.div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let mut sums = Self::ZERO;
                for index in chunk * CHUNK..((chunk + 1) * CHUNK).min(count) {
                    add_one(&mut sums, index);
                }
                sums
            })
            .collect();
        let mut total = Self::ZERO;
        partial.iter().for_each(|part| total.add(part));
        total
    }

    fn about(&self, origin: &Vector<D>) -> Integrals<D> {
        let offset = if self.measure == 0.0 { Vector::zeros() } else { self.first / self.measure };
        Integrals {
            measure: self.measure,
            centroid: origin + offset,
            second_moment: self.second - offset * self.first.transpose(),
        }
    }
}

trait Zero {
    const ZERO: Self;
}
impl<const R: usize, const C: usize> Zero for nalgebra::SMatrix<f64, R, C> {
    const ZERO: Self = Self::from_array_storage(nalgebra::ArrayStorage([[0.0; R]; C]));
}

impl<const D: usize, const N: usize> Mesh<D, N> {
    /// Length, area or volume of one simplex element or the volume of a hexahedron; signed where the element fills the space (triangles in
    /// 2D, tetrahedra, hexahedra).
    pub fn element_measure(&self, element: usize) -> f64 {
        let corners = self.corners(element);
        match N {
            8 => hexahedron_jacobians(&corners, 0.5 - 0.5 / 3f64.sqrt()).iter().sum::<f64>() / 8.0,
            _ => simplex_measure(&corners),
        }
    }

    /// [`Mesh::element_measure`] for simplices; for a hexahedron the smallest Jacobian of its corners, negative as soon as it folds anywhere
    /// at a corner.
    pub(super) fn element_quality_measure(&self, element: usize) -> f64 {
        match N {
            8 => hexahedron_jacobians(&self.corners(element), 0.0).into_iter().fold(f64::INFINITY, f64::min),
            _ => self.element_measure(element),
        }
    }

    /// Measure, centroid and second moment of the simplex elements themselves: of the body for triangles in 2D and tetrahedra, of the sheet
    /// for triangles in 3D, of the wire for segments.
    pub fn integrals(&self) -> Result<Integrals<D>, MeshError> {
        const { assert!(N <= 4, "integrals are for simplices") };
        self.check_indices()?;
        self.check_finite()?;
        let origin = self.bounds_center();
        let sums = Sums::total(self.elements.len(), |sums, element| {
            let corners = self.corners(element).map(|x| x - origin);
            sums.add_simplex(&corners, simplex_measure(&corners));
        });
        Ok(sums.about(&origin))
    }

    fn bounds_center(&self) -> Vector<D> {
        if self.points.is_empty() { Vector::zeros() } else { self.bounds().center() }
    }
}

impl<const D: usize> SurfaceMesh<D> {
    /// Volume (m^3; m^2 in 2D) that the closed surface encloses, negative when its normals point inwards.
    pub fn enclosed_volume(&self) -> Result<f64, MeshError> {
        Ok(self.enclosed_integrals()?.measure)
    }

    /// Volume, centre of mass and second moment of what the closed surface encloses, by the divergence theorem: signed simplices between a
    /// point and each element (spec/rigid-bodies.md 3.2). Whether the surface is closed is the caller's to check.
    pub fn enclosed_integrals(&self) -> Result<Integrals<D>, MeshError> {
        self.check_indices()?;
        self.check_finite()?;
        let origin = self.bounds_center();
        let sums = Sums::total(self.elements.len(), |sums, element| {
            // The simplex has one corner more than the element, at most four.
            let mut corners = [Vector::<D>::zeros(); 4];
            for (corner, x) in corners[1..].iter_mut().zip(self.corners(element)) {
                *corner = x - origin;
            }
            sums.add_simplex(&corners[..=D], signed_measure(&corners[..=D]));
        });
        Ok(sums.about(&origin))
    }
}

/// Signed volume of a simplex with `D + 1` corners given as a slice.
fn signed_measure<const D: usize>(corners: &[Vector<D>]) -> f64 {
    match D {
        2 => simplex::signed_volume(&[flat(&corners[0]), flat(&corners[1]), flat(&corners[2])]),
        _ => simplex::signed_volume(&[
            spatial(&corners[0]),
            spatial(&corners[1]),
            spatial(&corners[2]),
            spatial(&corners[3]),
        ]),
    }
}

/// Length, area or volume of a simplex, signed when it has `D + 1` corners.
fn simplex_measure<const D: usize, const N: usize>(corners: &[Vector<D>; N]) -> f64 {
    if N == D + 1 {
        return signed_measure(corners);
    }
    match N {
        2 => (corners[1] - corners[0]).norm(),
        3 => {
            let edge = |i: usize| spatial(&(corners[i] - corners[0]));
            0.5 * edge(1).cross(&edge(2)).norm()
        }
        _ => 0.0,
    }
}

fn flat<const D: usize>(x: &Vector<D>) -> Vector<2> {
    Vector::<2>::new(x[0], x[1])
}

fn spatial<const D: usize>(x: &Vector<D>) -> Vector<3> {
    Vector::<3>::from_fn(|k, _| if k < D { x[k] } else { 0.0 })
}

/// Jacobian determinants of the trilinear map at the eight points `inset` or `1 - inset` along each axis: the corners for 0; the Gauss
/// points, whose mean is the exact volume, for `1/2 - 1/(2 sqrt 3)`.
fn hexahedron_jacobians<const D: usize, const N: usize>(corners: &[Vector<D>; N], inset: f64) -> [f64; 8] {
    std::array::from_fn(|point| {
        let xi: [f64; 3] =
            std::array::from_fn(|axis| if point >> (2 - axis) & 1 == 1 { 1.0 - inset } else { inset });
        let mut columns = [Vector::<3>::zeros(); 3];
        for corner in 0..8 {
            let high = |axis: usize| corner >> (2 - axis) & 1 == 1;
            let weight = |axis: usize| if high(axis) { xi[axis] } else { 1.0 - xi[axis] };
            for axis in 0..3 {
                let slope = if high(axis) { 1.0 } else { -1.0 };
                let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
                columns[axis] += spatial(&corners[corner]) * (slope * weight(j) * weight(k));
            }
        }
        Matrix::<3>::from_columns(&columns).determinant()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::test_shapes::{circle, hexahedra, sphere, tetrahedra};

    #[test]
    fn a_box_has_its_textbook_moments_far_from_the_origin() {
        let stretch = Vector::<3>::new(1.0, 2.0, 3.0);
        let shift = Vector::<3>::new(1e6, -2e6, 3e6);
        let mut solid = tetrahedra(2);
        solid.points.iter_mut().for_each(|p| *p = p.component_mul(&stretch) + shift);
        let surface = solid.boundary().unwrap().mesh;
        for found in [solid.integrals().unwrap(), surface.enclosed_integrals().unwrap()] {
            assert!((found.measure - 6.0).abs() < 1e-12);
            assert!((found.centroid - shift - stretch / 2.0).amax() < 1e-9);
            let expected =
                Matrix::<3>::from_diagonal(&Vector::<3>::new(13.0, 10.0, 5.0)) * (found.measure / 12.0);
            assert!((found.inertia() - expected).amax() < 1e-12, "{}", found.inertia());
        }
    }

    #[test]
    fn round_shapes_converge_to_their_moments() {
        let disc = circle(1000, 2.0).enclosed_integrals().unwrap();
        assert!((disc.measure / (4.0 * std::f64::consts::PI) - 1.0).abs() < 1e-5);
        assert!((disc.inertia() / (0.5 * disc.measure * 4.0) - 1.0).abs() < 1e-5);
        let ball = sphere(60, 2.0).enclosed_integrals().unwrap();
        assert!((ball.inertia()[(2, 2)] / (0.4 * ball.measure * 4.0) - 1.0).abs() < 3e-3);
        assert!(ball.centroid.norm() < 1e-12);
    }

    #[test]
    fn the_volume_of_a_warped_hexahedron_is_exact() {
        let mut cube = hexahedra(1);
        assert!((cube.element_measure(0) - 1.0).abs() < 1e-15);
        // Lifting the corner (1, 1, 1) by h adds int xi eta h = h/4.
        cube.points[7].z += 0.4;
        assert!((cube.element_measure(0) - 1.1).abs() < 1e-15);
    }
}
