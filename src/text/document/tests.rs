//! Whatever the batches, the shares and the packing, the records are those of the naive definition.

use super::reason::{BROKEN_OFF, too_long};
use super::record::check_id;
use super::sample::{self, Outcome, folder, gzip};
use super::*;
use crate::error::{Kind, Result};
use crate::work_queues::{Ask, WorkQueues};
use proptest::prelude::*;
use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

fn find(folder: &tempfile::TempDir, format: Format) -> Inputs {
    Inputs::find(&[PathBuf::from(folder.path())], format).unwrap()
}

fn show(document: &Document<'_>) -> String {
    let said = format!("{} {:?} {:?}", document.id, document.order.key(), document.content);
    document.declared.canonical.iter().fold(said, |said, address| said + " canonical " + address)
}

fn read_share(inputs: &Inputs, share: &Share, options: &ReadOptions) -> Result<Outcome> {
    sample::read_share(inputs, share, options, &|document| show(&document))
}

/// Queues that deal the tickets of every queue in turns to so many readers. This one is reader `index`.
struct InTurns {
    index: u64,
    of: u64,
    dealt: Mutex<HashMap<u64, u64>>,
}

impl WorkQueues for InTurns {
    fn claim(&self, Ask { queue, tickets, .. }: Ask) -> Result<Range<u64>> {
        let mut dealt = self.dealt.lock().unwrap();
        let turn = dealt.entry(queue).or_default();
        let ticket = (self.index + *turn * self.of).min(tickets);
        *turn += 1;
        Ok(ticket..tickets.min(ticket + 1))
    }
}

fn in_turns(index: u32, of: u32) -> Share {
    let work = InTurns { index: index.into(), of: of.into(), dealt: Mutex::default() };
    Share::new(Arc::new(work), index, of)
}

fn read_shares(inputs: &Inputs, of: u32, options: &ReadOptions) -> Outcome {
    together((0..of).map(|index| read_share(inputs, &in_turns(index, of), options).unwrap()))
}

fn together(parts: impl Iterator<Item = Outcome>) -> Outcome {
    let mut whole = Outcome::default();
    for part in parts {
        whole.records.extend(part.records);
        whole.blank += part.blank;
        whole.skipped.add(part.skipped);
        whole.damaged.extend(part.damaged);
    }
    whole.records.sort_by_key(|(position, _)| *position);
    whole.damaged.sort();
    whole
}

fn naive(files: &[Vec<u8>], max_record_bytes: usize) -> Outcome {
    let mut outcome = Outcome::default();
    for (file, bytes) in (0..).zip(files) {
        let lines = bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|&byte| byte == b'\n');
        for (line, bytes) in (1..).zip(lines).filter(|_| !bytes.is_empty()) {
            let text = std::str::from_utf8(bytes).unwrap();
            let document = match text.len() > max_record_bytes {
                true => Err(too_long(max_record_bytes)),
                false if text.trim_matches([' ', '\t', '\r']).is_empty() => {
                    outcome.blank += 1;
                    continue;
                }
                false => ready::features(text)
                    .and_then(|document| check_id(&document.id).map(|()| show(&document))),
            };
            let said = document.unwrap_or_else(|reason| format!("! {reason}"));
            outcome.records.push((Position { file, line }, said));
        }
    }
    outcome
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn all_shares_together_are_the_whole(
        files in prop::collection::vec("(a{0,9}\t|a{0,40}|\r|[ \t]|\n|\n\n|a\tb:1\n){0,40}", 0..5),
        packed in any::<u8>(),
        portion_bytes in 1..60usize,
        max_record_bytes in 3..40usize,
        of in 1..6u32,
    ) {
        let files: Vec<Vec<u8>> = files.into_iter().map(String::into_bytes).collect();
        let folder = folder(&[]);
        for (index, bytes) in files.iter().enumerate() {
            let is_packed = packed >> index & 1 == 1;
            let bytes = if is_packed { gzip(bytes) } else { bytes.clone() };
            fs::write(folder.path().join(format!("{index}.tsv")), bytes).unwrap();
        }
        let options = ReadOptions { portion_bytes, max_record_bytes, ..ReadOptions::default() };
        let inputs = find(&folder, Format::Features);
        let expected = naive(&files, max_record_bytes);
        prop_assert_eq!(&read_shares(&inputs, of, &options), &expected);
    }
}

