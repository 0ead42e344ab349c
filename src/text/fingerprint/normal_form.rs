//! The normal form of a page, which its fingerprint and its signature often have in common. It is made once.

use crate::features::normalise::Normalise;

/// A text in normal form.
#[derive(Clone, Copy, Debug)]
pub struct NormalForm<'t> {
    pub(super) by: Normalise,
    pub(super) text: &'t str,
}

/// Makes normal forms of one page, unless the one that is asked for exists.
#[derive(Debug)]
pub(super) struct Normaliser<'a> {
    /// The page in normal form, if it exists.
    pub(super) known: Option<NormalForm<'a>>,
    /// Where other normal forms go.
    pub(super) buffer: &'a mut String,
}

impl Normaliser<'_> {
    /// The normal form of `text`, which is the whole page.
    pub(super) fn page(&mut self, by: &Normalise, text: &str) -> &str {
        match self.known {
            Some(known) if known.by == *by => known.text,
            _ => self.part(by, text),
        }
    }

    /// The normal form of `text`, a part of the page.
    pub(super) fn part(&mut self, by: &Normalise, text: &str) -> &str {
        by.apply(text, self.buffer);
        self.buffer
    }
}
