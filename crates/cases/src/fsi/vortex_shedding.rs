//! Vortices behind a fixed cylinder at a Reynolds number of 100 (V-5): the frequency at which they leave it.
//!
//! A channel from x = -2.5 m to 15 m and y = -3.5 m to 3.5 m with slippery walls, inflow of 1 m/s on the left, zero pressure on the right, density 1, viscosity 0.01, and a cylinder of diameter
//! 1 m at the origin that does not move, solved for together with the fluid. The Strouhal number is the frequency here. A push across the flow behind the cylinder at the start
//! breaks the symmetry; the frequency is that of the velocity across the flow at (2, 0) over ten periods after 100 s, and they must be alike. The source has 0.160 by its
//! own method on 400x160 cells and 0.166 by a splitting, both with semi-Lagrangian transport; the literature it quotes, for wider channels, 0.164 to 0.173. On half as many
//! cells the published choices damp the wake too much (0.140), so they are judged on the source's grid only.
//!
//! The channel is seven diameters wide and its inflow two and a half in front of the cylinder, which makes the flow beside it faster and the frequency higher than in open water. How much of the
//! frequency that is, a wide channel shows: sixteen diameters, with cells of the same size, against what is measured in open water, 0.1816 - 3.3265 / Re + 1.6e-4 Re (C. H. K. Williamson, "Defining
//! a universal and continuous Strouhal-Reynolds number relationship for the laminar vortex shedding of a circular cylinder", 1988).

use super::super::fluid::setup::failed;
use super::setup::{IMPROVED, SOURCE_RECIPE};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_couple::fluid_structure::CouplingOptions;
use splashdown_fluid::advect::{Advection, Scheme};
use splashdown_fluid::{Domain, FluidModel, FluidState, Liquid, Side};
use splashdown_geometry::grid::{Grid, Interpolation, Location, Reach};
use splashdown_math::{Frame, Twist, Vector};
use splashdown_rigid::{Body, Geometry, Kind};
use std::sync::Arc;

pub(super) const CASE: Case = Case {
    name: "fsi/vortex-shedding",
    spec: "V-5",
    summary: "vortices leave a cylinder at Reynolds number 100: Strouhal number",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 600.0,
    run: |measurements| run(measurements, 80, &[OURS]),
};

pub(super) const WIDE: Case = Case {
    name: "fsi/vortex-shedding-wide",
    spec: "V-5",
    summary: "the same in a channel sixteen diameters wide, as in open water",
    source: OPEN_WATER,
    speed: Speed::Slow,
    seconds: 1000.0,
    run: run_wide,
};

const OPEN_WATER: &str = "measured in open water: 0.1643 (C. H. K. Williamson 1988)";

pub(super) const FINE: Case = Case {
    name: "fsi/vortex-shedding-fine",
    spec: "V-5",
    summary: "the same on the source's grid, with the published choices too",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 6000.0,
    run: |measurements| run(measurements, 160, &[PUBLISHED, OURS]),
};

const SOURCE: &str =
    "published: 0.160 coupled, 0.166 split, literature 0.164 to 0.173 (spec/fluid-structure.md V-5)";
/// Periods over which the frequency is measured.
const PERIODS: usize = 10;
/// Time (s) from which they are counted.
const ESTABLISHED: f64 = 100.0;

