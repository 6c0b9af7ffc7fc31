//! Deformable solids: force evaluation with decomposition, memory, explicit and implicit steps and their growth with size, the clamped beam and the cloth of the marks.

use crate::{BenchError, BenchOptions, BenchRow, Benchmark, CpuClock, Mark, Peer};
use rayon::prelude::*;
use splashdown_couple::step_alone;
use splashdown_deformable::contact::{
    BarrierOptions, ContactSurface, SelfContact, SelfContactOptions, intersections,
};
use splashdown_deformable::element::{Damping, DampingKind, Material};
use splashdown_deformable::integrate::{ImplicitScheme, Integrator, Motion, Scheme};
use splashdown_deformable::material::{Lame, Law, Model};
use splashdown_deformable::{Bending, BendingModel, Elements, Force, Solid};
use splashdown_geometry::generate::{CubeSplit, Diagonals, box_tetrahedra, sheet};
use splashdown_geometry::mesh::TetrahedronMesh;
use splashdown_math::Vector;
use std::time::Instant;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "deformable",
    summary: "finite elements: forces a second, memory, explicit and implicit steps, the clamped beam, cloth with self-contact",
    run,
};

fn failed<E: std::fmt::Display>(doing: &'static str) -> impl Fn(E) -> BenchError {
    move |error| BenchError::failed(doing, error)
}

fn material(
    model: Model,
    young: f64,
    poisson: f64,
    density: f64,
    damping: f64,
) -> Result<Material, BenchError> {
    Ok(Material {
        law: Law::safe(model),
        lame: Lame::new(young, poisson).map_err(failed("making the material"))?,
        density,
        damping: Damping { kind: DampingKind::Blend, time: damping },
    })
}

fn cube(cells: usize) -> Result<TetrahedronMesh, BenchError> {
    box_tetrahedra(Vector::zeros(), Vector::repeat(1.0), [cells; 3], CubeSplit::Five)
        .map_err(failed("meshing"))
}

fn solid(mesh: &TetrahedronMesh, material: Material, gravity: f64) -> Result<Solid<3>, BenchError> {
    let elements = Elements::tetrahedra(mesh, 0, material).map_err(failed("making elements"))?;
    let mut mass = vec![0.0; mesh.points.len()];
    elements.add_masses(&mut mass);
    let mut solid = Solid::new(mass, vec![false; mesh.points.len()], Vector::<3>::new(0.0, -gravity, 0.0));
    solid.add(elements);
    Ok(solid)
}

fn run(options: &BenchOptions) -> Result<Vec<BenchRow>, BenchError> {
    let mut rows = Vec::new();
    forces(options, &mut rows)?;
    steps(options, &mut rows)?;
    beam(options, &mut rows)?;
    cloth(options, &mut rows)?;
    Ok(rows)
}

fn row(quantity: &str, value: f64, unit: &'static str, threads: usize, size: &str) -> BenchRow {
    BenchRow::new("deformable", quantity, value, unit, threads, size)
}

/// Decomposition and elastic force of every element.
pub(crate) fn forces(options: &BenchOptions, rows: &mut Vec<BenchRow>) -> Result<(), BenchError> {
    let cells = if options.quick { 8 } else { 36 };
    let mesh = cube(cells)?;
    let count = mesh.elements.len();
    let size = format!("{count} tetrahedra");
    let mut state = 1u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let shake = 0.2 / cells as f64;
    let x: Vec<f64> =
        mesh.points.iter().flat_map(|x| [x[0], x[1], x[2]]).map(|x| x + shake * noise()).collect();
    for (name, model) in
        [("rotated linear", Model::RotatedLinear), ("fixed corotated", Model::FixedCorotated)]
    {
        let elements = Elements::tetrahedra(&mesh, 0, material(model, 1e5, 0.3, 1000.0, 0.01)?)
            .map_err(failed("elements"))?;
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .map_err(failed("starting threads"))?;
            let mut elements = elements.clone();
            let bandwidth = pool.install(bandwidth);
            let best = pool.install(|| {
                let mut force = vec![0.0; x.len()];
                let mut best = f64::INFINITY;
                for _ in 0..(if options.quick { 2 } else { 10 * options.repeats }) {
                    let start = Instant::now();
                    elements.update(&x).map_err(failed("updating"))?;
                    force.fill(0.0);
                    elements.add_elastic(&mut force);
                    best = best.min(start.elapsed().as_secs_f64());
                }
                Ok::<f64, BenchError>(best)
            })?;
            let mark = (threads == 2 && !options.quick).then_some(Mark::AtLeast(6.0));
            let quantity = format!("force with decomposition, {name}");
            rows.push(
                row(&quantity, count as f64 / best * 1e-6, "million/s", threads, &size).with_mark_if(mark),
            );
            // All that elements keep goes by once for the decompositions and once for the forces.
            let bound = 2.0 * elements.bytes() as f64 / bandwidth;
            let quantity = format!("its part of what memory bandwidth allows, {name}");
            rows.push(row(&quantity, bound / best, "of 1", threads, &size));
        }
        rows.push(
            row(&format!("memory, {name}"), elements.bytes() as f64 / count as f64, "bytes/tet", 1, &size)
                .with_mark_if((!options.quick).then_some(Mark::AtMost(400.0))),
        );
    }
    Ok(())
}

