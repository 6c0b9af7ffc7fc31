//! The selectable forms of the coupled system agree, and what they share holds in each (spec/fluid-structure.md FS-3 to FS-5, FS-8 to FS-11, FS-19, FS-20, FS-25, FS-32, FS-34; FS-T1,
//! FS-T2, FS-T4, FS-T14).

use splashdown_couple::fluid_structure::{
    CoupledParts, CouplingForm, CouplingOptions, FaceMass, Formed, Immersed, SolidMass, Tangential, Viscous,
    form_system, solve_coupled,
};
use splashdown_fluid::{
    Domain, FluidError, FluidModel, FluidState, FluidStepper, Guest, Liquid, Placement, Side, SolidBoundary,
};
use splashdown_geometry::grid::Grid;
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Dim, Frame, Space, Twist, Vector};
use splashdown_solve::testing::{TestNumbers, dense_kkt, symmetric_eigenvalues};
use splashdown_solve::{CsrMatrix, Stopping};
use std::sync::Arc;

const REFERENCES: [CouplingForm; 3] = [CouplingForm::Impulses, CouplingForm::Kkt, CouplingForm::Lumped];

struct Scene<const D: usize>
where
    Dim<D>: Space<D>,
{
    model: FluidModel<D>,
    state: FluidState<D>,
    stepper: FluidStepper<D>,
    solids: Vec<Immersed<D>>,
}

/// Three bodies in a box, one of them moved as told, everything in motion.
fn scene<const D: usize>(cells: [usize; D], viscosity: f64, open: bool, boundary: SolidBoundary) -> Scene<D>
where
    Dim<D>: Space<D>,
{
    let mut sides = [[Side::wall(); 2]; D];
    if open {
        sides[1][1] = Side::open();
    }
    let grid = Grid::new(Vector::zeros(), Vector::repeat(1.0 / cells[0] as f64), cells).unwrap();
    let domain = Domain::new(grid, sides).unwrap();
    let mut model = FluidModel::new(domain, Liquid { viscosity, ..Liquid::new("fluid", 2.0) });
    model.options.solid_boundary = boundary;
    model.options.pressure.divergence = 1e-13;
    model.options.pressure.relative = 1e-13;
    model.options.pressure.max_iterations = 2000;
    let mut random = TestNumbers::new(11);
    let mut state = FluidState::at_rest(&model);
    for axis in 0..D {
        state
            .velocity
            .component_mut(axis)
            .values_mut()
            .iter_mut()
            .for_each(|u| *u = random.uniform(-1.0, 1.0));
    }
    let mut stepper = FluidStepper::new(&model).unwrap();
    let (mut guests, mut solids) = (Vec::new(), Vec::new());
    let bodies = [(0.28, 0.28, 0.17, Some(0.7)), (0.72, 0.7, 0.14, Some(1e-3)), (0.75, 0.2, 0.1, None)];
    for (x, y, radius, mass) in bodies {
        let position = Vector::from_fn(|axis, _| if axis == 0 { x } else { y });
        let form = Arc::new(Shape::ball(radius).unwrap());
        let frame = Frame { position, ..Frame::identity() };
        guests.push(Guest { form, placement: Placement::at_rest(frame), slip: false });
        let mass = mass.map(|mass: f64| {
            let moments = vec![0.4 * mass * radius * radius; <Dim<D> as Space<D>>::SPIN];
            SolidMass::new(mass, &Dim::<D>::inertia_from_principal(&moments))
        });
        // Moving as told in a closed box, it must not change the volume: rigid motions do not.
        let mut flat = [0.0; 6];
        flat[..Twist::<D>::LEN].iter_mut().for_each(|v| *v = random.uniform(-0.5, 0.5));
        solids.push(Immersed::new(mass, Twist::read(&flat)));
    }
    stepper.set_guests(guests);
    stepper.push(&model, &mut state, 1.0).unwrap();
    Scene { model, state, stepper, solids }
}

