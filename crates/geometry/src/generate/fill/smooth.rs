//! Smoothing that never makes the worst angle around a point worse.

use crate::mesh::Mesh;
use crate::simplex::signed_volume;
use splashdown_math::{Matrix, Vector};
use splashdown_parallel::prelude::*;

/// Elements whose angles are all between 30 and 150 degrees are left alone: the cosine of 30 degrees.
const GOOD: f64 = 0.866_025_403_784_438_6;

/// Runs `sweeps` passes over the points of poorly shaped elements, in order of their index. Points on the surface move along it.
pub fn smooth<const D: usize, const N: usize>(
    mesh: &mut Mesh<D, N>,
    on_surface: &[bool],
    signed_distance: impl Fn(&Vector<D>) -> f64,
    sweeps: usize,
    cell: f64,
) {
    if sweeps == 0 {
        return;
    }
    let (starts, incident) = elements_of_points(mesh);
    for _ in 0..sweeps {
        // Most of the mesh is untouched lattice, which needs no second look.
        let poor: Vec<bool> = (0..mesh.elements.len())
            .into_par_iter()
            .with_min_len(1 << 12)
            .map(|e| worst_cosine(&mesh.corners(e)) > GOOD)
            .collect();
        let mut candidate = vec![false; mesh.points.len()];
        for (element, _) in mesh.elements.iter().zip(&poor).filter(|(_, poor)| **poor) {
            for &p in element {
                candidate[p as usize] = true;
            }
        }
        for point in (0..mesh.points.len()).filter(|p| candidate[*p]) {
            let around = &incident[starts[point] as usize..starts[point + 1] as usize];
            let current = worst_around(mesh, around);
            if current <= GOOD {
                continue;
            }
            let surface = on_surface[point];
            let target = centre_of_neighbours(mesh, around, point as u32, surface.then_some(on_surface));
            let old = mesh.points[point];
            let mut step = 1.0;
            for _ in 0..4 {
                let mut candidate = old + (target - old) * step;
                if surface {
                    match project(&signed_distance, candidate, cell) {
                        Some(projected) => candidate = projected,
                        None => break,
                    }
                }
                mesh.points[point] = candidate;
                if worst_around(mesh, around) < current {
                    break;
                }
                mesh.points[point] = old;
                step *= 0.5;
            }
        }
    }
}

fn elements_of_points<const D: usize, const N: usize>(mesh: &Mesh<D, N>) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; mesh.points.len() + 1];
    for &p in mesh.elements.as_flattened() {
        starts[p as usize + 1] += 1;
    }
    for i in 0..mesh.points.len() {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    let mut incident = vec![0; mesh.elements.len() * N];
    for (e, element) in mesh.elements.iter().enumerate() {
        for &p in element {
            incident[next[p as usize] as usize] = e as u32;
            next[p as usize] += 1;
        }
    }
    (starts, incident)
}

/// Largest |cosine| of an angle between two facets of the elements; above 1 when one is inverted.
fn worst_around<const D: usize, const N: usize>(mesh: &Mesh<D, N>, around: &[u32]) -> f64 {
    around.iter().map(|&e| worst_cosine(&mesh.corners(e as usize))).fold(0.0, f64::max)
}

/// Largest |cosine| of an angle between two facets of a simplex. The facets opposite corners i and j meet at the angle with the cosine `-g_i . g_j / (|g_i| |g_j|)`,
/// where g are the gradients of the barycentric coordinates.
fn worst_cosine<const D: usize, const N: usize>(x: &[Vector<D>; N]) -> f64 {
    const INVERTED: f64 = 2.0;
    if signed_volume(x) <= 0.0 {
        return INVERTED;
    }
    let edges = Matrix::<D>::from_fn(|row, column| x[column + 1][row] - x[0][row]);
    let Some(inverse) = edges.try_inverse() else { return INVERTED };
    let mut normals = [Vector::<D>::zeros(); N];
    for i in 0..D {
        let g = Vector::<D>::from_fn(|j, _| inverse[(i, j)]);
        normals[i + 1] = g;
        normals[0] -= g;
    }
    let normals = normals.map(|g| g.normalize());
    let mut worst = 0f64;
    for i in 0..N {
        for j in 0..i {
            worst = worst.max(normals[i].dot(&normals[j]).abs());
        }
    }
    worst
}

/// Mean of the neighbours, counted once for every element they share with the point; only those on the surface when `among` is given.
fn centre_of_neighbours<const D: usize, const N: usize>(
    mesh: &Mesh<D, N>,
    around: &[u32],
    point: u32,
    among: Option<&[bool]>,
) -> Vector<D> {
    let mut sum = Vector::<D>::zeros();
    let mut count = 0.0;
    for &e in around {
        for &p in &mesh.elements[e as usize] {
            if p != point && among.is_none_or(|on| on[p as usize]) {
                sum += mesh.points[p as usize];
                count += 1.0;
            }
        }
    }
    if count == 0.0 { mesh.points[point as usize] } else { sum / count }
}

/// The nearby zero of `f` down its gradient (central differences), by Newton's method; `None` when there is none within half a cell.
fn project<const D: usize>(f: &impl Fn(&Vector<D>) -> f64, start: Vector<D>, cell: f64) -> Option<Vector<D>> {
    let h = 1e-5 * cell;
    let mut x = start;
    for _ in 0..8 {
        let value = f(&x);
        if !value.is_finite() {
            return None;
        }
        let gradient = Vector::<D>::from_fn(|axis, _| {
            let mut e = Vector::<D>::zeros();
            e[axis] = h;
            (f(&(x + e)) - f(&(x - e))) / (2.0 * h)
        });
        let square = gradient.norm_squared();
        if !(square > 1e-12 && square.is_finite()) {
            return None;
        }
        let step = gradient * (value / square);
        x -= step;
        if (x - start).norm() > 0.5 * cell {
            return None;
        }
        if step.norm() < 1e-10 * cell {
            return Some(x);
        }
    }
    None
}
