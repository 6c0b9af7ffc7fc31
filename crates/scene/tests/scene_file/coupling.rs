//! How bodies and fluids are coupled, as a scene says it.

use splashdown_couple::World;
use splashdown_math::Vector;
use splashdown_scene::{AnyWorld, Scene, build};

fn plane(text: &str) -> Result<World<2>, String> {
    let scene = Scene::parse("coupled.toml", text, &[]).map_err(|errors| errors.to_string())?;
    match build(&scene).map_err(|error| error.to_string())? {
        AnyWorld::Two(world) => Ok(*world),
        AnyWorld::Three(_) => Err("it has three dimensions".into()),
    }
}

fn space(text: &str) -> Result<World<3>, String> {
    let scene = Scene::parse("coupled.toml", text, &[]).map_err(|errors| errors.to_string())?;
    match build(&scene).map_err(|error| error.to_string())? {
        AnyWorld::Three(world) => Ok(*world),
        AnyWorld::Two(_) => Err("it has two dimensions".into()),
    }
}

/// A fan that fills a channel drives its own speed through it.
#[test]
fn a_body_drives_fluid_through_its_surface() {
    let text = "dimension = 2\ngravity = [0, 0]\n[time]\nend = 1\n[fluid]\ncell = 0.1\ncells = [10, 4]\nleft = { kind = \"open\" }\nright = { kind = \"open\" }\nliquids = [{ name = \"air\", density = 1.2 }]\n[[rigid]]\nname = \"fan\"\nkind = \"static\"\nshape = { box = { size = [0.2, 0.6] } }\nposition = [0.5, 0.2]\nsurface_flow = { velocity = [0.3, 0] }\n";
    let mut world = plane(text).expect("right");
    world.step(0.01).expect("a step");
    let u = world.state().fluid.as_ref().expect("a fluid").velocity.component(0).at([2, 1]);
    assert!((u - 0.3).abs() < 1e-6, "{u}");
    let dry = text.replace("[fluid]", "[fluid]\ncoupling = false");
    let refused = plane(&dry).map(|_| ()).expect_err("nothing to drive");
    assert!(refused.contains("drives a fluid"), "{refused}");
}

/// Rows of eddies, and a body that starts with them.
#[test]
fn bodies_may_start_adrift() {
    let text = "dimension = 2\ngravity = [0, 0]\n[time]\nend = 1\n[fluid]\ncell = 0.0625\ncells = [16, 16]\nsides = { kind = \"periodic\" }\nliquids = [{ name = \"water\", density = 1 }]\neddies = { amplitude = 0.05 }\n[[deformable]]\nname = \"disc\"\ngeometry = { ball = { centre = [0.5, 0.5], radius = 0.2, cells = 3 } }\ndensity = 1\nmaterial = { young = 3 }\nelastic = { adrift = true }\n";
    let world = plane(text).expect("right");
    let tau = std::f64::consts::TAU;
    let motion = &world.state().solids.motion;
    for (x, v) in motion.position.chunks_exact(2).zip(motion.velocity.chunks_exact(2)) {
        let exact = [
            0.05 * tau * (tau * x[0]).sin() * (tau * x[1]).cos(),
            -0.05 * tau * (tau * x[0]).cos() * (tau * x[1]).sin(),
        ];
        assert!((v[0] - exact[0]).abs() + (v[1] - exact[1]).abs() < 1e-12, "{x:?}: {v:?}, {exact:?}");
    }
    let u = &world.state().fluid.as_ref().expect("a fluid").velocity;
    let place = Vector::from([0.125, 0.0625 / 2.0]);
    let exact = 0.05 * tau * (tau * place[0]).sin() * (tau * place[1]).cos();
    assert!((u.component(0).at([2, 0]) - exact).abs() < 0.02 * exact, "{}", u.component(0).at([2, 0]));
    let alone = text.split("[fluid]").next().expect("a head").to_owned()
        + &text[text.find("[[deformable]]").expect("a body")..];
    assert!(plane(&alone).err().is_some_and(|refused| refused.contains("adrift")));
}

