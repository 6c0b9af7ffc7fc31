//! Where a picture is seen from.

use crate::model::Bounds;
use crate::vector::{V3, add, cross, dot, scale, sub, unit_or};

/// The wish of the user.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Framing {
    /// From which side: a direction from the scene to the camera; not used in 2D.
    pub from: [f64; 3],
    /// Which way is up.
    pub up: [f64; 3],
    /// How near: 1 shows everything with a margin, 2 twice as large.
    pub zoom: f64,
}

impl Default for Framing {
    fn default() -> Self {
        Self { from: [0.45, 0.4, 1.0], up: [0.0, 1.0, 0.0], zoom: 1.0 }
    }
}

/// A camera: perspective in space, parallel in the plane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    eye: V3,
    right: V3,
    up: V3,
    /// From the scene to the camera.
    back: V3,
    /// Half the width and height seen at distance 1 (perspective) or at all (parallel).
    half: [f64; 2],
    perspective: bool,
}

/// A point as the camera sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Seen {
    /// From -1 (left) to 1 (right) within the picture.
    pub x: f64,
    /// From -1 (bottom) to 1 (top).
    pub y: f64,
    /// Larger is nearer; linear in the picture plane. Not positive: behind the camera.
    pub nearness: f64,
}

/// Tangent of half the vertical angle of view.
const TANGENT: f64 = 0.3;

impl Camera {
    /// A camera that sees all of `bounds`; `aspect` is width over height.
    pub fn fit(bounds: &Bounds, framing: &Framing, flat: bool, aspect: f64) -> Self {
        let zoom = if framing.zoom.is_finite() && framing.zoom > 0.0 { framing.zoom } else { 1.0 };
        let centre = bounds.centre();
        if flat {
            let size = bounds.size();
            let height = (0.5 * size[1]).max(0.5 * size[0] / aspect).max(1e-9) * 1.08 / zoom;
            return Self {
                eye: add(centre, [0.0, 0.0, 1.0]),
                right: [1.0, 0.0, 0.0],
                up: [0.0, 1.0, 0.0],
                back: [0.0, 0.0, 1.0],
                half: [height * aspect, height],
                perspective: false,
            };
        }
        let up = unit_or(framing.up, [0.0, 1.0, 0.0]);
        let back = unit_or(framing.from, [0.45, 0.4, 1.0]);
        let right =
            unit_or(cross(up, back), if up[1].abs() > 0.5 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] });
        let up = cross(back, right);
        // The box's corners must lie within the picture.
        let half = [TANGENT * aspect, TANGENT];
        let mut distance = 1e-9f64;
        for corner in bounds.corners() {
            let r = sub(corner, centre);
            let (x, y, z) = (dot(r, right).abs(), dot(r, up).abs(), dot(r, back));
            distance = distance.max(z + (x / half[0]).max(y / half[1]));
        }
        let eye = add(centre, scale(back, distance * 1.06 / zoom));
        Self { eye, right, up, back, half, perspective: true }
    }

    /// Parallel view of a ball from the light, for shadows.
    pub(crate) fn light(centre: V3, radius: f64, direction: V3) -> Self {
        let right = unit_or(cross([0.0, 1.0, 0.0], direction), [1.0, 0.0, 0.0]);
        Self {
            eye: add(centre, scale(direction, 2.0 * radius)),
            right,
            up: cross(direction, right),
            back: direction,
            half: [radius, radius],
            perspective: false,
        }
    }

    pub(crate) fn see(&self, point: V3) -> Seen {
        let r = sub(point, self.eye);
        let depth = -dot(r, self.back);
        let (x, y) = (dot(r, self.right) / self.half[0], dot(r, self.up) / self.half[1]);
        if self.perspective {
            let nearness = if depth > 1e-12 { 1.0 / depth } else { -1.0 };
            Seen { x: x * nearness, y: y * nearness, nearness }
        } else {
            // Any decreasing function of depth that is linear in the plane of the picture.
            Seen { x, y, nearness: 1e9 - depth }
        }
    }

    /// The ray through a point of the picture: start and direction (not of unit length).
    pub(crate) fn ray(&self, x: f64, y: f64) -> (V3, V3) {
        let aside = add(scale(self.right, x * self.half[0]), scale(self.up, y * self.half[1]));
        if self.perspective {
            (self.eye, sub(aside, self.back))
        } else {
            (add(self.eye, aside), scale(self.back, -1.0))
        }
    }

    /// The point seen at a place of the picture with a nearness.
    pub(crate) fn point(&self, x: f64, y: f64, nearness: f64) -> V3 {
        let (start, direction) = self.ray(x, y);
        let depth = if self.perspective { 1.0 / nearness } else { 1e9 - nearness };
        add(start, scale(direction, depth))
    }

    /// Size of the picture's half height at a point's distance (m): what a pixel is worth there.
    pub(crate) fn half_height_at(&self, point: V3) -> f64 {
        let depth = -dot(sub(point, self.eye), self.back);
        if self.perspective { self.half[1] * depth.max(1e-12) } else { self.half[1] }
    }

    pub(crate) fn up(&self) -> V3 {
        self.up
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_in_the_picture_and_found_again() {
        for (low, high) in [([-1.0, 0.0, -2.0], [3.0, 0.5, 1.0]), ([0.0; 3], [0.001, 1000.0, 0.001])] {
            let mut bounds = Bounds::empty();
            bounds.add(low);
            bounds.add(high);
            for flat in [true, false] {
                let camera = Camera::fit(&bounds, &Framing::default(), flat, 16.0 / 9.0);
                for corner in bounds.corners() {
                    let seen = camera.see(corner);
                    assert!(seen.x.abs() <= 1.0 && seen.y.abs() <= 1.0 && seen.nearness > 0.0, "{seen:?}");
                    if !flat {
                        let back = camera.point(seen.x, seen.y, seen.nearness);
                        assert!(
                            crate::vector::length(sub(back, corner))
                                < 1e-9 * (1.0 + crate::vector::length(corner))
                        );
                    }
                }
            }
        }
    }
}
