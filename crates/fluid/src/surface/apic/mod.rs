//! Particles that carry the liquid's momentum in a band below its surface, and tell where the surface is: the affine particle-in-cell method
//! (C. Jiang, C. Schroeder, A. Selle, J. Teran, A. Stomakhin, "The affine particle-in-cell method", 2015) in a narrow band (F. Ferstl, R. Ando, C. Wojtan,
//! R. Westermann, N. Thuerey, "Narrow band FLIP for liquid simulations", 2016). An alternative to the particle level set: livelier splashes, no diffusion of
//! the velocity near the surface.
//!
//! The velocity and the affine part of a particle are those of the grid where the particle is at the start of the step, so a particle is a position: nothing
//! has to be invented for new ones, whatever happened to the velocity since (solids, viscosity) is in it, and a checkpoint is small. What FLIP adds is the part of a
//! particle's velocity that the grid could not hold, which is kept if it is wanted ([`ApicOptions::flip`]).

use super::Removed;
use super::level_set::BAND;
use super::markers::{Random, clamped};
use super::removed::Flying;
use crate::advect::{PathOrder, Sampler, Tracer};
use crate::domain::Domain;
use crate::model::ApicOptions;
use crate::pressure::{dense, sparse};
use crate::walls::Walls;
use serde::{Deserialize, Serialize};
use splashdown_geometry::grid::{FaceFields, Field, Grid, Index, Lattice, box_indices};
use splashdown_math::{Dim, Matrix, Space, Vector};
use splashdown_parallel::prelude::*;

/// Radius in cells within which particles make the surface smooth.
const SMOOTHING: f64 = 1.5;
/// Cells away from the carried surface within which particles are looked for.
const REACH: f64 = 4.0;
/// A particle further than this many cells outside of the liquid is a drop.
const LOOSE: f64 = 0.5;
/// Slabs of cells whose particles one task adds up.
const SLABS: usize = 8;

/// Distance in cells from a flat surface to the weighted mean of the particles that are everywhere below it: `R int r^D k / int r^(D-1) k`, times the mean of the
/// cosine over the half space, with the kernel `k = (1 - r^2)^3` of radius `R`.
const fn mean_depth(dimension: usize) -> f64 {
    SMOOTHING * if dimension == 2 { 0.25869 } else { 0.24609 }
}

/// The particles of one liquid, in the order of the cells they are in.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct ApicParticles<const D: usize> {
    /// Positions (m).
    pub position: Vec<Vector<D>>,
    /// What the grid does not know of their velocities (m/s); empty unless FLIP is mixed in.
    pub fluctuation: Vec<Vector<D>>,
}

/// Velocity and its gradient as a particle carries them.
#[derive(Debug, Clone, Copy)]
pub struct Affine<const D: usize> {
    /// Velocity at the particle (m/s).
    pub velocity: Vector<D>,
    /// `d u_a / d x_b` (1/s).
    pub gradient: Matrix<D>,
}

/// The corners around `x` on a lattice: the lowest one, and the fraction of the way to the upper ones.
#[inline(always)]
fn corner<const D: usize>(lattice: &Lattice<D>, x: &Vector<D>) -> (Index<D>, [f64; D]) {
    let local = lattice.local(x);
    let (mut low, mut fraction) = ([0; D], [0.0; D]);
    let ghost = lattice.ghost() as isize;
    for a in 0..D {
        let floor = local[a].floor();
        low[a] = (floor as isize).clamp(-ghost, lattice.counts()[a] as isize + ghost - 2);
        fraction[a] = (local[a] - low[a] as f64).clamp(0.0, 1.0);
    }
    (low, fraction)
}

/// Weight of one of the corners: bit `a` of `number` says upper on axis `a`.
#[inline(always)]
fn weight<const D: usize>(fraction: &[f64; D], number: usize) -> f64 {
    let mut weight = 1.0;
    for (a, f) in fraction.iter().enumerate() {
        weight *= if number >> a & 1 == 1 { *f } else { 1.0 - *f };
    }
    weight
}