/// Bytes a second that the threads of the present pool move: the best of some sums of two arrays into a third, far larger than the caches.
fn bandwidth() -> f64 {
    const COUNT: usize = 1 << 23;
    let (a, b) = (vec![1.0f64; COUNT], vec![2.0f64; COUNT]);
    let mut c = vec![0.0f64; COUNT];
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        let parts = c.par_chunks_mut(1 << 16).zip(a.par_chunks(1 << 16)).zip(b.par_chunks(1 << 16));
        parts.for_each(|((c, a), b)| c.iter_mut().zip(a).zip(b).for_each(|((c, a), b)| *c = a + 3.0 * b));
        best = best.min(start.elapsed().as_secs_f64());
    }
    std::hint::black_box(&c);
    (3 * COUNT * size_of::<f64>()) as f64 / best
}

/// One explicit and one implicit step of a soft cube.
pub(crate) fn steps(options: &BenchOptions, rows: &mut Vec<BenchRow>) -> Result<(), BenchError> {
    let sizes: &[usize] = if options.quick { &[6] } else { &[13, 27, 43] };
    let (mut per_tet, mut explicit_per_tet) = (Vec::new(), Vec::new());
    for &cells in sizes {
        let mesh = cube(cells)?;
        let count = mesh.elements.len();
        let size = format!("{count} tetrahedra");
        let mut own = solid(&mesh, material(Model::FixedCorotated, 1e6, 0.3, 1000.0, 0.001)?, 9.81)?;
        for (node, x) in mesh.points.iter().enumerate() {
            own.set_pinned(node, x[1] < 1e-9);
        }
        let mut motion = Motion::at_rest(&mesh.points);
        let mut explicit = Integrator::new(Scheme::B);
        explicit.tolerance = 1e-3;
        let dt = 0.5 * own.stable_step();
        step_alone(&mut own, &mut explicit, &mut motion, dt).map_err(failed("the explicit step"))?;
        let clock = CpuClock::start();
        let report =
            step_alone(&mut own, &mut explicit, &mut motion, dt).map_err(failed("the explicit step"))?;
        let seconds = clock.seconds();
        explicit_per_tet.push(seconds / count as f64);
        rows.push(row("explicit step (scheme B), CPU", seconds * 1e3, "ms", options.threads, &size));
        rows.push(row(
            "explicit step: iterations",
            report.linear_iterations as f64,
            "iterations",
            options.threads,
            &size,
        ));
        let mut motion = Motion::at_rest(&mesh.points);
        let mut implicit = Integrator::new(Scheme::Implicit(ImplicitScheme::BackwardEuler));
        implicit.implicit.tolerance = 1e-3;
        step_alone(&mut own, &mut implicit, &mut motion, 1.0 / 60.0).map_err(failed("the implicit step"))?;
        let clock = CpuClock::start();
        let report = step_alone(&mut own, &mut implicit, &mut motion, 1.0 / 60.0)
            .map_err(failed("the implicit step"))?;
        let seconds = clock.seconds();
        per_tet.push(seconds / count as f64);
        rows.push(row("backward Euler step of 1/60 s, CPU", seconds * 1e3, "ms", options.threads, &size));
        rows.push(row(
            "backward Euler: Newton iterations",
            report.newton_iterations as f64,
            "iterations",
            options.threads,
            &size,
        ));
        rows.push(row(
            "backward Euler: linear iterations",
            report.linear_iterations as f64,
            "iterations",
            options.threads,
            &size,
        ));
    }
    for (name, times) in [("explicit step", explicit_per_tet), ("backward Euler", per_tet)] {
        if let [first, .., last] = times[..] {
            let quantity = format!("{name}: growth of the CPU time per tet");
            rows.push(
                row(&quantity, last / first, "ratio", options.threads, "11k to 398k tetrahedra")
                    .with_mark(Mark::AtMost(1.3)),
            );
        }
    }
    Ok(())
}

