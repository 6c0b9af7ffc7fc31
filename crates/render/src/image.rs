//! Pixels, and PNG files of them.

use std::io::Write;

/// A picture: rows from the top, three bytes a pixel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 3]>,
}

/// A picture that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the picture: {0}")]
pub struct ImageError(#[from] png::EncodingError);

impl Image {
    pub(crate) fn new(width: usize, pixels: Vec<[u8; 3]>) -> Self {
        Self { width, height: pixels.len() / width.max(1), pixels }
    }

    /// Width (pixels).
    pub fn width(&self) -> usize {
        self.width
    }

    /// Height (pixels).
    pub fn height(&self) -> usize {
        self.height
    }

    /// Pixels, row by row from the top.
    pub fn pixels(&self) -> &[[u8; 3]] {
        &self.pixels
    }

    /// Writes a PNG file.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write_png(&self, out: impl Write) -> Result<(), ImageError> {
        let mut encoder = png::Encoder::new(out, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        writer.finish()?;
        Ok(())
    }
}
