//! Colours of bodies and liquids, the same in pictures, in the viewer (`viewer/src/colours.ts`) and in exports.

/// Linear red, green and blue from 0 to 1.
pub type Rgb = [f32; 3];

/// Colours that stay apart for neighbours in a list, also for people who confuse red and green; water is blue, so no body is.
const BODIES: [Rgb; 8] = [
    [0.85, 0.33, 0.10],
    [0.93, 0.69, 0.13],
    [0.20, 0.55, 0.35],
    [0.75, 0.70, 0.62],
    [0.49, 0.18, 0.45],
    [0.64, 0.08, 0.18],
    [0.40, 0.62, 0.65],
    [0.90, 0.55, 0.55],
];

/// Water.
pub const WATER: Rgb = [0.10, 0.35, 0.62];

/// Colour of the body or part of that number.
pub fn of_body(index: usize) -> Rgb {
    BODIES[index % BODIES.len()]
}

/// Colour of a liquid: water is blue, others are not.
pub fn of_liquid(name: &str, number: usize) -> Rgb {
    if name.contains("water") { WATER } else { of_body(number + 1) }
}

/// Colour of a part by its name and number, if it is a liquid; `surfaces` are the names of all parts.
pub fn of_liquid_part<'a>(name: &str, mut parts: impl Iterator<Item = &'a str>) -> Option<Rgb> {
    match ["surface of ", "drops of "].iter().find_map(|of| name.strip_prefix(of)) {
        Some(liquid) => {
            let is_surface = |part: &&str| part.starts_with("surface of ");
            let before = parts
                .by_ref()
                .filter(is_surface)
                .take_while(|part| part.strip_prefix("surface of ") != Some(liquid))
                .count();
            Some(of_liquid(liquid, before))
        }
        None => ["water", "liquid", "surface"].iter().any(|word| name.contains(word)).then_some(WATER),
    }
}
