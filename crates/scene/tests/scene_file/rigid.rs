//! Rigid bodies and fracture patterns from files, and the switches of rigid motion.

use super::scene_with;
use splashdown_scene::*;

/// A box of triangles from `low` to `high` as an OBJ file.
fn box_file(folder: &std::path::Path, name: &str, low: [f64; 3], high: [f64; 3]) -> String {
    let mut text = String::new();
    for k in 0..8usize {
        let at = |a: usize| if k >> a & 1 == 1 { high[a] } else { low[a] };
        text += &format!("v {} {} {}\n", at(0), at(1), at(2));
    }
    // Two triangles a side, seen from outside.
    for quad in [[1, 3, 4, 2], [5, 6, 8, 7], [1, 2, 6, 5], [3, 7, 8, 4], [1, 5, 7, 3], [2, 4, 8, 6]] {
        text += &format!("f {} {} {}\nf {} {} {}\n", quad[0], quad[1], quad[2], quad[0], quad[2], quad[3]);
    }
    let path = folder.join(name);
    std::fs::write(&path, text).expect("written");
    path.to_string_lossy().into_owned()
}

fn world(text: &str) -> Result<splashdown_couple::World<3>, String> {
    let scene = Scene::parse("s.toml", text, &[]).map_err(|errors| errors.to_string())?;
    match build(&scene).map_err(|error| error.to_string())? {
        AnyWorld::Three(world) => Ok(*world),
        AnyWorld::Two(_) => Err("a world of two dimensions".into()),
    }
}

#[test]
fn a_mesh_falls_on_the_ground_and_lies_there() {
    let folder = tempfile::tempdir().expect("a folder");
    // In centimetres, away from its origin.
    let path = box_file(folder.path(), "brick.obj", [10.0, 0.0, 0.0], [30.0, 10.0, 10.0]);
    let text = format!(
        "dimension = 3\n[time]\nend = 1\n[[rigid]]\nname = \"ground\"\nkind = \"static\"\nshape = {{ plane = {{}} }}\n\
         [[rigid]]\nname = \"brick\"\ndensity = 2000\nposition = [0, 0.05, 0]\nrestitution = 0\n\
         shape = {{ mesh = {{ path = {path:?}, scale = 0.01, resolution = 40 }} }}\n"
    );
    // Flat on flat, contact by edges as well changes nothing.
    falls_and_lies(&text);
    falls_and_lies(&text.replace("resolution = 40", "resolution = 40, edges = true"));
}

fn falls_and_lies(text: &str) {
    let mut world = world(text).expect("a right scene");
    let brick = &world.model().bodies[1];
    assert!((brick.mass - 2000.0 * 0.2 * 0.1 * 0.1).abs() < 1e-9 * brick.mass, "{}", brick.mass);
    assert!(
        (world.state().bodies[1].frame.position - splashdown_math::Vector::from([0.2, 0.1, 0.05])).norm()
            < 1e-12
    );
    for _ in 0..30 {
        world.step(1.0 / 30.0).expect("a step");
    }
    let state = &world.state().bodies[1];
    assert!((state.frame.position.y - 0.05).abs() < 1e-3, "{}", state.frame.position.y);
    assert!(state.velocity.norm() < 1e-3);
}

#[test]
fn a_mesh_with_a_hole_is_a_shell_or_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("open.obj");
    std::fs::write(&path, "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 3 2\n").expect("written");
    let path = path.to_string_lossy();
    let text = |more: &str| {
        format!(
            "dimension = 3\n[time]\nend = 1\n[[rigid]]\nname = \"leaf\"\ndensity = 1000\n\
             shape = {{ mesh = {{ path = {path:?}{more} }} }}\n"
        )
    };
    let refused = world(&text("")).expect_err("an open surface has no inside");
    assert!(refused.contains("leaf"), "{refused}");
    let shell = world(&text(", thickness = 0.02")).expect("a shell");
    assert!((shell.model().bodies[0].mass - 1000.0 * 0.5 * 0.02).abs() < 1e-9);
    // Of what cannot be, the body is named.
    let flat = scene_with(&format!(
        "[[rigid]]\nname = \"disc\"\nmass = 1\nshape = {{ mesh = {{ path = {path:?} }} }}\n"
    ));
    assert!(super::first_error(&flat, &[]).contains("`disc`: a mesh is a body of three dimensions"));
}

