//! `splashdown run`: a whole run, interruption, resuming, and everything that can be wrong with a run's folder.

mod common;

use common::Place;
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn a_run_fills_its_folder_and_says_where() {
    let place = Place::new();
    let (out, _) = place.expect(0, &["run", "small.toml"]);
    assert!(out.contains("output in runs/small") && out.contains("splashdown export runs/small"), "{out}");
    assert!(out.contains("energy"), "{out}");
    assert!(!out.contains('\u{1b}'), "no colour in a pipe: {out:?}");
    let run = place.path("runs/small");
    for name in ["run.json", "scene.toml", "scene.original.toml", "log.jsonl", "frames/frame-000010.spf"] {
        assert!(run.join(name).is_file(), "{name}");
    }
    assert_eq!(fs::read(run.join("scene.original.toml")).unwrap(), common::SMALL.as_bytes());
    let log = fs::read_to_string(run.join("log.jsonl")).unwrap();
    let last: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    assert_eq!(log.lines().count(), 201);
    assert_eq!((last["step"].as_u64(), last["time"].as_f64()), (Some(200), Some(0.2)));
    for key in ["mass", "momentum", "angular_momentum", "kinetic_energy", "total_energy", "dt", "solves"] {
        assert!(!last[key].is_null(), "{key} in {last}");
    }
    let (out, _) = place.expect(0, &["info", "runs/small", "--json"]);
    let info: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&info["status"], &info["frames"]), (&Value::from("finished"), &Value::from(11)));
}

#[test]
fn quiet_is_quiet_and_json_is_json() {
    let place = Place::new();
    assert_eq!(place.expect(0, &["run", "small.toml", "--quiet"]), (String::new(), String::new()));
    let (out, _) = place.expect(0, &["run", "small.toml", "--json", "--out", "two", "--threads", "1"]);
    let ended: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&ended["status"], &ended["steps"]), (&Value::from("finished"), &Value::from(200)));
    assert_eq!(place.bits("two"), place.bits("runs/small"));
}

#[test]
fn an_existing_run_is_never_lost_by_accident() {
    let place = Place::new();
    place.expect(0, &["run", "small.toml", "--quiet"]);
    let before = place.files("runs/small");
    let (_, err) = place.expect(2, &["run", "small.toml", "--set", "rigid.ball.density=9"]);
    assert!(
        err.contains("already holds a run") && err.contains("--resume") && err.contains("--overwrite"),
        "{err}"
    );
    assert_eq!(place.files("runs/small"), before);
    place.expect(0, &["run", "small.toml", "--quiet", "--overwrite", "--set", "time.end=0.1"]);
    assert_eq!(place.bits("runs/small").len(), 7);
}

#[test]
fn a_folder_of_other_things_is_refused_and_left_alone() {
    let place = Place::new();
    fs::create_dir(place.path("thesis")).unwrap();
    place.write("thesis/chapter.tex", "years of work");
    for extra in ["--quiet", "--overwrite"] {
        let (_, err) = place.expect(2, &["run", "small.toml", "--out", "thesis", extra]);
        assert!(err.contains("not a run's"), "{err}");
    }
    let (_, err) = place.expect(2, &["run", "small.toml", "--out", "small.toml"]);
    assert!(err.contains("is a file"), "{err}");
    assert_eq!(place.files("thesis").len(), 1);
}

#[test]
fn resuming_nothing_or_another_scene_is_refused() {
    let place = Place::new();
    let (_, err) = place.expect(2, &["run", "small.toml", "--resume"]);
    assert!(err.contains("not the folder of a run"), "{err}");
    assert!(!place.path("runs").exists());
    place.expect(0, &["run", "small.toml", "--quiet"]);
    let before = place.files("runs/small");
    let (_, err) = place.expect(2, &["run", "small.toml", "--resume", "--set", "rigid.ball.density=600"]);
    assert!(err.contains("rigid.ball.density: 500.0 -> 600.0"), "{err}");
    let (_, err) = place.expect(2, &["run", "runs/small"]);
    assert!(err.contains("--resume"), "{err}");
    assert_eq!(place.files("runs/small"), before);
}

#[test]
fn until_extends_a_run_with_the_bits_of_a_longer_one() {
    let place = Place::new();
    place.expect(0, &["run", "small.toml", "--quiet", "--until", "0.3", "--out", "long"]);
    place.expect(0, &["run", "small.toml", "--quiet", "--out", "short"]);
    place.expect(0, &["run", "short", "--quiet", "--resume", "--until", "0.3"]);
    assert_eq!(place.bits("short"), place.bits("long"));
    // Finished: resuming again changes neither frames nor log.
    place.expect(0, &["run", "short", "--quiet", "--resume"]);
    assert_eq!(place.bits("short"), place.bits("long"));
}

