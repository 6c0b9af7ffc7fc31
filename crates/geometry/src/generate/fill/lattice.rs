//! The lattices of simplices that [`fill`](super::fill()) cuts: equilateral triangles in 2D, the body-centred cubic (BCC) lattice in 3D.

use splashdown_math::Vector;

/// Names the lattice of a dimension as a type: `Cells<2, 3>` and `Cells<3, 4>`.
#[derive(Debug, Clone, Copy)]
pub struct Cells<const D: usize, const N: usize> {
    origin: Vector<D>,
    spacing: f64,
    counts: [usize; D],
}

/// Kinds of edge in a lattice; only the BCC lattice has long ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeKind {
    /// The shorter of two lengths, or the only one.
    Short,
    /// Between two points of the same cubic sub-lattice.
    Long,
}

/// A space-filling lattice of simplices over a box.
pub trait Lattice<const D: usize, const N: usize>: Sync + Sized {
    /// Fraction of an edge within which a cut snaps to the end of the edge, by kind of edge.
    fn snap_fraction(kind: EdgeKind) -> f64;
    /// Lattice of edge length `spacing` whose simplices cover the box from `lower` to `upper` with a margin all round, and its number of points
    /// (as a float, so that it cannot overflow).
    fn covering(lower: &Vector<D>, upper: &Vector<D>, spacing: f64) -> (Self, f64);
    /// Number of points.
    fn len(&self) -> usize;
    /// Position of a point.
    fn position(&self, index: usize) -> Vector<D>;
    /// Calls `visit` with every neighbour of `index` that has a larger index, in increasing order of the neighbour.
    fn later_neighbours(&self, index: usize, visit: impl FnMut(usize, EdgeKind));
    /// Kind of the edge between two neighbours.
    fn edge_kind(&self, a: usize, b: usize) -> EdgeKind;
    /// Calls `visit` with every simplex.
    fn for_each_simplex(&self, visit: impl FnMut([usize; N]));
    /// Does the point lie on the outermost layer?
    fn is_outermost(&self, index: usize) -> bool;
}

/// Rows of points `spacing` apart, every other row shifted by half a spacing.
impl Lattice<2, 3> for Cells<2, 3> {
    /// The best of a search over all patterns of signs and extreme positions of the cuts: angles between 14.47 and 141 degrees.
    fn snap_fraction(_: EdgeKind) -> f64 {
        0.39
    }

    fn covering(lower: &Vector<2>, upper: &Vector<2>, spacing: f64) -> (Self, f64) {
        let row = spacing * ROW;
        let columns = ((upper.x - lower.x) / spacing).ceil() + 4.0;
        let rows = ((upper.y - lower.y) / row).ceil() + 3.0;
        let middle = (lower + upper) * 0.5;
        let origin = middle
            - Vector::<2>::new(0.5 * (columns - 1.0) * spacing + 0.25 * spacing, 0.5 * (rows - 1.0) * row);
        (Self { origin, spacing, counts: [columns as usize, rows as usize] }, columns * rows)
    }

    fn len(&self) -> usize {
        self.counts[0] * self.counts[1]
    }

    fn position(&self, index: usize) -> Vector<2> {
        let (i, j) = (index % self.counts[0], index / self.counts[0]);
        let shift = if j % 2 == 1 { 0.5 } else { 0.0 };
        self.origin + Vector::<2>::new(i as f64 + shift, j as f64 * ROW) * self.spacing
    }

    fn later_neighbours(&self, index: usize, mut visit: impl FnMut(usize, EdgeKind)) {
        let [columns, rows] = self.counts;
        let (i, j) = (index % columns, index / columns);
        if i + 1 < columns {
            visit(index + 1, EdgeKind::Short);
        }
        if j + 1 == rows {
            return;
        }
        // Neighbours in the row above: i - 1 and i from an even row, i and i + 1 from an odd one.
        let first = (i + j % 2).wrapping_sub(1);
        for above in [first, first.wrapping_add(1)] {
            if above < columns {
                visit((j + 1) * columns + above, EdgeKind::Short);
            }
        }
    }

    fn edge_kind(&self, _: usize, _: usize) -> EdgeKind {
        EdgeKind::Short
    }

    fn for_each_simplex(&self, mut visit: impl FnMut([usize; 3])) {
        let [columns, rows] = self.counts;
        for j in 0..rows - 1 {
            for i in 0..columns - 1 {
                let (p, q) = (j * columns + i, j * columns + i + 1);
                let (r, s) = (p + columns, q + columns);
                if j % 2 == 0 {
                    visit([p, q, r]);
                    visit([q, s, r]);
                } else {
                    visit([p, q, s]);
                    visit([p, s, r]);
                }
            }
        }
    }

    fn is_outermost(&self, index: usize) -> bool {
        let [columns, rows] = self.counts;
        let (i, j) = (index % columns, index / columns);
        i == 0 || j == 0 || i + 1 == columns || j + 1 == rows
    }
}

/// Height of a row of equilateral triangles of side 1.
const ROW: f64 = 0.866_025_403_784_438_6;

