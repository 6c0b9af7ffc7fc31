//! Mass properties counted in voxels: `S = h^3 sum (x - C)(x - C)^T + (V h^2 / 12) 1` about the centre `C` is exact for solids that voxels fill.
//! Without the second term a needle of one voxel's thickness would have no axial inertia; about the origin instead of `C` (as the formula is
//! printed in the source) a wall's inertia comes out four times too large.
//!
//! Source: exact formulas; spec/rigid-bodies.md A15.

use crate::{Case, CaseError, Measurements, Speed};
use splashdown_geometry::grid::{Field, Grid, Location};
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Matrix, Vector};
use splashdown_rigid::fracture::VoxelSums;

pub(super) const CASE: Case = Case {
    name: "rigid/voxel-inertia",
    spec: "A15",
    summary: "inertia from voxels: a box exactly, a ball to its resolution, a needle of one voxel with its axial moment",
    source: "exact: moments of box, ball and needle",
    speed: Speed::Fast,
    seconds: 0.3,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let wall = Shape::<3>::cuboid(Vector::from([0.75, 0.05, 0.5])).map_err(|e| CaseError::new("wall", e))?;
    // The corner of the grid lies far from the origin of the wall's own coordinates.
    let found = moments([154, 14, 104], 0.01, &wall)?;
    let exact = wall.moments(1).map_err(|e| CaseError::new("wall", e))?.second;
    out.at_most(
        "box, relative error of the inertia",
        "150x10x100",
        relative(&found, &exact),
        1e-12,
        "exact: m (b^2 + c^2) / 12",
    );

    let ball = Shape::<3>::ball(0.5).map_err(|e| CaseError::new("ball", e))?;
    let found = moments([59; 3], 1.0 / 55.0, &ball)?;
    let exact = ball.moments(1).map_err(|e| CaseError::new("ball", e))?.second;
    // Counting voxels errs by the square root of those on the surface, far below the surface's share of 3 %.
    out.at_most(
        "ball, relative error of the inertia",
        "55^3",
        relative(&found, &exact),
        1e-2,
        "exact: 2 m r^2 / 5",
    );

    let h = 0.02;
    let needle =
        Shape::<3>::cuboid(Vector::from([0.5, 0.5 * h, 0.5 * h])).map_err(|e| CaseError::new("needle", e))?;
    let grid = Grid::new(Vector::from([-0.6, -1.5 * h, -1.5 * h]), Vector::repeat(h), [60, 3, 3])
        .map_err(|e| CaseError::new("needle", e))?;
    let phi = Field::from_fn(&grid, Location::Cell, |x| needle.signed_distance(x));
    let m =
        VoxelSums::of(&phi).moments(phi.lattice()).ok_or_else(|| CaseError::new("needle", "no voxels"))?;
    let axial = (m.second[(1, 1)] + m.second[(2, 2)]) / m.volume;
    out.near(
        "needle, axial inertia over m h^2",
        "1x1 voxel",
        axial / (h * h),
        1.0 / 6.0,
        1e-12,
        "exact: 1/6",
    );
    Ok(())
}

fn moments(cells: [usize; 3], h: f64, shape: &Shape<3>) -> Result<Matrix<3>, CaseError> {
    let origin = Vector::from_fn(|a, _| -0.5 * h * cells[a] as f64);
    let grid = Grid::new(origin, Vector::repeat(h), cells).map_err(|e| CaseError::new("grid", e))?;
    let phi = Field::from_fn(&grid, Location::Cell, |x| shape.signed_distance(x));
    let moments = VoxelSums::of(&phi).moments(phi.lattice());
    Ok(moments.ok_or_else(|| CaseError::new("moments", "no voxels"))?.second)
}

fn relative(found: &Matrix<3>, exact: &Matrix<3>) -> f64 {
    (found - exact).norm() / exact.norm()
}
