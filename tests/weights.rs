//! Tables of counts: the same bytes however they are counted, and what recipes make of them.

use crate::support::Bench;

/// The rows of a table, as `count feature`.
fn rows(bench: &Bench, table: &str) -> Vec<String> {
    let text = bench.read(table);
    let lines = text.lines().filter(|line| !line.starts_with("end "));
    lines.skip(2).map(|line| line.replacen('\t', " ", 1)).collect()
}

/// A recipe of words in a file, with other parts.
fn recipe(bench: &Bench, name: &str, parts: &str) {
    let all = format!(
        "scheme = \"simhash\"\nfeatures = \"words\"\nhmm = true\nhash = \"xxh3\"\nwidth = 64\n\
         ties = \"clear\"\n{parts}\nnormalise = {{ nfkc = true, case = \"fold\", digits = \"keep\", \
         white_space = \"collapse\" }}\n"
    );
    bench.write(name, all);
}

const PAGES: &str = "id\ttext\n\
    a\tthe fox and the dog\n\
    b\tthe fox\n\
    c\tThe End of 狐狸\n";

#[test]
fn a_table_holds_the_documents_of_each_word() {
    let bench = Bench::new();
    bench.write("pages.tsv", PAGES);
    let ended = bench.done("weights --recipe words-1 --input pages.tsv --min-count 1 --output all");
    assert_eq!((ended.count("documents"), ended.count("features")), (3, 7));
    let expected = ["1 and", "1 dog", "1 end", "2 fox", "1 of", "3 the", "1 狐狸"];
    assert_eq!(rows(&bench, "all"), expected);
    bench.done("weights --recipe words-1 --input pages.tsv --output twice");
    assert_eq!(rows(&bench, "twice"), ["2 fox", "3 the"]);
    let again = bench.done("weights --recipe words-1 --input pages.tsv --output twice");
    assert!(again.stdout.contains("\"already_done\":true"));
    let said = bench.fails(73, "weights --recipe words-2 --input pages.tsv --output twice");
    assert!(said.contains("words-1") || said.contains("recipe"), "{said}");
    bench.fails(2, "weights --recipe charikar-64 --input pages.tsv --output none");
}

#[test]
fn any_number_of_workers_and_processes_and_little_memory() {
    let bench = Bench::new();
    for part in 0..4 {
        bench.write(&format!("pages/{part}.jsonl"), bench.documents(500 * part, 500 * part + 500));
    }
    bench.done("weights --input pages --output one --workers 1");
    assert!(rows(&bench, "one").len() > 100);
    for (name, flags) in [
        ("two", "--workers 2"),
        ("four", "--workers 2 --processes 2"),
        ("spilled", "--memory 100kB"),
    ] {
        bench.done(&format!("weights --input pages --output {name} {flags}"));
        assert_eq!(bench.read(name), bench.read("one"), "{name}");
    }
}

#[test]
fn a_recipe_weighs_by_the_table_it_names() {
    let bench = Bench::new();
    bench.write("pages.tsv", PAGES);
    recipe(&bench, "plain.toml", "weights = \"tf\"");
    bench.done("weights --recipe plain.toml --input pages.tsv --min-count 1 --output weights.idf");
    recipe(&bench, "mine.toml", "weights = \"tf-idf\"\nidf = \"weights.idf\"");
    let told = bench.answer("explain --recipe mine.toml --input pages.tsv a b");
    // log2(1 + 3/2) for the fox, in two of three documents.
    assert!(told.contains("1.322  \"fox\"") && told.contains("2.000  \"dog\""), "{told}");
    bench.done("fingerprint --recipe mine.toml --input pages.tsv --output one.seg");
    bench.write("more.tsv", format!("{PAGES}d\tthe fox\n"));
    bench.done("weights --recipe plain.toml --input more.tsv --output weights.idf --overwrite");
    let other = "fingerprint --recipe mine.toml --input pages.tsv --output one.seg";
    assert!(bench.fails(73, other).contains("recipe"), "another table makes another recipe");
    recipe(&bench, "folded.toml", "weights = \"tf-idf\"\nidf = \"lines\"");
    bench.done("weights --lines --recipe plain.toml --input pages.tsv --output lines");
    bench.fails(78, "fingerprint --recipe folded.toml --input pages.tsv --output two.seg");
    bench.write("lines", "dupsieve counts 2\n");
    bench.fails(78, "fingerprint --recipe folded.toml --input pages.tsv --output two.seg");
}

#[test]
fn lines_that_pages_share_are_dropped() {
    let bench = Bench::new();
    let page = |id, body| {
        format!("{{\"id\":\"{id}\",\"text\":\"Home | About\\n{body}\\n(c) All rights\"}}\n")
    };
    bench.write(
        "site.jsonl",
        page("a", "a fox runs") + &page("b", "the dog sleeps") + &page("c", "an end"),
    );
    recipe(&bench, "plain.toml", "weights = \"tf\"");
    bench.done(
        "weights --lines --recipe plain.toml --input site.jsonl --min-count 3 --output site.lines",
    );
    assert_eq!(rows(&bench, "site.lines"), ["3 (c) all rights", "3 home | about"]);
    recipe(&bench, "cut.toml", "weights = \"tf\"\nboilerplate = \"site.lines\"");
    let told = bench.answer("explain --recipe cut.toml --input site.jsonl a b");
    assert!(told.contains("\"fox\"") && !told.contains("\"home\""), "{told}");
}

#[test]
fn a_short_page_and_a_long_one_never_match() {
    let bench = Bench::new();
    let title = "我来到北京清华大学";
    let long: String = (0..200).map(|number| format!("word{} ", "x".repeat(number))).collect();
    bench.write(
        "pages.tsv",
        format!("id\ttext\na\t{title}\nb\t我来到了北京的清华大学\nc\t{long}\nd\t{long}\n"),
    );
    bench.done("fingerprint --recipe short-text --input pages.tsv --output pages.seg");
    bench.done("dedup --batch pages.seg --output out");
    let matches = bench.read("out/matches.tsv");
    assert_eq!(matches, "new\texisting\tdistance\tagainst\nb\ta\t0\tbatch\nd\tc\t0\tbatch\n");
    bench.done("store init store");
    bench.done("store add store --segment pages.seg --day 2026-11-20");
    bench.done("store compact store");
    bench.write("next.tsv", format!("id\ttext\ne\t{title}\n"));
    bench.done("fingerprint --recipe short-text --input next.tsv --output next.seg");
    bench.done("dedup --batch next.seg --store store --output next --matches all");
    let matches = bench.read("next/matches.tsv");
    assert!(matches.ends_with("e\ta\t0\t2026-11-20\ne\tb\t0\t2026-11-20\n"), "{matches}");
}
