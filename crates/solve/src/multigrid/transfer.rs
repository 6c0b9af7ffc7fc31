//! Between two grids: the coarse operator, interpolation `P` and its transpose.
//!
//! A fine cell takes its value from its coarse cell and, along each coarsened axis, from the coarse neighbour on its side:
//! `P` is linear interpolation (weight 1/4 for each neighbour) wherever all neighbours exist, and constant across closed faces, so that it
//! reproduces constants at Neumann walls. Restriction is `P^T`. Only red cells are touched: after a sweep that ended with black the black
//! residual is zero, and the sweep that begins with black overwrites whatever black values were.

use super::kernels::for_rows;
use super::layout::{Layout, for_planes};
use super::level::{CellOperator, Level};
use rayon::prelude::*;

/// Natural order with one layer of padding.
#[derive(Debug, Clone, Copy)]
pub(super) struct Padded {
    n: [usize; 3],
    row: usize,
    plane: usize,
    len: usize,
}

impl Padded {
    fn new(n: [usize; 3]) -> Self {
        let row = n[0] + 2;
        let plane = row * (n[1] + 2);
        Self { n, row, plane, len: plane * (n[2] + 2) }
    }

    #[inline]
    fn start(&self, j: usize, k: usize) -> usize {
        (k + 1) * self.plane + (j + 1) * self.row + 1
    }

    fn strides(&self) -> [usize; 3] {
        [1, self.row, self.plane]
    }
}

/// Interpolation between a fine and the next coarser grid.
#[derive(Debug, Clone)]
pub(super) struct Transfer {
    /// Which axes are coarsened by two.
    axes: [bool; 3],
    coarse: Padded,
    /// By axis and side: how much a child on that side takes from the coarse neighbour there. Padded natural order.
    side: [[Vec<f32>; 2]; 3],
    /// Coarse right-hand side or correction in padded natural order.
    natural: Vec<f32>,
}

/// The coarse index of `i` and the side of its parent on which it lies (0 or 1), if the axis is coarsened.
#[inline]
fn parent(coarsened: bool, i: usize) -> (usize, Option<usize>) {
    if coarsened { (i / 2, Some(i & 1)) } else { (i, None) }
}

/// The children of coarse index `c` on an axis with `n` fine cells.
#[inline]
fn children(coarsened: bool, c: usize, n: usize) -> std::ops::Range<usize> {
    if coarsened { 2 * c..(2 * c + 2).min(n) } else { c..c + 1 }
}

/// Coarsens the axes along which cells are strongly coupled; `None` when no axis can be.
pub(super) fn choose_axes(operator: &CellOperator) -> Option<[bool; 3]> {
    let mean: [f64; 3] = [0, 1, 2].map(|axis| {
        let weights = &operator.upper[axis];
        // A sample is enough to tell anisotropy; its stride is fixed so that the choice is reproducible.
        let step = weights.len() / 65_536 + 1;
        let (mut sum, mut count) = (0.0, 0u32);
        for weight in weights.iter().step_by(step).filter(|&&weight| weight > 0.0) {
            sum += f64::from(*weight);
            count += 1;
        }
        if count > 0 { sum / f64::from(count) } else { 0.0 }
    });
    let strongest = (0..3).filter(|&axis| operator.n[axis] > 1).map(|axis| mean[axis]).fold(0.0, f64::max);
    let axes = [0, 1, 2].map(|axis| operator.n[axis] > 1 && mean[axis] >= 0.3 * strongest);
    axes.contains(&true).then_some(axes)
}

