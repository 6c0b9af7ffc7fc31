//! Level sets, surfaces and shapes in both dimensions, compiled here once.

use crate::generate::sheet;
use crate::iso_surface::extract;
use crate::level_set::{LevelSet, extend_distance, redistance};
use crate::shapes::Shape;

splashdown_math::compile_here!(
    LevelSet::<2>::from_field,
    LevelSet::<3>::from_field,
    LevelSet::<2>::from_shape,
    LevelSet::<3>::from_shape,
    LevelSet::<2>::from_surface,
    LevelSet::<3>::from_surface,
    LevelSet::<2>::value_and_normal,
    LevelSet::<3>::value_and_normal,
    LevelSet::<2>::volume,
    LevelSet::<3>::volume,
    redistance::<2>,
    redistance::<3>,
    extend_distance::<2>,
    extend_distance::<3>,
    extract::<2>,
    extract::<3>,
    Shape::<2>::moments,
    Shape::<3>::moments,
    Shape::<2>::placed,
    Shape::<3>::placed,
    sheet::<2>,
    sheet::<3>,
);
