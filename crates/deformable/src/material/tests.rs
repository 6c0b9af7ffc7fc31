use super::*;
use splashdown_math::{Dim, Space, signed_svd};
use splashdown_solve::testing::TestNumbers;

const LAME: Lame = Lame { lambda: 3.0, mu: 2.0 };

fn models() -> Vec<Model> {
    let soft = SplineBranch { threshold: 0.3, hardening: 4.0 };
    vec![
        Model::RotatedLinear,
        Model::StVenantKirchhoff,
        Model::NeoHookean,
        Model::FixedCorotated,
        Model::CompressibleFlow,
        Model::Spline { compression: soft, extension: SplineBranch::default() },
        Model::MooneyRivlin { second: 0.37 },
    ]
}

fn extensions() -> Vec<Extension> {
    let kinds = [
        ExtensionKind::Constant { stretch: 0.4 },
        ExtensionKind::LinearStretch { stretch: 0.4 },
        ExtensionKind::LinearDet { volume: 0.3 },
        ExtensionKind::Energy { stretch: 0.4, stiffness: Some(40.0) },
    ];
    let mut all: Vec<Extension> = kinds.map(Extension::new).to_vec();
    all.extend(kinds.map(|kind| Extension { kind, positive_slope: true, largest_stretch: Some(1.6) }));
    all
}

/// A mesh thrown about by noise has elements that are inside out and stretched a hundredfold: a potential without a bottom there is what Newton's method would run into.
#[test]
fn the_extension_with_a_potential_is_bounded_below() {
    let kind = ExtensionKind::Energy { stretch: 0.3, stiffness: None };
    for model in models().into_iter().filter(|model| !model.is_linear()) {
        let law = Law { model, extension: Extension::new(kind) };
        let mut lowest = f64::INFINITY;
        for (i, j, k) in (0..12).flat_map(|i| (0..12).flat_map(move |j| (0..12).map(move |k| (i, j, k)))) {
            let stretch = |at: i32| 1.6f64.powi(at) - 1.0;
            let s = Vector::<3>::new(stretch(i), stretch(j), -stretch(k));
            lowest = lowest.min(law.energy(&LAME, &s));
        }
        assert!(lowest > -2.0 * (LAME.lambda + LAME.mu), "{model:?}: {lowest} J/m^3");
    }
}

fn piola<const C: usize>(law: &Law, f: &Matrix<C>) -> Matrix<C>
where
    Dim<C>: Space<C>,
{
    let svd = signed_svd(f);
    svd.recompose(&law.stress(&LAME, &svd.sigma))
}

/// A random gradient with a determinant of the given sign and stretches that stay away from coincidences of an inverted state.
fn gradient<const C: usize>(random: &mut TestNumbers, inverted: bool) -> Matrix<C>
where
    Dim<C>: Space<C>,
{
    loop {
        let f = Matrix::<C>::from_fn(|_, _| random.uniform(-1.2, 1.2));
        let s = signed_svd(&f).sigma;
        let smallest = s[C - 1];
        if (smallest < 0.0) == inverted && smallest.abs() > 0.1 && (s[C - 2] + smallest).abs() > 0.15 {
            return f;
        }
    }
}

fn stress_is_the_gradient_of_the_energy<const C: usize>()
where
    Dim<C>: Space<C>,
{
    let mut random = TestNumbers::new(1);
    for model in models() {
        for inverted in [false, true] {
            for extension in std::iter::once(Extension::NONE).chain(extensions()) {
                let law = Law { model, extension };
                if !extension.has_energy() || extension.largest_stretch.is_some() && inverted {
                    continue;
                }
                if inverted && extension == Extension::NONE && model.needs_positive_volume() {
                    continue;
                }
                for _ in 0..20 {
                    let f = gradient::<C>(&mut random, inverted);
                    let p = piola(&law, &f);
                    let direction = Matrix::<C>::from_fn(|_, _| random.uniform(-1.0, 1.0));
                    let h = 1e-5;
                    let energy = |f: Matrix<C>| law.energy(&LAME, &signed_svd(&f).sigma);
                    let slope = (energy(f + direction * h) - energy(f - direction * h)) / (2.0 * h);
                    let exact = p.dot(&direction);
                    assert!((slope - exact).abs() < 1e-6 * (1.0 + p.norm()), "{law:?} {slope} {exact}");
                }
            }
        }
    }
}

