//! Particles that left the surface: drops that fly, and bubbles that rise (spec/fluid-base.md 3.10).

use crate::advect::Sampler;
use crate::domain::Domain;
use crate::walls::Walls;
use serde::{Deserialize, Serialize};
use splashdown_geometry::grid::{FaceFields, Field, Interpolation, Reach};
use splashdown_math::{Dim, Space, Vector};
use splashdown_parallel::prelude::*;

/// Share of gravity with which bubbles rise against it.
const BUOYANCY: f64 = 0.3;

/// A particle on its own way.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Flying<const D: usize> {
    /// Position (m).
    pub position: Vector<D>,
    /// Velocity (m/s).
    pub velocity: Vector<D>,
    /// Radius (m).
    pub radius: f64,
}

/// Drops and bubbles.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Removed<const D: usize> {
    /// Liquid in the air: ballistic.
    pub drops: Vec<Flying<D>>,
    /// Air in the liquid: carried along, and rising.
    pub bubbles: Vec<Flying<D>>,
}

impl<const D: usize> Removed<D>
where
    Dim<D>: Space<D>,
{
    /// Volume (m^3; m^2 in 2D) of all drops.
    pub fn drop_volume(&self) -> f64 {
        self.drops.iter().map(|drop| <Dim<D> as Space<D>>::BALL_VOLUME * drop.radius.powi(D as i32)).sum()
    }

    /// Moves all for `dt` seconds. Drops that are back in the liquid and bubbles that are back in the air are taken out and returned
    /// (drops first), as are those that left the domain, which are dropped.
    pub(crate) fn advance(
        &mut self,
        domain: &Domain<D>,
        walls: &Walls<D>,
        velocity: &FaceFields<D>,
        phi: &Field<D>,
        gravity: &Vector<D>,
        dt: f64,
    ) -> [Vec<Flying<D>>; 2] {
        let bounds = domain.grid().bounds();
        let periodic = domain.periodic();
        let wrap = |x: &mut Vector<D>| {
            for a in (0..D).filter(|&a| periodic[a]) {
                let length = bounds.max[a] - bounds.min[a];
                x[a] = bounds.min[a] + (x[a] - bounds.min[a]).rem_euclid(length);
            }
        };
        self.drops.par_iter_mut().with_min_len(256).for_each(|drop| {
            drop.velocity += gravity * dt;
            drop.position += drop.velocity * dt;
            wrap(&mut drop.position);
            // Walls and solids stop a drop: it stays on the surface and slides.
            for a in 0..D {
                for side in 0..2 {
                    let limit = if side == 0 { bounds.min[a] } else { bounds.max[a] };
                    let beyond = if side == 0 { drop.position[a] < limit } else { drop.position[a] > limit };
                    if beyond && domain.sides()[a][side].is_wall() {
                        drop.position[a] = limit;
                        drop.velocity[a] = 0.0;
                    }
                }
            }
            let cell = domain.grid().cell_of(&drop.position);
            if domain.grid().has_cell(cell) && walls.is_solid(cell) {
                drop.position -= drop.velocity * dt;
                drop.velocity = Vector::zeros();
            }
        });
        let surface = Sampler::new(phi);
        self.bubbles.par_iter_mut().with_min_len(256).for_each(|bubble| {
            let flow = velocity.sample(&bubble.position, Interpolation::Linear, Reach::Ghost);
            bubble.velocity = flow - gravity * (BUOYANCY * dt);
            bubble.position += bubble.velocity * dt;
            wrap(&mut bubble.position);
        });
        let mut back = [Vec::new(), Vec::new()];
        self.drops.retain(|drop| {
            let inside = bounds.contains(&drop.position);
            let wet = inside && surface.value(&drop.position) <= 0.0;
            if wet {
                back[0].push(*drop);
            }
            inside && !wet
        });
        self.bubbles.retain(|bubble| {
            let inside = bounds.contains(&bubble.position);
            let dry = inside && surface.value(&bubble.position) > 0.0;
            if dry {
                back[1].push(*bubble);
            }
            inside && !dry
        });
        back
    }
}
