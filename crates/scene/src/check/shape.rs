//! First pass: fields, types, ranges, words and lengths, by walking the tree along the generated schema.
//!
//! serde would stop at the first mistake and forget places after includes, overrides and variables; this walk finds all of them. It
//! also puts the values of expressions in place and takes unknown fields out, so that the rest can still be read and checked.

use crate::expression;
use crate::problem::{Problem, ProblemKind};
use crate::schema::resolve;
use crate::source::{Origin, Sources};
use crate::suggest;
use crate::tree::{self, Node, Segment, Value, count, path_text, shorten};
use serde_json::Value as Schema;
use std::collections::{BTreeMap, BTreeSet};

/// No quantity of a scene is smaller than this, other than zero: squares and products of a few stay far from underflow.
const SMALLEST_NUMBER: f64 = 1e-30;
/// No quantity of a scene is larger.
const LARGEST_NUMBER: f64 = 1e30;

/// Checks `root` against the schema of a scene.
pub(crate) fn check(root: &mut Node, sources: &Sources, problems: &mut Vec<Problem>) {
    let schema = crate::schema::checked();
    let names = root.clone();
    let variables = Variables::read(root, sources, problems);
    let dimension = match root.get("dimension").map(|n| &n.value) {
        Some(Value::Integer(n @ (2 | 3))) => Some(*n as u64),
        _ => None,
    };
    let mut walk = Walk { schema, names: &names, sources, variables, dimension, path: Vec::new(), problems };
    walk.visit(root, schema, None);
}

/// The values of `[variables]`.
struct Variables {
    values: BTreeMap<String, f64>,
    /// Variables that exist but have no value because of a mistake that is already reported.
    broken: BTreeSet<String>,
}

impl Variables {
    /// Evaluates all variables, which may use each other, and writes the numbers back to the tree.
    fn read(root: &mut Node, sources: &Sources, problems: &mut Vec<Problem>) -> Self {
        let mut this = Self { values: BTreeMap::new(), broken: BTreeSet::new() };
        let Value::Table(top) = &mut root.value else { return this };
        let Some(Value::Table(table)) = top.get_mut("variables").map(|e| &mut e.node.value) else {
            return this;
        };
        let texts: BTreeMap<String, String> =
            table.iter().filter_map(|(k, e)| Some((k.clone(), e.node.string()?.to_owned()))).collect();
        for (name, entry) in table.iter() {
            match entry.node.value {
                Value::Integer(value) => _ = this.values.insert(name.clone(), value as f64),
                Value::Float(value) if value.is_finite() => _ = this.values.insert(name.clone(), value),
                _ => {}
            }
        }
        let names: Vec<String> = table.keys().cloned().collect();
        for name in texts.keys() {
            let mut open = Vec::new();
            if let Err(error) = this.evaluate(name, &texts, &mut open) {
                let node = &table[name].node;
                let mut problem = Problem::new(
                    ProblemKind::Expression,
                    format!("variable `{}`: {}", shorten(name), error.message),
                )
                .at(within(sources, node.origin, texts.get(name).map_or("", String::as_str), error.at))
                .field(format!("variables.{}", shorten(name)))
                .found(node.shown());
                if let Some(unknown) = error.unknown {
                    problem =
                        problem.hint(did_you_mean(&unknown, names.iter().map(String::as_str), "variables"));
                }
                problems.push(problem);
                this.broken.insert(name.clone());
            }
        }
        for (name, entry) in table.iter_mut() {
            match this.values.get(name) {
                Some(value) if matches!(entry.node.value, Value::String(_)) => {
                    entry.node.value = Value::Float(*value)
                }
                // The mistake is reported above; a number in its place keeps the type check quiet.
                None if this.broken.contains(name) => entry.node.value = Value::Float(0.0),
                None => _ = this.broken.insert(name.clone()),
                _ => {}
            }
        }
        this
    }

