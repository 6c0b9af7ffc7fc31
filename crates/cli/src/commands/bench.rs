//! `splashdown bench`.

use crate::failure::Failure;
use crate::terminal::{self, columns};
use clap::Args;
use splashdown_bench::{BenchError, BenchOptions, all, run};
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "\
Examples:
  splashdown bench --list
  splashdown bench                         everything, with its marks
  splashdown bench pressure --json pressure.json
  splashdown bench pressure --size 64 --size 128 --repeats 5
  splashdown bench --quick                 small sizes, in seconds")]
pub struct Arguments {
    /// Names of benchmarks [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// List the benchmarks instead of running them
    #[arg(long)]
    list: bool,
    /// Small sizes and one repetition
    #[arg(long)]
    quick: bool,
    /// Each timing is the best of this many [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    repeats: Option<u16>,
    /// Size of the problem instead of the benchmark's own; may be given several times
    #[arg(long = "size", value_name = "N")]
    sizes: Vec<usize>,
    /// Threads of the parallel measurements [default: all processors, at least 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=512))]
    threads: Option<u16>,
    /// Write the figures to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub fn execute(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.list {
        let bold = terminal::style().bold();
        let rows: Vec<Vec<String>> = all()
            .iter()
            .map(|bench| vec![bold.apply_to(bench.name).to_string(), bench.summary.into()])
            .collect();
        columns(&rows).iter().for_each(|line| terminal::say(line));
        return Ok(());
    }
    let mut options = if arguments.quick { BenchOptions::quick() } else { BenchOptions::default() };
    if let Some(repeats) = arguments.repeats {
        options.repeats = repeats.into();
    }
    if let Some(threads) = arguments.threads {
        options.threads = threads.into();
    }
    if !arguments.sizes.is_empty() {
        options.sizes = Some(arguments.sizes.clone());
    }
    let report = run(&arguments.names, &options).map_err(|error| match error {
        BenchError::Failed { .. } => Failure::failed(error),
        BenchError::Unknown { .. } | BenchError::Size { .. } => Failure::bad_input(error),
    })?;
    terminal::say(&report.to_string());
    if let Some(path) = &arguments.json {
        let text = report.to_json();
        splashdown_scene::storage::write_atomically(path, |out| out.write_all(text.as_bytes()))
            .map_err(Failure::bad_input)?;
    }
    if !arguments.quick && !report.all_reached() {
        return Err(Failure::failed("some marks were not reached"));
    }
    Ok(())
}