/// The cases of `cases.txt`: a file, and below it what is read of each record, or why it cannot be. `␉` is a tab, `␍` a carriage return,
/// `␁` another control character, `␂` a byte order mark, and `␡` a byte that is in no text.
#[test]
fn records_are_read_as_cases_say() {
    for case in include_str!("cases.txt").split("=== ").skip(1) {
        let (head, rest) = case.split_once('\n').unwrap();
        let (file, expected) = rest.split_once("---\n").unwrap();
        let file = file.replace('␉', "\t").replace('␍', "\r").replace('␁', "\u{1}");
        let file = file.replace('␂', "\u{feff}");
        let file = file.split('␡').map(str::as_bytes).collect::<Vec<_>>().join(&0xff);
        let (name, settings) = head.split_once(' ').unwrap_or((head, ""));
        let (mut format, mut options) = (Format::Auto, ReadOptions::default());
        for (setting, value) in settings.split(' ').filter_map(|it| it.split_once('=')) {
            let fields = &mut options.fields;
            match setting {
                "format" => format = value.parse().unwrap(),
                "id" => fields.id = value.into(),
                "text" => fields.text = value.into(),
                "time" => fields.order = Some(OrderField::time(value)),
                "places" => fields.place_ids = value.parse().unwrap(),
                "width" => fields.width_bits = value.parse().unwrap(),
                "max" => options.max_record_bytes = value.parse().unwrap(),
                _ => panic!("{setting}"),
            }
        }
        let folder = folder(&[(name, &file)]);
        for portion_bytes in [1, 1 << 20] {
            let options = ReadOptions { portion_bytes, ..options.clone() };
            let said = match read_share(&find(&folder, format), &Share::whole(), &options) {
                Err(error) => {
                    format!("! {error}\n").replace(&format!("{}/", folder.path().display()), "")
                }
                Ok(Outcome { records, blank, skipped, .. }) => {
                    let record = |(Position { line, .. }, said)| format!("{line} {said}\n");
                    let passed = [
                        (blank, format!("{blank} blank\n")),
                        (skipped.total(), format!("{skipped}\n")),
                    ];
                    let passed =
                        passed.into_iter().filter(|(count, _)| *count > 0).map(|(_, said)| said);
                    records.into_iter().map(record).chain(passed).collect()
                }
            };
            assert_eq!(said, expected, "{case}");
        }
    }
}

#[test]
fn text_files_are_documents() {
    let files: &[(&str, &[u8])] = &[
        ("a", b"one\ntwo\n"),
        ("b.gz", &gzip(b"three")),
        ("c\td", b""),
        ("e", b"\xff"),
        ("f", b"four!!!!!"),
    ];
    let folder = folder(files);
    let options = ReadOptions { max_record_bytes: 8, portion_bytes: 9, ..ReadOptions::default() };
    let inputs = find(&folder, Format::Text);
    for of in 1..8 {
        let outcome = read_shares(&inputs, of, &options);
        let expected = [
            r#"a None Text("one\ntwo\n")"#,
            r#"b.gz None Text("three")"#,
            r#"! the id holds a tab, CR, LF or NUL: "c\td""#,
            "! not UTF-8 at byte 0 of the record",
            "! the record is longer than the setting `max-record` allows: 8 bytes",
        ];
        assert_eq!(outcome.said(), expected);
    }
}

#[test]
fn what_breaks_off_is_an_error_or_counted_once() {
    let rows: String = (0..20_000).map(|row| format!("{row}\t{row}\n")).collect();
    let packed = gzip(rows.as_bytes());
    let cut = &packed[..packed.len() / 2];
    let folder = folder(&[("a.tsv.gz", cut), ("b.txt.gz", cut), ("c.tsv", b"c\t7\n")]);
    let inputs = find(&folder, Format::Fingerprints);
    let options = ReadOptions { portion_bytes: 4_096, ..ReadOptions::default() };
    for index in 0..5 {
        let shared = read_share(&inputs, &in_turns(index, 5), &options).unwrap_err();
        assert_eq!(shared.kind(), Kind::BadData);
        assert!(shared.to_string().contains("a.tsv.gz at byte"), "{shared}");
    }
    let options = ReadOptions { accept_truncated: true, ..options };
    let whole = read_share(&inputs, &Share::whole(), &options).unwrap();
    assert!(whole.damaged.iter().map(|damage| damage.file).eq([0, 1]));
    let reasons = whole.reasons();
    assert!(reasons.len() <= 2 && reasons.iter().all(|(_, reason)| *reason == BROKEN_OFF));
    assert!(whole.records.len() > 10_000 && whole.said().last() == Some(&"c None Fingerprint(7)"));
    for of in 2..6 {
        assert_eq!(read_shares(&inputs, of, &options), whole);
    }
}

fn damaged_in_the_middle(text: &str, member_bytes: usize) -> Vec<u8> {
    let members = text.as_bytes().chunks(member_bytes).enumerate().map(|(number, bytes)| {
        let mut member = gzip(bytes);
        if number == 6 {
            let half = member.len() / 2;
            member[half..half + 8].fill(0xff);
        }
        member
    });
    members.collect::<Vec<_>>().concat()
}

