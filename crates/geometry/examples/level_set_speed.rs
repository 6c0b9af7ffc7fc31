//! Times the algorithms on level sets: `cargo run --release -p splashdown-geometry --example level_set_speed [cells]`.

use splashdown_geometry::generate::icosphere;
use splashdown_geometry::grid::{Field, Grid, Location};
use splashdown_geometry::iso_surface::{Crossing, Extraction, extract};
use splashdown_geometry::level_set::{
    FastMarching, InterfaceDistance, LevelSet, MarchingOrder, SurfaceDistance, redistance,
};
use splashdown_math::Vector;
use std::time::Instant;

/// Shortest of three runs (s).
fn fastest<T>(mut run: impl FnMut() -> T) -> (f64, T) {
    let mut once = || {
        let start = Instant::now();
        let result = run();
        (start.elapsed().as_secs_f64(), result)
    };
    let first = once();
    (0..2).fold(first, |best, _| {
        let next = once();
        if next.0 < best.0 { next } else { best }
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let n = std::env::args().nth(1).map_or(Ok(128), |n| n.parse())?;
    let grid = Grid::<3>::new(Vector::repeat(-1.0), Vector::repeat(2.0 / n as f64), [n; 3])?;
    let million = grid.cell_count() as f64 * 1e-6;
    println!("{n}^3 cells, {} threads", rayon::current_num_threads());

    let mesh = icosphere(Vector::zeros(), 0.7, 71)?;
    for (name, exact_band) in [("band of 3 cells", 3.0), ("exact everywhere", f64::INFINITY)] {
        let options = SurfaceDistance { exact_band, ..Default::default() };
        let (seconds, result) = fastest(|| LevelSet::from_surface(&grid, Location::Cell, &mesh, &options));
        println!(
            "distance of {} triangles, {name}: {seconds:.2} s, volume {:.5}",
            mesh.elements.len(),
            result?.volume()
        );
    }

    let bent =
        Field::from_fn(&grid, Location::Cell, |x| (x.norm_squared() - 0.25) * (x[0] - 0.5 * x[1]).exp());
    for (order, interface) in [
        (MarchingOrder::First, InterfaceDistance::Linear),
        (MarchingOrder::Second, InterfaceDistance::Linear),
        (MarchingOrder::Second, InterfaceDistance::Cubic),
    ] {
        let options = FastMarching { order, interface, ..Default::default() };
        let (seconds, marched) = fastest(|| redistance(&mut bent.clone(), &options));
        marched?;
        println!(
            "fast marching {order:?}, {interface:?}: {seconds:.2} s, {:.2} M cells/s",
            million / seconds
        );
    }
    for crossing in [Crossing::Linear, Crossing::NodalCubic] {
        let options = Extraction { crossing, ..Default::default() };
        let (seconds, surface) = fastest(|| extract(&bent, &options));
        println!("iso-surface {crossing:?}: {seconds:.3} s, {} triangles", surface?.mesh.elements.len());
    }
    Ok(())
}
