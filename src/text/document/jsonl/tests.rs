//! What a line of JSON costs. What is read of it is in `cases.txt`.

use std::borrow::Cow;

use super::*;
use crate::document::{Content, OrderField};

fn with_time() -> Fields {
    Fields { order: Some(OrderField::time("meta.time")), ..Fields::default() }
}

#[test]
fn a_string_without_escapes_is_borrowed() {
    let page = parse(r#"{"id": "a", "text": "plain"}"#, &with_time(), false).unwrap();
    assert!(matches!(page.content, Content::Text(Cow::Borrowed("plain"))));
    assert!(matches!(page.id, Cow::Borrowed("a")));
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
fn deep_nesting_takes_no_stack() {
    for (open, close) in [("[", "]"), (r#"{"id":"#, "}")] {
        for field in ["x", "text", "meta"] {
            let open = open.repeat(300_000);
            let close = close.repeat(300_000);
            let line = format!(r#"{{"id": 1, "text": "", "{field}": {open}0{close}}}"#);
            let read = parse(&line, &with_time(), false);
            assert_eq!(read.is_err(), field == "text", "{field}");
            assert!(parse(&line[..200_000], &with_time(), false).is_err());
        }
    }
}
