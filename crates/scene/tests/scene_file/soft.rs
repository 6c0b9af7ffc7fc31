//! More of what scenes say of soft bodies: strength against time, goals from files, fibres, letting go.

use splashdown_couple::World;
use splashdown_deformable::contact::intersections;
use splashdown_math::Vector;
use splashdown_scene::{AnyWorld, Scene, build};

fn three(text: &str) -> World<3> {
    let scene = Scene::parse("soft.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let AnyWorld::Three(world) = build(&scene).expect("a world") else { unreachable!("3D") };
    *world
}

/// A bar along y of five cells, held at its upper end.
fn bar(step: &str, material: &str, more: &str) -> World<3> {
    three(&bar_text(step, material, more))
}

fn bar_text(step: &str, material: &str, more: &str) -> String {
    format!(
        "dimension = 3\ngravity = [0, 0, 0]\n[time]\nend = 1\n[elastic]\n{step}\n[[deformable]]\nname = \"bar\"\ngeometry = {{ box = {{ from = [0, 0, 0], size = [0.2, 1, 0.2], cells = [1, 5, 1] }} }}\ndensity = 1000\nmaterial = {{ young = 60000, damping = 0.02, {material} }}\n[deformable.elastic]\nhold = [{{ from = [-1, 0.99, -1], to = [1, 1.01, 1] }}]\n{more}\n"
    )
}

fn run(world: &mut World<3>, steps: usize) {
    for _ in 0..steps {
        world.step(0.01).expect("a step");
    }
}

fn extent(world: &World<3>, axis: usize) -> f64 {
    let along = || world.state().solids.motion.position.iter().skip(axis).step_by(3);
    along().fold(f64::MIN, |m, &x| m.max(x)) - along().fold(f64::MAX, |m, &x| m.min(x))
}

/// Spec DS-51: without strength a cube lies flat on the floor, and stands up again with it.
#[test]
fn strength_against_time_melts_a_cube_and_lets_it_stand_up() {
    for integrator in ["scheme_b", "linearly_implicit"] {
        let mut world = three(&format!(
            "dimension = 3\n[time]\nend = 3\n[elastic]\nintegrator = \"{integrator}\"\ninner_points = true\n[[rigid]]\nname = \"floor\"\nkind = \"static\"\nshape = {{ plane = {{}} }}\n[[deformable]]\nname = \"cube\"\ngeometry = {{ box = {{ from = [-0.2, 0.01, -0.2], size = [0.4, 0.4, 0.4], cells = [3, 3, 3] }} }}\ndensity = 100\nmaterial = {{ young = 20000, damping = 0.02 }}\nelastic = {{ strength = [[0, 0], [0.5, 0], [0.6, 1]] }}\n"
        ));
        run(&mut world, 50);
        assert!(extent(&world, 1) < 1e-3, "{integrator}: {} m high", extent(&world, 1));
        assert_eq!(world.diagnostics().elastic_energy, 0.0, "{integrator}");
        run(&mut world, 150);
        assert!((extent(&world, 1) - 0.4).abs() < 0.02, "{integrator}: {} m high", extent(&world, 1));
        assert_eq!(world.diagnostics().elements.expect("elements").inverted, 0, "{integrator}");
    }
}

/// Spec DS-23: a goal from a file is the same as one from factors, and one with a twist in it, which no factors have, is reached.
#[test]
fn plastic_goals_come_from_files() {
    use splashdown_geometry::generate::{CubeSplit, box_tetrahedra};
    use splashdown_geometry::io::{AnyMesh, Encoding, write_mesh};
    use splashdown_math::Vector;
    let folder = tempfile::tempdir().expect("a folder");
    let mesh = box_tetrahedra(Vector::zeros(), Vector::<3>::new(0.2, 1.0, 0.2), [1, 5, 1], CubeSplit::Five)
        .expect("a mesh");
    let write = |name: &str, map: &dyn Fn(&Vector<3>) -> Vector<3>| {
        let points: Vec<_> = mesh.points.iter().map(|x| map(x) * 10.0).collect();
        let path = folder.path().join(name);
        write_mesh(
            &path,
            &AnyMesh { points, tetrahedra: mesh.elements.clone(), ..AnyMesh::default() },
            Encoding::Binary,
        )
        .expect("a file");
        path
    };
    let wide = write("wide.vtk", &|x| Vector::<3>::new(1.3 * x[0], 0.8 * x[1], 1.1 * x[2]));
    let flowed = |goal: &str| {
        let mut world = bar(
            "",
            "",
            &format!("disturb = {{ noise = 0.05 }}\nplastic = {{ yield = 0.01, volume = true, {goal} }}"),
        );
        run(&mut world, 5);
        world.state().solids.history.concat()
    };
    let (factors, file) = (
        flowed("goal = [1.3, 0.8, 1.1]"),
        flowed(&format!("goal_shape = {{ path = {wide:?}, scale = 0.1 }}")),
    );
    assert!(!file.is_empty() && file != flowed(""));
    let apart = factors.iter().zip(&file).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart < 1e-9, "{apart:e}");
    // Twisted by half a radian a metre, and held so: it becomes the shape that it is held in.
    let twist = |x: &Vector<3>| {
        let (sin, cos) = (1.5 * (x[1] - 1.0)).sin_cos();
        let (a, b) = (x[0] - 0.1, x[2] - 0.1);
        Vector::<3>::new(0.1 + cos * a + sin * b, x[1], 0.1 - sin * a + cos * b)
    };
    let aim = write("twist.vtk", &twist);
    let text = |goal: &str| {
        format!(
            "dimension = 3\ngravity = [0, 0, 0]\n[time]\nend = 4\n[[deformable]]\nname = \"bar\"\ngeometry = {{ box = {{ from = [0, 0, 0], size = [0.2, 1, 0.2], cells = [1, 5, 1] }} }}\ndensity = 1000\nmaterial = {{ young = 60000, damping = 0.05 }}\n[deformable.elastic]\nhold = [{{ from = [-1, 0.99, -1], to = [1, 1.01, 1] }}, {{ from = [-1, -0.01, -1], to = [1, 0.01, 1], spin = [0, -3, 0], centre = [0.1, 0, 0.1], end = 0.5, release = 1 }}]\nplastic = {{ yield = 0.001, volume = true, {goal} }}\n"
        )
    };
    let left = |goal: &str| {
        let mut world = three(&text(goal));
        run(&mut world, 300);
        let position = &world.state().solids.motion.position;
        let far = mesh
            .points
            .iter()
            .zip(position.as_chunks::<3>().0)
            .map(|(x, now)| (twist(x) - Vector::from(*now)).norm());
        far.fold(0.0, f64::max)
    };
    let reached = left(&format!("goal_shape = {{ path = {aim:?}, scale = 0.1 }}"));
    assert!(reached < 0.02, "{reached} m from the goal");
    // With its own rest shape as the goal it springs back: corners are 0.14 m from the axis and were turned by 1.5.
    assert!(left("goal = [1, 1, 1]") > 0.1);
    let few = AnyMesh { points: vec![Vector::zeros(); 3], triangles: vec![[0, 1, 2]], ..AnyMesh::default() };
    let path = folder.path().join("few.vtk");
    write_mesh(&path, &few, Encoding::Binary).expect("a file");
    let wrong = |goal: &str| super::first_error(&text(goal), &[]);
    let message = wrong(&format!("goal_shape = {{ path = {path:?} }}"));
    assert!(message.contains("has 3 points and the body 24"), "{message}");
    let message = wrong(&format!("goal = [1, 1, 1], goal_shape = {{ path = {path:?} }}"));
    assert!(message.contains("both `goal` and `goal_shape`"), "{message}");
}

