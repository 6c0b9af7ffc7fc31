//! What a grid holds: smoke, seen through; in the plane also liquids and the speed of the flow.

use crate::colour::{self, Rgb};
use crate::vector::V3;
use splashdown_scene::frame::{Association, Attribute, Geometry, Part};

/// What the values on the cells of a grid mean.
#[derive(Debug, Clone)]
enum Look {
    /// One layer: amount relative to the largest.
    Smoke,
    /// One layer a liquid: signed distance in cells, negative inside; with the liquids' colours.
    Liquids(Vec<Rgb>),
    /// One layer: anything else relative to its largest.
    Ramp,
}

/// Values on the cells of a grid.
#[derive(Debug, Clone)]
pub(crate) struct Volume {
    origin: V3,
    spacing: f64,
    cells: [usize; 3],
    look: Look,
    /// x fastest.
    layers: Vec<Vec<f32>>,
    /// A picture in the plane instead of a cloud in space.
    pub flat: bool,
}

/// Paper behind smoke and liquids in the plane.
const PAPER: Rgb = [0.94, 0.94, 0.95];
/// Brightness of smoke in space in full light: grey, so that it stands out from a bright sky.
const SMOKE: f32 = 0.5;
/// Thick smoke in the plane.
const SOOT: Rgb = [0.06, 0.06, 0.08];

impl Volume {
    /// What a grid part shows, if anything: smoke; in the plane also liquids, or else the speed of the flow or another field.
    pub fn of(part: &Part, dimension: usize) -> Option<Self> {
        let Geometry::Grid { origin, spacing, cells } = &part.geometry else { return None };
        let count: u64 = cells.iter().product();
        let flat = dimension == 2;
        let on_cells = |attribute: &&Attribute, components: usize| {
            attribute.components == components
                && attribute.association != Association::Point
                && attribute.data.len() as u64 == count * components as u64
        };
        let named = |name: &&str| part.attributes.iter().find(|a| a.name == **name && on_cells(a, 1));
        let values = |a: &Attribute| (0..a.data.len()).map(|i| a.data.get(i)).collect::<Vec<f64>>();
        let liquids: Vec<(&str, &Attribute)> = part
            .attributes
            .iter()
            .filter(|a| on_cells(a, 1))
            .filter_map(|a| a.name.strip_prefix("distance to ").map(|name| (name, a)))
            .collect();
        let (look, layers) = if let Some(smoke) = ["density", "smoke"].iter().find_map(&named) {
            (Look::Smoke, vec![relative(&values(smoke))])
        } else if !flat {
            return None;
        } else if !liquids.is_empty() {
            let colours = liquids.iter().enumerate().map(|(k, (name, _))| colour::of_liquid(name, k));
            let cells_away = |a: &Attribute| values(a).iter().map(|x| (x / spacing) as f32).collect();
            (Look::Liquids(colours.collect()), liquids.iter().map(|(_, a)| cells_away(a)).collect())
        } else if let Some(velocity) =
            part.attributes.iter().find(|a| a.name == "velocity" && on_cells(a, dimension))
        {
            let all = values(velocity);
            let speeds: Vec<f64> =
                all.chunks(dimension).map(|v| v.iter().map(|x| x * x).sum::<f64>().sqrt()).collect();
            (Look::Ramp, vec![relative(&speeds)])
        } else {
            let other = ["temperature", "vorticity", "pressure"].iter().find_map(&named)?;
            (Look::Ramp, vec![relative(&values(other))])
        };
        let at = |k: usize| if k < dimension { cells[k] as usize } else { 1 };
        Some(Self {
            origin: std::array::from_fn(|k| if k < dimension { origin[k] } else { 0.0 }),
            spacing: *spacing,
            cells: [at(0), at(1), at(2)],
            look,
            layers,
            flat,
        })
    }

    fn upper(&self) -> V3 {
        std::array::from_fn(|k| {
            if self.flat && k == 2 { 0.0 } else { self.origin[k] + self.spacing * self.cells[k] as f64 }
        })
    }

    pub fn corners(&self) -> [V3; 2] {
        [self.origin, self.upper()]
    }

