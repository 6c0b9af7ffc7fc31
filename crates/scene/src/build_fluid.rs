//! The fluid that a scene describes.

use crate::build::{BuildError, rotation, spin, vector};
use crate::description::{
    CellSize, CouplingChoices, FaceMassWord, Fluid, FluidCoupling, FluidRegion, FluidSide, FluidTension,
    FormWord, Oscillation, RegionShape, Rotation, Scene, SheetShape, SideKind, SourceWord, SpinValue,
    TangentialWord, TrackerWord, TransportWord, WeightsWord,
};
use splashdown_couple::World;
use splashdown_couple::fluid_structure::{CouplingForm, CouplingOptions, FaceMass, Tangential, Weights};
use splashdown_fluid::advect::{Advection, Scheme};
use splashdown_fluid::forces::BodyForce;
use splashdown_fluid::shell::Shell;
use splashdown_fluid::{
    ApicOptions, Domain, FluidError, FluidModel, FluidState, Liquid, Motion, Obstacle, PairTension,
    ParticleOptions, Patch, Side, SmokeModel, SolidBoundary, Source, SourceKind, Wetting,
};
use splashdown_geometry::Aabb;
use splashdown_geometry::grid::Grid;
use splashdown_geometry::mesh::SurfaceMesh;
use splashdown_geometry::shapes::{Shape, ShapeError};
use splashdown_math::{Dim, Frame, Space, Twist, Vector};

/// Name of the fluid in messages.
const FLUID: &str = "fluid";

/// Cells along the edge of a piece of a sheet.
const PIECE: f64 = 4.0;

/// Largest ratio of the edges of a cell.
const MOST_ASPECT: f64 = 100.0;

/// Temperature of the surroundings (K); only differences from it matter.
const AMBIENT: f64 = 298.0;

/// Puts the scene's fluid into the world, if it has one.
pub(crate) fn add_fluid<const D: usize>(world: &mut World<D>, scene: &Scene) -> Result<(), BuildError>
where
    Dim<D>: Space<D>,
{
    let Some(fluid) = &scene.fluid else { return Ok(()) };
    let model = model::<D>(scene, fluid)?;
    let state = start(fluid, &model)?;
    match fluid.coupling {
        FluidCoupling::Word(true) => {}
        FluidCoupling::Word(false) => world.set_coupling(None),
        FluidCoupling::Choices(choices) => world.set_coupling(Some(coupling(&choices))),
    }
    world.set_fluid(model, state)?;
    Ok(())
}

fn coupling(choices: &CouplingChoices) -> CouplingOptions {
    CouplingOptions {
        form: match choices.form {
            FormWord::Pressure => CouplingForm::Pressure,
            FormWord::Impulses => CouplingForm::Impulses,
            FormWord::Kkt => CouplingForm::Kkt,
            FormWord::Lumped => CouplingForm::Lumped,
            FormWord::LumpedDiagonal => CouplingForm::LumpedDiagonal,
        },
        mass: match choices.mass {
            FaceMassWord::Fraction => FaceMass::Fraction,
            FaceMassWord::Full => FaceMass::Full,
        },
        tangential: match choices.tangential {
            TangentialWord::SolidSide => Tangential::SolidSide,
            TangentialWord::FluidSide => Tangential::FluidSide,
        },
        weights: match choices.weights {
            WeightsWord::Ray => Weights::Ray,
            WeightsWord::Area => Weights::Area,
        },
        without_solids: choices.without_bodies,
        stokes: choices.stokes,
    }
}

/// Would the scene's fluid be refused?
pub(crate) fn check(scene: &Scene) -> Result<(), BuildError> {
    let Some(fluid) = &scene.fluid else { return Ok(()) };
    match scene.dimension {
        2 => model::<2>(scene, fluid).map(|_| ()),
        3 => model::<3>(scene, fluid).map(|_| ()),
        other => Err(BuildError::Dimension(other)),
    }
}

