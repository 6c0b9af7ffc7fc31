//! Random worlds with everything that the coupled solve takes: rigid bodies on joints, soft bodies and sheets, in water, smoke or oil.
//!
//! Nothing may fail, be unbounded or leave divergence; a world that is stopped half way and read back goes on to the bit.

use super::super::deformable::neo_hookean;
use super::super::fluid::setup::{domain, failed};
use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use splashdown_couple::{SolidBody, SolidElement, Solids, World};
use splashdown_deformable::integrate::{Motion, Scheme};
use splashdown_deformable::{EdgeSpring, EdgeSprings, Elements};
use splashdown_fluid::{FluidModel, FluidState, Liquid, Side, SmokeModel};
use splashdown_geometry::generate::disc_triangles;
use splashdown_math::{Frame, Twist, Vector};
use splashdown_rigid::{Body, Geometry, Joint, JointKind, Kind};
use std::sync::Arc;

pub(super) const CASE: Case = Case {
    name: "fsi/soak-soft",
    spec: "FS-33, FS-36, FS-39",
    summary: "random worlds of jointed, rigid and soft bodies and sheets in water, smoke and oil",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 120.0,
    run,
};

pub(super) const SHORT: Case = Case {
    name: "fsi/soak-soft-short",
    spec: "FS-33, FS-36, FS-39",
    summary: "six of the random worlds of soft and jointed bodies in fluids",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 8.0,
    run: |measurements| soak(measurements, 6, 6),
};

const SOURCE: &str = "nothing fails, speeds stay bounded, |div u| dt within its tolerance (issue 7)";

type V = Vector<2>;

/// `|div u| dt` that the solves are asked for.
const TOLERANCE: f64 = 1e-6;
/// That, and what rounding adds.
const MOST_DIVERGENCE: f64 = 1.001 * TOLERANCE;

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    soak(measurements, 100, 16)
}

fn soak(measurements: &mut Measurements, worlds: u64, steps: usize) -> Result<(), CaseError> {
    let (mut failures, mut different, mut fastest, mut divergence) = (0, 0, 0.0f64, 0.0f64);
    for seed in 0..worlds {
        let mut world = world(seed)?;
        let mut saved = None;
        let mut broken = false;
        for step in 0..steps {
            if step == steps / 2 {
                saved = Some(world.state().clone());
            }
            let dt = world.fluid_stable_step().min(0.01);
            let report = match world.step(dt) {
                Ok(report) => report,
                Err(error) => {
                    eprintln!("seed {seed}, step {step}: {error}");
                    broken = true;
                    break;
                }
            };
            let fluid = world.fluid_diagnostics().ok_or_else(|| failed("no fluid"))?;
            fastest = fastest.max(fluid.max_speed).max(world.diagnostics().max_speed);
            // The fluid takes the parts that explicit elasticity needs.
            let left = fluid.max_divergence * dt / report.parts.max(1) as f64;
            if left > MOST_DIVERGENCE {
                eprintln!("seed {seed}, step {step}: |div u| dt = {left:e}");
            }
            divergence = divergence.max(left);
        }
        failures += usize::from(broken);
        if let Some(state) = saved.filter(|_| !broken) {
            let mut again = self::world(seed)?;
            let taken = again.restore(state);
            for _ in steps / 2..steps {
                let dt = again.fluid_stable_step().min(0.01);
                again.step(dt).map_err(failed)?;
            }
            different += usize::from(!taken || again.state() != world.state());
        }
    }
    let resolution = format!("{worlds} of 24^2");
    measurements.at_most("worlds that failed", &resolution, failures as f64, 0.0, SOURCE);
    measurements.at_most("largest speed (m/s)", &resolution, fastest, 50.0, SOURCE);
    measurements.at_most("largest |div u| dt left", &resolution, divergence, MOST_DIVERGENCE, SOURCE);
    measurements.at_most("worlds that went on differently", &resolution, different as f64, 0.0, "to the bit");
    Ok(())
}

