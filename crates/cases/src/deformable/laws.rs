//! Every constitutive model with every inversion extension: the stress is the gradient of the energy, its differential the derivative of the stress, for healthy and for
//! inverted states; the positive part has no negative mode; thresholds are continuous with their slope; neo-Hookean loses definiteness where it must.
//!
//! Source: spec/deformable-solids.md T2, T3, T9, T10, T11.

use super::set_up::{cubes, failed, flat, material};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_deformable::material::{Extension, ExtensionKind, Lame, Law, Model, SplineBranch};
use splashdown_deformable::testing::{energy_gradient_error, stiffness_error};
use splashdown_deformable::{Elements, Force};
use splashdown_geometry::generate::{Diagonals, box_hexahedra, sheet};
use splashdown_geometry::mesh::Mesh;
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

/// Which piece of a model in pieces a stretch is on.
fn law_branch(model: &Model, s: f64) -> i32 {
    let Model::Spline { compression, extension } = model else { return 0 };
    let e = s - 1.0;
    i32::from(e > 0.0) + i32::from(e > extension.threshold) - i32::from(e < -compression.threshold)
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
                // Fourth order, so that what is left is neither truncation nor rounding.
                let h = 1e-4;
                // All on the same side of every threshold.
                let sides = [2.0, 1.0, -1.0, -2.0].map(|by| {
                    let s = signed_svd(&(f + direction * (by * h))).sigma;
                    let clamped = extension.clamp(&s);
                    let beyond = (0..C).map(|i| law_branch(&model, s[i]));
                    (0..C)
                        .map(|i| (s[i] == clamped[i], 0))
                        .chain(beyond.map(|branch| (true, branch)))
                        .collect::<Vec<_>>()
                });
                if sides.iter().any(|side| *side != sides[0]) {
                    continue;
                }
                let stress = piola(&f);
                if extension.has_energy() {
                    let energy = |by: f64| law.energy(&LAME, &signed_svd(&(f + direction * (by * h))).sigma);
                    let slope =
                        (8.0 * (energy(1.0) - energy(-1.0)) - (energy(2.0) - energy(-2.0))) / (12.0 * h);
                    worst[0] = worst[0].max((slope - stress.dot(&direction)).abs() / (1.0 + stress.norm()));
                }
                let at = |by: f64| piola(&(f + direction * (by * h)));
                let slope = ((at(1.0) - at(-1.0)) * 8.0 - (at(2.0) - at(-2.0))) / (12.0 * h);
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
            out.at_most(
                "stress against the energy (relative)",
                &resolution,
                errors[0],
                1e-7,
                "exact: P = dPsi/dF",
            );
            out.at_most(
                "differential against the stress (relative)",
                &resolution,
                errors[1],
                1e-7,
                "exact: dP",
            );
        }
        let law = Law { model, extension: Extension::NONE };
        let mut random = TestNumbers::new(5);
        let (mut least, mut changed) = (0.0f64, 0.0f64);
        for _ in 0..200 {
            let s = signed_svd(&gradient::<3>(&mut random, false)).sigma;
            let raw = law.differential(&LAME, &s);
            let positive = raw.positive();
            let modes = symmetric_eigen(&positive.hessian).values[2]
                .min(positive.symmetric.min())
                .min(positive.antisymmetric.min());
            least = least.min(modes / raw.hessian.norm());
            // Where nothing is negative, nothing may change.
            let own =
                symmetric_eigen(&raw.hessian).values[2].min(raw.symmetric.min()).min(raw.antisymmetric.min());
            if own > 0.0 {
                let f = Matrix::<3>::from_fn(|_, _| random.uniform(-1.0, 1.0));
                changed = changed.max((raw.apply(&f) - positive.apply(&f)).norm() / raw.apply(&f).norm());
            }
        }
        out.at_most("change of what is positive already (relative)", name, changed, 1e-12, "spec T3");
        out.at_least("smallest mode of the positive part (relative)", name, least, -1e-12, "spec T3");
    }
    membranes(out)?;
    linear(out)?;
    uniaxial(out)?;
    thresholds(out);
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
        // At 0.3 no dilation does: 1 + J^2/3 is above 1.5 ln J everywhere.
        if poisson < 0.4 {
            continue;
        }
        // All stretches alike: across the dilation the slope is mu + (mu - lambda ln J) / s^2.
        let least = |volume: f64| {
            let s = Vector::<3>::repeat(volume.cbrt());
            symmetric_eigen(&Model::NeoHookean.hessian(&lame, &s)).values[2]
        };
        let root = |falls: &dyn Fn(f64) -> f64| {
            let (mut low, mut high) = (1.0, 100.0);
            while high - low > 1e-9 {
                let middle = 0.5 * (low + high);
                if falls(middle) > 0.0 { low = middle } else { high = middle }
            }
            low
        };
        let exact = root(&|volume: f64| lame.mu * (1.0 + volume.powf(2.0 / 3.0)) - lame.lambda * volume.ln());
        let (found, source) = (root(&least), "exact: lambda ln J = mu (1 + J^2/3) (T10)");
        out.near("dilation that loses definiteness", &resolution, found, exact, 1e-6, source);
        // To the digits of the table.
        let table = [(0.45, 1.273), (0.475, 1.115), (0.49, 1.042)];
        if let Some((_, told)) = table.into_iter().find(|(nu, _)| *nu == poisson) {
            let row = "dilation that loses definiteness, to the digits told";
            out.near(row, &resolution, found, told, 5e-4, "spec/deformable-solids.md 3.7 (T10)");
        }
    }
    Ok(())
}

