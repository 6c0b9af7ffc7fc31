//! Adjointness, exactness and the treatment of closed regions (FB-T1, FB-T2, FB-T3, FB-T8).

use super::*;
use crate::domain::{Domain, Patch, Side};
use crate::obstacle::Obstacle;
use crate::walls::{SolidBoundary, Walls};
use crate::{Cells, classify};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use splashdown_geometry::Aabb;
use splashdown_geometry::grid::{Grid, Location};
use splashdown_geometry::shapes::Shape;
use splashdown_math::Vector;
use splashdown_solve::{CoupledSolver, CoupledSystem, NullSpace, SolverAids};

fn random_velocity<const D: usize>(domain: &Domain<D>, random: &mut Pcg64) -> FaceFields<D> {
    let mut velocity = FaceFields::new(domain.grid(), 0.0);
    for axis in 0..D {
        for value in velocity.component_mut(axis).values_mut() {
            *value = random.random_range(-1.0..1.0);
        }
    }
    domain.fill_velocity_ghosts(&mut velocity);
    velocity
}

struct Scene<const D: usize> {
    domain: Domain<D>,
    walls: Walls<D>,
    cells: Cells<D>,
    phi: Option<Field<D>>,
}

/// All kinds of sides, a solid, and a surface.
fn scene<const D: usize>(n: usize, boundary: SolidBoundary, surface: bool, periodic: bool) -> Scene<D>
where
    Dim<D>: Space<D>,
{
    let h = Vector::from_fn(|a, _| (1.0 + 0.3 * a as f64) / n as f64);
    let grid = Grid::<D>::new(Vector::zeros(), h, [n; D]).unwrap();
    let mut sides = [[Side::slip(); 2]; D];
    sides[0] = [Side::Inflow { velocity: Vector::repeat(0.3) }, Side::Outlet { pressure: 2.0 }];
    sides[1] = if periodic {
        [Side::Periodic; 2]
    } else {
        [Side::wall(), Side::NoSlip { velocity: Vector::repeat(0.1) }]
    };
    let region = Aabb { min: Vector::repeat(0.3), max: Vector::repeat(0.6) };
    let patches = vec![Patch { axis: 0, upper: true, region, condition: Side::wall() }];
    let domain = Domain::with_patches(grid, sides, patches).unwrap();
    let obstacle =
        Obstacle::fixed("ball", Shape::ball(0.23).unwrap().translated(Vector::repeat(0.47)).unwrap());
    let walls = Walls::new(&domain, std::slice::from_ref(&obstacle), &[obstacle.placement(0.0)], boundary);
    let phi = surface.then(|| {
        let mut phi = Field::from_fn(&grid, Location::Cell, |x| x[1] - 0.8 - 0.1 * (5.0 * x[0]).sin());
        domain.fill_level_set_ghosts(&mut phi);
        phi
    });
    let cells = classify(&domain, &walls, phi.as_ref());
    Scene { domain, walls, cells, phi }
}

impl<const D: usize> Scene<D>
where
    Dim<D>: Space<D>,
{
    fn problem(&self) -> PressureProblem<'_, D> {
        PressureProblem {
            domain: &self.domain,
            walls: &self.walls,
            cells: &self.cells,
            density: FaceDensity::Uniform(1.7),
            phi: self.phi.as_ref(),
            stair_steps: false,
            known: None,
            expansion: None,
        }
    }
}

