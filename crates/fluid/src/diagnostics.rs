//! Conserved and telling quantities of a fluid.

use crate::cells::CellKind;
use crate::forces::vorticity;
use crate::model::FluidModel;
use crate::momentum::FaceMasses;
use crate::pressure::PressureProblem;
use crate::pressure::{dense, sparse};
use crate::state::FluidState;
use crate::surface;
use serde::{Deserialize, Serialize};
use splashdown_geometry::grid::{FaceFields, Index};
use splashdown_math::{Coordinates, Dim, Space, Vector};

/// Sums and largest values over the fluid at one time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FluidDiagnostics {
    /// Kinetic energy (J; J/m in 2D).
    pub kinetic_energy: f64,
    /// Linear momentum (kg m/s); if it is kept, with that of the fluid that moves with solids, so that this and the momentum of solids add up to a constant.
    pub momentum: Vec<f64>,
    /// Integral of half the squared vorticity (m^3/s^2).
    pub enstrophy: f64,
    /// Largest speed on a face (m/s).
    pub max_speed: f64,
    /// Largest `|div u|` in the fluid (1/s).
    pub max_divergence: f64,
    /// Volume of each liquid with a surface (m^3), drops included.
    pub volumes: Vec<f64>,
    /// Mass of the fluid (kg).
    pub mass: f64,
    /// Integral of the smoke (m^3).
    pub smoke: f64,
    /// Parts of the fluid that walls, shells and air keep apart: how many there are.
    #[serde(default)]
    pub region_count: usize,
    /// The largest of them, at most 16, largest first.
    #[serde(default)]
    pub regions: Vec<FluidRegion>,
}

/// Regions that are told one by one.
pub const MOST_REGIONS: usize = 16;

/// A connected part of the fluid.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct FluidRegion {
    /// Cells.
    pub cells: usize,
    /// Volume of the fluid in it (m^3; m^2 in 2D), drops left out.
    pub volume: f64,
    /// Is there no air and no outlet at it, so that its volume cannot change?
    pub closed: bool,
    /// Flux (m^3/s) out of it through closed faces: zero of a closed region.
    pub wall_flux: f64,
}

impl FluidDiagnostics {
    /// Measures `state`; `problem` describes its geometry.
    pub fn measure<const D: usize>(
        model: &FluidModel<D>,
        state: &FluidState<D>,
        problem: &PressureProblem<D>,
    ) -> Self
    where
        Dim<D>: Space<D>,
    {
        let grid = model.domain.grid();
        let cell = grid.cell_volume();
        let (energy, mut momentum) = face_sums(problem, &state.velocity);
        if model.options.keep_momentum {
            momentum = FaceMasses::of_open_faces(problem).momentum(&state.velocity);
        }
        let spin = problem.cells.reduce(
            0.0,
            |index, kind| match kind {
                CellKind::Fluid => {
                    let w = vorticity(&state.velocity, index);
                    0.5 * w.dot(&w)
                }
                _ => 0.0,
            },
            |a, b| a + b,
        );
        let volumes: Vec<f64> = state
            .liquids
            .iter()
            .map(|liquid| {
                surface::volume_of(&liquid.phi, problem.walls, 0.0) + liquid.markers.removed.drop_volume()
            })
            .collect();
        let mass = if volumes.is_empty() {
            let fluid = problem.cells.reduce(
                0.0,
                |_, kind| f64::from(u8::from(kind == CellKind::Fluid)),
                |a, b| a + b,
            );
            fluid * cell * model.liquids[0].density
        } else {
            volumes.iter().zip(&model.liquids).map(|(volume, liquid)| volume * liquid.density).sum()
        };
        let (region_count, regions) = regions(state, problem);
        Self {
            kinetic_energy: energy,
            momentum: momentum.iter().copied().collect(),
            enstrophy: spin * cell,
            max_speed: max_speed(&state.velocity),
            max_divergence: problem.largest_divergence(&state.velocity),
            volumes,
            mass,
            smoke: state.smoke.as_ref().map_or(0.0, |smoke| smoke.density.sum() * cell),
            region_count,
            regions,
        }
    }
}

