use super::*;
use crate::generate::{CubeSplit, box_hexahedra, box_tetrahedra, chain, icosphere};
use proptest::prelude::*;

const FORMATS: [MeshFormat; 5] =
    [MeshFormat::Obj, MeshFormat::Stl, MeshFormat::Ply, MeshFormat::Vtk, MeshFormat::Gmsh];
const ENCODINGS: [Encoding; 2] = [Encoding::Text, Encoding::Binary];

fn encode(mesh: &AnyMesh, format: MeshFormat, encoding: Encoding) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_mesh(mesh, format, encoding, &mut bytes).unwrap();
    bytes
}

fn parse_text(format: MeshFormat, text: &str) -> Result<AnyMesh, SyntaxError> {
    parse_mesh(text.as_bytes(), format)
}

/// A sphere whose coordinates need all their digits.
fn surface() -> AnyMesh {
    icosphere(Vector::<3>::new(0.1, -1e-7, 1e9 / 3.0), 1.0 / 3.0, 3).unwrap().into()
}

/// Elements of every kind over one set of points, with groups.
fn everything() -> AnyMesh {
    let mut mesh: AnyMesh =
        box_tetrahedra(Vector::<3>::zeros(), Vector::<3>::repeat(0.7), [2, 1, 1], CubeSplit::Five)
            .unwrap()
            .into();
    let boxes = box_hexahedra(Vector::<3>::repeat(2.0), Vector::<3>::repeat(std::f64::consts::PI), [1, 2, 1])
        .unwrap();
    let string = chain(Vector::<3>::repeat(-1.0), Vector::<3>::new(-2.0, 1e-300, 1e100), 3).unwrap();
    let sphere = icosphere(Vector::<3>::repeat(5.0), 1.0, 1).unwrap();
    let mut add = |points: Vec<Vector<3>>| {
        let first = mesh.points.len() as u32;
        mesh.points.extend(points);
        first
    };
    let first = add(boxes.points);
    mesh.hexahedra = boxes.elements.iter().map(|e| e.map(|i| i + first)).collect();
    let first = add(string.points);
    mesh.segments = string.elements.iter().map(|e| e.map(|i| i + first)).collect();
    let first = add(sphere.points);
    mesh.triangles = sphere.elements.iter().map(|e| e.map(|i| i + first)).collect();
    mesh.groups = vec![
        Group { name: "rope".into(), tag: 3, kind: ElementKind::Segment, elements: vec![0, 2] },
        Group { name: "skin of 1".into(), tag: 1, kind: ElementKind::Triangle, elements: vec![0, 1, 2, 7] },
        Group { name: String::new(), tag: 2, kind: ElementKind::Triangle, elements: vec![2, 3] },
        Group { name: "body".into(), tag: 1, kind: ElementKind::Tetrahedron, elements: (0..10).collect() },
        Group { name: "body".into(), tag: 1, kind: ElementKind::Hexahedron, elements: vec![1] },
    ];
    mesh
}

#[test]
fn surfaces_come_back_bit_for_bit() {
    let mesh = surface();
    for format in FORMATS {
        for encoding in ENCODINGS {
            let bytes = encode(&mesh, format, encoding);
            let back = parse_mesh(&bytes, format).unwrap();
            let mut expected = mesh.clone();
            if format == MeshFormat::Stl {
                // Corners come back in the order of their first use, and single precision in binary files.
                let soup = |mesh: &AnyMesh| -> Vec<Vector<3>> {
                    mesh.triangles.as_flattened().iter().map(|i| mesh.points[*i as usize]).collect()
                };
                if encoding == Encoding::Binary {
                    for x in &mut expected.points {
                        *x = x.map(|v| f64::from(v as f32));
                    }
                }
                assert_eq!(soup(&back), soup(&expected));
            } else {
                assert_eq!(back, expected, "{format:?} {encoding:?}");
            }
        }
    }
}

#[test]
fn welding_restores_the_connections_of_a_closed_surface() {
    let sphere = icosphere(Vector::<3>::zeros(), 1.0, 6).unwrap();
    let points = sphere.points.len();
    let mesh = AnyMesh::from(sphere);
    for encoding in ENCODINGS {
        let back = parse_mesh(&encode(&mesh, MeshFormat::Stl, encoding), MeshFormat::Stl).unwrap();
        assert_eq!(back.points.len(), points);
    }
}

