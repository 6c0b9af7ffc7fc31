use super::*;
use crate::grid::{Grid, Location};
use crate::shapes::Shape;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::HashMap;
use std::f64::consts::PI;

/// Every directed edge once and its reverse once, every point in one closed fan. Returns the Euler characteristic.
fn check_closed_manifold(mesh: &Mesh<3, 3>) -> i64 {
    let mut next_around = HashMap::new();
    for t in &mesh.elements {
        for k in 0..3 {
            let (a, b, c) = (t[k], t[(k + 1) % 3], t[(k + 2) % 3]);
            assert!(a != b);
            // Around point a the triangle leads from b to c.
            assert!(next_around.insert((a, b), c).is_none(), "edge {a}-{b} has two triangles on one side");
        }
    }
    for &(a, b) in next_around.keys() {
        assert!(next_around.contains_key(&(b, a)), "edge {a}-{b} is open");
    }
    let mut degree = vec![0usize; mesh.points.len()];
    for &(a, _) in next_around.keys() {
        degree[a as usize] += 1;
    }
    let mut some = vec![u32::MAX; mesh.points.len()];
    for &(a, b) in next_around.keys() {
        some[a as usize] = some[a as usize].min(b);
    }
    for (a, &start) in some.iter().enumerate() {
        assert!(start != u32::MAX, "point {a} is in no triangle");
        let (mut steps, mut b) = (0, start);
        loop {
            b = next_around[&(a as u32, b)];
            steps += 1;
            if b == start {
                break;
            }
        }
        assert_eq!(steps, degree[a], "point {a} has several fans");
    }
    mesh.points.len() as i64 - next_around.len() as i64 / 2 + mesh.elements.len() as i64
}

fn check_closed_curves(mesh: &Mesh<2, 2>) {
    let (mut out, mut into) = (vec![0; mesh.points.len()], vec![0; mesh.points.len()]);
    for &[a, b] in &mesh.elements {
        out[a as usize] += 1;
        into[b as usize] += 1;
    }
    assert!(out.iter().all(|&n| n == 1) && into.iter().all(|&n| n == 1));
}

fn area_and_volume(mesh: &Mesh<3, 3>) -> (f64, f64) {
    mesh.elements.iter().fold((0.0, 0.0), |(area, volume), t| {
        let [a, b, c] = t.map(|i| mesh.points[i as usize]);
        (area + 0.5 * (b - a).cross(&(c - a)).norm(), volume + a.dot(&b.cross(&c)) / 6.0)
    })
}

fn length_and_area(mesh: &Mesh<2, 2>) -> (f64, f64) {
    mesh.elements.iter().fold((0.0, 0.0), |(length, area), s| {
        let [a, b] = s.map(|i| mesh.points[i as usize]);
        (length + (b - a).norm(), area + 0.5 * a.perp(&b))
    })
}

/// Noise, exact zeros and ties included.
fn random_field<const D: usize>(rng: &mut Pcg64Mcg, n: usize, kind: usize) -> Field<D> {
    let grid = Grid::new(Vector::zeros(), Vector::from_fn(|a, _| 1.0 + 0.3 * a as f64), [n; D]).unwrap();
    let mut field = Field::new(&grid, Location::Cell, 0.0);
    for value in field.values_mut() {
        *value = match kind {
            0 => rng.random_range(-1.0..1.0),
            1 => rng.random_range(-1..=1) as f64,
            2 => {
                if rng.random_bool(0.5) {
                    1.0
                } else {
                    -1.0
                }
            }
            _ => rng.random_range(-1.0f64..1.0).powi(15) * 1e-200,
        };
    }
    field
}

const ALL: [Crossing; 4] =
    [Crossing::Linear, Crossing::Cubic, Crossing::NodalQuadratic, Crossing::NodalCubic];

#[test]
fn random_fields_give_watertight_manifolds_3d() {
    let mut rng = Pcg64Mcg::seed_from_u64(11);
    for round in 0..40 {
        let field = random_field::<3>(&mut rng, 3 + round % 8, round % 4);
        let options = Extraction { crossing: ALL[round / 4 % 4], closed: true, ..Default::default() };
        let surface = extract(&field, &options).unwrap();
        let euler = check_closed_manifold(&surface.mesh);
        assert_eq!(euler % 2, 0);
        let (_, volume) = area_and_volume(&surface.mesh);
        assert!(volume > 0.0, "closed surfaces point outwards");
        // Documented: points keep the clearance, triangles do not vanish.
        for t in &surface.mesh.elements {
            let [a, b, c] = t.map(|i| surface.mesh.points[i as usize]);
            assert!((a - b).norm() > 1e-6 && (b - c).norm() > 1e-6);
            assert!((b - a).cross(&(c - a)).norm() > 1e-13, "{a} {b} {c}");
        }
        assert_eq!(surface.normals.len(), surface.mesh.points.len());
        assert!(surface.normals.iter().all(|n| (n.norm() - 1.0).abs() < 1e-9));
    }
}

