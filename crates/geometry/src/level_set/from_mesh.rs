//! Signed distance to a mesh: closed surfaces of triangles in 3D, closed curves of segments in 2D.
//!
//! Spec fluid-base 3.9 and rigid-bodies 3.2: exact distance in a band by closest points, fast marching beyond, sign by the generalised winding
//! number (A. Jacobson, L. Kavan, O. Sorkine-Hornung, "Robust inside-outside segmentation using generalized winding numbers", 2013).

use super::{FastMarching, LevelSet, LevelSetError, MarchingOrder, extend_distance};
use crate::bounds::Aabb;
use crate::grid::{Field, Grid, Index, Lattice, Location};
use crate::mesh::{Corners, Element, SurfaceMesh};
use crate::query::{MeshTree, WindingTree};
use serde::{Deserialize, Serialize};
use splashdown_math::Vector;
use splashdown_parallel::prelude::*;

/// What the mesh stands for.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Surface {
    /// The boundary of a solid: closed, manifold, normals outwards; anything else is refused.
    #[default]
    Closed,
    /// The boundary of a solid with defects (holes, overlaps, loose parts): inside is where the winding number exceeds 1/2.
    WithDefects,
    /// A sheet without inside, given this half thickness (m): `phi` is the unsigned distance minus it.
    Shell {
        /// Half thickness (m).
        half_thickness: f64,
    },
}

/// Options of [`LevelSet::from_surface`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SurfaceDistance {
    /// What the mesh stands for.
    pub surface: Surface,
    /// Distances up to this many (largest) spacings are exact, those beyond by second-order fast marching. At least 2; infinite for exact
    /// distances everywhere, at a few times the cost.
    pub exact_band: f64,
}

impl Default for SurfaceDistance {
    fn default() -> Self {
        Self { surface: Surface::Closed, exact_band: 3.0 }
    }
}

impl<const D: usize> LevelSet<D> {
    /// Signed distance (m) to a mesh, sampled on a grid.
    #[inline(never)]
    pub fn from_surface(
        grid: &Grid<D>,
        location: Location,
        mesh: &SurfaceMesh<D>,
        options: &SurfaceDistance,
    ) -> Result<Self, LevelSetError>
    where
        Corners<D>: Element<D>,
    {
        match options.surface {
            Surface::Closed => mesh.check_closed()?,
            Surface::WithDefects => mesh.check_not_empty()?,
            Surface::Shell { half_thickness } => {
                mesh.check_not_empty()?;
                if !(half_thickness.is_finite() && half_thickness > 0.0) {
                    return Err(LevelSetError::Thickness(half_thickness));
                }
            }
        }
        if matches!(location, Location::Face(_)) {
            return Err(LevelSetError::Faces);
        }
        let tree = MeshTree::new(mesh)?;
        let widest = grid.spacing().max();
        // NaN becomes the default.
        let mut band = if options.exact_band.is_nan() { 3.0 } else { options.exact_band.max(2.0) } * widest;
        let mut distance = exact_distances(grid, location, &tree, band);
        if distance.reduce(true, |_, d| d == f64::INFINITY, |a, b| a && b) {
            // The mesh is nowhere near the grid, so there is nothing to march from.
            band = f64::INFINITY;
            distance = exact_distances(grid, location, &tree, band);
        }
        if !matches!(options.surface, Surface::Shell { .. }) {
            apply_signs(&mut distance, mesh)?;
        }
        let known = distance.map(|_, d| d.is_finite());
        // A finite stand-in with the right sign; marching gives the value.
        distance.update(|_, d| d.clamp(-band.min(f64::MAX), band.min(f64::MAX)));
        distance.extrapolate_ghosts();
        let marching = FastMarching { order: MarchingOrder::Second, ..Default::default() };
        extend_distance(&mut distance, &known, &marching)?;
        if let Surface::Shell { half_thickness } = options.surface {
            distance.update(|_, d| d - half_thickness);
            distance.extrapolate_ghosts();
        }
        Self::from_field(distance)
    }
}

/// Edge of the blocks of samples that are handled together, in samples.
const BLOCK: usize = 8;

