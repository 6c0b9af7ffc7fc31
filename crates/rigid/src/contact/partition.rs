//! What is solved together: the islands of a step as short lists, one after another, and the rooms in which they are solved.
//!
//! Rows take a hundred times the memory of these lists. So small islands share a room, one after another: a field of bodies at rest side by side costs what it is, not what
//! solving it takes.

use super::gauss_seidel::{Form, Island, Solved};
use super::graph::{islands, sorted_by};
use super::{ContactStage, Pair};
use crate::Motion;
use splashdown_math::{Dim, Space, Vector};
use std::ops::Range;

/// Pairs that fill a room.
const PAIRS_OF_A_ROOM: usize = 64;

/// One island: where its bodies and pairs stand in the lists of the [`Partition`].
#[derive(Debug, Clone)]
pub(super) struct Part {
    bodies: Range<usize>,
    pairs: Range<usize>,
    /// How its contacts are written, once that is known for this step of time.
    pub form: Option<Form>,
    /// A Newton step failed in this step of time: in the other contact stage it would fail again.
    pub newton_failed: bool,
    /// Joints hold some of its bodies.
    pub jointed: bool,
}

/// Islands that are solved one after another, with what comes of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Room<const D: usize>
where
    Dim<D>: Space<D>,
{
    pub parts: Vec<Part>,
    /// The one that is being solved.
    pub island: Island<D>,
    /// Bodies with their new motions.
    pub moved: Vec<(u32, Motion<D>)>,
    /// Contacts with what they have spent (kg m/s).
    pub spent: Vec<(u32, Vector<D>)>,
    /// The worst of each.
    pub solved: Solved,
}

/// The islands of a step.
#[derive(Debug, Clone, Default)]
pub(super) struct Partition<const D: usize>
where
    Dim<D>: Space<D>,
{
    lists: Lists,
    pub rooms: Vec<Room<D>>,
    /// Room that is not needed now, for its memory.
    spare: Vec<Room<D>>,
    /// Island and body, as one number each: room for their sorting.
    keys: Vec<u64>,
}

/// Bodies and pairs of all islands.
#[derive(Debug, Clone, Default)]
pub(super) struct Lists {
    /// Ascending within each island.
    bodies: Vec<u32>,
    /// Level of each of these in the contact graph.
    levels: Vec<u32>,
    /// From the ground up within each island.
    pairs: Vec<u32>,
}

impl Lists {
    /// Bodies of an island, ascending; those that do not respond are among them.
    pub fn bodies(&self, part: &Part) -> &[u32] {
        &self.bodies[part.bodies.clone()]
    }

    /// Lays out `island` for this one.
    pub fn load<const D: usize>(&self, part: &Part, island: &mut Island<D>)
    where
        Dim<D>: Space<D>,
    {
        island.clear_rows();
        island.form = part.form;
        island.newton_failed = part.newton_failed;
        for (own, all, range) in [
            (&mut island.bodies, &self.bodies, &part.bodies),
            (&mut island.levels, &self.levels, &part.bodies),
            (&mut island.pairs, &self.pairs, &part.pairs),
        ] {
            own.clear();
            own.extend_from_slice(&all[range.clone()]);
        }
    }
}

