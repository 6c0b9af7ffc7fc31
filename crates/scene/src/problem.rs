//! What is wrong with a scene, as data and as text for people.

use crate::snippet::{self, Palette};
use crate::source::{Origin, Place, Sources};
use serde::Serialize;
use std::fmt;

/// Most problems that are listed; a file with more is not a scene with typing errors.
pub const MAX_PROBLEMS: usize = 40;

/// Class of a [`Problem`], for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// The file cannot be read.
    File,
    /// The text is not TOML.
    Syntax,
    /// A field that does not exist.
    UnknownField,
    /// A required field is not there.
    MissingField,
    /// A value of the wrong type.
    WrongType,
    /// A value that is not one of the allowed words.
    UnknownValue,
    /// A number outside its range, or not finite.
    OutOfRange,
    /// An array with the wrong number of components.
    WrongLength,
    /// Two values that do not go together.
    Conflict,
    /// Two bodies with the same name.
    DuplicateName,
    /// An expression or a variable that cannot be evaluated.
    Expression,
    /// An `include` that cannot be followed.
    Include,
    /// An imported file that cannot be understood.
    Import,
    /// A `--set` override that cannot be applied.
    Override,
    /// The scene asks for more memory, frames or steps than the limits allow.
    TooLarge,
}

/// One thing that is wrong: what, where, and what would be right.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Problem {
    /// Class of the problem.
    pub kind: ProblemKind,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Path of the field, as `--set` takes it; empty for the scene as a whole.
    pub field: String,
    /// The value that was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// What is allowed there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// File, line and column; `None` for scenes built in Rust.
    #[serde(flatten)]
    pub place: Option<Place>,
    /// The bytes that the message is about.
    #[serde(skip)]
    pub origin: Option<Origin>,
    /// A second place that matters, with what it is.
    #[serde(skip)]
    pub also: Option<(Origin, String)>,
}

impl Problem {
    pub(crate) fn new(kind: ProblemKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            field: String::new(),
            found: None,
            allowed: None,
            hint: None,
            place: None,
            origin: None,
            also: None,
        }
    }

    pub(crate) fn at(mut self, origin: Option<Origin>) -> Self {
        self.origin = origin;
        self
    }

    pub(crate) fn field(mut self, field: impl Into<String>) -> Self {
        self.field = field.into();
        self
    }

    pub(crate) fn found(mut self, found: impl Into<String>) -> Self {
        self.found = Some(found.into());
        self
    }

    pub(crate) fn allowed(mut self, allowed: impl Into<String>) -> Self {
        self.allowed = Some(allowed.into());
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn also(mut self, origin: Option<Origin>, label: impl Into<String>) -> Self {
        self.also = origin.map(|origin| (origin, label.into()));
        self
    }
}

/// Everything that is wrong with a scene; never empty.
#[derive(Debug, Clone)]
pub struct SceneErrors {
    problems: Vec<Problem>,
    omitted: usize,
    sources: Sources,
}

impl SceneErrors {
    /// Collects problems: in order of file and place, each once, at most [`MAX_PROBLEMS`].
    pub(crate) fn new(mut problems: Vec<Problem>, sources: Sources) -> Self {
        problems.sort_by_key(|p| p.origin.map_or((usize::MAX, 0), |o| (o.source, o.start)));
        problems.dedup_by(|a, b| a.origin == b.origin && a.message == b.message);
        let omitted = problems.len().saturating_sub(MAX_PROBLEMS);
        problems.truncate(MAX_PROBLEMS);
        for problem in &mut problems {
            problem.place = problem.origin.map(|origin| sources.place(origin));
        }
        Self { problems, omitted, sources }
    }

    /// The problems, ordered by place.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// How many more there were than [`MAX_PROBLEMS`].
    pub fn omitted(&self) -> usize {
        self.omitted
    }

    /// The texts that the problems point into.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The problems as a JSON array, one object each: `kind`, `message`, `field`, `found`, `allowed`, `hint`, `file`, `line`, `column`.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(&self.problems).unwrap_or_default()
    }

    /// The problems for a person, each with the source line; with terminal colours or as plain text.
    pub fn render(&self, colour: bool) -> String {
        let palette = Palette::new(colour);
        let mut text: String =
            self.problems.iter().map(|problem| snippet::draw(problem, &self.sources, &palette)).collect();
        if self.omitted > 0 {
            text.push_str(&format!("  ... and {} more\n", self.omitted));
        }
        text
    }

    /// `file:line:column: message`.
    fn line(&self, problem: &Problem) -> String {
        match &problem.place {
            Some(place) => format!("{}:{}:{}: {}", place.file, place.line, place.column, problem.message),
            None => problem.message.clone(),
        }
    }
}

impl fmt::Display for SceneErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            f.write_str(&self.line(problem))?;
        }
        if self.omitted > 0 {
            write!(f, "\n... and {} more", self.omitted)?;
        }
        Ok(())
    }
}

impl std::error::Error for SceneErrors {}
