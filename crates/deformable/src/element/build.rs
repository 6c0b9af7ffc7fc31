//! Elements from meshes.

use super::{Decompose, Elements, Material, Partition, PointState, Shape, determinant};
use crate::material::MaterialError;
use nalgebra::SMatrix;
use splashdown_geometry::mesh::{HexahedronMesh, Mesh, MeshError, TetrahedronMesh, TriangleMesh};
use splashdown_math::{Matrix, Vector};

/// Elements in one chunk of the assembly.
const CHUNK: usize = 512;
/// Smallest altitude of an element relative to its longest edge.
const SLIVER: f64 = 1e-6;

/// A mesh that cannot be made into elements.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ElementError {
    /// A defect of the mesh itself: bad indices, repeated corners, coordinates that are not finite.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// A material that cannot be.
    #[error(transparent)]
    Material(#[from] MaterialError),
    /// An element that is flat at rest.
    #[error(
        "element {element} has (nearly) no height at rest: {altitude:e} m with edges of {edge:e} m; remove it or mesh the shape anew"
    )]
    Flat {
        /// The element.
        element: usize,
        /// Its smallest altitude (m).
        altitude: f64,
        /// Its longest edge (m).
        edge: f64,
    },
    /// An element that is inside out at rest.
    #[error("element {element} is inside out at rest (signed volume {volume:e}); swap two of its corners")]
    Inverted {
        /// The element.
        element: usize,
        /// Signed rest volume.
        volume: f64,
    },
    /// A goal shape with a flat or inverted element.
    #[error("the goal shape turns element {element} flat or inside out; plastic flow cannot lead there")]
    Goal {
        /// The element.
        element: usize,
    },
    /// A reference element that is none.
    #[error("the reference element is none: {0}")]
    Reference(String),
    /// Linear elasticity asked for a membrane.
    #[error("linear elasticity has no meaning for a membrane in space; use `rotated_linear`")]
    LinearMembrane,
}

impl<const D: usize, const C: usize, const M: usize> Elements<D, C, M> {
    /// The same elements with what each of them keeps in single precision: two thirds of the memory, and rotations and stretches to 1e-6.
    pub fn into_single(self) -> Elements<D, C, M, f32> {
        let single = |g: [[f64; C]; M]| g.map(|g| g.map(|g| g as f32));
        Elements {
            gradient: self.gradient.into_iter().map(single).collect(),
            state: self
                .state
                .into_iter()
                .map(|PointState { u, stretch, local }| PointState {
                    u: u.map(|u| u as f32),
                    stretch: stretch.map(|s| s as f32),
                    local: single(local),
                })
                .collect(),
            name: self.name,
            nodes: self.nodes,
            points: self.points,
            volume: self.volume,
            node_share: self.node_share,
            lame: self.lame,
            strength: self.strength,
            material: self.material,
            fibres: self.fibres,
            plastic: self.plastic,
            facing: self.facing,
            stiffness_factor: self.stiffness_factor,
            partition: self.partition,
        }
    }
}

/// A direction in space as membrane triangles of this mesh see it, in the axes that [`Elements::add_fibres`] takes: its part in the plane of each. `field` gives the direction at a place of the
/// rest shape (m).
pub fn membrane_directions(
    mesh: &TriangleMesh<3>,
    field: impl Fn(&Vector<3>) -> Vector<3>,
) -> Vec<Vector<2>> {
    let within = |element: usize| {
        let corners = mesh.corners(element);
        let direction = field(&((corners[0] + corners[1] + corners[2]) / 3.0));
        let [x, y] = membrane_axes(&corners);
        Vector::<2>::new(x.dot(&direction), y.dot(&direction))
    };
    (0..mesh.elements.len()).map(within).collect()
}

/// Axes of the rest plane of a membrane triangle: along its first edge, and across towards its third corner.
fn membrane_axes(corners: &[Vector<3>; 3]) -> [Vector<3>; 2] {
    let [a, b, c] = corners;
    let x = (b - a).normalize();
    let across = (c - a) - x * x.dot(&(c - a));
    [x, across.normalize()]
}

