//! What can be wrong with a mesh.

/// A defect of a mesh, with the element or vertex that has it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// No points or no elements.
    #[error("the mesh has {points} points and {elements} elements; at least one element is needed")]
    Empty {
        /// Number of points.
        points: usize,
        /// Number of elements.
        elements: usize,
    },
    /// An index that names no point.
    #[error(
        "element {element} refers to point {index}, but the mesh has {points} points (indices start at 0)"
    )]
    IndexOutOfRange {
        /// The element.
        element: usize,
        /// The bad index.
        index: u32,
        /// Number of points.
        points: usize,
    },
    /// An element that uses one point twice.
    #[error("element {element} uses point {index} more than once; its corners must be different points")]
    RepeatedIndex {
        /// The element.
        element: usize,
        /// The repeated index.
        index: u32,
    },
    /// The same element twice, perhaps with its corners in another order.
    #[error("elements {elements:?} have the same corners {corners:?}; leave one of them out")]
    DuplicateElement {
        /// The two elements.
        elements: [usize; 2],
        /// Their corners, ascending.
        corners: Vec<u32>,
    },
    /// A coordinate that is NaN or infinite.
    #[error("point {point} has a coordinate that is not finite: {coordinates:?}")]
    NotFinite {
        /// The point.
        point: usize,
        /// Its coordinates.
        coordinates: Vec<f64>,
    },
    /// An element without length, area or volume.
    #[error("element {element} has (nearly) no size: {measure:e} with edges of {edge:e} m")]
    ZeroSize {
        /// The element.
        element: usize,
        /// Its length, area or volume (m, m^2, m^3).
        measure: f64,
        /// Its longest edge (m).
        edge: f64,
    },
    /// An element whose corners are listed in the wrong order.
    #[error("element {element} is inside out (signed measure {measure:e}); swap two of its corners")]
    Inverted {
        /// The element.
        element: usize,
        /// Its signed area or volume (m^2, m^3).
        measure: f64,
    },
    /// A facet (a point in 2D, an edge in 3D) shared by more than two surface elements, or a face shared by more than two solid elements.
    #[error(
        "facet {facet:?} belongs to {count} elements, {elements:?} among them; a manifold mesh has at most two"
    )]
    NonManifold {
        /// Its points.
        facet: Vec<u32>,
        /// The first three elements around it.
        elements: Vec<usize>,
        /// How many there are.
        count: usize,
    },
    /// A surface that is not closed.
    #[error("the surface leaks: {count} boundary facets, the first is {facet:?} of element {element}")]
    Leaky {
        /// The first boundary facet.
        facet: Vec<u32>,
        /// Its element.
        element: usize,
        /// Number of boundary facets.
        count: usize,
    },
    /// Two neighbours that disagree about which side is outside.
    #[error(
        "elements {elements:?} run through their common facet {facet:?} in the same direction; one of them is turned around"
    )]
    InconsistentOrientation {
        /// The common facet.
        facet: Vec<u32>,
        /// The two elements.
        elements: [usize; 2],
    },
    /// A surface that no choice of sides makes consistent, such as a Moebius strip.
    #[error(
        "the surface has only one side: no orientation of its elements agrees at facet {facet:?} of element {element}"
    )]
    NotOrientable {
        /// A facet where it fails.
        facet: Vec<u32>,
        /// One of its elements.
        element: usize,
    },
    /// A closed surface whose normals point to the inside.
    #[error(
        "the closed surface encloses the volume {volume:e}; its normals point inwards, reverse its elements"
    )]
    InsideOut {
        /// Signed volume (m^3; m^2 in 2D).
        volume: f64,
    },
    /// A tree that was built for another mesh.
    #[error("the tree has {items} items but the mesh has {elements} elements; build it from this mesh")]
    WrongTree {
        /// Items of the tree.
        items: usize,
        /// Elements of the mesh.
        elements: usize,
    },
    /// A point that no element uses.
    #[error("point {point} belongs to no element ({count} such points)")]
    Unreferenced {
        /// The first such point.
        point: usize,
        /// Number of such points.
        count: usize,
    },
}
