//! Joint processes on random chains, loops and trees.

use super::*;
use crate::{Body, BodyState, Kind};
use splashdown_math::{Coordinates, Spin, Twist};
use splashdown_solve::testing::{TestNumbers, assert_adjoint};
use splashdown_solve::{InverseMass, VelocityLayout};

const KINDS: [JointKind; 8] = [
    JointKind::Rigid,
    JointKind::Point,
    JointKind::Hinge,
    JointKind::Twist,
    JointKind::Universal,
    JointKind::Prismatic,
    JointKind::PrismaticTwist,
    JointKind::Normal,
];

pub(super) struct System<const D: usize>
where
    Dim<D>: Space<D>,
{
    pub bodies: Vec<Body<D>>,
    pub joints: Vec<Joint<D>>,
    pub states: Vec<BodyState<D>>,
}

fn random_frame<const D: usize>(random: &mut TestNumbers, size: f64) -> Frame<D>
where
    Dim<D>: Space<D>,
{
    Frame {
        position: Vector::from_fn(|_, _| random.uniform(-size, size)),
        rotation: Dim::exp(&Spin::<D>::from_slice(
            &random.vector(3).iter().map(|v| 3.0 * v).collect::<Vec<_>>(),
        )),
    }
}

impl<const D: usize> System<D>
where
    Dim<D>: Space<D>,
{
    /// A random tree of bodies a metre apart, joined by joints of the given kinds in turn; `close` joins the last to the first as well.
    pub fn random(
        random: &mut TestNumbers,
        count: usize,
        kinds: &[JointKind],
        close: bool,
        branch: bool,
    ) -> Self {
        let mut bodies = Vec::new();
        let mut states: Vec<BodyState<D>> = Vec::new();
        let mut parents = Vec::new();
        for i in 0..count {
            let mass = 10f64.powf(random.uniform(-0.3, 0.3));
            let moments: Vec<f64> = (0..3).map(|_| mass * random.uniform(0.05, 0.1)).collect();
            let kind = if i == 0 && count.is_multiple_of(2) { Kind::Static } else { Kind::Dynamic };
            let body =
                Body::new(format!("b{i}"), kind, mass, &moments[..<Dim<D> as Space<D>>::SPIN]).unwrap();
            let parent = if branch && i > 0 { random.index(i) } else { i.saturating_sub(1) };
            let mut frame = random_frame(random, 0.2);
            if close {
                // A ring.
                let angle = std::f64::consts::TAU * i as f64 / count as f64;
                let radius = count as f64 / std::f64::consts::TAU;
                frame.position[0] += radius * angle.cos();
                frame.position[1] += radius * angle.sin();
            } else if i > 0 {
                frame.position += states[parent].frame.position;
                frame.position[0] += 1.0;
            }
            let moving = if body.is_dynamic() { 2.0 } else { 0.0 };
            let twist = Twist::<D>::read(&random.vector(6)) * moving;
            states.push(BodyState::new(&body, frame, &twist));
            bodies.push(body);
            parents.push(parent);
        }
        let frames: Vec<Frame<D>> = states.iter().map(|state| state.frame).collect();
        let mut pairs: Vec<(usize, usize)> = (1..count).map(|i| (parents[i], i)).collect();
        if close {
            pairs.push((count - 1, 0));
        }
        let joints = pairs
            .into_iter()
            .enumerate()
            .filter_map(|(n, (a, b))| {
                let mut frame = random_frame(random, 0.1);
                frame.position += (frames[a].position + frames[b].position) * 0.5;
                Joint::between(format!("j{n}"), kinds[n % kinds.len()], Some(a), Some(b), &frame, &frames)
                    .ok()
                    .and_then(|joint| joint.checked(&bodies).ok())
            })
            .collect();
        Self { bodies, joints, states }
    }

    fn frames(&self) -> Vec<Frame<D>> {
        self.states.iter().map(|state| state.frame).collect()
    }

    fn energy(&self) -> f64 {
        self.bodies
            .iter()
            .zip(&self.states)
            .filter(|(body, _)| body.is_dynamic())
            .map(|(body, state)| state.kinetic_energy(body))
            .sum()
    }

    /// Momentum and angular momentum about the origin.
    fn momenta(&self) -> (Vector<D>, Spin<D>) {
        let (mut p, mut l) = (Vector::zeros(), Spin::<D>::zero());
        for (body, state) in self.bodies.iter().zip(&self.states) {
            p += state.velocity * body.mass;
            l += state.angular_momentum + Dim::cross(&state.frame.position, &(state.velocity * body.mass));
        }
        (p, l)
    }

    fn plan(&self, dt: f64) -> Plan<D> {
        plan(&self.bodies, &self.joints, &self.states, 0.0, dt)
    }

    fn every(&self) -> Vec<usize> {
        (0..self.joints.len()).collect()
    }

    /// Displaces every body a little.
    fn scramble(&mut self, random: &mut TestNumbers, size: f64, turn: f64) {
        for (body, state) in self.bodies.iter().zip(&mut self.states) {
            if body.is_dynamic() {
                let twist = Twist {
                    linear: Vector::from_fn(|_, _| random.uniform(-size, size)),
                    angular: Spin::<D>::from_slice(&random.vector(3)) * turn,
                };
                let spin = state.twist(body).angular;
                state.frame = state.frame.moved(&twist, 1.0);
                state.angular_momentum = body.angular_momentum_of(&state.frame, &spin);
            }
        }
    }
}

