//! Shapes of deformable bodies of elements: boxes, sheets, balls and mesh files.

use super::one;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A box of cells: tetrahedra or hexahedra in 3D, triangles in 2D.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoxGeometry {
    /// Lowest corner (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub from: Vec<f64>,
    /// Full edge lengths (m).
    #[schemars(extend("x-length" = "dimension", "items" = serde_json::json!({ "type": "number", "exclusiveMinimum": 0 })))]
    pub size: Vec<f64>,
    /// Number of cells along each axis; a cell is five tetrahedra, one hexahedron, or two triangles.
    #[schemars(extend("x-length" = "dimension"), inner(range(min = 1, max = 1000)))]
    pub cells: Vec<u64>,
    /// Hexahedra instead of tetrahedra (3D only).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hexahedra: bool,
}

/// A flat sheet of triangles: cloth in 3D.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SheetGeometry {
    /// A corner (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub corner: Vec<f64>,
    /// First edge from the corner (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub u: Vec<f64>,
    /// Second edge from the corner (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub v: Vec<f64>,
    /// Number of squares along the two edges, two triangles each.
    #[schemars(length(min = 2, max = 2), inner(range(min = 1, max = 2000)))]
    pub cells: Vec<u64>,
}

/// A ball of tetrahedra, a disc of triangles in 2D.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BallGeometry {
    /// Centre (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub centre: Vec<f64>,
    /// Radius (m).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
    /// Elements along the radius.
    #[schemars(range(min = 1, max = 200))]
    pub cells: u64,
}

/// A torus of tetrahedra about the y axis (3D only).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TorusGeometry {
    /// Centre (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub centre: Vec<f64>,
    /// Radius of the ring (m).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub ring: f64,
    /// Radius of the tube (m).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub tube: f64,
    /// Elements along the radius of the tube.
    #[schemars(range(min = 1, max = 100))]
    pub cells: u64,
    /// Pieces around the ring.
    #[schemars(range(min = 3, max = 2000))]
    pub around: u64,
}

/// A bag of triangles: a sphere with a round mouth at the top, where `y` is largest (3D only).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BagGeometry {
    /// Centre of the sphere (m).
    #[schemars(extend("x-length" = "dimension"))]
    pub centre: Vec<f64>,
    /// Radius of the sphere (m).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub radius: f64,
    /// Radius of the mouth (m), less than that of the sphere; 0 is a closed bag.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub mouth: f64,
    /// Turns it over, so that the mouth is at the bottom.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub upside_down: bool,
    /// Triangles from the point opposite of the mouth to the rim.
    #[schemars(range(min = 2, max = 500))]
    pub cells: u64,
}

/// A mesh file: tetrahedra or hexahedra, or a surface of triangles for cloth (3D only).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileGeometry {
    /// Path of the file, relative to the folder that the program runs in: .msh, .vtu or .vtk with tetrahedra or hexahedra, or .obj, .ply, .stl with triangles.
    pub path: String,
    /// Read a surface of triangles as cloth instead of elements with an inside.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub surface: bool,
    /// Fill a closed surface of triangles with tetrahedra of about this edge (m, after scaling). What is thinner is lost, and sharp edges are cut off within an edge. Default: the file has tetrahedra or
    /// hexahedra.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub fill: Option<f64>,
    /// Factor for all coordinates (no unit).
    #[serde(default = "one")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub scale: f64,
    /// Offset after scaling (m). Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub offset: Option<Vec<f64>>,
    /// Points no farther apart than this become one (m). Default: those at just the same place.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub weld: f64,
}

/// A closed surface of triangles whose motion is known: a finished simulation or an animation, one mesh file for every instant (3D only). It moves as the files say; bodies of elements whose
/// `elastic.over` names it are stopped by it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordedGeometry {
    /// Paths of the files, relative to the folder that the program runs in, with `*` for the number: `walk/frame-*.ply` reads `walk/frame-000000.ply` and all that follow, in the order of
    /// their numbers. Any file of triangles; the same triangles in all of them.
    pub files: String,
    /// Time from one file to the next (s). In between, points are on smooth paths through their places.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub interval: f64,
    /// Time of the first file (s); the surface rests before it, and after the last.
    #[serde(default)]
    pub start: f64,
    /// Factor for all coordinates (no unit).
    #[serde(default = "one")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub scale: f64,
    /// Offset after scaling (m). Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-length" = "dimension"))]
    pub offset: Option<Vec<f64>>,
}