/// Spec DS-15: families contract at their own times; fibres without a passive part are slack; those of a spindle come together at its ends.
#[test]
fn families_of_fibres_have_their_own_activation_and_course() {
    // Fibres and material balance each other, which leaves no force to measure a residual by: what is left to move says when it is done.
    let step = "integrator = \"quasistatic\"\ntolerance = 1e-8\nresolution = 1e-8";
    let family = |tension: f64, schedule: &str| {
        format!("{{ direction = [0, 1, 0], tension = {tension}, activation = 0, schedule = {schedule} }}")
    };
    let fibres = format!(
        "fibre = [{}, {}]",
        family(12000.0, "[[0, 0], [0.05, 1], [0.1, 1], [0.15, 0]]"),
        family(6000.0, "[[0.1, 0], [0.15, 1]]")
    );
    let mut world = bar(step, "poisson = 0", &fibres);
    // E e = T (1 - 25/6 e^2).
    let exact = |tension: f64| {
        let ratio = tension / 60000.0;
        3.0 / 25.0 / ratio * ((1.0 + 50.0 / 3.0 * ratio * ratio).sqrt() - 1.0)
    };
    for tension in [12000.0, 6000.0] {
        run(&mut world, 10);
        let short = 1.0 - extent(&world, 1);
        assert!((short - exact(tension)).abs() < 1e-6, "{short} instead of {}", exact(tension));
    }
    let e = exact(12000.0);
    // A pull of 0.2 in strain: fibres of the usual passive tension carry a part of it, slack ones nothing.
    let pulled = |passive: &str| {
        let fibre = format!(
            "fibre = [{{ direction = [0, 1, 0], tension = 60000, activation = 0{passive} }}]\nload = [{{ from = [-1, -0.01, -1], to = [1, 0.01, 1], force = [0, -480, 0] }}]"
        );
        // Hexahedra, whose corners have the same mass and so the same part of the load.
        let text = bar_text(step, "poisson = 0", &fibre);
        let mut world = three(&text.replace("cells = [1, 5, 1]", "cells = [1, 5, 1], hexahedra = true"));
        run(&mut world, 1);
        extent(&world, 1) - 1.0
    };
    let (slack, usual) = (pulled(", passive = { scale = 0 }"), pulled(""));
    assert!((slack - 0.2).abs() < 1e-6, "{slack}");
    // E e + T p (exp(x) - x - 1) = 12000 Pa with x = 6.6 e.
    let stress = |e: f64| 60000.0 * (e + 0.05 * ((6.6 * e).exp() - 6.6 * e - 1.0));
    assert!((stress(usual) - 12000.0).abs() < 1.0, "{usual}: {}", stress(usual));
    let stiff = pulled(", passive = { scale = 0.05, exponent = 20, limit = 1.1 }");
    assert!(stiff < 0.9 * usual, "{stiff} {usual}");
    // A spindle that is long and far away has straight fibres; one of the length of the bar shortens it less.
    let shortened = |course: &str| {
        let mut world =
            bar(step, "poisson = 0", &format!("fibre = [{{ {course}, tension = 12000, activation = 1 }}]"));
        run(&mut world, 1);
        1.0 - extent(&world, 1)
    };
    let straight = shortened("direction = [0, 1, 0]");
    let long = shortened("fusiform = { from = [0.1, -1000, 0.1], to = [0.1, 1000, 0.1] }");
    assert!((straight - e).abs() < 1e-6 && (long - straight).abs() < 1e-6, "{straight} {long}");
    let short = shortened("fusiform = { from = [0.1, -0.1, 0.1], to = [0.1, 1.1, 0.1] }");
    assert!(short < straight - 1e-4 && short > 0.5 * straight, "{short} {straight}");
}

