//! Moving pictures as GIF, which every browser and chat shows.

use super::FilmError;
use crate::Image;
use std::io::Write;

/// Levels of red, green and blue of the fixed palette: the same colours in every frame, so nothing flickers.
const LEVELS: [usize; 3] = [6, 7, 6];

/// Writes pictures that follow each other by `seconds`, in an endless loop. The format counts hundredths of a second, and players take
/// at least two of them.
///
/// # Errors
/// Pictures of different sizes; what the writer says.
pub fn write_gif(
    out: impl Write,
    seconds: f64,
    mut images: impl Iterator<Item = Image>,
) -> Result<usize, FilmError> {
    let Some(first) = images.next() else { return Ok(0) };
    let edge = |pixels: usize| u16::try_from(pixels).map_err(|_| FilmError::Size);
    let (width, height) = (edge(first.width())?, edge(first.height())?);
    let mut palette = Vec::new();
    for r in 0..LEVELS[0] {
        for g in 0..LEVELS[1] {
            for b in 0..LEVELS[2] {
                let level = |value: usize, count: usize| (value * 255 / (count - 1)) as u8;
                palette.extend([level(r, LEVELS[0]), level(g, LEVELS[1]), level(b, LEVELS[2])]);
            }
        }
    }
    let mut encoder = gif::Encoder::new(out, width, height, &palette)?;
    encoder.set_repeat(gif::Repeat::Infinite)?;
    let delay = (seconds * 100.0).round().clamp(2.0, 1000.0) as u16;
    let mut count = 0;
    for image in std::iter::once(first).chain(images) {
        if (image.width(), image.height()) != (width.into(), height.into()) {
            return Err(FilmError::Size);
        }
        let buffer = dithered(&image);
        let frame = gif::Frame { width, height, delay, buffer: buffer.into(), ..gif::Frame::default() };
        encoder.write_frame(&frame)?;
        count += 1;
    }
    Ok(count)
}

/// Palette indices with ordered dithering: a fixed pattern, so still parts stay still.
fn dithered(image: &Image) -> Vec<u8> {
    const BAYER: [[i32; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];
    let index = |(at, pixel): (usize, &[u8; 3])| {
        let (x, y) = (at % image.width(), at / image.width());
        // From -15/32 to 15/32 of a level.
        let shift = 2 * BAYER[y % 4][x % 4] - 15;
        let level = |k: usize| {
            let steps = LEVELS[k] as i32 - 1;
            let value = i32::from(pixel[k]) * steps * 32 + shift * 255;
            ((value + 255 * 16) / (255 * 32)).clamp(0, steps) as usize
        };
        ((level(0) * LEVELS[1] + level(1)) * LEVELS[2] + level(2)) as u8
    };
    image.pixels().iter().enumerate().map(index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn films_have_their_frames_and_colours_near_the_originals() {
        let grey = |value: u8| Image::new(32, vec![[value; 3]; 32 * 16]);
        let mut bytes = Vec::new();
        assert_eq!(
            write_gif(&mut bytes, 1.0 / 30.0, [grey(0), grey(128), grey(255)].into_iter()).unwrap(),
            3
        );
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(&bytes[..]).unwrap();
        for expected in [0.0, 128.0, 255.0] {
            let frame = decoder.read_next_frame().unwrap().unwrap();
            assert_eq!((frame.width, frame.height, frame.delay), (32, 16, 3));
            let mean = frame.buffer.chunks(4).map(|p| f64::from(p[0])).sum::<f64>() / (32.0 * 16.0);
            assert!((mean - expected).abs() < 4.0, "{mean} for {expected}");
        }
        let other = Image::new(16, vec![[0; 3]; 16 * 16]);
        assert!(matches!(write_gif(Vec::new(), 0.1, [grey(0), other].into_iter()), Err(FilmError::Size)));
    }
}
