//! Random soak: 300 scenes of random bodies of every kind of element, laws, plasticity, fibres, springs, holds, self-contact, integrators, steps that change from one to the next, and
//! obstacles that rest, press or fall; a third of them from tangled starts. Each stays finite or reports why; those that start tangled are asked whether they recover; every tenth is
//! stopped half way, built anew from its text and goes on with other threads to the bit.
//!
//! Source: issue 4, must show 4; spec/deformable-solids.md T25.

use super::set_up::failed;
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_geometry::generate::{CubeSplit, ball_tetrahedra, box_tetrahedra};
use splashdown_geometry::io::{AnyMesh, Encoding, write_mesh};
use splashdown_math::{Dim, Matrix, Space, Vector, signed_svd};
use splashdown_scene::{AnyWorld, Scene, build};
use splashdown_solve::testing::TestNumbers;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

pub(super) const CASE: Case = Case {
    name: "deformable/soak",
    spec: "issue 4, must show 4; T25",
    summary: "300 random scenes of all elements, laws, integrators and obstacles, tangled starts included: finite or reported",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 300.0,
    run: |out| soak(out, 300),
};

pub(super) const SHORT: Case = Case {
    name: "deformable/soak-short",
    spec: "issue 4, must show 4; T25",
    summary: "twenty of the random scenes of soft bodies",
    source: SOURCE,
    speed: Speed::Fast,
    seconds: 10.0,
    run: |out| soak(out, 20),
};

const SOURCE: &str = "issue 4: no NaN, no panic, recovers or reports";
/// Tangled starts from which on the share of those that recover is judged.
const ENOUGH: usize = 30;
/// Simulated time (s).
const END: f64 = 0.5;
/// How much longer (s) those that are still tangled go on.
const LONGER: f64 = 1.5;
/// Farthest place (m) that counts as still there: bodies of 1 m fall 1.2 m meanwhile, and tangled ones burst apart.
const FAR: f64 = 1e3;

/// What became of the scenes.
#[derive(Debug, Default)]
struct Outcomes {
    finite: usize,
    reported: usize,
    silent: usize,
    /// Of those that started tangled and stayed finite.
    tangled: usize,
    recovered: usize,
    /// Of these, after [`LONGER`] more.
    late: usize,
    /// Of these, tangled at the end although the log said nothing.
    untold: usize,
    different: usize,
}

fn soak(out: &mut Measurements, scenes: u64) -> Result<(), CaseError> {
    let mut outcomes = Outcomes::default();
    let folder = Folder::new().map_err(failed("making a folder for meshes"))?;
    for seed in 0..scenes {
        let text = scene(seed, folder.path());
        let built = |text: &str| {
            let scene = Scene::parse("soak.toml", text, &[]).map_err(failed("reading a random scene"))?;
            let told = |error| CaseError::new("building a random scene", format!("{seed}: {error}\n{text}"));
            build(&scene).map_err(told)
        };
        match (built(&text)?, built(&text)?) {
            (AnyWorld::Two(world), AnyWorld::Two(again)) => run(seed, *world, *again, &mut outcomes),
            (AnyWorld::Three(world), AnyWorld::Three(again)) => run(seed, *world, *again, &mut outcomes),
            _ => return Err(CaseError::new("building a random scene", "the dimension changed")),
        }
    }
    let Outcomes { finite, reported, silent, tangled, recovered, late, untold, different } = outcomes;
    let resolution = format!("{scenes} scenes, {END} s");
    let rare = "a report is allowed, but rare";
    out.at_most("runs that blew up without a word", &resolution, silent as f64, 0.0, SOURCE);
    out.at_least("runs that stayed finite (share)", &resolution, finite as f64 / scenes as f64, 0.9, rare);
    out.at_most("runs that were reported (share)", &resolution, reported as f64 / scenes as f64, 0.1, rare);
    out.at_most("runs that went on differently", &resolution, different as f64, 0.0, "to the bit");
    let every = format!("{tangled} tangled starts");
    let row = "tangles that the log does not tell at the end";
    out.at_most(
        row,
        &every,
        untold as f64,
        0.0,
        "signed volumes of all elements against `elements.inverted`",
    );
    // A share of few starts says nothing.
    if tangled >= ENOUGH {
        let share = recovered as f64 / tangled as f64;
        let resolution = format!("{tangled} tangled starts, {END} s");
        let row = "no element inside out at the end (share)";
        out.at_least(row, &resolution, share, 0.5, "spec T8: tangles may stay");
        let share = (recovered + late) as f64 / tangled as f64;
        let resolution = format!("{tangled} tangled starts, {} s", END + LONGER);
        out.at_least(row, &resolution, share, 0.5, "spec T8: tangles may stay, and are told");
    }
    Ok(())
}