/// One quadrature point of the reference element of an isoparametric element with `N` nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReferencePoint<const C: usize, const N: usize> {
    /// Derivatives of the shape functions of all nodes by the reference coordinates; those of one coordinate sum to zero.
    pub derivative: [[f64; C]; N],
    /// Part of the mass at this point that each node takes; they sum to one. The values of the shape functions, where these are positive.
    pub value: [f64; N],
    /// Weight of the point; the weights sum to the volume of the reference element.
    pub weight: f64,
}

impl<const C: usize, const N: usize> ReferencePoint<C, N> {
    fn check(&self, at: usize) -> Result<(), ElementError> {
        let wrong = |what: String| Err(ElementError::Reference(format!("quadrature point {at}: {what}")));
        if !(self.weight.is_finite() && self.weight > 0.0) {
            return wrong(format!("the weight {} is not a finite number above 0", self.weight));
        }
        for axis in 0..C {
            let along = || self.derivative.iter().map(|derivative| derivative[axis]);
            let (sum, size): (f64, f64) = (along().sum(), along().map(f64::abs).sum());
            if !(sum.abs() <= 1e-12 * size) {
                return wrong(format!(
                    "the derivatives of the shape functions along axis {axis} sum to {sum:e}, not to 0"
                ));
            }
        }
        let sum: f64 = self.value.iter().sum();
        if !((sum - 1.0).abs() <= 1e-12) {
            return wrong(format!("the parts of the mass sum to {sum}, not to 1"));
        }
        match self.value.iter().position(|&value| !(value >= 0.0)) {
            Some(node) => wrong(format!(
                "node {node} takes the part {} of the mass, which is negative",
                self.value[node]
            )),
            None => Ok(()),
        }
    }
}

