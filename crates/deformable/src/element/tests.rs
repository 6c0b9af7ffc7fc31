use super::*;
use crate::material::{Extension, ExtensionKind, Model, MuscleCurve, SplineBranch, Yield};
use crate::testing::*;
use splashdown_geometry::generate::{CubeSplit, Diagonals, box_hexahedra, box_tetrahedra, sheet};
use splashdown_geometry::mesh::Mesh;
use splashdown_solve::testing::TestNumbers;

fn material(law: Law, kind: DampingKind) -> Material {
    Material {
        law,
        lame: Lame { lambda: 30.0, mu: 20.0 },
        density: 2.0,
        damping: Damping { kind, time: 0.1 },
    }
}

fn flat<const D: usize>(points: &[Vector<D>]) -> Vec<f64> {
    points.iter().flat_map(|x| x.iter().copied()).collect()
}

fn cube(material: Material) -> (Elements<3, 3, 3>, Vec<f64>) {
    let mesh = box_tetrahedra(Vector::zeros(), Vector::repeat(1.0), [2, 2, 2], CubeSplit::Five).unwrap();
    (Elements::tetrahedra(&mesh, 0, material).unwrap(), flat(&mesh.points))
}

fn hexes(material: Material) -> (Elements<3, 3, 7>, Vec<f64>) {
    let mut mesh = box_hexahedra(Vector::zeros(), Vector::repeat(1.0), [2, 1, 2]).unwrap();
    let mut random = TestNumbers::new(17);
    for point in &mut mesh.points {
        *point += Vector::<3>::from_fn(|_, _| random.uniform(-0.08, 0.08));
    }
    (Elements::hexahedra(&mesh, 0, material).unwrap(), flat(&mesh.points))
}

fn quadratic(material: Material) -> (Elements<3, 3, 9>, Vec<f64>) {
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.0, 1.0, 0.1], [0.1, 0.0, 1.0]].map(Vector::<3>::from);
    let mut points = corners.to_vec();
    for [i, j] in [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]] {
        points.push((corners[i] + corners[j]) * 0.5);
    }
    let mesh = Mesh { points, elements: vec![std::array::from_fn(|i| i as u32)] };
    (Elements::quadratic_tetrahedra(&mesh, 0, material).unwrap(), flat(&mesh.points))
}

fn cloth(material: Material) -> (Elements<3, 2, 2>, Vec<f64>) {
    let (u, v) = (Vector::<3>::new(1.0, 0.2, 0.0), Vector::<3>::new(0.0, 1.0, 0.3));
    let mesh = sheet(Vector::zeros(), u, v, [3, 3], Diagonals::Alternating).unwrap();
    (Elements::membrane(&mesh, 0, 0.1, material).unwrap(), flat(&mesh.points))
}

fn plate(material: Material) -> (Elements<2, 2, 2>, Vec<f64>) {
    let (u, v) = (Vector::<2>::new(1.0, 0.0), Vector::<2>::new(0.2, 1.0));
    let mesh = sheet(Vector::zeros(), u, v, [3, 3], Diagonals::Alternating).unwrap();
    (Elements::triangles(&mesh, 0, material).unwrap(), flat(&mesh.points))
}

