//! Elements of the surface: the loops of crossings around each cell, filled with triangles.

use super::{Samples, crossings::EdgePoints, crossings::Marching};
use crate::grid::Index;
use splashdown_math::Vector;
use splashdown_parallel::prelude::*;

/// Marks a point that a cell adds in its middle, numbered within its slab until all slabs are joined.
const OWN: u32 = 1 << 31;
/// Most crossings around one cell.
const MAX_LOOP: usize = 12;

/// Corners of a face, counter-clockwise seen from outside the cell; corner `c` of a cell has bit `a` set when it is the upper one on axis a.
#[derive(Clone, Copy)]
struct Face {
    corners: [usize; 4],
    axes: [usize; 2],
}

/// Faces of the cell; in 2D the cell itself is the only one.
fn faces<const D: usize>() -> ([Face; 6], usize) {
    let ccw = |a: usize, b: usize, base: usize| Face {
        corners: [base, base | 1 << a, base | 1 << a | 1 << b, base | 1 << b],
        axes: [a, b],
    };
    let mut faces = [ccw(0, 1, 0); 6];
    if D == 2 {
        return (faces, 1);
    }
    for axis in 0..3 {
        let (a, b) = ((axis + 1) % 3, (axis + 2) % 3);
        faces[2 * axis + 1] = ccw(a, b, 1 << axis);
        faces[2 * axis] = ccw(b, a, 0);
    }
    (faces, 6)
}

/// Edges are numbered by axis and lower corner with the axis' bit left out: `axis * 4 + (other bits)` in 3D.
#[inline]
fn edge_of(corner: usize, other: usize) -> (usize, usize, usize) {
    let axis = (corner ^ other).trailing_zeros() as usize;
    let base = corner & other;
    let low = base & ((1 << axis) - 1);
    (axis * 4 + (low | (base >> (axis + 1)) << axis), axis, base)
}

#[derive(Default)]
struct SlabElements<const D: usize> {
    elements: Vec<[u32; D]>,
    points: Vec<Vector<D>>,
    normals: Vec<Vector<D>>,
}

/// Segments (2D) or triangles (3D) of all cells, in the order of the cells. Points that cells add are appended.
pub(super) fn connect<const D: usize>(
    marching: &Marching<D>,
    samples: &impl Samples<D>,
    edges: &EdgePoints,
    points: &mut Vec<Vector<D>>,
    normals: &mut Vec<Vector<D>>,
) -> Vec<[u32; D]> {
    let rows_per_slab = marching.rows_per_slab();
    let faces = faces::<D>();
    let slabs: Vec<SlabElements<D>> = (0..marching.counts[D - 1].saturating_sub(1))
        .into_par_iter()
        .map(|slab| {
            let mut found = SlabElements::default();
            for row in slab * rows_per_slab..(slab + 1) * rows_per_slab {
                let start = marching.row_start(row);
                // The last samples on an axis start no cell.
                if (1..D).any(|a| start[a] + 1 >= marching.counts[a]) {
                    continue;
                }
                let base = row * marching.counts[0];
                for i in 0..marching.counts[0] - 1 {
                    let mut signs = 0u32;
                    for corner in 0..1usize << D {
                        let place =
                            base + i + (0..D).map(|a| (corner >> a & 1) * marching.strides[a]).sum::<usize>();
                        signs |= u32::from(marching.inside[place]) << corner;
                    }
                    if signs == 0 || signs == (1 << (1 << D)) - 1 {
                        continue;
                    }
                    let mut cell = start;
                    cell[0] = i;
                    let cut = Cell { marching, samples, edges, cell, row, signs };
                    cut.fill(&faces.0[..faces.1], points, &mut found);
                }
            }
            found
        })
        .collect();
    let mut elements = Vec::with_capacity(slabs.iter().map(|s| s.elements.len()).sum());
    for slab in slabs {
        let first = points.len() as u32;
        let global = |id: u32| if id & OWN == 0 { id } else { first + (id & !OWN) };
        elements.extend(slab.elements.into_iter().map(|element| element.map(global)));
        points.extend(slab.points);
        normals.extend(slab.normals);
    }
    elements
}

/// One cell that the surface cuts.
struct Cell<'a, const D: usize, S> {
    marching: &'a Marching<D>,
    samples: &'a S,
    edges: &'a EdgePoints,
    cell: [usize; D],
    row: usize,
    signs: u32,
}

