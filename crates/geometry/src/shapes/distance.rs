//! Signed distance and its gradient, node by node.

use super::{Node, ellipsoid};
use splashdown_math::{Dim, Space, Vector};

/// Signed distance (m) and its gradient.
pub(super) type Evaluation<const D: usize> = (f64, Vector<D>);

impl<const D: usize> Node<D>
where
    Dim<D>: Space<D>,
{
    #[inline(never)]
    pub(super) fn evaluate(&self, point: &Vector<D>) -> Evaluation<D> {
        match self {
            Self::Ball { radius } => ball(point, *radius),
            Self::Cuboid { half } => cuboid(point, half),
            Self::Ellipsoid { radii } => ellipsoid::evaluate(point, radii),
            Self::Capsule { radius, half_length } => {
                let mut from_axis = *point;
                from_axis[D - 1] -= point[D - 1].clamp(-half_length, *half_length);
                ball(&from_axis, *radius)
            }
            Self::Cylinder { radius, half_length } => {
                revolved(point, |p| cuboid(&p, &Vector::<2>::new(*radius, *half_length)))
            }
            Self::Cone { bottom, top, half_length } => {
                revolved(point, |p| cone_section(&p, *bottom, *top, *half_length))
            }
            Self::Torus { ring, tube } => {
                revolved(point, |p| ball(&Vector::<2>::new(p.x - ring, p.y), *tube))
            }
            Self::HalfSpace { normal, offset } => (normal.dot(point) - offset, *normal),
            Self::Prism { section, half_depth } => {
                let (flat, normal) = section.evaluate(&Vector::<2>::new(point[0], point[1]));
                if D == 2 {
                    return (flat, Vector::from_fn(|a, _| normal[a]));
                }
                let z = point[D - 1];
                // The prism is a "box" with the coordinates (section distance, |z| - half depth).
                let (distance, weights) = corner(flat, z.abs() - half_depth);
                let direction = |a: usize| {
                    if a < 2 { weights[0] * normal[a] } else { weights[1] * 1f64.copysign(z) }
                };
                (distance, Vector::from_fn(|a, _| direction(a)))
            }
            Self::Placed { frame, shape } => {
                let (distance, normal) = shape.evaluate(&frame.to_object(point));
                (distance, Dim::rotate(&frame.rotation, &normal))
            }
            Self::Scaled { factor, shape } => {
                let (distance, normal) = shape.evaluate(&(point / *factor));
                (distance * factor, normal)
            }
            Self::Grown { by, shape } => {
                let (distance, normal) = shape.evaluate(point);
                (distance - by, normal)
            }
            Self::Shell { half_thickness, shape } => {
                let (distance, normal) = shape.evaluate(point);
                (distance.abs() - half_thickness, normal * 1f64.copysign(distance))
            }
            Self::Complement { shape } => {
                let (distance, normal) = shape.evaluate(point);
                (-distance, -normal)
            }
            Self::Union { shapes } => {
                let mut best = (f64::INFINITY, Vector::zeros());
                for shape in shapes {
                    if shape.at_least(point) < best.0 {
                        let next = shape.evaluate(point);
                        best = if next.0 < best.0 { next } else { best };
                    }
                }
                best
            }
            Self::Intersection { shapes } => {
                let evaluations = shapes.iter().map(|shape| shape.evaluate(point));
                evaluations
                    .reduce(|best, next| if next.0 > best.0 { next } else { best })
                    .unwrap_or((f64::INFINITY, Vector::zeros()))
            }
            Self::SmoothUnion { width, shapes } => {
                let (a, b) = (shapes[0].evaluate(point), shapes[1].evaluate(point));
                // Quadratic blend: minimum minus h^2 width / 4, h = 1 where both are equal, 0 where they differ by the width.
                let h = (1.0 - (a.0 - b.0).abs() / width).max(0.0);
                let (near, far) = if b.0 < a.0 { (b, a) } else { (a, b) };
                (near.0 - 0.25 * width * h * h, near.1 + (far.1 - near.1) * (0.5 * h))
            }
        }
    }
}

