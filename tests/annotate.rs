//! `filter --annotate`: every record again, as it was, with what an output says of it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::Bench;
use crate::world::{museum, sample_file};

/// Lines of every kind: judged, broken, blank, without a text, without a word, and with an id that came before.
fn pages(bench: &Bench) -> String {
    let documents = bench.documents(0, 300);
    let (first, rest) = documents.split_at(documents.find('\n').unwrap() + 1);
    format!(
        "{first}not json\n \t\n{{\"id\": \"no text\", \"more\": 1}}\n{{\"id\": \"blank\", \"text\": \"\"}}\r\n{first}{rest}"
    )
}

/// The rows of a table of an output, by the first column.
fn rows(bench: &Bench, table: &str) -> BTreeMap<String, Vec<String>> {
    let lines = bench.read(table);
    let columns = |line: &str| line.split('\t').map(str::to_owned).collect::<Vec<_>>();
    lines.lines().skip(1).map(columns).map(|row| (row[0].clone(), row)).collect()
}

/// A batch of these pages, and its output in `found`.
fn joined(bench: &Bench, pages: &str, flags: &str) {
    bench.done(&format!("fingerprint --input {pages} --max-bad 9 --output day.seg {flags}"));
    bench.done("dedup --batch day.seg --output found");
}

#[test]
fn lines_come_back_as_they_were_with_their_verdicts() {
    let bench = Bench::new();
    let pages = pages(&bench);
    bench.write("pages.jsonl", &pages);
    joined(&bench, "pages.jsonl", "");
    let line = "filter --input pages.jsonl --annotate found --output";
    let ended = bench.done(&format!("{line} out.jsonl"));
    assert_eq!(
        ["annotated", "repeated", "unread", "unjudged", "left_out"].map(|name| ended.count(name)),
        [301, 1, 2, 0, 0]
    );
    bench.again(&format!("{line} out.jsonl"));
    let verdicts = rows(&bench, "found/verdicts.tsv");
    let written = bench.read("out.jsonl");
    assert_eq!(written.lines().count(), pages.lines().count());
    let mut counts = BTreeMap::new();
    for (new, old) in written.split_inclusive('\n').zip(pages.split_inclusive('\n')) {
        let Some(at) = new.find(",\"verdict\":") else {
            assert_eq!(new, old);
            continue;
        };
        let end = new.rfind('}').unwrap();
        assert_eq!([&new[..at], &new[end..]].concat(), old, "all else stays as it is");
        let page: Value = serde_json::from_str(new).unwrap();
        let verdict = page["verdict"].as_str().unwrap();
        *counts.entry(verdict.to_owned()).or_insert(0) += 1;
        let row =
            &verdicts[&page["id"].as_str().map_or_else(|| page["id"].to_string(), str::to_owned)];
        if verdict == "repeated" {
            assert!(page["duplicate_of"].is_null() && page["distance"].is_null());
            continue;
        }
        assert_eq!(verdict, row[1]);
        assert_eq!(page["duplicate_of"].as_str().unwrap_or_default(), row[2]);
        let distance = page["distance"].as_u64().map(|bits| bits.to_string());
        assert_eq!(distance.unwrap_or_default(), row[3]);
        let held = page["containment"].as_f64().map(|share| format!("{share:.4}"));
        let copies = page["copies"].as_u64().map(|count| count.to_string());
        let hosts = page["hosts"].as_u64().map(|count| count.to_string());
        assert_eq!([held, copies, hosts].map(Option::unwrap_or_default), row[5..]);
        assert!(page.get("cluster").is_none());
    }
    let report = bench.report("found")["outcome"].clone();
    assert_eq!([counts["empty"], counts["repeated"]], [1, 1]);
    assert!(
        counts["drop"] > 50
            && report["dropped"] == counts["drop"]
            && report["kept"] == counts["keep"]
    );
}

