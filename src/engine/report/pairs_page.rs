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
