//! A run that is killed (SIGKILL, no chance to clean up) at any moment and resumed, again and again, gives the same bits as one that never stopped:
//! every frame and every line of the log. The moments are random, other ones in each run of the case.
//!
//! The scene is the foundation's own: spheres and a box in free flight and a chain with implicit damping, in the plane and in space.
//!
//! Source: exact, bitwise equality; issue 2 ("resume bit-identity, kill -9 at a random time, 20 times").

use crate::{Case, CaseError, Measurements, Speed};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub(super) const CASE: Case = Case {
    name: "foundation/resume-bit-identity",
    spec: "foundation",
    summary: "a run killed 20 times at any moment and resumed has the frames and the log of one that never stopped",
    source: "exact: bitwise equality",
    speed: Speed::Fast,
    seconds: 10.0,
    run,
};

/// Kills in each dimension.
const KILLS: usize = 10;
/// Sessions after which a case that is never hit gives up.
const MOST_SESSIONS: usize = 200;

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let program = program()?;
    for dimension in [2, 3] {
        let folder = tempfile::tempdir().map_err(|error| CaseError::new("making a folder", error))?;
        let found = kill_and_resume(&program, dimension, folder.path())?;
        let resolution = format!("{dimension}D, {} frames", found.frames);
        out.at_least("kills survived", &resolution, found.kills as f64, KILLS as f64, "issue 2");
        out.at_most("files that differ in any bit", &resolution, found.different as f64, 0.0, "exact");
        out.at_least("resumed from a checkpoint", &resolution, found.resumed as f64, 1.0, "issue 2");
    }
    Ok(())
}

/// The program `splashdown`: this process itself under `splashdown verify`, or next to the folder of the tests.
fn program() -> Result<PathBuf, CaseError> {
    let here = std::env::current_exe().map_err(|error| CaseError::new("finding the program", error))?;
    let name = format!("splashdown{}", std::env::consts::EXE_SUFFIX);
    here.ancestors()
        .take(3)
        .flat_map(|path| [path.to_owned(), path.join(&name)])
        .find(|path| path.is_file() && path.file_name().is_some_and(|file| *file == *name))
        .ok_or_else(|| {
            CaseError::new("finding the program", "run this case by `splashdown verify`, or build it first")
        })
}

struct Found {
    kills: usize,
    resumed: usize,
    different: usize,
    frames: usize,
}

fn kill_and_resume(program: &Path, dimension: usize, folder: &Path) -> Result<Found, CaseError> {
    let scene = folder.join("scene.toml");
    std::fs::write(&scene, scene_text(dimension))
        .map_err(|error| CaseError::new("writing the scene", error))?;
    let whole = folder.join("whole");
    let start = Instant::now();
    let output = command(program, &scene, &whole)
        .output()
        .map_err(|error| CaseError::new("running the program", error))?;
    let length = start.elapsed();
    if !output.status.success() {
        return Err(CaseError::new("running without interruption", String::from_utf8_lossy(&output.stderr)));
    }
    let reference = bits(&whole)?;
    let mut found = Found { kills: 0, resumed: 0, different: 0, frames: reference.len() - 1 };
    let (mut run_number, mut sessions) = (0, 0);
    // Each round is one run, killed on the way as often as it takes it to finish.
    while found.kills < KILLS {
        let path = folder.join(format!("killed-{run_number}"));
        run_number += 1;
        loop {
            sessions += 1;
            if sessions > MOST_SESSIONS {
                return Err(CaseError::new(
                    "killing",
                    format!("only {} of {sessions} sessions were hit", found.kills),
                ));
            }
            let mut session = command(program, &scene, &path);
            let resumes = has_checkpoint(&path);
            session.arg(if resumes { "--resume" } else { "--overwrite" });
            let mut child = session.spawn().map_err(|error| CaseError::new("running the program", error))?;
            // Up to 60 % of the whole run, so that most runs are hit more than once.
            let random = RandomState::new().hash_one(sessions) as f64 / u64::MAX as f64;
            let share = 0.6 * random;
            let enough = found.kills >= KILLS;
            if !enough {
                std::thread::sleep(Duration::from_secs_f64(share * length.as_secs_f64()));
                // SIGKILL on Unix. An error means that it has ended by itself.
                let _ = child.kill();
            }
            let output = child.wait_with_output().map_err(|error| CaseError::new("waiting", error))?;
            match output.status.code() {
                Some(0) => break,
                None => {
                    found.kills += 1;
                    found.resumed += usize::from(resumes);
                }
                Some(_) => return Err(CaseError::new("resuming", String::from_utf8_lossy(&output.stderr))),
            }
        }
        found.different += differences(&reference, &bits(&path)?);
    }
    Ok(found)
}

fn command(program: &Path, scene: &Path, out: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg("run").arg(scene).arg("--out").arg(out).arg("--quiet");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

fn has_checkpoint(run: &Path) -> bool {
    std::fs::read_dir(run.join("checkpoints")).is_ok_and(|mut files| {
        files.any(|file| file.is_ok_and(|file| file.path().extension().is_some_and(|e| e == "spc")))
    })
}

/// Every frame and the log.
fn bits(run: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>, CaseError> {
    let read = || -> std::io::Result<_> {
        let mut files = BTreeMap::new();
        for entry in std::fs::read_dir(run.join("frames"))? {
            let path = entry?.path();
            files.insert(path.file_name().unwrap_or_default().into(), std::fs::read(path)?);
        }
        files.insert("log.jsonl".into(), std::fs::read(run.join("log.jsonl"))?);
        Ok(files)
    };
    read().map_err(|error| CaseError::new("reading the run", error))
}

/// Files that are in one only or not the same in both.
fn differences(a: &BTreeMap<PathBuf, Vec<u8>>, b: &BTreeMap<PathBuf, Vec<u8>>) -> usize {
    a.iter().filter(|(name, bytes)| b.get(*name) != Some(bytes)).count()
        + b.keys().filter(|name| !a.contains_key(*name)).count()
}

/// Enough steps that a kill falls between them, few enough that the case is quick.
fn scene_text(dimension: usize) -> String {
    let vector = |v: [f64; 3]| format!("{:?}", &v[..dimension]);
    let spin = if dimension == 2 { "3.0".into() } else { vector([1.0, 2.0, 3.0]) };
    format!(
        "dimension = {dimension}\n\
         time = {{ end = 1.0, frame_rate = 30.0, step = 0.0005 }}\n\
         output = {{ checkpoint_every = 2 }}\n\
         [[rigid]]\nname = \"ball\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\ndensity = 500.0\n\
         velocity = {velocity}\nspin = {spin}\nrepeat = {{ count = {count:?}, spacing = {spacing} }}\n\
         [[rigid]]\nname = \"box\"\nshape = {{ box = {{ size = {size} }} }}\nmass = 2.0\nspin = {spin}\n\
         [[deformable]]\nname = \"chain\"\nmass = 0.3\npinned = [0]\n\
         geometry = {{ chain = {{ from = {from}, to = {to}, particles = 60 }} }}\n\
         springs = {{ stiffness = 500.0, damping_ratio = 0.2 }}\n",
        velocity = vector([1.0, 5.0, 0.5]),
        count = &[3, 2, 1][..dimension],
        spacing = vector([0.5; 3]),
        size = vector([0.3, 0.2, 0.4]),
        from = vector([0.0, 3.0, 0.0]),
        to = vector([1.5, 3.0, 0.0]),
    )
}