/// Steps a world to the end, with lengths that change.
fn run<const D: usize>(seed: u64, mut world: World<D>, mut again: World<D>, outcomes: &mut Outcomes)
where
    Dim<D>: Space<D>,
{
    let mut random = TestNumbers::new(seed + 1);
    let longest = 10f64.powf(random.uniform(-2.5, -1.3));
    let mut steps = Vec::new();
    let mut left = END;
    while left > 0.0 {
        let dt = (longest * random.uniform(0.2, 1.0)).min(left);
        left -= dt;
        steps.push(dt);
    }
    let inverted = |world: &World<D>| world.diagnostics().elements.map_or(0, |elements| elements.inverted);
    let tangled = inverted(&world) > 0;
    let mut half = None;
    for (step, &dt) in steps.iter().enumerate() {
        if step == steps.len() / 2 && seed.is_multiple_of(10) {
            half = Some(world.state().clone());
        }
        if let Err(error) = world.step(dt) {
            eprintln!("seed {seed}, step {step} of {}: {error}", steps.len());
            outcomes.reported += 1;
            return;
        }
        let motion = &world.state().solids.motion;
        if !motion.position.iter().chain(&motion.velocity).all(|value| value.is_finite())
            || motion.position.iter().any(|x| x.abs() > FAR)
        {
            eprintln!("seed {seed}, step {step}: blew up");
            outcomes.silent += 1;
            return;
        }
    }
    outcomes.finite += 1;
    if tangled {
        outcomes.tangled += 1;
        outcomes.recovered += usize::from(inverted(&world) == 0);
        outcomes.untold += usize::from(inverted(&world) == 0 && turned_over(&world) > 0);
    }
    if let Some(state) = half {
        let fits = again.restore(state);
        // With another number of threads, too.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build();
        let mut rest = || steps[steps.len() / 2..].iter().all(|&dt| again.step(dt).is_ok());
        let done = pool.is_ok_and(|pool| pool.install(&mut rest));
        if !(fits && done && again.state() == world.state()) {
            eprintln!("seed {seed}: went on differently");
            outcomes.different += 1;
        }
    }
    // What is still tangled has more time, and is told if it stays so.
    if tangled && inverted(&world) > 0 {
        let mut left = LONGER;
        while left > 0.0 && inverted(&world) > 0 {
            let dt = (longest * random.uniform(0.2, 1.0)).min(left);
            left -= dt;
            if let Err(error) = world.step(dt) {
                eprintln!("seed {seed}, {left} s before its end: {error}");
                return;
            }
        }
        match inverted(&world) {
            0 => outcomes.late += 1,
            count => {
                eprintln!("seed {seed}: still tangled after {} s, {count} elements inside out", END + LONGER)
            }
        }
        outcomes.untold += usize::from(inverted(&world) == 0 && turned_over(&world) > 0);
    }
}

/// Simplices with a volume below zero, counted from the positions alone.
fn turned_over<const D: usize>(world: &World<D>) -> usize
where
    Dim<D>: Space<D>,
{
    let Some(solids) = world.solids() else { return 0 };
    let motion = &world.state().solids.motion;
    let mut count = 0;
    for body in &solids.bodies {
        // Quadratic elements are drawn in eight parts, of which some may be flat while the element is not.
        let simplices = body.element.corners() == D + 1
            && solids.solid.forces()[body.forces.start].name() != "quadratic tetrahedra";
        for corners in body.elements.chunks_exact(D + 1).filter(|_| simplices) {
            let x = |corner: usize| motion.point::<D>(body.particles.start + corners[corner] as usize);
            let edges = Matrix::<D>::from_fn(|axis, edge| (x(edge + 1) - x(0))[axis]);
            let size = edges.column_iter().map(|edge| edge.norm()).product::<f64>();
            count += usize::from(signed_svd(&edges).sigma.product() < -1e-6 * size);
        }
    }
    count
}