/// Distance to the nearest element where it is at most `band`, infinite elsewhere.
fn exact_distances<const D: usize>(
    grid: &Grid<D>,
    location: Location,
    tree: &MeshTree<'_, D, D>,
    band: f64,
) -> Field<D> {
    let mut field = Field::new(grid, location, f64::INFINITY);
    let lattice = *field.lattice();
    let blocks: [usize; D] = lattice.counts().map(|n| n.div_ceil(BLOCK));
    let per_block = |number: usize| {
        let mut rest = number;
        let mut low = [0; D];
        for a in 0..D {
            low[a] = ((rest % blocks[a]) * BLOCK) as isize;
            rest /= blocks[a];
        }
        let high: Index<D> =
            std::array::from_fn(|a| (low[a] + BLOCK as isize).min(lattice.counts()[a] as isize));
        let bounds = Aabb { min: lattice.position(low), max: lattice.position(high.map(|i| i - 1)) };
        // One query rejects the blocks far from the surface: no sample is nearer than the centre less half the diagonal.
        let radius = 0.5 * bounds.extent().norm();
        let centre = tree.closest_point_within(&bounds.center(), (band + radius) * (1.0 + 1e-12));
        let mut found = Vec::new();
        let Some(centre) = centre else { return found };
        let (mut last, mut last_position) = (centre.distance, bounds.center());
        for index in crate::grid::box_indices(low, high) {
            let x = lattice.position(index);
            // The distance changes by no more than the way from the last sample; the margin covers rounding.
            let reach = ((last + (x - last_position).norm()) * (1.0 + 1e-9)).min(band);
            if let Some(nearest) = tree.closest_point_within(&x, reach) {
                found.push((lattice.offset(index) as u32, nearest.distance));
                (last, last_position) = (nearest.distance, x);
            }
        }
        found
    };
    let found: Vec<Vec<(u32, f64)>> = (0..blocks.iter().product()).into_par_iter().map(per_block).collect();
    for (offset, distance) in found.into_iter().flatten() {
        field.values_mut()[offset as usize] = distance;
    }
    field
}

/// Makes the distances inside negative.
///
/// The surface cannot pass between two neighbours whose distances add up to more than the way between them, so all samples joined by such
/// links have one sign, and one winding number decides for all of them.
fn apply_signs<const D: usize>(distance: &mut Field<D>, mesh: &SurfaceMesh<D>) -> Result<(), LevelSetError> {
    let winding = WindingTree::new(mesh)?;
    let lattice = *distance.lattice();
    let (group, representatives) = groups(distance, &lattice);
    let inside: Vec<bool> = representatives.par_iter().map(|x| winding.contains(x)).collect();
    distance.update(|index, d| {
        let offset = lattice.offset(index);
        if inside[group[offset] as usize] { -d } else { d }
    });
    Ok(())
}

