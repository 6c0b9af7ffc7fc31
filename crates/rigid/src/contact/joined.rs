//! Bodies of an island that joints hold: pushed at one, all of its set respond ([`Articulated`]), and limits of their joints are rows beside those of contact.

use super::InverseInertia;
use super::manifold::{Local, Manifold, Sums};
use crate::joint::{Articulated, Columns, JointDemand};
use splashdown_math::{Dim, Space, Twist};

/// Share of a body's own response below which joints leave none: rounding.
pub(super) const UNMOVED: f64 = 1e-7;

/// A row of a joint within an island: places of the bodies that can move, with wrenches.
#[derive(Debug, Clone, Copy)]
pub(super) struct JoinedRow<const D: usize>
where
    Dim<D>: Space<D>,
{
    pub ends: [Option<(u32, Twist<D>)>; 2],
    /// What to add to the speed along the row to get what has to stay zero, or above zero for a limit (m/s, rad/s).
    pub bias: f64,
    /// Change of the speed for a unit of impulse; zero where nothing responds.
    factor: f64,
    pub impulse: f64,
}

/// How one body acts on its set.
#[derive(Debug, Clone)]
struct Response<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Places of the bodies of the set in the island, with their answers.
    answers: Vec<(u32, Columns<D>)>,
    /// Answer of the body itself.
    own: Columns<D>,
}

/// The jointed bodies of one island; empty if it has none.
#[derive(Debug, Clone, Default)]
pub(super) struct Joined<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Response of each body of the island; `u32::MAX` for those that respond by themselves.
    of: Vec<u32>,
    responses: Vec<Response<D>>,
    /// Limits of joints: the speed along the row, with its bias, does not become negative.
    limits: Vec<JoinedRow<D>>,
    /// What joints demand: kept by all responses.
    pub demands: Vec<JoinedRow<D>>,
}

