//! The tables of an output in every format: the same rows, read by every command, proved whole, and the same bytes however
//! they were made.

use std::collections::BTreeMap;
use std::path::Path;

use dupsieve::results::{ResultFormat, ResultReader};

use crate::forgery::replace_and_seal;
use crate::support::Bench;
use crate::world::museum;

fn formats() -> impl Iterator<Item = ResultFormat> {
    ResultFormat::ALL.into_iter().filter(|format| format.check().is_ok())
}

/// A batch with copies, pages that are nearly the same, and a page without a word; a store, and its own batch.
fn batch() -> Bench {
    let bench = Bench::new();
    bench.write("old.jsonl", bench.documents(200, 400));
    bench.write("pages.jsonl", bench.documents(0, 300) + "{\"id\": \"blank\", \"text\": \"\"}\n");
    for name in ["old", "pages"] {
        bench.done(&format!(
            "fingerprint --input {name}.jsonl --output {name}.seg --sketch minhash"
        ));
    }
    bench.store(&[("2026-01-01", "old")]);
    bench
}

/// The names of the columns of a table, and its rows.
fn rows(path: &Path) -> (Vec<String>, Vec<String>) {
    let mut reader = ResultReader::open(path).unwrap();
    let columns = reader.columns().unwrap().to_vec();
    let mut rows = Vec::new();
    while let Some(row) = reader.next_row().unwrap() {
        rows.push(row.replace("\t+1\t", "\t1\t"));
    }
    (columns, rows)
}

/// Fails unless the folder has these tables as TSV, and the other one the same rows in `format` and nothing else.
fn same_tables(bench: &Bench, tables: &[&str], folder: &str, format: ResultFormat, other: &str) {
    for table in tables {
        let expected = rows(&bench.path(&format!("{folder}/{table}.tsv")));
        assert!(expected.1.len() > 10, "{table}");
        assert_eq!(rows(&bench.path(&format!("{other}/{table}.{format}"))), expected, "{other}");
    }
    let tsv: Vec<String> = bench.names(folder);
    let named = tsv.iter().map(|name| match name.strip_suffix(".tsv") {
        Some(table) => format.file_name(table),
        None => name.clone(),
    });
    let mut named: Vec<String> = named.collect();
    named.sort();
    assert_eq!(bench.names(other), named);
}

#[test]
fn every_command_reads_every_format() {
    let bench = batch();
    let dedup = "dedup --batch pages.seg --store store --matches all";
    let lsh = "lsh --similarity 0.8 --input pages.jsonl";
    let mut answers = Vec::new();
    for format in formats() {
        let flag = format!("--output-format {format}");
        bench.done(&format!("{dedup} {flag} --check minhash:0.5 --output checked-{format}"));
        bench.done(&format!("{dedup} {flag} --output dedup-{format}"));
        bench.done(&format!("{lsh} {flag} --output lsh-{format}"));
        bench.done(&format!(
            "cluster --matches lsh-{format}/dedup --method components --output first-{format} {flag}"
        ));
        bench.done(&format!(
            "cluster --matches lsh-{format}/dedup --day 2026-01-02 --previous first-{format} --output second-{format} {flag}"
        ));
        let both = ["verdicts", "matches"];
        same_tables(&bench, &both, "checked-tsv", format, &format!("checked-{format}"));
        same_tables(&bench, &both, "dedup-tsv", format, &format!("dedup-{format}"));
        same_tables(&bench, &both, "lsh-tsv/dedup", format, &format!("lsh-{format}/dedup"));
        let lists = ["clusters", "sizes"];
        same_tables(&bench, &lists, "first-tsv", format, &format!("first-{format}"));
        same_tables(&bench, &["changes"], "second-tsv", format, &format!("second-{format}"));
        for output in ["checked", "dedup", "lsh", "first", "second"] {
            bench.done(&format!("verify {output}-{format}"));
        }
        for list in ["keep.txt", "drop.txt"] {
            let of = |format| bench.read(&format!("dedup-{format}/{list}"));
            assert_eq!(of(format), of(ResultFormat::Tsv));
        }
        let pairs = rows(&bench.path("dedup-tsv/matches.tsv")).1;
        let mut labels = BTreeMap::new();
        for (at, row) in pairs.iter().take(20).enumerate() {
            row.split('\t').take(2).for_each(|id| _ = labels.entry(id).or_insert(at));
        }
        let labels = labels.iter().map(|(id, at)| format!("{id}\t{at}\n"));
        bench.write("labels.tsv", labels.collect::<String>());
        let judged =
            format!("evaluate --pairs dedup-{format}/matches.{format} --labels labels.tsv");
        let sampled = format!("sample dedup-{format} --input pages.jsonl --input old.jsonl");
        let said =
            [judged, sampled].map(|line| bench.answer(&line).replace(format.name(), "FORMAT"));
        assert!(said[1].contains("distance 1"), "{}", said[1]);
        answers.push(said);
    }
    assert!(answers.windows(2).all(|two| two[0] == two[1]), "{answers:#?}");
}