fn model<const D: usize>(scene: &Scene, fluid: &Fluid) -> Result<FluidModel<D>, BuildError>
where
    Dim<D>: Space<D>,
{
    let gravity = vector::<D>("scene", "gravity", Some(&scene.gravity_vector()))?;
    let bodies = !(scene.rigid.is_empty() && scene.deformable.is_empty() && scene.import.is_empty());
    let alone = matches!(fluid.coupling, FluidCoupling::Choices(choices) if choices.without_bodies);
    if fluid.separation && (bodies || alone) && fluid.coupling != FluidCoupling::Word(false) {
        let why = "`separation` does not go with coupled bodies or `without_bodies`: leave it out, or set `coupling = false`";
        return Err(FluidError::Mismatch(why.into()).into());
    }
    let mut model = FluidModel::new(domain::<D>(fluid)?, Liquid::new("", 1.0));
    model.gravity = gravity;
    model.liquids = fluid
        .liquids
        .iter()
        .map(|l| Liquid { name: l.name.clone(), density: l.density, viscosity: l.viscosity })
        .collect();
    model.free_surface = fluid.free_surface;
    model.smoke = fluid.smoke.as_ref().map(|smoke| SmokeModel {
        weight: smoke.weight,
        lift: smoke.lift,
        ambient_temperature: AMBIENT,
        cooling: smoke.cooling,
        decay: smoke.decay,
        confinement: smoke.confinement,
        hottest: smoke.hottest.map_or(SmokeModel::default().hottest, |warmth| AMBIENT + warmth),
    });
    for obstacle in &fluid.obstacles {
        let name = obstacle.name.as_str();
        let motion = motion::<D>(
            name,
            obstacle.velocity.as_deref(),
            obstacle.spin.as_ref(),
            obstacle.oscillation.as_ref(),
        )?;
        model.obstacles.push(Obstacle {
            name: name.into(),
            shape: shape::<D>(name, &obstacle.shape)?,
            start: frame::<D>(name, obstacle.position.as_deref(), obstacle.rotation.as_ref())?,
            motion,
            slip: obstacle.slip,
            friction: obstacle.friction,
        });
    }
    for sheet in &fluid.sheets {
        let name = sheet.name.as_str();
        model.shells.push(Shell {
            name: name.into(),
            mesh: sheet_mesh::<D>(name, &sheet.shape, PIECE * fluid.cell.shortest())?,
            start: frame::<D>(name, sheet.position.as_deref(), sheet.rotation.as_ref())?,
            motion: motion::<D>(
                name,
                sheet.velocity.as_deref(),
                sheet.spin.as_ref(),
                sheet.oscillation.as_ref(),
            )?,
        });
    }
    for source in &fluid.sources {
        let region = placed::<D>(&source.shape, source.position.as_deref(), source.rotation.as_ref())?;
        let kind = match source.kind {
            SourceWord::Smoke => {
                SourceKind::Smoke { density: source.density, temperature: AMBIENT + source.warmth }
            }
            SourceWord::Sink => SourceKind::Sink,
            SourceWord::Stir => SourceKind::Stir,
            SourceWord::Liquid => {
                let found = match &source.liquid {
                    None => Some(0),
                    Some(name) => fluid.liquids.iter().position(|liquid| liquid.name == *name),
                };
                let unknown = || {
                    FluidError::Mismatch(format!(
                        "a source of `{}`, which is no liquid",
                        source.liquid.as_deref().unwrap_or("")
                    ))
                };
                SourceKind::Liquid { liquid: found.ok_or_else(unknown)? }
            }
        };
        let velocity = match &source.velocity {
            Some(velocity) => Some(vector::<D>(FLUID, "sources.velocity", Some(velocity))?),
            None => None,
        };
        let end = source.end.unwrap_or(f64::INFINITY);
        let expansion = source.expansion;
        model.sources.push(Source { region, kind, velocity, expansion, start: source.start, end });
    }
    for force in &fluid.forces {
        let region = placed::<D>(&force.shape, force.position.as_deref(), force.rotation.as_ref())?;
        let value = vector::<D>(FLUID, "forces.acceleration", Some(&force.acceleration))?;
        let end = force.end.unwrap_or(f64::INFINITY);
        model.forces.push(BodyForce { start: force.start, end, ..BodyForce::within(region, value) });
    }
    for pair in &fluid.tensions {
        model.tensions.push(tension(fluid, pair)?);
    }
    let options = &mut model.options;
    options.advection = match fluid.transport {
        TransportWord::None => None,
        word => Some(Advection {
            scheme: match word {
                TransportWord::Bfecc => Scheme::Bfecc,
                TransportWord::SemiLagrangian => Scheme::SemiLagrangian,
                _ => Scheme::MacCormack,
            },
            ..Advection::default()
        }),
    };
    if matches!(fluid.coupling, FluidCoupling::Choices(choices) if choices.stokes) {
        if fluid.free_surface || fluid.liquids.len() > 1 {
            let what = "`coupling.stokes` needs a fluid without a surface, which would stay where it is";
            return Err(FluidError::Mismatch(what.into()).into());
        }
        options.advection = None;
    }
    options.cfl = fluid.cfl;
    options.pressure.divergence = fluid.divergence;
    options.pressure.squeeze = fluid.squeeze.unwrap_or(f64::INFINITY);
    options.surface.tension = fluid.surface_tension;
    options.surface.wetting = Wetting {
        contact_angle: fluid.contact_angle.map(f64::to_radians),
        separation: fluid.separation,
        friction: fluid.friction,
    };
    // What leaves walls leaves gaps narrower than a cell, which no grid tells from none.
    options.surface.volume_correction = fluid.keep_volume || fluid.separation;
    options.keep_momentum = fluid.keep_momentum;
    let per_cell = fluid.particles.unwrap_or(0) as usize;
    let markers = fluid.tracker == TrackerWord::Markers && fluid.particles != Some(0);
    options.surface.particles = markers.then(|| ParticleOptions { per_cell, ..ParticleOptions::default() });
    if fluid.tracker == TrackerWord::Apic {
        options.surface.apic = Some(ApicOptions { per_cell, flip: fluid.flip, ..ApicOptions::default() });
    } else if fluid.flip > 0.0 {
        return Err(FluidError::Mismatch("`flip` goes with `tracker = \"apic\"` only".into()).into());
    }
    if fluid.cut_cells {
        options.solid_boundary = SolidBoundary::CutCells;
    }
    // A liquid with a free surface feels no stress from the air.
    if fluid.free_surface {
        options.viscosity_form = splashdown_fluid::viscosity::ViscosityForm::Stress;
    }
    if let Some(method) = &fluid.method {
        crate::fluid_method::apply(method, fluid, options)?;
    }
    let mut names: Vec<&str> = fluid
        .liquids
        .iter()
        .map(|l| l.name.as_str())
        .chain(fluid.obstacles.iter().map(|o| o.name.as_str()))
        .chain(fluid.sheets.iter().map(|sheet| sheet.name.as_str()))
        .collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(FluidError::Mismatch(format!(
            "`{}` is the name of two liquids, obstacles or sheets",
            twice[0]
        ))
        .into());
    }
    model.check()?;
    for region in fluid.liquids.iter().flat_map(|liquid| &liquid.regions) {
        placed::<D>(&region.shape, region.position.as_deref(), region.rotation.as_ref())?;
    }
    Ok(model)
}

