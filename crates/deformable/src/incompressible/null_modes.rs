//! Ring pressures that push nothing: those whose mean is zero in every simplex, whatever the geometry (spec/incompressible-solids.md 3.7).
//!
//! Across a shared face the two opposite corners must have the same pressure, so that one simplex fixes its whole component: every node has the colour of one of the corners of
//! the first simplex. What is left are the weights of the colours that add up to zero in all simplices.

use nalgebra::{SMatrix, SVector};

/// Most corners of a simplex.
const MOST: usize = 4;
const NONE: u32 = u32::MAX;

/// A pressure on some of the nodes, of norm 1.
pub(super) type Mode = Vec<(u32, f64)>;

/// Orthonormal pressures of the `count` nodes that push nothing; `simplices` are the corners of all, `corners` each.
pub(super) fn null_modes(corners: usize, simplices: &[u32], count: usize) -> Vec<Mode> {
    let across = opposite_places(corners, simplices);
    let (mut colour, mut component) = (vec![0; count], vec![NONE; count]);
    let mut of_simplex = vec![NONE; simplices.len() / corners];
    // Parts that meet in a point or an edge tie each other's pressures: nothing is claimed about them.
    let mut alone = Vec::new();
    for seed in 0..of_simplex.len() {
        if of_simplex[seed] != NONE {
            continue;
        }
        let own = alone.len() as u32;
        alone.push(true);
        of_simplex[seed] = own;
        for corner in 0..corners {
            let node = simplices[seed * corners + corner] as usize;
            if component[node] == NONE {
                (component[node], colour[node]) = (own, corner);
            }
        }
        let mut queue = vec![seed];
        while let Some(simplex) = queue.pop() {
            for place in simplex * corners..(simplex + 1) * corners {
                let node = simplices[place] as usize;
                if component[node] != own {
                    alone[component[node] as usize] = false;
                    alone[own as usize] = false;
                }
                let Some(&next) = across.get(place).filter(|&&next| next != NONE) else { continue };
                let neighbour = next as usize / corners;
                if of_simplex[neighbour] != NONE {
                    continue;
                }
                of_simplex[neighbour] = own;
                queue.push(neighbour);
                let mirrored = simplices[next as usize] as usize;
                if component[mirrored] == NONE {
                    (component[mirrored], colour[mirrored]) = (own, colour[node]);
                }
            }
        }
    }
    // How often each colour is in a simplex: the weights of the colours must be orthogonal to all of these.
    let mut sums = vec![SMatrix::<f64, MOST, MOST>::zeros(); alone.len()];
    for (simplex, &own) in of_simplex.iter().enumerate() {
        let mut often = SVector::<f64, MOST>::zeros();
        for &node in &simplices[simplex * corners..(simplex + 1) * corners] {
            often[colour[node as usize]] += 1.0;
        }
        sums[own as usize] += often * often.transpose();
    }
    let mut nodes: Vec<Vec<u32>> = vec![Vec::new(); alone.len()];
    for (node, &own) in component.iter().enumerate().filter(|(_, own)| **own != NONE) {
        nodes[own as usize].push(node as u32);
    }
    let modes = |own: usize| component_modes(corners, &sums[own], &nodes[own], &colour);
    (0..alone.len()).filter(|&own| alone[own]).flat_map(modes).collect()
}

/// The modes of one component with these `nodes` and sums of products of how often colours are in its simplices.
fn component_modes(
    corners: usize,
    sums: &SMatrix<f64, MOST, MOST>,
    nodes: &[u32],
    colour: &[usize],
) -> Vec<Mode> {
    let eigen = sums.symmetric_eigen();
    let largest = eigen.eigenvalues.amax();
    let mut often = SVector::<f64, MOST>::zeros();
    nodes.iter().for_each(|&node| often[colour[node as usize]] += 1.0);
    let inner = |a: &SVector<f64, MOST>, b: &SVector<f64, MOST>| a.component_mul(&often).dot(b);
    let mut found: Vec<SVector<f64, MOST>> = Vec::new();
    for (k, value) in eigen.eigenvalues.iter().enumerate() {
        let mut weights = eigen.eigenvectors.column(k).into_owned();
        for other in &found {
            weights -= other * inner(other, &weights);
        }
        let size = inner(&weights, &weights).sqrt();
        // Colours beyond the corners that there are occur nowhere.
        if value.abs() < 1e-9 * largest && size > 1e-6 && (corners..MOST).all(|k| weights[k].abs() < 0.5) {
            found.push(weights / size);
        }
    }
    let mode = |weights: SVector<f64, MOST>| -> Mode {
        nodes.iter().map(|&node| (node, weights[colour[node as usize]])).collect()
    };
    found.into_iter().map(mode).collect()
}

/// For every corner of every simplex: the place of the corner beyond the face opposite to it.
fn opposite_places(corners: usize, simplices: &[u32]) -> Vec<u32> {
    let mut faces: Vec<([u32; MOST - 1], u32)> = (0..simplices.len())
        .map(|place| {
            let first = place / corners * corners;
            let mut face = [NONE; MOST - 1];
            let others = (first..first + corners).filter(|&other| other != place);
            face.iter_mut().zip(others).for_each(|(face, other)| *face = simplices[other]);
            face.sort_unstable();
            (face, place as u32)
        })
        .collect();
    faces.sort_unstable();
    let mut across = vec![NONE; simplices.len()];
    for pair in faces.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        across[pair[0].1 as usize] = pair[1].1;
        across[pair[1].1 as usize] = pair[0].1;
    }
    across
}
