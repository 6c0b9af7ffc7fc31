//! What a fluid is: constant during a simulation.

use crate::advect::{Advection, Limiter, PathOrder, Scheme, UpwindScheme};
use crate::domain::Domain;
use crate::error::FluidError;
use crate::forces::BodyForce;
use crate::obstacle::Obstacle;
use crate::pressure::PressureTolerance;
use crate::shell::Shell;
use crate::viscosity::{ViscosityForm, ViscousStep};
use crate::walls::SolidBoundary;
use crate::wetting::Wetting;
use serde::{Deserialize, Serialize};
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Dim, Space, Vector};

/// One fluid of uniform properties.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Liquid {
    /// For messages and output.
    pub name: String,
    /// Mass per volume (kg/m^3; kg/m^2 in 2D).
    pub density: f64,
    /// Dynamic viscosity (Pa s); 0 for none.
    pub viscosity: f64,
}

impl Liquid {
    /// A fluid without viscosity.
    pub fn new(name: impl Into<String>, density: f64) -> Self {
        Self { name: name.into(), density, viscosity: 0.0 }
    }
}

/// Smoke carried by a gas: how much of it there is and how hot the gas is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SmokeModel {
    /// Downward acceleration (m/s^2) for one unit of smoke.
    pub weight: f64,
    /// Upward acceleration (m/s^2) for one kelvin above the surroundings.
    pub lift: f64,
    /// Temperature of the surroundings (K).
    pub ambient_temperature: f64,
    /// Temperature (K) that cooling is measured at.
    pub hottest: f64,
    /// Cooling (K/s) at [`Self::hottest`], falling with the fourth power; 0 for none.
    pub cooling: f64,
    /// Share of the smoke that vanishes in a second (1/s).
    pub decay: f64,
    /// Strength of vorticity confinement; 0 for none.
    pub confinement: f64,
}

impl Default for SmokeModel {
    fn default() -> Self {
        Self {
            weight: 0.001,
            lift: 0.001,
            ambient_temperature: 298.0,
            hottest: 3000.0,
            cooling: 0.0,
            decay: 0.0,
            confinement: 0.0,
        }
    }
}

/// What a source does.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// Sets smoke and temperature (K) in its region.
    Smoke {
        /// Amount of smoke.
        density: f64,
        /// Temperature (K).
        temperature: f64,
    },
    /// Fills its region with this liquid.
    Liquid {
        /// Number of the liquid.
        liquid: usize,
    },
    /// Removes liquid from its region.
    Sink,
    /// Only sets the velocity.
    Stir,
}

/// A region where fluid is made, removed or moved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Source<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Where, in world coordinates.
    pub region: Shape<D>,
    /// What.
    pub kind: SourceKind,
    /// Velocity (m/s) prescribed in the region, if any.
    pub velocity: Option<Vector<D>>,
    /// Divergence (1/s) that the flow shall have in the region: gas that is made there, as by a fire, or taken away. Without surfaces of liquids only.
    #[serde(default)]
    pub expansion: f64,
    /// Active from this time on (s).
    pub start: f64,
    /// Active until this time (s).
    pub end: f64,
}

impl<const D: usize> Source<D>
where
    Dim<D>: Space<D>,
{
    /// A source that is always active and leaves the velocity alone.
    pub fn new(region: Shape<D>, kind: SourceKind) -> Self {
        Self { region, kind, velocity: None, expansion: 0.0, start: 0.0, end: f64::INFINITY }
    }

    /// The same source with a prescribed velocity (m/s).
    pub fn with_velocity(self, velocity: Vector<D>) -> Self {
        Self { velocity: Some(velocity), ..self }
    }

    /// The same source that also makes gas: so much volume a second and volume (1/s).
    pub fn with_expansion(self, expansion: f64) -> Self {
        Self { expansion, ..self }
    }

    /// Is it active at `time` (s)?
    pub fn is_active(&self, time: f64) -> bool {
        self.start <= time && time < self.end
    }
}

/// Surface tension between two liquids, or between one and the air, where it differs from [`SurfaceOptions::tension`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairTension {
    /// Number of one liquid.
    pub liquid: usize,
    /// Number of the other; `None` for the air.
    pub other: Option<usize>,
    /// Surface tension (N/m; N in 2D).
    pub tension: f64,
}

/// How the parts of a step are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeScheme {
    /// Transport, forces, viscosity, pressure: first order in time.
    #[default]
    Splitting,
    /// Half of it, the pressure's push repeated, and the other half (J. Zehnder, R. Narain, B. Thomaszewski, "An advection-reflection solver for
    /// detail-preserving fluid simulation", 2018): second order in time, two projections. Without free surfaces.
    Reflection,
}

