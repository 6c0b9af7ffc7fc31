//! `splashdown plot`.

use crate::failure::Failure;
use crate::terminal;
use clap::Args;
use serde_json::Value;
use splashdown_scene::run_folder::Layout;
use splashdown_scene::storage;
use splashdown_verify::{Plot, Scale, Series};
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "\
Examples:
  splashdown plot runs/quickstart                            energies over time, as runs/quickstart/plot.svg
  splashdown plot runs/quickstart momentum.0 momentum.1
  splashdown plot runs/quickstart solves.0.iterations --out iterations.svg
  splashdown plot runs/quickstart --list                     what the log holds")]
pub struct Arguments {
    /// Folder of the run
    run: PathBuf,
    /// Quantities of the log to plot over time [default: the energies]
    quantities: Vec<String>,
    /// SVG file to write [default: plot.svg in the run's folder]
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
    let curves = curves(&String::from_utf8_lossy(&log));
    if curves.is_empty() {
        return Err(Failure::bad_input(format!("{} holds no steps yet", layout.log().display())));
    }
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
    storage::write_atomically(&out, |file| file.write_all(plot.to_svg().as_bytes()))
        .map_err(Failure::failed)?;
    if !arguments.quiet {
        terminal::say(&out.display().to_string());
    }
    Ok(())
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
