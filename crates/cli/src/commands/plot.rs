//! `splashdown plot`.

use crate::failure::Failure;
use crate::terminal;
use clap::Args;
use serde_json::Value;
use splashdown_render::{Canvas, Label};
use splashdown_scene::run_folder::Layout;
use splashdown_scene::storage;
use splashdown_scene::timings::Timing;
use splashdown_verify::{Anchor, Mark, Plot, Scale, Series, Stroke, curve_colour};
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "\
Examples:
  splashdown plot runs/quickstart                            energies over time, as runs/quickstart/plot.svg
  splashdown plot runs/quickstart momentum.0 momentum.1
  splashdown plot runs/quickstart solves.0.iterations --out iterations.png
  splashdown plot runs/quickstart stages.contact stages.all  how long a step took (s), by stage
  splashdown plot runs/quickstart --list                     what the log holds")]
pub struct Arguments {
    /// Folder of the run
    run: PathBuf,
    /// Quantities of the log to plot over time [default: the energies]
    quantities: Vec<String>,
    /// SVG or PNG file to write [default: plot.svg in the run's folder]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// List the quantities of the log instead
    #[arg(long)]
    list: bool,
    /// Replace a file of that name
    #[arg(long)]
    overwrite: bool,
    /// Print nothing if all goes well
    #[arg(long, short)]
    quiet: bool,
}

/// Curves of one plot.
const MAX_CURVES: usize = 8;

pub fn execute(arguments: &Arguments) -> Result<(), Failure> {
    let layout = Layout::new(&arguments.run);
    if !layout.is_run() {
        return Err(Failure::bad_input(format!("{} is not the folder of a run", arguments.run.display())));
    }
    let log = storage::read(&layout.log()).map_err(Failure::bad_input)?;
    let mut curves = curves(&String::from_utf8_lossy(&log));
    if curves.is_empty() {
        return Err(Failure::bad_input(format!("{} holds no steps yet", layout.log().display())));
    }
    curves.extend(stages(&layout));
    if arguments.list {
        curves.keys().for_each(|name| terminal::say(name));
        return Ok(());
    }
    let names: Vec<String> = if arguments.quantities.is_empty() {
        curves.keys().filter(|name| name.ends_with("energy")).cloned().collect()
    } else {
        arguments.quantities.clone()
    };
    if names.len() > MAX_CURVES {
        return Err(Failure::bad_input(format!("{} curves in one plot; at most {MAX_CURVES}", names.len())));
    }
    let mut series = Vec::new();
    for name in &names {
        let points = curves.get(name).ok_or_else(|| {
            Failure::bad_input(format!(
                "the log has no `{name}`; `splashdown plot RUN --list` names what it has"
            ))
        })?;
        series.push(Series { label: name.clone(), points: points.clone(), reference: false });
    }
    let title =
        arguments.run.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let plot = Plot { title, x: "time (s)".into(), y: names.join(", "), scale: Scale::Linear, series };
    let out = arguments.out.clone().unwrap_or_else(|| arguments.run.join("plot.svg"));
    if out.exists() && arguments.out.is_some() && !arguments.overwrite {
        return Err(Failure::bad_input(format!("{} exists; --overwrite replaces it", out.display())));
    }
    let ending = out.extension().map(|ending| ending.to_ascii_lowercase());
    let bytes = match ending.as_ref().and_then(|ending| ending.to_str()) {
        Some("svg") => plot.to_svg().into_bytes(),
        Some("png") => picture(&plot)?,
        _ => {
            return Err(Failure::bad_input(format!("{}: plots are written as .svg or .png", out.display())));
        }
    };
    storage::write_atomically(&out, |file| file.write_all(&bytes)).map_err(Failure::failed)?;
    if !arguments.quiet {
        terminal::say(&out.display().to_string());
    }
    Ok(())
}

/// Pixels for each unit of a plot.
const PIXELS: f64 = 2.0;

