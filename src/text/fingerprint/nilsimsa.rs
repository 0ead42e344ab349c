//! Nilsimsa: Damiani, De Capitani di Vimercati, Paraboschi and Samarati, "An Open Digest-based
//! Technique for Spam Detection" (PDCS 2004), bit for bit as the package nilsimsa of PyPI.
//!
//! Of each byte and the four before it eight triples are hashed into 256 counters; a bit is set
//! where its counter is above the mean. Two sketches are compared by the bits in which they agree.

use std::fmt;

/// A sketch of 256 bits, too wide for a segment: two of them can be [compared](Nilsimsa::score).
///
/// ```
/// use dupsieve_text::fingerprint::Nilsimsa;
///
/// let one = Nilsimsa::of("the winter timetable of the ferry");
/// let other = Nilsimsa::of("the summer timetable of the ferry");
/// assert!(one.score(&other) > 30 && one.score(&one) == 128);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Nilsimsa {
    /// Bit i is bit i mod 128 of word i / 128.
    words: [u128; 2],
}

impl Nilsimsa {
    /// The sketch of `text`, as its UTF-8 bytes.
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

    /// The number of bits in which the two differ.
    pub fn distance(&self, other: &Nilsimsa) -> u32 {
        let both = self.words.iter().zip(&other.words);
        both.map(|(one, another)| (one ^ another).count_ones()).sum()
    }

    /// How alike the two are: from -128 (every bit differs) to 128 (equal); unrelated texts are
    /// near 0.
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

impl fmt::Debug for Nilsimsa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Nilsimsa({self})")
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
        let vectors = [
            ("hello", "0020004000000000800008000400000000008400840000000008000000400000"),
            ("Hello, World!", "0ad1220002c5846180010f00070a00d021200880d412049242188a10240a72b4"),
            (
                "The quick brown fox jumps over the lazy dog",
                "02b0b4ae03001086d100c660ab88503545c14ae760282108390a2928020120db",
            ),
            (
                "This is a test string for testing",
                "77eaee7858ee886c78d4baddd4d3a36cee3afbf9da9afa7f667eaec9ea756558",
            ),
            (
                "This is a test string for testing also",
                "58082c704804886c4014141540120160020a51594012125d6e6204c068640448",
            ),
            (
                "This is a test string for testing also!",
                "58482c704804886c4014141540120160020a51d94012125d6e6204c068640448",
            ),
            (
                "nai nai ge xiong cao",
                "3c9a0967271ec07b421d009e080a225384a096001da50e8427e4ea04e450c068",
            ),
            ("中国好声音", "167e1528c04800101cb404880c423424118115220841510038d2001105f5230f"),
            ("ＡＢＣ全角", "0526200850202baa0003a180941842718100a2103140122025681d114b851140"),
            ("emoji 😀🎉 text", "32ed2693dc0413b8d62880d9a40cc80a880e10d58025e700922636e62c5481c2"),
            (
                "naïve café résumé",
                "f01e187a6306f808576e5d36a6a274235608eb8ad6a50048058322daf6a520bc",
            ),
            ("tab here", "c400040008420500080000004280000102208081001020e00100000000804a50"),
            (
                "Dear Sir / Madam, It is a great honour to have the chance to introduce our company (Guangdong Kestar Electronic Co. Ltd.) and our main products.",
                "63ee2098813a7d1ec2c43b1dc58e290207a8083981ca1e6e3c41ba1852193c7d",
            ),
            (
                "Dear Sir / Madam, It is a great honour to have the chance to introduce our company(Guangdong Kestar Electronic Co.Ltd.) and our main products.",
                "636e2098813a7c1ec2c4ab3dc58c291246ab083981cc1e6e3c49ba1852093c7d",
            ),
        ];
        for (text, digest) in vectors {
            assert_eq!(Nilsimsa::of(text).to_string(), digest, "{text}");
        }
    }

    /// The first is the published pair of spam messages.
    #[test]
    fn scores_are_those_of_the_package() {
        let vectors = [
            (
                "773e2df0a02a319ec34a0b71d54029111da90838cbc20ecd3d2d4e18c25a3025",
                "47182cf0802a11dec24a3b75d5042d310ca90838c9d20ecc3d610e98560a3645",
                92,
            ),
            (
                "0020004000000000800008000400000000008400840000000008000000400000",
                "0ad1220002c5846180010f00070a00d021200880d412049242188a10240a72b4",
                62,
            ),
            (
                "02b0b4ae03001086d100c660ab88503545c14ae760282108390a2928020120db",
                "77eaee7858ee886c78d4baddd4d3a36cee3afbf9da9afa7f667eaec9ea756558",
                -23,
            ),
            (
                "58082c704804886c4014141540120160020a51594012125d6e6204c068640448",
                "58482c704804886c4014141540120160020a51d94012125d6e6204c068640448",
                126,
            ),
            (
                "3c9a0967271ec07b421d009e080a225384a096001da50e8427e4ea04e450c068",
                "167e1528c04800101cb404880c423424118115220841510038d2001105f5230f",
                10,
            ),
            (
                "14c811840010000c0328200108040630041890200217582d4098103280000078",
                "14c811840010000ca328200108044630041890200a17586d4298103280000078",
                122,
            ),
        ];
        for (one, another, score) in vectors {
            let one = parsed(one);
            let another = parsed(another);
            assert_eq!(one.score(&another), score);
            assert_eq!(another.score(&one), score);
            assert_eq!(one.score(&one), 128);
        }
    }

    #[test]
    fn texts_of_less_than_three_bytes_are_all_alike() {
        for text in ["", "a", "ab", "é"] {
            assert_eq!(Nilsimsa::of(text), parsed(&"0".repeat(64)));
        }
    }
}
