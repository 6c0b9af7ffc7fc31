//! What a body looks like to others: an exact description where there is one, surface particles, and an object-space level set.
//!
//! A [`Geometry`] is made once and shared by all bodies that look alike (`Arc`). It lives in object coordinates: the origin is the centre of
//! mass and the axes are principal axes of inertia. [`Geometry::placement`] keeps the motion from the coordinates it was described in.

mod clip;
mod hull;
mod nearest;
mod parts;
mod properties;
mod sampling;
#[cfg(test)]
mod tests;

pub(crate) use clip::Clip;
pub use hull::{Hull, HullFace};
pub(crate) use parts::Part;
pub use properties::MassProperties;
pub(crate) use sampling::Edges;

use crate::collide::WHOLE;
use nearest::Nearest;
use serde::{Deserialize, Serialize};
use splashdown_geometry::grid::{Field, Grid, GridError, Interpolation, Location};
use splashdown_geometry::level_set::{LevelSet, LevelSetError, Surface, SurfaceDistance};
use splashdown_geometry::mesh::{Corners, Element, MeshError, SurfaceMesh};
use splashdown_geometry::shapes::{Shape, ShapeError};
use splashdown_geometry::{Aabb, Bvh};
use splashdown_math::{Dim, Frame, Space, Vector};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// Why a geometry was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GeometryError {
    /// A shape with impossible measures.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A mesh that encloses nothing.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// A level set that could not be made.
    #[error(transparent)]
    LevelSet(#[from] LevelSetError),
    /// A grid that could not be made.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// Points that span no volume.
    #[error("a convex hull needs at least {} finite points that do not lie in one plane", .dimension + 1)]
    FlatHull {
        /// Number of dimensions.
        dimension: usize,
    },
    /// A solid without volume.
    #[error("the solid has volume {0}; expected a positive, finite number")]
    Volume(f64),
}

/// The exact form of a solid in object coordinates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", rename_all = "snake_case")]
pub enum Solid<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// A ball about the origin (a disc in 2D).
    Sphere {
        /// Radius (m).
        radius: f64,
    },
    /// A box about the origin (a rectangle in 2D).
    Cuboid {
        /// Half edge lengths (m).
        half: Vector<D>,
    },
    /// All points within `radius` of the segment `[-half_length, half_length]` on the last axis.
    Capsule {
        /// Radius (m).
        radius: f64,
        /// Half length of the axis (m).
        half_length: f64,
    },
    /// All points with `normal . x <= 0`: the ground and walls. It has no mass, so its body is static or kinematic.
    HalfSpace {
        /// Unit vector out of the solid.
        normal: Vector<D>,
    },
    /// A particle of a deformable body, which others keep `thickness` away from. It has no surface and never turns: whatever touches it pushes at the
    /// particle itself.
    Point {
        /// Distance (m), may be zero.
        thickness: f64,
    },
    /// A convex polytope.
    Hull(Hull<D>),
    /// The inside of a closed surface, or a thin shell; contact goes through particles and level set.
    Mesh {
        /// The surface in object coordinates.
        surface: SurfaceMesh<D>,
    },
    /// A combination of shapes with a signed distance by formula, in the coordinates it was described in.
    Shape {
        /// The shape.
        shape: Shape<D>,
    },
    /// Known by its level set only, such as a fragment of a broken body.
    Sampled,
}