/// FB-T1: the rows' transpose is the gradient that the projection applies, and the divergence is the rows; so `<G p, u> = <p, G^T u>`.
fn gradient_is_the_transpose<const D: usize>(boundary: SolidBoundary, surface: bool, periodic: bool)
where
    Dim<D>: Space<D>,
{
    let scene = scene::<D>(7, boundary, surface, periodic);
    let expansion = Field::from_fn(scene.domain.grid(), Location::Cell, |x| x[0] - 0.3);
    let problem = PressureProblem { expansion: Some(&expansion), ..scene.problem() };
    let mut random = Pcg64::seed_from_u64(7);
    let mut velocity = random_velocity(&scene.domain, &mut random);
    scene.walls.impose(&mut velocity);
    let rows = PressureRows::new(&problem, &velocity).unwrap();
    let flat = rows.gather(&velocity);
    // B u - c = -div u.
    let mut divergence = vec![0.0; rows.cells().len()];
    rows.matrix().multiply(&flat, &mut divergence);
    let mut target = vec![0.0; rows.cells().len()];
    splashdown_solve::Block::target(&rows.block(flat.len()).unwrap(), &mut target);
    for (row, cell) in rows.cells().indices().enumerate() {
        let expected = -problem.divergence(&velocity, cell);
        assert!((divergence[row] - target[row] - expected).abs() < 1e-13, "{cell:?}");
    }
    // u - (u - M^-1 B^T p) of the operator = M^-1 B^T p of the rows.
    let impulse: Vec<f64> =
        (0..scene.domain.grid().cell_count()).map(|_| random.random_range(-1.0..1.0)).collect();
    let counts = scene.domain.grid().cells();
    let by_row: Vec<f64> = rows.cells().indices().map(|cell| impulse[dense(counts, cell)]).collect();
    let mut push = vec![0.0; flat.len()];
    rows.matrix().add_transpose_multiply(&by_row, &mut push);
    let mut after = velocity.clone();
    problem.apply_gradient(&impulse, &mut after);
    let moved = rows.gather(&after);
    for face in 0..flat.len() {
        let expected = flat[face] - push[face] * rows.inverse_masses()[face];
        // Divided by small masses, so compare relative to the change.
        assert!((moved[face] - expected).abs() < 1e-13 * (1.0 + (flat[face] - expected).abs()));
    }
}

#[test]
fn the_gradient_is_minus_the_transposed_divergence() {
    for boundary in [SolidBoundary::Voxels, SolidBoundary::CutCells] {
        for surface in [false, true] {
            for periodic in [false, true] {
                gradient_is_the_transpose::<2>(boundary, surface, periodic);
                gradient_is_the_transpose::<3>(boundary, surface, periodic);
            }
        }
    }
}

/// FB-T8 and the equality of the two ways to solve: the projection, and one block of the coupled system.
fn projection_matches_the_coupled_system<const D: usize>(
    boundary: SolidBoundary,
    surface: bool,
    periodic: bool,
) where
    Dim<D>: Space<D>,
{
    let scene = scene::<D>(10, boundary, surface, periodic);
    let problem = scene.problem();
    let mut random = Pcg64::seed_from_u64(3);
    let mut velocity = random_velocity(&scene.domain, &mut random);
    let dt = 0.01;
    let mut reference = velocity.clone();
    scene.walls.impose(&mut reference);
    problem.apply_known(&mut reference, dt);

    let mut pressure = Field::new(scene.domain.grid(), Location::Cell, 0.0);
    let tolerance =
        PressureTolerance { divergence: 1e-13, relative: 1e-12, max_iterations: 500, ..Default::default() };
    let report =
        Projection::default().project(&problem, &mut velocity, &mut pressure, dt, &tolerance).unwrap();
    assert!(report.closed_regions == 0 && report.iterations > 0);
    assert!(problem.largest_divergence(&velocity) * dt < 2e-13);

    let rows = PressureRows::new(&problem, &reference).unwrap();
    let inverse_mass = rows.inverse_mass().unwrap();
    let mut system = CoupledSystem::new(&inverse_mass);
    let mut flat = rows.gather(&reference);
    system.push(rows.block(flat.len()).unwrap()).unwrap();
    let mut solver = CoupledSolver::default();
    solver.options.stopping.relative = 1e-12;
    let solved = solver.solve(&system, &mut flat, SolverAids::default()).unwrap();
    assert!(solved.converged());
    let projected = rows.gather(&velocity);
    for face in 0..flat.len() {
        assert!((projected[face] - flat[face]).abs() < 1e-8, "{} {}", projected[face], flat[face]);
    }
}