/// The tension of a pair, by the numbers of its liquids.
fn tension(fluid: &Fluid, pair: &FluidTension) -> Result<PairTension, BuildError> {
    let number = |name: &String| {
        let found = fluid.liquids.iter().position(|liquid| liquid.name == *name);
        found
            .ok_or_else(|| FluidError::Mismatch(format!("a surface tension of `{name}`, which is no liquid")))
    };
    match pair.between.as_slice() {
        [one] => Ok(PairTension { liquid: number(one)?, other: None, tension: pair.tension }),
        [one, other] => {
            Ok(PairTension { liquid: number(one)?, other: Some(number(other)?), tension: pair.tension })
        }
        _ => {
            let what = "a surface tension is `between` two liquids, or one and the air";
            Err(FluidError::Mismatch(what.into()).into())
        }
    }
}

fn start<const D: usize>(fluid: &Fluid, model: &FluidModel<D>) -> Result<FluidState<D>, BuildError>
where
    Dim<D>: Space<D>,
{
    let mut state = FluidState::at_rest(model);
    if fluid.velocity.is_some() || fluid.eddies.is_some() {
        let velocity = start_velocity::<D>(fluid)?;
        state.set_velocity(model, |x| velocity(x));
    }
    if model.level_sets() == 0 {
        return Ok(state);
    }
    let mut shapes: Vec<Option<Shape<D>>> = Vec::new();
    for liquid in &fluid.liquids {
        let mut all: Option<Shape<D>> = None;
        for FluidRegion { shape, position, rotation } in &liquid.regions {
            let region = placed::<D>(shape, position.as_deref(), rotation.as_ref())?;
            all = Some(match all {
                None => region,
                Some(before) => before.union(region),
            });
        }
        shapes.push(all);
    }
    // Liquids that fill the box: the last one has what the others leave.
    let last = shapes.len() - 1;
    if !fluid.free_surface && shapes[last].is_none() {
        let others = shapes[..last].iter().flatten().cloned().reduce(Shape::union);
        shapes[last] = others.map(Shape::complement);
    }
    let far = model.domain.grid().bounds().extent().norm();
    for (number, shape) in shapes.iter().enumerate() {
        state.set_liquid(model, number, |x| shape.as_ref().map_or(far, |shape| shape.signed_distance(x)))?;
    }
    Ok(state)
}

