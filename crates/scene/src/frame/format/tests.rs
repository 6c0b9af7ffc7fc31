use super::*;
use proptest::prelude::*;

/// A frame with every kind of part, shape, number and association.
pub fn sample(dimension: usize) -> Frame {
    let along = |n: usize| (0..n).map(|i| (i as f64 * 0.37).sin()).collect::<Vec<_>>();
    let rotation: &[f64] = if dimension == 2 { &[0.6, 0.8] } else { &[0.5, 0.5, -0.5, 0.5] };
    let attribute = |name: &str, association, components, data| Attribute {
        name: name.into(),
        unit: "m/s".into(),
        association,
        components,
        data,
    };
    let bodies = Part {
        name: "bodies".into(),
        geometry: Geometry::Bodies(Bodies {
            names: vec!["ball".into(), "crate".into(), "Möwe \"x\"".into()],
            shapes: vec![
                Shape::Ball { radius: 0.1 },
                Shape::Box { edges: vec![0.2; dimension] },
                Shape::Surface(Arc::new(SurfaceShape::new(
                    along(4 * dimension),
                    (0..dimension as u32).collect(),
                ))),
            ],
            shape_of: vec![0, 1, 2],
            positions: along(3 * dimension),
            rotations: rotation.repeat(3),
        }),
        attributes: vec![attribute(
            "velocity",
            Association::Point,
            dimension,
            Data::F64(along(3 * dimension)),
        )],
    };
    let points = Part {
        name: "spray".into(),
        geometry: Geometry::Points { positions: along(50 * dimension) },
        attributes: vec![
            attribute("velocity", Association::Point, dimension, Data::F32(vec![0.25; 50 * dimension])),
            attribute("age", Association::Point, 1, Data::U32((0..50).collect())),
        ],
    };
    let mesh = Part {
        name: "flesh".into(),
        geometry: Geometry::Mesh {
            element: if dimension == 2 { Element::Triangle } else { Element::Tetrahedron },
            positions: along(5 * dimension),
            elements: if dimension == 2 { vec![0, 1, 2, 2, 3, 4] } else { vec![0, 1, 2, 3, 1, 2, 3, 4] },
        },
        attributes: vec![attribute("pressure", Association::Cell, 1, Data::F64(vec![f64::INFINITY, -0.0]))],
    };
    let cells: Vec<u64> = [3, 4, 5][..dimension].to_vec();
    let count: usize = cells.iter().product::<u64>() as usize;
    let faces: usize = (cells[0] as usize + 1) * count / cells[0] as usize;
    let grid = Part {
        name: "smoke".into(),
        geometry: Geometry::Grid { origin: vec![-1.0; dimension], spacing: 0.1, cells },
        attributes: vec![
            attribute("density", Association::Cell, 1, Data::F32(vec![1.5; count])),
            attribute("u", Association::FaceX, 1, Data::F64(along(faces))),
        ],
    };
    let empty =
        Part { name: "nothing".into(), geometry: Geometry::Points { positions: vec![] }, attributes: vec![] };
    Frame { dimension, index: 7, step: 123, time: 0.1 + 0.2, parts: vec![bodies, points, mesh, grid, empty] }
}

#[test]
fn what_is_read_is_what_was_written() {
    for dimension in [2, 3] {
        let frame = sample(dimension);
        let file = frame.encode(1).unwrap();
        assert_eq!(file, frame.encode(1).unwrap());
        assert_eq!(Frame::decode(&file).unwrap(), frame);
        let header = FrameHeader::decode(&file).unwrap();
        assert_eq!((header.index, header.step, header.time), (7, 123, 0.1 + 0.2));
    }
}

#[test]
fn any_flipped_bit_and_any_truncation_is_noticed() {
    let file = sample(3).encode(1).unwrap();
    for byte in 0..file.len() {
        let mut flipped = file.clone();
        flipped[byte] ^= 1 << (byte % 8);
        assert!(Frame::decode(&flipped).is_err(), "bit of byte {byte}");
        assert!(Frame::decode(&file[..byte]).is_err(), "cut at {byte}");
    }
    let longer = [file.as_slice(), &[0]].concat();
    assert!(matches!(Frame::decode(&longer), Err(FrameError::Container(ContainerError::Length { .. }))));
}

