//! Arrow files of every kind of column and packing, as other programs write them (tests/data/arrow/make.py), read back, and damaged
//! ones.

use std::fs;
use std::path::{Path, PathBuf};

use crate::document::sample::read_file;
use crate::document::{Content, Document, Fields, OrderBy, OrderField, PlaceIds, ReadOptions};
use crate::error::{Kind, Result};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/arrow").join(name)
}

const PAGES: [&str; 5] = ["stream.arrow", "file.arrow", "lz4.arrow", "zstd.arrow", "old.arrow"];

fn shown(document: Document<'_>) -> String {
    match document.content {
        Content::Text(text) => format!("{} {text}", document.id),
        Content::Vector(vector) => format!("{} {vector:?}", document.id),
        other => format!("{other:?}"),
    }
}

fn rows(path: &Path, options: &ReadOptions) -> Result<Vec<String>> {
    let records = read_file(path, options, &shown)?.records;
    assert!(records.iter().map(|(line, _)| *line).eq(1..=records.len() as u64));
    Ok(records.into_iter().map(|(_, said)| said).collect())
}

fn texts(path: &Path, id: &str, text: &str) -> Result<Vec<String>> {
    let fields = Fields { id: id.into(), text: text.into(), ..Fields::default() };
    let options = ReadOptions { fields, ..ReadOptions::default() };
    rows(path, &options)
}

const TEXTS: [Option<&str>; 7] = [
    Some("the first page"),
    Some("第二页"),
    None,
    Some(""),
    Some("a text of more than twelve bytes"),
    Some("the first page"),
    Some("the last"),
];

fn expected(ids: impl Fn(i128) -> String, text: &str) -> Vec<String> {
    let said = |(row, it): (i128, &Option<&str>)| match it {
        Some(text) => format!("{} {text}", ids(row)),
        None => format!("! the field `{text}` is null"),
    };
    (1..).zip(&TEXTS).map(said).collect()
}

#[test]
fn texts_of_every_kind_are_read() {
    for name in PAGES {
        for text in ["text", "large", "binary", "named", "views"] {
            let said = texts(&file(name), "id", text).unwrap();
            assert_eq!(said, expected(|row| format!("p{row}"), text), "{name} {text}");
        }
        let said = texts(&file(name), "id", "meta.view").unwrap();
        let mut inner = expected(|row| format!("p{row}"), "meta.view");
        inner[1] = "! the field `meta.view` is null".to_owned();
        assert_eq!(said, inner, "{name}");
    }
    for name in ["feather.feather", "polars.arrow", "polars-zstd.arrow"] {
        let said = texts(&file(name), "id", "text").unwrap();
        assert_eq!(said, expected(|row| format!("p{row}"), "text"), "{name}");
    }
    let said = |name: &str| texts(&file(name), "id", "text").unwrap();
    assert_eq!(said("deltas.arrow"), ["0 a", "1 b", "2 a", "3 a", "4 b", "5 c"]);
    assert_eq!(said("replaced.arrow"), ["0 a", "1 b", "2 a", "3 c", "4 d", "5 c"]);
}

#[test]
fn ids_of_every_kind_are_read() {
    for name in PAGES {
        let is = |id: &str, expected_id: &dyn Fn(i128) -> String| {
            let said = texts(&file(name), id, "text").unwrap();
            assert_eq!(said, expected(expected_id, "text"), "{name} {id}");
        };
        is("long", &|row| row.to_string());
        is("byte", &|row| (row - 4).to_string());
        is("unsigned", &|row| ((1 << 64) - row).to_string());
        is("decimal", &|row| (-row * 10_i128.pow(20)).to_string());
        is("uuid", &|row| format!("00000000-0000-0000-0000-{row:012}"));
        let said = texts(&file(name), "score", "text").unwrap();
        assert_eq!(said[0], "! the id is no whole number: 0.5");
        assert_eq!(said[1], "1 第二页");
    }
}

#[test]
fn times_and_numbers_put_rows_in_order() {
    let key = |name: &str, order: OrderField| {
        let place_ids = PlaceIds::All;
        let fields = Fields { place_ids, order: Some(order), ..Fields::default() };
        let options = ReadOptions { fields, ..ReadOptions::default() };
        let order = |document: Document<'_>| format!("{:?}", document.order);
        read_file(&file(name), &options, &order).unwrap().records.swap_remove(6).1
    };
    for name in PAGES {
        let time = |field: &str| key(name, OrderField::time(field));
        for (field, kind, seconds) in [
            ("meta.at", "Zoned", 1_794_052_800),
            ("day", "Days", 1_794_009_600),
            ("day64", "Days", 1_794_009_600),
            ("seconds", "Unzoned", 7),
            ("nanos", "Unzoned", 7),
        ] {
            let said = time(field);
            assert!(said.contains(kind) && said.contains(&seconds.to_string()), "{field}: {said}");
        }
        for field in ["score", "half"] {
            let order = OrderField { name: field.into(), by: OrderBy::Greatest };
            assert!(key(name, order).contains("At"), "{name} {field}");
        }
    }
}