/// Checks everything that the contract promises, around a randomly deformed state.
fn check<const D: usize>(mut force: Box<dyn Force<D>>, rest: &[f64], noise: f64, fd: bool) {
    let mut random = TestNumbers::new(23);
    for round in 0..4 {
        let x: Vec<f64> = rest.iter().map(|x| x * 1.1 + noise * random.uniform(-1.0, 1.0)).collect();
        let d = random.vector(x.len());
        let v = random.vector(x.len());
        if fd {
            let gradient = energy_gradient_error(&mut *force, &x, &d, 1e-6).unwrap();
            assert!(gradient < 1e-7, "{} round {round}: gradient {gradient:e}", force.name());
            let stiffness = stiffness_error(&mut *force, &x, &d, 1e-6).unwrap();
            assert!(stiffness < 1e-6, "{} round {round}: stiffness {stiffness:e}", force.name());
        }
        force.update(&x).unwrap();
        for positive in [false, true] {
            let [k, damping] = matrix_errors(&*force, &v, positive);
            assert!(k < 1e-12 && damping < 1e-12, "{}: matrices {k:e} {damping:e}", force.name());
            let (mut kv, mut kd) = (vec![0.0; x.len()], vec![0.0; x.len()]);
            force.add_stiffness(&v, &mut kv, positive);
            force.add_stiffness(&d, &mut kd, positive);
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            if positive {
                assert!(dot(&v, &kv) > -1e-12);
                assert!((dot(&v, &kd) - dot(&d, &kv)).abs() < 1e-12 * dot(&v, &kv).abs().max(1.0));
            }
        }
        let factor = factor_error(&*force, &v, 0.01);
        assert!(factor < 1e-12, "{}: factor {factor:e}", force.name());
        let w = random.vector(force.damping_rows());
        assert!(adjoint_error(&*force, &v, &w, 0.01) < 1e-12);
        let mut damping = vec![0.0; x.len()];
        force.add_damping(&v, &mut damping);
        let power: f64 = damping.iter().zip(&v).map(|(f, v)| f * v).sum();
        assert!(power <= 0.0);
    }
}

#[test]
fn every_element_keeps_the_contract_with_every_damping() {
    use DampingKind::*;
    let law = Law { model: Model::FixedCorotated, extension: Extension::NONE };
    for kind in [Linear, Conserving, Blend, Stiffness] {
        let (force, rest) = cube(material(law, kind));
        check(force.boxed(), &rest, 0.05, true);
        let (force, rest) = hexes(material(law, kind));
        check(force.boxed(), &rest, 0.05, true);
        let (force, rest) = quadratic(material(law, kind));
        check(force.boxed(), &rest, 0.05, true);
        let (force, rest) = cloth(material(law, kind));
        check(force.boxed(), &rest, 0.03, true);
        let (force, rest) = plate(material(law, kind));
        check(force.boxed(), &rest, 0.03, true);
    }
    let (force, rest) = cube(material(Law { model: Model::Linear, extension: Extension::NONE }, Linear));
    check(force.boxed(), &rest, 0.3, true);
}

#[test]
fn inverted_elements_keep_the_contract() {
    let law = Law {
        model: Model::NeoHookean,
        extension: Extension::new(ExtensionKind::Energy { stretch: 0.3, stiffness: None }),
    };
    for kind in [DampingKind::Linear, DampingKind::Blend, DampingKind::Stiffness] {
        // Noise of a whole cell turns many elements inside out; there finite differences meet the ambiguous axis, so only algebra is checked.
        let (force, rest) = cube(material(law, kind));
        check(force.boxed(), &rest, 0.7, false);
        let (force, rest) = hexes(material(law, kind));
        check(force.boxed(), &rest, 0.7, false);
        let (force, rest) = plate(material(law, kind));
        check(force.boxed(), &rest, 0.7, false);
    }
}

#[test]
fn fibres_keep_the_contract() {
    let spline = SplineBranch::default();
    let law =
        Law { model: Model::Spline { compression: spline, extension: spline }, extension: Extension::NONE };
    let (mut force, rest) = cube(material(law, DampingKind::Blend));
    let curve = MuscleCurve { maximum: 50.0, ..MuscleCurve::default() };
    let fibre = Fibre { curve, activation: 0.6, ..Fibre::muscle() };
    let count = force.len();
    force.add_fibres(fibre.clone(), vec![Vector::<3>::new(1.0, 2.0, -0.5); count]).unwrap();
    // A second family across.
    force.add_fibres(fibre.clone(), vec![Vector::<3>::new(2.0, -1.0, 0.0); count]).unwrap();
    check(force.boxed(), &rest, 0.04, true);
    let (mut force, rest) = plate(material(law, DampingKind::Blend));
    let count = force.len();
    force.add_fibres(fibre.clone(), vec![Vector::<2>::new(1.0, 0.3); count]).unwrap();
    check(force.boxed(), &rest, 0.04, true);
    let (mut force, rest) = cloth(material(law, DampingKind::Blend));
    let count = force.len();
    force.add_fibres(fibre.clone(), vec![Vector::<2>::new(1.0, 0.3); count]).unwrap();
    force.set_family_activation(0, 0.9);
    check(force.boxed(), &rest, 0.03, true);
    let (mut force, rest) = hexes(material(law, DampingKind::Blend));
    let count = force.len();
    force.add_fibres(fibre.clone(), vec![Vector::<3>::new(0.3, 1.0, -0.6); count]).unwrap();
    check(force.boxed(), &rest, 0.04, true);
    // What would be silently wrong is refused.
    let (mut force, _) = cube(material(law, DampingKind::Blend));
    let count = force.len();
    force.set_plasticity(Plasticity { criterion: Yield::Full { limit: 0.1 }, limit: 2.0 }).unwrap();
    assert!(force.add_fibres(fibre, vec![Vector::<3>::new(1.0, 2.0, -0.5); count]).is_err());
}

