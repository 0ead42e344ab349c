//! The lines of a page that are no part of its text, as a recipe's table of lines says.
//!
//! They are dropped before anything is made of the text, so fingerprints and signatures are made of the same
//! lines. A table of all pages drops its lines from every page. A table by host drops the lines of the page's
//! own host, and from a page without a host nothing.
//!
//! A page may be nothing but boilerplate of its host: no letter is left of it. Then it is taken whole. If it
//! were empty, it would never be compared; as it is, such pages of one host are near each other, and near
//! no page with content.

use crate::document::host;
use crate::features::counts::Counts;
use crate::features::host_lines::name_of;
use crate::features::normalise::Normalise;
use crate::fingerprint::Recipe;

/// Drops the boilerplate of pages. It has buffers, so each worker needs its own.
#[derive(Debug)]
pub struct Boilerplate {
    lines: Counts,
    by_host: bool,
    normalise: Normalise,
    line: String,
    rest: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest<'a> {
    /// What is left, or the whole text if nothing was to be left.
    pub text: &'a str,
    /// Whether the page is nothing but boilerplate of its host.
    pub is_whole: bool,
}

impl Recipe {
    /// What drops the boilerplate of pages, which [`Sketcher`](super::Sketcher) and [`Signer`](super::Signer) would keep; none
    /// if the recipe takes texts whole.
    pub fn boilerplate(&self) -> Option<Boilerplate> {
        let text = self.features().text()?;
        let lines = text.boilerplate.clone()?;
        let by_host = Some(&lines.head().of) == self.taking_lines_by_host().as_ref();
        let [line, rest] = [String::new(), String::new()];
        Some(Boilerplate { lines, by_host, normalise: text.normalise, line, rest })
    }
}

impl Boilerplate {
    pub fn is_by_host(&self) -> bool {
        self.by_host
    }

    pub fn drop_from<'a>(&'a mut self, id: &str, text: &'a str) -> Rest<'a> {
        let whole = Rest { text, is_whole: false };
        let host = match host(id).filter(|_| self.by_host) {
            // Most hosts have no boilerplate.
            Some(host) if self.lines.count(&name_of(&host, "")) == 0 => return whole,
            Some(host) => name_of(&host, ""),
            None if self.by_host => return whole,
            None => String::new(),
        };
        let Boilerplate { lines, normalise, line, rest, .. } = self;
        let mut name = host.clone();
        rest.clear();
        for raw in text.split_inclusive('\n') {
            normalise.apply(raw.trim_end_matches(['\n', '\r']), line);
            name.truncate(host.len());
            name.push_str(line);
            if line.is_empty() || lines.count(&name) == 0 {
                rest.push_str(raw);
            }
        }
        if self.by_host && !self.rest.contains(char::is_alphabetic) {
            return Rest { is_whole: self.rest.len() < text.len(), ..whole };
        }
        Rest { text: &self.rest, is_whole: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::counts::written;
    use crate::fingerprint::recipe::tests::plain_words;

    fn boilerplate(of: impl Fn(&Recipe) -> Option<String>, lines: &[&str]) -> Boilerplate {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines.counts");
        let recipe = plain_words();
        let lines: Vec<(&str, u64)> = lines.iter().map(|line| (*line, 9)).collect();
        written(&path, &of(&recipe).unwrap(), &lines);
        recipe.with_boilerplate(Counts::read(&path).unwrap()).unwrap().boilerplate().unwrap()
    }

    #[test]
    fn lines_of_a_table_are_dropped_from_every_page() {
        let mut cut = boilerplate(Recipe::taking_lines, &["all rights reserved"]);
        assert!(!cut.is_by_host());
        let text = "A page of words\r\n  All  RIGHTS reserved \r\n\nand its end";
        for id in ["", "http://a.example/"] {
            let rest = cut.drop_from(id, text);
            assert_eq!(rest.text, "A page of words\r\n\nand its end");
        }
        assert_eq!(cut.drop_from("", "All rights reserved"), Rest { text: "", is_whole: false });
    }

    #[test]
    fn lines_of_a_host_are_dropped_from_its_pages_alone() {
        let lines = ["a.example\t", "a.example\thome", "b.example\t", "b.example\tabout"];
        let mut cut = boilerplate(Recipe::taking_lines_by_host, &lines);
        assert!(cut.is_by_host());
        let text = "Home\nAbout\na page";
        let a = "http://a.example/1";
        for (id, text, left, is_whole) in [
            (a, text, "About\na page", false),
            ("http://B.example:80/2", text, "Home\na page", false),
            ("http://c.example/1", text, text, false),
            ("home", text, text, false),
            ("", text, text, false),
            // A page of nothing else is taken whole.
            (a, "Home", "Home", true),
            (a, "Home\n12:30\n---\n", "Home\n12:30\n---\n", true),
            (a, "", "", false),
            (a, "12:30", "12:30", false),
            (a, "Away", "Away", false),
        ] {
            assert_eq!(cut.drop_from(id, text), Rest { text: left, is_whole }, "{id} {text}");
        }
    }
}
