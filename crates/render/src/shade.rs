//! Light: sky, sun with soft shadows, ambient occlusion, ground with a grid.

use crate::camera::Camera;
use crate::colour::{self, Rgb};
use crate::model::{Bounds, Model};
use crate::raster::Samples;
use crate::vector::{V3, add, cross, dot, scale, sub, unit_or};
use crate::{Image, RenderOptions};
use splashdown_parallel::prelude::*;

/// Samples along each edge of a pixel.
const OVERSAMPLING: usize = 2;
/// Direction to the sun.
const SUN: V3 = [0.45, 0.78, 0.43];
/// Edge of the shadow map (samples).
const SHADOW_MAP: usize = 1536;
/// Offsets of the samples that soften a shadow, on a spiral so that no direction is preferred.
const SOFT: [[f64; 2]; 13] = [
    [0.0, 0.0],
    [0.9, 0.1],
    [-0.6, 0.8],
    [-0.3, -1.1],
    [1.2, -0.8],
    [0.5, 1.5],
    [-1.7, 0.0],
    [0.9, -1.8],
    [1.8, 1.0],
    [-1.2, 1.9],
    [-1.7, -1.6],
    [2.3, -0.6],
    [-0.2, 2.4],
];

/// What lies under the scene.
struct Ground {
    height: f64,
    up: V3,
    spacing: f64,
    centre: V3,
    radius: f64,
}

pub(crate) fn picture(
    model: &Model,
    bounds: &Bounds,
    camera: &Camera,
    options: &RenderOptions,
    flat: bool,
) -> Image {
    let (width, height) = (options.width * OVERSAMPLING, options.height * OVERSAMPLING);
    let samples = Samples::draw(camera, &model.triangles, &model.strokes, width, height);
    let sun = unit_or(SUN, [0.0, 1.0, 0.0]);
    let up = unit_or(options.framing.up, [0.0, 1.0, 0.0]);
    let light = (!flat).then(|| Light::new(model, bounds, sun));
    let ground = (!flat && options.ground).then(|| Ground::below(bounds, up));
    let pixel = |at: usize| {
        let (px, py) = (at % options.width, at / options.width);
        let mut sum = [0.0f32; 3];
        for sy in 0..OVERSAMPLING {
            for sx in 0..OVERSAMPLING {
                let (x, y) = (px * OVERSAMPLING + sx, py * OVERSAMPLING + sy);
                let colour = if flat {
                    flat_sample(model, camera, &samples, x, y)
                } else {
                    sample(model, camera, &samples, light.as_ref(), ground.as_ref(), sun, up, x, y)
                };
                (0..3).for_each(|k| sum[k] += colour[k]);
            }
        }
        colour::encode(sum.map(|c| c / (OVERSAMPLING * OVERSAMPLING) as f32))
    };
    let pixels = (0..options.width * options.height).into_par_iter().with_min_len(512).map(pixel).collect();
    Image::new(options.width, pixels)
}

/// Where a sample is in the picture, from -1 to 1.
fn place(samples: &Samples, x: usize, y: usize) -> (f64, f64) {
    (
        2.0 * (x as f64 + 0.5) / samples.width as f64 - 1.0,
        1.0 - 2.0 * (y as f64 + 0.5) / samples.height as f64,
    )
}

fn flat_sample(model: &Model, camera: &Camera, samples: &Samples, x: usize, y: usize) -> Rgb {
    let seen = samples.at(x, y);
    let (u, v) = place(samples, x, y);
    let point = camera.ray(u, v).0;
    let field =
        model.volumes.iter().filter(|volume| volume.flat).find_map(|volume| volume.flat_colour(point));
    if seen.nearness > 0.0 {
        // Loose points and lines are round; areas are plain.
        let round = length_of(seen.normal) > 1.5;
        let shade = if round { 0.55 + 0.225 * seen.normal[2] } else { 1.0 };
        return seen.colour.map(|c| c * shade);
    }
    field.unwrap_or([0.94, 0.94, 0.95])
}

fn length_of(normal: [f32; 3]) -> f32 {
    normal.iter().map(|x| x * x).sum::<f32>().sqrt()
}