impl<const D: usize, const C: usize, const M: usize> Elements<D, C, M>
where
    Shape<D, C>: Decompose<D, C>,
{
    fn checked<const N: usize, const B: usize>(
        mesh: &Mesh<B, N>,
        material: &Material,
    ) -> Result<(), ElementError>
    where
        splashdown_geometry::mesh::Corners<N>: splashdown_geometry::mesh::Element<N>,
    {
        mesh.check_not_empty()?;
        mesh.check_indices()?;
        mesh.check_finite()?;
        mesh.check_distinct_corners()?;
        mesh.check_distinct_elements()?;
        Self::check_material(material)
    }

    fn check_material(material: &Material) -> Result<(), ElementError> {
        material.law.check()?;
        material.damping.check()?;
        if !(material.density.is_finite() && material.density > 0.0) {
            return Err(MaterialError::Density(material.density).into());
        }
        Ok(())
    }

    /// From gradients and volumes of the quadrature points.
    #[allow(clippy::too_many_arguments)]
    fn from_points(
        name: &str,
        nodes: Vec<u32>,
        points: usize,
        gradient: Vec<[[f64; C]; M]>,
        volume: Vec<f64>,
        node_share: Vec<f64>,
        material: Material,
    ) -> Self {
        let count = nodes.len() / (M + 1);
        let partition = Partition::new(&nodes, M + 1, (CHUNK / points).max(16));
        let state = gradient
            .iter()
            .map(|local| PointState { u: SMatrix::identity(), stretch: Vector::repeat(1.0), local: *local })
            .collect();
        Self {
            name: name.into(),
            nodes,
            points,
            gradient,
            volume,
            node_share,
            lame: vec![material.lame; count],
            strength: 1.0,
            material,
            fibres: Vec::new(),
            plastic: None,
            facing: None,
            state,
            stiffness_factor: Vec::new(),
            partition,
        }
    }

    /// Constant-strain simplices from the edge matrices `D_m` of their rest shape.
    fn simplices(
        name: &str,
        nodes: Vec<u32>,
        rest: impl Fn(usize) -> (Matrix<C>, f64),
        material: Material,
    ) -> Result<Self, ElementError> {
        let count = nodes.len() / (M + 1);
        let (mut gradient, mut volume) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let factorial = if C == 3 { 6.0 } else { 2.0 };
        for element in 0..count {
            let (edges, thickness) = rest(element);
            let determinant = determinant(&edges);
            let longest = edges.column_iter().map(|edge| edge.norm()).fold(0.0, f64::max);
            // An altitude is the volume over the area of a face; the faces are no larger than the square of the longest edge.
            let smallest = determinant.abs() / longest.powi(C as i32 - 1);
            if !(smallest > SLIVER * longest) {
                return Err(ElementError::Flat { element, altitude: smallest, edge: longest });
            }
            if determinant < 0.0 {
                return Err(ElementError::Inverted { element, volume: determinant / factorial });
            }
            let Some(inverse) = edges.try_inverse() else {
                return Err(ElementError::Flat { element, altitude: smallest, edge: longest });
            };
            // Rows of D_m^-1 are the gradients of the shape functions of nodes 1..=M.
            gradient.push(std::array::from_fn(|i| std::array::from_fn(|j| inverse[(i, j)])));
            volume.push(determinant / factorial * thickness);
        }
        let share = vec![1.0 / (M + 1) as f64; count * (M + 1)];
        Ok(Self::from_points(name, nodes, 1, gradient, volume, share, material))
    }

    /// Isoparametric elements of any kind, `N = M + 1` nodes each: `F_g = D_s H_g (D_m H_g)^-1` at every quadrature point of `reference` (spec 3.13). `first` is the particle of the mesh's point 0.
    ///
    /// # Errors
    /// Names the element that is flat or inside out at a quadrature point, the bad index, the bad material, or what is wrong with the reference element.
    pub fn isoparametric<const N: usize>(
        name: &str,
        mesh: &Mesh<C, N>,
        first: u32,
        reference: &[ReferencePoint<C, N>],
        material: Material,
    ) -> Result<Self, ElementError> {
        if N != M + 1 || reference.is_empty() {
            let (points, nodes) = (reference.len(), M + 1);
            return Err(ElementError::Reference(format!(
                "{N} nodes and {points} quadrature points for elements of {nodes} nodes"
            )));
        }
        reference.iter().enumerate().try_for_each(|(at, point)| point.check(at))?;
        Self::check_nodes(mesh, &material)?;
        Self::from_reference(name, mesh, first, reference, material)
    }

    /// As [`Self::checked`], for elements with any nodes.
    fn check_nodes<const N: usize>(mesh: &Mesh<C, N>, material: &Material) -> Result<(), ElementError> {
        if mesh.points.is_empty() || mesh.elements.is_empty() {
            let (points, elements) = (mesh.points.len(), mesh.elements.len());
            return Err(MeshError::Empty { points, elements }.into());
        }
        let finite = |x: &Vector<C>| x.iter().all(|c| c.is_finite());
        if let Some(point) = mesh.points.iter().position(|x| !finite(x)) {
            let coordinates = mesh.points[point].as_slice().to_vec();
            return Err(MeshError::NotFinite { point, coordinates }.into());
        }
        for (element, nodes) in mesh.elements.iter().enumerate() {
            if let Some(&index) = nodes.iter().find(|&&node| node as usize >= mesh.points.len()) {
                let points = mesh.points.len();
                return Err(MeshError::IndexOutOfRange { element, index, points }.into());
            }
            if let Some(at) = (1..N).find(|&at| nodes[..at].contains(&nodes[at])) {
                return Err(MeshError::RepeatedIndex { element, index: nodes[at] }.into());
            }
        }
        Self::check_material(material)
    }

    fn from_reference<const N: usize>(
        name: &str,
        mesh: &Mesh<C, N>,
        first: u32,
        reference: &[ReferencePoint<C, N>],
        material: Material,
    ) -> Result<Self, ElementError> {
        let points = reference.len();
        let total = mesh.elements.len() * points;
        let (mut gradient, mut volume) = (Vec::with_capacity(total), Vec::with_capacity(total));
        let mut share = Vec::with_capacity(total * N);
        for element in 0..mesh.elements.len() {
            let corners = mesh.corners(element);
            let size = corners.iter().map(|x| (x - corners[0]).norm()).fold(0.0, f64::max);
            for point in reference {
                let mut jacobian = Matrix::<C>::zeros();
                for (x, h) in corners.iter().zip(&point.derivative) {
                    for i in 0..C {
                        for j in 0..C {
                            jacobian[(i, j)] += (x[i] - corners[0][i]) * h[j];
                        }
                    }
                }
                let determinant = determinant(&jacobian);
                if determinant < 0.0 {
                    return Err(ElementError::Inverted { element, volume: determinant * point.weight });
                }
                let inverse = match jacobian.try_inverse() {
                    Some(inverse) if determinant > SLIVER * size.powi(C as i32) => inverse,
                    _ => return Err(ElementError::Flat { element, altitude: determinant, edge: size }),
                };
                gradient.push(std::array::from_fn(|i| {
                    std::array::from_fn(|j| {
                        (0..C).map(|k| point.derivative[i + 1][k] * inverse[(k, j)]).sum::<f64>()
                    })
                }));
                volume.push(determinant * point.weight);
                share.extend(point.value);
            }
        }
        let nodes = mesh.elements.iter().flatten().map(|node| node + first).collect();
        Ok(Self::from_points(name, nodes, points, gradient, volume, share, material))
    }
}

