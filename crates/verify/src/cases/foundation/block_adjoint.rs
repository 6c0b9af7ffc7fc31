//! Every implicit effect is a block of rows `B`, applied forwards (`B V`) and backwards (`B^T z`). The coupled system is symmetric only if
//! the two are exact adjoints, `<B v, z> = <v, B^T z>`, and it converges only if the block tells its diagonal truly.
//!
//! Source: spec/fluid-structure.md 3.7 (the dot-product self test, 1e-12). A new block joins by one line in [`EXAMPLES`].

use crate::{Case, CaseError, Measurements, Speed};
use splashdown_solve::testing::{TestNumbers, check_block, random_mass, random_rows};
use splashdown_solve::{Block, ComposedBlock, FnBlock, InverseMass, SparseBlock};

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

/// One maker a kind of block.
const EXAMPLES: &[fn(&mut TestNumbers) -> Result<Example, CaseError>] =
    &[constraint, factored_force, closures, composed];

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
