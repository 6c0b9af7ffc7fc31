//! Polygons of a file as triangles.

use splashdown_math::Vector;

/// Corners beyond which only convex polygons are split, since finding ears takes up to cubic time.
pub const MAX_CORNERS: usize = 512;

/// Splits a polygon into triangles of the same orientation. Convex ones become a fan from their first corner; others lose one ear after the other,
/// seen along their mean normal. Returns `false` when it has too many corners for that.
pub fn split(points: &[Vector<3>], corners: &[u32], out: &mut Vec<[u32; 3]>) -> bool {
    if let &[a, b, c] = corners {
        out.push([a, b, c]);
        return true;
    }
    if corners.len() < 3 {
        return true;
    }
    let x = |i: usize| points[corners[i] as usize];
    let n = corners.len();
    // Newell's normal: the sum of the cross products about the first corner.
    let normal = (1..n - 1).map(|i| (x(i) - x(0)).cross(&(x(i + 1) - x(0)))).sum::<Vector<3>>();
    let turn = |a: usize, b: usize, c: usize| (x(b) - x(a)).cross(&(x(c) - x(a))).dot(&normal);
    let fan = (1..n - 1).all(|i| turn(0, i, i + 1) > 0.0);
    // A polygon without area has no ears to find either.
    if fan || normal.norm_squared() == 0.0 || !normal.norm_squared().is_finite() {
        out.extend((1..n - 1).map(|i| [corners[0], corners[i], corners[i + 1]]));
        return true;
    }
    if n > MAX_CORNERS {
        return false;
    }
    let mut left: Vec<usize> = (0..n).collect();
    let mut start = 0;
    while left.len() > 3 {
        let m = left.len();
        let is_ear = |k: usize| {
            let (a, b, c) = (left[(k + m - 1) % m], left[k], left[(k + 1) % m]);
            turn(a, b, c) > 0.0
                && left.iter().all(|&p| {
                    p == a
                        || p == b
                        || p == c
                        || turn(a, b, p) < 0.0
                        || turn(b, c, p) < 0.0
                        || turn(c, a, p) < 0.0
                })
        };
        // Going on from the last ear keeps the triangles from fanning out of one corner. A polygon that crosses itself may have no ear: any corner then.
        let ear = (0..m).map(|k| (start + k) % m).find(|&k| is_ear(k)).unwrap_or(start % m);
        out.push([left[(ear + m - 1) % m], left[ear], left[(ear + 1) % m]].map(|i| corners[i]));
        left.remove(ear);
        start = ear;
    }
    out.push([left[0], left[1], left[2]].map(|i| corners[i]));
    true
}
