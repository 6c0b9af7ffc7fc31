//! Pictures of six shipped scenes as they start, pixel by pixel what they were, for any number of threads.
//!
//! `SPLASHDOWN_BLESS=1 cargo test -p splashdown-render` writes the pictures anew; look at them before they are committed.

use splashdown_render::{Colouring, RenderOptions, bounds, render};
use splashdown_scene::{load, prepare};
use std::path::PathBuf;

const SCENES: [&str; 6] =
    ["quickstart", "quickstart-2d", "card-house", "cloth-on-ball", "three-liquids", "chain-bridge"];

fn pixels_of(png: &[u8]) -> (u32, u32, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    pixels.truncate(info.buffer_size());
    (info.width, info.height, pixels)
}

#[test]
fn six_scenes_have_the_same_pixels_for_any_number_of_threads() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/pictures");
    for name in SCENES {
        let scene = load(name, &[]).unwrap().scene;
        let frame = prepare(&scene).unwrap().picture(0);
        let options =
            RenderOptions { width: 192, height: 108, colouring: Colouring::Body, ..RenderOptions::default() };
        let draw = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut png = Vec::new();
            pool.install(|| render(&frame, &bounds(&frame), &options)).unwrap().write_png(&mut png).unwrap();
            png
        };
        let drawn = draw(1);
        for threads in [2, 5] {
            assert!(draw(threads) == drawn, "{name}: {threads} threads draw other pixels than one");
        }
        let file = folder.join(format!("{name}.png"));
        if std::env::var_os("SPLASHDOWN_BLESS").is_some() {
            std::fs::write(&file, &drawn).unwrap();
            continue;
        }
        let (now, wanted) = (pixels_of(&drawn), pixels_of(&std::fs::read(&file).unwrap()));
        let different = now.2.chunks(3).zip(wanted.2.chunks(3)).filter(|(a, b)| a != b).count();
        assert!(
            now == wanted,
            "{name}: {different} pixels are not those of {}; if that is meant, see the top of this file",
            file.display()
        );
    }
}
