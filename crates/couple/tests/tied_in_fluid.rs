//! Contact and joints in the same solve as the fluid (spec/fluid-structure.md 3.9): bodies that are tied together, or pressed on each other, move as one body of their form and mass
//! does, with the fluid that it carries along. Were they solved for after the fluid, each would first be pushed as if it were alone.

use splashdown_couple::World;
use splashdown_fluid::{Domain, FluidModel, FluidState, Liquid, Side};
use splashdown_geometry::grid::Grid;
use splashdown_math::{Frame, Twist, Vector};
use splashdown_rigid::{Body, Geometry, Joint, JointKind, Kind};
use std::sync::Arc;

type V = Vector<2>;

const GRAVITY: f64 = -9.81;
const N: usize = 40;

/// Boxes `(lower, upper, density)` in a tank of water, in this order.
fn tank(boxes: &[(V, V, f64)], viscosity: f64) -> World<2> {
    let gravity = V::new(0.0, GRAVITY);
    let mut world = World::new(gravity).unwrap();
    for (number, (lower, upper, density)) in boxes.iter().enumerate() {
        let half = (upper - lower) * 0.5;
        let geometry = Arc::new(Geometry::cuboid(half).unwrap());
        let mass = density * 4.0 * half[0] * half[1];
        let body = Body::with_geometry(format!("box {number}"), Kind::Dynamic, mass, geometry).unwrap();
        world.add_body(body, Frame { position: (lower + upper) * 0.5, ..Frame::identity() }, Twist::zero());
    }
    let grid = Grid::new(V::zeros(), V::repeat(1.0 / N as f64), [N; 2]).unwrap();
    let sides = [[Side::wall(); 2], [Side::wall(), Side::open()]];
    let liquid = Liquid { viscosity, ..Liquid::new("water", 1000.0) };
    let mut model = FluidModel::new(Domain::new(grid, sides).unwrap(), liquid);
    model.gravity = gravity;
    model.options.pressure.relative = 1e-10;
    let state = FluidState::at_rest(&model);
    world.set_fluid(model, state).unwrap();
    world
}

fn velocity_after(world: &mut World<2>, steps: usize) -> Vec<V> {
    for _ in 0..steps {
        world.step(1e-3).unwrap();
    }
    world.state().bodies.iter().map(|body| body.velocity).collect()
}

#[test]
fn two_boxes_on_a_rigid_joint_move_as_one() {
    let (lower, middle, upper) = (V::new(0.35, 0.3), V::new(0.35, 0.4), V::new(0.65, 0.5));
    let corner = V::new(0.65, 0.4);
    for viscosity in [0.0, 1.0] {
        // The light one alone would rise at many times the speed.
        let mut two = tank(&[(lower, corner, 50.0), (middle, upper, 3000.0)], viscosity);
        let frames: Vec<Frame<2>> = two.state().bodies.iter().map(|body| body.frame).collect();
        let at = Joint::frame_at(V::new(0.5, 0.4), None);
        let weld = Joint::between("weld", JointKind::Rigid, Some(0), Some(1), &at, &frames).unwrap();
        two.add_joint(weld).unwrap();
        let [a, b] = velocity_after(&mut two, 3)[..] else { panic!() };
        let one = velocity_after(&mut tank(&[(lower, upper, 1525.0)], viscosity), 3)[0];
        assert!((a - b).norm() < 1e-9 * one.norm(), "viscosity {viscosity}: {a} {b}");
        assert!((a - one).norm() < 1e-4 * one.norm(), "viscosity {viscosity}: tied {a}, one {one}");
    }
}

#[test]
fn a_heavy_box_presses_a_light_one_down_as_one() {
    let (lower, middle, upper) = (V::new(0.35, 0.3), V::new(0.35, 0.4), V::new(0.65, 0.5));
    let corner = V::new(0.65, 0.4);
    for viscosity in [0.0, 1.0] {
        let mut two = tank(&[(lower, corner, 50.0), (middle, upper, 3000.0)], viscosity);
        let [a, b] = velocity_after(&mut two, 3)[..] else { panic!() };
        let one = velocity_after(&mut tank(&[(lower, upper, 1525.0)], viscosity), 3)[0];
        assert!((a - b).norm() < 1e-6 * one.norm(), "viscosity {viscosity}: {a} {b}");
        assert!((a - one).norm() < 1e-2 * one.norm(), "viscosity {viscosity}: stacked {a}, one {one}");
    }
}
