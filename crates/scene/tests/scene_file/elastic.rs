//! Options of bodies of elements do what they say.

use splashdown_couple::World;
use splashdown_deformable::collide::{Colliders, CollisionMethod};
use splashdown_scene::{AnyWorld, Scene, build};

/// A bar along y, held at its upper end, with `more` in its table and `step` in `[elastic]`.
fn bar(step: &str, more: &str) -> World<3> {
    let text = format!(
        "dimension = 3\ngravity = [0, 0, 0]\n[time]\nend = 1\n[elastic]\n{step}\n[[deformable]]\nname = \"bar\"\ngeometry = {{ box = {{ from = [0, 0, 0], size = [0.2, 1, 0.2], cells = [1, 5, 1] }} }}\ndensity = 1000\nmaterial = {{ young = 60000, damping = 0.02 }}\nelastic = {{ hold = [{{ from = [-1, 0.99, -1], to = [1, 1.01, 1] }}], {more} }}\n"
    );
    three(&text)
}

fn three(text: &str) -> World<3> {
    let scene = Scene::parse("bar.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    match build(&scene).expect("a world") {
        AnyWorld::Three(world) => *world,
        AnyWorld::Two(_) => unreachable!("it has three dimensions"),
    }
}

fn lowest(world: &World<3>) -> f64 {
    world.state().solids.motion.position.iter().skip(1).step_by(3).fold(f64::MAX, |low, &y| low.min(y))
}

fn run(world: &mut World<3>, steps: usize) {
    for _ in 0..steps {
        world.step(0.01).expect("a step");
    }
}

#[test]
fn fibres_contract_while_they_are_activated() {
    let fibre = "fibre = { direction = [0, 1, 0], tension = 60000, activation = 0 }";
    let mut world = bar("", &format!("{fibre}, activation = [[0, 0], [0.05, 1], [0.5, 1], [0.55, 0]]"));
    run(&mut world, 40);
    let contracted = lowest(&world);
    assert!(contracted > 0.1, "{contracted}");
    run(&mut world, 120);
    let relaxed = lowest(&world);
    assert!(relaxed.abs() < 0.2 * contracted, "{relaxed} after {contracted}");
}

#[test]
fn flow_goes_only_where_the_goal_is() {
    let plastic = |goal: &str| {
        let mut world = bar(
            "",
            &format!("disturb = {{ noise = 0.05 }}, plastic = {{ yield = 0.01, volume = true{goal} }}"),
        );
        run(&mut world, 5);
        let history = world.state().solids.history.concat();
        history
            .chunks_exact(9)
            .flatten()
            .enumerate()
            .map(|(at, value)| {
                // The inverse of the plastic deformation, a matrix of nine entries.
                (value - if at % 9 % 4 == 0 { 1.0 } else { 0.0 }).abs()
            })
            .fold(0.0, f64::max)
    };
    assert!(plastic("") > 0.01);
    // It is there already.
    assert!(plastic(", goal = [1, 1, 1]") < 1e-12);
}

#[test]
fn springs_are_added_to_the_elements() {
    let names = |more: &str| -> Vec<String> {
        let world = bar("", more);
        let solids = world.solids().expect("solids");
        solids.solid.forces().iter().map(|force| force.name().to_owned()).collect()
    };
    let springs = names("springs = { edges = 100, altitudes = 50, damping_ratio = 1 }");
    assert_eq!(springs.len(), names("").len() + 2, "{springs:?}");
    // Bending springs are for sheets.
    let text = "dimension = 3\n[time]\nend = 1\n[[deformable]]\nname = \"b\"\ngeometry = { ball = { centre = [0, 0, 0], radius = 1, cells = 1 } }\ndensity = 1\nmaterial = { young = 1 }\nelastic = { springs = { bending = 1 } }\n";
    let error = Scene::parse("b.toml", text, &[]).expect_err("an error").to_string();
    assert!(error.contains("needs a sheet"), "{error}");
}

