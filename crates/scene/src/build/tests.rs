use super::*;
use crate::{Deformable, Rotation, Springs, Step};
use splashdown_math::{Coordinates, Space, Spin, Vector};

fn three(scene: &Scene) -> World<3> {
    match build(scene).expect("a world") {
        AnyWorld::Three(world) => *world,
        AnyWorld::Two(_) => unreachable!("the scene has three dimensions"),
    }
}

#[test]
fn masses_and_inertia_follow_from_density_and_shape() {
    let scene = Scene::new(3)
        .with_rigid(Rigid::sphere("ball", 0.5).density(1000.0))
        .with_rigid(Rigid::cuboid("box", [1.0, 2.0, 3.0]).mass(12.0));
    let world = three(&scene);
    let [ball, cuboid] = world.model().bodies.as_slice() else { unreachable!("two bodies") };
    let mass = 1000.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.125;
    assert!((ball.mass - mass).abs() < 1e-9 * mass);
    let entries = Dim::<3>::inertia_entries(&ball.inertia);
    assert!((entries[0] - 0.4 * mass * 0.25).abs() < 1e-9 * mass);
    // m/12 (b^2 + c^2) about each axis.
    let entries = Dim::<3>::inertia_entries(&cuboid.inertia);
    for (got, exact) in [entries[0], entries[4], entries[8]].into_iter().zip([13.0, 10.0, 5.0]) {
        assert!((got - exact).abs() < 1e-12);
    }
    let flat = Scene::new(2).with_rigid(Rigid::sphere("disc", 2.0).density(3.0));
    let Ok(AnyWorld::Two(world)) = build(&flat) else { unreachable!("a world of two dimensions") };
    assert!((world.model().bodies[0].mass - 12.0 * std::f64::consts::PI).abs() < 1e-12);
}

#[test]
fn rotations_turn_the_way_they_say() {
    let turned = |rotation: Rotation| {
        let scene = Scene::new(3).with_rigid(Rigid::sphere("b", 1.0).mass(1.0).rotation(rotation));
        let world = three(&scene);
        Dim::<3>::rotate(&world.state().bodies[0].frame.rotation, &Vector::from([1.0, 0.0, 0.0]))
    };
    let y = Vector::from([0.0, 1.0, 0.0]);
    let quarter = Rotation::AxisAngle { axis: vec![0.0, 0.0, 1e-200], degrees: 90.0 };
    assert!((turned(quarter) - y).norm() < 1e-12);
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let quarter = Rotation::Quaternion { quaternion: vec![3e200 * half, 0.0, 0.0, 3e200 * half] };
    assert!((turned(quarter) - y).norm() < 1e-12);
    let scene = Scene::new(2).with_rigid(Rigid::sphere("b", 1.0).mass(1.0).rotation(Rotation::Degrees(90.0)));
    let Ok(AnyWorld::Two(world)) = build(&scene) else { unreachable!("a world of two dimensions") };
    let moved = Dim::<2>::rotate(&world.state().bodies[0].frame.rotation, &Vector::from([1.0, 0.0]));
    assert!((moved - Vector::from([0.0, 1.0])).norm() < 1e-12);
}

#[test]
fn copies_fill_a_grid_and_spin_is_what_the_scene_says() {
    let body = Rigid::cuboid("b", [0.1, 0.2, 0.3]).mass(1.0).position([1.0, 0.0, 0.0]).spin([1.0, 2.0, 3.0]);
    let scene = Scene::new(3).with_rigid(body.repeat([2, 1, 3], [1.0, 9.0, 2.0]));
    let world = three(&scene);
    let places: Vec<[f64; 3]> = world.state().bodies.iter().map(|b| b.frame.position.into()).collect();
    assert_eq!(places.len(), 6);
    assert_eq!(places[0], [1.0, 0.0, 0.0]);
    assert_eq!(places[1], [2.0, 0.0, 0.0]);
    assert_eq!(places[5], [2.0, 0.0, 4.0]);
    assert_eq!(world.model().bodies[5].name, "b-6");
    let twist = world.state().bodies[3].twist(&world.model().bodies[3]);
    assert!((twist.angular - Spin::<3>::from_slice(&[1.0, 2.0, 3.0])).norm() < 1e-12);
}

#[test]
fn a_chain_has_its_mass_its_pins_and_relaxed_springs() {
    let chain = Deformable::chain("c", [0.0, 0.0], [3.0, 4.0], 6)
        .density(2.0)
        .springs(Springs { stiffness: 100.0, damping_ratio: 0.5, rest_length: None })
        .velocity([1.0, 0.0])
        .pinned([5]);
    let scene = Scene::new(2).with_deformable(chain);
    let Ok(AnyWorld::Two(world)) = build(&scene) else { unreachable!("a world of two dimensions") };
    let model = world.model();
    assert!((model.particles.mass.iter().sum::<f64>() - 10.0).abs() < 1e-12);
    assert_eq!(model.particles.pinned, [false, false, false, false, false, true]);
    assert!(model.springs.energy(&world.state().particles.position) < 1e-25);
    assert_eq!(world.state().particles.velocity[5], Vector::<2>::zeros());
    assert_eq!(world.state().particles.velocity[4], Vector::from([1.0, 0.0]));
}

#[test]
fn every_shipped_scene_builds_and_its_step_is_stable() {
    for shipped in crate::shipped() {
        let scene = crate::load(shipped.name, &[]).unwrap_or_else(|e| panic!("{e}")).scene;
        let world = build(&scene).unwrap_or_else(|e| panic!("{}: {e}", shipped.name));
        if let Some(Step::Fixed(step)) = scene.time.step {
            assert!(
                step < world.stable_step(),
                "{}: {step} s, stable {} s",
                shipped.name,
                world.stable_step()
            );
        }
    }
}