/// Velocity (m/s) of the fluid at the start, by place (m).
pub(crate) fn start_velocity<const D: usize>(
    fluid: &Fluid,
) -> Result<impl Fn(&Vector<D>) -> Vector<D> + use<D>, BuildError>
where
    Dim<D>: Space<D>,
{
    let everywhere = vector::<D>(FLUID, "velocity", fluid.velocity.as_deref())?;
    let bounds = domain::<D>(fluid)?.grid().bounds();
    let eddies = fluid.eddies.clone();
    Ok(move |x: &Vector<D>| {
        let mut velocity = everywhere;
        if let Some(eddies) = &eddies {
            let wave = |axis: usize| {
                let number = std::f64::consts::TAU * f64::from(eddies.waves[axis]) / bounds.extent()[axis];
                let (sine, cosine) = (number * (x[axis] - bounds.min[axis])).sin_cos();
                [sine, number * cosine]
            };
            let [[sx, dx], [sy, dy]] = [wave(0), wave(1)];
            velocity[0] += eddies.amplitude * sx * dy;
            velocity[1] -= eddies.amplitude * dx * sy;
        }
        velocity
    })
}

fn domain<const D: usize>(fluid: &Fluid) -> Result<Domain<D>, BuildError> {
    let origin = vector::<D>(FLUID, "origin", fluid.origin.as_deref())?;
    let components = || BuildError::Components { name: FLUID.into(), field: "cells", dimension: D };
    let cells: Vec<usize> = fluid.cells.iter().map(|&n| n as usize).collect();
    let cells: [usize; D] = cells.try_into().map_err(|_| components())?;
    let edges = match &fluid.cell {
        CellSize::Equal(edge) => Vector::repeat(*edge),
        CellSize::Edges(edges) => vector::<D>(FLUID, "cell", Some(edges))?,
    };
    if !(edges.max() <= MOST_ASPECT * edges.min()) {
        let why = format!("edges of cells may differ by a factor of {MOST_ASPECT} at most");
        return Err(FluidError::Mismatch(why).into());
    }
    let grid = Grid::new(origin, edges, cells).map_err(FluidError::from)?;
    let named = [[&fluid.left, &fluid.right], [&fluid.bottom, &fluid.top], [&fluid.back, &fluid.front]];
    let mut sides = [[Side::slip(); 2]; D];
    for axis in 0..D {
        for side in 0..2 {
            if let Some(given) = named[axis][side].as_ref().or(fluid.sides.as_ref()) {
                sides[axis][side] = condition(given)?;
            }
        }
    }
    if D == 2 && (fluid.back.is_some() || fluid.front.is_some()) {
        return Err(FluidError::Mismatch("`back` and `front` are sides in 3D only".into()).into());
    }
    let mut patches = Vec::new();
    for patch in &fluid.patches {
        let (axis, upper) = patch.side.place();
        let min = vector::<D>(FLUID, "patches.min", Some(&patch.min))?;
        let max = vector::<D>(FLUID, "patches.max", Some(&patch.max))?;
        patches.push(Patch {
            axis,
            upper,
            region: Aabb { min, max },
            condition: condition(&patch.condition)?,
        });
    }
    Ok(Domain::with_patches(grid, sides, patches).map_err(FluidError::from)?)
}

