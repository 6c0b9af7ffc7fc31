//! A pillar that is cut into 32 splinters is thrown to the ground, turning as it falls: with short steps, at one step a frame without any conservation of energy, and at one step a frame with it.
//! Only in the second do splinters fly: the plain update of orientations gives spinning splinters energy, and contact turns it into height.
//!
//! Source: 000 figure 2.1 (spec/rigid-bodies.md, row E1).

use super::set_up::{add, ground, shared, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_math::{Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_rigid::{ContactMethod, EnergyFix, Geometry, Kind, Material};

pub(super) const CASE: Case = Case {
    name: "rigid/pillar-drop",
    spec: "E1 (rigid-bodies), RB-11, RB-21",
    summary: "a turning pillar of 32 splinters hits the ground: none flies higher at one step a frame than with short steps",
    source: "spec/rigid-bodies.md, E1",
    speed: Speed::Fast,
    seconds: 8.0,
    run,
};

struct Fall {
    /// Largest height of the centre of a splinter (m).
    height: f64,
    /// Largest total energy over that at the start.
    energy: f64,
}

fn fall(dt: f64, fix: EnergyFix) -> Result<Fall, CaseError> {
    const COUNT: [usize; 3] = [4, 2, 4];
    const EDGES: [f64; 3] = [0.06, 1.0, 0.06];
    let mut world = world::<3>(ContactMethod::Simultaneous, 9.81)?;
    let options = world.options_mut();
    options.energy_fix = fix;
    options.contact.clamp_collisions = fix != EnergyFix::Off;
    options.contact.clamp_contact = fix != EnergyFix::Off;
    let material = Material::new(0.5, 0.5);
    ground(&mut world, material, 0.0)?;
    let splinter = shared(Geometry::cuboid(Vector::from(EDGES) * 0.5))?;
    let mass = 2000.0 * EDGES.iter().product::<f64>();
    let middle = Vector::from([0.0, 4.0, 0.0]);
    let rotation = Dim::<3>::exp(&Spin::<3>::from([0.0, 0.0, 35f64.to_radians()]));
    let spin = Vector::from([12.0, 4.0, 6.0]);
    for index in 0..COUNT.iter().product() {
        let cell = [index % COUNT[0], index / COUNT[0] % COUNT[1], index / (COUNT[0] * COUNT[1])];
        let local = Vector::<3>::from_fn(|a, _| (cell[a] as f64 - 0.5 * (COUNT[a] as f64 - 1.0)) * EDGES[a]);
        let arm = rotation * local;
        let frame = Frame { position: middle + arm, rotation };
        let twist = Twist { linear: spin.cross(&arm), angular: spin };
        add(&mut world, Kind::Dynamic, &splinter, mass, material, frame, twist)?;
    }
    let start = world.diagnostics().total_energy;
    let mut found = Fall { height: 0.0, energy: 0.0 };
    let frames = 90;
    let steps = (1.0 / (30.0 * dt)).round() as usize;
    for _ in 0..frames {
        for _ in 0..steps {
            step(&mut world, dt)?;
        }
        let bodies = &world.state().bodies[1..];
        found.height = bodies.iter().map(|body| body.frame.position.y).fold(found.height, f64::max);
        found.energy = found.energy.max(world.diagnostics().total_energy / start);
    }
    Ok(found)
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let short = fall(1.0 / 960.0, EnergyFix::Always)?;
    out.at_most(
        "short steps: largest energy over that at the start",
        "dt = 1/960 s",
        short.energy,
        1.02,
        "E1",
    );
    let plain = fall(1.0 / 30.0, EnergyFix::Off)?;
    let row = "no conservation of energy: highest splinter over that of short steps";
    out.at_least(row, "dt = 1/30 s", plain.height / short.height, 2.0, "E1");
    for (fix, name) in [(EnergyFix::Always, "always"), (EnergyFix::Final, "final")] {
        let kept = fall(1.0 / 30.0, fix)?;
        let resolution = format!("dt = 1/30 s, energy fix {name}");
        out.at_most(
            "highest splinter over that of short steps",
            &resolution,
            kept.height / short.height,
            1.1,
            "E1",
        );
        out.at_most("largest energy over that at the start", &resolution, kept.energy, 1.02, "E1");
    }
    Ok(())
}
