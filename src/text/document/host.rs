//! The host of a page, taken from an id that is a URL.

use std::borrow::Cow;

/// The longest host, in bytes: the longest name that DNS allows.
const LONGEST_HOST: usize = 253;

/// The host of a page whose id is a URL, in lower case; none for any other id.
///
/// It stands between `scheme://` and the path, without a name and password, a port, or a dot at its end. It is not
/// converted: a host in Unicode and in Punycode are two hosts, and so are `example.com` and `www.example.com`.
pub fn host(id: &str) -> Option<Cow<'_, str>> {
    let (_, rest) = scheme_of(id)?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let address = authority.rsplit_once('@').map_or(authority, |(_, address)| address);
    let name = match address.find(']').filter(|_| address.starts_with('[')) {
        Some(end) => &address[..=end],
        None => address.split_once(':').map_or(address, |(name, _)| name),
    };
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_odd = |c: char| c.is_whitespace() || c.is_control();
    if name.is_empty() || name.len() > LONGEST_HOST || name.contains(is_odd) {
        return None;
    }
    let is_lower = name.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
    Some(if is_lower { name.into() } else { name.to_lowercase().into() })
}

/// The scheme of a URL, and what stands behind `://`.
pub(super) fn scheme_of(url: &str) -> Option<(&str, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    url.split_once("://").filter(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_a_url_is_told_and_other_ids_have_none() {
        for line in include_str!("host.tsv").lines() {
            let (id, expected) = line.split_once('\t').unwrap_or((line, ""));
            assert_eq!(host(id).unwrap_or_default(), expected, "{id}");
        }
        for id in ["", "http://a\u{7f}/", &format!("http://{}/", "a".repeat(LONGEST_HOST + 1))] {
            assert_eq!(host(id), None, "{id}");
        }
    }
}