impl<const D: usize> Joined<D>
where
    Dim<D>: Space<D>,
{
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    pub fn clear(&mut self) {
        self.of.clear();
        self.responses.clear();
        self.limits.clear();
        self.demands.clear();
    }

    /// Takes the sets of the island's `bodies` (ascending), which move with `twists`.
    pub fn set(
        &mut self,
        articulated: &Articulated<D>,
        bodies: &[u32],
        inverse: &[InverseInertia<D>],
        twists: &[Twist<D>],
    ) {
        self.clear();
        let place = |body: u32| bodies.binary_search(&body).ok().map(|place| place as u32);
        let mut of = vec![u32::MAX; bodies.len()];
        for (at, &body) in bodies.iter().enumerate() {
            let Some(set) = articulated.set_of(body as usize) else { continue };
            let Ok(member) = set.bodies.binary_search(&body) else { continue };
            if let Some(columns) = set.response(member) {
                let answers = set.bodies.iter().zip(columns);
                let answers =
                    answers.filter_map(|(&other, columns)| place(other).map(|place| (place, *columns)));
                of[at] = self.responses.len() as u32;
                self.responses.push(Response { answers: answers.collect(), own: columns[member] });
            }
            // Once a set: with its first body.
            if member > 0 {
                continue;
            }
            let moved = |ends: &JointDemand<D>| {
                ends.ends.map(|end| {
                    end.and_then(|(member, wrench)| Some((place(set.bodies[member as usize])?, wrench)))
                })
            };
            let twist = |member: u32| {
                place(set.bodies[member as usize]).map_or_else(Twist::zero, |place| twists[place as usize])
            };
            self.limits.extend(set.limits.iter().map(|limit| JoinedRow {
                ends: moved(limit),
                bias: limit.carried + limit.slack,
                factor: 0.0,
                impulse: 0.0,
            }));
            // Contact keeps the speeds that they have.
            self.demands.extend(set.demands.iter().map(|demand| JoinedRow {
                ends: moved(demand),
                bias: demand.carried - demand.speed(twist),
                factor: bare_factor(&moved(demand), inverse),
                impulse: 0.0,
            }));
        }
        if self.responses.is_empty() && self.demands.is_empty() && self.limits.is_empty() {
            return;
        }
        self.of = of;
        let Self { of, responses, limits, .. } = self;
        for limit in limits {
            let mut moved = [Twist::<D>::zero(); 2];
            for (body, wrench) in limit.ends.iter().flatten() {
                for (end, moved) in limit.ends.iter().zip(&mut moved) {
                    if let Some((other, _)) = end {
                        *moved += answer(of, responses, inverse, *body as usize, *other, wrench);
                    }
                }
            }
            let speed = |(end, moved): (&Option<(u32, Twist<D>)>, &Twist<D>)| {
                end.map_or(0.0, |(_, wrench)| wrench.dot(moved))
            };
            let factor = limit.ends.iter().zip(&moved).map(speed).sum::<f64>();
            limit.factor = if factor > UNMOVED * bare_factor(&limit.ends, inverse) { factor } else { 0.0 };
        }
    }

    /// Does any of the two bodies answer with others?
    fn concerns(&self, bodies: [u32; 2]) -> bool {
        !self.of.is_empty() && bodies.iter().any(|&body| self.of[body as usize] != u32::MAX)
    }

    /// Sets the matrix of a manifold as its bodies respond.
    pub fn set_matrix(&self, manifold: &mut Manifold<D>, inverse: &[InverseInertia<D>]) {
        let [a, b] = manifold.bodies;
        if !self.concerns([a, b]) {
            manifold.set_matrix([&inverse[a as usize], &inverse[b as usize]]);
            return;
        }
        let respond = |on: [&Twist<D>; 2]| {
            [a, b].map(|moved| {
                let by = |body: u32, wrench: &Twist<D>| {
                    answer(&self.of, &self.responses, inverse, body as usize, moved, wrench)
                };
                by(a, on[0]) + by(b, on[1])
            })
        };
        manifold.set_matrix_by(respond, [&inverse[a as usize], &inverse[b as usize]], UNMOVED);
    }

    /// Changes the twists of the island by an impulse and moment of `manifold`.
    #[inline(always)]
    pub fn push(
        &self,
        manifold: &Manifold<D>,
        local: &Local,
        inverse: &[InverseInertia<D>],
        twists: &mut [Twist<D>],
    ) {
        let [a, b] = manifold.bodies.map(|body| body as usize);
        if !self.concerns(manifold.bodies) {
            let (mut ta, mut tb) = (twists[a], twists[b]);
            manifold.apply(local, [&inverse[a], &inverse[b]], &mut ta, &mut tb);
            twists[a] = ta;
            twists[b] = tb;
            return;
        }
        let (force, moments) = manifold.push(local);
        self.push_body(a, &Twist { linear: force, angular: moments[0] }, inverse, twists);
        self.push_body(b, &Twist { linear: -force, angular: -moments[1] }, inverse, twists);
    }

    fn push_body(
        &self,
        body: usize,
        wrench: &Twist<D>,
        inverse: &[InverseInertia<D>],
        twists: &mut [Twist<D>],
    ) {
        match self.responses.get(self.of[body] as usize) {
            None => twists[body] += alone(&inverse[body], wrench),
            Some(response) => {
                for (place, columns) in &response.answers {
                    twists[*place as usize] += combined(columns, wrench);
                }
            }
        }
    }

    /// One pass over the limits.
    pub fn relax_limits(&mut self, inverse: &[InverseInertia<D>], twists: &mut [Twist<D>], sums: &mut Sums) {
        for k in 0..self.limits.len() {
            let limit = &self.limits[k];
            if limit.factor == 0.0 {
                continue;
            }
            let wanted = (limit.impulse - limit.speed(twists) / limit.factor).max(0.0);
            let (change, factor) = (wanted - limit.impulse, limit.factor);
            if change != 0.0 {
                // An angle counts as a metre a radian.
                sums.add(factor, change, 1.0);
                self.push_limit(k, change, inverse, twists);
                self.limits[k].impulse = wanted;
            }
        }
    }

    /// Adds the effect of the impulses of the limits.
    pub fn apply_limits(&self, inverse: &[InverseInertia<D>], twists: &mut [Twist<D>]) {
        for k in 0..self.limits.len() {
            self.push_limit(k, self.limits[k].impulse, inverse, twists);
        }
    }

    fn push_limit(&self, k: usize, impulse: f64, inverse: &[InverseInertia<D>], twists: &mut [Twist<D>]) {
        for (body, wrench) in self.limits[k].ends.iter().flatten() {
            self.push_body(*body as usize, &(*wrench * impulse), inverse, twists);
        }
    }

    /// Limits that push, with their places; with `twists` those that would give way there as well.
    pub fn pushing_limits(
        &self,
        twists: Option<&[Twist<D>]>,
    ) -> impl Iterator<Item = (usize, &JoinedRow<D>)> {
        let holds = move |limit: &JoinedRow<D>| match twists {
            None => limit.impulse > 0.0,
            Some(twists) => limit.impulse * limit.factor > limit.speed(twists),
        };
        self.limits.iter().enumerate().filter(move |(_, limit)| limit.factor > 0.0 && holds(limit))
    }

    /// Bodies that a limit or a demand connects, as places in the island.
    pub fn links(&self) -> impl Iterator<Item = [usize; 2]> {
        let both = |row: &JoinedRow<D>| {
            let [a, b] = row.ends.map(|end| end.map(|(body, _)| body as usize));
            Some([a.or(b)?, b.or(a)?])
        };
        self.limits.iter().chain(&self.demands).filter_map(both)
    }

    pub fn has_limits(&self) -> bool {
        !self.limits.is_empty()
    }

    pub fn add_to_limit(&mut self, limit: usize, impulse: f64) {
        self.limits[limit].impulse += impulse;
    }

    /// No limit pulls. Did one?
    pub fn cut_back(&mut self) -> bool {
        let pulled = self.limits.iter().any(|limit| limit.impulse < 0.0);
        self.limits.iter_mut().for_each(|limit| limit.impulse = limit.impulse.max(0.0));
        pulled
    }

    /// Part of the limits in the objective of the iteration (J), for the `mean` of the twists with and without impulses.
    pub fn objective(&self, mean: impl Fn(u32) -> Twist<D>) -> f64 {
        let work = |limit: &JoinedRow<D>| {
            let speed: f64 = limit.ends.iter().flatten().map(|(body, wrench)| wrench.dot(&mean(*body))).sum();
            limit.impulse * (speed + limit.bias)
        };
        self.limits.iter().map(work).sum()
    }

    /// Impulses of the limits, to be put back.
    pub fn limit_impulses(&self) -> Vec<f64> {
        self.limits.iter().map(|limit| limit.impulse).collect()
    }

    pub fn set_limit_impulses(&mut self, impulses: &[f64]) {
        for (limit, impulse) in self.limits.iter_mut().zip(impulses) {
            limit.impulse = *impulse;
        }
    }
}

