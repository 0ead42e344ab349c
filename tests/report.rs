//! What is shown to people: `report.html` of each output, and the figures of many days.

use crate::forgery::dropped_examples;
use crate::support::Bench;
use crate::world::{json_lines, page};

/// Four days of pages, of which the last has one page only; with a copy each.
fn days() -> Bench {
    let bench = Bench::new();
    let day = |day: &str, pages: usize| -> String {
        let pair = |number: usize| {
            let id = format!("{day}<{number}>");
            let text =
                format!("page {number} of day{day} about{number} rivers{day} and hills{number}");
            page(&id, &text) + &page(&format!("{id}b"), &text)
        };
        (0..pages).map(pair).collect()
    };
    let days = [("01", 8), ("02", 9), ("03", 8), ("04", 1)].map(|(name, pages)| day(name, pages));
    let names = ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"];
    let mut days = names.into_iter().zip(days);
    bench.crawl([(); 4].map(|()| days.next().unwrap()), "preset = \"paper\"\n");
    bench.done("run days.toml");
    bench
}

/// The ten that lose most, by the definition, each with the words that differ; ids that are URLs of the web are links, and ids and
/// texts are shown as text.
#[test]
fn a_page_shows_the_dropped_pages_that_lose_most_with_the_words_that_differ() {
    let words =
        |from: usize, to: usize| (from..to).map(|word| format!("w{word} ")).collect::<String>();
    let mut pages = String::new();
    let mut page = |id: &str, text: String| {
        pages += &format!("{{\"id\": \"{id}\", \"text\": \"{text}\"}}\n");
    };
    for group in 0..4 {
        let from = group * 1000;
        page(&format!("https://a.example/{group}<i>"), words(from, from + 500));
        for copy in 0..5 {
            page(&format!("urn:b:{group}/{copy}"), words(from, from + 500));
            let less = words(from, from + 500 - copy) + &words(from + 600, from + 600 + copy);
            page(&format!("javascript://c.example/{group}/{copy}"), less);
        }
    }
    let bench = Bench::new();
    bench.write("pages.jsonl", pages);
    for (preset, flags) in
        [("paper", ""), ("balanced", ""), ("balanced", "--workers 2 --memory 1MiB")]
    {
        let output = format!("{preset}{}", flags.len());
        bench.done(&format!(
            "dedup --input pages.jsonl --output {output} --preset {preset} {flags}"
        ));
        let found = format!("{output}/dedup");
        let verdicts = bench.read(&format!("{found}/verdicts.tsv"));
        let examples = bench.report(&found)["outcome"]["dropped_examples"].clone();
        assert_eq!(examples, dropped_examples(&verdicts));
        assert_eq!(examples.as_array().unwrap().len(), 10, "{examples}");
        let page = bench.read(&format!("{found}/report.html"));
        assert_eq!(
            page.matches("<a href=\"").count(),
            page.matches("<a href=\"https:&#x2f;&#x2f;a.example").count()
        );
        assert!(page.contains("&lt;i&gt;</a>") && !page.contains("<i>"), "{page}");
        assert!(
            page.contains("javascript:")
                && page.contains(&format!("dupsieve sample {output}&#x2f;dedup")),
            "{page}"
        );
        let added = "<ins>w0 w1 w2 ";
        assert!(page.contains("<del>w6") || page.contains(added), "{page}");
        bench.done(&format!("verify {output}"));
    }
}

#[test]
fn many_days_are_shown_in_order_with_what_is_odd() {
    let bench = days();
    let answer = bench.answer("report out/2026-01-04 out/2026-01-02 out/2026-01-01 out/2026-01-03");
    let names: Vec<&str> = answer.lines().map(|line| &line[..10]).collect();
    assert_eq!(names[1..5], ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"]);
    assert_eq!(names.len(), 6, "{answer}");
    assert!(
        answer.ends_with("odd: 2026-01-04: 2 records were read; usually it is 16\n"),
        "{answer}"
    );
    // A folder of days is the same, whatever else is in it.
    bench.done("cluster --matches out/2026-01-01 --output out/clusters");
    assert_eq!(bench.answer("report out --output days.html"), answer);
    let page = bench.read("days.html");
    assert!(
        page.contains("2026-01-01 to 2026-01-04") && page.contains("usually it is 16"),
        "{page}"
    );
    let rows = json_lines(&bench.answer("report out --json"));
    let read: Vec<_> = rows.iter().map(|row| row["read"].as_u64().unwrap()).collect();
    assert_eq!(read, [16, 18, 16, 2]);
}
