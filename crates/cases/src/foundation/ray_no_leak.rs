//! No ray leaves a closed surface unseen.
//!
//! Water that drips out of a closed bag through an edge between two triangles is the classical failure of coupling by ray casts
//! (spec/fluid-base.md 3.2, spec/fluid-structure.md 3.4.2). From points inside closed surfaces (a box with round coordinates, turned boxes,
//! a sphere, a torus, a curve in 2D) rays are aimed at vertices, at points of edges and at random points of the surface; every one of them
//! must be stopped, without any thickness. Then the centres of neighbouring grid cells on both sides of a surface are joined by segments,
//! as the coupling does, with the usual thickness of 1e-3 cells.

use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use splashdown_geometry::generate::{box_surface, icosphere, loop_segments, torus_surface};
use splashdown_geometry::mesh::SurfaceMesh;
use splashdown_geometry::query::{MeshTree, Ray, WindingTree};
use splashdown_geometry::simplex::combine;
use splashdown_math::{Dim, Space, Vector};
use splashdown_parallel::prelude::*;

pub(super) const CASE: Case = Case {
    name: "foundation/ray-no-leak",
    spec: "FS-15",
    summary: "Rays through vertices and edges of closed surfaces never leak",
    source: "exact: a ray from inside a closed surface meets it",
    speed: Speed::Fast,
    seconds: 4.0,
    run,
};

const SOURCE: &str = "exact: a closed surface separates";
const RAYS: u64 = 200_000;

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let failed = |error: &dyn std::fmt::Display| CaseError::new("building a surface", error);
    let cube = |cells: usize| box_surface(Vector::repeat(-1.0), Vector::repeat(1.0), [cells; 3]);
    let middle = Vector::<3>::zeros();

    let straight = cube(8).map_err(|e| failed(&e))?;
    leaks(measurements, "box with round coordinates", &straight, &middle)?;
    let mut turned = cube(6).map_err(|e| failed(&e))?;
    let rotation = Dim::<3>::exp(&Vector::from([0.3, -0.7, 1.1]));
    turned.points.iter_mut().for_each(|p| *p = Dim::<3>::rotate(&rotation, p));
    leaks(measurements, "turned box", &turned, &middle)?;
    let mut far = turned.clone();
    far.points.iter_mut().for_each(|p| *p = p.add_scalar(1e6));
    leaks(measurements, "turned box 1e6 m from the origin", &far, &Vector::repeat(1e6))?;
    let sphere = icosphere(middle, 1.0, 16).map_err(|e| failed(&e))?;
    leaks(measurements, "sphere", &sphere, &Vector::from([0.1, -0.2, 0.3]))?;
    let torus = torus_surface(middle, 1.0, 0.4, 48, 24).map_err(|e| failed(&e))?;
    leaks(measurements, "torus", &torus, &Vector::from([1.0, 0.0, 0.0]))?;
    let curve = loop_segments::<2>(
        (0..500)
            .map(|i| {
                let angle = f64::from(i) * std::f64::consts::TAU / 500.0;
                Vector::from([angle.cos(), angle.sin()]) * (1.0 + 0.3 * (5.0 * angle).sin())
            })
            .collect(),
    )
    .map_err(|e| failed(&e))?;
    leaks(measurements, "star-shaped curve, 2D", &curve, &Vector::zeros())?;

    occlusion(measurements, "turned box", &turned)?;
    occlusion(measurements, "box with round coordinates", &straight)
}

/// Rays from `inside` through vertices, edges and random points of the surface.
fn leaks<const D: usize>(
    measurements: &mut Measurements,
    name: &str,
    surface: &SurfaceMesh<D>,
    inside: &Vector<D>,
) -> Result<(), CaseError> {
    let tree = MeshTree::new(surface).map_err(|e| CaseError::new("building the tree", e))?;
    let count: usize = (0..RAYS / 1000)
        .into_par_iter()
        .map(|chunk| {
            let mut rng = Pcg64::seed_from_u64(chunk);
            (0..1000)
                .filter(|_| {
                    let corners = surface.corners(rng.random_range(0..surface.elements.len()));
                    let mut weights = [0.0; D];
                    match rng.random_range(0..3) {
                        0 => weights[rng.random_range(0..D)] = 1.0,
                        1 => {
                            let (i, s) = (rng.random_range(0..D), f64::from(rng.random_range(0..=16)) / 16.0);
                            weights[i] = s;
                            weights[(i + 1) % D] += 1.0 - s;
                        }
                        _ => {
                            weights = std::array::from_fn(|_| rng.random_range(0.0..1.0));
                            let sum: f64 = weights.iter().sum();
                            weights = weights.map(|w| w / sum);
                        }
                    }
                    let ray = Ray::new(*inside, combine(&corners, &weights) - inside);
                    tree.first_hit(&ray).is_none()
                })
                .count()
        })
        .reduce(|| 0, |a, b| a + b);
    let resolution = format!("{RAYS} rays, {} elements", surface.elements.len());
    measurements.at_most(&format!("{name}: rays that leak"), &resolution, count as f64, 0.0, SOURCE);
    Ok(())
}

/// Segments between neighbouring cell centres of a 40^3 grid, exactly one of which is inside.
fn occlusion(measurements: &mut Measurements, name: &str, surface: &SurfaceMesh<3>) -> Result<(), CaseError> {
    let cells = 40;
    // A width at which no centre of the straight box lies on its surface, but segments run through its vertices and edges.
    let width = 0.125;
    let tree = MeshTree::new(surface).map_err(|e| CaseError::new("building the tree", e))?;
    let winding = WindingTree::new(surface).map_err(|e| CaseError::new("building the tree", e))?;
    let center = |i: usize, j: usize, k: usize| {
        Vector::from([i, j, k].map(|n| (n as f64 - 0.5 * cells as f64) * width + 0.0625))
    };
    let index = |i: usize, j: usize, k: usize| (i * cells + j) * cells + k;
    let inside: Vec<bool> = (0..cells * cells * cells)
        .into_par_iter()
        .map(|n| winding.contains(&center(n / cells / cells, n / cells % cells, n % cells)))
        .collect();
    let (mut crossings, mut open) = (0, 0);
    for i in 0..cells - 1 {
        for j in 0..cells - 1 {
            for k in 0..cells - 1 {
                for (a, b, c) in [(i + 1, j, k), (i, j + 1, k), (i, j, k + 1)] {
                    if inside[index(i, j, k)] != inside[index(a, b, c)] {
                        crossings += 1;
                        let segment =
                            Ray::segment(center(i, j, k), center(a, b, c)).with_thickness(1e-3 * width);
                        open += usize::from(!tree.is_hit(&segment));
                    }
                }
            }
        }
    }
    let resolution = format!("{crossings} cell faces");
    measurements.at_most(
        &format!("{name}: open cell faces"),
        &resolution,
        f64::from(open as u32),
        0.0,
        SOURCE,
    );
    measurements.at_least(
        &format!("{name}: faces tested"),
        &resolution,
        f64::from(crossings),
        1000.0,
        SOURCE,
    );
    Ok(())
}
