//! A check: a second signature of a text, which confirms that near pages are alike.
//!
//! A small fingerprint that tolerates edits also makes unrelated pages near. So the distance of fingerprints
//! only finds candidates. The signature, which may take many bytes because it is never searched, decides
//! which of them are alike. Signatures are made of the runs of three characters of the normalised text. The
//! exceptions are sentences, and the cosine, which is for short texts and takes runs of two characters.
//! Each maker of signatures has a file of its own below this one.
//! The name of a check has all its parameters, and a name never changes its meaning:
//!
//! | name | bytes | similarity |
//! |---|---|---|
//! | `minhash-NxB` | N B / 8 | estimate of the Jaccard similarity by [one permutation](super::minhash) |
//! | `word-minhash-NxB` | N B / 8 | the same for runs of three words, without digits and markup; a Han character is a word |
//! | `word-overlap-NxB` | 1 + N B / 8 | the geometric mean of Jaccard similarity and containment of such runs; seven characters where a script has no spaces |
//! | `page-overlap-NxB` | 1 + N B / 8 | the same for full texts, and for short ones that of runs of one and two words with weights; 0 between them |
//! | `classic-minhash-NxB` | N B / 8 | the same by N permutations, N times as slow |
//! | `held-NxB` | 2 + N B / 8 | the share of the runs of three words of one text that the other text [holds](Check::shares), numbers included |
//! | `simhash-128` | 16 | the share of bits in which two SimHashes agree |
//! | `cosine-N` | 4 N | the cosine of the N most frequent runs of two characters |
//! | `sentences-N` | 8 N | the share of the N longest sentences in common |
//!
//! Two texts without any feature are alike, as two empty sets are. Only for the checks by words their
//! similarity is 0: pages of numbers have no words, so the check has seen nothing that they share.
//! A join still takes pages with one fingerprint and one signature as copies.
//!
//! ```
//! use dupsieve::rooms::fingerprint::Check;
//!
//! let check: Check = "minhash".parse()?;
//! let mut signer = check.signer();
//! let texts = ["a page about the sea and its ships", "a page about the sea and its boats"];
//! let [mut one, mut other] = [Vec::new(), Vec::new()];
//! signer.sign(texts[0], &mut one)?;
//! signer.sign(texts[1], &mut other)?;
//! assert_eq!(one.len(), check.bytes());
//! let similarity = check.similarity(&one, &other);
//! assert!(similarity > 0.5 && similarity < 1.0);
//! # Ok::<(), dupsieve::Error>(())
//! ```

mod character_minhash;
mod cosine;
mod held;
mod maker;
mod page_overlap;
mod sentences;
mod share;
mod shingles;
mod signer;
mod simhash;
mod word_minhash;
mod word_overlap;

use std::str::FromStr;
use std::{fmt, mem};

use crate::error::{Error, Kind, Result, as_text};
use crate::fingerprint::minhash::{self, MinHash, Permutations};
use crate::fingerprint::shingle_set::ShingleSet;

use character_minhash::CharacterMinHash;
use cosine::Cosine;
use held::Held;
use page_overlap::PageOverlap;
use sentences::Sentences;
use simhash::CharacterSimHash;
use word_minhash::WordMinHash;
use word_overlap::WordOverlap;

pub use held::held_run_set;
pub(crate) use maker::{NORMALISE, NORMALISE_WORDS};
pub use share::HeldShare;
pub use shingles::word_run_set;
pub use signer::Signer;

/// The most bytes that a signature takes.
pub const MAX_SIGNATURE_BYTES: usize = 1024;

/// Names without parts.
const ALIASES: [(&str, &str); 8] = [
    ("minhash", "minhash-512x2"),
    ("word-minhash", "word-minhash-128x2"),
    ("word-overlap", "word-overlap-124x2"),
    ("page-overlap", "page-overlap-124x2"),
    ("classic-minhash", "classic-minhash-512x2"),
    ("held", "held-1024x1"),
    ("cosine", "cosine-32"),
    ("sentences", "sentences-5"),
];

/// A sort of signature with all its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Check(Sort);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Sort {
    MinHash { permutations: Permutations, slots: usize, bits: u32 },
    WordMinHash { slots: usize, bits: u32 },
    WordOverlap { slots: usize, bits: u32 },
    PageOverlap { slots: usize, bits: u32 },
    Held { slots: usize, bits: u32 },
    SimHash,
    Cosine(usize),
    Sentences(usize),
}

impl Check {
    /// Whether this is the name of a check without its size, such as `page-overlap`.
    pub(crate) fn is_without_size(name: &str) -> bool {
        ALIASES.iter().any(|alias| alias.0 == name)
    }

