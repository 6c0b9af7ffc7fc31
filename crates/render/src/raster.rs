//! Which surface is nearest at each sample of the picture.

use crate::camera::{Camera, Seen};
use crate::colour::Rgb;
use crate::model::{Stroke, Thickness, Triangle};
use crate::vector::V3;
use splashdown_parallel::prelude::*;

/// What a sample sees.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// As in [`Seen`]; 0 where there is nothing.
    pub nearness: f64,
    pub normal: [f32; 3],
    pub colour: Rgb,
}

pub(crate) const NOTHING: Sample = Sample { nearness: 0.0, normal: [0.0; 3], colour: [0.0; 3] };

/// Samples, row by row from the top.
pub(crate) struct Samples {
    pub width: usize,
    pub height: usize,
    pub data: Vec<Sample>,
}

/// Rows of samples that one task draws.
const BAND: usize = 16;

impl Samples {
    /// Draws all triangles and strokes. Each band goes through those that touch it in their order, so the result does not depend on threads.
    pub fn draw(
        camera: &Camera,
        triangles: &[Triangle],
        strokes: &[Stroke],
        width: usize,
        height: usize,
    ) -> Self {
        let (w, h) = (width as f64, height as f64);
        let seen: Vec<[Seen; 3]> = triangles
            .par_iter()
            .map(|triangle| triangle.corners.map(|corner| pixels(camera.see(corner), w, h)))
            .collect();
        let ends: Vec<([Seen; 2], f64)> = strokes
            .par_iter()
            .map(|stroke| {
                let radius = match stroke.radius {
                    Thickness::Picture(share) => share * h,
                    Thickness::World(length) => 0.5 * h * length / camera.half_height_at(stroke.ends[0]),
                };
                (stroke.ends.map(|end| pixels(camera.see(end), w, h)), radius.max(0.7))
            })
            .collect();
        let bands = height.div_ceil(BAND);
        let mut triangles_of = vec![Vec::new(); bands];
        for (index, corners) in seen.iter().enumerate() {
            if corners.iter().all(|corner| corner.nearness > 0.0) {
                let low = corners.iter().map(|corner| corner.y).fold(f64::INFINITY, f64::min);
                let high = corners.iter().map(|corner| corner.y).fold(f64::NEG_INFINITY, f64::max);
                touch(&mut triangles_of, low, high, height, index as u32);
            }
        }
        let mut strokes_of = vec![Vec::new(); bands];
        for (index, (ends, radius)) in ends.iter().enumerate() {
            if ends.iter().all(|end| end.nearness > 0.0) {
                let (low, high) = (ends[0].y.min(ends[1].y) - radius, ends[0].y.max(ends[1].y) + radius);
                touch(&mut strokes_of, low, high, height, index as u32);
            }
        }
        let mut data = vec![NOTHING; width * height];
        data.par_chunks_mut(width * BAND).enumerate().for_each(|(band, rows)| {
            let first = band * BAND;
            for &index in &triangles_of[band] {
                fill(&triangles[index as usize], &seen[index as usize], rows, width, first);
            }
            for &index in &strokes_of[band] {
                let (ends, radius) = &ends[index as usize];
                stroke(&strokes[index as usize], ends, *radius, rows, width, first);
            }
        });
        Self { width, height, data }
    }

    pub fn at(&self, x: usize, y: usize) -> &Sample {
        &self.data[y * self.width + x]
    }
}

/// Notes that something between two heights touches the bands there.
fn touch(bands: &mut [Vec<u32>], low: f64, high: f64, height: usize, index: u32) {
    if high < 0.0 || low >= height as f64 || !low.is_finite() || !high.is_finite() {
        return;
    }
    let last = ((high as usize) / BAND).min(bands.len() - 1);
    for band in &mut bands[(low.max(0.0) as usize) / BAND..=last] {
        band.push(index);
    }
}

/// From the picture's own coordinates to samples, y down.
fn pixels(seen: Seen, width: f64, height: f64) -> Seen {
    Seen { x: 0.5 * (1.0 + seen.x) * width, y: 0.5 * (1.0 - seen.y) * height, ..seen }
}

