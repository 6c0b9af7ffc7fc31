//! How large a scene may be, and estimates of what it needs.

use crate::description::{Deformable, Fluid, Rigid, Scene};

/// Most memory a scene may need by the estimate of [`Size::memory_bytes`].
pub const MAX_MEMORY_BYTES: u128 = 16 << 30;
/// Most frames of a run.
pub const MAX_FRAMES: f64 = 1e6;
/// Most time steps of a run, at the longest step.
pub const MAX_STEPS: f64 = 1e9;

/// Memory of one rigid body with its name, inertia, state, scratch vectors and checkpoint copy (bytes).
const BYTES_PER_RIGID_BODY: u128 = 1024;
/// Memory of one particle of a chain with its spring, state, solver vectors and checkpoint copy (bytes).
const BYTES_PER_PARTICLE: u128 = 768;
/// Bytes of one rigid body in a frame, before compression.
const FRAME_BYTES_PER_RIGID_BODY: u128 = 128;
/// Bytes of one particle in a frame, before compression.
const FRAME_BYTES_PER_PARTICLE: u128 = 48;

/// Memory of one cell of a fluid with its state, the copy of it during a step, working fields, pressure solver and markers (bytes).
const BYTES_PER_FLUID_CELL: u128 = 700;
/// Bytes of one cell of a fluid in a frame, before compression.
const FRAME_BYTES_PER_FLUID_CELL: u128 = 28;

/// Number of things in a scene.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Size {
    /// Rigid bodies, copies included.
    pub rigid_bodies: u128,
    /// Particles of deformable bodies.
    pub particles: u128,
    /// Cells of the fluid.
    pub fluid_cells: u128,
}

impl Size {
    /// Size of a scene.
    pub fn of(scene: &Scene) -> Self {
        let rigid = scene.rigid.iter().map(Self::of_rigid);
        let deformable = scene.deformable.iter().map(Self::of_deformable);
        let fluid = scene.fluid.iter().map(Self::of_fluid);
        rigid.chain(deformable).chain(fluid).fold(Self::default(), Self::plus)
    }

    /// Size of an entry of `[[rigid]]` with its copies.
    pub fn of_rigid(body: &Rigid) -> Self {
        let copies = body
            .repeat
            .as_ref()
            .map_or(1, |r| r.count.iter().fold(1u128, |n, &c| n.saturating_mul(c.into())));
        Self { rigid_bodies: copies, ..Self::default() }
    }

    /// Size of a deformable body.
    pub fn of_deformable(body: &Deformable) -> Self {
        Self { particles: body.geometry.particle_count().into(), ..Self::default() }
    }

    /// Size of a fluid.
    pub fn of_fluid(fluid: &Fluid) -> Self {
        Self { fluid_cells: fluid.cell_count(), ..Self::default() }
    }

    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        Self {
            rigid_bodies: self.rigid_bodies.saturating_add(other.rigid_bodies),
            particles: self.particles.saturating_add(other.particles),
            fluid_cells: self.fluid_cells.saturating_add(other.fluid_cells),
        }
    }

    /// Estimated memory of a run (bytes).
    pub fn memory_bytes(&self) -> u128 {
        self.rigid_bodies
            .saturating_mul(BYTES_PER_RIGID_BODY)
            .saturating_add(self.particles.saturating_mul(BYTES_PER_PARTICLE))
            .saturating_add(self.fluid_cells.saturating_mul(BYTES_PER_FLUID_CELL))
    }

    /// Estimated size of one frame before compression (bytes).
    pub fn frame_bytes(&self) -> u128 {
        self.rigid_bodies
            .saturating_mul(FRAME_BYTES_PER_RIGID_BODY)
            .saturating_add(self.particles.saturating_mul(FRAME_BYTES_PER_PARTICLE))
            .saturating_add(self.fluid_cells.saturating_mul(FRAME_BYTES_PER_FLUID_CELL))
    }
}

/// Bytes for people: "2.0 GiB".
pub fn bytes_text(bytes: u128) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 {
        format!("{bytes} B")
    } else if value < 1e4 {
        format!("{value:.1} {}", UNITS[unit])
    } else {
        format!("{value:.1e} {}", UNITS[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_read_well() {
        assert_eq!(bytes_text(12), "12 B");
        assert_eq!(bytes_text(MAX_MEMORY_BYTES), "16.0 GiB");
        assert_eq!(bytes_text(768 * 1_000_000_000_000), "698.5 TiB");
    }
}
