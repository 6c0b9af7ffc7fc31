//! Thin shells in the fluid: surfaces without volume that nothing passes or sees through (spec/fluid-base.md 3.12 and 3.13).
//!
//! Every cell centre and face centre lies on one side of a shell, so both sides have their own values; all that is asked is that no path, stencil or
//! neighbour reaches across. Segments are cast with a thickness against the surface, so that nothing slips through edges.

mod sight;
#[cfg(test)]
mod tests;

pub use sight::Sight;

use crate::domain::Domain;
use crate::error::FluidError;
use crate::model::FluidModel;
use crate::obstacle::Motion;
use serde::{Deserialize, Serialize};
use splashdown_geometry::Aabb;
use splashdown_geometry::grid::Index;
use splashdown_geometry::mesh::{Mesh, SurfaceMesh};
use splashdown_math::{Coordinates, Dim, Frame, Space, Vector};

/// Thickness of shells relative to the smallest spacing.
pub(crate) const THICKNESS: f64 = 1e-3;

/// Cells beyond a periodic side within which images of shells are kept.
const IMAGE_REACH: f64 = 30.0;

/// Most images of a shell on either side of the one next to the box.
const MOST_IMAGES: f64 = 4.0;

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

/// A thin sheet that someone else moves, such as cloth: fluid may be on both sides.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sheet<const D: usize> {
    /// Corners of its segments (2D) or triangles (3D).
    pub elements: Vec<[u32; D]>,
    /// Its points at the start of the step (m).
    pub before: Vec<Vector<D>>,
    /// Its points at the end of the step (m).
    pub after: Vec<Vector<D>>,
}

/// A face that sheets close: the line between the centres of its cells meets them.
#[derive(Debug, Clone, PartialEq)]
pub struct SheetFace<const D: usize> {
    /// Axis that it is normal to.
    pub axis: usize,
    /// Its index.
    pub face: Index<D>,
    /// Points of the sheets, numbered through all of them, with weights that sum to one: the mean of what the line meets.
    pub row: Vec<(u32, f64)>,
    /// Where on the way from the centre below to the one above sheets are met: first and last, 0 to 1.
    pub met: [f64; 2],
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
    /// Points before this one belong to shells with a motion of their own, the others to sheets.
    pub first_sheet_point: u32,
    /// Longest way of any point (m).
    longest: f64,
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

    /// The same, with sheets after the shells; with `dt` 0 they are where they end.
    #[inline(never)]
    pub fn with_sheets(
        model: &FluidModel<D>,
        sheets: &[Sheet<D>],
        time: f64,
        dt: f64,
    ) -> Result<Option<Self>, FluidError> {
        let own = Self::of(model, time, dt)?;
        if sheets.is_empty() {
            return Ok(own);
        }
        let nothing = || Mesh { points: vec![], elements: vec![] };
        let mut step = own.unwrap_or_else(|| Self {
            before: nothing(),
            after: nothing(),
            velocity: vec![],
            first_sheet_point: 0,
            longest: 0.0,
        });
        for sheet in sheets {
            let first = step.after.points.len() as u32;
            let start = if dt > 0.0 { &sheet.before } else { &sheet.after };
            let corners_exist =
                sheet.elements.iter().flatten().all(|&corner| (corner as usize) < start.len());
            if start.len() != sheet.after.len() || !corners_exist {
                return Err(FluidError::Mismatch("a sheet whose points do not fit its elements".into()));
            }
            let elements = sheet.elements.iter().map(|corners| corners.map(|corner| corner + first));
            step.before.elements.extend(elements.clone());
            step.after.elements.extend(elements);
            step.before.points.extend(start);
            step.after.points.extend(&sheet.after);
            let ways = start.iter().zip(&sheet.after).map(|(a, b)| (b - a).norm());
            step.longest = ways.fold(step.longest, f64::max);
            let inverse = if dt > 0.0 { 1.0 / dt } else { 0.0 };
            step.velocity.extend(start.iter().zip(&sheet.after).map(|(a, b)| (b - a) * inverse));
        }
        Ok(Some(step))
    }