fn condition<const D: usize>(side: &FluidSide) -> Result<Side<D>, BuildError> {
    let velocity = vector::<D>(FLUID, "velocity of a side", side.velocity.as_deref())?;
    Ok(match side.kind {
        SideKind::Slip => Side::Slip { velocity },
        SideKind::NoSlip => Side::NoSlip { velocity },
        SideKind::Inflow => Side::Inflow { velocity },
        SideKind::Open => Side::Outlet { pressure: side.pressure },
        SideKind::Periodic => Side::Periodic,
    })
}

fn frame<const D: usize>(
    name: &str,
    position: Option<&[f64]>,
    turned: Option<&Rotation>,
) -> Result<Frame<D>, BuildError>
where
    Dim<D>: Space<D>,
{
    Ok(Frame { position: vector::<D>(name, "position", position)?, rotation: rotation::<D>(name, turned)? })
}

fn placed<const D: usize>(
    shape: &RegionShape,
    position: Option<&[f64]>,
    turned: Option<&Rotation>,
) -> Result<Shape<D>, BuildError>
where
    Dim<D>: Space<D>,
{
    let frame = frame::<D>(FLUID, position, turned)?;
    self::shape::<D>(FLUID, shape)?.placed(frame).map_err(|error| refused(FLUID, &error))
}

fn refused(name: &str, error: &ShapeError) -> BuildError {
    FluidError::Mismatch(format!("the shape of `{name}`: {error}")).into()
}

/// How what the fluid flows around moves.
fn motion<const D: usize>(
    name: &str,
    velocity: Option<&[f64]>,
    turn: Option<&SpinValue>,
    oscillation: Option<&Oscillation>,
) -> Result<Motion<D>, BuildError>
where
    Dim<D>: Space<D>,
{
    let linear = vector::<D>(name, "velocity", velocity)?;
    let angular = spin::<D>(name, turn)?;
    Ok(match oscillation {
        Some(oscillation) => Motion::Oscillating {
            amplitude: vector::<D>(name, "oscillation.amplitude", Some(&oscillation.amplitude))?,
            frequency: oscillation.frequency,
        },
        None if velocity.is_none() && turn.is_none() => Motion::Fixed,
        None => Motion::Steady(Twist { linear, angular }),
    })
}

