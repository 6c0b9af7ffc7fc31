use super::reduce::SAME_PATCH;
use super::*;
use crate::Geometry;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Coordinates, Frame, Spin};

fn random_frame<const D: usize>(rng: &mut Pcg64, reach: f64) -> Frame<D>
where
    Dim<D>: Space<D>,
{
    let mut number = |scale: f64| scale * (2.0 * rng.random::<f64>() - 1.0);
    let position = Vector::from_fn(|_, _| number(reach));
    let turn = [number(3.0), number(3.0), number(3.0)];
    Frame { position, rotation: Dim::exp(&Spin::<D>::from_slice(&turn)) }
}

fn convex<const D: usize>(rng: &mut Pcg64) -> Vec<Geometry<D>>
where
    Dim<D>: Space<D>,
{
    let points: Vec<Vector<D>> = (0..14).map(|_| Vector::from_fn(|_, _| rng.random::<f64>() - 0.5)).collect();
    vec![
        Geometry::sphere(0.3).unwrap(),
        Geometry::capsule(0.15, 0.4).unwrap(),
        Geometry::cuboid(Vector::from_fn(|a, _| [0.5, 0.2, 0.3][a])).unwrap(),
        Geometry::hull(&points).unwrap(),
        Geometry::half_space(Vector::from_fn(|a, _| if a == 1 { 1.0 } else { 0.2 })).unwrap(),
    ]
}

fn found<const D: usize>(a: &Placed<'_, D>, b: &Placed<'_, D>, margin: f64) -> Vec<Touch<D>>
where
    Dim<D>: Space<D>,
{
    let mut contacts = Vec::new();
    collide(a, b, margin, &mut contacts);
    contacts.iter().map(|c| c.touch(&a.pose, &b.pose, [a.geometry, b.geometry])).collect()
}

fn deepest<const D: usize>(touches: &[Touch<D>]) -> Option<Touch<D>> {
    touches.iter().copied().min_by(|s, t| s.gap.total_cmp(&t.gap))
}

/// Moving A along the normal by the overlap makes the two just touch, the same from both sides; every point lies on both surfaces.
fn depth_is_exact<const D: usize>()
where
    Dim<D>: Space<D>,
{
    let mut rng = Pcg64::seed_from_u64(7);
    let mut overlapping = 0;
    for _ in 0..300 {
        let shapes = convex::<D>(&mut rng);
        for (i, first) in shapes.iter().enumerate() {
            for second in &shapes {
                if i == 4 {
                    continue;
                }
                let frame = random_frame::<D>(&mut rng, 0.5);
                let a = Placed { geometry: first, pose: Pose::new(&frame) };
                let b = Placed { geometry: second, pose: Pose::new(&random_frame(&mut rng, 0.2)) };
                let touches = found(&a, &b, 0.0);
                let back = found(&b, &a, 0.0);
                let (Some(deep), Some(other)) = (deepest(&touches), deepest(&back)) else {
                    assert!(touches.is_empty() && back.is_empty());
                    continue;
                };
                // Capsules are found by the distance of their axis, which tells the way out only while the axis is outside the other solid.
                let capsules =
                    [first, second].iter().filter(|g| matches!(g.solid(), Solid::Capsule { .. })).count();
                if capsules > 0 && deep.gap < -0.149 * capsules as f64 {
                    continue;
                }
                overlapping += 1;
                // Preferring one body as reference costs at most a thousandth of the size.
                assert!((deep.gap - other.gap).abs() < 3e-3, "{} {}", deep.gap, other.gap);
                let mut moved = a;
                // The deepest of a pair of polytopes is measured along the axis of least overlap; round ones may slide off a corner.
                moved.pose.position += deep.normal * (-deep.gap + 1e-9);
                let rest = deepest(&found(&moved, &b, 0.0)).map_or(0.0, |t| t.gap);
                assert!(
                    rest > -2e-3,
                    "{D}D {:?} {:?}: {} then {rest}",
                    first.solid(),
                    second.solid(),
                    deep.gap
                );
                // Between the two surfaces: inside both by half the overlap at most, or a little outside one.
                for t in touches.iter().filter(|t| t.gap > -0.02) {
                    let inside = |p: &Placed<'_, D>| p.geometry.signed_distance(&p.pose.to_object(&t.point));
                    assert!(
                        inside(&a) < 2e-2 && inside(&b) < 2e-2,
                        "{:?} {:?} {} {} gap {}",
                        first.solid(),
                        second.solid(),
                        inside(&a),
                        inside(&b),
                        t.gap
                    );
                }
            }
        }
    }
    assert!(overlapping > 1000, "{overlapping}");
}

