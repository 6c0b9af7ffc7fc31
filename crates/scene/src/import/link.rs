//! Bodies of a file: mass properties and shapes gathered from its elements, turned into those of a scene.

use super::scene_name;
use super::xml::Element;
use crate::description::{Combine, Kind, Rigid, Rotation, Shape, ShapePart};
use crate::problem::Problem;
use splashdown_math::{Dim, Frame, Matrix, Space, Vector};

/// Mass, centre and inertia tensor about it, in some frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MassProperties {
    pub mass: f64,
    pub centre: Vector<3>,
    pub inertia: Matrix<3>,
}

impl MassProperties {
    /// Nothing.
    pub fn none() -> Self {
        Self { mass: 0.0, centre: Vector::zeros(), inertia: Matrix::<3>::zeros() }
    }

    /// The same seen from the frame in which this one's coordinates are `at`.
    pub fn moved(&self, at: &Frame<3>) -> Self {
        Self {
            mass: self.mass,
            centre: at.to_world(&self.centre),
            inertia: Dim::<3>::rotate_inertia(&at.rotation, &self.inertia),
        }
    }

    /// Both together.
    pub fn plus(&self, other: &Self) -> Self {
        let mass = self.mass + other.mass;
        if mass <= 0.0 {
            return Self::none();
        }
        let centre = (self.centre * self.mass + other.centre * other.mass) / mass;
        let about = |part: &Self| part.inertia + Dim::<3>::point_inertia(&(part.centre - centre)) * part.mass;
        Self { mass, centre, inertia: about(self) + about(other) }
    }

    /// A principal moment is not more than the sum of the other two, and none is negative.
    pub fn is_possible(&self) -> bool {
        let (moments, _) = Dim::<3>::principal_axes(&self.inertia);
        moments.z > 0.0 && moments.x <= (moments.y + moments.z) * (1.0 + 1e-6)
    }
}

/// A simple shape about the origin of its own frame; round ones along z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Primitive {
    Sphere {
        radius: f64,
    },
    /// Full edges.
    Box {
        size: [f64; 3],
    },
    Cylinder {
        radius: f64,
        length: f64,
    },
    /// The length is that of the straight part.
    Capsule {
        radius: f64,
        length: f64,
    },
    /// Half axes.
    Ellipsoid {
        radii: [f64; 3],
    },
}

impl Primitive {
    /// Of a homogeneous solid of the given density (kg/m^3).
    pub fn mass_properties(&self, density: f64) -> MassProperties {
        use std::f64::consts::PI;
        let (volume, moments) = match *self {
            Self::Sphere { radius } => (4.0 / 3.0 * PI * radius.powi(3), [0.4 * radius * radius; 3]),
            Self::Box { size: [a, b, c] } => {
                let (a2, b2, c2) = (a * a / 12.0, b * b / 12.0, c * c / 12.0);
                (a * b * c, [b2 + c2, a2 + c2, a2 + b2])
            }
            Self::Cylinder { radius, length } => {
                let (r2, across) = (radius * radius, radius * radius / 4.0 + length * length / 12.0);
                (PI * r2 * length, [across, across, r2 / 2.0])
            }
            Self::Capsule { radius, length } => {
                let r2 = radius * radius;
                let (tube, ball) = (PI * r2 * length, 4.0 / 3.0 * PI * r2 * radius);
                let total = tube + ball;
                // Each half ball has its centre 3/8 r beyond the end of the tube.
                let half = 0.5 * length + 0.375 * radius;
                let across =
                    tube * (r2 / 4.0 + length * length / 12.0) + ball * (83.0 / 320.0 * r2 + half * half);
                (total, [across / total, across / total, (tube * r2 / 2.0 + ball * 0.4 * r2) / total])
            }
            Self::Ellipsoid { radii: [a, b, c] } => (
                4.0 / 3.0 * PI * a * b * c,
                [(b * b + c * c) / 5.0, (a * a + c * c) / 5.0, (a * a + b * b) / 5.0],
            ),
        };
        let mass = density * volume;
        MassProperties {
            mass,
            centre: Vector::zeros(),
            inertia: Matrix::<3>::from_diagonal(&Vector::from(moments.map(|moment| moment * mass))),
        }
    }

    /// The shape of the scene; an ellipsoid by itself, for contact that is `exact`, becomes the convex hull of points on it.
    fn shape(&self, exact: bool) -> Shape {
        match *self {
            Self::Sphere { radius } => Shape::Sphere { radius },
            Self::Box { size } => Shape::Box { size: size.to_vec() },
            Self::Cylinder { radius, length } => Shape::Cylinder { radius, length },
            Self::Capsule { radius, length } => Shape::Capsule { radius, length },
            Self::Ellipsoid { radii } if exact => Shape::Hull { points: ellipsoid(radii) },
            Self::Ellipsoid { radii } => Shape::Ellipsoid { radii: radii.to_vec() },
        }
    }
}