/// Velocities of all faces next to fluid and of the bodies after a solve in this form.
fn solved<const D: usize>(
    cells: [usize; D],
    viscosity: f64,
    open: bool,
    boundary: SolidBoundary,
    options: CouplingOptions,
) -> Result<Vec<f64>, FluidError>
where
    Dim<D>: Space<D>,
{
    let Scene { model, mut state, mut stepper, mut solids } = scene::<D>(cells, viscosity, open, boundary);
    solve_coupled(&mut stepper, &model, &mut state, 0.1, &mut solids, &options)?;
    let problem = stepper.problem(&model);
    let mut all = Vec::new();
    for axis in 0..D {
        let component = state.velocity.component(axis);
        for face in component.lattice().indices() {
            if problem.is_unknown(axis, face) || problem.walls.is_closed(axis, face) {
                all.push(component.at(face));
            }
        }
    }
    for solid in &solids {
        let mut flat = [0.0; 6];
        solid.twist.write(&mut flat);
        all.extend(&flat[..Twist::<D>::LEN]);
    }
    // With fluid that sticks on its own side, cells whose faces are all held have no pressure.
    let left = problem.largest_divergence(&state.velocity) * 0.1;
    assert!(left < 1e-9 || viscosity > 0.0, "{:?}: |div u| dt {left:e}", options.form);
    Ok(all)
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let size = b.iter().fold(0.0f64, |m, u| m.max(u.abs()));
    a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs())) / size
}

/// FS-19, FS-20, FS-23; FS-T2, FS-T14: the same velocities from pressures alone, from impulses, from impulses and velocities, and from the lumped form of 2008 with its consistent mass.
#[test]
fn all_selectable_forms_have_the_same_solution() {
    let options = |mass, form| CouplingOptions {
        mass,
        tangential: Tangential::FluidSide,
        form,
        ..CouplingOptions::default()
    };
    for mass in [FaceMass::Fraction, FaceMass::Full] {
        for open in [true, false] {
            for boundary in [SolidBoundary::Voxels, SolidBoundary::CutCells] {
                let of = |form| solved([10, 11], 0.0, open, boundary, options(mass, form)).unwrap();
                let ours = of(CouplingForm::Pressure);
                for form in REFERENCES {
                    let off = difference(&of(form), &ours);
                    assert!(off < 1e-9, "{form:?}, {mass:?}, open {open}, {boundary:?}: {off:e}");
                }
            }
            // With viscosity in the solve; the lumped forms have it before. With cut cells faces that are all but closed leave MINRES with a residual of 1e-10, and cells whose
            // faces different solids hold make the system of a closed box all but singular, so these are the default's.
            let both = &[CouplingForm::Impulses, CouplingForm::Kkt][..];
            let cases = [
                (SolidBoundary::Voxels, Tangential::FluidSide, both),
                (SolidBoundary::CutCells, Tangential::SolidSide, &both[..1]),
            ];
            for (boundary, tangential, forms) in cases {
                let of = |form| {
                    let options = CouplingOptions { tangential, ..options(mass, form) };
                    solved([10, 11], 0.3, open, boundary, options).unwrap()
                };
                let ours = of(CouplingForm::Pressure);
                for &form in forms {
                    let off = difference(&of(form), &ours);
                    assert!(off < 1e-8, "{form:?}, viscous, {mass:?}, open {open}, {boundary:?}: {off:e}");
                }
            }
        }
    }
    // Next to no viscosity is none, also where cut cells close faces in part.
    for boundary in [SolidBoundary::Voxels, SolidBoundary::CutCells] {
        let options = CouplingOptions::default();
        let of = |viscosity| solved([10, 11], viscosity, true, boundary, options).unwrap();
        let off = difference(&of(1e-9), &of(0.0));
        assert!(off < 1e-6, "{boundary:?}: {off:e}");
    }
    let of = |form| {
        solved([8, 9, 8], 0.0, true, SolidBoundary::Voxels, options(FaceMass::Fraction, form)).unwrap()
    };
    let ours = of(CouplingForm::Pressure);
    for form in REFERENCES {
        let off = difference(&of(form), &ours);
        assert!(off < 1e-9, "{form:?}, in space: {off:e}");
    }
}

