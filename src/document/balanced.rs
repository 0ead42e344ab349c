//! A page of HTML written again with balanced tags, so that the tree which others build of it is as deep as the tags say.
//!
//! Left out is what is no content: scripts, styles, forms' values, drawings, and attributes that tell nothing of it. Ends of elements
//! that HTML lets authors leave out are put in.
//!
//! `<p class=a onclick=x>One<p>two<b>three</p>` becomes `<p class="a">One</p><p>two<b>three</b></p>`.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use html5gum::Span;
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};

use super::shallow::tokens;

/// The most bytes that are written.
const MOST_BYTES: usize = 1 << 20;
/// The most elements.
const MOST_ELEMENTS: usize = 20_000;
/// How deep elements may be in each other.
const MOST_DEPTH: usize = 100;
/// How many elements such as `b` may be open at once: a parser opens them again in each block.
const MOST_FORMATS: usize = 16;
/// The most bytes of a name of an element. Tags with longer names are left out.
const MOST_NAME_BYTES: usize = 64;

/// The page again; none if it is too large or too deep.
pub(super) fn balanced(html: &str) -> Option<String> {
    let mut page = BalancedPage::default();
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| {
        page.take(event).is_none().then_some(TooLarge)
    });
    emitter.naively_switch_states(true);
    if let Some(TooLarge) = tokens(html, emitter).next() {
        return None;
    }
    page.end_above(0);
    Some(String::from_utf8_lossy(&page.html).into_owned())
}

/// The page is too large or too deep.
struct TooLarge;

/// The page so far.
#[derive(Default)]
struct BalancedPage {
    html: Vec<u8>,
    /// The start tag that is being read.
    tag: StartTag,
    /// The names of the open elements.
    open: Vec<Vec<u8>>,
    elements: usize,
    /// The element that is left out with all that is in it, and how many of its name are open.
    hidden: Option<(Vec<u8>, usize)>,
}

/// A start tag so far.
#[derive(Default)]
struct StartTag {
    name: Vec<u8>,
    /// The attributes that are kept. Of several with one name, the first counts.
    attributes: BTreeMap<&'static [u8], Vec<u8>>,
    /// The attribute whose value comes, if it is kept.
    attribute: Option<&'static [u8]>,
}

impl StartTag {
    fn begin(&mut self, name: &[u8]) {
        *self = StartTag { name: name.to_vec(), ..StartTag::default() };
    }

    fn begin_attribute(&mut self, name: &[u8]) {
        self.attribute = ATTRIBUTES.into_iter().find(|known| *known == name);
        match self.attribute.map(|name| self.attributes.entry(name)) {
            Some(Entry::Vacant(vacant)) => drop(vacant.insert(Vec::new())),
            Some(Entry::Occupied(_)) => self.attribute = None,
            None => {}
        }
    }

    fn set_value(&mut self, value: &[u8]) {
        if let Some(kept) = self.attribute.and_then(|name| self.attributes.get_mut(name)) {
            kept.extend(value);
        }
    }
}

impl BalancedPage {
    /// Takes the next part of the page; none if there is no room for it.
    fn take(&mut self, event: CallbackEvent<'_>) -> Option<()> {
        match event {
            CallbackEvent::OpenStartTag { name } => self.tag.begin(name),
            CallbackEvent::AttributeName { name } => self.tag.begin_attribute(name),
            CallbackEvent::AttributeValue { value } => self.tag.set_value(value),
            CallbackEvent::CloseStartTag { self_closing } => {
                let tag = std::mem::take(&mut self.tag);
                self.start(&tag, self_closing)?;
            }
            CallbackEvent::EndTag { name } => self.end(name),
            CallbackEvent::String { value } if self.hidden.is_none() => {
                write_text(value, &mut self.html);
            }
            _ => {}
        }
        (self.html.len() <= MOST_BYTES).then_some(())
    }

    /// Takes a start tag; none if there is no room for it.
    fn start(&mut self, tag: &StartTag, self_closing: bool) -> Option<()> {
        let name = &tag.name[..];
        if let Some((hidden, depth)) = &mut self.hidden {
            *depth += usize::from(hidden == name);
            return Some(());
        }
        match Kind::of(name) {
            Kind::Hidden if self_closing && matches!(name, b"svg" | b"math") => {}
            Kind::Hidden => self.hidden = Some((name.to_vec(), 1)),
            Kind::Nothing => {}
            Kind::Break => self.html.extend([b"<", name, b">"].concat()),
            Kind::Format | Kind::Other => {
                self.end_implied(name);
                self.elements += 1;
                let formats = self.open.iter().filter(|it| Kind::of(it) == Kind::Format).count();
                let is_format = Kind::of(name) == Kind::Format;
                if self.elements > MOST_ELEMENTS
                    || self.open.len() == MOST_DEPTH
                    || is_format && formats == MOST_FORMATS
                {
                    return None;
                }
                self.write_start(tag);
                self.open.push(name.to_vec());
            }
        }
        Some(())
    }

