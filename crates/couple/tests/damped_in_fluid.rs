//! Damping and volume of soft bodies in the same solve as the fluid (spec/fluid-structure.md 3.7, 3.8, 3.9): every form of the coupled system has it, whatever the integrator; what is damped strongly moves
//! as a rigid body does, with the fluid that it carries along; no solve adds kinetic energy; and what the fluid loses the bodies gain.

use splashdown_couple::fluid_structure::{CouplingForm, CouplingOptions, CouplingReport};
use splashdown_couple::{Binding, SolidBody, SolidElement, Solids, World};
use splashdown_deformable::element::{Damping, DampingKind, Material as Matter};
use splashdown_deformable::incompressible::{Incompressible, IncompressibleOptions, Rings};
use splashdown_deformable::integrate::{Motion, Scheme};
use splashdown_deformable::material::{Lame, Law, Model};
use splashdown_deformable::{Elements, Solid};
use splashdown_fluid::{Domain, FluidModel, FluidState, Liquid, Side};
use splashdown_geometry::generate::disc_triangles;
use splashdown_geometry::grid::Grid;
use splashdown_math::{Frame, Twist, Vector};
use splashdown_rigid::{Body, Kind};

type V = Vector<2>;

const GRAVITY: f64 = -9.81;
const CELLS: usize = 16;
const SCHEMES: [Scheme; 5] = [Scheme::A, Scheme::B, Scheme::C, Scheme::Newmark, Scheme::LinearlyImplicit];

#[derive(Clone, Copy)]
struct Disc {
    scheme: Scheme,
    form: CouplingForm,
    /// Young's modulus (Pa).
    stiffness: f64,
    /// Time of damping (s).
    damping: f64,
    density: f64,
    /// Viscosity of the fluid (Pa s).
    viscosity: f64,
    /// Are particles in its middle bound to a bone?
    bone: bool,
    incompressible: bool,
    /// In a box without gravity that wraps around, in a fluid that swirls; else in a tank.
    adrift: bool,
    /// Is the tank closed?
    lid: bool,
    one_way: bool,
}

impl Disc {
    const fn new(scheme: Scheme, form: CouplingForm) -> Self {
        Self {
            scheme,
            form,
            stiffness: 1e3,
            damping: 10.0,
            density: 10.0,
            viscosity: 0.0,
            bone: false,
            incompressible: false,
            adrift: false,
            lid: false,
            one_way: false,
        }
    }

