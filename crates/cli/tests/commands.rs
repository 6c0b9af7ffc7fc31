//! Every other command.

mod common;

use common::{Place, SMALL};
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn list_names_scenes_that_run() {
    let place = Place::new();
    let (out, _) = place.expect(0, &["list"]);
    assert!(out.lines().any(|line| line.starts_with("quickstart ")), "{out}");
    let (out, _) = place.expect(0, &["list", "--json"]);
    let list: Value = serde_json::from_str(&out).unwrap();
    for scene in list.as_array().unwrap() {
        let name = scene["name"].as_str().unwrap();
        place.expect(0, &["check", name]);
        // One frame of each.
        place.expect(0, &["run", name, "--quiet", "--until", "0.03125", "--set", "time.frame_rate=32"]);
        assert!(place.path(&format!("runs/{name}/log.jsonl")).is_file());
    }
}

#[test]
fn a_new_scene_is_right_and_nothing_is_overwritten() {
    let place = Place::new();
    for dimension in ["2", "3"] {
        let name = format!("mine-{dimension}");
        let (out, _) = place.expect(0, &["new", &name, "--dimension", dimension]);
        assert!(out.contains(&format!("splashdown run {name}.toml")), "{out}");
        place.expect(0, &["run", &format!("{name}.toml"), "--quiet", "--until", "0.1"]);
    }
    place.write("precious.toml", "mine");
    let (_, err) = place.expect(2, &["new", "precious"]);
    assert!(err.contains("exists already"), "{err}");
    assert_eq!(fs::read(place.path("precious.toml")).unwrap(), b"mine");
    place.expect(2, &["new", "no/such/folder/scene"]);
    place.expect(2, &["new", "four", "--dimension", "4"]);
}

#[test]
fn a_fracture_pattern_is_written_and_used() {
    let place = Place::new();
    let scene = |fracture: &str| {
        format!(
            "dimension = 2\n[time]\nend = 0.3\n[[rigid]]\nname = \"ground\"\nkind = \"static\"\nshape = {{ plane = {{}} }}\n\
             [[rigid]]\nname = \"tile\"\nmass = 2\nposition = [0, 0.3]\nvelocity = [0, -3]\nshape = {{ box = {{ size = [0.4, 0.2] }} }}\n\
             fracture = {{ threshold = 0.5, resolution = 32, {fracture} }}\n"
        )
    };
    place.write("made.toml", scene("pattern = \"voronoi\", pieces = 12"));
    let (out, _) = place.expect(0, &["pattern", "made.toml", "--body", "tile", "--out", "tile.spp"]);
    assert!(out.contains("12 regions"), "{out}");
    place.write("used.toml", scene("regions = { pattern = \"tile.spp\" }"));
    place.expect(0, &["run", "used.toml", "--quiet", "--out", "run"]);
    let log = fs::read_to_string(place.path("run/log.jsonl")).unwrap();
    assert!(log.contains("\"broken\":[{\"name\":\"tile\""), "{}", &log[..log.len().min(2000)]);
    // Nothing is replaced unasked, and what has no pattern is told.
    place.expect(2, &["pattern", "made.toml", "--body", "tile", "--out", "tile.spp"]);
    place.expect(0, &["pattern", "used.toml", "--body", "tile", "--out", "tile.spp", "--overwrite"]);
    for (body, word) in [("ground", "does not break"), ("cup", "no such rigid body")] {
        let (_, err) = place.expect(2, &["pattern", "made.toml", "--body", body, "--out", "other.spp"]);
        assert!(err.contains(word), "{err}");
    }
    place.expect(2, &["pattern", "made.toml", "--body", "tile", "--out", "tile.obj"]);
}

#[test]
fn check_takes_files_folders_and_globs_and_tells_line_and_column() {
    let place = Place::new();
    fs::create_dir_all(place.path("scenes/deep")).unwrap();
    place.write("scenes/good.toml", SMALL);
    place.write("scenes/deep/bad.toml", "dimension = 3\n[time]\nend = -1\n");
    place.write("scenes/note.txt", "not a scene");
    let (out, _) = place.expect(0, &["check", "small.toml", "scenes/*.toml", "quickstart"]);
    assert_eq!(out.lines().count(), 3, "{out}");
    let (out, err) = place.expect(2, &["check", "scenes"]);
    assert!(out.contains("ok scenes/good.toml") && err.contains("scenes/deep/bad.toml:3:7"), "{out}{err}");
    let (out, _) = place.expect(2, &["check", "--json", "scenes/**/*.toml"]);
    let reports: Value = serde_json::from_str(&out).unwrap();
    let bad = reports.as_array().unwrap().iter().find(|report| report["ok"] == false).unwrap();
    assert_eq!(
        (bad["problems"][0]["line"].as_u64(), bad["problems"][0]["column"].as_u64()),
        (Some(3), Some(7))
    );
    for nothing in ["nowhere/*.toml", "missing.toml", "[", "scenes/deep/nothing-here"] {
        place.expect(2, &["check", nothing]);
    }
}