/// The surface of a sheet in its own coordinates, in pieces of about `piece` (m), so that only what is near one has to look for it.
fn sheet_mesh<const D: usize>(
    name: &str,
    shape: &SheetShape,
    piece: f64,
) -> Result<SurfaceMesh<D>, BuildError>
where
    Dim<D>: Space<D>,
{
    let mut mesh = SurfaceMesh::<D> { points: Vec::new(), elements: Vec::new() };
    // A flat part: `axis` is the one it is normal to, `at` where.
    let mut add = |axis: usize, at: f64, half: &Vector<D>| {
        let along: Vec<usize> = (0..D).filter(|&a| a != axis).collect();
        let pieces: Vec<usize> =
            along.iter().map(|&a| (2.0 * half[a] / piece).ceil().clamp(1.0, 1000.0) as usize).collect();
        let first = mesh.points.len() as u32;
        let (columns, rows) = (pieces[0], pieces.get(1).copied().unwrap_or(0));
        for row in 0..=rows {
            for column in 0..=columns {
                let mut point = Vector::zeros();
                point[axis] = at;
                for (&a, (step, of)) in along.iter().zip([(column, columns), (row, rows)]) {
                    point[a] = half[a] * (2.0 * step as f64 / of as f64 - 1.0);
                }
                mesh.points.push(point);
            }
        }
        let number = |column: usize, row: usize| first + (row * (columns + 1) + column) as u32;
        if D == 2 {
            for column in 0..columns {
                mesh.elements.push(corners([number(column, 0), number(column + 1, 0), 0]));
            }
            return;
        }
        for row in 0..rows {
            for column in 0..columns {
                let [a, b] = [number(column, row), number(column + 1, row)];
                let [c, d] = [number(column, row + 1), number(column + 1, row + 1)];
                mesh.elements.push(corners([a, b, d]));
                mesh.elements.push(corners([a, d, c]));
            }
        }
    };
    let fits = |value: f64| value.is_finite() && value > 0.0;
    let refused = || {
        BuildError::from(FluidError::Mismatch(format!(
            "the size of the sheet `{name}` must be positive and finite"
        )))
    };
    match shape {
        SheetShape::Plate { length, width } => {
            let size = [*length, 1.0, width.unwrap_or(*length)];
            if !size.into_iter().all(fits) {
                return Err(refused());
            }
            if D == 2 && width.is_some() {
                let what = format!("the sheet `{name}`: `width` is for 3D only");
                return Err(FluidError::Mismatch(what).into());
            }
            add(1, 0.0, &Vector::from_fn(|a, _| 0.5 * size[a]));
        }
        SheetShape::Box { size, open } => {
            let half = vector::<D>(name, "shape.box.size", Some(size))? * 0.5;
            if !half.iter().copied().all(fits) {
                return Err(refused());
            }
            for axis in 0..D {
                add(axis, -half[axis], &half);
                if !(*open && axis == 1) {
                    add(axis, half[axis], &half);
                }
            }
        }
    }
    Ok(mesh)
}

/// The first `D` of three corners.
fn corners<const D: usize>(all: [u32; 3]) -> [u32; D] {
    std::array::from_fn(|corner| all[corner])
}

/// The shape in its own coordinates.
fn shape<const D: usize>(name: &str, shape: &RegionShape) -> Result<Shape<D>, BuildError>
where
    Dim<D>: Space<D>,
{
    let refused = |error: ShapeError| refused(name, &error);
    // Cylinders stand along y.
    let axis = |number: usize| Vector::<D>::from_fn(|a, _| if a == number { 1.0 } else { 0.0 });
    let upright =
        Frame { position: Vector::zeros(), rotation: Dim::<D>::rotation_between(&axis(D - 1), &axis(1)) };
    let cylinder = |radius: f64, height: f64| {
        Shape::cylinder(radius, 0.5 * height).and_then(|shape| shape.placed(upright))
    };
    match shape {
        RegionShape::Sphere { radius } => Shape::ball(*radius).map_err(refused),
        RegionShape::Box { size } => {
            let edges = vector::<D>(name, "shape.box.size", Some(size))?;
            Shape::cuboid(edges * 0.5).map_err(refused)
        }
        RegionShape::Cylinder { radius, height } => cylinder(*radius, *height).map_err(refused),
        RegionShape::Cup { radius, height, wall } => {
            if *wall >= *radius || *wall >= *height {
                return Err(
                    FluidError::Mismatch(format!("the wall of `{name}` leaves no room in the cup")).into()
                );
            }
            // What is taken out reaches above the rim.
            let room = cylinder(radius - wall, *height).map_err(refused)?;
            let mut up = Vector::zeros();
            up[1] = *wall;
            let room = room.translated(up).map_err(refused)?;
            Ok(cylinder(*radius, *height).map_err(refused)?.difference(room))
        }
    }
}
