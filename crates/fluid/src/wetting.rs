//! How liquids meet solids: the angle of their surface there, whether they may leave them, and how these hold them back (spec/fluid-base.md 3.13).

use crate::cells::{CellKind, Cells};
use crate::domain::{Domain, Side};
use crate::walls::Walls;
use serde::{Deserialize, Serialize};
use splashdown_geometry::grid::{FaceFields, Field, Index, Lattice, box_indices};
use splashdown_math::{Dim, Space, Vector};

/// How the free surfaces of liquids meet walls and obstacles.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wetting {
    /// Angle (rad, 0 to pi) between a free surface and a solid, measured through the liquid, that surface tension strives for; `None` leaves the angle as it is.
    pub contact_angle: Option<f64>,
    /// May a liquid leave a solid where it would otherwise have to be held by suction? If not, it only slides along.
    pub separation: bool,
    /// Coefficient of Coulomb friction along the domain's sides on which liquids slide: the pressure there times this is the largest drag on an area.
    pub friction: f64,
}

/// Relative speeds (in cells a step) below this are rounding, not flow away from a wall.
const PULL: f64 = 1e-6;

/// Most times that walls are looked at in a step; what is not settled then stays as it is.
pub(crate) const MOST_REVISIONS: usize = 12;

/// A wall face: axis, face, the cell of the liquid, the cell that is solid, and the direction along the axis away from the solid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WallFace<const D: usize> {
    pub axis: usize,
    pub face: Index<D>,
    pub wet: Index<D>,
    pub solid: Index<D>,
    pub away: f64,
}

/// The closed faces between cells of `kind` and walls of the domain or obstacles (the first `obstacles` owners), not those of sources, shells and solids that others move.
pub(crate) fn wall_faces<const D: usize>(
    domain: &Domain<D>,
    walls: &Walls<D>,
    cells: &Cells<D>,
    kind: CellKind,
    obstacles: usize,
) -> Vec<WallFace<D>>
where
    Dim<D>: Space<D>,
{
    let mut faces = Vec::new();
    for axis in 0..D {
        let last = domain.grid().cells()[axis] as isize;
        let lattice = *walls.velocity().component(axis).lattice();
        for face in lattice.indices() {
            let mut below = face;
            below[axis] -= 1;
            let (wet, solid, away) = match [cells.at(below), cells.at(face)] {
                [fluid, CellKind::Solid] if fluid == kind => (below, face, -1.0),
                [CellKind::Solid, fluid] if fluid == kind => (face, below, 1.0),
                _ => continue,
            };
            if !walls.is_closed(axis, face) {
                continue;
            }
            let side = usize::from(face[axis] == last);
            let counts = match walls.owner(axis, face) {
                Some(owner) => owner < obstacles,
                None => {
                    (face[axis] == 0 || face[axis] == last) && domain.condition(axis, side, wet).is_wall()
                }
            };
            if counts {
                faces.push(WallFace { axis, face, wet, solid, away });
            }
        }
    }
    faces
}

/// How a wall treats the liquid at one of its faces, during one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    /// It holds it as long as it need not pull.
    Closed,
    /// It has let it go.
    Released,
    /// It has had to take it back, and keeps it for the rest of the step.
    Kept,
}

/// Liquid that leaves a wall slower than this part of what leaves walls fastest stays there: where it falls freely along a wall nothing but rounding pulls it off.
const SLOW: f64 = 0.02;

/// Lets liquid go where a wall would have to pull it by more than `adhesion` (Pa), what surface tension can hold, and takes back what would enter a wall. Returns whether anything changed.
pub(crate) fn revise<const D: usize>(
    faces: &[WallFace<D>],
    holds: &mut [Hold],
    walls: &Walls<D>,
    velocity: &FaceFields<D>,
    pressure: &Field<D>,
    adhesion: f64,
) -> bool
where
    Dim<D>: Space<D>,
{
    let strongest = faces.iter().map(|face| pressure.at(face.wet).abs()).fold(0.0, f64::max);
    let leaves = |face: &WallFace<D>| {
        let wall = walls.velocity().component(face.axis).at(face.face);
        face.away * (velocity.component(face.axis).at(face.face) - wall)
    };
    let released = faces.iter().zip(&*holds).filter(|(_, hold)| **hold == Hold::Released);
    let fastest = released.map(|(face, _)| leaves(face)).fold(0.0, f64::max);
    let mut changed = false;
    for (face, hold) in faces.iter().zip(holds) {
        let next = match *hold {
            Hold::Closed if pressure.at(face.wet) < -adhesion - 1e-9 * strongest => Hold::Released,
            Hold::Released if !(leaves(face) >= SLOW * fastest) => Hold::Kept,
            same => same,
        };
        changed |= next != *hold;
        *hold = next;
    }
    changed
}