#[test]
fn overlap_of_convex_solids_is_exact() {
    depth_is_exact::<2>();
    depth_is_exact::<3>();
}

/// Boxes by their own routine and as hulls overlap by the same depth.
fn boxes_agree_with_hulls<const D: usize>()
where
    Dim<D>: Space<D>,
{
    let mut rng = Pcg64::seed_from_u64(11);
    let half = Vector::<D>::from_fn(|a, _| [0.5, 0.2, 0.3][a]);
    let cuboid = Geometry::cuboid(half).unwrap();
    for _ in 0..2000 {
        let (fa, fb) = (random_frame::<D>(&mut rng, 0.4), random_frame::<D>(&mut rng, 0.1));
        let (pa, pb) = (Pose::new(&fa), Pose::new(&fb));
        let (mut own, mut hull) = (Vec::new(), Vec::new());
        cuboids::collide([&half, &half], [&pa, &pb], 0.0, &mut own);
        let polytope = cuboid.polytope().unwrap();
        hulls::collide([polytope, polytope], [&pa, &pb], &0.0.into(), &mut hull);
        let depth = |contacts: &[Contact<D>]| {
            contacts.iter().map(|c| c.touch(&pa, &pb, [&cuboid, &cuboid]).gap).fold(f64::INFINITY, f64::min)
        };
        assert_eq!(own.is_empty(), hull.is_empty());
        if !own.is_empty() {
            assert!((depth(&own) - depth(&hull)).abs() < 2e-3, "{} {}", depth(&own), depth(&hull));
        }
    }
}

#[test]
fn boxes_and_their_hulls_agree() {
    boxes_agree_with_hulls::<2>();
    boxes_agree_with_hulls::<3>();
}

#[test]
fn a_box_on_a_box_touches_at_the_corners_of_the_common_face() {
    let half = Vector::<3>::repeat(0.5);
    let cuboid = Geometry::cuboid(half).unwrap();
    let at = |x: f64, y: f64, z: f64| Placed {
        geometry: &cuboid,
        pose: Pose::new(&Frame { position: Vector::from([x, y, z]), rotation: Dim::<3>::identity() }),
    };
    let touches = found(&at(0.3, 0.999, 0.2), &at(0.0, 0.0, 0.0), 0.01);
    assert_eq!(touches.len(), 4);
    for t in &touches {
        assert!((t.gap + 1e-3).abs() < 1e-12 && (t.normal - Vector::from([0.0, 1.0, 0.0])).norm() < 1e-12);
        let (x, z) = (t.point.x, t.point.z);
        assert!((x - 0.5).abs().min((x + 0.2).abs()) < 1e-12 && (z - 0.5).abs().min((z + 0.3).abs()) < 1e-12);
    }
    // A larger box below a smaller one, and with the middle turned by 45 degrees: an octagon is reduced to four points.
    let turned = Placed {
        geometry: &cuboid,
        pose: Pose::new(&Frame {
            position: Vector::from([0.0, 0.999, 0.0]),
            rotation: Dim::<3>::exp(&Vector::from([0.0, std::f64::consts::FRAC_PI_4, 0.0])),
        }),
    };
    let touches = found(&turned, &at(0.0, 0.0, 0.0), 0.01);
    assert_eq!(touches.len(), 4);
    let spread = touches.iter().map(|t| t.point.xz().norm()).fold(f64::INFINITY, f64::min);
    assert!(spread > 0.5);
}

