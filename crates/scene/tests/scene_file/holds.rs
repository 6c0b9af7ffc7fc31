//! Particles that are held, moved in turn and let go.

use splashdown_couple::World;
use splashdown_scene::{AnyWorld, Scene, build};

fn three(text: &str) -> World<3> {
    let scene = Scene::parse("held.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let AnyWorld::Three(world) = build(&scene).expect("a world") else { unreachable!("3D") };
    *world
}

/// A bar along y without weight, with `holds`.
fn bar(integrator: &str, holds: &str) -> String {
    format!(
        "dimension = 3\ngravity = [0, 0, 0]\n[time]\nend = 1\n[elastic]\nintegrator = \"{integrator}\"\n[[deformable]]\nname = \"bar\"\ngeometry = {{ box = {{ from = [0, 0, 0], size = [0.2, 1, 0.2], cells = [1, 5, 1] }} }}\ndensity = 1000\nmaterial = {{ young = 60000, damping = 0.02 }}\n[deformable.elastic]\nhold = [{holds}]\n"
    )
}

/// Largest distance (m) of the particles that are at `y > 0.99` at rest to where `path` leads them.
fn missed(world: &World<3>, path: impl Fn([f64; 3]) -> [f64; 3]) -> f64 {
    let rest = &world.solids().expect("solids").bodies[0].rest;
    let all = rest.as_chunks::<3>().0.iter().zip(world.state().solids.motion.position.as_chunks::<3>().0);
    let (mut most, mut seen) = (0.0f64, 0);
    for (rest, now) in all.filter(|(rest, _)| rest[1] > 0.99) {
        let aim = path(*rest);
        seen += 1;
        most = most.max((0..3).map(|axis| (now[axis] - aim[axis]).abs()).fold(0.0, f64::max));
    }
    assert_eq!(seen, 4);
    most
}

/// Along x for 0.2 s, then along z, then a quarter turn about where that has led: each motion begins where the one before it has ended, in whatever order they are written.
#[test]
fn holds_of_the_same_particles_follow_each_other() {
    let end = "from = [-1, 0.99, -1], to = [1, 1.01, 1]";
    let holds = format!(
        "{{ {end}, velocity = [0, 0, 0.5], start = 0.2, end = 0.4 }}, {{ {end}, velocity = [0.5, 0, 0], end = 0.2 }}, {{ {end}, spin = [0, 5, 0], centre = [0.2, 0, 0.2], start = 0.4, end = 0.6 }}"
    );
    for integrator in ["scheme_b", "scheme_c", "linearly_implicit", "backward_euler", "two_pass"] {
        let mut world = three(&bar(integrator, &holds));
        let mut go = |steps: usize| (0..steps).for_each(|_| drop(world.step(0.01).expect("a step")));
        go(20);
        assert!(missed(&world, |[x, y, z]| [x + 0.1, y, z]) < 1e-9, "{integrator}");
        let mut go = |steps: usize| (0..steps).for_each(|_| drop(world.step(0.01).expect("a step")));
        go(20);
        assert!(missed(&world, |[x, y, z]| [x + 0.1, y, z + 0.1]) < 1e-9, "{integrator}");
        let mut go = |steps: usize| (0..steps).for_each(|_| drop(world.step(0.01).expect("a step")));
        go(30);
        // One radian about y: z turns towards x.
        let (sin, cos) = 1f64.sin_cos();
        let turned = |[x, y, z]: [f64; 3]| {
            let (a, b) = (x + 0.1 - 0.2, z + 0.1 - 0.2);
            [0.2 + cos * a + sin * b, y, 0.2 - sin * a + cos * b]
        };
        assert!(missed(&world, turned) < 1e-9, "{integrator}");
    }
}

#[test]
fn what_two_holds_have_is_free_when_the_last_lets_go() {
    let end = "from = [-1, 0.99, -1], to = [1, 1.01, 1]";
    let mass = |holds: &str| {
        let mut world = three(&bar("scheme_b", holds));
        let mut masses = Vec::new();
        for _ in 0..3 {
            (0..10).for_each(|_| drop(world.step(0.01).expect("a step")));
            masses.push((world.diagnostics().mass - 40.0).abs() < 1e-9);
        }
        (masses, world)
    };
    let first = format!("{{ {end}, velocity = [1, 0, 0], release = 0.05 }}");
    assert_eq!(mass(&first).0, [true, true, true]);
    let (free, world) = mass(&format!("{first}, {{ {end}, release = 0.15 }}"));
    assert_eq!(free, [false, true, true]);
    drop(world);
    // A hold without release has it for good; the motion ends with the release of its own hold.
    let (free, world) = mass(&format!("{{ {end} }}, {first}"));
    assert_eq!(free, [false, false, false]);
    assert!(missed(&world, |[x, y, z]| [x + 0.05, y, z]) < 1e-9);
}
