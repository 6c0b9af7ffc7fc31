//! The scenes that come inside the program, so that `splashdown run quickstart` works anywhere.

use std::sync::OnceLock;

/// A scene that ships with the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShippedScene {
    /// Name to run it by.
    pub name: &'static str,
    /// Its `summary`: one line.
    pub summary: String,
    /// Number of dimensions.
    pub dimension: u32,
    /// The scene file.
    pub toml: &'static str,
}

/// Name and text of every file in `scenes/`; a test compares this list with the folder.
const FILES: [(&str, &str); 18] = [
    ("quickstart", include_str!("../../../scenes/quickstart.toml")),
    ("quickstart-2d", include_str!("../../../scenes/quickstart-2d.toml")),
    ("tumbling-box", include_str!("../../../scenes/tumbling-box.toml")),
    ("hanging-chain", include_str!("../../../scenes/hanging-chain.toml")),
    ("plucked-string", include_str!("../../../scenes/plucked-string.toml")),
    ("fountain", include_str!("../../../scenes/fountain.toml")),
    ("smoke-sphere", include_str!("../../../scenes/smoke-sphere.toml")),
    ("smoke-ring", include_str!("../../../scenes/smoke-ring.toml")),
    ("dam-break-2d", include_str!("../../../scenes/dam-break-2d.toml")),
    ("dam-break", include_str!("../../../scenes/dam-break.toml")),
    ("drop-in-pool", include_str!("../../../scenes/drop-in-pool.toml")),
    ("pouring", include_str!("../../../scenes/pouring.toml")),
    ("cavity", include_str!("../../../scenes/cavity.toml")),
    ("channel-step", include_str!("../../../scenes/channel-step.toml")),
    ("karman-street", include_str!("../../../scenes/karman-street.toml")),
    ("three-liquids", include_str!("../../../scenes/three-liquids.toml")),
    ("honey", include_str!("../../../scenes/honey.toml")),
    ("water-fountain", include_str!("../../../scenes/water-fountain.toml")),
];

/// All shipped scenes.
pub fn shipped() -> &'static [ShippedScene] {
    static SCENES: OnceLock<Vec<ShippedScene>> = OnceLock::new();
    SCENES.get_or_init(|| {
        FILES
            .iter()
            .map(|&(name, toml)| {
                let head: toml::Table = toml.parse().unwrap_or_default();
                let summary = head.get("summary").and_then(|s| s.as_str()).unwrap_or_default().to_owned();
                let dimension = head.get("dimension").and_then(|d| d.as_integer()).unwrap_or(3) as u32;
                ShippedScene { name, summary, dimension, toml }
            })
            .collect()
    })
}

/// The shipped scene of that name.
pub fn find(name: &str) -> Option<&'static ShippedScene> {
    shipped().iter().find(|scene| scene.name == name)
}
