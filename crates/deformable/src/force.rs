//! The contract that every force between particles keeps (spec 1.1): what integrators, the coupled system and implicit solves are written against.

use std::fmt::Debug;

/// A force that cannot be evaluated in the present state.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ForceError {
    /// A logarithmic model without extension met an element that is flat or inside out.
    #[error(
        "element {element} of {force} is flat or inside out, for which its model has no stress; give it an inversion extension (such as `energy`)"
    )]
    Inverted {
        /// Which force.
        force: String,
        /// Which element.
        element: usize,
    },
    /// A position that is not finite.
    #[error("element {element} of {force} has a deformation that is not finite")]
    NotFinite {
        /// Which force.
        force: String,
        /// Which element.
        element: usize,
    },
}

/// A force between particles. Vectors are flat, `D` entries a particle.
///
/// [`update`](Force::update) evaluates everything that depends on positions once (decompositions, directions, bending modes); all other calls use what it
/// left and never decompose again. Elastic and damping parts obey: elastic force is independent of velocity; damping `D(x) v` is linear in `v`, symmetric and
/// negative semidefinite, with the factor `C^T C = -dt D`.
pub trait Force<const D: usize>: Debug + Send + Sync {
    /// What it is, for messages.
    fn name(&self) -> &str;
    /// Takes new positions (m).
    ///
    /// # Errors
    /// A state for which the force has no value; it names the element.
    fn update(&mut self, position: &[f64]) -> Result<(), ForceError>;
    /// Elastic energy (J).
    fn energy(&self) -> f64;
    /// Is the elastic force the gradient of [`Self::energy`] in every state? (Linear inversion extensions are not, spec 3.7.)
    fn is_conservative(&self) -> bool {
        true
    }
    /// Adds the elastic force (N).
    fn add_elastic(&self, force: &mut [f64]);
    /// Adds the part of the elastic force (N) that is a load on the rest of it, such as the tension of fibres: where all is balanced, this tells what was.
    fn add_load(&self, _force: &mut [f64]) {}
    /// Adds the damping force `D v` (N).
    fn add_damping(&self, velocity: &[f64], force: &mut [f64]);
    /// Number of rows of the factor `C`.
    fn damping_rows(&self) -> usize;
    /// `out = C v`; overwrites `out`. `C` scales with `sqrt(dt)`.
    fn apply_factor(&self, velocity: &[f64], dt: f64, out: &mut [f64]);
    /// `force += C^T w`.
    fn add_factor_transpose(&self, w: &[f64], dt: f64, force: &mut [f64]);
    /// Adds `K dx` with `K = -dF_e/dx` (N), as it is or positive semidefinite element by element.
    fn add_stiffness(&self, change: &[f64], force: &mut [f64], positive: bool);
    /// Number of elements: groups of particles that act on each other.
    fn elements(&self) -> usize;
    /// Particles of one element.
    fn element_nodes(&self, element: usize) -> &[u32];
    /// Adds `stiffness K + damping (-D)` of one element to `out`, a row-major square matrix over its nodes; `K` is positive semidefinite if asked.
    fn add_element_matrix(
        &self,
        element: usize,
        stiffness: f64,
        damping: f64,
        positive: bool,
        out: &mut [f64],
    );
    /// Largest step (s) with explicit elasticity in whatever state, without safety factor; infinite if there is no limit.
    fn stable_step(&self, inverse_mass: &[f64]) -> f64;
    /// The same for states near that of the last update. Laws that are stiff only far from it, such as beyond the threshold of an extension, allow longer steps until then.
    fn stable_step_now(&self, inverse_mass: &[f64]) -> f64 {
        self.stable_step(inverse_mass)
    }
    /// Does [`stable_step`](Force::stable_step) depend on the state of the last update? (Strength aside.)
    fn stable_step_varies(&self) -> bool {
        false
    }
    /// Plastic flow at the accepted positions of the last [`update`](Force::update); true if anything flowed, and then the cache is that of the new rest state.
    fn flow(&mut self, _position: &[f64]) -> bool {
        false
    }
    /// Scales all stiffness and damping that belongs to it, for strengths that change in time (1 is as built).
    fn set_strength(&mut self, _strength: f64) {}
    /// Sets the activation (0 to 1) of all fibres that it has.
    fn set_activation(&mut self, _activation: f64) {}
    /// Sets the activation (0 to 1) of one family of its fibres, in the order in which they were added.
    fn set_family_activation(&mut self, _family: usize, _activation: f64) {}
    /// Von Mises stress of every element (Pa; N/m in 2D) at the positions of the last [`update`](Force::update), if it has such elements.
    fn stresses(&self) -> Option<Vec<f64>> {
        None
    }
    /// Elements that are inside out.
    fn inverted(&self) -> usize {
        0
    }
    /// Parts that the last [`update`](Force::update) left out because they have no size, such as hinges beside a triangle without area.
    fn skipped(&self) -> usize {
        0
    }
    /// What a checkpoint must hold: plastic deformations, rest angles and lengths. Empty if nothing changes.
    fn history(&self) -> Vec<f64> {
        Vec::new()
    }
    /// Takes back what [`history`](Force::history) gave; false if it is of another force.
    fn restore(&mut self, history: &[f64]) -> bool {
        history.is_empty()
    }
    /// Bytes of memory held.
    fn bytes(&self) -> usize;
    /// A copy.
    fn boxed(&self) -> Box<dyn Force<D>>;
}

impl<const D: usize> Clone for Box<dyn Force<D>> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}

/// Reads the vector of one particle.
#[inline]
pub(crate) fn read<const D: usize>(values: &[f64], node: u32) -> splashdown_math::Vector<D> {
    splashdown_math::Vector::from_column_slice(&values[D * node as usize..D * (node as usize + 1)])
}