#[test]
fn contacts_stay_valid_while_the_bodies_move() {
    // A spinning ball keeps its normal; a box face turns with its body.
    let ball = Geometry::<3>::sphere(0.5).unwrap();
    let cuboid = Geometry::<3>::cuboid(Vector::repeat(0.5)).unwrap();
    let still = Frame::<3>::identity();
    let mut above = Frame::<3>::identity();
    above.position.y = 0.99;
    let mut contacts = Vec::new();
    let (a, b) = (
        Placed { geometry: &ball, pose: Pose::new(&above) },
        Placed { geometry: &cuboid, pose: Pose::new(&still) },
    );
    collide(&a, &b, 0.1, &mut contacts);
    let mut spun = above;
    spun.rotation = Dim::<3>::exp(&Vector::from([0.0, 0.0, 2.0]));
    spun.position.x += 0.1;
    let touch = contacts[0].touch(&Pose::new(&spun), &b.pose, [&ball, &cuboid]);
    assert!((touch.normal - Vector::from([0.0, 1.0, 0.0])).norm() < 0.25);
}

#[test]
fn a_torus_rests_on_a_box_by_its_particles() {
    let torus = Geometry::<3>::shape(Shape::torus(0.5, 0.1).unwrap(), 40).unwrap();
    let table = Geometry::<3>::cuboid(Vector::from([2.0, 0.1, 2.0])).unwrap();
    let frame = Frame::<3> {
        position: Vector::from([0.0, 0.195, 0.0]),
        rotation: Dim::<3>::exp(&Vector::from([std::f64::consts::FRAC_PI_2, 0.0, 0.0])),
    };
    let a = Placed { geometry: &torus, pose: Pose::new(&frame) };
    let b = Placed { geometry: &table, pose: Pose::new(&Frame::identity()) };
    let touches = found(&a, &b, 0.0);
    assert!(touches.len() >= 3, "{}", touches.len());
    // Particles of the table beside the lowest circle have the torus's normal there, which may differ from the table's by the angle of a patch.
    assert!(touches.iter().all(|t| t.normal.y > SAME_PATCH && t.gap > -0.0051), "{touches:?}");
    assert!(deepest(&touches).unwrap().normal.y > 0.9999);
    assert!((deepest(&touches).unwrap().gap + 0.005).abs() < 1e-4);
    let spread = touches.iter().map(|t| t.point.xz().norm()).fold(f64::INFINITY, f64::min);
    assert!(spread > 0.45, "{spread}");
}

/// Bodies that move apart have no contacts ahead of their meeting, bodies that approach have, and those that pass by each other have none.
#[test]
fn only_the_motion_along_a_separating_direction_reaches() {
    let points: Vec<Vector<3>> = (0..8)
        .map(|k| Vector::from_fn(|a, _| if k >> a & 1 == 1 { 0.5 } else { -0.5 }))
        .chain([Vector::from([0.0, 0.55, 0.0])])
        .collect();
    let hull = Geometry::hull(&points).unwrap();
    let at = |x: f64| Placed {
        geometry: &hull,
        pose: Pose::new(&Frame { position: Vector::from([x, 0.0, 0.0]), ..Frame::identity() }),
    };
    let (a, b) = (at(1.2), at(0.0));
    let count = |moved: [f64; 3]| {
        let mut contacts = Vec::new();
        collide(&a, &b, Reach { margin: 0.01, moved: moved.into() }, &mut contacts);
        let mut swapped = Vec::new();
        collide(&b, &a, Reach { margin: 0.01, moved: (-Vector::from(moved)) }, &mut swapped);
        assert_eq!(contacts.is_empty(), swapped.is_empty());
        contacts.len()
    };
    assert!(count([-0.3, 0.0, 0.0]) >= 4);
    assert_eq!(count([0.3, 0.0, 0.0]), 0);
    assert_eq!(count([0.0, -0.3, 0.0]), 0);
    assert_eq!(count([-0.1, 0.0, 0.0]), 0);
}

