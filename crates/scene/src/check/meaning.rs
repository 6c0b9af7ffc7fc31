//! Second pass: what depends on more than one field, and limits on the size of the whole.
//!
//! Every table that the first pass left readable is read on its own, so that one misspelt field does not hide the mistakes elsewhere.

use crate::description::{
    Contact, Deformable, Fluid, FluidCoupling, Fusiform, Geometry, Joint, Kind, Rigid, Rotation, Scene, Step,
    Time,
};
use crate::limits::{self, Size};
use crate::problem::{Problem, ProblemKind};
use crate::source::Origin;
use crate::tree::{Node, Segment, path_text};
use serde::de::DeserializeOwned;
use std::collections::HashMap;

/// Checks the tree of a scene after [`super::shape::check`].
pub(crate) fn check(root: &Node, problems: &mut Vec<Problem>) {
    let mut check = Check { root, problems };
    check.includes();
    let time: Option<Time> = read(root.get("time"));
    if let Some(time) = &time {
        check.time(time);
    }
    let rigid: Vec<Option<Rigid>> = check.list("rigid");
    let deformable: Vec<Option<Deformable>> = check.list("deformable");
    for (index, body) in rigid.iter().enumerate() {
        if let Some(body) = body {
            check.rigid(index, body);
        }
    }
    for (index, body) in deformable.iter().enumerate() {
        if let Some(body) = body {
            check.deformable(index, body);
            check.bindings(index, body, &rigid);
            check.ties(index, body, &deformable);
            check.layers(index, body, &deformable);
        }
    }
    let contact: Option<Contact> = read(root.get("contact"));
    if root.get("import").is_none_or(|n| n.items().is_empty()) {
        check.apart(contact.as_ref(), &rigid, &deformable);
    }
    let joints: Vec<Option<Joint>> = check.list("joint");
    let dimension: Option<u64> = read(root.get("dimension"));
    if root.get("import").is_none_or(|n| n.items().is_empty()) {
        check.joints(dimension, &joints, &rigid);
    }
    check.names(&rigid);
    let fluid: Option<Fluid> = read(root.get("fluid"));
    check.size(time.as_ref(), &rigid, &deformable, fluid.as_ref());
}

/// Scenes up to this size are built to be checked (bytes of [`Size::memory_bytes`]); larger ones are checked when they run.
const MAX_TRIAL_BYTES: u128 = 64 << 20;

/// Last check: the world itself, for scenes that have passed the others. A fixed step must be stable in it.
pub(crate) fn world(root: &Node, scene: &Scene) -> Option<Problem> {
    if Size::of(scene).memory_bytes() > MAX_TRIAL_BYTES {
        return None;
    }
    if let Err(error) = crate::build_fluid::check(scene) {
        let origin = root.nearest(&[key("fluid")]).origin;
        return Some(Problem::new(ProblemKind::OutOfRange, error.to_string()).at(origin).field("fluid"));
    }
    if let Some(reason) = crate::build_elastic::unfit_for_fluid(scene) {
        let path = [key("elastic"), key("integrator")];
        let origin = root.nearest(&path).origin;
        return Some(Problem::new(ProblemKind::Conflict, reason).at(origin).field(path_text(root, &path)));
    }
    // The fluid has been checked; filling its box would take long and tell nothing more.
    let solids = Scene { fluid: None, ..scene.clone() };
    let stable = match crate::build(&solids) {
        Ok(world) => world.stable_step(),
        Err(error) => {
            let problem = Problem::new(ProblemKind::OutOfRange, error.to_string());
            let Some(path) = error.body().and_then(|name| entry(root, name)) else {
                return Some(problem.at(root.origin));
            };
            let field = error.field().iter().map(|part| match part.parse() {
                Ok(index) => Segment::Index(index),
                Err(_) => key(part),
            });
            let path: Vec<Segment> = path.into_iter().chain(field).collect();
            return Some(problem.at(root.nearest(&path).origin).field(path_text(root, &path)));
        }
    };
    let unstable = match &scene.time.step {
        Some(Step::Adaptive(_)) => return None,
        _ => scene.time.longest_step() > stable,
    };
    unstable.then(|| {
        let path = [key("time"), key("step")];
        let step = scene.time.longest_step();
        Problem::new(
            ProblemKind::Conflict,
            format!("steps of {step:.3e} s are too long for the springs of this scene, which need {stable:.3e} s or less"),
        )
        .at(root.nearest(&path).origin)
        .field(path_text(root, &path))
        .found(format!("{step}"))
        .allowed(format!("at most {stable:.3e} s, or an adaptive step such as {{ max = {step} }}"))
        .hint("softer springs, fewer particles or more mass allow longer steps: elastic forces are explicit")
    })
}

