//! Volume, curvature, extrapolation and the particle level set on exact motions.

use super::*;
use crate::domain::{Domain, Side};
use crate::model::{LevelSetTransport, ParticleOptions};
use crate::walls::{SolidBoundary, Walls};
use splashdown_geometry::grid::{FaceFields, Field, Grid, Index, Location};
use splashdown_math::{Dim, Space, Vector};

fn domain<const D: usize>(n: usize) -> Domain<D> {
    let grid = Grid::new(Vector::zeros(), Vector::repeat(1.0 / n as f64), [n; D]).unwrap();
    Domain::new(grid, [[Side::slip(); 2]; D]).unwrap()
}

fn ball<const D: usize>(domain: &Domain<D>, centre: f64, radius: f64) -> Field<D> {
    Field::from_fn(domain.grid(), Location::Cell, |x| (x - Vector::repeat(centre)).norm() - radius)
}

#[test]
fn volume_and_curvature_are_second_order() {
    fn errors<const D: usize>(n: usize, volume_exact: f64, curvature_exact: f64) -> [f64; 2]
    where
        Dim<D>: Space<D>,
    {
        let domain = domain::<D>(n);
        let phi = ball(&domain, 0.5, 0.3);
        let h = domain.grid().spacing();
        let worst = phi.reduce(
            0.0,
            |cell, value| {
                if value.abs() > 1.0 / n as f64 {
                    return 0.0;
                }
                // Of the level set through the cell, whose radius is 0.3 + phi.
                let expected = curvature_exact * 0.3 / (0.3 + value);
                (curvature(&|i: Index<D>| phi.at(i), &h, cell) - expected).abs()
            },
            f64::max,
        );
        [(volume(&phi) - volume_exact).abs(), worst]
    }
    let pi = std::f64::consts::PI;
    let (coarse, fine) = (errors::<2>(32, pi * 0.09, 1.0 / 0.3), errors::<2>(64, pi * 0.09, 1.0 / 0.3));
    assert!(coarse[0] < 2e-3 && fine[0] < 0.35 * coarse[0], "{coarse:?} {fine:?}");
    assert!(fine[1] < 0.35 * coarse[1], "{coarse:?} {fine:?}");
    let (coarse, fine) = (errors::<3>(20, pi * 0.036, 2.0 / 0.3), errors::<3>(40, pi * 0.036, 2.0 / 0.3));
    assert!(coarse[0] < 2e-3 && fine[0] < 0.35 * coarse[0], "{coarse:?} {fine:?}");
    assert!(fine[1] < 0.35 * coarse[1], "{coarse:?} {fine:?}");
}

/// FB-T13: a linear field extrapolated off a sphere is constant along the normals to O(h).
fn extrapolation_error<const D: usize>(n: usize) -> f64
where
    Dim<D>: Space<D>,
{
    let domain = domain::<D>(n);
    let walls = Walls::new(&domain, &[], &[], SolidBoundary::Voxels);
    let phi = ball(&domain, 0.5, 0.25);
    let h = 1.0 / n as f64;
    let field = |x: &Vector<D>, axis: usize| x[0] + 2.0 * x[1] - (axis as f64) * x[D - 1];
    let mut velocity = FaceFields::new(domain.grid(), f64::NAN);
    for axis in 0..D {
        let lattice = *velocity.component(axis).lattice();
        velocity.component_mut(axis).update(|i, _| field(&lattice.position(i), axis));
    }
    let face_phi = |axis: usize, face: Index<D>| {
        let mut below = face;
        below[axis] -= 1;
        0.5 * (phi.at(below) + phi.at(face))
    };
    extrapolate_velocity(&domain, &walls, &phi, &mut velocity, 5.0 * h, None, false, |axis, face| {
        face_phi(axis, face) < 0.0
    })
    .unwrap();
    let mut worst: f64 = 0.0;
    for axis in 0..D {
        let component = velocity.component(axis);
        for face in component.lattice().indices() {
            let distance = face_phi(axis, face);
            if walls.is_closed(axis, face) || !(0.0..4.0 * h).contains(&distance) {
                continue;
            }
            let arm = component.lattice().position(face) - Vector::repeat(0.5);
            let foot = Vector::repeat(0.5) + arm * (0.25 / arm.norm());
            worst = worst.max((component.at(face) - field(&foot, axis)).abs());
        }
    }
    worst
}

#[test]
fn extrapolation_is_constant_along_normals_to_first_order() {
    for [coarse, fine] in [
        [extrapolation_error::<2>(32), extrapolation_error::<2>(64)],
        [extrapolation_error::<3>(24), extrapolation_error::<3>(48)],
    ] {
        assert!(coarse < 0.15 && fine < 0.62 * coarse, "{coarse} {fine}");
    }
}

