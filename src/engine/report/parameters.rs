//! The parameters that decide the result of a job.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::error::{Error, Kind};
use crate::fingerprint::Stamp;
use crate::results::ResultFormat;

/// What decides the result of a job, by name: the digests of its inputs, and its parameters. Workers,
/// processes, memory, design and chunking do not change the result and are left out.
pub type Parameters = BTreeMap<String, String>;

const FORMAT: &str = "output_format";

/// The parameter that says which pages of one key are kept, unless the rule decides.
pub const RECRAWLED: &str = "recrawled";

/// The parameter for the format of the tables. An output of TSV has none, as all had before there were others.
pub fn format_parameter(format: ResultFormat) -> Option<(String, String)> {
    (format != ResultFormat::Tsv).then(|| (FORMAT.to_owned(), format.to_string()))
}

pub fn format(made: &Parameters) -> ResultFormat {
    made.get(FORMAT).and_then(|format| format.parse().ok()).unwrap_or_default()
}

pub fn made_otherwise(path: &Path, made: &Parameters, asked: &Parameters) -> Error {
    let names: BTreeSet<&String> = asked.keys().chain(made.keys()).collect();
    if names.iter().all(|name| *name == FORMAT || asked.get(*name) == made.get(*name)) {
        let what = "the same output exists with its tables in another format";
        return Error::new(Kind::Exists, what)
            .at(path)
            .expected(format(asked))
            .found(format(made))
            .help("read it as it is, since each format can be read everywhere, or write it again")
            .setting("overwrite");
    }
    let mut expected = Vec::new();
    let mut found = Vec::new();
    let mut are_inputs = true;
    for name in names {
        let [asked, made] = [asked, made].map(|it| it.get(name).map_or("none", String::as_str));
        if asked == made {
            continue;
        }
        are_inputs &= name == "inputs" || name == "place_ids" && are_names(asked, made);
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
    let error = |what: &str| {
        let error = Error::new(Kind::Exists, what).called("made-otherwise").at(path);
        error.help("choose another output, or replace this one").setting("overwrite")
    };
    if are_inputs {
        return error("the input files have changed since the output was made");
    }
    let [expected, found] = [expected, found].map(|it| it.join("; "));
    error("the output was made with other inputs or parameters").expected(expected).found(found)
}

/// Whether places are ids in the same way, and only the names of files are others.
fn are_names(asked: &str, made: &str) -> bool {
    const DIGEST: usize = 32;
    let ways = [asked, made].map(|it| it.get(..it.len().checked_sub(DIGEST)?));
    ways[0].is_some() && ways[0] == ways[1]
}