#[expect(clippy::too_many_arguments, reason = "one sample needs the whole scene")]
fn sample(
    model: &Model,
    camera: &Camera,
    samples: &Samples,
    light: Option<&Light>,
    ground: Option<&Ground>,
    sun: V3,
    up: V3,
    x: usize,
    y: usize,
) -> Rgb {
    let (u, v) = place(samples, x, y);
    let (start, direction) = camera.ray(u, v);
    let seen = samples.at(x, y);
    let mut distance = f64::INFINITY;
    let mut colour = sky(unit_or(direction, [0.0, 0.0, -1.0]), up);
    if let Some(ground) = ground
        && let Some((t, point)) = ground.hit(start, direction)
    {
        let base = ground.colour(point, camera);
        let lit = lighting(up, point, light, sun, up, occlusion(camera, samples, point, up, x, y));
        let fade = ground.fade(point);
        colour = std::array::from_fn(|k| (base[k] * lit[k]) * (1.0 - fade) + colour[k] * fade);
        distance = t;
    }
    if seen.nearness > 0.0 {
        let point = camera.point(u, v, seen.nearness);
        let along = dot(sub(point, start), direction) / dot(direction, direction);
        if along < distance {
            distance = along;
            let toward = scale(unit_or(direction, [0.0, 0.0, -1.0]), -1.0);
            let normal = seen.normal.map(f64::from);
            let mut normal = if length_of(seen.normal) > 1.5 {
                // A stroke's normal is in the camera's axes.
                let right = cross(camera.up(), toward);
                add(add(scale(right, normal[0]), scale(camera.up(), normal[1])), scale(toward, normal[2]))
            } else {
                normal
            };
            normal = unit_or(normal, toward);
            // Sheets are seen from both sides.
            if dot(normal, toward) < 0.0 {
                normal = scale(normal, -1.0);
            }
            let lit =
                lighting(normal, point, light, sun, up, occlusion(camera, samples, point, normal, x, y));
            let half = unit_or(add(toward, sun), up);
            let gloss = dot(normal, half).max(0.0);
            let gloss = (0..5).fold(gloss, |g, _| g * g) as f32 * 0.18 * lit[3];
            colour = std::array::from_fn(|k| seen.colour[k] * lit[k] + gloss);
        }
    }
    for volume in model.volumes.iter().filter(|volume| !volume.flat) {
        let (smoke, through) = volume.march(start, direction, distance, sun);
        colour = std::array::from_fn(|k| smoke[k] + through * colour[k]);
    }
    colour
}

/// Light that arrives: red, green, blue, and the share of the sun.
fn lighting(normal: V3, point: V3, light: Option<&Light>, sun: V3, up: V3, open: f64) -> [f32; 4] {
    let facing = dot(normal, sun).max(0.0);
    let sunlit = if facing > 0.0 { light.map_or(1.0, |light| light.reaches(point, normal)) } else { 0.0 };
    let sky = 0.5 + 0.5 * dot(normal, up);
    let direct = 0.95 * facing * sunlit;
    let mix = |sun_colour: f64, sky_colour: f64, ground_colour: f64| {
        (direct * sun_colour + open * 0.55 * (sky * sky_colour + (1.0 - sky) * ground_colour)) as f32
    };
    [mix(1.0, 0.80, 0.55), mix(0.97, 0.88, 0.50), mix(0.90, 1.0, 0.45), sunlit as f32]
}

fn sky(direction: V3, up: V3) -> Rgb {
    let height = (0.5 + dot(direction, up)).clamp(0.0, 1.0) as f32;
    let (low, high) = ([0.82, 0.84, 0.86], [0.50, 0.62, 0.78]);
    std::array::from_fn(|k| low[k] * (1.0 - height) + high[k] * height)
}

/// How open the sky is around a point, from what the picture shows in front of it nearby (0.35 closed to 1 open).
fn occlusion(camera: &Camera, samples: &Samples, point: V3, normal: V3, x: usize, y: usize) -> f64 {
    let pixel = 2.0 * camera.half_height_at(point) / samples.height as f64;
    let mut closed = 0.0;
    let mut count = 0.0;
    for (ring, reach) in [4.0, 10.0, 22.0].into_iter().enumerate() {
        for k in 0..5 {
            let [ox, oy] = SOFT[1 + (ring * 4 + k) % 12];
            let size = (ox * ox + oy * oy).sqrt();
            let (sx, sy) = (x as f64 + reach * ox / size, y as f64 + reach * oy / size);
            count += 1.0;
            if sx < 0.0 || sy < 0.0 || sx >= samples.width as f64 || sy >= samples.height as f64 {
                continue;
            }
            let other = samples.at(sx as usize, sy as usize);
            if other.nearness == 0.0 {
                continue;
            }
            let (u, v) = place(samples, sx as usize, sy as usize);
            let r = sub(camera.point(u, v, other.nearness), point);
            let distance = dot(r, r).sqrt();
            let range = 1.5 * reach * pixel;
            if distance > 1e-9 && distance < 3.0 * range {
                closed += (dot(r, normal) / distance - 0.1).max(0.0) * (1.0 - distance / (3.0 * range));
            }
        }
    }
    (1.0 - 2.2 * closed / count).max(0.35)
}

