//! Lines of JSON give the fields of their objects, or the reason why not.

use super::*;

fn with_time() -> Fields {
    Fields { order: Some(OrderField::time("meta.time")), ..Fields::default() }
}

fn read(line: &str) -> (String, String, Option<i64>) {
    let page = parse(line, &with_time()).unwrap();
    match page.content {
        Content::Text(text) => (page.id.into_owned(), text.into_owned(), page.order.key()),
        other => panic!("{other:?}"),
    }
}

fn reason(line: &str) -> String {
    parse(line, &with_time()).unwrap_err().to_string()
}

#[test]
fn the_fields_wanted_are_found_among_others() {
    let line = r#" {"x": [1, {"id": 0}], "text": "页", "meta": {"id": 2, "time": 5}, "id": "a"} "#;
    assert_eq!(read(line), ("a".into(), "页".into(), Some(5)));
}

#[test]
fn a_string_without_escapes_is_borrowed() {
    let page = parse(r#"{"id": "a", "text": "plain"}"#, &with_time()).unwrap();
    assert!(matches!(page.content, Content::Text(Cow::Borrowed("plain"))));
    assert!(matches!(page.id, Cow::Borrowed("a")));
    let escaped = read(r#"{"id": "a", "text": "\u9875\n\ud83d\ude00"}"#);
    assert_eq!(escaped.1, "页\n😀");
}

#[test]
fn whole_numbers_are_ids_in_decimal() {
    for (id, text) in [
        ("0", "0"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("18446744073709551615", "18446744073709551615"),
        ("1.0", "1"),
        ("1e3", "1000"),
        ("-0.0", "0"),
        ("9e15", "9000000000000000"),
    ] {
        assert_eq!(read(&format!(r#"{{"id": {id}, "text": ""}}"#)).0, text);
    }
    for id in ["18446744073709551616", "1.5", "1e16", "true", "[]", "{}", r#"{"": "a"}"#] {
        let reason = reason(&format!(r#"{{"id": {id}, "text": ""}}"#));
        assert_eq!(reason, "the id is neither a string nor a whole number of 64 bits");
    }
}

#[test]
fn a_dotted_name_is_a_path_or_a_key() {
    let fields = Fields { id: "a.b.c".into(), text: "a.t".into(), ..Fields::default() };
    for (line, id) in [
        (r#"{"a": {"t": "", "b": {"c": "x"}}}"#, Some("x")),
        (r#"{"a": {"t": "", "b.c": "x"}}"#, Some("x")),
        (r#"{"a.b.c": "x", "a.t": ""}"#, Some("x")),
        (r#"{"a": {"t": "", "b": "x"}}"#, None),
        (r#"{"a": {"t": ""}, "b": {"c": "x"}}"#, None),
    ] {
        assert_eq!(parse(line, &fields).ok().as_ref().map(|page| &*page.id), id, "{line}");
    }
}

#[test]
fn of_a_key_met_twice_the_last_counts() {
    assert_eq!(read(r#"{"id": 1, "text": 5, "id": 2, "text": "b"}"#).0, "2");
    let line = r#"{"id": 1, "text": "", "meta": {"time": 5}, "meta": {}}"#;
    assert_eq!(read(line).2, None);
    assert_eq!(reason(r#"{"id": 1, "text": "", "id": null}"#), "the field `id` is null");
}

#[test]
fn times_may_be_missing_but_not_wrong() {
    let line = |meta: &str| format!(r#"{{"id": 1, "text": "", "meta": {meta}}}"#);
    for (meta, time) in [
        (r#"{"time": "1970-01-01T00:01:00Z"}"#, Some(60)),
        (r#"{"time": "60"}"#, Some(60)),
        (r#"{"time": null}"#, None),
        (r#"{"time": ""}"#, None),
        ("{}", None),
        ("null", None),
        ("7", None),
        ("[]", None),
    ] {
        assert_eq!(read(&line(meta)).2, time, "{meta}");
    }
    for wrong in ["1e300", "true", r#""soon""#, "18446744073709551615", "{}"] {
        let meta = format!(r#"{{"time": {wrong}}}"#);
        assert!(reason(&line(&meta)).contains("time"), "{meta}");
    }
}

#[test]
fn only_the_first_fields_are_told() {
    assert_eq!(fields_found("{}"), "none");
    let many: Vec<String> = (0..100).map(|n| format!(r#""f{n}": [{n}]"#)).collect();
    let found = fields_found(&format!("{{{}}}", many.join(",")));
    assert!(found.starts_with("f0, f1, ") && found.ends_with("f11, ..."), "{found}");
    let found = fields_found(&format!(r#"{{"{}\n": 1}}"#, "x".repeat(100_000)));
    assert!(found.len() < 60, "{found}");
}

#[test]
fn what_is_no_object_with_the_fields_is_quarantined() {
    for (line, expected) in [
        (r#"{"text": "a", "url": {"id": 1}}"#, "no field `id`; fields found: text, url"),
        (r#"{"id": "a"}"#, "no field `text`; fields found: id"),
        (r#"{"id": "a", "text": null}"#, "the field `text` is null"),
        (r#"{"id": "a", "text": ["a"]}"#, "the text is not a string"),
        ("[1]", "not a JSON object"),
        ("7", "not a JSON object"),
        ("null", "not a JSON object"),
        (r#""{}""#, "not a JSON object"),
        (r#"{"id": "a"#, "the JSON ends too early"),
        ("{", "the JSON ends too early"),
        (r#"{"id": 1, "x": [[["#, "the JSON ends too early"),
        (r#"{"id": 1, "text": ""} {}"#, "broken JSON at byte 23 of the line"),
    ] {
        assert_eq!(reason(line), expected, "{line}");
    }
    assert!(reason(r#"{"id": "\ud800"}"#).starts_with("half of a character"));
    for line in ["{]", "{'id': 1}", "{\"id\": \"\u{1}\"}", "\u{feff}{}"] {
        assert!(reason(line).starts_with("broken JSON at byte"), "{line}");
    }
}

#[test]
fn deep_nesting_takes_no_stack() {
    for (open, close) in [("[", "]"), (r#"{"id":"#, "}")] {
        for field in ["x", "text", "meta"] {
            let open = open.repeat(300_000);
            let close = close.repeat(300_000);
            let line = format!(r#"{{"id": 1, "text": "", "{field}": {open}0{close}}}"#);
            let read = parse(&line, &with_time());
            assert_eq!(read.is_err(), field == "text", "{field}");
            assert!(parse(&line[..200_000], &with_time()).is_err());
        }
    }
}
