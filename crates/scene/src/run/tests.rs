use super::*;
use crate::checkpoint;
use crate::frame::{Bodies, Geometry, Part, Shape};
use crate::run_folder::Layout;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// A chaotic pendulum of one number: any difference in bits would grow.
#[derive(Clone)]
struct Logistic {
    x: f64,
    step: u64,
    fails_at: u64,
}

impl Logistic {
    fn new() -> Self {
        Self { x: 0.3, step: 0, fails_at: u64::MAX }
    }
}

const STEPS_PER_FRAME: u64 = 7;

impl Simulation for Logistic {
    fn dimension(&self) -> usize {
        2
    }
    fn diagnostics(&self) -> Diagnostics {
        Diagnostics {
            time: self.step as f64 / 10.0,
            step: self.step,
            mass: 1.0,
            momentum: vec![self.x, 0.0],
            angular_momentum: vec![0.0],
            kinetic_energy: self.x,
            elastic_energy: 0.0,
            gravity_energy: 0.0,
            total_energy: self.x,
            fluid: None,
            max_speed: self.x,
            elements: None,
            joints: None,
        }
    }
    fn advance(&mut self, frame: u64) -> Result<Advance, Breakdown> {
        if self.step == self.fails_at {
            return Err(Breakdown("body `ball` has a velocity that is not a number".into()));
        }
        self.x = 3.9 * self.x * (1.0 - self.x);
        self.step += 1;
        let report = StepReport { dt: 0.1, ..StepReport::default() };
        Ok(Advance { arrived: self.step == frame * STEPS_PER_FRAME, report })
    }
    fn picture(&self, index: u64) -> Frame {
        let bodies = Bodies {
            names: vec!["ball".into()],
            shapes: vec![Shape::Ball { radius: 1.0 }],
            shape_of: vec![0],
            positions: vec![self.x, 0.0],
            rotations: vec![1.0, 0.0],
        };
        let parts =
            vec![Part { name: "rigid".into(), geometry: Geometry::Bodies(bodies), attributes: vec![] }];
        Frame { dimension: 2, index, step: self.step, time: self.step as f64 / 10.0, parts }
    }
    fn save(&self) -> Result<Vec<u8>, Breakdown> {
        Ok([self.x.to_bits().to_le_bytes(), self.step.to_le_bytes()].concat())
    }
    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        let ([x, step], []) = state.as_chunks::<8>() else { return Err("wrong size".into()) };
        (self.x, self.step) = (f64::from_bits(u64::from_le_bytes(*x)), u64::from_le_bytes(*step));
        Ok(())
    }
}

fn plan(last_frame: u64) -> Plan {
    Plan {
        name: "logistic".into(),
        scene: format!("last_frame = {last_frame}"),
        original: "original".into(),
        fingerprint: fingerprint("logistic"),
        last_frame,
        save_frames: true,
        log_every: 3,
        checkpoint_every: 2,
        compression: 1,
        threads: 1,
    }
}

/// All that must be the same in two runs: every frame and the log.
fn output(path: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let layout = Layout::new(path);
    let mut files: BTreeMap<_, _> = layout
        .list_frames()
        .unwrap()
        .into_iter()
        .map(|(_, path)| (path.file_name().unwrap().into(), fs::read(path).unwrap()))
        .collect();
    files.insert("log".into(), fs::read(layout.log()).unwrap());
    files
}

fn run_whole(path: &Path, last_frame: u64) -> Ended {
    let mut world = Logistic::new();
    let run = Run::start(path, false, plan(last_frame), &mut world).unwrap();
    run.finish(&mut |_| Control::Continue).unwrap()
}

fn stop_after(step: u64) -> impl FnMut(&Progress) -> Control {
    move |progress| if progress.step >= step { Control::Stop } else { Control::Continue }
}

#[test]
fn stopping_anywhere_and_resuming_gives_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    let ended = run_whole(&whole, 10);
    assert!(!ended.interrupted && ended.progress.frame == 10 && ended.progress.step == 70);
    assert_eq!(Layout::new(&whole).list_frames().unwrap().len(), 11);
    for stop in [1, 6, 7, 20, 69] {
        let path = folder.path().join(format!("stop-{stop}"));
        let mut world = Logistic::new();
        let run = Run::start(&path, false, plan(10), &mut world).unwrap();
        let ended = run.finish(&mut stop_after(stop)).unwrap();
        assert!(ended.interrupted && ended.progress.step == stop);
        let mut world = Logistic::new();
        let (run, passed_over) = Run::resume(&path, plan(10), &mut world).unwrap();
        assert_eq!((run.progress().step, passed_over.len()), (stop, 0));
        let resumed = run.finish(&mut |_| Control::Continue).unwrap();
        assert_eq!(resumed.drift, run_drift(&whole));
        assert_eq!(output(&path), output(&whole), "stopped after {stop}");
    }
}

fn run_drift(path: &Path) -> Option<Drift> {
    let records = log::read(&Layout::new(path).log()).unwrap();
    Some(Drift::between(&records.first()?.diagnostics, &records.last()?.diagnostics))
}