/// Depth (cells) to which a surface that leaves a wall is followed.
const DEPTH: isize = 6;

/// Cells into a solid that stencils look.
const REACH: isize = 3;

/// Is there a value, be it a ghost's?
fn is_stored<const D: usize>(lattice: &Lattice<D>, index: Index<D>) -> bool {
    let ghost = lattice.ghost() as isize;
    (0..D).all(|a| index[a] >= -ghost && index[a] < lattice.counts()[a] as isize + ghost)
}

/// A place where liquid is drawn off an obstacle, and where its surface is then: distance (m) of the wet cell's centre, negative.
pub(crate) struct Gap<const D: usize> {
    pub face: WallFace<D>,
    pub phi: f64,
}

/// The faces of obstacles and sides that liquid (`phi < 0`) is being drawn off with the velocity that carries it.
pub(crate) fn gaps<const D: usize>(
    domain: &Domain<D>,
    walls: &Walls<D>,
    obstacles: usize,
    velocity: &FaceFields<D>,
    phi: &Field<D>,
    dt: f64,
) -> Vec<Gap<D>>
where
    Dim<D>: Space<D>,
{
    let cells = crate::cells::classify(domain, walls, Some(phi));
    let h = domain.grid().spacing();
    let pulled = |face: &WallFace<D>| {
        let u = velocity.component(face.axis).at(face.face);
        let wall = walls.velocity().component(face.axis).at(face.face);
        face.away * (u - wall) > PULL * h[face.axis] / dt
    };
    // Also where the liquid has left: what comes from the wall is air there.
    let faces = [CellKind::Fluid, CellKind::Air]
        .into_iter()
        .flat_map(|kind| wall_faces(domain, walls, &cells, kind, obstacles))
        .filter(pulled);
    faces.map(|face| Gap { face, phi: 0.0 }).collect()
}

/// Makes a level set end at the walls that its liquid is drawn off: the solid is air as far as stencils reach, and the surface no further from it than the wall.
pub(crate) fn end_at_gaps<const D: usize>(gaps: &[Gap<D>], phi: &mut Field<D>) {
    let (lattice, h) = (*phi.lattice(), phi.grid().spacing());
    let stored = |index| is_stored(&lattice, index);
    for Gap { face, .. } in gaps {
        let (axis, outward) = (face.axis, -face.away as isize);
        for layer in 0..DEPTH {
            let (mut beyond, mut inside) = (face.solid, face.wet);
            beyond[axis] += outward * layer;
            inside[axis] -= outward * layer;
            let distance = (layer as f64 + 0.5) * h[axis];
            if layer < REACH && stored(beyond) {
                // The surface may have left the wall already.
                phi.set(beyond, phi.at(face.wet).max(-0.5 * h[axis]) + (layer as f64 + 1.0) * h[axis]);
            }
            if lattice.contains(inside) && phi.at(inside) < 0.0 {
                phi.set(inside, phi.at(inside).max(-distance));
            }
        }
    }
}

/// Notes how far the surfaces have come from their walls.
pub(crate) fn measure_gaps<const D: usize>(gaps: &mut [Gap<D>], phi: &Field<D>) {
    for gap in gaps {
        gap.phi = phi.at(gap.face.wet);
    }
}

