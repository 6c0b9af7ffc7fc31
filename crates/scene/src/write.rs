//! A scene as the text of a scene file.

use crate::Scene;
use toml_edit::{DocumentMut, Item, Table, Value, visit_mut::VisitMut};

impl Scene {
    /// The scene as a scene file: reading it gives this scene again. Includes, variables and overrides are already applied in it.
    pub fn to_toml(&self) -> String {
        // By way of JSON values, as the reader does: the scene's types are then compiled for one writer only. Plain data has no way to fail
        // other than a map key that is not a string.
        let mut json = serde_json::to_value(self).unwrap_or_default();
        drop_nulls(&mut json);
        let Ok(mut document) = toml_edit::ser::to_document(&json) else { return String::new() };
        tidy(&mut document);
        document.to_string()
    }

    /// [`Self::to_toml`] without what the motion does not depend on (title, summary, camera, end, output): two scenes with the same text here
    /// go through the same states, so a run of one can be resumed with the other.
    pub fn motion_toml(&self) -> String {
        let mut scene =
            Self { output: Default::default(), camera: None, variables: Default::default(), ..self.clone() }
                .title("")
                .summary("");
        scene.time.end = 0.0;
        scene.to_toml()
    }
}

/// What is not set is not written: TOML has no null.
fn drop_nulls(json: &mut serde_json::Value) {
    match json {
        serde_json::Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// Settings as `[tables]`, bodies as `[[lists]]`, everything below on one line.
fn tidy(document: &mut DocumentMut) {
    for (_, item) in document.iter_mut() {
        let taken = std::mem::take(item);
        *item = match taken {
            Item::Value(Value::InlineTable(table)) => Item::Table(table.into_table()),
            Item::Value(Value::Array(array)) if array.iter().any(Value::is_inline_table) => {
                match Item::Value(Value::Array(array)).into_array_of_tables() {
                    Ok(tables) => Item::ArrayOfTables(tables),
                    Err(item) => item,
                }
            }
            other => other,
        };
    }
    Spacing.visit_document_mut(document);
}

/// An empty line before each table.
struct Spacing;

impl VisitMut for Spacing {
    fn visit_table_mut(&mut self, table: &mut Table) {
        table.decor_mut().set_prefix("\n");
        toml_edit::visit_mut::visit_table_mut(self, table);
    }

    fn visit_document_mut(&mut self, document: &mut DocumentMut) {
        toml_edit::visit_mut::visit_table_mut(self, document.as_table_mut());
    }
}
