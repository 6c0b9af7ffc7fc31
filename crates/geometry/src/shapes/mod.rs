//! Solids described by formulas: primitives, the ways to place and combine them, and their signed distance.
//!
//! A [`Shape`] is a tree of data (cloneable, comparable, serialisable). `phi < 0` inside. Distances are exact for every primitive, for rigid
//! placement, uniform scaling and rounding of convex shapes; a union is exact outside, an intersection or difference inside, and elsewhere
//! they are bounds of the right sign (the distance to the surface is at least the absolute value). A smooth union is a bound too.
//!
//! The axis of capsules, cylinders, cones and tori is the last one, z in 3D (as for the meshes of [`generate`](crate::generate)) and y in 2D,
//! where these are the sections through the axis (a cylinder is a rectangle, a torus two discs), so that one description serves both.
//!
//! ```
//! use splashdown_geometry::shapes::Shape;
//! use splashdown_math::Vector;
//!
//! let bead = Shape::<3>::ball(0.5)?.difference(Shape::cylinder(0.1, 1.0)?);
//! assert!(bead.signed_distance(&Vector::zeros()) > 0.0);
//! assert!((bead.signed_distance(&Vector::from([0.3, 0.0, 0.0])) + 0.2).abs() < 1e-15);
//! # Ok::<(), splashdown_geometry::shapes::ShapeError>(())
//! ```

mod distance;
mod ellipsoid;
mod moments;
mod pieces;
mod polygon;
#[cfg(test)]
mod tests;

pub use moments::Moments;
pub use pieces::{Piece, Primitive};

use crate::bounds::Aabb;
use polygon::Polygon;
use serde::{Deserialize, Serialize};
use splashdown_math::{Dim, Frame, Space, Vector};

/// Why a shape was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ShapeError {
    /// A length that is not a positive finite number.
    #[error("the {what} of a {shape} is {value} m; it must be a positive finite number")]
    Size {
        /// Kind of shape.
        shape: &'static str,
        /// Which length.
        what: &'static str,
        /// The value given.
        value: f64,
    },
    /// A torus whose tube reaches its axis.
    #[error("the tube radius {tube} m of a torus must be smaller than its ring radius {ring} m")]
    Spindle {
        /// Radius of the centre line (m).
        ring: f64,
        /// Radius of the tube (m).
        tube: f64,
    },
    /// A rounding radius that leaves nothing of the shape.
    #[error("the rounding radius {radius} m must be smaller than half the smallest edge, {half} m")]
    Rounding {
        /// Radius given (m).
        radius: f64,
        /// Smallest half edge (m).
        half: f64,
    },
    /// A direction of zero length or a coordinate that is not finite.
    #[error("the {what} of a {shape} must be finite{}", if *.direction { " and not zero" } else { "" })]
    Coordinates {
        /// Kind of shape.
        shape: &'static str,
        /// Which vector.
        what: &'static str,
        /// Must it have a direction?
        direction: bool,
    },
    /// A polygon that encloses no well-defined area.
    #[error("the polygon {0}")]
    Polygon(String),
    /// A union or intersection of nothing.
    #[error("a union or intersection needs at least one shape")]
    NoShapes,
    /// Integrals over a shape that is not bounded.
    #[error("the shape is not bounded (or is empty), so it has no volume")]
    Unbounded,
}

