//! Tables of random rows, written and read back in every format.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{ResultColumn, ResultFormat, ResultReader, ResultWriter, Values};
use crate::error::{Kind, Result};

const COLUMNS: [ResultColumn; 7] = [
    ResultColumn::new("id", Values::Text).ascending(),
    ResultColumn::new("verdict", Values::Names),
    ResultColumn::new("of", Values::Names).or_null(),
    ResultColumn::new("distance", Values::Bits).or_null(),
    ResultColumn::new("similarity", Values::Share),
    ResultColumn::new("size", Values::Count),
    ResultColumn::new("day", Values::Day).or_null(),
];

fn formats() -> impl Iterator<Item = ResultFormat> {
    ResultFormat::ALL.into_iter().filter(|format| format.check().is_ok())
}

fn written(format: ResultFormat, rows: &[String], part: usize) -> Vec<u8> {
    let mut writer = ResultWriter::new(Vec::new(), Path::new("table"), format, &COLUMNS).unwrap();
    for part in rows.chunks(part.max(1)) {
        let lines: String = part.iter().flat_map(|row| [row, "\n"]).collect();
        writer.rows(&lines).unwrap();
    }
    writer.finish().unwrap()
}

fn read(path: &Path) -> Result<(Option<Vec<String>>, Vec<String>)> {
    let mut reader = ResultReader::open(path)?;
    let names = reader.columns().map(<[String]>::to_vec);
    let mut rows = Vec::new();
    while let Some(row) = reader.next_row()? {
        rows.push(row.to_owned());
    }
    Ok((names, rows))
}

fn row() -> impl Strategy<Value = String> {
    let text = "[^\\t\\r\\n\\x00]{1,12}";
    let optional = prop_oneof![Just(String::new()), text.prop_map(String::from)];
    let distance = prop_oneof![Just(String::new()), any::<u8>().prop_map(|bits| bits.to_string())];
    let share = (0..=10_000_u32).prop_map(|it| format!("{}.{:04}", it / 10_000, it % 10_000));
    let size = 0..i64::MAX as u64;
    let day = prop_oneof![
        Just(String::new()),
        (0..=9999, 1..=12, 1..=28)
            .prop_map(|(year, month, day)| { format!("{year:04}-{month:02}-{day:02}") })
    ];
    (text, "keep|drop|empty", optional, distance, share, size, day).prop_map(
        |(id, verdict, of, distance, share, size, day)| {
            format!("{id}\t{verdict}\t{of}\t{distance}\t{share}\t{size}\t{day}")
        },
    )
}

proptest! {
    #[test]
    fn all_formats_hold_the_rows_of_the_tsv(
        rows in proptest::collection::vec(row(), 0..40),
        part in 1..7_usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        for format in formats() {
            let path = folder.path().join(format.file_name("table"));
            let bytes = written(format, &rows, part);
            prop_assert_eq!(&bytes, &written(format, &rows, rows.len()), "parts change nothing");
            fs::write(&path, bytes).unwrap();
            let (names, found) = read(&path).unwrap();
            prop_assert_eq!(&found, &rows, "{}", format);
            let expected = COLUMNS.map(|column| column.name);
            let tells = format != ResultFormat::JsonLines || !rows.is_empty();
            prop_assert_eq!(names.is_some(), tells);
            prop_assert!(names.is_none_or(|names| names == expected));
        }
    }
}

/// Row groups end by the bytes of their rows, so a table of several is the same however its rows come.
#[test]
#[cfg(feature = "parquet")]
fn row_groups_are_bounded_and_fixed() {
    let long = "x".repeat(100_000);
    let rows: Vec<String> = (0..400)
        .map(|at| format!("{at:06}{long}\tkeep\t\t{at}\t0.5000\t1\t", at = at % 200))
        .collect();
    let bytes = written(ResultFormat::Parquet, &rows, 1);
    assert_eq!(bytes, written(ResultFormat::Parquet, &rows, 399));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.parquet");
    fs::write(&path, bytes).unwrap();
    assert_eq!(read(&path).unwrap().1, rows);
    let file = fs::File::open(&path).unwrap();
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let metadata = SerializedFileReader::new(file).unwrap().metadata().clone();
    assert_eq!(metadata.file_metadata().created_by(), Some("dupsieve version 1 (build 1)"));
    let groups = metadata.row_groups();
    assert_eq!(groups.len(), 3, "40 MB of rows in groups of 16 MiB");
    for group in groups {
        assert!(group.total_byte_size() <= 17 << 20);
        assert_eq!(group.sorting_columns().unwrap()[0].column_idx, 0);
        assert!(group.column(0).statistics().is_some());
    }
}

#[test]
#[cfg(feature = "parquet")]
fn a_text_of_another_column_is_refused() {
    let format = ResultFormat::Parquet;
    let mut writer = ResultWriter::new(Vec::new(), Path::new("t"), format, &COLUMNS).unwrap();
    let error = writer.rows("a\tkeep\t\tthree\t0.5000\t1\t\n").unwrap_err();
    assert_eq!(error.kind(), Kind::Internal);
    assert!(error.to_string().contains("distance"), "{error}");
}

#[test]
fn damage_gives_an_error_or_rows() {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<String> = (0..30)
        .map(|at| format!("id{at:03}\tdrop\tid{}\t{at}\t0.{at:04}\t{at}\t2026-11-20", at / 2))
        .collect();
    for format in formats() {
        let path = folder.path().join(format.file_name("table"));
        let whole = written(format, &rows, 7);
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut refused = 0;
        for _ in 0..400 {
            let mut bytes = whole.clone();
            let at = random.random_range(0..bytes.len());
            bytes[at] ^= 1 << random.random_range(0..8);
            fs::write(&path, &bytes).unwrap();
            match read(&path) {
                Ok(_) => {}
                Err(error) => {
                    assert!([Kind::BadData, Kind::Usage].contains(&error.kind()), "{error}");
                    refused += 1;
                }
            }
            fs::write(&path, &bytes[..at]).unwrap();
            let cut = read(&path);
            assert!(cut.is_err() || format != ResultFormat::Parquet);
        }
        assert!(refused > 20 || format == ResultFormat::Tsv, "{format}: {refused}");
    }
}

#[test]
fn objects_that_are_no_rows_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.jsonl");
    let first = "{\"id\":\"a\",\"distance\":3}\n";
    for (second, said) in [
        ("{\"id\":\"a\\tb\"}", "a tab"),
        ("{\"id\":[]}", "text without tabs"),
        ("{\"id\":\"a\",\"id\":\"b\"}", "twice"),
        ("{\"id\":\"a\",\"more\":1}", "no column \"more\""),
        ("[1]", "an object"),
        ("{", "not a row"),
    ] {
        fs::write(&path, format!("{first}{second}\n")).unwrap();
        let error = read(&path).unwrap_err();
        assert_eq!(error.kind(), Kind::BadData);
        assert!(error.to_string().contains(said) && error.to_string().contains(":2"), "{error}");
    }
    fs::write(&path, format!("{first}{{\"distance\":null}}\n")).unwrap();
    assert_eq!(read(&path).unwrap().1, ["a\t3", "\t"]);
}
