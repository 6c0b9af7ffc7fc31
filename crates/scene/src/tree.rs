//! The scene as a tree of values that remember where they were written.
//!
//! Includes, overrides, variables and every check work on this tree; the typed [`Scene`](crate::Scene) is made from it at the very end.

use crate::source::Origin;
use std::collections::BTreeMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Deepest nesting of tables and arrays in a scene. The format itself needs 5; the limit keeps recursion far from the stack's end.
pub(crate) const MAX_DEPTH: usize = 40;

/// A value and where it was written; no origin for scenes built in Rust.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub origin: Option<Origin>,
    pub value: Value,
}

/// The value of a [`Node`].
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Table(BTreeMap<String, Entry>),
    Array(Vec<Node>),
    String(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    /// TOML has dates; no field of a scene is one.
    DateTime,
    /// A number that is too large for its type, as written.
    Overflow(String),
    /// What a NaN or an infinity of a Rust-built scene becomes in between.
    NotFinite,
}

/// A key with its place, and its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub key: Option<Origin>,
    pub node: Node,
}

/// One step of a path into the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Segment {
    Key(String),
    Index(usize),
}

impl Node {
    pub(crate) fn new(origin: Option<Origin>, value: Value) -> Self {
        Self { origin, value }
    }

    /// Gives every node below the same place: what was made from one place of a file.
    pub(crate) fn place_at(&mut self, origin: Option<Origin>) {
        self.origin = origin;
        match &mut self.value {
            Value::Table(table) => {
                for entry in table.values_mut() {
                    entry.key = origin;
                    entry.node.place_at(origin);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| item.place_at(origin)),
            _ => {}
        }
    }

    /// What kind of thing this is, for messages: "a number", "a table", ...
    pub(crate) fn kind(&self) -> &'static str {
        match &self.value {
            Value::Table(_) => "a table",
            Value::Array(items)
                if !items.is_empty() && items.iter().all(|i| matches!(i.value, Value::Table(_))) =>
            {
                "a list of tables"
            }
            Value::Array(_) => "an array",
            Value::String(_) => "a string",
            Value::Integer(_) => "a whole number",
            Value::Float(_) | Value::Overflow(_) | Value::NotFinite => "a number",
            Value::Boolean(_) => "a boolean",
            Value::DateTime => "a date",
        }
    }

    /// The value as text for messages, shortened when long.
    pub(crate) fn shown(&self) -> String {
        let text = match &self.value {
            Value::Table(table) => return format!("a table with {}", count(table.len(), "key")),
            Value::Array(items) => return format!("an array of {}", count(items.len(), "item")),
            Value::String(text) => format!("{text:?}"),
            Value::Integer(value) => value.to_string(),
            Value::Float(value) => format!("{value:?}"),
            Value::Boolean(value) => value.to_string(),
            Value::DateTime => return "a date".into(),
            Value::Overflow(text) => text.clone(),
            Value::NotFinite => return "a number that is not finite".into(),
        };
        shorten(&text)
    }

    pub(crate) fn table(&self) -> Option<&BTreeMap<String, Entry>> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.table()?.get(key).map(|entry| &entry.node)
    }

    pub(crate) fn items(&self) -> &[Node] {
        match &self.value {
            Value::Array(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn string(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The node at a path, or the deepest one on the way to it that exists.
    pub(crate) fn nearest(&self, path: &[Segment]) -> &Node {
        let mut node = self;
        for segment in path {
            let next = match segment {
                Segment::Key(key) => node.get(key),
                Segment::Index(index) => node.items().get(*index),
            };
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        node
    }

    /// The tree as JSON, for serde.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            Value::Table(table) => {
                Json::Object(table.iter().map(|(key, entry)| (key.clone(), entry.node.to_json())).collect())
            }
            Value::Array(items) => Json::Array(items.iter().map(Node::to_json).collect()),
            Value::String(text) => Json::String(text.clone()),
            Value::Integer(value) => Json::from(*value),
            Value::Float(value) => Json::from(*value),
            Value::Boolean(value) => Json::Bool(*value),
            Value::DateTime | Value::Overflow(_) | Value::NotFinite => Json::Null,
        }
    }

    /// A tree without places, from a scene built in Rust.
    pub(crate) fn from_json(json: serde_json::Value) -> Self {
        use serde_json::Value as Json;
        let value = match json {
            Json::Null => Value::NotFinite,
            Json::Bool(value) => Value::Boolean(value),
            Json::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(value), _) => Value::Integer(value),
                (None, Some(value)) if number.is_f64() => Value::Float(value),
                _ => Value::Overflow(number.to_string()),
            },
            Json::String(text) => Value::String(text),
            Json::Array(items) => Value::Array(items.into_iter().map(Node::from_json).collect()),
            Json::Object(map) => Value::Table(
                map.into_iter()
                    .map(|(key, value)| (key, Entry { key: None, node: Node::from_json(value) }))
                    .collect(),
            ),
        };
        Self { origin: None, value }
    }
}

