//! The files of an output: verdicts.tsv, keep.txt, drop.txt and matches.tsv.

use std::io::{self, Write};

use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::matches::expand::Held;
use crate::matches::{Against, Batch, Row};
use crate::output::{Staging, Sum};
use crate::runs::{Sorted, Sorter};

/// What is said of one document of the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict<'a> {
    /// It is kept.
    Keep,
    /// It is a copy of a page of the store, at this distance.
    Held(&'a Held, u8),
    /// It is a copy of this row of the batch, which is kept, at this distance.
    Copy(u32, u8),
}

/// A file of the output by its name.
pub(super) type Named = (&'static str, Sum);

/// Writes verdicts.tsv, keep.txt and drop.txt in the order of ids, `empties` (sorted) among them.
pub(super) fn write_verdicts<'a, F: Fingerprint>(
    batch: &Batch<F>,
    empties: impl Iterator<Item = Result<String>>,
    verdict: impl Fn(u32) -> Verdict<'a>,
    staging: &Staging,
) -> Result<[Named; 3]> {
    let mut verdicts = staging.create("verdicts.tsv")?;
    let mut keep = staging.create("keep.txt")?;
    let mut drop = staging.create("drop.txt")?;
    verdicts.write(|out| out.write_all(b"id\tverdict\tof\tdistance\tagainst\n"))?;
    let mut empties = empties.peekable();
    for &row in batch.by_id() {
        let id = batch.id(row);
        while let Some(empty) =
            empties.next_if(|empty| empty.as_ref().map_or(true, |empty| empty.as_str() < id))
        {
            let empty = empty?;
            verdicts.write(|out| write_empty(&empty, out))?;
        }
        let verdict = verdict(row);
        verdicts.write(|out| write_verdict(batch, id, verdict, out))?;
        let listed = if verdict == Verdict::Keep { &mut keep } else { &mut drop };
        listed.write(|out| writeln!(out, "{id}"))?;
    }
    for empty in empties {
        let empty = empty?;
        verdicts.write(|out| write_empty(&empty, out))?;
    }
    let verdicts = ("verdicts.tsv", verdicts.finish()?);
    Ok([verdicts, ("keep.txt", keep.finish()?), ("drop.txt", drop.finish()?)])
}

fn write_empty(id: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{id}\tempty\t\t\t")
}

fn write_verdict<F: Fingerprint>(
    batch: &Batch<F>,
    id: &str,
    verdict: Verdict<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    match verdict {
        Verdict::Keep => writeln!(out, "{id}\tkeep\t\t\t"),
        Verdict::Held(Held { id: of, day, .. }, distance) => {
            writeln!(out, "{id}\tdrop\t{of}\t{distance}\t{day}")
        }
        Verdict::Copy(row, distance) => {
            let of = batch.id(row);
            writeln!(out, "{id}\tdrop\t{of}\t{distance}\t{}", Against::Batch)
        }
    }
}

/// Writes matches.tsv: `rows`, in order. Gives their number too.
pub(super) fn write_matches<F: Fingerprint>(
    batch: &Batch<F>,
    rows: Sorted<Row>,
    staging: &Staging,
) -> Result<(Named, u64)> {
    let mut matches = staging.create("matches.tsv")?;
    let header = Row::header(batch.marks().is_some_and(|marks| marks.confirm().is_some()));
    matches.write(|out| out.write_all(header.as_bytes()))?;
    let mut count = 0;
    for row in rows {
        let row = row?;
        let new = batch.id(batch.by_id()[row.new as usize]);
        matches.write(|out| row.write(new, out))?;
        count += 1;
    }
    Ok((("matches.tsv", matches.finish()?), count))
}

/// The row that each dropped page's verdict names, and no other.
pub(super) fn named_rows<'a, F: Fingerprint>(
    batch: &Batch<F>,
    verdict: impl Fn(u32) -> Verdict<'a>,
    rows: &mut Sorter<Row>,
) -> Result<()> {
    for &row in batch.by_id() {
        match verdict(row) {
            Verdict::Keep => {}
            Verdict::Copy(of, distance) => rows.push(batch.pair(row, of, distance))?,
            Verdict::Held(held, distance) => {
                let (existing, against) = (held.id.clone(), Against::Day(held.day));
                let (new, similarity) = (batch.rank(row), held.similarity);
                rows.push(Row { new, distance, existing, against, similarity })?;
            }
        }
    }
    Ok(())
}
