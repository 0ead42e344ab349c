//! The format of an input file: named by the user, or recognized by its first bytes and its name.

use std::path::Path;

use super::html;
use super::record::MARK;
use crate::error::{Error, Kind, Result, named};
use crate::output::Packing;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Recognized file by file. JSON lines are recognized by their first bytes, whatever the name.
    /// Otherwise the extension decides, without a final `.gz`, `.zst`, `.bz2` or `.xz`: `.jsonl` and `.ndjson` are JSON
    /// lines, `.json` is other JSON, `.tsv` is TSV, `.csv` is CSV, `.txt` and no extension are text. In a folder, other extensions are text
    /// too. Web archives, Parquet and HTML are recognized by their first bytes, or by their names. Others
    /// that cannot be read are refused. A stream is JSON lines unless its name says otherwise.
    #[default]
    Auto,
    /// One JSON object a line.
    Jsonl,
    /// JSON objects in an array, or one after another, each over any number of lines.
    Json,
    /// Each file is one document; its path is the id.
    Text,
    /// Each line is one document; its place is the id.
    Lines,
    /// Each file is one page of HTML; its path is the id.
    Html,
    /// Tab-separated columns with a header line. Values are taken literally: no quotes, no trimming.
    Tsv,
    /// Comma-separated values with a header line, as in RFC 4180.
    Csv,
    /// A web archive: WARC, WET or ARC.
    Warc,
    /// Columns in row groups: Apache Parquet. Read with the feature `parquet`, which is on by default.
    Parquet,
    /// `id<TAB>fingerprint` a line, decimal or 0x hex.
    Fingerprints,
    /// `id<TAB>feature:weight feature:weight ...` a line. The last colon separates the weight.
    Features,
    /// One JSON object a line, with an array of numbers in place of the text; or Parquet with lists of numbers.
    Vectors,
}

named!(pub Format {
    Auto = "auto",
    Jsonl = "jsonl",
    Json = "json",
    Text = "text",
    Lines = "lines",
    Html = "html",
    Tsv = "tsv",
    Csv = "csv",
    Warc = "warc",
    Parquet = "parquet",
    Fingerprints = "fingerprints",
    Features = "features",
    Vectors = "vectors",
} or "no such input format");

/// Reads the first bytes of a file, where its name does not tell its format.
type FirstBytes<'h> = &'h dyn Fn() -> Result<Vec<u8>>;

impl Format {
    pub fn has_fields(self) -> bool {
        !matches!(self, Format::Auto | Format::Lines | Format::Fingerprints | Format::Features)
            && !self.is_whole_file()
    }

    pub fn has_text_field(self) -> bool {
        self.has_fields() && self != Format::Warc
    }

    pub fn has_texts(self) -> bool {
        !matches!(self, Format::Fingerprints | Format::Features | Format::Vectors)
    }

    pub fn is_whole_file(self) -> bool {
        matches!(self, Format::Text | Format::Html)
    }

    pub(super) fn in_folder(self, path: &Path, head: FirstBytes<'_>) -> Result<Option<Format>> {
        let fits = |all: &[&str]| all.contains(&extension(path).as_str());
        Ok(match self {
            Format::Text | Format::Lines => Some(self),
            Format::Tsv | Format::Csv => fits(&[self.name()]).then_some(self),
            Format::Fingerprints | Format::Features => fits(&["tsv", "txt"]).then_some(self),
            _ => match (self, Recognized::of(path, head)?) {
                (Format::Auto, Recognized::Format(format)) => Some(format),
                (Format::Auto, Recognized::Unknown) => Some(Format::Text),
                (Format::Auto, Recognized::NotRead(what)) => return Err(not_read(path, what)),
                (Format::Vectors | Format::Json, Recognized::Format(Format::Jsonl)) => Some(self),
                (Format::Vectors, found) if found.is_columns() => Some(found.read(path)?),
                (_, Recognized::Format(format)) if format == self => Some(self),
                _ => None,
            },
        })
    }