/// Spec T2 for linear elasticity, which has no law in stretches: through its elements, right side out and inside out.
fn linear(out: &mut Measurements) -> Result<(), CaseError> {
    let mut own = material(Model::Linear, 1.0, 0.3, 1.0, 0.0)?;
    (own.law, own.lame) = (Law { model: Model::Linear, extension: Extension::NONE }, LAME);
    let solid = cubes([0.0; 3], [1.0; 3], [1; 3])?;
    let plane =
        sheet(Vector::<2>::zeros(), Vector::<2>::x(), Vector::<2>::y(), [2; 2], Diagonals::Alternating)
            .map_err(failed("meshing"))?;
    let block = box_hexahedra(Vector::zeros(), Vector::repeat(1.0), [1; 3]).map_err(failed("meshing"))?;
    fn measure<const D: usize>(
        out: &mut Measurements,
        name: &str,
        mut force: Box<dyn Force<D>>,
        rest: &[f64],
    ) -> Result<(), CaseError> {
        let mut random = TestNumbers::new(19);
        let mut worst = [0.0f64; 2];
        for side in [1.0, -1.0] {
            for _ in 0..10 {
                let mirrored = rest.iter().enumerate().map(|(at, x)| if at % D == 0 { side * x } else { *x });
                let x: Vec<f64> = mirrored.map(|x| x + random.uniform(-0.3, 0.3)).collect();
                let d = random.vector(x.len());
                let doing = "a linear element";
                let energy = energy_gradient_error(&mut *force, &x, &d, 1e-4).map_err(failed(doing))?;
                let stiffness = stiffness_error(&mut *force, &x, &d, 1e-4).map_err(failed(doing))?;
                worst = [worst[0].max(energy), worst[1].max(stiffness)];
            }
        }
        out.at_most("stress against the energy (relative)", name, worst[0], 1e-7, "exact: f = -dE/dx");
        out.at_most("differential against the stress (relative)", name, worst[1], 1e-7, "exact: K = -df/dx");
        Ok(())
    }
    let elements = Elements::tetrahedra(&solid, 0, own).map_err(failed("elements"))?;
    measure(out, "linear, tetrahedra", elements.boxed(), &flat(&solid.points))?;
    let elements = Elements::triangles(&plane, 0, own).map_err(failed("elements"))?;
    measure(out, "linear, triangles", elements.boxed(), &flat(&plane.points))?;
    let elements = Elements::hexahedra(&block, 0, own).map_err(failed("elements"))?;
    measure(out, "linear, hexahedra", elements.boxed(), &flat(&block.points))
}

/// Energy (J), forces (N), and on which side of each threshold the stretches are.
type Sample = (f64, Vec<f64>, Vec<(bool, i32)>);