#[test]
fn a_body_breaks_along_the_surfaces_of_files() {
    let folder = tempfile::tempdir().expect("a folder");
    // Slices, so that wherever the brick is hit some of it lies in another one.
    let files: Vec<String> = (0..8)
        .map(|k| {
            let x = -1.0 + 0.25 * f64::from(k);
            box_file(folder.path(), &format!("{k}.obj"), [x, -1.0, -1.0], [x + 0.25, 1.0, 1.0])
        })
        .collect();
    // Once more from a pattern file made of the same surfaces.
    let surfaces: Vec<_> = files
        .iter()
        .map(|path| {
            let mesh = splashdown_geometry::io::read_mesh(path).expect("a mesh");
            splashdown_geometry::mesh::SurfaceMesh { points: mesh.points, elements: mesh.triangles }
        })
        .collect();
    let pattern = splashdown_rigid::fracture::Pattern::from_surfaces(
        &surfaces,
        64,
        splashdown_math::Vector::zeros(),
        splashdown_math::Vector::y(),
    )
    .expect("a pattern");
    let path = folder.path().join("slices.spp");
    pattern_file::write(&path, &pattern).expect("a written pattern");
    let stored = format!("pattern = {:?}", path.to_string_lossy());
    let surfaces = format!("files = {files:?}, resolution = 64");
    let mut counts = Vec::new();
    for (source, placement) in
        [(&surfaces, "general"), (&stored, "general"), (&surfaces, "aligned"), (&stored, "aligned")]
    {
        let text = format!(
            "dimension = 3\n[time]\nend = 1\n[[rigid]]\nname = \"ground\"\nkind = \"static\"\nshape = {{ plane = {{}} }}\n\
             [[rigid]]\nname = \"brick\"\nmass = 3\nposition = [0, 0.5, 0]\nvelocity = [0, -3, 0]\n\
             shape = {{ box = {{ size = [0.4, 0.2, 0.2] }} }}\n[rigid.fracture]\nthreshold = 0.5\nresolution = 32\nchild_factor = 1e3\n\
             regions = {{ {source}, placement = {placement:?} }}\n"
        );
        let mut world = world(&text).expect("a right scene");
        for _ in 0..15 {
            world.step(1.0 / 30.0).expect("a step");
        }
        let pieces: Vec<f64> = world.model().bodies[1..].iter().map(|body| body.mass).collect();
        assert!(pieces.len() >= 2, "{placement}: {pieces:?}");
        assert!((pieces.iter().sum::<f64>() - 3.0).abs() < 1e-10);
        counts.push(pieces);
    }
    assert!(counts[0] == counts[1] && counts[2] == counts[3], "{counts:?}");
    let scene = |regions: &str| {
        format!(
            "dimension = 3\n[time]\nend = 1\n[[rigid]]\nname = \"brick\"\nmass = 3\nshape = {{ box = {{ size = [1, 1, 1] }} }}\n\
             [rigid.fracture]\nthreshold = 1\nregions = {{ {regions} }}\n"
        )
    };
    for regions in ["", &format!("{surfaces}, {stored}")] {
        let refused = Scene::parse("s.toml", &scene(regions), &[]).expect_err("one of both").to_string();
        assert!(refused.contains("either `files` or `pattern`"), "{refused}");
    }
    let refused = world(&scene(&format!("pattern = {:?}", files[0]))).expect_err("no pattern");
    assert!(refused.contains("brick"), "{refused}");
}

#[test]
fn parts_are_cut_out_of_each_other() {
    let scene = |parts: &str| {
        format!(
            "dimension = 3\n[time]\nend = 1\n[[rigid]]\nname = \"a\"\ndensity = 1000\nshape.parts.parts = [{parts}]\n"
        )
    };
    let cube = "{ shape = { box = { size = [1, 1, 1] } } }";
    let ball = "shape = { sphere = { radius = 0.3 } }";
    let mass = |parts: &str| world(&scene(parts)).map(|world| world.model().bodies[0].mass);
    let volume = 4.0 / 3.0 * std::f64::consts::PI * 0.027;
    let hollow = mass(&format!("{cube}, {{ {ball}, combine = \"difference\" }}")).expect("a right scene");
    assert!((hollow / 1000.0 - (1.0 - volume)).abs() < 2e-3, "{hollow}");
    let inside = mass(&format!("{cube}, {{ {ball}, combine = \"intersection\" }}")).expect("a right scene");
    assert!((inside / 1000.0 - volume).abs() < 2e-3, "{inside}");
    let refused =
        mass(&format!("{{ {ball}, combine = \"difference\" }}, {cube}")).expect_err("nothing to cut");
    assert!(refused.contains("first part of `a`"), "{refused}");
    let nothing =
        mass(&format!("{cube}, {{ shape = {{ box = {{ size = [2, 2, 2] }} }}, combine = \"difference\" }}"));
    assert!(nothing.is_err());
}

