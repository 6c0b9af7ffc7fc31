//! Spheres and capsules: a core point or segment with a radius, against the distance of the other solid.

use super::{Contact, Guide, Placed, Pose, WHOLE};
use splashdown_math::{Dim, Space, Vector};

/// Sphere against sphere.
pub(super) fn spheres<const D: usize>(
    radius: [f64; 2],
    pose: [&Pose<D>; 2],
    margin: f64,
    contacts: &mut Vec<Contact<D>>,
) where
    Dim<D>: Space<D>,
{
    let between = pose[0].position - pose[1].position;
    let reach = radius[0] + radius[1] + margin;
    let square = between.norm_squared();
    if square > reach * reach {
        return;
    }
    let distance = square.sqrt();
    let normal = if distance > 0.0 {
        between / distance
    } else {
        Vector::from_fn(|a, _| if a == 1 { 1.0 } else { 0.0 })
    };
    contacts.push(Contact {
        on_a: Vector::zeros(),
        on_b: Vector::zeros(),
        radius,
        guide: Guide::Points(normal),
        feature: 0,
    });
}

/// A particle A against the distance field of any solid B.
pub(super) fn particle<const D: usize>(
    thickness: f64,
    a: &Placed<'_, D>,
    b: &Placed<'_, D>,
    margin: f64,
    contacts: &mut Vec<Contact<D>>,
) where
    Dim<D>: Space<D>,
{
    let place = b.pose.to_object(&a.pose.position);
    let distance = b.geometry.signed_distance(&place);
    if distance - thickness <= margin {
        contacts.push(Contact {
            on_a: Vector::zeros(),
            on_b: place,
            radius: [thickness, 0.0],
            guide: Guide::ParticleA,
            feature: 0,
        });
    }
}

/// A ball about the object point `core` of A against any solid B.
pub(super) fn ball<const D: usize>(
    core: &Vector<D>,
    radius: f64,
    feature: u32,
    a: &Placed<'_, D>,
    b: &Placed<'_, D>,
    margin: f64,
    contacts: &mut Vec<Contact<D>>,
) where
    Dim<D>: Space<D>,
{
    let centre = b.pose.to_object(&a.pose.to_world(core));
    let (distance, normal) = b.geometry.contact_distance(WHOLE, &centre, radius);
    if !(distance - radius <= margin) {
        return;
    }
    let on_b = centre - normal * distance;
    // Outside, the normal is that of the nearest point wherever the ball moves: it stays on a face and turns about a corner or an edge. Inside it
    // belongs to the face.
    let guide = if distance > 1e-3 * radius { Guide::FieldOfB(WHOLE) } else { Guide::FixedToB(normal) };
    contacts.push(Contact { on_a: *core, on_b, radius: [radius, 0.0], guide, feature });
}

