//! What recipes make: golden values, those of other programs, and what weights mean.

use super::*;

use crate::fingerprint::recipe::tests::plain_words;

fn sketcher(name: &str, width: Width) -> Sketcher {
    Recipe::named(name, Some(width)).unwrap().sketcher().unwrap()
}

/// The recipe of plain words, some parts of which are changed.
fn changed(changes: &[(&str, &str)]) -> Recipe {
    let text = toml::to_string(&plain_words()).unwrap();
    let text = changes.iter().fold(text, |text, (from, to)| text.replacen(from, to, 1));
    Recipe::from_toml(&text).unwrap()
}

fn by_weights(weights: &str) -> Sketcher {
    changed(&[("\"tf\"", weights)]).sketcher().unwrap()
}

const TEXTS: [&str; 4] = [
    "我来到北京清华大学，他来到了网易杭研大厦。",
    "The quick brown fox jumps over the lazy dog; the dog doesn't mind.",
    "２０２１年，ＡＣＭ在北京发布了 Rust 1.95 的中文文档 (naïve café)。",
    "the",
];

fn print(sketcher: &mut Sketcher) -> [u128; 4] {
    TEXTS.map(|text| sketcher.text(text).unwrap().unwrap())
}

/// Where nothing else is in a text, numbers and what looks like markup are its words. A text without features leaves nothing behind.
#[test]
fn what_a_recipe_leaves_out_is_better_than_nothing() {
    for name in ["words", "wide", "short-text", "shingles"] {
        let mut sketcher = sketcher(name, Width::W64);
        let before = print(&mut sketcher);
        for text in ["", "?!", " \u{3000}\t\n", "。，—…!?", "☃ ☃", "🚀🌕 😀", "⠓⠑⠇⠇⠕"]
        {
            assert_eq!(sketcher.text(text), Ok(None), "{name}: {text}");
        }
        assert_eq!(print(&mut sketcher), before);
        let texts = ["0 1 4 9 16 25", "https://a.example/one", "<hello reader>", "3.14"];
        let made = texts.map(|text| sketcher.page(text).unwrap());
        assert!(made.iter().all(Option::is_some), "{name}: {made:?}");
        assert_ne!(sketcher.page("0 1 4 9 16 36").unwrap(), made[0], "{name}");
        let beside = ["12 words", "<b>words</b> 14"].map(|text| sketcher.text(text));
        assert!(name == "shingles" || beside[0] == beside[1], "{name}");
    }
    let mut features = sketcher("features", Width::W64);
    assert_eq!(features.features(&[]), Ok(None));
    assert_eq!(features.features(&[("a", 0.0), ("b", 1e-9)]), Ok(None));
}

/// One text in several codings is one text.
#[test]
fn what_looks_alike_has_one_fingerprint() {
    for name in ["words", "wide", "short-text", "shingles"] {
        let mut sketcher = sketcher(name, Width::W64);
        for (one, other) in [
            ("Das Café am Fluß öffnet früh", "Das Cafe\u{301} am Fluß o\u{308}ffnet fru\u{308}h"),
            ("full width ASCII", "ｆｕｌｌ ｗｉｄｔｈ ＡＳＣＩＩ"),
            ("international office", "\u{feff}inter\u{ad}national o\u{fb03}\u{2060}ce"),
            ("می روم خانه", "می\u{200b}روم خا\u{200d}نه"),
            ("हिन्दी में लिखा हुआ पाठ", "हिन्दी\u{200b}में लिखा\u{fe0f} हुआ पाठ"),
        ] {
            assert_eq!(sketcher.text(one), sketcher.text(other), "{name}: {one}");
        }
    }
}

#[test]
fn weights_count_as_they_say() {
    let mut given_words = sketcher("features", Width::W64);
    let counts = [("a", 3.0), ("b", 2.0), ("c", 2.0)];
    let once = [("a", 1.0), ("b", 1.0), ("c", 1.0)];
    let text = "a b a c b c a";
    let mut tf = by_weights("\"tf\"");
    assert_eq!(tf.text(text), given_words.features(&counts));
    let mut uniform = by_weights("\"uniform\"");
    assert_eq!(uniform.text(text), given_words.features(&once));
    let idf = [("劳动防护", 13.900677652), ("岗上", 2.0 * 11.5027823792), ("a", 11.9547675029)];
    let mut tf_idf = by_weights("\"tf-idf\"");
    assert_eq!(tf_idf.text("岗上 劳动防护 a 岗上"), given_words.features(&idf));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let kind = |result: Result<Option<u128>>| result.unwrap_err().kind();
    let external = Recipe::named("external-64", None).unwrap().sketcher();
    assert_eq!(external.unwrap_err().kind(), Kind::Usage);
    assert_eq!(kind(sketcher("features", Width::W64).text("a")), Kind::Usage);
    assert_eq!(kind(sketcher("words-1", Width::W64).features(&[])), Kind::Usage);
    let mut features = sketcher("features", Width::W64);
    assert_eq!(kind(features.features(&[("a", 1.0), ("b", f64::NAN)])), Kind::BadData);
    assert_eq!(features.features(&[]), Ok(None), "what was counted before the failure is gone");
}

