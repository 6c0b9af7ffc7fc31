//! Contact of particles with objects that are given by a signed distance: shapes that rest, move or turn, level sets, and closed surfaces that deform
//! (spec 3.15), with Coulomb friction.

mod friction;
mod layer;
mod partition;
mod surface;

pub use friction::{Touch, friction_map, theta};
pub use layer::Layer;
pub(crate) use layer::ranks;
pub use surface::SurfaceObstacle;

use crate::force::read;
use partition::Partition;
use splashdown_geometry::bounds::Aabb;
use splashdown_geometry::level_set::LevelSet;
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_parallel::prelude::*;
use std::sync::Arc;

/// What an obstacle is made of.
#[derive(Debug, Clone)]
pub enum ObstacleShape<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// A shape with an analytic distance, in object coordinates.
    Shape(Shape<D>),
    /// A level set on a grid, in object coordinates.
    LevelSet(Arc<LevelSet<D>>),
    /// A closed surface in world coordinates whose nodes move on their own.
    Surface(SurfaceObstacle<D>),
    /// Whatever has a signed distance, in object coordinates: a rigid body.
    Field(Arc<dyn DistanceField<D>>),
}

/// A solid that is known by its signed distance, in object coordinates.
pub trait DistanceField<const D: usize>: std::fmt::Debug + Send + Sync {
    /// Signed distance (m, negative inside) and outward unit normal at `x`.
    fn distance_and_normal(&self, x: &Vector<D>) -> (f64, Vector<D>);
    /// Box around it (m); may be unbounded.
    fn bounds(&self) -> Aabb<D>;
}

/// An object that particles collide with and that they do not move.
#[derive(Debug, Clone)]
pub struct Obstacle<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Name, for messages.
    pub name: String,
    /// What it is made of.
    pub shape: ObstacleShape<D>,
    /// Where it is at the start of the step.
    pub start: Frame<D>,
    /// Where it is at the end of the step.
    pub end: Frame<D>,
    /// How it moves at the end of the step.
    pub twist: Twist<D>,
    /// Coefficient of friction.
    pub friction: f64,
    /// Distance (m) at which particles are held from its surface.
    pub thickness: f64,
    /// Particles that pass through it.
    pub lets_through: Vec<std::ops::Range<u32>>,
}

/// Distance, outward normal and velocity of an obstacle at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probe<const D: usize> {
    /// Signed distance less the thickness (m).
    pub distance: f64,
    /// Unit normal, outwards.
    pub normal: Vector<D>,
    /// Velocity of the obstacle's material (m/s).
    pub velocity: Vector<D>,
}

