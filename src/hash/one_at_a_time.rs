//! Jenkins' one-at-a-time hash ("Hash Functions", Dr. Dobb's Journal, 1997): 32 bits.

/// The hash of `bytes`, each taken as unsigned.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_as_others_do() {
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
}