#[test]
fn projection_and_coupled_system_agree() {
    for (surface, periodic) in [(false, false), (true, false), (true, true)] {
        projection_matches_the_coupled_system::<2>(SolidBoundary::Voxels, surface, periodic);
        projection_matches_the_coupled_system::<3>(SolidBoundary::CutCells, surface, periodic);
    }
}

/// A closed box, divided in two, with a cell of its own, and a wall that pushes: the net flux goes to the walls of the region that has it.
#[test]
fn closed_regions_get_compatible_walls() {
    for periodic in [false, true] {
        let grid = Grid::<2>::new(Vector::zeros(), Vector::repeat(0.1), [12, 10]).unwrap();
        let push = Side::Slip { velocity: Vector::from([0.5, 0.0]) };
        let vertical = if periodic { [Side::Periodic; 2] } else { [Side::wall(); 2] };
        let domain = Domain::new(grid, [[push, Side::wall()], vertical]).unwrap();
        let half = |x: f64, y: f64, at: [f64; 2]| {
            Shape::cuboid(Vector::from([x, y])).unwrap().translated(Vector::from(at)).unwrap()
        };
        // A wall right across, and a box that shuts one cell in.
        let cross = Obstacle::fixed("cross", half(0.06, 1.0, [0.5, 0.5]));
        let cell = half(0.14, 0.14, [0.95, 0.55]).difference(half(0.04, 0.04, [0.95, 0.55]));
        let cell = Obstacle::fixed("cell", cell);
        let obstacles = [cross, cell];
        let placements = obstacles.each_ref().map(|o| o.placement(0.0));
        let walls = Walls::new(&domain, &obstacles, &placements, SolidBoundary::Voxels);
        assert!(!walls.is_solid([9, 5]) && walls.is_solid([9, 6]));
        let cells = classify(&domain, &walls, None);
        let problem = PressureProblem {
            domain: &domain,
            walls: &walls,
            cells: &cells,
            density: FaceDensity::Uniform(1.0),
            phi: None,
            stair_steps: false,
            known: None,
            expansion: None,
        };
        let mut velocity = random_velocity(&domain, &mut Pcg64::seed_from_u64(5));
        let mut pressure = Field::new(&grid, Location::Cell, 0.0);
        let tolerance = PressureTolerance { divergence: 1e-10, ..Default::default() };
        let report =
            Projection::default().project(&problem, &mut velocity, &mut pressure, 0.1, &tolerance).unwrap();
        assert_eq!(report.closed_regions, 3);
        assert!((report.net_flux - 0.5).abs() < 1e-12, "{report:?}");
        assert!(problem.largest_divergence(&velocity) * 0.1 <= 1e-10, "{report:?}");
        // The right part has no net flux, so its walls stay at rest.
        assert!(velocity.component(0).at([12, 5]).abs() < 1e-12);
    }
}

