//! The text of a configuration file or of a recipe's file.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use dupsieve::rooms::object_storage;
use dupsieve::rooms::parallel::lock;
use dupsieve::{Kind, Result};

/// The most bytes that such a file may have.
const MAX_BYTES: u64 = 1 << 20;

/// Reads a configuration file or a recipe's file. A command asks for its configuration more than once,
/// but a pipe can be read only once, so the last text is kept.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    static LAST: Mutex<Option<(PathBuf, String)>> = Mutex::new(None);
    let mut last = lock(&LAST);
    if let Some((_, text)) = last.as_ref().filter(|(from, _)| from == path) {
        return Ok(text.clone());
    }
    let text = object_storage::read_text(path, MAX_BYTES, Kind::Config)?;
    *last = Some((path.to_path_buf(), text.clone()));
    Ok(text)
}
