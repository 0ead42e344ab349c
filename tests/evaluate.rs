//! `evaluate --sweep` without labels: planted copies, the review of borderline pairs, and judged pairs as
//! labels. (With labels: `quality.rs`.)

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::support::{Bench, Ended};

fn object(answer: &str) -> Value {
    serde_json::from_str(answer).unwrap()
}

/// A page of thirty sentences and more, Chinese if its number is odd.
fn page(number: usize) -> String {
    let mixed = |at: usize| ((number * 1009 + at) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let letter = |at: usize| char::from(b'a' + (mixed(at) % 26) as u8);
    let word = |at: usize| (0..5).map(|step| letter(7 * at + step)).collect::<String>();
    let han = |at: usize| char::from_u32(0x4e00 + (mixed(at) % 20_000) as u32).unwrap();
    let sentence = |at: usize| match number % 2 {
        1 => (0..12).map(|step| han(at * 12 + step)).collect::<String>() + "。",
        _ => {
            format!("{} met {} and {} in {at}. ", word(3 * at), word(3 * at + 1), word(3 * at + 2))
        }
    };
    (0..30 + number % 20).map(sentence).collect()
}

/// Sixty pages. 58 has half of the text of 2 and 59 half of that of 3; 56 is a copy of 4.
fn bench() -> Bench {
    let bench = Bench::new();
    let text = |number: usize| match number {
        56 => page(4),
        58 | 59 => {
            let [one, other] = [page(number - 56), page(number)];
            let half = one.floor_char_boundary(one.len() / 2);
            format!("{}{}", &one[..half], &other[other.floor_char_boundary(other.len() / 2)..])
        }
        number => page(number),
    };
    let lines = (0..60).map(|number| format!("p{number}\t{}\n", text(number)));
    let mut lines: Vec<String> = lines.collect();
    lines.push("short\tNothing much\n".into());
    bench.write("pages.tsv", format!("id\ttext\n{}", lines.concat()));
    lines.reverse();
    bench.write("turned.tsv", format!("id\ttext\n{}", lines.concat()));
    bench
}

const SWEEP: &str = "evaluate --sweep --input pages.tsv";

#[test]
fn planted_copies_are_counted_and_the_sums_are_right() {
    let bench = bench();
    let answer = bench.answer(&format!("{SWEEP} --json"));
    assert_eq!(answer, bench.answer(&format!("{SWEEP} --json --workers 1")), "the same bytes");
    let turned = bench.answer("evaluate --sweep --input turned.tsv --json");
    assert_eq!(answer, turned, "the order of the pages makes no difference");
    assert_ne!(answer, bench.answer(&format!("{SWEEP} --json --seed 2")));
    let json = object(&answer);
    let number = |value: &Value| value.as_u64().unwrap();
    assert_eq!((number(&json["pages"]), number(&json["sample"])), (61, 61));
    // The short page is left out of all but two edits: a date and a menu fit around any text.
    assert_eq!(number(&json["left_out"]), 6);
    assert_eq!(number(&json["copies"]) + number(&json["left_out"]), 61 * 8);
    let methods = json["methods"].as_array().unwrap();
    let names: Vec<&str> = methods.iter().map(|it| it["method"].as_str().unwrap()).collect();
    assert_eq!(names, ["paper", "balanced", "thorough", "A", "B"]);
    for method in methods {
        let sum = |rows: &str, count: &str| {
            method[rows].as_array().unwrap().iter().map(|row| number(&row[count])).sum::<u64>()
        };
        let summary = &method["summary"];
        let same = number(&summary["copies"]);
        assert_eq!(sum("bands", "positives"), same);
        assert_eq!(sum("bands", "found"), number(&summary["copies_found"]));
        assert_eq!(method["edits"].as_array().unwrap().len(), 8 * 4);
        assert_eq!(sum("edits", "copies"), same + number(&summary["templates"]));
        let found = number(&summary["copies_found"]) + number(&summary["templates_found"]);
        assert_eq!(sum("edits", "found"), found);
        assert_eq!(sum("joined", "pairs"), number(&summary["joined"]));
        // Every method finds the copy among the pages, and a typo in a thousand letters.
        assert!(number(&summary["joined"]) >= 1);
    }
    let found = |at: usize| number(&methods[at]["summary"]["copies_found"]);
    assert!(found(0) < found(1) && found(1) <= found(2), "{answer}");
}

#[test]
fn a_sweep_without_labels_says_what_to_use() {
    let bench = bench();
    let told = bench.answer(SWEEP);
    for part in ["0.95 to 1", "reordering", "template", "Use ", "--review"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let (_, pasted) = told.split_once("in a configuration file this is:\n\n").unwrap();
    let whole = "inputs = [\"pages.tsv\"]\noutput = \"out/{date}\"\nstore = \"held\"\n";
    bench.write("pasted.toml", format!("{whole}{pasted}"));
    bench.done("run pasted.toml --date 2026-01-01 --dry-run");
    // Other recipes and checks, and the file's own.
    bench.write("own.toml", "[dedup]\ndistance = 5\ncheck = \"word-minhash:0.6\"\n");
    let asked =
        format!("{SWEEP} --sample 20 --recipe wide --check minhash:0.5 -k 6 --config own.toml");
    let json = object(&bench.answer(&format!("{asked} --json")));
    assert_eq!((&json["sample"], &json["pages"]), (&20.into(), &61.into()));
    let rows = ["paper", "balanced", "thorough", "your file", "A"];
    for (at, name) in rows.iter().enumerate() {
        assert_eq!(json["methods"][at]["method"], *name);
    }
    assert_eq!(json["methods"][3]["check"], "word-minhash-128x2:0.6");
    assert_eq!(json["methods"][4]["check"], "minhash-512x2:0.5");
    assert_eq!(
        (&json["methods"][3]["distance"], &json["methods"][4]["distance"]),
        (&5.into(), &6.into())
    );
    bench.fails(2, &format!("{SWEEP} --svg curve.svg --json"));
    bench.fails(2, &format!("{SWEEP} --check jaccard --json"));
    bench.fails(2, "evaluate --json");
    // More recipes with checks than there are letters.
    let names = "wide ".repeat(6);
    let checks: String = (1..=6).map(|at| format!("minhash:0.{at} ")).collect();
    bench.fails(2, &format!("{SWEEP} --json --recipe {names} --check {checks}"));
    bench.write("width.toml", "[fingerprint]\nwidth = 64\n");
    let json = object(&bench.answer(&format!("{SWEEP} --sample 9 --json --config width.toml")));
    assert_eq!(json["methods"][3]["method"], "your file");
    bench.write("one.tsv", "id\ttext\na\tone page\n");
    bench.fails(65, "evaluate --sweep --input one.tsv --json");
}

/// Runs a review with these lines on standard input.
fn review(bench: &Bench, answers: &str) -> Ended {
    let mut command = bench.command(&format!("{SWEEP} --review judged.tsv"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A review that has no more questions closes its end.
    let _ = child.stdin.take().unwrap().write_all(answers.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap();
    Ended { code, stdout: text(output.stdout), stderr: text(output.stderr) }
}

#[test]
fn a_review_is_resumed_and_its_answers_are_labels() {
    let bench = bench();
    let told = bench.answer(&format!("{SWEEP} --review judged.tsv --dry-run"));
    assert!(told.ends_with("pairs would be shown\n") && !bench.path("judged.tsv").exists());
    let count: usize = told.split(' ').next().unwrap().parse().unwrap();
    assert!(count >= 2, "{told}");
    // A line that is no answer is asked again; the end of the input is `quit`.
    let first = review(&bench, "perhaps\ny\n");
    assert_eq!(first.code, 0, "{first:?}");
    assert!(first.stdout.contains("pair 1 of") && first.stdout.contains("pair 2 of"));
    assert!(first.stdout.contains("1 answers written to judged.tsv"), "{first:?}");
    assert_eq!(bench.read("judged.tsv").lines().count(), 2);
    let shown = |ended: &Ended| -> Vec<String> {
        let pages = ended.stdout.lines().filter(|line| line.ends_with(" characters)"));
        pages.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
    };
    let next = review(&bench, "s\nn\nq\n");
    assert!(next.stdout.contains("1 of them answered before"), "{next:?}");
    assert_ne!(shown(&next)[..2], shown(&first)[..2], "what is answered is not asked again");
    assert_eq!(shown(&next)[..2], shown(&first)[2..4], "and the rest is");
    let judged = bench.read("judged.tsv");
    let said: Vec<&str> = judged.lines().map(|line| line.rsplit('\t').next().unwrap()).collect();
    assert_eq!(said, ["judged", "same", "different"]);
    let rest = review(&bench, &"y\n".repeat(count));
    assert!(rest.stdout.contains(&format!("{} answers", count - 2)), "{rest:?}");
    let over = review(&bench, "");
    assert!(over.stdout.contains("0 answers") && !over.stdout.contains("same page?"), "{over:?}");
    // The answers are labels.
    let scores = object(&bench.answer(&format!("{SWEEP} --labels judged.tsv --json")));
    let balanced = &scores["methods"][1]["scores"];
    assert_eq!((&balanced["judged"], &balanced["different"]), (&count.into(), &1.into()));
    assert!(bench.answer(&format!("{SWEEP} --labels judged.tsv")).contains("Use "));
    let (one, another) = (&shown(&first)[0], &shown(&first)[1]);
    bench.write("found.tsv", format!("{another}\t{one}\np0\tp1\n"));
    let line = "evaluate --pairs found.tsv --labels judged.tsv";
    let scores = object(&bench.answer(line));
    assert_eq!((&scores["same_found"], &scores["different_found"]), (&1.into(), &0.into()));
    assert_eq!((&scores["unlabelled"], &scores["left_out"]), (&1.into(), &0.into()));
    bench.fails(2, &format!("{line} --input nosuch --json"));
    bench.fails(2, &format!("{line} --similarity nosuch --json"));
    // Another file is not written to.
    bench.write("judged.tsv", "id\tcluster\na\t1\n");
    assert_eq!(review(&bench, "y\n").code, 65);
    assert_eq!(bench.read("judged.tsv"), "id\tcluster\na\t1\n");
    bench.fails(2, &format!("{SWEEP} --review judged.tsv --json"));
    bench.fails(2, "evaluate --sweep --input - --review other.tsv --json");
}

#[test]
fn a_review_waits_for_a_person_and_keeps_others_out() {
    let bench = bench();
    let mut command = bench.command(&format!("{SWEEP} --review judged.tsv --stall-timeout 5"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("pair 1 of") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "the review ended");
    }
    assert!(line.starts_with("pair 1 of"));
    assert_eq!(review(&bench, "y\n").code, 75);
    // Longer than the watchdog waits.
    thread::sleep(Duration::from_secs(8));
    // One long answer is one answer.
    let answers = format!("{}\ny\nq\n", "n".repeat(10_000) + "\rn");
    child.stdin.take().unwrap().write_all(answers.as_bytes()).unwrap();
    let mut told = String::new();
    out.read_to_string(&mut told).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{told}");
    assert_eq!(told.matches("the same page? ").count(), 3, "{told}");
    assert!(told.contains("1 answers written"), "{told}");
}

#[test]
fn an_answer_is_judged_by_what_the_inputs_hold() {
    let bench = bench();
    // Nothing is the same page: who joins fewest agrees most.
    bench.write(
        "judged.tsv",
        "id1\tid2\tjudged\np0\tp1\tdifferent\np4\tp56\tdifferent\np2\tgone\tsame\n",
    );
    let line = format!("{SWEEP} --labels judged.tsv");
    let json = object(&bench.answer(&format!("{line} --json")));
    let scores = &json["methods"][0]["scores"];
    assert_eq!((&scores["judged"], &scores["agreed"]), (&2.into(), &1.into()));
    assert_eq!((&scores["same"], &scores["left_out"]), (&0.into(), &1.into()));
    assert!(bench.answer(&line).contains("1 judged pairs are left out"));
    bench.write("judged.tsv", "id1\tid2\tjudged\np2\tgone\tsame\n");
    bench.fails(65, &format!("{line} --json"));
    // A few long pages fit into a small sample.
    let long = |at: usize| format!("q{at}\t{}\n", page(2 * at).repeat(40));
    bench.write("long.tsv", format!("id\ttext\n{}", (0..10).map(long).collect::<String>()));
    let json = object(&bench.answer("evaluate --sweep --input long.tsv --sample 2 --json"));
    assert_eq!(json["sample"], 2);
}

#[test]
fn presets_are_judged_by_labels_and_scores_are_told_by_length_and_language() {
    let bench = bench();
    let labels = (0..60).map(|number| match number {
        56 | 58 | 59 => format!("p{number}\t{}\n", [4, 0, 2, 3][number - 56]),
        number => format!("p{number}\t{number}\n"),
    });
    bench.write("labels.tsv", labels.collect::<String>());
    let told = bench.answer(&format!("{SWEEP} --labels labels.tsv"));
    for part in ["balanced ", "shortest third", "Chinese", "recommended for this corpus"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let json = object(&bench.answer(&format!("{SWEEP} --labels labels.tsv --json")));
    let thorough = &json["presets"][2];
    assert_eq!((&thorough["preset"], &thorough["distance"]), (&"thorough".into(), &10.into()));
    assert_eq!(thorough["whole"]["positives"], 3);
    // The preset scores as its own join does.
    bench.done("fingerprint --preset thorough --input pages.tsv --output pages.seg");
    bench.done("dedup --batch pages.seg --output found --matches all");
    let line = "evaluate --pairs found/matches.tsv --labels labels.tsv --input pages.tsv";
    let scores = object(&bench.answer(line));
    for count in ["pairs", "positives", "true_positives"] {
        assert_eq!(scores[count], thorough["whole"][count], "{count}");
    }
    assert_eq!(scores["parts"], thorough["parts"]);
    assert_eq!(scores["parts"].as_array().unwrap().len(), 5);
    let plain = object(&bench.answer(&line.replace(" --input pages.tsv", "")));
    assert_eq!(plain["parts"], Value::Null);
}

#[test]
fn buckets_are_judged_beside_presets_and_find_what_lsh_finds() {
    let bench = bench();
    let labels = (0..60).map(|number| match number {
        56 | 58 | 59 => format!("p{number}\t{}\n", [4, 0, 2, 3][number - 56]),
        number => format!("p{number}\t{number}\n"),
    });
    bench.write("labels.tsv", labels.collect::<String>());
    let asked = "--buckets 0.8 0.3/28x4:exact cosine=0.4/20x5:simhash:24";
    let sweep = format!("{SWEEP} --labels labels.tsv {asked}");
    let json = object(&bench.answer(&format!("{sweep} --json")));
    let named: Vec<&str> = json["presets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["method"].as_str().unwrap())
        .collect();
    assert_eq!(named, ["paper", "balanced", "thorough", "A", "B", "C", "balanced+A"]);
    let flags = [
        "--similarity 0.8",
        "--similarity 0.3 --bands 28 --rows 4 --confirm exact",
        "--family cosine --similarity 0.4 --bands 20 --rows 5 --confirm simhash:24",
    ];
    let mut found = 0;
    for (at, flags) in flags.into_iter().enumerate() {
        bench.done(&format!("lsh --input pages.tsv --matches all --output lsh{at} {flags}"));
        let pairs = format!("evaluate --pairs lsh{at}/matches.tsv --labels labels.tsv");
        let scores = object(&bench.answer(&pairs));
        for count in ["pairs", "positives", "true_positives"] {
            assert_eq!(scores[count], json["presets"][3 + at]["whole"][count], "{count} {flags}");
        }
        found += scores["pairs"].as_u64().unwrap();
    }
    assert!(found > 3);
    let pairs = |at: usize| json["presets"][at]["whole"]["pairs"].as_u64().unwrap();
    assert!(pairs(6) >= pairs(1).max(pairs(3)) && pairs(6) <= pairs(1) + pairs(3));
    assert_eq!(json["presets"][0]["cost"][0], 8.0);
    assert!(json["presets"][3]["cost"][0].as_f64().unwrap() > 112.0 * 4.0);
    let told = bench.answer(&sweep);
    for part in
        ["jaccard buckets of 28 bands of 4 rows; exact of at least 0.3000", "microseconds a page"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    let planted = bench.answer(&format!("{SWEEP} {asked}"));
    for part in ["balanced+A", "B is `dupsieve lsh --family jaccard", "--bands 28 --rows 4", "Use "]
    {
        assert!(planted.contains(part), "{part}: {planted}");
    }
    for wrong in ["2", "0.8/14", "0.8/0x3", "euclidean=0.5", "moon=0.8", "0.8:moon"] {
        bench.fails_to_answer(2, &format!("{SWEEP} --buckets {wrong}"));
    }
}
