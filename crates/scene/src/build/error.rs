//! Why a scene that passed its checks cannot become a world.

use crate::limits::{MAX_MEMORY_BYTES, bytes_text};
use splashdown_couple::ModelError;
use splashdown_rigid::{BodyError, GeometryError, JointError};

/// A scene that passed its checks and still cannot become a world, such as one with a mass that underflows to zero.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// A dimension other than 2 and 3.
    #[error("a scene has 2 or 3 dimensions, not {0}")]
    Dimension(u32),
    /// A body of finite elements that cannot be made.
    #[error("`{name}`: {reason}")]
    Elastic {
        /// Name of the body.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A body of finite elements that cannot be made because of one of its fields.
    #[error("`{name}`: {reason}")]
    ElasticField {
        /// Name of the body.
        name: String,
        /// Path of the field in the entry of the body; a number is a place in a list.
        field: Vec<String>,
        /// What is wrong.
        reason: String,
    },
    /// A file that does not make a rigid body or a fracture pattern.
    #[error("`{name}`: {reason}")]
    File {
        /// Name of the body.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A vector or rotation that is not one of the scene's dimension.
    #[error("`{field}` of `{name}` is not one of {dimension} dimensions")]
    Components {
        /// Name of the body, or `scene`.
        name: String,
        /// Field of the scene.
        field: &'static str,
        /// The scene's dimension.
        dimension: usize,
    },
    /// A dynamic body without mass.
    #[error("`{name}` needs `mass` or `density`")]
    NoMass {
        /// Name of the body.
        name: String,
    },
    /// More than [`crate::limits::MAX_MEMORY_BYTES`].
    #[error("this scene needs about {} of memory; the limit is {}", bytes_text(*.bytes), bytes_text(MAX_MEMORY_BYTES))]
    TooLarge {
        /// Estimated memory.
        bytes: u128,
    },
    /// A part of a body that has no formula.
    #[error(
        "a part of `{name}` is a plane or a hull; expected a sphere, box, capsule, cylinder, torus, ellipsoid, boxes or parts"
    )]
    Part {
        /// Name of the body.
        name: String,
    },
    /// A first part that has nothing to be cut out of.
    #[error("the first part of `{name}` is combined by `difference` or `intersection`; expected a `union`")]
    FirstPart {
        /// Name of the body.
        name: String,
    },
    /// A shape that encloses nothing.
    #[error("shape of `{name}`: {source}")]
    Geometry {
        /// Name of the body.
        name: String,
        /// What is wrong with it.
        source: GeometryError,
    },
    /// Mass properties that no rigid body can have.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// A fluid that cannot be simulated.
    #[error("fluid: {0}")]
    Fluid(#[from] splashdown_fluid::FluidError),
    /// Particles or springs that cannot be simulated.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A joint that cannot be.
    #[error(transparent)]
    Joint(#[from] JointError),
    /// A joint to a body that does not exist.
    #[error("joint `{joint}` joins `{body}`, but there is no rigid body of that name")]
    NoBody {
        /// Name of the joint.
        joint: String,
        /// The name that is not there.
        body: String,
    },
    /// A file that was to be imported when the scene was loaded.
    #[error("`{file}` is not imported: load the scene from a file")]
    NotImported {
        /// The file.
        file: String,
    },
}

impl BuildError {
    /// Path of the field of the body that is wrong, if it is known.
    pub(crate) fn field(&self) -> &[String] {
        match self {
            Self::ElasticField { field, .. } => field,
            _ => &[],
        }
    }

    /// Name of the body that is wrong, if it is one.
    pub(crate) fn body(&self) -> Option<&str> {
        match self {
            Self::Elastic { name, .. }
            | Self::ElasticField { name, .. }
            | Self::File { name, .. }
            | Self::Components { name, .. }
            | Self::NoMass { name }
            | Self::Part { name }
            | Self::FirstPart { name }
            | Self::Geometry { name, .. } => Some(name),
            _ => None,
        }
    }
}