/// An affine map leaves no force on inner nodes (patch test), and elastic forces have no resultant and no torque, inverted or not.
#[test]
fn patch_test_and_balance_of_forces() {
    fn balance<const D: usize>(mut force: Box<dyn Force<D>>, rest: &[f64], noise: f64) {
        let mut random = TestNumbers::new(5);
        let x: Vec<f64> = rest.iter().map(|x| x + noise * random.uniform(-1.0, 1.0)).collect();
        let f = elastic_force(&mut *force, &x).unwrap();
        let scale: f64 = f.iter().map(|f| f.abs()).sum();
        let mut sum = Vector::<D>::zeros();
        let mut torque = 0.0;
        for (x, f) in x.chunks_exact(D).zip(f.chunks_exact(D)) {
            sum += Vector::<D>::from_column_slice(f);
            torque += x[0] * f[1] - x[1] * f[0];
        }
        assert!(
            sum.norm() < 1e-13 * scale && torque.abs() < 1e-13 * scale,
            "{}: {sum} {torque}",
            force.name()
        );
    }
    let law = Law::safe(Model::NeoHookean);
    let m = material(law, DampingKind::Blend);
    let (force, rest) = cube(m);
    balance(force.boxed(), &rest, 0.8);
    let (force, rest) = hexes(m);
    balance(force.boxed(), &rest, 0.8);
    let (force, rest) = cloth(m);
    balance(force.boxed(), &rest, 0.8);
    let (force, rest) = plate(m);
    balance(force.boxed(), &rest, 0.8);

    let map = Matrix::<3>::new(1.2, 0.3, 0.0, -0.1, 0.8, 0.2, 0.1, 0.0, 1.1);
    let mesh = box_tetrahedra(Vector::zeros(), Vector::repeat(1.0), [2, 2, 2], CubeSplit::Five).unwrap();
    let (mut force, rest) = cube(m);
    let x: Vec<f64> = rest
        .chunks_exact(3)
        .flat_map(|x| {
            Vector::<3>::from_iterator((map * Vector::<3>::from_column_slice(x)).iter().copied()).data.0[0]
        })
        .collect();
    let f = elastic_force(&mut force, &x).unwrap();
    let middle = mesh.points.iter().position(|x| (x - Vector::repeat(0.5)).norm() < 1e-9).unwrap();
    let inner = Vector::<3>::from_column_slice(&f[3 * middle..3 * middle + 3]).norm();
    assert!(inner < 1e-12 * f.iter().fold(0.0, |m: f64, f| m.max(f.abs())), "{inner:e}");
}