/// The same for membranes, through their elements: forces against energy, stiffness against forces.
fn membranes(out: &mut Measurements) -> Result<(), CaseError> {
    let points = vec![
        Vector::<3>::new(0.1, 0.0, 0.2),
        Vector::<3>::new(1.1, 0.2, 0.0),
        Vector::<3>::new(0.2, 0.9, 0.3),
    ];
    let rest = flat(&points);
    let mesh = Mesh { points, elements: vec![[0, 1, 2]] };
    for (name, model) in models() {
        let mut random = TestNumbers::new(21);
        let mut worst = [0.0f64; 2];
        for extension in extensions() {
            let mut own = material(model, 1.0, 0.3, 1.0, 0.0)?;
            (own.law, own.lame) = (Law { model, extension }, LAME);
            let mut force = Elements::membrane(&mesh, 0, 0.1, own).map_err(failed("elements"))?;
            for _ in 0..20 {
                let x: Vec<f64> = rest.iter().map(|x| x + random.uniform(-0.25, 0.25)).collect();
                let d = random.vector(9);
                let h = 1e-4;
                let mut at = |by: f64| -> Result<Sample, CaseError> {
                    let x: Vec<f64> = x.iter().zip(&d).map(|(x, d)| x + by * h * d).collect();
                    force.update(&x).map_err(failed("updating"))?;
                    let mut own = vec![0.0; 9];
                    force.add_elastic(&mut own);
                    let s = force.stretches(0, 0);
                    let clamped = extension.clamp(&s);
                    let side = (0..2).map(|i| (s[i] == clamped[i], law_branch(&model, s[i]))).collect();
                    Ok((force.energy(), own, side))
                };
                let (far, near, back, behind) = (at(2.0)?, at(1.0)?, at(-1.0)?, at(-2.0)?);
                if [&near, &back, &behind].iter().any(|other| other.2 != far.2) {
                    continue;
                }
                let slope = |far: f64, near: f64, back: f64, behind: f64| {
                    (8.0 * (near - back) - (far - behind)) / (12.0 * h)
                };
                let (_, middle, _) = at(0.0)?;
                let size: f64 = 1.0 + middle.iter().map(|f| f.abs()).sum::<f64>();
                if extension.has_energy() {
                    let work: f64 = middle.iter().zip(&d).map(|(f, d)| f * d).sum();
                    worst[0] = worst[0].max((slope(far.0, near.0, back.0, behind.0) + work).abs() / size);
                    // Extensions without energy have a symmetric stiffness that is not the derivative of their force.
                    let mut product = vec![0.0; 9];
                    force.add_stiffness(&d, &mut product, false);
                    for i in 0..9 {
                        let slope = slope(far.1[i], near.1[i], back.1[i], behind.1[i]);
                        worst[1] = worst[1].max((slope + product[i]).abs() / size);
                    }
                }
            }
        }
        let resolution = format!("{name}, membrane");
        out.at_most("stress against the energy (relative)", &resolution, worst[0], 1e-7, "exact: f = -dE/dx");
        out.at_most(
            "differential against the stress (relative)",
            &resolution,
            worst[1],
            1e-7,
            "exact: K = -df/dx",
        );
    }
    Ok(())
}