/// Leaves the folder as a kill at a random moment would: later files than the checkpoint, half-written ones, a torn last line.
#[test]
fn what_was_written_after_the_checkpoint_is_written_again_and_not_twice() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, killed) = (folder.path().join("whole"), folder.path().join("killed"));
    run_whole(&whole, 10);
    run_whole(&killed, 10);
    let layout = Layout::new(&killed);
    let newest = checkpoint::list(&layout.checkpoints()).unwrap().remove(0).1;
    fs::remove_file(newest).unwrap();
    fs::write(layout.frame(10), "torn").unwrap();
    fs::write(layout.frames().join(".frame-000011.spf.part"), "half").unwrap();
    let log = fs::read(layout.log()).unwrap();
    fs::write(layout.log(), &log[..log.len() - 5]).unwrap();
    let mut world = Logistic::new();
    let (run, _) = Run::resume(&killed, plan(10), &mut world).unwrap();
    assert_eq!(run.progress().step, 56);
    run.finish(&mut |_| Control::Continue).unwrap();
    assert_eq!(output(&killed), output(&whole));
}

#[test]
fn a_damaged_checkpoint_is_passed_over_and_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, damaged) = (folder.path().join("whole"), folder.path().join("damaged"));
    run_whole(&whole, 10);
    let mut world = Logistic::new();
    Run::start(&damaged, false, plan(10), &mut world).unwrap().finish(&mut stop_after(40)).unwrap();
    let layout = Layout::new(&damaged);
    let checkpoints = checkpoint::list(&layout.checkpoints()).unwrap();
    let mut bytes = fs::read(&checkpoints[0].1).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&checkpoints[0].1, bytes).unwrap();
    let mut world = Logistic::new();
    let (run, passed_over) = Run::resume(&damaged, plan(10), &mut world).unwrap();
    assert!(passed_over.len() == 1 && passed_over[0].contains("damaged"), "{passed_over:?}");
    assert_eq!(run.progress().step, checkpoints[1].0);
    run.finish(&mut |_| Control::Continue).unwrap();
    assert_eq!(output(&damaged), output(&whole));
}

#[test]
fn a_run_can_be_extended_with_the_bits_of_a_longer_one() {
    let folder = tempfile::tempdir().unwrap();
    let (long, short) = (folder.path().join("long"), folder.path().join("short"));
    run_whole(&long, 9);
    run_whole(&short, 5);
    let mut world = Logistic::new();
    let (run, _) = Run::resume(&short, plan(9), &mut world).unwrap();
    run.finish(&mut |_| Control::Continue).unwrap();
    assert_eq!(output(&short), output(&long));
    let info = RunInfo::read(&Layout::new(&short)).unwrap();
    assert_eq!((info.status, info.sessions.len(), info.step), (Status::Finished, 2, 63));
    assert_eq!(fs::read_to_string(Layout::new(&short).scene()).unwrap(), "last_frame = 9");
}

#[test]
fn a_resume_that_cannot_be_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    run_whole(&path, 4);
    let everything = |path: &Path| {
        let layout = Layout::new(path);
        let checkpoints = checkpoint::list(&layout.checkpoints()).unwrap();
        let rest = [layout.info(), layout.scene()].map(|path| fs::read(path).unwrap());
        let checkpoints: Vec<_> = checkpoints.into_iter().map(|(_, path)| fs::read(path).unwrap()).collect();
        (output(path), rest, checkpoints)
    };
    let before = everything(&path);
    let other = Plan { fingerprint: fingerprint("another"), ..plan(8) };
    let mut world = Logistic::new();
    assert!(matches!(Run::resume(&path, other, &mut world), Err(RunError::SceneDiffers { .. })));
    for (_, path) in checkpoint::list(&Layout::new(&path).checkpoints()).unwrap() {
        let mut bytes = fs::read(&path).unwrap();
        bytes.pop();
        fs::write(path, bytes).unwrap();
    }
    let mut world = Logistic::new();
    let error = Run::resume(&path, plan(8), &mut world).err().unwrap().to_string();
    assert!(error.contains("no usable checkpoint") && error.contains("cut off"), "{error}");
    let after = everything(&path);
    assert_eq!((before.0, before.1), (after.0, after.1));
}

#[test]
fn a_breakdown_is_told_and_the_last_good_state_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut world = Logistic { fails_at: 17, ..Logistic::new() };
    let run = Run::start(&path, false, plan(10), &mut world).unwrap();
    let error = run.finish(&mut |_| Control::Continue).unwrap_err().to_string();
    assert!(error.contains("after step 17") && error.contains("`ball`"), "{error}");
    let layout = Layout::new(&path);
    assert_eq!(checkpoint::list(&layout.checkpoints()).unwrap()[0].0, 17);
    let info = RunInfo::read(&layout).unwrap();
    assert_eq!(info.status, Status::Failed);
    assert_eq!(info.message, Some(error));
}

#[test]
fn a_disk_that_fills_up_stops_the_run_which_then_resumes_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, full) = (folder.path().join("whole"), folder.path().join("full"));
    run_whole(&whole, 10);
    let mut world = Logistic::new();
    let run = Run::start(&full, false, plan(10), &mut world).unwrap();
    storage::fault::budget::set(&full, 4000);
    let error = run
        .finish(&mut |_| {
            std::thread::sleep(std::time::Duration::from_millis(2));
            Control::Continue
        })
        .unwrap_err();
    assert!(matches!(error, RunError::Record(_)), "{error}");
    storage::fault::budget::set(&full, usize::MAX);
    let mut world = Logistic::new();
    let (run, _) = Run::resume(&full, plan(10), &mut world).unwrap();
    run.finish(&mut |_| Control::Continue).unwrap();
    assert_eq!(output(&full), output(&whole));
}
