//! Scene files from outside: what is right loads as written, what is wrong is explained, and nothing panics.

mod bad;
mod coupled;
mod coupling;
mod documents;
mod elastic;
mod fluid;
mod good;
mod holds;
mod hostile;
mod layers;
mod overriding;
mod rigid;
mod soft;

use std::path::PathBuf;

/// A folder of the repository.
fn repository(folder: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder)
}

/// The smallest right scene, with `more` after it.
fn scene_with(more: &str) -> String {
    format!("dimension = 2\n[time]\nend = 1\n{more}")
}

/// The first line of the errors of a scene.
fn first_error(text: &str, overrides: &[&str]) -> String {
    let overrides: Vec<String> = overrides.iter().map(|s| s.to_string()).collect();
    let errors = splashdown_scene::Scene::parse("s.toml", text, &overrides).expect_err("a wrong scene");
    errors.to_string().lines().next().unwrap_or_default().to_owned()
}
