//! What a file holds, asked for by name or told by the file's name.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::error::{Error, Kind, Result};

/// What an input file holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// For each file what its name says, less `.gz` or `.zst`: `.jsonl`, `.ndjson` and `.json` are
    /// JSON lines, `.tsv` is TSV, `.txt` and names without an extension are text, and so is anything
    /// else in a folder; standard input is JSON lines.
    #[default]
    Auto,
    /// One JSON object a line.
    Jsonl,
    /// Each file is one document, its path the id.
    Text,
    /// Tab-separated columns named by a header line, literal: no quoting, nothing trimmed.
    Tsv,
    /// `id<TAB>fingerprint` a line, decimal or 0x hex.
    Fingerprints,
    /// `id<TAB>feature:weight feature:weight ...` a line; the last colon divides.
    Features,
}

impl Format {
    /// Every format, in the order in which they are offered.
    pub const ALL: [Format; 6] = [
        Format::Auto,
        Format::Jsonl,
        Format::Text,
        Format::Tsv,
        Format::Fingerprints,
        Format::Features,
    ];

    /// The name by which it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Format::Auto => "auto",
            Format::Jsonl => "jsonl",
            Format::Text => "text",
            Format::Tsv => "tsv",
            Format::Fingerprints => "fingerprints",
            Format::Features => "features",
        }
    }

    /// The format of a file found below a folder; `None` where it is not one of those asked for.
    pub(super) fn in_folder(self, path: &Path) -> Option<Format> {
        let extension = extension(path);
        let fits = |all: &[&str]| all.contains(&extension.as_str());
        match self {
            Format::Auto => Some(Format::of_name(path).unwrap_or(Format::Text)),
            Format::Text => Some(Format::Text),
            Format::Jsonl | Format::Tsv => (Format::of_name(path) == Some(self)).then_some(self),
            Format::Fingerprints | Format::Features => fits(&["tsv", "txt"]).then_some(self),
        }
    }

    /// The format of a file named by itself; [`Kind::Usage`] where only its name could tell and does
    /// not.
    pub(super) fn alone(self, path: &Path) -> Result<Format> {
        match self {
            Format::Auto => Format::of_name(path).ok_or_else(|| {
                Error::new(Kind::Usage, "the file's name does not tell its format")
                    .at(path)
                    .help("name the format (--format)")
            }),
            named => Ok(named),
        }
    }

    /// What the name of a file says.
    fn of_name(path: &Path) -> Option<Format> {
        match extension(path).as_str() {
            "jsonl" | "ndjson" | "json" => Some(Format::Jsonl),
            "tsv" => Some(Format::Tsv),
            "txt" | "" => Some(Format::Text),
            _ => None,
        }
    }
}

/// The extension of `path` under that of a packed file, in lower case; empty where there is none.
fn extension(path: &Path) -> String {
    let lower = |path: &Path| path.extension().unwrap_or_default().to_ascii_lowercase();
    let mut extension = lower(path);
    if extension == "gz" || extension == "zst" {
        extension = lower(Path::new(path.file_stem().unwrap_or_default()));
    }
    extension.to_string_lossy().into_owned()
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            let names = Format::ALL.map(Format::name).join(", ");
            Error::new(Kind::Usage, "no such input format").expected(names).found(name)
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_known_by_name() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
        }
        let error = "csv".parse::<Format>().unwrap_err();
        assert_eq!(error.kind(), Kind::Usage);
        assert!(error.to_string().contains("jsonl, text, tsv"), "{error}");
    }

    #[test]
    fn a_name_tells_the_format_under_its_packing() {
        let of = |name: &str| Format::Auto.alone(Path::new(name)).ok();
        for name in ["a.jsonl", "a.ndjson.gz", "x/a.json.zst", "A.JSONL.GZ"] {
            assert_eq!(of(name), Some(Format::Jsonl), "{name}");
        }
        assert_eq!(of("a.tsv.zst"), Some(Format::Tsv));
        for name in ["a.txt", "copyright", "changelog.gz", "b.d/readme"] {
            assert_eq!(of(name), Some(Format::Text), "{name}");
        }
        assert_eq!(of("a.parquet"), None);
        assert_eq!(Format::Features.alone(Path::new("a.parquet")).unwrap(), Format::Features);
    }

    #[test]
    fn a_folder_gives_the_files_that_fit() {
        let fits = |format: Format, name: &str| format.in_folder(Path::new(name));
        assert_eq!(fits(Format::Auto, "a.html"), Some(Format::Text));
        assert_eq!(fits(Format::Auto, "a.tsv"), Some(Format::Tsv));
        assert_eq!(fits(Format::Text, "a.jsonl"), Some(Format::Text));
        assert_eq!(fits(Format::Jsonl, "a.json.gz"), Some(Format::Jsonl));
        assert_eq!(fits(Format::Jsonl, "a.tsv"), None);
        assert_eq!(fits(Format::Tsv, "_SUCCESS"), None);
        assert_eq!(fits(Format::Fingerprints, "a.txt"), Some(Format::Fingerprints));
        assert_eq!(fits(Format::Features, "a.jsonl"), None);
    }
}