#[test]
fn columns_of_tsv_and_csv_come_behind_the_others() {
    let bench = Bench::new();
    let text = "one page about a bridge of steel over the river in the town of the north";
    bench.write(
        "pages.tsv",
        format!("id\ttext\tx\r\na\t{text}\t1\r\n\r\nb, c\t{text}\t2\r\nbad\t{text}\r\n"),
    );
    joined(&bench, "pages.tsv", "");
    bench.done("filter --input pages.tsv --annotate found --output out.tsv");
    let expected = format!(
        "id\ttext\tx\tverdict\tduplicate_of\tdistance\tcontainment\tcopies\thosts\r\na\t{text}\t1\tkeep\t\t\t\t1\t\r\n\r\nb, c\t{text}\t2\tdrop\ta\t0\t1.0000\t\t\r\nbad\t{text}\t\t\t\t\t\t\r\n"
    );
    assert_eq!(bench.read("out.tsv"), expected);
    bench.write(
        "pages.csv",
        format!("\"id\",text\n\"a, \"\"b\"\"\",\"{text}\"\n\nc,\"{text}\n\"\nd,e,f\ng,\"{text}"),
    );
    bench.done("fingerprint --input pages.csv --max-bad 9 --output csv.seg");
    bench.done("dedup --batch csv.seg --output csv");
    bench.done("filter --input pages.csv --annotate csv --annotate-prefix near_ --output out.csv");
    let expected = format!(
        "\"id\",text,near_verdict,near_duplicate_of,near_distance,near_containment,near_copies,near_hosts\n\"a, \"\"b\"\"\",\"{text}\",keep,,,,1,\n\n\
         c,\"{text}\n\",drop,\"a, \"\"b\"\"\",0,1.0000,,\nd,e,f,,,,,,\ng,\"{text},,,,,,\n"
    );
    assert_eq!(bench.read("out.csv"), expected);
}

#[test]
fn clusters_and_similarities_are_added_where_there_are_some() {
    let bench = Bench::new();
    let config = |lists| {
        format!(
            "inputs = [\"{}/bench-data/sample/crawl/{{date}}/*\"]\noutput = \"{lists}/{{date}}\"\nstore = \"{lists}/store\"\n\
             dates = [\"2026-11-18\", \"2026-11-19\"]\n[clusters]\nlists = {lists}\n",
            env!("CARGO_MANIFEST_DIR")
        )
    };
    let inputs = sample_file("crawl/2026-11-19");
    for lists in ["true", "false"] {
        bench.write(&format!("{lists}.toml"), config(lists));
        bench.done(&format!("run {lists}.toml"));
        bench.done(&format!(
            "filter --input {inputs} --annotate {lists}/2026-11-19 --output {lists}.jsonl"
        ));
    }
    let clusters = bench.read("true/2026-11-19/clusters/clusters.tsv");
    let mut of = BTreeMap::new();
    for line in clusters.lines().filter(|line| line.ends_with("\t2026-11-19")) {
        let mut columns = line.split('\t');
        of.insert(columns.next().unwrap(), columns.next().unwrap());
    }
    assert!(of.len() > 10);
    let written = bench.read("true.jsonl");
    let pages: Vec<Value> =
        written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for page in pages.iter().filter(|page| page["verdict"] != "repeated") {
        assert_eq!(page["cluster"].as_str(), of.get(page["id"].as_str().unwrap()).copied());
    }
    assert_eq!(bench.read("false.jsonl"), written);
    let other = "--annotate true/2026-11-18 --clusters true/2026-11-19/clusters --output x.jsonl";
    bench.done(&format!("filter --input {} {other}", inputs.replace("11-19", "11-18")));
    let other = "--annotate true/2026-11-19 --clusters true/2026-11-18/clusters --output y.jsonl";
    bench.refuses(2, &format!("filter --input {inputs} {other}"), &["not made from this output"]);
}

