//! Smoke that rises from a symmetric source stays symmetric; confinement adds swirl, but none to a solid-body rotation.

use super::setup::{Run, domain, failed};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_fluid::advect::{Advection, Limiter};
use splashdown_fluid::forces::add_vorticity_confinement;
use splashdown_fluid::{FluidModel, Liquid, Side, SmokeModel, Source, SourceKind};
use splashdown_geometry::grid::{FaceFields, Field, Grid, Location};
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Dim, Space, Vector};

pub(super) const CASE: Case = Case {
    name: "fluid/plume",
    spec: "FB-T21",
    summary: "a plume of smoke is mirror symmetric; confinement raises enstrophy and leaves rigid rotation alone",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 8.0,
    run,
};

const SOURCE: &str = "exact: symmetry; zero force for uniform vorticity";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let [plane, calm] = plume::<2>(64, 40, 0.0)?;
    measurements.at_most("asymmetry of the smoke", "64^2", plane, 1e-8, SOURCE);
    let [space, _] = plume::<3>(24, 16, 0.0)?;
    measurements.at_most("asymmetry of the smoke", "24^3", space, 1e-8, SOURCE);
    let [_, confined] = plume::<2>(64, 40, 0.3)?;
    measurements.at_least("enstrophy with / without confinement", "64^2", confined / calm, 1.02, SOURCE);
    measurements.at_most("confinement force on rigid rotation (m/s^2)", "16^3", rigid()?, 1e-12, SOURCE);
    Ok(())
}

/// Largest difference from the mirror image, and enstrophy, after some steps.
fn plume<const D: usize>(n: usize, steps: usize, confinement: f64) -> Result<[f64; 2], CaseError>
where
    Dim<D>: Space<D>,
{
    let mut sides = [[Side::slip(); 2]; D];
    sides[1][1] = Side::open();
    let mut model = FluidModel::new(domain([n; D], 1.0 / n as f64, sides)?, Liquid::new("air", 1.2));
    model.gravity[1] = -9.81;
    model.smoke = Some(SmokeModel { lift: 0.05, confinement, ..Default::default() });
    model.options.pressure.divergence = 1e-13;
    // A limiter without jumps does not amplify rounding.
    model.options.advection = Some(Advection { limiter: Limiter::Clamp, ..Default::default() });
    let mut at: Vector<D> = Vector::repeat(0.5);
    at[1] = 0.15;
    let region = Shape::ball(0.1).and_then(|ball| ball.translated(at)).map_err(failed)?;
    model.sources.push(Source::new(region, SourceKind::Smoke { density: 1.0, temperature: 400.0 }));
    let mut run = Run::new(model, |_, _| Ok(()))?;
    for _ in 0..steps {
        run.step(0.02)?;
    }
    let enstrophy = run.diagnostics().enstrophy;
    let Some(smoke) = &run.state.smoke else { return Err(CaseError("no smoke".into())) };
    let mirror = |cell: [isize; D], value: f64| {
        let mut image = cell;
        image[0] = n as isize - 1 - cell[0];
        (value - smoke.density.at(image)).abs()
    };
    Ok([smoke.density.reduce(0.0, mirror, f64::max), enstrophy])
}

fn rigid() -> Result<f64, CaseError> {
    let grid = Grid::<3>::new(Vector::repeat(-1.0), Vector::repeat(0.125), [16; 3]).map_err(failed)?;
    let mut velocity = FaceFields::new(&grid, 0.0);
    let spin = Vector::from([0.3, -0.5, 1.1]);
    for axis in 0..3 {
        let lattice = *velocity.component(axis).lattice();
        let values: Vec<f64> =
            lattice.stored_indices().map(|i| spin.cross(&lattice.position(i))[axis]).collect();
        velocity.component_mut(axis).values_mut().copy_from_slice(&values);
    }
    let before = velocity.clone();
    let mut work = Field::new(&grid, Location::Cell, 0.0);
    add_vorticity_confinement(&mut velocity, 1.0, 1.0, &mut work, &mut before.clone(), None);
    let change = |axis: usize| {
        velocity.component(axis).reduce(0.0, |i, u| (u - before.component(axis).at(i)).abs(), f64::max)
    };
    Ok((0..3).map(change).fold(0.0, f64::max))
}
