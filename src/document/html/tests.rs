//! The text of pages, held against the tokenizer of `html5gum`.

use std::convert::Infallible;

use html5gum::{Emitter, Error, State};
use proptest::prelude::*;

use self::shallow::tokens;
use super::{Gap, Tag, text};

mod shallow;

#[test]
fn blocks_divide_lines_and_inline_elements_divide_nothing() {
    let html = "<p>One&amp;two <b>th</b>ree<script>x('<p>')</script><li>four\n\t five";
    assert_eq!(text(html), "One&two three\nfour five");
    assert_eq!(text("<table><tr><td>a<td>b<tr><th>c</th><th>d"), "a b\nc d");
    assert_eq!(text("a<br>b<br/>\n<br>c<hr>"), "a\nb\nc");
    assert_eq!(text("页<em>面</em> \u{a0}&nbsp;x"), "页面 \u{a0}\u{a0}x");
}

#[test]
fn what_is_not_shown_is_no_text() {
    let html = "<!doctype html><html><head><title>t</title><style>s</style></head><body>\
        a<!-- c --><noscript>n</noscript><template><p>t</template><textarea>x</textarea> b";
    assert_eq!(text(html), "a b");
    assert_eq!(text("a<ScRiPt type=x>if (1 < 2) '</scrip>'</SCRIPT >b"), "ab");
    assert_eq!(text("a<script>never closed <p>b"), "a");
    assert_eq!(text("</template></pre>a<template>b<template>c</template>d</template>e"), "ae");
}

#[test]
fn lines_of_preformatted_text_are_kept() {
    assert_eq!(text("<pre>a  b\n\n c</pre>d\ne"), "a b\nc\nd e");
    assert_eq!(text("<xmp><b>a</b>\n</xmp>c<plaintext></b>"), "<b>a</b>\nc\n</b>");
}

#[test]
fn odd_references_and_broken_tags_are_text_as_in_browsers() {
    assert_eq!(
        text("a &lt b &#x9875; &#0; &unknown; &#55555555; x < y <3"),
        "a < b 页 \u{fffd} &unknown; \u{fffd} x < y <3"
    );
    assert_eq!(text("<p title='a>b'>c <a href=\"x"), "c");
    assert_eq!(text(""), "");
}

#[test]
fn depth_costs_nothing() {
    for tag in ["div", "b", "table", "template", "svg", "select", "pre"] {
        let html = format!("<{tag}>").repeat(300_000) + "x";
        assert!(text(&html).len() <= 1, "{tag}");
    }
}

fn text_by_definition(html: &str) -> String {
    let mut shown = Shown::default();
    let _: Option<Infallible> = tokens(html, &mut shown).next();
    String::from_utf8(shown.text).unwrap()
}

#[derive(Default)]
struct Shown {
    text: Vec<u8>,
    gap: Gap,
    name: Vec<u8>,
    is_end: bool,
    open: Vec<u8>,
    hidden: bool,
    templates: usize,
    preformatted: usize,
}

impl Emitter for &mut Shown {
    type Token = Infallible;

    fn emit_string(&mut self, text: &[u8]) {
        if self.hidden || self.templates > 0 {
            return;
        }
        for &byte in text {
            match byte {
                b'\n' if self.preformatted > 0 => self.gap = Gap::Line,
                b' ' | b'\t' | b'\n' | b'\r' | 0x0c => self.gap = self.gap.max(Gap::Space),
                _ => {
                    match std::mem::take(&mut self.gap) {
                        _ if self.text.is_empty() => {}
                        Gap::Nothing => {}
                        Gap::Space => self.text.push(b' '),
                        Gap::Line => self.text.push(b'\n'),
                    }
                    self.text.push(byte);
                }
            }
        }
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        let tag = Tag::of(str::from_utf8(&self.name).unwrap());
        if self.templates == 0 {
            self.gap = self.gap.max(tag.gap());
        }
        self.hidden = false;
        if self.is_end {
            self.open.clear();
            self.preformatted = self.preformatted.saturating_sub((tag == Tag::Preformatted).into());
            self.templates = self.templates.saturating_sub((tag == Tag::Template).into());
            return None;
        }
        self.open.clone_from(&self.name);
        self.preformatted += usize::from(tag == Tag::Preformatted);
        self.templates += usize::from(tag == Tag::Template);
        self.hidden = matches!(tag, Tag::Script | Tag::Hidden);
        match &self.name[..] {
            b"title" | b"textarea" => Some(State::RcData),
            _ => match tag {
                Tag::Script => Some(State::ScriptData),
                Tag::Hidden | Tag::Literal => Some(State::RawText),
                Tag::Rest => Some(State::PlainText),
                _ => None,
            },
        }
    }

