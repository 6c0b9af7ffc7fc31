//! Letters as strokes: enough to label a plot, without a font file.

/// Height of a capital letter above the base line, in units of the drawing below.
pub(crate) const CAPITAL: f64 = 7.0;
/// Free space between two letters.
const GAP: f64 = 2.0;

/// Letters from `!` to `~`. A stroke is a list of points, two digits each: x from the left, y from two units below the base line. `~` rounds a
/// stroke, `@` rounds and closes it; a stroke of one point twice is a dot.
const GLYPHS: [&str; 94] = [
    "0904 0202",                // !
    "0907 2927",                // "
    "1229 3249 0545 0747",      // #
    "~4748080645430304 2129",   // $
    "0249 @07272909 @22424424", // %
    "~421718293805030242 3245", // &
    "0907",                     // '
    "~29070421",                // (
    "~09272401",                // )
    "2428 0745 0547",           // *
    "2327 0545",                // +
    "1201",                     // ,
    "0535",                     // -
    "0202",                     // .
    "0139",                     // /
    "@02424909",                // 0
    "072922",                   // 1
    "~0709494602 0242",         // 2
    "~0809494616 ~1646420203",  // 3
    "32390444",                 // 4
    "490906 ~0647420203",       // 5
    "@02424606 ~490904",        // 6
    "094912",                   // 7
    "@06464909 @02424606",      // 8
    "@05454909 ~474202",        // 9
    "0202 0606",                // :
    "1606 1201",                // ;
    "480542",                   // <
    "0444 0646",                // =
    "084502",                   // >
    "~0809494524 2222",         // ?
    "@02424909 @13333616",      // @
    "022942 1434",              // A
    "0209 ~09494606 ~06464202", // B
    "~474909024244",            // C
    "0209 ~09494202",           // D
    "49090242 0636",            // E
    "490902 0636",              // F
    "~474909024245 4525",       // G
    "0902 4942 0646",           // H
    "0902",                     // I
    "~39320204",                // J
    "0902 4905 1642",           // K
    "090242",                   // L
    "0209254942",               // M
    "02094249",                 // N
    "@02424909",                // O
    "0209 ~09494505",           // P
    "@02424909 2441",           // Q
    "0209 ~09494505 2542",      // R
    "~4749090645420204",        // S
    "0949 2922",                // T
    "~09024249",                // U
    "092249",                   // V
    "0912375269",               // W
    "0249 0942",                // X
    "092549 2522",              // Y
    "09490242",                 // Z
    "29090121",                 // [
    "0931",                     // \
    "09292101",                 // ]
    "072947",                   // ^
    "0141",                     // _
    "0918",                     // `
    "@02323707 3732",           // a
    "0902 @02323707",           // b
    "~363707023233",            // c
    "3932 @02323707",           // d
    "~353707023233 0535",       // e
    "~29191612 0727",           // f
    "@02323707 ~37300001",      // g
    "0902 ~04073732",           // h
    "0702 0909",                // i
    "~171000 1919",             // j
    "0902 3704 1532",           // k
    "0902",                     // l
    "0702 ~04072722 ~24274742", // m
    "0702 ~04073732",           // n
    "@02323707",                // o
    "0700 @02323707",           // p
    "3730 @02323707",           // q
    "0702 ~040727",             // r
    "~3637070534320203",        // s
    "~19122223 0727",           // t
    "~07023237 3732",           // u
    "072247",                   // v
    "0712365267",               // w
    "0237 0732",                // x
    "0722 4710",                // y
    "07370232",                 // z
    "29191605141121",           // {
    "0901",                     // |
    "09191625141101",           // }
    "~05173446",                // ~
];

/// Letters that are not there.
const UNKNOWN: &str = "0249 0942 0209494202";

type Point = [f64; 2];

/// The strokes of a letter and its width; y points up from the base line.
fn glyph(letter: char) -> (Vec<Vec<Point>>, f64) {
    if letter.is_whitespace() {
        return (vec![], 2.0);
    }
    let number = (letter as usize).checked_sub('!' as usize);
    let drawn = number.and_then(|number| GLYPHS.get(number)).copied().unwrap_or(UNKNOWN);
    let strokes: Vec<Vec<Point>> = drawn.split(' ').map(stroke).collect();
    let width = strokes.iter().flatten().map(|point| point[0]).fold(0.0, f64::max);
    (strokes, width)
}

fn stroke(text: &str) -> Vec<Point> {
    let digits: Vec<f64> =
        text.bytes().filter(u8::is_ascii_digit).map(|digit| f64::from(digit - b'0')).collect();
    let corners: Vec<Point> = digits.chunks_exact(2).map(|p| [p[0], p[1] - 2.0]).collect();
    match text.as_bytes().first() {
        Some(b'@') => rounded(&corners, true),
        Some(b'~') => rounded(&corners, false),
        _ => corners,
    }
}

/// Chaikin's corner cutting, three times.
fn rounded(corners: &[Point], closed: bool) -> Vec<Point> {
    let mut points = corners.to_vec();
    for _ in 0..3 {
        let count = points.len();
        let mut next = Vec::with_capacity(2 * count);
        let edges = if closed { count } else { count - 1 };
        for i in 0..edges {
            let (a, b) = (points[i], points[(i + 1) % count]);
            let between = |share: f64| [0, 1].map(|k| a[k] + share * (b[k] - a[k]));
            let first = if !closed && i == 0 { a } else { between(0.25) };
            let last = if !closed && i + 1 == edges { b } else { between(0.75) };
            next.extend([first, last]);
        }
        points = next;
    }
    if closed {
        points.extend(points.first().copied());
    }
    points
}

/// The strokes of a text from the origin to the right along the base line, and its width.
pub(crate) fn text(content: &str) -> (Vec<Vec<Point>>, f64) {
    let mut strokes = Vec::new();
    let mut at = 0.0;
    for letter in content.chars() {
        let (own, width) = glyph(letter);
        strokes.extend(own.into_iter().map(|stroke| stroke.into_iter().map(|[x, y]| [x + at, y]).collect()));
        at += width + GAP;
    }
    (strokes, (at - GAP).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_is_drawn_and_within_its_line() {
        for letter in ' '..='~' {
            let (strokes, width) = glyph(letter);
            assert!(letter == ' ' || strokes.iter().all(|stroke| stroke.len() > 1), "{letter}");
            let inside = |[x, y]: &Point| (0.0..=6.0).contains(x) && (-2.0..=CAPITAL).contains(y);
            assert!(strokes.iter().flatten().all(inside) && width <= 6.0, "{letter}");
        }
        // No two letters look the same, but for the ones that do.
        for a in '!'..='~' {
            for b in '!'..a {
                let alike = [('O', '0'), ('l', 'I')].contains(&(a, b));
                assert!(alike || glyph(a).0 != glyph(b).0, "{a} and {b}");
            }
        }
        assert!(text("ab").1 > text("a").1 + text("b").1);
        assert!(!glyph('é').0.is_empty());
    }
}