/// How the liquid's surface is carried.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SurfaceOptions {
    /// Transport of the level set.
    pub level_set: LevelSetTransport,
    /// How the level set becomes a distance again after it was carried.
    pub redistancing: Redistancing,
    /// Marker particles on both sides of the surface; `None` for the level set alone.
    pub particles: Option<ParticleOptions>,
    /// Particles that carry the liquid's momentum below its surface and tell where it is, instead of markers; for one liquid in air.
    pub apic: Option<ApicOptions>,
    /// Pressure of air at the centre of the next air cell rather than at the surface: first order.
    pub stair_steps: bool,
    /// Surface tension (N/m; N in 2D) between liquid and air, or between any two liquids.
    pub tension: f64,
    /// Keep each liquid's volume by moving its surface along its normal.
    pub volume_correction: bool,
    /// How surfaces meet walls and obstacles.
    pub wetting: Wetting,
    /// Take steps in the part of the box around the liquids, if that is much smaller: air costs nothing then. Not with shells, and not with solids that others simulate.
    pub window: bool,
}

impl Default for SurfaceOptions {
    fn default() -> Self {
        Self {
            level_set: LevelSetTransport::default(),
            redistancing: Redistancing::default(),
            particles: Some(ParticleOptions::default()),
            apic: None,
            stair_steps: false,
            tension: 0.0,
            volume_correction: false,
            wetting: Wetting::default(),
            window: true,
        }
    }
}

/// How a level set becomes a signed distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Redistancing {
    /// Fast marching from the surface: exact in order of distance, works near shells.
    #[default]
    FastMarching,
    /// Evolution of `phi_t + S (|grad phi| - 1) = 0` by this many steps of half a cell; near shells fast marching is used.
    Evolution {
        /// Number of steps.
        iterations: usize,
    },
}

/// Transport of a level set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LevelSetTransport {
    /// Along paths: any step.
    Paths(Advection),
    /// High-order upwind differences; long steps are divided.
    Upwind(UpwindScheme),
}

impl Default for LevelSetTransport {
    fn default() -> Self {
        Self::Upwind(UpwindScheme::Weno5)
    }
}

/// The particle level set (D. Enright, R. Fedkiw, J. Ferziger, I. Mitchell, "A hybrid particle level set method", 2002).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ParticleOptions {
    /// Particles a cell near the surface; 0 for 16 in the plane and 64 in space.
    pub per_cell: usize,
    /// Half width of the band of particles, in cells.
    pub band: f64,
    /// Steps between reseedings.
    pub reseed_every: u64,
    /// A particle has escaped when it is further on the wrong side than this many of its radii.
    pub escape: f64,
    /// Escaped particles of the liquid that have left it fly on as drops, those of the air rise as bubbles.
    pub removed: bool,
}

impl Default for ParticleOptions {
    fn default() -> Self {
        Self { per_cell: 0, band: 3.0, reseed_every: 20, escape: 1.0, removed: true }
    }
}

impl ParticleOptions {
    /// Particles wanted in a cell near the surface.
    pub fn wanted<const D: usize>(&self) -> usize {
        match self.per_cell {
            0 if D == 2 => 16,
            0 => 64,
            other => other,
        }
    }
}

/// The affine particle-in-cell method in a band below the surface (see [`ApicParticles`](crate::surface::ApicParticles)).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ApicOptions {
    /// Particles a cell; 0 for 4 in the plane and 8 in space.
    pub per_cell: usize,
    /// Depth of the band, in cells.
    pub band: f64,
    /// Share (0 to 1) of what the grid cannot hold of a particle's velocity that the particle keeps: 0 is APIC alone, near 1 is noisy and lively as FLIP.
    pub flip: f64,
}

impl Default for ApicOptions {
    fn default() -> Self {
        Self { per_cell: 0, band: 4.0, flip: 0.0 }
    }
}

impl ApicOptions {
    /// Particles wanted in a cell of the band.
    pub fn wanted<const D: usize>(&self) -> usize {
        if self.per_cell == 0 { 1 << D } else { self.per_cell }
    }
}

/// Numerical choices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FluidOptions {
    /// Transport of velocity and scalars; `None` leaves it out (Stokes flow).
    pub advection: Option<Advection>,
    /// Composition of the step.
    pub scheme: TimeScheme,
    /// Which viscous stress.
    pub viscosity_form: ViscosityForm,
    /// Viscosity in time.
    pub viscous_step: ViscousStep,
    /// Relative residual of the viscous solve.
    pub viscosity_tolerance: f64,
    /// How solids meet the grid.
    pub solid_boundary: SolidBoundary,
    /// Accuracy of the pressure.
    pub pressure: PressureTolerance,
    /// Part of the largest stable step that is taken.
    pub cfl: f64,
    /// The surface of liquids.
    pub surface: SurfaceOptions,
    /// Give back the momentum that transport loses, so that it is conserved to rounding; for a fluid that fills a box without open sides.
    pub keep_momentum: bool,
}

