//! `splashdown run`.

use super::check::describe;
use crate::failure::Failure;
use crate::terminal::{self, shell_word};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use splashdown_scene::log::Drift;
use splashdown_scene::recorder::RecordError;
use splashdown_scene::run::{Control, Ended, Progress, Run, RunError};
use splashdown_scene::run_folder::{Layout, RunFolderError, RunInfo};
use splashdown_scene::{Loaded, Scene};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Exit code of a run that was stopped by Ctrl-C or SIGTERM, as shells count it.
const INTERRUPTED: u8 = 130;

/// The run is over, and only its viewer is open.
static ENDED: AtomicBool = AtomicBool::new(false);

#[derive(Args)]
#[command(after_help = "\
Examples:
  splashdown run quickstart
  splashdown run mine.toml --out /data/mine --set time.step=5e-4 --set rigid.ball.mass=2
  splashdown run quickstart --resume               go on after Ctrl-C, a kill or a full disk, with the same bits
  splashdown run runs/quickstart --resume --until 4
  splashdown run dam-break --view                  watch it in the browser

The run's folder has frames/, log.jsonl (conserved quantities), checkpoints/, scene.toml and run.json.
Ctrl-C saves a checkpoint, prints the command to go on, and exits with code 130.")]
pub struct Arguments {
    /// Name of a shipped scene, a scene file, or (with --resume) the folder of a run
    scene: String,
    /// Folder of the run [default: runs/NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with the run in the folder from its last checkpoint
    #[arg(long, conflicts_with = "overwrite")]
    resume: bool,
    /// Simulate until this time (s), instead of the scene's time.end
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    until: Option<f64>,
    /// Change a field of the scene, such as `time.step=1e-3` or `rigid.ball.mass=2`; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Threads to use; the result does not depend on it [default: all processors]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=512))]
    threads: Option<u16>,
    /// Replace a run that is in the folder
    #[arg(long)]
    overwrite: bool,
    /// Print nothing if all goes well
    #[arg(long, short)]
    quiet: bool,
    /// Print JSON: how the run ended
    #[arg(long)]
    json: bool,
    /// Show the run in the browser while it is computed, and after it until Ctrl-C
    #[arg(long)]
    view: bool,
    #[command(flatten)]
    place: super::view::Place,
}

/// Sets the number of threads of the parallel loops.
pub fn use_threads(threads: Option<u16>) -> Result<(), Failure> {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0).into());
    builder.build_global().map_err(|error| Failure::failed(format!("cannot start threads: {error}")))
}

