//! The normal form of a page, which its fingerprint and its signature often have in common. It is made once.

use crate::features::normalise::Normalise;

#[derive(Clone, Copy, Debug)]
pub struct NormalForm<'t> {
    pub(super) by: Normalise,
    pub(super) text: &'t str,
}

/// Makes normal forms of one page, unless the one that is asked for exists.
#[derive(Debug)]
pub(super) struct Normaliser<'a> {
    pub(super) known: Option<NormalForm<'a>>,
    pub(super) buffer: &'a mut String,
}

impl Normaliser<'_> {
    pub(super) fn page(&mut self, by: &Normalise, text: &str) -> &str {
        match self.known {
            Some(known) if known.by == *by => known.text,
            _ => self.part(by, text),
        }
    }

    pub(super) fn part(&mut self, by: &Normalise, text: &str) -> &str {
        by.apply(text, self.buffer);
        self.buffer
    }
}
