//! Parquet files of every kind of column, read back, and damaged ones.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DoubleType, FixedLenByteArray, FloatType, Int64Type,
};
use parquet::file::metadata::{
    ColumnChunkMetaDataBuilder, KeyValue, ParquetMetaDataReader, ParquetMetaDataWriter,
};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::ParquetCopy;
use crate::document::{
    Content, Fields, Format, Inputs, OrderBy, OrderField, OrderKey, ReadOptions, Share, read,
};
use crate::error::{Kind, Result};

const SCHEMA: &str = "message page {
    required int64 number;
    optional binary text (STRING);
    optional group meta { optional binary url (STRING); optional int64 at (TIMESTAMP(MILLIS,true)); }
    repeated binary tags (STRING);
}";

/// What a row says: the number, the text, and the URL; a row without a URL has a group without it.
type Row<'a> = (i64, Option<&'a str>, Option<&'a str>);

fn write(path: &Path, groups: &[&[Row<'_>]], compression: Compression) {
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let properties = WriterProperties::builder().set_compression(compression).build();
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    for rows in groups {
        let mut group = writer.next_row_group().unwrap();
        let mut number = group.next_column().unwrap().unwrap();
        let numbers: Vec<i64> = rows.iter().map(|row| row.0).collect();
        number.typed::<Int64Type>().write_batch(&numbers, None, None).unwrap();
        number.close().unwrap();
        for (column, level) in [(1, 1), (2, 2)] {
            let of = |row: &Row<'_>| if column == 1 { row.1 } else { row.2 }.map(ByteArray::from);
            let values: Vec<Option<ByteArray>> = rows.iter().map(of).collect();
            let levels: Vec<i16> =
                values.iter().map(|it| if it.is_some() { level } else { level - 1 }).collect();
            let present: Vec<ByteArray> = values.into_iter().flatten().collect();
            let mut out = group.next_column().unwrap().unwrap();
            out.typed::<ByteArrayType>().write_batch(&present, Some(&levels), None).unwrap();
            out.close().unwrap();
        }
        let mut at = group.next_column().unwrap().unwrap();
        let times: Vec<i64> = rows.iter().map(|row| row.0 * 1000 - 1).collect();
        let levels = vec![2; rows.len()];
        at.typed::<Int64Type>().write_batch(&times, Some(&levels), None).unwrap();
        at.close().unwrap();
        let mut tags = group.next_column().unwrap().unwrap();
        let levels = vec![0; rows.len()];
        tags.typed::<ByteArrayType>().write_batch(&[], Some(&levels), Some(&levels)).unwrap();
        tags.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
}

fn fields(id: &str) -> Fields {
    Fields { id: id.into(), order: Some(OrderField::time("meta.at")), ..Fields::default() }
}

fn read_all(path: PathBuf, fields: Fields, portion_bytes: usize) -> Result<Vec<(u64, String)>> {
    let inputs = Inputs::find(&[path], Format::Auto)?;
    let options = ReadOptions { fields, portion_bytes, ..ReadOptions::default() };
    let mut found = Vec::new();
    let progress = AtomicU64::new(0);
    read(&inputs, &Share::whole(), &options, &progress, &mut |batch| {
        batch.parse(&options.fields, &mut |position, document| {
            let said = match document {
                Ok(document) => match (document.content, document.order) {
                    (Content::Text(text), OrderKey::At { key: seconds, .. }) => {
                        format!("{} {text} {seconds}", document.id)
                    }
                    other => format!("{other:?}"),
                },
                Err(reason) => reason.to_string(),
            };
            found.push((position.line, said));
        });
        true
    })?;
    assert_eq!(progress.into_inner(), inputs.bytes(), "all of the file counts as read");
    Ok(found)
}

const ROWS: [&[Row<'_>]; 3] = [
    &[(1, Some("one"), Some("a")), (2, None, Some("b")), (3, Some("three"), None)],
    &[],
    &[(4, Some(""), Some("d")), (5, Some("five"), Some("e\tf"))],
];

#[test]
fn rows_are_pages_and_nulls_are_missing_fields() {
    let folder = tempfile::tempdir().unwrap();
    for (name, compression) in [
        ("plain", Compression::UNCOMPRESSED),
        ("snappy", Compression::SNAPPY),
        ("zstd", Compression::ZSTD(Default::default())),
        ("gzip", Compression::GZIP(Default::default())),
        ("lz4", Compression::LZ4_RAW),
        ("brotli", Compression::BROTLI(Default::default())),
    ] {
        let path = folder.path().join(format!("{name}.parquet"));
        write(&path, &ROWS, compression);
        let by_url = read_all(path.clone(), fields("meta.url"), 1 << 20).unwrap();
        let lines: Vec<u64> = by_url.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 2, 3, 4, 5]);
        let said: Vec<&str> = by_url.iter().map(|(_, said)| &**said).collect();
        assert_eq!(said[0], "a one 0");
        assert_eq!(said[1], "the field `text` is null");
        assert_eq!(said[2], "the field `meta.url` is null");
        assert_eq!(said[3], "d  3");
        assert!(said[4].contains("id"), "{}", said[4]);
        let by_number = read_all(path, fields("number"), 1).unwrap();
        assert_eq!(by_number[4].1, "5 five 4", "{name}");
    }
}

#[test]
fn a_name_or_the_first_bytes_tell_the_format() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part-0");
    write(&path, &ROWS, Compression::SNAPPY);
    let inputs = Inputs::find(&[folder.path().into()], Format::Auto).unwrap();
    assert_eq!(inputs.files()[0].format(), Format::Parquet);
}

#[test]
fn columns_that_are_missing_or_lists_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    write(&path, &ROWS, Compression::SNAPPY);
    for (field, expected) in [
        ("url", "number, text, meta.url, meta.at, tags"),
        ("tags", "a list"),
        ("meta", "a group of columns"),
    ] {
        let error = read_all(path.clone(), fields(field), 1 << 20).unwrap_err();
        assert_eq!(error.kind(), Kind::BadData);
        assert!(error.to_string().contains(expected), "{error}");
    }
}

