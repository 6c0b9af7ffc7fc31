//! What the page is sent of a frame is what the frame holds.

use serde_json::{Value, json};
use splashdown_scene::frame::{Association, Attribute, Bodies, Data, Element, Frame, Geometry, Part, Shape};
use splashdown_view::payload::{MAGIC, encode};

fn read(file: &[u8]) -> (Value, &[u8]) {
    assert_eq!(file[..4], MAGIC);
    let length = u32::from_le_bytes(file[4..8].try_into().unwrap()) as usize;
    assert_eq!(length % 4, 0);
    (serde_json::from_slice(&file[8..8 + length]).unwrap(), &file[8 + length..])
}

fn numbers(at: &Value, arrays: &[u8]) -> Vec<f32> {
    let (offset, count) = (at[0].as_u64().unwrap() as usize, at[1].as_u64().unwrap() as usize);
    let bytes = &arrays[offset..offset + 4 * count];
    bytes.chunks_exact(4).map(|word| f32::from_le_bytes(word.try_into().unwrap())).collect()
}

#[test]
fn a_solid_is_its_boundary_with_the_means_of_its_elements() {
    // Two tetrahedra that share a face, and a point that none uses.
    let positions = vec![0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 1., 1., 1., 1., 9., 9., 9.];
    let part = Part {
        name: "solid".into(),
        geometry: Geometry::Mesh {
            element: Element::Tetrahedron,
            positions,
            elements: vec![0, 1, 2, 3, 1, 2, 3, 4],
        },
        attributes: vec![Attribute {
            name: "strain".into(),
            unit: "1".into(),
            association: Association::Cell,
            components: 1,
            data: Data::F64(vec![1.0, 3.0]),
        }],
    };
    let frame = Frame { dimension: 3, index: 7, step: 8, time: 0.5, parts: vec![part] };
    let file = encode(&frame);
    let (header, arrays) = read(&file);
    let part = &header["parts"][0];
    assert_eq!(part["triangles"][1], 18);
    assert_eq!(numbers(&part["position"], arrays).len(), 15);
    // Points 1, 2 and 3 belong to both, 0 to the first, 4 to the second.
    let mut strain = numbers(&part["fields"][0]["data"], arrays);
    strain.sort_by(f32::total_cmp);
    assert_eq!(strain, [1.0, 2.0, 2.0, 2.0, 3.0]);
    assert_eq!(header["bounds"], json!([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]));
}

#[test]
fn the_surface_of_a_liquid_has_the_velocity_around_it() {
    // A velocity that is linear in the place, on 3 x 2 x 2 cells of edge 0.5 from (1, 0, 0).
    let of = |x: f64, y: f64, z: f64| [(2.0 * x - y) as f32, z as f32, (x + y + z) as f32];
    let mut data = Vec::new();
    for k in 0..2 {
        for j in 0..2 {
            for i in 0..3 {
                let at = |n: i32| 0.5 * (f64::from(n) + 0.5);
                data.extend(of(1.0 + at(i), at(j), at(k)));
            }
        }
    }
    let velocity = Attribute {
        name: "velocity".into(),
        unit: "m/s".into(),
        association: Association::Cell,
        components: 3,
        data: Data::F32(data),
    };
    let grid = Part {
        name: "fluid".into(),
        geometry: Geometry::Grid { origin: vec![1.0, 0.0, 0.0], spacing: 0.5, cells: vec![3, 2, 2] },
        attributes: vec![velocity],
    };
    let points = vec![1.3, 0.3, 0.4, 2.1, 0.7, 0.6, 1.9, 0.5, 0.3];
    let surface = Part {
        name: "surface of water".into(),
        geometry: Geometry::Mesh {
            element: Element::Triangle,
            positions: points.clone(),
            elements: vec![0, 1, 2],
        },
        attributes: vec![],
    };
    let frame = Frame { dimension: 3, index: 0, step: 0, time: 0.0, parts: vec![grid, surface] };
    let file = encode(&frame);
    let (header, arrays) = read(&file);
    let found = numbers(&header["parts"][1]["fields"][0]["data"], arrays);
    let wanted = points.chunks(3).flat_map(|p| of(p[0], p[1], p[2]));
    assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-5), "{found:?}");
}

#[test]
fn the_plane_lies_in_space_and_floors_do_not_count() {
    let half = 0.25_f64.sqrt();
    let bodies = Bodies {
        names: vec!["a".into(), "b".into(), "floor".into()],
        shapes: vec![Shape::Box { edges: vec![2.0, 1.0] }, Shape::Box { edges: vec![1000.0, 1.0] }],
        shape_of: vec![0, 0, 1],
        positions: vec![0.0, 0.0, 3.0, 0.0, 0.0, -1.0],
        rotations: vec![0.0, 1.0, 1.0, 0.0, 1.0, 0.0],
    };
    let velocity = Attribute {
        name: "velocity".into(),
        unit: "m/s".into(),
        association: Association::Point,
        components: 2,
        data: Data::F64(vec![3.0, 4.0, 0.0, 0.0, 0.0, 1.0]),
    };
    let part = Part { name: "b".into(), geometry: Geometry::Bodies(bodies), attributes: vec![velocity] };
    let file = encode(&Frame { dimension: 2, index: 0, step: 0, time: 0.0, parts: vec![part] });
    let (header, arrays) = read(&file);
    let part = &header["parts"][0];
    assert_eq!(numbers(&part["position"], arrays)[3..6], [3.0, 0.0, 0.0]);
    // A quarter turn about z.
    let turn = numbers(&part["rotation"], arrays);
    assert!((f64::from(turn[2]) - half.sqrt()).abs() < 1e-6 && (turn[2] - turn[3]).abs() < 1e-6, "{turn:?}");
    assert_eq!(part["surroundings"], json!([2]));
    assert_eq!(part["fields"][0]["components"], 3);
    assert_eq!(part["fields"][0]["range"], json!([0.0, 5.0]));
    let bounds: Vec<Vec<f64>> = serde_json::from_value(header["bounds"].clone()).unwrap();
    for (corner, wanted) in bounds.iter().zip([[-0.5, -1.0, 0.0], [4.0, 1.0, 0.0]]) {
        assert!(corner.iter().zip(wanted).all(|(x, y)| (x - y).abs() < 1e-12), "{bounds:?}");
    }
}
