//! Points of the surface: one on every edge between samples of opposite sign.

use super::{IsoSurface, Samples, cells};
use crate::grid::{Field, Index, Interpolation, Lattice, Location, Reach, box_indices};
use crate::level_set::LevelSetError;
use crate::mesh::Mesh;
use splashdown_math::Vector;
use splashdown_parallel::prelude::*;

/// The samples of the field themselves.
pub(super) struct Direct<'a, const D: usize> {
    pub(super) phi: &'a Field<D>,
    pub(super) cubic: bool,
}

impl<const D: usize> Samples<D> for Direct<'_, D> {
    #[inline]
    fn value(&self, index: Index<D>) -> f64 {
        self.phi.at(index)
    }

    fn crossing(&self, index: Index<D>, axis: usize) -> f64 {
        let along = |step: isize| {
            let mut to = index;
            to[axis] += step;
            self.phi.at(to)
        };
        let count = self.phi.lattice().counts()[axis] as isize;
        let linear = linear_root(along(0), along(1));
        if !self.cubic || count < 4 {
            return linear;
        }
        // Four samples in line, one-sided at the end of the samples.
        let first = (index[axis] - 1).clamp(0, count - 4) - index[axis];
        let points: [f64; 4] = std::array::from_fn(|k| (first + k as isize) as f64);
        bracketed_root(&points, &std::array::from_fn(|k| along(first + k as isize)), linear)
    }

    fn face_inside(&self, index: Index<D>, [a, b]: [usize; 2]) -> bool {
        let corner = |s: isize, t: isize| {
            let mut to = index;
            to[a] += s;
            to[b] += t;
            self.phi.at(to)
        };
        // Value of the bilinear interpolant at its saddle (G. Nielson, B. Hamann, "The asymptotic decider", 1991).
        let [v00, v10, v01, v11] = [corner(0, 0), corner(1, 0), corner(0, 1), corner(1, 1)];
        let denominator = v00 + v11 - v10 - v01;
        // Scaled products cannot overflow; the denominator is not zero, its terms have one sign.
        let saddle = v00 * (v11 / denominator) - v10 * (v01 / denominator);
        saddle <= 0.0
    }

    fn gradient(&self, point: &Vector<D>) -> Vector<D> {
        self.phi.sample_with_gradient(point, Interpolation::Smooth, Reach::Interior).1
    }
}

/// Nodes between cell-centred samples: spec surface-tension 3.7.
pub(super) struct Nodal<'a, const D: usize> {
    phi: &'a Field<D>,
    nodes: Field<D>,
    cubic: bool,
    /// Samples proper and the ghosts that may be read.
    low: Index<D>,
    high: Index<D>,
}

impl<'a, const D: usize> Nodal<'a, D> {
    pub(super) fn new(phi: &'a Field<D>, cubic: bool) -> Result<Self, LevelSetError> {
        let lattice = phi.lattice();
        if lattice.location() != Location::Cell {
            return Err(LevelSetError::NotAtCells);
        }
        let ghost = lattice.ghost() as isize;
        let low = [-ghost; D];
        let high = lattice.counts().map(|n| n as isize - 1 + ghost);
        let mut samples =
            Self { phi, nodes: Field::with_ghost(phi.grid(), Location::Node, 0, 0.0), cubic, low, high };
        let mut nodes = Field::with_ghost(phi.grid(), Location::Node, 0, 0.0);
        nodes.update(|index, _| samples.centred(index, [true; D]));
        if let Some(index) = nodes.first_not_finite() {
            return Err(LevelSetError::NotFinite { index: index.to_vec(), value: nodes.at(index) });
        }
        samples.nodes = nodes;
        Ok(samples)
    }

    pub(super) fn nodes(&self) -> &Field<D> {
        &self.nodes
    }

    /// Value half a cell below `cell` on the axes marked `between`: the mean of the nearest cells plus the correction
    /// (-1, 1, 1, -1)/16 along each of these axes. Exact for cubics, no corner cells.
    fn centred(&self, cell: Index<D>, between: [bool; D]) -> f64 {
        let read =
            |index: Index<D>| self.phi.at(std::array::from_fn(|a| index[a].clamp(self.low[a], self.high[a])));
        let mean_low: Index<D> = std::array::from_fn(|a| cell[a] - isize::from(between[a]));
        let mean_high: Index<D> = cell.map(|i| i + 1);
        let axes = between.iter().filter(|&&b| b).count();
        let weight = 0.5f64.powi(axes as i32);
        let mut sum: f64 = box_indices(mean_low, mean_high).map(read).sum::<f64>() * weight;
        for a in (0..D).filter(|&a| between[a]) {
            // (-1, 1, 1, -1)/16 on axis a, mean over the other axes.
            for (shift, sign) in [(-2, -1.0), (-1, 1.0), (0, 1.0), (1, -1.0)] {
                let (mut low, mut high) = (mean_low, mean_high);
                (low[a], high[a]) = (cell[a] + shift, cell[a] + shift + 1);
                sum += box_indices(low, high).map(read).sum::<f64>() * (2.0 * weight * sign / 16.0);
            }
        }
        sum
    }

