//! A sketcher: one worker's texts to fingerprints, by a recipe.

use crate::error::{Error, Kind, Result};
use crate::features::normalise::Normalise;
use crate::features::shingles::{self, WordWindow};
use crate::features::tfidf::Idf;
use crate::features::words::Words;
use crate::features::{ONE, fixed};
use crate::fingerprint::recipe::{Features, Recipe, Sketch, Weights};
use crate::fingerprint::simhash::SimHash;
use crate::fingerprint::{Fingerprint, Width};
use crate::hash::{Hash, Hashed};

/// Makes the fingerprints of one recipe. It holds buffers, so each worker has its own.
#[derive(Debug)]
pub struct Sketcher {
    name: String,
    reader: Option<Reader>,
    maker: Either,
}

impl Sketcher {
    pub(super) fn new(recipe: &Recipe) -> Result<Sketcher> {
        let (name, width) = (recipe.name().to_owned(), recipe.width());
        let (cut, text) = match *recipe.features() {
            Features::Words { hmm, text } => (Cut::Words(Words::new(hmm)), text),
            Features::WordShingles { length, hmm, text } => {
                (Cut::WordShingles(Words::new(hmm), WordWindow::new(length)), text)
            }
            Features::CharacterShingles { length, text } => (Cut::CharacterShingles(length), text),
            Features::Given { sketch } => {
                let maker = Either::new(width, sketch, Weights::Tf);
                return Ok(Sketcher { name, reader: None, maker });
            }
            Features::External => return Err(refusal(&name, "fingerprints made elsewhere")),
        };
        let reader = Reader { normalise: text.normalise, normalised: String::new(), cut };
        let maker = Either::new(width, text.sketch, text.weights);
        Ok(Sketcher { name, reader: Some(reader), maker })
    }

    /// The fingerprint of `text`, none if it has no feature; one of 64 bits is the low half.
    ///
    /// Fails with [`Kind::Usage`] if the recipe takes features.
    pub fn text(&mut self, text: &str) -> Result<Option<u128>> {
        let Some(reader) = &mut self.reader else {
            return Err(refusal(&self.name, "features with weights"));
        };
        Ok(match &mut self.maker {
            Either::W64(maker) => maker.text(reader, text),
            Either::W128(maker) => maker.text(reader, text),
        })
    }

    /// The fingerprint of ready-made features with their [weights](fixed), none if there is no
    /// feature or all weigh 0; one of 64 bits is the low half.
    ///
    /// Fails with [`Kind::Usage`] if the recipe takes text, with [`Kind::BadData`] on a weight that
    /// is out of range.
    pub fn features(&mut self, features: &[(&str, f64)]) -> Result<Option<u128>> {
        if self.reader.is_some() {
            return Err(refusal(&self.name, "text"));
        }
        match &mut self.maker {
            Either::W64(maker) => maker.features(features),
            Either::W128(maker) => maker.features(features),
        }
    }
}

fn refusal(name: &str, takes: &str) -> Error {
    Error::new(Kind::Usage, format!("the recipe {name} takes {takes}"))
        .help("choose the recipe that fits the input")
}

/// A text to its features.
#[derive(Debug)]
struct Reader {
    normalise: Normalise,
    normalised: String,
    cut: Cut,
}

#[derive(Debug)]
enum Cut {
    Words(Words),
    WordShingles(Words, WordWindow),
    CharacterShingles(usize),
}

impl Reader {
    /// Calls `feature` with each occurrence of a feature in `text`.
    fn each(&mut self, text: &str, mut feature: impl FnMut(&str)) {
        self.normalise.apply(text, &mut self.normalised);
        match &mut self.cut {
            Cut::Words(words) => words.each(&self.normalised, feature),
            Cut::CharacterShingles(length) => {
                shingles::characters(&self.normalised, *length, feature)
            }
            Cut::WordShingles(words, window) => {
                window.clear();
                words.each(&self.normalised, |word| {
                    window.push(word).into_iter().for_each(&mut feature)
                });
                window.rest().into_iter().for_each(feature);
            }
        }
    }
}

/// A maker of the recipe's width.
#[derive(Debug)]
enum Either {
    W64(Maker<u64>),
    W128(Maker<u128>),
}

impl Either {
    fn new(width: Width, sketch: Sketch, weights: Weights) -> Either {
        match width {
            Width::W64 => Either::W64(Maker::new(sketch, weights)),
            Width::W128 => Either::W128(Maker::new(sketch, weights)),
        }
    }
}

