//! The shapes of elements: their edges and their facets.

use std::fmt::Debug;
use std::hash::Hash;

/// Names an element by its number of corners as a type, so that [`Element`] can be implemented for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Corners<const N: usize>;

/// Corners of a facet of an element with `N` corners: a point of a segment, an edge of a triangle, a triangle of a tetrahedron, a
/// quadrilateral of a hexahedron.
pub type Facet<const N: usize> = <Corners<N> as Element<N>>::Facet;

/// What topology needs to know of an element shape; implemented for [`Corners`] with 2, 3, 4 and 8 corners.
pub trait Element<const N: usize>: Copy + Debug + Send + Sync + 'static {
    /// Indices of the corners of a facet.
    type Facet: Copy + Debug + Ord + Hash + Send + Sync + AsRef<[u32]> + 'static;
    /// Number of facets.
    const FACETS: usize;
    /// Pairs of local corners that are joined by an edge.
    const EDGES: &'static [[usize; 2]];

    /// Corners of facet `local`, ordered so that its normal points out of a positively oriented element. Facet `i` of a simplex is the one
    /// opposite of corner `i`.
    fn facet(element: &[u32; N], local: usize) -> Self::Facet;
    /// The same facet however it is turned (corners sorted), and which of the two ways around it was given. Two neighbours that agree about
    /// the outside use their common facet in opposite ways.
    fn canonical(element: &[u32; N], local: usize) -> (Self::Facet, bool);
}

impl Element<2> for Corners<2> {
    type Facet = [u32; 1];
    const FACETS: usize = 2;
    const EDGES: &'static [[usize; 2]] = &[[0, 1]];

    fn facet(element: &[u32; 2], local: usize) -> [u32; 1] {
        [element[1 - local]]
    }
    fn canonical(element: &[u32; 2], local: usize) -> ([u32; 1], bool) {
        (Self::facet(element, local), local == 1)
    }
}

impl Element<3> for Corners<3> {
    type Facet = [u32; 2];
    const FACETS: usize = 3;
    const EDGES: &'static [[usize; 2]] = &[[1, 2], [2, 0], [0, 1]];

    fn facet(element: &[u32; 3], local: usize) -> [u32; 2] {
        [element[(local + 1) % 3], element[(local + 2) % 3]]
    }
    fn canonical(element: &[u32; 3], local: usize) -> ([u32; 2], bool) {
        let [a, b] = Self::facet(element, local);
        ([a.min(b), a.max(b)], a > b)
    }
}

impl Element<4> for Corners<4> {
    type Facet = [u32; 3];
    const FACETS: usize = 4;
    const EDGES: &'static [[usize; 2]] = &[[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

    fn facet(element: &[u32; 4], local: usize) -> [u32; 3] {
        const FACETS: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];
        FACETS[local].map(|i| element[i])
    }
    fn canonical(element: &[u32; 4], local: usize) -> ([u32; 3], bool) {
        let facet = Self::facet(element, local);
        let [a, b, c] = facet;
        let mut sorted = facet;
        sorted.sort_unstable();
        // Odd permutations of the corners turn the triangle around.
        (sorted, (a > b) ^ (a > c) ^ (b > c))
    }
}

impl Element<8> for Corners<8> {
    type Facet = [u32; 4];
    const FACETS: usize = 6;
    const EDGES: &'static [[usize; 2]] =
        &[[0, 1], [2, 3], [4, 5], [6, 7], [0, 2], [1, 3], [4, 6], [5, 7], [0, 4], [1, 5], [2, 6], [3, 7]];

    fn facet(element: &[u32; 8], local: usize) -> [u32; 4] {
        const FACETS: [[usize; 4]; 6] =
            [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]];
        FACETS[local].map(|i| element[i])
    }
    fn canonical(element: &[u32; 8], local: usize) -> ([u32; 4], bool) {
        let facet = Self::facet(element, local);
        let mut sorted = facet;
        sorted.sort_unstable();
        let first = facet.iter().position(|&v| v == sorted[0]).unwrap_or(0);
        (sorted, facet[(first + 1) % 4] > facet[(first + 3) % 4])
    }
}