#[test]
fn collisions_are_chosen_in_the_scene() {
    let world = bar("collisions = \"projected\"\ninner_points = true", "");
    let solids = world.solids().expect("solids");
    assert_eq!(solids.integrator.method, CollisionMethod::Projected);
    assert_eq!(solids.integrator.colliders, Colliders::All);
    let world = bar("", "");
    let solids = world.solids().expect("solids");
    assert_eq!(solids.integrator.method, CollisionMethod::Swept);
    assert!(matches!(solids.integrator.colliders, Colliders::These(_)));
}

/// A box tied into a block that is held, with `integrator`.
fn tied(integrator: &str, to: &str) -> String {
    format!(
        "dimension = 3\n[time]\nend = 1\n[elastic]\nintegrator = \"{integrator}\"\ntolerance = 1e-10\n[[deformable]]\nname = \"block\"\ngeometry = {{ box = {{ from = [0, 0, 0], size = [1, 1, 1], cells = [3, 3, 3] }} }}\ndensity = 1000\nmaterial = {{ young = 60000 }}\nelastic = {{ hold = [{{ from = [-1, -1, -1], to = [2, 2, 2] }}] }}\n[[deformable]]\nname = \"weight\"\ngeometry = {{ box = {{ from = [0.3, 0.4, 0.5], size = [0.1, 0.1, 0.1], cells = [1, 1, 1] }} }}\ndensity = 1000\nmaterial = {{ young = 60000, damping = 0.05 }}\nelastic = {{ tie = [{{ to = \"{to}\", stiffness = 1000, damping = 40 }}] }}\n"
    )
}

#[test]
fn tied_bodies_hang_by_their_springs() {
    for integrator in ["scheme_b", "linearly_implicit", "backward_euler"] {
        let scene = Scene::parse("tied.toml", &tied(integrator, "block"), &[]).expect("a scene");
        let AnyWorld::Three(mut world) = build(&scene).expect("a world") else { unreachable!("3D") };
        run(&mut world, 200);
        let solids = world.solids().expect("solids");
        let own = solids.bodies[1].particles.clone();
        let mean = own.clone().map(|i| world.state().solids.motion.position[3 * i + 1]).sum::<f64>() / 8.0;
        // One kilogram on eight springs of 1000 N/m.
        let hangs = 0.45 - mean;
        assert!((hangs - 9.81 / 8000.0).abs() < 1e-6, "{integrator}: {hangs} m");
    }
}

#[test]
fn a_tie_to_nothing_is_told() {
    let message = super::first_error(&tied("scheme_b", "blok"), &[]);
    assert!(message.contains("`weight` is tied to `blok`"), "{message}");
}

#[test]
fn regions_share_a_stretch_as_springs_in_a_row_do() {
    // Two fifths of the bar are four times as stiff; pulled by 0.1 m in all they give 1/28 of their length and the rest 1/7.
    for (cells, kind) in [
        ("cells = [1, 5, 1]", "five tetrahedra a cell"),
        ("cells = [1, 5, 1], hexahedra = true", "hexahedra"),
    ] {
        let text = format!(
            "dimension = 3\ngravity = [0, 0, 0]\n[time]\nend = 2\n[elastic]\nintegrator = \"backward_euler\"\n[[deformable]]\nname = \"bar\"\ngeometry = {{ box = {{ from = [0, 0, 0], size = [0.2, 1, 0.2], {cells} }} }}\ndensity = 100\nmaterial = {{ young = 60000, poisson = 0, damping = 0.02 }}\nelastic = {{ hold = [{{ from = [-1, 0.99, -1], to = [1, 1.01, 1] }}, {{ from = [-1, -0.01, -1], to = [1, 0.01, 1], velocity = [0, -0.2, 0], end = 0.5 }}], regions = [{{ from = [-1, 0, -1], to = [1, 0.4, 1], young = 240000 }}] }}\n"
        );
        let mut world = three(&text);
        run(&mut world, 200);
        let position = &world.state().solids.motion.position;
        let rest = &world.solids().expect("solids").bodies[0].rest;
        let mut seen = 0;
        for (x, rest) in position.chunks_exact(3).zip(rest.chunks_exact(3)) {
            if (rest[1] - 0.4).abs() < 1e-9 {
                seen += 1;
                assert!(
                    (x[1] - (0.3 + 0.4 / 28.0)).abs() < 1e-4,
                    "{kind}: {} instead of {}",
                    x[1],
                    0.3 + 0.4 / 28.0
                );
            }
        }
        assert_eq!(seen, 4);
    }
}