/// Clamped beam 1 x 0.2 x 0.2 m of 1600 tetrahedra, let go: time a frame and error of the first peak.
pub(crate) fn beam(options: &BenchOptions, rows: &mut Vec<BenchRow>) -> Result<(), BenchError> {
    let mesh = box_tetrahedra(Vector::zeros(), Vector::<3>::new(1.0, 0.2, 0.2), [20, 4, 4], CubeSplit::Five)
        .map_err(failed("meshing"))?;
    let own = material(Model::RotatedLinear, 1e6, 0.4, 1000.0, 0.0)?;
    let tip =
        mesh.points.iter().position(|x| (x - Vector::<3>::new(1.0, 0.0, 0.0)).norm() < 1e-9).unwrap_or(0);
    let peak = |scheme: Scheme, dt: f64, end: f64| -> Result<(f64, f64, f64), BenchError> {
        let mut solid = solid(&mesh, own, 9.81)?;
        for (node, x) in mesh.points.iter().enumerate() {
            solid.set_pinned(node, x[0] < 1e-9);
        }
        let mut integrator = Integrator::new(scheme);
        integrator.implicit.tolerance = 1e-3;
        let mut motion = Motion::at_rest(&mesh.points);
        let mut lowest = 0.0f64;
        let steps = (end / dt).round() as usize;
        let clock = CpuClock::start();
        let wall = Instant::now();
        for _ in 0..steps {
            step_alone(&mut solid, &mut integrator, &mut motion, dt).map_err(failed("stepping the beam"))?;
            lowest = lowest.min(motion.point::<3>(tip)[1]);
        }
        let cpu = clock.seconds();
        Ok((-lowest, cpu / steps as f64, wall.elapsed().as_secs_f64() / steps as f64))
    };
    let end = if options.quick { 0.1 } else { 0.8 };
    let scheme = Scheme::Implicit(ImplicitScheme::AverageAcceleration);
    let (found, cpu, wall) = peak(scheme, 1.0 / 60.0, end)?;
    let size = "1600 tetrahedra, dt = 1/60 s";
    let note = Peer { name: "Rapier implicit FEM", value: 8.2, source: "targets, same kind of machine" };
    let mark = |mark: Mark| (!options.quick).then_some(mark);
    rows.push(
        row("clamped beam: time a frame (CPU)", cpu * 1e3, "ms", options.threads, size)
            .with_mark_if(mark(Mark::AtMost(8.0)))
            .with_peers(&[note]),
    );
    rows.push(row("clamped beam: time a frame", wall * 1e3, "ms", options.threads, size));
    if !options.quick {
        let step = 1.0 / (60.0 * (1.0 / 60.0 / 4e-4f64).ceil());
        let (exact, _, _) = peak(Scheme::A, step, end)?;
        rows.push(
            row("clamped beam: error of the peak", 100.0 * (found - exact).abs() / exact, "%", 1, size)
                .with_mark(Mark::AtMost(1.0)),
        );
    }
    Ok(())
}

/// Cloth with everything that moves it.
pub(crate) struct Cloth {
    pub(crate) solid: Solid<3>,
    pub(crate) motion: Motion,
    pub(crate) surface: ContactSurface<3>,
    pub(crate) integrator: Integrator<3>,
}

