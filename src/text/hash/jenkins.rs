//! Jenkins' hashes: one-at-a-time and lookup2 ("Hash Functions", Dr. Dobb's Journal, 1997), of 32 bits, and lookup3
//! of 2006, of 64, which recipes name.

/// The one-at-a-time hash of `bytes`, each taken as unsigned.
pub fn one_at_a_time(bytes: &[u8]) -> u32 {
    let mut hash = bytes.iter().fold(0_u32, |hash, &byte| {
        let hash = hash.wrapping_add(byte.into());
        let hash = hash.wrapping_add(hash << 10);
        hash ^ hash >> 6
    });
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 11;
    hash.wrapping_add(hash << 15)
}

/// The ratio of the golden section, an arbitrary start.
const GOLDEN: u32 = 0x9e37_79b9;

/// The lookup2 of `bytes` from the start value 0.
pub fn lookup2(bytes: &[u8]) -> u32 {
    let mut a = GOLDEN;
    let mut b = GOLDEN;
    let mut c = 0_u32;
    let (blocks, tail) = bytes.as_chunks::<12>();
    for block in blocks {
        let [x, y, z] = words(block);
        (a, b, c) = mix_of_two(a.wrapping_add(x), b.wrapping_add(y), c.wrapping_add(z));
    }
    // The lowest byte of the last word is kept for the length, so the tail's third word moves up.
    let mut last = [0; 12];
    last[..tail.len()].copy_from_slice(tail);
    let [x, y, z] = words(&last);
    c = c.wrapping_add(bytes.len() as u32).wrapping_add(z << 8);
    mix_of_two(a.wrapping_add(x), b.wrapping_add(y), c).2
}

fn mix_of_two(mut a: u32, mut b: u32, mut c: u32) -> (u32, u32, u32) {
    for (first, second, third) in [(13, 8, 13), (12, 16, 5), (3, 10, 15)] {
        a = a.wrapping_sub(b).wrapping_sub(c) ^ c >> first;
        b = b.wrapping_sub(c).wrapping_sub(a) ^ a << second;
        c = c.wrapping_sub(a).wrapping_sub(b) ^ b >> third;
    }
    (a, b, c)
}

/// The lookup3 of `bytes` (`hashlittle2`): two words of 32 bits, read as one integer of 64. Both start values are
/// `seed`, and the first word (`pc`) is the high half.
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

/// Twelve bytes as three little-endian words.
fn words(block: &[u8; 12]) -> [u32; 3] {
    let (words, _) = block.as_chunks::<4>();
    [words[0], words[1], words[2]].map(u32::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_answers_as_others_do() {
        let vectors = [
            ("a", 3392050242),
            ("ab", 1172708952),
            ("hello", 3372029979),
            ("美国", 1932043495),
            ("Hello, World!", 847757641),
            ("emoji 😀🎉 text", 2297886513),
            ("The quick brown fox jumps over the lazy dog", 1369346549),
        ];
        for (text, hash) in vectors {
            assert_eq!(one_at_a_time(text.as_bytes()), hash, "{text}");
        }
        assert_eq!(one_at_a_time("x".repeat(255).as_bytes()), 3067364256);
    }

    /// What an independent implementation answers: every length of the tail, and two blocks.
    #[test]
    fn lookup2_answers_as_others_do() {
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

    /// What an independent implementation answers: every length of the tail, and two blocks.
    #[test]
    fn lookup3_answers_as_others_do() {
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
    fn lookup3_answers_as_published() {
        assert_eq!(lookup3(b"", 0), 0xdeadbeef_deadbeef);
        assert_eq!(lookup3(b"Four score and seven years ago", 0), 0x17770551_ce7226e6);
    }
}
