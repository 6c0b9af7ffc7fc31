//! Four manifolds side by side: the rows of [`super::super::manifold::Manifold`] in 3D, without rolling friction, over lanes.
//!
//! What decides where the iteration ends (normals, arms, biases, impulses) is exact; what only decides how it gets there (how rows respond to each
//! other), and where in the patch a point lies, is rounded to seven digits, which halves the memory that a sweep reads.

use super::lanes::{Four, LANES, Lane, Record, Rounded, Vec3, add, cross, dot, load3, scaled, store3, sub};
use super::layout::{Patch, Row};

/// Points of a manifold.
pub(in crate::contact) const POINTS: usize = 4;

/// Four patches of which no two share a body that responds.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
pub(super) struct Block {
    /// Unit normals from B to A, and a tangent; the other one is their product.
    pub normal: [Four; 3],
    pub tangent: [Four; 3],
    /// From the centres of mass of A and B to the centre of the patch (m).
    pub arms: [[Four; 3]; 2],
    /// Speed of approach of a point that is allowed (m/s).
    pub bias: [Four; POINTS],
    /// Impulses (kg m/s, kg m^2/s).
    pub loads: [Four; POINTS],
    pub friction: [Four; 2],
    pub spin: Four,
    /// What tilts about the tangents add to the normal speed of a point (m).
    pub tilts: [[Rounded; 2]; POINTS],
    /// Distance of a point from the centre (m).
    pub levers: [Rounded; POINTS],
    /// Inverse of the change of a point's speed for an impulse of one; zero for points that are not there.
    inverse: [Rounded; POINTS],
    /// Change of normal speed and tilts for a unit of impulse and moments, by rows: 00, 01, 02, 11, 12, 22.
    pressing: [Rounded; 6],
    /// Change of both sliding speeds and of the spin for the same.
    aside: [[Rounded; 3]; 3],
    /// Change of these three for an impulse of one each, and the inverse.
    rubbing: [Rounded; 3],
    rubbing_inverse: [Rounded; 3],
    /// Change of the spin for the two impulses of friction.
    twisting: [Rounded; 2],
    /// Coefficients of friction, and of spinning friction (m); what makes a spin a speed of points (m).
    pub coefficient: Rounded,
    pub spinning: Rounded,
    pub lever: Rounded,
    /// Bodies, as indices of their motions, and of how they respond.
    pub bodies: [[u32; LANES]; 2],
    pub responding: [[u32; LANES]; 2],
    /// First contact of each patch and the number of its points, none for a lane without one.
    pub contact: [u32; LANES],
    pub points: [u32; LANES],
}

/// Impulse and moment of a patch in world axes.
#[derive(Clone, Copy)]
pub(super) struct Push<L> {
    pub force: Vec3<L>,
    pub moment: Vec3<L>,
}

/// What a body is given: momentum and angular momentum about its centre of mass.
impl<L: Lane> Push<L> {
    #[inline(always)]
    pub fn about(&self, arm: Vec3<L>) -> Vec3<L> {
        add(cross(arm, self.force), self.moment)
    }
}

/// Inverse mass and inertia of four bodies: xx, xy, xz, yy, yz, zz and the mass.
#[derive(Clone, Copy)]
pub(super) struct Inverse<L> {
    turn: [L; 6],
    mass: L,
}

impl<L: Lane> Inverse<L> {
    #[inline(always)]
    pub fn of(table: &[Record], at: &[u32; LANES]) -> Self {
        let [[xx, xy, xz, yy], [yz, zz, mass, _]] = L::gather(table, at);
        Self { turn: [xx, xy, xz, yy, yz, zz], mass }
    }

    /// Spin for an angular momentum.
    #[inline(always)]
    fn apply(&self, m: Vec3<L>) -> Vec3<L> {
        let [xx, xy, xz, yy, yz, zz] = self.turn;
        [
            xx * m[0] + xy * m[1] + xz * m[2],
            xy * m[0] + yy * m[1] + yz * m[2],
            xz * m[0] + yz * m[1] + zz * m[2],
        ]
    }
}

/// Velocities and spins of four bodies.
#[derive(Clone, Copy)]
pub(super) struct Twists<L> {
    pub linear: Vec3<L>,
    pub angular: Vec3<L>,
}

impl<L: Lane> Twists<L> {
    #[inline(always)]
    pub fn of(table: &[Record], at: &[u32; LANES]) -> Self {
        let [[vx, vy, vz, _], [wx, wy, wz, _]] = L::gather(table, at);
        Self { linear: [vx, vy, vz], angular: [wx, wy, wz] }
    }