/// Velocity and gradient of the multi-linear interpolation at `x` (m): `sum w u`, `sum u (grad w)^T`.
pub fn gather<const D: usize>(velocity: &FaceFields<D>, x: &Vector<D>) -> Affine<D> {
    let h = velocity.grid().spacing();
    let mut out = Affine { velocity: Vector::zeros(), gradient: Matrix::zeros() };
    for axis in 0..D {
        let component = velocity.component(axis);
        let lattice = component.lattice();
        let (low, fraction) = corner(lattice, x);
        let (place, strides) = (lattice.offset(low), lattice.strides());
        for number in 0..1usize << D {
            let mut at = place;
            for a in 0..D {
                at += (number >> a & 1) * strides[a];
            }
            let u = component.values()[at];
            out.velocity[axis] += weight(&fraction, number) * u;
            for b in 0..D {
                // The weight with its factor of axis b replaced by its slope.
                let mut slope = if number >> b & 1 == 1 { 1.0 } else { -1.0 } / h[b];
                for a in (0..D).filter(|&a| a != b) {
                    slope *= if number >> a & 1 == 1 { fraction[a] } else { 1.0 - fraction[a] };
                }
                out.gradient[(axis, b)] += slope * u;
            }
        }
    }
    out
}

/// Momentum and number of particles at faces.
pub struct Transfer<const D: usize> {
    /// `sum w`.
    pub mass: FaceFields<D>,
    /// `sum w (v + C (x_face - x))` (m/s), or the velocity once it is divided by the mass.
    pub velocity: FaceFields<D>,
}

impl<const D: usize> Transfer<D>
where
    Dim<D>: Space<D>,
{
    /// Nothing on `grid`.
    pub fn new(grid: &Grid<D>) -> Self {
        Self { mass: FaceFields::new(grid, 0.0), velocity: FaceFields::new(grid, 0.0) }
    }

    /// Adds up particles of unit mass, which must be ordered by cell.
    pub fn scatter(&mut self, domain: &Domain<D>, position: &[Vector<D>], carried: &[Affine<D>]) {
        let grid = *domain.grid();
        let slabs = grid.cells()[D - 1];
        let slab_of = |x: &Vector<D>| clamped(&grid, x)[D - 1] as usize;
        // First particle of each block of slabs.
        let blocks = slabs.div_ceil(SLABS);
        let starts: Vec<usize> =
            (0..=blocks).map(|block| position.partition_point(|x| slab_of(x) < block * SLABS)).collect();
        for axis in 0..D {
            let lattice = *self.mass.component(axis).lattice();
            let slab = lattice.strides()[D - 1];
            let (mass, momentum) = (self.mass.component_mut(axis), self.velocity.component_mut(axis));
            mass.values_mut().fill(0.0);
            momentum.values_mut().fill(0.0);
            // A block reaches one layer beyond itself on both sides, so every other block is on its own: first the even ones, then the odd ones.
            for parity in 0..2 {
                let first = (lattice.ghost() - 1 + parity * SLABS) * slab;
                if first >= mass.values().len() {
                    continue;
                }
                let masses = mass.values_mut()[first..].par_chunks_mut(2 * SLABS * slab);
                let momenta = momentum.values_mut()[first..].par_chunks_mut(2 * SLABS * slab);
                masses.zip(momenta).enumerate().for_each(|(number, (mass, momentum))| {
                    let block = 2 * number + parity;
                    if block >= blocks {
                        return;
                    }
                    let start = first + number * 2 * SLABS * slab;
                    for p in starts[block]..starts[block + 1] {
                        let (x, carried) = (&position[p], &carried[p]);
                        let (low, fraction) = corner(&lattice, x);
                        for corner in 0..1usize << D {
                            let mut face = low;
                            for (a, index) in face.iter_mut().enumerate() {
                                *index += (corner >> a & 1) as isize;
                            }
                            let place = lattice.offset(face) - start;
                            let arm = lattice.position(face) - x;
                            let mut u = carried.velocity[axis];
                            for b in 0..D {
                                u += carried.gradient[(axis, b)] * arm[b];
                            }
                            let w = weight(&fraction, corner);
                            mass[place] += w;
                            momentum[place] += w * u;
                        }
                    }
                });
            }
            fold_periodic(domain, axis, mass);
            fold_periodic(domain, axis, momentum);
        }
    }

    /// Makes velocities of the momenta; zero where there is no particle.
    pub fn divide(&mut self) {
        for axis in 0..D {
            let mass = self.mass.component(axis).values();
            let velocity = self.velocity.component_mut(axis).values_mut();
            velocity.par_iter_mut().zip(mass).with_min_len(4096).for_each(|(u, m)| {
                *u = if *m > 0.0 { *u / m } else { 0.0 };
            });
        }
    }
}

