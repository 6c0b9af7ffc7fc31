//! The scenes `snake`, `maggot` and `fish`: bones with driven joints inside soft flesh, on the ground and under a load.
//!
//! Source: spec/rigid-deformable-coupling.md 5.1 (figures 4.7, 4.9 and 4.10 of the source) and 3.10.

use super::set_up::{centre, deepest, failed, rigid, shipped};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_math::Vector;

pub(super) const SNAKE: Case = Case {
    name: "coupled/snake",
    spec: "5.1 snake (rigid-deformable-coupling), RDC-15, RDC-30, RDC-31, RDC-32",
    summary: "a wave along twelve driven joints carries a snake sideways onto steps",
    source: "spec/rigid-deformable-coupling.md 5.1: more than half a width a period",
    speed: Speed::Slow,
    seconds: 60.0,
    run: snake,
};

pub(super) const MAGGOT: Case = Case {
    name: "coupled/maggot",
    spec: "5.1 maggot under a ring (rigid-deformable-coupling), RDC-15, RDC-31, RDC-32",
    summary: "a maggot of three bones wriggles under a ring of a ton",
    source: "spec/rigid-deformable-coupling.md 5.1",
    speed: Speed::Slow,
    seconds: 60.0,
    run: maggot,
};

pub(super) const FISH: Case = Case {
    name: "coupled/fish",
    spec: "5.1 fish (rigid-deformable-coupling), RDC-15, RDC-31, RDC-32",
    summary: "a fish of five bones that is dropped on its side flops",
    source: "spec/rigid-deformable-coupling.md 5.1: joint error below 1 % of a bone",
    speed: Speed::Slow,
    seconds: 60.0,
    run: fish,
};

/// Runs a creature and calls `see` after every frame; the largest joint error (m) and the deepest overlap of its flesh (m).
fn live(
    world: &mut World<3>,
    seconds: f64,
    mut see: impl FnMut(&World<3>, f64),
) -> Result<(f64, f64), CaseError> {
    let (mut error, mut deep) = (0.0f64, 0.0f64);
    for frame in 1..=(24.0 * seconds) as usize {
        world.step(1.0 / 24.0).map_err(failed("stepping"))?;
        error = error.max(world.diagnostics().joints.map_or(0.0, |joints| joints.linear_error));
        deep = deep.max(deepest(world));
        see(world, frame as f64 / 24.0);
    }
    Ok((error, deep))
}

fn snake(out: &mut Measurements) -> Result<(), CaseError> {
    let mut world = shipped("snake", &[])?;
    let mut path = vec![(0.0, centre(&world, 0))];
    let (error, deep) = live(&mut world, 8.0, |world, time| path.push((time, centre(world, 0))))?;
    let at = |time: f64| path.iter().find(|(t, _)| *t >= time - 1e-9).map_or(Vector::zeros(), |(_, x)| *x);
    let resolution = "39 x 2 x 2 cells, frames of 1/24 s";
    let sideways = (at(8.0)[2] - at(2.0)[2]).abs() / 3.0;
    out.at_least("sideways in a period of 2 s, width 0.8 (m)", resolution, sideways, 0.4, SNAKE.source);
    let climbed = path.iter().map(|(_, x)| x[1]).fold(f64::MIN, f64::max) - path[0].1[1];
    out.at_least("most that the centre has risen (m)", resolution, climbed, 0.1, "steps of 0.2 and 0.4 m");
    out.at_most("joint error, bones of 0.7 m (m)", resolution, error, 7e-3, "1 % of a bone");
    out.at_most("deepest particle of flesh in a step (m)", resolution, deep, 0.01, SNAKE.source);
    Ok(())
}

fn maggot(out: &mut Measurements) -> Result<(), CaseError> {
    let mut world = shipped("maggot", &[])?;
    let ring = rigid(&world, "ring")?;
    let (mut bend, mut fastest, mut moved) = (0.0f64, 0.0f64, 0.0f64);
    let bones = ["head", "middle", "tail"].map(|name| rigid(&world, name));
    let [head, middle, tail] = bones;
    let (head, middle, tail) = (head?, middle?, tail?);
    let start = centre(&world, 0);
    let (error, deep) = live(&mut world, 5.0, |world, time| {
        let place = |bone: usize| world.state().bodies[bone].frame.position;
        let [a, b] = [place(head) - place(middle), place(tail) - place(middle)];
        bend = bend.max(std::f64::consts::PI - a.angle(&b));
        moved = moved.max((centre(world, 0) - start).norm());
        if time > 1.0 {
            fastest = fastest.max(world.diagnostics().max_speed);
        }
    })?;
    let resolution = "15 x 3 x 3 cells, frames of 1/24 s";
    out.at_least("most that it bends (deg)", resolution, bend.to_degrees(), 20.0, "it wriggles");
    out.at_least("most that it moves (m)", resolution, moved, 0.1, "it moves");
    out.at_most("fastest of all after 1 s (m/s)", resolution, fastest, 20.0, "nothing explodes");
    let height = world.state().bodies[ring].frame.position[1];
    out.at_least("height of the ring (m)", resolution, height, 0.24, "it lies on the ground or the maggot");
    out.at_most("joint error, bones of 0.7 m (m)", resolution, error, 7e-3, "1 % of a bone");
    out.at_most("deepest particle of flesh (m)", resolution, deep, 0.02, MAGGOT.source);
    Ok(())
}

fn fish(out: &mut Measurements) -> Result<(), CaseError> {
    let mut world = shipped("fish", &[])?;
    let bones: Vec<usize> = (1..=5).map(|k| rigid(&world, &format!("bone-{k}"))).collect::<Result<_, _>>()?;
    let (mut lowest, mut swings, mut last) = (f64::INFINITY, 0, 0.0f64);
    let (error, deep) = live(&mut world, 5.0, |world, time| {
        let place = |k: usize| world.state().bodies[bones[k]].frame.position;
        lowest = lowest.min(centre(world, 0)[1]);
        // To which side the tail is bent.
        let side = (place(0) - place(2)).cross(&(place(4) - place(2)))[2];
        if time > 1.0 && side * last < 0.0 {
            swings += 1;
        }
        last = side;
    })?;
    let resolution = "20 x 2 x 4 cells, frames of 1/24 s";
    out.at_least("changes of side in 4 s", resolution, f64::from(swings), 3.0, "it flops at 0.64 Hz");
    out.at_most("joint error, bones of 0.8 m (m)", resolution, error, 8e-3, FISH.source);
    out.at_least("lowest centre (m)", resolution, lowest, 0.1, "it does not fall through");
    out.at_most("deepest particle of flesh in the ground (m)", resolution, deep, 0.01, FISH.source);
    Ok(())
}
