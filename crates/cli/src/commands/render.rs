//! `splashdown render`.

use super::export::frames;
use crate::failure::Failure;
use crate::terminal;
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use splashdown_render::{
    Bounds, Colouring, Framing, Image, RenderOptions, bounds, render, write_gif, write_mp4,
};
use splashdown_scene::frame::{Frame, FrameReader};
use splashdown_scene::run_folder::Layout;
use splashdown_scene::storage;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(after_help = "\
Examples:
  splashdown render runs/quickstart                          the last frame as runs/quickstart/picture.png
  splashdown render runs/quickstart --frames 12 --out twelve.png
  splashdown render runs/quickstart --film                   all frames as runs/quickstart/film.mp4
  splashdown render runs/quickstart --out quickstart.gif --speed 0.5
  splashdown render runs/quickstart --frames 0.. --out pictures    one PNG a frame in a folder
  splashdown render runs/quickstart --colour speed --from 1,0.3,0 --zoom 1.5")]
pub struct Arguments {
    /// Folder of the run
    run: PathBuf,
    /// Frames to draw: `12`, `3..`, `..7`, or `3..7` with both ends included [default: the last one; all for a film]
    #[arg(long, value_name = "FIRST..LAST", value_parser = frames)]
    frames: Option<RangeInclusive<u64>>,
    /// A PNG, MP4 or GIF file, or a folder for one PNG a frame [default: picture.png or film.mp4 in the run's folder]
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Make a moving picture: MP4 (H.264), or GIF if --out ends so
    #[arg(long)]
    film: bool,
    /// Speed of a film: simulated seconds in a second [default: 1]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    speed: Option<f64>,
    /// Width (pixels)
    #[arg(long, default_value_t = 1280)]
    width: usize,
    /// Height (pixels)
    #[arg(long, default_value_t = 720)]
    height: usize,
    /// What colours show
    #[arg(long, visible_alias = "color", value_enum, default_value_t = Colour::Body)]
    colour: Colour,
    /// Direction from the scene to the camera, such as `1,0.5,0` [default: the scene's camera, or 0.45,0.4,1]
    #[arg(long, value_name = "X,Y,Z", value_parser = direction, allow_hyphen_values = true)]
    from: Option<[f64; 3]>,
    /// Which way is up [default: the scene's camera, or 0,1,0]
    #[arg(long, value_name = "X,Y,Z", value_parser = direction, allow_hyphen_values = true)]
    up: Option<[f64; 3]>,
    /// How near: 1 shows everything, 2 twice as large [default: 1]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    zoom: Option<f64>,
    /// No ground under the scene
    #[arg(long)]
    no_ground: bool,
    /// Replace a file of that name
    #[arg(long)]
    overwrite: bool,
    /// Print nothing if all goes well
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Colour {
    /// A colour for each body
    Body,
    /// How fast it moves: dark is slow, yellow fast
    Speed,
}

fn direction(text: &str) -> Result<[f64; 3], String> {
    let parts: Vec<f64> = text
        .split(',')
        .map(|part| part.trim().parse::<f64>().map_err(|_| format!("`{part}` is not a number")))
        .collect::<Result<_, _>>()?;
    match parts[..] {
        [x, y, z] if x.hypot(y).hypot(z).is_normal() => Ok([x, y, z]),
        [_, _, _] => Err("a direction has a finite length that is not 0".into()),
        _ => Err("give three numbers such as 1,0.5,0".into()),
    }
}

/// Most frames that decide what the camera of a film sees; a film of more takes some of them.
const FRAMED: usize = 60;

pub fn execute(arguments: &Arguments) -> Result<(), Failure> {
    let layout = Layout::new(&arguments.run);
    if !layout.is_run() {
        return Err(Failure::bad_input(format!("{} is not the folder of a run", arguments.run.display())));
    }
    if let Some(zoom) = arguments.zoom.filter(|zoom| !(zoom.is_finite() && *zoom > 0.0)) {
        return Err(Failure::bad_input(format!("--zoom {zoom}: expected a positive, finite number")));
    }
    let kind = FilmKind::of(arguments)?;
    let film = kind.is_some();
    if let Some(speed) = arguments.speed {
        if !(speed.is_finite() && speed > 0.0) {
            return Err(Failure::bad_input(format!("--speed {speed}: expected a positive, finite number")));
        }
        if !film {
            return Err(Failure::bad_input("--speed is for films; add --film, or --out with .mp4 or .gif"));
        }
    }
    let paths = chosen(&layout, arguments, film)?;
    let out = arguments
        .out
        .clone()
        .unwrap_or_else(|| arguments.run.join(if film { "film.mp4" } else { "picture.png" }));
    let to_folder = !film && !has_ending(Some(&out), "png");
    if !to_folder && !film && paths.len() > 1 {
        return Err(Failure::bad_input(format!(
            "{} frames do not fit into one picture; give --out a folder, or --film for a moving picture",
            paths.len()
        )));
    }
    if !to_folder && out.exists() && arguments.out.is_some() && !arguments.overwrite {
        return Err(Failure::bad_input(format!("{} exists; --overwrite replaces it", out.display())));
    }
    let mut reader = FrameReader::default();
    let mut read = |path: &Path| -> Result<Frame, Failure> {
        reader.read(path).map_err(|error| Failure::bad_input(format!("{}: {error}", path.display())))
    };
    let mut seen = Bounds::empty();
    for path in paths.iter().step_by(paths.len().div_ceil(FRAMED)).chain(paths.last()) {
        seen.join(&bounds(&read(path)?));
    }
    let options = options(&layout, arguments);
    let bar = if arguments.quiet { ProgressBar::hidden() } else { ProgressBar::new(paths.len() as u64) };
    if let Ok(style) = ProgressStyle::with_template("{bar:30} picture {pos}/{len}  {eta} left") {
        bar.set_style(style);
    }
    let mut draw = |path: &PathBuf| -> Result<Image, Failure> {
        let image = render(&read(path)?, &seen, &options).map_err(Failure::bad_input)?;
        bar.inc(1);
        Ok(image)
    };
    if let Some(kind) = kind {
        write_film(kind, arguments.speed.unwrap_or(1.0), &paths, &out, &mut draw)?;
    } else {
        if to_folder {
            std::fs::create_dir_all(&out)
                .map_err(|error| Failure::bad_input(format!("cannot make {}: {error}", out.display())))?;
        }
        for path in &paths {
            let stem =
                path.file_stem().map_or_else(Default::default, |stem| stem.to_string_lossy().into_owned());
            let file = if to_folder { out.join(format!("{stem}.png")) } else { out.clone() };
            let mut bytes = Vec::new();
            draw(path)?.write_png(&mut bytes).map_err(Failure::failed)?;
            storage::write_atomically(&file, |out| out.write_all(&bytes)).map_err(Failure::failed)?;
        }
    }
    bar.finish_and_clear();
    if !arguments.quiet {
        terminal::say(&format!("{}", out.display()));
    }
    Ok(())
}

fn options(layout: &Layout, arguments: &Arguments) -> RenderOptions {
    // A run without a scene that can be read is still drawn.
    let scene = splashdown_scene::load(&layout.scene().display().to_string(), &[]).ok();
    let default = scene.and_then(|loaded| loaded.scene.camera).map_or_else(Framing::default, |camera| {
        Framing { from: camera.from, up: camera.up, zoom: camera.zoom }
    });
    RenderOptions {
        width: arguments.width,
        height: arguments.height,
        colouring: match arguments.colour {
            Colour::Body => Colouring::Body,
            Colour::Speed => Colouring::Speed(0.0),
        },
        framing: Framing {
            from: arguments.from.unwrap_or(default.from),
            up: arguments.up.unwrap_or(default.up),
            zoom: arguments.zoom.unwrap_or(default.zoom),
        },
        ground: !arguments.no_ground,
    }
}

/// Kinds of moving pictures.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FilmKind {
    Mp4,
    Gif,
}

impl FilmKind {
    /// What the file's name or `--film` asks for.
    fn of(arguments: &Arguments) -> Result<Option<Self>, Failure> {
        let out = arguments.out.as_deref();
        if has_ending(out, "mp4") {
            return Ok(Some(Self::Mp4));
        }
        if has_ending(out, "gif") {
            return Ok(Some(Self::Gif));
        }
        let other = out.and_then(Path::extension).filter(|ending| {
            let is = |known: &str| ending.eq_ignore_ascii_case(known);
            is("webm") || is("mov") || is("avi") || is("mkv") || is("jpg") || is("jpeg") || arguments.film
        });
        match other {
            Some(ending) => Err(Failure::bad_input(format!(
                "--out with the ending `{}`: pictures are PNG, films MP4 or GIF",
                ending.display()
            ))),
            None => Ok(arguments.film.then_some(Self::Mp4)),
        }
    }
}

fn has_ending(path: Option<&Path>, ending: &str) -> bool {
    path.and_then(Path::extension).is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

/// Paths of the frames asked for.
fn chosen(layout: &Layout, arguments: &Arguments, film: bool) -> Result<Vec<PathBuf>, Failure> {
    let all = layout.list_frames().map_err(Failure::bad_input)?;
    let Some(last) = all.last().map(|(index, _)| *index) else {
        return Err(Failure::bad_input(format!("{} has no frames", arguments.run.display())));
    };
    let range = match &arguments.frames {
        Some(range) => range.clone(),
        None if film => 0..=u64::MAX,
        None => last..=last,
    };
    let paths: Vec<PathBuf> =
        all.into_iter().filter(|(index, _)| range.contains(index)).map(|(_, path)| path).collect();
    if paths.is_empty() {
        return Err(Failure::bad_input(format!("the run has frames 0 to {last}, none of those asked for")));
    }
    Ok(paths)
}

fn write_film(
    kind: FilmKind,
    speed: f64,
    paths: &[PathBuf],
    out: &Path,
    draw: &mut dyn FnMut(&PathBuf) -> Result<Image, Failure>,
) -> Result<(), Failure> {
    let times = |path: &PathBuf| Frame::read(path).map(|frame| frame.time);
    // Simulated time between frames is the time between pictures.
    let simulated = match (paths.first().map(times), paths.get(1).map(times)) {
        (Some(Ok(first)), Some(Ok(second))) if second > first => second - first,
        _ => 1.0 / 30.0,
    };
    let mut failure = None;
    let mut bytes = Vec::new();
    // The first picture that fails ends the film.
    let images = paths.iter().map_while(|path| match draw(path) {
        Ok(image) => Some(image),
        Err(error) => {
            failure = Some(error);
            None
        }
    });
    let seconds = simulated / speed;
    let written = match kind {
        FilmKind::Mp4 => write_mp4(&mut bytes, seconds, images),
        FilmKind::Gif => write_gif(&mut bytes, seconds, images),
    };
    if let Some(failure) = failure {
        return Err(failure);
    }
    written.map_err(Failure::bad_input)?;
    storage::write_atomically(out, |file| file.write_all(&bytes)).map_err(Failure::failed)
}
