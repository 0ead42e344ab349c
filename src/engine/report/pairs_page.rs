//! Pairs of pages side by side, drawn for people who judge whether a pair is one page.

use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;
use serde_json::Value;

use super::html;

/// Words that both texts have, or those that each has in their place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Run {
    pub sides: [String; 2],
    pub is_changed: bool,
}

/// A page in HTML with pairs of pages, one file that needs no network. `title` says what the pairs are taken from. A group has a name, how many
/// pairs were seen of it, and those that are shown, as `sample` finds them.
pub fn pairs_page(title: &str, groups: &[Value]) -> String {
    let version = env!("CARGO_PKG_VERSION");
    html::page("pairs.html", context! { version, title, groups => Serde(groups) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_and_ids_are_shown_as_text() {
        let run =
            |sides: [&str; 2], is_changed| Run { sides: sides.map(str::to_owned), is_changed };
        let sides = vec![run(["a <b>", "a <b>"], false), run(["one", ""], true)];
        let existing = json!({ "id": "b", "against": "batch", "distance": 2 });
        let pair = json!({
            "new": "<script>", "existing": existing, "containment": 0.95, "jaccard": 0.9, "sides": [sides],
        });
        let group = json!({ "name": "distance 2", "seen": 1, "shown": [pair] });
        let page = pairs_page("out", &[group]);
        assert!(page.contains("&lt;script&gt;") && !page.contains("<script>"), "{page}");
        assert!(page.contains("a &lt;b&gt;<del>one</del>") && page.contains("0.9500"), "{page}");
        assert!(pairs_page("", &[]).contains("no pair"));
    }
}
