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

/// Each line has a text of plain words, the one that is put for it, perhaps two more such, and what is said. `;` ends a line.
#[test]
fn parts_are_neither_guessed_nor_ignored() {
    for line in include_str!("tests/refused.tsv").lines() {
        let cells: Vec<String> = line.split('\t').map(|cell| cell.replace(';', "\n")).collect();
        let [from, to, more @ .., said] = &cells[..] else { panic!("{line}") };
        let text = words(from, to);
        let error = refused(&match more {
            [from, to] => text.replacen(from, to, 1),
            _ => text,
        });
        assert!(error.contains(said), "{line}: {error}");
    }
    for (text, part) in [
        ("features = \"external\"", "width"),
        ("width = 64", "features"),
        ("width 64", "not a recipe"),
    ] {
        assert!(refused(text).contains(part), "{text}");
    }
    for (from, to) in [
        ("64", "64\nname = \"mine\""),
        ("\"words\"", "\"word-shingles\"\nlength = 1"),
        ("\"words\"", "\"word-shingles\"\nlength = 64"),
        ("hmm = true", "hmm = true\nshort_words = \"half\""),
        ("hmm = true", "hmm = true\nshort_text = { below = 50, keywords = 3 }"),
        ("hmm = true", "hmm = true\nshort_text = { words = 50, keywords = 4, bits = 3 }"),
    ] {
        let name = Recipe::from_toml(&words(from, to)).unwrap().name().to_owned();
        assert_eq!(name == "mine", to.contains("mine"), "{to}");
    }
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
