//! One coupled solve: from `u*` and `v*` to incompressible fluid that moves with its solids.

use super::mass::multiply;
use super::{CouplingFace, CouplingOptions, Operators, SolidMass, Viscous, coupling_faces, viscous};
use serde::{Deserialize, Serialize};
use splashdown_fluid::pressure::MovableWalls;
use splashdown_fluid::viscosity::ViscousStep;
use splashdown_fluid::{CellKind, FluidError, FluidModel, FluidState, FluidStepper};
use splashdown_math::{Dim, Space, Twist};
use splashdown_solve::{CsrMatrix, InverseMass, VelocityLayout};

/// A guest of the fluid as the coupled solve sees it.
#[derive(Debug, Clone)]
pub struct Immersed<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Its mass; `None` for one that moves as it is told.
    pub mass: Option<SolidMass<D>>,
    /// Its velocity about its centre of mass.
    pub twist: Twist<D>,
}

/// What a coupled solve did.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct CouplingReport {
    /// Faces whose fluid moves with a solid that can move.
    pub faces: usize,
    /// Unknown pressures.
    pub unknowns: usize,
    /// Unknown velocities of the viscous solve; 0 without viscosity.
    pub velocities: usize,
    /// Iterations of conjugate gradients.
    pub iterations: usize,
    /// Iterations of velocity solves inside, where they are not factorised.
    pub inner_iterations: usize,
    /// Residual relative to the right-hand side.
    pub relative_residual: f64,
    /// Largest `|div u| dt` left.
    pub divergence: f64,
    /// Regions whose pressure is known up to a constant.
    pub null_space: usize,
    /// Largest change (m/s) that had to be made to the velocity of closed faces, because a closed region cannot change its volume.
    pub wall_correction: f64,
    /// Cells without a pressure because all their faces move with solids.
    pub shut_cells: usize,
}

/// Solves for fluid and solids over `dt` seconds. The stepper's guests are where `solids` (one a guest) are; `state.velocity` is `u*` and `solids` have `v*` on entry.
///
/// # Errors
/// A solve that does not converge, masses that are not positive.
pub fn solve_coupled<const D: usize>(
    stepper: &mut FluidStepper<D>,
    model: &FluidModel<D>,
    state: &mut FluidState<D>,
    dt: f64,
    solids: &mut [Immersed<D>],
    options: &CouplingOptions,
) -> Result<CouplingReport, FluidError>
where
    Dim<D>: Space<D>,
{
    if solids.len() != stepper.guests().len() {
        let (found, expected) = (solids.len(), stepper.guests().len());
        return Err(FluidError::Mismatch(format!("{found} solids for {expected} guests of the fluid")));
    }
    let step = match model.options.viscous_step {
        ViscousStep::CrankNicolson => 0.5 * dt,
        _ => dt,
    };
    let viscosity = model.liquids[0].viscosity;
    let report =
        if model.liquids.len() == 1 && viscosity > 0.0 && model.options.viscous_step != ViscousStep::Explicit
        {
            solve_viscous(stepper, model, state, dt, solids, options, Viscous { viscosity, dt: step })?
        } else {
            // Liquids of several viscosities: by themselves, with the solids as walls.
            stepper.apply_viscosity(model, state, dt)?;
            solve_inviscid(stepper, model, state, dt, solids, options)?
        };
    let twists: Vec<Twist<D>> = solids.iter().map(|solid| solid.twist).collect();
    stepper.set_guest_twists(model, &twists, None);
    Ok(report)
}