#[test]
fn all_kinds_of_elements_and_groups_come_back() {
    let mut mesh = everything();
    for encoding in ENCODINGS {
        let back = parse_mesh(&encode(&mesh, MeshFormat::Gmsh, encoding), MeshFormat::Gmsh).unwrap();
        assert_eq!(back, mesh, "{encoding:?}");
    }
    let mut bytes = Vec::new();
    let error = gmsh::write_version_2(&mesh, Encoding::Text, &mut bytes).unwrap_err();
    assert!(error.to_string().contains("Triangle 2"), "{error}");
    mesh.groups[2].elements = vec![3];
    for encoding in ENCODINGS {
        let mut bytes = Vec::new();
        gmsh::write_version_2(&mesh, encoding, &mut bytes).unwrap();
        assert_eq!(parse_mesh(&bytes, MeshFormat::Gmsh).unwrap(), mesh, "2.2 {encoding:?}");
    }
    mesh.groups.clear();
    for encoding in ENCODINGS {
        let back = parse_mesh(&encode(&mesh, MeshFormat::Vtk, encoding), MeshFormat::Vtk).unwrap();
        assert_eq!(back, mesh, "{encoding:?}");
    }
}

#[test]
fn files_appear_whole_and_are_recognised_by_content() {
    let dir = tempfile::tempdir().unwrap();
    let mesh = everything();
    let path = dir.path().join("all.msh");
    write_mesh(&path, &mesh, Encoding::Binary).unwrap();
    assert_eq!(read_mesh(&path).unwrap(), mesh);
    let renamed = dir.path().join("all.dat");
    fs::rename(&path, &renamed).unwrap();
    assert_eq!(read_mesh(&renamed).unwrap(), mesh);

    // What a format cannot hold is refused, and the file that was there stays.
    let surface_file = dir.path().join("surface.stl");
    write_mesh(&surface_file, &surface(), Encoding::Binary).unwrap();
    let before = fs::read(&surface_file).unwrap();
    let error = write_mesh(&surface_file, &mesh, Encoding::Binary).unwrap_err().to_string();
    assert!(error.contains("triangles only") && error.contains("10 tetrahedra"), "{error}");
    assert_eq!(fs::read(&surface_file).unwrap(), before);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing is left behind");

    let mut bad = surface();
    bad.points[7].y = f64::NAN;
    let error = write_mesh(dir.path().join("bad.ply"), &bad, Encoding::Text).unwrap_err().to_string();
    assert!(error.contains("point 7"), "{error}");
    let error = write_mesh(dir.path().join("bad.xyz"), &surface(), Encoding::Text).unwrap_err().to_string();
    assert!(error.contains("bad.xyz") && error.contains(".msh"), "{error}");
    assert!(matches!(read_mesh(dir.path().join("none.obj")), Err(MeshFileError::Io { .. })));
    let unwritable = dir.path().join("no/such/folder/mesh.ply");
    assert!(matches!(write_mesh(unwritable, &surface(), Encoding::Text), Err(MeshFileError::Io { .. })));
}

#[test]
fn meshes_are_taken_out_by_kind() {
    let mesh = everything();
    assert_eq!(mesh.clone().into_tetrahedra().unwrap().points.len(), 12);
    assert_eq!(mesh.clone().into_hexahedra().unwrap().points.len(), 12);
    let triangles = mesh.clone().into_triangles::<3>().unwrap();
    assert_eq!(triangles, icosphere(Vector::<3>::repeat(5.0), 1.0, 1).unwrap());
    let error = surface().into_tetrahedra().unwrap_err().to_string();
    assert_eq!(error, "the mesh has no tetrahedra: it holds 180 triangles");
    assert!(matches!(surface().into_triangles::<2>(), Err(WrongContent::NotPlane { .. })));
    let flat = crate::generate::disc_triangles(Vector::<2>::zeros(), 1.0, 3).unwrap();
    let bytes = encode(&flat.clone().into(), MeshFormat::Ply, Encoding::Binary);
    assert_eq!(parse_mesh(&bytes, MeshFormat::Ply).unwrap().into_triangles::<2>().unwrap(), flat);
    let stray =
        AnyMesh { triangles: vec![[0, 1, 9]], points: vec![Vector::<3>::zeros(); 3], ..Default::default() };
    assert!(matches!(stray.into_triangles::<3>(), Err(WrongContent::BadIndex { index: 9, points: 3 })));
}

