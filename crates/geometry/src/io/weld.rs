//! Joining corners with equal coordinates.

use splashdown_math::Vector;

/// Gives equal positions one number. An open-addressing table over the bits of the coordinates: the standard map spends most of
/// the time of reading a large STL file on its hashing.
pub struct Welder {
    points: Vec<Vector<3>>,
    slots: Vec<u32>,
    mask: usize,
}

const EMPTY: u32 = u32::MAX;

impl Welder {
    /// `expected` positions, of which in a closed surface one in six is new.
    pub fn new(expected: usize) -> Self {
        let slots = (expected / 3).next_power_of_two().max(64);
        Self { points: Vec::with_capacity(expected / 6), slots: vec![EMPTY; slots], mask: slots - 1 }
    }

    #[inline]
    pub fn number(&mut self, x: Vector<3>) -> u32 {
        // Both zeros are one coordinate.
        let x = x.map(|v| if v == 0.0 { 0.0 } else { v });
        let mut slot = hash(&x) & self.mask;
        loop {
            let number = self.slots[slot];
            if number == EMPTY {
                break;
            }
            if self.points[number as usize] == x {
                return number;
            }
            slot = (slot + 1) & self.mask;
        }
        let number = self.points.len() as u32;
        self.points.push(x);
        self.slots[slot] = number;
        if self.points.len() * 2 > self.slots.len() {
            self.grow();
        }
        number
    }

    fn grow(&mut self) {
        self.mask = self.slots.len() * 2 - 1;
        self.slots = vec![EMPTY; self.mask + 1];
        for (number, x) in self.points.iter().enumerate() {
            let mut slot = hash(x) & self.mask;
            while self.slots[slot] != EMPTY {
                slot = (slot + 1) & self.mask;
            }
            self.slots[slot] = number as u32;
        }
    }

    pub fn into_points(self) -> Vec<Vector<3>> {
        self.points
    }
}

#[inline]
fn hash(x: &Vector<3>) -> usize {
    // Multiply and rotate per coordinate, then a final mix so that the low bits depend on all of them.
    let mut h = 0u64;
    for v in x.iter() {
        h = (h.rotate_left(23) ^ v.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    h ^= h >> 32;
    h = h.wrapping_mul(0xd6e8_feb8_6659_fd93);
    (h ^ h >> 29) as usize
}
