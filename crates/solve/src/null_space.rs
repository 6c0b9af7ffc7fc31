//! Null spaces of positive semidefinite systems: closed fluid regions, redundant constraints (spec/fluid-structure.md 3.10).

use crate::error::{check_finite, check_size};
use crate::{CsrMatrix, InverseMass, LinearOperator, Preconditioner, SolveError, vector};

/// A vector given by its nonzero entries.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SparseVector {
    /// Indices, strictly ascending.
    pub indices: Vec<u32>,
    /// One value an index.
    pub values: Vec<f64>,
}

impl SparseVector {
    /// One on `indices`, zero elsewhere: the constant pressure of a region.
    pub fn indicator(mut indices: Vec<u32>) -> Self {
        indices.sort_unstable();
        indices.dedup();
        let values = vec![1.0; indices.len()];
        Self { indices, values }
    }

    /// The nonzero entries of a dense vector.
    pub fn from_dense(dense: &[f64]) -> Self {
        let nonzero = |&(_, value): &(usize, &f64)| *value != 0.0;
        let (indices, values) =
            dense.iter().enumerate().filter(nonzero).map(|(i, &value)| (i as u32, value)).unzip();
        Self { indices, values }
    }

    fn dot_dense(&self, dense: &[f64]) -> f64 {
        vector::reduce(self.indices.len(), |first, last| {
            let pairs = self.indices[first..last].iter().zip(&self.values[first..last]);
            pairs.map(|(&i, value)| value * dense[i as usize]).sum()
        })
    }

    fn add_to(&self, scale: f64, dense: &mut [f64]) {
        for (&i, value) in self.indices.iter().zip(&self.values) {
            dense[i as usize] += scale * value;
        }
    }
}

/// An orthonormal basis of a null space, to be projected out of right-hand sides and preconditioned residuals.
///
/// Nothing is pinned: fixing one pressure instead would spoil the conditioning.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NullSpace {
    size: usize,
    basis: Vec<SparseVector>,
}

impl NullSpace {
    /// Spanned by `vectors` over `size` unknowns; dependent ones are dropped.
    ///
    /// # Errors
    /// Indices outside `0..size` or out of order, values that are not finite.
    pub fn new(size: usize, vectors: &[SparseVector]) -> Result<Self, SolveError> {
        let mut space = Self { size, basis: Vec::new() };
        let mut dense = vec![0.0; size];
        for vector in vectors {
            check_size("values of a null vector", vector.values.len(), vector.indices.len())?;
            check_finite("null vector", &vector.values)?;
            let ascending = vector.indices.windows(2).all(|pair| pair[0] < pair[1]);
            let last = vector.indices.iter().copied().max().map_or(0, |index| index as usize);
            if !vector.indices.is_empty() && (!ascending || last >= size) {
                let what = "index of a null vector (ascending)".into();
                return Err(SolveError::Index { what, index: last, bound: size });
            }
            let norm = vector::norm(&vector.values);
            if norm == 0.0 {
                continue;
            }
            dense.fill(0.0);
            vector.add_to(1.0 / norm, &mut dense);
            // Gram-Schmidt twice is enough for orthogonality to rounding.
            for _ in 0..2 {
                for base in &space.basis {
                    let along = base.dot_dense(&dense);
                    if along != 0.0 {
                        base.add_to(-along, &mut dense);
                    }
                }
            }
            let rest = vector::norm(&dense);
            if rest > 1e-10 {
                vector::scale(1.0 / rest, &mut dense);
                space.basis.push(SparseVector::from_dense(&dense));
            }
        }
        Ok(space)
    }

    /// The constants: the null space of one closed region of `size` unknowns.
    pub fn constants(size: usize) -> Self {
        let all = SparseVector::indicator((0..size as u32).collect());
        Self::new(size, &[all]).expect("indices are ascending and inside")
    }

