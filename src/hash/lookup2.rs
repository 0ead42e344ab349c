//! Jenkins' lookup2 of 1996 ("Hash Functions", Dr. Dobb's Journal, 1997): 32 bits.

/// The ratio of the golden section, an arbitrary start.
const GOLDEN: u32 = 0x9e37_79b9;

/// The hash of `bytes` from the start value 0.
pub fn lookup2(bytes: &[u8]) -> u32 {
    let mut a = GOLDEN;
    let mut b = GOLDEN;
    let mut c = 0_u32;
    let (blocks, tail) = bytes.as_chunks::<12>();
    for block in blocks {
        let [x, y, z] = words(block);
        (a, b, c) = mix(a.wrapping_add(x), b.wrapping_add(y), c.wrapping_add(z));
    }
    // The lowest byte of the last word is kept for the length, so the tail's third word moves up.
    let mut last = [0; 12];
    last[..tail.len()].copy_from_slice(tail);
    let [x, y, z] = words(&last);
    c = c.wrapping_add(bytes.len() as u32).wrapping_add(z << 8);
    mix(a.wrapping_add(x), b.wrapping_add(y), c).2
}

/// Twelve bytes as three little-endian words.
pub(super) fn words(block: &[u8; 12]) -> [u32; 3] {
    let (words, _) = block.as_chunks::<4>();
    [words[0], words[1], words[2]].map(u32::from_le_bytes)
}

fn mix(mut a: u32, mut b: u32, mut c: u32) -> (u32, u32, u32) {
    for (first, second, third) in [(13, 8, 13), (12, 16, 5), (3, 10, 15)] {
        a = a.wrapping_sub(b).wrapping_sub(c) ^ c >> first;
        b = b.wrapping_sub(c).wrapping_sub(a) ^ a << second;
        c = c.wrapping_sub(a).wrapping_sub(b) ^ b >> third;
    }
    (a, b, c)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an independent implementation answers: every length of the tail, and two blocks.
    #[test]
    fn answers_as_others_do() {
        let vectors = [
            ("a", 703514648),
            ("ab", 2558110785),
            ("abc", 622741395),
            ("hello", 3070638494),
            ("51区", 4013557007),
            ("美国", 99218575),
            ("tab here", 611458607),
            ("灰色", 3175310359),
            ("外星人", 2600212903),
            ("abcdefghijk", 3844836940),
            ("abcdefghijkl", 186334885),
            ("abcdefghijklm", 824356913),
            ("Hello, World!", 2733307563),
            ("中国好声音", 3073667845),
            ("nai nai ge xiong cao", 1192701710),
            ("naïve café résumé", 3556005585),
            ("emoji 😀🎉 text", 38804548),
            ("This is a test string for testing also!", 464601976),
            ("The quick brown fox jumps over the lazy dog", 4229257438),
        ];
        for (text, hash) in vectors {
            assert_eq!(lookup2(text.as_bytes()), hash, "{text}");
        }
        assert_eq!(lookup2("0123456789".repeat(10).as_bytes()), 529493256);
        assert_eq!(lookup2("x".repeat(255).as_bytes()), 3237873686);
    }
}