/// FS-4, FS-11; FS-T14: lumping on a common centre with a mass for each axis is wrong by a cell: the velocity of a body that is let go differs from the consistent one by O(dx).
#[test]
fn diagonal_lumping_differs_by_the_order_of_a_cell() {
    let speed = |n: usize, form| {
        let grid = Grid::new(Vector::zeros(), Vector::repeat(1.0 / n as f64), [n, n]).unwrap();
        let domain = Domain::new(grid, [[Side::wall(); 2], [Side::wall(), Side::open()]]).unwrap();
        let mut model = FluidModel::new(domain, Liquid::new("fluid", 1.0));
        model.gravity = Vector::from([0.0, -1.0]);
        let mut state = FluidState::at_rest(&model);
        let mut stepper = FluidStepper::new(&model).unwrap();
        // A tilted bar beside the middle turns as it falls.
        let rotation = Dim::<2>::exp(&[0.5].into());
        let frame = Frame { position: Vector::from([0.43, 0.52]), rotation };
        let form_of = Arc::new(Shape::cuboid(Vector::from([0.22, 0.09])).unwrap());
        stepper.set_guests(vec![Guest { form: form_of, placement: Placement::at_rest(frame), slip: true }]);
        stepper.push(&model, &mut state, 0.1).unwrap();
        let mass = 2.0 * 0.44 * 0.18;
        let inertia = Dim::<2>::inertia_from_principal(&[mass * (0.44f64.powi(2) + 0.18f64.powi(2)) / 12.0]);
        let twist = Twist { linear: model.gravity * 0.1, ..Twist::zero() };
        let mut solids = vec![Immersed::new(Some(SolidMass::new(mass, &inertia)), twist)];
        let options = CouplingOptions { form, ..CouplingOptions::default() };
        solve_coupled(&mut stepper, &model, &mut state, 0.1, &mut solids, &options).unwrap();
        solids[0].twist
    };
    for n in [16, 32, 64] {
        let (exact, lumped) = (speed(n, CouplingForm::Lumped), speed(n, CouplingForm::LumpedDiagonal));
        let off = (lumped.linear - exact.linear).norm() / exact.linear.norm();
        assert!(off < 1.0 / n as f64, "{n}: {off:e}");
        assert!(off > 0.0, "the two must not be the same thing");
    }
}

/// A system of a scene, its velocities before, and the pressures that nothing feels.
fn formed<const D: usize>(cells: [usize; D], viscosity: f64, open: bool) -> Formed<D>
where
    Dim<D>: Space<D>,
{
    let Scene { model, mut state, mut stepper, solids } =
        scene::<D>(cells, viscosity, open, SolidBoundary::Voxels);
    let viscous = (viscosity > 0.0).then_some(Viscous { viscosity, dt: 0.1 });
    let options = CouplingOptions { tangential: Tangential::FluidSide, ..CouplingOptions::default() };
    form_system(&mut stepper, &model, &mut state, 0.1, &solids, &options, viscous).unwrap()
}

fn stopping() -> Stopping {
    Stopping { max_iterations: 20_000, patience: 20_000, ..Stopping::relative(1e-14) }
}

