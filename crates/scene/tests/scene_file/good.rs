//! Right scenes load as written, from files and from Rust, and go through text unchanged.

use super::repository;
use proptest::prelude::*;
use splashdown_scene::*;

#[test]
fn the_shipped_scenes_are_those_in_the_folder() {
    let mut files: Vec<String> = std::fs::read_dir(repository("scenes"))
        .expect("the folder of scenes")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file())
        .map(|path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned())
        .collect();
    files.sort();
    let mut names: Vec<String> = shipped().iter().map(|s| s.name.to_owned()).collect();
    names.sort();
    assert_eq!(files, names);
    for scene in shipped() {
        assert!(
            !scene.summary.is_empty() && scene.summary.len() <= 110,
            "{}: {:?}",
            scene.name,
            scene.summary
        );
        let loaded = load(scene.name, &[]).unwrap_or_else(|errors| panic!("{errors}")).scene;
        assert_eq!(loaded.summary, scene.summary);
        let again = Scene::parse("again", &loaded.to_toml(), &[]).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(again, loaded, "{}", scene.name);
    }
}

#[test]
fn variables_stand_for_their_values() {
    let scene = load("quickstart", &[]).expect("a shipped scene").scene;
    assert_eq!(scene.rigid[0].velocity, Some(vec![0.0, 8.0, 0.0]));
    assert_eq!(scene.rigid[1].shape, Shape::Sphere { radius: 1.5 * 0.12 });
    let text = "dimension = 2\n[variables]\nn = 4\nlong = \"$n * $n\"\n[time]\nend = \"$long / 8\"\n[[deformable]]\nname = \"c\"\nmass = 1\ngeometry = { chain = { from = [0, 0], to = [1, 0], particles = \"$long - 1\" } }\n";
    let scene = Scene::parse("s", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(scene.time.end, 2.0);
    assert_eq!(scene.deformable[0].geometry.particle_count(), 15);
    // A dollar in a text is a dollar.
    assert_eq!(
        Scene::parse("s", "title = \"$5\"\ndimension = 2\n[time]\nend = 1\n", &[]).expect("right").title,
        "$5"
    );
}

#[test]
fn included_files_are_the_ground_that_a_file_stands_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    let ball = |name: &str| {
        format!("[[rigid]]\nname = \"{name}\"\nshape = {{ sphere = {{ radius = \"$r\" }} }}\nmass = 1\n")
    };
    write("base.toml", &format!("[variables]\nr = 1\n[time]\nend = 9\nframe_rate = 10\n{}", ball("first")));
    write("more.toml", "gravity = [0, 0]\n");
    let main = format!(
        "dimension = 2\ninclude = [\"base.toml\", \"more.toml\"]\n[variables]\nr = 2\n[time]\nend = 1\n{}",
        ball("second")
    );
    write("main.toml", &main);
    let scene = Scene::load(folder.path().join("main.toml"), &[]).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!((scene.time.end, scene.time.frame_rate), (1.0, 10.0));
    assert_eq!(scene.gravity, Some(vec![0.0, 0.0]));
    let names: Vec<&str> = scene.rigid.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names, ["first", "second"]);
    assert_eq!(scene.rigid[0].shape, Shape::Sphere { radius: 2.0 });
    assert!(scene.include.is_empty());
}

#[test]
fn a_scene_built_in_rust_is_checked_by_the_same_rules() {
    let ball = || Rigid::sphere("ball", 0.1).density(500.0);
    assert!(Scene::new(2).with_rigid(ball()).check().is_ok());
    let wrong = |scene: Scene| scene.check().expect_err("a wrong scene").to_string();
    assert_eq!(
        wrong(Scene::new(2).with_rigid(ball().velocity([f64::NAN, 0.0]))),
        "`rigid.ball.velocity[0]` is not finite"
    );
    assert_eq!(
        wrong(Scene::new(3).with_rigid(ball().velocity([1.0, 0.0]))),
        "`rigid.ball.velocity` has 2 components, but needs 3"
    );
    assert_eq!(
        wrong(Scene::new(2).with_rigid(ball()).with_rigid(ball())),
        "there are two bodies called `ball`"
    );
    assert_eq!(wrong(Scene::new(2).end(-1.0)), "`time.end` must be greater than 0");
    assert!(matches!(build(&Scene::new(5)), Err(BuildError::Dimension(5))));
    let huge =
        Scene::new(2).with_deformable(Deformable::chain("c", [0.0, 0.0], [1.0, 0.0], u64::MAX).mass(1.0));
    assert!(matches!(build(&huge), Err(BuildError::TooLarge { .. })));
    assert!(wrong(huge).contains("too large a number"));
}

#[test]
fn frames_end_where_the_scene_ends() {
    let time = |end: f64, frame_rate: f64| Time { end, frame_rate, step: None };
    assert_eq!(time(2.0, 30.0).last_frame(), 60);
    assert_eq!(time(0.1, 30.0).last_frame(), 3);
    assert_eq!(time(0.7, 10.0).last_frame(), 7);
    assert_eq!(time(1.01, 10.0).last_frame(), 11);
    assert_eq!(time(1e-9, 10.0).last_frame(), 1);
}

