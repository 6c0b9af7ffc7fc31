//! Signed distance on a grid from closed meshes, and its evaluation between samples.
//!
//! A circle of segments, an icosphere and a torus of triangles whose edges shrink with the spacing: the mesh lies within O(h^2) of the smooth
//! surface, closest points are exact in a band of three cells, so the samples there are within O(h^2) of the smooth distance, all of them; and
//! second-order fast marching goes on from there, O(h^2) in the mean away from the kinks of the distance (centre, axis). Signs come from winding numbers and must all be right.
//! Between samples, multi-linear interpolation errs by O(h^2) and cubic by O(h^4).

use super::convergence;
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_geometry::generate::{icosphere, loop_segments, torus_surface};
use splashdown_geometry::grid::{Grid, Interpolation, Location};
use splashdown_geometry::level_set::{LevelSet, SurfaceDistance};
use splashdown_geometry::mesh::{Corners, Element, SurfaceMesh};
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Dim, Space, Vector};
use std::f64::consts::TAU;

pub(super) const CASE: Case = Case {
    name: "foundation/signed-distance-order",
    spec: "FB-18",
    summary: "distance of circle, sphere and torus meshes on a grid: order 2, every sign right; interpolation orders 2 and 4",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 8.0,
    run,
};

const SOURCE: &str = "exact: distance of the smooth shape";

type Failure = Box<dyn std::error::Error>;

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let failed = |e: Failure| CaseError::new("distance of a mesh", e);
    let mut curves = Vec::new();
    curves.extend(meshes::<2>(measurements, "circle", &[40, 80, 160], circle).map_err(failed)?);
    curves.extend(meshes::<3>(measurements, "sphere", &[20, 40, 80], sphere).map_err(failed)?);
    curves.extend(meshes::<3>(measurements, "torus", &[20, 40, 80], torus).map_err(failed)?);
    measurements.plot(convergence::plot("Distance from meshes", "error (m)", &curves));
    interpolation(measurements).map_err(failed)
}

/// Mesh with edges of about the spacing `h`, its smooth shape, and the distance from the shape's kinks.
type Example<const D: usize> = (SurfaceMesh<D>, Shape<D>, fn(&Vector<D>) -> f64);

fn circle(h: f64) -> Result<Example<2>, Failure> {
    let n = (TAU * 0.6 / h).ceil() as usize;
    let points = (0..n).map(|k| {
        let (sin, cos) = (TAU * k as f64 / n as f64).sin_cos();
        Vector::from([0.6 * cos, 0.6 * sin])
    });
    Ok((loop_segments(points.collect())?, Shape::ball(0.6)?, |x| x.norm()))
}

fn sphere(h: f64) -> Result<Example<3>, Failure> {
    // The edges of the icosahedron are about as long as its radius.
    let mesh = icosphere(Vector::zeros(), 0.6, (0.6 / h).ceil() as usize)?;
    Ok((mesh, Shape::ball(0.6)?, |x| x.norm()))
}

fn torus(h: f64) -> Result<Example<3>, Failure> {
    let around = (TAU * 0.8 / h).ceil() as usize;
    let tube = (TAU * 0.25 / h).ceil() as usize;
    let mesh = torus_surface(Vector::zeros(), 0.55, 0.25, around, tube)?;
    let kinks = |x: &Vector<3>| {
        let r = x[0].hypot(x[1]);
        r.min((r - 0.55).hypot(x[2]))
    };
    Ok((mesh, Shape::torus(0.55, 0.25)?, kinks))
}

#[allow(clippy::type_complexity)]
fn meshes<const D: usize>(
    measurements: &mut Measurements,
    name: &str,
    cells: &[usize],
    example: fn(f64) -> Result<Example<D>, Failure>,
) -> Result<Vec<(String, Vec<[f64; 2]>, f64)>, Failure>
where
    Dim<D>: Space<D>,
    Corners<D>: Element<D>,
{
    let (mut mean, mut largest) = (Vec::new(), Vec::new());
    let mut wrong_signs = 0.0;
    for &n in cells {
        let h = 2.0 / n as f64;
        let (mesh, shape, from_kinks) = example(h)?;
        let grid = Grid::new(Vector::repeat(-1.0), Vector::repeat(h), [n; D])?;
        let level_set = LevelSet::from_surface(&grid, Location::Cell, &mesh, &SurfaceDistance::default())?;
        let lattice = *level_set.field().lattice();
        let [sum, worst, count, wrong] = level_set.field().reduce(
            [0.0; 4],
            |index, value| {
                let x = lattice.position(index);
                let exact = shape.signed_distance(&x);
                // A sample between the mesh and the smooth surface may lie on either side.
                let wrong = f64::from((value <= 0.0) != (exact <= 0.0) && exact.abs() > 0.5 * h * h);
                let error = (value - exact).abs();
                let in_band = if exact.abs() < 2.5 * h { error } else { 0.0 };
                if from_kinks(&x) < 0.12 { [0.0, in_band, 0.0, wrong] } else { [error, in_band, 1.0, wrong] }
            },
            |a, b| [a[0] + b[0], a[1].max(b[1]), a[2] + b[2], a[3] + b[3]],
        );
        mean.push([h, sum / count]);
        largest.push([h, worst]);
        wrong_signs += wrong;
    }
    let finest = format!("{}^{D}", cells[cells.len() - 1]);
    // Second order; the mean feels the kinks on the coarsest grid a little.
    let row = |norm: &str| format!("{name}: order of the {norm}");
    measurements.at_least(&row("mean error"), &finest, convergence::order(&mean), 1.8, SOURCE);
    let in_band = row("largest error in the exact band");
    measurements.at_least(&in_band, &finest, convergence::order(&largest), 1.8, SOURCE);
    measurements.at_most(&format!("{name}: samples with the wrong sign"), "all", wrong_signs, 0.0, SOURCE);
    Ok(vec![(format!("{name}, mean"), mean, 2.0), (format!("{name}, largest"), largest, 2.0)])
}

fn interpolation(measurements: &mut Measurements) -> Result<(), Failure> {
    let shape = Shape::<3>::torus(0.55, 0.25)?;
    for (name, kind, expected, tolerance) in
        [("linear", Interpolation::Linear, 2.0, 0.2), ("cubic", Interpolation::Cubic, 4.0, 0.4)]
    {
        let mut errors = Vec::new();
        for n in [32, 64, 128] {
            let h = 2.0 / n as f64;
            let grid = Grid::new(Vector::repeat(-1.0), Vector::repeat(h), [n; 3])?;
            let level_set = LevelSet::from_shape(&grid, Location::Node, &shape)?;
            // Points of a low-discrepancy sequence on the torus: mean error of a function that is zero there.
            let count = 4000;
            let sum: f64 = (0..count)
                .map(|k| {
                    let around = TAU * (k as f64 * 0.754_877_666_246_693).fract();
                    let tube = TAU * (k as f64 * 0.569_840_290_998_053).fract();
                    let r = 0.55 + 0.25 * tube.cos();
                    let x = Vector::from([r * around.cos(), r * around.sin(), 0.25 * tube.sin()]);
                    level_set.value_by(&x, kind).abs()
                })
                .sum();
            errors.push([h, sum / count as f64]);
        }
        let order = convergence::order(&errors);
        let quantity = format!("{name} interpolation: order on the torus surface");
        measurements.near(&quantity, "128^3", order, expected, tolerance, SOURCE);
    }
    Ok(())
}
