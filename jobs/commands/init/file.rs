//! The configuration file that is proposed, with the reasons in comments.

use std::fmt::Write;

use dupsieve::rooms::document::{Fields, Format, PlaceIds};
use dupsieve::rooms::join::Preset;
use toml::Value;

use super::layout::{self, Layout};
use super::pages::Pages;

/// The most patterns that are listed as left out.
const MOST_PATTERNS: usize = 31;

/// What the file says of pages without days.
const CORPUS: &str = "# No path names a day, so the files are one corpus, which `dupsieve dedup --config FILE --input PATH...` reads.\n\
    # `run` needs `inputs`, `output` and [store] too: give each day a folder of its own, and call `dupsieve init` for these.\n\n";
const STORE: &str = "# What of a day enters the store: \"kept\" (pages that are no near-duplicates) or \"all\".\nadd = \"kept\"\n\n\
    [store]\n# The fingerprints of all days. The first run creates it.\npath = \"store\"\n\
    # keep_versions = 60     # without this line every version stays, and so do the files it needs\n\n";

pub(super) struct Seen<'a> {
    pub(super) given: Vec<String>,
    /// How the days lie in folders, if they do.
    pub(super) layout: Option<Layout>,
    pub(super) fields: Fields,
    pub(super) has_fields: bool,
    /// Whether the pages have times: in a field, or because they are web archives.
    pub(super) has_times: bool,
    /// The format, if `auto` does not tell it.
    pub(super) format: Option<Format>,
    pub(super) pages: Option<&'a Pages>,
}

impl Seen<'_> {
    /// Nothing was seen: an example to be filled in.
    pub(super) fn nothing() -> Seen<'static> {
        Seen {
            given: vec!["crawl/{date}/*.jsonl.zst".to_owned()],
            layout: None,
            fields: Fields::default(),
            has_fields: true,
            has_times: false,
            format: None,
            pages: None,
        }
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::from(
            "# A configuration of dupsieve. A key that dupsieve does not know stops it, so a typing error cannot go unnoticed.\n\
             # `dupsieve help run` explains it; `dupsieve schema` writes a schema for editors.\n\n",
        );
        if self.is_corpus() {
            text += CORPUS;
            self.preset(&mut text);
        } else {
            self.inputs(&mut text);
            text += "# One folder for each day, made when the day is done.\noutput = \"out/{date}\"\n\n";
            self.preset(&mut text);
            text += STORE;
        }
        self.fingerprint(&mut text);
        let keep = if self.has_times {
            "[dedup]\nkeep = \"oldest\"          # of near pages of one day and about one length, the one fetched first\n"
        } else {
            "[dedup]\nkeep = \"first-id\"        # of near pages of one day and about one length, the one whose id comes first\n"
        };
        text += keep;
        text
    }

    /// Whether the pages are one corpus: no path names a day.
    pub(super) fn is_corpus(&self) -> bool {
        self.pages.is_some() && self.layout.is_none()
    }

    fn inputs(&self, text: &mut String) {
        text.push_str("# The pages of a day. {date} becomes the day, such as 2026-11-21; so do {year}, {month} and {day}.\n");
        match &self.layout {
            Some(layout) => {
                if !layout.left_out.is_empty() {
                    text.push_str("# Not all of the days below have files of these patterns: a configuration of their own would read them.\n");
                    for pattern in layout.left_out.iter().take(MOST_PATTERNS) {
                        let _ = writeln!(text, "# {}", Value::from(pattern.clone()));
                    }
                }
                line(text, "inputs", list(layout.patterns.iter().cloned()));
                text.push_str("# The days that were found. Take the line out, and `--date` says which day is run.\n");
                line(text, "dates", list(layout::ranges(&layout.days).into_iter()));
            }
            None => line(text, "inputs", list(self.given.iter().cloned())),
        }
        text.push('\n');
    }

    fn preset(&self, text: &mut String) {
        text.push_str(
            "# Which pages are dropped: \"balanced\" drops a page if a kept page contains nine tenths of it, \"paper\" if their\n\
             # fingerprints differ in at most 3 bits. A store has one preset.\n",
        );
        if let Some(pages) = self.pages {
            let near: Vec<String> =
                pages.near.iter().map(|(preset, count)| format!("{count} by {preset}")).collect();
            let _ = writeln!(
                text,
                "# Near to an earlier one in a sample of {} pages: {}.",
                pages.pages.len(),
                near.join(", ")
            );
        }
        line(text, "preset", Value::from(Preset::default().to_string()));
        text.push('\n');
    }

    fn fingerprint(&self, text: &mut String) {
        text.push_str("[fingerprint]\n");
        if let Some(format) = self.format {
            line(text, "format", Value::from(format.to_string()));
        }
        if self.has_fields {
            if self.fields.place_ids == PlaceIds::All {
                text.push_str("# No field can be the id, which all records have and which differs within a day: each record gets FILE:RECORD as its id.\n");
                line(text, "place_ids", Value::from(PlaceIds::All.name()));
            } else {
                line(text, "id_field", Value::from(self.fields.id.clone()));
            }
            line(text, "text_field", Value::from(self.fields.text.clone()));
            match &self.fields.order {
                Some(time) => line(text, "time_field", Value::from(time.name.clone())),
                None => text.push_str("# time_field = \"fetched\" # with it the page fetched first can be the one that is kept\n"),
            }
            if self.fields.html {
                text.push_str("# The text field holds HTML.\nhtml = true\n");
            }
            if let Some(encoding) = self.fields.encoding {
                text.push_str("# The first bytes that are not UTF-8 look like this.\n");
                line(text, "encoding", Value::from(encoding.to_string()));
            }
        }
        let percent = self.pages.map_or(1, Pages::max_bad_percent);
        if percent > 1 {
            let _ = writeln!(
                text,
                "# Of a sample, {} could not be read. Look at them: a run lists them in quarantine.tsv.",
                self.pages.map_or_else(String::new, Pages::bad_of_all)
            );
        }
        line(text, "max_bad", Value::from(format!("{percent}%")));
        text.truncate(text.trim_end().len());
        text.push_str("           # more unreadable records than this fail the day (exit 65)\n");
        if self.pages.is_some_and(|it| it.pages.iter().all(|page| page.id.contains("://"))) {
            text.push_str("# key = \"surt\"           # verdicts say of each address whether it is new, unchanged or changed\n");
        }
        text.push('\n');
    }
}

fn line(text: &mut String, key: &str, value: Value) {
    let _ = writeln!(text, "{key} = {value}");
}

fn list(texts: impl Iterator<Item = String>) -> Value {
    Value::from(texts.collect::<Vec<String>>())
}