/// Particles seeded around a ball lie on their sides within their radii; a level set that shrank is rebuilt from them.
fn particles_rebuild<const D: usize>(n: usize)
where
    Dim<D>: Space<D>,
{
    let domain = domain::<D>(n);
    let walls = Walls::new(&domain, &[], &[], SolidBoundary::Voxels);
    let mut phi = ball(&domain, 0.5, 0.27);
    let options = ParticleOptions::default();
    let mut markers = Markers::default();
    markers.reseed(&domain, &walls, &phi, &options, 1, None);
    assert!(markers.inside.len() > 500 && markers.outside.len() > 500);
    let h = 1.0 / n as f64;
    let distance = |x: &Vector<D>| (x - Vector::repeat(0.5)).norm() - 0.27;
    for x in &markers.inside.position {
        assert!(distance(x) < 0.01 * h && distance(x) > -3.2 * h);
    }
    for x in &markers.outside.position {
        assert!(distance(x) > -0.01 * h && distance(x) < 3.2 * h);
    }
    let before = volume(&phi);
    phi.values_mut().iter_mut().for_each(|value| *value += 0.4 * h);
    let shrunk = volume(&phi);
    markers.correct(&mut phi, 0.0, None);
    let repaired = volume(&phi);
    assert!((repaired - before).abs() < 0.6 * (shrunk - before).abs(), "{before} {shrunk} {repaired}");
    // Too many of them are thinned out, and what is there stays.
    let counts = [markers.inside.len(), markers.outside.len()];
    let phi = ball(&domain, 0.5, 0.27);
    markers.reseed(&domain, &walls, &phi, &options, 2, None);
    for (now, before) in [markers.inside.len(), markers.outside.len()].into_iter().zip(counts) {
        assert!((now as f64 / before as f64 - 1.0).abs() < 0.5, "{now} {before}");
    }
}

#[test]
fn particles_rebuild_a_shrunken_surface() {
    particles_rebuild::<2>(40);
    particles_rebuild::<3>(24);
}

#[test]
fn seeding_does_not_depend_on_threads() {
    let domain = domain::<2>(40);
    let walls = Walls::new(&domain, &[], &[], SolidBoundary::Voxels);
    let phi = ball(&domain, 0.5, 0.27);
    let seeded = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut markers = Markers::default();
            markers.reseed(&domain, &walls, &phi, &ParticleOptions::default(), 7, None);
            markers
        })
    };
    assert_eq!(seeded(1), seeded(3));
}

#[test]
fn liquids_are_separated_without_overlap_or_vacuum() {
    let domain = domain::<2>(20);
    let mut phis: Vec<Field<2>> = (0..3)
        .map(|k| {
            Field::from_fn(domain.grid(), Location::Cell, move |x| {
                (x[0] - 0.3 * k as f64).abs() - 0.2 + 0.05 * x[1]
            })
        })
        .collect();
    let mut refs: Vec<&mut Field<2>> = phis.iter_mut().collect();
    separate(&mut refs, true);
    for place in 0..phis[0].values().len() {
        let mut values: Vec<f64> = phis.iter().map(|phi| phi.values()[place]).collect();
        values.sort_by(f64::total_cmp);
        assert!((values[0] + values[1]).abs() < 1e-14);
    }
}

#[test]
fn a_solid_holds_the_surface_at_right_angles() {
    use crate::obstacle::Obstacle;
    use splashdown_geometry::shapes::Shape;
    let domain = domain::<2>(20);
    let post = Shape::cuboid(Vector::from([0.11, 2.0])).unwrap().translated(Vector::repeat(0.5)).unwrap();
    let obstacle = Obstacle::fixed("post", post);
    let walls = Walls::new(
        &domain,
        std::slice::from_ref(&obstacle),
        &[obstacle.placement(0.0)],
        SolidBoundary::Voxels,
    );
    let mut phi = Field::from_fn(domain.grid(), Location::Cell, |x| x[1] - 0.5);
    for cell in phi.lattice().indices() {
        if walls.is_solid(cell) {
            phi.set(cell, 99.0);
        }
    }
    extend_into_solids(&domain, &walls, &mut phi);
    assert!((phi.at([10, 5]) - phi.at([2, 5])).abs() < 1e-12);
    let fluid = volume_of(&phi, &walls, 0.0);
    let solid_width = (0..20).filter(|&i| walls.is_solid([i, 3])).count() as f64 * 0.05;
    // Dual cells across the solid's side count by half.
    assert!((fluid - 0.5 * (1.0 - solid_width)).abs() < 1e-12, "{fluid}");
}

#[test]
fn level_sets_can_be_carried_either_way() {
    let domain = domain::<2>(40);
    let mut velocity = FaceFields::new(domain.grid(), 0.0);
    for (axis, sign) in [(0, -1.0), (1, 1.0)] {
        let lattice = *velocity.component(axis).lattice();
        velocity.component_mut(axis).update(|i, _| sign * (lattice.position(i)[1 - axis] - 0.5));
    }
    domain.fill_velocity_ghosts(&mut velocity);
    for transport in [LevelSetTransport::default(), LevelSetTransport::Paths(Default::default())] {
        let mut phi =
            Field::from_fn(domain.grid(), Location::Cell, |x| (x - Vector::from([0.65, 0.5])).norm() - 0.2);
        let mut work = [phi.clone(), phi.clone()];
        let steps = 60;
        for _ in 0..steps {
            carry(&domain, &velocity, &mut phi, &mut work, std::f64::consts::TAU / steps as f64, transport);
            reinitialise(&domain, &mut phi, None).unwrap();
        }
        let exact = std::f64::consts::PI * 0.04;
        assert!((volume(&phi) / exact - 1.0).abs() < 0.02, "{transport:?} {}", volume(&phi));
        // Back where it was.
        let at = phi.lattice().position([32, 20]);
        let exact = (at - Vector::from([0.65, 0.5])).norm() - 0.2;
        assert!((phi.at([32, 20]) - exact).abs() < 0.01, "{} {exact}", phi.at([32, 20]));
    }
}
