//! The hash of each window of words, in time that does not depend on how many words a window has.
//!
//! It is two polynomials over the hashes of the words, modulo the prime 2^61 - 1, so different windows have one hash once in 2^122 cases:
//!
//! ```text
//! words      a  b  c  d
//! window 1   a B^2 + b B + c
//! window 2           b B^2 + c B + d  =  (window 1 - a B^2) B + d
//! ```

const PRIME: u64 = (1 << 61) - 1;
/// The bases of the polynomials: the fractions of the square roots of 2 and 3.
const BASES: [u64; 2] = [0x6a09_e667_f3bc_c908 % PRIME, 0xbb67_ae85_84ca_a73b % PRIME];

/// The windows of a text, whose words are pushed one after the other.
#[derive(Clone, Debug)]
pub(super) struct Windows {
    /// The last words, as many as a window has: the oldest one stands where the next one goes.
    words: Vec<u32>,
    next: usize,
    /// How many words there were, up to those of a window.
    count: usize,
    hashes: [u64; 2],
    /// What the first word of a window is multiplied with.
    powers: [u64; 2],
}

impl Windows {
    pub(super) fn new(size: usize) -> Windows {
        let size = size.max(1);
        let power = |base| (1..size).fold(1, |power, _| times(power, base));
        let powers = BASES.map(power);
        Windows { words: vec![0; size], next: 0, count: 0, hashes: [0; 2], powers }
    }

    pub(super) fn size(&self) -> usize {
        self.words.len()
    }

    /// The hashes of the windows of a text with these words, and the number of the first word of each.
    pub(super) fn of(mut self, words: &[u32]) -> impl Iterator<Item = (usize, u128)> {
        let last = self.size() - 1;
        words
            .iter()
            .enumerate()
            .filter_map(move |(at, &word)| Some((at - last.min(at), self.push(word)?)))
    }

    /// Takes a word by 32 bits of its hash, and gives the hash of the window that ends with it.
    #[inline]
    fn push(&mut self, word: u32) -> Option<u128> {
        let oldest = std::mem::replace(&mut self.words[self.next], word);
        self.next = if self.next + 1 == self.size() { 0 } else { self.next + 1 };
        for ((hash, power), base) in self.hashes.iter_mut().zip(self.powers).zip(BASES) {
            let rest = *hash + PRIME - times(oldest.into(), power);
            *hash = reduced(u128::from(rest) * u128::from(base) + u128::from(word));
        }
        self.count = self.size().min(self.count + 1);
        let [first, second] = self.hashes.map(u128::from);
        (self.count == self.size()).then_some(first << 61 | second)
    }
}

fn times(one: u64, other: u64) -> u64 {
    reduced(u128::from(one) * u128::from(other))
}

/// What is left of a number below 2^124 when it is divided by the prime: 2^61 leaves 1.
fn reduced(number: u128) -> u64 {
    let sum = (number as u64 & PRIME) + (number >> 61) as u64;
    let sum = (sum & PRIME) + (sum >> 61);
    if sum >= PRIME { sum - PRIME } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_reduced_as_they_are_defined() {
        let numbers = [0, 1, 2, PRIME - 1, PRIME - 2, 1 << 60, u64::from(u32::MAX), BASES[0]];
        for (one, other) in numbers.iter().flat_map(|one| numbers.map(|other| (*one, other))) {
            let expected = u128::from(one) * u128::from(other) % u128::from(PRIME);
            assert_eq!(u128::from(times(one, other)), expected);
        }
        let most = u128::from(2 * PRIME) * u128::from(PRIME);
        assert_eq!(u128::from(reduced(most - 1)), (most - 1) % u128::from(PRIME));
    }
}
