//! Fingerprints worth trusting: recipes of other programs from the command line, and the jobs that
//! compare, explain and judge.

use serde_json::Value;

use crate::support::Bench;

/// The JSON object on the first line of stdout.
fn object(stdout: &str) -> Value {
    serde_json::from_str(stdout.lines().next().unwrap_or_default()).unwrap()
}

#[test]
fn nilsimsa_is_for_compare_alone() {
    let bench = Bench::new();
    bench.write("one.txt", "This is a test string for testing also");
    bench.write("two.txt", "This is a test string for testing also!");
    let said = bench.fails(2, "fingerprint --recipe nilsimsa --input one.txt --output x.seg");
    assert!(said.contains("256 bits") && said.contains("compare"), "{said}");
    let compared = object(&bench.answer("compare --recipe nilsimsa one.txt two.txt"));
    assert_eq!((&compared["score"], &compared["distance"]), (&126.into(), &2.into()));
    let sketch = "0x58082c704804886c4014141540120160020a51594012125d6e6204c068640448";
    assert_eq!(compared["sketches"][0], sketch);
}

#[test]
fn compare_tells_the_distance_by_any_recipe() {
    let bench = Bench::new();
    bench.write("one.txt", "This is a test string for testing also");
    bench.write("two.txt", "This is a test string for testing also!");
    bench.write("none.txt", "!!!");
    let compared = object(&bench.answer("compare one.txt two.txt"));
    assert_eq!((&compared["distance"], &compared["recipe"]), (&0.into(), &"wide-1".into()));
    assert_eq!(compared["sketches"][0], compared["sketches"][1]);
    let compared = object(&bench.answer("compare --recipe short-text one.txt two.txt"));
    assert_eq!(compared["classes"], serde_json::json!(["short", "short"]));
    bench.write("one.features", "x\ta:1\n");
    bench.write("two.features", "y\ta:1 b:1\n");
    let compared = bench.answer("compare --recipe keywords-lookup3 one.features two.features");
    let sketches = object(&compared)["sketches"].clone();
    assert_eq!(sketches, serde_json::json!(["0x58d68708582647ac", "0x58d483004804408c"]));
    bench.fails(65, "compare one.txt none.txt --json");
    bench.fails(66, "compare one.txt missing.txt --json");
}

#[test]
fn a_recipe_may_stand_in_a_file_of_its_own() {
    let bench = Bench::new();
    bench.write("one.txt", "the end of the day");
    bench.write("two.txt", "end day");
    bench.write("stop.txt", "The\nof\n");
    let parts = [
        r#"scheme = "simhash""#,
        r#"features = "words""#,
        "hmm = true",
        r#"stop_words = "stop.txt""#,
        r#"weights = "raised-tf""#,
        "keywords = 50",
        r#"hash = "xxh3""#,
        "width = 64",
        r#"ties = "clear""#,
        r#"normalise = { nfkc = true, case = "fold", digits = "keep", white_space = "collapse" }"#,
    ];
    bench.write("mine.toml", parts.join("\n"));
    let compared = object(&bench.answer("compare --recipe mine.toml one.txt two.txt"));
    assert_eq!(compared["distance"], 0);
    bench.done("fingerprint --recipe mine.toml --input one.txt two.txt --output mine.seg");
    bench.write("mine.toml", parts.join("\n").replace("stop.txt", "gone.txt"));
    assert!(
        bench.fails(78, "compare --recipe mine.toml one.txt two.txt --json").contains("gone.txt")
    );
}

const PAGES: &str = "id\ttext\n\
    a1\tthe quick brown fox jumps over the lazy dog near the river bank\n\
    a2\tthe quick brown fox jumps over the lazy dog near the river bank\n\
    b1\tfingerprints of pages are compared by the bits in which they differ\n\
    b2\tcompletely other words stand here and nothing at all is shared now\n\
    c1\tan apple a day keeps every doctor far away or so they say\n";

#[test]
fn explain_shows_two_pages_and_what_differs() {
    let bench = Bench::new();
    bench.write("pages.tsv", PAGES);
    let told = bench.answer("explain --recipe words --input pages.tsv a1 b1");
    assert_eq!(told, bench.answer("explain a1 b1 --input pages.tsv --recipe words"));
    assert!(told.contains("\"the\"") && told.contains("[-"), "{told}");
    let json = object(&bench.answer("explain --recipe words --input pages.tsv a1 b1 --json"));
    assert!(told.contains(&format!("\ndistance  {}\n", json["distance"])), "{told}");
    let short = bench.answer("explain --input pages.tsv a1 b1");
    // The verdict asks for the share held, so this share is shown, and not another measure.
    assert!(short.contains(" of the first page is in the second"), "{short}");
    assert!(short.contains("contains 0.9 of it or more") && !short.contains("jaccard"), "{short}");
    assert!(short.contains("class        short"), "{short}");
    let same = object(&bench.answer("explain --input pages.tsv a1 a2 --json"));
    assert_eq!(same["difference"], serde_json::json!(["equal"]));
    assert!(bench.fails(66, "explain --input pages.tsv a1 nobody --json").contains("nobody"));
    bench.fails(2, "explain --input pages.tsv --json");
}

#[test]
fn evaluate_judges_matches_by_labels() {
    let bench = Bench::new();
    bench.write("pages.tsv", PAGES);
    bench.write("labels.tsv", "id\tcluster\na1\ta\na2\ta\nb1\tb\nb2\tb\nc1\tc\n");
    bench.done("fingerprint --input pages.tsv --output pages.seg");
    bench.done("dedup --batch pages.seg --output found --matches all");
    let line = "evaluate --pairs found/matches.tsv --labels labels.tsv";
    let scores = object(&bench.answer(line));
    for (name, value) in [("precision", 1.0), ("recall", 0.5), ("f1", 2.0 / 3.0)] {
        assert_eq!(scores[name], value, "{name}");
    }
    assert_eq!((&scores["pairs"], &scores["positives"]), (&1.into(), &2.into()));
    bench.write("labels.tsv", "");
    bench.fails(65, &format!("{line} --json"));
}

#[test]
fn a_sweep_ends_before_it_takes_more_memory_than_allowed() {
    let bench = Bench::new();
    let word = |at: usize| format!("{:x} ", (at * 0x9e37_79b1) % (1 << 24));
    let page = |page: usize| {
        format!("{page}\t{}\n", (page * 450..page * 450 + 450).map(word).collect::<String>())
    };
    bench.write("pages.tsv", "id\ttext\n".to_owned() + &(0..800).map(page).collect::<String>());
    let line = "evaluate --sweep --input pages.tsv";
    let said = bench.fails(2, &format!("{line} --memory 1MiB --json"));
    assert!(said.contains("the pages of the sample") && said.contains("--memory"), "{said}");
    bench.answer(&format!("{line} --sample 50 --memory 64MiB"));
}
