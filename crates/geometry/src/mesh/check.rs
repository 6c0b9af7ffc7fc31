//! Checks that name the first element, point or facet that breaks a rule.

use super::element::{Corners, Element};
use super::topology::non_manifold;
use super::{Mesh, MeshError, SurfaceMesh};
use splashdown_parallel::prelude::*;

/// An element counts as without size when its measure is below this times the same power of its longest edge.
const FLATTEST: f64 = 1e-12;

impl<const D: usize, const N: usize> Mesh<D, N> {
    /// Does every index name a point? Every structure that is built from a mesh asks this first.
    pub fn check_indices(&self) -> Result<(), MeshError> {
        let points = self.points.len();
        let bad = self
            .elements
            .par_iter()
            .with_min_len(1 << 14)
            .position_first(|element| element.iter().any(|&i| i as usize >= points));
        bad.map_or(Ok(()), |element| {
            let index =
                self.elements[element].into_iter().find(|&i| i as usize >= points).unwrap_or(u32::MAX);
            Err(MeshError::IndexOutOfRange { element, index, points })
        })
    }

    /// Is every coordinate finite?
    pub fn check_finite(&self) -> Result<(), MeshError> {
        let bad =
            self.points.par_iter().with_min_len(1 << 14).position_first(|p| !p.iter().all(|x| x.is_finite()));
        bad.map_or(Ok(()), |point| {
            Err(MeshError::NotFinite { point, coordinates: self.points[point].as_slice().to_vec() })
        })
    }

    /// Are the corners of every element different points?
    pub fn check_distinct_corners(&self) -> Result<(), MeshError> {
        let repeated = |element: &[u32; N]| (1..N).find(|&i| element[..i].contains(&element[i]));
        let bad = self.elements.par_iter().with_min_len(1 << 14).position_first(|e| repeated(e).is_some());
        bad.map_or(Ok(()), |element| {
            let corners = &self.elements[element];
            Err(MeshError::RepeatedIndex { element, index: corners[repeated(corners).unwrap_or(0)] })
        })
    }

    /// Is every element there only once? Those with the same corners in another order are the same.
    pub fn check_distinct_elements(&self) -> Result<(), MeshError> {
        let sorted = |element: usize| {
            let mut corners = self.elements[element];
            corners.sort_unstable();
            (corners, element)
        };
        let mut all: Vec<([u32; N], usize)> = (0..self.elements.len()).map(sorted).collect();
        all.sort_unstable();
        let twice = all.windows(2).filter(|pair| pair[0].0 == pair[1].0).min_by_key(|pair| pair[1].1);
        twice.map_or(Ok(()), |pair| {
            let (elements, corners) = ([pair[0].1, pair[1].1], pair[0].0.to_vec());
            Err(MeshError::DuplicateElement { elements, corners })
        })
    }

    /// Does every point belong to an element?
    pub fn check_referenced(&self) -> Result<(), MeshError> {
        self.check_indices()?;
        let mut used = vec![false; self.points.len()];
        for &corner in self.elements.as_flattened() {
            used[corner as usize] = true;
        }
        match used.iter().position(|used| !used) {
            None => Ok(()),
            Some(point) => {
                Err(MeshError::Unreferenced { point, count: used.iter().filter(|used| !**used).count() })
            }
        }
    }

    /// Has every element a size, and a positive one where sign has a meaning (triangles in 2D, tetrahedra, hexahedra)?
    pub fn check_sizes(&self) -> Result<(), MeshError> {
        self.check_indices()?;
        self.check_finite()?;
        let judge = |element: usize| -> Result<(), MeshError> {
            let corners = self.corners(element);
            let mut edge: f64 = 0.0;
            for i in 1..N {
                for j in 0..i {
                    edge = edge.max((corners[i] - corners[j]).norm());
                }
            }
            let measure = self.element_quality_measure(element);
            let power = if N == 8 { 3 } else { N as i32 - 1 };
            if measure.abs() <= FLATTEST * edge.powi(power) {
                return Err(MeshError::ZeroSize { element, measure, edge });
            }
            if measure < 0.0 {
                return Err(MeshError::Inverted { element, measure });
            }
            Ok(())
        };
        let bad = (0..self.elements.len())
            .into_par_iter()
            .with_min_len(1 << 12)
            .find_first(|&element| judge(element).is_err());
        bad.map_or(Ok(()), judge)
    }
}

impl<const D: usize, const N: usize> Mesh<D, N>
where
    Corners<N>: Element<N>,
{
    /// Is the mesh fit for a simulation of a solid or a sheet? Not empty, indices in range, corners different, no element twice, coordinates finite, elements
    /// with a (positive) size, facets shared by two elements at most.
    pub fn check_solid(&self) -> Result<(), MeshError> {
        self.check_not_empty()?;
        self.check_distinct_corners()?;
        self.check_distinct_elements()?;
        self.check_sizes()?;
        self.check_manifold()
    }

    /// At least one element and one point?
    pub fn check_not_empty(&self) -> Result<(), MeshError> {
        if self.points.is_empty() || self.elements.is_empty() {
            return Err(MeshError::Empty { points: self.points.len(), elements: self.elements.len() });
        }
        Ok(())
    }

    /// Is every facet shared by two elements at most?
    pub fn check_manifold(&self) -> Result<(), MeshError> {
        match self.facet_uses().chunk_by(|a, b| a.key == b.key).find(|group| group.len() > 2) {
            None => Ok(()),
            Some(group) => Err(non_manifold(group)),
        }
    }

    /// Do neighbours agree about the outside?
    pub fn check_orientation(&self) -> Result<(), MeshError> {
        for group in self.facet_uses().chunk_by(|a, b| a.key == b.key) {
            match group {
                [_] => {}
                [a, b] if a.turned == b.turned => {
                    return Err(MeshError::InconsistentOrientation {
                        facet: a.key.as_ref().to_vec(),
                        elements: [a.element as usize, b.element as usize],
                    });
                }
                [_, _] => {}
                _ => return Err(non_manifold(group)),
            }
        }
        Ok(())
    }
}

