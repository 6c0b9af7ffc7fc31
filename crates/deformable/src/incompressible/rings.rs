//! Volumes of one-rings: every simplex gives an equal part of its volume to each of its corners (spec/incompressible-solids.md 3.2).

use super::null_modes::{Mode, null_modes};
use crate::force::read;
use splashdown_math::Vector;
use splashdown_parallel::prelude::*;
use splashdown_solve::{CsrMatrix, SolveError};

/// Most corners of a simplex.
const MOST: usize = 4;
/// Rings that one task sums up.
const TOGETHER: usize = 512;
/// An area below this part of its rest area has no direction; such triangles of a shell are left out.
const FLAT: f64 = 1e-12;

/// Triangles in the plane, tetrahedra, or triangles of a shell in space, with the volumes (areas) of the rings around their nodes.
#[derive(Debug, Clone)]
pub struct Rings<const D: usize> {
    corners: usize,
    /// Corners of all simplices, as places among `nodes`.
    simplices: Vec<u32>,
    /// Particles with a ring, ascending.
    nodes: Vec<u32>,
    /// Simplices around each node with the corner that it is: `corners * simplex + corner`.
    starts: Vec<usize>,
    around: Vec<u32>,
    /// Nodes of the simplices around each node, each once, and of every corner of those simplices, in the order of `around`, its place among these.
    neighbour_starts: Vec<usize>,
    neighbours: Vec<u32>,
    slots: Vec<u32>,
    /// Of each node and neighbour: where the neighbour has the node.
    reverse: Vec<u32>,
    /// What the pressure of the ring of each node does to each of its neighbours at the last update, and what theirs do to it.
    pushes: Vec<[f64; D]>,
    pulls: Vec<[f64; D]>,
    rest: Vec<f64>,
    null_modes: Vec<Mode>,
    /// Rest volumes of the simplices (m^D).
    rest_simplices: Vec<f64>,
    /// `dV_t / dx` of each corner of each simplex at the last update.
    gradients: Vec<Vector<D>>,
    volumes: Vec<f64>,
}

impl<const D: usize> Rings<D> {
    /// Rings of `simplices` (`corners` particles each: three or four), at rest at `position`; `None` for a kind of simplex that has no volume here.
    #[inline(never)]
    pub fn new(corners: usize, simplices: &[u32], position: &[f64]) -> Option<Self> {
        if !matches!((D, corners), (2, 3) | (3, 4) | (3, 3)) || !simplices.len().is_multiple_of(corners) {
            return None;
        }
        let mut nodes = simplices.to_vec();
        nodes.sort_unstable();
        nodes.dedup();
        let local: Vec<u32> =
            simplices.iter().map(|node| nodes.partition_point(|other| other < node) as u32).collect();
        let mut starts = vec![0; nodes.len() + 1];
        for &node in &local {
            starts[node as usize + 1] += 1;
        }
        for node in 0..nodes.len() {
            starts[node + 1] += starts[node];
        }
        let (mut around, mut next) = (vec![0; local.len()], starts.clone());
        for (place, &node) in local.iter().enumerate() {
            around[next[node as usize]] = place as u32;
            next[node as usize] += 1;
        }
        let count = local.len() / corners;
        let null_modes = null_modes(corners, &local, nodes.len());
        let [mut neighbours, mut slots] = [Vec::new(), Vec::new()];
        let mut neighbour_starts = vec![0];
        for node in 0..nodes.len() {
            let first = neighbours.len();
            for &place in &around[starts[node]..starts[node + 1]] {
                let simplex = place as usize / corners;
                for other in &local[corners * simplex..corners * (simplex + 1)] {
                    let found = neighbours[first..].iter().position(|known| known == other);
                    slots.push(found.unwrap_or(neighbours.len() - first) as u32);
                    if found.is_none() {
                        neighbours.push(*other);
                    }
                }
            }
            neighbour_starts.push(neighbours.len());
        }
        let mut places: Vec<(u32, u32, u32)> = Vec::with_capacity(neighbours.len());
        for node in 0..nodes.len() {
            let own = neighbour_starts[node]..neighbour_starts[node + 1];
            places.extend(own.map(|place| (neighbours[place], node as u32, place as u32)));
        }
        // Neighbours of each other: sorted by (node, neighbour) and by (neighbour, node) the places pair up.
        let mut turned: Vec<(u32, u32, u32)> = places.iter().map(|&(a, b, place)| (b, a, place)).collect();
        places.sort_unstable();
        turned.sort_unstable();
        let mut reverse = vec![0; neighbours.len()];
        places.iter().zip(&turned).for_each(|(there, here)| reverse[here.2 as usize] = there.2);
        let blank = vec![[0.0; D]; neighbours.len()];
        let mut rings = Self {
            reverse,
            pushes: blank.clone(),
            pulls: blank,
            corners,
            null_modes,
            simplices: local,
            nodes,
            starts,
            around,
            neighbour_starts,
            neighbours,
            slots,
            rest: Vec::new(),
            rest_simplices: vec![0.0; count],
            gradients: vec![Vector::zeros(); corners * count],
            volumes: vec![0.0; count],
        };
        rings.update(position);
        rings.rest_simplices = rings.volumes.clone();
        rings.rest = rings.ring_volumes();
        Some(rings)
    }

