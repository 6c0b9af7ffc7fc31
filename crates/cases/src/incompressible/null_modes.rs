//! Pressures that push nothing: any whose mean is zero in every element. Structured meshes have some, whatever their geometry; the solver must live with them, also when the clamp of
//! the recovery time makes the right side inconsistent.
//!
//! Source: spec/incompressible-solids.md 3.7, 5.2 H: three for Kuhn's cubes and for the body-centred lattice, two for right triangles in the plane.

use super::bodies::{FREE, body, failed, flat, keeper, tight};
use super::statics::unit_material;
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_deformable::incompressible::{IncompressibleOptions, IncompressibleReport, Rings};
use splashdown_geometry::generate::{CubeSplit, Diagonals, box_tetrahedra, sheet};
use splashdown_math::Vector;
use splashdown_solve::testing::TestNumbers;
use std::collections::BTreeMap;

pub(super) const CASE: Case = Case {
    name: "incompressible/null-modes",
    spec: "H (incompressible-solids), INC-17, INC-6",
    summary: "pressures that push nothing on structured meshes: their number, and solves that stay bounded with them",
    source: "exact; spec/incompressible-solids.md 3.7",
    speed: Speed::Fast,
    seconds: 2.0,
    run,
};

/// Number of independent pressures that push nothing: by orthogonalising the pushes of all rings, the largest first, and as the product counts them from the mesh alone.
fn null_modes<const D: usize>(simplices: &[u32], points: &[Vector<D>]) -> Result<[usize; 2], CaseError> {
    let rings = Rings::<D>::new(D + 1, simplices, &flat(points)).ok_or_else(|| failed("no rings"))?;
    let matrix = rings.matrix(points.len()).map_err(failed)?;
    let dense = matrix.to_dense();
    let mut rows: Vec<Vec<f64>> = dense.chunks_exact(matrix.cols()).map(<[f64]>::to_vec).collect();
    let size = |row: &[f64]| row.iter().map(|value| value * value).sum::<f64>().sqrt();
    let largest = rows.iter().map(|row| size(row)).fold(0.0, f64::max);
    let mut rank = 0;
    while let Some(best) = (rank..rows.len()).max_by(|&a, &b| size(&rows[a]).total_cmp(&size(&rows[b]))) {
        let length = size(&rows[best]);
        if length < 1e-9 * largest {
            break;
        }
        rows.swap(rank, best);
        let pivot: Vec<f64> = rows[rank].iter().map(|value| value / length).collect();
        for row in &mut rows[rank + 1..] {
            // Twice, so that rounding leaves nothing.
            for _ in 0..2 {
                let along: f64 = row.iter().zip(&pivot).map(|(value, pivot)| value * pivot).sum();
                row.iter_mut().zip(&pivot).for_each(|(value, pivot)| *value -= along * pivot);
            }
        }
        rank += 1;
    }
    Ok([rings.len() - rank, rings.null_modes()])
}

