//! Coefficients in variable-length codes (clause 9.2).

use super::bits::Bits;

/// Table 9-5, nC 0 and 1: a row for each number of coefficients, then by trailing ones.
const TOKEN_FEW: [&str; 17] = [
    "1",
    "000101 01",
    "00000111 000100 001",
    "000000111 00000110 0000101 00011",
    "0000000111 000000110 00000101 000011",
    "00000000111 0000000110 000000101 0000100",
    "0000000001111 00000000110 0000000101 00000100",
    "0000000001011 0000000001110 00000000101 000000100",
    "0000000001000 0000000001010 0000000001101 0000000100",
    "00000000001111 00000000001110 0000000001001 00000000100",
    "00000000001011 00000000001010 00000000001101 0000000001100",
    "000000000001111 000000000001110 00000000001001 00000000001100",
    "000000000001011 000000000001010 000000000001101 00000000001000",
    "0000000000001111 000000000000001 000000000001001 000000000001100",
    "0000000000001011 0000000000001110 0000000000001101 000000000001000",
    "0000000000000111 0000000000001010 0000000000001001 0000000000001100",
    "0000000000000100 0000000000000110 0000000000000101 0000000000001000",
];

/// Table 9-5, nC 2 and 3: a row for each number of coefficients, then by trailing ones.
const TOKEN_SOME: [&str; 17] = [
    "11",
    "001011 10",
    "000111 00111 011",
    "0000111 001010 001001 0101",
    "00000111 000110 000101 0100",
    "00000100 0000110 0000101 00110",
    "000000111 00000110 00000101 001000",
    "00000001111 000000110 000000101 000100",
    "00000001011 00000001110 00000001101 0000100",
    "000000001111 00000001010 00000001001 000000100",
    "000000001011 000000001110 000000001101 00000001100",
    "000000001000 000000001010 000000001001 00000001000",
    "0000000001111 0000000001110 0000000001101 000000001100",
    "0000000001011 0000000001010 0000000001001 0000000001100",
    "0000000000111 00000000001011 0000000000110 0000000001000",
    "00000000001001 00000000001000 00000000001010 0000000000001",
    "00000000000111 00000000000110 00000000000101 00000000000100",
];

/// Table 9-5, nC 4 to 7: a row for each number of coefficients, then by trailing ones.
const TOKEN_MANY: [&str; 17] = [
    "1111",
    "001111 1110",
    "001011 01111 1101",
    "001000 01100 01110 1100",
    "0001111 01010 01011 1011",
    "0001011 01000 01001 1010",
    "0001001 001110 001101 1001",
    "0001000 001010 001001 1000",
    "00001111 0001110 0001101 01101",
    "00001011 00001110 0001010 001100",
    "000001111 00001010 00001101 0001100",
    "000001011 000001110 00001001 00001100",
    "000001000 000001010 000001101 00001000",
    "0000001101 000000111 000001001 000001100",
    "0000001001 0000001100 0000001011 0000001010",
    "0000000101 0000001000 0000000111 0000000110",
    "0000000001 0000000100 0000000011 0000000010",
];

/// Table 9-5, nC -1.
const TOKEN_CHROMA_DC: [&str; 5] = [
    "01",
    "000111 1",
    "000100 000110 001",
    "000011 0000011 0000010 000101",
    "000010 00000011 00000010 0000000",
];

