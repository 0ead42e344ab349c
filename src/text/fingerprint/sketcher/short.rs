//! Short texts to their fingerprints, by their keywords.

use std::cmp::Reverse;

use xxhash_rust::xxh3::xxh3_128;

use crate::features::weigher::{Weigher, is_short as is_short_word};
use crate::features::words::is_han;
use crate::fingerprint::reader::Reader;
use crate::fingerprint::recipe::{KeywordBits, Keywords, ShortText, Weights};
use crate::fingerprint::tally::{Tally, is_short};
use crate::fingerprint::{Class, Fingerprint};
use crate::hash::{Hash, Hashed};

/// Longer words are not rarer for it. Eight and fourteen characters do as well.
const LONG_WORD: i64 = 10;

#[derive(Debug)]
pub(super) struct Short<F> {
    parts: ShortText,
    weigher: Weigher,
    tally: Tally<F>,
}

impl<F: Fingerprint + Hashed> Short<F> {
    pub(super) fn new(parts: ShortText, weigher: Weigher) -> Short<F> {
        let (weights, keywords) = match parts {
            ShortText::Key(parts) => (Weights::TfIdf, parts.keywords),
            ShortText::Bits(parts) => (Weights::Uniform, parts.keywords),
        };
        let tally = Tally::new(weights, Some(Keywords::Fixed(keywords)));
        Short { parts, weigher, tally }
    }

    pub(super) fn takes_weights(&self) -> bool {
        matches!(self.parts, ShortText::Key(_))
    }

    pub(super) fn takes(&self, text: &str) -> bool {
        matches!(self.parts, ShortText::Bits(parts) if Class::of(text, parts.words) == Class::Short)
    }

    /// Whether a text whose features weigh so much is short by their weights.
    pub(super) fn takes_weighed(&self, weighed: &[(F, i64)]) -> bool {
        matches!(self.parts, ShortText::Key(parts) if is_short(weighed, parts.below))
    }

    /// The heaviest features of `text`, in order.
    pub(super) fn keywords(&mut self, hash: Hash, reader: &mut Reader, text: &str) -> &[(F, i64)] {
        let Short { parts, weigher, tally, .. } = self;
        reader.each(text, |feature| {
            tally.push(hash.of(feature), || match parts {
                ShortText::Key(_) => weigher.of(feature),
                ShortText::Bits(_) => rarity(weigher, feature),
            });
        });
        let keywords = tally.weigh();
        keywords.sort_unstable_by_key(|&(hash, weight)| (Reverse(weight), hash));
        keywords
    }

    /// The fingerprint of `text`; none if bits are to be set and it has no feature.
    pub(super) fn text(&mut self, hash: Hash, reader: &mut Reader, text: &str) -> Option<u128> {
        let parts = self.parts;
        let keywords = self.keywords(hash, reader, text);
        match parts {
            ShortText::Bits(parts) => bits_of(keywords, parts),
            ShortText::Key(_) => {
                let hashes = keywords.iter().map(|(hash, _)| hash.to_u128().to_le_bytes());
                let key = hashes.collect::<Vec<_>>().concat();
                Some(F::from_u128(xxh3_128(&key)).to_u128())
            }
        }
    }
}

/// How rare a word is. Jieba's table knows hardly a word that is not Han, and among so many equals the common
/// words of a language would be keywords. Those are short: "the magnitude of words tends, on the whole, to
/// stand in an inverse relationship to the number of occurrences" (Zipf, "The Psycho-Biology of Language",
/// 1935). So such a word weighs by its length. Others weigh half if they are short.
fn rarity(weigher: &mut Weigher, word: &str) -> i64 {
    let weight = weigher.of(word);
    if !word.starts_with(is_han) && matches!(weigher, Weigher::Jieba(_)) {
        return weight / LONG_WORD * word.chars().take(LONG_WORD as usize).count() as i64;
    }
    if is_short_word(word) { weight / 2 } else { weight }
}

/// The bits of all keywords. Of a text with fewer than are asked for, the first count once more, with other
/// bits each time: so two texts of one word each are as far apart as others.
fn bits_of<F: Fingerprint>(keywords: &[(F, i64)], parts: KeywordBits) -> Option<u128> {
    if keywords.is_empty() {
        return None;
    }
    let rounds = (0_u64..).flat_map(|round| keywords.iter().map(move |it| (it.0, round)));
    let bits = rounds.take(parts.keywords).map(|(keyword, round)| {
        let mut key = [0; 24];
        key[..16].copy_from_slice(&keyword.to_u128().to_le_bytes());
        key[16..].copy_from_slice(&round.to_le_bytes());
        places(xxh3_128(&key), F::BITS, parts.bits)
    });
    Some(bits.fold(0, |all, bits| all | bits))
}

/// The first `count` different places below `width`, a power of two, that the digits of `hash` name.
fn places(mut hash: u128, width: u32, count: usize) -> u128 {
    let mut places = 0_u128;
    while places.count_ones() < count as u32 && hash > 0 {
        places |= 1 << (hash as u32 & (width - 1));
        hash >>= width.ilog2();
    }
    places
}