    /// Whether the other check is the same but for its size.
    pub(crate) fn is_like(self, other: Check) -> bool {
        let permutations = |check: Check| match check.0 {
            Sort::MinHash { permutations, .. } => Some(permutations),
            _ => None,
        };
        mem::discriminant(&self.0) == mem::discriminant(&other.0)
            && permutations(self) == permutations(other)
    }

    /// The bytes of a signature.
    pub fn bytes(self) -> usize {
        match self.0 {
            Sort::MinHash { slots, bits, .. } | Sort::WordMinHash { slots, bits } => {
                slots * bits as usize / 8
            }
            Sort::WordOverlap { slots, bits } | Sort::PageOverlap { slots, bits } => {
                word_overlap::HEAD_BYTES + slots * bits as usize / 8
            }
            Sort::Held { slots, bits } => held::HEAD_BYTES + slots * bits as usize / 8,
            Sort::SimHash => simhash::BYTES,
            Sort::Cosine(features) => cosine::FEATURE_BYTES * features,
            Sort::Sentences(count) => sentences::HASH_BYTES * count,
        }
    }

    /// How alike the texts behind two signatures are, from 0 to 1. Of a check with a direction, the greater of both shares.
    #[must_use]
    pub fn similarity(self, one: &[u8], another: &[u8]) -> f64 {
        match self.0 {
            Sort::MinHash { bits, .. } => minhash::similarity(one, another, bits),
            Sort::WordMinHash { bits, .. } => word_minhash::similarity(one, another, bits),
            Sort::WordOverlap { bits, .. } => word_overlap::similarity(one, another, bits),
            Sort::PageOverlap { bits, .. } => page_overlap::similarity(one, another, bits),
            Sort::Held { bits, .. } => {
                let [first, second] = held::shares(one, another, bits);
                first.held.max(second.held)
            }
            Sort::SimHash => simhash::similarity(one, another),
            Sort::Cosine(_) => cosine::similarity(one, another),
            Sort::Sentences(_) => sentences::similarity(one, another),
        }
    }

    /// How much of each text the other text holds: of `one` first. A check without a direction gives the similarity twice, and
    /// knows of no error.
    #[must_use]
    pub fn shares(self, one: &[u8], another: &[u8]) -> [HeldShare; 2] {
        match self.0 {
            Sort::Held { bits, .. } => held::shares(one, another, bits),
            _ => [HeldShare { held: self.similarity(one, another), error: 0.0 }; 2],
        }
    }

    /// Whether the check tells which of two texts holds the other one.
    #[must_use]
    pub fn has_direction(self) -> bool {
        matches!(self.0, Sort::Held { .. })
    }

    /// The number of distinct runs of a text by its signature, where the check has a direction.
    #[must_use]
    pub fn runs(self, signature: &[u8]) -> Option<u64> {
        self.has_direction().then(|| held::runs(signature))
    }

    /// The signature of a text with these [runs](held_run_set), where the check has a direction.
    #[must_use]
    pub fn of_runs(self, runs: &ShingleSet) -> Option<Vec<u8>> {
        match self.0 {
            Sort::Held { slots, bits } => Some(held::of_runs(runs, slots, bits)),
            _ => None,
        }
    }

    /// The most slots in which signatures [differ](Check::differing) where one text may hold the share `least` of the other one: by an
    /// estimate with `errors` of its standard errors added, where that error is at most `most_error`. None for a check without a direction.
    pub(crate) fn most_differing(self, least: f64, errors: f64, most_error: f64) -> Option<u32> {
        match self.0 {
            Sort::Held { slots, bits } => {
                Some(held::most_differing(slots, bits, [least, errors, most_error]))
            }
            _ => None,
        }
    }

    /// The number of slots in which two signatures differ, where the check has a direction.
    #[inline]
    pub(crate) fn differing(self, one: &[u8], another: &[u8]) -> Option<u32> {
        match self.0 {
            Sort::Held { bits, .. } => Some(held::differing(one, another, bits)),
            _ => None,
        }
    }

    /// How many bands a signature has. Texts whose signatures share one are likely to be alike. None for a check without a direction.
    pub(crate) fn bands(self) -> usize {
        if self.has_direction() { held::bands(&vec![0; self.bytes()]).len() } else { 0 }
    }

    /// The band of a signature with this number.
    pub(crate) fn band(self, signature: &[u8], number: usize) -> [u8; 2] {
        held::bands(signature)[number]
    }

    /// The number of the first band that two signatures share, if they share one.
    pub(crate) fn shared_band(self, one: &[u8], another: &[u8]) -> Option<usize> {
        if !self.has_direction() {
            return None;
        }
        held::bands(one).iter().zip(held::bands(another)).position(|(one, another)| one == another)
    }

