//! The contact graph: who rests on whom, rings collapsed, in levels from the ground up (spec/rigid-bodies.md 3.9); and islands.

/// Level of every body: 0 for bodies that do not respond, 1 and up for what rests on them. `edges` are `[below, above]`.
///
/// Strongly connected components (rings of bodies that lean on each other) share a level; a component's level is one more than the highest it
/// rests on. Bodies that rest on nothing have level 1.
pub fn levels(bodies: usize, infinite: impl Fn(usize) -> bool, edges: &[[u32; 2]]) -> Vec<u32> {
    // Successors of each body in one flat list.
    let mut start = vec![0u32; bodies + 1];
    let kept = || edges.iter().filter(|edge| !infinite(edge[1] as usize) && !infinite(edge[0] as usize));
    for edge in kept() {
        start[edge[0] as usize + 1] += 1;
    }
    for i in 0..bodies {
        start[i + 1] += start[i];
    }
    let mut next = start.clone();
    let mut above = vec![0u32; start[bodies] as usize];
    for edge in kept() {
        above[next[edge[0] as usize] as usize] = edge[1];
        next[edge[0] as usize] += 1;
    }
    let component = components(bodies, &start, &above);
    // Tarjan numbers components in reverse topological order: what is above has the smaller number.
    let count = component.iter().map(|&c| c + 1).max().unwrap_or(0) as usize;
    let mut level = vec![1u32; count];
    for body in sorted_by(bodies, |b| count - 1 - component[b] as usize, count) {
        let own = component[body as usize] as usize;
        for &up in &above[start[body as usize] as usize..start[body as usize + 1] as usize] {
            let other = component[up as usize] as usize;
            if other != own {
                level[other] = level[other].max(level[own] + 1);
            }
        }
    }
    (0..bodies).map(|b| if infinite(b) { 0 } else { level[component[b] as usize] }).collect()
}

/// The numbers below `count` in ascending order of a key below `keys`, equal ones in their own order: a counting sort.
pub(super) fn sorted_by(count: usize, key: impl Fn(usize) -> usize, keys: usize) -> Vec<u32> {
    let mut start = vec![0u32; keys + 1];
    (0..count).for_each(|i| start[key(i) + 1] += 1);
    for k in 0..keys {
        start[k + 1] += start[k];
    }
    let mut order = vec![0u32; count];
    for i in 0..count {
        let next = &mut start[key(i)];
        order[*next as usize] = i as u32;
        *next += 1;
    }
    order
}

/// Strongly connected components (Tarjan 1972), without recursion.
fn components(bodies: usize, start: &[u32], above: &[u32]) -> Vec<u32> {
    const UNSEEN: u32 = u32::MAX;
    let (mut index, mut low) = (vec![UNSEEN; bodies], vec![0u32; bodies]);
    let mut component = vec![UNSEEN; bodies];
    let (mut stack, mut calls): (Vec<u32>, Vec<(u32, u32)>) = (Vec::new(), Vec::new());
    let (mut counter, mut found) = (0, 0);
    for root in 0..bodies as u32 {
        if index[root as usize] != UNSEEN {
            continue;
        }
        calls.push((root, start[root as usize]));
        while let Some((body, position)) = calls.pop() {
            let b = body as usize;
            if index[b] == UNSEEN {
                index[b] = counter;
                low[b] = counter;
                counter += 1;
                stack.push(body);
            }
            let mut position = position;
            let mut descended = false;
            while position < start[b + 1] {
                let up = above[position as usize] as usize;
                if index[up] == UNSEEN {
                    calls.push((body, position));
                    calls.push((up as u32, start[up]));
                    descended = true;
                    break;
                }
                if component[up] == UNSEEN {
                    low[b] = low[b].min(low[up]).min(index[up]);
                }
                position += 1;
            }
            if descended {
                continue;
            }
            if low[b] == index[b] {
                while let Some(member) = stack.pop() {
                    component[member as usize] = found;
                    if member == body {
                        break;
                    }
                }
                found += 1;
            }
        }
    }
    component
}

/// Islands: sets of bodies that respond and are connected by pairs. Returns the island of every body (`u32::MAX` for bodies that do not respond)
/// and their number; islands are numbered by their first body.
pub fn islands(
    bodies: usize,
    infinite: impl Fn(usize) -> bool,
    pairs: impl Iterator<Item = [u32; 2]>,
) -> (Vec<u32>, usize) {
    let mut parent: Vec<u32> = (0..bodies as u32).collect();
    fn root(parent: &mut [u32], mut b: u32) -> u32 {
        while parent[b as usize] != b {
            parent[b as usize] = parent[parent[b as usize] as usize];
            b = parent[b as usize];
        }
        b
    }
    for [a, b] in pairs {
        if infinite(a as usize) || infinite(b as usize) {
            continue;
        }
        let (a, b) = (root(&mut parent, a), root(&mut parent, b));
        // The smaller index is the root, so that numbering does not depend on the order of pairs.
        parent[a.max(b) as usize] = a.min(b);
    }
    let mut island = vec![u32::MAX; bodies];
    let mut count = 0;
    for b in 0..bodies {
        if infinite(b) {
            continue;
        }
        let r = root(&mut parent, b as u32) as usize;
        if island[r] == u32::MAX {
            island[r] = count;
            count += 1;
        }
        island[b] = island[r];
    }
    (island, count as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_a_ring_and_a_bridge_get_their_levels() {
        // 0 is the ground; 1, 2, 3 a stack; 4, 5, 6 lean on each other in a ring on the ground; 7 lies on 3 and on the ring.
        let edges = [[0, 1], [1, 2], [2, 3], [0, 4], [4, 5], [5, 6], [6, 4], [3, 7], [5, 7]];
        let level = levels(9, |b| b == 0, &edges);
        assert_eq!(level, [0, 1, 2, 3, 1, 1, 1, 4, 1]);
        // The order of edges does not matter.
        let mut reversed = edges;
        reversed.reverse();
        assert_eq!(levels(9, |b| b == 0, &reversed), level);
    }

    #[test]
    fn a_long_chain_does_not_overflow_the_stack() {
        let n = 200_000;
        let edges: Vec<[u32; 2]> = (0..n - 1).map(|i| [i, i + 1]).collect();
        assert_eq!(levels(n as usize, |b| b == 0, &edges)[n as usize - 1], n - 1);
    }

    #[test]
    fn islands_do_not_join_through_the_ground() {
        let pairs = [[0, 1], [0, 2], [3, 4], [2, 4]];
        let (island, count) = islands(6, |b| b == 0, pairs.into_iter());
        assert_eq!((island, count), (vec![u32::MAX, 0, 1, 1, 1, 2], 3));
    }
}
