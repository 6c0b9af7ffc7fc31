//! Where a pattern lies in a body: translated to the impact, turned to its normal, scaled to the body.

use super::pattern::Pattern;
use splashdown_geometry::Aabb;
use splashdown_geometry::grid::Lattice;
use splashdown_math::{Coordinates, Dim, Rotation, Space, Spin, Vector};

/// The similarity between the coordinates of a pattern and those of a body's voxels.
#[derive(Debug, Clone, Copy)]
pub struct Placement<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Impact in the pattern.
    centre: Vector<D>,
    /// Impact in the body (m).
    impact: Vector<D>,
    /// From pattern to body.
    rotation: Rotation<D>,
    /// Metres in the body for one unit of the pattern.
    pub scale: f64,
}

impl<const D: usize> Placement<D>
where
    Dim<D>: Space<D>,
{
    /// The pattern as it is: its coordinates are those of the body.
    pub fn identity() -> Self {
        Self { centre: Vector::zeros(), impact: Vector::zeros(), rotation: Dim::identity(), scale: 1.0 }
    }

    /// Turns the pattern's normal to `normal`, by `spin` about it (rad, 3D only), moves its impact point to `impact` and scales it by the
    /// smallest factor that makes its box hold `bounds`, the body's box; all in the coordinates of the body's voxels.
    ///
    /// A pattern whose impact point lies on a side of its box cannot hold what lies beyond that side; such points belong to the nearest
    /// region.
    pub fn general(
        pattern: &Pattern<D>,
        impact: Vector<D>,
        normal: &Vector<D>,
        spin: f64,
        bounds: &Aabb<D>,
    ) -> Self {
        let mut rotation = Dim::rotation_between(&pattern.normal(), normal);
        if D == 3 {
            let length = normal.norm();
            if length > 0.0 {
                let about = Spin::<D>::from_slice(&[normal[0], normal[1], normal[D - 1]]) * (spin / length);
                rotation = Dim::compose(&Dim::exp(&about), &rotation);
            }
        }
        let centre = pattern.impact();
        let (below, above) = (centre - pattern.bounds().min, pattern.bounds().max - centre);
        let smallest = 1e-9 * pattern.bounds().extent().max();
        let mut scale = 0.0f64;
        for corner in 0..1usize << D {
            let point =
                Vector::from_fn(|a, _| if corner >> a & 1 == 1 { bounds.max[a] } else { bounds.min[a] });
            let away = Dim::rotate_back(&rotation, &(point - impact));
            for a in 0..D {
                let room = if away[a] > 0.0 { above[a] } else { below[a] };
                if room > smallest {
                    scale = scale.max(away[a].abs() / room);
                }
            }
        }
        if !(scale.is_finite() && scale > 0.0) {
            scale = 1.0;
        }
        Self { centre, impact, rotation, scale }
    }

    /// The pattern not turned, with one spacing of its samples to one of `lattice`, so that sample falls on sample and its impact point within half a
    /// spacing of `impact` on each axis. `None` for a pattern without samples.
    pub fn aligned(pattern: &Pattern<D>, impact: Vector<D>, lattice: &Lattice<D>) -> Option<Self> {
        let spacing = pattern.spacing()?;
        let centre = pattern.nearest_sample(&pattern.impact())?;
        // The pattern's impact point lies off its nearest sample by as much as the body's does off its own: both count.
        let off = (pattern.impact() - centre) / spacing;
        let local = lattice.local(&impact);
        let impact = lattice.position(std::array::from_fn(|a| (local[a] - off[a]).round() as isize));
        let scale = lattice.spacing()[0] / spacing;
        Some(Self { centre, impact, rotation: Dim::identity(), scale })
    }

    /// A point of the body in the coordinates of the pattern.
    #[inline]
    pub fn to_pattern(&self, point: &Vector<D>) -> Vector<D> {
        Dim::rotate_back(&self.rotation, &(point - self.impact)) / self.scale + self.centre
    }

    /// A point of the pattern in the coordinates of the body.
    pub fn to_body(&self, point: &Vector<D>) -> Vector<D> {
        Dim::rotate(&self.rotation, &((point - self.centre) * self.scale)) + self.impact
    }

    /// Impact in the body (m); for an aligned pattern moved to a sample.
    pub fn impact(&self) -> Vector<D> {
        self.impact
    }

    /// The way in the pattern from one sample of the lattice to the next on axis 0.
    pub(super) fn row_step(&self, lattice: &Lattice<D>) -> Vector<D> {
        let mut step = Vector::zeros();
        step[0] = lattice.spacing()[0];
        Dim::rotate_back(&self.rotation, &step) / self.scale
    }
}