#[test]
fn a_flipped_bit_and_a_forgery_are_found_in_every_format() {
    let bench = batch();
    for format in formats() {
        let output = format!("out-{format}");
        bench.done(&format!("dedup --batch pages.seg --output {output} --output-format {format}"));
        for table in ["verdicts", "matches"] {
            let name = format!("{output}/{table}.{format}");
            let sound = bench.bytes(&name);
            let mut bytes = sound.clone();
            bytes[sound.len() / 2] ^= 4;
            bench.write(&name, bytes);
            bench.refuses(65, &format!("verify {output}"), &[&format!("{table}.{format}")]);
            bench.write(&name, sound);
        }
        bench.done(&format!("verify {output}"));
        let name = format!("verdicts.{format}");
        let other = format!("other-{format}");
        bench.done(&format!("dedup --batch old.seg --output {other} --output-format {format}"));
        replace_and_seal(&bench, &output, &name, &bench.bytes(&format!("{other}/{name}")));
        bench.refuses(65, &format!("verify {output}"), &[&name]);
        // A second table beside the one of the report is no way round.
        bench.done(&format!(
            "dedup --batch pages.seg --output {output} --output-format {format} --overwrite"
        ));
        let other = formats().find(|other| *other != format).unwrap();
        bench.write(&format!("{output}/{}", other.file_name("verdicts")), "");
        bench.refuses(65, &format!("verify {output}"), &["each table in one format"]);
    }
}

/// An output in each format, as the first release that had it wrote it: six pages, two of them dropped.
#[test]
fn tables_of_the_museum_stay_readable() {
    let bench = Bench::new();
    let museum = museum("tables-1");
    let mut answers = Vec::new();
    for format in formats() {
        let folder = format!("{museum}/{format}");
        let tables = ["verdicts", "matches"]
            .map(|table| rows(&Path::new(&folder).join(format.file_name(table))));
        bench.done(&format!("verify {folder} --files-only"));
        bench.done(&format!("cluster --matches {folder} --output clusters-{format}"));
        let list = bench.read(&format!("clusters-{format}/clusters.tsv"));
        answers.push((tables, list));
    }
    assert!(answers.windows(2).all(|two| two[0] == two[1]), "{answers:#?}");
    let ([verdicts, matches], clusters) = &answers[0];
    let expected = [
        "alone\tkeep\t\t\t",
        "blank\tempty\t\t\t",
        "bridge\tkeep\t\t\t",
        "bridge, \"again\"\tdrop\tbridge\t0\tbatch",
        "页面\tkeep\t\t\t",
        "页面 2\tdrop\t页面\t0\tbatch",
    ];
    assert_eq!(verdicts.1, expected);
    assert_eq!(matches.0, ["new", "existing", "distance", "against", "check", "verdict"]);
    assert_eq!(matches.1[0], "bridge, \"again\"\tbridge\t0\tbatch\t1.0000\tdrop");
    assert_eq!(clusters.lines().count(), 5);
}
