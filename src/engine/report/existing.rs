//! What may exist already where the output of a join is to be made, and what may be replaced.

use std::fs;
use std::path::Path;

use super::made::Made;
use super::parameters::{Parameters, made_otherwise};
use crate::error::{At, Error, Kind, Result};
use crate::output;
use crate::results::ResultFormat;

/// The report of the output that is asked for, if it exists at `output`: an output with these parameters and a report `R`. None if
/// nothing exists there, or something that may be replaced. An output made with other
/// parameters is refused unless `may_replace` or `overwrite` allows to replace it. Anything that is not
/// an output of dupsieve is always refused.
pub fn existing<R: Made>(
    output: &Path,
    parameters: &Parameters,
    may_replace: impl FnOnce(&Parameters) -> bool,
    overwrite: bool,
) -> Result<Option<R>> {
    if output.is_symlink() && !output.exists() {
        return Err(output::foreign(output, "a whole output of dupsieve"));
    }
    if !output.exists() {
        return Ok(None);
    }
    let report = R::read(output).and_then(|report| {
        report.as_ref().map_or(Ok(()), |report| report.check_files(output))?;
        Ok(report)
    });
    match report {
        Ok(None) => Err(output::foreign(output, "a whole output of dupsieve")),
        Ok(Some(report)) if *report.parameters() == *parameters => Ok(Some(report)),
        Ok(Some(report)) if overwrite || may_replace(report.parameters()) => {
            refuse_strangers(output, report.files().keys()).map(|()| None)
        }
        Err(_) if overwrite => refuse_strangers(output, [].iter()).map(|()| None),
        Ok(Some(report)) => Err(made_otherwise(output, report.parameters(), parameters)),
        Err(error) => Err(error),
    }
}

/// The files that an output of any version may have, besides those that its report names.
const OURS: [&str; 8] = [
    "_SUCCESS",
    "_UNFINISHED",
    "drop.txt",
    "keep.txt",
    "links.bin",
    "pages.bin",
    "report.html",
    "report.json",
];
/// The tables that an output of any version may have, in any format.
const TABLES: [&str; 10] = [
    "changes", "clusters", "counts", "items", "matches", "passages", "replaced", "sizes", "slack",
    "verdicts",
];

/// Fails if the folder holds a file that dupsieve did not make. Replacing an output removes its whole
/// folder, so that file would be lost.
pub fn refuse_strangers<'a>(
    output: &Path,
    files: impl Iterator<Item = &'a String> + Clone,
) -> Result<()> {
    for entry in fs::read_dir(output).at(output)? {
        let name = entry.at(output)?.file_name();
        let tables =
            ResultFormat::ALL.iter().flat_map(|format| TABLES.map(|it| format.file_name(it)));
        let ours = OURS.iter().any(|ours| name == *ours)
            || tables.into_iter().any(|table| name == *table)
            || files.clone().any(|file| name == **file);
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
    Ok(())
}
