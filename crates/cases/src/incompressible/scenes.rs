//! The scenes of incompressible solids at their small sizes: a ball down the stairs, a pile of rings, a ring that runs into a puddle. Volumes, and that no surface cuts another.
//!
//! Source: spec/incompressible-solids.md 5.1 (figures 3.4, 3.5 and 3.6 of the source).

use super::bodies::failed;
use crate::coupled::shipped;
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_deformable::contact::{ContactSurface, intersections};
use splashdown_geometry::mesh::TetrahedronMesh;
use splashdown_math::Vector;

pub(super) const STAIRS: Case = Case {
    name: "incompressible/stairs",
    spec: "5.1 sphere down stairs, small (incompressible-solids), INC-3, INC-4, INC-6, INC-9",
    summary: "the scene incompressible-stairs: a ball of jelly down eight steps keeps its volume",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 30.0,
    run: stairs,
};

pub(super) const TORI: Case = Case {
    name: "incompressible/tori",
    spec: "5.1 pile of tori, small (incompressible-solids), INC-10, INC-11, INC-12",
    summary: "the scene incompressible-tori: eight rings of jelly on each other keep their volumes and stay apart",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 90.0,
    run: tori,
};

pub(super) const PUDDLE: Case = Case {
    name: "incompressible/puddle",
    spec: "5.1 puddle, small (incompressible-solids), INC-10, INC-11, INC-12",
    summary: "the scene incompressible-puddle: a very soft ring runs into a puddle over itself without cutting itself",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 60.0,
    run: puddle,
};

const SOURCE: &str = "spec/incompressible-solids.md 5.1";

/// What was seen of a scene.
#[derive(Default)]
struct Seen {
    /// Largest relative change of a body's volume.
    volume: f64,
    /// Frames in which a surface cuts another.
    cut: usize,
    /// Most pairs of faces in one of them.
    pairs: usize,
}

fn volumes(world: &World<3>) -> Vec<f64> {
    let motion = &world.state().solids.motion;
    let bodies = world.solids().map_or(&[][..], |solids| &solids.bodies);
    let of = |body: &splashdown_couple::SolidBody| {
        let corners = body.elements.chunks_exact(4).map(|element| {
            let x = [0, 1, 2, 3].map(|k| motion.point::<3>(body.particles.start + element[k] as usize));
            (x[1] - x[0]).cross(&(x[2] - x[0])).dot(&(x[3] - x[0])) / 6.0
        });
        corners.sum()
    };
    bodies.iter().map(of).collect()
}

/// Surfaces of all bodies together.
fn surface(world: &World<3>) -> Result<ContactSurface<3>, CaseError> {
    let mut faces = Vec::new();
    for body in world.solids().map_or(&[][..], |solids| &solids.bodies) {
        let mesh = TetrahedronMesh {
            points: body.rest.chunks_exact(3).map(Vector::from_column_slice).collect(),
            elements: body.elements.chunks_exact(4).map(|k| [k[0], k[1], k[2], k[3]]).collect(),
        };
        let first = body.particles.start as u32;
        let around = mesh.boundary().map_err(failed)?;
        let number = |node: u32| around.points[node as usize] + first;
        faces.extend(around.mesh.elements.iter().map(|face| face.map(number)));
    }
    Ok(ContactSurface::new(faces))
}

fn watch(world: &mut World<3>, frames: usize) -> Result<Seen, CaseError> {
    let (rest, surface) = (volumes(world), surface(world)?);
    let mut seen = Seen::default();
    for _ in 0..frames {
        world.step(1.0 / 24.0).map_err(failed)?;
        for (now, rest) in volumes(world).iter().zip(&rest) {
            seen.volume = seen.volume.max((now / rest - 1.0).abs());
        }
        let pairs = intersections(&surface, &world.state().solids.motion.position);
        seen.cut += usize::from(pairs > 0);
        seen.pairs = seen.pairs.max(pairs);
    }
    Ok(seen)
}

fn stairs(out: &mut Measurements) -> Result<(), CaseError> {
    let mut world = shipped("incompressible-stairs", &[])?;
    let seen = watch(&mut world, 144)?;
    out.at_most("largest change of the volume", "5 shells, 6 s", seen.volume, 0.01, SOURCE);
    let solids = &world.state().solids.motion;
    let count = solids.position.len() / 3;
    let centre = (0..count).map(|k| solids.point::<3>(k)).sum::<Vector<3>>() / count as f64;
    out.at_least("how far it has come along x (m)", "5 shells, 6 s", centre[0], 5.0, "down the stairs");
    out.at_most("its height (m)", "5 shells, 6 s", centre[1], -4.0, "down the stairs");
    Ok(())
}

fn tori(out: &mut Measurements) -> Result<(), CaseError> {
    let mut world = shipped("incompressible-tori", &[])?;
    let seen = watch(&mut world, 72)?;
    out.at_most("largest change of a ring's volume", "8 rings, 3 s", seen.volume, 0.005, SOURCE);
    out.at_most("frames in which surfaces cut", "8 rings, 3 s", seen.cut as f64, 0.0, SOURCE);
    Ok(())
}

fn puddle(out: &mut Measurements) -> Result<(), CaseError> {
    let mut world = shipped("incompressible-puddle", &[])?;
    let seen = watch(&mut world, 48)?;
    out.at_most("largest change of the volume", "3 x 20 cells, 2 s", seen.volume, 0.01, SOURCE);
    out.at_most("frames in which the surface cuts itself", "3 x 20 cells, 2 s", seen.cut as f64, 0.0, SOURCE);
    let motion = &world.state().solids.motion;
    let highest = motion.position.iter().skip(1).step_by(3).fold(f64::MIN, |most, y| most.max(*y));
    out.at_most("highest particle at the end (m)", "3 x 20 cells, 2 s", highest, 2.4, "of 2.8 at first");
    Ok(())
}
