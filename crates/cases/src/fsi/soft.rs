//! Soft structures in viscous flow, one system for both (spec/fluid-structure.md V-6, V-7, V-8).
//!
//! * **Beam** of edge and altitude springs (5 x 20 particles of 0.1 kg, lowest row held) in a channel: where its upper right corner is after 1 s must converge with the fluid's grid, the beam
//!   staying as it is. Published order 1.42.
//! * **Disk** of 2400 neo-Hookean triangles in a periodic box, both turning with the stream function `0.05 sin(2 pi x) sin(2 pi y)`: the kinetic energy at the start is
//!   `rho psi0^2 (kx^2 + ky^2) / 8 = 0.02467 J/m`; energy only falls, the disk (`nu = 0.475`) keeps its area, kinetic energy goes into elastic energy and back.
//! * **Beam of any density**: a hundred steps with the structure 1e-9 to 1e9 times as heavy stay bounded.

use super::super::deformable::{beam_of_springs, neo_hookean};
use super::super::fluid::setup::{domain, failed};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::{SolidBody, SolidElement, Solids, World};
use splashdown_deformable::integrate::{Motion, Scheme};
use splashdown_deformable::{Elements, Solid};
use splashdown_fluid::advect::{Advection, Scheme::SemiLagrangian};
use splashdown_fluid::{FluidModel, FluidState, Liquid, Side};
use splashdown_geometry::generate::disc_triangles;
use splashdown_math::Vector;
use std::f64::consts::TAU;

type V = Vector<2>;

pub(super) const BEAM: Case = Case {
    name: "fsi/beam",
    spec: "V-6",
    summary: "a beam of springs in a viscous channel: its corner after 1 s converges with the grid",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 900.0,
    run: run_beam,
};

pub(super) const BEAM_STABILITY: Case = Case {
    name: "fsi/beam-stability",
    spec: "V-8",
    summary: "the beam 1e-9 to 1e9 times as heavy, on grids from coarser to finer than its edges",
    source: "published claim (spec/fluid-structure.md V-8): bounded by ten times the inflow",
    speed: Speed::Slow,
    seconds: 75.0,
    run: run_stability,
};

pub(super) const DISK: Case = Case {
    name: "fsi/disk",
    spec: "V-7",
    summary: "an elastic disk in a periodic box of fluid, turned by a stream function",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 200.0,
    run: |measurements| run_disk(measurements, 64),
};

pub(super) const DISK_FINE: Case = Case {
    name: "fsi/disk-128",
    spec: "V-7",
    summary: "the elastic disk in a periodic box of 128x128 cells, the published size",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 1200.0,
    run: |measurements| run_disk(measurements, 128),
};

const SOURCE: &str = "spec/fluid-structure.md V-6, V-7: published order 1.42 (beam); exact kinetic energy at the start, energy and area (disk)";

/// Flat coordinates.
fn flat(points: &[V]) -> Vec<f64> {
    points.iter().flat_map(|x| [x[0], x[1]]).collect()
}

fn world_of(
    solid: Solid<2>,
    points: &[V],
    elements: Vec<u32>,
    velocity: Vec<f64>,
    tolerance: f64,
) -> Result<World<2>, CaseError> {
    let mut world = World::new(V::zeros()).map_err(failed)?;
    let mut solids = Solids::<2>::new(V::zeros(), Scheme::LinearlyImplicit);
    solids.solid = solid;
    solids.integrator.tolerance = tolerance;
    solids.bodies.push(SolidBody {
        name: "structure".into(),
        particles: 0..points.len(),
        element: SolidElement::Triangle,
        elements,
        rest: flat(points),
        forces: 0..1,
        strength: vec![],
        activation: vec![],
        families: vec![],
    });
    world.set_solids(solids, Motion { position: flat(points), velocity, time: 0.0 });
    Ok(world)
}

/// Cells of the published beam, across and along it.
const PUBLISHED: [usize; 2] = [4, 19];

