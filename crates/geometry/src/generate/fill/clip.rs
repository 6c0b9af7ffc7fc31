//! The inside of one simplex whose corners are inside, on or outside the surface, divided into simplices.

/// Where a corner of the lattice lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Strictly inside.
    Inside,
    /// On the surface.
    On,
    /// Strictly outside.
    Outside,
}

/// A corner of the division: a corner of the simplex, or the point where the surface cuts an edge from an inner to an outer corner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Corner {
    /// A lattice point.
    Point(usize),
    /// The cut of the edge (inside, outside).
    Cut(usize, usize),
}

/// Calls `emit` with each simplex of the inner part of `simplex`, with arbitrary orientation.
///
/// With p inner and q outer corners the inner part is the product of a simplex with p corners (which inner corner) and one with q + 1 corners (itself, or its cut
/// towards each outer corner), joined to the corners on the surface. A product of simplices divides by staircases once both factors are
/// ordered, and the face of two inner corners `a`, `b` and an outer corner `n` sees only whether the diagonal of its quadrilateral
/// `a, b, cut(b n), cut(a n)` starts at `a` or at `b`. So `starts_at_first(a, b, n)` may be any function of the face that is antisymmetric in
/// `a` and `b`, and neighbours agree. Orders follow from it as long as three inner corners never prefer each other in a circle, which
/// would be the prism that has no division. `surface_diagonal(p, q, r, s)` tells whether the quadrilateral on the surface prefers the diagonal p q to
/// r s, when both are possible.
pub fn clip<const N: usize>(
    simplex: &[usize; N],
    sides: &[Side; N],
    starts_at_first: impl Fn(usize, usize, usize) -> bool,
    surface_diagonal: impl Fn(Corner, Corner, Corner, Corner) -> bool,
    mut emit: impl FnMut([Corner; N]),
) {
    let select = |side: Side, out: &mut [usize; N]| {
        let mut count = 0;
        for (corner, s) in simplex.iter().zip(sides) {
            if *s == side {
                out[count] = *corner;
                count += 1;
            }
        }
        count
    };
    let (mut inner, mut on, mut outer) = ([0; N], [0; N], [0; N]);
    let p = select(Side::Inside, &mut inner);
    let z = select(Side::On, &mut on);
    let q = select(Side::Outside, &mut outer);
    if p == 0 {
        return;
    }
    if q == 0 {
        emit(simplex.map(Corner::Point));
        return;
    }
    // Order of the second factor: `None` is the inner corner itself.
    let mut towards = [None; N];
    if q == 1 {
        let n = outer[0];
        // Sorting by the number of corners it precedes; corners already in place break ties that cannot occur.
        let rank = |a: usize| inner[..p].iter().filter(|&&b| b != a && starts_at_first(a, b, n)).count();
        let mut order = inner;
        order[..p].sort_by_key(|&a| std::cmp::Reverse(rank(a)));
        inner = order;
        towards[1] = Some(n);
    } else if p == 1 {
        for (slot, n) in towards[1..].iter_mut().zip(&outer[..q]) {
            *slot = Some(*n);
        }
    } else {
        // p = q = 2 in 3D: with a before b, the diagonal starts at b when the cut towards n comes before the corners themselves.
        let (a, b) = (inner[0], inner[1]);
        let (mut c, mut d) = (outer[0], outer[1]);
        let c_first =
            surface_diagonal(Corner::Cut(a, c), Corner::Cut(b, d), Corner::Cut(a, d), Corner::Cut(b, c));
        if !c_first {
            std::mem::swap(&mut c, &mut d);
        }
        let mut count = 0;
        let mut place = |item| {
            towards[count] = item;
            count += 1;
        };
        for n in [c, d] {
            if !starts_at_first(a, b, n) {
                place(Some(n));
            }
        }
        place(None);
        for n in [c, d] {
            if starts_at_first(a, b, n) {
                place(Some(n));
            }
        }
    }
    let node = |i: usize, j: usize| match towards[j] {
        None => Corner::Point(inner[i]),
        Some(n) => Corner::Cut(inner[i], n),
    };
    // Staircases from (0, 0) to (p - 1, q): bit s of the mask says which factor advances in step s.
    let steps = p - 1 + q;
    for mask in 0..1usize << steps {
        if mask.count_ones() as usize != p - 1 {
            continue;
        }
        let mut out = [Corner::Point(0); N];
        let (mut i, mut j) = (0, 0);
        out[0] = node(0, 0);
        for step in 0..steps {
            if mask >> step & 1 == 1 {
                i += 1;
            } else {
                j += 1;
            }
            out[step + 1] = node(i, j);
        }
        for (slot, corner) in out[steps + 1..].iter_mut().zip(&on[..z]) {
            *slot = Corner::Point(*corner);
        }
        emit(out);
    }
}
