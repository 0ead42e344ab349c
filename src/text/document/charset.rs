//! The characters of a page, whose encoding is declared, or guessed, or declared wrongly.
//!
//! A byte order mark decides; then what is valid UTF-8 is UTF-8, whatever is declared; then the header and
//! the page itself are believed, unless the bytes say otherwise. What is still open is guessed. As in browsers, a few
//! broken bytes do not change the encoding of a page: each becomes U+FFFD.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};

use super::reason::Reason;
use super::record::as_utf8;

const DECLARED_WITHIN: usize = 4 << 10;

const GUESSED_BY: usize = 256 << 10;

const TELLING: usize = 1024;

pub(super) fn decode_html<'a>(
    bytes: &'a [u8],
    declared: Option<&[u8]>,
) -> Result<Cow<'a, str>, Reason> {
    let named = declared.and_then(Encoding::for_label_no_replacement);
    decode(bytes, named.or_else(|| declared_in(bytes)))
}

pub(super) fn decode_text<'a>(
    bytes: &'a [u8],
    declared: Option<&[u8]>,
) -> Result<Cow<'a, str>, Reason> {
    decode(bytes, declared.and_then(Encoding::for_label_no_replacement))
}

fn decode<'a>(
    bytes: &'a [u8],
    declared: Option<&'static Encoding>,
) -> Result<Cow<'a, str>, Reason> {
    let text = characters(bytes, declared);
    if is_text(&text) { Ok(text) } else { Err("the bytes are no text".into()) }
}

/// Whether these characters begin as text does: at most one in 32 is what the MIME Sniffing standard calls a binary data byte.
fn is_text(text: &str) -> bool {
    let is_binary =
        |it: &char| matches!(it, '\0'..='\x08' | '\x0b' | '\x0e'..='\x1a' | '\x1c'..='\x1f');
    let binary = text.chars().take(TELLING).filter(is_binary).count();
    binary == 0 || 32 * binary <= text.chars().take(TELLING).count()
}

fn characters<'a>(bytes: &'a [u8], declared: Option<&'static Encoding>) -> Cow<'a, str> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[mark..]).0;
    }
    if !declared.is_some_and(|encoding| is_disguised(bytes, encoding))
        && let Ok(text) = as_utf8(bytes)
    {
        return Cow::Borrowed(text);
    }
    let named = declared.or_else(|| is_nearly_utf8(bytes).then_some(UTF_8));
    if let Some(text) = named.and_then(|encoding| believed(bytes, encoding)) {
        return text;
    }
    let decoded = |encoding: &'static Encoding| encoding.decode_without_bom_handling(bytes).0;
    let guessed = decoded(guess(bytes));
    let by_declaration = declared.map(decoded);
    by_declaration.filter(|text| replaced(text) <= replaced(&guessed)).unwrap_or(guessed)
}

/// The characters of a file that should be UTF-8, with U+FFFD for broken bytes; `None` if they are more than a few.
pub(super) fn nearly_utf8(bytes: &[u8]) -> Option<Cow<'_, str>> {
    believed(bytes, UTF_8).filter(|text| is_text(text))
}

fn believed<'a>(bytes: &'a [u8], encoding: &'static Encoding) -> Option<Cow<'a, str>> {
    let text = encoding.decode_without_bom_handling(bytes).0;
    let is_nearly_whole = 100 * replaced(&text) <= text.chars().count();
    (is_nearly_whole || encoding == UTF_8 && is_nearly_utf8(bytes)).then_some(text)
}

/// Whether at least four of five bytes beyond ASCII belong to characters of UTF-8, whole or cut off. In text of other
/// encodings up to half of them do by chance.
fn is_nearly_utf8(mut bytes: &[u8]) -> bool {
    let (mut formed, mut stray) = (0, 0);
    while let Some(at) = bytes.iter().position(|byte| !byte.is_ascii()) {
        let more = match bytes[at] {
            0xc2..=0xdf => 1,
            0xe0..=0xef => 2,
            0xf0..=0xf4 => 3,
            _ => 0,
        };
        bytes = &bytes[at + 1..];
        let following = bytes.iter().take(more).take_while(|it| matches!(it, 0x80..=0xbf)).count();
        bytes = &bytes[following..];
        match following {
            0 => stray += 1,
            _ => formed += 1 + following,
        }
    }
    formed >= 4 * stray
}

