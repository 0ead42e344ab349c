//! The multiplicative string hash of the classic Charikar simhash in Python, over code points.
//!
//! The hash of w bits is the low w bits of this one, for w of 64 or 128: multiplication and
//! exclusive or never carry a bit downwards.

/// The hash of `text`, in 128 bits; 0 for no text.
pub(super) fn string_hash(text: &str) -> u128 {
    let first = text.chars().next().map_or(0, |c| u128::from(c) << 7);
    let (hash, length) = text.chars().fold((first, 0), |(hash, length), c| {
        (hash.wrapping_mul(1_000_003) ^ u128::from(c), length + 1)
    });
    hash ^ length
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One feature alone is its hash; for a letter that can be worked out by hand.
    #[test]
    fn letters_hash_as_defined() {
        assert_eq!(string_hash(""), 0);
        assert_eq!(string_hash("a"), (97_u128 << 7).wrapping_mul(1_000_003) ^ 97 ^ 1);
        let two = ((97_u128 << 7).wrapping_mul(1_000_003) ^ 97).wrapping_mul(1_000_003) ^ 98 ^ 2;
        assert_eq!(string_hash("ab"), two);
        let han = (0x4e2d_u128 << 7).wrapping_mul(1_000_003) ^ 0x4e2d ^ 1;
        assert_eq!(string_hash("中"), han, "over code points, not bytes");
    }
}
