//! Many matrices at once: blocks of lanes, compiled once for each vector instruction set and chosen when the program runs.

use super::{Real, Svd, jacobi::Block};
use crate::{Dim, Space};
use nalgebra::SMatrix;
use splashdown_parallel::prelude::*;

/// Matrices in one block: long enough to hide the latency of square roots, short enough to stay in the first-level cache.
const LANES: usize = 32;
/// Matrices that one task of the parallel version takes.
const TASK: usize = 512;

/// Vector instructions that the block code is compiled for. All give the same bits: only IEEE operations in one fixed order, no fused multiply-add.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionSet {
    /// What every processor of the target has.
    Portable,
    /// 256 bit vectors on x86-64.
    Avx2,
    /// 512 bit vectors on x86-64.
    Avx512,
}

impl InstructionSet {
    /// Does this processor have it?
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => std::arch::is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                std::arch::is_x86_feature_detected!("avx512f")
                    && std::arch::is_x86_feature_detected!("avx512dq")
                    && std::arch::is_x86_feature_detected!("avx512vl")
            }
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// The widest that this processor has.
    pub fn best() -> Self {
        [Self::Avx512, Self::Avx2].into_iter().find(|set| set.is_available()).unwrap_or(Self::Portable)
    }
}

/// [`signed_svd`](super::signed_svd) of every matrix of `f`, in vector lanes; the same bits as one by one, several times faster.
///
/// # Panics
/// If `f` and `out` differ in length.
pub fn signed_svd_batch<S: Real, const D: usize>(f: &[SMatrix<S, D, D>], out: &mut [Svd<D, S>])
where
    Dim<D>: Space<D>,
{
    signed_svd_batch_with(InstructionSet::best(), f, out);
}

/// [`signed_svd_batch`] on all threads of the current rayon pool.
///
/// # Panics
/// If `f` and `out` differ in length.
pub fn signed_svd_batch_parallel<S: Real, const D: usize>(f: &[SMatrix<S, D, D>], out: &mut [Svd<D, S>])
where
    Dim<D>: Space<D>,
{
    assert_eq!(f.len(), out.len(), "one decomposition for each matrix");
    f.par_chunks(TASK).zip(out.par_chunks_mut(TASK)).for_each(|(f, out)| signed_svd_batch(f, out));
}

/// [`signed_svd_batch`] with a given instruction set, for tests and benchmarks; falls back to the portable code where it is missing.
#[doc(hidden)]
pub fn signed_svd_batch_with<S: Real, const D: usize>(
    set: InstructionSet,
    f: &[SMatrix<S, D, D>],
    out: &mut [Svd<D, S>],
) where
    Dim<D>: Space<D>,
{
    assert_eq!(f.len(), out.len(), "one decomposition for each matrix");
    #[cfg(target_arch = "x86_64")]
    if set.is_available() {
        match set {
            // SAFETY: `is_available` has just found the features on this processor.
            InstructionSet::Avx512 => return unsafe { avx512(f, out) },
            // SAFETY: as above.
            InstructionSet::Avx2 => return unsafe { avx2(f, out) },
            InstructionSet::Portable => {}
        }
    }
    let _ = set;
    blocks(f, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn avx512<S: Real, const D: usize>(f: &[SMatrix<S, D, D>], out: &mut [Svd<D, S>])
where
    Dim<D>: Space<D>,
{
    blocks(f, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<S: Real, const D: usize>(f: &[SMatrix<S, D, D>], out: &mut [Svd<D, S>])
where
    Dim<D>: Space<D>,
{
    blocks(f, out);
}

#[inline(always)]
fn blocks<S: Real, const D: usize>(f: &[SMatrix<S, D, D>], out: &mut [Svd<D, S>])
where
    Dim<D>: Space<D>,
{
    let mut block = Block::<S, D, D, LANES>::new();
    for (f, out) in f.chunks(LANES).zip(out.chunks_mut(LANES)) {
        block.load_square(f);
        block.decompose();
        block.store_square(out);
    }
}
