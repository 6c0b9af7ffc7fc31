//! Two incompressible blocks, pressed together and pulled apart: with points against faces and edges against edges in the pressure solves their surfaces come off each other, without a pair
//! left in contact, without a cut, and without a pull.
//!
//! Source: spec/incompressible-solids.md 5.1, edge-edge ablation (001:651): residual contact count 0 after separation.

use super::bodies::{failed, flat, keeper};
use super::statics::unit_material;
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::step_alone;
use splashdown_deformable::contact::{ContactSurface, SelfContact, SelfContactOptions, intersections};
use splashdown_deformable::element::Material;
use splashdown_deformable::incompressible::{IncompressibleOptions, Rings};
use splashdown_deformable::integrate::{Driver, Integrator, Motion, Path, Scheme};
use splashdown_deformable::{Elements, Solid};
use splashdown_geometry::generate::{CubeSplit, box_tetrahedra};
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "incompressible/blocks",
    spec: "5.1 edge-edge ablation (incompressible-solids), INC-10, INC-11, INC-12",
    summary: "two blocks are pressed into each other by a quarter of their height and pulled apart: nothing sticks",
    source: "spec/incompressible-solids.md 5.1",
    speed: Speed::Slow,
    seconds: 60.0,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let (thickness, press) = (0.03, 0.25);
    let gap = 1.5 * thickness;
    // The upper block is shifted, so that points meet faces and edges meet edges.
    let blocks = [([0.0, 0.0, 0.0], [1.0, 1.0, 1.0]), ([0.13, 1.0 + gap, 0.09], [1.13, 2.0 + gap, 1.09])];
    let material = Material { density: 1.0, ..unit_material(0.0)? };
    let mut solid = Solid::<3>::new(Vec::new(), Vec::new(), Vector::zeros());
    let (mut points, mut simplices, mut faces) = (Vec::new(), Vec::new(), Vec::new());
    for (lower, upper) in blocks {
        let mesh = box_tetrahedra(lower.into(), upper.into(), [4; 3], CubeSplit::Five).map_err(failed)?;
        let first = points.len() as u32;
        let elements = Elements::tetrahedra(&mesh, first, material).map_err(failed)?;
        let mut mass = vec![0.0; first as usize + mesh.points.len()];
        elements.add_masses(&mut mass);
        solid.add(elements);
        solid.add_particles(&mass[first as usize..], &vec![false; mesh.points.len()]);
        simplices.extend(mesh.elements.iter().flatten().map(|node| node + first));
        let around = mesh.boundary().map_err(failed)?;
        let number = |node: u32| around.points[node as usize] + first;
        faces.extend(around.mesh.elements.iter().map(|face| face.map(number)));
        points.extend(mesh.points);
    }
    let top = 2.0 + gap;
    for (node, x) in points.iter().enumerate() {
        solid.set_pinned(node, x[1] == 0.0 || (x[1] - top).abs() < 1e-9);
    }
    let rest = flat(&points);
    let rings = Rings::<3>::new(4, &simplices, &rest).ok_or_else(|| failed("no rings"))?;
    let surface = ContactSurface::new(faces);
    let options = SelfContactOptions { thickness, friction: 0.2, stiffness: 1.0, ..Default::default() };
    let mut integrator = Integrator::<3>::new(Scheme::B);
    integrator.tolerance = 1e-6;
    integrator.self_contact = Some(SelfContact::new(surface.clone(), &rest, options));
    integrator.incompressible = Some(keeper(&rings, IncompressibleOptions::default()));
    let mut motion = Motion::at_rest(&points);
    let mut watch = keeper(&rings, IncompressibleOptions::default());
    let (mut cut, mut touching, mut volume, mut left, mut pull) = (0, 0, 0.0f64, 0, 0.0f64);
    let (dt, half) = (0.005, 1.0);
    let speed = (press + gap) / half;
    for (phase, way) in [(0, -1.0), (1, 1.0), (2, 1.0)] {
        let held = (0..points.len()).filter(|&node| (points[node][1] - top).abs() < 1e-9);
        let nodes = held.map(|node| (node as u32, motion.point::<3>(node))).collect();
        let velocity = Vector::<3>::new(0.0, way * speed, 0.0);
        let start = motion.time;
        let path = Path { velocity, centre: Vector::zeros(), spin: [0.0; 3], start, end: start + half };
        integrator.drivers = vec![Driver::new(nodes, path)];
        while motion.time < start + half - 1e-9 {
            let report = step_alone(&mut solid, &mut integrator, &mut motion, dt).map_err(failed)?;
            let pairs = report.self_contact.proximities + report.self_contact.collisions;
            cut += usize::from(intersections(&surface, &motion.position) > 0);
            volume = volume.max(watch.errors(&motion.position).1);
            match phase {
                0 => touching = touching.max(pairs),
                // Twice the pressed depth apart.
                2 if motion.time > start + 0.5 * half => left = left.max(pairs),
                _ => {}
            }
            if phase == 2 {
                // Nothing of the lower block is drawn up after the other is gone.
                let drawn = (0..points.len()).filter(|&node| points[node][1] <= 1.0);
                let rise = drawn.map(|node| motion.point::<3>(node)[1] - 1.0).fold(f64::MIN, f64::max);
                pull = pull.max(rise);
            }
        }
    }
    let resolution = "4^3 cells a block, 0.005 s";
    out.at_least("most pairs in contact while pressed", resolution, touching as f64, 20.0, "they press");
    out.at_most("steps in which the surfaces cut", resolution, cut as f64, 0.0, CASE.source);
    out.at_most("largest change of the volume", resolution, volume, 0.01, "INC-3");
    out.at_most("pairs in contact after they have parted", resolution, left as f64, 0.0, CASE.source);
    out.at_most(
        "height of the lower block above its rest then (m)",
        resolution,
        pull,
        press,
        "it swings free",
    );
    Ok(())
}