#[test]
fn random_fields_give_closed_curves_2d() {
    let mut rng = Pcg64Mcg::seed_from_u64(12);
    for round in 0..200 {
        let field = random_field::<2>(&mut rng, 3 + round % 20, round % 4);
        let options = Extraction { crossing: ALL[round / 4 % 4], closed: true, ..Default::default() };
        let surface = extract(&field, &options).unwrap();
        check_closed_curves(&surface.mesh);
        assert!(length_and_area(&surface.mesh).1 > 0.0);
    }
}

#[test]
fn an_open_surface_ends_at_the_samples_only() {
    let mut rng = Pcg64Mcg::seed_from_u64(13);
    let field = random_field::<3>(&mut rng, 9, 0);
    let mesh = extract(&field, &Extraction::default()).unwrap().mesh;
    let mut sides = HashMap::new();
    for t in &mesh.elements {
        for k in 0..3 {
            *sides.entry((t[k].min(t[(k + 1) % 3]), t[k].max(t[(k + 1) % 3]))).or_insert(0) += 1;
        }
    }
    let hull = field.lattice().hull();
    for ((a, b), count) in sides {
        let [a, b] = [a, b].map(|i| mesh.points[i as usize]);
        let on_wall = (0..3).any(|k| {
            [hull.min[k], hull.max[k]].iter().any(|w| (a[k] - w).abs() < 1e-12 && (b[k] - w).abs() < 1e-12)
        });
        assert_eq!(count, if on_wall { 1 } else { 2 }, "{a} {b}");
    }
}

#[test]
fn topology_of_ball_torus_and_bretzel() {
    let grid = Grid::<3>::new(Vector::repeat(-1.0), Vector::from([0.05, 0.06, 0.07]), [40, 34, 29]).unwrap();
    let torus = Shape::torus(0.5, 0.2).unwrap();
    let two_holes = Shape::torus(0.3, 0.1)
        .unwrap()
        .translated(Vector::from([-0.35, 0.0, 0.0]))
        .unwrap()
        .union(Shape::torus(0.3, 0.1).unwrap().translated(Vector::from([0.35, 0.0, 0.0])).unwrap());
    for (shape, euler) in [(Shape::ball(0.7).unwrap(), 2), (torus, 0), (two_holes, -2)] {
        for crossing in ALL {
            let field = Field::from_fn(&grid, Location::Cell, |x| shape.signed_distance(x));
            let surface = extract(&field, &Extraction { crossing, ..Default::default() }).unwrap();
            assert_eq!(check_closed_manifold(&surface.mesh), euler, "{shape:?}");
            let off = surface.mesh.points.iter().map(|p| shape.signed_distance(p).abs()).fold(0.0, f64::max);
            assert!(off < 0.02, "{crossing:?} {off}");
        }
    }
}

fn circle_error(n: usize, crossing: Crossing) -> f64 {
    let h = 2.0 / n as f64;
    let grid = Grid::<2>::new(Vector::repeat(-1.0), Vector::repeat(h), [n; 2]).unwrap();
    // Not a distance, so that the crossings are really curved.
    let field =
        Field::from_fn(&grid, Location::Cell, |x| (x.norm_squared() - 0.36) * (1.0 + 0.5 * x[0]).exp());
    let surface = extract(&field, &Extraction { crossing, ..Default::default() }).unwrap();
    check_closed_curves(&surface.mesh);
    surface.mesh.points.iter().map(|p| (p.norm() - 0.6).abs()).fold(0.0, f64::max)
}

fn ball_error(n: usize, crossing: Crossing) -> f64 {
    let h = 2.0 / n as f64;
    let grid = Grid::<3>::new(Vector::repeat(-1.0), Vector::repeat(h), [n; 3]).unwrap();
    let field =
        Field::from_fn(&grid, Location::Cell, |x| (x.norm_squared() - 0.36) * (1.0 + 0.5 * x[0]).exp());
    let surface = extract(&field, &Extraction { crossing, ..Default::default() }).unwrap();
    surface.mesh.points.iter().map(|p| (p.norm() - 0.6).abs()).fold(0.0, f64::max)
}