/// Families across each other: where fibres pull along one way and the clamped end holds the other, stiffnesses of law and fibres must be made definite together, or Newton's method creeps.
#[test]
fn crossed_families_find_their_equilibrium() {
    let family = |direction: &str, schedule: &str| {
        format!("{{ direction = {direction}, tension = 12000, activation = 0, schedule = {schedule} }}")
    };
    let fibres = format!(
        "fibre = [{}, {}]",
        family("[0, 1, 0]", "[[0, 0], [0.05, 1], [0.1, 1], [0.2, 0]]"),
        family("[1, 0, 0]", "[[0.2, 0], [0.25, 1]]")
    );
    let mut world = bar("integrator = \"quasistatic\"\ntolerance = 1e-8", "poisson = 0", &fibres);
    // E e = T (1 - 25/6 e^2), as for a bar; across, the clamped end keeps its width.
    let e = 3.0 / 25.0 * 5.0 * ((1.0f64 + 50.0 / 3.0 / 25.0).sqrt() - 1.0);
    run(&mut world, 10);
    let [across, along] = [extent(&world, 0), extent(&world, 1)];
    assert!((along - (1.0 - e)).abs() < 1e-6 && (across - 0.2).abs() < 1e-6, "{across} {along}");
    run(&mut world, 20);
    let [across, along] = [extent(&world, 0), extent(&world, 1)];
    assert!(along > 0.99 && (across - 0.2).abs() < 1e-6, "{across} {along}");
    let rest = &world.solids().expect("solids").bodies[0].rest;
    let now = &world.state().solids.motion.position;
    // The tetrahedra at the clamped end are no mirror images of each other and let the others turn about the bar: between corners, then.
    let corner = |x: f64| {
        let place = [x, 0.0, 0.0];
        let at = (0..rest.len() / 3).find(|n| (0..3).all(|k| (rest[3 * n + k] - place[k]).abs() < 1e-9));
        Vector::<3>::from_column_slice(&now[3 * at.expect("a corner")..][..3])
    };
    let narrow = (corner(0.2) - corner(0.0)).norm();
    assert!((narrow - 0.2 * (1.0 - e)).abs() < 1e-4, "{narrow}");
}