/// The body-centred lattice of `cells` cubes a side: a tetrahedron for two neighbouring centres and an edge of the face between them.
fn body_centred(cells: i32) -> (Vec<u32>, Vec<Vector<3>>) {
    // In halves of a cube: corners are even, centres odd.
    let mut places: BTreeMap<[i32; 3], u32> = BTreeMap::new();
    let (mut points, mut simplices) = (Vec::new(), Vec::new());
    let mut place = |at: [i32; 3], points: &mut Vec<Vector<3>>| {
        *places.entry(at).or_insert_with(|| {
            points.push(Vector::<3>::new(f64::from(at[0]), f64::from(at[1]), f64::from(at[2])));
            points.len() as u32 - 1
        })
    };
    for cube in 0..cells.pow(3) {
        let centre = [cube % cells, cube / cells % cells, cube / cells / cells].map(|i| 2 * i + 1);
        for axis in (0..3).filter(|&axis| centre[axis] + 2 < 2 * cells) {
            let mut next = centre;
            next[axis] += 2;
            let around = [[1, 1], [1, -1], [-1, -1], [-1, 1]].map(|shift| {
                let mut corner = centre;
                corner[axis] += 1;
                corner[(axis + 1) % 3] += shift[0];
                corner[(axis + 2) % 3] += shift[1];
                corner
            });
            for edge in 0..4 {
                let corners = [centre, next, around[edge], around[(edge + 1) % 4]];
                simplices.extend(corners.map(|at| place(at, &mut points)));
            }
        }
    }
    (simplices, points)
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    for cells in [2, 3] {
        let cube = box_tetrahedra(Vector::zeros(), Vector::repeat(1.0), [cells; 3], CubeSplit::Six)
            .map_err(failed)?;
        let corners: Vec<u32> = cube.elements.iter().flatten().copied().collect();
        let [modes, counted] = null_modes(&corners, &cube.points)?;
        out.near(
            "pressures that push nothing",
            &format!("Kuhn's cubes, {cells}^3"),
            modes as f64,
            3.0,
            0.0,
            CASE.source,
        );
        out.near(
            "the same, found from the mesh",
            &format!("Kuhn's cubes, {cells}^3"),
            counted as f64,
            3.0,
            0.0,
            CASE.source,
        );
        let (corners, points) = body_centred(cells as i32 + 1);
        let [modes, counted] = null_modes(&corners, &points)?;
        let name = format!("body-centred, {}^3", cells + 1);
        out.near("pressures that push nothing", &name, modes as f64, 3.0, 0.0, CASE.source);
        out.near("the same, found from the mesh", &name, counted as f64, 3.0, 0.0, CASE.source);
        let square = sheet(
            Vector::<2>::zeros(),
            Vector::<2>::new(1.0, 0.0),
            Vector::<2>::new(0.0, 1.0),
            [2 * cells; 2],
            Diagonals::Forward,
        )
        .map_err(failed)?;
        let corners: Vec<u32> = square.elements.iter().flatten().copied().collect();
        let [modes, counted] = null_modes(&corners, &square.points)?;
        out.near(
            "pressures that push nothing",
            &format!("right triangles, {}^2", 2 * cells),
            modes as f64,
            2.0,
            0.0,
            CASE.source,
        );
        out.near(
            "the same, found from the mesh",
            &format!("right triangles, {}^2", 2 * cells),
            counted as f64,
            2.0,
            0.0,
            CASE.source,
        );
    }

    // Kuhn's cubes, deformed: with the clamp on for half of the rings the right side has a part that no pressure can balance.
    const CELLS: usize = 5;
    let cube =
        box_tetrahedra(Vector::zeros(), Vector::repeat(1.0), [CELLS; 3], CubeSplit::Six).map_err(failed)?;
    let (solid, motion, rings) = body(&cube, unit_material(0.0)?, 0.0)?;
    let mut random = TestNumbers::new(8);
    let x: Vec<f64> = motion.position.iter().map(|x| 0.98 * x + random.uniform(-0.01, 0.01)).collect();
    let dt = 0.01;
    // The null vectors: the colour (i + j + k) mod 4 of a node takes each of four values once in every element.
    let colour =
        |point: &Vector<3>| point.iter().map(|x| (x * CELLS as f64).round() as usize).sum::<usize>() % 4;
    let colours: Vec<usize> = cube.points.iter().map(colour).collect();
    let mut largest = [0.0f64; 2];
    for (clamped, largest) in largest.iter_mut().enumerate() {
        let recovery_time = if clamped == 1 { 0.2 } else { 0.0 };
        let mut body = keeper(&rings, IncompressibleOptions { recovery_time, ..tight() });
        let mut moving = vec![0.0; x.len()];
        let report = &mut IncompressibleReport::default();
        body.correct_motion(&solid, &x, &mut moving, dt, &FREE, report).map_err(failed)?;
        let pressure = body.pressures();
        *largest = pressure.iter().fold(0.0f64, |most, p| most.max(p.abs()));
        // A pressure has no part along them if its sums over the colours are equal.
        let mut sums = [0.0; 4];
        pressure.iter().zip(&colours).for_each(|(p, &colour)| sums[colour] += p);
        let mean = sums.iter().sum::<f64>() / 4.0;
        let null = sums.iter().fold(0.0f64, |most, sum| most.max((sum - mean).abs()));
        let scale: f64 = pressure.iter().map(|p| p.abs()).sum();
        let name = if clamped == 1 { "Kuhn's cubes, clamped" } else { "Kuhn's cubes" };
        out.at_most(
            "part of the pressure along null vectors, relative",
            name,
            null / scale,
            1e-12,
            "removed",
        );
        if clamped == 0 {
            out.near("solves that did not converge", name, report.unfinished as f64, 0.0, 0.0, CASE.source);
            let moved: Vec<f64> = x.iter().zip(&moving).map(|(x, v)| x + dt * v).collect();
            let before = body.errors(&x).0;
            let after = body.errors(&moved).0;
            out.at_most(
                "largest error of a ring after a correction",
                name,
                after,
                before * before,
                "a step of Newton's method",
            );
        }
    }
    // The clamp asks for less, so that the pressures must not be larger.
    out.at_most(
        "largest pressure, relative to that without the clamp",
        "Kuhn's cubes, clamped",
        largest[1] / largest[0],
        1.0,
        "bounded",
    );
    Ok(())
}
