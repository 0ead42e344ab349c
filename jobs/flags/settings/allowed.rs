//! What the JSON schema of configuration files says of values that are read from text.

use std::fmt::Display;

use dupsieve::clusters::Method;
use dupsieve::document::{Format, PlaceIds};
use dupsieve::join::Preset;
use dupsieve::matches::{Detail, KeepOrder, Recrawled};
use dupsieve::passages::Cut;
use dupsieve::results::ResultFormat;
use schemars::{Schema, SchemaGenerator, json_schema};

macro_rules! schemas {
    ($($(#[$what:meta])* $value:ident: $schema:expr,)*) => {
        $($(#[$what])* pub(crate) fn $value(_: &mut SchemaGenerator) -> Schema {
            $schema
        })*
    };
}

schemas! {
    /// Any text: what it may be stands in the description of the key.
    text: json_schema!({"type": "string"}),
    /// A number, or text such as `64MiB`, `8e9` or `1%`.
    number: json_schema!({"type": ["number", "string"]}),
    share: json_schema!({"type": ["number", "string"], "minimum": 0, "maximum": 1}),
    seconds: json_schema!({"type": ["integer", "string"], "minimum": 1}),
    days: json_schema!({"type": "array", "items": {"type": "string", "pattern": day_or_range()}}),
    /// A recipe: a name, the path of a `.toml` file, or a table of all its parts.
    recipe: json_schema!({"type": ["string", "object"]}),
    width: json_schema!({"enum": [64, 128]}),
    preset: one_of(Preset::ALL),
    format: one_of(Format::ALL),
    place_ids: json_schema!({"enum": [true, false, PlaceIds::All.name()]}),
    result_format: one_of(ResultFormat::ALL),
    detail: one_of([Detail::Best, Detail::All]),
    key: json_schema!({"type": "string", "pattern": "^(url|surt|(field|surt):.+)$"}),
    recrawled: one_of(Recrawled::ALL),
    keep: json_schema!({"type": "string", "pattern": order_or_field()}),
    method: one_of([Method::Star, Method::Components].map(Method::name)),
    cut: one_of(Cut::ALL),
}

fn day_or_range() -> String {
    let day = "[0-9]{4}-[0-9]{2}-[0-9]{2}";
    format!("^{day}(\\.\\.{day})?$")
}

fn order_or_field() -> String {
    let names = KeepOrder::ALL.map(|order| order.to_string()).join("|");
    format!("^({names}|[^:]+:.+)$")
}

fn one_of(values: impl IntoIterator<Item: Display>) -> Schema {
    let names: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
    json_schema!({"enum": names})
}
