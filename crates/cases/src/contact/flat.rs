//! Contact in the plane: a square on an incline slides, stops and sticks; a disc bounces and rolls; a stack of squares stands; a heavy square rests on a light one.
//!
//! Source: exact; spec/rigid-bodies.md, rows A6 to A9 and A20 in 2D.

use super::set_up::{BLOCKS, Block, METHODS, add, block, shared, step, world};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_couple::World;
use splashdown_math::{Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_rigid::{ContactMethod, Geometry, Kind, Material};

pub(super) const CASE: Case = Case {
    name: "rigid/flat-contact",
    spec: "A6, A7, A8, A9, A20 (rigid-bodies), 2D",
    summary: "squares and discs in the plane slide, stop, stick, roll, bounce and stand as in space",
    source: "exact: Coulomb's law, restitution, statics",
    speed: Speed::Fast,
    seconds: 2.0,
    run,
};

const G: f64 = 9.8;

/// A body on a line through the origin that falls towards +x by `degrees`; its distance from the line is `height`.
struct Slope {
    world: World<2>,
    down: Vector<2>,
    body: usize,
}

fn on_slope(
    method: ContactMethod,
    degrees: f64,
    material: Material,
    geometry: Geometry<2>,
    height: f64,
    speed: f64,
) -> Result<Slope, CaseError> {
    on(None, method, degrees, material, geometry, height, speed)
}

/// On a line, or on the side of a block.
fn on(
    slope: Option<Block>,
    method: ContactMethod,
    degrees: f64,
    material: Material,
    geometry: Geometry<2>,
    height: f64,
    speed: f64,
) -> Result<Slope, CaseError> {
    let mut world = world::<2>(method, G)?;
    let rotation = Dim::<2>::exp(&Spin::<2>::from([-degrees.to_radians()]));
    let turned = Frame { position: Vector::zeros(), rotation };
    match slope {
        None => {
            let line = shared(Geometry::half_space(Vector::from([0.0, 1.0])))?;
            add(&mut world, Kind::Static, &line, 1.0, material, turned, Twist::zero())?;
        }
        Some(slope) => block(&mut world, slope, material, degrees.to_radians())?,
    }
    let up = turned.vector_to_world(&Vector::from([0.0, 1.0]));
    let down = turned.vector_to_world(&Vector::from([1.0, 0.0]));
    let frame = Frame { position: up * height, rotation };
    let twist = Twist { linear: down * speed, ..Twist::zero() };
    let body = add(&mut world, Kind::Dynamic, &shared(Ok(geometry))?, 1.0, material, frame, twist)?;
    Ok(Slope { world, down, body })
}

impl Slope {
    fn advance(&mut self, seconds: f64, dt: f64) -> Result<(), CaseError> {
        (0..(seconds / dt).round() as usize).try_for_each(|_| step(&mut self.world, dt).map(|_| ()))
    }

    fn distance(&self) -> f64 {
        self.down.dot(&self.world.state().bodies[self.body].frame.position)
    }
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let square = |half: f64| {
        Geometry::<2>::cuboid(Vector::repeat(half)).map_err(|error| CaseError::new("making a square", error))
    };
    let disc = || Geometry::<2>::sphere(0.5).map_err(|error| CaseError::new("making a disc", error));
    let dt = 1.0 / 30.0;
    for (method, name) in METHODS {
        let resolution = format!("{name}, 2D, dt = 1/30 s");
        let mut slope = on_slope(method, 30.0, Material::new(0.0, 0.3), square(0.5)?, 0.5, 0.0)?;
        slope.advance(2.0, dt)?;
        let row = "slide, 30 deg, mu 0.3: distance after 2 s (m)";
        out.near(row, &resolution, slope.distance(), 4.707_771, 4.7e-3, "A6");
        let mut slope = on_slope(method, 15.0, Material::new(0.0, 0.5), square(0.5)?, 0.5, 5.0)?;
        slope.advance(4.0, dt)?;
        let row = "stop, 15 deg, mu 0.5, 5 m/s: distance (m)";
        out.near(row, &resolution, slope.distance(), 5.690_587, 2e-3, "A7");
        let mut slope = on_slope(method, 20.0, Material::new(0.0, 0.5), square(0.5)?, 0.5, 0.0)?;
        slope.advance(10.0, dt)?;
        out.at_most("stick: drift in 10 s (m)", &resolution, slope.distance().abs(), 1e-6, "A7");

        // A disc rolls with 2/3 g sin 30: a third of the acceleration goes into its spin.
        let mut slope = on_slope(method, 30.0, Material::new(0.0, 5.0), disc()?, 0.5, 0.0)?;
        slope.advance(2.0, dt)?;
        let exact = 0.5 * (2.0 / 3.0) * G * 0.5 * 4.0;
        let row = "rolling, 30 deg: distance after 2 s (m)";
        out.near(row, &resolution, slope.distance(), exact, 1e-3 * exact, "A8");

        for (slope, kind) in BLOCKS {
            let resolution = format!("{name}, 2D, on {kind}, dt = 1/30 s");
            let material = |friction| Material::new(0.0, friction);
            let mut slide = on(Some(slope), method, 30.0, material(0.3), square(0.5)?, 0.5, 0.0)?;
            slide.advance(2.0, dt)?;
            let row = "slide on a side, 30 deg, mu 0.3: distance after 2 s (m)";
            out.near(row, &resolution, slide.distance(), 4.707_771, 4.7e-3, "A6");
            let mut stop = on(Some(slope), method, 15.0, material(0.5), square(0.5)?, 0.5, 5.0)?;
            stop.advance(4.0, dt)?;
            let row = "stop on a side, 15 deg, mu 0.5, 5 m/s: distance (m)";
            out.near(row, &resolution, stop.distance(), 5.690_587, 2e-3, "A7");
            let mut roll = on(Some(slope), method, 30.0, material(5.0), disc()?, 0.5, 0.0)?;
            roll.advance(2.0, dt)?;
            let row = "rolling on a side, 30 deg: distance after 2 s (m)";
            out.near(row, &resolution, roll.distance(), exact, 1e-3 * exact, "A8");
        }

        for restitution in [0.0, 0.5, 1.0] {
            let material = Material::new(restitution, 0.0);
            let mut fall = on_slope(method, 0.0, material, disc()?, 1.5, 0.0)?;
            let fine = 1.0 / 240.0;
            // From the first landing to the middle of the flight after it.
            let landing = (2.0f64 / G).sqrt();
            let mut highest = 0.0f64;
            let steps = (landing * (1.0 + 1.6 * restitution.max(0.3)) / fine) as usize;
            for n in 0..steps {
                step(&mut fall.world, fine)?;
                if n as f64 * fine > landing + 2.0 * fine {
                    highest = highest.max(fall.world.state().bodies[fall.body].frame.position.y - 0.5);
                }
            }
            let row = format!("bounce, e = {restitution}: height (m)");
            let wanted = restitution * restitution;
            out.near(&row, &format!("{name}, 2D, dt = 1/240 s"), highest, wanted, 0.02, "A9");
        }

        let material = Material::new(0.0, 0.5);
        let mut tower = on_slope(method, 0.0, material, square(0.5)?, 0.5, 0.0)?;
        let cube = shared(Ok(square(0.5)?))?;
        for n in 1..10 {
            let frame = Frame { position: Vector::from([0.0, 0.5 + f64::from(n)]), ..Frame::identity() };
            add(&mut tower.world, Kind::Dynamic, &cube, 1.0, material, frame, Twist::zero())?;
        }
        tower.advance(10.0, dt)?;
        let sunk = tower.world.state().bodies[1..].iter().enumerate().fold(0.0f64, |sunk, (n, body)| {
            sunk.max((0.5 + n as f64 - body.frame.position.y).abs()).max(body.frame.position.x.abs())
        });
        out.at_most("stack of 10 squares: creep in 10 s (m)", &resolution, sunk, 1e-3, "A20");
    }
    // 1000 kg on 1 kg.
    let material = Material::new(0.0, 0.5);
    let mut pair = on_slope(ContactMethod::Simultaneous, 0.0, material, square(0.5)?, 0.5, 0.0)?;
    let heavy = Frame { position: Vector::from([0.0, 1.5]), ..Frame::identity() };
    let cube = shared(Ok(square(0.5)?))?;
    add(&mut pair.world, Kind::Dynamic, &cube, 1000.0, material, heavy, Twist::zero())?;
    pair.advance(10.0, dt)?;
    let sunk = 1.5 - pair.world.state().bodies[2].frame.position.y;
    out.at_most("1000 kg on 1 kg: sunk after 10 s (m)", "2D, dt = 1/30 s", sunk.abs(), 1e-4, "A20");
    Ok(())
}
