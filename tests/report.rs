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

#[test]
fn each_output_has_a_page_that_needs_no_network() {
    let bench = days();
    let page = bench.read("out/2026-01-01/dedup/report.html");
    assert!(page.starts_with("<!doctype html>") && page.contains("<title>2026-01-01"), "{page}");
    let outcome = &bench.report("out/2026-01-01/dedup")["outcome"];
    for (what, count) in [("kept", &outcome["kept"]), ("dropped", &outcome["dropped"])] {
        assert!(page.contains(&format!("<strong>{count}</strong> pages {what}")), "{what}: {page}");
    }
    for address in ["http:", "https:", "src=", "<link", "<script"] {
        assert!(!page.contains(address), "{address}");
    }
    bench.done("verify out/2026-01-01");
    bench.done("run days.toml --redo 2026-01-04");
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
fn clusters_have_a_page_with_their_sizes_the_largest_and_what_joins_stars() {
    let bench = Bench::new();
    let near = [("<a>", 0b0), ("b", 0b111), ("c", 0b11_1111), ("x", 0xff << 40), ("y", 0xff << 40)];
    let pages: Vec<(String, u128)> = near.map(|(id, bits)| (id.to_owned(), bits)).into();
    bench.segment("one", 64, &pages[..4]);
    bench.segment("all", 64, &pages);
    for name in ["one", "all"] {
        bench.done(&format!("dedup --batch {name}.seg --output {name} --matches all"));
    }
    bench.done("cluster --matches one --output first --method components");
    let next = "cluster --matches all --day 2026-01-02 --previous first --output next --no-lists";
    let said = bench.done(next).stderr;
    assert!(said.contains("5 stars in 2 clusters"), "{said}");
    let page = bench.read("next/report.html");
    for part in [
        "<title>Clusters of 2026-01-02",
        "<strong>8</strong> pages in clusters",
        "<strong>2</strong> clusters",
        "components join what stars keep apart: 5 stars in 2 clusters",
        "<code>changes.tsv</code> has 5 rows",
        "<th scope=\"row\">4 to 7</th>",
        "<td class=\"id\">&lt;a&gt;</td><td class=\"number\">6</td><td class=\"number alarm\">4</td>",
        "next --output listed",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("http") && !page.contains("<a>"));
    let page = bench.read("first/report.html");
    assert!(!page.contains("What the last day changed") && !page.contains("--output listed"));
    bench.done("cluster --matches one --output stars");
    assert!(!bench.read("stars/report.html").contains("<p class=\"alarm\">"));
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

/// Ids are the words of strangers, so they are shown as text, and not without end.
#[test]
fn a_fingerprint_of_very_many_pages_names_some_of_them() {
    let bench = Bench::new();
    let long = "x".repeat(900);
    let pages: Vec<(String, u128)> = (0..1001)
        .map(|at| (format!("<i>{at:04}&{long}"), 7))
        .chain([("other".into(), 1 << 40)])
        .collect();
    bench.segment("batch", 64, &pages);
    bench.done("dedup --batch batch.seg --output found");
    let hot = bench.report("found")["outcome"]["hot_copies"].clone();
    let ids: Vec<&str> =
        hot[0]["ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    assert_eq!((hot[0]["pages"].as_u64(), ids.len()), (Some(1001), 5));
    for (at, id) in ids.iter().enumerate() {
        assert!(id.starts_with(&format!("<i>{at:04}&xx")) && id.len() == 200, "{id}");
    }
    let page = bench.read("found/report.html");
    assert!(
        page.contains("&lt;i&gt;0004&amp;xx")
            && !page.contains("<i>")
            && !page.contains("0005&amp;")
    );
    bench.done("verify found");
}
