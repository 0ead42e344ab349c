//! The text of pages, held against the tokenizer of `html5gum`. What elements mean is in `cases.txt`.

use std::convert::Infallible;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use proptest::prelude::*;

use super::{Gap, Tag, page};

fn text(html: &str) -> String {
    page(html).text
}

#[test]
fn depth_costs_nothing() {
    for tag in ["div", "b", "table", "template", "svg", "select", "pre"] {
        let html = format!("<{tag}>").repeat(300_000) + "x";
        assert!(text(&html).len() <= 1, "{tag}");
    }
}

#[test]
fn attributes_cost_nothing() {
    for form in ["a=\"1\" ", "a=\"1\"", "a = \"&lt;\"\n", "a='1' ", "a=1 ", "a ", "a/", "=\"1\" "] {
        let page = format!("one <p {} class=\"c\">two", form.repeat(50_000));
        assert_eq!(text(&page), "one\ntwo", "{form}");
        assert_eq!(text(&page.replace("<p", "</p")), "one\ntwo", "{form}");
        assert_eq!(text(&page.replace("<p", "<script")), "one", "{form}");
    }
}

/// By the tokenizer of `html5gum`, with white space collapsed byte by byte.
fn text_by_definition(html: &str) -> String {
    let (mut text, mut gap) = (Vec::new(), Gap::Nothing);
    let (mut templates, mut preformatted, mut is_hidden) = (0_usize, 0_usize, false);
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| {
        let (name, is_end) = match event {
            CallbackEvent::OpenStartTag { name } => (name, false),
            CallbackEvent::EndTag { name } => (name, true),
            CallbackEvent::String { value } if !is_hidden && templates == 0 => {
                for &byte in value {
                    match byte {
                        b'\n' if preformatted > 0 => gap = Gap::Line,
                        b' ' | b'\t' | b'\n' | b'\r' | 0x0c => gap = gap.max(Gap::Space),
                        _ => {
                            match std::mem::take(&mut gap) {
                                _ if text.is_empty() => {}
                                Gap::Nothing => {}
                                Gap::Space => text.push(b' '),
                                Gap::Line => text.push(b'\n'),
                            }
                            text.push(byte);
                        }
                    }
                }
                return None::<Infallible>;
            }
            _ => return None,
        };
        let tag = Tag::of(str::from_utf8(name).unwrap());
        if templates == 0 {
            gap = gap.max(tag.gap());
        }
        is_hidden = !is_end && matches!(tag, Tag::Script | Tag::Hidden);
        let opened = |of: Tag, open: usize| match (tag == of, is_end) {
            (false, _) => open,
            (true, false) => open + 1,
            (true, true) => open.saturating_sub(1),
        };
        templates = opened(Tag::Template, templates);
        preformatted = opened(Tag::Preformatted, preformatted);
        None
    });
    emitter.naively_switch_states(true);
    let Ok(()) = Tokenizer::new_with_emitter(html, emitter).finish();
    String::from_utf8(text).unwrap()
}

/// Parts of pages, with `~` between them.
const PARTS: &str = "a~b c~  ~ ~\n~\r~\r\n~\t~\u{c}~\0~页~\u{a0}~<~>~/~</~/>~<!~<!-~<!--~-~--~-->~--!>~->~\
    !~=~\"~'~<?~?>~[CDATA[~]]>~&~&amp;~&amp~&nbsp;~&notit;~&#13;~&#10;~&#x41~&#~&#x~;~\
    &#0;~&#99999999;~<p~<p>~</p>~<PRE>~</pre>~<b id=~<td>~<script~<script>~</script>~\
    </Script ~<style>~</style>~</style~<title>~</title>~<xmp>~</xmp>~<plaintext>~\
    <template>~</template>~<!doctype html~public \"~ x='~ y=\"~<listing>~<textarea>";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn any_page_has_the_text_of_the_definition(
        parts in prop::collection::vec(prop::sample::select(PARTS.split('~').collect::<Vec<_>>()), 0..24),
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