    #[inline(always)]
    fn store(self, table: &mut [Record], at: &[u32; LANES]) {
        let ([vx, vy, vz], [wx, wy, wz], none) = (self.linear, self.angular, L::zero());
        L::scatter([[vx, vy, vz, none], [wx, wy, wz, none]], table, at);
    }

    #[inline(always)]
    pub fn minus(self, other: Self) -> Self {
        Self { linear: sub(self.linear, other.linear), angular: sub(self.angular, other.angular) }
    }

    #[inline(always)]
    fn at(&self, arm: Vec3<L>) -> Vec3<L> {
        add(self.linear, cross(self.angular, arm))
    }
}

impl Row for Block {
    fn between(nothing: u32) -> Self {
        Self { bodies: [[nothing; LANES]; 2], responding: [[nothing; LANES]; 2], ..Self::default() }
    }

    fn take(&mut self, lane: usize, patch: &Patch) {
        for side in 0..2 {
            self.bodies[side][lane] = patch.bodies[side];
            self.responding[side][lane] = patch.bodies[side];
        }
        self.contact[lane] = patch.contact;
        self.points[lane] = patch.points;
    }
}

impl Block {
    /// Normals and both tangents.
    #[inline(always)]
    fn axes<L: Lane>(&self) -> [Vec3<L>; 3] {
        let (normal, tangent) = (load3(&self.normal), load3(&self.tangent));
        [normal, tangent, cross(normal, tangent)]
    }

    /// Sets arms, tilts and levers for patches with these points, of which those beyond the number of a lane's points do not count, between bodies
    /// with these centres of mass.
    #[inline(always)]
    pub fn place<L: Lane>(&mut self, at: &[[Four; 3]; POINTS], centres: &[[Four; 3]; 2]) {
        let [_, first, second] = self.axes::<L>();
        let mut present = [L::zero(); POINTS];
        let mut count = L::zero();
        for k in 0..POINTS {
            let mut one = [0.0; LANES];
            for lane in 0..LANES {
                one[lane] = f64::from(u8::from((k as u32) < self.points[lane]));
            }
            present[k] = L::load(&one);
            count = count + present[k];
        }
        let share = count.inverse();
        let mut centre = [L::zero(); 3];
        for k in 0..POINTS {
            centre = add(centre, scaled(load3(&at[k]), present[k]));
        }
        centre = scaled(centre, share);
        for k in 0..2 {
            store3(sub(centre, load3(&centres[k])), &mut self.arms[k]);
        }
        let mut square = L::zero();
        for k in 0..POINTS {
            let out = scaled(sub(load3(&at[k]), centre), present[k]);
            self.tilts[k][0] = dot(out, second).round();
            self.tilts[k][1] = (L::zero() - dot(out, first)).round();
            let lever = dot(out, out);
            square = square + lever;
            self.levers[k] = lever.sqrt().round();
        }
        self.lever = (square * share).sqrt().round();
    }

