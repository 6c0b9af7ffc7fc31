//! Four numbers at once, with vector instructions where the processor has them. Every kind gives the same bits: only IEEE operations in one order, no
//! fused multiply-add.

use std::ops::{Add, Mul, Sub};

/// Numbers that are treated at once.
pub(in crate::contact) const LANES: usize = 4;

/// Four numbers in memory, exact or rounded to seven digits.
pub(super) type Four = [f64; LANES];
pub(super) type Rounded = [f32; LANES];

/// What is kept of a body, in one line of the cache.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
pub(super) struct Record(pub [Four; 2]);

/// Four numbers in registers.
pub(super) trait Lane: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    fn splat(value: f64) -> Self;
    fn load(from: &Four) -> Self;
    fn store(self, to: &mut Four);
    /// From rounded numbers.
    fn widen(from: &Rounded) -> Self;
    /// To rounded numbers.
    fn round(self) -> Rounded;
    fn over(self, other: Self) -> Self;
    fn sqrt(self) -> Self;
    /// The larger; `other` if they cannot be compared.
    fn max(self, other: Self) -> Self;
    /// The smaller; `other` if they cannot be compared.
    fn min(self, other: Self) -> Self;
    /// `yes` where this is larger than `other`, else `no`.
    fn if_above(self, other: Self, yes: Self, no: Self) -> Self;
    /// Rows of four as columns.
    fn transpose(rows: [Self; LANES]) -> [Self; LANES];

    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0.0)
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.max(Self::zero() - self)
    }

    /// `1/x` for positive `x`, else zero.
    #[inline(always)]
    fn inverse(self) -> Self {
        let one = Self::splat(1.0);
        self.if_above(Self::zero(), one.over(self.if_above(Self::zero(), self, one)), Self::zero())
    }

    #[inline(always)]
    fn numbers(self) -> Four {
        let mut numbers = [0.0; LANES];
        self.store(&mut numbers);
        numbers
    }

    /// The eight numbers of four records, each over the lanes.
    #[inline(always)]
    fn gather(table: &[Record], at: &[u32; LANES]) -> [[Self; LANES]; 2] {
        // Written out: `map` of an array is a call here.
        let (a, b) = (&table[at[0] as usize].0, &table[at[1] as usize].0);
        let (c, d) = (&table[at[2] as usize].0, &table[at[3] as usize].0);
        [
            Self::transpose([Self::load(&a[0]), Self::load(&b[0]), Self::load(&c[0]), Self::load(&d[0])]),
            Self::transpose([Self::load(&a[1]), Self::load(&b[1]), Self::load(&c[1]), Self::load(&d[1])]),
        ]
    }

    /// The inverse of [`Self::gather`].
    #[inline(always)]
    fn scatter(columns: [[Self; LANES]; 2], table: &mut [Record], at: &[u32; LANES]) {
        for half in 0..2 {
            let rows = Self::transpose(columns[half]);
            for lane in 0..LANES {
                rows[lane].store(&mut table[at[lane] as usize].0[half]);
            }
        }
    }
}

/// Three components over the lanes.
pub(super) type Vec3<L> = [L; 3];

#[inline(always)]
pub(super) fn add<L: Lane>(a: Vec3<L>, b: Vec3<L>) -> Vec3<L> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub(super) fn sub<L: Lane>(a: Vec3<L>, b: Vec3<L>) -> Vec3<L> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
pub(super) fn scaled<L: Lane>(a: Vec3<L>, factor: L) -> Vec3<L> {
    [a[0] * factor, a[1] * factor, a[2] * factor]
}

#[inline(always)]
pub(super) fn dot<L: Lane>(a: Vec3<L>, b: Vec3<L>) -> L {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub(super) fn cross<L: Lane>(a: Vec3<L>, b: Vec3<L>) -> Vec3<L> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[inline(always)]
pub(super) fn load3<L: Lane>(from: &[Four; 3]) -> Vec3<L> {
    [L::load(&from[0]), L::load(&from[1]), L::load(&from[2])]
}

#[inline(always)]
pub(super) fn store3<L: Lane>(vector: Vec3<L>, to: &mut [Four; 3]) {
    for (value, to) in vector.into_iter().zip(to) {
        value.store(to);
    }
}

/// With the instructions that every processor has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Portable(Four);

impl Portable {
    #[inline(always)]
    fn with(self, other: Self, op: impl Fn(f64, f64) -> f64) -> Self {
        let (a, b) = (self.0, other.0);
        Self([op(a[0], b[0]), op(a[1], b[1]), op(a[2], b[2]), op(a[3], b[3])])
    }
}

impl Add for Portable {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.with(other, |a, b| a + b)
    }
}