fn write_ids(path: &Path, declared: &str, ids: &[i64]) {
    let schema = format!("message page {{ required {declared}; required binary text (STRING); }}");
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    while let Some(mut column) = group.next_column().unwrap() {
        match column.untyped() {
            ColumnWriter::Int32ColumnWriter(column) => {
                let ids: Vec<i32> = ids.iter().map(|&id| id as i32).collect();
                column.write_batch(&ids, None, None).unwrap();
            }
            ColumnWriter::Int64ColumnWriter(column) => {
                column.write_batch(ids, None, None).unwrap();
            }
            ColumnWriter::ByteArrayColumnWriter(column) => {
                column.write_batch(&vec![ByteArray::from("a"); ids.len()], None, None).unwrap();
            }
            ColumnWriter::FixedLenByteArrayColumnWriter(column) => {
                let id = FixedLenByteArray::from(vec![0xa1; 16]);
                column.write_batch(&vec![id; ids.len()], None, None).unwrap();
            }
            ColumnWriter::DoubleColumnWriter(column) => {
                let ids: Vec<f64> = ids.iter().map(|&id| id as f64).collect();
                column.write_batch(&ids, None, None).unwrap();
            }
            _ => unreachable!("no other type is declared"),
        };
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
}

fn ids_of(path: &Path) -> Result<Vec<String>> {
    let inputs = Inputs::find(&[path.to_owned()], Format::Auto)?;
    let options = ReadOptions::default();
    let mut ids = Vec::new();
    read(&inputs, &Share::whole(), &options, &AtomicU64::new(0), &mut |batch| {
        batch.parse(&options.fields, &mut |_, document| {
            ids.push(document.map_or_else(|reason| reason.to_string(), |it| it.id.into_owned()));
        });
        true
    })?;
    Ok(ids)
}

#[test]
fn whole_numbers_are_the_ids_that_json_has() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let numbers = [0, 1, 255, i64::from(i32::MAX), -1, i64::from(i32::MIN), i64::MAX, i64::MIN];
    for (declared, text) in [
        ("int32 id", (|number| (number as i32).to_string()) as fn(i64) -> String),
        ("int32 id (INTEGER(8,true))", |number| (number as i32).to_string()),
        ("int32 id (INTEGER(32,true))", |number| (number as i32).to_string()),
        ("int32 id (INTEGER(16,false))", |number| (number as u32).to_string()),
        ("int32 id (INTEGER(32,false))", |number| (number as u32).to_string()),
        ("int32 id (UINT_32)", |number| (number as u32).to_string()),
        ("int32 id (DECIMAL(9,0))", |number| (number as i32).to_string()),
        ("int64 id", |number| number.to_string()),
        ("int64 id (INTEGER(64,true))", |number| number.to_string()),
        ("int64 id (INTEGER(64,false))", |number| (number as u64).to_string()),
        ("int64 id (UINT_64)", |number| (number as u64).to_string()),
        ("int64 id (DECIMAL(18,0))", |number| number.to_string()),
    ] {
        write_ids(&path, declared, &numbers);
        let expected: Vec<String> = numbers.into_iter().map(text).collect();
        assert_eq!(ids_of(&path).unwrap(), expected, "{declared}");
    }
}

