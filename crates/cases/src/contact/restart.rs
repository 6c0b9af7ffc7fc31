//! A pile with jointed bodies in it is saved in the middle, loaded into a new world and continued: every bit is the same, also with another number of threads.
//!
//! Source: spec/rigid-bodies.md, row A22.

use super::set_up::{METHODS, add, ground, shared, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::{ContactMethod, Geometry, Joint, JointKind, Kind, Material};

pub(super) const CASE: Case = Case {
    name: "rigid/restart",
    spec: "A22 (rigid-bodies)",
    summary: "a world restored from a saved state continues with the same bits, with any number of threads",
    source: "exact: same bits",
    speed: Speed::Fast,
    seconds: 2.0,
    run,
};

fn heap(method: ContactMethod) -> Result<World<3>, CaseError> {
    let mut world = world::<3>(method, 9.81)?;
    let material = Material::new(0.3, 0.5);
    ground(&mut world, material, 0.0)?;
    let shapes = [
        shared(Geometry::cuboid(Vector::from([0.3, 0.2, 0.25])))?,
        shared(Geometry::sphere(0.25))?,
        shared(Geometry::capsule(0.15, 0.3))?,
    ];
    for i in 0..18 {
        let k = f64::from(i);
        let position = Vector::from([0.7 * (k * 2.4).cos(), 0.6 + 0.3 * k, 0.7 * (k * 2.4).sin()]);
        let frame = Frame { position, rotation: Dim::<3>::exp(&Vector::from([k, 0.3 * k, -k])) };
        add(&mut world, Kind::Dynamic, &shapes[i as usize % 3], 1.0 + k, material, frame, Twist::zero())?;
    }
    // Every third pair is a figure of two: its joint has to come back as well.
    for first in (0..18).step_by(6) {
        let frames: Vec<Frame<3>> = world.state().bodies.iter().map(|body| body.frame).collect();
        let ends = [first + 1, first + 2];
        let middle = (frames[ends[0]].position + frames[ends[1]].position) * 0.5;
        let joint = Joint::between(
            format!("joint {first}"),
            JointKind::Point,
            Some(ends[0]),
            Some(ends[1]),
            &Joint::frame_at(middle, None),
            &frames,
        )
        .map_err(|error| CaseError::new("making a joint", error))?;
        world.add_joint(joint).map_err(|error| CaseError::new("adding a joint", error))?;
    }
    Ok(world)
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    for (method, name) in METHODS {
        let mut whole = heap(method)?;
        let mut saved = None;
        for n in 0..60 {
            if n == 30 {
                saved = Some(whole.state().clone());
            }
            step(&mut whole, 1.0 / 60.0)?;
        }
        let mut again = heap(method)?;
        let restored = saved.is_some_and(|state| again.restore(state));
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(3)
            .build()
            .map_err(|error| CaseError::new("starting threads", error))?;
        pool.install(|| -> Result<(), CaseError> {
            for _ in 0..30 {
                step(&mut again, 1.0 / 60.0)?;
            }
            Ok(())
        })?;
        let same = restored && again.state() == whole.state();
        out.at_least("same bits (1 = yes)", name, f64::from(u8::from(same)), 1.0, "A22");
    }
    Ok(())
}
