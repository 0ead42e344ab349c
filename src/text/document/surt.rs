//! The SURT of a URL: the name under which web archives file a page, whatever spelling of its address a crawler met.
//!
//! It is what the canonicaliser of the Internet Archive makes (the Python package `surt`), with three differences. Session ids stay, unless they are
//! among the parameters to drop. Hosts in Unicode are converted to Punycode by UTS 46, as browsers do, and not by IDNA 2003. Addresses that are written as one number, such as
//! `http://2130706433/`, stay as they are.
//!
//! ```text
//! https://www.Example.com:443/Goo/?b=2&a=1#top
//! com,example)/goo?a=1&b=2
//! ```

use super::host::scheme_of;

/// The SURT of `url`, without the parameters of its query that have these names in lower case; none if it has no host.
pub(super) fn surt(url: &str, drop: &[String]) -> Option<String> {
    let (scheme, mut rest) = scheme_of(url)?;
    let mut scheme = scheme.to_ascii_lowercase();
    let is_http = |scheme: &str| matches!(scheme, "http" | "https");
    // A slip of authors, which crawlers meet: http://https://example.com, and http:////example.com.
    while is_http(&scheme)
        && let Some((next, behind)) = rest.split_once("://")
        && is_http(&next.to_ascii_lowercase())
    {
        scheme = next.to_ascii_lowercase();
        rest = behind;
    }
    if is_http(&scheme) {
        rest = rest.trim_start_matches('/');
    }
    let rest = rest.split('#').next().unwrap_or_default();
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let address = authority.rsplit_once('@').map_or(authority, |(_, address)| address);
    let (host, port) = match address.strip_prefix('[').and_then(|it| it.split_once(']')) {
        Some((host, behind)) => (host, behind.strip_prefix(':').unwrap_or(behind)),
        None => address.split_once(':').unwrap_or((address, "")),
    };
    let port = port.trim_start_matches('0');
    let mut surt = host_of(host)?;
    let usual_port = if scheme == "https" { "443" } else { "80" };
    let is_usual = is_http(&scheme) && port == usual_port;
    if !port.is_empty() && !is_usual {
        surt.push(':');
        surt += &port.to_ascii_lowercase();
    }
    surt.push(')');
    surt += &path_of(path);
    let query = query_of(query, drop);
    if !query.is_empty() {
        surt.push('?');
        surt += &query;
    }
    Some(surt)
}

/// The labels of a host in reverse, without the `www` or `www12` before them; none of no host.
fn host_of(host: &str) -> Option<String> {
    let host = unescaped(host);
    let in_unicode = str::from_utf8(&host).ok().filter(|host| !host.is_ascii());
    let punycode = in_unicode.and_then(|host| idna::domain_to_ascii(host).ok());
    let host = punycode.unwrap_or_else(|| escaped(&host));
    let host = host.to_ascii_lowercase().replace("..", ".");
    let host = host.trim_matches('.');
    let behind =
        host.strip_prefix("www").map(|it| it.trim_start_matches(|c: char| c.is_ascii_digit()));
    let host = behind.and_then(|it| it.strip_prefix('.')).unwrap_or(host);
    let labels: Vec<&str> = host.rsplit('.').collect();
    (!host.is_empty()).then(|| labels.join(","))
}

/// A path in lower case, without `.` and `..`, empty parts and a slash at its end.
fn path_of(path: &str) -> String {
    let path = unescaped(path);
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|&byte| byte == b'/').skip(1) {
        match part {
            b"." => {}
            b".." if !parts.is_empty() => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let is_empty_within = |at: usize, part: &[u8]| part.is_empty() && at + 1 < parts.len();
    let kept = parts.iter().enumerate().filter(|(at, part)| !is_empty_within(*at, part));
    let kept: Vec<&[u8]> = kept.map(|(_, part)| *part).collect();
    let path = format!("/{}", escaped(&kept.join(&b'/')).to_ascii_lowercase());
    match path.strip_suffix('/') {
        Some(path) if !path.is_empty() => path.to_owned(),
        _ => path,
    }
}

/// The parameters of a query in lower case and in order, without those with these names.
fn query_of(query: &str, drop: &[String]) -> String {
    let query = escaped(&unescaped(query)).to_ascii_lowercase();
    let parameters = query.split('&').map(|it| match it.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (it, None),
    });
    let mut parameters: Vec<(&str, Option<&str>)> =
        parameters.filter(|(name, _)| !drop.iter().any(|dropped| dropped == name)).collect();
    parameters.sort_unstable();
    let written = parameters.into_iter().map(|(name, value)| match value {
        Some(value) => format!("{name}={value}"),
        None => name.to_owned(),
    });
    written.collect::<Vec<_>>().join("&")
}

/// The bytes that `text` stands for, unescaped until nothing is escaped: `%2541` is `%41`, which is `A`.
fn unescaped(text: &str) -> Vec<u8> {
    let digit = |byte: u8| (byte as char).to_digit(16);
    let mut bytes = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        bytes.push(byte);
        // What is unescaped may end another escape.
        while let [.., b'%', high, low] = bytes[..]
            && let (Some(high), Some(low)) = (digit(high), digit(low))
        {
            bytes.truncate(bytes.len() - 3);
            bytes.push((high << 4 | low) as u8);
        }
    }
    bytes
}

/// These bytes as a part of a URL: what is neither visible nor ASCII is escaped, and so are `%` and `#`.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b'%' | b'#' => text += &format!("%{byte:02X}"),
            _ if byte.is_ascii_graphic() => text.push(byte as char),
            _ => text += &format!("%{byte:02X}"),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answers of the Python package `surt` 0.3.1, with `path_strip_session_id` and `query_strip_session_id` off; then those for hosts in
    /// Unicode, and without parameters that stand behind the answer.
    #[test]
    fn surts_are_those_of_the_internet_archive() {
        for line in include_str!("surt/answers.tsv").lines() {
            let cells: Vec<&str> = line.split('\t').collect();
            let [url, expected, dropped @ ..] = &cells[..] else { panic!("{line}") };
            let dropped: Vec<String> = dropped.iter().map(|&name| name.to_owned()).collect();
            assert_eq!(surt(url, &dropped).as_deref(), Some(*expected), "{url}");
        }
    }

    #[test]
    fn what_is_no_url_has_no_surt_and_long_escapes_take_no_time() {
        for id in
            ["", "page-17", "a/b.txt:3", "://x/", "http://", "http:///", "1a://x/", "http://www./"]
        {
            assert!(surt(id, &[]).is_none_or(|it| it == "www)/"), "{id}");
        }
        let long = format!("http://a.example/%{}41", "25".repeat(30_000));
        assert_eq!(surt(&long, &[]).as_deref(), Some("example,a)/a"));
        let long = format!("http://a.example/{}", "a/../".repeat(12_000));
        assert_eq!(surt(&long, &[]).as_deref(), Some("example,a)/"));
    }
}
