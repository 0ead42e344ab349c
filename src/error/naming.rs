//! The names of paths. A user knows the place of a mount by its address, so messages, log lines and reports name that.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// The folders that stand for addresses, each with the name of what is in it.
static NAMES: RwLock<Vec<(PathBuf, PathBuf)>> = RwLock::new(Vec::new());

/// Gives what is at `path`, and below it, the name `name`.
#[cfg(any(test, feature = "object-store"))]
pub(crate) fn give_name(path: PathBuf, name: PathBuf) {
    forget_name(&path);
    NAMES.write().unwrap_or_else(PoisonError::into_inner).push((path, name));
}

/// Forgets the name that was given to what is at `path`.
#[cfg(any(test, feature = "object-store"))]
pub(crate) fn forget_name(path: &Path) {
    NAMES.write().unwrap_or_else(PoisonError::into_inner).retain(|(named, _)| named != path);
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
        give_name(place.clone(), "s3://b/tables/store".into());
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
        forget_name(&place);
        assert_eq!(error.to_string(), "s3://b/tables/store/CURRENT: gone");
        assert!(!is_named(&place));
    }
}
