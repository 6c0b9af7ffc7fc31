//! One coupled solve: from `u*` and `v*` to incompressible fluid that moves with its solids.

use super::forms::solve_form;
use super::held::{Demands, HeldMass};
use super::interface::{LEAST_FRACTION, free_energy, is_driven, shut_cells};
use super::mass::multiply;
use super::resistance::{
    Resistance, ResistingMass, SolidMobility, energy_of_velocities, kinetic_energy, rows_of_solids,
};
use super::soft::{SheetSurface, SoftGuest, through_carriers};
use super::{
    CouplingFace, CouplingForm, CouplingOptions, FaceMass, Operators, SolidMass, Viscous, Weights,
    coupling_faces, viscous,
};
use serde::{Deserialize, Serialize};
use splashdown_fluid::pressure::{Mobility, MovableWalls, PressureProblem};
use splashdown_fluid::shell::SheetFace;
use splashdown_fluid::viscosity::ViscousStep;
use splashdown_fluid::{CellKind, FluidError, FluidModel, FluidState, FluidStepper};
use splashdown_geometry::grid::{FaceFields, Index};
use splashdown_math::{Dim, Space, Twist, Vector};
use splashdown_solve::{CsrMatrix, InverseMass, SolveError, VelocityLayout};
use std::collections::BTreeSet;

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
    /// Velocity of the fluid at its surface relative to it, `-s` in `W (u - J (v - s)) = 0` (spec/fluid-structure.md 3.6): zero but for surfaces that let fluid through or drive it.
    pub flow: Twist<D>,
}

impl<const D: usize> Immersed<D>
where
    Dim<D>: Space<D>,
{
    /// With a surface that is closed and moves with it.
    pub fn new(mass: Option<SolidMass<D>>, twist: Twist<D>) -> Self {
        Self { mass, twist, flow: Twist::zero() }
    }
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
    /// Cells of fluid all of whose faces move with solids or are given. With viscosity they have no pressure; without, they have one, by which their solids keep their volume.
    pub shut_cells: usize,
    /// Rows by which contact and joints hold the solids.
    #[serde(default)]
    pub demands: usize,
    /// Largest speed (m/s) by which one of them is missed.
    #[serde(default)]
    pub demand_residual: f64,
    /// Kinetic energy (J) of fluid and solids before and after, the fluid's with the masses of the solve; before, with all that implicit forces of solids are about to take.
    #[serde(default)]
    pub kinetic: [f64; 2],
    /// Does something that moves as told, a source, or a demand of given speed do work on them? If not, the solve can only take kinetic energy (spec/fluid-structure.md 3.12).
    #[serde(default)]
    pub driven: bool,
}

impl CouplingReport {
    /// Rise of the kinetic energy, relative, of a solve that nothing drives: rounding and what the tolerances leave. Zero where it falls, as it must, and where something drives it.
    pub fn energy_rise(&self) -> f64 {
        let [before, after] = self.kinetic;
        if self.driven || after <= before { 0.0 } else { (after - before) / after }
    }
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
    solve_with_soft(
        stepper,
        model,
        state,
        dt,
        solids,
        &mut SoftSolve::nothing(),
        &Demands::default(),
        options,
    )
}

/// Soft bodies in a coupled solve: the guests after the rigid ones, and sheets.
pub(super) struct SoftSolve<'a, const D: usize> {
    pub guests: &'a [SoftGuest<D>],
    /// The particle of each point of the stepper's sheets.
    pub sheet_particles: &'a [usize],
    /// The sheets where faces have weights by area.
    pub sheet_surface: Option<&'a SheetSurface<D>>,
    /// `1/m` (1/kg) of all particles; 0 for those that move as told.
    pub inverse_mass: &'a [f64],
    /// Which of the solids carries each particle, and where it is from that one's centre of mass (m); empty if none is carried.
    pub carried: &'a [Option<(usize, Vector<D>)>],
    /// Velocities (m/s) of all particles, flat: on entry what their masses times these have as momentum.
    pub velocity: &'a mut [f64],
    /// Implicit elasticity and damping, where the solve has them.
    pub resistance: Option<Resistance<'a>>,
}