fn differential_is_the_derivative_of_the_stress<const C: usize>()
where
    Dim<C>: Space<C>,
{
    let mut random = TestNumbers::new(2);
    for model in models() {
        for inverted in [false, true] {
            for extension in std::iter::once(Extension::NONE).chain(extensions()) {
                let law = Law { model, extension };
                if inverted && extension == Extension::NONE && model.needs_positive_volume() {
                    continue;
                }
                for _ in 0..20 {
                    let f = gradient::<C>(&mut random, inverted);
                    let direction = Matrix::<C>::from_fn(|_, _| random.uniform(-1.0, 1.0));
                    let h = 2e-6;
                    let (ahead, behind) =
                        (piola(&law, &(f + direction * h)), piola(&law, &(f - direction * h)));
                    let slope = (ahead - behind) / (2.0 * h);
                    let svd = signed_svd(&f);
                    let crosses =
                        |s: &Vector<C>| (0..C).map(|i| s[i] == law.extension.clamp(s)[i]).collect::<Vec<_>>();
                    let sides =
                        [f + direction * h, f - direction * h].map(|f| crosses(&signed_svd(&f).sigma));
                    if sides[0] != sides[1] {
                        continue;
                    }
                    let inner = law
                        .exact_differential(&LAME, &svd.sigma)
                        .apply(&(svd.u.transpose() * direction * svd.v));
                    let exact = svd.u * inner * svd.v.transpose();
                    let scale = 1.0 + exact.norm() + ahead.norm();
                    assert!((slope - exact).norm() < 1e-6 * scale, "{law:?} {:?} {slope} {exact}", svd.sigma);
                }
            }
        }
    }
}

#[test]
fn stress_is_the_gradient_of_the_energy_in_2d_and_3d() {
    stress_is_the_gradient_of_the_energy::<2>();
    stress_is_the_gradient_of_the_energy::<3>();
}

#[test]
fn differential_is_the_derivative_of_the_stress_in_2d_and_3d() {
    differential_is_the_derivative_of_the_stress::<2>();
    differential_is_the_derivative_of_the_stress::<3>();
}

#[test]
fn positive_part_keeps_what_is_positive_and_has_no_negative_mode() {
    let mut random = TestNumbers::new(3);
    for model in models() {
        let law = Law { model, extension: Extension::NONE };
        for _ in 0..200 {
            let f = gradient::<3>(&mut random, false);
            let s = signed_svd(&f).sigma;
            let raw = law.differential(&LAME, &s);
            let positive = raw.positive();
            let least = symmetric_eigen(&positive.hessian).values[2];
            assert!(least >= -1e-12 * raw.hessian.norm());
            for value in [positive.symmetric.min(), positive.antisymmetric.min()] {
                assert!(value >= 0.0);
            }
            let definite = symmetric_eigen(&raw.hessian).values[2] > 0.0;
            if definite {
                assert!((positive.hessian - raw.hessian).norm() <= 1e-12 * raw.hessian.norm());
            }
        }
    }
}

#[test]
fn extensions_are_continuous_with_their_slope_at_the_threshold() {
    for model in models() {
        for kind in [ExtensionKind::LinearStretch { stretch: 0.4 }, ExtensionKind::LinearDet { volume: 0.4 }]
        {
            let law = Law { model, extension: Extension::new(kind) };
            let at = |s: f64| law.stress(&LAME, &Vector::<3>::new(1.0, 1.0, s));
            let h = 1e-7;
            let (below, above) = (at(0.4 - h), at(0.4 + h));
            assert!((below - above).norm() < 1e-4 * (1.0 + below.norm()), "{law:?}");
            let slopes = [(at(0.4 + 2.0 * h) - above) / h, (below - at(0.4 - 2.0 * h)) / h];
            assert!((slopes[0] - slopes[1]).norm() < 1e-4 * (1.0 + slopes[0].norm()), "{law:?} {slopes:?}");
        }
    }
}

/// Uniaxial stretch `(s, 1, 1)` loses definiteness at `exp(2 mu / lambda)` (spec 3.7).
#[test]
fn neo_hookean_loses_definiteness_where_it_must() {
    for (poisson, onset) in [(0.3, 3.794), (0.45, 1.249), (0.475, 1.111), (0.49, 1.042)] {
        let lame = Lame::new(1.0, poisson).unwrap();
        let exact = (2.0 * lame.mu / lame.lambda).exp();
        assert!((exact - onset).abs() < 5e-4);
        let least = |s: f64| {
            symmetric_eigen(&Model::NeoHookean.hessian(&lame, &Vector::<3>::new(s, 1.0, 1.0))).values[2]
        };
        assert!(least(exact * (1.0 - 1e-6)) > 0.0 && least(exact * (1.0 + 1e-6)) < 0.0, "{poisson}");
    }
}

