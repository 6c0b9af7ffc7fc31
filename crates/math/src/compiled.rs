//! Compiling generic functions where they are written.

/// The address of a function that [`compile_here`](crate::compile_here) keeps.
#[doc(hidden)]
pub struct Compiled(pub *const ());

// SAFETY: the address of a function is never read through, only kept.
unsafe impl Sync for Compiled {}

/// Compiles the given instances of generic functions in the crate that calls it. Functions that are `#[inline(never)]` are then linked by the
/// crates above instead of being compiled there again with all that they call.
///
/// ```
/// #[inline(never)]
/// fn twice<const D: usize>(x: [f64; D]) -> [f64; D] {
///     x.map(|x| 2.0 * x)
/// }
/// splashdown_math::compile_here!(twice::<2>, twice::<3>);
/// ```
#[macro_export]
macro_rules! compile_here {
    ($($function:expr),* $(,)?) => {
        const _: () = {
            #[used]
            static COMPILED: &[$crate::Compiled] = &[$($crate::Compiled($function as *const ())),*];
        };
    };
}
