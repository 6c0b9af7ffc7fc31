//! Rows over lanes from contacts.

use super::block::{Block, POINTS};
use super::lanes::{Four, LANES, Lane, Record};
use super::layout::Patch;
use super::{Kernel, Wide, vectorized};
use crate::collide::Touch;
use crate::contact::gauss_seidel::{FEWEST_ACCELERATED, Island};
use crate::contact::manifold::contact_frame;
use crate::contact::projection::slack;
use crate::contact::rows::{SAME_PATCH, enough_iterations};
use crate::contact::{ContactStage, Contacts, InverseInertia};
use splashdown_math::{Coordinates, Dim, Frame, Space, Spin, Twist, Vector};
use splashdown_parallel::prelude::*;

/// Blocks that one task sets up.
const TASK: usize = 64;

/// Is it so large that it is solved by sweeps alone, in space, with few points a patch and without rolling friction?
pub(in crate::contact) fn is_wide<const D: usize>(
    stage: &ContactStage<'_, D>,
    island: &Island<D>,
    contacts: &Contacts<D>,
) -> bool
where
    Dim<D>: Space<D>,
{
    let options = stage.options;
    let rows: usize = island.pairs.iter().map(|&p| contacts.pairs[p as usize].contacts().len() + 3).sum();
    let simple = |&index: &u32| {
        let pair = &contacts.pairs[index as usize];
        // More points may still be several patches, but boxes, balls and capsules never have more.
        pair.contacts().len() <= POINTS && stage.material(pair.a as usize, pair.b as usize).rolling == 0.0
    };
    D == 3
        && enough_iterations(options, rows).max(options.iterations) < FEWEST_ACCELERATED
        && island.pairs.iter().all(simple)
}

/// What the contacts of a step say.
pub(in crate::contact) struct Source<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    pub stage: &'a ContactStage<'a, D>,
    pub frames: &'a [Frame<D>],
    pub contacts: &'a Contacts<D>,
    pub touches: &'a [Touch<D>],
    /// Impulses from which contacts start, two parts (kg m/s).
    pub starts: [&'a [Vector<D>]; 2],
    /// Place in the island of bodies that respond.
    pub local: &'a [u32],
}

impl Wide {
    /// Sets the rows of the pairs of an island, which are sorted by level.
    pub fn set<const D: usize>(
        &mut self,
        source: &Source<'_, D>,
        (bodies, levels, pairs): (&[u32], &[u32], &[u32]),
        (inverse, twists): (&[InverseInertia<D>], &[Twist<D>]),
    ) where
        Dim<D>: Space<D>,
    {
        self.clear();
        self.inverse.extend(inverse.iter().map(record_of_inverse));
        self.twists.extend(twists.iter().map(record_of_twist));
        self.inverse.push(Record::default());
        self.twists.push(Record::default());
        let nothing = bodies.len() as u32;
        let place = |i: u32| {
            if source.stage.bodies[i as usize].is_dynamic() {
                source.local[i as usize]
            } else {
                bodies.binary_search(&i).unwrap_or(0) as u32
            }
        };
        let fixed = |body: u32| inverse[body as usize].is_infinite();
        let level = |bodies: [u32; 2]| levels[bodies[0] as usize].max(levels[bodies[1] as usize]);
        let mut patches: Vec<Patch> = Vec::new();
        self.layout.begin(bodies.len());
        let mut of_level = 0;
        let mut next = 0;
        while next < pairs.len() {
            patches.clear();
            while let Some(&index) = pairs.get(next) {
                let pair = &source.contacts.pairs[index as usize];
                let ids = [place(pair.a), place(pair.b)];
                if patches.is_empty() {
                    of_level = level(ids);
                } else if level(ids) != of_level {
                    break;
                }
                // Contacts whose normals agree make one patch; they stand next to each other.
                let mut first = pair.first as usize;
                while first < pair.end as usize {
                    let touches = &source.touches[first..pair.end as usize];
                    let normal = touches[0].normal;
                    let same = |touch: &&Touch<D>| touch.normal.dot(&normal) > SAME_PATCH;
                    let count = touches.iter().take(POINTS).take_while(same).count().max(1);
                    patches.push(Patch { bodies: ids, contact: first as u32, points: count as u32 });
                    first += count;
                }
                next += 1;
            }
            let from = self.blocks.len();
            self.layout.append(&mut self.blocks, patches.iter().copied(), nothing, fixed);
            self.levels.push((of_level, from..self.blocks.len()));
        }
        let inverse = &self.inverse;
        self.blocks
            .par_chunks_mut(TASK)
            .for_each(|blocks| vectorized(SetUp { blocks, source, ids: bodies, inverse }));
    }
}

