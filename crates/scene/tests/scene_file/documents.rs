//! The schema and the reference page in `docs/` are what the types say. `SPLASHDOWN_UPDATE=1` writes them anew.

use super::repository;
use serde_json::Value;

fn up_to_date(file: &str, text: &str) {
    let path = repository("docs").join(file);
    if std::env::var_os("SPLASHDOWN_UPDATE").is_some() {
        std::fs::write(&path, text).expect("written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(
        kept == text,
        "docs/{file} is not what the types say; write it with\n  SPLASHDOWN_UPDATE=1 cargo test -p splashdown-scene --test scene_file documents"
    );
}

#[test]
fn the_schema_is_up_to_date() {
    up_to_date("scene.schema.json", &splashdown_scene::json_schema_text());
}

#[test]
fn the_reference_is_up_to_date() {
    up_to_date("scene-reference.md", &splashdown_scene::reference_text());
}

/// Every field has words for the reference and for hints, and every table refuses unknown fields.
#[test]
fn every_field_is_described() {
    fn visit(schema: &Value, path: &str, missing: &mut Vec<String>) {
        match schema {
            Value::Object(map) => {
                if let Some(Value::Object(properties)) = map.get("properties") {
                    let tagged = properties.len() == 1 && map.contains_key("description");
                    for (name, property) in properties {
                        if property.get("description").is_none() && !tagged {
                            missing.push(format!("{path}.{name} is not described"));
                        }
                    }
                    if map.get("additionalProperties") != Some(&Value::Bool(false)) {
                        missing.push(format!("{path} takes unknown fields"));
                    }
                }
                for (key, value) in map {
                    visit(value, &format!("{path}.{key}"), missing);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| visit(item, path, missing)),
            _ => {}
        }
    }
    let mut missing = Vec::new();
    visit(&splashdown_scene::json_schema(), "scene", &mut missing);
    assert!(missing.is_empty(), "{missing:#?}");
}