#[test]
fn numbers_of_bytes_uuids_and_floats_without_a_fraction_are_ids() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    for (declared, expected) in [
        ("binary id (DECIMAL(20,0))", "97"),
        ("fixed_len_byte_array(16) id (UUID)", "a1a1a1a1-a1a1-a1a1-a1a1-a1a1a1a1a1a1"),
        ("fixed_len_byte_array(16) id (DECIMAL(38,0))", "-125437421531640061041400835680730242655"),
        ("double id", "7"),
    ] {
        write_ids(&path, declared, &[7]);
        assert_eq!(ids_of(&path).unwrap(), [expected], "{declared}");
    }
}

#[test]
fn numbers_that_mean_something_else_are_no_ids() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    for (declared, found) in [
        ("int32 id (DECIMAL(9,2))", "decimal numbers"),
        ("int64 id (DECIMAL(18,1))", "decimal numbers"),
        ("binary id (DECIMAL(60,0))", "decimal numbers"),
        ("fixed_len_byte_array(16) id", "FIXED_LEN_BYTE_ARRAY"),
        ("int32 id (TIME(MILLIS,true))", "times of a day"),
        ("int64 id (TIME_MICROS)", "times of a day"),
        ("int64 id; required int64 id", "two columns of this name"),
    ] {
        write_ids(&path, declared, &[1]);
        let error = ids_of(&path).unwrap_err();
        assert_eq!(error.kind(), Kind::BadData, "{declared}");
        assert!(error.to_string().contains(found), "{declared}: {error}");
    }
    write_ids(&path, "int64 id (TIMESTAMP(MILLIS,true))", &[1]);
    assert_eq!(ids_of(&path).unwrap(), ["not text: \"id\" is a time"]);
}