    fn evaluate(
        &mut self,
        name: &str,
        texts: &BTreeMap<String, String>,
        open: &mut Vec<String>,
    ) -> Result<f64, expression::ExpressionError> {
        if let Some(value) = self.values.get(name) {
            return Ok(*value);
        }
        let text = texts.get(name).map_or("", String::as_str);
        open.push(name.to_owned());
        let mut lookup = |used: &str| {
            if open.iter().any(|o| o == used) {
                return Err(format!("`{used}` is defined by itself: {} -> {used}", open.join(" -> ")));
            }
            if open.len() > tree::MAX_DEPTH {
                return Err("variables refer to each other too deeply".into());
            }
            if !self.values.contains_key(used) && !texts.contains_key(used) {
                return Ok(None);
            }
            self.evaluate(used, texts, open).map(Some).map_err(|error| error.message)
        };
        let value = expression::evaluate(text, &mut lookup);
        open.pop();
        self.values.insert(name.to_owned(), value.clone()?);
        value
    }
}

struct Walk<'a> {
    schema: &'static Schema,
    /// The tree as it was, for names in paths.
    names: &'a Node,
    sources: &'a Sources,
    variables: Variables,
    dimension: Option<u64>,
    path: Vec<Segment>,
    problems: &'a mut Vec<Problem>,
}

