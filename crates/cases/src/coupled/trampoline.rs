//! The scene `trampoline`: rigid balls and soft rings fall on a cloth whose rim a moving frame carries, are tossed and caught.
//!
//! Source: spec/rigid-deformable-coupling.md 5.1, trampoline (figure 4.4 of the source): nothing falls through, the rim follows the frame to 1e-6, objects are in the air after the toss.

use super::set_up::{centre, failed, rigid, shipped, soft_bodies};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "coupled/trampoline",
    spec: "5.1 trampoline (rigid-deformable-coupling), RDC-30, RDC-31, RDC-33, RDC-36",
    summary: "balls and soft rings on a cloth in a moving frame: nothing falls through",
    source: "spec/rigid-deformable-coupling.md 5.1",
    speed: Speed::Slow,
    seconds: 200.0,
    run,
};

/// Height (m) of the cloth above or below a place; none beside it.
fn cloth(world: &World<3>, place: &Vector<3>) -> Option<f64> {
    let (_, body) = soft_bodies(world, "cloth").next()?;
    let first = body.particles.start;
    body.elements.chunks_exact(3).find_map(|corners| {
        let [a, b, c] =
            [0, 1, 2].map(|k| world.state().solids.motion.point::<3>(first + corners[k] as usize));
        let side = |p: &Vector<3>, q: &Vector<3>, r: &Vector<3>| {
            (q[0] - p[0]) * (r[2] - p[2]) - (q[2] - p[2]) * (r[0] - p[0])
        };
        let whole = side(&a, &b, &c);
        let parts = [side(place, &b, &c), side(&a, place, &c), side(&a, &b, place)].map(|part| part / whole);
        let inside = whole != 0.0 && parts.iter().all(|part| *part >= 0.0);
        inside.then(|| parts[0] * a[1] + parts[1] * b[1] + parts[2] * c[1])
    })
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let mut world = shipped("trampoline", &[])?;
    let frame = rigid(&world, "frame")?;
    let balls: Vec<usize> = (1..=5).map(|k| rigid(&world, &format!("ball-{k}"))).collect::<Result<_, _>>()?;
    let rings: Vec<usize> = soft_bodies(&world, "ring").map(|(index, _)| index).collect();
    let (mut lowest, mut rim, mut highest) = (f64::INFINITY, 0.0f64, f64::NEG_INFINITY);
    let mut fallen = 0;
    for count in 1..=120 {
        world.step(1.0 / 24.0).map_err(failed("stepping"))?;
        let places = balls.iter().map(|&ball| world.state().bodies[ball].frame.position);
        let places: Vec<Vector<3>> = places.chain(rings.iter().map(|&ring| centre(&world, ring))).collect();
        let mut below = 0;
        for place in &places {
            if let Some(height) = cloth(&world, place) {
                lowest = lowest.min(place[1] - height);
                below += usize::from(place[1] < height);
                if count > 66 {
                    highest = highest.max(place[1] - height);
                }
            }
        }
        fallen = fallen.max(below);
        let now = world.state().bodies[frame].frame;
        for one in world.solids().map_or(&[][..], |solids| &solids.bindings) {
            let x = world.state().solids.motion.point::<3>(one.particle as usize);
            rim = rim.max((x - now.to_world(&one.place)).norm());
        }
    }
    let resolution = "24^2 cells, frames of 1/24 s";
    out.at_most("centres below the cloth at once", resolution, fallen as f64, 0.0, CASE.source);
    out.at_least("least height of a centre above the cloth (m)", resolution, lowest, 0.0, CASE.source);
    out.at_most("rim from where the frame has it (m)", resolution, rim, 1e-6, CASE.source);
    out.at_least("highest after the toss above the cloth (m)", resolution, highest, 1.5, "in the air");
    Ok(())
}
