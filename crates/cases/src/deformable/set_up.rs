//! Bodies that several cases use.

use crate::CaseError;
use splashdown_couple::step_alone;
use splashdown_deformable::element::{Damping, DampingKind, Material};
use splashdown_deformable::integrate::{Integrator, Motion};
use splashdown_deformable::material::{Lame, Law, Model};
use splashdown_deformable::{Elements, Force, Solid};
use splashdown_geometry::generate::{CubeSplit, box_tetrahedra};
use splashdown_geometry::mesh::TetrahedronMesh;
use splashdown_math::{Dim, Matrix, Space, Vector, polar, signed_svd, symmetric_eigen};

/// Wraps any error with what was being done.
pub(super) fn failed<E: std::fmt::Display>(doing: &'static str) -> impl Fn(E) -> CaseError {
    move |error| CaseError::new(doing, error)
}

/// A material with linear-in-strain damping of the given time (s).
pub(super) fn material(
    model: Model,
    young: f64,
    poisson: f64,
    density: f64,
    damping: f64,
) -> Result<Material, CaseError> {
    Ok(Material {
        law: Law::safe(model),
        lame: Lame::new(young, poisson).map_err(failed("making the material"))?,
        density,
        damping: Damping { kind: DampingKind::Linear, time: damping },
    })
}

/// A neo-Hookean material of this Young's modulus (Pa), Poisson's ratio, density (kg/m^D) and damping time (s).
pub(in super::super) fn neo_hookean(
    young: f64,
    poisson: f64,
    density: f64,
    damping: f64,
) -> Result<Material, CaseError> {
    material(Model::NeoHookean, young, poisson, density, damping)
}

/// Flat coordinates.
pub(super) fn flat<const D: usize>(points: &[Vector<D>]) -> Vec<f64> {
    points.iter().flat_map(|x| x.iter().copied()).collect()
}

/// A box of `cells` split into five tetrahedra each.
pub(super) fn cubes(
    lower: [f64; 3],
    upper: [f64; 3],
    cells: [usize; 3],
) -> Result<TetrahedronMesh, CaseError> {
    box_tetrahedra(lower.into(), upper.into(), cells, CubeSplit::Five).map_err(failed("meshing"))
}

/// A solid of one set of elements over `count` particles, with lumped masses.
pub(super) fn solid_of<const D: usize>(
    force: impl Force<D> + 'static,
    add_masses: impl FnOnce(&mut [f64]),
    count: usize,
    gravity: Vector<D>,
) -> Solid<D> {
    let mut mass = vec![0.0; count];
    add_masses(&mut mass);
    let mut solid = Solid::new(mass, vec![false; count], gravity);
    solid.add(force);
    solid
}

/// Tetrahedra as a solid.
pub(super) fn tetrahedra(
    mesh: &TetrahedronMesh,
    material: Material,
    gravity: [f64; 3],
) -> Result<Solid<3>, CaseError> {
    let elements = Elements::tetrahedra(mesh, 0, material).map_err(failed("making elements"))?;
    let masses = elements.clone();
    Ok(solid_of(elements, |mass| masses.add_masses(mass), mesh.points.len(), gravity.into()))
}

/// Steps `count` times.
pub(super) fn run_steps<const D: usize>(
    integrator: &mut Integrator<D>,
    solid: &mut Solid<D>,
    motion: &mut Motion,
    dt: f64,
    count: usize,
) -> Result<(), CaseError>
where
    Dim<D>: Space<D>,
{
    for _ in 0..count {
        step_alone(solid, integrator, motion, dt).map_err(|error| CaseError::new("stepping", error))?;
        for obstacle in &mut integrator.obstacles {
            obstacle.advance(dt);
        }
    }
    Ok(())
}

/// Largest distance (m) of two shapes (flat) after the best rigid alignment.
pub(super) fn difference(a: &[f64], b: &[f64]) -> f64 {
    let points =
        |x: &[f64]| -> Vec<Vector<3>> { x.chunks_exact(3).map(Vector::<3>::from_column_slice).collect() };
    let centred = |points: Vec<Vector<3>>| {
        let centre = points.iter().sum::<Vector<3>>() / points.len() as f64;
        points.into_iter().map(|x| x - centre).collect::<Vec<_>>()
    };
    let (a, b) = (centred(points(a)), centred(points(b)));
    let mut moment = Matrix::<3>::zeros();
    for (a, b) in a.iter().zip(&b) {
        moment += a * b.transpose();
    }
    let (turn, _) = polar(&moment);
    a.iter().zip(&b).map(|(a, b)| (a - turn * b).norm()).fold(0.0, f64::max)
}

/// Largest `|s - 1|` over all tetrahedra at `x`. Of elements that are not inside out from the strain `E = (F^T F - 1) / 2`, which small stretches are known by to its own rounding:
/// `s - 1 = 2 e / (1 + sqrt(1 + 2 e))`.
pub(super) fn largest_strain(mesh: &TetrahedronMesh, x: &[f64]) -> f64 {
    let mut largest = 0.0f64;
    for (element, corners) in mesh.elements.iter().enumerate() {
        let columns = |x: [Vector<3>; 4]| Matrix::<3>::from_columns(&[x[1] - x[0], x[2] - x[0], x[3] - x[0]]);
        let rest = columns(mesh.corners(element));
        let now = columns(corners.map(|node| Vector::<3>::from_column_slice(&x[3 * node as usize..][..3])));
        let Some(inverse) = rest.try_inverse() else { continue };
        let f = now * inverse;
        let strains = if f.determinant() > 0.0 {
            let strain = 0.5 * (f.transpose() * f - Matrix::<3>::identity());
            symmetric_eigen(&strain).values.map(|e| 2.0 * e / (1.0 + (1.0 + 2.0 * e).max(0.0).sqrt()))
        } else {
            signed_svd(&f).sigma.map(|s| s - 1.0)
        };
        largest = largest.max(strains.amax());
    }
    largest
}
