//! Who touches whom: incidence, edges, facets, adjacency and connected parts. Everything is found by sorting, so that ten million elements
//! take a few seconds and results never depend on hashing or threads.

use super::element::{Corners, Element, Facet};
use super::{Mesh, MeshError};
use splashdown_parallel::prelude::*;

/// A list of indices for each of many rows, stored flat (compressed rows).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Incidence {
    starts: Vec<usize>,
    items: Vec<u32>,
}

impl Incidence {
    /// Groups `items` by row; `pairs` gives (row, item) and may be walked twice. Items of a row keep their order.
    pub fn from_pairs<I: Iterator<Item = (u32, u32)>>(rows: usize, pairs: impl Fn() -> I) -> Self {
        let mut starts = vec![0usize; rows + 1];
        for (row, _) in pairs() {
            starts[row as usize + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut items = vec![0; starts[rows]];
        for (row, item) in pairs() {
            items[next[row as usize]] = item;
            next[row as usize] += 1;
        }
        Self { starts, items }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Are there no rows?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Items of one row.
    #[inline]
    pub fn row(&self, row: usize) -> &[u32] {
        &self.items[self.starts[row]..self.starts[row + 1]]
    }

    /// All rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.len()).map(|row| self.row(row))
    }
}

/// Which element lies behind each facet of each element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adjacency {
    facets: usize,
    neighbors: Vec<u32>,
}

const NO_NEIGHBOR: u32 = u32::MAX;

impl Adjacency {
    /// The element behind facet `facet` of `element`; `None` at the boundary.
    pub fn neighbor(&self, element: usize, facet: usize) -> Option<u32> {
        let neighbor = self.neighbors[element * self.facets + facet];
        (neighbor != NO_NEIGHBOR).then_some(neighbor)
    }

    /// All neighbours of an element, in the order of its facets.
    pub fn neighbors(&self, element: usize) -> impl Iterator<Item = u32> + '_ {
        (0..self.facets).filter_map(move |facet| self.neighbor(element, facet))
    }
}

/// Parts of a mesh that share no point with each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    /// Number of parts.
    pub count: usize,
    /// Part of each element; parts are numbered in the order of their first element.
    pub of_element: Vec<u32>,
}

/// One use of a facet by an element.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FacetUse<F> {
    pub key: F,
    pub element: u32,
    pub local: u8,
    pub turned: bool,
}

