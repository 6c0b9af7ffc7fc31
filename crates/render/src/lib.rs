//! Pictures of frames without a window or a graphics card: a small software renderer with soft shadows, ambient occlusion and a ground grid.
//!
//! Every pixel is computed from sums, products, quotients and square roots in a fixed order, so a picture has the same bits on every machine
//! and for any number of threads. What does not live here: reading runs (`splashdown-scene`) and the viewer in the browser.

mod camera;
mod canvas;
mod colour;
mod film;
mod font;
mod image;
mod model;
mod raster;
mod shade;
mod vector;
mod volume;

pub use camera::{Camera, Framing};
pub use canvas::{Canvas, Ink, Label};
pub use colour::Colouring;
pub use film::{FilmError, MOST_A_SECOND, write_gif, write_mp4};
pub use image::{Image, ImageError};
pub use model::Bounds;

use model::Model;
use splashdown_scene::frame::Frame;

/// How a picture is made.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderOptions {
    /// Width (pixels).
    pub width: usize,
    /// Height (pixels).
    pub height: usize,
    /// What colours mean.
    pub colouring: Colouring,
    /// Where it is seen from; `None` fits everything.
    pub framing: Framing,
    /// Draw the ground and its grid (3D).
    pub ground: bool,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self {
            width: 1280,
            height: 720,
            colouring: Colouring::Body,
            framing: Framing::default(),
            ground: true,
        }
    }
}

/// Largest edge of a picture (pixels).
pub const MAX_EDGE: usize = 8192;

/// A picture that cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// No pixels, or too many.
    #[error("a picture of {width} x {height} pixels; each edge must have 16 to {MAX_EDGE}")]
    Size {
        /// Width asked for (pixels).
        width: usize,
        /// Height asked for (pixels).
        height: usize,
    },
}

/// What a frame occupies; the camera of a film must see all of its frames.
pub fn bounds(frame: &Frame) -> Bounds {
    Model::new(frame, &Colouring::Body).bounds()
}

/// The picture of a frame, seen so that `bounds` fill it.
///
/// # Errors
/// A size without pixels or with too many.
pub fn render(frame: &Frame, bounds: &Bounds, options: &RenderOptions) -> Result<Image, RenderError> {
    let edge = 16..=MAX_EDGE;
    if !edge.contains(&options.width) || !edge.contains(&options.height) {
        return Err(RenderError::Size { width: options.width, height: options.height });
    }
    let model = Model::new(frame, &options.colouring);
    let flat = frame.dimension == 2;
    let camera = Camera::fit(bounds, &options.framing, flat, options.width as f64 / options.height as f64);
    Ok(shade::picture(&model, bounds, &camera, options, flat))
}
