//! Where outputs are in the end, if they are made elsewhere first.

use std::path::{Path, PathBuf};

/// Where outputs are in the end. `run --redo` makes the outputs of a day in one folder, and moves them to another folder
/// when all of them are complete. Whatever is said of an output names the second folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct Destination {
    /// The folder that outputs are made in, and the folder that they are moved to. None: outputs stay where they are made.
    folders: Option<(PathBuf, PathBuf)>,
}

impl Destination {
    /// The outputs that are made in the folder `made` are moved to the folder `last`.
    pub(crate) fn moved(made: PathBuf, last: PathBuf) -> Destination {
        Destination { folders: Some((made, last)) }
    }

    /// Where the file or folder that is made at `path` is in the end.
    pub(crate) fn of(&self, path: &Path) -> PathBuf {
        let below = |(made, last): &(PathBuf, PathBuf)| {
            path.strip_prefix(made).ok().map(|name| last.join(name))
        };
        self.folders.as_ref().and_then(below).unwrap_or_else(|| path.to_path_buf())
    }
}