/// A folder of one run of this case, which takes it away at its end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> std::io::Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("splashdown-soak-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A mesh file: the surface of a ball, to be filled, or tetrahedra of a box whose points were moved by up to a sixth of a cell. A file that cannot be written makes a scene that is refused.
fn mesh_file(folder: &Path, seed: u64, ball: bool) -> PathBuf {
    let mut random = TestNumbers::new(seed ^ 0xf111);
    let path = folder.join(format!("mesh-{seed}.vtk"));
    let mesh = if ball {
        let ball = ball_tetrahedra(Vector::<3>::repeat(0.5), random.uniform(0.4, 0.6), 3)
            .ok()
            .and_then(|ball| ball.boundary().ok());
        ball.map(|around| AnyMesh {
            points: around.mesh.points,
            triangles: around.mesh.elements,
            ..AnyMesh::default()
        })
    } else {
        let cells = [1 + random.index(3), 1 + random.index(3), 1 + random.index(3)];
        box_tetrahedra(Vector::<3>::zeros(), Vector::repeat(1.0), cells, CubeSplit::Five).ok().map(
            |mut mesh| {
                for point in &mut mesh.points {
                    for axis in 0..3 {
                        point[axis] += random.uniform(-1.0, 1.0) / 6.0 / cells[axis] as f64;
                    }
                }
                AnyMesh { points: mesh.points, tetrahedra: mesh.elements, ..AnyMesh::default() }
            },
        )
    };
    if let Some(mesh) = mesh {
        let _ = write_mesh(&path, &mesh, Encoding::Binary);
    }
    path
}