impl<const D: usize> JoinedRow<D>
where
    Dim<D>: Space<D>,
{
    /// Speed along the row with its bias.
    pub fn speed(&self, twists: &[Twist<D>]) -> f64 {
        let own = |(body, wrench): &(u32, Twist<D>)| wrench.dot(&twists[*body as usize]);
        self.ends.iter().flatten().map(own).sum::<f64>() + self.bias
    }

    /// Stiffness of the row for a penalty: what its bodies would do without joints (1/kg).
    pub fn factor(&self) -> f64 {
        self.factor
    }
}

/// Change of the speed along a row for a unit of impulse if nothing else held its bodies.
fn bare_factor<const D: usize>(ends: &[Option<(u32, Twist<D>)>; 2], inverse: &[InverseInertia<D>]) -> f64
where
    Dim<D>: Space<D>,
{
    let own = |(body, wrench): &(u32, Twist<D>)| wrench.dot(&alone(&inverse[*body as usize], wrench));
    ends.iter().flatten().map(own).sum()
}

/// Change of the twist of body `moved` for a wrench on `body`.
fn answer<const D: usize>(
    of: &[u32],
    responses: &[Response<D>],
    inverse: &[InverseInertia<D>],
    body: usize,
    moved: u32,
    wrench: &Twist<D>,
) -> Twist<D>
where
    Dim<D>: Space<D>,
{
    match responses.get(of[body] as usize) {
        None if body == moved as usize => alone(&inverse[body], wrench),
        None => Twist::zero(),
        Some(response) if body == moved as usize => combined(&response.own, wrench),
        Some(response) => response
            .answers
            .iter()
            .find(|(place, _)| *place == moved)
            .map_or_else(Twist::zero, |(_, columns)| combined(columns, wrench)),
    }
}

/// Change of the twist of a body for a wrench on it if no joint holds it.
#[inline(always)]
pub(super) fn alone<const D: usize>(inverse: &InverseInertia<D>, wrench: &Twist<D>) -> Twist<D>
where
    Dim<D>: Space<D>,
{
    Twist {
        linear: wrench.linear * inverse.mass,
        angular: Dim::apply_inertia(&inverse.inertia, &wrench.angular),
    }
}

#[inline(always)]
pub(super) fn combined<const D: usize>(columns: &Columns<D>, wrench: &Twist<D>) -> Twist<D>
where
    Dim<D>: Space<D>,
{
    let mut flat = [0.0; 6];
    wrench.write(&mut flat);
    let mut change = Twist::zero();
    for (column, part) in columns.iter().zip(flat).take(Twist::<D>::LEN) {
        change += *column * part;
    }
    change
}
