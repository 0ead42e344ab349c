//! What makes the signatures of one check: a file for each beside this one.

use std::fmt;

use crate::features::normalise::{Case, Digits, Markup, Normalise, WhiteSpace};
use crate::fingerprint::page_time::PageClock;

pub(super) trait Maker: fmt::Debug + Send + Sync {
    /// Appends the signature of `text`; all zeros if the text has no feature.
    fn sign(&mut self, text: &str, signing: Signing<'_>);
}

pub(super) struct Signing<'a> {
    /// The time of the page: each feature is a step.
    pub(super) clock: &'a mut PageClock,
    pub(super) buffer: &'a mut String,
    pub(super) signature: &'a mut Vec<u8>,
    pub(super) anchors: &'a mut Vec<u8>,
}

/// How texts are normalised before runs of characters are taken.
pub const NORMALISE: Normalise = Normalise {
    nfkc: true,
    case: Case::Fold,
    digits: Digits::Keep,
    white_space: WhiteSpace::Collapse,
    markup: Markup::Keep,
};

/// How texts are normalised before runs of words are taken. Numbers change where the page does not, and the
/// addresses in markup are no text.
pub const NORMALISE_WORDS: Normalise =
    Normalise { digits: Digits::Drop, markup: Markup::Drop, ..NORMALISE };
