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

type Characters<'a> = Result<Cow<'a, str>, Reason>;

pub(super) fn decode_html<'a>(bytes: &'a [u8], declared: Option<&[u8]>) -> Characters<'a> {
    let named = declared.and_then(Encoding::for_label_no_replacement);
    decode(bytes, named.or_else(|| declared_in(bytes)))
}

pub(super) fn decode_text<'a>(bytes: &'a [u8], declared: Option<&[u8]>) -> Characters<'a> {
    decode(bytes, declared.and_then(Encoding::for_label_no_replacement))
}

fn decode<'a>(bytes: &'a [u8], declared: Option<&'static Encoding>) -> Characters<'a> {
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

/// Whether four of five bytes beyond ASCII belong to characters of UTF-8. In other encodings up to half do by chance.
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

/// Whether what is valid UTF-8 means something else here: tags in UTF-16 have zeros, and ISO-2022-JP has escapes.
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

/// What a page itself declares: `<meta charset=x>`, `<meta content="...;charset=x">` or `<?xml encoding="x"?>`.
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

    fn text(bytes: &[u8], declared: Option<&[u8]>) -> String {
        decode_text(bytes, declared).unwrap().into_owned()
    }

    fn utf_16(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn true_declarations_are_believed_false_ones_found_out_and_the_rest_is_guessed() {
        let long = CHINESE.repeat(4);
        let meta =
            |charset: &str| format!("<html><head><meta charset=\"{charset}\"></head><p>{CHINESE}");
        let japanese =
            "<META http-equiv=Content-Type content='text/html; charset=Shift_JIS'>ページ";
        let xml = "<?xml version='1.0' encoding='windows-1251'?><p>Привет";
        let commented = "<!-- <meta charset=gbk> --><meta charset=windows-1252>é";
        for (html, encoding, declared) in [
            (CHINESE, GBK, "GB2312"),
            (&meta("gbk"), GBK, ""),
            (japanese, SHIFT_JIS, ""),
            (xml, WINDOWS_1251, ""),
            (commented, WINDOWS_1252, ""),
            (CHINESE, UTF_8, "iso-8859-1"),
            (CHINESE, UTF_8, "gbk"),
            (CHINESE, UTF_8, "us-ascii"),
            (CHINESE, UTF_8, "nonsense"),
            (&meta("utf-16"), UTF_8, ""),
            ("<p>a page", UTF_8, "utf-16"),
            (&long, GBK, "utf-8"),
            (&long, GBK, ""),
            ("café au lait", WINDOWS_1252, ""),
            ("", UTF_8, ""),
        ] {
            let bytes = encoding.encode(html).0;
            let declared = Some(declared.as_bytes()).filter(|name| !name.is_empty());
            assert_eq!(decode_html(&bytes, declared).unwrap(), html, "{declared:?}");
        }
        assert_eq!(decode_html(&utf_16("<p>a"), Some(b"utf-16")).unwrap(), "<p>a");
        assert_eq!(decode_html(&utf_16("\u{feff}页 a"), Some(b"utf-8")).unwrap(), "页 a");
        assert_eq!(text("\u{feff}页".as_bytes(), Some(b"gbk")), "页");
        // Browsers show nothing of what is declared so; and one byte is damaged.
        let read = text(&[&GBK.encode(&long).0[..], b"\xff"].concat(), Some(b"iso-2022-cn"));
        assert!(read.starts_with(CHINESE), "{read}");
    }

    #[test]
    fn a_few_broken_bytes_do_not_change_the_encoding() {
        let german = "Die Straßenbahn fährt über die große Brücke";
        for broken in [&b"\xc3"[..], b"\xe2\x80", b"\xa0", b"\xff", b"\xed\xa0\xbd\xed\xb8\x80"] {
            let bytes = [german.as_bytes(), broken, b", ", german.as_bytes()].concat();
            let expected = String::from_utf8_lossy(&bytes);
            for declared in [None, Some(&b"utf-8"[..])] {
                assert_eq!(text(&bytes, declared), expected, "{broken:?}, {declared:?}");
            }
            assert_eq!(nearly_utf8(&bytes).unwrap(), expected, "{broken:?}");
            let meta = [b"<meta charset=utf-8>", &bytes[..]].concat();
            assert!(decode_html(&meta, None).unwrap().ends_with(&*expected), "{broken:?}");
            let english = [&b"a page of ASCII ".repeat(40), broken, b" words"].concat();
            assert_eq!(text(&english, Some(b"utf-8")), String::from_utf8_lossy(&english));
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
