//! What is below an address: all objects, or only the folders of one level. A server may be broken: every listing has an end.

use futures_util::StreamExt;
use object_store::Error as Cause;
use object_store::list::PaginatedListOptions;
use object_store::path::Path as Key;

use super::connect::runtime;
use super::failure::failure;
use super::objects::{Object, Objects};
use super::reader::ObjectFile;
use crate::error::{Error, Kind, Result};
use crate::parallel::in_parallel;
use crate::progress::{self, Activity};

const MOST_OBJECTS: usize = 4_000_000;

/// The most answers that tell the folders of one level. An answer tells of a thousand names of objects as a rule.
const MOST_ANSWERS: usize = 100_000;

const AT_ONCE: usize = 16;

impl Objects {
    /// The names of the folders at the address: what of the names of the objects below it comes before a slash.
    pub fn folders(&self) -> Result<Vec<String>> {
        let prefix = self.key("")?;
        let (mut folders, mut tokens) = (Vec::new(), Vec::new());
        loop {
            let (names, next) = self.folders_after(&prefix, tokens.last())?;
            folders.extend(names);
            let Some(token) = next else { break };
            if milestone(&tokens) == Some(&token) {
                return Err(self.repeats(&format_args!("page {token:?}")));
            }
            tokens.push(token);
            if folders.len() > MOST_OBJECTS {
                return Err(self.too_many("folders"));
            }
            if tokens.len() == MOST_ANSWERS {
                return Err(Error::new(Kind::Io, "the listing does not end")
                    .at(self.address.to_string())
                    .expected(format_args!("at most {MOST_ANSWERS} answers for one level"))
                    .help("give a pattern whose first folders have no *, ? or ["));
            }
        }
        folders.sort_unstable();
        folders.dedup();
        Ok(folders)
    }

    /// The names of some folders at the address, and the token to ask for the next ones with. A server that only reads files
    /// lists none.
    fn folders_after(
        &self,
        prefix: &Key,
        token: Option<&String>,
    ) -> Result<(Vec<String>, Option<String>)> {
        let Some(pages) = &self.pages else { return Ok((Vec::new(), None)) };
        let options = PaginatedListOptions {
            delimiter: Some("/".into()),
            page_token: token.cloned(),
            ..PaginatedListOptions::default()
        };
        let start = Some(format!("{prefix}/")).filter(|_| !prefix.as_ref().is_empty());
        let page = runtime()?.block_on(pages.list_paginated(start.as_deref(), options));
        progress::tick(Activity::Reading);
        let page = page.map_err(|cause| failure(&cause, &self.address))?;
        let names = page.result.common_prefixes.iter().filter_map(|it| below(it, prefix));
        // S3 may say that there is no next page by an empty token.
        Ok((names.collect(), page.page_token.filter(|token| !token.is_empty())))
    }

    pub fn list(&self) -> Result<Vec<Object>> {
        let prefix = self.key("")?;
        let failed = |cause: Cause| failure(&cause, &self.address);
        let mut listing = self.store.list(Some(&prefix));
        let mut objects = Vec::new();
        while let Some(meta) = runtime()?.block_on(listing.next()) {
            let meta = meta.map_err(failed)?;
            progress::tick(Activity::Reading);
            if objects.len() == MOST_OBJECTS {
                return Err(self.too_many("objects"));
            }
            let Some(name) = below(&meta.location, &prefix) else { continue };
            let object = Object::of(&meta, name);
            if milestone(&objects) == Some(&object) {
                return Err(self.repeats(&format_args!("{:?}", object.name)));
            }
            objects.push(object);
        }
        objects.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        objects.dedup_by(|one, other| one.name == other.name);
        Ok(objects)
    }

    pub fn all(&self) -> Result<Vec<(String, ObjectFile)>> {
        let listed = self.list()?;
        let opened = in_parallel(AT_ONCE, &listed, |object| {
            // `name/` without bytes stands for a folder. The listing drops its slash; whoever asks for `name` finds nothing.
            match object.bytes > 0 || self.find(&object.name)?.is_some() {
                true => Ok(Some((object.name.clone(), self.file(object)?))),
                false => Ok(None),
            }
        });
        opened.into_iter().filter_map(Result::transpose).collect()
    }

    fn too_many(&self, what: &str) -> Error {
        Error::new(Kind::Usage, format!("there are too many {what} below this address"))
            .at(self.address.to_string())
            .expected(format_args!("at most {MOST_OBJECTS}"))
            .help("give a longer address")
    }

    fn repeats(&self, what: &std::fmt::Arguments<'_>) -> Error {
        Error::new(Kind::Io, "the listing repeats itself")
            .at(self.address.to_string())
            .found(format_args!("{what} again"))
            .help("try again later; if it happens again, the server is broken")
    }
}

/// The item that a listing in a circle comes back to, however long the circle is.
fn milestone<T>(items: &[T]) -> Option<&T> {
    items.get(items.len().checked_ilog2().map_or(0, |log| 1 << log) / 2)
}

fn below(key: &Key, prefix: &Key) -> Option<String> {
    let rest = key.as_ref().strip_prefix(prefix.as_ref())?;
    let rest = if prefix.as_ref().is_empty() { rest } else { rest.strip_prefix('/')? };
    (!rest.is_empty()).then(|| rest.to_owned())
}