#[test]
fn options_of_contact_and_of_implicit_steps_reach_the_integrator() {
    let step = "integrator = \"backward_euler\"\nresolution = 2e-4\nself_contact = { thickness = 0.01, repulsion = 12, repulsion_only = true }";
    let world = bar(step, "");
    let integrator = &world.solids().expect("solids").integrator;
    assert_eq!(integrator.implicit.resolution, 2e-4);
    let options = integrator.self_contact.as_ref().expect("self-contact").options;
    assert_eq!((options.stiffness, options.continuous), (12.0, false));
}

#[test]
fn a_sheet_with_sine_bending_and_a_mooney_rivlin_block_run() {
    let text = "dimension = 3\ngravity = [0, -9.81, 0]\n[time]\nend = 1\n[[deformable]]\nname = \"sheet\"\ngeometry = { sheet = { corner = [0, 1, 0], u = [0.5, 0, 0], v = [0, 0, 0.5], cells = [4, 4] } }\ndensity = 300\nmaterial = { young = 10000, damping = 0.002 }\nelastic = { bending = { stiffness = 1e-3, model = \"sine_of_half_angle\" }, hold = [{ from = [-1, 0, -1], to = [0.01, 2, 1] }] }\n[[deformable]]\nname = \"block\"\ngeometry = { box = { from = [1, 1, 0], size = [0.3, 0.3, 0.3], cells = [2, 2, 2] } }\ndensity = 1000\nmaterial = { model = \"mooney_rivlin\", young = 40000, poisson = 0.4, damping = 0.01 }\nelastic = { hold = [{ from = [0, 1.29, -1], to = [2, 1.31, 1] }] }\n";
    let mut world = three(text);
    run(&mut world, 30);
    let position = &world.state().solids.motion.position;
    assert!(position.iter().all(|x| x.is_finite()));
    // Both hang lower than they started, and stay in one piece.
    let low =
        |nodes: std::ops::Range<usize>| nodes.map(|node| position[3 * node + 1]).fold(f64::MAX, f64::min);
    let (sheet, block) = (low(0..25), low(25..position.len() / 3));
    assert!(sheet < 0.95 && sheet > 0.4, "{sheet}");
    assert!(block < 0.999 && block > 0.9, "{block}");
}

#[test]
fn ways_to_keep_volume_are_chosen_in_the_scene() {
    let volume = |step: &str| -> f64 {
        let mut world = bar(step, "incompressible = true, disturb = { noise = 0.02 }");
        run(&mut world, 10);
        let solids = world.solids().expect("solids");
        let mut body = solids.integrator.incompressible.clone().expect("an incompressible body");
        body.errors(&world.state().solids.motion.position).1
    };
    for step in [
        "",
        "volume = { solver = \"conjugate_gradients\" }",
        "volume = { sweeps = 4 }",
        "volume = { monolithic = true }",
    ] {
        let error = volume(step);
        assert!(error < 1e-3, "{step}: {error}");
    }
    let refused = |step: &str| {
        let text = format!(
            "dimension = 3\n[time]\nend = 1\n[elastic]\n{step}\n[[deformable]]\nname = \"b\"\ngeometry = {{ ball = {{ centre = [0, 0, 0], radius = 1, cells = 1 }} }}\ndensity = 1\nmaterial = {{ young = 1 }}\nelastic = {{ incompressible = true }}\n"
        );
        Scene::parse("volume.toml", &text, &[]).is_err()
    };
    assert!(refused("integrator = \"backward_euler\"\nvolume = { monolithic = true }"));
    assert!(refused("volume = { monolithic = true, sweeps = 4 }"));
    assert!(!refused("volume = { monolithic = true }"));
}

