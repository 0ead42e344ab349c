//! What may be the id of a document.

use super::reason::Reason;

/// The longest id, in bytes.
pub const MAX_ID_BYTES: usize = 1 << 16;

/// Refuses an id that could not stand in a line of a TSV file, or is too long.
pub(super) fn check_id(id: &str) -> Result<(), Reason> {
    if id.len() > MAX_ID_BYTES {
        return Err(Reason::quoting(format!("the id is longer than {MAX_ID_BYTES} bytes"), id));
    }
    match id.bytes().any(|byte| matches!(byte, b'\t' | b'\r' | b'\n' | 0)) {
        true => Err(Reason::quoting("the id holds a tab, CR, LF or NUL", id)),
        false if id.is_empty() => Err("the id is empty".into()),
        false => Ok(()),
    }
}