#[test]
fn conserving_damping_keeps_angular_momentum_and_linear_does_not() {
    let law = Law::safe(Model::RotatedLinear);
    let torque = |kind| {
        let (mut force, rest) = cube(material(law, kind));
        let mut random = TestNumbers::new(8);
        let x: Vec<f64> = rest.iter().map(|x| x + 0.05 * random.uniform(-1.0, 1.0)).collect();
        let v = random.vector(x.len());
        force.update(&x).unwrap();
        let mut f = vec![0.0; x.len()];
        force.add_damping(&v, &mut f);
        let scale: f64 = f.iter().map(|f| f.abs()).sum();
        let mut sum = Vector::<3>::zeros();
        for (x, f) in x.chunks_exact(3).zip(f.chunks_exact(3)) {
            sum += Vector::<3>::from_column_slice(x).cross(&Vector::<3>::from_column_slice(f));
        }
        sum.norm() / scale
    };
    assert!(torque(DampingKind::Conserving) < 1e-13);
    assert!(torque(DampingKind::Linear) > 1e-4);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let mesh = box_tetrahedra(Vector::zeros(), Vector::repeat(1.0), [12, 12, 12], CubeSplit::Five).unwrap();
    let rest = flat(&mesh.points);
    let mut random = TestNumbers::new(4);
    let x: Vec<f64> = rest.iter().map(|x| x + 0.02 * random.uniform(-1.0, 1.0)).collect();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let m = material(Law::safe(Model::RotatedLinear), DampingKind::Blend);
            let mut force = Elements::tetrahedra(&mesh, 0, m).unwrap();
            let mut out = elastic_force(&mut force, &x).unwrap();
            force.add_damping(&x, &mut out);
            (out, force.energy().to_bits())
        })
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn meshes_that_cannot_be_are_refused_with_their_element() {
    let m = material(Law::safe(Model::RotatedLinear), DampingKind::Blend);
    let good = box_tetrahedra(Vector::zeros(), Vector::repeat(1.0), [1, 1, 1], CubeSplit::Five).unwrap();
    let mut inverted = good.clone();
    inverted.elements[2].swap(0, 1);
    assert!(
        Elements::tetrahedra(&inverted, 0, m).unwrap_err().to_string().contains("element 2 is inside out")
    );
    let mut flat = good.clone();
    flat.points[0] = flat.points[6];
    assert!(matches!(Elements::tetrahedra(&flat, 0, m), Err(ElementError::Flat { .. })));
    let mut outside = good.clone();
    outside.elements[1][0] = 99;
    assert!(Elements::tetrahedra(&outside, 0, m).unwrap_err().to_string().contains("point 99"));
    let mut broken = good.clone();
    broken.points[3].x = f64::NAN;
    assert!(Elements::tetrahedra(&broken, 0, m).is_err());
    assert!(Elements::tetrahedra(&good, 0, Material { density: -1.0, ..m }).is_err());
    let raw = Law { model: Model::NeoHookean, extension: Extension::NONE };
    let mut force = Elements::tetrahedra(&good, 0, material(raw, DampingKind::Blend)).unwrap();
    let mirrored: Vec<f64> = self::flat(&good.points).iter().map(|x| -x).collect();
    assert!(force.update(&mirrored).unwrap_err().to_string().contains("inversion extension"));
}

/// A stretched body yields, keeps its volume and comes back to the stretch that theory says.
#[test]
fn plastic_flow_leaves_the_exact_residual_stretch() {
    let (mut force, rest) = cube(material(Law::safe(Model::RotatedLinear), DampingKind::Blend));
    force.set_plasticity(Plasticity { criterion: Yield::Deviatoric { limit: 0.2 }, limit: 5.0 }).unwrap();
    let s = 2f64;
    let x: Vec<f64> =
        rest.chunks_exact(3).flat_map(|x| [s * x[0], s.powf(-0.5) * x[1], s.powf(-0.5) * x[2]]).collect();
    force.update(&x).unwrap();
    assert!(force.flow(&x));
    let residual = s * (-0.2 * (2f64 / 3.0).sqrt()).exp();
    let inverse = force.plastic_inverse(3, 0);
    assert!((1.0 / inverse[(0, 0)] - residual).abs() < 1e-10);
    assert!((inverse.determinant() - 1.0).abs() < 1e-10);
    // The elastic force is that of a body whose rest shape is the plastic one: zero there.
    let q = residual.powf(-0.5);
    let x: Vec<f64> = rest.chunks_exact(3).flat_map(|x| [residual * x[0], q * x[1], q * x[2]]).collect();
    let f = elastic_force(&mut force, &x).unwrap();
    assert!(f.iter().all(|f| f.abs() < 1e-12));
    // Snapshot and back.
    let history = force.history();
    let (mut other, _) = cube(material(Law::safe(Model::RotatedLinear), DampingKind::Blend));
    other.set_plasticity(Plasticity { criterion: Yield::Deviatoric { limit: 0.2 }, limit: 5.0 }).unwrap();
    assert!(other.restore(&history) && other.history() == history && !other.restore(&history[1..]));
    let mut random = TestNumbers::new(3);
    let x: Vec<f64> = rest.iter().map(|x| x + 0.03 * random.uniform(-1.0, 1.0)).collect();
    let d = random.vector(x.len());
    assert!(energy_gradient_error(&mut force, &x, &d, 1e-6).unwrap() < 1e-7);
    assert!(stiffness_error(&mut force, &x, &d, 1e-6).unwrap() < 1e-6);
}

