//! Whole numbers in few bytes: seven bits each, the low ones first, the highest bit set in all but the last.

/// Appends a number.
pub(super) fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 1 << 7 {
        bytes.push(number as u8 | 1 << 7);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a number off the front of the bytes. `None` if the bytes end within the number, or if the
/// number is too large.
pub(super) fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if byte < 1 << 7 {
            return Some(number);
        }
    }
    None
}

/// The `N` bytes from `at` on. The caller knows that there are so many.
pub(super) fn word<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("so many bytes")
}

/// How many bytes two texts share at their beginnings.
pub(super) fn shared(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_come_back(numbers in prop::collection::vec(any::<u64>().prop_flat_map(|it| 0..=it), 0..20)) {
            let mut bytes = Vec::new();
            numbers.iter().for_each(|&number| push_number(&mut bytes, number));
            let mut rest = &bytes[..];
            for number in numbers {
                prop_assert_eq!(take_number(&mut rest), Some(number));
            }
            prop_assert_eq!(take_number(&mut rest), None);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let mut rest = &bytes[..];
            loop {
                let before = rest.len();
                let Some(number) = take_number(&mut rest) else { break };
                let mut again = Vec::new();
                push_number(&mut again, number);
                let taken = before - rest.len();
                prop_assert!(again.len() <= taken && taken <= 10, "{number} of {taken} bytes");
            }
        }
    }
}
