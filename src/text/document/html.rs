//! The text of a page of HTML: all that a reader sees.
//!
//! The page is tokenized as browsers do it and never built as a tree. So the time is linear and the
//! memory is that of the text, however deep elements are nested. Each block, such as a paragraph or the
//! row of a table, begins a line. White space is collapsed, except for the lines of `pre`.
//!
//! `<p>One&amp;two <b>th</b>ree<script>x()</script><li>four` is two lines: `One&two three` and `four`.
//!
//! The reader takes all of the text. Heuristics for the main part of a page are unstable: two pages that differ a little may get different main parts, and then near pages are far apart. The lines that
//! the pages of a host share are learnt from those pages (`weights --lines --by host`).

use std::convert::Infallible;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Token, Tokenizer};

use super::markup::{Markup, Piece, is_space};
use super::record::{Content, Declared, Document, MARK};

pub(super) struct Page {
    pub(super) text: String,
    /// The address of the first link that is `rel=canonical`.
    pub(super) canonical: Option<String>,
}

pub(super) fn page(html: &str) -> Page {
    let mut shown = Shown::default();
    let mut canonical = None;
    let mut markup = Markup::of(html);
    while let Some(piece) = markup.next() {
        match piece {
            Piece::Text(text) => shown.source(text),
            Piece::Reference(reference) => shown.reference(reference),
            Piece::Start(name) => match shown.start(name) {
                Tag::Script => _ = markup.script(),
                Tag::Hidden => _ = markup.raw(name),
                Tag::Literal => shown.literal(markup.raw(name)),
                Tag::Rest => shown.literal(markup.rest()),
                Tag::Link if canonical.is_none() && shown.templates == 0 => {
                    canonical = canonical_of(markup.attributes());
                }
                _ => {}
            },
            Piece::End(name) => shown.end(name),
        }
    }
    Page { text: shown.text, canonical }
}

