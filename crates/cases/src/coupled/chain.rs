//! The scene `twisting-chain`: rigid and soft rings linked through each other are wound up and unwound. Two closed curves that pass through each other change their linking number, so the one
//! of every pair of rings stays what it was.
//!
//! Source: spec/rigid-deformable-coupling.md 5.1, twisting chain (figure 4.1 of the source): no link passes through another, returns to slack. The linking number is Gauss's integral, exact for
//! polygons (solid angles of pairs of segments).

use super::set_up::{failed, rigid, shipped, soft_bodies};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_math::{Dim, Space, Vector};
use std::f64::consts::TAU;

pub(super) const CASE: Case = Case {
    name: "coupled/chain",
    spec: "5.1 twisting chain (rigid-deformable-coupling), RDC-9, RDC-33, RDC-39",
    summary: "a chain of rigid and soft rings is wound up by a whole turn and unwound: no ring passes through another",
    source: "spec/rigid-deformable-coupling.md 5.1",
    speed: Speed::Slow,
    seconds: 60.0,
    run,
};

/// Radius of the rings (m).
const RING: f64 = 0.8;
/// Pieces of the soft rings, and corners of the curves.
const AROUND: usize = 24;

/// Middle curves of the rings, in the order of the chain.
fn curves(world: &World<3>) -> Result<Vec<Vec<Vector<3>>>, CaseError> {
    let mut curves = Vec::new();
    for ring in ["ring-1", "ring-2", "ring-3", "ring-4", "ring-5"] {
        if let Some((_, body)) = soft_bodies(world, ring).next() {
            let rest: Vec<Vector<3>> = body.rest.chunks_exact(3).map(Vector::from_column_slice).collect();
            let centre = rest.iter().sum::<Vector<3>>() / rest.len() as f64;
            let (mut sums, mut counts) = (vec![Vector::<3>::zeros(); AROUND], vec![0.0; AROUND]);
            for (x, particle) in rest.iter().zip(body.particles.clone()) {
                let angle = (x[0] - centre[0]).atan2(x[2] - centre[2]) / TAU;
                let piece = (angle.rem_euclid(1.0) * AROUND as f64).round() as usize % AROUND;
                sums[piece] += world.state().solids.motion.point::<3>(particle);
                counts[piece] += 1.0;
            }
            curves.push(sums.iter().zip(counts).map(|(sum, count)| sum / count).collect());
        } else {
            let frame = world.state().bodies[rigid(world, ring)?].frame;
            let corner = |k: usize| {
                let angle = TAU * k as f64 / AROUND as f64;
                frame.to_world(&(Vector::<3>::new(angle.cos(), angle.sin(), 0.0) * RING))
            };
            curves.push((0..AROUND).map(corner).collect());
        }
    }
    Ok(curves)
}

/// Linking number of two closed polygons.
fn linking(a: &[Vector<3>], b: &[Vector<3>]) -> f64 {
    let next = |curve: &[Vector<3>], k: usize| curve[(k + 1) % curve.len()];
    let mut sum = 0.0;
    for (i, a1) in a.iter().enumerate() {
        for (j, b1) in b.iter().enumerate() {
            let (a2, b2) = (next(a, i), next(b, j));
            let [r13, r14, r23, r24] = [b1 - a1, b2 - a1, b1 - a2, b2 - a2];
            let normals = [r13.cross(&r14), r14.cross(&r24), r24.cross(&r23), r23.cross(&r13)];
            let [n1, n2, n3, n4] = normals.map(|n| n.try_normalize(0.0).unwrap_or_else(Vector::zeros));
            let arc = |p: Vector<3>, q: Vector<3>| p.dot(&q).clamp(-1.0, 1.0).asin();
            let angle = arc(n1, n2) + arc(n2, n3) + arc(n3, n4) + arc(n4, n1);
            sum += angle * (b2 - b1).cross(&(a2 - a1)).dot(&r13).signum();
        }
    }
    sum / (2.0 * TAU)
}

/// Linking numbers of all pairs of rings.
fn links(world: &World<3>) -> Result<Vec<f64>, CaseError> {
    let curves = curves(world)?;
    let pairs = (0..curves.len()).flat_map(|i| (i + 1..curves.len()).map(move |j| (i, j)));
    Ok(pairs.map(|(i, j)| linking(&curves[i], &curves[j])).collect())
}

/// Angle (rad) by which the middle ring is turned about the chain.
fn turned(world: &World<3>) -> Result<f64, CaseError> {
    let rotation = Dim::<3>::to_matrix(&world.state().bodies[rigid(world, "ring-3")?].frame.rotation);
    // Of the axis of the ring, z at the start.
    Ok((-rotation[(1, 2)]).atan2(rotation[(2, 2)]))
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let around = format!("deformable.ring-2.geometry.torus.around={AROUND}");
    let mut world = shipped(
        "twisting-chain",
        &[&around, "deformable.ring-2.geometry.torus.cells=1", "deformable.ring-4.geometry.torus.cells=1"],
    )?;
    let first = links(&world)?;
    let linked = first.iter().filter(|number| (number.abs() - 1.0).abs() < 1e-9).count();
    let (mut changed, mut wound, mut fastest) = (0.0f64, 0.0f64, 0.0f64);
    let (mut angle, mut most) = (turned(&world)?, 0.0f64);
    for frame in 0..192 {
        world.step(1.0 / 24.0).map_err(failed("stepping"))?;
        for (now, before) in links(&world)?.iter().zip(&first) {
            changed = changed.max((now - before).abs());
        }
        // The turn since the start, without jumps.
        let now = turned(&world)?;
        wound += (now - angle + 0.5 * TAU).rem_euclid(TAU) - 0.5 * TAU;
        angle = now;
        most = most.max(wound.abs());
        if frame == 191 {
            fastest = world.diagnostics().max_speed;
        }
    }
    let resolution = "24 pieces a soft ring, frames of 1/24 s";
    out.near("pairs that are linked", resolution, linked as f64, 4.0, 0.0, "five rings in a row");
    out.at_most("change of a linking number", resolution, changed, 1e-6, "no ring passes through another");
    out.at_least("turn of the middle ring (deg)", resolution, most.to_degrees(), 90.0, "the chain winds");
    out.at_most(
        "turn of the middle ring at the end (deg)",
        resolution,
        wound.abs().to_degrees(),
        90.0,
        "and unwinds; a slack ring hangs as it likes within a link",
    );
    out.at_most("fastest at the end (m/s)", resolution, fastest, 10.0, "nothing flies off");
    Ok(())
}
