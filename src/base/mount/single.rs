//! An output that is one file: an object, and the lists beside it in objects of their own.
//!
//! A writer puts the lists first and the file last. The writer whose conditional PUT of the file succeeds wins. A writer that
//! loses deletes the lists that this writer put. The winner looks at all lists once more, because a writer that died may
//! have left lists.
//!
//! ```text
//! writer A                    object store                     writer B
//! PUT a.seg.repeated.tsv ---> a.seg.repeated.tsv (A)
//!                             a.seg.repeated.tsv (B)     <---- PUT a.seg.repeated.tsv
//! PUT a.seg, if absent -----> a.seg (A)
//!                             412 precondition failed    <---- PUT a.seg, if absent
//! look at the lists again --> a.seg.repeated.tsv (A)
//!                             its own list, if still there <-- DELETE
//! ```

use std::fs;
use std::path::Path;

use crate::error::{At, Kind, Result};
use crate::object_storage::{ObjectFile, Objects, Tag};
use crate::output::{QUARANTINE, REPEATED, Sum, beside};

use super::pull::{digest_of, fetch_object};
use super::tree::was_faster;

/// What the names of the lists and of the file itself add to that of the file. The file comes last: whoever sees it sees its
/// lists.
const SUFFIXES: [&str; 3] = [QUARANTINE, REPEATED, ""];

pub(super) struct Single(Vec<Part>);

struct Part {
    suffix: &'static str,
    objects: Objects,
    /// The tag that the object had when it was looked at, or written, last; none if there was none.
    tag: Option<Tag>,
    /// The digest of the file that stands for it here; none if there is no file or nobody has looked.
    digest: Option<String>,
    is_put: bool,
}

impl Single {
    pub(super) fn at(objects: &Objects) -> Result<Single> {
        Single::with(objects, |_, _| Ok(None))
    }

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
            let tag = found.map(|object| object.tag);
            Ok(Part { suffix, objects, tag, digest, is_put: false })
        };
        SUFFIXES.into_iter().map(part).collect::<Result<_>>().map(Single)
    }

    /// Writes the file `place` and its lists to where they belong, on the condition that what is there is still what was seen
    /// last. Returns whether anything had changed.
    pub(super) fn push(&mut self, place: &Path) -> Result<bool> {
        let mut has_changed = false;
        let pushed = self.0.iter_mut().try_for_each(|part| -> Result<()> {
            has_changed |= part.push(&beside(place, part.suffix))?;
            Ok(())
        });
        let (lists, file) = self.0.split_at_mut(SUFFIXES.len() - 1);
        let has_won = file[0].is_put;
        for list in lists {
            let settled = match &pushed {
                Ok(()) => list.settle(&beside(place, list.suffix), has_won),
                Err(lost) if lost.kind() == Kind::Temporary => list.take_back(),
                // Nobody knows who has won. The next run does.
                Err(_) => Ok(()),
            };
            if let Err(error) = settled {
                tracing::warn!("a list beside the output may be that of another: {error}");
            }
        }
        pushed.map(|()| has_changed)
    }

    pub(super) fn tags(&self) -> String {
        let name = |part: &Part| part.tag.as_ref().and_then(Tag::name).unwrap_or("-").to_owned();
        self.0.iter().map(name).collect::<Vec<_>>().join(" ")
    }
}

impl Part {
    fn push(&mut self, path: &Path) -> Result<bool> {
        self.is_put = false;
        if !path.is_file() && !self.suffix.is_empty() {
            return Ok(false);
        }
        let now = Sum::of(path)?.xxh3;
        if self.digest.as_ref() == Some(&now) {
            return Ok(false);
        }
        let sent = self.objects.upload_if("", path, self.tag.as_ref());
        self.is_put = matches!(sent, Ok(Some(_)));
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

    /// Makes the list that of the output: puts it once more, or deletes it if the output has none. A run that has not
    /// won does so only with the list that it knows: others may belong to who is about to win.
    fn settle(&mut self, path: &Path, has_won: bool) -> Result<()> {
        let found = self.tag_now()?;
        let is_known = found == self.tag;
        match path.is_file() {
            true if !is_known && has_won => {
                self.tag = self.objects.upload_if("", path, found.as_ref())?;
            }
            false if found.is_some() && (is_known || has_won) => {
                self.objects.delete("")?;
                self.tag = None;
            }
            _ => {}
        }
        Ok(())
    }

    fn take_back(&mut self) -> Result<()> {
        if self.is_put && self.tag_now()? == self.tag {
            self.objects.delete("")?;
            self.tag = None;
        }
        Ok(())
    }

    fn tag_now(&self) -> Result<Option<Tag>> {
        Ok(self.objects.find("")?.map(|object| object.tag))
    }
}
