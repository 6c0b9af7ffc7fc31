//! Number types of binary files.

/// Which byte of a number comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOrder {
    /// Least significant first.
    Little,
    /// Most significant first.
    Big,
}

/// A type of number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Scalar {
    pub fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// The first [`size`](Self::size) bytes, least significant first and filled with zeros.
    #[inline]
    fn low_bytes(self, bytes: &[u8], order: ByteOrder) -> [u8; 8] {
        let size = self.size();
        let mut low = [0; 8];
        low[..size].copy_from_slice(&bytes[..size]);
        if order == ByteOrder::Big {
            low[..size].reverse();
        }
        low
    }

    /// `bytes` holds at least [`size`](Self::size) bytes.
    #[inline]
    pub fn real(self, bytes: &[u8], order: ByteOrder) -> f64 {
        let bits = u64::from_le_bytes(self.low_bytes(bytes, order));
        match self {
            Self::F32 => f64::from(f32::from_bits(bits as u32)),
            Self::F64 => f64::from_bits(bits),
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => bits as f64,
            Self::I8 => f64::from(bits as i8),
            Self::I16 => f64::from(bits as i16),
            Self::I32 => f64::from(bits as i32),
            Self::I64 => bits as i64 as f64,
        }
    }

    /// `None` when the value is not a whole number within `i64`.
    #[inline]
    pub fn integer(self, bytes: &[u8], order: ByteOrder) -> Option<i64> {
        let bits = u64::from_le_bytes(self.low_bytes(bytes, order));
        match self {
            Self::I8 => Some(i64::from(bits as i8)),
            Self::I16 => Some(i64::from(bits as i16)),
            Self::I32 => Some(i64::from(bits as i32)),
            Self::I64 => Some(bits as i64),
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => i64::try_from(bits).ok(),
            Self::F32 | Self::F64 => {
                let value = self.real(bytes, order);
                // 2^53: beyond it floats skip integers.
                (value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0).then_some(value as i64)
            }
        }
    }
}
