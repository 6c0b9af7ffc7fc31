//! The stacked velocity, its mass and the inverse of that mass.

mod layout;

pub use layout::VelocityLayout;

use crate::dense::{cholesky, cholesky_solve};
use crate::error::{check_not_negative, check_size};
use crate::{CsrMatrix, SolveError, vector};
use serde::{Deserialize, Serialize};
use splashdown_math::{Dim, Inertia, Space};

/// `M^-1` of the stacked velocity: block diagonal, symmetric, positive semidefinite.
///
/// One value a fluid face (1/kg), one a particle (1/kg, the same in each direction), one dense symmetric block a rigid body
/// (`m^-1 I` and the world-frame `I^-1`, or any positive definite block, as lumped bodies need). Zero means a static or kinematic part:
/// it keeps its velocity whatever pushes on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InverseMass {
    layout: VelocityLayout,
    faces: Vec<f64>,
    particles: Vec<f64>,
    /// `twist * twist` values a body, row-major.
    bodies: Vec<f64>,
}

impl InverseMass {
    /// Everything static: `M^-1 = 0`.
    pub fn zero(layout: VelocityLayout) -> Self {
        let twist = layout.twist_len();
        Self {
            layout,
            faces: vec![0.0; layout.face_count()],
            particles: vec![0.0; layout.particle_count()],
            bodies: vec![0.0; layout.body_count() * twist * twist],
        }
    }

    /// From inverse face masses and inverse particle masses (1/kg) and the dense inverse body masses (row-major, one after the other).
    ///
    /// # Errors
    /// Lengths other than the layout's, values that are negative (on a diagonal) or not finite, body blocks that are not symmetric and
    /// positive definite on the directions that can move.
    pub fn new(
        layout: VelocityLayout,
        faces: Vec<f64>,
        particles: Vec<f64>,
        bodies: Vec<f64>,
    ) -> Result<Self, SolveError> {
        let twist = layout.twist_len();
        check_size("inverse face masses", faces.len(), layout.face_count())?;
        check_size("inverse particle masses", particles.len(), layout.particle_count())?;
        check_size("inverse body masses", bodies.len(), layout.body_count() * twist * twist)?;
        check_not_negative("inverse face mass", &faces)?;
        check_not_negative("inverse particle mass", &particles)?;
        for body in 0..layout.body_count() {
            check_body_block(body, &bodies[body * twist * twist..(body + 1) * twist * twist], twist)?;
        }
        Ok(Self { layout, faces, particles, bodies })
    }

    /// Sets body `body` from its inverse mass (1/kg) and its inverse inertia tensor in the world frame (1/(kg m^2)).
    ///
    /// # Errors
    /// A body or dimension that the layout does not have, values that are negative or not finite.
    pub fn set_body<const D: usize>(
        &mut self,
        body: usize,
        inverse_mass: f64,
        inverse_inertia: &Inertia<D>,
    ) -> Result<(), SolveError>
    where
        Dim<D>: Space<D>,
    {
        let twist = self.layout.twist_len();
        check_size("dimension of the velocity layout", self.layout.dimension(), D)?;
        let bound = self.layout.body_count();
        if body >= bound {
            return Err(SolveError::Index { what: "rigid body".into(), index: body, bound });
        }
        let mut block = vec![0.0; twist * twist];
        for axis in 0..D {
            block[axis * twist + axis] = inverse_mass;
        }
        let spin = Dim::<D>::SPIN;
        for (at, value) in Dim::<D>::inertia_entries(inverse_inertia).into_iter().enumerate() {
            block[(D + at / spin) * twist + D + at % spin] = value;
        }
        check_body_block(body, &block, twist)?;
        self.bodies[body * twist * twist..(body + 1) * twist * twist].copy_from_slice(&block);
        Ok(())
    }

    /// Sets the inverse mass (1/kg) of particle `particle`.
    ///
    /// # Errors
    /// A particle that the layout does not have, a value that is negative or not finite.
    pub fn set_particle(&mut self, particle: usize, inverse_mass: f64) -> Result<(), SolveError> {
        set(&mut self.particles, "particle", particle, inverse_mass)
    }

    /// Sets the inverse mass (1/kg) of fluid face `face`.
    ///
    /// # Errors
    /// A face that the layout does not have, a value that is negative or not finite.
    pub fn set_face(&mut self, face: usize, inverse_mass: f64) -> Result<(), SolveError> {
        set(&mut self.faces, "fluid face", face, inverse_mass)
    }

    /// Where faces, particles and bodies are in the stacked velocity.
    pub fn layout(&self) -> VelocityLayout {
        self.layout
    }

    /// Inverse face masses (1/kg).
    pub fn faces(&self) -> &[f64] {
        &self.faces
    }

    /// Inverse particle masses (1/kg).
    pub fn particles(&self) -> &[f64] {
        &self.particles
    }

    /// Dense row-major block of body `body`.
    pub fn body(&self, body: usize) -> &[f64] {
        let size = self.layout.twist_len().pow(2);
        &self.bodies[body * size..(body + 1) * size]
    }