#[test]
fn numbers_with_a_fraction_put_rows_in_order_and_are_no_ids() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let schema = "message page { required binary id (STRING); required binary text (STRING); optional double score; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let file = File::create(&path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for _ in ["id", "text"] {
        let mut names = group.next_column().unwrap().unwrap();
        let values = ["a", "b", "c", "d"].map(ByteArray::from);
        names.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
        names.close().unwrap();
    }
    let mut scores = group.next_column().unwrap().unwrap();
    let (present, levels) = ([0.5, f64::NAN, -1.5], [1, 0, 1, 1]);
    scores.typed::<DoubleType>().write_batch(&present, Some(&levels), None).unwrap();
    scores.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    let by_score = OrderField { name: "score".into(), by: OrderBy::Greatest };
    let fields = Fields { order: Some(by_score.clone()), ..Fields::default() };
    let found = read_all(path.clone(), fields, 1 << 20).unwrap();
    let key = |value| by_score.key(value).unwrap().key().unwrap();
    assert_eq!(found[0].1, format!("a a {}", key("0.5")));
    assert!(found[1].1.contains("Empty") && found[2].1.contains("Wrong"), "{found:?}");
    assert_eq!(found[3].1, format!("d d {}", key("-1.5")));
    let fields = Fields { id: "score".into(), ..Fields::default() };
    let found = read_all(path, fields, 1 << 20).unwrap();
    let said = found.iter().map(|(_, said)| &**said).collect::<Vec<_>>();
    let fraction = |number| format!("the id is no whole number: {number}");
    let null = "the field `score` is null".to_owned();
    assert_eq!(said, [fraction("0.5"), null, fraction("NaN"), fraction("-1.5")]);
}

#[test]
fn damage_ends_with_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    write(&path, &ROWS, Compression::SNAPPY);
    let whole = fs::read(&path).unwrap();
    let mut failed = 0;
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= if at % 2 == 0 { 0xff } else { 1 };
        fs::write(&path, &bytes).unwrap();
        let rows = read_all(path.clone(), fields("number"), 1 << 20);
        failed += usize::from(rows.is_err());
        fs::write(&path, &whole[..at]).unwrap();
        let error = read_all(path.clone(), fields("number"), 1 << 20).unwrap_err();
        assert!([Kind::BadData, Kind::Usage].contains(&error.kind()), "{error}");
    }
    assert!(failed > whole.len() / 8, "{failed} of {}", whole.len());
}

#[test]
fn declared_lengths_reserve_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    write(&path, &ROWS, Compression::ZSTD(ZstdLevel::default()));
    let whole = fs::read(&path).unwrap();
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&File::open(&path).unwrap());
    let metadata = metadata.unwrap();
    let huge = 1 << 40;
    let declared: [fn(ColumnChunkMetaDataBuilder, i64) -> ColumnChunkMetaDataBuilder; 4] = [
        ColumnChunkMetaDataBuilder::set_num_values,
        ColumnChunkMetaDataBuilder::set_total_compressed_size,
        ColumnChunkMetaDataBuilder::set_total_uncompressed_size,
        ColumnChunkMetaDataBuilder::set_data_page_offset,
    ];
    for declare in declared {
        let groups = metadata.row_groups().iter().map(|group| {
            let columns = group.columns().iter().cloned();
            let columns = columns.map(|it| declare(it.into_builder(), huge).build().unwrap());
            let builder = group.clone().into_builder().set_total_byte_size(huge);
            let builder = builder.set_num_rows(huge).set_column_metadata(columns.collect());
            builder.build().unwrap()
        });
        let lying = metadata.clone().into_builder().set_row_groups(groups.collect()).build();
        let mut bytes = whole.clone();
        ParquetMetaDataWriter::new(&mut bytes, &lying).finish().unwrap();
        fs::write(&path, bytes).unwrap();
        let error = read_all(path.clone(), fields("number"), 1 << 20).unwrap_err();
        assert_eq!(error.kind(), Kind::BadData, "{error}");
    }
}

