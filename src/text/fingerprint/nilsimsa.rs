//! Nilsimsa: Damiani, De Capitani di Vimercati, Paraboschi and Samarati, "An Open Digest-based
//! Technique for Spam Detection" (PDCS 2004), bit for bit as the package nilsimsa of PyPI.
//!
//! Of each byte and the four before it eight triples are hashed into 256 counters; a bit is set
//! where its counter is above the mean. Two sketches are compared by the bits in which they agree.

use std::fmt;

/// A sketch of 256 bits, too wide for a segment: two of them can be [compared](Nilsimsa::score).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nilsimsa {
    /// Bit i is bit i mod 128 of word i / 128.
    words: [u128; 2],
}

impl Nilsimsa {
    pub fn of(text: &str) -> Nilsimsa {
        let bytes = text.as_bytes();
        let mut counts = [0_u64; 256];
        let mut count = |a, b, c, n| counts[usize::from(triple(a, b, c, n))] += 1;
        for (end, &now) in bytes.iter().enumerate() {
            let before = |by: usize| bytes[end - by];
            if end >= 2 {
                count(now, before(1), before(2), 0);
            }
            if end >= 3 {
                count(now, before(1), before(3), 1);
                count(now, before(2), before(3), 2);
            }
            if end >= 4 {
                count(now, before(1), before(4), 3);
                count(now, before(2), before(4), 4);
                count(now, before(3), before(4), 5);
                count(before(4), before(1), now, 6);
                count(before(4), before(3), now, 7);
            }
        }
        let total: u64 = counts.iter().sum();
        let mut words = [0; 2];
        for (bit, _) in counts.iter().enumerate().filter(|&(_, &count)| count * 256 > total) {
            words[bit / 128] |= 1 << (bit % 128);
        }
        Nilsimsa { words }
    }

    pub fn distance(&self, other: &Nilsimsa) -> u32 {
        let both = self.words.iter().zip(&other.words);
        both.map(|(one, another)| (one ^ another).count_ones()).sum()
    }

    /// How alike the two are: from -128 (every bit differs) to 128 (equal), near 0 if unrelated.
    pub fn score(&self, other: &Nilsimsa) -> i32 {
        128 - self.distance(other) as i32
    }
}

/// The hash of three bytes at place `n` of the window.
fn triple(a: u8, b: u8, c: u8, n: u8) -> u8 {
    let tran = |byte: u8| TRAN53[usize::from(byte)];
    let spread = tran(a.wrapping_add(n)) ^ tran(b).wrapping_mul(2 * n + 1);
    spread.wrapping_add(tran(c ^ tran(n)))
}

/// The permutation of bytes the method is built on: each number is drawn from the one before it by
/// a step of 53, and the next one not drawn yet is taken.
const TRAN53: [u8; 256] = {
    let mut table = [0; 256];
    let mut drawn = [false; 256];
    let mut number = 0;
    let mut place = 0;
    while place < 256 {
        number = 2 * ((number * 53 + 1) % 256);
        if number > 255 {
            number -= 255;
        }
        while drawn[number] {
            number = (number + 1) % 256;
        }
        drawn[number] = true;
        table[place] = number as u8;
        place += 1;
    }
    table
};

impl fmt::Display for Nilsimsa {
    /// 64 hex digits, the highest bit first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}{:032x}", self.words[1], self.words[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(hex: &str) -> Nilsimsa {
        let word = |digits: &str| u128::from_str_radix(digits, 16).unwrap();
        Nilsimsa { words: [word(&hex[32..]), word(&hex[..32])] }
    }

    #[test]
    fn sketches_are_those_of_the_package() {
        for line in include_str!("nilsimsa/sketches.tsv").lines() {
            let (text, digest) = line.split_once('\t').unwrap();
            assert_eq!(Nilsimsa::of(text).to_string(), digest, "{text}");
        }
    }

    /// The first is the published pair of spam messages.
    #[test]
    fn scores_are_those_of_the_package() {
        for line in include_str!("nilsimsa/scores.tsv").lines() {
            let [one, another, score] = line.split('\t').collect::<Vec<_>>()[..] else { panic!() };
            let [one, another] = [one, another].map(parsed);
            let scores = [one.score(&another), another.score(&one)];
            assert_eq!((scores, one.score(&one)), ([score.parse().unwrap(); 2], 128));
        }
    }
}