/// Features to their fingerprint.
#[derive(Debug)]
struct Maker<F> {
    hash: Hash,
    weigh: Weigh<F>,
    simhash: SimHash<F>,
}

/// What an occurrence weighs. A sum over occurrences needs no counts of them; only where each
/// feature counts once are their hashes kept, to the end of the text.
#[derive(Debug)]
enum Weigh<F> {
    Once(Vec<F>),
    One,
    Idf(Box<Idf>),
}

impl<F: Fingerprint + Hashed> Maker<F> {
    fn new(sketch: Sketch, weights: Weights) -> Maker<F> {
        let weigh = match weights {
            Weights::Uniform => Weigh::Once(Vec::new()),
            Weights::Tf => Weigh::One,
            Weights::TfIdf => Weigh::Idf(Box::default()),
        };
        Maker { hash: sketch.hash, weigh, simhash: SimHash::new(sketch.ties) }
    }

    fn text(&mut self, reader: &mut Reader, text: &str) -> Option<u128> {
        reader.each(text, |feature| self.count(feature));
        self.finish()
    }

    fn features(&mut self, features: &[(&str, f64)]) -> Result<Option<u128>> {
        let counted = features.iter().try_for_each(|(feature, weight)| {
            self.simhash.add(self.hash.of(feature.as_bytes()), fixed(*weight)?);
            Ok(())
        });
        let fingerprint = self.finish();
        counted.map(|()| fingerprint)
    }

    fn count(&mut self, feature: &str) {
        let hash = self.hash.of(feature.as_bytes());
        match &mut self.weigh {
            Weigh::Once(hashes) => hashes.push(hash),
            Weigh::One => self.simhash.add(hash, ONE),
            Weigh::Idf(idf) => self.simhash.add(hash, idf.of(feature)),
        }
    }