/// A flat prism of six sides lies on the ground with all corners of its face, and the corners of the other face, within reach but high above, do not take
/// their places; nor do they when it lies a little tilted with one corner in the ground.
#[test]
fn a_prism_on_the_ground_is_held_at_every_corner_that_touches() {
    let corner = |k: usize, y: f64| {
        let angle = std::f64::consts::TAU * (k % 6) as f64 / 6.0;
        Vector::<3>::from([0.2 * angle.cos(), y, 0.2 * angle.sin()])
    };
    let points: Vec<Vector<3>> = (0..12).map(|k| corner(k, if k < 6 { -0.05 } else { 0.05 })).collect();
    let prism = Geometry::hull(&points).unwrap();
    let ground = Geometry::<3>::half_space(Vector::from([0.0, 1.0, 0.0])).unwrap();
    let below = Placed { geometry: &ground, pose: Pose::new(&Frame::identity()) };
    for tilt in [0.0, 0.02] {
        let described = Frame {
            position: Vector::from([0.0, 0.05, 0.0]),
            rotation: Dim::<3>::exp(&Vector::from([0.0, 0.0, tilt])),
        };
        let frame = described.compose(&prism.placement().inverse());
        let above = Placed { geometry: &prism, pose: Pose::new(&frame) };
        let touches = found(&above, &below, 0.3);
        let low = touches.iter().filter(|touch| touch.gap < 0.02).count();
        assert_eq!(low, 6, "tilt {tilt}: {:?}", touches.iter().map(|t| t.gap).collect::<Vec<_>>());
        assert_eq!(touches.len(), 6);
    }
}

/// A box that rocks by milliradians on a corner of another keeps the four points of their common area, by the same names: loads of the last step find
/// them again. Separation along axes would choose one face, the other, or a pair of edges, by corners that are not over the other box at all.
#[test]
fn boxes_that_rock_keep_their_points() {
    let geometry = Geometry::<3>::cuboid(Vector::repeat(0.1)).unwrap();
    let a = Placed { geometry: &geometry, pose: Pose::new(&Frame::identity()) };
    let mut names: Option<Vec<u32>> = None;
    for tilt in [[0.0, 0.0], [2e-3, 2e-3], [-2e-3, 2e-3], [2e-3, -2e-3], [-2e-3, -2e-3]] {
        let rotation = Dim::<3>::exp(&Spin::<3>::from_slice(&[tilt[0], 0.0, tilt[1]]));
        let position = Vector::from([0.16, 0.2, 0.17]);
        let b = Placed { geometry: &geometry, pose: Pose::new(&Frame { position, rotation }) };
        let mut contacts = Vec::new();
        collide(&a, &b, 2e-3, &mut contacts);
        let mut found: Vec<u32> = contacts.iter().map(|contact| contact.feature).collect();
        found.sort_unstable();
        assert_eq!(found.len(), 4, "tilt {tilt:?}");
        assert_eq!(*names.get_or_insert_with(|| found.clone()), found, "tilt {tilt:?}");
    }
}

/// Two bars whose edges cross half way between the particles of both: only contact by edges sees them (spec/rigid-bodies.md 3.2).
#[test]
fn edges_that_cross_between_particles_meet() {
    // Square bars of 1 m that stand on an edge, with particles 1/9 m apart on it: none in the middle.
    let bar = |along: usize| {
        let corner = |k: usize| {
            let mut point = Vector::<3>::zeros();
            point[along] = if k < 4 { -0.5 } else { 0.5 };
            point[if k.is_multiple_of(2) { 1 } else { 2 - along }] = if k % 4 < 2 { 0.2 } else { -0.2 };
            point
        };
        let corners: Vec<Vector<3>> = (0..8).map(corner).collect();
        let surface = Geometry::hull(&corners).unwrap().surface().unwrap();
        Geometry::mesh(&surface, 16).unwrap()
    };
    let meet = |first: &Geometry<3>, second: &Geometry<3>| {
        let at = |place: [f64; 3], geometry: &Geometry<3>| {
            let described = Frame { position: Vector::from(place), ..Frame::identity() };
            Pose::new(&described.compose(&geometry.placement().inverse()))
        };
        // The upper edge of the first, along x, is 4.5 cm above the lower one of the second, along z.
        let a = Placed { geometry: first, pose: at([0.0; 3], first) };
        let b = Placed { geometry: second, pose: at([0.0, 0.355, 0.0], second) };
        found(&a, &b, 0.0)
    };
    assert!(meet(&bar(0), &bar(2)).is_empty());
    let touches = meet(&bar(0).meeting_by_edges(), &bar(2).meeting_by_edges());
    assert!(!touches.is_empty());
    for touch in touches {
        assert!((touch.point - Vector::from([0.0, 0.1775, 0.0])).norm() < 0.06, "{}", touch.point);
        assert!(touch.gap < 0.0 && touch.normal.y < -0.5, "{} {}", touch.gap, touch.normal);
    }
}