#[test]
fn st_venant_kirchhoff_is_weakest_at_one_over_root_three() {
    let lame = Lame { lambda: 0.0, mu: 1.0 };
    let stress = |s: f64| Model::StVenantKirchhoff.stress(&lame, &Vector::<3>::new(1.0, 1.0, s))[2];
    let weakest = 1.0 / 3f64.sqrt();
    assert!(stress(weakest) < stress(weakest + 1e-4) && stress(weakest) < stress(weakest - 1e-4));
    assert!(stress(-0.5) > 0.0, "pushes the wrong way when inverted");
}

#[test]
fn constant_extension_is_bounded_and_linear_ones_are_not() {
    let law = |kind| Law { model: Model::NeoHookean, extension: Extension::new(kind) };
    let last = |law: &Law, s: f64| law.stress(&LAME, &Vector::<3>::new(1.0, 1.0, s))[2];
    let constant = law(ExtensionKind::Constant { stretch: 0.3 });
    assert_eq!(last(&constant, -1.0), last(&constant, -1e6));
    for kind in [ExtensionKind::LinearStretch { stretch: 0.3 }, ExtensionKind::LinearDet { volume: 0.3 }] {
        let law = law(kind);
        let mut before = last(&law, 0.29);
        for step in 1..60 {
            let now = last(&law, 0.29 - 1.3f64.powi(step));
            assert!(now < before);
            before = now;
        }
        assert!(before < -1e5);
    }
}

#[test]
fn fibre_differential_matches_the_stress() {
    let mut random = TestNumbers::new(5);
    let fibre = Fibre { activation: 0.7, ..Fibre::muscle() };
    for _ in 0..50 {
        let f = gradient::<3>(&mut random, false);
        let svd = signed_svd(&f);
        if svd.sigma[2] < 0.3 {
            continue;
        }
        let a = Vector::<3>::from_fn(|_, _| random.uniform(-1.0, 1.0)).normalize();
        // In the unrotated frame: P = (T/l) F a a^T.
        let stress = |f: &Matrix<3>| {
            let svd = signed_svd(f);
            let mut inner = Matrix::zeros();
            fibre.add_stress(&svd.sigma, &(svd.v.transpose() * a), &mut inner);
            svd.u * inner * svd.v.transpose()
        };
        let direction = Matrix::<3>::from_fn(|_, _| random.uniform(-1.0, 1.0));
        let h = 1e-6;
        let slope = (stress(&(f + direction * h)) - stress(&(f - direction * h))) / (2.0 * h);
        let local = svd.v.transpose() * a;
        let (c1, c2, q) = fibre.differential(&svd.sigma, &local, false);
        let change = svd.u.transpose() * direction * svd.v * local;
        let exact = svd.u * (change * c1 + q * (c2 * q.dot(&change))) * local.transpose() * svd.v.transpose();
        assert!((slope - exact).norm() < 1e-6 * (1e5 + exact.norm()), "{slope} {exact}");
        // And the energy: dPsi = T dl.
        let energy = |f: &Matrix<3>| {
            let svd = signed_svd(f);
            fibre.energy(&svd.sigma, &(svd.v.transpose() * a))
        };
        let rate = (energy(&(f + direction * h)) - energy(&(f - direction * h))) / (2.0 * h);
        assert!((rate - stress(&f).dot(&direction)).abs() < 1e-4 * (1e4 + rate.abs()));
    }
}

/// Isochoric stretch `diag(s, s^-1/2, s^-1/2)` beyond the yield `g` leaves `s exp(-g sqrt(2/3))` (spec T17).
#[test]
fn plastic_stretch_that_remains_is_exact() {
    let plasticity = Plasticity { criterion: Yield::Deviatoric { limit: 0.2 }, limit: 10.0 };
    for s in [1.5f64, 2.0, 3.0] {
        let sigma = Vector::<3>::new(s, s.powf(-0.5), s.powf(-0.5));
        let plastic = plasticity.flow(&sigma, &Matrix::identity(), &Matrix::identity(), None).unwrap();
        let expected = s * (-0.2 * (2f64 / 3.0).sqrt()).exp();
        assert!((plastic[(0, 0)] - expected).abs() < 1e-10, "{} {expected}", plastic[(0, 0)]);
        assert!((plastic.determinant() - 1.0).abs() < 1e-10);
    }
    assert!(
        plasticity
            .flow(&Vector::<3>::new(1.01, 1.0, 0.99), &Matrix::identity(), &Matrix::identity(), None)
            .is_none()
    );
}

