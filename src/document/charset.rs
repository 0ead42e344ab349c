//! The characters of a page, whose encoding is declared, or guessed, or declared wrongly.
//!
//! A byte order mark decides; then what is valid UTF-8 is UTF-8, whatever is declared; then the header and
//! the page itself are believed, unless the bytes say otherwise. What is still open is guessed.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};

use super::record::as_utf8;

/// How many bytes at the beginning of a page may declare its encoding.
const DECLARED_WITHIN: usize = 4 << 10;

/// How many bytes are looked at to guess an encoding.
const GUESSED_BY: usize = 256 << 10;

/// The characters of a page of HTML; `declared` is the encoding that its header names.
pub(super) fn decode_html<'a>(bytes: &'a [u8], declared: Option<&[u8]>) -> Cow<'a, str> {
    let declared =
        declared.and_then(Encoding::for_label_no_replacement).or_else(|| declared_in(bytes));
    decode(bytes, declared)
}

/// The characters of a text; `declared` is the encoding that its header names.
pub(super) fn decode_text<'a>(bytes: &'a [u8], declared: Option<&[u8]>) -> Cow<'a, str> {
    decode(bytes, declared.and_then(Encoding::for_label_no_replacement))
}

fn decode<'a>(bytes: &'a [u8], declared: Option<&'static Encoding>) -> Cow<'a, str> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[mark..]).0;
    }
    if !declared.is_some_and(|encoding| is_disguised(bytes, encoding))
        && let Ok(text) = as_utf8(bytes)
    {
        return Cow::Borrowed(text);
    }
    let by_declaration = declared.map(|encoding| encoding.decode_without_bom_handling(bytes));
    match by_declaration {
        Some((text, false)) => text,
        Some((text, true)) => {
            let guessed = guess(bytes).decode_without_bom_handling(bytes).0;
            if replaced(&guessed) < replaced(&text) { guessed } else { text }
        }
        None => guess(bytes).decode_without_bom_handling(bytes).0,
    }
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

/// How many characters stand for bytes that could not be decoded.
fn replaced(text: &str) -> usize {
    text.matches('\u{fffd}').count()
}

/// The most likely encoding. UTF-8 with some damage is taken for UTF-8.
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

/// The value after `name` and `=` in a tag or a header.
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

    fn meta(charset: &str, text: &str, encoding: &'static Encoding) -> Vec<u8> {
        let html = format!("<html><head><meta charset=\"{charset}\"></head><p>{text}");
        encoding.encode(&html).0.into_owned()
    }

    #[test]
    fn what_is_declared_is_believed() {
        let gbk = GBK.encode(CHINESE).0;
        assert_eq!(decode_html(&gbk, Some(b"GB2312")), CHINESE);
        assert!(decode_html(&meta("gbk", CHINESE, GBK), None).ends_with(CHINESE));
        let text = "日本語のページです";
        let html =
            format!("<META http-equiv=Content-Type content='text/html; charset=Shift_JIS'>{text}");
        assert!(decode_html(&SHIFT_JIS.encode(&html).0, None).ends_with(text));
        let xml = "<?xml version='1.0' encoding='windows-1251'?><p>Привет";
        assert!(decode_html(&WINDOWS_1251.encode(xml).0, None).ends_with("Привет"));
        let commented = "<!-- <meta charset=gbk> --><meta charset=windows-1252>é";
        assert!(decode_html(&WINDOWS_1252.encode(commented).0, None).ends_with('é'));
    }

    #[test]
    fn a_false_declaration_is_found_out() {
        for lie in [&b"iso-8859-1"[..], b"gbk", b"us-ascii", b"nonsense"] {
            assert_eq!(decode_html(CHINESE.as_bytes(), Some(lie)), CHINESE, "{lie:?}");
        }
        let gbk = GBK.encode(&CHINESE.repeat(4)).0.into_owned();
        assert_eq!(decode_text(&gbk, Some(b"utf-8")), CHINESE.repeat(4));
        assert!(decode_html(&meta("utf-16", CHINESE, UTF_8), None).ends_with(CHINESE));
        assert_eq!(decode_html(b"<p>a page", Some(b"utf-16")), "<p>a page");
        let utf_16: Vec<u8> = "<p>a".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode_html(&utf_16, Some(b"utf-16")), "<p>a");
        // Browsers show nothing of what is declared so; and one byte is damaged.
        let damaged = [&gbk[..], b"\xff"].concat();
        let text = decode_text(&damaged, Some(b"iso-2022-cn"));
        assert!(text.starts_with(CHINESE), "{text}");
    }

    #[test]
    fn marks_decide_and_the_rest_is_guessed() {
        let utf_16: Vec<u8> = "\u{feff}页 a".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode_html(&utf_16, Some(b"utf-8")), "页 a");
        assert_eq!(decode_text("\u{feff}页".as_bytes(), Some(b"gbk")), "页");
        assert_eq!(decode_text(&GBK.encode(&CHINESE.repeat(4)).0, None), CHINESE.repeat(4));
        assert_eq!(decode_text(b"caf\xe9 au lait", None), "café au lait");
        assert_eq!(decode_text(b"", None), "");
    }
}
