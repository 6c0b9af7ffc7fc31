//! Every constitutive model with every inversion extension: the stress is the gradient of the energy, its differential the derivative of the stress, for healthy and for
//! inverted states; the positive part has no negative mode; thresholds are continuous with their slope; neo-Hookean loses definiteness where it must.
//!
//! Source: spec/deformable-solids.md T2, T3, T9, T10, T11.

use crate::{Case, CaseError, Measurements, Speed};
use splashdown_deformable::material::{Extension, ExtensionKind, Lame, Law, Model, SplineBranch};
use splashdown_math::{Dim, Matrix, Space, Vector, signed_svd, symmetric_eigen};
use splashdown_solve::testing::TestNumbers;

pub(super) const CASE: Case = Case {
    name: "deformable/constitutive-laws",
    spec: "T2, T3, T9, T10, T11, T16, DS-7..DS-14",
    summary: "stress and its differential of every model and extension against finite differences, definiteness, continuity at thresholds",
    source: "spec/deformable-solids.md 3.4, 3.7",
    speed: Speed::Fast,
    seconds: 0.4,
    run,
};

const LAME: Lame = Lame { lambda: 3.0, mu: 2.0 };

fn models() -> [(&'static str, Model); 7] {
    let soft = SplineBranch { threshold: 0.3, hardening: 4.0 };
    [
        ("rotated linear", Model::RotatedLinear),
        ("St. Venant-Kirchhoff", Model::StVenantKirchhoff),
        ("neo-Hookean", Model::NeoHookean),
        ("fixed corotated", Model::FixedCorotated),
        ("compressible flow", Model::CompressibleFlow),
        ("spline", Model::Spline { compression: soft, extension: SplineBranch::default() }),
        ("Mooney-Rivlin", Model::MooneyRivlin { second: 0.37 }),
    ]
}

fn extensions() -> Vec<Extension> {
    let kinds = [
        ExtensionKind::Constant { stretch: 0.4 },
        ExtensionKind::LinearStretch { stretch: 0.4 },
        ExtensionKind::LinearDet { volume: 0.3 },
        ExtensionKind::Energy { stretch: 0.4, stiffness: Some(40.0) },
    ];
    let mut all = vec![Extension::NONE];
    all.extend(kinds.map(Extension::new));
    all.extend(kinds.map(|kind| Extension { kind, positive_slope: true, largest_stretch: Some(1.6) }));
    all
}

/// Away from states where the inverted axis is ambiguous: there the stress has a kink that no difference can see.
fn gradient<const C: usize>(random: &mut TestNumbers, inverted: bool) -> Matrix<C>
where
    Dim<C>: Space<C>,
{
    loop {
        let f = Matrix::<C>::from_fn(|_, _| random.uniform(-1.2, 1.2));
        let s = signed_svd(&f).sigma;
        if (s[C - 1] < 0.0) == inverted && s[C - 1].abs() > 0.1 && (s[C - 2] + s[C - 1]).abs() > 0.15 {
            return f;
        }
    }
}

/// Largest relative errors of stress and differential.
fn errors<const C: usize>(model: Model) -> [f64; 2]
where
    Dim<C>: Space<C>,
{
    let mut random = TestNumbers::new(11);
    let mut worst = [0.0f64; 2];
    for extension in extensions() {
        let law = Law { model, extension };
        for inverted in [false, true] {
            if inverted && extension == Extension::NONE && model.needs_positive_volume() {
                continue;
            }
            for _ in 0..20 {
                let f = gradient::<C>(&mut random, inverted);
                let piola = |f: &Matrix<C>| {
                    let svd = signed_svd(f);
                    svd.recompose(&law.stress(&LAME, &svd.sigma))
                };
                let direction = Matrix::<C>::from_fn(|_, _| random.uniform(-1.0, 1.0));
                let h = 2e-6;
                // Both ends on the same side of every threshold.
                let sides = [f + direction * h, f - direction * h].map(|f| {
                    let s = signed_svd(&f).sigma;
                    let clamped = extension.clamp(&s);
                    (0..C).map(|i| s[i] == clamped[i]).collect::<Vec<_>>()
                });
                if sides[0] != sides[1] {
                    continue;
                }
                let stress = piola(&f);
                if extension.has_energy() {
                    let energy = |f: Matrix<C>| law.energy(&LAME, &signed_svd(&f).sigma);
                    let slope = (energy(f + direction * h) - energy(f - direction * h)) / (2.0 * h);
                    worst[0] = worst[0].max((slope - stress.dot(&direction)).abs() / (1.0 + stress.norm()));
                }
                let slope = (piola(&(f + direction * h)) - piola(&(f - direction * h))) / (2.0 * h);
                let svd = signed_svd(&f);
                let inner =
                    law.exact_differential(&LAME, &svd.sigma).apply(&(svd.u.transpose() * direction * svd.v));
                let exact = svd.u * inner * svd.v.transpose();
                worst[1] = worst[1].max((slope - exact).norm() / (1.0 + exact.norm() + stress.norm()));
            }
        }
    }
    worst
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    for (name, model) in models() {
        for (dimension, errors) in [("3D", errors::<3>(model)), ("2D", errors::<2>(model))] {
            let resolution = format!("{name}, {dimension}, all extensions");
            // Differences of 2e-6 carry rounding of some 1e-9 and the third derivative times 4e-12.
            out.at_most(
                "stress against the energy (relative)",
                &resolution,
                errors[0],
                1e-6,
                "exact: P = dPsi/dF",
            );
            out.at_most(
                "differential against the stress (relative)",
                &resolution,
                errors[1],
                1e-6,
                "exact: dP",
            );
        }
        let law = Law { model, extension: Extension::NONE };
        let mut random = TestNumbers::new(5);
        let mut least = 0.0f64;
        for _ in 0..200 {
            let s = signed_svd(&gradient::<3>(&mut random, false)).sigma;
            let raw = law.differential(&LAME, &s);
            let positive = raw.positive();
            let modes = symmetric_eigen(&positive.hessian).values[2]
                .min(positive.symmetric.min())
                .min(positive.antisymmetric.min());
            least = least.min(modes / raw.hessian.norm());
        }
        out.at_least("smallest mode of the positive part (relative)", name, least, -1e-12, "spec T3");
    }
    for poisson in [0.3, 0.45, 0.475, 0.49] {
        let lame = Lame::new(1.0, poisson).map_err(|error| CaseError::new("making the material", error))?;
        let least = |s: f64| {
            symmetric_eigen(&Model::NeoHookean.hessian(&lame, &Vector::<3>::new(s, 1.0, 1.0))).values[2]
        };
        let (mut low, mut high) = (1.0, 6.0);
        while high - low > 1e-9 {
            let middle = 0.5 * (low + high);
            if least(middle) > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        let exact = (2.0 * lame.mu / lame.lambda).exp();
        let resolution = format!("neo-Hookean, nu = {poisson}");
        out.near(
            "uniaxial stretch that loses definiteness",
            &resolution,
            low,
            exact,
            1e-6,
            "exact: exp(2 mu/lambda)",
        );
    }
    Ok(())
}
