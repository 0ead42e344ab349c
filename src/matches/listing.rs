//! The files of an output: verdicts.tsv, keep.txt, drop.txt and matches.tsv.

use std::io::{self, Write};
use std::iter::Peekable;

use super::id::Id;
use super::match_row::MatchRow;
use super::numbers::IdRank;
use crate::error::Result;
use crate::output::{OutputFile, Staging, Sum};
use crate::runs::SortedRecords;

/// A file of the output by its name.
pub(super) type Named = (&'static str, Sum);

/// What is listed, all of it in the order of ids.
pub(super) struct Listing<E: Iterator<Item = Result<String>>> {
    /// The ids of all documents with a fingerprint.
    pub(super) ids: SortedRecords<Id>,
    /// The ids of the empty documents.
    pub(super) empties: E,
    /// The match that the verdict on each dropped document names.
    pub(super) verdicts: SortedRecords<MatchRow>,
    /// The rows of matches.tsv.
    pub(super) matches: SortedRecords<MatchRow>,
    /// Whether they were checked.
    pub(super) checked: bool,
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
    pub(super) fn write(self, staging: &Staging) -> Result<([Named; 4], u64)> {
        let mut files = Files::create(staging, self.checked)?;
        let mut empties = self.empties.peekable();
        let mut verdicts = self.verdicts.peekable();
        let mut matches = self.matches.peekable();
        for (rank, id) in (0_u32..).zip(self.ids) {
            let rank = IdRank::from(rank);
            let id = id?.id;
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
fn next_of(rank: IdRank, rows: &mut Peekable<SortedRecords<MatchRow>>) -> Result<Option<MatchRow>> {
    rows.next_if(|row| row.as_ref().map_or(true, |row| row.new == rank)).transpose()
}

impl Files {
    fn create(staging: &Staging, checked: bool) -> Result<Files> {
        let mut files = Files {
            verdicts: staging.create("verdicts.tsv")?,
            keep: staging.create("keep.txt")?,
            drop: staging.create("drop.txt")?,
            matches: staging.create("matches.tsv")?,
            count: 0,
        };
        files.verdicts.write(|out| out.write_all(b"id\tverdict\tof\tdistance\tagainst\n"))?;
        files.matches.write(|out| out.write_all(MatchRow::header(checked).as_bytes()))?;
        Ok(files)
    }

    fn empty(&mut self, id: &str) -> Result<()> {
        self.verdicts.write(|out| writeln!(out, "{id}\tempty\t\t\t"))
    }

    /// Lists a document as kept, or as dropped because of another one.
    fn verdict(&mut self, id: &str, of: Option<&MatchRow>) -> Result<()> {
        self.verdicts.write(|out| write_verdict(id, of, out))?;
        let listed = if of.is_none() { &mut self.keep } else { &mut self.drop };
        listed.write(|out| writeln!(out, "{id}"))
    }

    fn matching(&mut self, new: &str, row: &MatchRow) -> Result<()> {
        self.count += 1;
        self.matches.write(|out| row.write(new, out))
    }

    fn finish(self) -> Result<([Named; 4], u64)> {
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

fn write_verdict(id: &str, of: Option<&MatchRow>, out: &mut dyn Write) -> io::Result<()> {
    match of {
        None => writeln!(out, "{id}\tkeep\t\t\t"),
        Some(MatchRow { existing, distance, origin, .. }) => {
            writeln!(out, "{id}\tdrop\t{existing}\t{distance}\t{origin}")
        }
    }
}
