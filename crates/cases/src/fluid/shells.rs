//! Thin shells: nothing passes them, nothing looks through them (FB-T16 to FB-T18).
//!
//! A closed box without thickness, turned at random, that moves and turns through the fluid; a plane with a different constant on each side; a plate that
//! sweeps through thirty cells with smoke on one side only. What is on the other side must stay exactly as it was.

use super::setup::{Run, domain, failed};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_fluid::advect::{Advection, Scheme};
use splashdown_fluid::shell::{Shell, Sight};
use splashdown_fluid::{FluidModel, Liquid, Motion, Side, SmokeModel};
use splashdown_geometry::generate::loop_segments;
use splashdown_geometry::grid::{Field, Location};
use splashdown_geometry::mesh::Mesh;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};

pub(super) const LEAK: Case = Case {
    name: "fluid/shell-leak",
    spec: "FB-T16",
    summary: "a closed box without thickness full of smoke or water moves and turns: the outside stays exactly clean",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 120.0,
    run: leak,
};

pub(super) const SIGHT: Case = Case {
    name: "fluid/shell-sight",
    spec: "FB-T17",
    summary: "interpolation near a plane reproduces the constant of each side exactly",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 0.3,
    run: sight,
};

pub(super) const SWEEP: Case = Case {
    name: "fluid/shell-sweep",
    spec: "FB-T18",
    summary: "a plate sweeps thirty cells through a tube with smoke on one side: no mixing across",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 6.0,
    run: sweep,
};

const SOURCE: &str = "exact: each side keeps its own values";

/// A square of half edge `half` (m), its sides divided.
fn square(half: f64) -> Result<Mesh<2, 2>, CaseError> {
    let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    let points = (0..4).flat_map(|k| {
        let (a, b) = (Vector::from(corners[k]), Vector::from(corners[(k + 1) % 4]));
        (0..5).map(move |i| (a + (b - a) * (f64::from(i) / 5.0)) * half)
    });
    loop_segments(points.collect()).map_err(failed)
}

/// The surface of a cube of half edge `half` (m).
fn cube(half: f64) -> Mesh<3, 3> {
    let points = (0..8).map(|k| Vector::from([0, 1, 2].map(|a| if k >> a & 1 == 1 { half } else { -half })));
    // Corners of each face in order, then two triangles.
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let elements = faces.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]);
    Mesh { points: points.collect(), elements: elements.collect() }
}

fn leak(measurements: &mut Measurements) -> Result<(), CaseError> {
    for (number, angle) in [0.37, 1.9].into_iter().enumerate() {
        let turn = Vector::from([angle]);
        let twist = Twist { linear: Vector::from([0.03, 0.02]), angular: Vector::from([0.3]) };
        let shell = moving_box(square(0.2)?, &turn, twist);
        let size = format!("48^2, 500 steps, turned by {angle} rad");
        report_smoke(measurements, &size, smoke_box(48, &shell, 500)?);
        if number == 0 {
            let wet = water_box(48, &shell, 500)?;
            measurements.at_most("wet cells outside", &size, wet, 0.0, SOURCE);
        }
    }
    let turn = Vector::from([0.4, -0.9, 0.3]);
    let twist = Twist { linear: Vector::from([0.05, 0.04, 0.03]), angular: Vector::from([0.5, 0.9, -0.7]) };
    let shell = moving_box(cube(0.26), &turn, twist);
    let size = "16^3, 100 steps";
    report_smoke(measurements, size, smoke_box(16, &shell, 100)?);
    measurements.at_most("wet cells outside", size, water_box(16, &shell, 100)?, 0.0, SOURCE);
    Ok(())
}

fn report_smoke(measurements: &mut Measurements, size: &str, [outside, inside]: [f64; 2]) {
    measurements.at_most("smoke outside", size, outside, 1e-12, SOURCE);
    measurements.at_least("smoke left inside / at the start", size, inside, 0.5, SOURCE);
}

