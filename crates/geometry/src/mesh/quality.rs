//! Shape quality of triangles and tetrahedra.

use super::{Corners, Element, Mesh, MeshError};
use splashdown_math::Vector;
use splashdown_parallel::prelude::*;

/// Shape of one element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ElementQuality {
    /// Smallest angle between two edges of a triangle or two faces of a tetrahedron (degrees; 60 and 70.53 for the regular ones).
    pub min_angle: f64,
    /// Largest such angle (degrees).
    pub max_angle: f64,
    /// `n r / R` with the radii of the inscribed and circumscribed balls in n dimensions: 1 for the regular simplex, 0 for a flat one.
    pub radius_ratio: f64,
    /// Smallest height over a facet (m), the length that limits explicit time steps.
    pub min_altitude: f64,
}

/// Minimum, mean and maximum, with a histogram of ten equal bins.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// Smallest value.
    pub min: f64,
    /// Element with the smallest value.
    pub worst: usize,
    /// Mean value.
    pub mean: f64,
    /// Largest value.
    pub max: f64,
    /// Counts in ten equal bins of `range`; values beyond it are in the first or last bin.
    pub histogram: [usize; 10],
    /// Range of the histogram.
    pub range: [f64; 2],
}

impl Statistics {
    fn of(values: impl Iterator<Item = f64>, range: [f64; 2]) -> Self {
        let mut found = Self {
            min: f64::INFINITY,
            worst: 0,
            mean: 0.0,
            max: f64::NEG_INFINITY,
            histogram: [0; 10],
            range,
        };
        let mut count = 0usize;
        for (element, value) in values.enumerate() {
            if value < found.min {
                (found.min, found.worst) = (value, element);
            }
            found.max = found.max.max(value);
            found.mean += value;
            let bin = (value - range[0]) / (range[1] - range[0]) * 10.0;
            found.histogram[(bin.max(0.0) as usize).min(9)] += 1;
            count += 1;
        }
        found.mean /= count as f64;
        found
    }
}

/// Shape quality of a whole mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct QualityReport {
    /// Number of elements.
    pub elements: usize,
    /// Of [`ElementQuality::min_angle`] (degrees).
    pub min_angle: Statistics,
    /// Of [`ElementQuality::radius_ratio`].
    pub radius_ratio: Statistics,
    /// Of [`ElementQuality::min_altitude`] (m).
    pub min_altitude: Statistics,
}

impl std::fmt::Display for QualityReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} elements, smallest angle {:.2} degrees (mean {:.1}, element {}), radius ratio {:.3} (mean {:.3}), smallest height {:.3e} m",
            self.elements,
            self.min_angle.min,
            self.min_angle.mean,
            self.min_angle.worst,
            self.radius_ratio.min,
            self.radius_ratio.mean,
            self.min_altitude.min,
        )
    }
}

impl<const D: usize, const N: usize> Mesh<D, N>
where
    Corners<N>: Element<N>,
{
    /// Shape of one triangle or tetrahedron.
    pub fn element_quality(&self, element: usize) -> ElementQuality {
        const { assert!(N == 3 || N == 4, "quality is of triangles and tetrahedra") };
        let corners = self.corners(element);
        if N == 3 {
            triangle_quality(&[corners[0], corners[1], corners[2]])
        } else {
            let at = |i: usize| Vector::<3>::from_fn(|k, _| corners[i][k]);
            tetrahedron_quality(&[at(0), at(1), at(2), at(3)])
        }
    }

    /// Shape quality of all elements (triangles or tetrahedra).
    pub fn quality(&self) -> Result<QualityReport, MeshError> {
        self.check_not_empty()?;
        self.check_indices()?;
        let all: Vec<ElementQuality> = (0..self.elements.len())
            .into_par_iter()
            .with_min_len(1024)
            .map(|element| self.element_quality(element))
            .collect();
        let largest = all.iter().map(|q| q.min_altitude).fold(0.0, f64::max);
        Ok(QualityReport {
            elements: all.len(),
            min_angle: Statistics::of(
                all.iter().map(|q| q.min_angle),
                [0.0, if N == 3 { 60.0 } else { 70.6 }],
            ),
            radius_ratio: Statistics::of(all.iter().map(|q| q.radius_ratio), [0.0, 1.0]),
            min_altitude: Statistics::of(all.iter().map(|q| q.min_altitude), [0.0, largest]),
        })
    }
}