/// FB-T3: the second-order surface on a flower, with values of the spec.
#[test]
fn the_flower_converges_with_second_order() {
    let mut errors = Vec::new();
    for n in [32usize, 64, 128] {
        let h = 2.0 / n as f64;
        let grid = Grid::<2>::new(Vector::repeat(-1.0), Vector::repeat(h), [n, n]).unwrap();
        let domain = Domain::new(grid, [[Side::wall(); 2]; 2]).unwrap();
        let flower = |x: &Vector<2>| {
            let angle = x[1].atan2(x[0]);
            x.norm() - 0.6 - 0.1 * (5.0 * angle).sin()
        };
        let exact = |x: &Vector<2>| x[0].exp() * (2.0 * x[1]).cos() + x[0] * x[1];
        let source = |x: &Vector<2>| 3.0 * x[0].exp() * (2.0 * x[1]).cos();
        let phi = Field::from_fn(&grid, Location::Cell, flower);
        let walls = Walls::new(&domain, &[], &[], SolidBoundary::Voxels);
        let cells = classify(&domain, &walls, Some(&phi));
        let problem = PressureProblem {
            domain: &domain,
            walls: &walls,
            cells: &cells,
            density: FaceDensity::Uniform(1.0),
            phi: Some(&phi),
            stair_steps: false,
            known: None,
            expansion: None,
        };
        let (system, _) = assemble(&problem).unwrap();
        assert!(system.assemble().unwrap().0.is_symmetric(0.0));
        // -lap p = source, the exact value where the surface crosses the links.
        let mut rhs = vec![0.0; n * n];
        fill_dense([n, n], &mut rhs, |cell| {
            let x = grid.cell_centre(cell);
            let mut value = source(&x) * h * h;
            for axis in 0..2 {
                for step in [-1isize, 1] {
                    let (mut other, mut face) = (cell, cell);
                    other[axis] += step;
                    face[axis] += (step + 1) / 2;
                    if cells.at(cell) == CellKind::Fluid && cells.at(other) == CellKind::Air {
                        let mut crossing = x;
                        crossing[axis] += step as f64 * problem.theta(axis, face) * h;
                        value += problem.conductance(axis, face) * exact(&crossing);
                    }
                }
            }
            value
        });
        let mut p = vec![0.0; n * n];
        let options = PoissonOptions { relative_tolerance: 1e-12, max_iterations: 200 };
        assert!(PoissonSolver::new(&system, &Default::default()).solve(&rhs, &mut p, &options).converged);
        let error = cells.reduce(
            0.0,
            |cell, kind| match kind {
                CellKind::Fluid => (p[dense([n, n], cell)] - exact(&grid.cell_centre(cell))).abs(),
                _ => 0.0,
            },
            f64::max,
        );
        errors.push(error);
    }
    for (error, measured) in errors.iter().zip([1.66e-3, 4.2e-4, 1.15e-4]) {
        assert!(*error < 1.15 * measured, "{errors:?}");
    }
    assert!((errors[0] / errors[2]).log2() / 2.0 > 1.8, "{errors:?}");
}

/// The null space that the coupled system needs is one constant a closed region.
#[test]
fn closed_rows_have_the_constants_as_null_space() {
    let grid = Grid::<2>::new(Vector::zeros(), Vector::repeat(0.1), [6, 5]).unwrap();
    let domain = Domain::new(grid, [[Side::wall(); 2]; 2]).unwrap();
    let walls = Walls::new(&domain, &[], &[], SolidBoundary::Voxels);
    let cells = classify(&domain, &walls, None);
    let problem = PressureProblem {
        domain: &domain,
        walls: &walls,
        cells: &cells,
        density: FaceDensity::Uniform(1.0),
        phi: None,
        stair_steps: false,
        known: None,
        expansion: None,
    };
    let velocity = FaceFields::new(&grid, 0.0);
    let rows = PressureRows::new(&problem, &velocity).unwrap();
    let ones = vec![1.0; rows.cells().len()];
    let mut push = vec![0.0; rows.faces().len()];
    rows.matrix().add_transpose_multiply(&ones, &mut push);
    assert!(push.iter().all(|v| v.abs() < 1e-15));
    assert_eq!(NullSpace::constants(rows.cells().len()).dimension(), 1);
}

/// A closed shell in a closed box whose one side moves outwards: both regions have a net flux, and share the faces that take it up.
#[test]
fn regions_on_both_sides_of_a_shell_become_compatible_together() {
    let grid = Grid::<2>::new(Vector::zeros(), Vector::repeat(0.1), [24, 24]).unwrap();
    let domain = Domain::new(grid, [[Side::slip(); 2]; 2]).unwrap();
    let mut walls = Walls::new(&domain, &[], &[], SolidBoundary::Voxels);
    for k in 8..14 {
        walls.close_by_shell(0, [8, k], 0.0);
        walls.close_by_shell(0, [14, k], 0.3);
        walls.close_by_shell(1, [k, 8], 0.0);
        walls.close_by_shell(1, [k, 14], 0.0);
    }
    let cells = classify(&domain, &walls, None);
    let problem = PressureProblem {
        domain: &domain,
        walls: &walls,
        cells: &cells,
        density: FaceDensity::Uniform(1.0),
        phi: None,
        stair_steps: false,
        known: None,
        expansion: None,
    };
    let mut velocity = random_velocity(&domain, &mut Pcg64::seed_from_u64(9));
    let mut pressure = Field::new(&grid, Location::Cell, 0.0);
    let tolerance = PressureTolerance { divergence: 1e-11, ..Default::default() };
    let report =
        Projection::default().project(&problem, &mut velocity, &mut pressure, 0.1, &tolerance).unwrap();
    assert_eq!(report.closed_regions, 2);
    assert!((report.net_flux - 0.3 * 0.6).abs() < 1e-12, "{report:?}");
    assert!(problem.largest_divergence(&velocity) * 0.1 <= 1e-11, "{report:?}");
    assert!(report.iterations < 60, "{report:?}");
}

