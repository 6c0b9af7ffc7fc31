//! One level set: transport, signed distance, volume.

use super::periodic::Continued;
use crate::advect::advect_ending;
use crate::domain::{Domain, Side};
use crate::error::FluidError;
use crate::extend::extend_layers;
use crate::model::LevelSetTransport;
use crate::walls::Walls;
use crate::wetting::{Gap, end_at_gaps};
use splashdown_geometry::grid::{FaceFields, Field, Index, box_indices};
use splashdown_geometry::level_set::{
    FastMarching, negative_part, redistance, redistance_by_evolution, redistance_linked,
};
use splashdown_math::{Dim, Space};
use splashdown_parallel::prelude::*;

/// Cells around the surface within which `phi` is a distance; beyond it is plus or minus this many.
pub(crate) const BAND: f64 = 6.0;

/// Layers of cells inside solids into which a level set is continued with its slope.
const SLOPED: usize = 2;

/// Carries `phi` by `velocity` for `dt` seconds; ghosts of both must have been filled, those of the result are.
pub fn carry<const D: usize>(
    domain: &Domain<D>,
    velocity: &FaceFields<D>,
    phi: &mut Field<D>,
    work: &mut [Field<D>; 2],
    dt: f64,
    transport: LevelSetTransport,
) {
    carry_off_walls(domain, velocity, phi, work, dt, transport, &[]);
}

/// [`carry`] of a liquid that leaves walls at `gaps`.
pub(crate) fn carry_off_walls<const D: usize>(
    domain: &Domain<D>,
    velocity: &FaceFields<D>,
    phi: &mut Field<D>,
    work: &mut [Field<D>; 2],
    dt: f64,
    transport: LevelSetTransport,
    gaps: &[Gap<D>],
) {
    match transport {
        LevelSetTransport::Upwind(scheme) => {
            // Distances are measured anew from what is close to the surface; the stencils reach three cells.
            let within = 4.0 * domain.grid().spacing().max();
            let end = |phi: &mut Field<D>| end_at_gaps(gaps, phi);
            advect_ending(domain, velocity, phi, work, dt, scheme, within, &end);
        }
        LevelSetTransport::Paths(advection) => {
            end_at_gaps(gaps, phi);
            advection.level_set(domain, velocity, phi, work, dt);
        }
    }
}

/// Makes `phi` the signed distance (m) to its own zero set, within `BAND` cells. `open(index, axis)` tells whether a cell and its lower neighbour
/// see each other; `None` if all do. No cell changes side.
#[inline(never)]
pub fn reinitialise<const D: usize>(
    domain: &Domain<D>,
    phi: &mut Field<D>,
    open: Option<&(dyn Fn(Index<D>, usize) -> bool + Send + Sync)>,
) -> Result<(), FluidError> {
    let band = BAND * domain.grid().spacing().max();
    let options = FastMarching { band, keep_within: 0.1, ..Default::default() };
    let Some(continued) = Continued::new(domain)? else {
        match open {
            None => redistance(phi, &options)?,
            Some(open) => redistance_linked(phi, &options, open)?,
        };
        domain.fill_level_set_ghosts(phi);
        return Ok(());
    };
    let mut wide = continued.widen(phi);
    match open {
        None => redistance(&mut wide, &options)?,
        Some(open) => {
            redistance_linked(&mut wide, &options, |index, axis| open(continued.original(index), axis))?
        }
    };
    continued.narrow(&wide, phi);
    domain.fill_level_set_ghosts(phi);
    Ok(())
}

/// [`reinitialise`] by evolution ([`redistance_by_evolution`]) instead of fast marching; distances further than `BAND` cells are cut off.
pub fn evolve<const D: usize>(
    domain: &Domain<D>,
    phi: &mut Field<D>,
    iterations: usize,
) -> Result<(), FluidError> {
    let band = BAND * domain.grid().spacing().max();
    match Continued::new(domain)? {
        None => redistance_by_evolution(phi, iterations)?,
        Some(continued) => {
            let mut wide = continued.widen(phi);
            redistance_by_evolution(&mut wide, iterations)?;
            continued.narrow(&wide, phi);
        }
    }
    phi.update(|_, value| value.clamp(-band, band));
    domain.fill_level_set_ghosts(phi);
    Ok(())
}

