//! The box that the fluid lives in: its grid, and what happens on its sides.

use serde::{Deserialize, Serialize};
use splashdown_geometry::Aabb;
use splashdown_geometry::grid::{Boundary, FaceFields, Field, Grid, Index, box_indices};
use splashdown_math::Vector;

/// What one side of the box, or a patch of it, does to the fluid (spec/fluid-base.md 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Side<const D: usize> {
    /// The fluid sticks to the wall, which moves with `velocity` (m/s): its normal part pushes, its tangential part drags.
    NoSlip {
        /// Velocity of the wall (m/s).
        velocity: Vector<D>,
    },
    /// The fluid slides along the wall; only the normal part of `velocity` (m/s) matters.
    Slip {
        /// Velocity of the wall (m/s).
        velocity: Vector<D>,
    },
    /// Fluid enters (or is drawn off) with the normal part of `velocity` (m/s); the tangential part is free. What enters carries the
    /// domain's ambient scalars.
    Inflow {
        /// Velocity of the entering fluid (m/s).
        velocity: Vector<D>,
    },
    /// Open to surroundings at this pressure (Pa), half a cell outside the side; flow in either direction.
    Outlet {
        /// Pressure of the surroundings (Pa).
        pressure: f64,
    },
    /// The opposite side is the continuation; both sides of the axis must be periodic.
    Periodic,
}

impl<const D: usize> Side<D> {
    /// A wall at rest to which the fluid sticks.
    pub fn wall() -> Self {
        Self::NoSlip { velocity: Vector::zeros() }
    }

    /// A wall at rest along which the fluid slides.
    pub fn slip() -> Self {
        Self::Slip { velocity: Vector::zeros() }
    }

    /// Open to surroundings at zero pressure.
    pub fn open() -> Self {
        Self::Outlet { pressure: 0.0 }
    }

    /// The velocity it prescribes on its own faces (m/s), if it does.
    pub fn prescribed(&self) -> Option<&Vector<D>> {
        match self {
            Self::NoSlip { velocity } | Self::Slip { velocity } | Self::Inflow { velocity } => Some(velocity),
            Self::Outlet { .. } | Self::Periodic => None,
        }
    }

    /// Is it a wall, through which no path leads?
    pub fn is_wall(&self) -> bool {
        matches!(self, Self::NoSlip { .. } | Self::Slip { .. })
    }
}

/// A part of one side with its own condition: the faces whose centre lies in `region`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Patch<const D: usize> {
    /// Axis to which the side is normal.
    pub axis: usize,
    /// The side at the upper end of the axis, rather than the lower?
    pub upper: bool,
    /// Which part (m); its extent along `axis` does not matter.
    pub region: Aabb<D>,
    /// What happens there; not periodic.
    pub condition: Side<D>,
}

/// Why a domain was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DomainError {
    /// One side of an axis is periodic and the other is not.
    #[error("one side of axis {axis} is periodic and the other is not; a periodic axis has both")]
    HalfPeriodic {
        /// Axis, from 0.
        axis: usize,
    },
    /// A patch on a periodic side, of a periodic condition, or on an axis that does not exist.
    #[error("patch {patch}: {reason}")]
    Patch {
        /// Number of the patch, from 0.
        patch: usize,
        /// What is wrong.
        reason: &'static str,
    },
    /// A velocity or pressure that is not finite.
    #[error("side {upper} of axis {axis}: a velocity or pressure is not finite", upper = if *.upper { "upper" } else { "lower" })]
    NotFinite {
        /// Axis, from 0.
        axis: usize,
        /// Which side.
        upper: bool,
    },
    /// More patches than can be numbered.
    #[error("{0} patches; at most 254")]
    TooManyPatches(usize),
}

/// A uniform grid with a condition on every side.
#[derive(Debug, Clone, PartialEq)]
pub struct Domain<const D: usize> {
    grid: Grid<D>,
    sides: [[Side<D>; 2]; D],
    patches: Vec<Patch<D>>,
    /// For each axis and side: number of the patch plus 1 of each cell along the side, 0 for none; empty without patches there.
    tables: [[Vec<u8>; 2]; D],
}

impl<const D: usize> Domain<D> {
    /// A domain whose sides (`sides[axis]` = lower, upper) have one condition each.
    pub fn new(grid: Grid<D>, sides: [[Side<D>; 2]; D]) -> Result<Self, DomainError> {
        Self::with_patches(grid, sides, Vec::new())
    }

