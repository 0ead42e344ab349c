//! Parquet files of every kind of column, read back, and damaged ones.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray,
    FixedLenByteArrayType, FloatType, Int32Type, Int64Type,
};
use parquet::file::metadata::{
    ColumnChunkMetaDataBuilder, KeyValue, ParquetMetaDataReader, ParquetMetaDataWriter,
};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use roaring::RoaringTreemap;
use tempfile::TempPath;

use super::ParquetCopy;
use crate::document::sample::{Outcome, read_file};
use crate::document::{
    Content, Document, Fields, Format, Inputs, OrderBy, OrderField, OrderKey, ReadOptions,
};
use crate::error::{Kind, Result};

fn new_file() -> TempPath {
    tempfile::Builder::new().suffix(".parquet").tempfile().unwrap().into_temp_path()
}

/// Writes what a column of a row group has.
type Leaf = Box<dyn FnOnce(&mut SerializedColumnWriter<'_>)>;

fn leaf<T: DataType>(
    values: Vec<T::T>,
    definitions: Option<Vec<i16>>,
    repetitions: Option<Vec<i16>>,
) -> Leaf
where
    T::T: 'static,
{
    Box::new(move |out| {
        let (definitions, repetitions) = (definitions.as_deref(), repetitions.as_deref());
        out.typed::<T>().write_batch(&values, definitions, repetitions).unwrap();
    })
}

fn texts<S: Into<String>>(values: impl IntoIterator<Item = S>) -> Vec<ByteArray> {
    values.into_iter().map(|it| it.into().into_bytes().into()).collect()
}

fn write(path: &Path, schema: &str, properties: WriterProperties, groups: Vec<Vec<Leaf>>) {
    let schema = Arc::new(parse_message_type(&format!("message page {{ {schema} }}")).unwrap());
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    for leaves in groups {
        let mut group = writer.next_row_group().unwrap();
        for leaf in leaves {
            let mut out = group.next_column().unwrap().unwrap();
            leaf(&mut out);
            out.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
}

const SCHEMA: &str = "
    required int64 number;
    optional binary text (STRING);
    optional group meta { optional binary url (STRING); optional int64 at (TIMESTAMP(MILLIS,true)); }
    repeated binary tags (STRING);";

/// What a row says: the number, the text, and the URL; a row without a URL has a group without it.
type Row<'a> = (i64, Option<&'a str>, Option<&'a str>);

const ROWS: [&[Row<'_>]; 3] = [
    &[(1, Some("one"), Some("a")), (2, None, Some("b")), (3, Some("three"), None)],
    &[],
    &[(4, Some(""), Some("d")), (5, Some("five"), Some("e\tf"))],
];

fn write_rows(path: &Path, compression: Compression) {
    let properties = WriterProperties::builder().set_compression(compression).build();
    let optional = |values: Vec<Option<&str>>, level: i16| {
        let levels = values.iter().map(|it| level - i16::from(it.is_none())).collect();
        leaf::<ByteArrayType>(texts(values.into_iter().flatten()), Some(levels), None)
    };
    let group = |rows: &[Row<'_>]| {
        let times = rows.iter().map(|row| row.0 * 1000 - 1).collect();
        let none = || Some(vec![0; rows.len()]);
        vec![
            leaf::<Int64Type>(rows.iter().map(|row| row.0).collect(), None, None),
            optional(rows.iter().map(|row| row.1).collect(), 1),
            optional(rows.iter().map(|row| row.2).collect(), 2),
            leaf::<Int64Type>(times, Some(vec![2; rows.len()]), None),
            leaf::<ByteArrayType>(Vec::new(), none(), none()),
        ]
    };
    write(path, SCHEMA, properties, ROWS.into_iter().map(group).collect());
}

fn fields(id: &str) -> Fields {
    Fields { id: id.into(), order: Some(OrderField::time("meta.at")), ..Fields::default() }
}

/// The id, the content and, where a record has one, the key of the order.
fn shown(document: Document<'_>) -> String {
    let said = match document.content {
        Content::Text(text) => format!("{} {text}", document.id),
        Content::Vector(vector) => format!("{vector:?}"),
        other => format!("{other:?}"),
    };
    match document.order {
        OrderKey::NoField => said,
        OrderKey::At { key, .. } => format!("{said} {key}"),
        other => format!("{said} {other:?}"),
    }
}

fn read_all(path: &Path, fields: Fields, portion_bytes: usize) -> Result<Outcome> {
    read_file(path, &ReadOptions { fields, portion_bytes, ..ReadOptions::default() }, &shown)
}

#[test]
fn rows_are_pages_and_nulls_are_missing_fields() {
    let folder = tempfile::tempdir().unwrap();
    // The first bytes tell the format.
    let path = folder.path().join("part-0");
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::ZSTD(Default::default()),
        Compression::GZIP(Default::default()),
        Compression::LZ4_RAW,
        Compression::BROTLI(Default::default()),
    ] {
        write_rows(&path, compression);
        let by_url = read_all(&path, fields("meta.url"), 1 << 20).unwrap();
        let expected = [
            "a one 0",
            "! the field `text` is null",
            "! the field `meta.url` is null",
            "d  3",
            "! the id holds a tab, CR, LF or NUL: \"e\\tf\"",
        ];
        assert_eq!(by_url.said(), expected, "{compression}");
        assert!(by_url.lines().into_iter().map(|(line, _)| line).eq(1..=5));
        let by_number = read_all(&path, fields("number"), 1).unwrap();
        assert_eq!(by_number.said()[4], "5 five 4", "{compression}");
    }
}

#[test]
fn columns_that_are_missing_or_of_another_kind_are_named() {
    let [rows, nested] = [new_file(), new_file()];
    write_rows(&rows, Compression::SNAPPY);
    write_nested(&nested, 1);
    for (path, fields, expected) in [
        (&rows, fields("url"), "expected \"url\", found number, text, meta.url, meta.at, tags"),
        (&rows, fields("tags"), "a list"),
        (&rows, fields("meta"), "a group of columns"),
        (&nested, of_vectors("tags"), "lists of values of type BYTE_ARRAY"),
        (&nested, of_vectors("flag"), "no lists"),
        (&nested, of_vectors("nothing"), "the file lacks a column"),
    ] {
        let error = read_all(path, fields, 1 << 20).unwrap_err();
        assert_eq!(error.kind(), Kind::BadData);
        assert!(error.to_string().contains(expected), "{error}");
    }
}

/// Reads a file with the column `id`, as declared, and the text `a` in each row.
fn read_ids(path: &Path, declared: &str, ids: &[i64]) -> Result<Vec<String>> {
    let column = |declared: &str| match declared.trim().split(' ').next() {
        Some("int32") => leaf::<Int32Type>(ids.iter().map(|&id| id as i32).collect(), None, None),
        Some("int64" | "required") => leaf::<Int64Type>(ids.to_vec(), None, None),
        Some("binary") => leaf::<ByteArrayType>(vec!["a".into(); ids.len()], None, None),
        Some("double") => leaf::<DoubleType>(ids.iter().map(|&id| id as f64).collect(), None, None),
        _ => {
            let id = FixedLenByteArray::from(vec![0xa1; 16]);
            leaf::<FixedLenByteArrayType>(vec![id; ids.len()], None, None)
        }
    };
    let mut leaves: Vec<Leaf> = declared.split(';').map(column).collect();
    leaves.push(leaf::<ByteArrayType>(vec!["a".into(); ids.len()], None, None));
    let schema = format!("required {declared}; required binary text (STRING);");
    write(path, &schema, WriterProperties::default(), vec![leaves]);
    let id = |document: Document<'_>| document.id.into_owned();
    let outcome = read_file(path, &ReadOptions::default(), &id)?;
    Ok(outcome.records.into_iter().map(|(_, said)| said).collect())
}

/// Each line of the table: the number of each row, the column of the ids as it is declared, and the ids; or, behind `!!`, why they can be none.
#[test]
fn whole_numbers_are_the_ids_that_json_has_and_others_are_no_ids() {
    let path = new_file();
    for line in include_str!("tests/ids.tsv").lines() {
        let [numbers, declared, expected] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!()
        };
        let numbers: Vec<i64> = numbers.split(' ').map(|it| it.parse().unwrap()).collect();
        match read_ids(&path, declared, &numbers) {
            Ok(ids) => assert_eq!(ids.join(" "), expected, "{declared}"),
            Err(error) => {
                assert_eq!(error.kind(), Kind::BadData, "{declared}");
                let why = expected.strip_prefix("!! ").unwrap_or_else(|| panic!("{error}"));
                assert!(error.to_string().contains(why), "{declared}: {error}");
            }
        }
    }
}

#[test]
fn numbers_with_a_fraction_put_rows_in_order_and_are_no_ids() {
    let path = new_file();
    let schema =
        "required binary id (STRING); required binary text (STRING); optional double score;";
    let names = || leaf::<ByteArrayType>(texts(["a", "b", "c", "d"]), None, None);
    let scores = leaf::<DoubleType>(vec![0.5, f64::NAN, -1.5], Some(vec![1, 0, 1, 1]), None);
    write(&path, schema, WriterProperties::default(), vec![vec![names(), names(), scores]]);
    let by_score = OrderField { name: "score".into(), by: OrderBy::Greatest };
    let fields = Fields { order: Some(by_score.clone()), ..Fields::default() };
    let key = |value| by_score.key(value).unwrap().key().unwrap();
    let [first, last] = ["0.5", "-1.5"].map(key);
    let expected = [format!("a a {first}"), "b b Empty".into(), "c c Wrong".into()];
    let outcome = read_all(&path, fields, 1 << 20).unwrap();
    assert_eq!(outcome.said()[..3], expected);
    assert_eq!(outcome.said()[3], format!("d d {last}"));
    let fields = Fields { id: "score".into(), ..Fields::default() };
    let fraction = "! the id is neither a string nor a whole number of 64 bits";
    let expected = [fraction, "! the field `score` is null", fraction, fraction];
    assert_eq!(read_all(&path, fields, 1 << 20).unwrap().said(), expected);
}

/// A file with any byte changed, or any part of its end missing, gives rows or an error, and ends.
#[test]
fn damage_ends_with_an_error() {
    let path = new_file();
    write_rows(&path, Compression::SNAPPY);
    let whole = fs::read(&path).unwrap();
    let mut failed = 0;
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= if at % 2 == 0 { 0xff } else { 1 };
        fs::write(&path, &bytes).unwrap();
        failed += usize::from(read_all(&path, fields("number"), 1 << 20).is_err());
        fs::write(&path, &whole[..at]).unwrap();
        let error = read_all(&path, fields("number"), 1 << 20).unwrap_err();
        assert!([Kind::BadData, Kind::Usage].contains(&error.kind()), "{error}");
    }
    assert!(failed > whole.len() / 8, "{failed} of {}", whole.len());
}

/// Lengths that a file declares are not believed: a group of many gigabytes that is not there ends with an error at once.
#[test]
fn declared_lengths_reserve_no_memory() {
    let path = new_file();
    write_rows(&path, Compression::ZSTD(ZstdLevel::default()));
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
        let error = read_all(&path, fields("number"), 1 << 20).unwrap_err();
        assert_eq!(error.kind(), Kind::BadData, "{error}");
    }
}