/// Continues `phi` into solid cells so that a liquid touches a solid without a gap: with its slope in the two layers that stencils of surfaces near the solid read, so that still water
/// over a solid keeps its level, and constant beyond.
pub fn extend_into_solids<const D: usize>(domain: &Domain<D>, walls: &Walls<D>, phi: &mut Field<D>)
where
    Dim<D>: Space<D>,
{
    if !walls.any_obstacle() {
        return domain.fill_level_set_ghosts(phi);
    }
    let solid: Vec<Index<D>> = phi.lattice().indices().filter(|&cell| walls.is_solid(cell)).collect();
    let far = BAND * domain.grid().spacing().max();
    extend_layers(phi, &solid, 64, |_, _| true, |_| far);
    let (lattice, h) = (*phi.lattice(), domain.grid().spacing());
    let mut continued = Field::with_ghost(domain.grid(), phi.lattice().location(), 0, false);
    for _ in 0..SLOPED {
        let told = |cell: Index<D>| lattice.contains(cell) && (!walls.is_solid(cell) || continued.at(cell));
        let values: Vec<Option<f64>> = solid
            .par_iter()
            .with_min_len(256)
            .map(|&cell| {
                if continued.at(cell) {
                    return None;
                }
                let (mut sum, mut count) = (0.0, 0.0);
                for axis in 0..D {
                    for step in [-1, 1] {
                        let (mut near, mut next) = (cell, cell);
                        near[axis] += step;
                        next[axis] += 2 * step;
                        if told(near) {
                            // Away from the surface only, and not near a contact line, which stays where it is.
                            let slope = if told(next) { phi.at(near) - phi.at(next) } else { 0.0 };
                            let goes_away =
                                slope * phi.at(near) > 0.0 && !meets_surface(phi, near, axis, &told);
                            let away = if goes_away { slope } else { 0.0 };
                            sum += phi.at(near) + away.clamp(-h[axis], h[axis]);
                            count += 1.0;
                        }
                    }
                }
                (count > 0.0).then(|| sum / count)
            })
            .collect();
        for (&cell, value) in solid.iter().zip(&values) {
            if let Some(value) = value {
                phi.set(cell, *value);
                continued.set(cell, true);
            }
        }
    }
    domain.fill_level_set_ghosts(phi);
}

/// Is there a cell on the other side of the surface within two of `cell` across `axis`?
fn meets_surface<const D: usize>(
    phi: &Field<D>,
    cell: Index<D>,
    axis: usize,
    told: &impl Fn(Index<D>) -> bool,
) -> bool {
    let side = phi.at(cell) < 0.0;
    (0..D).filter(|&across| across != axis).any(|across| {
        [-2, -1, 1, 2].into_iter().any(|step| {
            let mut other = cell;
            other[across] += step;
            told(other) && (phi.at(other) < 0.0) != side
        })
    })
}

/// Volume (m^3; m^2 in 2D) where `phi < 0`, ghosts filled.
pub fn volume<const D: usize>(phi: &Field<D>) -> f64 {
    volume_where(phi, 0.0, |_| true)
}

/// Volume (m^3) of the part of `phi < offset` that is not in a solid.
pub fn volume_of<const D: usize>(phi: &Field<D>, walls: &Walls<D>, offset: f64) -> f64
where
    Dim<D>: Space<D>,
{
    volume_where(phi, offset, |cell| !walls.is_solid(cell))
}

/// Calls `visit(cells around, volume)` for every dual cell between centres that holds liquid, with the cells of the grid that are not solid and the volume (m^3)
/// in them: the terms of [`volume_of`].
pub(crate) fn for_each_wet<const D: usize>(
    phi: &Field<D>,
    walls: &Walls<D>,
    mut visit: impl FnMut(&[Index<D>], f64),
) where
    Dim<D>: Space<D>,
{
    let (lattice, volume) = (*phi.lattice(), phi.grid().cell_volume());
    let mut inside: Vec<Index<D>> = Vec::with_capacity(1 << D);
    for cell in box_indices([-1; D], lattice.counts().map(|n| n as isize)) {
        let mut corners = [0.0; 8];
        let mut wet = false;
        inside.clear();
        let mut mask = 0u8;
        for (corner, value) in corners.iter_mut().enumerate().take(1 << D) {
            let at: Index<D> = std::array::from_fn(|a| cell[a] + (corner >> a & 1) as isize);
            *value = phi.at(at);
            wet |= *value < 0.0;
            if lattice.contains(at) && !walls.is_solid(at) {
                inside.push(at);
                mask |= 1 << corner;
            }
        }
        if wet && !inside.is_empty() {
            let share = inside.len() as f64 / (1 << D) as f64;
            cut_at_walls::<D>(&mut corners, mask);
            visit(&inside, share * negative_part::<D>(&corners) * volume);
        }
    }
}

/// Walls pass through the middle of a dual cell whose corners do not all count (those of `mask` do): the values of the others become those at the wall.
fn cut_at_walls<const D: usize>(corners: &mut [f64; 8], mask: u8) {
    let all = (1u16 << (1 << D)) - 1;
    if u16::from(mask) == all {
        return;
    }
    let before = *corners;
    for corner in (0..1usize << D).filter(|corner| mask >> corner & 1 == 0) {
        // The nearest corners that count: across one axis, else across more.
        let distance = |other: usize| (other ^ corner).count_ones();
        let counted = || (0..1usize << D).filter(|other| mask >> other & 1 == 1);
        let Some(least) = counted().map(distance).min() else { return };
        let nearest = counted().filter(|&other| distance(other) == least);
        let (sum, count) = nearest.fold((0.0, 0.0), |(sum, count), other| (sum + before[other], count + 1.0));
        corners[corner] = 0.5 * (before[corner] + sum / count);
    }
}

