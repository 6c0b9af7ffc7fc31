//! The parts of the system from the grid and the solids in it, and its solution put back there.

use super::super::driver::SoftSolve;
use super::super::held::Demands;
use super::super::interface::row_of;
use super::super::mass::{SolidMass, multiply};
use super::super::operators::{Operators, scatter_impulses};
use super::super::resistance::energy_of_velocities;
use super::super::viscous::{Correction, close_regions};
use super::super::{CouplingOptions, CouplingReport, Immersed, Viscous};
use super::indefinite::entries_of;
use super::{CoupledParts, CouplingForm, LEAST_DIVERGENCE, MAX_ITERATIONS, TOLERANCE};
use splashdown_fluid::{FluidError, FluidModel, FluidState, FluidStepper};
use splashdown_math::{Dim, Space, Twist, Vector};
use splashdown_solve::{CsrMatrix, NullSpace, SolveError, Stopping};

/// The parts of the system of `solids` in the stepper's fluid, with the grid's numbering.
pub struct Formed<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// The matrices.
    pub parts: CoupledParts,
    /// Velocities of free and coupling faces before the solve.
    pub faces: Vec<f64>,
    /// Velocities of the solids before the solve.
    pub solids: Vec<f64>,
    /// Pressures that nothing feels.
    pub null_space: NullSpace,
    operators: Operators<D>,
    corrections: Vec<Correction<D>>,
}

/// Assembles the system of rigid solids; `viscous` is the viscosity that takes part in it.
///
/// # Errors
/// As [`super::super::solve_coupled`].
pub fn form_system<const D: usize>(
    stepper: &mut FluidStepper<D>,
    model: &FluidModel<D>,
    state: &mut FluidState<D>,
    dt: f64,
    solids: &[Immersed<D>],
    options: &CouplingOptions,
    viscous: Option<Viscous>,
) -> Result<Formed<D>, FluidError>
where
    Dim<D>: Space<D>,
{
    assemble(stepper, model, state, dt, solids, &SoftSolve::nothing(), &Demands::default(), options, viscous)
}

/// Part of a whole cell's mass that faces inside a solid get, which have no fluid and are there for their velocity only.
const TRACE: f64 = 1e-9;