fn record_of_inverse<const D: usize>(inverse: &InverseInertia<D>) -> Record
where
    Dim<D>: Space<D>,
{
    let column = |c: usize| {
        let mut unit = [0.0; 3];
        unit[c] = 1.0;
        Dim::apply_inertia(&inverse.inertia, &Spin::<D>::from_slice(&unit))
    };
    let (x, y, z) = (column(0), column(1), column(2));
    let (x, y, z) = (x.as_slice(), y.as_slice(), z.as_slice());
    Record([[x[0], y[0], z[0], y[1]], [z[1], z[2], inverse.mass, 0.0]])
}

fn record_of_twist<const D: usize>(twist: &Twist<D>) -> Record
where
    Dim<D>: Space<D>,
{
    let mut numbers = [0.0; 6];
    twist.write(&mut numbers);
    let [vx, vy, vz, wx, wy, wz] = numbers;
    Record([[vx, vy, vz, 0.0], [wx, wy, wz, 0.0]])
}

struct SetUp<'a, const D: usize>
where
    Dim<D>: Space<D>,
{
    blocks: &'a mut [Block],
    source: &'a Source<'a, D>,
    /// Index in the world of each body of the island.
    ids: &'a [u32],
    inverse: &'a [Record],
}

impl<const D: usize> Kernel for SetUp<'_, D>
where
    Dim<D>: Space<D>,
{
    type Output = ();
    #[inline(always)]
    fn run<L: Lane>(self) {
        let Self { blocks, source, ids, inverse } = self;
        for block in blocks {
            let mut points = [[[0.0; LANES]; 3]; POINTS];
            let mut starts = [[[0.0; LANES]; 3]; POINTS];
            let mut centres = [[[0.0; LANES]; 3]; 2];
            let used = block.points;
            for lane in (0..LANES).filter(|&lane| used[lane] > 0) {
                read(block, lane, source, ids, [&mut points, &mut starts], &mut centres);
            }
            block.place::<L>(&points, &centres);
            block.set_response::<L>(inverse);
            block.start::<L>(&starts);
        }
    }
}

/// Reads what the contacts of one patch say.
#[inline(always)]
fn read<const D: usize>(
    block: &mut Block,
    lane: usize,
    source: &Source<'_, D>,
    ids: &[u32],
    [points, starts]: [&mut [[Four; 3]; POINTS]; 2],
    centres: &mut [[Four; 3]; 2],
) where
    Dim<D>: Space<D>,
{
    let stage = source.stage;
    let a = ids[block.bodies[0][lane] as usize] as usize;
    let b = ids[block.bodies[1][lane] as usize] as usize;
    let material = stage.material(a, b);
    block.coefficient[lane] = material.friction as f32;
    block.spinning[lane] = material.spinning as f32;
    // Half way into the overlap that push-out leaves alone: at its edge what sweeps leave of motion would open and close contacts from step to step, and the
    // loads of a body on more points than it needs would wander among them for ever.
    let nearer = 0.5 * slack([&stage.bodies[a], &stage.bodies[b]]);
    let first = block.contact[lane] as usize;
    let count = (block.points[lane] as usize).min(POINTS);
    let touches = &source.touches[first..first + count];
    let axes = contact_frame(&touches[0].normal);
    for axis in 0..D.min(3) {
        block.normal[axis][lane] = axes[(axis, 0)];
        block.tangent[axis][lane] = axes[(axis, 1)];
        centres[0][axis][lane] = source.frames[a].position[axis];
        centres[1][axis][lane] = source.frames[b].position[axis];
    }
    for (k, touch) in touches.iter().enumerate() {
        block.bias[k][lane] = (touch.gap + nearer).max(0.0) / stage.dt;
        for axis in 0..D.min(3) {
            points[k][axis][lane] = touch.point[axis];
            let [recalled, spent] = source.starts;
            starts[k][axis][lane] = recalled[first + k][axis] + spent[first + k][axis];
        }
    }
}
