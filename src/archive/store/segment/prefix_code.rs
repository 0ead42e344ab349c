//! Huffman codes of bounded length: the best prefix code for given frequencies, and a table to decode it.
//!
//! ```text
//! symbol       a    b    c    d
//! frequency    5    2    1    1
//! length       1    2    3    3
//! word         0    10   110  111     given out in the order of (length, symbol)
//! ```
//!
//! To decode, the next 12 bits are the index into a table: all 2048 indices that begin with 0 are `a`, the
//! 1024 that begin with 10 are `b`, and so on.
//!
//! Huffman, "A method for the construction of minimum-redundancy codes" (1952); Larmore and
//! Hirschberg, "A fast algorithm for optimal length-limited Huffman codes" (1990).

use crate::error::Result;
use crate::store::damage::damaged;

pub(crate) const MOST_BITS: usize = 12;

/// A complete prefix code: the length of each symbol's word, 0 for symbols without one. Words are given
/// out in the order of (length, symbol).
pub(crate) struct PrefixCode {
    lengths: Vec<u8>,
    /// The words, each in the highest of [`MOST_BITS`] bits.
    words: Vec<u16>,
}

impl PrefixCode {
    /// The best code for symbols with these frequencies, 2 to 256 of them.
    pub(crate) fn of(frequencies: &[u32]) -> PrefixCode {
        PrefixCode::with(package_merge(frequencies)).expect("a merge of packages is complete")
    }

    pub(crate) fn read(bytes: &[u8], symbols: usize) -> Result<PrefixCode> {
        let lengths = bytes.iter().flat_map(|byte| [byte & 15, byte >> 4]).take(symbols).collect();
        PrefixCode::with(lengths)
            .ok_or_else(|| damaged("the lengths of words do not make a prefix code"))
    }

    /// Appends the lengths, four bits each, the lower half of a byte first.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.lengths.chunks(2).map(|pair| pair[0] | pair.get(1).unwrap_or(&0) << 4));
    }

    pub(crate) fn word(&self, symbol: usize) -> (u128, usize) {
        let length = usize::from(self.lengths[symbol]);
        ((self.words[symbol] >> (MOST_BITS - length)).into(), length)
    }

    /// The code with words of these lengths, if it is complete.
    fn with(lengths: Vec<u8>) -> Option<PrefixCode> {
        let mut words = vec![0; lengths.len()];
        let mut next = 0;
        for (symbol, length) in in_order(&lengths) {
            words[symbol] = next as u16;
            next += 1usize << (MOST_BITS - length);
        }
        let bounded = lengths.iter().all(|&length| usize::from(length) <= MOST_BITS);
        (bounded && next == 1 << MOST_BITS).then_some(PrefixCode { lengths, words })
    }

    /// A table to decode it. `tail` is the number of bits that follow the word of a symbol.
    pub(crate) fn decoder(&self, tail: impl Fn(usize) -> usize) -> Decoder {
        let mut table = Vec::with_capacity(1 << MOST_BITS);
        for (symbol, length) in in_order(&self.lengths) {
            let bits = (length + tail(symbol)) as u8;
            let decoded = Decoded { symbol: symbol as u8, length: length as u8, bits, _aligned: 0 };
            table.resize(table.len() + (1 << (MOST_BITS - length)), decoded);
        }
        Decoder(table.try_into().expect("a complete code fills its table"))
    }
}