pub fn execute(arguments: &Arguments) -> Result<(), Failure> {
    use_threads(arguments.threads)?;
    if let Some(flag) = arguments.place.given().filter(|_| !arguments.view) {
        return Err(Failure::bad_input(format!("{flag} is for the viewer; add --view to watch the run")));
    }
    if let Some(end) = arguments.until.filter(|end| !(end.is_finite() && *end > 0.0)) {
        return Err(Failure::bad_input(format!(
            "--until {end}: expected a positive, finite number of seconds"
        )));
    }
    let mut overrides = arguments.set.clone();
    // Debug formatting keeps the point or exponent that makes it a TOML float.
    overrides.extend(arguments.until.map(|end| format!("time.end={end:?}")));

    let given = Path::new(&arguments.scene);
    let is_run = Layout::new(given).is_run();
    if is_run && !arguments.resume {
        let hint = format!("{} is the folder of a run; add --resume to go on with it", arguments.scene);
        return Err(Failure::bad_input(hint));
    }
    if is_run && arguments.out.is_some() {
        return Err(Failure::bad_input(
            "--out cannot be given when resuming a run's folder: it goes on where it is",
        ));
    }
    let (loaded, folder, name) = if is_run {
        let layout = Layout::new(given);
        if !layout.scene().exists() {
            return Err(Failure::bad_input(format!(
                "the run in {} was stopped before it had saved its scene; start it again: splashdown run SCENE --out {} --overwrite",
                arguments.scene,
                shell_word(&arguments.scene)
            )));
        }
        let name = RunInfo::read(&layout).map_err(Failure::bad_input)?.scene;
        (load(&layout.scene().display().to_string(), &overrides)?, given.to_owned(), name)
    } else {
        let loaded = load(&arguments.scene, &overrides)?;
        let stem = given.file_stem().unwrap_or(given.as_os_str()).to_string_lossy().into_owned();
        let folder = arguments.out.clone().unwrap_or_else(|| Path::new("runs").join(&stem));
        (loaded, folder, stem)
    };
    // A run that was killed before its first checkpoint has nothing to go on from: it begins anew.
    let layout = Layout::new(&folder);
    let begins_anew = arguments.resume && layout.is_run() && !has_checkpoint(&layout)?;
    if arguments.resume && !begins_anew {
        refuse_another_scene(&folder, &loaded.scene)?;
    }

    let mut simulation = splashdown_scene::prepare(&loaded.scene).map_err(Failure::bad_input)?;
    let original = loaded.sources.texts().first().map_or("", |source| &source.text);
    let plan = loaded.scene.plan(&name, original, rayon::current_num_threads());

    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signal(&stop);
    // The folder's own scene has --until and --set in it already.
    let go_on = format!("splashdown run {} --resume", shell_word(&folder.display().to_string()));
    let explain = |error: RunError| explain(error, &go_on);
    let run = if arguments.resume && !begins_anew {
        let (run, passed_over) = Run::resume(&folder, plan, simulation.as_mut()).map_err(explain)?;
        for problem in passed_over {
            terminal::warn(&format!("warning: fell back to an older checkpoint, because {problem}"));
        }
        run
    } else {
        let replace = arguments.overwrite || begins_anew;
        Run::start(&folder, replace, plan, simulation.as_mut()).map_err(explain)?
    };
    let loud = !arguments.quiet && !arguments.json;
    if loud {
        terminal::say(&opening(&name, &loaded.scene, &folder, &run.progress(), arguments.resume));
        for note in splashdown_scene::notes(&loaded.scene) {
            terminal::warn(&format!("note: {note}"));
        }
    }

    if arguments.view {
        super::view::beside(folder.clone(), &arguments.place)?;
    }

    let mut display = Display::new(&run.progress(), loud);
    let ended = run.finish(&mut |progress| {
        display.update(progress);
        if stop.load(Ordering::Relaxed) { Control::Stop } else { Control::Continue }
    });
    display.close();
    let interrupted = ended.as_ref().is_ok_and(|ended| ended.interrupted);
    let concluded = conclude(arguments, &folder, &go_on, ended);
    if arguments.view && !interrupted {
        ENDED.store(true, Ordering::Relaxed);
        terminal::warn("the viewer stays open; Ctrl-C ends it");
        while !stop.load(Ordering::Relaxed) {
            std::thread::sleep(Display::REFRESH);
        }
    }
    concluded
}

fn load(scene: &str, overrides: &[String]) -> Result<Loaded, Failure> {
    splashdown_scene::load(scene, overrides)
        .map_err(|errors| Failure::bad_input(describe(&errors).trim_end()))
}

fn has_checkpoint(layout: &Layout) -> Result<bool, Failure> {
    let found = splashdown_scene::checkpoint::list(&layout.checkpoints()).map_err(Failure::bad_input)?;
    Ok(!found.is_empty())
}

/// Before anything is touched: a run can only go on with the physics that it began with.
fn refuse_another_scene(folder: &Path, scene: &Scene) -> Result<(), Failure> {
    let layout = Layout::new(folder);
    RunInfo::read(&layout).map_err(Failure::bad_input)?;
    let before = load(&layout.scene().display().to_string(), &[])?.scene;
    let differences = before.physics_differences(scene);
    if differences.is_empty() {
        return Ok(());
    }
    let listed: String = differences.iter().take(10).map(|difference| format!("\n  {difference}")).collect();
    Err(Failure::bad_input(format!(
        "{} was run with another scene, and only time.end and output may change when resuming; different are{listed}",
        folder.display()
    )))
}

/// The first signal asks the run to stop after its step, the second ends the program at once.
fn stop_on_signal(stop: &Arc<AtomicBool>) {
    let stop = Arc::clone(stop);
    let handler = move || {
        if stop.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
        if !ENDED.load(Ordering::Relaxed) {
            terminal::warn("\nstopping after this step (once more: at once, without a checkpoint of it)");
        }
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        terminal::warn(&format!("warning: Ctrl-C will not save a checkpoint: {error}"));
    }
}

fn explain(error: RunError, go_on: &str) -> Failure {
    match &error {
        RunError::Folder(RunFolderError::Storage(storage)) if !storage.is_bad_input() => {
            Failure::failed(error)
        }
        RunError::Folder(_) | RunError::SceneDiffers { .. } | RunError::PastEnd { .. } => {
            Failure::bad_input(error)
        }
        RunError::Physics { .. } => Failure::failed(format!(
            "{error}\nthe last good state is saved; a shorter time.step may help (or, to go on from it: {go_on})"
        )),
        RunError::Record(RecordError::Storage(_)) => Failure::failed(format!(
            "{error}\neverything up to the last checkpoint is on disk; when the cause is removed, go on with: {go_on}"
        )),
        RunError::Record(_) => Failure::failed(error),
    }
}