impl<const D: usize> Obstacle<D>
where
    Dim<D>: Space<D>,
{
    /// An obstacle at rest.
    pub fn fixed(name: impl Into<String>, shape: Shape<D>, frame: Frame<D>, friction: f64) -> Self {
        Self {
            name: name.into(),
            shape: ObstacleShape::Shape(shape),
            start: frame,
            end: frame,
            twist: Twist::zero(),
            friction,
            thickness: 0.0,
            lets_through: Vec::new(),
        }
    }

    /// Does it stop this particle?
    pub(crate) fn stops(&self, particle: u32) -> bool {
        !self.lets_through.iter().any(|range| range.contains(&particle))
    }

    /// The same where it is at the start of a step of `dt` seconds, moving as it does in the step.
    pub(crate) fn at_start(&self, dt: f64) -> Self {
        let shape = match &self.shape {
            ObstacleShape::Surface(surface) => ObstacleShape::Surface(surface.before(dt)),
            other => other.clone(),
        };
        Self { shape, end: self.start, ..self.clone() }
    }

    /// Moves on: the end of the last step is the start of the next, which ends `dt` seconds later with the same twist.
    pub fn advance(&mut self, dt: f64) {
        self.start = self.end;
        self.end = self.start.moved(&self.twist, dt);
    }

    /// What the obstacle is at the world point `x` at the end of the step.
    #[inline(never)]
    pub fn probe(&self, x: &Vector<D>) -> Probe<D> {
        let (distance, normal, velocity) = match &self.shape {
            ObstacleShape::Shape(shape) => {
                let (distance, normal) = shape.distance_and_normal(&self.end.to_object(x));
                (distance, self.end.vector_to_world(&normal), self.twist.at(&(x - self.end.position)))
            }
            ObstacleShape::LevelSet(level_set) => {
                let local = self.end.to_object(x);
                let normal = self.end.vector_to_world(&level_set.normal(&local));
                (level_set.value(&local), normal, self.twist.at(&(x - self.end.position)))
            }
            ObstacleShape::Surface(surface) => surface.probe(x),
            ObstacleShape::Field(field) => {
                let (distance, normal) = field.distance_and_normal(&self.end.to_object(x));
                (distance, self.end.vector_to_world(&normal), self.twist.at(&(x - self.end.position)))
            }
        };
        Probe { distance: distance - self.thickness, normal, velocity }
    }

    /// Box around everything within `reach` (m) of its surface, inside included.
    pub(crate) fn reach_bounds(&self, reach: f64) -> Aabb<D> {
        self.bounds().grown(reach)
    }

    /// A box in the world around the box `own` of its coordinates.
    fn placed(&self, own: Aabb<D>) -> Aabb<D> {
        if !own.min.iter().chain(own.max.iter()).all(|c| c.is_finite()) {
            return Aabb::everything();
        }
        let mut corners = Vec::new();
        for bits in 0..1usize << D {
            let corner =
                Vector::<D>::from_fn(
                    |axis, _| {
                        if bits >> axis & 1 == 1 { own.max[axis] } else { own.min[axis] }
                    },
                );
            corners.push(self.end.to_world(&corner));
        }
        Aabb::of_points(&corners).grown(self.thickness)
    }

    /// Box around it at the end of the step, grown by its thickness; everything for obstacles without bounds.
    pub(crate) fn bounds(&self) -> Aabb<D> {
        match &self.shape {
            ObstacleShape::Shape(shape) => self.placed(shape.bounds()),
            ObstacleShape::Field(field) => self.placed(field.bounds()),
            ObstacleShape::LevelSet(_) => Aabb::everything(),
            ObstacleShape::Surface(surface) => surface.bounds().grown(self.thickness),
        }
    }
}

/// Which particles are tested against obstacles.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Colliders {
    /// All, inner ones included: for soft bodies and small objects.
    #[default]
    All,
    /// Only these, such as the nodes of the surface.
    These(Vec<u32>),
}

impl Colliders {
    /// The candidates inside each of many boxes, ascending; `None` for boxes without bounds, and where there are so few that looking at all particles for each is as fast.
    pub(crate) fn inside<const D: usize>(
        &self,
        position: &[f64],
        boxes: &[Aabb<D>],
    ) -> Vec<Option<Vec<u32>>> {
        let Some(partition) = Partition::new(boxes) else { return vec![None; boxes.len()] };
        let mut lists: Vec<_> = boxes.iter().map(|own| own.is_bounded().then(Vec::new)).collect();
        let held = |node: u32| {
            let found = partition.holding(&read::<D>(position, node));
            (!found.is_empty()).then_some((node, found))
        };
        for (node, boxes) in self.each::<D, _>(position, held) {
            for index in boxes {
                lists[index as usize].get_or_insert_default().push(node);
            }
        }
        lists
    }

    /// Calls `test` on the candidates inside `bounds`, in parallel, and returns what it gives in the order of the particles. Of the candidates it looks at those of `near`, ascending, if that is given.
    pub(crate) fn find<const D: usize, T: Send>(
        &self,
        position: &[f64],
        bounds: &Aabb<D>,
        near: Option<&[u32]>,
        test: impl Fn(u32, Vector<D>) -> Option<T> + Sync,
    ) -> Vec<T> {
        let inside = |node: u32| {
            let x = read::<D>(position, node);
            if bounds.contains(&x) { test(node, x) } else { None }
        };
        match near {
            Some(nodes) => nodes.par_iter().with_min_len(2048).filter_map(|&node| inside(node)).collect(),
            None => self.each::<D, _>(position, inside),
        }
    }

    fn each<const D: usize, T: Send>(
        &self,
        position: &[f64],
        test: impl Fn(u32) -> Option<T> + Sync,
    ) -> Vec<T> {
        match self {
            Self::All => {
                (0..(position.len() / D) as u32).into_par_iter().with_min_len(2048).filter_map(test).collect()
            }
            Self::These(nodes) => {
                nodes.par_iter().with_min_len(2048).filter_map(|&node| test(node)).collect()
            }
        }
    }
}