#[test]
fn what_cannot_be_annotated_is_refused() {
    let bench = Bench::new();
    let pages = bench.documents(0, 60);
    bench.write("pages.jsonl", &pages);
    joined(&bench, "pages.jsonl", "");
    bench.write("page.html", "<html><p>a page");
    bench.write("a.warc", "WARC/1.0\r\nContent-Length: 0\r\n\r\n\r\n\r\n");
    bench.write("page.txt", "a page");
    for file in ["page.html", "a.warc", "page.txt"] {
        let said = bench.fails(2, &format!("filter --input {file} --annotate found --output x"));
        assert!(said.contains("JSON Lines, TSV, CSV or Parquet") && said.contains(file), "{said}");
    }
    bench.fails(2, "filter --input pages.jsonl page.txt --annotate found --output x");
    bench.fails(2, "filter --input pages.jsonl --annotate found --ids found/keep.txt --output x");
    bench.fails(2, "filter --input pages.jsonl --output x");
    let said = bench
        .fails(2, "filter --input pages.jsonl --annotate found --annotate-prefix a,b --output x");
    assert!(said.contains("letters"), "{said}");
    bench.done("filter --input pages.jsonl --annotate found --output once.jsonl");
    bench.refuses(
        2,
        "filter --input once.jsonl --annotate found --output x",
        &["once.jsonl:1", "`verdict`", "--annotate-prefix"],
    );
    bench.done(
        "filter --input once.jsonl --annotate found --annotate-prefix again_ --output twice.jsonl",
    );
    // An output of more pages, one of fewer, and none.
    bench.write(
        "fewer.jsonl",
        pages.lines().skip(1).map(|line| format!("{line}\n")).collect::<String>(),
    );
    bench.refuses(
        65,
        "filter --input fewer.jsonl --annotate found --output x",
        &["1 pages of the output were not found", "verdicts.tsv"],
    );
    bench.write("more.jsonl", format!("{pages}{{\"id\": \"new\", \"text\": \"words\"}}\n"));
    let ended =
        bench.done("filter --input more.jsonl --annotate found --output more-annotated.jsonl");
    assert_eq!((ended.count("unjudged"), ended.count("annotated")), (1, 60));
    assert!(ended.stderr.contains("1 records have no verdict"), "{}", ended.stderr);
    assert!(bench.read("more-annotated.jsonl").ends_with(
        "\"verdict\":null,\"duplicate_of\":null,\"distance\":null,\"containment\":null,\"copies\":null,\"hosts\":null}\n"
    ));
    bench.fails(66, "filter --input pages.jsonl --annotate nowhere --output x");
    let said =
        bench.fails(2, "filter --input pages.jsonl --annotate found --memory 1KiB --output x");
    assert!(said.contains("--memory"), "{said}");
    // What is too long has no bytes that could be copied, and says so.
    let ended = bench
        .done("filter --input more.jsonl --annotate found --max-record 1MiB --output all.jsonl");
    assert_eq!(ended.count("left_out"), 0);
    bench.write(
        "long.jsonl",
        format!("{pages}{{\"id\": \"long\", \"text\": \"{}\"}}\n", "x".repeat(1 << 20)),
    );
    let ended = bench.done("filter --input long.jsonl --annotate found --max-record 1MiB --output long-annotated.jsonl");
    assert_eq!(ended.count("left_out"), 1);
    assert!(ended.stderr.contains("they are left out"), "{}", ended.stderr);
    assert!(!bench.path("x").exists());
}

/// Rows of files that other programs wrote, in two row groups, get columns with types.
#[test]
#[cfg(feature = "parquet")]
fn rows_of_parquet_get_columns_with_types() {
    use parquet::file::reader::{FileReader, SerializedFileReader};

    let bench = Bench::new();
    for name in ["pyarrow", "pyarrow-int96", "duckdb", "polars"] {
        let file = museum(&format!("parquet/{name}.parquet"));
        bench.done(&format!("fingerprint --input {file} --max-bad 1 --output {name}.seg"));
        bench.done(&format!("dedup --batch {name}.seg --output {name}"));
        bench.done(&format!("cluster --matches {name} --output {name}-clusters"));
        let line = format!("filter --input {file} --annotate {name} --clusters {name}-clusters");
        let ended = bench.done(&format!("{line} --output {name}.parquet"));
        assert_eq!((ended.count("annotated"), ended.count("unread")), (2, 1));
        let [before, after] = [file, bench.path(&format!("{name}.parquet")).display().to_string()]
            .map(|path| SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap());
        assert_eq!(before.num_row_groups(), after.num_row_groups(), "{name}");
        let [old, new] = [&before, &after].map(|file| {
            file.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect::<Vec<_>>()
        });
        for (at, (old, new)) in old.iter().zip(&new).enumerate() {
            let [verdict, copies] = if at < 2 { ["\"keep\"", "0"] } else { ["null"; 2] };
            let added = format!(
                "verdict: {verdict}, duplicate_of: null, distance: null, containment: null, copies: {copies}, hosts: null, cluster: null}}"
            );
            assert_eq!(*new, format!("{}, {added}", old.strip_suffix('}').unwrap()), "{name}");
        }
        assert_eq!((old.len(), new.len()), (3, 3));
        bench.refuses(
            2,
            &format!("filter --input {name}.parquet --annotate {name} --output x.parquet"),
            &["`verdict`"],
        );
    }
}
