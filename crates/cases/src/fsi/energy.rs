//! Kinetic energy in the coupled solves of whole steps, with everything that can be in them (FS-31, FS-T9; Must show 2 of the issue of fluid and structure): rigid, soft, damped and stiff bodies, sheets,
//! incompressible bodies (whose demands may drive a solve), any integrator, viscosity, faces closed in part, in the plane and in space.
//!
//! A solve takes the velocities that are nearest in the norm of kinetic energy (and of what viscosity and implicit forces take) and keep the constraints; where nothing that moves as told drives it, kinetic energy
//! cannot rise. Each solve reports its energy before and after; the rise that is left is of the order of what the tolerances leave.

use super::super::deformable::neo_hookean;
use super::super::fluid::setup::{domain, failed};
use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use splashdown_couple::fluid_structure::{CouplingOptions, Tangential, Weights};
use splashdown_couple::{SolidBody, SolidElement, Solids, World};
use splashdown_deformable::incompressible::{Incompressible, IncompressibleOptions, Rings};
use splashdown_deformable::integrate::{Motion, Scheme};
use splashdown_deformable::{EdgeSpring, EdgeSprings, Elements, Force, Solid};
use splashdown_fluid::{FluidModel, FluidState, Liquid, Side, SolidBoundary};
use splashdown_geometry::generate::{CubeSplit, box_tetrahedra, disc_triangles};
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::{Body, Geometry, Kind};
use std::sync::Arc;

pub(super) const CASE: Case = Case {
    name: "fsi/energy",
    spec: "FS-31, FS-T9",
    summary: "coupled solves of random worlds of rigid, soft and thin bodies: kinetic energy never up",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 3.0,
    run: |measurements| run(measurements, 60),
};

pub(super) const LONG: Case = Case {
    name: "fsi/energy-10000",
    spec: "FS-31, FS-T9; Must show 2 (issue of fluid and structure)",
    summary: "the same for ten thousand coupled solves",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 40.0,
    run: |measurements| run(measurements, 1500),
};

const SOURCE: &str = "exact: no solve that nothing drives adds kinetic energy (spec/fluid-structure.md 3.12)";

/// Steps of each world.
const STEPS: usize = 4;

fn run(measurements: &mut Measurements, worlds: usize) -> Result<(), CaseError> {
    let mut random = Pcg64Mcg::seed_from_u64(31);
    let mut kinds: Vec<(&str, Found)> = ["soft, in the plane", "sheets, in the plane", "in space"]
        .into_iter()
        .map(|name| (name, Found::default()))
        .collect();
    for number in 0..worlds {
        let (kind, found) = match number % 6 {
            5 => (2, watch::<3>(&mut random, false, in_space)?),
            2 | 4 => (1, watch::<2>(&mut random, true, in_the_plane)?),
            _ => (0, watch::<2>(&mut random, false, in_the_plane)?),
        };
        kinds[kind].1.add(&found);
    }
    let mut solves = 0;
    for (name, found) in &kinds {
        measurements.at_most(
            "largest rise of kinetic energy in a solve, relative",
            name,
            found.rise,
            1e-9,
            SOURCE,
        );
        measurements.at_least(
            "part of the solves that nothing drives",
            name,
            found.free as f64 / found.solves as f64,
            0.5,
            SOURCE,
        );
        solves += found.solves;
    }
    measurements.at_least("solves", "all", solves as f64, 6.0 * worlds as f64, "so many were looked at");
    Ok(())
}

/// What solves showed.
#[derive(Default)]
struct Found {
    solves: usize,
    /// Those that nothing drives.
    free: usize,
    rise: f64,
}

impl Found {
    fn add(&mut self, other: &Self) {
        self.solves += other.solves;
        self.free += other.free;
        self.rise = self.rise.max(other.rise);
    }
}