#[test]
fn ten_thousand_columns_and_deep_lists_are_passed_over() {
    let deep = (1..=60).fold("repeated int64 leaf;".to_owned(), |inner, depth| {
        format!("repeated group g{depth} {{ {inner} }}")
    });
    let wide: String = (0..10_000).map(|at| format!("optional int64 c{at};")).collect();
    let schema =
        format!("required binary id (STRING); {wide} {deep} required binary text (STRING);");
    let path = new_file();
    let text = || leaf::<ByteArrayType>(texts(["a b"]), None, None);
    let none = (0..10_001).map(|_| leaf::<Int64Type>(vec![], Some(vec![0]), Some(vec![0])));
    let leaves = [text()].into_iter().chain(none).chain([text()]).collect();
    write(&path, &schema, WriterProperties::default(), vec![leaves]);
    assert_eq!(read_all(&path, Fields::default(), 1 << 20).unwrap().said(), ["a b a b"]);
}

const NESTED: &str = "
    required binary id (STRING);
    optional group tags (LIST) { repeated group list { optional binary element (STRING); } }
    optional group meta { optional double score; }
    required boolean flag;";

/// A file of `groups` row groups of 700 rows with lists that are missing, empty, of nulls and of texts.
fn write_nested(path: &Path, groups: usize) {
    let noted = KeyValue::new("maker".to_owned(), "a test".to_owned());
    let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![noted])).build();
    let group = |number: usize| {
        let rows = number * 700..(number + 1) * 700;
        let (mut tags, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows.clone() {
            let levels: &[i16] = [&[0_i16][..], &[1], &[2], &[3], &[3, 2, 3]][row % 5];
            for (at, &level) in levels.iter().enumerate() {
                repetitions.push(i16::from(at > 0));
                definitions.push(level);
                if level == 3 {
                    tags.push(format!("tag{row}-{at}"));
                }
            }
        }
        let scores = rows.clone().filter(|row| row % 3 == 2).map(|row| row as f64 / 8.0);
        let levels = rows.clone().map(|row| (row % 3) as i16).collect();
        let ids = texts(rows.clone().map(|row| format!("id{row}")));
        vec![
            leaf::<ByteArrayType>(ids, None, None),
            leaf::<ByteArrayType>(texts(tags), Some(definitions), Some(repetitions)),
            leaf::<DoubleType>(scores.collect(), Some(levels), None),
            leaf::<BoolType>(rows.map(|row| row % 7 == 0).collect(), None, None),
        ]
    };
    write(path, NESTED, properties, (0..groups).map(group).collect());
}

