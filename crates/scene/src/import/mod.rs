//! Robots and mechanisms from URDF and MJCF files: their links become rigid bodies, their joints joints.
//!
//! The readers take what such files say about masses, inertia, joints, limits, damping and simple shapes. Whatever would change the motion and is not understood
//! is refused with its line and column; what only concerns looks or other programs (materials, transmissions, sensors) is passed over.

mod link;
mod mjcf;
mod urdf;
mod xml;

use crate::description::{Import, Joint, Rigid};
use crate::problem::Problem;
use crate::source::Origin;
use splashdown_math::Frame;

/// What a file describes, in the words of a scene.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Imported {
    pub rigid: Vec<Rigid>,
    pub joint: Vec<Joint>,
}

/// Reads the text of a URDF or MJCF file, which is source number `source`. `placement` leads from the file's coordinates to the world.
pub(crate) fn read(
    text: &str,
    source: usize,
    import: &Import,
    placement: &Frame<3>,
) -> Result<Imported, Problem> {
    let document = xml::parse(text, source)?;
    let root = xml::Element::root(&document, source);
    let prefix = import.prefix.as_ref().map_or(String::new(), |prefix| format!("{prefix}-"));
    let mut imported = match root.tag() {
        "robot" => urdf::read(&root, import.fixed, placement)?,
        "mujoco" => mjcf::read(&root, placement)?,
        other => {
            return Err(root
                .problem(format!("`{other}` is not the root element of a URDF or MJCF file"))
                .allowed("`<robot>` (URDF) or `<mujoco>` (MJCF)"));
        }
    };
    for body in &mut imported.rigid {
        body.name = format!("{prefix}{}", body.name);
    }
    for joint in &mut imported.joint {
        joint.name = format!("{prefix}{}", joint.name);
        for end in [&mut joint.parent, &mut joint.child] {
            if end != "world" {
                *end = format!("{prefix}{end}");
            }
        }
    }
    Ok(imported)
}

/// A name that a scene accepts: letters, digits, `-` and `_`, at most 64 of them, not only digits.
fn scene_name(name: &str) -> String {
    let mut fine: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' })
        .take(60)
        .collect();
    if fine.is_empty() || fine.chars().all(|c| c.is_ascii_digit()) {
        fine.insert_str(0, "n_");
    }
    fine
}

/// The bytes of an XML node.
fn origin(source: usize, range: std::ops::Range<usize>) -> Option<Origin> {
    Some(Origin { source, start: range.start, end: range.end })
}

#[cfg(test)]
mod tests;