#[test]
fn damaged_checkpoints_are_passed_over_with_a_warning_or_refused() {
    let place = Place::new();
    place.expect(0, &["run", "small.toml", "--quiet", "--out", "whole"]);
    place.expect(0, &["run", "small.toml", "--quiet", "--out", "hurt"]);
    let mut checkpoints: Vec<_> =
        fs::read_dir(place.path("hurt/checkpoints")).unwrap().map(|e| e.unwrap().path()).collect();
    checkpoints.sort();
    assert_eq!(checkpoints.len(), 2);
    let mut bytes = fs::read(&checkpoints[1]).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(&checkpoints[1], bytes).unwrap();
    let (_, err) = place.expect(0, &["run", "hurt", "--quiet", "--resume"]);
    assert!(err.contains("fell back to an older checkpoint") && err.contains("damaged"), "{err}");
    assert_eq!(place.bits("hurt"), place.bits("whole"));

    let mut checkpoints: Vec<_> =
        fs::read_dir(place.path("hurt/checkpoints")).unwrap().map(|e| e.unwrap().path()).collect();
    checkpoints.sort();
    for path in &checkpoints {
        let bytes = fs::read(path).unwrap();
        fs::write(path, &bytes[..bytes.len() - 7]).unwrap();
    }
    let before = place.files("hurt");
    let (_, err) = place.expect(2, &["run", "hurt", "--resume"]);
    assert!(err.contains("no usable checkpoint") && err.contains("cut off"), "{err}");
    let after = place.files("hurt");
    let differing =
        |name: &str| before.iter().any(|(path, bytes)| path.ends_with(name) && after[path] != *bytes);
    assert!(!differing("log.jsonl") && !differing("run.json") && before.len() == after.len());
}

