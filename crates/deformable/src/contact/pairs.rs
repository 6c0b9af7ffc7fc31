//! The surface of bodies in contact and pairs of its parts.

use super::SelfContact;
use crate::force::read;
use splashdown_geometry::bounds::Aabb;
use splashdown_geometry::bvh::Bvh;
use splashdown_geometry::ccd::{CcdOptions, Motion, closest_weights, first_contact, proximity};
use splashdown_geometry::simplex::combine;
use splashdown_math::{Dim, Space, Vector};
use splashdown_parallel::prelude::*;
use std::ops::Range;

/// Faces (triangles in 3D, segments in 2D), edges (3D only) and points over particles.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ContactSurface<const D: usize> {
    pub(super) faces: Vec<[u32; D]>,
    pub(super) edges: Vec<[u32; 2]>,
    pub(super) points: Vec<u32>,
    /// Particles of two bodies that do not touch, in either order.
    pub(super) parted: Vec<[Range<u32>; 2]>,
}

/// The parts of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PairKind {
    /// A point (first node) and a face.
    PointFace,
    /// Two edges of two nodes each.
    EdgeEdge,
}

/// Two parts of a surface that are near each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair<const D: usize> {
    /// Its parts.
    pub kind: PairKind,
    /// Nodes of the first part, then of the second; a point and a segment in 2D leave the last unused (it repeats the third).
    pub nodes: [u32; 4],
    /// Direction from the second part to the first where they were known to be apart.
    pub side: Vector<D>,
}

/// The normal velocity of a pair at its closest points, as a row: `sum w_i n . v_i`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactRow<const D: usize> {
    /// Nodes of the pair.
    pub nodes: [u32; 4],
    /// Weights: plus for the first part, minus for the second; zero for a node that is not used.
    pub weights: [f64; 4],
    /// Unit normal, from the second part to the first.
    pub normal: Vector<D>,
}

impl<const D: usize> ContactRow<D> {
    /// The row applied to the velocities of all particles: how fast the two parts go apart (m/s).
    pub fn speed(&self, velocity: &[f64]) -> f64 {
        let along = |(&node, weight): (&u32, &f64)| -> f64 {
            weight * (0..D).map(|axis| velocity[D * node as usize + axis] * self.normal[axis]).sum::<f64>()
        };
        self.nodes.iter().zip(&self.weights).map(along).sum()
    }
}

/// Distance and direction of a pair.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gap<const D: usize> {
    pub distance: f64,
    /// Unit, from the second part to the first.
    pub normal: Vector<D>,
    /// Plus for the first part, minus for the second.
    pub weights: [f64; 4],
}

impl<const D: usize> ContactSurface<D> {
    /// From the faces of the bodies (boundary of solids, all triangles of cloth).
    pub fn new(faces: Vec<[u32; D]>) -> Self {
        let mut points: Vec<u32> = faces.iter().flatten().copied().collect();
        points.sort_unstable();
        points.dedup();
        let mut edges = Vec::new();
        if D == 3 {
            for face in &faces {
                for i in 0..D {
                    let (a, b) = (face[i], face[(i + 1) % D]);
                    edges.push([a.min(b), a.max(b)]);
                }
            }
            edges.sort_unstable();
            edges.dedup();
        }
        Self { faces, edges, points, parted: Vec::new() }
    }

    /// Lets the particles of each two ranges pass each other: layers, of which one is an obstacle of the other.
    #[must_use]
    pub fn parted(mut self, pairs: Vec<[Range<u32>; 2]>) -> Self {
        self.parted = pairs;
        self
    }

    pub(super) fn may_touch(&self, a: u32, b: u32) -> bool {
        let between = |[one, other]: &[Range<u32>; 2]| {
            (one.contains(&a) && other.contains(&b)) || (one.contains(&b) && other.contains(&a))
        };
        !self.parted.iter().any(between)
    }

    /// Faces.
    pub fn faces(&self) -> &[[u32; D]] {
        &self.faces
    }

    /// Particles on the surface, ascending.
    pub fn points(&self) -> &[u32] {
        &self.points
    }

    /// Edges of the faces; the faces themselves in 2D.
    pub(super) fn all_edges(&self) -> Vec<[u32; 2]> {
        if D == 3 {
            self.edges.clone()
        } else {
            self.faces.iter().map(|face| [face[0], face[D - 1]]).collect()
        }
    }

