//! Points on the elements of a mesh.

use super::{LIMIT, SampleError, positive};
use crate::mesh::{Mesh, MeshError};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use splashdown_math::Vector;
use std::collections::HashMap;

/// A point on an element of a mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfaceSample<const D: usize, const N: usize> {
    /// Position, m.
    pub point: Vector<D>,
    /// The element it lies on.
    pub element: u32,
    /// Barycentric weights of the element's corners.
    pub weights: [f64; N],
}

/// Draws elements in proportion to their length, area or volume.
struct Drawer<'m, const D: usize, const N: usize> {
    mesh: &'m Mesh<D, N>,
    /// Measures summed up to and including each element.
    sums: Vec<f64>,
    rng: Pcg64Mcg,
}

impl<'m, const D: usize, const N: usize> Drawer<'m, D, N> {
    fn new(mesh: &'m Mesh<D, N>, seed: u64) -> Result<Self, SampleError> {
        const { assert!(N >= 2 && N <= 4, "samples are drawn on segments, triangles and tetrahedra") };
        mesh.check_indices()?;
        mesh.check_finite()?;
        let mut sum = 0.0;
        let sums: Vec<f64> = (0..mesh.elements.len())
            .map(|e| {
                sum += mesh.element_measure(e).abs();
                sum
            })
            .collect();
        if !(sum > 0.0 && sum.is_finite()) {
            let (points, elements) = (mesh.points.len(), mesh.elements.len());
            return Err(SampleError::Surface(if elements == 0 {
                MeshError::Empty { points, elements }
            } else {
                MeshError::ZeroSize { element: 0, measure: sum, edge: 0.0 }
            }));
        }
        Ok(Self { mesh, sums, rng: Pcg64Mcg::seed_from_u64(seed) })
    }

    fn total(&self) -> f64 {
        self.sums[self.sums.len() - 1]
    }

    fn draw(&mut self) -> SurfaceSample<D, N> {
        let target = self.rng.random::<f64>() * self.total();
        let element = self.sums.partition_point(|sum| *sum <= target).min(self.sums.len() - 1);
        // The gaps between sorted uniform numbers are uniform barycentric coordinates.
        let mut cuts = [1.0; N];
        for cut in &mut cuts[..N - 1] {
            *cut = self.rng.random::<f64>();
        }
        cuts[..N - 1].sort_by(f64::total_cmp);
        let weights: [f64; N] = std::array::from_fn(|i| if i == 0 { cuts[0] } else { cuts[i] - cuts[i - 1] });
        let corners = self.mesh.corners(element);
        let point = crate::simplex::combine(&corners, &weights);
        SurfaceSample { point, element: element as u32, weights }
    }
}

/// `count` independent random points, uniform by length, area or volume.
pub fn random_surface_points<const D: usize, const N: usize>(
    mesh: &Mesh<D, N>,
    count: usize,
    seed: u64,
) -> Result<Vec<SurfaceSample<D, N>>, SampleError> {
    if count > LIMIT {
        return Err(SampleError::TooMany { points: count as f64, limit: LIMIT });
    }
    let mut drawer = Drawer::new(mesh, seed)?;
    Ok((0..count).map(|_| drawer.draw()).collect())
}

/// Darts thrown for each point that fits, on average.
const DARTS: f64 = 24.0;

/// Random points on the elements (segments, triangles), no two closer than `distance` (m) in space, with little room left for another: blue noise on a surface.
pub fn surface_points<const D: usize, const N: usize>(
    mesh: &Mesh<D, N>,
    distance: f64,
    seed: u64,
) -> Result<Vec<SurfaceSample<D, N>>, SampleError> {
    positive("distance", distance)?;
    let mut drawer = Drawer::new(mesh, seed)?;
    let darts = DARTS * (drawer.total() / distance.powi(N as i32 - 1)).max(1.0);
    if darts.is_nan() || darts > LIMIT as f64 {
        return Err(SampleError::TooMany { points: darts, limit: LIMIT });
    }
    // Cells of the size of the distance: a neighbour within it is in one of the 3^D cells around.
    let mut grid: HashMap<[i64; D], Vec<u32>> = HashMap::new();
    let mut samples: Vec<SurfaceSample<D, N>> = Vec::new();
    let origin = mesh.bounds().min;
    for _ in 0..darts as usize {
        let sample = drawer.draw();
        let cell: [i64; D] =
            std::array::from_fn(|axis| ((sample.point[axis] - origin[axis]) / distance).floor() as i64);
        let free = (0..3usize.pow(D as u32)).all(|local| {
            let offset = super::unflatten(local, &[3; D]);
            let neighbour: [i64; D] =
                std::array::from_fn(|axis| cell[axis].saturating_add(offset[axis] as i64 - 1));
            grid.get(&neighbour).is_none_or(|others| {
                others.iter().all(|&o| {
                    (samples[o as usize].point - sample.point).norm_squared() >= distance * distance
                })
            })
        });
        if free {
            grid.entry(cell).or_default().push(samples.len() as u32);
            samples.push(sample);
        }
    }
    Ok(samples)
}