impl Walk<'_> {
    fn field(&self) -> String {
        path_text(self.names, &self.path)
    }

    fn report(&mut self, problem: Problem, description: Option<&str>) {
        let problem = if problem.field.is_empty() { problem.field(self.field()) } else { problem };
        self.problems.push(match (description, &problem.hint) {
            (Some(text), None) => problem.hint(about(&self.path, text)),
            _ => problem,
        });
    }

    fn visit(&mut self, node: &mut Node, schema: &Schema, description: Option<&str>) {
        let own = schema.get("description").and_then(Schema::as_str);
        let description = description.or(own);
        let schema = resolve(self.schema, schema);
        match schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Schema::as_array) {
            Some(branches) => self.choice(node, branches, description),
            None => self.single(node, schema, description),
        }
    }

    /// A schema with one type.
    fn single(&mut self, node: &mut Node, schema: &Schema, description: Option<&str>) {
        match schema.get("type").and_then(Schema::as_str).unwrap_or("") {
            "object" => self.object(node, schema, description),
            "array" => self.array(node, schema, description),
            kind @ ("number" | "integer") => self.number(node, schema, kind == "integer", description),
            "string" => match schema.get("const").or(schema.get("enum")) {
                Some(_) => self.word(node, std::slice::from_ref(schema), description),
                None => self.text(node, schema, description),
            },
            "boolean" if !matches!(node.value, Value::Boolean(_)) => {
                self.wrong_type(node, "`true` or `false`", description)
            }
            _ => {}
        }
    }

    /// `oneOf` / `anyOf`: words, one table key of several, or forms told apart by type and dimension.
    fn choice(&mut self, node: &mut Node, branches: &[Schema], description: Option<&str>) {
        if branches.iter().all(is_word) {
            return self.word(node, branches, description);
        }
        let tags: Option<Vec<(&str, &Schema)>> = branches.iter().map(tag).collect();
        if let Some(tags) = tags {
            return self.tagged(node, &tags, description);
        }
        let fitting: Vec<&Schema> = branches.iter().filter(|b| self.fits_dimension(b)).collect();
        let same_kind: Vec<&Schema> =
            fitting.iter().copied().filter(|b| has_kind(resolve(self.schema, b), node)).collect();
        let known_keys = |branch: &&Schema| {
            let properties = resolve(self.schema, branch).get("properties").and_then(Schema::as_object);
            node.table()
                .map_or(0, |t| t.keys().filter(|k| properties.is_some_and(|p| p.contains_key(*k))).count())
        };
        // Of several tables, the one whose fields this one has; the first of equals.
        let best = same_kind.iter().copied().rev().max_by_key(known_keys);
        match best {
            Some(branch) => self.visit(node, branch, description),
            None => {
                let forms: Vec<String> = fitting.iter().map(|b| form(resolve(self.schema, b))).collect();
                self.wrong_type(node, &forms.join(" or "), description);
            }
        }
    }

    fn fits_dimension(&self, branch: &Schema) -> bool {
        match (branch.get("x-dimension").and_then(Schema::as_u64), self.dimension) {
            (Some(wanted), Some(dimension)) => wanted == dimension,
            _ => true,
        }
    }

    /// A table with exactly one of several keys: `{ sphere = {..} }` or `{ box = {..} }`.
    fn tagged(&mut self, node: &mut Node, tags: &[(&str, &Schema)], description: Option<&str>) {
        let words = || tags.iter().map(|(name, _)| *name);
        let forms = || {
            tags.iter()
                .map(|(name, _)| format!("`{{ {name} = {{ ... }} }}`"))
                .collect::<Vec<_>>()
                .join(" or ")
        };
        let at = node.origin;
        let shown = node.shown();
        let Value::Table(table) = &mut node.value else {
            let meant = node.string().and_then(|text| suggest::nearest(text, words()));
            let mut problem = self.type_problem(node, &forms());
            if let Some(meant) = meant {
                problem = problem.hint(format!("did you mean `{{ {meant} = {{ ... }} }}`?"));
            }
            return self.report(problem, description);
        };
        let keys: Vec<String> = table.keys().cloned().collect();
        for key in &keys {
            if !words().any(|w| w == key) {
                let entry = table.remove(key);
                let problem = Problem::new(
                    ProblemKind::UnknownValue,
                    format!("`{}` is not a kind of {}", shorten(key), self.last_key()),
                )
                .at(entry.and_then(|e| e.key))
                .allowed(suggest::one_of(words()))
                .hint(did_you_mean(key, words(), "kinds"));
                self.report(problem, None);
            }
        }
        let known: Vec<&String> = keys.iter().filter(|k| words().any(|w| w == **k)).collect();
        match known.as_slice() {
            [] if keys.is_empty() => {
                let problem =
                    Problem::new(ProblemKind::MissingField, format!("{} is empty", self.last_key()))
                        .at(at)
                        .found(shown)
                        .allowed(forms());
                self.report(problem, description);
            }
            [] => {}
            [key] => {
                let inner = tags.iter().find(|(name, _)| name == key).map(|(_, schema)| *schema);
                if let (Some(inner), Some(entry)) = (inner, table.get_mut(*key)) {
                    self.path.push(Segment::Key((*key).clone()));
                    self.visit(&mut entry.node, inner, None);
                    self.path.pop();
                }
            }
            [_, second, ..] => {
                let second = (*second).clone();
                let problem = Problem::new(
                    ProblemKind::Conflict,
                    format!("{} has more than one kind", self.last_key()),
                )
                .at(table.get(&second).and_then(|e| e.key))
                .allowed(format!("exactly one of {}", suggest::one_of(words())));
                self.report(problem, description);
            }
        }
    }

    fn object(&mut self, node: &mut Node, schema: &Schema, description: Option<&str>) {
        let at = node.origin;
        let Value::Table(table) = &mut node.value else {
            return self.wrong_type(node, "a table", description);
        };
        let none = serde_json::Map::new();
        let properties = schema.get("properties").and_then(Schema::as_object).unwrap_or(&none);
        let open = schema.get("additionalProperties").filter(|s| s.is_object());
        let mut unknown = Vec::new();
        for (key, entry) in table.iter_mut() {
            let Some(inner) = properties.get(key).or(open) else {
                unknown.push(key.clone());
                continue;
            };
            self.path.push(Segment::Key(key.clone()));
            self.visit(&mut entry.node, inner, None);
            self.path.pop();
        }
        let mut misspelt = Vec::new();
        for key in unknown {
            let entry = table.remove(&key);
            let free = properties.keys().map(String::as_str).filter(|p| !table.contains_key(*p));
            let meant = suggest::nearest(&key, free)
                .or_else(|| suggest::nearest(&key, properties.keys().map(String::as_str)));
            misspelt.extend(meant);
            let place = match self.field().as_str() {
                "" => "the scene".to_owned(),
                field => format!("`{field}`"),
            };
            self.path.push(Segment::Key(key.clone()));
            let problem = Problem::new(
                ProblemKind::UnknownField,
                format!("unknown field `{}` in {place}", shorten(&key)),
            )
            .at(entry.and_then(|e| e.key.or(e.node.origin)).or(at))
            .allowed(suggest::one_of(properties.keys().map(String::as_str)));
            let problem = match meant {
                Some(meant) => problem.hint(format!("did you mean `{meant}`?")),
                None => problem,
            };
            self.report(problem, None);
            self.path.pop();
        }
        for name in
            schema.get("required").and_then(Schema::as_array).into_iter().flatten().filter_map(Schema::as_str)
        {
            // A required field that is only misspelt is one mistake, not two.
            if table.contains_key(name) || misspelt.contains(&name) {
                continue;
            }
            let inner = properties.get(name).unwrap_or(&Schema::Null);
            let described = inner.get("description").and_then(Schema::as_str);
            let place = match self.field().as_str() {
                "" => "the scene".to_owned(),
                field => format!("`{field}`"),
            };
            self.path.push(Segment::Key(name.to_owned()));
            let problem =
                Problem::new(ProblemKind::MissingField, format!("missing field `{name}` in {place}"))
                    .at(at)
                    .allowed(form(resolve(self.schema, inner)));
            self.report(problem, described);
            self.path.pop();
        }
    }

    fn array(&mut self, node: &mut Node, schema: &Schema, description: Option<&str>) {
        let expected = form(schema);
        let at = node.origin;
        let Value::Array(items) = &mut node.value else {
            // One `[rigid]` for `[[rigid]]` is easily typed.
            if matches!(node.value, Value::Table(_)) && expected.contains("tables") {
                let name = self.last_key().trim_matches('`').to_owned();
                let problem = self
                    .type_problem(node, &expected)
                    .hint(format!("write `[[{name}]]` with two brackets; there may be several"));
                return self.report(problem, description);
            }
            return self.wrong_type(node, &expected, description);
        };
        let length = items.len() as u64;
        let exact = match schema.get("x-length").and_then(Schema::as_str) {
            Some("dimension") => self.dimension,
            _ => None,
        };
        let bound = |key: &str| schema.get(key).and_then(Schema::as_u64);
        let least = exact.or(bound("minItems")).unwrap_or(0);
        let most = exact.or(bound("maxItems")).unwrap_or(u64::MAX);
        if length < least || length > most {
            let number = if least == most { least.to_string() } else { format!("at least {least}") };
            let problem = Problem::new(
                ProblemKind::WrongLength,
                format!("`{}` has {}, but needs {number}", self.field(), count(items.len(), "component")),
            )
            .at(at)
            .found(format!("an array of {}", count(items.len(), "item")))
            .allowed(match (exact, least == most) {
                (Some(dimension), _) => format!("{dimension} components, because `dimension` is {dimension}"),
                (None, true) => format!("{least} components"),
                (None, false) => format!("at least {least} components"),
            });
            self.report(problem, description);
        }
        let Some(inner) = schema.get("items") else { return };
        for (index, item) in items.iter_mut().enumerate() {
            self.path.push(Segment::Index(index));
            self.visit(item, inner, description);
            self.path.pop();
        }
    }

    fn number(&mut self, node: &mut Node, schema: &Schema, whole: bool, description: Option<&str>) {
        let expected = form(schema);
        if let Some(text) = node.string()
            && expression::is_expression(text)
        {
            let text = text.to_owned();
            match self.expression(node, &text) {
                Some(value) if whole && value.fract() == 0.0 && value.abs() < 9e15 => {
                    node.value = Value::Integer(value as i64)
                }
                Some(value) => node.value = Value::Float(value),
                None => return,
            }
        }
        let value = match &node.value {
            Value::Integer(value) => *value as f64,
            Value::Float(value) if value.is_finite() && whole => {
                return self.wrong_type(node, &expected, description);
            }
            Value::Float(value) if value.is_finite() => *value,
            Value::Float(_) | Value::NotFinite => {
                let problem =
                    Problem::new(ProblemKind::OutOfRange, format!("`{}` is not finite", self.field()))
                        .at(node.origin)
                        .found(node.shown())
                        .allowed(expected);
                return self.report(problem, description);
            }
            Value::Overflow(text) => {
                let problem = Problem::new(
                    ProblemKind::OutOfRange,
                    format!("`{}`: {text} is too large a number", self.field()),
                )
                .at(node.origin)
                .found(node.shown())
                .allowed(expected);
                return self.report(problem, description);
            }
            _ => return self.wrong_type(node, &expected, description),
        };
        if value != 0.0 && !(SMALLEST_NUMBER..=LARGEST_NUMBER).contains(&value.abs()) {
            let problem = Problem::new(
                ProblemKind::OutOfRange,
                format!("`{}` is beyond what a physical quantity in SI units can be", self.field()),
            )
            .at(node.origin)
            .found(node.shown())
            .allowed(format!("0, or a size from {SMALLEST_NUMBER:e} to {LARGEST_NUMBER:e}"));
            return self.report(problem, description);
        }
        let bound = |key: &str| schema.get(key).and_then(Schema::as_f64);
        let fits = bound("minimum").is_none_or(|least| value >= least)
            && bound("maximum").is_none_or(|most| value <= most)
            && bound("exclusiveMinimum").is_none_or(|least| value > least);
        if !fits {
            let range = form(schema);
            let range =
                range.strip_prefix("a number ").or(range.strip_prefix("a whole number ")).unwrap_or(&range);
            let problem =
                Problem::new(ProblemKind::OutOfRange, format!("`{}` must be {range}", self.field()))
                    .at(node.origin)
                    .found(node.shown())
                    .allowed(expected);
            self.report(problem, description);
        }
    }

    /// Value of an expression in a field; reports what is wrong with it.
    fn expression(&mut self, node: &Node, text: &str) -> Option<f64> {
        let variables = &self.variables;
        let mut broken = false;
        let result = expression::evaluate(text, &mut |name| {
            broken |= variables.broken.contains(name);
            Ok(variables.values.get(name).copied())
        });
        match result {
            Ok(value) => Some(value),
            Err(_) if broken => None,
            Err(error) => {
                let mut problem = Problem::new(
                    ProblemKind::Expression,
                    format!("`{}`: {}", self.field(), error.message),
                )
                .at(within(self.sources, node.origin, text, error.at))
                .found(node.shown())
                .allowed("a number, or an expression of numbers and `[variables]`, such as \"2 * $radius\"");
                if let Some(unknown) = &error.unknown {
                    let names: Vec<&str> = variables.values.keys().map(String::as_str).collect();
                    problem = problem.hint(did_you_mean(unknown, names, "variables"));
                }
                self.report(problem, None);
                None
            }
        }
    }

    fn text(&mut self, node: &mut Node, schema: &Schema, description: Option<&str>) {
        let Some(text) = node.string() else {
            return self.wrong_type(node, "a string", description);
        };
        let is_name = schema.get("x-name").is_some();
        if is_name && !tree::is_bare_key(text) {
            let problem =
                Problem::new(ProblemKind::UnknownValue, format!("{} cannot be used as a name", node.shown()))
                    .at(node.origin)
                    .found(node.shown())
                    .allowed("1 to 64 letters, digits, `-` and `_`, not only digits");
            self.report(problem, description);
        }
    }

    fn word(&mut self, node: &mut Node, branches: &[Schema], description: Option<&str>) {
        let words: Vec<&str> = branches.iter().flat_map(words_of).collect();
        let allowed = suggest::one_of(words.iter().copied());
        let Some(text) = node.string() else {
            return self.wrong_type(node, &allowed, description);
        };
        if words.contains(&text) {
            return;
        }
        let meant = suggest::nearest(text, words.iter().copied());
        let problem =
            Problem::new(ProblemKind::UnknownValue, format!("`{}` cannot be {}", self.field(), node.shown()))
                .at(node.origin)
                .found(node.shown())
                .allowed(allowed);
        let problem = match meant {
            Some(meant) => problem.hint(format!("did you mean \"{meant}\"?")),
            None => problem,
        };
        self.report(problem, description);
    }

    fn wrong_type(&mut self, node: &Node, expected: &str, description: Option<&str>) {
        let problem = self.type_problem(node, expected);
        self.report(problem, description);
    }

    fn type_problem(&self, node: &Node, expected: &str) -> Problem {
        let in_dimension = match (self.dimension, expected.starts_with("a number")) {
            _ if self.path.len() < 2 => String::new(),
            (Some(d), _) if matches!(self.path.last(), Some(Segment::Key(k)) if k == "rotation" || k == "spin") =>
            {
                format!(" in {d}D")
            }
            _ => String::new(),
        };
        let subject = match self.field().as_str() {
            "" => "the scene".to_owned(),
            field => format!("`{field}`"),
        };
        Problem::new(
            ProblemKind::WrongType,
            format!("{subject} must be {expected}{in_dimension}, not {}", node.kind()),
        )
        .at(node.origin)
        .found(node.shown())
        .allowed(expected)
    }

    fn last_key(&self) -> String {
        let key = self.path.iter().rev().find_map(|s| match s {
            Segment::Key(key) => Some(key.as_str()),
            Segment::Index(_) => None,
        });
        format!("`{}`", shorten(key.unwrap_or("scene")))
    }
}

