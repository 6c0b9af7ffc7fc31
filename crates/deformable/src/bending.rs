//! Bending of surfaces about the edges between triangles (spec 3.11), with rest angles that may be curved and may flow plastically.
//!
//! A hinge has the wing corners 1, 2 and the edge 3-4. `theta` is the angle between the normals; the modes `u_i = -d theta/d x_i` have neither resultant nor torque.

use crate::edges::hinges;
use crate::element::Partition;
use crate::force::{Force, ForceError, read};
use splashdown_geometry::mesh::TriangleMesh;
use splashdown_math::Vector;

/// How bending resists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BendingModel {
    /// `psi = 3 k |E|^2 / A (theta - theta_0)^2` with rest lengths and areas: has a potential (discrete shells). A sheet of squares cut by parallel diagonals has the
    /// bending stiffness `6 k` per width, cut by alternating ones `5 k`.
    #[default]
    DiscreteShells,
    /// `f_i = k |E|^2/(|N_1| + |N_2|) (sin(theta/2) - sin(theta_0/2)) u_i` with present lengths: bounded force, not exactly a gradient.
    SineHalfAngle,
}

/// Plasticity of rest angles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BendingPlasticity {
    /// Largest elastic difference of angles (rad).
    pub yield_angle: f64,
    /// Growth of the yield per plastic angle.
    pub hardening: f64,
}

/// Bending and its damping about all inner edges of a surface.
#[derive(Debug, Clone)]
pub struct Bending {
    model: BendingModel,
    nodes: Vec<u32>,
    stiffness: f64,
    damping: f64,
    strength: f64,
    /// `6 |E|^2 / A` of the rest shape.
    rest_factor: Vec<f64>,
    rest_angle: Vec<f64>,
    yield_angle: Vec<f64>,
    plasticity: Option<BendingPlasticity>,
    /// Smallest `|N|` (twice an area) below which a hinge is left out.
    smallest: Vec<f64>,
    state: Vec<Hinge>,
    partition: Partition,
}

#[derive(Debug, Clone, Copy)]
struct Hinge {
    /// Modes; zero for a hinge that is left out.
    modes: [Vector<3>; 4],
    angle: f64,
    /// `|E|^2 / (|N_1| + |N_2|)` now.
    factor: f64,
    /// `|E|` now.
    edge: f64,
}

const BLANK: Hinge =
    Hinge { modes: [Vector::<3>::new(0.0, 0.0, 0.0); 4], angle: 0.0, factor: 0.0, edge: 0.0 };

/// Angle and modes of a hinge; `None` if a triangle is smaller than `smallest` (twice its area).
pub fn hinge_modes(x: &[Vector<3>; 4], smallest: f64) -> Option<(f64, [Vector<3>; 4])> {
    let [x1, x2, x3, x4] = x;
    let n1 = (x1 - x3).cross(&(x1 - x4));
    let n2 = (x2 - x4).cross(&(x2 - x3));
    let e = x4 - x3;
    let (a1, a2, length) = (n1.norm(), n2.norm(), e.norm());
    if !(a1 > smallest && a2 > smallest && length > 0.0) {
        return None;
    }
    let angle = n1.cross(&n2).dot(&(e / length)).atan2(n1.dot(&n2));
    let (m1, m2) = (n1 / (a1 * a1), n2 / (a2 * a2));
    let along = |a: &Vector<3>, b: &Vector<3>| (a - b).dot(&e) / length;
    let u1 = m1 * length;
    let u2 = m2 * length;
    let u3 = m1 * along(x1, x4) + m2 * along(x2, x4);
    let u4 = -m1 * along(x1, x3) - m2 * along(x2, x3);
    Some((angle, [u1, u2, u3, u4]))
}

impl Bending {
    /// About all inner edges of `mesh`, which is the rest shape; `first` is the particle of its point 0. `stiffness` in N m (discrete shells) or N m per unit of
    /// the sine model, `damping` in N m s.
    pub fn new(
        mesh: &TriangleMesh<3>,
        first: u32,
        model: BendingModel,
        stiffness: f64,
        damping: f64,
    ) -> Self {
        let all = hinges(mesh);
        let mut nodes = Vec::with_capacity(4 * all.len());
        let (mut rest_factor, mut rest_angle, mut smallest) = (Vec::new(), Vec::new(), Vec::new());
        for hinge in &all {
            let x = hinge.map(|node| mesh.points[node as usize]);
            let areas =
                [(x[0] - x[2]).cross(&(x[0] - x[3])).norm(), (x[1] - x[2]).cross(&(x[1] - x[3])).norm()];
            let edge = (x[3] - x[2]).norm_squared();
            nodes.extend(hinge.map(|node| node + first));
            rest_factor.push(6.0 * edge / (0.5 * (areas[0] + areas[1])));
            smallest.push(1e-6 * areas[0].min(areas[1]));
            rest_angle.push(hinge_modes(&x, 0.0).map_or(0.0, |(angle, _)| angle));
        }
        let partition = Partition::new(&nodes, 4, 512);
        Self {
            model,
            stiffness,
            damping,
            strength: 1.0,
            rest_factor,
            rest_angle,
            yield_angle: Vec::new(),
            plasticity: None,
            smallest,
            state: vec![BLANK; all.len()],
            partition,
            nodes,
        }
    }

