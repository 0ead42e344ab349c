//! Which text of a page of HTML is taken.

use std::fmt;
use std::str::FromStr;

use super::html;
#[cfg(feature = "main-text")]
use super::main_text;
use crate::error::{Error, Kind, Result};

/// Which text of a page of HTML is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageText {
    /// All that a reader sees.
    #[default]
    All,
    /// The main content, without navigation and the like; all if none is found. Needs the feature `main-text`.
    Main,
}

/// A text that was taken.
pub(super) struct TakenText {
    pub(super) text: String,
    /// Whether all text was taken for want of a main content.
    pub(super) is_fallback: bool,
}

impl PageText {
    /// Both, in the order of the help.
    pub const BOTH: [PageText; 2] = [PageText::All, PageText::Main];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            PageText::All => "all",
            PageText::Main => "main",
        }
    }

    /// The text of a page.
    pub(super) fn of(self, html: &str) -> TakenText {
        #[cfg(feature = "main-text")]
        if self == PageText::Main
            && let Some(text) = main_text::text(html)
        {
            return TakenText { text, is_fallback: false };
        }
        TakenText { text: html::text(html), is_fallback: self == PageText::Main }
    }
}

impl FromStr for PageText {
    type Err = Error;

    fn from_str(name: &str) -> Result<PageText> {
        let named = PageText::BOTH.into_iter().find(|text| text.name() == name);
        let text = named.ok_or_else(|| {
            Error::new(Kind::Usage, "no such text of a page").expected("all or main").found(name)
        })?;
        if text == PageText::Main && cfg!(not(feature = "main-text")) {
            return Err(Error::new(Kind::Usage, "this dupsieve was built without main content")
                .help("build it with the feature `main-text`, or take all text"));
        }
        Ok(text)
    }
}

impl fmt::Display for PageText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
