//! An output that is one file: an object, and the lists beside it in objects of their own.

use std::fs;
use std::path::Path;

use crate::error::{At, Result};
use crate::output::{QUARANTINE, REPEATED, beside};
use crate::storage::{ObjectFile, Objects, Tag};

use super::files::digest;
use super::pull::{digest_of, fetch_object};
use super::tree::was_faster;

/// What the names of the lists and of the file itself add to that of the file. The file comes last: whoever sees it sees its
/// lists.
const SUFFIXES: [&str; 3] = [QUARANTINE, REPEATED, ""];

/// The objects of an output that is one file.
pub(super) struct Single(Vec<Part>);

/// One of the objects, which need not be there.
struct Part {
    suffix: &'static str,
    objects: Objects,
    /// The tag that the object had when it was looked at, or written, last; none if there was none.
    tag: Option<Tag>,
    /// The digest of the file that stands for it here; none if there is no file or nobody has looked.
    digest: Option<String>,
}

impl Single {
    /// Looks at what is there.
    pub(super) fn at(objects: &Objects) -> Result<Single> {
        Single::with(objects, |_, _| Ok(None))
    }

    /// Makes the file `place` here, and its lists, equal to what is there.
    pub(super) fn pull(objects: &Objects, place: &Path) -> Result<Single> {
        Single::with(objects, |suffix, found| {
            let path = beside(place, suffix);
            match found {
                Some(object) => {
                    tracing::info!("fetching {} ({} bytes)", object.address(), object.bytes());
                    fetch_object(object, &path).map(Some)
                }
                None if path.exists() => fs::remove_file(&path).at(&path).map(|()| None),
                None => Ok(None),
            }
        })
    }

    /// Looks at what is there. `look` is given each object that is found, and may return its digest.
    fn with(
        objects: &Objects,
        look: impl Fn(&str, Option<&ObjectFile>) -> Result<Option<String>>,
    ) -> Result<Single> {
        let part = |suffix| {
            let objects = objects.beside(suffix);
            let found = objects.find("")?;
            let file = found.as_ref().map(|object| objects.file(object)).transpose()?;
            let digest = look(suffix, file.as_ref())?;
            Ok(Part { suffix, objects, tag: found.map(|object| object.tag), digest })
        };
        SUFFIXES.into_iter().map(part).collect::<Result<_>>().map(Single)
    }

    /// Writes the file `place` and its lists to where they belong, on the condition that what is there is still what was seen
    /// last. Returns whether anything had changed.
    pub(super) fn push(&mut self, place: &Path) -> Result<bool> {
        let mut has_changed = false;
        for part in &mut self.0 {
            has_changed |= part.push(&beside(place, part.suffix))?;
        }
        for part in &mut self.0 {
            part.delete_unless(&beside(place, part.suffix));
        }
        Ok(has_changed)
    }

    /// The tags of the objects, on one line.
    pub(super) fn tags(&self) -> String {
        let name = |part: &Part| part.tag.as_ref().and_then(Tag::name).unwrap_or("-").to_owned();
        self.0.iter().map(name).collect::<Vec<_>>().join(" ")
    }
}

impl Part {
    fn push(&mut self, path: &Path) -> Result<bool> {
        if !path.is_file() {
            return Ok(false);
        }
        let now = digest(path)?;
        if self.digest.as_ref() == Some(&now) {
            return Ok(false);
        }
        let sent = self.objects.upload_if("", path, self.tag.as_ref());
        self.tag = Some(match sent {
            Ok(Some(tag)) => tag,
            failed => self.after(failed, &now)?,
        });
        self.digest = Some(now);
        Ok(true)
    }

    /// The tag of the object, if it has the bytes that were sent all the same: the answer was lost, and the client has sent them
    /// twice.
    fn after(&self, failed: Result<Option<Tag>>, sent: &str) -> Result<Tag> {
        let found = self.objects.find("")?;
        if found.as_ref().map(|it| &it.tag) == self.tag.as_ref() {
            return failed?.ok_or_else(|| was_faster(&self.objects.at("")));
        }
        match found {
            Some(object) if digest_of(&self.objects.file(&object)?)? == sent => Ok(object.tag),
            _ => Err(was_faster(&self.objects.at(""))),
        }
    }

    /// Deletes a list that the output no longer has. Nobody misses it, so a failure is no error.
    fn delete_unless(&mut self, path: &Path) {
        if path.exists() || self.tag.is_none() || self.suffix.is_empty() {
            return;
        }
        match self.objects.delete("") {
            Ok(()) => self.tag = None,
            Err(error) => tracing::warn!("a list of an earlier output is still there: {error}"),
        }
    }
}
