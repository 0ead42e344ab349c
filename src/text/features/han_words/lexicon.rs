//! The words of jieba's dictionary that are of Han alone, with their frequencies, as a trie.
//!
//! All nodes stand in one table, a double array (Aoe, "An efficient digital search algorithm by using a double-array structure", IEEE
//! Transactions on Software Engineering 1989). The node of one character stands at the place of that character. A prefix of words has a *base*,
//! which no other prefix has: its child with the character `c` stands at the place `base ^ c`, or nowhere. A node is one number of 64 bits: its
//! last character, by which it is known, its frequency if it is a word, its base if it is a prefix, and sixteen
//! bits that rule out characters which it has no child for. So one read tells all of a node, one read finds a child or that
//! there is none, and most reads that would find nothing are not made. Many characters have children for all sixteen bits, so for pairs there is
//! a table of bits beside, by hash (Bloom, "SortSpace/time trade-offs in hash coding with allowable errors", CACM 1970).
//!
//! `lexicon.py` makes the list of words, `lexicon.zst`, of the dictionary of jieba-rs (MIT), and says what it holds.

use std::hint::select_unpredictable;
use std::sync::LazyLock;

const LIST: &[u8] = include_bytes!("lexicon.zst");

/// The bits of a character in a node. The characters before U+3400 and after U+9FFF are 0, of which no word is made.
const LETTER_BITS: u32 = 15;

const FREQUENCY: u32 = LETTER_BITS;

/// The bits of a number of a frequency; 0 for a prefix that is no word.
const FREQUENCY_BITS: u32 = 13;

const BASE: u32 = FREQUENCY + FREQUENCY_BITS;

/// The bits of a place, and of a base; 0 for a word that begins no other.
const PLACE_BITS: u32 = 20;

const CHILDREN: u32 = BASE + PLACE_BITS;

/// The bits of the number of the bit of a pair of characters.
const PAIR_BITS: u32 = 21;

const LONGEST: usize = 16;

#[derive(Debug)]
pub(super) struct Lexicon {
    nodes: Box<[u64; 1 << PLACE_BITS]>,
    /// The logarithm of the share that a word of each frequency has in all text. That of no word is not a number.
    scores: Box<[f64; 1 << FREQUENCY_BITS]>,
    /// The bits of all pairs of characters that words begin with. Most other pairs have a bit that is not set, and their nodes,
    /// which lie anywhere in the table, are not read.
    pairs: Box<[u64; 1 << (PAIR_BITS - 6)]>,
    /// The same for a character that is no word.
    unknown: f64,
}

impl Lexicon {
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
        let (prefixes, rest) = rest.split_first_chunk().expect("a number of prefixes");
        let [words, frequencies, prefixes] =
            [words, frequencies, prefixes].map(|it| u32::from_le_bytes(*it) as usize);
        let (frequencies, rest) = rest.split_at(4 * frequencies);
        let (places, rest) = rest.split_at(2 * words);
        let (shapes, rest) = rest.split_at(words);
        let (bases, letters) = rest.split_at(3 * prefixes);

        let total = (u64::from_le_bytes(*total) as f64).ln();
        let frequencies = frequencies.as_chunks().0.iter().map(|it| u32::from_le_bytes(*it));
        let mut scores = Box::new([f64::NAN; 1 << FREQUENCY_BITS]);
        for (score, frequency) in scores[1..].iter_mut().zip(frequencies) {
            *score = f64::from(frequency).ln() - total;
        }
        let nodes = vec![0; 1 << PLACE_BITS].into_boxed_slice().try_into();
        let nodes = nodes.expect("so many nodes");
        let pairs = Box::new([0; 1 << (PAIR_BITS - 6)]);
        let mut lexicon = Lexicon { nodes, scores, pairs, unknown: 0.0 - total };

