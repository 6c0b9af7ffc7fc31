//! Pairs in contact kept by symmetric sweeps, `(P_1 .. P_n .. P_1)^q`: the pressure operator stays symmetric for every `q` however the pairs overlap, more sweeps only take energy away, and
//! a tolerance below what the sweeps leave is raised and reported.
//!
//! Source: spec/incompressible-solids.md 3.6, 3.7, 5.2 I.

use super::bodies::{body, failed, keeper};
use super::statics::unit_material;
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_deformable::contact::ContactRow;
use splashdown_deformable::incompressible::{
    IncompressibleOptions, IncompressibleReport, Kept, PairTreatment,
};
use splashdown_geometry::generate::ball_tetrahedra;
use splashdown_math::Vector;
use splashdown_solve::testing::TestNumbers;

pub(super) const CASE: Case = Case {
    name: "incompressible/sweeps",
    spec: "I (incompressible-solids), INC-13, INC-14, INC-15",
    summary: "overlapping contacts kept by symmetric sweeps: a symmetric operator for any number of them, never more energy, unsafe tolerances reported",
    source: "exact: symmetry and energy; spec/incompressible-solids.md 5.2 I",
    speed: Speed::Fast,
    seconds: 1.0,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let mesh = ball_tetrahedra(Vector::zeros(), 1.0, 3).map_err(failed)?;
    let (solid, motion, rings) = body(&mesh, unit_material(0.0)?, 0.0)?;
    let mut random = TestNumbers::new(5);
    // Many rows on few particles, as points against triangles and edges against edges.
    let few = 12;
    let pairs: Vec<ContactRow<3>> = (0..14)
        .map(|row| {
            let mut nodes = [0; 4];
            for k in 0..4 {
                nodes[k] = loop {
                    let node = random.index(few) as u32;
                    if !nodes[..k].contains(&node) {
                        break node;
                    }
                };
            }
            let (s, t) = (random.uniform(0.1, 0.9), random.uniform(0.1, 0.9));
            let weights = if row % 2 == 0 {
                [1.0, -0.5 * s, -0.5 * (1.0 - s), -0.5]
            } else {
                [1.0 - s, s, t - 1.0, -t]
            };
            let normal = Vector::<3>::new(
                random.uniform(-1.0, 1.0),
                random.uniform(-1.0, 1.0),
                random.uniform(-1.0, 1.0),
            );
            ContactRow { nodes, weights, normal: normal.normalize() }
        })
        .collect();
    let kept = Kept::objects(&[], &pairs);
    let energy = |v: &[f64]| solid.kinetic_energy(v);
    let p = random.vector(rings.len());
    let tests: Vec<[Vec<f64>; 2]> =
        (0..20).map(|_| [random.vector(rings.len()), random.vector(rings.len())]).collect();
    let free = keeper(&rings, IncompressibleOptions::default());
    let mut before = energy(&free.push(&solid, &Kept::objects(&[], &[]), &p));
    let mut leaks = Vec::new();
    for sweeps in 1..=8 {
        let name = format!("{sweeps} sweeps");
        let options = IncompressibleOptions { pairs: PairTreatment::Sweeps(sweeps), ..Default::default() };
        let mut body = keeper(&rings, options);
        let response = |p: &[f64]| {
            let mut rate = vec![0.0; rings.len()];
            body.rings().apply(&body.push(&solid, &kept, p), &mut rate);
            rate
        };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let asymmetry = tests.iter().map(|[x, y]| {
            let (ax, ay) = (response(x), response(y));
            (dot(y, &ax) - dot(x, &ay)).abs() / (dot(x, &ax).sqrt() * dot(y, &ay).sqrt())
        });
        let asymmetry = asymmetry.fold(0.0, f64::max);
        out.at_most("asymmetry of the pressure operator, relative", &name, asymmetry, 1e-12, CASE.source);
        let after = energy(&body.push(&solid, &kept, &p));
        out.at_most("energy of a push, relative to one sweep less", &name, after / before, 1.0, CASE.source);
        before = after;
        let mut report = IncompressibleReport::default();
        let mut velocity = random.vector(motion.velocity.len());
        body.options.tolerance = 1e-10;
        body.correct_velocity(&solid, &motion.position, &mut velocity, &kept, &mut report).map_err(failed)?;
        out.near(
            "solves with a tolerance below the leak",
            &name,
            report.loosened as f64,
            1.0,
            0.0,
            "reported",
        );
        leaks.push(report.leak);
        let mut safe = IncompressibleReport::default();
        body.options.tolerance = 1.0;
        body.correct_velocity(&solid, &motion.position, &mut velocity, &kept, &mut safe).map_err(failed)?;
        out.near(
            "solves with a tolerance below the leak, at 1",
            &name,
            safe.loosened as f64,
            0.0,
            0.0,
            "reported",
        );
    }
    // The source saw one to two orders of magnitude at four sweeps; the specification's random rows 0.062.
    out.at_most(
        "part of the pairs' velocity that is left",
        "8 sweeps against 1",
        leaks[7] / leaks[0],
        1.0,
        "more sweeps keep better",
    );
    out.at_most(
        "part of the pairs' velocity that is left",
        "4 sweeps",
        leaks[3],
        0.1,
        "000:711: one to two orders of magnitude",
    );
    Ok(())
}
