//! The names of paths. A user knows the place of a mount by its address, so messages, log lines and reports name that.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// The folders that stand for addresses, each with the name of what is in it. A process has one list, because an error names a path
/// wherever the error is made. Two users of the library at once do not disturb each other: each gives names to folders of its own, and
/// takes back its own names.
static NAMES: RwLock<Vec<(PathBuf, PathBuf)>> = RwLock::new(Vec::new());

/// The name of what is at a path and below it, until this is dropped.
#[cfg(any(test, feature = "object-store"))]
pub(crate) struct GivenName(PathBuf, PathBuf);

#[cfg(any(test, feature = "object-store"))]
impl GivenName {
    pub(crate) fn new(path: PathBuf, name: PathBuf) -> GivenName {
        let mut names = NAMES.write().unwrap_or_else(PoisonError::into_inner);
        names.push((path.clone(), name.clone()));
        GivenName(path, name)
    }
}

#[cfg(any(test, feature = "object-store"))]
impl Drop for GivenName {
    fn drop(&mut self) {
        let mut names = NAMES.write().unwrap_or_else(PoisonError::into_inner);
        let own = names.iter().position(|(path, name)| *path == self.0 && *name == self.1);
        names.remove(own.expect("it is there as long as this"));
    }
}

/// The name of what is at `path`: an address if the path is one of a mount, else the path itself.
pub fn name_of(path: &Path) -> Cow<'_, Path> {
    let names = NAMES.read().unwrap_or_else(PoisonError::into_inner);
    let below = |(place, name): &(PathBuf, PathBuf)| match path.strip_prefix(place).ok()? {
        rest if rest.as_os_str().is_empty() => Some(name.clone()),
        rest => Some(name.join(rest)),
    };
    names.iter().find_map(below).map_or(Cow::Borrowed(path), Cow::Owned)
}

/// Whether the name of what is at `path` is an address.
pub fn is_named(path: &Path) -> bool {
    matches!(name_of(path), Cow::Owned(_))
}

/// A path that is shown by its name.
pub trait Named {
    /// The name as text.
    fn named(&self) -> String;
}

impl Named for Path {
    fn named(&self) -> String {
        name_of(self).display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, Kind};

    #[test]
    fn what_is_in_a_mount_is_named_by_its_address() {
        let place = PathBuf::from("/cache/7f/0/store");
        let given = GivenName::new(place.clone(), "s3://b/tables/store".into());
        // Another user of the library, in a process that has the mount of its parent.
        drop(GivenName::new(place.clone(), "s3://b/tables/store".into()));
        for (path, name) in [
            ("/cache/7f/0/store", "s3://b/tables/store"),
            ("/cache/7f/0/store/CURRENT", "s3://b/tables/store/CURRENT"),
            ("/cache/7f/0/store2", "/cache/7f/0/store2"),
            ("store", "store"),
        ] {
            assert_eq!(Path::new(path).named(), name);
            assert_eq!(is_named(Path::new(path)), path != name);
        }
        let error = Error::new(Kind::Missing, "gone").at(place.join("CURRENT"));
        drop(given);
        assert_eq!(error.to_string(), "s3://b/tables/store/CURRENT: gone");
        assert!(!is_named(&place));
    }
}
