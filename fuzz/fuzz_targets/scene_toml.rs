//! Reads arbitrary bytes as a scene file: a scene that survives a round trip through text, or errors that can be shown, never a panic.
//! After the first zero byte comes a `--set` override.

#![no_main]

use libfuzzer_sys::fuzz_target;
use splashdown_scene::limits::Size;
use splashdown_scene::{Scene, build};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let (text, overrides) = match text.split_once('\0') {
        Some((text, one)) => (text, vec![one.to_owned()]),
        None => (&*text, Vec::new()),
    };
    match Scene::parse("fuzz.toml", text, &overrides) {
        Ok(scene) => {
            let again = Scene::parse("again.toml", &scene.to_toml(), &[]).expect("a scene that was written is right");
            assert_eq!(again, scene);
            if Size::of(&scene).memory_bytes() < 64 << 20 {
                build(&scene).expect("a checked scene is buildable");
            }
        }
        Err(errors) => {
            assert!(!errors.problems().is_empty());
            let _ = errors.render(true);
            let _ = errors.to_json();
        }
    }
});