/// A solid in dimension `D`; see the [module](self).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Node<D>", into = "Node<D>", bound = "")]
pub struct Shape<const D: usize>
where
    Dim<D>: Space<D>,
{
    node: Node<D>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", bound = "")]
enum Node<const D: usize>
where
    Dim<D>: Space<D>,
{
    Ball { radius: f64 },
    Cuboid { half: Vector<D> },
    Ellipsoid { radii: Vector<D> },
    Capsule { radius: f64, half_length: f64 },
    Cylinder { radius: f64, half_length: f64 },
    Cone { bottom: f64, top: f64, half_length: f64 },
    Torus { ring: f64, tube: f64 },
    HalfSpace { normal: Vector<D>, offset: f64 },
    Prism { section: Polygon, half_depth: f64 },
    Placed { frame: Frame<D>, shape: Box<Node<D>> },
    Scaled { factor: f64, shape: Box<Node<D>> },
    Grown { by: f64, shape: Box<Node<D>> },
    Shell { half_thickness: f64, shape: Box<Node<D>> },
    Complement { shape: Box<Node<D>> },
    Union { shapes: Vec<Node<D>> },
    Intersection { shapes: Vec<Node<D>> },
    SmoothUnion { width: f64, shapes: [Box<Node<D>>; 2] },
}

impl<const D: usize> From<Shape<D>> for Node<D>
where
    Dim<D>: Space<D>,
{
    fn from(shape: Shape<D>) -> Self {
        shape.node
    }
}

impl<const D: usize> TryFrom<Node<D>> for Shape<D>
where
    Dim<D>: Space<D>,
{
    type Error = ShapeError;
    fn try_from(mut node: Node<D>) -> Result<Self, ShapeError> {
        node.check()?;
        Ok(Self { node })
    }
}

fn positive(shape: &'static str, what: &'static str, value: f64) -> Result<(), ShapeError> {
    if value.is_finite() && value > 0.0 { Ok(()) } else { Err(ShapeError::Size { shape, what, value }) }
}

fn finite<const D: usize>(shape: &'static str, what: &'static str, v: &Vector<D>) -> Result<(), ShapeError> {
    if v.iter().all(|x| x.is_finite()) {
        return Ok(());
    }
    Err(ShapeError::Coordinates { shape, what, direction: false })
}

impl<const D: usize> Node<D>
where
    Dim<D>: Space<D>,
{
    /// Are all numbers in range? Brings directions to unit length.
    #[inline(never)]
    fn check(&mut self) -> Result<(), ShapeError> {
        match self {
            Self::Ball { radius } => positive("ball", "radius", *radius),
            Self::Cuboid { half } => half.iter().try_for_each(|&h| positive("box", "half edge", h)),
            Self::Ellipsoid { radii } => radii.iter().try_for_each(|&r| positive("ellipsoid", "radius", r)),
            Self::Capsule { radius, half_length } => {
                positive("capsule", "radius", *radius)?;
                positive("capsule", "half length", *half_length)
            }
            Self::Cylinder { radius, half_length } => {
                positive("cylinder", "radius", *radius)?;
                positive("cylinder", "half length", *half_length)
            }
            Self::Cone { bottom, top, half_length } => {
                positive("cone", "bottom radius", *bottom)?;
                if *top != 0.0 {
                    positive("cone", "top radius", *top)?;
                }
                positive("cone", "half height", *half_length)
            }
            Self::Torus { ring, tube } => {
                positive("torus", "ring radius", *ring)?;
                positive("torus", "tube radius", *tube)?;
                if tube < ring { Ok(()) } else { Err(ShapeError::Spindle { ring: *ring, tube: *tube }) }
            }
            Self::HalfSpace { normal, offset } => {
                finite("half space", "offset", &Vector::<1>::new(*offset))?;
                let length = normal.norm();
                if !(length.is_finite() && length > 0.0) {
                    return Err(ShapeError::Coordinates {
                        shape: "half space",
                        what: "normal",
                        direction: true,
                    });
                }
                *normal /= length;
                Ok(())
            }
            Self::Prism { section, half_depth } => {
                if D == 3 {
                    positive("prism", "half depth", *half_depth)?;
                }
                section.check()
            }
            Self::Placed { frame, shape } => {
                finite("placed shape", "position", &frame.position)?;
                Dim::renormalize(&mut frame.rotation);
                let rotation = Dim::to_matrix(&frame.rotation);
                if !rotation.iter().all(|x| x.is_finite()) {
                    return Err(ShapeError::Coordinates {
                        shape: "placed shape",
                        what: "rotation",
                        direction: true,
                    });
                }
                shape.check()
            }
            Self::Scaled { factor, shape } => {
                positive("scaled shape", "scale factor", *factor)?;
                shape.check()
            }
            Self::Grown { by, shape } => {
                finite("grown shape", "margin", &Vector::<1>::new(*by))?;
                shape.check()
            }
            Self::Shell { half_thickness, shape } => {
                positive("shell", "half thickness", *half_thickness)?;
                shape.check()
            }
            Self::Complement { shape } => shape.check(),
            Self::Union { shapes } | Self::Intersection { shapes } => {
                if shapes.is_empty() {
                    return Err(ShapeError::NoShapes);
                }
                shapes.iter_mut().try_for_each(Self::check)
            }
            Self::SmoothUnion { width, shapes } => {
                positive("smooth union", "width", *width)?;
                shapes.iter_mut().try_for_each(|shape| shape.check())
            }
        }
    }

    #[inline(never)]
    fn bounds(&self) -> Aabb<D> {
        let around = |half: Vector<D>| Aabb { min: -half, max: half };
        // Extent `across` normal to the last axis and `along` it.
        let revolved =
            |across: f64, along: f64| around(Vector::from_fn(|a, _| if a == D - 1 { along } else { across }));
        match self {
            Self::Ball { radius } => around(Vector::repeat(*radius)),
            Self::Cuboid { half } => around(*half),
            Self::Ellipsoid { radii } => around(*radii),
            Self::Capsule { radius, half_length } => revolved(*radius, half_length + radius),
            Self::Cylinder { radius, half_length } => revolved(*radius, *half_length),
            Self::Cone { bottom, top, half_length } => revolved(bottom.max(*top), *half_length),
            Self::Torus { ring, tube } => revolved(ring + tube, *tube),
            Self::HalfSpace { normal, offset } => {
                // Bounded on one side when the normal lies along an axis.
                let mut bounds = Aabb::everything();
                for a in 0..D {
                    if normal[a] == 1.0 {
                        bounds.max[a] = *offset;
                    } else if normal[a] == -1.0 {
                        bounds.min[a] = -offset;
                    }
                }
                bounds
            }
            Self::Prism { section, half_depth } => {
                let [min, max] = section.bounds();
                Aabb {
                    min: Vector::from_fn(|a, _| if a < 2 { min[a] } else { -half_depth }),
                    max: Vector::from_fn(|a, _| if a < 2 { max[a] } else { *half_depth }),
                }
            }
            Self::Placed { frame, shape } => {
                let inner = shape.bounds();
                if inner.is_empty() {
                    return inner;
                }
                if !inner.is_bounded() {
                    return Aabb::everything();
                }
                let center = frame.to_world(&inner.center());
                let half = Dim::to_matrix(&frame.rotation).abs() * inner.extent() * 0.5;
                Aabb { min: center - half, max: center + half }
            }
            Self::Scaled { factor, shape } => {
                let inner = shape.bounds();
                Aabb { min: inner.min * *factor, max: inner.max * *factor }
            }
            Self::Grown { by, shape } => shape.bounds().grown(*by),
            Self::Shell { half_thickness, shape } => shape.bounds().grown(*half_thickness),
            Self::Complement { shape } => match &**shape {
                // The complement of a half space is the opposite half space.
                Self::HalfSpace { normal, offset } => {
                    Self::HalfSpace { normal: -normal, offset: -offset }.bounds()
                }
                _ => Aabb::everything(),
            },
            Self::Union { shapes } => shapes.iter().fold(Aabb::empty(), |b, s| b.union(&s.bounds())),
            Self::Intersection { shapes } => {
                shapes.iter().fold(Aabb::everything(), |b, s| b.intersection(&s.bounds()))
            }
            // The blend adds at most a quarter of its width.
            Self::SmoothUnion { width, shapes } => {
                shapes[0].bounds().union(&shapes[1].bounds()).grown(0.25 * width)
            }
        }
    }
}

impl<const D: usize> Shape<D>
where
    Dim<D>: Space<D>,
{
    fn checked(node: Node<D>) -> Result<Self, ShapeError> {
        Self::try_from(node)
    }

    /// A ball (a disc in 2D) about the origin.
    pub fn ball(radius: f64) -> Result<Self, ShapeError> {
        Self::checked(Node::Ball { radius })
    }

    /// A box (a rectangle in 2D) about the origin with half edge lengths `half` (m).
    pub fn cuboid(half: Vector<D>) -> Result<Self, ShapeError> {
        Self::checked(Node::Cuboid { half })
    }

    /// A box with its edges rounded to `radius` (m); `half` are the half edge lengths from face to face.
    pub fn rounded_cuboid(half: Vector<D>, radius: f64) -> Result<Self, ShapeError> {
        positive("rounded box", "rounding radius", radius)?;
        if radius >= half.min() {
            return Err(ShapeError::Rounding { radius, half: half.min() });
        }
        Self::cuboid(half.add_scalar(-radius))?.grown(radius)
    }

    /// An ellipsoid (an ellipse in 2D) about the origin with semi-axes `radii` (m). Its distance is found numerically, to rounding error.
    pub fn ellipsoid(radii: Vector<D>) -> Result<Self, ShapeError> {
        Self::checked(Node::Ellipsoid { radii })
    }

    /// All points within `radius` of the segment from `-half_length` to `half_length` on the last axis (m).
    pub fn capsule(radius: f64, half_length: f64) -> Result<Self, ShapeError> {
        Self::checked(Node::Capsule { radius, half_length })
    }

    /// A cylinder about the last axis.
    pub fn cylinder(radius: f64, half_length: f64) -> Result<Self, ShapeError> {
        Self::checked(Node::Cylinder { radius, half_length })
    }

    /// A cylinder whose rim is rounded to `rounding` (m); `radius` and `half_length` are the outer measures.
    pub fn rounded_cylinder(radius: f64, half_length: f64, rounding: f64) -> Result<Self, ShapeError> {
        positive("rounded cylinder", "rounding radius", rounding)?;
        let half = radius.min(half_length);
        if rounding >= half {
            return Err(ShapeError::Rounding { radius: rounding, half });
        }
        Self::cylinder(radius - rounding, half_length - rounding)?.grown(rounding)
    }

    /// A truncated cone about the last axis: radius `bottom` at the height `-half_length`, `top` (may be 0) at `half_length` (m).
    pub fn cone(bottom: f64, top: f64, half_length: f64) -> Result<Self, ShapeError> {
        Self::checked(Node::Cone { bottom, top, half_length })
    }

    /// A torus about the last axis: all points within `tube` of the circle of radius `ring` (m).
    pub fn torus(ring: f64, tube: f64) -> Result<Self, ShapeError> {
        Self::checked(Node::Torus { ring, tube })
    }

    /// All points with `normal . x < offset` (m); the normal points out and need not have unit length, `offset` is measured along it.
    pub fn half_space(normal: Vector<D>, offset: f64) -> Result<Self, ShapeError> {
        Self::checked(Node::HalfSpace { normal, offset })
    }

    /// In 2D the polygon through `points` (m, either orientation, no self-intersection); in 3D the prism over it between
    /// `z = -half_depth` and `z = half_depth`. `half_depth` is not used in 2D.
    pub fn prism(points: Vec<[f64; 2]>, half_depth: f64) -> Result<Self, ShapeError> {
        Self::checked(Node::Prism { section: Polygon::new(points), half_depth })
    }

    /// Placed by a rigid motion.
    #[inline(never)]
    pub fn placed(self, frame: Frame<D>) -> Result<Self, ShapeError> {
        Self::checked(Node::Placed { frame, shape: Box::new(self.node) })
    }

    /// Moved by `offset` (m).
    pub fn translated(self, offset: Vector<D>) -> Result<Self, ShapeError> {
        self.placed(Frame { position: offset, rotation: Dim::identity() })
    }

    /// Scaled about the origin by a positive factor.
    pub fn scaled(self, factor: f64) -> Result<Self, ShapeError> {
        Self::checked(Node::Scaled { factor, shape: Box::new(self.node) })
    }

    /// All points within `by` (m) of the shape, which rounds its edges; a negative value takes such a layer away instead.
    pub fn grown(self, by: f64) -> Result<Self, ShapeError> {
        Self::checked(Node::Grown { by, shape: Box::new(self.node) })
    }

    /// All points within `half_thickness` (m) of the surface.
    pub fn shell(self, half_thickness: f64) -> Result<Self, ShapeError> {
        Self::checked(Node::Shell { half_thickness, shape: Box::new(self.node) })
    }

    /// Everything outside.
    pub fn complement(self) -> Self {
        match self.node {
            Node::Complement { shape } => Self { node: *shape },
            node => Self { node: Node::Complement { shape: Box::new(node) } },
        }
    }

    /// What is in this or the other.
    pub fn union(self, other: Self) -> Self {
        match self.node {
            Node::Union { mut shapes } => {
                shapes.push(other.node);
                Self { node: Node::Union { shapes } }
            }
            node => Self { node: Node::Union { shapes: vec![node, other.node] } },
        }
    }

    /// What is in both.
    pub fn intersection(self, other: Self) -> Self {
        match self.node {
            Node::Intersection { mut shapes } => {
                shapes.push(other.node);
                Self { node: Node::Intersection { shapes } }
            }
            node => Self { node: Node::Intersection { shapes: vec![node, other.node] } },
        }
    }

    /// What is in this but not in the other.
    pub fn difference(self, other: Self) -> Self {
        self.intersection(other.complement())
    }

    /// Union with a smooth blend where the two distances differ by less than `width` (m).
    pub fn smooth_union(self, other: Self, width: f64) -> Result<Self, ShapeError> {
        Self::checked(Node::SmoothUnion { width, shapes: [Box::new(self.node), Box::new(other.node)] })
    }

    /// A box that holds the shape; infinite where the shape is, not always the smallest for rotated or combined shapes.
    pub fn bounds(&self) -> Aabb<D> {
        self.node.bounds()
    }

    /// Distance to the surface (m), negative inside; see the [module](self) for where it is exact.
    pub fn signed_distance(&self, point: &Vector<D>) -> f64 {
        self.node.evaluate(point).0
    }

    /// Signed distance (m) and its gradient, a unit vector: the direction away from the shape. Where several surface points are
    /// equally close one of their directions is given, always the same for the same point. (Shorter than 1 in a smooth blend.)
    pub fn distance_and_normal(&self, point: &Vector<D>) -> (f64, Vector<D>) {
        self.node.evaluate(point)
    }

    /// Is the point inside?
    pub fn contains(&self, point: &Vector<D>) -> bool {
        self.signed_distance(point) < 0.0
    }

    /// Volume, centre and second moments: in closed form for primitives however placed and scaled, otherwise by integration on a grid
    /// of `cells` cells on the longest side of the bounds (error O(h^2)).
    #[inline(never)]
    pub fn moments(&self, cells: usize) -> Result<Moments<D>, ShapeError> {
        match self.node.exact_moments() {
            Some(moments) => Ok(moments),
            None => moments::by_quadrature(self, cells),
        }
    }
}
