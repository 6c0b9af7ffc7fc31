//! The contact of two bodies over a patch with one normal, in the coordinates of the patch.
//!
//! All that the rows of a patch say concerns the motion of A relative to B at the centre of the patch: its velocity and its spin, `2 x 3` numbers in
//! 3D. A point presses along the normal at its place in the plane, friction acts at the centre, spinning and rolling friction on the spin. So one
//! small matrix `W M^-1 W^T` serves all rows; bodies are read once and written once for all of them, and what the rows do to each other stays in
//! registers.

use super::InverseInertia;
use splashdown_math::{Coordinates, Dim, Matrix, Space, Spin, Twist, Vector};

/// Most points of a manifold; a larger patch becomes several.
pub(super) const MOST_POINTS: usize = 6;
/// Most rows: points, two tangents, spin, two axes of rolling.
pub(super) const MOST_ROWS: usize = 11;

/// Impulses of the rows of a manifold on A (kg m/s, kg m^2/s); those it does not have are zero.
pub(super) type Impulses = [f64; MOST_ROWS];

/// Velocity and then spin of A relative to B at the centre of a patch along its axes, or impulse and moment; the plane uses the first three.
pub(super) type Local = [f64; 6];

/// What bounds the impulses that are not normal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub friction: f64,
    /// Largest moments for a normal force of one (m).
    pub rolling: f64,
    pub spinning: f64,
}

/// The rows between two bodies with a common normal: points, then tangents, then spin about the normal (3D), then rolling if there is any.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manifold<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// Bodies, as indices into the island's.
    pub bodies: [u32; 2],
    /// First of its contacts.
    pub contact: u32,
    /// Number of contact points and of all rows.
    pub points: u32,
    pub rows: u32,
    /// Columns: the normal, from B to A, and an orthonormal completion.
    pub axes: Matrix<D>,
    /// From the centres of mass of A and B to the centre of the patch (m).
    pub arms: [Vector<D>; 2],
    /// What a unit of tilt (spin across the normal) adds to the normal speed of a point (m).
    pub tilts: [[f64; 2]; MOST_POINTS],
    /// Speed of approach of a point that is allowed (m/s): what closes the gap within the step.
    pub bias: [f64; MOST_POINTS],
    /// Distance of a point from the centre (m).
    pub levers: [f64; MOST_POINTS],
    /// What makes a spin a speed of points (m).
    pub lever: f64,
    pub limits: Limits,
    /// Change of the relative motion for a unit of impulse and moment.
    matrix: [Local; 6],
    /// Inverse of its diagonal; zero where nothing responds.
    inverse: Local,
    /// Change of normal speed and tilt for a unit of impulse at a point.
    responses: [[f64; 3]; MOST_POINTS],
    /// Change of a point's speed for a unit of impulse there, and its inverse.
    factors: [[f64; 2]; MOST_POINTS],
}

/// Sums over one sweep.
#[derive(Default)]
pub(super) struct Sums {
    /// Of squared changes in the metric of the diagonal.
    pub square: f64,
    /// Largest change of a relative velocity (m/s).
    pub largest: f64,
}

impl Sums {
    /// `length` makes the row's speed one of points.
    #[inline(always)]
    pub(super) fn add(&mut self, factor: f64, change: f64, length: f64) {
        let speed = factor * change;
        self.square += speed * change;
        self.largest = self.largest.max(speed.abs() * length);
    }
}