#[test]
fn switches_of_rigid_motion_reach_the_world() {
    let text = "dimension = 3\n[time]\nend = 1\n[free_rotation]\norder = 3\nenergy_fix = \"off\"\n\
                [articulation]\npre_stabilization = \"pairwise\"\npost_stabilization = \"pairwise\"\nsweeps = 7\n\
                [contact]\nshock_propagation = false\nenergy_clamp = false\npush_out = \"central_normal\"\n\
                overlap = 1e-4\nsleep_speed = 0.01\nsleep_after = 2\nsweeps = { collision = 3, pair = 4, contact = 6, level = 1 }\n\
                [[rigid]]\nname = \"a\"\nmass = 1\nshape = { box = { size = [1, 1, 1] } }\n";
    let mut world = world(text).expect("a right scene");
    let options = *world.options_mut();
    assert_eq!(options.orientation_order, splashdown_rigid::OrientationOrder::Third);
    assert_eq!(options.energy_fix, splashdown_rigid::EnergyFix::Off);
    let pairwise = splashdown_rigid::joint::Stabilization::Pairwise;
    assert_eq!(options.joints, splashdown_couple::JointOptions { pre: pairwise, post: pairwise, sweeps: 7 });
    assert!(
        !options.contact.shock_propagation
            && !options.contact.clamp_collisions
            && !options.contact.clamp_contact
    );
    let contact = &options.contact;
    assert_eq!(contact.push_out, splashdown_rigid::PushOut::CentralNormal);
    assert_eq!(contact.allowed_overlap, 1e-4);
    assert_eq!(
        [contact.collision_sweeps, contact.pair_impulses, contact.contact_sweeps, contact.level_iterations],
        [3, 4, 6, 1]
    );
    assert_eq!(contact.sleeping, splashdown_rigid::Sleeping { enabled: true, speed: 0.01, after: 2.0 });
    assert!(Scene::parse("s.toml", &text.replace("pair = 4", "pair = 0"), &[]).is_err());
    let wrong = text.replace("order = 3", "order = 4");
    assert!(Scene::parse("s.toml", &wrong, &[]).is_err());
}

#[test]
fn forces_and_drag_of_a_scene_act_on_its_bodies() {
    let text = "dimension = 3\ngravity = [0, 0, 0]\n[time]\nend = 2\n[[rigid]]\nname = \"puck\"\nshape = { sphere = { radius = 0.1 } }\nmass = 2\nforce = [4, 0, 0]\ntorque = [0, 0.1, 0]\ndrag = { linear = 1, angular = 2 }\n";
    let mut world = world(text).expect("a right scene");
    for _ in 0..60 {
        world.step(1.0 / 30.0).expect("a step");
    }
    let (body, state) = (&world.model().bodies[0], &world.state().bodies[0]);
    // v = F / (m c) (1 - e^{-c t}), and the same of the angular momentum.
    let speed = 2.0 * (1.0 - f64::exp(-2.0));
    assert!((state.velocity.x - speed).abs() < 1e-12, "{}", state.velocity.x);
    let momentum = 0.05 * (1.0 - f64::exp(-4.0));
    assert!((state.angular_momentum.y - momentum).abs() < 1e-12, "{}", state.angular_momentum.y);
    assert!((state.twist(body).angular.y - momentum / (0.4 * 2.0 * 0.01)).abs() < 1e-9);
}

#[test]
fn generic_joints_lock_and_free_what_their_words_say() {
    let text = "dimension = 3\n[time]\nend = 1\n[[rigid]]\nname = \"ball\"\nshape = { sphere = { radius = 0.1 } }\nmass = 1\nvelocity = [1, 0, 1]\n[[joint]]\nname = \"rail\"\nkind = \"generic\"\nchild = \"ball\"\ntranslation = [\"free\", \"locked\", { min = -0.1, max = 0.1 }]\nrotation = [\"free\", \"locked\", \"locked\"]\n";
    let mut world = world(text).expect("a right scene");
    for _ in 0..30 {
        world.step(1.0 / 30.0).expect("a step");
    }
    let place = world.state().bodies[0].frame.position;
    // Along x it goes on, gravity is held along y, and along z it ends at the limit.
    assert!((place.x - 1.0).abs() < 1e-9 && place.y.abs() < 1e-9, "{place}");
    assert!(place.z <= 0.1 + 1e-9 && place.z > 0.09, "{place}");
}