fn finite() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), -10.0..10.0f64, -1e-12..1e-12f64, -1e12..1e12f64]
}

fn positive() -> impl Strategy<Value = f64> {
    prop_oneof![0.01..10.0f64, 1e-9..1e-6f64, 1e6..1e9f64]
}

prop_compose! {
    fn rigid(dimension: usize)(
        shape in prop_oneof![
            positive().prop_map(|radius| Shape::Sphere { radius }),
            prop::collection::vec(positive(), dimension).prop_map(|size| Shape::Box { size }),
        ],
        mass in positive(),
        by_density in any::<bool>(),
        kind in prop_oneof![Just(Kind::Dynamic), Just(Kind::Kinematic)],
        position in prop::option::of(prop::collection::vec(finite(), dimension)),
        velocity in prop::option::of(prop::collection::vec(finite(), dimension)),
        degrees in finite(),
        turned in 0..3,
        spin in prop::option::of(prop::collection::vec(finite(), 3)),
        count in prop::option::of(prop::collection::vec(1..4u64, dimension)),
    ) -> Rigid {
        let rotation = match (turned, dimension) {
            (0, _) => None,
            (_, 2) => Some(Rotation::Degrees(degrees)),
            (1, _) => Some(Rotation::AxisAngle { axis: vec![1.0, degrees, 0.5], degrees }),
            _ => Some(Rotation::Quaternion { quaternion: vec![0.5, degrees, 0.0, 1.0] }),
        };
        Rigid {
            name: String::new(),
            shape,
            kind,
            mass: (!by_density).then_some(mass),
            density: by_density.then_some(mass),
            position,
            rotation,
            velocity,
            spin: spin.map(|s| if dimension == 2 { SpinValue::Rate(s[0]) } else { SpinValue::Vector(s) }),
            restitution: by_density.then_some(0.25),
            friction: None,
            rolling_friction: by_density.then_some(0.01),
            spinning_friction: None,
            fracture: (kind == Kind::Dynamic).then(|| Fracture::new(12.5, 9)),
            force: None,
            torque: None,
            drag: None,
            surface_flow: None,
            in_fluid: None,
            soft_contact: SoftContact::default(),
            motion: None,
            moments: None,
            shape_position: None,
            shape_rotation: None,
            repeat: count.map(|count| Repeat { spacing: vec![1.5; count.len()], count }),
        }
    }
}

prop_compose! {
    fn chain(dimension: usize)(
        from in prop::collection::vec(-5.0..-1.0f64, dimension),
        to in prop::collection::vec(1.0..5.0f64, dimension),
        particles in 2..50u64,
        mass in 0.1..10.0f64,
        springs in prop::option::of((0.0..100.0f64, 0.0..3.0f64, prop::option::of(0.01..1.0f64))),
        pin in prop::option::of(0..2u64),
    ) -> Deformable {
        let springs = springs.map(|(stiffness, damping_ratio, rest_length)| Springs { stiffness, damping_ratio, rest_length });
        let mut body = Deformable::chain("", from, to, particles).mass(mass);
        body.springs = springs;
        body.pinned = pin.into_iter().collect();
        body
    }
}

prop_compose! {
    fn any_scene()(dimension in 2..=3usize)(
        dimension in Just(dimension),
        rigid in prop::collection::vec(rigid(dimension), 0..4),
        deformable in prop::collection::vec(chain(dimension), 0..3),
        gravity in prop::option::of(prop::collection::vec(finite(), dimension)),
        end in 0.1..10.0f64,
        max in 1e-6..1e-3f64,
        title in "[ -~µ]{0,20}",
    ) -> Scene {
        let mut scene = Scene::new(dimension as u32).title(title).end(end);
        scene.gravity = gravity;
        scene.time.step = Some(Step::Adaptive(AdaptiveStep { max, ..Default::default() }));
        for (index, mut body) in rigid.into_iter().enumerate() {
            body.name = format!("body_{index}");
            scene.rigid.push(body);
        }
        for (index, mut body) in deformable.into_iter().enumerate() {
            body.name = format!("chain-{index}");
            scene.deformable.push(body);
        }
        scene
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Writing a right scene and reading it gives the same scene, to the last bit, and it builds.
    #[test]
    fn text_is_lossless(scene in any_scene()) {
        let text = scene.to_toml();
        let again = Scene::parse("again.toml", &text, &[]);
        prop_assert!(again.is_ok(), "{}\n{text}", again.err().map(|e| e.to_string()).unwrap_or_default());
        prop_assert_eq!(&again.expect("checked above"), &scene);
        prop_assert!(scene.check().is_ok());
        prop_assert!(build(&scene).is_ok());
    }
}
