//! Elements and attributes with their places.

use super::origin;
use crate::problem::{Problem, ProblemKind};
use roxmltree::{Document, Node, ParsingOptions};
use splashdown_math::Vector;

/// Most elements of a file.
const MAX_NODES: u32 = 1_000_000;

pub(super) fn parse(text: &str, source: usize) -> Result<Document<'_>, Problem> {
    // No DTD: such files have none, and entities can grow without bound.
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|error| {
        let position = error.pos();
        let line_start = text
            .split_inclusive('\n')
            .take(position.row.saturating_sub(1) as usize)
            .map(str::len)
            .sum::<usize>();
        let line = text[line_start..].lines().next().unwrap_or("");
        let column =
            line.char_indices().nth(position.col.saturating_sub(1) as usize).map_or(line.len(), |(at, _)| at);
        let at = (line_start + column).min(text.len());
        // The place is told once, by our own words.
        let message = error.to_string();
        let message = message.split(" at ").next().unwrap_or(&message).to_owned();
        Problem::new(ProblemKind::Syntax, format!("this is not well-formed XML: {message}"))
            .at(origin(source, at..at))
    })
}

/// An element of the file.
#[derive(Clone, Copy)]
pub(super) struct Element<'a, 'input> {
    node: Node<'a, 'input>,
    source: usize,
}

impl<'a, 'input> Element<'a, 'input> {
    pub fn root(document: &'a Document<'input>, source: usize) -> Self {
        Self { node: document.root_element(), source }
    }

    pub fn tag(&self) -> &'a str {
        self.node.tag_name().name()
    }

    /// Child elements, in order.
    pub fn children(&self) -> impl Iterator<Item = Self> + use<'a, 'input> {
        let source = self.source;
        self.node.children().filter(Node::is_element).map(move |node| Self { node, source })
    }

    /// Child elements with this tag.
    pub fn all(&self, tag: &'static str) -> impl Iterator<Item = Self> + use<'a, 'input> {
        self.children().filter(move |child| child.tag() == tag)
    }

    /// The first child with this tag.
    pub fn child(&self, tag: &'static str) -> Option<Self> {
        self.all(tag).next()
    }

    /// The first child with this tag, which must be there.
    pub fn needs(&self, tag: &'static str) -> Result<Self, Problem> {
        self.child(tag).ok_or_else(|| self.problem(format!("`<{}>` has no `<{tag}>`", self.tag())))
    }

    pub fn text(&self, attribute: &str) -> Option<&'a str> {
        self.node.attribute(attribute).map(str::trim)
    }

    /// An attribute that must be there.
    pub fn needs_text(&self, attribute: &str) -> Result<&'a str, Problem> {
        self.text(attribute)
            .ok_or_else(|| self.problem(format!("`<{}>` has no attribute `{attribute}`", self.tag())))
    }

    /// A problem at the start tag of this element.
    pub fn problem(&self, message: String) -> Problem {
        let start = self.node.range().start;
        let end = start + 1 + self.tag().len();
        Problem::new(ProblemKind::Import, message).at(origin(self.source, start..end))
    }

    /// A problem at the value of an attribute.
    pub fn wrong(&self, attribute: &str, message: String) -> Problem {
        match self.node.attribute_node(attribute) {
            Some(found) => Problem::new(ProblemKind::Import, message)
                .at(origin(self.source, found.range_value()))
                .found(format!("{:?}", found.value())),
            None => self.problem(message),
        }
    }

    /// Numbers of an attribute, of any count; `None` if it is not there.
    pub fn numbers(&self, attribute: &str) -> Result<Option<Vec<f64>>, Problem> {
        let Some(text) = self.text(attribute) else { return Ok(None) };
        let numbers: Option<Vec<f64>> =
            text.split_whitespace().map(|word| word.parse().ok().filter(|v: &f64| v.is_finite())).collect();
        match numbers {
            Some(numbers) => Ok(Some(numbers)),
            None => Err(self
                .wrong(attribute, format!("`{attribute}` of `<{}>` is not a list of numbers", self.tag()))
                .allowed("finite numbers with spaces between them")),
        }
    }

    pub fn number(&self, attribute: &str) -> Result<Option<f64>, Problem> {
        match self.numbers(attribute)?.as_deref() {
            None => Ok(None),
            Some([value]) => Ok(Some(*value)),
            Some(more) => Err(self.wrong(
                attribute,
                format!("`{attribute}` of `<{}>` has {} numbers, but needs one", self.tag(), more.len()),
            )),
        }
    }

    pub fn needs_number(&self, attribute: &str) -> Result<f64, Problem> {
        self.needs_text(attribute)?;
        self.number(attribute).map(Option::unwrap_or_default)
    }

    /// A number greater than zero.
    pub fn needs_positive(&self, attribute: &str) -> Result<f64, Problem> {
        let value = self.needs_number(attribute)?;
        if value > 0.0 {
            return Ok(value);
        }
        Err(self
            .wrong(attribute, format!("`{attribute}` of `<{}>` must be greater than 0", self.tag()))
            .allowed("a number greater than 0"))
    }

    /// Three numbers.
    pub fn vector(&self, attribute: &str) -> Result<Option<Vector<3>>, Problem> {
        match self.numbers(attribute)?.as_deref() {
            None => Ok(None),
            Some([x, y, z]) => Ok(Some(Vector::from([*x, *y, *z]))),
            Some(other) => Err(self.wrong(
                attribute,
                format!("`{attribute}` of `<{}>` has {} numbers, but needs 3", self.tag(), other.len()),
            )),
        }
    }
}
