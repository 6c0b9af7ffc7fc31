//! Closed bags that fly through a fluid (FS-T10): what is inside stays inside, what is outside stays outside, to the last bit.
//!
//! A heavy bag of cloth, so heavy that it goes its way whatever the fluid does, moves through twenty cells and more of a box with open sides. Filled with smoke in clean air, the density in every
//! cell outside is exactly 0 and in every cell inside exactly 1 at all times, for every value carried comes from the same side. Filled with one liquid in another, no cell changes sides.

use super::super::fluid::setup::{domain, failed};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::{SolidBody, SolidElement, Solids, World};
use splashdown_deformable::integrate::{Motion, Scheme};
use splashdown_deformable::{EdgeSpring, EdgeSprings};
use splashdown_fluid::{FluidModel, FluidState, Liquid, Side, SmokeModel};
use splashdown_geometry::generate::icosphere;
use splashdown_geometry::grid::Index;
use splashdown_math::{Dim, Space, Vector};
use std::f64::consts::TAU;

pub(super) const CASE: Case = Case {
    name: "fsi/leaks",
    spec: "FS-T10; Must show 3 (issue of fluid and structure)",
    summary: "bags of smoke and of liquid fly through twenty cells, in the plane and in space: nothing leaks",
    source: SOURCE,
    speed: Speed::Slow,
    seconds: 60.0,
    run,
};

const SOURCE: &str = "exact: nothing is carried through a sheet (spec/fluid-structure.md FS-T10)";

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    for (what, filling) in [("smoke", Filling::Smoke), ("one liquid in another", Filling::Liquid)] {
        let found = fly(filling, flat_bag(), [64, 64], 1.0 / 64.0, 0.33)?;
        judge(measurements, what, "64x64", &found);
        let found = fly(filling, round_bag()?, [46, 16, 16], 1.0 / 16.0, 1.3)?;
        judge(measurements, what, "46x16x16", &found);
    }
    Ok(())
}

fn judge(measurements: &mut Measurements, what: &str, resolution: &str, found: &Flight) {
    let row = |quantity: &str| format!("bag of {what}: {quantity}");
    measurements.at_most(&row("most that is outside in any cell"), resolution, found.outside, 0.0, SOURCE);
    measurements.at_most(
        &row("most that is missing inside in any cell"),
        resolution,
        found.missing,
        0.0,
        SOURCE,
    );
    measurements.at_least(&row("cells that it moved"), resolution, found.cells, 20.0, SOURCE);
}

/// What the bag holds.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Filling {
    /// Smoke in air of the same density.
    Smoke,
    /// A liquid in a lighter one.
    Liquid,
}

/// A closed sheet: its points and simplices.
struct Bag<const D: usize> {
    points: Vec<Vector<D>>,
    elements: Vec<Vec<u32>>,
    velocity: Vector<D>,
    /// Is a point inside the sheet with these points?
    encloses: fn(&[f64], &[Vec<u32>], &Vector<D>) -> bool,
}

/// What a flight showed.
struct Flight {
    outside: f64,
    missing: f64,
    cells: f64,
}

fn flat_bag() -> Bag<2> {
    let count = 72;
    let angle = |i: usize| TAU * (i as f64 + 0.37) / count as f64;
    let centre = Vector::from([0.3, 0.47]);
    Bag {
        points: (0..count).map(|i| centre + Vector::from([angle(i).cos(), angle(i).sin()]) * 0.15).collect(),
        elements: (0..count as u32).map(|i| vec![i, (i + 1) % count as u32]).collect(),
        velocity: Vector::from([1.0, 0.31]),
        // Angles under which the segments are seen sum to one turn from inside.
        encloses: |flat, elements, x| {
            let corner = |i: u32| Vector::<2>::from_column_slice(&flat[2 * i as usize..][..2]) - x;
            let seen = |element: &Vec<u32>| {
                let (a, b) = (corner(element[0]), corner(element[1]));
                (a[0] * b[1] - a[1] * b[0]).atan2(a.dot(&b))
            };
            elements.iter().map(seen).sum::<f64>().abs() > 0.5 * TAU
        },
    }
}

fn round_bag() -> Result<Bag<3>, CaseError> {
    let mesh = icosphere(Vector::from([0.52, 0.47, 0.51]), 0.26, 4).map_err(failed)?;
    Ok(Bag {
        points: mesh.points,
        elements: mesh.elements.iter().map(|corners| corners.to_vec()).collect(),
        velocity: Vector::from([1.0, 0.11, -0.07]),
        // Solid angles (A. van Oosterom, J. Strackee, 1983) sum to the whole sphere from inside.
        encloses: |flat, elements, x| {
            let corner = |i: u32| Vector::<3>::from_column_slice(&flat[3 * i as usize..][..3]) - x;
            let seen = |element: &Vec<u32>| {
                let [a, b, c] = [corner(element[0]), corner(element[1]), corner(element[2])];
                let (na, nb, nc) = (a.norm(), b.norm(), c.norm());
                let below = na * nb * nc + a.dot(&b) * nc + a.dot(&c) * nb + b.dot(&c) * na;
                2.0 * a.dot(&b.cross(&c)).atan2(below)
            };
            elements.iter().map(seen).sum::<f64>().abs() > TAU
        },
    })
}