    /// Finds the null space of the positive semidefinite `operator` within the span of `candidates`, such as the constant pressures of the
    /// components of a flood fill with the coupling impulses that go with them.
    ///
    /// The combination `y` of candidates is a null vector exactly when `y^T Z^T S Z y = 0`, so this is the null space of the small Gram
    /// matrix `Z^T S Z`. An eigenvalue counts as zero below `tolerance` times `scale`, the diagonal of the operator seen by the candidates.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn probe(
        operator: &dyn LinearOperator,
        diagonal: &[f64],
        candidates: &[SparseVector],
        tolerance: f64,
    ) -> Result<Self, SolveError> {
        let size = operator.rows();
        check_size("diagonal", diagonal.len(), size)?;
        // Normalises, checks, and drops dependent candidates.
        let span = Self::new(size, candidates)?;
        let count = span.basis.len();
        let (mut dense, mut image) = (vec![0.0; size], vec![0.0; size]);
        let mut gram = vec![0.0; count * count];
        let mut scale: f64 = 0.0;
        for (column, base) in span.basis.iter().enumerate() {
            dense.fill(0.0);
            base.add_to(1.0, &mut dense);
            operator.apply(&dense, &mut image);
            scale = scale.max(vector::weighted_dot(diagonal, &dense, &dense));
            for (row, other) in span.basis.iter().enumerate() {
                gram[row * count + column] = other.dot_dense(&image);
            }
        }
        let combinations = small_null_space(&gram, count, tolerance * scale);
        let vectors: Vec<SparseVector> = combinations
            .iter()
            .map(|combination| {
                dense.fill(0.0);
                for (weight, base) in combination.iter().zip(&span.basis) {
                    base.add_to(*weight, &mut dense);
                }
                SparseVector::from_dense(&dense)
            })
            .collect();
        Self::new(size, &vectors)
    }

    /// Number of unknowns.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Dimension of the null space.
    pub fn dimension(&self) -> usize {
        self.basis.len()
    }

    /// Orthonormal basis.
    pub fn basis(&self) -> &[SparseVector] {
        &self.basis
    }

    /// Removes the null space from `x`; returns the norm of what was removed.
    pub fn project(&self, x: &mut [f64]) -> f64 {
        let mut removed = 0.0;
        for base in &self.basis {
            let along = base.dot_dense(x);
            base.add_to(-along, x);
            removed += along * along;
        }
        removed.sqrt()
    }

    /// The component of `x` along each basis vector: for a constant pressure this is the net flux over the root of the number of cells.
    pub fn components(&self, x: &[f64]) -> Vec<f64> {
        self.basis.iter().map(|base| base.dot_dense(x)).collect()
    }
}

/// Null space of `[M^-1 F_c]_c`, the structure impulses `F_c` that a unit pressure in each closed component makes (spec/fluid-structure.md
/// 3.10(1)): combinations of components (one coefficient each) whose impulses nothing can feel.
///
/// `tolerance` is relative to the largest impulse; a component whose impulse is rounding of zero (rigid bodies, by the discrete
/// Gauss theorem) counts as unfelt when it is below `tolerance` times `unit`, the size of one face's impulse (`M^-1` norm).
pub fn unfelt_pressures(
    inverse_mass: &InverseMass,
    impulses: &[Vec<f64>],
    unit: f64,
    tolerance: f64,
) -> Result<Vec<Vec<f64>>, SolveError> {
    let count = impulses.len();
    let len = inverse_mass.layout().len();
    let mut images = Vec::with_capacity(count);
    for impulse in impulses {
        check_size("impulse of a component", impulse.len(), len)?;
        check_finite("impulse of a component", impulse)?;
        let mut image = impulse.clone();
        inverse_mass.apply(&mut image);
        images.push(image);
    }
    let mut gram = vec![0.0; count * count];
    for row in 0..count {
        for column in 0..count {
            gram[row * count + column] = vector::dot(&impulses[row], &images[column]);
        }
    }
    let largest = (0..count).map(|c| gram[c * count + c]).fold(unit * unit, f64::max);
    Ok(small_null_space(&gram, count, tolerance * tolerance * largest))
}

/// Eigenvectors of a small symmetric positive semidefinite matrix with eigenvalue at most `threshold`.
fn small_null_space(gram: &[f64], count: usize, threshold: f64) -> Vec<Vec<f64>> {
    if count == 0 {
        return Vec::new();
    }
    let (values, vectors) = crate::dense::symmetric_eigen(gram, count);
    values.iter().zip(vectors).filter(|(value, _)| **value <= threshold).map(|(_, vector)| vector).collect()
}

