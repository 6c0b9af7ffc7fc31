//! The rules that make a frame consistent; checked before it is written and after it is read.

use super::{Bodies, Frame, Geometry, Part, Shape};
use std::collections::HashSet;

/// A frame whose arrays do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("part \"{part}\": {problem}")]
pub struct Inconsistent {
    /// Name of the part, empty for the frame itself.
    pub part: String,
    /// What does not fit.
    pub problem: String,
}

impl Frame {
    /// Checks that names are unique, sizes agree and every index points at something.
    pub fn validate(&self) -> Result<(), Inconsistent> {
        let in_frame = |problem: String| Inconsistent { part: String::new(), problem };
        if !matches!(self.dimension, 2 | 3) {
            return Err(in_frame(format!("dimension {} is not 2 or 3", self.dimension)));
        }
        let mut names = HashSet::new();
        for part in &self.parts {
            if !names.insert(part.name.as_str()) {
                return Err(in_frame(format!("two parts are called \"{}\"", part.name)));
            }
            part.problem(self.dimension)
                .map_or(Ok(()), |problem| Err(Inconsistent { part: part.name.clone(), problem }))?;
        }
        Ok(())
    }
}

impl Part {
    fn problem(&self, dimension: usize) -> Option<String> {
        if let Some(problem) = geometry_problem(&self.geometry, dimension) {
            return Some(problem);
        }
        let mut names = HashSet::new();
        self.attributes.iter().find_map(|attribute| {
            let name = &attribute.name;
            if !names.insert((name, attribute.association as u8)) {
                return Some(format!("two attributes are called \"{name}\""));
            }
            let Some(entries) = self.geometry.entries(attribute.association, dimension) else {
                return Some(format!(
                    "attribute \"{name}\" lies on {:?}, which {} do not have",
                    attribute.association,
                    self.geometry.kind()
                ));
            };
            let expected = entries.checked_mul(attribute.components);
            (expected != Some(attribute.data.len()) || attribute.components == 0).then(|| {
                format!(
                    "attribute \"{name}\" has {} numbers, but {entries} entries of {} components are needed",
                    attribute.data.len(),
                    attribute.components
                )
            })
        })
    }
}

fn geometry_problem(geometry: &Geometry, dimension: usize) -> Option<String> {
    match geometry {
        Geometry::Bodies(bodies) => bodies_problem(bodies, dimension),
        Geometry::Points { positions } => positions_problem(positions, dimension),
        Geometry::Mesh { element, positions, elements } => positions_problem(positions, dimension)
            .or_else(|| elements_problem(elements, element.corners(), positions.len() / dimension)),
        Geometry::Grid { origin, spacing, cells } => {
            if origin.len() != dimension || cells.len() != dimension {
                Some(format!("a grid in {dimension}D needs {dimension} numbers for its origin and cells"))
            } else if !(spacing.is_finite() && *spacing > 0.0) {
                Some(format!("the spacing {spacing} of the grid is not a positive number"))
            } else {
                None
            }
        }
    }
}

fn positions_problem(positions: &[f64], dimension: usize) -> Option<String> {
    (!positions.len().is_multiple_of(dimension))
        .then(|| format!("{} coordinates are not a multiple of the dimension {dimension}", positions.len()))
}

fn elements_problem(elements: &[u32], corners: usize, points: usize) -> Option<String> {
    if !elements.len().is_multiple_of(corners) {
        return Some(format!("{} indices are not a multiple of {corners}", elements.len()));
    }
    elements
        .iter()
        .find(|index| **index as usize >= points)
        .map(|index| format!("an element uses point {index} of {points}"))
}

fn bodies_problem(bodies: &Bodies, dimension: usize) -> Option<String> {
    let count = bodies.names.len();
    let per_rotation = if dimension == 2 { 2 } else { 4 };
    let sizes = [
        ("shape_of", bodies.shape_of.len(), 1),
        ("positions", bodies.positions.len(), dimension),
        ("rotations", bodies.rotations.len(), per_rotation),
    ];
    for (name, len, each) in sizes {
        if len != count * each {
            return Some(format!("{name} has {len} numbers, but {count} bodies of {each} are needed"));
        }
    }
    if let Some(index) = bodies.shape_of.iter().find(|index| **index as usize >= bodies.shapes.len()) {
        return Some(format!("a body uses shape {index} of {}", bodies.shapes.len()));
    }
    bodies.shapes.iter().find_map(|shape| match shape {
        Shape::Ball { radius } => (!(radius.is_finite() && *radius > 0.0))
            .then(|| format!("the radius {radius} is not a positive number")),
        Shape::Box { edges } => (edges.len() != dimension
            || edges.iter().any(|edge| !(edge.is_finite() && *edge > 0.0)))
        .then(|| format!("a box needs {dimension} positive edges, not {edges:?}")),
        Shape::Surface(surface) => positions_problem(surface.positions(), dimension).or_else(|| {
            elements_problem(surface.elements(), dimension, surface.positions().len() / dimension)
        }),
    })
}