/// The place of byte `at` of a string value, when the string is written plainly (no escapes); else the whole string.
fn within(sources: &Sources, origin: Option<Origin>, text: &str, at: usize) -> Option<Origin> {
    let origin = origin?;
    let written = sources.slice(origin);
    let quote = usize::from(written.starts_with(['"', '\'']));
    let plain = written.get(quote..written.len().saturating_sub(quote)) == Some(text);
    if !plain {
        return Some(origin);
    }
    let start = origin.start + quote + at.min(text.len());
    Some(Origin { start, end: (origin.end - quote).max(start), ..origin })
}

fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>, what: &str) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    match suggest::nearest(word, names.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if names.is_empty() => format!("the scene has no `{what}`"),
        None if names.len() <= 12 => {
            format!("there are the {what} {}", suggest::one_of(names).replace(" or ", " and "))
        }
        None => format!("there are {} {what}", names.len()),
    }
}

/// "mass: Mass (kg). ..." cut to its first paragraph.
fn about(path: &[Segment], description: &str) -> String {
    let first = description.split("\n\n").next().unwrap_or(description).replace('\n', " ");
    match path.iter().rev().find_map(|s| match s {
        Segment::Key(key) => Some(key),
        Segment::Index(_) => None,
    }) {
        Some(key) => format!("{}: {first}", shorten(key)),
        None => first,
    }
}