    fn init_start_tag(&mut self) {
        self.name.clear();
        self.is_end = false;
    }

    fn init_end_tag(&mut self) {
        self.name.clear();
        self.is_end = true;
    }

    fn push_tag_name(&mut self, name: &[u8]) {
        self.name.extend_from_slice(name);
    }

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.is_end && !self.open.is_empty() && self.open == self.name
    }

    fn set_last_start_tag(&mut self, name: Option<&[u8]>) {
        self.open = name.unwrap_or_default().to_vec();
    }

    fn pop_token(&mut self) -> Option<Infallible> {
        None
    }

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    // The rest tells nothing about the text.
    fn emit_eof(&mut self) {}
    fn emit_error(&mut self, _: Error) {}
    fn init_comment(&mut self) {}
    fn emit_current_comment(&mut self) {}
    fn emit_current_doctype(&mut self) {}
    fn set_self_closing(&mut self) {}
    fn set_force_quirks(&mut self) {}
    fn push_comment(&mut self, _: &[u8]) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn init_doctype(&mut self) {}
    fn init_attribute(&mut self) {}
    fn push_attribute_name(&mut self, _: &[u8]) {}
    fn push_attribute_value(&mut self, _: &[u8]) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
}

const PARTS: [&str; 73] = [
    "a",
    "b c",
    "  ",
    " ",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\u{c}",
    "\0",
    "页",
    "\u{a0}",
    "<",
    ">",
    "/",
    "</",
    "/>",
    "<!",
    "<!-",
    "<!--",
    "-",
    "--",
    "-->",
    "--!>",
    "->",
    "!",
    "=",
    "\"",
    "'",
    "<?",
    "?>",
    "[CDATA[",
    "]]>",
    "&",
    "&amp;",
    "&amp",
    "&nbsp;",
    "&notit;",
    "&#13;",
    "&#10;",
    "&#x41",
    "&#",
    "&#x",
    ";",
    "&#0;",
    "&#99999999;",
    "<p",
    "<p>",
    "</p>",
    "<PRE>",
    "</pre>",
    "<b id=",
    "<td>",
    "<script",
    "<script>",
    "</script>",
    "</Script ",
    "<style>",
    "</style>",
    "</style",
    "<title>",
    "</title>",
    "<xmp>",
    "</xmp>",
    "<plaintext>",
    "<template>",
    "</template>",
    "<!doctype html",
    "public \"",
    " x='",
    " y=\"",
    "<listing>",
    "<textarea>",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn any_page_has_the_text_of_the_definition(
        parts in prop::collection::vec(prop::sample::select(&PARTS[..]), 0..24),
        any in "\\PC{0,4}",
    ) {
        let html = parts.concat() + &any;
        prop_assert_eq!(text(&html), text_by_definition(&html), "{:?}", html);
    }

    #[test]
    fn long_texts_are_collapsed_alike(
        words in prop::collection::vec(("[a-z]{0,40}", prop::sample::select(&[" ", " ", " ", "\n", "  ", "\r\n"][..])), 0..40),
        pre: bool,
    ) {
        let words: String = words.into_iter().flat_map(|(word, space)| [word, space.to_owned()]).collect();
        let html = if pre { format!("<pre>{words}") } else { words };
        prop_assert_eq!(text(&html), text_by_definition(&html), "{:?}", html);
    }
}