impl<const D: usize, const N: usize> Mesh<D, N>
where
    Corners<N>: Element<N>,
{
    /// Elements around each point (one-rings), ascending.
    pub fn point_elements(&self) -> Result<Incidence, MeshError> {
        self.check_indices()?;
        Ok(Incidence::from_pairs(self.points.len(), || {
            self.elements
                .iter()
                .enumerate()
                .flat_map(|(e, corners)| corners.iter().map(move |&p| (p, e as u32)))
        }))
    }

    /// Points joined to each point by an edge, ascending.
    pub fn point_neighbors(&self) -> Result<Incidence, MeshError> {
        self.check_indices()?;
        let edges = self.edges();
        // Edges are sorted: first all smaller neighbours of a point arrive, then all greater ones.
        let mut lists =
            Incidence::from_pairs(self.points.len(), || edges.iter().flat_map(|&[a, b]| [(a, b), (b, a)]));
        for row in 0..lists.len() {
            let range = lists.starts[row]..lists.starts[row + 1];
            lists.items[range].sort_unstable();
        }
        Ok(lists)
    }

    /// All edges, each once, smaller index first, sorted.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let mut edges: Vec<[u32; 2]> = self
            .elements
            .par_iter()
            .with_min_len(4096)
            .flat_map_iter(|element| {
                <Corners<N> as Element<N>>::EDGES.iter().map(move |&[i, j]| {
                    let (a, b) = (element[i], element[j]);
                    [a.min(b), a.max(b)]
                })
            })
            .collect();
        edges.par_sort_unstable();
        edges.dedup();
        edges
    }

    /// All edges as [`Mesh::edges`] gives them, and the elements around each, ascending.
    pub fn edge_elements(&self) -> (Vec<[u32; 2]>, Incidence) {
        let mut uses: Vec<([u32; 2], u32)> = self
            .elements
            .par_iter()
            .enumerate()
            .with_min_len(4096)
            .flat_map_iter(|(e, element)| {
                <Corners<N> as Element<N>>::EDGES.iter().map(move |&[i, j]| {
                    let (a, b) = (element[i], element[j]);
                    ([a.min(b), a.max(b)], e as u32)
                })
            })
            .collect();
        uses.par_sort_unstable();
        uses.dedup();
        let mut edges = Vec::new();
        let mut starts = Vec::new();
        for (place, (edge, _)) in uses.iter().enumerate() {
            if edges.last() != Some(edge) {
                edges.push(*edge);
                starts.push(place);
            }
        }
        starts.push(uses.len());
        (edges, Incidence { starts, items: uses.into_iter().map(|(_, element)| element).collect() })
    }

    /// All facets, each once with its corners sorted, in ascending order: the triangles of a tetrahedron mesh, the edges of a triangle mesh.
    pub fn facets(&self) -> Vec<Facet<N>> {
        let mut facets: Vec<_> = self.facet_uses().into_iter().map(|one| one.key).collect();
        facets.dedup();
        facets
    }

    /// Facets that belong to one element only, turned as that element has them (outwards), with the element.
    pub fn boundary_facets(&self) -> Vec<(Facet<N>, u32)> {
        let uses = self.facet_uses();
        uses.chunk_by(|a, b| a.key == b.key)
            .filter(|group| group.len() == 1)
            .map(|group| {
                let element = group[0].element;
                (
                    <Corners<N> as Element<N>>::facet(
                        &self.elements[element as usize],
                        group[0].local.into(),
                    ),
                    element,
                )
            })
            .collect()
    }

    /// Which element lies behind each facet. Refuses facets shared by more than two elements.
    pub fn adjacency(&self) -> Result<Adjacency, MeshError> {
        let facets = <Corners<N> as Element<N>>::FACETS;
        let mut neighbors = vec![NO_NEIGHBOR; facets * self.elements.len()];
        for group in self.facet_uses().chunk_by(|a, b| a.key == b.key) {
            match group {
                [_] => {}
                [a, b] => {
                    neighbors[a.element as usize * facets + usize::from(a.local)] = b.element;
                    neighbors[b.element as usize * facets + usize::from(b.local)] = a.element;
                }
                _ => return Err(non_manifold(group)),
            }
        }
        Ok(Adjacency { facets, neighbors })
    }

    /// Parts of the mesh that share no point.
    pub fn components(&self) -> Result<Components, MeshError> {
        self.check_indices()?;
        let mut parent: Vec<u32> = (0..self.points.len() as u32).collect();
        for element in &self.elements {
            let first = root(&mut parent, element[0]);
            for &corner in &element[1..] {
                let other = root(&mut parent, corner);
                let first = root(&mut parent, first);
                parent[first.max(other) as usize] = first.min(other);
            }
        }
        let mut label = vec![u32::MAX; self.points.len()];
        let mut count = 0;
        let of_element = self
            .elements
            .iter()
            .map(|element| {
                let root = root(&mut parent, element[0]) as usize;
                if label[root] == u32::MAX {
                    label[root] = count;
                    count += 1;
                }
                label[root]
            })
            .collect();
        Ok(Components { count: count as usize, of_element })
    }

    /// All uses of facets, equal facets next to each other, elements ascending within a facet.
    pub(crate) fn facet_uses(&self) -> Vec<FacetUse<Facet<N>>> {
        let mut uses: Vec<_> = self
            .elements
            .par_iter()
            .enumerate()
            .with_min_len(4096)
            .flat_map_iter(|(e, element)| {
                (0..<Corners<N> as Element<N>>::FACETS).map(move |local| {
                    let (key, turned) = <Corners<N> as Element<N>>::canonical(element, local);
                    FacetUse { key, element: e as u32, local: local as u8, turned }
                })
            })
            .collect();
        uses.par_sort_unstable_by_key(|one| (one.key, one.element, one.local));
        uses
    }
}