/// Number of connected parts of the fluid, and the largest of them. Cells are connected through faces that are not closed.
fn regions<const D: usize>(state: &FluidState<D>, problem: &PressureProblem<D>) -> (usize, Vec<FluidRegion>)
where
    Dim<D>: Space<D>,
{
    let grid = problem.domain.grid();
    let (counts, volume) = (grid.cells(), grid.cell_volume());
    const NONE: u32 = u32::MAX;
    let mut labels = vec![NONE; grid.cell_count()];
    let mut found: Vec<FluidRegion> = Vec::new();
    let mut open: Vec<Index<D>> = Vec::new();
    for place in 0..labels.len() {
        let first = sparse(counts, place);
        if labels[place] != NONE || problem.cells.at(first) != CellKind::Fluid {
            continue;
        }
        let label = found.len() as u32;
        labels[place] = label;
        open.push(first);
        let mut region = FluidRegion { closed: true, ..FluidRegion::default() };
        while let Some(cell) = open.pop() {
            region.cells += 1;
            for axis in 0..D {
                for step in [0, 1] {
                    let (mut face, mut next) = (cell, cell);
                    face[axis] += step;
                    next[axis] += 2 * step - 1;
                    if problem.walls.is_closed(axis, face) {
                        let outward = (2 * step - 1) as f64 * grid.face_area(axis);
                        region.wall_flux += outward * state.velocity.component(axis).at(face);
                        continue;
                    }
                    match problem.cells.at(next) {
                        CellKind::Air => region.closed = false,
                        CellKind::Fluid => {
                            let next = dense(counts, next);
                            if labels[next] == NONE {
                                labels[next] = label;
                                open.push(sparse(counts, next));
                            }
                        }
                        CellKind::Solid => {}
                    }
                }
            }
        }
        region.volume = region.cells as f64 * volume;
        found.push(region);
    }
    if problem.phi.is_some() {
        found.iter_mut().for_each(|region| region.volume = 0.0);
        for liquid in &state.liquids {
            surface::for_each_wet(&liquid.phi, problem.walls, |corners, wet| {
                // What several cells share is divided among those that are fluid.
                let label = |cell: &Index<D>| labels[dense(counts, *cell)];
                let fluid = corners.iter().filter(|cell| label(cell) != NONE).count();
                for cell in corners.iter().filter(|cell| label(cell) != NONE) {
                    found[label(cell) as usize].volume += wet / fluid as f64;
                }
            });
        }
    }
    let count = found.len();
    found.sort_by(|a, b| b.volume.total_cmp(&a.volume).then(b.cells.cmp(&a.cells)));
    found.truncate(MOST_REGIONS);
    (count, found)
}

/// Largest velocity component on any face (m/s).
pub(crate) fn max_speed<const D: usize>(velocity: &FaceFields<D>) -> f64 {
    (0..D).map(|axis| velocity.component(axis).max_abs()).fold(0.0, f64::max)
}

/// Kinetic energy (J) and momentum (kg m/s) of the faces next to fluid: half a face's mass for each fluid cell at it, periodic images once.
fn face_sums<const D: usize>(problem: &PressureProblem<D>, velocity: &FaceFields<D>) -> (f64, Vector<D>)
where
    Dim<D>: Space<D>,
{
    let volume = problem.domain.grid().cell_volume();
    let mut energy = 0.0;
    let mut momentum = Vector::zeros();
    for axis in 0..D {
        let last = problem.domain.grid().cells()[axis] as isize;
        let periodic = problem.domain.periodic()[axis];
        let [e, p] = velocity.component(axis).reduce(
            [0.0; 2],
            |face, u| {
                if periodic && face[axis] == last {
                    return [0.0; 2];
                }
                let wet = problem.kinds(axis, face).iter().filter(|&&kind| kind == CellKind::Fluid).count();
                let mass = 0.5 * wet as f64 * volume * problem.density(axis, face);
                [0.5 * mass * u * u, mass * u]
            },
            |a, b| [a[0] + b[0], a[1] + b[1]],
        );
        energy += e;
        momentum[axis] += p;
    }
    (energy, momentum)
}