fn opening(name: &str, scene: &Scene, folder: &Path, progress: &Progress, resumed: bool) -> String {
    let bold = terminal::style().bold();
    let from = if resumed { format!(", from t = {} s", progress.time) } else { String::new() };
    format!(
        "{} ({}D, {} rigid bodies, {} deformable) to t = {} s{from} in {}",
        bold.apply_to(name),
        scene.dimension,
        scene.rigid_copies().count(),
        scene.deformable.len(),
        scene.time.end,
        folder.display()
    )
}

/// The progress bar.
struct Display {
    bar: ProgressBar,
    last: Instant,
}

impl Display {
    /// How often the text is made anew; steps may be far more frequent.
    const REFRESH: Duration = Duration::from_millis(100);

    fn new(progress: &Progress, visible: bool) -> Self {
        let bar = if visible { ProgressBar::new(progress.last_frame) } else { ProgressBar::hidden() };
        let template = "{bar:28} {percent}%  frame {pos}/{len}  {msg}  {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_position(progress.frame);
        bar.reset_eta();
        Self { bar, last: Instant::now() }
    }

    fn update(&mut self, progress: &Progress) {
        if self.last.elapsed() < Self::REFRESH {
            return;
        }
        self.last = Instant::now();
        self.bar.set_position(progress.frame);
        self.bar.set_message(format!(
            "t = {:.4} s  step {} (dt {:.1e} s)  {} iterations",
            progress.time, progress.step, progress.dt, progress.iterations
        ));
    }

    fn close(&self) {
        self.bar.finish_and_clear();
    }
}

fn conclude(
    arguments: &Arguments,
    folder: &Path,
    go_on: &str,
    ended: Result<Ended, RunError>,
) -> Result<(), Failure> {
    let outcome = match ended {
        Ok(ended) => {
            let result = if ended.interrupted { Err(Failure::silent(INTERRUPTED)) } else { Ok(()) };
            if arguments.json {
                terminal::say(&to_json(folder, go_on, &ended).to_string());
            } else {
                tell(folder, go_on, &ended, arguments.quiet);
            }
            result
        }
        Err(error) => {
            let failure = explain(error, go_on);
            if arguments.json {
                let value = serde_json::json!({
                    "status": "failed", "folder": folder, "message": failure.message(), "go_on": go_on
                });
                terminal::say(&value.to_string());
            }
            Err(failure)
        }
    };
    debug_assert!(outcome.as_ref().err().is_none_or(|failure| failure.code() != 0));
    outcome
}

fn to_json(folder: &Path, go_on: &str, ended: &Ended) -> serde_json::Value {
    serde_json::json!({
        "status": if ended.interrupted { "interrupted" } else { "finished" },
        "folder": folder,
        "time": ended.progress.time,
        "steps": ended.progress.step,
        "frame": ended.progress.frame,
        "last_frame": ended.progress.last_frame,
        "seconds": ended.seconds,
        "drift": ended.drift,
        "go_on": go_on,
    })
}

fn tell(folder: &Path, go_on: &str, ended: &Ended, quiet: bool) {
    let Progress { time, step, frame, .. } = ended.progress;
    if ended.interrupted {
        // Also for the quiet: without it the user does not know how to go on.
        terminal::warn(&format!("interrupted at t = {time} s (step {step}); saved; go on with:\n  {go_on}"));
        return;
    }
    if quiet {
        return;
    }
    let shown = folder.display().to_string();
    terminal::say(&format!(
        "t = {time} s after {step} steps and {} frames, {:.1} s",
        frame + 1,
        ended.seconds
    ));
    if let Some(Drift { mass, momentum, angular_momentum, energy }) = ended.drift {
        terminal::say(&format!(
            "change since the start: mass {mass:.1e}, energy {energy:+.2e} (relative), momentum {momentum:.3e} kg m/s, \
             angular momentum {angular_momentum:.3e} kg m^2/s"
        ));
    }
    terminal::say(&format!("output in {shown}"));
    terminal::say(&format!("next: splashdown info {0}\n      splashdown export {0}", shell_word(&shown)));
}
