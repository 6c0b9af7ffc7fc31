//! `splashdown list`.

use crate::failure::Failure;
use crate::terminal;
use clap::Args;

#[derive(Args)]
#[command(after_help = "\
Examples:
  splashdown list
  splashdown run quickstart")]
pub struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn execute(arguments: &Arguments) -> Result<(), Failure> {
    let scenes = splashdown_scene::shipped();
    if arguments.json {
        let list: Vec<_> = scenes
            .iter()
            .map(|scene| {
                serde_json::json!({ "name": scene.name, "dimension": scene.dimension, "summary": scene.summary })
            })
            .collect();
        terminal::say(&serde_json::Value::from(list).to_string());
        return Ok(());
    }
    let bold = terminal::style().bold();
    let rows: Vec<Vec<String>> = scenes
        .iter()
        .map(|scene| {
            vec![
                bold.apply_to(scene.name).to_string(),
                format!("{}D", scene.dimension),
                scene.summary.clone(),
            ]
        })
        .collect();
    for line in terminal::columns(&rows) {
        terminal::say(&line);
    }
    Ok(())
}