    /// Pairs of parts that may come together while their boxes go straight from the first to the second that `ends(nodes)` gives; without common nodes; points against faces first. Trees
    /// that are given are refitted rather than built: their order decides that of the pairs.
    ///
    /// Parts that move together stay apart. Along every axis the gap between two boxes is never smaller than what is interpolated between both ends, so the boxes touch at some time only
    /// if that is not positive at one of the ends.
    pub(super) fn candidates(
        &self,
        trees: &mut Option<SurfaceTrees<D>>,
        ends: impl Fn(&[u32]) -> [Aabb<D>; 2] + Sync,
    ) -> Vec<(PairKind, [u32; 4])> {
        let all = |count: usize, nodes: &(dyn Fn(usize) -> [Aabb<D>; 2] + Sync)| -> Vec<[Aabb<D>; 2]> {
            (0..count).into_par_iter().with_min_len(1024).map(nodes).collect()
        };
        let of_faces = all(self.faces.len(), &|face| ends(&self.faces[face]));
        let of_points = all(self.points.len(), &|point| ends(&self.points[point..point + 1]));
        let of_edges = all(self.edges.len(), &|edge| ends(&self.edges[edge]));
        let way = |ends: &[[Aabb<D>; 2]], part: u32| ends[part as usize][0].union(&ends[part as usize][1]);
        let of_face = |face: u32| way(&of_faces, face);
        let of_point = |point: u32| way(&of_points, point);
        let of_edge = |edge: u32| way(&of_edges, edge);
        let SurfaceTrees { faces, points, edges } = match trees {
            Some(trees) => {
                trees.faces.refit(of_face);
                trees.points.refit(of_point);
                trees.edges.refit(of_edge);
                trees
            }
            None => trees.insert(SurfaceTrees {
                faces: Bvh::from_fn(self.faces.len(), of_face),
                points: Bvh::from_fn(self.points.len(), of_point),
                edges: Bvh::from_fn(self.edges.len(), of_edge),
            }),
        };
        let against_faces = points.pairs_with(faces, |point, face| {
            if !may_meet(&of_points[point as usize], &of_faces[face as usize]) {
                return false;
            }
            let (point, face) = (self.points[point as usize], &self.faces[face as usize]);
            !face.contains(&point) && self.may_touch(point, face[0])
        });
        // There are edges in 3D only.
        let apart = |i: u32, j: u32| {
            if !may_meet(&of_edges[i as usize], &of_edges[j as usize]) {
                return false;
            }
            let ([a, b], other) = (self.edges[i as usize], self.edges[j as usize]);
            !other.contains(&a) && !other.contains(&b) && self.may_touch(a, other[0])
        };
        let between_edges = edges.self_pairs(apart);
        let pair = |index: usize| match index.checked_sub(against_faces.len()) {
            None => {
                let [point, face] = against_faces[index];
                let face = &self.faces[face as usize];
                (PairKind::PointFace, [self.points[point as usize], face[0], face[1], face[D - 1]])
            }
            Some(index) => {
                let [i, j] = between_edges[index];
                let ([a, b], [c, d]) = (self.edges[i as usize], self.edges[j as usize]);
                (PairKind::EdgeEdge, [a, b, c, d])
            }
        };
        let count = against_faces.len() + between_edges.len();
        (0..count).into_par_iter().with_min_len(1024).map(pair).collect()
    }
}

/// Can boxes that go straight from the first to the second of each touch on the way?
#[inline]
fn may_meet<const D: usize>(a: &[Aabb<D>; 2], b: &[Aabb<D>; 2]) -> bool {
    let below = |a: &Aabb<D>, b: &Aabb<D>, k: usize| a.min[k] <= b.max[k];
    (0..D).all(|k| {
        (below(&a[0], &b[0], k) || below(&a[1], &b[1], k))
            && (below(&b[0], &a[0], k) || below(&b[1], &a[1], k))
    })
}

/// Trees over the parts of a surface.
#[derive(Debug, Clone)]
pub(super) struct SurfaceTrees<const D: usize> {
    faces: Bvh<D>,
    points: Bvh<D>,
    edges: Bvh<D>,
}

