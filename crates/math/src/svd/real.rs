//! The scalars of the decompositions: double precision, and single precision for what elements store.

use nalgebra::RealField;
use std::ops::BitOrAssign;

/// A floating-point scalar of the decompositions: `f64`, or `f32` where half the memory and twice the lanes are worth more than the digits.
pub trait Real: RealField + Copy + Into<f64> {
    /// Cosine below which two columns count as orthogonal: some 20 roundings, well above what three-term dot products can resolve.
    const ORTHOGONAL: Self;
    /// A column must be longer (squared) by this factor to be moved forward; keeps equal columns from changing places for ever.
    const LONGER: Self;
    /// After scaling the largest entry is about 1; columns shorter than this count as zero, because their squares' squares would underflow.
    const ZERO_LENGTH: Self;
    /// Part of the largest singular value below which a direction is rounding noise.
    const NOISE: Self;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// 2.
    const TWO: Self;
    /// 4.
    const FOUR: Self;
    /// Not a number.
    const NAN: Self;
    /// Whole number of the same width, so that flags live in the same lanes.
    type Flag: From<bool> + BitOrAssign + Default + PartialEq;

    /// The power of two that brings a magnitude into [1, 2), and its inverse; both are normal numbers.
    fn scaling(magnitude: Self) -> (Self, Self);
    /// Rounds to this precision.
    fn narrow(value: f64) -> Self;
}

macro_rules! real {
    ($real:ident, $bits:ident, $mantissa:literal, $exponents:literal, $orthogonal:literal, $zero_length:literal) => {
        impl Real for $real {
            const ORTHOGONAL: Self = $orthogonal;
            const LONGER: Self = 1.0 + $orthogonal;
            const ZERO_LENGTH: Self = $zero_length;
            const NOISE: Self = 16.0 * $real::EPSILON;
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const TWO: Self = 2.0;
            const FOUR: Self = 4.0;
            const NAN: Self = $real::NAN;
            type Flag = $bits;

            #[inline(always)]
            fn scaling(magnitude: Self) -> (Self, Self) {
                // Biased exponent, kept away from both ends.
                let exponent = (magnitude.to_bits() >> $mantissa).clamp(1, $exponents - 1);
                let power = |biased: $bits| $real::from_bits(biased << $mantissa);
                (power($exponents - exponent), power(exponent))
            }

            #[inline(always)]
            fn narrow(value: f64) -> Self {
                value as $real
            }
        }
    };
}

real!(f64, u64, 52, 2046, 4e-15, 1e-75);
real!(f32, u32, 23, 254, 2e-6, 1e-9);