/// A ball that rolls on a face keeps the normal of the face, and past its edge turns about the edge: on a box, a hull, a mesh and a union.
#[test]
fn a_ball_keeps_the_normal_of_the_face_that_it_rolls_on() {
    let half = Vector::<3>::from([2.0, 0.5, 2.0]);
    let cuboid = Geometry::cuboid(half).unwrap();
    let polytope = cuboid.polytope().unwrap();
    let hull = Geometry::hull(&polytope.points).unwrap();
    let mesh = Geometry::mesh(&polytope.surface(), 20).unwrap();
    let part = |x: f64| {
        let own = Shape::cuboid(Vector::from([1.0, 0.5, 2.0])).unwrap();
        own.translated(Vector::from([x, 0.0, 0.0])).unwrap()
    };
    let union = Geometry::shape(part(-1.0).union(part(1.0)), 20).unwrap();
    let ball = Geometry::<3>::sphere(0.1).unwrap();
    let at = |x: f64, y: f64| Pose::new(&Frame { position: Vector::from([x, y, 0.3]), ..Frame::identity() });
    for ground in [&cuboid, &hull, &mesh, &union] {
        let below = Placed {
            geometry: ground,
            pose: Pose::new(&Frame::identity().compose(&ground.placement().inverse())),
        };
        for start in [-1.0, -0.05, 0.0, 0.7, 1.9] {
            let mut contacts = Vec::new();
            collide(&Placed { geometry: &ball, pose: at(start, 0.6) }, &below, 0.05, &mut contacts);
            assert!(!contacts.is_empty());
            for contact in &contacts {
                let touch = |x: f64| contact.touch(&at(x, 0.6), &below.pose, [&ball, ground]);
                for x in [start - 0.3, start, (start + 0.25).min(2.0)] {
                    let touch = touch(x);
                    let straight = (touch.normal - Vector::from([0.0, 1.0, 0.0])).norm();
                    assert!(straight < 1e-9, "{:?} {straight}", ground.solid());
                    assert!(touch.gap.abs() < 1e-9, "{}", touch.gap);
                }
            }
        }
        if !ground.parts().is_empty() {
            continue;
        }
        let mut contacts = Vec::new();
        collide(&Placed { geometry: &ball, pose: at(1.95, 0.6) }, &below, 0.05, &mut contacts);
        let touch = contacts[0].touch(&at(2.06, 0.58), &below.pose, [&ball, ground]);
        let way = Vector::<3>::from([0.06, 0.08, 0.0]);
        assert!((touch.normal - way.normalize()).norm() < 1e-9 && touch.gap.abs() < 1e-9);
    }
}

/// A cube on a face is pushed along the normal of the face only, whatever particles lie beside it and wherever the seams are.
#[test]
fn nothing_beside_a_cube_on_a_face_touches_it() {
    let slab = Geometry::<3>::cuboid(Vector::from([2.0, 0.25, 2.0])).unwrap();
    let mesh = Geometry::mesh(&slab.polytope().unwrap().surface(), 64).unwrap();
    let part = |x: f64| {
        let own = Shape::cuboid(Vector::from([0.5, 0.25, 2.0])).unwrap();
        own.translated(Vector::from([x, 0.0, 0.0])).unwrap()
    };
    let union = [-0.5, 0.5, 1.5].into_iter().fold(part(-1.5), |whole, x| whole.union(part(x)));
    let union = Geometry::shape(union, 64).unwrap();
    let cube = Geometry::<3>::cuboid(Vector::repeat(0.25)).unwrap();
    let mesh_cube = Geometry::mesh(&cube.polytope().unwrap().surface(), 24).unwrap();
    for ground in [&mesh, &union] {
        for above in [&cube, &mesh_cube] {
            for (x, gap) in [
                (0.1, 0.0),
                (0.25, 0.0),
                (0.249, 1e-6),
                (0.37, -1e-6),
                (-0.751, 0.0),
                (0.72, 0.0),
                (0.74, 1e-7),
            ] {
                let place = |y: f64| Frame { position: Vector::from([x, y, 0.13]), ..Frame::identity() };
                let a = Placed {
                    geometry: above,
                    pose: Pose::new(&place(0.5 + gap).compose(&above.placement().inverse())),
                };
                let below = Frame::identity().compose(&ground.placement().inverse());
                let b = Placed { geometry: ground, pose: Pose::new(&below) };
                let touches = found(&a, &b, 0.05);
                assert!(touches.len() >= 4, "{}", touches.len());
                for touch in &touches {
                    let straight = (touch.normal - Vector::from([0.0, 1.0, 0.0])).norm();
                    assert!(straight < 1e-9 && (touch.gap - gap).abs() < 1e-9, "{x} {touch:?}");
                }
                let spread = touches.iter().map(|t| (t.point - a.pose.position).x);
                let (low, high) = spread.fold((0.0f64, 0.0f64), |(l, h), x| (l.min(x), h.max(x)));
                // Of a body that is known by samples the outermost ones may lie on edges, whose normals say nothing.
                let wide = if std::ptr::eq(above, &cube) { 0.24 } else { 0.21 };
                assert!(low < -wide && high > wide, "{low} {high} {:?}", above.solid());
            }
        }
    }
}

