//! Marker particles of the particle level set (spec/fluid-base.md 3.10).

use super::removed::{Flying, Removed};
use crate::advect::{PathOrder, Sampler, Tracer};
use crate::domain::Domain;
use crate::model::ParticleOptions;
use crate::shell::{ShellStep, Sight};
use crate::walls::Walls;
use serde::{Deserialize, Serialize};
use splashdown_geometry::grid::{FaceFields, Field, Grid, Index, Interpolation, Reach};
use splashdown_math::{Dim, Space, Vector};
use splashdown_parallel::prelude::*;

/// Smallest and largest radius in spacings.
const RADII: [f64; 2] = [0.1, 0.5];
/// Attempts to bring a new particle to its distance from the surface.
const ATTRACTIONS: usize = 15;

/// The particles of one side of a surface.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct MarkerSet<const D: usize> {
    /// Positions (m).
    pub position: Vec<Vector<D>>,
    /// Radii (m): how far from the surface they were.
    pub radius: Vec<f32>,
}

/// The particles of one surface.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Markers<const D: usize> {
    /// In the liquid.
    pub inside: MarkerSet<D>,
    /// Outside of it.
    pub outside: MarkerSet<D>,
    /// Those that left the surface.
    pub removed: Removed<D>,
    /// Steps since the last reseeding.
    pub age: u64,
}

impl<const D: usize> MarkerSet<D> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    fn push(&mut self, position: Vector<D>, radius: f32) {
        self.position.push(position);
        self.radius.push(radius);
    }

    /// Keeps the particles for which `keep` holds, in their order.
    fn retain(&mut self, keep: &[bool]) {
        let mut write = 0;
        for read in 0..self.position.len() {
            if keep[read] {
                self.position[write] = self.position[read];
                self.radius[write] = self.radius[read];
                write += 1;
            }
        }
        self.position.truncate(write);
        self.radius.truncate(write);
    }
}

/// Sign of `phi` on the side of a set.
const SIDES: [f64; 2] = [-1.0, 1.0];