/// Tables 9-7 and 9-8: a row for each number of coefficients from 1, then by zeros.
const TOTAL_ZEROS: [&str; 15] = [
    "1 011 010 0011 0010 00011 00010 000011 000010 0000011 0000010 00000011 00000010 000000011 000000010 000000001",
    "111 110 101 100 011 0101 0100 0011 0010 00011 00010 000011 000010 000001 000000",
    "0101 111 110 101 0100 0011 100 011 0010 00011 00010 000001 00001 000000",
    "00011 111 0101 0100 110 101 100 0011 011 0010 00010 00001 00000",
    "0101 0100 0011 111 110 101 100 011 0010 00001 0001 00000",
    "000001 00001 111 110 101 100 011 010 0001 001 000000",
    "000001 00001 101 100 011 11 010 0001 001 000000",
    "000001 0001 00001 011 11 10 010 001 000000",
    "000001 000000 0001 11 10 001 01 00001",
    "00001 00000 001 11 10 01 0001",
    "0000 0001 001 010 1 011",
    "0000 0001 01 1 001",
    "000 001 1 01",
    "00 01 1",
    "0 1",
];

/// Table 9-9 (a).
const TOTAL_ZEROS_CHROMA_DC: [&str; 3] = ["1 01 001 000", "1 01 00", "1 0"];

/// Table 9-10: a row for each number of zeros left from 1, the last for 7 and more.
const RUN_BEFORE: [&str; 7] = [
    "1 0",
    "1 01 00",
    "11 10 01 00",
    "11 10 01 001 000",
    "11 10 011 010 001 000",
    "11 000 001 011 010 101 100",
    "111 110 101 100 011 010 001 0001 00001 000001 0000001 00000001 000000001 0000000001 00000000001",
];

/// Neighbours' coefficients that choose the code of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// Mean number of coefficients of the blocks to the left and above.
    Neighbours(u8),
    /// Four means of chroma blocks.
    ChromaDc,
}

/// Value and length of a code.
type Code = (u16, u8);

/// The codes, ready for use.
#[derive(Debug)]
pub(super) struct Codes {
    tokens: [Vec<Vec<Code>>; 3],
    token_chroma_dc: Vec<Vec<Code>>,
    total_zeros: Vec<Vec<Code>>,
    total_zeros_chroma_dc: Vec<Vec<Code>>,
    run_before: Vec<Vec<Code>>,
}

fn parse(table: &[&str]) -> Vec<Vec<Code>> {
    let code = |text: &str| {
        let value = text.bytes().fold(0, |value, bit| value << 1 | u16::from(bit == b'1'));
        (value, text.len() as u8)
    };
    table.iter().map(|row| row.split(' ').map(code).collect()).collect()
}

impl Default for Codes {
    fn default() -> Self {
        Self {
            tokens: [parse(&TOKEN_FEW), parse(&TOKEN_SOME), parse(&TOKEN_MANY)],
            token_chroma_dc: parse(&TOKEN_CHROMA_DC),
            total_zeros: parse(&TOTAL_ZEROS),
            total_zeros_chroma_dc: parse(&TOTAL_ZEROS_CHROMA_DC),
            run_before: parse(&RUN_BEFORE),
        }
    }
}

/// Largest size of a level whose code is certain to fit the escape of 12 bits.
pub(super) const LARGEST: i32 = 2047;

impl Codes {
    /// Writes a block of at most 16 levels, in the order of the scan; returns how many are not 0.
    pub fn block(&self, bits: &mut Bits, levels: &[i32], context: Context) -> u8 {
        // From the highest frequency down: level and zeros below it.
        let mut found = [(0, 0); 16];
        let mut total = 0;
        let mut zeros = 0;
        for &level in levels.iter().rev() {
            if level != 0 {
                found[total] = (level, 0);
                total += 1;
            } else if total > 0 {
                found[total - 1].1 += 1;
                zeros += 1;
            }
        }
        let found = &found[..total];
        let ones = found.iter().take(3).take_while(|(level, _)| level.abs() == 1).count();
        let put = |bits: &mut Bits, (value, length): Code| bits.put(value.into(), length.into());
        match context {
            Context::ChromaDc => put(bits, self.token_chroma_dc[total][ones]),
            Context::Neighbours(8..) if total == 0 => bits.put(3, 6),
            Context::Neighbours(8..) => bits.put(((total - 1) << 2 | ones) as u32, 6),
            Context::Neighbours(n) => {
                put(bits, self.tokens[[0, 0, 1, 1, 2, 2, 2, 2][n as usize]][total][ones])
            }
        }
        if total == 0 {
            return 0;
        }
        found[..ones].iter().for_each(|(level, _)| bits.flag(*level < 0));
        levels_after_ones(bits, &found[ones..], total, ones);
        if total < levels.len() {
            let table =
                if context == Context::ChromaDc { &self.total_zeros_chroma_dc } else { &self.total_zeros };
            put(bits, table[total - 1][zeros]);
        }
        for (_, run) in &found[..total - 1] {
            if zeros == 0 {
                break;
            }
            put(bits, self.run_before[zeros.min(7) - 1][*run]);
            zeros -= run;
        }
        total as u8
    }
}

