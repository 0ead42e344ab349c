//! A recipe: everything that decides a fingerprint, each part by its name.
//!
//! ```toml
//! scheme = "simhash"
//! features = "words"        # or word-shingles, character-shingles, given, vectors, external
//! hmm = true                # words and word-shingles: jieba's model for unknown words
//! # user_dictionary = "F"   # words and word-shingles: a file of words for jieba
//! # stop_words = "F"        # words and word-shingles: a file of words that do not count
//! # unspaced_run = 4        # words: in scripts without spaces, such as Thai, so many characters are a word
//! # segmenter = "icu"       # words: Japanese and scripts without spaces are cut by the dictionaries of ICU,
//!                           # instead of unspaced_run; needs the feature `segmenter`
//! # length = 3              # shingles: how many words or characters each has
//! # boilerplate = "F"       # a table of lines that do not count, by `dupsieve weights --lines`; with
//!                           # `--by host` those of the page's own host
//! weights = "tf"            # or uniform, raised-tf, tf-idf, text-rank; for words also speech
//! # idf = "F"               # a table by `dupsieve weights`; words alone do without, by jieba's
//! # short_words = "half"    # words: those of one to three characters weigh half
//! # keywords = 20           # only so many features of a text count, the heaviest; by length
//!                           # { percent = 10, least = 20 }
//! # short_text = { below = 50, keywords = 4 }   # words: the route of texts of few features; or
//!                           # { words = 100, keywords = 4, bits = 3 }, that of texts of few words
//! hash = "xxh3"             # or lookup3, charikar, md5
//! width = 64                # or 128
//! ties = "clear"            # or set: what a bit of sum 0 becomes
//! # check = "minhash"     # a second signature beside it, to confirm what is near
//! normalise = { nfkc = true, case = "fold", digits = "keep", white_space = "collapse" }
//!                           # besides: markup = "drop"
//! ```
//!
//! Two more sorts of features are those of other programs and have no parts of their own but hash,
//! ties and `length`: `white-space-tokens` and `word-character-shingles`.
//!
//! Parts are neither guessed nor ignored: a missing, unknown or useless one is an error.

use serde::{Deserialize, Serialize};
use toml::Table;

use crate::document::PageKey;
use crate::error::{Error, Kind, Result};
use crate::features::counts::{Counts, Head};
use crate::features::normalise::Normalise;
use crate::features::segmenter::Segmenter;
use crate::fingerprint::{Check, Width};
use crate::hash::Hash;

mod parts;
mod weights;

use parts::bad;
pub use parts::{Features, SketchParts, SketchScheme, Text};
pub use weights::{
    KeywordBits, KeywordKey, KeywordShare, Keywords, ShortText, ShortWords, Weights,
};

const NAMED: &str = include_str!("recipes.toml");

/// Names for the newest recipe of each kind.
const ALIASES: [(&str, &str); 7] = [
    ("words", "words-1"),
    ("wide", "wide-1"),
    ("short-text", "short-text-1"),
    ("shingles", "shingles-1"),
    ("features", "features-1"),
    ("vectors", "vectors-1"),
    // The former name of `words`. The default is the recipe of the preset.
    ("default", "words-1"),
];

/// The name of the sketches of [`Nilsimsa`](super::Nilsimsa), which no recipe makes.
pub const NILSIMSA: &str = "nilsimsa";

const TAKING: [&str; 7] =
    ["features", "length", "hmm", "user_dictionary", "unspaced_run", "segmenter", "normalise"];

/// The longest shingle, in words or characters.
const LONGEST_SHINGLE: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    #[serde(default = "unnamed", skip_serializing)]
    name: String,
    width: Width,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    check: Option<Check>,
    /// The bands whose keys are kept, as `lsh` writes their names.
    #[serde(skip)]
    bands: Option<String>,
    #[serde(skip)]
    digests: bool,
    /// Whether the words of the texts are kept, and the anchors of their passages.
    #[serde(skip)]
    passages: bool,
    /// What the keys of the pages are made of; none if none are kept.
    #[serde(skip)]
    key: Option<PageKey>,
    #[serde(flatten)]
    features: Features,
}

impl Recipe {
    pub fn named(name: &str, width: Option<Width>) -> Result<Recipe> {
        if name == NILSIMSA {
            return Err(Error::new(Kind::Usage, "nilsimsa makes sketches of 256 bits")
                .expected("a recipe of 64 or 128 bits")
                .help("compare two texts by it")
                .job("compare"));
        }
        let versioned = ALIASES.iter().find(|alias| alias.0 == name).map_or(name, |alias| alias.1);
        let tables: Table = NAMED.parse().expect("the named recipes are TOML");
        let Some(table) = tables.get(versioned).and_then(toml::Value::as_table) else {
            let names: Vec<&str> = Recipe::names().collect();
            return Err(Error::new(Kind::Usage, "there is no such recipe")
                .expected(names.join(", "))
                .found(name));
        };
        let mut recipe = Recipe::from_table(table)?;
        recipe.name = versioned.to_owned();
        match width {
            Some(width) => recipe.with_width(width),
            None => Ok(recipe),
        }
    }

