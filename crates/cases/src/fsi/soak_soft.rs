//! Random worlds with everything that the coupled solve takes: rigid bodies on joints, soft bodies and sheets, in water, smoke or oil.
//!
//! Nothing may fail, be unbounded, leave divergence, open a joint or miss what contact and joints demand in the solve; a world that is stopped half way and read back goes on to the bit.

use super::super::deformable::neo_hookean;
use super::super::fluid::setup::{domain, failed};
use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use splashdown_couple::{SolidBody, SolidElement, Solids, World};
use splashdown_deformable::integrate::{Motion, Scheme};
use splashdown_deformable::{EdgeSpring, EdgeSprings, Elements};
use splashdown_fluid::{FluidModel, FluidState, Liquid, Side, SmokeModel};
use splashdown_geometry::generate::{Diagonals, ball_tetrahedra, disc_triangles, sheet};
use splashdown_math::{Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_rigid::{Body, Geometry, Joint, JointKind, Kind};
use std::sync::Arc;

pub(super) const CASE: Case = Case {
    name: "fsi/soak-soft",
    spec: "FS-33, FS-36, FS-39",
    summary: "random worlds of jointed, rigid and soft bodies and sheets in water, smoke and oil, in the plane and in space",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 120.0,
    run: |measurements| soak(measurements, [100, 12], [16, 10]),
};

pub(super) const SHORT: Case = Case {
    name: "fsi/soak-soft-short",
    spec: "FS-33, FS-36, FS-39",
    summary: "six of the random worlds of soft and jointed bodies in fluids",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 8.0,
    run: |measurements| soak(measurements, [6, 1], [6, 4]),
};

const SOURCE: &str =
    "nothing fails, speeds stay bounded, |div u| dt and constraints within their tolerances (issue 7)";

type V = Vector<2>;

/// `|div u| dt` that the solves are asked for.
const TOLERANCE: f64 = 1e-6;
/// That, and what rounding adds.
const MOST_DIVERGENCE: f64 = 1.001 * TOLERANCE;

/// What came of some worlds.
#[derive(Default)]
struct Outcome {
    failures: usize,
    different: usize,
    /// Largest speed (m/s).
    fastest: f64,
    /// Largest `|div u| dt`.
    divergence: f64,
    /// Largest error (m) of a joint.
    joints: f64,
    /// Largest speed by which a demand of contact or joints was missed in the solve, over the largest speed then; and how many demands there were.
    missed: f64,
    demands: usize,
}

fn soak(measurements: &mut Measurements, worlds: [u64; 2], steps: [usize; 2]) -> Result<(), CaseError> {
    let flat = outcome(world, worlds[0], steps[0])?;
    judge(measurements, &format!("{} of 24^2", worlds[0]), &flat);
    let space = outcome(world_in_space, worlds[1], steps[1])?;
    judge(measurements, &format!("{} of 12^3", worlds[1]), &space);
    Ok(())
}

fn judge(measurements: &mut Measurements, resolution: &str, found: &Outcome) {
    measurements.at_most("worlds that failed", resolution, found.failures as f64, 0.0, SOURCE);
    measurements.at_most("largest speed (m/s)", resolution, found.fastest, 50.0, SOURCE);
    measurements.at_most("largest |div u| dt left", resolution, found.divergence, MOST_DIVERGENCE, SOURCE);
    let different = found.different as f64;
    measurements.at_most("worlds that went on differently", resolution, different, 0.0, "to the bit");
    // A thousandth of the boxes.
    measurements.at_most("largest error of a joint (m)", resolution, found.joints, 1e-4, SOURCE);
    let row = format!("largest part of the speed by which one of {} demands was missed", found.demands);
    measurements.at_most(
        &row,
        resolution,
        found.missed,
        1e-6,
        "spec/fluid-structure.md 4: 1e-6 of the speeds",
    );
}

fn outcome<const D: usize>(
    world: impl Fn(u64) -> Result<World<D>, CaseError>,
    worlds: u64,
    steps: usize,
) -> Result<Outcome, CaseError>
where
    Dim<D>: Space<D>,
{
    let mut outcome = Outcome::default();
    for seed in 0..worlds {
        let mut now = world(seed)?;
        let mut saved = None;
        let mut broken = false;
        for step in 0..steps {
            if step == steps / 2 {
                saved = Some(now.state().clone());
            }
            let dt = now.fluid_stable_step().min(0.01);
            let report = match now.step(dt) {
                Ok(report) => report,
                Err(error) => {
                    eprintln!("seed {seed}, {D}D, step {step}: {error}");
                    broken = true;
                    break;
                }
            };
            let fluid = now.fluid_diagnostics().ok_or_else(|| failed("no fluid"))?;
            let measured = now.diagnostics();
            let fastest = fluid.max_speed.max(measured.max_speed);
            outcome.fastest = outcome.fastest.max(fastest);
            if let Some(joints) = measured.joints {
                outcome.joints = outcome.joints.max(joints.linear_error);
            }
            for coupling in report.solves.iter().filter_map(|solve| solve.coupling) {
                outcome.demands += coupling.demands;
                outcome.missed = outcome.missed.max(coupling.demand_residual / fastest);
            }
            // The fluid takes the parts that explicit elasticity needs.
            let left = fluid.max_divergence * dt / report.parts.max(1) as f64;
            if left > MOST_DIVERGENCE {
                eprintln!("seed {seed}, {D}D, step {step}: |div u| dt = {left:e}");
            }
            outcome.divergence = outcome.divergence.max(left);
        }
        outcome.failures += usize::from(broken);
        if let Some(state) = saved.filter(|_| !broken) {
            let mut again = world(seed)?;
            let taken = again.restore(state);
            for _ in steps / 2..steps {
                let dt = again.fluid_stable_step().min(0.01);
                again.step(dt).map_err(failed)?;
            }
            outcome.different += usize::from(!taken || again.state() != now.state());
        }
    }
    Ok(outcome)
}

/// A world in space: two boxes on a hinge and a ball, a soft ball and a sheet.
fn world_in_space(seed: u64) -> Result<World<3>, CaseError> {
    let mut random = Pcg64Mcg::seed_from_u64(1000 + seed);
    let (n, kind) = (12, seed % 3);
    let mut sides = [[Side::wall(); 2]; 3];
    if random.random_range(0..3) > 0 {
        sides[1][1] = Side::open();
    }
    let viscosity = if kind == 1 { 10f64.powf(random.random_range(-3.0..1.0)) } else { 0.0 };
    let density = if kind == 2 { 1.2 } else { 1000.0 };
    let domain = domain([n; 3], 1.0 / n as f64, sides)?;
    let mut model = FluidModel::new(domain, Liquid { viscosity, ..Liquid::new("fluid", density) });
    model.gravity = Vector::from([0.0, -9.81, 0.0]);
    model.options.pressure.divergence = TOLERANCE;
    model.free_surface = kind == 0;
    if kind == 2 {
        model.smoke = Some(SmokeModel { lift: 0.03, ..SmokeModel::default() });
    }
    let mut world = World::<3>::new(model.gravity).map_err(failed)?;
    let mut weight = || density * 10f64.powf(random.random_range(-2.0..2.0));
    let [first, second, ball] = [weight(), weight(), weight()];
    let half = Vector::from([0.09, 0.08, 0.1]);
    let places = [Vector::from([0.2, 0.25, 0.3]), Vector::from([0.4, 0.25, 0.3])];
    let frames = places.map(|position| Frame { position, ..Frame::identity() });
    for (number, (frame, density)) in frames.iter().zip([first, second]).enumerate() {
        let geometry = Arc::new(Geometry::cuboid(half).map_err(failed)?);
        let mass = density * 8.0 * half[0] * half[1] * half[2];
        let body =
            Body::with_geometry(format!("box {number}"), Kind::Dynamic, mass, geometry).map_err(failed)?;
        world.add_body(body, *frame, Twist::zero());
    }
    let at = Joint::frame_at(Vector::from([0.3, 0.25, 0.3]), Some(&Vector::from([0.0, 0.0, 1.0])));
    let hinge = Joint::between("hinge", JointKind::Hinge, Some(0), Some(1), &at, &frames).map_err(failed)?;
    world.add_joint(hinge).map_err(failed)?;
    let radius = 0.12;
    let geometry = Arc::new(Geometry::sphere(radius).map_err(failed)?);
    let mass = ball * 4.0 / 3.0 * std::f64::consts::PI * radius * radius * radius;
    let body = Body::with_geometry("ball", Kind::Dynamic, mass, geometry).map_err(failed)?;
    let frame = Frame { position: Vector::from([0.3, 0.6, 0.3]), ..Frame::identity() };
    let linear = Vector::from_fn(|_, _| random.random_range(-1.0..1.0));
    let angular = Spin::<3>::from([random.random_range(-5.0..5.0), 0.0, random.random_range(-5.0..5.0)]);
    world.add_body(body, frame, Twist { linear, angular });
    let floor = Arc::new(Geometry::half_space(Vector::from([0.0, 1.0, 0.0])).map_err(failed)?);
    let floor = Body::with_geometry("floor", Kind::Static, 1.0, floor).map_err(failed)?;
    world.add_body(floor, Frame::identity(), Twist::zero());

    let scheme = if seed.is_multiple_of(2) { Scheme::LinearlyImplicit } else { Scheme::B };
    let mut solids = Solids::<3>::new(model.gravity, scheme);
    let soft = ball_tetrahedra(Vector::from([0.72, 0.7, 0.6]), 0.16, 2).map_err(failed)?;
    let own = density * 10f64.powf(random.random_range(-1.0..1.0));
    let young = 10f64.powf(random.random_range(3.0..4.5)) * own / 1000.0;
    let elements = Elements::tetrahedra(&soft, 0, neo_hookean(young, 0.35, own, 0.01)?).map_err(failed)?;
    let mut mass = vec![0.0; soft.points.len()];
    elements.add_masses(&mut mass);
    let mut points = soft.points.clone();
    solids.solid.add(elements);
    let first = points.len();
    let corner = Vector::from([0.58, random.random_range(0.25..0.4), 0.4]);
    let edges = [Vector::from([0.35, 0.0, 0.05]), Vector::from([0.0, random.random_range(-0.1..0.1), 0.35])];
    let cloth = sheet::<3>(corner, edges[0], edges[1], [5, 5], Diagonals::Alternating).map_err(failed)?;
    let pin = random.random_range(0..2) == 0;
    let thread =
        0.02 * density * 10f64.powf(random.random_range(-1.5..1.5)) * 0.1 / cloth.points.len() as f64;
    points.extend(&cloth.points);
    mass.resize(points.len(), thread);
    let pinned: Vec<bool> = (0..points.len()).map(|point| pin && point == first).collect();
    solids.solid.add_particles(&mass, &pinned);
    let inverses: Vec<f64> =
        mass.iter().zip(&pinned).map(|(m, pinned)| if *pinned { 0.0 } else { 1.0 / m }).collect();
    let mut links: Vec<[u32; 2]> = Vec::new();
    for corners in &cloth.elements {
        for k in 0..3 {
            let [a, b] = [corners[k], corners[(k + 1) % 3]].map(|corner| corner + first as u32);
            links.push([a.min(b), a.max(b)]);
        }
    }
    links.sort_unstable();
    links.dedup();
    let spring = |&ends: &[u32; 2]| {
        let rest = (points[ends[0] as usize] - points[ends[1] as usize]).norm();
        EdgeSpring::with_modulus(ends, 200.0 * thread, 0.5, rest, &inverses)
    };
    let springs: Vec<EdgeSpring> = links.iter().map(spring).collect();
    solids.solid.add(EdgeSprings::<3>::new("sheet", &springs));
    let flat = |of: &[Vector<3>]| of.iter().flat_map(|x| [x[0], x[1], x[2]]).collect::<Vec<f64>>();
    for (name, particles, element, elements, forces) in [
        (
            "soft",
            0..first,
            SolidElement::Tetrahedron,
            soft.elements.iter().flatten().copied().collect(),
            0..1,
        ),
        (
            "sheet",
            first..points.len(),
            SolidElement::Triangle,
            cloth.elements.iter().flatten().copied().collect::<Vec<u32>>(),
            1..2,
        ),
    ] {
        solids.bodies.push(SolidBody {
            name: name.into(),
            rest: flat(&points[particles.clone()]),
            particles,
            element,
            elements,
            forces,
            strength: vec![],
            activation: vec![],
            families: vec![],
        });
    }
    let velocity = vec![0.0; 3 * points.len()];
    world.set_solids(solids, Motion { position: flat(&points), velocity, time: 0.0 });
    let mut state = FluidState::at_rest(&model);
    if model.free_surface {
        let level = random.random_range(0.3..0.8);
        state.set_liquid(&model, 0, |x| x[1] - level).map_err(failed)?;
    }
    world.set_fluid(model, state).map_err(failed)?;
    Ok(world)
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
        families: vec![],
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
