//! Under construction in this commit series.

pub mod frame;
pub mod storage;
