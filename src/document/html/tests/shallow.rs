//! HTML as the tokenizer reads it, so that the stack stays shallow.
//!
//! The tokenizer calls itself for each attribute whose value stands in double quotes, and returns at the end of the tag: a tag
//! of 48 KB can overflow the stack of a thread. An error of its reader makes the tokenizer return at once. The next call
//! continues in the state in which the error came, so that no byte is lost.

use std::fmt;

use html5gum::{Emitter, Readable, Reader, StringReader, Tokenizer};

const VALUES: u32 = 64;

pub(super) fn tokens<E: Emitter>(html: &str, emitter: E) -> impl Iterator<Item = E::Token> {
    let reader = Shallow { page: html.to_reader(), values: 0 };
    Tokenizer::new_with_emitter(reader, emitter).filter_map(Result::ok)
}

struct Shallow<'a> {
    page: StringReader<'a>,
    values: u32,
}

#[derive(Debug)]
struct Return;

impl fmt::Display for Return {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the tokenizer returns, to be called again")
    }
}

impl std::error::Error for Return {}

impl Reader for Shallow<'_> {
    type Error = Return;

    fn read_byte(&mut self) -> Result<Option<u8>, Return> {
        let Ok(byte) = self.page.read_byte();
        Ok(byte)
    }

    fn try_read_string(&mut self, text: &[u8], case_sensitive: bool) -> Result<bool, Return> {
        let Ok(is_read) = self.page.try_read_string(text, case_sensitive);
        Ok(is_read)
    }

    fn read_until<'b>(
        &'b mut self,
        needle: &[u8],
        buffer: &'b mut [u8; 4],
    ) -> Result<Option<&'b [u8]>, Return> {
        if needle.first() == Some(&b'"') {
            self.values = self.values.wrapping_add(1);
            if self.values.is_multiple_of(VALUES) {
                return Err(Return);
            }
        }
        let Ok(text) = self.page.read_until(needle, buffer);
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use crate::document::html::text;

    const STACK_BYTES: usize = 128 << 10;

    fn pages() -> impl Iterator<Item = String> {
        let forms = [
            "a=\"1\" ",
            "a=\"1\"",
            "a=\"\" ",
            "a = \"&lt;\"\n",
            "a=\"\r\n\" ",
            "a=\"&\" ",
            "a=\"\0\" ",
            "a='1' ",
            "a=1 ",
            "a ",
            "a/",
            "/a=\"1\" ",
            "=\"1\" ",
            "a\t\"b\" ",
        ];
        forms.into_iter().map(|form| format!("one <p {} class=\"c\">two", form.repeat(50_000)))
    }

    fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
        thread::Builder::new().stack_size(STACK_BYTES).spawn(work).unwrap().join().unwrap();
    }

    #[test]
    fn attributes_take_no_stack() {
        on_a_small_stack(|| {
            for page in pages() {
                assert_eq!(text(&page), "one\ntwo", "{}", &page[..20]);
                assert_eq!(text(&page.replace("<p", "</p")), "one\ntwo", "{}", &page[..20]);
                assert_eq!(text(&page.replace("<p", "<script")), "one", "{}", &page[..20]);
            }
        });
    }

    #[test]
    fn nothing_is_lost_where_the_tokenizer_returns() {
        let page: String =
            (0..1_000).map(|it| format!("<i id=\"{it}&lt;\" b=\"c\"d=\"\">{it}</i>")).collect();
        assert_eq!(text(&page), (0..1_000).map(|it| it.to_string()).collect::<String>());
    }
}
