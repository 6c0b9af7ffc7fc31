//! Exact channel flows, rigid rotation, and the block form.

use super::*;
use crate::cells::{Cells, classify};
use crate::domain::{Domain, Side};
use crate::pressure::{FaceDensity, PressureRows};
use crate::walls::{SolidBoundary, Walls};
use splashdown_geometry::grid::{Field, Grid, Location};
use splashdown_math::Vector;
use splashdown_solve::{CoupledSolver, CoupledSystem, SolverAids};

struct Scene<const D: usize> {
    domain: Domain<D>,
    walls: Walls<D>,
    cells: Cells<D>,
}

impl<const D: usize> Scene<D>
where
    Dim<D>: Space<D>,
{
    fn new(domain: Domain<D>, phi: Option<&Field<D>>) -> Self {
        let walls = Walls::new(&domain, &[], &[], SolidBoundary::Voxels);
        let cells = classify(&domain, &walls, phi);
        Self { domain, walls, cells }
    }

    fn problem(&self) -> PressureProblem<'_, D> {
        PressureProblem {
            domain: &self.domain,
            walls: &self.walls,
            cells: &self.cells,
            density: FaceDensity::Uniform(2.0),
            phi: None,
            stair_steps: false,
            known: None,
            expansion: None,
        }
    }
}

/// Couette flow is linear, so it is reached exactly; Poiseuille flow is quadratic, and the wall's ghost misses by the constant `g h^2 / 8 nu`.
fn channels<const D: usize>(form: ViscosityForm)
where
    Dim<D>: Space<D>,
{
    let (n, h) = (9usize, 0.1);
    let mut cells = [4; D];
    cells[1] = n;
    let grid = Grid::<D>::new(Vector::zeros(), Vector::repeat(h), cells).unwrap();
    let mut sides = [[Side::Periodic; 2]; D];
    let lid = Vector::from_fn(|a, _| if a == 0 { 1.0 } else { 0.0 });
    let width = n as f64 * h;
    let (mu, rho, g) = (0.7, 2.0, 0.4);
    for (lid_speed, push) in [(1.0, 0.0), (0.0, g)] {
        sides[1] = [Side::wall(), Side::NoSlip { velocity: lid * lid_speed }];
        let scene = Scene::new(Domain::new(grid, sides).unwrap(), None);
        let problem = scene.problem();
        let mut velocity = FaceFields::new(&grid, 0.0);
        let rows = ViscosityRows::new(&problem, &velocity, ViscosityField::Uniform(mu), form).unwrap();
        let mut viscosity = Viscosity::default();
        for _ in 0..12 {
            velocity.component_mut(0).update(|_, u| u + 50.0 * push);
            viscosity.implicit(&problem, &rows, &mut velocity, 50.0, 1e-13).unwrap();
        }
        for index in velocity.component(0).lattice().indices() {
            let y = velocity.component(0).lattice().position(index)[1];
            let nu = mu / rho;
            let exact = lid_speed * y / width + push * (y * (width - y) + h * h / 4.0) / (2.0 * nu);
            let got = velocity.component(0).at(index);
            assert!((got - exact).abs() < 1e-8, "{form:?} {index:?} {got} {exact}");
        }
    }
}

#[test]
fn channel_flows_are_exact() {
    for form in [ViscosityForm::Laplacian, ViscosityForm::Stress] {
        channels::<2>(form);
        channels::<3>(form);
    }
}

/// Two layers of different viscosity between walls, one of which moves: the stress is the same in both, so that the speed is linear in each.
#[test]
fn layers_share_the_shear_stress() {
    let (n, h) = (10usize, 0.1);
    let grid = Grid::<2>::new(Vector::zeros(), Vector::repeat(h), [4, n]).unwrap();
    let lid = Side::NoSlip { velocity: Vector::from([1.0, 0.0]) };
    let scene = Scene::new(Domain::new(grid, [[Side::Periodic; 2], [Side::wall(), lid]]).unwrap(), None);
    let problem = scene.problem();
    let (thick, thin) = (100.0, 0.1);
    let layers = Field::from_fn(&grid, Location::Cell, |x| if x[1] < 0.5 { thick } else { thin });
    let mut velocity = FaceFields::new(&grid, 0.0);
    let field = ViscosityField::Cells(&layers);
    let rows = ViscosityRows::new(&problem, &velocity, field, ViscosityForm::Stress).unwrap();
    let mut viscosity = Viscosity::default();
    for _ in 0..30 {
        viscosity.implicit(&problem, &rows, &mut velocity, 1e3, 1e-13).unwrap();
    }
    let stress = 1.0 / (0.5 / thick + 0.5 / thin);
    for index in velocity.component(0).lattice().indices() {
        let y = velocity.component(0).lattice().position(index)[1];
        let exact = if y < 0.5 { stress * y / thick } else { 1.0 - stress * (1.0 - y) / thin };
        let got = velocity.component(0).at(index);
        assert!((got - exact).abs() < 1e-8, "{index:?} {got} {exact}");
    }
}

