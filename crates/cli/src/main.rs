//! Under construction in this commit series.
fn main() {}
