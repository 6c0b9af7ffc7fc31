//! Contact points: which features of two bodies face each other, and where they are in any configuration of the two.

use crate::Geometry;
use splashdown_math::{Dim, Frame, Matrix, Space, Vector};

/// A frame with its rotation as a matrix, for loops over many points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose<const D: usize> {
    /// World position of the object's origin (m).
    pub position: Vector<D>,
    /// Object to world.
    pub rotation: Matrix<D>,
}

impl<const D: usize> Pose<D>
where
    Dim<D>: Space<D>,
{
    /// The pose of a frame.
    pub fn new(frame: &Frame<D>) -> Self {
        Self { position: frame.position, rotation: Dim::to_matrix(&frame.rotation) }
    }

    /// World position of an object point. Plain loops here and below: the general products are several times slower.
    #[inline]
    pub fn to_world(&self, point: &Vector<D>) -> Vector<D> {
        let (turn, point) = (self.rotation.as_slice(), point.as_slice());
        let mut moved = Vector::zeros();
        for c in 0..D {
            for r in 0..D {
                moved[r] += turn[D * c + r] * point[c];
            }
        }
        moved + self.position
    }

    /// This pose in the coordinates of an object at `other`.
    pub fn seen_from(&self, other: &Self) -> Self {
        let (own, turn) = (self.rotation.as_slice(), other.rotation.as_slice());
        let mut rotation = Matrix::<D>::zeros();
        let entries = rotation.as_mut_slice();
        for c in 0..D {
            for r in 0..D {
                for k in 0..D {
                    entries[D * c + r] += turn[D * r + k] * own[D * c + k];
                }
            }
        }
        Self { position: other.to_object(&self.position), rotation }
    }

    /// World components of an object vector.
    #[inline]
    pub fn vector_to_world(&self, vector: &Vector<D>) -> Vector<D> {
        let (turn, vector) = (self.rotation.as_slice(), vector.as_slice());
        let mut turned = Vector::zeros();
        for c in 0..D {
            for r in 0..D {
                turned[r] += turn[D * c + r] * vector[c];
            }
        }
        turned
    }

    /// Object components of a world vector.
    #[inline]
    pub fn vector_to_object(&self, vector: &Vector<D>) -> Vector<D> {
        let (turn, vector) = (self.rotation.as_slice(), vector.as_slice());
        let mut local = Vector::zeros();
        for c in 0..D {
            for r in 0..D {
                local[c] += turn[D * c + r] * vector[r];
            }
        }
        local
    }

    /// Object coordinates of a world point.
    #[inline]
    pub fn to_object(&self, point: &Vector<D>) -> Vector<D> {
        let turn = self.rotation.as_slice();
        let away = point - self.position;
        let mut local = Vector::zeros();
        for c in 0..D {
            for r in 0..D {
                local[c] += turn[D * c + r] * away[r];
            }
        }
        local
    }
}

/// How near two bodies must be for their contacts to matter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reach<const D: usize> {
    /// Gap (m) within which they matter whatever the direction.
    pub margin: f64,
    /// How far A moves relative to B meanwhile (m, world coordinates): a gap that this closes matters too.
    pub moved: Vector<D>,
}

impl<const D: usize> From<f64> for Reach<D> {
    /// Gaps of at most so much (m).
    fn from(margin: f64) -> Self {
        Self { margin, moved: Vector::zeros() }
    }
}

impl<const D: usize> Reach<D> {
    /// Largest gap that matters (m).
    pub fn most(&self) -> f64 {
        self.margin + self.moved.norm()
    }

    /// Largest gap (m) that matters where the unit vector `normal` separates the bodies, pointing from B to A.
    #[inline]
    pub fn along(&self, normal: &Vector<D>) -> f64 {
        self.margin + (-self.moved.dot(normal)).max(0.0)
    }

    /// With the two bodies exchanged.
    pub fn swapped(&self) -> Self {
        Self { moved: -self.moved, ..*self }
    }
}

/// In place of the number of a part: the whole solid.
pub const WHOLE: u32 = u32::MAX;

/// What the normal of a contact follows when the bodies move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Guide<const D: usize> {
    /// The line between two core points (round against round, or against a corner); the world normal of the detection if they coincide.
    Points(Vector<D>),
    /// A direction fixed to body A (object coordinates), pointing from B to A.
    FixedToA(Vector<D>),
    /// A direction fixed to body B (object coordinates), pointing from B to A.
    FixedToB(Vector<D>),
    /// The distance of this part of A, or of [all of it](WHOLE), at the particle or round part of B.
    FieldOfA(u32),
    /// The distance of this part of B, or of [all of it](WHOLE), at the particle or round part of A.
    FieldOfB(u32),
    /// A is a particle of a deformable body: the distance field of B there, pushes act at the particle.
    ParticleA,
    /// B is a particle of a deformable body: the distance field of A there, pushes act at the particle.
    ParticleB,
}