impl<const D: usize> Partition<D>
where
    Dim<D>: Space<D>,
{
    /// All islands with their bodies.
    pub fn islands(&self) -> impl Iterator<Item = (&Part, &[u32])> {
        self.rooms.iter().flat_map(|room| &room.parts).map(|part| (part, self.lists.bodies(part)))
    }

    /// The lists, and the rooms to work in.
    pub fn open(&mut self) -> (&Lists, &mut [Room<D>]) {
        (&self.lists, &mut self.rooms)
    }

    /// Gathers the islands of the `pairs` that are `processed`; `levels` are those of the bodies in the contact graph. `local` becomes the place of each body that responds within its
    /// island.
    pub fn gather(
        &mut self,
        stage: &ContactStage<'_, D>,
        pairs: &[Pair],
        processed: &[bool],
        levels: &[u32],
        local: &mut Vec<u32>,
    ) {
        let bodies = stage.bodies;
        let infinite = |i: usize| !bodies[i].is_dynamic();
        let touching = || pairs.iter().enumerate().filter(|(i, _)| processed[*i]);
        let sets = stage.articulated.map_or(&[][..], |articulated| articulated.sets());
        let joined = sets.iter().flat_map(|set| set.bodies.windows(2).map(|pair| [pair[0], pair[1]]));
        let (island_of, count) =
            islands(bodies.len(), infinite, touching().map(|(_, pair)| [pair.a, pair.b]).chain(joined));
        let of_pair =
            |pair: &Pair| island_of[if infinite(pair.a as usize) { pair.b } else { pair.a } as usize];
        // Those with contacts, in the order of their first bodies.
        let mut place = vec![u32::MAX; count];
        touching().for_each(|(_, pair)| place[of_pair(pair) as usize] = 0);
        let mut used = 0;
        for place in place.iter_mut().filter(|place| **place == 0) {
            *place = used;
            used += 1;
        }
        let key = |island: u32, body: u32| u64::from(island) << 32 | u64::from(body);
        self.keys.clear();
        for (_, pair) in touching() {
            let island = place[of_pair(pair) as usize];
            let still = [pair.a, pair.b].into_iter().filter(|&i| infinite(i as usize));
            self.keys.extend(still.map(|body| key(island, body)));
        }
        for (body, &of) in island_of.iter().enumerate().filter(|(_, of)| **of != u32::MAX) {
            if place[of as usize] != u32::MAX {
                self.keys.push(key(place[of as usize], body as u32));
            }
        }
        self.keys.sort_unstable();
        self.keys.dedup();
        let lists = &mut self.lists;
        lists.bodies.clear();
        lists.bodies.extend(self.keys.iter().map(|key| *key as u32));
        lists.levels.clear();
        lists.levels.extend(lists.bodies.iter().map(|&body| levels[body as usize]));
        // By level first, then by island: both sorts keep the order of what is equal.
        let level = |pair: &Pair| levels[pair.a as usize].max(levels[pair.b as usize]) as usize;
        let all: Vec<u32> = touching().map(|(index, _)| index as u32).collect();
        let highest = all.iter().map(|&index| level(&pairs[index as usize])).max().unwrap_or(0);
        let rising = sorted_by(all.len(), |k| level(&pairs[all[k] as usize]), highest + 1);
        let rising: Vec<u32> = rising.into_iter().map(|k| all[k as usize]).collect();
        let island = |k: usize| place[of_pair(&pairs[rising[k] as usize]) as usize] as usize;
        let order = sorted_by(rising.len(), island, used as usize);
        lists.pairs.clear();
        lists.pairs.extend(order.iter().map(|&k| rising[k as usize]));

        let island_of_pair = |k: usize| place[of_pair(&pairs[lists.pairs[k] as usize]) as usize];
        let (mut body, mut pair) = (0, 0);
        let parts = (0..used).map(|island| {
            let (first_body, first_pair) = (body, pair);
            while body < self.keys.len() && (self.keys[body] >> 32) as u32 == island {
                body += 1;
            }
            while pair < lists.pairs.len() && island_of_pair(pair) == island {
                pair += 1;
            }
            Part {
                bodies: first_body..body,
                pairs: first_pair..pair,
                form: None,
                newton_failed: false,
                jointed: false,
            }
        });
        let mut rooms = 0;
        let mut filled = PAIRS_OF_A_ROOM;
        for part in parts {
            if filled >= PAIRS_OF_A_ROOM {
                if rooms == self.rooms.len() {
                    self.rooms.push(self.spare.pop().unwrap_or_default());
                }
                self.rooms[rooms].parts.clear();
                rooms += 1;
                filled = 0;
            }
            filled += part.pairs.len();
            self.rooms[rooms - 1].parts.push(part);
        }
        self.spare.extend(self.rooms.drain(rooms..));
        self.spare.truncate(8);
        local.clear();
        local.resize(bodies.len(), 0);
        for room in &self.rooms {
            for part in &room.parts {
                for (k, &body) in self.lists.bodies(part).iter().enumerate() {
                    if !infinite(body as usize) {
                        local[body as usize] = k as u32;
                    }
                }
            }
        }
    }
}