/// Flies `bag` through a box of `cells` cells of edge `h` (m) for `end` seconds.
fn fly<const D: usize>(
    filling: Filling,
    bag: Bag<D>,
    cells: [usize; D],
    h: f64,
    end: f64,
) -> Result<Flight, CaseError>
where
    Dim<D>: Space<D>,
{
    let Bag { points, elements, velocity, encloses } = bag;
    let mut world = World::<D>::new(Vector::zeros()).map_err(failed)?;
    let mut solids = Solids::<D>::new(Vector::zeros(), Scheme::B);
    let mass = vec![2.0; points.len()];
    solids.solid.add_particles(&mass, &vec![false; points.len()]);
    let mut edges: Vec<[u32; 2]> = Vec::new();
    for corners in &elements {
        for (k, &a) in corners.iter().enumerate() {
            let b = corners[(k + 1) % corners.len()];
            edges.push([a.min(b), a.max(b)]);
        }
    }
    edges.sort_unstable();
    edges.dedup();
    let inverses: Vec<f64> = mass.iter().map(|m| 1.0 / m).collect();
    let spring = |&ends: &[u32; 2]| {
        let rest = (points[ends[0] as usize] - points[ends[1] as usize]).norm();
        EdgeSpring::with_modulus(ends, 2e3, 1.0, rest, &inverses)
    };
    let springs: Vec<EdgeSpring> = edges.iter().map(spring).collect();
    solids.solid.add(EdgeSprings::<D>::new("edges", &springs));
    let flat = |of: &[Vector<D>]| of.iter().flat_map(|x| x.iter().copied()).collect::<Vec<f64>>();
    let start = flat(&points);
    solids.bodies.push(SolidBody {
        name: "bag".into(),
        particles: 0..points.len(),
        element: if D == 2 { SolidElement::Segment } else { SolidElement::Triangle },
        elements: elements.iter().flatten().copied().collect(),
        rest: start.clone(),
        forces: 0..1,
        strength: vec![],
        activation: vec![],
        families: vec![],
    });
    let motion = Motion { position: start.clone(), velocity: flat(&vec![velocity; points.len()]), time: 0.0 };
    world.set_solids(solids, motion);
    let mut model = FluidModel::new(domain(cells, h, [[Side::open(); 2]; D])?, Liquid::new("outside", 1.0));
    let grid = *model.domain.grid();
    let is_inside = |flat: &[f64], cell: Index<D>| encloses(flat, &elements, &grid.cell_centre(cell));
    let mut state;
    if filling == Filling::Smoke {
        model.smoke = Some(SmokeModel::default());
        state = FluidState::at_rest(&model);
        if let Some(smoke) = &mut state.smoke {
            smoke.density.update(|cell, _| f64::from(u8::from(is_inside(&start, cell))));
        }
    } else {
        model.liquids.push(Liquid::new("inside", 2.0));
        // The level sets alone: markers would only correct them.
        model.options.surface.particles = None;
        state = FluidState::at_rest(&model);
        let signed = |x: &Vector<D>| if encloses(&start, &elements, x) { -h } else { h };
        state.set_liquid(&model, 0, |x| -signed(x)).map_err(failed)?;
        state.set_liquid(&model, 1, signed).map_err(failed)?;
    }
    world.set_fluid(model, state).map_err(failed)?;
    let mut flight = Flight { outside: 0.0, missing: 0.0, cells: 0.0 };
    while world.state().time < end {
        let dt = world.fluid_stable_step().min(0.01);
        world.step(dt).map_err(failed)?;
        let now = &world.state().solids.motion.position;
        let Some(fluid) = &world.state().fluid else { break };
        let amount = |cell: Index<D>| match &fluid.smoke {
            Some(smoke) => smoke.density.at(cell),
            None => f64::from(u8::from(fluid.liquids[1].phi.at(cell) < 0.0)),
        };
        for cell in fluid.pressure.lattice().indices() {
            if is_inside(now, cell) {
                flight.missing = flight.missing.max(1.0 - amount(cell));
            } else {
                flight.outside = flight.outside.max(amount(cell));
            }
        }
    }
    let end = &world.state().solids.motion.position;
    let mean = |flat: &[f64]| flat.iter().step_by(D).sum::<f64>() / points.len() as f64;
    flight.cells = (mean(end) - mean(&start)) / h;
    Ok(flight)
}