/// A box of which `mesh` is the surface, turned by `turn` (rad).
fn moving_box<const D: usize>(
    mesh: Mesh<D, D>,
    turn: &<Dim<D> as Space<D>>::Spin,
    twist: Twist<D>,
) -> Shell<D>
where
    Dim<D>: Space<D>,
{
    let position = Vector::from_fn(|a, _| [0.42, 0.45, 0.47][a]);
    let start = Frame { position, rotation: Dim::<D>::exp(turn) };
    Shell { name: "box".into(), mesh, start, motion: Motion::Steady(twist) }
}

/// Is a point outside of the box at a time?
fn is_outside<const D: usize>(shell: &Shell<D>, time: f64, x: &Vector<D>) -> bool
where
    Dim<D>: Space<D>,
{
    let Motion::Steady(twist) = &shell.motion else { return true };
    let local = shell.start.moved(twist, time).to_object(x);
    local.amax() > shell.mesh.points[0].amax()
}

/// Largest smoke outside over all steps, and the share left inside.
fn smoke_box<const D: usize>(n: usize, shell: &Shell<D>, steps: usize) -> Result<[f64; 2], CaseError>
where
    Dim<D>: Space<D>,
{
    let mut model =
        FluidModel::new(domain([n; D], 1.0 / n as f64, [[Side::slip(); 2]; D])?, Liquid::new("air", 1.0));
    model.smoke = Some(SmokeModel { weight: 0.0, lift: 0.0, ..Default::default() });
    model.options.pressure.divergence = 1e-7;
    model.shells.push(shell.clone());
    let mut run = Run::new(model, |_, state| {
        if let Some(smoke) = &mut state.smoke {
            let lattice = *smoke.density.lattice();
            smoke
                .density
                .update(|cell, _| if is_outside(shell, 0.0, &lattice.position(cell)) { 0.0 } else { 1.0 });
        }
        Ok(())
    })?;
    let start = run.diagnostics().smoke;
    let mut worst: f64 = 0.0;
    for _ in 0..steps {
        run.step(0.01)?;
        let time = run.state.time;
        if let Some(smoke) = &run.state.smoke {
            let lattice = *smoke.density.lattice();
            let outside = |cell, value: f64| {
                if is_outside(shell, time, &lattice.position(cell)) { value.abs() } else { 0.0 }
            };
            worst = worst.max(smoke.density.reduce(0.0, outside, f64::max));
        }
    }
    Ok([worst, run.diagnostics().smoke / start])
}

/// Wet cells outside at any of the steps, the box half full.
fn water_box<const D: usize>(n: usize, shell: &Shell<D>, steps: usize) -> Result<f64, CaseError>
where
    Dim<D>: Space<D>,
{
    let mut model = FluidModel::new(
        domain([n; D], 1.0 / n as f64, [[Side::slip(); 2]; D])?,
        Liquid::new("water", 1000.0),
    );
    model.free_surface = true;
    model.gravity[1] = -1.0;
    model.options.pressure.divergence = 1e-7;
    model.shells.push(shell.clone());
    let mut run = Run::new(model, |model, state| {
        state.set_liquid(model, 0, |x| if is_outside(shell, 0.0, x) { 0.1 } else { x[1] - 0.45 })
    })?;
    let mut wet = 0.0;
    for _ in 0..steps {
        run.step(0.01)?;
        let (time, phi) = (run.state.time, &run.state.liquids[0].phi);
        let lattice = *phi.lattice();
        let outside = |cell, value: f64| {
            f64::from(u8::from(value <= 0.0 && is_outside(shell, time, &lattice.position(cell))))
        };
        wet += phi.reduce(0.0, outside, |a, b| a + b);
    }
    Ok(wet)
}