impl<const D: usize, S: Samples<D>> Cell<'_, D, S> {
    fn inside(&self, corner: usize) -> bool {
        self.signs >> corner & 1 == 1
    }

    /// Number of the point on the edge that goes up `axis` from corner `base`.
    fn point(&self, axis: usize, base: usize) -> u32 {
        let mut row = self.row;
        for a in 1..D {
            row += (base >> a & 1) * (self.marching.strides[a] / self.marching.counts[0]);
        }
        self.edges.find::<D>(row, self.cell[0] + (base & 1), axis)
    }

    /// Is the middle of an ambiguous face inside?
    fn face_inside(&self, face: &Face) -> bool {
        let corner = face.corners.iter().fold(usize::MAX, |common, c| common & c);
        let index: Index<D> =
            std::array::from_fn(|a| (self.cell[a] + (corner >> a & 1)) as isize - self.marching.layer);
        self.samples.face_inside(index, face.axes)
    }

    fn fill(&self, faces: &[Face], points: &[Vector<D>], found: &mut SlabElements<D>) {
        // next[e]: the crossing that follows the one on edge e around its loop.
        let mut next = [usize::MAX; MAX_LOOP];
        let mut ids = [0u32; MAX_LOOP];
        // Which faces an edge belongs to, as bits.
        let mut on_faces = [0u8; MAX_LOOP];
        for (number, face) in faces.iter().enumerate() {
            // Around the face: edges where we leave the inside, and where we come back to it.
            let (mut leave, mut enter) = ([0; 2], [0; 2]);
            let (mut leaves, mut enters) = (0, 0);
            // Does the first crossing come back to an inside that began before the first corner?
            let starts_inside = self.inside(face.corners[0]);
            for k in 0..4 {
                let (from, to) = (face.corners[k], face.corners[(k + 1) % 4]);
                if self.inside(from) == self.inside(to) {
                    continue;
                }
                let (edge, axis, base) = edge_of(from, to);
                ids[edge] = self.point(axis, base);
                on_faces[edge] |= 1 << number;
                if self.inside(from) {
                    leave[leaves] = edge;
                    leaves += 1;
                } else {
                    enter[enters] = edge;
                    enters += 1;
                }
            }
            // A leave is joined with the enter that follows it around the face (cutting off the outside between them) when the middle is
            // inside, else with the one before it (cutting off the inside). With one of each there is no choice.
            let following = |k: usize| if starts_inside { k } else { (k + 1) % enters };
            let preceding = |k: usize| if starts_inside { (k + enters - 1) % enters } else { k };
            let joined = leaves == 2 && self.face_inside(face);
            for k in 0..leaves {
                let partner = enter[if joined { following(k) } else { preceding(k) }];
                if D == 2 {
                    found.elements.push(std::array::from_fn(|e| ids[[leave[k], partner][e]]));
                } else {
                    next[partner] = leave[k];
                }
            }
        }
        if D == 2 {
            return;
        }
        for first in 0..MAX_LOOP {
            if next[first] == usize::MAX {
                continue;
            }
            let mut ring = [0; MAX_LOOP];
            let (mut length, mut edge) = (0, first);
            while next[edge] != usize::MAX {
                ring[length] = edge;
                length += 1;
                edge = std::mem::replace(&mut next[edge], usize::MAX);
            }
            self.fill_loop(&ring[..length], &ids, &on_faces, points, found);
        }
    }

    /// Triangles of a loop, with the shortest inner edges of those that lie in no face (an inner edge in a face could meet another one of
    /// the neighbouring cell). Where there is no such choice the loop gets a point in the middle.
    fn fill_loop(
        &self,
        ring: &[usize],
        ids: &[u32; MAX_LOOP],
        on_faces: &[u8; MAX_LOOP],
        points: &[Vector<D>],
        found: &mut SlabElements<D>,
    ) {
        let n = ring.len();
        let id = |k: usize| ids[ring[k]];
        let mut emit = |corners: [u32; 3]| found.elements.push(std::array::from_fn(|e| corners[e]));
        if n == 3 {
            emit([id(0), id(1), id(2)]);
            return;
        }
        let cost = |i: usize, j: usize| {
            if j == i + 1 || (i == 0 && j == n - 1) {
                return 0.0;
            }
            if on_faces[ring[i]] & on_faces[ring[j]] != 0 {
                return f64::INFINITY;
            }
            (points[id(i) as usize] - points[id(j) as usize]).norm_squared()
        };
        // best[i][j]: least sum of squared inner edges that fill the part of the loop from i to j.
        let mut best = [[0.0f64; MAX_LOOP]; MAX_LOOP];
        let mut split = [[0usize; MAX_LOOP]; MAX_LOOP];
        for span in 2..n {
            for i in 0..n - span {
                let j = i + span;
                let mut least = f64::INFINITY;
                for k in i + 1..j {
                    let sum = best[i][k] + best[k][j];
                    if sum < least {
                        least = sum;
                        split[i][j] = k;
                    }
                }
                best[i][j] = least + cost(i, j);
            }
        }
        if best[0][n - 1] < f64::INFINITY {
            let mut parts = [(0, 0); MAX_LOOP];
            parts[0] = (0, n - 1);
            let mut waiting = 1;
            while waiting > 0 {
                waiting -= 1;
                let (i, j) = parts[waiting];
                if j - i < 2 {
                    continue;
                }
                let k = split[i][j];
                emit([id(i), id(k), id(j)]);
                parts[waiting] = (i, k);
                parts[waiting + 1] = (k, j);
                waiting += 2;
            }
            return;
        }
        let middle = OWN | found.points.len() as u32;
        for k in 0..n {
            emit([id(k), id((k + 1) % n), middle]);
        }
        let mean = (0..n).fold(Vector::zeros(), |sum, k| sum + points[id(k) as usize]) / n as f64;
        let gradient = self.samples.gradient(&mean);
        let norm = gradient.norm();
        found.points.push(mean);
        found.normals.push(if norm > 0.0 {
            gradient / norm
        } else {
            Vector::from_fn(|a, _| f64::from(a == 1))
        });
    }
}
