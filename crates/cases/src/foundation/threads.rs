//! The same scene on 1, 2 and 4 threads gives the same bits: parallel loops work on fixed chunks and reductions are ordered, so the number of threads
//! changes nothing but the time. The chain is long enough that its vectors are divided among threads.
//!
//! Source: exact, bitwise equality of every saved state and frame; issue 2.

use crate::{Case, CaseError, Measurements, Speed};
use splashdown_scene::{Deformable, Rigid, Scene, Springs, prepare};

pub(super) const CASE: Case = Case {
    name: "foundation/thread-bit-identity",
    spec: "foundation",
    summary: "frames and states on 1, 2 and 4 threads are the same in every bit",
    source: "exact: bitwise equality",
    speed: Speed::Fast,
    seconds: 5.0,
    run,
};

/// Particles of the chain; several chunks of the parallel vector operations.
const PARTICLES: u64 = 20_000;
const FRAMES: u64 = 3;

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    for dimension in [2, 3] {
        let scene = scene(dimension);
        let reference = states(&scene, 1)?;
        for threads in [2, 4] {
            let states = states(&scene, threads)?;
            let different = states.iter().zip(&reference).filter(|(a, b)| a != b).count();
            let resolution = format!("{dimension}D, {PARTICLES} particles, {threads} threads");
            out.at_most(
                "states and frames that differ from one thread",
                &resolution,
                different as f64,
                0.0,
                "exact",
            );
            out.near(
                "states and frames compared",
                &resolution,
                states.len() as f64,
                reference.len() as f64,
                0.0,
                "exact",
            );
        }
    }
    Ok(())
}

/// Every frame and the state behind it, as bytes.
fn states(scene: &Scene, threads: usize) -> Result<Vec<Vec<u8>>, CaseError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| CaseError::new("starting threads", error))?;
    pool.install(|| {
        let mut simulation = prepare(scene).map_err(|error| CaseError::new("building the world", error))?;
        let mut found = Vec::new();
        for frame in 1..=FRAMES {
            while !simulation.advance(frame).map_err(|error| CaseError::new("stepping", error))?.arrived {}
            found.push(simulation.save().map_err(|error| CaseError::new("saving", error))?);
            let picture = simulation.picture(frame).encode(1);
            found.push(picture.map_err(|error| CaseError::new("writing a frame", error))?);
        }
        Ok(found)
    })
}

fn scene(dimension: u32) -> Scene {
    let in_dimension = |v: [f64; 3]| v[..dimension as usize].to_vec();
    let springs = Springs { stiffness: 200.0, damping_ratio: 0.5, rest_length: None };
    let ball = Rigid::sphere("ball", 0.1).density(500.0).velocity(in_dimension([1.0, 3.0, 0.2]));
    Scene::new(dimension)
        .frame_rate(1000.0)
        .end(FRAMES as f64 / 1000.0)
        .step(2e-4)
        .with_rigid(ball.repeat([40, 40, 1][..dimension as usize].to_vec(), in_dimension([0.5; 3])))
        .with_deformable(
            Deformable::chain("chain", in_dimension([0.0; 3]), in_dimension([100.0, 20.0, 0.0]), PARTICLES)
                .mass(PARTICLES as f64 * 1e-3)
                .springs(springs)
                .pinned([0]),
        )
}
