//! Pages without the passages that an output of `passages` has found in them.

use std::path::Path;

use dupsieve::document::{Content, Document};
use dupsieve::output::parent_of;
use dupsieve::passages::{Cut, PassageRow, PassageRows, PassagesByPage, RepeatedText};
use dupsieve::store::Digest;
use dupsieve::{Error, Kind, Result};
use roaring::RoaringTreemap;
use xxhash_rust::xxh3::Xxh3;

use crate::outcome::Summary;

pub(crate) struct Cutting {
    /// What is cut out of a page; none if pages are copied as they came.
    pub(super) cut: Option<Cut>,
    /// A page of which more is repeated is dropped.
    most: f64,
    pub(super) made_of: Digest,
    passages: PassagesByPage,
    /// The first passage of each page that was met.
    met: RoaringTreemap,
    pub(super) copied: u64,
    changed: u64,
    dropped: u64,
    words: u64,
}

pub(super) enum Taken {
    AsItCame,
    Cut(String),
    Dropped,
}

impl Cutting {
    /// By the passages of this output. Of a page with more than `most` of its words in passages nothing is copied.
    pub(crate) fn read(
        output: &Path,
        cut: Option<Cut>,
        most: Option<f64>,
        memory_bytes: usize,
    ) -> Result<Cutting> {
        let most = most.unwrap_or(1.0);
        let mut made_of = Xxh3::new();
        made_of.update(format!("{cut:?} {most}").as_bytes());
        let rows = PassageRows::of(output)?.inspect(|row| {
            if let Ok(PassageRow { id, begin, end, .. }) = row {
                made_of.update(format!("\n{id}\t{begin}\t{end}").as_bytes());
            }
        });
        let passages = PassagesByPage::of(rows, parent_of(output), memory_bytes)?;
        let (made_of, met) = (Digest(made_of.digest128()), RoaringTreemap::new());
        Ok(Cutting {
            cut,
            most,
            made_of,
            passages,
            met,
            copied: 0,
            changed: 0,
            dropped: 0,
            words: 0,
        })
    }

    pub(super) fn take(&mut self, document: &Document<'_>) -> Result<Taken> {
        let Some((first, places)) = self.passages.of_page(&document.id)? else {
            self.copied += 1;
            return Ok(Taken::AsItCame);
        };
        if !self.met.insert(first) {
            return Err(Error::new(Kind::BadData, "an id stands for two pages, one with passages")
                .found(&document.id)
                .help("add --place-ids all --overwrite: then each page has its place as its id"));
        }
        let Content::Text(text) = &document.content else { return Ok(Taken::AsItCame) };
        let repeated = RepeatedText::new(text, &places);
        if repeated.repeated() as f64 > self.most * repeated.words() as f64 {
            self.dropped += 1;
            return Ok(Taken::Dropped);
        }
        self.copied += 1;
        let Some(cut) = self.cut else { return Ok(Taken::AsItCame) };
        let (text, words) = repeated.without(cut);
        if words == 0 {
            return Ok(Taken::AsItCame);
        }
        self.changed += 1;
        self.words += words as u64;
        Ok(Taken::Cut(text))
    }

    pub(super) fn count(&self, summary: Summary) -> Summary {
        summary
            .count("pages_cut", self.changed)
            .count("words_cut", self.words)
            .count("pages_dropped", self.dropped)
    }
}
