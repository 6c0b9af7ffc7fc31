//! Writes run folders without running anything: large ones to measure the viewer with, and a small one with every kind of part.
//!
//! `cargo run -p splashdown-view --example synthetic_runs -- FOLDER [everything] [pile] [smoke] [surface]`

use splashdown_scene::frame::{
    Association, Attribute, Bodies, Data, Element, Frame, Geometry, Part, SavedShapes, Shape, SurfaceShape,
};
use splashdown_scene::run_folder::{Layout, RunInfo, Status};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("give a folder")?;
    let folder = Path::new(&folder);
    let names: Vec<String> = arguments.collect();
    let wanted = |name: &str| names.is_empty() || names.iter().any(|given| given == name);
    if wanted("everything") {
        write(folder, "everything", 4, everything)?;
    }
    if wanted("pile") {
        write(folder, "pile", 10, pile)?;
    }
    if wanted("smoke") {
        write(folder, "smoke", 3, smoke)?;
    }
    if wanted("surface") {
        write(folder, "surface", 2, surface)?;
    }
    Ok(())
}

/// Seconds between frames.
const INTERVAL: f64 = 0.1;

fn write(folder: &Path, name: &str, count: u64, parts: fn(f64) -> Vec<Part>) -> Result<()> {
    let layout = Layout::new(folder.join(name));
    std::fs::create_dir_all(layout.frames())?;
    let mut info = RunInfo::new(name, 3, "synthetic");
    info.status = Status::Finished;
    info.time = INTERVAL * (count - 1) as f64;
    info.step = 10 * (count - 1);
    info.write(&layout)?;
    let end = info.time;
    std::fs::write(layout.scene(), format!("dimension = 3\n[time]\nend = {end}\nframe_rate = 10\n"))?;
    std::fs::write(layout.original_scene(), "# Written without running anything.\n")?;
    let mut saved = SavedShapes::default();
    let mut log = String::new();
    for index in 0..count {
        let time = INTERVAL * index as f64;
        let frame = Frame { dimension: 3, index, step: 10 * index, time, parts: parts(time) };
        std::fs::write(layout.frame(index), frame.encode_after(1, &mut saved)?)?;
        log += &format!(
            "{{\"time\":{time},\"step\":{},\"kinetic_energy\":{},\"total_energy\":2.0,\"dt\":0.01,\"solves\":[{{\"iterations\":{}}}]}}\n",
            10 * index,
            1.0 + (7.0 * time).sin(),
            5 + index
        );
    }
    std::fs::write(layout.log(), log)?;
    Ok(())
}

fn field(name: &str, unit: &str, association: Association, components: usize, data: Vec<f32>) -> Attribute {
    Attribute { name: name.into(), unit: unit.into(), association, components, data: Data::F32(data) }
}

/// Numbers without pattern, the same every time.
fn scatter(seed: u64) -> f64 {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995;
    x ^= x >> 29;
    x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^= x >> 32;
    (x % 1_000_003) as f64 / 1_000_003.0
}

/// 10 000 bodies: balls, boxes and one surface, in a heap that settles.
fn pile(time: f64) -> Vec<Part> {
    let octahedron = SurfaceShape::new(
        vec![1.0, 0., 0., -1., 0., 0., 0., 1., 0., 0., -1., 0., 0., 0., 1., 0., 0., -1.]
            .iter()
            .map(|x| 0.12 * x)
            .collect(),
        vec![0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5],
    );
    let shapes = vec![
        Shape::Ball { radius: 0.1 },
        Shape::Box { edges: vec![0.18, 0.14, 0.2] },
        Shape::Surface(Arc::new(octahedron)),
    ];
    let count = 10_000usize;
    let (mut positions, mut rotations, mut velocity) = (Vec::new(), Vec::new(), Vec::new());
    for body in 0..count as u64 {
        let radius = 3.0 * scatter(3 * body).sqrt();
        let angle = std::f64::consts::TAU * scatter(3 * body + 1);
        let height = 0.1 + 2.4 * scatter(3 * body + 2) * (1.0 - radius / 3.4);
        let drop = (1.5 - 4.9 * time * time).max(0.0);
        positions.extend([radius * angle.cos(), height + drop, radius * angle.sin()]);
        let half = 3.0 * scatter(7 * body) + time;
        rotations.extend([half.cos(), 0.6 * half.sin(), 0.8 * half.sin(), 0.0]);
        velocity.extend([
            0.0f32,
            if drop > 0.0 { (-9.8 * time) as f32 } else { 0.0 },
            scatter(5 * body) as f32,
        ]);
    }
    let bodies = Bodies {
        names: (0..count).map(|body| format!("body-{}", body + 1)).collect(),
        shapes,
        shape_of: (0..count as u32).map(|body| body % 3).collect(),
        positions,
        rotations,
    };
    let attributes = vec![
        field("velocity", "m/s", Association::Point, 3, velocity),
        field("mass", "kg", Association::Point, 1, vec![1.5; count]),
    ];
    vec![Part { name: "rigid bodies".into(), geometry: Geometry::Bodies(bodies), attributes }]
}

