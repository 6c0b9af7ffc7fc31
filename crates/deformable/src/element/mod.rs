//! Finite elements: constant-strain triangles and tetrahedra, membrane triangles, hexahedra and any isoparametric element, all from one source.
//!
//! An element of `M + 1` nodes has quadrature points with the gradients `g_i` of the shape functions of nodes `1..=M` (node 0 has minus their sum) and a volume `w`.
//! `F = sum_i (x_i - x_0) g_i^T`, `f_i = -w P g_i`, `f_0 = -sum_i f_i` (spec 3.1, 3.3, 3.13). `D` is the dimension of space, `C` that of the
//! material: `D = C = 3` for solids, `D = 3, C = 2` for membranes.

mod build;
mod damping;
mod decompose;
mod elastic;
mod partition;
mod plastic;
mod stiffness;
#[cfg(test)]
mod tests;

pub use build::{ElementError, ReferencePoint, membrane_directions};
pub use damping::{Damping, DampingKind};
pub use decompose::{Decompose, Shape};
pub(crate) use partition::Partition;

use crate::force::{Force, ForceError};
use crate::material::{Fibre, Lame, Law, MaterialError, Plasticity};
use decompose::Decomposed;
use nalgebra::SMatrix;
use nalgebra::SVector;
use splashdown_math::{Matrix, Real, Vector};

/// Elastic material of a set of elements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Material {
    /// Constitutive law.
    pub law: Law,
    /// Lamé parameters (Pa).
    pub lame: Lame,
    /// Density (kg/m^3; kg/m^2 in 2D).
    pub density: f64,
    /// Damping.
    pub damping: Damping,
}

/// What one quadrature point keeps of the last positions.
#[derive(Debug, Clone, Copy)]
struct PointState<S, const D: usize, const C: usize, const M: usize> {
    /// `U`; the deformation gradient itself for linear elasticity.
    u: SMatrix<S, D, C>,
    /// Signed stretches.
    stretch: SVector<S, C>,
    /// `V^T F_p^-T g_i`: gradients in the frame of the stretches.
    local: [[S; C]; M],
}

/// A family of fibres with its direction in every element.
#[derive(Debug, Clone)]
struct FibreFamily<const C: usize> {
    fibre: Fibre,
    /// Unit vectors in the material, one an element.
    direction: Vec<Vector<C>>,
    /// The same in the frame of the stretches, one a quadrature point.
    local: Vec<Vector<C>>,
}

/// Most that the time of damping may be, over the largest elastic step, for that step to be taken near the present state. What sticks by friction is let slide by the damping solve, and a part later
/// friction takes that back: strongly damped bodies are kept in motion by it if parts are long. A tower of soft boxes (scene `soft-stack`) with damping of 0.1 s comes to rest in steps of
/// 12 times the square of the elastic one over the time of damping, and not in those of 16 times; half of what this allows is 10 times.
const MOST_LAG: f64 = 20.0;

const PLASTIC_FIBRES: MaterialError = MaterialError::Combination(
    "a plastic material cannot have fibres: the rotation of its plastic part is not kept",
);

/// Plastic state of all quadrature points.
#[derive(Debug, Clone)]
struct PlasticState<const C: usize> {
    law: Plasticity,
    /// `F_p^-1`, symmetric.
    inverse: Vec<Matrix<C>>,
    /// Logarithm of the goal's right stretch, one a point, if the flow is controlled.
    goal: Option<Vec<Matrix<C>>>,
}