/// The entry of the body of this name.
fn entry(root: &Node, name: &str) -> Option<[Segment; 2]> {
    let find = |is: &dyn Fn(&str) -> bool| {
        ["deformable", "rigid"].into_iter().find_map(|list| {
            let named = |node: &Node| node.get("name").and_then(Node::string).is_some_and(is);
            let index = root.get(list)?.items().iter().position(named)?;
            Some([key(list), Segment::Index(index)])
        })
    };
    find(&|own| own == name).or_else(|| find(&|own| crate::build_elastic::is_copy_of(name, own)))
}

fn read<T: DeserializeOwned>(node: Option<&Node>) -> Option<T> {
    serde_json::from_value(node?.to_json()).ok()
}

pub(super) fn key(name: &str) -> Segment {
    Segment::Key(name.to_owned())
}

pub(super) struct Check<'a> {
    root: &'a Node,
    pub(super) problems: &'a mut Vec<Problem>,
}

impl Check<'_> {
    fn list<T: DeserializeOwned>(&self, name: &str) -> Vec<Option<T>> {
        self.root.get(name).map_or(&[][..], Node::items).iter().map(|node| read(Some(node))).collect()
    }

    /// Starts a problem at the value of `path`, or at the table that should hold it.
    pub(super) fn at(&self, path: &[Segment], kind: ProblemKind, message: impl Into<String>) -> Problem {
        Problem::new(kind, message).at(self.origin(path)).field(path_text(self.root, path))
    }

    pub(super) fn origin(&self, path: &[Segment]) -> Option<Origin> {
        self.root.nearest(path).origin
    }

    /// Files are included before this check; a list that is still here was put in by Rust code.
    fn includes(&mut self) {
        if self.root.get("include").is_some_and(|n| !n.items().is_empty()) {
            let problem = self
                .at(&[key("include")], ProblemKind::Include, "only a scene file can include others")
                .hint("load the other file and join the scenes in Rust");
            self.problems.push(problem);
        }
    }

    fn time(&mut self, time: &Time) {
        // Values that are not positive are reported by the first pass.
        let positive = time.end > 0.0 && time.frame_rate > 0.0;
        if positive && time.end * time.frame_rate < 1.0 - 1e-9 {
            let path = [key("time"), key("end")];
            let problem = self
                .at(
                    &path,
                    ProblemKind::Conflict,
                    format!(
                        "the run ends at {} s, before its first frame at {} s",
                        time.end,
                        time.frame_interval()
                    ),
                )
                .found(format!("{}", time.end))
                .allowed(format!("at least 1 / frame_rate = {} s", time.frame_interval()))
                .hint("raise `time.end`, or raise `time.frame_rate`");
            self.problems.push(problem);
        }
        let path = [key("time"), key("step")];
        // One part in 1e9 of slack: 0.0333333333 is meant to be a frame at 30 frames a second.
        let interval = time.frame_interval() * (1.0 + 1e-9);
        match &time.step {
            Some(Step::Fixed(step)) if *step > interval => {
                let problem = self
                    .at(
                        &path,
                        ProblemKind::Conflict,
                        format!("the step of {step} s is longer than a frame of {} s", time.frame_interval()),
                    )
                    .found(format!("{step}"))
                    .allowed(format!("at most 1 / frame_rate = {} s", time.frame_interval()))
                    .hint("lower `time.step`, or lower `time.frame_rate`");
                self.problems.push(problem);
            }
            Some(Step::Adaptive(adaptive)) => {
                let path = [key("time"), key("step"), key("max")];
                if adaptive.max > interval {
                    let problem = self
                        .at(
                            &path,
                            ProblemKind::Conflict,
                            format!(
                                "the longest step of {} s is longer than a frame of {} s",
                                adaptive.max,
                                time.frame_interval()
                            ),
                        )
                        .found(format!("{}", adaptive.max))
                        .allowed(format!("at most 1 / frame_rate = {} s", time.frame_interval()))
                        .hint("lower `time.step.max`, or lower `time.frame_rate`");
                    self.problems.push(problem);
                }
                if adaptive.min > adaptive.max {
                    let path = [key("time"), key("step"), key("min")];
                    let problem = self
                        .at(
                            &path,
                            ProblemKind::Conflict,
                            format!(
                                "the shortest step of {} s is longer than the longest, {} s",
                                adaptive.min, adaptive.max
                            ),
                        )
                        .found(format!("{}", adaptive.min))
                        .allowed(format!("at most {}", adaptive.max));
                    self.problems.push(problem);
                }
            }
            _ => {}
        }
    }

    fn rigid(&mut self, index: usize, body: &Rigid) {
        let path = |field: &str| [key("rigid"), Segment::Index(index), key(field)];
        self.one_mass(
            [key("rigid"), Segment::Index(index)],
            &body.name,
            body.mass,
            body.density,
            body.kind == Kind::Dynamic,
        );
        if body.kind == Kind::Static {
            let moves = |values: &[f64]| values.iter().any(|v| *v != 0.0);
            let spins = match &body.spin {
                Some(crate::SpinValue::Rate(rate)) => *rate != 0.0,
                Some(crate::SpinValue::Vector(v)) => moves(v),
                None => false,
            };
            for (field, set) in [("velocity", body.velocity.as_deref().is_some_and(moves)), ("spin", spins)] {
                if set {
                    let problem = self
                        .at(
                            &path(field),
                            ProblemKind::Conflict,
                            format!("`{}` is static and cannot have a {field}", body.name),
                        )
                        .hint("use kind = \"kinematic\" for a body that moves but is not pushed");
                    self.problems.push(problem);
                }
            }
        }
        let coupled = || {
            let fluid: Option<Fluid> = read(self.root.get("fluid"));
            fluid.is_some_and(|fluid| fluid.coupling != FluidCoupling::Word(false))
        };
        let in_fluid = [("surface_flow", body.surface_flow.is_some()), ("in_fluid", body.in_fluid.is_some())];
        for (field, _) in in_fluid.iter().filter(|(_, given)| *given && !coupled()) {
            let what = format!(
                "`{field}` of `{}` says how it drives a fluid, but no fluid is coupled to bodies",
                body.name
            );
            let problem = self.at(&path(field), ProblemKind::Conflict, what);
            self.problems.push(problem.hint("add [fluid], without `coupling = false`"));
        }
        let loads = [
            ("force", body.force.is_some()),
            ("torque", body.torque.is_some()),
            ("drag", body.drag.is_some()),
        ];
        for (field, _) in loads.iter().filter(|(_, given)| *given && body.kind != Kind::Dynamic) {
            let what = format!("`{field}` acts on dynamic bodies, and `{}` is not one", body.name);
            let problem = self.at(&path(field), ProblemKind::Conflict, what);
            self.problems.push(problem.hint(format!("remove `{field}`, or `kind`")));
        }
        if body.fracture.is_some() && body.kind != Kind::Dynamic {
            let problem = self
                .at(
                    &path("fracture"),
                    ProblemKind::Conflict,
                    format!("`{}` is not dynamic and cannot break", body.name),
                )
                .hint("remove `fracture`, or let forces move the body");
            self.problems.push(problem);
        }
        if let Some(regions) = body.fracture.as_ref().and_then(|fracture| fracture.regions.as_ref())
            && regions.files.is_empty() == regions.pattern.is_none()
        {
            let at = [key("rigid"), Segment::Index(index), key("fracture"), key("regions")];
            let message =
                format!("`{}` needs either `files` or `pattern` for its fracture pattern", body.name);
            self.problems.push(self.at(&at, ProblemKind::Conflict, message));
        }
        match &body.rotation {
            Some(Rotation::AxisAngle { axis, .. }) if vanishes(axis) => {
                let at = [key("rigid"), Segment::Index(index), key("rotation"), key("axis")];
                let problem = self
                    .at(
                        &at,
                        ProblemKind::OutOfRange,
                        "the axis of a rotation has no direction: its length is 0",
                    )
                    .found(format!("{axis:?}"))
                    .allowed("an axis such as [0, 1, 0]");
                self.problems.push(problem);
            }
            Some(Rotation::Quaternion { quaternion }) if vanishes(quaternion) => {
                let at = [key("rigid"), Segment::Index(index), key("rotation"), key("quaternion")];
                let problem = self
                    .at(&at, ProblemKind::OutOfRange, "a quaternion of length 0 is not a rotation")
                    .found(format!("{quaternion:?}"))
                    .allowed("[w, x, y, z] such as [1, 0, 0, 0]");
                self.problems.push(problem);
            }
            _ => {}
        }
        if let Some(motion) = &body.motion {
            self.motion(index, body, motion);
        }
        if let Some(repeat) = &body.repeat {
            for (axis, (&count, &spacing)) in repeat.count.iter().zip(&repeat.spacing).enumerate() {
                if count > 1 && spacing == 0.0 {
                    let at = [
                        key("rigid"),
                        Segment::Index(index),
                        key("repeat"),
                        key("spacing"),
                        Segment::Index(axis),
                    ];
                    let problem = self
                        .at(
                            &at,
                            ProblemKind::Conflict,
                            format!("{count} copies of `{}` would lie in one place", body.name),
                        )
                        .found("0")
                        .allowed("a spacing that is not 0 along each axis with more than one copy");
                    self.problems.push(problem);
                }
            }
        }
    }

    /// Bodies that carry particles exist.
    fn bindings(&mut self, index: usize, body: &Deformable, rigid: &[Option<Rigid>]) {
        let known: Vec<String> = (rigid.iter().flatten())
            .flat_map(|rigid| match rigid.repeat.as_ref().and_then(|repeat| repeat.total()) {
                Some(total) => (1..=total).map(|n| format!("{}-{n}", rigid.name)).collect(),
                None => vec![rigid.name.clone()],
            })
            .collect();
        for (n, name) in body.elastic.bind.iter().enumerate() {
            if known.iter().any(|other| other == name) {
                continue;
            }
            let path =
                [key("deformable"), Segment::Index(index), key("elastic"), key("bind"), Segment::Index(n)];
            let hint = match crate::suggest::nearest(name, known.iter().map(String::as_str)) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "particles are bound to bodies of `[[rigid]]`".into(),
            };
            let message =
                format!("`{}` is bound to `{name}`, but there is no rigid body of that name", body.name);
            let problem = self
                .at(&path, ProblemKind::UnknownValue, message)
                .found(format!("{name:?}"))
                .allowed("the name of a rigid body")
                .hint(hint);
            self.problems.push(problem);
        }
    }

    /// Bodies that pass through each other exist, and one of them is rigid.
    fn apart(
        &mut self,
        contact: Option<&Contact>,
        rigid: &[Option<Rigid>],
        deformable: &[Option<Deformable>],
    ) {
        let hard: Vec<&str> = rigid.iter().flatten().map(|body| body.name.as_str()).collect();
        let soft: Vec<&str> = deformable.iter().flatten().map(|body| body.name.as_str()).collect();
        // A copy of a repeated body has its name with a number.
        let is = |list: &[&str], name: &str| {
            list.iter().any(|known| crate::build_elastic::is_copy_of(name, known))
        };
        for (n, pair) in contact.map_or(&[][..], |contact| &contact.apart).iter().enumerate() {
            let path =
                |place: usize| [key("contact"), key("apart"), Segment::Index(n), Segment::Index(place)];
            for (place, name) in pair.iter().enumerate() {
                if is(&hard, name) || is(&soft, name) {
                    continue;
                }
                let all = hard.iter().chain(&soft).copied();
                let hint = match crate::suggest::nearest(name, all) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => "bodies are named in `[[rigid]]` and `[[deformable]]`".into(),
                };
                let problem = self
                    .at(&path(place), ProblemKind::UnknownValue, format!("there is no body `{name}`"))
                    .found(format!("{name:?}"))
                    .allowed("the name of a body")
                    .hint(hint);
                self.problems.push(problem);
            }
            if pair.iter().all(|name| is(&soft, name) && !is(&hard, name)) {
                let message = format!("`{}` and `{}` are both soft", pair[0], pair[1]);
                let problem = self
                    .at(&path(1), ProblemKind::Conflict, message)
                    .found(format!("{:?}", pair[1]))
                    .allowed("a pair with a rigid body")
                    .hint("soft bodies touch each other only with `[elastic] self_contact`");
                self.problems.push(problem);
            }
        }
    }

    /// Bodies that others lie over exist, and none is over itself in the end.
    fn layers(&mut self, index: usize, body: &Deformable, all: &[Option<Deformable>]) {
        let bodies = || all.iter().flatten();
        let others = || bodies().map(|other| other.name.as_str()).filter(|name| *name != body.name);
        for (n, over) in body.elastic.over.iter().enumerate() {
            let path = [
                key("deformable"),
                Segment::Index(index),
                key("elastic"),
                key("over"),
                Segment::Index(n),
                key("body"),
            ];
            let below = bodies().find(|other| other.name == over.body && other.name != body.name);
            let problem = match below {
                None => {
                    let hint = match crate::suggest::nearest(&over.body, others()) {
                        Some(meant) => format!("did you mean `{meant}`?"),
                        None => "layers are other bodies of `[[deformable]]`; rigid bodies stop everything without it".into(),
                    };
                    let message = format!(
                        "`{}` is over `{}`, but there is no other soft body of that name",
                        body.name, over.body
                    );
                    self.at(&path, ProblemKind::UnknownValue, message)
                        .allowed("the name of another deformable body")
                        .hint(hint)
                }
                Some(below) if matches!(below.geometry, Geometry::Chain(_) | Geometry::Sheet(_)) => {
                    let what = format!("`{}` is over `{}`, which has no inside", body.name, over.body);
                    self.at(&path, ProblemKind::Conflict, what)
                        .allowed("a body with an inside, or a closed surface")
                        .hint("cloth meets cloth by `[elastic] self_contact`")
                }
                Some(below) => {
                    // All that is below this one, by and by.
                    let mut under = vec![below];
                    let mut at = 0;
                    while at < under.len() {
                        for next in under[at].elastic.over.iter() {
                            let found = bodies().find(|other| other.name == next.body);
                            under.extend(
                                found.filter(|one| !under.iter().any(|known| known.name == one.name)),
                            );
                        }
                        at += 1;
                    }
                    if !under.iter().any(|one| one.name == body.name) {
                        continue;
                    }
                    let what = format!("`{}` is over `{}`, which is over it in turn", body.name, over.body);
                    self.at(&path, ProblemKind::Conflict, what)
                        .allowed("layers of which one is the lowest")
                        .hint("bodies that push each other both ways meet by `[elastic] self_contact`")
                }
            };
            self.problems.push(problem.found(format!("{:?}", over.body)));
        }
    }

    /// Soft bodies that others are tied or bound to exist.
    fn ties(&mut self, index: usize, body: &Deformable, all: &[Option<Deformable>]) {
        let others =
            || all.iter().flatten().map(|other| other.name.as_str()).filter(|name| *name != body.name);
        let tied = (body.elastic.tie.iter().enumerate())
            .map(|(n, tied)| ("tied", &tied.to, vec![key("tie"), Segment::Index(n), key("to")]));
        let bound = body.elastic.embed.iter().map(|host| ("bound", host, vec![key("embed")]));
        for (how, to, field) in tied.chain(bound) {
            if others().any(|name| name == to) {
                continue;
            }
            let path =
                [&[key("deformable"), Segment::Index(index), key("elastic")][..], field.as_slice()].concat();
            let hint = match crate::suggest::nearest(to, others()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("particles are {how} to other bodies of `[[deformable]]`"),
            };
            let message =
                format!("`{}` is {how} to `{to}`, but there is no other soft body of that name", body.name);
            let problem = self
                .at(&path, ProblemKind::UnknownValue, message)
                .found(format!("{to:?}"))
                .allowed("the name of another deformable body")
                .hint(hint);
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

    fn deformable(&mut self, index: usize, body: &Deformable) {
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

    /// Exactly one of `mass` and `density` where one is needed, never both.
    fn one_mass(
        &mut self,
        body: [Segment; 2],
        name: &str,
        mass: Option<f64>,
        density: Option<f64>,
        needed: bool,
    ) {
        let [list, index] = body;
        let path = |field: &str| [list.clone(), index.clone(), key(field)];
        match (mass, density) {
            (Some(_), Some(_)) => {
                let problem = self
                    .at(
                        &path("density"),
                        ProblemKind::Conflict,
                        format!("`{name}` has both `mass` and `density`"),
                    )
                    .allowed("one of them")
                    .hint("remove `density` to keep the mass, or `mass` to keep the density")
                    .also(self.origin(&path("mass")), "`mass` is here");
                self.problems.push(problem);
            }
            (None, None) if needed && !self.mass_is_reported(&[list.clone(), index.clone()]) => {
                let problem = self
                    .at(
                        &[list.clone(), index.clone()],
                        ProblemKind::MissingField,
                        format!("`{name}` needs `mass` or `density`"),
                    )
                    .allowed("`mass = <kg>` or `density = <kg/m^3>`")
                    .hint("a dynamic body without mass cannot be moved by forces");
                self.problems.push(problem);
            }
            _ => {}
        }
    }

    /// Whether a wrong value or a misspelt field, already reported, may be why a body has no mass.
    fn mass_is_reported(&self, body: &[Segment; 2]) -> bool {
        let body = path_text(self.root, body);
        self.problems.iter().any(|problem| {
            let field = problem.field.strip_prefix(&body).and_then(|rest| rest.strip_prefix('.'));
            field.is_some_and(|field| match problem.kind {
                ProblemKind::UnknownField => !field.contains('.'),
                _ => field == "mass" || field == "density",
            })
        })
    }

    /// Names are unique over all lists of bodies, copies of a repeated body included.
    fn names(&mut self, rigid: &[Option<Rigid>]) {
        let mut first: HashMap<&str, Vec<Segment>> = HashMap::new();
        let root = self.root;
        for list in ["rigid", "deformable"] {
            for (index, node) in root.get(list).map_or(&[][..], Node::items).iter().enumerate() {
                let Some(name) = node.get("name").and_then(Node::string) else { continue };
                let path = vec![key(list), Segment::Index(index), key("name")];
                if let Some(earlier) = first.get(name) {
                    let problem = self
                        .at(
                            &path,
                            ProblemKind::DuplicateName,
                            format!("there are two bodies called `{name}`"),
                        )
                        .found(format!("{name:?}"))
                        .allowed("a name that no other body has")
                        .also(self.origin(earlier), "the other one is here");
                    self.problems.push(problem);
                } else {
                    first.insert(name, path);
                }
            }
        }
        // `ball` repeated makes `ball-1`, ...; another body may be called that.
        for (index, body) in rigid.iter().enumerate() {
            let Some((body, total)) = body.as_ref().and_then(|b| Some((b, b.repeat.as_ref()?.total()?)))
            else {
                continue;
            };
            let clash = first.iter().find(|(name, _)| {
                name.strip_prefix(body.name.as_str())
                    .and_then(|rest| rest.strip_prefix('-'))
                    .filter(|digits| !digits.starts_with('0'))
                    .and_then(|digits| digits.parse::<u64>().ok())
                    .is_some_and(|n| n >= 1 && n <= total)
            });
            if let Some((name, other)) = clash {
                let path = [key("rigid"), Segment::Index(index), key("name")];
                let problem = self
                    .at(
                        &path,
                        ProblemKind::DuplicateName,
                        format!("a copy of `{}` is called `{name}`, and so is another body", body.name),
                    )
                    .found(format!("{:?}", body.name))
                    .also(self.origin(other), "the other body");
                self.problems.push(problem);
            }
        }
    }

    /// Refuses what would not fit in memory or on disk, or never end, before anything is allocated.
    fn size(
        &mut self,
        time: Option<&Time>,
        rigid: &[Option<Rigid>],
        deformable: &[Option<Deformable>],
        fluid: Option<&Fluid>,
    ) {
        let mut total = Size::default();
        let mut largest: (u128, Vec<Segment>) = (0, Vec::new());
        let mut add = |size: Size, path: Vec<Segment>| {
            total = total.plus(size);
            if size.memory_bytes() > largest.0 {
                largest = (size.memory_bytes(), path);
            }
        };
        for (index, body) in rigid.iter().enumerate() {
            if let Some(body) = body {
                let path = vec![key("rigid"), Segment::Index(index), key("repeat"), key("count")];
                add(Size::of_rigid(body), path);
            }
        }
        for (index, body) in deformable.iter().enumerate() {
            if let Some(body) = body {
                let below = ["geometry", "chain", "particles"].map(key);
                add(
                    Size::of_deformable(body),
                    [vec![key("deformable"), Segment::Index(index)], below.into()].concat(),
                );
            }
        }
        if let Some(fluid) = fluid {
            add(Size::of_fluid(fluid), vec![key("fluid"), key("cells")]);
        }
        if total.memory_bytes() > limits::MAX_MEMORY_BYTES {
            let problem = self
                .at(
                    &largest.1,
                    ProblemKind::TooLarge,
                    format!(
                        "this scene has {} rigid bodies, {} particles and {} cells of fluid, about {} of memory",
                        total.rigid_bodies,
                        total.particles,
                        total.fluid_cells,
                        limits::bytes_text(total.memory_bytes())
                    ),
                )
                .found(limits::bytes_text(total.memory_bytes()))
                .allowed(format!("at most {}", limits::bytes_text(limits::MAX_MEMORY_BYTES)))
                .hint("this is the largest part; make it coarser");
            self.problems.push(problem);
        }
        let Some(time) = time else { return };
        let frames = time.end * time.frame_rate;
        if frames > limits::MAX_FRAMES {
            let frame_bytes = total.frame_bytes() as f64 * frames;
            let problem = self
                .at(
                    &[key("time"), key("end")],
                    ProblemKind::TooLarge,
                    format!(
                        "{} s at {} frames a second are {frames:.3e} frames, about {} of output",
                        time.end,
                        time.frame_rate,
                        limits::bytes_text(frame_bytes as u128)
                    ),
                )
                .found(format!("{frames:.3e} frames"))
                .allowed(format!("at most {:.0e} frames", limits::MAX_FRAMES))
                .hint("lower `time.frame_rate` or `time.end`");
            self.problems.push(problem);
        }
        let steps = time.end / time.longest_step();
        if steps > limits::MAX_STEPS {
            let problem = self
                .at(
                    &[key("time"), key("step")],
                    ProblemKind::TooLarge,
                    format!("{} s in steps of {} s are {steps:.3e} steps", time.end, time.longest_step()),
                )
                .found(format!("{steps:.3e} steps"))
                .allowed(format!("at most {:.0e} steps", limits::MAX_STEPS))
                .hint("a longer `time.step`, or a shorter run");
            self.problems.push(problem);
        }
    }
}

/// Whether a direction cannot be normalised.
pub(super) fn vanishes(vector: &[f64]) -> bool {
    let largest = vector.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    largest < f64::MIN_POSITIVE
}
