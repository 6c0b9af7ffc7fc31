//! The coupled solves of a world's step (spec/fluid-structure.md 3.11): one for the positions, one for the velocities.
//!
//! | stage | positions | what |
//! |---|---|---|
//! | [`CouplingStage::half`] | `x^n` | `v^{n+1/2}` with the fluid over half a step; the fluid's own result is dropped |
//! | [`CouplingStage::full`] | `x^{n+1}` | transport of the fluid from `u^n`, then `u^{n+1}` and `v^{n+1}` in one solve |
//! | [`CouplingStage::finish`] | `x^{n+1}` | where joints or contact have changed velocities since, all is solved for once more with what they demand in the same system |

use super::driver::{SoftSolve, solve_with_soft};
use super::held::{Demands, End, HeldRow, Links};
use super::resistance::StackedResistance;
use super::soft::{SheetSurface, SoftGuest, SoftParticles, SoftSurfaces, sheets_of, volume_rows};
use super::{CouplingOptions, CouplingReport, Immersed, Operators, SolidMass, Viscous, Weights};
use crate::{Model, State};
use splashdown_fluid::{
    FaceMasses, FluidError, FluidModel, FluidState, FluidStepper, Form, Guest, Placement,
};
use splashdown_geometry::Aabb;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::{Body, Geometry, Motion};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A rigid body's geometry as the fluid sees it.
struct BodyForm<const D: usize>(Arc<Geometry<D>>)
where
    Dim<D>: Space<D>;

impl<const D: usize> Form<D> for BodyForm<D>
where
    Dim<D>: Space<D>,
{
    fn signed_distance(&self, point: &Vector<D>) -> f64 {
        self.0.distance_and_normal(point).0
    }

    fn world_bounds(&self, frame: &Frame<D>) -> Aabb<D> {
        self.0.world_bounds(frame)
    }
}

/// A body's geometry and the form made of it.
type KnownForm<const D: usize> = (Arc<Geometry<D>>, Arc<dyn Form<D>>);

/// A change of velocity (relative to the largest) below which joints and contact have left a body alone.
const UNCHANGED: f64 = 1e-12;

/// Most of a cell that a particle of a soft body goes in a step by its velocity at the start.
const MOST_CELLS: f64 = 0.7;

/// What the coupled solves keep within a step.
pub(crate) struct CouplingStage<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Forms of the bodies, kept while their geometry is the same.
    forms: Vec<Option<KnownForm<D>>>,
    /// Bodies in the fluid: one a guest.
    bodies: Vec<usize>,
    /// The bodies of the solve: these, then those that are not in the fluid but carry particles of solids that are.
    listed: Vec<usize>,
    /// Which of the listed carries each particle, and where it is from that one's centre of mass (m); empty if none is carried.
    carried: Vec<Option<(usize, Vector<D>)>>,
    /// Twists of the listed as the solve to the full step left them.
    solved: Vec<Twist<D>>,
    /// Soft bodies in the fluid: the guests after the rigid ones.
    soft: Vec<SoftGuest<D>>,
    surfaces: SoftSurfaces,
    /// The particle of each point of the sheets in the fluid.
    sheet_particles: Vec<usize>,
    /// The sheets where their weights are by area.
    sheet_surface: Option<SheetSurface<D>>,
    /// The guests' `v*` of the solve to the full step; the stepper keeps `u*`.
    star: Option<Vec<Immersed<D>>>,
    /// Velocities of soft bodies before and after that solve, and their inverse masses.
    soft_star: Vec<f64>,
    soft_velocity: Vec<f64>,
    soft_inverses: Vec<f64>,
    /// Implicit elasticity and damping in that solve, and whether elasticity is part of it.
    soft_resistance: Option<StackedResistance>,
    stiff: bool,
    /// The fluid at the end of the step, before it is completed.
    next: Option<FluidState<D>>,
    /// Rates of volume of incompressible bodies in that solve.
    volume_rows: Vec<Vec<(usize, f64)>>,
    /// Momentum (kg m/s) of the fluid at the end of the step, where it is kept.
    pub momentum: Option<Vector<D>>,
    /// What the solves did.
    pub reports: Vec<(&'static str, CouplingReport)>,
}

