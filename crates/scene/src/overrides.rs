//! `--set PATH=VALUE`: changes to the tree before it is checked, so a wrong value is reported like one in the file.

use crate::problem::{Problem, ProblemKind};
use crate::source::{Origin, Sources};
use crate::suggest;
use crate::tree::{self, Entry, Node, Value, count};
use std::collections::BTreeMap;
use toml::de::DeValue;

/// A key or a number in the path of an override, with its place in the text.
struct Step {
    word: String,
    /// Written as `[3]`, so never a name.
    bracketed: bool,
    start: usize,
    end: usize,
}

/// Applies one override.
pub(crate) fn apply(root: &mut Node, text: &str, sources: &mut Sources) -> Result<(), Problem> {
    let source = sources.add_override(text);
    let place = |start: usize, end: usize| Some(Origin { source, start, end });
    let wrong = |message: String| Problem::new(ProblemKind::Override, message);
    let usage = "write PATH=VALUE, such as time.end=2 or rigid.ball.velocity=[1,0,0]";

    let (path, equals) = parse_path(text).map_err(|(message, at)| {
        wrong(format!("--set {}: {message}", tree::shorten(text))).at(place(at, text.len())).hint(usage)
    })?;
    if path[0].word == "include" {
        return Err(wrong("`include` cannot be set".into())
            .at(place(0, equals))
            .hint("include files in the scene file"));
    }
    let value = parse_value(&text[equals + 1..], source, equals + 1);

    let mut node = root;
    let (last, ways) =
        path.split_last().ok_or_else(|| wrong("an override needs a path".into()).hint(usage))?;
    for (depth, step) in ways.iter().enumerate() {
        let so_far = || text[..path[depth].start].trim_end_matches(['.', '[']).to_owned();
        node = enter(node, step, &so_far(), place)?;
    }
    let so_far = text[..last.start].trim_end_matches(['.', '[']).to_owned();
    match &mut node.value {
        Value::Table(table) if !last.bracketed => {
            table.insert(last.word.clone(), Entry { key: place(last.start, last.end), node: value });
            Ok(())
        }
        _ => {
            *element(node, last, &so_far, place)? = value;
            Ok(())
        }
    }
}

/// The node below `node` that a step of the path names; tables that do not exist yet are made.
fn enter<'n>(
    node: &'n mut Node,
    step: &Step,
    so_far: &str,
    place: impl Fn(usize, usize) -> Option<Origin> + Copy,
) -> Result<&'n mut Node, Problem> {
    if matches!(node.value, Value::Table(_)) && !step.bracketed {
        let Value::Table(table) = &mut node.value else { unreachable!("matched above") };
        let at = place(step.start, step.end);
        let entry = table
            .entry(step.word.clone())
            .or_insert_with(|| Entry { key: at, node: Node::new(at, Value::Table(BTreeMap::new())) });
        return Ok(&mut entry.node);
    }
    element(node, step, so_far, place)
}

/// The element of an array by number or by its `name`.
fn element<'n>(
    node: &'n mut Node,
    step: &Step,
    so_far: &str,
    place: impl Fn(usize, usize) -> Option<Origin>,
) -> Result<&'n mut Node, Problem> {
    let at = place(step.start, step.end);
    let kind = node.kind();
    let Value::Array(items) = &mut node.value else {
        return Err(Problem::new(
            ProblemKind::Override,
            format!("`{so_far}` is {kind} and has no `{}`", tree::shorten(&step.word)),
        )
        .at(at)
        .hint(format!("set `{so_far}` as a whole")));
    };
    let names: Vec<String> =
        items.iter().filter_map(|item| Some(item.get("name")?.string()?.to_owned())).collect();
    let by_number = step.word.parse::<usize>().ok();
    let index = match by_number {
        Some(index) => Some(index).filter(|i| *i < items.len()),
        None if step.bracketed => None,
        None => items.iter().position(|item| item.get("name").and_then(Node::string) == Some(&step.word)),
    };
    match index {
        Some(index) => Ok(&mut items[index]),
        None if by_number.is_some() || names.is_empty() => Err(Problem::new(
            ProblemKind::Override,
            format!(
                "`{so_far}` has {}, there is no `{}`",
                count(items.len(), "element"),
                tree::shorten(&step.word)
            ),
        )
        .at(at)
        .allowed(match items.len() {
            0 => "nothing: it is empty".to_owned(),
            n => format!("a number from 0 to {}", n - 1),
        })),
        None => {
            let problem = Problem::new(
                ProblemKind::Override,
                format!("`{so_far}` has no element called `{}`", tree::shorten(&step.word)),
            )
            .at(at)
            .allowed(suggest::one_of(names.iter().take(20).map(String::as_str)));
            Err(match suggest::nearest(&step.word, names.iter().map(String::as_str)) {
                Some(meant) => problem.hint(format!("did you mean `{meant}`?")),
                None => problem,
            })
        }
    }
}

