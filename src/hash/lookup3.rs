//! Jenkins' lookup3 of 2006 (`hashlittle2`): two words of 32 bits, read as one integer of 64.

use super::lookup2::words;

/// The hash of `bytes`: both start values are `seed`, the first word (`pc`) is the high
/// half.
pub(super) fn lookup3(bytes: &[u8], seed: u32) -> u64 {
    let start = 0xdead_beef_u32.wrapping_add(bytes.len() as u32).wrapping_add(seed);
    let mut a = start;
    let mut b = start;
    let mut c = start.wrapping_add(seed);
    if !bytes.is_empty() {
        // The last block has 1 to 12 bytes, so that a block is never empty.
        let (whole, last) = bytes.split_at((bytes.len() - 1) / 12 * 12);
        for block in whole.as_chunks::<12>().0 {
            (a, b, c) = mix(add((a, b, c), words(block)));
        }
        let mut padded = [0; 12];
        padded[..last.len()].copy_from_slice(last);
        (b, c) = finish(add((a, b, c), words(&padded)));
    }
    u64::from(c) << 32 | u64::from(b)
}

type State = (u32, u32, u32);

fn add((a, b, c): State, [x, y, z]: [u32; 3]) -> State {
    (a.wrapping_add(x), b.wrapping_add(y), c.wrapping_add(z))
}

fn mix((mut a, mut b, mut c): State) -> State {
    for (first, second, third) in [(4, 6, 8), (16, 19, 4)] {
        (a, c) = (a.wrapping_sub(c) ^ c.rotate_left(first), c.wrapping_add(b));
        (b, a) = (b.wrapping_sub(a) ^ a.rotate_left(second), a.wrapping_add(c));
        (c, b) = (c.wrapping_sub(b) ^ b.rotate_left(third), b.wrapping_add(a));
    }
    (a, b, c)
}

fn finish((mut a, mut b, mut c): State) -> (u32, u32) {
    let step = |to: u32, from: u32, by: u32| (to ^ from).wrapping_sub(from.rotate_left(by));
    c = step(c, b, 14);
    a = step(a, c, 11);
    b = step(b, a, 25);
    c = step(c, b, 16);
    a = step(a, c, 4);
    b = step(b, a, 14);
    c = step(c, b, 24);
    (b, c)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an independent implementation answers: every length of the tail, and two blocks.
    #[test]
    fn answers_as_others_do() {
        let vectors = [
            ("a", 6401452390262130604),
            ("ab", 18137025801885425906),
            ("abc", 1024980344035851934),
            ("hello", 3804341492420753273),
            ("51区", 16270785936860361682),
            ("美国", 9515272797458168297),
            ("tab here", 11608659749359940545),
            ("灰色", 9368737236282545337),
            ("外星人", 8576730220476582518),
            ("abcdefghijk", 6873036157963540596),
            ("abcdefghijkl", 4617025777147645632),
            ("abcdefghijklm", 10556764051697085288),
            ("Hello, World!", 14036029409071894183),
            ("中国好声音", 6261078467134079032),
            ("nai nai ge xiong cao", 2174758955216383164),
            ("naïve café résumé", 14348072933479671888),
            ("emoji 😀🎉 text", 16876270730023427833),
            ("This is a test string for testing also!", 8691352239212288638),
            ("The quick brown fox jumps over the lazy dog", 7251584052203638393),
        ];
        for (text, hash) in vectors {
            assert_eq!(lookup3(text.as_bytes(), 0), hash, "{text}");
        }
        assert_eq!(lookup3("0123456789".repeat(10).as_bytes(), 0), 14453782697003221362);
        assert_eq!(lookup3("x".repeat(255).as_bytes(), 0), 15355137591763011933);
    }

    /// The values in the self-test of the published source.
    #[test]
    fn answers_as_published() {
        assert_eq!(lookup3(b"", 0), 0xdeadbeef_deadbeef);
        assert_eq!(lookup3(b"Four score and seven years ago", 0), 0x17770551_ce7226e6);
    }
}