    fn write_start(&mut self, tag: &StartTag) {
        self.html.push(b'<');
        self.html.extend(&tag.name[..]);
        for (name, value) in &tag.attributes {
            self.html.extend([b" ", &name[..], b"=\""].concat());
            write_text(value, &mut self.html);
            self.html.push(b'"');
        }
        self.html.push(b'>');
    }

    /// Takes an end tag. One that ends nothing is left out.
    fn end(&mut self, name: &[u8]) {
        if let Some((hidden, depth)) = &mut self.hidden {
            *depth -= usize::from(hidden == name);
            if *depth == 0 {
                self.hidden = None;
            }
            return;
        }
        let bounds: &[&[u8]] = if is_of_table(name) { &[] } else { &CELLS };
        self.end_nearest(&[name], bounds);
    }

    /// Ends what a start tag of this name ends.
    fn end_implied(&mut self, name: &[u8]) {
        match name {
            b"li" => self.end_nearest(&[b"li"], &[b"ul", b"ol", b"menu", b"table"]),
            b"dt" | b"dd" => self.end_nearest(&[b"dt", b"dd"], &[b"dl", b"table"]),
            b"td" | b"th" => self.end_nearest(&[b"td", b"th"], &[b"tr", b"table"]),
            b"tr" => self.end_nearest(&[b"tr"], &[b"table"]),
            b"thead" | b"tbody" | b"tfoot" => {
                self.end_nearest(&[b"thead", b"tbody", b"tfoot"], &[b"table"]);
            }
            b"a" => self.end_nearest(&[b"a"], &CELLS),
            _ if Kind::of(name) == Kind::Format || is_phrase(name) => {}
            _ => self.end_nearest(&[b"p"], &CELLS),
        }
    }

    /// Ends the innermost open element with one of these names, with all that is in it, unless one of the `bounds` is nearer.
    fn end_nearest(&mut self, names: &[&[u8]], bounds: &[&[u8]]) {
        let is_either = |open: &Vec<u8>| [names, bounds].iter().any(|of| of.contains(&&open[..]));
        if let Some(at) = self.open.iter().rposition(is_either)
            && names.contains(&&self.open[at][..])
        {
            self.end_above(at);
        }
    }

    /// Ends the open elements from this one on.
    fn end_above(&mut self, at: usize) {
        for name in self.open.drain(at..).rev() {
            self.html.extend([b"</", &name[..], b">"].concat());
        }
    }
}

/// What becomes of an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It is left out with all that is in it.
    Hidden,
    /// Its tags are left out.
    Nothing,
    /// It has no content and no end.
    Break,
    /// A parser opens it again where its block ends.
    Format,
    Other,
}

impl Kind {
    fn of(name: &[u8]) -> Kind {
        match name {
            b"script" | b"style" | b"noscript" | b"iframe" | b"noembed" | b"noframes"
            | b"title" | b"textarea" | b"template" | b"svg" | b"math" | b"select" | b"object"
            | b"applet" | b"audio" | b"video" | b"canvas" | b"xmp" | b"plaintext" => Kind::Hidden,
            b"br" | b"hr" => Kind::Break,
            b"b" | b"big" | b"code" | b"em" | b"font" | b"i" | b"nobr" | b"s" | b"small"
            | b"strike" | b"strong" | b"tt" | b"u" | b"a" => Kind::Format,
            b"html" | b"head" | b"body" | b"frameset" | b"frame" | b"meta" | b"link" | b"base"
            | b"img" | b"image" | b"input" | b"area" | b"col" | b"embed" | b"param" | b"source"
            | b"track" | b"wbr" | b"keygen" | b"basefont" | b"bgsound" => Kind::Nothing,
            _ if name.len() > MOST_NAME_BYTES => Kind::Nothing,
            _ if name.iter().all(|byte| byte.is_ascii_alphanumeric()) => Kind::Other,
            _ => Kind::Nothing,
        }
    }
}

