//! A check: the sketch of a text, which says how alike candidates are.
//!
//! A small fingerprint that tolerates edits also makes unrelated pages near. So the distance of fingerprints
//! only finds candidates, and the sketch, which is read for candidates alone, decides. Each maker of sketches has a file of its own below
//! this one. The name of a check has all its parameters, and a name never changes its meaning:
//!
//! | name | bytes | what it says of two pages |
//! |---|---|---|
//! | `containment` | some 2.1 a word | how much of each page the other one [contains](Contained): the check of `run` and `dedup` |
//! | `minhash-NxB` | N B / 8 | estimate of the Jaccard similarity of runs of three characters by [one permutation](super::minhash) |
//! | `cosine-N` | 4 N | the cosine of the N most frequent runs of two characters |
//! | `sentences-N` | 8 N | the share of the N longest sentences in common |
//! | `points` | up to 49,156 | how alike they are in the space of their bands, such as the cosine of two vectors |

mod containment;
mod cosine;
mod maker;
pub mod points;
mod sentences;

use std::cell::RefCell;
use std::str::FromStr;
use std::{fmt, mem};

use crate::error::{Error, Kind, Result, as_text};
use crate::fingerprint::minhash::{self, MinHash, Permutations};

use containment::Containment;
use cosine::Cosine;
use maker::{Maker, Signing};
use points::Points;
use sentences::Sentences;

pub use containment::{ANCHOR_BYTES, ANCHORS, Contained, MAX_ANCHORS_BYTES, word_shingles};
pub use containment::{Hashes, MAX_SKETCH_BYTES, Marked, Sample, sketch_of};
pub use maker::{NORMALISE, NORMALISE_WORDS, Signer};

/// The most bytes that a signature of fixed length takes.
pub const MAX_SIGNATURE_BYTES: usize = 1024;

/// The bytes of a signature where each has as many as it needs.
pub const AS_NEEDED: usize = u32::MAX as usize;

/// Names without parts.
const ALIASES: [(&str, &str); 3] =
    [("minhash", "minhash-512x2"), ("cosine", "cosine-32"), ("sentences", "sentences-5")];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Check {
    Containment,
    MinHash { slots: usize, bits: u32 },
    Cosine(usize),
    Sentences(usize),
    Points,
}

thread_local! {
    /// What sketches are compared in, on each thread that compares some.
    static COMPARED: RefCell<(Marked, Vec<u32>)> = RefCell::default();
}

impl Check {
    /// Whether this is the name of a check without its size, such as `minhash`.
    pub fn is_without_size(name: &str) -> bool {
        ALIASES.iter().any(|alias| alias.0 == name)
    }

    /// Whether the other check is the same but for its size.
    pub fn is_like(self, other: Check) -> bool {
        mem::discriminant(&self) == mem::discriminant(&other)
    }

    /// The bytes of a signature; [`AS_NEEDED`] of a check whose signatures differ in length.
    pub fn bytes(self) -> usize {
        match self {
            Check::Containment | Check::Points => AS_NEEDED,
            Check::MinHash { slots, bits } => slots * bits as usize / 8,
            Check::Cosine(features) => cosine::FEATURE_BYTES * features,
            Check::Sentences(count) => sentences::HASH_BYTES * count,
        }
    }

    /// How alike the texts behind two signatures are, from 0 to 1. Of a check with a direction, the greater of both shares.
    pub fn similarity(self, one: &[u8], another: &[u8]) -> f64 {
        match self {
            Check::Containment => {
                let shares = contained(one, another).map(|both| both.map(Contained::share));
                shares.map_or(0.0, |[first, second]| first.max(second))
            }
            Check::MinHash { bits, .. } => minhash::similarity(one, another, bits),
            Check::Cosine(_) => cosine::similarity(one, another),
            Check::Sentences(_) => sentences::similarity(one, another),
            Check::Points => points::similarity(one, another),
        }
    }

    /// How much of each text the other one contains, of `one` first; none of a check without a direction.
    pub fn containment(self, one: &[u8], another: &[u8]) -> Option<[Contained; 2]> {
        if self.has_direction() { contained(one, another) } else { None }
    }

    /// Whether the check tells which of two texts contains the other one.
    pub fn has_direction(self) -> bool {
        matches!(self, Check::Containment)
    }

    /// The number of distinct shingles of a text by its sketch, where the check has a direction.
    pub fn shingles(self, sketch: &[u8]) -> Option<u64> {
        self.has_direction().then(|| containment::count(sketch))
    }

    pub fn of_texts(self) -> Result<Check> {
        if !self.is_of_points() {
            return Ok(self);
        }
        Err(Error::new(Kind::Usage, "the check points compares what a segment with bands keeps")
            .expected("a check of texts, such as containment or minhash"))
    }

    /// Whether the sketches are points of the space of a page's bands, which make them.
    pub fn is_of_points(self) -> bool {
        self == Check::Points
    }

