//! Fracture: what a break keeps, what its pieces look like, and bodies that break while they move.

mod impact;
mod invariants;
mod pieces;
mod soak;
mod table;
mod voxel_inertia;

use crate::{Case, CaseError};
use splashdown_geometry::level_set::LevelSet;
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin, Vector};
use splashdown_rigid::fracture::{BreakRule, Breakable, Fragment, VoxelSums, voxelize};
use splashdown_rigid::{Body, BodyState, Geometry, Kind, MassProperties};
use std::sync::Arc;

#[rustfmt::skip]
pub(crate) const CASES: &[Case] = &[
    voxel_inertia::CASE,
    invariants::CASE,
    pieces::CASE,
    soak::CASE,
    impact::CASE,
    table::CASE,
    table::LARGE,
];

/// A breakable body of density 1000 kg/m^3 whose mass properties are those of its voxels, `cells` on its longest side.
pub(super) fn voxel_body<const D: usize>(
    shape: Shape<D>,
    cells: u32,
    rule: BreakRule<D>,
) -> Result<Body<D>, CaseError>
where
    Dim<D>: Space<D>,
{
    let failed = |error: &dyn std::fmt::Display| CaseError::new("making a body of voxels", error);
    let whole = Geometry::shape(shape, cells as usize).map_err(|error| failed(&error))?;
    let (phi, _) = voxelize(&whole, cells).map_err(|error| failed(&error))?;
    let moments = VoxelSums::of(&phi).moments(phi.lattice()).ok_or_else(|| failed(&"no voxels"))?;
    let (properties, placement) = MassProperties::principal(moments.volume, &moments.centre, &moments.second)
        .map_err(|error| failed(&error))?;
    let particles = whole.particles().iter().map(|x| placement.to_world(x)).collect();
    let level_set = LevelSet::from_field(phi).map_err(|error| failed(&error))?;
    let geometry = Geometry::sampled(level_set, placement.inverse(), particles, properties);
    let mass = 1000.0 * properties.volume;
    let body = Body::with_geometry("body", Kind::Dynamic, mass, Arc::new(geometry))
        .map_err(|error| failed(&error))?;
    Ok(body.breakable(Breakable::new(1.0, Arc::new(rule))))
}

/// Mass, linear and angular momentum about the origin, and kinetic energy.
pub(super) struct Totals<const D: usize>
where
    Dim<D>: Space<D>,
{
    pub mass: f64,
    pub momentum: Vector<D>,
    pub angular: Spin<D>,
    pub energy: f64,
}

impl<const D: usize> Totals<D>
where
    Dim<D>: Space<D>,
{
    pub fn of<'a>(bodies: impl Iterator<Item = (&'a Body<D>, &'a BodyState<D>)>) -> Self {
        let start = Self { mass: 0.0, momentum: Vector::zeros(), angular: Spin::<D>::zero(), energy: 0.0 };
        bodies.fold(start, |sum, (body, state)| {
            let momentum = state.velocity * body.mass;
            Self {
                mass: sum.mass + body.mass,
                momentum: sum.momentum + momentum,
                angular: sum.angular + state.angular_momentum + Dim::cross(&state.frame.position, &momentum),
                energy: sum.energy + state.kinetic_energy(body),
            }
        })
    }

    pub fn of_fragments(fragments: &[Fragment<D>]) -> Self {
        Self::of(fragments.iter().map(|fragment| (&fragment.body, &fragment.state)))
    }

    /// Largest relative difference to `other`, whose own size is the unit.
    pub fn error(&self, other: &Self) -> [f64; 4] {
        [
            (self.mass - other.mass).abs() / other.mass,
            (self.momentum - other.momentum).norm() / other.momentum.norm(),
            (self.angular - other.angular).norm() / other.angular.norm(),
            (self.energy - other.energy).abs() / other.energy,
        ]
    }
}

/// A frame away from the origin and turned, the same for all cases.
pub(super) fn somewhere<const D: usize>() -> Frame<D>
where
    Dim<D>: Space<D>,
{
    Frame {
        position: Vector::from_fn(|a, _| 0.7 - 1.3 * a as f64),
        rotation: Dim::exp(&Spin::<D>::from_slice(&[0.4, -0.9, 0.6])),
    }
}

/// Smallest principal moment of a body over its mass and the square of its size (no unit): positive for every real solid.
pub(super) fn least_moment<const D: usize>(body: &Body<D>) -> f64
where
    Dim<D>: Space<D>,
{
    let n = <Dim<D> as Space<D>>::SPIN;
    let entries = Dim::<D>::inertia_entries(&body.inertia);
    (0..n).map(|i| entries[i * n + i]).fold(f64::INFINITY, f64::min) / body.mass
}