/// Sums the parts with `phi < offset` of the dual cells between the centres, each by the share of its corner cells that count.
fn volume_where<const D: usize>(
    phi: &Field<D>,
    offset: f64,
    counts: impl Fn(Index<D>) -> bool + Sync + Send,
) -> f64 {
    let (lattice, cells) = (*phi.lattice(), phi.lattice().counts().map(|n| n as isize));
    let strides = lattice.strides();
    let steps: Vec<usize> =
        (0..1usize << D).map(|corner| (0..D).map(|a| (corner >> a & 1) * strides[a]).sum()).collect();
    let slab = |number: isize| {
        let (mut low, mut high) = ([-1; D], cells);
        (low[D - 1], high[D - 1]) = (number, number + 1);
        let mut sum = 0.0;
        for cell in box_indices(low, high) {
            let place = lattice.offset(cell);
            let mut corners = [0.0; 8];
            let mut wet = false;
            for (value, step) in corners.iter_mut().zip(&steps) {
                *value = phi.values()[place + step] - offset;
                wet |= *value < 0.0;
            }
            if !wet {
                continue;
            }
            let inside = (0..1usize << D).filter(|corner| {
                let at: Index<D> = std::array::from_fn(|a| cell[a] + (corner >> a & 1) as isize);
                lattice.contains(at) && counts(at)
            });
            let mask = inside.fold(0u8, |mask, corner| mask | 1 << corner);
            let share = f64::from(mask.count_ones()) / (1 << D) as f64;
            if share > 0.0 {
                cut_at_walls::<D>(&mut corners, mask);
                sum += share * negative_part::<D>(&corners);
            }
        }
        sum
    };
    let slabs: Vec<f64> = (-1..cells[D - 1]).into_par_iter().map(slab).collect();
    slabs.into_iter().sum::<f64>() * phi.grid().cell_volume()
}

/// Flux (m^3/s) of a liquid out of the domain through its open sides, less what flows in, from the velocity at the sides and the wet part of their faces.
pub(crate) fn outflow<const D: usize>(domain: &Domain<D>, velocity: &FaceFields<D>, phi: &Field<D>) -> f64 {
    let grid = domain.grid();
    let counts = grid.cells();
    let mut sum = 0.0;
    for axis in 0..D {
        for side in 0..2 {
            let edge = if side == 0 { 0 } else { counts[axis] as isize - 1 };
            let (mut low, mut high) = ([0; D], counts.map(|n| n as isize));
            (low[axis], high[axis]) = (edge, edge + 1);
            for cell in box_indices(low, high) {
                let mut face = cell;
                face[axis] += side as isize;
                let outward = if side == 0 { -1.0 } else { 1.0 };
                let flow = outward * velocity.component(axis).at(face);
                // Only air comes in through an open side.
                let counts = match domain.condition(axis, side, cell) {
                    Side::Outlet { .. } => flow > 0.0,
                    Side::Inflow { .. } => true,
                    _ => false,
                };
                if !counts {
                    continue;
                }
                let wet = (0.5 - phi.at(cell) / grid.spacing()[axis]).clamp(0.0, 1.0);
                sum += wet * flow * grid.face_area(axis);
            }
        }
    }
    sum
}

/// Moves the surface along its normal so that the volume becomes `target`, by at most a quarter of a cell. Returns the shift (m).
pub(crate) fn correct_volume<const D: usize>(
    domain: &Domain<D>,
    walls: &Walls<D>,
    phi: &mut Field<D>,
    target: f64,
) -> f64
where
    Dim<D>: Space<D>,
{
    let h = domain.grid().min_spacing();
    let most = 0.25 * h;
    let mut shift: f64 = 0.0;
    // Newton's method with the area of the surface, dV / d(shift), as slope; the second step makes up for its curvature.
    for _ in 0..2 {
        let now = volume_of(phi, walls, shift);
        if now <= 0.0 || target <= 0.0 || (now - target).abs() <= 1e-9 * target {
            break;
        }
        let probe = 0.1 * h;
        let area =
            (volume_of(phi, walls, shift + probe) - volume_of(phi, walls, shift - probe)) / (2.0 * probe);
        if area <= 0.0 {
            break;
        }
        shift = (shift + (target - now) / area).clamp(-most, most);
    }
    phi.values_mut().iter_mut().for_each(|value| *value -= shift);
    shift
}

impl crate::advect::Advection {
    /// Carries a level set along paths; ghosts as for the velocity.
    #[inline(never)]
    pub(crate) fn level_set<const D: usize>(
        &self,
        domain: &Domain<D>,
        by: &FaceFields<D>,
        phi: &mut Field<D>,
        work: &mut [Field<D>; 2],
        dt: f64,
    ) {
        self.carry_with(domain, by, phi, work, dt, |field| domain.fill_level_set_ghosts(field));
    }
}