    /// Whether pages are compared as wholes, of whatever length, and find each other by keys that they share.
    pub fn is_whole(self) -> bool {
        self.has_direction() || self.is_of_points()
    }

    pub fn signer(self) -> Signer {
        match self {
            Check::Containment => Signer::new(Containment::default()),
            Check::MinHash { slots, bits } => {
                Signer::new(MinHash::new(Permutations::One, slots, bits))
            }
            Check::Cosine(features) => Signer::new(Cosine::new(features)),
            Check::Sentences(count) => Signer::new(Sentences::new(count)),
            Check::Points => Signer::new(Points),
        }
    }

    fn parse(name: &str) -> Option<Check> {
        match name {
            "containment" => return Some(Check::Containment),
            "points" => return Some(Check::Points),
            _ => {}
        }
        let (scheme, parts) = name.rsplit_once('-')?;
        let bounded = |parts: &str| parts.parse().ok().filter(|&n| n <= MAX_SIGNATURE_BYTES);
        match scheme {
            "minhash" => slots_and_bits(parts).map(|(slots, bits)| Check::MinHash { slots, bits }),
            "cosine" => bounded(parts).map(Check::Cosine),
            "sentences" => bounded(parts).map(Check::Sentences),
            _ => None,
        }
    }
}

fn contained(one: &[u8], another: &[u8]) -> Option<[Contained; 2]> {
    COMPARED.with_borrow_mut(|(marked, hashes)| {
        marked.mark(Sample::read(one, hashes));
        marked.contained(Sample::read(another, hashes), 0.0)
    })
}

/// Of runs of three characters.
impl Maker for MinHash {
    fn sign(&mut self, text: &str, mut signing: Signing<'_>) {
        signing.each_run(text, 3, |hash| self.add(hash));
        self.finish(signing.signature);
    }
}

/// The slots of a MinHash and the bits of each, as `128x2`, where they make whole bytes.
fn slots_and_bits(parts: &str) -> Option<(usize, u32)> {
    let (slots, bits) = parts.split_once('x')?;
    let slots = slots.parse().ok()?;
    let bits = bits.parse().ok()?;
    let whole = matches!(bits, 1 | 2 | 4 | 8)
        && (1..=8 * MAX_SIGNATURE_BYTES).contains(&slots)
        && (slots * bits as usize).is_multiple_of(8);
    whole.then_some((slots, bits))
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Check::Containment => f.write_str("containment"),
            Check::MinHash { slots, bits } => write!(f, "minhash-{slots}x{bits}"),
            Check::Cosine(features) => write!(f, "cosine-{features}"),
            Check::Sentences(count) => write!(f, "sentences-{count}"),
            Check::Points => f.write_str("points"),
        }
    }
}

impl FromStr for Check {
    type Err = Error;

    fn from_str(name: &str) -> Result<Check> {
        let full = ALIASES.iter().find(|alias| alias.0 == name).map_or(name, |alias| alias.1);
        let check = Check::parse(full);
        // What does not read back as it was written had a sign or a leading zero.
        let has_size =
            |check: Check| check.is_whole() || (1..=MAX_SIGNATURE_BYTES).contains(&check.bytes());
        let check = check.filter(|check| has_size(*check) && check.to_string() == full);
        check.ok_or_else(|| {
            Error::new(Kind::Usage, "there is no such check")
                .expected(format!(
                    "containment, points, minhash, minhash-NxB, cosine-N or sentences-N, of at most {MAX_SIGNATURE_BYTES} bytes, B being 1, 2, 4 or 8"
                ))
                .found(name)
        })
    }
}

as_text!(Check);

/// How alike texts are: by the sketches of a check, or exactly by their sets of shingles.
#[derive(Clone, Copy, Debug)]
pub enum TextMeasure {
    Check(Check),
    /// The Jaccard similarity of the [sets of 3-word shingles](word_shingles).
    Jaccard,
}

impl TextMeasure {
    pub fn similarity(self, texts: [&str; 2]) -> Result<f64> {
        match self {
            TextMeasure::Jaccard => {
                let [one, another] = texts.map(word_shingles);
                Ok(one.jaccard(&another))
            }
            TextMeasure::Check(check) => {
                let mut signer = check.signer();
                let [mut one, mut another] = [Vec::new(), Vec::new()];
                signer.sign(texts[0], &mut one)?;
                signer.sign(texts[1], &mut another)?;
                Ok(check.similarity(&one, &another))
            }
        }
    }
}

impl fmt::Display for TextMeasure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TextMeasure::Check(check) => check.fmt(f),
            TextMeasure::Jaccard => f.write_str("jaccard"),
        }
    }
}

impl FromStr for TextMeasure {
    type Err = Error;

    fn from_str(name: &str) -> Result<TextMeasure> {
        match name {
            "jaccard" => Ok(TextMeasure::Jaccard),
            name => name.parse().and_then(Check::of_texts).map(TextMeasure::Check),
        }
    }
}

#[cfg(test)]
mod tests;