/// The text of a random scene.
fn scene(seed: u64, folder: &Path) -> String {
    let mut random = TestNumbers::new(seed);
    let mut chance = {
        let mut random = TestNumbers::new(seed ^ 0x5eed);
        move |share: f64| random.uniform(0.0, 1.0) < share
    };
    let plane = chance(0.3);
    let dimension = if plane { 2 } else { 3 };
    let vector = |x: f64, y: f64, z: f64| {
        if plane { format!("[{x}, {y}]") } else { format!("[{x}, {y}, {z}]") }
    };

    #[derive(PartialEq)]
    enum Kind {
        Simplices,
        Bricks,
        Sheet,
    }
    let cells = [1 + random.index(3), 1 + random.index(3), 1 + random.index(3)];
    let (geometry, kind) = match (plane, random.index(6)) {
        (true, 0..3) => (
            format!("{{ box = {{ from = [0, 0], size = [1, 1], cells = [{}, {}] }} }}", cells[0], cells[1]),
            Kind::Simplices,
        ),
        (true, _) => {
            ("{ ball = { centre = [0.5, 0.5], radius = 0.5, cells = 2 } }".to_owned(), Kind::Simplices)
        }
        (false, kind @ 0..3) => {
            let bricks = kind == 2;
            let text = format!(
                "{{ box = {{ from = [0, 0, 0], size = [1, 1, 1], cells = [{}, {}, {}], hexahedra = {bricks} }} }}",
                cells[0], cells[1], cells[2]
            );
            (text, if bricks { Kind::Bricks } else { Kind::Simplices })
        }
        (false, 3) => {
            ("{ ball = { centre = [0.5, 0.5, 0.5], radius = 0.5, cells = 2 } }".to_owned(), Kind::Simplices)
        }
        (false, 4) => (
            "{ bag = { centre = [0.5, 0.5, 0.5], radius = 0.5, mouth = 0.3, cells = 4 } }".to_owned(),
            Kind::Sheet,
        ),
        (false, _) => (
            format!(
                "{{ sheet = {{ corner = [0, 0.5, 0], u = [0, 0.1, 1], v = [1, 0, 0], cells = [{}, {}] }} }}",
                2 + cells[0],
                2 + cells[1]
            ),
            Kind::Sheet,
        ),
    };

    // Every sixth body in space is of a mesh that no formula makes: a torus, a filled surface, cells of a box at random places.
    let geometry = if !plane && kind == Kind::Simplices && seed.is_multiple_of(3) {
        match seed / 3 % 3 {
            0 => "{ torus = { centre = [0.5, 0.5, 0.5], ring = 0.35, tube = 0.15, cells = 1, around = 9 } }"
                .to_owned(),
            which => format!(
                "{{ file = {{ path = {:?}{} }} }}",
                mesh_file(folder, seed, which == 1),
                if which == 1 { ", fill = 0.25" } else { "" }
            ),
        }
    } else {
        geometry
    };

    let integrators = [
        "scheme_a",
        "scheme_b",
        "scheme_c",
        "newmark",
        "linearly_implicit",
        "backward_euler",
        "average_acceleration",
        "two_pass",
        "quasistatic",
    ];
    let integrator = integrators[random.index(integrators.len())];
    let models = [
        "rotated_linear",
        "fixed_corotated",
        "neo_hookean",
        "st_venant_kirchhoff",
        "spline",
        "mooney_rivlin",
        "compressible_flow",
        "linear",
    ];
    // Without shear stiffness, and with rotations as strain, there are no shapes to recover, nor sheets.
    let model = models[random.index(if kind == Kind::Sheet || integrator == "quasistatic" { 6 } else { 8 })];
    let young = 10f64.powf(random.uniform(2.0, 5.0));
    let mut material = format!(
        "model = \"{model}\", young = {young}, poisson = {}, damping = {}, damping_kind = \"{}\"",
        random.uniform(0.0, 0.48),
        random.uniform(0.0, 0.02),
        ["linear", "conserving", "blend", "stiffness"][random.index(4)]
    );
    if model != "linear" {
        let inversions = [
            "linear_stretch = { stretch = 0.3 }",
            "linear_det = { volume = 0.3 }",
            "energy = { stretch = 0.3 }",
        ];
        if chance(0.5) {
            material += &format!(", inversion = {{ {} }}", inversions[random.index(3)]);
            if chance(0.3) {
                material += ", positive_slope = true, largest_stretch = 2.5";
            }
        }
    }

    let mut elastic: Vec<String> = Vec::new();
    if kind == Kind::Sheet {
        elastic.push(format!("thickness = {}", 10f64.powf(random.uniform(-3.0, -1.5))));
        if chance(0.7) {
            let angle = if chance(0.5) { ", yield_angle = 10" } else { "" };
            let law = ["angle", "sine_of_half_angle"][random.index(2)];
            elastic.push(format!(
                "bending = {{ stiffness = {}, model = \"{law}\"{angle} }}",
                1e-4 * young * 1e-3
            ));
        }
    }
    // A model of pressure only has the energy of the noise and nothing that gathers its parts again.
    let noise = if model == "compressible_flow" { 0.0 } else { [0.0, 0.0, 0.3, 1.0][random.index(4)] };
    if noise > 0.0 {
        elastic.push(format!("disturb = {{ noise = {noise}, seed = {seed} }}"));
    }
    if chance(0.25) && model != "linear" {
        let goal = if chance(0.3) {
            format!(", volume = true, goal = {}", vector(1.2, 0.9, 1.0))
        } else {
            String::new()
        };
        elastic.push(format!("plastic = {{ yield = {}{goal} }}", random.uniform(0.02, 0.3)));
    } else if chance(0.3) && model != "linear" {
        elastic.push(format!(
            "fibre = [{{ direction = {}, tension = {}, activation = 0 }}], activation = [[0, 0], [0.1, 1], [0.4, 0]]",
            vector(0.3, 1.0, 0.2),
            young
        ));
    }
    // Without inertia a body must be held over an area, as balls are not.
    let side = geometry.contains("box") || geometry.contains("sheet");
    let integrator = if integrator == "quasistatic" && !side { "scheme_b" } else { integrator };
    let implicit = matches!(integrator, "backward_euler" | "average_acceleration" | "quasistatic");
    let held = integrator == "quasistatic" || chance(0.3);
    if held {
        // The side at x = 0, held, moved or turned, and perhaps let go.
        let mut hold = format!("from = {}, to = {}", vector(-9.0, -9.0, -9.0), vector(0.01, 9.0, 9.0));
        match random.index(3) {
            0 => hold += &format!(", velocity = {}", vector(random.uniform(-1.0, 1.0), 0.5, 0.0)),
            1 => {
                let spin = if plane { "[2]" } else { "[2, 0, 1]" };
                hold += &format!(", spin = {spin}, centre = {}, end = 0.3", vector(0.0, 0.5, 0.5));
            }
            _ => {}
        }
        if chance(0.3) && integrator != "quasistatic" {
            hold += ", release = 0.25";
        }
        elastic.push(format!("hold = [{{ {hold} }}]"));
    }
    if chance(0.2) {
        let mut springs = vec![format!("edges = {}, damping_ratio = 0.2", 0.1 * young)];
        if kind == Kind::Simplices && chance(0.5) {
            springs.push(format!("altitudes = {}", 0.1 * young));
        }
        if kind == Kind::Sheet {
            springs.push(format!("bending = {}", 0.01 * young));
        }
        elastic.push(format!("springs = {{ {} }}", springs.join(", ")));
    }
    if chance(0.1) && integrator != "quasistatic" {
        elastic.push("strength = [[0, 0.1], [0.2, 1]]".into());
    }
    if chance(0.15) {
        elastic.push("precision = \"single\"".into());
    }
    if chance(0.3) {
        elastic.push(format!(
            "repeat = {{ count = {}, spacing = {} }}",
            if plane { "[1, 2]" } else { "[1, 2, 1]" },
            vector(1.0, 1.5, 1.0)
        ));
    }
    let simplices = kind == Kind::Simplices;
    let plain = !elastic.iter().any(|own| own.starts_with("springs"));
    // Twisted middles have hardly any size, and explicit steps that go with it.
    let plain = plain && (noise == 0.0 || implicit);
    if simplices && !plane && plain && chance(0.15) {
        elastic.push("quadratic = true".into());
    }
    // Surfaces that pass through each other at the start are not what contact keeps apart.
    let contact = chance(0.4) && noise == 0.0 && integrator != "linearly_implicit";
    if simplices
        && !implicit
        && integrator != "linearly_implicit"
        && !elastic.iter().any(|own| own.starts_with("quadratic"))
        && chance(0.2)
    {
        elastic.push("incompressible = true".into());
    }

    let mut text = format!(
        "dimension = {dimension}\n[time]\nend = 1\n[elastic]\nintegrator = \"{integrator}\"\nfriction = {}\n",
        random.uniform(0.0, 1.0)
    );
    if contact {
        text += "self_contact = { thickness = 0.02, friction = 0.3 }\n";
    }
    if !implicit && chance(0.3) {
        text += "inner_points = true\n";
    }
    text += "[[rigid]]\nname = \"floor\"\nkind = \"static\"\nshape = { plane = {} }\n";
    text += &format!("position = {}\n", vector(0.0, -1.5, 0.0));
    text += "[[rigid]]\nname = \"ball\"\nkind = \"static\"\nshape = { sphere = { radius = 0.4 } }\n";
    text += &format!("position = {}\n", vector(0.5, -1.2, 0.5));
    let size = vector(2.0, 0.2, 2.0);
    match random.index(3) {
        // A plate that presses, and a box that falls.
        0 => {
            text += &format!(
                "[[rigid]]\nname = \"plate\"\nkind = \"kinematic\"\nshape = {{ box = {{ size = {size} }} }}\nposition = {}\nvelocity = {}\n",
                vector(0.5, 3.2, 0.5),
                vector(0.0, -3.0, 0.0)
            );
        }
        1 => {
            let size = vector(0.5, 0.5, 0.5);
            text += &format!(
                "[[rigid]]\nname = \"box\"\nmass = {}\nshape = {{ box = {{ size = {size} }} }}\nposition = {}\nvelocity = {}\n",
                10f64.powf(random.uniform(0.0, 3.0)),
                vector(0.5, 3.5, 0.5),
                vector(0.0, -5.0, 0.0)
            );
        }
        _ => {}
    }
    text += &format!(
        "[[deformable]]\nname = \"soft\"\ngeometry = {geometry}\ndensity = {}\nmaterial = {{ {material} }}\n",
        10f64.powf(random.uniform(1.0, 3.0))
    );
    text += &format!("elastic = {{ {} }}\n", elastic.join(", "));
    text
}