/// Spec T16: a hexahedron stretched along one axis, with its sides held or free, pulls as the closed form of its model says.
fn uniaxial(out: &mut Measurements) -> Result<(), CaseError> {
    let block = box_hexahedra(Vector::zeros(), Vector::repeat(1.0), [1; 3]).map_err(failed("meshing"))?;
    let rest = flat(&block.points);
    let (lambda, mu) = (LAME.lambda, LAME.mu);
    let (young, poisson) = (mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu), lambda / (2.0 * (lambda + mu)));
    // Force on the faces across the stretch and along it, and on a side.
    let pull = |model: Model, s: f64, t: f64| -> Result<[f64; 2], CaseError> {
        let mut own = material(model, 1.0, 0.3, 1.0, 0.0)?;
        (own.law, own.lame) = (Law { model, extension: Extension::NONE }, LAME);
        let mut force = Elements::hexahedra(&block, 0, own).map_err(failed("elements"))?;
        let x: Vec<f64> = rest.chunks_exact(3).flat_map(|x| [s * x[0], t * x[1], t * x[2]]).collect();
        force.update(&x).map_err(failed("stretching"))?;
        let mut own = vec![0.0; x.len()];
        force.add_elastic(&mut own);
        let on = |axis: usize| -> f64 {
            let far = (0..8).filter(|node| rest[3 * node + axis] > 0.5);
            -far.map(|node| own[3 * node + axis]).sum::<f64>()
        };
        Ok([on(0), on(1)])
    };
    for (name, model) in models().into_iter().chain([("linear", Model::Linear)]) {
        let (mut held, mut free) = (0.0f64, 0.0f64);
        for s in [0.55, 0.8, 0.95, 1.0, 1.1, 1.5, 2.5f64] {
            let spline = |branch: SplineBranch, e: f64| match (branch.threshold, branch.hardening) {
                (a, h) if e.abs() < a => e + (h - 1.0) * e.powi(3) / (3.0 * a * a),
                (a, h) => e.signum() * (h * e.abs() - 2.0 / 3.0 * a * (h - 1.0)),
            };
            let closed = match model {
                Model::Linear | Model::RotatedLinear | Model::FixedCorotated => {
                    (lambda + 2.0 * mu) * (s - 1.0)
                }
                Model::StVenantKirchhoff => (lambda + 2.0 * mu) * 0.5 * s * (s * s - 1.0),
                Model::NeoHookean => mu * (s - 1.0 / s) + lambda * s.ln() / s,
                Model::CompressibleFlow => lambda * (s - 1.0),
                Model::Spline { compression, extension } => {
                    let branch = if s < 1.0 { compression } else { extension };
                    2.0 * mu * spline(branch, s - 1.0) + lambda * (s - 1.0)
                }
                Model::MooneyRivlin { second } => {
                    // d/ds of a ((s^2 + 2) s^-2/3 - 3) + b ((2 s^2 + 1) s^-4/3 - 3) + k/2 ln^2 s.
                    let (a, b, k) = (0.5 * mu * (1.0 - second), 0.5 * mu * second, lambda + 2.0 / 3.0 * mu);
                    let first = 4.0 / 3.0 * (s.powf(1.0 / 3.0) - s.powf(-5.0 / 3.0));
                    let other = 4.0 / 3.0 * (s.powf(-1.0 / 3.0) - s.powf(-7.0 / 3.0));
                    a * first + b * other + k * s.ln() / s
                }
            };
            held = held.max((pull(model, s, 1.0)?[0] - closed).abs() / (1.0 + closed.abs()));
            // Sides without stress, where they are known in closed form.
            let side = match model {
                Model::Linear | Model::RotatedLinear => Some((1.0 - poisson * (s - 1.0), young * (s - 1.0))),
                Model::StVenantKirchhoff => {
                    let t = 1.0 - poisson * (s * s - 1.0);
                    (t > 0.0).then(|| (t.sqrt(), young * 0.5 * s * (s * s - 1.0)))
                }
                // Without shear stiffness it keeps its volume and pulls at nothing.
                Model::CompressibleFlow => Some((s.powf(-0.5), 0.0)),
                // Stresses along and across from the energy of (s, t, t) by hand; the side is where the second vanishes.
                _ => {
                    let stress = |t: f64| -> [f64; 2] {
                        let volume = s * t * t;
                        match model {
                            Model::NeoHookean => [s, t].map(|x| mu * x + (lambda * volume.ln() - mu) / x),
                            Model::FixedCorotated => [
                                2.0 * mu * (s - 1.0) + lambda * (volume - 1.0) * t * t,
                                2.0 * mu * (t - 1.0) + lambda * (volume - 1.0) * s * t,
                            ],
                            Model::Spline { compression, extension } => [s, t].map(|x| {
                                let branch = if x < 1.0 { compression } else { extension };
                                2.0 * mu * spline(branch, x - 1.0) + lambda * (s + 2.0 * t - 3.0)
                            }),
                            Model::MooneyRivlin { second } => {
                                let (a, b, k) =
                                    (0.5 * mu * (1.0 - second), 0.5 * mu * second, lambda + 2.0 / 3.0 * mu);
                                let (first, other) = (s * s + 2.0 * t * t, 2.0 * s * s * t * t + t.powi(4));
                                let (j, j2) = (volume.powf(-2.0 / 3.0), volume.powf(-4.0 / 3.0));
                                // d/dx of a j I + b j^2 II + k/2 ln^2 J, with dJ/dx = J / x.
                                let along = |x: f64, rest: f64| {
                                    a * j * (2.0 * x - 2.0 / 3.0 * first / x)
                                        + b * j2 * (2.0 * x * rest - 4.0 / 3.0 * other / x)
                                        + k * volume.ln() / x
                                };
                                [along(s, 2.0 * t * t), along(t, s * s + t * t)]
                            }
                            _ => [0.0; 2],
                        }
                    };
                    let (mut low, mut high) = (0.05, 5.0);
                    for _ in 0..200 {
                        let t = 0.5 * (low + high);
                        if stress(t)[1] < 0.0 { low = t } else { high = t }
                    }
                    Some((0.5 * (low + high), stress(0.5 * (low + high))[0]))
                }
            };
            if let Some((t, closed)) = side.filter(|(t, _)| *t > 0.1) {
                let [along, across] = pull(model, s, t)?;
                free = free.max((along - closed).abs().max(across.abs()) / (1.0 + closed.abs()));
            }
        }
        let source = "exact: closed forms (T16)";
        out.at_most("uniaxial stretch, sides held: error of the stress", name, held, 1e-10, source);
        out.at_most("uniaxial stretch, sides free: error of the stress", name, free, 1e-10, source);
    }
    // St. Venant-Kirchhoff is weakest at 1/sqrt 3, and pushes the wrong way past zero.
    let stress = |s: f64| pull(Model::StVenantKirchhoff, s, 1.0).map(|own| own[0]);
    let (mut low, mut high) = (0.3, 0.9);
    while high - low > 1e-9 {
        let [a, b] = [low + (high - low) / 3.0, high - (high - low) / 3.0];
        if stress(a)? < stress(b)? { high = b } else { low = a }
    }
    out.near("weakest stretch", "St. Venant-Kirchhoff", low, 1.0 / 3f64.sqrt(), 1e-6, "exact: 1/sqrt 3");
    out.at_least(
        "stress at a stretch of -1/2 (Pa)",
        "St. Venant-Kirchhoff",
        stress(-0.5)?,
        0.1,
        "exact: pushes the wrong way",
    );
    Ok(())
}