impl<const D: usize> SoftSolve<'_, D>
where
    Dim<D>: Space<D>,
{
    /// No soft bodies.
    pub fn nothing() -> Self {
        let (guests, sheet_particles, inverse_mass, carried) = (&[][..], &[][..], &[][..], &[][..]);
        SoftSolve {
            guests,
            sheet_particles,
            sheet_surface: None,
            inverse_mass,
            carried,
            velocity: &mut [],
            resistance: None,
        }
    }

    /// Is this a scalar of a particle that a body carries, which has no velocity of its own?
    pub fn is_carried(&self, scalar: usize) -> bool {
        self.carried.get(scalar / D).is_some_and(|carrier| scalar < self.velocity.len() && carrier.is_some())
    }

    /// Mass (kg) of each scalar of the particles' velocities; `None` for those that move as told.
    pub fn scalar_masses(&self) -> Vec<Option<f64>> {
        let inverse = |scalar: usize| Some(self.inverse_mass[scalar / D]).filter(|inverse| *inverse > 0.0);
        (0..self.velocity.len()).map(|scalar| inverse(scalar).map(f64::recip)).collect()
    }

    /// Scalars of the stacked particle velocities, with weights, whose sum is the velocity along `axis` of the sheets where they close a face.
    pub fn sheet_row(&self, sheet: &SheetFace<D>, axis: usize) -> Option<Vec<(usize, f64)>> {
        let scalar = |&(point, weight): &(u32, f64)| {
            self.sheet_particles.get(point as usize).map(|particle| (D * particle + axis, weight))
        };
        let by_area = self.sheet_surface.map(|surface| surface.weights(sheet.axis, sheet.face));
        let row: Option<Vec<_>> = match by_area.filter(|row| !row.is_empty()) {
            Some(row) => row.iter().map(scalar).collect(),
            None => sheet.row.iter().map(scalar).collect(),
        };
        Some(self.through_carriers(row?))
    }

    /// `J` of a face that a soft guest closes: scalars of the stacked velocities, with weights.
    pub fn guest_row(
        &self,
        problem: &PressureProblem<D>,
        number: usize,
        axis: usize,
        face: Index<D>,
        weights: Weights,
    ) -> Vec<(usize, f64)> {
        self.through_carriers(self.guests[number].row(problem, axis, face, weights))
    }

    fn through_carriers(&self, row: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
        match self.carried.is_empty() {
            true => row,
            false => through_carriers(self.velocity.len(), self.carried, row.into_iter()),
        }
    }
}

/// Mass (kg) of the fluid that moves with a face that sheets close; `None` without fluid.
pub(super) fn sheet_mass<const D: usize>(
    problem: &PressureProblem<D>,
    sheet: &SheetFace<D>,
    mass: FaceMass,
) -> Option<f64>
where
    Dim<D>: Space<D>,
{
    let (axis, face) = (sheet.axis, sheet.face);
    let [below, above] = problem.kinds(axis, face).map(|kind| kind == CellKind::Fluid);
    if !(below || above) {
        return None;
    }
    // Each side carries its part of the dual cell, up to the sheet; air carries none.
    let parts = [(below, sheet.met[0]), (above, 1.0 - sheet.met[1])];
    let wet: f64 = parts.iter().filter(|(wet, _)| *wet).map(|(_, part)| part).sum();
    let part = match mass {
        FaceMass::Full => 1.0,
        FaceMass::Fraction => wet.clamp(LEAST_FRACTION, 1.0),
    };
    Some(part * problem.density(axis, face) * problem.domain.grid().cell_volume())
}

