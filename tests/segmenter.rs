//! `segmenter = "icu"` in a recipe: scripts without spaces are cut into words by dictionaries, and never meet texts that are cut otherwise.

#[cfg(feature = "segmenter")]
use dupsieve::rooms::fingerprint::Recipe;

use crate::support::Bench;

/// A day of three pages: two of them differ in the order of two words.
fn day(bench: &Bench) {
    let pages = [
        ("a", "環境を構築します。ひらがなとカタカナ、ภาษาไทยเป็นภาษาราชการของประเทศไทย"),
        ("b", "環境を構築します。カタカナとひらがな、ภาษาไทยเป็นภาษาราชการของประเทศไทย"),
        ("c", "ความรู้คืออำนาจ"),
    ];
    let line = |(id, text)| format!("{{\"id\": \"{id}\", \"text\": \"{text}\"}}\n");
    bench.write("day.jsonl", pages.map(line).concat());
    let recipe = |name: &str, part: &str| {
        let parts = "scheme = \"simhash\"\nfeatures = \"words\"\nhmm = true\nweights = \"tf\"\nhash = \"xxh3\"\nwidth = 64\n\
            ties = \"clear\"\nnormalise = { nfkc = true, case = \"fold\", digits = \"drop\", white_space = \"collapse\" }\n";
        bench.write(name, format!("{parts}{part}\n"));
    };
    recipe("words.toml", "segmenter = \"icu\"");
    recipe("both.toml", "segmenter = \"icu\"\nunspaced_run = 2");
    recipe("characters.toml", "");
}

#[cfg(feature = "segmenter")]
fn words(text: &str) -> Vec<String> {
    let words = include_str!("../src/text/fingerprint/recipe/plain_words.toml");
    let words: toml::Table = words.parse().unwrap();
    let segmenter = ("segmenter".to_owned(), toml::Value::from("icu"));
    let recipe = Recipe::from_table(&words.into_iter().chain([segmenter]).collect()).unwrap();
    let mut found = Vec::new();
    recipe.sketcher().unwrap().each(text, |word| found.push(word.to_owned())).unwrap();
    found
}

/// Chinese and Latin stay as they are, and so does what no dictionary has, such as New Tai Lue.
#[test]
#[cfg(feature = "segmenter")]
fn scripts_with_a_dictionary_are_cut_by_it() {
    for (text, expected) in [
        ("我来到北京, it's 3.14%。", &["我", "来到", "北京", "it's", "3.14"][..]),
        ("環境を構築します", &["環境", "を", "構築", "しま", "す"]),
        ("ภาษาไทยเป็นภาษาราชการ", &["ภาษา", "ไทย", "เป็น", "ภาษา", "ราชการ"]),
        ("ᦂᦃไทยᦂ", &["ᦂ", "ᦃ", "ไทย", "ᦂ"]),
    ] {
        assert_eq!(words(text), expected);
    }
}

#[test]
#[cfg(feature = "segmenter")]
fn words_of_dictionaries_decide_what_is_near() {
    let bench = Bench::new();
    day(&bench);
    let line = "fingerprint --input day.jsonl --recipe";
    for name in ["words", "characters"] {
        bench.done(&format!("{line} {name}.toml --output {name}.seg"));
    }
    // Two pages have the same words, in another order.
    let ended = bench.done("dedup --batch words.seg --distance 0 --output words");
    assert_eq!(ended.count("dropped"), 1);
    bench.store(&[("2026-11-20", "words")]);
    bench.refuses(
        2,
        "dedup --batch characters.seg --store store --output x",
        &["segmenter = icu_segmenter 2.4.0"],
    );
    bench.refuses(78, &format!("{line} both.toml --output x.seg"), &["segmenter and unspaced_run"]);
}

#[test]
#[cfg(not(feature = "segmenter"))]
fn a_build_without_it_says_which_feature_is_missing() {
    let bench = Bench::new();
    day(&bench);
    let line = "fingerprint --input day.jsonl --output x.seg --recipe";
    bench.refuses(78, &format!("{line} words.toml"), &["the feature `segmenter`"]);
    bench.fails(78, &format!("{line} both.toml"));
    bench.done(&format!("{line} characters.toml"));
}
