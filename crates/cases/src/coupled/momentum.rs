//! Rigid bodies and soft ones fly at each other in free space: whatever they do to each other, their momentum stays, and no energy appears.
//!
//! Source: conservation laws; spec/rigid-deformable-coupling.md 5.2-B.

use super::set_up::{Soft, add, failed, matter, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use splashdown_geometry::generate::ball_tetrahedra;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::{Geometry, Kind, Material};

pub(super) const CASE: Case = Case {
    name: "coupled/momentum",
    spec: "5.2-B (rigid-deformable-coupling), RDC-8, RDC-9, RDC-12, RDC-14, RDC-40",
    summary: "six rigid bodies and four soft balls collide in free space: momentum, angular momentum and energy",
    source: "exact: conservation of momentum",
    speed: Speed::Slow,
    seconds: 8.0,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let mut random = rand_pcg::Pcg64::seed_from_u64(7);
    let mut world = world([0.0; 3])?;
    let mut number = |least: f64, most: f64| random.random_range(least..most);
    let mut places = Vec::new();
    for k in 0..10 {
        // On a sphere, all towards the middle.
        let (height, angle) = (0.9 - 0.2 * f64::from(k), 2.4 * f64::from(k));
        let side = (1.0 - height * height).max(0.0f64).sqrt();
        places.push(Vector::<3>::new(side * angle.cos(), height, side * angle.sin()) * 1.6);
    }
    for (k, place) in places.iter().take(6).enumerate() {
        let geometry = match k % 3 {
            0 => Geometry::sphere(0.4),
            1 => Geometry::cuboid(Vector::from([0.3, 0.4, 0.25])),
            _ => Geometry::capsule(0.2, 0.3),
        };
        let turn = Vector::<3>::new(number(-1.0, 1.0), number(-1.0, 1.0), number(-1.0, 1.0));
        let spin = Vector::<3>::new(number(-2.0, 2.0), number(-2.0, 2.0), number(-2.0, 2.0));
        let frame = Frame { position: *place, rotation: Dim::<3>::exp(&turn) };
        let twist = Twist { linear: place * -1.5, angular: spin };
        let mass = number(100.0, 400.0);
        add(&mut world, Kind::Dynamic, geometry, mass, Material::new(0.3, 0.4), frame, twist)?;
    }
    let mut soft = Soft::new(&world);
    soft.solids.integrator.tolerance = 1e-10;
    for place in &places[6..] {
        let mesh = ball_tetrahedra(*place, 0.4, 3).map_err(failed("meshing"))?;
        soft.add(&mesh, matter(2e5, 0.3, 0.01)?, (place * -1.5).into())?;
    }
    soft.finish(&mut world);
    let before = world.diagnostics();
    let scale = before.mass * before.max_speed;
    let (mut linear, mut angular, mut gained, mut touching) = (0.0f64, 0.0f64, 0.0f64, 0);
    let mut energy = before.total_energy;
    for _ in 0..60 {
        touching = touching.max(step(&mut world, 1.0 / 60.0)?.contact.touching);
        let now = world.diagnostics();
        for k in 0..3 {
            linear = linear.max((now.momentum[k] - before.momentum[k]).abs() / scale);
            angular = angular.max((now.angular_momentum[k] - before.angular_momentum[k]).abs() / scale);
        }
        gained = gained.max((now.total_energy - energy) / before.total_energy);
        energy = now.total_energy;
    }
    let resolution = "dt = 1/60 s, in parts for the elements";
    out.at_least("pairs that touch at once", resolution, touching as f64, 20.0, "they meet");
    out.at_most("change of momentum, relative", resolution, linear, 1e-11, CASE.source);
    out.at_most(
        "change of angular momentum, over m v 1 m",
        resolution,
        angular,
        2e-3,
        "second order in the part",
    );
    out.at_most("energy gained in a step, relative", resolution, gained, 1e-3, "second order in the part");
    out.at_most(
        "energy at the end, relative",
        resolution,
        energy / before.total_energy,
        0.9,
        "collisions dissipate",
    );
    Ok(())
}