/// Elements of one kind and one material law.
///
/// `S` is the precision of what every element keeps and decomposes (rest gradients, rotations, stretches): `f64`, or `f32` ([`Self::into_single`]) for bodies of which there
/// are too many elements for the memory. Positions, laws, and sums over elements are `f64` in both.
#[derive(Debug, Clone)]
pub struct Elements<const D: usize, const C: usize, const M: usize, S = f64> {
    name: String,
    /// `M + 1` an element.
    nodes: Vec<u32>,
    /// Quadrature points of one element.
    points: usize,
    /// One a point.
    gradient: Vec<[[S; C]; M]>,
    /// Rest volume of each point (m^3; m^2 in 2D), membrane thickness included.
    volume: Vec<f64>,
    /// Part of an element's volume that each node carries, summed over its points; one a point and node.
    node_share: Vec<f64>,
    lame: Vec<Lame>,
    strength: f64,
    material: Material,
    fibres: Vec<FibreFamily<C>>,
    plastic: Option<PlasticState<C>>,
    /// Side to which each membrane triangle must face, if flipped ones are to turn back.
    facing: Option<Vec<Vector<D>>>,
    state: Vec<PointState<S, D, C, M>>,
    /// Factors of stiffness-proportional damping, kept only for it.
    stiffness_factor: Vec<damping::StiffnessFactor<C>>,
    partition: Partition,
}

