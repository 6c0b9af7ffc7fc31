//! Bindings without springs are the limit of stiff ones, and chains of them are flattened: a block that hangs, a weight in it, a pearl in the weight. And a rigid body that carries particles is
//! the limit of one whose particles are tied.
//!
//! Source: spec/rigid-deformable-coupling.md 3.9, 5.2-P.

use super::set_up::failed;
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_scene::{AnyWorld, Scene, build};

pub(super) const CASE: Case = Case {
    name: "coupled/bindings",
    spec: "5.2-P (rigid-deformable-coupling), RDC-30",
    summary: "bodies embedded in each other, twice over, against ties that get stiffer",
    source: "spec/rigid-deformable-coupling.md 5.2-P: 1e-6",
    speed: Speed::Fast,
    seconds: 2.0,
    run,
};

fn scene(weight: &str, pearl: &str) -> Result<Box<World<3>>, CaseError> {
    let text = format!(
        r#"
dimension = 3
[time]
end = 1
[elastic]
integrator = "quasistatic"
tolerance = 1e-12
newton_iterations = 200
[[deformable]]
name = "block"
geometry = {{ box = {{ from = [0, 0, 0], size = [1, 1, 1], cells = [3, 3, 3] }} }}
density = 100
material = {{ young = 60000, damping = 0.02 }}
elastic = {{ hold = [{{ from = [-1, 0.99, -1], to = [2, 1.01, 2] }}] }}
[[deformable]]
name = "weight"
geometry = {{ box = {{ from = [0.31, 0.42, 0.23], size = [0.3, 0.2, 0.4], cells = [1, 1, 1] }} }}
density = 3000
material = {{ young = 1000, damping = 0.05 }}
elastic = {{ {weight} }}
[[deformable]]
name = "pearl"
geometry = {{ box = {{ from = [0.4, 0.5, 0.3], size = [0.05, 0.06, 0.07], cells = [1, 1, 1] }} }}
density = 9000
material = {{ young = 1000, damping = 0.05 }}
elastic = {{ {pearl} }}
"#
    );
    let scene = Scene::parse("bindings.toml", &text, &[]).map_err(failed("reading the scene"))?;
    match build(&scene).map_err(failed("building the scene"))? {
        AnyWorld::Three(world) => Ok(world),
        AnyWorld::Two(_) => Err(failed("building the scene")("it is not in space")),
    }
}

/// Where all particles hang (m).
fn hangs(weight: &str, pearl: &str) -> Result<Vec<f64>, CaseError> {
    let mut world = scene(weight, pearl)?;
    world.step(0.01).map_err(failed("stepping"))?;
    Ok(world.state().solids.motion.position.clone())
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let hard = hangs("embed = \"block\"", "embed = \"weight\"")?;
    let mut last: Option<f64> = None;
    for stiffness in [1e7, 1e8, 1e9] {
        let tie = |to: &str| format!("tie = [{{ to = \"{to}\", stiffness = {stiffness} }}]");
        let soft = hangs(&tie("block"), &tie("weight"))?;
        let apart = hard.iter().zip(&soft).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let resolution = format!("ties of {stiffness:.0e} N/m");
        if let Some(last) = last {
            out.near(
                "distance over that with a tenth of it",
                &resolution,
                apart / last,
                0.1,
                0.02,
                "first order",
            );
        }
        if stiffness == 1e9 {
            out.at_most(
                "distance of a particle to where bindings have it (m)",
                &resolution,
                apart,
                1e-6,
                CASE.source,
            );
        }
        last = Some(apart);
    }
    let lowest = hard.iter().skip(1).step_by(3).fold(f64::MAX, |low, &y| low.min(y));
    out.at_most("lowest particle (m)", "bindings", lowest, -1e-3, "it does hang");
    Ok(())
}
