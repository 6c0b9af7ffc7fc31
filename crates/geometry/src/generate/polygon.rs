//! Triangulation of polygons with holes: constrained Delaunay with refinement, by the `spade` crate (exact predicates).

use crate::mesh::{Mesh, TriangleMesh};
use spade::{
    AngleLimit, ConstrainedDelaunayTriangulation, InsertionError, Point2, RefinementParameters, Triangulation,
};
use splashdown_math::Vector;

/// Why a polygon could not be triangulated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PolygonError {
    /// Fewer than three corners.
    #[error("loop {index} has {corners} corners, but a polygon needs at least 3")]
    TooFewCorners {
        /// Which loop: 0 is the outline, then the holes.
        index: usize,
        /// What was given.
        corners: usize,
    },
    /// A corner is not a usable number.
    #[error(
        "corner {corner} of loop {index} is ({x}, {y}) m, which is not finite or too large or small to compute with"
    )]
    BadCorner {
        /// Which loop.
        index: usize,
        /// Which corner.
        corner: usize,
        /// First coordinate.
        x: f64,
        /// Second coordinate.
        y: f64,
    },
    /// Two edges cross.
    #[error(
        "the edge after corner {corner} of loop {index} crosses or repeats another edge; the outline and the holes must not touch or intersect themselves or each other"
    )]
    Crossing {
        /// Which loop.
        index: usize,
        /// Corner at which the edge begins.
        corner: usize,
    },
    /// The edge length is not a positive number.
    #[error("the edge length is {edge} m, but must be positive and finite")]
    BadEdge {
        /// What was given.
        edge: f64,
    },
    /// The refinement would need too many points.
    #[error("an edge length of {edge} m does not fit into {limit} points; take a longer one")]
    TooManyPoints {
        /// Given edge length, m.
        edge: f64,
        /// Allowed number of extra points.
        limit: usize,
    },
}

/// Extra points that a refinement may insert.
const MAX_POINTS: usize = 20_000_000;

/// Triangles of the polygon with the given `outline` and `holes` (either sense of rotation), with edges of about `edge` metres and angles of 25 degrees or more
/// wherever the corners of the polygon allow it. Without `edge` only the corners themselves are used.
pub fn polygon_triangles(
    outline: &[Vector<2>],
    holes: &[Vec<Vector<2>>],
    edge: Option<f64>,
) -> Result<TriangleMesh<2>, PolygonError> {
    if let Some(edge) = edge
        && !(edge > 0.0 && edge.is_finite())
    {
        return Err(PolygonError::BadEdge { edge });
    }
    let mut cdt = ConstrainedDelaunayTriangulation::<Point2<f64>>::new();
    let loops = std::iter::once(outline).chain(holes.iter().map(Vec::as_slice));
    for (index, corners) in loops.enumerate() {
        if corners.len() < 3 {
            return Err(PolygonError::TooFewCorners { index, corners: corners.len() });
        }
        let mut handles = Vec::with_capacity(corners.len());
        for (corner, x) in corners.iter().enumerate() {
            let handle = cdt
                .insert(Point2::new(x.x, x.y))
                .map_err(|_: InsertionError| PolygonError::BadCorner { index, corner, x: x.x, y: x.y })?;
            handles.push(handle);
        }
        for corner in 0..handles.len() {
            let (from, to) = (handles[corner], handles[(corner + 1) % handles.len()]);
            if from == to || !cdt.can_add_constraint(from, to) || !cdt.add_constraint(from, to) {
                return Err(PolygonError::Crossing { index, corner });
            }
        }
    }
    let excluded = match edge {
        Some(edge) => {
            // The area of the equilateral triangle of that side.
            let area = 0.25 * 3f64.sqrt() * edge * edge;
            let parameters = RefinementParameters::<f64>::new()
                .exclude_outer_faces(true)
                .with_angle_limit(AngleLimit::from_deg(25.0))
                .with_max_allowed_area(area)
                .with_max_additional_vertices(MAX_POINTS);
            let extent = bounding_area(outline);
            if extent / area > MAX_POINTS as f64 {
                return Err(PolygonError::TooManyPoints { edge, limit: MAX_POINTS });
            }
            let result = cdt.refine(parameters);
            if !result.refinement_complete {
                return Err(PolygonError::TooManyPoints { edge, limit: MAX_POINTS });
            }
            result.excluded_faces
        }
        None => {
            // Without extra vertices the refinement only tells which faces are outside.
            let parameters = RefinementParameters::<f64>::new()
                .exclude_outer_faces(true)
                .with_angle_limit(AngleLimit::from_deg(0.0))
                .with_max_additional_vertices(0);
            cdt.refine(parameters).excluded_faces
        }
    };
    let excluded: std::collections::HashSet<_> = excluded.into_iter().collect();
    let points = cdt.vertices().map(|v| Vector::<2>::new(v.position().x, v.position().y)).collect();
    let elements = cdt
        .inner_faces()
        .filter(|face| !excluded.contains(&face.fix()))
        .map(|face| face.vertices().map(|v| v.fix().index() as u32))
        .collect();
    Ok(Mesh { points, elements })
}

fn bounding_area(points: &[Vector<2>]) -> f64 {
    let (mut lower, mut upper) = (points[0], points[0]);
    for p in points {
        lower = lower.inf(p);
        upper = upper.sup(p);
    }
    let extent = upper - lower;
    extent.x * extent.y
}