/// How positions and velocities are corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CollisionMethod {
    /// Along the path of the particle, with friction from contact forces: exact on inclines.
    #[default]
    Swept,
    /// Projection along the normal, friction from the normal velocity only: too slippery, for comparison.
    Projected,
    /// As `Projected`, with the position change counted as velocity: for comparison.
    ProjectedWithPush,
}

/// Candidates, ascending, with those that have been moved since they were found.
pub(crate) fn with_moved(mut near: Vec<u32>, moved: impl Iterator<Item = u32>) -> Vec<u32> {
    near.extend(moved);
    near.sort_unstable();
    near.dedup();
    near
}

/// The motion of a step before it meets obstacles.
pub(crate) struct Path<'a> {
    /// Positions at the start of the step (m).
    pub position: &'a [f64],
    /// Velocities that lead to the end positions (m/s).
    pub moving: &'a [f64],
    /// Length of the step (s).
    pub dt: f64,
}

/// Particles against obstacles: those that already met one, and where.
pub(crate) struct Collision<'a, const D: usize> {
    pub path: Path<'a>,
    pub colliders: &'a Colliders,
    pub method: CollisionMethod,
    /// Greatest speed (m/s) at which what is inside is pushed out, in the swept method.
    pub push_out: f64,
    touches: Vec<Touch<D>>,
    touched: Vec<bool>,
    obstacles: u32,
}

impl<'a, const D: usize> Collision<'a, D>
where
    Dim<D>: Space<D>,
{
    pub fn new(path: Path<'a>, colliders: &'a Colliders, method: CollisionMethod, push_out: f64) -> Self {
        let touched = vec![false; path.position.len() / D];
        Self { path, colliders, method, push_out, touches: Vec::new(), touched, obstacles: 0 }
    }

    /// The contacts, in the order of obstacles and particles.
    pub fn into_touches(self) -> Vec<Touch<D>> {
        self.touches
    }

    /// Collides the motion against the next obstacle: corrects `next` (the end positions) and `velocity` (that of the start of the step). `near` are the candidates in its box before
    /// any was moved, if they are known.
    pub fn meet(
        &mut self,
        obstacle: &Obstacle<D>,
        near: Option<Vec<u32>>,
        movable: impl Fn(u32) -> bool + Sync,
        next: &mut [f64],
        velocity: &mut [f64],
    ) {
        let Path { position, moving, dt } = self.path;
        let (method, push_out) = (self.method, self.push_out);
        let (touched, index) = (&self.touched, self.obstacles);
        let near = near.map(|near| with_moved(near, self.touches.iter().map(|touch| touch.node)));
        let found = self.colliders.find::<D, _>(next, &obstacle.bounds(), near.as_deref(), |node, x| {
            if !movable(node) || !obstacle.stops(node) {
                return None;
            }
            let probe = obstacle.probe(&x);
            if !(probe.distance < 0.0) {
                return None;
            }
            let v = read::<D>(velocity, node);
            let (x_new, v_new) = match method {
                CollisionMethod::Swept => {
                    let (x0, along) = (read::<D>(position, node), read::<D>(moving, node));
                    // A second obstacle sees the motion that the first one left.
                    let along = if touched[node as usize] { (x - x0) / dt } else { along };
                    friction::swept(obstacle, &probe, &x0, &along, &v, dt, push_out)
                }
                _ => friction::projected(
                    obstacle,
                    &probe,
                    &x,
                    &v,
                    dt,
                    method == CollisionMethod::ProjectedWithPush,
                ),
            };
            let touch = Touch {
                node,
                obstacle: index,
                normal: probe.normal,
                body_velocity: probe.velocity,
                friction: obstacle.friction,
            };
            Some((touch, x_new, v_new))
        });
        for (touch, x, v) in found {
            let at = D * touch.node as usize;
            next[at..at + D].copy_from_slice(x.as_slice());
            velocity[at..at + D].copy_from_slice(v.as_slice());
            self.touched[touch.node as usize] = true;
            self.touches.push(touch);
        }
        self.obstacles += 1;
    }
}