impl<const D: usize> Manifold<D>
where
    Dim<D>: Space<D>,
{
    /// Rows of friction within the plane.
    pub const TANGENTS: usize = D - 1;
    /// Numbers of a relative motion.
    pub const SIZE: usize = Twist::<D>::LEN;
    /// Where tilt stands in a relative motion; in the plane there is one, which is the spin.
    const TILT: [usize; 2] = if D == 2 { [2, 2] } else { [4, 5] };

    /// A manifold without points.
    pub fn new(bodies: [u32; 2], contact: u32, points: usize, normal: &Vector<D>, limits: Limits) -> Self {
        let spins = if D == 3 { 1 } else { 0 };
        let rolls = if limits.rolling > 0.0 { D - 1 } else { 0 };
        Self {
            bodies,
            contact,
            points: points as u32,
            rows: (points + Self::TANGENTS + spins + rolls) as u32,
            axes: contact_frame(normal),
            arms: [Vector::zeros(); 2],
            tilts: [[0.0; 2]; MOST_POINTS],
            bias: [0.0; MOST_POINTS],
            levers: [0.0; MOST_POINTS],
            lever: 0.0,
            limits,
            matrix: [[0.0; 6]; 6],
            inverse: [0.0; 6],
            responses: [[0.0; 3]; MOST_POINTS],
            factors: [[0.0; 2]; MOST_POINTS],
        }
    }

    /// Unit normal from B to A.
    pub fn normal(&self) -> Vector<D> {
        self.axes.column(0).into()
    }

    /// Place of the row of spin about the normal among the rows, in 3D.
    pub fn spin_row(&self) -> Option<usize> {
        (D == 3).then_some(self.points as usize + Self::TANGENTS)
    }

    /// Puts point `k` at `out` (m) from the centre.
    pub fn set_point(&mut self, k: usize, out: &Vector<D>, bias: f64) {
        let moment = self.spin_along(&Dim::cross(out, &self.normal()));
        self.tilts[k] = if D == 2 { [moment[0], 0.0] } else { [moment[1], moment[2]] };
        self.bias[k] = bias;
        self.levers[k] = out.norm();
    }

    /// Place of point `k` from the centre within the plane (m); zero in 2D, where it is not needed.
    pub fn place(&self, k: usize) -> Vector<D> {
        if D == 2 {
            return Vector::zeros();
        }
        self.axes.column(2) * self.tilts[k][0] - self.axes.column(1) * self.tilts[k][1]
    }

    /// A spin along the axes of the patch.
    #[inline(always)]
    fn spin_along(&self, spin: &Spin<D>) -> [f64; 3] {
        let spin = spin.as_slice();
        if D == 2 {
            return [spin[0], 0.0, 0.0];
        }
        let mut along = [0.0; 3];
        let axes = self.axes.as_slice();
        for c in 0..D {
            for a in 0..D {
                along[c] += axes[D * c + a] * spin[a];
            }
        }
        along
    }

    /// The inverse of [`Self::spin_along`].
    #[inline(always)]
    fn spin_from(&self, along: &[f64]) -> Spin<D> {
        if D == 2 {
            return Spin::<D>::from_slice(along);
        }
        let mut spin = [0.0; 3];
        let axes = self.axes.as_slice();
        for c in 0..D {
            for a in 0..D {
                spin[a] += axes[D * c + a] * along[c];
            }
        }
        Spin::<D>::from_slice(&spin)
    }

    /// A vector along the axes of the patch. Plain loops: the general product is several times slower.
    #[inline(always)]
    fn vector_along(&self, vector: &Vector<D>) -> Vector<D> {
        let mut along = [0.0; D];
        let (axes, vector) = (self.axes.as_slice(), vector.as_slice());
        for c in 0..D {
            for a in 0..D {
                along[c] += axes[D * c + a] * vector[a];
            }
        }
        Vector::from(along)
    }

    /// Motion of A relative to B.
    #[inline(always)]
    pub fn relative(&self, a: &Twist<D>, b: &Twist<D>) -> Local {
        let along = self.vector_along(&(a.at(&self.arms[0]) - b.at(&self.arms[1])));
        let spin = self.spin_along(&(a.angular - b.angular));
        let mut local = [0.0; 6];
        for k in 0..D {
            local[k] = along[k];
        }
        local[D..Self::SIZE].copy_from_slice(&spin[..Self::SIZE - D]);
        local
    }

    /// Impulse and moment of impulses on the rows.
    #[inline(always)]
    pub fn gather(&self, impulses: &Impulses) -> Local {
        let points = self.points as usize;
        let mut push = [0.0; 6];
        for (k, tilt) in self.tilts.iter().enumerate().take(points) {
            push[0] += impulses[k];
            push[Self::TILT[0]] += tilt[0] * impulses[k];
            push[Self::TILT[1]] += tilt[1] * impulses[k];
        }
        for k in points..self.rows as usize {
            push[self.component(k)] += impulses[k];
        }
        push
    }

    /// What row `k`, not of a point, reads of a relative motion.
    #[inline(always)]
    fn component(&self, k: usize) -> usize {
        1 + k - self.points as usize
    }

    /// Speed of row `k`, without bias.
    #[inline(always)]
    pub fn speed(&self, k: usize, local: &Local) -> f64 {
        if k < self.points as usize {
            let [first, second] = Self::TILT;
            local[0] + self.tilts[k][0] * local[first] + self.tilts[k][1] * local[second]
        } else {
            local[self.component(k)]
        }
    }

    /// Bias of row `k` (m/s).
    pub fn bias_of(&self, k: usize) -> f64 {
        if k < self.points as usize { self.bias[k] } else { 0.0 }
    }

    /// Change of the speed of row `k` for an impulse of one on it.
    pub fn factor(&self, k: usize) -> f64 {
        if k < self.points as usize {
            self.factors[k][0]
        } else {
            let c = self.component(k);
            self.matrix[c][c]
        }
    }

    /// Gradient of the speed of row `k` by the twists of A and B.
    pub fn gradient(&self, k: usize) -> [Twist<D>; 2] {
        let mut unit = [0.0; MOST_ROWS];
        unit[k] = 1.0;
        let (force, moments) = self.push(&self.gather(&unit));
        [Twist { linear: force, angular: moments[0] }, Twist { linear: -force, angular: -moments[1] }]
    }

    /// Momentum (world axes) and angular momenta about A and B of an impulse and moment on A.
    #[inline(always)]
    pub fn push(&self, local: &Local) -> (Vector<D>, [Spin<D>; 2]) {
        let mut force = [0.0; D];
        let axes = self.axes.as_slice();
        for c in 0..D {
            for a in 0..D {
                force[a] += axes[D * c + a] * local[c];
            }
        }
        let force = Vector::from(force);
        let moment = self.spin_from(&local[D..Self::SIZE]);
        // Written out: `map` of an array is a call here, in the innermost loop of contact.
        (force, [Dim::cross(&self.arms[0], &force) + moment, Dim::cross(&self.arms[1], &force) + moment])
    }

    /// Changes the twists of A and B by an impulse and moment on A.
    #[inline(always)]
    pub fn apply(&self, local: &Local, inverse: [&InverseInertia<D>; 2], a: &mut Twist<D>, b: &mut Twist<D>) {
        let (force, moments) = self.push(local);
        a.linear += force * inverse[0].mass;
        a.angular += Dim::apply_inertia(&inverse[0].inertia, &moments[0]);
        b.linear -= force * inverse[1].mass;
        b.angular -= Dim::apply_inertia(&inverse[1].inertia, &moments[1]);
    }

    /// Sets the matrix for bodies that respond so. Returns whether every row can be satisfied.
    pub fn set_matrix(&mut self, inverse: [&InverseInertia<D>; 2]) -> bool {
        let spins = <Dim<D> as Space<D>>::SPIN;
        let mut matrix = [[0.0; 6]; 6];
        for (body, arm) in inverse.into_iter().zip(&self.arms) {
            if body.is_infinite() {
                continue;
            }
            // All along the axes of the patch, in which cross products are the same.
            let arm = self.vector_along(arm);
            // Spin, and velocity at the centre, for a unit moment about each axis.
            let mut turns = [[0.0; 3]; 3];
            let mut moves = [Vector::<D>::zeros(); 3];
            for c in 0..spins {
                let mut unit = [0.0; 3];
                unit[c] = 1.0;
                turns[c] =
                    self.spin_along(&Dim::apply_inertia(&body.inertia, &self.spin_from(&unit[..spins])));
                moves[c] = Dim::spin_cross(&Spin::<D>::from_slice(&turns[c][..spins]), &arm);
            }
            for c in 0..spins {
                for r in 0..spins {
                    matrix[D + r][D + c] += turns[c][r];
                }
                for r in 0..D {
                    matrix[r][D + c] += moves[c][r];
                    matrix[D + c][r] += moves[c][r];
                }
            }
            for c in 0..D {
                let unit = Vector::<D>::from_fn(|a, _| if a == c { 1.0 } else { 0.0 });
                let moment = Dim::cross(&arm, &unit);
                let mut moved = unit * body.mass;
                for (factor, moves) in moment.as_slice().iter().zip(&moves) {
                    moved += moves * *factor;
                }
                for r in 0..D {
                    matrix[r][c] += moved[r];
                }
            }
        }
        self.take_matrix(matrix);
        (0..self.rows as usize).all(|k| self.factor(k) > 0.0)
    }

    /// Sets the matrix for bodies that joints hold: `respond` tells the changes of their twists for wrenches on both. Rows that answer with less than `least` of what the bodies would do by
    /// themselves (`inverse`) do not answer: joints keep them.
    pub fn set_matrix_by(
        &mut self,
        respond: impl Fn([&Twist<D>; 2]) -> [Twist<D>; 2],
        inverse: [&InverseInertia<D>; 2],
        least: f64,
    ) {
        self.set_matrix(inverse);
        let bare = self.matrix;
        let bare_points = self.factors;
        let mut matrix = [[0.0; 6]; 6];
        for c in 0..Self::SIZE {
            let mut unit = [0.0; 6];
            unit[c] = 1.0;
            let (force, moments) = self.push(&unit);
            let on = [
                Twist { linear: force, angular: moments[0] },
                Twist { linear: -force, angular: -moments[1] },
            ];
            let [a, b] = respond([&on[0], &on[1]]);
            let column = self.relative(&a, &b);
            for r in 0..Self::SIZE {
                matrix[r][c] = column[r];
            }
        }
        for r in 0..Self::SIZE {
            for c in 0..r {
                let mean = 0.5 * (matrix[r][c] + matrix[c][r]);
                matrix[r][c] = mean;
                matrix[c][r] = mean;
            }
        }
        self.take_matrix(matrix);
        for k in 0..Self::SIZE {
            if !(matrix[k][k] > least * bare[k][k]) {
                self.inverse[k] = 0.0;
            }
        }
        for (factors, bare) in self.factors.iter_mut().zip(&bare_points).take(self.points as usize) {
            if !(factors[0] > least * bare[0]) {
                *factors = [0.0, 0.0];
            }
        }
    }

    fn take_matrix(&mut self, matrix: [Local; 6]) {
        self.matrix = matrix;
        self.inverse = std::array::from_fn(|k| if matrix[k][k] > 0.0 { 1.0 / matrix[k][k] } else { 0.0 });
        let [first, second] = Self::TILT;
        for (k, &[u, v]) in self.tilts.iter().enumerate().take(self.points as usize) {
            let response =
                [0, first, second].map(|r| matrix[r][0] + u * matrix[r][first] + v * matrix[r][second]);
            let factor = response[0] + u * response[1] + v * response[2];
            self.responses[k] = response;
            self.factors[k] = [factor, 1.0 / factor];
        }
    }

    /// Satisfies the rows one after another; `local` is the relative motion. Returns the change of impulse and moment.
    #[inline(always)]
    pub fn relax(&self, impulses: &mut Impulses, local: &mut Local, sums: &mut Sums) -> Local {
        let points = (self.points as usize).min(MOST_POINTS);
        let [first, second] = Self::TILT;
        let (mut normal, mut tilt) = (local[0], [local[first], local[second]]);
        let (mut load, mut moment) = (0.0, 0.0);
        let mut push = [0.0; 6];
        let mut tilted = [0.0; 2];
        for k in 0..points {
            let [u, v] = self.tilts[k];
            let [factor, inverse] = self.factors[k];
            let speed = normal + u * tilt[0] + v * tilt[1] + self.bias[k];
            let before = impulses[k];
            let after = (before - speed * inverse).max(0.0);
            let change = after - before;
            impulses[k] = after;
            load += after;
            moment += after * self.levers[k];
            let response = &self.responses[k];
            normal += response[0] * change;
            tilt[0] += response[1] * change;
            tilt[1] += response[2] * change;
            push[0] += change;
            tilted[0] += u * change;
            tilted[1] += v * change;
            sums.add(factor, change, 1.0);
        }
        for r in 1..Self::SIZE {
            let row = &self.matrix[r];
            local[r] += row[0] * push[0] + row[first] * tilted[0] + row[second] * tilted[1];
        }
        let limits = &self.limits;
        let limit = limits.friction * load;
        self.relax_within::<1>(points, Self::TANGENTS, limit, 1.0, impulses, local, &mut push, sums);
        let mut next = points + Self::TANGENTS;
        if D == 3 {
            let limit = limits.friction * moment + limits.spinning * load;
            self.relax_within::<3>(next, 1, limit, self.lever, impulses, local, &mut push, sums);
            next += 1;
        }
        if next < self.rows as usize {
            let (limit, lever) = (limits.rolling * load, self.lever.max(limits.rolling));
            if D == 3 {
                self.relax_within::<4>(next, 2, limit, lever, impulses, local, &mut push, sums);
            } else {
                self.relax_within::<2>(next, 1, limit, lever, impulses, local, &mut push, sums);
            }
        }
        push[first] += tilted[0];
        if D == 3 {
            push[second] += tilted[1];
        }
        push
    }

    /// Brings one or two components of the relative motion from `FROM` on to zero with impulses whose length is at most `limit`.
    #[inline(always)]
    #[expect(clippy::too_many_arguments)]
    fn relax_within<const FROM: usize>(
        &self,
        row: usize,
        count: usize,
        limit: f64,
        length: f64,
        impulses: &mut Impulses,
        local: &mut Local,
        push: &mut Local,
        sums: &mut Sums,
    ) {
        let factor = |k: usize| self.matrix[FROM + k][FROM + k];
        let mut wanted = [0.0; 2];
        for k in 0..count {
            wanted[k] = impulses[row + k] - local[FROM + k] * self.inverse[FROM + k];
        }
        let mut square = wanted[0] * wanted[0] + wanted[1] * wanted[1];
        if square > limit * limit {
            if count == 2 {
                // Sliding: with one step for both the fixed point has friction exactly against the velocity.
                let step = self.inverse[FROM].min(self.inverse[FROM + 1]);
                for k in 0..2 {
                    wanted[k] = impulses[row + k] - local[FROM + k] * step;
                }
                square = wanted[0] * wanted[0] + wanted[1] * wanted[1];
            }
            if square > limit * limit {
                let scale = limit / square.sqrt();
                wanted.iter_mut().for_each(|wanted| *wanted *= scale);
            }
        }
        for k in 0..count {
            let change = wanted[k] - impulses[row + k];
            impulses[row + k] = wanted[k];
            push[FROM + k] += change;
            sums.add(factor(k), change, length);
            for r in FROM + count..Self::SIZE {
                local[r] += self.matrix[r][FROM + k] * change;
            }
        }
    }
}

