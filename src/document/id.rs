//! What an id may be.

use super::reason::Reason;

pub(crate) const MAX_ID_BYTES: usize = 1 << 16;

/// Refuses an id that is empty, longer than 65536 bytes, or not one field of a TSV file.
pub fn check_id(id: &str) -> Result<(), Reason> {
    if id.len() > MAX_ID_BYTES {
        return Err(Reason::quoting(format!("the id is longer than {MAX_ID_BYTES} bytes"), id));
    }
    if id.bytes().any(|byte| matches!(byte, b'\t' | b'\r' | b'\n' | 0)) {
        return Err(Reason::quoting("the id holds a tab, CR, LF or NUL", id));
    }
    if id.is_empty() { Err("the id is empty".into()) } else { Ok(()) }
}
