//! The matrix of velocity solves, `M - tau B^T (D - h K) B`.

use super::Carriers;
use crate::solid::Solid;
use splashdown_math::{Dim, Space};
use splashdown_solve::{BlockCsrMatrix, LinearOperator};

/// Adds the forces (N) that are implicit in velocity solves: damping at `velocity`, and what elastic forces change by in `ahead` seconds of it.
pub(super) fn add_resistance<const D: usize>(
    solid: &Solid<D>,
    ahead: f64,
    velocity: &[f64],
    out: &mut [f64],
) {
    solid.add_damping(velocity, out);
    if ahead > 0.0 {
        let mut change = vec![0.0; velocity.len()];
        solid.add_stiffness(velocity, &mut change, true);
        out.iter_mut().zip(&change).for_each(|(out, change)| *out -= ahead * change);
    }
}

/// `tau (h K - D)` in a state of the forces.
#[derive(Debug)]
pub(super) struct Assembled<const D: usize> {
    pub matrix: BlockCsrMatrix<D>,
    /// Name of that state ([`Solid::stamp`]).
    stamp: u64,
    /// How long forces act (s), and how far ahead (s) elastic ones are.
    tau: f64,
    ahead: f64,
}

impl<const D: usize> Assembled<D> {
    /// At the last update of `solid`; `last` is taken again if nothing has changed, else its memory.
    pub fn new(solid: &Solid<D>, tau: f64, ahead: f64, last: Option<Self>) -> Self {
        let stamp = solid.stamp();
        let memory = match last {
            Some(last) if last.fits(solid, ahead) && last.tau == tau => return last,
            last => last.map(|last| last.matrix),
        };
        Self { matrix: solid.resistance_blocks(tau, ahead, memory), stamp, tau, ahead }
    }

    /// Keeps the memory only, so that nothing in a step depends on the one before.
    pub fn forget(&mut self) {
        self.stamp = u64::MAX;
    }

    fn fits(&self, solid: &Solid<D>, ahead: f64) -> bool {
        self.stamp == solid.stamp() && self.ahead == ahead
    }

    /// Adds the implicit forces (N) at `velocity`; false if they are not those of the last update.
    pub fn add_forces(&self, solid: &Solid<D>, ahead: f64, velocity: &[f64], out: &mut [f64]) -> bool {
        let fits = self.fits(solid, ahead) && self.tau > 0.0;
        if fits {
            let mut impulse = vec![0.0; velocity.len()];
            self.matrix.multiply(velocity, &mut impulse);
            out.iter_mut().zip(&impulse).for_each(|(out, impulse)| *out -= impulse / self.tau);
        }
        fits
    }
}

/// Takes the impulses (kg m/s) of implicit forces at `velocity` of all particles off those in `out`; `resistance` is `tau (h K - D)`.
pub(super) fn take_resistance<const D: usize>(
    resistance: &BlockCsrMatrix<D>,
    velocity: &[f64],
    out: &mut [f64],
) {
    let mut push = vec![0.0; velocity.len()];
    resistance.multiply(velocity, &mut push);
    out.iter_mut().zip(&push).for_each(|(out, push)| *out -= push);
}

/// Adds the mean of the diagonal of each particle to `metric` (kg).
pub(super) fn add_mean_diagonal<const D: usize>(resistance: &BlockCsrMatrix<D>, metric: &mut [f64]) {
    for (node, metric) in metric.iter_mut().enumerate() {
        if let Some(place) = resistance.pattern().place(node, node as u32) {
            let block = &resistance.values()[place];
            *metric += (0..D).map(|i| block[i][i]).sum::<f64>() / D as f64;
        }
    }
}

/// `M - tau B^T (D - h K) B` over the particles and then the twists of their carriers.
pub(super) struct DampedMass<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    pub solid: &'a Solid<D>,
    pub carriers: Option<&'a Carriers<D>>,
    /// `tau (h K - D)`, summed up from the elements once: iterations then cost a tenth of what they do element by element.
    pub resistance: &'a BlockCsrMatrix<D>,
}

impl<const D: usize> LinearOperator for DampedMass<'_, D>
where
    Dim<D>: Space<D>,
{
    fn rows(&self) -> usize {
        D * self.solid.len() + self.carriers.map_or(0, |own| own.carriers.len() * Carriers::<D>::SIZE)
    }

    fn cols(&self) -> usize {
        self.rows()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        let particles = D * self.solid.len();
        let (own, tail) = x.split_at(particles);
        let (y, sum) = y.split_at_mut(particles);
        if let Some(carriers) = self.carriers {
            let mut all = own.to_vec();
            carriers.spread(tail, &mut all);
            self.resistance.multiply(&all, y);
            sum.fill(0.0);
            carriers.gather(1.0, y, sum);
            carriers.add_mass(tail, sum);
        } else {
            self.resistance.multiply(own, y);
        }
        let (own, y) = (own.as_chunks::<D>().0, y.as_chunks_mut::<D>().0);
        for ((y, x), mass) in y.iter_mut().zip(own).zip(self.solid.masses()) {
            for axis in 0..D {
                y[axis] += mass * x[axis];
            }
        }
    }
}

/// `M - tau B^T (D - h K) B`, element after element: slower than [`DampedMass`], and exact to rounding of what each element does.
pub(super) struct ByElements<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    pub solid: &'a Solid<D>,
    pub carriers: Option<&'a Carriers<D>>,
    /// How long forces act (s), and how far ahead (s) elastic ones are.
    pub tau: f64,
    pub ahead: f64,
}

impl<const D: usize> LinearOperator for ByElements<'_, D>
where
    Dim<D>: Space<D>,
{
    fn rows(&self) -> usize {
        D * self.solid.len() + self.carriers.map_or(0, |own| own.carriers.len() * Carriers::<D>::SIZE)
    }

    fn cols(&self) -> usize {
        self.rows()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        let particles = D * self.solid.len();
        let (own, tail) = x.split_at(particles);
        let (y, sum) = y.split_at_mut(particles);
        let mut all = own.to_vec();
        if let Some(carriers) = self.carriers {
            carriers.spread(tail, &mut all);
        }
        y.fill(0.0);
        add_resistance(self.solid, self.ahead, &all, y);
        y.iter_mut().for_each(|y| *y *= -self.tau);
        if let Some(carriers) = self.carriers {
            sum.fill(0.0);
            carriers.gather(1.0, y, sum);
            carriers.add_mass(tail, sum);
        }
        let (own, y) = (own.as_chunks::<D>().0, y.as_chunks_mut::<D>().0);
        for ((y, x), mass) in y.iter_mut().zip(own).zip(self.solid.masses()) {
            for axis in 0..D {
                y[axis] += mass * x[axis];
            }
        }
    }
}
