//! A table with balls on it is broken by a heavy ball; the balls fall and break on the ground. The scene `broken-table` as it ships, with 100 balls, and with 1024.
//!
//! Source: 000 figure 2.8 (spec/rigid-bodies.md, row E8: 25, 100 and 1000 spheres, 8992 fragments of the latter).

use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_scene::{AnyWorld, build, load};

pub(super) const CASE: Case = Case {
    name: "rigid/broken-table",
    spec: "E8",
    summary: "a table with 25 balls on it breaks, and the balls break on the ground",
    source: "000 figure 2.8",
    speed: Speed::Fast,
    seconds: 10.0,
    run: |out| run(out, &[("25 balls", &[], [100.0, 500.0])]),
};

pub(super) const LARGE: Case = Case {
    name: "rigid/broken-table-1000",
    spec: "E8",
    summary: "a table with 100 and with 1024 balls on it breaks, into thousands of pieces",
    source: "000 figure 2.8: 8992 fragments of 1000 balls",
    speed: Speed::Slow,
    seconds: 900.0,
    run: |out| {
        let hundred = small_balls([10, 1, 10], 0.04, [0.14, 0.0, 0.095], 1.5);
        let thousand = small_balls([16, 4, 16], 0.028, [0.09, 0.058, 0.06], 0.1);
        run(out, &[("100 balls", &hundred, [400.0, 2000.0]), ("1024 balls", &thousand, [8000.0, 18_000.0])])
    },
};

/// Changes to the scene: balls of this radius (m) in a grid on the table, which break from an impulse (N s).
fn small_balls(count: [u32; 3], radius: f64, spacing: [f64; 3], threshold: f64) -> Vec<String> {
    let first = |a: usize| -0.5 * spacing[a] * f64::from(count[a] - 1);
    vec![
        format!("rigid.ball.shape.sphere.radius={radius}"),
        format!(
            "rigid.ball.repeat={{count=[{},{},{}],spacing=[{},{},{}]}}",
            count[0], count[1], count[2], spacing[0], spacing[1], spacing[2]
        ),
        format!("rigid.ball.position=[{},{},{}]", first(0), 0.8 + radius, first(2)),
        format!("rigid.ball.fracture.threshold={threshold}"),
    ]
}

/// Runs the scene with each list of changes; its number of bodies at the end is to lie between the two given ones.
fn run(out: &mut Measurements, scenes: &[(&str, &[String], [f64; 2])]) -> Result<(), CaseError> {
    let failed = |error: &dyn std::fmt::Display| CaseError::new("breaking the table", error);
    for (name, changes, [least, most]) in scenes {
        let loaded = load("broken-table", changes).map_err(|error| failed(&error))?;
        let AnyWorld::Three(world) = build(&loaded.scene).map_err(|error| failed(&error))? else {
            return Err(failed(&"the scene has three dimensions"));
        };
        let mut world: World<3> = *world;
        let start = world.diagnostics();
        let (mut energy, mut broken) = (f64::NEG_INFINITY, 0usize);
        let steps = (loaded.scene.time.end * 30.0) as usize;
        for _ in 0..steps {
            let report = world.step(1.0 / 30.0).map_err(|error| failed(&error))?;
            broken += report.broken.len();
            energy = energy.max(world.diagnostics().total_energy / start.total_energy);
        }
        let now = world.diagnostics();
        let resolution = format!("{name}, {steps} frames of 1/30 s");
        let bodies = world.state().bodies.len() as f64;
        out.at_least("bodies at the end", &resolution, bodies, *least, CASE.source);
        out.at_most("bodies at the end", &resolution, bodies, *most, CASE.source);
        out.at_least("bodies that broke", &resolution, broken as f64, 2.0, "E8");
        out.at_most(
            "relative change of mass",
            &resolution,
            (now.mass / start.mass - 1.0).abs(),
            1e-10,
            "conserved",
        );
        out.at_most("largest energy over that at the start", &resolution, energy, 1.0 + 1e-6, "never more");
        let below = world
            .state()
            .bodies
            .iter()
            .skip(1)
            .map(|body| body.frame.position.y)
            .fold(f64::INFINITY, f64::min);
        out.at_least("lowest centre of a body (m)", &resolution, below, 0.0, "none falls through the ground");
        let least_moment =
            world.model().bodies.iter().filter(|body| body.is_dynamic()).map(super::least_moment);
        out.at_least(
            "least principal moment over the mass (m^2)",
            &resolution,
            least_moment.fold(f64::INFINITY, f64::min),
            1e-12,
            "every piece has inertia",
        );
    }
    Ok(())
}
