//! What the transfers keep, and what the particles make of a surface.

use super::*;
use crate::domain::Side;
use crate::walls::SolidBoundary;
use splashdown_geometry::grid::Location;
use splashdown_math::Coordinates;

fn domain<const D: usize>(side: Side<D>) -> Domain<D> {
    let spacing = Vector::from_fn(|a, _| 0.1 + 0.02 * a as f64);
    let cells = std::array::from_fn(|a| 9 + 2 * a);
    Domain::new(Grid::new(Vector::repeat(-0.4), spacing, cells).unwrap(), [[side; 2]; D]).unwrap()
}

/// Particles well inside of the domain with any velocities and gradients, ordered by cell.
fn any_particles<const D: usize>(domain: &Domain<D>, margin: f64) -> (Vec<Vector<D>>, Vec<Affine<D>>)
where
    Dim<D>: Space<D>,
{
    let (grid, bounds) = (*domain.grid(), domain.grid().bounds());
    let mut random = Random::new(3, 7);
    let mut position: Vec<Vector<D>> = (0..300)
        .map(|_| {
            Vector::from_fn(|a, _| {
                bounds.min[a] + margin + random.next() * (bounds.extent()[a] - 2.0 * margin)
            })
        })
        .collect();
    position.sort_by_key(|x| dense(grid.cells(), clamped(&grid, x)));
    let mut number = || 2.0 * random.next() - 1.0;
    let carried = (0..position.len())
        .map(|_| Affine {
            velocity: Vector::from_fn(|_, _| number()),
            gradient: Matrix::from_fn(|_, _| 5.0 * number()),
        })
        .collect();
    (position, carried)
}

/// Momentum, and angular momentum about the origin, of what is on the faces.
fn on_faces<const D: usize>(mass: &FaceFields<D>, velocity: &FaceFields<D>) -> (Vector<D>, Vec<f64>)
where
    Dim<D>: Space<D>,
{
    let (mut linear, mut angular) = (Vector::zeros(), <Dim<D> as Space<D>>::Spin::zero());
    for axis in 0..D {
        let lattice = *mass.component(axis).lattice();
        for face in lattice.stored_indices() {
            let mut p = Vector::zeros();
            p[axis] = mass.component(axis).at(face) * velocity.component(axis).at(face);
            linear += p;
            angular += Dim::<D>::cross(&lattice.position(face), &p);
        }
    }
    (linear, angular.as_slice().to_vec())
}

/// The same of particles. The affine part of component `a` turns like `sum w (x_face - x) x (C (x_face - x))_a e_a`.
fn of_particles<const D: usize>(
    domain: &Domain<D>,
    position: &[Vector<D>],
    carried: &[Affine<D>],
) -> (Vector<D>, Vec<f64>)
where
    Dim<D>: Space<D>,
{
    let (mut linear, mut angular) = (Vector::zeros(), <Dim<D> as Space<D>>::Spin::zero());
    for (x, carried) in position.iter().zip(carried) {
        linear += carried.velocity;
        angular += Dim::<D>::cross(x, &carried.velocity);
        for axis in 0..D {
            let lattice = domain.grid().lattice(Location::Face(axis), 3);
            let (_, fraction) = corner(&lattice, x);
            for b in 0..D {
                // The second moment of the weights along b is h^2 f (1 - f); the mixed ones vanish.
                let h = domain.grid().spacing()[b];
                let moment = h * h * fraction[b] * (1.0 - fraction[b]);
                let unit = |a: usize| Vector::<D>::from_fn(|i, _| if i == a { 1.0 } else { 0.0 });
                let turn = Dim::<D>::cross(&unit(b), &unit(axis));
                angular += turn * (moment * carried.gradient[(axis, b)]);
            }
        }
    }
    (linear, angular.as_slice().to_vec())
}

fn difference<const D: usize>(a: &(Vector<D>, Vec<f64>), b: &(Vector<D>, Vec<f64>)) -> f64 {
    let angular = a.1.iter().zip(&b.1).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    (a.0 - b.0).amax().max(angular)
}