/// The plot as a PNG file.
fn picture(plot: &Plot) -> Result<Vec<u8>, Failure> {
    let [width, height] = splashdown_verify::PLOT_SIZE;
    let mut canvas = Canvas::new(width, height, PIXELS);
    let ink = |curve: usize| {
        let colour = u32::from_str_radix(&curve_colour(curve)[1..], 16).unwrap_or_default();
        let [_, rgb @ ..] = colour.to_be_bytes();
        rgb
    };
    for mark in plot.marks() {
        match mark {
            Mark::Line { points, stroke: Stroke::Grid } => canvas.line(&points, 1.0, [0xdd; 3]),
            Mark::Line { points, stroke: Stroke::Frame } => canvas.line(&points, 1.0, [0x44; 3]),
            Mark::Line { points, stroke: Stroke::Curve(curve, false) } => {
                canvas.line(&points, 1.8, ink(curve));
            }
            Mark::Line { points, stroke: Stroke::Curve(curve, true) } => {
                canvas.dashed(&points, 1.8, [6.0, 4.0], ink(curve));
            }
            Mark::Dot { at, curve } => canvas.dot(at, splashdown_verify::DOT_RADIUS, ink(curve)),
            Mark::Text { at, anchor, upwards, bold, text } => {
                let anchor = match anchor {
                    Anchor::Start => 0.0,
                    Anchor::Middle => 0.5,
                    Anchor::End => 1.0,
                };
                canvas.text(&Label { text: &text, at, anchor, upwards, size: 13.0, bold, ink: [0x22; 3] });
            }
        }
    }
    let mut bytes = Vec::new();
    canvas.finish().write_png(&mut bytes).map_err(Failure::failed)?;
    Ok(bytes)
}

/// Seconds a step by stage, as `stages.NAME`; nothing if the run has not measured them.
fn stages(layout: &Layout) -> BTreeMap<String, Vec<[f64; 2]>> {
    let mut curves: BTreeMap<String, Vec<[f64; 2]>> = BTreeMap::new();
    let text = storage::read(&layout.timings()).unwrap_or_default();
    for line in String::from_utf8_lossy(&text).lines() {
        let Ok(timing) = serde_json::from_str::<Timing>(line) else { break };
        for (name, seconds) in timing.seconds {
            let a_step = seconds / timing.steps.max(1) as f64;
            curves.entry(format!("stages.{name}")).or_default().push([timing.time, a_step]);
        }
    }
    curves
}

/// Every number of the log over time, by its path in the records. A line that was cut short by a kill ends the log.
fn curves(log: &str) -> BTreeMap<String, Vec<[f64; 2]>> {
    let mut curves = BTreeMap::new();
    for line in log.lines() {
        let Ok(record) = serde_json::from_str::<Value>(line) else { break };
        let Some(time) = record.get("time").and_then(Value::as_f64) else { break };
        numbers(&record, "", &mut |path, value| {
            curves.entry(path.to_owned()).or_insert_with(Vec::new).push([time, value]);
        });
    }
    curves.remove("time");
    curves
}

fn numbers(value: &Value, path: &str, found: &mut dyn FnMut(&str, f64)) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Number(number) => number.as_f64().into_iter().for_each(|number| found(path, number)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| numbers(value, &below(key), found)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, value)| numbers(value, &below(&i.to_string()), found));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::curves;

    #[test]
    fn every_number_has_its_path_and_a_cut_line_ends_the_log() {
        let log = "{\"time\":0.0,\"momentum\":[1,2],\"solves\":[]}\n{\"time\":0.5,\"momentum\":[3,4],\"solves\":[{\"iterations\":7}]}\n{\"time\":1.0,\"mom";
        let curves = curves(log);
        assert_eq!(curves["momentum.1"], [[0.0, 2.0], [0.5, 4.0]]);
        assert_eq!(curves["solves.0.iterations"], [[0.5, 7.0]]);
        assert!(!curves.contains_key("time"));
    }
}