/// [`solve_coupled`] with soft bodies and demands. Solids after those that are guests are not in the fluid; demands tie them to those that are.
///
/// With fluid that passes the surfaces of solids, `u = J (v + w)`: the solve has `v + w` as the velocity of such a solid, which changes by the same impulses.
#[expect(clippy::too_many_arguments, reason = "the parts of one system")]
pub(super) fn solve_with_soft<const D: usize>(
    stepper: &mut FluidStepper<D>,
    model: &FluidModel<D>,
    state: &mut FluidState<D>,
    dt: f64,
    solids: &mut [Immersed<D>],
    soft: &mut SoftSolve<D>,
    demands: &Demands,
    options: &CouplingOptions,
) -> Result<CouplingReport, FluidError>
where
    Dim<D>: Space<D>,
{
    let mut report = if solids.iter().all(|solid| solid.flow == Twist::zero()) {
        solve_closed(stepper, model, state, dt, solids, soft, demands, options)?
    } else {
        let flows: Vec<Twist<D>> = solids.iter().map(|solid| solid.flow).collect();
        let shifted = demands.seen_with(soft.velocity.len(), &flows);
        solids.iter_mut().zip(&flows).for_each(|(solid, flow)| solid.twist += *flow);
        let report = solve_closed(stepper, model, state, dt, solids, soft, &shifted, options);
        solids.iter_mut().zip(&flows).for_each(|(solid, flow)| solid.twist += *flow * -1.0);
        report?
    };
    report.driven |= solids.iter().any(|solid| solid.flow != Twist::zero());
    report.demands = demands.rows.len();
    report.demand_residual = demands.residual(soft.velocity, solids.iter().map(|solid| &solid.twist));
    Ok(report)
}

#[expect(clippy::too_many_arguments, reason = "the parts of one system")]
#[inline(never)]
fn solve_closed<const D: usize>(
    stepper: &mut FluidStepper<D>,
    model: &FluidModel<D>,
    state: &mut FluidState<D>,
    dt: f64,
    solids: &mut [Immersed<D>],
    soft: &mut SoftSolve<D>,
    demands: &Demands,
    options: &CouplingOptions,
) -> Result<CouplingReport, FluidError>
where
    Dim<D>: Space<D>,
{
    let expected = stepper.guests().len();
    if solids.len() + soft.guests.len() < expected {
        let found = solids.len() + soft.guests.len();
        return Err(FluidError::Mismatch(format!("{found} solids for {expected} guests of the fluid")));
    }
    let step = match model.options.viscous_step {
        ViscousStep::CrankNicolson => 0.5 * dt,
        _ => dt,
    };
    let viscosity = model.liquids[0].viscosity;
    let implicit = viscosity > 0.0 && model.options.viscous_step != ViscousStep::Explicit;
    let together = (model.liquids.len() == 1 && implicit).then_some(Viscous { viscosity, dt: step });
    if options.form != CouplingForm::Pressure {
        return solve_form(stepper, model, state, dt, solids, soft, demands, options, together);
    }
    if model.liquids.len() == 1 && implicit {
        let viscous = Viscous { viscosity, dt: step };
        return solve_viscous(stepper, model, state, dt, solids, soft, demands, options, viscous);
    }
    // Liquids of several viscosities: viscosity by itself, with the solids as walls.
    stepper.apply_viscosity(model, state, dt)?;
    solve_inviscid(stepper, model, state, dt, solids, soft, demands, options)
}

