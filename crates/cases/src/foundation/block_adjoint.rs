//! Every implicit effect is a block of rows `B`, applied forwards (`B V`) and backwards (`B^T z`). The coupled system is symmetric only if
//! the two are exact adjoints, `<B v, z> = <v, B^T z>`, and it converges only if the block tells its diagonal truly.
//!
//! Source: spec/fluid-structure.md 3.7 (the dot-product self test, 1e-12). A new block joins by one line in [`EXAMPLES`].

use crate::{Case, CaseError, Measurements, Speed};
use splashdown_deformable::{Spring, SpringDamping, Springs};
use splashdown_math::{Dim, Space, Vector};
use splashdown_solve::testing::{TestNumbers, check_block, random_mass, random_rows};
use splashdown_solve::{Block, ComposedBlock, CsrMatrix, FnBlock, InverseMass, SparseBlock, VelocityLayout};

pub(super) const CASE: Case = Case {
    name: "foundation/block-adjoint",
    spec: "FS-21",
    summary: "every block: apply and transpose are adjoint; diagonal, assembly and compliance are right",
    source: "exact: <B v, z> = <v, B^T z>",
    speed: Speed::Fast,
    seconds: 0.1,
    run,
};

/// A block with the masses it acts on.
struct Example {
    inverse_mass: InverseMass,
    block: Box<dyn Block>,
}

type Maker = fn(&mut TestNumbers) -> Result<Example, CaseError>;

/// One maker a kind of block.
const EXAMPLES: &[Maker] =
    &[constraint, factored_force, closures, composed, spring_damping::<2>, spring_damping::<3>];

fn constraint(random: &mut TestNumbers) -> Result<Example, CaseError> {
    let inverse_mass = random_mass(random);
    let rows = random_rows(random, 200, inverse_mass.layout().len(), 8);
    let block = Box::new(SparseBlock::new("sparse constraint", rows));
    Ok(Example { inverse_mass, block })
}

fn factored_force(random: &mut TestNumbers) -> Result<Example, CaseError> {
    let inverse_mass = random_mass(random);
    let rows = random_rows(random, 200, inverse_mass.layout().len(), 8);
    let block = Box::new(SparseBlock::factored_force("sparse factored force", rows));
    Ok(Example { inverse_mass, block })
}

fn closures(random: &mut TestNumbers) -> Result<Example, CaseError> {
    let inverse_mass = random_mass(random);
    let block = Box::new(FnBlock::new(
        "difference of neighbouring faces, matrix-free",
        17,
        1.0,
        |v: &[f64], out: &mut [f64]| out.iter_mut().enumerate().for_each(|(i, out)| *out = v[i + 1] - v[i]),
        |z: &[f64], impulse: &mut [f64]| {
            for (i, z) in z.iter().enumerate() {
                impulse[i + 1] += z;
                impulse[i] -= z;
            }
        },
        |inverse: &InverseMass, out: &mut [f64]| {
            out.iter_mut()
                .enumerate()
                .for_each(|(i, out)| *out = inverse.faces()[i] + inverse.faces()[i + 1]);
        },
    ));
    Ok(Example { inverse_mass, block })
}

fn composed(random: &mut TestNumbers) -> Result<Example, CaseError> {
    let inverse_mass = random_mass(random);
    let inner = SparseBlock::new("interpolation", random_rows(random, 12, inverse_mass.layout().len(), 6));
    let outer = random_rows(random, 30, 12, 3);
    let block = ComposedBlock::new("factor after interpolation", outer, inner, 1.0)
        .map_err(|error| CaseError::new("composing", error))?;
    Ok(Example { inverse_mass, block: Box::new(block) })
}

/// The coupled world's own block, assembled here from its rows so that it owns what it needs.
struct Damping<const D: usize> {
    springs: Springs,
    positions: Vec<Vector<D>>,
    layout: VelocityLayout,
}

impl<const D: usize> Damping<D> {
    fn rows_at_positions(&self) -> SpringDamping<'_, D> {
        self.springs.damping_rows(&self.positions, 0.01, self.layout)
    }
}

impl<const D: usize> Block for Damping<D> {
    fn name(&self) -> &str {
        "spring damping"
    }
    fn rows(&self) -> usize {
        self.rows_at_positions().rows()
    }
    fn apply(&self, velocity: &[f64], out: &mut [f64]) {
        self.rows_at_positions().apply(velocity, out);
    }
    fn add_transpose(&self, z: &[f64], impulse: &mut [f64]) {
        self.rows_at_positions().add_transpose(z, impulse);
    }
    fn compliance(&self, out: &mut [f64]) {
        self.rows_at_positions().compliance(out);
    }
    fn diagonal(&self, inverse_mass: &InverseMass, out: &mut [f64]) {
        self.rows_at_positions().diagonal(inverse_mass, out);
    }
    fn assemble(&self) -> Option<CsrMatrix> {
        self.rows_at_positions().assemble()
    }
}

fn spring_damping<const D: usize>(random: &mut TestNumbers) -> Result<Example, CaseError>
where
    Dim<D>: Space<D>,
{
    let count = 25;
    let layout = VelocityLayout::new::<D>(4, count, 3);
    let mut inverse_mass = InverseMass::zero(layout);
    for particle in 0..count {
        let inverse = random.uniform(0.0, 2.0);
        inverse_mass
            .set_particle(particle, inverse)
            .map_err(|error| CaseError::new("setting a mass", error))?;
    }
    let positions: Vec<Vector<D>> =
        (0..count).map(|_| Vector::from_fn(|_, _| random.uniform(-1.0, 1.0))).collect();
    let springs = (0..60)
        .map(|index| Spring {
            ends: [index % 25, (index % 25 + 1 + index / 25) % 25],
            stiffness: 1.0,
            damping: random.uniform(0.0, 5.0),
            rest_length: 1.0,
        })
        .collect();
    let springs = Springs::new(springs, count).map_err(|error| CaseError::new("joining particles", error))?;
    Ok(Example { inverse_mass, block: Box::new(Damping { springs, positions, layout }) })
}

fn run(measurements: &mut Measurements) -> Result<(), CaseError> {
    for example in EXAMPLES {
        let mut worst: f64 = 0.0;
        let mut name = String::new();
        for seed in 0..20 {
            let Example { inverse_mass, block } = example(&mut TestNumbers::new(seed))?;
            worst = worst.max(check_block(&*block, &inverse_mass, seed).worst());
            name = block.name().into();
        }
        let quantity = format!("{name}: worst relative error");
        measurements.at_most(&quantity, "20 random", worst, 1e-12, "spec/fluid-structure.md 3.7");
    }
    Ok(())
}