    fn world(&self) -> (World<2>, Vec<f64>) {
        let gravity = V::new(0.0, if self.adrift { 0.0 } else { GRAVITY });
        let mut world = World::new(gravity).unwrap();
        world.set_coupling(Some(CouplingOptions { form: self.form, ..CouplingOptions::default() }));
        let centre = V::new(0.47, 0.52);
        let mesh = disc_triangles(centre, 0.22, 5).unwrap();
        let matter = Matter {
            law: Law::safe(Model::NeoHookean),
            lame: Lame::new(self.stiffness, 0.3).unwrap(),
            density: self.density,
            damping: Damping { kind: DampingKind::Linear, time: self.damping },
        };
        let elements = Elements::triangles(&mesh, 0, matter).unwrap();
        let mut mass = vec![0.0; mesh.points.len()];
        elements.add_masses(&mut mass);
        let mut solids = Solids::<2>::new(gravity, self.scheme);
        solids.solid = Solid::new(mass.clone(), vec![false; mass.len()], gravity);
        solids.solid.add(elements);
        solids.integrator.tolerance = 1e-10;
        let position: Vec<f64> = mesh.points.iter().flat_map(|x| [x[0], x[1]]).collect();
        let corners: Vec<u32> = mesh.elements.iter().flatten().copied().collect();
        if self.incompressible {
            let options = IncompressibleOptions { tolerance: 1e-12, ..IncompressibleOptions::default() };
            let rings = Rings::new(3, &corners, &position).unwrap();
            solids.integrator.incompressible = Some(Incompressible::new(rings, options));
        }
        solids.bodies.push(SolidBody {
            name: "disc".into(),
            particles: 0..mesh.points.len(),
            element: SolidElement::Triangle,
            elements: corners,
            rest: position.clone(),
            forces: 0..1,
            strength: vec![],
            activation: vec![],
            families: vec![],
        });
        if self.bone {
            let bone = Body::new("bone", Kind::Dynamic, 2.0, &[0.01]).unwrap();
            let frame = Frame { position: centre, ..Frame::identity() };
            let body = world.add_body(bone, frame, Twist::zero()) as u32;
            for (particle, x) in mesh.points.iter().enumerate().filter(|(_, x)| (*x - centre).norm() < 0.08) {
                solids.bindings.push(Binding { particle: particle as u32, body, place: x - centre });
            }
            assert!(solids.bindings.len() > 3);
        }
        if self.one_way {
            solids.one_way.push(0..mass.len());
        }
        let velocity = vec![0.0; position.len()];
        world.set_solids(solids, Motion { position, velocity, time: 0.0 });
        let grid = Grid::new(V::zeros(), V::repeat(1.0 / CELLS as f64), [CELLS; 2]).unwrap();
        let lid = if self.lid { Side::wall() } else { Side::open() };
        let sides =
            if self.adrift { [[Side::Periodic; 2]; 2] } else { [[Side::wall(); 2], [Side::wall(), lid]] };
        let liquid = Liquid { viscosity: self.viscosity, ..Liquid::new("water", 1000.0) };
        let mut model = FluidModel::new(Domain::new(grid, sides).unwrap(), liquid);
        model.gravity = gravity;
        (model.options.pressure.relative, model.options.pressure.divergence) = (1e-12, 1e-12);
        model.options.pressure.max_iterations = 2000;
        model.options.keep_momentum = self.adrift;
        let mut state = FluidState::at_rest(&model);
        if self.adrift {
            let tau = std::f64::consts::TAU;
            state.set_velocity(&model, |x| V::new(0.2 + 0.5 * (tau * x[1]).sin(), 0.5 * (tau * x[0]).sin()));
        }
        world.set_fluid(model, state).unwrap();
        (world, mass)
    }
}

/// The coupled solves of a step.
fn solves(world: &mut World<2>, dt: f64) -> Vec<CouplingReport> {
    world.step(dt).unwrap().solves.iter().filter_map(|solve| solve.coupling).collect()
}

/// Velocities (m/s) of particles and bodies after some steps, and the largest relative rise of kinetic energy in a coupled solve.
fn after(disc: Disc, steps: usize, dt: f64) -> (Vec<f64>, f64) {
    let (mut world, _) = disc.world();
    let mut rise = 0.0f64;
    for _ in 0..steps {
        for report in solves(&mut world, dt) {
            assert!(report.kinetic[1] > 0.0 && !report.driven, "{report:?}");
            rise = rise.max(report.energy_rise());
        }
    }
    let state = world.state();
    let bodies = state.bodies.iter().flat_map(|body| [body.velocity[0], body.velocity[1]]);
    (state.solids.motion.velocity.iter().copied().chain(bodies).collect(), rise)
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let size = b.iter().fold(0.0f64, |m, u| m.max(u.abs()));
    a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs())) / size
}

/// FS-10, FS-13, FS-23: damping is part of the coupled solve with every integrator: each form, three of which have factors or unknowns of their own for it, finds the same velocities.
#[test]
fn every_form_has_the_damping_of_soft_bodies() {
    let references = [CouplingForm::Impulses, CouplingForm::Kkt, CouplingForm::Lumped];
    for scheme in SCHEMES {
        for (bone, viscosity) in [(false, 0.0), (true, 0.0), (true, 0.5)] {
            let disc = |form| Disc { bone, viscosity, damping: 0.2, ..Disc::new(scheme, form) };
            let (ours, rise) = after(disc(CouplingForm::Pressure), 2, 1e-3);
            assert!(rise < 1e-9, "{scheme:?}: {rise:e}");
            // The lumped form has viscosity before.
            for form in
                references.into_iter().filter(|form| viscosity == 0.0 || *form != CouplingForm::Lumped)
            {
                let (other, rise) = after(disc(form), 2, 1e-3);
                let off = difference(&other, &ours);
                assert!(off < 1e-7, "{scheme:?}, {form:?}, bone {bone}, viscosity {viscosity}: {off:e}");
                assert!(rise < 1e-9, "{scheme:?}, {form:?}: {rise:e}");
            }
        }
    }
}

