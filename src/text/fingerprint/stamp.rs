//! A stamp: a recipe with everything it depends on, in one line, written beside its fingerprints.
//!
//! It is a JSON object with its keys in order: the parts of the recipe, and, where the recipe uses
//! them, the dictionary, the idf table, the versions of Unicode and the number of the algorithm.
//! The name of a recipe is no part of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::document::PageKey;
use crate::error::{Error, Kind, Result};
use crate::features::words::DICTIONARY;
use crate::fingerprint::recipe::{Features, Recipe, Text};
use crate::fingerprint::{Check, Width};

/// Increased by hand with every change of the fingerprints that no other part shows.
const ALGORITHM: u32 = 1;

/// What made a fingerprint. Fingerprints can be compared only if their stamps are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Stamp {
    text: String,
    width: Width,
}

/// What does not decide fingerprints of whole texts.
const BESIDE: [&str; 5] = ["boilerplate", "bands", "digests", "passages", "key"];

const DIGESTS: &str = "xxh3-128";

/// What is kept of texts to find passages: words as 32 bits of a hash, and anchors of runs of ten words, one in each 41 runs.
const PASSAGES: &str = "xxh3-32,10,41";

impl Recipe {
    /// The same recipe that also keeps what a segment with this stamp keeps beside fingerprints and sketches: bands, digests, keys and words.
    pub fn keeping(self, held: &Stamp) -> Result<Recipe> {
        let recipe = match held.bands() {
            Some(bands) => self.with_bands(bands),
            None => self,
        };
        let recipe = match held.key() {
            Some(key) => recipe.with_key(key)?,
            None if held.has_digests() => recipe.with_digests()?,
            None => recipe,
        };
        if held.has_passages() { recipe.with_passages() } else { Ok(recipe) }
    }

    /// The stamp beside its fingerprints, which are compared only with those of an equal stamp.
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        let Ok(Value::Object(mut parts)) = serde_json::to_value(self) else {
            unreachable!("a recipe is an object");
        };
        let mut part = |name: &str, value: Value| drop(parts.insert(name.to_owned(), value));
        if *self.features() != Features::External {
            part("algorithm", json!(ALGORITHM));
        }
        if let Some(text) = self.features().text() {
            let words = !matches!(self.features(), Features::CharacterShingles { .. });
            part("unicode", unicode(text, words));
            if words {
                part("dictionary", json!(DICTIONARY));
            }
            if let Features::Words { segmenter: Some(segmenter), .. } = self.features() {
                part("segmenter", json!(segmenter.version()));
            }
            if text.idf.is_none() && text.takes_idf() {
                part("idf", json!(DICTIONARY));
            }
        }
        if let Some(check) = self.check() {
            let normalization = normalization();
            let mut check = json!({ "signature": check, "normalization": normalization });
            // Signatures were once made of whole texts.
            if self.features().text().is_some_and(|text| text.boilerplate.is_some()) {
                check["boilerplate"] = json!("dropped");
            }
            part("check", check);
        }
        if let Some(bands) = self.bands() {
            let segmentation = version(unicode_segmentation::UNICODE_VERSION);
            let bands = json!({ "keys": bands, "normalization": normalization(), "segmentation": segmentation });
            part("bands", bands);
        }
        if self.has_digests() {
            part("digests", json!(DIGESTS));
        }
        if self.has_passages() {
            part("passages", json!({ "words": PASSAGES, "normalization": normalization() }));
        }
        if let Some(key) = self.key() {
            let mut made =
                json!({ "rules": key.rules(), "dropped": key.dropped(), "hash": DIGESTS });
            if let Some(field) = key.field() {
                made["field"] = field.into();
            }
            part("key", made);
        }
        if matches!(self.features(), Features::WordCharacterShingles { .. }) {
            part("unicode", json!({ "categories": version(unicode_properties::UNICODE_VERSION) }));
        }
        Stamp { text: canonical(parts), width: self.width() }
    }
}

impl Stamp {
    pub fn parse(text: &str) -> Result<Stamp> {
        let bad = || {
            let start: String = text.chars().take(80).collect();
            Error::new(Kind::BadData, "the stamp of a recipe cannot be read").found(start)
        };
        let parts: Map<String, Value> = serde_json::from_str(text).map_err(|_| bad())?;
        let width = parts.get("width").and_then(|bits| Width::deserialize(bits).ok());
        let width = width.ok_or_else(|| bad().expected("a width of 64 or 128"))?;
        Ok(Stamp { text: canonical(parts), width })
    }

    pub fn width(&self) -> Width {
        self.width
    }

    fn value(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }

    /// The stamp of the same recipe that takes whole texts with their boilerplate and keeps neither bands, digests, keys nor words.
    #[must_use]
    pub fn plain(&self) -> Stamp {
        let mut parts: Map<String, Value> = serde_json::from_str(&self.text).unwrap_or_default();
        parts.retain(|part, _| !BESIDE.contains(&part.as_str()));
        if let Some(check) = parts.get_mut("check").and_then(Value::as_object_mut) {
            check.remove("boilerplate");
        }
        Stamp { text: canonical(parts), width: self.width }
    }

    pub fn check(&self) -> Result<Option<Check>> {
        self.value()["check"]["signature"].as_str().map(str::parse).transpose()
    }

    pub fn bands(&self) -> Option<String> {
        self.value()["bands"]["keys"].as_str().map(str::to_owned)
    }

    pub fn has_digests(&self) -> bool {
        self.value()["digests"] == DIGESTS
    }

    pub fn has_passages(&self) -> bool {
        self.value()["passages"]["words"] == PASSAGES
    }

    /// What the keys beside the fingerprints are made of; none if there are none, or if this version does not know their rules.
    pub fn key(&self) -> Option<PageKey> {
        let part = &self.value()["key"];
        let dropped = Vec::<String>::deserialize(&part["dropped"]).ok()?;
        let field = part["field"].as_str().map(str::to_owned);
        PageKey::by(part["rules"].as_str()?, dropped, field)
    }

    /// The parts in which two stamps differ, each as `name = value`: first those of `one`, then those of
    /// `other`. A part that only one of them has is `none` in the other. If one cannot be parsed, both are
    /// given whole.
    pub fn differences(one: &str, other: &str) -> [String; 2] {
        let [Ok(these), Ok(those)] = [one, other].map(Stamp::parse) else {
            return [one, other].map(str::to_owned);
        };
        let [these, those] = [these, those].map(|stamp| stamp.parts());
        let names: BTreeSet<&String> = these.keys().chain(those.keys()).collect();
        let differing: Vec<&String> =
            names.into_iter().filter(|name| these.get(*name) != those.get(*name)).collect();
        [&these, &those].map(|parts| {
            let value = |name: &str| parts.get(name).map_or("none", String::as_str);
            let parts = differing.iter().map(|name| format!("{name} = {}", value(name)));
            parts.collect::<Vec<_>>().join(", ")
        })
    }

