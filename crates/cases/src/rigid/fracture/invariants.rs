//! What a break keeps. A body that spins and flies is broken by patterns of every kind, placed aligned with its samples and not: the fragments together have its mass,
//! its linear and angular momentum and its kinetic energy, their voxels are its voxels, each of its surface particles is on one of them, and each has
//! positive principal moments. Fragments are broken again, down to a few voxels.
//!
//! Source: conservation laws; spec/rigid-bodies.md A14 and 3.17.

use super::{Totals, least_moment, somewhere, voxel_body};
use crate::{Case, CaseError, Measurements, Speed};
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Coordinates, Dim, Space, Spin, Twist, Vector};
use splashdown_rigid::fracture::{
    BreakRule, Fragment, Hit, Pattern, PatternKind, PatternMode, PatternSpec, VoxelSums, shatter, voxelize,
};
use splashdown_rigid::{Body, BodyState};
use std::sync::Arc;

pub(super) const CASE: Case = Case {
    name: "rigid/fracture-invariants",
    spec: "A14",
    summary: "mass, momenta, energy, voxels and particles of a breaking body are those of its fragments, however it is cut and as often",
    source: "exact: conservation",
    speed: Speed::Fast,
    seconds: 4.0,
    run,
};

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let shape = |made: Result<Shape<3>, _>| made.map_err(|error| CaseError::new("making a shape", error));
    let wall = shape(Shape::cuboid(Vector::from([0.75, 0.05, 0.5])))?;
    let pillar = shape(Shape::cylinder(0.275, 0.525))?;
    let disc = Shape::<2>::ball(0.5).map_err(|error| CaseError::new("making a shape", error))?;
    let mut worst = Worst::default();
    for (kind, seed) in [
        (PatternKind::Voronoi, 3),
        (PatternKind::Radial, 4),
        (PatternKind::Realistic, 5),
        (PatternKind::Glass, 6),
    ] {
        let made = PatternSpec { kind, pieces: 25, seed };
        worst.look_at(
            &voxel_body(wall.clone(), 75, BreakRule::made(made))?,
            Vector::from([0.2, 0.05, -0.1]),
        )?;
        worst.look_at(
            &voxel_body(pillar.clone(), 53, BreakRule::made(made))?,
            Vector::from([0.27, 0.0, 0.2]),
        )?;
        worst.look_at(&voxel_body(disc.clone(), 80, BreakRule::made(made))?, Vector::from([0.0, 0.5]))?;
    }
    let failed = |error| CaseError::new("making a pattern", error);
    for mode in [PatternMode::Aligned, PatternMode::General] {
        let pattern = Pattern::<3>::radial(60, 8).and_then(|pattern| pattern.sampled(150)).map_err(failed)?;
        let rule = BreakRule { mode, ..BreakRule::fixed(Arc::new(pattern)) };
        worst.look_at(&voxel_body(wall.clone(), 75, rule.clone())?, Vector::from([-0.4, 0.05, 0.3]))?;
        worst.look_at(&voxel_body(pillar.clone(), 53, rule)?, Vector::from([0.27, 0.0, 0.2]))?;
        let flat =
            Pattern::<2>::glass(9, 4, 0.4, 2).and_then(|pattern| pattern.sampled(160)).map_err(failed)?;
        let rule = BreakRule { mode, ..BreakRule::fixed(Arc::new(flat)) };
        worst.look_at(&voxel_body(disc.clone(), 80, rule)?, Vector::from([0.0, 0.5]))?;
    }
    let breaks = format!("{} breaks, {} of fragments", worst.breaks, worst.again);
    for (what, error) in ["mass", "momentum", "angular momentum", "kinetic energy"].iter().zip(worst.errors) {
        out.at_most(&format!("relative change of {what}"), &breaks, error, 1e-10, "exact: conserved");
    }
    out.at_most("voxels lost or doubled", &breaks, worst.voxels as f64, 0.0, "exact: sum of volumes");
    // Particles of fragments as small as the samples are moved onto their surface.
    let source = "spec 3.17: tolerance of one cell";
    out.at_most(
        "surface particles further than a cell from those of the fragments",
        &breaks,
        worst.particles as f64,
        0.0,
        source,
    );
    let moved = worst.moved as f64 / worst.shared as f64;
    out.at_most("share of surface particles that were moved", &breaks, moved, 1e-3, source);
    out.at_least(
        "least principal moment over m h^2",
        &breaks,
        worst.moment,
        1.0 / 6.0 - 1e-9,
        "exact: 1/6 of a needle of one voxel",
    );
    out.at_least("breaks of fragments", &breaks, worst.again as f64, 40.0, "spec RB-48");
    Ok(())
}

