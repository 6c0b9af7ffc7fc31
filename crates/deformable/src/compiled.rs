//! Steps and forces in both dimensions, compiled here once.

use crate::element::Elements;
use crate::integrate::Integrator;
use crate::{AltitudeSprings, Bending, EdgeSprings, Solid};

splashdown_math::compile_here!(
    Integrator::<2>::step,
    Integrator::<3>::step,
    Solid::<2>::add::<Elements<2, 2, 2>>,
    Solid::<3>::add::<Elements<3, 2, 2>>,
    Solid::<3>::add::<Elements<3, 3, 3>>,
    Solid::<3>::add::<Elements<3, 3, 7>>,
    Solid::<3>::add::<Elements<3, 3, 9>>,
    Solid::<2>::add::<EdgeSprings<2>>,
    Solid::<3>::add::<EdgeSprings<3>>,
    Solid::<2>::add::<AltitudeSprings<2>>,
    Solid::<3>::add::<AltitudeSprings<3>>,
    Solid::<3>::add::<Bending>,
);
