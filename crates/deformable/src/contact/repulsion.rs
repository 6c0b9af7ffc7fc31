//! Repulsions of near pairs: friction, inelastic stops and springs, in this order (spec 3.16).

use super::impulse::{Response, relative_velocity};
use super::pairs::Gap;
use super::{PairKind, SelfContact};
use splashdown_math::{Dim, Space, Vector};

/// Part of the overlap that elastic repulsion may undo in a step.
const RECOVERY: f64 = 0.1;

impl<const D: usize> SelfContact<D>
where
    Dim<D>: Space<D>,
{
    /// Repulsions of the pairs of the last search act on `velocity` (m/s) at `position` (m) over `dt` seconds; springs only if `elastic`.
    pub fn repel(
        &self,
        response: &mut Response<'_, D>,
        position: &[f64],
        velocity: &mut [f64],
        dt: f64,
        elastic: bool,
    ) {
        if self.pairs.is_empty() {
            return;
        }
        let gaps: Vec<Gap<D>> = self.pairs.iter().map(|pair| pair.signed_gap(position)).collect();
        let kinds = [PairKind::PointFace, PairKind::EdgeEdge];
        let near = |at: usize| {
            let gap = &gaps[at];
            let h = self.pair_thickness(at);
            gap.distance < h && gap.normal != Vector::<D>::zeros()
        };
        for kind in kinds {
            for at in (0..gaps.len()).filter(|&at| self.pairs[at].kind == kind && near(at)) {
                self.rub(at, &gaps[at], response, velocity, dt, elastic);
            }
        }
        for _ in 0..self.options.sweeps {
            for kind in kinds {
                for at in (0..gaps.len()).filter(|&at| self.pairs[at].kind == kind && near(at)) {
                    let (pair, gap) = (&self.pairs[at], &gaps[at]);
                    let approach =
                        relative_velocity::<D>(&pair.nodes, &gap.weights, velocity).dot(&gap.normal);
                    if approach < 0.0 {
                        response.push(&pair.nodes, &gap.weights, &gap.normal, -approach, velocity);
                    }
                }
            }
        }
        if !elastic {
            return;
        }
        for kind in kinds {
            for at in (0..gaps.len()).filter(|&at| self.pairs[at].kind == kind && near(at)) {
                let (pair, gap) = (&self.pairs[at], &gaps[at]);
                let approach = relative_velocity::<D>(&pair.nodes, &gap.weights, velocity).dot(&gap.normal);
                let push = self.spring(at, gap, approach, response.inverse_mass(), dt);
                if push > 0.0 {
                    response.push(&pair.nodes, &gap.weights, &gap.normal, push, velocity);
                }
            }
        }
    }

    /// Thickness of a pair: the largest of its nodes.
    fn pair_thickness(&self, at: usize) -> f64 {
        self.pairs[at].nodes.iter().map(|&node| self.thickness[node as usize]).fold(0.0, f64::max)
    }

    /// Change of the normal velocity by the spring of a pair.
    fn spring(&self, at: usize, gap: &Gap<D>, approach: f64, inverse_mass: &[f64], dt: f64) -> f64 {
        let h = self.pair_thickness(at);
        let overlap = h - gap.distance;
        let wanted = RECOVERY * overlap / dt;
        if approach >= wanted {
            return 0.0;
        }
        let nodes = &self.pairs[at].nodes;
        let used = if self.pairs[at].kind == PairKind::PointFace { D + 1 } else { 4 };
        let mean = nodes[..used].iter().map(|&node| inverse_mass[node as usize]).sum::<f64>() / used as f64;
        (dt * self.options.stiffness * mean / h * overlap).min(wanted - approach)
    }

    /// Coulomb friction for the normal change that the pair is going to apply.
    fn rub(
        &self,
        at: usize,
        gap: &Gap<D>,
        response: &mut Response<'_, D>,
        velocity: &mut [f64],
        dt: f64,
        elastic: bool,
    ) {
        let pair = &self.pairs[at];
        let relative = relative_velocity::<D>(&pair.nodes, &gap.weights, velocity);
        let approach = relative.dot(&gap.normal);
        let mut change = (-approach).max(0.0);
        if elastic {
            change += self.spring(at, gap, approach.max(0.0), response.inverse_mass(), dt);
        }
        let slip = relative - gap.normal * approach;
        let speed = slip.norm();
        if change > 0.0 && speed > 0.0 {
            let lost = (self.options.friction * change).min(speed);
            response.push(&pair.nodes, &gap.weights, &(slip / -speed), lost, velocity);
        }
    }
}
