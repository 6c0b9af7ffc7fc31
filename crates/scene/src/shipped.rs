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
const FILES: &[(&str, &str)] = &[
    ("quickstart", include_str!("../../../scenes/quickstart.toml")),
    ("splashdown", include_str!("../../../scenes/splashdown.toml")),
    ("quickstart-2d", include_str!("../../../scenes/quickstart-2d.toml")),
    ("tumbling-box", include_str!("../../../scenes/tumbling-box.toml")),
    ("hanging-chain", include_str!("../../../scenes/hanging-chain.toml")),
    ("plucked-string", include_str!("../../../scenes/plucked-string.toml")),
    ("fountain", include_str!("../../../scenes/fountain.toml")),
    ("t-handle", include_str!("../../../scenes/t-handle.toml")),
    ("incline", include_str!("../../../scenes/incline.toml")),
    ("box-stack", include_str!("../../../scenes/box-stack.toml")),
    ("newtons-cradle", include_str!("../../../scenes/newtons-cradle.toml")),
    ("mixed-heap", include_str!("../../../scenes/mixed-heap.toml")),
    ("pile-1000", include_str!("../../../scenes/pile-1000.toml")),
    ("pile-10000", include_str!("../../../scenes/pile-10000.toml")),
    ("card-house", include_str!("../../../scenes/card-house.toml")),
    ("broken-wall", include_str!("../../../scenes/broken-wall.toml")),
    ("broken-bunny", include_str!("../../../scenes/broken-bunny.toml")),
    ("broken-pillar", include_str!("../../../scenes/broken-pillar.toml")),
    ("broken-table", include_str!("../../../scenes/broken-table.toml")),
    ("ragdolls", include_str!("../../../scenes/ragdolls.toml")),
    ("incompressible-drop", include_str!("../../../scenes/incompressible-drop.toml")),
    ("incompressible-stairs", include_str!("../../../scenes/incompressible-stairs.toml")),
    ("incompressible-squeeze", include_str!("../../../scenes/incompressible-squeeze.toml")),
    ("incompressible-tori", include_str!("../../../scenes/incompressible-tori.toml")),
    ("incompressible-puddle", include_str!("../../../scenes/incompressible-puddle.toml")),
    ("squashed-cube", include_str!("../../../scenes/squashed-cube.toml")),
    ("scrambled-cube", include_str!("../../../scenes/scrambled-cube.toml")),
    ("rollers", include_str!("../../../scenes/rollers.toml")),
    ("plastic-stairs", include_str!("../../../scenes/plastic-stairs.toml")),
    ("twisted-bar", include_str!("../../../scenes/twisted-bar.toml")),
    ("cantilever", include_str!("../../../scenes/cantilever.toml")),
    ("hexahedral-beam", include_str!("../../../scenes/hexahedral-beam.toml")),
    ("cloth-on-ball", include_str!("../../../scenes/cloth-on-ball.toml")),
    ("cloth-folds", include_str!("../../../scenes/cloth-folds.toml")),
    ("cloth-stack", include_str!("../../../scenes/cloth-stack.toml")),
    ("cape", include_str!("../../../scenes/cape.toml")),
    ("soft-pegs", include_str!("../../../scenes/soft-pegs.toml")),
    ("press", include_str!("../../../scenes/press.toml")),
    ("spring-beam", include_str!("../../../scenes/spring-beam.toml")),
    ("melting-torus", include_str!("../../../scenes/melting-torus.toml")),
    ("dented-ball", include_str!("../../../scenes/dented-ball.toml")),
    ("loaded-beam", include_str!("../../../scenes/loaded-beam.toml")),
    ("muscle", include_str!("../../../scenes/muscle.toml")),
    ("soft-pile", include_str!("../../../scenes/soft-pile.toml")),
    ("jelly-2d", include_str!("../../../scenes/jelly-2d.toml")),
    ("soft-stack", include_str!("../../../scenes/soft-stack.toml")),
    ("row-of-spheres", include_str!("../../../scenes/row-of-spheres.toml")),
    ("trampoline", include_str!("../../../scenes/trampoline.toml")),
    ("driven-bar", include_str!("../../../scenes/driven-bar.toml")),
    ("coupled-incline", include_str!("../../../scenes/coupled-incline.toml")),
    ("twisting-chain", include_str!("../../../scenes/twisting-chain.toml")),
    ("coupled-pile", include_str!("../../../scenes/coupled-pile.toml")),
    ("snake", include_str!("../../../scenes/snake.toml")),
    ("maggot", include_str!("../../../scenes/maggot.toml")),
    ("fish", include_str!("../../../scenes/fish.toml")),
    ("double-pendulum", include_str!("../../../scenes/double-pendulum.toml")),
    ("four-bar", include_str!("../../../scenes/four-bar.toml")),
    ("chain-bridge", include_str!("../../../scenes/chain-bridge.toml")),
    ("windmill", include_str!("../../../scenes/windmill.toml")),
    ("smoke-sphere", include_str!("../../../scenes/smoke-sphere.toml")),
    ("smoke-ring", include_str!("../../../scenes/smoke-ring.toml")),
    ("falling-cylinder", include_str!("../../../scenes/falling-cylinder.toml")),
    ("stokes-cylinder", include_str!("../../../scenes/stokes-cylinder.toml")),
    ("floating-boxes", include_str!("../../../scenes/floating-boxes.toml")),
    ("falling-plate", include_str!("../../../scenes/falling-plate.toml")),
    ("rising-sphere", include_str!("../../../scenes/rising-sphere.toml")),
    ("buoyant-spheres", include_str!("../../../scenes/buoyant-spheres.toml")),
    ("dropped-spheres", include_str!("../../../scenes/dropped-spheres.toml")),
    ("fountain-bodies", include_str!("../../../scenes/fountain-bodies.toml")),
    ("past-cylinder", include_str!("../../../scenes/past-cylinder.toml")),
    ("vortex-shedding", include_str!("../../../scenes/vortex-shedding.toml")),
    ("beam-in-channel", include_str!("../../../scenes/beam-in-channel.toml")),
    ("elastic-disk", include_str!("../../../scenes/elastic-disk.toml")),
    ("boat", include_str!("../../../scenes/boat.toml")),
    ("cloth-bag", include_str!("../../../scenes/cloth-bag.toml")),
    ("bag-yanked", include_str!("../../../scenes/bag-yanked.toml")),
    ("sheet-from-tank", include_str!("../../../scenes/sheet-from-tank.toml")),
    ("balloon", include_str!("../../../scenes/balloon.toml")),
    ("soft-torus", include_str!("../../../scenes/soft-torus.toml")),
    ("swimming-fish", include_str!("../../../scenes/swimming-fish.toml")),
    ("floating-jelly", include_str!("../../../scenes/floating-jelly.toml")),
    ("smoke-ball", include_str!("../../../scenes/smoke-ball.toml")),
    ("dam-break-2d", include_str!("../../../scenes/dam-break-2d.toml")),
    ("dam-break", include_str!("../../../scenes/dam-break.toml")),
    ("breaking-wave", include_str!("../../../scenes/breaking-wave.toml")),
    ("drop-in-pool", include_str!("../../../scenes/drop-in-pool.toml")),
    ("paddle", include_str!("../../../scenes/paddle.toml")),
    ("thin-tray", include_str!("../../../scenes/thin-tray.toml")),
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