    pub fn names() -> impl Iterator<Item = &'static str> {
        let versioned = NAMED.lines().filter_map(|line| line.strip_prefix('[')?.strip_suffix(']'));
        ALIASES.iter().map(|alias| alias.0).chain(versioned)
    }

    pub fn from_toml(text: &str) -> Result<Recipe> {
        let table = text.parse().map_err(|cause: toml::de::Error| bad(cause.message()))?;
        Recipe::from_table(&table)
    }

    pub fn from_table(table: &Table) -> Result<Recipe> {
        let recipe: Recipe = table.clone().try_into().map_err(|cause| bad(message(&cause)))?;
        let known = Table::try_from(&recipe).expect("a recipe is a table");
        let mut parts = table.keys().filter(|part| *part != "name");
        if let Some(part) = parts.find(|part| !known.contains_key(*part)) {
            let known: Vec<&str> = known.keys().map(String::as_str).collect();
            return Err(bad("a part of no use").expected(known.join(", ")).found(part));
        }
        recipe.validate()?;
        Ok(recipe)
    }

    pub fn with_width(mut self, width: Width) -> Result<Recipe> {
        let ours = self.sketch().is_some_and(|sketch| sketch.hash == Hash::Xxh3);
        if !ours && self.width != width {
            return Err(Error::new(Kind::Usage, format!("the recipe {} has one width", self.name))
                .expected(self.width.bits())
                .found(width.bits()));
        }
        self.width = width;
        Ok(self)
    }

    pub fn with_check(mut self, check: Check) -> Result<Recipe> {
        if !check.is_of_points() {
            self.needs_text("a check needs texts")?;
        }
        self.check = Some(check);
        Ok(self)
    }

    pub fn check(&self) -> Option<Check> {
        self.check
    }

    #[must_use]
    pub fn with_bands(self, bands: String) -> Recipe {
        Recipe { bands: Some(bands), ..self }
    }

    pub fn bands(&self) -> Option<&str> {
        self.bands.as_deref()
    }

    /// The same recipe with the digest of each text beside its fingerprint, by which an unchanged page is known.
    pub fn with_digests(mut self) -> Result<Recipe> {
        self.needs_text("digests are made of texts")?;
        self.digests = true;
        Ok(self)
    }

    pub fn has_digests(&self) -> bool {
        self.digests
    }

    /// The same recipe with the words of each text beside its fingerprint, by which repeated passages are found.
    pub fn with_passages(mut self) -> Result<Recipe> {
        self.needs_text("passages are found in texts")?;
        self.passages = true;
        Ok(self)
    }

    pub fn has_passages(&self) -> bool {
        self.passages
    }

    /// The same recipe with the key of each page, by which a later version of it is known, and the digest of its text.
    pub fn with_key(self, key: PageKey) -> Result<Recipe> {
        Ok(Recipe { key: Some(key), ..self.with_digests()? })
    }

    pub fn key(&self) -> Option<&PageKey> {
        self.key.as_ref()
    }

    /// The same recipe without the lines of this table, which `dupsieve weights --lines` made.
    pub fn with_boilerplate(mut self, lines: Counts) -> Result<Recipe> {
        let (Features::Words { text, .. }
        | Features::WordShingles { text, .. }
        | Features::CharacterShingles { text, .. }) = &mut self.features
        else {
            return Err(Error::new(Kind::Usage, "boilerplate is dropped from texts")
                .expected("a recipe of words or of shingles")
                .found(self.name));
        };
        text.boilerplate = Some(lines);
        self.validate().map(|()| self)
    }

    /// How features are taken from a text, as tables of their counts say it. None where texts are not taken.
    pub fn taking(&self) -> Option<String> {
        self.taken(&TAKING, &[])
    }

    pub fn taking_lines(&self) -> Option<String> {
        self.taken(&["normalise"], &[("features", "lines")])
    }

    /// How lines are taken that are counted for the host of their page.
    pub fn taking_lines_by_host(&self) -> Option<String> {
        self.taken(&["normalise"], &[("features", "lines"), ("by", "host")])
    }

    /// These parts, and others, as one line of JSON; none where texts are not taken.
    fn taken(&self, parts: &[&str], others: &[(&str, &str)]) -> Option<String> {
        let mut recipe = serde_json::to_value(self).ok()?;
        let taken = recipe.as_object_mut().filter(|recipe| recipe.contains_key("normalise"))?;
        taken.retain(|part, _| parts.contains(&part.as_str()));
        if let Some(name) = taken.get_mut("segmenter") {
            // Another release cuts other words.
            let segmenter: Segmenter = serde_json::from_value(name.take()).ok()?;
            *name = segmenter.version().into();
        }
        taken.extend(others.iter().map(|&(part, value)| (part.to_owned(), value.into())));
        recipe.sort_all_objects();
        Some(recipe.to_string())
    }

    fn needs_text(&self, why: &str) -> Result<()> {
        if self.takes_text() {
            return Ok(());
        }
        let error = Error::new(Kind::Usage, why).expected("a recipe that takes texts");
        Err(error.found(&self.name))
    }

    pub(super) fn takes_text(&self) -> bool {
        !matches!(self.features, Features::Given { .. } | Features::Vectors | Features::External)
    }

    pub fn width(&self) -> Width {
        self.width
    }

    /// Its versioned name, or `unnamed`. The name does not decide the fingerprints.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn features(&self) -> &Features {
        &self.features
    }

    pub(super) fn sketch(&self) -> Option<&SketchParts> {
        match &self.features {
            Features::WhiteSpaceTokens { sketch }
            | Features::WordCharacterShingles { sketch, .. }
            | Features::Given { sketch } => Some(sketch),
            features => features.text().map(|text| &text.sketch),
        }
    }

    pub fn normalise(&self) -> Option<&Normalise> {
        self.features.text().map(|text| &text.normalise)
    }

    pub fn has_classes(&self) -> bool {
        self.features.text().is_some_and(|text| text.short_text.is_some())
    }

    pub fn is_external(&self) -> bool {
        self.features == Features::External
    }

    pub fn takes_vectors(&self) -> bool {
        self.features == Features::Vectors
    }

    fn validate(&self) -> Result<()> {
        if self.check.is_some_and(|it| !it.is_of_points()) && !self.takes_text() {
            return Err(bad("a check is made of texts"));
        }
        let length = match &self.features {
            Features::Words { unspaced_run, .. } => *unspaced_run,
            Features::WordShingles { length, .. }
            | Features::CharacterShingles { length, .. }
            | Features::WordCharacterShingles { length, .. } => Some(*length),
            _ => None,
        };
        if length.is_some_and(|length| !(1..=LONGEST_SHINGLE).contains(&length)) {
            return Err(bad("a length out of range")
                .expected(format!("1 to {LONGEST_SHINGLE}"))
                .found(length.unwrap_or_default()));
        }
        let Some(text) = self.features.text() else { return Ok(()) };
        self.check_words(text)?;
        self.check_segmenter()?;
        if text.keywords.is_some_and(|keywords| !keywords.are_possible()) {
            return Err(bad("a number of keywords out of range").expected("1 or more, 1 to 100 %"));
        }
        if text.short_text.is_some_and(|short| !short.is_possible()) {
            return Err(
                bad("a part of short_text out of range").expected("1 or more, at most 8 bits")
            );
        }
        self.check_tables(text)
    }

    fn check_tables(&self, text: &Text) -> Result<()> {
        if text.idf.is_some() && !text.takes_idf() {
            return Err(bad("a part of no use").expected("weights by idf").found("idf"));
        }
        let lines = [self.taking_lines(), self.taking_lines_by_host()];
        for (table, ways, name) in
            [(&text.idf, [self.taking(), None], "idf"), (&text.boilerplate, lines, "boilerplate")]
        {
            let Some(Head { of, .. }) = table.as_ref().map(Counts::head) else { continue };
            if !ways.iter().flatten().any(|way| way == of) {
                let [way, _] = ways;
                return Err(bad(&format!("its {name} was counted otherwise"))
                    .expected(way.unwrap_or_default())
                    .found(of)
                    .help("count again by this recipe")
                    .job("weights"));
            }
        }
        Ok(())
    }

    pub(super) fn check_segmenter(&self) -> Result<()> {
        match self.features {
            Features::Words { segmenter: Some(_), unspaced_run: Some(_), .. } => Err(bad(
                "segmenter and unspaced_run both say what the words of scripts without spaces are",
            )
            .help("name one of them")),
            Features::Words { segmenter: Some(_), .. } if !Segmenter::IS_BUILT => {
                Err(Error::new(Kind::Config, "this dupsieve was built without a segmenter")
                    .help("build it with the feature `segmenter`, or leave the segmenter out"))
            }
            _ => Ok(()),
        }
    }

    fn check_words(&self, text: &Text) -> Result<()> {
        let words = matches!(self.features, Features::Words { .. });
        let characters = matches!(self.features, Features::CharacterShingles { .. });
        let of_no_use = [
            (
                !words && text.weights == Weights::TfIdf && text.idf.is_none(),
                "idf of jieba's table",
            ),
            (!words && text.weights == Weights::Speech, "parts of speech"),
            (!words && text.short_words != ShortWords::Full, "short_words"),
            (!words && text.short_text.is_some(), "short_text"),
            (characters && text.stop_words.is_some(), "stop_words"),
        ];
        match of_no_use.iter().find(|(is, _)| *is) {
            Some((_, part)) => Err(bad(&format!("{part}: for words alone"))),
            None => Ok(()),
        }
    }
}

fn unnamed() -> String {
    "unnamed".to_owned()
}

fn message(cause: &toml::de::Error) -> &str {
    cause.message().lines().next().unwrap_or_default()
}

#[cfg(test)]
pub(in crate::fingerprint) mod tests;
