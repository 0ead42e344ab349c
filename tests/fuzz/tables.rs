//! The readers and writers of tables and records, as functions of bytes: results of every format, records that get more fields,
//! lists of numbers in Parquet.

use std::fs;
use std::sync::atomic::AtomicU64;

use dupsieve::rooms::document::{
    AddedFields, Content, Fields, Format, Inputs, Position, ReadOptions, Share, read,
};
use dupsieve::rooms::report::{Annotations, Judged};
use dupsieve::rooms::results::{ResultColumn, ResultFormat, ResultReader, Values};

use super::file;

/// The longest record that is read.
const MAX_RECORD_BYTES: usize = 4 << 10;

/// A table of results, in each format.
pub fn results(bytes: &[u8]) {
    for format in ResultFormat::ALL {
        let path = file(&format.file_name("table"), bytes);
        let Ok(mut rows) = ResultReader::open(&path) else { continue };
        let columns = rows.columns().map(<[String]>::len);
        while let Ok(Some(row)) = rows.next_row() {
            // The lines of a TSV are given as they are.
            let is_checked = format != ResultFormat::Tsv;
            assert!(!is_checked || columns == Some(row.split('\t').count()), "{format}: {row:?}");
        }
    }
}

/// The verdicts of an output, by which pages are annotated.
pub fn verdicts(bytes: &[u8]) {
    for format in ResultFormat::ALL {
        let folder = format!("judged-{format}");
        let path = file(&format!("{folder}/{}", format.file_name("verdicts")), bytes);
        let folder = path.parent().expect("it stands in a folder");
        let Ok(mut pages) = Annotations::read(folder, None, folder, 1 << 20) else { continue };
        for id in ["bridge", "alone", "bridge", ""] {
            let judged = pages.take(id);
            let text = pages.text(judged).expect("what was written is read again");
            assert!(text.split('\t').count() >= 3);
        }
        assert_ne!(pages.take("bridge"), Judged::Page(0), "a page is found once");
        let _ = pages.check_all_taken();
    }
}

/// Records that get fields: the first byte picks the format. All else stays as it is, and what was read is read again, unless the copy begins with
/// a record that cannot be read: where that stood behind a byte order mark or an empty line, it may begin as packed files do.
pub fn annotated(bytes: &[u8]) {
    const FORMATS: [Format; 3] = [Format::Jsonl, Format::Tsv, Format::Csv];
    let columns = [
        ResultColumn::new("verdict", Values::Names).or_null(),
        ResultColumn::new("distance", Values::Bits).or_null(),
    ];
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let format = FORMATS[usize::from(choice) % FORMATS.len()];
    let added = AddedFields::new(format, &columns).expect("a format with fields");
    let (mut wider, mut begins_as_text) = (Vec::new(), true);
    let ids = each_record(bytes, format, &mut |header, record, is_read| {
        let line = match (header, is_read) {
            (true, _) => added.header(record),
            (_, true) => added.record(record, "drop\t3"),
            (_, false) => Ok(added.unread(record)),
        };
        let Ok(line) = line else { return false };
        begins_as_text &= header || is_read || !wider.is_empty();
        let before = record.strip_suffix(b"\r").unwrap_or(record);
        assert!(format == Format::Jsonl || line.starts_with(before), "{line:?}");
        assert!(!is_read || line.len() > record.len());
        wider.extend([&line[..], b"\n"].concat());
        true
    });
    if let Some(ids) = ids.filter(|_| begins_as_text) {
        assert_eq!(each_record(&wider, format, &mut |_, _, _| true).as_ref(), Some(&ids));
    }
}

/// Calls `take` with the header and the bytes of each record, and whether it could be read, until it returns false. Returns the ids that
/// were read, if all records could be taken.
fn each_record(
    bytes: &[u8],
    format: Format,
    take: &mut dyn FnMut(bool, &[u8], bool) -> bool,
) -> Option<Vec<String>> {
    let options = ReadOptions { max_record_bytes: MAX_RECORD_BYTES, ..ReadOptions::default() };
    let inputs = Inputs::find(&[file("records.txt", bytes)], format).expect("the file is there");
    let (mut ids, mut goes_on, mut is_first) = (Vec::new(), true, true);
    let whole = read(&inputs, &Share::whole(), &options, &AtomicU64::new(0), &mut |batch| {
        let mut parsed: Vec<(Position, Option<String>)> = Vec::new();
        batch.parse(&options.fields, &mut |position, document| {
            parsed.push((position, document.ok().map(|document| document.id.into_owned())));
        });
        if let Some(header) = batch.header().filter(|_| std::mem::take(&mut is_first)) {
            goes_on &= take(true, header, false);
        }
        let mut parsed = parsed.into_iter().peekable();
        batch.raw(&mut |position, record| {
            let of = parsed.next_if(|(at, _)| *at == position);
            let is_read = matches!(of, Some((_, Some(_))));
            ids.extend(of.and_then(|(_, id)| id));
            goes_on = goes_on && take(false, record, is_read);
        });
        // What has no bytes could not be read.
        assert!(parsed.all(|(_, id)| id.is_none()));
        goes_on
    });
    whole.ok().filter(|_| goes_on).map(|_| ids)
}

/// A Parquet file with lists of numbers in the column `vector`.
pub fn vectors(bytes: &[u8]) {
    let path = file("vectors.parquet", bytes);
    let fields = Fields { text: "vector".into(), vectors: true, ..Fields::default() };
    let options = ReadOptions { fields, ..ReadOptions::default() };
    let Ok(inputs) = Inputs::find(std::slice::from_ref(&path), Format::Vectors) else { return };
    let _ = read(&inputs, &Share::whole(), &options, &AtomicU64::new(0), &mut |batch| {
        batch.parse(&options.fields, &mut |_, document| {
            if let Ok(Content::Vector(vector)) = document.map(|document| document.content) {
                assert!(vector.iter().all(|component| component.is_finite()));
            }
        });
        true
    });
    let _ = fs::remove_file(path);
}
