//! Nothing is lost with a page that is dropped: the page that stays contains nine tenths of its text.

use std::ops::Range;

use serde_json::Value;

use crate::oracle::{DAYS, Found, crawl, history};
use crate::support::Bench;
use crate::world::{json_lines, page, words};

fn long(id: &str, numbers: Range<usize>) -> String {
    page(id, &words(numbers))
}

#[test]
fn the_store_keeps_what_is_replaced_where_the_file_says_so() {
    let bench = crawl(&history(1));
    let file = bench.read("days.toml").replace("\nstore = \"store\"", "");
    bench.write("days.toml", file + "[store]\npath = \"store\"\nreplaced = \"keep\"\n");
    bench.done("run days.toml --date 2026-11-01..2026-11-05");
    let listed: usize = DAYS.iter().map(|day| Found::of(&bench, day).replaced.len()).sum();
    for day in DAYS.iter() {
        let is_shown = bench
            .read(&format!("out/{day}/dedup/report.html"))
            .contains("pages of the store replaced");
        assert_eq!(is_shown, !Found::of(&bench, day).replaced.is_empty(), "{day}");
    }
    let list = bench.json("store list store --json");
    assert!(listed > 0 && list["replaced"] == 0, "{listed} {list}");
    let hides = |name: &String| name.starts_with("replaced/") && name.ends_with(".rows");
    assert!(!bench.files("store").keys().any(hides));
    bench.done("verify out/2026-11-05");
    // Another word is no rerun of the days that are done.
    let file = bench.read("days.toml").replace("\"keep\"\n", "\"hide\"\n");
    bench.write("days.toml", file);
    bench.refuses(73, "run days.toml --date 2026-11-01..2026-11-05", &["--redo"]);
}

/// Over many days, what the pages that stay hold of all that was read is estimated, page by page, and the pages are counted that went in
/// favour of a page that was replaced since.
#[test]
fn what_stays_of_all_days_is_told() {
    let bench = Bench::new();
    let days = [
        ("2026-11-01", vec![long("a", 0..300), long("a2", 0..290), long("x", 2000..2300)]),
        ("2026-11-02", vec![long("a3", 0..280), long("y", 3000..3300)]),
        ("2026-11-03", vec![long("longer", 0..400)]),
        ("2026-11-04", vec![long("l2", 0..399)]),
    ];
    for (day, pages) in &days {
        bench.write(&format!("crawl/{day}.jsonl"), pages.concat());
    }
    bench.configure("days.toml", "[dedup]\ndistance = 15\n");
    bench.done("run days.toml --date 2026-11-01..2026-11-02");
    let all = |bench: &Bench| -> Value {
        json_lines(&bench.answer("report out --json")).last().unwrap()["all"].clone()
    };
    let before = all(&bench);
    assert_eq!([&before["replaced"], &before["through_replaced"]], [0, 0]);
    bench.done("run days.toml --date 2026-11-03..2026-11-04");
    let after = all(&bench);
    assert_eq!(
        [&after["replaced"], &after["through_replaced"]],
        [1, 2],
        "a2 and a3 were duplicates of a"
    );
    let read: u64 = [298, 288, 298, 278, 298, 398, 397].iter().sum();
    let runs = after["runs"].as_u64().unwrap();
    assert!(runs.abs_diff(read) * 10 < read, "{after}: {read}");
    let held = after["containment"].as_f64().unwrap();
    assert!((0.97..=1.0).contains(&held), "{after}");
    bench.says("report out", &["2 dropped pages are contained only through these"]);
    bench.answer("report out --output days.html");
    assert!(bench.read("days.html").contains("of the text read is contained in the kept pages"));
}

/// Of a short page, a long one contains less than nine tenths, and the check asks for less.
#[test]
fn a_day_that_loses_too_much_ends_before_the_store_and_what_is_lost_is_told() {
    let bench = Bench::new();
    let more = |id: &str, from: usize, own: usize| {
        page(id, &(words(from..from + 300) + " " + &words(own..own + 20)))
    };
    let pages = [
        long("a-whole", 0..300),
        long("b-copy", 0..300),
        more("c-more", 0, 5000),
        long("d-long", 2000..2400),
        more("e-part", 2000, 6000),
    ];
    bench.write("crawl/2026-11-01.jsonl", pages.concat());
    let dedup = "[dedup]\ncontainment = 0.5\ndistance = 15\nkeep = \"first-id\"\n";
    bench.configure("days.toml", dedup);
    let run = "run days.toml --date 2026-11-01 --metrics-file metrics.prom";
    let says = ["too much text is lost", "at most 0.01 %", "dupsieve sample", "--max-lost"];
    bench.refuses(65, &format!("{run} --max-lost 0.0001"), &says);
    let versions = || bench.names("store/manifests").len();
    assert_eq!(versions(), 1);
    // The output is whole, and its worst pair comes first.
    let pairs = json_lines(&bench.answer("sample out/2026-11-01 --json"));
    let held: Vec<f64> = pairs.iter().map(|pair| pair["containment"].as_f64().unwrap()).collect();
    assert!(held.len() >= 2 && held.is_sorted() && held[0] < 1.0, "{held:?}");
    let told = bench.answer("sample out/2026-11-01 --pairs 1");
    assert!(told.starts_with(&format!("most text lost: 1 of {} pairs", held.len())), "{told}");
    assert!(told.contains(&format!("containment {:.4}", held[0])), "{told}");
    // The same again is refused again; with a higher limit it goes on from there.
    bench.fails(65, &format!("{run} --max-lost 0.0001"));
    assert_eq!(versions(), 1);
    bench.done(&format!("{run} --max-lost 0.5"));
    assert_eq!(versions(), 2);
    let lost = bench.report("out/2026-11-01/dedup")["lost"].clone();
    let share = lost["share"].as_f64().unwrap();
    assert!(share > 0.0001 && lost["over_tenth"].is_number(), "{lost}");
    let metrics = bench.read("metrics.prom");
    for (name, value) in
        [("lost_text_ratio", &lost["share"]), ("lost_pages_ratio", &lost["over_tenth"])]
    {
        let line = format!("dupsieve_{name}{{command=\"run\"}} {value}");
        let zero = line.replace(" 0.0", " 0");
        assert!(metrics.lines().any(|it| it == line || it == zero), "{line}: {metrics}");
    }
    assert!(metrics.contains("dupsieve_replaced_pages{command=\"run\"} 0\n"), "{metrics}");
    let page = bench.read("out/2026-11-01/dedup/report.html");
    assert!(page.contains("of the text of the dropped pages is lost"), "{page}");
    assert!(!page.contains("pages of the store replaced"), "none was: {page}");
    let table = bench.answer("report out --output days.html");
    assert!(table.lines().next().unwrap().ends_with("replaced"), "{table}");
    assert!(bench.read("days.html").contains("Text lost"));
    // A check that does not tell has no limit.
    bench.write("plain.tsv", "id\ttext\na\tsome words\n");
    bench.done("fingerprint --preset paper --input plain.tsv --output plain.seg");
    bench.fails(2, "dedup --batch plain.seg --output plain --containment 0.95");
    let said = "does not say how much of a page another one contains";
    bench.refuses(2, "dedup --batch plain.seg --output plain --max-lost 0.1", &[said]);
}
