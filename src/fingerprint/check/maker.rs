//! What makes the signatures of one check: a file for each beside this one.

use std::fmt;

use crate::features::normalise::{Case, Digits, Markup, Normalise, WhiteSpace};
use crate::fingerprint::normal_form::Normaliser;
use crate::fingerprint::page_time::PageClock;

/// Makes signatures of texts.
pub(super) trait Maker: fmt::Debug + Send + Sync {
    /// Appends the signature of `text`; all zeros if it has no feature. Each feature is a step of `clock`,
    /// and `normal` makes normal forms.
    fn sign(
        &mut self,
        text: &str,
        clock: &mut PageClock,
        normal: &mut Normaliser<'_>,
        signature: &mut Vec<u8>,
    );
}

/// How texts are normalised before runs of characters are taken.
pub(crate) const NORMALISE: Normalise = Normalise {
    nfkc: true,
    case: Case::Fold,
    digits: Digits::Keep,
    white_space: WhiteSpace::Collapse,
    markup: Markup::Keep,
};

/// How texts are normalised before runs of words are taken. Numbers change where the page does not, and the
/// addresses in markup are no text.
pub(crate) const NORMALISE_WORDS: Normalise =
    Normalise { digits: Digits::Drop, markup: Markup::Drop, ..NORMALISE };