fn rows_of(path: &Path) -> Vec<String> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect()
}

fn copied<W: Write + Send>(
    input: &Path,
    out: W,
    rows: RoaringTreemap,
    text: Option<&str>,
    texts: &mut dyn FnMut(u64) -> Result<Option<String>>,
) -> Result<W> {
    let inputs = Inputs::find(&[input.to_path_buf()], Format::Parquet)?;
    let file = &inputs.files()[0];
    let mut copy = ParquetCopy::like(file, out, Path::new("copy.parquet"))?;
    copy.copy(file, &rows, text, texts)?;
    copy.finish()
}

#[test]
fn rows_are_copied_with_lists_and_groups() {
    let [input, output] = [new_file(), new_file()];
    write_nested(&input, 3);
    let all = rows_of(&input);
    // None of the second row group.
    for step in [1, 2, 3, 64, 699] {
        let rows: Vec<u64> =
            (1..=2100).step_by(step).filter(|row| !(701..=1400).contains(row)).collect();
        let (out, wanted) = (File::create(&output).unwrap(), rows.iter().copied().collect());
        copied(&input, out, wanted, None, &mut |_| Ok(None)).unwrap();
        let expected: Vec<&String> = rows.iter().map(|&row| &all[row as usize - 1]).collect();
        assert!(rows_of(&output).iter().eq(expected), "every {step}");
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
        let copied = copied(&input, Vec::new(), (1..=2100).collect(), None, &mut |_| Ok(None));
        let is_ours = |error: &crate::Error| [Kind::BadData, Kind::Usage].contains(&error.kind());
        assert!(copied.as_ref().err().is_none_or(is_ours), "{copied:?}");
    }
}