/// A drop that turns rigidly has no stress: the full form leaves it alone, the decoupled one brakes it (spec 3.7).
#[test]
fn a_turning_drop_is_braked_by_the_decoupled_form_only() {
    let grid = Grid::<2>::new(Vector::repeat(-1.0), Vector::repeat(0.1), [20, 20]).unwrap();
    let phi = Field::from_fn(&grid, Location::Cell, |x| x.norm() - 0.7);
    let scene = Scene::new(Domain::new(grid, [[Side::slip(); 2]; 2]).unwrap(), Some(&phi));
    let problem = scene.problem();
    let mut start = FaceFields::new(&grid, 0.0);
    for (axis, sign) in [(0, -1.0), (1, 1.0)] {
        let lattice = *start.component(axis).lattice();
        start.component_mut(axis).update(|i, _| sign * lattice.position(i)[1 - axis]);
    }
    let change = |form| {
        let mut velocity = start.clone();
        let rows = ViscosityRows::new(&problem, &velocity, ViscosityField::Uniform(10.0), form).unwrap();
        Viscosity::default().implicit(&problem, &rows, &mut velocity, 1.0, 1e-12).unwrap();
        let difference = |axis: usize| {
            let old = start.component(axis);
            velocity.component(axis).reduce(0.0, |i, v| (v - old.at(i)).abs(), f64::max)
        };
        difference(0).max(difference(1))
    };
    assert!(change(ViscosityForm::Stress) < 1e-9);
    assert!(change(ViscosityForm::Laplacian) > 0.1);
}

/// The implicit step is the one-block coupled system.
#[test]
fn the_block_form_gives_the_same_velocities() {
    let grid = Grid::<3>::new(Vector::zeros(), Vector::from([0.1, 0.12, 0.15]), [6, 5, 4]).unwrap();
    let lid = Side::NoSlip { velocity: Vector::from([0.5, 0.0, -0.2]) };
    let domain =
        Domain::new(grid, [[Side::wall(), Side::open()], [Side::slip(), lid], [Side::Periodic; 2]]).unwrap();
    let scene = Scene::new(domain, None);
    let problem = scene.problem();
    let mu = Field::from_fn(&grid, Location::Cell, |x| 0.1 + x[0] + x[1] * x[1]);
    let mut velocity = FaceFields::new(&grid, 0.0);
    for axis in 0..3 {
        let lattice = *velocity.component(axis).lattice();
        velocity.component_mut(axis).update(|i, _| {
            let x = lattice.position(i);
            (9.0 * x[0]).sin() + (7.0 * x[1]).cos() * (std::f64::consts::TAU * x[2] / 0.6).sin()
        });
    }
    scene.walls.impose(&mut velocity);
    scene.domain.fill_velocity_ghosts(&mut velocity);
    for form in [ViscosityForm::Laplacian, ViscosityForm::Stress] {
        let dt = 0.05;
        let rows = ViscosityRows::new(&problem, &velocity, ViscosityField::Cells(&mu), form).unwrap();
        let pressure = PressureRows::new(&problem, &velocity).unwrap();
        let mut flat = pressure.gather(&velocity);
        let inverse_mass = pressure.inverse_mass().unwrap();
        let mut system = CoupledSystem::new(&inverse_mass);
        system.push(rows.block(flat.len(), dt).unwrap()).unwrap();
        let mut solver = CoupledSolver::default();
        solver.options.stopping.relative = 1e-13;
        assert!(solver.solve(&system, &mut flat, SolverAids::default()).unwrap().converged());
        let mut direct = velocity.clone();
        Viscosity::default().implicit(&problem, &rows, &mut direct, dt, 1e-13).unwrap();
        for (a, b) in pressure.gather(&direct).iter().zip(&flat) {
            assert!((a - b).abs() < 1e-10, "{form:?} {a} {b}");
        }
    }
}
