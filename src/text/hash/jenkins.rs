//! Jenkins' lookup3 of 2006, a hash of 64 bits.

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

fn words(block: &[u8; 12]) -> [u32; 3] {
    let (words, _) = block.as_chunks::<4>();
    [words[0], words[1], words[2]].map(u32::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What other implementations answer, for every length of the tail and several blocks, and the published self-test.
    #[test]
    fn hashes_are_those_of_others() {
        for line in include_str!("jenkins.tsv").lines() {
            let (text, answer) = line.split_once('\t').unwrap();
            assert_eq!(lookup3(text.as_bytes(), 0).to_string(), answer, "{line}");
        }
    }
}
