//! Interpenetration resolution: one central body against all its neighbours at once, positions only (spec/rigid-bodies.md 3.12, Appendix B of
//! the source with the corrections of section 8).

use super::InverseInertia;
use super::impulse::solve_symmetric;
use nalgebra::{SMatrix, SVector};
use splashdown_math::{Coordinates, Dim, Matrix, Space, Spin, Twist, Vector, symmetric_eigen};

/// A neighbour of the central body, touching it at one point.
#[derive(Debug, Clone, Copy)]
pub struct Outer<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// From the centre of mass of the central body to the point (m).
    pub arm: Vector<D>,
    /// From the neighbour's own centre of mass to the point (m).
    pub own_arm: Vector<D>,
    /// The neighbour's inverse inertia; infinite for static, kinematic and frozen bodies, without inertia for a particle.
    pub inverse: InverseInertia<D>,
    /// Displacement that the central body must make relative to the neighbour at the point (m).
    pub displacement: Vector<D>,
    /// With a normal the impulse acts along it only, and tangential displacement is free.
    pub normal: Option<Vector<D>>,
}

/// How bodies are displaced: translation (m) and rotation vector (rad) of the central body and of each neighbour.
#[derive(Debug, Clone, PartialEq)]
pub struct Displacements<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Of the central body.
    pub centre: Twist<D>,
    /// Of each neighbour, in their order.
    pub outer: Vec<Twist<D>>,
}

/// Largest number of unknowns: a twist in 3D. In 2D the last rows and columns are idle.
const N: usize = 6;
type Square = SMatrix<f64, N, N>;
type Column = SVector<f64, N>;

/// The displacements that make all points meet, with the least change in the metric of mass.
///
/// Points on several bodies of infinite mass are met in the least-squares sense, with unit weight a point; what they leave free (rotation about
/// one point or a line) is decided by the dynamic neighbours.
#[inline(never)]
pub fn resolve<const D: usize>(centre: &InverseInertia<D>, outer: &[Outer<D>]) -> Displacements<D>
where
    Dim<D>: Space<D>,
{
    let still = || Displacements { centre: Twist::zero(), outer: vec![Twist::zero(); outer.len()] };
    if centre.is_infinite() {
        // Each dynamic neighbour by itself.
        let moved = outer.iter().map(|o| {
            let j = inverse_factor(o).map_or_else(Vector::zeros, |k| -(k * o.displacement));
            o.inverse.response(&o.own_arm, &j)
        });
        return Displacements { centre: Twist::zero(), outer: moved.collect() };
    }
    let used = Twist::<D>::LEN;
    let mut dynamic = (mass_matrix(centre), Column::zeros());
    let mut fixed = (Square::zeros(), Column::zeros());
    let mut fixed_arms: Vec<Vector<D>> = Vec::new();
    let mut one_sided = false;
    for o in outer {
        let rows = point_rows::<D>(&o.arm);
        let weight = if o.inverse.is_infinite() {
            fixed_arms.push(o.arm);
            one_sided |= o.normal.is_some();
            o.normal.map_or_else(Matrix::identity, |n| n * n.transpose())
        } else {
            match inverse_factor(o) {
                Some(weight) => weight,
                None => continue,
            }
        };
        let target = if o.inverse.is_infinite() { &mut fixed } else { &mut dynamic };
        target.0 += rows.transpose() * weight * rows;
        target.1 += rows.transpose() * (weight * o.displacement);
    }
    let solution = if fixed_arms.is_empty() {
        solve(&dynamic.0, &dynamic.1, used)
    } else {
        let basis = if one_sided {
            numeric_null_space::<D>(&fixed.0, centre)
        } else {
            null_space(&fixed_arms, centre)
        };
        two_stage(&fixed, &dynamic, &basis, used)
    };
    let Some(solution) = solution else { return still() };
    let moved = Twist::<D>::read(solution.as_slice());
    let others = outer.iter().map(|o| {
        if o.inverse.is_infinite() {
            return Twist::zero();
        }
        let lack = moved.at(&o.arm) - o.displacement;
        let j = inverse_factor(o).map_or_else(Vector::zeros, |k| k * lack);
        o.inverse.response(&o.own_arm, &j)
    });
    Displacements { centre: moved, outer: others.collect() }
}

/// `K_o^-1`, or `N (N^T K N)^-1 N^T`; `None` for an infinite body.
fn inverse_factor<const D: usize>(o: &Outer<D>) -> Option<Matrix<D>>
where
    Dim<D>: Space<D>,
{
    if o.inverse.is_infinite() {
        return None;
    }
    let k = o.inverse.factor(&o.own_arm);
    match o.normal {
        None => k.try_inverse(),
        Some(n) => Some(n * n.transpose() / n.dot(&(k * n))),
    }
}

/// `diag(m, I)`, with ones where the dimension has no unknown.
fn mass_matrix<const D: usize>(centre: &InverseInertia<D>) -> Square
where
    Dim<D>: Space<D>,
{
    let mut m = Square::identity();
    for i in 0..D {
        m[(i, i)] = 1.0 / centre.mass;
    }
    let n = <Dim<D> as Space<D>>::SPIN;
    let entries = Dim::inertia_entries(&Dim::invert_inertia(&centre.inertia));
    let turns = entries.iter().any(|&x| x != 0.0);
    for i in 0..n {
        for j in 0..n {
            // A particle does not turn: any positive inertia decouples, because its arms are zero.
            m[(D + i, D + j)] = if turns { entries[i * n + j] } else { f64::from(u8::from(i == j)) };
        }
    }
    m
}

