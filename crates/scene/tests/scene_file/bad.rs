//! The broken scenes in `scenes/bad`: each says in its first line where its first mistake is and what is said about it.

use super::{first_error, repository, scene_with};
use splashdown_scene::{Scene, SceneErrors};
use std::path::Path;

/// `# expect LINE:COLUMN "part of the message" hint "part of the hint"`.
struct Expectation {
    line: usize,
    column: usize,
    message: String,
    hint: Option<String>,
}

fn expectation(text: &str) -> Option<Expectation> {
    let rest = text.lines().next()?.strip_prefix("# expect ")?;
    let (place, rest) = rest.split_once(' ')?;
    let (line, column) = place.split_once(':')?;
    let (message, hint) = match rest.split_once(" hint ") {
        Some((message, hint)) => (message, Some(hint)),
        None => (rest, None),
    };
    let unquote = |text: &str| text.trim().strip_prefix('"')?.strip_suffix('"').map(|t| t.replace("\\\"", "\""));
    Some(Expectation {
        line: line.parse().ok()?,
        column: column.parse().ok()?,
        message: unquote(message)?,
        hint: hint.and_then(unquote),
    })
}

fn diagnose(path: &Path) -> SceneErrors {
    match Scene::load(path, &[]) {
        Ok(_) => panic!("{} has no error", path.display()),
        Err(errors) => errors,
    }
}

#[test]
fn every_bad_scene_is_diagnosed_at_its_place() {
    let mut count = 0;
    for entry in std::fs::read_dir(repository("scenes/bad")).expect("the folder of bad scenes") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let expected = expectation(&text).unwrap_or_else(|| panic!("{name}: first line is not an expectation"));
        let errors = diagnose(&path);
        let first = &errors.problems()[0];
        let place = first.place.as_ref().unwrap_or_else(|| panic!("{name}: no place: {errors}"));
        assert_eq!((place.line, place.column), (expected.line, expected.column), "{name}: {errors}");
        assert!(first.message.contains(&expected.message), "{name}: {errors}");
        if let Some(hint) = &expected.hint {
            let found = first.hint.as_deref().unwrap_or("");
            assert!(found.contains(hint.as_str()), "{name}: hint is {found:?}");
        }
        // What people see carries the same place, in the form that editors make a link of.
        let shown = errors.render(false);
        let link = format!("{name}:{}:{}", expected.line, expected.column);
        assert!(shown.contains(&link), "{name}: no `{link}` in\n{shown}");
        assert!(!shown.contains('\u{1b}'), "{name}: colours in plain text");
        // And so does what programs read.
        let json = errors.to_json();
        assert_eq!(json[0]["line"], expected.line, "{name}");
        assert_eq!(json[0]["column"], expected.column, "{name}");
        count += 1;
    }
    assert!(count >= 14, "only {count} bad scenes");
}

#[test]
fn all_mistakes_of_a_file_are_reported_at_once() {
    let errors = diagnose(&repository("scenes/bad/several-mistakes.toml"));
    let fields: Vec<&str> = errors.problems().iter().map(|p| p.field.as_str()).collect();
    assert_eq!(
        fields,
        ["dimensions", "time.end", "time.frame_rate", "rigid[0]", "rigid[0].name", "rigid[0].shape.sphere.radius"],
        "{errors}"
    );
}

#[test]
fn a_misspelt_field_does_not_hide_mistakes_of_meaning() {
    let text = scene_with(
        "stpe = 1\n[[deformable]]\nname = \"a\"\ngeometry = { chain = { from = [0, 0], to = [1, 0], particles = 3 } }\nmass = 1\npinned = [7]\n",
    );
    let errors = Scene::parse("s.toml", &text, &[]).expect_err("two mistakes");
    assert_eq!(errors.problems().len(), 2, "{errors}");
    assert!(errors.to_string().contains("no particle 7"), "{errors}");
}

#[test]
fn rendering_shows_the_line_and_points_at_the_value() {
    let errors = diagnose(&repository("scenes/bad/negative-mass.toml"));
    let shown = errors.render(false);
    assert!(shown.contains("mass = -1"), "{shown}");
    assert!(shown.contains("rigid.ball.mass: found -1"), "{shown}");
    assert!(shown.contains("allowed: a number greater than 0"), "{shown}");
    assert!(shown.contains("Mass (kg)"), "{shown}");
    assert!(errors.render(true).contains('\u{1b}'));
}

#[test]
fn columns_of_the_picture_and_of_the_data_agree_behind_wide_characters() {
    let text = "dimension = 2\ntime = { \"é漢字\" = 1, end = -1 }\n";
    let errors = Scene::parse("s.toml", text, &[]).expect_err("a wrong scene");
    for problem in errors.problems() {
        let place = problem.place.as_ref().expect("a place");
        let shown = errors.render(false);
        assert!(shown.contains(&format!("s.toml:{}:{}", place.line, place.column)), "{errors}\n{shown}");
    }
}