fn projection_is_one<const D: usize>(random: &mut TestNumbers, close: bool)
where
    Dim<D>: Space<D>,
{
    let system = System::<D>::random(random, 8, &KINDS, close, !close);
    let frames = system.frames();
    let options = PostOptions { tolerance: 1e-15, max_iterations: 200 };
    let random_twists = |random: &mut TestNumbers| -> Vec<Twist<D>> {
        system
            .bodies
            .iter()
            .map(|body| Twist::<D>::read(&random.vector(6)) * f64::from(u8::from(body.is_dynamic())))
            .collect()
    };
    let apply = |twists: &[Twist<D>]| {
        let mut projected = twists.to_vec();
        project(&system.bodies, &system.joints, &frames, &mut projected, &options);
        projected
    };
    // a^T M b over dynamic bodies.
    let inner = |a: &[Twist<D>], b: &[Twist<D>]| -> f64 {
        (0..a.len())
            .filter(|&i| system.bodies[i].is_dynamic())
            .map(|i| {
                let body = &system.bodies[i];
                body.mass * a[i].linear.dot(&b[i].linear)
                    + a[i].angular.dot(&body.angular_momentum_of(&frames[i], &b[i].angular))
            })
            .sum()
    };
    let (v, w) = (random_twists(random), random_twists(random));
    let (pv, pw) = (apply(&v), apply(&w));
    let twice = apply(&pv);
    let scale = inner(&v, &v).sqrt().max(inner(&w, &w).sqrt());
    for i in 0..v.len() {
        let difference = twice[i] - pv[i];
        assert!(difference.dot(&difference).sqrt() < 1e-11 * scale, "P^2 != P: {difference:?}");
    }
    let asymmetry = inner(&w, &pv) - inner(&pw, &v);
    assert!(asymmetry.abs() < 1e-11 * scale * scale, "M P is not symmetric: {asymmetry:e}");
    assert!(inner(&pv, &pv) <= inner(&v, &v) * (1.0 + 1e-12));
    // Sweeps are symmetric too, lower the energy, and tend to the projection.
    let sweep = |twists: &[Twist<D>], n: usize| {
        let mut swept = twists.to_vec();
        project_by_sweeps(&system.bodies, &system.joints, &frames, &mut swept, n);
        swept
    };
    let (sv, sw) = (sweep(&v, 4), sweep(&w, 4));
    assert!((inner(&w, &sv) - inner(&sw, &v)).abs() < 1e-9 * scale * scale);
    let energies: Vec<f64> = [1, 4, 40].map(|n| inner(&sweep(&v, n), &sweep(&v, n))).to_vec();
    assert!(energies.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-12)), "{energies:?}");
    assert!(energies[2] >= inner(&pv, &pv) * (1.0 - 1e-9));
}