#[test]
fn a_flipped_membrane_turns_back_when_it_knows_its_side() {
    let (mut force, rest) = cloth(material(Law::safe(Model::RotatedLinear), DampingKind::Blend));
    let mesh = sheet(
        Vector::zeros(),
        Vector::<3>::new(1.0, 0.2, 0.0),
        Vector::<3>::new(0.0, 1.0, 0.3),
        [3, 3],
        Diagonals::Alternating,
    )
    .unwrap();
    let [a, b, c] = mesh.corners(0);
    let normal = (b - a).cross(&(c - a)).normalize();
    let count = force.len();
    force.set_facing(vec![-normal; count]);
    force.update(&rest).unwrap();
    assert_eq!(force.inverted(), count);
    assert!(force.energy() > 0.0);
}

/// A bar that is stretched by `e` along one axis and held across: stresses `(lambda + 2 mu) e`, `lambda e`, `lambda e`, and of these von Mises makes
/// `2 mu e`, to first order for every law; exactly, and however it is turned, for the linear law without turning and for the others with it.
#[test]
fn the_stress_of_a_stretched_bar_is_that_of_hooke() {
    let e = 1e-4;
    let (s, c) = 0.8f64.sin_cos();
    for model in [
        Model::Linear,
        Model::RotatedLinear,
        Model::StVenantKirchhoff,
        Model::NeoHookean,
        Model::FixedCorotated,
    ] {
        let (mut force, rest) = cube(material(Law::safe(model), DampingKind::Conserving));
        let turned = model != Model::Linear;
        let position: Vec<f64> = rest
            .as_chunks::<3>()
            .0
            .iter()
            .flat_map(|&[x, y, z]| {
                let x = x * (1.0 + e);
                if turned { [c * x - s * y, s * x + c * y, z] } else { [x, y, z] }
            })
            .collect();
        force.update(&position).unwrap();
        let stresses = force.stresses().unwrap();
        assert_eq!(stresses.len(), force.len());
        for stress in stresses {
            assert!((stress / (2.0 * 20.0 * e) - 1.0).abs() < 1e-3, "{model:?}: {stress}");
        }
    }
    // The same pressure from all sides is no reason to yield.
    let (mut force, rest) = cube(material(Law::safe(Model::NeoHookean), DampingKind::Conserving));
    force.update(&rest.iter().map(|x| 0.9 * x).collect::<Vec<_>>()).unwrap();
    assert!(force.stresses().unwrap().iter().all(|stress| *stress < 1e-6));
}

/// Wedges: triangles of barycentric functions times a linear one; three points of the triangle times two of Gauss.
fn wedge() -> Vec<ReferencePoint<3, 6>> {
    let corners = [[1.0 / 6.0, 1.0 / 6.0], [2.0 / 3.0, 1.0 / 6.0], [1.0 / 6.0, 2.0 / 3.0]];
    let heights = [-1.0 / 3f64.sqrt(), 1.0 / 3f64.sqrt()];
    let point = |[xi, eta]: [f64; 2], zeta: f64| {
        let l = [1.0 - xi - eta, xi, eta];
        let dl = [[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]];
        let side = |node: usize| if node < 3 { -1.0 } else { 1.0 };
        ReferencePoint {
            derivative: std::array::from_fn(|node| {
                let part = 0.5 * (1.0 + side(node) * zeta);
                let [dx, dy] = dl[node % 3];
                [dx * part, dy * part, 0.5 * side(node) * l[node % 3]]
            }),
            value: std::array::from_fn(|node| l[node % 3] * 0.5 * (1.0 + side(node) * zeta)),
            weight: 1.0 / 6.0,
        }
    };
    corners.iter().flat_map(|&corner| heights.map(|zeta| point(corner, zeta))).collect()
}

