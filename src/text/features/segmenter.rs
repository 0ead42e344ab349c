//! The words of scripts without spaces, as the dictionaries of ICU have them.
//!
//! Their data is in the crate [`icu_segmenter`](https://docs.rs/icu_segmenter): Japanese, Thai, Lao, Burmese and Khmer. Its dictionaries
//! are taken and not its neural models, which add numbers of floating point. It needs the feature `segmenter`.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Segmenter {
    Icu,
}

impl Segmenter {
    pub(crate) const IS_BUILT: bool = cfg!(feature = "segmenter");

    /// The release whose data is compiled in, and the start of the SHA-256 of the package with that data. Fingerprints depend on it.
    pub fn version(self) -> &'static str {
        match self {
            Segmenter::Icu => "icu_segmenter 2.4.0 913a7d294ad05647",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cutter(
    #[cfg(feature = "segmenter")] icu_segmenter::WordSegmenterBorrowed<'static>,
);

#[cfg(feature = "segmenter")]
impl Cutter {
    pub(crate) fn new(segmenter: Segmenter) -> Cutter {
        let Segmenter::Icu = segmenter;
        Cutter(icu_segmenter::WordSegmenter::new_dictionary(Default::default()))
    }

    pub(super) fn each<'t>(self, text: &'t str, mut word: impl FnMut(&'t str)) {
        let mut start = 0;
        for (end, sort) in self.0.segment_str(text).iter_with_word_type() {
            if sort.is_word_like() {
                word(&text[start..end]);
            }
            start = end;
        }
    }
}

/// A build without segmenters has no recipe that asks for one.
#[cfg(not(feature = "segmenter"))]
impl Cutter {
    pub(crate) fn new(segmenter: Segmenter) -> Cutter {
        unreachable!("the recipe was refused: {segmenter:?} is not built")
    }

    pub(super) fn each<'t>(self, _: &'t str, _: impl FnMut(&'t str)) {}
}