impl<const D: usize> Node<D>
where
    Dim<D>: Space<D>,
{
    /// Not more than the distance, and cheap where the distance is dear: a part of a union that is far away need not be looked at.
    fn at_least(&self, point: &Vector<D>) -> f64 {
        // For rounding.
        const SLACK: f64 = 1e-9;
        match self {
            Self::Ellipsoid { radii } => {
                let (far, radius) = (point.norm(), radii.max());
                far - radius - SLACK * (far + radius)
            }
            Self::Placed { frame, shape } => shape.at_least(&frame.to_object(point)),
            _ => f64::NEG_INFINITY,
        }
    }
}

fn ball<const D: usize>(point: &Vector<D>, radius: f64) -> Evaluation<D> {
    let length = point.norm();
    if length > 0.0 {
        return (length - radius, point / length);
    }
    // At the centre every direction is right; x is right for the axis of a capsule too.
    (-radius, Vector::from_fn(|a, _| if a == 0 { 1.0 } else { 0.0 }))
}

fn cuboid<const D: usize>(point: &Vector<D>, half: &Vector<D>) -> Evaluation<D> {
    let q = point.abs() - half;
    let sign = |a: usize| 1f64.copysign(point[a]);
    let outside = q.map(|x| x.max(0.0));
    let distance = outside.norm();
    if distance > 0.0 {
        return (distance, Vector::from_fn(|a, _| outside[a] / distance * sign(a)));
    }
    let nearest = q.imax();
    (q[nearest], Vector::from_fn(|a, _| if a == nearest { sign(a) } else { 0.0 }))
}

/// Distance to the quadrant `u < 0, v < 0` of two exact distances whose gradients are orthogonal, and the weights of their gradients.
fn corner(u: f64, v: f64) -> (f64, [f64; 2]) {
    if u > 0.0 && v > 0.0 {
        let distance = u.hypot(v);
        return (distance, [u / distance, v / distance]);
    }
    if u >= v { (u, [1.0, 0.0]) } else { (v, [0.0, 1.0]) }
}

/// The solid of revolution about the last axis whose half plane section at (distance from the axis >= 0, height) has this distance.
fn revolved<const D: usize>(
    point: &Vector<D>,
    section: impl Fn(Vector<2>) -> Evaluation<2>,
) -> Evaluation<D> {
    let mut across = *point;
    across[D - 1] = 0.0;
    let radius = across.norm();
    let (distance, normal) = section(Vector::<2>::new(radius, point[D - 1]));
    let outward =
        if radius > 0.0 { across / radius } else { Vector::from_fn(|a, _| if a == 0 { 1.0 } else { 0.0 }) };
    let mut direction = outward * normal.x;
    direction[D - 1] = normal.y;
    (distance, direction)
}

/// The trapezoid of half widths `bottom` and `top`, seen from its right half.
fn cone_section(p: &Vector<2>, bottom: f64, top: f64, half: f64) -> Evaluation<2> {
    let (low, high) = (Vector::<2>::new(bottom, -half), Vector::<2>::new(top, half));
    let side = high - low;
    let outward = Vector::<2>::new(side.y, -side.x) / side.norm();
    let beyond_side = outward.dot(&(p - low));
    let beyond_cap = p.y.abs() - half;
    if beyond_side <= 0.0 && beyond_cap <= 0.0 {
        if beyond_side > beyond_cap {
            return (beyond_side, outward);
        }
        return (beyond_cap, Vector::<2>::new(0.0, 1f64.copysign(p.y)));
    }
    // Outside: the closest point of the side or of the two caps.
    let t = (side.dot(&(p - low)) / side.norm_squared()).clamp(0.0, 1.0);
    let candidates =
        [low + side * t, Vector::<2>::new(p.x.min(bottom), -half), Vector::<2>::new(p.x.min(top), half)];
    let mut best = (f64::INFINITY, outward);
    for c in candidates {
        let distance = (p - c).norm();
        if distance < best.0 {
            best = (distance, if distance > 0.0 { (p - c) / distance } else { outward });
        }
    }
    best
}