#[test]
fn post_stabilisation_is_a_projection_that_is_symmetric_in_the_metric_of_mass() {
    let mut random = TestNumbers::new(1);
    for n in 0..20 {
        projection_is_one::<2>(&mut random, n % 2 == 0);
        projection_is_one::<3>(&mut random, n % 2 == 0);
    }
}

fn energy_falls_with_iterations<const D: usize>(random: &mut TestNumbers)
where
    Dim<D>: Space<D>,
{
    let start = System::<D>::random(random, 13, &[JointKind::Point, JointKind::Hinge], true, false);
    let mut last = start.energy();
    let momenta = start.momenta();
    for max_iterations in 1..12 {
        let mut system = System {
            bodies: start.bodies.clone(),
            joints: start.joints.clone(),
            states: start.states.clone(),
        };
        let options = PostOptions { tolerance: 1e-14, max_iterations };
        let report = post_stabilize(
            &system.bodies,
            &system.joints,
            &system.every(),
            &mut system.states,
            None,
            &options,
        );
        let energy = system.energy();
        assert!(energy <= last * (1.0 + 1e-13), "{max_iterations}: {energy} after {last}");
        last = energy;
        let now = system.momenta();
        assert!((now.0 - momenta.0).norm() < 1e-12 && (now.1 - momenta.1).norm() < 1e-12);
        if max_iterations == 11 {
            assert!(report.speed < 1e-10, "{}", report.speed);
        }
    }
}

#[test]
fn kinetic_energy_never_rises_however_early_the_solve_ends() {
    let mut random = TestNumbers::new(2);
    for _ in 0..10 {
        energy_falls_with_iterations::<2>(&mut random);
        energy_falls_with_iterations::<3>(&mut random);
    }
}

fn joints_hold_after_the_step<const D: usize>(random: &mut TestNumbers, kinds: &[JointKind], close: bool)
where
    Dim<D>: Space<D>,
{
    let mut system = System::<D>::random(random, 11, kinds, close, false);
    // Drift, and velocities of 2 m/s and 2 rad/s that the joints do not allow.
    system.scramble(random, 0.002, 0.002);
    let momenta = system.momenta();
    let plan = system.plan(1.0 / 30.0);
    let options = PreOptions { goal: Goal::Vanish, tolerance: 1e-9, ..PreOptions::default() };
    let mut spent = Impulses::none(system.joints.len());
    let report = pre_stabilize(
        &system.bodies,
        &system.joints,
        &system.every(),
        &mut system.states,
        &plan,
        &mut spent,
        &options,
    );
    assert!(report.error < 1e-8, "{kinds:?} {close}: {report:?}");
    assert!(report.iterations <= 10, "{kinds:?} {close}: {report:?}");
    let now = system.momenta();
    let size: f64 = system.bodies.iter().map(|b| b.mass).sum::<f64>() * 10.0;
    assert!((now.0 - momenta.0).norm() < 1e-13 * size && (now.1 - momenta.1).norm() < 1e-12 * size);
}

#[test]
fn pre_stabilised_joints_hold_after_the_step() {
    use JointKind::*;
    let mut random = TestNumbers::new(3);
    for _ in 0..10 {
        for kinds in [&[Point][..], &[Rigid], &[Hinge], &[Universal], &[Prismatic], &[PrismaticTwist], &KINDS]
        {
            joints_hold_after_the_step::<2>(&mut random, kinds, false);
            joints_hold_after_the_step::<3>(&mut random, kinds, false);
        }
        joints_hold_after_the_step::<2>(&mut random, &[Point], true);
        joints_hold_after_the_step::<3>(&mut random, &[Point], true);
    }
}