/// FS-T1: the positive definite matrix is symmetric and definite, has the solution of the dense indefinite one, and the kinetic energy lost is what its quadratic form says.
#[test]
fn the_definite_form_is_definite_and_has_the_solution_of_the_dense_reference() {
    for viscosity in [0.0, 0.3] {
        let Formed { mut parts, faces, solids, .. } = formed([7, 8], viscosity, true);
        // A damper between the two bodies that can move.
        parts.damping =
            CsrMatrix::from_rows(parts.solids(), [vec![(0, 0.4), (3, -0.4)], vec![(2, 0.1), (5, -0.1)]])
                .unwrap();
        let start = [&faces[..], &solids[..]].concat();
        parts
            .with_definite(|system| {
                let matrix = system.assemble()?;
                assert!(matrix.asymmetry() < 1e-13, "{}", matrix.asymmetry());
                let values = symmetric_eigenvalues(&matrix.to_dense(), matrix.rows())?;
                let largest = values.iter().fold(0.0f64, |m, v| m.max(*v));
                let least = values.iter().fold(f64::INFINITY, |m, v| m.min(*v));
                // Cells all of whose faces stick to solids leave null vectors, never negative ones.
                assert!(
                    least > if viscosity > 0.0 { -1e-13 } else { 1e-6 } * largest,
                    "{least:e} {largest:e}"
                );
                let reference = dense_kkt(system, &start)?;
                assert!(reference.negative_eigenvalues > 0, "the reference is indefinite");
                let mut velocity = start.clone();
                system.apply_impulses(&reference.z, &mut velocity)?;
                assert!(difference(&velocity, &reference.velocity) < 1e-11);
                let balance = system.energy_balance(&start, &velocity, &reference.z)?;
                let change = balance.kinetic_after - balance.kinetic_before;
                let expected = balance.work - balance.dissipated;
                assert!((change - expected).abs() < 1e-11 * balance.kinetic_before, "{change} {expected}");
                Ok(())
            })
            .unwrap();
    }
}

/// FS-25, FS-34: a velocity through the surface of the bodies, `W (u - J v) = s`: every form has the same answer, and it holds.
#[test]
fn fluid_can_pass_the_surface_of_a_body_at_a_given_speed() {
    let Formed { mut parts, faces, solids, null_space, .. } = formed([10, 11], 0.0, true);
    let mut random = TestNumbers::new(5);
    parts.source = random.vector(parts.source.len());
    let of = |form| parts.solve(form, &faces, &solids, &null_space, stopping()).unwrap();
    let lumped = of(CouplingForm::Lumped);
    for form in [CouplingForm::Impulses, CouplingForm::Kkt] {
        let other = of(form);
        assert!(difference(&other.faces, &lumped.faces) < 1e-9, "{form:?}");
        assert!(difference(&other.solids, &lumped.solids) < 1e-9, "{form:?}");
        let mut carried = vec![0.0; parts.source.len()];
        parts.sampling.multiply(&other.solids, &mut carried);
        for ((u, carried), source) in other.faces[parts.free..].iter().zip(&carried).zip(&parts.source) {
            assert!((u - carried - source).abs() < 1e-9, "{form:?}: {u} {carried} {source}");
        }
        let mut flux = parts.known_flux.clone();
        let mut out = vec![0.0; flux.len()];
        parts.divergence.multiply(&other.faces, &mut out);
        flux.iter_mut().zip(&out).for_each(|(flux, out)| *flux += out);
        assert!(flux.iter().all(|flux| flux.abs() < 1e-10));
    }
}

/// FS-8, FS-10: damping of the solids in the solve, with its factor or, in the lumped form only, as it is; a damping that has no factor is refused elsewhere.
#[test]
fn damping_acts_with_and_without_its_factor() {
    let Formed { mut parts, faces, solids, null_space, .. } = formed([10, 11], 0.0, true);
    let mut random = TestNumbers::new(9);
    // Three dampers on the two bodies that can move.
    let rows: Vec<Vec<(usize, f64)>> =
        (0..3).map(|_| (0..6).map(|scalar| (scalar, random.uniform(-0.3, 0.3))).collect()).collect();
    let undamped = parts.solve(CouplingForm::Lumped, &faces, &solids, &null_space, stopping()).unwrap();
    parts.damping = CsrMatrix::from_rows(parts.solids(), rows).unwrap();
    let of = |parts: &CoupledParts, form| parts.solve(form, &faces, &solids, &null_space, stopping());
    let damped = of(&parts, CouplingForm::Lumped).unwrap();
    assert!(difference(&damped.solids, &undamped.solids) > 1e-3, "damping must do something");
    for form in [CouplingForm::Impulses, CouplingForm::Kkt] {
        let other = of(&parts, form).unwrap();
        assert!(difference(&other.solids, &damped.solids) < 1e-9, "{form:?}");
    }
    let mut plain = parts.clone();
    plain.unfactored = Some(parts.damping.transpose().product(&parts.damping).unwrap());
    plain.damping = CsrMatrix::zeros(0, parts.solids());
    let other = of(&plain, CouplingForm::Lumped).unwrap();
    assert!(difference(&other.solids, &damped.solids) < 1e-10);
    assert!(of(&plain, CouplingForm::Impulses).is_err());
}

