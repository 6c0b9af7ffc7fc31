//! A place in the bytes of a file, read as words, lines or binary numbers.

use super::error::{Location, SyntaxError};
use super::scalar::{ByteOrder, Scalar};

/// Reads forwards through a file that may mix text and binary.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Line of the next byte.
    line: usize,
    /// Line on which the last word or line began.
    shown: usize,
    /// Byte at which the last word or line began.
    start: usize,
    /// Set once binary data begin: lines mean nothing from then on, and errors name the byte.
    pub binary: bool,
    /// Byte order of binary numbers.
    pub order: ByteOrder,
}

type Parsed<T> = Result<T, SyntaxError>;

/// Shows at most the first 40 characters of what stands in a file.
pub fn quote(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(160)]);
    let short: String = text.chars().take(40).collect();
    if short.len() < bytes.len() { format!("{short:?}...") } else { format!("{short:?}") }
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, line: 1, shown: 1, start: 0, binary: false, order: ByteOrder::Little }
    }

    pub fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Where the last word or line that was read began.
    pub fn here(&self) -> Location {
        if self.binary { Location::Byte(self.start) } else { Location::Line(self.shown) }
    }

    pub fn byte(&self) -> Location {
        Location::Byte(self.at)
    }

    pub fn error<T>(&self, found: impl Into<String>, expected: impl Into<String>) -> Parsed<T> {
        Err(SyntaxError { at: self.here(), found: found.into(), expected: expected.into() })
    }

    /// Next word, skipping white space and line ends; `None` at the end of the file.
    #[inline]
    pub fn word(&mut self) -> Option<&'a [u8]> {
        while let Some(&c) = self.bytes.get(self.at) {
            if !c.is_ascii_whitespace() {
                break;
            }
            self.line += usize::from(c == b'\n');
            self.at += 1;
        }
        (self.shown, self.start) = (self.line, self.at);
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.at += length;
        (length > 0).then(|| &rest[..length])
    }

    /// The next word without moving.
    pub fn peek(&self) -> Option<&'a [u8]> {
        self.clone().word()
    }

    pub fn expect_word(&mut self, expected: &str) -> Parsed<&'a [u8]> {
        match self.word() {
            Some(word) => Ok(word),
            None => self.error("the end of the file", expected),
        }
    }

    /// Next word, which must be `keyword` up to case.
    pub fn keyword(&mut self, keyword: &str) -> Parsed<()> {
        let word = self.expect_word(keyword)?;
        if word.eq_ignore_ascii_case(keyword.as_bytes()) { Ok(()) } else { self.error(quote(word), keyword) }
    }

    /// Rest of the current line without its end.
    pub fn rest_of_line(&mut self) -> &'a [u8] {
        (self.shown, self.start) = (self.line, self.at);
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|c| *c == b'\n').unwrap_or(rest.len());
        self.at += length;
        rest[..length].trim_ascii()
    }

    /// Moves past the end of the current line, which must hold nothing more: binary data begin there.
    pub fn end_line(&mut self, expected: &str) -> Parsed<()> {
        let rest = self.rest_of_line();
        if !rest.is_empty() {
            return self.error(quote(rest), expected);
        }
        if self.at < self.bytes.len() {
            self.at += 1;
            self.line += 1;
        }
        Ok(())
    }

    /// Rest of the current line without its end, moving past it; `None` at the end of the file.
    #[inline]
    pub fn line(&mut self) -> Option<&'a [u8]> {
        if self.at >= self.bytes.len() {
            return None;
        }
        (self.shown, self.start) = (self.line, self.at);
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|c| *c == b'\n').unwrap_or(rest.len());
        if length < rest.len() {
            self.line += 1;
        }
        self.at += (length + 1).min(rest.len());
        Some(rest[..length].trim_ascii_end())
    }

    pub fn real(&mut self, expected: &str) -> Parsed<f64> {
        let word = self.expect_word(expected)?;
        match parse_real(word) {
            Some(value) => Ok(value),
            None => self.error(quote(word), format!("{expected}, a finite number")),
        }
    }

    pub fn integer(&mut self, expected: &str) -> Parsed<i64> {
        let word = self.expect_word(expected)?;
        match parse_integer(word) {
            Some(value) => Ok(value),
            None => self.error(quote(word), format!("{expected}, an integer")),
        }
    }

    /// A number of items that take at least `least_bytes` bytes each, which must be left in the file.
    pub fn count(&mut self, expected: &str, least_bytes: usize) -> Parsed<usize> {
        let value = self.integer(expected)?;
        self.check_count(value, expected, least_bytes, self.here())
    }

    pub fn check_count(&self, value: i64, expected: &str, least_bytes: usize, at: Location) -> Parsed<usize> {
        let most = self.remaining() / least_bytes.max(1);
        match usize::try_from(value) {
            Ok(count) if count <= most => Ok(count),
            Ok(count) => Err(SyntaxError {
                at,
                found: format!("{count}, but only {} bytes follow", self.remaining()),
                expected: format!("{expected}, at most {most}"),
            }),
            Err(_) => Err(SyntaxError {
                at,
                found: format!("{value}"),
                expected: format!("{expected}, not negative"),
            }),
        }
    }

    /// The next `length` bytes.
    #[inline]
    pub fn take(&mut self, length: usize, expected: &str) -> Parsed<&'a [u8]> {
        if length > self.remaining() {
            return Err(SyntaxError {
                at: self.byte(),
                found: format!("the end of the file after {} bytes", self.remaining()),
                expected: format!("{length} bytes of {expected}"),
            });
        }
        let bytes = &self.bytes[self.at..self.at + length];
        self.at += length;
        Ok(bytes)
    }

    /// One binary number as a float.
    #[inline]
    pub fn binary_real(&mut self, kind: Scalar, expected: &str) -> Parsed<f64> {
        let at = self.byte();
        let value = kind.real(self.take(kind.size(), expected)?, self.order);
        if value.is_finite() {
            return Ok(value);
        }
        Err(SyntaxError { at, found: format!("{value}"), expected: format!("{expected}, a finite number") })
    }

    /// One binary number as an integer.
    #[inline]
    pub fn binary_integer(&mut self, kind: Scalar, expected: &str) -> Parsed<i64> {
        let at = self.byte();
        match kind.integer(self.take(kind.size(), expected)?, self.order) {
            Some(value) => Ok(value),
            None => Err(SyntaxError {
                at,
                found: "a number that is not whole or too large".into(),
                expected: format!("{expected}, an integer"),
            }),
        }
    }

    /// Moves to just after the next line that begins with `mark`.
    pub fn skip_past(&mut self, mark: &[u8]) -> Parsed<()> {
        let start = self.at;
        let mut from = self.at;
        while let Some(offset) = self.bytes[from..].windows(mark.len()).position(|w| w == mark) {
            let found = from + offset;
            let end = found + mark.len();
            let starts_line = found == 0 || self.bytes[found - 1] == b'\n';
            let ends_word = self.bytes.get(end).is_none_or(u8::is_ascii_whitespace);
            if starts_line && ends_word {
                self.line += self.bytes[start..end].iter().filter(|c| **c == b'\n').count();
                self.at = end;
                return Ok(());
            }
            from = found + 1;
        }
        self.error("the end of the file", String::from_utf8_lossy(mark))
    }
}

#[inline]
pub fn parse_real(word: &[u8]) -> Option<f64> {
    let value: f64 = std::str::from_utf8(word).ok()?.parse().ok()?;
    value.is_finite().then_some(value)
}

#[inline]
pub fn parse_integer(word: &[u8]) -> Option<i64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// An index into `points` points, given relative to `first`.
#[inline]
pub fn point_index(value: i64, first: i64, points: usize, at: Location) -> Parsed<u32> {
    match value.checked_sub(first) {
        Some(index) if index >= 0 && (index as usize) < points && index < i64::from(u32::MAX) => {
            Ok(index as u32)
        }
        _ => Err(SyntaxError {
            at,
            found: format!("point {value}"),
            expected: match points {
                0 => "no reference to a point, as there are none yet".into(),
                n => format!("a point between {first} and {}", first + n as i64 - 1),
            },
        }),
    }
}
