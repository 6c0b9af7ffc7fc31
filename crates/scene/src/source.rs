//! The texts a scene is read from (files, shipped scenes, `--set` overrides) and places in them.

use serde::Serialize;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Largest scene file that is read (bytes). Scenes are written by people; bulk data belongs in mesh files.
pub const MAX_FILE_BYTES: u64 = 4 << 20;

/// One text with a name for messages.
#[derive(Debug, Clone)]
pub struct SourceText {
    /// File path, shipped scene's name, or `--set` for an override.
    pub name: String,
    /// The text, without a byte order mark.
    pub text: Arc<str>,
    /// Folder that relative paths in this text start from; `None` for text that is not a file.
    pub folder: Option<PathBuf>,
}

/// All texts of one scene, addressed by index.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    texts: Vec<SourceText>,
}

/// A range of bytes in one of the [`Sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// Index of the text.
    pub source: usize,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A place as a person reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// File, shipped scene or `--set`.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// Why a file could not be read as text.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("cannot read `{name}`: {error}")]
    Io { name: String, error: std::io::Error },
    #[error("`{0}` is a folder, not a scene file")]
    Folder(String),
    #[error("`{0}` is not a regular file")]
    NotAFile(String),
    #[error("`{name}` has {bytes} bytes; a scene file has at most {MAX_FILE_BYTES}")]
    TooLarge { name: String, bytes: u64 },
}

/// A file's text, and where its bytes stop being UTF-8 if they do.
pub(crate) struct ReadText {
    pub text: String,
    pub invalid_at: Option<usize>,
}

impl Sources {
    /// Adds a text and returns its index.
    pub fn add(&mut self, text: SourceText) -> usize {
        self.texts.push(text);
        self.texts.len() - 1
    }

    /// Adds the text of one `--set` override.
    pub fn add_override(&mut self, text: &str) -> usize {
        self.add(SourceText { name: "--set".into(), text: text.into(), folder: None })
    }

    /// The text at `index`.
    pub fn get(&self, index: usize) -> Option<&SourceText> {
        self.texts.get(index)
    }

    /// All texts, the main one first.
    pub fn texts(&self) -> &[SourceText] {
        &self.texts
    }

    /// Line and column where a range starts.
    pub fn place(&self, origin: Origin) -> Place {
        let Some(source) = self.get(origin.source) else {
            return Place { file: String::new(), line: 1, column: 1 };
        };
        let (line, column) = line_and_column(&source.text, origin.start);
        Place { file: source.name.clone(), line, column }
    }

    /// The text of a range; empty when the range is not one of the source.
    pub fn slice(&self, origin: Origin) -> &str {
        self.get(origin.source).and_then(|source| source.text.get(origin.start..origin.end)).unwrap_or("")
    }
}

/// Line and column (both from 1, the column in characters) of a byte offset.
fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let bytes = text.as_bytes();
    let offset = offset.min(bytes.len());
    let line_start = bytes[..offset].iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    let line = 1 + bytes[..line_start].iter().filter(|&&b| b == b'\n').count();
    // Characters start at bytes that are not of the form 10xxxxxx.
    let column = 1 + bytes[line_start..offset].iter().filter(|&&b| b & 0xc0 != 0x80).count();
    (line, column)
}

/// Reads a scene file: regular files up to [`MAX_FILE_BYTES`], byte order mark removed, bytes that are not UTF-8 located.
pub(crate) fn read(path: &Path) -> Result<ReadText, ReadError> {
    let name = path.display().to_string();
    let io = |error| ReadError::Io { name: name.clone(), error };
    // Looked at before opening: opening a named pipe would wait for a writer.
    let metadata = std::fs::metadata(path).map_err(io)?;
    if metadata.is_dir() {
        return Err(ReadError::Folder(name));
    }
    if !metadata.is_file() {
        return Err(ReadError::NotAFile(name));
    }
    if metadata.len() > MAX_FILE_BYTES {
        return Err(ReadError::TooLarge { name, bytes: metadata.len() });
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(io)?;
    // The file may grow while it is read, so the limit is enforced on the read too.
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(ReadError::TooLarge { name, bytes: bytes.len() as u64 });
    }
    Ok(decode(bytes))
}

/// Text from bytes: without a byte order mark; bytes that are not UTF-8 become replacement characters and the first is reported.
pub(crate) fn decode(bytes: Vec<u8>) -> ReadText {
    match String::from_utf8(bytes) {
        Ok(text) => ReadText { text: without_bom(text), invalid_at: None },
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            // Up to `valid` the lossy text has the same bytes.
            let mark = if text.starts_with('\u{feff}') { 3 } else { 0 };
            ReadText { text: without_bom(text), invalid_at: Some(valid.saturating_sub(mark)) }
        }
    }
}

/// The text without a leading byte order mark.
pub(crate) fn without_bom(text: String) -> String {
    match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_lines_end_with_either_newline() {
        let text = "a\r\nµµb\nc";
        assert_eq!(line_and_column(text, 0), (1, 1));
        let b = text.find('b').unwrap();
        assert_eq!(line_and_column(text, b), (2, 3));
        assert_eq!(line_and_column(text, text.len()), (3, 2));
        assert_eq!(line_and_column(text, 999), (3, 2));
    }

    #[test]
    fn invalid_utf8_is_located_behind_a_byte_order_mark() {
        let read = decode(b"\xef\xbb\xbfab\xffc".to_vec());
        assert_eq!(read.text, "ab\u{fffd}c");
        assert_eq!(read.invalid_at, Some(2));
    }
}
