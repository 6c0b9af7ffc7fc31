//! The JSON schema of a scene, generated from the types of [`crate::description`]: for editors, for the reference page and, because it
//! cannot disagree with the types, for the checker itself.

use crate::Scene;
use serde_json::{Map, Value, json};
use std::sync::OnceLock;

/// The schema that the checker walks: what the types say, without the `null` that serde allows and TOML cannot write.
pub(crate) fn checked() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let mut schema = schemars::generate::SchemaSettings::draft2020_12()
            .into_generator()
            .into_root_schema_for::<Scene>()
            .to_value();
        remove_null(&mut schema);
        schema
    })
}

/// The schema for editors and other programs (JSON Schema 2020-12): as the types say, and every number may also be an expression
/// string such as `"$radius * 2"`. It is kept in `docs/scene.schema.json`.
pub fn json_schema() -> Value {
    let mut schema = checked().clone();
    allow_expressions(&mut schema);
    if let Some(root) = schema.as_object_mut() {
        root.insert("title".into(), json!("Splashdown scene"));
    }
    schema
}

/// [`json_schema`] as the text of `docs/scene.schema.json`.
pub fn json_schema_text() -> String {
    let mut text = serde_json::to_string_pretty(&json_schema()).unwrap_or_default();
    text.push('\n');
    text
}

/// Follows `$ref` to a definition. Sibling keywords such as `description` stay with the caller.
pub(crate) fn resolve<'a>(root: &'a Value, mut schema: &'a Value) -> &'a Value {
    // References of generated schemas are one level deep; the bound only guards against a cycle.
    for _ in 0..8 {
        let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix("#/$defs/"))
        else {
            return schema;
        };
        let Some(target) = root.get("$defs").and_then(|defs| defs.get(name)) else { return schema };
        schema = target;
    }
    schema
}

fn remove_null(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(remove_null),
        Value::Object(map) => {
            if let Some(Value::Array(types)) = map.get_mut("type") {
                types.retain(|t| t != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    map.insert("type".into(), only);
                }
            }
            if map.get("default") == Some(&Value::Null) {
                map.remove("default");
            }
            if let Some(Value::Array(branches)) = map.get_mut("anyOf") {
                branches.retain(|branch| branch.get("type") != Some(&json!("null")));
                if let [Value::Object(only)] = branches.as_slice() {
                    let only: Map<String, Value> = only.clone();
                    map.remove("anyOf");
                    map.extend(only);
                }
            }
            map.values_mut().for_each(remove_null);
        }
        _ => {}
    }
}

fn allow_expressions(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(allow_expressions),
        Value::Object(map) => {
            if let Some(kind @ ("number" | "integer")) = map.get("type").and_then(Value::as_str) {
                let types = json!([kind, "string"]);
                map.insert("type".into(), types);
                map.insert("pattern".into(), json!("\\$"));
            }
            map.values_mut().for_each(allow_expressions);
        }
        _ => {}
    }
}
