//! The records that could not be read: how many for each reason, and a list of the first.

use std::borrow::Cow;
use std::collections::{BTreeMap, BinaryHeap};
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::inputs::Inputs;
use super::reason::Reason;
use super::record::Position;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Quarantined {
    pub position: Position,
    pub reason: Reason,
}

/// The records that could not be read: how many for each reason, and the first of them. Its memory is
/// bounded. The result does not depend on the order in which the records come.
#[derive(Debug, Default)]
pub struct Quarantine {
    reasons: BTreeMap<Cow<'static, str>, ByReason>,
    /// The number of records with reasons beyond the first [`Quarantine::REASONS`].
    others: u64,
}

#[derive(Debug, Default)]
struct ByReason {
    count: u64,
    /// The first of them; the last of these is on top of the heap.
    first: BinaryHeap<Quarantined>,
}

impl Quarantine {
    /// How many records are listed for each reason. Further ones are only counted.
    pub const LISTED: usize = 10_000;
    /// How many reasons are listed: the first in alphabetical order.
    const REASONS: usize = 64;
    const NAMED: usize = 3;

    const HEADER: &str = "file\tline\treason\n";

    pub fn push(&mut self, record: Quarantined) {
        let listed = self.reasons.entry(record.reason.what.clone()).or_default();
        listed.count += 1;
        if listed.first.len() < Quarantine::LISTED {
            listed.first.push(record);
        } else if let Some(mut last) = listed.first.peek_mut()
            && record < *last
        {
            *last = record;
        }
        if self.reasons.len() > Quarantine::REASONS {
            self.others += self.reasons.pop_last().map_or(0, |(_, listed)| listed.count);
        }
    }

    pub fn count(&self) -> u64 {
        self.others + self.reasons.values().map(|listed| listed.count).sum::<u64>()
    }

    pub fn reasons(&self) -> impl Iterator<Item = (&str, u64)> {
        let reasons = self.reasons.iter().map(|(what, listed)| (what.as_ref(), listed.count));
        reasons.chain((self.others > 0).then_some(("others", self.others)))
    }

    pub fn commonest(&self, read: u64) -> String {
        let mut reasons: Vec<_> = self.reasons.iter().collect();
        reasons.sort_by_key(|(_, listed)| std::cmp::Reverse(listed.count));
        let told =
            reasons.iter().take(Quarantine::NAMED).enumerate().map(|(place, (what, listed))| {
                let first = listed.first.iter().min().filter(|_| place == 0);
                let detail = first.map_or("", |first| first.reason.detail.as_str());
                format!("{what} in {} of {read} records{detail}", listed.count)
            });
        told.collect::<Vec<_>>().join("; ")
    }

    /// Writes the list in the order of the input. Line 0 stands for a whole file. If a reason has more
    /// than 10,000 records, a line for the file `*` at the end counts the rest. File names
    /// are escaped: backslashes, control characters and what is not UTF-8.
    pub fn write(&self, inputs: &Inputs, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(Quarantine::HEADER.as_bytes())?;
        let mut listed: Vec<&Quarantined> =
            self.reasons.values().flat_map(|listed| &listed.first).collect();
        listed.sort_unstable();
        for Quarantined { position, reason } in listed {
            writeln!(out, "{}\t{}\t{reason}", inputs.place(*position), position.line)?;
        }
        for (what, listed) in &self.reasons {
            let more = listed.count - listed.first.len() as u64;
            if more > 0 {
                writeln!(out, "*\t0\t{what}: {more} records more")?;
            }
        }
        match self.others {
            0 => Ok(()),
            others => writeln!(out, "*\t0\tother reasons: {others} records"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Format;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn no_file_name_breaks_the_table() {
        let folder = tempfile::tempdir().unwrap();
        let name = OsStr::from_bytes(b"\xe9\xa1\xb5 a\tb\nc\\d\xff");
        std::fs::write(folder.path().join(name), "").unwrap();
        let inputs = Inputs::find(&[folder.path().into()], Format::Text).unwrap();
        let position = Position { file: 0, line: 7 };
        let bad = Quarantined { position, reason: "the id is empty".into() };
        let (_, table, _) = listed(&inputs, &[bad]);
        let line =
            format!("{}/页 a\\tb\\nc\\\\d\\xff\t7\tthe id is empty\n", folder.path().display());
        assert_eq!(table, format!("file\tline\treason\n{line}"));
    }

    fn listed(inputs: &Inputs, records: &[Quarantined]) -> (u64, String, String) {
        let mut quarantine = Quarantine::default();
        records.iter().for_each(|record| quarantine.push(record.clone()));
        let mut table = Vec::new();
        quarantine.write(inputs, &mut table).unwrap();
        (quarantine.count(), String::from_utf8(table).unwrap(), quarantine.commonest(99_999))
    }

    #[test]
    fn the_list_is_bounded_and_the_same_in_any_order() {
        let inputs = Inputs::find(&["-".into()], Format::Jsonl).unwrap();
        let record =
            |line: u64, reason| Quarantined { position: Position { file: 0, line }, reason };
        let many = (Quarantine::LISTED + 7) as u64;
        let mut records: Vec<_> = (1..=many)
            .map(|line| record(2 * line, Reason::quoting("not a time", &line.to_string())))
            .collect();
        records.extend((0..200).map(|n| record(2 * n + 1, format!("odd {n:03}").into())));
        let (count, table, commonest) = listed(&inputs, &records);
        assert_eq!(count, many + 200);
        assert!(commonest.starts_with("not a time in 10007 of 99999 records: \"1\"; odd 000 in 1"));
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines[1..4], ["-\t1\todd 000", "-\t2\tnot a time: \"1\"", "-\t3\todd 001"]);
        let end = ["*\t0\tnot a time: 7 records more", "*\t0\tother reasons: 137 records"];
        assert_eq!(lines[lines.len() - 2..], end);
        assert_eq!(lines.len(), 1 + Quarantine::LISTED + 63 + 2);
        records.reverse();
        assert_eq!(listed(&inputs, &records).1, table);
        let half = records.len() / 2;
        records.rotate_left(half);
        assert_eq!(listed(&inputs, &records).1, table);
    }
}