    /// Makes the rest angles plastic.
    #[must_use]
    pub fn with_plasticity(mut self, plasticity: BendingPlasticity) -> Self {
        self.yield_angle = vec![plasticity.yield_angle; self.rest_angle.len()];
        self.plasticity = Some(plasticity);
        self
    }

    /// Sets all rest angles (rad).
    pub fn set_rest_angles(&mut self, angles: &[f64]) {
        self.rest_angle.copy_from_slice(angles);
    }

    /// Rest angles (rad) now.
    pub fn rest_angles(&self) -> &[f64] {
        &self.rest_angle
    }

    /// Angles (rad) at the last positions.
    pub fn angles(&self) -> impl Iterator<Item = f64> + '_ {
        self.state.iter().map(|hinge| hinge.angle)
    }

    /// `d psi/d theta` and its derivative (an upper bound for the sine model).
    fn moment(&self, hinge: usize) -> (f64, f64) {
        let state = &self.state[hinge];
        let k = self.strength * self.stiffness;
        let rest = self.rest_angle[hinge];
        match self.model {
            BendingModel::DiscreteShells => {
                let factor = k * self.rest_factor[hinge];
                (factor * (state.angle - rest), factor)
            }
            BendingModel::SineHalfAngle => {
                let factor = k * state.factor;
                let slope = factor * 0.5 * (0.5 * state.angle).cos();
                (factor * ((0.5 * state.angle).sin() - (0.5 * rest).sin()), slope.max(0.0))
            }
        }
    }

    fn rate(&self, hinge: usize, vector: &[f64]) -> f64 {
        let nodes = &self.nodes[4 * hinge..4 * hinge + 4];
        self.state[hinge]
            .modes
            .iter()
            .zip(nodes)
            .map(|(mode, &node)| mode.dot(&read::<3>(vector, node)))
            .sum()
    }

    fn damping_of(&self, hinge: usize) -> f64 {
        self.strength * self.damping * self.state[hinge].edge
    }

    /// Adds `value(hinge) u_i` to the nodes.
    fn push(&self, out: &mut [f64], value: impl Fn(usize) -> f64 + Sync) {
        self.partition.assemble::<3>(out, |chunk, local| {
            for hinge in chunk.first..chunk.last {
                let size = value(hinge);
                for (mode, &corner) in self.state[hinge].modes.iter().zip(chunk.corners(hinge)) {
                    for axis in 0..3 {
                        local[corner as usize][axis] += size * mode[axis];
                    }
                }
            }
        });
    }
}

impl Force<3> for Bending {
    /// Hinges beside a triangle of (nearly) no area.
    fn skipped(&self) -> usize {
        self.state.iter().filter(|hinge| hinge.edge == 0.0).count()
    }

    fn name(&self) -> &str {
        "bending"
    }

    fn update(&mut self, position: &[f64]) -> Result<(), ForceError> {
        let (nodes, smallest) = (&self.nodes, &self.smallest);
        self.partition.for_each(&mut self.state, 1, |chunk, states| {
            for (k, state) in states.iter_mut().enumerate() {
                let hinge = chunk.first + k;
                let x: [Vector<3>; 4] = std::array::from_fn(|i| read::<3>(position, nodes[4 * hinge + i]));
                *state = match hinge_modes(&x, smallest[hinge]) {
                    None => BLANK,
                    Some((angle, modes)) => {
                        let e = (x[3] - x[2]).norm();
                        let areas = (x[0] - x[2]).cross(&(x[0] - x[3])).norm()
                            + (x[1] - x[2]).cross(&(x[1] - x[3])).norm();
                        Hinge { modes, angle, factor: e * e / areas, edge: e }
                    }
                };
            }
        });
        match self.state.iter().position(|hinge| !hinge.angle.is_finite()) {
            None => Ok(()),
            Some(element) => Err(ForceError::NotFinite { force: "bending".into(), element }),
        }
    }

    fn energy(&self) -> f64 {
        (0..self.state.len())
            .filter(|&hinge| self.state[hinge].edge > 0.0)
            .map(|hinge| match self.model {
                BendingModel::DiscreteShells => {
                    0.5 * self.strength
                        * self.stiffness
                        * self.rest_factor[hinge]
                        * (self.state[hinge].angle - self.rest_angle[hinge]).powi(2)
                }
                // The integral over the angle at the present prefactor.
                BendingModel::SineHalfAngle => {
                    let (angle, rest) = (self.state[hinge].angle, self.rest_angle[hinge]);
                    self.strength
                        * self.stiffness
                        * self.state[hinge].factor
                        * (2.0 * ((0.5 * rest).cos() - (0.5 * angle).cos())
                            - (angle - rest) * (0.5 * rest).sin())
                }
            })
            .sum()
    }

