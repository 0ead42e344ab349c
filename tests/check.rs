//! The check: what is within k is confirmed by a sketch, from the command line to the files,
//! and hostile documents end in a result.

use std::collections::BTreeSet;

use crate::support::Bench;

/// Words of one character each, which no two pages have in common and none has twice.
fn text(page: usize, words: usize) -> Vec<String> {
    let word = |at: usize| (page * words + at * 7 % words) as u32;
    (0..words).map(|at| char::from_u32(0x4e00 + word(at)).unwrap().to_string()).collect()
}

/// Two days of pages. Those of the second have the words of the first, which by words alone is the same:
/// with two of them exchanged, or all in another order.
fn days() -> Bench {
    let bench = Bench::new();
    let [mut old, mut new] = ["id\ttext\n", "id\ttext\n"].map(str::to_owned);
    for page in 0..20 {
        let words = text(page, 400);
        old += &format!("old-{page}\t{}\n", words.join(" "));
        let mut edited = words.clone();
        edited.swap(200, 201);
        let mut turned = words.clone();
        turned.sort();
        new += &format!("edited-{page}\t{}\n", edited.join(" "));
        new += &format!("turned-{page}\t{}\n", turned.join(" "));
        new += &format!("turned-too-{page}\t{}\n", turned.join("  "));
    }
    bench.write("old.tsv", old);
    bench.write("new.tsv", new);
    bench.done("store init store");
    for day in ["old", "new"] {
        bench.done(&format!(
            "fingerprint --recipe words --sketch minhash --input {day}.tsv --output {day}.seg"
        ));
    }
    bench.done("store add store --segment old.seg --day 2026-11-20");
    bench
}

#[test]
fn words_in_another_order_are_near_but_not_confirmed() {
    let bench = days();
    bench.done("dedup --batch new.seg --store store --output plain");
    assert!(!bench.read("plain/drop.txt").is_empty() && bench.read("plain/keep.txt").is_empty());
    bench
        .done("dedup --batch new.seg --store store --output out --check minhash:0.7 --matches all");
    let header = "new\texisting\tdistance\tagainst\tcheck\tverdict\n";
    assert!(bench.read("out/matches.tsv").starts_with(header));
    let dropped: BTreeSet<String> = bench.read("out/drop.txt").lines().map(str::to_owned).collect();
    let named = |prefix: &str| (0..20).map(|page| format!("{prefix}-{page}")).collect();
    let expected: [BTreeSet<String>; 2] = ["edited", "turned-too"].map(named);
    assert_eq!(dropped, &expected[0] | &expected[1]);
    let similar = bench.rows("out/matches.tsv");
    assert!(similar.iter().all(|row| row[4].parse::<f64>().unwrap() >= 0.7));
    assert_eq!(similar.len(), 40);

    assert_eq!(bench.done("verify out").count("made_again"), 60);
    let report = bench.report("out");
    assert_eq!(report["parameters"]["check"], "minhash-512x2:0.7");
    let confirmed: u64 = report["outcome"]["distances"]
        .as_object()
        .unwrap()
        .values()
        .map(|it| it.as_u64().unwrap())
        .sum();
    assert_eq!(confirmed, 40);
    assert!(report["outcome"]["candidates"] == 120, "{report}");
    bench
        .done("dedup --batch new.seg --store store --output out --check minhash:0.7 --matches all");
    bench.fails(
        73,
        "dedup --batch new.seg --store store --output out --check minhash:0.8 --matches all",
    );
    bench.done(
        "dedup --batch new.seg --store store --output best --check minhash:0.7 --matches best",
    );
    assert_eq!(bench.read("best/verdicts.tsv"), bench.read("out/verdicts.tsv"));
    bench.done("verify best");
}
