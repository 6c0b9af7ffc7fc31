//! Options of bodies of elements do what they say.

use splashdown_couple::World;
use splashdown_deformable::collide::{Colliders, CollisionMethod};
use splashdown_scene::{AnyWorld, Scene, build};

/// A bar along y, held at its upper end, with `more` in its table and `step` in `[elastic]`.
fn bar(step: &str, more: &str) -> World<3> {
    three(&scene_of_bar(step, more))
}

fn scene_of_bar(step: &str, more: &str) -> String {
    format!(
        "dimension = 3\ngravity = [0, 0, 0]\n[time]\nend = 1\n[elastic]\n{step}\n[[deformable]]\nname = \"bar\"\ngeometry = {{ box = {{ from = [0, 0, 0], size = [0.2, 1, 0.2], cells = [1, 5, 1] }} }}\ndensity = 1000\nmaterial = {{ young = 60000, damping = 0.02 }}\nelastic = {{ hold = [{{ from = [-1, 0.99, -1], to = [1, 1.01, 1] }}], {more} }}\n"
    )
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
    let fibre = "fibre = [{ direction = [0, 1, 0], tension = 60000, activation = 0 }]";
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

/// INC-22: sheets in space keep their area, ring by ring.
#[test]
fn a_sheet_keeps_its_area() {
    let area = |keeps: bool| -> f64 {
        let text = format!(
            "dimension = 3\n[time]\nend = 1\n[elastic]\nvolume = {{ tolerance = 1e-4 }}\n[[deformable]]\nname = \"sheet\"\ngeometry = {{ sheet = {{ corner = [0, 1, 0], u = [1, 0, 0], v = [0, 0, 1], cells = [6, 6] }} }}\ndensity = 1000\nmaterial = {{ young = 3e4, poisson = 0, damping = 0.02 }}\nelastic = {{ thickness = 0.01, incompressible = {keeps}, hold = [{{ from = [-0.1, 0, -0.1], to = [0.01, 2, 1.1] }}] }}\n"
        );
        let mut world = three(&text);
        run(&mut world, 20);
        let solids = world.solids().expect("solids");
        let (corners, rest) = (&solids.bodies[0].elements, &solids.bodies[0].rest);
        let mut rings =
            splashdown_deformable::incompressible::Rings::<3>::new(3, corners, rest).expect("rings");
        rings.update(&world.state().solids.motion.position);
        let (now, rest) = rings.total();
        (now / rest - 1.0).abs()
    };
    let [free, kept] = [area(false), area(true)];
    assert!(kept < 1e-3 && kept < 0.2 * free, "{kept} {free}");
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

/// A sheet, a plate of bricks or a bar along y without weight, held where `y > 0.99`, with `elastic`.
fn strip(dimension: usize, geometry: &str, step: &str, material: &str, elastic: &str) -> Scene {
    let (gravity, low, high) = match dimension {
        2 => ("[0, 0]", "[-1, 0.99]", "[1, 1.01]"),
        _ => ("[0, 0, 0]", "[-1, 0.99, -1]", "[1, 1.01, 1]"),
    };
    let text = format!(
        "dimension = {dimension}\ngravity = {gravity}\n[time]\nend = 1\n[elastic]\n{step}\n[[deformable]]\nname = \"strip\"\ngeometry = {{ {geometry} }}\ndensity = 1000\nmaterial = {{ young = 60000, {material} }}\nelastic = {{ hold = [{{ from = {low}, to = {high} }}], {elastic} }}\n"
    );
    Scene::parse("strip.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn every_kind_of_element_has_fibres() {
    let kinds = [
        (2, "sheet = { corner = [0, 0], u = [0.2, 0], v = [0, 1], cells = [1, 5] }", "[0, 1]"),
        (3, "sheet = { corner = [0, 0, 0], u = [0.2, 0, 0], v = [0, 1, 0], cells = [1, 5] }", "[0, 1, 0]"),
        (
            3,
            "box = { from = [0, 0, 0], size = [0.2, 1, 0.2], cells = [1, 5, 1], hexahedra = true }",
            "[0, 1, 0]",
        ),
    ];
    for (dimension, geometry, along) in kinds {
        let shortened = |tension: f64| {
            let fibre = format!(
                "fibre = [{{ direction = {along}, tension = {tension}, activation = 1, density = 0.5 }}, {{ direction = {along}, tension = {tension}, activation = 1, density = 0.5 }}]"
            );
            let step = "integrator = \"quasistatic\"\ntolerance = 1e-8";
            let scene = strip(dimension, geometry, step, "poisson = 0", &fibre);
            let position = match build(&scene).expect("a world") {
                AnyWorld::Two(mut world) => {
                    world.step(0.01).expect("a step");
                    world.state().solids.motion.position.clone()
                }
                AnyWorld::Three(mut world) => {
                    world.step(0.01).expect("a step");
                    world.state().solids.motion.position.clone()
                }
            };
            position.iter().skip(1).step_by(dimension).fold(f64::MAX, |low, &y| low.min(y))
        };
        // Two halves of a family are the family: E e = T (1 - 25/6 e^2) at the shortening e.
        let (young, tension) = (60000.0f64, 12000.0f64);
        let e = 3.0 / 25.0 * young / tension
            * ((1.0 + 50.0 / 3.0 * (tension / young) * (tension / young)).sqrt() - 1.0);
        let (found, expected) = (shortened(tension), e);
        assert!((found - expected).abs() < 1e-6, "{geometry}: {found} instead of {expected}");
        assert!(shortened(1e-9).abs() < 1e-9);
    }
    // What would do nothing, or something wrong, is refused.
    for (model, more) in [("linear", ""), ("rotated_linear", ", plastic = { yield = 0.1 }")] {
        let text = format!(
            "dimension = 3\n[time]\nend = 1\n[[deformable]]\nname = \"b\"\ngeometry = {{ ball = {{ centre = [0, 0, 0], radius = 1, cells = 1 }} }}\ndensity = 1\nmaterial = {{ young = 1, model = \"{model}\" }}\nelastic = {{ fibre = [{{ direction = [0, 1, 0], tension = 1, activation = 1 }}]{more} }}\n"
        );
        let errors = Scene::parse("fibres.toml", &text, &[]).expect_err("fibres that cannot be").to_string();
        assert!(errors.contains("fibres"), "{errors}");
    }
}

/// A bar that hangs is longer by `rho g L^2 / (2 E)`, at once; moved, it is there again with nothing left moving.
#[test]
fn quasistatic_steps_end_in_equilibrium() {
    let text = "dimension = 3\n[time]\nend = 1\n[elastic]\nintegrator = \"quasistatic\"\ntolerance = 1e-9\n[[deformable]]\nname = \"bar\"\ngeometry = { box = { from = [0, 0, 0], size = [0.2, 1, 0.2], cells = [1, 5, 1] } }\ndensity = 10\nmaterial = { young = 60000, poisson = 0, damping = 0.1 }\nelastic = { hold = [{ from = [-1, 0.99, -1], to = [1, 1.01, 1], velocity = [1, 0, 0] }] }\n";
    let mut world = three(text);
    for step in 1..4 {
        run(&mut world, 1);
        let expected = 10.0 * 9.81 / (2.0 * 60000.0);
        let low = lowest(&world);
        assert!((low + expected).abs() < 0.02 * expected, "{low} instead of -{expected}");
        let motion = &world.state().solids.motion;
        let along: f64 = motion.position.iter().step_by(3).sum::<f64>() / (motion.position.len() / 3) as f64;
        assert!((along - 0.1 - 0.01 * f64::from(step)).abs() < 1e-6, "{along} after {step} steps");
        let held = |at: usize| motion.position[3 * (at / 3) + 1] > 0.99;
        assert!((0..motion.velocity.len()).all(|at| held(at) || motion.velocity[at] == 0.0));
    }
    let free = text.replace("from = [-1, 0.99, -1], to = [1, 1.01, 1]", "from = [5, 5, 5], to = [6, 6, 6]");
    assert!(three(&free).step(0.01).is_err());
}

/// A cantilever one cell thick bends as far as Euler and Bernoulli say with quadratic tetrahedra, a third as far with linear ones (spec/deformable-solids.md T14).
#[test]
fn quadratic_tetrahedra_bend_without_locking() {
    let tip = |more: &str| {
        let text = format!(
            "dimension = 3\ngravity = [0, -0.01, 0]\n[time]\nend = 1\n[elastic]\nintegrator = \"quasistatic\"\ntolerance = 1e-9\n[[deformable]]\nname = \"bar\"\ngeometry = {{ box = {{ from = [0, 0, 0], size = [1, 0.1, 0.1], cells = [10, 1, 1] }} }}\ndensity = 1\nmaterial = {{ young = 1e5, poisson = 0 }}\nelastic = {{ hold = [{{ from = [-1, -1, -1], to = [0, 1, 1] }}], {more} }}\n"
        );
        let mut world = three(&text);
        run(&mut world, 1);
        let solids = world.solids().expect("solids");
        let (rest, now) = (&solids.bodies[0].rest, &world.state().solids.motion.position);
        let ends: Vec<f64> = (0..rest.len() / 3)
            .filter(|point| rest[3 * point] > 1.0 - 1e-9)
            .map(|point| rest[3 * point + 1] - now[3 * point + 1])
            .collect();
        ends.iter().sum::<f64>() / ends.len() as f64 / (1.5 * 0.01 / (1e5 * 0.01))
    };
    let (linear, quadratic) = (tip(""), tip("quadratic = true"));
    assert!((linear - 0.327).abs() < 0.005, "{linear}");
    assert!((quadratic - 1.0).abs() < 0.05, "{quadratic}");
    // Points of the mesh keep their numbers, regions and springs still find it.
    let more = "quadratic = true, regions = [{ from = [0, 0, 0], to = [0.5, 1, 1], young = 1e8 }]";
    let stiff = tip(more);
    assert!(stiff < 0.2 * quadratic, "{stiff} of {quadratic}");
    let text = "dimension = 3\n[time]\nend = 1\n[[deformable]]\nname = \"b\"\ngeometry = { sheet = { corner = [0, 0, 0], u = [1, 0, 0], v = [0, 0, 1], cells = [1, 1] } }\ndensity = 1\nmaterial = { young = 1 }\nelastic = { quadratic = true }\n";
    let errors = Scene::parse("b.toml", text, &[]).expect_err("a sheet has no tetrahedra").to_string();
    assert!(errors.contains("needs tetrahedra"), "{errors}");
}

/// A plate as thin as 2 mm that comes at 20 or 40 m/s takes a sheet along by its surface; by distance it goes through without a trace (spec/deformable-solids.md DS-44).
#[test]
fn thin_and_fast_bodies_are_met_along_their_paths() {
    let text = |contact: &str, integrator: &str, kind: &str, speed: f64| {
        format!(
            "dimension = 3\ngravity = [0, 0, 0]\n[time]\nend = 1\n[elastic]\nintegrator = \"{integrator}\"\nself_contact = {{ thickness = 0.002, friction = 0.3 }}\n[[rigid]]\nname = \"plate\"\nshape = {{ box = {{ size = [1, 0.002, 1] }} }}\nkind = \"{kind}\"\n{}position = [0.13, -0.2, 0.11]\nvelocity = [0, {speed}, 0]\nsoft_contact = \"{contact}\"\n[[deformable]]\nname = \"sheet\"\ngeometry = {{ sheet = {{ corner = [-0.1, 0, -0.1], u = [0.2, 0, 0], v = [0, 0, 0.2], cells = [4, 4] }} }}\ndensity = 300\nmaterial = {{ young = 300, damping = 0.002 }}\n",
            if kind == "dynamic" { "mass = 1\n" } else { "" }
        )
    };
    for (integrator, speed) in [("scheme_b", 40.0), ("backward_euler", 20.0)] {
        let behind = |contact: &str| {
            let mut world = three(&text(contact, integrator, "kinematic", speed));
            run(&mut world, 2);
            let plate = world.state().bodies[0].frame.position[1];
            let sheet = 0..25;
            sheet
                .map(|point| world.state().solids.motion.position[3 * point + 1] - plate)
                .fold(f64::MAX, f64::min)
        };
        let (surface, distance) = (behind("surface"), behind("distance"));
        assert!(surface > 0.0009, "{integrator}: {surface}");
        assert!(distance < 0.0, "{integrator}: {distance}");
    }
    for (contact, kind, what) in
        [("surface", "dynamic", "static and kinematic"), ("surface", "kinematic", "self_contact")]
    {
        let mut bad = text(contact, "scheme_b", kind, 40.0);
        if kind == "kinematic" {
            bad = bad.replace("self_contact = { thickness = 0.002, friction = 0.3 }", "");
        }
        let errors = Scene::parse("plate.toml", &bad, &[]).expect_err("a skin that cannot be").to_string();
        assert!(errors.contains(what), "{errors}");
    }
}

#[test]
fn the_spline_model_hardens_as_it_is_told() {
    let step = "integrator = \"quasistatic\"\ntolerance = 1e-9";
    let pulled = |spline: &str| {
        let geometry = "box = { from = [0, 0, 0], size = [0.2, 1, 0.2], cells = [1, 5, 1] }";
        let fibre = "fibre = [{ direction = [0, 1, 0], tension = 30000, activation = 1 }]";
        let scene = strip(3, geometry, step, &format!("poisson = 0, model = \"spline\"{spline}"), fibre);
        let AnyWorld::Three(mut world) = build(&scene).expect("a world") else { unreachable!("3D") };
        run(&mut world, 1);
        lowest(&world)
    };
    let (usual, hard) = (pulled(""), pulled(", spline = { compression = { strain = 0.1, factor = 30 } }"));
    assert!(hard < 0.7 * usual && hard > 0.0, "{hard} {usual}");
    // Without hardening it is the linear law.
    let soft =
        pulled(", spline = { compression = { strain = 0.1, factor = 1 }, extension = { factor = 1 } }");
    assert!(soft > usual, "{soft} {usual}");
}

/// What files of meshes get wrong: points that are there once for every element are joined, two kinds of elements in one body are refused, and so is an element that joining makes flat.
#[test]
fn meshes_from_files_hang_together_or_are_refused() {
    use splashdown_geometry::generate::{CubeSplit, box_hexahedra, box_tetrahedra};
    use splashdown_geometry::io::{AnyMesh, Encoding, write_mesh};
    use splashdown_math::Vector;
    let folder = tempfile::tempdir().expect("a folder");
    let parse = |name: &str, mesh: &AnyMesh, more: &str| {
        let path = folder.path().join(name);
        write_mesh(&path, mesh, Encoding::Text).expect("a file");
        let text = format!(
            "dimension = 3\n[time]\nend = 1\n[[deformable]]\nname = \"b\"\ngeometry = {{ file = {{ path = {path:?}{more} }} }}\ndensity = 1\nmaterial = {{ young = 1 }}\n"
        );
        Scene::parse("file.toml", &text, &[])
    };
    let particles = |scene: Scene| match build(&scene).expect("a world") {
        AnyWorld::Three(world) => world.solids().expect("solids").solid.len(),
        AnyWorld::Two(_) => unreachable!("it has three dimensions"),
    };
    let (low, high) = (Vector::<3>::zeros(), Vector::<3>::repeat(1.0));
    let whole = box_tetrahedra(low, high, [1; 3], CubeSplit::Five).expect("a mesh");
    let apart = |gap: f64| AnyMesh {
        points: (whole.elements.iter().enumerate())
            .flat_map(|(n, element)| {
                element.map(|point| whole.points[point as usize] * (1.0 + gap * n as f64))
            })
            .collect(),
        tetrahedra: (0..5).map(|n| std::array::from_fn(|corner| 4 * n + corner as u32)).collect(),
        ..AnyMesh::default()
    };
    assert_eq!(particles(parse("soup.vtk", &apart(0.0), "").expect("a scene")), 8);
    assert_eq!(particles(parse("near.vtk", &apart(1e-6), ", weld = 1e-4").expect("a scene")), 8);
    assert!(particles(parse("far.vtk", &apart(1e-6), "").expect("a scene")) > 8);
    let triangles = AnyMesh {
        points: [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [1.0, 0.0, 0.0],
            [1.0, 1.0, 0.0],
            [0.0, 1.0, 0.0],
        ]
        .map(Vector::<3>::from)
        .to_vec(),
        triangles: vec![[0, 1, 2], [3, 4, 5]],
        ..AnyMesh::default()
    };
    assert_eq!(particles(parse("cloth.stl", &triangles, ", surface = true").expect("a scene")), 4);
    let refused = |name: &str, mesh: &AnyMesh, more: &str, what: &str| {
        let errors = parse(name, mesh, more).expect_err("a mesh that cannot be").to_string();
        assert!(errors.contains(what), "{errors}");
    };
    refused("flat.vtk", &apart(0.0), ", weld = 1.2", "of its mesh has two corners at the same place");
    refused("shell.stl", &triangles, "", "tetrahedra");
    let bricks = box_hexahedra(low, high, [1; 3]).expect("a mesh");
    let bricks = AnyMesh { points: bricks.points, hexahedra: bricks.elements, ..AnyMesh::default() };
    assert_eq!(particles(parse("brick.vtk", &bricks, "").expect("a scene")), 8);
    let mut mixed = apart(0.0);
    mixed.points.extend(bricks.points.iter().map(|x| x + Vector::<3>::new(1.0, 0.0, 0.0)));
    mixed.hexahedra = bricks.hexahedra.iter().map(|corners| corners.map(|point| point + 20)).collect();
    refused("mixed.vtk", &mixed, "", "a body is made of one kind");
    // A closed surface is filled; one that leaks, or is thinner than what fills it, is not.
    let around = whole.boundary().expect("a boundary").mesh;
    let skin = AnyMesh { points: around.points, triangles: around.elements, ..AnyMesh::default() };
    let filled = parse("skin.stl", &skin, ", fill = 0.2").expect("a scene");
    let AnyWorld::Three(world) = build(&filled).expect("a world") else { panic!("three dimensions") };
    let mass: f64 = world.solids().expect("solids").solid.masses().iter().sum();
    assert!((mass - 1.0).abs() < 0.1, "{mass} kg of 1");
    refused("open.stl", &triangles, ", fill = 0.2", "cannot be filled");
    refused("coarse.stl", &skin, ", fill = 4", "too coarse");
    refused("both.stl", &skin, ", fill = 0.2, surface = true", "give one of them");
}

/// A block that hangs, a weight in it and a pearl in the weight, these with `weight` and `pearl` in their tables.
fn nested(step: &str, hold: &str, weight: &str, pearl: &str) -> World<3> {
    three(&format!(
        "dimension = 3\n[time]\nend = 1\n[elastic]\n{step}\n[[deformable]]\nname = \"block\"\ngeometry = {{ box = {{ from = [0, 0, 0], size = [1, 1, 1], cells = [3, 3, 3] }} }}\ndensity = 100\nmaterial = {{ young = 60000, damping = 0.02 }}\nelastic = {{ {hold} }}\n[[deformable]]\nname = \"weight\"\ngeometry = {{ box = {{ from = [0.31, 0.42, 0.23], size = [0.3, 0.2, 0.4], cells = [1, 1, 1] }} }}\ndensity = 3000\nmaterial = {{ young = 1000, damping = 0.05 }}\nelastic = {{ {weight} }}\n[[deformable]]\nname = \"pearl\"\ngeometry = {{ box = {{ from = [0.4, 0.5, 0.3], size = [0.05, 0.06, 0.07], cells = [1, 1, 1] }} }}\ndensity = 9000\nmaterial = {{ young = 1000, damping = 0.05 }}\nelastic = {{ {pearl} }}\n"
    ))
}

/// Bindings are springs in the limit of stiff ones, and chains of them are flattened (spec/rigid-deformable-coupling.md 5.2-P).
#[test]
fn embedded_bodies_are_the_limit_of_stiff_ties() {
    let hold = "hold = [{ from = [-1, 0.99, -1], to = [2, 1.01, 2] }]";
    let step = "integrator = \"quasistatic\"\ntolerance = 1e-12\nnewton_iterations = 200";
    let hangs = |weight: &str, pearl: &str| {
        let mut world = nested(step, hold, weight, pearl);
        run(&mut world, 1);
        world.state().solids.motion.position.clone()
    };
    let hard = hangs("embed = \"block\"", "embed = \"weight\"");
    let apart = |stiffness: f64| {
        let tie = |to: &str| format!("tie = [{{ to = \"{to}\", stiffness = {stiffness} }}]");
        let soft = hangs(&tie("block"), &tie("weight"));
        hard.iter().zip(&soft).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let (near, far) = (apart(1e9), apart(1e7));
    assert!(near < 1e-6 && near < 0.05 * far, "{near} {far}");
    // It does hang.
    assert!(hard.iter().skip(1).step_by(3).fold(f64::MAX, |low, &y| low.min(y)) < -1e-3);
}

#[test]
fn embedded_bodies_go_with_what_they_are_in() {
    for integrator in ["scheme_b", "scheme_c", "linearly_implicit", "backward_euler", "two_pass"] {
        let step = format!("integrator = \"{integrator}\"\ntolerance = 1e-10");
        let free = |weight: &str, pearl: &str| nested(&step, "disturb = { noise = 0.02 }", weight, pearl);
        let mut moving = free("embed = \"block\"", "embed = \"weight\"");
        let before = moving.diagnostics();
        let whole = 100.0 + 3000.0 * 0.3 * 0.2 * 0.4 + 9000.0 * 0.05 * 0.06 * 0.07;
        assert!((before.mass - whole).abs() < 1e-9, "{integrator}: {} kg of {whole}", before.mass);
        run(&mut moving, 10);
        let after = moving.diagnostics();
        let fallen = (after.momentum[1] - before.momentum[1]) / whole;
        assert!((fallen + 0.981).abs() < 1e-4, "{integrator}: {fallen}");
        let energy = after.total_energy - before.total_energy;
        assert!(energy < 1e-3 * before.elastic_energy, "{integrator}: {energy}");
        // Every point of the pearl is where the weight has it, which is where the block has that.
        let solids = moving.solids().expect("solids");
        let position = moving.state().solids.motion.position.clone();
        let mut placed = position.clone();
        solids.solid.place_embedded(&mut placed);
        assert_eq!(placed, position, "{integrator}");
    }
}

/// What the log says of elements and of Newton's method: elements inside out at the start and none after, and solves that were cut short.
#[test]
fn the_log_tells_of_inverted_elements_and_of_newton() {
    use splashdown_scene::log::LogRecord;
    for (integrator, barrier) in [("scheme_b", false), ("backward_euler", false), ("backward_euler", true)] {
        // Contact with itself wants a surface that does not pass through itself.
        let tangled = if barrier {
            "disturb = { noise = 0.08, seed = 3 }"
        } else {
            "disturb = { noise = 0.3, seed = 3 }"
        };
        let contact = if barrier { "\nself_contact = { thickness = 0.001 }" } else { "" };
        let cut = if barrier { "\nnewton_iterations = 1" } else { "" };
        let mut world = bar(&format!("integrator = \"{integrator}\"{contact}{cut}"), tangled);
        let start = world.diagnostics().elements.expect("elements");
        assert!(barrier || start.inverted > 0, "{integrator}");
        let report = world.step(0.01).expect("a step");
        let own = report.solids.clone().expect("a report of the solids");
        assert!(own.linear_iterations > 0, "{integrator}: {own:?}");
        assert_eq!(own.newton_iterations > 0, integrator == "backward_euler", "{integrator}: {own:?}");
        assert_eq!((own.unconverged > 0, own.residual > 1.0), (barrier, barrier), "{integrator}: {own:?}");
        let record = LogRecord::of_step(world.diagnostics(), report);
        let line: serde_json::Value = serde_json::from_slice(&record.to_line()).expect("a line");
        assert!(line["elements"]["inverted"].is_number() && line["solids"]["unconverged"].is_number());
        if !barrier {
            run(&mut world, 100);
            assert_eq!(world.diagnostics().elements.expect("elements").inverted, 0, "{integrator}");
        }
    }
}

#[test]
fn volume_and_self_contact_need_an_integrator_that_has_both() {
    for (integrator, goes) in [("scheme_b", true), ("two_pass", true), ("backward_euler", false)] {
        let text = format!(
            "dimension = 3\n[time]\nend = 1\n[elastic]\nintegrator = \"{integrator}\"\nself_contact = {{ thickness = 0.01 }}\n[[deformable]]\nname = \"jelly\"\ngeometry = {{ box = {{ from = [0, 0, 0], size = [1, 1, 1], cells = [2, 2, 2] }} }}\ndensity = 1000\nmaterial = {{ young = 1000, poisson = 0 }}\nelastic = {{ incompressible = true }}\n"
        );
        match Scene::parse("jelly.toml", &text, &[]) {
            Ok(_) => assert!(goes, "{integrator}"),
            Err(error) => {
                let said = error.to_string();
                assert!(!goes && said.contains("two_pass") && said.contains("jelly.toml:7:"), "{said}");
            }
        }
    }
}

/// Spec DS-1: a force on the free end of a bar stretches it as Hooke's law says, follows its factor, and is shared by mass.
#[test]
fn loads_stretch_a_bar_and_follow_their_factor() {
    let load = "load = [{ from = [-1, -0.01, -1], to = [1, 0.01, 1], force = [0, -24, 0], factor = [[0, 0], [0.5, 1]] }]";
    let mut world = bar("integrator = \"quasistatic\"\ntolerance = 1e-6", load);
    // A sixtieth of a strain of E A = 2400 N, less what the clamped end hinders.
    run(&mut world, 25);
    let half = -lowest(&world);
    run(&mut world, 50);
    let whole = -lowest(&world);
    assert!((whole - 0.01).abs() < 5e-4, "{whole}");
    assert!((half / whole - 0.5).abs() < 0.03, "{half} of {whole}");
    let none = "load = [{ from = [5, 5, 5], to = [6, 6, 6], force = [0, -24, 0] }]";
    let error = Scene::parse("bar.toml", &scene_of_bar("", none), &[]).expect_err("no points there");
    assert!(error.to_string().contains("elastic.load"), "{error}");
}

/// Spec DS-51: regions have their own stiffness, model, density and damping; pictures have the stress of all elements all the same.
#[test]
fn regions_have_their_own_model_and_density() {
    let region = "{ from = [-1, -1, -1], to = [1, 0.41, 1], young = 60000, density = 3000, model = \"neo_hookean\", damping = 0.1 }";
    let world = bar("", &format!("regions = [{region}]"));
    let solids = world.solids().expect("solids");
    // Three of five cells of 0.2 m and two of three times the density; the held end does not count.
    let mass: f64 = solids.solid.masses().iter().sum();
    assert!((mass - 0.04 * (600.0 + 0.4 * 3000.0)).abs() < 1e-9, "{mass}");
    assert_eq!(solids.solid.forces().len(), 2);
    let whole = bar("", &region_of_all("neo_hookean"));
    let same = bar_of("neo_hookean");
    assert_eq!(whole.solids().expect("solids").solid.forces().len(), 1);
    let position = |mut world: World<3>| {
        run(&mut world, 20);
        world.state().solids.motion.position.clone()
    };
    assert_eq!(position(whole), position(same), "a region of everything is the body itself");
    // Stiffness alone does not need a set of elements of its own.
    let stiff = bar("", "regions = [{ from = [-1, -1, -1], to = [1, 0.41, 1], young = 90000 }]");
    assert_eq!(stiff.solids().expect("solids").solid.forces().len(), 1);
    let weighed =
        scene_of_bar("", &format!("regions = [{region}]")).replace("density = 1000\n", "mass = 40\n");
    let error = Scene::parse("bar.toml", &weighed, &[]).expect_err("two masses");
    assert!(error.to_string().contains("density"), "{error}");
}

fn region_of_all(model: &str) -> String {
    format!(
        "disturb = {{ noise = 0.02 }}, regions = [{{ from = [-1, -1, -1], to = [2, 2, 2], young = 60000, model = \"{model}\" }}]"
    )
}

fn bar_of(model: &str) -> World<3> {
    let text = scene_of_bar("", "disturb = { noise = 0.02 }");
    three(&text.replace("material = { ", &format!("material = {{ model = \"{model}\", ")))
}

/// Options of folds and springs reach them: rest angles, hardening, plastic springs, all altitudes.
#[test]
fn folds_and_springs_have_their_options() {
    let sheet = |elastic: &str| {
        let text = format!(
            "dimension = 3\ngravity = [0, 0, 0]\n[time]\nend = 1\n[[deformable]]\nname = \"sheet\"\ngeometry = {{ bag = {{ centre = [0, 0, 0], radius = 0.2, mouth = 0.1, cells = 5 }} }}\ndensity = 300\nmaterial = {{ young = 30000, damping = 0.002 }}\nelastic = {{ {elastic} }}\n"
        );
        let mut world = three(&text);
        run(&mut world, 30);
        world
    };
    let extent = |world: &World<3>| {
        world.state().solids.motion.position.iter().fold(0.0f64, |most, x| most.max(x.abs()))
    };
    // A bag whose folds want to be flat opens; one at rest stays as it is.
    let (rest, flat) =
        (sheet("bending = { stiffness = 1e-3 }"), sheet("bending = { stiffness = 1e-3, rest_angle = 0 }"));
    assert!((extent(&rest) - 0.2).abs() < 1e-6, "{}", extent(&rest));
    assert!(extent(&flat) > 0.2003, "{}", extent(&flat));
    // A wing that is pulled beyond its yield keeps part of it: springs as well as folds with hardening remember.
    let pull = "hold = [{ from = [-1, -1, -1], to = [1, -0.19, 1] }, { from = [-1, 0.15, -1], to = [1, 1, 1], velocity = [0, 0.4, 0], end = 0.2 }]";
    let remembers = |elastic: &str| {
        let world = sheet(&format!("{elastic}, {pull}"));
        world.state().solids.history.concat()
    };
    let weak = remembers("springs = { edges = 30, yield = 0.02 }");
    let hard = remembers("springs = { edges = 30, yield = 0.02, hardening = 5 }");
    assert!(!weak.is_empty() && weak != hard && weak.len() == hard.len());
    let close = remembers("springs = { edges = 30, yield = 0.02, limit_stretch = 1.01 }");
    assert!(close.iter().zip(&weak).any(|(close, weak)| close < weak));
    let soft = remembers("bending = { stiffness = 1e-4, yield_angle = 1 }");
    let firm = remembers("bending = { stiffness = 1e-4, yield_angle = 1, hardening = 3 }");
    assert!(!soft.is_empty() && soft != firm);
    // With all altitudes a squashed bar pushes back harder than with the shortest of each element.
    let push = |which: &str| {
        let mut world = bar(
            "safety = 0.2\nsolve_tolerance = 1e-6",
            &format!("disturb = {{ noise = 0.03 }}, springs = {{ altitudes = 300{which} }}"),
        );
        let solids = world.solids().expect("solids");
        assert_eq!((solids.safety, solids.integrator.tolerance), (0.2, 1e-6));
        run(&mut world, 1);
        world.diagnostics().elastic_energy
    };
    assert!(push(", all_altitudes = true") > push(""));
    let share = |more: &str| {
        let text = scene_of_bar("", "disturb = { noise = 0.05 }");
        let material = format!("material = {{ model = \"mooney_rivlin\"{more}, ");
        three(&text.replace("material = { ", &material)).diagnostics().elastic_energy
    };
    assert_eq!(share(", second_invariant = 0.25"), share(""));
    assert_ne!(share(", second_invariant = 0.9"), share(""));
}
