//! The handler that counts in how many documents each feature, or each line, occurs.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::fingerprinting::naming;
use super::read::Read;
use super::reading::Handler;
use crate::document::{Content, Document, Position};
use crate::error::{Error, Kind, Result};
use crate::features::by_hash::{self, ByHash, key};
use crate::features::counts::is_counted;
use crate::features::normalise::Normalise;
use crate::fingerprint::{Boilerplate, PageTime, Recipe, Sketcher};
use crate::runs::Record;

/// A feature, and how many documents of a part of the input hold it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Counted {
    pub feature: String,
    pub documents: u64,
}

impl Record for Counted {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.feature.len()
    }
}

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