    /// Number of rings.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The particle of each ring.
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// Volumes of the rings at rest (m^3; m^2 in the plane and for shells).
    pub fn rest(&self) -> &[f64] {
        &self.rest
    }

    /// Number of independent pressures that push nothing at any position, as structured meshes have them.
    pub fn null_modes(&self) -> usize {
        self.null_modes.len()
    }

    /// Takes away the part of ring pressures, or of rates, that is along pressures that push nothing.
    pub fn remove_null_modes(&self, values: &mut [f64]) {
        for mode in &self.null_modes {
            let along: f64 = mode.iter().map(|&(node, weight)| weight * values[node as usize]).sum();
            mode.iter().for_each(|&(node, weight)| values[node as usize] -= along * weight);
        }
    }

    /// Takes new positions (m): signed volumes and their gradients, polynomials for all but shells, so that flat and inverted simplices need no care.
    pub fn update(&mut self, position: &[f64]) {
        let Self { corners, simplices, nodes, gradients, volumes, rest_simplices, .. } = self;
        let corners = *corners;
        let parts = gradients.par_chunks_mut(corners).zip(volumes.par_iter_mut()).zip(&*rest_simplices);
        parts.enumerate().with_min_len(512).for_each(|(simplex, ((gradient, volume), rest))| {
            let mut x = [Vector::<D>::zeros(); MOST];
            for (x, &node) in x.iter_mut().zip(&simplices[corners * simplex..corners * (simplex + 1)]) {
                *x = read::<D>(position, nodes[node as usize]);
            }
            *volume = measure(&x, corners, FLAT * rest, gradient);
        });
        self.sum_pushes();
    }

    /// What every simplex around a ring does to each of its particles, added up: iterations read it twice and no simplex.
    fn sum_pushes(&mut self) {
        let (mut pushes, mut pulls) = (std::mem::take(&mut self.pushes), std::mem::take(&mut self.pulls));
        let mut rows = Vec::with_capacity(self.len().div_ceil(TOGETHER));
        let mut rest = &mut pushes[..];
        for first in (0..self.len()).step_by(TOGETHER) {
            let last = (first + TOGETHER).min(self.len());
            let (own, after) = rest.split_at_mut(self.neighbour_starts[last] - self.neighbour_starts[first]);
            rows.push(own);
            rest = after;
        }
        let share = 1.0 / self.corners as f64;
        rows.into_par_iter().enumerate().for_each(|(chunk, pushes)| {
            pushes.fill([0.0; D]);
            let first = TOGETHER * chunk;
            for node in first..(first + TOGETHER).min(self.len()) {
                let own = &mut pushes[self.neighbour_starts[node] - self.neighbour_starts[first]..];
                let (from, to) = (self.starts[node], self.starts[node + 1]);
                let slots = self.slots[self.corners * from..self.corners * to].chunks_exact(self.corners);
                for (&place, slots) in self.around[from..to].iter().zip(slots) {
                    let corner = place as usize / self.corners * self.corners;
                    for (gradient, &slot) in self.gradients[corner..corner + self.corners].iter().zip(slots) {
                        for axis in 0..D {
                            own[slot as usize][axis] += gradient[axis] * share;
                        }
                    }
                }
            }
        });
        pulls
            .par_iter_mut()
            .zip(&self.reverse)
            .with_min_len(4096)
            .for_each(|(pull, &place)| *pull = pushes[place as usize]);
        (self.pushes, self.pulls) = (pushes, pulls);
    }

    /// Volumes of the rings at the last update.
    pub fn ring_volumes(&self) -> Vec<f64> {
        let share = 1.0 / self.corners as f64;
        let of = |node: usize| -> f64 {
            let simplices = &self.around[self.starts[node]..self.starts[node + 1]];
            simplices.iter().map(|&place| self.volumes[place as usize / self.corners]).sum::<f64>() * share
        };
        (0..self.len()).into_par_iter().with_min_len(512).map(of).collect()
    }

    /// Volume of everything at the last update (m^D), and at rest.
    pub fn total(&self) -> (f64, f64) {
        (self.volumes.iter().sum(), self.rest_simplices.iter().sum())
    }

    /// `out = dV/dt` of the rings at the last update for the given velocities: minus `G^T v`.
    pub fn apply(&self, velocity: &[f64], out: &mut [f64]) {
        let own: Vec<[f64; D]> = self.nodes.iter().map(|&node| read::<D>(velocity, node).into()).collect();
        out[..self.len()].par_iter_mut().enumerate().with_min_len(1024).for_each(|(node, out)| {
            let row = self.neighbour_starts[node]..self.neighbour_starts[node + 1];
            let mut sums = [0.0; D];
            for (push, &other) in self.pushes[row.clone()].iter().zip(&self.neighbours[row]) {
                let v = &own[other as usize];
                for axis in 0..D {
                    sums[axis] += push[axis] * v[axis];
                }
            }
            *out = sums.iter().sum();
        });
    }

