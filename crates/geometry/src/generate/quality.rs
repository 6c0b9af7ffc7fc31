//! How good the simplices of a mesh are.

use crate::mesh::Mesh;
use splashdown_math::{Matrix, Vector};

/// Worst and summed measures of a mesh of full-dimensional simplices: triangles in 2D, tetrahedra in 3D.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimplexQuality {
    /// Number of simplices.
    pub elements: usize,
    /// Sum of the signed volumes (areas in 2D), m^D.
    pub volume: f64,
    /// Smallest angle between two facets, in degrees: dihedral angle of tetrahedra, corner angle of triangles.
    pub min_angle: f64,
    /// Largest such angle, in degrees.
    pub max_angle: f64,
    /// Smallest `D * inradius / circumradius`: 1 for the regular simplex, 0 for a flat one.
    pub min_radius_ratio: f64,
    /// Simplices whose signed volume is not positive.
    pub inverted: usize,
}

/// Measures of one simplex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimplexMeasures {
    /// Signed volume, m^D.
    pub volume: f64,
    /// Smallest angle between two facets, radians.
    pub min_angle: f64,
    /// Largest angle between two facets, radians.
    pub max_angle: f64,
    /// `D * inradius / circumradius`.
    pub radius_ratio: f64,
}

/// Determinant of a 1x1, 2x2 or 3x3 matrix.
pub(crate) fn determinant<const D: usize>(m: &Matrix<D>) -> f64 {
    match D {
        1 => m[(0, 0)],
        2 => m[(0, 0)] * m[(1, 1)] - m[(0, 1)] * m[(1, 0)],
        _ => (0..3)
            .map(|i| {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                m[(0, i)] * (m[(1, j)] * m[(2, k)] - m[(1, k)] * m[(2, j)])
            })
            .sum(),
    }
}

/// Columns `x1 - x0, ..., xD - x0`.
pub(crate) fn edge_matrix<const D: usize, const N: usize>(x: &[Vector<D>; N]) -> Matrix<D> {
    Matrix::<D>::from_fn(|row, column| x[column + 1][row] - x[0][row])
}

/// Measures of the simplex with corners `x`, from the gradients of its barycentric coordinates: the facets opposite corners i and j meet at the angle
/// whose cosine is `-g_i . g_j / (|g_i| |g_j|)`, and the inradius is `1 / sum |g_i|`.
pub fn measure<const D: usize, const N: usize>(x: &[Vector<D>; N]) -> SimplexMeasures {
    const { assert!(N == D + 1, "a full-dimensional simplex has D + 1 corners") };
    let edges = edge_matrix(x);
    let volume = determinant(&edges) / (1..=D).product::<usize>() as f64;
    let flat = SimplexMeasures { volume, min_angle: 0.0, max_angle: std::f64::consts::PI, radius_ratio: 0.0 };
    let Some(inverse) = edges.try_inverse() else { return flat };
    let mut gradients = [Vector::<D>::zeros(); N];
    for i in 0..D {
        let g = Vector::<D>::from_fn(|j, _| inverse[(i, j)]);
        gradients[i + 1] = g;
        gradients[0] -= g;
    }
    let norms = gradients.map(|g| g.norm());
    let (mut largest_cosine, mut smallest_cosine) = (-1f64, 1f64);
    for i in 0..N {
        for j in 0..i {
            let cosine = -gradients[i].dot(&gradients[j]) / (norms[i] * norms[j]);
            largest_cosine = largest_cosine.max(cosine);
            smallest_cosine = smallest_cosine.min(cosine);
        }
    }
    let inradius = 1.0 / norms.iter().sum::<f64>();
    // The circumcentre c, relative to corner 0, has 2 e_i . c = |e_i|^2 for every edge e_i.
    let squares = Vector::<D>::from_fn(|i, _| 0.5 * edges.column(i).norm_squared());
    let circumradius = (inverse.transpose() * squares).norm();
    let radius_ratio = D as f64 * inradius / circumradius;
    if !radius_ratio.is_finite() {
        return flat;
    }
    SimplexMeasures {
        volume,
        min_angle: largest_cosine.clamp(-1.0, 1.0).acos(),
        max_angle: smallest_cosine.clamp(-1.0, 1.0).acos(),
        radius_ratio,
    }
}

/// Quality of a whole mesh.
pub fn simplex_quality<const D: usize, const N: usize>(mesh: &Mesh<D, N>) -> SimplexQuality {
    let mut quality = SimplexQuality {
        elements: mesh.elements.len(),
        volume: 0.0,
        min_angle: 180.0,
        max_angle: 0.0,
        min_radius_ratio: 1.0,
        inverted: 0,
    };
    for element in &mesh.elements {
        let m = measure(&element.map(|i| mesh.points[i as usize]));
        quality.volume += m.volume;
        quality.min_angle = quality.min_angle.min(m.min_angle.to_degrees());
        quality.max_angle = quality.max_angle.max(m.max_angle.to_degrees());
        quality.min_radius_ratio = quality.min_radius_ratio.min(m.radius_ratio);
        // A volume that is not a number is as bad as a negative one.
        if m.volume.is_nan() || m.volume <= 0.0 {
            quality.inverted += 1;
        }
    }
    quality
}