/// The operator on the coarser grid: conductances of the fine faces that make up a coarse face in parallel, each twice as long;
/// a Dirichlet boundary moves away by half a fine cell.
pub(super) fn coarsen(fine: &CellOperator, axes: [bool; 3]) -> CellOperator {
    let n = [0, 1, 2].map(|axis| if axes[axis] { fine.n[axis].div_ceil(2) } else { fine.n[axis] });
    let strides = fine.strides();
    let cells = n.iter().product();
    let mut upper = [vec![0.0f32; cells], vec![0.0f32; cells], vec![0.0f32; cells]];
    let mut extra = vec![0.0f32; cells];
    let plane = n[0] * n[1];
    let [ux, uy, uz] = &mut upper;
    let planes = ux
        .par_chunks_mut(plane)
        .zip(uy.par_chunks_mut(plane))
        .zip(uz.par_chunks_mut(plane))
        .zip(extra.par_chunks_mut(plane));
    planes.enumerate().for_each(|(k, (((ux, uy), uz), extra))| {
        for j in 0..n[1] {
            for i in 0..n[0] {
                let mut sum = [0.0f32; 4];
                for fk in children(axes[2], k, fine.n[2]) {
                    for fj in children(axes[1], j, fine.n[1]) {
                        for fi in children(axes[0], i, fine.n[0]) {
                            let cell = fi + fj * strides[1] + fk * strides[2];
                            for (axis, f) in [fi, fj, fk].into_iter().enumerate() {
                                let weight = fine.upper[axis][cell];
                                match parent(axes[axis], f).1 {
                                    None => sum[axis] += weight,
                                    Some(1) => sum[axis] += 0.5 * weight,
                                    Some(_) => {}
                                }
                            }
                            let e = fine.extra[cell];
                            if e > 0.0 {
                                sum[3] += e;
                            }
                        }
                    }
                }
                let cell = i + n[0] * j;
                [ux[cell], uy[cell], uz[cell], extra[cell]] = sum;
            }
        }
    });
    CellOperator { n, upper, extra }
}

impl Transfer {
    pub fn new(axes: [bool; 3], coarse: &CellOperator) -> Self {
        let padded = Padded::new(coarse.n);
        let side = [0, 1, 2].map(|axis| [0, 1].map(|side| side_weights(axes, coarse, &padded, axis, side)));
        Self { axes, coarse: padded, side, natural: vec![0.0; padded.len] }
    }

    pub fn bytes(&self) -> usize {
        4 * (self.natural.len() + self.side.iter().flatten().map(Vec::len).sum::<usize>())
    }

    /// Right-hand side of the coarse level: `P^T` of the fine residual.
    pub fn restrict(&mut self, fine: &Level, coarse: &mut Level) {
        let Self { axes, coarse: padded, side, natural } = self;
        let layout = &fine.layout;
        let plane_rows = |k: usize, plane: &mut [f32]| {
            for j in 0..padded.n[1] {
                let start = padded.start(j, k);
                let local = (j + 1) * padded.row + 1;
                let out = &mut plane[local..local + padded.n[0]];
                out.fill(0.0);
                for fk in children(axes[2], k, layout.n[2]) {
                    for fj in children(axes[1], j, layout.n[1]) {
                        restrict_own(*axes, fine, side, (fj, fk), start, out);
                    }
                }
                // Children of the coarse neighbours across rows, on the side that faces this row.
                for (axis, at) in [(1, j), (2, k)] {
                    if !axes[axis] {
                        continue;
                    }
                    for facing in [0, 1] {
                        // The neighbour above faces us with its lower side.
                        let (neighbor, f) = if facing == 0 {
                            (start + padded.strides()[axis], 2 * at + 2)
                        } else {
                            (start - padded.strides()[axis], (2 * at).wrapping_sub(1))
                        };
                        if f >= layout.n[axis] {
                            continue;
                        }
                        let across = if axis == 1 { (2, k) } else { (1, j) };
                        for g in children(axes[across.0], across.1, layout.n[across.0]) {
                            let row = if axis == 1 { (f, g) } else { (g, f) };
                            restrict_facing(axes[0], fine, &side[axis][facing], row, neighbor, out);
                        }
                    }
                }
            }
        };
        let inner = &mut natural[padded.plane..padded.plane * (padded.n[2] + 1)];
        if layout.parallel() {
            inner.par_chunks_exact_mut(padded.plane).enumerate().for_each(|(k, plane)| plane_rows(k, plane));
        } else {
            inner.chunks_exact_mut(padded.plane).enumerate().for_each(|(k, plane)| plane_rows(k, plane));
        }
        for colour in 0..2 {
            let Level { layout, spans, b, .. } = coarse;
            for_planes(layout, &mut b[colour], |k, plane| {
                for_rows(layout, &spans[colour], colour, k, |row, local| {
                    let (j, s) = (local.start / layout.row - 1, local.start % layout.row - 1);
                    let from = padded.start(j, k) + 2 * s + row.q;
                    let source = &natural[from..from + 2 * row.len - 1];
                    for (b, value) in plane[local].iter_mut().zip(source.iter().step_by(2)) {
                        *b = *value;
                    }
                });
            });
        }
    }