    /// The shells of `model` between `time` and `time + dt` (s), by their own motion, with all their images around periodic axes that matter in the box.
    pub fn of(model: &FluidModel<D>, time: f64, dt: f64) -> Result<Option<Self>, FluidError> {
        let step = Self::new(&model.shells, time, dt)?.map(|step| step.wrapped(&model.domain));
        Ok(step.filter(|step| !step.before.elements.is_empty()))
    }

    /// Shells beyond a periodic side are also on the other; those that are nowhere near the box are left out.
    fn wrapped(self, domain: &Domain<D>) -> Self {
        let periodic = domain.periodic();
        if !periodic.contains(&true) {
            return self;
        }
        // As far beyond the box as anything looks.
        let (bounds, h) = (domain.grid().bounds(), domain.grid().spacing().max());
        let near = bounds.grown(IMAGE_REACH * h);
        let all: Vec<Aabb<D>> = (0..self.before.elements.len())
            .map(|element| {
                let (start, end) = (self.before.element_bounds(element), self.after.element_bounds(element));
                start.union(&end)
            })
            .collect();
        let whole = all.iter().fold(Aabb::empty(), |sum, part| sum.union(part));
        // Shifts by so many lengths of the box on each axis.
        let range: [[i64; 2]; D] = std::array::from_fn(|a| {
            if !periodic[a] || whole.is_empty() {
                return [0, 0];
            }
            let length = bounds.extent()[a];
            let (low, high) = ((near.min[a] - whole.max[a]) / length, (near.max[a] - whole.min[a]) / length);
            // A shell that is longer than many boxes need not be complete.
            let middle = (0.5 * (low + high)).round();
            [low.ceil().max(middle - MOST_IMAGES), high.floor().min(middle + MOST_IMAGES)].map(|k| k as i64)
        });
        let mut images = Self {
            before: Mesh { points: Vec::new(), elements: Vec::new() },
            after: Mesh { points: Vec::new(), elements: Vec::new() },
            velocity: Vec::new(),
            first_sheet_point: 0,
            longest: self.longest,
        };
        let mut shift = range.map(|[low, _]| low);
        if range.iter().any(|[low, high]| low > high) {
            return images;
        }
        loop {
            let by = Vector::<D>::from_fn(|a, _| shift[a] as f64 * bounds.extent()[a]);
            images.add_image(&self, &by, |element| {
                (0..D).all(|a| {
                    all[element].min[a] + by[a] <= near.max[a] && all[element].max[a] + by[a] >= near.min[a]
                })
            });
            let Some(axis) = (0..D).find(|&a| shift[a] < range[a][1]) else { return images };
            shift[axis] += 1;
            for a in 0..axis {
                shift[a] = range[a][0];
            }
        }
    }

    /// Adds the elements of `of` that `matters` allows, moved by `by` (m).
    fn add_image(&mut self, of: &Self, by: &Vector<D>, matters: impl Fn(usize) -> bool) {
        let wanted: Vec<usize> = (0..of.before.elements.len()).filter(|&element| matters(element)).collect();
        if wanted.is_empty() {
            return;
        }
        let first = self.before.points.len() as u32;
        self.before.points.extend(of.before.points.iter().map(|point| point + by));
        self.after.points.extend(of.after.points.iter().map(|point| point + by));
        self.velocity.extend_from_slice(&of.velocity);
        self.first_sheet_point = self.before.points.len() as u32;
        let elements = wanted.iter().map(|&element| of.before.elements[element].map(|c| c + first));
        self.before.elements.extend(elements.clone());
        self.after.elements.extend(elements);
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
        let longest = before.iter().zip(&after).map(|(a, b)| (b - a).norm()).fold(0.0, f64::max);
        let velocity = before
            .iter()
            .zip(&after)
            .map(|(a, b)| if dt > 0.0 { (b - a) / dt } else { Vector::zeros() })
            .collect();
        Ok(Some(Self {
            before: Mesh { points: before, elements: elements.clone() },
            first_sheet_point: after.len() as u32,
            after: Mesh { points: after, elements },
            velocity,
            longest,
        }))
    }
}
