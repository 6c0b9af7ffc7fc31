//! "Did you mean": the nearest of a set of words.

/// Words people use for things that have another name here.
const SYNONYMS: [(&str, &str); 18] = [
    ("ball", "sphere"),
    ("circle", "sphere"),
    ("disc", "sphere"),
    ("disk", "sphere"),
    ("cube", "box"),
    ("cuboid", "box"),
    ("rectangle", "box"),
    ("rope", "chain"),
    ("fixed", "static"),
    ("movable", "dynamic"),
    ("duration", "end"),
    ("fps", "frame_rate"),
    ("dt", "step"),
    ("timestep", "step"),
    ("angular_velocity", "spin"),
    ("orientation", "rotation"),
    ("damping", "damping_ratio"),
    ("diameter", "radius"),
];

/// The candidate that `word` most likely stands for, if one is near enough.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Longer words than any real one are not typing errors, and the distance costs length squared.
    if word.chars().count() > 64 {
        return None;
    }
    let word = word.to_lowercase().replace('-', "_");
    let synonym = SYNONYMS.iter().find(|(from, _)| *from == word).map(|(_, to)| *to);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if Some(candidate) == synonym || (word.len() >= 3 && candidate.strip_suffix('s') == Some(&word)) {
            return Some(candidate);
        }
        if candidate.len() > 128 {
            continue;
        }
        let distance = strsim::osa_distance(&word, &candidate.to_lowercase().replace('-', "_"));
        let tolerated = (candidate.chars().count().max(word.chars().count()) / 3).max(1);
        if distance <= tolerated && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    // One letter is within distance 1 of every other letter.
    best.filter(|(distance, found)| *distance < found.chars().count()).map(|(_, found)| found)
}

/// "`a`, `b` or `c`".
pub(crate) fn one_of<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(|w| format!("`{w}`")).collect();
    match words.split_last() {
        None => "nothing".into(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_typing_errors_and_synonyms_but_does_not_guess_wildly() {
        let fields = ["name", "shape", "density", "mass", "position", "velocity", "spin"];
        assert_eq!(nearest("desnity", fields), Some("density"));
        assert_eq!(nearest("Velocity", fields), Some("velocity"));
        assert_eq!(nearest("angular_velocity", fields), Some("spin"));
        assert_eq!(nearest("colour", fields), None);
        assert_eq!(nearest("x", ["y", "z"]), None);
        assert_eq!(nearest("ball", ["sphere", "box"]), Some("sphere"));
        assert_eq!(nearest("spring", ["springs"]), Some("springs"));
    }
}
