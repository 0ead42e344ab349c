//! The files of an output: verdicts.tsv, keep.txt, drop.txt and matches.tsv.

use std::io::{self, Write};
use std::iter::Peekable;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::matches::{IdRank, Unlikeness};
use crate::output::{OutputFile, Staging, Sum};
use crate::runs::{Record, SortedRecords};

/// The id of a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Id(pub(super) String);

impl Record for Id {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.0.len()
    }
}

/// Two documents, and how alike they are. Ordered as rows are written: by the new id, by similarity, the
/// greatest first, and by the existing id's bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Row {
    /// The rank of the new document's id.
    pub(super) new: IdRank,
    pub(super) distance: Unlikeness,
    /// The existing document's id.
    pub(super) existing: String,
}

impl Record for Row {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.existing.len()
    }
}

/// What is listed, all of it in the order of ids.
pub(super) struct Listing<E: Iterator<Item = Result<String>>> {
    /// The ids of all documents that were compared.
    pub(super) ids: SortedRecords<Id>,
    /// The ids of those that have nothing to compare.
    pub(super) empties: E,
    /// What each dropped document is dropped for.
    pub(super) verdicts: SortedRecords<Row>,
    /// The rows of matches.tsv.
    pub(super) matches: SortedRecords<Row>,
}

/// The files that are being written.
struct Files {
    verdicts: OutputFile,
    keep: OutputFile,
    drop: OutputFile,
    matches: OutputFile,
    /// How many matches were written.
    count: u64,
}

impl<E: Iterator<Item = Result<String>>> Listing<E> {
    /// Writes all files, and gives the number of matches too.
    pub(super) fn write(self, staging: &Staging) -> Result<([(&'static str, Sum); 4], u64)> {
        let mut files = Files::create(staging)?;
        let mut empties = self.empties.peekable();
        let mut verdicts = self.verdicts.peekable();
        let mut matches = self.matches.peekable();
        for (rank, id) in (0_u32..).zip(self.ids) {
            let (rank, Id(id)) = (IdRank::from(rank), id?);
            while let Some(empty) =
                empties.next_if(|empty| empty.as_ref().map_or(true, |empty| *empty < id))
            {
                files.empty(&empty?)?;
            }
            files.verdict(&id, next_of(rank, &mut verdicts)?.as_ref())?;
            while let Some(row) = next_of(rank, &mut matches)? {
                files.matching(&id, &row)?;
            }
        }
        empties.try_for_each(|empty| files.empty(&empty?))?;
        files.finish()
    }
}

/// The next row, if its new document is the one of this rank.
fn next_of(rank: IdRank, rows: &mut Peekable<SortedRecords<Row>>) -> Result<Option<Row>> {
    rows.next_if(|row| row.as_ref().map_or(true, |row| row.new == rank)).transpose()
}

impl Files {
    fn create(staging: &Staging) -> Result<Files> {
        let mut files = Files {
            verdicts: staging.create("verdicts.tsv")?,
            keep: staging.create("keep.txt")?,
            drop: staging.create("drop.txt")?,
            matches: staging.create("matches.tsv")?,
            count: 0,
        };
        let column = Unlikeness::COLUMN;
        files.verdicts.write(|out| writeln!(out, "id\tverdict\tof\t{column}\tagainst"))?;
        files.matches.write(|out| writeln!(out, "new\texisting\t{column}\tagainst"))?;
        Ok(files)
    }

    fn empty(&mut self, id: &str) -> Result<()> {
        self.verdicts.write(|out| writeln!(out, "{id}\tempty\t\t\t"))
    }

    /// Lists a document as kept, or as dropped because of another one.
    fn verdict(&mut self, id: &str, of: Option<&Row>) -> Result<()> {
        self.verdicts.write(|out| write_verdict(id, of, out))?;
        let listed = if of.is_none() { &mut self.keep } else { &mut self.drop };
        listed.write(|out| writeln!(out, "{id}"))
    }

    fn matching(&mut self, new: &str, Row { existing, distance, .. }: &Row) -> Result<()> {
        self.count += 1;
        self.matches.write(|out| writeln!(out, "{new}\t{existing}\t{distance}\tbatch"))
    }

    fn finish(self) -> Result<([(&'static str, Sum); 4], u64)> {
        let Files { verdicts, keep, drop, matches, count } = self;
        let files = [
            ("verdicts.tsv", verdicts.finish()?),
            ("keep.txt", keep.finish()?),
            ("drop.txt", drop.finish()?),
            ("matches.tsv", matches.finish()?),
        ];
        Ok((files, count))
    }
}

fn write_verdict(id: &str, of: Option<&Row>, out: &mut dyn Write) -> io::Result<()> {
    match of {
        None => writeln!(out, "{id}\tkeep\t\t\t"),
        Some(Row { existing, distance, .. }) => {
            writeln!(out, "{id}\tdrop\t{existing}\t{distance}\tbatch")
        }
    }
}
