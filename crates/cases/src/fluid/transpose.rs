//! The pressure gradient is minus the transposed divergence, for every kind of side, solids, cut cells, thin shells and free surfaces.
//!
//! With random velocities `u` of the unknown faces and random impulses `p` of the fluid cells, `<G p, u> = <p, G^T u>` to rounding, where `G p` is
//! what the projection does to the velocity times the face masses, and `G^T u` minus the volume-weighted divergence.

use super::setup::{domain, failed};
use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use splashdown_fluid::pressure::{FaceDensity, PressureProblem, PressureRows};
use splashdown_fluid::{Obstacle, Side, SolidBoundary, Walls, classify};
use splashdown_geometry::grid::{FaceFields, Field, Location};
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Dim, Space, Vector};

pub(super) const CASE: Case = Case {
    name: "fluid/transpose",
    spec: "FB-T1",
    summary: "gradient and divergence of the pressure problem are adjoint, all sides, solids, surfaces",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 0.3,
    run,
};

const SOURCE: &str = "exact: <G p, u> = <p, G^T u>";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let mut worst: f64 = 0.0;
    for boundary in [SolidBoundary::Voxels, SolidBoundary::CutCells] {
        for surface in [false, true] {
            for periodic in [false, true] {
                worst = worst.max(mismatch::<2>(12, boundary, surface, periodic)?);
                worst = worst.max(mismatch::<3>(8, boundary, surface, periodic)?);
            }
        }
    }
    measurements.at_most("largest relative mismatch", "12^2, 8^3", worst, 1e-13, SOURCE);
    Ok(())
}

fn mismatch<const D: usize>(
    n: usize,
    boundary: SolidBoundary,
    surface: bool,
    periodic: bool,
) -> Result<f64, CaseError>
where
    Dim<D>: Space<D>,
{
    let mut sides = [[Side::slip(); 2]; D];
    sides[0] = [Side::Inflow { velocity: Vector::repeat(0.3) }, Side::open()];
    sides[1] = if periodic { [Side::Periodic; 2] } else { [Side::wall(), Side::slip()] };
    let domain = domain([n; D], 1.0 / n as f64, sides)?;
    let ball = Shape::ball(0.23).and_then(|ball| ball.translated(Vector::repeat(0.43))).map_err(failed)?;
    let obstacle = Obstacle::fixed("ball", ball);
    let placement = obstacle.placement(0.0);
    let mut walls = Walls::new(&domain, &[obstacle], &[placement], boundary);
    // A shell across a part of the box: faces closed between cells of fluid.
    for k in 1..4 {
        let mut face = [k; D];
        face[0] = n as isize - 3;
        walls.close_by_shell(0, face, 0.0);
    }
    let mut phi = Field::from_fn(domain.grid(), Location::Cell, |x| x[1] - 0.7 - 0.1 * (5.0 * x[0]).sin());
    // A surface that continues across periodic sides: both ends of the axis are the same faces.
    domain.fill_level_set_ghosts(&mut phi);
    let phi = surface.then_some(&phi);
    let cells = classify(&domain, &walls, phi);
    let problem = PressureProblem {
        domain: &domain,
        walls: &walls,
        cells: &cells,
        density: FaceDensity::Uniform(1.3),
        phi,
        stair_steps: false,
        known: None,
        expansion: None,
    };
    let mut random = Pcg64Mcg::seed_from_u64(11);
    let mut velocity = FaceFields::new(domain.grid(), 0.0);
    for axis in 0..D {
        velocity
            .component_mut(axis)
            .values_mut()
            .iter_mut()
            .for_each(|u| *u = random.random_range(-1.0..1.0));
    }
    domain.fill_velocity_ghosts(&mut velocity);
    // Closed faces at rest, so that divergence is linear in the unknown faces.
    for axis in 0..D {
        velocity.component_mut(axis).update(|face, u| if walls.is_closed(axis, face) { 0.0 } else { u });
    }
    let rows = PressureRows::new(&problem, &velocity).map_err(failed)?;
    let impulse: Vec<f64> = (0..domain.grid().cell_count()).map(|_| random.random_range(-1.0..1.0)).collect();
    let mut after = velocity.clone();
    problem.apply_gradient(&impulse, &mut after);
    let (u, moved) = (rows.gather(&velocity), rows.gather(&after));
    let (mut left, mut scale) = (0.0, 0.0);
    for face in 0..u.len() {
        let push = (u[face] - moved[face]) / rows.inverse_masses()[face];
        left += push * u[face];
        scale += (push * u[face]).abs();
    }
    let counts = domain.grid().cells();
    let mut right = 0.0;
    for cell in rows.cells().indices() {
        let (mut place, mut stride) = (0, 1);
        for a in 0..D {
            place += cell[a] as usize * stride;
            stride *= counts[a];
        }
        // Cut faces: the part that a solid at rest closes carries nothing.
        right -= impulse[place] * problem.divergence(&velocity, cell);
    }
    Ok((left - right).abs() / scale)
}