    /// A domain with patches; where patches overlap, the later one counts.
    pub fn with_patches(
        grid: Grid<D>,
        sides: [[Side<D>; 2]; D],
        patches: Vec<Patch<D>>,
    ) -> Result<Self, DomainError> {
        let finite = |side: &Side<D>| match side {
            Side::Outlet { pressure } => pressure.is_finite(),
            other => other.prescribed().is_none_or(|v| v.iter().all(|x| x.is_finite())),
        };
        for axis in 0..D {
            let periodic = sides[axis].map(|side| side == Side::Periodic);
            if periodic[0] != periodic[1] {
                return Err(DomainError::HalfPeriodic { axis });
            }
            for (upper, side) in [false, true].into_iter().zip(&sides[axis]) {
                if !finite(side) {
                    return Err(DomainError::NotFinite { axis, upper });
                }
            }
        }
        if patches.len() > 254 {
            return Err(DomainError::TooManyPatches(patches.len()));
        }
        for (number, patch) in patches.iter().enumerate() {
            let reason = if patch.axis >= D {
                "there is no such axis"
            } else if sides[patch.axis][0] == Side::Periodic || patch.condition == Side::Periodic {
                "patches and periodic sides exclude each other"
            } else if !finite(&patch.condition) {
                "a velocity or pressure is not finite"
            } else {
                continue;
            };
            return Err(DomainError::Patch { patch: number, reason });
        }
        let mut domain = Self { grid, sides, patches, tables: std::array::from_fn(|_| Default::default()) };
        domain.number_patches();
        Ok(domain)
    }

    fn number_patches(&mut self) {
        let grid = self.grid;
        for (number, patch) in self.patches.iter().enumerate() {
            let (axis, cells) = (patch.axis, grid.cells());
            let table = &mut self.tables[axis][usize::from(patch.upper)];
            table.resize(cells.iter().product::<usize>() / cells[axis], 0);
            for (place, entry) in table.iter_mut().enumerate() {
                let (mut rest, mut index) = (place, [0isize; D]);
                for a in (0..D).filter(|&a| a != axis) {
                    index[a] = (rest % cells[a]) as isize;
                    rest /= cells[a];
                }
                let centre = grid.cell_centre(index);
                let inside = |a: usize| patch.region.min[a] <= centre[a] && centre[a] <= patch.region.max[a];
                if (0..D).filter(|&a| a != axis).all(inside) {
                    *entry = number as u8 + 1;
                }
            }
        }
    }

    /// Its grid.
    pub fn grid(&self) -> &Grid<D> {
        &self.grid
    }

    /// Conditions of the sides, lower and upper for each axis.
    pub fn sides(&self) -> &[[Side<D>; 2]; D] {
        &self.sides
    }

    /// Patches with their own conditions.
    pub fn patches(&self) -> &[Patch<D>] {
        &self.patches
    }

    /// From `centre` to `x` (m), the short way around on periodic axes.
    #[inline]
    pub fn arm(&self, centre: &Vector<D>, x: &Vector<D>) -> Vector<D> {
        let mut arm = x - centre;
        for axis in (0..D).filter(|&axis| self.sides[axis][0] == Side::Periodic) {
            let length = self.grid.bounds().extent()[axis];
            arm[axis] -= length * (arm[axis] / length).round();
        }
        arm
    }

    /// The same point (m) in the box, on periodic axes.
    #[inline]
    pub fn wrap(&self, x: &Vector<D>) -> Vector<D> {
        let bounds = self.grid.bounds();
        let mut wrapped = *x;
        for a in (0..D).filter(|&a| self.sides[a][0] == Side::Periodic) {
            let length = bounds.max[a] - bounds.min[a];
            wrapped[a] = bounds.min[a] + (x[a] - bounds.min[a]).rem_euclid(length);
        }
        wrapped
    }

    /// Which axes are periodic.
    pub fn periodic(&self) -> [bool; D] {
        std::array::from_fn(|axis| self.sides[axis][0] == Side::Periodic)
    }

    /// Does any part of the boundary let fluid out freely?
    pub fn has_outlet(&self) -> bool {
        self.has_side(|side| matches!(side, Side::Outlet { .. }))
    }

