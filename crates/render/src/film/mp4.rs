//! Moving pictures as MP4 files (ISO/IEC 14496-12, -14 and -15) with pictures in H.264.

use super::h264::{Encoded, Encoder};
use super::{FilmError, MOST_A_SECOND};
use crate::Image;
use std::io::Write;

/// Parts of a second in which times are told; the usual rates are whole numbers of them.
const TIMESCALE: u32 = 90_000;

/// Seconds from one picture at which players can begin to the next.
const SECONDS_A_GROUP: f64 = 2.0;

/// Levels of table A-1: ten times the level, squares of 16 x 16 a second, and in a picture.
const LEVELS: [(u8, f64, usize); 10] = [
    (30, 40_500.0, 1_620),
    (31, 108_000.0, 3_600),
    (32, 216_000.0, 5_120),
    (40, 245_760.0, 8_192),
    (42, 522_240.0, 8_704),
    (50, 589_824.0, 22_080),
    (51, 983_040.0, 36_864),
    (52, 2_073_600.0, 36_864),
    (60, 4_177_920.0, 139_264),
    (62, 16_711_680.0, 139_264),
];

/// Writes pictures that follow each other by `seconds`; returns how many.
///
/// # Errors
/// Pictures of different sizes, or larger than the format allows; what the writer says.
pub fn write_mp4(
    mut out: impl Write,
    seconds: f64,
    mut images: impl Iterator<Item = Image>,
) -> Result<usize, FilmError> {
    let Some(first) = images.next() else { return Ok(0) };
    let size = (first.width(), first.height());
    let seconds = seconds.clamp(1.0 / MOST_A_SECOND, 10.0);
    let mut encoder = Encoder::new(size.0, size.1, (SECONDS_A_GROUP / seconds).round() as u32);
    let rate = encoder.squares() as f64 / seconds;
    if encoder.squares() > LEVELS[LEVELS.len() - 1].2 {
        return Err(FilmError::Size);
    }
    let fits = |level: &&(u8, f64, usize)| rate <= 1.001 * level.1 && encoder.squares() <= level.2;
    let level = LEVELS.iter().find(fits).map_or(62, |level| level.0);
    let mut pictures = Vec::new();
    for image in std::iter::once(first).chain(images) {
        if (image.width(), image.height()) != size {
            return Err(FilmError::Size);
        }
        pictures.push(encoder.picture(&image));
    }
    let duration = (seconds * f64::from(TIMESCALE)).round() as u32;
    let film = Film { encoder: &encoder, pictures: &pictures, duration, level };
    let written = film.write(&mut out);
    written.map_err(FilmError::Writing)?;
    Ok(pictures.len())
}

struct Film<'a> {
    encoder: &'a Encoder,
    pictures: &'a [Encoded],
    /// Of one picture, in parts of the time scale.
    duration: u32,
    level: u8,
}

/// A box: its length, its name and what is in it.
fn boxed(name: &[u8; 4], parts: &[&[u8]]) -> Vec<u8> {
    let body = parts.concat();
    let mut bytes = Vec::with_capacity(8 + body.len());
    bytes.extend((8 + body.len() as u32).to_be_bytes());
    bytes.extend(name);
    bytes.extend(body);
    bytes
}

/// Numbers of 32 bits.
fn words<const N: usize>(values: [u32; N]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_be_bytes()).collect()
}

/// No rotation, no scaling (clause 8.2.2).
const UPRIGHT: [u32; 9] = [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000];