/// Whether bytes that are valid UTF-8 have another meaning in this encoding: UTF-16 has zeros where it has
/// ASCII, as in tags, and ISO-2022-JP has escapes.
fn is_disguised(bytes: &[u8], encoding: &'static Encoding) -> bool {
    let mark = match encoding {
        _ if encoding == ISO_2022_JP => 0x1b,
        _ if [UTF_16LE, UTF_16BE].contains(&encoding) => 0,
        _ => return false,
    };
    memchr::memchr(mark, bytes).is_some()
}

fn replaced(text: &str) -> usize {
    text.matches('\u{fffd}').count()
}

pub(super) fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let start = &bytes[..bytes.len().min(GUESSED_BY)];
    let is_ascii = !detector.feed(start, start.len() == bytes.len());
    if is_ascii { UTF_8 } else { detector.guess(None, Utf8Detection::Allow) }
}

/// The encoding that a page declares itself: `<meta charset=x>`, `<meta content="...;charset=x">` or
/// `<?xml encoding="x"?>`.
fn declared_in(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes[..bytes.len().min(DECLARED_WITHIN)].to_ascii_lowercase();
    let mut rest = &head[..];
    while let Some(at) = memchr::memchr(b'<', rest) {
        rest = &rest[at..];
        let end = if rest.starts_with(b"<!--") { &b"-->"[..] } else { b">" };
        let len = memchr::memmem::find(rest, end)?;
        let (tag, more) = rest.split_at(len);
        let name = match tag {
            _ if tag.starts_with(b"<meta") => &b"charset"[..],
            _ if tag.starts_with(b"<?xml") => b"encoding",
            _ => b"",
        };
        if let Some(encoding) = (!name.is_empty()).then(|| value(tag, name)).flatten() {
            return Encoding::for_label_no_replacement(encoding).map(as_html);
        }
        rest = more;
    }
    None
}

pub(super) fn value<'a>(tag: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let after = &tag[memchr::memmem::find(tag, name)? + name.len()..];
    let value = after.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let value = value.strip_prefix(b"\"").or(value.strip_prefix(b"'")).unwrap_or(value);
    let ends =
        |byte: &u8| matches!(byte, b'"' | b'\'' | b';' | b'>' | b'/') || byte.is_ascii_whitespace();
    let end = value.iter().position(ends).unwrap_or(value.len());
    Some(&value[..end])
}