/// A soft disc and a rigid one in one tank: all forms of the coupled system give the same velocities (spec/fluid-structure.md FS-T14).
#[test]
fn forms_agree_with_soft_bodies() {
    for viscosity in [0.0, 0.5] {
        let run = |form: &str| {
            let text = format!(
                "dimension = 2\n[time]\nend = 1\n[elastic]\ntolerance = 1e-12\n[fluid]\ncell = 0.05\ncells = [20, 24]\ntop = {{ kind = \"open\" }}\ndivergence = 1e-12\nliquids = [{{ name = \"oil\", density = 900, viscosity = {viscosity} }}]\n[fluid.coupling]\nform = \"{form}\"\n[[rigid]]\nname = \"ball\"\nshape = {{ sphere = {{ radius = 0.12 }} }}\ndensity = 300\nposition = [0.27, 0.5]\n[[deformable]]\nname = \"jelly\"\ngeometry = {{ ball = {{ centre = [0.68, 0.61], radius = 0.17, cells = 2 }} }}\ndensity = 2000\nmaterial = {{ young = 30000, damping = 0.01 }}\n"
            );
            let mut world = plane(&text).expect("right");
            for _ in 0..2 {
                world.step(0.002).expect("a step");
            }
            let state = world.state();
            let mut found = state.bodies[0].velocity.iter().copied().collect::<Vec<_>>();
            found.extend(&state.solids.motion.velocity);
            found
        };
        // The lumped forms have viscosity before the solve.
        let forms = ["pressure", "impulses", "kkt", "lumped"];
        let forms = &forms[..if viscosity == 0.0 { 4 } else { 3 }];
        let reference = run(forms[0]);
        let size = reference.iter().fold(0.0f64, |most, v| most.max(v.abs()));
        assert!(size > 1e-3);
        for form in &forms[1..] {
            let other = run(form);
            let far = reference.iter().zip(&other).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
            assert!(far <= 1e-6 * size, "{form}, viscosity {viscosity}: {far:e} of {size:e}");
        }
    }
}

/// A light sheet that flies broadside into still air is all but stopped by its added mass, `0.455 rho a^3` for a square, whichever of its points are pushed. Its edges are longer than
/// cells: of shorter ones some motions move no face (`ray`), and are stopped by the sheet's own stiffness only.
#[test]
fn weights_are_chosen_in_the_scene() {
    let run = |weights: &str| {
        let text = format!(
            "dimension = 3\ngravity = [0, 0, 0]\n[time]\nend = 1\n[fluid]\ncell = 0.1\ncells = [8, 8, 8]\nsides = {{ kind = \"open\" }}\nliquids = [{{ name = \"air\", density = 1.2 }}]\n[fluid.coupling]\nweights = \"{weights}\"\n[[deformable]]\nname = \"sheet\"\ngeometry = {{ sheet = {{ corner = [0.22, 0.33, 0.61], u = [0.4, 0, 0], v = [0, 0, -0.4], cells = [3, 3] }} }}\ndensity = 20\nvelocity = [0, -1, 0]\nmaterial = {{ young = 1000, damping = 0.01 }}\nelastic = {{ thickness = 0.001 }}\n"
        );
        let mut world = space(&text).expect("right");
        for _ in 0..3 {
            world.step(0.002).expect("a step");
        }
        let all = world.diagnostics();
        all.momentum[1] / all.mass
    };
    let mass = 20.0 * 0.001 * 0.4 * 0.4;
    let exact = -mass / (mass + 0.455 * 1.2 * 0.4f64.powi(3));
    let (ray, area) = (run("ray"), run("area"));
    assert_ne!(ray, area);
    for (weights, found) in [("ray", ray), ("area", area)] {
        // Four cells across the sheet.
        assert!((found / exact - 1.0).abs() < 0.5, "{weights}: {found} m/s, {exact} m/s");
    }
}

/// `in_fluid`: fluid slides along what slips, whichever way it would stick, and a body that only pushes falls as in a vacuum while the water makes way.
#[test]
fn bodies_choose_how_they_meet_a_fluid() {
    // A plate from side to side of a periodic channel.
    let speed = |slip: bool, tangential: &str| {
        let text = format!(
            "dimension = 2\ngravity = [0, 0]\n[time]\nend = 1\n[fluid]\ncell = 0.1\ncells = [8, 10]\nleft = {{ kind = \"periodic\" }}\nright = {{ kind = \"periodic\" }}\nliquids = [{{ name = \"oil\", density = 900, viscosity = 50 }}]\n[fluid.coupling]\ntangential = \"{tangential}\"\n[[rigid]]\nname = \"plate\"\nshape = {{ box = {{ size = [1.6, 0.2] }} }}\ndensity = 500\nposition = [0.4, 0.5]\nvelocity = [1, 0]\nin_fluid = {{ slip = {slip} }}\n"
        );
        let mut world = plane(&text).expect("right");
        world.step(0.02).expect("a step");
        world.state().bodies[0].velocity[0]
    };
    for tangential in ["solid_side", "fluid_side"] {
        let (slips, sticks) = (speed(true, tangential), speed(false, tangential));
        assert!((slips - 1.0).abs() < 1e-9 && sticks < 0.95, "{tangential}: {slips}, {sticks}");
    }
    let text = "dimension = 2\n[time]\nend = 1\n[fluid]\ncell = 0.1\ncells = [12, 12]\ntop = { kind = \"open\" }\nliquids = [{ name = \"water\", density = 1000 }]\n[[rigid]]\nname = \"ball\"\nshape = { sphere = { radius = 0.2 } }\ndensity = 300\nposition = [0.6, 0.6]\nin_fluid = { one_way = true }\n";
    let mut world = plane(text).expect("right");
    for _ in 0..5 {
        world.step(0.004).expect("a step");
    }
    let fall = world.state().bodies[0].velocity[1] / (-9.81 * 0.02);
    let stirred = world.state().fluid.as_ref().expect("a fluid").velocity.component(1);
    assert!((fall - 1.0).abs() < 1e-9, "{fall}");
    assert!(stirred.max_abs() > 0.1, "{}", stirred.max_abs());
    // At rest on the ground it does not stir the water.
    let text = format!("{text}[[rigid]]\nname = \"ground\"\nkind = \"static\"\nshape = {{ plane = {{}} }}\n");
    let mut world = plane(&text.replace("[0.6, 0.6]", "[0.6, 0.2]")).expect("right");
    for _ in 0..3 {
        world.step(0.01).expect("a step");
    }
    let stirred = world.state().fluid.as_ref().expect("a fluid").velocity.component(1).max_abs();
    assert!(stirred < 1e-6, "{stirred}");
    let alone = "dimension = 2\n[time]\nend = 1\n[[rigid]]\nname = \"ball\"\nshape = { sphere = { radius = 0.2 } }\ndensity = 300\nin_fluid = { one_way = true }\n";
    assert!(plane(alone).err().is_some_and(|refused| refused.contains("in_fluid")));
}

