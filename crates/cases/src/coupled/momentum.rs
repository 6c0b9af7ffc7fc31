//! Rigid bodies and soft ones fly at each other in free space: whatever they do to each other, their momentum stays, and no energy appears.
//!
//! Source: conservation laws; spec/rigid-deformable-coupling.md 5.2-B.

use super::set_up::{Soft, add, at, failed, matter, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use splashdown_couple::StageTotals;
use splashdown_deformable::element::DampingKind;
use splashdown_geometry::generate::ball_tetrahedra;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::{Geometry, Joint, JointKind, Kind, Material};
use std::collections::BTreeMap;

pub(super) const CASE: Case = Case {
    name: "coupled/momentum",
    spec: "5.2-B (rigid-deformable-coupling), RDC-8, RDC-9, RDC-12, RDC-14, RDC-40",
    summary: "seven rigid bodies, two of them on a joint, and four soft balls, one with a bone, collide in free space: momenta by stage, energy",
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
        let mut matter = matter(2e5, 0.3, 0.01)?;
        // The kind of damping that keeps angular momentum in strained bodies, too.
        matter.damping.kind = DampingKind::Conserving;
        soft.add(&mesh, matter, (place * -1.5).into())?;
    }
    // A bone in one of them, and two bodies on a joint.
    let (place, twist) = (places[6], Twist { linear: places[6] * -1.5, angular: Vector::zeros() });
    let bone = Geometry::cuboid(Vector::repeat(0.12));
    let bone = add(&mut world, Kind::Dynamic, bone, 50.0, Material::new(0.3, 0.4), at(place.into()), twist)?;
    if soft.bind(&world, bone, |x| (x - place).amax() < 0.15) == 0.0 {
        return Err(failed("binding a bone")("nothing is near it"));
    }
    let frames: Vec<Frame<3>> = world.state().bodies.iter().map(|body| body.frame).collect();
    let middle = at(((places[0] + places[1]) * 0.5).into());
    let joint = Joint::between("joint", JointKind::Point, Some(0), Some(1), &middle, &frames)
        .map_err(failed("making a joint"))?;
    world.add_joint(joint).map_err(failed("adding a joint"))?;
    soft.finish(&mut world);
    world.options_mut().stage_totals = true;
    let mut stages = Stages::default();
    let before = world.diagnostics();
    let scale = before.mass * before.max_speed;
    let (mut linear, mut angular, mut gained, mut touching) = (0.0f64, 0.0f64, 0.0f64, 0);
    let mut energy = before.total_energy;
    for _ in 0..60 {
        let report = step(&mut world, 1.0 / 60.0)?;
        touching = touching.max(report.contact.touching);
        report.stages.iter().for_each(|stage| stages.take(stage));
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
    stages.judge(out, resolution);
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

/// What single stages have changed at most, relative to the sizes of all momenta.
#[derive(Default)]
struct Stages {
    linear: BTreeMap<String, f64>,
    angular: BTreeMap<String, f64>,
    /// Kinetic energy that collisions, projections onto joints and contact added, relative.
    gained: BTreeMap<String, f64>,
}

impl Stages {
    fn take(&mut self, stage: &StageTotals) {
        let size = |change: &[f64]| change.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut note = |map: fn(&mut Self) -> &mut BTreeMap<String, f64>, value: f64| {
            let worst = map(self).entry(stage.stage.clone()).or_insert(0.0);
            *worst = worst.max(value);
        };
        note(|own| &mut own.linear, size(&stage.momentum_change) / stage.sizes[0]);
        note(|own| &mut own.angular, size(&stage.angular_momentum_change) / stage.sizes[1]);
        if ["II ", "IV positions", "V.3", "V.4"].iter().any(|one| stage.stage.starts_with(one)) {
            let gained = self.gained.entry(stage.stage.clone()).or_insert(f64::NEG_INFINITY);
            *gained = gained.max(stage.energy_change / stage.kinetic_energy);
        }
    }

    fn judge(&self, out: &mut Measurements, resolution: &str) {
        for (stage, &change) in &self.linear {
            let what = format!("{stage}: change of momentum, relative");
            out.at_most(&what, resolution, change, 1e-11, CASE.source);
        }
        for (stage, &change) in &self.angular {
            let what = format!("{stage}: change of angular momentum, relative");
            // Bodies are turned back by what contact moves positions across momenta, so that the whole step keeps more of it: its size is that of the error it takes off.
            match stage.contains("spin for") {
                true => out.at_most(&what, resolution, change, 1e-4, "second order in the part"),
                false => out.at_most(&what, resolution, change, 1e-11, CASE.source),
            };
        }
        for (stage, &gained) in &self.gained {
            let what = format!("{stage}: kinetic energy gained, relative");
            out.at_most(&what, resolution, gained, 1e-12, "projections never gain");
        }
    }
}
