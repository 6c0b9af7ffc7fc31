//! Checks that no two bodies have one name.

use super::meaning::{Check, key};
use crate::description::Rigid;
use crate::problem::ProblemKind;
use crate::tree::{Node, Segment};
use std::collections::HashMap;

impl Check<'_> {
    /// Names are unique over all lists of bodies, copies of a repeated body included.
    pub(super) fn names(&mut self, rigid: &[Option<Rigid>]) {
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
}