#[test]
fn crossings_have_their_order() {
    // Spec surface-tension 3.7: linear crossings are second order, the others third and fourth.
    for (crossing, order) in [
        (Crossing::Linear, 2.0),
        (Crossing::Cubic, 4.0),
        (Crossing::NodalQuadratic, 3.0),
        (Crossing::NodalCubic, 4.0),
    ] {
        for error in [circle_error, ball_error] {
            let (coarse, fine) = (error(24, crossing), error(48, crossing));
            let measured = (coarse / fine).log2();
            // The largest error jumps with the positions of the crossings.
            assert!(measured > order - 0.4, "{crossing:?}: {coarse:e} {fine:e} order {measured}");
        }
    }
}

#[test]
fn area_volume_and_normals_of_a_ball_converge() {
    let error = |n: usize| {
        let grid = Grid::<3>::new(Vector::repeat(-1.0), Vector::repeat(2.0 / n as f64), [n; 3]).unwrap();
        let field = Field::from_fn(&grid, Location::Node, |x| x.norm() - 0.7);
        let surface = extract(&field, &Extraction::default()).unwrap();
        let (area, volume) = area_and_volume(&surface.mesh);
        let worst = surface.normals.iter().zip(&surface.mesh.points).map(|(n, p)| (n - p.normalize()).norm());
        ((area - 4.0 * PI * 0.49).abs(), (volume - 4.0 / 3.0 * PI * 0.343).abs(), worst.fold(0.0, f64::max))
    };
    let (coarse, fine) = (error(16), error(32));
    assert!((coarse.0 / fine.0).log2() > 1.8, "area {coarse:?} {fine:?}");
    assert!((coarse.1 / fine.1).log2() > 1.8, "volume {coarse:?} {fine:?}");
    assert!((coarse.2 / fine.2).log2() > 1.7, "normals {coarse:?} {fine:?}");
}

#[test]
fn a_domain_full_of_liquid_is_closed_to_its_box() {
    let grid = Grid::<3>::new(Vector::zeros(), Vector::repeat(0.1), [6, 7, 8]).unwrap();
    let field = Field::new(&grid, Location::Node, -1.0);
    assert!(extract(&field, &Extraction::default()).unwrap().mesh.elements.is_empty());
    let surface = extract(&field, &Extraction { closed: true, ..Default::default() }).unwrap();
    assert_eq!(check_closed_manifold(&surface.mesh), 2);
    let (_, volume) = area_and_volume(&surface.mesh);
    // Edges and corners of the box are cut off within the clearance.
    assert!((volume - 0.6 * 0.7 * 0.8).abs() < 1e-5, "{volume}");
}

#[test]
fn the_same_points_for_any_number_of_threads() {
    let mut rng = Pcg64Mcg::seed_from_u64(5);
    let field = random_field::<3>(&mut rng, 20, 0);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| extract(&field, &Extraction { closed: true, ..Default::default() }).unwrap())
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn bad_input_is_refused() {
    let grid = Grid::<2>::new(Vector::zeros(), Vector::repeat(0.1), [6, 7]).unwrap();
    let mut field = Field::new(&grid, Location::Node, -1.0);
    let nodal = Extraction { crossing: Crossing::NodalCubic, ..Default::default() };
    assert_eq!(extract(&field, &nodal), Err(LevelSetError::NotAtCells));
    field.set([2, 3], f64::NAN);
    assert!(matches!(extract(&field, &Extraction::default()), Err(LevelSetError::NotFinite { .. })));
}

#[test]
fn short_segments_are_removed_from_curves() {
    let h = 0.05;
    let grid = Grid::<2>::new(Vector::repeat(-1.0), Vector::repeat(h), [40; 2]).unwrap();
    let field = Field::from_fn(&grid, Location::Cell, |x| {
        (x - Vector::from([0.4, 0.024])).norm().min((x + Vector::from([0.4, 0.1])).norm()) - 0.3
    });
    let mesh = extract(&field, &Extraction::default()).unwrap().mesh;
    let (clean, kept) = without_short_segments(&mesh, 0.1 * h);
    check_closed_curves(&clean);
    let shortest = |m: &Mesh<2, 2>| {
        m.elements
            .iter()
            .map(|s| (m.points[s[0] as usize] - m.points[s[1] as usize]).norm())
            .fold(1.0, f64::min)
    };
    assert!(shortest(&mesh) < 0.1 * h, "{}", shortest(&mesh) / h);
    assert!(shortest(&clean) > 0.1 * h, "{}", shortest(&clean) / h);
    assert!(clean.points.iter().zip(&kept).all(|(p, &k)| *p == mesh.points[k as usize]));
    assert!((length_and_area(&clean).1 / length_and_area(&mesh).1 - 1.0).abs() < 2e-3);
}
