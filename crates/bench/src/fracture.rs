//! Fracture: how long it takes to cut a body into pieces, at the sizes of the source's examples, on one thread.
//!
//! The source (000 section 2.6, one 3.00 GHz Xeon core) gives frames a second of whole scenes: 15 for walls of 150x10x100 samples, 22 for a cylinder of 55x105x55 in 25 pieces, 4
//! for a bunny of 70x60x45 in 35 pieces. A tenth of its time a frame, break included, is the mark for the break itself.

use crate::{BenchError, BenchOptions, BenchRow, Benchmark, Mark};
use splashdown_geometry::Aabb;
use splashdown_geometry::grid::Field;
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Frame, Twist, Vector};
use splashdown_rigid::fracture::{
    BreakRule, Breakable, CutOptions, Hit, Pattern, PatternKind, PatternSpec, Placement, cut, shatter,
    voxelize,
};
use splashdown_rigid::{Body, BodyState, Geometry, Kind};
use std::sync::Arc;
use std::time::Instant;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "fracture",
    summary: "time to break a wall, a cylinder and a body like a bunny into pieces, on one thread",
    run,
};

fn run(options: &BenchOptions) -> Result<Vec<BenchRow>, BenchError> {
    let failed = |error: &dyn std::fmt::Display| BenchError::failed("breaking", error);
    let shapes = || -> Result<_, splashdown_geometry::shapes::ShapeError> {
        let wall = Shape::<3>::cuboid(Vector::from([0.75, 0.05, 0.5]))?;
        let cylinder = Shape::cylinder(0.275, 0.525)?;
        let head = Shape::ball(0.13)?.translated(Vector::from([0.28, 0.18, 0.0]))?;
        let bunny = Shape::ellipsoid(Vector::from([0.3, 0.22, 0.2]))?.smooth_union(head, 0.1)?;
        Ok([
            ("wall 150x10x100", wall, 150, 25, 15.0),
            ("cylinder 55x105x55", cylinder, 105, 25, 22.0),
            ("bunny 70x60x45", bunny, 70, 35, 4.0),
        ])
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(|error| failed(&error))?;
    let rounds = if options.quick { 1 } else { 5 * options.repeats };
    let mut rows = Vec::new();
    for (name, shape, cells, pieces, source_rate) in shapes().map_err(|error| failed(&error))? {
        let geometry = Arc::new(Geometry::shape(shape, cells).map_err(|error| failed(&error))?);
        let (phi, _) = voxelize(&geometry, cells as u32).map_err(|error| failed(&error))?;
        let at = geometry
            .particles()
            .iter()
            .copied()
            .fold(Vector::zeros(), |best: Vector<3>, x| if x[1] > best[1] { x } else { best });
        let up = Vector::from([0.0, 1.0, 0.0]);
        // The aligned path takes a pattern on a grid that spans twice the body.
        let extent = geometry.bounds().extent() / geometry.bounds().extent().max();
        let twice = Aabb { min: -extent, max: extent };
        let sampled = Pattern::radial(8 * pieces, 3)
            .and_then(|pattern| pattern.within(twice)?.sampled(2 * cells))
            .map_err(|error| failed(&error))?;
        let aligned =
            Placement::aligned(&sampled, at, phi.lattice()).ok_or_else(|| failed(&"not aligned"))?;
        let general =
            Placement::general(&sampled, at, &Vector::from([0.3, 0.9, 0.2]), 0.5, &phi.lattice().hull());
        let time = |work: &mut (dyn FnMut() -> Result<usize, BenchError> + Send)| -> Result<(f64, usize), BenchError> {
            let (mut best, mut count) = (f64::INFINITY, 0);
            for _ in 0..rounds {
                let start = Instant::now();
                count = pool.install(&mut *work)?;
                best = best.min(start.elapsed().as_secs_f64());
            }
            Ok((1e3 * best, count))
        };
        let particles = geometry.particles();
        let cutting = |pattern: &Pattern<3>, placement: &Placement<3>, phi: &Field<3>| {
            cut(phi, particles, pattern, placement, &CutOptions::default())
                .map(|pieces| pieces.len())
                .map_err(|error| BenchError::failed("cutting", error))
        };
        let row = |quantity: &str, (value, count): (f64, usize)| {
            BenchRow::new("fracture", quantity, value, "ms", 1, format!("{name}, {count} pieces"))
        };
        let found = time(&mut || cutting(&sampled, &aligned, &phi))?;
        // The specification's own mark, for 150 000 cells.
        let mark = (name.starts_with("wall")).then_some(Mark::AtMost(5.0));
        rows.push(row("cut, aligned pattern", found).with_mark_if(mark));
        rows.push(row(
            "cut, turned and interpolated pattern",
            time(&mut || cutting(&sampled, &general, &phi))?,
        ));

        let spec = PatternSpec { kind: PatternKind::Radial, pieces: pieces as u32, seed: 5 };
        let rule = BreakRule { cells: cells as u32, ..BreakRule::made(spec) };
        let body = Body::with_geometry("body", Kind::Dynamic, 100.0, geometry.clone())
            .map_err(|error| failed(&error))?;
        let body = body.breakable(Breakable::new(1.0, Arc::new(rule)));
        let state = BodyState::new(&body, Frame::identity(), &Twist::zero());
        let hit = Hit { point: at, normal: up, impulse: 1.0 };
        let found = time(&mut || {
            let fragments =
                shatter(&body, &state, &hit).map_err(|error| BenchError::failed("breaking", error))?;
            Ok(fragments.map_or(0, |fragments| fragments.len()))
        })?;
        let mark = Mark::AtMost(0.1 * 1e3 / source_rate);
        rows.push(row("whole break: samples, pattern, cut, bodies", found).with_mark(mark));
    }
    Ok(rows)
}
