//! Fields are told apart in every format, packed or not, by what they hold and not by their names alone.

use std::fs;
use std::io::Write;

use super::*;

/// The survey of files with these names and bytes.
fn survey(files: &[(&str, &[u8])]) -> Survey {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let inputs = Inputs::find(&[folder.path().to_path_buf()], Format::Auto).unwrap();
    Survey::of(&inputs).unwrap()
}

fn named(fields: &Fields) -> (&str, &str, Option<&str>, bool) {
    (&fields.id, &fields.text, fields.time.as_deref(), fields.html)
}

const LONG: &str =
    "a text that is longer than all else in its record, so it is the text of the page";

#[test]
fn fields_of_objects_are_told_by_what_they_hold() {
    let line = |at: u32| {
        format!(
            "{{\"meta\": {{\"url\": \"https://a.example/{at}\", \"fetched\": \"2026-11-21T00:00:{:02}Z\", \"date\": \"soon\"}}, \
             \"id\": 7, \"words\": [1, 2], \"title\": \"page {}\", \"story\": \"{LONG}\"}}\n",
            at % 60,
            at % 9
        )
    };
    let lines: String = (0..200).map(line).collect();
    let found = survey(&[("a.jsonl", lines.as_bytes()), ("b.jsonl", b"\n{broken\n")]);
    assert_eq!(found.records, 200);
    // The field `id` is the same in all records, so it is no id.
    let fields = found.proposal().unwrap();
    assert_eq!(named(&fields), ("meta.url", "story", Some("meta.fetched"), false));
    let title = &found.fields["title"];
    assert_eq!((title.filled, title.distinct(), title.mean_bytes()), (200, 9, 6));
    assert!(!found.fields.contains_key("words"));
}

#[test]
fn columns_are_told_in_every_format() {
    let rows: Vec<[String; 3]> = (0..50)
        .map(|at| [format!("<p>{LONG}, {at}"), format!("{}", 1_700_000_000 + at), format!("p{at}")])
        .collect();
    let tsv = |row: &[String; 3]| row.join("\t") + "\n";
    let csv =
        |row: &[String; 3]| format!("\"{}\",{},{}\r\n", row[0].replace(',', ",\n"), row[1], row[2]);
    let tsv = format!("page\tcrawled\tkey\n{}", rows.iter().map(tsv).collect::<String>());
    let csv = format!("page,crawled,key\r\n{}", rows.iter().map(csv).collect::<String>());
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(tsv.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let files: [(&str, &[u8]); 3] =
        [("a.tsv", tsv.as_bytes()), ("a.csv", csv.as_bytes()), ("a.tsv.gz", &packed)];
    for file in files {
        let found = survey(&[file]);
        assert_eq!(found.records, 50, "{}", file.0);
        let fields = found.proposal().unwrap();
        assert_eq!(named(&fields), ("key", "page", Some("crawled"), true), "{}", file.0);
    }
}

#[test]
fn only_the_first_records_are_looked_at_and_what_lacks_is_said() {
    let lines: String =
        (0..3 * MOST_RECORDS).map(|at| format!("{{\"number\": {at}, \"flag\": true}}\n")).collect();
    let found = survey(&[("a.jsonl", lines.as_bytes())]);
    assert_eq!(found.records, MOST_RECORDS);
    let error = found.proposal().unwrap_err().to_string();
    assert!(error.contains("a text") && error.contains("number"), "{error}");
    let same = "{\"name\": \"x\", \"text\": \"y\"}\n".repeat(30);
    let error = survey(&[("a.jsonl", same.as_bytes())]).proposal().unwrap_err().to_string();
    assert!(error.contains("an id"), "{error}");
    let none = survey(&[("a.html", b"<p>a page")]);
    assert_eq!((none.records, named(&none.proposal().unwrap())), (0, ("id", "text", None, false)));
}

#[test]
fn any_bytes_are_looked_at() {
    let endless = [b"{\"id\": \"".as_slice(), &vec![b'x'; MOST_BYTES + 9]].concat();
    for (name, bytes) in
        [("a.jsonl", &*endless), ("a.tsv", b"a\xff\tb\n\xfe"), ("a.csv", b"\"a\n\"\",b")]
    {
        let found = survey(&[(name, bytes)]);
        assert!(found.records <= 1 && found.fields.len() <= 2, "{name}: {found:?}");
    }
    let deep = format!("{}\"x\"{}\n", "{\"a\":".repeat(100), "}".repeat(100));
    assert_eq!(survey(&[("a.jsonl", deep.as_bytes())]).records, 1);
    let many: String = (0..2 * MOST_FIELDS).map(|at| format!("{{\"f{at}\": \"x\"}}\n")).collect();
    assert_eq!(survey(&[("a.jsonl", many.as_bytes())]).fields.len(), MOST_FIELDS);
}
