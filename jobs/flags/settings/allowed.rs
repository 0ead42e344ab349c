//! What the JSON schema of configuration files says of values that are read from text.

use std::fmt::Display;

use dupsieve::rooms::clusters::Method;
use dupsieve::rooms::document::{Format, PlaceIds};
use dupsieve::rooms::join::Preset;
use dupsieve::rooms::matches::{Detail, KeepOrder, Recrawled};
use dupsieve::rooms::passages::Cut;
use dupsieve::rooms::results::ResultFormat;
use schemars::{Schema, SchemaGenerator, json_schema};

/// Any text: what it may be stands in the description of the key.
pub(crate) fn text(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string"})
}

/// A number, or text such as `64MiB`, `8e9` or `1%`.
pub(crate) fn number(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": ["number", "string"]})
}

pub(crate) fn share(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": ["number", "string"], "minimum": 0, "maximum": 1})
}

pub(crate) fn seconds(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": ["integer", "string"], "minimum": 1})
}

pub(crate) fn days(_: &mut SchemaGenerator) -> Schema {
    let day = "[0-9]{4}-[0-9]{2}-[0-9]{2}";
    let pattern = format!("^{day}(\\.\\.{day})?$");
    json_schema!({"type": "array", "items": {"type": "string", "pattern": pattern}})
}

/// A recipe: a name, the path of a `.toml` file, or a table of all its parts.
pub(crate) fn recipe(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": ["string", "object"]})
}

pub(crate) fn width(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"enum": [64, 128]})
}

pub(crate) fn preset(_: &mut SchemaGenerator) -> Schema {
    one_of(Preset::ALL)
}

pub(crate) fn format(_: &mut SchemaGenerator) -> Schema {
    one_of(Format::ALL)
}

pub(crate) fn place_ids(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"enum": [true, false, PlaceIds::All.name()]})
}

pub(crate) fn result_format(_: &mut SchemaGenerator) -> Schema {
    one_of(ResultFormat::ALL)
}

pub(crate) fn detail(_: &mut SchemaGenerator) -> Schema {
    one_of([Detail::Best, Detail::All])
}

pub(crate) fn key(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "pattern": "^(url|surt|(field|surt):.+)$"})
}

pub(crate) fn recrawled(_: &mut SchemaGenerator) -> Schema {
    one_of(Recrawled::ALL)
}

/// A keep order, or a field of the pages.
pub(crate) fn keep(_: &mut SchemaGenerator) -> Schema {
    let names = KeepOrder::ALL.map(|order| order.to_string()).join("|");
    json_schema!({"type": "string", "pattern": format!("^({names}|[^:]+:.+)$")})
}

pub(crate) fn method(_: &mut SchemaGenerator) -> Schema {
    one_of([Method::Star, Method::Components].map(Method::name))
}

pub(crate) fn cut(_: &mut SchemaGenerator) -> Schema {
    one_of(Cut::ALL)
}

fn one_of(values: impl IntoIterator<Item: Display>) -> Schema {
    let names: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
    json_schema!({"enum": names})
}