/// FS-29: viscosity and pressure in one definite solve without any body: the energy of eddies in a periodic box decays as `exp(-4 nu k^2 t)`.
#[test]
fn viscosity_and_pressure_are_one_solve_without_bodies() {
    let (viscosity, dt, steps) = (0.02, 0.002, 10);
    let text = format!(
        "dimension = 2\ngravity = [0, 0]\n[time]\nend = 1\n[fluid]\ncell = 0.03125\ncells = [32, 32]\nsides = {{ kind = \"periodic\" }}\nliquids = [{{ name = \"oil\", density = 1, viscosity = {viscosity} }}]\neddies = {{ amplitude = 0.05 }}\ntransport = \"none\"\n[fluid.coupling]\nwithout_bodies = true\n"
    );
    let mut world = plane(&text).expect("right");
    let energy = |world: &World<2>| world.fluid_diagnostics().expect("a fluid").kinetic_energy;
    let start = energy(&world);
    for _ in 0..steps {
        let report = world.step(dt).expect("a step");
        let coupling = report.solves.iter().find_map(|solve| solve.coupling).expect("one solve");
        assert!(coupling.velocities > 0 && coupling.faces == 0 && coupling.divergence < 1e-8);
    }
    let tau = std::f64::consts::TAU;
    let exact = (-4.0 * viscosity * tau * tau * f64::from(steps) * dt).exp();
    let found = energy(&world) / start;
    // First order in time and second in space: a few thousandths of what is lost.
    assert!((found / exact - 1.0).abs() < 0.02 * (1.0 - exact), "{found}, {exact}");
}

/// A stiff jelly that lies beside the tank, in which a ball rests on the ground: what the ball's contact demands of the fluid's solve has nothing to do with the jelly's particles, which are not in it.
#[test]
fn soft_bodies_beside_the_tank_are_not_in_its_solve() {
    let text = "dimension = 2\n[time]\nend = 1\n[elastic]\nintegrator = \"linearly_implicit\"\n[fluid]\ncell = 0.1\ncells = [10, 10]\ntop = { kind = \"open\" }\nliquids = [{ name = \"water\", density = 1000 }]\n[[rigid]]\nname = \"ground\"\nkind = \"static\"\nshape = { plane = {} }\n[[rigid]]\nname = \"ball\"\nshape = { sphere = { radius = 0.2 } }\ndensity = 3000\nposition = [0.5, 0.2]\n[[deformable]]\nname = \"jelly\"\ngeometry = { ball = { centre = [3, 0.3], radius = 0.3, cells = 3 } }\ndensity = 1000\nmaterial = { young = 1e5, damping = 0.01 }\n";
    let run = |text: &str| {
        let mut world = plane(text).expect("right");
        for _ in 0..20 {
            world.step(0.01).expect("a step");
        }
        world
    };
    let [head, tail] = ["[fluid]", "[[rigid]]"].map(|word| text.find(word).expect("a part"));
    let (wet, dry) = (run(text), run(&(text[..head].to_owned() + &text[tail..])));
    assert!((wet.state().bodies[1].frame.position[1] - 0.2).abs() < 1e-6);
    let positions = [&wet, &dry].map(|world| &world.state().solids.motion.position);
    let far = positions[0].iter().zip(positions[1]).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
    assert!(far < 1e-9, "{far:e} m");
}