/// Group number of each sample and a point of each group, the one furthest from the surface.
fn groups<const D: usize>(distance: &Field<D>, lattice: &Lattice<D>) -> (Vec<u32>, Vec<Vector<D>>) {
    const NONE: u32 = u32::MAX;
    let values = distance.values();
    let mut group = vec![NONE; lattice.len()];
    let mut representatives = Vec::new();
    let mut waiting: Vec<u32> = Vec::new();
    for start in lattice.indices() {
        let first = lattice.offset(start);
        if group[first] != NONE {
            continue;
        }
        let number = representatives.len() as u32;
        group[first] = number;
        waiting.push(first as u32);
        let mut best = first;
        while let Some(offset) = waiting.pop() {
            let here = offset as usize;
            if values[here] > values[best] {
                best = here;
            }
            let index = lattice.index(here);
            for axis in 0..D {
                let (stride, h) = (lattice.strides()[axis], lattice.spacing()[axis] * (1.0 + 1e-9));
                let below = (index[axis] > 0).then(|| here - stride);
                let above = ((index[axis] as usize) + 1 < lattice.counts()[axis]).then(|| here + stride);
                for to in below.into_iter().chain(above) {
                    if group[to] == NONE && values[here] + values[to] > h {
                        group[to] = number;
                        waiting.push(to as u32);
                    }
                }
            }
        }
        representatives.push(lattice.position(lattice.index(best)));
    }
    (group, representatives)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;
    use crate::mesh::MeshError;
    use crate::query::winding_number;
    use crate::shapes::Shape;
    use rand::{RngExt, SeedableRng};

    fn ball(pieces: usize) -> SurfaceMesh<3> {
        generate::icosphere(Vector::from([0.02, -0.03, 0.01]), 0.6, pieces).unwrap()
    }

    fn grid<const D: usize>(n: usize) -> Grid<D> {
        let cells = std::array::from_fn(|a| n - 2 * a);
        Grid::new(Vector::repeat(-1.0), Vector::from_fn(|a, _| 2.0 / cells[a] as f64), cells).unwrap()
    }

    #[test]
    fn distances_and_signs_are_exact_in_the_band() {
        let mesh = ball(6);
        let level_set =
            LevelSet::from_surface(&grid(20), Location::Node, &mesh, &SurfaceDistance::default()).unwrap();
        let field = level_set.field();
        let tree = MeshTree::new(&mesh).unwrap();
        let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(1);
        for index in field.lattice().indices().filter(|_| rng.random_bool(0.3)) {
            let x = field.lattice().position(index);
            let exact = tree.closest_point(&x).unwrap().distance;
            let inside = winding_number(&mesh, &x) > 0.5;
            assert_eq!(field.at(index) <= 0.0, inside, "{x:?}");
            let error = (field.at(index).abs() - exact).abs();
            // Fast marching beyond the band, which is 3 spacings wide; it is less exact at the kink in the middle.
            let band = 3.0 * field.lattice().spacing().max();
            let tolerance = if inside && exact > 0.4 { 0.05 } else { 0.02 };
            assert!(error < if exact <= band { 1e-14 } else { tolerance }, "{x:?}: {error} at {exact}");
        }
    }

    #[test]
    fn an_infinite_band_is_exact_everywhere_also_far_from_the_mesh() {
        let square = generate::loop_segments(
            [[0.0, 0.0], [0.5, 0.1], [0.4, 0.6], [-0.2, 0.5]].map(Vector::from).to_vec(),
        )
        .unwrap();
        let options = SurfaceDistance { exact_band: f64::INFINITY, ..Default::default() };
        let shape = Shape::<2>::prism(vec![[0.0, 0.0], [0.5, 0.1], [0.4, 0.6], [-0.2, 0.5]], 1.0).unwrap();
        let far = Grid::<2>::new(Vector::repeat(20.0), Vector::repeat(0.1), [8, 8]).unwrap();
        for grid in [grid(30), far] {
            let level_set = LevelSet::from_surface(&grid, Location::Cell, &square, &options).unwrap();
            let narrow =
                LevelSet::from_surface(&grid, Location::Cell, &square, &SurfaceDistance::default()).unwrap();
            for index in level_set.field().lattice().indices() {
                let x = level_set.field().lattice().position(index);
                let exact = shape.signed_distance(&x);
                assert!((level_set.field().at(index) - exact).abs() < 1e-14 * (1.0 + exact.abs()), "{x:?}");
                assert!((narrow.field().at(index) - exact).abs() < 0.03, "{x:?}");
            }
        }
    }

    #[test]
    fn meshes_that_enclose_nothing_are_refused_with_a_way_out() {
        let mut leaky = ball(3);
        leaky.elements.pop();
        let closed = SurfaceDistance::default();
        let error = LevelSet::from_surface(&grid(16), Location::Cell, &leaky, &closed).unwrap_err();
        assert!(matches!(error, LevelSetError::Mesh(MeshError::Leaky { count: 3, .. })), "{error}");
        assert!(error.to_string().contains("leaks") && error.to_string().contains("thin shell"), "{error}");
        let mut doubled = ball(3);
        doubled.elements.push(doubled.elements[0]);
        assert!(LevelSet::from_surface(&grid(16), Location::Cell, &doubled, &closed).is_err());
        let mut turned = ball(3);
        turned.elements.iter_mut().for_each(|t| t.swap(0, 1));
        let error = LevelSet::from_surface(&grid(16), Location::Cell, &turned, &closed).unwrap_err();
        assert!(matches!(error, LevelSetError::Mesh(MeshError::InsideOut { .. })), "{error}");
        let empty = SurfaceMesh::<3> { points: vec![], elements: vec![] };
        assert!(LevelSet::from_surface(&grid(16), Location::Cell, &empty, &closed).is_err());

        // The ways out: the hole is closed by the winding number, or the sheet gets a thickness.
        let whole = LevelSet::from_surface(&grid(16), Location::Cell, &ball(3), &closed).unwrap().volume();
        let defects = SurfaceDistance { surface: Surface::WithDefects, ..closed };
        let patched = LevelSet::from_surface(&grid(16), Location::Cell, &leaky, &defects).unwrap().volume();
        assert!((patched / whole - 1.0).abs() < 0.03, "{patched} {whole}");
        let half_thickness = 0.2;
        let shell = SurfaceDistance { surface: Surface::Shell { half_thickness }, ..closed };
        let sheet = LevelSet::from_surface(&grid(40), Location::Cell, &ball(8), &shell).unwrap().volume();
        let exact = 4.0 / 3.0 * std::f64::consts::PI * (0.8f64.powi(3) - 0.4f64.powi(3));
        assert!((sheet / exact - 1.0).abs() < 0.02, "{sheet} {exact}");
        let bad = SurfaceDistance { surface: Surface::Shell { half_thickness: f64::NAN }, ..closed };
        assert!(matches!(
            LevelSet::from_surface(&grid(16), Location::Cell, &leaky, &bad),
            Err(LevelSetError::Thickness(_))
        ));
    }
}
