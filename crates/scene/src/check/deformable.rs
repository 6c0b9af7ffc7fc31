//! Checks of deformable bodies: particles, tables against time and fibres.

use super::meaning::{Check, key};
use crate::description::{Deformable, Fusiform, Geometry};
use crate::problem::ProblemKind;
use crate::tree::Segment;
use std::collections::HashMap;

impl Check<'_> {
    pub(super) fn deformable(&mut self, index: usize, body: &Deformable) {
        let at = |field: &str| [key("deformable"), Segment::Index(index), key(field)];
        let recorded = matches!(body.geometry, Geometry::Recorded(_));
        self.one_mass(
            [key("deformable"), Segment::Index(index)],
            &body.name,
            body.mass,
            body.density,
            !recorded,
        );
        let given = [
            ("material", body.material.is_some()),
            ("mass", body.mass.is_some()),
            ("density", body.density.is_some()),
            ("velocity", body.velocity.is_some()),
        ];
        for (field, _) in given.into_iter().filter(|(_, given)| recorded && *given) {
            let path = [key("deformable"), Segment::Index(index), key(field)];
            let what = format!("`{}` moves as its files say, so it has no `{field}`", body.name);
            let problem = self.at(&path, ProblemKind::Conflict, what).hint("leave it out");
            self.problems.push(problem);
        }
        if body.elastic.adrift && self.root.get("fluid").is_none() {
            let path = [key("deformable"), Segment::Index(index), key("elastic"), key("adrift")];
            let what = format!("`{}` is adrift in a scene without a fluid", body.name);
            self.problems
                .push(self.at(&path, ProblemKind::Conflict, what).hint("add [fluid], or leave it out"));
        }
        let particles = body.geometry.particle_count();
        let length = match &body.geometry {
            Geometry::Chain(chain) => chain.length(),
            _ => f64::INFINITY,
        };
        if let Geometry::Chain(chain) = &body.geometry
            && length == 0.0
        {
            let path = [key("deformable"), Segment::Index(index), key("geometry"), key("chain"), key("to")];
            let problem = self
                .at(
                    &path,
                    ProblemKind::Conflict,
                    format!("the chain `{}` has no length: `from` and `to` are the same point", body.name),
                )
                .found(format!("{:?}", chain.to))
                .allowed("a point different from `from`");
            self.problems.push(problem);
        }
        self.elastic_tables(index, body);
        let mut seen = HashMap::new();
        for (n, &pinned) in body.pinned.iter().enumerate() {
            let path = [key("deformable"), Segment::Index(index), key("pinned"), Segment::Index(n)];
            if pinned >= particles && !matches!(body.geometry, Geometry::File(_) | Geometry::Recorded(_)) {
                let problem = self
                    .at(
                        &path,
                        ProblemKind::OutOfRange,
                        format!(
                            "`{}` has {particles} particles, there is no particle {pinned} to pin",
                            body.name
                        ),
                    )
                    .found(pinned.to_string())
                    .allowed(format!("0 to {}", particles.saturating_sub(1)))
                    .hint("particles are counted from 0");
                self.problems.push(problem);
            } else if seen.insert(pinned, n).is_some() {
                let problem = self
                    .at(
                        &path,
                        ProblemKind::Conflict,
                        format!("particle {pinned} of `{}` is pinned twice", body.name),
                    )
                    .found(pinned.to_string());
                self.problems.push(problem);
            }
        }
        // A rest length in another unit (mm for m) would tear the chain apart in the first step.
        if let Some(rest) = body.springs.as_ref().and_then(|s| s.rest_length)
            && rest > 1e6 * (1.0 + length)
        {
            let problem = self
                .at(
                    &at("springs"),
                    ProblemKind::OutOfRange,
                    format!("a rest length of {rest} m is absurd for a chain of {} m", length),
                )
                .found(format!("{rest}"))
                .hint("the rest length is that of one spring, in metres");
            self.problems.push(problem);
        }
    }

    /// What a body of elements has against time, and the direction of its fibres.
    fn elastic_tables(&mut self, index: usize, body: &Deformable) {
        let at = |rest: &[Segment]| -> Vec<Segment> {
            [&[key("deformable"), Segment::Index(index), key("elastic")][..], rest].concat()
        };
        let mut tables = vec![
            (
                vec![key("strength")],
                &body.elastic.strength,
                f64::INFINITY,
                "0 or more: a material never pushes towards its own collapse",
            ),
            (vec![key("activation")], &body.elastic.activation, 1.0, "0 to 1"),
        ];
        for (n, fibre) in body.elastic.fibre.iter().enumerate() {
            tables.push((
                vec![key("fibre"), Segment::Index(n), key("schedule")],
                &fibre.schedule,
                1.0,
                "0 to 1",
            ));
        }
        for (field, table, most, allowed) in tables {
            let name = match field.last() {
                Some(Segment::Key(name)) => name.clone(),
                _ => String::new(),
            };
            let at = |rest: &[Segment]| at(&[&field, rest].concat());
            if let Some(n) = table.windows(2).position(|pair| !(pair[0][0] < pair[1][0])) {
                let path = at(&[Segment::Index(n + 1), Segment::Index(0)]);
                let problem = self
                    .at(&path, ProblemKind::Conflict, format!("times of `{name}` must ascend"))
                    .found(table[n + 1][0].to_string())
                    .allowed(format!("more than {}", table[n][0]));
                self.problems.push(problem);
            }
            if let Some(n) = table.iter().position(|entry| !(entry[1] >= 0.0 && entry[1] <= most)) {
                let path = at(&[Segment::Index(n), Segment::Index(1)]);
                let problem = self
                    .at(
                        &path,
                        ProblemKind::OutOfRange,
                        format!("`{name}` of `{}` is out of range", body.name),
                    )
                    .found(table[n][1].to_string())
                    .allowed(allowed);
                self.problems.push(problem);
            }
        }
        for (n, fibre) in body.elastic.fibre.iter().enumerate() {
            let still = |direction: &Vec<f64>| direction.iter().all(|&component| component == 0.0);
            let problem = match (&fibre.direction, &fibre.fusiform) {
                (Some(direction), None) if still(direction) => {
                    let path = at(&[key("fibre"), Segment::Index(n), key("direction")]);
                    let message = format!("the fibres of `{}` have no direction", body.name);
                    self.at(&path, ProblemKind::OutOfRange, message).allowed("a vector that is not zero")
                }
                (None, Some(Fusiform { from, to })) if from == to => {
                    let path = at(&[key("fibre"), Segment::Index(n), key("fusiform"), key("to")]);
                    let message = format!("the fibres of `{}` begin and end at the same point", body.name);
                    self.at(&path, ProblemKind::OutOfRange, message).allowed("two ends that are apart")
                }
                (Some(_), None) | (None, Some(_)) => continue,
                (given, _) => {
                    let path = at(&[key("fibre"), Segment::Index(n)]);
                    let how = if given.is_some() { "both" } else { "neither" };
                    let message =
                        format!("the fibres of `{}` have {how} of `direction` and `fusiform`", body.name);
                    self.at(&path, ProblemKind::Conflict, message).allowed("one of them")
                }
            };
            self.problems.push(problem);
        }
    }
}
