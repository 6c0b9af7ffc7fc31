//! Random soak and bad meshes: 300 random bodies, laws, steps and obstacles, half of them from inverted starts, either stay finite or report why; meshes that cannot be are refused
//! with the element that is wrong.
//!
//! Source: issue 4, must show 4 and 5.

use super::set_up::{failed, material};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::{Solids, World};
use splashdown_deformable::collide::Obstacle;
use splashdown_deformable::integrate::{ImplicitScheme, Integrator, Motion, Scheme};
use splashdown_deformable::material::{Extension, ExtensionKind, Law, Model, SplineBranch};
use splashdown_deformable::{Elements, Solid};
use splashdown_geometry::generate::{CubeSplit, box_tetrahedra};
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Frame, Vector};
use splashdown_solve::testing::TestNumbers;

pub(super) const CASE: Case = Case {
    name: "deformable/soak",
    spec: "issue 4, must show 4",
    summary: "300 random bodies, laws, schemes and obstacles, inverted starts included: finite or reported",
    source: "issue 4",
    speed: Speed::Slow,
    seconds: 90.0,
    run,
};

pub(super) const MESHES: Case = Case {
    name: "deformable/bad-meshes",
    spec: "issue 4, must show 5",
    summary: "inverted, flat, doubled, broken and empty meshes are refused with the element that is wrong; disconnected ones run",
    source: "issue 4",
    speed: Speed::Fast,
    seconds: 0.1,
    run: run_meshes,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let mut random = TestNumbers::new(2024);
    let (mut finite, mut reported, mut silent, mut recovered, mut restored) = (0, 0, 0, 0, 0);
    for _ in 0..300 {
        let cells = [1 + random.index(3), 1 + random.index(3), 1 + random.index(3)];
        let mesh = box_tetrahedra(Vector::zeros(), Vector::repeat(1.0), cells, CubeSplit::Five)
            .map_err(failed("meshing"))?;
        let spline = SplineBranch::default();
        let models = [
            Model::RotatedLinear,
            Model::FixedCorotated,
            Model::NeoHookean,
            Model::StVenantKirchhoff,
            Model::Spline { compression: spline, extension: spline },
            Model::MooneyRivlin { second: 1.0 / 3.0 },
        ];
        let model = models[random.index(6)];
        let young = 10f64.powf(random.uniform(2.0, 5.0));
        let mut own = material(model, young, random.uniform(0.0, 0.48), 10.0, random.uniform(0.0, 0.02))?;
        own.law = match random.index(4) {
            0 => Law { model, extension: Extension::new(ExtensionKind::LinearStretch { stretch: 0.3 }) },
            1 => Law { model, extension: Extension::new(ExtensionKind::LinearDet { volume: 0.3 }) },
            _ => Law::safe(model),
        };
        let elements = Elements::tetrahedra(&mesh, 0, own).map_err(failed("elements"))?;
        let mut mass = vec![0.0; mesh.points.len()];
        elements.add_masses(&mut mass);
        let mut solid = Solid::new(mass, vec![false; mesh.points.len()], Vector::<3>::new(0.0, -9.81, 0.0));
        solid.add(elements);
        let noise = [0.0, 0.3, 1.0][random.index(3)];
        let mut motion = Motion::at_rest(&mesh.points);
        motion.position.iter_mut().for_each(|x| *x += noise * random.uniform(-1.0, 1.0));
        solid.update(&motion.position).map_err(failed("the start"))?;
        let inverted = solid.inverted() > 0;
        let schemes = [
            Scheme::A,
            Scheme::B,
            Scheme::C,
            Scheme::Newmark,
            Scheme::LinearlyImplicit,
            Scheme::Implicit(ImplicitScheme::BackwardEuler),
            Scheme::Implicit(ImplicitScheme::AverageAcceleration),
        ];
        let mut integrator = Integrator::new(schemes[random.index(schemes.len())]);
        integrator.tolerance = 1e-5;
        let floor = Shape::half_space(Vector::<3>::new(0.0, 1.0, 0.0), -1.5).map_err(failed("the floor"))?;
        integrator.obstacles.push(Obstacle::fixed(
            "floor",
            floor,
            Frame::identity(),
            random.uniform(0.0, 1.0),
        ));
        let ball = Shape::ball(0.4)
            .and_then(|ball| ball.translated(Vector::<3>::new(0.5, -1.2, 0.5)))
            .map_err(failed("the ball"))?;
        integrator.obstacles.push(Obstacle::fixed("ball", ball, Frame::identity(), 0.5));
        let mut solids = Solids::new(solid.gravity, integrator.scheme);
        let mut world = World::new(solid.gravity).map_err(failed("building the world"))?;
        (solids.solid, solids.integrator, solids.safety) = (solid.clone(), integrator, 0.4);
        world.set_solids(solids, motion);
        let stepped = (0..50).try_for_each(|_| world.step(0.02).map(|_| ()));
        let position = &world.state().solids.motion.position;
        match stepped {
            Ok(()) if position.iter().all(|x| x.is_finite() && x.abs() < 1e3) => {
                finite += 1;
                solid.update(position).map_err(failed("the end"))?;
                if inverted {
                    recovered += 1;
                    restored += usize::from(solid.inverted() == 0);
                }
            }
            Ok(()) => silent += 1,
            Err(_) => reported += 1,
        }
    }
    out.at_most("runs that blew up without a word", "300 runs", f64::from(silent), 0.0, CASE.source);
    out.at_least(
        "runs that stayed finite",
        "300 runs",
        f64::from(finite),
        270.0,
        "a report is allowed, but rare",
    );
    out.at_most(
        "runs that were reported",
        "300 runs",
        f64::from(reported),
        30.0,
        "a report is allowed, but rare",
    );
    let share = restored as f64 / f64::from(recovered.max(1));
    out.at_least(
        "inverted starts with no inverted element after 1 s",
        "share",
        share,
        0.5,
        "spec T8: tangles may stay",
    );
    Ok(())
}

