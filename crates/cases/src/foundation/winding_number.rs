//! The winding number tells inside from outside, and does so quickly.
//!
//! Exact solid angles add up to an integer for closed surfaces: 1 inside, 0 outside, 2 where two bodies overlap. For a sphere with a hole
//! the winding number at its centre is one minus the share of the sky that the hole covers. The tree (expansion of far parts to second
//! order) must agree with the sum over all triangles and classify every point the same way.

use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use splashdown_geometry::generate::{icosphere, loop_segments};
use splashdown_geometry::mesh::SurfaceMesh;
use splashdown_geometry::query::{WindingTree, winding_number};
use splashdown_math::Vector;
use splashdown_parallel::prelude::*;
use std::time::Instant;

pub(super) const CASE: Case = Case {
    name: "foundation/winding-number",
    spec: "RB-3.2",
    summary: "Generalised winding numbers are integers for closed surfaces; the fast tree agrees",
    source: "exact: solid angles (Jacobson et al. 2013; Barill et al. 2018)",
    speed: Speed::Fast,
    seconds: 3.0,
    run,
};

const SOURCE: &str = "exact: degree of a closed surface";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let sphere = |center: [f64; 3], pieces: usize| {
        icosphere(Vector::from(center), 1.0, pieces).map_err(|e| CaseError::new("building a sphere", e))
    };
    let one = sphere([0.0; 3], 20)?;
    agreement(measurements, "sphere", &one, 2000)?;
    let mut two = one.clone();
    let second = sphere([0.9, 0.0, 0.0], 20)?;
    let offset = two.points.len() as u32;
    two.points.extend(second.points);
    two.elements.extend(second.elements.iter().map(|e| e.map(|i| i + offset)));
    agreement(measurements, "two overlapping spheres", &two, 2000)?;
    measurements.near(
        "winding number in the overlap of two spheres",
        "-",
        winding_number(&two, &Vector::from([0.45, 0.0, 0.0])),
        2.0,
        1e-12,
        SOURCE,
    );
    let curve = loop_segments::<2>(
        (0..1000)
            .map(|i| {
                let angle = f64::from(i) * std::f64::consts::TAU / 1000.0;
                Vector::from([angle.cos(), angle.sin()]) * (1.0 + 0.3 * (5.0 * angle).sin())
            })
            .collect(),
    )
    .map_err(|e| CaseError::new("building a curve", e))?;
    agreement(measurements, "star-shaped curve, 2D", &curve, 2000)?;

    // A hole: the octant x, y, z > 0 of a fine sphere covers an eighth of the sky up to the triangles that straddle its border.
    let mut open = sphere([0.0; 3], 64)?;
    let (points, all) = (open.points.clone(), open.elements.len());
    open.elements.retain(|e| e.map(|i| points[i as usize]).iter().sum::<Vector<3>>().min() <= 0.0);
    let removed = (all - open.elements.len()) as f64 / all as f64;
    let tree = WindingTree::new(&open).map_err(|e| CaseError::new("building the tree", e))?;
    measurements.near(
        "sphere without an octant, winding number at its centre (tree)",
        &format!("{} triangles, {removed:.4} removed", open.elements.len()),
        tree.winding_number(&Vector::zeros()),
        7.0 / 8.0,
        // The border of the octant follows triangles: half an edge (0.009) along 3 quarter circles, over the area of the sphere, is 0.003
        // if all errors had one sign.
        0.003,
        "exact: an octant is an eighth of the sky",
    );
    speed(measurements, &sphere([0.0; 3], 100)?)
}

/// Exact sums are integers; the tree classifies alike and deviates little.
fn agreement<const D: usize>(
    measurements: &mut Measurements,
    name: &str,
    surface: &SurfaceMesh<D>,
    count: u64,
) -> Result<(), CaseError> {
    let tree = WindingTree::new(surface).map_err(|e| CaseError::new("building the tree", e))?;
    let results: Vec<[f64; 2]> = (0..count)
        .into_par_iter()
        .map(|seed| {
            let mut rng = Pcg64::seed_from_u64(seed);
            let query = Vector::<D>::from_fn(|_, _| rng.random_range(-1.4..1.9));
            [winding_number(surface, &query), tree.winding_number(&query)]
        })
        .collect();
    let worst = |f: &dyn Fn(&[f64; 2]) -> f64| results.iter().map(f).fold(0.0, f64::max);
    let resolution = format!("{} elements, {count} points", surface.elements.len());
    measurements.at_most(
        &format!("{name}: sum over elements, deviation from an integer"),
        &resolution,
        worst(&|[exact, _]| (exact - exact.round()).abs()),
        1e-11,
        SOURCE,
    );
    measurements.at_most(
        &format!("{name}: tree, deviation from the sum"),
        &resolution,
        worst(&|[exact, fast]| (exact - fast).abs()),
        // Third-order remainder at two radii, see WindingTree::with_acceptance.
        0.02,
        "sum over elements",
    );
    measurements.at_most(
        &format!("{name}: points the tree puts on the wrong side"),
        &resolution,
        results.iter().filter(|[exact, fast]| (*exact > 0.5) != (*fast > 0.5)).count() as f64,
        0.0,
        "sum over elements",
    );
    Ok(())
}

/// The tree must be much faster than the sum over all triangles.
fn speed(measurements: &mut Measurements, surface: &SurfaceMesh<3>) -> Result<(), CaseError> {
    let tree = WindingTree::new(surface).map_err(|e| CaseError::new("building the tree", e))?;
    let mut rng = Pcg64::seed_from_u64(1);
    let queries: Vec<_> = (0..50).map(|_| Vector::<3>::from_fn(|_, _| rng.random_range(-1.2..1.2))).collect();
    let start = Instant::now();
    let exact: f64 = queries.iter().map(|q| winding_number(surface, q)).sum();
    let slow = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let fast_sum: f64 = queries.iter().map(|q| tree.winding_number(q)).sum();
    let fast = start.elapsed().as_secs_f64();
    let resolution = format!("{} triangles", surface.elements.len());
    measurements.at_least(
        "speed-up of the tree over the sum",
        &resolution,
        slow / fast,
        50.0,
        "O(n) against O(log n)",
    );
    measurements.near("sum over the queries of the speed test", &resolution, fast_sum, exact, 0.5, SOURCE);
    Ok(())
}
