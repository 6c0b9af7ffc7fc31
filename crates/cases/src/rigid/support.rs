//! What several of these cases need: free bodies, and worlds of jointed boxes.

use crate::CaseError;
use splashdown_couple::World;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::{Body, BodyState, Joint, JointKind, Kind, OrientationOrder};

pub(super) const ORDERS: [OrientationOrder; 3] =
    [OrientationOrder::First, OrientationOrder::Second, OrientationOrder::Third];

/// Turns any error into that of a case.
pub(super) fn failed<E: std::fmt::Display>(doing: &'static str) -> impl Fn(E) -> CaseError {
    move |error| CaseError::new(doing, error)
}

/// A free body of mass 1 with the given principal moments (kg m^2).
pub(super) fn free_body(moments: [f64; 3]) -> Result<Body<3>, CaseError> {
    Body::new("body", Kind::Dynamic, 1.0, &moments).map_err(failed("building a body"))
}

/// `body` turned by a rotation vector and spinning with `spin` (rad/s) in its own axes.
pub(super) fn spinning(body: &Body<3>, rotation_vector: [f64; 3], spin: [f64; 3]) -> BodyState<3> {
    let frame = Frame { position: Vector::zeros(), rotation: Dim::<3>::exp(&Vector::from(rotation_vector)) };
    let angular = Dim::<3>::rotate_spin(&frame.rotation, &Vector::from(spin));
    BodyState::new(body, frame, &Twist { linear: Vector::zeros(), angular })
}

/// Gravity along -y (m/s^2).
pub(super) fn gravity<const D: usize>(g: f64) -> Vector<D> {
    Vector::from_fn(|axis, _| if axis == 1 { -g } else { 0.0 })
}

/// A solid box of the given edges (m) and mass (kg).
pub(super) fn add_box<const D: usize>(
    world: &mut World<D>,
    name: &str,
    kind: Kind,
    mass: f64,
    edges: Vector<D>,
    (frame, twist): (Frame<D>, Twist<D>),
) -> Result<usize, CaseError>
where
    Dim<D>: Space<D>,
{
    let moments: Vec<f64> = Dim::<D>::box_inertia(&edges).iter().map(|moment| moment * mass).collect();
    let body = Body::new(name, kind, mass, &moments).map_err(failed("building a body"))?;
    Ok(world.add_body(body, frame, twist))
}

/// Joins two bodies (`None` is the world) where they are now, at `point` with the joint's x along `axis`.
pub(super) fn joint<const D: usize>(
    world: &World<D>,
    kind: JointKind,
    [parent, child]: [Option<usize>; 2],
    point: Vector<D>,
    axis: Option<Vector<D>>,
) -> Result<Joint<D>, CaseError>
where
    Dim<D>: Space<D>,
{
    let frames: Vec<Frame<D>> = world.state().bodies.iter().map(|body| body.frame).collect();
    let name = format!("joint {}", world.model().joints.len());
    Joint::between(name, kind, parent, child, &Joint::frame_at(point, axis.as_ref()), &frames)
        .map_err(failed("making a joint"))
}

/// A row of `count` boxes along x from the origin, each `length` long and joined to the one before it; `first` is the kind of the first box.
pub(super) fn row<const D: usize>(
    world: &mut World<D>,
    count: usize,
    length: f64,
    mass: f64,
    first: Kind,
    kind: impl Fn(usize) -> (JointKind, Option<Vector<D>>),
) -> Result<(), CaseError>
where
    Dim<D>: Space<D>,
{
    let along = |distance: f64| Vector::<D>::from_fn(|axis, _| if axis == 0 { distance } else { 0.0 });
    for n in 0..count {
        let frame = Frame { position: along((n as f64 + 0.5) * length), rotation: Dim::<D>::identity() };
        let edges = Vector::from_fn(|axis, _| if axis == 0 { 0.9 * length } else { 0.3 * length });
        let what = if n == 0 { first } else { Kind::Dynamic };
        let body = add_box(world, &format!("box {n}"), what, mass, edges, (frame, Twist::zero()))?;
        if n > 0 {
            let (kind, axis) = kind(n - 1);
            let joint = joint(world, kind, [Some(body - 1), Some(body)], along(n as f64 * length), axis)?;
            world.add_joint(joint).map_err(failed("adding a joint"))?;
        }
    }
    Ok(())
}

/// Steps `world` `steps` times by `dt` (s).
pub(super) fn advance<const D: usize>(world: &mut World<D>, steps: usize, dt: f64) -> Result<(), CaseError>
where
    Dim<D>: Space<D>,
{
    for _ in 0..steps {
        world.step(dt).map_err(failed("stepping"))?;
    }
    Ok(())
}

/// Largest error of a locked coordinate (m or rad).
pub(super) fn joint_error<const D: usize>(world: &World<D>) -> f64
where
    Dim<D>: Space<D>,
{
    world.diagnostics().joints.map_or(0.0, |errors| errors.linear_error.max(errors.angular_error))
}
