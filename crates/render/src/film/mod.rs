//! Moving pictures: MP4 for players and browsers, GIF for what shows nothing else.

mod gif;
mod h264;
mod mp4;

pub use gif::write_gif;
pub use mp4::write_mp4;

/// Most pictures a second that a film shows; screens show no more.
pub const MOST_A_SECOND: f64 = 120.0;

/// A film that cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum FilmError {
    /// What the writer of GIF files says.
    #[error("cannot write the film: {0}")]
    Encoding(#[from] ::gif::EncodingError),
    /// What the system says.
    #[error("cannot write the film: {0}")]
    Writing(std::io::Error),
    /// Pictures of different sizes, or too large for the format.
    #[error(
        "a film needs pictures of one size; GIF allows 65535 pixels an edge, MP4 139264 squares of 16 x 16 pixels"
    )]
    Size,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Image;

    fn hash(x: usize) -> u8 {
        ((x as u32).wrapping_mul(2_654_435_761) >> 24) as u8
    }

    /// A slope with a disc that moves over it and out of it, and a strip of noise, which no prediction foresees.
    fn moving(width: usize, height: usize, frame: usize) -> Image {
        let pixel = |at: usize| {
            let (x, y) = (at % width, at / width);
            let (dx, dy) = (x as f64 - 3.0 * frame as f64, y as f64 - 20.0 - 0.7 * frame as f64);
            if dx * dx + dy * dy < 200.0 {
                return [230, 90 + (x % 16) as u8, 40];
            }
            if y < 8 {
                return [hash(at + 977 * frame), hash(at ^ 55), hash(3 * at)];
            }
            [(x * 255 / width) as u8, (y * 255 / height) as u8, 120]
        };
        Image::new(width, (0..width * height).map(pixel).collect())
    }

    /// Films for another program to read: `SPLASHDOWN_FILM_DIR` says where; `checks/film_readback.py` compares them with the pictures.
    fn save(name: &str, film: &[u8], images: &[Image]) {
        let Some(folder) = std::env::var_os("SPLASHDOWN_FILM_DIR") else { return };
        let folder = std::path::Path::new(&folder);
        std::fs::write(folder.join(format!("{name}.mp4")), film).unwrap();
        for (index, image) in images.iter().enumerate() {
            let file = std::fs::File::create(folder.join(format!("{name}-{index:04}.png"))).unwrap();
            image.write_png(file).unwrap();
        }
    }

    /// Names and bodies of the boxes of an MP4 file.
    fn boxes(mut bytes: &[u8]) -> Vec<(String, &[u8])> {
        let mut found = Vec::new();
        while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
            let name = String::from_utf8(rest[..4].to_vec()).unwrap();
            let (length, from) = match u32::from_be_bytes(*length) {
                1 => (u64::from_be_bytes(bytes[8..16].try_into().unwrap()) as usize, 16),
                length => (length as usize, 8),
            };
            found.push((name, &bytes[from..length]));
            bytes = &bytes[length..];
        }
        found
    }

    fn within<'a>(bytes: &'a [u8], path: &[&str]) -> &'a [u8] {
        path.iter()
            .fold(bytes, |bytes, name| boxes(bytes).into_iter().find(|found| found.0 == *name).unwrap().1)
    }

    fn words(bytes: &[u8]) -> Vec<u32> {
        bytes.as_chunks().0.iter().map(|word| u32::from_be_bytes(*word)).collect()
    }

    #[test]
    fn films_hold_their_pictures_and_say_where_they_are() {
        // Odd sizes, one square only, more pictures than numbers of pictures, keys in between.
        for (name, width, height, count) in
            [("odd", 203, 117, 70), ("small", 16, 16, 300), ("large", 320, 176, 24)]
        {
            let images: Vec<Image> = (0..count).map(|frame| moving(width, height, frame)).collect();
            let mut film = Vec::new();
            assert_eq!(write_mp4(&mut film, 1.0 / 30.0, images.iter().cloned()).unwrap(), count);
            let top: Vec<String> = boxes(&film).into_iter().map(|found| found.0).collect();
            assert_eq!(top, ["ftyp", "moov", "mdat"]);
            let media = within(&film, &["moov", "trak", "mdia"]);
            assert_eq!(words(within(media, &["mdhd"]))[3..5], [90_000, 3000 * count as u32]);
            let table = within(media, &["minf", "stbl"]);
            let sizes = words(within(table, &["stsz"]));
            assert_eq!(sizes[2] as usize, count);
            let keys = words(within(table, &["stss"]));
            assert_eq!(keys[1] as usize, count.div_ceil(60));
            // The pictures start where the index says, each with its length.
            let place = words(within(table, &["co64"]))[3] as usize;
            let mut at = place;
            for (index, size) in sizes[3..].iter().enumerate() {
                let unit = words(&film[at..at + 4])[0];
                assert_eq!(unit + 4, *size);
                let kind = film[at + 4] & 31;
                assert_eq!(kind, if index % 60 == 0 { 5 } else { 1 }, "picture {index}");
                at += *size as usize;
            }
            assert_eq!(at, film.len());
            save(name, &film, &images);
        }
    }

    #[test]
    fn what_stands_still_costs_next_to_nothing_and_what_moves_little() {
        let still = |_| moving(320, 176, 7);
        let size = |film: &dyn Fn(usize) -> Image, count: usize| {
            let mut bytes = Vec::new();
            write_mp4(&mut bytes, 1.0 / 30.0, (0..count).map(film)).unwrap();
            bytes.len()
        };
        let one = size(&still, 1);
        assert!(size(&still, 31) < one + 31 * 16, "30 repetitions add {}", size(&still, 31) - one);
        // A picture of noise that moves by whole pixels is found again.
        let panned = |frame: usize| {
            let at = |n: usize| hash((n % 160 + frame) + 1000 * (n / 160));
            Image::new(160, (0..160 * 96).map(|n| [at(n); 3]).collect())
        };
        let one = size(&panned, 1);
        let next = size(&panned, 2) - one;
        assert!(next < one / 4, "{next} after {one} bytes");
    }

    #[test]
    fn pictures_of_another_size_are_refused() {
        let images = [moving(32, 32, 0), moving(32, 48, 0)];
        assert!(matches!(write_mp4(Vec::new(), 0.1, images.into_iter()), Err(FilmError::Size)));
        assert_eq!(write_mp4(Vec::new(), 0.1, std::iter::empty()).unwrap(), 0);
    }
}