/// Shared geometry of rigid bodies.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Geometry<const D: usize>
where
    Dim<D>: Space<D>,
{
    solid: Solid<D>,
    placement: Frame<D>,
    properties: Option<MassProperties<D>>,
    bounds: Aabb<D>,
    radius: f64,
    cells: usize,
    /// Made when first asked for, except where it is the definition. Sampled in the coordinates of `level_set_frame`.
    #[serde(with = "once")]
    level_set: OnceLock<LevelSet<D>>,
    /// From object coordinates to those of the level set.
    level_set_frame: Frame<D>,
    #[serde(with = "once")]
    particles: OnceLock<Vec<Vector<D>>>,
    #[serde(skip)]
    particle_tree: OnceLock<Bvh<D>>,
    /// Does contact look at its edges as well as at its particles?
    #[serde(default)]
    by_edges: bool,
    #[serde(skip)]
    edges: OnceLock<Edges<D>>,
    /// A box as a polytope.
    #[serde(skip)]
    polytope: OnceLock<Hull<D>>,
    /// The polytope that a sampled solid is.
    convex: Option<Hull<D>>,
    /// The shapes that it unites, if contact looks at each by itself.
    #[serde(skip)]
    parts: OnceLock<Vec<Part<D>>>,
    /// The elements of a mesh for queries of the nearest.
    #[serde(skip)]
    nearest: OnceLock<Nearest<D>>,
    /// Half thickness of a shell (m); zero for what encloses a volume.
    #[serde(default)]
    half_thickness: f64,
    /// A polytope inside a round solid and the distance (m) that it keeps; none if it is not convex.
    #[serde(skip)]
    outline: OnceLock<(f64, Option<Hull<D>>)>,
    /// Distance (m) at the voxels by which it breaks, with their number on its longest side.
    #[serde(skip)]
    voxels: OnceLock<(u32, Arc<Field<D>>)>,
}

/// A value that is made when first asked for, saved if it is there.
mod once {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::sync::OnceLock;

    pub fn serialize<T: Serialize, S: Serializer>(
        value: &OnceLock<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.get().serialize(serializer)
    }

    pub fn deserialize<'de, T: Deserialize<'de>, S: Deserializer<'de>>(
        deserializer: S,
    ) -> Result<OnceLock<T>, S::Error> {
        Ok(Option::<T>::deserialize(deserializer)?.map_or_else(OnceLock::new, OnceLock::from))
    }
}

impl<const D: usize> PartialEq for Geometry<D>
where
    Dim<D>: Space<D>,
{
    fn eq(&self, other: &Self) -> bool {
        self.solid == other.solid
            && self.placement == other.placement
            && (!matches!(self.solid, Solid::Sampled) || self.level_set == other.level_set)
    }
}

/// Cells of a level set on the longest side of its solid, unless told otherwise (the source's spheres have 55).
pub const DEFAULT_CELLS: usize = 48;
/// Cells around the solid.
const PADDING: usize = 3;