/// Distance of a pair and where its closest points are, without the direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nearest {
    /// Infinite if the pair was not looked at because it is far apart.
    pub distance: f64,
    /// Of a point and a face the weights of the face; of two edges how far along each.
    weights: [f64; 3],
}

impl Nearest {
    pub(super) const FAR: Self = Self { distance: f64::INFINITY, weights: [0.0; 3] };

    /// Of a pair at `x`.
    #[inline]
    pub(super) fn of<const D: usize>(kind: PairKind, nodes: &[u32; 4], x: &[f64]) -> Self {
        let at = |i: usize| read::<D>(x, nodes[i]);
        let mut weights = [0.0; 3];
        match kind {
            PairKind::PointFace => {
                let (point, face) = ([at(0)], std::array::from_fn::<_, D, _>(|i| at(i + 1)));
                let (_, on_face) = closest_weights(&point, &face);
                weights[..D].copy_from_slice(&on_face);
                Self { distance: (point[0] - combine(&face, &on_face)).norm(), weights }
            }
            PairKind::EdgeEdge => {
                let (a, b) = ([at(0), at(1)], [at(2), at(3)]);
                let (s, t) = closest_weights(&a, &b);
                (weights[0], weights[1]) = (s[1], t[1]);
                Self { distance: (combine(&a, &s) - combine(&b, &t)).norm(), weights }
            }
        }
    }

    /// With the direction; `x` as before.
    pub(super) fn gap<const D: usize>(&self, kind: PairKind, nodes: &[u32; 4], x: &[f64]) -> Gap<D> {
        let at = |i: usize| read::<D>(x, nodes[i]);
        let ([u, v, _], mut weights) = (self.weights, [0.0; 4]);
        let apart = match kind {
            PairKind::PointFace => {
                let face = std::array::from_fn::<_, D, _>(|i| at(i + 1));
                let on_face: [f64; D] = std::array::from_fn(|i| self.weights[i]);
                weights[0] = 1.0;
                (0..D).for_each(|i| weights[i + 1] = -on_face[i]);
                at(0) - combine(&face, &on_face)
            }
            PairKind::EdgeEdge => {
                weights = [1.0 - u, u, v - 1.0, -v];
                combine(&[at(0), at(1)], &[1.0 - u, u]) - combine(&[at(2), at(3)], &[1.0 - v, v])
            }
        };
        // What almost touches has no direction by its distance alone.
        let size = apart.iter().chain(at(0).iter()).fold(0.0f64, |most, x| most.max(x.abs()));
        if self.distance > 1e-9 * size {
            Gap { distance: self.distance, normal: apart / self.distance, weights }
        } else {
            gap::<D>(kind, nodes, x)
        }
    }
}

/// Distance of a pair at `x`.
pub(super) fn gap<const D: usize>(kind: PairKind, nodes: &[u32; 4], x: &[f64]) -> Gap<D> {
    let at = |i: usize| read::<D>(x, nodes[i]);
    let mut weights = [0.0; 4];
    match kind {
        PairKind::PointFace => {
            let face: [Vector<D>; D] = std::array::from_fn(|i| at(i + 1));
            let near = proximity::<D, 1, D>(&[at(0)], &face);
            weights[0] = 1.0;
            for i in 0..D {
                weights[i + 1] = -near.weights_b[i];
            }
            Gap { distance: near.distance, normal: near.normal, weights }
        }
        PairKind::EdgeEdge => {
            let near = proximity::<D, 2, 2>(&[at(0), at(1)], &[at(2), at(3)]);
            for i in 0..2 {
                weights[i] = near.weights_a[i];
                weights[i + 2] = -near.weights_b[i];
            }
            Gap { distance: near.distance, normal: near.normal, weights }
        }
    }
}