impl<S: Real, const D: usize, const C: usize, const M: usize> Elements<D, C, M, S>
where
    Shape<D, C>: Decompose<D, C>,
{
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.nodes.len() / (M + 1)
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Quadrature points of one element.
    pub fn points_per_element(&self) -> usize {
        self.points
    }

    /// Material of the set (its Lamé parameters are those it was built with).
    pub fn material(&self) -> &Material {
        &self.material
    }

    /// Nodes of one element.
    #[inline]
    pub fn nodes(&self, element: usize) -> &[u32] {
        &self.nodes[element * (M + 1)..(element + 1) * (M + 1)]
    }

    /// Rest volume of one element (m^3; m^2 in 2D), membrane thickness included.
    pub fn rest_volume(&self, element: usize) -> f64 {
        self.volume[element * self.points..(element + 1) * self.points].iter().sum()
    }

    /// Adds the lumped masses (kg) to the nodes.
    pub fn add_masses(&self, mass: &mut [f64]) {
        for element in 0..self.len() {
            for point in element * self.points..(element + 1) * self.points {
                for (corner, &node) in self.nodes(element).iter().enumerate() {
                    mass[node as usize] += self.material.density
                        * self.volume[point]
                        * self.node_share[point * (M + 1) + corner];
                }
            }
        }
    }

    /// Gives every element its own Lamé parameters.
    ///
    /// # Panics
    /// If there is not one entry an element.
    pub fn set_lame(&mut self, lame: Vec<Lame>) {
        assert_eq!(lame.len(), self.len(), "one pair of Lamé parameters for each element");
        self.lame = lame;
    }

    /// Adds fibres with the given material direction in every element; of any length, zero for none there. In membranes see [`membrane_directions`].
    ///
    /// # Errors
    /// A plastic material, for which the rotation of the plastic part would matter; linear elasticity.
    ///
    /// # Panics
    /// If there is not one direction an element.
    pub fn add_fibres(&mut self, fibre: Fibre, direction: Vec<Vector<C>>) -> Result<(), MaterialError> {
        assert_eq!(direction.len(), self.len(), "one fibre direction for each element");
        if self.plastic.is_some() {
            return Err(PLASTIC_FIBRES);
        }
        if self.material.law.model.is_linear() {
            return Err(MaterialError::Combination(
                "linear elasticity cannot have fibres: use `rotated_linear` or another model in stretches",
            ));
        }
        let direction: Vec<_> = direction.into_iter().map(|a| a / a.norm().max(f64::MIN_POSITIVE)).collect();
        let local = vec![Vector::zeros(); self.gradient.len()];
        self.fibres.push(FibreFamily { fibre, direction, local });
        Ok(())
    }

    /// Makes membrane triangles that face away from `normals` (one an element) turn back: their second stretch counts as negative.
    ///
    /// # Panics
    /// If there is not one normal an element.
    pub fn set_facing(&mut self, normals: Vec<Vector<D>>) {
        assert_eq!(normals.len(), self.len(), "one normal for each element");
        self.facing = Some(normals);
    }

    /// Signed stretches of a quadrature point at the last positions.
    pub fn stretches(&self, element: usize, point: usize) -> Vector<C> {
        self.state[element * self.points + point].stretches()
    }

    /// Largest `|s - 1|` over all points.
    pub fn largest_strain(&self) -> f64 {
        let strains = |state: &PointState<S, D, C, M>| (state.stretches() - Vector::repeat(1.0)).amax();
        self.state.iter().map(strains).fold(0.0, f64::max)
    }

    /// Element of a quadrature point; constant-strain elements are spared the division.
    #[inline(always)]
    fn element_of(&self, point: usize) -> usize {
        if self.points == 1 { point } else { point / self.points }
    }

    /// Lamé parameters of an element at the present strength.
    #[inline(always)]
    fn lame(&self, element: usize) -> Lame {
        self.lame[element].scaled(self.strength)
    }

    /// Volume that forces see: rest volume times `det F_p`.
    #[inline]
    fn elastic_volume(&self, point: usize) -> f64 {
        match &self.plastic {
            None => self.volume[point],
            Some(plastic) => self.volume[point] / determinant(&plastic.inverse[point]),
        }
    }

    /// `U` of a point; unit vectors for linear elasticity, whose state holds `F` instead.
    #[inline]
    fn frame(&self, state: &PointState<S, D, C, M>) -> SMatrix<f64, D, C> {
        if self.material.law.model.is_linear() { SMatrix::identity() } else { state.u.map(Into::into) }
    }

    /// Smallest altitude (m) of an element in its elastic rest shape: vertex to opposite face.
    fn altitude(&self, element: usize) -> f64 {
        let mut steepest: f64 = 0.0;
        for point in element * self.points..(element + 1) * self.points {
            let mut first = Vector::<C>::zeros();
            for g in self.rest_gradients(point) {
                steepest = steepest.max(g.norm());
                first += g;
            }
            steepest = steepest.max(first.norm());
        }
        1.0 / steepest
    }

    /// Largest step (s) with a modulus (Pa) of at least `least`, and that of the present state where it matters.
    #[inline(never)]
    fn longest_step(&self, least: impl Fn(&Lame) -> f64) -> f64 {
        if self.strength == 0.0 {
            return f64::INFINITY;
        }
        let tension: f64 =
            self.fibres.iter().map(|family| family.fibre.density * family.fibre.curve.maximum * 3.0).sum();
        let hardens = self.plastic.is_some() || self.material.law.hardens();
        // Elements with the same parameters share the modulus at rest; computed anew only where they change.
        let mut last: Option<(Lame, f64)> = None;
        let mut smallest = f64::INFINITY;
        for element in 0..self.len() {
            let lame = self.lame(element);
            let mut modulus = match last {
                Some((known, modulus)) if known == lame => modulus,
                _ => least(&lame),
            };
            last = Some((lame, modulus));
            if hardens {
                for state in &self.state[element * self.points..(element + 1) * self.points] {
                    modulus = modulus.max(self.material.law.tangent_modulus(&lame, &state.stretches()));
                }
            }
            smallest =
                smallest.min(self.altitude(element) * (self.material.density / (modulus + tension)).sqrt());
        }
        smallest
    }

    /// `F_p^-T g_i`.
    fn rest_gradients(&self, point: usize) -> [Vector<C>; M] {
        let gradients = self.gradient[point].map(|g| Vector::<C>::from(g.map(Into::into)));
        match &self.plastic {
            None => gradients,
            Some(plastic) => gradients.map(|g| plastic.inverse[point].transpose() * g),
        }
    }
}

