use super::*;
use splashdown_math::{Coordinates, Spin};

fn box_corners<const D: usize>(half: &Vector<D>) -> Vec<Vector<D>> {
    (0..1usize << D)
        .map(|k| Vector::from_fn(|a, _| if k >> a & 1 == 1 { half[a] } else { -half[a] }))
        .collect()
}

/// A box described far away and turned comes back as a box about its centre of mass, whatever way it is described.
fn described_anywhere<const D: usize>()
where
    Dim<D>: Space<D>,
    Corners<D>: Element<D>,
{
    let half = Vector::<D>::from_fn(|a, _| [0.5, 0.2, 0.1][a]);
    let frame = Frame::<D> {
        position: Vector::from_fn(|a, _| 3.0 - a as f64),
        rotation: Dim::exp(&Spin::<D>::from_slice(&[0.4, -0.3, 0.9])),
    };
    let points: Vec<Vector<D>> = box_corners(&half).iter().map(|p| frame.to_world(p)).collect();
    let exact = Geometry::cuboid(half).unwrap();
    let hull = Geometry::hull(&points).unwrap();
    let mesh = Geometry::mesh(&Hull::new(&points).unwrap().surface(), 40).unwrap();
    let shape = Geometry::shape(Shape::cuboid(half).unwrap().placed(frame).unwrap(), 40).unwrap();
    let volume = half.iter().map(|h| 2.0 * h).product::<f64>();
    let trace = |g: &Geometry<D>| {
        let n = <Dim<D> as Space<D>>::SPIN;
        let entries = Dim::inertia_entries(&g.properties().unwrap().inertia);
        (0..n).map(|i| entries[i * n + i]).sum::<f64>()
    };
    for other in [&hull, &mesh, &shape] {
        assert!((other.properties().unwrap().volume - volume).abs() < 1e-12);
        assert!((trace(other) / trace(&exact) - 1.0).abs() < 1e-9);
        // The centre of mass is the origin, and distances agree with the box at corresponding points.
        assert!(other.placement().to_world(&frame.position).norm() < 1e-9);
        for k in 0..40 {
            // Beyond its grid a level set knows a bound only.
            let reach = if matches!(other.solid(), Solid::Mesh { .. }) { 1.1 } else { 1.7 };
            let local =
                Vector::<D>::from_fn(|a, _| reach * half[a] * ((k * (a + 3) + a) as f64 * 0.37).sin());
            let there = other.placement().to_world(&frame.to_world(&local));
            let tolerance = if matches!(other.solid(), Solid::Mesh { .. }) {
                0.6 * other.level_set_spacing()
            } else {
                1e-9
            };
            let (a, b) = (exact.signed_distance(&local), other.signed_distance(&there));
            assert!((a - b).abs() < tolerance, "{a} {b}");
        }
        // Particles lie on the surface and leave no wide gaps: their number grows with the surface.
        let worst = other.particles().iter().map(|p| other.signed_distance(p).abs()).fold(0.0, f64::max);
        assert!(worst < other.level_set_spacing(), "{worst}");
        assert!(other.particles().len() >= 1 << D);
    }
}

#[test]
fn a_solid_is_the_same_however_it_is_described() {
    described_anywhere::<2>();
    described_anywhere::<3>();
}

#[test]
fn a_hull_joins_coplanar_pieces_and_has_the_edges_of_its_polytope() {
    let mut points = box_corners(&Vector::<3>::from([1.0, 2.0, 3.0]));
    points.extend([Vector::<3>::zeros(), Vector::from([1.0, 0.0, 0.0]), Vector::from([0.3, 2.0, 3.0])]);
    let hull = Hull::new(&points).unwrap();
    assert_eq!((hull.points.len(), hull.faces.len(), hull.edges.len()), (8, 6, 12));
    for face in &hull.faces {
        assert_eq!(face.corners.len(), 4);
        let [a, b, c] = std::array::from_fn(|i| hull.points[face.corners[i] as usize]);
        assert!((b - a).cross(&(c - b)).normalize().dot(&face.normal) > 0.999);
    }
    hull.surface().check_closed().unwrap();
    assert!((hull.surface().enclosed_volume().unwrap() - 48.0).abs() < 1e-12);
    assert!(Hull::new(&points[..4]).is_none(), "four points of one face");
    // Euler's formula for the hull of points on a sphere.
    let ball: Vec<Vector<3>> = (0..60)
        .map(|i| {
            let (z, t) = (1.0 - (2 * i + 1) as f64 / 60.0, i as f64 * 2.399963);
            let r = (1.0 - z * z).sqrt();
            Vector::<3>::from([r * t.cos(), r * t.sin(), z])
        })
        .collect();
    let hull = Hull::new(&ball).unwrap();
    assert_eq!(hull.points.len() + hull.faces.len(), hull.edges.len() + 2);
    assert_eq!(hull.points.len(), 60);
}

#[test]
fn a_capsule_and_a_torus_have_their_moments_and_a_surface() {
    let capsule = Geometry::<3>::capsule(0.2, 0.5).unwrap();
    let mesh = capsule.surface().unwrap();
    mesh.check_closed().unwrap();
    let volume = mesh.enclosed_volume().unwrap();
    assert!((volume / capsule.properties().unwrap().volume - 1.0).abs() < 5e-3);
    let torus = Geometry::shape(Shape::<3>::torus(0.5, 0.1).unwrap(), 48).unwrap();
    let exact = 2.0 * std::f64::consts::PI.powi(2) * 0.5 * 0.01;
    assert!((torus.properties().unwrap().volume - exact).abs() < 1e-12);
    assert!((torus.surface().unwrap().enclosed_volume().unwrap() / exact - 1.0).abs() < 2e-2);
}

