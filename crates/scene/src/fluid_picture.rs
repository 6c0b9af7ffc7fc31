//! What a frame shows of a fluid: its fields on the grid, the surfaces of its liquids, drops, and the obstacles.

use crate::frame::{self, Association, Attribute, Bodies, Data, Element, Geometry, Part};
use splashdown_fluid::{FluidModel, FluidState};
use splashdown_geometry::grid::{Field, Grid, Index, Location};
use splashdown_geometry::iso_surface::{Extraction, extract};
use splashdown_math::{Dim, Space};
use std::sync::Arc;

/// Name of the part that holds the fields on the grid.
pub const FLUID: &str = "fluid";
/// Name of the part that holds the obstacles.
pub const OBSTACLES: &str = "fluid obstacles";
/// Cells across the longest edge of an obstacle when its surface is made.
const OBSTACLE_CELLS: f64 = 40.0;

/// Looks of the obstacles, in their own coordinates.
pub(crate) fn shapes<const D: usize>(model: &FluidModel<D>) -> Vec<frame::Shape>
where
    Dim<D>: Space<D>,
{
    model
        .obstacles
        .iter()
        .map(|obstacle| {
            let looks = |positions, elements| {
                frame::Shape::Surface(Arc::new(frame::SurfaceShape::new(positions, elements)))
            };
            let nothing = looks(Vec::new(), Vec::new());
            let bounds = obstacle.shape.bounds();
            let bounds = if bounds.is_bounded() { bounds } else { model.domain.grid().bounds() };
            let spacing = bounds.extent().max() / OBSTACLE_CELLS;
            let Ok(grid) = Grid::covering(&bounds, spacing, 2) else { return nothing };
            let distance = Field::from_fn(&grid, Location::Node, |x| obstacle.shape.signed_distance(x));
            let Ok(surface) = extract(&distance, &Extraction::default()) else { return nothing };
            looks(
                surface.mesh.points.iter().flatten().copied().collect(),
                surface.mesh.elements.iter().flatten().copied().collect(),
            )
        })
        .collect()
}

/// Adds the parts of the fluid.
pub(crate) fn add_parts<const D: usize>(
    model: &FluidModel<D>,
    state: &FluidState<D>,
    shapes: &[frame::Shape],
    parts: &mut Vec<Part>,
) where
    Dim<D>: Space<D>,
{
    let grid = model.domain.grid();
    let velocity = state.pressure.lattice().indices().flat_map(|cell| {
        let at = |axis: usize| {
            let mut upper: Index<D> = cell;
            upper[axis] += 1;
            let u = state.velocity.component(axis);
            0.5 * (u.at(cell) + u.at(upper))
        };
        (0..D).map(at).map(|value| value as f32).collect::<Vec<_>>()
    });
    let mut attributes = vec![
        on_cells("velocity", "m/s", D, velocity.collect()),
        on_cells("pressure", "Pa", 1, cells(&state.pressure)),
    ];
    if let Some(smoke) = &state.smoke {
        attributes.push(on_cells("smoke", "1", 1, cells(&smoke.density)));
        attributes.push(on_cells("temperature", "K", 1, cells(&smoke.temperature)));
    }
    for (liquid, now) in model.liquids.iter().zip(&state.liquids) {
        attributes.push(on_cells(&format!("distance to {}", liquid.name), "m", 1, cells(&now.phi)));
    }
    parts.push(Part {
        name: FLUID.into(),
        geometry: Geometry::Grid {
            origin: grid.origin().iter().copied().collect(),
            spacing: grid.spacing()[0],
            cells: grid.cells().iter().map(|&n| n as u64).collect(),
        },
        attributes,
    });
    let element = if D == 2 { Element::Segment } else { Element::Triangle };
    for (liquid, now) in model.liquids.iter().zip(&state.liquids) {
        // Closed where the liquid touches the sides of the box.
        let options = Extraction { closed: true, ..Extraction::default() };
        if let Ok(surface) = extract(&now.phi, &options) {
            let normals = surface.normals.iter().flatten().copied().collect();
            parts.push(Part {
                name: format!("surface of {}", liquid.name),
                geometry: Geometry::Mesh {
                    element,
                    positions: surface.mesh.points.iter().flatten().copied().collect(),
                    elements: surface.mesh.elements.iter().flatten().copied().collect(),
                },
                attributes: vec![on_points("normal", "1", D, normals)],
            });
        }
        let drops = &now.markers.removed.drops;
        if !drops.is_empty() {
            parts.push(Part {
                name: format!("drops of {}", liquid.name),
                geometry: Geometry::Points {
                    positions: drops
                        .iter()
                        .flat_map(|d| d.position.iter().copied().collect::<Vec<_>>())
                        .collect(),
                },
                attributes: vec![
                    on_points(
                        "velocity",
                        "m/s",
                        D,
                        drops.iter().flat_map(|d| d.velocity.iter().copied().collect::<Vec<_>>()).collect(),
                    ),
                    on_points("radius", "m", 1, drops.iter().map(|d| d.radius).collect()),
                ],
            });
        }
    }
    for shell in &model.shells {
        parts.push(Part {
            name: shell.name.clone(),
            geometry: Geometry::Mesh {
                element,
                positions: shell.points(state.time).iter().flatten().copied().collect(),
                elements: shell.mesh.elements.iter().flatten().copied().collect(),
            },
            attributes: Vec::new(),
        });
    }
    if !model.obstacles.is_empty() {
        let mut bodies = Bodies {
            names: model.obstacles.iter().map(|obstacle| obstacle.name.clone()).collect(),
            shapes: shapes.to_vec(),
            shape_of: (0..model.obstacles.len() as u32).collect(),
            ..Bodies::default()
        };
        for obstacle in &model.obstacles {
            let placement = obstacle.placement(state.time);
            bodies.positions.extend(placement.frame.position.iter());
            bodies.rotations.extend(Dim::rotation_components(&placement.frame.rotation));
        }
        parts.push(Part {
            name: OBSTACLES.into(),
            geometry: Geometry::Bodies(bodies),
            attributes: Vec::new(),
        });
    }
}

fn cells<const D: usize>(field: &Field<D>) -> Vec<f32> {
    field.lattice().indices().map(|cell| field.at(cell) as f32).collect()
}

fn on_cells(name: &str, unit: &str, components: usize, data: Vec<f32>) -> Attribute {
    let association = Association::Cell;
    Attribute { name: name.into(), unit: unit.into(), association, components, data: Data::F32(data) }
}

fn on_points(name: &str, unit: &str, components: usize, data: Vec<f64>) -> Attribute {
    let association = Association::Point;
    Attribute { name: name.into(), unit: unit.into(), association, components, data: Data::F64(data) }
}