/// The beam of `parts` cells in its channel of `cells` cells along it, `mass` times as heavy.
fn channel(cells: usize, parts: [usize; 2], mass: f64) -> Result<(World<2>, usize), CaseError> {
    let count = |cells: [usize; 2]| ((cells[0] + 1) * (cells[1] + 1)) as f64;
    let own = 0.1 * mass * count(PUBLISHED) / count(parts);
    let (solid, points, elements) = beam_of_springs(2.0, own, parts)?;
    let tip = (0..points.len())
        .max_by(|&a, &b| (points[a][0] + points[a][1]).total_cmp(&(points[b][0] + points[b][1])))
        .unwrap_or_default();
    let velocity = vec![0.0; 2 * points.len()];
    let mut world = world_of(solid, &points, elements, velocity, 1e-10)?;
    let inflow = Side::Inflow { velocity: V::new(0.25, 0.0) };
    let sides = [[inflow, Side::open()], [Side::slip(); 2]];
    let domain = domain([cells, cells / 2], 2.0 / cells as f64, sides)?;
    let model = FluidModel::new(domain, Liquid { viscosity: 1.0, ..Liquid::new("fluid", 100.0) });
    let state = FluidState::at_rest(&model);
    world.set_fluid(model, state).map_err(failed)?;
    Ok((world, tip))
}

fn run_beam(measurements: &mut Measurements) -> Result<(), CaseError> {
    let corner = |cells: usize| -> Result<V, CaseError> {
        let (mut world, tip) = channel(cells, PUBLISHED, 1.0)?;
        while world.state().time < 1.0 - 1e-12 {
            let dt = world.fluid_stable_step().min(0.02).min(1.0 - world.state().time);
            world.step(dt).map_err(failed)?;
        }
        let position = &world.state().solids.motion.position;
        Ok(V::new(position[2 * tip], position[2 * tip + 1]))
    };
    let finest = corner(256)?;
    let errors = [32, 64, 128].map(|cells| Ok::<_, CaseError>((corner(cells)? - finest).norm()));
    let [a, b, c] = errors;
    let (a, b, c) = (a?, b?, c?);
    measurements.at_most(
        "error of the corner over that of the grid before (m/m)",
        "64x32",
        b / a,
        1.0,
        SOURCE,
    );
    measurements.at_most(
        "error of the corner over that of the grid before (m/m)",
        "128x64",
        c / b,
        1.0,
        SOURCE,
    );
    measurements.at_least(
        "order of the corner's error",
        "32x16 to 128x64",
        (a / c).log2() / 2.0,
        1.0,
        SOURCE,
    );
    measurements.at_least(
        "way of the corner (m)",
        "256x128",
        (finest - V::new(1.05, 0.5)).norm(),
        1e-3,
        SOURCE,
    );
    Ok(())
}

fn run_stability(measurements: &mut Measurements) -> Result<(), CaseError> {
    // Cells five times as long as the beam's edges to a bit shorter; then thirty times as long.
    let published = [16, 64, 128].map(|cells| (cells, PUBLISHED));
    for (cells, parts) in published.into_iter().chain([(16, [24, 120])]) {
        for mass in [1e-9, 1e-3, 1.0, 1e3, 1e9] {
            let (mut world, _) = channel(cells, parts, mass)?;
            let mut fastest = 0.0f64;
            for _ in 0..100 {
                let stable = world.longest_stable_step().map_err(failed)?;
                let dt = world.fluid_stable_step().min(stable);
                world.step(dt).map_err(failed)?;
                let motion = &world.state().solids.motion;
                fastest = motion.velocity.iter().fold(fastest, |m, v| m.max(v.abs()));
                let fluid = world.fluid_diagnostics().map_or(f64::INFINITY, |fluid| fluid.max_speed);
                fastest = fastest.max(fluid);
            }
            let row = format!("largest speed, structure {mass:.0e} times as heavy (m/s)");
            let resolution = format!("{cells}x{}, beam of {}x{}", cells / 2, parts[0], parts[1]);
            measurements.at_most(&row, &resolution, fastest, 2.5, BEAM_STABILITY.source);
        }
    }
    Ok(())
}

