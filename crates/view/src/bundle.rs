//! The page's built files, inside the program.

/// A file that is served as it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asset {
    pub name: &'static str,
    pub mime: &'static str,
    pub bytes: &'static [u8],
}

pub(crate) const PAGE: &[u8] = include_bytes!("../bundle/index.html");

const ASSETS: [Asset; 4] = [
    Asset {
        name: "viewer.js",
        mime: "text/javascript; charset=utf-8",
        bytes: include_bytes!("../bundle/assets/viewer.js"),
    },
    Asset {
        name: "viewer.css",
        mime: "text/css; charset=utf-8",
        bytes: include_bytes!("../bundle/assets/viewer.css"),
    },
    Asset {
        name: "LICENSE-three.txt",
        mime: "text/plain; charset=utf-8",
        bytes: include_bytes!("../bundle/assets/LICENSE-three.txt"),
    },
    Asset { name: "icon.svg", mime: "image/svg+xml", bytes: include_bytes!("../bundle/assets/icon.svg") },
];

pub(crate) fn asset(name: &str) -> Option<Asset> {
    ASSETS.into_iter().find(|asset| asset.name == name)
}