fn triangle_quality<const D: usize>(corners: &[Vector<D>; 3]) -> ElementQuality {
    let edge = |i: usize| corners[(i + 2) % 3] - corners[(i + 1) % 3];
    let lengths: [f64; 3] = std::array::from_fn(|i| edge(i).norm());
    let angles: [f64; 3] = std::array::from_fn(|i| {
        let (u, v) = (corners[(i + 1) % 3] - corners[i], corners[(i + 2) % 3] - corners[i]);
        // Kahan's angle between two vectors, accurate for needles too.
        let (a, b) = (u * v.norm(), v * u.norm());
        2.0 * (a - b).norm().atan2((a + b).norm()).to_degrees()
    });
    let e = |i: usize| Vector::<3>::from_fn(|k, _| if k < D { edge(i)[k] } else { 0.0 });
    let double_area = e(1).cross(&e(2)).norm();
    let perimeter: f64 = lengths.iter().sum();
    let product: f64 = lengths.iter().product();
    let longest = lengths.into_iter().fold(0.0, f64::max);
    ElementQuality {
        min_angle: angles.into_iter().fold(180.0, f64::min),
        max_angle: angles.into_iter().fold(0.0, f64::max),
        // r = 2A / perimeter, R = abc / (4A).
        radius_ratio: or_zero(2.0 * (double_area / perimeter) * (2.0 * double_area / product)),
        min_altitude: or_zero(double_area / longest),
    }
}

fn tetrahedron_quality(x: &[Vector<3>; 4]) -> ElementQuality {
    let faces = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];
    let normals = faces.map(|[a, b, c]| (x[b] - x[a]).cross(&(x[c] - x[a])));
    let (mut min_angle, mut max_angle) = (180.0f64, 0.0f64);
    for i in 1..4 {
        for j in 0..i {
            let (a, b) = (normals[i] * normals[j].norm(), -normals[j] * normals[i].norm());
            let angle = 2.0 * (a - b).norm().atan2((a + b).norm()).to_degrees();
            (min_angle, max_angle) = (min_angle.min(angle), max_angle.max(angle));
        }
    }
    let (a, b, c) = (x[1] - x[0], x[2] - x[0], x[3] - x[0]);
    let six_volume = a.dot(&b.cross(&c)).abs();
    let double_areas = normals.map(|n| n.norm());
    // Centre of the circumscribed ball relative to corner 0.
    let center =
        b.cross(&c) * a.norm_squared() + c.cross(&a) * b.norm_squared() + a.cross(&b) * c.norm_squared();
    let inscribed = six_volume / double_areas.iter().sum::<f64>();
    let circumscribed = center.norm() / (2.0 * six_volume);
    ElementQuality {
        min_angle,
        max_angle,
        radius_ratio: or_zero(3.0 * inscribed / circumscribed),
        min_altitude: or_zero(six_volume / double_areas.into_iter().fold(0.0, f64::max)),
    }
}

/// Quotients of elements that have collapsed to a point are 0/0.
fn or_zero(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_simplices_have_quality_one() {
        let mut tetrahedron = Mesh::<3, 4> {
            points: [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
                .map(Vector::from)
                .to_vec(),
            elements: vec![[0, 1, 3, 2]],
        };
        let q = tetrahedron.element_quality(0);
        assert!((q.radius_ratio - 1.0).abs() < 1e-14);
        assert!(
            (q.min_angle - (1.0f64 / 3.0).acos().to_degrees()).abs() < 1e-12
                && q.max_angle - q.min_angle < 1e-12
        );
        assert!((q.min_altitude - 8f64.sqrt() * (2.0f64 / 3.0).sqrt()).abs() < 1e-14);
        // Flatten it: the ratio goes to zero, nothing becomes NaN.
        tetrahedron.points.iter_mut().for_each(|p| p.z *= 1e-300);
        let flat = tetrahedron.element_quality(0);
        assert!(flat.radius_ratio < 1e-6 && flat.min_altitude < 1e-290, "{flat:?}");

        let triangle = Mesh::<2, 3> {
            points: vec![
                [0.0, 0.0].into(),
                [1.0, 0.0].into(),
                [0.5, 0.75f64.sqrt()].into(),
                [1.0, 1.0].into(),
            ],
            elements: vec![[0, 1, 2], [0, 1, 3]],
        };
        let report = triangle.quality().unwrap();
        assert!((report.radius_ratio.max - 1.0).abs() < 1e-14);
        assert!((report.min_angle.min - 45.0).abs() < 1e-12 && report.min_angle.worst == 1);
        // Right isosceles triangle: 2 r / R = 2 (sqrt 2 - 1).
        assert!((report.radius_ratio.min - 2.0 * (2f64.sqrt() - 1.0)).abs() < 1e-14);
        assert_eq!(report.radius_ratio.histogram.iter().sum::<usize>(), 2);
    }
}
