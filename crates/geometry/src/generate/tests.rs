use super::quality::simplex_quality;
use super::*;
use crate::mesh::{Corners, Element, HexahedronMesh, Mesh, TetrahedronMesh, TriangleMesh};
use splashdown_math::Vector;
use std::collections::{HashMap, HashSet};
use std::f64::consts::{PI, TAU};

fn v2(x: f64, y: f64) -> Vector<2> {
    Vector::<2>::new(x, y)
}

fn v3(x: f64, y: f64, z: f64) -> Vector<3> {
    Vector::<3>::new(x, y, z)
}

/// Facets (sorted corners) that belong to exactly one simplex; panics when a facet belongs to more than two.
fn boundary<const D: usize, const N: usize>(mesh: &Mesh<D, N>) -> Vec<Vec<u32>> {
    let mut count: HashMap<Vec<u32>, usize> = HashMap::new();
    for element in &mesh.elements {
        for skip in 0..N {
            let mut facet: Vec<u32> = (0..N).filter(|i| *i != skip).map(|i| element[i]).collect();
            facet.sort_unstable();
            *count.entry(facet).or_default() += 1;
        }
    }
    assert!(count.values().all(|c| *c <= 2), "a facet belongs to more than two simplices");
    let mut out: Vec<_> = count.into_iter().filter(|(_, c)| *c == 1).map(|(facet, _)| facet).collect();
    out.sort();
    out
}

/// Alternating sum of the numbers of faces of all dimensions; also checks that every point is used.
fn euler<const D: usize, const N: usize>(mesh: &Mesh<D, N>) -> i64 {
    let mut faces: HashSet<Vec<u32>> = HashSet::new();
    for element in &mesh.elements {
        for mask in 1usize..1 << N {
            let mut face: Vec<u32> = (0..N).filter(|i| mask >> i & 1 == 1).map(|i| element[i]).collect();
            face.sort_unstable();
            faces.insert(face);
        }
    }
    assert_eq!(faces.iter().filter(|f| f.len() == 1).count(), mesh.points.len(), "unused points");
    faces.iter().map(|f| if f.len() % 2 == 1 { 1 } else { -1 }).sum()
}

/// Checks what every solid must be: conforming, positively oriented, of the given Euler characteristic; returns its quality.
fn solid<const D: usize, const N: usize>(mesh: &Mesh<D, N>, characteristic: i64) -> SimplexQuality
where
    Corners<N>: Element<N>,
{
    boundary(mesh);
    assert_eq!(euler(mesh), characteristic);
    let quality = simplex_quality(mesh);
    assert_eq!(quality.inverted, 0);
    quality
}

/// Checks a closed, consistently oriented surface; returns the enclosed volume and the area.
fn closed_surface(mesh: &TriangleMesh<3>, characteristic: i64) -> (f64, f64) {
    let mut directed = HashSet::new();
    for t in &mesh.elements {
        for i in 0..3 {
            assert!(directed.insert((t[i], t[(i + 1) % 3])), "edge used twice in the same direction");
        }
    }
    assert!(directed.iter().all(|(a, b)| directed.contains(&(*b, *a))), "open edge");
    assert_eq!(euler(mesh), characteristic);
    let mut volume = 0.0;
    let mut area = 0.0;
    for t in &mesh.elements {
        let [a, b, c] = t.map(|i| mesh.points[i as usize]);
        volume += a.dot(&b.cross(&c)) / 6.0;
        area += (b - a).cross(&(c - a)).norm() / 2.0;
    }
    (volume, area)
}

fn near(a: f64, b: f64, relative: f64) {
    assert!((a - b).abs() <= relative * b.abs(), "{a} is not {b} within {relative} relative");
}

#[test]
fn boxes_of_tetrahedra_fill_their_volume() {
    let (lower, upper) = (v3(-1.0, 0.5, 2.0), v3(1.0, 2.0, 5.0));
    for (split, per_cube) in [(CubeSplit::Five, 5), (CubeSplit::Six, 6)] {
        let mesh = box_tetrahedra(lower, upper, [4, 3, 6], split).unwrap();
        assert_eq!(mesh.elements.len(), per_cube * 4 * 3 * 6);
        let quality = solid(&mesh, 1);
        near(quality.volume, 9.0, 1e-14);
        // Two triangles for every square of the surface.
        assert_eq!(boundary(&mesh).len(), 2 * 2 * (4 * 3 + 3 * 6 + 6 * 4));
        // Cubes: the sharpest angle is 45 degrees in Kuhn's division, atan(sqrt 2) at the corners of the five-fold one.
        let expected = if split == CubeSplit::Six { 45.0 } else { 2f64.sqrt().atan().to_degrees() };
        near(quality.min_angle, expected, 1e-12);
    }
}