/// Puts the surfaces back that lie between a wall and the next centre, where signed distances are not told by any change of sign; the wall is air to what looks at it.
pub(crate) fn keep_gaps<const D: usize>(gaps: &[Gap<D>], phi: &mut Field<D>) {
    let h = phi.grid().spacing();
    let lattice = *phi.lattice();
    for Gap { face, phi: nearest } in gaps {
        for layer in 0..REACH {
            let mut beyond = face.solid;
            beyond[face.axis] -= face.away as isize * layer;
            if is_stored(&lattice, beyond) {
                phi.set(beyond, nearest + (layer as f64 + 1.0) * h[face.axis]);
            }
        }
        for layer in 0..DEPTH {
            let mut inside = face.wet;
            inside[face.axis] += face.away as isize * layer;
            if !lattice.contains(inside) || phi.at(inside) >= 0.0 {
                break;
            }
            phi.set(inside, phi.at(inside).max(nearest - layer as f64 * h[face.axis]));
        }
    }
}

/// Sets `phi` in solid cells and beyond walls so that its surface meets them at `angle` (rad). `depth(number, x)` is the distance (m) of `x` to obstacle or guest `number`,
/// negative inside.
pub(crate) fn impose_contact_angle<const D: usize>(
    domain: &Domain<D>,
    walls: &Walls<D>,
    angle: f64,
    depth: impl Fn(usize, &Vector<D>) -> f64,
    phi: &mut Field<D>,
) where
    Dim<D>: Space<D>,
{
    let grid = *domain.grid();
    let last: Index<D> = grid.cells().map(|n| n as isize);
    if walls.any_obstacle() {
        let lattice = *phi.lattice();
        let mut set: Vec<(Index<D>, f64)> = Vec::new();
        for cell in lattice.indices().filter(|&cell| walls.is_solid(cell)) {
            let low = std::array::from_fn(|a| (cell[a] - 1).max(0));
            let high = std::array::from_fn(|a| (cell[a] + 2).min(last[a]));
            if box_indices(low, high).all(|around| walls.is_solid(around)) {
                continue;
            }
            let number = usize::from(walls.solid().at(cell)) - 1;
            let own = depth(number, &grid.cell_centre(cell));
            // The neighbours across the fewest axes tell it, those that share a face before those at an edge.
            let mut told: [(f64, f64); D] = [(0.0, 0.0); D];
            for around in box_indices(low, high).filter(|&around| !walls.is_solid(around)) {
                let apart = (0..D).filter(|&a| around[a] != cell[a]).count();
                let x = grid.cell_centre(around);
                let outward = outward(|x| depth(number, x), &x, &grid.spacing());
                let way = depth(number, &x) - own;
                told[apart - 1].0 += phi.at(around) - way * slope_at(phi, around, &outward, angle);
                told[apart - 1].1 += 1.0;
            }
            if let Some((sum, count)) = told.into_iter().find(|(_, count)| *count > 0.0) {
                set.push((cell, sum / count));
            }
        }
        for (cell, value) in set {
            phi.set(cell, value);
        }
        domain.fill_level_set_ghosts(phi);
    }
    for axis in 0..D {
        for side in 0..2 {
            let (mut low, mut high) = ([0; D], last);
            (low[axis], high[axis]) = if side == 0 { (0, 1) } else { (last[axis] - 1, last[axis]) };
            let away = if side == 0 { 1 } else { -1 };
            let mut outward = Vector::zeros();
            outward[axis] = away as f64;
            for cell in box_indices(low, high).filter(|&cell| !walls.is_solid(cell)) {
                if !domain.condition(axis, side, cell).is_wall() {
                    continue;
                }
                let mut beyond = cell;
                beyond[axis] -= away;
                phi.set(beyond, phi.at(cell) - grid.spacing()[axis] * slope_at(phi, cell, &outward, angle));
            }
        }
    }
}

/// Direction in which `distance` grows at `x`, by central differences over a cell; zero where it does not.
fn outward<const D: usize>(distance: impl Fn(&Vector<D>) -> f64, x: &Vector<D>, h: &Vector<D>) -> Vector<D> {
    let gradient: Vector<D> = Vector::from_fn(|a, _| {
        let mut step = Vector::zeros();
        step[a] = 0.5 * h[a];
        (distance(&(x + step)) - distance(&(x - step))) / h[a]
    });
    gradient.try_normalize(1e-9).unwrap_or_else(Vector::zeros)
}