impl Elements<3, 3, 3> {
    /// Tetrahedra; `first` is the particle of the mesh's point 0.
    ///
    /// # Errors
    /// Names the element that is flat or inside out, the bad index, or the bad material.
    pub fn tetrahedra(mesh: &TetrahedronMesh, first: u32, material: Material) -> Result<Self, ElementError> {
        Self::checked(mesh, &material)?;
        let nodes = mesh.elements.iter().flatten().map(|node| node + first).collect();
        let rest = |element: usize| {
            let [a, b, c, d] = mesh.corners(element);
            (Matrix::from_columns(&[b - a, c - a, d - a]), 1.0)
        };
        Self::simplices("tetrahedra", nodes, rest, material)
    }
}

impl Elements<2, 2, 2> {
    /// Triangles in the plane; `first` is the particle of the mesh's point 0.
    ///
    /// # Errors
    /// Names the element that is flat or inside out, the bad index, or the bad material.
    pub fn triangles(mesh: &TriangleMesh<2>, first: u32, material: Material) -> Result<Self, ElementError> {
        Self::checked(mesh, &material)?;
        let nodes = mesh.elements.iter().flatten().map(|node| node + first).collect();
        let rest = |element: usize| {
            let [a, b, c] = mesh.corners(element);
            (Matrix::from_columns(&[b - a, c - a]), 1.0)
        };
        Self::simplices("triangles", nodes, rest, material)
    }
}

impl Elements<3, 2, 2> {
    /// Membrane triangles in space of the given thickness (m); `first` is the particle of the mesh's point 0. Each has its own plane as rest shape.
    ///
    /// # Errors
    /// Names the element that is flat, the bad index, or the bad material.
    pub fn membrane(
        mesh: &TriangleMesh<3>,
        first: u32,
        thickness: f64,
        material: Material,
    ) -> Result<Self, ElementError> {
        Self::checked(mesh, &material)?;
        if !(thickness.is_finite() && thickness > 0.0) {
            return Err(MaterialError::Thickness(thickness).into());
        }
        if material.law.model.is_linear() {
            return Err(ElementError::LinearMembrane);
        }
        let nodes = mesh.elements.iter().flatten().map(|node| node + first).collect();
        let rest = |element: usize| {
            let [a, b, c] = mesh.corners(element);
            let [x, y] = membrane_axes(&[a, b, c]);
            let (along, other) = (b - a, c - a);
            (Matrix::<2>::new(along.norm(), x.dot(&other), 0.0, y.dot(&other)), thickness)
        };
        Self::simplices("membrane", nodes, rest, material)
    }
}

