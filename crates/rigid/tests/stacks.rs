//! Stacks through the stages of contact, without the coupled step.

use splashdown_math::{Dim, Frame, Space, Vector};
use splashdown_rigid::{
    Body, ContactMemory, ContactMethod, ContactOptions, ContactSolver, ContactStage, EnergyFix, Geometry,
    Kind, Material, Motion, OrientationOrder,
};
use std::sync::Arc;

struct Small {
    bodies: Vec<Body<3>>,
    frames: Vec<Frame<3>>,
    motions: Vec<Motion<3>>,
    memory: ContactMemory<3>,
    solver: ContactSolver<3>,
    options: ContactOptions,
    /// Kinetic energy before and after contact at the end of the last step (J).
    energies: [f64; 2],
}

impl Small {
    fn new() -> Self {
        let floor = Arc::new(Geometry::half_space(Vector::from([0.0, 1.0, 0.0])).unwrap());
        let floor =
            Body::with_geometry("floor", Kind::Static, 1.0, floor).unwrap().material(Material::new(0.0, 0.5));
        Self {
            bodies: vec![floor],
            frames: vec![Frame::identity()],
            motions: vec![Motion::zero()],
            memory: ContactMemory::default(),
            solver: ContactSolver::default(),
            options: ContactOptions::default(),
            energies: [0.0; 2],
        }
    }

    fn add(&mut self, geometry: &Arc<Geometry<3>>, mass: f64, position: [f64; 3]) {
        let body = Body::with_geometry("b", Kind::Dynamic, mass, geometry.clone()).unwrap();
        self.bodies.push(body.material(Material::new(0.0, 0.5)));
        self.frames.push(Frame { position: Vector::from(position), rotation: Dim::<3>::identity() });
        self.motions.push(Motion::zero());
    }

    /// The five steps with gravity only.
    fn step(&mut self, dt: f64) {
        let stage = ContactStage {
            bodies: &self.bodies,
            dt,
            options: &self.options,
            order: OrientationOrder::Second,
            fix: EnergyFix::Always,
            linked: &[],
            asleep: &[],
            siblings: &[],
            soft_friction: &[],
            probes: &[],
            articulated: None,
        };
        let push = |motions: &mut [Motion<3>], time: f64| {
            for (body, motion) in self.bodies.iter().zip(motions) {
                if body.is_dynamic() {
                    motion.velocity.y -= 9.81 * time;
                }
            }
        };
        let mut half = self.motions.clone();
        push(&mut half, 0.5 * dt);
        self.solver.collide(&stage, &self.frames, &mut self.motions, &half);
        self.solver.contact_half(&stage, &self.frames, &self.motions, &mut half, &self.memory);
        let mut frames: Vec<Frame<3>> =
            (0..half.len()).map(|i| stage.evolve(i, &self.frames[i], &half[i])).collect();
        self.solver.push_out(&stage, &mut frames);
        push(&mut self.motions, dt);
        let energy = |motions: &[Motion<3>]| -> f64 {
            let moving =
                self.bodies.iter().zip(&frames).zip(motions).filter(|((body, _), _)| body.is_dynamic());
            moving
                .map(|((body, frame), motion)| {
                    let spin = body.spin_of(frame, &motion.angular_momentum);
                    0.5 * (body.mass * motion.velocity.norm_squared() + motion.angular_momentum.dot(&spin))
                })
                .sum()
        };
        let before = energy(&self.motions);
        self.solver.contact_full(&stage, &frames, &mut self.motions, &mut self.memory);
        self.energies = [before, energy(&self.motions)];
        self.frames = frames;
    }
}

#[test]
fn a_heavy_cube_on_a_light_one_converges_and_stays_converged() {
    for ratio in [1.0, 100.0, 1e4] {
        let mut small = Small::new();
        let cube = Arc::new(Geometry::cuboid(Vector::repeat(0.1)).unwrap());
        small.add(&cube, 1.0, [0.0, 0.1, 0.0]);
        small.add(&cube, ratio, [0.0, 0.3, 0.0]);
        for step in 0..60 {
            small.step(1.0 / 60.0);
            let report = small.solver.report();
            assert!(report.overlap_after < 1e-9, "{report:?}");
            if step > 40 {
                assert!(report.residual < 1e-4 && report.overlap_before < 1e-6, "{ratio}: {report:?}");
            }
        }
    }
}

#[test]
fn a_stack_of_ten_is_solved_in_few_iterations_once_it_stands() {
    let mut small = Small::new();
    let cube = Arc::new(Geometry::cuboid(Vector::repeat(0.1)).unwrap());
    for i in 0..10 {
        small.add(&cube, 1.0, [0.0, 0.1 + 0.2 * f64::from(i), 0.0]);
    }
    let mut last = 0;
    for _ in 0..60 {
        small.step(1.0 / 60.0);
        last = small.solver.report().iterations;
    }
    assert_eq!(small.solver.report().levels, 10);
    assert!(last < 100, "{last}");
    assert!((small.frames[10].position.y - 1.9).abs() < 1e-8);
}

/// Contact at the end of a step acts on velocities and positions of one time, so whatever it does, the kinetic energy there is at most what it was before: for impulses that are scaled one by one
/// (propagation), and for those that are found together, however early the iteration ends (rows RB-21 and RB-22 of spec/rigid-bodies.md).
#[test]
fn the_last_contact_of_a_step_adds_no_kinetic_energy() {
    let few = ContactOptions { iterations: 3, updates: 0, ..ContactOptions::default() };
    // Shock propagation takes what is below as driven: it is not within the clamp.
    let pairs = ContactOptions {
        method: ContactMethod::Propagation,
        shock_propagation: false,
        ..ContactOptions::default()
    };
    for (which, options) in [ContactOptions::default(), few, pairs].into_iter().enumerate() {
        let shapes = [
            Geometry::cuboid(Vector::from([0.1, 0.05, 0.2])).unwrap(),
            Geometry::sphere(0.12).unwrap(),
            Geometry::capsule(0.05, 0.2).unwrap(),
        ]
        .map(Arc::new);
        let mut small = Small::new();
        small.options = options;
        let number = |k: usize| ((k + 1) as f64 * 0.618_033_988_749).fract() - 0.5;
        for i in 0..40 {
            let place =
                [0.3 * (i % 3) as f64 + 0.1 * number(i), 0.2 + 0.15 * (i / 3) as f64, 0.3 * number(7 * i)];
            small.add(&shapes[i % 3], 10f64.powf(4.0 * number(3 * i)), place);
            let turn = Vector::from_fn(|a, _| 3.0 * number(11 * i + a));
            small.frames[i + 1].rotation = Dim::<3>::exp(&turn);
            small.motions[i + 1].velocity = Vector::from_fn(|a, _| 4.0 * number(5 * i + a));
        }
        for step in 0..60 {
            small.step(1.0 / 30.0);
            let [before, after] = small.energies;
            assert!(after <= before * (1.0 + 1e-12), "{which}, step {step}: {before} {after}");
        }
    }
}
