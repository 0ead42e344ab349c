//! `report.json` of a join: what the output was made from, and the proof that it is complete.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{At, Error, Kind, Result};
use crate::fingerprint::Stamp;
use crate::join::Proof;
use crate::matches::Outcome;
use crate::output::{self, SUCCESS, Staging, Sum};
use crate::store::{Counts, Day, Digest};

/// What decides the result of a job, by name: the digests of its inputs, and its parameters. Workers,
/// processes, memory, design and chunking do not change the result and are left out.
pub type Parameters = BTreeMap<String, String>;

/// The report of a join.
#[derive(Debug, Serialize, Deserialize)]
pub struct Report {
    /// The version of dupsieve that made it.
    pub dupsieve: String,
    /// The day of the batch, if `run` made the output.
    #[serde(default)]
    pub day: Option<Day>,
    /// The recipe of the fingerprints, part by part. Reports of older builds do not have it.
    #[serde(default)]
    pub recipe: Value,
    /// A run with the same parameters finds its output done.
    pub parameters: Parameters,
    /// The version of the store that was read.
    pub store_version: Option<u64>,
    /// How many records the batch was made from, and what became of them.
    pub batch: Counts,
    /// Pages found, kept and dropped.
    pub outcome: Outcome,
    /// The proof that nothing was left out.
    pub probe: Proof,
    /// How it was run: the one part that differs from run to run.
    pub run: Value,
}

impl Report {
    /// The name of the file.
    const NAME: &str = "report.json";

    /// The key in `run` of the seal: the digest of the text of the report, with zeros in place of the seal.
    const SEAL: &str = "xxh3";
    const UNSEALED: Digest = Digest(0);

    /// Writes the report into an output that is being built.
    pub fn write(&mut self, staging: &Staging) -> Result<()> {
        self.run[Report::SEAL] = Report::UNSEALED.to_string().into();
        let text = serde_json::to_string_pretty(self).expect("a report is plain data") + "\n";
        let seal = Digest::of(text.as_bytes()).to_string();
        let sealed = put_last(&text, &Report::UNSEALED.to_string(), &seal);
        let mut file = staging.create(Report::NAME)?;
        file.write(|out| out.write_all(sealed.as_bytes()))?;
        file.finish().map(drop)
    }

    /// Reads the report of the output at `output`; none if there is no whole output.
    ///
    /// # Errors
    /// [`Kind::BadData`] if the report has been changed since it was written.
    pub fn read(output: &Path) -> Result<Option<Report>> {
        let path = output.join(Report::NAME);
        if !output.join(SUCCESS).exists() || !path.exists() {
            return Ok(None);
        }
        let text = String::from_utf8(fs::read(&path).at(&path)?)
            .map_err(|_| damaged("the report is not UTF-8").at(&path))?;
        let mut report: Report =
            serde_json::from_str(&text).map_err(|cause| damaged(&cause.to_string()).at(&path))?;
        let seal = report.run[Report::SEAL].as_str().unwrap_or("none");
        let unsealed = put_last(&text, seal, &Report::UNSEALED.to_string());
        let found = Digest::of(unsealed.as_bytes()).to_string();
        if found != seal {
            let error = damaged("the report has been changed since it was written").at(&path);
            return Err(error.expected(seal).found(found));
        }
        if report.is_old() {
            // Old reports have the counts of the records as JSON here.
            report.parameters.insert("records".to_owned(), records(&report.batch));
        }
        Ok(Some(report))
    }

    /// Fails if a file of the output has been removed or changed since it was written.
    pub fn check_files(&self, output: &Path) -> Result<()> {
        for (name, sum) in &self.outcome.files {
            let path = output.join(name);
            let found = match fs::metadata(&path) {
                Ok(file) if file.len() == sum.bytes => Sum::of(&path)?.to_string(),
                Ok(file) => format!("{} bytes", file.len()),
                Err(_) => "none".to_owned(),
            };
            if found != sum.to_string() {
                let error = damaged("the file has been changed since it was written").at(&path);
                return Err(error.expected(sum).found(found));
            }
        }
        Ok(())
    }