pub(super) fn as_text(document: Document<'_>) -> Document<'_> {
    let Content::Text(html) = &document.content else { return document };
    let Page { text, canonical } = page(html);
    let declared = Declared { canonical, ..document.declared };
    Document { content: Content::Text(text.into()), declared, ..document }
}

fn canonical_of(attributes: &str) -> Option<String> {
    if !attributes.to_ascii_lowercase().contains("canonical") {
        return None;
    }
    let link = format!("<link {attributes}>");
    let Some(Ok(Token::StartTag(link))) = Tokenizer::new(&link).next() else { return None };
    let value = |name: &str| link.attributes.get(name.as_bytes());
    let rel = String::from_utf8_lossy(value("rel")?).to_ascii_lowercase();
    let is_canonical = rel.split_ascii_whitespace().any(|word| word == "canonical");
    let address = String::from_utf8_lossy(value("href").filter(|_| is_canonical)?);
    Some(address.trim().to_owned()).filter(|address| !address.is_empty())
}

/// Whether a file that begins with these bytes is HTML: after white space and a byte order mark, a
/// declaration of XML and comments, there is a doctype or a tag that only HTML begins with.
pub(super) fn begins(bytes: &[u8]) -> bool {
    let mut rest = bytes.strip_prefix(MARK).unwrap_or(bytes).trim_ascii_start();
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

#[derive(Default)]
struct Shown {
    text: String,
    gap: Gap,
    templates: usize,
    preformatted: usize,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    Nothing,
    Space,
    Line,
}

impl Shown {
    fn start(&mut self, name: &str) -> Tag {
        let tag = Tag::of(name);
        self.divide(tag);
        self.preformatted += usize::from(tag == Tag::Preformatted);
        self.templates += usize::from(tag == Tag::Template);
        tag
    }

    fn end(&mut self, name: &str) {
        let tag = Tag::of(name);
        self.divide(tag);
        self.preformatted -= usize::from(tag == Tag::Preformatted && self.preformatted > 0);
        self.templates -= usize::from(tag == Tag::Template && self.templates > 0);
    }

    fn divide(&mut self, tag: Tag) {
        if self.templates == 0 {
            self.gap = self.gap.max(tag.gap());
        }
    }

    /// Adds text as it stands in the page. Each of its line ends, `\r`, `\n` or both, is `\n` to a browser.
    fn source(&mut self, text: &str) {
        self.push(text, b"\r\n");
    }

    fn literal(&mut self, text: &str) {
        for (at, part) in text.split('\0').enumerate() {
            if at > 0 {
                self.source("\u{fffd}");
            }
            self.source(part);
        }
    }

    fn reference(&mut self, reference: &str) {
        let emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| {
            if let CallbackEvent::String { value } = event {
                self.push(&String::from_utf8_lossy(value), b"\n");
            }
            None::<Infallible>
        });
        let Ok(()) = Tokenizer::new_with_emitter(reference, emitter).finish();
    }

    /// Adds text, with its white space collapsed. Where ends of lines count, they are these bytes.
    fn push(&mut self, mut text: &str, line_ends: &[u8]) {
        if self.templates > 0 {
            return;
        }
        let line_ends = if self.preformatted > 0 { line_ends } else { b"" };
        loop {
            let space = text.bytes().take_while(|&byte| is_space(byte)).count();
            let (space, words) = text.split_at(space);
            if !space.is_empty() {
                let is_line = space.bytes().any(|byte| line_ends.contains(&byte));
                self.gap = self.gap.max(if is_line { Gap::Line } else { Gap::Space });
            }
            if words.is_empty() {
                return;
            }
            match std::mem::take(&mut self.gap) {
                _ if self.text.is_empty() => {}
                Gap::Nothing => {}
                Gap::Space => self.text.push(' '),
                Gap::Line => self.text.push('\n'),
            }
            let (words, rest) = words.split_at(collapsed(words.as_bytes()));
            self.text.push_str(words);
            text = rest;
        }
    }
}

const STEP: usize = 32;

/// How long the beginning of `text` is in which all white space is one space before a word.
fn collapsed(text: &[u8]) -> usize {
    // Neighbours are looked at without a branch, so that the compiler makes vectors of them.
    let is_odd = |pair: [u8; 2]| is_space(pair[0]) & ((pair[0] != b' ') | is_space(pair[1]));
    let steps = text.windows(STEP + 1).step_by(STEP);
    let are_odd =
        |step: &[u8]| (0..STEP).fold(false, |odd, at| odd | is_odd([step[at], step[at + 1]]));
    let start = steps.take_while(|step| !are_odd(step)).count() * STEP;
    let next = |at: usize| text.get(at + 1).copied().unwrap_or(b' ');
    (start..text.len()).find(|&at| is_odd([text[at], next(at)])).unwrap_or(text.len())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tag {
    Inline,
    /// It divides words, as a cell of a table.
    Cell,
    Block,
    /// It divides lines, and ends of lines count in it.
    Preformatted,
    Template,
    Link,
    Script,
    /// What is in it is not HTML, and not shown.
    Hidden,
    /// What is in it is not HTML, and shown as it is.
    Literal,
    /// All that follows is not HTML, and shown as it is.
    Rest,
}

/// The longest names that say something of a tag: `blockquote` and `figcaption`.
const MOST_NAME_BYTES: usize = 10;

impl Tag {
    fn of(name: &str) -> Tag {
        let mut lower = [0; MOST_NAME_BYTES];
        let Some(lower) = lower.get_mut(..name.len()) else { return Tag::Inline };
        lower.copy_from_slice(name.as_bytes());
        lower.make_ascii_lowercase();
        match &*lower {
            b"script" => Tag::Script,
            b"style" | b"noscript" | b"iframe" | b"noembed" | b"noframes" | b"title"
            | b"textarea" => Tag::Hidden,
            b"xmp" => Tag::Literal,
            b"plaintext" => Tag::Rest,
            b"template" => Tag::Template,
            b"link" => Tag::Link,
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

    fn gap(self) -> Gap {
        match self {
            Tag::Inline | Tag::Template | Tag::Link | Tag::Script | Tag::Hidden => Gap::Nothing,
            Tag::Cell => Gap::Space,
            Tag::Block | Tag::Preformatted | Tag::Literal | Tag::Rest => Gap::Line,
        }
    }
}

#[cfg(test)]
mod tests;