impl<const D: usize> Markers<D>
where
    Dim<D>: Space<D>,
{
    fn sets(&mut self) -> [(&mut MarkerSet<D>, f64); 2] {
        [(&mut self.inside, SIDES[0]), (&mut self.outside, SIDES[1])]
    }

    /// Moves all markers with the flow for `dt` seconds; those that leave the domain or meet a moving shell are dropped. `shells` is their motion and
    /// what is seen at the start and at the end of the step.
    pub fn advance(
        &mut self,
        domain: &Domain<D>,
        walls: &Walls<D>,
        velocity: &FaceFields<D>,
        dt: f64,
        shells: Option<(&ShellStep<D>, &Sight<D>, &Sight<D>)>,
    ) {
        let tracer = Tracer::new(domain, velocity, PathOrder::Second);
        let (grid, bounds) = (*domain.grid(), domain.grid().bounds());
        let any_solid = walls.any_obstacle();
        for (set, _) in self.sets() {
            let stays: Vec<bool> = set
                .position
                .par_iter_mut()
                .with_min_len(1024)
                .map(|x| {
                    if let Some((step, before, after)) = shells
                        && before.is_near(x)
                    {
                        let to = before.trace_back(velocity, x, -dt);
                        let free = !step.touches(after, x, &to);
                        *x = domain.wrap(&to);
                        return free && bounds.contains(x);
                    }
                    let to = tracer.follow(x, dt).point;
                    if any_solid && bounds.contains(&to) && walls.is_solid(clamped(&grid, &to)) {
                        // Stopped at the solid.
                        return bounds.contains(x);
                    }
                    *x = to;
                    bounds.contains(x)
                })
                .collect();
            if stays.contains(&false) {
                set.retain(&stays);
            }
        }
    }

    /// Rebuilds `phi` near escaped particles: each says where the surface must be outside of its own sphere (spec 3.10).
    #[inline(never)]
    pub fn correct(&self, phi: &mut Field<D>, escape: f64, sight: Option<&Sight<D>>) {
        let lattice = *phi.lattice();
        let mut claims: Vec<(u64, f64)> = Vec::new();
        for (set, sign) in [(&self.inside, SIDES[0]), (&self.outside, SIDES[1])] {
            let sampler = Sampler::new(phi);
            let escaped: Vec<u32> = (0..set.len() as u32)
                .into_par_iter()
                .with_min_len(1024)
                .filter(|&p| {
                    let radius = f64::from(set.radius[p as usize]);
                    let value = seen(phi, &sampler, sight, &set.position[p as usize]);
                    value.is_some_and(|value| sign * value < -escape * radius)
                })
                .collect();
            for p in escaped {
                let (x, radius) = (set.position[p as usize], f64::from(set.radius[p as usize]));
                let local = lattice.local(&x);
                let low: Index<D> = std::array::from_fn(|a| local[a].floor() as isize);
                for corner in 0..1usize << D {
                    let cell: Index<D> = std::array::from_fn(|a| low[a] + (corner >> a & 1) as isize);
                    let hidden = sight
                        .is_some_and(|sight| sight.is_near(&x) && !sight.sees(&x, &lattice.position(cell)));
                    if lattice.contains(cell) && !hidden {
                        let claim = sign * (radius - (lattice.position(cell) - x).norm());
                        // Place and side in one key; the value may have either sign.
                        claims.push(((lattice.offset(cell) as u64) << 1 | u64::from(sign > 0.0), claim));
                    }
                }
            }
        }
        claims.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let values = phi.values_mut();
        let mut next = 0;
        while next < claims.len() {
            let place = (claims[next].0 >> 1) as usize;
            let (mut inside, mut outside) = (values[place], values[place]);
            while next < claims.len() && (claims[next].0 >> 1) as usize == place {
                if claims[next].0 & 1 == 1 {
                    outside = outside.max(claims[next].1);
                } else {
                    inside = inside.min(claims[next].1);
                }
                next += 1;
            }
            values[place] = if inside.abs() <= outside.abs() { inside } else { outside };
        }
    }

    /// Sets the radii to the distance from the surface, within limits.
    pub fn measure_radii(&mut self, phi: &Field<D>, sight: Option<&Sight<D>>) {
        let h = phi.grid().min_spacing();
        let sampler = Sampler::new(phi);
        for (set, sign) in self.sets() {
            let MarkerSet { position, radius } = set;
            radius.par_iter_mut().zip(&*position).with_min_len(1024).for_each(|(radius, x)| {
                if let Some(value) = seen(phi, &sampler, sight, x) {
                    *radius = (sign * value).clamp(RADII[0] * h, RADII[1] * h) as f32;
                }
            });
        }
    }

    /// Takes out what is in excess or too far from the surface and adds what is missing; escaped particles stay. `seed` makes the random numbers.
    #[inline(never)]
    pub fn reseed(
        &mut self,
        domain: &Domain<D>,
        walls: &Walls<D>,
        phi: &Field<D>,
        options: &ParticleOptions,
        seed: u64,
        sight: Option<&Sight<D>>,
    ) {
        self.age = 0;
        let grid = *domain.grid();
        let h = grid.spacing().max();
        let band = options.band * h;
        let wanted = options.wanted::<D>();
        for (number, (set, sign)) in self.sets().into_iter().enumerate() {
            let counts = grid.cells();
            let cell_number = |x: &Vector<D>| crate::pressure::dense(counts, clamped(&grid, x));
            let sampler = Sampler::new(phi);
            // By cell, and within a cell by how close to the surface: the order in which particles are kept.
            let mut order: Vec<(u32, f32, u32, bool)> = (0..set.len() as u32)
                .into_par_iter()
                .with_min_len(1024)
                .map(|p| {
                    let (x, radius) = (&set.position[p as usize], f64::from(set.radius[p as usize]));
                    // What sees nothing is too close to a shell to be of use.
                    let distance = seen(phi, &sampler, sight, x).map_or(2.0 * band, |value| sign * value);
                    let escaped = distance < -options.escape * radius;
                    (
                        cell_number(x) as u32,
                        if escaped { f32::NEG_INFINITY } else { (distance - radius) as f32 },
                        p,
                        escaped || distance <= band,
                    )
                })
                .collect();
            order.par_sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
            let mut kept =
                MarkerSet { position: Vec::with_capacity(set.len()), radius: Vec::with_capacity(set.len()) };
            let mut count = vec![0u16; grid.cell_count()];
            for &(cell, rank, p, near) in &order {
                let escaped = rank == f32::NEG_INFINITY;
                if escaped || (near && usize::from(count[cell as usize]) < wanted) {
                    kept.push(set.position[p as usize], set.radius[p as usize]);
                    if !escaped {
                        count[cell as usize] += 1;
                    }
                }
            }
            let new: Vec<Vec<(Vector<D>, f32)>> = (0..grid.cell_count())
                .into_par_iter()
                .with_min_len(256)
                .map(|place| {
                    let cell = crate::pressure::sparse(counts, place);
                    let distance = sign * phi.at(cell);
                    let missing = wanted.saturating_sub(usize::from(count[place]));
                    if walls.is_solid(cell) || distance <= -h || distance > band || missing == 0 {
                        return Vec::new();
                    }
                    let mut random = Random::new(seed ^ (number as u64) << 62, place as u64);
                    (0..missing)
                        .filter_map(|_| attracted(domain, walls, phi, cell, sign, band, &mut random, sight))
                        .collect()
                })
                .collect();
            for (x, radius) in new.into_iter().flatten() {
                kept.push(x, radius);
            }
            *set = kept;
        }
    }

    /// Moves all markers by `shift` (m) along the outward normal of the surface, as the surface itself was.
    pub fn shift(&mut self, phi: &Field<D>, shift: f64) {
        let bounds = phi.grid().bounds();
        for (set, _) in self.sets() {
            set.position.par_iter_mut().with_min_len(1024).for_each(|x| {
                let (_, gradient) = phi.sample_with_gradient(x, Interpolation::Linear, Reach::Ghost);
                if let Some(normal) = gradient.try_normalize(1e-12) {
                    let to = *x + normal * shift;
                    *x = Vector::from_fn(|a, _| to[a].clamp(bounds.min[a], bounds.max[a]));
                }
            });
        }
    }

    /// Takes out the particles of one side (`inside` the liquid or outside of it) that lie where `region` holds: a source or sink has just put them on the wrong
    /// side, and they would carve their old side out of the new one.
    pub fn clear(&mut self, inside: bool, region: impl Fn(&Vector<D>) -> bool + Sync) {
        let set = if inside { &mut self.inside } else { &mut self.outside };
        let stays: Vec<bool> = set.position.par_iter().with_min_len(1024).map(|x| !region(x)).collect();
        if stays.contains(&false) {
            set.retain(&stays);
        }
        let flying = if inside { &mut self.removed.drops } else { &mut self.removed.bubbles };
        flying.retain(|particle| !region(&particle.position));
    }

    /// Lets particles that are far on the wrong side go their own way, and takes back those that came home.
    #[allow(clippy::too_many_arguments)]
    pub fn exchange_removed(
        &mut self,
        domain: &Domain<D>,
        walls: &Walls<D>,
        velocity: &FaceFields<D>,
        phi: &Field<D>,
        options: &ParticleOptions,
        gravity: &Vector<D>,
        dt: f64,
    ) {
        let h = phi.grid().min_spacing();
        // A drop holds the part of a cell that its particle stood for, not the sphere up to the surface, which it shared with many.
        let share =
            phi.grid().cell_volume() / (options.wanted::<D>() as f64 * <Dim<D> as Space<D>>::BALL_VOLUME);
        let largest = if D == 2 { share.sqrt() } else { share.cbrt() };
        let [wet, dry] = self.removed.advance(domain, walls, velocity, phi, gravity, dt);
        let sampler = Sampler::new(phi);
        let far = RADII[1] * h;
        let (mut drops, mut bubbles) = (Vec::new(), Vec::new());
        for (set, sign) in [(&mut self.inside, SIDES[0]), (&mut self.outside, SIDES[1])] {
            let stays: Vec<bool> =
                set.position.par_iter().with_min_len(1024).map(|x| sign * sampler.value(x) >= -far).collect();
            if !stays.contains(&false) {
                continue;
            }
            let gone = if sign < 0.0 { &mut drops } else { &mut bubbles };
            for p in (0..set.len()).filter(|&p| !stays[p]) {
                let position = set.position[p];
                let velocity = velocity.sample(&position, Interpolation::Linear, Reach::Ghost);
                gone.push(Flying { position, velocity, radius: f64::from(set.radius[p]).min(largest) });
            }
            set.retain(&stays);
        }
        self.removed.drops.extend(drops);
        self.removed.bubbles.extend(bubbles);
        for drop in wet {
            self.inside.push(drop.position, drop.radius as f32);
        }
        for bubble in dry {
            self.outside.push(bubble.position, bubble.radius as f32);
        }
    }
}

