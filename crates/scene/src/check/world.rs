//! Last check: the world itself, for scenes that have passed the others.

use super::meaning::key;
use crate::AnyWorld;
use crate::description::{Scene, Step};
use crate::limits::Size;
use crate::problem::{Problem, ProblemKind};
use crate::tree::{Node, Segment, path_text};

/// Scenes up to this size are built to be checked (bytes of [`Size::memory_bytes`]); larger ones are checked when they run.
const MAX_TRIAL_BYTES: u128 = 64 << 20;

/// Builds the world of a scene that has passed the other checks. A fixed step must be stable in it.
pub(crate) fn check(root: &Node, scene: &Scene) -> Option<Problem> {
    // The fluid is checked by itself; filling its box would take long and tell nothing more.
    let solids = Scene { fluid: None, ..scene.clone() };
    if Size::of(&solids).memory_bytes() > MAX_TRIAL_BYTES {
        return None;
    }
    if let Err(error) = crate::build_fluid::check(scene) {
        let origin = root.nearest(&[key("fluid")]).origin;
        return Some(Problem::new(ProblemKind::OutOfRange, error.to_string()).at(origin).field("fluid"));
    }
    if let Some(reason) = crate::build_elastic::unfit_for_fluid(scene) {
        let path = [key("elastic"), key("integrator")];
        let origin = root.nearest(&path).origin;
        return Some(Problem::new(ProblemKind::Conflict, reason).at(origin).field(path_text(root, &path)));
    }
    let (rings, stable) = match crate::build(&solids) {
        Ok(world) => (rings_of(&world), world.stable_step()),
        Err(error) => {
            let problem = Problem::new(ProblemKind::OutOfRange, error.to_string());
            let Some(path) = error.body().and_then(|name| entry(root, name)) else {
                return Some(problem.at(root.origin));
            };
            let field = error.field().iter().map(|part| match part.parse() {
                Ok(index) => Segment::Index(index),
                Err(_) => key(part),
            });
            let path: Vec<Segment> = path.into_iter().chain(field).collect();
            return Some(problem.at(root.nearest(&path).origin).field(path_text(root, &path)));
        }
    };
    if let Some((name, reason)) = crate::build_elastic::too_many_rings(scene, rings) {
        let body = entry(root, name).into_iter().flatten();
        let path: Vec<Segment> = body.chain([key("elastic"), key("incompressible")]).collect();
        let origin = root.nearest(&path).origin;
        return Some(Problem::new(ProblemKind::TooLarge, reason).at(origin).field(path_text(root, &path)));
    }
    let unstable = match &scene.time.step {
        Some(Step::Adaptive(_)) => return None,
        _ => scene.time.longest_step() > stable,
    };
    unstable.then(|| {
        let path = [key("time"), key("step")];
        let step = scene.time.longest_step();
        Problem::new(
            ProblemKind::Conflict,
            format!("steps of {step:.3e} s are too long for the springs of this scene, which need {stable:.3e} s or less"),
        )
        .at(root.nearest(&path).origin)
        .field(path_text(root, &path))
        .found(format!("{step}"))
        .allowed(format!("at most {stable:.3e} s, or an adaptive step such as {{ max = {step} }}"))
        .hint("softer springs, fewer particles or more mass allow longer steps: elastic forces are explicit")
    })
}

/// Points around which bodies keep their volume.
fn rings_of(world: &AnyWorld) -> usize {
    let rings = match world {
        AnyWorld::Two(world) => {
            world.solids().and_then(|solids| Some(solids.integrator.incompressible.as_ref()?.rings().len()))
        }
        AnyWorld::Three(world) => {
            world.solids().and_then(|solids| Some(solids.integrator.incompressible.as_ref()?.rings().len()))
        }
    };
    rings.unwrap_or(0)
}

/// The entry of the body of this name.
fn entry(root: &Node, name: &str) -> Option<[Segment; 2]> {
    let find = |is: &dyn Fn(&str) -> bool| {
        ["deformable", "rigid"].into_iter().find_map(|list| {
            let named = |node: &Node| node.get("name").and_then(Node::string).is_some_and(is);
            let index = root.get(list)?.items().iter().position(named)?;
            Some([key(list), Segment::Index(index)])
        })
    };
    find(&|own| own == name).or_else(|| find(&|own| crate::build_elastic::is_copy_of(name, own)))
}