/// What is damped strongly has no way to be deformed in a step: it moves as a whole with the fluid that it carries along, however heavy that is. With damping by itself before the fluid pushed, particles went
/// their own ways at many times the speed of the whole.
#[test]
fn a_strongly_damped_disc_moves_as_a_whole_in_heavy_fluid() {
    for scheme in SCHEMES {
        for viscosity in [0.0, 1.0] {
            let disc =
                Disc { density: 1.0, damping: 1e6, viscosity, ..Disc::new(scheme, CouplingForm::Pressure) };
            let (mut world, mass) = disc.world();
            let x = world.state().solids.motion.position.clone();
            world.step(1e-3).unwrap();
            let point = |flat: &[f64], i: usize| V::from_column_slice(&flat[2 * i..2 * i + 2]);
            let v = &world.state().solids.motion.velocity;
            let all = 0..mass.len();
            let total: f64 = mass.iter().sum();
            let centre = all.clone().map(|i| point(&x, i) * mass[i]).sum::<V>() / total;
            let mean = all.clone().map(|i| point(v, i) * mass[i]).sum::<V>() / total;
            let arm = |i: usize| point(&x, i) - centre;
            let turning = |i: usize| arm(i).perp(&(point(v, i) - mean)) * mass[i];
            let inertia: f64 = all.clone().map(|i| arm(i).norm_squared() * mass[i]).sum();
            let spin = all.clone().map(turning).sum::<f64>() / inertia;
            let off = |i: usize| (point(v, i) - mean - V::new(-arm(i)[1], arm(i)[0]) * spin).norm();
            let spread = all.clone().map(off).fold(0.0, f64::max) / mean.norm();
            // Next to weightless, it goes up.
            assert!(mean[1] > 1e-3, "{scheme:?}: {mean}");
            assert!(spread < 1e-3, "{scheme:?}, viscosity {viscosity}: {spread:e}");
        }
    }
}

/// Momentum of fluid and bodies in a box that wraps around, and the sum of its sizes.
fn momentum(world: &World<2>) -> (V, f64) {
    let measured = world.diagnostics();
    let fluid = measured.fluid.map_or_else(Vec::new, |fluid| fluid.momentum);
    let size = fluid.iter().chain(&measured.momentum).map(|part| part.abs()).sum();
    (V::from_fn(|axis, _| measured.momentum[axis] + fluid[axis]), size)
}

/// FS-T8, FS-33: what the fluid loses the soft bodies gain, with damping, a bone, and incompressible or not.
#[test]
fn total_momentum_stays_with_damped_and_incompressible_discs() {
    for scheme in SCHEMES {
        for (bone, incompressible, viscosity) in
            [(false, false, 0.0), (true, false, 0.5), (false, true, 0.0), (true, true, 0.5)]
        {
            let adrift = true;
            let disc =
                Disc { bone, incompressible, viscosity, adrift, ..Disc::new(scheme, CouplingForm::Pressure) };
            let disc = Disc { density: 500.0, damping: 1e-2, stiffness: 1e5, ..disc };
            if bone && matches!(scheme, Scheme::A | Scheme::Newmark) {
                // Scenes refuse bones with these.
                continue;
            }
            let (mut world, _) = disc.world();
            world.step(1e-3).unwrap();
            let (start, size) = momentum(&world);
            let mut moved = 0.0f64;
            for _ in 0..20 {
                world.step(1e-3).unwrap();
                moved = moved.max((momentum(&world).0 - start).norm() / size);
            }
            assert!(moved < 1e-10, "{scheme:?}, bone {bone}, incompressible {incompressible}: {moved:e}");
        }
    }
}

