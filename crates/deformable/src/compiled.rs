//! Steps and forces in both dimensions, compiled here once.

use crate::element::Elements;
use crate::incompressible::Rings;
use crate::integrate::Integrator;
use crate::{AltitudeSprings, Bending, EdgeSprings, Solid};

splashdown_math::compile_here!(
    Integrator::<2>::step_at_once,
    Integrator::<3>::step_at_once,
    Integrator::<2>::begin,
    Integrator::<3>::begin,
    Integrator::<2>::collide_self,
    Integrator::<3>::collide_self,
    Integrator::<2>::finish,
    Integrator::<3>::finish,
    Integrator::<2>::repel_at_end,
    Integrator::<3>::repel_at_end,
    Integrator::<2>::accept,
    Integrator::<3>::accept,
    Solid::<2>::add::<Elements<2, 2, 2>>,
    Solid::<3>::add::<Elements<3, 2, 2>>,
    Solid::<3>::add::<Elements<3, 3, 3>>,
    Solid::<3>::add::<Elements<3, 3, 7>>,
    Solid::<3>::add::<Elements<3, 3, 9>>,
    Solid::<2>::add::<Elements<2, 2, 2, f32>>,
    Solid::<3>::add::<Elements<3, 2, 2, f32>>,
    Solid::<3>::add::<Elements<3, 3, 3, f32>>,
    Solid::<3>::add::<Elements<3, 3, 7, f32>>,
    Solid::<2>::add::<EdgeSprings<2>>,
    Solid::<3>::add::<EdgeSprings<3>>,
    Solid::<2>::add::<AltitudeSprings<2>>,
    Solid::<3>::add::<AltitudeSprings<3>>,
    Solid::<3>::add::<Bending>,
    Rings::<2>::new,
    Rings::<3>::new,
    Integrator::<2>::equilibrium,
    Integrator::<3>::equilibrium,
);
