//! Interpenetration resolution. One central body against its neighbours: the closed forms for static neighbours are the limits of heavy ones; points
//! that overlapped meet; and one solve on a light body between heavy ones does what pairwise passes need hundreds of sweeps for (the
//! "messenger problem").
//!
//! Source: spec/rigid-bodies.md 3.12 (Appendix B of the source), rows A12 and A13.

use crate::{Case, CaseError, Measurements, Speed};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use splashdown_math::{Coordinates, Dim, Space, Twist, Vector};
use splashdown_rigid::contact::InverseInertia;
use splashdown_rigid::contact::push_out::{Outer, resolve};

pub(super) const CASE: Case = Case {
    name: "rigid/push-out",
    spec: "A12, A13 (rigid-bodies)",
    summary: "push-out with static neighbours is the limit of heavy ones in every case; heavy-light-heavy is resolved by one solve",
    source: "exact limit; 383 and 3803 pairwise sweeps of spec/rigid-bodies.md",
    speed: Speed::Fast,
    seconds: 0.3,
    run,
};

fn difference<const D: usize>(a: &Twist<D>, b: &Twist<D>) -> f64
where
    Dim<D>: Space<D>,
{
    (a.linear - b.linear).norm() + Coordinates::norm(&(a.angular - b.angular))
}