#[test]
fn scrambled_chains_and_loops_assemble() {
    let mut random = TestNumbers::new(4);
    for (count, size, close) in [(11, 0.5, false), (11, 0.5, true), (31, 1.0, false)] {
        for _ in 0..5 {
            let mut system = System::<3>::random(&mut random, count, &[JointKind::Point], close, false);
            system.scramble(&mut random, size, size);
            let mut frames = system.frames();
            let centre = |frames: &[Frame<3>]| -> Vector<3> {
                system.bodies.iter().zip(frames).map(|(body, frame)| frame.position * body.mass).sum()
            };
            let before = centre(&frames);
            let options = AssemblyOptions { tolerance: 1e-10, max_iterations: 30, even: false };
            let report = assemble(&system.bodies, &system.joints, &mut frames, &options);
            assert!(report.error < 1e-8, "{count} links, {size}, {close}: {report:?}");
            assert!((centre(&frames) - before).norm() < 1e-10);
        }
    }
}

/// A weight of 300 kg out of reach of three links of 10 g that are nearly straight: they can give a millimetre, the weight must give the rest.
fn a_weight_comes_back_to_its_taut_chain<const D: usize>(limited: bool)
where
    Dim<D>: Space<D>,
{
    let along = |x: f64| {
        let mut v = Vector::<D>::zeros();
        v[0] = x;
        v
    };
    let body = |name: &str, kind, mass: f64| Body::<D>::new(name, kind, mass, &[mass / 12.0; 3]).unwrap();
    let bodies = [
        body("wall", Kind::Static, 1.0),
        body("a", Kind::Dynamic, 0.01),
        body("b", Kind::Dynamic, 0.01),
        body("c", Kind::Dynamic, 0.01),
        body("weight", Kind::Dynamic, 300.0),
    ];
    let at = |x: f64| Frame::<D> { position: along(x), rotation: Dim::identity() };
    let straight = [at(-0.5), at(0.5), at(1.5), at(2.5), at(3.5)];
    let joints: Vec<Joint<D>> = (0..4)
        .map(|i| {
            let between =
                Joint::between("link", JointKind::Point, Some(i), Some(i + 1), &at(i as f64), &straight);
            let joint = between.unwrap();
            if limited { joint.limit_angular(0, -0.2, 0.2) } else { joint }.checked(&bodies).unwrap()
        })
        .collect();
    let mut frames = straight;
    for (i, bend) in [(1, 0.02), (2, -0.03), (3, 0.01)] {
        frames[i].rotation = Dim::exp(&Spin::<D>::from_slice(&[bend, 0.0, bend]));
    }
    frames[4] = at(3.55);
    let report = assemble(&bodies, &joints, &mut frames, &AssemblyOptions::default());
    assert!(report.error < 1e-11, "{report:?}");
    // No farther than it must: the links are straight.
    let [reach, aside] = [frames[4].position[0], (frames[4].position - along(3.5)).norm()];
    assert!((3.499..3.5 + 1e-9).contains(&reach) && aside < 1e-3, "{:?}", frames[4].position);
}

#[test]
fn weights_come_back_to_their_taut_chains() {
    a_weight_comes_back_to_its_taut_chain::<2>(false);
    a_weight_comes_back_to_its_taut_chain::<3>(false);
    a_weight_comes_back_to_its_taut_chain::<2>(true);
    a_weight_comes_back_to_its_taut_chain::<3>(true);
}

