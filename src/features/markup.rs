//! Left-overs of markup in a text: tags, entities, addresses and the targets of links.
//!
//! What a reader of the page does not see comes and goes with the program that took the text out.

use std::borrow::Cow;

/// The longest tag, in bytes; a `<` further from its `>` is one of prose.
const LONGEST_TAG: usize = 1024;
/// The longest entity, in bytes, without `&` and `;`.
const LONGEST_ENTITY: usize = 32;

/// `text` with a space in place of each left-over: `<tag ...>`, `</tag>`, `<!-- ... -->`, `&entity;`,
/// `http://...` and `https://...` up to white space or a closing bracket, and the target of a link,
/// `](...)`, of which the bracket stays.
pub fn without(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(next) = memchr::memchr3(b'<', b'&', b':', &text.as_bytes()[at..]) {
        at += next;
        let (start, end) = left_over(text, at).unwrap_or((at, at + 1));
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

/// The left-over at the mark that stands at `at`: where it starts and ends.
fn left_over(text: &str, at: usize) -> Option<(usize, usize)> {
    let rest = &text[at..];
    match rest.as_bytes()[0] {
        b'<' => tag(rest).map(|length| (at, at + length)),
        b'&' => entity(rest).map(|length| (at, at + length)),
        _ => {
            let schemes = ["https", "http"];
            let scheme = schemes.into_iter().find(|scheme| text[..at].ends_with(scheme))?;
            rest.starts_with("://").then(|| (at - scheme.len(), at + address(rest)))
        }
    }
}

/// The length of the tag or comment that `rest` starts with.
fn tag(rest: &str) -> Option<usize> {
    if rest.starts_with("<!--") {
        return rest.find("-->").map(|end| end + 3);
    }
    let named = rest[1..].trim_start_matches('/').starts_with(|c: char| c.is_ascii_alphabetic());
    let end = rest.bytes().take(LONGEST_TAG).position(|byte| byte == b'>').filter(|_| named)?;
    (!rest[1..end].contains('<')).then_some(end + 1)
}

/// The length of the entity that `rest` starts with.
fn entity(rest: &str) -> Option<usize> {
    let name =
        rest[1..].bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'#').count();
    let ended = rest.as_bytes().get(1 + name) == Some(&b';');
    (ended && (1..=LONGEST_ENTITY).contains(&name)).then_some(name + 2)
}

/// The length of the address that `rest` goes on with.
fn address(rest: &str) -> usize {
    let ends =
        |c: char| c.is_whitespace() || !c.is_ascii() || matches!(c, ')' | ']' | '>' | '"' | '<');
    rest.find(ends).unwrap_or(rest.len())
}

/// Drops the targets of links: what stands in parentheses right after a bracket, on one line.
fn targets(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains("](") {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = rest.find("](") {
        let (before, target) = rest.split_at(at + 1);
        out.push_str(before);
        rest = match target.find([')', '\n']) {
            Some(end) if target.as_bytes()[end] == b')' => &target[end + 1..],
            _ => {
                out.push('(');
                &target[1..]
            }
        };
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_reader_sees_vanishes_and_prose_stays() {
        let cases = [
            ("a <b class=\"x\">bold</b> word<br/>", "a  bold  word "),
            ("5 < 6 and 7 > 3, a<b", "5 < 6 and 7 > 3, a<b"),
            ("x<!-- hidden > still -->y", "x y"),
            ("Q&amp;A &#8217; R&D; &", "Q A   R  &"),
            ("see https://example.org/a?b=1, or http://x.cn。好", "see   or  。好"),
            ("[terms](https://x.org/t \"T\") and [b](/b) ](", "[terms] and [b] ]("),
            ("plain：text http ://", "plain：text http ://"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(without(text), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_breaks(text in "([<>&:;/()!-]|\\]\\(|https?://|[a-z#中é \n]){0,40}") {
            let once = without(&text).into_owned();
            assert!(once.len() <= text.len());
        }
    }
}