impl<const D: usize> Default for CouplingStage<D>
where
    Dim<D>: Space<D>,
{
    fn default() -> Self {
        Self {
            forms: Vec::new(),
            bodies: Vec::new(),
            listed: Vec::new(),
            carried: Vec::new(),
            solved: Vec::new(),
            soft: Vec::new(),
            surfaces: SoftSurfaces::default(),
            sheet_particles: Vec::new(),
            sheet_surface: None,
            star: None,
            soft_star: Vec::new(),
            soft_velocity: Vec::new(),
            soft_inverses: Vec::new(),
            soft_resistance: None,
            stiff: false,
            next: None,
            volume_rows: Vec::new(),
            momentum: None,
            reports: Vec::new(),
        }
    }
}

impl<const D: usize> CouplingStage<D>
where
    Dim<D>: Space<D>,
{
    /// Is there anything to couple: a fluid, and a body that reaches into it?
    pub fn is_active(model: &Model<D>, state: &State<D>, soft: bool) -> bool {
        let (Some(fluid), Some(options)) = (&model.fluid, &model.coupling) else { return false };
        let alone = options.without_solids && fluid.liquids.iter().any(|liquid| liquid.viscosity > 0.0);
        alone
            || soft
            || model.bodies.iter().zip(&state.bodies).any(|(body, now)| is_immersed(fluid, body, &now.frame))
    }

    /// The bodies that reach into the fluid, where they are.
    pub fn guests(
        &mut self,
        fluid: &FluidModel<D>,
        bodies: &[Body<D>],
        at: impl Fn(usize) -> Frame<D>,
    ) -> Vec<Guest<D>> {
        self.forms.resize_with(bodies.len(), || None);
        self.bodies.clear();
        // Fluid without viscosity slides along bodies.
        let slip = fluid.liquids.iter().all(|liquid| liquid.viscosity == 0.0);
        let mut guests = Vec::new();
        for (index, body) in bodies.iter().enumerate() {
            let frame = at(index);
            let Some(geometry) = body.geometry.as_ref().filter(|_| is_immersed(fluid, body, &frame)) else {
                continue;
            };
            let known = self.forms[index].as_ref().filter(|(old, _)| Arc::ptr_eq(old, geometry));
            let form = match known {
                Some((_, form)) => form.clone(),
                None => {
                    let form: Arc<dyn Form<D>> = Arc::new(BodyForm(geometry.clone()));
                    self.forms[index] = Some((geometry.clone(), form.clone()));
                    form
                }
            };
            self.bodies.push(index);
            let slip = slip || body.immersion.slips;
            guests.push(Guest { form, placement: Placement::at_rest(frame), slip });
        }
        guests
    }

    /// The bodies of the guests last made.
    pub fn bodies(&self) -> &[usize] {
        &self.bodies
    }

    /// Lists the bodies of a solve, once the guests are placed.
    fn list(&mut self, soft: Option<&SoftParticles<D>>, frame: impl Fn(usize) -> Frame<D>) {
        self.listed.clone_from(&self.bodies);
        self.carried.clear();
        let Some(soft) = soft.filter(|soft| self.any_soft() && !soft.solids.bindings.is_empty()) else {
            return;
        };
        let mut numbers: BTreeMap<usize, usize> =
            self.listed.iter().enumerate().map(|(number, &body)| (body, number)).collect();
        self.carried.resize(soft.velocity.len() / D, None);
        for binding in &soft.solids.bindings {
            let body = binding.body as usize;
            let number = *numbers.entry(body).or_insert_with(|| {
                self.listed.push(body);
                self.listed.len() - 1
            });
            let arm = frame(body).vector_to_world(&binding.place);
            self.carried[binding.particle as usize] = Some((number, arm));
        }
    }

    /// The bodies as the solve sees them, with the velocities of `motions`.
    fn immersed(
        &self,
        model: &Model<D>,
        frame: impl Fn(usize) -> Frame<D>,
        motions: &[Motion<D>],
    ) -> Vec<Immersed<D>> {
        let of_body = |(number, &index): (usize, &usize)| {
            let body = immersed_body(model, index, &frame(index), &motions[index]);
            // Those that only carry have no surface in the fluid.
            if number < self.bodies.len() { body } else { Immersed { flow: Twist::zero(), ..body } }
        };
        self.listed.iter().enumerate().map(of_body).collect()
    }

    /// Writes the velocities of those that can move to `motions`.
    fn write(
        &self,
        model: &Model<D>,
        frame: impl Fn(usize) -> Frame<D>,
        immersed: &[Immersed<D>],
        motions: &mut [Motion<D>],
    ) {
        for (solid, &index) in immersed.iter().zip(&self.listed) {
            if solid.mass.is_some() {
                motions[index] = Motion::from_twist(&model.bodies[index], &frame(index), &solid.twist);
            }
        }
    }

    /// Gives the stepper the guests, with those soft bodies after them that reach into the fluid, and the sheets on their way from `before` (m, flat).
    pub fn place(
        &mut self,
        stepper: &mut FluidStepper<D>,
        fluid: &FluidModel<D>,
        mut guests: Vec<Guest<D>>,
        before: &[f64],
        soft: Option<&SoftParticles<D>>,
        weights: Weights,
    ) {
        self.soft.clear();
        self.sheet_particles.clear();
        let mut sheets = Vec::new();
        if let Some(soft) = soft {
            let slip = fluid.liquids.iter().all(|liquid| liquid.viscosity == 0.0);
            let (more, forms) = self.surfaces.guests(fluid, soft.solids, soft.position, slip);
            guests.extend(more);
            self.soft = forms;
            (sheets, self.sheet_particles) = sheets_of(fluid, soft.solids, before, soft.position);
        }
        let by_area = weights == Weights::Area && !sheets.is_empty();
        self.sheet_surface = by_area.then(|| SheetSurface::new(&sheets, *fluid.domain.grid()));
        stepper.set_guests(guests);
        stepper.set_sheets(sheets);
    }

    /// Do soft bodies or sheets reach into the fluid, as last placed?
    pub fn any_soft(&self) -> bool {
        !(self.soft.is_empty() && self.sheet_particles.is_empty())
    }

    /// The soft bodies as the solve sees them.
    fn soft_solve<'a>(&'a self, soft: Option<SoftParticles<'a, D>>, inverses: &'a [f64]) -> SoftSolve<'a, D> {
        let (guests, sheet_particles) = (&self.soft[..], &self.sheet_particles[..]);
        let sheet_surface = self.sheet_surface.as_ref();
        let nothing = SoftSolve { guests, sheet_particles, sheet_surface, ..SoftSolve::nothing() };
        match soft.filter(|_| self.any_soft()) {
            Some(SoftParticles { velocity, .. }) => {
                SoftSolve { inverse_mass: inverses, carried: &self.carried, velocity, ..nothing }
            }
            None => nothing,
        }
    }

    /// Implicit forces of the soft bodies, with the bodies that carry some of their particles.
    fn resistance(
        &self,
        soft: Option<&SoftParticles<D>>,
        immersed: &[Immersed<D>],
    ) -> Result<Option<StackedResistance>, FluidError> {
        let Some(own) = soft.filter(|_| self.any_soft()).and_then(|soft| soft.resistance) else {
            return Ok(None);
        };
        StackedResistance::new(&own, &self.carried, immersed.iter().map(|solid| solid.twist))
            .map(Some)
            .map_err(FluidError::solve("coupled flow"))
    }

    /// That incompressible bodies keep the rates of volume that their own solve has found.
    fn volume(
        &mut self,
        soft: Option<&SoftParticles<D>>,
        immersed: &[Immersed<D>],
        inverses: &[f64],
    ) -> Result<Demands, FluidError> {
        self.volume_rows.clear();
        let Some(soft) = soft.filter(|_| self.any_soft()) else { return Ok(Demands::default()) };
        self.volume_rows = volume_rows(soft, &self.carried).map_err(FluidError::solve("coupled flow"))?;
        Ok(Demands::kept(&self.volume_rows, soft.velocity, immersed, inverses))
    }

    /// The bodies' velocities at the half step.
    pub fn half(
        &mut self,
        stepper: &mut FluidStepper<D>,
        model: &Model<D>,
        state: &State<D>,
        dt: f64,
        motions: &mut [Motion<D>],
        soft: Option<SoftParticles<D>>,
    ) -> Result<(), FluidError> {
        self.reports.clear();
        self.next = None;
        self.momentum = None;
        let (Some(fluid), Some(now), Some(options)) = (&model.fluid, &state.fluid, &model.coupling) else {
            return Ok(());
        };
        if options.stokes {
            return Ok(());
        }
        let frame = |index: usize| state.bodies[index].frame;
        let guests = self.guests(fluid, &model.bodies, frame);
        let here = soft.as_ref().map_or(&[][..], |soft| soft.position);
        self.place(stepper, fluid, guests, here, soft.as_ref(), options.weights);
        self.list(soft.as_ref(), frame);
        let mut immersed = self.immersed(model, frame, motions);
        if immersed.iter().all(|solid| solid.mass.is_none()) && !self.any_soft() {
            return Ok(());
        }
        let mut half = now.without_particles();
        stepper.push(fluid, &mut half, 0.5 * dt)?;
        let inverses = soft.as_ref().map_or_else(Vec::new, |soft| soft.solids.inverse_masses_in_fluid());
        let resistance = self.resistance(soft.as_ref(), &immersed)?;
        let demands = self.volume(soft.as_ref(), &immersed, &inverses)?;
        let mut particles = self.soft_solve(soft, &inverses);
        particles.resistance = resistance.as_ref().map(StackedResistance::view);
        let report = solve_with_soft(
            stepper,
            fluid,
            &mut half,
            0.5 * dt,
            &mut immersed,
            &mut particles,
            &demands,
            options,
        )?;
        self.reports.push(("fluid half", report));
        self.write(model, frame, &immersed, motions);
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "what the stage of the step knows")]
    /// The bodies' velocities at the full step, where `frames` has them, and the fluid's.
    pub fn full(
        &mut self,
        stepper: &mut FluidStepper<D>,
        model: &Model<D>,
        state: &State<D>,
        frames: &[Frame<D>],
        dt: f64,
        motions: &mut [Motion<D>],
        soft: Option<SoftParticles<D>>,
    ) -> Result<(), FluidError> {
        let (Some(fluid), Some(now), Some(options)) = (&model.fluid, &state.fluid, &model.coupling) else {
            return Ok(());
        };
        let frame = |index: usize| frames[index];
        let inverses = soft.as_ref().map_or_else(Vec::new, |soft| soft.solids.inverse_masses_in_fluid());
        // The stepper has everything where it was for the solve to the half step.
        let momentum = if fluid.options.keep_momentum && self.is_solved() {
            let masses = self.face_masses(stepper, model, fluid, &inverses, options)?;
            Some(masses.momentum(&now.velocity))
        } else {
            None
        };
        let mut guests = self.guests(fluid, &model.bodies, frame);
        // What carries the surface near a body is the body's way over the step.
        for (guest, &index) in guests.iter_mut().zip(&self.bodies) {
            guest.placement.twist = state.bodies[index].frame.twist_to(&frames[index], dt);
        }
        let before = &state.solids.motion.position;
        self.place(stepper, fluid, guests, before, soft.as_ref(), options.weights);
        self.list(soft.as_ref(), frame);
        let mut immersed = self.immersed(model, frame, motions);
        let mut next = now.clone();
        stepper.carry(fluid, &mut next, dt)?;
        if let Some(momentum) = momentum {
            let masses = self.face_masses(stepper, model, fluid, &inverses, options)?;
            masses.restore(&fluid.domain, &now.velocity, &momentum, &mut next.velocity);
        }
        stepper.add_forces(fluid, &mut next, dt);
        stepper.keep_velocity(&next);
        self.star = Some(immersed.clone());
        let resistance = self.resistance(soft.as_ref(), &immersed)?;
        let demands = self.volume(soft.as_ref(), &immersed, &inverses)?;
        let stiff = soft.as_ref().is_some_and(|soft| soft.solids.is_stiff());
        let mut particles = self.soft_solve(soft, &inverses);
        particles.resistance = resistance.as_ref().map(StackedResistance::view);
        let soft_star = particles.velocity.to_vec();
        let report =
            solve_with_soft(stepper, fluid, &mut next, dt, &mut immersed, &mut particles, &demands, options)?;
        let after = particles.velocity.to_vec();
        (self.soft_star, self.soft_velocity, self.soft_inverses) = (soft_star, after, inverses);
        (self.soft_resistance, self.stiff) = (resistance, stiff);
        self.reports.push(("fluid", report));
        self.solved = immersed.iter().map(|solid| solid.twist).collect();
        self.write(model, frame, &immersed, motions);
        self.next = Some(next);
        Ok(())
    }

    /// Masses of the faces of the fluid where the stepper has everything, with those that move with solids.
    fn face_masses(
        &self,
        stepper: &FluidStepper<D>,
        model: &Model<D>,
        fluid: &FluidModel<D>,
        inverses: &[f64],
        options: &CouplingOptions,
    ) -> Result<FaceMasses<D>, FluidError> {
        let mut velocity = vec![0.0; D * inverses.len()];
        let soft =
            SoftSolve { inverse_mass: inverses, velocity: &mut velocity, ..self.soft_solve(None, &[]) };
        let movable: Vec<bool> = self
            .bodies
            .iter()
            .map(|&body| model.bodies[body].is_dynamic() && !model.bodies[body].immersion.one_way)
            .chain(self.soft.iter().map(|_| true))
            .collect();
        let (problem, first) = (stepper.problem(fluid), fluid.obstacles.len());
        let viscosity = fluid.liquids[0].viscosity;
        let viscous = (viscosity > 0.0 && fluid.liquids.len() == 1).then_some(Viscous { viscosity, dt: 1.0 });
        Operators::with_soft(&problem, stepper.guests(), first, &movable, Some(&soft), viscous, options)
            .map(|operators| operators.face_masses())
            .map_err(FluidError::solve("momentum of the fluid"))
    }

    /// Does the solve that is pending hold soft bodies, too?
    pub fn takes_soft(&self) -> bool {
        self.is_pending() && self.any_soft()
    }

    /// Was there a solve to the half step?
    pub fn is_solved(&self) -> bool {
        !self.reports.is_empty()
    }

    /// Was there a solve to the full step, so that the fluid must be told what contact and joints do?
    pub fn is_pending(&self) -> bool {
        self.next.is_some()
    }

    /// The fluid at the end of the step, after joints and contact have had their say on `motions`. Where they changed anything, everything is solved for once more, with what they
    /// demand (`held`) as part of the system.
    #[expect(clippy::too_many_arguments, reason = "what the stage of the step knows")]
    pub fn finish(
        &mut self,
        stepper: &mut FluidStepper<D>,
        model: &Model<D>,
        frames: &[Frame<D>],
        dt: f64,
        motions: &mut [Motion<D>],
        soft: &mut [f64],
        held: &[HeldRow<D>],
    ) -> Result<Option<FluidState<D>>, FluidError> {
        let (Some(fluid), Some(options)) = (&model.fluid, &model.coupling) else { return Ok(None) };
        let (Some(mut next), Some(mut immersed)) = (self.next.take(), self.star.take()) else {
            return Ok(None);
        };
        let frame = |index: usize| frames[index];
        let after = self.immersed(model, frame, motions);
        let fastest = after.iter().map(|solid| solid.twist.linear.norm()).fold(0.0, f64::max);
        let changes: Vec<Option<Twist<D>>> = self
            .solved
            .iter()
            .zip(&after)
            .zip(&self.listed)
            .map(|((&solved, after), &body)| {
                let change = after.twist - solved;
                let any = change.dot(&change).sqrt() > UNCHANGED * fastest;
                (model.bodies[body].is_dynamic() && any).then_some(change)
            })
            .collect();
        let soft_changed = self.any_soft() && self.soft_velocity != soft;
        // Obstacles of particles are not in the solve to the full step.
        let stopped = self.any_soft()
            && self.stiff
            && held.iter().any(|row| matches!(row.ends[..], [(End::Particle(_), _)]));
        if soft_changed || stopped || changes.iter().any(Option::is_some) {
            let mut links =
                Links::new(&self.listed, immersed.len(), if self.any_soft() { soft.len() } else { 0 });
            links.add(model, frames, motions, soft, &self.soft_inverses, held);
            // Forces that no demand stands for, such as friction of what slides, act as they were, on the fluid that moves with the body as well.
            for (number, change) in changes.iter().enumerate() {
                let Some(change) = change else { continue };
                match after[number].mass {
                    Some(_) => immersed[number].twist += *change,
                    None => immersed[number] = after[number].clone(),
                }
            }
            let listed = immersed.len();
            immersed.extend(
                links.dry.iter().map(|&body| immersed_body(model, body, &frames[body], &motions[body])),
            );
            let inverses = self.soft_inverses.clone();
            if self.any_soft() {
                for (scalar, now) in soft.iter_mut().enumerate() {
                    let change = *now - self.soft_velocity[scalar];
                    if change == 0.0 || inverses[scalar / D] > 0.0 {
                        *now = self.soft_star[scalar] + change;
                    }
                }
            }
            stepper.restore_velocity(&mut next);
            let mut particles = if self.any_soft() {
                SoftSolve {
                    guests: &self.soft,
                    sheet_particles: &self.sheet_particles,
                    sheet_surface: self.sheet_surface.as_ref(),
                    inverse_mass: &inverses,
                    carried: &self.carried,
                    velocity: soft,
                    resistance: self.soft_resistance.as_ref().map(StackedResistance::view),
                }
            } else {
                SoftSolve::nothing()
            };
            let mut demands = links.demands(particles.velocity.len());
            demands.append(Demands::kept(&self.volume_rows, particles.velocity, &immersed, &inverses));
            let report = solve_with_soft(
                stepper,
                fluid,
                &mut next,
                dt,
                &mut immersed,
                &mut particles,
                &demands,
                options,
            )?;
            self.reports.push(("fluid after contact", report));
            self.write(model, frame, &immersed[..listed], motions);
            for (&body, solid) in links.dry.iter().zip(&immersed[listed..]) {
                motions[body] = Motion::from_twist(&model.bodies[body], &frames[body], &solid.twist);
            }
        }
        stepper.complete(fluid, &mut next, dt)?;
        if fluid.options.keep_momentum {
            let masses = self.face_masses(stepper, model, fluid, &self.soft_inverses, options)?;
            self.momentum = Some(masses.momentum(&next.velocity));
        }
        Ok(Some(next))
    }

    /// Longest step (s) in which no point of a body in the fluid crosses more than a cell.
    pub fn stable_step(model: &Model<D>, state: &State<D>) -> f64 {
        let Some(fluid) = &model.fluid else { return f64::INFINITY };
        if model.coupling.is_none_or(|options| options.stokes) {
            return f64::INFINITY;
        }
        let h = fluid.domain.grid().min_spacing();
        let limit = |(body, now): (&Body<D>, &splashdown_rigid::BodyState<D>)| {
            let geometry = body.geometry.as_ref().filter(|g| g.radius().is_finite());
            let Some(geometry) = geometry.filter(|_| is_immersed(fluid, body, &now.frame)) else {
                return f64::INFINITY;
            };
            let twist: Twist<D> = now.twist(body);
            let spin = splashdown_math::Coordinates::norm(&twist.angular);
            let speed = twist.linear.norm() + geometry.radius() * spin;
            // Gravity adds to it within the step.
            let g = if body.is_dynamic() { model.gravity.norm() } else { 0.0 };
            let root = (speed * speed + 4.0 * g * h).sqrt();
            if speed + root > 0.0 { 2.0 * h / (speed + root) } else { f64::INFINITY }
        };
        let rigid = model.bodies.iter().zip(&state.bodies).map(limit).fold(f64::INFINITY, f64::min);
        let (inside, motion) = (fluid.domain.grid().bounds().grown(h), &state.solids.motion);
        let particles = motion.position.chunks_exact(D).zip(motion.velocity.chunks_exact(D));
        let periodic = fluid.domain.periodic().contains(&true);
        let near = particles.filter(|(x, _)| periodic || inside.contains(&Vector::from_column_slice(x)));
        let fastest = near.map(|(_, v)| v.iter().map(|v| v * v).sum::<f64>()).fold(0.0, f64::max).sqrt();
        if fastest > 0.0 { rigid.min(MOST_CELLS * h / fastest) } else { rigid }
    }
}

/// A body as the solve sees it.
fn immersed_body<const D: usize>(
    model: &Model<D>,
    index: usize,
    frame: &Frame<D>,
    motion: &Motion<D>,
) -> Immersed<D>
where
    Dim<D>: Space<D>,
{
    let body = &model.bodies[index];
    let inertia = Dim::rotate_inertia(&frame.rotation, &body.inertia);
    Immersed {
        mass: (body.is_dynamic() && !body.immersion.one_way).then(|| SolidMass::new(body.mass, &inertia)),
        twist: motion.twist(body, frame),
        flow: Twist {
            linear: frame.vector_to_world(&body.surface_flow.linear),
            angular: Dim::rotate_spin(&frame.rotation, &body.surface_flow.angular),
        },
    }
}

fn is_immersed<const D: usize>(fluid: &FluidModel<D>, body: &Body<D>, frame: &Frame<D>) -> bool
where
    Dim<D>: Space<D>,
{
    let Some(geometry) = &body.geometry else { return false };
    let periodic = fluid.domain.periodic().contains(&true);
    periodic || geometry.world_bounds(frame).overlaps(&fluid.domain.grid().bounds())
}