    /// Every value by its name in messages; `a.b` is the part `b` of the part `a`.
    fn parts(&self) -> BTreeMap<String, String> {
        let mut parts = BTreeMap::new();
        gather("", &self.value(), &mut parts);
        if let Some(sketch) = parts.remove("check.signature") {
            parts.insert("sketch".to_owned(), sketch);
        }
        parts
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// Puts every value that is no object into `parts`, under the names that lead to it.
fn gather(path: &str, value: &Value, parts: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(inner) => {
            let dot = if path.is_empty() { "" } else { "." };
            inner.iter().for_each(|(name, value)| {
                gather(&format!("{path}{dot}{name}"), value, parts);
            });
        }
        Value::String(text) => drop(parts.insert(path.to_owned(), text.clone())),
        value => drop(parts.insert(path.to_owned(), value.to_string())),
    }
}

/// The versions of the Unicode tables in use. Lower case is left out: it comes with the compiler,
/// and a later version differs in letters newly encoded only.
fn unicode(text: &Text, words: bool) -> Value {
    let mut versions = Map::new();
    if text.normalise.nfkc {
        versions.insert("normalization".to_owned(), normalization());
    }
    if words {
        let number = version(unicode_segmentation::UNICODE_VERSION);
        versions.insert("segmentation".to_owned(), number);
    }
    Value::Object(versions)
}

fn normalization() -> Value {
    let (major, minor, patch) = unicode_normalization::UNICODE_VERSION;
    version((major.into(), minor.into(), patch.into()))
}

fn version((major, minor, patch): (u64, u64, u64)) -> Value {
    json!(format!("{major}.{minor}.{patch}"))
}

/// One line of JSON, all keys in order.
fn canonical(parts: Map<String, Value>) -> String {
    let mut parts = Value::Object(parts);
    parts.sort_all_objects();
    parts.to_string()
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl TryFrom<String> for Stamp {
    type Error = Error;

    fn try_from(text: String) -> Result<Stamp> {
        Stamp::parse(&text)
    }
}

impl From<Stamp> for String {
    fn from(stamp: Stamp) -> String {
        stamp.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::recipe::tests::plain_words;

    fn stamp(name: &str) -> Stamp {
        Recipe::named(name, None).unwrap().stamp()
    }

    /// Stores hold these lines: a change makes every one of them incomparable.
    #[test]
    fn stamps_stay_as_they_are() {
        for line in include_str!("stamp/stamps.tsv").lines() {
            let (name, expected) = line.split_once('\t').unwrap();
            let found = if name == "plain words" { plain_words().stamp() } else { stamp(name) };
            assert_eq!(found.as_str(), expected, "{name}");
        }
    }

    #[test]
    fn a_stamp_reads_back_whatever_its_order_and_keeps_what_is_unknown() {
        for name in Recipe::names() {
            let stamp = stamp(name);
            assert_eq!(Stamp::parse(stamp.as_str()), Ok(stamp.clone()));
            let json = serde_json::to_string(&stamp).unwrap();
            assert_eq!(serde_json::from_str::<Stamp>(&json).unwrap(), stamp);
        }
        let shuffled = Stamp::parse(r#" {"width": 64, "features": "external"}"#).unwrap();
        assert_eq!(shuffled, stamp("external-64"));
        let later = Stamp::parse(r#"{"features":"external","later":1,"width":64}"#).unwrap();
        assert_ne!(later, stamp("external-64"));
        assert!(later.as_str().contains("later"));
    }

    #[test]
    fn two_stamps_are_told_apart_by_the_parts_that_differ() {
        let [one, other] = [plain_words().stamp(), stamp("words-1")];
        let [ours, theirs] = Stamp::differences(one.as_str(), other.as_str());
        assert_eq!(
            ours,
            "normalise.digits = keep, normalise.markup = none, short_words = none, \
             unspaced_run = none, weights = tf"
        );
        assert_eq!(
            theirs,
            "normalise.digits = drop, normalise.markup = drop, short_words = half, \
             unspaced_run = 4, weights = raised-tf"
        );
        assert_eq!(Stamp::differences(one.as_str(), one.as_str()), ["", ""]);
        assert_eq!(Stamp::differences("external-64", one.as_str()), ["external-64", one.as_str()]);
    }

    #[test]
    fn a_stamp_tells_the_check() {
        let recipe = Recipe::named("words", None).unwrap();
        let check: Check = "minhash-64x8".parse().unwrap();
        let stamp = recipe.clone().with_check(check).unwrap().stamp();
        assert_ne!(stamp, recipe.stamp());
        assert_eq!((stamp.check(), recipe.stamp().check()), (Ok(Some(check)), Ok(None)));
        let part = r#""check":{"normalization":"18.0.0","signature":"minhash-64x8"}"#;
        assert!(stamp.as_str().contains(part), "{stamp}");
        let later = Stamp::parse(r#"{"width":64,"check":{"signature":"later"}}"#).unwrap();
        assert_eq!(later.check().unwrap_err().kind(), Kind::Usage);
    }

    #[test]
    fn what_is_no_stamp_is_refused() {
        let deep = "[".repeat(1 << 20);
        for text in ["", "[]", "{}", r#"{"width":65}"#, r#"{"width":"64"}"#, "\0", &deep] {
            let error = Stamp::parse(text).unwrap_err();
            assert_eq!(error.kind(), Kind::BadData);
            assert!(error.to_string().len() < 300);
        }
    }

    #[test]
    fn the_name_of_a_recipe_is_no_part_of_its_stamp_and_every_other_part_is() {
        let text = toml::to_string(&plain_words()).unwrap();
        let renamed = Recipe::from_toml(&format!("name = \"mine\"\n{text}")).unwrap();
        assert_eq!(renamed.stamp(), plain_words().stamp());
        // Of each text of the recipe those that may be put for it.
        for (from, texts) in [
            ("\"tf\"", "\"tf-idf\"|\"uniform\"|\"raised-tf\"|\"speech\"|\"text-rank\""),
            ("\"tf\"", "\"tf\"\nshort_words = \"half\"|\"tf\"\nkeywords = 9"),
            ("\"tf\"", "\"tf\"\nkeywords = { percent = 9, least = 1 }"),
            ("\"tf\"", "\"tf\"\nshort_text = { below = 50, keywords = 3 }"),
            ("\"tf\"", "\"tf\"\nshort_text = { words = 50, keywords = 3, bits = 3 }"),
            ("\"collapse\"", "\"collapse\"\nmarkup = \"drop\"|\"keep\""),
            ("\"xxh3\"", "\"lookup3\""),
            ("\"clear\"", "\"set\""),
            ("64", "128"),
            ("hmm = true", "hmm = false"),
            ("nfkc = true", "nfkc = false"),
            ("\"fold\"", "\"keep\""),
            ("digits = \"keep\"", "digits = \"zero\""),
        ] {
            for to in texts.split('|') {
                let changed = Recipe::from_toml(&text.replacen(from, to, 1)).unwrap();
                assert_ne!(changed.stamp(), plain_words().stamp(), "{from} to {to}");
            }
        }
    }
}