/// Clause 9.2.2.1 the other way round.
fn levels_after_ones(bits: &mut Bits, levels: &[(i32, usize)], total: usize, ones: usize) {
    let mut suffix = u32::from(total > 10 && ones < 3);
    for (k, (level, _)) in levels.iter().enumerate() {
        let size = level.unsigned_abs();
        let mut code = 2 * size - if *level > 0 { 2 } else { 1 };
        if k == 0 && ones < 3 {
            // It is not a one, or it would have been counted as such.
            code -= 2;
        }
        match suffix {
            0 if code < 14 => bits.put(1, code + 1),
            0 if code < 30 => {
                bits.put(1, 15);
                bits.put(code - 14, 4);
            }
            _ => {
                let escape = if suffix == 0 { 30 } else { 15 << suffix };
                if code < escape {
                    bits.put(1, (code >> suffix) + 1);
                    bits.put(code & ((1 << suffix) - 1), suffix);
                } else {
                    bits.put(1, 16);
                    bits.put(code - escape, 12);
                }
            }
        }
        suffix = suffix.max(1);
        if size > 3 << (suffix - 1) && suffix < 6 {
            suffix += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No code is the beginning of another, so a reader is never in doubt.
    #[test]
    fn codes_are_free_of_prefixes() {
        let codes = Codes::default();
        let whole = |table: &Vec<Vec<Code>>| vec![table.concat()];
        let mut sets: Vec<Vec<Code>> = codes.tokens.iter().flat_map(whole).collect();
        sets.extend(whole(&codes.token_chroma_dc));
        sets.extend(
            codes.total_zeros.iter().chain(&codes.total_zeros_chroma_dc).chain(&codes.run_before).cloned(),
        );
        for set in sets {
            for (i, a) in set.iter().enumerate() {
                for (j, b) in set.iter().enumerate().filter(|(_, b)| b.1 >= a.1) {
                    assert!(i == j || b.0 >> (b.1 - a.1) != a.0, "{a:?} begins {b:?}");
                }
            }
        }
        let sizes = |table: &[Vec<Code>]| table.iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(sizes(&codes.total_zeros), (2..=16).rev().collect::<Vec<_>>());
        assert_eq!(codes.tokens.each_ref().map(|table| table.concat().len()), [62; 3]);
    }

    /// A block worked out by hand from the tables.
    #[test]
    fn a_block_is_written_as_the_standard_says() {
        let mut bits = Bits::default();
        let count = Codes::default().block(
            &mut bits,
            &[0, 3, 0, 1, -1, -1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
            Context::Neighbours(0),
        );
        assert_eq!(count, 5);
        // 5 coefficients of which three are trailing ones: 0000100; signs + - - : 0 1 1; 1 with suffix length 0: 1; 3: level code 4,
        // suffix length 1: 001 0; three zeros: 111; runs 1, 0, 0, 1 before the coefficients from the end: 10, 1, 1, 01.
        // 0000100 011 1 0010 111 10 1 1 01, stop bit.
        assert_eq!(bits.into_unit(0), [0, 0b0000_1000, 0b1110_0101, 0b1110_1101, 0b1000_0000]);
    }
}
