//! Forgeries: files of an output that are replaced, with a report that agrees with them and is sealed anew.

use std::cmp::Reverse;

use serde_json::{Value, json};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::support::Bench;

/// Rewrites files of an output, puts their sums into the part of its report that names them, changes the report, and seals it.
pub(crate) fn forge(
    bench: &Bench,
    (output, part): (&str, &str),
    files: &[(&str, &str, &str)],
    change: impl Fn(&mut Value),
) {
    let mut forged = Vec::new();
    for &(name, from, to) in files {
        let before = bench.read(&format!("{output}/{name}"));
        let after = before.replacen(from, to, 1);
        assert_ne!(before, after, "{name} does not hold `{from}`");
        forged.push((name, after.into_bytes()));
    }
    seal(bench, output, part, &forged, change);
}

pub(crate) fn replace_and_seal(bench: &Bench, output: &str, name: &str, after: &[u8]) {
    seal(bench, output, "outcome", &[(name, after.to_vec())], |_| ());
}

fn seal(
    bench: &Bench,
    output: &str,
    part: &str,
    files: &[(&str, Vec<u8>)],
    change: impl Fn(&mut Value),
) {
    let digest = |bytes: &[u8]| format!("{:032x}", xxh3_128(bytes));
    let mut report = bench.report(output);
    for (name, bytes) in files {
        report[part]["files"][name] = json!({ "bytes": bytes.len(), "xxh3": digest(bytes) });
        if *name == "verdicts.tsv" && report[part].get("dropped_examples").is_some() {
            let verdicts = std::str::from_utf8(bytes).unwrap();
            report[part]["dropped_examples"] = dropped_examples(verdicts);
        }
        bench.write(&format!("{output}/{name}"), bytes);
    }
    change(&mut report);
    report["run"]["xxh3"] = "0".repeat(32).into();
    let unsealed = serde_json::to_string_pretty(&report).unwrap() + "\n";
    let seal = digest(unsealed.as_bytes());
    bench.write(&format!("{output}/report.json"), unsealed.replace(&"0".repeat(32), &seal));
}

/// The examples of dropped pages by their definition: the ten of which the kept page contains least; then those of the largest distances, and of
/// equal ones those of the smallest digests.
pub(crate) fn dropped_examples(verdicts: &str) -> Value {
    let rows = verdicts.lines().map(|row| row.split('\t').collect::<Vec<_>>());
    let mut dropped: Vec<_> = rows.filter(|row| row[1] == "drop").collect();
    dropped.sort_by_key(|row| {
        let distance = row[3].parse::<u32>().unwrap();
        (row.get(5).copied(), Reverse(distance), xxh3_64(row[0].as_bytes()))
    });
    dropped.truncate(10);
    let examples = dropped.iter().map(|row| {
        let distance: u32 = row[3].parse().unwrap();
        let mut example =
            json!({"id": row[0], "of": row[2], "distance": distance, "against": row[4]});
        if let Some(containment) = row.get(5) {
            example["containment"] = json!(containment.parse::<f64>().unwrap());
        }
        example
    });
    examples.collect()
}