    /// Sets how the rows respond.
    #[inline(always)]
    pub fn set_response<L: Lane>(&mut self, inverse: &[Record]) {
        let axes = self.axes::<L>();
        // Upper half of the matrix: speeds 0 to 2, spins 3 to 5, without 12.
        let mut speeds = [L::zero(); 5];
        let mut mixed = [[L::zero(); 3]; 3];
        let mut spins = [L::zero(); 6];
        for side in 0..2 {
            let body = Inverse::<L>::of(inverse, &self.responding[side]);
            let arm: Vec3<L> = load3(&self.arms[side]);
            let arm = [dot(axes[0], arm), dot(axes[1], arm), dot(axes[2], arm)];
            // Spin along the axes for a unit moment about each, and velocity at the centre.
            let turned = [body.apply(axes[0]), body.apply(axes[1]), body.apply(axes[2])];
            let [xx, xy, xz] = [dot(axes[0], turned[0]), dot(axes[0], turned[1]), dot(axes[0], turned[2])];
            let [yy, yz, zz] = [dot(axes[1], turned[1]), dot(axes[1], turned[2]), dot(axes[2], turned[2])];
            let moves = [cross([xx, xy, xz], arm), cross([xy, yy, yz], arm), cross([xz, yz, zz], arm)];
            spins =
                [spins[0] + xx, spins[1] + xy, spins[2] + xz, spins[3] + yy, spins[4] + yz, spins[5] + zz];
            for r in 0..3 {
                for c in 0..3 {
                    mixed[r][c] = mixed[r][c] + moves[c][r];
                }
            }
            // An impulse along axis c has the moment arm x e_c.
            let [x, y, z] = arm;
            speeds[0] = speeds[0] + (body.mass + (z * moves[1][0] - y * moves[2][0]));
            speeds[1] = speeds[1] + (z * moves[1][1] - y * moves[2][1]);
            speeds[2] = speeds[2] + (z * moves[1][2] - y * moves[2][2]);
            speeds[3] = speeds[3] + (body.mass + (x * moves[2][1] - z * moves[0][1]));
            speeds[4] = speeds[4] + (body.mass + (y * moves[0][2] - x * moves[1][2]));
        }
        let pressing = [speeds[0], mixed[0][1], mixed[0][2], spins[3], spins[4], spins[5]];
        for k in 0..6 {
            self.pressing[k] = pressing[k].round();
        }
        let aside = [
            [speeds[1], mixed[1][1], mixed[1][2]],
            [speeds[2], mixed[2][1], mixed[2][2]],
            [mixed[0][0], spins[1], spins[2]],
        ];
        for r in 0..3 {
            for c in 0..3 {
                self.aside[r][c] = aside[r][c].round();
            }
        }
        let rubbing = [speeds[3], speeds[4], spins[0]];
        for k in 0..3 {
            self.rubbing[k] = rubbing[k].round();
            self.rubbing_inverse[k] = rubbing[k].inverse().round();
        }
        self.twisting = [mixed[1][0].round(), mixed[2][0].round()];
        for k in 0..POINTS {
            let (u, v) = (L::widen(&self.tilts[k][0]), L::widen(&self.tilts[k][1]));
            let [a, b, c] = respond(pressing, u, v);
            let mut inverse = (a + u * b + v * c).inverse().round();
            for lane in 0..LANES {
                if k as u32 >= self.points[lane] {
                    inverse[lane] = 0.0;
                }
            }
            self.inverse[k] = inverse;
        }
    }

    /// Satisfies the rows one after another. `largest` is the largest change of a relative velocity so far (m/s).
    #[inline(always)]
    pub fn relax<L: Lane>(&mut self, inverse: &[Record], twists: &mut [Record], largest: &mut L) {
        let mut of_a = Twists::<L>::of(twists, &self.bodies[0]);
        let mut of_b = Twists::<L>::of(twists, &self.bodies[1]);
        let axes = self.axes::<L>();
        let (arm_a, arm_b): (Vec3<L>, Vec3<L>) = (load3(&self.arms[0]), load3(&self.arms[1]));
        let velocity = sub(of_a.at(arm_a), of_b.at(arm_b));
        let turning = sub(of_a.angular, of_b.angular);
        let mut normal = dot(axes[0], velocity);
        let mut tilt = [dot(axes[1], turning), dot(axes[2], turning)];
        let mut most = *largest;
        let pressing = self.pressing::<L>();
        let (mut load, mut moment) = (L::zero(), L::zero());
        let mut pushed = [L::zero(); 3];
        for k in 0..POINTS {
            let (u, v) = (L::widen(&self.tilts[k][0]), L::widen(&self.tilts[k][1]));
            let speed = normal + u * tilt[0] + v * tilt[1] + L::load(&self.bias[k]);
            let before = L::load(&self.loads[k]);
            let after = (before - speed * L::widen(&self.inverse[k])).max(L::zero());
            let change = after - before;
            after.store(&mut self.loads[k]);
            load = load + after;
            moment = moment + after * L::widen(&self.levers[k]);
            let response = respond(pressing, u, v);
            normal = normal + response[0] * change;
            tilt = [tilt[0] + response[1] * change, tilt[1] + response[2] * change];
            let (tilted, over) = (u * change, v * change);
            pushed = [pushed[0] + change, pushed[1] + tilted, pushed[2] + over];
            most = most.max((response[0] * change + response[1] * tilted + response[2] * over).abs());
        }
        let sliding = [
            dot(axes[1], velocity) + rounded_dot(&self.aside[0], pushed),
            dot(axes[2], velocity) + rounded_dot(&self.aside[1], pushed),
        ];
        let mut spin = dot(axes[0], turning) + rounded_dot(&self.aside[2], pushed);
        let coefficient = L::widen(&self.coefficient);
        // Friction: both sliding speeds to zero, as far as the load allows.
        let limit = coefficient * load;
        let square_limit = limit * limit;
        let before = [L::load(&self.friction[0]), L::load(&self.friction[1])];
        let steps = [L::widen(&self.rubbing_inverse[0]), L::widen(&self.rubbing_inverse[1])];
        let wanted = [before[0] - sliding[0] * steps[0], before[1] - sliding[1] * steps[1]];
        let square = wanted[0] * wanted[0] + wanted[1] * wanted[1];
        // Sliding: with one step for both the fixed point has friction exactly against the velocity.
        let step = steps[0].min(steps[1]);
        let slipping = [before[0] - sliding[0] * step, before[1] - sliding[1] * step];
        let slipping_square = slipping[0] * slipping[0] + slipping[1] * slipping[1];
        let cut = limit.over(slipping_square.if_above(square_limit, slipping_square, L::splat(1.0)).sqrt());
        let scale = slipping_square.if_above(square_limit, cut, L::splat(1.0));
        let mut rubbed = [L::zero(); 2];
        for k in 0..2 {
            let after = square.if_above(square_limit, slipping[k] * scale, wanted[k]);
            after.store(&mut self.friction[k]);
            rubbed[k] = after - before[k];
            most = most.max((L::widen(&self.rubbing[k]) * rubbed[k]).abs());
            spin = spin + L::widen(&self.twisting[k]) * rubbed[k];
        }
        // The moment about the normal.
        let limit = coefficient * moment + L::widen(&self.spinning) * load;
        let before = L::load(&self.spin);
        let wanted = before - spin * L::widen(&self.rubbing_inverse[2]);
        let after = wanted.min(limit).max(L::zero() - limit);
        after.store(&mut self.spin);
        let turned = after - before;
        most = most.max((L::widen(&self.rubbing[2]) * turned).abs() * L::widen(&self.lever));
        *largest = most;
        let push = along(axes, [pushed[0], rubbed[0], rubbed[1]], [turned, pushed[1], pushed[2]]);
        give(&push, &Inverse::of(inverse, &self.responding[0]), arm_a, &mut of_a);
        let back = Push { force: sub([L::zero(); 3], push.force), moment: sub([L::zero(); 3], push.moment) };
        give(&back, &Inverse::of(inverse, &self.responding[1]), arm_b, &mut of_b);
        of_a.store(twists, &self.bodies[0]);
        of_b.store(twists, &self.bodies[1]);
    }

