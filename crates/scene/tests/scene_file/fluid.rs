//! Options of fluids do what they say.

use splashdown_couple::World;
use splashdown_fluid::advect::{Limiter, PathOrder, Scheme, UpwindScheme};
use splashdown_fluid::pressure::PressureSolver;
use splashdown_fluid::viscosity::{ViscosityForm, ViscousStep};
use splashdown_fluid::{FluidModel, FluidOptions, LevelSetTransport, Redistancing, TimeScheme};
use splashdown_geometry::iso_surface::{Extraction, extract};
use splashdown_scene::{AnyWorld, Scene, SceneErrors, build};

/// Refused, or a world of a fluid in a square of 16 x 16 cells with `more` in its table.
fn tank(more: &str) -> Result<World<2>, String> {
    let text = format!("dimension = 2\n[time]\nend = 1\n[fluid]\ncell = 0.0625\ncells = [16, 16]\n{more}\n");
    let scene = Scene::parse("tank.toml", &text, &[]).map_err(|errors| errors.to_string())?;
    match build(&scene).map_err(|error| error.to_string())? {
        AnyWorld::Two(world) => Ok(*world),
        AnyWorld::Three(_) => unreachable!("it has two dimensions"),
    }
}

fn model(world: &World<2>) -> &FluidModel<2> {
    world.model().fluid.as_ref().expect("a fluid")
}

const WATER: &str = "free_surface = true\nliquids = [{ name = \"water\", density = 1000, viscosity = 0.1, regions = [{ shape = { box = { size = [0.8, 1.2] } } }] }]\n";
const GAS: &str = "liquids = [{ name = \"gas\", density = 1.2, viscosity = 0.01 }]\nvelocity = [0.2, 0.1]\n";

/// Every word of `[fluid.method]` reaches the solver, and the solver takes steps with it.
#[test]
fn methods_are_chosen_in_the_scene() {
    type Chosen = fn(&FluidOptions) -> bool;
    let of_advection = |options: &FluidOptions| options.advection.expect("a transport");
    let choices: [(&str, &str, Chosen); 24] = [
        (GAS, "paths = \"first\"", |o| o.advection.is_some_and(|a| a.path == PathOrder::First)),
        (GAS, "paths = \"second\"", |o| o.advection.is_some_and(|a| a.path == PathOrder::Second)),
        (GAS, "paths = \"third\"", |o| o.advection.is_some_and(|a| a.path == PathOrder::Third)),
        (GAS, "limiter = \"none\"", |o| o.advection.is_some_and(|a| a.limiter == Limiter::None)),
        (GAS, "limiter = \"revert\"", |o| o.advection.is_some_and(|a| a.limiter == Limiter::Revert)),
        (GAS, "limiter = \"clamp\"", |o| o.advection.is_some_and(|a| a.limiter == Limiter::Clamp)),
        (GAS, "scheme = \"reflection\"", |o| o.scheme == TimeScheme::Reflection),
        (GAS, "scheme = \"splitting\"", |o| o.scheme == TimeScheme::Splitting),
        (GAS, "viscous_step = \"explicit\"", |o| o.viscous_step == ViscousStep::Explicit),
        (GAS, "viscous_step = \"implicit\"", |o| o.viscous_step == ViscousStep::Implicit),
        (GAS, "viscous_step = \"crank_nicolson\"", |o| o.viscous_step == ViscousStep::CrankNicolson),
        (GAS, "viscosity_form = \"stress\"", |o| o.viscosity_form == ViscosityForm::Stress),
        (WATER, "viscosity_form = \"laplacian\"", |o| o.viscosity_form == ViscosityForm::Laplacian),
        (WATER, "level_set = \"weno5\"", |o| {
            o.surface.level_set == LevelSetTransport::Upwind(UpwindScheme::Weno5)
        }),
        (WATER, "level_set = \"eno3\"", |o| {
            o.surface.level_set == LevelSetTransport::Upwind(UpwindScheme::Eno3)
        }),
        (
            WATER,
            "level_set = \"mac_cormack\"",
            |o| matches!(o.surface.level_set, LevelSetTransport::Paths(a) if a.scheme == Scheme::MacCormack),
        ),
        (
            WATER,
            "level_set = \"semi_lagrangian\"",
            |o| matches!(o.surface.level_set, LevelSetTransport::Paths(a) if a.scheme == Scheme::SemiLagrangian),
        ),
        (WATER, "distance = \"evolution\"", |o| {
            matches!(o.surface.redistancing, Redistancing::Evolution { .. })
        }),
        (WATER, "stair_steps = true", |o| o.surface.stair_steps),
        (WATER, "drops = false", |o| o.surface.particles.is_some_and(|p| !p.removed)),
        (WATER, "reseed_every = 7", |o| o.surface.particles.is_some_and(|p| p.reseed_every == 7)),
        (WATER, "window = false", |o| !o.surface.window),
        (WATER, "pressure = \"algebraic\"", |o| o.pressure.solver == PressureSolver::Algebraic),
        (WATER, "pressure = \"incomplete_cholesky\"", |o| {
            o.pressure.solver == PressureSolver::IncompleteCholesky
        }),
    ];
    for (fluid, word, chosen) in choices {
        let mut world =
            tank(&format!("{fluid}[fluid.method]\n{word}")).unwrap_or_else(|e| panic!("{word}: {e}"));
        assert!(chosen(&model(&world).options), "{word}");
        for _ in 0..3 {
            world.step(0.01).unwrap_or_else(|error| panic!("{word}: {error}"));
        }
        let found = world.fluid_diagnostics().expect("a fluid");
        assert!(found.max_speed.is_finite() && found.max_divergence * 0.01 <= 1.1e-8, "{word}: {found:?}");
    }
    let chorin = tank(&format!("{GAS}[fluid.method]\npreset = \"chorin\"")).expect("right");
    assert_eq!(of_advection(&model(&chorin).options), FluidOptions::chorin().advection.expect("a transport"));
    for (wrong, said) in [
        (format!("{GAS}cut_cells = true\n[fluid.method]\npreset = \"chorin\""), "chorin"),
        (format!("{GAS}transport = \"none\"\n[fluid.method]\npaths = \"first\""), "paths"),
        (format!("{WATER}particles = 0\n[fluid.method]\ndrops = false"), "drops"),
        (format!("{WATER}[fluid.method]\nscheme = \"reflection\""), "reflection"),
        (format!("{WATER}[fluid.method]\nlevel_set = \"weno\""), "level_set"),
    ] {
        let error = tank(&wrong).err().unwrap_or_else(|| panic!("{wrong} was taken"));
        assert!(error.contains(said), "{wrong}: {error}");
    }
}

