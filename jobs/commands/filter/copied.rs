//! What a copy of records holds, and the names that fit it.

use std::path::{Path, PathBuf};

use dupsieve::document::{Fields, Format, Input, Inputs, NewText};
use dupsieve::error::Named;
use dupsieve::output::{PackedUnit, Packing};
use dupsieve::{Error, Kind, Result};

pub(super) fn format(inputs: &Inputs) -> Result<Format> {
    let Some(first) = inputs.files().first() else { return Ok(Format::Jsonl) };
    let copied = of(first.format());
    match inputs.files().iter().find(|file| of(file.format()) != copied) {
        None => Ok(copied),
        Some(other) => {
            Err(Error::new(Kind::Usage, "files of two formats cannot be copied into one file")
                .at(other.path())
                .expected(format_args!("{}, as {}", first.format(), first.path().named()))
                .found(format_args!("it is read as {}", other.format()))
                .help("filter them one after the other"))
        }
    }
}

fn of(format: Format) -> Format {
    match format {
        // A file that is one page becomes a line.
        Format::Text | Format::Html | Format::Json | Format::Vectors => Format::Jsonl,
        Format::Fingerprints | Format::Features => Format::Tsv,
        format => format,
    }
}

pub(super) fn takes_texts(file: &Input, fields: &Fields) -> bool {
    let format = file.format();
    let as_they_are = !fields.html && fields.encoding.is_none();
    let takes = format == Format::Parquet || NewText::of(format, &fields.text, None).is_ok();
    as_they_are && takes
}

/// The name of a copy that has the pages of a file as JSON Lines: page.warc.jsonl.gz of page.warc.gz.
pub(super) fn name_of_pages(name: &Path) -> PathBuf {
    if ending(name).is_some_and(|ending| ending.eq_ignore_ascii_case("jsonl")) {
        return name.to_path_buf();
    }
    match name.extension().filter(|_| Packing::named(name).is_some()) {
        Some(packed) => name.with_extension("jsonl").with_added_extension(packed),
        None => name.with_added_extension("jsonl"),
    }
}

/// What is compressed by itself in the output. Web archives are copied into a web archive.
pub(super) fn unit(format: Format) -> PackedUnit {
    if format == Format::Warc { PackedUnit::Record } else { PackedUnit::File }
}

pub(super) fn check_name(output: &Path, format: Format) -> Result<()> {
    let says = ending(output).and_then(|ending| said_by(&ending.to_lowercase()));
    match says.filter(|&says| says != format) {
        None => Ok(()),
        Some(says) => Err(Error::new(
            Kind::Usage,
            "the name of the output says another format than the file would have",
        )
        .at(output)
        .expected(format_args!("a name such as kept.{}", usual_ending(format)))
        .found(format_args!("a name of {says}, for a copy of {format}"))
        .help("records are copied as they are; choose another name")),
    }
}

fn said_by(ending: &str) -> Option<Format> {
    Some(match ending {
        "jsonl" | "ndjson" | "json" => Format::Jsonl,
        "txt" => Format::Lines,
        "tsv" => Format::Tsv,
        "csv" => Format::Csv,
        "parquet" => Format::Parquet,
        "warc" | "wet" | "wat" | "arc" => Format::Warc,
        "html" | "htm" => Format::Html,
        _ => return None,
    })
}

/// What a name ends with after its last dot, not counting how the file is packed.
fn ending(path: &Path) -> Option<&str> {
    let plain = match Packing::named(path) {
        None => path,
        _ => Path::new(path.file_stem()?),
    };
    plain.extension()?.to_str()
}

fn usual_ending(format: Format) -> &'static str {
    match format {
        Format::Tsv => "tsv",
        Format::Csv => "csv",
        Format::Parquet => "parquet",
        Format::Lines => "txt",
        Format::Warc => "warc.gz",
        _ => "jsonl",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_pages_are_named_as_json_lines() {
        for (name, copy) in [
            ("a/page.html", "a/page.html.jsonl"),
            ("a.b/pages", "a.b/pages.jsonl"),
            ("pages.warc.GZ", "pages.warc.jsonl.GZ"),
            ("pages.jsonl.gz", "pages.jsonl.gz"),
            (".gz", ".gz.jsonl"),
        ] {
            assert_eq!(name_of_pages(Path::new(name)), Path::new(copy));
        }
    }

    #[test]
    fn names_that_say_another_format_are_refused() {
        for (name, format) in [
            ("kept.jsonl", Format::Jsonl),
            ("kept.json.gz", Format::Jsonl),
            ("kept.TSV.zst", Format::Tsv),
            ("KEPT.TSV.ZST", Format::Tsv),
            ("a.wet.gz", Format::Warc),
            ("a.csv.d/kept", Format::Parquet),
            ("kept", Format::Csv),
            ("kept.2026", Format::Csv),
            ("-", Format::Warc),
        ] {
            assert_eq!(check_name(Path::new(name), format), Ok(()), "{name}");
        }
        for (name, format, fits) in [
            ("kept.jsonl", Format::Parquet, "kept.parquet"),
            ("kept.jsonl.gz", Format::Csv, "kept.csv"),
            ("kept.parquet", Format::Jsonl, "kept.jsonl"),
            ("kept.html", Format::Jsonl, "kept.jsonl"),
            ("kept.tsv", Format::Warc, "kept.warc.gz"),
        ] {
            let error = check_name(Path::new(name), format).unwrap_err();
            assert_eq!(error.kind(), Kind::Usage);
            assert!(error.to_string().contains(fits), "{error}");
        }
    }
}
