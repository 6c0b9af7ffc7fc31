//! Layers: cloth over a soft body that does not feel it, and over a surface whose motion is known (spec DS-39, DS-52, E9).

use splashdown_couple::World;
use splashdown_geometry::generate::ball_tetrahedra;
use splashdown_geometry::io::{AnyMesh, Encoding, write_mesh};
use splashdown_geometry::mesh::{SurfaceMesh, TetrahedronMesh};
use splashdown_geometry::simplex::closest_point;
use splashdown_math::Vector;
use splashdown_scene::{AnyWorld, Scene, build};

fn three(text: &str) -> World<3> {
    let scene = Scene::parse("layers.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let AnyWorld::Three(world) = build(&scene).expect("a world") else { unreachable!("3D") };
    *world
}

fn points(world: &World<3>, body: usize) -> Vec<Vector<3>> {
    let own = world.solids().expect("solids").bodies[body].particles.clone();
    own.map(|particle| world.state().solids.motion.point::<3>(particle)).collect()
}

/// Signed distance (m) to a closed surface by the closest of all triangles and the solid angle under which it is seen, which shares nothing with what keeps the cloth out.
fn distance(surface: &SurfaceMesh<3>, x: &Vector<3>) -> f64 {
    let (mut nearest, mut angle) = (f64::INFINITY, 0.0);
    for face in &surface.elements {
        let corners = face.map(|point| surface.points[point as usize]);
        let closest = closest_point::<3, 3>(x, &corners);
        let foot: Vector<3> =
            (corners.iter().zip(closest.weights)).map(|(corner, weight)| corner * weight).sum();
        nearest = nearest.min((x - foot).norm());
        let [a, b, c] = corners.map(|corner| corner - x);
        let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
        let below = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
        angle += 2.0 * a.dot(&b.cross(&c)).atan2(below);
    }
    if angle.abs() > 2.0 * std::f64::consts::PI { -nearest } else { nearest }
}

/// The surface of the body of tetrahedra `body` as it is now.
fn skin(world: &World<3>, body: usize) -> SurfaceMesh<3> {
    let own = &world.solids().expect("solids").bodies[body];
    let mesh =
        TetrahedronMesh { points: points(world, body), elements: own.elements.as_chunks::<4>().0.to_vec() };
    mesh.boundary().expect("a boundary").mesh
}

const CLOTH: &str = "[[deformable]]\nname = \"cape\"\ngeometry = { sheet = { corner = [-0.3, 0.41, -0.3], u = [0, 0, 0.6], v = [0.6, 0, 0], cells = [12, 12] } }\ndensity = 300\nmaterial = { young = 20000, damping = 0.005 }\nelastic = { bending = { stiffness = 1e-5 }, over = [{ body = \"body\", friction = 0.5 }] }\n";

/// E9 at reduced size: no point of the cape gets into the body, which is squeezed by a block that falls on it and moves as it does without the cape.
#[test]
fn cloth_lies_on_a_soft_body_that_does_not_feel_it() {
    let body = |integrator: &str| {
        format!(
            "dimension = 3\n[time]\nend = 1\n[elastic]\nintegrator = \"{integrator}\"\ndistance = 0.004\n[[rigid]]\nname = \"floor\"\nkind = \"static\"\nshape = {{ plane = {{}} }}\n[[rigid]]\nname = \"wall\"\nkind = \"kinematic\"\nshape = {{ box = {{ size = [0.1, 1, 1] }} }}\nposition = [0.27, 0.55, 0]\nvelocity = [-0.3, 0, 0]\n[[deformable]]\nname = \"body\"\ngeometry = {{ ball = {{ centre = [0, 0.205, 0], radius = 0.2, cells = 3 }} }}\ndensity = 300\nmaterial = {{ model = \"fixed_corotated\", young = 20000, poisson = 0.3, damping = 0.01 }}\n"
        )
    };
    for integrator in ["scheme_b", "backward_euler"] {
        let alone = body(integrator);
        let mut world = three(&format!("{alone}{CLOTH}"));
        let mut bare = three(&alone);
        let (mut deepest, mut touching) = (f64::INFINITY, 0);
        for step in 0..50 {
            world.step(0.01).expect("a step");
            bare.step(0.01).expect("a step");
            if step % 5 == 4 {
                let surface = skin(&world, 0);
                let distances: Vec<f64> = points(&world, 1).iter().map(|x| distance(&surface, x)).collect();
                deepest = distances.iter().copied().fold(deepest, f64::min);
                touching = distances.iter().filter(|&&d| d < 0.006).count();
            }
        }
        assert!(deepest > -1e-4 * 0.4, "{integrator}: {deepest} m");
        assert!(touching >= 10, "{integrator}: only {touching} points of the cape lie on the body");
        let lowest = points(&world, 1).iter().map(|x| x[1]).fold(f64::MAX, f64::min);
        assert!(lowest < 0.35, "{integrator}: the cape hangs, {lowest}");
        // The body is where it is without the cape, to what a step of another length makes of it.
        let apart =
            points(&world, 0).iter().zip(points(&bare, 0)).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(apart < 2e-3, "{integrator}: {apart} m");
    }
}

/// A ball whose motion is in files, `x = t^2` along x, read at 10 Hz: it is on the parabola at every step, whatever the length of the steps, and takes the cloth on it along.
#[test]
fn recorded_motion_is_smooth_between_its_files_and_moves_what_lies_on_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let ball = ball_tetrahedra(Vector::<3>::new(0.0, 0.2, 0.0), 0.2, 3).expect("a ball");
    let skin = ball.boundary().expect("a boundary").mesh;
    for n in 0..12 {
        let t = 0.1 * f64::from(n);
        let points = skin.points.iter().map(|x| (x + Vector::<3>::new(t * t, 0.0, 0.0)) * 1000.0).collect();
        let mesh = AnyMesh { points, triangles: skin.elements.clone(), ..AnyMesh::default() };
        write_mesh(folder.path().join(format!("ball-{n:03}.vtk")), &mesh, Encoding::Binary).expect("a file");
    }
    let files = folder.path().join("ball-*.vtk");
    // Written in millimetres, 1 m higher than the cloth wants it, from 0.1 s before the start of the run.
    let text = |integrator: &str| {
        format!(
            "dimension = 3\n[time]\nend = 1\n[elastic]\nintegrator = \"{integrator}\"\ndistance = 0.004\n[[deformable]]\nname = \"body\"\ngeometry = {{ recorded = {{ files = {files:?}, interval = 0.1, start = -0.1, scale = 1e-3, offset = [-0.01, 0.005, 0] }} }}\n{CLOTH}"
        )
    };
    for integrator in ["scheme_b", "backward_euler"] {
        let mut world = three(&text(integrator));
        let dt = 0.013;
        let mut deepest = f64::INFINITY;
        for step in 1..=46 {
            let before = points(&world, 0);
            world.step(dt).expect("a step");
            // The first file is at -0.1 s.
            let shift = |t: f64| (t + 0.1) * (t + 0.1) - 0.01;
            let t = dt * f64::from(step);
            for (n, x) in points(&world, 0).iter().enumerate() {
                let exact = skin.points[n] + Vector::<3>::new(shift(t), 0.005, 0.0);
                assert!((x - exact).norm() < 1e-9, "{integrator}, {t} s, point {n}: {x} instead of {exact}");
                let speed = world.state().solids.motion.speed::<3>(n);
                // Explicit schemes take parts of a step; the speed is that of the last one.
                let mean = (x - before[n]) / dt;
                assert!((speed - mean).norm() < 2.0 * dt, "{integrator}: {speed} and {mean}");
            }
            if step % 5 == 0 {
                let surface = SurfaceMesh { points: points(&world, 0), elements: skin.elements.clone() };
                deepest = points(&world, 1).iter().map(|x| distance(&surface, x)).fold(deepest, f64::min);
            }
        }
        assert!(deepest > -1e-4 * 0.4, "{integrator}: {deepest} m");
        let along = points(&world, 1).iter().map(|x| x[0]).sum::<f64>() / 169.0;
        let moved = points(&world, 0)[0][0] - skin.points[0][0];
        assert!(along > 0.5 * moved && moved > 0.4, "{integrator}: the cloth went {along} m of {moved}");
    }
}