/// FS-33: what joints and contact demand of the bodies holds in every form, with the same velocities.
#[test]
fn demands_on_the_bodies_hold_in_every_form() {
    let Formed { mut parts, faces, solids, null_space, .. } = formed([10, 11], 0.0, true);
    // Two bodies at the same height that do not turn against each other.
    let rows = [vec![(1, 1.0), (4, -1.0)], vec![(2, 1.0), (5, -1.0)]];
    parts.demands = CsrMatrix::from_rows(parts.solids(), rows).unwrap();
    parts.demanded = vec![0.1, -0.2];
    let of = |form| parts.solve(form, &faces, &solids, &null_space, stopping()).unwrap();
    let lumped = of(CouplingForm::Lumped);
    for form in REFERENCES {
        let other = of(form);
        assert!(difference(&other.solids, &lumped.solids) < 1e-9, "{form:?}");
        assert!(difference(&other.faces, &lumped.faces) < 1e-9, "{form:?}");
        let mut kept = vec![0.0; 2];
        parts.demands.multiply(&other.solids, &mut kept);
        assert!(difference(&kept, &parts.demanded) < 1e-9, "{form:?}: {kept:?}");
    }
}

/// FS-32: the solve finds the least of kinetic energy of the change and half of what viscosity and damping take: `|V - V*|^2_M / 2 + |N u + n|^2 / 2 + |C v|^2 / 2` over velocities that
/// meet the constraints. Steps that keep them only raise it; the multipliers minimise the dual.
#[test]
fn the_solution_minimises_energy_and_half_the_work_of_friction() {
    let Formed { mut parts, faces, solids, null_space, .. } = formed([9, 9], 0.2, true);
    parts.damping = CsrMatrix::from_rows(parts.solids(), [vec![(0, 0.5), (3, -0.5)]]).unwrap();
    let solution = parts.solve(CouplingForm::Impulses, &faces, &solids, &null_space, stopping()).unwrap();
    let start = [&faces[..], &solids[..]].concat();
    let found = [&solution.faces[..], &solution.solids[..]].concat();
    let energy = |velocity: &[f64]| {
        let (u, v) = velocity.split_at(faces.len());
        let change: Vec<f64> = velocity.iter().zip(&start).map(|(a, b)| a - b).collect();
        let mut sum = 0.0;
        sum += parts.face_mass.iter().zip(&change).map(|(m, c)| 0.5 * m * c * c).sum::<f64>();
        for (body, mass) in parts.bodies.iter().enumerate() {
            let Some(mass) = mass else { continue };
            let c = &change[faces.len() + 3 * body..faces.len() + 3 * body + 3];
            sum += (0..9).map(|k| 0.5 * mass[k] * c[k / 3] * c[k % 3]).sum::<f64>();
        }
        let mut rows = vec![0.0; parts.strain.rows()];
        parts.strain.multiply(u, &mut rows);
        sum += rows.iter().zip(&parts.known_strain).map(|(a, b)| 0.5 * (a + b) * (a + b)).sum::<f64>();
        let mut rows = vec![0.0; parts.damping.rows()];
        parts.damping.multiply(v, &mut rows);
        sum + rows.iter().map(|a| 0.5 * a * a).sum::<f64>()
    };
    // Directions that keep the constraints: random ones, projected by the inviscid system without anything given.
    let mut free = parts.clone();
    free.known_flux.fill(0.0);
    free.strain = CsrMatrix::zeros(0, faces.len());
    free.known_strain.clear();
    free.damping = CsrMatrix::zeros(0, parts.solids());
    let mut random = TestNumbers::new(3);
    let least = energy(&found);
    for _ in 0..10 {
        let (u, mut v) = (random.vector(faces.len()), random.vector(solids.len()));
        // The body that moves as told has no say.
        v[6..].fill(0.0);
        let way = free.solve(CouplingForm::Lumped, &u, &v, &null_space, stopping()).unwrap();
        let way = [&way.faces[..], &way.solids[..]].concat();
        let at = |step: f64| energy(&found.iter().zip(&way).map(|(a, b)| a + step * b).collect::<Vec<_>>());
        let [up, down] = [at(1e-3), at(-1e-3)];
        assert!(up > least && down > least, "{up} {down} {least}");
        // The slope vanishes: what is left is the curvature.
        assert!(
            (up - down).abs() < 1e-6 * (up + down - 2.0 * least),
            "{:e} {:e}",
            up - down,
            up + down - 2.0 * least
        );
    }
    // The dual: E(z) = |V* - M^-1 K^T z|^2 / 2 + |P z|^2 / 2 + c z.
    parts
        .with_definite(|system| {
            let reference = dense_kkt(system, &start)?;
            let dual = |z: &[f64]| {
                let mut velocity = start.clone();
                system.apply_impulses(z, &mut velocity)?;
                let kinetic = system.inverse_mass().mass().kinetic_energy(&velocity);
                let loss: f64 = system.compliance().iter().zip(z).map(|(e, z)| 0.5 * e * z * z).sum();
                let work: f64 = system.target().iter().zip(z).map(|(c, z)| c * z).sum();
                Ok::<f64, splashdown_solve::SolveError>(kinetic + loss + work)
            };
            // What is told has no finite energy; it stays the same in all of these.
            let least = dual(&reference.z)?;
            for _ in 0..10 {
                let other: Vec<f64> =
                    reference.z.iter().map(|z| z + 1e-2 * random.uniform(-1.0, 1.0)).collect();
                assert!(dual(&other)? > least);
            }
            Ok(())
        })
        .unwrap();
}