    /// Whether an old build wrote it, which did not record the recipe.
    pub fn is_old(&self) -> bool {
        self.recipe.is_null()
    }
}

/// The counts of the records that a batch was made from, as a parameter.
pub fn records(counts: &Counts) -> String {
    let Counts { read, fingerprinted, empty, repeated, quarantined, blank, truncated } = counts;
    format!(
        "{read} read, {fingerprinted} fingerprinted, {empty} empty, {repeated} repeated, \
         {quarantined} quarantined, {blank} blank, {truncated} truncated"
    )
}

/// What exists where an output is to be made.
pub enum Existing {
    /// Nothing, or something that may be replaced.
    Nothing,
    /// The output that is asked for.
    Same(Box<Report>),
}

/// Checks what exists at `output`, which is to be made with these parameters. An output made with other
/// parameters is refused unless `may_replace` or `overwrite` allows to replace it. Anything that is not
/// an output of dupsieve is always refused.
pub fn existing(
    output: &Path,
    parameters: &Parameters,
    may_replace: impl FnOnce(&Parameters) -> bool,
    overwrite: bool,
) -> Result<Existing> {
    if output.is_symlink() && !output.exists() {
        return Err(output::foreign(output, "a whole output of dupsieve"));
    }
    if !output.exists() {
        return Ok(Existing::Nothing);
    }
    let report = Report::read(output).and_then(|report| {
        report.as_ref().map_or(Ok(()), |report| report.check_files(output))?;
        Ok(report)
    });
    match report {
        Ok(None) => Err(output::foreign(output, "a whole output of dupsieve")),
        Ok(Some(report)) if report.parameters == *parameters => {
            Ok(Existing::Same(Box::new(report)))
        }
        Ok(Some(report)) if overwrite || may_replace(&report.parameters) => {
            refuse_strangers(output, report.outcome.files.keys())
        }
        Err(_) if overwrite => refuse_strangers(output, [].iter()),
        Ok(Some(report)) => Err(made_otherwise(output, &report.parameters, parameters)),
        Err(error) => Err(error),
    }
}

/// The files that an output of any version may have, besides those that its report names.
const OURS: [&str; 12] = [
    "_SUCCESS",
    "drop.txt",
    "keep.txt",
    "matches.jsonl",
    "matches.parquet",
    "matches.tsv",
    "report.html",
    "report.json",
    "verdicts.jsonl",
    "verdicts.parquet",
    "verdicts.tsv",
    "_UNFINISHED",
];

/// Fails if the folder holds a file that dupsieve did not make. Replacing an output removes its whole
/// folder, so that file would be lost.
pub fn refuse_strangers<'a>(
    output: &Path,
    files: impl Iterator<Item = &'a String> + Clone,
) -> Result<Existing> {
    for entry in fs::read_dir(output).at(output)? {
        let name = entry.at(output)?.file_name();
        let ours =
            OURS.iter().any(|ours| name == *ours) || files.clone().any(|file| name == **file);
        if !ours {
            return Err(Error::new(
                Kind::Exists,
                "the output folder has a file that dupsieve did not make",
            )
            .at(output)
            .found(format_args!("{name:?}"))
            .help("replacing the output would delete it; move it away first"));
        }
    }
    Ok(Existing::Nothing)
}

/// The text with its last `old` replaced. The seal comes last in a report; the same text may occur earlier by
/// chance.
fn put_last(text: &str, old: &str, new: &str) -> String {
    match text.rfind(old) {
        Some(at) => [&text[..at], new, &text[at + old.len()..]].concat(),
        None => text.to_owned(),
    }
}

/// The error for a damaged output.
fn damaged(what: &str) -> Error {
    Error::new(Kind::BadData, what).help("the output is damaged: make it again with --overwrite")
}

/// The error for an output at `path` that was made with other parameters than asked for.
pub fn made_otherwise(path: &Path, made: &Parameters, asked: &Parameters) -> Error {
    let names: BTreeSet<&String> = asked.keys().chain(made.keys()).collect();
    let (mut expected, mut found) = (Vec::new(), Vec::new());
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