#[test]
fn obj_in_all_its_spellings() {
    let mesh = parse_text(
        MeshFormat::Obj,
        "# a square and a line\nmtllib a.mtl\no thing\nv 0 0 0\nv 1 0 0 1.0\r\nv 1 1 0 0.5 0.5 0.5 # coloured\nv 0 1e0 0\n\
         vn 0 0 1\nvt 0 0\nusemtl red\ns off\nf 1/1/1 2/1 3//1 \\\n 4\nf -4 -3 -1\nl 1 2 3\n",
    )
    .unwrap();
    assert_eq!(mesh.points.len(), 4);
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3], [0, 1, 3]]);
    assert_eq!(mesh.segments, [[0, 1], [1, 2]]);
}

#[test]
fn polygons_that_are_not_convex_keep_their_area() {
    // An arrow head and a comb, whose fans from the first corner would leave the polygon.
    let mut comb = vec![[0.0, -1.0]];
    for tooth in 0..8 {
        comb.extend([[f64::from(tooth), 0.0], [f64::from(tooth) + 0.5, 3.0]]);
    }
    comb.extend([[8.0, 0.0], [8.0, -1.0]]);
    comb.reverse();
    for outline in [vec![[0.0, 0.5], [2.0, 0.0], [0.5, 0.0], [0.0, -2.0]], comb] {
        let mut text = String::from("ply\nformat ascii 1.0\n");
        text += &format!(
            "element vertex {}\nproperty float x\nproperty float y\nproperty float z\n",
            outline.len()
        );
        text += "element face 1\nproperty list uchar int vertex_index\nend_header\n";
        for [x, y] in &outline {
            text += &format!("{x} {y} 1\n");
        }
        text += &format!("{}", outline.len());
        for i in 0..outline.len() {
            text += &format!(" {i}");
        }
        let mesh = parse_text(MeshFormat::Ply, &text).unwrap();
        assert_eq!(mesh.triangles.len(), outline.len() - 2);
        let shoelace: f64 = (0..outline.len())
            .map(|i| {
                let ([a, b], [c, d]) = (outline[i], outline[(i + 1) % outline.len()]);
                0.5 * (a * d - b * c)
            })
            .sum();
        let mut total = 0.0;
        for t in &mesh.triangles {
            let [a, b, c] = t.map(|i| mesh.points[i as usize]);
            let area = 0.5 * (b - a).cross(&(c - a)).z;
            assert!(area * shoelace > 0.0, "a triangle is turned round");
            total += area;
        }
        assert!((total - shoelace).abs() < 1e-12);
    }
}

#[test]
fn ply_with_unknown_properties_and_either_byte_order() {
    let header = "element vertex 3\nproperty uchar red\nproperty double x\nproperty list uchar short tags\nproperty float y\n\
                  property float z\nelement material 2\nproperty int id\nelement face 1\nproperty list uint8 uint16 vertex_indices\n\
                  property float quality\nend_header\n";
    let text = format!(
        "ply\nformat ascii 1.0\ncomment extra\n{header}9 0 2 5 6 0 0\n9 1 0 0 0\n9 0 1 4 1 0\n1\n2\n3 0 1 2 0.5"
    );
    let expected = parse_text(MeshFormat::Ply, &text).unwrap();
    assert_eq!(expected.triangles, [[0, 1, 2]]);
    assert_eq!(expected.points[2], Vector::<3>::new(0.0, 1.0, 0.0));
    for big in [false, true] {
        let order = if big { "binary_big_endian" } else { "binary_little_endian" };
        let mut bytes = format!("ply\nformat {order} 1.0\n{header}").into_bytes();
        let mut put = |little: &[u8]| {
            if big {
                bytes.extend(little.iter().rev());
            } else {
                bytes.extend(little);
            }
        };
        for (x, tags, y, z) in
            [(0f64, vec![5i16, 6], 0f32, 0f32), (1.0, vec![], 0.0, 0.0), (0.0, vec![4], 1.0, 0.0)]
        {
            put(&[9]);
            put(&x.to_le_bytes());
            put(&[tags.len() as u8]);
            tags.iter().for_each(|t| put(&t.to_le_bytes()));
            put(&y.to_le_bytes());
            put(&z.to_le_bytes());
        }
        put(&1i32.to_le_bytes());
        put(&2i32.to_le_bytes());
        put(&[3]);
        (0..3u16).for_each(|i| put(&i.to_le_bytes()));
        put(&0.5f32.to_le_bytes());
        assert_eq!(parse_mesh(&bytes, MeshFormat::Ply).unwrap(), expected);
    }
}

