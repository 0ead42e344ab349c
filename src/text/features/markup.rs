//! Remains of markup in a text: tags, entities, addresses and the targets of links.
//!
//! Readers of the page do not see them, and they depend on the program that extracted the text.

use std::borrow::Cow;

use memchr::memmem;

/// The longest tag, in bytes; a `<` further from its `>` is one of prose.
const LONGEST_TAG: usize = 1024;
/// The longest entity, in bytes, without `&` and `;`.
const LONGEST_ENTITY: usize = 32;

/// `text` with a space in place of each: `<tag ...>`, `</tag>`, `<!-- ... -->`, `&entity;`,
/// `http://...` and `https://...` up to white space or a closing bracket, and the target of a link,
/// `](...)`, of which the bracket stays.
///
/// Linear in the length of the text: a scan for a closing mark stops at an opening one, or remembers what it found.
pub(crate) fn without(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    let mut comments_end = true;
    while let Some(next) = memchr::memchr3(b'<', b'&', b':', &text.as_bytes()[at..]) {
        at += next;
        let (start, end) = left_over(text, at, &mut comments_end).unwrap_or((at, at + 1));
        if end > at + 1 && start >= copied {
            out.push_str(&text[copied..start]);
            out.push(' ');
            copied = end;
        }
        at = end;
    }
    match copied {
        0 => targets(Cow::Borrowed(text)),
        _ => {
            out.push_str(&text[copied..]);
            targets(Cow::Owned(out))
        }
    }
}

/// Where the remains at the mark at `at` start and end. `comments_end` becomes false once no end of a comment follows.
fn left_over(text: &str, at: usize, comments_end: &mut bool) -> Option<(usize, usize)> {
    let rest = &text[at..];
    match rest.as_bytes()[0] {
        b'<' if rest.starts_with("<!--") => {
            let end = if *comments_end { rest.find("-->") } else { None };
            *comments_end = end.is_some();
            end.map(|end| (at, at + end + 3))
        }
        b'<' => tag(rest).map(|length| (at, at + length)),
        b'&' => entity(rest).map(|length| (at, at + length)),
        _ => {
            let schemes = ["https", "http"];
            let scheme = schemes.into_iter().find(|scheme| text[..at].ends_with(scheme))?;
            rest.starts_with("://").then(|| (at - scheme.len(), at + address(rest)))
        }
    }
}

/// The length of the tag that `rest` starts with; there is no other `<` in it.
fn tag(rest: &str) -> Option<usize> {
    let (window, _) = rest.as_bytes().split_at(rest.len().min(LONGEST_TAG));
    let name = window[1..].iter().find(|&&byte| byte != b'/')?;
    let end =
        1 + memchr::memchr2(b'<', b'>', &window[1..]).filter(|_| name.is_ascii_alphabetic())?;
    (window[end] == b'>').then_some(end + 1)
}

fn entity(rest: &str) -> Option<usize> {
    let name =
        rest[1..].bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'#').count();
    let ended = rest.as_bytes().get(1 + name) == Some(&b';');
    (ended && (1..=LONGEST_ENTITY).contains(&name)).then_some(name + 2)
}

fn address(rest: &str) -> usize {
    let ends =
        |c: char| c.is_whitespace() || !c.is_ascii() || matches!(c, ')' | ']' | '>' | '"' | '<');
    rest.find(ends).unwrap_or(rest.len())
}

/// Drops the targets of links: what is in parentheses right after a bracket, on one line.
fn targets(text: Cow<'_, str>) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    // Where the next parenthesis closes or the line ends, if that is known.
    let mut end = 0;
    while let Some(next) = memmem::find(&bytes[at..], b"](") {
        at += next + 1;
        if end < at {
            end = memchr::memchr2(b')', b'\n', &bytes[at..]).map_or(bytes.len(), |next| at + next);
        }
        if bytes.get(end) == Some(&b')') {
            out.push_str(&text[copied..at]);
            (copied, at) = (end + 1, end + 1);
        }
    }
    if copied == 0 {
        return text;
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_reader_sees_vanishes_and_prose_stays() {
        for line in include_str!("markup.tsv").lines() {
            let (text, expected) = line.split_once('\t').unwrap();
            assert_eq!(without(text), expected, "{text}");
        }
    }

    /// What each left-over is, looked for anew at each mark.
    fn definition(text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let scheme = ["http://", "https://"].into_iter().find(|it| rest.starts_with(it));
            let length = match c {
                '<' if rest.starts_with("<!--") => rest.find("-->").map(|end| end + 3),
                '<' => {
                    let name = rest[1..].trim_start_matches('/').chars().next();
                    let end = rest.find('>').filter(|&end| end < LONGEST_TAG);
                    end.filter(|&end| {
                        name.is_some_and(|c| c.is_ascii_alphabetic()) && !rest[1..end].contains('<')
                    })
                    .map(|end| end + 1)
                }
                '&' => entity(rest),
                'h' => scheme.map(|it| it.len() - 3 + address(&rest[it.len() - 3..])),
                _ => None,
            };
            match length {
                Some(_) => out.push(' '),
                None => out.push(c),
            }
            rest = &rest[length.unwrap_or(c.len_utf8())..];
        }
        let text = std::mem::take(&mut out);
        let mut out = String::new();
        let mut rest = &text[..];
        while let Some(at) = rest.find("](") {
            let line = rest[at..].split('\n').next().unwrap_or_default();
            let length = line.find(')').map_or(0, |end| end + 1);
            out.push_str(&rest[..=at]);
            rest = &rest[at + length.max(1)..];
        }
        out + rest
    }

    proptest::proptest! {
        #[test]
        fn equals_its_definition(text in "([<>&:;/()!-]|<!--|-->|\\]\\(|https?://|<a |[a-z#中é \n]){0,60}") {
            assert_eq!(without(&text), definition(&text));
        }
    }
}
