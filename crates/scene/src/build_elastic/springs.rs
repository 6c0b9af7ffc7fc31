//! Springs along edges, altitudes and across inner edges, and the bending of sheets.

use super::{Built, wrong};
use crate::build::BuildError;
use crate::description::{BendingDescription, BendingLaw, ElementSprings};
use splashdown_couple::SolidElement;
use splashdown_deformable::{
    AltitudeSprings, Altitudes, Bending, BendingModel, BendingPlasticity, EdgeSpring, EdgeSprings, Solid,
    SpringPlasticity, bending_pairs,
};
use splashdown_geometry::mesh::{Mesh, TriangleMesh};
use splashdown_math::{Dim, Space};

/// Bending about the inner edges of a sheet whose first particle is `first`.
pub(super) fn add_bending(
    own: &BendingDescription,
    triangles: &TriangleMesh<3>,
    first: u32,
    solid: &mut Solid<3>,
) {
    let model = match own.model {
        BendingLaw::Angle => BendingModel::DiscreteShells,
        BendingLaw::SineOfHalfAngle => BendingModel::SineHalfAngle,
    };
    let mut bending = Bending::new(triangles, first, model, own.stiffness, own.damping);
    if let Some(angle) = own.yield_angle {
        let yield_angle = angle.to_radians();
        bending = bending.with_plasticity(BendingPlasticity { yield_angle, hardening: own.hardening });
    }
    if let Some(angle) = own.rest_angle {
        let count = bending.rest_angles().len();
        bending.set_rest_angles(&vec![angle.to_radians(); count]);
    }
    solid.add(bending);
}

/// Springs along edges, altitudes and across the inner edges of a body whose first particle is `first`; its particles are in `solid` already.
pub(super) fn add_springs<const D: usize>(
    name: &str,
    springs: &ElementSprings,
    mesh: &Built<D>,
    first: u32,
    solid: &mut Solid<D>,
) -> Result<(), BuildError>
where
    Dim<D>: Space<D>,
{
    let inverses = solid.inverse_masses();
    let ratio = springs.damping_ratio;
    let along = |pairs: Vec<[u32; 2]>, modulus: f64| -> Vec<EdgeSpring> {
        let spring = |pair: [u32; 2]| {
            let rest = (mesh.points[pair[0] as usize] - mesh.points[pair[1] as usize]).norm();
            EdgeSpring::with_modulus(pair.map(|node| node + first), modulus, ratio, rest, &inverses)
        };
        pairs.into_iter().map(spring).collect()
    };
    let plastic = |all: EdgeSprings<D>| match springs.limit {
        Some(yield_strain) => {
            let (hardening, limit) = (springs.hardening, springs.limit_stretch);
            all.with_plasticity(SpringPlasticity { yield_strain, hardening, limit })
        }
        None => all,
    };
    if let Some(modulus) = springs.edges {
        solid.add(plastic(EdgeSprings::<D>::new("edge springs", &along(edges(mesh), modulus))));
    }
    if let Some(modulus) = springs.bending {
        if D == 2 || mesh.element != SolidElement::Triangle {
            return Err(wrong(name, "`elastic.springs.bending` needs a sheet"));
        }
        let triangles: TriangleMesh<D> =
            Mesh { points: mesh.points.clone(), elements: mesh.elements.as_chunks::<3>().0.to_vec() };
        solid.add(plastic(EdgeSprings::<D>::new(
            "bending springs",
            &along(bending_pairs(&triangles), modulus),
        )));
    }
    if let Some(modulus) = springs.altitudes {
        let simplices = match mesh.element {
            SolidElement::Tetrahedron => D == 3,
            SolidElement::Triangle => D == 2,
            _ => false,
        };
        if !simplices {
            return Err(wrong(
                name,
                "`elastic.springs.altitudes` needs tetrahedra, or triangles in the plane",
            ));
        }
        let which = if springs.all_altitudes { Altitudes::All } else { Altitudes::Shortest };
        let nodes: Vec<u32> = mesh.elements.iter().map(|node| node + first).collect();
        let mut rest = vec![0.0; D * inverses.len()];
        for (node, x) in mesh.points.iter().enumerate() {
            rest[D * (first as usize + node)..][..D].copy_from_slice(x.as_slice());
        }
        let all = AltitudeSprings::<D>::new(nodes, &rest, &inverses, modulus, ratio, which);
        solid.add(match springs.altitude_slack {
            Some(slack) => all.with_slack(slack),
            None => all,
        });
    }
    Ok(())
}

/// All edges of a mesh, each once, in order.
fn edges<const D: usize>(mesh: &Built<D>) -> Vec<[u32; 2]> {
    let corners: &[[usize; 2]] = match mesh.element {
        SolidElement::Segment => &[[0, 1]],
        SolidElement::Triangle => &[[0, 1], [1, 2], [2, 0]],
        SolidElement::Tetrahedron => &[[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]],
        SolidElement::Hexahedron => {
            &[[0, 1], [2, 3], [4, 5], [6, 7], [0, 2], [1, 3], [4, 6], [5, 7], [0, 4], [1, 5], [2, 6], [3, 7]]
        }
    };
    let count = mesh.element.corners();
    let of_element = |element: &[u32]| {
        corners
            .iter()
            .map(|&[a, b]| [element[a].min(element[b]), element[a].max(element[b])])
            .collect::<Vec<_>>()
    };
    let all: std::collections::BTreeSet<[u32; 2]> =
        mesh.elements.chunks_exact(count).flat_map(of_element).collect();
    all.into_iter().collect()
}