    /// `x <- M^-1 x` on the whole stacked vector: impulses become velocity changes.
    pub fn apply(&self, x: &mut [f64]) {
        let (dimension, twist) = (self.layout.dimension(), self.layout.twist_len());
        let (faces, rest) = x.split_at_mut(self.layout.face_count());
        let (particles, bodies) = rest.split_at_mut(self.layout.particle_count() * dimension);
        vector::for_each_chunk(faces, |first, chunk| {
            for (x, inverse) in chunk.iter_mut().zip(&self.faces[first..]) {
                *x *= inverse;
            }
        });
        vector::for_each_chunk(particles, |first, chunk| {
            for (i, x) in chunk.iter_mut().enumerate() {
                *x *= self.particles[(first + i) / dimension];
            }
        });
        for (body, x) in bodies.chunks_exact_mut(twist).enumerate() {
            multiply_block(self.body(body), x);
        }
    }

    /// Entries of `M^-1` in column (= row) `index`, as `visit(row, value)`; diagonal blocks only, rows ascending.
    fn for_column(&self, index: usize, mut visit: impl FnMut(usize, f64)) {
        let faces = self.layout.face_count();
        let first_body = self.layout.body_range_start();
        if index < faces {
            visit(index, self.faces[index]);
        } else if index < first_body {
            visit(index, self.particles[(index - faces) / self.layout.dimension()]);
        } else {
            let twist = self.layout.twist_len();
            let (body, row) = ((index - first_body) / twist, (index - first_body) % twist);
            let block = self.body(body);
            for column in 0..twist {
                visit(first_body + body * twist + column, block[row * twist + column]);
            }
        }
    }

    /// `b M^-1 b^T` of the sparse row `b` with the given ascending columns: the diagonal entry of `B M^-1 B^T`.
    pub fn row_diagonal(&self, columns: &[u32], values: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (at, (&column, &value)) in columns.iter().zip(values).enumerate() {
            self.for_column(column as usize, |row, inverse| {
                if row == column as usize {
                    sum += value * inverse * value;
                } else if inverse != 0.0 {
                    // Only within a body, so the partner is at most a twist away in the sorted columns.
                    let partner = if row > column as usize {
                        columns[at..]
                            .iter()
                            .take_while(|&&c| c as usize <= row)
                            .position(|&c| c as usize == row)
                            .map(|p| at + p)
                    } else {
                        columns[..at]
                            .iter()
                            .rev()
                            .take_while(|&&c| c as usize >= row)
                            .position(|&c| c as usize == row)
                            .map(|p| at - 1 - p)
                    };
                    if let Some(partner) = partner {
                        sum += value * inverse * values[partner];
                    }
                }
            });
        }
        sum
    }

    /// `B M^-1` for a sparse `B` over the stacked velocity.
    ///
    /// # Errors
    /// If `B` has another number of columns than the stacked velocity.
    pub fn multiply_rows(&self, rows: &CsrMatrix) -> Result<CsrMatrix, SolveError> {
        check_size("columns of the rows", rows.cols(), self.layout.len())?;
        rows.product(&self.to_csr())
    }

    /// `M^-1` as a sparse matrix.
    pub fn to_csr(&self) -> CsrMatrix {
        let len = self.layout.len();
        let mut offsets = Vec::with_capacity(len + 1);
        let (mut columns, mut values) = (Vec::with_capacity(len), Vec::with_capacity(len));
        offsets.push(0);
        for index in 0..len {
            self.for_column(index, |row, value| {
                if value != 0.0 {
                    columns.push(row as u32);
                    values.push(value);
                }
            });
            offsets.push(columns.len());
        }
        CsrMatrix::from_parts(len, offsets, columns, values).expect("blocks are visited in ascending order")
    }

    /// Can component `index` of the stacked velocity move at all?
    pub fn is_movable(&self, index: usize) -> bool {
        let mut movable = false;
        self.for_column(index, |row, value| movable |= row == index && value > 0.0);
        movable
    }

    /// `L` with `M^-1 = L L^T`, which maps unit-mass velocities to velocities. Bodies have lower triangular blocks.
    pub fn square_root(&self) -> InverseMassRoot {
        let twist = self.layout.twist_len();
        let mut bodies = self.bodies.clone();
        for block in bodies.chunks_exact_mut((twist * twist).max(1)) {
            cholesky(block, twist).expect("blocks are checked when they are set");
        }
        InverseMassRoot {
            layout: self.layout,
            faces: self.faces.iter().map(|value| value.sqrt()).collect(),
            particles: self.particles.iter().map(|value| value.sqrt()).collect(),
            bodies,
        }
    }

    /// The mass of what can move; see [`Mass`].
    pub fn mass(&self) -> Mass {
        Mass { root: self.square_root() }
    }
}