/// The cubic corners (i, j, k) come first, the centres of the cubes after them. `counts` are the cubes along each axis. An edge between two corners or two
/// centres is long (`spacing`), one between a corner and a centre short (sqrt(3)/2 `spacing`). Each tetrahedron joins the long edge between the
/// centres of two cubes with a common face to one of the four long edges of that face.
impl Lattice<3, 4> for Cells<3, 4> {
    /// F. Labelle, J. Shewchuk, "Isosurface stuffing", 2007, section 3: with these two numbers the dihedral angles stay between 10.78 and
    /// 164.8 degrees wherever the surface cuts.
    fn snap_fraction(kind: EdgeKind) -> f64 {
        match kind {
            EdgeKind::Long => 0.24999,
            EdgeKind::Short => 0.41189,
        }
    }

    fn covering(lower: &Vector<3>, upper: &Vector<3>, spacing: f64) -> (Self, f64) {
        // One cube of margin on each side, and a second because the outermost cubes are not filled completely.
        let cubes = (upper - lower).map(|extent| (extent / spacing).ceil() + 4.0);
        let origin = (lower + upper) * 0.5 - cubes * (0.5 * spacing);
        let points = cubes.map(|c| c + 1.0).product() + cubes.product();
        (Self { origin, spacing, counts: std::array::from_fn(|axis| cubes[axis] as usize) }, points)
    }

    fn len(&self) -> usize {
        self.corners() + self.counts.iter().product::<usize>()
    }

    fn position(&self, index: usize) -> Vector<3> {
        let (at, centre) = self.locate(index);
        let shift = if centre { 0.5 } else { 0.0 };
        self.origin + Vector::<3>::from_fn(|axis, _| (at[axis] as f64 + shift) * self.spacing)
    }

    fn later_neighbours(&self, index: usize, mut visit: impl FnMut(usize, EdgeKind)) {
        let ([i, j, k], centre) = self.locate(index);
        let [nx, ny, nz] = self.counts;
        if centre {
            if i + 1 < nx {
                visit(index + 1, EdgeKind::Long);
            }
            if j + 1 < ny {
                visit(index + nx, EdgeKind::Long);
            }
            if k + 1 < nz {
                visit(index + nx * ny, EdgeKind::Long);
            }
            return;
        }
        let (row, layer) = (nx + 1, (nx + 1) * (ny + 1));
        if i < nx {
            visit(index + 1, EdgeKind::Long);
        }
        if j < ny {
            visit(index + row, EdgeKind::Long);
        }
        if k < nz {
            visit(index + layer, EdgeKind::Long);
        }
        for c in k.saturating_sub(1)..(k + 1).min(nz) {
            for b in j.saturating_sub(1)..(j + 1).min(ny) {
                for a in i.saturating_sub(1)..(i + 1).min(nx) {
                    visit(self.centre(a, b, c), EdgeKind::Short);
                }
            }
        }
    }

    fn edge_kind(&self, a: usize, b: usize) -> EdgeKind {
        let corners = self.corners();
        if (a < corners) == (b < corners) { EdgeKind::Long } else { EdgeKind::Short }
    }

    fn for_each_simplex(&self, mut visit: impl FnMut([usize; 4])) {
        let [nx, ny, nz] = self.counts;
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    let here = [i, j, k];
                    for axis in 0..3 {
                        if here[axis] + 1 == self.counts[axis] {
                            continue;
                        }
                        let mut next = here;
                        next[axis] += 1;
                        let ends = [self.centre(i, j, k), self.centre(next[0], next[1], next[2])];
                        // The corners of the common face, in a ring.
                        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                        let ring = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[du, dv]| {
                            let mut corner = next;
                            corner[u] += du;
                            corner[v] += dv;
                            self.corner(corner[0], corner[1], corner[2])
                        });
                        for side in 0..4 {
                            visit([ends[0], ends[1], ring[side], ring[(side + 1) % 4]]);
                        }
                    }
                }
            }
        }
    }

    fn is_outermost(&self, index: usize) -> bool {
        let (at, centre) = self.locate(index);
        (0..3).any(|axis| {
            let last = if centre { self.counts[axis] - 1 } else { self.counts[axis] };
            at[axis] == 0 || at[axis] == last
        })
    }
}

impl Cells<3, 4> {
    fn corners(&self) -> usize {
        self.counts.iter().map(|c| c + 1).product()
    }

    fn corner(&self, i: usize, j: usize, k: usize) -> usize {
        let [nx, ny, _] = self.counts;
        (k * (ny + 1) + j) * (nx + 1) + i
    }

    fn centre(&self, i: usize, j: usize, k: usize) -> usize {
        let [nx, ny, _] = self.counts;
        self.corners() + (k * ny + j) * nx + i
    }

    fn locate(&self, index: usize) -> ([usize; 3], bool) {
        let [nx, ny, _] = self.counts;
        let corners = self.corners();
        let (local, nx, ny, centre) =
            if index < corners { (index, nx + 1, ny + 1, false) } else { (index - corners, nx, ny, true) };
        ([local % nx, local / nx % ny, local / (nx * ny)], centre)
    }
}
