//! Bodies whose nodes are anywhere: with the extension that grows linearly they come together, whatever the seed, and never fly apart; and hinges have neither resultant nor torque.
//!
//! Source: spec/deformable-solids.md T9, T19.

use super::set_up::{cubes, flat, material, run_steps, tetrahedra};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_deformable::hinge_modes;
use splashdown_deformable::integrate::{Integrator, Motion, Scheme};
use splashdown_deformable::material::{Extension, ExtensionKind, Law, Model};
use splashdown_math::Vector;
use splashdown_solve::testing::TestNumbers;

pub(super) const CASE: Case = Case {
    name: "deformable/tangled",
    spec: "T9, T19, DS-14, DS-25",
    summary: "20 bodies tangled by noise as large as themselves stay within three times their size; modes of hinges against differences of their angle",
    source: "spec/deformable-solids.md T9, T19",
    speed: Speed::Fast,
    seconds: 8.0,
    run,
};

/// Largest extent of a body over that at rest during a run from noise.
fn largest_extent(kind: ExtensionKind, seed: u64) -> Result<f64, CaseError> {
    let mesh = cubes([0.0; 3], [1.0; 3], [2; 3])?;
    let mut own = material(Model::NeoHookean, 1000.0, 0.3, 1.0, 0.01)?;
    own.law = Law { model: Model::NeoHookean, extension: Extension::new(kind) };
    let mut solid = tetrahedra(&mesh, own, [0.0; 3])?;
    let mut random = TestNumbers::new(seed);
    let x: Vec<f64> = flat(&mesh.points).iter().map(|x| x + random.uniform(-1.0, 1.0)).collect();
    let mut motion = Motion { velocity: vec![0.0; x.len()], position: x, time: 0.0 };
    let mut integrator = Integrator::new(Scheme::B);
    integrator.tolerance = 1e-6;
    let dt = 0.4 * solid.stable_step();
    let mut largest = 0.0f64;
    for _ in 0..1500 {
        run_steps(&mut integrator, &mut solid, &mut motion, dt, 1)?;
        for axis in 0..3 {
            let along = || motion.position.iter().skip(axis).step_by(3);
            let (low, high) = along().fold((f64::MAX, f64::MIN), |(low, high), &x| (low.min(x), high.max(x)));
            largest = largest.max(high - low);
        }
    }
    Ok(largest)
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let worst = |kind: ExtensionKind| -> Result<f64, CaseError> {
        (0..20).try_fold(0.0f64, |worst, seed| Ok(worst.max(largest_extent(kind, 300 + seed)?)))
    };
    let linear = worst(ExtensionKind::LinearStretch { stretch: 0.4 })?;
    let resolution = "20 seeds, neo-Hookean, noise of 1";
    // The noise itself makes a body of three times the size.
    out.at_most("largest extent over that at rest, linear extension", resolution, linear, 3.0, CASE.source);
    // Bounded stress can let tangled elements grow without bound; only told, for the prototype had not seen it in three seeds.
    let constant = worst(ExtensionKind::Constant { stretch: 0.4 })?;
    out.at_least(
        "largest extent over that at rest, constant extension",
        resolution,
        constant,
        1.0,
        "told, not judged (T9)",
    );

    let mut random = TestNumbers::new(11);
    let (mut resultant, mut torque, mut slope) = (0.0f64, 0.0f64, 0.0f64);
    for _ in 0..1000 {
        // A hinge that is bent by less than a right angle, with wings that are not slivers.
        let mut noise = || Vector::<3>::from_fn(|_, _| random.uniform(-0.25, 0.25));
        let x = [
            Vector::<3>::new(0.5, 1.0, 0.0) + noise(),
            Vector::<3>::new(0.5, -1.0, 0.0) + noise(),
            Vector::<3>::new(0.0, 0.0, 0.0) + noise(),
            Vector::<3>::new(1.0, 0.0, 0.0) + noise(),
        ];
        let Some((_, modes)) = hinge_modes(&x, 1e-12) else { continue };
        resultant = resultant.max(modes.iter().sum::<Vector<3>>().norm());
        torque = torque.max(x.iter().zip(&modes).map(|(x, u)| x.cross(u)).sum::<Vector<3>>().norm());
        let h = 1e-5;
        for node in 0..4 {
            for axis in 0..3 {
                let angle = |by: f64| {
                    let mut moved = x;
                    moved[node][axis] += by;
                    hinge_modes(&moved, 1e-12).map_or(f64::NAN, |(angle, _)| angle)
                };
                // Fourth-order differences, so that what is left is rounding.
                let difference =
                    (8.0 * (angle(h) - angle(-h)) - (angle(2.0 * h) - angle(-2.0 * h))) / (12.0 * h);
                slope = slope.max((difference + modes[node][axis]).abs());
            }
        }
    }
    let resolution = "1000 hinges";
    out.at_most("hinges: |sum of u| (1/m)", resolution, resultant, 1e-8, CASE.source);
    out.at_most("hinges: |sum of x cross u|", resolution, torque, 1e-8, CASE.source);
    out.at_most("hinges: |grad theta + u| (1/m)", resolution, slope, 1e-8, CASE.source);
    Ok(())
}