        let mut letters = letters.as_chunks().0.iter().map(|it| u16::from_le_bytes(*it));
        let mut bases =
            bases.as_chunks().0.iter().map(|&[a, b, c]| u32::from_le_bytes([a, b, c, 0]));
        let mut path = [0; LONGEST];
        let mut second = 0;
        for (place, shape) in places.as_chunks().0.iter().zip(shapes) {
            let common = usize::from(shape >> 4);
            let end = common + usize::from(shape & 15) + 1;
            for depth in common..end {
                let letter = letters.next().expect("a letter");
                if depth == 1 {
                    second = letter;
                }
                path[depth] = match depth {
                    0 => letter.into(),
                    _ => lexicon.grow(path[depth - 1], letter, &mut bases),
                };
            }
            if end > 1 {
                let pair = pair_bit(path[0] as u16, second);
                lexicon.pairs[pair >> 6] |= 1 << (pair & 63);
            }
            let frequency = u64::from(u16::from_le_bytes(*place)) + 1;
            lexicon.nodes[path[end - 1]] |= frequency << FREQUENCY;
        }
        lexicon
    }

    /// Adds a node that is not there, and returns its place. Its parent gets the next of the bases with its first child.
    fn grow(&mut self, parent: usize, letter: u16, bases: &mut impl Iterator<Item = u32>) -> usize {
        let parent = &mut self.nodes[parent];
        if base(*parent) == 0 {
            *parent |= u64::from(bases.next().expect("a base")) << BASE;
        }
        *parent |= child_bit(letter);
        let place = base(*parent) ^ usize::from(letter);
        self.nodes[place] = letter.into();
        place
    }

    /// The node of one character. Its own bits for the character are 0: nothing leads there.
    #[inline(always)]
    fn single(&self, letter: u16) -> u64 {
        self.nodes[usize::from(letter)]
    }

    #[inline(always)]
    fn child(&self, node: u64, letter: u16) -> Option<u64> {
        if node & child_bit(letter) == 0 {
            return None;
        }
        let child = self.nodes[base(node) ^ usize::from(letter & ((1 << LETTER_BITS) - 1))];
        (child & ((1 << LETTER_BITS) - 1) == u64::from(letter)).then_some(child)
    }

    /// The score of a node as a word; not a number if it is none.
    #[inline(always)]
    fn score(&self, node: u64) -> f64 {
        self.scores[(node >> FREQUENCY & ((1 << FREQUENCY_BITS) - 1)) as usize]
    }

    pub(super) fn has(&self, letters: &[u16]) -> bool {
        let Some((&first, others)) = letters.split_first() else { return false };
        let node =
            others.iter().try_fold(self.single(first), |node, &letter| self.child(node, letter));
        node.is_some_and(|node| !self.score(node).is_nan())
    }

    /// The words that begin with the first two of three characters.
    #[inline(always)]
    pub(super) fn beginning(&self, [first, second, third]: [u16; 3]) -> Beginning {
        let single = self.single(first);
        let pair = pair_bit(first, second);
        let may_be = self.pairs[pair >> 6] >> (pair & 63) & 1 == 1;
        // Which pairs begin words cannot be foreseen, so nothing is branched upon.
        let place = select_unpredictable(may_be, base(single) ^ usize::from(second), 0);
        let child = self.nodes[place];
        let is_child = child & ((1 << LETTER_BITS) - 1) == u64::from(second);
        let node = select_unpredictable(is_child, child, 0);
        Beginning {
            node,
            scores: [single, node].map(|node| self.score(node)),
            is_longer: node & child_bit(third) != 0,
        }
    }

    /// The best way to cut the characters from a beginning on, whose third and others are `letters`, up to a 0: the score of all its words, and the
    /// length of the first. `scores` has the score of the best way behind each of the characters. Of equal ways that with the longer word is taken.
    #[inline(always)]
    pub(super) fn best(&self, begin: &Beginning, letters: &[u16], scores: &[f64]) -> (f64, u8) {
        let [one, two] = begin.scores;
        let [after, rest @ ..] = scores else { unreachable!("the score of the end") };
        let one = one + after;
        // What is no word has no number.
        let one = if one.is_nan() { (f64::NEG_INFINITY, 0) } else { (one, 1) };
        let two = two + rest[0];
        let is_two = two >= one.0;
        let mut best =
            (select_unpredictable(is_two, two, one.0), select_unpredictable(is_two, 2, one.1));
        if begin.is_longer {
            best = self.best_longer(begin.node, letters, &rest[1..], best);
        }
        if best.1 > 0 { best } else { (self.unknown + after, 1) }
    }

    /// The `best` way, or a better one that begins with the characters of a node and with one or more of `letters`.
    #[inline(never)]
    fn best_longer(
        &self,
        mut node: u64,
        letters: &[u16],
        scores: &[f64],
        mut best: (f64, u8),
    ) -> (f64, u8) {
        for (length, (&letter, rest)) in (3..).zip(letters.iter().zip(scores)) {
            match self.child(node, letter) {
                Some(child) => node = child,
                None => break,
            }
            let score = self.score(node) + rest;
            if score >= best.0 {
                best = (score, length);
            }
        }
        best
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Beginning {
    /// The node of both; 0 if there is none.
    node: u64,
    /// The score of the first as a word, and that of both.
    scores: [f64; 2],
    /// Whether more characters may follow, the next one among them.
    is_longer: bool,
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

/// The number of the bit of two characters. Others may have the same one.
#[inline(always)]
fn pair_bit(first: u16, second: u16) -> usize {
    let pair = u32::from(first) << 16 | u32::from(second);
    (pair.wrapping_mul(0x9e37_79b1) >> (u32::BITS - PAIR_BITS)) as usize
}

#[inline(always)]
fn base(node: u64) -> usize {
    (node >> BASE & ((1 << PLACE_BITS) - 1)) as usize
}

/// The bit of a node that is set if it has a child with this character, or with one of many others.
#[inline(always)]
fn child_bit(letter: u16) -> u64 {
    1 << (CHILDREN + u32::from(letter & 15))
}
