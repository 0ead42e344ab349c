//! The text of a page of HTML: all that a reader sees.
//!
//! The page is tokenized as browsers do it and never built as a tree. So the time is linear and the
//! memory is that of the text, however deep elements are nested. Each block, such as a paragraph or the
//! row of a table, begins a line. White space is collapsed, except for the lines of `pre`.
//!
//! `<p>One&amp;two <b>th</b>ree<script>x()</script><li>four` is two lines: `One&two three` and `four`.
//!
//! The reader takes all of the text, unless the caller asks for the main part (`main_text.rs`). Heuristics for the main part are
//! unstable: two pages that differ a little may get different main parts, and then near pages are far apart. The lines that
//! the pages of a host share are learnt from those pages (`weights --lines --by host`).

use std::convert::Infallible;

use html5gum::{Emitter, Error, State};

use super::shallow::tokens;

/// The text of a page.
pub(super) fn text(html: &str) -> String {
    let mut shown = Shown::default();
    // The tags give no token, so one call reads the whole page.
    let _: Option<Infallible> = tokens(html, Tags::new(&mut shown)).next();
    String::from_utf8(shown.text)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Whether a file that begins with these bytes is HTML: after white space and a byte order mark, a
/// declaration of XML and comments, there is a doctype or a tag that only HTML begins with.
pub(super) fn begins(bytes: &[u8]) -> bool {
    let mut rest = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    while let Some(end) = [(&b"<!--"[..], &b"-->"[..]), (b"<?xml", b"?>")]
        .iter()
        .find_map(|(begin, end)| rest.starts_with(begin).then_some(end))
    {
        let Some(at) = memchr::memmem::find(rest, end) else { return false };
        rest = rest[at + end.len()..].trim_ascii_start();
    }
    [&b"<!doctype html"[..], b"<html", b"<head", b"<body"]
        .iter()
        .any(|tag| rest.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag)))
}

/// The text that is shown, so far.
#[derive(Default)]
struct Shown {
    text: Vec<u8>,
    /// What divides the text so far from what comes next.
    gap: Gap,
}

/// What divides two pieces of text.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    Nothing,
    Space,
    Line,
}

impl Shown {
    /// Widens the gap before the next piece of text.
    fn gap(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    /// Adds text, with its white space collapsed; `lines` keeps the ends of lines.
    fn push(&mut self, mut text: &[u8], lines: bool) {
        while let Some((&first, rest)) = text.split_first() {
            if is_space(first) {
                self.gap(if lines && first == b'\n' { Gap::Line } else { Gap::Space });
                text = rest;
                continue;
            }
            let end = text.iter().position(|&byte| is_space(byte)).unwrap_or(text.len());
            match std::mem::take(&mut self.gap) {
                _ if self.text.is_empty() => {}
                Gap::Nothing => {}
                Gap::Space => self.text.push(b' '),
                Gap::Line => self.text.push(b'\n'),
            }
            self.text.extend_from_slice(&text[..end]);
            text = &text[end..];
        }
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
}

/// What a tag does to the text around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tag {
    /// Nothing, as `<b>`.
    Inline,
    /// It divides words, as a cell of a table.
    Cell,
    /// It divides lines.
    Block,
    /// It divides lines, and ends of lines count in it.
    Preformatted,
    /// What is in it is not shown.
    Template,
    /// What is in it is not HTML, and not shown.
    Hidden(State),
    /// What is in it is not HTML, and shown as it is.
    Literal(State),
}

impl Tag {
    fn of(name: &[u8]) -> Tag {
        match name {
            b"script" => Tag::Hidden(State::ScriptData),
            b"style" | b"noscript" | b"iframe" | b"noembed" | b"noframes" => {
                Tag::Hidden(State::RawText)
            }
            b"title" | b"textarea" => Tag::Hidden(State::RcData),
            b"xmp" => Tag::Literal(State::RawText),
            b"plaintext" => Tag::Literal(State::PlainText),
            b"template" => Tag::Template,
            b"pre" | b"listing" => Tag::Preformatted,
            b"td" | b"th" | b"button" | b"option" | b"img" | b"input" => Tag::Cell,
            b"address" | b"article" | b"aside" | b"blockquote" | b"body" | b"br" | b"caption"
            | b"center" | b"dd" | b"details" | b"dialog" | b"dir" | b"div" | b"dl" | b"dt"
            | b"fieldset" | b"figcaption" | b"figure" | b"footer" | b"form" | b"h1" | b"h2"
            | b"h3" | b"h4" | b"h5" | b"h6" | b"head" | b"header" | b"hgroup" | b"hr" | b"html"
            | b"legend" | b"li" | b"main" | b"menu" | b"nav" | b"ol" | b"optgroup" | b"p"
            | b"search" | b"section" | b"select" | b"summary" | b"table" | b"tbody" | b"tfoot"
            | b"thead" | b"tr" | b"ul" => Tag::Block,
            _ => Tag::Inline,
        }
    }

    /// The gap that it makes.
    fn gap(self) -> Gap {
        match self {
            Tag::Inline | Tag::Template | Tag::Hidden(_) => Gap::Nothing,
            Tag::Cell => Gap::Space,
            Tag::Block | Tag::Preformatted | Tag::Literal(_) => Gap::Line,
        }
    }
}

/// Takes what the tokenizer finds.
struct Tags<'s> {
    shown: &'s mut Shown,
    /// The name of the tag that is being read.
    name: Vec<u8>,
    is_end: bool,
    /// The name of the last start tag; empty once a tag has ended.
    open: Vec<u8>,
    /// Whether the text in the last start tag is hidden.
    hidden: bool,
    templates: usize,
    preformatted: usize,
}

impl Tags<'_> {
    fn new(shown: &mut Shown) -> Tags<'_> {
        Tags {
            shown,
            name: Vec::new(),
            is_end: false,
            open: Vec::new(),
            hidden: false,
            templates: 0,
            preformatted: 0,
        }
    }

    /// Takes a start tag. Returns how what follows it is to be read, if it is not HTML.
    fn start(&mut self, tag: Tag) -> Option<State> {
        self.preformatted += usize::from(tag == Tag::Preformatted);
        self.templates += usize::from(tag == Tag::Template);
        self.hidden = matches!(tag, Tag::Hidden(_));
        match tag {
            Tag::Hidden(state) | Tag::Literal(state) => Some(state),
            _ => None,
        }
    }

    fn end(&mut self, tag: Tag) {
        self.preformatted -= usize::from(tag == Tag::Preformatted && self.preformatted > 0);
        self.templates -= usize::from(tag == Tag::Template && self.templates > 0);
        self.hidden = false;
    }
}

impl Emitter for Tags<'_> {
    type Token = Infallible;

    fn emit_string(&mut self, text: &[u8]) {
        if !self.hidden && self.templates == 0 {
            self.shown.push(text, self.preformatted > 0);
        }
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        let tag = Tag::of(&self.name);
        if self.templates == 0 {
            self.shown.gap(tag.gap());
        }
        if self.is_end {
            self.open.clear();
            self.end(tag);
            return None;
        }
        std::mem::swap(&mut self.open, &mut self.name);
        self.start(tag)
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

#[cfg(test)]
mod tests {
    use super::text;

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
}