/// Takes some steps of a random world: a ball, and a soft body or a sheet, in a box that wraps around or is closed.
fn watch<const D: usize>(random: &mut Pcg64Mcg, thin: bool, make: Make<D>) -> Result<Found, CaseError>
where
    Dim<D>: Space<D>,
{
    let power = |random: &mut Pcg64Mcg, low: f64, high: f64| 10f64.powf(random.random_range(low..high));
    let scheme = [Scheme::A, Scheme::B, Scheme::C, Scheme::Newmark, Scheme::LinearlyImplicit]
        [random.random_range(0..5usize)];
    let viscosity = if random.random_range(0..2) == 0 { 0.0 } else { power(random, -3.0, 1.0) };
    let n = if D == 2 { 14 } else { 7 };
    let h = 1.0 / n as f64;
    let side = if random.random_range(0..2) == 0 { Side::Periodic } else { Side::wall() };
    let mut model = FluidModel::new(
        domain([n; D], h, std::array::from_fn(|_| [side, side]))?,
        Liquid { viscosity, ..Liquid::new("fluid", 1.0) },
    );
    if random.random_range(0..3) == 0 {
        model.options.solid_boundary = SolidBoundary::CutCells;
    }
    model.options.pressure.divergence = 1e-11;
    model.options.pressure.relative = 1e-11;
    model.options.pressure.max_iterations = 1000;
    let options = CouplingOptions {
        weights: if random.random_range(0..2) == 0 { Weights::Ray } else { Weights::Area },
        tangential: if random.random_range(0..2) == 0 {
            Tangential::SolidSide
        } else {
            Tangential::FluidSide
        },
        ..CouplingOptions::default()
    };
    let mut world = World::<D>::new(Vector::zeros()).map_err(failed)?;
    world.set_coupling(Some(options));
    let ball = Arc::new(Geometry::sphere(0.13).map_err(failed)?);
    let mass = power(random, -4.0, 2.0);
    let body = Body::with_geometry("ball", Kind::Dynamic, mass, ball).map_err(failed)?;
    let linear = Vector::from_fn(|_, _| random.random_range(-0.3..0.3));
    let place = Frame { position: Vector::repeat(0.77), ..Frame::identity() };
    world.add_body(body, place, Twist { linear, ..Twist::zero() });

    let density = power(random, -3.0, 3.0);
    let (solids, points) = make(random, scheme, thin, density)?;
    let flat: Vec<f64> = points.iter().flat_map(|x| x.iter().copied()).collect();
    let velocity = flat.iter().map(|_| random.random_range(-0.3..0.3)).collect();
    world.set_solids(solids, Motion { position: flat, velocity, time: 0.0 });
    let mut state = FluidState::at_rest(&model);
    for axis in 0..D {
        let values = state.velocity.component_mut(axis).values_mut();
        values.iter_mut().for_each(|u| *u = random.random_range(-0.5..0.5));
    }
    world.set_fluid(model, state).map_err(failed)?;
    let mut found = Found::default();
    for _ in 0..STEPS {
        let dt = power(random, -3.0, -1.0) * h;
        let report = world.step(dt).map_err(|error| {
            failed(format!("{scheme:?}, viscosity {viscosity:.2e}, density {density:.2e}, dt {dt:.2e}, thin {thin}, ball {mass:.2e}, {options:?}, {side:?}: {error}"))
        })?;
        for solve in report.solves.iter().filter_map(|solve| solve.coupling) {
            found.solves += 1;
            found.free += usize::from(!solve.driven);
            found.rise = found.rise.max(solve.energy_rise());
        }
    }
    Ok(found)
}

/// A structure with its points.
type Structure<const D: usize> = (Solids<D>, Vec<Vector<D>>);

/// What makes one: random numbers, the scheme, whether it is thin, its density.
type Make<const D: usize> = fn(&mut Pcg64Mcg, Scheme, bool, f64) -> Result<Structure<D>, CaseError>;

/// Sound speed (m/s) squared: waves that the steps of the fluid can follow.
const STIFFNESS: f64 = 10.0;

/// Power of ten of the strongest damping: plain Newmark has half of it at the start of a step.
fn most_damping(scheme: Scheme) -> f64 {
    if scheme == Scheme::Newmark { -2.0 } else { 2.0 }
}

