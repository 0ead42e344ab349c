//! What is near: the answers to fingerprints, against the definition and `query`.

use serde_json::{Value, json};

use super::client::{Served, near, post, prints};
use crate::support::Bench;

#[test]
fn fingerprints_get_the_answers_of_the_definition_from_store_and_journal() {
    let bench = Bench::new();
    bench.done("store init store");
    let mut held: Vec<(String, u128, Option<String>)> = Vec::new();
    for day in 1..=3 {
        let pages = prints(day, 90);
        bench.segment(&format!("{day}"), 64, &pages);
        let date = format!("2026-11-0{day}");
        bench.done(&format!("store add store --segment {day}.seg --day {date}"));
        held.extend(pages.into_iter().map(|(id, bits)| (id, bits, Some(date.clone()))));
    }
    let served = Served::start(&bench, "--limit 1000");
    let asked = prints(9, 60);
    let hex: Vec<String> = asked.iter().map(|(_, bits)| format!("{bits:#018x}")).collect();
    let printed = bench.answer(&format!("query --store store --fingerprint {}", hex.join(" ")));
    let answers = served.post("/v1/query", json!({ "fingerprints": hex }))["answers"].clone();
    for (line, answer) in printed.lines().zip(answers.as_array().unwrap()) {
        let mut line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line.as_object_mut().unwrap().remove("store_version"), Some(json!(4)));
        assert_eq!(&line, answer, "the same as `query` prints");
    }
    let text = json!({ "pages": [{ "id": "a", "text": "words of a page" }] });
    for path in ["/v1/query", "/v1/pages"] {
        let refused = post(&served.address, path, &text).unwrap();
        assert_eq!((refused.status, &*refused.problem()), (422, "bad-page"));
        assert!(refused.body.contains("give the fingerprint"), "{refused:?}");
    }
    let journal = prints(4, 50);
    let pages: Vec<Value> = journal
        .iter()
        .map(|(id, bits)| json!({ "id": id, "fingerprint": format!("{bits:x}") }))
        .collect();
    served.post("/v1/pages", json!({ "remember": "all", "pages": pages }));
    held.extend(journal.into_iter().map(|(id, bits)| (id, bits, None)));
    for distance in 0..=7 {
        let body = json!({ "distance": distance, "fingerprints": hex });
        let told = served.post("/v1/query", body);
        assert_eq!(told["store_version"], 4);
        let answers = told["answers"].as_array().unwrap();
        assert_eq!(answers.len(), asked.len());
        for (((_, bits), hex), answer) in asked.iter().zip(&hex).zip(answers) {
            let mut expected: Vec<_> = held
                .iter()
                .map(|(id, other, day)| {
                    (u64::from((bits ^ other).count_ones()), id.clone(), day.clone())
                })
                .filter(|(apart, ..)| *apart <= distance)
                .collect();
            expected.sort();
            assert_eq!(near(answer), expected, "{distance}");
            assert_eq!(answer["id"], *hex);
            assert_eq!(answer["verdict"], if expected.is_empty() { "keep" } else { "drop" });
        }
    }
    assert_eq!(served.end().code, 0);
}
