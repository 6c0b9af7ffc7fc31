//! Between two grids: the coarse operator, interpolation `P` and its transpose.
//!
//! A fine cell takes its value from its coarse cell and, along each coarsened axis, from the coarse neighbour on its side:
//! `P` is linear interpolation (share 1/4 for each neighbour) wherever coefficients are smooth. Across a closed face the share is zero, so that
//! constants are reproduced at Neumann walls, and where coefficients jump it follows the conductances.
//! Restriction is `P^T`. Only red cells are touched: after a sweep that ended with black the black residual is zero, and the sweep that
//! begins with black overwrites whatever black values were.

use super::kernels::{for_rows, vectorized};
use super::layout::{Layout, for_planes};
use super::level::{CellOperator, Level};
use splashdown_parallel::prelude::*;

/// Natural order with one layer of padding.
#[derive(Debug, Clone, Copy)]
struct Padded {
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

    /// Calls `f(k, plane)` for the inner planes of `array`, on several threads when `parallel`.
    fn for_planes(&self, array: &mut [f32], parallel: bool, f: impl Fn(usize, &mut [f32]) + Sync) {
        let inner = &mut array[self.plane..self.plane * (self.n[2] + 1)];
        if parallel {
            inner.par_chunks_exact_mut(self.plane).enumerate().for_each(|(k, plane)| f(k, plane));
        } else {
            inner.chunks_exact_mut(self.plane).enumerate().for_each(|(k, plane)| f(k, plane));
        }
    }
}

/// Interpolation between a fine and the next coarser grid.
#[derive(Debug, Clone)]
pub(super) struct Transfer {
    /// Which axes are coarsened by two.
    axes: [bool; 3],
    coarse: Padded,
    /// By axis, for each red fine cell in its level's layout: how much it takes from the coarse neighbour on its side, in units of [`UNIT`].
    share: [Vec<u8>; 3],
    /// Coarse right-hand side or correction in padded natural order.
    natural: Vec<f32>,
}

/// Shares are stored in a byte; a quarter and a third are exact.
const UNITS: f32 = 252.0;
const UNIT: f32 = 1.0 / UNITS;

/// The coarse index of `i` and the side of its parent on which it lies (0 or 1), if the axis is coarsened.
#[inline]
fn parent(coarsened: bool, i: usize) -> (usize, Option<usize>) {
    if coarsened { (i / 2, Some(i & 1)) } else { (i, None) }
}