/// Slope of `phi` out of a solid at `cell` next to it for which the normal of its level surfaces makes `angle` with `outward`: that across times the cotangent. What `phi` grows along the solid
/// counts, and not what it would were it a distance, which it is to a tenth only: the angle would be off by degrees.
fn slope_at<const D: usize>(phi: &Field<D>, cell: Index<D>, outward: &Vector<D>, angle: f64) -> f64 {
    let h = phi.grid().spacing();
    let gradient: Vector<D> = Vector::from_fn(|a, _| {
        let (mut low, mut high) = (cell, cell);
        low[a] -= 1;
        high[a] += 1;
        (phi.at(high) - phi.at(low)) / (2.0 * h[a])
    });
    let along = (gradient - outward * gradient.dot(outward)).norm();
    let (sine, cosine) = angle.sin_cos();
    if along * cosine.abs() >= sine { cosine.signum() } else { along * cosine / sine }
}

/// A solid that liquid slides along, for [`add_friction`].
pub(crate) struct Rubbing<const D: usize> {
    /// Coefficient of friction.
    pub friction: f64,
    /// Velocity (m/s) of its point.
    pub velocity: Vector<D>,
}

/// Friction along wall faces during `dt` seconds: the pressure `p` (Pa) of the cell at the wall takes off speed relative to it, at most `friction p dt / (density h)`, and never more than there is.
/// `solid(face)` tells what the face rubs on, if it does.
pub(crate) fn add_friction<const D: usize>(
    faces: &[WallFace<D>],
    velocity: &mut FaceFields<D>,
    pressure: &Field<D>,
    density: impl Fn(Index<D>) -> f64,
    dt: f64,
    h: &Vector<D>,
    solid: impl Fn(&WallFace<D>) -> Option<Rubbing<D>>,
) where
    Dim<D>: Space<D>,
{
    // Each of the two cells of a face may take half of its slip at a wall; walls that meet in an edge take theirs one after the other. With the wall's axis and side, the part
    // that a cell takes, and the wall's velocity.
    type Place<const D: usize> = (usize, Index<D>, usize, bool);
    let mut changes: Vec<(Place<D>, f64, f64)> = Vec::new();
    for face in faces {
        let p = pressure.at(face.wet);
        let Some(rubbing) = solid(face).filter(|rubbing| p > 0.0 && rubbing.friction > 0.0) else { continue };
        let upper = |b: usize| {
            let mut upper = face.wet;
            upper[b] += 1;
            upper
        };
        let slip = |b: usize| {
            let u = velocity.component(b);
            0.5 * (u.at(face.wet) + u.at(upper(b))) - rubbing.velocity[b]
        };
        let speed = (0..D).filter(|&b| b != face.axis).map(|b| slip(b) * slip(b)).sum::<f64>().sqrt();
        if speed == 0.0 {
            continue;
        }
        let part = (rubbing.friction * p * dt / (density(face.wet) * h[face.axis] * speed)).min(1.0);
        for b in (0..D).filter(|&b| b != face.axis) {
            for of in [face.wet, upper(b)] {
                changes.push(((b, of, face.axis, face.away > 0.0), part, rubbing.velocity[b]));
            }
        }
    }
    changes.sort_by_key(|change| change.0);
    for of_wall in changes.chunk_by(|a, b| a.0 == b.0) {
        let (axis, face, ..) = of_wall[0].0;
        let component = velocity.component_mut(axis);
        let mut part = 0.0;
        let mut wall = 0.0;
        for (_, of_cell, speed) in of_wall {
            part += 0.5 * of_cell;
            wall += speed / of_wall.len() as f64;
        }
        let u = component.at(face);
        component.set(face, u - part.min(1.0) * (u - wall));
    }
}

impl<const D: usize> Domain<D> {
    /// Velocity (m/s) of the side next to `cell`, if that is a wall that fluid slides along.
    pub(crate) fn sliding_side(&self, axis: usize, upper: bool, cell: Index<D>) -> Option<Vector<D>> {
        match self.condition(axis, usize::from(upper), cell) {
            Side::Slip { velocity } => Some(*velocity),
            _ => None,
        }
    }
}
