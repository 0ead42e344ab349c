//! The JSON schema of configuration files: it takes what `run` takes, and no other key.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::support::Bench;

/// Whether a value is as a JSON schema says, and has nothing else in it. It knows what our schemas use.
pub(crate) fn obeys(schema: &Value, whole: &Value, value: &Value) -> bool {
    if let Some(path) = schema["$ref"].as_str() {
        return obeys(whole.pointer(&path[1..]).unwrap(), whole, value);
    }
    if let Some(ways) = ["anyOf", "oneOf"].iter().find_map(|way| schema[way].as_array()) {
        return ways.iter().any(|way| obeys(way, whole, value));
    }
    if let Some(texts) = schema["enum"].as_array() {
        return texts.contains(value);
    }
    if let Some(text) = schema.get("const") {
        return text == value;
    }
    let of_type = |name: &Value| match name.as_str().unwrap() {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        other => panic!("a type {other}"),
    };
    let types = schema["type"].as_array().map_or(vec![&schema["type"]], |it| it.iter().collect());
    let mut keys = value.as_object().into_iter().flatten();
    let mut required = schema["required"].as_array().into_iter().flatten();
    types.into_iter().any(of_type)
        && keys.all(|(key, value)| {
            schema["properties"].get(key).is_some_and(|of_key| obeys(of_key, whole, value))
        })
        && required.all(|key| value.get(key.as_str().unwrap()).is_some())
        && value.as_array().into_iter().flatten().all(|it| obeys(&schema["items"], whole, it))
}

#[test]
fn the_schema_takes_what_run_takes() {
    let bench = Bench::new();
    let schema: Value = bench.json("schema");
    let as_json = |text: &str| serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap());
    for file in ["local", "daily", "machines"] {
        let text = fs::read_to_string(format!("configs/{file}.toml")).unwrap();
        assert!(obeys(&schema, &schema, &as_json(&text).unwrap()), "{file}");
    }
    for section in ["", "fingerprint", "dedup", "machines", "clusters", "store", "output"] {
        let path = if section == "store" { "path = \"s\"\n" } else { "" };
        let header = if section.is_empty() { "" } else { &format!("[{section}]\n") };
        let text = format!("{header}{path}no_such_key = 1\n");
        assert!(!obeys(&schema, &schema, &as_json(&text).unwrap()), "{section}");
        bench.write("wrong.toml", &text);
        let said = bench.fails(78, "run wrong.toml");
        let listed = said.split(", expected ").nth(1).unwrap().split(": found").next().unwrap();
        let keys: BTreeSet<&str> = listed.split('`').skip(1).step_by(2).collect();
        let of_section = match section {
            "" => schema["properties"].clone(),
            "store" => schema["$defs"]["StoreSection"]["properties"].clone(),
            "output" => schema["$defs"]["OutputSection"]["properties"].clone(),
            _ => {
                let path = schema["properties"][section].to_string();
                let name = path.split("/$defs/").nth(1).unwrap().split('"').next().unwrap();
                schema["$defs"][name]["properties"].clone()
            }
        };
        let of_section = of_section.as_object().unwrap();
        assert!(
            keys.iter().copied().eq(of_section.keys().map(String::as_str)),
            "{section}: {said}"
        );
        assert!(of_section.values().all(|key| {
            key["description"].is_string() || key["$ref"].is_string() || key["anyOf"].is_array()
        }));
    }
}
