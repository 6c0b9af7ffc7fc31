//! A Poisson problem plus a term of low rank, `A + F W F^T`, solved with the multigrid of `A` as the preconditioner.

use super::layout::Layout;
use crate::CsrMatrix;

/// What is added to a Poisson operator: `F W F^T`, symmetric and positive semidefinite, such as solids that the pressure moves.
pub struct Addition<'a> {
    /// `F^T`: its columns are the cells of the grid, axis 0 fastest.
    pub rows: &'a CsrMatrix,
    /// Replaces `y` by `W y`.
    pub weigh: &'a dyn Fn(&mut [f64]),
}

/// An [`Addition`] with the places of its cells in the checkerboard.
pub(super) struct Placed<'a> {
    addition: &'a Addition<'a>,
    /// Colour and place of each entry's cell.
    places: Vec<(u8, u32)>,
    pushes: Vec<f64>,
    weighed: Vec<f64>,
}

impl<'a> Placed<'a> {
    pub fn new(addition: &'a Addition<'a>, layout: &Layout) -> Self {
        let place = |&cell: &u32| {
            let (row, i) = (cell as usize / layout.n[0], cell as usize % layout.n[0]);
            let (j, k) = (row % layout.n[1], row / layout.n[1]);
            let colour = usize::from(Layout::offset(0, j, k) != i & 1);
            (colour as u8, (layout.start(j, k) + i / 2) as u32)
        };
        let places = addition.rows.columns().iter().map(place).collect();
        let zeros = vec![0.0; addition.rows.rows()];
        Self { addition, places, pushes: zeros.clone(), weighed: zeros }
    }

    /// Do all its cells have this property?
    pub fn are_all(&self, property: impl Fn(usize, usize) -> bool) -> bool {
        self.places.iter().all(|&(colour, place)| property(colour as usize, place as usize))
    }

    /// `y += factor F W F^T x`; returns `x . F W F^T x`.
    pub fn add(&mut self, factor: f64, x: &[Vec<f64>; 2], y: &mut [Vec<f64>; 2]) -> f64 {
        let Self { addition, places, pushes, weighed } = self;
        let rows = addition.rows;
        let mut first = 0;
        for (row, push) in pushes.iter_mut().enumerate() {
            let values = rows.row(row).1;
            let places = &places[first..first + values.len()];
            let terms = places.iter().zip(values);
            *push = terms.map(|(&(colour, place), value)| value * x[colour as usize][place as usize]).sum();
            first += values.len();
        }
        weighed.copy_from_slice(pushes);
        (addition.weigh)(weighed);
        first = 0;
        for (row, weighed) in weighed.iter().enumerate() {
            let values = rows.row(row).1;
            for (&(colour, place), value) in places[first..first + values.len()].iter().zip(values) {
                y[colour as usize][place as usize] += factor * value * weighed;
            }
            first += values.len();
        }
        pushes.iter().zip(&*weighed).map(|(push, weighed)| push * weighed).sum()
    }
}