    /// Mean of ring pressures over the corners of each simplex.
    pub fn means(&self, pressure: &[f64]) -> Vec<f64> {
        let share = 1.0 / self.corners as f64;
        let mut means = vec![0.0; self.volumes.len()];
        let parts = self.simplices.par_chunks(self.corners).zip(means.par_iter_mut());
        parts.with_min_len(512).for_each(|(corners, mean)| {
            let mut sum = 0.0;
            for &node in corners {
                sum += pressure[node as usize];
            }
            *mean = sum * share;
        });
        means
    }

    /// Adds the transpose, `-G p`: the push of ring pressures on the particles.
    pub fn add_transpose(&self, pressure: &[f64], impulse: &mut [f64]) {
        let mut sums = vec![[0.0; D]; self.len()];
        sums.par_iter_mut().enumerate().with_min_len(1024).for_each(|(node, sum)| {
            let row = self.neighbour_starts[node]..self.neighbour_starts[node + 1];
            for (pull, &other) in self.pulls[row.clone()].iter().zip(&self.neighbours[row]) {
                let p = pressure[other as usize];
                for axis in 0..D {
                    sum[axis] += pull[axis] * p;
                }
            }
        });
        for (&particle, sum) in self.nodes.iter().zip(&sums) {
            for axis in 0..D {
                impulse[D * particle as usize + axis] += sum[axis];
            }
        }
    }

    /// The rates as a matrix `R` at the last update: a row for each ring, `D` columns for each of `particles`.
    ///
    /// # Errors
    /// A ring around a particle that is not among them.
    pub fn matrix(&self, particles: usize) -> Result<CsrMatrix, SolveError> {
        let rows = (0..self.len()).map(|node| {
            let mut entries: Vec<(usize, f64)> = Vec::new();
            for (other, push) in self.pushes(node) {
                let particle = self.nodes[other as usize] as usize;
                entries.extend((0..D).map(|axis| (D * particle + axis, push[axis])));
            }
            entries
        });
        CsrMatrix::from_rows(D * particles, rows)
    }

    /// What the pressure of one ring does to each node of the simplices around it.
    fn pushes(&self, node: usize) -> impl Iterator<Item = (u32, &[f64; D])> {
        let row = self.neighbour_starts[node]..self.neighbour_starts[node + 1];
        self.neighbours[row.clone()].iter().copied().zip(&self.pushes[row])
    }

    /// Diagonal of `R W R^T` with the inverse masses `W` of all particles.
    pub fn diagonal(&self, inverse_mass: &[f64]) -> Vec<f64> {
        let square = |(other, push): (u32, &[f64; D])| {
            let inverse = inverse_mass[self.nodes[other as usize] as usize];
            inverse * push.iter().map(|push| push * push).sum::<f64>()
        };
        let of = |node: usize| -> f64 { self.pushes(node).map(square).sum() };
        (0..self.len()).into_par_iter().with_min_len(512).map(of).collect()
    }
}

/// Signed volume (area) of a simplex and its derivative by the corners.
fn measure<const D: usize>(x: &[Vector<D>; MOST], corners: usize, flat: f64, out: &mut [Vector<D>]) -> f64 {
    let cross = |a: &Vector<D>, b: &Vector<D>| {
        let mut c = Vector::<D>::zeros();
        if D == 3 {
            (c[0], c[1], c[2]) =
                (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]);
        }
        c
    };
    let (e, f) = (x[1] - x[0], x[2] - x[0]);
    match (D, corners) {
        (2, _) => {
            for k in 0..3 {
                let opposite = x[(k + 2) % 3] - x[(k + 1) % 3];
                out[k][0] = -0.5 * opposite[1];
                out[k][1] = 0.5 * opposite[0];
            }
            0.5 * (e[0] * f[1] - e[1] * f[0])
        }
        (_, 4) => {
            let g = x[3] - x[0];
            out[1] = cross(&f, &g) / 6.0;
            out[2] = cross(&g, &e) / 6.0;
            out[3] = cross(&e, &f) / 6.0;
            out[0] = -(out[1] + out[2] + out[3]);
            out[1].dot(&e)
        }
        _ => {
            let normal = cross(&e, &f);
            let length = normal.norm();
            if length <= 2.0 * flat || length == 0.0 {
                out.fill(Vector::zeros());
                return 0.5 * length;
            }
            for k in 0..3 {
                out[k] = cross(&(normal / length), &(x[(k + 2) % 3] - x[(k + 1) % 3])) * 0.5;
            }
            0.5 * length
        }
    }
}