#[test]
fn lists_of_numbers_are_vectors() {
    let vectors = |name: &str, text: &str| {
        let fields = Fields { text: text.into(), vectors: true, ..Fields::default() };
        let options = ReadOptions { fields, ..ReadOptions::default() };
        rows(&file(name), &options)
    };
    let hole = "! a component of the vector is not a number".to_owned();
    for name in PAGES {
        for text in ["vector", "large_vector", "half_vector"] {
            let expected = [
                "p1 [0.5, 0.0]".to_owned(),
                "p2 []".to_owned(),
                format!("! the field `{text}` is null"),
                hole.clone(),
                "p5 [3.0]".to_owned(),
                "p6 [0.25, 0.25, 0.25]".to_owned(),
                "p7 [6.0, 0.125]".to_owned(),
            ];
            assert_eq!(vectors(name, text).unwrap(), expected, "{name} {text}");
        }
        let fixed = vectors(name, "fixed").unwrap();
        assert_eq!([&fixed[0], &fixed[3], &fixed[6]], ["p1 [0.5, 0.0]", &hole, "p7 [6.0, 0.125]"]);
        let error = vectors(name, "text").unwrap_err().to_string();
        assert!(error.contains("no lists"), "{error}");
    }
}

#[test]
fn columns_that_no_field_is_made_of_are_refused() {
    for (text, said) in [
        ("flag", "truth values"),
        ("tags", "lists"),
        ("nothing", "nothing but nulls"),
        ("union", "unions"),
        ("map", "maps"),
        ("meta", "a group of columns"),
        ("fraction", "decimal numbers with a fraction"),
        ("score", "numbers with a fraction"),
        ("none", "the file lacks a column"),
        ("meta.none", "the file lacks a column"),
    ] {
        let error = texts(&file("stream.arrow"), "id", text).unwrap_err();
        assert_eq!(error.kind(), Kind::BadData);
        assert!(error.to_string().contains(said), "{text}: {error}");
    }
}

#[test]
fn long_values_are_told_and_passed_over() {
    let options = |id: &str, text: &str| {
        let fields = Fields { id: id.into(), text: text.into(), ..Fields::default() };
        ReadOptions { fields, max_record_bytes: 12, ..ReadOptions::default() }
    };
    for name in PAGES {
        for text in ["text", "large", "named", "views"] {
            let rows = rows(&file(name), &options("long", text)).unwrap();
            let long = "! the record is longer than the setting `max-record` allows: 12 bytes";
            let null = format!("! the field `{text}` is null");
            let expected = [long, "2 第二页", &null, "4 ", long, long, "7 the last"];
            assert_eq!(rows, expected, "{name} {text}");
        }
        let rows = rows(&file(name), &options("meta.url", "text")).unwrap();
        assert!(rows[6].contains("longer than the setting"), "{rows:?}");
    }
}

#[test]
fn portions_do_not_change_what_is_read() {
    for name in PAGES {
        let whole = texts(&file(name), "id", "views").unwrap();
        let fields = Fields { text: "views".into(), ..Fields::default() };
        let options = ReadOptions { fields, portion_bytes: 1, ..ReadOptions::default() };
        assert_eq!(rows(&file(name), &options).unwrap(), whole, "{name}");
    }
}

#[test]
fn files_that_break_off_are_refused_or_read_up_to_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.arrow");
    for name in ["deltas.arrow", "feather.feather", "lz4.arrow"] {
        let whole = fs::read(file(name)).unwrap();
        let all = texts(&file(name), "id", "text").unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let error = texts(&path, "id", "text").unwrap_err();
            assert_eq!(error.kind(), Kind::BadData, "{name} {length}");
            let options = ReadOptions { accept_truncated: true, ..ReadOptions::default() };
            if let Ok(rows) = rows(&path, &options) {
                assert!(all.starts_with(&rows), "{name} {length}");
            }
        }
    }
    // Behind the first batch.
    let whole = fs::read(file("deltas.arrow")).unwrap();
    fs::write(&path, &whole[..whole.len() - 20]).unwrap();
    let options = ReadOptions { accept_truncated: true, ..ReadOptions::default() };
    let damaged = read_file(&path, &options, &shown).unwrap().damaged;
    assert_eq!((damaged.len(), damaged[0].places), (1, 1));
    assert!(damaged[0].at + damaged[0].unread == whole.len() as u64 - 20);
}

#[test]
fn damage_ends_with_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.arrow");
    let mut failed = 0;
    for name in ["deltas.arrow", "file.arrow", "lz4.arrow", "zstd.arrow", "polars.arrow"] {
        let whole = fs::read(file(name)).unwrap();
        let columns: &[_] =
            if whole.len() < 3000 { &["text"] } else { &["named", "views", "large"] };
        for at in (0..whole.len()).step_by((whole.len() / 500) | 1) {
            let mut bytes = whole.clone();
            bytes[at] ^= if at % 2 == 0 { 0xff } else { 1 };
            fs::write(&path, &bytes).unwrap();
            match texts(&path, "id", columns[at % columns.len()]) {
                Ok(rows) => assert!(rows.len() < 1000, "{name} {at}"),
                Err(error) => {
                    failed += 1;
                    let is_ours = [Kind::BadData, Kind::Usage].contains(&error.kind());
                    assert!(is_ours, "{name} {at}: {error}");
                }
            }
        }
    }
    assert!(failed > 500, "{failed}");
}
