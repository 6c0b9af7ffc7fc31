//! Equilibrium of a solid under the pressure in a cavity, with its volume kept ring by ring, element by element, or by the material alone. Newton's method on the augmented
//! Lagrangian `W(x) - P V_cavity(x) + sum V_0 (l h(x) + r/2 h(x)^2)`, where `h` are relative changes of volume, `l` their pressures and the stiffness is exact; the rings are those of the product.

use crate::CaseError;
use splashdown_deformable::Solid;
use splashdown_deformable::element::{Damping, DampingKind, Material};
use splashdown_deformable::incompressible::Rings;
use splashdown_deformable::material::{Lame, Law, Model};
use splashdown_math::Vector;
use splashdown_solve::{CsrMatrix, SparseCholesky};

/// What keeps the volume.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Keeps {
    /// The volume of the ring around each node.
    Rings,
    /// That of each element: as many constraints as elements.
    Elements,
    /// Only the material, with this ratio of Poisson.
    Material(f64),
}

/// A neo-Hookean material of shear modulus 1 Pa and density 1.
pub(super) fn unit_material(poisson: f64) -> Result<Material, CaseError> {
    Ok(Material {
        law: Law::safe(Model::NeoHookean),
        lame: Lame::new(2.0 * (1.0 + poisson), poisson).map_err(failed)?,
        density: 1.0,
        damping: Damping { kind: DampingKind::Linear, time: 0.0 },
    })
}

fn failed(error: impl std::fmt::Display) -> CaseError {
    CaseError::new("finding the equilibrium", error)
}

/// A solid of simplices of `D + 1` corners around a cavity.
pub(super) struct Vessel<const D: usize> {
    pub solid: Solid<D>,
    /// Corners of all simplices.
    pub simplices: Vec<u32>,
    /// Positions (m), first those at rest.
    pub position: Vec<f64>,
    /// Faces of the cavity, seen from inside it in the order in which the elements have positive volume.
    pub cavity: Vec<[u32; D]>,
    /// Coordinates that stay as they are; empty for none.
    pub held: Vec<bool>,
    /// Force (N) that is left along each coordinate: at the end only along those held, where it is what the body does to its support.
    pub unbalanced: Vec<f64>,
}

/// Penalty (Pa) on relative changes of volume: against a shear modulus of 1 Pa, multipliers gain some digits a step.
const PENALTY: f64 = 1e4;
/// Largest unbalanced force, and largest relative change of volume, of an equilibrium.
const BALANCED: f64 = 1e-9;
const MOST_STEPS: usize = 60;

impl<const D: usize> Vessel<D> {
    /// Raises the pressure in the cavity to `pressure` (Pa) in `parts` equal parts and moves to equilibrium after each.
    pub fn inflate(&mut self, pressure: f64, parts: usize, keeps: Keeps) -> Result<(), CaseError> {
        self.load(parts, keeps, |part, _| pressure * part as f64 / parts as f64)
    }

    /// Moves to equilibrium after each of `parts` of a load: `change` gets its number, from 1 on, and the positions (m), of which it moves those that are held, and returns the
    /// pressure (Pa) in the cavity.
    pub fn load(
        &mut self,
        parts: usize,
        keeps: Keeps,
        mut change: impl FnMut(usize, &mut [f64]) -> f64,
    ) -> Result<(), CaseError> {
        let mut rings =
            Rings::<D>::new(D + 1, &self.simplices, &self.position).ok_or_else(|| failed("no rings"))?;
        let count = self.simplices.len() / (D + 1);
        let rest: Vec<f64> = match keeps {
            Keeps::Rings => rings.rest().to_vec(),
            Keeps::Elements => (0..count).map(|element| self.element(element).volume()).collect(),
            Keeps::Material(_) => Vec::new(),
        };
        let mut multipliers = vec![0.0; rest.len()];
        for part in 1..=parts {
            let pressure = change(part, &mut self.position);
            self.balance(pressure, keeps, &mut rings, &rest, &mut multipliers)?;
        }
        Ok(())
    }

    fn element(&self, element: usize) -> Simplex<D> {
        self.simplex(&self.simplices[(D + 1) * element..(D + 1) * (element + 1)])
    }

    fn simplex(&self, nodes: &[u32]) -> Simplex<D> {
        let at = |node: u32| Vector::<D>::from_column_slice(&self.position[D * node as usize..][..D]);
        // A face of the cavity is one with the origin, which does not move.
        let first = if nodes.len() > D { at(nodes[0]) } else { Vector::zeros() };
        let edges = std::array::from_fn(|k| at(nodes[nodes.len() - D + k]) - first);
        Simplex { edges }
    }