#[test]
fn joints_that_contradict_each_other_settle() {
    let mut random = TestNumbers::new(6);
    // Hinges with random axes in a ring of ten: more constraints than freedoms, and displaced.
    for _ in 0..5 {
        let mut system = System::<3>::random(&mut random, 11, &[JointKind::Hinge], true, false);
        system.scramble(&mut random, 0.002, 0.002);
        let mut frames = system.frames();
        let report = assemble(&system.bodies, &system.joints, &mut frames, &AssemblyOptions::default());
        assert!(report.error < 1e-3 && report.error <= report.initial_error, "{report:?}");
    }
    // Two rods of which each is joined to both ends of a gap that is too wide.
    let body = |name: &str| Body::<2>::new(name, Kind::Dynamic, 1.0, &[0.1]).unwrap();
    let bodies = [body("a"), body("b")];
    let mut frames = [Frame::<2>::identity(); 2];
    let pin = |parent: Option<usize>, child: usize, x: f64, world: f64| {
        let mut joint =
            Joint::between("pin", JointKind::Point, parent, Some(child), &Frame::identity(), &frames)
                .unwrap();
        joint.child_frame.position[0] = x;
        joint.parent_frame.position[0] = world;
        joint.checked(&bodies).unwrap()
    };
    let joints = [pin(None, 0, -0.5, -2.0), pin(Some(0), 1, -0.5, 0.5), pin(None, 1, 0.5, 2.0)];
    let report = assemble(&bodies, &joints, &mut frames, &AssemblyOptions::default());
    // 4 m to span with 2 m of rods: the least error leaves what is missing.
    assert!(report.error > 0.1 && frames.iter().all(|f| f.position.norm() < 2.0), "{report:?} {frames:?}");
}

#[test]
fn pairwise_stabilisation_agrees_with_the_global_one() {
    let mut random = TestNumbers::new(8);
    for _ in 0..10 {
        let system = System::<3>::random(&mut random, 5, &[JointKind::Point, JointKind::Hinge], false, false);
        let mut global = system.states.clone();
        post_stabilize(
            &system.bodies,
            &system.joints,
            &system.every(),
            &mut global,
            None,
            &PostOptions::default(),
        );
        let mut pairwise = system.states.clone();
        post_stabilize_pairwise(&system.bodies, &system.joints, &system.every(), &mut pairwise, None, 400);
        for (a, b) in global.iter().zip(&pairwise) {
            assert!((a.velocity - b.velocity).norm() < 1e-6, "{:?} {:?}", a.velocity, b.velocity);
        }
        // Pre-stabilisation of one joint at a time brings its error below the tolerance as well, if slowly.
        let plan = system.plan(1.0 / 60.0);
        let mut spent = Impulses::none(system.joints.len());
        let options = PreOptions { tolerance: 1e-7, goal: Goal::Vanish, ..PreOptions::default() };
        let mut states = system.states.clone();
        let report = pre_stabilize_pairwise(
            &system.bodies,
            &system.joints,
            &system.every(),
            &mut states,
            &plan,
            &mut spent,
            (&options, 2000),
        );
        assert!(report.error < 1e-6, "{report:?}");
    }
}

fn block_is_consistent<const D: usize>()
where
    Dim<D>: Space<D>,
{
    let mut random = TestNumbers::new(9);
    let system = System::<D>::random(&mut random, 6, &KINDS, true, false);
    let layout = VelocityLayout::new::<D>(0, 2, system.bodies.len());
    let frames = system.frames();
    let block = rows::block(&system.joints, &frames, layout).unwrap();
    let mut inverse = InverseMass::zero(layout);
    for (i, body) in system.bodies.iter().enumerate() {
        inverse.set_body::<D>(i, body.inverse_mass(), &body.world_inverse_inertia(&frames[i])).unwrap();
    }
    assert_adjoint(&block, &inverse);
    // Solved through the coupled system, it is the post-stabilisation.
    let mut coupled = splashdown_solve::CoupledSystem::new(&inverse);
    coupled.push(&block).unwrap();
    let mut velocity = vec![0.0; layout.len()];
    for (i, state) in system.states.iter().enumerate() {
        state.twist(&system.bodies[i]).write(&mut velocity[layout.body(i)]);
    }
    let mut solver = splashdown_solve::CoupledSolver::default();
    solver.options.stopping.relative = 1e-12;
    let report = solver.solve(&coupled, &mut velocity, splashdown_solve::SolverAids::default()).unwrap();
    assert!(report.converged(), "{report}");
    let mut states = system.states.clone();
    post_stabilize(
        &system.bodies,
        &system.joints,
        &system.every(),
        &mut states,
        None,
        &PostOptions::default(),
    );
    for (i, state) in states.iter().enumerate() {
        let twist = state.twist(&system.bodies[i]);
        let solved = Twist::<D>::read(&velocity[layout.body(i)]);
        let difference = twist - solved;
        assert!(difference.dot(&difference).sqrt() < 1e-8, "body {i}: {twist:?} {solved:?}");
    }
}

