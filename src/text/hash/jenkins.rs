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

    /// What independent implementations answer, for every length of the tail, and for several blocks.
    #[test]
    fn hashes_are_those_of_others() {
        let hashes: [fn(&[u8]) -> u64; 3] = [
            |bytes| one_at_a_time(bytes).into(),
            |bytes| lookup2(bytes).into(),
            |bytes| lookup3(bytes, 0),
        ];
        for line in include_str!("jenkins.tsv").lines().skip(1) {
            let (text, answers) = line.split_once('\t').unwrap();
            for (hash, answer) in hashes.iter().zip(answers.split('\t')) {
                let found = hash(text.as_bytes()).to_string();
                assert!(answer.is_empty() || answer == found, "{line}: {found}");
            }
        }
    }

    /// The values in the self-test of the published source.
    #[test]
    fn lookup3_answers_as_published() {
        assert_eq!(lookup3(b"", 0), 0xdeadbeef_deadbeef);
        assert_eq!(lookup3(b"Four score and seven years ago", 0), 0x17770551_ce7226e6);
    }
}