/// A cube in the corner between a floor and two walls that are parts of one body stands on the floor with all of its corners and touches both walls.
#[test]
fn a_cube_in_a_corner_of_a_union_touches_all_of_its_faces() {
    let block = |half: [f64; 3], at: [f64; 3]| {
        Shape::<3>::cuboid(Vector::from(half)).unwrap().translated(Vector::from(at)).unwrap()
    };
    let room = block([2.0, 0.5, 2.0], [0.0, -0.5, 0.0])
        .union(block([0.5, 2.0, 2.0], [-2.5, 1.0, 0.0]))
        .union(block([2.0, 2.0, 0.5], [0.0, 1.0, -2.5]));
    let room = Geometry::shape(room, 32).unwrap();
    let cube = Geometry::<3>::cuboid(Vector::repeat(0.25)).unwrap();
    for sunk in [0.0, 1e-5] {
        let position = Vector::from([-1.75 - sunk, 0.25 - sunk, -1.75 - sunk]);
        let a = Placed { geometry: &cube, pose: Pose::new(&Frame { position, ..Frame::identity() }) };
        let b = Placed {
            geometry: &room,
            pose: Pose::new(&Frame::identity().compose(&room.placement().inverse())),
        };
        let touches = found(&a, &b, 1e-3);
        for axis in 0..3 {
            let along = touches.iter().filter(|touch| touch.normal[axis] > 1.0 - 1e-9).count();
            assert_eq!(along, 4, "{axis} {sunk}: {touches:?}");
        }
        assert_eq!(touches.len(), 12);
    }
}

/// A capsule that tips over lands on its far end within the step: that end is looked at as soon as it can be reached.
#[test]
fn a_tilted_capsule_is_seen_with_both_ends() {
    let floor = Geometry::<2>::half_space(Vector::from([0.0, 1.0])).unwrap();
    let capsule = Geometry::<2>::capsule(0.15, 0.4).unwrap();
    let level = Pose::new(&Frame::identity());
    for (tilt, margin, wanted) in [(0.0, 0.01, 2), (0.1, 0.01, 1), (0.1, 0.2, 2)] {
        let turn = Dim::<2>::exp(&Spin::<2>::from_slice(&[0.5 * std::f64::consts::PI + tilt]));
        let lowest = 0.4 * f64::sin(tilt) + 0.15;
        let pose = Pose::new(&Frame { position: Vector::from([0.0, lowest]), rotation: turn });
        let (a, b) = (Placed { geometry: &capsule, pose }, Placed { geometry: &floor, pose: level });
        let mut along: Vec<f64> = found(&a, &b, margin).iter().map(|touch| touch.point[0]).collect();
        along.sort_by(f64::total_cmp);
        along.dedup_by(|a, b| (*a - *b).abs() < 0.1);
        assert_eq!(along.len(), wanted, "tilt {tilt}, margin {margin}: {along:?}");
    }
}