/// A square metre of cloth of `2 cells^2` triangles that stands on its edge over a floor, with the intersection-free barrier.
pub(crate) fn standing_cloth(cells: usize) -> Result<Cloth, BenchError> {
    use splashdown_deformable::collide::Obstacle;
    let mesh = sheet(
        Vector::<3>::new(-0.5, 0.02, 0.0),
        Vector::<3>::new(1.0, 0.0, 0.02),
        Vector::<3>::new(0.02, 1.0, 0.03),
        [cells; 2],
        Diagonals::Alternating,
    )
    .map_err(failed("meshing"))?;
    let own = Material {
        law: Law::safe(Model::RotatedLinear),
        lame: Lame::plane_stress(1e5, 0.3).map_err(failed("material"))?,
        density: 300.0,
        damping: Damping { kind: DampingKind::Blend, time: 0.002 },
    };
    let elements = Elements::membrane(&mesh, 0, 1e-3, own).map_err(failed("elements"))?;
    let mut mass = vec![0.0; mesh.points.len()];
    elements.add_masses(&mut mass);
    let mut solid = Solid::new(mass, vec![false; mesh.points.len()], Vector::<3>::new(0.0, -9.81, 0.0));
    solid.add(elements);
    solid.add(Bending::new(&mesh, 0, BendingModel::DiscreteShells, 1e-6, 1e-8));
    let rest: Vec<f64> = mesh.points.iter().flat_map(|x| [x[0], x[1], x[2]]).collect();
    let surface = ContactSurface::new(mesh.elements.clone());
    let reach = 1.5e-3;
    let barrier = BarrierOptions { reach, friction: 0.2, ..BarrierOptions::default() };
    let contact = SelfContactOptions { thickness: reach, ..SelfContactOptions::default() };
    let mut integrator = Integrator::new(Scheme::Implicit(ImplicitScheme::BackwardEuler));
    integrator.self_contact = Some(SelfContact::new(surface.clone(), &rest, contact).with_barrier(barrier));
    // Newton steps below a sixtieth of an edge are not taken, nor more than ten: every accepted state is free of intersections, converged or not.
    integrator.implicit.tolerance = 1e-2;
    integrator.implicit.resolution = 1.0 / (60.0 * cells as f64);
    integrator.implicit.linear_tolerance = 0.1;
    integrator.implicit.max_iterations = 10;
    integrator.implicit.strict = false;
    let floor = splashdown_geometry::shapes::Shape::half_space(Vector::<3>::new(0.0, 1.0, 0.0), 0.0)
        .map_err(failed("the floor"))?;
    integrator.obstacles.push(Obstacle::fixed("floor", floor, splashdown_math::Frame::identity(), 0.3));
    Ok(Cloth { solid, motion: Motion::at_rest(&mesh.points), surface, integrator })
}

/// 8192 triangles that fall in folds on the floor, and 80 000 at the start of it.
pub(crate) fn cloth(options: &BenchOptions, rows: &mut Vec<BenchRow>) -> Result<(), BenchError> {
    if options.quick {
        return folds(12, 3, None, options, rows);
    }
    folds(64, 45, Some(0.7), options, rows)?;
    folds(200, 20, None, options, rows)
}

fn folds(
    cells: usize,
    frames: u32,
    mark: Option<f64>,
    options: &BenchOptions,
    rows: &mut Vec<BenchRow>,
) -> Result<(), BenchError> {
    let Cloth { mut solid, mut motion, surface, mut integrator } = standing_cloth(cells)?;
    let (mut crossing, mut newton, mut linear) = (0, 0, 0);
    let (mut cpu, mut wall, mut slowest) = (0.0, 0.0, 0.0f64);
    for _ in 0..frames {
        let (clock, start) = (CpuClock::start(), Instant::now());
        let report = step_alone(&mut solid, &mut integrator, &mut motion, 1.0 / 60.0)
            .map_err(failed("stepping the cloth"))?;
        let seconds = start.elapsed().as_secs_f64();
        cpu += clock.seconds();
        wall += seconds;
        slowest = slowest.max(seconds);
        newton += report.newton_iterations;
        linear += report.linear_iterations;
        crossing += intersections(&surface, &motion.position);
    }
    let size = format!("{} triangles, {frames} frames", surface.faces().len());
    let count = f64::from(frames);
    let add = |quantity: &str, value: f64, unit: &'static str| {
        row(&format!("cloth in folds: {quantity}"), value, unit, options.threads, &size)
    };
    let time = add("time a frame of 1/60 s", wall / count, "s").with_mark_if(mark.map(Mark::AtMost));
    // The peer's time is of all cores, by the clock on the wall.
    let peer =
        Peer { name: "Newton VBD", value: 2.1, source: "targets, same kind of machine, all cores, wall" };
    rows.push(if mark.is_some() { time.with_peers(&[peer]) } else { time });
    rows.push(add("CPU time a frame", cpu / count, "s"));
    rows.push(add("time of the slowest frame", slowest, "s"));
    rows.push(add("Newton iterations a frame", newton as f64 / count, "iterations"));
    rows.push(add("linear iterations a frame", linear as f64 / count, "iterations"));
    rows.push(add("intersections", crossing as f64, "count").with_mark(Mark::AtMost(0.0)));
    Ok(())
}