#[test]
fn foreign_and_newer_files_are_named_as_such() {
    assert!(matches!(Frame::decode(b""), Err(FrameError::Container(ContainerError::Foreign { .. }))));
    assert!(matches!(
        Frame::decode(b"# OBJ file\nv 0 0 0"),
        Err(FrameError::Container(ContainerError::Foreign { .. }))
    ));
    let mut file = sample(2).encode(1).unwrap();
    file[8..12].copy_from_slice(&3_u32.to_le_bytes());
    assert!(matches!(
        Frame::decode(&file),
        Err(FrameError::Container(ContainerError::Newer { version: 3, known: 2 }))
    ));
}

/// A file with right checksums around a header that lies.
fn with_header(change: impl Fn(&mut FrameHeader)) -> Vec<u8> {
    let file = sample(3).encode(1).unwrap();
    let (mut header, blocks) = FrameHeader::split(&file).unwrap();
    change(&mut header);
    let json = serde_json::to_vec(&header).unwrap();
    let mut forged =
        [&KIND.magic[..], &KIND.version.to_le_bytes(), &(json.len() as u32).to_le_bytes(), &json].concat();
    forged.extend(crc32fast::hash(&forged).to_le_bytes());
    [&forged, blocks].concat()
}

#[test]
fn a_lying_header_neither_panics_nor_allocates() {
    let huge = with_header(|header| header.parts[0].arrays[0].shape = [u64::MAX / 16, 1]);
    assert!(matches!(Frame::decode(&huge), Err(FrameError::Container(ContainerError::Invalid { .. }))));
    let overflow = with_header(|header| header.parts[0].arrays[0].shape = [u64::MAX, u64::MAX]);
    assert!(matches!(Frame::decode(&overflow), Err(FrameError::Container(ContainerError::Invalid { .. }))));
    let long = with_header(|header| header.parts[0].arrays[0].bytes = u64::MAX);
    assert!(matches!(Frame::decode(&long), Err(FrameError::Container(ContainerError::Length { .. }))));
    let short = with_header(|header| header.parts[0].arrays[0].shape[0] -= 1);
    assert!(matches!(Frame::decode(&short), Err(FrameError::Container(ContainerError::Invalid { .. }))));
    let renamed = with_header(|header| header.parts[1].arrays[0].name = "place".into());
    assert!(matches!(Frame::decode(&renamed), Err(FrameError::Container(ContainerError::Invalid { .. }))));
    let flat = with_header(|header| header.dimension = 1);
    assert!(matches!(Frame::decode(&flat), Err(FrameError::Inconsistent(_))));
    let grid = with_header(|header| {
        header.parts[3].kind =
            PartKind::Grid { origin: vec![0.0; 3], spacing: 1.0, cells: vec![u64::MAX; 3] };
    });
    assert!(matches!(Frame::decode(&grid), Err(FrameError::Inconsistent(_))));
}

#[test]
fn inconsistent_frames_are_not_written() {
    let problem = |change: fn(&mut Frame)| {
        let mut frame = sample(3);
        change(&mut frame);
        frame.encode(1).unwrap_err().to_string()
    };
    assert!(problem(|f| f.parts[1].name = "bodies".into()).contains("two parts"));
    assert!(problem(|f| f.parts[0].attributes[0].components = 2).contains("velocity"));
    assert!(problem(|f| f.parts[1].attributes[1].association = Association::Cell).contains("points"));
    assert!(
        problem(|f| if let Geometry::Mesh { elements, .. } = &mut f.parts[2].geometry {
            elements[0] = 5
        })
        .contains("point 5 of 5")
    );
}

#[test]
fn shuffled_coordinates_pack_well() {
    let positions: Vec<f64> = (0..30_000).map(|i| (i / 3) as f64 * 1e-3).collect();
    let frame = Frame {
        dimension: 3,
        index: 0,
        step: 0,
        time: 0.0,
        parts: vec![Part { name: "p".into(), geometry: Geometry::Points { positions }, attributes: vec![] }],
    };
    assert!(frame.encode(1).unwrap().len() < 30_000 * 8 * 7 / 10);
}

proptest! {
    #[test]
    fn random_bytes_never_panic(tail in proptest::collection::vec(any::<u8>(), 0..200)) {
        let file = [&KIND.magic[..], &KIND.version.to_le_bytes(), &tail].concat();
        prop_assert!(Frame::decode(&file).is_err());
        prop_assert!(Frame::decode(&tail).is_err());
    }
}