#[test]
fn joints_are_a_block_of_the_coupled_system() {
    block_is_consistent::<2>();
    block_is_consistent::<3>();
}

/// Responses are those of the projection: symmetric, positive, along joints nothing; what joints answer to a push by contact closes them again and keeps momenta.
fn responses_hold_joints<const D: usize>(random: &mut TestNumbers, close: bool)
where
    Dim<D>: Space<D>,
{
    // An odd number of bodies, so that none is static.
    let flat = [JointKind::Point, JointKind::Rigid, JointKind::Prismatic];
    let kinds = if D == 2 { &flat[..] } else { &KINDS[..5] };
    let mut system = System::<D>::random(random, 7, kinds, close, !close);
    let (bodies, joints, every) = (system.bodies.clone(), system.joints.clone(), system.every());
    post_stabilize(&bodies, &joints, &every, &mut system.states, None, &PostOptions::default());
    let plan = system.plan(1.0 / 60.0);
    let touched = vec![true; bodies.len()];
    let articulated = Articulated::new(&bodies, &joints, &system.states, &plan, &touched, false);
    let set = articulated.set_of(0).expect("a set");
    assert_eq!(set.bodies.len(), bodies.len());
    assert_eq!(articulated.joints(), every);
    let respond = |pushed: usize, wrench: &Twist<D>| -> Vec<Twist<D>> {
        let mut flat = [0.0; 6];
        wrench.write(&mut flat);
        let columns = set.response(pushed).expect("touched");
        columns
            .iter()
            .map(|columns| {
                columns.iter().zip(flat).take(Twist::<D>::LEN).fold(Twist::zero(), |sum, (c, x)| sum + *c * x)
            })
            .collect()
    };
    for _ in 0..10 {
        let [a, b] = [random.index(bodies.len()), random.index(bodies.len())];
        let [on_a, on_b] = [Twist::<D>::read(&random.vector(6)), Twist::<D>::read(&random.vector(6))];
        let (by_a, by_b) = (respond(a, &on_a), respond(b, &on_b));
        let work = on_a.dot(&by_a[a]);
        assert!(work > 0.0);
        let asymmetry = on_b.dot(&by_a[b]) - on_a.dot(&by_b[a]);
        assert!(asymmetry.abs() < 1e-7 * (work + on_b.dot(&by_b[b])), "{asymmetry:e}");
        let fastest = by_a.iter().map(|twist| twist.dot(twist).sqrt()).fold(0.0, f64::max);
        for demand in &set.demands {
            let speed = demand.speed(|place| by_a[place as usize]) - demand.carried;
            assert!(speed.abs() < 1e-6 * fastest, "{speed:e} of {fastest}");
        }
        // The push itself, and what joints answer.
        let before = system.states.clone();
        let push = on_a;
        system.states[a].velocity += push.linear * bodies[a].inverse_mass();
        system.states[a].angular_momentum += push.angular;
        let pushed = system.momenta();
        let held = hold_against_contact(&bodies, &joints, &every, &before, &mut system.states, &plan);
        assert!(held.speed < 1e-9, "{:e}", held.speed);
        let after = system.momenta();
        assert!((pushed.0 - after.0).norm() < 1e-12 && (pushed.1 - after.1).norm() < 1e-12);
        for (i, ((now, before), moved)) in system.states.iter().zip(&before).zip(&by_a).enumerate() {
            let difference = now.twist(&bodies[i]) - before.twist(&bodies[i]) - *moved;
            assert!(difference.dot(&difference).sqrt() < 1e-6 * fastest, "{difference:?}");
        }
        system.states = before;
    }
}

