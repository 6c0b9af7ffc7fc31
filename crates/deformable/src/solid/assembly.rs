//! The matrices of all elements as one sparse matrix.

use super::{FactorCache, Solid};
use splashdown_parallel::prelude::*;
use splashdown_solve::{BlockCsrMatrix, BlockPattern, CsrMatrix, SolveError};
use std::ops::Range;
use std::sync::Arc;

/// Fewest nodes whose rows one task assembles, and most tasks: an element at the border of two ranges is evaluated for both.
const LEAST_ROWS: usize = 512;
const MOST_RANGES: usize = 16;

/// Where the entries of element matrices go in an assembled matrix.
#[derive(Debug)]
pub(super) struct Assembly {
    /// Node neighbours with the node itself.
    pattern: Arc<BlockPattern>,
    /// Nodes whose rows one task assembles.
    range: usize,
    /// Of each range of nodes: the elements `(force, element)` that touch it, in order.
    ranges: Vec<Vec<(u32, u32)>>,
    /// Of each force: the place of every block of every element, node after node.
    places: Vec<Places>,
}

#[derive(Debug, Default)]
struct Places {
    first: Vec<usize>,
    blocks: Vec<u32>,
}

impl Assembly {
    fn new<const D: usize>(solid: &Solid<D>) -> Self {
        let count = solid.len();
        let range = count.div_ceil(MOST_RANGES).max(LEAST_ROWS);
        let mut ranges = vec![Vec::new(); count.div_ceil(range)];
        let mut pairs: Vec<(u32, u32)> = (0..count as u32).map(|node| (node, node)).collect();
        for (index, force) in solid.forces.iter().enumerate() {
            for element in 0..force.elements() {
                let nodes = force.element_nodes(element);
                let mut touched: Vec<usize> = nodes.iter().map(|&node| node as usize / range).collect();
                touched.sort_unstable();
                touched.dedup();
                for part in touched {
                    ranges[part].push((index as u32, element as u32));
                }
                for &a in nodes {
                    pairs.extend(nodes.iter().filter(|&&b| a != b).map(|&b| (a, b)));
                }
            }
            // Keeps the list short: every pair comes once an element.
            pairs.par_sort_unstable();
            pairs.dedup();
        }
        let mut offsets = vec![0; count + 1];
        for &(row, _) in &pairs {
            offsets[row as usize + 1] += 1;
        }
        for row in 0..count {
            offsets[row + 1] += offsets[row];
        }
        let pattern = BlockPattern { offsets, columns: pairs.iter().map(|&(_, column)| column).collect() };
        let places = solid.forces.iter().map(|force| {
            let mut places = Places::default();
            for element in 0..force.elements() {
                let nodes = force.element_nodes(element);
                places.first.push(places.blocks.len());
                for &row in nodes {
                    // Every pair of nodes of an element has been put in.
                    let place = |&column| pattern.place(row as usize, column).unwrap_or(usize::MAX) as u32;
                    places.blocks.extend(nodes.iter().map(place));
                }
            }
            places
        });
        let places = places.collect();
        Self { pattern: Arc::new(pattern), range, ranges, places }
    }

    fn rows(&self, range: usize) -> Range<usize> {
        range * self.range..((range + 1) * self.range).min(self.pattern.rows())
    }

    /// Cuts values of which every block has `each` into those of the ranges.
    fn cut<'a, T>(&self, values: &'a mut [T], each: usize) -> Vec<&'a mut [T]> {
        let mut parts = Vec::with_capacity(self.ranges.len());
        let mut rest = values;
        for range in 0..self.ranges.len() {
            let rows = self.rows(range);
            let blocks = self.pattern.offsets[rows.end] - self.pattern.offsets[rows.start];
            let (part, after) = rest.split_at_mut(each * blocks);
            parts.push(part);
            rest = after;
        }
        parts
    }
}

/// A block of an element's matrix.
struct ElementBlock<'a> {
    row: usize,
    column: usize,
    /// Its place among all blocks.
    place: usize,
    /// Its rows, each `width` entries after the one before.
    entries: &'a [f64],
    width: usize,
}

impl<const D: usize> Solid<D> {
    fn assembly(&self) -> &Arc<Assembly> {
        self.assembly.get_or_init(|| Arc::new(Assembly::new(self)))
    }

