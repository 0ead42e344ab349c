//! /openapi.json against the answers, and the metrics.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::client::{Served, post};
use crate::schema::obeys;

fn fields(api: &Value, schema: &Value) -> BTreeSet<String> {
    if let Some(path) = schema["$ref"].as_str() {
        return fields(api, api.pointer(path.trim_start_matches('#')).expect("it is defined"));
    }
    schema["properties"].as_object().unwrap().keys().cloned().collect()
}

/// Fails unless `value` is as `schema` says, and has nothing else in it.
fn conforms(api: &Value, schema: &Value, value: &Value) {
    assert!(obeys(schema, api, value), "{value} is not as {schema} says");
}

/// The fields that a problem names behind the one that is not known.
fn fields_named(problem: &Value) -> BTreeSet<String> {
    let detail = problem["detail"].as_str().unwrap();
    detail.split('`').skip(3).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_description_fits_the_answers_and_the_metrics_count() {
    let (_bench, served) = Served::fresh("--preset paper");
    let api = served.get("/openapi.json").unwrap().json();
    let body = |path: &str, method: &str, status: &str, kind: &str| {
        let response = &api["paths"][path][method]["responses"][status];
        response["content"][kind]["schema"].clone()
    };
    let page = |id: &str| json!({ "id": id, "text": "one and the same page" });
    for (path, request) in [
        ("/v1/pages", json!({ "pages": [page("a"), page("b")] })),
        ("/v1/query", json!({ "pages": [page("c")] })),
        ("/v1/commit", json!({ "day": "2026-11-22" })),
        ("/v1/query", json!({ "fingerprints": ["0x1"] })),
    ] {
        let schema = body(path, "post", "200", "application/json");
        conforms(&api, &schema, &served.post(path, request));
        let problem = post(&served.address, path, &json!({ "no": "such field" })).unwrap().json();
        let schema = body(path, "post", "default", "application/problem+json");
        conforms(&api, &schema, &problem);
        let taken = &api["paths"][path]["post"]["requestBody"]["content"]["application/json"];
        assert_eq!(fields(&api, &taken["schema"]), fields_named(&problem));
    }
    let no_page = post(&served.address, "/v1/query", &json!({ "pages": [{ "no": 1 }] })).unwrap();
    let of_page = json!({ "$ref": "#/components/schemas/Page" });
    assert_eq!(fields(&api, &of_page), fields_named(&no_page.json()));
    assert_eq!(api["info"]["version"], env!("CARGO_PKG_VERSION"));
    let schema = body("/v1/status", "get", "200", "application/json");
    conforms(&api, &schema, &served.get("/v1/status").unwrap().json());
    let paths: BTreeSet<&str> =
        api["paths"].as_object().unwrap().keys().map(String::as_str).collect();
    let known = [
        "/healthz",
        "/metrics",
        "/openapi.json",
        "/readyz",
        "/v1/commit",
        "/v1/pages",
        "/v1/query",
        "/v1/status",
    ];
    assert!(paths.into_iter().eq(known));
    let metrics = served.get("/metrics").unwrap().body;
    for line in [
        "dupsieve_requests_total{path=\"/v1/query\",status=\"200\"} 2",
        "dupsieve_requests_total{path=\"/v1/query\",status=\"400\"} 3",
        "dupsieve_asked_total 2",
        "dupsieve_remembered_total 2",
        "dupsieve_commits_total 1",
        "dupsieve_store_version 2",
        "dupsieve_store_rows 1",
        "dupsieve_journal_pages 0",
        "dupsieve_request_seconds_count{path=\"/v1/commit\"} 2",
    ] {
        assert!(metrics.lines().any(|it| it == line), "no {line} in {metrics}");
    }
    assert_eq!(served.end().code, 0);
}
