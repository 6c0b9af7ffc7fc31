//! Rigid and soft bodies together: what scenes choose of their step.

use super::first_error;
use splashdown_couple::World;
use splashdown_scene::{AnyWorld, Scene, build};

/// A rigid ball above a soft block above the ground, with `more` tables.
fn text(more: &str) -> String {
    format!(
        r#"
        dimension = 3
        {more}
        [time]
        end = 1
        [[rigid]]
        name = "ground"
        kind = "static"
        shape = {{ plane = {{}} }}
        [[rigid]]
        name = "ball"
        shape = {{ sphere = {{ radius = 0.3 }} }}
        mass = 20
        position = [0, 1.31, 0]
        repeat = {{ count = [1, 1, 1], spacing = [1, 1, 1] }}
        [[deformable]]
        name = "block"
        geometry = {{ box = {{ from = [-0.5, 0, -0.5], size = [1, 1, 1], cells = [2, 2, 2] }} }}
        density = 100
        material = {{ model = "neo_hookean", young = 20000, poisson = 0.3, damping = 0.02 }}
        "#
    )
}

fn run(more: &str, steps: usize) -> World<3> {
    let scene = Scene::parse("s.toml", &text(more), &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let AnyWorld::Three(mut world) = build(&scene).expect("a world") else { unreachable!("3D") };
    for _ in 0..steps {
        world.step(1.0 / 60.0).expect("a step");
    }
    *world
}

fn ball(world: &World<3>) -> f64 {
    world.state().bodies[1].frame.position[1]
}

fn lowest(world: &World<3>) -> f64 {
    let heights = world.state().solids.motion.position.iter().skip(1).step_by(3);
    heights.fold(f64::INFINITY, |least, y| least.min(*y))
}

/// RDC-38: soft and static, soft and dynamic, rigid and rigid.
#[test]
fn bodies_that_are_apart_pass_through_each_other() {
    let all = run("", 30);
    assert!(ball(&all) > 1.1 && lowest(&all) > -1e-6);
    let through_ground = run("[contact]\napart = [[\"block\", \"ground\"]]", 30);
    assert!(lowest(&through_ground) < -0.5, "{}", lowest(&through_ground));
    let fall = 1.31 - 0.5 * 9.81 * 0.25;
    let through_block = run("[contact]\napart = [[\"ball\", \"block\"]]", 30);
    assert!(ball(&through_block) < 0.6, "{}", ball(&through_block));
    let through_all = run("[contact]\napart = [[\"ball\", \"block\"], [\"ground\", \"ball\"]]", 30);
    assert!((ball(&through_all) - fall).abs() < 0.03, "{} and not {fall} m", ball(&through_all));
}

#[test]
fn unknown_and_soft_pairs_are_told() {
    let wrong = first_error(&text("[contact]\napart = [[\"bal\", \"block\"]]"), &[]);
    assert!(wrong.contains("there is no body `bal`"), "{wrong}");
    let soft = first_error(&text("[contact]\napart = [[\"block\", \"block\"]]"), &[]);
    assert!(soft.contains("both soft"), "{soft}");
}

/// RDC-25, RDC-29: the forms of the damping solve give one motion.
#[test]
fn forms_of_the_damping_solve_agree() {
    let exact = ball(&run("", 20));
    for form in ["spd", "kkt"] {
        let other = ball(&run(&format!("[elastic.damping_solve]\nform = \"{form}\""), 20));
        assert!((other - exact).abs() < 1e-4, "{form}: {other} and not {exact} m");
    }
    let swept = ball(&run("[elastic.damping_solve]\nform = \"sweeps\"\nsweeps = 5", 20));
    assert!((swept - exact).abs() < 1e-3, "sweeps: {swept} and not {exact} m");
}

/// RDC-27: comes to rest at the same place.
#[test]
fn contact_before_damping_leads_to_the_same_rest() {
    let [after, before] = ["", "[elastic]\ncontact_before_damping = true"].map(|more| run(more, 90));
    assert!((ball(&after) - ball(&before)).abs() < 2e-3, "{} and {} m", ball(&after), ball(&before));
    assert!(before.diagnostics().max_speed < 0.02);
}
