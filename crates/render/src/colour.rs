//! What colours mean.

pub(crate) use splashdown_scene::export::palette::Rgb;

/// What colours show.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Colouring {
    /// A colour for each body or part.
    #[default]
    Body,
    /// Speed from 0 (blue) to this (m/s, red); 0 takes the fastest point of the frame.
    Speed(f64),
}

pub(crate) use splashdown_scene::export::palette::{of_body, of_liquid, of_liquid_part};

/// Floors and walls: bodies that nothing moves, or far larger than what is looked at.
pub(crate) const SURROUNDINGS: Rgb = [0.72, 0.72, 0.71];

/// From dark blue over green to yellow, as bright as large; `x` from 0 to 1.
pub(crate) fn ramp(x: f64) -> Rgb {
    const STOPS: [Rgb; 6] = [
        [0.05, 0.02, 0.25],
        [0.12, 0.13, 0.55],
        [0.05, 0.42, 0.55],
        [0.15, 0.65, 0.35],
        [0.65, 0.80, 0.12],
        [0.99, 0.88, 0.14],
    ];
    let x = if x.is_finite() { x.clamp(0.0, 1.0) * 5.0 } else { 0.0 };
    let cell = (x as usize).min(4);
    let t = (x - cell as f64) as f32;
    std::array::from_fn(|k| STOPS[cell][k] * (1.0 - t) + STOPS[cell + 1][k] * t)
}

/// Bytes for a screen: square-root transfer, which is near the standard one and exact everywhere.
pub(crate) fn encode(colour: Rgb) -> [u8; 3] {
    colour.map(|c| (c.clamp(0.0, 1.0).sqrt() * 255.0 + 0.5) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ramp_gets_brighter_and_takes_anything() {
        let brightness = |x: f64| ramp(x).iter().sum::<f32>();
        assert!((0..20).all(|i| brightness(f64::from(i + 1) / 20.0) > brightness(f64::from(i) / 20.0)));
        assert_eq!(ramp(-3.0), ramp(0.0));
        assert_eq!(ramp(f64::NAN), ramp(0.0));
        assert_eq!(encode([0.0, 1.0, 7.0]), [0, 255, 255]);
    }
}