#[expect(clippy::too_many_arguments, reason = "the parts of one linear system")]
#[inline(never)]
fn assemble<const D: usize>(
    stepper: &mut FluidStepper<D>,
    model: &FluidModel<D>,
    state: &mut FluidState<D>,
    dt: f64,
    solids: &[Immersed<D>],
    soft: &SoftSolve<D>,
    demands: &Demands,
    options: &CouplingOptions,
    viscous: Option<Viscous>,
) -> Result<Formed<D>, FluidError>
where
    Dim<D>: Space<D>,
{
    let failed = FluidError::solve("coupled flow");
    let (n, scalars) = (Twist::<D>::LEN, soft.velocity.len());
    let width = scalars + n * solids.len();
    let rigid = stepper.guests().len() - soft.guests.len();
    // Faces of solids that can move contribute through their unknowns, not through the walls' velocities.
    let movable = |guest: usize| guest >= rigid || solids[guest].mass.is_some();
    let told: Vec<Twist<D>> =
        (0..rigid).map(|guest| if movable(guest) { Twist::zero() } else { solids[guest].twist }).collect();
    stepper.set_guest_twists(model, &told, None);
    let problem = stepper.problem(model);
    let (first, guests) = (model.obstacles.len(), stepper.guests());
    let can_move: Vec<bool> = (0..guests.len()).map(movable).collect();
    let operators = Operators::with_soft(&problem, guests, first, &can_move, Some(soft), viscous, options)
        .map_err(&failed)?;
    let grid = problem.domain.grid();

    let direct = operators.direct(grid, problem.domain.periodic(), 0, width).map_err(&failed)?;
    let sampling = CsrMatrix::from_rows(width, operators.bound.iter().map(|face| face.columns.clone()))
        .map_err(&failed)?;
    let scalar_mass = (0..scalars)
        .map(|scalar| match soft.inverse_mass.get(scalar / D) {
            Some(&inverse) if inverse > 0.0 => 1.0 / inverse,
            _ => f64::INFINITY,
        })
        .collect();
    let bodies = solids.iter().map(|solid| solid.mass.as_ref().map(|mass| mass.entries().to_vec())).collect();
    // Positions of the bound faces along their own axes, for the common centre.
    let mut arms: Vec<Vec<(f64, usize, Vector<D>)>> = vec![Vec::new(); solids.len()];
    for axis in 0..D {
        let lattice = *problem.walls.velocity().component(axis).lattice();
        let numbers = operators.bound_numbers.first(axis)..;
        for (number, face) in numbers.zip(operators.bound_numbers.axis(axis).indices()) {
            let bound = &operators.bound[number];
            if bound.guest < rigid {
                let centre = &guests[bound.guest].placement.frame.position;
                let arm = problem.domain.arm(centre, &lattice.position(face));
                arms[bound.guest].push((bound.mass, axis, arm));
            }
        }
    }
    let of_body =
        |(solid, arms): (&Immersed<D>, &Vec<_>)| solid.mass.as_ref().map(|mass| centred_mass(mass, arms));
    let centred = solids.iter().zip(&arms).map(of_body).collect();
    let trace = TRACE * model.liquids[0].density * grid.cell_volume();
    let mut face_mass = operators.masses.clone();
    face_mass.extend(operators.bound.iter().map(|face| if face.mass > 0.0 { face.mass } else { trace }));

    // What acts on the velocities before the solve, and these.
    problem.apply_known(&mut state.velocity, dt);
    let faces = operators.gather(&state.velocity);
    let mut velocities = soft.velocity.to_vec();
    velocities.resize(width, 0.0);
    for (solid, slot) in solids.iter().zip(velocities[scalars..].chunks_exact_mut(n)) {
        solid.twist.write(slot);
    }
    let (damping, unfactored) = resist(soft, solids, options.form, &mut velocities).map_err(&failed)?;
    let mut parts = CoupledParts {
        face_mass,
        free: operators.free.len(),
        divergence: operators.divergence.clone(),
        known_flux: operators.known_flux.clone(),
        strain: operators.strain.clone(),
        known_strain: operators.known_strain.clone(),
        source: vec![0.0; operators.bound.len()],
        sampling,
        direct,
        scalar_mass,
        bodies,
        twist: n,
        damping,
        demands: CsrMatrix::from_rows(width, demands.rows.iter().cloned()).map_err(&failed)?,
        demanded: demands.values.clone(),
        unfactored,
        centred,
    };
    // Pressures that nothing feels, and the flux that they forbid.
    let moving = parts.with_known_solids(&velocities).map_err(&failed)?;
    let null_space = moving.null_space(&operators.grounded).map_err(&failed)?;
    let mut flux = vec![0.0; operators.cells.len()];
    parts.flux(0..parts.free).map_err(&failed)?.multiply(&faces[..parts.free], &mut flux);
    for (value, known) in flux.iter_mut().zip(&moving.known_flux) {
        *value = -*value - known;
    }
    let before = flux.clone();
    let corrections = close_regions(&operators, &null_space, &mut flux);
    for ((known, before), after) in parts.known_flux.iter_mut().zip(&before).zip(&flux) {
        *known += before - after;
    }
    Ok(Formed { parts, faces, solids: velocities, null_space, operators, corrections })
}

