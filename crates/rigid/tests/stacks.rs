//! Stacks through the stages of contact, without the coupled step.

use splashdown_math::{Dim, Frame, Space, Vector};
use splashdown_rigid::{
    Body, ContactMemory, ContactOptions, ContactSolver, ContactStage, EnergyFix, Geometry, Kind, Material,
    Motion, OrientationOrder,
};
use std::sync::Arc;

struct Small {
    bodies: Vec<Body<3>>,
    frames: Vec<Frame<3>>,
    motions: Vec<Motion<3>>,
    memory: ContactMemory<3>,
    solver: ContactSolver<3>,
    options: ContactOptions,
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
        self.solver.contact_full(&stage, &frames, &mut self.motions, &mut self.memory);
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