/// First time (0 to 1) at which a pair comes closer than the separation of the options on its way from `start` to `end`, with weights and normal there.
#[inline(never)]
pub(super) fn first_time<const D: usize>(
    kind: PairKind,
    nodes: &[u32; 4],
    start: &[f64],
    end: &[f64],
    options: &CcdOptions,
) -> Option<(f64, Gap<D>)> {
    let (from, to) = (|i: usize| read::<D>(start, nodes[i]), |i: usize| read::<D>(end, nodes[i]));
    let mut weights = [0.0; 4];
    match kind {
        PairKind::PointFace => {
            let point = Motion { start: [from(0)], end: [to(0)] };
            let face = Motion::<D, D> {
                start: std::array::from_fn(|i| from(i + 1)),
                end: std::array::from_fn(|i| to(i + 1)),
            };
            let contact = first_contact(&point, &face, options)?;
            weights[0] = 1.0;
            for i in 0..D {
                weights[i + 1] = -contact.weights_b[i];
            }
            Some((contact.time, Gap { distance: contact.distance, normal: contact.normal, weights }))
        }
        PairKind::EdgeEdge => {
            let a = Motion { start: [from(0), from(1)], end: [to(0), to(1)] };
            let b = Motion { start: [from(2), from(3)], end: [to(2), to(3)] };
            let contact = first_contact(&a, &b, options)?;
            for i in 0..2 {
                weights[i] = contact.weights_a[i];
                weights[i + 2] = -contact.weights_b[i];
            }
            Some((contact.time, Gap { distance: contact.distance, normal: contact.normal, weights }))
        }
    }
}

impl<const D: usize> Pair<D> {
    /// What identifies the pair.
    pub fn key(&self) -> [u32; 5] {
        let kind = u32::from(self.kind == PairKind::EdgeEdge);
        [kind, self.nodes[0], self.nodes[1], self.nodes[2], self.nodes[3]]
    }

    /// Takes over the side that the pair had before, turned along with the face; edges keep theirs unless they have turned over.
    pub(super) fn keep_side(&mut self, known: &Self, position: &[f64]) {
        self.side = known.side;
        let now = self.signed_gap(position);
        if now.distance >= 0.0 {
            self.side = now.normal;
        }
    }

    /// The gap with a sign: negative if the parts have passed through each other since they were known to be apart.
    pub(super) fn signed_gap(&self, x: &[f64]) -> Gap<D> {
        let mut now = gap::<D>(self.kind, &self.nodes, x);
        if now.normal.dot(&self.side) < 0.0 {
            now.distance = -now.distance;
            now.normal = -now.normal;
        }
        now
    }
}

pub(super) fn sorted_keys<const D: usize>(pairs: &[Pair<D>]) -> Vec<[u32; 5]> {
    let mut keys: Vec<[u32; 5]> = pairs.iter().map(Pair::key).collect();
    keys.sort_unstable();
    keys
}

impl<const D: usize> SelfContact<D>
where
    Dim<D>: Space<D>,
{
    /// Rows of the pairs nearer than `factor` times their thickness at `x`. Pairs without a direction are left out.
    pub fn rows(&self, x: &[f64], factor: f64) -> Vec<ContactRow<D>> {
        let row = |pair: &Pair<D>| {
            let Gap { normal, weights, .. } = pair.signed_gap(x);
            let unit = (normal.norm() - 1.0).abs() < 1e-6;
            unit.then_some(ContactRow { nodes: pair.nodes, weights, normal })
        };
        self.search(x, factor).iter().filter_map(row).collect()
    }

    /// Pairs nearer than `factor` times their thickness at `x`, with closest points inside their parts.
    pub(super) fn search(&self, x: &[f64], factor: f64) -> Vec<Pair<D>> {
        let reach =
            |nodes: &[u32]| nodes.iter().map(|&node| self.thickness[node as usize]).fold(0.0, f64::max);
        let candidates = self.surface.candidates(&mut None, |nodes| {
            let around = nodes.iter().fold(Aabb::empty(), |all, &node| all.including(&read::<D>(x, node)));
            [around.grown(0.5 * factor * self.options.thickness); 2]
        });
        candidates
            .par_iter()
            .with_min_len(1024)
            .filter_map(|&(kind, nodes)| {
                let gap = gap::<D>(kind, &nodes, x);
                let used = if kind == PairKind::PointFace { D + 1 } else { 4 };
                let inside = gap.weights[..used].iter().all(|&weight| weight != 0.0);
                let near = gap.distance <= factor * reach(&nodes);
                (inside && near).then_some(Pair { kind, nodes, side: gap.normal })
            })
            .collect()
    }
}
