//! Checks of bodies that name others: bound, tied, laid over each other and kept apart.

use super::meaning::{Check, key};
use crate::description::{Contact, Deformable, Geometry, Rigid};
use crate::problem::ProblemKind;
use crate::tree::Segment;

impl Check<'_> {
    /// Bodies that carry particles exist.
    pub(super) fn bindings(&mut self, index: usize, body: &Deformable, rigid: &[Option<Rigid>]) {
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

    /// Soft bodies that others are tied or bound to exist.
    pub(super) fn ties(&mut self, index: usize, body: &Deformable, all: &[Option<Deformable>]) {
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

    /// Bodies that others lie over exist, and none is over itself in the end.
    pub(super) fn layers(&mut self, index: usize, body: &Deformable, all: &[Option<Deformable>]) {
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

    /// Bodies that pass through each other exist, and one of them is rigid.
    pub(super) fn apart(
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
}