/// Smoke on 128 cells a side.
fn smoke(time: f64) -> Vec<Part> {
    let n = 128usize;
    let (mut density, mut velocity) = (Vec::new(), Vec::new());
    let at = |i: usize| (i as f64 + 0.5) / n as f64;
    for k in 0..n {
        for j in 0..n {
            for i in 0..n {
                let (x, y, z) = (at(i) - 0.5, at(j), at(k) - 0.5);
                let swirl = 0.08 * (9.0 * y - 4.0 * time).sin();
                let r2 = (x - swirl).powi(2) + (z - 0.08 * (8.0 * y).cos()).powi(2);
                let wide = 0.06 + 0.16 * y;
                let puff = (-r2 / (wide * wide)).exp()
                    * (1.0 - y).max(0.0).powf(0.6)
                    * (0.7 + 0.3 * (40.0 * y + 9.0 * x).sin());
                density.push(puff.max(0.0) as f32);
                velocity.extend([(-z) as f32, (0.6 - r2) as f32, x as f32]);
            }
        }
    }
    let geometry =
        Geometry::Grid { origin: vec![-0.5, 0.0, -0.5], spacing: 1.0 / n as f64, cells: vec![n as u64; 3] };
    let attributes = vec![
        field("velocity", "m/s", Association::Cell, 3, velocity),
        field("smoke", "1", Association::Cell, 1, density),
    ];
    vec![Part { name: "fluid".into(), geometry, attributes }]
}

/// A wavy surface of `2 n^2` triangles.
fn waves(n: usize, time: f64) -> (Vec<f64>, Vec<u32>) {
    let mut positions = Vec::with_capacity(3 * (n + 1) * (n + 1));
    for j in 0..=n {
        for i in 0..=n {
            let (x, z) = (2.0 * i as f64 / n as f64 - 1.0, 2.0 * j as f64 / n as f64 - 1.0);
            let r = (x * x + z * z).sqrt();
            positions.extend([x, 0.12 * (14.0 * r - 6.0 * time).cos() / (1.0 + 3.0 * r), z]);
        }
    }
    let mut elements = Vec::with_capacity(6 * n * n);
    for j in 0..n as u32 {
        for i in 0..n as u32 {
            let (a, row) = (i + (n as u32 + 1) * j, n as u32 + 1);
            elements.extend([a, a + row, a + 1, a + 1, a + row, a + row + 1]);
        }
    }
    (positions, elements)
}

/// 2 million triangles.
fn surface(time: f64) -> Vec<Part> {
    let (positions, elements) = waves(1000, time);
    vec![Part {
        name: "surface of water".into(),
        geometry: Geometry::Mesh { element: Element::Triangle, positions, elements },
        attributes: vec![],
    }]
}

/// A little of everything.
fn everything(time: f64) -> Vec<Part> {
    let bodies = Bodies {
        names: ["ball", "box", "wedge"].map(String::from).to_vec(),
        shapes: vec![
            Shape::Ball { radius: 0.25 },
            Shape::Box { edges: vec![0.4, 0.3, 0.5] },
            Shape::Surface(Arc::new(SurfaceShape::new(
                vec![0., -0.2, 0.3, 0.3, -0.2, -0.2, -0.3, -0.2, -0.2, 0., 0.35, 0.],
                vec![0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3],
            ))),
        ],
        shape_of: vec![0, 1, 2],
        positions: vec![-0.9, 0.3 + 0.5 * time, 0.5, 0.0, 0.5, 0.6, 0.9, 0.4, 0.5],
        rotations: vec![1., 0., 0., 0., time.cos(), 0., time.sin(), 0., 1., 0., 0., 0.],
    };
    let body_fields = vec![
        field("velocity", "m/s", Association::Point, 3, vec![0., 0.5, 0., 0., 0., 0., 0., 0., 1.0]),
        field("mass", "kg", Association::Point, 1, vec![1.0, 2.0, 3.0]),
        field("kinetic energy", "J", Association::Point, 1, vec![0.125, 0.0, 1.5]),
    ];
    let (mut positions, elements) = waves(24, time);
    positions.chunks_exact_mut(3).for_each(|p| p[1] += 1.4);
    let strain: Vec<f32> = (0..elements.len() / 3).map(|t| (t as f32 / 30.0).sin()).collect();
    let points = positions.len() / 3;
    let cloth_fields = vec![
        field(
            "velocity",
            "m/s",
            Association::Point,
            3,
            (0..3 * points).map(|i| (i % 50) as f32 / 50.0).collect(),
        ),
        field("volume error", "1", Association::Cell, 1, strain),
    ];
    let drops: Vec<f64> = (0..60)
        .flat_map(|i| [2.0 * scatter(i) - 1.0, 0.05 + 0.2 * scatter(90 + i), 1.2 + 0.4 * scatter(200 + i)])
        .collect();
    let drop_fields = vec![
        field("velocity", "m/s", Association::Point, 3, (0..180).map(|i| (i as f32 / 180.0).sin()).collect()),
        field("radius", "m", Association::Point, 1, vec![0.03; 60]),
    ];
    let part = |name: &str, geometry, attributes| Part { name: name.into(), geometry, attributes };
    vec![
        part("rigid bodies", Geometry::Bodies(bodies), body_fields),
        part("cloth", Geometry::Mesh { element: Element::Triangle, positions, elements }, cloth_fields),
        part("drops of water", Geometry::Points { positions: drops }, drop_fields),
        part(
            "chain",
            Geometry::Mesh {
                element: Element::Segment,
                positions: (0..8)
                    .flat_map(|i| [-1.2 + 0.2 * f64::from(i), 0.9 + 0.05 * f64::from(i * (i - 7)), -0.9])
                    .collect(),
                elements: (0..7).flat_map(|i| [i, i + 1]).collect(),
            },
            vec![],
        ),
    ]
}