#[test]
fn rows_are_copied_with_other_texts() {
    let [input, output] = [new_file(), new_file()];
    write_nested(&input, 3);
    let copy = |text| {
        let of_row = |row: u64| row.is_multiple_of(7).then(|| format!("new {row}"));
        let out = File::create(&output).unwrap();
        copied(&input, out, (2..=1300).collect(), Some(text), &mut |row| Ok(of_row(row)))
    };
    copy("id").unwrap();
    let all = rows_of(&input);
    let expected = (2..).zip(&all[1..1300]).map(|(row, text)| match row % 7 {
        0 => text.replace(&format!("id: \"id{}\"", row - 1), &format!("id: \"new {row}\"")),
        _ => text.clone(),
    });
    let expected: Vec<String> = expected.collect();
    assert!(expected[5].contains("new 7"), "{}", expected[5]);
    assert_eq!(rows_of(&output), expected);
    assert_eq!(copy("flag").unwrap_err().kind(), Kind::Usage);
}

/// A file with an id and a list of floats a row, in which lists are as `schema` says. `levels` are those of all elements: the
/// definition, and whether a row begins.
fn write_lists(path: &Path, schema: &str, levels: &[(i16, bool)], number: i16) {
    let rows = levels.iter().filter(|(_, begins)| *begins).count();
    let definitions: Vec<i16> = levels.iter().map(|(definition, _)| *definition).collect();
    let repetitions = levels.iter().map(|(_, begins)| i16::from(!begins)).collect();
    let present = definitions.iter().filter(|&&definition| definition == number).count();
    let numbers = (0..present).map(|at| at as f32 / 4.0).collect();
    let leaves = vec![
        leaf::<ByteArrayType>(texts((0..rows).map(|row| row.to_string())), None, None),
        leaf::<FloatType>(numbers, Some(definitions), Some(repetitions)),
    ];
    let schema = format!("required binary id (STRING); {schema}");
    write(path, &schema, WriterProperties::default(), vec![leaves]);
}