/// FS-33: an incompressible disc keeps its volume where the fluid squeezes it, in all forms, and where the tank is closed, so that a constant pressure moves nothing.
#[test]
fn an_incompressible_disc_keeps_its_volume_in_a_fluid() {
    let area = |world: &World<2>, elements: &[u32]| {
        let x = &world.state().solids.motion.position;
        let at = |i: u32| V::new(x[2 * i as usize], x[2 * i as usize + 1]);
        let of = |c: &[u32]| {
            let (a, b) = (at(c[1]) - at(c[0]), at(c[2]) - at(c[0]));
            0.5 * (a[0] * b[1] - a[1] * b[0])
        };
        elements.chunks_exact(3).map(of).sum::<f64>()
    };
    for scheme in [Scheme::B, Scheme::C, Scheme::Newmark, Scheme::LinearlyImplicit] {
        let mut first: Option<Vec<f64>> = None;
        for (form, viscosity, lid) in [
            (CouplingForm::Pressure, 0.0, false),
            (CouplingForm::Kkt, 0.0, false),
            (CouplingForm::Impulses, 0.0, false),
            (CouplingForm::Pressure, 0.0, true),
            (CouplingForm::Pressure, 1.0, false),
            (CouplingForm::Pressure, 1.0, true),
        ] {
            let disc = Disc { form, viscosity, lid, incompressible: true, ..Disc::new(scheme, form) };
            // So soft that the weight of the water would crush it.
            let disc = Disc { stiffness: 300.0, damping: 0.01, density: 300.0, ..disc };
            let (mut world, _) = disc.world();
            let elements = world.solids().unwrap().bodies[0].elements.clone();
            let before = area(&world, &elements);
            let (mut change, mut missed) = (0.0f64, 0.0f64);
            for _ in 0..10 {
                for report in solves(&mut world, 2e-3) {
                    assert!(report.demands > 0);
                    missed = missed.max(report.demand_residual);
                }
                change = change.max((area(&world, &elements) / before - 1.0).abs());
            }
            let what = format!("{scheme:?}, {form:?}, viscosity {viscosity}, lid {lid}");
            assert!(change < 1e-3, "{what}: area changes by {change:e}");
            assert!(missed < 1e-8, "{what}: {missed:e}");
            let velocity = world.state().solids.motion.velocity.clone();
            if !lid && viscosity == 0.0 {
                if let Some(first) = &first {
                    let off = difference(&velocity, first);
                    assert!(off < 1e-6, "{what}: {off:e}");
                }
                first.get_or_insert(velocity);
            }
        }
    }
}

/// FS-37: a soft body that the fluid does not push falls as in a vacuum, and the fluid gets out of its way.
#[test]
fn a_one_way_disc_falls_as_if_there_were_no_fluid() {
    for scheme in SCHEMES {
        for viscosity in [0.0, 1.0] {
            let disc = Disc { one_way: true, viscosity, ..Disc::new(scheme, CouplingForm::Pressure) };
            let (mut world, mass) = disc.world();
            for _ in 0..5 {
                world.step(1e-3).unwrap();
            }
            let v = &world.state().solids.motion.velocity;
            for i in 0..mass.len() {
                assert!(v[2 * i].abs() < 1e-9, "{scheme:?}: {}", v[2 * i]);
                assert!((v[2 * i + 1] / (5e-3 * GRAVITY) - 1.0).abs() < 1e-7, "{scheme:?}: {}", v[2 * i + 1]);
            }
            let flow = world.fluid_diagnostics().unwrap().max_speed;
            assert!(flow > 0.5 * 5e-3 * -GRAVITY, "{scheme:?}, viscosity {viscosity}: {flow}");
        }
    }
}