fn momenta_are_kept<const D: usize>()
where
    Dim<D>: Space<D>,
{
    let domain = domain::<D>(Side::slip());
    let (position, carried) = any_particles(&domain, 0.15);
    let mut transfer = Transfer::new(domain.grid());
    transfer.scatter(&domain, &position, &carried);
    transfer.divide();
    let faces = on_faces(&transfer.mass, &transfer.velocity);
    let particles = of_particles(&domain, &position, &carried);
    assert!(particles.0.norm() > 1.0 && particles.1[0].abs() > 0.1);
    assert!(difference(&faces, &particles) < 1e-11, "{faces:?} {particles:?}");
    let gathered: Vec<Affine<D>> = position.iter().map(|x| gather(&transfer.velocity, x)).collect();
    let back = of_particles(&domain, &position, &gathered);
    assert!(difference(&back, &faces) < 1e-11, "{back:?} {faces:?}");
}

#[test]
fn momentum_and_angular_momentum_survive_both_transfers() {
    momenta_are_kept::<2>();
    momenta_are_kept::<3>();
}

fn affine_motion_is_kept<const D: usize>()
where
    Dim<D>: Space<D>,
{
    let domain = domain::<D>(Side::slip());
    let (position, _) = any_particles(&domain, 0.15);
    let gradient = Matrix::<D>::from_fn(|a, b| (3 * a + b) as f64 - 2.5);
    let velocity = |x: &Vector<D>| gradient * x + Vector::repeat(0.3);
    let carried: Vec<Affine<D>> =
        position.iter().map(|x| Affine { velocity: velocity(x), gradient }).collect();
    let mut transfer = Transfer::new(domain.grid());
    transfer.scatter(&domain, &position, &carried);
    transfer.divide();
    for x in &position {
        let Affine { velocity: v, gradient: c } = gather(&transfer.velocity, x);
        // Faces that no particle reaches have no say: a weight of theirs is zero.
        assert!((v - velocity(x)).amax() < 1e-12 && (c - gradient).amax() < 1e-10, "{v} {c}");
    }
}

#[test]
fn rotation_and_shear_are_not_damped() {
    affine_motion_is_kept::<2>();
    affine_motion_is_kept::<3>();
}

#[test]
fn particles_at_periodic_sides_count_once() {
    let domain = domain::<2>(Side::Periodic);
    let (position, carried) = any_particles(&domain, 0.0);
    let mut transfer = Transfer::new(domain.grid());
    transfer.scatter(&domain, &position, &carried);
    for axis in 0..2 {
        let mass = transfer.mass.component(axis);
        let last = domain.grid().cells()[axis] as isize;
        let once = mass.reduce(0.0, |face, m| if face[axis] == last { 0.0 } else { m }, |a, b| a + b);
        assert!((once - position.len() as f64).abs() < 1e-10, "{once}");
    }
}

/// The surface of a pool at any height within a cell, from particles alone.
#[test]
fn particles_tell_a_flat_surface_to_a_fifth_of_a_cell() {
    let n = 32;
    let grid = Grid::<2>::new(Vector::zeros(), Vector::repeat(1.0 / n as f64), [n, n]).unwrap();
    let domain = Domain::new(grid, [[Side::slip(); 2]; 2]).unwrap();
    let walls = Walls::new(&domain, &[], &[], SolidBoundary::Voxels);
    let options = ApicOptions { per_cell: 16, ..ApicOptions::default() };
    for part in [0.0, 0.25, 0.5, 0.75] {
        let height = (16.0 + part) / n as f64;
        let mut phi = Field::from_fn(&grid, Location::Cell, |x| x[1] - height);
        let mut particles = ApicParticles::default();
        particles.fill(&domain, &walls, &phi, &options, 5, |_| true);
        particles.position.sort_by_key(|x| dense(grid.cells(), clamped(&grid, x)));
        particles.surface(&mut phi);
        domain.fill_level_set_ghosts(&mut phi);
        let wet = crate::surface::volume(&phi);
        assert!((wet - height).abs() < 0.2 / n as f64, "{wet} {height}");
    }
}