fn is_word(branch: &Schema) -> bool {
    branch.get("type").and_then(Schema::as_str) == Some("string")
        && (branch.get("const").is_some() || branch.get("enum").is_some())
}

fn words_of(branch: &Schema) -> Vec<&str> {
    match (branch.get("const"), branch.get("enum")) {
        (Some(word), _) => word.as_str().into_iter().collect(),
        (None, Some(words)) => words.as_array().into_iter().flatten().filter_map(Schema::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Key and schema of a branch that is a table with exactly one field, required.
pub(crate) fn tag(branch: &Schema) -> Option<(&str, &Schema)> {
    let properties = branch.get("properties")?.as_object()?;
    let required = branch.get("required")?.as_array()?;
    // Untagged forms of one field carry the dimension they belong to.
    if properties.len() != 1 || required.len() != 1 || branch.get("x-dimension").is_some() {
        return None;
    }
    let (key, schema) = properties.iter().next()?;
    Some((key, schema))
}

fn has_kind(schema: &Schema, node: &Node) -> bool {
    // A choice of words is one form.
    if let Some(words) = schema.get("oneOf").and_then(Schema::as_array) {
        return words.iter().any(|word| is_word(word) && has_kind(word, node));
    }
    let kind = schema.get("type").and_then(Schema::as_str).unwrap_or("");
    match &node.value {
        Value::Table(_) => kind == "object",
        Value::Array(_) => kind == "array",
        Value::String(text) if expression::is_expression(text) => {
            matches!(kind, "number" | "integer" | "string")
        }
        Value::String(_) => kind == "string",
        Value::Integer(_) | Value::Float(_) | Value::Overflow(_) | Value::NotFinite => {
            matches!(kind, "number" | "integer")
        }
        Value::Boolean(_) => kind == "boolean",
        Value::DateTime => false,
    }
}

/// What a schema wants, in words: "a number greater than 0", "an array of 3 numbers", "a table with `max`".
pub(crate) fn form(schema: &Schema) -> String {
    let kind = schema.get("type").and_then(Schema::as_str).unwrap_or("");
    let bound = |key: &str| schema.get(key).and_then(Schema::as_f64);
    match kind {
        "number" | "integer" => {
            let noun = if kind == "integer" { "a whole number" } else { "a number" };
            // Unsigned types give a minimum of 0 and a format's maximum.
            let most = bound("maximum");
            match (bound("exclusiveMinimum"), bound("minimum"), most) {
                (Some(low), _, Some(high)) => format!("{noun} greater than {low} and at most {high}"),
                (Some(low), _, None) => format!("{noun} greater than {low}"),
                (None, Some(low), Some(high)) if low == high => format!("{low}"),
                (None, Some(low), Some(high)) => format!("{noun} from {low} to {high}"),
                (None, Some(low), None) => format!("{noun} of at least {low}"),
                (None, None, Some(high)) => format!("{noun} of at most {high}"),
                (None, None, None) => noun.into(),
            }
        }
        "array" => {
            let item =
                schema.get("items").and_then(|i| i.get("type")).and_then(Schema::as_str).unwrap_or("object");
            let items = match item {
                "number" => "numbers",
                "integer" => "whole numbers",
                "string" => "strings",
                _ => return "a list of tables".into(),
            };
            match (schema.get("minItems"), schema.get("maxItems")) {
                (Some(low), Some(high)) if low == high => format!("an array of {low} {items}"),
                _ => format!("an array of {items}"),
            }
        }
        "object" => match schema.get("required").and_then(Schema::as_array) {
            Some(required) if !required.is_empty() => {
                let names: Vec<String> =
                    required.iter().filter_map(Schema::as_str).map(|n| format!("`{n}`")).collect();
                format!("a table with {}", names.join(" and "))
            }
            _ => "a table".into(),
        },
        "string" if is_word(schema) => suggest::one_of(words_of(schema)),
        "string" => "a string".into(),
        "boolean" => "`true` or `false`".into(),
        _ => match schema.get("oneOf").or(schema.get("anyOf")).and_then(Schema::as_array) {
            Some(branches) if branches.iter().all(is_word) => {
                suggest::one_of(branches.iter().flat_map(words_of))
            }
            Some(branches) => {
                let forms: Vec<String> = branches
                    .iter()
                    .map(|b| match tag(b) {
                        Some((key, _)) => format!("`{{ {key} = {{ ... }} }}`"),
                        None => form(b),
                    })
                    .collect();
                forms.join(" or ")
            }
            None => "a value".into(),
        },
    }
}