fn trilinear_volume(mesh: &HexahedronMesh) -> f64 {
    let mut total = 0.0;
    for hex in &mesh.elements {
        let x = hex.map(|i| mesh.points[i as usize]);
        // Corner order 4 i + 2 j + k: edges from corner 0 along i, j, k must be right-handed.
        let volume = (x[4] - x[0]).cross(&(x[2] - x[0])).dot(&(x[1] - x[0]));
        assert!(volume > 0.0);
        total += volume;
    }
    total
}

#[test]
fn boxes_of_hexahedra_are_right_handed_in_the_order_of_the_specification() {
    let mesh = box_hexahedra(v3(0.0, 0.0, 0.0), v3(2.0, 3.0, 4.0), [2, 3, 4]).unwrap();
    assert_eq!(mesh.elements.len(), 24);
    near(trilinear_volume(&mesh), 24.0, 1e-14);
    let first = mesh.elements[0].map(|i| mesh.points[i as usize]);
    for (c, x) in first.iter().enumerate() {
        assert_eq!(*x, v3((c >> 2) as f64, (c >> 1 & 1) as f64, (c & 1) as f64));
    }
}

#[test]
fn beams_have_nearly_cubic_cells() {
    let tets = beam_tetrahedra(1.0, 0.1, 0.2, 2, CubeSplit::Five).unwrap();
    assert_eq!(tets.elements.len(), 5 * 20 * 2 * 4);
    near(solid(&tets, 1).volume, 0.02, 1e-13);
    let hexes = beam_hexahedra(1.0, 0.1, 0.2, 2).unwrap();
    near(trilinear_volume(&hexes), 0.02, 1e-13);
    assert_eq!(tets.points, hexes.points);
}

#[test]
fn subdivision_keeps_volume_and_orientation() {
    let tet = TetrahedronMesh {
        points: vec![v3(0.0, 0.0, 0.0), v3(1.0, 0.1, 0.0), v3(0.2, 1.0, 0.1), v3(0.0, 0.3, 0.9)],
        elements: vec![[3, 1, 0, 2], [0, 1, 2, 3]].into_iter().skip(1).collect(),
    };
    let whole = simplex_quality(&tet).volume;
    for pieces in [1, 2, 3, 5] {
        let fine = subdivide::<3, 4, 3>(&tet, pieces).unwrap();
        assert_eq!(fine.mesh.elements.len(), pieces.pow(3));
        near(solid(&fine.mesh, 1).volume, whole, 1e-13);
        for (point, origin) in fine.mesh.points.iter().zip(&fine.origins) {
            assert_eq!(origin.iter().map(|o| o.1).sum::<u32>() as usize, pieces);
            let mut x = Vector::<3>::zeros();
            for (corner, weight) in origin.iter().filter(|o| o.1 > 0) {
                x += tet.points[*corner as usize] * (f64::from(*weight) / pieces as f64);
            }
            assert!((x - point).norm() < 1e-15);
        }
    }
}

/// Error of a measured volume falls by four when the resolution doubles.
fn second_order(errors: [f64; 2]) {
    let order = (errors[0] / errors[1]).log2();
    assert!((1.85..2.3).contains(&order), "order {order} from errors {errors:?}");
}

#[test]
fn balls_are_round_and_well_shaped() {
    let exact = 4.0 / 3.0 * PI * 8.0;
    let error = |rings| {
        let mesh = ball_tetrahedra(v3(1.0, 2.0, 3.0), 2.0, rings).unwrap();
        assert_eq!(mesh.elements.len(), 20 * rings.pow(3));
        assert_eq!(boundary(&mesh).len(), 20 * rings.pow(2));
        let quality = solid(&mesh, 1);
        assert!(quality.min_angle > 35.0 && quality.max_angle < 135.0, "{quality:?}");
        (quality.volume - exact).abs()
    };
    second_order([error(6), error(12)]);
    for rings in [1, 2, 3, 16] {
        error(rings);
    }
}

#[test]
fn discs_are_round_and_well_shaped() {
    let error = |rings| {
        let mesh = disc_triangles(v2(1.0, -1.0), 3.0, rings).unwrap();
        assert_eq!(mesh.elements.len(), 6 * rings.pow(2));
        let quality = solid(&mesh, 1);
        assert!(quality.min_angle > 40.0, "{quality:?}");
        (quality.volume - 9.0 * PI).abs()
    };
    second_order([error(6), error(12)]);
}