fn with_part(part: &str, weights: &str) -> Sketcher {
    by_weights(&format!("{weights}\n{part}"))
}

#[test]
fn keywords_are_the_heaviest_features_a_number_or_a_share_but_never_fewer_than_some() {
    let mut given_words = sketcher("features", Width::W64);
    let two = &[("a", 3.0), ("b", 2.0)][..];
    let half = "{ percent = 50, least = 2 }";
    for (keywords, text, features) in [
        ("2", "a b a c b a d", two),
        ("3", "a b a c", &[("a", 2.0), ("b", 1.0), ("c", 1.0)]),
        (half, "a b a c b a d e", two),
        (half, "a b a c b a", two),
        (half, "a a a a b b b c c d e f", &[("a", 4.0), ("b", 3.0), ("c", 2.0)]),
    ] {
        let found = with_part(&format!("keywords = {keywords}"), "\"tf\"").text(text);
        assert_eq!(found, given_words.features(features), "{keywords}: {text}");
    }
    let idf = given_words.features(&[("劳动防护", 13.900677652)]);
    assert_eq!(with_part("keywords = 1", "\"tf-idf\"").text("岗上 劳动防护 a"), idf);
}

#[test]
fn stop_words_are_no_features_and_a_dictionary_makes_words() {
    let list = tempfile::NamedTempFile::new().unwrap();
    let part = |name: &str| format!("{name} = \"{}\"", list.path().display());
    std::fs::write(list.path(), "The\nＯＦ\n").unwrap();
    let mut stopped = with_part(&part("stop_words"), "\"tf\"");
    let mut words = plain_words().sketcher().unwrap();
    assert_eq!(stopped.text("The end of the day"), words.text("end day"));
    assert_eq!(stopped.text("the of"), Ok(None));

    std::fs::write(list.path(), "杭研大厦之王 99999 n\n").unwrap();
    let mut cut = with_part(&part("user_dictionary"), "\"tf\"");
    let names = |sketcher: &mut Sketcher, text| {
        let weighted = sketcher.weighted(text).unwrap();
        weighted.into_iter().map(|feature| feature.feature).collect::<Vec<_>>()
    };
    assert_eq!(names(&mut cut, "杭研大厦之王"), ["杭研大厦之王"]);
    assert!(names(&mut words, "杭研大厦之王").len() > 1);
}

/// What is explained is what is made, whatever the recipe.
#[test]
fn weighted_features_make_the_fingerprint() {
    let recipes = [
        sketcher("words-1", Width::W64),
        sketcher("shingles", Width::W128),
        sketcher("pypi-simhash", Width::W64),
        by_weights("\"tf-idf\""),
        with_part("keywords = 3", "\"raised-tf\""),
    ];
    for mut sketcher in recipes {
        for text in TEXTS {
            let mut simhash = SimHash::<u128>::new(crate::fingerprint::simhash::Ties::Clear);
            let weighted = sketcher.weighted(text).unwrap();
            weighted.iter().for_each(|feature| simhash.add(feature.hash, feature.weight));
            assert_eq!(simhash.finish(), sketcher.text(text).unwrap());
        }
    }
}

#[test]
fn short_texts_are_their_heaviest_words_in_order() {
    let mut short = sketcher("short-text", Width::W64);
    let mut page = |text: &str| short.page(text).unwrap().unwrap();
    let (first, class) = page("我来到北京清华大学");
    assert_eq!(class, Class::Short);
    assert_eq!(page("我来到了北京的清华大学").0, first, "lighter words do not count");
    assert!((page("我来到上海交通大学").0 ^ first).count_ones() > 15);
    let long: String = (0..200).map(|number| format!("word{} ", "x".repeat(number))).collect();
    let (fingerprint, class) = page(&long);
    assert_eq!(class, Class::Full);
    assert_eq!(sketcher("words-1", Width::W64).text(&long), Ok(Some(fingerprint)));
    assert_eq!(page("我来到北京清华大学"), (first, Class::Short));
}

