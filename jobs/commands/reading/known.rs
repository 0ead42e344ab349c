//! What is known of inputs without reading them: which contents files had in which states when this machine has read the files.
//!
//! The file `inputs` in the cache has a line for each time that inputs were read: 32 hexadecimal digits, a digest of the states of the
//! files (inode, size and times; of an object the address, size and `ETag`) and of the digest of their contents. Its lines are advice
//! for a rerun: inputs without a line are read.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use dupsieve::Kind;
use dupsieve::rooms::error::Named;
use dupsieve::rooms::small_file;
use xxhash_rust::xxh3::xxh3_128;

/// The most bytes of the file, some thirty thousand lines. A longer file is begun anew.
const MOST_BYTES: u64 = 1 << 20;

/// Whether inputs in these states had contents of this digest when they were read.
pub(super) fn is_known(states: u128, contents: &str, cache: &Path) -> bool {
    let lines = small_file::read_text(&path(cache), MOST_BYTES, Kind::BadData);
    lines.is_ok_and(|lines| lines.lines().any(|known| known == line(states, contents)))
}

/// Notes that inputs in these states have contents of this digest. If that fails, a rerun reads the inputs.
pub(super) fn remember(states: u128, contents: &str, cache: &Path) {
    if let Err(error) = append(&line(states, contents), cache) {
        tracing::info!("a rerun will read the inputs: {}: {error}", path(cache).named());
    }
}

fn append(line: &str, cache: &Path) -> io::Result<()> {
    fs::create_dir_all(cache)?;
    let mut file = OpenOptions::new().create(true).append(true).open(path(cache))?;
    let line = format!("{line}\n");
    if file.metadata()?.len() + line.len() as u64 > MOST_BYTES {
        file.set_len(0)?;
    }
    file.write_all(line.as_bytes())
}

fn path(cache: &Path) -> PathBuf {
    cache.join("inputs")
}

fn line(states: u128, contents: &str) -> String {
    format!("{:032x}", xxh3_128(format!("{states:032x} {contents}").as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_known_and_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let cache = &home.path().join("cache");
        assert!(!is_known(1, "a", cache));
        remember(1, "a", cache);
        remember(2, "b", cache);
        assert!(is_known(1, "a", cache) && is_known(2, "b", cache));
        assert!(!is_known(1, "b", cache) && !is_known(2, "a", cache));
        fs::write(path(cache), line(1, "a").replacen(char::is_numeric, "x", 1)).unwrap();
        assert!(!is_known(1, "a", cache), "a line that was damaged");
        fs::write(path(cache), [0xff]).unwrap();
        assert!(!is_known(1, "a", cache), "no text");
    }

    #[test]
    fn the_file_stays_small_and_a_cache_that_cannot_be_written_harms_nobody() {
        let home = tempfile::tempdir().unwrap();
        let cache = home.path();
        fs::write(path(cache), "x".repeat(MOST_BYTES as usize - 33)).unwrap();
        remember(1, "a", cache);
        assert_eq!(fs::metadata(path(cache)).unwrap().len(), MOST_BYTES);
        remember(2, "b", cache);
        assert_eq!(fs::read_to_string(path(cache)).unwrap(), format!("{}\n", line(2, "b")));
        remember(1, "a", &path(cache));
        assert!(!is_known(1, "a", &path(cache)));
    }
}