/// What the sun sees.
struct Light {
    camera: Camera,
    map: Samples,
    texel: f64,
}

impl Light {
    fn new(model: &Model, bounds: &Bounds, sun: V3) -> Self {
        let radius = 1.05 * bounds.radius();
        let camera = Camera::light(bounds.centre(), radius, sun);
        let map = Samples::draw(&camera, &model.triangles, &model.strokes, SHADOW_MAP, SHADOW_MAP);
        Self { camera, map, texel: 2.0 * radius / SHADOW_MAP as f64 }
    }

    /// Share of the sun that reaches a point.
    fn reaches(&self, point: V3, normal: V3) -> f64 {
        let seen = self.camera.see(add(point, scale(normal, 2.0 * self.texel)));
        let size = SHADOW_MAP as f64;
        let (x, y) = (0.5 * (1.0 + seen.x) * size, 0.5 * (1.0 - seen.y) * size);
        let mut lit = 0.0;
        for [ox, oy] in SOFT {
            let (sx, sy) = (x + 1.3 * ox, y + 1.3 * oy);
            let inside = sx >= 0.0 && sy >= 0.0 && sx < size && sy < size;
            let blocked = inside && {
                let other = self.map.at(sx as usize, sy as usize);
                other.nearness > 0.0 && other.nearness - seen.nearness > 2.5 * self.texel
            };
            lit += if blocked { 0.0 } else { 1.0 };
        }
        lit / SOFT.len() as f64
    }
}

impl Ground {
    fn below(bounds: &Bounds, up: V3) -> Self {
        let height = bounds.corners().into_iter().map(|corner| dot(corner, up)).fold(f64::INFINITY, f64::min);
        let radius = bounds.radius();
        // A power of ten times 1, 2 or 5, about an eighth of the scene.
        let mut spacing = 1e-12;
        let mut factors = [2.0, 2.5, 2.0].into_iter().cycle();
        while spacing < radius / 5.0 {
            spacing *= factors.next().unwrap_or(2.0);
        }
        Self { height: height - 1e-4 * radius, up, spacing, centre: bounds.centre(), radius }
    }

    fn hit(&self, start: V3, direction: V3) -> Option<(f64, V3)> {
        let fall = dot(direction, self.up);
        if fall.abs() < 1e-12 {
            return None;
        }
        let t = (self.height - dot(start, self.up)) / fall;
        (t > 0.0 && fall < 0.0).then(|| (t, add(start, scale(direction, t))))
    }

    fn colour(&self, point: V3, camera: &Camera) -> Rgb {
        let (a, b) = plane_axes(self.up);
        let pixel = camera.half_height_at(point) / 300.0;
        let line = |along: V3| {
            let x = dot(point, along) / self.spacing;
            let off = (x - x.round()).abs() * self.spacing;
            (1.0 - off / (0.012 * self.spacing).max(pixel)).max(0.0)
        };
        let grid = line(a).max(line(b)) as f32;
        [0.80, 0.80, 0.79].map(|c: f32| c * (1.0 - 0.28 * grid))
    }

    /// How much the ground has faded into the sky, far from the scene.
    fn fade(&self, point: V3) -> f32 {
        let r = sub(point, self.centre);
        let far = dot(r, r).sqrt() / self.radius;
        ((far - 2.0) / 6.0).clamp(0.0, 1.0) as f32
    }
}

/// Two directions across `up`.
fn plane_axes(up: V3) -> (V3, V3) {
    let other = if up[0].abs() < 0.7 { [1.0, 0.0, 0.0] } else { [0.0, 0.0, 1.0] };
    let a = unit_or(cross(cross(up, other), up), [1.0, 0.0, 0.0]);
    (a, cross(up, a))
}