#[test]
fn vtk_of_several_versions_and_cell_types() {
    let modern = "# vtk DataFile Version 5.1\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\nFIELD FieldData 1\nTIME 1 1 double\n0.5\nPOINTS 8 float\n\
                  0 0 0 1 0 0 0 1 0 1 1 0 0 0 1 1 0 1 0 1 1 1 1 1\nMETADATA\nINFORMATION 1\nNAME x LOCATION y\n\n\
                  CELLS 5 20\nOFFSETS vtktypeint64\n0 8 12 16 20\nCONNECTIVITY vtktypeint64\n0 1 2 3 4 5 6 7 0 1 2 3 0 1 2 4 0 1 3 2\n\
                  CELL_TYPES 4\n11 8 10 6\nCELL_DATA 4\nSCALARS a int 1\nLOOKUP_TABLE default\n1 2 3 4\n";
    let mesh = parse_text(MeshFormat::Vtk, modern).unwrap();
    assert_eq!(mesh.tetrahedra, [[0, 1, 2, 4]]);
    // Pixel (0 1 2 3) is the quadrilateral 0 1 3 2; then the strip 0 1 3 2.
    assert_eq!(mesh.triangles, [[0, 1, 3], [0, 3, 2], [0, 1, 3], [3, 1, 2]]);
    // The voxel's corner (i, j, k) is number i + 2 j + 4 k; ours is 4 i + 2 j + k.
    let corners = mesh.hexahedra[0].map(|i| mesh.points[i as usize]);
    for (c, x) in corners.iter().enumerate() {
        assert_eq!(*x, Vector::<3>::new((c >> 2) as f64, (c >> 1 & 1) as f64, (c & 1) as f64));
    }
    let classic = "# vtk DataFile Version 2.0\nx\nASCII\nDATASET POLYDATA\nPOINTS 4 double\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n\
                   LINES 1 4\n3 0 1 2\nPOLYGONS 1 5\n4 0 1 2 3\n";
    let mesh = parse_text(MeshFormat::Vtk, classic).unwrap();
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(mesh.segments, [[0, 1], [1, 2]]);
}

#[test]
fn gmsh_classic_text_and_binary() {
    let text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Comments\nfree text\n$EndComments\n$PhysicalNames\n2\n2 7 \"wall\"\n3 1 \"body part\"\n$EndPhysicalNames\n\
                $Nodes\n4\n10 0 0 0\n20 1 0 0\n30 0 1 0\n40 0 0 1\n$EndNodes\n\
                $Elements\n4\n1 15 2 0 1 10\n2 2 2 7 1 10 30 20\n3 4 2 1 1 10 20 30 40\n4 1 2 0 1 10 40\n$EndElements\n";
    let mesh = parse_text(MeshFormat::Gmsh, text).unwrap();
    assert_eq!(mesh.triangles, [[0, 2, 1]]);
    assert_eq!(mesh.tetrahedra, [[0, 1, 2, 3]]);
    assert_eq!(mesh.segments, [[0, 3]]);
    assert_eq!(mesh.groups.len(), 2);
    assert_eq!((mesh.groups[0].name.as_str(), mesh.groups[1].name.as_str()), ("wall", "body part"));

    for big in [false, true] {
        let mut bytes = b"$MeshFormat\n2.2 1 8\n".to_vec();
        fn put(bytes: &mut Vec<u8>, little: &[u8], big: bool) {
            if big { bytes.extend(little.iter().rev()) } else { bytes.extend(little) }
        }
        put(&mut bytes, &1i32.to_le_bytes(), big);
        bytes.extend(b"\n$EndMeshFormat\n$Nodes\n4\n");
        for (tag, x) in
            [(10, [0.0, 0.0, 0.0]), (20, [1.0, 0.0, 0.0]), (30, [0.0, 1.0, 0.0]), (40, [0.0, 0.0, 1.0f64])]
        {
            put(&mut bytes, &i32::to_le_bytes(tag), big);
            x.iter().for_each(|v| put(&mut bytes, &v.to_le_bytes(), big));
        }
        bytes.extend(b"\n$EndNodes\n$Elements\n3\n");
        for run in [
            vec![2, 1, 2, 1, 7, 1, 10, 30, 20],
            vec![4, 1, 2, 2, 1, 1, 10, 20, 30, 40],
            vec![1, 1, 2, 3, 0, 1, 10, 40],
        ] {
            run.iter().for_each(|v| put(&mut bytes, &i32::to_le_bytes(*v), big));
        }
        bytes.extend(b"\n$EndElements\n");
        let binary = parse_mesh(&bytes, MeshFormat::Gmsh).unwrap();
        assert_eq!(binary.points, mesh.points);
        assert_eq!(
            (binary.triangles, binary.tetrahedra, binary.segments),
            (mesh.triangles.clone(), mesh.tetrahedra.clone(), mesh.segments.clone())
        );
        assert_eq!(binary.groups.len(), 2);
    }
}

