//! Conserved and telling quantities of a fluid.

use crate::cells::CellKind;
use crate::forces::vorticity;
use crate::model::FluidModel;
use crate::pressure::PressureProblem;
use crate::state::FluidState;
use crate::surface;
use serde::{Deserialize, Serialize};
use splashdown_geometry::grid::FaceFields;
use splashdown_math::{Coordinates, Dim, Space, Vector};

/// Sums and largest values over the fluid at one time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FluidDiagnostics {
    /// Kinetic energy (J; J/m in 2D).
    pub kinetic_energy: f64,
    /// Linear momentum (kg m/s).
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
        let (energy, momentum) = face_sums(problem, &state.velocity);
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
        Self {
            kinetic_energy: energy,
            momentum: momentum.iter().copied().collect(),
            enstrophy: spin * cell,
            max_speed: max_speed(&state.velocity),
            max_divergence: problem.largest_divergence(&state.velocity),
            volumes,
            mass,
            smoke: state.smoke.as_ref().map_or(0.0, |smoke| smoke.density.sum() * cell),
        }
    }
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
