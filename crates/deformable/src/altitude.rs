//! Altitude springs: from each corner of a triangle (2D) or tetrahedron (3D) to the opposite face, with a length that is negative when the element is inside
//! out, so that they push through inversion (spec 3.12).

use crate::element::Partition;
use crate::force::{Force, ForceError, read};
use splashdown_geometry::simplex::closest_point;
use splashdown_math::{Dim, Space, Vector};

/// Which altitudes of an element act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Altitudes {
    /// The shortest at the present positions: that onto the largest face.
    #[default]
    Shortest,
    /// All of them.
    All,
}

/// Altitude springs of simplices.
#[derive(Debug, Clone)]
pub struct AltitudeSprings<const D: usize> {
    which: Altitudes,
    /// Compression (part of the rest length) from which a spring acts; none for springs that pull, too.
    slack: Option<f64>,
    /// `D + 1` an element.
    nodes: Vec<u32>,
    /// One an altitude, `D + 1` an element.
    rest: Vec<f64>,
    stiffness: Vec<f64>,
    damping: Vec<f64>,
    strength: f64,
    state: Vec<Altitude<D>>,
    partition: Partition,
}

#[derive(Debug, Clone, Copy)]
struct Altitude<const D: usize> {
    active: bool,
    direction: Vector<D>,
    /// Signed length (m).
    length: f64,
    /// Weights of all corners: 1 for the tip, minus the barycentric weights for the face.
    weights: [f64; 4],
}

impl<const D: usize> AltitudeSprings<D>
where
    Dim<D>: Space<D>,
{
    /// Springs of the modulus `modulus` (a force, N: `k = modulus / rest length`) and the overdamping fraction, for the simplices `nodes` (`D + 1` each) with the given rest
    /// positions (flat, all particles).
    pub fn new(
        nodes: Vec<u32>,
        rest_position: &[f64],
        inverse_mass: &[f64],
        modulus: f64,
        fraction: f64,
        which: Altitudes,
    ) -> Self {
        let corners = D + 1;
        let count = nodes.len() / corners;
        let blank = Altitude { active: false, direction: Vector::zeros(), length: 0.0, weights: [0.0; 4] };
        let partition = Partition::new(&nodes, corners, 512);
        let mut springs = Self {
            which: Altitudes::All,
            slack: None,
            rest: vec![0.0; count * corners],
            stiffness: vec![0.0; count * corners],
            damping: vec![0.0; count * corners],
            strength: 1.0,
            state: vec![blank; count * corners],
            partition,
            nodes,
        };
        springs.evaluate(rest_position);
        for at in 0..count * corners {
            let rest = springs.state[at].length.abs().max(f64::MIN_POSITIVE);
            let element = at / corners;
            let tip = at % corners;
            let inverse = |corner: usize| inverse_mass[springs.nodes[element * corners + corner] as usize];
            let face: f64 = (0..corners).filter(|&corner| corner != tip).map(inverse).sum();
            let sum = inverse(tip) + face / (D * D) as f64;
            let reduced = if sum > 0.0 { 1.0 / sum } else { 0.0 };
            springs.rest[at] = rest;
            springs.stiffness[at] = modulus / rest;
            springs.damping[at] = 2.0 * fraction * (modulus / rest * reduced).sqrt();
        }
        springs.which = which;
        springs
    }

    /// Springs that act only while they are compressed by more than the part `slack` (0 to 1) of their rest length; from there on with their whole force less that of the slack, so that it does
    /// not jump.
    #[must_use]
    pub fn with_slack(mut self, slack: f64) -> Self {
        for rest in &mut self.rest {
            *rest *= 1.0 - slack;
        }
        self.slack = Some(slack);
        self
    }

    fn evaluate(&mut self, position: &[f64]) {
        let corners = D + 1;
        let (rest, compressed) = (&self.rest, self.slack.is_some());
        let (nodes, which) = (&self.nodes, self.which);
        self.partition.for_each(&mut self.state, corners, |chunk, states| {
            for (k, states) in states.chunks_exact_mut(corners).enumerate() {
                let element = chunk.first + k;
                let x: [Vector<D>; 4] = std::array::from_fn(|i| {
                    if i < corners {
                        read::<D>(position, nodes[element * corners + i])
                    } else {
                        Vector::zeros()
                    }
                });
                // Sign of the element's volume: all altitudes of an inverted element are negative.
                let volume = signed_volume::<D>(&x);
                let mut largest = (0.0, 0);
                for tip in 0..corners {
                    let (state, area) = altitude::<D>(&x, tip, volume);
                    states[tip] = state;
                    if area > largest.0 {
                        largest = (area, tip);
                    }
                }
                if which == Altitudes::Shortest {
                    for (tip, state) in states.iter_mut().enumerate() {
                        state.active = tip == largest.1;
                    }
                }
                if compressed {
                    for (state, rest) in states.iter_mut().zip(&rest[element * corners..]) {
                        state.active &= state.length < *rest;
                    }
                }
            }
        });
    }

    fn along(&self, at: usize, vector: &[f64]) -> f64 {
        let state = &self.state[at];
        let element = at / (D + 1);
        (0..D + 1)
            .map(|corner| {
                state.weights[corner]
                    * state.direction.dot(&read::<D>(vector, self.nodes[element * (D + 1) + corner]))
            })
            .sum()
    }

    /// Adds `value w_i d` to the corners of each active altitude.
    fn push(&self, out: &mut [f64], value: impl Fn(usize) -> f64 + Sync) {
        self.partition.assemble::<D>(out, |chunk, local| {
            for element in chunk.first..chunk.last {
                for at in element * (D + 1)..(element + 1) * (D + 1) {
                    let state = &self.state[at];
                    if !state.active {
                        continue;
                    }
                    let size = value(at);
                    for (corner, &slot) in chunk.corners(element).iter().enumerate() {
                        for axis in 0..D {
                            local[slot as usize][axis] +=
                                size * state.weights[corner] * state.direction[axis];
                        }
                    }
                }
            }
        });
    }
}

