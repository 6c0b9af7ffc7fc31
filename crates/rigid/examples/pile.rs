//! Time of a step of the scene PILE: `cargo run --release -p splashdown-rigid --example pile -- 10 10 10 box 60`.

use splashdown_math::{Dim, Frame, Space, Vector};
use splashdown_rigid::{
    Body, BodyState, ContactMemory, ContactOptions, ContactSolver, ContactStage, EnergyFix, Geometry, Kind,
    Material, Motion, OrientationOrder,
};
use std::sync::Arc;
use std::time::Instant;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |k: usize, default: usize| words.get(k).and_then(|w| w.parse().ok()).unwrap_or(default);
    let [nx, ny, nz] = [number(0, 10), number(1, 10), number(2, 10)];
    let spheres = words.get(3).is_some_and(|w| w == "sphere");
    let rate = number(4, 60) as f64;
    let iterations = number(5, 20);
    let seconds = 5.0;
    let geometry = if spheres { Geometry::sphere(0.1) } else { Geometry::cuboid(Vector::<3>::repeat(0.1)) };
    let Ok(geometry) = geometry.map(Arc::new) else { return };
    let material = Material::new(0.0, 0.5);
    let (mut bodies, mut frames) = (Vec::new(), Vec::new());
    let mut wall = |normal: [f64; 3], position: [f64; 3]| {
        let Ok(plane) = Geometry::half_space(Vector::from(normal)) else { return };
        bodies.extend(
            Body::with_geometry("wall", Kind::Static, 1.0, Arc::new(plane)).map(|b| b.material(material)),
        );
        frames.push(Frame::<3> { position: Vector::from(position), rotation: Dim::<3>::identity() });
    };
    let (x, z) = (0.21 * nx as f64 + 0.5, 0.21 * nz as f64 + 0.5);
    wall([0.0, 1.0, 0.0], [0.0; 3]);
    wall([1.0, 0.0, 0.0], [-0.6, 0.0, 0.0]);
    wall([-1.0, 0.0, 0.0], [x, 0.0, 0.0]);
    wall([0.0, 0.0, 1.0], [0.0, 0.0, -0.6]);
    wall([0.0, 0.0, -1.0], [0.0, 0.0, z]);
    for i in 0..nx * ny * nz {
        let (ix, iy, iz) = (i % nx, i / nx % ny, i / (nx * ny));
        let shift = if iy % 2 == 1 { [0.05, 0.03] } else { [0.0, 0.0] };
        let mass = 1000.0 * geometry.properties().map_or(1.0, |p| p.volume);
        bodies.extend(
            Body::with_geometry("b", Kind::Dynamic, mass, geometry.clone()).map(|b| b.material(material)),
        );
        let position = [0.21 * ix as f64 + shift[0], 0.105 + 0.21 * iy as f64, 0.21 * iz as f64 + shift[1]];
        frames.push(Frame { position: Vector::from(position), rotation: Dim::<3>::identity() });
    }
    let mut motions = vec![Motion::<3>::zero(); bodies.len()];
    let mut options = ContactOptions { iterations, ..ContactOptions::default() };
    if std::env::var("FEW").is_ok() {
        options.updates = 0;
    }
    if let Some(coarse) = std::env::var("COARSE").ok().and_then(|word| word.parse().ok()) {
        options.coarse_tolerance = coarse;
    }
    if std::env::var("NOSHOCK").is_ok() {
        options.shock_propagation = false;
    }
    if std::env::var("NOPUSH").is_ok() {
        options.push_out = splashdown_rigid::PushOut::Off;
    }
    if let Some(slop) = std::env::var("SLOP").ok().and_then(|word| word.parse().ok()) {
        options.allowed_overlap = slop;
    }
    let mut memory = ContactMemory::default();
    let mut solver = ContactSolver::default();
    let dt = 1.0 / rate;
    let mut parts = [0.0; 5];
    let steps = (seconds * rate) as usize;
    // A line each so many steps.
    let every: usize = std::env::var("TRACE").ok().and_then(|word| word.parse().ok()).unwrap_or(0);
    for step in 0..steps {
        let stage = ContactStage {
            bodies: &bodies,
            dt,
            options: &options,
            order: OrientationOrder::Second,
            fix: EnergyFix::Always,
            linked: &[],
            asleep: &[],
            siblings: &[],
            soft_friction: &[],
            probes: &[],
            articulated: None,
        };
        let push = |motions: &mut [Motion<3>], time: f64| {
            for (body, motion) in bodies.iter().zip(motions) {
                if body.is_dynamic() {
                    motion.velocity.y -= 9.81 * time;
                }
            }
        };
        let before: Vec<BodyState<3>> = frames
            .iter()
            .zip(&motions)
            .map(|(frame, motion)| BodyState {
                frame: *frame,
                velocity: motion.velocity,
                angular_momentum: motion.angular_momentum,
            })
            .collect();
        let mut half = motions.clone();
        push(&mut half, 0.5 * dt);
        let mut clock = Instant::now();
        let mut lap = |part: &mut f64| {
            *part += clock.elapsed().as_secs_f64();
            clock = Instant::now();
        };
        solver.collide(&stage, &frames, &mut motions, &half);
        lap(&mut parts[0]);
        solver.contact_half(&stage, &frames, &motions, &mut half, &memory);
        lap(&mut parts[1]);
        let mut moved: Vec<Frame<3>> =
            (0..half.len()).map(|i| stage.evolve(i, &frames[i], &half[i])).collect();
        lap(&mut parts[2]);
        solver.push_out(&stage, &mut moved);
        lap(&mut parts[3]);
        solver.turn_momenta(&stage, &frames, &moved, &mut motions);
        push(&mut motions, dt);
        solver.contact_full(&stage, &moved, &mut motions, &mut memory);
        solver.limit_energy(&stage, &Vector::from([0.0, -9.81, 0.0]), &before, &moved, &mut motions, &[]);
        lap(&mut parts[4]);
        frames = moved;
        if every > 0 && step % every == 0 {
            let energy: f64 = bodies
                .iter()
                .zip(&frames)
                .zip(&motions)
                .filter(|((b, _), _)| b.is_dynamic())
                .map(|((b, f), m)| {
                    let t = m.twist(b, f);
                    0.5 * b.mass * m.velocity.norm_squared()
                        + 0.5 * m.angular_momentum.dot(&t.angular)
                        + b.mass * 9.81 * f.position.y
                })
                .sum();
            let r = solver.report();
            let fastest = motions.iter().map(|m| m.velocity.norm()).fold(0.0, f64::max);
            let which = (0..motions.len())
                .max_by(|&i, &j| motions[i].velocity.norm().total_cmp(&motions[j].velocity.norm()));
            let place = which.map_or(Vector::zeros(), |i| frames[i].position);
            let square: f64 = motions.iter().map(|m| m.velocity.norm_squared()).sum();
            println!(
                "{step} fastest {fastest:.1e} at {:.2} {:.2} {:.2} rms {:.1e} energy {energy:.4} touching {} contacts {} its {} residual {:.1e} overlap {:.2e} {:.2e} levels {}",
                place.x,
                place.y,
                place.z,
                (square / bodies.len() as f64).sqrt(),
                r.touching,
                r.contacts,
                r.iterations,
                r.residual,
                r.overlap_before,
                r.overlap_after,
                r.levels
            );
        }
        if (step + 1) % (steps / 5) == 0 {
            let top = frames.iter().skip(5).map(|f| f.position.y).fold(0.0, f64::max);
            if std::env::var("LAYERS").is_ok() && !spheres {
                for layer in 0..ny {
                    let exact = 0.1 + 0.2 * layer as f64;
                    let of_layer = (0..nx * ny * nz).filter(|i| i / nx % ny == layer);
                    let heights = of_layer.map(|i| 1e3 * (frames[5 + i].position.y - exact));
                    let (low, high) =
                        heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), h| (a.min(h), b.max(h)));
                    print!("{low:.3}..{high:.3} ");
                }
                println!();
            }
            let speed = motions.iter().map(|m| m.velocity.norm()).fold(0.0, f64::max);
            let ms = parts.map(|p| 1e3 * p / (step + 1) as f64);
            println!(
                "t {:.1} top {top:.6} speed {speed:.2e} {:?}\n   ms: collide {:.2} half {:.2} evolve {:.2} push-out {:.2} full {:.2} total {:.2}",
                (step + 1) as f64 * dt,
                solver.report(),
                ms[0],
                ms[1],
                ms[2],
                ms[3],
                ms[4],
                ms.iter().sum::<f64>()
            );
        }
    }
}