/// Distorted wedges in two layers over a sheet of nine squares.
fn wedges() -> Mesh<3, 6> {
    let base =
        sheet(Vector::<2>::zeros(), Vector::<2>::x(), Vector::<2>::y(), [3, 3], Diagonals::Alternating)
            .unwrap();
    let count = base.points.len() as u32;
    let mut random = TestNumbers::new(12);
    let points =
        (0..3).flat_map(|layer| base.points.iter().map(move |x| [x[0], x[1], 0.4 * f64::from(layer)]));
    let points =
        points.map(|x| Vector::<3>::from(x) + Vector::from_fn(|_, _| random.uniform(-0.04, 0.04))).collect();
    let elements = (0..2u32)
        .flat_map(|layer| {
            base.elements.iter().map(move |&[a, b, c]| {
                let (low, high) = (layer * count, (layer + 1) * count);
                [a + low, b + low, c + low, a + high, b + high, c + high]
            })
        })
        .collect();
    Mesh { points, elements }
}

/// Spec DS-28: an element that this crate does not know, from its shape functions alone, passes the patch test and keeps the whole contract.
#[test]
fn any_isoparametric_element_keeps_the_contract() {
    let (mesh, reference) = (wedges(), wedge());
    let rest = flat(&mesh.points);
    let law = Law { model: Model::FixedCorotated, extension: Extension::NONE };
    let build = |kind| {
        Elements::<3, 3, 5>::isoparametric("wedges", &mesh, 0, &reference, material(law, kind)).unwrap()
    };
    for kind in [DampingKind::Linear, DampingKind::Conserving, DampingKind::Blend, DampingKind::Stiffness] {
        check(build(kind).boxed(), &rest, 0.03, true);
    }
    let mut force = build(DampingKind::Blend);
    let mut mass = vec![0.0; mesh.points.len()];
    force.add_masses(&mut mass);
    let volume: f64 = (0..force.len()).map(|element| force.rest_volume(element)).sum();
    assert!((mass.iter().sum::<f64>() - 2.0 * volume).abs() < 1e-12 && mass.iter().all(|&m| m > 0.0));
    // An affine map has one stress everywhere: no force on inner nodes.
    let map = Matrix::<3>::new(1.2, 0.3, 0.0, -0.1, 0.8, 0.2, 0.1, 0.0, 1.1);
    let x = flat(&mesh.points.iter().map(|x| map * x).collect::<Vec<_>>());
    let f = elastic_force(&mut force, &x).unwrap();
    let most = f.iter().fold(0.0, |m: f64, f| m.max(f.abs()));
    // The middle layer has 16 nodes from 16 on; its inner ones are 5, 6, 9 and 10 of them.
    for node in [21, 22, 25, 26] {
        let inner = Vector::<3>::from_column_slice(&f[3 * node..3 * node + 3]).norm();
        assert!(inner < 1e-12 * most, "node {node}: {inner:e} of {most:e}");
    }
    assert!((force.energy() - volume * density_of(&map)).abs() < 1e-12 * volume);
    // Reference elements that are none, and meshes that do not fit, are refused.
    let m = material(law, DampingKind::Blend);
    let refused = |mesh: &Mesh<3, 6>, reference: &[ReferencePoint<3, 6>]| {
        Elements::<3, 3, 5>::isoparametric("wedges", mesh, 0, reference, m).unwrap_err().to_string()
    };
    let mut wrong = reference.clone();
    wrong[1].derivative[2][0] += 0.5;
    assert!(refused(&mesh, &wrong).contains("quadrature point 1: the derivatives"));
    let mut heavy = reference.clone();
    heavy[4].value[0] += 1.0;
    assert!(refused(&mesh, &heavy).contains("quadrature point 4: the parts of the mass sum to 2"));
    assert!(refused(&mesh, &[]).contains("0 quadrature points"));
    let mut outside = mesh.clone();
    outside.elements[3][5] = 99;
    assert!(refused(&outside, &reference).contains("element 3 refers to point 99"));
    let mut inverted = mesh.clone();
    inverted.elements[7].swap(0, 1);
    inverted.elements[7].swap(3, 4);
    assert!(refused(&inverted, &reference).contains("element 7 is inside out"));
    let other = Elements::<3, 3, 6>::isoparametric("wedges", &mesh, 0, &reference, m).unwrap_err();
    assert!(other.to_string().contains("elements of 7 nodes"), "{other}");
}