#[test]
fn ten_thousand_columns_and_deep_lists_are_passed_over() {
    let lists = |depth: usize| match depth {
        0 => "repeated int64 leaf;".to_owned(),
        _ => format!("repeated group g{depth} {{ {} }}", "X"),
    };
    let deep = (1..=60).fold(lists(0), |inner, depth| lists(depth).replace('X', &inner));
    let wide: String = (0..10_000).map(|at| format!("optional int64 c{at};")).collect();
    let schema = format!(
        "message page {{ required binary id (STRING); {wide} {deep} required binary text (STRING); }}"
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let mut writer =
        SerializedFileWriter::new(File::create(&path).unwrap(), schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    while let Some(mut column) = group.next_column().unwrap() {
        match column.untyped() {
            ColumnWriter::ByteArrayColumnWriter(it) => it.write_batch(&["a b".into()], None, None),
            ColumnWriter::Int64ColumnWriter(it) => it.write_batch(&[], Some(&[0]), Some(&[0])),
            _ => unreachable!("no other column"),
        }
        .unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    let read = read_all(path, Fields::default(), 1 << 20).unwrap();
    assert!(matches!(&read[..], [(1, page)] if page.contains("\"a b\"")), "{} rows", read.len());
}

const NESTED: &str = "message page {
    required binary id (STRING);
    optional group tags (LIST) { repeated group list { optional binary element (STRING); } }
    optional group meta { optional double score; }
    required boolean flag;
}";

fn write_nested(path: &Path, groups: usize) {
    let schema = Arc::new(parse_message_type(NESTED).unwrap());
    let noted = KeyValue::new("maker".to_owned(), "a test".to_owned());
    let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![noted])).build();
    let mut writer =
        SerializedFileWriter::new(File::create(path).unwrap(), schema, Arc::new(properties))
            .unwrap();
    for number in 0..groups {
        let rows = number * 700..(number + 1) * 700;
        let mut group = writer.next_row_group().unwrap();
        let mut out = group.next_column().unwrap().unwrap();
        let ids: Vec<ByteArray> =
            rows.clone().map(|row| format!("id{row}").into_bytes().into()).collect();
        out.typed::<ByteArrayType>().write_batch(&ids, None, None).unwrap();
        out.close().unwrap();
        let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows.clone() {
            let levels: &[i16] = [&[0_i16][..], &[1], &[2], &[3], &[3, 2, 3]][row % 5];
            for (at, &level) in levels.iter().enumerate() {
                repetitions.push(i16::from(at > 0));
                definitions.push(level);
                if level == 3 {
                    values.push(ByteArray::from(format!("tag{row}-{at}").into_bytes()));
                }
            }
        }
        let mut out = group.next_column().unwrap().unwrap();
        out.typed::<ByteArrayType>()
            .write_batch(&values, Some(&definitions), Some(&repetitions))
            .unwrap();
        out.close().unwrap();
        let levels: Vec<i16> = rows.clone().map(|row| (row % 3) as i16).collect();
        let scores: Vec<f64> =
            rows.clone().filter(|row| row % 3 == 2).map(|row| row as f64 / 8.0).collect();
        let mut out = group.next_column().unwrap().unwrap();
        out.typed::<DoubleType>().write_batch(&scores, Some(&levels), None).unwrap();
        out.close().unwrap();
        let flags: Vec<bool> = rows.map(|row| row % 7 == 0).collect();
        let mut out = group.next_column().unwrap().unwrap();
        out.typed::<BoolType>().write_batch(&flags, None, None).unwrap();
        out.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
}

fn texts(path: &Path) -> Vec<String> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect()
}