#[test]
fn what_follows_damage_is_read_in_every_format() {
    let words = |row: u32| format!("{:x} {:x}", row.wrapping_mul(2_654_435_761), row * row);
    let rows = |line: &dyn Fn(u32) -> String| (0..2000).map(line).collect::<String>();
    let jsonl = rows(&|row| format!("{{\"id\": {row:08}1, \"text\": \"{:20}\"}}\n", words(row)));
    let jsonl = jsonl.replace("\"id\": ", "\"id\": 1");
    let tsv = "id\ttext\n".to_owned() + &rows(&|row| format!("{row:08}\t{:20}\n", words(row)));
    let csv = tsv.replace('\t', ",");
    let warc = rows(&|row| {
        let text = format!("{:20}", words(row));
        let head =
            format!("WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://a/{row:08}\r\n");
        format!(
            "{head}Content-Type: text/plain\r\nContent-Length: {}\r\n\r\n{text}\r\n\r\n",
            text.len()
        )
    });
    for (name, text) in [("a.jsonl", jsonl), ("a.tsv", tsv), ("a.csv", csv), ("a.warc", warc)] {
        let line = text.len() / 2000;
        // Members of a hundred lines, and members that end within lines.
        for member_bytes in [100 * line, 100 * line + line / 2] {
            let packed = damaged_in_the_middle(&text, member_bytes);
            let folder = folder(&[(&format!("{name}.gz"), &packed)]);
            // In portions, each of which needs the header.
            let portion_bytes = 1 << 13;
            let options =
                ReadOptions { accept_truncated: true, portion_bytes, ..ReadOptions::default() };
            let inputs = find(&folder, Format::Auto);
            let outcome = read_share(&inputs, &Share::whole(), &options).unwrap();
            let bad = outcome.reasons().len();
            let good = outcome.records.len() - bad;
            assert!((1895..=2000).contains(&good) && bad <= 60, "{name}: {good} good, {bad} bad");
            assert!(outcome.damaged.iter().map(|damage| damage.file).eq([0]), "{name}");
            for of in 2..4 {
                assert_eq!(read_shares(&inputs, of, &options), outcome, "{name}");
            }
        }
    }
}

#[test]
fn one_large_file_keeps_every_process_busy() {
    let rows: String = (0..1000).map(|row| format!("{row}\t{row}\n")).collect();
    let folder = folder(&[("a.tsv", rows.as_bytes())]);
    let inputs = find(&folder, Format::Fingerprints);
    let options = ReadOptions { portion_bytes: 100, ..ReadOptions::default() };
    for index in 0..4 {
        let part = read_share(&inputs, &in_turns(index, 4), &options).unwrap();
        assert!((200..300).contains(&part.records.len()), "{}", part.records.len());
    }
}

#[test]
fn a_receiver_can_stop_the_reader() {
    let folder = folder(&[("a.tsv", &b"a\t1\n".repeat(100)), ("b.tsv", b"b\t1\n")]);
    let options = ReadOptions { portion_bytes: 8, ..ReadOptions::default() };
    let mut delivered = 0;
    let inputs = find(&folder, Format::Fingerprints);
    let progress = AtomicU64::new(0);
    read(&inputs, &Share::whole(), &options, &progress, &mut |_| {
        delivered += 1;
        delivered < 3
    })
    .unwrap();
    assert_eq!(delivered, 3);
}

#[test]
fn a_file_changed_in_place_is_noticed_though_its_size_and_time_are_as_before() {
    let line = |id: u32| format!("{{\"id\": {id}, \"text\": \"a\"}}\n");
    let bytes = line(1) + &line(2);
    for (name, format) in [("a.jsonl", Format::Jsonl), ("a.txt", Format::Text)] {
        let folder = folder(&[("0.jsonl", bytes.as_bytes()), (name, bytes.as_bytes())]);
        let inputs = find(&folder, format);
        let whole = |options: &ReadOptions| {
            read(&inputs, &Share::whole(), options, &AtomicU64::new(0), &mut |_| true).unwrap()
        };
        let before = whole(&ReadOptions::default()).contents;
        inputs.check_unchanged(&before).unwrap();
        let path = folder.path().join(name);
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, line(1) + &line(3)).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
        let error = inputs.check_unchanged(&before).unwrap_err();
        assert_eq!(error.kind(), Kind::Temporary, "{name}: {error}");
        // Who has read what is there now has read the file.
        let after = whole(&ReadOptions::default()).contents;
        assert_ne!(inputs.digest(&before), inputs.digest(&after));
        inputs.check_unchanged(&after).unwrap();
    }
}

#[test]
fn the_states_of_files_tell_of_changes_and_of_what_decides_ids() {
    let folder = folder(&[("a.txt", b"one"), ("b.txt", b"two")]);
    let at = |name: &str| folder.path().join(name);
    let states = |name: &str, format| Inputs::find(&[at(name)], format).unwrap().states();
    let inputs = find(&folder, Format::Text);
    assert_eq!(inputs.states_at_rest(), None, "a further change might not show");
    assert_eq!(inputs.at_rest().states_at_rest(), inputs.states());
    assert_eq!(find(&folder, Format::Text).states(), inputs.states());
    assert_ne!(states("a.txt", Format::Text), states("a.txt", Format::Jsonl));
    assert_ne!(states("a.txt", Format::Text), states("b.txt", Format::Text));
    // Another file with the same name, size and time.
    let written = fs::metadata(at("b.txt")).unwrap().modified().unwrap();
    fs::write(at("new"), "too").unwrap();
    fs::File::options().write(true).open(at("new")).unwrap().set_modified(written).unwrap();
    fs::rename(at("new"), at("b.txt")).unwrap();
    assert_ne!(find(&folder, Format::Text).states(), inputs.states());
    assert_eq!(Inputs::find(&["-".into()], Format::Jsonl).unwrap().states(), None);
}