/// Tree of a parsed document; `Err` holds the place of a value nested deeper than [`MAX_DEPTH`].
pub(crate) fn from_document(source: usize, document: Spanned<DeTable<'_>>) -> Result<Node, Origin> {
    let origin = Origin { source, start: 0, end: 0 };
    Ok(Node::new(Some(origin), from_table(source, document.into_inner(), 0, origin)?))
}

/// Tree of a parsed value; see [`from_document`].
pub(crate) fn from_value(
    source: usize,
    offset: usize,
    value: Spanned<DeValue<'_>>,
    depth: usize,
) -> Result<Node, Origin> {
    let span = value.span();
    let origin = Origin { source, start: span.start + offset, end: span.end + offset };
    if depth > MAX_DEPTH {
        return Err(origin);
    }
    let value = match value.into_inner() {
        DeValue::String(text) => Value::String(text.into_owned()),
        DeValue::Integer(integer) => match i64::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(value) => Value::Integer(value),
            Err(_) => Value::Overflow(shorten(integer.as_str())),
        },
        DeValue::Float(float) => match float.as_str().parse::<f64>() {
            // A literal like 1e999 is a finite number to its writer.
            Ok(value) if value.is_infinite() && !float.as_str().contains("inf") => {
                Value::Overflow(shorten(float.as_str()))
            }
            Ok(value) => Value::Float(value),
            Err(_) => Value::Overflow(shorten(float.as_str())),
        },
        DeValue::Boolean(value) => Value::Boolean(value),
        DeValue::Datetime(_) => Value::DateTime,
        DeValue::Array(items) => {
            let mut nodes = Vec::with_capacity(items.len());
            for item in items {
                nodes.push(from_value(source, offset, item, depth + 1)?);
            }
            Value::Array(nodes)
        }
        DeValue::Table(table) => {
            let mut entries = BTreeMap::new();
            for (key, value) in table {
                let span = key.span();
                let place = Origin { source, start: span.start + offset, end: span.end + offset };
                let node = from_value(source, offset, value, depth + 1)?;
                entries.insert(key.into_inner().into_owned(), Entry { key: Some(place), node });
            }
            Value::Table(entries)
        }
    };
    Ok(Node::new(Some(origin), value))
}

fn from_table(source: usize, table: DeTable<'_>, depth: usize, root: Origin) -> Result<Value, Origin> {
    let spanned = Spanned::new(root.start..root.end, DeValue::Table(table));
    Ok(from_value(source, 0, spanned, depth)?.value)
}

/// A path as it is written after `--set`: bodies by their name where they have one, `rigid.ball.mass`, by number where not.
pub(crate) fn path_text(root: &Node, path: &[Segment]) -> String {
    let mut text = String::new();
    let mut node = Some(root);
    for segment in path {
        if !text.is_empty() && !matches!(segment, Segment::Index(_)) {
            text.push('.');
        }
        match segment {
            Segment::Key(key) => {
                text.push_str(&shorten(key));
                node = node.and_then(|n| n.get(key));
            }
            Segment::Index(index) => {
                node = node.and_then(|n| n.items().get(*index));
                match node.and_then(|n| n.get("name")).and_then(Node::string) {
                    Some(name) if is_bare_key(name) => {
                        text.push('.');
                        text.push_str(name);
                    }
                    _ => text.push_str(&format!("[{index}]")),
                }
            }
        }
    }
    text
}

/// Whether a name can stand in a path without quotes: letters, digits, `-` and `_`, and not a number.
pub(crate) fn is_bare_key(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_')
        && !name.chars().all(|c| c.is_ascii_digit())
}

/// `text`, cut in the middle of nowhere with an ellipsis when it is long.
pub(crate) fn shorten(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(MOST).collect();
    short.push('…');
    short
}

/// "1 item", "2 items".
pub(crate) fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}
