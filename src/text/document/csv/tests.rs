//! Values in quotes are read as RFC 4180 says, whatever the portions; bad records are told one by one.

use super::*;
use crate::document::reason::too_long;
use crate::document::sample::{Outcome, folder, read_bytes};
use crate::document::{Content, Format, Inputs, Share, read};
use proptest::prelude::*;
use std::sync::atomic::AtomicU64;

fn read_with(bytes: &[u8], options: &ReadOptions) -> Result<Outcome> {
    read_bytes("a.csv", bytes, options, &|document| match document.content {
        Content::Text(text) => format!("{}|{text}", document.id),
        other => panic!("{other:?}"),
    })
}

fn largest_portion(bytes: &[u8], options: &ReadOptions) -> usize {
    let folder = folder(&[("a.csv", bytes)]);
    let inputs = Inputs::find(&[folder.path().into()], Format::Auto).unwrap();
    let mut largest = 0;
    read(&inputs, &Share::whole(), options, &AtomicU64::new(0), &mut |batch| {
        let mut count = 0;
        batch.parse(&options.fields, &mut |_, _| count += 1);
        largest = largest.max(count);
        true
    })
    .unwrap();
    largest
}

#[test]
fn long_records_are_passed_over_with_what_is_in_quotes() {
    let options = ReadOptions { max_record_bytes: 100, ..ReadOptions::default() };
    let bad = format!("! {}", too_long(100));
    // Lines in quotes, commas and doubled quotes among them, are no records.
    let in_quotes = format!("\"{}\"", "4,\"\"no page\n".repeat(30));
    for (long, line) in [("x".repeat(300), 4), (in_quotes, 34)] {
        let csv = format!("id,text\n1,a\n2,{long}\n3,b\n");
        for portion_bytes in [1, 7, 1 << 20] {
            let options = ReadOptions { portion_bytes, ..options.clone() };
            let read = read_with(csv.as_bytes(), &options).unwrap();
            assert_eq!(read.lines(), [(2, "1|a"), (3, &bad), (line, "3|b")]);
        }
    }
}

#[test]
fn lines_behind_endless_quotes_are_read_beyond_the_longest_record() {
    let lines: String = (4..500).map(|id| format!("{id},page {id}\n")).collect();
    let csv = format!("\u{feff}id,text\n1,a\n2,\"open\n3,b\n{lines}500,y\n501,z");
    for (max_record_bytes, portion_bytes) in [(100, 1), (100, 1 << 20), (64 << 20, 1 << 20)] {
        let options = ReadOptions { max_record_bytes, portion_bytes, ..ReadOptions::default() };
        let read = read_with(csv.as_bytes(), &options).unwrap();
        assert!(read.records.iter().map(|(position, _)| position.line).eq(2..503));
        let said = read.said();
        assert_eq!(said[..3], ["1|a", "! quotes are not closed", "3|b"]);
        let pages = (4..500).map(|id| format!("{id}|page {id}"));
        assert!(said[3..499].iter().copied().eq(pages), "{max_record_bytes} {portion_bytes}");
        assert_eq!(said[499..], ["500|y", "501|z"]);
    }
}

#[test]
fn quotes_that_are_never_closed_take_linear_time() {
    let lines = 200_000;
    let csv = format!("id,text\n1,a\n{}", "x\",\",b\n".repeat(lines));
    let read = read_with(csv.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!((read.records.len(), read.lines()[0]), (1 + lines, (2, "1|a")));
    assert!(read.said()[1..].iter().all(|said| *said == "! quotes are not closed"));
    // What they leave of a file comes in portions.
    let portion_bytes = 1 << 12;
    let options = ReadOptions { portion_bytes, ..ReadOptions::default() };
    assert_eq!(read_with(csv.as_bytes(), &options).unwrap().records.len(), 1 + lines);
    let largest = largest_portion(csv.as_bytes(), &options);
    assert!(largest <= portion_bytes / 7 + 1, "{largest} records at once");
}

#[test]
fn a_header_may_have_many_columns() {
    let wide = (0..10_000).map(|column| format!("c{column}")).collect::<Vec<_>>().join(",");
    let csv = format!("id,text,{wide}\n7,a{}\n", ",".repeat(10_000));
    let read = read_with(csv.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(read.lines(), [(2, "7|a")]);
}

proptest! {
    #[test]
    fn texts_come_back(
        texts in prop::collection::vec("([a\",\n ]|\r\n){0,12}", 0..20),
        portion_bytes in 1..64usize,
    ) {
        let mut csv = "id,text\n".to_owned();
        for (id, text) in texts.iter().enumerate() {
            csv += &format!("{id},\"{}\"\r\n", text.replace('"', "\"\""));
        }
        let options = ReadOptions { portion_bytes, ..ReadOptions::default() };
        let expected: Vec<String> =
            texts.iter().enumerate().map(|(id, text)| format!("{id}|{text}")).collect();
        let read = read_with(csv.as_bytes(), &options).unwrap();
        prop_assert_eq!(read.said(), expected);
    }
}