fn solve_inviscid<const D: usize>(
    stepper: &mut FluidStepper<D>,
    model: &FluidModel<D>,
    state: &mut FluidState<D>,
    dt: f64,
    solids: &mut [Immersed<D>],
    options: &CouplingOptions,
) -> Result<CouplingReport, FluidError>
where
    Dim<D>: Space<D>,
{
    let first = model.obstacles.len();
    let faces = coupling_faces(&stepper.problem(model), stepper.guests(), first, options.mass);
    let movable: Vec<&CouplingFace<D>> =
        faces.iter().filter(|face| solids[face.guest].mass.is_some()).collect();

    // The fluid of the coupling faces joins the solids: mass and momentum.
    let n = Twist::<D>::LEN;
    let mut masses: Vec<Option<SolidMass<D>>> = solids.iter().map(|solid| solid.mass.clone()).collect();
    let mut momenta: Vec<Twist<D>> = solids
        .iter()
        .map(|solid| solid.mass.as_ref().map_or(Twist::zero(), |mass| mass.times(&solid.twist)))
        .collect();
    for face in &movable {
        if let Some(mass) = &mut masses[face.guest] {
            mass.lump(face);
            let u = state.velocity.component(face.axis).at(face.face);
            momenta[face.guest] += face.row * (face.mass * u);
        }
    }
    let mut inverses = vec![0.0; n * n * solids.len()];
    let mut velocity = vec![0.0; n * solids.len()];
    for (solid, mass) in masses.iter().enumerate() {
        if let Some(mass) = mass {
            let inverse = mass.inverse().ok_or_else(|| {
                FluidError::Mismatch(format!("solid {solid} has no positive definite mass"))
            })?;
            solids[solid].twist = multiply(&inverse, &momenta[solid]);
            inverses[n * n * solid..n * n * (solid + 1)].copy_from_slice(&inverse);
        }
        solids[solid].twist.write(&mut velocity[n * solid..n * (solid + 1)]);
    }
    let failed = FluidError::solve("coupled pressure");
    let layout = VelocityLayout::new::<D>(0, 0, solids.len());
    let inverse_mass = InverseMass::new(layout, vec![], vec![], inverses).map_err(&failed)?;

    // Lumping does not change the velocities of the faces that solids close; they all get those of the solids.
    let twists: Vec<Twist<D>> = solids.iter().map(|solid| solid.twist).collect();
    stepper.set_guest_twists(model, &twists, None);
    let flux = flux_of(stepper, model, &movable, solids.len()).map_err(&failed)?;
    let mut walls = MovableWalls { flux: &flux, inverse_mass: &inverse_mass, velocity: &mut velocity };
    let solved = stepper.project_with(model, state, dt, &mut walls)?;
    for (solid, part) in solids.iter_mut().zip(velocity.chunks_exact(n)) {
        if solid.mass.is_some() {
            solid.twist = Twist::read(part);
        }
    }
    let twists: Vec<Twist<D>> = solids.iter().map(|solid| solid.twist).collect();
    stepper.set_guest_twists(model, &twists, Some(&mut state.velocity));
    Ok(CouplingReport {
        faces: movable.len(),
        unknowns: solved.unknowns,
        iterations: solved.iterations,
        relative_residual: solved.relative_residual,
        divergence: solved.divergence,
        null_space: solved.closed_regions,
        wall_correction: solved.wall_correction,
        ..CouplingReport::default()
    })
}

/// `F^T`: the flux out of each cell of the grid for each component of the solids' twists.
fn flux_of<const D: usize>(
    stepper: &FluidStepper<D>,
    model: &FluidModel<D>,
    faces: &[&CouplingFace<D>],
    solids: usize,
) -> Result<CsrMatrix, splashdown_solve::SolveError>
where
    Dim<D>: Space<D>,
{
    let problem = stepper.problem(model);
    let (grid, n) = (model.domain.grid(), Twist::<D>::LEN);
    let counts = grid.cells();
    let mut entries = Vec::with_capacity(n * faces.len());
    for face in faces {
        let mut row = [0.0; 6];
        face.row.write(&mut row);
        let mut below = face.face;
        below[face.axis] -= 1;
        // Outwards for the cell below, inwards for the one above.
        for (cell, sign) in [(below, 1.0), (face.face, -1.0)] {
            // A cell all of whose faces are closed would only lock solids together (spec/fluid-structure.md 3.10).
            if problem.cells.at(cell) != CellKind::Fluid || problem.is_shut(cell) {
                continue;
            }
            let place = (0..D)
                .rev()
                .fold(0, |place, a| place * counts[a] + cell[a].rem_euclid(counts[a] as isize) as usize);
            let area = sign * face.closed * grid.face_area(face.axis);
            entries.extend((0..n).map(|k| (face.guest * n + k, place, area * row[k])));
        }
    }
    CsrMatrix::from_triplets(n * solids, grid.cell_count(), &entries)
}

fn solve_viscous<const D: usize>(
    stepper: &mut FluidStepper<D>,
    model: &FluidModel<D>,
    state: &mut FluidState<D>,
    dt: f64,
    solids: &mut [Immersed<D>],
    options: &CouplingOptions,
    viscous: Viscous,
) -> Result<CouplingReport, FluidError>
where
    Dim<D>: Space<D>,
{
    let failed = FluidError::solve("coupled viscous flow");
    let movable: Vec<bool> = solids.iter().map(|solid| solid.mass.is_some()).collect();
    let masses: Vec<Option<SolidMass<D>>> = solids.iter().map(|solid| solid.mass.clone()).collect();
    let mut twists: Vec<Twist<D>> = solids.iter().map(|solid| solid.twist).collect();
    // Solids that move as told give their velocity to the faces they close; it does not matter what the others give.
    stepper.set_guest_twists(model, &twists, None);
    let problem = stepper.problem(model);
    let first = model.obstacles.len();
    let operators = Operators::new(&problem, stepper.guests(), first, &movable, Some(viscous), options)
        .map_err(&failed)?;
    // What solids close keeps the advected velocity here: it is the momentum that is lumped.
    problem.apply_known(&mut state.velocity, dt);
    let FluidState { velocity, pressure, .. } = state;
    let (report, corrections) = viscous::solve(
        &problem,
        &operators,
        viscous,
        &masses,
        &mut twists,
        velocity,
        pressure,
        dt,
        &model.options.pressure,
    )?;
    for (solid, twist) in solids.iter_mut().zip(&twists) {
        solid.twist = *twist;
    }
    // Faces inside solids and on walls.
    stepper.set_guest_twists(model, &twists, None);
    if let Some(walls) = stepper.walls() {
        walls.impose(&mut state.velocity);
    }
    for (axis, face, change) in corrections {
        let component = state.velocity.component_mut(axis);
        component.set(face, component.at(face) + change);
    }
    Ok(report)
}
