//! The words of jieba's dictionary that are of Han alone, with their frequencies, as a trie.
//!
//! All nodes stand in one table. The node of one character stands at the place of that character; the node of a longer prefix stands at the first
//! free place from a hash of its parent's place and its last character, and is found there again. A node is one number of 64 bits:
//! the place of its parent and its last character, by which it is known, its frequency if it is a word, and sixteen
//! bits that rule out most characters which it has no child for. So one read tells all of a node, and most reads that
//! would find nothing are not made.
//!
//! `lexicon.py` makes the list of words, `lexicon.zst`, of the dictionary of jieba-rs (MIT), and says what it holds.

use std::sync::LazyLock;

/// The list of words.
const LIST: &[u8] = include_bytes!("lexicon.zst");

/// The bytes of a character in a node. The characters before U+3400 and after U+9FFF are 0, of which no word is made.
const LETTER_BITS: u32 = 15;

/// The bits of a place.
const PLACE_BITS: u32 = 20;

/// Where the number of a node's frequency begins.
const FREQUENCY: u32 = LETTER_BITS + PLACE_BITS;

/// The bits of a number of a frequency; 0 for a prefix that is no word.
const FREQUENCY_BITS: u32 = 13;

/// Where the sixteen bits begin.
const CHILDREN: u32 = FREQUENCY + FREQUENCY_BITS;

/// The places of single characters, before all others.
const SINGLE: u64 = 1 << LETTER_BITS;

/// How many places a hash may name. Some are left behind them for nodes that find theirs taken.
const HASHED: u64 = (1 << PLACE_BITS) - SINGLE - 1024;

/// The most characters of a word.
const LONGEST: usize = 16;

/// Jieba's words of Han.
#[derive(Debug)]
pub(super) struct Lexicon {
    nodes: Box<[u64; 1 << PLACE_BITS]>,
    /// The logarithm of the share that a word of each frequency has in all text. That of no word is not a number.
    scores: Box<[f64; 1 << FREQUENCY_BITS]>,
    /// The same for a character that is no word.
    unknown: f64,
}

/// The place of a node, and the node.
type PlacedNode = (u64, u64);