/// Points spread evenly over a ball (a spiral with the golden angle) and stretched, and the six ends of the axes.
fn ellipsoid(radii: [f64; 3]) -> Vec<Vec<f64>> {
    const POINTS: usize = 90;
    let golden = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let spiral = (0..POINTS).map(|k| {
        let height = 1.0 - (2.0 * k as f64 + 1.0) / POINTS as f64;
        let (across, angle) = ((1.0 - height * height).sqrt(), golden * k as f64);
        [across * angle.cos(), across * angle.sin(), height]
    });
    let ends = (0..6).map(|k| std::array::from_fn(|a| if a == k / 2 { [-1.0, 1.0][k % 2] } else { 0.0 }));
    spiral.chain(ends).map(|unit: [f64; 3]| (0..3).map(|a| radii[a] * unit[a]).collect()).collect()
}

/// A body in the making.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Link {
    pub name: String,
    /// The link's own frame in the world.
    pub frame: Frame<3>,
    pub properties: MassProperties,
    /// Shapes in the link's frame.
    pub shapes: Vec<(Primitive, Frame<3>)>,
    pub kind: Kind,
}

impl Link {
    /// The body of the scene. Its axes are those of its first shape where they are principal axes, else principal axes.
    pub fn rigid(&self, place: &Element) -> Result<Rigid, Problem> {
        let name = scene_name(&self.name);
        if self.kind == Kind::Dynamic && !(self.properties.mass > 0.0 && self.properties.is_possible()) {
            return Err(place
                .problem(format!("link `{}` moves, but has no possible mass and inertia", self.name))
                .allowed("a positive mass, and positive moments of which none exceeds the sum of the others")
                .hint("a link that a joint moves needs an `<inertial>` with `<mass>` and `<inertia>`"));
        }
        // Everything in the frame of the first shape, if the inertia is diagonal there.
        let axes = self.shapes.first().map_or(Frame::identity(), |(_, frame)| *frame);
        let local = self.properties.moved(&axes.inverse());
        let off = [local.inertia[(0, 1)], local.inertia[(0, 2)], local.inertia[(1, 2)]];
        let diagonal = off.iter().all(|v| v.abs() <= 1e-6 * local.inertia.trace());
        let (moments, rotation) = if diagonal {
            (local.inertia.diagonal(), axes.rotation)
        } else {
            Dim::<3>::principal_axes(&self.properties.inertia)
        };
        let centre = if self.kind == Kind::Dynamic || self.shapes.is_empty() {
            self.properties.centre
        } else {
            axes.position
        };
        let body = self.frame.compose(&Frame { position: centre, rotation });
        let shape = match self.shapes.as_slice() {
            [(primitive, _)] => primitive.shape(true),
            // In the frame of the first one.
            [(_, first), ..] => {
                let part = |(primitive, frame): &(Primitive, Frame<3>)| {
                    let own = first.inverse().compose(frame);
                    ShapePart {
                        shape: Box::new(primitive.shape(false)),
                        position: Some(own.position.iter().copied().collect()),
                        rotation: Some(quaternion(&own)),
                        combine: Combine::Union,
                    }
                };
                Shape::Parts { parts: self.shapes.iter().map(part).collect() }
            }
            // Of nothing a scene can show: a ball with the same inertia.
            [] => {
                let mean = moments.mean() / self.properties.mass.max(f64::MIN_POSITIVE);
                Shape::Sphere { radius: if mean > 0.0 { (2.5 * mean).sqrt() } else { 0.01 } }
            }
        };
        let mut rigid = Rigid::new(name, shape).kind(self.kind).position(<[f64; 3]>::from(body.position));
        if self.kind == Kind::Dynamic {
            rigid = rigid.mass(self.properties.mass);
            rigid.moments = Some(moments.iter().copied().collect());
        }
        rigid.rotation = Some(quaternion(&body));
        if let Some((_, shape)) = self.shapes.first() {
            let own = Frame { position: centre, rotation }.inverse().compose(shape);
            let size = own.position.norm();
            // Several shapes have a centre of their own, which is not that of the file.
            if size > 1e-9 || self.shapes.len() > 1 {
                rigid.shape_position = Some(own.position.iter().copied().collect());
            }
            if Dim::<3>::log(&own.rotation).norm() > 1e-9 {
                rigid.shape_rotation = Some(quaternion(&own));
            }
        }
        Ok(rigid)
    }
}

fn quaternion(frame: &Frame<3>) -> Rotation {
    Rotation::Quaternion { quaternion: Dim::<3>::rotation_components(&frame.rotation) }
}
