//! What a terminal is shown: ids and texts of pages come from others, and control characters in them could move its cursor, set its
//! title or hide what was said. So a terminal gets them as text, `\u{1b}` for example. Files and pipes get all bytes as they are.

use std::io::{self, IsTerminal, Stdout, Write};
use std::mem;

/// The first byte of the control characters from U+0080 to U+009F in UTF-8.
const LEAD: u8 = 0xc2;

/// A stream whose reader sees control characters as text, if it is a terminal.
pub(crate) struct Plain<W> {
    out: W,
    is_terminal: bool,
    /// Whether the last byte was [`LEAD`], which is written with the byte after it.
    is_led: bool,
}

pub(crate) fn stdout() -> Plain<Stdout> {
    Plain::of(io::stdout())
}

pub(crate) fn shown(text: &str) -> String {
    let mut plain = Plain { out: Vec::new(), is_terminal: true, is_led: false };
    // A vector takes whatever is written.
    let _ = plain.write_all(text.as_bytes());
    String::from_utf8_lossy(&plain.out).into_owned()
}

impl<W: Write + IsTerminal> Plain<W> {
    pub(crate) fn of(out: W) -> Plain<W> {
        let is_terminal = out.is_terminal();
        Plain { out, is_terminal, is_led: false }
    }
}

impl<W: Write> Write for Plain<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.out.write(bytes);
        }
        for &byte in bytes {
            match (mem::replace(&mut self.is_led, byte == LEAD), byte) {
                (_, LEAD) => {}
                (true, 0x80..=0x9f) | (false, 0..=0x1f | 0x7f)
                    if !matches!(byte, b'\n' | b'\t') =>
                {
                    write!(self.out, "\\u{{{byte:x}}}")?;
                }
                (true, _) => self.out.write_all(&[LEAD, byte])?,
                (false, _) => self.out.write_all(&[byte])?,
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_shown_control_characters_as_text_and_a_file_has_them() {
        for (text, expected) in [
            (
                "http://a.example/\x1b]0;OWNED\x07\x1b[2J",
                "http://a.example/\\u{1b}]0;OWNED\\u{7}\\u{1b}[2J",
            ),
            ("a\tb\r\nc\x7f\u{9b}2J", "a\tb\\u{d}\nc\\u{7f}\\u{9b}2J"),
            ("页 é \u{a0}¢ ÂÃ", "页 é \u{a0}¢ ÂÃ"),
        ] {
            assert_eq!(shown(text), expected);
            for is_terminal in [true, false] {
                // Byte by byte, as a buffer may cut it.
                let mut plain = Plain { out: Vec::new(), is_terminal, is_led: false };
                text.as_bytes().chunks(1).for_each(|byte| plain.write_all(byte).unwrap());
                let out = String::from_utf8(plain.out).unwrap();
                assert_eq!(out, if is_terminal { expected } else { text });
            }
        }
    }
}
