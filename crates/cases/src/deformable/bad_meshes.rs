//! Meshes that cannot be: for every kind of element, one that is inside out, flat, with a corner twice, there twice, with a corner that does not exist, a coordinate that is not finite,
//! or without elements is refused with the place that is wrong. Disconnected ones run, and points at the same place are joined if the scene says so.
//!
//! Source: issue 4, must show 5. Files of mixed elements are in the tests of scenes.

use super::set_up::{failed, material};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_deformable::element::{ElementError, Material};
use splashdown_deformable::material::Model;
use splashdown_deformable::{Elements, Force};
use splashdown_geometry::generate::{CubeSplit, Diagonals, box_hexahedra, box_tetrahedra, sheet};
use splashdown_geometry::mesh::{Corners, Element, Mesh};
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "deformable/bad-meshes",
    spec: "issue 4, must show 5",
    summary: "inverted, flat, doubled, broken and empty meshes of every kind of element are refused with the element that is wrong; disconnected ones run",
    source: "issue 4",
    speed: Speed::Fast,
    seconds: 0.1,
    run,
};

type Build<const D: usize, const N: usize> = fn(&Mesh<D, N>, Material) -> Result<usize, ElementError>;

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let corner = Vector::<3>::zeros();
    let tetrahedra =
        box_tetrahedra(corner, Vector::repeat(1.0), [2, 1, 1], CubeSplit::Five).map_err(failed("meshing"))?;
    let hexahedra = box_hexahedra(corner, Vector::repeat(1.0), [3, 1, 1]).map_err(failed("meshing"))?;
    let (x, y) = (Vector::<2>::new(1.0, 0.0), Vector::<2>::new(0.0, 1.0));
    let triangles =
        sheet(Vector::zeros(), x, y, [2, 2], Diagonals::Alternating).map_err(failed("meshing"))?;
    let (x, y) = (Vector::<3>::new(1.0, 0.0, 0.1), Vector::<3>::new(0.0, 1.0, 0.0));
    let cloth = sheet(corner, x, y, [2, 2], Diagonals::Alternating).map_err(failed("meshing"))?;
    let of_tetrahedra: Build<3, 4> = |mesh, own| Elements::tetrahedra(mesh, 0, own).map(|all| all.elements());
    refuse(out, "tetrahedra", &tetrahedra, true, of_tetrahedra)?;
    // A corner moved into the plane of its edges, and beyond: the Gauss points near it see it.
    refuse(out, "hexahedra", &hexahedra, true, |mesh, own| {
        Elements::hexahedra(mesh, 0, own).map(|all| all.elements())
    })?;
    refuse(out, "triangles in the plane", &triangles, true, |mesh, own| {
        Elements::triangles(mesh, 0, own).map(|all| all.elements())
    })?;
    // The triangles of a sheet have no inside out.
    refuse(out, "membranes", &cloth, false, |mesh, own| {
        Elements::membrane(mesh, 0, 1e-3, own).map(|all| all.elements())
    })?;
    refuse(out, "quadratic tetrahedra", &tetrahedra, true, |mesh, own| {
        Elements::quadratic_tetrahedra(&with_middles(mesh), 0, own).map(|all| all.elements())
    })?;
    // A middle that is a corner at the same time.
    let mut ten = with_middles(&tetrahedra);
    ten.elements[1][7] = ten.elements[1][2];
    let own = material(Model::RotatedLinear, 1e4, 0.3, 10.0, 0.01)?;
    let said = Elements::quadratic_tetrahedra(&ten, 0, own).err().map(|error| error.to_string());
    let says = said.is_some_and(|said| said.contains("element 1"));
    out.at_least(
        REFUSED,
        "quadratic tetrahedra: a middle is a corner",
        f64::from(u8::from(says)),
        1.0,
        CASE.source,
    );
    // Separate elements whose corners are at the same places: joined, they are the mesh again.
    let mut apart = tetrahedra.clone();
    apart.points =
        tetrahedra.elements.iter().flatten().map(|&node| tetrahedra.points[node as usize]).collect();
    apart.elements =
        (0..tetrahedra.elements.len() as u32).map(|n| [4 * n, 4 * n + 1, 4 * n + 2, 4 * n + 3]).collect();
    let joined = apart.weld(0.0).map_err(failed("joining"))?;
    let lost = joined.mesh.points.len().abs_diff(tetrahedra.points.len()) + joined.collapsed.len();
    out.at_most(
        "points that joining does not bring back",
        "tetrahedra one by one",
        lost as f64,
        0.0,
        CASE.source,
    );
    Ok(())
}

const REFUSED: &str = "refused with the place (1 = yes)";

