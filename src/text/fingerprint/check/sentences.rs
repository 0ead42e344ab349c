//! The longest sentences of a text, as its signature.
//!
//! Long sentences are a page's own text; menus, captions and notices are short. The hashes of the n longest
//! stay the same when boilerplate changes and paragraphs move, and a page that quotes only part of another
//! shares few of them. This is an old practice of Chinese search engines, because the end of a sentence is
//! easier to find there than the end of a word.

use std::collections::BTreeSet;

use xxhash_rust::xxh3::xxh3_64;

use super::maker::{Maker, NORMALISE, Signing};

pub(super) const HASH_BYTES: usize = 8;

#[derive(Clone, Debug)]
pub(super) struct Sentences {
    count: usize,
    /// The longest so far: characters, then hash.
    longest: BTreeSet<(usize, u64)>,
}

impl Sentences {
    pub(super) fn new(count: usize) -> Sentences {
        Sentences { count, longest: BTreeSet::new() }
    }

    /// Takes a sentence, already normalised. A repeated sentence counts once.
    fn add(&mut self, sentence: &str) {
        if !sentence.contains(char::is_alphanumeric) {
            return;
        }
        let hash = xxh3_64(sentence.as_bytes()).max(1);
        self.longest.insert((sentence.chars().count(), hash));
        if self.longest.len() > self.count {
            self.longest.pop_first();
        }
    }

    /// Appends the signature of what was taken, and forgets it: hashes, ascending, then zeros.
    fn finish(&mut self, signature: &mut Vec<u8>) {
        let mut hashes: Vec<u64> = self.longest.iter().map(|&(_, hash)| hash).collect();
        hashes.sort_unstable();
        hashes.resize(self.count, 0);
        signature.extend(hashes.into_iter().flat_map(u64::to_le_bytes));
        self.longest.clear();
    }
}

impl Maker for Sentences {
    fn sign(&mut self, text: &str, Signing { clock, buffer, signature, .. }: Signing<'_>) {
        each(text, |sentence| {
            if clock.step() {
                NORMALISE.apply(sentence, buffer);
                self.add(buffer);
            }
        });
        self.finish(signature);
    }
}

/// Calls `sentence` with the parts of `text` that end with a line, with a full stop, exclamation mark,
/// question mark or semicolon of Chinese, or with one of ASCII that white space follows.
fn each(text: &str, mut sentence: impl FnMut(&str)) {
    let mut start = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let ends = match c {
            '\n' | '\r' | '。' | '！' | '？' | '；' | '…' => true,
            '.' | '!' | '?' | ';' => characters.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if ends {
            sentence(&text[start..at]);
            start = at + c.len_utf8();
        }
    }
    sentence(&text[start..]);
}

/// The share of sentences that two signatures have in common, of those of the text with more: 0 to 1.
pub(super) fn similarity(one: &[u8], another: &[u8]) -> f64 {
    let hashes = |signature: &[u8]| -> BTreeSet<[u8; HASH_BYTES]> {
        let hashes = signature.as_chunks::<HASH_BYTES>().0.iter().copied();
        hashes.filter(|hash| *hash != [0; HASH_BYTES]).collect()
    };
    let [one, another] = [one, another].map(hashes);
    match one.len().max(another.len()) {
        0 => 1.0,
        more => one.intersection(&another).count() as f64 / more as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(text: &str, count: usize) -> Vec<u8> {
        let mut sentences = Sentences::new(count);
        each(text, |sentence| sentences.add(sentence.trim()));
        let mut signature = Vec::new();
        sentences.finish(&mut signature);
        signature
    }

    #[test]
    fn sentences_end_where_their_marks_stand() {
        let mut found = Vec::new();
        each("一句。两句！Pi is 3.14? Yes.\nv1.2; no; end", |sentence| {
            found.push(sentence.to_owned())
        });
        assert_eq!(found, ["一句", "两句", "Pi is 3.14", " Yes", "", "v1.2", " no", " end"]);
    }

    #[test]
    fn only_the_longest_count_wherever_they_stand() {
        let page = "the longest sentence of them all. menu. another long sentence. login";
        let moved = "home. another long sentence. 1 2 3. the longest sentence of them all. bye";
        assert_eq!(signature(page, 2), signature(moved, 2));
        assert_eq!(similarity(&signature(page, 4), &signature(moved, 4)), 0.5);
        assert_eq!(similarity(&signature("a. b", 3), &signature("a. b. b", 3)), 1.0);
        assert_eq!(similarity(&signature("a. b", 3), &signature("c", 3)), 0.0);
        // A text without sentences is like another one.
        assert_eq!(signature("... --", 2), [0; 16]);
        assert_eq!(similarity(&[0; 16], &[0; 16]), 1.0);
        assert_eq!(similarity(&signature("a", 2), &[0; 16]), 0.0);
    }
}