#[test]
fn control_never_moves_away_from_the_goal() {
    let mut random = TestNumbers::new(6);
    let plasticity = Plasticity { criterion: Yield::Full { limit: 0.1 }, limit: 10.0 };
    let goal = symmetric_eigen(&Matrix::<3>::new(1.4, 0.2, 0.0, 0.2, 0.8, 0.1, 0.0, 0.1, 0.9)).map(f64::ln);
    let mut plastic = Matrix::<3>::identity();
    let mut distance = log_distance(&plastic, &goal);
    let first = distance;
    for _ in 0..2000 {
        let svd = signed_svd(&gradient::<3>(&mut random, false));
        if let Some(next) = plasticity.flow(&svd.sigma, &svd.v, &plastic, Some(&goal)) {
            plastic = next;
            let now = log_distance(&plastic, &goal);
            assert!(now <= distance + 1e-13, "{now:e} {distance:e}");
            distance = now;
        }
    }
    assert!(distance < 0.1 * first, "{distance} of {first}");
}

/// An element that is inside out may not have less energy than one at rest, however wide it is: a body of such elements would fly apart to get there.
#[test]
fn no_state_has_less_energy_than_rest() {
    use splashdown_solve::testing::TestNumbers;
    let mut random = TestNumbers::new(3);
    let models = [Model::NeoHookean, Model::StVenantKirchhoff, Model::FixedCorotated, Model::RotatedLinear];
    for model in models {
        let law = Law::safe(model);
        for poisson in [0.0, 0.3, 0.45, 0.49, 0.499] {
            let lame = Lame::new(1.0, poisson).unwrap();
            let mut lowest = f64::INFINITY;
            for _ in 0..20_000 {
                let mut s = Vector::<3>::from_fn(|_, _| random.uniform(-2.5, 2.5).exp());
                s.as_mut_slice().sort_by(|a, b| b.total_cmp(a));
                if random.uniform(0.0, 1.0) < 0.7 {
                    s[2] = -s[2];
                }
                lowest = lowest.min(law.energy(&lame, &s));
            }
            assert!(lowest > 0.0, "{model:?}, {poisson}: {lowest}");
        }
    }
}

#[test]
fn moduli_at_rest_are_the_lame_parameters() {
    let rest = Vector::<3>::repeat(1.0);
    for model in models() {
        let hessian = model.hessian(&LAME, &rest);
        for i in 0..3 {
            for j in 0..3 {
                let shear =
                    if matches!(model, Model::CompressibleFlow) || i != j { 0.0 } else { 2.0 * LAME.mu };
                assert!((hessian[(i, j)] - LAME.lambda - shear).abs() < 1e-12, "{model:?}: {hessian}");
            }
        }
    }
}

/// St. Venant-Kirchhoff by its second Piola stress and neo-Hookean by its Cauchy stress are those by principal stretches, and the conversions undo each other.
fn stress_measures_agree<const C: usize>()
where
    Dim<C>: Space<C>,
{
    let mut random = TestNumbers::new(11);
    for inverted in [false, true] {
        for _ in 0..50 {
            let f = gradient::<C>(&mut random, inverted);
            let close = |a: &Matrix<C>, b: &Matrix<C>| (a - b).norm() <= 1e-11 * (1.0 + b.norm());
            let green = (f.transpose() * f - Matrix::identity()) * 0.5;
            let second = green * (2.0 * LAME.mu) + Matrix::identity() * (LAME.lambda * green.trace());
            let raw = |model| Law { model, extension: Extension::NONE };
            let first = first_piola_of_second(&f, &second);
            assert!(close(&first, &piola(&raw(Model::StVenantKirchhoff), &f)));
            assert!(close(&second_piola_of(&f, &first).unwrap(), &second));
            let j = signed_svd(&f).sigma.iter().product::<f64>();
            if j > 0.0 {
                let left = f * f.transpose() - Matrix::identity();
                let cauchy = (left * LAME.mu + Matrix::identity() * (LAME.lambda * j.ln())) / j;
                let first = first_piola_of_cauchy(&f, &cauchy);
                assert!(close(&first, &piola(&raw(Model::NeoHookean), &f)));
                assert!(close(&cauchy_of(&f, &first).unwrap(), &cauchy));
            }
        }
    }
    // In this form nothing pushes a point apart: laws must be extended in their principal stretches.
    let flat = Matrix::<C>::zeros();
    assert_eq!(first_piola_of_cauchy(&flat, &Matrix::identity()), flat);
    assert!(cauchy_of(&flat, &Matrix::identity()).is_none());
}

#[test]
fn measures_of_stress_agree() {
    stress_measures_agree::<2>();
    stress_measures_agree::<3>();
}