impl<const D: usize> Markers<D> {
    /// Does every particle have a position and a radius?
    pub fn is_consistent(&self) -> bool {
        [&self.inside, &self.outside].iter().all(|set| set.position.len() == set.radius.len())
    }
}

/// `phi` at `x` from what can be seen there.
#[inline]
fn seen<const D: usize>(
    phi: &Field<D>,
    sampler: &Sampler<D>,
    sight: Option<&Sight<D>>,
    x: &Vector<D>,
) -> Option<f64>
where
    Dim<D>: Space<D>,
{
    match sight {
        Some(sight) if sight.is_near(x) => sight.sample(phi, x),
        _ => Some(sampler.value(x)),
    }
}

/// The cell of a point in the closed box of the grid.
pub(super) fn clamped<const D: usize>(grid: &Grid<D>, x: &Vector<D>) -> Index<D> {
    let cell = grid.cell_of(x);
    std::array::from_fn(|a| cell[a].clamp(0, grid.cells()[a] as isize - 1))
}

/// A new particle in `cell`, moved to a random distance from the surface on its side; `None` if that fails.
#[allow(clippy::too_many_arguments)]
fn attracted<const D: usize>(
    domain: &Domain<D>,
    walls: &Walls<D>,
    phi: &Field<D>,
    cell: Index<D>,
    sign: f64,
    band: f64,
    random: &mut Random,
    sight: Option<&Sight<D>>,
) -> Option<(Vector<D>, f32)>
where
    Dim<D>: Space<D>,
{
    let grid = domain.grid();
    let h = grid.min_spacing();
    let corner = grid.cell_centre(cell) - grid.spacing() * 0.5;
    let mut x: Vector<D> = Vector::from_fn(|a, _| corner[a] + random.next() * grid.spacing()[a]);
    let (least, bounds) = (RADII[0] * h, grid.bounds());
    if let Some(sight) = sight.filter(|sight| sight.is_near(&x)) {
        // Near a shell it stays where it is, if that is on its side of the surface and on the cell's side of the shell.
        let reached = sign * sight.sample(phi, &x)?;
        let fits = (least..=band).contains(&reached) && sight.sees(&grid.cell_centre(cell), &x);
        return fits.then(|| (x, reached.clamp(least, RADII[1] * h) as f32));
    }
    let goal = sign * (least + random.next() * (band - least));
    let mut step = 1.0;
    for _ in 0..ATTRACTIONS {
        let (value, gradient) = phi.sample_with_gradient(&x, Interpolation::Linear, Reach::Ghost);
        let to = x + gradient.try_normalize(1e-12)? * (step * (goal - value));
        let inside = bounds.contains(&to) && !walls.is_solid(clamped(grid, &to));
        if !inside {
            step *= 0.5;
            continue;
        }
        let reached = sign * phi.sample(&to, Interpolation::Linear, Reach::Ghost);
        x = to;
        if (least..=band).contains(&reached) {
            return Some((x, reached.clamp(least, RADII[1] * h) as f32));
        }
        step *= 0.5;
    }
    None
}

/// Random numbers in [0, 1) that depend on the seed and the cell only (splitmix64; S. Vigna), so that seeding is the same for any number of threads.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64, cell: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ cell.wrapping_mul(0xbf58_476d_1ce4_e5b9))
    }

    pub(super) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) >> 11) as f64 / (1u64 << 53) as f64
    }
}