/// A run long enough to be hit: ten seconds of simulated time.
fn long_run(place: &Place, out: &str) -> std::process::Child {
    Command::new(env!("CARGO_BIN_EXE_splashdown"))
        .current_dir(place.path(""))
        .args(["run", "small.toml", "--until", "200", "--out", out])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn wait_for(what: impl Fn() -> bool) {
    let start = Instant::now();
    while !what() {
        assert!(start.elapsed() < Duration::from_secs(60), "it never happened");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn two_runs_cannot_share_a_folder_and_a_killed_one_is_no_obstacle() {
    let place = Place::new();
    let mut child = long_run(&place, "busy");
    wait_for(|| place.path("busy/frames/frame-000004.spf").exists());
    for arguments in [["--overwrite", "--quiet"], ["--resume", "--quiet"]] {
        let arguments = [&["run", "small.toml", "--out", "busy"][..], &arguments].concat();
        let (_, err) = place.expect(2, &arguments);
        assert!(err.contains("in use by another run") && err.contains(&child.id().to_string()), "{err}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // Killed without a chance to clean up: the lock is free, the bits are those of a whole run.
    let frames = fs::read_dir(place.path("busy/frames")).unwrap().count();
    let until = format!("{}", (frames + 5) as f64 / 50.0);
    place.expect(0, &["run", "busy", "--resume", "--quiet", "--until", &until]);
    place.expect(0, &["run", "small.toml", "--quiet", "--until", &until, "--out", "whole"]);
    assert_eq!(place.bits("busy"), place.bits("whole"));
}

#[cfg(unix)]
#[test]
fn an_interrupt_saves_and_tells_how_to_go_on() {
    let place = Place::new();
    let child = long_run(&place, "my run");
    wait_for(|| place.path("my run/frames/frame-000002.spf").exists());
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{err}");
    assert!(err.contains("splashdown run 'my run' --resume"), "{err}");
    let (out, _) = place.expect(0, &["info", "my run", "--json"]);
    let info: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(info["status"], "interrupted");
    let step = info["steps"].as_u64().unwrap();
    assert_eq!(info["checkpoints"][0].as_u64(), Some(step), "the very last step is saved");
    let until = format!("{}", (step as f64 / 20.0).ceil() / 50.0 + 0.1);
    place.expect(0, &["run", "my run", "--resume", "--quiet", "--until", &until]);
    place.expect(0, &["run", "small.toml", "--quiet", "--until", &until, "--out", "whole"]);
    assert_eq!(place.bits("my run"), place.bits("whole"));
}

/// A limit on the size of files makes writes fail in the middle, like a disk that fills up.
#[cfg(unix)]
#[test]
fn a_disk_that_fills_up_is_told_and_the_run_goes_on_later_with_the_same_bits() {
    let place = Place::new();
    place.expect(0, &["run", "small.toml", "--quiet", "--out", "whole"]);
    let script = format!(
        "trap '' XFSZ; ulimit -f 8; exec '{}' run small.toml --quiet --out full",
        env!("CARGO_BIN_EXE_splashdown")
    );
    let output = Command::new("bash").current_dir(place.path("")).args(["-c", &script]).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(
        err.contains("cannot write full/log.jsonl") && err.contains("splashdown run full --resume"),
        "{err}"
    );
    let log = fs::read_to_string(place.path("full/log.jsonl")).unwrap();
    assert!(log.ends_with('\n') && log.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    assert!(place.files("full").keys().all(|path| path.extension().is_none_or(|e| e != "part")));
    place.expect(0, &["run", "full", "--quiet", "--resume"]);
    assert_eq!(place.bits("full"), place.bits("whole"));
}

#[test]
fn a_folder_that_cannot_be_made_is_bad_input() {
    let place = Place::new();
    let (_, err) = place.expect(2, &["run", "small.toml", "--out", "small.toml/inside"]);
    assert!(err.contains("small.toml/inside"), "{err}");
}

#[test]
fn bad_scenes_and_arguments_are_told_with_their_place() {
    let place = Place::new();
    place.write("bad.toml", common::SMALL.replace("mass = 2", "mass = -2"));
    let (_, err) = place.expect(2, &["run", "bad.toml"]);
    assert!(err.contains("bad.toml:14:8") && err.contains("mass"), "{err}");
    for wrong in ["time.end=nan", "time.step=0", "rigid.ball.colour=1", "nonsense", "rigid.none.mass=1"] {
        let (_, err) = place.expect(2, &["run", "small.toml", "--set", wrong]);
        assert!(!err.is_empty());
    }
    for until in ["inf", "-1", "nan", "0"] {
        place.expect(2, &["run", "small.toml", &format!("--until={until}")]);
    }
    let (_, err) = place.expect(2, &["run", "quickstrat"]);
    assert!(err.contains("quickstart"), "{err}");
    place.expect(2, &["run", "small.toml", "--threads", "0"]);
    place.expect(2, &["run", "small.toml", "--resume", "--overwrite"]);
    // A step beyond what is stable is told before anything is written.
    let (_, err) = place.expect(2, &["run", "small.toml", "--set", "time.step=0.02"]);
    assert!(err.contains("too long"), "{err}");
    assert!(!place.path("runs").exists());
}

/// Found by attack: the loser of a race to start removed the winner's lock, and a third run could write to the same folder.
#[test]
fn starting_the_same_folder_twice_at_once_leaves_one_run_that_is_locked() {
    let place = Place::new();
    for round in 0..10 {
        let out = format!("race-{round}");
        let start = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_splashdown"));
            command.current_dir(place.path("")).args(["run", "small.toml", "--quiet", "--out", &out]);
            command.stderr(Stdio::null()).spawn().unwrap()
        };
        let codes = [start(), start()].map(|mut child| child.wait().unwrap().code());
        assert!(codes.contains(&Some(0)), "round {round}: {codes:?}");
        assert!(place.path(&out).join(".lock").is_file(), "round {round}");
        place.expect(0, &["info", &out]);
    }
}

/// Found by attack: a folder killed before its first checkpoint was refused both by `run` and by `--resume`.
#[test]
fn a_run_killed_before_its_first_checkpoint_begins_anew() {
    let place = Place::new();
    place.expect(0, &["run", "small.toml", "--quiet"]);
    let whole = fs::read(place.path("runs/small/log.jsonl")).unwrap();
    fs::remove_dir_all(place.path("runs/small/checkpoints")).unwrap();
    fs::create_dir(place.path("runs/small/checkpoints")).unwrap();
    place.expect(0, &["run", "small.toml", "--quiet", "--resume"]);
    assert_eq!(fs::read(place.path("runs/small/log.jsonl")).unwrap(), whole);
}

/// Found by attack: `--until` before the present time ended the run and lost its end.
#[test]
fn an_end_in_the_past_is_refused_and_nothing_changes() {
    let place = Place::new();
    place.expect(0, &["run", "small.toml", "--quiet"]);
    let scene = fs::read(place.path("runs/small/scene.toml")).unwrap();
    let (_, err) = place.expect(2, &["run", "runs/small", "--resume", "--until", "0.06"]);
    assert!(err.contains("past the end"), "{err}");
    assert_eq!(fs::read(place.path("runs/small/scene.toml")).unwrap(), scene);
}

/// Found by attack: an export into the run's own folders, a folder named like a checkpoint, and negative numbers taken for flags.
#[test]
fn own_folders_odd_names_and_negative_numbers() {
    let place = Place::new();
    place.expect(0, &["run", "small.toml", "--quiet"]);
    for own in ["frames", "checkpoints"] {
        let folder = place.path(&format!("runs/small/{own}"));
        let count = || fs::read_dir(&folder).unwrap().count();
        let before = count();
        let out = format!("runs/small/{own}");
        let (_, err) = place.expect(2, &["export", "runs/small", "--overwrite", "--out", &out]);
        assert!(err.contains("the run's own data"), "{err}");
        assert_eq!(count(), before);
    }
    fs::create_dir(place.path("runs/small/checkpoints/checkpoint-999999999999.spc")).unwrap();
    place.expect(0, &["run", "runs/small", "--quiet", "--resume", "--until", "0.3"]);
    let (_, err) = place.expect(2, &["run", "small.toml", "--until", "-1"]);
    assert!(err.contains("--until -1") && err.contains("positive"), "{err}");
    let (_, err) = place.expect(2, &["run", "small.toml", "--threads", "-1"]);
    assert!(err.contains("-1") && err.contains("1..=512"), "{err}");
}