fn fill(triangle: &Triangle, seen: &[Seen; 3], rows: &mut [Sample], width: usize, first: usize) {
    let [a, b, c] = seen;
    let area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    if area == 0.0 || !area.is_finite() {
        return;
    }
    let count = rows.len() / width;
    let left = a.x.min(b.x).min(c.x).max(0.0) as usize;
    let right = (a.x.max(b.x).max(c.x).max(0.0) as usize).min(width - 1);
    let top = (a.y.min(b.y).min(c.y).max(first as f64) as usize - first).min(count);
    let bottom = ((a.y.max(b.y).max(c.y).max(first as f64) as usize) - first).min(count - 1);
    for row in top..=bottom {
        let y = (first + row) as f64 + 0.5;
        for x in left..=right {
            let px = x as f64 + 0.5;
            let u = ((b.x - px) * (c.y - y) - (b.y - y) * (c.x - px)) / area;
            let v = ((c.x - px) * (a.y - y) - (c.y - y) * (a.x - px)) / area;
            let w = 1.0 - u - v;
            if u < 0.0 || v < 0.0 || w < 0.0 {
                continue;
            }
            let nearness = u * a.nearness + v * b.nearness + w * c.nearness;
            let sample = &mut rows[row * width + x];
            if nearness > sample.nearness {
                // Attributes are linear in space: weigh with nearness.
                let weights =
                    [u * a.nearness, v * b.nearness, w * c.nearness].map(|weight| weight / nearness);
                sample.nearness = nearness;
                sample.normal = mix(triangle.normals, weights);
                sample.colour = std::array::from_fn(|k| {
                    (0..3).map(|corner| triangle.colours[corner][k] * weights[corner] as f32).sum()
                });
            }
        }
    }
}

fn mix(vectors: [V3; 3], weights: [f64; 3]) -> [f32; 3] {
    std::array::from_fn(|k| {
        (vectors[0][k] * weights[0] + vectors[1][k] * weights[1] + vectors[2][k] * weights[2]) as f32
    })
}

/// A round stroke that looks like a tube or a ball facing the camera: the normal is in the camera's axes, marked by a length above 1.
fn stroke(stroke: &Stroke, ends: &[Seen; 2], radius: f64, rows: &mut [Sample], width: usize, first: usize) {
    let [a, b] = ends;
    let count = rows.len() / width;
    let left = (a.x.min(b.x) - radius).max(0.0) as usize;
    let right = ((a.x.max(b.x) + radius).max(0.0) as usize).min(width - 1);
    let top = ((a.y.min(b.y) - radius).max(first as f64) as usize - first).min(count);
    let bottom = (((a.y.max(b.y) + radius).max(first as f64) as usize) - first).min(count - 1);
    let (dx, dy) = (b.x - a.x, b.y - a.y);
    let square = dx * dx + dy * dy;
    for row in top..=bottom {
        let y = (first + row) as f64 + 0.5;
        for x in left..=right {
            let px = x as f64 + 0.5;
            let along = if square > 0.0 { ((px - a.x) * dx + (y - a.y) * dy) / square } else { 0.0 };
            let t = along.clamp(0.0, 1.0);
            let (ox, oy) = (px - a.x - t * dx, y - a.y - t * dy);
            let off = (ox * ox + oy * oy) / (radius * radius);
            if off > 1.0 {
                continue;
            }
            let nearness = a.nearness + t * (b.nearness - a.nearness);
            let sample = &mut rows[row * width + x];
            if nearness > sample.nearness {
                sample.nearness = nearness;
                let facing = (1.0 - off).sqrt();
                sample.normal =
                    [(2.0 * ox / radius) as f32, (-2.0 * oy / radius) as f32, (2.0 * facing) as f32];
                sample.colour = std::array::from_fn(|k| {
                    stroke.colours[0][k] * (1.0 - t) as f32 + stroke.colours[1][k] * t as f32
                });
            }
        }
    }
}
