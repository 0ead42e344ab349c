//! The handler that gathers the lines of pages for their hosts.

use std::collections::HashSet;

use super::read::Read;
use super::reading::Handler;
use crate::document::{Content, Document, Position, host};
use crate::error::{Error, Kind, Result};
use crate::features::counts::is_counted;
use crate::features::host_lines::{HostPart, HostRecord, PageLines, name_of};
use crate::features::normalise::Normalise;
use crate::fingerprint::Recipe;

/// Gathers the pages of a batch by host, and their lines, each once.
pub(super) struct HostCounting {
    normalise: Normalise,
    /// The names of the lines, as a table knows them.
    lines: HashSet<String>,
    without_host: u64,
}

impl HostCounting {
    pub(super) fn new(recipe: &Recipe) -> Result<HostCounting> {
        let normalise = *recipe.normalise().ok_or_else(no_text)?;
        Ok(HostCounting { normalise, lines: HashSet::new(), without_host: 0 })
    }
}

impl Handler for HostCounting {
    type Made = HostRecord;

    fn take(&mut self, _: Position, document: Document<'_>) -> Result<Option<HostRecord>> {
        let Content::Text(text) = &document.content else { return Err(no_text()) };
        let Some(host) = host(&document.id) else {
            self.without_host += 1;
            return Ok(None);
        };
        let page = PageLines::of(text, self.normalise, |line| {
            let name = name_of(&host, line);
            if is_counted(&name) {
                self.lines.insert(name);
            }
        });
        Ok(Some(HostRecord::Of(host.into_owned(), HostPart::Page(page))))
    }

    fn end_batch(&mut self, _read: &mut Read, made: &mut dyn FnMut(HostRecord)) {
        for name in std::mem::take(&mut self.lines) {
            let (host, line) = name.split_once('\t').expect("a name has a host and a line");
            made(HostRecord::Of(host.to_owned(), HostPart::Line(line.to_owned())));
        }
        made(HostRecord::WithoutHost(std::mem::take(&mut self.without_host)));
    }
}

fn no_text() -> Error {
    Error::new(Kind::Usage, "only lines of text can be counted")
}