#[expect(clippy::too_many_arguments, reason = "the parts of one system")]
#[inline(never)]
fn solve_inviscid<const D: usize>(
    stepper: &mut FluidStepper<D>,
    model: &FluidModel<D>,
    state: &mut FluidState<D>,
    dt: f64,
    solids: &mut [Immersed<D>],
    soft: &mut SoftSolve<D>,
    demands: &Demands,
    options: &CouplingOptions,
) -> Result<CouplingReport, FluidError>
where
    Dim<D>: Space<D>,
{
    let first = model.obstacles.len();
    let rigid = stepper.guests().len() - soft.guests.len();
    let faces = coupling_faces(&stepper.problem(model), stepper.guests(), first, options.mass);
    let movable: Vec<&CouplingFace<D>> =
        faces.iter().filter(|face| face.guest < rigid && solids[face.guest].mass.is_some()).collect();
    let on_soft = particle_faces(&stepper.problem(model), &faces, rigid, soft, options);
    let scalars = soft.velocity.len();
    let failed = FluidError::solve("coupled pressure");

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
    let mut velocity = soft.velocity.to_vec();
    velocity.resize(scalars + n * solids.len(), 0.0);
    for (solid, part) in solids.iter().zip(velocity[scalars..].chunks_exact_mut(n)) {
        solid.twist.write(part);
    }
    let soft_inverses: Vec<f64> = (0..scalars).map(|scalar| soft.inverse_mass[scalar / D]).collect();
    let mut inverses = vec![0.0; n * n * solids.len()];
    let scalar_masses = soft.scalar_masses();
    let mut before = free_energy(&stepper.problem(model), &state.velocity)
        + on_coupling_faces(&movable, &on_soft, &state.velocity);
    let resisting = if on_soft.is_empty() && soft.resistance.is_none() {
        before += energy_of_velocities(&scalar_masses, &own_masses(solids), &velocity);
        for (solid, mass) in masses.iter().enumerate() {
            let Some(mass) = mass else { continue };
            let inverse = mass.inverse().ok_or_else(|| {
                FluidError::Mismatch(format!("solid {solid} has no positive definite mass"))
            })?;
            let part = scalars + n * solid..scalars + n * (solid + 1);
            multiply(&inverse, &momenta[solid]).write(&mut velocity[part]);
            inverses[n * n * solid..n * n * (solid + 1)].copy_from_slice(&inverse);
        }
        None
    } else {
        let (mass, energy) = lump_on_solids(&on_soft, state, soft, solids, &masses, &momenta, &mut velocity)
            .map_err(&failed)?;
        before += energy;
        Some(mass)
    };
    read_twists(&velocity[scalars..], solids);
    // Particles stand where faces do in other systems.
    let layout = VelocityLayout::new::<D>(scalars, 0, solids.len());
    let inverse_mass = InverseMass::new(layout, soft_inverses, vec![], inverses).map_err(&failed)?;

    let mobility = SolidMobility { inverse_mass: &inverse_mass, resisting };
    // What contact and joints demand is met before the pressure acts, and kept.
    let held = HeldMass::new(&mobility, demands).map_err(&failed)?;
    if let Some(held) = &held {
        held.meet(&demands.values, &mut velocity);
        read_twists(&velocity[scalars..], solids);
    }
    // Lumping does not change the velocities of the faces that solids close; they all get those of the solids.
    stepper.set_guest_twists(model, &twists_of(&solids[..rigid]), None);
    stepper.set_face_velocities(model, &soft_velocities(&on_soft, &velocity), None);
    let told = |column: usize| match column.checked_sub(scalars) {
        None => soft.inverse_mass[column / D] == 0.0,
        Some(at) => solids[at / n].mass.is_none(),
    };
    let flux =
        flux_of(stepper, model, &movable, &on_soft, told, [scalars, velocity.len()]).map_err(&failed)?;
    let problem = stepper.problem(model);
    let sheets: BTreeSet<(usize, Index<D>)> =
        problem.walls.sheet_faces().iter().map(|sheet| (sheet.axis, sheet.face)).collect();
    let follows = |axis: usize, face: Index<D>| {
        let guest = problem.walls.owner(axis, face).and_then(|owner| owner.checked_sub(first));
        guest.is_some_and(|guest| guest >= rigid || solids[guest].mass.is_some())
            || sheets.contains(&(axis, face))
    };
    let given = |column: usize| told(column) && velocity[column] != 0.0 && !soft.is_carried(column);
    let driven = (0..velocity.len()).any(given)
        || demands.values.iter().any(|value| *value != 0.0)
        || is_driven(&problem, follows);
    let held_faces = movable.iter().map(|face| (face.axis, face.face));
    let shut_cells =
        shut_cells(&problem, held_faces.chain(on_soft.iter().map(|face| (face.axis, face.face))));
    let free: &dyn Mobility = &mobility;
    let mobility: &dyn Mobility = held.as_ref().map_or(free, |held| held);
    let unheld = held.is_some().then_some(free);
    let mut walls = MovableWalls { flux: &flux, mobility, unheld, velocity: &mut velocity };
    let solved = stepper.project_with(model, state, dt, &mut walls)?;
    soft.velocity.copy_from_slice(&velocity[..scalars]);
    read_twists(&velocity[scalars..], solids);
    stepper.set_guest_twists(model, &twists_of(&solids[..rigid]), Some(&mut state.velocity));
    stepper.set_face_velocities(model, &soft_velocities(&on_soft, &velocity), Some(&mut state.velocity));
    let after = free_energy(&stepper.problem(model), &state.velocity)
        + on_coupling_faces(&movable, &on_soft, &state.velocity)
        + energy_of_velocities(&scalar_masses, &own_masses(solids), &velocity);
    Ok(CouplingReport {
        kinetic: [before, after],
        driven,
        shut_cells,
        faces: movable.len() + on_soft.len(),
        unknowns: solved.unknowns,
        iterations: solved.iterations,
        relative_residual: solved.relative_residual,
        divergence: solved.divergence,
        null_space: solved.closed_regions,
        wall_correction: solved.wall_correction,
        ..CouplingReport::default()
    })
}