/// Spec T11 and T9: stress and slope go on without a jump where an extension begins; the constant one is bounded for all that lies beyond, the linear ones fall without bound.
fn thresholds(out: &mut Measurements) {
    let kinds = [
        ("constant", ExtensionKind::Constant { stretch: 0.4 }),
        ("linear_stretch", ExtensionKind::LinearStretch { stretch: 0.4 }),
        ("linear_det", ExtensionKind::LinearDet { volume: 0.3 }),
        ("energy", ExtensionKind::Energy { stretch: 0.4, stiffness: None }),
    ];
    for (name, kind) in kinds {
        let (mut jump, mut kink, mut rises) = (0.0f64, 0.0f64, 0.0f64);
        let (mut shallowest, mut deepest) = (f64::INFINITY, 0.0f64);
        for (_, model) in models() {
            let law = Law { model, extension: Extension::new(kind) };
            let mut random = TestNumbers::new(8);
            for _ in 0..50 {
                let [first, second] = [random.uniform(0.9, 1.3), random.uniform(0.7, 0.9)];
                let edge = match kind {
                    ExtensionKind::LinearDet { volume } => volume / (first * second),
                    _ => 0.4,
                };
                let stress = |last: f64| law.stress(&LAME, &Vector::<3>::new(first, second, last));
                let h = 1e-5;
                let (above, here, below) = (
                    [stress(edge + h), stress(edge + 2.0 * h)],
                    stress(edge),
                    [stress(edge - h), stress(edge - 2.0 * h)],
                );
                let tiny = 1e-12;
                jump = jump.max((stress(edge + tiny) - stress(edge - tiny)).norm() / (1.0 + here.norm()));
                // One-sided slopes of second order.
                let slope = |one: Vector<3>, two: Vector<3>, sign: f64| {
                    (one * 4.0 - two - here * 3.0) * (0.5 * sign / h)
                };
                let (over, under) = (slope(above[0], above[1], 1.0), slope(below[0], below[1], -1.0));
                kink = kink.max((over - under).norm() / (1.0 + over.norm()));
                // Far beyond, where a model that is weak at its threshold needs a slope that resists (spec 3.7).
                let law = Law {
                    model,
                    extension: Extension {
                        positive_slope: matches!(kind, ExtensionKind::LinearStretch { .. }),
                        ..law.extension
                    },
                };
                let stress = |last: f64| law.stress(&LAME, &Vector::<3>::new(first, second, last));
                let far: Vec<f64> = (0..60).map(|k| stress(-1.5f64.powi(k) * 1e-3)[2]).collect();
                rises = far
                    .windows(2)
                    .map(|pair| (pair[1] - pair[0]) / (1.0 + pair[0].abs()))
                    .fold(rises, f64::max);
                let last = far[59] / (1.0 + here.norm());
                (shallowest, deepest) = (shallowest.min(-last), deepest.max(last.abs()));
            }
        }
        out.at_most(
            "jump of the stress at the threshold (relative)",
            name,
            jump,
            1e-6,
            "spec T11: continuous",
        );
        match kind {
            ExtensionKind::LinearStretch { .. } | ExtensionKind::LinearDet { .. } => {
                out.at_most("jump of its slope (relative)", name, kink, 1e-6, "spec T11: with its slope");
            }
            _ => {}
        }
        match kind {
            ExtensionKind::Constant { .. } => {
                out.at_most(
                    "stress far beyond over that at the threshold",
                    name,
                    deepest,
                    1.0,
                    "exact: bounded (T9)",
                );
            }
            ExtensionKind::Energy { .. } | ExtensionKind::LinearStretch { .. } => {
                out.at_most(
                    "largest rise of the stress on the way down (relative)",
                    name,
                    rises,
                    1e-12,
                    "exact: monotone (T9)",
                );
                out.at_least(
                    "stress at a stretch of -2e7 over that at the threshold",
                    name,
                    shallowest,
                    1e5,
                    "exact: unbounded (T9)",
                );
            }
            _ => {}
        }
    }
}