    /// Adds `P` times the coarse correction to the red fine cells.
    pub fn prolong(&mut self, coarse: &Level, fine: &mut Level) {
        let Self { axes, coarse: padded, side, natural } = self;
        let merge = |k: usize, plane: &mut [f32]| {
            for colour in 0..2 {
                for_rows(&coarse.layout, &coarse.spans[colour], colour, k, |row, local| {
                    let (j, s) = (local.start / coarse.layout.row - 1, local.start % coarse.layout.row - 1);
                    let to = (j + 1) * padded.row + 1 + 2 * s + row.q;
                    let target = plane[to..to + 2 * row.len - 1].iter_mut().step_by(2);
                    for (value, x) in target.zip(&coarse.x[colour][row.base..row.base + row.len]) {
                        *value = *x;
                    }
                });
            }
        };
        let inner = &mut natural[padded.plane..padded.plane * (padded.n[2] + 1)];
        if coarse.layout.parallel() {
            inner.par_chunks_exact_mut(padded.plane).enumerate().for_each(|(k, plane)| merge(k, plane));
        } else {
            inner.chunks_exact_mut(padded.plane).enumerate().for_each(|(k, plane)| merge(k, plane));
        }
        let Level { layout, spans, inverse, x, .. } = fine;
        let [row_stride, plane_stride] = [padded.row, padded.plane];
        for_planes(layout, &mut x[0], |k, plane| {
            for_rows(layout, &spans[0], 0, k, |row, local| {
                let (fj, s0) = (local.start / layout.row - 1, local.start % layout.row - 1);
                let (j, side_y) = parent(axes[1], fj);
                let (k, side_z) = parent(axes[2], k);
                let active = &inverse[0][row.base..row.base + row.len];
                let x = &mut plane[local];
                let across = |axis: usize, which: Option<usize>, stride: usize, start: usize, len: usize| {
                    // An axis that is not coarsened borrows the row itself with weight zero.
                    which.map(|which| {
                        let neighbor = if which == 0 { start - stride } else { start + stride };
                        (&side[axis][which][start..start + len], &natural[neighbor..neighbor + len])
                    })
                };
                if axes[0] {
                    let start = padded.start(j, k) + s0;
                    let len = row.len;
                    let own = &natural[start..start + len];
                    let along = start + 2 * row.q - 1;
                    let (wx, nx) = (&side[0][row.q][start..start + len], &natural[along..along + len]);
                    let y = across(1, side_y, row_stride, start, len);
                    let z = across(2, side_z, plane_stride, start, len);
                    match (y, z) {
                        (Some((wy, ny)), Some((wz, nz))) => {
                            for s in 0..len {
                                let c = own[s];
                                let change = wx[s] * (nx[s] - c) + wy[s] * (ny[s] - c) + wz[s] * (nz[s] - c);
                                x[s] += if active[s] > 0.0 { c + change } else { 0.0 };
                            }
                        }
                        (y, z) => {
                            for s in 0..len {
                                let c = own[s];
                                let mut value = c + wx[s] * (nx[s] - c);
                                for (w, n) in [y, z].into_iter().flatten() {
                                    value += w[s] * (n[s] - c);
                                }
                                x[s] += if active[s] > 0.0 { value } else { 0.0 };
                            }
                        }
                    }
                } else {
                    let start = padded.start(j, k) + 2 * s0 + row.q;
                    let len = 2 * row.len - 1;
                    let y = across(1, side_y, row_stride, start, len);
                    let z = across(2, side_z, plane_stride, start, len);
                    for s in 0..row.len {
                        let c = natural[start + 2 * s];
                        let mut value = c;
                        for (w, n) in [y, z].into_iter().flatten() {
                            value += w[2 * s] * (n[2 * s] - c);
                        }
                        x[s] += if active[s] > 0.0 { value } else { 0.0 };
                    }
                }
            });
        });
    }
}