/// A capsule A against any solid B: the distance of B along the axis is a convex function where B is convex; contacts stand at its minimum and
/// at the two ends of the stretch that is nearly as deep, or at those of the capsule where they are within `margin`.
pub(super) fn capsule<const D: usize>(
    radius: f64,
    half_length: f64,
    a: &Placed<'_, D>,
    b: &Placed<'_, D>,
    margin: f64,
    contacts: &mut Vec<Contact<D>>,
) where
    Dim<D>: Space<D>,
{
    const SECTIONS: usize = 40;
    const SETTLING: usize = 8;
    const STAYS: f64 = 0.75;
    let core = |t: f64| {
        let mut point = Vector::<D>::zeros();
        point[D - 1] = t;
        point
    };
    let distance =
        |t: f64| b.geometry.contact_distance(WHOLE, &b.pose.to_object(&a.pose.to_world(&core(t))), radius).0;
    // Golden section; a coarse scan first, because the distance of a solid that is not convex may have several minima.
    let scan = 8;
    let at = |i: usize| half_length * (2.0 * i as f64 / scan as f64 - 1.0);
    let values: Vec<f64> = (0..=scan).map(|i| distance(at(i))).collect();
    let start = (0..=scan).min_by(|&i, &j| values[i].total_cmp(&values[j])).unwrap_or(0);
    let (mut low, mut high) = (at(start.saturating_sub(1)), at((start + 1).min(scan)));
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let (mut s, mut t) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut at_s, mut at_t) = (distance(s), distance(t));
    for _ in 0..SECTIONS {
        if at_s <= at_t {
            (high, t, at_t) = (t, s, at_s);
            s = high - GOLDEN * (high - low);
            at_s = distance(s);
        } else {
            (low, s, at_s) = (s, t, at_t);
            t = low + GOLDEN * (high - low);
            at_t = distance(t);
        }
    }
    let mut deepest = 0.5 * (low + high);
    let mut least = distance(deepest);
    if values[start] < least {
        (deepest, least) = (at(start), values[start]);
    }
    if !(least - radius <= margin) {
        return;
    }
    // The ends of the nearly flat stretch, by bisection outwards; those of the capsule itself if they can touch within the step, for one that tips over lands on them.
    let level = least + 0.02 * radius;
    let reach = level.max(radius + margin);
    let end = |limit: f64| {
        if distance(limit) <= reach {
            return limit;
        }
        let (mut inner, mut outer) = (deepest, limit);
        for _ in 0..SECTIONS {
            let middle = 0.5 * (inner + outer);
            if distance(middle) <= level { inner = middle } else { outer = middle }
        }
        inner
    };
    // What is beyond an edge is nearest to the edge, and the edge to another place on the axis: contact is where the two are nearest to each other. Over a face that
    // is tilted the nearest point would go along, down to the lower end: there the place stays.
    let foot = |t: f64| {
        let centre = b.pose.to_object(&a.pose.to_world(&core(t)));
        let (distance, normal) = b.geometry.contact_distance(WHOLE, &centre, radius);
        a.pose.to_object(&b.pose.to_world(&(centre - normal * distance)))
    };
    let settle = |mut t: f64| {
        let mut nearest = foot(t);
        for _ in 0..SETTLING {
            let next = nearest[D - 1].clamp(-half_length, half_length);
            let (went, moved) = ((next - t).abs(), foot(next));
            if went <= 1e-6 * radius || (moved - nearest).norm() > STAYS * went {
                break;
            }
            (t, nearest) = (next, moved);
        }
        t
    };
    let stretch = [end(-half_length), end(half_length)];
    let mut ends = stretch.map(settle);
    let near = 0.1 * radius;
    // A solid that is not convex may be as near elsewhere: the outermost such place on either side.
    let elsewhere = |i: &usize| {
        let least = |other: Option<usize>| {
            other.and_then(|other| values.get(other)).is_none_or(|other| values[*i] <= *other)
        };
        let outside = at(*i) < stretch[0] - near || at(*i) > stretch[1] + near;
        outside && values[*i] - radius <= margin && least(i.checked_sub(1)) && least(Some(i + 1))
    };
    let before = (0..start).find(elsewhere);
    let after = (start + 1..=scan).rev().find(elsewhere);
    for (feature, place) in [before, after].into_iter().enumerate() {
        if let Some(place) = place {
            ball(&core(settle(at(place))), radius, 3 + feature as u32, a, b, margin, contacts);
        }
    }
    if ends[1] - ends[0] < near {
        ball(&core(deepest), radius, 2, a, b, margin, contacts);
        return;
    }
    // The deepest point always counts: in place of an end that is near it, or as a third one.
    match ends.iter_mut().find(|end| (**end - deepest).abs() <= near) {
        Some(end) => *end = deepest,
        None => ball(&core(deepest), radius, 2, a, b, margin, contacts),
    }
    for (feature, t) in ends.into_iter().enumerate() {
        ball(&core(t), radius, feature as u32, a, b, margin, contacts);
    }
}
