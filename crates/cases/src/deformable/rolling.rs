//! A tube of cloth, held by edge and bending springs only, is thrown down a rough incline: friction spins it up until it rolls, and from then on the nodes on the incline stand still
//! while the tube moves on. The older way to collide, which knows no contact forces, has too little friction, and its tube slips.
//!
//! What slip remains is that of elastic rolling (F. W. Carter, Proc. R. Soc. A 112, 1926): a node that is about to be lifted gives up the shear it has been loaded with as
//! soon as its load no longer holds it. The way that takes is load over stiffness, whatever the friction: 2 % of the speed with springs of 150 N, 0.8 % with those used here.
//!
//! Source: spec/deformable-solids.md E13.

use super::set_up::{failed, flat, run_steps};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_deformable::collide::{CollisionMethod, Obstacle};
use splashdown_deformable::integrate::{Integrator, Motion, Scheme};
use splashdown_deformable::{EdgeSpring, EdgeSprings, Solid, bending_pairs};
use splashdown_geometry::mesh::{Mesh, TriangleMesh};
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Frame, Vector};

pub(super) const CASE: Case = Case {
    name: "deformable/rolling-cloth",
    spec: "E13, DS-26, DS-35, DS-36",
    summary: "a tube of cloth thrown down a rough incline rolls without slipping; with the older collisions it slips",
    source: "spec/deformable-solids.md E13",
    speed: Speed::Slow,
    seconds: 20.0,
    run,
};

const AROUND: u32 = 36;
const ALONG: u32 = 3;
const RADIUS: f64 = 0.1;
/// Modulus of the springs (N).
const MODULUS: f64 = 4000.0;
/// More than half the angle between neighbours, or a stiff polygon would come to rest on one of its sides.
const SLOPE: f64 = 8.0;
/// Short enough that the tube does not take off from its corners: `v^2 / r < g`.
const END: f64 = 0.6;

/// A tube along z that touches the plane `y = 0`.
fn tube() -> TriangleMesh<3> {
    let mut points = Vec::new();
    for k in 0..ALONG {
        for i in 0..AROUND {
            let angle = 2.0 * std::f64::consts::PI * f64::from(i) / f64::from(AROUND);
            let z = 0.03 * f64::from(k);
            points.push(Vector::<3>::new(RADIUS * angle.sin(), RADIUS * (1.0 - angle.cos()), z));
        }
    }
    let node = |k: u32, i: u32| k * AROUND + i % AROUND;
    let mut elements = Vec::new();
    for k in 0..ALONG - 1 {
        for i in 0..AROUND {
            let [a, b, c, d] = [node(k, i), node(k, i + 1), node(k + 1, i + 1), node(k + 1, i)];
            if (i + k) % 2 == 0 {
                elements.extend([[a, b, c], [a, c, d]]);
            } else {
                elements.extend([[a, b, d], [b, c, d]]);
            }
        }
    }
    Mesh { points, elements }
}

/// Mean slip of the nodes on the incline over the speed of the tube, in the last third of the time.
fn slip(method: CollisionMethod) -> Result<f64, CaseError> {
    let mesh = tube();
    let angle = SLOPE.to_radians();
    // The plane is level in these coordinates, and gravity is not.
    let gravity = Vector::<3>::new(angle.sin(), -angle.cos(), 0.0) * 9.81;
    let count = mesh.points.len();
    let mut solid = Solid::new(vec![0.024 / f64::from(AROUND); count], vec![false; count], gravity);
    let inverses = solid.inverse_masses();
    let spring = |modulus: f64| {
        let (points, inverses) = (&mesh.points, &inverses);
        move |ends: [u32; 2]| {
            let rest = (points[ends[0] as usize] - points[ends[1] as usize]).norm();
            EdgeSpring::with_modulus(ends, modulus, 0.3, rest, inverses)
        }
    };
    let (edges, _) = mesh.edge_elements();
    let edges: Vec<EdgeSpring> = edges.iter().copied().map(spring(MODULUS)).collect();
    solid.add(EdgeSprings::<3>::new("edges", &edges));
    let bending: Vec<EdgeSpring> = bending_pairs(&mesh).into_iter().map(spring(MODULUS)).collect();
    solid.add(EdgeSprings::<3>::new("bending", &bending));
    let mut motion = Motion { position: flat(&mesh.points), velocity: vec![0.0; 3 * count], time: 0.0 };
    motion.velocity.iter_mut().step_by(3).for_each(|speed| *speed = 0.3);
    let mut integrator = Integrator::new(Scheme::B);
    integrator.method = method;
    let plane = Shape::half_space(Vector::<3>::new(0.0, 1.0, 0.0), 0.0).map_err(failed("the incline"))?;
    integrator.obstacles.push(Obstacle::fixed("incline", plane, Frame::identity(), 1.0));
    let dt = 0.4 * solid.stable_step();
    let from = 2.0 / 3.0 * END;
    let (mut slips, mut touches) = (0.0, 0);
    for step in 0..(END / dt) as usize {
        run_steps(&mut integrator, &mut solid, &mut motion, dt, 1)?;
        if step as f64 * dt < from {
            continue;
        }
        let centre = motion.velocity.iter().step_by(3).sum::<f64>() / count as f64;
        for touch in integrator.touches() {
            let v = motion.speed::<3>(touch.node as usize);
            // A node that has just been lifted is not on the incline any more.
            if v[1].abs() < 1e-9 {
                slips += v[0].hypot(v[2]) / centre;
                touches += 1;
            }
        }
    }
    if touches == 0 {
        return Err(CaseError::new("measuring the slip", "nothing touches the incline"));
    }
    Ok(slips / f64::from(touches))
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let resolution = "36 x 3 nodes, slope 8 degrees, friction 1";
    let (swept, old) = (slip(CollisionMethod::Swept)?, slip(CollisionMethod::Projected)?);
    out.at_most("slip of nodes on the incline over the tube's speed", resolution, swept, 0.01, CASE.source);
    out.at_least("slip with the older method over the tube's speed", resolution, old, 0.1, CASE.source);
    out.at_least(
        "slip with the older method over that with the new one",
        resolution,
        old / swept,
        10.0,
        CASE.source,
    );
    Ok(())
}
