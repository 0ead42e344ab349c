//! Names in object stores that a pattern matches, as in a shell.

use glob::{MatchOptions, Pattern};

use super::Objects;
use crate::error::Result;
use crate::parallel::in_parallel;

const AT_ONCE: usize = 64;

/// Only a pattern that begins with a dot matches a name that does.
pub const SHELL: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: false,
    require_literal_leading_dot: true,
};

pub fn folders_in(folders: &[Objects], pattern: &Pattern) -> Result<Vec<Objects>> {
    let mut found = Vec::new();
    for (folder, names) in folders.iter().zip(in_parallel(AT_ONCE, folders, Objects::folders)) {
        let names = names?.into_iter().filter(|name| pattern.matches_with(name, SHELL));
        found.extend(names.map(|name| folder.below(&name)));
    }
    Ok(found)
}
