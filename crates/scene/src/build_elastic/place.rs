//! Where particles of bodies of elements are: copies side by side, disturbed starts, and what is inside boxes and rigid bodies.

use super::{point, wrong};
use crate::build::BuildError;
use crate::description::{LoadDescription, Repeat};
use splashdown_couple::{Binding, World};
use splashdown_deformable::Load;
use splashdown_math::{Dim, Space, Vector};

/// A force that is shared by the particles of a box by their masses.
pub(super) fn load<const D: usize>(
    name: &str,
    own: &LoadDescription,
    points: &[Vector<D>],
    first: u32,
    mass: &[f64],
) -> Result<Load<D>, BuildError> {
    let (from, to) = (point::<D>(name, &own.from)?, point::<D>(name, &own.to)?);
    let force = point::<D>(name, &own.force)?;
    let slack = 1e-9;
    let inside =
        |x: &Vector<D>| (0..D).all(|axis| x[axis] >= from[axis] - slack && x[axis] <= to[axis] + slack);
    let nodes = (0..points.len()).filter(|&node| inside(&points[node]));
    let nodes: Vec<u32> = nodes.map(|node| first + node as u32).collect();
    let total: f64 = nodes.iter().map(|&node| mass[node as usize]).sum();
    if nodes.is_empty() {
        return Err(wrong(name, "no point of its rest shape is in the box of `elastic.load`"));
    }
    Ok(Load::new(nodes.into_iter().map(|node| (node, force * (mass[node as usize] / total))).collect()))
}

/// The particles inside the rigid body `carrier`.
pub(super) fn bindings<const D: usize>(
    world: &World<D>,
    carrier: &str,
    first: u32,
    points: &[Vector<D>],
) -> Result<Vec<Binding<D>>, BuildError>
where
    Dim<D>: Space<D>,
{
    let bodies = &world.model().bodies;
    let Some(index) = bodies.iter().position(|body| body.name == carrier) else {
        return Err(wrong(carrier, "there is no rigid body of this name"));
    };
    let Some(geometry) = &bodies[index].geometry else { return Ok(Vec::new()) };
    let frame = world.state().bodies[index].frame;
    Ok((points.iter().enumerate())
        .filter_map(|(node, x)| {
            let place = frame.to_object(x);
            let inside = geometry.signed_distance(&place) < 1e-9;
            inside.then_some(Binding { particle: first + node as u32, body: index as u32, place })
        })
        .collect())
}

/// Where the copies of a body stand (m); one at zero without `repeat`.
pub(super) fn offsets<const D: usize>(
    name: &str,
    repeat: Option<&Repeat>,
) -> Result<Vec<Vector<D>>, BuildError> {
    let Some(repeat) = repeat else { return Ok(vec![Vector::zeros()]) };
    if repeat.count.len() != D || repeat.spacing.len() != D {
        return Err(wrong(name, format!("`repeat` needs {D} counts and spacings")));
    }
    let mut all = vec![Vector::<D>::zeros()];
    for axis in 0..D {
        all = all
            .into_iter()
            .flat_map(|offset| {
                (0..repeat.count[axis]).map(move |n| {
                    let mut moved = offset;
                    moved[axis] += n as f64 * repeat.spacing[axis];
                    moved
                })
            })
            .collect();
    }
    Ok(all)
}

/// Uniform numbers from -1 to 1 that a seed determines.
pub(super) struct Noise(u64);

impl Noise {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(3_037_000_493))
    }

    pub(super) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}
