//! Pages without the passages that an output of `passages` has found in them.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use dupsieve::rooms::document::{Content, Document};
use dupsieve::rooms::passages::{Cut, PassageRow, PassageRows, RepeatedText};
use dupsieve::rooms::store::Digest;
use dupsieve::{Error, Kind, Result};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::outcome::summary::Summary;

/// What is cut out of pages, and which are dropped.
pub(crate) struct Cutting {
    /// What is cut out of a page; none if pages are copied as they came.
    pub(super) cut: Option<Cut>,
    /// A page of which more is repeated is dropped.
    most: f64,
    /// A digest of what decides what is cut.
    pub(super) made_of: Digest,
    /// The passages of each page, by the XXH3-128 of its id, and whether the page was met.
    passages: HashMap<u128, (Vec<Range<u32>>, bool)>,
    copied: u64,
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
    pub(crate) fn read(output: &Path, cut: Option<Cut>, most: Option<f64>) -> Result<Cutting> {
        let mut passages: HashMap<u128, (Vec<Range<u32>>, bool)> = HashMap::new();
        let most = most.unwrap_or(1.0);
        let mut made_of = Xxh3::new();
        made_of.update(format!("{cut:?} {most}").as_bytes());
        for row in PassageRows::of(output)? {
            let PassageRow { id, begin, end, .. } = row?;
            made_of.update(format!("\n{id}\t{begin}\t{end}").as_bytes());
            passages.entry(xxh3_128(id.as_bytes())).or_default().0.push(begin..end);
        }
        let made_of = Digest(made_of.digest128());
        Ok(Cutting { cut, most, made_of, passages, copied: 0, changed: 0, dropped: 0, words: 0 })
    }

    /// Takes a page.
    ///
    /// # Errors
    /// [`Kind::BadData`] if a page with passages has the id of an earlier one: nothing says which of them the passages are of.
    pub(super) fn take(&mut self, document: &Document<'_>) -> Result<Taken> {
        let Some((places, was_met)) = self.passages.get_mut(&xxh3_128(document.id.as_bytes()))
        else {
            self.copied += 1;
            return Ok(Taken::AsItCame);
        };
        if std::mem::replace(was_met, true) {
            return Err(Error::new(Kind::BadData, "an id stands for two pages, one with passages")
                .found(&document.id)
                .help("add --place-ids all --overwrite: then each page has its place as its id"));
        }
        let Content::Text(text) = &document.content else { return Ok(Taken::AsItCame) };
        let places: Vec<_> = places.iter().map(|it| it.start as usize..it.end as usize).collect();
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

    pub(super) fn copied(&self) -> u64 {
        self.copied
    }

    pub(super) fn count(&self, summary: Summary) -> Summary {
        summary
            .count("pages_cut", self.changed)
            .count("words_cut", self.words)
            .count("pages_dropped", self.dropped)
    }
}