fn set(values: &mut [f64], what: &str, index: usize, value: f64) -> Result<(), SolveError> {
    check_not_negative(&format!("inverse mass of {what} {index}"), &[value])?;
    let bound = values.len();
    match values.get_mut(index) {
        Some(slot) => *slot = value,
        None => return Err(SolveError::Index { what: what.into(), index, bound }),
    }
    Ok(())
}

fn check_body_block(body: usize, block: &[f64], twist: usize) -> Result<(), SolveError> {
    let what = format!("inverse mass block of body {body}");
    crate::error::check_finite(&what, block)?;
    let diagonal: Vec<f64> = (0..twist).map(|i| block[i * twist + i]).collect();
    check_not_negative(&what, &diagonal)?;
    for row in 0..twist {
        for column in 0..row {
            let difference = (block[row * twist + column] - block[column * twist + row]).abs();
            let size = (diagonal[row] * diagonal[column]).sqrt();
            // A world-frame tensor is symmetric up to the rounding of R I R^T; a zero diagonal needs a zero row.
            if difference > 1e-12 * size || (size == 0.0 && block[row * twist + column] != 0.0) {
                return Err(SolveError::NotSymmetric { what, row, column, difference });
            }
        }
    }
    cholesky(&mut block.to_vec(), twist).map_err(|row| SolveError::NotPositiveDefinite { what, row })
}

/// `x <- A x` for a small dense row-major block.
fn multiply_block(block: &[f64], x: &mut [f64]) {
    let n = x.len();
    let mut result = [0.0; 6];
    for row in 0..n {
        for column in 0..n {
            result[row] += block[row * n + column] * x[column];
        }
    }
    x.copy_from_slice(&result[..n]);
}

/// `L` with `L L^T = M^-1`; see [`InverseMass::square_root`].
#[derive(Debug, Clone, PartialEq)]
pub struct InverseMassRoot {
    layout: VelocityLayout,
    faces: Vec<f64>,
    particles: Vec<f64>,
    bodies: Vec<f64>,
}

impl InverseMassRoot {
    /// `x <- L x`.
    pub fn apply(&self, x: &mut [f64]) {
        self.scale(x, |block, x| {
            let n = x.len();
            for row in (0..n).rev() {
                x[row] = (0..=row).map(|column| block[row * n + column] * x[column]).sum();
            }
        });
    }

    /// `x <- L^T x`.
    pub fn apply_transpose(&self, x: &mut [f64]) {
        self.scale(x, |block, x| {
            let n = x.len();
            for row in 0..n {
                x[row] = (row..n).map(|column| block[column * n + row] * x[column]).sum();
            }
        });
    }

    fn scale(&self, x: &mut [f64], body: impl Fn(&[f64], &mut [f64])) {
        let (dimension, twist) = (self.layout.dimension(), self.layout.twist_len());
        let (faces, rest) = x.split_at_mut(self.layout.face_count());
        let (particles, bodies) = rest.split_at_mut(self.layout.particle_count() * dimension);
        for (x, root) in faces.iter_mut().zip(&self.faces) {
            *x *= root;
        }
        for (x, root) in particles.chunks_exact_mut(dimension.max(1)).zip(&self.particles) {
            x.iter_mut().for_each(|x| *x *= root);
        }
        for (x, block) in bodies.chunks_exact_mut(twist).zip(self.bodies.chunks_exact(twist * twist)) {
            body(block, x);
        }
    }
}

/// `M` of what can move. Parts with a zero inverse mass carry no energy or momentum here: they are the outside world.
#[derive(Debug, Clone, PartialEq)]
pub struct Mass {
    root: InverseMassRoot,
}

impl Mass {
    /// `momentum = M V` (kg m/s; kg m^2/s for spins), zero for what cannot move.
    pub fn momentum(&self, velocity: &[f64]) -> Vec<f64> {
        let layout = self.root.layout;
        let mut momentum = velocity.to_vec();
        let (dimension, twist) = (layout.dimension(), layout.twist_len());
        let (faces, rest) = momentum.split_at_mut(layout.face_count());
        let (particles, bodies) = rest.split_at_mut(layout.particle_count() * dimension);
        let divide =
            |value: &mut f64, root: f64| *value = if root == 0.0 { 0.0 } else { *value / (root * root) };
        for (x, &root) in faces.iter_mut().zip(&self.root.faces) {
            divide(x, root);
        }
        for (x, &root) in particles.chunks_exact_mut(dimension.max(1)).zip(&self.root.particles) {
            x.iter_mut().for_each(|x| divide(x, root));
        }
        for (x, block) in bodies.chunks_exact_mut(twist).zip(self.root.bodies.chunks_exact(twist * twist)) {
            cholesky_solve(block, twist, x);
        }
        momentum
    }

    /// `a^T M b` over what can move (J for velocities).
    pub fn inner_product(&self, a: &[f64], b: &[f64]) -> f64 {
        vector::dot(a, &self.momentum(b))
    }

    /// `V^T M V / 2` over what can move (J).
    pub fn kinetic_energy(&self, velocity: &[f64]) -> f64 {
        0.5 * self.inner_product(velocity, velocity)
    }
}

#[cfg(test)]
mod tests;
