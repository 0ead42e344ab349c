//! Recipes: read, named, refused.

use super::*;
use crate::features::counts::written;

const NAMES: &str = "words-1 wide-1 short-text-1 shingles-1 features-1 keywords-lookup3 charikar-64 \
    charikar-128 pypi-simhash external-64 external-128 vectors-1";

fn refused(text: &str) -> String {
    let error = Recipe::from_toml(text).unwrap_err();
    assert_eq!(error.kind(), Kind::Config, "{error}");
    error.to_string()
}

/// The recipe of words whose parts tests exchange.
pub(in crate::fingerprint) fn plain_words() -> Recipe {
    Recipe::from_toml(include_str!("plain_words.toml")).unwrap()
}

/// The parts of plain words, with one text put for another.
fn words(from: &str, to: &str) -> String {
    let text = toml::to_string(&plain_words()).unwrap();
    assert!(text.contains(from), "{text}");
    text.replacen(from, to, 1)
}

#[test]
fn every_name_has_a_recipe_that_reads_back_the_same() {
    assert!(Recipe::names().skip(ALIASES.len()).eq(NAMES.split(' ')));
    for name in Recipe::names() {
        let recipe = Recipe::named(name, None).unwrap();
        assert!(NAMES.contains(recipe.name()));
        let read = Recipe::from_toml(&toml::to_string(&recipe).unwrap()).unwrap();
        assert_eq!(read.name(), "unnamed");
        assert_eq!(read.stamp(), recipe.stamp());
    }
    assert_eq!(Recipe::named("default", None), Recipe::named("words-1", None));
}

#[test]
fn an_unknown_name_is_answered_with_those_there_are() {
    let error = Recipe::named("wrods", None).unwrap_err();
    assert_eq!(error.kind(), Kind::Usage);
    assert!(NAMES.split(' ').all(|name| error.to_string().contains(name)), "{error}");
    let error = Recipe::named("nilsimsa", None).unwrap_err();
    assert_eq!(error.kind(), Kind::Usage);
    assert!(error.to_string().contains("compare"), "{error}");
}

#[test]
fn widths_change_where_the_recipe_allows_it() {
    let wide = Recipe::named("default", Some(Width::W128)).unwrap();
    assert_eq!((wide.width(), wide.stamp().width()), (Width::W128, Width::W128));
    let error = Recipe::named("external-64", Some(Width::W128)).unwrap_err();
    assert_eq!(error.kind(), Kind::Usage);
    assert!(Recipe::named("external-64", Some(Width::W64)).is_ok());
    for one in ["keywords-lookup3", "charikar-64", "pypi-simhash"] {
        assert!(Recipe::named(one, Some(Width::W128)).is_err(), "{one}");
    }
}

#[test]
fn parts_are_neither_guessed_nor_ignored() {
    for (from, to, part) in [
        ("hmm", "hhm", "hmm"),
        ("hmm = true", "", "hmm"),
        ("hmm = true", "hmm = true\nlength = 3", "length"),
        ("nfkc = true", "nfkc = true\nnfc = true", "nfc"),
        ("nfkc = true", "", "nfkc"),
        ("\"xxh3\"", "\"md4\"", "md4"),
        ("64", "96", "96"),
        ("\"words\"", "\"word-shingles\"", "length"),
    ] {
        assert!(refused(&words(from, to)).contains(part), "{to}");
    }
    assert!(refused("features = \"external\"").contains("width"));
    assert!(refused("width = 64").contains("features"));
    assert!(refused("width 64").contains("not a recipe"));
    assert!(Recipe::from_toml(&words("64", "64\nname = \"mine\"")).unwrap().name() == "mine");
}

#[test]
fn lists_are_known_by_their_digests() {
    let list = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(list.path(), "的\nthe\n").unwrap();
    let path = list.path().display();
    for part in ["stop_words", "user_dictionary"] {
        let text = words("hmm = true", &format!("hmm = true\n{part} = \"{path}\""));
        let recipe = Recipe::from_toml(&text).unwrap();
        let stamp = recipe.stamp().to_string();
        assert!(stamp.contains(part) && !stamp.contains(&path.to_string()), "{stamp}");
        assert!(refused(&text.replace(&path.to_string(), "no/such")).contains("no/such"));
    }
    let text = words("hmm = true", &format!("length = 4\nstop_words = \"{path}\""));
    assert!(refused(&text.replace("\"words\"", "\"character-shingles\"")).contains("stop"));
    assert!(refused(&words("\"tf\"", "\"tf\"\nkeywords = 0")).contains("keywords"));
}

