//! Frame writing: how long the solver waits for a frame, in the background and, in the same run, if it wrote the frame itself.

use crate::{BenchError, BenchOptions, BenchRow, Benchmark, Mark};
use splashdown_scene::frame::{Association, Attribute, Data, Frame, Geometry, Part};
use splashdown_scene::log::LogWriter;
use splashdown_scene::recorder::Recorder;
use splashdown_scene::run_folder::Layout;
use splashdown_scene::storage;
use std::time::Instant;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "frames",
    summary: "time the solver waits for a frame to be written, in the background against writing it itself",
    run,
};

/// Level that scenes use unless they say otherwise.
const COMPRESSION: i32 = 3;

/// Frames that are queued, several times what the queue holds.
const RECORDED: u64 = 12;

/// A cloud of points with velocities; values like those of a simulation, not all equal and not noise.
fn cloud(points: usize, index: u64) -> Frame {
    let wave = |i: usize| ((i as f64) * 1e-3 + index as f64 * 0.1).sin();
    let velocity = Attribute {
        name: "velocity".into(),
        unit: "m/s".into(),
        association: Association::Point,
        components: 3,
        data: Data::F64((0..3 * points).map(wave).collect()),
    };
    let geometry =
        Geometry::Points { positions: (0..3 * points).map(|i| i as f64 * 1e-4 + wave(i)).collect() };
    let parts = vec![Part { name: "cloud".into(), geometry, attributes: vec![velocity] }];
    Frame { dimension: 3, index, step: index, time: index as f64 / 30.0, parts }
}

fn run(options: &BenchOptions) -> Result<Vec<BenchRow>, BenchError> {
    let points = if options.quick { 20_000 } else { 500_000 };
    let frames = 4;
    let folder = tempfile::tempdir().map_err(|error| BenchError::failed("making a folder", error))?;
    let layout = Layout::new(folder.path());
    std::fs::create_dir_all(layout.frames()).map_err(|error| BenchError::failed("making a folder", error))?;

    let direct = Instant::now();
    for index in 0..frames {
        let bytes = cloud(points, index)
            .encode(COMPRESSION)
            .map_err(|error| BenchError::failed("encoding a frame", error))?;
        storage::write_atomically(&layout.frame(index), |out| out.write_all(&bytes))
            .map_err(|error| BenchError::failed("writing a frame", error))?;
    }
    let direct = direct.elapsed().as_secs_f64() / frames as f64;

    let log =
        LogWriter::open(&layout.log(), 0).map_err(|error| BenchError::failed("opening the log", error))?;
    let mut recorder = Recorder::start(layout.clone(), log, COMPRESSION)
        .map_err(|error| BenchError::failed("starting the recorder", error))?;
    let mut longest = 0.0f64;
    // More frames than the queue holds, each after as much work of the solver as two frames take to write.
    for index in 0..RECORDED {
        let frame = cloud(points, index);
        std::thread::sleep(std::time::Duration::from_secs_f64(2.0 * direct));
        let start = Instant::now();
        recorder.frame(frame).map_err(|error| BenchError::failed("queueing a frame", error))?;
        longest = longest.max(start.elapsed().as_secs_f64());
    }
    recorder.flush().map_err(|error| BenchError::failed("writing frames", error))?;
    let size = format!("{points} points");
    let row = |quantity: &str, value: f64| BenchRow::new("frames", quantity, value, "ms", 1, size.as_str());
    let share =
        BenchRow::new("frames", "longest wait / time to write", longest / direct, "1", 1, size.as_str());
    Ok(vec![
        row("encode and write, a frame", direct * 1e3),
        row("longest wait of the solver", longest * 1e3),
        // Queueing is a move of pointers: if it took a hundredth of the writing, something would be written in the foreground.
        share.with_mark(Mark::AtMost(0.01)),
    ])
}
