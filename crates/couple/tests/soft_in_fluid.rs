//! Soft bodies in a fluid: as long as they are stiff they move as rigid ones do, and what they gain the fluid loses.

use splashdown_couple::fluid_structure::{CouplingOptions, Weights};
use splashdown_couple::{Binding, SolidBody, SolidElement, Solids, World};
use splashdown_deformable::Elements;
use splashdown_deformable::element::{Damping, DampingKind, Material as Matter};
use splashdown_deformable::integrate::{Motion, Scheme};
use splashdown_deformable::material::{Lame, Law, Model};
use splashdown_fluid::{Domain, FluidModel, FluidState, Liquid, Side};
use splashdown_geometry::generate::{CubeSplit, box_tetrahedra};
use splashdown_geometry::grid::Grid;
use splashdown_math::{Frame, Twist, Vector};
use splashdown_rigid::{Body, Geometry, Kind};
use std::sync::Arc;

type V = Vector<3>;

const LOWER: [f64; 3] = [0.32, 0.33, 0.31];
const UPPER: [f64; 3] = [0.72, 0.73, 0.71];

fn pool() -> World<3> {
    World::new(V::new(0.0, -9.81, 0.0)).unwrap()
}

/// Fills the world's box with water.
fn fill(world: &mut World<3>) {
    let n = 10;
    let grid = Grid::new(V::zeros(), V::repeat(1.0 / n as f64), [n; 3]).unwrap();
    let mut sides = [[Side::slip(); 2]; 3];
    sides[1][1] = Side::open();
    let mut model = FluidModel::new(Domain::new(grid, sides).unwrap(), Liquid::new("water", 1000.0));
    model.gravity = V::new(0.0, -9.81, 0.0);
    let state = FluidState::at_rest(&model);
    world.set_fluid(model, state).unwrap();
}

/// Velocity (m/s) of the centre of mass of a soft cube after some time; `bound` to a bone without a shape of its own that has all of its mass.
fn soft(density: f64, steps: usize, weights: Weights, bound: bool) -> f64 {
    let mut world = pool();
    world.set_coupling(Some(CouplingOptions { weights, ..CouplingOptions::default() }));
    let mesh = box_tetrahedra(LOWER.into(), UPPER.into(), [4; 3], CubeSplit::Five).unwrap();
    let matter = Matter {
        law: Law::safe(Model::NeoHookean),
        lame: Lame::new(1e7, 0.3).unwrap(),
        density,
        damping: Damping { kind: DampingKind::Linear, time: 1e-3 },
    };
    let mut solids = Solids::<3>::new(world.model().gravity, Scheme::B);
    let elements = Elements::tetrahedra(&mesh, 0, matter).unwrap();
    let mut mass = vec![0.0; mesh.points.len()];
    elements.add_masses(&mut mass);
    solids.solid.add(elements);
    solids.solid.add_particles(&mass, &vec![false; mass.len()]);
    let position: Vec<f64> = mesh.points.iter().flat_map(|x| x.iter().copied()).collect();
    solids.bodies.push(SolidBody {
        name: "soft".into(),
        particles: 0..mesh.points.len(),
        element: SolidElement::Tetrahedron,
        elements: mesh.elements.iter().flatten().copied().collect(),
        rest: position.clone(),
        forces: 0..1,
        strength: vec![],
        activation: vec![],
        families: vec![],
    });
    let velocity = vec![0.0; position.len()];
    if bound {
        let (side, total) = (UPPER[0] - LOWER[0], mass.iter().sum::<f64>());
        let bone = Body::new("bone", Kind::Dynamic, total, &[total * side * side / 6.0; 3]).unwrap();
        let middle = (V::from(LOWER) + V::from(UPPER)) * 0.5;
        let body = world.add_body(bone, Frame { position: middle, ..Frame::identity() }, Twist::zero());
        let binding = |(particle, x): (usize, &V)| Binding {
            particle: particle as u32,
            body: body as u32,
            place: x - middle,
        };
        solids.bindings = mesh.points.iter().enumerate().map(binding).collect();
    }
    world.set_solids(solids, Motion { position, velocity, time: 0.0 });
    fill(&mut world);
    for _ in 0..steps {
        world.step(1e-3).unwrap();
    }
    if let Some(bone) = world.state().bodies.first() {
        return bone.velocity[1];
    }
    let velocity = &world.state().solids.motion.velocity;
    let total: f64 = mass.iter().sum();
    mass.iter().enumerate().map(|(i, m)| m * velocity[3 * i + 1]).sum::<f64>() / total
}

fn rigid(density: f64, steps: usize) -> f64 {
    let mut world = pool();
    let (lower, upper) = (V::from(LOWER), V::from(UPPER));
    let half = (upper - lower) * 0.5;
    let mass = density * 8.0 * half[0] * half[1] * half[2];
    let cube = Arc::new(Geometry::cuboid(half).unwrap());
    let body = Body::with_geometry("cube", Kind::Dynamic, mass, cube).unwrap();
    world.add_body(body, Frame { position: (lower + upper) * 0.5, ..Frame::identity() }, Twist::zero());
    fill(&mut world);
    for _ in 0..steps {
        world.step(1e-3).unwrap();
    }
    world.state().bodies[0].velocity[1]
}

#[test]
fn a_stiff_soft_cube_rises_and_sinks_as_a_rigid_one() {
    // Long enough for the first elastic oscillations to average out.
    for (density, weights) in [(300.0, Weights::Ray), (3000.0, Weights::Ray), (300.0, Weights::Area)] {
        let (soft, rigid) = (soft(density, 20, weights, false), rigid(density, 20));
        let far = (soft / rigid - 1.0).abs();
        assert!(far < 0.1, "density {density}, {weights:?}: soft {soft} m/s, rigid {rigid} m/s");
    }
}

/// FS-33: what the fluid does to flesh that is bound to a bone moves the bone. It went nowhere: bones fell through water as if it were not there.
#[test]
fn bound_flesh_hands_the_push_of_the_fluid_to_its_bone() {
    for density in [300.0, 3000.0] {
        let (bound, rigid) = (soft(density, 20, Weights::Ray, true), rigid(density, 20));
        let far = (bound / rigid - 1.0).abs();
        assert!(far < 0.02, "density {density}: bound {bound} m/s, rigid {rigid} m/s");
    }
}