/// The path before `=`, and where the `=` is; on error a message and the byte it is about.
fn parse_path(text: &str) -> Result<(Vec<Step>, usize), (String, usize)> {
    let mut steps = Vec::new();
    let mut at = 0;
    let rest = |at: usize| &text[at..];
    loop {
        at += rest(at).len() - rest(at).trim_start().len();
        let (word, bracketed, start, end);
        if let Some(inner) = rest(at).strip_prefix('"') {
            let close = inner.find('"').ok_or(("a quote is not closed".to_owned(), at))?;
            (start, end) = (at, at + close + 2);
            (word, bracketed) = (inner[..close].to_owned(), false);
        } else if let Some(inner) = rest(at).strip_prefix('[') {
            let close = inner.find(']').ok_or(("a bracket is not closed".to_owned(), at))?;
            (start, end) = (at, at + close + 2);
            (word, bracketed) = (inner[..close].trim().to_owned(), true);
        } else {
            let length: usize = rest(at)
                .chars()
                .take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
                .map(char::len_utf8)
                .sum();
            (start, end) = (at, at + length);
            (word, bracketed) = (rest(at)[..length].to_owned(), false);
        }
        if word.is_empty() {
            return Err(("expected the name of a field".into(), at));
        }
        steps.push(Step { word, bracketed, start, end });
        if steps.len() > tree::MAX_DEPTH {
            return Err(("the path is too long".into(), at));
        }
        at = end;
        at += rest(at).len() - rest(at).trim_start().len();
        match rest(at).chars().next() {
            Some('=') => return Ok((steps, at)),
            Some('.') => at += 1,
            Some('[') => {}
            Some(_) => return Err(("expected `.`, `[` or `=`".into(), at)),
            None => return Err(("there is no `=`".into(), 0)),
        }
    }
}

/// The value after `=`: TOML, or else the text itself, so that `kind=static` needs no quotes that a shell would take away.
fn parse_value(text: &str, source: usize, offset: usize) -> Node {
    let start = offset + text.len() - text.trim_start().len();
    let end = (offset + text.trim_end().len()).max(start);
    let whole = Some(Origin { source, start, end });
    let as_text = || Node::new(whole, Value::String(text.trim().to_owned()));
    match DeValue::parse(text.trim()) {
        // Too deep to be a value of a scene: the type check will say so.
        Ok(value) => tree::from_value(source, start, value, 0).unwrap_or_else(|_| as_text()),
        Err(_) => as_text(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_take_keys_numbers_names_and_quotes() {
        let words = |text: &str| parse_path(text).unwrap().0.into_iter().map(|s| s.word).collect::<Vec<_>>();
        assert_eq!(words("time.end=2"), ["time", "end"]);
        assert_eq!(words("rigid[3].position[0] = 1=2"), ["rigid", "3", "position", "0"]);
        assert_eq!(words("rigid.\"big ball\".mass=1"), ["rigid", "big ball", "mass"]);
        assert!(parse_path("time.end").is_err());
        assert!(parse_path("=2").is_err());
        assert!(parse_path("a..b=2").is_err());
        assert!(parse_path("a[=2").is_err());
        assert!(parse_path(&format!("{}=1", "a.".repeat(100) + "a")).is_err());
    }
}