fn own_masses<const D: usize>(solids: &[Immersed<D>]) -> Vec<Option<SolidMass<D>>>
where
    Dim<D>: Space<D>,
{
    solids.iter().map(|solid| solid.mass.clone()).collect()
}

/// Kinetic energy (J) of the fluid that moves with coupling faces.
fn on_coupling_faces<const D: usize>(
    rigid: &[&CouplingFace<D>],
    soft: &[ParticleFace<D>],
    velocity: &FaceFields<D>,
) -> f64
where
    Dim<D>: Space<D>,
{
    let rigid = rigid.iter().map(|face| (face.axis, face.face, face.mass));
    let soft = soft.iter().map(|face| (face.axis, face.face, face.mass));
    let energy =
        |(axis, face, mass): (usize, Index<D>, f64)| 0.5 * mass * velocity.component(axis).at(face).powi(2);
    rigid.chain(soft).map(energy).sum()
}

/// Takes the velocities of those that can move from stacked ones.
fn read_twists<const D: usize>(stacked: &[f64], solids: &mut [Immersed<D>])
where
    Dim<D>: Space<D>,
{
    for (solid, part) in solids.iter_mut().zip(stacked.chunks_exact(Twist::<D>::LEN)) {
        if solid.mass.is_some() {
            solid.twist = Twist::read(part);
        }
    }
}

fn twists_of<const D: usize>(solids: &[Immersed<D>]) -> Vec<Twist<D>>
where
    Dim<D>: Space<D>,
{
    solids.iter().map(|solid| solid.twist).collect()
}

/// A coupling face that particles move.
struct ParticleFace<const D: usize> {
    axis: usize,
    face: Index<D>,
    /// Part of it that is closed, 0 to 1.
    closed: f64,
    /// Mass (kg) of the fluid that moves with it.
    mass: f64,
    /// `J`: scalars of the stacked particle velocities, with weights that sum to one.
    row: Vec<(usize, f64)>,
}

/// The coupling faces of soft bodies among `faces`, then those of sheets.
fn particle_faces<const D: usize>(
    problem: &PressureProblem<D>,
    faces: &[CouplingFace<D>],
    first_soft: usize,
    soft: &SoftSolve<D>,
    options: &CouplingOptions,
) -> Vec<ParticleFace<D>>
where
    Dim<D>: Space<D>,
{
    let of_body = |face: &CouplingFace<D>| {
        let number = face.guest.checked_sub(first_soft)?;
        let CouplingFace { axis, face: index, closed, mass, .. } = *face;
        let row = soft.guest_row(problem, number, axis, index, options.weights);
        Some(ParticleFace { axis, face: index, closed, mass, row })
    };
    let of_sheet = |sheet: &SheetFace<D>| {
        let (axis, face) = (sheet.axis, sheet.face);
        let mass = sheet_mass(problem, sheet, options.mass)?;
        let row = soft.sheet_row(sheet, axis)?;
        Some(ParticleFace { axis, face, closed: 1.0, mass, row })
    };
    let bodies = faces.iter().filter_map(of_body);
    bodies.chain(problem.walls.sheet_faces().iter().filter_map(of_sheet)).collect()
}

