//! Strength of connection between nodes, and aggregates of strongly connected ones.

use crate::CsrMatrix;
use splashdown_parallel::prelude::*;

/// Strong neighbours of each node (not itself), ascending.
#[derive(Debug, Clone)]
pub(super) struct Graph {
    pub offsets: Vec<u32>,
    pub neighbors: Vec<u32>,
    /// Size of the coupling relative to the two diagonals.
    pub strength: Vec<f32>,
}

impl Graph {
    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn of(&self, node: usize) -> &[u32] {
        &self.neighbors[self.offsets[node] as usize..self.offsets[node + 1] as usize]
    }

    fn strengths(&self, node: usize) -> &[f32] {
        &self.strength[self.offsets[node] as usize..self.offsets[node + 1] as usize]
    }
}

/// Nodes `i`, `j` of one kind are strongly coupled when `|A_ij| > threshold sqrt(|A_ii| |A_jj|)` in the Frobenius norm of node blocks.
pub(super) fn strong_graph(matrix: &CsrMatrix, block: usize, kinds: &[u8], threshold: f64) -> Graph {
    let nodes = matrix.rows() / block;
    let diagonal: Vec<f64> = (0..nodes)
        .into_par_iter()
        .with_min_len(1 << 12)
        .map(|node| {
            let mut square = 0.0;
            for i in node * block..(node + 1) * block {
                let (columns, values) = matrix.row(i);
                for (&column, &value) in columns.iter().zip(values) {
                    if column as usize / block == node {
                        square += value * value;
                    }
                }
            }
            square.sqrt()
        })
        .collect();
    const NODES: usize = 4096;
    let parts: Vec<(Vec<u32>, Vec<u32>, Vec<f32>)> = (0..nodes.div_ceil(NODES))
        .into_par_iter()
        .map(|part| {
            let range = part * NODES..nodes.min((part + 1) * NODES);
            let (mut lengths, mut neighbors, mut strength) = (Vec::with_capacity(NODES), vec![], vec![]);
            let mut squares: Vec<(u32, f64)> = Vec::new();
            for node in range {
                squares.clear();
                for i in node * block..(node + 1) * block {
                    let (columns, values) = matrix.row(i);
                    for (&column, &value) in columns.iter().zip(values) {
                        let other = column / block as u32;
                        let same_kind = kinds.is_empty() || kinds[node] == kinds[other as usize];
                        if other as usize == node || !same_kind {
                            continue;
                        }
                        if block == 1 {
                            squares.push((other, value * value));
                        } else {
                            match squares.iter_mut().find(|entry| entry.0 == other) {
                                Some(entry) => entry.1 += value * value,
                                None => squares.push((other, value * value)),
                            }
                        }
                    }
                }
                if block > 1 {
                    squares.sort_unstable_by_key(|entry| entry.0);
                }
                let before = neighbors.len();
                for &(other, square) in &squares {
                    let scale = diagonal[node] * diagonal[other as usize];
                    if square > threshold * threshold * scale && scale > 0.0 {
                        neighbors.push(other);
                        strength.push((square / scale) as f32);
                    }
                }
                lengths.push((neighbors.len() - before) as u32);
            }
            (lengths, neighbors, strength)
        })
        .collect();
    let mut graph = Graph { offsets: Vec::with_capacity(nodes + 1), neighbors: vec![], strength: vec![] };
    graph.offsets.push(0);
    for (lengths, neighbors, strength) in parts {
        for length in lengths {
            graph.offsets.push(graph.offsets[graph.offsets.len() - 1] + length);
        }
        graph.neighbors.extend(neighbors);
        graph.strength.extend(strength);
    }
    graph
}

/// A partition of the nodes; nodes without strong neighbours belong to none, the smoother alone handles them.
#[derive(Debug, Clone)]
pub(super) struct Aggregates {
    pub count: usize,
    /// Aggregate of each node, or [`Self::NONE`].
    pub of: Vec<u32>,
}

impl Aggregates {
    pub const NONE: u32 = u32::MAX;

    /// Kinds of the aggregates, from those of their nodes.
    pub fn kinds(&self, of_nodes: &[u8]) -> Vec<u8> {
        if of_nodes.is_empty() {
            return Vec::new();
        }
        let mut kinds = vec![0; self.count];
        for (&aggregate, &kind) in self.of.iter().zip(of_nodes) {
            if aggregate != Self::NONE {
                kinds[aggregate as usize] = kind;
            }
        }
        kinds
    }
}

/// A graph with no more neighbours than this is that of a five- or seven-point stencil, whose neighbourhoods are stars: see [`complete_cube`].
const STAR: usize = 8;

/// Greedy aggregation in the order of the nodes: a node none of whose neighbours is taken gathers them all; the nodes left over join
/// the neighbouring aggregate to which they are coupled most; the rest form aggregates of their own.
pub(super) fn aggregate(graph: &Graph) -> Aggregates {
    const NONE: u32 = Aggregates::NONE;
    let mut of = vec![NONE; graph.nodes()];
    let mut count = 0u32;
    let mut links = vec![0u8; graph.nodes()];
    for node in 0..graph.nodes() {
        let neighbors = graph.of(node);
        if of[node] == NONE
            && !neighbors.is_empty()
            && neighbors.iter().all(|&other| of[other as usize] == NONE)
        {
            of[node] = count;
            for &other in neighbors {
                of[other as usize] = count;
            }
            if neighbors.len() <= STAR {
                complete_cube(graph, neighbors, count, &mut of, &mut links);
            }
            count += 1;
        }
    }
    let cores = of.clone();
    for node in 0..graph.nodes() {
        if of[node] == NONE {
            let mut strongest = 0.0;
            for (&other, &strength) in graph.of(node).iter().zip(graph.strengths(node)) {
                if cores[other as usize] != NONE && strength > strongest {
                    strongest = strength;
                    of[node] = cores[other as usize];
                }
            }
        }
    }
    for node in 0..graph.nodes() {
        if of[node] == NONE && !graph.of(node).is_empty() {
            of[node] = count;
            for &other in graph.of(node) {
                if of[other as usize] == NONE {
                    of[other as usize] = count;
                }
            }
            count += 1;
        }
    }
    Aggregates { count: count as usize, of }
}

/// Fills a star up to the cube of three nodes in each direction, the size for which one smoothing step of the prolongation is made: free nodes
/// that touch two arms of the star (edges of the cube), then those that touch three of these (its corners).
fn complete_cube(graph: &Graph, arms: &[u32], aggregate: u32, of: &mut [u32], links: &mut [u8]) {
    let mut edges = Vec::with_capacity(12);
    let mut grow = |from: &[u32], needed: u8, added: &mut Vec<u32>, of: &mut [u32]| {
        let free = |of: &[u32], other: u32| of[other as usize] == Aggregates::NONE;
        for &member in from {
            for &other in graph.of(member as usize) {
                if free(of, other) {
                    links[other as usize] = links[other as usize].saturating_add(1);
                }
            }
        }
        for &member in from {
            for &other in graph.of(member as usize) {
                if free(of, other) && links[other as usize] >= needed {
                    of[other as usize] = aggregate;
                    added.push(other);
                }
                links[other as usize] = 0;
            }
        }
    };
    grow(arms, 2, &mut edges, of);
    let mut corners = Vec::new();
    grow(&edges, 3, &mut corners, of);
}