#[test]
fn swept_solids_have_their_volume_and_topology() {
    let cylinder = |n| {
        let mesh = cylinder_tetrahedra(v3(0.0, 0.0, 1.0), 1.0, 2.0, n, 2 * n).unwrap();
        let quality = solid(&mesh, 1);
        assert!(quality.min_angle > 25.0, "{quality:?}");
        (quality.volume - 2.0 * PI).abs()
    };
    second_order([cylinder(4), cylinder(8)]);
    let torus = |n| {
        let mesh = torus_tetrahedra(v3(0.0, 1.0, 0.0), 2.0, 0.5, n, 24 * n).unwrap();
        let quality = solid(&mesh, 0);
        assert!(quality.min_angle > 20.0, "{quality:?}");
        (quality.volume - TAU * 2.0 * PI * 0.25).abs()
    };
    second_order([torus(3), torus(6)]);
    let cone = |n| {
        let quality = solid(&cone_tetrahedra(v3(0.0, 0.0, 0.0), 1.0, 1.2, n).unwrap(), 1);
        assert!(quality.min_angle > 20.0, "{quality:?}");
        (quality.volume - PI * 1.2 / 3.0).abs()
    };
    second_order([cone(5), cone(10)]);
}

#[test]
fn surfaces_are_closed_and_face_outwards() {
    let c = v3(0.3, -0.2, 0.1);
    let (volume, area) = closed_surface(&icosphere(c, 1.0, 24).unwrap(), 2);
    near(volume, 4.0 / 3.0 * PI, 5e-3);
    near(area, 4.0 * PI, 5e-3);
    let (volume, area) = closed_surface(&uv_sphere(c, 1.0, 48, 96).unwrap(), 2);
    near(volume, 4.0 / 3.0 * PI, 5e-3);
    near(area, 4.0 * PI, 5e-3);
    let (volume, area) = closed_surface(&box_surface(c, c + v3(1.0, 2.0, 3.0), [2, 3, 4]).unwrap(), 2);
    near(volume, 6.0, 1e-14);
    near(area, 22.0, 1e-14);
    let (volume, area) = closed_surface(&cylinder_surface(c, 0.5, 2.0, 3, 8, 128).unwrap(), 2);
    near(volume, PI * 0.5, 1e-3);
    near(area, PI * 2.5, 1e-3);
    let (volume, area) = closed_surface(&cone_surface(c, 0.5, 1.2, 3, 6, 128).unwrap(), 2);
    near(volume, PI * 0.1, 1e-3);
    near(area, PI * 0.25 + PI * 0.5 * 1.3, 1e-3);
    let (volume, area) = closed_surface(&capsule_surface(c, 0.5, 1.0, 24, 4, 128).unwrap(), 2);
    near(volume, PI * 0.25 + 4.0 / 3.0 * PI * 0.125, 1e-3);
    near(area, PI + PI, 1e-3);
    let (volume, area) = closed_surface(&torus_surface(c, 1.0, 0.25, 128, 64).unwrap(), 0);
    near(volume, TAU * PI * 0.0625, 3e-3);
    near(area, TAU * TAU * 0.25, 3e-3);
}

#[test]
fn sheets_and_rectangles_have_their_area() {
    for diagonals in [Diagonals::Forward, Diagonals::Backward, Diagonals::Alternating, Diagonals::Crossed] {
        let flat = rectangle_triangles(v2(1.0, 1.0), v2(3.0, 2.0), [8, 4], diagonals).unwrap();
        near(solid(&flat, 1).volume, 2.0, 1e-14);
        assert_eq!(boundary(&flat).len(), 24);
        let (u, v) = (v3(2.0, 0.0, 1.0), v3(0.0, 1.0, 0.0));
        let cloth = sheet(v3(0.0, 0.0, 1.0), u, v, [8, 4], diagonals).unwrap();
        assert_eq!(cloth.elements, flat.elements);
        let normal = u.cross(&v).normalize();
        let mut area = 0.0;
        for t in &cloth.elements {
            let [a, b, c] = t.map(|i| cloth.points[i as usize]);
            let twice = (b - a).cross(&(c - a));
            assert!(twice.normalize().dot(&normal) > 1.0 - 1e-12);
            area += 0.5 * twice.norm();
        }
        near(area, 5f64.sqrt(), 1e-13);
    }
    assert!(sheet(v2(0.0, 0.0), v2(0.0, 1.0), v2(1.0, 0.0), [1, 1], Diagonals::Forward).is_err());
    assert!(
        sheet(v3(0.0, 0.0, 0.0), v3(1.0, 1.0, 0.0), v3(2.0, 2.0, 0.0), [1, 1], Diagonals::Forward).is_err()
    );
}

#[test]
fn strings_are_even() {
    let mesh = chain(v3(0.0, 0.0, 0.0), v3(0.0, 3.0, 4.0), 10).unwrap();
    assert_eq!(mesh.points.len(), 11);
    for s in &mesh.elements {
        near((mesh.points[s[1] as usize] - mesh.points[s[0] as usize]).norm(), 0.5, 1e-14);
    }
    let ring = loop_segments(vec![v2(0.0, 0.0), v2(1.0, 0.0), v2(0.0, 1.0)]).unwrap();
    assert_eq!(ring.elements, [[0, 1], [1, 2], [2, 0]]);
}

