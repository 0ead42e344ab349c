//! What a format gives: a [`Cutter`] takes whole records from a file, and any thread parses their [`Portion`]s.

use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;

use super::fields::{Fields, PlaceIds};
use super::reason::Reason;
use super::record::{Document, Position};
use super::skipped::Skipped;
use super::source::{Damage, Source};
use crate::error::Result;

/// Takes the records of one file in order. Nothing else of reading must happen in order, so it does little.
pub(super) trait Cutter {
    /// The next records; `None` at the end. Which records a portion has depends on the file alone, since
    /// processes divide a file by the numbers of its portions.
    fn next(&mut self) -> Result<Option<Box<dyn Portion>>>;

    /// What it is read from, if that is read from its beginning to its end.
    fn source(&self) -> Option<&Source<'_>>;

    fn damage(&self) -> Option<Damage> {
        self.source()?.damage()
    }
}

pub(super) trait Portion: Debug + Send {
    fn parse<'a>(&'a self, fields: &Fields, each: Each<'_, 'a>) -> Passed;

    fn header(&self) -> Option<&[u8]> {
        None
    }

    fn raw<'a>(&'a self, _each: Raw<'_, 'a>) {}
}

pub(super) type Raw<'e, 'a> = &'e mut dyn FnMut(Position, &'a [u8]);

pub(super) type Each<'e, 'a> = &'e mut dyn FnMut(Position, Result<Document<'a>, Reason>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    pub blank: u64,
    pub skipped: Skipped,
}

/// Some records of the input as bytes: whole records of one file, several whole files, or one record
/// that cannot be read. It is made to be sent to another thread.
#[derive(Debug)]
pub struct Records {
    /// 0, 1, 2, ... in the order in which one reader delivers them. Positions rise with it.
    pub sequence: u64,
    pub(super) portion: Box<dyn Portion>,
    pub(super) place: Option<Arc<str>>,
}

impl Records {
    /// Parses the records in order and calls `each` with every one, or with the reason why it cannot be
    /// read. Returns what was passed over because it is no record of a page.
    ///
    /// `fields` are those with which they were read.
    pub fn parse<'a>(&'a self, fields: &Fields, each: Each<'_, 'a>) -> Passed {
        let Some(file) = self.place.as_deref() else { return self.portion.parse(fields, each) };
        self.portion.parse(fields, &mut |position, document| {
            each(position, document.map(|it| placed(it, fields.place_ids, file, position)));
        })
    }

    /// What stands before all records: the line with the names of the columns, or the first record of an ARC file.
    pub fn header(&self) -> Option<&[u8]> {
        self.portion.header()
    }

    /// Calls `each` with the bytes of each record of JSON Lines, TSV or CSV, in order and without its end: also of
    /// blank lines and of records that cannot be read, but not of one that is too long or has no end.
    pub fn raw<'a>(&'a self, each: Raw<'_, 'a>) {
        self.portion.raw(each);
    }
}

/// The document with the place of its record as the id, if the record is one of those that get it. A document that is a whole file
/// has the path of the file as its id.
fn placed<'a>(
    document: Document<'a>,
    which: PlaceIds,
    file: &str,
    position: Position,
) -> Document<'a> {
    if position.is_file() || which == PlaceIds::Missing && !document.id.is_empty() {
        return document;
    }
    Document { id: Cow::Owned(format!("{file}:{}", position.line)), ..document }
}

#[derive(Debug)]
pub(super) struct Unread(pub(super) Position, pub(super) Reason);

impl Portion for Unread {
    fn parse<'a>(&'a self, _: &Fields, each: Each<'_, 'a>) -> Passed {
        each(self.0, Err(self.1.clone()));
        Passed::default()
    }
}
