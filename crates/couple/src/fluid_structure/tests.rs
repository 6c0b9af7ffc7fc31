//! Momentum and angular momentum of single coupled solves (FS-46, FS-T8): what a pressure takes from the fluid on one side of a cell it gives on the other, on the same line; a face that a solid closes hands on what it
//! gets, to rigid bodies at its centre, to particles where the line through the centre meets them.

use super::driver::{SoftSolve, sheet_mass, solve_with_soft};
use super::held::Demands;
use super::soft::{SoftSurfaces, sheets_of};
use super::{CouplingOptions, Immersed, SolidMass, Weights, coupling_faces};
use crate::{SolidBody, SolidElement, Solids};
use splashdown_deformable::Solid;
use splashdown_deformable::integrate::Scheme;
use splashdown_fluid::{Domain, FluidModel, FluidState, FluidStepper, Guest, Liquid, Placement, Side};
use splashdown_geometry::generate::{CubeSplit, box_tetrahedra, disc_triangles};
use splashdown_geometry::grid::Grid;
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Coordinates, Dim, Frame, Space, Twist, Vector};
use splashdown_solve::testing::TestNumbers;
use std::sync::Arc;

/// Points and elements of one body.
type Body<const D: usize> = (Vec<Vector<D>>, Vec<u32>, SolidElement);