pub(super) fn non_manifold<F: AsRef<[u32]>>(group: &[FacetUse<F>]) -> MeshError {
    MeshError::NonManifold {
        facet: group[0].key.as_ref().to_vec(),
        elements: group.iter().take(3).map(|one| one.element as usize).collect(),
        count: group.len(),
    }
}

/// Representative of a set, the smallest index in it, with path halving.
fn root(parent: &mut [u32], mut index: u32) -> u32 {
    while parent[index as usize] != index {
        let up = parent[parent[index as usize] as usize];
        parent[index as usize] = up;
        index = up;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{HexahedronMesh, TetrahedronMesh};
    use crate::query::test_shapes::{hexahedra, sphere, tetrahedra};

    #[test]
    fn euler_characteristic_of_a_sphere_and_a_ball() {
        let surface = sphere(9, 1.0);
        let edges = surface.edges();
        assert_eq!(surface.points.len() + surface.elements.len() - edges.len(), 2);
        let solid: TetrahedronMesh = tetrahedra(3);
        let (v, e, f, t) =
            (solid.points.len(), solid.edges().len(), solid.facets().len(), solid.elements.len());
        assert_eq!(v + f - e - t, 1);
        assert_eq!(solid.boundary_facets().len(), 6 * 9 * 2);
        let hexes: HexahedronMesh = hexahedra(3);
        let (v, e, f, t) =
            (hexes.points.len(), hexes.edges().len(), hexes.facets().len(), hexes.elements.len());
        assert_eq!(v + f - e - t, 1);
        assert_eq!(hexes.boundary_facets().len(), 6 * 9);
    }

    #[test]
    fn incidence_edges_and_adjacency_agree() {
        let surface = sphere(5, 1.0);
        let rings = surface.point_elements().unwrap();
        for (point, ring) in rings.rows().enumerate() {
            assert!(
                ring.is_sorted()
                    && ring.iter().all(|&e| surface.elements[e as usize].contains(&(point as u32)))
            );
        }
        assert_eq!(rings.rows().map(<[u32]>::len).sum::<usize>(), 3 * surface.elements.len());
        let (edges, around) = surface.edge_elements();
        assert_eq!(edges, surface.edges());
        let adjacency = surface.adjacency().unwrap();
        for (edge, around) in edges.iter().zip(around.rows()) {
            let &[a, b] = around else { panic!("two triangles around an edge of a closed surface") };
            assert!(edge.iter().all(|v| surface.elements[a as usize].contains(v)));
            assert!(adjacency.neighbors(a as usize).any(|n| n == b));
            assert!(adjacency.neighbors(b as usize).any(|n| n == a));
        }
        let neighbors = surface.point_neighbors().unwrap();
        // A pole of the sphere has one neighbour a meridian.
        assert_eq!(neighbors.row(0).len(), 10);
        assert!(neighbors.rows().all(|row| row.is_sorted()));
    }

    #[test]
    fn components_are_numbered_by_their_first_element() {
        let mut mesh = sphere(3, 1.0);
        let offset = mesh.points.len() as u32;
        let second: Vec<_> = mesh.elements.iter().map(|e| e.map(|i| i + offset)).collect();
        let copies = mesh.points.clone();
        mesh.points.extend(copies);
        mesh.elements = second.into_iter().chain(mesh.elements).collect();
        let parts = mesh.components().unwrap();
        assert_eq!(parts.count, 2);
        assert_eq!(parts.of_element[0], 0);
        assert_eq!(parts.of_element.last(), Some(&1));
    }

    #[test]
    fn an_edge_with_three_triangles_is_refused() {
        let mesh = Mesh::<3, 3> {
            points: (0..5).map(|i| [i as f64, (i * i) as f64, 1.0].into()).collect(),
            elements: vec![[0, 1, 2], [1, 0, 3], [0, 1, 4]],
        };
        assert_eq!(
            mesh.adjacency(),
            Err(MeshError::NonManifold { facet: vec![0, 1], elements: vec![0, 1, 2], count: 3 })
        );
    }
}
