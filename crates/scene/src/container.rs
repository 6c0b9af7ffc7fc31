//! The envelope that frames and checkpoints share: magic, version, a JSON header under a checksum, then compressed blocks.
//!
//! All integers little-endian:
//!
//! | bytes | content |
//! |---|---|
//! | 8 | magic of the kind of file; ends in the line ends that a text-mode copy would damage |
//! | 4 | version of the layout |
//! | 4 | length `n` of the header |
//! | n | header, JSON in UTF-8 |
//! | 4 | CRC-32 of everything before it |
//! | rest | blocks, each a Zstandard frame whose length and CRC-32 stand in the header |

use serde::{Serialize, de::DeserializeOwned};
use std::io::Read;

/// A Zstandard block of 4 bytes can stand for at most 128 KiB, so no honest block expands more than this.
const GREATEST_EXPANSION: u64 = 1 << 15;
const FIXED_BYTES: usize = 16;
const CRC_BYTES: usize = 4;

/// What tells one kind of file from another.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Word for messages.
    pub name: &'static str,
    /// First bytes.
    pub magic: [u8; 8],
    /// Layout written by this program, and newest one that it reads.
    pub version: u32,
}

/// A file that is not what it should be, or not all of it.
#[derive(Debug, thiserror::Error)]
pub enum ContainerError {
    /// The magic bytes are missing.
    #[error("not a Splashdown {kind} (the first bytes are {found})")]
    Foreign {
        /// Kind of file that was expected.
        kind: &'static str,
        /// What the file starts with.
        found: String,
    },
    /// Written by a later version of the program.
    #[error("its layout {version} is newer than this program understands ({known}); update Splashdown")]
    Newer {
        /// Layout of the file.
        version: u32,
        /// Newest layout that this program reads.
        known: u32,
    },
    /// The file ends too early (or too late).
    #[error("the file has {found} bytes but {expected} are needed: it is cut off or something was appended")]
    Length {
        /// Bytes that the file asks for.
        expected: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// A checksum does not match.
    #[error("{what} is damaged: its checksum does not match")]
    Damaged {
        /// The header, or the name of a block.
        what: String,
    },
    /// Checksums match but the content makes no sense.
    #[error("{what} is not valid: {problem}")]
    Invalid {
        /// The header, or the name of a block.
        what: String,
        /// What is wrong.
        problem: String,
    },
}

impl ContainerError {
    pub(crate) fn invalid(what: impl Into<String>, problem: impl ToString) -> Self {
        Self::Invalid { what: what.into(), problem: problem.to_string() }
    }
}

/// Everything of a file but its blocks.
pub(crate) fn seal(kind: Kind, header: &impl Serialize) -> Result<Vec<u8>, ContainerError> {
    let header = serde_json::to_vec(header).map_err(|error| ContainerError::invalid("the header", error))?;
    let length = u32::try_from(header.len()).map_err(|error| ContainerError::invalid("the header", error))?;
    let mut file = Vec::with_capacity(FIXED_BYTES + header.len() + CRC_BYTES);
    file.extend_from_slice(&kind.magic);
    file.extend_from_slice(&kind.version.to_le_bytes());
    file.extend_from_slice(&length.to_le_bytes());
    file.extend_from_slice(&header);
    file.extend_from_slice(&crc32fast::hash(&file).to_le_bytes());
    Ok(file)
}

/// The header and the bytes of the blocks; `block_bytes` tells from the header how many there must be.
pub(crate) fn open<H: DeserializeOwned>(
    kind: Kind,
    file: &[u8],
    block_bytes: impl FnOnce(&H) -> u64,
) -> Result<(H, &[u8]), ContainerError> {
    let found = file.len() as u64;
    let magic = &file[..file.len().min(kind.magic.len())];
    if magic.is_empty() || magic != &kind.magic[..magic.len()] {
        let found = if magic.is_empty() { "none, it is empty".into() } else { format!("{magic:02x?}") };
        return Err(ContainerError::Foreign { kind: kind.name, found });
    }
    let Some(fixed) = file.get(..FIXED_BYTES) else {
        return Err(ContainerError::Length { expected: FIXED_BYTES as u64, found });
    };
    let word = |at: usize| u32::from_le_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
    let (version, length) = (word(8), word(12) as usize);
    if version > kind.version {
        return Err(ContainerError::Newer { version, known: kind.version });
    }
    let end = FIXED_BYTES + length;
    let blocks_at = end + CRC_BYTES;
    if file.len() < blocks_at {
        return Err(ContainerError::Length { expected: blocks_at as u64, found });
    }
    if crc32fast::hash(&file[..end]).to_le_bytes() != file[end..blocks_at] {
        return Err(ContainerError::Damaged { what: "the header".into() });
    }
    let header: H = serde_json::from_slice(&file[FIXED_BYTES..end])
        .map_err(|error| ContainerError::invalid("the header", error))?;
    let expected = (blocks_at as u64).saturating_add(block_bytes(&header));
    if expected != found {
        return Err(ContainerError::Length { expected, found });
    }
    Ok((header, &file[blocks_at..]))
}

/// Compresses `raw`.
pub(crate) fn pack(raw: &[u8], level: i32, what: &str) -> Result<Vec<u8>, ContainerError> {
    zstd::bulk::compress(raw, level).map_err(|error| ContainerError::invalid(what, error))
}

/// The `size` bytes that were packed into `block`; checks the checksum first and allocates only what such a block can hold.
pub(crate) fn unpack(block: &[u8], crc32: u32, size: u64, what: &str) -> Result<Vec<u8>, ContainerError> {
    if crc32fast::hash(block) != crc32 {
        return Err(ContainerError::Damaged { what: what.into() });
    }
    if size > (block.len() as u64).saturating_mul(GREATEST_EXPANSION) {
        return Err(ContainerError::invalid(what, format!("{size} bytes cannot come from {}", block.len())));
    }
    let mut raw = Vec::new();
    raw.try_reserve_exact(size as usize).map_err(|error| ContainerError::invalid(what, error))?;
    // One byte more than announced is enough to see that the block holds more.
    zstd::Decoder::with_buffer(block)
        .and_then(|decoder| decoder.take(size + 1).read_to_end(&mut raw))
        .map_err(|error| ContainerError::invalid(what, error))?;
    if raw.len() as u64 != size {
        return Err(ContainerError::invalid(
            what,
            format!("it does not hold the {size} bytes that are announced"),
        ));
    }
    Ok(raw)
}