/// Implicit forces of the solids: their factor `C` where the form needs it, `C^T C` itself elsewhere. `velocities` become those before these forces, `v* + M^-1 S w`.
fn resist<const D: usize>(
    soft: &SoftSolve<D>,
    solids: &[Immersed<D>],
    form: CouplingForm,
    velocities: &mut [f64],
) -> Result<(CsrMatrix, Option<CsrMatrix>), SolveError>
where
    Dim<D>: Space<D>,
{
    let (scalars, n, width) = (soft.velocity.len(), Twist::<D>::LEN, velocities.len());
    let none = CsrMatrix::zeros(0, width);
    let Some(resistance) = &soft.resistance else { return Ok((none, None)) };
    let masses = soft.scalar_masses();
    let told = |column: usize| match column.checked_sub(scalars) {
        None => masses[column].is_none(),
        Some(at) => solids[at / n].mass.is_none(),
    };
    let (rows, more) = resistance.rows(told, velocities);
    for ((velocity, more), mass) in velocities.iter_mut().zip(&more).zip(&masses) {
        *velocity += mass.map_or(0.0, |mass| more / mass);
    }
    let bodies = velocities[scalars..].chunks_exact_mut(n).zip(more[scalars..].chunks_exact(n));
    for ((velocity, more), solid) in bodies.zip(solids) {
        let Some(inverse) = solid.mass.as_ref().and_then(SolidMass::inverse) else { continue };
        (Twist::<D>::read(velocity) + multiply(&inverse, &Twist::read(more))).write(velocity);
    }
    match resistance.factor.filter(|_| form == CouplingForm::Impulses) {
        Some(factor) => {
            let rows = (0..factor.rows()).map(|row| {
                entries_of(factor, row).into_iter().filter(|(column, _)| !told(*column)).collect::<Vec<_>>()
            });
            Ok((CsrMatrix::from_rows(width, rows)?, None))
        }
        None => Ok((none, Some(CsrMatrix::from_rows(width, rows)?))),
    }
}

/// The source's lumped mass of a rigid body (eq. 22 to 24 of 2008): a mass for each axis, all at a common centre, and the inertia about it; as one block about the body's own
/// centre of mass. That centre parts linear from angular momentum only where the lumped mass is the same along all axes (spec/fluid-structure.md 3.3), so this is an approximation.
fn centred_mass<const D: usize>(mass: &SolidMass<D>, faces: &[(f64, usize, Vector<D>)]) -> Vec<f64>
where
    Dim<D>: Space<D>,
{
    let n = Twist::<D>::LEN;
    let entries = mass.entries();
    let body = entries[0];
    let (mut masses, mut centre) = ([body; D], Vector::<D>::zeros());
    for (mass, axis, arm) in faces {
        masses[*axis] += mass;
        centre[*axis] += mass * arm[*axis];
    }
    (0..D).for_each(|axis| centre[axis] /= masses[axis]);
    // What moves along `axis` only, at `arm` from the common centre, turns with the body.
    let mut block = SolidMass::<D>::from_entries(vec![0.0; n * n]);
    let mut turn = |mass: f64, axis: usize, arm: &Vector<D>| {
        let row = row_of(axis, arm);
        block.add(mass, &Twist { linear: Vector::zeros(), ..row });
    };
    (0..D).for_each(|axis| turn(body, axis, &-centre));
    faces.iter().for_each(|(mass, axis, arm)| turn(*mass, *axis, &(arm - centre)));
    (0..D).for_each(|axis| block.add(masses[axis], &row_of(axis, &centre)));
    let mut block = block.entries().to_vec();
    for i in D..n {
        for j in D..n {
            block[i * n + j] += entries[i * n + j];
        }
    }
    block
}