    fn finish(&mut self) -> Option<u128> {
        if let Weigh::Once(hashes) = &mut self.weigh {
            hashes.sort_unstable();
            hashes.dedup();
            hashes.drain(..).for_each(|hash| self.simhash.add(hash, ONE));
        }
        self.simhash.finish().map(F::to_u128)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sketcher(name: &str, width: Width) -> Sketcher {
        Recipe::named(name, Some(width)).unwrap().sketcher().unwrap()
    }

    /// A sketcher by the recipe `words-1` with other features and weights.
    fn variant(features: &str, weights: &str) -> Sketcher {
        let text = toml::to_string(&Recipe::named("words", None).unwrap()).unwrap();
        let text = text.replacen("\"words\"", features, 1).replacen("\"tf\"", weights, 1);
        Recipe::from_toml(&text).unwrap().sketcher().unwrap()
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

    /// Fingerprints at rest depend on these: a change needs a new name for the recipe.
    #[test]
    fn named_recipes_make_what_they_always_made() {
        let golden = [
            (
                sketcher("words-1", Width::W64),
                [0x19e05124209b8e4c, 0xc30e838218d21a7f, 0xc8cec900a216383e, 0xcb1283631cf33d7d],
            ),
            (
                sketcher("words-1", Width::W128),
                [
                    0x38301d367762258ed10200120102bdd6,
                    0x08c120049bb52ee580188fe11cbb10bd,
                    0x6649f408785a2356145d89a126145276,
                    0x51608b049bbdaeb3cb1283631cf33d7d,
                ],
            ),
            (
                sketcher("shingles-1", Width::W64),
                [0x4a6660e8826b0933, 0x89ebab0256e0971c, 0x58806616e18d91be, 0xcb1283631cf33d7d],
            ),
            (
                sketcher("shingles-1", Width::W128),
                [
                    0x0e3c45001313dc8c5530782b028311c3,
                    0x9425279a3e8b1e0927db63eee85f66f7,
                    0xc407486ae3e7aa3842fbc28d3454bb08,
                    0x51608b049bbdaeb3cb1283631cf33d7d,
                ],
            ),
            (
                variant("\"words\"", "\"tf-idf\""),
                [0x99f072a9ac1b8e48, 0xc30e838218d21a7f, 0xccceca52e316386f, 0xcb1283631cf33d7d],
            ),
            (
                variant("\"words\"", "\"uniform\""),
                [0x1de07126a09b8ece, 0x820c828210429223, 0xc8cec900a216383e, 0xcb1283631cf33d7d],
            ),
            (
                variant("\"word-shingles\"\nlength = 2", "\"tf\""),
                [0x76411499f34941c7, 0xd2bf8e424e250544, 0x63d386365c98f8e6, 0xcb1283631cf33d7d],
            ),
        ];
        for (mut sketcher, prints) in golden {
            assert_eq!(print(&mut sketcher), prints);
        }
    }

    #[test]
    fn given_features_make_what_they_always_made() {
        let features = [("中文", 2.5), ("fox", 1.0), ("dog", -0.25)];
        let narrow = 0x8dbce87fe32cdda6;
        assert_eq!(sketcher("features-1", Width::W64).features(&features), Ok(Some(narrow)));
        let wide = 0xe488e3b4925a7257a29d0eeb66ee134a;
        assert_eq!(sketcher("features-1", Width::W128).features(&features), Ok(Some(wide)));
    }

    #[test]
    fn one_feature_is_its_hash() {
        let hash: u64 = Hash::Xxh3.of("the".as_bytes());
        for weights in ["\"tf\"", "\"tf-idf\"", "\"uniform\""] {
            let mut sketcher = variant("\"words\"", weights);
            for text in ["the", " THE.", "the the “Ｔhe”"] {
                assert_eq!(sketcher.text(text), Ok(Some(u128::from(hash))));
            }
        }
        let wide: u128 = Hash::Xxh3.of("the".as_bytes());
        assert_eq!(sketcher("words", Width::W128).text("the"), Ok(Some(wide)));
    }

    #[test]
    fn weights_count_as_they_say() {
        let mut given_words = sketcher("features", Width::W64);
        let counts = [("a", 3.0), ("b", 2.0), ("c", 2.0)];
        let once = [("a", 1.0), ("b", 1.0), ("c", 1.0)];
        let text = "a b a c b c a";
        let mut tf = variant("\"words\"", "\"tf\"");
        assert_eq!(tf.text(text), given_words.features(&counts));
        let mut uniform = variant("\"words\"", "\"uniform\"");
        assert_eq!(uniform.text(text), given_words.features(&once));
        let idf = [("劳动防护", 13.900677652), ("岗上", 2.0 * 11.5027823792), ("a", 11.9547675029)];
        let mut tf_idf = variant("\"words\"", "\"tf-idf\"");
        assert_eq!(tf_idf.text("岗上 劳动防护 a 岗上"), given_words.features(&idf));
    }

    #[test]
    fn word_shingles_are_pairs_of_neighbours() {
        let mut pairs = variant("\"word-shingles\"\nlength = 2", "\"tf\"");
        let mut given_words = sketcher("features", Width::W64);
        for (text, shingles) in [("A b, c!", &["a b", "b c"][..]), ("a", &["a"])] {
            let shingles: Vec<_> = shingles.iter().map(|&shingle| (shingle, 1.0)).collect();
            assert_eq!(pairs.text(text), given_words.features(&shingles));
        }
    }

    #[test]
    fn a_text_without_features_has_no_fingerprint_and_leaves_nothing_behind() {
        for name in ["words", "shingles"] {
            let mut sketcher = sketcher(name, Width::W64);
            let before = print(&mut sketcher);
            for nothing in ["", " \u{3000}\t\n", "。，—…!?", "☃ ☃"] {
                assert_eq!(sketcher.text(nothing), Ok(None), "{nothing:?}");
            }
            assert_eq!(print(&mut sketcher), before);
        }
        let mut features = sketcher("features", Width::W64);
        assert_eq!(features.features(&[]), Ok(None));
        assert_eq!(features.features(&[("a", 0.0), ("b", 1e-9)]), Ok(None));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let kind = |result: Result<Option<u128>>| result.unwrap_err().kind();
        let external = Recipe::named("external-64", None).unwrap().sketcher();
        assert_eq!(external.unwrap_err().kind(), Kind::Usage);
        assert_eq!(kind(sketcher("features", Width::W64).text("a")), Kind::Usage);
        assert_eq!(kind(sketcher("words", Width::W64).features(&[])), Kind::Usage);
        let mut features = sketcher("features", Width::W64);
        assert_eq!(kind(features.features(&[("a", 1.0), ("b", f64::NAN)])), Kind::BadData);
        assert_eq!(features.features(&[]), Ok(None), "what was counted before the failure is gone");
    }

    #[test]
    fn a_word_repeated_and_a_million_words_are_fine() {
        let hash: u64 = Hash::Xxh3.of(b"word");
        let repeated = "word ".repeat(1_000_000);
        assert_eq!(sketcher("words", Width::W64).text(&repeated), Ok(Some(u128::from(hash))));
        let distinct: String = (0..1_000_000).map(|i| format!("w{i} ")).collect();
        for weights in ["\"tf\"", "\"uniform\""] {
            assert!(variant("\"words\"", weights).text(&distinct).unwrap().is_some());
        }
    }
}
