//! Two hundred random fluids: sides, obstacles that move, sources, smoke or water, steps up to CFL 10.
//!
//! Nothing may become NaN, nothing may fail, and every step must leave the flow as incompressible as asked.

use super::setup::{Run, domain, failed};
use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use splashdown_fluid::{
    Domain, FluidModel, Liquid, Motion, Obstacle, ParticleOptions, Side, SmokeModel, SolidBoundary, Source,
    SourceKind,
};
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin, Twist, Vector};

pub(super) const CASE: Case = Case {
    name: "fluid/soak",
    spec: "FB-14",
    summary: "200 random domains with obstacles, sources, smoke and water, steps up to CFL 10: no NaN, always incompressible",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 120.0,
    run,
};

const SOURCE: &str = "exact: div u = 0 to the tolerance in every step";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let mut worst: f64 = 0.0;
    let mut steps = 0.0;
    for seed in 0..200 {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let [divergence, count] =
            if seed % 4 == 3 { soak::<3>(&mut random, 10) } else { soak::<2>(&mut random, 24) }
                .map_err(|error| CaseError(format!("seed {seed}: {error}")))?;
        worst = worst.max(divergence);
        steps += count;
    }
    measurements.at_most("largest |div u| dt of any step", "24^2, 10^3", worst, 1e-7, SOURCE);
    measurements.at_least("steps taken", "200 domains", steps, 2000.0, SOURCE);
    Ok(())
}

fn soak<const D: usize>(random: &mut Pcg64Mcg, most: usize) -> Result<[f64; 2], CaseError>
where
    Dim<D>: Space<D>,
{
    let cells: [usize; D] = std::array::from_fn(|_| random.random_range(3..=most));
    let h = 0.05;
    let mut sides = [[Side::slip(); 2]; D];
    for axis in 0..D {
        if random.random_range(0..5) == 0 {
            sides[axis] = [Side::Periodic; 2];
            continue;
        }
        for side in &mut sides[axis] {
            let velocity = Vector::from_fn(|_, _| random.random_range(-0.5..0.5));
            *side = match random.random_range(0..5) {
                0 => Side::NoSlip { velocity: velocity * 0.0 },
                1 => Side::NoSlip { velocity },
                2 => Side::Inflow { velocity },
                3 => Side::Outlet { pressure: random.random_range(-10.0..10.0) },
                _ => Side::slip(),
            };
        }
    }
    let domain: Domain<D> = domain(cells, h, sides)?;
    let extent = domain.grid().bounds().extent();
    let mut model = FluidModel::new(
        domain,
        Liquid { viscosity: [0.0, 0.01, 5.0][random.random_range(0..3)], ..Liquid::new("a", 1.0) },
    );
    model.gravity = Vector::from_fn(|_, _| random.random_range(-10.0..10.0));
    model.options.pressure.divergence = 1e-7;
    model.options.pressure.max_iterations = 2000;
    let place =
        |random: &mut Pcg64Mcg| Vector::<D>::from_fn(|a, _| random.random_range(-0.1..1.1) * extent[a]);
    for number in 0..random.random_range(0..3) {
        let size = Vector::from_fn(|_, _| random.random_range(0.01..0.3));
        let shape = if random.random_range(0..2) == 0 { Shape::ball(size[0]) } else { Shape::cuboid(size) };
        let linear = Vector::from_fn(|_, _| random.random_range(-0.5..0.5));
        let spin: Vec<f64> = (0..3).map(|_| random.random_range(-3.0..3.0)).collect();
        let motion = match random.random_range(0..3) {
            0 => Motion::Fixed,
            1 => Motion::Steady(Twist { linear, angular: Spin::<D>::from_slice(&spin) }),
            _ => Motion::Oscillating { amplitude: linear * 0.2, frequency: 2.0 },
        };
        model.obstacles.push(Obstacle {
            start: Frame { position: place(random), ..Frame::identity() },
            motion,
            slip: random.random_range(0..2) == 0,
            ..Obstacle::fixed(format!("obstacle-{number}"), shape.map_err(failed)?)
        });
    }
    if random.random_range(0..2) == 0 {
        model.options.solid_boundary = SolidBoundary::CutCells;
    }
    let kind = random.random_range(0..3);
    model.free_surface = kind == 0;
    if kind == 1 {
        model.liquids.push(Liquid { viscosity: 0.1, ..Liquid::new("b", 1000.0) });
    }
    if kind == 2 {
        model.smoke = Some(SmokeModel {
            lift: 0.1,
            confinement: 0.3,
            decay: 0.1,
            cooling: 100.0,
            ..Default::default()
        });
    }
    model.options.surface.particles =
        Some(ParticleOptions { per_cell: 4, reseed_every: 3, ..Default::default() });
    model.options.surface.volume_correction = random.random_range(0..2) == 0;
    model.options.surface.tension = if random.random_range(0..4) == 0 { 0.01 } else { 0.0 };
    let region = Shape::ball(0.12).and_then(|ball| ball.translated(place(random))).map_err(failed)?;
    let source = match kind {
        0 | 1 => SourceKind::Liquid { liquid: 0 },
        _ => SourceKind::Smoke { density: 1.0, temperature: 500.0 },
    };
    let mut source = Source::new(region, source);
    if random.random_range(0..2) == 0 {
        source.velocity = Some(Vector::from_fn(|_, _| random.random_range(-1.0..1.0)));
    }
    model.sources.push(source);
    let level = random.random_range(0.1..0.9) * extent[1];
    let mut run = Run::new(model, |model, state| {
        for liquid in 0..model.level_sets() {
            let sign = if liquid == 0 { 1.0 } else { -1.0 };
            state.set_liquid(model, liquid, |x| sign * (x[1] - level))?;
        }
        Ok(())
    })?;
    let (mut worst, mut count): (f64, f64) = (0.0, 0.0);
    for _ in 0..12 {
        // Between a tenth of and ten times the step that accuracy wants, as far as surface tension lets it.
        let factor = if run.model.options.surface.tension > 0.0 {
            1.0
        } else {
            10f64.powf(random.random_range(-1.0..1.0))
        };
        let dt = (factor * run.stepper.stable_step(&run.model, &run.state)).min(0.2);
        let report = run.step(dt)?;
        worst = worst.max(report.pressure.divergence);
        count += 1.0;
    }
    let end = run.diagnostics();
    let total = end.kinetic_energy + end.enstrophy + end.smoke + end.volumes.iter().sum::<f64>();
    if !total.is_finite() {
        return Err(CaseError(format!("a quantity is not finite: {end:?}")));
    }
    Ok([worst, count])
}