/// A damped disc, or a closed chain.
fn in_the_plane(
    random: &mut Pcg64Mcg,
    scheme: Scheme,
    thin: bool,
    density: f64,
) -> Result<Structure<2>, CaseError> {
    let most = most_damping(scheme);
    let damping = 10f64.powf(random.random_range(-3.0..most));
    if !thin {
        let mesh = disc_triangles(Vector::from([0.37, 0.38]), 0.2, 4).map_err(failed)?;
        let matter = neo_hookean(STIFFNESS * density, 0.3, density, damping)?;
        let force = Elements::triangles(&mesh, 0, matter).map_err(failed)?;
        let mut mass = vec![0.0; mesh.points.len()];
        force.add_masses(&mut mass);
        let elements = mesh.elements.iter().flatten().copied().collect();
        return structure(random, scheme, mesh.points, &mass, SolidElement::Triangle, elements, force);
    }
    let count = 12u32;
    let point = |i: u32| {
        let angle = f64::from(i) / f64::from(count) * std::f64::consts::TAU;
        Vector::from([0.38 + 0.2 * angle.cos(), 0.37 + 0.2 * angle.sin()])
    };
    let points: Vec<Vector<2>> = (0..count).map(point).collect();
    let mass = vec![0.01 * density; points.len()];
    let inverses: Vec<f64> = mass.iter().map(|m| 1.0 / m).collect();
    let elements: Vec<u32> = (0..count).flat_map(|i| [i, (i + 1) % count]).collect();
    let springs: Vec<EdgeSpring> = elements
        .chunks_exact(2)
        .map(|ends| {
            let rest = (points[ends[0] as usize] - points[ends[1] as usize]).norm();
            EdgeSpring::with_modulus([ends[0], ends[1]], 0.1 * STIFFNESS * density, damping, rest, &inverses)
        })
        .collect();
    let force = EdgeSprings::<2>::new("edges", &springs);
    structure(random, scheme, points, &mass, SolidElement::Segment, elements, force)
}

/// A damped cube.
fn in_space(random: &mut Pcg64Mcg, scheme: Scheme, _: bool, density: f64) -> Result<Structure<3>, CaseError> {
    let most = most_damping(scheme);
    let damping = 10f64.powf(random.random_range(-3.0..most));
    let mesh = box_tetrahedra([0.17; 3].into(), [0.57; 3].into(), [3; 3], CubeSplit::Five).map_err(failed)?;
    let matter = neo_hookean(STIFFNESS * density, 0.3, density, damping)?;
    let force = Elements::tetrahedra(&mesh, 0, matter).map_err(failed)?;
    let mut mass = vec![0.0; mesh.points.len()];
    force.add_masses(&mut mass);
    let elements = mesh.elements.iter().flatten().copied().collect();
    structure(random, scheme, mesh.points, &mass, SolidElement::Tetrahedron, elements, force)
}

/// A body of these elements; one in four of those with a volume keeps it.
fn structure<const D: usize>(
    random: &mut Pcg64Mcg,
    scheme: Scheme,
    points: Vec<Vector<D>>,
    mass: &[f64],
    element: SolidElement,
    elements: Vec<u32>,
    force: impl Force<D> + 'static,
) -> Result<Structure<D>, CaseError>
where
    Dim<D>: Space<D>,
{
    let mut solids = Solids::<D>::new(Vector::zeros(), scheme);
    let flat: Vec<f64> = points.iter().flat_map(|x| x.iter().copied()).collect();
    solids.solid = Solid::new(mass.to_vec(), vec![false; mass.len()], Vector::zeros());
    solids.solid.add(force);
    solids.integrator.tolerance = 1e-10;
    let thin = element == SolidElement::Segment;
    if !thin && random.random_range(0..4) == 0 {
        let rings = Rings::new(D + 1, &elements, &flat).ok_or_else(|| failed("no rings"))?;
        solids.integrator.incompressible = Some(Incompressible::new(rings, IncompressibleOptions::default()));
    }
    solids.bodies.push(SolidBody {
        name: "soft".into(),
        particles: 0..points.len(),
        element,
        elements,
        rest: flat,
        forces: 0..1,
        strength: vec![],
        activation: vec![],
        families: vec![],
    });
    Ok((solids, points))
}