impl Film<'_> {
    /// The index stands before the pictures, so that a browser can begin before it has all of them.
    fn write(&self, out: &mut impl Write) -> std::io::Result<()> {
        let kind = boxed(b"ftyp", &[b"isom", &words([0x200]), b"isomiso2avc1mp41"]);
        let length: u64 = self.pictures.iter().map(|picture| 4 + picture.unit.len() as u64).sum();
        // The index is as long wherever it says the pictures are.
        let start = kind.len() + self.index(0).len() + 16;
        out.write_all(&kind)?;
        out.write_all(&self.index(start as u64))?;
        out.write_all(&words([1]))?;
        out.write_all(b"mdat")?;
        out.write_all(&(16 + length).to_be_bytes())?;
        for picture in self.pictures {
            out.write_all(&(picture.unit.len() as u32).to_be_bytes())?;
            out.write_all(&picture.unit)?;
        }
        out.flush()
    }

    fn index(&self, start: u64) -> Vec<u8> {
        let count = self.pictures.len() as u32;
        let all = count.saturating_mul(self.duration);
        // No time of creation: the same film is the same file.
        let movie = boxed(
            b"mvhd",
            &[
                &words([0, 0, 0, TIMESCALE, all, 0x1_0000]),
                &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
                &words(UPRIGHT),
                &words([0; 6]),
                &words([2]),
            ],
        );
        let (width, height) = self.encoder.shown_size();
        let track = boxed(
            b"tkhd",
            &[
                &words([3, 0, 0, 1, 0, all, 0, 0, 0, 0]),
                &words(UPRIGHT),
                &words([(width as u32) << 16, (height as u32) << 16]),
            ],
        );
        // The language is undetermined: "und" in five bits a letter.
        let media = boxed(b"mdhd", &[&words([0, 0, 0, TIMESCALE, all, 0x55c4_0000])]);
        let handler = boxed(b"hdlr", &[&words([0, 0]), b"vide", &words([0; 3]), b"pictures\0"]);
        let place = boxed(b"dref", &[&words([0, 1]), &boxed(b"url ", &[&words([1])])]);
        let table = boxed(b"stbl", &[&self.description(), &self.times(), &self.places(start)]);
        let information =
            boxed(b"minf", &[&boxed(b"vmhd", &[&words([1, 0, 0])]), &boxed(b"dinf", &[&place]), &table]);
        let media = boxed(b"mdia", &[&media, &handler, &information]);
        boxed(b"moov", &[&movie, &boxed(b"trak", &[&track, &media])])
    }

    /// How to read the pictures.
    fn description(&self) -> Vec<u8> {
        let (sequence, picture) =
            (self.encoder.sequence_parameters(self.level), self.encoder.picture_parameters());
        let with_length = |unit: &[u8]| [&(unit.len() as u16).to_be_bytes(), unit].concat();
        let decoder = boxed(
            b"avcC",
            // The version; profile and level again; lengths of units have four bytes; one of each unit.
            &[&[1], &sequence[1..4], &[0xff, 0xe1], &with_length(&sequence), &[1], &with_length(&picture)],
        );
        let colour = boxed(b"colr", &[b"nclx", &[0, 1, 0, 1, 0, 1, 0]]);
        let (width, height) = self.encoder.shown_size();
        let mut entry = words([0, 1, 0, 0, 0, 0]);
        entry.extend((width as u16).to_be_bytes());
        entry.extend((height as u16).to_be_bytes());
        // 72 points an inch, one picture a sample, no name, 24 bits a pixel.
        entry.extend(words([0x48_0000, 0x48_0000, 0]));
        entry.extend([0, 1]);
        entry.extend([0; 32]);
        entry.extend([0, 24, 0xff, 0xff]);
        boxed(b"stsd", &[&words([0, 1]), &boxed(b"avc1", &[&entry, &decoder, &colour])])
    }

    fn times(&self) -> Vec<u8> {
        let times = boxed(b"stts", &[&words([0, 1, self.pictures.len() as u32, self.duration])]);
        let keys: Vec<u32> =
            (1..).zip(self.pictures).filter(|(_, picture)| picture.key).map(|(number, _)| number).collect();
        let numbers: Vec<u8> = keys.iter().flat_map(|number| number.to_be_bytes()).collect();
        [times, boxed(b"stss", &[&words([0, keys.len() as u32]), &numbers])].concat()
    }

    /// All pictures are one chunk.
    fn places(&self, start: u64) -> Vec<u8> {
        let count = self.pictures.len() as u32;
        let sizes: Vec<u8> =
            self.pictures.iter().flat_map(|picture| (4 + picture.unit.len() as u32).to_be_bytes()).collect();
        [
            boxed(b"stsc", &[&words([0, 1, 1, count, 1])]),
            boxed(b"stsz", &[&words([0, 0, count]), &sizes]),
            boxed(b"co64", &[&words([0, 1]), &start.to_be_bytes()]),
        ]
        .concat()
    }
}