/// Each broken file, the line or byte it must be reported at, and words that the message must have.
#[test]
fn broken_files_are_reported_with_their_place() {
    use Location::{Byte, Line};
    let ply = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n\
               element face 1\nproperty list uchar int vertex_indices\nend_header\n";
    let vtk = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 3 float\n0 0 0 1 0 0 0 1 0\n";
    let msh = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n";
    let cases: Vec<(MeshFormat, String, Location, &str)> = vec![
        (MeshFormat::Obj, "v 0 0 0\nv 1 x 0\n".into(), Line(2), "\"x\""),
        (MeshFormat::Obj, "v 0 0 nan\n".into(), Line(1), "finite"),
        (MeshFormat::Obj, "v 0 0\n".into(), Line(1), "3 coordinates"),
        (MeshFormat::Obj, "v 0 0 0\n\nf 1 2 3\n".into(), Line(3), "point 2"),
        (MeshFormat::Obj, "v 0 0 0\nf 0 1 1\n".into(), Line(2), "between 1 and 1"),
        (MeshFormat::Obj, "v 0 0 0\nf 1 1\n".into(), Line(2), "3 corners"),
        (MeshFormat::Obj, "f -1 -2 -3\n".into(), Line(1), "none yet"),
        (MeshFormat::Obj, "hello world\n".into(), Line(1), "OBJ statement"),
        (MeshFormat::Stl, "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 zero\n".into(), Line(4), "\"zero\""),
        (MeshFormat::Stl, "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n".into(), Line(5), "end of the file"),
        (MeshFormat::Stl, "solid a\nfasset\n".into(), Line(2), "facet or endsolid"),
        (MeshFormat::Stl, "not a mesh".into(), Byte(0), "solid"),
        (MeshFormat::Stl, format!("{:84}", "binary"), Byte(80), "length of the file"),
        (MeshFormat::Ply, "ply\nformat ascii 2.0\n".into(), Line(2), "1.0"),
        (MeshFormat::Ply, "ply\nformat ascii 1.0\nelement vertex -4\n".into(), Line(3), "not negative"),
        (MeshFormat::Ply, "ply\nformat ascii 1.0\nelement vertex 99999999999\nproperty float x\nproperty float y\nproperty float z\nend_header\n".into(), Line(3), "fewer than"),
        (MeshFormat::Ply, "ply\nformat ascii 1.0\nelement vertex 999999999\nproperty float x\nproperty float y\nproperty float z\nend_header\n0 0 0\n".into(), Line(3), "bytes follow"),
        (MeshFormat::Ply, "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n0\n".into(), Line(3), "x, y and z"),
        (MeshFormat::Ply, format!("{ply}0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n"), Line(13), "between 0 and 2"),
        (MeshFormat::Ply, format!("{ply}0 0 0\n1 0 0\n0 1 0\n2 0 1\n"), Line(13), "3 corners"),
        (MeshFormat::Ply, format!("{ply}0 0 0\n1 0 0\n0 inf 0\n3 0 1 2\n"), Line(12), "finite"),
        (MeshFormat::Ply, format!("{ply}0 0 0\n1 0 0\n0 1 0\n4000000 0 1 2\n"), Line(13), "bytes follow"),
        (MeshFormat::Vtk, "# vtk DataFile Version 9.9\n".into(), Line(1), "1.0 to 5.1"),
        (MeshFormat::Vtk, "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_POINTS\n".into(), Line(4), "POLYDATA"),
        (MeshFormat::Vtk, format!("{vtk}POLYGONS 1 4\n3 0 1 7\n"), Line(7), "between 0 and 2"),
        (MeshFormat::Vtk, format!("{vtk}POLYGONS 2 4\n3 0 1 2\n"), Line(7), "2 cells"),
        (MeshFormat::Vtk, format!("{vtk}POLYGONS 1 4\n9 0 1 2\n"), Line(7), "9 points"),
        (MeshFormat::Vtk, format!("{vtk}POLYGONS 1 400000000\n3 0 1 2\n"), Line(7), "bytes follow"),
        (MeshFormat::Vtk, format!("{vtk}CELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n22\n"), Line(7), "type 22"),
        (MeshFormat::Vtk, format!("{vtk}CELLS 1 4\n3 0 1 2\n"), Line(7), "CELL_TYPES"),
        (MeshFormat::Vtk, format!("{vtk}PEOPLE 1\n"), Line(7), "POLYGONS"),
        (MeshFormat::Gmsh, "$MeshFormat\n3.0 0 8\n".into(), Line(2), "4.1"),
        (MeshFormat::Gmsh, format!("{msh}1 4 0 1 1 1 2\n$EndElements\n"), Line(10), "node 2"),
        (MeshFormat::Gmsh, format!("{msh}1 11 0 1\n$EndElements\n"), Line(10), "element type 11"),
        (MeshFormat::Gmsh, format!("{msh}1 15 0 1\n$EndStuff\n"), Line(11), "$EndElements"),
        (MeshFormat::Gmsh, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2\n1 0 0 0\n1 0 0 0\n".into(), Line(7), "every node once"),
        (MeshFormat::Gmsh, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n".into(), Line(4), "$Nodes"),
        (MeshFormat::Gmsh, "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Elements\n".into(), Line(4), "before $Elements"),
    ];
    for (format, text, at, words) in cases {
        let error = parse_text(format, &text).expect_err(&text);
        assert_eq!(error.at, at, "{error}\nin\n{text}");
        assert!(error.to_string().contains(words), "{error:?} does not mention {words:?}");
    }
    // Binary errors name the byte.
    let sphere = AnyMesh::from(icosphere(Vector::<3>::zeros(), 1.0, 1).unwrap());
    let mut bytes = encode(&sphere, MeshFormat::Stl, Encoding::Binary);
    bytes[84 + 50 + 12..84 + 50 + 16].copy_from_slice(&f32::NAN.to_le_bytes());
    assert_eq!(parse_mesh(&bytes, MeshFormat::Stl).unwrap_err().at, Byte(84 + 50 + 12));
    let bytes = encode(&sphere, MeshFormat::Ply, Encoding::Binary);
    let error = parse_mesh(&bytes[..bytes.len() - 1], MeshFormat::Ply).unwrap_err();
    assert!(
        error.to_string().contains("end of the file") || error.to_string().contains("bytes follow"),
        "{error}"
    );
}

#[test]
fn empty_and_degenerate_meshes_are_read_as_they_are() {
    assert_eq!(parse_text(MeshFormat::Obj, "").unwrap(), AnyMesh::default());
    for format in FORMATS {
        for encoding in ENCODINGS {
            let bytes = encode(&AnyMesh::default(), format, encoding);
            assert_eq!(parse_mesh(&bytes, format).unwrap(), AnyMesh::default(), "{format:?} {encoding:?}");
        }
    }
    let flat =
        parse_text(MeshFormat::Obj, "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\nf 1 1 1\nf 1 2 3 3\n").unwrap();
    assert_eq!(flat.triangles.len(), 4);
}

/// One way to damage a file.
#[derive(Debug, Clone)]
enum Damage {
    Truncate(f64),
    Flip(f64, u8),
    Replace(f64, Vec<u8>),
    Duplicate(f64, f64),
    Remove(f64, f64),
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = 0.0..1.0f64;
    let tokens = prop::sample::select(vec![
        "-1",
        "0",
        "4294967295",
        "9223372036854775807",
        "-9223372036854775808",
        "1e999",
        "nan",
        "\n",
        " ",
        "3",
        "$EndNodes",
        "property list uchar int vertex_indices\n",
        "end_header\n",
        "CELLS 1 4\n",
        "\0",
        "\\\n",
        "element face 18446744073709551615\n",
        "99999999999999999999999",
        "f 1 2 3\n",
        "METADATA\n",
        "FIELD a 1\n",
        "vtktypeint64",
        "endsolid\n",
    ]);
    prop_oneof![
        place.clone().prop_map(Damage::Truncate),
        (place.clone(), 0..8u8).prop_map(|(p, bit)| Damage::Flip(p, bit)),
        (place.clone(), tokens).prop_map(|(p, t)| Damage::Replace(p, t.as_bytes().to_vec())),
        (place.clone(), prop::collection::vec(any::<u8>(), 1..9)).prop_map(|(p, b)| Damage::Replace(p, b)),
        (place.clone(), place.clone()).prop_map(|(p, q)| Damage::Duplicate(p, q)),
        (place.clone(), place).prop_map(|(p, q)| Damage::Remove(p, q)),
    ]
}

fn apply(bytes: &mut Vec<u8>, damage: &Damage) {
    let place = |fraction: f64| ((bytes.len() as f64 * fraction) as usize).min(bytes.len().saturating_sub(1));
    if bytes.is_empty() {
        return;
    }
    match damage {
        Damage::Truncate(p) => bytes.truncate(place(*p)),
        Damage::Flip(p, bit) => {
            let at = place(*p);
            bytes[at] ^= 1 << bit;
        }
        Damage::Replace(p, with) => {
            let at = place(*p);
            let end = (at + with.len()).min(bytes.len());
            bytes.splice(at..end, with.iter().copied());
        }
        Damage::Duplicate(p, q) => {
            let (a, b) = (place(*p).min(place(*q)), place(*p).max(place(*q)));
            let piece = bytes[a..b].to_vec();
            bytes.splice(b..b, piece);
        }
        Damage::Remove(p, q) => {
            let (a, b) = (place(*p).min(place(*q)), place(*p).max(place(*q)));
            bytes.drain(a..b.min(a + 64));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Damaged files give a mesh whose indices are sound, or an error; never a panic.
    #[test]
    fn damaged_files_never_panic(
        format in prop::sample::select(FORMATS.to_vec()),
        text in any::<bool>(),
        damages in prop::collection::vec(damage(), 1..4),
    ) {
        let mesh = match format {
            MeshFormat::Gmsh | MeshFormat::Vtk => everything(),
            _ => icosphere(Vector::<3>::zeros(), 1.0, 1).unwrap().into(),
        };
        let mut bytes = encode(&mesh, format, if text { Encoding::Text } else { Encoding::Binary });
        for damage in &damages {
            apply(&mut bytes, damage);
        }
        if let Ok(mesh) = parse_mesh(&bytes, format) {
            let points = mesh.points.len() as u32;
            prop_assert!(mesh.triangles.as_flattened().iter().all(|i| *i < points));
            prop_assert!(mesh.segments.as_flattened().iter().all(|i| *i < points));
            prop_assert!(mesh.tetrahedra.as_flattened().iter().all(|i| *i < points));
            prop_assert!(mesh.hexahedra.as_flattened().iter().all(|i| *i < points));
            prop_assert!(mesh.points.iter().all(|x| x.iter().all(|v| v.is_finite())));
        }
    }

    /// Any finite coordinates come back with the same bits.
    #[test]
    fn coordinates_keep_their_bits(values in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO, 9)) {
        let points: Vec<Vector<3>> = values.chunks_exact(3).map(Vector::<3>::from_column_slice).collect();
        let mesh = AnyMesh { points, triangles: vec![[0, 1, 2]], ..AnyMesh::default() };
        for format in [MeshFormat::Obj, MeshFormat::Ply, MeshFormat::Vtk, MeshFormat::Gmsh] {
            for encoding in ENCODINGS {
                let back = parse_mesh(&encode(&mesh, format, encoding), format).unwrap();
                for (a, b) in back.points.iter().flat_map(|x| x.iter()).zip(values.iter()) {
                    prop_assert_eq!(a.to_bits(), b.to_bits());
                }
            }
        }
    }
}
