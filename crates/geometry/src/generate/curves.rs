//! Strings of segments.

use crate::mesh::{Mesh, SegmentMesh};
use splashdown_math::Vector;

use super::{GenerateError, at_least, countable, finite, positive};

/// Straight string from `from` to `to` in `segments` equal pieces: chains, hair, ropes.
pub fn chain<const D: usize>(
    from: Vector<D>,
    to: Vector<D>,
    segments: usize,
) -> Result<SegmentMesh<D>, GenerateError> {
    finite("first end", &from)?;
    finite("second end", &to)?;
    positive("length", (to - from).norm())?;
    at_least("segments", segments, 1)?;
    countable(segments as f64 + 1.0)?;
    let points = (0..=segments)
        .map(|i| {
            let t = i as f64 / segments as f64;
            from * (1.0 - t) + to * t
        })
        .collect();
    Ok(Mesh { points, elements: (0..segments as u32).map(|i| [i, i + 1]).collect() })
}

/// Closed string through `points` in their order, the last joined to the first: outlines of plane figures, rubber bands.
pub fn loop_segments<const D: usize>(points: Vec<Vector<D>>) -> Result<SegmentMesh<D>, GenerateError> {
    at_least("points", points.len(), 3)?;
    countable(points.len() as f64)?;
    for point in &points {
        finite("point", point)?;
    }
    let n = points.len() as u32;
    Ok(Mesh { points, elements: (0..n).map(|i| [i, (i + 1) % n]).collect() })
}