#[test]
fn every_broken_scene_that_ships_is_refused_with_line_and_column() {
    let place = Place::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/bad");
    let scenes: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(scenes.len() >= 12);
    for scene in scenes.iter().filter(|path| path.extension().is_some_and(|e| e == "toml")) {
        let name = scene.to_str().unwrap();
        let (_, err) = place.expect(2, &["check", name]);
        let place_of = |line: &str| {
            let mut parts = line.strip_prefix(name)?.split(':').skip(1);
            Some((parts.next()?.parse::<u32>().ok()?, parts.next()?.parse::<u32>().ok()?))
        };
        assert!(err.lines().any(|line| place_of(line).is_some()), "{err}");
    }
}

#[test]
fn info_knows_scenes_runs_frames_checkpoints_and_meshes() {
    let place = Place::new();
    let json = |what: &str| -> Value {
        serde_json::from_str(&place.expect(0, &["info", what, "--json"]).0).unwrap()
    };
    assert_eq!(json("small.toml")["particles"], 12);
    assert_eq!(json("quickstart")["kind"], "scene");
    place.expect(0, &["run", "small.toml", "--quiet"]);
    let frame = json("runs/small/frames/frame-000010.spf");
    assert_eq!((&frame["time"], &frame["parts"][0]["kind"]), (&Value::from(0.2), &Value::from("bodies")));
    assert_eq!(frame["parts"][1]["elements"], 11);
    let checkpoint =
        fs::read_dir(place.path("runs/small/checkpoints")).unwrap().next().unwrap().unwrap().path();
    assert_eq!(json(checkpoint.to_str().unwrap())["kind"], "checkpoint");
    place.expect(0, &["info", "runs/small"]);

    // A cube that is whole, one that leaks, and files that are no meshes.
    place.expect(0, &["export", "runs/small", "--format", "obj", "--frames", "0", "--out", "obj", "--quiet"]);
    let mesh = json("obj/frame-000000.obj");
    assert_eq!((mesh["kind"].as_str(), mesh["segments"].as_u64()), (Some("mesh"), Some(11)));
    place.write("leaky.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    assert_eq!(json("leaky.obj")["closed"], false);
    place.write("broken.obj", "v 0 0\nf 1 2 99\n");
    let (_, err) = place.expect(2, &["info", "broken.obj"]);
    assert!(err.contains("broken.obj"), "{err}");
    for missing in ["nowhere.spf", "nowhere.obj", "nowhere.toml"] {
        place.expect(2, &["info", missing]);
    }
    let (_, err) = place.expect(2, &["info", "."]);
    assert!(err.contains("not the folder of a run"), "{err}");
}

#[test]
fn damaged_frames_are_told_and_left_alone() {
    let place = Place::new();
    place.expect(0, &["run", "small.toml", "--quiet"]);
    let path = place.path("runs/small/frames/frame-000003.spf");
    let whole = fs::read(&path).unwrap();
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let mut newer = whole.clone();
    newer[8] = 99;
    let cases = [
        (flipped, "damaged"),
        (whole[..whole.len() - 20].to_vec(), "cut off"),
        (newer, "newer"),
        (b"GIF89a".to_vec(), "not a Splashdown frame"),
        (vec![], "not a Splashdown frame"),
    ];
    for (bytes, message) in cases {
        fs::write(&path, &bytes).unwrap();
        let (_, err) = place.expect(2, &["info", "runs/small/frames/frame-000003.spf"]);
        assert!(err.contains("frame-000003.spf") && err.contains(message), "{err}");
        let (_, err) = place.expect(2, &["export", "runs/small", "--out", "vtk", "--overwrite"]);
        assert!(err.contains("frame-000003.spf") && err.contains(message), "{err}");
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}

#[test]
fn exports_have_a_file_for_every_frame_and_part() {
    let place = Place::new();
    place.expect(0, &["run", "small.toml", "--quiet"]);
    let (out, _) = place.expect(0, &["export", "runs/small"]);
    assert!(out.contains("runs/small/export-vtk/small.pvd"), "{out}");
    let pvd = fs::read_to_string(place.path("runs/small/export-vtk/small.pvd")).unwrap();
    assert_eq!(pvd.matches("<DataSet").count(), 22);
    for file in pvd.split("file=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(place.path("runs/small/export-vtk").join(file).is_file(), "{file}");
    }
    let (_, err) = place.expect(2, &["export", "runs/small"]);
    assert!(err.contains("not empty") && err.contains("--overwrite"), "{err}");
    for format in ["ply", "obj"] {
        place.expect(0, &["export", "runs/small", "--format", format, "--frames", "2..4", "--out", format]);
        assert_eq!(place.files(format).len(), 3);
    }
    for (format, ending) in [("gltf", "glb"), ("usd", "usda")] {
        place.expect(0, &["export", "runs/small", "--format", format, "--out", format]);
        assert!(place.path(format).join(format!("small.{ending}")).is_file());
    }
    let (_, err) = place.expect(2, &["export", "runs/small", "--frames", "90..", "--out", "none"]);
    assert!(err.contains("0 to 10"), "{err}");
    let (_, err) = place.expect(2, &["export", "small.toml"]);
    assert!(err.contains("not the folder of a run"), "{err}");
    place.expect(2, &["export", "runs/small", "--frames", "4..2"]);
    place.expect(2, &["export", "runs/small", "--format", "gif"]);
}

#[test]
fn verify_lists_runs_and_tells_what_it_does_not_know() {
    let place = Place::new();
    let (out, _) = place.expect(0, &["verify", "--list"]);
    assert!(
        out.lines().any(|line| line.starts_with("foundation/free-flight") && line.contains(" s ")),
        "{out}"
    );
    place.expect(0, &["verify", "foundation/free-flight", "--json", "out.json", "--report", "report"]);
    let rows: Value = serde_json::from_slice(&fs::read(place.path("out.json")).unwrap()).unwrap();
    for key in
        ["case", "quantity", "measured", "reference", "tolerance", "source", "pass", "seconds", "resolution"]
    {
        assert!(!rows[0][key].is_null(), "{key}");
    }
    assert!(place.path("report").is_dir());
    let (_, err) = place.expect(2, &["verify", "foundation/free-fligth"]);
    assert!(err.contains("foundation/free-flight"), "{err}");
}

/// Browsers are tested in `viewer/tests`; here only what needs none.
#[test]
fn a_viewer_is_refused_what_is_no_run_and_what_is_no_address() {
    let place = Place::new();
    let (_, err) = place.expect(2, &["view", "small.toml"]);
    assert!(err.contains("not the folder of a run"), "{err}");
    place.expect(0, &["run", "small.toml", "--quiet"]);
    // An address of the documentation range, which no machine has.
    let (_, err) = place.expect(2, &["view", "runs/small", "--bind", "192.0.2.1"]);
    assert!(err.contains("cannot listen on 192.0.2.1"), "{err}");
    place.expect(2, &["view", "runs/small", "--port", "70000"]);
}

#[test]
fn help_has_examples_and_completions_and_manual_are_made() {
    let place = Place::new();
    for command in
        ["run", "check", "new", "list", "info", "export", "view", "verify", "bench", "completions", "man"]
    {
        let (out, _) = place.expect(0, &[command, "--help"]);
        assert!(out.contains("Examples:"), "{command}");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(place.expect(0, &["completions", shell]).0.contains("splashdown"));
    }
    assert!(place.expect(0, &["man"]).0.contains(".TH"));
    place.expect(0, &["man", "--out", "man1"]);
    assert!(place.path("man1/splashdown-run.1").is_file());
    place.expect(2, &["fly"]);
    place.expect(2, &[]);
}

/// `splashdown completions bash | head -c 10` must not panic.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    for arguments in [&["completions", "bash"][..], &["list"], &["verify", "--list"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_splashdown"))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = child.stdout.take().unwrap();
        let mut few = [0; 4];
        out.read_exact(&mut few).unwrap();
        drop(out);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{arguments:?}");
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Issue 2, "Bad input": meshes that are empty, leaky, inverted or non-manifold, or whose header lies about their size.
#[test]
fn meshes_that_cannot_be_simulated_are_refused_with_the_reason() {
    let place = Place::new();
    let corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
    let tetrahedron = "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    place.write("whole.obj", format!("{corners}{tetrahedron}"));
    place.expect(0, &["check", "whole.obj"]);
    let msh = |elements: &str| {
        format!(
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n$Elements\n1\n{elements}\n$EndElements\n"
        )
    };
    place.write("whole.msh", msh("1 4 2 0 0 1 2 3 4"));
    place.expect(0, &["check", "whole.msh"]);
    let lying = [&[b' '; 80][..], &10_000_000u32.to_le_bytes()[..], &[0; 50][..]].concat();
    fs::write(place.path("lying.stl"), lying).unwrap();
    for (name, text, reason) in [
        ("empty.obj", String::new(), "empty"),
        ("leaky.obj", format!("{corners}f 1 3 2\nf 1 2 4\nf 1 4 3\n"), "leak"),
        ("fin.obj", format!("{corners}v 1 1 1\n{tetrahedron}f 1 2 5\n"), "manifold"),
        ("flipped.obj", format!("{corners}f 1 2 3\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"), "turned around"),
        ("inverted.msh", msh("1 4 2 0 0 1 3 2 4"), "inside out"),
        ("lying.stl", String::new(), "lying.stl"),
    ] {
        if name != "lying.stl" {
            place.write(name, &text);
        }
        let before = fs::read(place.path(name)).unwrap();
        let (_, err) = place.expect(2, &["check", name]);
        assert!(err.contains(name) && err.to_lowercase().contains(reason), "{name}: {err}");
        assert_eq!(fs::read(place.path(name)).unwrap(), before, "{name} was changed");
    }
}

#[test]
fn plots_and_films_are_what_their_names_say() {
    let place = Place::new();
    place.expect(0, &["run", "small.toml", "--quiet"]);
    place.expect(0, &["plot", "runs/small", "--out", "energy.png"]);
    let bytes = fs::read(place.path("energy.png")).unwrap();
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
    // Width and height of the picture.
    assert_eq!(bytes[16..24], [0, 0, 5, 0, 0, 0, 3, 32]);
    place.expect(0, &["plot", "runs/small", "stages.all", "--out", "stages.svg"]);
    assert!(fs::read_to_string(place.path("stages.svg")).unwrap().contains("stages.all"));
    let (_, err) = place.expect(2, &["plot", "runs/small", "--out", "energy.jpg"]);
    assert!(err.contains(".svg or .png"), "{err}");

    let film = |name: &str| {
        place.expect(
            0,
            &["render", "runs/small", "--out", name, "--width", "64", "--height", "48", "--quiet"],
        );
        fs::read(place.path(name)).unwrap()
    };
    assert_eq!(&film("film.mp4")[4..12], b"ftypisom");
    assert!(film("film.gif").starts_with(b"GIF89a"));
    for wrong in [
        &["--out", "film.webm"][..],
        &["--film", "--out", "film.png"],
        &["--speed", "2"],
        &["--film", "--speed", "-1"],
        &["--zoom", "0"],
    ] {
        place.expect(2, &[&["render", "runs/small"][..], wrong].concat());
    }
}

#[test]
fn flags_of_the_viewer_need_the_viewer() {
    let place = Place::new();
    for flags in [&["--port", "8000"][..], &["--open"], &["--bind", "0.0.0.0"]] {
        let (_, err) = place.expect(2, &[&["run", "quickstart"][..], flags].concat());
        assert!(err.contains(flags[0]) && err.contains("--view"), "{err}");
    }
    assert!(!place.path("runs").exists());
}

#[test]
fn pictures_are_seen_from_the_scene_s_camera_unless_told_otherwise() {
    let place = Place::new();
    place.write("turned.toml", format!("{SMALL}[camera]\nfrom = [1, 0.1, 0]\nzoom = 1.5\n"));
    let draw = |run: &str, flags: &[&str]| {
        let size = ["--out", "one.png", "--overwrite", "--width", "96", "--height", "64", "--quiet"];
        place.expect(0, &[&["render", run][..], &size, flags].concat());
        fs::read(place.path("one.png")).unwrap()
    };
    for scene in ["small", "turned"] {
        place.expect(0, &["run", &format!("{scene}.toml"), "--quiet"]);
    }
    let usual = draw("runs/small", &[]);
    assert!(draw("runs/turned", &[]) != usual);
    assert!(draw("runs/turned", &["--from", "0.45,0.4,1", "--zoom", "1"]) == usual);
    // It is no part of the physics: a run can be looked at from another side while it is resumed.
    place.write("runs/small/scene.toml", fs::read(place.path("runs/turned/scene.toml")).unwrap());
    place.expect(0, &["run", "runs/small", "--resume", "--until", "0.3", "--quiet"]);
    place.write("wrong.toml", format!("{SMALL}[camera]\nfrom = [1, 0]\n"));
    let (_, err) = place.expect(2, &["check", "wrong.toml"]);
    assert!(err.contains("camera") && err.contains("wrong.toml:"), "{err}");
}
