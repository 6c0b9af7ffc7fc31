//! Gather and scatter between nodes and elements, parallel and the same bits for any number of threads.
//!
//! Elements are cut into fixed chunks. A chunk copies the values of its nodes into a small local array, works on local indices and adds what it has for its
//! nodes into a local array of its own; then every node gathers its entries from the chunks in their order. So nothing is scattered
//! atomically, element results need no memory of their own, and the working set of a chunk stays in the cache.

use splashdown_parallel::prelude::*;
use std::sync::Mutex;

/// A fixed division of elements into chunks.
#[derive(Debug)]
pub(crate) struct Partition {
    corners: usize,
    chunk_elements: usize,
    elements: usize,
    /// First slot of each chunk, and the number of slots at the end.
    first_slot: Vec<usize>,
    /// Node of each slot.
    slot_node: Vec<u32>,
    /// Slot of each corner of each element, counted from its chunk's first.
    local: Vec<u16>,
    /// Slots of each node, compressed rows over `touched` nodes.
    touched: Vec<u32>,
    touched_offsets: Vec<u32>,
    touched_slots: Vec<u32>,
    /// Values of the slots during an assembly.
    scratch: Mutex<Vec<f64>>,
}

impl Clone for Partition {
    fn clone(&self) -> Self {
        Self {
            first_slot: self.first_slot.clone(),
            slot_node: self.slot_node.clone(),
            local: self.local.clone(),
            touched: self.touched.clone(),
            touched_offsets: self.touched_offsets.clone(),
            touched_slots: self.touched_slots.clone(),
            scratch: Mutex::new(Vec::new()),
            ..*self
        }
    }
}

/// One chunk during a pass.
pub(crate) struct Chunk<'a> {
    /// First element.
    pub first: usize,
    /// Past the last element.
    pub last: usize,
    corners: usize,
    nodes: &'a [u32],
    local: &'a [u16],
}

impl Chunk<'_> {
    /// Local indices of the corners of element `element` (counted over all chunks).
    #[inline]
    pub fn corners(&self, element: usize) -> &[u16] {
        let at = (element - self.first) * self.corners;
        &self.local[at..at + self.corners]
    }

    /// Copies the values of the chunk's nodes.
    pub fn load<const D: usize>(&self, values: &[f64], into: &mut Vec<[f64; D]>) {
        into.clear();
        into.extend(self.nodes.iter().map(|&node| {
            let at = D * node as usize;
            std::array::from_fn(|axis| values[at + axis])
        }));
    }
}

impl Partition {
    /// Chunks of `chunk_elements` elements of `corners` nodes each.
    pub fn new(nodes: &[u32], corners: usize, chunk_elements: usize) -> Self {
        let elements = nodes.len() / corners.max(1);
        let chunk_elements = chunk_elements.min(usize::from(u16::MAX) / corners.max(1)).max(1);
        let mut first_slot = vec![0];
        let (mut slot_node, mut local) = (Vec::new(), Vec::with_capacity(nodes.len()));
        for chunk in nodes.chunks(chunk_elements * corners.max(1)) {
            let mut own = chunk.to_vec();
            own.sort_unstable();
            own.dedup();
            local.extend(chunk.iter().map(|node| own.partition_point(|other| other < node) as u16));
            slot_node.extend(own);
            first_slot.push(slot_node.len());
        }
        let mut touched = slot_node.clone();
        touched.sort_unstable();
        touched.dedup();
        let mut touched_offsets = vec![0u32; touched.len() + 1];
        let row = |node: u32| touched.partition_point(|&other| other < node);
        for &node in &slot_node {
            touched_offsets[row(node) + 1] += 1;
        }
        for i in 0..touched.len() {
            touched_offsets[i + 1] += touched_offsets[i];
        }
        let mut next = touched_offsets.clone();
        let mut touched_slots = vec![0; slot_node.len()];
        for (slot, &node) in slot_node.iter().enumerate() {
            let row = row(node);
            touched_slots[next[row] as usize] = slot as u32;
            next[row] += 1;
        }
        Self {
            corners,
            chunk_elements,
            elements,
            first_slot,
            slot_node,
            local,
            touched,
            touched_offsets,
            touched_slots,
            scratch: Mutex::new(Vec::new()),
        }
    }

