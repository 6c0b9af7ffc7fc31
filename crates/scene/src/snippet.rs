//! A problem drawn below the source line it is about. Written here: the usual crate brings Unicode segmentation tables that take longer to build than the scene reader.

use crate::problem::Problem;
use crate::source::{Origin, Sources};
use std::fmt::Write;

/// Longest source line that is shown (characters).
const MAX_SHOWN_LINE: usize = 160;
/// Context lines before and after.
const CONTEXT: usize = 1;

/// Terminal colours, or nothing.
pub(crate) struct Palette {
    error: &'static str,
    frame: &'static str,
    also: &'static str,
    reset: &'static str,
}

impl Palette {
    pub(crate) fn new(colour: bool) -> Self {
        if colour {
            Self { error: "\x1b[1;31m", frame: "\x1b[1;34m", also: "\x1b[1;33m", reset: "\x1b[0m" }
        } else {
            Self { error: "", frame: "", also: "", reset: "" }
        }
    }
}

/// Lines `first..=last` (from 1) that a range covers, with their byte ranges.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1))
            .collect();
        Self { text, starts }
    }

    /// Index of the line that holds a byte.
    fn at(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset.min(self.text.len())).saturating_sub(1)
    }

    fn line(&self, index: usize) -> &'a str {
        let start = self.starts[index];
        let end = self.starts.get(index + 1).map_or(self.text.len(), |next| next - 1);
        self.text.get(start..end).unwrap_or("").trim_end_matches('\r')
    }

    /// Characters of the line before a byte of it.
    fn column(&self, index: usize, offset: usize) -> usize {
        let line = self.line(index);
        let within = offset.saturating_sub(self.starts[index]).min(line.len());
        line.char_indices().take_while(|(at, _)| *at < within).count()
    }
}

/// A line as it can be printed: control characters replaced, so that one character is one column.
fn printable(line: &str) -> String {
    line.chars()
        .map(|c| {
            if c == '\t' {
                ' '
            } else if c.is_control() {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}

/// Message, place, source line with a marker, and help.
pub(crate) fn draw(problem: &Problem, sources: &Sources, palette: &Palette) -> String {
    let Palette { error, frame, also: other, reset } = palette;
    let mut text = format!("{error}error{reset}: {}\n", problem.message);
    if let Some(place) = &problem.place {
        let _ = writeln!(text, "  {frame}-->{reset} {}:{}:{}", place.file, place.line, place.column);
    }
    if let Some(origin) = problem.origin
        && let Some(source) = sources.get(origin.source)
    {
        let label = match (&problem.found, problem.field.as_str()) {
            (Some(found), "") => format!("found {found}"),
            (Some(found), field) => format!("{field}: found {found}"),
            (None, field) => field.to_owned(),
        };
        let lines = Lines::new(&source.text);
        let mut marks = vec![(origin, '^', label, *error)];
        if let Some((also, label)) = &problem.also
            && also.source == origin.source
        {
            marks.push((*also, '-', label.clone(), *other));
        }
        marks.sort_by_key(|(origin, ..)| origin.start);
        draw_lines(&mut text, &lines, &marks, frame, reset);
    }
    for help in [problem.allowed.as_ref().map(|allowed| format!("allowed: {allowed}")), problem.hint.clone()]
        .into_iter()
        .flatten()
    {
        for (i, line) in help.lines().enumerate() {
            let _ = writeln!(text, "  {frame}{}{reset} {line}", if i == 0 { "=" } else { " " });
        }
    }
    text.push('\n');
    text
}

fn draw_lines(
    text: &mut String,
    lines: &Lines,
    marks: &[(Origin, char, String, &str)],
    frame: &str,
    reset: &str,
) {
    let marked: Vec<usize> = marks.iter().map(|(origin, ..)| lines.at(origin.start)).collect();
    let mut shown: Vec<usize> = marked
        .iter()
        .flat_map(|&line| line.saturating_sub(CONTEXT)..=(line + CONTEXT).min(lines.starts.len() - 1))
        .collect();
    shown.sort_unstable();
    shown.dedup();
    let width = shown.last().map_or(1, |last| (last + 1).to_string().len());
    let mut previous = None;
    for index in shown {
        if previous.is_some_and(|before| before + 1 < index) {
            let _ = writeln!(text, "{frame}{:>width$} ...{reset}", "");
        }
        previous = Some(index);
        let line = lines.line(index);
        let is_marked = marked.contains(&index);
        if !is_marked && line.trim().is_empty() {
            continue;
        }
        if line.chars().count() > MAX_SHOWN_LINE {
            if is_marked {
                let _ =
                    writeln!(text, "{frame}{:>width$} |{reset} (a line of {} bytes)", index + 1, line.len());
            }
            continue;
        }
        let _ = writeln!(text, "{frame}{:>width$} |{reset} {}", index + 1, printable(line));
        for (origin, mark, label, colour) in marks.iter().filter(|(o, ..)| lines.at(o.start) == index) {
            let from = lines.column(index, origin.start);
            let to = if lines.at(origin.end) == index {
                lines.column(index, origin.end)
            } else {
                line.chars().count()
            };
            let marker = mark.to_string().repeat(to.saturating_sub(from).max(1));
            let _ = writeln!(
                text,
                "{:>width$} {frame}|{reset} {}{colour}{marker} {label}{reset}",
                "",
                " ".repeat(from)
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::ProblemKind;
    use crate::source::SourceText;

    fn drawn(source: &str, start: usize, end: usize) -> String {
        let mut sources = Sources::default();
        let index = sources.add(SourceText { name: "a.toml".into(), text: source.into(), folder: None });
        let origin = Origin { source: index, start, end };
        let mut problem = Problem::new(ProblemKind::WrongType, "radius is text")
            .at(Some(origin))
            .field("rigid.0.radius")
            .found("\"x\"")
            .allowed("a number");
        problem.place = Some(sources.place(origin));
        draw(&problem, &sources, &Palette::new(false))
    }

    #[test]
    fn the_marker_stands_below_the_value() {
        let source = "[[rigid]]\nname = \"ä\"; radius = \"x\"\n\n";
        let at = source.find("\"x\"").unwrap();
        let text = drawn(source, at, at + 3);
        let expected = "error: radius is text\n  --> a.toml:2:22\n1 | [[rigid]]\n2 | name = \"ä\"; radius = \"x\"\n  |                      ^^^ rigid.0.radius: found \"x\"\n  = allowed: a number\n\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn odd_ranges_do_not_panic() {
        for (source, start, end) in [
            ("", 0, 0),
            ("", 5, 9),
            ("ä\n", 1, 2),
            ("a\r\nb\0\tc", 3, 7),
            ("a\nb", 0, 3),
            ("x", 1, 0),
            ("\n\n\n", 2, 3),
        ] {
            assert!(drawn(source, start, end).contains("radius is text"));
        }
        assert!(drawn(&"y".repeat(500), 3, 4).contains("a line of 500 bytes"));
    }
}
