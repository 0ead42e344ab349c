//! Pairs of pages side by side, drawn for people who judge whether a pair is one page.

use serde::Serialize;

use super::html;

/// A page in HTML with pairs of pages, whose differences are marked.
#[derive(Clone, Debug, Serialize)]
pub struct PairsPage {
    pub title: String,
    pub groups: Vec<PairGroup>,
}

#[derive(Clone, Debug, Serialize)]
pub struct PairGroup {
    pub name: String,
    pub seen: u64,
    pub pairs: Vec<ShownPair>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct ShownPair {
    /// The id of each page: of the new one, and of the one that it is near to.
    pub ids: [String; 2],
    /// Where the second page is from: a day of the store, or `batch`.
    pub against: String,
    pub figures: Vec<(&'static str, String)>,
    /// What has to be said of the comparison, such as that a text is cut.
    pub note: Option<String>,
    pub passages: Vec<Vec<Run>>,
    /// What stands before a passage that both pages have, the passage, and what stands behind it.
    pub passage: Option<[String; 3]>,
}

/// Words that both texts have, or those that each has in their place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Run {
    pub sides: [String; 2],
    pub is_changed: bool,
}

impl PairsPage {
    pub fn to_html(&self) -> String {
        #[derive(Serialize)]
        struct Context<'a> {
            version: &'a str,
            #[serde(flatten)]
            page: &'a PairsPage,
        }
        html::page("pairs.html", Context { version: env!("CARGO_PKG_VERSION"), page: self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_ids_are_shown_as_text() {
        let run =
            |sides: [&str; 2], is_changed| Run { sides: sides.map(str::to_owned), is_changed };
        let passage = vec![run(["a <b>", "a <b>"], false), run(["one", ""], true)];
        let pair = ShownPair {
            ids: ["<script>".to_owned(), "b".to_owned()],
            figures: vec![("containment", "0.9500".to_owned())],
            passages: vec![passage],
            ..ShownPair::default()
        };
        let group = PairGroup { name: "distance 2".to_owned(), seen: 1, pairs: vec![pair] };
        let page = PairsPage { title: "out".to_owned(), groups: vec![group] }.to_html();
        assert!(page.contains("&lt;script&gt;") && !page.contains("<script>"), "{page}");
        assert!(page.contains("a &lt;b&gt;<del>one</del>") && page.contains("0.9500"), "{page}");
        assert!(
            PairsPage { title: String::new(), groups: Vec::new() }.to_html().contains("no pair")
        );
    }
}