/// [`super::solve_coupled`] in one of the reference forms.
#[expect(clippy::too_many_arguments, reason = "what the driver knows")]
#[inline(never)]
pub(in super::super) fn solve_form<const D: usize>(
    stepper: &mut FluidStepper<D>,
    model: &FluidModel<D>,
    state: &mut FluidState<D>,
    dt: f64,
    solids: &mut [Immersed<D>],
    soft: &mut SoftSolve<D>,
    demands: &Demands,
    options: &CouplingOptions,
    viscous: Option<Viscous>,
) -> Result<CouplingReport, FluidError>
where
    Dim<D>: Space<D>,
{
    let lumped = matches!(options.form, CouplingForm::Lumped | CouplingForm::LumpedDiagonal);
    let viscous = viscous.filter(|_| !lumped);
    if viscous.is_none() {
        stepper.apply_viscosity(model, state, dt)?;
    }
    let formed = assemble(stepper, model, state, dt, solids, soft, demands, options, viscous)?;
    let Formed { parts, faces, solids: start, null_space, operators, corrections } = &formed;
    let tolerance = &model.options.pressure;
    let stopping = Stopping {
        relative: TOLERANCE.min(tolerance.relative),
        max_iterations: MAX_ITERATIONS,
        patience: MAX_ITERATIONS,
        ..Stopping::default()
    };
    let solution = parts.solve(options.form, faces, start, null_space, stopping)?;
    // What is left of the divergence decides, not the norm of rows of many units.
    let mut flux = vec![0.0; parts.divergence.rows()];
    let mut through = flux.clone();
    parts.divergence.multiply(&solution.faces, &mut flux);
    parts.direct.multiply(&solution.solids, &mut through);
    let left = flux.iter().zip(&through).zip(&parts.known_flux).map(|((a, b), c)| (a + b + c).abs());
    let divergence = left.fold(0.0, f64::max) * dt / model.domain.grid().cell_volume();
    if !(divergence <= tolerance.divergence.max(LEAST_DIVERGENCE)) {
        return Err(FluidError::NotConverged {
            what: "coupled flow",
            iterations: solution.iterations,
            residual: solution.relative_residual,
        });
    }

    let (n, scalars) = (Twist::<D>::LEN, soft.velocity.len());
    let masses: Vec<Option<SolidMass<D>>> = solids.iter().map(|solid| solid.mass.clone()).collect();
    let energy = |faces: &[f64], velocity: &[f64]| {
        let of_faces = parts.face_mass.iter().zip(faces).map(|(mass, u)| 0.5 * mass * u * u);
        of_faces.sum::<f64>() + energy_of_velocities(&soft.scalar_masses(), &masses, velocity)
    };
    let kinetic = [energy(faces, start), energy(&solution.faces, &solution.solids)];
    // What is told its velocity does work where that is not zero.
    let told = |(column, velocity): (usize, &f64)| {
        *velocity != 0.0 && !parts.is_movable(column) && !soft.is_carried(column)
    };
    let given = parts.known_flux.iter().chain(&parts.known_strain).chain(&parts.demanded);
    let driven = given.copied().any(|value| value != 0.0) || start.iter().enumerate().any(told);
    soft.velocity.copy_from_slice(&solution.solids[..scalars]);
    for (solid, part) in solids.iter_mut().zip(solution.solids[scalars..].chunks_exact(n)) {
        if solid.mass.is_some() {
            solid.twist = Twist::read(part);
        }
    }
    let rigid = stepper.guests().len() - soft.guests.len();
    let twists: Vec<Twist<D>> = solids[..rigid].iter().map(|solid| solid.twist).collect();
    stepper.set_guest_twists(model, &twists, None);
    stepper.set_face_velocities(model, &operators.particle_velocities(&solution.solids), None);
    operators.scatter(&solution.faces, &mut state.velocity);
    scatter_impulses(&operators.cells, &solution.pressure, &mut state.pressure, dt);
    if let Some(walls) = stepper.walls() {
        walls.impose(&mut state.velocity);
    }
    for &(axis, face, change) in corrections {
        let component = state.velocity.component_mut(axis);
        component.set(face, component.at(face) + change);
    }
    let wall_correction = corrections.iter().fold(0.0, |most, (.., change)| f64::max(most, change.abs()));
    tolerance.refuse_squeeze(wall_correction)?;
    Ok(CouplingReport {
        faces: operators.bound.len(),
        unknowns: operators.cells.len(),
        velocities: if viscous.is_some() { parts.face_mass.len() } else { 0 },
        iterations: solution.iterations,
        relative_residual: solution.relative_residual,
        divergence,
        null_space: null_space.dimension(),
        wall_correction,
        shut_cells: operators.shut_cells,
        kinetic,
        driven,
        ..CouplingReport::default()
    })
}