/// Spoils a good mesh in every way and asks for the refusal.
fn refuse<const D: usize, const N: usize>(
    out: &mut Measurements,
    kind: &str,
    good: &Mesh<D, N>,
    has_inside: bool,
    build: Build<D, N>,
) -> Result<(), CaseError>
where
    Corners<N>: Element<N>,
{
    let own = material(Model::RotatedLinear, 1e4, 0.3, 10.0, 0.01)?;
    let mut bad = Vec::new();
    let spoilt = |spoil: &dyn Fn(&mut Mesh<D, N>)| {
        let mut mesh = good.clone();
        spoil(&mut mesh);
        mesh
    };
    if has_inside {
        // Mirrored by an exchange of corners: of two, or of the two ends of a brick.
        let swap = |mesh: &mut Mesh<D, N>| match N {
            8 => mesh.elements[1].rotate_left(4),
            _ => mesh.elements[1].swap(0, 1),
        };
        bad.push(("inside out", spoilt(&swap), "element 1 is inside out"));
    }
    let flat = |mesh: &mut Mesh<D, N>| {
        // All corners of an element of its own in a line.
        let first = mesh.points.len() as u32;
        mesh.points.extend((0..N).map(|k| good.points[0] + Vector::<D>::repeat(k as f64)));
        mesh.elements.push(std::array::from_fn(|k| first + k as u32));
    };
    let last = format!("element {}", good.elements.len());
    bad.push(("flat", spoilt(&flat), &last));
    bad.push((
        "no size",
        spoilt(&|mesh| {
            let first = mesh.points.len() as u32;
            mesh.points.extend([good.points[0]; N]);
            mesh.elements.push(std::array::from_fn(|k| first + k as u32));
        }),
        &last,
    ));
    bad.push(("a corner twice", spoilt(&|mesh| mesh.elements[1][0] = mesh.elements[1][2]), "element 1"));
    let twice = |mesh: &mut Mesh<D, N>| {
        let mut again = mesh.elements[1];
        again.rotate_left(1);
        mesh.elements.push(again);
    };
    let both = format!("elements [1, {}]", good.elements.len());
    bad.push(("there twice", spoilt(&twice), &both));
    bad.push(("a corner that does not exist", spoilt(&|mesh| mesh.elements[1][0] = 999), "point 999"));
    for value in [f64::NAN, f64::INFINITY] {
        bad.push(("not finite", spoilt(&|mesh| mesh.points[3][0] = value), "point 3"));
    }
    bad.push(("no elements", spoilt(&|mesh| mesh.elements.clear()), "0 elements"));
    bad.push((
        "no points",
        spoilt(&|mesh| {
            mesh.points.clear();
            mesh.elements.clear();
        }),
        "0 points",
    ));
    for (name, mesh, word) in bad {
        let said = build(&mesh, own).err().map_or_else(|| "accepted".into(), |error| error.to_string());
        let says = f64::from(u8::from(said.contains(word)));
        // What it said instead is in the name of a failure.
        let said = if says == 1.0 { String::new() } else { format!(" (said: {said})") };
        out.at_least(REFUSED, &format!("{kind}: {name}{said}"), says, 1.0, CASE.source);
    }
    let mut two = good.clone();
    let count = good.points.len() as u32;
    two.points.extend(good.points.iter().map(|x| x + Vector::<D>::repeat(3.0)));
    two.elements.extend(good.elements.iter().map(|element| element.map(|node| node + count)));
    let runs = build(&two, own).is_ok_and(|elements| elements == 2 * good.elements.len());
    out.at_least(
        "accepted (1 = yes)",
        &format!("{kind}: disconnected"),
        f64::from(u8::from(runs)),
        1.0,
        CASE.source,
    );
    Ok(())
}

/// The same tetrahedra with points of their own in the middles of their edges. What is wrong with the corners stays wrong.
fn with_middles<const N: usize>(mesh: &Mesh<3, N>) -> Mesh<3, 10> {
    let mut points = mesh.points.clone();
    let mut middles = std::collections::BTreeMap::new();
    let elements = mesh.elements.iter().map(|corners| {
        std::array::from_fn(|k| match k {
            0..4 => corners[k],
            _ => {
                let [i, j] =
                    [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]][k - 4].map(|at: usize| corners[at]);
                let place = |node: u32| mesh.points.get(node as usize).copied().unwrap_or_default();
                *middles.entry([i.min(j), i.max(j)]).or_insert_with(|| {
                    points.push((place(i) + place(j)) * 0.5);
                    points.len() as u32 - 1
                })
            }
        })
    });
    let elements: Vec<[u32; 10]> = elements.collect();
    Mesh { points, elements }
}
