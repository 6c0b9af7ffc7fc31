//! Which manifolds stand side by side.

use super::lanes::LANES;

/// A manifold: its bodies (places in the island) and contacts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patch {
    pub bodies: [u32; 2],
    pub contact: u32,
    pub points: u32,
}

/// A block that is filled lane by lane.
pub(super) trait Row {
    /// Without manifolds, between lanes of the body `nothing`.
    fn between(nothing: u32) -> Self;
    /// Puts a manifold into a lane.
    fn take(&mut self, lane: usize, patch: &Patch);
}

/// Puts manifolds into blocks so that a sweep over the blocks is one over the manifolds in their order: each goes into the first block with room behind
/// those of earlier manifolds that share a body with it. The order matters: neighbours in the list are neighbours in the pile, and sweeps that go through a
/// layer from one end to the other need far fewer rounds than those that jump to and fro (measured).
#[derive(Debug, Clone, Default)]
pub(super) struct Layout {
    /// The first block that each body is not in yet.
    free_from: Vec<u32>,
    /// Lanes of each block that are taken.
    taken: Vec<u8>,
    /// A block not before this one that may have room.
    room: Vec<u32>,
}

impl Layout {
    /// Starts anew with so many bodies.
    pub fn begin(&mut self, bodies: usize) {
        self.free_from.clear();
        self.free_from.resize(bodies, 0);
        self.taken.clear();
        self.room.clear();
    }

    /// Appends manifolds behind all blocks that there are; `fixed` bodies may be shared, lanes without a manifold are between the body `nothing`.
    pub fn append<R: Row>(
        &mut self,
        blocks: &mut Vec<R>,
        patches: impl IntoIterator<Item = Patch>,
        nothing: u32,
        fixed: impl Fn(u32) -> bool,
    ) {
        let first = blocks.len() as u32;
        for patch in patches {
            let mut from = first;
            for body in patch.bodies.into_iter().filter(|&body| !fixed(body)) {
                from = from.max(self.free_from[body as usize]);
            }
            let at = self.with_room(from);
            if at as usize == blocks.len() {
                blocks.push(R::between(nothing));
                self.taken.push(0);
                self.room.push(at);
            }
            let lane = usize::from(self.taken[at as usize]);
            blocks[at as usize].take(lane, &patch);
            for body in patch.bodies {
                self.free_from[body as usize] = at + 1;
            }
            self.taken[at as usize] += 1;
            if lane + 1 == LANES {
                self.room[at as usize] = at + 1;
            }
        }
    }

    /// The first block from `from` on with room, or the one behind the last.
    fn with_room(&mut self, from: u32) -> u32 {
        let mut at = from;
        while let Some(&next) = self.room.get(at as usize).filter(|&&next| next != at) {
            at = next;
        }
        // The next search is shorter.
        let mut passed = from;
        while let Some(next) = self.room.get_mut(passed as usize).filter(|next| **next != passed) {
            passed = std::mem::replace(next, at);
        }
        at
    }
}