    /// Does an outlet have another pressure than zero?
    pub fn has_pressing_outlet(&self) -> bool {
        self.has_side(|side| matches!(side, Side::Outlet { pressure } if *pressure != 0.0))
    }

    fn has_side(&self, is: impl Fn(&Side<D>) -> bool) -> bool {
        self.sides.iter().flatten().any(&is) || self.patches.iter().any(|patch| is(&patch.condition))
    }

    /// The condition of the side of `axis` (`side` 0 lower, 1 upper) next to `cell`; indices beyond the side count as its last cell.
    #[inline]
    pub fn condition(&self, axis: usize, side: usize, cell: Index<D>) -> &Side<D> {
        let table = &self.tables[axis][side];
        if table.is_empty() {
            return &self.sides[axis][side];
        }
        let (mut place, mut stride) = (0, 1);
        for a in (0..D).filter(|&a| a != axis) {
            let cells = self.grid.cells()[a];
            place += stride * cell[a].clamp(0, cells as isize - 1) as usize;
            stride *= cells;
        }
        match table[place] {
            0 => &self.sides[axis][side],
            number => &self.patches[usize::from(number) - 1].condition,
        }
    }

    /// Fills the ghosts of a velocity: walls mirror (no-slip about the wall's velocity), open sides continue, periodic sides wrap. On a periodic
    /// axis the last plane of faces first becomes a copy of the first.
    pub fn fill_velocity_ghosts(&self, velocity: &mut FaceFields<D>) {
        for axis in 0..D {
            self.fill_component_ghosts(axis, velocity.component_mut(axis));
        }
    }

    /// [`Self::fill_velocity_ghosts`] for the faces normal to `normal`.
    pub fn fill_component_ghosts(&self, normal: usize, component: &mut Field<D>) {
        if self.sides[normal][0] == Side::Periodic {
            let lattice = *component.lattice();
            let last = lattice.counts()[normal] as isize - 1;
            let stride = lattice.strides()[normal];
            let values = component.values_mut();
            // All samples of the last plane, ghosts of the other axes included (they are filled below).
            for index in lattice.indices().filter(|index| index[normal] == 0) {
                let first = lattice.offset(index);
                values[first + last as usize * stride] = values[first];
            }
        }
        component.fill_ghosts_by(|axis, side, line| match self.condition(axis, side, line) {
            Side::Periodic => Boundary::Periodic,
            _ if axis == normal => Boundary::Extrapolate,
            Side::NoSlip { velocity } => Boundary::ReflectAbout(velocity[normal]),
            Side::Slip { .. } | Side::Inflow { .. } => Boundary::Reflect,
            Side::Outlet { .. } => Boundary::Extrapolate,
        });
    }

    /// Fills the ghosts of a quantity at cells: inflow and outlets bring `ambient`, walls have no gradient.
    pub fn fill_scalar_ghosts(&self, field: &mut Field<D>, ambient: f64) {
        field.fill_ghosts_by(|axis, side, line| match self.condition(axis, side, line) {
            Side::Periodic => Boundary::Periodic,
            Side::NoSlip { .. } | Side::Slip { .. } => Boundary::Reflect,
            Side::Inflow { .. } | Side::Outlet { .. } => Boundary::Value(ambient),
        });
    }

    /// Fills the ghosts of a level set: constant continuation on all sides but periodic ones.
    pub fn fill_level_set_ghosts(&self, phi: &mut Field<D>) {
        phi.fill_ghosts_by(|axis, side, line| match self.condition(axis, side, line) {
            Side::Periodic => Boundary::Periodic,
            _ => Boundary::Extrapolate,
        });
    }

