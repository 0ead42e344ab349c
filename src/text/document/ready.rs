//! Parses a line with ready-made data: an id, a tab, and a fingerprint or weighted features. A final
//! CR is dropped, because neither can end in one.

use super::reason::Reason;
use super::record::{Content, Document};

/// The most features of one document, which bounds the memory that a line can take.
const MAX_FEATURES: usize = 1 << 20;

/// `id<TAB>fingerprint`: a decimal or 0x hex number of at most `width_bits` bits.
pub(super) fn fingerprint(line: &str, width_bits: u32) -> Result<Document<'_>, Reason> {
    let (id, digits) = divide(line)?;
    let number = match digits.strip_prefix("0x") {
        Some(hex) => unsigned(hex, 16),
        None => unsigned(digits, 10),
    };
    let number = number.ok_or_else(|| {
        Reason::quoting("neither a decimal nor a 0x hex number of at most 128 bits", digits)
    })?;
    if u128::BITS - number.leading_zeros() > width_bits {
        return Err(Reason::quoting(format!("the fingerprint exceeds {width_bits} bits"), digits));
    }
    Ok(Document::of(id, Content::Fingerprint(number), line.as_bytes()))
}

/// `id<TAB>feature:weight feature:weight ...`; there may be no features.
pub(super) fn features(line: &str) -> Result<Document<'_>, Reason> {
    let (id, list) = divide(line)?;
    let mut features = Vec::new();
    for item in list.split(' ').filter(|item| !item.is_empty()) {
        if features.len() == MAX_FEATURES {
            return Err(format!("more than {MAX_FEATURES} features").into());
        }
        features.push(feature(item)?);
    }
    Ok(Document::of(id, Content::Features(features), line.as_bytes()))
}

fn feature(item: &str) -> Result<(&str, f64), Reason> {
    item.rsplit_once(':')
        .filter(|(name, _)| !name.is_empty())
        .and_then(|(name, weight)| Some((name, weight.parse().ok()?)))
        .filter(|(_, weight): &(_, f64)| weight.is_finite())
        .ok_or_else(|| Reason::quoting("not a feature with a finite weight", item))
}

fn divide(line: &str) -> Result<(&str, &str), Reason> {
    let line = line.strip_suffix('\r').unwrap_or(line);
    match line.split_once('\t') {
        None => Err("no tab after the id".into()),
        Some((_, rest)) if rest.contains('\t') => Err("more than one tab".into()),
        Some(parts) => Ok(parts),
    }
}

fn unsigned(digits: &str, radix: u32) -> Option<u128> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    plain.then(|| u128::from_str_radix(digits, radix).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_decimal_or_hex() {
        let content = |line| fingerprint(line, 128).unwrap().content;
        assert_eq!(content("a\t0"), Content::Fingerprint(0));
        assert_eq!(content("a\t18446744073709551616\r"), Content::Fingerprint(1 << 64));
        assert_eq!(content("a\t0x00fF"), Content::Fingerprint(255));
        assert_eq!(content(&format!("a\t{}", u128::MAX)), Content::Fingerprint(u128::MAX));
        assert_eq!(fingerprint("a b\t1", 64).unwrap().id, "a b");
    }

    #[test]
    fn what_is_no_fingerprint_is_quarantined() {
        for line in ["a\t", "a\t0x", "a\t+1", "a\t-1", "a\t0x+1", "a\tff", "a\t1\t2", "a\t 1"] {
            assert!(fingerprint(line, 128).is_err(), "{line:?}");
        }
        assert!(fingerprint("a\t340282366920938463463374607431768211456", 128).is_err());
        assert_eq!(fingerprint("a 1", 64).unwrap_err().to_string(), "no tab after the id");
    }

    #[test]
    fn a_fingerprint_fits_its_width() {
        assert!(fingerprint("a\t0xffffffffffffffff", 64).is_ok());
        let reason = fingerprint("a\t0x10000000000000000", 64).unwrap_err().to_string();
        assert_eq!(reason, "the fingerprint exceeds 64 bits: \"0x10000000000000000\"");
        assert!(fingerprint("a\t0x10000000000000000", 128).is_ok());
    }

    #[test]
    fn features_have_weights_after_their_last_colon() {
        let list = |line| match features(line).unwrap().content {
            Content::Features(list) => list,
            other => panic!("{other:?}"),
        };
        let read = list("a\thttp://x:1.5  页:-2 c:1e3 a:1 a:1\r");
        let expected = [("http://x", 1.5), ("页", -2.0), ("c", 1000.0), ("a", 1.0), ("a", 1.0)];
        assert_eq!(read, expected);
        assert_eq!(list("a\t"), []);
    }

    #[test]
    fn what_is_no_feature_is_quarantined() {
        for line in ["a\tx", "a\tx:", "a\t:1", "a\tx:nan", "a\tx:inf", "a\tx:1e999", "a\tx:1\ty:1"]
        {
            assert!(features(line).is_err(), "{line:?}");
        }
        let many = format!("a\t{}", "f:1 ".repeat(MAX_FEATURES + 1));
        assert_eq!(features(&many).unwrap_err().to_string(), "more than 1048576 features");
    }
}
