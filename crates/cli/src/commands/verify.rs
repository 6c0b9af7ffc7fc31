//! `splashdown verify`.

use crate::failure::Failure;
use crate::terminal::{self, columns};
use clap::Args;
use splashdown_cases as cases;
use splashdown_verify::{Case, Criterion, Outcome, Speed, records, run, select, write_report};
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "\
Examples:
  splashdown verify --list
  splashdown verify                        every fast case
  splashdown verify 'foundation/*' --report report/
  splashdown verify foundation/resume-bit-identity --json results.json
  splashdown verify --all                  the slow ones too")]
pub struct Arguments {
    /// Names or globs of cases [default: all fast ones]
    #[arg(value_name = "CASE")]
    cases: Vec<String>,
    /// List the cases instead of running them
    #[arg(long)]
    list: bool,
    /// Run slow cases too
    #[arg(long)]
    all: bool,
    /// Write every measured quantity to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write pages with plots into this folder
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Threads to use [default: all processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512))]
    threads: Option<u16>,
    /// Print failures and the summary only
    #[arg(long, short)]
    quiet: bool,
}

pub fn execute(arguments: &Arguments) -> Result<(), Failure> {
    super::run::use_threads(arguments.threads)?;
    let all = cases::all();
    if arguments.list {
        let listed = if arguments.cases.is_empty() {
            all
        } else {
            select(&all, &arguments.cases, true).map_err(Failure::bad_input)?
        };
        list(&listed);
        return Ok(());
    }
    let chosen = select(&all, &arguments.cases, arguments.all).map_err(Failure::bad_input)?;
    let mut outcomes = Vec::new();
    for case in &chosen {
        let outcome = run(case);
        if !arguments.quiet || !outcome.passed() {
            show(&outcome);
        }
        outcomes.push(outcome);
    }
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&records(&outcomes)).map_err(Failure::failed)?;
        splashdown_scene::storage::write_atomically(path, |out| out.write_all(text.as_bytes()))
            .map_err(Failure::bad_input)?;
    }
    if let Some(folder) = &arguments.report {
        write_report(folder, &outcomes)
            .map_err(|error| Failure::bad_input(format!("cannot write to {}: {error}", folder.display())))?;
        terminal::say(&format!("report in {}", folder.display()));
    }
    let failed = outcomes.iter().filter(|outcome| !outcome.passed()).count();
    let seconds: f64 = outcomes.iter().map(|outcome| outcome.seconds).sum();
    if failed > 0 {
        return Err(Failure::failed(format!("{failed} of {} cases failed ({seconds:.1} s)", outcomes.len())));
    }
    terminal::say(&format!("{} cases passed ({seconds:.1} s)", outcomes.len()));
    Ok(())
}

fn list(cases: &[Case]) {
    let bold = terminal::style().bold();
    let rows: Vec<Vec<String>> = cases
        .iter()
        .map(|case| {
            let speed = if case.speed == Speed::Slow { "slow" } else { "fast" };
            vec![
                bold.apply_to(case.name).to_string(),
                case.spec.into(),
                speed.into(),
                format!("{} s", case.seconds),
                case.summary.into(),
                format!("[{}]", case.source),
            ]
        })
        .collect();
    for line in columns(&rows) {
        terminal::say(&line);
    }
}

fn show(outcome: &Outcome) {
    let style = terminal::style();
    let verdict = |pass: bool| {
        if pass {
            style.clone().green().apply_to("pass")
        } else {
            style.clone().red().bold().apply_to("FAIL")
        }
        .to_string()
    };
    terminal::say(&format!(
        "{} {} ({:.1} s)",
        verdict(outcome.passed()),
        style.clone().bold().apply_to(outcome.case.name),
        outcome.seconds
    ));
    let rows: Vec<Vec<String>> = outcome
        .measurements
        .rows
        .iter()
        .map(|row| {
            let wanted = match row.criterion {
                Criterion::Near => format!("= {} +- {}", number(row.reference), number(row.tolerance)),
                Criterion::AtMost => format!("<= {}", number(row.reference + row.tolerance)),
                Criterion::AtLeast => format!(">= {}", number(row.reference - row.tolerance)),
            };
            vec![
                format!("  {}", verdict(row.pass)),
                row.quantity.clone(),
                row.resolution.clone(),
                number(row.measured),
                wanted,
                format!("[{}]", row.source),
            ]
        })
        .collect();
    for line in columns(&rows) {
        terminal::say(&line);
    }
    if let Some(error) = &outcome.error {
        terminal::say(&format!("  {} {error}", verdict(false)));
    }
}

/// Six significant digits, plain where that is short.
fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-3..1e6).contains(&size) {
        let text = format!("{value:.6}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    } else {
        format!("{value:.4e}")
    }
}