/// Elements of a line besides those of [`Kind::Format`].
fn is_phrase(name: &[u8]) -> bool {
    matches!(
        name,
        b"abbr"
            | b"acronym"
            | b"bdi"
            | b"bdo"
            | b"cite"
            | b"data"
            | b"del"
            | b"dfn"
            | b"ins"
            | b"kbd"
            | b"label"
            | b"mark"
            | b"q"
            | b"rp"
            | b"rt"
            | b"ruby"
            | b"samp"
            | b"span"
            | b"sub"
            | b"sup"
            | b"time"
            | b"var"
    )
}

fn is_of_table(name: &[u8]) -> bool {
    matches!(
        name,
        b"table"
            | b"caption"
            | b"colgroup"
            | b"thead"
            | b"tbody"
            | b"tfoot"
            | b"tr"
            | b"td"
            | b"th"
    )
}

/// Nothing in these ends what is outside of them.
const CELLS: [&[u8]; 5] = [b"td", b"th", b"caption", b"table", b"button"];

/// The attributes that tell content from what is none.
const ATTRIBUTES: [&[u8]; 11] = [
    b"class",
    b"id",
    b"style",
    b"role",
    b"itemprop",
    b"rel",
    b"href",
    b"hidden",
    b"aria-hidden",
    b"aria-modal",
    b"summary",
];

/// Writes text, or the value of an attribute, so that it is read as such.
fn write_text(text: &[u8], html: &mut Vec<u8>) {
    for &byte in text {
        match byte {
            b'&' => html.extend(b"&amp;"),
            b'<' => html.extend(b"&lt;"),
            b'>' => html.extend(b"&gt;"),
            b'"' => html.extend(b"&quot;"),
            byte => html.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::shallow::tests::{on_a_small_stack, pages};

    #[test]
    fn ends_that_are_missing_are_put_in() {
        for (html, expected) in [
            (
                "<p class=a onclick=x>One<p>two<b>three</p>",
                "<p class=\"a\">One</p><p>two<b>three</b></p>",
            ),
            (
                "<ul><li>a<li>b<ul><li>c</ul></ul>d",
                "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>d",
            ),
            (
                "<table><tr><td>a<td><p>b<tr><th>c</table>",
                "<table><tr><td>a</td><td><p>b</p></td></tr><tr><th>c</th></tr></table>",
            ),
            ("<div><table><td></div>x", "<div><table><td>x</td></table></div>"),
            ("<a href=x>a<a href=\"y&quot;\">b", "<a href=\"x\">a</a><a href=\"y&quot;\">b</a>"),
            ("</p></b>a &lt;b&gt; <br/><hr>", "a &lt;b&gt; <br><hr>"),
        ] {
            assert_eq!(balanced(html).unwrap(), expected, "{html}");
        }
    }

    #[test]
    fn what_is_no_content_is_left_out() {
        let html = "<!doctype html><html><head><title>t</title><script>'<p>'</script></head><body>a<!-- c --><svg><svg></svg><b></svg>\
             <img src=x>b<svg/>c<x-y>d<q\"r>e</select><select><option>f</select>";
        assert_eq!(balanced(html).unwrap(), "abcde");
    }

    #[test]
    fn attributes_take_no_stack_and_none_is_lost() {
        on_a_small_stack(|| {
            for page in pages() {
                assert_eq!(balanced(&page).unwrap(), "one <p class=\"c\">two</p>");
            }
        });
        let tag =
            |it: usize| format!("<i class=\"{it}&lt;\" x=\"\" id=\"\" id=\"b\"rel=\"c\">{it}</i>");
        let kept = |it: usize| format!("<i class=\"{it}&lt;\" id=\"\" rel=\"c\">{it}</i>");
        let page: String = (0..1_000).map(tag).collect();
        assert_eq!(balanced(&page).unwrap(), (0..1_000).map(kept).collect::<String>());
    }

    #[test]
    fn pages_beyond_the_bounds_have_none() {
        for (part, most) in [("<div>", MOST_DEPTH), ("<b>", MOST_FORMATS), ("<p>a", MOST_ELEMENTS)]
        {
            assert!(balanced(&part.repeat(most)).is_some(), "{part}");
            assert_eq!(balanced(&part.repeat(most + 1)), None, "{part}");
        }
        assert_eq!(balanced(&"a".repeat(MOST_BYTES + 1)), None);
        let name = "a".repeat(MOST_NAME_BYTES + 1);
        assert_eq!(balanced(&format!("<{name} id=x>b</{name}>")).unwrap(), "b");
    }
}