impl<const D: usize> Geometry<D>
where
    Dim<D>: Space<D>,
{
    fn new(
        solid: Solid<D>,
        placement: Frame<D>,
        properties: Option<MassProperties<D>>,
        bounds: Aabb<D>,
    ) -> Self {
        let radius = bounds.min.abs().sup(&bounds.max.abs()).norm();
        let radius = match &solid {
            Solid::Sphere { radius } => *radius,
            Solid::Capsule { radius, half_length } => radius + half_length,
            _ => radius,
        };
        Self {
            solid,
            placement,
            properties,
            bounds,
            radius,
            cells: DEFAULT_CELLS,
            level_set: OnceLock::new(),
            level_set_frame: Frame::identity(),
            particles: OnceLock::new(),
            particle_tree: OnceLock::new(),
            by_edges: false,
            edges: OnceLock::new(),
            polytope: OnceLock::new(),
            convex: None,
            parts: OnceLock::new(),
            nearest: OnceLock::new(),
            half_thickness: 0.0,
            outline: OnceLock::new(),
            voxels: OnceLock::new(),
        }
    }

    /// Distance (m) at voxels, `cells` on the longest side, made by `make` unless it is known from before.
    pub(crate) fn voxels<E>(
        &self,
        cells: u32,
        make: impl FnOnce() -> Result<Field<D>, E>,
    ) -> Result<Arc<Field<D>>, E> {
        if let Some((_, known)) = self.voxels.get().filter(|(known, _)| *known == cells) {
            return Ok(known.clone());
        }
        let made = Arc::new(make()?);
        // Another resolution than the first one is not kept.
        let _ = self.voxels.set((cells, made.clone()));
        Ok(made)
    }

    /// A ball (a disc in 2D).
    #[inline(never)]
    pub fn sphere(radius: f64) -> Result<Self, GeometryError> {
        let shape = Shape::ball(radius)?;
        Ok(Self::new(
            Solid::Sphere { radius },
            Frame::identity(),
            Some(MassProperties::of_shape(&shape)?),
            shape.bounds(),
        ))
    }

    /// A particle of a deformable body that others keep `thickness` (m) away from. Particles do not touch each other.
    #[inline(never)]
    pub fn point(thickness: f64) -> Self {
        let bounds = Aabb { min: Vector::repeat(-thickness), max: Vector::repeat(thickness) };
        Self { radius: thickness, ..Self::new(Solid::Point { thickness }, Frame::identity(), None, bounds) }
    }

    /// A box (a rectangle in 2D) with half edge lengths `half` (m).
    #[inline(never)]
    pub fn cuboid(half: Vector<D>) -> Result<Self, GeometryError> {
        let shape = Shape::cuboid(half)?;
        Ok(Self::new(
            Solid::Cuboid { half },
            Frame::identity(),
            Some(MassProperties::of_shape(&shape)?),
            shape.bounds(),
        ))
    }

    /// All points within `radius` of the segment from `-half_length` to `half_length` on the last axis (m).
    #[inline(never)]
    pub fn capsule(radius: f64, half_length: f64) -> Result<Self, GeometryError> {
        let shape = Shape::capsule(radius, half_length)?;
        let solid = Solid::Capsule { radius, half_length };
        Ok(Self::new(solid, Frame::identity(), Some(MassProperties::of_shape(&shape)?), shape.bounds()))
    }

    /// Everything on the side of a plane through the origin that `normal` points away from.
    #[inline(never)]
    pub fn half_space(normal: Vector<D>) -> Result<Self, GeometryError> {
        // The shape checks the normal.
        let shape = Shape::half_space(normal, 0.0)?;
        let normal = normal.normalize();
        Ok(Self::new(Solid::HalfSpace { normal }, Frame::identity(), None, shape.bounds()))
    }

    /// The convex hull of `points` (m).
    #[inline(never)]
    pub fn hull(points: &[Vector<D>]) -> Result<Self, GeometryError> {
        let hull = Hull::new(points).ok_or(GeometryError::FlatHull { dimension: D })?;
        let integrals = hull.surface().enclosed_integrals()?;
        let (properties, placement) =
            MassProperties::principal(integrals.measure, &integrals.centroid, &integrals.second_moment)?;
        let hull = hull.moved(&placement);
        let bounds = Aabb::of_points(&hull.points);
        Ok(Self::new(Solid::Hull(hull), placement, Some(properties), bounds))
    }

    /// Any [`Shape`]: contact uses its signed distance by formula and particles on its surface. `cells` of the level set on the longest side.
    #[inline(never)]
    pub fn shape(shape: Shape<D>, cells: usize) -> Result<Self, GeometryError> {
        let cells = cells.max(8);
        let moments = shape.moments(4 * cells)?;
        let (properties, placement) =
            MassProperties::principal(moments.volume, &moments.centre, &moments.second)?;
        let described = shape.bounds();
        if !described.is_bounded() {
            return Err(ShapeError::Unbounded.into());
        }
        let shape = if placement == Frame::identity() { shape } else { shape.placed(placement)? };
        let bounds = shape.bounds();
        Ok(Self { cells, ..Self::new(Solid::Shape { shape }, placement, Some(properties), bounds) })
    }

    /// What a closed surface encloses. `cells` of its level set on the longest side; surfaces that are not closed are refused.
    #[inline(never)]
    pub fn mesh(surface: &SurfaceMesh<D>, cells: usize) -> Result<Self, GeometryError>
    where
        Corners<D>: Element<D>,
    {
        surface.check_closed()?;
        let integrals = surface.enclosed_integrals()?;
        let (properties, placement) =
            MassProperties::principal(integrals.measure, &integrals.centroid, &integrals.second_moment)?;
        Self::from_surface(surface, placement, properties, cells, Surface::Closed)
    }

    /// A thin shell of the given thickness (m): two-sided, with the mass of its area times its thickness.
    #[inline(never)]
    pub fn shell(surface: &SurfaceMesh<D>, thickness: f64, cells: usize) -> Result<Self, GeometryError>
    where
        Corners<D>: Element<D>,
    {
        let integrals = surface.integrals()?;
        let (properties, placement) = MassProperties::principal(
            integrals.measure * thickness,
            &integrals.centroid,
            &(integrals.second_moment * thickness),
        )?;
        Self::from_surface(
            surface,
            placement,
            properties,
            cells,
            Surface::Shell { half_thickness: 0.5 * thickness },
        )
    }

    fn from_surface(
        surface: &SurfaceMesh<D>,
        placement: Frame<D>,
        properties: MassProperties<D>,
        cells: usize,
        kind: Surface,
    ) -> Result<Self, GeometryError>
    where
        Corners<D>: Element<D>,
    {
        let mut surface = surface.clone();
        surface.points.iter_mut().for_each(|point| *point = placement.to_world(point));
        let thickness = if let Surface::Shell { half_thickness } = kind { half_thickness } else { 0.0 };
        let bounds = surface.bounds().grown(thickness);
        let spacing = bounds.extent().max() / cells.max(8) as f64;
        let grid = Grid::covering(&bounds, spacing, PADDING)?;
        let options = SurfaceDistance { surface: kind, ..SurfaceDistance::default() };
        let level_set = LevelSet::from_surface(&grid, Location::Node, &surface, &options)?;
        let mut geometry = Self::new(Solid::Mesh { surface }, placement, Some(properties), bounds);
        geometry.cells = cells;
        geometry.half_thickness = thickness;
        geometry.level_set = OnceLock::from(level_set);
        Ok(geometry)
    }

    /// A solid known by its level set, which is sampled in coordinates that `frame` leads to from object coordinates (the data need no
    /// resampling when the centre of mass or the principal axes move), and by `particles` on its surface (object coordinates, m).
    pub fn sampled(
        level_set: LevelSet<D>,
        frame: Frame<D>,
        particles: Vec<Vector<D>>,
        properties: MassProperties<D>,
    ) -> Self {
        let bounds = Aabb::of_points(&particles);
        let mut geometry = Self::new(Solid::Sampled, frame.inverse(), Some(properties), bounds);
        geometry.level_set = OnceLock::from(level_set);
        geometry.level_set_frame = frame;
        geometry.particles = OnceLock::from(particles);
        geometry
    }

    /// A sampled solid that is the convex polytope `hull` (object coordinates, m) to the accuracy of its samples: contact takes the polytope, everything
    /// else the samples.
    pub fn convex(mut self, hull: Hull<D>) -> Self {
        if matches!(self.solid, Solid::Sampled) {
            let bounds = self.bounds.union(&Aabb::of_points(&hull.points));
            self.radius = bounds.min.abs().sup(&bounds.max.abs()).norm();
            self.bounds = bounds;
            self.convex = Some(hull);
        }
        self
    }

    /// The same solid with the coordinates it was described in moved by `frame` in object coordinates, for bodies whose centre of mass and
    /// axes are given. Its [`properties`](Self::properties) stay those about its own centre;
    /// object coordinates are the body's own.
    #[inline(never)]
    pub fn moved(&self, frame: &Frame<D>) -> Result<Self, GeometryError> {
        let total = frame.compose(&self.placement.inverse());
        let formula = |shape: Shape<D>| -> Result<(Solid<D>, Aabb<D>), GeometryError> {
            let shape = shape.placed(total)?;
            let bounds = shape.bounds();
            Ok((Solid::Shape { shape }, bounds))
        };
        let (solid, bounds) = match &self.solid {
            Solid::Sphere { radius } | Solid::Point { thickness: radius } => formula(Shape::ball(*radius)?)?,
            Solid::Capsule { radius, half_length } => formula(Shape::capsule(*radius, *half_length)?)?,
            Solid::Shape { shape } => formula(shape.clone())?,
            Solid::HalfSpace { normal } => formula(Shape::half_space(*normal, 0.0)?)?,
            Solid::Cuboid { .. } | Solid::Hull(_) => {
                let hull = self.polytope().ok_or(GeometryError::FlatHull { dimension: D })?.moved(&total);
                let bounds = Aabb::of_points(&hull.points);
                (Solid::Hull(hull), bounds)
            }
            Solid::Mesh { surface } => {
                let mut surface = surface.clone();
                surface.points.iter_mut().for_each(|point| *point = total.to_world(point));
                let bounds = surface.bounds();
                (Solid::Mesh { surface }, bounds)
            }
            Solid::Sampled => {
                let particles: Vec<_> = self.particles().iter().map(|point| total.to_world(point)).collect();
                (Solid::Sampled, Aabb::of_points(&particles))
            }
        };
        let mut moved = Self::new(solid, Frame::identity(), self.properties, bounds);
        moved.cells = self.cells;
        moved.by_edges = self.by_edges;
        moved.half_thickness = self.half_thickness;
        if let Some(hull) = &self.convex {
            moved = moved.convex(hull.moved(&total));
        }
        if let (Solid::Mesh { .. } | Solid::Sampled, Some(level_set)) = (&moved.solid, self.level_set.get()) {
            moved.level_set = OnceLock::from(level_set.clone());
            moved.level_set_frame = self.level_set_frame.compose(&total.inverse());
            moved.particles = OnceLock::from(
                self.particles().iter().map(|point| total.to_world(point)).collect::<Vec<_>>(),
            );
        }
        Ok(moved)
    }

    /// The exact form.
    pub fn solid(&self) -> &Solid<D> {
        &self.solid
    }

    /// From the coordinates the solid was described in to object coordinates (centre of mass at the origin, principal axes).
    pub fn placement(&self) -> &Frame<D> {
        &self.placement
    }

    /// Volume and inertia for density 1; `None` for a half space.
    pub fn properties(&self) -> Option<&MassProperties<D>> {
        self.properties.as_ref()
    }

    /// A box around the solid in object coordinates (m).
    pub fn bounds(&self) -> &Aabb<D> {
        &self.bounds
    }

    /// Largest distance of a point of the solid from the centre of mass (m), or a bound of it; infinite for a half space.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// A box around the solid in world coordinates (m).
    #[inline(never)]
    pub fn world_bounds(&self, frame: &Frame<D>) -> Aabb<D> {
        match &self.solid {
            Solid::Sphere { radius } | Solid::Point { thickness: radius } => {
                Aabb { min: frame.position.add_scalar(-radius), max: frame.position.add_scalar(*radius) }
            }
            Solid::HalfSpace { normal } => {
                let normal = frame.vector_to_world(normal);
                let mut bounds = Aabb::everything();
                for a in 0..D {
                    if normal[a] > 1.0 - 1e-12 {
                        bounds.max[a] = frame.position[a];
                    } else if normal[a] < -1.0 + 1e-12 {
                        bounds.min[a] = frame.position[a];
                    }
                }
                bounds
            }
            Solid::Capsule { radius, half_length } => {
                let mut axis = Vector::zeros();
                axis[D - 1] = *half_length;
                let half = frame.vector_to_world(&axis).abs().add_scalar(*radius);
                Aabb { min: frame.position - half, max: frame.position + half }
            }
            _ => {
                let center = frame.to_world(&self.bounds.center());
                let half = Dim::to_matrix(&frame.rotation).abs() * self.bounds.extent() * 0.5;
                Aabb { min: center - half, max: center + half }
            }
        }
    }

    /// Signed distance (m, negative inside) and the unit vector out of the solid at a point in object coordinates, defined everywhere.
    #[inline(never)]
    pub fn distance_and_normal(&self, point: &Vector<D>) -> (f64, Vector<D>) {
        match &self.solid {
            Solid::Sphere { radius } | Solid::Point { thickness: radius } => {
                let length = point.norm();
                if length > 0.0 {
                    return (length - radius, point / length);
                }
                (-radius, Vector::from_fn(|a, _| if a == 1 { 1.0 } else { 0.0 }))
            }
            Solid::Cuboid { half } => sampling::cuboid_distance(point, half),
            Solid::Capsule { radius, half_length } => {
                let mut from_axis = *point;
                from_axis[D - 1] -= point[D - 1].clamp(-half_length, *half_length);
                let length = from_axis.norm();
                if length > 0.0 {
                    return (length - radius, from_axis / length);
                }
                (-radius, Vector::from_fn(|a, _| if a == 0 { 1.0 } else { 0.0 }))
            }
            Solid::HalfSpace { normal } => (normal.dot(point), *normal),
            Solid::Hull(hull) => hull.distance_and_normal(point),
            Solid::Shape { shape } => {
                let (distance, normal) = shape.distance_and_normal(point);
                (distance, normal.try_normalize(1e-12).unwrap_or(normal))
            }
            Solid::Mesh { .. } | Solid::Sampled => match (&self.convex, self.level_set.get()) {
                (Some(hull), _) => hull.distance_and_normal(point),
                (None, Some(level_set)) => {
                    let (value, normal) = level_set.value_and_normal(&self.level_set_frame.to_world(point));
                    (value, self.level_set_frame.vector_to_object(&normal))
                }
                (None, None) => (f64::INFINITY, Vector::zeros()),
            },
        }
    }

    /// Signed distance (m, negative inside) of a point in object coordinates.
    pub fn signed_distance(&self, point: &Vector<D>) -> f64 {
        match self.level_set.get() {
            Some(level_set) if matches!(self.solid, Solid::Mesh { .. } | Solid::Sampled) => {
                level_set.value(&self.level_set_frame.to_world(point))
            }
            _ => self.distance_and_normal(point).0,
        }
    }

    /// Is the distance of a point in object coordinates below `threshold` (m)? Quick far from the surface.
    pub fn is_below(&self, point: &Vector<D>, threshold: f64) -> bool {
        match self.level_set.get() {
            Some(level_set) if matches!(self.solid, Solid::Mesh { .. } | Solid::Sampled) => {
                level_set.is_below(&self.level_set_frame.to_world(point), threshold)
            }
            _ => self.signed_distance(point) < threshold,
        }
    }

    /// Signed distance (m) of one of its [`parts`](Self::parts), or of all of it, and the unit vector away, for contact with something round of
    /// `radius` (m) about a point in object coordinates: that of a mesh is from its elements where it matters, not from its samples.
    pub(crate) fn contact_distance(&self, part: u32, point: &Vector<D>, radius: f64) -> (f64, Vector<D>) {
        /// Cells within which samples are exact.
        const BAND: f64 = 3.0;
        /// Samples around that are all those of one plane say what is between them, too; then the gradient has length one to this.
        const PLANE: f64 = 1e-10;
        if part != WHOLE
            && let Some(part) = self.parts().get(part as usize)
        {
            let (distance, normal) =
                part.geometry.contact_distance(WHOLE, &part.pose.to_object(point), radius);
            return (distance, part.pose.vector_to_world(&normal));
        }
        let (Solid::Mesh { surface }, Some(level_set)) = (&self.solid, self.level_set.get()) else {
            return self.distance_and_normal(point);
        };
        let frame = &self.level_set_frame;
        let (value, gradient) = level_set.value_and_gradient(&frame.to_world(point), Interpolation::Linear);
        let steepness = gradient.norm();
        if (steepness - 1.0).abs() < PLANE {
            return (value, frame.vector_to_object(&(gradient / steepness)));
        }
        let sampled = self.distance_and_normal(point);
        if value.abs() > BAND * self.level_set_spacing() + radius {
            return sampled;
        }
        let nearest = self.nearest.get_or_init(|| Nearest::new(surface));
        let reach = 1.1 * (sampled.0 + self.half_thickness).abs() + self.level_set_error();
        match nearest.distance_and_normal(surface, point, reach) {
            Some((distance, normal)) if self.half_thickness > 0.0 => {
                let sign = if distance < 0.0 { -1.0 } else { 1.0 };
                (distance.abs() - self.half_thickness, normal * sign)
            }
            Some(found) => found,
            None => sampled,
        }
    }

    /// How far (m) what the level set of a mesh says between its samples may be from the distance; nothing for others.
    pub(crate) fn level_set_error(&self) -> f64 {
        match &self.solid {
            Solid::Mesh { .. } => (D as f64).sqrt() * self.level_set_spacing(),
            _ => 0.0,
        }
    }

    /// Is the distance for contact known by samples only?
    pub(crate) fn is_sampled(&self) -> bool {
        matches!(self.solid, Solid::Sampled) && self.convex.is_none()
    }

    /// The shapes that it unites, each by itself; empty unless contact gains by looking at them one by one.
    pub(crate) fn parts(&self) -> &[Part<D>] {
        self.parts.get_or_init(|| parts::of(self))
    }

    /// The level set and the motion from object coordinates to its coordinates; made when first asked for. `None` for a half space.
    #[inline(never)]
    pub fn level_set(&self) -> Option<(&LevelSet<D>, &Frame<D>)> {
        if matches!(self.solid, Solid::HalfSpace { .. } | Solid::Point { .. }) {
            return None;
        }
        if self.level_set.get().is_none() {
            let grid = Grid::covering(&self.bounds, self.level_set_spacing(), PADDING).ok()?;
            let field = Field::from_fn(&grid, Location::Node, |x| self.distance_and_normal(x).0);
            let level_set = LevelSet::from_field(field).ok()?;
            let _ = self.level_set.set(level_set);
        }
        self.level_set.get().map(|level_set| (level_set, &self.level_set_frame))
    }

    /// Spacing of the level set that [`Self::level_set`] makes (m).
    pub fn level_set_spacing(&self) -> f64 {
        match self.level_set.get() {
            Some(level_set) => level_set.field().grid().min_spacing(),
            None => self.bounds.extent().max() / self.cells as f64,
        }
    }

    /// Points on the surface, at most about two level-set cells apart, in object coordinates (m); empty for a half space. Made when first
    /// asked for.
    #[inline(never)]
    pub fn particles(&self) -> &[Vector<D>] {
        self.particles.get_or_init(|| sampling::particles(self))
    }

    /// A tree over [`Self::particles`].
    pub(crate) fn particle_tree(&self) -> &Bvh<D> {
        self.particle_tree.get_or_init(|| {
            let particles = self.particles();
            Bvh::from_fn(particles.len(), |i| Aabb::of_points([&particles[i as usize]]))
        })
    }

    /// Contact by surface particles looks at the edges of the surface, too: two edges that cross between the particles of both are seen before
    /// particles have sunk in (spec/rigid-bodies.md 3.2). For meshes with few, sharp edges.
    pub fn meeting_by_edges(mut self) -> Self {
        self.by_edges = true;
        self
    }

    /// The edges that contact looks at; none unless asked for.
    pub(crate) fn edges(&self) -> Option<&Edges<D>> {
        (self.by_edges && self.is_by_particles()).then(|| self.edges.get_or_init(|| Edges::of(self)))
    }

    /// Does contact go through surface particles and distances rather than an exact form?
    pub(crate) fn is_by_particles(&self) -> bool {
        match &self.solid {
            Solid::Shape { .. } => {
                let parts = self.parts();
                parts.is_empty() || parts.iter().any(|part| part.geometry.is_by_particles())
            }
            Solid::Mesh { .. } | Solid::Sampled => self.convex.is_none(),
            _ => false,
        }
    }

    /// The solid as a convex polytope, if it is one.
    pub fn polytope(&self) -> Option<&Hull<D>> {
        match &self.solid {
            Solid::Hull(hull) => Some(hull),
            Solid::Cuboid { half } => Some(self.polytope.get_or_init(|| {
                let corner =
                    |k: usize| Vector::from_fn(|a, _| if k >> a & 1 == 1 { half[a] } else { -half[a] });
                let corners: Vec<Vector<D>> = (0..1usize << D).map(corner).collect();
                Hull::new(&corners).unwrap_or(Hull { points: corners, faces: Vec::new(), edges: Vec::new() })
            })),
            Solid::Sampled => self.convex.as_ref(),
            _ => None,
        }
    }

    /// A convex polytope whose surface and that of the solid are at most about `tolerance` (m) apart; `None` if the solid is not convex.
    #[inline(never)]
    pub(crate) fn outline(&self, tolerance: f64) -> Option<Cow<'_, Hull<D>>> {
        if let Some(exact) = self.polytope() {
            return Some(Cow::Borrowed(exact));
        }
        let find = || {
            let hull = Clip::around(&self.bounds)?.narrowed(tolerance, |corner| {
                let (distance, normal) = self.distance_and_normal(corner);
                (distance, normal, normal.dot(corner) - distance)
            })?;
            // What is not convex has surface deep inside, or some of it was cut off.
            let like = |particle: &Vector<D>| hull.height(particle).abs() <= tolerance;
            self.particles().iter().all(like).then_some(hull)
        };
        let (known, hull) = self.outline.get_or_init(|| (tolerance, find()));
        if *known == tolerance { hull.as_ref().map(Cow::Borrowed) } else { find().map(Cow::Owned) }
    }

    /// The surface as a closed mesh in object coordinates, for drawing and export; `None` for a half space.
    #[inline(never)]
    pub fn surface(&self) -> Option<SurfaceMesh<D>> {
        sampling::surface(self)
    }
}