/// How a run couples and carries: a name, the choices of the coupling, and the transport.
type Recipe = (&'static str, CouplingOptions, Scheme);

const PUBLISHED: Recipe = ("published", SOURCE_RECIPE, Scheme::SemiLagrangian);
const OURS: Recipe = ("our", IMPROVED, Scheme::MacCormack);

fn run(measurements: &mut Measurements, n: usize, recipes: &[Recipe]) -> Result<(), CaseError> {
    let channel = Channel { h: 7.0 / n as f64, before: 2.5, cells: [5 * n / 2, n] };
    for &recipe in recipes {
        let frequency = frequency(measurements, &channel, recipe)?;
        let row = format!("Strouhal number, {} choices", recipe.0);
        measurements.near(&row, &channel.resolution(), frequency, 0.165, 0.01, SOURCE);
    }
    Ok(())
}

fn run_wide(measurements: &mut Measurements) -> Result<(), CaseError> {
    let channel = Channel { h: 7.0 / 80.0, before: 8.0, cells: [264, 184] };
    let frequency = frequency(measurements, &channel, OURS)?;
    // Eleven cells across the cylinder, on which the method is of first order; its walls are at sixteen diameters.
    measurements.near(
        "Strouhal number, our choices",
        &channel.resolution(),
        frequency,
        0.1643,
        0.05 * 0.1643,
        OPEN_WATER,
    );
    Ok(())
}

/// A channel with a cylinder in the middle of its width.
struct Channel {
    /// Size of the cells (m).
    h: f64,
    /// How far the inflow is in front of the cylinder's centre (m).
    before: f64,
    cells: [usize; 2],
}

impl Channel {
    fn resolution(&self) -> String {
        format!("{}x{}", self.cells[0], self.cells[1])
    }
}

/// Mean frequency (1/s) of the vortices; judges that the periods are alike.
fn frequency(
    measurements: &mut Measurements,
    channel: &Channel,
    (name, options, scheme): Recipe,
) -> Result<f64, CaseError> {
    let crossings = crossings(channel, options, scheme)?;
    let periods: Vec<f64> = crossings.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean = periods.iter().sum::<f64>() / periods.len() as f64;
    let spread = periods.iter().fold(0.0f64, |most, period| most.max((period / mean - 1.0).abs()));
    let alike = "the same again and again once the wake swings";
    let row = format!("largest deviation of a period, {name} choices");
    measurements.at_most(&row, &channel.resolution(), spread, 0.05, alike);
    Ok(1.0 / mean)
}

/// Times (s) at which the velocity across the flow behind the cylinder turns positive, enough for all periods.
fn crossings(channel: &Channel, options: CouplingOptions, scheme: Scheme) -> Result<Vec<f64>, CaseError> {
    let Channel { h, before, cells } = *channel;
    let inflow = Side::Inflow { velocity: Vector::from([1.0, 0.0]) };
    let sides = [[inflow, Side::open()], [Side::slip(); 2]];
    let corner = Vector::from([-before, -0.5 * h * cells[1] as f64]);
    let grid = Grid::new(corner, Vector::repeat(h), cells).map_err(failed)?;
    let domain = Domain::new(grid, sides).map_err(failed)?;
    let mut model = FluidModel::new(domain, Liquid { viscosity: 0.01, ..Liquid::new("fluid", 1.0) });
    model.options.advection = Some(Advection { scheme, ..Advection::default() });
    let mut world = World::<2>::new(Vector::zeros()).map_err(failed)?;
    let geometry = Arc::new(Geometry::sphere(0.5).map_err(failed)?);
    let cylinder = Body::with_geometry("cylinder", Kind::Static, 1.0, geometry).map_err(failed)?;
    world.add_body(cylinder, Frame::identity(), Twist::zero());
    world.set_coupling(Some(options));
    let mut state = FluidState::at_rest(&model);
    state.velocity.component_mut(0).update(|_, _| 1.0);
    let lattice = model.domain.grid().lattice(Location::Face(1), 0);
    state.velocity.component_mut(1).update(|face, _| {
        let x = lattice.position(face) - Vector::from([1.5, 0.0]);
        0.5 * f64::exp(-x.norm_squared())
    });
    world.set_fluid(model, state).map_err(failed)?;
    let mut found: Vec<f64> = Vec::new();
    let mut last: Option<(f64, f64)> = None;
    while found.len() <= PERIODS {
        let dt = world.fluid_stable_step();
        world.step(dt).map_err(failed)?;
        let time = world.state().time;
        let fluid = world.state().fluid.as_ref().ok_or_else(|| failed("no fluid"))?;
        let probe = Vector::from([2.0, 0.0]);
        let across = fluid.velocity.sample(&probe, Interpolation::Linear, Reach::default())[1];
        if let Some((then, before)) = last
            && before < 0.0
            && across >= 0.0
            && time > ESTABLISHED
        {
            found.push(then + (time - then) * before / (before - across));
        }
        last = Some((time, across));
        if time > ESTABLISHED + 12.0 * PERIODS as f64 {
            return Err(CaseError::new("counting vortices", "the wake does not swing"));
        }
    }
    Ok(found)
}
