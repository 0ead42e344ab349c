//! The handlers that count in how many documents each feature, or each line, occurs, and that gather the lines of pages for their hosts.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::fingerprinting::naming;
use super::read::Read;
use super::reading::Handler;
use crate::document::{Content, Document, Position, host};
use crate::error::{Error, Kind, Result};
use crate::features::by_hash::{self, ByHash, key};
use crate::features::counts::is_counted;
use crate::features::host_lines::{HostPart, HostRecord, PageLines, name_of};
use crate::features::normalise::Normalise;
use crate::fingerprint::{Boilerplate, PageTime, Recipe, Sketcher};
use crate::runs::record;

/// A feature, and how many documents of a part of the input hold it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Counted {
    pub feature: String,
    pub documents: u64,
}

record!(Counted, feature);

enum Of {
    /// The features that a recipe takes, without its boilerplate.
    Features(Box<Sketcher>, Option<Boilerplate>),
    /// Lines, normalised; the buffer holds one.
    Lines(Normalise, String),
}

pub(super) struct Counting {
    of: Of,
    /// The features of the current document, so that each counts once.
    met: ByHash<u64, ()>,
    batch: HashMap<Box<str>, u64>,
}

impl Counting {
    pub(super) fn new(recipe: &Recipe, lines: bool, time: PageTime) -> Result<Counting> {
        let of = match recipe.normalise().filter(|_| lines) {
            Some(normalise) => Of::Lines(*normalise, String::new()),
            None => {
                let sketcher = recipe.sketcher()?.allow(time);
                Of::Features(Box::new(sketcher), recipe.boilerplate())
            }
        };
        Ok(Counting { of, met: ByHash::default(), batch: HashMap::new() })
    }
}

impl Handler for Counting {
    type Made = Counted;

    fn take(&mut self, _: Position, document: Document<'_>) -> Result<Option<Counted>> {
        let Content::Text(text) = &document.content else {
            return Err(Error::new(Kind::Usage, "only features of text can be counted"));
        };
        let Counting { of, met, batch } = self;
        by_hash::clear(met);
        let mut count = |feature: &str| {
            if is_counted(feature) && met.insert(key(feature), ()).is_none() {
                match batch.get_mut(feature) {
                    Some(documents) => *documents += 1,
                    None => drop(batch.insert(feature.into(), 1)),
                }
            }
        };
        match of {
            Of::Features(sketcher, boilerplate) => {
                let text = match boilerplate {
                    Some(boilerplate) => boilerplate.drop_from(&document.id, text).text,
                    None => text,
                };
                sketcher.each(text, count).map_err(|error| naming(error, &document))?;
            }
            Of::Lines(normalise, line) => {
                for raw in text.lines() {
                    normalise.apply(raw, line);
                    if !line.is_empty() {
                        count(line);
                    }
                }
            }
        }
        Ok(None)
    }

    fn end_batch(&mut self, _read: &mut Read, made: &mut dyn FnMut(Counted)) {
        for (feature, documents) in std::mem::take(&mut self.batch) {
            made(Counted { feature: feature.into(), documents });
        }
    }
}

/// Gathers the pages of a batch by host, and their lines, each once.
pub(super) struct HostCounting {
    normalise: Normalise,
    /// The names of the lines, as a table knows them.
    lines: HashSet<String>,
    without_host: u64,
}

impl HostCounting {
    pub(super) fn new(recipe: &Recipe) -> Result<HostCounting> {
        let normalise = *recipe.normalise().ok_or_else(no_text)?;
        Ok(HostCounting { normalise, lines: HashSet::new(), without_host: 0 })
    }
}

impl Handler for HostCounting {
    type Made = HostRecord;

    fn take(&mut self, _: Position, document: Document<'_>) -> Result<Option<HostRecord>> {
        let Content::Text(text) = &document.content else { return Err(no_text()) };
        let Some(host) = host(&document.id) else {
            self.without_host += 1;
            return Ok(None);
        };
        let page = PageLines::of(text, self.normalise, |line| {
            let name = name_of(&host, line);
            if is_counted(&name) {
                self.lines.insert(name);
            }
        });
        Ok(Some(HostRecord::Of(host.into_owned(), HostPart::Page(page))))
    }

    fn end_batch(&mut self, _read: &mut Read, made: &mut dyn FnMut(HostRecord)) {
        for name in std::mem::take(&mut self.lines) {
            let (host, line) = name.split_once('\t').expect("a name has a host and a line");
            made(HostRecord::Of(host.to_owned(), HostPart::Line(line.to_owned())));
        }
        made(HostRecord::WithoutHost(std::mem::take(&mut self.without_host)));
    }
}

fn no_text() -> Error {
    Error::new(Kind::Usage, "only lines of text can be counted")
}