/// Largest difference between static neighbours and neighbours `1/limit` times as heavy, over random configurations of the given kind.
fn limit<const D: usize>(arrange: &str, rng: &mut Pcg64) -> f64
where
    Dim<D>: Space<D>,
{
    // Between the error of the limit and round-off.
    const HEAVY: f64 = 1e-7;
    let mut worst = 0.0f64;
    for _ in 0..200 {
        let mut number = |scale: f64| scale * (2.0 * rng.random::<f64>() - 1.0);
        let mut vector = |scale: f64| Vector::<D>::from_fn(|_, _| number(scale));
        let moments: Vec<f64> = (0..<Dim<D> as Space<D>>::SPIN).map(|_| 2.0 + vector(1.0)[0]).collect();
        let inverse = InverseInertia::<D> {
            mass: 1.5 + vector(1.0)[0],
            inertia: Dim::inertia_from_principal(&moments),
        };
        let (here, along) = (vector(1.0), vector(1.0).normalize());
        let (fixed, free) = match arrange {
            "all dynamic" => (0, 3),
            "one static" => (1, 2),
            "coincident" | "collinear" => (3, 2),
            _ => (4, 1),
        };
        let mut outer = Vec::new();
        for n in 0..fixed + free {
            let dynamic = n >= fixed;
            let arm = match arrange {
                "coincident" if !dynamic => here,
                "collinear" if !dynamic => here + along * (f64::from(n) - 0.7),
                _ => vector(1.5),
            };
            let inverse = if dynamic {
                InverseInertia { mass: 1.5 + vector(1.0)[0], inertia: Dim::inertia_from_principal(&moments) }
            } else {
                InverseInertia::infinite()
            };
            outer.push(Outer { arm, own_arm: vector(1.0), inverse, displacement: vector(0.1), normal: None });
        }
        let found = resolve(&inverse, &outer);
        // The same with heavy bodies that do not turn: K = HEAVY delta, as the static weight delta stands for; extrapolated to none.
        let mut heavy = |weight: f64| {
            for o in outer.iter_mut().filter(|o| o.inverse.mass <= 2.0 * HEAVY) {
                o.inverse = InverseInertia::particle(weight);
            }
            resolve(&inverse, &outer).centre
        };
        let reference = heavy(HEAVY) * 2.0 - heavy(2.0 * HEAVY);
        worst = worst.max(difference(&found.centre, &reference));
        // All dynamic: every pair of points meets, to round-off.
        if arrange == "all dynamic" {
            for (o, moved) in outer.iter().zip(&found.outer) {
                let closing = found.centre.at(&o.arm) - moved.at(&o.own_arm) - o.displacement;
                worst = worst.max(closing.norm());
            }
            // Nobody from outside pushes: the centre of mass of all stays.
            let shift = found.centre.linear / inverse.mass
                + outer
                    .iter()
                    .zip(&found.outer)
                    .map(|(o, moved)| moved.linear / o.inverse.mass)
                    .sum::<Vector<D>>();
            worst = worst.max(shift.norm());
        }
    }
    worst
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let mut rng = Pcg64::seed_from_u64(12);
    for arrange in ["all dynamic", "one static", "coincident", "collinear", "general"] {
        let found = limit::<3>(arrange, &mut rng);
        out.at_most(&format!("{arrange}: distance to the limit"), "3D, 200 random cases", found, 1e-6, "A12");
        if arrange != "collinear" {
            let found = limit::<2>(arrange, &mut rng);
            out.at_most(
                &format!("{arrange}: distance to the limit"),
                "2D, 200 random cases",
                found,
                1e-6,
                "A12",
            );
        }
    }
    // Displacements are finite rotations: what is left of the overlap is of second order in it.
    let left = |size: f64| {
        let mut rng = Pcg64::seed_from_u64(21);
        let mut vector = |scale: f64| Vector::<3>::from_fn(|_, _| scale * (2.0 * rng.random::<f64>() - 1.0));
        let body = |mass: f64| InverseInertia::<3> {
            mass: 1.0 / mass,
            inertia: Dim::<3>::inertia_from_principal(&[1.0, 2.0, 3.0]),
        };
        let outer: Vec<Outer<3>> = (0..3)
            .map(|k| Outer {
                arm: vector(1.0),
                own_arm: vector(1.0),
                inverse: body(0.5 + f64::from(k)),
                displacement: vector(size),
                normal: None,
            })
            .collect();
        let moved = resolve(&body(1.0), &outer);
        let point = |twist: &Twist<3>, arm: &Vector<3>| twist.linear + Dim::<3>::exp(&twist.angular) * arm;
        let apart = outer.iter().zip(&moved.outer).map(|(o, own)| {
            let before = o.arm - o.own_arm;
            (point(&moved.centre, &o.arm) - point(own, &o.own_arm) - before - o.displacement).norm()
        });
        apart.fold(0.0, f64::max)
    };
    let order = (left(1e-2) / left(1e-3)).log10();
    out.near("what is left of an overlap: order in it", "3D, 0.01 and 0.001", order, 2.0, 0.1, "A12");

    // A static centre: each neighbour moves out by itself.
    let ball = InverseInertia::<3> { mass: 1.0, inertia: Dim::<3>::inertia_from_principal(&[2.5; 3]) };
    let push = Outer {
        arm: Vector::from([1.0, 0.0, 0.0]),
        own_arm: Vector::from([-1.0, 0.0, 0.0]),
        inverse: ball,
        displacement: Vector::from([-0.1, 0.0, 0.0]),
        normal: None,
    };
    let moved = resolve(&InverseInertia::infinite(), &[push]);
    let meets = (moved.outer[0].at(&push.own_arm) + push.displacement).norm();
    out.at_most("static centre: distance of the points", "3D", meets, 1e-12, "A12");

    // Heavy, light, heavy in a row, each overlap 1.
    for (ratio, sweeps) in [(100.0, 383.0), (1000.0, 3803.0)] {
        let body = |mass: f64| InverseInertia::<3> {
            mass: 1.0 / mass,
            inertia: Dim::<3>::inertia_from_principal(&[1e-9; 3]),
        };
        let side = |x: f64| Outer {
            arm: Vector::from([x, 0.0, 0.0]),
            own_arm: Vector::from([-x, 0.0, 0.0]),
            inverse: body(ratio),
            displacement: Vector::from([-x, 0.0, 0.0]),
            normal: None,
        };
        let outer = [side(1.0), side(-1.0)];
        let moved = resolve(&body(1.0), &outer);
        let left = outer
            .iter()
            .zip(&moved.outer)
            .map(|(o, m)| (moved.centre.linear - m.linear - o.displacement).norm());
        let left = left.fold(0.0, f64::max);
        out.at_most(
            &format!("ratio {ratio}: overlap left by one solve"),
            "heavy-light-heavy",
            left,
            1e-9,
            "A13",
        );
        // Pairwise: each pass closes one pair by mass, as contact alone would.
        let mut x = [0.0f64; 3];
        let masses = [ratio, 1.0, ratio];
        let mut count = 0.0;
        loop {
            for k in 0..2 {
                let overlap = 1.0 - (x[k + 1] - x[k]);
                if overlap > 0.0 {
                    let total = 1.0 / masses[k] + 1.0 / masses[k + 1];
                    x[k] -= overlap / masses[k] / total;
                    x[k + 1] += overlap / masses[k + 1] / total;
                }
            }
            count += 1.0;
            let worst = (0..2).map(|k| 1.0 - (x[k + 1] - x[k])).fold(0.0, f64::max);
            if worst < 1e-3 || count > 1e5 {
                break;
            }
        }
        out.near(
            &format!("ratio {ratio}: pairwise sweeps to 1e-3"),
            "heavy-light-heavy",
            count,
            sweeps,
            0.1 * sweeps,
            "A13",
        );
    }
    Ok(())
}
