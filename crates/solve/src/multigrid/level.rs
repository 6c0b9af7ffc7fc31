//! One grid of the hierarchy: its operator, its smoother and its vectors.

use super::kernels::{Real, Weights, for_rows, neighbor_sums, vectorized};
use super::layout::{Layout, Span, for_planes};
use splashdown_parallel::prelude::*;

/// The operator of a level in natural order (axis 0 fastest, not padded), from which levels are built.
#[derive(Debug, Clone)]
pub(super) struct CellOperator {
    pub n: [usize; 3],
    /// Weight of the upper face of each cell along each axis; zero on the border.
    pub upper: [Vec<f32>; 3],
    /// Extra diagonal.
    pub extra: Vec<f32>,
}

impl CellOperator {
    pub fn strides(&self) -> [usize; 3] {
        [1, self.n[0], self.n[0] * self.n[1]]
    }

    pub fn cells(&self) -> usize {
        self.extra.len()
    }

    /// Coordinates of a flat index.
    pub fn at(&self, cell: usize) -> [usize; 3] {
        [cell % self.n[0], cell / self.n[0] % self.n[1], cell / (self.n[0] * self.n[1])]
    }

    /// Diagonal of a cell, in double precision so that a closed region's matrix is singular to rounding.
    #[inline]
    pub fn diagonal(&self, at: [usize; 3], cell: usize) -> f64 {
        let strides = self.strides();
        let mut sum = f64::from(self.extra[cell]);
        for axis in 0..3 {
            sum += f64::from(self.upper[axis][cell]);
            if at[axis] > 0 {
                sum += f64::from(self.upper[axis][cell - strides[axis]]);
            }
        }
        sum
    }
}

/// One grid: operator, smoother and vectors, in single precision.
#[derive(Debug, Clone)]
pub(super) struct Level {
    pub layout: Layout,
    pub weights: Weights<f32>,
    /// Reciprocal diagonal by colour, zero where there is no unknown.
    pub inverse: [Vec<f32>; 2],
    /// Diagonal by colour; only kept for more than one sweep.
    pub diagonal: [Vec<f32>; 2],
    pub spans: [Vec<Span>; 2],
    pub x: [Vec<f32>; 2],
    pub b: [Vec<f32>; 2],
    /// Residual of the red cells; that of the black ones is zero after a sweep.
    pub residual: Vec<f32>,
    pub sweeps: usize,
}

impl Level {
    /// `uniform` gives the weights of all faces between unknowns when they do not vary.
    pub fn new(operator: &CellOperator, uniform: Option<[f32; 3]>, sweeps: usize) -> Self {
        let layout = Layout::new(operator.n);
        let zeros = || vec![0.0; layout.len];
        let strides = operator.strides();
        let mut inverse = [zeros(), zeros()];
        let mut diagonal = if sweeps > 1 { [zeros(), zeros()] } else { [Vec::new(), Vec::new()] };
        for colour in 0..2 {
            for_planes(&layout, &mut inverse[colour], |k, plane| {
                for j in 0..layout.n[1] {
                    let q = Layout::offset(colour, j, k);
                    let start = layout.in_plane(j);
                    for (s, i) in (q..layout.n[0]).step_by(2).enumerate() {
                        let cell = i + j * strides[1] + k * strides[2];
                        let value = operator.diagonal([i, j, k], cell);
                        plane[start + s] = if value > 0.0 { (1.0 / value) as f32 } else { 0.0 };
                    }
                }
            });
            if sweeps > 1 {
                let inverse = &inverse[colour];
                diagonal[colour].par_iter_mut().zip(inverse).with_min_len(1 << 14).for_each(|(d, &i)| {
                    *d = if i > 0.0 { 1.0 / i } else { 0.0 };
                });
            }
        }
        let spans = [0, 1].map(|colour| active_spans(&layout, &inverse[colour]));
        let weights = match uniform {
            Some(weights) => Weights::Uniform(weights),
            None => Weights::Faces([0, 1, 2].map(|axis| split(&layout, |cell| operator.upper[axis][cell]))),
        };
        let residual = zeros();
        Self {
            layout,
            weights,
            inverse,
            diagonal,
            spans,
            x: [zeros(), zeros()],
            b: [zeros(), zeros()],
            residual,
            sweeps,
        }
    }

    /// Bytes of the arrays.
    pub fn bytes(&self) -> usize {
        let floats = |arrays: &[Vec<f32>; 2]| arrays[0].len() + arrays[1].len();
        let weights = match &self.weights {
            Weights::Uniform(_) => 0,
            Weights::Faces(faces) => faces.iter().map(floats).sum(),
        };
        4 * (weights
            + floats(&self.inverse)
            + floats(&self.diagonal)
            + floats(&self.x)
            + floats(&self.b)
            + self.residual.len())
            + size_of::<Span>() * (self.spans[0].len() + self.spans[1].len())
    }