/// The children of coarse index `c` on an axis with `n` fine cells.
#[inline]
pub(super) fn children(coarsened: bool, c: usize, n: usize) -> std::ops::Range<usize> {
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

/// The operator on the coarser grid, and the transfer to it. Conductances of the fine faces that make up a coarse face act in parallel,
/// each over twice the distance.
pub(super) fn coarsen(fine: &CellOperator, axes: [bool; 3]) -> (CellOperator, Transfer) {
    let n = [0, 1, 2].map(|axis| if axes[axis] { fine.n[axis].div_ceil(2) } else { fine.n[axis] });
    let coarse = coarse_operator(fine, axes, n);
    let padded = Padded::new(n);
    let share = shares(fine, axes);
    (coarse, Transfer { axes, coarse: padded, share, natural: vec![0.0; padded.len] })
}

fn coarse_operator(fine: &CellOperator, axes: [bool; 3], n: [usize; 3]) -> CellOperator {
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
                            sum[3] += fine.extra[cell];
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

/// How much each red cell takes from the coarse neighbour on its side, along each axis: `w_out / (w_out + 3 w_in)` with the weights of its
/// outer and inner face, a quarter when they are equal.
fn shares(fine: &CellOperator, axes: [bool; 3]) -> [Vec<u8>; 3] {
    let layout = Layout::new(fine.n);
    let strides = fine.strides();
    let mut share = [vec![0u8; layout.len], vec![0u8; layout.len], vec![0u8; layout.len]];
    let [sx, sy, sz] = &mut share;
    let inner = layout.plane..layout.plane * (layout.n[2] + 1);
    let planes = sx[inner.clone()]
        .par_chunks_exact_mut(layout.plane)
        .zip(sy[inner.clone()].par_chunks_exact_mut(layout.plane))
        .zip(sz[inner].par_chunks_exact_mut(layout.plane));
    planes.enumerate().for_each(|(k, ((sx, sy), sz))| {
        for j in 0..layout.n[1] {
            let start = layout.in_plane(j);
            for (s, i) in (Layout::offset(0, j, k)..layout.n[0]).step_by(2).enumerate() {
                let at = [i, j, k];
                let cell = i + j * strides[1] + k * strides[2];
                let mut faces = [[0.0; 2]; 3];
                let mut strongest_inner = 0.0f32;
                for axis in (0..3).filter(|&axis| axes[axis]) {
                    let below = if at[axis] > 0 { fine.upper[axis][cell - strides[axis]] } else { 0.0 };
                    let above = fine.upper[axis][cell];
                    faces[axis] = if at[axis] & 1 == 1 { [below, above] } else { [above, below] };
                    strongest_inner = strongest_inner.max(faces[axis][0]);
                }
                let mut raw = [0.0; 3];
                for axis in (0..3).filter(|&axis| axes[axis]) {
                    let [inner, outer] = faces[axis];
                    let inner = if inner > 0.0 { inner } else { strongest_inner };
                    if outer > 0.0 {
                        raw[axis] = outer / (outer + 3.0 * inner);
                    } else if fine.extra[cell] > 0.0 {
                        // A Dirichlet boundary behind the closed face: its value, zero, takes the neighbour's place.
                        raw[axis] = (0.25 * fine.extra[cell] / inner.max(f32::MIN_POSITIVE)).min(0.25);
                    }
                }
                let scale = UNITS / (raw[0] + raw[1] + raw[2]).max(1.0);
                sx[start + s] = (raw[0] * scale).round() as u8;
                sy[start + s] = (raw[1] * scale).round() as u8;
                sz[start + s] = (raw[2] * scale).round() as u8;
            }
        }
    });
    share
}

impl Transfer {
    pub fn bytes(&self) -> usize {
        4 * self.natural.len() + self.share.iter().map(Vec::len).sum::<usize>()
    }

    /// Right-hand side of the coarse level: `P^T` of the fine residual.
    pub fn restrict(&mut self, fine: &Level, coarse: &mut Level) {
        let Self { axes, coarse: padded, share, natural } = self;
        let layout = &fine.layout;
        padded.for_planes(natural, layout.parallel(), |k, plane| {
            vectorized(|| {
                for j in 0..padded.n[1] {
                    let local = (j + 1) * padded.row + 1;
                    let out = &mut plane[local..local + padded.n[0]];
                    out.fill(0.0);
                    for fk in children(axes[2], k, layout.n[2]) {
                        for fj in children(axes[1], j, layout.n[1]) {
                            restrict_own(*axes, fine, share, (fj, fk), out);
                        }
                    }
                    // Children of the coarse neighbours across rows, on the side that faces this row.
                    for (axis, at, across, c) in [(1, j, 2, k), (2, k, 1, j)] {
                        if !axes[axis] {
                            continue;
                        }
                        for f in [(2 * at).wrapping_sub(1), 2 * at + 2] {
                            if f >= layout.n[axis] {
                                continue;
                            }
                            for g in children(axes[across], c, layout.n[across]) {
                                let row = if axis == 1 { (f, g) } else { (g, f) };
                                restrict_facing(axes[0], fine, &share[axis], row, out);
                            }
                        }
                    }
                }
            })
        });
        for colour in 0..2 {
            let Level { layout, spans, b, .. } = coarse;
            for_planes(layout, &mut b[colour], |k, plane| {
                for_rows(layout, &spans[colour], colour, k, |row, local| {
                    let (j, s) = layout.row_of(local.start);
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
        let Self { axes, coarse: padded, share, natural } = self;
        padded.for_planes(natural, coarse.layout.parallel(), |k, plane| {
            for colour in 0..2 {
                for_rows(&coarse.layout, &coarse.spans[colour], colour, k, |row, local| {
                    let (j, s) = coarse.layout.row_of(local.start);
                    let to = (j + 1) * padded.row + 1 + 2 * s + row.q;
                    let target = plane[to..to + 2 * row.len - 1].iter_mut().step_by(2);
                    for (value, x) in target.zip(&coarse.x[colour][row.base..row.base + row.len]) {
                        *value = *x;
                    }
                });
            }
        });
        let Level { layout, spans, inverse, x, .. } = fine;
        for_planes(layout, &mut x[0], |k, plane| {
            vectorized(|| {
                for_rows(layout, &spans[0], 0, k, |row, local| {
                    let (fj, s0) = layout.row_of(local.start);
                    let (j, side_y) = parent(axes[1], fj);
                    let (k, side_z) = parent(axes[2], k);
                    let range = row.base..row.base + row.len;
                    let active = &inverse[0][range.clone()];
                    let x = &mut plane[local];
                    let step = if axes[0] { 1 } else { 2 };
                    let start = padded.start(j, k) + if axes[0] { s0 } else { 2 * s0 + row.q };
                    let len = step * (row.len - 1) + 1;
                    let own = &natural[start..start + len];
                    // Share and coarse neighbour along an axis, if it is coarsened.
                    let along = |axis: usize, side: Option<usize>, stride: usize| {
                        side.map(|side| {
                            let neighbor = if side == 0 { start - stride } else { start + stride };
                            (&share[axis][range.clone()], &natural[neighbor..neighbor + len])
                        })
                    };
                    let from_x = along(0, axes[0].then_some(row.q), 1);
                    let from_y = along(1, side_y, padded.row);
                    let from_z = along(2, side_z, padded.plane);
                    if let (Some((ax, nx)), Some((ay, ny)), Some((az, nz))) = (from_x, from_y, from_z) {
                        for s in 0..row.len {
                            let c = own[s];
                            let change = f32::from(ax[s]) * (nx[s] - c)
                                + f32::from(ay[s]) * (ny[s] - c)
                                + f32::from(az[s]) * (nz[s] - c);
                            x[s] += if active[s] > 0.0 { c + UNIT * change } else { 0.0 };
                        }
                    } else {
                        for s in 0..row.len {
                            let c = own[step * s];
                            let mut change = 0.0;
                            for (share, neighbor) in [from_x, from_y, from_z].into_iter().flatten() {
                                change += f32::from(share[s]) * (neighbor[step * s] - c);
                            }
                            x[s] += if active[s] > 0.0 { c + UNIT * change } else { 0.0 };
                        }
                    }
                })
            });
        });
    }
}

/// Adds what the red cells of the fine row `(fj, fk)` give to their own coarse row and, along axis 0, to their neighbours in that row.
#[inline(always)]
fn restrict_own(
    axes: [bool; 3],
    fine: &Level,
    share: &[Vec<u8>; 3],
    (fj, fk): (usize, usize),
    out: &mut [f32],
) {
    let layout = &fine.layout;
    if fine.spans[0][layout.row_number(fj, fk)].range().is_empty() {
        return;
    }
    let q = Layout::offset(0, fj, fk);
    let base = layout.start(fj, fk);
    let len = if axes[0] { out.len() } else { (out.len() + 1 - q) / 2 };
    let of = |axis: usize| axes[axis].then(|| &share[axis][base..base + len]);
    let own = &fine.residual[base..base + len];
    if axes[0] {
        // A child on the lower side (q = 0) of the next coarse cell gives to this one, and so on.
        let from = base + 1 - 2 * q;
        let (along, gain) = (&fine.residual[from..from + len], &share[0][from..from + len]);
        if let (Some(x), Some(y), Some(z)) = (of(0), of(1), of(2)) {
            for i in 0..len {
                let given = u16::from(x[i]) + u16::from(y[i]) + u16::from(z[i]);
                out[i] += own[i] * (1.0 - UNIT * f32::from(given)) + along[i] * (UNIT * f32::from(gain[i]));
            }
            return;
        }
        for (out, (along, gain)) in out.iter_mut().zip(along.iter().zip(gain)) {
            *out += along * (UNIT * f32::from(*gain));
        }
    }
    let step = if axes[0] { 1 } else { 2 };
    for s in 0..len {
        let given: u16 = (0..3).filter_map(of).map(|share| u16::from(share[s])).sum();
        out[if axes[0] { s } else { q + step * s }] += own[s] * (1.0 - UNIT * f32::from(given));
    }
}

/// Adds what the red cells of the fine row `(fj, fk)`, children of a neighbouring coarse row, give to this row.
#[inline(always)]
fn restrict_facing(coarsen_x: bool, fine: &Level, share: &[u8], (fj, fk): (usize, usize), out: &mut [f32]) {
    let layout = &fine.layout;
    if fine.spans[0][layout.row_number(fj, fk)].range().is_empty() {
        return;
    }
    let base = layout.start(fj, fk);
    let (first, step) = if coarsen_x { (0, 1) } else { (Layout::offset(0, fj, fk), 2) };
    let cells = share[base..].iter().zip(&fine.residual[base..]);
    if coarsen_x {
        for (out, (share, residual)) in out.iter_mut().zip(cells) {
            *out += UNIT * f32::from(*share) * residual;
        }
    } else {
        for (out, (share, residual)) in out.iter_mut().skip(first).step_by(step).zip(cells) {
            *out += UNIT * f32::from(*share) * residual;
        }
    }
}
