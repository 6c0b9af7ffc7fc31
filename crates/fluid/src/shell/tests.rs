//! FB-T17 and the predicates behind the leak tests.

use super::*;
use crate::domain::{Domain, Side};
use crate::walls::{SolidBoundary, Walls};
use splashdown_geometry::grid::{Field, Grid, Location};

fn plane() -> (Domain<2>, SurfaceMesh<2>) {
    let grid = Grid::<2>::new(Vector::zeros(), Vector::repeat(0.1), [10, 10]).unwrap();
    let domain = Domain::new(grid, [[Side::slip(); 2]; 2]).unwrap();
    let mesh =
        Mesh { points: vec![Vector::from([0.43, -1.0]), Vector::from([0.57, 2.0])], elements: vec![[0, 1]] };
    (domain, mesh)
}

#[test]
fn each_side_of_a_plane_is_reproduced_exactly() {
    let (domain, mesh) = plane();
    let velocity = vec![Vector::zeros(); 2];
    let sight = Sight::new(&domain, &mesh, &velocity, 4).unwrap();
    let left = |x: &Vector<2>| x[0] < 0.43 + 0.14 * (x[1] + 1.0) / 3.0;
    let mut field = Field::from_fn(domain.grid(), Location::Cell, |x| if left(x) { 3.25 } else { -7.5 });
    domain.fill_scalar_ghosts(&mut field, 0.0);
    for k in 0..2000 {
        let x = Vector::from([(0.618 * k as f64).fract(), (0.755 * k as f64).fract()]);
        let Some(value) = sight.sample(&field, &x) else { continue };
        assert_eq!(value, if left(&x) { 3.25 } else { -7.5 }, "{x:?}");
    }
}

/// A shell that leaves the box at a slant: a ghost beyond the wall may be on the other side of it than the sample that the ghost repeats.
#[test]
fn nothing_leaks_through_ghosts_where_a_shell_leaves_the_box() {
    let (domain, _) = plane();
    let mesh =
        Mesh { points: vec![Vector::from([-1.0, -0.45]), Vector::from([0.9, 1.45])], elements: vec![[0, 1]] };
    let velocity = vec![Vector::zeros(); 2];
    let sight = Sight::new(&domain, &mesh, &velocity, 4).unwrap();
    let below = |x: &Vector<2>| x[1] < x[0] + 0.55;
    let mut field = Field::from_fn(domain.grid(), Location::Cell, |x| if below(x) { 1.0 } else { 0.0 });
    domain.fill_scalar_ghosts(&mut field, 0.0);
    for k in 0..2000 {
        let x = Vector::from([0.05 * (0.618 * f64::from(k)).fract(), (0.755 * f64::from(k)).fract()]);
        let Some(value) = sight.sample(&field, &x) else { continue };
        assert_eq!(value, if below(&x) { 1.0 } else { 0.0 }, "{x:?}");
    }
}

#[test]
fn paths_stop_on_their_side_and_faces_are_closed() {
    let (domain, mesh) = plane();
    let velocity = vec![Vector::from([0.3, 0.0]); 2];
    let sight = Sight::new(&domain, &mesh, &velocity, 4).unwrap();
    let (from, to) = (Vector::from([0.35, 0.55]), Vector::from([0.9, 0.6]));
    let (stop, cut) = sight.clip(&from, &to);
    assert!(cut && stop[0] < 0.51 && stop[0] > 0.45 && sight.sees(&from, &stop));
    assert!(!sight.sees(&from, &to));
    let mut walls = Walls::new(&domain, &[], &[], SolidBoundary::Voxels);
    sight.close_faces(&mut walls);
    for j in 0..10 {
        let closed: Vec<isize> = (1..10).filter(|&i| walls.is_closed(0, [i, j])).collect();
        assert_eq!(closed.len(), 1, "{j}: {closed:?}");
        assert!((walls.velocity().component(0).at([closed[0], j]) - 0.3).abs() < 1e-12);
    }
}

#[test]
fn samples_that_a_shell_passes_are_found() {
    let (domain, mesh) = plane();
    let moved: Vec<Vector<2>> = mesh.points.iter().map(|p| p + Vector::from([0.08, 0.0])).collect();
    let shells = [Shell::fixed("plane", mesh.clone())];
    let step =
        ShellStep::between(&shells, std::slice::from_ref(&mesh.points), std::slice::from_ref(&moved), 0.1)
            .unwrap()
            .unwrap();
    let sight = Sight::new(&domain, &step.after, &step.velocity, 4).unwrap();
    let field = Field::new(domain.grid(), Location::Cell, 0.0);
    let lattice = *field.lattice();
    let swept = step.swept(&sight, &sight.near_samples(&field), |index| lattice.position(index));
    let side = |x: &Vector<2>, shift: f64| x[0] < 0.43 + shift + 0.14 * (x[1] + 1.0) / 3.0;
    for index in lattice.indices() {
        let x = lattice.position(index);
        let changes = side(&x, 0.0) != side(&x, 0.08);
        assert_eq!(swept.contains(&index), changes, "{index:?}");
    }
}