    fn chunks(&self) -> usize {
        self.first_slot.len() - 1
    }

    fn chunk(&self, index: usize) -> Chunk<'_> {
        let first = index * self.chunk_elements;
        let last = (first + self.chunk_elements).min(self.elements);
        Chunk {
            first,
            last,
            corners: self.corners,
            nodes: &self.slot_node[self.first_slot[index]..self.first_slot[index + 1]],
            local: &self.local[first * self.corners..last * self.corners],
        }
    }

    /// Calls `work(chunk, part)` for every chunk with its part of `data`, which has `per_element` entries an element; in parallel.
    pub fn for_each<T: Send>(
        &self,
        data: &mut [T],
        per_element: usize,
        work: impl Fn(&Chunk, &mut [T]) + Sync,
    ) {
        data.par_chunks_mut((self.chunk_elements * per_element).max(1))
            .enumerate()
            .for_each(|(index, part)| work(&self.chunk(index), part));
    }

    /// Sums `work(chunk)` over all chunks in their order.
    pub fn sum(&self, work: impl Fn(&Chunk) -> f64 + Sync) -> f64 {
        let parts: Vec<f64> =
            (0..self.chunks()).into_par_iter().map(|index| work(&self.chunk(index))).collect();
        parts.iter().sum()
    }

    /// Adds to the nodes of `out` (`D` entries a node) what `work(chunk, local)` adds to the local entries of its nodes.
    pub fn assemble<const D: usize>(&self, out: &mut [f64], work: impl Fn(&Chunk, &mut [[f64; D]]) + Sync) {
        let mut scratch = self.scratch.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        scratch.clear();
        scratch.resize(D * self.slot_node.len(), 0.0);
        let mut parts = Vec::with_capacity(self.chunks());
        let mut rest: &mut [[f64; D]] = scratch.as_chunks_mut::<D>().0;
        for index in 0..self.chunks() {
            let (part, after) = rest.split_at_mut(self.first_slot[index + 1] - self.first_slot[index]);
            parts.push(part);
            rest = after;
        }
        parts.into_par_iter().enumerate().for_each(|(index, part)| work(&self.chunk(index), part));
        let values: &[[f64; D]] = scratch.as_chunks::<D>().0;
        self.gather(out, values, 0..self.touched.len(), 0);
    }

    /// Every touched node in `range` takes its slots; `out` starts at node `offset`. Halves in parallel, each with its own part of `out`.
    fn gather<const D: usize>(
        &self,
        out: &mut [f64],
        values: &[[f64; D]],
        range: std::ops::Range<usize>,
        offset: usize,
    ) {
        if range.len() > 8192 {
            let middle = range.start + range.len() / 2;
            let cut = self.touched[middle] as usize;
            let (low, high) = out.split_at_mut(D * (cut - offset));
            rayon::join(
                || self.gather(low, values, range.start..middle, offset),
                || self.gather(high, values, middle..range.end, cut),
            );
            return;
        }
        for at in range {
            let node = self.touched[at] as usize - offset;
            let mut sum = [0.0; D];
            for &slot in
                &self.touched_slots[self.touched_offsets[at] as usize..self.touched_offsets[at + 1] as usize]
            {
                let value = &values[slot as usize];
                for axis in 0..D {
                    sum[axis] += value[axis];
                }
            }
            for axis in 0..D {
                out[D * node + axis] += sum[axis];
            }
        }
    }

    /// Bytes of memory held.
    pub fn bytes(&self) -> usize {
        2 * self.local.len()
            + 4 * (self.slot_node.len()
                + self.touched.len()
                + self.touched_offsets.len()
                + self.touched_slots.len())
            + 8 * self.first_slot.len()
            + 8 * self.scratch.lock().map_or(0, |scratch| scratch.capacity())
    }
}