#[derive(Default)]
struct Worst {
    breaks: usize,
    again: usize,
    errors: [f64; 4],
    voxels: u64,
    particles: usize,
    /// Surface particles of all bodies that broke, and those that are not where they were.
    shared: usize,
    moved: usize,
    moment: f64,
}

impl Worst {
    /// Breaks a body where it is hit, and its fragments again where they are hit, to three generations.
    fn look_at<const D: usize>(&mut self, body: &Body<D>, at: Vector<D>) -> Result<(), CaseError>
    where
        Dim<D>: Space<D>,
    {
        if self.breaks == 0 {
            self.moment = f64::INFINITY;
        }
        let twist = Twist {
            linear: Vector::from_fn(|a, _| [3.0, -1.0, 2.0][a]),
            angular: Spin::<D>::from_slice(&[7.0, 3.0, -5.0]),
        };
        let state = BodyState::new(body, somewhere(), &twist);
        let mut fragments = self.break_one(body, &state, at)?;
        for _ in 0..2 {
            // The largest and the one in the middle of the list.
            let chosen = [0, fragments.len() / 2];
            let mut next = Vec::new();
            for &number in chosen.iter().filter(|&&number| number < fragments.len()) {
                let fragment = &fragments[number];
                let particle = fragment.body.geometry.as_ref().and_then(|g| g.particles().first().copied());
                let found =
                    self.break_one(&fragment.body, &fragment.state, particle.unwrap_or_else(Vector::zeros))?;
                self.again += usize::from(!found.is_empty());
                next.extend(found);
            }
            fragments = next;
        }
        Ok(())
    }

    fn break_one<const D: usize>(
        &mut self,
        body: &Body<D>,
        state: &BodyState<D>,
        at: Vector<D>,
    ) -> Result<Vec<Fragment<D>>, CaseError>
    where
        Dim<D>: Space<D>,
    {
        let failed = |error| CaseError::new("breaking", error);
        let up = Vector::from_fn(|a, _| if a == 1 { 1.0 } else { 0.0 });
        let hit =
            Hit { point: state.frame.to_world(&at), normal: state.frame.vector_to_world(&up), impulse: 1.0 };
        let Some(fragments) = shatter(body, state, &hit).map_err(failed)? else { return Ok(vec![]) };
        self.breaks += 1;
        let before = Totals::of(std::iter::once((body, state)));
        let errors = Totals::of_fragments(&fragments).error(&before);
        for (worst, error) in self.errors.iter_mut().zip(errors) {
            *worst = worst.max(error);
        }
        let Some(geometry) = &body.geometry else { return Ok(fragments) };
        let (phi, _) = voxelize(geometry, 0).map_err(failed)?;
        let h = phi.lattice().spacing()[0];
        let (mut voxels, mut counted) = (VoxelSums::<D>::of(&phi).count, 0);
        let mut missing: Vec<Vector<D>> =
            geometry.particles().iter().map(|x| state.frame.to_world(x)).collect();
        self.shared += missing.len();
        let mut all: Vec<Vector<D>> = Vec::new();
        for fragment in &fragments {
            counted += fragment.voxels;
            self.moment = self.moment.min(least_moment(&fragment.body) / (h * h));
            let Some(geometry) = &fragment.body.geometry else { continue };
            let (own, _) = voxelize(geometry, 0).map_err(failed)?;
            voxels -= VoxelSums::of(&own).count.min(voxels);
            let frame = fragment.state.frame;
            let have: Vec<Vector<D>> = geometry.particles().iter().map(|x| frame.to_world(x)).collect();
            missing.retain(|x| !have.iter().any(|y| (x - y).norm() < 1e-9 * h.max(1.0)));
            all.extend(have);
        }
        self.moved += missing.len();
        missing.retain(|x| !all.iter().any(|y| (x - y).norm() <= h));
        let total = VoxelSums::<D>::of(&phi).count;
        self.voxels += voxels + total.abs_diff(counted);
        self.particles += missing.len();
        Ok(fragments)
    }
}