#[test]
fn rows_are_copied_with_lists_and_groups() {
    let folder = tempfile::tempdir().unwrap();
    let [input, output] = ["in.parquet", "out.parquet"].map(|name| folder.path().join(name));
    write_nested(&input, 3);
    let all = texts(&input);
    let found = || Inputs::find(std::slice::from_ref(&input), Format::Parquet).unwrap();
    // None of the second row group.
    for step in [1, 2, 3, 64, 699] {
        let rows: Vec<u64> =
            (1..=2100).step_by(step).filter(|row| !(701..=1400).contains(row)).collect();
        let out = File::create(&output).unwrap();
        let inputs = found();
        let mut copy = ParquetCopy::like(&inputs.files()[0], out, &output).unwrap();
        copy.copy(&inputs.files()[0], &rows.iter().copied().collect()).unwrap();
        copy.finish().unwrap();
        let expected: Vec<&String> = rows.iter().map(|&row| &all[row as usize - 1]).collect();
        assert!(texts(&output).iter().eq(expected), "every {step}");
    }
    let reader = SerializedFileReader::new(File::open(&output).unwrap()).unwrap();
    assert_eq!(reader.num_row_groups(), 2);
    let noted = reader.metadata().file_metadata().key_value_metadata().unwrap().clone();
    assert_eq!(noted[0].value.as_deref(), Some("a test"));
    let whole = fs::read(&input).unwrap();
    for at in (0..whole.len()).step_by(211) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        fs::write(&input, bytes).unwrap();
        let inputs = found();
        let file = &inputs.files()[0];
        let copied = ParquetCopy::like(file, Vec::new(), &output).and_then(|mut copy| {
            copy.copy(file, &(1..=2100).collect())?;
            copy.finish()
        });
        let is_ours = |error: &crate::Error| [Kind::BadData, Kind::Usage].contains(&error.kind());
        assert!(copied.as_ref().err().is_none_or(is_ours), "{copied:?}");
    }
}

/// A file with an id and a list of floats a row, in which lists are as `schema` says. `levels` are those of all elements: the
/// definition, and whether a row begins.
fn write_lists(path: &Path, schema: &str, levels: &[(i16, bool)], number: i16) {
    let schema = format!("message lists {{ required binary id (STRING); {schema} }}");
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let rows = levels.iter().filter(|(_, begins)| *begins).count();
    let ids: Vec<ByteArray> = (0..rows).map(|row| row.to_string().into_bytes().into()).collect();
    let mut out = group.next_column().unwrap().unwrap();
    out.typed::<ByteArrayType>().write_batch(&ids, None, None).unwrap();
    out.close().unwrap();
    let definitions: Vec<i16> = levels.iter().map(|(definition, _)| *definition).collect();
    let repetitions: Vec<i16> = levels.iter().map(|(_, begins)| i16::from(!begins)).collect();
    let present = definitions.iter().filter(|&&definition| definition == number).count();
    let numbers: Vec<f32> = (0..present).map(|at| at as f32 / 4.0).collect();
    let mut out = group.next_column().unwrap().unwrap();
    out.typed::<FloatType>().write_batch(&numbers, Some(&definitions), Some(&repetitions)).unwrap();
    out.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
}

fn vectors(path: &Path, portion_bytes: usize) -> Result<Vec<String>> {
    let inputs = Inputs::find(&[path.to_path_buf()], Format::Vectors)?;
    let fields = Fields { text: "vector".into(), vectors: true, ..Fields::default() };
    let options = ReadOptions { fields, portion_bytes, ..ReadOptions::default() };
    let mut found = Vec::new();
    read(&inputs, &Share::whole(), &options, &AtomicU64::new(0), &mut |batch| {
        batch.parse(&options.fields, &mut |_, document| {
            found.push(match document.map(|document| document.content) {
                Ok(Content::Vector(vector)) => format!("{vector:?}"),
                Ok(other) => format!("{other:?}"),
                Err(reason) => reason.to_string(),
            });
        });
        true
    })?;
    Ok(found)
}

