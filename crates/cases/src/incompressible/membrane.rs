//! Sheets that keep their area, pulled to 1.3 times their length at two opposite edges: triangles in the plane, and a shell of triangles in space.
//!
//! Source: spec/incompressible-solids.md 5.2 M: the whole area within 0.1 %.

use super::bodies::{failed, flat, keeper};
use super::statics::unit_material;
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::step_alone;
use splashdown_deformable::incompressible::{IncompressibleOptions, Rings};
use splashdown_deformable::integrate::{Driver, Integrator, Motion, Path, Scheme};
use splashdown_deformable::{Elements, Force, Solid};
use splashdown_geometry::generate::{Diagonals, sheet};
use splashdown_math::{Dim, Space, Vector};

pub(super) const CASE: Case = Case {
    name: "incompressible/membrane",
    spec: "M (incompressible-solids), INC-21, INC-22",
    summary: "sheets pulled to 1.3 times their length keep their area: triangles in the plane and a shell in space",
    source: "spec/incompressible-solids.md 5.2 M",
    speed: Speed::Fast,
    seconds: 4.0,
    run,
};

/// Pulls the sheet apart along x for a second; the largest relative change of the whole area on the way, and the least width (m) in the middle at the end.
fn pull<const D: usize>(
    force: impl Force<D> + 'static,
    mass: Vec<f64>,
    points: &[Vector<D>],
    triangles: &[u32],
) -> Result<[f64; 2], CaseError>
where
    Dim<D>: Space<D>,
{
    let held: Vec<bool> = points.iter().map(|x| x[0] == 0.0 || x[0] == 1.0).collect();
    let mut solid = Solid::<D>::new(mass, held, Vector::zeros());
    solid.add(force);
    let rings = Rings::<D>::new(3, triangles, &flat(points)).ok_or_else(|| failed("no rings"))?;
    let mut integrator = Integrator::<D>::new(Scheme::B);
    integrator.incompressible = Some(keeper(&rings, IncompressibleOptions::default()));
    for (side, speed) in [(0.0, -0.15), (1.0, 0.15)] {
        let mut velocity = Vector::<D>::zeros();
        velocity[0] = speed;
        let edge = points.iter().enumerate().filter(|(_, x)| x[0] == side);
        let nodes = edge.map(|(node, x)| (node as u32, *x)).collect();
        let path = Path { velocity, centre: Vector::zeros(), spin: [0.0; 3], start: 0.0, end: 1.0 };
        integrator.drivers.push(Driver::new(nodes, path));
    }
    let mut motion = Motion::at_rest(points);
    let mut watch = keeper(&rings, IncompressibleOptions::default());
    let mut worst = 0.0f64;
    while motion.time < 1.0 - 1e-9 {
        step_alone(&mut solid, &mut integrator, &mut motion, 0.005).map_err(failed)?;
        worst = worst.max(watch.errors(&motion.position).1);
    }
    let middle = (0..points.len()).filter(|&node| (points[node][0] - 0.5).abs() < 1e-9);
    let heights: Vec<f64> = middle.map(|node| motion.point::<D>(node)[1]).collect();
    let width = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max)
        - heights.iter().copied().fold(f64::INFINITY, f64::min);
    Ok([worst, width])
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    const CELLS: [usize; 2] = [10, 10];
    let flat_sheet = sheet(
        Vector::<2>::zeros(),
        Vector::<2>::new(1.0, 0.0),
        Vector::<2>::new(0.0, 1.0),
        CELLS,
        Diagonals::Alternating,
    )
    .map_err(failed)?;
    let elements = Elements::triangles(&flat_sheet, 0, unit_material(0.0)?).map_err(failed)?;
    let mut mass = vec![0.0; flat_sheet.points.len()];
    elements.add_masses(&mut mass);
    let corners: Vec<u32> = flat_sheet.elements.iter().flatten().copied().collect();
    let plane = pull::<2>(elements, mass, &flat_sheet.points, &corners)?;

    let sheet_in_space = sheet(
        Vector::<3>::zeros(),
        Vector::<3>::new(1.0, 0.0, 0.0),
        Vector::<3>::new(0.0, 1.0, 0.0),
        CELLS,
        Diagonals::Alternating,
    )
    .map_err(failed)?;
    let elements = Elements::membrane(&sheet_in_space, 0, 1.0, unit_material(0.0)?).map_err(failed)?;
    let mut mass = vec![0.0; sheet_in_space.points.len()];
    elements.add_masses(&mut mass);
    let corners: Vec<u32> = sheet_in_space.elements.iter().flatten().copied().collect();
    // Bent a little, so that it is no plane problem.
    let mut points = sheet_in_space.points.clone();
    points.iter_mut().for_each(|x| x[2] = 0.05 * (std::f64::consts::PI * x[0]).sin());
    let shell = pull::<3>(elements, mass, &points, &corners)?;
    for (name, [area, width]) in [("triangles in the plane", plane), ("shell in space", shell)] {
        out.at_most("largest relative change of the whole area", name, area, 1e-3, CASE.source);
        // Where it is even, a sheet of the same area is 1/1.3 as wide; the held edges leave the middle narrower.
        out.at_most("width in the middle (m)", name, width, 1.0 / 1.3 + 0.02, "narrower as it gets longer");
    }
    Ok(())
}
