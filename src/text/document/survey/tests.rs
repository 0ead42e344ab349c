//! Fields are told apart in every format, packed or not, by what they hold and not by their names alone.

use std::path::Path;

use super::*;
use crate::document::sample::{folder, gzip};

fn survey(files: &[(&str, &[u8])]) -> Survey {
    let folder = folder(files);
    let inputs = Inputs::find(&[folder.path().to_path_buf()], Format::Auto).unwrap();
    // The first ten letters of a name are its day.
    let day_of = |path: &Path| path.file_name()?.to_str()?.get(..10).map(str::to_owned);
    Survey::of(&inputs, day_of).unwrap()
}

/// The fields that are proposed, and which of them ids are taken from.
fn proposed(survey: &Survey) -> String {
    let Fields { id, text, order, html, place_ids, .. } = survey.proposal().unwrap();
    let time = order.map_or("none".to_owned(), |order| order.name);
    format!("{id} {text} {time} html={html} place-ids={place_ids}")
}

const BY_ID: &str = "html=false place-ids=false";

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
    assert_eq!(proposed(&found), format!("meta.url story meta.fetched {BY_ID}"));
    let title = &found.fields["title"];
    assert_eq!((title.filled, title.distinct(), title.mean_bytes()), (200, 9, 6));
    assert!(!found.fields.contains_key("words"));
}

#[test]
fn columns_are_told_in_every_format() {
    let time = |at: u32| 1_700_000_000 + at;
    let tsv = |at| format!("<p>{LONG}, {at}\t{}\tp{at}\n", time(at));
    let csv = |at| format!("\"<p>{LONG},\n {at}\",{},p{at}\r\n", time(at));
    let tsv = format!("page\tcrawled\tkey\n{}", (0..50).map(tsv).collect::<String>());
    let csv = format!("page,crawled,key\r\n{}", (0..50).map(csv).collect::<String>());
    let packed = gzip(tsv.as_bytes());
    for (name, bytes) in
        [("a.tsv", tsv.as_bytes()), ("a.csv", csv.as_bytes()), ("a.tsv.gz", &packed)]
    {
        let found = survey(&[(name, bytes)]);
        assert_eq!(found.records, 50, "{name}");
        assert_eq!(proposed(&found), "key page crawled html=true place-ids=false", "{name}");
    }
}

fn recrawled(names: [&str; 3], days: u32, quote: &str) -> String {
    let row = |at: u32| {
        let [url, text, time] = names;
        format!(
            "{{\"{url}\": \"https://a.example/{at}\", \"{text}\": \"news {} of the page {at}\", \"{time}\": {quote}{}{quote}}}\n",
            days * 7 + at,
            1_700_000_000 + 86_400 * days + at,
        )
    };
    (0..40).map(row).collect()
}

#[test]
fn an_id_comes_once_a_day_and_again_on_the_next() {
    for names in
        [["url", "text", "fetched"], ["address", "body", "crawled_at"], ["uri", "story", "ts"]]
    {
        let days: Vec<(String, String)> = (1..=8)
            .map(|day| (format!("2026-11-0{day}.jsonl"), recrawled(names, day, "")))
            .collect();
        let files: Vec<(&str, &[u8])> =
            days.iter().map(|(name, lines)| (name.as_str(), lines.as_bytes())).collect();
        assert_eq!(proposed(&survey(&files)), format!("{} {BY_ID}", names.join(" ")));
    }
}

#[test]
fn what_comes_again_in_a_day_is_no_id() {
    let rows: String = (0..20)
        .map(|at| format!("{{\"row\": {at}, \"name\": \"FILE{at}\", \"story\": \"{LONG}\"}}\n"))
        .collect();
    let [one, two] = ["a", "b"].map(|file| rows.replace("FILE", file));
    let found =
        survey(&[("2026-11-01a.jsonl", one.as_bytes()), ("2026-11-01b.jsonl", two.as_bytes())]);
    assert_eq!(found.proposal().unwrap().id, "name");
}

#[test]
fn times_are_known_by_many_names_and_have_fractions() {
    let names = "crawled_at fetchedAt ts crawl_date warc_date WARC-Date fetch_ts \
        scraped retrieved_at retrieve_time capture-time download_date meta.crawl_timestamp timestamp";
    let others = "crawl_id fetches depth access_count";
    let times = names.split(' ').map(|name| (name, "\"", name));
    for (name, quote, time) in times.chain(others.split(' ').map(|name| (name, "", "none"))) {
        let lines = recrawled(["url", "text", name], 1, quote);
        let found = survey(&[("a.jsonl", lines.as_bytes())]);
        assert_eq!(proposed(&found), format!("url text {time} {BY_ID}"));
    }
    let lines: String = (0..20)
        .map(|at| format!("{{\"address\": \"a.example/{at}\", \"ts\": 1700000000.{at}5, \"story\": \"{LONG}\"}}\n"))
        .collect();
    let found = survey(&[("a.jsonl", lines.as_bytes())]);
    assert_eq!(proposed(&found), format!("address story ts {BY_ID}"));
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
    let texts: String = (0..30).map(|at| format!("{{\"text\": \"page {at}\"}}\n")).collect();
    for lines in [same, texts] {
        let found = survey(&[("a.jsonl", lines.as_bytes())]);
        assert_eq!(proposed(&found), "id text none html=false place-ids=all");
    }
    let none = survey(&[("a.html", b"<p>a page")]);
    assert_eq!((none.records, proposed(&none)), (0, format!("id text none {BY_ID}")));
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
