//! The first Piola stress, which forces are made of, and the measures of stress that others give (spec 3.0, 3.3).

use splashdown_math::Matrix;

/// `cof F = J F^-T`, which every `F` has.
fn cofactor<const C: usize>(f: &Matrix<C>) -> Matrix<C> {
    Matrix::from_fn(|i, j| {
        // Cyclic neighbours carry the sign in 3D; in 2D the one entry that is left has that of the checkerboard.
        let at = |di: usize, dj: usize| f[((i + di) % C, (j + dj) % C)];
        match C {
            1 => 1.0,
            2 if (i + j) % 2 == 1 => -at(1, 1),
            2 => at(1, 1),
            _ => at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1),
        }
    })
}

/// First Piola stress `P = F S` (Pa) of the second Piola stress `S` (Pa) at the deformation gradient `F`.
///
/// A model in this form has no force where an element is flat: extend it past that in its principal stresses ([`Law`](super::Law)).
pub fn first_piola_of_second<const C: usize>(f: &Matrix<C>, second: &Matrix<C>) -> Matrix<C> {
    f * second
}

/// First Piola stress `P = sigma cof F` (Pa) of the Cauchy stress `sigma` (Pa) at the deformation gradient `F`.
///
/// A model in this form has no force where an element is a line or a point: extend it past that in its principal stresses ([`Law`](super::Law)).
pub fn first_piola_of_cauchy<const C: usize>(f: &Matrix<C>, cauchy: &Matrix<C>) -> Matrix<C> {
    cauchy * cofactor(f)
}

/// Second Piola stress `S = F^-1 P` (Pa); none where the deformation gradient `F` is flat.
pub fn second_piola_of<const C: usize>(f: &Matrix<C>, first: &Matrix<C>) -> Option<Matrix<C>> {
    Some(f.try_inverse()? * first)
}

/// Cauchy stress `sigma = P F^T / J` (Pa); none where the deformation gradient `F` is flat.
pub fn cauchy_of<const C: usize>(f: &Matrix<C>, first: &Matrix<C>) -> Option<Matrix<C>> {
    let j = f.row(0).dot(&cofactor(f).row(0));
    (j != 0.0).then(|| first * f.transpose() / j)
}