    /// A layer's value at a point, linear between cell centres, zero outside.
    fn at(&self, layer: usize, point: V3) -> f32 {
        let mut cell = [0usize; 3];
        let mut weight = [0.0f64; 3];
        for k in 0..3 {
            let x = (point[k] - self.origin[k]) / self.spacing;
            if self.flat && k == 2 {
                continue;
            }
            if !(x >= 0.0 && x < self.cells[k] as f64) {
                return 0.0;
            }
            let x = (x - 0.5).clamp(0.0, (self.cells[k] - 1) as f64);
            cell[k] = (x as usize).min(self.cells[k].saturating_sub(2));
            weight[k] = (x - cell[k] as f64).min(1.0);
        }
        let mut sum = 0.0;
        for corner in 0..8usize {
            let mut share = 1.0;
            let mut index = [0usize; 3];
            for k in 0..3 {
                let up = corner >> k & 1;
                share *= if up == 1 { weight[k] } else { 1.0 - weight[k] };
                index[k] = (cell[k] + up).min(self.cells[k] - 1);
            }
            if share > 0.0 {
                let at = index[0] + self.cells[0] * (index[1] + self.cells[1] * index[2]);
                sum += share as f32 * self.layers[layer][at];
            }
        }
        sum
    }

    /// Colour of a flat field at a point of the plane; `None` outside.
    pub fn flat_colour(&self, point: V3) -> Option<Rgb> {
        let upper = self.upper();
        let inside = (0..2).all(|k| point[k] >= self.origin[k] && point[k] < upper[k]);
        inside.then(|| match &self.look {
            Look::Ramp => colour::ramp(f64::from(self.at(0, point))),
            Look::Smoke => mix(PAPER, SOOT, self.at(0, point)),
            Look::Liquids(colours) => {
                let nearest = (0..colours.len())
                    .map(|k| (self.at(k, point), colours[k]))
                    .min_by(|a, b| a.0.total_cmp(&b.0));
                // An edge as soft as a tenth of a cell.
                nearest.map_or(PAPER, |(distance, colour)| {
                    mix(PAPER, colour, (0.5 - 10.0 * distance).clamp(0.0, 1.0))
                })
            }
        })
    }

    /// Light of a cloud along a ray up to `farthest` (in lengths of `direction`): colour and how much of what is behind shines through.
    pub fn march(&self, start: V3, direction: V3, farthest: f64, light: V3) -> (Rgb, f32) {
        let (upper, mut near, mut far) = (self.upper(), 0.0f64, farthest);
        for k in 0..3 {
            if direction[k].abs() < 1e-300 {
                if start[k] < self.origin[k] || start[k] > upper[k] {
                    return ([0.0; 3], 1.0);
                }
                continue;
            }
            let (a, b) = ((self.origin[k] - start[k]) / direction[k], (upper[k] - start[k]) / direction[k]);
            near = near.max(a.min(b));
            far = far.min(a.max(b));
        }
        let length = crate::vector::length(direction);
        let step = self.spacing / length;
        let (mut colour, mut through) = ([0.0f32; 3], 1.0f32);
        // Half the light is lost in a twelfth of the longest edge at full density.
        let longest = self.cells.iter().copied().max().unwrap_or(1) as f32;
        let opacity = 12.0 / longest;
        let mut t = near + 0.5 * step;
        while t < far && through > 0.01 {
            let point: V3 = std::array::from_fn(|k| start[k] + t * direction[k]);
            let density = self.at(0, point);
            if density > 1e-3 {
                // Darker where there is more of it towards the light.
                let mut shade = 0.0;
                for ahead in [2.0, 5.0, 10.0] {
                    let probe = std::array::from_fn(|k| point[k] + ahead * self.spacing * light[k]);
                    shade += self.at(0, probe) * ahead as f32;
                }
                let lit = 0.35 + 0.65 / (1.0 + opacity * shade);
                let lost = (opacity * density).min(1.0);
                for c in &mut colour {
                    *c += through * lost * SMOKE * lit;
                }
                through *= 1.0 - lost;
            }
            t += step;
        }
        (colour, through)
    }
}

/// Values from their smallest (or zero) to their largest as 0 to 1.
fn relative(values: &[f64]) -> Vec<f32> {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (low, high) = (finite().fold(0.0, f64::min), finite().fold(0.0, f64::max));
    let range = (high - low).max(1e-300);
    values.iter().map(|value| if value.is_finite() { ((value - low) / range) as f32 } else { 0.0 }).collect()
}

fn mix(a: Rgb, b: Rgb, t: f32) -> Rgb {
    std::array::from_fn(|k| a[k] + t.clamp(0.0, 1.0) * (b[k] - a[k]))
}