impl FluidOptions {
    /// The splitting of Chorin as the reference that coupled solvers are compared with (spec/fluid-base.md 3.18): semi-Lagrangian transport along straight paths, each
    /// component's viscosity by itself with the velocity of solids given at their faces, then the pressure.
    pub fn chorin() -> Self {
        Self {
            advection: Some(Advection {
                scheme: Scheme::SemiLagrangian,
                path: PathOrder::First,
                limiter: Limiter::None,
            }),
            scheme: TimeScheme::Splitting,
            viscosity_form: ViscosityForm::Laplacian,
            viscous_step: ViscousStep::Implicit,
            solid_boundary: SolidBoundary::Voxels,
            ..Self::default()
        }
    }
}

impl Default for FluidOptions {
    fn default() -> Self {
        Self {
            advection: Some(Advection {
                path: PathOrder::Second,
                limiter: Limiter::Revert,
                ..Default::default()
            }),
            scheme: TimeScheme::default(),
            viscosity_form: ViscosityForm::default(),
            viscous_step: ViscousStep::default(),
            viscosity_tolerance: 1e-10,
            solid_boundary: SolidBoundary::default(),
            pressure: PressureTolerance::default(),
            cfl: 0.9,
            surface: SurfaceOptions::default(),
            keep_momentum: false,
        }
    }
}

/// A fluid in its box.
#[derive(Debug, Clone)]
pub struct FluidModel<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Grid and sides.
    pub domain: Domain<D>,
    /// Acceleration of gravity (m/s^2).
    pub gravity: Vector<D>,
    /// What the box holds: one gas or liquid, or several that do not mix.
    pub liquids: Vec<Liquid>,
    /// Is what the liquids do not fill empty (air at zero pressure)? Else they fill everything.
    pub free_surface: bool,
    /// Smoke in the gas.
    pub smoke: Option<SmokeModel>,
    /// Solids.
    pub obstacles: Vec<Obstacle<D>>,
    /// Thin shells.
    pub shells: Vec<Shell<D>>,
    /// Sources and sinks.
    pub sources: Vec<Source<D>>,
    /// Accelerations besides gravity.
    pub forces: Vec<BodyForce<D>>,
    /// Surface tensions of pairs of liquids that differ from [`SurfaceOptions::tension`]; where a pair is named twice, the later one counts.
    pub tensions: Vec<PairTension>,
    /// Numerical choices.
    pub options: FluidOptions,
}