impl<S: Real, const D: usize, const C: usize, const M: usize> Force<D> for Elements<D, C, M, S>
where
    Shape<D, C>: Decompose<D, C>,
{
    fn name(&self) -> &str {
        &self.name
    }

    #[inline(never)]
    fn update(&mut self, position: &[f64]) -> Result<(), ForceError> {
        self.update_points(position)?;
        self.update_fibres();
        self.update_stiffness_factors();
        Ok(())
    }

    fn energy(&self) -> f64 {
        self.elastic_energy()
    }

    fn is_conservative(&self) -> bool {
        self.material.law.extension.has_energy()
    }

    #[inline(never)]
    fn stresses(&self) -> Option<Vec<f64>> {
        Some(self.von_mises_stresses())
    }

    #[inline(never)]
    fn add_elastic(&self, force: &mut [f64]) {
        self.add_elastic_force(force);
    }

    fn add_load(&self, force: &mut [f64]) {
        self.add_fibre_force(force);
    }

    #[inline(never)]
    fn add_damping(&self, velocity: &[f64], force: &mut [f64]) {
        self.add_damping_force(velocity, force);
    }

    fn damping_rows(&self) -> usize {
        self.gradient.len() * self.rows_per_point()
    }

    #[inline(never)]
    fn apply_factor(&self, velocity: &[f64], dt: f64, out: &mut [f64]) {
        self.apply_damping_factor(velocity, dt, out);
    }

    #[inline(never)]
    fn add_factor_transpose(&self, w: &[f64], dt: f64, force: &mut [f64]) {
        self.add_damping_factor_transpose(w, dt, force);
    }

    #[inline(never)]
    fn add_stiffness(&self, change: &[f64], force: &mut [f64], positive: bool) {
        self.add_stiffness_force(change, force, positive);
    }

    fn elements(&self) -> usize {
        self.len()
    }

    fn element_nodes(&self, element: usize) -> &[u32] {
        self.nodes(element)
    }

    fn add_element_matrix(
        &self,
        element: usize,
        stiffness: f64,
        damping: f64,
        positive: bool,
        out: &mut [f64],
    ) {
        self.add_matrix(element, stiffness, damping, positive, out);
    }

    fn stable_step(&self, _inverse_mass: &[f64]) -> f64 {
        self.longest_step(|lame| self.material.law.wave_modulus::<C>(lame))
    }

    fn stable_step_now(&self, inverse_mass: &[f64]) -> f64 {
        let elastic = self.longest_step(|lame| self.material.law.model.wave_modulus(lame));
        let lag = self.material.damping.time / (MOST_LAG * elastic);
        if lag > 1.0 { (elastic / lag).max(self.stable_step(inverse_mass)) } else { elastic }
    }

    fn stable_step_varies(&self) -> bool {
        self.plastic.is_some() || self.material.law.hardens()
    }

    fn flow(&mut self, position: &[f64]) -> bool {
        self.plastic_flow(position)
    }

    fn set_activation(&mut self, activation: f64) {
        for family in &mut self.fibres {
            family.fibre.activation = activation;
        }
    }

    fn set_family_activation(&mut self, family: usize, activation: f64) {
        if let Some(family) = self.fibres.get_mut(family) {
            family.fibre.activation = activation;
        }
    }

    fn set_strength(&mut self, strength: f64) {
        self.strength = strength;
    }

    fn inverted(&self) -> usize {
        (0..self.len())
            .filter(|element| {
                self.state[element * self.points..(element + 1) * self.points].iter().any(|state| {
                    if self.material.law.model.is_linear() && D == C {
                        determinant(&Matrix::<C>::from_fn(|i, j| state.u[(i, j)].into())) < 0.0
                    } else {
                        state.stretch[C - 1] < S::ZERO
                    }
                })
            })
            .count()
    }

    fn history(&self) -> Vec<f64> {
        self.plastic_history()
    }

    fn restore(&mut self, history: &[f64]) -> bool {
        self.restore_plastic(history)
    }

    fn bytes(&self) -> usize {
        4 * self.nodes.len()
            + size_of_val(self.gradient.as_slice())
            + 8 * (self.volume.len() + self.node_share.len())
            + size_of_val(self.lame.as_slice())
            + size_of_val(self.state.as_slice())
            + size_of_val(self.stiffness_factor.as_slice())
            + self.plastic.as_ref().map_or(0, |plastic| size_of_val(plastic.inverse.as_slice()))
            + self.partition.bytes()
    }

    #[inline(never)]
    fn boxed(&self) -> Box<dyn Force<D>> {
        Box::new(self.clone())
    }
}