    #[inline(always)]
    fn pressing<L: Lane>(&self) -> [L; 6] {
        let p = &self.pressing;
        [L::widen(&p[0]), L::widen(&p[1]), L::widen(&p[2]), L::widen(&p[3]), L::widen(&p[4]), L::widen(&p[5])]
    }

    /// All impulses together, on A.
    #[inline(always)]
    pub fn push<L: Lane>(&self) -> Push<L> {
        let mut pressed = [L::zero(); 3];
        for k in 0..POINTS {
            let load = L::load(&self.loads[k]);
            pressed[0] = pressed[0] + load;
            pressed[1] = pressed[1] + load * L::widen(&self.tilts[k][0]);
            pressed[2] = pressed[2] + load * L::widen(&self.tilts[k][1]);
        }
        let friction = [L::load(&self.friction[0]), L::load(&self.friction[1])];
        along(
            self.axes(),
            [pressed[0], friction[0], friction[1]],
            [L::load(&self.spin), pressed[1], pressed[2]],
        )
    }

    /// Changes the twists of A and B by a push on A.
    #[inline(always)]
    pub fn apply<L: Lane>(&self, push: &Push<L>, inverse: &[Record], twists: &mut [Record]) {
        for (side, sign) in [(0, 1.0), (1, -1.0)] {
            let mut twist = Twists::<L>::of(twists, &self.bodies[side]);
            let sign = L::splat(sign);
            let push = Push { force: scaled(push.force, sign), moment: scaled(push.moment, sign) };
            give(&push, &Inverse::of(inverse, &self.responding[side]), load3(&self.arms[side]), &mut twist);
            twist.store(twists, &self.bodies[side]);
        }
    }

    /// Work of a push on A against these motions of A and B (J).
    #[inline(always)]
    pub fn work<L: Lane>(&self, push: &Push<L>, of_a: &Twists<L>, of_b: &Twists<L>) -> L {
        let velocity = sub(of_a.at(load3(&self.arms[0])), of_b.at(load3(&self.arms[1])));
        dot(push.force, velocity) + dot(push.moment, sub(of_a.angular, of_b.angular))
    }

    /// Loads times the speeds of approach that are allowed (J).
    #[inline(always)]
    pub fn work_of_bias<L: Lane>(&self) -> L {
        let mut work = L::zero();
        for k in 0..POINTS {
            work = work + L::load(&self.loads[k]) * L::load(&self.bias[k]);
        }
        work
    }