/// Spec DS-14: the stiffness of the energy extension is the scene's.
#[test]
fn the_stiffness_beyond_the_threshold_is_chosen() {
    let energy = |stiffness: &str| {
        let material =
            format!("model = \"neo_hookean\", inversion = {{ energy = {{ stretch = 0.6{stiffness} }} }}");
        let world = bar("", &material, "disturb = { noise = 0.3, seed = 3 }");
        assert!(world.diagnostics().elements.expect("elements").inverted > 0);
        world.diagnostics().elastic_energy
    };
    // (lambda + 2 mu) / stretch^2 for E = 60 kPa and the ratio 0.3.
    let modulus = 60000.0 * 0.7 / (1.3 * 0.4) / 0.36;
    let (default, same) = (energy(""), energy(&format!(", stiffness = {modulus}")));
    assert!((default - same).abs() < 1e-9 * default, "{default} {same}");
    assert!(energy(", stiffness = 1e7") > 2.0 * default);
}

/// Spec DS-37: points that run into the floor while a force pulls them off it stay for the step, or leave with the whole speed that they are pulled off with.
#[test]
fn contacts_that_pull_let_go_if_they_may() {
    let speed = |release: bool| {
        let mut world = three(&format!(
            "dimension = 3\ngravity = [0, 0, 0]\n[time]\nend = 1\n[elastic]\nintegrator = \"scheme_b\"\nrelease = {release}\nsolve_tolerance = 1e-10\n[[rigid]]\nname = \"floor\"\nkind = \"static\"\nshape = {{ plane = {{}} }}\n[[deformable]]\nname = \"cube\"\ngeometry = {{ box = {{ from = [0, 0, 0], size = [0.2, 0.2, 0.2], cells = [1, 1, 1] }} }}\ndensity = 1000\nmaterial = {{ young = 10 }}\nvelocity = [0, -1, 0]\n[deformable.elastic]\nload = [{{ from = [-1, -0.01, -1], to = [1, 0.01, 1], force = [0, 4000, 0] }}]\n"
        ));
        world.step(1e-3).expect("a step");
        let rest = &world.solids().expect("solids").bodies[0].rest;
        let velocity = &world.state().solids.motion.velocity;
        let low = (0..rest.len() / 3).filter(|n| rest[3 * n + 1] == 0.0).map(|n| velocity[3 * n + 1]);
        low.collect::<Vec<f64>>()
    };
    // 4 kg are on the floor: 1000 m/s^2 for a millisecond.
    assert!(speed(false).iter().all(|v| v.abs() < 1e-9), "{:?}", speed(false));
    assert!(speed(true).iter().all(|v| (v - 1.0).abs() < 1e-3), "{:?}", speed(true));
}

#[test]
fn the_speed_of_push_out_is_chosen() {
    let speed = |step: &str| bar(step, "", "").solids().expect("solids").integrator.push_out;
    assert_eq!(speed("push_out_speed = 0.25"), 0.25);
    assert_eq!(speed(""), f64::INFINITY);
}