    /// Hands all blocks of `stiffness K + damping (-D)` in the rows of a range to `add`, element after element.
    fn visit_blocks(
        &self,
        assembly: &Assembly,
        range: usize,
        [stiffness, damping]: [f64; 2],
        positive: bool,
        mut add: impl FnMut(ElementBlock),
    ) {
        let rows = assembly.rows(range);
        let mut dense = Vec::new();
        for &(index, element) in &assembly.ranges[range] {
            let (force, element) = (&self.forces[index as usize], element as usize);
            let nodes = force.element_nodes(element);
            let width = nodes.len() * D;
            dense.clear();
            dense.resize(width * width, 0.0);
            force.add_element_matrix(element, stiffness, damping, positive, &mut dense);
            let own = &assembly.places[index as usize];
            let places = &own.blocks[own.first[element]..][..nodes.len() * nodes.len()];
            for (a, (&row, places)) in nodes.iter().zip(places.chunks_exact(nodes.len())).enumerate() {
                let row = row as usize;
                if !rows.contains(&row) {
                    continue;
                }
                for (b, (&column, &place)) in nodes.iter().zip(places).enumerate() {
                    let entries = &dense[a * D * width + b * D..];
                    let (column, place) = (column as usize, place as usize);
                    add(ElementBlock { row, column, place, entries, width });
                }
            }
        }
    }

    /// `tau (ahead K - D)` at the last update, `K` positive semidefinite, in blocks; rows and columns of pinned particles, too. `into` is used again if it has the right pattern.
    pub(crate) fn resistance_blocks(
        &self,
        tau: f64,
        ahead: f64,
        into: Option<BlockCsrMatrix<D>>,
    ) -> BlockCsrMatrix<D> {
        let assembly = &**self.assembly();
        let mut matrix = into
            .filter(|matrix| Arc::ptr_eq(matrix.pattern(), &assembly.pattern))
            .unwrap_or_else(|| BlockCsrMatrix::zeros(assembly.pattern.clone()));
        let parts = assembly.cut(matrix.values_mut(), 1);
        parts.into_par_iter().enumerate().for_each(|(range, part)| {
            part.fill([[0.0; D]; D]);
            let base = assembly.pattern.offsets[assembly.rows(range).start];
            self.visit_blocks(assembly, range, [tau * ahead, tau], true, |block| {
                let target = &mut part[block.place - base];
                for (target, source) in target.iter_mut().zip(block.entries.chunks(block.width)) {
                    for k in 0..D {
                        target[k] += source[k];
                    }
                }
            });
        });
        matrix
    }

    /// `mass M + stiffness K + damping (-D)` at the last update, with rows and columns of pinned particles replaced by the unit matrix. `K` is positive
    /// semidefinite if asked. The pattern is kept from call to call, and with it the analysis of a factor.
    ///
    /// # Errors
    /// Values that are not finite.
    pub(crate) fn assemble(
        &mut self,
        mass: f64,
        stiffness: f64,
        damping: f64,
        positive: bool,
    ) -> Result<(&mut CsrMatrix, &mut FactorCache), SolveError> {
        let assembly = self.assembly().clone();
        let pattern = &assembly.pattern;
        let mut matrix = match self.matrix.take() {
            Some(matrix) => matrix,
            None => scalar_matrix::<D>(pattern)?,
        };
        let parts = assembly.cut(matrix.values_mut(), D * D);
        parts.into_par_iter().enumerate().for_each(|(range, part)| {
            part.fill(0.0);
            let base = pattern.offsets[assembly.rows(range).start];
            // Where the first row of a block begins, and the length of the rows.
            let place = |row: usize, place: usize| {
                let (first, last) = (pattern.offsets[row], pattern.offsets[row + 1]);
                (D * D * (first - base) + D * (place - first), D * (last - first))
            };
            self.visit_blocks(&assembly, range, [stiffness, damping], positive, |block| {
                if self.pinned[block.row] || self.pinned[block.column] {
                    return;
                }
                let (start, width) = place(block.row, block.place);
                for (i, source) in block.entries.chunks(block.width).take(D).enumerate() {
                    let target = &mut part[start + i * width..][..D];
                    for k in 0..D {
                        target[k] += source[k];
                    }
                }
            });
            for row in assembly.rows(range) {
                let Some(own) = pattern.place(row, row as u32) else { continue };
                let (start, width) = place(row, own);
                let value = if self.pinned[row] { 1.0 } else { mass * self.mass[row] };
                for i in 0..D {
                    part[start + i * width + i] += value;
                }
            }
        });
        self.matrix = Some(matrix);
        self.assembled()
    }

