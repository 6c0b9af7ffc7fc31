//! Checks of what makes the mass of a body.

use super::meaning::{Check, key};
use crate::problem::ProblemKind;
use crate::tree::{Segment, path_text};

impl Check<'_> {
    /// Exactly one of `mass` and `density` where one is needed, never both.
    pub(super) fn one_mass(
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
}
