//! What independent implementations answer.

use super::*;

/// Each line is a recipe, a text or features with weights, and the fingerprint. Those of keywords with the weights of jieba are the
/// example of the library itself.
#[test]
fn fingerprints_are_those_of_other_programs() {
    for line in include_str!("compatible.tsv").lines() {
        let [name, text, expected] = line.split('\t').collect::<Vec<_>>()[..] else { panic!() };
        let mut sketcher = sketcher_of(name);
        let feature = |text: &'static str| {
            let (name, weight) = text.rsplit_once(':').unwrap();
            (name, weight.parse().unwrap())
        };
        let found = match name {
            "keywords-lookup3" => {
                let features: Vec<(&str, f64)> = text.split(' ').map(feature).collect();
                sketcher.features(&features)
            }
            _ => sketcher.text(text),
        };
        assert_eq!(found, Ok(Some(expected.parse().unwrap())), "{name}: {text}");
    }
}

#[test]
fn white_space_is_that_of_python() {
    let mut sketcher = sketcher_of("charikar-64");
    let spaced = sketcher.text("a b c d").unwrap();
    assert_eq!(sketcher.text(" a\u{1c}b\u{3000}c\n\u{85}d\t"), Ok(spaced));
    assert_eq!(sketcher.text(" \u{1f} "), Ok(None));
}