/// The masses of all solids with the fluid of the coupling faces that particles move, `M + J^T b J + S`, factorised, and the kinetic energy (J) of the solids alone without what implicit
/// forces are about to take; `velocity` becomes what they have with the momentum of that fluid. `masses` and `momenta` are those of the rigid ones with the fluid on them.
fn lump_on_solids<const D: usize>(
    faces: &[ParticleFace<D>],
    state: &FluidState<D>,
    soft: &SoftSolve<D>,
    solids: &[Immersed<D>],
    masses: &[Option<SolidMass<D>>],
    momenta: &[Twist<D>],
    velocity: &mut [f64],
) -> Result<(ResistingMass, f64), SolveError>
where
    Dim<D>: Space<D>,
{
    let (scalars, n, size) = (soft.velocity.len(), Twist::<D>::LEN, velocity.len());
    let scalar_masses = soft.scalar_masses();
    let told = |column: usize| match column.checked_sub(scalars) {
        None => scalar_masses[column].is_none(),
        Some(at) => masses[at / n].is_none(),
    };
    let (resisting, mut momentum) = match &soft.resistance {
        Some(resistance) => resistance.rows(told, velocity),
        None => (vec![Vec::new(); size], vec![0.0; size]),
    };
    let mut own = momentum.clone();
    for (scalar, mass) in scalar_masses.iter().enumerate() {
        let push = mass.unwrap_or_default() * soft.velocity[scalar];
        momentum[scalar] += push;
        own[scalar] += push;
    }
    let add = |push: &Twist<D>, part: &mut [f64]| {
        let mut flat = [0.0; 6];
        push.write(&mut flat);
        part.iter_mut().zip(flat).for_each(|(part, push)| *part += push);
    };
    let bodies = momenta.iter().zip(momentum[scalars..].chunks_exact_mut(n));
    bodies.for_each(|(push, part)| add(push, part));
    for (solid, part) in solids.iter().zip(own[scalars..].chunks_exact_mut(n)) {
        let push = solid.mass.as_ref().map_or(Twist::zero(), |mass| mass.times(&solid.twist));
        add(&push, part);
    }
    let energy = kinetic_energy(&scalar_masses, &own_masses(solids), &own);
    let mut lumped = Vec::with_capacity(faces.len());
    for face in faces {
        let u = state.velocity.component(face.axis).at(face.face);
        let part_told: f64 =
            face.row.iter().filter(|(c, _)| told(*c)).map(|&(c, weight)| weight * velocity[c]).sum();
        let movable: Vec<(usize, f64)> = face.row.iter().copied().filter(|(c, _)| !told(*c)).collect();
        for &(column, weight) in &movable {
            momentum[column] += face.mass * weight * (u - part_told);
        }
        let root = face.mass.sqrt();
        lumped.push(movable.into_iter().map(|(column, weight)| (column, root * weight)).collect::<Vec<_>>());
    }
    let lumped = CsrMatrix::from_rows(size, lumped)?;
    let mass = CsrMatrix::from_rows(size, rows_of_solids(0, &scalar_masses, masses))?
        .sum(1.0, &CsrMatrix::from_rows(size, resisting)?)?;
    let matrix = mass.sum(1.0, &lumped.transpose().product(&lumped)?)?;
    let all_told: Vec<usize> = (0..size).filter(|&column| told(column)).collect();
    let mass = ResistingMass::new(&matrix, all_told)?;
    mass.divide(&mut momentum);
    for (column, velocity) in velocity.iter_mut().enumerate().filter(|(column, _)| !told(*column)) {
        *velocity = momentum[column];
    }
    Ok((mass, energy))
}

/// Velocities of the coupling faces of soft bodies.
fn soft_velocities<const D: usize>(faces: &[ParticleFace<D>], velocity: &[f64]) -> Vec<(usize, Index<D>, f64)>
where
    Dim<D>: Space<D>,
{
    let of_face = |face: &ParticleFace<D>| {
        (face.axis, face.face, face.row.iter().map(|&(scalar, weight)| weight * velocity[scalar]).sum())
    };
    faces.iter().map(of_face).collect()
}

/// `F^T`: the flux out of each cell of the grid for each of the stacked velocities of solids that is not `told`; `sizes` are the number of scalars of particles, and of all.
#[inline(never)]
fn flux_of<const D: usize>(
    stepper: &FluidStepper<D>,
    model: &FluidModel<D>,
    faces: &[&CouplingFace<D>],
    on_soft: &[ParticleFace<D>],
    told: impl Fn(usize) -> bool,
    [scalars, size]: [usize; 2],
) -> Result<CsrMatrix, SolveError>
where
    Dim<D>: Space<D>,
{
    let problem = stepper.problem(model);
    let (grid, periodic, n) = (model.domain.grid(), model.domain.periodic(), Twist::<D>::LEN);
    let counts = grid.cells();
    let mut entries = Vec::with_capacity(n * faces.len());
    let rigid = faces.iter().map(|face| {
        let mut row = [0.0; 6];
        face.row.write(&mut row);
        let row = (0..n).map(|k| (scalars + face.guest * n + k, row[k])).collect::<Vec<_>>();
        (face.axis, face.face, face.closed, row)
    });
    let soft = on_soft.iter().map(|face| {
        let movable = face.row.iter().filter(|(column, _)| !told(*column));
        (face.axis, face.face, face.closed, movable.copied().collect::<Vec<_>>())
    });
    for (axis, face, closed, row) in rigid.chain(soft) {
        let mut below = face;
        below[axis] -= 1;
        // Outwards for the cell below, inwards for the one above.
        for (mut cell, sign) in [(below, 1.0), (face, -1.0)] {
            if periodic[axis] {
                cell[axis] = cell[axis].rem_euclid(counts[axis] as isize);
            }
            if !problem.has_pressure(cell) {
                continue;
            }
            let place = (0..D)
                .rev()
                .fold(0, |place, a| place * counts[a] + cell[a].rem_euclid(counts[a] as isize) as usize);
            let area = sign * closed * grid.face_area(axis);
            entries.extend(row.iter().map(|(scalar, weight)| (*scalar, place, area * weight)));
        }
    }
    CsrMatrix::from_triplets(size, grid.cell_count(), &entries)
}