#[test]
fn a_shell_has_the_mass_of_its_area() {
    let mut surface = Hull::new(&box_corners(&Vector::<3>::repeat(0.5))).unwrap().surface();
    surface.elements.truncate(10);
    let shell = Geometry::shell(&surface, 0.02, 40).unwrap();
    assert!((shell.properties().unwrap().volume - 5.0 * 0.02).abs() < 1e-12);
    assert!(Geometry::mesh(&surface, 40).is_err());
}

#[test]
fn a_saved_geometry_is_the_same() {
    let torus = Geometry::shape(Shape::<3>::torus(0.5, 0.1).unwrap(), 16).unwrap();
    let points = torus.particles().len();
    let bytes = postcard::to_allocvec(&torus).unwrap();
    let again: Geometry<3> = postcard::from_bytes(&bytes).unwrap();
    assert!(again == torus && again.particles().len() == points);
}

/// The distance of a random hull is that to the nearest of its triangles or segments, and its normal leads there.
fn hull_distance_is_exact<const D: usize>()
where
    Dim<D>: Space<D>,
{
    // Low-discrepancy points: as good as random ones.
    let place = |n: usize, scale: f64| {
        Vector::<D>::from_fn(|a, _| scale * ((n as f64 * [0.819_17, 0.671_04, 0.549_70][a]).fract() - 0.5))
    };
    let hull = Hull::new(&(1..20).map(|n| place(n, 1.0)).collect::<Vec<_>>()).unwrap();
    let surface = hull.surface();
    for n in 100..1100 {
        let point = place(n, 3.0);
        let (distance, normal) = hull.distance_and_normal(&point);
        let nearest = (0..surface.elements.len())
            .map(|e| {
                splashdown_geometry::simplex::closest_point(&point, &surface.corners(e)).distance_squared
            })
            .fold(f64::INFINITY, f64::min)
            .sqrt();
        assert!((distance.abs() - nearest).abs() < 1e-9, "{distance} {nearest}");
        assert_eq!(distance > 0.0, hull.height(&point) > 0.0);
        assert!(hull.distance_and_normal(&(point - normal * distance)).0.abs() < 1e-9);
    }
}

#[test]
fn hulls_know_their_distance_everywhere() {
    hull_distance_is_exact::<2>();
    hull_distance_is_exact::<3>();
}

#[test]
fn round_solids_have_outlines_with_few_faces_and_bodies_with_dents_have_none() {
    let cylinder = Geometry::<3>::shape(Shape::cylinder(0.275, 0.525).unwrap(), 48).unwrap();
    let ball = Geometry::<3>::sphere(0.3).unwrap();
    let disc = Geometry::<2>::sphere(0.3).unwrap();
    let outline = cylinder.outline(0.005).unwrap();
    assert!(cylinder.particles().iter().all(|x| outline.height(x).abs() <= 0.005));
    // Two ends and a side of quadrilaterals.
    assert!((12..40).contains(&outline.faces.len()), "{}", outline.faces.len());
    let outline = ball.outline(0.015).unwrap();
    assert!(ball.particles().iter().all(|x| outline.height(x).abs() <= 0.015));
    assert!(outline.points.iter().all(|x| x.norm() <= 0.315 + 1e-9));
    let outline = disc.outline(0.01).unwrap();
    assert!(outline.points.iter().all(|x| (0.3..=0.31 + 1e-9).contains(&x.norm())));
    let dumbbell = Shape::ball(0.3)
        .and_then(|ball| Ok(ball.union(Shape::ball(0.3)?.translated(Vector::from([0.5, 0.0, 0.0]))?)))
        .unwrap();
    assert!(Geometry::<3>::shape(dumbbell, 48).unwrap().outline(0.01).is_none());
}

#[test]
fn cut_boxes_are_the_boxes_on_either_side() {
    let cuboid = Hull::new(&box_corners(&Vector::from([0.5, 0.3, 0.2]))).unwrap();
    let volume = |hull: &Hull<3>| hull.surface().enclosed_integrals().unwrap().measure;
    let normal = Vector::from([0.6, 0.8, 0.0]);
    let side = |sign: f64| {
        let mut clip = Clip::new(&cuboid);
        assert!(clip.cut(&(normal * sign), sign * 0.1));
        clip.hull().unwrap()
    };
    let (low, high) = (side(1.0), side(-1.0));
    assert!((volume(&low) + volume(&high) - 0.24).abs() < 1e-12);
    assert!(volume(&high) > 0.01);
    for hull in [&low, &high] {
        // Euler's formula.
        assert_eq!(hull.points.len() + hull.faces.len(), hull.edges.len() + 2);
    }
    // A plane that touches cuts nothing off, one beyond leaves nothing.
    let mut clip = Clip::new(&cuboid);
    assert!(!clip.cut(&Vector::from([1.0, 0.0, 0.0]), 0.5));
    assert_eq!(clip.hull().unwrap().points.len(), 8);
    assert!(clip.cut(&Vector::from([1.0, 0.0, 0.0]), -0.6));
    assert!(clip.hull().is_none());
}

#[test]
fn hulls_within_a_tolerance_leave_no_point_further_out() {
    let ball = Geometry::<3>::sphere(0.3).unwrap();
    let points = ball.particles();
    let hull = Hull::within(points, 0.005).unwrap();
    assert!(hull.points.len() < points.len() / 10, "{} of {}", hull.points.len(), points.len());
    assert!(points.iter().all(|point| hull.height(point) <= 0.005 + 1e-12));
    let simple = hull.simplified(0.02).unwrap();
    assert!(simple.faces.len() < hull.faces.len());
    assert!(hull.points.iter().all(|point| simple.height(point) <= 1e-9));
    assert!(simple.points.iter().all(|point| hull.height(point) <= 0.02 + 1e-9));
}
