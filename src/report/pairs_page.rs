//! Pairs of pages side by side, drawn for people who judge whether a pair is one page.

use serde::Serialize;

use super::html;

/// A page in HTML with pairs of pages, whose differences are marked.
#[derive(Clone, Debug, Serialize)]
pub struct PairsPage {
    /// What the pairs are taken from.
    pub title: String,
    /// The pairs, in groups such as those of one distance.
    pub groups: Vec<PairGroup>,
}

/// Pairs that have something in common.
#[derive(Clone, Debug, Serialize)]
pub struct PairGroup {
    /// What the pairs have in common.
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
    pub passages: Vec<Passage>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Passage {
    /// The pieces of each text, in order.
    pub sides: [Vec<Piece>; 2],
}

/// A part of a text that the other text has, or has not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Piece {
    pub text: String,
    /// Whether the other text has something else in its place.
    pub is_changed: bool,
}

impl PairsPage {
    /// The page, one file that needs no network.
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
        let piece = |text: &str, is_changed| Piece { text: text.to_owned(), is_changed };
        let passage = Passage {
            sides: [vec![piece("a <b>", false), piece("one", true)], vec![piece("a <b>", false)]],
        };
        let pair = ShownPair {
            ids: ["<script>".to_owned(), "b".to_owned()],
            figures: vec![("held", "0.9500".to_owned())],
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