#[test]
fn jointed_bodies_answer_a_push_together() {
    let mut random = TestNumbers::new(77);
    for close in [false, true] {
        responses_hold_joints::<2>(&mut random, close);
        responses_hold_joints::<3>(&mut random, close);
    }
}

#[test]
fn limits_stop_outward_motion_only() {
    let body = Body::<3>::new("door", Kind::Dynamic, 2.0, &[0.1, 0.2, 0.3]).unwrap();
    let frames = [Frame::<3>::identity()];
    let hinge = Joint::between("hinge", JointKind::Hinge, None, Some(0), &Frame::identity(), &frames)
        .unwrap()
        .limit_angular(0, 0.0, 1.0)
        .checked(std::slice::from_ref(&body))
        .unwrap();
    let spin_after = |rate: f64| {
        let twist = Twist { linear: Vector::zeros(), angular: Vector::from([rate, 0.0, 0.0]) };
        let mut states = [BodyState::new(&body, frames[0], &twist)];
        let bodies = std::slice::from_ref(&body);
        post_stabilize(
            bodies,
            std::slice::from_ref(&hinge),
            &[0],
            &mut states,
            None,
            &PostOptions::default(),
        );
        states[0].twist(&body).angular[0]
    };
    assert!(spin_after(-3.0).abs() < 1e-12);
    assert!((spin_after(3.0) - 3.0).abs() < 1e-12);
    // Too fast to stop at the other end: pre-stabilisation lands exactly on the limit.
    let twist = Twist { linear: Vector::zeros(), angular: Vector::from([50.0, 0.0, 0.0]) };
    let mut states = [BodyState::new(&body, frames[0], &twist)];
    let bodies = std::slice::from_ref(&body);
    let joints = std::slice::from_ref(&hinge);
    let plan = plan(bodies, joints, &states, 0.0, 1.0 / 30.0);
    let mut spent = Impulses::none(1);
    let options = PreOptions::default();
    let report = pre_stabilize(bodies, joints, &[0], &mut states, &plan, &mut spent, &options);
    assert!(report.error < 1e-10, "{report:?}");
    assert!((states[0].twist(&body).angular[0] - 30.0).abs() < 1e-8);
}

#[test]
fn impossible_joints_are_refused_by_name() {
    let body = |name: &str, kind| Body::<3>::new(name, kind, 1.0, &[1.0; 3]).unwrap();
    let bodies = [body("a", Kind::Dynamic), body("s", Kind::Static), body("k", Kind::Kinematic)];
    let frames = [Frame::<3>::identity(); 3];
    let joint =
        |parent, child| Joint::between("j", JointKind::Hinge, parent, child, &Frame::identity(), &frames);
    let refused = |joint: Joint<3>| joint.checked(&bodies).unwrap_err().to_string();
    assert!(matches!(joint(Some(0), Some(7)), Err(JointError::Body { index: 7, .. })));
    assert!(refused(joint(Some(0), Some(0)).unwrap()).contains("`a` to itself"));
    assert!(refused(joint(None, None).unwrap()).contains("`world` to itself"));
    assert!(refused(joint(Some(1), Some(2)).unwrap()).contains("neither `s` nor `k` can move"));
    assert!(refused(joint(None, Some(1)).unwrap()).contains("neither `world` nor `s`"));
    assert!(refused(joint(None, Some(0)).unwrap().limit_angular(0, 1.0, -1.0)).contains("reversed"));
    assert!(refused(joint(None, Some(0)).unwrap().limit_angular(0, -4.0, 1.0)).contains("-pi to pi"));
    let drive = |coordinate: usize, cap: f64| Drive {
        coordinate,
        control: Control::Velocity { target: Signal::Constant(1.0), gain: f64::INFINITY },
        cap,
    };
    assert!(refused(joint(None, Some(0)).unwrap().drive(drive(4, 1.0))).contains("locked"));
    assert!(refused(joint(None, Some(0)).unwrap().drive(drive(3, -1.0))).contains("cap"));
    assert!(JointKind::Universal.freedoms::<2>().is_none());
}