/// A preconditioner followed by the projection: what a semidefinite solve iterates with.
pub struct Projected<'a, P> {
    inner: P,
    null_space: &'a NullSpace,
}

impl<'a, P: Preconditioner> Projected<'a, P> {
    /// `z = (I - N N^T) M^-1 r`.
    pub fn new(inner: P, null_space: &'a NullSpace) -> Self {
        Self { inner, null_space }
    }
}

impl<P: Preconditioner> Preconditioner for Projected<'_, P> {
    fn apply(&mut self, r: &[f64], z: &mut [f64]) {
        self.inner.apply(r, z);
        self.null_space.project(z);
    }
}

/// Connected components of a graph of unknowns, numbered by their smallest member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    labels: Vec<u32>,
    count: usize,
}

impl Components {
    /// From undirected edges between `size` unknowns, for example fluid cells and the unconstrained faces between them.
    ///
    /// # Errors
    /// An edge that names an unknown outside `0..size`.
    pub fn from_edges(
        size: usize,
        edges: impl IntoIterator<Item = (usize, usize)>,
    ) -> Result<Self, SolveError> {
        let mut parent: Vec<u32> = (0..size as u32).collect();
        fn root(parent: &mut [u32], mut node: usize) -> usize {
            while parent[node] as usize != node {
                parent[node] = parent[parent[node] as usize];
                node = parent[node] as usize;
            }
            node
        }
        for (a, b) in edges {
            let largest = a.max(b);
            if largest >= size {
                let what = "edge between unknowns".into();
                return Err(SolveError::Index { what, index: largest, bound: size });
            }
            let (a, b) = (root(&mut parent, a), root(&mut parent, b));
            // The smaller index stays the root, so that the numbering does not depend on the order of the edges.
            parent[a.max(b)] = a.min(b) as u32;
        }
        let mut labels = vec![0; size];
        let mut count = 0;
        for node in 0..size {
            let root = root(&mut parent, node);
            labels[node] = if root == node {
                count += 1;
                count as u32 - 1
            } else {
                labels[root]
            };
        }
        Ok(Self { labels, count })
    }

    /// From the off-diagonal entries of a square sparse matrix.
    ///
    /// # Errors
    /// If the matrix is not square.
    pub fn from_matrix(matrix: &CsrMatrix) -> Result<Self, SolveError> {
        check_size("columns of the matrix", matrix.cols(), matrix.rows())?;
        let edges = (0..matrix.rows()).flat_map(|i| {
            let (columns, values) = matrix.row(i);
            columns
                .iter()
                .zip(values)
                .filter(|entry| *entry.1 != 0.0)
                .map(move |entry| (i, *entry.0 as usize))
        });
        Self::from_edges(matrix.rows(), edges)
    }