    fn is_conservative(&self) -> bool {
        self.model == BendingModel::DiscreteShells
    }

    fn add_elastic(&self, force: &mut [f64]) {
        // u = -d theta/dx, so the force is + (d psi/d theta) u.
        self.push(force, |hinge| self.moment(hinge).0);
    }

    fn add_damping(&self, velocity: &[f64], force: &mut [f64]) {
        self.push(force, |hinge| -self.damping_of(hinge) * self.rate(hinge, velocity));
    }

    fn damping_rows(&self) -> usize {
        if self.damping > 0.0 { self.state.len() } else { 0 }
    }

    fn apply_factor(&self, velocity: &[f64], dt: f64, out: &mut [f64]) {
        for (hinge, row) in out.iter_mut().enumerate() {
            *row = (dt * self.damping_of(hinge)).sqrt() * self.rate(hinge, velocity);
        }
    }

    fn add_factor_transpose(&self, w: &[f64], dt: f64, force: &mut [f64]) {
        if self.damping_rows() > 0 {
            self.push(force, |hinge| (dt * self.damping_of(hinge)).sqrt() * w[hinge]);
        }
    }

    /// The positive part `psi'' u u^T` (Gauss-Newton), whether asked for or not: the second derivative of the angle is left out.
    fn add_stiffness(&self, change: &[f64], force: &mut [f64], _positive: bool) {
        self.push(force, |hinge| self.moment(hinge).1 * self.rate(hinge, change));
    }

    fn elements(&self) -> usize {
        self.state.len()
    }

    fn element_nodes(&self, element: usize) -> &[u32] {
        &self.nodes[4 * element..4 * element + 4]
    }

    fn add_element_matrix(
        &self,
        element: usize,
        stiffness: f64,
        damping: f64,
        _positive: bool,
        out: &mut [f64],
    ) {
        let size = stiffness * self.moment(element).1 + damping * self.damping_of(element);
        let modes = &self.state[element].modes;
        for (a, u) in modes.iter().enumerate() {
            for (b, w) in modes.iter().enumerate() {
                for i in 0..3 {
                    for k in 0..3 {
                        out[(3 * a + i) * 12 + 3 * b + k] += size * u[i] * w[k];
                    }
                }
            }
        }
    }

    fn stable_step(&self, inverse_mass: &[f64]) -> f64 {
        // omega^2 of one hinge is psi'' sum |u|^2 / m; every node has several, so half the limit of one and a safety of the count.
        let mut sum = vec![0.0; inverse_mass.len()];
        for hinge in 0..self.state.len() {
            let modes = &self.state[hinge].modes;
            let total: f64 = modes.iter().map(|mode| mode.norm()).sum();
            let slope = self.moment(hinge).1;
            for (mode, &node) in modes.iter().zip(self.element_nodes(hinge)) {
                sum[node as usize] += slope * mode.norm() * total * inverse_mass[node as usize];
            }
        }
        let highest = sum.into_iter().fold(0.0, f64::max);
        if highest > 0.0 { 2.0 / highest.sqrt() } else { f64::INFINITY }
    }

    fn flow(&mut self, _position: &[f64]) -> bool {
        let Some(law) = self.plasticity else { return false };
        let mut flowed = false;
        for hinge in 0..self.state.len() {
            if self.state[hinge].edge == 0.0 {
                continue;
            }
            let elastic = self.state[hinge].angle - self.rest_angle[hinge];
            let excess = elastic.abs() - self.yield_angle[hinge];
            if excess > 0.0 {
                self.rest_angle[hinge] += excess.copysign(elastic);
                self.yield_angle[hinge] += law.hardening * excess;
                flowed = true;
            }
        }
        flowed
    }

    fn set_strength(&mut self, strength: f64) {
        self.strength = strength;
    }

    fn history(&self) -> Vec<f64> {
        if self.plasticity.is_some() {
            [self.rest_angle.as_slice(), &self.yield_angle].concat()
        } else {
            Vec::new()
        }
    }

    fn restore(&mut self, history: &[f64]) -> bool {
        let count = self.rest_angle.len();
        if self.plasticity.is_none() {
            return history.is_empty();
        }
        if history.len() != 2 * count {
            return false;
        }
        self.rest_angle.copy_from_slice(&history[..count]);
        self.yield_angle.copy_from_slice(&history[count..]);
        true
    }

    fn bytes(&self) -> usize {
        4 * self.nodes.len() + self.state.len() * (size_of::<Hinge>() + 32) + self.partition.bytes()
    }

    fn boxed(&self) -> Box<dyn Force<3>> {
        Box::new(self.clone())
    }
}