    /// Value in the middle between node `index` and its upper neighbour on `axis`.
    fn midpoint(&self, index: Index<D>, axis: usize) -> f64 {
        let mut between = [true; D];
        between[axis] = false;
        self.centred(index, between)
    }
}

impl<const D: usize> Samples<D> for Nodal<'_, D> {
    #[inline]
    fn value(&self, index: Index<D>) -> f64 {
        self.nodes.at(index)
    }

    fn crossing(&self, index: Index<D>, axis: usize) -> f64 {
        let shifted = |step: isize| {
            let mut to = index;
            to[axis] += step;
            to
        };
        let (v0, v1) = (self.value(index), self.value(shifted(1)));
        let linear = linear_root(v0, v1);
        if self.cubic {
            let values = [self.midpoint(shifted(-1), axis), v0, v1, self.midpoint(shifted(1), axis)];
            bracketed_root(&[-0.5, 0.0, 1.0, 1.5], &values, linear)
        } else {
            bracketed_root(&[0.0, 0.5, 1.0], &[v0, self.midpoint(index, axis), v1], linear)
        }
    }

    fn face_inside(&self, index: Index<D>, axes: [usize; 2]) -> bool {
        // In 2D the middle of the "face" is the cell itself (spec surface-tension 3.15).
        let between = std::array::from_fn(|a| !axes.contains(&a));
        self.centred(index, between) <= 0.0
    }

    fn gradient(&self, point: &Vector<D>) -> Vector<D> {
        self.phi.sample_with_gradient(point, Interpolation::Smooth, Reach::Ghost).1
    }
}

/// Zero of the line through (0, v0) and (1, v1) of opposite sign.
fn linear_root(v0: f64, v1: f64) -> f64 {
    v0 / (v0 - v1)
}

/// Zero in [0, 1] of the polynomial through `N` points, two of which are at 0 and 1 with opposite signs; the one that a secant search from
/// the linear root `guess` finds. Bisects when the secant leaves the bracket or the bracket shrinks slowly.
fn bracketed_root<const N: usize>(points: &[f64; N], values: &[f64; N], guess: f64) -> f64 {
    let scale = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    if scale == 0.0 {
        return guess;
    }
    let polynomial = |s: f64| {
        let mut sum = 0.0;
        for i in 0..N {
            let mut term = values[i] / scale;
            for j in (0..N).filter(|&j| j != i) {
                term *= (s - points[j]) / (points[i] - points[j]);
            }
            sum += term;
        }
        sum
    };
    let (mut low, mut high) = (0.0, 1.0);
    let (mut f_low, mut f_high) = (polynomial(0.0), polynomial(1.0));
    if (f_low <= 0.0) == (f_high <= 0.0) {
        return guess;
    }
    let mut s = guess.clamp(0.0, 1.0);
    for step in 0..80 {
        let f = polynomial(s);
        if f == 0.0 {
            return s;
        }
        if (f <= 0.0) == (f_low <= 0.0) {
            (low, f_low) = (s, f);
        } else {
            (high, f_high) = (s, f);
        }
        let width = high - low;
        if width < 1e-14 {
            break;
        }
        let secant = low - f_low * width / (f_high - f_low);
        let next =
            if step % 3 == 2 || !(secant > low && secant < high) { 0.5 * (low + high) } else { secant };
        if (next - s).abs() < 1e-15 {
            return next;
        }
        s = next;
    }
    s
}

/// Signs of the samples to be marched, with a layer of outside around them when the surface is to be closed.
pub(super) struct Marching<const D: usize> {
    pub(super) lattice: Lattice<D>,
    /// Samples on each axis, the layer included; marched sample `i` is sample `i - layer` of the lattice.
    pub(super) counts: [usize; D],
    pub(super) strides: [usize; D],
    pub(super) layer: isize,
    pub(super) inside: Vec<bool>,
    clearance: f64,
}

/// Points found in one slab, row by row.
#[derive(Default)]
struct SlabPoints<const D: usize> {
    row_lengths: Vec<u32>,
    keys: Vec<u32>,
    points: Vec<Vector<D>>,
    normals: Vec<Vector<D>>,
}

/// Points of all edges: those of the edges that start in row `r` (a line of samples along axis 0) are `starts[r] .. starts[r + 1]`, in the
/// order of their keys `i * D + axis`.
pub(super) struct EdgePoints {
    starts: Vec<u32>,
    keys: Vec<u32>,
}

impl EdgePoints {
    /// Number of the point on the edge that starts at sample `i` of row `row`.
    #[inline]
    pub(super) fn find<const D: usize>(&self, row: usize, i: usize, axis: usize) -> u32 {
        let (start, end) = (self.starts[row] as usize, self.starts[row + 1] as usize);
        let key = (i * D + axis) as u32;
        start as u32 + self.keys[start..end].partition_point(|&k| k < key) as u32
    }
}