fn sight(measurements: &mut Measurements) -> Result<(), CaseError> {
    let domain = domain([12; 3], 1.0 / 12.0, [[Side::slip(); 2]; 3])?;
    // A tilted plane of two triangles, larger than the box.
    let at = |y: f64, z: f64| Vector::from([0.48 + 0.11 * y - 0.07 * z, y, z]);
    let mesh = Mesh {
        points: vec![at(-3.0, -3.0), at(4.0, -3.0), at(4.0, 4.0), at(-3.0, 4.0)],
        elements: vec![[0, 1, 2], [0, 2, 3]],
    };
    let velocity = vec![Vector::zeros(); 4];
    let sight = Sight::new(&domain, &mesh, &velocity, 3).map_err(failed)?;
    let left = |x: &Vector<3>| x[0] < at(x[1], x[2])[0];
    let mut field = Field::from_fn(domain.grid(), Location::Cell, |x| if left(x) { 3.25 } else { -7.5 });
    domain.fill_scalar_ghosts(&mut field, 0.0);
    let (mut wrong, mut blind) = (0.0, 0.0);
    let count = 20_000;
    for k in 0..count {
        let x =
            Vector::from([0.819_172_5, 0.671_043_6, 0.549_700_5].map(|g: f64| (g * f64::from(k)).fract()));
        match sight.sample(&field, &x) {
            Some(value) => wrong += f64::from(u8::from(value != if left(&x) { 3.25 } else { -7.5 })),
            None => blind += 1.0,
        }
    }
    measurements.at_most(
        "points with another value than their side's",
        "12^3, 20000 points",
        wrong,
        0.0,
        SOURCE,
    );
    // Only within the thickness of the plane nothing is seen.
    measurements.at_most("share of points that see nothing", "12^3", blind / f64::from(count), 1e-3, SOURCE);
    Ok(())
}

fn sweep(measurements: &mut Measurements) -> Result<(), CaseError> {
    let (n, h) = (60usize, 1.0 / 60.0);
    let domain = domain([n, 12], h, [[Side::open(); 2], [Side::slip(); 2]])?;
    let mut model = FluidModel::new(domain, Liquid::new("air", 1.0));
    model.smoke = Some(SmokeModel { weight: 0.0, lift: 0.0, ..Default::default() });
    model.options.advection = Some(Advection { scheme: Scheme::MacCormack, ..Default::default() });
    let speed = 0.5;
    let start = 0.2037;
    let mesh =
        Mesh { points: vec![Vector::from([0.0, -1.0]), Vector::from([0.0, 2.0])], elements: vec![[0, 1]] };
    model.shells.push(Shell {
        name: "plate".into(),
        mesh,
        start: Frame { position: Vector::from([start, 0.0]), ..Frame::identity() },
        motion: Motion::Steady(Twist { linear: Vector::from([speed, 0.0]), angular: Vector::zeros() }),
    });
    let mut run = Run::new(model, |_, state| {
        if let Some(smoke) = &mut state.smoke {
            let lattice = *smoke.density.lattice();
            smoke.density.update(|cell, _| if lattice.position(cell)[0] > start { 1.0 } else { 0.0 });
        }
        Ok(())
    })?;
    let dt = 0.6 * h / speed;
    for _ in 0..50 {
        run.step(dt)?;
    }
    let plate = start + speed * run.state.time;
    let Some(smoke) = &run.state.smoke else { return Err(CaseError("no smoke".into())) };
    let lattice = *smoke.density.lattice();
    let [behind, ahead] = smoke.density.reduce(
        [0.0; 2],
        |cell, value| {
            if lattice.position(cell)[0] < plate { [value.abs(), 0.0] } else { [0.0, (value - 1.0).abs()] }
        },
        |a, b| [f64::max(a[0], b[0]), f64::max(a[1], b[1])],
    );
    measurements.at_least("cells swept", "60 x 12", (plate - start) / h, 29.9, SOURCE);
    measurements.at_most("smoke behind the plate", "60 x 12", behind, 0.0, SOURCE);
    measurements.at_most("smoke missing ahead of the plate", "60 x 12", ahead, 1e-12, SOURCE);
    Ok(())
}
