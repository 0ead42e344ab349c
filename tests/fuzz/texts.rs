//! Every way in which the library takes a text, and a clock that tells whether one of them takes time
//! linear in the length of the text.
//!
//! What is measured is the time that the thread spends on a processor, so other work on the machine does
//! not count. A pair of lengths whose times are too far apart is measured again, a few times, and the
//! shortest time of each length decides.

use std::time::Duration;

use dupsieve::features::counts::{Counts, CountsWriter, Head};
use dupsieve::features::host_lines::PageLines;
use dupsieve::fingerprint::check::word_shingles;
use dupsieve::fingerprint::{Check, Nilsimsa, Recipe};
use rustix::time::{ClockId, clock_gettime};

/// Four times the length takes less than this many times as long. What is linear takes more than four times as long once it leaves a cache
/// or asks the system for its memory, and what is quadratic takes sixteen times as long.
const MOST: f64 = 8.0;
/// What the longer text takes in less than this is no sign of anything: a way that looked at all that stands before each byte would take
/// half a second for it, at 32 bytes a nanosecond.
const NOTHING: Duration = Duration::from_millis(10);
/// How often a pair of lengths is measured before it fails: the machine may be busy for a while, and what is quadratic stays so.
const TRIALS: usize = 64;

const NORMALISE: &str = "normalise = { nfkc = true, case = \"fold\", digits = \"drop\", \
                         white_space = \"collapse\", markup = \"drop\" }";

/// One way to take a text. It begins anew with each, so nothing is known from the text before.
pub struct Way {
    name: String,
    take: Box<dyn Fn(&str)>,
}

impl Way {
    fn new(name: &str, take: impl Fn(&str) + 'static) -> Way {
        Way { name: name.to_owned(), take: Box::new(take) }
    }

    fn sketch(name: &str, recipe: Recipe) -> Way {
        // What is loaded once a process is loaded before the clock starts.
        recipe.sketcher().and_then(|mut sketcher| sketcher.text("中文 words")).expect("a recipe");
        Way::new(name, move |text| {
            let mut sketcher = recipe.sketcher().expect("it was made before");
            sketcher.text(text).expect("a page is never late");
        })
    }

    fn variant(parts: &str) -> Way {
        Way::sketch(parts, variant(parts))
    }

    /// Drops the lines of a host, of which there is one.
    fn boilerplate() -> Way {
        let recipe = Recipe::named("words-1", None).expect("it has a name");
        let of = recipe.taking_lines_by_host().expect("it takes texts");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lines.counts");
        let head = Head { of, documents: 1, min_count: 1, identity: String::new() };
        let mut table = CountsWriter::create(&path, &head).expect("a table");
        ["host\t", "host\ta"].iter().for_each(|name| table.push(name, 1).expect("a row"));
        table.finish().expect("a table");
        let lines = Counts::read(&path).expect("a table");
        let recipe = recipe.with_boilerplate(lines).expect("it takes lines");
        Way::new("boilerplate", move |text| {
            let mut boilerplate = recipe.boilerplate().expect("it has a table");
            _ = boilerplate.drop_from("http://host/", text).text.len();
        })
    }

    /// What is wrong if the second text, about four times as long as the first, takes too long beside it.
    pub fn too_long(&self, texts: [&str; 2]) -> Option<String> {
        let (mut shortest, mut ratio) = ([Duration::MAX; 2], 0.0);
        for _ in 0..TRIALS {
            for (least, text) in shortest.iter_mut().zip(texts) {
                *least = self.time(text).min(*least);
            }
            ratio = shortest[1].as_secs_f64() / shortest[0].as_secs_f64();
            if ratio < MOST || shortest[1] < NOTHING {
                return None;
            }
        }
        Some(format!("{}: {ratio:.1} times as long, {:?}", self.name, shortest[1]))
    }

    fn time(&self, text: &str) -> Duration {
        let begun = busy();
        (self.take)(text);
        busy() - begun
    }
}

fn busy() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

fn variant(parts: &str) -> Recipe {
    Recipe::from_table(&table(parts)).expect("the parts fit")
}

/// The recipe of words whose parts tests exchange, with these parts.
fn table(parts: &str) -> toml::Table {
    let words = include_str!("../../src/text/fingerprint/recipe/plain_words.toml");
    let mut table: toml::Table = words.parse().expect("a recipe is a table");
    table.extend(parts.parse::<toml::Table>().expect("parts are TOML"));
    if table["features"].as_str() == Some("character-shingles") {
        table.remove("hmm");
    }
    table
}

/// The recipes with a versioned name that take texts.
pub fn named() -> Vec<Way> {
    let named = Recipe::names().filter_map(|name| Some((name, Recipe::named(name, None).ok()?)));
    let of_texts = named.filter(|(name, recipe)| {
        let takes_text = || recipe.sketcher().is_ok_and(|mut sketcher| sketcher.text("a").is_ok());
        *name == recipe.name() && takes_text()
    });
    of_texts.map(|(name, recipe)| Way::sketch(name, recipe)).collect()
}

pub fn weights() -> Vec<Way> {
    let weights = ["uniform", "tf-idf", "speech", "text-rank"];
    weights.iter().map(|weights| Way::variant(&format!("weights = {weights:?}"))).collect()
}

pub fn features() -> Vec<Way> {
    let normalise = NORMALISE;
    let variants = [
        "features = \"word-shingles\"\nlength = 3".to_owned(),
        "features = \"word-shingles\"\nlength = 64".to_owned(),
        "features = \"character-shingles\"\nlength = 64".to_owned(),
        format!("hmm = false\nkeywords = 20\n{normalise}"),
        format!("features = \"character-shingles\"\nlength = 5\nwidth = 128\n{normalise}"),
        format!("{}\nhash = \"md5\"", normalise.replace("\"fold\"", "\"keep\"")),
        normalise.replace("digits = \"drop\"", "digits = \"zero\"").replace("true", "false"),
    ];
    // A build may have no segmenter.
    let segmenter = "segmenter = \"icu\"";
    let segmented = Recipe::from_table(&table(segmenter)).map(|it| Way::sketch(segmenter, it));
    variants.iter().map(|parts| Way::variant(parts)).chain(segmented).collect()
}

/// The checks, and what compares two texts.
pub fn checks() -> Vec<Way> {
    let check = |name: &str| {
        let check: Check = name.parse().expect("it has a name");
        Way::new(name, move |text| {
            check.signer().sign(text, &mut Vec::new()).expect("a page is never late");
        })
    };
    let recipe = Recipe::named("words-1", None).expect("it has a name");
    let normalise = *recipe.normalise().expect("it takes texts");
    let others = [
        Way::new("nilsimsa", |text| _ = Nilsimsa::of(text)),
        Way::new("jaccard", |text| _ = word_shingles(text).jaccard(&word_shingles("another"))),
        Way::new("lines of a host", move |text| _ = PageLines::of(text, normalise, |_| ())),
        Way::boilerplate(),
        Way::new("weighted features", move |text| {
            let mut sketcher = recipe.sketcher().expect("it was made before");
            drop(sketcher.weighted(text).expect("a text"));
        }),
    ];
    ["containment", "minhash", "cosine", "sentences"].into_iter().map(check).chain(others).collect()
}

pub fn ways() -> Vec<Way> {
    [named(), weights(), features(), checks()].into_iter().flatten().collect()
}