impl<S: Real, const D: usize, const C: usize, const M: usize> PointState<S, D, C, M> {
    /// The signed stretches in double precision.
    #[inline(always)]
    fn stretches(&self) -> Vector<C> {
        self.stretch.map(Into::into)
    }

    /// Gradients in the frame of the stretches in double precision.
    #[inline(always)]
    fn gradients(&self) -> [[f64; C]; M] {
        // Not `map`: nested arrays of it are calls, which cost a fifth of the damping force.
        let mut out = [[0.0; C]; M];
        for (out, local) in out.iter_mut().zip(&self.local) {
            for (out, local) in out.iter_mut().zip(local.iter()) {
                *out = (*local).into();
            }
        }
        out
    }

    /// `U^T (dF) V` for the nodal vectors `edges = v_i - v_0`.
    #[inline(always)]
    fn rate(&self, frame: &SMatrix<f64, D, C>, edges: &[[f64; D]; M]) -> Matrix<C> {
        let mut out = Matrix::<C>::zeros();
        for (edge, local) in edges.iter().zip(&self.gradients()) {
            for i in 0..C {
                let mut along = 0.0;
                for k in 0..D {
                    along += frame[(k, i)] * edge[k];
                }
                for j in 0..C {
                    out[(i, j)] += along * local[j];
                }
            }
        }
        out
    }

    /// Adds `factor U S V^T g_i` to the nodes: the force of a stress `S` in the frame of the stretches.
    #[inline(always)]
    fn scatter(
        &self,
        frame: &SMatrix<f64, D, C>,
        stress: &Matrix<C>,
        factor: f64,
        corners: &[u16],
        out: &mut [[f64; D]],
    ) {
        let mut first = [0.0; D];
        for (local, &corner) in self.gradients().iter().zip(&corners[1..]) {
            let mut traction = [0.0; C];
            for i in 0..C {
                for j in 0..C {
                    traction[i] += stress[(i, j)] * local[j];
                }
                traction[i] *= factor;
            }
            let target = &mut out[corner as usize];
            for k in 0..D {
                let mut force = 0.0;
                for i in 0..C {
                    force += frame[(k, i)] * traction[i];
                }
                target[k] += force;
                first[k] -= force;
            }
        }
        let target = &mut out[corners[0] as usize];
        for k in 0..D {
            target[k] += first[k];
        }
    }
}

/// Determinant of a 2x2 or 3x3 matrix.
#[inline]
fn determinant<const C: usize>(m: &Matrix<C>) -> f64 {
    if C == 2 {
        m[(0, 0)] * m[(1, 1)] - m[(0, 1)] * m[(1, 0)]
    } else {
        (0..3)
            .map(|i| {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                m[(0, i)] * (m[(1, j)] * m[(2, k)] - m[(1, k)] * m[(2, j)])
            })
            .sum()
    }
}

/// `v_i - v_0` of the nodes of an element.
#[inline(always)]
fn edges<const D: usize, const M: usize>(values: &[[f64; D]], corners: &[u16]) -> [[f64; D]; M] {
    let origin = values[corners[0] as usize];
    std::array::from_fn(|i| {
        let value = &values[corners[i + 1] as usize];
        std::array::from_fn(|axis| value[axis] - origin[axis])
    })
}