/// Spec DS-41: what passes through itself or another body at the start is refused by contact along paths, in both dimensions; contact by distance alone may begin so.
#[test]
fn surfaces_that_pass_through_each_other_at_the_start_are_refused() {
    let text = |dimension: usize, step: &str, height: f64| {
        let body = |name: &str, centre: &str| {
            format!(
                "[[deformable]]\nname = \"{name}\"\ngeometry = {{ ball = {{ centre = {centre}, radius = 0.2, cells = 3 }} }}\ndensity = 100\nmaterial = {{ young = 1000 }}\n"
            )
        };
        let places = match dimension {
            2 => ["[0, 0]".to_owned(), format!("[0.03, {height}]")],
            _ => ["[0, 0, 0]".to_owned(), format!("[0.03, {height}, 0.02]")],
        };
        format!(
            "dimension = {dimension}\n[time]\nend = 1\n[elastic]\n{step}\n{}{}",
            body("lower", &places[0]),
            body("upper", &places[1])
        )
    };
    for dimension in [2, 3] {
        for integrator in ["scheme_b", "scheme_c", "backward_euler", "two_pass"] {
            let step = format!("integrator = \"{integrator}\"\nself_contact = {{ thickness = 0.01 }}");
            let message = super::first_error(&text(dimension, &step, 0.3), &[]);
            assert!(message.contains("passes through `") && message.starts_with("s.toml:"), "{message}");
            Scene::parse("s.toml", &text(dimension, &step, 0.45), &[])
                .unwrap_or_else(|errors| panic!("{errors}"));
        }
        let distance = "self_contact = { thickness = 0.01, repulsion_only = true }";
        Scene::parse("s.toml", &text(dimension, distance, 0.3), &[])
            .unwrap_or_else(|errors| panic!("{errors}"));
    }
    // Through itself.
    let tangled = "dimension = 3\n[time]\nend = 1\n[elastic]\nself_contact = { thickness = 0.001 }\n[[deformable]]\nname = \"cube\"\ngeometry = { box = { from = [0, 0, 0], size = [1, 1, 1], cells = [3, 3, 3] } }\ndensity = 100\nmaterial = { young = 1000 }\nelastic = { disturb = { noise = 0.5 } }\n";
    let message = super::first_error(tangled, &[]);
    assert!(message.contains("`cube`: its surface passes through itself"), "{message}");
}

/// Two soft discs that meet at 4 m/s in the plane, off centre: their outlines never cross.
#[test]
fn discs_in_the_plane_never_cross() {
    for (integrator, dt) in [("scheme_b", 0.005), ("backward_euler", 0.01)] {
        let disc = |name: &str, x: f64, y: f64, speed: f64| {
            format!(
                "[[deformable]]\nname = \"{name}\"\ngeometry = {{ ball = {{ centre = [{x}, {y}], radius = 0.2, cells = 4 }} }}\ndensity = 100\nmaterial = {{ young = 3000, damping = 0.01 }}\nvelocity = [{speed}, 0]\n"
            )
        };
        let text = format!(
            "dimension = 2\ngravity = [0, 0]\n[time]\nend = 1\n[elastic]\nintegrator = \"{integrator}\"\nself_contact = {{ thickness = 0.01, friction = 0.2 }}\n{}{}",
            disc("left", -0.3, 0.0, 2.0),
            disc("right", 0.3, 0.11, -2.0)
        );
        let scene = Scene::parse("discs.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
        let AnyWorld::Two(mut world) = build(&scene).expect("a world") else { unreachable!("2D") };
        let mut met = 0;
        for _ in 0..(0.5 / dt) as usize {
            let report = world.step(dt).expect("a step");
            met += report.solids.as_ref().map_or(0, |solids| solids.self_contact.proximities);
            let contact = world
                .solids()
                .and_then(|solids| solids.integrator.self_contact.as_ref())
                .expect("self-contact");
            let crossing = intersections(contact.surface(), &world.state().solids.motion.position);
            assert_eq!(crossing, 0, "{integrator}");
        }
        assert!(met > 0, "{integrator}: they never met");
    }
}

/// A block on a belt that goes up or down and to the side: friction of backward Euler is that of its weight, `mu g`, however the belt moves.
#[test]
fn friction_of_implicit_steps_does_not_depend_on_how_obstacles_move() {
    for rise in [-0.5, 0.0, 0.5] {
        let mut world = three(&format!(
            "dimension = 3\n[time]\nend = 1\n[elastic]\nintegrator = \"backward_euler\"\nfriction = 0.1\n[[rigid]]\nname = \"belt\"\nkind = \"kinematic\"\nshape = {{ box = {{ size = [4, 0.2, 4] }} }}\nposition = [0, -0.1, 0]\nvelocity = [2, {rise}, 0]\n[[deformable]]\nname = \"block\"\ngeometry = {{ box = {{ from = [-0.2, 0.0006, -0.2], size = [0.4, 0.1, 0.4], cells = [2, 1, 2] }} }}\ndensity = 1000\nmaterial = {{ young = 1e6, damping = 0.01 }}\nvelocity = [0, {rise}, 0]\n"
        ));
        let mut speeds = Vec::new();
        for _ in 0..3 {
            run(&mut world, 20);
            let now = world.diagnostics();
            speeds.push(now.momentum[0] / now.mass);
        }
        for pair in speeds.windows(2) {
            let gained = (pair[1] - pair[0]) / 0.2;
            assert!((gained - 0.981).abs() < 0.02, "belt at {rise} m/s: {gained} m/s^2 of 0.981, {speeds:?}");
        }
    }
}