impl Lexicon {
    /// The words, which are loaded once a process.
    pub(super) fn shared() -> &'static Lexicon {
        static SHARED: LazyLock<Lexicon> = LazyLock::new(|| {
            let list = zstd::decode_all(LIST).expect("the list is whole");
            Lexicon::load(&list)
        });
        &SHARED
    }

    fn load(list: &[u8]) -> Lexicon {
        let (total, rest) = list.split_first_chunk().expect("a sum");
        let (words, rest) = rest.split_first_chunk().expect("a number of words");
        let (frequencies, rest) = rest.split_first_chunk().expect("a number of frequencies");
        let [words, frequencies] = [words, frequencies].map(|it| u32::from_le_bytes(*it) as usize);
        let (frequencies, rest) = rest.split_at(4 * frequencies);
        let (places, rest) = rest.split_at(2 * words);
        let (shapes, letters) = rest.split_at(words);

        let total = (u64::from_le_bytes(*total) as f64).ln();
        let frequencies = frequencies.as_chunks().0.iter().map(|it| u32::from_le_bytes(*it));
        let mut scores = Box::new([f64::NAN; 1 << FREQUENCY_BITS]);
        for (score, frequency) in scores[1..].iter_mut().zip(frequencies) {
            *score = f64::from(frequency).ln() - total;
        }
        let nodes = vec![0; 1 << PLACE_BITS].into_boxed_slice().try_into();
        let nodes = nodes.expect("so many nodes");
        let mut lexicon = Lexicon { nodes, scores, unknown: 0.0 - total };

        let mut letters = letters.as_chunks().0.iter().map(|it| u16::from_le_bytes(*it));
        let mut path = [0; LONGEST];
        for (place, shape) in places.as_chunks().0.iter().zip(shapes) {
            let common = usize::from(shape >> 4);
            let end = common + usize::from(shape & 15) + 1;
            for depth in common..end {
                let letter = letters.next().expect("a letter");
                path[depth] = match depth {
                    0 => u64::from(letter),
                    _ => lexicon.grow(path[depth - 1], letter),
                };
            }
            let frequency = u64::from(u16::from_le_bytes(*place)) + 1;
            lexicon.nodes[path[end - 1] as usize] |= frequency << FREQUENCY;
        }
        lexicon
    }

    /// Adds a node that is not there, and returns its place.
    fn grow(&mut self, parent: u64, letter: u16) -> u64 {
        self.nodes[parent as usize] |= child_bit(letter);
        let key = key(parent, letter);
        let place = (first_place(key)..).find(|&place| self.nodes[place as usize] == 0);
        let place = place.expect("a free place");
        self.nodes[place as usize] = key;
        place
    }

    /// The node of one character.
    #[inline(always)]
    fn single(&self, letter: u16) -> PlacedNode {
        (u64::from(letter), self.nodes[usize::from(letter)])
    }

    /// The node of one more character.
    #[inline(always)]
    fn child(&self, (parent, node): PlacedNode, letter: u16) -> Option<PlacedNode> {
        if node & child_bit(letter) == 0 {
            return None;
        }
        let key = key(parent, letter);
        let mut place = first_place(key);
        loop {
            let node = self.nodes[place as usize & ((1 << PLACE_BITS) - 1)];
            if node & ((1 << FREQUENCY) - 1) == key {
                return Some((place, node));
            }
            if node == 0 {
                return None;
            }
            place += 1;
        }
    }

    /// The score of a node as a word; not a number if it is none.
    #[inline(always)]
    fn score(&self, (_, node): PlacedNode) -> f64 {
        self.scores[(node >> FREQUENCY & ((1 << FREQUENCY_BITS) - 1)) as usize]
    }

    /// Whether these are the characters of a word.
    pub(super) fn has(&self, letters: &[u16]) -> bool {
        let Some((&first, others)) = letters.split_first() else { return false };
        let node =
            others.iter().try_fold(self.single(first), |node, &letter| self.child(node, letter));
        node.is_some_and(|node| !self.score(node).is_nan())
    }

    /// The best way to cut `letters` before the 0 at their end: the score of all its words, and the length of the first. `scores` has the
    /// score of the best way behind each of the letters. Of equal ways that with the longer word is taken.
    #[inline(always)]
    pub(super) fn best(&self, letters: &[u16], scores: &[f64]) -> (f64, u8) {
        let mut node = self.single(letters[0]);
        let mut best = (f64::NEG_INFINITY, 0);
        for (before, (&next, rest)) in letters[1..].iter().zip(scores).enumerate() {
            let score = self.score(node) + rest;
            if score >= best.0 {
                best = (score, before as u8 + 1);
            }
            match self.child(node, next) {
                Some(child) => node = child,
                None => break,
            }
        }
        if best.1 > 0 { best } else { (self.unknown + scores[0], 1) }
    }
}

/// The number of a character in a node; 0 for one that no word has.
#[inline(always)]
pub(super) fn letter(c: char) -> u16 {
    match c {
        '\u{3400}'..='\u{9fff}' => (c as u32 - 0x33ff) as u16,
        _ => 0,
    }
}

/// The same of a character of three bytes; 0 for other bytes.
#[inline(always)]
pub(super) fn letter_of(bytes: &[u8; 3]) -> u16 {
    let [first, second, third] = bytes.map(u16::from);
    let c = (first & 15) << 12 | (second & 63) << 6 | third & 63;
    let is_letter = first >> 4 == 14 && matches!(c, 0x3400..0xa000);
    if is_letter { c - 0x33ff } else { 0 }
}

/// What a node is known by.
#[inline(always)]
fn key(parent: u64, letter: u16) -> u64 {
    parent << LETTER_BITS | u64::from(letter)
}

/// The first place where a node may stand.
#[inline(always)]
fn first_place(key: u64) -> u64 {
    let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    SINGLE + ((hash * HASHED) >> 32)
}

/// The bit of a node that is set if it has a child with this character, or with one of many others.
#[inline(always)]
fn child_bit(letter: u16) -> u64 {
    1 << (CHILDREN + u32::from(letter & 15))
}