    /// The bits of a slot, if texts are alike by how many slots of their signatures agree.
    pub(crate) fn slot_bits(self) -> Option<u32> {
        match self.0 {
            Sort::MinHash { bits, .. } | Sort::WordMinHash { bits, .. } => Some(bits),
            _ => None,
        }
    }

    /// How alike the texts are behind signatures of which so many of all slots differ. At least one of them has some text.
    pub(crate) fn of_differing(self, differing: u32, slots: u32) -> Option<f64> {
        let bits = self.slot_bits()?;
        Some(minhash::similarity_of(differing, f64::from(slots), bits))
    }

    /// A maker of its signatures.
    #[must_use]
    pub fn signer(self) -> Signer {
        match self.0 {
            Sort::MinHash { permutations, slots, bits } => {
                Signer::new(CharacterMinHash(MinHash::new(permutations, slots, bits)))
            }
            Sort::WordMinHash { slots, bits } => {
                Signer::new(WordMinHash(MinHash::new(Permutations::One, slots, bits)))
            }
            Sort::WordOverlap { slots, bits } => Signer::new(WordOverlap::new(slots, bits)),
            Sort::PageOverlap { slots, bits } => Signer::new(PageOverlap::new(slots, bits)),
            Sort::Held { slots, bits } => Signer::new(Held::new(slots, bits)),
            Sort::SimHash => Signer::new(CharacterSimHash::new()),
            Sort::Cosine(features) => Signer::new(Cosine::new(features)),
            Sort::Sentences(count) => Signer::new(Sentences::new(count)),
        }
    }
}

impl Sort {
    fn parse(name: &str) -> Option<Sort> {
        let (scheme, parts) = name.rsplit_once('-')?;
        let min_hash = |permutations| {
            let (slots, bits) = slots_and_bits(parts)?;
            Some(Sort::MinHash { permutations, slots, bits })
        };
        let bounded = |parts: &str| parts.parse().ok().filter(|&n| n <= MAX_SIGNATURE_BYTES);
        match scheme {
            "minhash" => min_hash(Permutations::One),
            "word-minhash" => {
                slots_and_bits(parts).map(|(slots, bits)| Sort::WordMinHash { slots, bits })
            }
            "word-overlap" => {
                slots_and_bits(parts).map(|(slots, bits)| Sort::WordOverlap { slots, bits })
            }
            "page-overlap" => {
                slots_and_bits(parts).map(|(slots, bits)| Sort::PageOverlap { slots, bits })
            }
            "held" => slots_and_bits(parts).map(|(slots, bits)| Sort::Held { slots, bits }),
            "classic-minhash" => min_hash(Permutations::Many),
            "simhash" => (parts == "128").then_some(Sort::SimHash),
            "cosine" => bounded(parts).map(Sort::Cosine),
            "sentences" => bounded(parts).map(Sort::Sentences),
            _ => None,
        }
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
        match self.0 {
            Sort::MinHash { permutations, slots, bits } => {
                let classic = if permutations == Permutations::Many { "classic-" } else { "" };
                write!(f, "{classic}minhash-{slots}x{bits}")
            }
            Sort::WordMinHash { slots, bits } => write!(f, "word-minhash-{slots}x{bits}"),
            Sort::WordOverlap { slots, bits } => write!(f, "word-overlap-{slots}x{bits}"),
            Sort::PageOverlap { slots, bits } => write!(f, "page-overlap-{slots}x{bits}"),
            Sort::Held { slots, bits } => write!(f, "held-{slots}x{bits}"),
            Sort::SimHash => f.write_str("simhash-128"),
            Sort::Cosine(features) => write!(f, "cosine-{features}"),
            Sort::Sentences(count) => write!(f, "sentences-{count}"),
        }
    }
}

impl FromStr for Check {
    type Err = Error;

    fn from_str(name: &str) -> Result<Check> {
        let full = ALIASES.iter().find(|alias| alias.0 == name).map_or(name, |alias| alias.1);
        let check = Sort::parse(full).map(Check);
        // What does not read back as it was written had a sign or a leading zero.
        let check = check.filter(|check| {
            (1..=MAX_SIGNATURE_BYTES).contains(&check.bytes()) && check.to_string() == full
        });
        check.ok_or_else(|| {
            Error::new(Kind::Usage, "there is no such check")
                .expected(format!(
                    "minhash, minhash-NxB, word-minhash-NxB, word-overlap-NxB, page-overlap-NxB, \
                     held-NxB, classic-minhash-NxB, simhash-128, cosine-N or sentences-N, of at most {MAX_SIGNATURE_BYTES} bytes, \
                     B being 1, 2, 4 or 8"
                ))
                .found(name)
        })
    }
}

as_text!(Check);

#[cfg(test)]
mod tests;
