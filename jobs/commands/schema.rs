//! `dupsieve schema`: the JSON schema of configuration files, by which editors complete and check them.

use std::io::{self, Write};

use clap::Args;
use dupsieve::Result;
use dupsieve::error::At;
use schemars::schema_for;
use serde_json::{Value, json};

use crate::commands::examples;
use crate::flags::Config;
use crate::outcome::Summary;

const EXAMPLES: &str = "
# Save what it prints beside your files; one with the line `#:schema dupsieve.schema.json` is checked by editors
dupsieve schema";

/// Print the JSON schema of configuration files, by which editors complete and check them
#[derive(Args, Debug)]
#[command(after_help = examples(EXAMPLES))]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments, _: clap::Command) -> Result<Summary> {
    let text = serde_json::to_string_pretty(&schema()).expect("a schema is plain data");
    writeln!(io::stdout(), "{text}").at("stdout")?;
    Ok(Summary::new())
}

fn schema() -> Value {
    let mut schema = schema_for!(Config).to_value();
    suit_toml(&mut schema);
    schema["title"] = json!("A configuration of dupsieve");
    schema
}

/// Leaves out what TOML does not have, which is null, and the line ends of descriptions.
fn suit_toml(value: &mut Value) {
    match value {
        Value::Array(values) => {
            values.retain(|value| *value != json!("null") && *value != json!({"type": "null"}));
            values.iter_mut().for_each(suit_toml);
        }
        Value::Object(keys) => {
            keys.retain(|key, value| key != "default" || !value.is_null());
            if let Some(Value::String(text)) = keys.get_mut("description") {
                *text = text.replace('\n', " ");
            }
            keys.values_mut().for_each(suit_toml);
        }
        _ => {}
    }
}