/// Adds what the red cells of the fine row `(fj, fk)` give to their own coarse row and, along axis 0, to its neighbours in that row.
#[inline]
fn restrict_own(
    axes: [bool; 3],
    fine: &Level,
    side: &[[Vec<f32>; 2]; 3],
    (fj, fk): (usize, usize),
    start: usize,
    out: &mut [f32],
) {
    let layout = &fine.layout;
    if fine.spans[0][layout.row_number(fj, fk)].range().is_empty() {
        return;
    }
    let q = Layout::offset(0, fj, fk);
    let base = layout.start(fj, fk);
    let y = parent(axes[1], fj).1.map(|which| &side[1][which][start..start + out.len()]);
    let z = parent(axes[2], fk).1.map(|which| &side[2][which][start..start + out.len()]);
    if axes[0] {
        let len = out.len();
        let own = &fine.residual[base..base + len];
        // A child on the lower side (q = 0) of the cell above gives to us, and so on.
        let from = base + 1 - 2 * q;
        let along = &fine.residual[from..from + len];
        let keep_x = &side[0][q][start..start + len];
        let gain_x = &side[0][q][start + 1 - 2 * q..start + 1 - 2 * q + len];
        match (y, z) {
            (Some(y), Some(z)) => {
                for i in 0..len {
                    out[i] += own[i] * (1.0 - keep_x[i] - y[i] - z[i]) + along[i] * gain_x[i];
                }
            }
            (y, z) => {
                for i in 0..len {
                    let keep = 1.0 - keep_x[i] - y.map_or(0.0, |y| y[i]) - z.map_or(0.0, |z| z[i]);
                    out[i] += own[i] * keep + along[i] * gain_x[i];
                }
            }
        }
    } else {
        for (s, i) in (q..out.len()).step_by(2).enumerate() {
            let keep = 1.0 - y.map_or(0.0, |y| y[i]) - z.map_or(0.0, |z| z[i]);
            out[i] += fine.residual[base + s] * keep;
        }
    }
}

/// Adds what the red cells of the fine row `(fj, fk)`, children of the coarse row that starts at `neighbor`, give to this row.
#[inline]
fn restrict_facing(
    coarsen_x: bool,
    fine: &Level,
    weights: &[f32],
    (fj, fk): (usize, usize),
    neighbor: usize,
    out: &mut [f32],
) {
    let layout = &fine.layout;
    if fine.spans[0][layout.row_number(fj, fk)].range().is_empty() {
        return;
    }
    let base = layout.start(fj, fk);
    let weights = &weights[neighbor..neighbor + out.len()];
    if coarsen_x {
        let residual = &fine.residual[base..base + out.len()];
        for ((out, weight), residual) in out.iter_mut().zip(weights).zip(residual) {
            *out += weight * residual;
        }
    } else {
        for (s, i) in (Layout::offset(0, fj, fk)..out.len()).step_by(2).enumerate() {
            out[i] += weights[i] * fine.residual[base + s];
        }
    }
}

/// How much children on `side` along `axis` take from the coarse neighbour there: 1/4 where there is one or where a Dirichlet boundary
/// takes its place, 0 at closed faces.
fn side_weights(
    axes: [bool; 3],
    coarse: &CellOperator,
    padded: &Padded,
    axis: usize,
    side: usize,
) -> Vec<f32> {
    if !axes[axis] {
        return Vec::new();
    }
    let mut weights = vec![0.0; padded.len];
    let strides = coarse.strides();
    let inner = &mut weights[padded.plane..padded.plane * (padded.n[2] + 1)];
    inner.par_chunks_exact_mut(padded.plane).enumerate().for_each(|(k, plane)| {
        for j in 0..coarse.n[1] {
            for i in 0..coarse.n[0] {
                let cell = i + j * strides[1] + k * strides[2];
                let face = |axis: usize, side: usize| match side {
                    0 if [i, j, k][axis] == 0 => 0.0,
                    0 => coarse.upper[axis][cell - strides[axis]],
                    _ => coarse.upper[axis][cell],
                };
                let slot = &mut plane[(j + 1) * padded.row + 1 + i];
                if face(axis, side) > 0.0 {
                    *slot = 0.25;
                } else if coarse.extra[cell] > 0.0 {
                    // The Dirichlet boundary lies behind one or more of the closed faces.
                    let (mut closed, mut strongest) = (0.0, 0.0f32);
                    for other in (0..3).filter(|&other| axes[other]) {
                        for side in 0..2 {
                            let weight = face(other, side);
                            strongest = strongest.max(weight);
                            closed += if weight > 0.0 { 0.0 } else { 1.0 };
                        }
                    }
                    *slot =
                        0.25 * (coarse.extra[cell] / (closed * strongest.max(f32::MIN_POSITIVE))).min(1.0);
                }
            }
        }
    });
    weights
}
