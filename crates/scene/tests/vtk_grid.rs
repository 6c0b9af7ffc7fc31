//! A grid in VTK's image format: cell, node and face data end up where they belong. `checks/vtk_readback.py --grid` reads the same files with
//! VTK itself if `SPLASHDOWN_GRID_DIR` names a folder to leave them in.

use splashdown_scene::export::{Format, export_run};
use splashdown_scene::frame::{Association, Attribute, Data, Frame, Geometry, Part};
use splashdown_scene::run_folder::{Layout, RunFolder, RunInfo};
use std::path::{Path, PathBuf};

const CELLS: [u64; 3] = [5, 3, 4];
const SPACING: f64 = 0.25;
const ORIGIN: [f64; 3] = [-1.0, 0.5, 2.0];

/// Values at the entries of an association, x fastest, of a function of the position.
fn sample(dimension: usize, association: Association, value: impl Fn([f64; 3]) -> f64) -> Vec<f64> {
    let nodes = association == Association::Point;
    let on_node = |axis: usize| nodes || association.face_axis() == Some(axis);
    let count = |axis: usize| match axis < dimension {
        true => CELLS[axis] as usize + usize::from(on_node(axis)),
        false => 1,
    };
    let place = |axis: usize, i: usize| match axis < dimension {
        true => ORIGIN[axis] + SPACING * (i as f64 + if on_node(axis) { 0.0 } else { 0.5 }),
        false => 0.0,
    };
    let mut values = Vec::new();
    for k in 0..count(2) {
        for j in 0..count(1) {
            for i in 0..count(0) {
                values.push(value([place(0, i), place(1, j), place(2, k)]));
            }
        }
    }
    values
}

fn grid(dimension: usize) -> Frame {
    let attribute = |name: &str, association, data| Attribute {
        name: name.into(),
        unit: "1".into(),
        association,
        components: 1,
        data: Data::F64(data),
    };
    let faces = [Association::FaceX, Association::FaceY, Association::FaceZ];
    let mut attributes = vec![
        attribute(
            "density",
            Association::Cell,
            sample(dimension, Association::Cell, |[x, y, z]| x + 2.0 * y + 4.0 * z),
        ),
        attribute("height", Association::Point, sample(dimension, Association::Point, |[_, y, _]| y)),
    ];
    for (axis, face) in faces.into_iter().enumerate().take(dimension) {
        let along = move |p: [f64; 3]| (axis + 1) as f64 * p[axis];
        attributes.push(attribute("velocity", face, sample(dimension, face, along)));
    }
    let geometry = Geometry::Grid {
        origin: ORIGIN[..dimension].to_vec(),
        spacing: SPACING,
        cells: CELLS[..dimension].to_vec(),
    };
    let parts = vec![Part { name: "smoke".into(), geometry, attributes }];
    Frame { dimension, index: 0, step: 0, time: 0.0, parts }
}

fn exported(dimension: usize, root: &Path) -> PathBuf {
    let info = RunInfo::new(&format!("grid-{dimension}d"), dimension, "");
    let run = RunFolder::create(&root.join("run"), false, &info).unwrap();
    let frame = grid(dimension).encode(1).unwrap();
    std::fs::write(run.layout().frame(0), frame).unwrap();
    drop(run);
    let layout = Layout::new(root.join("run"));
    let out = export_run(&layout, Format::Vtk, 0..=0, &root.join("vtk"), false, &mut |_, _| {}).unwrap();
    out.files[0].clone()
}

/// The numbers of a named array of the appended data.
fn array(file: &[u8], name: &str) -> Vec<f64> {
    let text = String::from_utf8_lossy(file);
    let tag = text
        .split('<')
        .find(|tag| tag.contains(&format!("Name=\"{name}\"")) && tag.contains("offset"))
        .unwrap();
    let offset: usize = tag.split("offset=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    let mark = b"encoding=\"raw\">\n_";
    let start = file.windows(mark.len()).position(|window| window == mark).unwrap() + mark.len() + offset;
    let bytes = u64::from_le_bytes(file[start..start + 8].try_into().unwrap()) as usize;
    file[start + 8..start + 8 + bytes]
        .as_chunks()
        .0
        .iter()
        .map(|number| f64::from_le_bytes(*number))
        .collect()
}

#[test]
fn grids_keep_their_data_in_place() {
    for dimension in [2, 3] {
        let folder = tempfile::tempdir().unwrap();
        let path = exported(dimension, folder.path());
        assert_eq!(path.extension().unwrap(), "vti");
        let file = std::fs::read(&path).unwrap();
        let extent =
            if dimension == 2 { "WholeExtent=\"0 5 0 3 0 0\"" } else { "WholeExtent=\"0 5 0 3 0 4\"" };
        assert!(String::from_utf8_lossy(&file).contains(extent));
        assert_eq!(array(&file, "density").len(), CELLS[..dimension].iter().product::<u64>() as usize);
        // A linear field is its own mean of two faces, exactly up to round-off.
        let centres: Vec<f64> = sample(dimension, Association::Cell, |[x, _, _]| x);
        let velocity = array(&file, "velocity");
        for (cell, x) in centres.iter().enumerate() {
            assert!((velocity[3 * cell] - x).abs() < 1e-14);
        }
        if let Some(keep) = std::env::var_os("SPLASHDOWN_GRID_DIR") {
            std::fs::copy(&path, Path::new(&keep).join(format!("grid-{dimension}d.vti"))).unwrap();
        }
    }
}