/// The part of a spin about `normal`; none in the plane, where every spin is rolling.
pub(super) fn normal_part<const D: usize>(spin: &Spin<D>, normal: &Vector<D>) -> Spin<D>
where
    Dim<D>: Space<D>,
{
    if D == 2 {
        return Spin::<D>::zero();
    }
    let axis = Spin::<D>::from_slice(normal.as_slice());
    axis * axis.dot(spin)
}

/// Columns: the normal and an orthonormal completion, right-handed.
pub(super) fn contact_frame<const D: usize>(normal: &Vector<D>) -> Matrix<D>
where
    Dim<D>: Space<D>,
{
    let mut frame = Matrix::<D>::zeros();
    let entries = frame.as_mut_slice();
    let normal = normal.as_slice();
    entries[..D].copy_from_slice(normal);
    if D == 2 {
        entries[2] = -normal[1];
        entries[3] = normal[0];
        return frame;
    }
    let mut across = 0;
    for a in 1..D {
        if normal[a].abs() < normal[across].abs() {
            across = a;
        }
    }
    let mut tangent = [0.0; D];
    tangent[across] = 1.0;
    let mut square = 0.0;
    for a in 0..D {
        tangent[a] -= normal[a] * normal[across];
        square += tangent[a] * tangent[a];
    }
    let length = square.sqrt();
    for a in 0..D {
        tangent[a] /= length;
    }
    entries[D..2 * D].copy_from_slice(&tangent);
    for a in 0..D {
        let (u, v) = ((a + 1) % D, (a + 2) % D);
        entries[D * (D - 1) + a] = normal[u] * tangent[v] - normal[v] * tangent[u];
    }
    frame
}
