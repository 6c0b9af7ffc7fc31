//! Whatever the text is, reading it ends with a scene or with a message.

use proptest::prelude::*;
use splashdown_scene::{Scene, shipped};

/// Reads a text like a run would, and shows its errors.
fn read(text: &str) {
    match Scene::parse("fuzz.toml", text, &[]) {
        Ok(scene) => {
            let again = Scene::parse("again.toml", &scene.to_toml(), &[]);
            assert_eq!(again.ok().as_ref(), Some(&scene), "{text}");
        }
        Err(errors) => {
            assert!(!errors.problems().is_empty());
            let lines = text.lines().count().max(1);
            for problem in errors.problems() {
                let place = problem.place.as_ref().expect("every error of a text has a place");
                assert!(place.line <= lines + 1 && place.column >= 1, "{errors}");
            }
            let shown = errors.render(false);
            assert!(shown.len() < 1 << 20, "{} bytes", shown.len());
            let _ = errors.to_json();
        }
    }
}

#[test]
fn deep_nesting_is_refused() {
    for depth in [39, 41, 79, 81, 1000, 100_000] {
        read(&format!("a = {}1{}", "[".repeat(depth), "]".repeat(depth)));
        read(&format!("a = {}1{}", "{a=".repeat(depth), "}".repeat(depth)));
        read(&format!("{}a = 1", "a.".repeat(depth)));
        read(&format!("[{}a]\nb = 1", "a.".repeat(depth)));
        read(&"[".repeat(depth));
        read(&format!("dimension = 2\n[time]\nend = \"{}$a{}\"", "(".repeat(depth), ")".repeat(depth)));
        read(&format!(
            "[variables]\n{}",
            (0..depth.min(2000)).map(|i| format!("v{i} = \"$v{}\"\n", i + 1)).collect::<String>()
        ));
    }
    // Dotted keys inside inline tables multiply the depths.
    let link = format!("{{ {}a = ", "a.".repeat(70));
    read(&format!("x = {}1{}", link.repeat(70), "}".repeat(70)));
}

#[test]
fn large_texts_are_read_in_bounded_time() {
    read(&"x = 1\n".repeat(200_000));
    read(&"[[rigid]]\n".repeat(100_000));
    read(&format!("title = \"{}\"", "a".repeat(3_000_000)));
    read(&format!("pinned = [{}]", "1, ".repeat(500_000)));
    read(&format!("dimension = 2\n{} = 1", "k".repeat(1_000_000)));
    let bodies: String = (0..20_000)
        .map(|i| format!("[[rigid]]\nname = \"b{i}\"\nmass = 1\nshape = {{ sphere = {{ radius = 1 }} }}\n"))
        .collect();
    read(&format!("dimension = 2\n[time]\nend = 1\n{bodies}"));
}

/// Pieces of scene files and things that break them.
const TOKENS: [&str; 62] = [
    "dimension",
    "time",
    "end",
    "step",
    "rigid",
    "deformable",
    "name",
    "shape",
    "sphere",
    "box",
    "size",
    "radius",
    "mass",
    "density",
    "gravity",
    "variables",
    "springs",
    "pinned",
    "repeat",
    "count",
    "spacing",
    "rotation",
    "axis",
    "degrees",
    "spin",
    "include",
    "kind",
    "solver",
    "output",
    "geometry",
    "chain",
    "from",
    "to",
    "particles",
    "stiffness",
    "=",
    ".",
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    ",",
    "\n",
    "\n",
    " ",
    "\"",
    "'",
    "\"\"\"",
    "#",
    "1",
    "-1",
    "0",
    "2",
    "3",
    "1e308",
    "nan",
    "inf",
    "\"$a\"",
    "true",
    "\\u{fffd}",
];

fn mutated() -> impl Strategy<Value = String> {
    let cuts = prop::collection::vec((any::<prop::sample::Index>(), 0..12usize, 0..TOKENS.len() + 40), 1..6);
    (0..shipped().len(), cuts).prop_map(|(scene, cuts)| {
        let mut text: Vec<char> = shipped()[scene].toml.chars().collect();
        for (at, remove, token) in cuts {
            let at = at.index(text.len().max(1)).min(text.len());
            let end = (at + remove).min(text.len());
            let insert: Vec<char> = TOKENS.get(token).unwrap_or(&"").chars().collect();
            text.splice(at..end, insert);
        }
        text.into_iter().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn mutations_of_right_scenes(text in mutated()) {
        read(&text);
    }

    #[test]
    fn soup_of_tokens(tokens in prop::collection::vec(0..TOKENS.len(), 0..60)) {
        read(&tokens.into_iter().map(|t| TOKENS[t]).collect::<Vec<_>>().join(""));
    }

    #[test]
    fn any_text(text in any::<String>()) {
        read(&text);
    }

    #[test]
    fn any_override(text in prop_oneof![any::<String>(), "[a-z.\\[\\]0-9\"=$ {}-]{0,30}", "rigid[.\\[\\]a-z0-9]{0,9}=[a-z0-9\\[\\]{}.]{0,9}"]) {
        let scene = shipped()[0].toml;
        if let Err(errors) = Scene::parse("s.toml", scene, &[text]) {
            let _ = errors.render(true);
        }
    }
}
