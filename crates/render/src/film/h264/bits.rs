//! Bits, exponential Golomb codes and units of the byte stream.

/// Bits from the highest down, as the standard writes them.
#[derive(Debug, Default)]
pub(super) struct Bits {
    bytes: Vec<u8>,
    open: u64,
    count: u32,
}

impl Bits {
    /// The lowest `count` bits of `value`, at most 32.
    pub fn put(&mut self, value: u32, count: u32) {
        debug_assert!(count <= 32 && (count == 32 || u64::from(value) < 1 << count));
        self.open = self.open << count | u64::from(value);
        self.count += count;
        while self.count >= 8 {
            self.count -= 8;
            self.bytes.push((self.open >> self.count) as u8);
        }
        self.open &= (1 << self.count) - 1;
    }

    pub fn flag(&mut self, value: bool) {
        self.put(value.into(), 1);
    }

    /// ue(v), clause 9.1.
    pub fn unsigned(&mut self, value: u32) {
        let code = value + 1;
        let length = 32 - code.leading_zeros();
        self.put(0, length - 1);
        self.put(code, length);
    }

    /// se(v), clause 9.1.1.
    pub fn signed(&mut self, value: i32) {
        self.unsigned(if value > 0 { 2 * value.unsigned_abs() - 1 } else { 2 * value.unsigned_abs() });
    }

    /// A unit (clause 7.3.1) with its first byte and without a start code; bytes that would look like one are told apart.
    pub fn into_unit(mut self, first: u8) -> Vec<u8> {
        self.put(1, 1);
        let rest = (8 - self.count) % 8;
        self.put(0, rest);
        let mut unit = Vec::with_capacity(self.bytes.len() + 8);
        unit.push(first);
        let mut zeros = 0;
        for byte in self.bytes {
            if zeros == 2 && byte <= 3 {
                unit.push(3);
                zeros = 0;
            }
            zeros = if byte == 0 { zeros + 1 } else { 0 };
            unit.push(byte);
        }
        unit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_the_standard() {
        // Tables 9-2 and 9-3: 1, 010, 011, 00100; 1, -1 and 2 of se(v) are 010, 011 and 00100.
        let mut bits = Bits::default();
        [0, 1, 2, 3].into_iter().for_each(|value| bits.unsigned(value));
        [1, -1, 2].into_iter().for_each(|value| bits.signed(value));
        // 1 010 011 00100 010 011 00100, the stop bit, zeros.
        assert_eq!(bits.into_unit(9), [9, 0b1010_0110, 0b0100_0100, 0b1100_1001]);
    }

    #[test]
    fn nothing_looks_like_a_start_code() {
        let mut bits = Bits::default();
        [0, 0, 1, 0, 0, 0, 0].into_iter().for_each(|byte| bits.put(byte, 8));
        assert_eq!(bits.into_unit(1), [1, 0, 0, 3, 1, 0, 0, 3, 0, 0, 0x80]);
    }
}
