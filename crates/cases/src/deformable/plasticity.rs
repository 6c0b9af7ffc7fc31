//! Plastic flow: the stretch that remains is exact, controlled flow never moves away from its goal and reaches it, and a shell that is bent beyond yield keeps a permanent set.
//!
//! Source: spec/deformable-solids.md 3.9, T17, T18, E4, E6.

use super::set_up::{cubes, failed, flat, material};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_deformable::material::{Model, Plasticity, Yield};
use splashdown_deformable::{Bending, BendingModel, BendingPlasticity, Elements, Force};
use splashdown_geometry::generate::{Diagonals, sheet};
use splashdown_math::{Matrix, Vector, symmetric_eigen};
use splashdown_solve::testing::TestNumbers;

pub(super) const CASE: Case = Case {
    name: "deformable/plasticity",
    spec: "T17, T18, E4, E6, DS-21..DS-23, DS-25",
    summary: "residual stretch after plastic flow, controlled flow towards a goal, permanent set of folds",
    source: "exact: s exp(-g sqrt(2/3))",
    speed: Speed::Fast,
    seconds: 0.5,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let mesh = cubes([0.0; 3], [1.0; 3], [2; 3])?;
    let rest = flat(&mesh.points);
    let own = material(Model::RotatedLinear, 1000.0, 0.3, 1.0, 0.01)?;
    let limit = 0.15;
    for s in [1.4f64, 2.0, 3.0] {
        let mut elements = Elements::tetrahedra(&mesh, 0, own).map_err(failed("elements"))?;
        let law = Plasticity { criterion: Yield::Deviatoric { limit }, limit: 10.0 };
        elements.set_plasticity(law).map_err(failed("plasticity"))?;
        let x: Vec<f64> =
            rest.chunks_exact(3).flat_map(|x| [s * x[0], s.powf(-0.5) * x[1], s.powf(-0.5) * x[2]]).collect();
        elements.update(&x).map_err(failed("stretching"))?;
        elements.flow(&x);
        let exact = s * (-limit * (2f64 / 3.0).sqrt()).exp();
        let inverse = elements.plastic_inverse(5, 0);
        let resolution = format!("isochoric stretch {s}");
        out.near("stretch that remains", &resolution, 1.0 / inverse[(0, 0)], exact, 1e-10, CASE.source);
        out.near(
            "plastic volume ratio",
            &resolution,
            1.0 / inverse.determinant(),
            1.0,
            1e-10,
            "exact: flow keeps the volume",
        );
    }

    // Control: random strains drive the flow towards a flattened body, never away from it.
    let mut elements = Elements::tetrahedra(&mesh, 0, own).map_err(failed("elements"))?;
    elements
        .set_plasticity(Plasticity { criterion: Yield::Full { limit: 0.05 }, limit: 10.0 })
        .map_err(failed("plasticity"))?;
    let goal: Vec<f64> = rest.chunks_exact(3).flat_map(|x| [1.5 * x[0], 0.4 * x[1], 1.5 * x[2]]).collect();
    elements.set_goal(&goal).map_err(failed("the goal"))?;
    let first = elements.distance_to_goal();
    let (mut last, mut rise) = (first, 0.0f64);
    // The goal is one stretch everywhere, so every element has a distance of its own that must not grow in any step (T18).
    let aim = Matrix::<3>::from_diagonal(&Vector::<3>::new(1.5f64.ln(), 0.4f64.ln(), 1.5f64.ln()));
    let distance = |elements: &Elements<3, 3, 3>, element: usize| {
        let log = symmetric_eigen(&elements.plastic_inverse(element, 0)).map(|value| -value.ln());
        (log - aim).norm()
    };
    let mut each: Vec<f64> = (0..elements.len()).map(|element| distance(&elements, element)).collect();
    let mut worst = 0.0f64;
    let mut random = TestNumbers::new(4);
    for round in 0..400 {
        // Squeezing with noise, as gears would.
        let t = f64::from(round) / 400.0;
        let x: Vec<f64> = rest
            .chunks_exact(3)
            .flat_map(|x| [(1.0 + 0.8 * t) * x[0], (1.0 - 0.8 * t) * x[1], (1.0 + 0.8 * t) * x[2]])
            .map(|x| x + 0.05 * random.uniform(-1.0, 1.0))
            .collect();
        elements.update(&x).map_err(failed("squeezing"))?;
        elements.flow(&x);
        let now = elements.distance_to_goal();
        rise = rise.max(now - last);
        last = now;
        for (element, before) in each.iter_mut().enumerate() {
            let now = distance(&elements, element);
            worst = worst.max(now - *before);
            *before = now;
        }
    }
    out.at_most(
        "largest rise of the distance of any element in any step",
        "400 rounds, 40 elements",
        worst,
        1e-12,
        "exact: the flow is a projection (T18)",
    );
    out.at_most(
        "largest rise of the distance to the goal",
        "400 rounds",
        rise,
        1e-12,
        "exact: the flow is a projection",
    );
    out.at_most(
        "distance to the goal over that at the start",
        "400 rounds",
        last / first,
        0.1,
        "spec E4: below 10 %",
    );

    // A strip folded beyond its yield angle keeps the rest.
    let strip =
        sheet(Vector::<3>::zeros(), Vector::<3>::x(), Vector::<3>::y() * 0.2, [8, 1], Diagonals::Forward)
            .map_err(failed("meshing"))?;
    let mut bending = Bending::new(&strip, 0, BendingModel::DiscreteShells, 1e-3, 0.0)
        .with_plasticity(BendingPlasticity { yield_angle: 0.1, hardening: 0.0 });
    let rolled: Vec<f64> = strip
        .points
        .iter()
        .flat_map(|x| {
            let angle = 3.0 * x[0];
            [angle.sin() / 3.0, x[1], (1.0 - angle.cos()) / 3.0]
        })
        .collect();
    bending.update(&rolled).map_err(failed("rolling"))?;
    let angles: Vec<f64> = bending.angles().collect();
    bending.flow(&rolled);
    let mut worst = 0.0f64;
    for (angle, kept) in angles.iter().zip(bending.rest_angles()) {
        let expected = if angle.abs() > 0.1 { angle - 0.1f64.copysign(*angle) } else { 0.0 };
        worst = worst.max((kept - expected).abs());
    }
    out.at_most(
        "rest angle after folding beyond yield (rad)",
        "rolled strip",
        worst,
        1e-12,
        "exact: theta - yield",
    );
    let set = bending.rest_angles().iter().map(|angle| angle.abs()).fold(0.0, f64::max);
    out.at_least("largest permanent fold (rad)", "rolled strip", set, 0.1, "spec E6: permanent set above 0");
    Ok(())
}