/// Changes of momentum and of angular momentum in a solve, each over the sum of the sizes of its parts.
fn changes<const D: usize>(n: usize, bodies: Vec<Body<D>>, weights: Weights) -> [f64; 2]
where
    Dim<D>: Space<D>,
{
    let mut random = TestNumbers::new(17);
    let grid = Grid::new(Vector::zeros(), Vector::repeat(1.0 / n as f64), [n; D]).unwrap();
    // Nothing outside to push on.
    let sides = std::array::from_fn(|_| [Side::open(), Side::open()]);
    let mut model = FluidModel::new(Domain::new(grid, sides).unwrap(), Liquid::new("fluid", 1.0));
    model.options.pressure.relative = 1e-10;
    let mut state = FluidState::at_rest(&model);
    for axis in 0..D {
        let values = state.velocity.component_mut(axis).values_mut();
        values.iter_mut().for_each(|u| *u = random.uniform(-1.0, 1.0));
    }
    let mut solids = Solids::<D>::new(Vector::zeros(), Scheme::C);
    let mut position = Vec::new();
    for (points, elements, element) in bodies {
        let first = position.len() / D;
        position.extend(points.iter().flat_map(|x| x.iter().copied()));
        let particles = first..first + points.len();
        let rest = position[D * first..].to_vec();
        solids.bodies.push(SolidBody {
            name: format!("body {first}"),
            particles,
            element,
            elements,
            rest,
            forces: 0..0,
            strength: vec![],
            activation: vec![],
        });
    }
    let mass: Vec<f64> = (0..position.len() / D).map(|_| random.uniform(0.001, 0.01)).collect();
    solids.solid = Solid::new(mass.clone(), vec![false; mass.len()], Vector::zeros());
    let mut velocity: Vec<f64> = random.vector(position.len());

    let mut stepper = FluidStepper::new(&model).unwrap();
    let frame = Frame { position: Vector::repeat(0.74), ..Frame::identity() };
    let ball = Guest {
        form: Arc::new(Shape::ball(0.13).unwrap()),
        placement: Placement::at_rest(frame),
        slip: true,
    };
    let moments = vec![1e-3; <Dim<D> as Space<D>>::SPIN];
    let own = SolidMass::<D>::new(0.05, &Dim::<D>::inertia_from_principal(&moments));
    let mut rigid =
        vec![Immersed::new(Some(own.clone()), Twist { linear: Vector::repeat(0.3), ..Twist::zero() })];
    let (soft_guests, soft) = SoftSurfaces::default().guests(&model, &solids, &position, true);
    let (sheets, sheet_particles) = sheets_of(&model, &solids, &position, &position);
    assert!(!soft.is_empty() && !sheets.is_empty());
    stepper.set_guests([ball].into_iter().chain(soft_guests).collect());
    stepper.set_sheets(sheets);
    stepper.push(&model, &mut state, 1.0).unwrap();
    let options = CouplingOptions { weights, ..CouplingOptions::default() };
    let surface = (weights == Weights::Area).then(|| {
        let (sheets, _) = sheets_of(&model, &solids, &position, &position);
        super::soft::SheetSurface::new(&sheets, *model.domain.grid())
    });

    // Masses that move along an axis, and where they are.
    let mut parts: Vec<(usize, [isize; D], f64)> = Vec::new();
    {
        let problem = stepper.problem(&model);
        for axis in 0..D {
            for face in problem.walls.open_faces().component(axis).lattice().indices() {
                if problem.is_unknown(axis, face) {
                    parts.push((axis, face, problem.face_mass(axis, face)));
                }
            }
        }
        let closed = coupling_faces(&problem, stepper.guests(), 0, options.mass);
        parts.extend(closed.iter().map(|face| (face.axis, face.face, face.mass)));
        let sheets = problem.walls.sheet_faces().iter();
        parts.extend(
            sheets.filter_map(|sheet| {
                Some((sheet.axis, sheet.face, sheet_mass(&problem, sheet, options.mass)?))
            }),
        );
    }
    let lattices: Vec<_> = (0..D).map(|axis| *state.velocity.component(axis).lattice()).collect();
    let total = |state: &FluidState<D>, velocity: &[f64], twist: &Twist<D>| {
        let (mut linear, mut angular) = (Vector::<D>::zeros(), vec![0.0; <Dim<D> as Space<D>>::SPIN]);
        let mut sizes = [0.0; 2];
        let mut add = |x: &Vector<D>, push: Vector<D>| {
            let turn = Dim::cross(x, &push);
            linear += push;
            sizes[0] += push.norm();
            sizes[1] += turn.norm();
            angular.iter_mut().zip(turn.as_slice()).for_each(|(sum, turn)| *sum += turn);
        };
        for &(axis, face, mass) in &parts {
            let u = state.velocity.component(axis).at(face);
            let push = Vector::from_fn(|a, _| if a == axis { mass * u } else { 0.0 });
            add(&lattices[axis].position(face), push);
        }
        for (i, mass) in mass.iter().enumerate() {
            let x = Vector::from_column_slice(&position[D * i..D * (i + 1)]);
            add(&x, Vector::from_column_slice(&velocity[D * i..D * (i + 1)]) * *mass);
        }
        let push = own.times(twist);
        add(&Vector::repeat(0.74), push.linear);
        angular.iter_mut().zip(push.angular.as_slice()).for_each(|(sum, own)| *sum += own);
        (linear, angular, sizes)
    };
    let before = total(&state, &velocity, &rigid[0].twist);
    let inverses: Vec<f64> = mass.iter().map(|mass| 1.0 / mass).collect();
    let mut particles = SoftSolve {
        guests: &soft,
        sheet_particles: &sheet_particles,
        sheet_surface: surface.as_ref(),
        inverse_mass: &inverses,
        carried: &[],
        velocity: &mut velocity,
        resistance: None,
    };
    let none = Demands::default();
    let report =
        solve_with_soft(&mut stepper, &model, &mut state, 0.1, &mut rigid, &mut particles, &none, &options)
            .unwrap();
    assert!(report.faces > 10 && report.energy_rise() < 1e-9, "{report:?}");
    let after = total(&state, &velocity, &rigid[0].twist);
    let turned = before.1.iter().zip(&after.1).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    [(after.0 - before.0).norm() / after.2[0], turned / after.2[1]]
}