#[test]
fn files_that_are_no_text_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let load = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        Scene::load(&path, &[])
    };
    let message = |result: Result<Scene, SceneErrors>| result.expect_err("a refusal").to_string();
    let invalid = message(load("latin.toml", b"dimension = 2\ntitle = \"caf\xe9\"\n"));
    assert!(invalid.contains("latin.toml:2:13: the file is not UTF-8 text"), "{invalid}");
    assert!(message(load("empty.toml", b"")).contains("missing field `dimension`"));
    assert!(message(load("zeros.toml", &[0; 100])).contains("zeros.toml:1:1"));
    let large = message(load("large.toml", &vec![b'#'; 4 << 20 | 1]));
    assert!(large.contains("has 4194305 bytes; a scene file has at most 4194304"), "{large}");
    let is_folder = message(Scene::load(folder.path(), &[]));
    assert!(is_folder.contains("is a folder, not a scene file"), "{is_folder}");
    let absent = message(splashdown_scene::load("quikstart", &[]).map(|l| l.scene));
    assert_eq!(absent, "there is no file and no shipped scene called `quikstart`");
    let hint = splashdown_scene::load("scenes/quikstart.toml", &[]).expect_err("no such file");
    assert_eq!(hint.problems()[0].hint.as_deref(), Some("did you mean the shipped scene `quickstart`?"));
    assert!(load("windows.toml", b"\xef\xbb\xbfdimension = 2\r\n[time]\r\nend = 1\r\n").is_ok());
}

#[test]
fn an_error_in_an_included_file_points_into_it() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("parts")).expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("parts/ball.toml", "[[rigid]]\nname = \"ball\"\nshape = { sphere = { radius = 0 } }\nmass = 1\n");
    write("main.toml", "dimension = 2\ninclude = [\"parts/ball.toml\"]\n[time]\nend = 1\n");
    let errors = Scene::load(folder.path().join("main.toml"), &[]).expect_err("a wrong radius");
    let place = errors.problems()[0].place.clone().expect("a place");
    assert!(place.file.ends_with("ball.toml"));
    assert_eq!((place.line, place.column), (3, 31));
    // Two files that include each other.
    write("parts/ball.toml", "include = [\"../main.toml\"]\n");
    let errors = Scene::load(folder.path().join("main.toml"), &[]).expect_err("a cycle");
    assert!(errors.to_string().contains("main.toml -> ball.toml -> main.toml"), "{errors}");
}

#[test]
fn messages_say_what_would_be_right() {
    let rigid = |fields: &str| scene_with(&format!("[[rigid]]\nname = \"a\"\nshape = {{ sphere = {{ radius = 1 }} }}\n{fields}"));
    assert_eq!(first_error(&rigid("mass = true"), &[]), "s.toml:7:8: `rigid.a.mass` must be a number greater than 0, not a boolean");
    assert_eq!(first_error(&rigid("mass = 1e999"), &[]), "s.toml:7:8: `rigid.a.mass`: 1e999 is too large a number");
    assert_eq!(first_error(&rigid("mass = 1979-05-27"), &[]), "s.toml:7:8: `rigid.a.mass` must be a number greater than 0, not a date");
    let spin = first_error(&rigid("mass = 1\nspin = [0, 0, 1]"), &[]);
    assert_eq!(spin, "s.toml:8:8: `rigid.a.spin` must be a number in 2D, not an array");
    let rotation = first_error(&rigid("mass = 1\nrotation = { axis = [0, 0, 1], degrees = 2 }"), &[]);
    assert_eq!(rotation, "s.toml:8:12: `rigid.a.rotation` must be a number in 2D, not a table");
    let repeat = first_error(&rigid("mass = 1\nrepeat = { count = [2, 1.5], spacing = [1, 1] }"), &[]);
    assert_eq!(repeat, "s.toml:8:24: `rigid.a.repeat.count[1]` must be a whole number of at least 1, not a number");
    let two = first_error(&scene_with("[[rigid]]\nname = \"a\"\nmass = 1\nshape = { sphere = { radius = 1 }, box = { size = [1, 1] } }"), &[]);
    assert_eq!(two, "s.toml:7:11: `shape` has more than one kind");
    let step = first_error(&scene_with("step = \"fast\""), &[]);
    assert_eq!(step, "s.toml:4:8: `time.step` must be a number greater than 0 or a table with `max`, not a string");
    let clash = "[[rigid]]\nname = \"a-2\"\nshape = { sphere = { radius = 1 } }\nmass = 1\n";
    let clash = first_error(&rigid(&format!("mass = 1\nrepeat = {{ count = [2, 1], spacing = [1, 1] }}\n{clash}")), &[]);
    assert_eq!(clash, "s.toml:5:8: a copy of `a` is called `a-2`, and so is another body");
}
