//! Under construction in this commit series.

pub mod checkpoint;
pub mod container;
pub mod export;
pub mod frame;
pub mod log;
pub mod recorder;
pub mod run;
pub mod run_folder;
pub mod storage;
