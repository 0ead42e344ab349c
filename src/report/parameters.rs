//! The parameters that decide the result of a job.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::error::{Error, Kind};
use crate::fingerprint::Stamp;

/// What decides the result of a job, by name: the digests of its inputs, and its parameters. Workers,
/// processes, memory, design and chunking do not change the result and are left out.
pub type Parameters = BTreeMap<String, String>;

/// The error for an output at `path` that was made with other parameters than asked for.
pub fn made_otherwise(path: &Path, made: &Parameters, asked: &Parameters) -> Error {
    let names: BTreeSet<&String> = asked.keys().chain(made.keys()).collect();
    let mut expected = Vec::new();
    let mut found = Vec::new();
    for name in names {
        let [asked, made] = [asked, made].map(|it| it.get(name).map_or("none", String::as_str));
        if asked == made {
            continue;
        }
        // Show only those parts of a recipe that differ.
        match [asked, made].map(Stamp::parse) {
            [Ok(_), Ok(_)] => {
                let [asked, made] = Stamp::differences(asked, made);
                expected.push(format!("{name}: {asked}"));
                found.push(format!("{name}: {made}"));
            }
            _ => {
                expected.push(format!("{name} = {asked}"));
                found.push(format!("{name} = {made}"));
            }
        }
    }
    let [expected, found] = [expected, found].map(|it| it.join("; "));
    Error::new(Kind::Exists, "the output was made with other inputs or parameters")
        .at(path)
        .expected(expected)
        .found(found)
        .help("choose another output, or replace this one with --overwrite")
}