    /// Makes a level set end at an open side where `velocity` comes in: what is out there is air, not more of the liquid that touches the side.
    pub(crate) fn end_at_outlets(&self, phi: &mut Field<D>, velocity: &FaceFields<D>) {
        if !self.has_outlet() {
            return;
        }
        let lattice = *phi.lattice();
        for axis in 0..D {
            let (count, h) = (self.grid.cells()[axis] as isize, self.grid.spacing()[axis]);
            for side in 0..2 {
                let edge = if side == 0 { 0 } else { count - 1 };
                let (mut low, mut high) = ([0; D], self.grid.cells().map(|n| n as isize));
                (low[axis], high[axis]) = (edge, edge + 1);
                let outward = if side == 0 { -1 } else { 1 };
                for cell in box_indices(low, high) {
                    let mut face = cell;
                    face[axis] += side as isize;
                    let inward = velocity.component(axis).at(face) * (outward as f64) < 0.0;
                    if inward && matches!(self.condition(axis, side, cell), Side::Outlet { .. }) {
                        for layer in 1..=lattice.ghost() as isize {
                            let mut ghost = cell;
                            ghost[axis] += outward * layer;
                            phi.set(ghost, phi.at(ghost).max((layer as f64 - 0.5) * h));
                        }
                        // The surface is then at the side itself, as far as the liquid is concerned that touches it.
                        for depth in 0..count.min(6) {
                            let mut inside = cell;
                            inside[axis] -= outward * depth;
                            phi.set(inside, phi.at(inside).max(-(depth as f64 + 0.5) * h));
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid<2> {
        Grid::new(Vector::zeros(), Vector::repeat(0.1), [10, 8]).unwrap()
    }

    #[test]
    fn contradictions_are_refused() {
        let half = [[Side::Periodic, Side::wall()], [Side::wall(), Side::wall()]];
        assert_eq!(Domain::new(grid(), half), Err(DomainError::HalfPeriodic { axis: 0 }));
        let walls = [[Side::wall(); 2]; 2];
        let region = Aabb::everything();
        let patch = |axis, condition| Patch { axis, upper: true, region, condition };
        for bad in
            [patch(5, Side::wall()), patch(0, Side::Periodic), patch(1, Side::Outlet { pressure: f64::NAN })]
        {
            let error = Domain::with_patches(grid(), walls, vec![bad]).unwrap_err();
            assert!(matches!(error, DomainError::Patch { patch: 0, .. }), "{error}");
        }
        let nan = Side::Inflow { velocity: Vector::from([f64::NAN, 0.0]) };
        let sides = [[Side::wall(), nan], [Side::wall(); 2]];
        assert_eq!(Domain::new(grid(), sides), Err(DomainError::NotFinite { axis: 0, upper: true }));
    }

    #[test]
    fn a_patch_replaces_the_condition_of_its_faces_only() {
        let inflow = Side::Inflow { velocity: Vector::from([2.0, 0.0]) };
        let region = Aabb { min: Vector::from([-1.0, 0.2]), max: Vector::from([9.0, 0.5]) };
        let patch = Patch { axis: 0, upper: false, region, condition: inflow };
        let domain = Domain::with_patches(grid(), [[Side::wall(); 2]; 2], vec![patch]).unwrap();
        for j in 0..8 {
            let expected = if (2..5).contains(&j) { inflow } else { Side::wall() };
            assert_eq!(*domain.condition(0, 0, [0, j]), expected, "{j}");
            assert_eq!(*domain.condition(0, 1, [9, j]), Side::wall());
        }
        assert_eq!(*domain.condition(0, 0, [0, -3]), Side::wall());
    }

    #[test]
    fn ghosts_make_the_wall_velocity_hold_half_way() {
        let lid = Side::NoSlip { velocity: Vector::from([1.0, 0.0]) };
        let domain = Domain::new(grid(), [[Side::wall(); 2], [Side::slip(), lid]]).unwrap();
        let mut velocity = FaceFields::new(&grid(), 0.25);
        domain.fill_velocity_ghosts(&mut velocity);
        let u = velocity.component(0);
        assert_eq!(u.at([4, 8]), 1.75);
        assert_eq!(u.at([4, -1]), 0.25);
        assert_eq!(velocity.component(1).at([-1, 4]), -0.25);
    }

    #[test]
    fn the_last_periodic_face_is_the_first() {
        let domain = Domain::new(grid(), [[Side::Periodic; 2], [Side::wall(); 2]]).unwrap();
        let mut velocity = FaceFields::new(&grid(), 0.0);
        velocity.component_mut(0).update(|i, _| (i[0] + 100 * i[1]) as f64);
        domain.fill_velocity_ghosts(&mut velocity);
        let u = velocity.component(0);
        assert_eq!(u.at([10, 3]), u.at([0, 3]));
        assert_eq!(u.at([-1, 3]), u.at([9, 3]));
        assert_eq!(u.at([12, 3]), u.at([2, 3]));
    }
}
