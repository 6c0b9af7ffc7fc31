//! `verify --report DIR`: static pages, one a case, with the table and the plots, ours against the reference.

use crate::plot::{escape, svg};
use crate::{Criterion, Outcome};
use std::fmt::Write;
use std::path::Path;

const STYLE: &str = "
:root { color-scheme: light dark; --line: #8884; --good: #1a7f4b; --bad: #c0392b; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 980px; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td.n { font-variant-numeric: tabular-nums; white-space: nowrap; }
.pass { color: var(--good); font-weight: 600; } .fail { color: var(--bad); font-weight: 600; }
svg { width: 100%; max-width: 640px; font: 12px system-ui, sans-serif; fill: currentColor; margin: 1rem 0; display: block; }
svg .grid { stroke: var(--line); fill: none; } svg .frame { stroke: currentColor; fill: none; }
";

/// Writes `index.html` and one page a case into `folder`, which is made if it is not there.
pub fn write_report(folder: &Path, outcomes: &[Outcome]) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for outcome in outcomes {
        std::fs::write(folder.join(page_name(outcome)), case_page(outcome))?;
    }
    std::fs::write(folder.join("index.html"), index_page(outcomes))
}

fn page_name(outcome: &Outcome) -> String {
    format!("{}.html", outcome.case.name.replace('/', "-"))
}

fn verdict(pass: bool) -> &'static str {
    if pass { "<span class=\"pass\">pass</span>" } else { "<span class=\"fail\">FAIL</span>" }
}

fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title}</title><style>{STYLE}</style></head><body>\n{body}</body></html>\n",
        title = escape(title)
    )
}

fn index_page(outcomes: &[Outcome]) -> String {
    let passed = outcomes.iter().filter(|outcome| outcome.passed()).count();
    let mut body = format!(
        "<h1>Verification</h1>\n<p>{passed} of {} cases pass.</p>\n<table><tr><th>case</th><th>row</th><th>what it shows</th><th>source</th><th>time</th><th></th></tr>\n",
        outcomes.len()
    );
    for outcome in outcomes {
        let case = &outcome.case;
        let _ = writeln!(
            body,
            "<tr><td><a href=\"{}\">{}</a></td><td>{}</td><td>{}</td><td>{}</td><td class=\"n\">{:.2} s</td><td>{}</td></tr>",
            page_name(outcome),
            escape(case.name),
            escape(case.spec),
            escape(case.summary),
            escape(case.source),
            outcome.seconds,
            verdict(outcome.passed())
        );
    }
    body.push_str("</table>\n");
    page("Splashdown verification", &body)
}

fn case_page(outcome: &Outcome) -> String {
    let case = &outcome.case;
    let mut body = format!(
        "<p><a href=\"index.html\">all cases</a></p>\n<h1>{} {}</h1>\n<p>{}</p>\n<p>Row {} of the specification. Reference: {}. Took {:.2} s.</p>\n",
        escape(case.name),
        verdict(outcome.passed()),
        escape(case.summary),
        escape(case.spec),
        escape(case.source),
        outcome.seconds
    );
    if let Some(error) = &outcome.error {
        let _ = writeln!(body, "<p class=\"fail\">{}</p>", escape(error));
    }
    body.push_str("<table><tr><th>quantity</th><th>resolution</th><th>measured</th><th>wanted</th><th>source</th><th></th></tr>\n");
    for row in &outcome.measurements.rows {
        let wanted = match row.criterion {
            Criterion::Near => format!("{:.6e} \u{b1} {:.1e}", row.reference, row.tolerance),
            Criterion::AtMost => format!("\u{2264} {:.6e}", row.reference + row.tolerance),
            Criterion::AtLeast => format!("\u{2265} {:.6e}", row.reference - row.tolerance),
        };
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td>{}</td><td class=\"n\">{:.6e}</td><td class=\"n\">{wanted}</td><td>{}</td><td>{}</td></tr>",
            escape(&row.quantity),
            escape(&row.resolution),
            row.measured,
            escape(&row.source),
            verdict(row.pass)
        );
    }
    body.push_str("</table>\n");
    for plot in &outcome.measurements.plots {
        body.push_str(&svg(plot));
    }
    page(case.name, &body)
}