#[test]
fn a_solve_keeps_momentum_and_with_rays_angular_momentum() {
    let plane = || {
        let disc = disc_triangles(Vector::from([0.32, 0.3]), 0.17, 4).unwrap();
        let elements = disc.elements.iter().flatten().copied().collect();
        let chain: Vec<Vector<2>> =
            (0..9).map(|i| Vector::from([0.2 + 0.05 * f64::from(i), 0.71 + 0.013 * f64::from(i)])).collect();
        let links = (0..8u32).flat_map(|i| [i, i + 1]).collect();
        vec![(disc.points, elements, SolidElement::Triangle), (chain, links, SolidElement::Segment)]
    };
    let space = || {
        let cube = box_tetrahedra([0.17; 3].into(), [0.51; 3].into(), [3; 3], CubeSplit::Five).unwrap();
        let elements = cube.elements.iter().flatten().copied().collect();
        let cloth: Vec<Vector<3>> = (0..16)
            .map(|i| Vector::from([0.2 + 0.1 * f64::from(i % 4), 0.2 + 0.1 * f64::from(i / 4), 0.72]))
            .collect();
        let cell = |i: u32| {
            let a = i % 3 + 4 * (i / 3);
            [a, a + 1, a + 4, a + 1, a + 5, a + 4]
        };
        let triangles = (0..9u32).flat_map(cell).collect();
        vec![(cube.points, elements, SolidElement::Tetrahedron), (cloth, triangles, SolidElement::Triangle)]
    };
    for (what, [linear, angular]) in [
        ("plane", changes::<2>(16, plane(), Weights::Ray)),
        ("space", changes::<3>(9, space(), Weights::Ray)),
    ] {
        assert!(linear < 1e-14, "{what}: momentum {linear:e}");
        assert!(angular < 1e-13, "{what}: angular momentum {angular:e}");
    }
    // By area it is not the same line (spec/fluid-structure.md 3.4.4).
    let [linear, angular] = changes::<2>(16, plane(), Weights::Area);
    assert!(linear < 1e-14 && angular > 1e-6, "{linear:e} {angular:e}");
}

/// FS-24: a cell that bodies shut in is told, with viscosity (where it has no pressure) and without.
#[test]
fn a_cell_that_bodies_shut_in_is_told() {
    for viscosity in [0.0, 0.1] {
        let h = 0.125;
        let grid = Grid::new(Vector::zeros(), Vector::repeat(h), [8, 8]).unwrap();
        let domain = Domain::new(grid, [[Side::wall(), Side::wall()], [Side::wall(), Side::open()]]).unwrap();
        let mut model = FluidModel::new(domain, Liquid { viscosity, ..Liquid::new("fluid", 1.0) });
        model.gravity = Vector::from([0.0, -1.0]);
        let mut state = FluidState::at_rest(&model);
        let mut stepper = FluidStepper::new(&model).unwrap();
        let form = Arc::new(Shape::cuboid(Vector::repeat(0.49 * h)).unwrap());
        let guest = |[x, y]: [f64; 2]| {
            let frame = Frame { position: Vector::from([x * h, y * h]), ..Frame::identity() };
            Guest { form: form.clone(), placement: Placement::at_rest(frame), slip: false }
        };
        let places = [[2.5, 3.5], [4.5, 3.5], [3.5, 2.5], [3.5, 4.5]];
        stepper.set_guests(places.map(guest).to_vec());
        stepper.push(&model, &mut state, 0.1).unwrap();
        let mass = SolidMass::<2>::new(0.03, &Dim::<2>::inertia_from_principal(&[1e-4]));
        let mut solids = vec![Immersed::new(Some(mass), Twist::zero()); 4];
        let options = CouplingOptions::default();
        let report =
            super::solve_coupled(&mut stepper, &model, &mut state, 0.1, &mut solids, &options).unwrap();
        assert_eq!(report.shut_cells, 1, "viscosity {viscosity}: {report:?}");
        assert!(report.energy_rise() < 1e-9);
    }
}