/// Who moves with the faces around a block of cells, or along a line of faces.
enum Solid {
    Rigid,
    /// A body of particles, one a face, around cells without fluid.
    Soft,
    /// Particles on a line of faces that ends in the fluid.
    Sheet,
    /// Particles on the faces around cells with fluid.
    Membrane,
}

/// A closed box of 6 x 6 cells with one solid, by hand.
fn closed_box(solid: &Solid) -> CoupledParts {
    let n = 6usize;
    let block = |x: usize, y: usize| (2..4).contains(&x) && (2..4).contains(&y);
    let dry = matches!(solid, Solid::Rigid | Solid::Soft);
    let cells: Vec<(usize, usize)> =
        (0..n * n).map(|i| (i % n, i / n)).filter(|&(x, y)| !(dry && block(x, y))).collect();
    let number = |x: usize, y: usize| cells.iter().position(|&cell| cell == (x, y));
    let (mut free, mut coupling) = (Vec::new(), Vec::new());
    for axis in 0..2 {
        for y in 0..n {
            for x in 0..n {
                // The face between a cell and the one above it along the axis.
                let (i, j) = if axis == 0 { (x + 1, y) } else { (x, y + 1) };
                if i == n || j == n {
                    continue;
                }
                let sides = [number(x, y), number(i, j)];
                if sides == [None, None] {
                    continue;
                }
                let closed = match solid {
                    Solid::Sheet => axis == 0 && x == 2 && y > 1,
                    _ => block(x, y) != block(i, j),
                };
                if closed { coupling.push((axis, x, y, sides)) } else { free.push((axis, x, y, sides)) }
            }
        }
    }
    let mut rows = vec![Vec::new(); cells.len()];
    for (face, (.., sides)) in free.iter().chain(&coupling).enumerate() {
        if let Some(below) = sides[0] {
            rows[below].push((face, 1.0));
        }
        if let Some(above) = sides[1] {
            rows[above].push((face, -1.0));
        }
    }
    let rigid = matches!(solid, Solid::Rigid);
    let width = if rigid { 3 } else { coupling.len() };
    let sampling = coupling.iter().enumerate().map(|(index, &(axis, x, y, _))| {
        if !rigid {
            return vec![(index, 1.0)];
        }
        // Arms from the middle of the box, in cells.
        let arm = if axis == 0 { -(y as f64 + 0.5 - 3.0) } else { x as f64 + 0.5 - 3.0 };
        vec![(axis, 1.0), (2, arm)]
    });
    let faces = free.len() + coupling.len();
    CoupledParts {
        face_mass: (0..faces).map(|face| 1.0 + 0.1 * (face % 3) as f64).collect(),
        free: free.len(),
        divergence: CsrMatrix::from_rows(faces, rows).unwrap(),
        known_flux: vec![0.0; cells.len()],
        strain: CsrMatrix::zeros(0, faces),
        known_strain: vec![],
        sampling: CsrMatrix::from_rows(width, sampling).unwrap(),
        source: vec![0.0; coupling.len()],
        direct: CsrMatrix::zeros(cells.len(), width),
        scalar_mass: vec![0.7; if rigid { 0 } else { coupling.len() }],
        bodies: if rigid { vec![Some(vec![2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0])] } else { vec![] },
        twist: 3,
        damping: CsrMatrix::zeros(0, width),
        demands: CsrMatrix::zeros(0, width),
        demanded: vec![],
        unfactored: None,
        centred: vec![],
    }
}