/// `D!` times the signed volume.
fn signed_volume<const D: usize>(x: &[Vector<D>; 4]) -> f64 {
    let edge = |i: usize| x[i] - x[0];
    if D == 2 {
        let (a, b) = (edge(1), edge(2));
        a[0] * b[1] - a[1] * b[0]
    } else {
        let (a, b, c) = (edge(1), edge(2), edge(3));
        (0..3)
            .map(|i| {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                a[i] * (b[j] * c[k] - b[k] * c[j])
            })
            .sum()
    }
}

/// The altitude of corner `tip` and the size of the opposite face.
fn altitude<const D: usize>(x: &[Vector<D>; 4], tip: usize, volume: f64) -> (Altitude<D>, f64) {
    let mut others = [0; 3];
    for (other, corner) in others.iter_mut().zip((0..D + 1).filter(|&corner| corner != tip)) {
        *other = corner;
    }
    let mut weights = [0.0; 4];
    weights[tip] = 1.0;
    let (normal, area, face): (Vector<D>, f64, [f64; 3]) = if D == 2 {
        let (a, b) = (x[others[0]], x[others[1]]);
        let edge = b - a;
        let closest = closest_point::<D, 2>(&x[tip], &[a, b]);
        let normal = Vector::<D>::from_fn(|i, _| if i == 0 { -edge[1] } else { edge[0] });
        (normal, edge.norm(), [closest.weights[0], closest.weights[1], 0.0])
    } else {
        let (a, b, c) = (x[others[0]], x[others[1]], x[others[2]]);
        let closest = closest_point::<D, 3>(&x[tip], &[a, b, c]);
        let (u, v) = (b - a, c - a);
        let normal = Vector::<D>::from_fn(|i, _| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            u[j] * v[k] - u[k] * v[j]
        });
        (normal, normal.norm(), closest.weights)
    };
    for (corner, weight) in others.iter().zip(face).take(D) {
        weights[*corner] = -weight;
    }
    let mut gap = Vector::<D>::zeros();
    for corner in 0..D + 1 {
        gap += x[corner] * weights[corner];
    }
    let distance = gap.norm();
    let sign = if volume < 0.0 { -1.0 } else { 1.0 };
    let direction = if distance > 1e-12 * area.sqrt().max(f64::MIN_POSITIVE) {
        gap * (sign / distance)
    } else if area > 0.0 {
        // On the face: along its normal, to the side on which the tip belongs. Facets are ordered so that odd tips have the outward normal.
        let turn = if (tip + usize::from(D == 2)).is_multiple_of(2) { -1.0 } else { 1.0 };
        normal * (turn / normal.norm())
    } else {
        Vector::zeros()
    };
    (Altitude { active: true, direction, length: sign * distance, weights }, area)
}

