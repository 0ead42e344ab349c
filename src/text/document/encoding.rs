//! Files of text in other encodings than UTF-8. Their bytes become UTF-8 as they are read, so that no format knows of it.
//!
//! UTF-16 with a byte order mark is recognized; any other encoding is named. A byte that is none in the encoding becomes one
//! that is none in UTF-8, so that its record is quarantined.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Chain, Cursor, Read};
use std::str::FromStr;

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8};

use super::charset;
use super::reason::Reason;
use super::record::as_utf8;
use crate::error::{Error, Kind, Result};

const RAW_BYTES: usize = 1 << 15;
const MARK_BYTES: usize = 3;
const TELLING_BYTES: usize = 8;
/// Stands for a byte that is none in the encoding: it is in no text of UTF-8.
const NO_CHARACTER: u8 = 0xff;

/// The encoding of files of text, by a name that browsers know, such as `gbk`, `big5`, `shift_jis` or `windows-1252`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextEncoding(&'static Encoding);

impl TextEncoding {
    /// The encoding that bytes look like; `None` if they look like UTF-8, or tell too little.
    pub fn likely(bytes: &[u8]) -> Option<TextEncoding> {
        let is_utf8 = str::from_utf8(bytes).is_ok()
            || Encoding::for_bom(bytes).is_some()
            || bytes.iter().filter(|byte| !byte.is_ascii()).nth(TELLING_BYTES - 1).is_none();
        let guessed = if is_utf8 { UTF_8 } else { charset::guess(bytes) };
        (guessed != UTF_8).then_some(TextEncoding(guessed))
    }

    pub(super) fn label(self) -> &'static str {
        self.0.name()
    }
}

impl FromStr for TextEncoding {
    type Err = Error;

    fn from_str(name: &str) -> Result<TextEncoding> {
        let label = if name.eq_ignore_ascii_case("latin-1") { "latin1" } else { name };
        Encoding::for_label_no_replacement(label.as_bytes()).map(TextEncoding).ok_or_else(|| {
            Error::new(Kind::Usage, "no such encoding")
                .expected(
                    "a name as in HTML, such as gbk, big5, shift_jis, windows-1252 or utf-16le",
                )
                .found(name)
        })
    }
}

impl fmt::Display for TextEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name().to_ascii_lowercase())
    }
}

pub(super) fn text_in(encoding: Option<TextEncoding>, bytes: &[u8]) -> Result<&str, Reason> {
    as_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        match (encoding.filter(|it| it.0 != UTF_8), TextEncoding::likely(bytes)) {
            (Some(named), _) => {
                let what = "not of the encoding that is named";
                Reason::with(what, format_args!(": {named}, at byte {at} of the record in UTF-8"))
            }
            (None, Some(likely)) => {
                let advice = format_args!("the bytes look like {likely} (the setting `encoding`)");
                Reason::with("not UTF-8", format_args!(" at byte {at} of the record; {advice}"))
            }
            (None, None) => Reason::with("not UTF-8", format_args!(" at byte {at} of the record")),
        }
    })
}

/// The text of a whole file. A few broken bytes in UTF-8 become U+FFFD, as in a page of HTML.
pub(super) fn text_of_file(
    encoding: Option<TextEncoding>,
    bytes: &[u8],
) -> Result<Cow<'_, str>, Reason> {
    text_in(encoding, bytes).map(Cow::Borrowed).or_else(|reason| {
        let is_utf8 = encoding.is_none_or(|it| it.0 == UTF_8);
        is_utf8.then(|| charset::nearly_utf8(bytes)).flatten().ok_or(reason)
    })
}

pub(super) struct Decoded<R> {
    /// The first bytes, once they were looked at, and the others.
    raw: Chain<Cursor<Vec<u8>>, R>,
    named: Option<TextEncoding>,
    state: State,
}

enum State {
    Begins,
    Utf8,
    Decodes(Box<Decoding>),
}

struct Decoding {
    decoder: Decoder,
    raw: Vec<u8>,
    /// Room for what is decoded; `text[given..made]` was not given.
    text: Vec<u8>,
    given: usize,
    made: usize,
    is_over: bool,
}

impl<R: Read> Decoded<R> {
    /// The bytes of `raw`. A byte order mark decides; without one, they are in the encoding that is named, or else UTF-8.
    pub(super) fn new(raw: R, named: Option<TextEncoding>) -> Decoded<R> {
        Decoded { raw: Cursor::default().chain(raw), named, state: State::Begins }
    }

    fn begin(&mut self) -> io::Result<State> {
        let (begun, raw) = self.raw.get_mut();
        let mut first = Vec::new();
        raw.take(MARK_BYTES as u64).read_to_end(&mut first)?;
        let marked = Encoding::for_bom(&first).map(|(encoding, _)| encoding);
        *begun = Cursor::new(first);
        let encoding = marked.or(self.named.map(|it| it.0)).unwrap_or(UTF_8);
        if encoding == UTF_8 {
            return Ok(State::Utf8);
        }
        Ok(State::Decodes(Box::new(Decoding {
            decoder: encoding.new_decoder_with_bom_removal(),
            raw: vec![0; RAW_BYTES],
            // A byte of the raw text takes at most three in UTF-8, so there is room for all of it.
            text: vec![0; 4 * RAW_BYTES],
            given: 0,
            made: 0,
            is_over: false,
        })))
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if let State::Begins = self.state {
            self.state = self.begin()?;
        }
        match &mut self.state {
            State::Decodes(decoding) => decoding.read(&mut self.raw, into),
            State::Begins | State::Utf8 => self.raw.read(into),
        }
    }
}

