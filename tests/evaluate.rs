//! `evaluate --sweep`, by planted copies.

use serde_json::Value;

use crate::support::Bench;

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

#[test]
fn planted_copies_are_counted_and_the_sums_are_right() {
    let bench = bench();
    let sweep = "evaluate --sweep --input pages.tsv --json";
    let answer = bench.answer(sweep);
    assert_eq!(answer, bench.answer(&format!("{sweep} --workers 1")), "the same bytes");
    let turned = bench.answer("evaluate --sweep --input turned.tsv --json");
    assert_eq!(answer, turned, "the order of the pages makes no difference");
    assert_ne!(answer, bench.answer(&format!("{sweep} --seed 2")));
    let json: Value = serde_json::from_str(&answer).unwrap();
    let number = |value: &Value| value.as_u64().unwrap();
    assert_eq!((number(&json["pages"]), number(&json["sample"])), (61, 61));
    // The short page is left out of all but two edits: a date and a menu fit around any text.
    assert_eq!(number(&json["left_out"]), 6);
    assert_eq!(number(&json["copies"]) + number(&json["left_out"]), 61 * 8);
    let methods = json["methods"].as_array().unwrap();
    let names: Vec<&str> = methods.iter().map(|it| it["method"].as_str().unwrap()).collect();
    assert_eq!(names, ["paper", "balanced"]);
    for method in methods {
        let sum = |rows: &str, count: &str| {
            method[rows].as_array().unwrap().iter().map(|row| number(&row[count])).sum::<u64>()
        };
        let summary = &method["summary"];
        assert_eq!(sum("bands", "positives"), number(&json["copies"]));
        assert_eq!(method["edits"].as_array().unwrap().len(), 8 * 4);
        assert_eq!(sum("edits", "copies"), number(&json["copies"]));
        assert_eq!(sum("edits", "found"), sum("bands", "found"));
        let goes = number(&summary["copies_dropped"]) + number(&summary["copies_lost"]);
        assert!(goes <= sum("bands", "found"), "{method}");
        // Every method drops the copy among the pages: no other page can go without loss.
        assert_eq!((&summary["could_go"], &summary["missed"]), (&1.into(), &0.into()));
        assert!(number(&summary["dropped"]) >= 1);
    }
    let found = |at: usize| number(&methods[at]["summary"]["copies_dropped"]);
    assert!(found(0) < found(1), "{answer}");
}
