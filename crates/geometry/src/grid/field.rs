//! Values on a lattice.

use super::{GHOST_LAYERS, Grid, GridError, Index, Lattice, Location, MAX_GHOST_LAYERS};
use serde::{Deserialize, Serialize};
use splashdown_math::Vector;
use splashdown_parallel::prelude::*;
use std::ops::{Add, Mul};

/// What can be interpolated: numbers and vectors.
pub trait Value: Copy + Send + Sync + Add<Output = Self> + Mul<f64, Output = Self> {}
impl<T: Copy + Send + Sync + Add<Output = T> + Mul<f64, Output = T>> Value for T {}

/// Slabs handled by one parallel task; fixed, so that sums do not depend on the number of threads.
const MIN_SAMPLES_PER_TASK: usize = 4096;

/// One value for each cell, node or face of a grid, with ghost layers; one contiguous array, axis 0 fastest.
///
/// `Field<D>` holds `f64`; `Field<D, T>` anything `Copy`. Several components are several fields (structure of arrays).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    try_from = "FieldData<D, T>",
    into = "FieldData<D, T>",
    bound(serialize = "T: Clone + Serialize", deserialize = "T: Deserialize<'de>")
)]
pub struct Field<const D: usize, T = f64> {
    grid: Grid<D>,
    lattice: Lattice<D>,
    values: Vec<T>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename = "Field")]
struct FieldData<const D: usize, T> {
    grid: Grid<D>,
    location: Location,
    ghost: usize,
    values: Vec<T>,
}

impl<const D: usize, T> From<Field<D, T>> for FieldData<D, T> {
    fn from(field: Field<D, T>) -> Self {
        let (location, ghost) = (field.lattice.location(), field.lattice.ghost());
        Self { grid: field.grid, location, ghost, values: field.values }
    }
}

impl<const D: usize, T> TryFrom<FieldData<D, T>> for Field<D, T> {
    type Error = GridError;
    fn try_from(data: FieldData<D, T>) -> Result<Self, GridError> {
        if data.ghost > MAX_GHOST_LAYERS {
            return Err(GridError::Damaged(format!("{} ghost layers", data.ghost)));
        }
        if matches!(data.location, Location::Face(axis) if axis >= D) {
            return Err(GridError::Damaged(format!("{:?} in {D} dimensions", data.location)));
        }
        let lattice = data.grid.lattice(data.location, data.ghost);
        if data.values.len() != lattice.len() {
            let found = data.values.len();
            return Err(GridError::Damaged(format!("{found} values for {} samples", lattice.len())));
        }
        Ok(Self { grid: data.grid, lattice, values: data.values })
    }
}

impl<const D: usize, T> Field<D, T> {
    pub(super) fn location(&self) -> Location {
        self.lattice.location()
    }

    pub(super) fn grid_of(&self) -> &Grid<D> {
        &self.grid
    }
}

impl<const D: usize, T: Copy + Send + Sync> Field<D, T> {
    /// `value` everywhere, with [`GHOST_LAYERS`] ghost layers.
    ///
    /// # Panics
    /// When the axis of a face location is not below `D`.
    pub fn new(grid: &Grid<D>, location: Location, value: T) -> Self {
        Self::with_ghost(grid, location, GHOST_LAYERS, value)
    }

    /// `value` everywhere, with `ghost` layers.
    ///
    /// # Panics
    /// As [`Grid::lattice`].
    pub fn with_ghost(grid: &Grid<D>, location: Location, ghost: usize, value: T) -> Self {
        let lattice = grid.lattice(location, ghost);
        Self { grid: *grid, lattice, values: vec![value; lattice.len()] }
    }

    /// Evaluates `function` at every sample position (m), ghosts included, in parallel.
    pub fn from_fn(
        grid: &Grid<D>,
        location: Location,
        function: impl Fn(&Vector<D>) -> T + Send + Sync,
    ) -> Self {
        let lattice = grid.lattice(location, GHOST_LAYERS);
        let at = |offset| function(&lattice.position(lattice.index(offset)));
        let values = (0..lattice.len()).into_par_iter().with_min_len(MIN_SAMPLES_PER_TASK / 16).map(at);
        Self { grid: *grid, lattice, values: values.collect() }
    }

    /// Makes it a field at another location of the same grid, in the same memory: working memory that many fields share. Its values mean nothing
    /// until they are set.
    ///
    /// # Panics
    /// As [`Grid::lattice`].
    pub fn relocate(&mut self, location: Location) {
        if location != self.lattice.location() {
            self.lattice = self.grid.lattice(location, self.lattice.ghost());
            let filler = self.values[0];
            self.values.resize(self.lattice.len(), filler);
        }
    }

    /// The grid it lives on.
    pub fn grid(&self) -> &Grid<D> {
        &self.grid
    }

    /// Positions and layout of its samples.
    pub fn lattice(&self) -> &Lattice<D> {
        &self.lattice
    }

    /// The array, ghosts included.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The array, ghosts included.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// Value of a sample or ghost.
    ///
    /// # Panics
    /// When the array holds no such sample.
    #[inline]
    pub fn at(&self, index: Index<D>) -> T {
        self.values[self.lattice.offset(index)]
    }

    /// Sets a sample or ghost.
    ///
    /// # Panics
    /// When the array holds no such sample.
    #[inline]
    pub fn set(&mut self, index: Index<D>, value: T) {
        let offset = self.lattice.offset(index);
        self.values[offset] = value;
    }