impl Sub for Portable {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.with(other, |a, b| a - b)
    }
}

impl Mul for Portable {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.with(other, |a, b| a * b)
    }
}

impl Lane for Portable {
    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self([value; LANES])
    }
    #[inline(always)]
    fn load(from: &Four) -> Self {
        Self(*from)
    }
    #[inline(always)]
    fn store(self, to: &mut Four) {
        *to = self.0;
    }
    #[inline(always)]
    fn widen(from: &Rounded) -> Self {
        Self([f64::from(from[0]), f64::from(from[1]), f64::from(from[2]), f64::from(from[3])])
    }
    #[inline(always)]
    fn round(self) -> Rounded {
        [self.0[0] as f32, self.0[1] as f32, self.0[2] as f32, self.0[3] as f32]
    }
    #[inline(always)]
    fn over(self, other: Self) -> Self {
        self.with(other, |a, b| a / b)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.with(self, |a, _| a.sqrt())
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.with(other, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.with(other, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn if_above(self, other: Self, yes: Self, no: Self) -> Self {
        let mut chosen = no;
        for lane in 0..LANES {
            if self.0[lane] > other.0[lane] {
                chosen.0[lane] = yes.0[lane];
            }
        }
        chosen
    }
    #[inline(always)]
    fn transpose(rows: [Self; LANES]) -> [Self; LANES] {
        let [a, b, c, d] = [rows[0].0, rows[1].0, rows[2].0, rows[3].0];
        [
            Self([a[0], b[0], c[0], d[0]]),
            Self([a[1], b[1], c[1], d[1]]),
            Self([a[2], b[2], c[2], d[2]]),
            Self([a[3], b[3], c[3], d[3]]),
        ]
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::Avx;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Four, LANES, Lane, Rounded};
    use std::arch::x86_64::*;
    use std::ops::{Add, Mul, Sub};

    /// With 256 bit vectors. Values are made and used only within [`super::super::vectorized`], after it has found AVX2 on this processor.
    #[derive(Debug, Clone, Copy)]
    pub(in super::super) struct Avx(__m256d);

    impl Add for Avx {
        type Output = Self;
        #[inline(always)]
        fn add(self, other: Self) -> Self {
            // SAFETY: a value of this type proves AVX2.
            Self(unsafe { _mm256_add_pd(self.0, other.0) })
        }
    }

    impl Sub for Avx {
        type Output = Self;
        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            // SAFETY: a value of this type proves AVX2.
            Self(unsafe { _mm256_sub_pd(self.0, other.0) })
        }
    }

    impl Mul for Avx {
        type Output = Self;
        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            // SAFETY: a value of this type proves AVX2.
            Self(unsafe { _mm256_mul_pd(self.0, other.0) })
        }
    }

    impl Lane for Avx {
        #[inline(always)]
        fn splat(value: f64) -> Self {
            // SAFETY: called within `vectorized` only.
            Self(unsafe { _mm256_set1_pd(value) })
        }
        #[inline(always)]
        fn load(from: &Four) -> Self {
            // SAFETY: called within `vectorized` only; reads the four numbers of `from`, aligned or not.
            Self(unsafe { _mm256_loadu_pd(from.as_ptr()) })
        }
        #[inline(always)]
        fn store(self, to: &mut Four) {
            // SAFETY: a value of this type proves AVX2; writes the four numbers of `to`, aligned or not.
            unsafe { _mm256_storeu_pd(to.as_mut_ptr(), self.0) }
        }
        #[inline(always)]
        fn widen(from: &Rounded) -> Self {
            // SAFETY: called within `vectorized` only; reads the four numbers of `from`, aligned or not.
            Self(unsafe { _mm256_cvtps_pd(_mm_loadu_ps(from.as_ptr())) })
        }
        #[inline(always)]
        fn round(self) -> Rounded {
            let mut rounded = [0.0; LANES];
            // SAFETY: a value of this type proves AVX2; writes the four numbers of `rounded`, aligned or not.
            unsafe { _mm_storeu_ps(rounded.as_mut_ptr(), _mm256_cvtpd_ps(self.0)) };
            rounded
        }
        #[inline(always)]
        fn over(self, other: Self) -> Self {
            // SAFETY: a value of this type proves AVX2.
            Self(unsafe { _mm256_div_pd(self.0, other.0) })
        }
        #[inline(always)]
        fn sqrt(self) -> Self {
            // SAFETY: a value of this type proves AVX2.
            Self(unsafe { _mm256_sqrt_pd(self.0) })
        }
        #[inline(always)]
        fn max(self, other: Self) -> Self {
            // SAFETY: a value of this type proves AVX2.
            Self(unsafe { _mm256_max_pd(self.0, other.0) })
        }
        #[inline(always)]
        fn min(self, other: Self) -> Self {
            // SAFETY: a value of this type proves AVX2.
            Self(unsafe { _mm256_min_pd(self.0, other.0) })
        }
        #[inline(always)]
        fn if_above(self, other: Self, yes: Self, no: Self) -> Self {
            // SAFETY: a value of this type proves AVX2.
            Self(unsafe { _mm256_blendv_pd(no.0, yes.0, _mm256_cmp_pd::<_CMP_GT_OQ>(self.0, other.0)) })
        }
        #[inline(always)]
        fn transpose([a, b, c, d]: [Self; LANES]) -> [Self; LANES] {
            // SAFETY: a value of this type proves AVX2.
            unsafe {
                let (ab_even, ab_odd) = (_mm256_unpacklo_pd(a.0, b.0), _mm256_unpackhi_pd(a.0, b.0));
                let (cd_even, cd_odd) = (_mm256_unpacklo_pd(c.0, d.0), _mm256_unpackhi_pd(c.0, d.0));
                [
                    Self(_mm256_permute2f128_pd::<0x20>(ab_even, cd_even)),
                    Self(_mm256_permute2f128_pd::<0x20>(ab_odd, cd_odd)),
                    Self(_mm256_permute2f128_pd::<0x31>(ab_even, cd_even)),
                    Self(_mm256_permute2f128_pd::<0x31>(ab_odd, cd_odd)),
                ]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation on some numbers, as bits.
    #[inline(always)]
    fn all<L: Lane>() -> Vec<u64> {
        let rows: [Four; 4] = [
            [0.1, -2.5, 3e10, 0.0],
            [7.25, -0.3, 1e-12, -0.0],
            [f64::NAN, 5.0, -1.0, 2.0],
            [1.0 / 3.0, 9.0, 4e-300, 6.5],
        ];
        let [a, b, c, d] = rows.map(|row| L::load(&row));
        let mut out = vec![a + b, a - d, a * b, a.over(d), b.abs().sqrt(), a.max(b), c.min(d), a.max(c)];
        out.extend([a.if_above(b, c, d), d.inverse(), b.inverse(), L::splat(0.7)]);
        out.extend(L::transpose([a, b, c, d]));
        out.push(L::widen(&(a * d).round()));
        out.into_iter().flat_map(|x| x.numbers().map(f64::to_bits)).collect()
    }

    #[test]
    fn vector_instructions_give_the_same_bits() {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            #[target_feature(enable = "avx2")]
            fn with_avx2() -> Vec<u64> {
                all::<Avx>()
            }
            // SAFETY: the processor has the instructions.
            assert_eq!(unsafe { with_avx2() }, all::<Portable>());
        }
    }

    #[test]
    fn records_are_gathered_and_scattered() {
        let record =
            |i: usize| Record([0, 1].map(|half| [0, 1, 2, 3].map(|k| (10 * i + 4 * half + k) as f64)));
        let mut table: Vec<Record> = (0..6).map(record).collect();
        let columns = Portable::gather(&table, &[4, 1, 5, 0]);
        assert_eq!(columns[1][2].numbers(), [46.0, 16.0, 56.0, 6.0]);
        Portable::scatter(columns, &mut table, &[0, 2, 3, 4]);
        assert_eq!(table[2].0, record(1).0);
        assert_eq!(table[3].0, record(5).0);
    }
}
