//! How the inputs are read.

use super::fields::Fields;

#[derive(Clone, Debug)]
pub struct ReadOptions {
    pub fields: Fields,
    pub portion_bytes: usize,
    /// The most bytes of one record or file after decompression; a longer one is quarantined.
    pub max_record_bytes: usize,
    /// Accept packed files that end too early or are damaged: read what can be read of them.
    pub accept_truncated: bool,
    /// The memory for what is on its way from object stores, in bytes.
    pub ahead_bytes: usize,
    /// The most memory that unpacking a file may take, in bytes.
    pub window_bytes: u64,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions {
            fields: Fields::default(),
            portion_bytes: 1 << 20,
            max_record_bytes: 64 << 20,
            accept_truncated: false,
            ahead_bytes: 32 << 20,
            window_bytes: 512 << 20,
        }
    }
}
