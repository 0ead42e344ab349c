//! Parses a line with an id, a tab, and a fingerprint or weighted features. Neither can end in CR, so that is dropped.

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
    fn no_line_takes_the_memory() {
        let many = format!("a\t{}", "f:1 ".repeat(MAX_FEATURES + 1));
        assert_eq!(features(&many).unwrap_err().to_string(), "more than 1048576 features");
    }
}
