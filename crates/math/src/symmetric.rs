//! Symmetric matrices stored by their independent entries.

use crate::{Matrix, Vector};
use serde::{Deserialize, Serialize};

/// A symmetric 2x2 matrix: `xx`, `yy`, `xy`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SymmetricMatrix2 {
    /// Entry (0, 0).
    pub xx: f64,
    /// Entry (1, 1).
    pub yy: f64,
    /// Entries (0, 1) and (1, 0).
    pub xy: f64,
}

/// A symmetric 3x3 matrix: diagonal, then `xy`, `yz`, `xz`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SymmetricMatrix3 {
    /// Entry (0, 0).
    pub xx: f64,
    /// Entry (1, 1).
    pub yy: f64,
    /// Entry (2, 2).
    pub zz: f64,
    /// Entries (0, 1) and (1, 0).
    pub xy: f64,
    /// Entries (1, 2) and (2, 1).
    pub yz: f64,
    /// Entries (0, 2) and (2, 0).
    pub xz: f64,
}

impl SymmetricMatrix2 {
    /// The symmetric part of `m`.
    pub fn symmetric_part(m: &Matrix<2>) -> Self {
        Self { xx: m[(0, 0)], yy: m[(1, 1)], xy: 0.5 * (m[(0, 1)] + m[(1, 0)]) }
    }

    /// Full matrix.
    pub fn to_matrix(&self) -> Matrix<2> {
        Matrix::<2>::new(self.xx, self.xy, self.xy, self.yy)
    }

    /// Matrix times vector.
    pub fn apply(&self, v: &Vector<2>) -> Vector<2> {
        Vector::<2>::new(self.xx * v.x + self.xy * v.y, self.xy * v.x + self.yy * v.y)
    }

    /// Sum of the diagonal.
    pub fn trace(&self) -> f64 {
        self.xx + self.yy
    }
}

impl SymmetricMatrix3 {
    /// The symmetric part of `m`.
    pub fn symmetric_part(m: &Matrix<3>) -> Self {
        Self {
            xx: m[(0, 0)],
            yy: m[(1, 1)],
            zz: m[(2, 2)],
            xy: 0.5 * (m[(0, 1)] + m[(1, 0)]),
            yz: 0.5 * (m[(1, 2)] + m[(2, 1)]),
            xz: 0.5 * (m[(0, 2)] + m[(2, 0)]),
        }
    }

    /// Full matrix.
    pub fn to_matrix(&self) -> Matrix<3> {
        Matrix::<3>::new(self.xx, self.xy, self.xz, self.xy, self.yy, self.yz, self.xz, self.yz, self.zz)
    }

    /// Matrix times vector.
    pub fn apply(&self, v: &Vector<3>) -> Vector<3> {
        Vector::<3>::new(
            self.xx * v.x + self.xy * v.y + self.xz * v.z,
            self.xy * v.x + self.yy * v.y + self.yz * v.z,
            self.xz * v.x + self.yz * v.y + self.zz * v.z,
        )
    }

    /// Sum of the diagonal.
    pub fn trace(&self) -> f64 {
        self.xx + self.yy + self.zz
    }
}
