//! How far the elements of a body are from their rest shape, for colours: strain and change of volume.

use crate::frame::Element;
use splashdown_math::{Matrix, Vector, signed_svd};

/// Strain and relative change of volume of every element (area for surfaces, length for lines).
///
/// The strain is the largest `|s - 1|` over the principal stretches `s` of the map from the rest shape, at the middle of the element.
/// The volume of an element that is inside out is negative. Positions are flat, `dimension` numbers a point.
pub(crate) fn strain_and_volume_error(
    element: Element,
    elements: &[u32],
    rest: &[f64],
    now: &[f64],
    dimension: usize,
) -> (Vec<f32>, Vec<f32>) {
    let corners = element.corners();
    elements
        .chunks_exact(corners)
        .map(|nodes| {
            let (before, after) =
                (edges(element, nodes, rest, dimension), edges(element, nodes, now, dimension));
            let (stretches, volume) = match element {
                Element::Segment => {
                    let s = after[0].norm() / before[0].norm();
                    (vec![s], s)
                }
                Element::Triangle if dimension == 2 => {
                    let flat = |e: [Vector<3>; 3]| Matrix::<2>::new(e[0].x, e[1].x, e[0].y, e[1].y);
                    let f = flat(after) * flat(before).try_inverse().unwrap_or_default();
                    (signed_svd(&f).sigma.iter().copied().collect(), f.determinant())
                }
                Element::Triangle => membrane(&before, &after),
                Element::Tetrahedron | Element::Hexahedron => {
                    let f = Matrix::<3>::from_columns(&after)
                        * Matrix::<3>::from_columns(&before).try_inverse().unwrap_or_default();
                    (signed_svd(&f).sigma.iter().copied().collect(), f.determinant())
                }
            };
            let strain = stretches.iter().map(|s| (s - 1.0).abs()).fold(0.0, f64::max);
            (strain as f32, (volume - 1.0) as f32)
        })
        .unzip()
}

/// Vectors that span an element: edges from its first corner, or for hexahedra the means of the edges along each axis.
fn edges(element: Element, nodes: &[u32], positions: &[f64], dimension: usize) -> [Vector<3>; 3] {
    let point = |node: u32| {
        let at = dimension * node as usize;
        Vector::<3>::from_fn(|k, _| if k < dimension { positions[at + k] } else { 0.0 })
    };
    match element {
        Element::Hexahedron => std::array::from_fn(|axis| {
            // Corner 4 i + 2 j + k: the bit of an axis says on which side it is.
            let side = |corner: usize| if corner >> (2 - axis) & 1 == 1 { 0.25 } else { -0.25 };
            nodes.iter().enumerate().map(|(corner, &node)| side(corner) * point(node)).sum()
        }),
        _ => {
            let first = point(nodes[0]);
            std::array::from_fn(|k| nodes.get(k + 1).map_or_else(Vector::zeros, |&node| point(node) - first))
        }
    }
}

/// Stretches and ratio of areas of a triangle in space, from the squared lengths before (`g`) and after (`h`): the eigenvalues of `g^-1 h`.
fn membrane(before: &[Vector<3>; 3], after: &[Vector<3>; 3]) -> (Vec<f64>, f64) {
    let gram = |e: &[Vector<3>; 3]| [e[0].dot(&e[0]), e[0].dot(&e[1]), e[1].dot(&e[1])];
    let (g, h) = (gram(before), gram(after));
    let (det_g, det_h) = (g[0] * g[2] - g[1] * g[1], h[0] * h[2] - h[1] * h[1]);
    let trace = (g[2] * h[0] - 2.0 * g[1] * h[1] + g[0] * h[2]) / det_g;
    let det = (det_h / det_g).max(0.0);
    let root = (0.25 * trace * trace - det).max(0.0).sqrt();
    (vec![(0.5 * trace + root).max(0.0).sqrt(), (0.5 * trace - root).max(0.0).sqrt()], det.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every kind of element under the same stretches, turned: what is measured is what was applied.
    #[test]
    fn stretches_are_found_again_whatever_the_rotation() {
        let turn = |p: [f64; 3]| {
            let (s, c) = 0.7_f64.sin_cos();
            let q = [c * p[0] - s * p[1], s * p[0] + c * p[1], p[2]];
            [q[0], c * q[1] - s * q[2], s * q[1] + c * q[2]]
        };
        let corner = |n: usize| [(n >> 2 & 1) as f64, (n >> 1 & 1) as f64, (n & 1) as f64];
        let rest: Vec<[f64; 3]> = (0..8).map(corner).map(|[x, y, z]| [x + 0.3 * y, y, z + 0.1 * x]).collect();
        let now: Vec<f64> =
            rest.iter().flat_map(|[x, y, z]| turn([1.5 * x, 0.8 * y, 1.1 * z]).map(|c| c + 2.0)).collect();
        let rest: Vec<f64> = rest.into_iter().flatten().collect();
        let check = |element, nodes: &[u32], strain: f64, volume: f64| {
            let (s, v) = strain_and_volume_error(element, nodes, &rest, &now, 3);
            let close = |a: f32, b: f64| (f64::from(a) - b).abs() < 1e-6;
            assert!(close(s[0], strain) && close(v[0], volume), "{element:?}: {s:?} {v:?}");
        };
        check(Element::Tetrahedron, &[0, 4, 2, 1], 0.5, 1.5 * 0.8 * 1.1 - 1.0);
        check(Element::Hexahedron, &[0, 1, 2, 3, 4, 5, 6, 7], 0.5, 1.5 * 0.8 * 1.1 - 1.0);
        // In the plane of x and z.
        check(Element::Triangle, &[0, 4, 1], 0.5, 1.5 * 1.1 - 1.0);
        check(Element::Segment, &[0, 1], 0.1, 0.1);
        // Inside out in the plane.
        let (rest, now) = ([0.0, 0.0, 1.0, 0.0, 0.0, 1.0], [0.0, 0.0, -1.0, 0.0, 0.0, 1.0]);
        let (_, volume) = strain_and_volume_error(Element::Triangle, &[0, 1, 2], &rest, &now, 2);
        assert!((volume[0] + 2.0).abs() < 1e-6);
    }
}
