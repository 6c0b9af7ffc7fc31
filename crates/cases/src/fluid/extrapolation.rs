//! Velocity continued off a ball is constant along its normals, to first order.

use super::super::foundation::convergence;
use super::setup::{domain, failed};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_fluid::surface::extrapolate_velocity;
use splashdown_fluid::{Side, SolidBoundary, Walls};
use splashdown_geometry::grid::{FaceFields, Field, Index, Location};
use splashdown_math::{Dim, Space, Vector};

pub(super) const CASE: Case = Case {
    name: "fluid/extrapolation",
    spec: "FB-T13",
    summary: "a linear velocity continued off a disk and a ball is constant along normals to O(h)",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 0.5,
    run,
};

const SOURCE: &str = "exact: value at the foot of the normal";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    let mut curves = Vec::new();
    let mut plane = Vec::new();
    for n in [32, 64, 128] {
        plane.push([1.0 / n as f64, mean_error::<2>(n)?]);
    }
    let mut space = Vec::new();
    for n in [16, 32, 64] {
        space.push([1.0 / n as f64, mean_error::<3>(n)?]);
    }
    for (name, errors) in [("disk", plane), ("ball", space)] {
        let order = convergence::order(&errors);
        measurements.at_least(&format!("{name}: order of the mean error"), "finest", order, 0.85, SOURCE);
        curves.push((name.to_string(), errors, 1.0));
    }
    measurements.plot(convergence::plot("Extrapolation of velocity", "mean error (m/s)", &curves));
    Ok(())
}

fn mean_error<const D: usize>(n: usize) -> Result<f64, CaseError>
where
    Dim<D>: Space<D>,
{
    let h = 1.0 / n as f64;
    let domain = domain([n; D], h, [[Side::slip(); 2]; D])?;
    let walls = Walls::new(&domain, &[], &[], SolidBoundary::Voxels);
    let middle = Vector::repeat(0.5);
    let phi = Field::from_fn(domain.grid(), Location::Cell, |x| (x - middle).norm() - 0.25);
    let field = |x: &Vector<D>, axis: usize| x[0] + 2.0 * x[1] - axis as f64 * x[D - 1];
    let mut velocity = FaceFields::new(domain.grid(), 0.0);
    for axis in 0..D {
        let lattice = *velocity.component(axis).lattice();
        velocity.component_mut(axis).update(|face, _| field(&lattice.position(face), axis));
    }
    let at_face = |axis: usize, face: Index<D>| {
        let mut below = face;
        below[axis] -= 1;
        0.5 * (phi.at(below) + phi.at(face))
    };
    let known = |axis: usize, face: Index<D>| at_face(axis, face) < 0.0;
    extrapolate_velocity(&domain, &walls, &phi, &mut velocity, 5.0 * h, None, false, known)
        .map_err(failed)?;
    let (mut sum, mut count) = (0.0, 0.0);
    for axis in 0..D {
        let component = velocity.component(axis);
        for face in component.lattice().indices() {
            if !(0.0..4.0 * h).contains(&at_face(axis, face)) {
                continue;
            }
            let arm = component.lattice().position(face) - middle;
            let foot = middle + arm * (0.25 / arm.norm());
            sum += (component.at(face) - field(&foot, axis)).abs();
            count += 1.0;
        }
    }
    Ok(sum / count)
}
