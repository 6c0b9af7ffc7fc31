//! Several liquids, each with its own level set (spec/fluid-base.md 3.15; F. Losasso, T. Shinar, A. Selle, R. Fedkiw, "Multiple interacting
//! liquids", 2006).

use crate::model::Liquid;
use splashdown_geometry::grid::{FaceFields, Field, Index};

/// The liquid that a cell belongs to: the one with the smallest level set.
#[inline]
pub fn liquid_at<const D: usize>(phis: &[&Field<D>], cell: Index<D>) -> usize {
    let mut best = 0;
    for (number, phi) in phis.iter().enumerate().skip(1) {
        if phi.at(cell) < phis[best].at(cell) {
            best = number;
        }
    }
    best
}

/// The level set of all liquids together: the smallest.
pub fn surface_of<const D: usize>(phis: &[&Field<D>], out: &mut Field<D>) {
    for (place, value) in out.values_mut().iter_mut().enumerate() {
        *value = phis.iter().map(|phi| phi.values()[place]).fold(f64::INFINITY, f64::min);
    }
}

/// Removes overlap, and without air also gaps, between the liquids: where the two smallest values are both negative (or always, if `fills`), their mean is taken from all.
pub fn separate<const D: usize>(phis: &mut [&mut Field<D>], fills: bool) {
    if phis.len() < 2 {
        return;
    }
    for place in 0..phis[0].values().len() {
        let (mut first, mut second) = (f64::INFINITY, f64::INFINITY);
        for phi in phis.iter() {
            let value = phi.values()[place];
            if value < first {
                (first, second) = (value, first);
            } else if value < second {
                second = value;
            }
        }
        if fills || second < 0.0 {
            let mean = 0.5 * (first + second);
            for phi in phis.iter_mut() {
                phi.values_mut()[place] -= mean;
            }
        }
    }
}

/// Density (kg/m^3) at the faces: of the liquid on both sides, or of the two weighted by the part of the way that each fills (the mass of the dual
/// cell, spec 3.8).
pub fn face_density<const D: usize>(phis: &[&Field<D>], liquids: &[Liquid], out: &mut FaceFields<D>) {
    for axis in 0..D {
        out.component_mut(axis).update(|face, _| {
            let mut below = face;
            below[axis] -= 1;
            let (i, j) = (liquid_at(phis, below), liquid_at(phis, face));
            if i == j {
                return liquids[i].density;
            }
            let between = |index: Index<D>| phis[i].at(index) - phis[j].at(index);
            let (low, high) = (between(below), between(face));
            let theta = if low < high { (low / (low - high)).clamp(0.0, 1.0) } else { 0.5 };
            theta * liquids[i].density + (1.0 - theta) * liquids[j].density
        });
    }
}

/// Viscosity (Pa s) at cells.
pub fn viscosity_at<const D: usize>(phis: &[&Field<D>], liquids: &[Liquid], out: &mut Field<D>) {
    out.update(|cell, _| liquids[liquid_at(phis, cell)].viscosity);
    out.extrapolate_ghosts();
}
