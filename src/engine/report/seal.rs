//! The seal of a report: the digest of its text, in the text itself.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use crate::error::{Error, Kind, Result};
use crate::store::Digest;

/// The key of the seal in the part `run`: it is computed with zeros in its place.
const SEAL: &str = "xxh3";
const UNSEALED: Digest = Digest(0);

pub(super) fn prepare(run: &mut Value) {
    run[SEAL] = UNSEALED.to_string().into();
}

/// The text of a report whose part `run` is prepared, with its seal.
pub(super) fn sealed(report: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(report).expect("a report is plain data") + "\n";
    let seal = Digest::of(text.as_bytes()).to_string();
    replace_last(&text, &UNSEALED.to_string(), &seal)
}

/// Fails if the text of the report at `path`, whose part `run` is given, has been changed since it was
/// written.
pub(super) fn check(text: &str, run: &Value, path: &Path) -> Result<()> {
    let seal = run[SEAL].as_str().unwrap_or("none");
    let unsealed = replace_last(text, seal, &UNSEALED.to_string());
    let found = Digest::of(unsealed.as_bytes()).to_string();
    if found == seal {
        return Ok(());
    }
    let error = damaged("the report has been changed since it was written").at(path);
    Err(error.expected(seal).found(found))
}

/// The text with its last `old` replaced. The seal comes last in a report; the same text may occur earlier by
/// chance.
fn replace_last(text: &str, old: &str, new: &str) -> String {
    match text.rfind(old) {
        Some(at) => [&text[..at], new, &text[at + old.len()..]].concat(),
        None => text.to_owned(),
    }
}

pub(super) fn damaged(what: &str) -> Error {
    Error::new(Kind::BadData, what)
        .help("the output is damaged: make it again")
        .setting("overwrite")
}