    /// Sweeps from `x = 0`: red then black, `sweeps` times. The first red half sweep sees only zeros.
    pub fn pre_smooth(&mut self) {
        let Self { layout, inverse, spans, x, b, .. } = self;
        for_planes(layout, &mut x[0], |k, plane| {
            vectorized(|| {
                for_rows(layout, &spans[0], 0, k, |row, local| {
                    let b = &b[0][row.base..row.base + row.len];
                    let inverse = &inverse[0][row.base..row.base + row.len];
                    for ((x, b), inverse) in plane[local].iter_mut().zip(b).zip(inverse) {
                        *x = b * inverse;
                    }
                })
            });
        });
        self.pre_smooth_after_red();
    }

    /// The rest of [`Self::pre_smooth`] once the first red half sweep is done.
    pub fn pre_smooth_after_red(&mut self) {
        self.relax(1);
        for _ in 1..self.sweeps {
            self.relax(0);
            self.relax(1);
        }
    }

    /// Sweeps black then red, the transpose of [`Self::pre_smooth`].
    pub fn post_smooth(&mut self) {
        for _ in 0..self.sweeps {
            self.relax(1);
            self.relax(0);
        }
    }

    /// Gauss-Seidel half sweep: solves the row of each cell of `colour` for its value.
    fn relax(&mut self, colour: usize) {
        let Self { layout, weights, inverse, spans, x, b, .. } = self;
        let [red, black] = x;
        let (own, other) = if colour == 0 { (red, &*black) } else { (black, &*red) };
        for_planes(layout, own, |k, plane| {
            vectorized(|| {
                for_rows(layout, &spans[colour], colour, k, |row, local| {
                    let out = &mut plane[local];
                    let b = &b[colour][row.base..row.base + row.len];
                    let inverse = &inverse[colour][row.base..row.base + row.len];
                    neighbor_sums(layout, weights, colour, other, row, |s, sum| {
                        out[s] = inverse[s] * (b[s] + sum);
                    });
                })
            });
        });
    }

    /// Residual of the red cells after [`Self::pre_smooth`] (a black half sweep came last, so black residuals are zero).
    pub fn red_residual(&mut self) {
        let Self { layout, weights, inverse, diagonal, spans, x, b, residual, sweeps } = self;
        let [red, black] = &*x;
        for_planes(layout, residual, |k, plane| {
            vectorized(|| {
                for_rows(layout, &spans[0], 0, k, |row, local| {
                    let out = &mut plane[local];
                    let range = row.base..row.base + row.len;
                    let inverse = &inverse[0][range.clone()];
                    if *sweeps == 1 {
                        // The red half sweep from zero solved `d x = b`, so only the neighbours' part is left.
                        neighbor_sums(layout, weights, 0, black, row, |s, sum| {
                            out[s] = if inverse[s] > 0.0 { sum } else { 0.0 };
                        });
                    } else {
                        let (b, x, d) = (&b[0][range.clone()], &red[range.clone()], &diagonal[0][range]);
                        neighbor_sums(layout, weights, 0, black, row, |s, sum| {
                            out[s] = if inverse[s] > 0.0 { b[s] - d[s] * x[s] + sum } else { 0.0 };
                        });
                    }
                })
            });
        });
    }
}

/// Spreads a natural-order field over the two padded arrays.
pub(super) fn split<T: Real>(layout: &Layout, natural: impl Fn(usize) -> T + Sync) -> [Vec<T>; 2] {
    [0, 1].map(|colour| {
        let mut array = vec![T::default(); layout.len];
        for_planes(layout, &mut array, |k, plane| {
            for j in 0..layout.n[1] {
                let start = layout.in_plane(j);
                let row = layout.natural_row(j, k);
                let q = Layout::offset(colour, j, k);
                for (s, i) in (q..layout.n[0]).step_by(2).enumerate() {
                    plane[start + s] = natural(row + i);
                }
            }
        });
        array
    })
}

/// Spans of the entries that are not zero.
fn active_spans(layout: &Layout, inverse: &[f32]) -> Vec<Span> {
    let mut spans = vec![Span::default(); layout.n[1] * layout.n[2]];
    spans.par_iter_mut().enumerate().with_min_len(256).for_each(|(number, span)| {
        let start = layout.start(number % layout.n[1], number / layout.n[1]);
        let row = &inverse[start..start + layout.half];
        if let Some(from) = row.iter().position(|&value| value != 0.0) {
            let to = row.iter().rposition(|&value| value != 0.0).map_or(from, |last| last + 1);
            *span = Span { from: from as u32, to: to as u32 };
        }
    });
    spans
}
