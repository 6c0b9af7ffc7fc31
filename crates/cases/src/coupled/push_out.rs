//! Push-out in the step: what overlaps is moved apart by the inverse masses in one step and gets no velocity; one light body between two heavy ones takes a few sweeps of the central method where
//! pairs take thousands; boxes and soft balls in each other come apart.
//!
//! Source: spec/rigid-deformable-coupling.md 3.7, 5.1 (push-out tests), 5.2-E.

use super::set_up::{Soft, add, at, deepest, failed, matter, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_geometry::generate::ball_tetrahedra;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_rigid::contact::InverseInertia;
use splashdown_rigid::contact::push_out::{Outer, resolve};
use splashdown_rigid::{Geometry, Kind, Material, PushOut};

pub(super) const CASE: Case = Case {
    name: "coupled/push-out",
    spec: "5.1 push-out, 5.2-E (rigid-deformable-coupling), RDC-18, RDC-19, RDC-20, RDC-21",
    summary: "overlaps of spheres by inverse masses, a light rod between heavy ones, boxes and soft balls in each other",
    source: "spec/rigid-deformable-coupling.md 3.7",
    speed: Speed::Fast,
    seconds: 2.0,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    for (method, name) in [
        (PushOut::Projection, "projection"),
        (PushOut::Central, "central"),
        (PushOut::CentralNormal, "central, along normals"),
    ] {
        spheres(out, method, name)?;
        heap(out, method, name)?;
    }
    for (ratio, pairwise, central) in [(1e3, 2651.0, 4.0), (1e4, 26494.0, 3.0)] {
        let resolution = format!("mass ratio {ratio:.0e}");
        let [ours, pairs] = [rods(ratio, true), rods(ratio, false)];
        out.at_most("sweeps of the central method", &resolution, ours, central + 1.0, "3.7: 4 and 3");
        out.near("sweeps over pairs", &resolution, pairs, pairwise, 0.05 * pairwise, "3.7: 2651 and 26494");
    }
    Ok(())
}

/// Two spheres at rest that overlap by a tenth.
fn spheres(out: &mut Measurements, method: PushOut, name: &str) -> Result<(), CaseError> {
    let mut world = world([0.0; 3])?;
    world.options_mut().contact.push_out = method;
    let material = Material::new(0.0, 0.0);
    for (x, mass) in [(0.0, 1.0), (1.9, 3.0)] {
        let ball = Geometry::sphere(1.0);
        add(&mut world, Kind::Dynamic, ball, mass, material, at([x, 0.0, 0.0]), Twist::zero())?;
    }
    step(&mut world, 1.0 / 60.0)?;
    let bodies = &world.state().bodies;
    let moved = [-bodies[0].frame.position[0], bodies[1].frame.position[0] - 1.9];
    out.near("moved, mass 1 over mass 3", name, moved[0] / moved[1], 3.0, 1e-10, "inverse masses");
    out.near(
        "overlap of 0.1 m: moved apart (m)",
        name,
        moved[0] + moved[1],
        0.1,
        1e-3,
        "one step, to the slop",
    );
    let speed = bodies.iter().map(|body| body.velocity.norm()).fold(0.0, f64::max);
    out.at_most("speed afterwards (m/s)", name, speed, 0.0, "positions only");
    Ok(())
}

/// Four turned boxes in each other, one of them static, and two soft balls in two of them.
fn heap(out: &mut Measurements, method: PushOut, name: &str) -> Result<(), CaseError> {
    let mut world = world([0.0; 3])?;
    world.options_mut().contact.push_out = method;
    let material = Material::new(0.0, 0.0);
    for k in 0..4 {
        let t = f64::from(k);
        let rotation = Dim::<3>::exp(&(Vector::<3>::new(t.sin(), (2.0 * t).cos(), 0.3) * 0.3));
        let frame = Frame { position: Vector::from([0.92 * t, 0.06 * t.cos(), 0.0]), rotation };
        let kind = if k == 0 { Kind::Static } else { Kind::Dynamic };
        let cube = Geometry::cuboid(Vector::repeat(0.5));
        add(&mut world, kind, cube, 1000.0, material, frame, Twist::zero())?;
    }
    let mut soft = Soft::new(&world);
    for x in [1.0, 2.8] {
        let mesh = ball_tetrahedra(Vector::from([x, 0.93, 0.0]), 0.45, 3).map_err(failed("meshing"))?;
        soft.add(&mesh, matter(2e5, 0.3, 0.01)?, [0.0; 3])?;
    }
    soft.finish(&mut world);
    let first = deepest(&world);
    let before = world.state().bodies.clone();
    for _ in 0..10 {
        step(&mut world, 1.0 / 240.0)?;
    }
    out.at_least("deepest particle in a box at first (m)", name, first, 0.01, "they overlap");
    out.at_most("deepest particle in a box after 10 steps (m)", name, deepest(&world), 1e-3, "apart");
    let state = world.state();
    let fixed = (state.bodies[0].frame.position - before[0].frame.position).norm();
    out.at_most("the static box has moved (m)", name, fixed, 0.0, "static");
    Ok(())
}

/// Sweeps until three rods of length 1 in a row, heavy, light, heavy, which overlap by a tenth, overlap by at most a hundredth of that.
fn rods(ratio: f64, central: bool) -> f64 {
    let masses = [ratio, 1.0, ratio];
    let mut x = [0.0, 0.9, 1.8];
    let overlap = |x: &[f64; 3], k: usize| 1.0 - (x[k + 1] - x[k]);
    let body = |mass: f64| InverseInertia::<3> {
        mass: 1.0 / mass,
        inertia: Dim::<3>::inertia_from_principal(&[1e-12; 3]),
    };
    for sweep in 1..100_000 {
        if central {
            // Each rod in turn is the centre for those that it overlaps.
            for centre in 0..3usize {
                let sides: Vec<usize> = [centre.wrapping_sub(1), centre + 1]
                    .into_iter()
                    .filter(|&side| side < 3 && overlap(&x, side.min(centre)) > 0.0)
                    .collect();
                let outer: Vec<Outer<3>> = sides
                    .iter()
                    .map(|&side| {
                        let way = if side > centre { 1.0 } else { -1.0 };
                        let depth = overlap(&x, side.min(centre));
                        Outer {
                            arm: Vector::from([0.5 * way, 0.0, 0.0]),
                            own_arm: Vector::from([-0.5 * way, 0.0, 0.0]),
                            inverse: body(masses[side]),
                            // Of the centre relative to the other.
                            displacement: Vector::from([-way * depth, 0.0, 0.0]),
                            normal: None,
                        }
                    })
                    .collect();
                if outer.is_empty() {
                    continue;
                }
                let moved = resolve(&body(masses[centre]), &outer);
                x[centre] += moved.centre.linear[0];
                for (&side, own) in sides.iter().zip(&moved.outer) {
                    x[side] += own.linear[0];
                }
            }
        } else {
            for k in 0..2 {
                let depth = overlap(&x, k).max(0.0);
                let [a, b] = [1.0 / masses[k], 1.0 / masses[k + 1]];
                x[k] -= depth * a / (a + b);
                x[k + 1] += depth * b / (a + b);
            }
        }
        if (0..2).all(|k| overlap(&x, k) <= 1e-3) {
            return f64::from(sweep);
        }
    }
    f64::INFINITY
}