impl<const D: usize> Force<D> for AltitudeSprings<D>
where
    Dim<D>: Space<D>,
{
    fn name(&self) -> &str {
        "altitude springs"
    }

    fn update(&mut self, position: &[f64]) -> Result<(), ForceError> {
        self.evaluate(position);
        match self.state.iter().position(|state| !state.length.is_finite()) {
            None => Ok(()),
            Some(at) => {
                Err(ForceError::NotFinite { force: "altitude springs".into(), element: at / (D + 1) })
            }
        }
    }

    fn energy(&self) -> f64 {
        (0..self.state.len())
            .filter(|&at| self.state[at].active)
            .map(|at| {
                0.5 * self.strength * self.stiffness[at] * (self.state[at].length - self.rest[at]).powi(2)
            })
            .sum()
    }

    fn is_conservative(&self) -> bool {
        // The choice of the shortest altitude jumps.
        self.which == Altitudes::All
    }

    fn add_elastic(&self, force: &mut [f64]) {
        self.push(force, |at| -self.strength * self.stiffness[at] * (self.state[at].length - self.rest[at]));
    }

    fn add_damping(&self, velocity: &[f64], force: &mut [f64]) {
        self.push(force, |at| -self.strength * self.damping[at] * self.along(at, velocity));
    }

    fn damping_rows(&self) -> usize {
        if self.damping.iter().any(|&damping| damping > 0.0) { self.state.len() } else { 0 }
    }

    fn apply_factor(&self, velocity: &[f64], dt: f64, out: &mut [f64]) {
        for (at, row) in out.iter_mut().enumerate() {
            let active = self.state[at].active;
            *row = if active {
                (dt * self.strength * self.damping[at]).sqrt() * self.along(at, velocity)
            } else {
                0.0
            };
        }
    }

    fn add_factor_transpose(&self, w: &[f64], dt: f64, force: &mut [f64]) {
        if self.damping_rows() > 0 {
            self.push(force, |at| (dt * self.strength * self.damping[at]).sqrt() * w[at]);
        }
    }

    /// The part `k w w^T` along the springs (positive semidefinite), whether asked for or not.
    fn add_stiffness(&self, change: &[f64], force: &mut [f64], _positive: bool) {
        self.push(force, |at| self.strength * self.stiffness[at] * self.along(at, change));
    }

    fn elements(&self) -> usize {
        self.nodes.len() / (D + 1)
    }

    fn element_nodes(&self, element: usize) -> &[u32] {
        &self.nodes[element * (D + 1)..(element + 1) * (D + 1)]
    }

    fn add_element_matrix(
        &self,
        element: usize,
        stiffness: f64,
        damping: f64,
        _positive: bool,
        out: &mut [f64],
    ) {
        let size = (D + 1) * D;
        for at in element * (D + 1)..(element + 1) * (D + 1) {
            let state = &self.state[at];
            if !state.active {
                continue;
            }
            let k = self.strength * (stiffness * self.stiffness[at] + damping * self.damping[at]);
            for row in 0..size {
                for column in 0..size {
                    out[row * size + column] += k
                        * state.weights[row / D]
                        * state.weights[column / D]
                        * state.direction[row % D]
                        * state.direction[column % D];
                }
            }
        }
    }

    fn stable_step(&self, inverse_mass: &[f64]) -> f64 {
        let mut sum = vec![0.0; inverse_mass.len()];
        for at in 0..self.state.len() {
            let element = at / (D + 1);
            for &node in self.element_nodes(element) {
                // |w|_1 = 2 bounds a row of w w^T.
                sum[node as usize] += 2.0 * self.strength * self.stiffness[at] * inverse_mass[node as usize];
            }
        }
        let highest = sum.into_iter().fold(0.0, f64::max);
        if highest > 0.0 { 2.0 / highest.sqrt() } else { f64::INFINITY }
    }

    fn set_strength(&mut self, strength: f64) {
        self.strength = strength;
    }

    fn bytes(&self) -> usize {
        4 * self.nodes.len() + self.state.len() * (size_of::<Altitude<D>>() + 24) + self.partition.bytes()
    }

    fn boxed(&self) -> Box<dyn Force<D>> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tip that passes through the opposite face must keep its direction: the on-face rule agrees with both sides.
    #[test]
    fn direction_is_continuous_through_the_face() {
        fn check<const D: usize>(rest: &[[f64; 3]]) {
            for tip in 0..=D {
                let mut x = [Vector::<D>::zeros(); 4];
                for i in 0..=D {
                    x[i] = Vector::from_fn(|axis, _| rest[i][axis]);
                }
                let mut foot = Vector::<D>::zeros();
                for i in (0..=D).filter(|&i| i != tip) {
                    foot += x[i] / D as f64;
                }
                let start = x[tip];
                let mut directions = Vec::new();
                for t in [0.0, 0.999, 1.0, 1.001, 2.0] {
                    x[tip] = start + (foot - start) * t;
                    let (state, _) = altitude::<D>(&x, tip, signed_volume::<D>(&x));
                    directions.push(state.direction);
                }
                for pair in directions.windows(2) {
                    assert!(pair[0].dot(&pair[1]) > 0.9, "{D}D tip {tip}: {directions:?}");
                }
            }
        }
        check::<2>(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.866, 0.0]]);
        let s = 1.0 / 3f64.sqrt();
        check::<3>(
            &[[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
                .map(|x| x.map(|c: f64| c * s))
                .map(|x| [x[1], x[0], x[2]]),
        );
    }
}
