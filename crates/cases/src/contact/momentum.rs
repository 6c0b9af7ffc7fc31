//! A cloud of bodies without gravity and without anything of infinite mass: whatever contact does, linear and angular momentum stay what they are.
//!
//! Source: exact; the project's mark of 1e-12 relative through collisions, contact and push-out.

use super::set_up::{METHODS, add, shared, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_rigid::{ContactMethod, Geometry, Kind, Material};

pub(super) const CASE: Case = Case {
    name: "rigid/momentum",
    spec: "RB-14, RB-16, RB-25 (rigid-bodies)",
    summary: "linear and angular momentum of colliding, rubbing, overlapping bodies are constant",
    source: "exact: conservation",
    speed: Speed::Fast,
    seconds: 2.0,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    cloud::<2>(out)?;
    cloud::<3>(out)
}

fn cloud<const D: usize>(out: &mut Measurements) -> Result<(), CaseError>
where
    Dim<D>: Space<D>,
{
    let vector = |all: [f64; 3]| Vector::<D>::from_fn(|a, _| all[a]);
    for (method, name) in METHODS {
        let mut world = world::<D>(method, 0.0)?;
        // Shock propagation gives bodies infinite mass for a while; the simultaneous method leaves it out where nothing holds them.
        if method == ContactMethod::Propagation {
            world.options_mut().contact.shock_propagation = false;
        }
        let material = Material::new(0.3, 0.5);
        let cube = shared(Geometry::cuboid(vector([0.3, 0.2, 0.25])))?;
        let ball = shared(Geometry::sphere(0.25))?;
        let pill = shared(Geometry::capsule(0.15, 0.3))?;
        for i in 0..15 {
            let k = f64::from(i);
            let position = vector([(k * 2.4).cos(), (k * 1.3).sin(), (k * 0.7).cos()]) * 1.6;
            let frame = Frame { position, rotation: Dim::exp(&Spin::<D>::from_slice(&[k, 0.3 * k, -k])) };
            let angular = Spin::<D>::from_slice(&[k.sin(), 2.0, k.cos()]);
            let twist = Twist { linear: -position * (1.0 + 0.1 * k), angular };
            let geometry = [&ball, &cube, &pill][i as usize % 3];
            add(&mut world, Kind::Dynamic, geometry, 0.5 + k, material, frame, twist)?;
        }
        let start = world.diagnostics();
        let scale: f64 = world
            .model()
            .bodies
            .iter()
            .zip(&world.state().bodies)
            .map(|(b, s)| b.mass * s.velocity.norm())
            .sum();
        let (mut touching, mut linear, mut angular, mut energy) = (0, 0.0f64, 0.0f64, 0.0f64);
        for _ in 0..90 {
            touching += step(&mut world, 1.0 / 60.0)?.contact.touching;
            let now = world.diagnostics();
            let error = |a: &[f64], b: &[f64]| {
                a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt() / scale
            };
            linear = linear.max(error(&start.momentum, &now.momentum));
            angular = angular.max(error(&start.angular_momentum, &now.angular_momentum));
            energy = energy.max(now.kinetic_energy / start.kinetic_energy);
        }
        let resolution = format!("{name}, {D}D, 15 bodies, 90 steps");
        out.at_most("linear momentum: largest change / sum |p|", &resolution, linear, 1e-12, CASE.source);
        out.at_most(
            "angular momentum: largest change / sum |p| 1 m",
            &resolution,
            angular,
            1e-12,
            CASE.source,
        );
        out.at_most("kinetic energy over that at the start", &resolution, energy, 1.0 + 1e-6, CASE.source);
        out.at_least("pairs that touched", &resolution, touching as f64, 20.0, CASE.source);
    }
    Ok(())
}