fn run_disk(measurements: &mut Measurements, n: usize) -> Result<(), CaseError> {
    let resolution = format!("{n}x{n}");
    let mesh = disc_triangles(V::new(0.5, 0.5), 0.2, 20).map_err(failed)?;
    let material = neo_hookean(2.95, 0.475, 1.0, 0.005)?;
    let elements = Elements::triangles(&mesh, 0, material).map_err(failed)?;
    let mut mass = vec![0.0; mesh.points.len()];
    elements.add_masses(&mut mass);
    let mut solid = Solid::new(mass.clone(), vec![false; mass.len()], V::zeros());
    solid.add(elements);
    let stream = |x: &V| {
        let ([sx, cx], [sy, cy]) =
            ([(TAU * x[0]).sin(), (TAU * x[0]).cos()], [(TAU * x[1]).sin(), (TAU * x[1]).cos()]);
        V::new(sx * cy, -cx * sy) * (0.05 * TAU)
    };
    let velocity: Vec<V> = mesh.points.iter().map(stream).collect();
    let corners: Vec<u32> = mesh.elements.iter().flatten().copied().collect();
    let mut world = world_of(solid, &mesh.points, corners, flat(&velocity), 1e-12)?;
    let domain = domain([n, n], 1.0 / n as f64, [[Side::Periodic; 2]; 2])?;
    let mut model = FluidModel::new(domain, Liquid { viscosity: 0.001, ..Liquid::new("fluid", 1.0) });
    // As in the source, whose energy it damps; it has no switches that rounding can turn to one side.
    model.options.advection = Some(Advection { scheme: SemiLagrangian, ..Advection::default() });
    // What solves leave need not have the symmetry that is asked for below.
    (model.options.pressure.relative, model.options.pressure.divergence) = (1e-12, 1e-12);
    let mut state = FluidState::at_rest(&model);
    for axis in 0..2 {
        let lattice = *state.velocity.component(axis).lattice();
        state.velocity.component_mut(axis).update(|face, _| stream(&lattice.position(face))[axis]);
    }
    world.set_fluid(model, state).map_err(failed)?;
    let area = |flat: &[f64]| -> f64 {
        let at = |corner: u32| V::new(flat[2 * corner as usize], flat[2 * corner as usize + 1]);
        let of = |[a, b, c]: &[u32; 3]| {
            let (u, v) = (at(*b) - at(*a), at(*c) - at(*a));
            0.5 * (u[0] * v[1] - u[1] * v[0])
        };
        mesh.elements.iter().map(of).sum()
    };
    let first_area = area(&world.state().solids.motion.position);
    let energies = |world: &World<2>| {
        let solids = world.diagnostics();
        let fluid = world.fluid_diagnostics().map_or(f64::NAN, |fluid| fluid.kinetic_energy);
        [fluid + solids.kinetic_energy, solids.elastic_energy]
    };
    let [kinetic, _] = energies(&world);
    measurements.near(
        "kinetic energy at the start (J/m)",
        &resolution,
        kinetic,
        0.02467,
        0.02 * 0.02467,
        SOURCE,
    );
    let (mut total, mut rise, mut squeeze) = (kinetic, f64::NEG_INFINITY, 0.0f64);
    let mut elastic = Vec::new();
    while world.state().time < 1.0 - 1e-12 {
        let dt = world.fluid_stable_step().min(0.01).min(1.0 - world.state().time);
        world.step(dt).map_err(failed)?;
        let [kinetic_now, elastic_now] = energies(&world);
        rise = rise.max((kinetic_now + elastic_now - total) / kinetic);
        total = kinetic_now + elastic_now;
        elastic.push(elastic_now / kinetic);
        squeeze = squeeze.max((area(&world.state().solids.motion.position) / first_area - 1.0).abs());
    }
    measurements.at_most(
        "rise of the energy in a step, of that at the start",
        &resolution,
        rise,
        1e-3,
        SOURCE,
    );
    measurements.at_most("change of the disk's area", &resolution, squeeze, 0.02, SOURCE);
    let most = elastic.iter().copied().fold(0.0, f64::max);
    measurements.at_least(
        "largest elastic energy, of the kinetic one at the start",
        &resolution,
        most,
        0.1,
        SOURCE,
    );
    let last = elastic.last().copied().unwrap_or(f64::NAN);
    measurements.at_most("elastic energy at the end over its largest", &resolution, last / most, 0.9, SOURCE);
    // The mesh and the flow look the same after half a turn and in the mirrors through the middle.
    let end = &world.state().solids.motion.position;
    let mut skew = 0.0f64;
    for signs in [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0]] {
        let image = |x: &V| V::from_fn(|axis, _| 0.5 + signs[axis] * (x[axis] - 0.5));
        for (i, x) in mesh.points.iter().enumerate() {
            let other = image(x);
            let Some(j) = mesh.points.iter().position(|y| (y - other).norm() < 1e-9) else {
                return Err(failed("the disk's mesh is not symmetric"));
            };
            let there = image(&V::new(end[2 * i], end[2 * i + 1]));
            skew = skew.max((there - V::new(end[2 * j], end[2 * j + 1])).norm());
        }
    }
    measurements.at_most("asymmetry under half a turn and mirrors (m)", &resolution, skew, 1e-6, SOURCE);
    Ok(())
}