fn world(seed: u64) -> Result<World<2>, CaseError> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let n = 24;
    let kind = random.random_range(0..3);
    let mut sides = [[Side::wall(); 2]; 2];
    if random.random_range(0..3) > 0 {
        sides[1][1] = Side::open();
    }
    let viscosity = match kind {
        1 => 10f64.powf(random.random_range(-3.0..1.0)),
        _ => 0.0,
    };
    let density = if kind == 2 { 1.2 } else { 1000.0 };
    let domain = domain([n, n], 1.0 / n as f64, sides)?;
    let mut model = FluidModel::new(domain, Liquid { viscosity, ..Liquid::new("fluid", density) });
    model.gravity = V::new(0.0, -9.81);
    model.options.pressure.divergence = TOLERANCE;
    model.free_surface = kind == 0;
    if kind == 2 {
        model.smoke = Some(SmokeModel { lift: 0.03, ..SmokeModel::default() });
    }
    let mut world = World::<2>::new(model.gravity).map_err(failed)?;

    // Two boxes on a hinge, and a ball.
    let mut weight = || density * 10f64.powf(random.random_range(-2.0..2.0));
    let [first, second, ball] = [weight(), weight(), weight()];
    let mut frames = Vec::new();
    for (number, (position, density)) in
        [(V::new(0.2, 0.2), first), (V::new(0.36, 0.2), second)].into_iter().enumerate()
    {
        let half = V::new(0.07, 0.05);
        let geometry = Arc::new(Geometry::cuboid(half).map_err(failed)?);
        let mass = density * 4.0 * half[0] * half[1];
        let body =
            Body::with_geometry(format!("box {number}"), Kind::Dynamic, mass, geometry).map_err(failed)?;
        frames.push(Frame { position, ..Frame::identity() });
        world.add_body(body, frames[number], Twist::zero());
    }
    let at = Joint::frame_at(V::new(0.28, 0.2), None);
    let hinge = Joint::between("hinge", JointKind::Hinge, Some(0), Some(1), &at, &frames).map_err(failed)?;
    world.add_joint(hinge).map_err(failed)?;
    let geometry = Arc::new(Geometry::sphere(0.08).map_err(failed)?);
    let body = Body::with_geometry("ball", Kind::Dynamic, ball * 0.02, geometry).map_err(failed)?;
    let linear = V::new(random.random_range(-1.0..1.0), random.random_range(-1.0..1.0));
    let frame = Frame { position: V::new(0.25, 0.5), ..Frame::identity() };
    world.add_body(body, frame, Twist { linear, ..Twist::zero() });
    for (name, normal, position) in [
        ("floor", V::new(0.0, 1.0), V::zeros()),
        ("left", V::new(1.0, 0.0), V::zeros()),
        ("right", V::new(-1.0, 0.0), V::new(1.0, 0.0)),
    ] {
        let wall = Arc::new(Geometry::half_space(normal).map_err(failed)?);
        let wall = Body::with_geometry(name, Kind::Static, 1.0, wall).map_err(failed)?;
        world.add_body(wall, Frame { position, ..Frame::identity() }, Twist::zero());
    }

    // A soft disc and a sheet that is held at one end or nowhere.
    let scheme = if seed.is_multiple_of(2) { Scheme::LinearlyImplicit } else { Scheme::B };
    let mut solids = Solids::<2>::new(model.gravity, scheme);
    let disc = disc_triangles(V::new(0.7, 0.7), 0.13, 3).map_err(failed)?;
    let own = density * 10f64.powf(random.random_range(-1.0..1.0));
    let young = 10f64.powf(random.random_range(3.0..4.5)) * own / 1000.0;
    let elements = Elements::triangles(&disc, 0, neo_hookean(young, 0.35, own, 0.01)?).map_err(failed)?;
    let mut mass = vec![0.0; disc.points.len()];
    elements.add_masses(&mut mass);
    let mut points = disc.points.clone();
    let mut pinned = vec![false; points.len()];
    solids.solid.add(elements);
    let sheet = points.len();
    let count = random.random_range(6..20);
    let start = V::new(0.55, random.random_range(0.25..0.45));
    let way = V::new(0.35, random.random_range(-0.1..0.1));
    let thread = 0.02 * density * 10f64.powf(random.random_range(-1.5..1.5));
    for i in 0..count {
        points.push(start + way * (i as f64 / (count - 1) as f64));
        mass.push(thread / count as f64);
        pinned.push(i == 0 && random.random_range(0..2) == 0);
    }
    solids.solid.add_particles(&mass, &pinned);
    let inverses: Vec<f64> =
        mass.iter().zip(&pinned).map(|(m, pinned)| if *pinned { 0.0 } else { 1.0 / m }).collect();
    let links: Vec<[u32; 2]> = (0..count - 1).map(|i| [(sheet + i) as u32, (sheet + i + 1) as u32]).collect();
    let springs: Vec<EdgeSpring> = links
        .iter()
        .map(|&ends| {
            let rest = (points[ends[0] as usize] - points[ends[1] as usize]).norm();
            EdgeSpring::with_modulus(ends, 200.0 * thread, 0.5, rest, &inverses)
        })
        .collect();
    solids.solid.add(EdgeSprings::<2>::new("sheet", &springs));
    let flat = |of: &[V]| of.iter().flat_map(|x| [x[0], x[1]]).collect::<Vec<f64>>();
    let body = |name: &str, particles: std::ops::Range<usize>, element, elements, forces| SolidBody {
        name: name.into(),
        rest: flat(&points[particles.clone()]),
        particles,
        element,
        elements,
        forces,
        strength: vec![],
        activation: vec![],
    };
    let triangles = disc.elements.iter().flatten().copied().collect();
    solids.bodies.push(body("disc", 0..sheet, SolidElement::Triangle, triangles, 0..1));
    let own_links = links.iter().flatten().map(|corner| corner - sheet as u32).collect();
    solids.bodies.push(body("sheet", sheet..points.len(), SolidElement::Segment, own_links, 1..2));
    let velocity = vec![0.0; 2 * points.len()];
    world.set_solids(solids, Motion { position: flat(&points), velocity, time: 0.0 });

    let mut state = FluidState::at_rest(&model);
    if model.free_surface {
        let level = random.random_range(0.3..0.8);
        state.set_liquid(&model, 0, |x| x[1] - level).map_err(failed)?;
    }
    world.set_fluid(model, state).map_err(failed)?;
    Ok(world)
}