    /// Number of components.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Component of each unknown.
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// The indicator vector of each component for which `keep` holds (given its number), for [`NullSpace::new`] or [`NullSpace::probe`].
    pub fn indicators(&self, keep: impl Fn(usize) -> bool) -> Vec<SparseVector> {
        let mut members = vec![Vec::new(); self.count];
        for (unknown, &label) in self.labels.iter().enumerate() {
            members[label as usize].push(unknown as u32);
        }
        let kept = members.into_iter().enumerate().filter(|(component, _)| keep(*component));
        kept.map(|(_, indices)| SparseVector::indicator(indices)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Identity, Iteration, Jacobi, Stopping, Workspace, pcg};
    use proptest::prelude::*;

    /// Two closed chains and one with a Dirichlet end.
    fn three_regions() -> CsrMatrix {
        let mut triplets = Vec::new();
        for (first, last, open) in [(0, 10, false), (10, 15, false), (15, 40, true)] {
            for i in first..last - 1 {
                triplets.extend([(i, i, 1.0), (i + 1, i + 1, 1.0), (i, i + 1, -1.0), (i + 1, i, -1.0)]);
            }
            if open {
                triplets.push((first, first, 1.0));
            }
        }
        CsrMatrix::from_triplets(40, 40, &triplets).unwrap()
    }

    #[test]
    fn closed_regions_are_found_and_projected() {
        let matrix = three_regions();
        let components = Components::from_matrix(&matrix).unwrap();
        assert_eq!(components.count(), 3);
        let candidates = components.indicators(|_| true);
        let space = NullSpace::probe(&matrix, &matrix.diagonal(), &candidates, 1e-12).unwrap();
        assert_eq!(space.dimension(), 2);
        let mut rhs: Vec<f64> = (0..40).map(|i| (i as f64).sin()).collect();
        let exact_removed = (rhs[..10].iter().sum::<f64>().powi(2) / 10.0
            + rhs[10..15].iter().sum::<f64>().powi(2) / 5.0)
            .sqrt();
        let removed = space.project(&mut rhs);
        assert!((removed - exact_removed).abs() < 1e-14);
        assert!(space.components(&rhs).iter().all(|along| along.abs() < 1e-15));
        let mut x = vec![0.0; 40];
        let mut preconditioner = Projected::new(Jacobi::new(&matrix.diagonal()).unwrap(), &space);
        let mut iteration = Iteration::new(Stopping::relative(1e-12));
        let report =
            pcg(&matrix, &mut preconditioner, &rhs, &mut x, &mut iteration, &mut Workspace::default())
                .unwrap();
        assert!(report.outcome.converged(), "{report:?}");
        assert!(space.components(&x).iter().all(|along| along.abs() < 1e-12), "minimum-norm solution");
    }

    #[test]
    fn dependent_and_bad_vectors() {
        let a = SparseVector::indicator(vec![0, 1]);
        let b = SparseVector::indicator(vec![1, 2]);
        let c = SparseVector { indices: vec![0, 1, 2], values: vec![1.0, 2.0, 1.0] };
        assert_eq!(NullSpace::new(3, &[a.clone(), b, c, a.clone()]).unwrap().dimension(), 2);
        assert!(NullSpace::new(1, &[a]).is_err());
        let nan = SparseVector { indices: vec![0], values: vec![f64::NAN] };
        assert!(NullSpace::new(1, &[nan]).is_err());
        assert!(Components::from_edges(2, [(0, 2)]).is_err());
        assert!(Components::from_matrix(&CsrMatrix::zeros(1, 2)).is_err());
        assert_eq!(Components::from_edges(0, []).unwrap().count(), 0);
    }

    #[test]
    fn many_unknowns_with_the_constant_null_space() {
        let n = 3000;
        let edges =
            (0..n - 1).flat_map(|i| [(i, i, 1.0), (i + 1, i + 1, 1.0), (i, i + 1, -1.0), (i + 1, i, -1.0)]);
        let matrix = CsrMatrix::from_triplets(n, n, &edges.collect::<Vec<_>>()).unwrap();
        let space = NullSpace::constants(n);
        let mut rhs: Vec<f64> = (0..n).map(|i| (i as f64 * 0.01).cos()).collect();
        space.project(&mut rhs);
        let mut x = vec![0.0; n];
        let mut iteration =
            Iteration::new(Stopping { max_iterations: 5000, patience: 5000, ..Stopping::relative(1e-9) });
        let mut projected = Projected::new(Identity, &space);
        let report =
            pcg(&matrix, &mut projected, &rhs, &mut x, &mut iteration, &mut Workspace::default()).unwrap();
        assert!(report.outcome.converged(), "{report:?}");
    }

    proptest! {
        #[test]
        fn components_match_a_slow_flood_fill(edges in prop::collection::vec((0..12usize, 0..12usize), 0..14)) {
            let components = Components::from_edges(12, edges.clone()).unwrap();
            let mut labels: Vec<usize> = (0..12).collect();
            for _ in 0..12 { for &(a, b) in &edges { let low = labels[a].min(labels[b]); labels[a] = low; labels[b] = low; } }
            for i in 0..12 { for j in 0..12 {
                prop_assert_eq!(labels[i] == labels[j], components.labels()[i] == components.labels()[j]);
            } }
        }
    }
}
