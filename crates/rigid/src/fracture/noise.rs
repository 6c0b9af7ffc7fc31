//! Smooth random displacement of space, so that the faces between the regions of a pattern are as uneven as those of a real break.

use serde::{Deserialize, Serialize};
use splashdown_math::Vector;

/// A displacement field made of octaves of gradient noise, a pure function of place and seed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Roughness {
    /// Bound of the displacement in each direction, in the unit of the pattern.
    pub amplitude: f64,
    /// Wavelength of the coarsest octave, in the unit of the pattern.
    pub wavelength: f64,
    /// Number of octaves; each halves wavelength and amplitude.
    pub octaves: u32,
    /// Seed.
    pub seed: u64,
}

impl Roughness {
    /// Displacement of the point `x`.
    pub fn displacement<const D: usize>(&self, x: &Vector<D>) -> Vector<D> {
        self.displacement_near(x, &mut NoiseCells::default())
    }

    /// As [`Self::displacement`], several times faster for points one after another that lie near each other and share `cells`.
    pub(super) fn displacement_near<const D: usize>(
        &self,
        x: &Vector<D>,
        cells: &mut NoiseCells<D>,
    ) -> Vector<D> {
        let mut sum = Vector::zeros();
        let (mut scale, mut share) = (1.0 / self.wavelength, 0.5 * self.amplitude);
        for octave in 0..u64::from(self.octaves) {
            let y = x * scale;
            let cell: [i64; D] = std::array::from_fn(|a| floor(y[a]));
            let number = octave as usize;
            if number >= cells.octaves.len() {
                let slots = 1usize << (NoiseCells::<D>::BITS * D);
                cells.octaves.resize_with(number + 1, || vec![([i64::MIN; D], Vec::new()); slots]);
            }
            let (known, gradients) = &mut cells.octaves[number][NoiseCells::slot(&cell)];
            if *known != cell || gradients.is_empty() {
                *known = cell;
                gradients.clear();
                for axis in 0..D as u64 {
                    let seed = hash(self.seed ^ hash(octave * D as u64 + axis));
                    gradients.extend((0..1usize << D).map(|corner| gradient(&cell, corner, seed)));
                }
            }
            sum += gradient_noise(&y, gradients) * share;
            scale *= 2.0;
            share *= 0.5;
        }
        sum
    }

    /// Length that no displacement exceeds.
    pub fn reach<const D: usize>(&self) -> f64 {
        self.amplitude.abs() * (D as f64).sqrt()
    }

    /// Bound of the change of the displacement per length: distances measured after displacing are off by a factor `1 + slope` at most.
    pub fn slope(&self) -> f64 {
        // Each octave has the slope of the first; 2 bounds the slope of a noise of bound 1 and wavelength 1 in practice.
        f64::from(self.octaves) * 2.0 * self.amplitude.abs() / self.wavelength
    }
}

/// Cells of each octave's lattice that were looked at last, with the gradients at their corners for each axis of the displacement.
#[derive(Debug, Clone, Default)]
pub(super) struct NoiseCells<const D: usize> {
    octaves: Vec<Vec<NoiseCell<D>>>,
}

type NoiseCell<const D: usize> = ([i64; D], Vec<Vector<D>>);

impl<const D: usize> NoiseCells<D> {
    /// Bits of a cell's index on each axis that say where it is kept: neighbours do not drive each other out.
    const BITS: usize = 2;

    fn slot(cell: &[i64; D]) -> usize {
        let mask = (1 << Self::BITS) - 1;
        cell.iter().fold(0, |slot, index| slot << Self::BITS | (index & mask) as usize)
    }
}

/// The random gradient at a corner of a cell of the integer lattice.
fn gradient<const D: usize>(cell: &[i64; D], corner: usize, seed: u64) -> Vector<D> {
    let mut key = seed;
    Vector::from_fn(|axis, _| {
        key = hash(key ^ (cell[axis] + (corner >> axis & 1) as i64) as u64);
        (hash(key) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    })
}

/// Noise within -1..1 in each component that vanishes on the integer lattice (K. Perlin, "Improving noise", 2002, with random instead of twelve gradients). `gradients` are those of the
/// corners of the cell of `x`, for one component after the other.
fn gradient_noise<const D: usize>(x: &Vector<D>, gradients: &[Vector<D>]) -> Vector<D> {
    let t = x.map(|x| x - floor(x) as f64);
    let fade = t.map(|t| t * t * t * (t * (6.0 * t - 15.0) + 10.0));
    let mut weights = [1.0; 8];
    for axis in 0..D {
        for corner in 0..1usize << axis {
            weights[corner | 1 << axis] = weights[corner] * fade[axis];
            weights[corner] *= 1.0 - fade[axis];
        }
    }
    let mut noise = Vector::<D>::zeros();
    for (component, gradients) in gradients.chunks_exact(1 << D).enumerate() {
        let mut sum = 0.0;
        for (corner, gradient) in gradients.iter().enumerate() {
            // The gradient times the way from the corner.
            let mut rise = 0.0;
            for axis in 0..D {
                rise += gradient[axis] * (t[axis] - (corner >> axis & 1) as f64);
            }
            sum += weights[corner] * rise;
        }
        noise[component] = sum.clamp(-1.0, 1.0);
    }
    noise
}

/// The largest integer that is not larger. (The one of the standard library is a call on processors that may lack the instruction.)
#[inline(always)]
fn floor(x: f64) -> i64 {
    let whole = x as i64;
    whole - i64::from(whole as f64 > x)
}

/// The finaliser of SplitMix64.
fn hash(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displacement_is_bounded_smooth_and_a_function_of_the_seed() {
        let rough = Roughness { amplitude: 0.2, wavelength: 0.7, octaves: 3, seed: 5 };
        let other = Roughness { seed: 6, ..rough };
        let (mut largest, mut steepest, mut differs) = (0.0f64, 0.0f64, false);
        for i in 0..20_000 {
            let x = Vector::<3>::from_fn(|a, _| (0.618_034 * (i * (a + 2)) as f64).fract() * 20.0 - 10.0);
            let d = rough.displacement(&x);
            largest = largest.max(d.norm());
            let step = Vector::<3>::from_fn(|a, _| if i % 3 == a { 1e-5 } else { 0.0 });
            steepest = steepest.max((rough.displacement(&(x + step)) - d).norm() / 1e-5);
            differs |= other.displacement(&x) != d;
        }
        assert!(largest < rough.reach::<3>() && largest > 0.05 * rough.reach::<3>(), "{largest}");
        assert!(steepest < rough.slope(), "{steepest} of {}", rough.slope());
        assert!(differs);
    }
}
