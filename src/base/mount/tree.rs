//! A tree of files in an object store, which is there as a whole or not at all.
//!
//! ```text
//! s3://bucket/out/2026-11-20/_SUCCESS                  the list of the files: the tree is what it names
//! s3://bucket/out/2026-11-20/dupsieve-3fa9.../batch.seg         the bytes, each attempt below a name of its own
//! s3://bucket/out/2026-11-20/dupsieve-3fa9.../dedup/keep.txt
//! ```
//!
//! An attempt writes its files and then puts the list, on the condition that the list is still the one it began with. So of
//! two attempts one wins, and no reader sees files of both. The answer to that put may be lost, or the client may
//! have sent it twice; therefore the list names its attempt, and whoever fails to put it looks whose list is there.

use std::collections::HashSet;
use std::thread;
use std::time::Duration;

use crate::error::{Error, Kind, Result};
use crate::object_storage::{Address, Objects, Tag};

use super::head::{ATTEMPT, DRAFT, HEAD, Head, MAX_HEAD_BYTES};

/// How often a list is put again while the old one is there and the server refuses.
const TRIES: u32 = 8;

pub(super) struct Tree {
    pub(super) objects: Objects,
}

#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) head: Head,
    pub(super) tag: Tag,
}

impl Tree {
    pub(super) fn at(address: &Address) -> Result<Tree> {
        Ok(Tree { objects: Objects::open(address)? })
    }

    pub(super) fn listed(&self) -> Result<Option<Listed>> {
        self.list_at(HEAD)
    }

    /// The list of what an unfinished run has written that began with the list `before`; none if there is none.
    pub(super) fn draft(&self, before: Option<&Listed>) -> Result<Option<Head>> {
        let found = self.list_at(DRAFT)?.map(|listed| listed.head);
        Ok(found.filter(|head| head.comes_after(before.map(|it| &it.head))))
    }

    fn list_at(&self, name: &str) -> Result<Option<Listed>> {
        let Some((bytes, tag)) = self.objects.get(name, MAX_HEAD_BYTES)? else { return Ok(None) };
        let head =
            Head::parse(&bytes).map_err(|error| error.at(self.objects.at(name).to_string()))?;
        Ok(Some(Listed { head, tag }))
    }

    pub(super) fn commit(&self, head: Head, before: Option<&Listed>) -> Result<Listed> {
        let bytes = head.to_bytes();
        let mut wait = Duration::from_millis(50);
        for _ in 1..TRIES {
            let failure = match self.objects.put_if(HEAD, bytes.clone(), before.map(|it| &it.tag)) {
                Ok(Some(tag)) => return self.looked_at(Listed { head, tag }, before),
                Ok(None) => None,
                Err(error) => Some(error),
            };
            match self.listed()? {
                // An answer was lost.
                Some(found) if found.head.attempt == head.attempt => return Ok(found),
                // And others have won since, so the next commit over this list must fail.
                Some(found) if found.head.follows(&head.attempt) => {
                    return Ok(Listed { head, tag: Tag::of_nothing() });
                }
                found if found.as_ref().map(|it| &it.head) != before.map(|it| &it.head) => {
                    return Err(was_faster(&self.objects.at(HEAD)));
                }
                // Nobody has won yet: the server was busy with another attempt, or failed.
                _ => failure.map_or(Ok(()), Err)?,
            }
            thread::sleep(wait);
            wait *= 2;
        }
        Err(was_faster(&self.objects.at(HEAD)))
    }

    /// The list that the server has accepted, unless another one is there in its place: a server that looks at the condition of
    /// a put and writes in two steps can accept two lists over one.
    fn looked_at(&self, accepted: Listed, before: Option<&Listed>) -> Result<Listed> {
        match self.listed() {
            Ok(Some(found))
                if !found.head.follows(&accepted.head.attempt)
                    && Some(&found.head) != before.map(|it| &it.head) =>
            {
                Err(was_faster(&self.objects.at(HEAD)))
            }
            // It is there, or what cannot be read, or is old, says nothing against the server.
            _ => Ok(accepted),
        }
    }

    /// The objects below the address that neither of two lists names, the one that is there and the one to come: those of attempts that
    /// died or lost, the list of an unfinished run, and released ones. To be called before the commit: what is there by then belongs to no attempt that can still win.
    pub(super) fn strays(&self, lists: [Option<&Head>; 2]) -> Result<Vec<String>> {
        let named = lists.into_iter().flatten().flat_map(|head| head.files.values());
        let named: HashSet<&str> = named.map(|held| held.object.as_str()).collect();
        let all = self.objects.list()?.into_iter().map(|object| object.name);
        let is_stray =
            |name: &String| name == DRAFT || is_attempts(name) && !named.contains(name.as_str());
        Ok(all.filter(is_stray).collect())
    }
}

/// The tree that `address` is in; if there is none, the tree that can be made there.
pub(super) fn nearest(address: &Address) -> Result<(Address, Tree, Option<Listed>)> {
    let tree = Tree::at(address)?;
    if let Some(listed) = tree.listed()? {
        return Ok((address.clone(), tree, Some(listed)));
    }
    let mut above = address.parent();
    while let Some(address) = above {
        let tree = Tree::at(&address)?;
        match tree.listed() {
            Ok(Some(listed)) => return Ok((address, tree, Some(listed))),
            // What others have there is not ours to look at, or not allowed.
            Err(error) if ![Kind::Exists, Kind::Permission].contains(&error.kind()) => {
                return Err(error);
            }
            _ => above = address.parent(),
        }
    }
    Ok((address.clone(), tree, None))
}

pub(super) fn was_faster(address: &Address) -> Error {
    let what = "another run has written here in the meantime, so this one must not";
    Error::new(Kind::Temporary, what).at(address.to_string()).help("try again")
}

fn is_attempts(name: &str) -> bool {
    let digits = name.split_once('/').and_then(|(attempt, _)| attempt.strip_prefix(ATTEMPT));
    digits.is_some_and(|it| it.len() == 16 && it.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use object_store::memory::InMemory;

    use super::*;

    #[test]
    fn an_accepted_list_that_is_not_there_has_lost() {
        let address = Address::of(Path::new("s3://b/out")).unwrap().unwrap();
        let tree = Tree { objects: Objects::over(Arc::new(InMemory::new()), &address) };
        let first = tree.commit(Head::new("a1", None), None).unwrap();
        let ours = Listed { head: Head::new("b2", Some(&first.head)), ..first.clone() };
        let look = |tree: &Tree| tree.looked_at(ours.clone(), Some(&first));
        // What is there is what was there before, as an old copy says.
        assert_eq!(look(&tree).unwrap().head, ours.head);
        let theirs = tree.commit(Head::new("c3", Some(&first.head)), Some(&first)).unwrap();
        assert_eq!(look(&tree).unwrap_err().kind(), Kind::Temporary);
        let after_ours = Head::new("d4", Some(&ours.head));
        tree.commit(after_ours, Some(&theirs)).unwrap();
        assert_eq!(look(&tree).unwrap().head, ours.head);
    }
}