#[test]
fn tensions_of_pairs_and_gas_that_is_made_are_chosen_in_the_scene() {
    let liquids = "free_surface = true\nsurface_tension = 0.07\nliquids = [{ name = \"water\", density = 1000, regions = [{ shape = { box = { size = [4, 0.8] } } }] }, { name = \"oil\", density = 900, regions = [{ shape = { box = { size = [4, 0.4] } }, position = [0, 0.6] }] }]\n";
    let tensions = "tensions = [{ between = [\"oil\", \"water\"], tension = 0.03 }, { between = [\"oil\"], tension = 0.02 }]\n";
    let world = tank(&format!("{liquids}{tensions}")).expect("right");
    let fluid = model(&world);
    let found =
        [fluid.tension_between(0, Some(1)), fluid.tension_between(1, None), fluid.tension_between(0, None)];
    assert_eq!(found, [0.03, 0.02, 0.07]);
    for wrong in ["[\"oil\", \"wine\"]", "[]", "[\"oil\", \"oil\"]"] {
        assert!(
            tank(&format!("{liquids}tensions = [{{ between = {wrong}, tension = 1 }}]\n")).is_err(),
            "{wrong}"
        );
    }
    let fire = "top = { kind = \"open\" }\n[[fluid.sources]]\nkind = \"stir\"\nexpansion = 2\nshape = { box = { size = [0.25, 0.25] } }\nposition = [0.5, 0.5]\n";
    let mut world = tank(&format!("{GAS}{fire}")).expect("right");
    world.step(0.01).expect("a step");
    let velocity = &world.state().fluid.as_ref().expect("a fluid").velocity;
    let out: f64 = (0..16).map(|i| velocity.component(1).at([i, 16]) / 16.0).sum();
    assert!((out - 2.0 * 0.0625).abs() < 1e-6, "{out}");
    assert!(tank(&format!("{WATER}{fire}")).is_err());
}

