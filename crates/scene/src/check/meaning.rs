//! Second pass: what depends on more than one field, and limits on the size of the whole. Each subject has its module beside this one.
//!
//! Every table that the first pass left readable is read on its own, so that one misspelt field does not hide the mistakes elsewhere.

use crate::description::{Contact, Deformable, Fluid, Joint, Rigid, Time};
use crate::problem::{Problem, ProblemKind};
use crate::source::Origin;
use crate::tree::{Node, Segment, path_text};
use serde::de::DeserializeOwned;

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

pub(super) fn read<T: DeserializeOwned>(node: Option<&Node>) -> Option<T> {
    serde_json::from_value(node?.to_json()).ok()
}

pub(super) fn key(name: &str) -> Segment {
    Segment::Key(name.to_owned())
}

pub(super) struct Check<'a> {
    pub(super) root: &'a Node,
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
}

/// Whether a direction cannot be normalised.
pub(super) fn vanishes(vector: &[f64]) -> bool {
    let largest = vector.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    largest < f64::MIN_POSITIVE
}