/// A declaration that could be read as bytes is not in UTF-16, whatever it says.
fn as_html(encoding: &'static Encoding) -> &'static Encoding {
    if [UTF_16LE, UTF_16BE].contains(&encoding) { UTF_8 } else { encoding }
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{GBK, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};

    const CHINESE: &str = "今天天气很好，我们一起去公园散步，晚上回家吃饭。";

    fn html(bytes: &[u8], declared: Option<&[u8]>) -> String {
        decode_html(bytes, declared).unwrap().into_owned()
    }

    fn text(bytes: &[u8], declared: Option<&[u8]>) -> String {
        decode_text(bytes, declared).unwrap().into_owned()
    }

    fn meta(charset: &str, text: &str, encoding: &'static Encoding) -> Vec<u8> {
        let html = format!("<html><head><meta charset=\"{charset}\"></head><p>{text}");
        encoding.encode(&html).0.into_owned()
    }

    #[test]
    fn what_is_declared_is_believed() {
        let gbk = GBK.encode(CHINESE).0;
        assert_eq!(html(&gbk, Some(b"GB2312")), CHINESE);
        assert!(html(&meta("gbk", CHINESE, GBK), None).ends_with(CHINESE));
        let words = "日本語のページです";
        let page =
            format!("<META http-equiv=Content-Type content='text/html; charset=Shift_JIS'>{words}");
        assert!(html(&SHIFT_JIS.encode(&page).0, None).ends_with(words));
        let xml = "<?xml version='1.0' encoding='windows-1251'?><p>Привет";
        assert!(html(&WINDOWS_1251.encode(xml).0, None).ends_with("Привет"));
        let commented = "<!-- <meta charset=gbk> --><meta charset=windows-1252>é";
        assert!(html(&WINDOWS_1252.encode(commented).0, None).ends_with('é'));
    }

    #[test]
    fn a_false_declaration_is_found_out() {
        for lie in [&b"iso-8859-1"[..], b"gbk", b"us-ascii", b"nonsense"] {
            assert_eq!(html(CHINESE.as_bytes(), Some(lie)), CHINESE, "{lie:?}");
        }
        let gbk = GBK.encode(&CHINESE.repeat(4)).0.into_owned();
        assert_eq!(text(&gbk, Some(b"utf-8")), CHINESE.repeat(4));
        assert!(html(&meta("utf-16", CHINESE, UTF_8), None).ends_with(CHINESE));
        assert_eq!(html(b"<p>a page", Some(b"utf-16")), "<p>a page");
        let utf_16: Vec<u8> = "<p>a".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(html(&utf_16, Some(b"utf-16")), "<p>a");
        // Browsers show nothing of what is declared so; and one byte is damaged.
        let damaged = [&gbk[..], b"\xff"].concat();
        let read = text(&damaged, Some(b"iso-2022-cn"));
        assert!(read.starts_with(CHINESE), "{read}");
    }

    #[test]
    fn marks_decide_and_the_rest_is_guessed() {
        let utf_16: Vec<u8> = "\u{feff}页 a".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(html(&utf_16, Some(b"utf-8")), "页 a");
        assert_eq!(text("\u{feff}页".as_bytes(), Some(b"gbk")), "页");
        assert_eq!(text(&GBK.encode(&CHINESE.repeat(4)).0, None), CHINESE.repeat(4));
        assert_eq!(text(b"caf\xe9 au lait", None), "café au lait");
        assert_eq!(text(b"", None), "");
    }

    #[test]
    fn a_few_broken_bytes_do_not_change_the_encoding() {
        let german = "Die Straßenbahn fährt über die große Brücke";
        let utf_8: [(&[u8], &str); 5] = [
            (b"\xc3", "cut off"),
            (b"\xe2\x80", "cut off"),
            (b"\xa0", "stray"),
            (b"\xff", "stray"),
            (b"\xed\xa0\xbd\xed\xb8\x80", "surrogates"),
        ];
        for (broken, what) in utf_8 {
            let bytes = [german.as_bytes(), broken, b", ", german.as_bytes()].concat();
            let expected = String::from_utf8_lossy(&bytes);
            for declared in [None, Some(&b"utf-8"[..])] {
                assert_eq!(text(&bytes, declared), expected, "{what}, {declared:?}");
            }
            assert_eq!(nearly_utf8(&bytes).unwrap(), expected, "{what}");
            let meta = [b"<meta charset=utf-8>", &bytes[..]].concat();
            assert!(html(&meta, None).ends_with(&*expected), "{what}");
            let english =
                [b"a page of ASCII ".repeat(40), broken.to_vec(), b" words".to_vec()].concat();
            assert_eq!(text(&english, Some(b"utf-8")), String::from_utf8_lossy(&english), "{what}");
            assert!(text(&bytes, Some(b"windows-1252")).contains("fÃ¤hrt"), "what is declared");
        }
        let gbk = [&GBK.encode(CHINESE).0[..], b"\xff", &GBK.encode(&CHINESE.repeat(9)).0].concat();
        assert!(text(&gbk, Some(b"gbk")).ends_with(CHINESE));
        let latin = WINDOWS_1252.encode(&german.repeat(4)).0.into_owned();
        assert_eq!(text(&latin, Some(b"utf-8")), german.repeat(4));
        assert!(nearly_utf8(&latin).is_none());
    }

    #[test]
    fn bytes_that_are_no_text_are_named() {
        let packed: Vec<u8> =
            (0..2000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for declared in [None, Some(&b"utf-8"[..]), Some(b"gbk")] {
            let reason = decode_html(&packed, declared).unwrap_err();
            assert_eq!(reason.to_string(), "the bytes are no text");
        }
        assert_eq!(text(b"\x1b[1mone\x1b[0m\x0c two", None), "\x1b[1mone\x1b[0m\x0c two");
    }
}
