//! Fracture patterns as files: made once (imported from surfaces, or generated), used by any number of scenes and programs.
//!
//! The envelope is that of [`crate::container`] with the magic `89 53 50 50 0D 0A 1A 0A` (`.SPP` and line ends); the header tells the dimension and the number of
//! regions, and one block holds the pattern. Older layouts than the current one stay readable.

use crate::container::{self, ContainerError, Kind};
use crate::storage::{self, StorageError};
use serde::{Deserialize, Serialize};
use splashdown_math::{Dim, Space};
use splashdown_rigid::fracture::Pattern;
use std::path::Path;

/// Pattern files.
pub const KIND: Kind = Kind { name: "fracture pattern", magic: *b"\x89SPP\r\n\x1a\n", version: 1 };
/// File name extension of patterns.
pub const EXTENSION: &str = "spp";

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    dimension: usize,
    regions: usize,
    raw_bytes: u64,
    bytes: u64,
    crc32: u32,
}

/// A pattern file that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum PatternFileError {
    /// The file could not be read or written.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The file is not a pattern, or it is damaged.
    #[error(transparent)]
    Container(#[from] ContainerError),
    /// A pattern of the other dimension.
    #[error("it is a pattern of {found} dimensions; expected one of {expected}")]
    Dimension {
        /// Dimension of the file.
        found: usize,
        /// Dimension that was asked for.
        expected: usize,
    },
}

/// Packs a pattern at a Zstandard `level`. The same pattern gives the same bytes.
pub fn encode<const D: usize>(pattern: &Pattern<D>, level: i32) -> Result<Vec<u8>, PatternFileError>
where
    Dim<D>: Space<D>,
{
    let raw = postcard::to_stdvec(pattern).map_err(|error| ContainerError::invalid("the pattern", error))?;
    let block = container::pack(&raw, level, "the pattern")?;
    let header = Header {
        dimension: D,
        regions: pattern.region_count(),
        raw_bytes: raw.len() as u64,
        bytes: block.len() as u64,
        crc32: crc32fast::hash(&block),
    };
    let mut file = container::seal(KIND, &header)?;
    file.extend_from_slice(&block);
    Ok(file)
}

/// Unpacks and checks a pattern.
pub fn decode<const D: usize>(file: &[u8]) -> Result<Pattern<D>, PatternFileError>
where
    Dim<D>: Space<D>,
{
    let (header, block) = container::open(KIND, file, |header: &Header| header.bytes)?;
    if header.dimension != D {
        return Err(PatternFileError::Dimension { found: header.dimension, expected: D });
    }
    let raw = container::unpack(block, header.crc32, header.raw_bytes, "the pattern")?;
    let invalid = |problem: String| ContainerError::invalid("the pattern", problem);
    let pattern: Pattern<D> = postcard::from_bytes(&raw).map_err(|error| invalid(error.to_string()))?;
    if pattern.region_count() != header.regions {
        let (found, told) = (pattern.region_count(), header.regions);
        return Err(invalid(format!("it has {found} regions, its header says {told}")).into());
    }
    Ok(pattern)
}

/// Reads a pattern file.
pub fn read<const D: usize>(path: &Path) -> Result<Pattern<D>, PatternFileError>
where
    Dim<D>: Space<D>,
{
    decode(&storage::read(path)?)
}

/// Writes a pattern file.
pub fn write<const D: usize>(path: &Path, pattern: &Pattern<D>) -> Result<(), PatternFileError>
where
    Dim<D>: Space<D>,
{
    let file = encode(pattern, 9)?;
    Ok(storage::write_atomically(path, |out| out.write_all(&file))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_survive_and_damage_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.spp");
        for pattern in [
            Pattern::<3>::realistic(30, 7).unwrap(),
            Pattern::<3>::voronoi(10, 2).unwrap().sampled(12).unwrap(),
        ] {
            write(&path, &pattern).unwrap();
            assert_eq!(read::<3>(&path).unwrap(), pattern);
        }
        assert!(matches!(read::<2>(&path), Err(PatternFileError::Dimension { found: 3, expected: 2 })));
        let file = encode(&Pattern::<2>::radial(5, 1).unwrap(), 3).unwrap();
        for byte in 0..file.len() {
            let mut flipped = file.clone();
            flipped[byte] ^= 1 << (byte % 8);
            assert!(decode::<2>(&flipped).is_err(), "bit of byte {byte}");
            assert!(decode::<2>(&file[..byte]).is_err(), "cut at {byte}");
        }
    }

    #[test]
    fn a_pattern_that_contradicts_itself_is_refused() {
        // Right checksums around a body that lies: fewer seeds than regions, and a region that does not exist.
        let good = Pattern::<2>::voronoi(4, 1).unwrap();
        let mut value = serde_json::to_value(&good).unwrap();
        value["count"] = 5.into();
        assert!(serde_json::from_value::<Pattern<2>>(value.clone()).is_err());
        value["count"] = 4.into();
        assert_eq!(serde_json::from_value::<Pattern<2>>(value.clone()).unwrap(), good);
        value["impact"] = serde_json::json!([7.0, 0.0]);
        assert!(serde_json::from_value::<Pattern<2>>(value).is_err());
        let mut sampled = serde_json::to_value(good.sampled(4).unwrap()).unwrap();
        sampled["regions"]["sampled"]["region"][3] = 9.into();
        assert!(serde_json::from_value::<Pattern<2>>(sampled).is_err());
    }
}
