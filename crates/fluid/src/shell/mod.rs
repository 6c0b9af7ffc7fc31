//! Thin shells in the fluid: surfaces without volume that nothing passes or sees through (spec/fluid-base.md 3.12 and 3.13).
//!
//! Every cell centre and face centre lies on one side of a shell, so both sides have their own values; all that is asked is that no path, stencil or
//! neighbour reaches across. Segments are cast with a thickness against the surface, so that nothing slips through edges.

mod sight;
#[cfg(test)]
mod tests;

pub use sight::Sight;

use crate::error::FluidError;
use crate::obstacle::Motion;
use serde::{Deserialize, Serialize};
use splashdown_geometry::mesh::{Mesh, SurfaceMesh};
use splashdown_math::{Coordinates, Dim, Frame, Space, Vector};

/// Thickness of shells relative to the smallest spacing.
pub(crate) const THICKNESS: f64 = 1e-3;

/// A surface of segments (2D) or triangles (3D), closed or not, that moves rigidly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Shell<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// For messages.
    pub name: String,
    /// In object coordinates.
    pub mesh: SurfaceMesh<D>,
    /// Where it is at time zero.
    pub start: Frame<D>,
    /// How it moves.
    pub motion: Motion<D>,
}

impl<const D: usize> Shell<D>
where
    Dim<D>: Space<D>,
{
    /// A shell at rest; `mesh` in world coordinates.
    pub fn fixed(name: impl Into<String>, mesh: SurfaceMesh<D>) -> Self {
        Self { name: name.into(), mesh, start: Frame::identity(), motion: Motion::Fixed }
    }

    /// Largest speed (m/s) of its points at any time.
    pub fn fastest(&self) -> f64 {
        match &self.motion {
            Motion::Fixed | Motion::External => 0.0,
            Motion::Steady(twist) => {
                let furthest = self.mesh.points.iter().map(|point| point.norm()).fold(0.0, f64::max);
                twist.linear.norm() + twist.angular.norm() * furthest
            }
            Motion::Oscillating { amplitude, frequency } => {
                amplitude.norm() * (std::f64::consts::TAU * frequency).abs()
            }
        }
    }

    /// Its points at `time` (m).
    pub fn points(&self, time: f64) -> Vec<Vector<D>> {
        let frame = match &self.motion {
            Motion::Fixed | Motion::External => self.start,
            Motion::Steady(twist) => self.start.moved(twist, time),
            Motion::Oscillating { amplitude, frequency } => {
                let mut frame = self.start;
                frame.position += amplitude * (std::f64::consts::TAU * frequency * time).sin();
                frame
            }
        };
        self.mesh.points.iter().map(|point| frame.to_world(point)).collect()
    }
}

/// All shells during one step: points go from `before` to `after` on straight lines.
#[derive(Debug, Clone, PartialEq)]
pub struct ShellStep<const D: usize> {
    /// At the start of the step.
    pub before: SurfaceMesh<D>,
    /// At its end.
    pub after: SurfaceMesh<D>,
    /// Velocities of the points (m/s).
    pub velocity: Vec<Vector<D>>,
}

impl<const D: usize> ShellStep<D>
where
    Dim<D>: Space<D>,
{
    /// The shells between `time` and `time + dt` (s), by their own motion; `None` if there are none. With `dt` 0 they have no velocity.
    pub fn new(shells: &[Shell<D>], time: f64, dt: f64) -> Result<Option<Self>, FluidError> {
        let points = |time: f64| shells.iter().map(|shell| shell.points(time)).collect::<Vec<_>>();
        Self::between(shells, &points(time), &points(time + dt), dt)
    }

    /// The shells between given points (m), one list a shell.
    pub fn between(
        shells: &[Shell<D>],
        before: &[Vec<Vector<D>>],
        after: &[Vec<Vector<D>>],
        dt: f64,
    ) -> Result<Option<Self>, FluidError> {
        if shells.is_empty() {
            return Ok(None);
        }
        let fits = |points: &[Vec<Vector<D>>]| {
            points.len() == shells.len()
                && points.iter().zip(shells).all(|(p, s)| p.len() == s.mesh.points.len())
        };
        if !fits(before) || !fits(after) {
            return Err(FluidError::Mismatch("points of shells that are not those of this fluid".into()));
        }
        let mut elements = Vec::new();
        let mut first = 0;
        for shell in shells {
            elements.extend(shell.mesh.elements.iter().map(|corners| corners.map(|corner| corner + first)));
            first += shell.mesh.points.len() as u32;
        }
        let (before, after) = (before.concat(), after.concat());
        let velocity = before
            .iter()
            .zip(&after)
            .map(|(a, b)| if dt > 0.0 { (b - a) / dt } else { Vector::zeros() })
            .collect();
        Ok(Some(Self {
            before: Mesh { points: before, elements: elements.clone() },
            after: Mesh { points: after, elements },
            velocity,
        }))
    }
}
