//! `--set` replaces fields before the scene is checked.

use super::first_error;
use splashdown_scene::{Formulation, Kind, Scene, Shape, find};

fn quickstart() -> &'static str {
    find("quickstart").expect("a shipped scene").toml
}

fn set(overrides: &[&str]) -> Scene {
    let overrides: Vec<String> = overrides.iter().map(|s| s.to_string()).collect();
    Scene::parse("s.toml", quickstart(), &overrides).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn fields_are_found_by_key_number_and_name() {
    let scene = set(&[
        "time.end=0.5",
        "rigid.cube.velocity=[1, 0, 0]",
        "rigid[0].shape.sphere.radius = 0.25",
        "rigid.1.kind=kinematic",
        "solver.formulation=kkt",
        "rigid.across.position[2]=-3",
        "title=\"A new title\"",
    ]);
    assert_eq!(scene.time.end, 0.5);
    assert_eq!(scene.rigid[3].velocity, Some(vec![1.0, 0.0, 0.0]));
    assert_eq!(scene.rigid[0].shape, Shape::Sphere { radius: 0.25 });
    assert_eq!(scene.rigid[1].kind, Kind::Kinematic);
    assert_eq!(scene.solver.formulation, Formulation::Kkt);
    assert_eq!(scene.rigid[1].position, Some(vec![-2.5, 1.0, -3.0]));
    assert_eq!(scene.title, "A new title");
}

#[test]
fn variables_can_be_set_and_used() {
    let scene = set(&["variables.radius=0.2", "rigid.cube.mass=$radius * 10"]);
    assert_eq!(scene.rigid[0].shape, Shape::Sphere { radius: 0.2 });
    assert_eq!(scene.rigid[3].mass, Some(2.0));
}

#[test]
fn errors_name_the_override() {
    let error = |text: &str| first_error(quickstart(), &[text]);
    assert_eq!(error("time.end=-1"), "--set:1:10: `time.end` must be greater than 0");
    assert_eq!(error("time.ned=1"), "--set:1:6: unknown field `ned` in `time`");
    assert_eq!(error("rigid.cuve.mass=1"), "--set:1:7: `rigid` has no element called `cuve`");
    assert_eq!(error("rigid[9].mass=1"), "--set:1:6: `rigid` has 4 elements, there is no `9`");
    assert_eq!(error("time.end.x=1"), "--set:1:10: `time.end` is a number and has no `x`");
    assert_eq!(error("time.end"), "--set:1:1: --set time.end: there is no `=`");
    assert_eq!(error("time.end=[1"), "--set:1:10: `time.end` must be a number greater than 0, not a string");
    assert_eq!(error("include=[\"a.toml\"]"), "--set:1:1: `include` cannot be set");
    assert_eq!(error("gravity=[0,-1]"), "--set:1:9: `gravity` has 2 components, but needs 3");
    assert_eq!(error("time.end=nan"), "--set:1:10: `time.end` is not finite");
}