#[test]
fn short_texts_have_the_bits_of_their_keywords() {
    for width in [Width::W64, Width::W128] {
        let mut wide = sketcher("wide-1", width);
        let mut page = |text: &str| wide.page(text).unwrap().unwrap();
        // Four keywords: lighter words, order, numbers and repetition do not count, and one may be another.
        // The shortest word is not one of them. The last ones are texts of fewer words.
        for (one, two, distances) in [
            ("the harbour master counts 7 ships", "Ships: a master counts harbour", 0..=0),
            ("harbour master counts ships", "harbour counts ships master ships", 0..=0),
            ("harbour master counts ships", "harbour master counts boats", 1..=6),
            ("harbour master counts ships", "teacher praises lazy pupils", 13..=64),
            ("清华大学的学生", "北京的天气", 13..=64),
            ("ships", "boats", 13..=64),
            ("harbour master counts", "harbour master counts ships", 1..=6),
        ] {
            let distance = (page(one).0 ^ page(two).0).count_ones();
            assert!(distances.contains(&distance), "{one}, {two}: {distance}");
        }
        assert_eq!(page("harbour master").1, Class::Short);
        assert!(page("harbour master counts ships").0.count_ones() <= 12);
        assert_eq!(wide.page("-- ?! 🚀 ⠓⠑⠇⠇⠕").unwrap(), None);
        let long: String = (0..100).map(|number| format!("word{} ", "x".repeat(number))).collect();
        let (fingerprint, class) = wide.page(&long).unwrap().unwrap();
        assert_eq!(class, Class::Full);
        assert_eq!(
            plain_words().with_width(width).unwrap().sketcher().unwrap().text(&long),
            Ok(Some(fingerprint))
        );
        assert_eq!(wide.page(long.trim_start_matches("word ")).unwrap().unwrap().1, Class::Short);
    }
}

/// What independent implementations answer; that of keywords with the weights of jieba is the example of the library itself. And what recipes
/// have always made: fingerprints at rest depend on these, so a change needs a new name for the recipe. Each line is a recipe, a text or
/// features with weights, and the fingerprint. A recipe has its own width or the one that is named, and plain words may have other parts. `␤`
/// is an end of line.
#[test]
fn fingerprints_are_those_of_other_programs_and_never_change() {
    let tables = [include_str!("tests/compatible.tsv"), include_str!("tests/made.tsv")].concat();
    for line in tables.lines() {
        let line = line.replace('␤', "\n");
        let [recipe, text, expected] = line.split('\t').collect::<Vec<_>>()[..] else { panic!() };
        let (recipe, changes) = recipe.split_once(" | ").unwrap_or((recipe, ""));
        let (name, width) = recipe.split_once(' ').unwrap_or((recipe, ""));
        let changes: Vec<(&str, &str)> = changes.split_once(" => ").into_iter().collect();
        let recipe = match name {
            "plain" => changed(&changes),
            name => Recipe::named(name, None).unwrap(),
        };
        let width = width.parse().ok().and_then(Width::of_bits).unwrap_or(recipe.width());
        let mut sketcher = recipe.with_width(width).unwrap().sketcher().unwrap();
        let features = text.split(' ').filter_map(|it| it.rsplit_once(':'));
        let features = features.map(|(name, weight)| (name, weight.parse().unwrap()));
        let found = match name {
            "keywords-lookup3" | "features-1" => sketcher.features(&features.collect::<Vec<_>>()),
            _ => sketcher.text(text),
        };
        let expected = match expected.strip_prefix("0x") {
            Some(hex) => u128::from_str_radix(hex, 16),
            None => expected.parse(),
        };
        assert_eq!(found, Ok(Some(expected.unwrap())), "{name} {changes:?}: {text}");
    }
}

#[test]
fn white_space_is_that_of_python() {
    let mut sketcher = sketcher("charikar-64", Width::W64);
    let spaced = sketcher.text("a b c d").unwrap();
    assert_eq!(sketcher.text(" a\u{1c}b\u{3000}c\n\u{85}d\t"), Ok(spaced));
    assert_eq!(sketcher.text(" \u{1f} "), Ok(None));
}