/// FS-T4: the probe finds as many pressures that nothing feels as the dense matrix has null vectors: one around rigid bodies, open sheets and membranes, none around a body that can be
/// compressed; and none at all where a cell touches a known pressure.
#[test]
fn the_probe_finds_the_null_space_of_the_dense_matrix() {
    let solids = [(Solid::Rigid, 1), (Solid::Sheet, 1), (Solid::Membrane, 1), (Solid::Soft, 0)];
    for (index, (solid, expected)) in solids.iter().enumerate() {
        let parts = closed_box(solid);
        let cells = parts.divergence.rows();
        let probe = parts.null_space(&vec![false; cells]).unwrap();
        assert_eq!(probe.dimension(), *expected, "solid {index}");
        let nullity = parts
            .with_definite(|system| {
                let matrix = system.assemble()?;
                let values = symmetric_eigenvalues(&matrix.to_dense(), matrix.rows())?;
                let largest = values.iter().fold(0.0f64, |m, v| m.max(*v));
                Ok(values.iter().filter(|value| value.abs() < 1e-12 * largest).count())
            })
            .unwrap();
        assert_eq!(nullity, *expected, "solid {index}");
        let mut grounded = vec![false; cells];
        grounded[0] = true;
        let grounded = parts.null_space(&grounded).unwrap().dimension();
        assert_eq!(grounded, 0, "solid {index}");
        // All forms solve it, singular or not.
        let mut random = TestNumbers::new(2);
        let (faces, start) = (random.vector(parts.face_mass.len()), random.vector(parts.solids()));
        let lumped = parts.solve(CouplingForm::Lumped, &faces, &start, &probe, stopping()).unwrap();
        for form in [CouplingForm::Impulses, CouplingForm::Kkt] {
            let other = parts.solve(form, &faces, &start, &probe, stopping()).unwrap();
            let off = difference(&other.faces, &lumped.faces);
            assert!(off < 1e-9, "{form:?}, solid {index}: {off:e}");
        }
    }
}