    fn balance(
        &mut self,
        pressure: f64,
        keeps: Keeps,
        rings: &mut Rings<D>,
        rest: &[f64],
        multipliers: &mut [f64],
    ) -> Result<(), CaseError> {
        let size = self.position.len();
        let corners = D + 1;
        let mut whole_step = false;
        for _ in 0..MOST_STEPS {
            self.solid.update(&self.position).map_err(failed)?;
            rings.update(&self.position);
            let elements = self.simplices.len() / corners;
            let (rows, volumes) = match keeps {
                Keeps::Rings => (rings.matrix(self.solid.len()).map_err(failed)?, rings.ring_volumes()),
                Keeps::Elements => {
                    let mut triplets = Vec::new();
                    for element in 0..elements {
                        let nodes = &self.simplices[corners * element..corners * (element + 1)];
                        for (&node, slope) in nodes.iter().zip(self.element(element).slopes()) {
                            triplets.extend((0..D).map(|k| (element, D * node as usize + k, slope[k])));
                        }
                    }
                    let rows = CsrMatrix::from_triplets(elements, size, &triplets).map_err(failed)?;
                    (rows, (0..elements).map(|element| self.element(element).volume()).collect())
                }
                Keeps::Material(_) => (CsrMatrix::zeros(0, size), Vec::new()),
            };
            let change: Vec<f64> = volumes.iter().zip(rest).map(|(now, rest)| now / rest - 1.0).collect();
            // After a whole step of Newton's method the multipliers take what the penalty did.
            if whole_step {
                multipliers
                    .iter_mut()
                    .zip(&change)
                    .for_each(|(multiplier, change)| *multiplier += PENALTY * change);
            }
            let pull: Vec<f64> = multipliers
                .iter()
                .zip(&change)
                .map(|(multiplier, change)| multiplier + PENALTY * change)
                .collect();
            let mut force = vec![0.0; size];
            self.solid.add_elastic(&mut force);
            let mut pulled = vec![0.0; size];
            rows.add_transpose_multiply(&pull, &mut pulled);
            force.iter_mut().zip(&pulled).for_each(|(force, pulled)| *force -= pulled);
            let mut triplets = Vec::new();
            for face in &self.cavity {
                let simplex = self.simplex(face);
                for (&node, slope) in face.iter().zip(&simplex.slopes()[1..]) {
                    (0..D).for_each(|k| force[D * node as usize + k] += pressure * slope[k]);
                }
                simplex.add_curvature(-pressure, &[&[u32::MAX][..], face].concat(), &mut triplets);
            }
            self.unbalanced.clone_from(&force);
            for (force, _) in force.iter_mut().zip(&self.held).filter(|(_, held)| **held) {
                *force = 0.0;
            }
            let worst = force.iter().fold(0.0f64, |most, f| most.max(f.abs()));
            let bent = change.iter().fold(0.0f64, |most, c| most.max(c.abs()));
            if worst < BALANCED && bent < BALANCED {
                return Ok(());
            }
            let mut dense = vec![0.0; (corners * D).pow(2)];
            for element in 0..elements {
                let nodes = &self.simplices[corners * element..corners * (element + 1)];
                let mean = match keeps {
                    Keeps::Rings => {
                        nodes.iter().map(|&node| pull[node as usize]).sum::<f64>() / corners as f64
                    }
                    Keeps::Elements => pull[element],
                    Keeps::Material(_) => 0.0,
                };
                self.element(element).add_curvature(mean, nodes, &mut triplets);
            }
            for force in self.solid.forces() {
                for element in 0..force.elements() {
                    dense.fill(0.0);
                    force.add_element_matrix(element, 1.0, 0.0, false, &mut dense);
                    let nodes = force.element_nodes(element);
                    let place = |i: usize| D * nodes[i / D] as usize + i % D;
                    let width = corners * D;
                    triplets
                        .extend((0..width * width).map(|i| (place(i / width), place(i % width), dense[i])));
                }
            }
            let stiffness = CsrMatrix::from_triplets(size, size, &triplets).map_err(failed)?;
            let mut scaled = rows.clone();
            for row in 0..rows.rows() {
                let range = rows.offsets()[row]..rows.offsets()[row + 1];
                scaled.values_mut()[range]
                    .iter_mut()
                    .for_each(|value| *value *= (PENALTY / rest[row]).sqrt());
            }
            let penalty = scaled.transpose().product(&scaled).map_err(failed)?;
            let mut whole = stiffness.sum(1.0, &penalty).map_err(failed)?;
            self.hold(&mut whole);
            let mut factor = definite_factor(&whole)?;
            let mut step = vec![0.0; size];
            factor.solve(&force, &mut step).map_err(failed)?;
            let slope: f64 = force.iter().zip(&step).map(|(force, step)| force * step).sum();
            let start = self.position.clone();
            let before = self.potential(pressure, keeps, rings, rest, multipliers)?;
            let mut length = 1.0;
            loop {
                self.position = start.iter().zip(&step).map(|(x, step)| x + length * step).collect();
                let after = self.potential(pressure, keeps, rings, rest, multipliers)?;
                if after <= before - 1e-4 * length * slope + 1e-12 * before.abs() || length < 1e-6 {
                    break;
                }
                length *= 0.5;
            }
            whole_step = length == 1.0;
        }
        Err(failed(format!("none within {MOST_STEPS} steps at a pressure of {pressure}")))
    }
}

