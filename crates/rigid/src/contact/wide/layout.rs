//! Which manifolds stand side by side.

use super::block::Block;
use super::lanes::LANES;

/// Blocks that are filled at the same time: consecutive pairs share a body, so they go into different ones.
const OPEN: usize = 12;

/// A manifold: its bodies (places in the island) and contacts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patch {
    pub bodies: [u32; 2],
    pub contact: u32,
    pub points: u32,
}

/// Puts manifolds of one level into blocks, each into the first that has room and none of its bodies; `fixed` bodies may be shared.
pub(super) fn append(
    blocks: &mut Vec<Block>,
    patches: &[Patch],
    nothing: u32,
    fixed: impl Fn(u32) -> bool,
) {
    let first = blocks.len();
    // Blocks with room, in their order, and the lanes that they have used.
    let mut open: Vec<(usize, usize)> = Vec::with_capacity(OPEN + 1);
    for patch in patches {
        let [a, b] = patch.bodies;
        let (a_fixed, b_fixed) = (fixed(a), fixed(b));
        let fits = |&(block, used): &(usize, usize)| {
            let of: &Block = &blocks[block];
            (0..used).all(|lane| {
                let others = [of.bodies[0][lane], of.bodies[1][lane]];
                (a_fixed || !others.contains(&a)) && (b_fixed || !others.contains(&b))
            })
        };
        let place = open.iter().position(fits).unwrap_or_else(|| {
            if open.len() == OPEN {
                open.remove(0);
            }
            open.push((blocks.len(), 0));
            blocks.push(Block::between(nothing));
            open.len() - 1
        });
        let (block, lane) = open[place];
        let block = &mut blocks[block];
        for side in 0..2 {
            block.bodies[side][lane] = patch.bodies[side];
            block.responding[side][lane] = patch.bodies[side];
        }
        block.contact[lane] = patch.contact;
        block.points[lane] = patch.points;
        if lane + 1 == LANES {
            open.remove(place);
        } else {
            open[place].1 += 1;
        }
    }
    debug_assert!(blocks.len() >= first);
}