/// `(delta, r^{*T})`: velocity of the point at `arm` from a twist.
fn point_rows<const D: usize>(arm: &Vector<D>) -> SMatrix<f64, D, N>
where
    Dim<D>: Space<D>,
{
    let mut rows = SMatrix::<f64, D, N>::zeros();
    for i in 0..D {
        rows[(i, i)] = 1.0;
    }
    for s in 0..<Dim<D> as Space<D>>::SPIN {
        let mut unit = [0.0; 3];
        unit[s] = 1.0;
        let column = Dim::spin_cross(&Spin::<D>::from_slice(&unit), arm);
        for i in 0..D {
            rows[(i, D + s)] = column[i];
        }
    }
    rows
}

fn solve(a: &Square, b: &Column, used: usize) -> Option<Column> {
    let mut a = *a;
    for i in used..N {
        a[(i, i)] = 1.0;
    }
    solve_symmetric(&a, b)
}

/// Motions that move none of the fixed points: none, rotation about the line through them, or about the one point where they coincide.
fn null_space<const D: usize>(arms: &[Vector<D>], centre: &InverseInertia<D>) -> Vec<Column>
where
    Dim<D>: Space<D>,
{
    let mean = arms.iter().sum::<Vector<D>>() / arms.len() as f64;
    let mut spread = Matrix::<D>::zeros();
    for arm in arms {
        spread += (arm - mean) * (arm - mean).transpose();
    }
    let eigen = symmetric_eigen(&spread);
    // Absolute, on the scale of the body: not relative to the largest eigenvalue.
    let threshold = 1e-2 * length_squared(centre);
    let directions = (0..D).filter(|&i| eigen.values[i] > threshold).count();
    let about = |axis: &Spin<D>| {
        let twist = Twist::<D> { linear: -Dim::spin_cross(axis, &mean), angular: *axis };
        let mut column = Column::zeros();
        twist.write(column.as_mut_slice());
        column
    };
    let spins = <Dim<D> as Space<D>>::SPIN;
    let unit = |s: usize| {
        let mut unit = [0.0; 3];
        unit[s] = 1.0;
        Spin::<D>::from_slice(&unit)
    };
    match directions {
        0 => (0..spins).map(|s| about(&unit(s))).collect(),
        1 if D == 3 => {
            let axis: Vector<D> = eigen.vectors.column(0).into();
            vec![about(&Spin::<D>::from_slice(axis.as_slice()))]
        }
        _ => Vec::new(),
    }
}

/// `I_max / m` of a body (m^2).
fn length_squared<const D: usize>(body: &InverseInertia<D>) -> f64
where
    Dim<D>: Space<D>,
{
    let (moments, _) = Dim::principal_axes(&Dim::invert_inertia(&body.inertia));
    moments.as_slice().iter().fold(0.0, |most: f64, &m| most.max(m)) * body.mass
}

/// Null space of `a` by eigenvalues, for normal-only constraints.
fn numeric_null_space<const D: usize>(a: &Square, centre: &InverseInertia<D>) -> Vec<Column>
where
    Dim<D>: Space<D>,
{
    // In units in which rotations and translations are comparable.
    let length = length_squared(centre).sqrt().max(f64::MIN_POSITIVE);
    let scale = |i: usize| if i < D { 1.0 } else { 1.0 / length };
    let scaled = Square::from_fn(|i, j| a[(i, j)] * scale(i) * scale(j));
    let eigen = nalgebra::SymmetricEigen::new(scaled);
    (0..N)
        .filter(|&k| eigen.eigenvalues[k].abs() < 1e-6)
        .map(|k| Column::from_fn(|i, _| eigen.eigenvectors[(i, k)] * scale(i)))
        .filter(|z| z.iter().take(Twist::<D>::LEN).any(|x| x.abs() > 1e-12))
        .collect()
}

/// `(Y^T A_s Y) y = Y^T b_s`, then `(Z^T A_d Z) z = Z^T (b_d - A_d Y y)`: the limit of infinitely heavy fixed points.
fn two_stage(
    fixed: &(Square, Column),
    dynamic: &(Square, Column),
    free: &[Column],
    used: usize,
) -> Option<Column> {
    // Orthonormal Z, and Y its complement within the unknowns of this dimension.
    let mut z: Vec<Column> = Vec::new();
    for column in free {
        let rest = z.iter().fold(*column, |rest, b| rest - b * b.dot(&rest));
        let length = rest.norm();
        if length > 1e-9 {
            z.push(rest / length);
        }
    }
    let mut y: Vec<Column> = Vec::new();
    for i in 0..used {
        let mut unit = Column::zeros();
        unit[i] = 1.0;
        // Twice, against cancellation.
        for _ in 0..2 {
            unit = z.iter().chain(&y).fold(unit, |rest, b| rest - b * b.dot(&rest));
        }
        let length = unit.norm();
        if length > 1e-6 && y.len() + z.len() < used {
            y.push(unit / length);
        }
    }
    let stage = |basis: &[Column], a: &Square, b: &Column| -> Option<Column> {
        let mut reduced = Square::identity();
        let mut right = Column::zeros();
        for (i, p) in basis.iter().enumerate() {
            right[i] = p.dot(b);
            for (j, q) in basis.iter().enumerate() {
                reduced[(i, j)] = p.dot(&(a * q));
            }
        }
        let solution = solve_symmetric(&reduced, &right)?;
        Some(basis.iter().enumerate().fold(Column::zeros(), |sum, (i, p)| sum + p * solution[i]))
    };
    let first = stage(&y, &fixed.0, &fixed.1)?;
    if z.is_empty() {
        return Some(first);
    }
    let rest = dynamic.1 - dynamic.0 * first;
    Some(first + stage(&z, &dynamic.0, &rest)?)
}