    /// Multiplies the impulses of each patch.
    #[inline(always)]
    pub fn scale<L: Lane>(&mut self, factors: &Four) {
        let factors = L::load(factors);
        for impulse in self.loads.iter_mut().chain(&mut self.friction).chain([&mut self.spin]) {
            (L::load(impulse) * factors).store(impulse);
        }
    }

    /// Starts from the impulses of the contacts (world axes), within the limits.
    #[inline(always)]
    pub fn start<L: Lane>(&mut self, contacts: &[[Four; 3]; POINTS]) {
        let axes = self.axes::<L>();
        let (mut load, mut limit, mut moment) = (L::zero(), L::zero(), L::zero());
        let mut friction = [L::zero(); 2];
        for k in 0..POINTS {
            let start: Vec3<L> = load3(&contacts[k]);
            let pressed = dot(axes[0], start).max(L::zero());
            pressed.store(&mut self.loads[k]);
            load = load + pressed;
            limit = limit + pressed * L::widen(&self.levers[k]);
            let across = [dot(axes[1], start), dot(axes[2], start)];
            friction = [friction[0] + across[0], friction[1] + across[1]];
            // The point lies at (-v, u) along the tangents.
            moment =
                moment - (L::widen(&self.tilts[k][1]) * across[1] + L::widen(&self.tilts[k][0]) * across[0]);
        }
        let coefficient = L::widen(&self.coefficient);
        let most = coefficient * load;
        let square = friction[0] * friction[0] + friction[1] * friction[1];
        let cut = most.over(square.if_above(L::zero(), square, L::splat(1.0)).sqrt());
        let scale = square.if_above(most * most, cut, L::splat(1.0));
        (friction[0] * scale).store(&mut self.friction[0]);
        (friction[1] * scale).store(&mut self.friction[1]);
        let most = coefficient * limit;
        moment.min(most).max(L::zero() - most).store(&mut self.spin);
    }

    /// World impulse of each contact: the normal impulse, an equal share of the patch's friction, and what makes its moment about the normal.
    #[inline(always)]
    pub fn spread<L: Lane>(&self) -> [[Four; 3]; POINTS] {
        let axes = self.axes::<L>();
        let mut counts = [0.0; LANES];
        let mut squares = L::zero();
        for lane in 0..LANES {
            counts[lane] = f64::from(self.points[lane]);
        }
        for k in 0..POINTS {
            let lever = L::widen(&self.levers[k]);
            squares = squares + lever * lever;
        }
        let share = L::load(&counts).inverse();
        let turn = L::load(&self.spin) * squares.inverse();
        let friction = [L::load(&self.friction[0]) * share, L::load(&self.friction[1]) * share];
        let mut contacts = [[[0.0; LANES]; 3]; POINTS];
        for k in 0..POINTS {
            let (u, v) = (L::widen(&self.tilts[k][0]), L::widen(&self.tilts[k][1]));
            let across = [friction[0] - turn * u, friction[1] - turn * v];
            let impulse = along(axes, [L::load(&self.loads[k]), across[0], across[1]], [L::zero(); 3]).force;
            store3(impulse, &mut contacts[k]);
        }
        contacts
    }
}

/// Change of normal speed and tilts for an impulse at a point.
#[inline(always)]
fn respond<L: Lane>(pressing: [L; 6], u: L, v: L) -> [L; 3] {
    let [a, b, c, d, e, f] = pressing;
    [a + u * b + v * c, b + u * d + v * e, c + u * e + v * f]
}

/// World impulse and moment of those along the axes of the patches.
#[inline(always)]
fn along<L: Lane>(axes: [Vec3<L>; 3], force: Vec3<L>, moment: Vec3<L>) -> Push<L> {
    Push { force: world(axes, force), moment: world(axes, moment) }
}

/// World components of a vector along the axes.
#[inline(always)]
fn world<L: Lane>(axes: [Vec3<L>; 3], parts: Vec3<L>) -> Vec3<L> {
    add(add(scaled(axes[0], parts[0]), scaled(axes[1], parts[1])), scaled(axes[2], parts[2]))
}

/// `a.b` with rounded `a`.
#[inline(always)]
fn rounded_dot<L: Lane>(a: &[Rounded; 3], b: Vec3<L>) -> L {
    L::widen(&a[0]) * b[0] + L::widen(&a[1]) * b[1] + L::widen(&a[2]) * b[2]
}

/// Changes a twist by a push at `arm`.
#[inline(always)]
fn give<L: Lane>(push: &Push<L>, inverse: &Inverse<L>, arm: Vec3<L>, twist: &mut Twists<L>) {
    twist.linear = add(twist.linear, scaled(push.force, inverse.mass));
    twist.angular = add(twist.angular, inverse.apply(push.about(arm)));
}