fn of_vectors(text: &str) -> Fields {
    Fields { text: text.into(), vectors: true, ..Fields::default() }
}

#[test]
fn lists_of_numbers_are_vectors() {
    let path = new_file();
    let vectors = |portion_bytes| read_all(&path, of_vectors("vector"), portion_bytes);
    let usual = "optional group vector (LIST) { repeated group list { optional float element; } }";
    let levels = [(3, true), (3, false), (1, true), (0, true), (2, true), (3, false), (3, true)];
    let not_a_number = "! a component of the vector is not a number";
    let expected = ["[0.0, 0.25]", "[]", "! the field `vector` is null", not_a_number, "[0.75]"];
    write_lists(&path, usual, &levels, 3);
    for portion_bytes in [1, 1 << 20] {
        assert_eq!(vectors(portion_bytes).unwrap().said(), expected);
    }
    write_lists(&path, "repeated float vector;", &[(1, true), (1, false), (0, true), (1, true)], 1);
    assert_eq!(vectors(1).unwrap().said(), ["[0.0, 0.25]", "[]", "[0.5]"]);
    // One that is too long costs no other.
    let long = [vec![(1, true)], vec![(1, false); 65_536], vec![(1, true)]].concat();
    write_lists(&path, "repeated float vector;", &long, 1);
    let last = format!("[{:?}]", 65_537.0 / 4.0);
    let expected = ["! the vector has more than 65536 components", &last];
    assert_eq!(vectors(1 << 20).unwrap().said(), expected);
    let whole = fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(whole.len() / 300) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        fs::write(&path, bytes).unwrap();
        let error = vectors(1 << 20).err();
        assert!(error.as_ref().is_none_or(|it| it.kind() == Kind::BadData), "{error:?}");
    }
}

/// A page that takes too much costs its rows, and no other; a dictionary those that name its values.
#[test]
fn rows_of_pages_that_take_too_much_are_told_and_the_others_read() {
    let path = new_file();
    for (kind, has_dictionary) in [("required", false), ("optional", false), ("optional", true)] {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_dictionary_enabled(has_dictionary)
            .set_dictionary_page_size_limit(usize::MAX)
            .set_write_batch_size(1)
            .set_data_page_size_limit(if has_dictionary { 1 } else { 1 << 20 })
            .set_data_page_row_count_limit(2)
            .build();
        let long = "x".repeat(20 << 20);
        let values = texts((0..10).map(|row| if row == 4 { &*long } else { "short" }));
        let levels = (kind == "optional").then(|| vec![1; 10]);
        let leaves = vec![
            leaf::<Int64Type>((0..10).collect(), None, None),
            leaf::<ByteArrayType>(values, levels, None),
        ];
        let schema = format!("required int64 id; {kind} binary text (STRING);");
        write(&path, &schema, properties, vec![leaves]);
        for portion_bytes in [1, 1 << 20] {
            let options =
                ReadOptions { portion_bytes, max_record_bytes: 1 << 20, ..ReadOptions::default() };
            let outcome = read_file(&path, &options, &shown).unwrap();
            let bad = outcome.reasons();
            assert!(bad.iter().any(|(line, _)| *line == 5), "{kind} {has_dictionary}: {bad:?}");
            assert!(bad.iter().all(|it| it.1.contains("a page that is larger than pages may be")));
            let lost = if has_dictionary { 10 } else { 1 };
            assert_eq!((outcome.records.len(), bad.len()), (10, lost), "{kind} {bad:?}");
        }
    }
}
