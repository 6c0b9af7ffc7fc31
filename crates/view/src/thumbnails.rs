//! Pictures of the shipped scenes, made by `docs/make_gallery.py`.

/// The picture of a shipped scene (JPEG), if there is one.
pub(crate) fn of(scene: &str) -> Option<&'static [u8]> {
    PICTURES.iter().find(|(name, _)| *name == scene).map(|(_, bytes)| *bytes)
}

const PICTURES: [(&str, &[u8]); 0] = [];