fn in_order(lengths: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    (1..=MOST_BITS).flat_map(move |wanted| {
        let symbols = lengths.iter().enumerate();
        symbols
            .filter(move |&(_, &length)| usize::from(length) == wanted)
            .map(move |(symbol, _)| (symbol, wanted))
    })
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoded {
    pub(crate) symbol: u8,
    pub length: u8,
    /// The bits of the word and of the tail.
    pub bits: u8,
    _aligned: u8,
}

pub(crate) struct Decoder(Box<[Decoded; 1 << MOST_BITS]>);

impl Decoder {
    #[inline]
    pub(crate) fn word(&self, bits: usize) -> Decoded {
        self.0[bits % (1 << MOST_BITS)]
    }
}

/// The lengths of the best words of at most [`MOST_BITS`] bits, by the package-merge algorithm. Each
/// symbol is a coin of every value from 2^-1 to 2^-12. Two coins of one value make a package of the next
/// higher value. The cheapest coins and packages that sum up to n - 1 are chosen; a symbol's word has as
/// many bits as coins of the symbol were chosen.
fn package_merge(frequencies: &[u32]) -> Vec<u8> {
    let mut symbols: Vec<usize> = (0..frequencies.len()).collect();
    // A code has at least two words, so a symbol that does not occur may get one.
    symbols.sort_by_key(|&symbol| std::cmp::Reverse(frequencies[symbol]));
    let used = frequencies.iter().filter(|&&frequency| frequency > 0).count().max(2);
    let coins = || {
        let coin = |&symbol: &usize| (u64::from(frequencies[symbol].max(1)), vec![symbol]);
        symbols[..used].iter().map(coin)
    };
    let mut packages: Vec<(u64, Vec<usize>)> = Vec::new();
    for _ in 0..MOST_BITS {
        let pairs = packages.chunks_exact(2);
        packages = pairs
            .map(|pair| (pair[0].0 + pair[1].0, [&*pair[0].1, &*pair[1].1].concat()))
            .collect();
        packages.extend(coins());
        packages.sort_by_key(|package| package.0);
    }
    let mut lengths = vec![0; frequencies.len()];
    for &symbol in packages[..2 * used - 2].iter().flat_map(|(_, symbols)| symbols) {
        lengths[symbol] += 1;
    }
    lengths
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The bits that Huffman's own algorithm, without a bound, takes for all symbols.
    fn huffman_bits(frequencies: &[u32]) -> u64 {
        let mut weights: Vec<u64> =
            frequencies.iter().filter(|&&frequency| frequency > 0).map(|&it| it.into()).collect();
        let mut bits = 0;
        while weights.len() > 1 {
            weights.sort_unstable_by(|a, b| b.cmp(a));
            let both = weights.pop().unwrap() + weights.pop().unwrap();
            bits += both;
            weights.push(both);
        }
        bits
    }

    proptest! {
        #[test]
        fn codes_are_complete_and_best(
            frequencies in prop::collection::vec(prop_oneof![Just(0u32), 1u32..1000], 2..129),
        ) {
            let code = PrefixCode::of(&frequencies);
            let bits: u64 = frequencies.iter().zip(&code.lengths).map(|(&f, &l)| u64::from(f) * u64::from(l)).sum();
            // Below some 1:1000 no word of a best code is longer than the bound but at the very end.
            let least = huffman_bits(&frequencies);
            let used = frequencies.iter().filter(|&&frequency| frequency > 0).count();
            prop_assert!(used < 2 || bits >= least && bits <= least + least / 100, "{} {}", bits, least);
            let mut bytes = Vec::new();
            code.write(&mut bytes);
            let read = PrefixCode::read(&bytes, frequencies.len()).unwrap();
            prop_assert_eq!(&read.lengths, &code.lengths);
            let decoder = read.decoder(|symbol| symbol % 7);
            for symbol in (0..frequencies.len()).filter(|&symbol| code.lengths[symbol] > 0) {
                let (word, length) = code.word(symbol);
                let decoded = decoder.word((word as usize) << (MOST_BITS - length));
                let found = [decoded.symbol, decoded.length, decoded.bits].map(usize::from);
                prop_assert_eq!(found, [symbol, length, length + symbol % 7]);
            }
        }
    }

    #[test]
    fn steep_frequencies_are_bounded() {
        let frequencies: Vec<u32> = (0..30).map(|symbol| 1 << symbol).collect();
        let code = PrefixCode::of(&frequencies);
        assert!(code.lengths.iter().all(|&length| (1..=12).contains(&length)));
        assert!(code.lengths.is_sorted_by(|a, b| a >= b));
    }

    #[test]
    fn other_lengths_are_no_code() {
        for bytes in [[0x00, 0x00], [0x01, 0x00], [0x11, 0x01], [0x1d, 0x00], [0x22, 0x02]] {
            assert!(PrefixCode::read(&bytes, 4).is_err(), "{bytes:?}");
        }
        assert!(PrefixCode::read(&[0x21, 0x02], 4).is_ok());
    }
}