/// Energy of the fixed corotated law per volume for the deformation `f`.
fn density_of(f: &Matrix<3>) -> f64 {
    let s = splashdown_math::signed_svd(f).sigma;
    20.0 * s.iter().map(|s| (s - 1.0).powi(2)).sum::<f64>() + 15.0 * (s.product() - 1.0).powi(2)
}

/// Spec DS-7: turning a body is strain to linear elasticity, `eps = (cos - 1)` in the plane of the turn, and none to the rotated law.
#[test]
fn rotations_are_strain_to_linear_elasticity_only() {
    let (c, s) = (0.8, 0.6);
    let energy = |model| {
        let (mut force, rest) =
            cube(material(Law { model, extension: Extension::NONE }, DampingKind::Linear));
        let turned: Vec<f64> =
            rest.chunks_exact(3).flat_map(|x| [c * x[0] - s * x[1], s * x[0] + c * x[1], x[2]]).collect();
        let f = elastic_force(&mut force, &turned).unwrap();
        (force.energy(), f.iter().fold(0.0, |most: f64, f| most.max(f.abs())))
    };
    // A unit cube: mu eps : eps + lambda tr^2 / 2.
    let exact = (1.0f64 - c).powi(2) * 2.0 * (20.0 + 30.0);
    let (linear, push) = energy(Model::Linear);
    assert!((linear - exact).abs() < 1e-12 * exact && push > 1.0, "{linear} instead of {exact}");
    let (rotated, none) = energy(Model::RotatedLinear);
    assert!(rotated < 1e-28 && none < 1e-12, "{rotated:e} {none:e}");
}

/// Spec DS-21: the plastic stretches after one flow of a homogeneous stretch, for every criterion and at the limit.
#[test]
fn every_yield_criterion_flows_exactly() {
    let s = [1.6f64, 0.7, 1.25];
    let flowed = |criterion: Yield, limit: f64| -> [f64; 3] {
        let (mut force, rest) = cube(material(Law::safe(Model::RotatedLinear), DampingKind::Blend));
        force.set_plasticity(Plasticity { criterion, limit }).unwrap();
        let x: Vec<f64> =
            rest.chunks_exact(3).flat_map(|x| [s[0] * x[0], s[1] * x[1], s[2] * x[2]]).collect();
        force.update(&x).unwrap();
        assert!(force.flow(&x));
        // A second flow at the same place changes nothing: the body is on the yield surface.
        let first = force.history();
        force.flow(&x);
        assert!(force.history().iter().zip(&first).all(|(a, b)| (a - b).abs() < 1e-12));
        let inverse = force.plastic_inverse(2, 0);
        std::array::from_fn(|i| 1.0 / inverse[(i, i)])
    };
    let near = |found: [f64; 3], exact: [f64; 3]| {
        assert!((0..3).all(|i| (found[i] - exact[i]).abs() < 1e-12), "{found:?} instead of {exact:?}");
    };
    // The whole logarithm is scaled to the norm 0.1; what is left of it has flowed.
    let log = s.map(f64::ln);
    let norm = log.iter().map(|l| l * l).sum::<f64>().sqrt();
    near(flowed(Yield::Full { limit: 0.1 }, 10.0), log.map(|l| (l * (1.0 - 0.1 / norm)).exp()));
    // Volume is kept by the deviatoric criterion.
    let mean = log.iter().sum::<f64>() / 3.0;
    let deviator = log.map(|l| l - mean);
    let norm = deviator.iter().map(|l| l * l).sum::<f64>().sqrt();
    near(flowed(Yield::Deviatoric { limit: 0.1 }, 10.0), deviator.map(|l| (l * (1.0 - 0.1 / norm)).exp()));
    // A criterion of one's own: no stretch beyond 1.1, compression is elastic.
    fn tears(stretches: &mut [f64]) -> bool {
        let beyond = stretches.iter().any(|&s| s > 1.1);
        stretches.iter_mut().for_each(|s| *s = s.min(1.1));
        beyond
    }
    near(flowed(Yield::Custom(tears), 10.0), [1.6 / 1.1, 1.0, 1.25 / 1.1]);
    // The limit stops each plastic stretch by itself, in tension and in compression.
    let full = log.map(|l| (l * (1.0 - 0.01 / log.iter().map(|l| l * l).sum::<f64>().sqrt())).exp());
    let (limited, exact) = (flowed_once(&s, 1.2), full.map(|s| s.clamp(1.0 / 1.2, 1.2)));
    near(limited, exact);
    assert_eq!(exact, [1.2, 1.0 / 1.2, 1.2]);
}