/// Water of particles that carry momentum, with what rigid bodies and obstacles do to it: a box that floats in the end, a wall that moves, nothing lost.
#[test]
fn particles_that_carry_momentum_go_with_bodies_and_obstacles() {
    let text = "dimension = 2\n[time]\nend = 1\n[fluid]\ncell = 0.05\ncells = [32, 24]\ntop = { kind = \"open\" }\nfree_surface = true\ntracker = \"apic\"\nflip = 0.2\ndivergence = 1e-6\n[[fluid.liquids]]\nname = \"water\"\ndensity = 1000\nregions = [{ shape = { box = { size = [8, 1.0] } } }]\n[[fluid.obstacles]]\nname = \"piston\"\nshape = { box = { size = [0.3, 3] } }\nposition = [0, 0.5]\noscillation = { amplitude = [0.05, 0], frequency = 0.5 }\nslip = true\n[[rigid]]\nname = \"box\"\nshape = { box = { size = [0.4, 0.3] } }\ndensity = 500\nposition = [0.9, 0.75]\n";
    let scene = Scene::parse("apic.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let AnyWorld::Two(mut world) = build(&scene).expect("a world") else { unreachable!("in the plane") };
    let mut volumes = Vec::new();
    for _ in 0..150 {
        world.step(0.01).expect("a step");
        volumes.push(world.fluid_diagnostics().expect("a fluid").volumes[0]);
    }
    let (first, last) = (volumes[0], volumes[volumes.len() - 1]);
    assert!((last / first - 1.0).abs() < 0.03, "{first} {last}");
    let fluid = world.state().fluid.as_ref().expect("a fluid");
    assert!(!fluid.liquids[0].apic.is_empty());
    // Half as heavy as water: its middle comes to lie near the surface, which the body itself raises.
    let position = world.state().bodies[0].frame.position;
    assert!((position[1] - 0.55).abs() < 0.12, "{position}");
}

/// The surface that frames show is watertight at every moment, also where water touches walls and while it splashes.
#[test]
fn surfaces_are_watertight() {
    let text = "dimension = 3\n[time]\nend = 1\n[fluid]\ncell = 0.08\ncells = [16, 10, 8]\ntop = { kind = \"open\" }\nfree_surface = true\nparticles = 8\ndivergence = 1e-6\n[[fluid.liquids]]\nname = \"water\"\ndensity = 1000\nregions = [{ shape = { box = { size = [0.9, 1.2, 4] } } }]\n[[fluid.obstacles]]\nname = \"post\"\nshape = { box = { size = [0.16, 1, 0.16] } }\nposition = [0.8, 0.2, 0.32]\nslip = true\n";
    let scene = Scene::parse("dam.toml", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let AnyWorld::Three(mut world) = build(&scene).expect("a world") else { unreachable!("in space") };
    for step in 0..40 {
        world.step(0.015).expect("a step");
        let phi = &world.state().fluid.as_ref().expect("a fluid").liquids[0].phi;
        let surface = extract(phi, &Extraction { closed: true, ..Extraction::default() }).expect("a surface");
        assert!(!surface.mesh.elements.is_empty());
        surface.mesh.check_closed().unwrap_or_else(|hole| panic!("step {step}: {hole}"));
        surface.mesh.check_manifold().unwrap_or_else(|fault| panic!("step {step}: {fault}"));
    }
}

/// The systems that `[fluid.coupling]` names have the same solution, with and without viscosity; the other choices change it; words that are none are refused.
#[test]
fn the_coupled_system_is_chosen_in_the_scene() {
    let step = |viscosity: f64, coupling: &str| {
        let text = format!(
            "dimension = 2\n[time]\nend = 1\n[fluid]\ncell = 0.05\ncells = [20, 20]\ndivergence = 1e-10\n{coupling}\n[[fluid.liquids]]\nname = \"oil\"\ndensity = 1000\nviscosity = {viscosity}\n[[rigid]]\nname = \"ball\"\nshape = {{ sphere = {{ radius = 0.17 }} }}\ndensity = 2500\nposition = [0.48, 0.53]\n"
        );
        let scene = Scene::parse("coupling.toml", &text, &[])?;
        let AnyWorld::Two(mut world) = build(&scene).expect("a world") else { unreachable!("in the plane") };
        world.step(0.01).expect("a step");
        Ok::<f64, SceneErrors>(world.state().bodies[0].velocity[1])
    };
    for viscosity in [0.0, 1.0] {
        let usual = step(viscosity, "").expect("right");
        assert!(usual < -1e-3, "{usual}");
        for form in ["pressure", "impulses", "kkt", "lumped"] {
            let other = step(viscosity, &format!("coupling = {{ form = \"{form}\" }}")).expect("right");
            // The lumped form has viscosity before the solve, not in it.
            let off = if form == "lumped" && viscosity > 0.0 { 0.01 } else { 1e-6 };
            assert!((other - usual).abs() < off * usual.abs(), "{form}, {viscosity}: {other}, {usual}");
        }
        let still = step(viscosity, "coupling = false").expect("right");
        assert!(still < 1.5 * usual, "{still}, {usual}");
        let full = step(viscosity, "coupling = { mass = \"full\" }").expect("right");
        assert!((full - usual).abs() > 1e-3 * usual.abs(), "{full}, {usual}");
    }
    let viscous = step(1.0, "").expect("right");
    let fluid_side = step(1.0, "coupling = { tangential = \"fluid_side\" }").expect("right");
    assert!((fluid_side - viscous).abs() > 1e-3 * viscous.abs(), "{fluid_side}, {viscous}");
    for wrong in ["coupling = { form = \"magic\" }", "coupling = 3", "coupling = { mess = \"full\" }"] {
        assert!(step(0.0, wrong).is_err(), "{wrong}");
    }
}

/// Cells of unequal edges, and how liquids meet walls: the scene's words reach the fluid and change what it does.
#[test]
fn cells_and_walls_are_told_by_the_scene() {
    let text = |fluid: &str| {
        format!(
            "dimension = 2\n[time]\nend = 1\n[fluid]\n{fluid}\nfree_surface = true\nparticles = 0\n[[fluid.liquids]]\nname = \"water\"\ndensity = 1000\nregions = [{{ shape = {{ box = {{ size = [3, 1] }} }}, position = [0.5, 1] }}]\n"
        )
    };
    let fallen = |fluid: &str| {
        let scene = Scene::parse("walls.toml", &text(fluid), &[])?;
        let AnyWorld::Two(mut world) = build(&scene).expect("a world") else { unreachable!("in the plane") };
        for _ in 0..10 {
            world.step(0.01).expect("a step");
        }
        let state = world.state().fluid.as_ref().expect("a fluid");
        Ok::<f64, SceneErrors>(state.velocity.component(1).sample(
            &[0.5, 0.75].into(),
            splashdown_geometry::grid::Interpolation::Linear,
            splashdown_geometry::grid::Reach::Ghost,
        ))
    };
    // Under a ceiling that holds it, and under one that lets it go.
    assert!(fallen("cell = 0.05\ncells = [20, 20]").expect("right").abs() < 1e-6);
    for cells in ["cell = 0.05\ncells = [20, 20]", "cell = [0.1, 0.05]\ncells = [10, 20]"] {
        let speed = fallen(&format!("{cells}\nseparation = true")).expect("right");
        assert!((speed + 0.981).abs() < 0.02, "{cells}: {speed}");
    }
    fallen("cell = 0.05\ncells = [20, 20]\nsurface_tension = 0.07\ncontact_angle = 30\nfriction = 0.5")
        .expect("right");
    for wrong in [
        "cell = [0.1]\ncells = [10, 20]",
        "cell = [0.1, -1]\ncells = [10, 20]",
        "cell = \"small\"\ncells = [10, 20]",
        "cell = 0.05\ncells = [20, 20]\ncontact_angle = 181",
        "cell = 0.05\ncells = [20, 20]\nfriction = -1",
        "cell = 0.05\ncells = [20, 20]\nseparation = true\ncut_cells = true",
    ] {
        assert!(fallen(wrong).is_err(), "{wrong}");
    }
    // A coupled body would be pushed by pressures that the walls do not know of.
    let coupled = format!(
        "{}[[rigid]]\nname = \"ball\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\ndensity = 500\nposition = [0.5, 0.2]\n",
        text("cell = 0.05\ncells = [20, 20]\nseparation = true")
    );
    assert!(Scene::parse("walls.toml", &coupled, &[]).is_err());
    let apart = coupled.replacen("free_surface", "coupling = false\nfree_surface", 1);
    assert!(Scene::parse("walls.toml", &apart, &[]).is_ok());
}