impl Decoding {
    fn read(&mut self, raw: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
        while self.given == self.made && !self.is_over && !into.is_empty() {
            let count = raw.read(&mut self.raw)?;
            self.is_over = count == 0;
            self.decode(count);
        }
        let read = (&self.text[self.given..self.made]).read(into)?;
        self.given += read;
        Ok(read)
    }

    fn decode(&mut self, count: usize) {
        (self.given, self.made) = (0, 0);
        let mut from = 0;
        loop {
            let (result, read, written) = self.decoder.decode_to_utf8_without_replacement(
                &self.raw[from..count],
                &mut self.text[self.made..],
                self.is_over,
            );
            from += read;
            self.made += written;
            let DecoderResult::Malformed(..) = result else { return };
            self.text[self.made] = NO_CHARACTER;
            self.made += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{BIG5, GBK, SHIFT_JIS, WINDOWS_1252};

    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let some = into.len().min(self.1);
            self.0.read(&mut into[..some])
        }
    }

    fn decoded(bytes: &[u8], name: Option<&str>) -> Vec<u8> {
        let named = name.map(|name| name.parse().unwrap());
        let all = |step| {
            let mut text = Vec::new();
            Decoded::new(Slow(bytes, step), named).read_to_end(&mut text).unwrap();
            text
        };
        assert_eq!(all(1), all(bytes.len() + 1));
        all(7)
    }

    #[test]
    fn named_encodings_become_utf8_and_a_byte_order_mark_decides() {
        for (encoding, name, text) in [
            (GBK, "gbk", "今天天气很好\n"),
            (GBK, "GB2312", "公园"),
            (BIG5, "big5", "今天天氣很好"),
            (SHIFT_JIS, "shift_jis", "日本語のページ"),
            (WINDOWS_1252, "latin-1", "café\u{2014}"),
            (WINDOWS_1252, "windows-1252", ""),
            (UTF_8, "utf-8", "页"),
        ] {
            for text in [text.to_owned(), text.repeat(8_000)] {
                let found = decoded(&encoding.encode(&text).0, Some(name));
                assert_eq!(found, text.into_bytes(), "{name}");
            }
        }
        let marked = "\u{feff}页 a\n";
        let (text, units) = (&marked.as_bytes()[3..], marked.encode_utf16());
        let little: Vec<u8> = units.clone().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = units.flat_map(u16::to_be_bytes).collect();
        for name in [None, Some("gbk"), Some("utf-16le")] {
            assert_eq!(decoded(&little, name), text, "{name:?}");
            assert_eq!(decoded(&big, name), text, "{name:?}");
            let found = decoded(marked.as_bytes(), name);
            assert_eq!(found, marked.as_bytes(), "the formats pass over this mark");
        }
        assert_eq!(decoded(&little[2..], Some("utf-16le")), text);
        assert_eq!(decoded(&big[2..], Some("utf-16be")), text);
    }

    #[test]
    fn what_is_no_character_is_quarantined() {
        for (bytes, name) in
            [(&b"a\xff\xffb"[..], "gbk"), (b"a\x81", "shift_jis"), (b"ab\0", "utf-16le")]
        {
            let text = decoded(bytes, Some(name));
            assert!(text.contains(&NO_CHARACTER), "{name}: {text:?}");
            let reason = text_in(Some(name.parse().unwrap()), &text).unwrap_err().to_string();
            assert!(reason.contains(name), "{reason}");
        }
        let zeros = vec![0x80; 200_000];
        assert_eq!(decoded(&zeros, Some("euc-kr")), vec![NO_CHARACTER; zeros.len()]);
    }

    #[test]
    fn a_reason_names_the_likely_encoding() {
        let text = "今天天气很好，我们一起去公园散步。".repeat(4);
        let gbk = GBK.encode(&text).0;
        let reason = text_in(None, &gbk).unwrap_err();
        assert_eq!(reason.what, "not UTF-8");
        assert!(reason.to_string().ends_with("look like gbk (the setting `encoding`)"), "{reason}");
        assert_eq!(text_of_file(None, &gbk).unwrap_err(), reason);
        let damaged = [&b"\xff"[..], text.as_bytes()].concat();
        let reason = text_in(None, &damaged).unwrap_err().to_string();
        assert!(reason.starts_with("not UTF-8 at byte 0"), "{reason}");
        assert_eq!(text_of_file(None, &damaged).unwrap(), String::from_utf8_lossy(&damaged));
        assert!(TextEncoding::likely("页".as_bytes()).is_none());
        assert!("ebcdic".parse::<TextEncoding>().unwrap_err().to_string().contains("such as gbk"));
    }
}