    /// The matrix of the last [`Self::assemble`].
    pub(crate) fn assembled(&mut self) -> Result<(&mut CsrMatrix, &mut FactorCache), SolveError> {
        match &mut self.matrix {
            Some(matrix) => Ok((matrix, &mut self.factor)),
            None => Err(SolveError::OutOfMemory { what: "matrix".into() }),
        }
    }
}

/// Zeros at the entries of all blocks.
#[inline(never)]
fn scalar_matrix<const D: usize>(pattern: &BlockPattern) -> Result<CsrMatrix, SolveError> {
    let mut offsets = vec![0];
    let mut columns = Vec::with_capacity(D * D * pattern.columns.len());
    for row in 0..pattern.rows() {
        for _ in 0..D {
            for &column in &pattern.columns[pattern.offsets[row]..pattern.offsets[row + 1]] {
                columns.extend((0..D as u32).map(|k| column * D as u32 + k));
            }
            offsets.push(columns.len());
        }
    }
    let values = vec![0.0; columns.len()];
    CsrMatrix::from_parts(D * pattern.rows(), offsets, columns, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::{Damping, DampingKind, Material};
    use crate::material::{Extension, Lame, Law, Model};
    use crate::{EdgeSpring, EdgeSprings, Elements};
    use splashdown_geometry::generate::{CubeSplit, box_tetrahedra};
    use splashdown_math::Vector;
    use splashdown_solve::testing::TestNumbers;

    /// Elements and springs on the same particles, in more than one range: the sum of their matrices is what they do.
    #[test]
    fn the_assembled_resistance_is_that_of_the_forces() {
        let mesh = box_tetrahedra(Vector::zeros(), Vector::repeat(1.0), [9, 8, 8], CubeSplit::Six).unwrap();
        let material = Material {
            law: Law { model: Model::FixedCorotated, extension: Extension::NONE },
            lame: Lame { lambda: 6e3, mu: 4e3 },
            density: 1000.0,
            damping: Damping { kind: DampingKind::Blend, time: 0.02 },
        };
        let elements = Elements::tetrahedra(&mesh, 0, material).unwrap();
        let mut mass = vec![0.0; mesh.points.len()];
        elements.add_masses(&mut mass);
        let inverse: Vec<f64> = mass.iter().map(|mass| mass.recip()).collect();
        let spring = |at: u32| EdgeSpring::with_modulus([at, at + 40], 5.0, 0.3, 0.5, &inverse);
        let springs = EdgeSprings::new("springs", &(0..200).map(spring).collect::<Vec<_>>());
        let mut solid = Solid::<3>::new(mass, vec![false; mesh.points.len()], Vector::zeros());
        solid.add(elements);
        solid.add(springs);
        let mut random = TestNumbers::new(5);
        let x: Vec<f64> =
            mesh.points.iter().flat_map(|x| x.iter()).map(|x| x + 0.02 * random.uniform(-1.0, 1.0)).collect();
        solid.update(&x).unwrap();
        let v = random.vector(x.len());
        let (tau, ahead) = (0.01, 0.02);
        let [mut damping, mut stiffness, mut product] =
            [vec![0.0; x.len()], vec![0.0; x.len()], vec![0.0; x.len()]];
        solid.add_damping(&v, &mut damping);
        solid.add_stiffness(&v, &mut stiffness, true);
        solid.resistance_blocks(tau, ahead, None).multiply(&v, &mut product);
        let scale = product.iter().fold(0.0f64, |most, p| most.max(p.abs()));
        for ((p, d), k) in product.iter().zip(&damping).zip(&stiffness) {
            assert!((p - tau * (ahead * k - d)).abs() < 1e-11 * scale);
        }
    }
}