impl<const D: usize> SurfaceMesh<D>
where
    Corners<D>: Element<D>,
{
    /// Does the surface enclose a volume, seen from outside by its normals? Not empty, indices in range, corners different, coordinates
    /// finite, no boundary, two elements around each facet that agree about the outside, positive enclosed volume. Elements may be flat:
    /// they leak nothing.
    pub fn check_closed(&self) -> Result<(), MeshError> {
        self.check_not_empty()?;
        self.check_indices()?;
        self.check_finite()?;
        self.check_distinct_corners()?;
        let uses = self.facet_uses();
        let mut boundary = None;
        let mut leaks = 0;
        for group in uses.chunk_by(|a, b| a.key == b.key) {
            match group {
                [one] => {
                    boundary.get_or_insert(*one);
                    leaks += 1;
                }
                [_, _] => {}
                _ => return Err(non_manifold(group)),
            }
        }
        if let Some(one) = boundary {
            return Err(MeshError::Leaky {
                facet: one.key.as_ref().to_vec(),
                element: one.element as usize,
                count: leaks,
            });
        }
        drop(uses);
        self.check_orientation()?;
        let volume = self.enclosed_volume()?;
        if volume <= 0.0 {
            return Err(MeshError::InsideOut { volume });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::test_shapes::{circle, sphere, tetrahedra};

    #[test]
    fn good_meshes_pass() {
        sphere(6, 2.0).check_closed().unwrap();
        circle(7, 1.0).check_closed().unwrap();
        sphere(6, 2.0).check_referenced().unwrap();
        tetrahedra(2).check_solid().unwrap();
    }

    #[test]
    fn an_element_that_is_there_twice_is_named() {
        let mut solid = tetrahedra(2);
        let [a, b, c, d] = solid.elements[3];
        let again = solid.elements.len();
        for copy in [[a, b, c, d], [b, c, a, d], [d, c, b, a]] {
            solid.elements.truncate(again);
            solid.elements.push(copy);
            let error = solid.check_solid().unwrap_err();
            let MeshError::DuplicateElement { elements, .. } = &error else { panic!("{error}") };
            assert_eq!(*elements, [3, again]);
            assert!(error.to_string().contains("leave one of them out"), "{error}");
        }
        let mut cloth = sphere(4, 1.0);
        let [a, b, c] = cloth.elements[0];
        cloth.elements.push([c, b, a]);
        assert!(matches!(
            cloth.check_distinct_elements(),
            Err(MeshError::DuplicateElement { elements: [0, _], .. })
        ));
    }

    #[test]
    fn each_defect_is_named() {
        let good = sphere(4, 1.0);
        let broken = |change: &dyn Fn(&mut SurfaceMesh<3>)| {
            let mut mesh = good.clone();
            change(&mut mesh);
            mesh.check_closed().unwrap_err()
        };
        assert!(matches!(broken(&|m| m.elements.clear()), MeshError::Empty { elements: 0, .. }));
        assert!(matches!(
            broken(&|m| m.elements[3][1] = 999),
            MeshError::IndexOutOfRange { element: 3, index: 999, .. }
        ));
        assert!(matches!(
            broken(&|m| m.elements[5][2] = m.elements[5][0]),
            MeshError::RepeatedIndex { element: 5, .. }
        ));
        assert!(matches!(broken(&|m| m.points[7].x = f64::INFINITY), MeshError::NotFinite { point: 7, .. }));
        let leaky = broken(&|m| {
            m.elements.pop();
        });
        assert!(matches!(leaky, MeshError::Leaky { count: 3, .. }), "{leaky}");
        assert!(matches!(broken(&|m| m.elements[2].swap(0, 1)), MeshError::InconsistentOrientation { .. }));
        assert!(matches!(
            broken(&|m| m.elements.push(m.elements[0])),
            MeshError::NonManifold { count: 3, .. }
        ));
        assert!(matches!(
            broken(&|m| m.elements.iter_mut().for_each(|e| e.swap(0, 1))),
            MeshError::InsideOut { .. }
        ));
        let mut spare = good.clone();
        spare.points.push([0.0; 3].into());
        assert!(matches!(spare.check_referenced(), Err(MeshError::Unreferenced { count: 1, .. })));

        let mut solid = tetrahedra(2);
        solid.elements[4].swap(2, 3);
        assert!(matches!(solid.check_solid(), Err(MeshError::Inverted { element: 4, .. })));
        let [a, b, ..] = solid.elements[1];
        solid.points[a as usize] = solid.points[b as usize];
        assert!(matches!(solid.check_solid(), Err(MeshError::ZeroSize { .. })));
        let mut curve = circle(5, 1.0);
        curve.elements[3].reverse();
        assert!(matches!(curve.check_closed(), Err(MeshError::InconsistentOrientation { .. })));
    }
}