#[test]
fn what_is_let_go_falls() {
    for integrator in ["scheme_b", "linearly_implicit", "backward_euler"] {
        let text = format!(
            "dimension = 3\n[time]\nend = 1\n[elastic]\nintegrator = \"{integrator}\"\ntolerance = 1e-10\n[[deformable]]\nname = \"bar\"\ngeometry = {{ box = {{ from = [0, 0, 0], size = [0.2, 1, 0.2], cells = [1, 5, 1] }} }}\ndensity = 1000\nmaterial = {{ young = 60000, damping = 0.02 }}\nelastic = {{ hold = [{{ from = [-1, 0.99, -1], to = [1, 1.01, 1], velocity = [0.5, 0, 0], release = 0.1 }}] }}\n"
        );
        let mut world = three(&text);
        run(&mut world, 9);
        assert!((world.diagnostics().mass - 40.0).abs() > 1.0, "it is held");
        run(&mut world, 3);
        let before = world.diagnostics();
        run(&mut world, 10);
        let after = world.diagnostics();
        assert!((after.mass - 40.0).abs() < 1e-9, "{}", after.mass);
        // Free fall, and what it was pulled along goes on; as exact as the velocity solves of explicit schemes are by default.
        let exactness = 1e-4;
        let fallen = (after.momentum[1] - before.momentum[1]) / after.mass;
        assert!((fallen + 9.81 * 0.1).abs() < exactness, "{integrator}: {fallen}");
        let along = (after.momentum[0] - before.momentum[0]) / after.mass;
        assert!(along.abs() < exactness && before.momentum[0] > 1.0, "{integrator}: {along}");
    }
}

#[test]
fn single_precision_keeps_less_and_moves_the_same() {
    let stretched = |more: &str| {
        let mut world = bar("", &format!("disturb = {{ noise = 0.05 }}{more}"));
        run(&mut world, 30);
        let bytes: usize = world.solids().expect("solids").solid.forces().iter().map(|f| f.bytes()).sum();
        (world.state().solids.motion.position.clone(), bytes)
    };
    let (double, wide) = stretched("");
    let (single, narrow) = stretched(", precision = \"single\"");
    let apart = double.iter().zip(&single).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart > 0.0 && apart < 1e-5, "{apart}");
    assert!(10 * narrow < 7 * wide, "{narrow} of {wide} bytes");
}

#[test]
fn sheets_that_face_the_other_way_turn_over() {
    let farthest = |facing: &str| {
        let mut world = three(&format!(
            "dimension = 3\ngravity = [0, 0, 0]\n[time]\nend = 1\n[[deformable]]\nname = \"sheet\"\ngeometry = {{ sheet = {{ corner = [0, 0, 0], u = [0.5, 0, 0], v = [0, 0, 0.5], cells = [2, 2] }} }}\ndensity = 300\nmaterial = {{ young = 10000, damping = 0.002 }}\nelastic = {{ facing = [{facing}] }}\n"
        ));
        let start = world.state().solids.motion.position.clone();
        run(&mut world, 5);
        let now = &world.state().solids.motion.position;
        start.iter().zip(now).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    // x times z is -y.
    assert!(farthest("0, -1, 0") < 1e-12);
    assert!(farthest("0, 1, 0") > 0.01);
    let text = "dimension = 3\n[time]\nend = 1\n[[deformable]]\nname = \"b\"\ngeometry = { ball = { centre = [0, 0, 0], radius = 1, cells = 1 } }\ndensity = 1\nmaterial = { young = 1 }\nelastic = { facing = [0, 1, 0] }\n";
    let errors = Scene::parse("ball.toml", text, &[]).expect_err("a ball has no sides");
    assert!(errors.to_string().contains("facing"), "{errors}");
}
