//! Nothing is lost with a page that is dropped: with the check `held`, the page that stays holds nine tenths of its text.

use crate::support::Bench;

/// A page of the words from one number to another, with these figures at its end.
fn page(id: &str, words: std::ops::Range<usize>, figures: &str) -> String {
    let words: Vec<String> = words.map(|word| format!("word{}", word * word % 9973)).collect();
    format!("{{\"id\":\"{id}\",\"text\":\"{} {figures}\"}}\n", words.join(" "))
}

/// The fingerprints of these pages, with the signatures of the check.
fn segment(bench: &Bench, name: &str, pages: &[String]) {
    bench.write(&format!("{name}.jsonl"), pages.concat());
    bench.done(&format!("fingerprint --input {name}.jsonl --check held --output {name}.seg"));
}

const DEDUP: &str = "dedup --check held --distance 15 --keep first-id";

#[test]
fn the_longer_page_stays_and_is_named_with_the_share_that_it_holds() {
    let bench = Bench::new();
    let pages = [
        page("a-short", 0..300, ""),
        page("b-long", 0..380, ""),
        page("c-copy", 0..300, ""),
        page("d-other", 1000..1300, ""),
    ];
    segment(&bench, "batch", &pages);
    bench.done(&format!("{DEDUP} --batch batch.seg --output out"));
    let verdicts = bench.read("out/verdicts.tsv");
    let rows: Vec<Vec<&str>> = verdicts.lines().map(|row| row.split('\t').collect()).collect();
    assert_eq!(rows[0], ["id", "verdict", "of", "distance", "against", "held", "copies"]);
    for (row, id) in [(1, "a-short"), (3, "c-copy")] {
        assert_eq!([rows[row][0], rows[row][1], rows[row][2]], [id, "drop", "b-long"]);
        assert!(rows[row][5].parse::<f64>().unwrap() > 0.9, "{verdicts}");
    }
    assert_eq!([rows[2][1], rows[2][6]], ["keep", "2"]);
    assert_eq!([rows[4][1], rows[4][6]], ["keep", "0"]);
    let report = bench.report("out");
    assert!(report["lost"]["share"].as_f64().unwrap() < 0.1, "{report}");
    assert_eq!(report["lost"]["exact"], false);
    bench.done("verify out --all");
    // Nobody claims a copy more.
    bench.write("out/verdicts.tsv", verdicts.replacen("\t2\n", "\t3\n", 1));
    bench.fails(65, "verify out");
}

#[test]
fn two_pages_of_one_template_with_other_figures_are_two_pages() {
    let bench = Bench::new();
    let figures = |from: usize| (from..from + 40).map(|it| format!("{it}.50 ")).collect::<String>();
    let pages = [page("monday", 0..200, &figures(1000)), page("tuesday", 0..200, &figures(2000))];
    segment(&bench, "batch", &pages);
    bench.done(&format!("{DEDUP} --batch batch.seg --output out"));
    assert_eq!(bench.read("out/drop.txt"), "");
    bench.done(&format!("{DEDUP} --held 0.5 --batch batch.seg --output loose"));
    assert_eq!(bench.read("loose/drop.txt"), "tuesday\n");
}

#[test]
fn a_page_of_the_store_that_a_kept_page_holds_is_listed_unless_a_verdict_names_it() {
    let bench = Bench::new();
    segment(&bench, "old", &[page("grown", 0..300, ""), page("same", 1000..1300, "")]);
    bench.done("store init store");
    bench.done("store add store --segment old.seg --day 2026-11-19");
    let pages = [page("grown", 0..380, ""), page("again", 1000..1299, "")];
    segment(&bench, "new", &pages);
    bench.done(&format!("{DEDUP} --batch new.seg --store store --output out"));
    assert_eq!(bench.read("out/keep.txt"), "grown\n");
    let replaced = bench.read("out/replaced.tsv");
    let rows: Vec<Vec<&str>> = replaced.lines().map(|row| row.split('\t').collect()).collect();
    assert_eq!(rows[0], ["id", "day", "by", "held"]);
    assert_eq!(rows.len(), 2, "{replaced}");
    assert_eq!(rows[1][..3], ["grown", "2026-11-19", "grown"]);
    assert_eq!(bench.report("out")["outcome"]["replaced"], 1);
    bench.done("verify out --all");
    for flags in ["--workers 3", "--processes 2"] {
        bench.done(&format!("{DEDUP} --batch new.seg --store store --output again {flags}"));
        assert_eq!(bench.read("again/replaced.tsv"), replaced);
        assert_eq!(bench.read("again/verdicts.tsv"), bench.read("out/verdicts.tsv"));
        std::fs::remove_dir_all(bench.path("again")).unwrap();
    }
}
