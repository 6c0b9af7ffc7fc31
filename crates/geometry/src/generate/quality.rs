//! The worst of a mesh in one look.

use crate::mesh::{Corners, Element, Mesh};

/// Worst and summed measures of a mesh of full-dimensional simplices: triangles in 2D, tetrahedra in 3D. For distributions see [`Mesh::quality`].
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

/// Measures a mesh whose indices are known to be sound.
pub(super) fn simplex_quality<const D: usize, const N: usize>(mesh: &Mesh<D, N>) -> SimplexQuality
where
    Corners<N>: Element<N>,
{
    const { assert!(N == D + 1, "a full-dimensional simplex has D + 1 corners") };
    let mut worst = SimplexQuality {
        elements: mesh.elements.len(),
        volume: 0.0,
        min_angle: 180.0,
        max_angle: 0.0,
        min_radius_ratio: 1.0,
        inverted: 0,
    };
    for element in 0..mesh.elements.len() {
        let quality = mesh.element_quality(element);
        let volume = mesh.element_measure(element);
        worst.volume += volume;
        worst.min_angle = worst.min_angle.min(quality.min_angle);
        worst.max_angle = worst.max_angle.max(quality.max_angle);
        worst.min_radius_ratio = worst.min_radius_ratio.min(quality.radius_ratio);
        // A volume that is not a number is as bad as a negative one.
        if volume.is_nan() || volume <= 0.0 {
            worst.inverted += 1;
        }
    }
    worst
}