impl<const D: usize> FluidModel<D>
where
    Dim<D>: Space<D>,
{
    /// A box full of one fluid.
    pub fn new(domain: Domain<D>, fluid: Liquid) -> Self {
        Self {
            domain,
            gravity: Vector::zeros(),
            liquids: vec![fluid],
            free_surface: false,
            smoke: None,
            obstacles: Vec::new(),
            shells: Vec::new(),
            sources: Vec::new(),
            forces: Vec::new(),
            tensions: Vec::new(),
            options: FluidOptions::default(),
        }
    }

    /// Number of level sets: one a liquid, none for one fluid that fills the box.
    pub fn level_sets(&self) -> usize {
        if self.free_surface || self.liquids.len() > 1 { self.liquids.len() } else { 0 }
    }

    /// Surface tension (N/m) between two liquids, or between one and the air.
    pub fn tension_between(&self, liquid: usize, other: Option<usize>) -> f64 {
        let named = |pair: &&PairTension| {
            (Some(pair.liquid), pair.other) == (Some(liquid), other)
                || (pair.other, Some(pair.liquid)) == (Some(liquid), other)
        };
        self.tensions.iter().rev().find(named).map_or(self.options.surface.tension, |pair| pair.tension)
    }

    /// The largest surface tension (N/m) of any pair.
    pub fn largest_tension(&self) -> f64 {
        self.tensions.iter().map(|pair| pair.tension).fold(self.options.surface.tension, f64::max)
    }

    fn check_wetting(&self) -> Result<(), FluidError> {
        let wetting = &self.options.surface.wetting;
        let value = |what: &str, value: f64, good: bool, expected| {
            if good { Ok(()) } else { Err(FluidError::Value { what: what.into(), value, expected }) }
        };
        if let Some(angle) = wetting.contact_angle {
            value("contact angle (rad)", angle, (0.0..=std::f64::consts::PI).contains(&angle), "0 to pi")?;
            if self.largest_tension() == 0.0 {
                return Err(FluidError::Mismatch("a contact angle needs surface tension".into()));
            }
        }
        let frictions = self.obstacles.iter().map(|obstacle| obstacle.friction);
        for friction in frictions.chain([wetting.friction]) {
            let good = friction.is_finite() && friction >= 0.0;
            value("friction of a wall", friction, good, "a finite number, not negative")?;
        }
        if wetting.separation && (!self.free_surface || self.options.solid_boundary != SolidBoundary::Voxels)
        {
            return Err(FluidError::Mismatch(
                "liquid that leaves walls needs a free surface and solids of whole cells".into(),
            ));
        }
        Ok(())
    }

    /// Refuses what cannot be simulated.
    #[inline(never)]
    pub fn check(&self) -> Result<(), FluidError> {
        let value = |what: String, value: f64, good: bool, expected| {
            if good { Ok(()) } else { Err(FluidError::Value { what, value, expected }) }
        };
        if self.liquids.is_empty() {
            return Err(FluidError::Mismatch("a fluid needs at least one liquid".into()));
        }
        for liquid in &self.liquids {
            let (rho, mu) = (liquid.density, liquid.viscosity);
            value(
                format!("density of `{}`", liquid.name),
                rho,
                rho.is_normal() && rho > 0.0,
                "a positive, finite number",
            )?;
            value(
                format!("viscosity of `{}`", liquid.name),
                mu,
                mu.is_finite() && mu >= 0.0,
                "a finite number, not negative",
            )?;
        }
        let cfl = self.options.cfl;
        value("cfl".into(), cfl, cfl.is_finite() && cfl > 0.0, "a positive, finite number")?;
        let tension = self.options.surface.tension;
        value(
            "surface tension".into(),
            tension,
            tension.is_finite() && tension >= 0.0,
            "a finite number, not negative",
        )?;
        self.check_wetting()?;
        for pair in &self.tensions {
            let tension = pair.tension;
            let good = tension.is_finite() && tension >= 0.0;
            value("surface tension of a pair".into(), tension, good, "a finite number, not negative")?;
            let known = |number: usize| number < self.level_sets();
            if !known(pair.liquid) || pair.other.is_some_and(|other| !known(other) || other == pair.liquid) {
                return Err(FluidError::Mismatch(
                    "a surface tension needs two different liquids with surfaces, or one and the air".into(),
                ));
            }
        }
        if !self.gravity.iter().all(|g| g.is_finite()) {
            return Err(FluidError::Mismatch("gravity is not finite".into()));
        }
        if self.options.scheme == TimeScheme::Reflection && self.level_sets() > 0 {
            return Err(FluidError::Mismatch(
                "the reflection scheme does not go with surfaces of liquids".into(),
            ));
        }
        if let Some(apic) = &self.options.surface.apic {
            value(
                "band of particles".into(),
                apic.band,
                apic.band >= 2.0 && apic.band <= 1e3,
                "2 to 1000 cells",
            )?;
            value("flip".into(), apic.flip, (0.0..=1.0).contains(&apic.flip), "0 to 1")?;
            let unfit = if !self.free_surface || self.liquids.len() != 1 {
                Some("one liquid in air")
            } else if self.options.surface.particles.is_some() {
                Some("a surface without marker particles")
            } else if !self.shells.is_empty() {
                Some("a fluid without shells")
            } else if self.options.viscous_step == ViscousStep::CrankNicolson {
                Some("implicit or explicit viscosity")
            } else {
                None
            };
            if let Some(needed) = unfit {
                return Err(FluidError::Mismatch(format!("particles that carry momentum need {needed}")));
            }
        }
        if self.smoke.is_some() && self.level_sets() > 0 {
            return Err(FluidError::Mismatch("smoke does not go with surfaces of liquids".into()));
        }
        if self.options.keep_momentum {
            crate::momentum::check(self)?;
        }
        for source in &self.sources {
            match source.kind {
                SourceKind::Smoke { .. } if self.smoke.is_none() => {
                    return Err(FluidError::Mismatch("a source of smoke in a fluid without smoke".into()));
                }
                SourceKind::Liquid { liquid } if liquid >= self.level_sets() => {
                    return Err(FluidError::Mismatch(format!(
                        "a source of liquid {liquid}; there is no such surface"
                    )));
                }
                SourceKind::Sink if !self.free_surface => {
                    return Err(FluidError::Mismatch("a sink in a fluid without free surface".into()));
                }
                _ => {}
            }
            if source.expansion != 0.0 {
                value(
                    "expansion of a source".into(),
                    source.expansion,
                    source.expansion.is_finite(),
                    "a finite number",
                )?;
                if self.level_sets() > 0 {
                    return Err(FluidError::Mismatch(
                        "a source that makes volume does not go with surfaces of liquids".into(),
                    ));
                }
            }
            if source.velocity.is_some_and(|v| v.iter().any(|x| !x.is_finite())) {
                return Err(FluidError::Mismatch("the velocity of a source is not finite".into()));
            }
        }
        Ok(())
    }
}
