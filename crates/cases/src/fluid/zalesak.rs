//! Zalesak's slotted disk: one rigid turn.
//!
//! A disk of radius 15 with a slot of width 5 and length 25 turns once about (50, 50) in the unit-vorticity field (S. T. Zalesak 1979). The particle
//! level set keeps its area (D. Enright and others 2002).

use super::setup::{domain, failed};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_fluid::surface::{Markers, carry, reinitialise, volume};
use splashdown_fluid::{LevelSetTransport, ParticleOptions, Side, SolidBoundary, Walls};
use splashdown_geometry::grid::{FaceFields, Field, Location};
use splashdown_geometry::shapes::Shape;
use splashdown_math::Vector;
use std::f64::consts::PI;

pub(super) const CASE: Case = Case {
    name: "fluid/zalesak",
    spec: "FB-T10",
    summary: "a slotted disk turned once keeps its area with marker particles, much better than the level set alone",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 8.0,
    run,
};

const SOURCE: &str = "exact: rigid rotation (S. T. Zalesak 1979; D. Enright and others 2002)";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let with = error(true)?;
    let without = error(false)?;
    measurements.at_most("area error with particles", "100^2", with[0], 0.01, SOURCE);
    measurements.at_least(
        "misplaced area without / with particles",
        "100^2",
        without[1] / with[1],
        3.0,
        SOURCE,
    );
    Ok(())
}

/// Relative error of the area after one turn, and area between the two shapes relative to the disk.
fn error(particles: bool) -> Result<[f64; 2], CaseError> {
    let domain = domain([100, 100], 1.0, [[Side::slip(); 2]; 2])?;
    let walls = Walls::new(&domain, &[], &[], SolidBoundary::Voxels);
    let at = |shape: Shape<2>, x: [f64; 2]| shape.translated(Vector::from(x)).map_err(failed);
    let disk = at(Shape::ball(15.0).map_err(failed)?, [50.0, 75.0])?;
    // The slot is cut from below, 25 long.
    let slot = at(Shape::cuboid(Vector::from([2.5, 15.0])).map_err(failed)?, [50.0, 70.0])?;
    let shape = disk.difference(slot);
    let mut phi = Field::from_fn(domain.grid(), Location::Cell, |x| shape.signed_distance(x));
    domain.fill_level_set_ghosts(&mut phi);
    let start = phi.clone();
    let area = volume(&phi);
    let mut velocity = FaceFields::new(domain.grid(), 0.0);
    for (axis, sign) in [(0, 1.0), (1, -1.0)] {
        let lattice = *velocity.component(axis).lattice();
        velocity
            .component_mut(axis)
            .update(|face, _| sign * PI / 314.0 * (50.0 - lattice.position(face)[1 - axis]));
    }
    domain.fill_velocity_ghosts(&mut velocity);
    let options = ParticleOptions::default();
    let mut markers = Markers::default();
    if particles {
        markers.reseed(&domain, &walls, &phi, &options, 1, None);
    }
    let mut work = [phi.clone(), phi.clone()];
    for step in 0..628 {
        carry(&domain, &velocity, &mut phi, &mut work, 1.0, LevelSetTransport::default());
        if particles {
            markers.advance(&domain, &walls, &velocity, 1.0, None);
            markers.correct(&mut phi, options.escape, None);
            domain.fill_level_set_ghosts(&mut phi);
        }
        reinitialise(&domain, &mut phi, None).map_err(failed)?;
        if particles {
            markers.correct(&mut phi, options.escape, None);
            domain.fill_level_set_ghosts(&mut phi);
            markers.measure_radii(&phi, None);
            if step % 20 == 19 {
                markers.reseed(&domain, &walls, &phi, &options, step + 2, None);
            }
        }
    }
    // Where exactly one of the two is negative.
    let both = phi.map(|index, value| value.min(start.at(index)));
    let common = phi.map(|index, value| value.max(start.at(index)));
    let misplaced = volume(&both) - volume(&common);
    Ok([(volume(&phi) / area - 1.0).abs(), misplaced / area])
}
