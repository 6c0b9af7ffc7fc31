//! Removal of short segments from curves.

use crate::mesh::SegmentMesh;

/// The closed curves of `curves` without points closer than `shortest` (m) to the last point kept, walking each curve in its direction, also
/// across its closure (spec surface-tension 3.7: 0.1 spacings). A curve left with fewer than 3 points disappears. Open curves keep their
/// ends. Returns the curves and, for each point kept, its number in `curves`.
pub fn without_short_segments(curves: &SegmentMesh<2>, shortest: f64) -> (SegmentMesh<2>, Vec<u32>) {
    const NONE: u32 = u32::MAX;
    let count = curves.points.len();
    let (mut next, mut has_previous) = (vec![NONE; count], vec![false; count]);
    for &[from, to] in &curves.elements {
        if (from as usize) < count && (to as usize) < count {
            next[from as usize] = to;
            has_previous[to as usize] = true;
        }
    }
    let mut walked = vec![false; count];
    let mut kept = Vec::new();
    let mut result = SegmentMesh { points: Vec::new(), elements: Vec::new() };
    // Open curves first, from their beginnings; what is left then are closed curves, from their lowest point.
    let beginnings = (0..count).filter(|&p| next[p] != NONE && !has_previous[p]);
    let starts: Vec<usize> = beginnings.chain(0..count).collect();
    for start in starts {
        if walked[start] || next[start] == NONE {
            continue;
        }
        let mut curve = Vec::new();
        let mut point = start;
        while !walked[point] {
            walked[point] = true;
            curve.push(point);
            if next[point] == NONE {
                break;
            }
            point = next[point] as usize;
        }
        let closed = next[curve[curve.len() - 1]] as usize == start;
        let apart = |a: usize, b: usize| (curves.points[a] - curves.points[b]).norm() > shortest;
        let mut chosen: Vec<usize> = vec![start];
        for &point in &curve[1..] {
            if apart(point, chosen[chosen.len() - 1]) {
                chosen.push(point);
            }
        }
        if closed {
            while chosen.len() > 1 && !apart(chosen[chosen.len() - 1], start) {
                chosen.pop();
            }
        } else {
            let end = curve[curve.len() - 1];
            while chosen.len() > 1 && chosen[chosen.len() - 1] != end && !apart(chosen[chosen.len() - 1], end)
            {
                chosen.pop();
            }
            if chosen[chosen.len() - 1] != end {
                chosen.push(end);
            }
        }
        if chosen.len() < if closed { 3 } else { 2 } {
            continue;
        }
        let first = kept.len() as u32;
        let length = chosen.len() as u32;
        let segments = if closed { length } else { length - 1 };
        result.elements.extend((0..segments).map(|k| [first + k, first + (k + 1) % length]));
        result.points.extend(chosen.iter().map(|&p| curves.points[p]));
        kept.extend(chosen.into_iter().map(|p| p as u32));
    }
    (result, kept)
}
