//! Particles that are held, moved and let go, as `elastic.hold` tells.

use crate::build::BuildError;
use crate::build_elastic::{point, wrong};
use crate::description::{Deformable, Hold};
use splashdown_couple::{Release, Solids};
use splashdown_deformable::integrate::{Driver, Path};
use splashdown_math::{Dim, Space, Vector};
use std::collections::BTreeMap;

/// Slack (m) of the boxes, which often end where particles are.
const SLACK: f64 = 1e-9;

/// Adds the motions of the held particles of a body, whose first particle is `first` and whose rest shape is `points`; `pinned` are those that never come free and become all that are held at the
/// start.
pub(crate) fn add_holds<const D: usize>(
    body: &Deformable,
    points: &[Vector<D>],
    first: u32,
    pinned: &mut [bool],
    solids: &mut Solids<D>,
) -> Result<(), BuildError>
where
    Dim<D>: Space<D>,
{
    let (name, holds) = (body.name.as_str(), &body.elastic.hold);
    let mut boxes = Vec::with_capacity(holds.len());
    let mut paths = Vec::with_capacity(holds.len());
    for (n, hold) in holds.iter().enumerate() {
        boxes.push((point::<D>(name, &hold.from)?, point::<D>(name, &hold.to)?));
        paths.push(path::<D>(name, n, hold)?);
    }
    // Particles by the holds that move them, in the order of time; times at which particles come free.
    let mut moved: BTreeMap<Vec<usize>, Vec<(u32, Vector<D>)>> = BTreeMap::new();
    let mut free: Vec<Release> = Vec::new();
    for (node, x) in points.iter().enumerate() {
        let within = |(from, to): &(Vector<D>, Vector<D>)| {
            (0..D).all(|axis| x[axis] >= from[axis] - SLACK && x[axis] <= to[axis] + SLACK)
        };
        let own: Vec<usize> = (0..holds.len()).filter(|&n| within(&boxes[n])).collect();
        if own.is_empty() {
            continue;
        }
        let particle = first + node as u32;
        // What several holds have is free when the last of them lets go.
        let last = own.iter().map(|&n| holds[n].release.unwrap_or(f64::INFINITY)).fold(f64::MIN, f64::max);
        if !pinned[node] && last.is_finite() {
            match free.iter_mut().find(|release| release.time == last) {
                Some(release) => release.particles.push(particle),
                None => free.push(Release { time: last, particles: vec![particle] }),
            }
        }
        pinned[node] = true;
        let mut in_turn: Vec<usize> = own.into_iter().filter(|&n| paths[n].is_some()).collect();
        in_turn.sort_by(|&a, &b| start(&paths, a).total_cmp(&start(&paths, b)));
        if !in_turn.is_empty() {
            moved.entry(in_turn).or_default().push((particle, *x));
        }
    }
    for (in_turn, nodes) in moved {
        if let Some(pair) = in_turn.windows(2).find(|pair| start(&paths, pair[1]) < end(&paths, pair[0])) {
            let (earlier, later) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
            let (a, b) = (pair[0], pair[1]);
            let until = match end(&paths, a) {
                end if end.is_finite() => format!("to {end} s"),
                _ => "on without end".into(),
            };
            return Err(at(
                name,
                later,
                format!(
                    "particles of `elastic.hold` {earlier} and {later} are moved by both at once: by hold {a} from {} s {until}, by hold {b} from {} s on (particle {} at {:?}, {} in all); \
                     one has to `end` before the other has its `start`",
                    start(&paths, a),
                    start(&paths, b),
                    nodes[0].0 - first,
                    nodes[0].1.as_slice(),
                    nodes.len()
                ),
            ));
        }
        let paths = in_turn.iter().filter_map(|&n| paths[n]).collect();
        solids.integrator.drivers.push(Driver::in_turn(nodes, paths));
    }
    solids.releases.extend(free);
    Ok(())
}

fn start<const D: usize>(paths: &[Option<Path<D>>], n: usize) -> f64 {
    paths[n].as_ref().map_or(0.0, |path| path.start)
}

fn end<const D: usize>(paths: &[Option<Path<D>>], n: usize) -> f64 {
    paths[n].as_ref().map_or(0.0, |path| path.end)
}

/// The motion of what a hold has, if it moves; it ends when the hold lets go.
fn path<const D: usize>(name: &str, n: usize, hold: &Hold) -> Result<Option<Path<D>>, BuildError> {
    let end = hold.end.unwrap_or(f64::INFINITY);
    if end < hold.start {
        let reason =
            format!("the motion of `elastic.hold` {n} ends at {end} s, before its start at {} s", hold.start);
        return Err(at(name, n, reason));
    }
    if hold.velocity.is_none() && hold.spin.is_none() {
        return Ok(None);
    }
    let mut spin = [0.0; 3];
    match hold.spin.as_deref() {
        Some(&[rate]) if D == 2 => spin[2] = rate,
        Some(&[x, y, z]) if D == 3 => spin = [x, y, z],
        Some(_) => return Err(wrong(name, "`hold.spin` needs one number in 2D and three in 3D")),
        None => {}
    }
    let vector =
        |given: &Option<Vec<f64>>| given.as_deref().map_or(Ok(Vector::zeros()), |v| point::<D>(name, v));
    Ok(Some(Path {
        velocity: vector(&hold.velocity)?,
        centre: vector(&hold.centre)?,
        spin,
        start: hold.start,
        end: end.min(hold.release.unwrap_or(f64::INFINITY)).max(hold.start),
    }))
}

/// A mistake in a hold, counted from 0.
fn at(name: &str, n: usize, reason: String) -> BuildError {
    let field = vec!["elastic".into(), "hold".into(), n.to_string()];
    BuildError::ElasticField { name: name.into(), field, reason }
}