impl Elements<3, 3, 7> {
    /// Trilinear hexahedra with 2x2x2 Gauss points; `first` is the particle of the mesh's point 0.
    ///
    /// # Errors
    /// Names the element that is flat or inside out at a Gauss point, the bad index, or the bad material.
    pub fn hexahedra(mesh: &HexahedronMesh, first: u32, material: Material) -> Result<Self, ElementError> {
        Self::checked(mesh, &material)?;
        let sign = |corner: usize, axis: usize| if corner >> (2 - axis) & 1 == 1 { 1.0 } else { -1.0 };
        let gauss = 1.0 / 3f64.sqrt();
        let reference: Vec<ReferencePoint<3, 8>> = (0..8)
            .map(|point| {
                let at: [f64; 3] = std::array::from_fn(|axis| sign(point, axis) * gauss);
                let factor = |corner: usize, axis: usize| 0.5 * (1.0 + sign(corner, axis) * at[axis]);
                ReferencePoint {
                    derivative: std::array::from_fn(|corner| {
                        std::array::from_fn(|axis| {
                            (0..3)
                                .map(|k| if k == axis { 0.5 * sign(corner, axis) } else { factor(corner, k) })
                                .product()
                        })
                    }),
                    value: std::array::from_fn(|corner| (0..3).map(|axis| factor(corner, axis)).product()),
                    weight: 1.0,
                }
            })
            .collect();
        Self::from_reference("hexahedra", mesh, first, &reference, material)
    }
}

impl Elements<3, 3, 9> {
    /// Quadratic tetrahedra: four corners, then the middles of the edges 01, 12, 02, 03, 13, 23; four Gauss points. They do not lock as linear ones do.
    ///
    /// # Errors
    /// Names the element that is flat or inside out at a Gauss point, the bad index, or the bad material.
    pub fn quadratic_tetrahedra(
        mesh: &Mesh<3, 10>,
        first: u32,
        material: Material,
    ) -> Result<Self, ElementError> {
        Self::check_nodes(mesh, &material)?;
        // What the middles make of it shows in the volumes.
        let corners = mesh.elements.iter().map(|&[a, b, c, d, ..]| [a, b, c, d]).collect();
        Self::checked(&TetrahedronMesh { points: mesh.points.clone(), elements: corners }, &material)?;
        let (a, b) = (0.585_410_196_624_968_5, 0.138_196_601_125_010_5);
        let pairs = [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]];
        let reference: Vec<ReferencePoint<3, 10>> = (0..4)
            .map(|point| {
                // Barycentric coordinates of the Gauss point and their derivatives by (xi, eta, zeta) = (l1, l2, l3).
                let l: [f64; 4] = std::array::from_fn(|i| if i == point { a } else { b });
                let dl = |i: usize, axis: usize| match i {
                    0 => -1.0,
                    i if i == axis + 1 => 1.0,
                    _ => 0.0,
                };
                ReferencePoint {
                    derivative: std::array::from_fn(|node| {
                        std::array::from_fn(|axis| {
                            if node < 4 {
                                (4.0 * l[node] - 1.0) * dl(node, axis)
                            } else {
                                let [i, j] = pairs[node - 4];
                                4.0 * (l[i] * dl(j, axis) + l[j] * dl(i, axis))
                            }
                        })
                    }),
                    // Row sums would make the corners negative; the scaled diagonal of the consistent mass (Hinton, Rock, Zienkiewicz 1976) does not.
                    value: std::array::from_fn(|node| if node < 4 { 1.0 / 36.0 } else { 4.0 / 27.0 }),
                    weight: 1.0 / 24.0,
                }
            })
            .collect();
        Self::from_reference("quadratic tetrahedra", mesh, first, &reference, material)
    }
}
