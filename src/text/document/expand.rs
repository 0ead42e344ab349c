//! Expands the arguments of `--input` into files: a file, a folder, a pattern, `-`, or an address in an object store.
//!
//! Links are followed, and a folder is walked once however many links lead to it. So a loop of links
//! ends, and no page is read twice. The order is not that in which the file system lists names.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use glob::Pattern;

use super::format::Format;
use super::inputs::{Input, Inputs};
use super::source::head;
use super::standard_input;
use crate::error::{Error, Kind, Result};
use crate::object_storage::Address;
use found::FoundFiles;

mod found;
mod objects;

impl Inputs {
    /// Expands the arguments into files. An argument is the path of a file; a folder, which stands for
    /// all files below it; a pattern as in a shell, with `**` for any number of folders; or `-` for
    /// standard input. An argument that is the path of an existing file or folder is never a pattern. All of it can be at an
    /// address in an object store too, where the objects below an address are its folder. What stands before `/./` in a path is no part of how its
    /// files are named.
    ///
    /// Files in folders that do not fit the format are not read; [`Inputs::passed_over`] counts them. Nor are files and folders there whose
    /// names begin with a dot or `_`, unless they are named.
    pub fn find(arguments: &[PathBuf], format: Format) -> Result<Inputs> {
        Inputs::find_without(arguments, format, &[])
    }

    /// The same, without the files that a pattern of `exclude` fits: their names, or if it has a slash their paths below the folder.
    pub fn find_without(
        arguments: &[PathBuf],
        format: Format,
        exclude: &[Pattern],
    ) -> Result<Inputs> {
        let mut inputs = Inputs::default();
        for argument in arguments {
            expand(argument, format, exclude, &mut inputs)?;
        }
        if u32::try_from(inputs.files.len()).is_err() {
            return Err(Error::new(Kind::Usage, "too many input files")
                .expected(format_args!("at most {}", u32::MAX))
                .found(inputs.files.len()));
        }
        inputs.tell_apart();
        Ok(inputs)
    }
}

fn expand(argument: &Path, format: Format, exclude: &[Pattern], inputs: &mut Inputs) -> Result<()> {
    if argument == "-" {
        let format = match standard_input::is_kept() {
            true => format.of_kept_stream(argument, &|| head(standard_input::open(), argument))?,
            false => format.of_stream(argument),
        };
        inputs.files.push(Input::standard(format));
        return Ok(());
    }
    let local = Address::local(argument);
    let argument = local.as_deref().unwrap_or(argument);
    let base = argument.to_string_lossy().split_once("/./").map(|(base, _)| base.into());
    let mut found = FoundFiles { format, exclude, base, ..FoundFiles::default() };
    let address = Address::of(argument)?;
    match fs::metadata(argument) {
        _ if address.is_some() => address.iter().try_for_each(|it| found.address(it))?,
        Ok(metadata) if metadata.is_dir() => found.folder(argument, argument)?,
        Ok(metadata) => found.file(argument, &metadata)?,
        Err(cause) if cause.kind() == ErrorKind::NotFound => found.matches(argument)?,
        Err(cause) => return Err(Error::io(argument, &cause)),
    }
    let mut found = found.inputs;
    if found.files.is_empty() && found.passed_over.count() > 0 {
        return Err(Error::new(Kind::Missing, "no file in this folder has the format")
            .at(argument)
            .expected(format)
            .found(format_args!("other files, {}", found.passed_over))
            .help("name the files, or another format")
            .setting("format"));
    }
    found.files.sort_by(|a, b| bytes(a.path()).cmp(bytes(b.path())));
    found.files.dedup_by(|a, b| a.path() == b.path());
    inputs.files.append(&mut found.files);
    inputs.walked.extend(found.walked);
    inputs.prefixes.append(&mut found.prefixes);
    inputs.passed_over.add(found.passed_over);
    Ok(())
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

#[cfg(test)]
mod tests;