#[test]
fn shingles_have_a_length_and_no_idf() {
    let shingles = |length: i64| {
        let to = format!("\"word-shingles\"\nlength = {length}");
        words("\"words\"", &to)
    };
    assert!(Recipe::from_toml(&shingles(1)).is_ok() && Recipe::from_toml(&shingles(64)).is_ok());
    for length in [-1, 0, 65, i64::MAX] {
        refused(&shingles(length));
        refused(&words("hmm = true", &format!("hmm = true\nunspaced_run = {length}")));
    }
    assert!(refused(&shingles(2).replace("\"tf\"", "\"tf-idf\"")).contains("idf"));
}

#[test]
fn what_is_for_words_is_refused_of_shingles() {
    for part in [
        "short_words = \"half\"",
        "short_text = { below = 50, keywords = 3 }",
        "short_text = { words = 50, keywords = 4, bits = 3 }",
    ] {
        let text = words("hmm = true", &format!("hmm = true\n{part}"));
        assert!(Recipe::from_toml(&text).is_ok(), "{text}");
        let shingles = text.replace("\"words\"", "\"word-shingles\"\nlength = 2");
        assert!(refused(&shingles).contains("words alone"));
    }
    let speech = words("\"tf\"", "\"speech\"");
    assert!(
        refused(&speech.replace("\"words\"", "\"word-shingles\"\nlength = 2")).contains("speech")
    );
    for bad in [
        "{ below = 0, keywords = 3 }",
        "{ below = 9, keywords = 0 }",
        "{ below = 9 }",
        "{ words = 0, keywords = 4, bits = 3 }",
        "{ words = 9, keywords = 0, bits = 3 }",
        "{ words = 9, keywords = 65, bits = 3 }",
        "{ words = 9, keywords = 4, bits = 0 }",
        "{ words = 9, keywords = 4, bits = 9 }",
        "{ words = 9, keywords = 4 }",
        "{ words = 9, below = 9, keywords = 4, bits = 3 }",
    ] {
        refused(&words("hmm = true", &format!("hmm = true\nshort_text = {bad}")));
    }
    for bad in ["{ percent = 0, least = 1 }", "{ percent = 101, least = 1 }", "{ percent = 5 }"] {
        refused(&words("hmm = true", &format!("hmm = true\nkeywords = {bad}")));
    }
}

#[test]
fn tables_fit_only_the_recipes_they_were_counted_by() {
    let folder = tempfile::tempdir().unwrap();
    let table = |name: &str, of: Option<String>| {
        let path = folder.path().join(name);
        written(&path, &of.unwrap(), &[("the", 7)]);
        path.display().to_string()
    };
    let plain = plain_words();
    let idf = table("idf", plain.taking());
    let with = |part: &str, weights: &str| words("\"tf\"", &format!("\"{weights}\"\n{part}"));
    let counted = Recipe::from_toml(&with(&format!("idf = \"{idf}\""), "tf-idf")).unwrap();
    let stamp = counted.stamp().to_string();
    assert!(stamp.contains("\"idf\":\"") && !stamp.contains(&idf), "{stamp}");
    assert_ne!(counted.stamp(), Recipe::from_toml(&with("", "tf-idf")).unwrap().stamp());
    assert!(refused(&with(&format!("idf = \"{idf}\""), "tf")).contains("idf"));
    let folded = with(&format!("idf = \"{idf}\""), "tf-idf").replace("\"fold\"", "\"keep\"");
    assert!(refused(&folded).contains("counted otherwise"));
    let lines = table("lines", plain.taking_lines());
    assert!(Recipe::from_toml(&with(&format!("boilerplate = \"{lines}\""), "tf")).is_ok());
    assert!(refused(&with(&format!("boilerplate = \"{idf}\""), "tf")).contains("boilerplate"));
    assert!(refused(&with(&format!("idf = \"{lines}\""), "tf-idf")).contains("counted"));
    assert!(Recipe::named("features", None).unwrap().taking().is_none());
    let by_host = table("by host", plain.taking_lines_by_host());
    let lines = || Counts::read(by_host.as_ref()).unwrap();
    let fits = |name| Recipe::named(name, None).unwrap().with_boilerplate(lines());
    assert!(fits("shingles-1").is_ok(), "it normalises as plain words do");
    assert_eq!(fits("words").unwrap_err().kind(), Kind::Config);
    assert_eq!(fits("charikar-64").unwrap_err().kind(), Kind::Usage);
}