impl<const D: usize> Vessel<D> {
    /// Gives coordinates that are held an equation of their own.
    fn hold(&self, matrix: &mut CsrMatrix) {
        let (offsets, columns) = (matrix.offsets().to_vec(), matrix.columns().to_vec());
        let values = matrix.values_mut();
        for row in 0..self.held.len() {
            for at in offsets[row]..offsets[row + 1] {
                let column = columns[at] as usize;
                if self.held[row] || self.held[column] {
                    values[at] = if row == column { 1.0 } else { 0.0 };
                }
            }
        }
    }

    /// The augmented Lagrangian (J) at the present positions.
    fn potential(
        &mut self,
        pressure: f64,
        keeps: Keeps,
        rings: &mut Rings<D>,
        rest: &[f64],
        multipliers: &[f64],
    ) -> Result<f64, CaseError> {
        self.solid.update(&self.position).map_err(failed)?;
        let volumes: Vec<f64> = match keeps {
            Keeps::Rings => {
                rings.update(&self.position);
                rings.ring_volumes()
            }
            Keeps::Elements => (0..rest.len()).map(|element| self.element(element).volume()).collect(),
            Keeps::Material(_) => Vec::new(),
        };
        let kept = volumes.iter().zip(rest).zip(multipliers).map(|((now, rest), multiplier)| {
            let change = now / rest - 1.0;
            rest * (multiplier * change + 0.5 * PENALTY * change * change)
        });
        let cavity: f64 = self.cavity.iter().map(|face| self.simplex(face).volume()).sum();
        Ok(self.solid.energy() - pressure * cavity + kept.sum::<f64>())
    }
}

/// A factor of the stiffness, with as little added to its diagonal as makes it definite: rigid motions meet no stiffness, and away from equilibrium a pressure makes that of a
/// rotation negative. What is added changes the way to the equilibrium, not where it is.
fn definite_factor(stiffness: &CsrMatrix) -> Result<SparseCholesky, CaseError> {
    let size = stiffness.rows();
    let largest = stiffness.diagonal().iter().fold(0.0f64, |most, value| most.max(value.abs()));
    let mut added = 1e-12 * largest;
    loop {
        let shifted = stiffness.sum(added, &CsrMatrix::identity(size)).map_err(failed)?;
        match SparseCholesky::new(&shifted) {
            Ok(factor) => return Ok(factor),
            Err(error) if added > largest => return Err(failed(error)),
            Err(_) => added *= 10.0,
        }
    }
}

/// A simplex by its edges from the first corner.
struct Simplex<const D: usize> {
    edges: [Vector<D>; D],
}

impl<const D: usize> Simplex<D> {
    /// Factor of the determinant of the edges.
    const SHARE: f64 = if D == 2 { 0.5 } else { 1.0 / 6.0 };

    /// The vector `w` with `det(edges with edge k replaced by u) = w . u`.
    fn cofactor(&self, k: usize) -> Vector<D> {
        let e = &self.edges;
        let mut out = Vector::zeros();
        if D == 2 {
            let other = e[1 - k];
            let sign = if k == 0 { 1.0 } else { -1.0 };
            (out[0], out[1]) = (sign * other[1], -sign * other[0]);
        } else {
            let (a, b) = (e[(k + 1) % 3], e[(k + 2) % 3]);
            for i in 0..3 {
                out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
            }
        }
        out
    }

    fn volume(&self) -> f64 {
        Self::SHARE * self.cofactor(0).dot(&self.edges[0])
    }

    /// Derivatives of the volume by the corners.
    fn slopes(&self) -> Vec<Vector<D>> {
        let others: Vec<Vector<D>> = (0..D).map(|k| self.cofactor(k) * Self::SHARE).collect();
        let first = -others.iter().sum::<Vector<D>>();
        [vec![first], others].concat()
    }

    /// Second derivatives of the volume times `factor`, for corners at `nodes`; [`u32::MAX`] is one that does not move.
    fn add_curvature(&self, factor: f64, nodes: &[u32], out: &mut Vec<(usize, usize, f64)>) {
        for a in 0..D {
            for b in (0..D).filter(|&b| b != a) {
                for j in 0..D {
                    // How the slope by edge `a` changes when edge `b` does along axis `j`: it is linear in that edge.
                    let mut unit = Self { edges: self.edges };
                    unit.edges[b] = Vector::zeros();
                    unit.edges[b][j] = 1.0;
                    let slope = unit.cofactor(a) * (factor * Self::SHARE);
                    for i in 0..D {
                        for (row, sign_a) in [(nodes[a + 1], 1.0), (nodes[0], -1.0)] {
                            for (column, sign_b) in [(nodes[b + 1], 1.0), (nodes[0], -1.0)] {
                                if row != u32::MAX && column != u32::MAX && slope[i] != 0.0 {
                                    let place = (D * row as usize + i, D * column as usize + j);
                                    out.push((place.0, place.1, sign_a * sign_b * slope[i]));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
