//! Random worlds of fluid and rigid bodies: nothing panics, nothing blows up, the pressure keeps its tolerance; and a world that is put back goes on with the same bits.

use super::super::fluid::setup::failed;
use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use splashdown_couple::World;
use splashdown_fluid::{Domain, FluidModel, FluidState, Liquid, Side, SmokeModel, SolidBoundary};
use splashdown_geometry::grid::Grid;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::{Body, Geometry, Kind};
use std::sync::Arc;

pub(super) const CASE: Case = Case {
    name: "fsi/soak",
    spec: "FS-36, FS-39",
    summary: "random worlds of water, oil or smoke with bodies of any density: no failure, and restarts to the bit",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 15.0,
    run,
};

const SOURCE: &str = "no failure, no speed above ten times that of free fall, the tolerance of the pressure";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let mut worst = Outcome::default();
    for seed in 0..40 {
        worst.add(soak::<2>(seed, 24, 12)?);
    }
    for seed in 100..112 {
        worst.add(soak::<3>(seed, 12, 5)?);
    }
    measurements.at_most("worlds that failed, of 52", "24^2, 12^3", worst.failures as f64, 0.0, SOURCE);
    measurements.at_most("largest speed over the bound", "24^2, 12^3", worst.speed, 1.0, SOURCE);
    measurements.at_most("largest |div u| dt left", "24^2, 12^3", worst.divergence, 1e-5, SOURCE);
    measurements.at_most(
        "worlds that went on differently",
        "24^2, 12^3",
        worst.different as f64,
        0.0,
        "to the bit",
    );
    Ok(())
}

#[derive(Default)]
struct Outcome {
    failures: usize,
    speed: f64,
    divergence: f64,
    different: usize,
}

impl Outcome {
    fn add(&mut self, other: Self) {
        self.failures += other.failures;
        self.speed = self.speed.max(other.speed);
        self.divergence = self.divergence.max(other.divergence);
        self.different += other.different;
    }
}

fn soak<const D: usize>(seed: u64, n: usize, steps: usize) -> Result<Outcome, CaseError>
where
    Dim<D>: Space<D>,
{
    let mut world = world::<D>(seed, n)?;
    let mut outcome = Outcome::default();
    let mut saved = None;
    for step in 0..steps {
        if step == steps / 2 {
            saved = Some(world.state().clone());
        }
        let dt = world.fluid_stable_step().min(0.02);
        if let Err(error) = world.step(dt) {
            eprintln!("seed {seed}, {D}D, step {step}: {error}");
            outcome.failures += 1;
            return Ok(outcome);
        }
        let fluid = world.fluid_diagnostics().ok_or_else(|| failed("no fluid"))?;
        // Free fall through the box, and the stirring.
        let bound = 10.0 * ((2.0 * 9.81f64).sqrt() + 1.0);
        let body = world.state().bodies.iter().fold(0.0f64, |m, body| m.max(body.velocity.norm()));
        outcome.speed = outcome.speed.max(fluid.max_speed.max(body) / bound);
        outcome.divergence = outcome.divergence.max(fluid.max_divergence * dt);
    }
    let mut again = self::world::<D>(seed, n)?;
    if let Some(state) = saved {
        let taken = again.restore(state);
        for _ in steps / 2..steps {
            let dt = again.fluid_stable_step().min(0.02);
            again.step(dt).map_err(failed)?;
        }
        outcome.different += usize::from(!taken || again.state() != world.state());
    }
    Ok(outcome)
}

fn world<const D: usize>(seed: u64, n: usize) -> Result<World<D>, CaseError>
where
    Dim<D>: Space<D>,
{
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut sides = [[Side::slip(); 2]; D];
    for (axis, pair) in sides.iter_mut().enumerate() {
        match random.random_range(0..4) {
            0 => *pair = [Side::wall(); 2],
            1 if axis != 1 => *pair = [Side::Periodic; 2],
            _ => {}
        }
    }
    if random.random_range(0..3) > 0 {
        sides[1][1] = Side::open();
    }
    let grid = Grid::new(Vector::zeros(), Vector::repeat(1.0 / n as f64), [n; D]).map_err(failed)?;
    let domain = Domain::new(grid, sides).map_err(failed)?;
    let kind = random.random_range(0..3);
    let viscosity = if kind == 1 { 10f64.powf(random.random_range(-2.0..2.0)) } else { 0.0 };
    let density = if kind == 2 { 1.2 } else { 1000.0 };
    let mut model = FluidModel::new(domain, Liquid { viscosity, ..Liquid::new("fluid", density) });
    model.gravity = {
        let mut gravity = Vector::zeros();
        gravity[1] = -9.81;
        gravity
    };
    model.options.pressure.divergence = 1e-6;
    model.free_surface = kind == 0;
    if kind == 2 {
        model.smoke = Some(SmokeModel { lift: 0.03, ..SmokeModel::default() });
    }
    if viscosity == 0.0 && random.random_range(0..2) == 0 {
        model.options.solid_boundary = SolidBoundary::CutCells;
    }
    let mut world = World::<D>::new(model.gravity).map_err(failed)?;
    let mut places: Vec<(Vector<D>, f64)> = Vec::new();
    for index in 0..random.random_range(1..5) {
        let size = random.random_range(0.08..0.2);
        let geometry = match random.random_range(0..3) {
            0 => Geometry::sphere(size),
            1 => Geometry::cuboid(Vector::from_fn(|_, _| size * random.random_range(0.3..1.2))),
            _ => Geometry::capsule(0.6 * size, size),
        }
        .map_err(failed)?;
        let volume = geometry.properties().map_or(1.0, |properties| properties.volume);
        let mass = density * volume * 10f64.powf(random.random_range(-3.0..3.0));
        let body_kind = if random.random_range(0..6) == 0 { Kind::Static } else { Kind::Dynamic };
        // Apart from each other and from the walls.
        let reach = geometry.radius() + 0.02;
        let place = (0..200)
            .map(|_| Vector::<D>::from_fn(|_, _| random.random_range(reach..1.0 - reach)))
            .find(|x| places.iter().all(|(other, radius)| (x - other).norm() > reach + radius));
        let Some(position) = place else { continue };
        places.push((position, reach));
        let body = Body::with_geometry(format!("body {index}"), body_kind, mass, Arc::new(geometry))
            .map_err(failed)?;
        let frame = Frame { position, ..Frame::identity() };
        let moving = if body_kind == Kind::Dynamic { 1.0 } else { 0.0 };
        let linear = Vector::from_fn(|_, _| moving * random.random_range(-1.0..1.0));
        world.add_body(body, frame, Twist { linear, ..Twist::zero() });
    }
    // What is a wall to the fluid is one to the bodies.
    for axis in 0..D {
        for upper in (0..2).filter(|&upper| sides[axis][upper].is_wall()) {
            let mut normal = Vector::zeros();
            normal[axis] = 1.0 - 2.0 * upper as f64;
            let wall = Arc::new(Geometry::half_space(normal).map_err(failed)?);
            let name = format!("wall {axis} {upper}");
            let wall = Body::with_geometry(name, Kind::Static, 1.0, wall).map_err(failed)?;
            let mut position = Vector::zeros();
            position[axis] = upper as f64;
            world.add_body(wall, Frame { position, ..Frame::identity() }, Twist::zero());
        }
    }
    let mut state = FluidState::at_rest(&model);
    if model.free_surface {
        let level = random.random_range(0.3..0.8);
        state.set_liquid(&model, 0, |x| x[1] - level).map_err(failed)?;
    }
    world.set_fluid(model, state).map_err(failed)?;
    Ok(world)
}
