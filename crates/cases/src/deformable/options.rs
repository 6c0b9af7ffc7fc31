//! Options of scenes that change what a step does: points inside bodies that meet obstacles, and steps that follow the rate of strain.
//!
//! * **Inner points**: a block of two cells across falls over a ball that is smaller than its cells and lies inside it. Only the middle point of the block meets the ball: with inner points it
//!   is stopped there, without them the block falls freely.
//! * **Rate of strain**: no edge may change by more than a tenth in a step, unless that would take ten times the steps that elasticity asks for.
//!
//! Source: spec/deformable-solids.md DS-38, DS-45.

use super::set_up::failed;
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_scene::{AnyWorld, Scene, build};

pub(super) const CASE: Case = Case {
    name: "deformable/options",
    spec: "DS-38, DS-45",
    summary: "a point inside a block meets a ball that no point of its surface meets; fast strain shortens the steps, by a tenth at most",
    source: "exact: g t^2 / 2; spec/deformable-solids.md 3.15, 3.17",
    speed: Speed::Fast,
    seconds: 0.5,
    run,
};

fn world(text: &str) -> Result<World<3>, CaseError> {
    let scene = Scene::parse("options.toml", text, &[]).map_err(failed("reading a scene"))?;
    match build(&scene).map_err(failed("building a scene"))? {
        AnyWorld::Three(world) => Ok(*world),
        AnyWorld::Two(_) => Err(CaseError::new("building a scene", "the dimension changed")),
    }
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    for inner in [false, true] {
        let mut world = world(&format!(
            "dimension = 3\n[time]\nend = 1\n[elastic]\ninner_points = {inner}\n[[rigid]]\nname = \"ball\"\nkind = \"static\"\nshape = {{ sphere = {{ radius = 0.15 }} }}\n\
             position = [0.5, 0.2, 0.5]\n[[deformable]]\nname = \"block\"\ngeometry = {{ box = {{ from = [0, 0, 0], size = [1, 1, 1], cells = [2, 2, 2] }} }}\ndensity = 100\n\
             material = {{ young = 20000, damping = 0.02 }}\n"
        ))?;
        let start = world.state().solids.motion.position.clone();
        let middle = start.chunks_exact(3).position(|x| x.iter().all(|x| (x - 0.5).abs() < 1e-9));
        let middle = middle.ok_or_else(|| CaseError::new("meshing", "no point in the middle"))?;
        for _ in 0..30 {
            world.step(0.01).map_err(failed("falling"))?;
        }
        let now = &world.state().solids.motion.position;
        let resolution = if inner { "inner points" } else { "points of the surface" };
        if inner {
            let at = now[3 * middle + 1];
            out.at_least(
                "height of the middle point (m)",
                resolution,
                at,
                0.35 - 1e-9,
                "exact: top of the ball",
            );
        } else {
            let fallen = start.iter().zip(now).skip(1).step_by(3).map(|(a, b)| a - b);
            let most = fallen.fold(0.0, f64::max);
            out.near("farthest fall (m)", resolution, most, 0.5 * 9.81 * 0.09, 1e-9, "exact: g t^2 / 2");
        }
    }

    let longest = |speed: f64| -> Result<f64, CaseError> {
        let mut world = world(&format!(
            "dimension = 3\ngravity = [0, 0, 0]\n[time]\nend = 1\n[[deformable]]\nname = \"bar\"\ngeometry = {{ box = {{ from = [0, 0, 0], size = [0.2, 1, 0.2], cells = [1, 5, 1] }} }}\n\
             density = 1000\nmaterial = {{ young = 60000 }}\nelastic = {{ hold = [{{ from = [-1, 0.99, -1], to = [1, 1.01, 1], velocity = [{speed}, 0, 0] }}] }}\n"
        ))?;
        world.step(1e-7).map_err(failed("pulling"))?;
        world.longest_stable_step().map_err(failed("asking for the longest step"))
    };
    let rest = longest(0.0)?;
    out.near(
        "longest step over that at rest",
        "pulled at 1000 m/s",
        longest(1000.0)? / rest,
        0.1,
        1e-6,
        "spec: at least a tenth",
    );
    // Edges between the held side and the next layer are one cell or its diagonal long.
    let speed = 0.1 * 0.2 / (0.5 * rest);
    let share = longest(speed)? / rest;
    let resolution = "an edge of a cell changes by a tenth in half of the step at rest";
    out.at_least("longest step over that at rest", resolution, share, 0.5 - 1e-4, "spec 3.17");
    out.at_most("longest step over that at rest", resolution, share, 0.5 * 2f64.sqrt() + 1e-4, "spec 3.17");
    Ok(())
}