#[expect(clippy::too_many_arguments, reason = "the parts of one system")]
#[inline(never)]
fn solve_viscous<const D: usize>(
    stepper: &mut FluidStepper<D>,
    model: &FluidModel<D>,
    state: &mut FluidState<D>,
    dt: f64,
    solids: &mut [Immersed<D>],
    soft: &mut SoftSolve<D>,
    demands: &Demands,
    options: &CouplingOptions,
    viscous: Viscous,
) -> Result<CouplingReport, FluidError>
where
    Dim<D>: Space<D>,
{
    let failed = FluidError::solve("coupled viscous flow");
    let (n, scalars) = (Twist::<D>::LEN, soft.velocity.len());
    let rigid = stepper.guests().len() - soft.guests.len();
    let movable: Vec<bool> = solids[..rigid]
        .iter()
        .map(|solid| solid.mass.is_some())
        .chain(soft.guests.iter().map(|_| true))
        .collect();
    // Solids that move as told give their velocity to the faces they close; it does not matter what the others give.
    stepper.set_guest_twists(model, &twists_of(&solids[..rigid]), None);
    let mut memory = viscous::Memory {
        pattern: std::mem::take(&mut stepper.factor_pattern),
        hierarchy: std::mem::take(&mut stepper.pressure_hierarchy),
    };
    let problem = stepper.problem(model);
    let first = model.obstacles.len();
    let mut operators =
        Operators::with_soft(&problem, stepper.guests(), first, &movable, Some(soft), Some(viscous), options)
            .map_err(&failed)?;
    // What solids close keeps the advected velocity here: it is the momentum that is lumped.
    problem.apply_known(&mut state.velocity, dt);
    let mut structure = viscous::Structure {
        scalar_masses: soft.scalar_masses(),
        solids: solids.iter().map(|solid| solid.mass.clone()).collect(),
        velocity: soft.velocity.to_vec(),
        resistance: soft.resistance,
        demands,
    };
    structure.velocity.resize(scalars + n * solids.len(), 0.0);
    for (solid, part) in solids.iter().zip(structure.velocity[scalars..].chunks_exact_mut(n)) {
        solid.twist.write(part);
    }
    let FluidState { velocity, pressure, .. } = state;
    let (report, corrections) = viscous::solve(
        &problem,
        &mut operators,
        viscous,
        &mut structure,
        velocity,
        pressure,
        dt,
        &model.options.pressure,
        &mut memory,
    )?;
    (stepper.factor_pattern, stepper.pressure_hierarchy) = (memory.pattern, memory.hierarchy);
    soft.velocity.copy_from_slice(&structure.velocity[..scalars]);
    read_twists(&structure.velocity[scalars..], solids);
    let on_particles = operators.particle_velocities(&structure.velocity);
    // Faces inside solids and on walls.
    stepper.set_guest_twists(model, &twists_of(&solids[..rigid]), None);
    stepper.set_face_velocities(model, &on_particles, None);
    if let Some(walls) = stepper.walls() {
        walls.impose(&mut state.velocity);
    }
    for (axis, face, change) in corrections {
        let component = state.velocity.component_mut(axis);
        component.set(face, component.at(face) + change);
    }
    Ok(report)
}