    pub(super) fn alone(self, path: &Path, head: FirstBytes<'_>) -> Result<Format> {
        if !matches!(self, Format::Auto | Format::Vectors) {
            return Ok(self);
        }
        let found = Recognized::of(path, head)?;
        if self == Format::Auto || found.is_columns() { found.read(path) } else { Ok(self) }
    }

    /// The format of a stream. A stream can be read only once, so only its name counts.
    pub(super) fn of_stream(self, path: &Path) -> Format {
        match Recognized::of_name(&extension(path), b"") {
            _ if self != Format::Auto => self,
            Recognized::Format(format) if format != Format::Text => format,
            _ => Format::Jsonl,
        }
    }

    /// The format of a stream that is kept, so that its first bytes can be looked at. What these do not show is taken for JSON Lines, as of
    /// other streams, and never for one page.
    pub(super) fn of_kept_stream(self, path: &Path, head: FirstBytes<'_>) -> Result<Format> {
        if self != Format::Auto {
            return self.alone(path, head);
        }
        Ok(match Recognized::of(path, head)? {
            Recognized::Format(format) if !format.is_whole_file() => format,
            _ => Format::Jsonl,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recognized {
    Format(Format),
    OtherJson,
    NotRead(&'static str),
    Unknown,
}

const PARQUET: Recognized = match cfg!(feature = "parquet") {
    true => Recognized::Format(Format::Parquet),
    false => Recognized::NotRead("Parquet, which needs a build with the feature `parquet`"),
};

const NOT_READ: [(&str, &[&str]); 6] = [
    ("Arrow, which its programs write as Parquet too", &["arrow", "arrows", "feather", "ipc"]),
    ("an Avro or ORC file", &["avro", "orc"]),
    ("a spreadsheet", &["xls", "xlsx", "ods"]),
    ("PDF", &["pdf"]),
    ("an unsupported compression", &["lz4", "br", "lzma", "snappy", "z"]),
    ("an archive", &["zip", "tar", "tgz", "7z", "rar"]),
];

impl Recognized {
    fn of(path: &Path, head: FirstBytes<'_>) -> Result<Recognized> {
        let extension = extension(path);
        if ["jsonl", "ndjson"].contains(&extension.as_str()) {
            return Ok(Recognized::Format(Format::Jsonl));
        }
        let head = head()?;
        let head = head.strip_prefix(MARK).unwrap_or(&head).trim_ascii_start();
        if extension == "json" && goes_on(head) {
            return Ok(Recognized::Format(Format::Json));
        }
        Ok(Recognized::of_head(head).unwrap_or_else(|| Recognized::of_name(&extension, head)))
    }

    fn is_columns(self) -> bool {
        self == PARQUET
    }

    fn read(self, path: &Path) -> Result<Format> {
        match self {
            Recognized::Format(format) => Ok(format),
            Recognized::OtherJson => Err(Error::new(Kind::Usage, "this file of JSON has no pages")
                .at(path)
                .expected("objects: one on each line, in an array, or one after another")
                .help("leave the file out, or name another format")
                .setting("format")),
            Recognized::NotRead(what) => Err(not_read(path, what)),
            Recognized::Unknown => {
                let what = "the format cannot be recognized by the file's name or first bytes";
                let error = Error::new(Kind::Usage, what).at(path).help("name the format");
                Err(error.setting("format"))
            }
        }
    }

    fn of_head(head: &[u8]) -> Option<Recognized> {
        if opens_json_lines(head) {
            Some(Recognized::Format(Format::Jsonl))
        } else if head.starts_with(b"WARC/") || head.starts_with(b"filedesc://") {
            Some(Recognized::Format(Format::Warc))
        } else if head.starts_with(b"PAR1") {
            Some(PARQUET)
        } else if html::begins(head) {
            Some(Recognized::Format(Format::Html))
        } else {
            None
        }
    }

    fn of_name(extension: &str, head: &[u8]) -> Recognized {
        match extension {
            "json" if head.is_empty() => Recognized::Format(Format::Jsonl),
            "json" if opens_objects(head) => Recognized::Format(Format::Json),
            "json" => Recognized::OtherJson,
            "tsv" => Recognized::Format(Format::Tsv),
            "csv" => Recognized::Format(Format::Csv),
            "html" | "htm" | "xhtml" => Recognized::Format(Format::Html),
            "warc" | "wet" | "wat" | "arc" => Recognized::Format(Format::Warc),
            "parquet" => PARQUET,
            "txt" | "" => Recognized::Format(Format::Text),
            _ => {
                let known = NOT_READ.iter().find(|(_, names)| names.contains(&extension));
                known.map_or(Recognized::Unknown, |(what, _)| Recognized::NotRead(what))
            }
        }
    }
}

fn goes_on(head: &[u8]) -> bool {
    let line = head.split(|&byte| byte == b'\n').next().filter(|line| line.len() < head.len());
    head.starts_with(b"{") && line.is_some_and(|line| !line.trim_ascii_end().ends_with(b"}"))
}

fn opens_objects(head: &[u8]) -> bool {
    match head.strip_prefix(b"[").map(<[u8]>::trim_ascii_start) {
        Some(array) => matches!(array, [] | [b'{' | b']', ..]),
        None => head.starts_with(b"{"),
    }
}

/// Whether the first object has its first key, or its end, on its first line: so there is one on each line.
fn opens_json_lines(head: &[u8]) -> bool {
    let Some(rest) = head.strip_prefix(b"{") else { return false };
    let next = rest.iter().find(|&&byte| byte != b' ' && byte != b'\t');
    matches!(next, Some(b'"' | b'}'))
}

fn not_read(path: &Path, what: &str) -> Error {
    Error::new(Kind::Usage, "dupsieve cannot read the format of this file").called("unknown-format")
        .at(path)
        .expected("JSON, TSV, CSV, WARC, HTML or text, plain or compressed as .gz, .zst, .bz2 or .xz; or Parquet")
        .found(what)
        .help("convert the file or leave it out; the format text would read each whole file as one page of text")
        .setting("format")
}

fn extension(path: &Path) -> String {
    let lower = |path: &Path| path.extension().unwrap_or_default().to_ascii_lowercase();
    let mut extension = lower(path);
    if Packing::named(path).is_some() {
        extension = lower(Path::new(path.file_stem().unwrap_or_default()));
    }
    extension.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line of the table: the format that is asked for, names, beginnings, what such a file alone is taken for, what one in a folder is,
    /// and what a stream of the name is. `-` stands for a file that does not fit, `!` for one that is refused.
    #[test]
    fn formats_are_told_by_the_first_bytes_and_the_name_under_its_packing() {
        for line in include_str!("format.tsv").lines() {
            let cells: Vec<&str> = line.split('\t').collect();
            let [asked, names, heads, alone, in_folder, stream] = cells[..] else {
                panic!("{line}")
            };
            let asked: Format = asked.parse().unwrap();
            for (name, head) in
                names.split(' ').flat_map(|name| heads.split('|').map(move |head| (name, head)))
            {
                let head = head.replace('␤', "\n").replace('␉', "\t").replace('␂', "\u{feff}");
                let told = |found: Result<Option<Format>>| match found {
                    Ok(format) => format.map_or("-", Format::name),
                    Err(error) => {
                        assert!(error.kind() == Kind::Usage && error.to_string().contains(name));
                        "!"
                    }
                };
                let path = Path::new(name);
                let read = || Ok(head.clone().into_bytes());
                let found = [
                    told(asked.alone(path, &read).map(Some)),
                    told(asked.in_folder(path, &read)),
                    asked.of_stream(path).name(),
                ];
                assert_eq!(found, [alone, in_folder, stream], "{asked}: {name} {head:?}");
            }
        }
    }
}