fn run_meshes(out: &mut Measurements) -> Result<(), CaseError> {
    let own = material(Model::RotatedLinear, 1e4, 0.3, 10.0, 0.01)?;
    let good = box_tetrahedra(Vector::zeros(), Vector::repeat(1.0), [1; 3], CubeSplit::Five)
        .map_err(failed("meshing"))?;
    let mut bad = Vec::new();
    let mut inverted = good.clone();
    inverted.elements[2].swap(0, 1);
    bad.push(("inverted element", inverted, "element 2"));
    let mut flat = good.clone();
    flat.points[7] = (flat.points[6] + flat.points[5]) * 0.5;
    bad.push(("flat element", flat, "element"));
    let mut doubled = good.clone();
    doubled.elements[1][2] = doubled.elements[1][3];
    bad.push(("repeated node", doubled, "element 1"));
    let mut outside = good.clone();
    outside.elements[4][0] = 99;
    bad.push(("index out of range", outside, "point 99"));
    let mut broken = good.clone();
    broken.points[3][0] = f64::NAN;
    bad.push(("coordinate not finite", broken, "point 3"));
    let mut empty = good.clone();
    empty.elements.clear();
    bad.push(("no elements", empty, "0 elements"));
    for (name, mesh, word) in bad {
        let message =
            Elements::tetrahedra(&mesh, 0, own).err().map_or_else(String::new, |error| error.to_string());
        let says = f64::from(u8::from(message.contains(word)));
        out.at_least("refused with the place (1 = yes)", name, says, 1.0, MESHES.source);
    }
    // Two bodies in one mesh are fine.
    let mut two = good.clone();
    two.points.extend(good.points.iter().map(|x| x + Vector::<3>::new(3.0, 0.0, 0.0)));
    two.elements.extend(good.elements.iter().map(|element| element.map(|node| node + 8)));
    let runs = f64::from(u8::from(Elements::tetrahedra(&two, 0, own).is_ok()));
    out.at_least("accepted (1 = yes)", "disconnected", runs, 1.0, MESHES.source);
    Ok(())
}
