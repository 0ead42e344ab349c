//! The main content of a page of HTML, by Readability.
//!
//! Readability builds the page as a tree and goes over it many times, which takes time quadratic in its depth. So it gets a page
//! that was balanced within bounds (`balanced.rs`), and what it finds becomes text as any page does (`html.rs`).

use dom_smoothie::{Config, Readability};

use super::{balanced, html};
use crate::foreign;

/// The text of the main content; none if none is found, or if the page is too deep or too large to look for it.
pub(super) fn text(html: &str) -> Option<String> {
    let page = balanced::balanced(html)?;
    let config = Config { disable_json_ld: true, ..Config::default() };
    let found = foreign::call(|| Readability::new(page, None, Some(config))?.parse());
    let text = html::text(&found.ok()?.ok()?.content);
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::text;

    /// An article between a navigation and a footer.
    fn page(article: &str) -> String {
        let links: String =
            (0..30).map(|at| format!("<li><a href=/{at}>Section {at}</a>")).collect();
        format!(
            "<title>T</title><div class=nav><ul>{links}</ul></div><div class=content><h1>A bridge opens</h1>{article}</div>\
             <div class=footer><a href=/imprint>Imprint</a> <a href=/privacy>Privacy</a></div>"
        )
    }

    #[test]
    fn the_article_is_taken_without_what_stands_around_it() {
        let paragraph = "The new footbridge over the river, sixty metres of steel, was opened today, and hundreds crossed it.";
        let article = format!("<p>{paragraph}<p>{paragraph} &lt;b>, it said.<p>{paragraph}");
        let found = text(&page(&article)).unwrap();
        assert!(found.contains(paragraph) && found.contains("<b>, it said."), "{found}");
        assert!(!found.contains("Section 7") && !found.contains("Imprint"), "{found}");
        assert_eq!(found.lines().filter(|line| line.starts_with(paragraph)).count(), 3, "{found}");
    }

    #[test]
    fn a_page_without_content_has_none() {
        for html in ["", "<p>", "<ul><li><a href=a>b</a></ul>", "<script>x</script>", "plain"] {
            assert_eq!(text(html).filter(|text| text.len() > 10), None, "{html}");
        }
    }

    /// None of these may take long, whatever it gives.
    #[test]
    fn hostile_pages_take_bounded_time() {
        let words = "words of a text, and more of them, ";
        let many = |part: &str| part.repeat(700_000 / part.len());
        for html in [
            many("<div>"),
            many("<b id=x>"),
            many("<p><b id=x>"),
            many("<table><tr><td>"),
            many("</p>"),
            many("<br>"),
            many(&format!("<p>{words}")),
            many(&format!("<div>{words}</div>")),
            format!("{}{}", "<div>".repeat(90), many(&format!("<p>{words}"))),
            format!("{}{}", "<div><b>".repeat(15), many(&format!("<p>{words}</p>"))),
            many("<table><td>a<td>b</table>"),
            many("<a href=x>y</a> "),
            many("<x-y z='"),
            many(words),
            many("<svg><title><b>"),
            many("<select><option>"),
            many("&lt;"),
        ] {
            let start = Instant::now();
            let _ = text(&page(&html));
            let took = start.elapsed().as_secs();
            assert!(took < 30, "{took} s: {:.60}", html);
        }
    }
}
