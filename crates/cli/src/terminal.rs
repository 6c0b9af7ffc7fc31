//! Writing for people and for pipes.
//!
//! `println!` panics when the reader of a pipe has gone (`splashdown list | head -1`); these functions end the program quietly instead.
//! Colour is used on a terminal only, and not if `NO_COLOR` is set.

use console::Style;
use std::io::{ErrorKind, Write};

/// Writes a line to stdout.
pub fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    finish(out.write_all(line.as_bytes()).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush()));
}

/// Writes bytes to stdout as they are.
pub fn emit(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    finish(out.write_all(bytes).and_then(|()| out.flush()));
}

/// Writes a line to stderr.
pub fn warn(line: &str) {
    // There is no one left to tell if this fails.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

fn finish(result: std::io::Result<()>) {
    match result {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        Err(error) => {
            warn(&format!("error: cannot write to the standard output: {error}"));
            std::process::exit(1);
        }
    }
}

/// A style for stdout, plain if that is not a terminal.
pub fn style() -> Style {
    Style::new().for_stdout().force_styling(stdout_has_colour())
}

/// A style for stderr, plain if that is not a terminal.
pub fn err_style() -> Style {
    Style::new().for_stderr().force_styling(stderr_has_colour())
}

/// May stdout be coloured?
pub fn stdout_has_colour() -> bool {
    !no_colour() && console::Term::stdout().features().is_attended()
}

/// May stderr be coloured?
pub fn stderr_has_colour() -> bool {
    !no_colour() && console::Term::stderr().features().is_attended()
}

/// <https://no-color.org>: set and not empty.
fn no_colour() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// A path or argument as one word of a shell command.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Bytes for people: `1.2 MB`.
pub fn bytes(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "kB", "MB", "GB"] {
        if value < 1000.0 {
            return if unit == "B" { format!("{value} B") } else { format!("{value:.1} {unit}") };
        }
        value /= 1000.0;
    }
    format!("{value:.1} TB")
}

/// Rows in columns as wide as their content, each row on one line.
pub fn columns(rows: &[Vec<String>]) -> Vec<String> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| console::measure_text_width(cell))
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    rows.iter()
        .map(|row| {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                line.push_str(cell);
                if column + 1 < row.len() {
                    let gap = widths[column] - console::measure_text_width(cell) + 2;
                    line.extend(std::iter::repeat_n(' ', gap));
                }
            }
            line
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(shell_word("runs/quick-start_2"), "runs/quick-start_2");
        assert_eq!(shell_word("my run"), "'my run'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word(""), "''");
    }

    #[test]
    fn columns_line_up() {
        let rows = [vec!["a".into(), "long".into(), "x".into()], vec!["abc".into(), "l".into(), "y".into()]];
        assert_eq!(columns(&rows), ["a    long  x", "abc  l     y"]);
    }
}