    /// Replaces every sample proper by `function(index, old value)`, in parallel; ghosts stay.
    pub fn update(&mut self, function: impl Fn(Index<D>, T) -> T + Send + Sync) {
        let lattice = self.lattice;
        let (slab_len, ghost) = (lattice.strides()[D - 1], lattice.ghost());
        let interior = &mut self.values[ghost * slab_len..(ghost + lattice.slabs()) * slab_len];
        let min_len = (MIN_SAMPLES_PER_TASK / slab_len).max(1);
        interior.par_chunks_mut(slab_len).enumerate().with_min_len(min_len).for_each(|(slab, values)| {
            let start = (slab + ghost) * slab_len;
            lattice.rows_of_slab(slab as isize, |first| {
                let offset = lattice.offset(first) - start;
                let mut index = first;
                for value in &mut values[offset..offset + lattice.counts()[0]] {
                    *value = function(index, *value);
                    index[0] += 1;
                }
            });
        });
    }

    /// A field at the same samples with `function(index, value)`, ghosts included, in parallel.
    pub fn map<U: Copy + Send + Sync>(
        &self,
        function: impl Fn(Index<D>, T) -> U + Send + Sync,
    ) -> Field<D, U> {
        let values = (0..self.values.len())
            .into_par_iter()
            .with_min_len(MIN_SAMPLES_PER_TASK)
            .map(|offset| function(self.lattice.index(offset), self.values[offset]))
            .collect();
        Field { grid: self.grid, lattice: self.lattice, values }
    }

    /// Combines `map(index, value)` of all samples proper. Bit-identical for any number of threads: the samples of a slab
    /// (`index[D - 1]` fixed) are combined in order, then the slabs in order.
    pub fn reduce<R: Clone + Send + Sync>(
        &self,
        start: R,
        map: impl Fn(Index<D>, T) -> R + Send + Sync,
        combine: impl Fn(R, R) -> R + Send + Sync,
    ) -> R {
        let lattice = &self.lattice;
        let min_len = (MIN_SAMPLES_PER_TASK / lattice.strides()[D - 1]).max(1);
        let partial: Vec<R> = (0..lattice.slabs())
            .into_par_iter()
            .with_min_len(min_len)
            .map(|slab| {
                let mut result = start.clone();
                lattice.rows_of_slab(slab as isize, |first| {
                    let offset = lattice.offset(first);
                    let mut index = first;
                    for value in &self.values[offset..offset + lattice.counts()[0]] {
                        result = combine(result.clone(), map(index, *value));
                        index[0] += 1;
                    }
                });
                result
            })
            .collect();
        partial.into_iter().fold(start, combine)
    }
}

impl<const D: usize> Field<D> {
    /// Sum over the samples proper, the same bits for any number of threads.
    pub fn sum(&self) -> f64 {
        self.reduce(0.0, |_, value| value, |a, b| a + b)
    }

    /// Largest absolute value of the samples proper; infinite when one is not a number, so that it cannot hide.
    pub fn max_abs(&self) -> f64 {
        let size = |_, value: f64| if value.is_nan() { f64::INFINITY } else { value.abs() };
        self.reduce(0.0, size, f64::max)
    }

    /// The first sample proper that is infinite or not a number.
    pub fn first_not_finite(&self) -> Option<Index<D>> {
        self.reduce(None, |index, value| (!value.is_finite()).then_some(index), Option::or)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid<3> {
        Grid::new(Vector::zeros(), Vector::from([0.1, 0.2, 0.3]), [5, 4, 3]).unwrap()
    }

    #[test]
    fn update_touches_samples_and_leaves_ghosts() {
        let mut field = Field::with_ghost(&grid(), Location::Face(2), 2, -1.0);
        field.update(|index, old| old + (index[0] + 10 * index[1] + 100 * index[2]) as f64);
        for index in field.lattice().stored_indices() {
            let inside = field.lattice().contains(index);
            let expected =
                if inside { (index[0] + 10 * index[1] + 100 * index[2]) as f64 } else { 0.0 } - 1.0;
            assert_eq!(field.at(index), expected, "{index:?}");
        }
    }

    #[test]
    fn sums_are_the_same_bits_for_any_number_of_threads() {
        let grid = Grid::<2>::new(Vector::zeros(), Vector::repeat(0.01), [300, 200]).unwrap();
        let field =
            Field::from_fn(&grid, Location::Cell, |x| (1e3 * x[0]).sin() * (1e4 * x[1]).exp().recip());
        let sum_with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| field.sum()).to_bits()
        };
        assert_eq!(sum_with(1), sum_with(2));
        assert_eq!(sum_with(1), sum_with(5));
    }

    #[test]
    fn a_value_that_is_not_a_number_is_found() {
        let mut field = Field::new(&grid(), Location::Cell, 1.0);
        field.set([-1, 0, 0], f64::NAN);
        assert_eq!(field.first_not_finite(), None);
        field.set([3, 2, 1], f64::NAN);
        assert_eq!(field.first_not_finite(), Some([3, 2, 1]));
        assert_eq!(field.max_abs(), f64::INFINITY);
    }

    #[test]
    fn a_field_survives_storage_and_damage_is_refused() {
        let field = Field::from_fn(&grid(), Location::Face(1), |x| x.sum());
        let bytes = postcard::to_stdvec(&field).unwrap();
        assert_eq!(postcard::from_bytes::<Field<3>>(&bytes).unwrap(), field);
        let mut refused = 0;
        for place in 0..100 {
            let mut damaged = bytes.clone();
            damaged[place] ^= 0xff;
            // Either refused or a sound field of other numbers; never a panic.
            match postcard::from_bytes::<Field<3>>(&damaged) {
                Ok(read) => assert_eq!(read.values().len(), read.lattice().len()),
                Err(_) => refused += 1,
            }
        }
        assert!(refused > 10);
        assert!(postcard::from_bytes::<Field<3>>(&bytes[..bytes.len() - 1]).is_err());
    }
}