/// More than rounding allows may be asked for, also where the constants are a null vector: the result is then as good as rounding allows.
#[test]
fn unreachable_tolerances_do_no_harm() {
    for ratio in [1.0, 1000.0] {
        let n = 48;
        let weight = |y: f64| if y < 0.4 * n as f64 { 1.0 / ratio } else { 1.0 };
        let along_x = (0..n * n).map(|c| if c % n + 1 < n { weight((c / n) as f64) } else { 0.0 });
        let along_y = (0..n * n).map(|c| if c / n + 1 < n { weight((c / n) as f64 + 0.5) } else { 0.0 });
        let faces = Coupling::Faces([along_x.collect(), along_y.collect()]);
        let problem = PoissonProblem::<2>::new([n, n], vec![true; n * n], faces, vec![0.0; n * n]).unwrap();
        let mut b = vec![0.0; n * n];
        b[..n].fill(-1.0);
        b[n * (n - 1)..].fill(1.0);
        let mut solver = PoissonSolver::new(&problem, &MultigridOptions::default());
        let options = PoissonOptions { relative_tolerance: 1e-17, max_iterations: 300 };
        let report = solver.solve(&b, &mut vec![0.0; n * n], &options);
        assert!(report.relative_residual < 1e-11, "{report:?}");
    }
}

/// One long corridor, folded: the coarse grids of the geometric multigrid join what only its far ends do, the algebraic one follows the connections.
#[test]
fn what_the_geometric_multigrid_cannot_do_the_algebraic_one_does() {
    let n = 64;
    let grid = Grid::<2>::new(Vector::zeros(), Vector::repeat(1.0 / n as f64), [n; 2]).unwrap();
    let mut sides = [[Side::slip(); 2]; 2];
    sides[1][1] = Side::open();
    let domain = Domain::new(grid, sides).unwrap();
    let mut walls = Walls::new(&domain, &[], &[], SolidBoundary::Voxels);
    for face in grid.lattice(Location::Face(1), 0).indices() {
        let end = if face[1] % 2 == 0 { 0 } else { n as isize - 1 };
        if face[1] > 0 && face[0] != end {
            walls.close_by_shell(1, face, 0.0);
        }
    }
    let cells = classify(&domain, &walls, None);
    let scene = Scene { domain, walls, cells, phi: None };
    let mut velocity = random_velocity(&scene.domain, &mut Pcg64::seed_from_u64(8));
    let mut pressure = Field::new(&grid, Location::Cell, 0.0);
    let tolerance =
        PressureTolerance { divergence: 1e-10, relative: 1e-8, max_iterations: 45, ..Default::default() };
    let mut projection = Projection::default();
    let report = projection.project(&scene.problem(), &mut velocity, &mut pressure, 0.1, &tolerance).unwrap();
    assert!(projection.cache.as_ref().unwrap().fallback.is_some(), "{report:?}");
    assert!(report.iterations > tolerance.max_iterations, "{report:?}");
    assert!(0.1 * scene.problem().largest_divergence(&velocity) <= 1e-10, "{report:?}");
    // And again with what it has learnt.
    let mut again = random_velocity(&scene.domain, &mut Pcg64::seed_from_u64(9));
    projection.project(&scene.problem(), &mut again, &mut pressure, 0.1, &tolerance).unwrap();
    assert!(0.1 * scene.problem().largest_divergence(&again) <= 1e-10);
}

