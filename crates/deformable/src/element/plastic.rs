//! Plastic flow of elements: once a step, at the accepted positions (spec 3.9).

use super::{Decompose, Decomposed, ElementError, Elements, PLASTIC_FIBRES, PlasticState, Shape, edges};
use crate::force::Force;
use crate::material::{MaterialError, Plasticity, log_distance};
use nalgebra::SMatrix;
use splashdown_math::{Matrix, Real, symmetric_eigen};
use std::sync::atomic::{AtomicBool, Ordering};

impl<S: Real, const D: usize, const C: usize, const M: usize> Elements<D, C, M, S>
where
    Shape<D, C>: Decompose<D, C>,
{
    /// Makes the material plastic.
    ///
    /// # Errors
    /// Limits out of range; fibres, for which the rotation of the plastic part would matter; linear elasticity.
    pub fn set_plasticity(&mut self, law: Plasticity) -> Result<(), MaterialError> {
        law.check()?;
        if !self.fibres.is_empty() {
            return Err(PLASTIC_FIBRES);
        }
        if self.material.law.model.is_linear() {
            return Err(MaterialError::Combination(
                "linear elasticity cannot be plastic: use `rotated_linear` or another model in stretches",
            ));
        }
        self.plastic =
            Some(PlasticState { law, inverse: vec![Matrix::identity(); self.gradient.len()], goal: None });
        Ok(())
    }

    /// Controls the plastic flow towards the shape with these node positions (flat, all particles): flow happens only as far as it leads there.
    ///
    /// # Errors
    /// A goal that turns an element flat or inside out.
    #[inline(never)]
    pub fn set_goal(&mut self, goal: &[f64]) -> Result<(), ElementError> {
        let mut logs = Vec::with_capacity(self.gradient.len());
        for point in 0..self.gradient.len() {
            let element = point / self.points;
            let f = self.deformation(goal, point);
            let stretch = symmetric_eigen(&(f.transpose() * f));
            let mut out = [<Shape<D, C> as Decompose<D, C>>::Out::<f64>::blank()];
            Shape::<D, C>::decompose::<f64>(&[f], &mut out);
            if !(out[0].stretch()[C - 1] > 0.0) {
                return Err(ElementError::Goal { element });
            }
            logs.push(stretch.map(|value| 0.5 * value.ln()));
        }
        if let Some(plastic) = &mut self.plastic {
            plastic.goal = Some(logs);
        }
        Ok(())
    }

    /// Deformation gradient of one point at the given positions, without the plastic part.
    fn deformation(&self, position: &[f64], point: usize) -> SMatrix<f64, D, C> {
        let element = point / self.points;
        let nodes = self.nodes(element);
        let values: Vec<[f64; D]> = nodes
            .iter()
            .map(|&node| std::array::from_fn(|axis| position[D * node as usize + axis]))
            .collect();
        let corners: Vec<u16> = (0..=M as u16).collect();
        let edges = edges::<D, M>(&values, &corners);
        let mut f = SMatrix::<f64, D, C>::zeros();
        for (edge, g) in edges.iter().zip(&self.gradient[point]) {
            for j in 0..C {
                for i in 0..D {
                    f[(i, j)] += edge[i] * g[j].into();
                }
            }
        }
        f
    }

    /// Mean distance of the plastic deformation to the goal in logarithmic strains; zero without goal.
    pub fn distance_to_goal(&self) -> f64 {
        let Some(PlasticState { inverse, goal: Some(goal), .. }) = &self.plastic else { return 0.0 };
        let sum: f64 = inverse
            .iter()
            .zip(goal)
            .map(|(inverse, goal)| log_distance(&symmetric_eigen(inverse).map(|value| 1.0 / value), goal))
            .sum();
        sum / inverse.len().max(1) as f64
    }

    /// `F_p^-1` of a point; the unit matrix without plasticity.
    pub fn plastic_inverse(&self, element: usize, point: usize) -> Matrix<C> {
        self.plastic
            .as_ref()
            .map_or_else(Matrix::identity, |plastic| plastic.inverse[element * self.points + point])
    }

    #[inline(never)]
    pub(super) fn plastic_flow(&mut self, position: &[f64]) -> bool {
        let Some(mut plastic) = self.plastic.take() else { return false };
        let flowed = AtomicBool::new(false);
        let this = &*self;
        let (law, goal) = (plastic.law, plastic.goal.as_deref());
        this.partition.for_each(&mut plastic.inverse, this.points, |chunk, inverses| {
            let first = chunk.first * this.points;
            for (k, inverse) in inverses.iter_mut().enumerate() {
                let point = first + k;
                // The trial stretches are those of the last update; most points do not yield and are done here.
                if law.project(&this.state[point].stretches()).is_none() {
                    continue;
                }
                let f = this.deformation(position, point) * *inverse;
                let mut out = [<Shape<D, C> as Decompose<D, C>>::Out::<f64>::blank()];
                Shape::<D, C>::decompose::<f64>(&[f], &mut out);
                let now = symmetric_eigen(inverse).map(|value| 1.0 / value);
                if let Some(next) = Shape::<D, C>::flow(&law, &out[0], &now, goal.map(|goal| &goal[point])) {
                    *inverse = symmetric_eigen(&next).map(|value| 1.0 / value);
                    flowed.store(true, Ordering::Relaxed);
                }
            }
        });
        self.plastic = Some(plastic);
        let flowed = flowed.into_inner();
        // The state was finite before the flow, and the flow only shrinks elastic stretches.
        flowed && self.update(position).is_ok()
    }

    pub(super) fn plastic_history(&self) -> Vec<f64> {
        self.plastic.as_ref().map_or_else(Vec::new, |plastic| {
            plastic.inverse.iter().flat_map(|inverse| inverse.iter().copied()).collect()
        })
    }

    pub(super) fn restore_plastic(&mut self, history: &[f64]) -> bool {
        match &mut self.plastic {
            None => history.is_empty(),
            Some(plastic) if history.len() == plastic.inverse.len() * C * C => {
                for (inverse, values) in plastic.inverse.iter_mut().zip(history.chunks_exact(C * C)) {
                    *inverse = Matrix::from_column_slice(values);
                }
                true
            }
            Some(_) => false,
        }
    }
}