impl<const D: usize> Marching<D> {
    pub(super) fn new(samples: &impl Samples<D>, marched: &Field<D>, closed: bool, clearance: f64) -> Self {
        let lattice = *marched.lattice();
        let layer = isize::from(closed);
        let counts = lattice.counts().map(|n| n + 2 * layer as usize);
        let mut strides = [1; D];
        for a in 1..D {
            strides[a] = strides[a - 1] * counts[a - 1];
        }
        let mut inside = vec![false; counts.iter().product()];
        inside.par_chunks_mut(counts[0]).enumerate().with_min_len(64).for_each(|(row, signs)| {
            let first: Index<D> = std::array::from_fn(|a| {
                if a == 0 { -layer } else { (row * counts[0] / strides[a] % counts[a]) as isize - layer }
            });
            for (i, sign) in signs.iter_mut().enumerate() {
                let mut index = first;
                index[0] += i as isize;
                *sign = lattice.contains(index) && samples.value(index) <= 0.0;
            }
        });
        Self { lattice, counts, strides, layer, inside, clearance }
    }

    /// Rows of samples along axis 0.
    fn rows(&self) -> usize {
        self.counts[1..].iter().product()
    }

    /// Rows in a slab of constant index on the slowest axis.
    pub(super) fn rows_per_slab(&self) -> usize {
        self.rows() / self.counts[D - 1]
    }

    /// Index of sample 0 of a row, counted in marched samples.
    pub(super) fn row_start(&self, row: usize) -> [usize; D] {
        std::array::from_fn(
            |a| {
                if a == 0 { 0 } else { row * self.counts[0] / self.strides[a] % self.counts[a] }
            },
        )
    }

    pub(super) fn surface(&self, samples: &impl Samples<D>) -> IsoSurface<D> {
        let rows_per_slab = self.rows_per_slab();
        let slabs: Vec<SlabPoints<D>> = (0..self.counts[D - 1])
            .into_par_iter()
            .map(|slab| {
                let mut found = SlabPoints::default();
                for row in slab * rows_per_slab..(slab + 1) * rows_per_slab {
                    let before = found.points.len();
                    self.points_of_row(row, samples, &mut found);
                    found.row_lengths.push((found.points.len() - before) as u32);
                }
                found
            })
            .collect();
        let total = slabs.iter().map(|s| s.points.len()).sum();
        let mut edges =
            EdgePoints { starts: Vec::with_capacity(self.rows() + 1), keys: Vec::with_capacity(total) };
        let (mut points, mut normals) = (Vec::with_capacity(total), Vec::with_capacity(total));
        let mut start = 0;
        edges.starts.push(0);
        for slab in slabs {
            for length in slab.row_lengths {
                start += length;
                edges.starts.push(start);
            }
            edges.keys.extend(slab.keys);
            points.extend(slab.points);
            normals.extend(slab.normals);
        }
        let elements = cells::connect(self, samples, &edges, &mut points, &mut normals);
        IsoSurface { mesh: Mesh { points, elements }, normals }
    }

    fn points_of_row(&self, row: usize, samples: &impl Samples<D>, found: &mut SlabPoints<D>) {
        let start = self.row_start(row);
        let base = row * self.counts[0];
        for i in 0..self.counts[0] {
            let here = self.inside[base + i];
            for axis in 0..D {
                let position = if axis == 0 { i } else { start[axis] };
                if position + 1 >= self.counts[axis] || self.inside[base + i + self.strides[axis]] == here {
                    continue;
                }
                let mut index = start.map(|k| k as isize - self.layer);
                index[0] += i as isize;
                let mut above = index;
                above[axis] += 1;
                // Against the layer around the samples the surface is a wall just outside the outermost sample.
                let wall = match (self.lattice.contains(index), self.lattice.contains(above)) {
                    (true, true) => None,
                    (true, false) => Some((self.clearance, 1.0)),
                    _ => Some((1.0 - self.clearance, -1.0)),
                };
                let t = wall.map_or_else(|| samples.crossing(index, axis), |(t, _)| t);
                let t = if t.is_finite() { t } else { 0.5 };
                let mut point = self.lattice.position(index);
                point[axis] += t.clamp(self.clearance, 1.0 - self.clearance) * self.lattice.spacing()[axis];
                let normal = match wall {
                    Some((_, outward)) => Vector::from_fn(|a, _| if a == axis { outward } else { 0.0 }),
                    None => unit_normal(samples.gradient(&point), axis, if here { 1.0 } else { -1.0 }),
                };
                found.keys.push((i * D + axis) as u32);
                found.points.push(point);
                found.normals.push(normal);
            }
        }
    }
}

/// The gradient's direction; along the edge from inside to outside where it vanishes.
fn unit_normal<const D: usize>(gradient: Vector<D>, axis: usize, outward: f64) -> Vector<D> {
    let norm = gradient.norm();
    if norm > 0.0 && norm.is_finite() {
        return gradient / norm;
    }
    Vector::from_fn(|a, _| if a == axis { outward } else { 0.0 })
}