#[test]
fn polygons_with_holes_are_triangulated() {
    let square = [v2(0.0, 0.0), v2(4.0, 0.0), v2(4.0, 4.0), v2(0.0, 4.0)];
    let hole = vec![v2(1.0, 1.0), v2(1.0, 2.0), v2(2.0, 2.0), v2(2.0, 1.0)];
    let plain = polygon_triangles(&square, std::slice::from_ref(&hole), None).unwrap();
    assert_eq!(plain.points.len(), 8);
    near(solid(&plain, 0).volume, 15.0, 1e-14);
    let fine = polygon_triangles(&square, &[hole], Some(0.3)).unwrap();
    let quality = solid(&fine, 0);
    near(quality.volume, 15.0, 1e-12);
    assert!(quality.min_angle > 25.0, "{quality:?}");
    // An L, clockwise: not convex.
    let l = [v2(0.0, 0.0), v2(0.0, 2.0), v2(1.0, 2.0), v2(1.0, 1.0), v2(2.0, 1.0), v2(2.0, 0.0)];
    near(solid(&polygon_triangles(&l, &[], None).unwrap(), 1).volume, 3.0, 1e-14);
    let bow = [v2(0.0, 0.0), v2(1.0, 1.0), v2(1.0, 0.0), v2(0.0, 1.0)];
    assert!(matches!(polygon_triangles(&bow, &[], None), Err(PolygonError::Crossing { index: 0, .. })));
    assert!(matches!(
        polygon_triangles(&bow[..2], &[], None),
        Err(PolygonError::TooFewCorners { corners: 2, .. })
    ));
    assert!(matches!(
        polygon_triangles(&[v2(0.0, f64::NAN), v2(1.0, 0.0), v2(0.0, 1.0)], &[], None),
        Err(PolygonError::BadCorner { corner: 0, .. })
    ));
    assert!(matches!(polygon_triangles(&square, &[], Some(1e-6)), Err(PolygonError::TooManyPoints { .. })));
}

#[test]
fn impossible_requests_are_refused_before_allocation() {
    let o = Vector::<3>::zeros();
    assert_eq!(ball_tetrahedra(o, -1.0, 4), Err(GenerateError::NotPositive { what: "radius", value: -1.0 }));
    assert_eq!(ball_tetrahedra(o, 1.0, 0), Err(GenerateError::TooFew { what: "rings", found: 0, least: 1 }));
    assert!(matches!(icosphere(o, 1.0, 1 << 40), Err(GenerateError::TooMany { .. })));
    assert!(matches!(box_hexahedra(o, o, [1, 1, 1]), Err(GenerateError::NotPositive { .. })));
    assert!(matches!(box_surface(o, v3(1.0, 1.0, 1.0), [1 << 20; 3]), Err(GenerateError::TooMany { .. })));
    assert!(matches!(torus_surface(o, 1.0, 1.5, 16, 16), Err(GenerateError::Inconsistent { .. })));
    assert!(matches!(chain(o, o, 3), Err(GenerateError::NotPositive { what: "length", .. })));
    assert!(matches!(uv_sphere(o, f64::NAN, 4, 4), Err(GenerateError::NotPositive { .. })));
}

#[test]
fn a_closed_bag_is_a_sphere_and_an_open_one_ends_at_its_mouth() {
    let centre = Vector::<3>::new(0.3, -0.2, 0.1);
    let (volume, area) = closed_surface(&bag_triangles(centre, 0.5, 0.0, 40).unwrap(), 2);
    near(volume, 4.0 / 3.0 * PI * 0.125, 5e-3);
    near(area, PI, 5e-3);
    let open = bag_triangles(centre, 0.5, 0.2, 14).unwrap();
    let rim = open.boundary().unwrap();
    for &point in &rim.points {
        let out = open.points[point as usize] - centre;
        assert!((out[0].hypot(out[2]) - 0.2).abs() < 1e-12 && out[1] > 0.0);
    }
    let edge =
        |t: &[u32; 3], k: usize| (open.points[t[k] as usize] - open.points[t[(k + 1) % 3] as usize]).norm();
    let lengths: Vec<f64> = open.elements.iter().flat_map(|t| (0..3).map(|k| edge(t, k))).collect();
    let (shortest, longest) = lengths.iter().fold((f64::MAX, 0.0f64), |(a, b), &l| (a.min(l), b.max(l)));
    assert!(longest < 2.5 * shortest, "{shortest} {longest}");
    assert!(bag_triangles(centre, 0.5, 0.5, 14).is_err());
}
