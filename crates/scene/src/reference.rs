//! `docs/scene-reference.md`, written from the schema, so that it cannot disagree with the program.

use crate::check::shape::{form, tag};
use crate::schema::{checked, resolve};
use serde_json::Value as Schema;
use std::fmt::Write;

const INTRODUCTION: &str = r#"# The scene file

<!-- Written from the types in crates/scene/src/description by a test; run it with SPLASHDOWN_UPDATE=1 to write this page anew. -->

A scene is a [TOML](https://toml.io) file. Units are SI; angles that a person writes are in degrees; `y` points up; vectors have as many
components as the scene has dimensions. `splashdown check FILE` finds every mistake with its line, column and a hint. For completion in an
editor, let its TOML plugin use `docs/scene.schema.json` (for Taplo and Even Better TOML: first line `#:schema PATH/scene.schema.json`).

```toml
dimension = 2

[variables]
radius = 0.1

[time]
end = 2
step = 0.001

[[rigid]]
name = "ball"
shape = { sphere = { radius = "$radius" } }
density = 500
position = [0, "10 * $radius"]
velocity = [1, 4]
```

**Variables.** Wherever a number is expected, a string with `$name` may stand: `"$radius"`, `"2 * $radius + 0.1"`, `"-($a - $b) / 2"`.
There are `+ - * /`, signs and parentheses; variables may use each other.

**Includes.** `include = ["base.toml"]` reads other files first, relative to this one. Tables are joined field by field and this file's
values win; lists of bodies are joined, the included ones first.

**Overrides.** `splashdown run FILE --set PATH=VALUE` replaces a field before the scene is checked: `--set time.end=5`,
`--set rigid.ball.velocity=[1,0]` (a body by its name), `--set rigid[0].mass=2` (by number, from 0), `--set variables.radius=0.2`.

**Limits.** A file has at most 4 MiB; a scene at most 16 GiB of estimated memory, 1e6 frames and 1e9 steps.

The same words build a scene in Rust: `Scene::new(2).end(2.0).step(1e-3).with_rigid(Rigid::sphere("ball", 0.1).density(500.0))`.
"#;

/// The text of `docs/scene-reference.md`.
pub fn reference_text() -> String {
    let root = checked();
    let mut page = Page { root, text: INTRODUCTION.to_owned(), queue: Vec::new(), done: Vec::new() };
    page.section("The scene", None, root);
    while let Some(name) = page.queue.pop() {
        if page.done.contains(&name) {
            continue;
        }
        page.done.push(name.clone());
        let Some(schema) = root.get("$defs").and_then(|defs| defs.get(&name)) else { continue };
        page.section(&name, schema.get("description").and_then(Schema::as_str), schema);
    }
    page.text
}

struct Page {
    root: &'static Schema,
    text: String,
    /// Definitions still to be written, the next one last.
    queue: Vec<String>,
    done: Vec<String>,
}

impl Page {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn section(&mut self, title: &str, description: Option<&str>, schema: &Schema) {
        let _ = write!(self.text, "\n## {title}\n\n");
        if let Some(description) = description.or(schema.get("description").and_then(Schema::as_str)) {
            self.line(&description.replace('\n', " "));
            self.line("");
        }
        let mut found = Vec::new();
        match schema.get("oneOf").or(schema.get("anyOf")).and_then(Schema::as_array) {
            Some(branches) => {
                for branch in branches {
                    self.branch(branch, &mut found);
                }
            }
            None => self.fields(schema, &mut found),
        }
        found.reverse();
        self.queue.extend(found);
    }

    /// One alternative of several.
    fn branch(&mut self, branch: &Schema, found: &mut Vec<String>) {
        let about = branch.get("description").and_then(Schema::as_str).unwrap_or("").replace('\n', " ");
        if let Some((key, inner)) = tag(branch) {
            self.line(&format!("**`{{ {key} = {{ ... }} }}`** {about}\n"));
            let inner = resolve(self.root, inner);
            self.fields(inner, found);
            self.line("");
            return;
        }
        let resolved = resolve(self.root, branch);
        if let Some(word) = branch.get("const").and_then(Schema::as_str) {
            self.line(&format!("- `\"{word}\"`: {about}"));
        } else if resolved.get("properties").is_some() {
            let about = if about.is_empty() { description_of(resolved) } else { about };
            self.line(&format!("**A table.** {about}\n"));
            self.fields(resolved, found);
            self.line("");
        } else {
            self.line(&format!("**{}.** {about}\n", capitalised(&form(resolved))));
        }
    }

    fn fields(&mut self, schema: &Schema, found: &mut Vec<String>) {
        let Some(properties) = schema.get("properties").and_then(Schema::as_object) else { return };
        let required: Vec<&str> =
            schema.get("required").and_then(Schema::as_array).into_iter().flatten().filter_map(Schema::as_str).collect();
        self.line("| field | value | default | meaning |");
        self.line("|---|---|---|---|");
        for (name, property) in properties {
            let value = self.value(property, found);
            let default = match property.get("default") {
                _ if required.contains(&name.as_str()) => "required".to_owned(),
                Some(Schema::String(text)) if text.is_empty() => String::new(),
                Some(Schema::Array(items)) if items.is_empty() => String::new(),
                Some(Schema::Object(_)) | None => String::new(),
                Some(value) => format!("`{value}`"),
            };
            let about = description_of(property);
            self.line(&format!("| `{name}` | {value} | {default} | {about} |"));
        }
    }

    /// What a field takes, with a link to the table's own section.
    fn value(&self, property: &Schema, found: &mut Vec<String>) -> String {
        let reference = |schema: &Schema| {
            let name = schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?;
            Some(name.to_owned())
        };
        if let Some(name) = reference(property) {
            found.push(name.clone());
            return format!("[{name}](#{})", name.to_lowercase());
        }
        if let Some(name) = property.get("items").and_then(reference) {
            found.push(name.clone());
            return format!("list of [{name}](#{})", name.to_lowercase());
        }
        if property.get("x-length").is_some() {
            return form(property).replace("an array of", "one for each axis:");
        }
        if property.get("additionalProperties").is_some_and(Schema::is_object) {
            return "a table of numbers".into();
        }
        form(resolve(self.root, property))
    }
}

fn description_of(schema: &Schema) -> String {
    schema.get("description").and_then(Schema::as_str).unwrap_or("").replace('\n', " ")
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().collect::<String>() + chars.as_str()).unwrap_or_default()
}