/// As above with the norm 0.01 and a limit of the plastic stretch, which leaves the body beyond its yield surface.
fn flowed_once(s: &[f64; 3], limit: f64) -> [f64; 3] {
    let (mut force, rest) = cube(material(Law::safe(Model::RotatedLinear), DampingKind::Blend));
    force.set_plasticity(Plasticity { criterion: Yield::Full { limit: 0.01 }, limit }).unwrap();
    let x: Vec<f64> = rest.chunks_exact(3).flat_map(|x| [s[0] * x[0], s[1] * x[1], s[2] * x[2]]).collect();
    for _ in 0..3 {
        force.update(&x).unwrap();
        force.flow(&x);
    }
    let inverse = force.plastic_inverse(0, 0);
    std::array::from_fn(|i| 1.0 / inverse[(i, i)])
}

/// The explicit step by the state: near rest it does not pay for the stiffness beyond the threshold of the extension, when squeezed it does, and half of it is below the limit of the largest
/// eigenvalue of `M^-1 K`, found by power iteration.
#[test]
fn the_explicit_step_follows_the_state() {
    let law = Law {
        model: Model::NeoHookean,
        extension: Extension::new(ExtensionKind::Energy { stretch: 0.2, stiffness: None }),
    };
    let (mut force, rest) = cube(material(law, DampingKind::Linear));
    let mut mass = vec![0.0; rest.len() / 3];
    force.add_masses(&mut mass);
    force.update(&rest).unwrap();
    let anywhere = force.stable_step(&[]);
    let at_rest = force.stable_step_now(&[]);
    assert!(at_rest > 3.0 * anywhere, "{at_rest} {anywhere}");
    for squeeze in [1.0, 0.5, 0.15] {
        let x: Vec<f64> =
            rest.iter().enumerate().map(|(at, x)| if at % 3 == 2 { squeeze * x } else { *x }).collect();
        force.update(&x).unwrap();
        let now = force.stable_step_now(&[]);
        assert!(now >= anywhere * (1.0 - 1e-12) && now <= at_rest, "{now} {anywhere}");
        let mut v = TestNumbers::new(7).vector(x.len());
        let mut largest = 0.0;
        for _ in 0..300 {
            let mut image = vec![0.0; v.len()];
            force.add_stiffness(&v, &mut image, true);
            image.iter_mut().enumerate().for_each(|(at, value)| *value /= mass[at / 3]);
            largest = image.iter().map(|value| value * value).sum::<f64>().sqrt();
            v = image.iter().map(|value| value / largest).collect();
        }
        let limit = 2.0 / f64::sqrt(largest);
        assert!(0.5 * now < 0.9 * limit, "at {squeeze}: {now} of {limit}");
    }
}
