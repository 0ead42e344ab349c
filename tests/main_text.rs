//! `--text main`: the main content of HTML decides what is near, and never meets texts of whole pages.

use crate::support::Bench;

/// A page of an article between a navigation and a footer that each day has new.
#[cfg(feature = "main-text")]
fn page(article: &str, day: &str) -> String {
    let links: String = (0..40)
        .map(|at| format!("<li><a href=/{day}/{at}>{day} headline number {at}</a>"))
        .collect();
    format!(
        "<html><title>{day}</title><body><div class=nav><ul>{links}</ul></div><div class=article>{article}</div>\
         <div class=footer>printed on {day} <a href=/privacy>privacy</a></div></html>"
    )
}

#[cfg(feature = "main-text")]
const ARTICLE: &str = "<p>The new footbridge over the river, sixty metres of steel, was opened today, and hundreds of \
    people crossed it in the first hour.<p>The council had voted for it four years ago, against the advice of the \
    engineers, who wanted it to be of wood.<p>It replaces the ferry, which had carried people and cattle for three \
    hundred years, and which will be shown in the museum.";

#[test]
#[cfg(feature = "main-text")]
fn the_main_content_decides_what_is_near() {
    let bench = Bench::new();
    bench.write("pages/monday.html", page(ARTICLE, "monday"));
    bench.write("pages/tuesday.html", page(ARTICLE, "tuesday"));
    bench.write("pages/deep.html", "<div>".repeat(5000) + "one deep page with some words in it");
    let line = "fingerprint --input pages --output";
    bench.done(&format!("{line} all.seg"));
    let ended = bench.done(&format!("{line} main.seg --text main"));
    assert_eq!(ended.count("without_main_text"), 1);
    assert!(ended.stderr.contains("no main content in 1 of 3 pages"), "{}", ended.stderr);
    let kept =
        |name: &str| bench.done(&format!("dedup --batch {name}.seg --output {name}")).count("kept");
    assert_eq!([kept("all"), kept("main")], [3, 2]);
    bench.fails(73, &format!("{line} main.seg --text all"));
    // Neither meets the other in a store, and a store is asked with its own sort of text.
    bench.done("store init store");
    bench.done("store add store --segment main.seg --day 2026-11-20");
    let said = bench.fails(2, "dedup --batch all.seg --store store --output x");
    assert!(
        said.contains("main_text = none") && said.contains("main_text = readability 1"),
        "{said}"
    );
    bench.write("ask/new.html", page(ARTICLE, "friday"));
    let answer = bench.answer("query --store store --input ask");
    assert!(answer.contains("\"distance\":0") && answer.contains("monday.html"), "{answer}");
    assert!(!answer.contains("deep.html"), "{answer}");
    bench.write(
        "field.jsonl",
        format!("{{\"id\": 1, \"text\": {:?}}}\n", page(ARTICLE, "sunday").replace('"', "'")),
    );
    bench.done("fingerprint --input field.jsonl --html --text main --output field.seg");
    assert_eq!(
        bench.done("dedup --batch field.seg --store store --output again").count("dropped"),
        1
    );
    let said = bench.fails(2, "fingerprint --input field.jsonl --text main --output x.seg");
    assert!(said.contains("no input is HTML"), "{said}");
    bench.fails(2, "fingerprint --format features --input field.jsonl --text main --output x.seg");
    bench.write("day.toml", "inputs = [\"pages\"]\noutput = \"out/{date}\"\nstore = \"s\"\n[fingerprint]\ntext = \"main\"\n");
    assert_eq!(bench.done("run day.toml --date 2026-11-20").count("dropped"), 1);
    assert!(
        bench
            .answer("explain --config day.toml --date 2026-11-20 tuesday.html")
            .contains("monday.html")
    );
}

#[test]
#[cfg(not(feature = "main-text"))]
fn a_build_without_it_says_which_feature_is_missing() {
    let bench = Bench::new();
    bench.write("pages/a.html", "<html><p>a page");
    let said = bench.run("fingerprint --input pages --text main --output x.seg");
    assert_eq!(said.code, 2);
    assert!(said.stderr.contains("the feature `main-text`"), "{}", said.stderr);
}