#[test]
fn lists_of_numbers_are_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lists.parquet");
    let usual = "optional group vector (LIST) { repeated group list { optional float element; } }";
    let levels = [(3, true), (3, false), (1, true), (0, true), (2, true), (3, false), (3, true)];
    let not_a_number = "a component of the vector is not a number";
    let expected = ["[0.0, 0.25]", "[]", "the field `vector` is null", not_a_number, "[0.75]"];
    write_lists(&path, usual, &levels, 3);
    for portion_bytes in [1, 1 << 20] {
        assert_eq!(vectors(&path, portion_bytes).unwrap(), expected);
    }
    write_lists(&path, "repeated float vector;", &[(1, true), (1, false), (0, true), (1, true)], 1);
    assert_eq!(vectors(&path, 1).unwrap(), ["[0.0, 0.25]", "[]", "[0.5]"]);
    // One that is too long costs no other.
    let long = [vec![(1, true)], vec![(1, false); 65_536], vec![(1, true)]].concat();
    write_lists(&path, "repeated float vector;", &long, 1);
    let found = vectors(&path, 1 << 20).unwrap();
    assert_eq!(found[0], "the vector has more than 65536 components");
    assert_eq!(found[1..], [format!("[{:?}]", 65_537.0 / 4.0)]);
    let whole = fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(whole.len() / 300) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        fs::write(&path, bytes).unwrap();
        let found = vectors(&path, 1 << 20);
        assert!(
            found.as_ref().err().is_none_or(|error| error.kind() == Kind::BadData),
            "{found:?}"
        );
    }
}

#[test]
fn columns_that_are_no_lists_of_numbers_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pages.parquet");
    write_nested(&path, 1);
    let fields = |text: &str| Fields { text: text.into(), vectors: true, ..Fields::default() };
    for (field, said) in [
        ("tags", "lists of values of type BYTE_ARRAY"),
        ("flag", "no lists"),
        ("nothing", "the file lacks a column"),
    ] {
        let error = read_all(path.clone(), fields(field), 1 << 20).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn rows_of_pages_that_take_too_much_are_told_and_the_others_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    for (kind, has_dictionary) in [("required", false), ("optional", false), ("optional", true)] {
        let schema = format!("message m {{ required int64 id; {kind} binary text (STRING); }}");
        let schema = Arc::new(parse_message_type(&schema).unwrap());
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_dictionary_enabled(has_dictionary)
            .set_dictionary_page_size_limit(usize::MAX)
            .set_write_batch_size(1)
            .set_data_page_size_limit(if has_dictionary { 1 } else { 1 << 20 })
            .set_data_page_row_count_limit(2)
            .build();
        let file = File::create(&path).unwrap();
        let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut out = group.next_column().unwrap().unwrap();
        let ids: Vec<i64> = (0..10).collect();
        out.typed::<Int64Type>().write_batch(&ids, None, None).unwrap();
        out.close().unwrap();
        let long = "x".repeat(20 << 20);
        let text = |row: &i64| ByteArray::from(if *row == 4 { &*long } else { "short" });
        let texts: Vec<ByteArray> = ids.iter().map(text).collect();
        let levels = [1; 10];
        let levels = (kind == "optional").then_some(&levels[..]);
        let mut out = group.next_column().unwrap().unwrap();
        out.typed::<ByteArrayType>().write_batch(&texts, levels, None).unwrap();
        out.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        for portion_bytes in [1, 1 << 20] {
            let inputs = Inputs::find(std::slice::from_ref(&path), Format::Auto).unwrap();
            let options =
                ReadOptions { portion_bytes, max_record_bytes: 1 << 20, ..ReadOptions::default() };
            let mut bad = Vec::new();
            let mut ids = Vec::new();
            read(&inputs, &Share::whole(), &options, &AtomicU64::new(0), &mut |batch| {
                batch.parse(&options.fields, &mut |position, document| match document {
                    Ok(document) => ids.push(document.id.into_owned()),
                    Err(reason) => bad.push((position.line, reason.to_string())),
                });
                true
            })
            .unwrap();
            assert!(bad.iter().any(|(line, _)| *line == 5), "{kind} {has_dictionary}: {bad:?}");
            assert!(bad.iter().all(|it| it.1.contains("a page that is larger than pages may be")));
            let lost = if has_dictionary { 10 } else { 1 };
            assert_eq!((ids.len(), bad.len()), (10 - lost, lost), "{kind} {bad:?}");
        }
    }
}
