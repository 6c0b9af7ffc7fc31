//! Measurements of the contract of [`Force`], the same for every force: finite differences of energy and force, symmetry, the factor of the damping. For tests and
//! verification cases.

use crate::force::{Force, ForceError};

fn difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

fn norm(a: &[f64]) -> f64 {
    a.iter().map(|a| a * a).sum::<f64>().sqrt()
}

/// Elastic force at `position`.
///
/// # Errors
/// A state without force.
pub fn elastic_force<const D: usize>(
    force: &mut dyn Force<D>,
    position: &[f64],
) -> Result<Vec<f64>, ForceError> {
    force.update(position)?;
    let mut out = vec![0.0; position.len()];
    force.add_elastic(&mut out);
    Ok(out)
}

/// Relative error of the elastic force against central differences of the energy along `direction`.
///
/// # Errors
/// A state without force.
pub fn energy_gradient_error<const D: usize>(
    force: &mut dyn Force<D>,
    position: &[f64],
    direction: &[f64],
    step: f64,
) -> Result<f64, ForceError> {
    let mut energy = |step: f64| {
        let moved: Vec<f64> = position.iter().zip(direction).map(|(x, d)| x + step * d).collect();
        force.update(&moved)?;
        Ok::<f64, ForceError>(force.energy())
    };
    let slope = (energy(step)? - energy(-step)?) / (2.0 * step);
    let elastic = elastic_force(force, position)?;
    let work: f64 = elastic.iter().zip(direction).map(|(f, d)| f * d).sum();
    Ok((slope + work).abs() / (norm(&elastic) * norm(direction)).max(f64::MIN_POSITIVE))
}

/// Relative error of `K dx` against central differences of the elastic force along `direction`.
///
/// # Errors
/// A state without force.
pub fn stiffness_error<const D: usize>(
    force: &mut dyn Force<D>,
    position: &[f64],
    direction: &[f64],
    step: f64,
) -> Result<f64, ForceError> {
    let shifted =
        |step: f64| -> Vec<f64> { position.iter().zip(direction).map(|(x, d)| x + step * d).collect() };
    let ahead = elastic_force(force, &shifted(step))?;
    let behind = elastic_force(force, &shifted(-step))?;
    let slope: Vec<f64> = ahead.iter().zip(&behind).map(|(a, b)| -(a - b) / (2.0 * step)).collect();
    force.update(position)?;
    let mut exact = vec![0.0; position.len()];
    force.add_stiffness(direction, &mut exact, false);
    Ok(difference(&slope, &exact) / norm(&exact).max(f64::MIN_POSITIVE))
}

/// Relative differences of the element matrices, summed up, to `K dx` (as asked) and to `-D v` at the last update.
pub fn matrix_errors<const D: usize>(force: &dyn Force<D>, vector: &[f64], positive: bool) -> [f64; 2] {
    let product = |stiffness: f64, damping: f64| {
        let mut out = vec![0.0; vector.len()];
        for element in 0..force.elements() {
            let nodes = force.element_nodes(element);
            let size = nodes.len() * D;
            let mut matrix = vec![0.0; size * size];
            force.add_element_matrix(element, stiffness, damping, positive, &mut matrix);
            for (row, value) in matrix.chunks_exact(size).enumerate() {
                let at = D * nodes[row / D] as usize + row % D;
                for (column, entry) in value.iter().enumerate() {
                    out[at] += entry * vector[D * nodes[column / D] as usize + column % D];
                }
            }
        }
        out
    };
    let mut stiffness = vec![0.0; vector.len()];
    force.add_stiffness(vector, &mut stiffness, positive);
    let mut damping = vec![0.0; vector.len()];
    force.add_damping(vector, &mut damping);
    damping.iter_mut().for_each(|value| *value = -*value);
    let relative = |a: &[f64], b: &[f64]| difference(a, b) / norm(b).max(f64::MIN_POSITIVE);
    [relative(&product(1.0, 0.0), &stiffness), relative(&product(0.0, 1.0), &damping)]
}

/// Relative error of `C^T C v = -dt D v` at the last update; zero for a force without damping.
pub fn factor_error<const D: usize>(force: &dyn Force<D>, velocity: &[f64], dt: f64) -> f64 {
    let mut rows = vec![0.0; force.damping_rows()];
    force.apply_factor(velocity, dt, &mut rows);
    let mut factored = vec![0.0; velocity.len()];
    force.add_factor_transpose(&rows, dt, &mut factored);
    let mut damping = vec![0.0; velocity.len()];
    force.add_damping(velocity, &mut damping);
    damping.iter_mut().for_each(|value| *value *= -dt);
    if norm(&damping) == 0.0 { norm(&factored) } else { difference(&factored, &damping) / norm(&damping) }
}

/// Relative difference of `w . C v` and `v . C^T w` at the last update.
pub fn adjoint_error<const D: usize>(force: &dyn Force<D>, velocity: &[f64], w: &[f64], dt: f64) -> f64 {
    let mut rows = vec![0.0; force.damping_rows()];
    force.apply_factor(velocity, dt, &mut rows);
    let mut transposed = vec![0.0; velocity.len()];
    force.add_factor_transpose(w, dt, &mut transposed);
    let left: f64 = rows.iter().zip(w).map(|(a, b)| a * b).sum();
    let right: f64 = transposed.iter().zip(velocity).map(|(a, b)| a * b).sum();
    (left - right).abs() / (norm(&rows) * norm(w)).max(f64::MIN_POSITIVE)
}
