//! Stretching and coming back: the single vortex in the plane and the deformation field in space.
//!
//! A disk (r = 0.15 at (0.5, 0.75)) in the swirl `psi = sin^2(pi x) sin^2(pi y) / pi` whose sense reverses as `cos(pi t / T)`: at T it is back where it was (R. J. LeVeque 1996).
//! In space the same with LeVeque's three-dimensional field and a sphere at (0.35, 0.35, 0.35).

use super::setup::{domain, failed};
use crate::{Case, CaseError, Speed};
use splashdown_fluid::surface::{Markers, carry, reinitialise, volume};
use splashdown_fluid::{Domain, LevelSetTransport, ParticleOptions, Side, SolidBoundary, Walls};
use splashdown_geometry::grid::{FaceFields, Field, Location};
use splashdown_math::{Dim, Space, Vector};
use std::f64::consts::PI;

pub(super) const CASE: Case = Case {
    name: "fluid/vortex",
    spec: "FB-T11",
    summary: "a disk stretched to a spiral and back by a reversing vortex keeps its area",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 40.0,
    run: |measurements| {
        let error = error::<2>(128, 8.0, [0.5, 0.75], swirl)?;
        measurements.at_most("area error", "128^2, T = 8", error, 0.02, SOURCE);
        Ok(())
    },
};

pub(super) const SPACE: Case = Case {
    name: "fluid/deformation",
    spec: "FB-T11",
    summary: "a sphere stretched to a sheet and back by LeVeque's field keeps its volume",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 600.0,
    run: |measurements| {
        let error = error::<3>(100, 3.0, [0.35; 3], deformation)?;
        measurements.at_most("volume error", "100^3, T = 3", error, 0.05, SOURCE);
        Ok(())
    },
};

const SOURCE: &str = "exact: the motion reverses (R. J. LeVeque, SIAM J. Numer. Anal. 33, 1996)";

fn swirl(x: &Vector<2>) -> Vector<2> {
    let (sx, sy) = ((PI * x[0]).sin(), (PI * x[1]).sin());
    Vector::from([-sx * sx * (2.0 * PI * x[1]).sin(), sy * sy * (2.0 * PI * x[0]).sin()])
}

fn deformation(x: &Vector<3>) -> Vector<3> {
    let s = |a: usize| (PI * x[a]).sin();
    let d = |a: usize| (2.0 * PI * x[a]).sin();
    Vector::from([2.0 * s(0) * s(0) * d(1) * d(2), -s(1) * s(1) * d(0) * d(2), -s(2) * s(2) * d(0) * d(1)])
}

fn error<const D: usize>(
    n: usize,
    period: f64,
    centre: [f64; D],
    field: fn(&Vector<D>) -> Vector<D>,
) -> Result<f64, CaseError>
where
    Dim<D>: Space<D>,
{
    let h = 1.0 / n as f64;
    let domain: Domain<D> = domain([n; D], h, [[Side::slip(); 2]; D])?;
    let walls = Walls::new(&domain, &[], &[], SolidBoundary::Voxels);
    let centre = Vector::from(centre);
    let mut phi = Field::from_fn(domain.grid(), Location::Cell, |x| (x - centre).norm() - 0.15);
    domain.fill_level_set_ghosts(&mut phi);
    let before = volume(&phi);
    let options = ParticleOptions::default();
    let mut markers = Markers::default();
    markers.reseed(&domain, &walls, &phi, &options, 1, None);
    let mut work = [phi.clone(), phi.clone()];
    let mut fullest = FaceFields::new(domain.grid(), 0.0);
    for axis in 0..D {
        let lattice = *fullest.component(axis).lattice();
        fullest.component_mut(axis).update(|face, _| field(&lattice.position(face))[axis]);
    }
    let mut velocity = fullest.clone();
    let steps = (period / (0.5 * h)).ceil() as u64;
    let dt = period / steps as f64;
    for step in 0..steps {
        let strength = (PI * (step as f64 + 0.5) * dt / period).cos();
        for axis in 0..D {
            let full = fullest.component(axis);
            velocity.component_mut(axis).update(|face, _| strength * full.at(face));
        }
        domain.fill_velocity_ghosts(&mut velocity);
        carry(&domain, &velocity, &mut phi, &mut work, dt, LevelSetTransport::default());
        markers.advance(&domain, &walls, &velocity, dt, None);
        markers.correct(&mut phi, options.escape, None);
        domain.fill_level_set_ghosts(&mut phi);
        reinitialise(&domain, &mut phi, None).map_err(failed)?;
        markers.correct(&mut phi, options.escape, None);
        domain.fill_level_set_ghosts(&mut phi);
        markers.measure_radii(&phi, None);
        if step % 20 == 19 {
            markers.reseed(&domain, &walls, &phi, &options, step + 2, None);
        }
    }
    Ok((volume(&phi) / before - 1.0).abs())
}