/// All preconditioners find the same velocities: closed sides with a null space, a cell that is shut in, a free surface, periodic sides.
#[test]
fn all_solvers_agree() {
    for (surface, periodic, closed) in [(true, false, false), (false, true, false), (false, false, true)] {
        let mut scene = scene::<2>(24, SolidBoundary::Voxels, surface, periodic);
        if closed {
            let grid = *scene.domain.grid();
            scene.domain = Domain::new(grid, [[Side::slip(); 2]; 2]).unwrap();
            scene.walls = Walls::new(&scene.domain, &[], &[], SolidBoundary::Voxels);
            for (axis, face) in [(0, [5, 5]), (0, [6, 5]), (1, [5, 5]), (1, [5, 6])] {
                scene.walls.close_by_shell(axis, face, 0.0);
            }
            scene.cells = classify(&scene.domain, &scene.walls, None);
        }
        let problem = scene.problem();
        let random = random_velocity(&scene.domain, &mut Pcg64::seed_from_u64(5));
        let mut found: Vec<FaceFields<2>> = Vec::new();
        for solver in
            [PressureSolver::Multigrid, PressureSolver::Algebraic, PressureSolver::IncompleteCholesky]
        {
            let mut velocity = random.clone();
            let mut pressure = Field::new(scene.domain.grid(), Location::Cell, 0.0);
            let tolerance =
                PressureTolerance { divergence: 1e-12, relative: 1e-12, solver, ..Default::default() };
            let mut projection = Projection::default();
            let report =
                projection.project(&problem, &mut velocity, &mut pressure, 0.01, &tolerance).unwrap();
            assert!(problem.largest_divergence(&velocity) * 0.01 < 2e-12, "{solver:?}: {report:?}");
            assert!(projection.cache.as_ref().is_some_and(|cached| cached.fallback.is_none()), "{solver:?}");
            assert_eq!(report.closed_regions > 0, closed);
            found.push(velocity);
        }
        for other in &found[1..] {
            for axis in 0..2 {
                let reference = found[0].component(axis);
                let off = other.component(axis).reduce(0.0, |i, u| (u - reference.at(i)).abs(), f64::max);
                assert!(off < 1e-8, "{off}");
            }
        }
    }
}

/// A closed sheet in a box that wraps around: its two sides share all faces that can be changed, so that a constant of their numbers changes none, and rounding must not be followed there.
#[test]
fn regions_that_share_all_their_faces_are_balanced_to_rounding() {
    let mut random = Pcg64::seed_from_u64(58);
    for regions in 2..12 {
        for _ in 0..100 {
            let mut faces: Vec<(usize, Index<2>, [Option<usize>; 2])> = Vec::new();
            for region in 1..regions {
                for _ in 0..random.random_range(1..30) {
                    let other = random.random_range(0..region);
                    let sides =
                        if random.random_range(0..2) == 0 { [region, other] } else { [other, region] };
                    faces.push((random.random_range(0..2), [0, 0], sides.map(Some)));
                }
            }
            let exact: Vec<f64> = (0..regions).map(|_| random.random_range(-1.0..1.0)).collect();
            let area = |axis: usize| [0.07, 0.09][axis];
            let mut net = vec![0.0; regions];
            for (axis, _, sides) in &faces {
                let [a, b] = sides.map(Option::unwrap);
                let flux = area(*axis) * (exact[a] - exact[b]);
                net[a] += flux;
                net[b] -= flux;
            }
            // As sums over many cells leave it.
            net.iter_mut().for_each(|net| *net += random.random_range(-1e-13..1e-13));
            let found = balance(&net, &faces, area);
            for region in 1..regions {
                let error = (found[region] - found[0]) - (exact[region] - exact[0]);
                assert!(error.abs() < 1e-9, "{regions} regions: {found:?} instead of {exact:?}");
            }
        }
    }
}