/// Adds what particles near a periodic side left beyond it, and on its two images, to where it belongs.
fn fold_periodic<const D: usize>(domain: &Domain<D>, normal: usize, field: &mut Field<D>) {
    let lattice = *field.lattice();
    for axis in (0..D).filter(|&axis| domain.periodic()[axis]) {
        let cells = domain.grid().cells()[axis] as isize;
        let (mut low, mut high) = ([-1; D], lattice.counts().map(|n| n as isize + 1));
        (low[axis], high[axis]) = (0, 1);
        // Pairs of images that are one sample; on planes the first and the last are, too.
        let pairs: &[[isize; 2]] = if axis == normal {
            &[[0, cells], [-1, cells - 1], [1, cells + 1]]
        } else {
            &[[-1, cells - 1], [0, cells]]
        };
        for line in box_indices(low, high) {
            for pair in pairs {
                let [a, b] = pair.map(|i| {
                    let mut index = line;
                    index[axis] = i;
                    index
                });
                if lattice.stores(a) && lattice.stores(b) {
                    let sum = field.at(a) + field.at(b);
                    field.set(a, sum);
                    field.set(b, sum);
                }
            }
        }
    }
}

impl<const D: usize> ApicParticles<D>
where
    Dim<D>: Space<D>,
{
    /// How many there are.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Do all particles have what they need?
    pub fn is_consistent(&self) -> bool {
        self.fluctuation.is_empty() || self.fluctuation.len() == self.position.len()
    }

    fn retain(&mut self, keep: &[bool]) {
        for list in [&mut self.position, &mut self.fluctuation] {
            let mut place = 0..keep.len();
            list.retain(|_| place.next().is_some_and(|p| keep[p]));
        }
    }

    /// Moves all with the flow for `dt` seconds and gives their momentum to `transfer`, which has velocities afterwards. Particles that leave the domain are dropped.
    pub fn carry(
        &mut self,
        domain: &Domain<D>,
        walls: &Walls<D>,
        flow: &FaceFields<D>,
        dt: f64,
        options: &ApicOptions,
        transfer: &mut Transfer<D>,
    ) {
        let tracer = Tracer::new(domain, flow, PathOrder::Second);
        let (grid, bounds) = (*domain.grid(), domain.grid().bounds());
        let solid = |x: &Vector<D>| walls.any_obstacle() && walls.is_solid(clamped(&grid, x));
        let mixes = options.flip > 0.0;
        self.fluctuation.resize(if mixes { self.len() } else { 0 }, Vector::zeros());
        let fluctuation = &self.fluctuation;
        let moved: Vec<(Vector<D>, Affine<D>, bool)> = (0..self.len())
            .into_par_iter()
            .with_min_len(512)
            .map(|p| {
                let x = self.position[p];
                let mut carried = gather(flow, &x);
                if mixes {
                    carried.velocity += fluctuation[p] * options.flip;
                }
                let to = tracer.follow(&x, dt).point;
                // Stopped at a solid.
                let to = if bounds.contains(&to) && solid(&to) { x } else { to };
                (to, carried, bounds.contains(&to))
            })
            .collect();
        let counts = grid.cells();
        let mut order: Vec<(u32, u32)> = (0..moved.len() as u32)
            .filter(|&p| moved[p as usize].2)
            .map(|p| (dense(counts, clamped(&grid, &moved[p as usize].0)) as u32, p))
            .collect();
        order.par_sort_unstable_by(|a, b| a.cmp(b));
        self.position = order.iter().map(|&(_, p)| moved[p as usize].0).collect();
        let carried: Vec<Affine<D>> = order.iter().map(|&(_, p)| moved[p as usize].1).collect();
        transfer.scatter(domain, &self.position, &carried);
        transfer.divide();
        if mixes {
            let velocity = &transfer.velocity;
            self.fluctuation = self
                .position
                .par_iter()
                .zip(&carried)
                .with_min_len(512)
                .map(|(x, carried)| carried.velocity - gather(velocity, x).velocity)
                .collect();
        }
    }

    /// Makes `phi` the surface that the particles tell, around the inner part of the liquid that `phi` says was carried there (ghosts are not filled).
    pub fn surface(&self, phi: &mut Field<D>) {
        let grid = *phi.grid();
        let h = grid.spacing().max();
        let (counts, reach) = (grid.cells(), SMOOTHING * h);
        // First particle of each cell.
        let mut starts = vec![0u32; grid.cell_count() + 1];
        for x in &self.position {
            starts[dense(counts, clamped(&grid, x)) + 1] += 1;
        }
        for cell in 1..starts.len() {
            starts[cell] += starts[cell - 1];
        }
        let lattice = *phi.lattice();
        let far = BAND * h;
        phi.update(|cell, carried| {
            // What is deep in the liquid needs no particle; and the particles of the band cannot be near what is far from it.
            let inner = carried + h;
            if inner < -h || carried > REACH * h {
                return inner.min(far);
            }
            let centre = lattice.position(cell);
            let (mut sum, mut mean) = (0.0, Vector::zeros());
            let low: Index<D> = std::array::from_fn(|a| (cell[a] - 1).max(0));
            let high: Index<D> = std::array::from_fn(|a| (cell[a] + 2).min(counts[a] as isize));
            for other in box_indices(low, high) {
                let number = dense(counts, other);
                for x in &self.position[starts[number] as usize..starts[number + 1] as usize] {
                    let arm = x - centre;
                    let s = 1.0 - arm.norm_squared() / (reach * reach);
                    if s > 0.0 {
                        let k = s * s * s;
                        sum += k;
                        mean += arm * k;
                    }
                }
            }
            let told = if sum > 0.0 { mean.norm() / sum - mean_depth(D) * h } else { far };
            told.min(inner)
        });
    }

    /// Turns particles that have left the liquid into drops, and drops that are back into particles.
    #[allow(clippy::too_many_arguments)]
    pub fn exchange(
        &mut self,
        removed: &mut Removed<D>,
        domain: &Domain<D>,
        walls: &Walls<D>,
        flow: &FaceFields<D>,
        phi: &Field<D>,
        options: &ApicOptions,
        gravity: &Vector<D>,
        dt: f64,
    ) {
        let [wet, _] = removed.advance(domain, walls, flow, phi, gravity, dt);
        let sampler = Sampler::new(phi);
        let far = LOOSE * phi.grid().min_spacing();
        let stays: Vec<bool> =
            self.position.par_iter().with_min_len(1024).map(|x| sampler.value(x) <= far).collect();
        if stays.contains(&false) {
            let share = phi.grid().cell_volume() / options.wanted::<D>() as f64;
            let ball = <Dim<D> as Space<D>>::BALL_VOLUME;
            let radius = if D == 2 { (share / ball).sqrt() } else { (share / ball).cbrt() };
            for p in (0..self.len()).filter(|&p| !stays[p]) {
                let position = self.position[p];
                let own = self.fluctuation.get(p).map_or(Vector::zeros(), |own| own * options.flip);
                let velocity = gather(flow, &position).velocity + own;
                removed.drops.push(Flying { position, velocity, radius });
            }
            self.retain(&stays);
        }
        for drop in wet {
            self.position.push(drop.position);
            if options.flip > 0.0 {
                self.fluctuation.push(drop.velocity - gather(flow, &drop.position).velocity);
            }
        }
    }

    /// Removes particles below the band and what is in excess in a cell, and adds what is missing below the surface. Random numbers come from `seed`.
    pub fn reseed(
        &mut self,
        domain: &Domain<D>,
        walls: &Walls<D>,
        phi: &Field<D>,
        options: &ApicOptions,
        seed: u64,
    ) {
        let grid = *domain.grid();
        let (counts, h) = (grid.cells(), grid.spacing().max());
        let wanted = options.wanted::<D>();
        let depth = -options.band * h;
        let mut count = vec![0u16; grid.cell_count()];
        let keep: Vec<bool> = self
            .position
            .iter()
            .map(|x| {
                let cell = clamped(&grid, x);
                let count = &mut count[dense(counts, cell)];
                let fits = phi.at(cell) > depth && usize::from(*count) < 2 * wanted;
                *count += u16::from(fits);
                fits
            })
            .collect();
        if keep.contains(&false) {
            self.retain(&keep);
        }
        // The uppermost layer has what it has: new particles there would be new liquid.
        let missing = |cell: Index<D>, number: usize| {
            let value = phi.at(cell);
            let below = value > depth && value < -h && !walls.is_solid(cell);
            if below && 2 * usize::from(count[number]) < wanted {
                wanted - usize::from(count[number])
            } else {
                0
            }
        };
        self.add(domain, phi, missing, seed, |_| true);
    }

    /// Fills the cells where `region` holds and that are in the liquid as the band asks for.
    pub fn fill(
        &mut self,
        domain: &Domain<D>,
        walls: &Walls<D>,
        phi: &Field<D>,
        options: &ApicOptions,
        seed: u64,
        region: impl Fn(&Vector<D>) -> bool + Sync,
    ) {
        let grid = *domain.grid();
        let (counts, h) = (grid.cells(), grid.spacing().max());
        let wanted = options.wanted::<D>();
        let mut count = vec![0u16; grid.cell_count()];
        for x in &self.position {
            let count = &mut count[dense(counts, clamped(&grid, x))];
            *count = count.saturating_add(1);
        }
        let reach = 0.5 * grid.spacing().norm();
        let missing = |cell: Index<D>, number: usize| {
            let value = phi.at(cell);
            let near = value > -options.band * h && value < reach && !walls.is_solid(cell);
            if near { wanted.saturating_sub(usize::from(count[number])) } else { 0 }
        };
        self.add(domain, phi, missing, seed, region);
    }

    /// Adds `missing(cell, its number)` particles at random places of each cell, as far as they are in the liquid and in `region`.
    fn add(
        &mut self,
        domain: &Domain<D>,
        phi: &Field<D>,
        missing: impl Fn(Index<D>, usize) -> usize + Sync,
        seed: u64,
        region: impl Fn(&Vector<D>) -> bool + Sync,
    ) {
        let grid = *domain.grid();
        let sampler = Sampler::new(phi);
        let new: Vec<Vec<Vector<D>>> = (0..grid.cell_count())
            .into_par_iter()
            .with_min_len(1024)
            .map(|number| {
                let cell = sparse(grid.cells(), number);
                let missing = missing(cell, number);
                if missing == 0 {
                    return Vec::new();
                }
                let mut random = Random::new(seed, number as u64);
                let corner = grid.cell_centre(cell) - grid.spacing() * 0.5;
                // One in each part of the cell in turn, so that they spread evenly.
                let first = (random.next() * (1 << D) as f64) as usize;
                let place = |part: usize| {
                    Vector::from_fn(|a, _| {
                        let half = 0.5 * ((part >> a & 1) as f64 + random.next());
                        corner[a] + half * grid.spacing()[a]
                    })
                };
                let places = (0..missing).map(|k| (first + k) % (1 << D)).map(place);
                places.filter(|x| sampler.value(x) < 0.0 && region(x)).collect()
            })
            .collect();
        let mixes = !self.fluctuation.is_empty();
        self.position.extend(new.into_iter().flatten());
        if mixes {
            self.fluctuation.resize(self.len(), Vector::zeros());
        }
    }

    /// Takes out the particles where `region` holds.
    pub fn clear(&mut self, region: impl Fn(&Vector<D>) -> bool + Sync) {
        let keep: Vec<bool> = self.position.par_iter().with_min_len(1024).map(|x| !region(x)).collect();
        if keep.contains(&false) {
            self.retain(&keep);
        }
    }
}

#[cfg(test)]
mod tests;