/// A pair of features that touch or may touch soon.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact<const D: usize> {
    /// Core point on A in its object coordinates: a surface point, or the centre of a round part.
    pub on_a: Vector<D>,
    /// Core point on B in its object coordinates.
    pub on_b: Vector<D>,
    /// Radius of the round part about each core point (m); 0 for a surface point.
    pub radius: [f64; 2],
    /// What the normal follows.
    pub guide: Guide<D>,
    /// The same while the same features touch, so that impulses can be carried over to the next step.
    pub feature: u32,
}

/// Where a contact is in one configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Touch<const D: usize> {
    /// Unit vector from B to A.
    pub normal: Vector<D>,
    /// Distance along the normal (m), negative when the bodies overlap.
    pub gap: f64,
    /// World position half way between the surfaces (m).
    pub point: Vector<D>,
}

impl<const D: usize> Contact<D>
where
    Dim<D>: Space<D>,
{
    /// The contact with the two bodies exchanged.
    pub fn swapped(&self) -> Self {
        let guide = match self.guide {
            Guide::Points(normal) => Guide::Points(-normal),
            Guide::FixedToA(normal) => Guide::FixedToB(-normal),
            Guide::FixedToB(normal) => Guide::FixedToA(-normal),
            Guide::FieldOfA(part) => Guide::FieldOfB(part),
            Guide::FieldOfB(part) => Guide::FieldOfA(part),
            Guide::ParticleA => Guide::ParticleB,
            Guide::ParticleB => Guide::ParticleA,
        };
        Self {
            on_a: self.on_b,
            on_b: self.on_a,
            radius: [self.radius[1], self.radius[0]],
            guide,
            feature: self.feature ^ (1 << 31),
        }
    }

    /// Where the contact is when the bodies are at `a` and `b`.
    #[inline]
    pub fn touch(&self, a: &Pose<D>, b: &Pose<D>, geometry: [&Geometry<D>; 2]) -> Touch<D> {
        // Spheres have theirs in the middle.
        let place = |pose: &Pose<D>, on: &Vector<D>| {
            if on.iter().all(|x| *x == 0.0) { pose.position } else { pose.to_world(on) }
        };
        let (at_a, at_b) = (place(a, &self.on_a), place(b, &self.on_b));
        let radii = self.radius[0] + self.radius[1];
        let between = at_a - at_b;
        match self.guide {
            Guide::Points(detected) => {
                let distance = between.norm();
                let normal = if distance > 1e-9 * radii.max(1e-9) { between / distance } else { detected };
                let gap = distance - radii;
                Touch { normal, gap, point: at_a - normal * (self.radius[0] + 0.5 * gap) }
            }
            Guide::FixedToA(normal) => {
                let normal = a.vector_to_world(&normal);
                let gap = normal.dot(&between) - radii;
                Touch { normal, gap, point: at_b + normal * (self.radius[1] + 0.5 * gap) }
            }
            Guide::FixedToB(normal) => {
                let normal = b.vector_to_world(&normal);
                let gap = normal.dot(&between) - radii;
                Touch { normal, gap, point: at_a - normal * (self.radius[0] + 0.5 * gap) }
            }
            Guide::FieldOfB(part) => {
                let place = b.to_object(&at_a);
                let (distance, normal) = geometry[1].contact_distance(part, &place, self.radius[0]);
                let (normal, gap) = (b.vector_to_world(&normal), distance - self.radius[0]);
                Touch { normal, gap, point: at_a - normal * (self.radius[0] + 0.5 * gap) }
            }
            Guide::FieldOfA(part) => {
                let place = a.to_object(&at_b);
                let (distance, normal) = geometry[0].contact_distance(part, &place, self.radius[1]);
                let (normal, gap) = (-a.vector_to_world(&normal), distance - self.radius[1]);
                Touch { normal, gap, point: at_b + normal * (self.radius[1] + 0.5 * gap) }
            }
            Guide::ParticleA => {
                let (distance, normal) = geometry[1].distance_and_normal(&b.to_object(&at_a));
                Touch { normal: b.vector_to_world(&normal), gap: distance - self.radius[0], point: at_a }
            }
            Guide::ParticleB => {
                let (distance, normal) = geometry[0].distance_and_normal(&a.to_object(&at_b));
                Touch { normal: -a.vector_to_world(&normal), gap: distance - self.radius[1], point: at_b }
            }
        }
    }
}
